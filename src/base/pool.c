/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define MAX_THREADS 256u

struct job {
	struct job *next;
	void (*task)(void *context);
	void *context;
};

struct tfp_pool {
	pthread_mutex_t lock; /* guards the queue and stopping */
	pthread_cond_t work;
	struct job *first, *last;
	bool stopping;
	unsigned threads;
	pthread_t ids[];
};

static void *worker(void *context)
{
	struct tfp_pool *pool = context;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (!pool->first && !pool->stopping)
			pthread_cond_wait(&pool->work, &pool->lock);
		struct job *job = pool->first;
		if (!job)
			break;
		pool->first = job->next;
		if (!pool->first)
			pool->last = NULL;
		pthread_mutex_unlock(&pool->lock);
		job->task(job->context);
		tfp_free(job);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	tfp_budget_thread_ends();
	return NULL;
}

static unsigned processors(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? (unsigned)n : 1;
}

enum tfp_status tfp_pool_new(struct tfp_pool **out, unsigned threads, struct tfp_error *err)
{
	*out = NULL;
	if (threads == 0)
		threads = processors();
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	struct tfp_pool *pool = tfp_calloc(1, sizeof(*pool) + threads * sizeof(pthread_t));
	if (!pool)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for threads");
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	for (; pool->threads < threads; pool->threads++) {
		int error = pthread_create(&pool->ids[pool->threads], NULL, worker, pool);
		if (error) {
			/* Fewer threads than asked for still work. */
			if (pool->threads > 0)
				break;
			tfp_pool_free(pool);
			return tfp_fail(err, TFP_IO, "cannot start a thread: %s", strerror(error));
		}
	}
	*out = pool;
	return TFP_OK;
}

void tfp_pool_free(struct tfp_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->threads; i++)
		pthread_join(pool->ids[i], NULL);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	tfp_free(pool);
}

unsigned tfp_pool_threads(const struct tfp_pool *pool)
{
	return pool ? pool->threads : 1;
}

enum tfp_status tfp_pool_submit(struct tfp_pool *pool, void (*task)(void *context), void *context,
				struct tfp_error *err)
{
	struct job *job = tfp_malloc(sizeof(*job));
	if (!job)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to queue work");
	*job = (struct job){.task = task, .context = context};
	pthread_mutex_lock(&pool->lock);
	if (pool->last)
		pool->last->next = job;
	else
		pool->first = job;
	pool->last = job;
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	return TFP_OK;
}

/* One tfp_pool_for. It outlives the call when a helper wakes up late, so the
 * caller and every helper hold a reference. */
struct loop {
	pthread_mutex_t lock; /* guards done and references */
	pthread_cond_t finished;
	atomic_size_t next;
	size_t count, done;
	unsigned references;
	void (*task)(void *context, size_t i);
	void *context;
	struct tfp_progress *progress; /* the caller's; gone when nothing is left to do */
	struct tfp_account *account;   /* the same */
};

static void loop_run(struct loop *loop)
{
	size_t mine = 0;
	for (;;) {
		size_t i = atomic_fetch_add(&loop->next, 1);
		if (i >= loop->count)
			break;
		loop->task(loop->context, i);
		mine++;
	}
	pthread_mutex_lock(&loop->lock);
	loop->done += mine;
	if (loop->done == loop->count)
		pthread_cond_broadcast(&loop->finished);
	pthread_mutex_unlock(&loop->lock);
}

static void loop_unref(struct loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	bool last = --loop->references == 0;
	pthread_mutex_unlock(&loop->lock);
	if (last) {
		pthread_mutex_destroy(&loop->lock);
		pthread_cond_destroy(&loop->finished);
		tfp_free(loop);
	}
}

static void loop_help(void *context)
{
	struct loop *loop = context;
	/* Entering a progress enters its account, so the account before is asked for first. */
	struct tfp_account *account = tfp_account_current();
	struct tfp_progress *before = tfp_progress_enter(loop->progress);
	tfp_account_enter(loop->account);
	loop_run(loop);
	tfp_progress_enter(before);
	tfp_account_enter(account);
	loop_unref(loop);
}

void tfp_pool_for(struct tfp_pool *pool, size_t count, void (*task)(void *context, size_t i),
		  void *context)
{
	struct loop *loop = NULL;
	size_t helpers = pool && count > 1 ? tfp_pool_threads(pool) : 0;
	if (helpers > count - 1)
		helpers = count - 1;
	if (helpers)
		loop = tfp_calloc(1, sizeof(*loop));
	if (!loop) {
		for (size_t i = 0; i < count; i++)
			task(context, i);
		return;
	}
	pthread_mutex_init(&loop->lock, NULL);
	pthread_cond_init(&loop->finished, NULL);
	loop->count = count;
	loop->task = task;
	loop->context = context;
	loop->progress = tfp_progress_current();
	loop->account = tfp_account_current();
	loop->references = 1;
	for (size_t i = 0; i < helpers; i++) {
		pthread_mutex_lock(&loop->lock);
		loop->references++;
		pthread_mutex_unlock(&loop->lock);
		if (tfp_pool_submit(pool, loop_help, loop, NULL) != TFP_OK) {
			loop_unref(loop);
			break;
		}
	}
	loop_run(loop);
	pthread_mutex_lock(&loop->lock);
	while (loop->done < loop->count)
		pthread_cond_wait(&loop->finished, &loop->lock);
	pthread_mutex_unlock(&loop->lock);
	loop_unref(loop);
}
