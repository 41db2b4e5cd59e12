/*
 * How far a job has come, and whether anybody still wants what it makes.
 *
 * A job is one answer being made. It has a thread that began it and, through
 * tfp_pool_for, others that help. Each of them knows the job as its current one
 * (thread-local: what reports and asks is deep inside, in loops that are also
 * used where there is no job), so that
 *
 *     tfp_progress_add_bytes(n);
 *     if (tfp_cancelled())
 *             return ...;
 *
 * work anywhere, and do nothing in a thread without a job.
 *
 * What one job makes others may wait for (a capture, a fact): struct tfp_making.
 * Such a job goes on for them when its own people are gone, until that is made.
 */
#ifndef TFP_BASE_PROGRESS_H
#define TFP_BASE_PROGRESS_H

#include "base/budget.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_stage {
	TFP_STAGE_WAITING,   /* for a thread */
	TFP_STAGE_READING,   /* bytes of captures */
	TFP_STAGE_GROUPING,  /* events into steps */
	TFP_STAGE_ANALYSING, /* other facts of a capture */
	TFP_STAGE_WRITING,   /* the answer */
	TFP_STAGE_COUNT
};

/* "waiting", "reading", ... */
const char *tfp_stage_name(enum tfp_stage stage);

/* One job. Zeroed memory is one that waits. It must outlive every thread that has it
 * as current; any thread may read it. */
struct tfp_progress {
	atomic_int stage;
	atomic_uint_fast64_t bytes_done, bytes_total; /* of captures' files */
	atomic_uint_fast64_t events;                  /* read */
	atomic_uint_fast64_t hosts_done, hosts_total; /* 0 and 0: not counted */
	atomic_bool unwanted;                         /* set by whoever knows */
	atomic_uint needed_by;                        /* other jobs that wait for a part of it */
	atomic_bool stopped;       /* somebody was told to stop: nothing of it can be used */
	atomic_bool partial;       /* see tfp_progress_partial */
	struct tfp_account memory; /* on which its threads take what they need */
};

/* Makes it the thread's current job, and its account the current one; NULL for none. Returns
 * the one before, to be put back. */
struct tfp_progress *tfp_progress_enter(struct tfp_progress *progress);
/* NULL when there is none. */
struct tfp_progress *tfp_progress_current(void);

/* ---- what the current job reports ---- */

/* Returns the stage before. */
enum tfp_stage tfp_progress_stage(enum tfp_stage stage);
void tfp_progress_expect_bytes(uint64_t bytes);
void tfp_progress_add_bytes(uint64_t bytes);
void tfp_progress_add_events(uint64_t events);
void tfp_progress_expect_hosts(uint64_t hosts);
void tfp_progress_add_host(void);
/* Something is missing from what the job makes that may be there another time (memory, a
 * file that could not be opened): it may be sent, but not be kept. */
void tfp_progress_partial(void);

/* ---- giving up ---- */

/* Whether the current job is to stop. Once true it stays so, for all threads of the job:
 * who left something undone for that reason can rely on the job's others asking too. */
bool tfp_cancelled(void);
/* For loops over events and the like, before the one at i: whether to go on. Asks now and then
 * only. A loop that ends for it ends as one that has failed. */
static inline bool tfp_goes_on(size_t i)
{
	return i % 4096 != 0 || !tfp_cancelled();
}
/* Between two attempts at the same: nothing was read yet, and nothing is missing. */
void tfp_progress_start_over(void);
/* The error of a job that stops; returns TFP_CANCELLED. */
enum tfp_status tfp_fail_cancelled(struct tfp_error *err);

/* ---- what one job makes and others wait for ---- */

/* Guarded by a lock of its owner's. Zeroed memory: nobody makes it. */
struct tfp_making {
	struct tfp_progress *by; /* NULL also where the maker has no job */
	unsigned waiting;
};

/* A condition that tfp_making_wait can wait on. */
void tfp_making_init_condition(pthread_cond_t *condition);
/* With the lock held: the current job makes it from now on, and does no more. */
void tfp_making_begin(struct tfp_making *making);
void tfp_making_end(struct tfp_making *making);
/* With the lock held, which is given up meanwhile; making must stay while waiting is not 0.
 * Waits until condition is signalled, or for
 * a moment, and shows the maker's progress as that of the current job. false when the
 * current job is to stop. If the maker ends with TFP_CANCELLED after all, the caller
 * begins anew. */
bool tfp_making_wait(struct tfp_making *making, pthread_cond_t *condition, pthread_mutex_t *lock);

#endif
