/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open captures, shared by all that need them.
 *
 *     struct tfp_capture *capture;
 *     if (tfp_capture_cache_get(cache, file, &capture, &err) == TFP_OK) {
 *             ... read it ...
 *             tfp_capture_unref(capture);
 *     }
 *
 * A capture is found by its file and the state that the file is in. It is loaded once,
 * however many threads ask for it. Captures stay open until they hold more than the limit
 * together, or until nobody has used them for a while. The least recently used go first. A
 * capture that alone is larger than the limit is given out and not kept.
 *
 * A load waits while it would not fit beside the loads that are under way. It does not wait
 * for captures that others are using: a thread that holds one capture may need another, so
 * two of them could wait for each other for ever.
 *
 * Open captures that nobody uses also go when the program runs short of memory
 * (base/budget.h), and a load can be refused for want of it.
 */
#ifndef TFP_STORE_CAPTURE_CACHE_H
#define TFP_STORE_CAPTURE_CACHE_H

#include "store/capture.h"
#include "store/logdir.h"

struct tfp_capture_cache;

/* limit_bytes: the most that open captures may hold together, heap and mapped bytes. dir and pool
 * must outlive the cache. */
enum tfp_status tfp_capture_cache_new(struct tfp_capture_cache **out, struct tfp_logdir *dir,
				      uint64_t limit_bytes, struct tfp_pool *pool,
				      struct tfp_error *err) TFP_CHECK;
/* From now on closes captures that nobody has used for idle_ns, and gives their memory back to the
 * system. 0 closes none. Call it once, before other threads use the cache. It starts a thread,
 * which sleeps until the next capture is due. */
enum tfp_status tfp_capture_cache_drop_idle(struct tfp_capture_cache *cache, uint64_t idle_ns,
					    struct tfp_error *err) TFP_CHECK;
/* Captures that are still referenced live on. Accepts NULL. */
void tfp_capture_cache_free(struct tfp_capture_cache *cache);

/* Gives the capture of a file in its present state, loaded if need be. The caller owns a reference.
 * Thread-safe.
 *
 * A damaged file (TFP_BAD_INPUT) and one that is too large (TFP_TOO_LARGE) are remembered until
 * they change, so that they are not read again and again. */
enum tfp_status tfp_capture_cache_get(struct tfp_capture_cache *cache,
				      const struct tfp_capture_file *file, struct tfp_capture **out,
				      struct tfp_error *err) TFP_CHECK;

/* The same for a visitor: a thread that takes one capture after the other, and keeps only something
 * smaller of each. A visitor holds no other capture. So it can wait for room until other visitors
 * leave, and it does. */
enum tfp_status tfp_capture_cache_visit(struct tfp_capture_cache *cache,
					const struct tfp_capture_file *file,
					struct tfp_capture **out, struct tfp_error *err) TFP_CHECK;
/* Ends a visit that went well, before the next one begins. The reference is still the caller's to
 * give back. Without keep the capture is closed, unless it was open before the visit or somebody
 * else has asked for it since. */
void tfp_capture_cache_leave(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
			     const struct tfp_capture *capture, bool keep);

struct tfp_capture_cache_stats {
	uint64_t hits, loads; /* since the start; a load may have failed */
	uint64_t resident;    /* captures that are open now */
	uint64_t bytes;       /* that these hold, mapped ones included */
};
/* Takes no lock: the numbers may be of different moments. */
struct tfp_capture_cache_stats tfp_capture_cache_stats(const struct tfp_capture_cache *cache);

/* The log directory of the cache's files. */
struct tfp_logdir *tfp_capture_cache_dir(const struct tfp_capture_cache *cache);

#endif
