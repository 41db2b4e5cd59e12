/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results on disk: bytes by key, so that a second visit need not compute them again. The cache
 * does not know what the bytes mean, and promises nothing: a result that is missing or damaged
 * is computed again and put again.
 *
 *     struct tfp_result_cache *cache;
 *     tfp_result_cache_new(&cache, folder, logdir, 1 << 30, build, &err);
 *     tfp_buf_puts(&key, "summary\n");
 *     tfp_result_key_add_file(&key, dir, file, &err);
 *     if (!tfp_result_cache_get(cache, &key, &bytes)) {
 *             ... compute bytes ...
 *             tfp_result_cache_put(cache, &key, &bytes);
 *     }
 *
 * A result is one file, a zstd frame with a checksum, that holds its key: a file that
 * is damaged, or of another key, or of another user, is as good as none. It is
 * written under another name and renamed, so that several processes can share a
 * folder. When the files are more than the limit, those used longest ago go. All
 * functions are thread-safe.
 */
#ifndef TFP_STORE_RESULT_CACHE_H
#define TFP_STORE_RESULT_CACHE_H

#include "base/buf.h"
#include "store/logdir.h"

/* Bytes of the largest result. */
#define TFP_RESULT_MAX ((size_t)128 << 20)

struct tfp_result_cache;

/* Uses folder, made if need be for its owner alone. TFP_BAD_QUERY when it would lie inside the
 * directory `outside` (may be NULL), TFP_IO when it cannot be written, TFP_FORBIDDEN when it
 * is somebody else's or others may write it. limit_bytes: of all files. build: results of another
 * build are not found. */
enum tfp_status tfp_result_cache_new(struct tfp_result_cache **out, const char *folder,
				     const char *outside, uint64_t limit_bytes, uint64_t build,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. The files stay. */
void tfp_result_cache_free(struct tfp_result_cache *cache);

/* Appends the result that was put under key to out, and returns whether there was one. Accepts
 * cache == NULL: there is none. */
bool tfp_result_cache_get(struct tfp_result_cache *cache, const struct tfp_buf *key,
			  struct tfp_buf *out);
/* Whether there is a file for key, good or not. Accepts cache == NULL. */
bool tfp_result_cache_has(struct tfp_result_cache *cache, const struct tfp_buf *key);
/* Returns whether the result could be kept. If not, the reason is logged, once. Accepts cache ==
 * NULL: nothing is kept. */
bool tfp_result_cache_put(struct tfp_result_cache *cache, const struct tfp_buf *key,
			  const struct tfp_buf *bytes);

/* Counts of calls so far, and what the folder holds. */
struct tfp_result_cache_stats {
	uint64_t hits, misses, writes, failures; /* failures of writes */
	uint64_t bytes;                          /* as far as known: other processes write, too */
};
/* Takes no lock and does not touch the disk. Accepts cache == NULL: all is 0. */
struct tfp_result_cache_stats tfp_result_cache_stats(const struct tfp_result_cache *cache);

/* Appends to a key which file it is about, and in which state: path, size, time, inode,
 * and a hash of its first and last bytes. Reads no more of it. */
enum tfp_status tfp_result_key_add_file(struct tfp_buf *key, struct tfp_logdir *dir,
					const struct tfp_capture_file *file,
					struct tfp_error *err) TFP_CHECK;

/* ---- building blocks, for the tests ---- */

/* The bytes of the file that holds a result, appended; false without memory. */
bool tfp_result_encode(const struct tfp_buf *key, const struct tfp_buf *bytes, struct tfp_buf *out);
/* The reverse. Returns false for bytes that are no such file, or have another key. */
bool tfp_result_decode(const void *file, size_t size, const struct tfp_buf *key,
		       struct tfp_buf *out);

#endif
