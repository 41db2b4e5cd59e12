/*
 * Threads that work. One pool a process; tasks are short and never wait for
 * other tasks, with one exception that is safe: tfp_pool_for(), whose caller
 * works along, so that it ends even when every thread of the pool is busy.
 */
#ifndef TFP_BASE_POOL_H
#define TFP_BASE_POOL_H

#include "base/error.h"

#include <stddef.h>

struct tfp_pool;

/* threads: 0 takes the number of processors that this process may use. */
enum tfp_status tfp_pool_new(struct tfp_pool **out, unsigned threads,
			     struct tfp_error *err) TFP_CHECK;
/* Runs what is queued, then stops and frees. Accepts NULL. */
void tfp_pool_free(struct tfp_pool *pool);
unsigned tfp_pool_threads(const struct tfp_pool *pool);

/* Runs task(context) on some thread of the pool, later. */
enum tfp_status tfp_pool_submit(struct tfp_pool *pool, void (*task)(void *context), void *context,
				struct tfp_error *err) TFP_CHECK;

/* Calls task(context, i) once for every i below count, in order of i as
 * threads become free, in the caller and in the pool's threads, and returns
 * when all are done. pool NULL: all in the caller. Cannot fail: where no
 * helper can be had, the caller does the work. Helpers work for the caller's
 * current job (base/progress.h), on its account (base/budget.h). */
void tfp_pool_for(struct tfp_pool *pool, size_t count, void (*task)(void *context, size_t i),
		  void *context);

#endif
