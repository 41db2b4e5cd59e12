/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress of a job, and giving up.
 *
 * A job is one answer being made. A thread begins it, and others help through
 * tfp_pool_for. Each of these threads has the job as its current one, in a
 * thread-local variable, because the loops that report and ask are deep inside
 * and also run without a job. In such a thread
 *
 *     tfp_progress_add_bytes(n);
 *     if (tfp_cancelled())
 *             return ...;
 *
 * report to the job and ask whether it is still wanted. In a thread without a
 * job they do nothing.
 *
 * Several jobs may need the same capture or fact. One of them makes it, and the
 * others wait (struct tfp_making). The maker goes on for those that wait, even if
 * its own clients have gone, until the thing is made.
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

/* One job. Zeroed memory is a job that waits. It must outlive every thread that has it as
 * current. Any thread may read it. */
struct tfp_progress {
	atomic_int stage;
	atomic_uint_fast64_t bytes_done, bytes_total; /* of captures' files */
	atomic_uint_fast64_t events;                  /* read */
	atomic_uint_fast64_t hosts_done, hosts_total; /* 0 and 0: not counted */
	atomic_bool unwanted;                         /* set by its owner: its clients are gone */
	atomic_uint needed_by;                        /* other jobs that wait for a part of it */
	atomic_bool stopped;       /* a thread was told to stop: nothing of it can be used */
	atomic_bool partial;       /* see tfp_progress_partial */
	struct tfp_account memory; /* its threads' account */
};

/* Makes this the thread's current job, and its account the current one. NULL: the thread has no
 * job. Returns the job before, which the caller puts back. */
struct tfp_progress *tfp_progress_enter(struct tfp_progress *progress);
/* NULL when there is none. */
struct tfp_progress *tfp_progress_current(void);

/* ---- what the current job reports ---- */

/* Sets the stage, and returns the one before. */
enum tfp_stage tfp_progress_stage(enum tfp_stage stage);
void tfp_progress_expect_bytes(uint64_t bytes);
void tfp_progress_add_bytes(uint64_t bytes);
void tfp_progress_add_events(uint64_t events);
void tfp_progress_expect_hosts(uint64_t hosts);
void tfp_progress_add_host(void);
/* Says that the answer lacks something that may be there another time (a file could not be
 * opened, memory was short): it may be sent, but not kept. */
void tfp_progress_partial(void);

/* ---- giving up ---- */

/* Whether the current job is to stop. Once true it stays true, for all threads of the job: a
 * thread that left work undone can rely on the others to find out, too. */
bool tfp_cancelled(void);
/* For loops over events: whether to go on with the one at i. Asks at every 4096th. A loop that
 * ends because of it has failed. */
static inline bool tfp_goes_on(size_t i)
{
	return i % 4096 != 0 || !tfp_cancelled();
}
/* Before a second attempt: nothing was read yet, and nothing is missing. */
void tfp_progress_start_over(void);
/* Writes the error of a job that stops, and returns TFP_CANCELLED. */
enum tfp_status tfp_fail_cancelled(struct tfp_error *err);

/* ---- what one job makes and others wait for ---- */

/* A thing that is being made. The owner's lock guards it. Zeroed memory: nobody makes it. */
struct tfp_making {
	struct tfp_progress *by; /* the maker; NULL also for a maker without a job */
	unsigned waiting;        /* jobs */
};

/* Initialises a condition that tfp_making_wait can wait on. */
void tfp_making_init_condition(pthread_cond_t *condition);
/* With the lock held: the current job begins to make the thing, and ends. */
void tfp_making_begin(struct tfp_making *making);
void tfp_making_end(struct tfp_making *making);
/* Waits until the condition is signalled, or for a moment, and shows the maker's progress as
 * that of the current job. The lock is held before and after, and given up meanwhile; making
 * must stay as long as waiting is not 0. false when the current job is to stop. A caller whose
 * maker ends with TFP_CANCELLED nevertheless begins anew. */
bool tfp_making_wait(struct tfp_making *making, pthread_cond_t *condition, pthread_mutex_t *lock);

#endif
