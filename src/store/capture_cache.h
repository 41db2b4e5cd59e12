/*
 * Captures that are open, by file and state of the file: one load however many
 * ask, the least recently used dropped when they hold more than the limit, and
 * all that nobody used for a while. A capture that alone is larger than the
 * limit is served and not kept.
 *
 * Who needs a capture that has to be loaded waits while there is no room for it
 * beside those that are being loaded. There may be no room because others use
 * what they got: who holds a capture may need another one, so that nobody waits
 * for that. All together is bounded by the budget (base/budget.h): captures that
 * nobody uses go when somebody needs the memory, and a load can be refused.
 */
#ifndef TFP_STORE_CAPTURE_CACHE_H
#define TFP_STORE_CAPTURE_CACHE_H

#include "store/capture.h"
#include "store/logdir.h"

struct tfp_capture_cache;

/* limit_bytes: what resident captures may hold in all (heap and mapped bytes). dir and pool
 * must outlive the cache. */
enum tfp_status tfp_capture_cache_new(struct tfp_capture_cache **out, struct tfp_logdir *dir,
				      uint64_t limit_bytes, struct tfp_pool *pool,
				      struct tfp_error *err) TFP_CHECK;
/* From now on drops what nobody used for so long, and gives its memory back to the
 * system. Once, before others use the cache. Starts a thread, which sleeps until the next
 * capture's time has come. */
enum tfp_status tfp_capture_cache_drop_idle(struct tfp_capture_cache *cache, uint64_t idle_ns,
					    struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. Captures still referenced live on. */
void tfp_capture_cache_free(struct tfp_capture_cache *cache);

/* The capture in its present state, loaded if need be. *out is referenced for
 * the caller. Thread-safe. An error of a file is remembered until the file
 * changes, so that a broken file is not read again and again; nor is one that
 * needs more than the budget for a job that is alone (TFP_TOO_LARGE). */
enum tfp_status tfp_capture_cache_get(struct tfp_capture_cache *cache,
				      const struct tfp_capture_file *file, struct tfp_capture **out,
				      struct tfp_error *err) TFP_CHECK;

/* The same for one who passes by: who needs the capture once and has something
 * smaller to keep. He holds no other capture, and so waits for room until other
 * visitors leave. */
enum tfp_status tfp_capture_cache_visit(struct tfp_capture_cache *cache,
					const struct tfp_capture_file *file,
					struct tfp_capture **out, struct tfp_error *err) TFP_CHECK;
/* After each visit that went well, before the visitor needs another capture. Not kept, it
 * goes, unless others came for it meanwhile, or it was there before. */
void tfp_capture_cache_leave(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
			     const struct tfp_capture *capture, bool keep);

/* What became of calls so far, and what it holds now. */
struct tfp_capture_cache_stats {
	uint64_t hits, loads; /* a load may have failed */
	uint64_t resident;    /* captures */
	uint64_t bytes;       /* of them, mapped ones included */
};
/* Takes no lock: the numbers may be of different moments. */
struct tfp_capture_cache_stats tfp_capture_cache_stats(const struct tfp_capture_cache *cache);

/* Where its files are. */
struct tfp_logdir *tfp_capture_cache_dir(const struct tfp_capture_cache *cache);

#endif
