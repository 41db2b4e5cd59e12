/* SPDX-License-Identifier: Apache-2.0 */
#include "http/reply.h"

#include "base/budget.h"
#include "base/hash.h"
#include "store/codec_heap.h"
#include "tools/run_documents.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_BODY   ((size_t)1 << 30)
#define MIN_PACKED 1024u /* of smaller bodies, headers weigh more than what is saved */
#define ZSTD_LEVEL 3
#define GZIP_LEVEL 5
/* A larger body takes longer to compress than to send. */
#define LARGE_BODY   ((size_t)1 << 18)
#define GZIP_WINDOW  (15 + 16) /* zlib: 16 asks for the gzip format */
#define GZIP_MEMORY  8
#define PACKED_PIECE (LARGE_BODY + LARGE_BODY / 8)
/* For requests that are refused because there are too many now. */
#define RETRY_AFTER_S 2u
/* For a file that is still being written, or a folder that is away. */
#define COMPLETE_AFTER_S 5u

static const unsigned http_status[TFP_STATUS_COUNT] = {
	[TFP_OK] = 200,           [TFP_NO_MEMORY] = 503, [TFP_BAD_INPUT] = 422,
	[TFP_BAD_QUERY] = 400,    [TFP_NOT_FOUND] = 404, [TFP_NOT_APPLICABLE] = 404,
	[TFP_UNAUTHORIZED] = 401, [TFP_FORBIDDEN] = 403, [TFP_BUSY] = 503,
	[TFP_TOO_MANY] = 429,     [TFP_CANCELLED] = 503, [TFP_IO] = 500,
	[TFP_TOO_LARGE] = 413,    [TFP_INTERNAL] = 500,  [TFP_CHANGING] = 503,
	[TFP_UNAVAILABLE] = 503,
};

void tfp_reply_init(struct tfp_reply *reply)
{
	*reply = (struct tfp_reply){.status = 200, .content_type = "application/json"};
	tfp_buf_init(&reply->body, MAX_BODY);
}

static void drop_stream(struct tfp_reply *reply)
{
	if (reply->stream.write)
		reply->stream.free(reply->stream.context);
	reply->stream = (struct tfp_body_stream){0};
}

void tfp_reply_release(struct tfp_reply *reply)
{
	drop_stream(reply);
	tfp_buf_release(&reply->body);
}

/* As tfp_error_json writes it, which may need memory. */
static const char no_memory[] =
	"{\"error\":{\"code\":\"no_memory\",\"message\":\"no memory for the answer\","
	"\"hint\":\"try again when the machine has more\",\"file\":null,\"offset\":null}}";

void tfp_reply_error(struct tfp_reply *reply, const struct tfp_error *err)
{
	drop_stream(reply);
	tfp_buf_release(&reply->body); /* it may be large */
	tfp_buf_init(&reply->body, MAX_BODY);
	reply->encoding = TFP_HTTP_IDENTITY;
	reply->status = (unsigned)err->status < TFP_STATUS_COUNT ? http_status[err->status] : 500;
	reply->content_type = "application/json";
	reply->etag[0] = reply->download[0] = '\0';
	reply->fixed = NULL;
	reply->retry_after_s = 0;
	if (err->status == TFP_TOO_MANY || err->status == TFP_BUSY)
		reply->retry_after_s = RETRY_AFTER_S;
	else if (err->status == TFP_CHANGING || err->status == TFP_UNAVAILABLE)
		reply->retry_after_s = COMPLETE_AFTER_S;
	tfp_error_json(err, &reply->body);
	if (!tfp_buf_failed(&reply->body))
		return;
	/* There is not even memory for the words. */
	reply->status = http_status[TFP_NO_MEMORY];
	reply->fixed = no_memory;
	reply->fixed_size = sizeof(no_memory) - 1;
}

bool tfp_reply_not_modified(struct tfp_reply *reply, const char *if_none_match)
{
	if (!reply->etag[0] || !tfp_http_etag_matches(if_none_match, reply->etag))
		return false;
	reply->status = 304;
	reply->download[0] = '\0';
	reply->fixed = NULL;
	reply->fixed_size = 0;
	tfp_buf_clear(&reply->body);
	return true;
}

void tfp_reply_asset(struct tfp_reply *reply, const struct tfp_asset *asset,
		     const char *accept_encoding, const char *if_none_match)
{
	const unsigned offered =
		1u << TFP_HTTP_IDENTITY | (asset->gzip_data ? 1u << TFP_HTTP_GZIP : 0);
	reply->content_type = asset->content_type;
	reply->varies = asset->gzip_data != NULL;
	snprintf(reply->etag, sizeof(reply->etag), "%s", asset->etag);
	if (tfp_reply_not_modified(reply, if_none_match))
		return;
	reply->encoding = tfp_http_accepted_encoding(accept_encoding, offered);
	bool packed = reply->encoding == TFP_HTTP_GZIP;
	reply->fixed = packed ? asset->gzip_data : asset->data;
	reply->fixed_size = packed ? asset->gzip_size : asset->size;
}

void tfp_reply_tag_body(struct tfp_reply *reply)
{
	const struct tfp_buf *b = &reply->body;
	snprintf(reply->etag, sizeof(reply->etag), "W/\"%016" PRIx64 "%016" PRIx64 "\"",
		 tfp_hash_bytes(b->data, b->size, 1), tfp_hash_bytes(b->data, b->size, 2));
}

/* By how much a compressed form grows at a time. Its size is not known, and mostly a tenth of the
 * body's. A small one is made in one piece. */
static size_t piece_of(const struct tfp_buf *out)
{
	size_t rest = out->ceiling - out->size;
	return rest == 0 ? 1 : rest < PACKED_PIECE ? rest : PACKED_PIECE;
}

static void pack_zstd(const struct tfp_buf *from, struct tfp_buf *out)
{
	ZSTD_CCtx *z = ZSTD_createCCtx_advanced(tfp_zstd_heap);
	ZSTD_inBuffer in = {from->data, from->size, 0};
	size_t more = 1;
	if (!z)
		return;
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel,
			       from->size < LARGE_BODY ? ZSTD_LEVEL : 1);
	ZSTD_CCtx_setPledgedSrcSize(z, from->size);
	while (more && !ZSTD_isError(more) && tfp_buf_reserve(out, piece_of(out))) {
		ZSTD_outBuffer to = {out->data + out->size, out->room - out->size - 1, 0};
		more = ZSTD_compressStream2(z, &to, &in, ZSTD_e_end);
		out->size += to.pos;
	}
	if (more)
		out->failed = true;
	ZSTD_freeCCtx(z);
}

static void pack_gzip(const struct tfp_buf *from, struct tfp_buf *out)
{
	/* from->size is at most MAX_BODY, which fits zlib's 32 bits. */
	z_stream z = tfp_zlib_stream;
	z.next_in = (Bytef *)(uintptr_t)from->data;
	z.avail_in = (uInt)from->size;
	int code = deflateInit2(&z, from->size < LARGE_BODY ? GZIP_LEVEL : 1, Z_DEFLATED,
				GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY);
	if (code != Z_OK)
		return;
	while (code == Z_OK && tfp_buf_reserve(out, piece_of(out))) {
		z.next_out = (Bytef *)(out->data + out->size);
		z.avail_out = (uInt)(out->room - out->size - 1);
		code = deflate(&z, Z_FINISH);
		out->size = (size_t)((char *)z.next_out - out->data);
		if (code == Z_BUF_ERROR)
			code = Z_OK;
	}
	if (code != Z_STREAM_END)
		out->failed = true;
	deflateEnd(&z);
}

bool tfp_reply_is_worth_packing(const struct tfp_reply *reply)
{
	return reply->body.size >= MIN_PACKED;
}

void tfp_reply_pack(const struct tfp_buf *body, enum tfp_http_encoding encoding,
		    struct tfp_buf *out)
{
	tfp_buf_init(out, ZSTD_compressBound(body->size));
	if (encoding == TFP_HTTP_IDENTITY || body->size == 0)
		return;
	/* It concerns nothing else if there is no memory for this. */
	struct tfp_account packing = {.small = true};
	struct tfp_account *before = tfp_account_enter(&packing);
	if (encoding == TFP_HTTP_ZSTD)
		pack_zstd(body, out);
	else
		pack_gzip(body, out);
	if (out->size == 0 || out->size >= body->size || tfp_buf_failed(out))
		tfp_buf_release(out);
	tfp_account_enter(before);
}

void tfp_reply_compress(struct tfp_reply *reply, const char *accept_encoding)
{
	if (reply->stream.write && reply->status == 200) {
		/* gzip, because the size is not known, and zstd would not be much smaller. */
		reply->varies = !reply->stream.packed;
		if (reply->varies)
			reply->encoding = tfp_http_accepted_encoding(
				accept_encoding, 1u << TFP_HTTP_IDENTITY | 1u << TFP_HTTP_GZIP);
		return;
	}
	reply->varies = reply->status == 304 || tfp_reply_is_worth_packing(reply);
	if (reply->status == 304 || !reply->varies)
		return;
	enum tfp_http_encoding encoding = tfp_http_accepted_encoding(
		accept_encoding,
		1u << TFP_HTTP_IDENTITY | 1u << TFP_HTTP_GZIP | 1u << TFP_HTTP_ZSTD);
	if (encoding == TFP_HTTP_IDENTITY)
		return;
	struct tfp_buf packed;
	tfp_reply_pack(&reply->body, encoding, &packed);
	if (packed.size == 0)
		return;
	tfp_buf_release(&reply->body);
	reply->body = packed;
	reply->encoding = encoding;
}
