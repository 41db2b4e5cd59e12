/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pack.h"

#include "base/alloc.h"
#include "store/codec_heap.h"
#define LEVEL  5
#define WINDOW (15 + 16) /* zlib: 16 asks for the gzip format */
#define PIECE  (64u << 10)

struct tfp_gzip {
	z_stream z;
	const struct tfp_sink *to;
	struct tfp_sink sink;
	unsigned char piece[PIECE];
};

static enum tfp_status run(struct tfp_gzip *gzip, int mode, struct tfp_error *err)
{
	int code;
	do {
		gzip->z.next_out = gzip->piece;
		gzip->z.avail_out = PIECE;
		code = deflate(&gzip->z, mode);
		if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
			return tfp_fail(err, TFP_INTERNAL, "zlib cannot compress");
		size_t size = PIECE - gzip->z.avail_out;
		enum tfp_status status = TFP_OK;
		if (size)
			status = gzip->to->write(gzip->to->context, gzip->piece, size, err);
		if (status != TFP_OK)
			return status;
	} while (gzip->z.avail_out == 0 || (mode == Z_FINISH && code != Z_STREAM_END));
	return TFP_OK;
}

static enum tfp_status write_bytes(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	struct tfp_gzip *gzip = context;
	const unsigned char *at = bytes;
	while (size) {
		uInt n = size > UINT32_MAX ? UINT32_MAX : (uInt)size;
		gzip->z.next_in = (Bytef *)(uintptr_t)at;
		gzip->z.avail_in = n;
		enum tfp_status status = run(gzip, Z_NO_FLUSH, err);
		if (status != TFP_OK)
			return status;
		at += n;
		size -= n;
	}
	return TFP_OK;
}

enum tfp_status tfp_gzip_new(struct tfp_gzip **out, const struct tfp_sink *to,
			     struct tfp_error *err)
{
	struct tfp_gzip *gzip = tfp_calloc(1, sizeof(*gzip));
	*out = NULL;
	if (gzip)
		gzip->z = tfp_zlib_stream;
	if (!gzip ||
	    deflateInit2(&gzip->z, LEVEL, Z_DEFLATED, WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		tfp_free(gzip);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to compress");
	}
	gzip->to = to;
	gzip->sink = (struct tfp_sink){write_bytes, gzip};
	*out = gzip;
	return TFP_OK;
}

const struct tfp_sink *tfp_gzip_sink(struct tfp_gzip *gzip)
{
	return &gzip->sink;
}

enum tfp_status tfp_gzip_finish(struct tfp_gzip *gzip, struct tfp_error *err)
{
	gzip->z.next_in = NULL;
	gzip->z.avail_in = 0;
	return run(gzip, Z_FINISH, err);
}

void tfp_gzip_free(struct tfp_gzip *gzip)
{
	if (gzip)
		deflateEnd(&gzip->z);
	tfp_free(gzip);
}

enum tfp_status tfp_gzip_all(const struct tfp_sink *to,
			     enum tfp_status (*write)(void *context, const struct tfp_sink *sink,
						      struct tfp_error *err),
			     void *context, struct tfp_error *err)
{
	struct tfp_gzip *gzip;
	enum tfp_status status = tfp_gzip_new(&gzip, to, err);
	if (status == TFP_OK)
		status = write(context, tfp_gzip_sink(gzip), err);
	if (status == TFP_OK)
		status = tfp_gzip_finish(gzip, err);
	tfp_gzip_free(gzip);
	return status;
}
