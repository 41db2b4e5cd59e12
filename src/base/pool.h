/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads that run tasks. A program has several: one for each kind of
 * work that must not hold up another kind (docs/architecture.md, "Threads and locks").
 *
 * A task may wait for other work. It must not wait for a task that is queued in
 * its own pool, because every thread of the pool may be waiting likewise.
 * tfp_pool_for() is safe in a task of the same pool: the caller works along, and
 * the loop ends even if no thread of the pool ever comes to help.
 */
#ifndef TFP_BASE_POOL_H
#define TFP_BASE_POOL_H

#include "base/error.h"

#include <stddef.h>

struct tfp_pool;

/* threads: 0 takes the number of processors that this process may use. At most 256; fewer are
 * started where the system gives no more. */
enum tfp_status tfp_pool_new(struct tfp_pool **out, unsigned threads,
			     struct tfp_error *err) TFP_CHECK;
/* Runs what is queued, then stops and frees. Accepts NULL. */
void tfp_pool_free(struct tfp_pool *pool);
unsigned tfp_pool_threads(const struct tfp_pool *pool);

/* Queues task(context) for some thread of the pool. Tasks start in the order in which they were
 * queued. */
enum tfp_status tfp_pool_submit(struct tfp_pool *pool, void (*task)(void *context), void *context,
				struct tfp_error *err) TFP_CHECK;

/* Calls task(context, i) once for every i below count, and returns when all calls have
 * returned. The caller and the pool's threads take the next i as they become free. pool NULL:
 * the caller does everything. Cannot fail: without memory for helpers the caller does the work.
 * Helpers work for the caller's current job (base/progress.h), on its account
 * (base/budget.h). */
void tfp_pool_for(struct tfp_pool *pool, size_t count, void (*task)(void *context, size_t i),
		  void *context);

#endif
