#include "store/unpack.h"

#include "base/progress.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#define FIRST_ROOM ((size_t)1 << 20)

/* Anonymous memory that grows by moving pages, not by copying bytes: a copy
 * would double the peak just when a big capture is unpacked. */
static enum tfp_status grow(struct tfp_unpacked *u, uint64_t max_bytes, struct tfp_error *err)
{
	size_t room = u->room ? u->room * 2 : FIRST_ROOM;
	if (room < u->room || u->room >= max_bytes) {
		tfp_fail(err, TFP_TOO_LARGE, "unpacks to more than %llu bytes",
			 (unsigned long long)max_bytes);
		tfp_error_set_hint(err, "raise --memory-limit, or unpack the file first");
		return TFP_TOO_LARGE;
	}
	void *data;
	if (u->data)
		data = mremap((void *)(uintptr_t)u->data, u->room, room, MREMAP_MAYMOVE);
	else
		data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to unpack it");
	u->data = data;
	u->room = room;
	return TFP_OK;
}

static uint8_t *tail(const struct tfp_unpacked *u)
{
	return (uint8_t *)(uintptr_t)u->data + u->size;
}

static enum tfp_status unpack_gzip(struct tfp_unpacked *u, uint64_t max_bytes,
				   struct tfp_error *err)
{
	z_stream z = {0};
	const uint8_t *at = u->file.data, *end = at + u->file.size;
	enum tfp_status status = TFP_OK;
	bool whole = false; /* nothing is open at this point of the input */
	bool full = false;  /* there may be more to come without more input */
	/* 16: a gzip header is expected, not a zlib one. */
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to unpack it");
	while (status == TFP_OK && (at < end || full)) {
		if (tfp_cancelled()) {
			status = tfp_fail_cancelled(err);
			break;
		}
		if (u->size == u->room) {
			status = grow(u, max_bytes, err);
			continue;
		}
		size_t in = (size_t)(end - at), out = u->room - u->size;
		z.next_in = (Bytef *)(uintptr_t)at;
		z.avail_in = in > UINT32_MAX ? UINT32_MAX : (uInt)in;
		z.next_out = tail(u);
		z.avail_out = out > UINT32_MAX ? UINT32_MAX : (uInt)out;
		int code = inflate(&z, Z_NO_FLUSH);
		at = z.next_in;
		u->size = (size_t)(z.next_out - u->data);
		whole = code == Z_STREAM_END;
		full = !whole && u->size == u->room;
		if (whole)
			inflateReset(&z); /* a gzip file may be several, one after the other */
		else if (code == Z_MEM_ERROR)
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory to unpack it");
		else if (code != Z_OK && code != Z_BUF_ERROR)
			break;
	}
	u->truncated = !whole;
	inflateEnd(&z);
	return status;
}

static enum tfp_status unpack_zstd(struct tfp_unpacked *u, uint64_t max_bytes,
				   struct tfp_error *err)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	enum tfp_status status = TFP_OK;
	ZSTD_inBuffer in = {u->file.data, u->file.size, 0};
	size_t more = 0;
	if (!z)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to unpack it");
	for (;;) {
		if (tfp_cancelled()) {
			status = tfp_fail_cancelled(err);
			break;
		}
		if (u->size == u->room) {
			status = grow(u, max_bytes, err);
			if (status != TFP_OK)
				break;
		}
		ZSTD_outBuffer out = {tail(u), u->room - u->size, 0};
		more = ZSTD_decompressStream(z, &out, &in);
		u->size += out.pos;
		if (ZSTD_isError(more)) {
			u->truncated = true;
			break;
		}
		/* A frame that ends just where the room does is whole, too. */
		if (in.pos == in.size && (more == 0 || out.pos < out.size)) {
			u->truncated = more != 0;
			break;
		}
	}
	ZSTD_freeDStream(z);
	return status;
}

enum tfp_status tfp_unpack(struct tfp_unpacked *out, int fd, const char *name,
			   enum tfp_compression compression, uint64_t max_bytes,
			   struct tfp_error *err)
{
	*out = (struct tfp_unpacked){0};
	enum tfp_status status = tfp_mapped_file_open(&out->file, fd, name, err);
	if (status != TFP_OK)
		return status;
	if (compression == TFP_PLAIN) {
		out->data = out->file.data;
		out->size = out->file.size;
		return TFP_OK;
	}
	if (out->file.size > 0) {
		if (compression == TFP_GZIP)
			status = unpack_gzip(out, max_bytes, err);
		else
			status = unpack_zstd(out, max_bytes, err);
		if (status == TFP_OK && out->truncated && out->size == 0)
			status = tfp_fail(err, TFP_BAD_INPUT, "not %s data",
					  compression == TFP_GZIP ? "gzip" : "zstd");
	}
	if (status == TFP_OK && tfp_unpacked_was_cut(out))
		status = tfp_fail(err, TFP_IO, "the file was cut while it was read");
	tfp_mapped_file_release(&out->file);
	if (status != TFP_OK) {
		tfp_unpacked_release(out);
		tfp_error_set_file(err, name);
	}
	return status;
}

void tfp_unpacked_release(struct tfp_unpacked *u)
{
	if (u->room)
		munmap((void *)(uintptr_t)u->data, u->room);
	tfp_mapped_file_release(&u->file);
	*u = (struct tfp_unpacked){0};
}

bool tfp_unpacked_was_cut(const struct tfp_unpacked *u)
{
	return tfp_mapped_file_was_cut(&u->file);
}
