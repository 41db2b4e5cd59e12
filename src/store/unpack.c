/* SPDX-License-Identifier: Apache-2.0 */
#include "store/unpack.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/progress.h"
#include "store/codec_heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#define FIRST_ROOM ((size_t)1 << 20)
/* Room is counted before it is used: not twice as much as there is, where that is much. */
#define MORE_ROOM ((size_t)16 << 20)

/* A watcher is told after each of so many bytes. */
#define STEP ((size_t)4 << 20)
static size_t page_up(uint64_t bytes)
{
	const uint64_t page = 4096 * 16; /* of any machine */
	return (size_t)((bytes + page - 1) / page * page);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory to unpack it");
}

/* Addresses for all that may come, without memory behind them: unpacked bytes never move, so
 * that they can be read while more come. */
static enum tfp_status reserve(struct tfp_unpacked *u, uint64_t max_bytes, struct tfp_error *err)
{
	void *data = MAP_FAILED;
	size_t size = page_up(max_bytes + 1);
	for (; data == MAP_FAILED && size >= FIRST_ROOM / 2; size /= 2) {
		size = page_up(size);
		data = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);
		if (data != MAP_FAILED)
			break;
	}
	if (data == MAP_FAILED)
		return no_memory(err);
	/* Without huge pages half of the time goes into a fault for every 4 KiB. Where there
	 * are none, small ones do. */
	madvise(data, size, MADV_HUGEPAGE);
	u->data = data;
	u->reserved = size;
	return TFP_OK;
}

static enum tfp_status grow(struct tfp_unpacked *u, uint64_t max_bytes, struct tfp_error *err)
{
	size_t more = u->room == 0 ? FIRST_ROOM : u->room < MORE_ROOM ? u->room : MORE_ROOM;
	if (u->room >= max_bytes) {
		tfp_fail(err, TFP_TOO_LARGE,
			 "unpacks to more than %llu bytes, %llu times its own %zu",
			 (unsigned long long)max_bytes,
			 (unsigned long long)(max_bytes / u->file.size), u->file.size);
		tfp_error_set_hint(err, max_bytes < TFP_UNPACK_MAX
						? "raise --memory-limit, or unpack the file first"
						: "no profiler writes so much; if it is right, "
						  "unpack the file first");
		return TFP_TOO_LARGE;
	}
	enum tfp_status status = u->data ? TFP_OK : reserve(u, max_bytes, err);
	if (status != TFP_OK)
		return status;
	more = more < u->reserved - u->room ? more : u->reserved - u->room;
	if (more == 0 || !tfp_budget_take(more))
		return no_memory(err);
	if (mprotect((void *)(uintptr_t)(u->data + u->room), more, PROT_READ | PROT_WRITE) != 0) {
		tfp_budget_give((int64_t)more);
		return no_memory(err);
	}
	u->room += more;
	return TFP_OK;
}

/* Gives back what was not needed. */
static void trim(struct tfp_unpacked *u)
{
	size_t used = page_up(u->size ? u->size : 1);
	if (used < u->reserved) {
		munmap((void *)(uintptr_t)(u->data + used), u->reserved - used);
		u->reserved = used;
	}
	if (u->room > u->reserved) {
		tfp_budget_give((int64_t)(u->room - u->reserved));
		u->room = u->reserved;
	}
}

static void tell(const struct tfp_unpack_watch *watch, const struct tfp_unpacked *u)
{
	if (watch)
		watch->arrived(watch->context, u->data, u->size);
}

static uint8_t *tail(const struct tfp_unpacked *u)
{
	return (uint8_t *)(uintptr_t)u->data + u->size;
}

static enum tfp_status unpack_gzip(struct tfp_unpacked *u, uint64_t max_bytes,
				   const struct tfp_unpack_watch *watch, struct tfp_error *err)
{
	z_stream z = tfp_zlib_stream;
	const uint8_t *at = u->file.data, *end = at + u->file.size;
	enum tfp_status status = TFP_OK;
	bool whole = false; /* nothing is open at this point of the input */
	bool full = false;  /* there may be more to come without more input */
	/* 16: a gzip header is expected, not a zlib one. */
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return no_memory(err);
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
		z.avail_out = (uInt)(out < STEP ? out : STEP);
		int code = inflate(&z, Z_NO_FLUSH);
		tfp_progress_add_bytes((uint64_t)(z.next_in - at));
		at = z.next_in;
		u->size = (size_t)(z.next_out - u->data);
		whole = code == Z_STREAM_END;
		full = !whole && z.avail_out == 0;
		tell(watch, u);
		if (whole)
			inflateReset(&z); /* a gzip file may be several, one after the other */
		else if (code == Z_MEM_ERROR)
			status = no_memory(err);
		else if (code != Z_OK && code != Z_BUF_ERROR)
			break;
	}
	tfp_progress_add_bytes((uint64_t)(end - at));
	u->truncated = !whole;
	inflateEnd(&z);
	return status;
}

static enum tfp_status unpack_zstd(struct tfp_unpacked *u, uint64_t max_bytes,
				   const struct tfp_unpack_watch *watch, struct tfp_error *err)
{
	/* Its window may be as large as the file says, 128 MiB. */
	ZSTD_DStream *z = ZSTD_createDCtx_advanced(tfp_zstd_heap);
	enum tfp_status status = TFP_OK;
	ZSTD_inBuffer in = {u->file.data, u->file.size, 0};
	size_t more = 0;
	if (!z)
		return no_memory(err);
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
		size_t room = u->room - u->size;
		ZSTD_outBuffer out = {tail(u), room < STEP ? room : STEP, 0};
		size_t before = in.pos;
		more = ZSTD_decompressStream(z, &out, &in);
		tfp_progress_add_bytes(in.pos - before);
		u->size += out.pos;
		tell(watch, u);
		if (ZSTD_getErrorCode(more) == ZSTD_error_memory_allocation) {
			status = no_memory(err);
			break;
		}
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
	tfp_progress_add_bytes(in.size - in.pos);
	ZSTD_freeDStream(z);
	return status;
}

enum tfp_status tfp_unpack(struct tfp_unpacked *out, int fd, const char *name,
			   enum tfp_compression compression, uint64_t max_bytes,
			   const struct tfp_unpack_watch *watch, struct tfp_error *err)
{
	*out = (struct tfp_unpacked){0};
	if (max_bytes > TFP_UNPACK_MAX)
		max_bytes = TFP_UNPACK_MAX;
	enum tfp_status status = tfp_mapped_file_open(&out->file, fd, name, err);
	if (status != TFP_OK)
		return status;
	if (compression == TFP_PLAIN) {
		out->data = out->file.data;
		out->size = out->file.size;
		return TFP_OK;
	}
	out->packed = true;
	tfp_progress_expect_bytes(out->file.size);
	if (out->file.size > 0) {
		if (compression == TFP_GZIP)
			status = unpack_gzip(out, max_bytes, watch, err);
		else
			status = unpack_zstd(out, max_bytes, watch, err);
		if (status == TFP_OK && out->truncated && out->size == 0)
			status = tfp_fail(err, TFP_BAD_INPUT, "not %s data",
					  compression == TFP_GZIP ? "gzip" : "zstd");
	}
	if (status == TFP_OK && tfp_unpacked_was_cut(out))
		status = tfp_fail(err, TFP_IO, "the file was cut while it was read");
	tfp_mapped_file_release(&out->file);
	if (status == TFP_OK && out->data)
		trim(out);
	if (status != TFP_OK) {
		if (watch)
			watch->failed(watch->context);
		tfp_unpacked_release(out);
		tfp_error_set_file(err, name);
	}
	return status;
}

void tfp_unpacked_release(struct tfp_unpacked *u)
{
	if (u->reserved)
		munmap((void *)(uintptr_t)u->data, u->reserved);
	tfp_budget_give((int64_t)u->room);
	tfp_mapped_file_release(&u->file);
	*u = (struct tfp_unpacked){0};
}

bool tfp_unpacked_was_cut(const struct tfp_unpacked *u)
{
	return tfp_mapped_file_was_cut(&u->file);
}
