/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One limit for all memory that work takes: the heap (base/alloc), the bytes that
 * compressed files are unpacked to, and mapped files.
 *
 *     tfp_budget_set_limit(bytes);   // once; before that nothing is refused
 *
 *     tfp_budget_begin();            // a job, which is the thread's current one
 *     status = make();
 *     if (tfp_budget_was_short()) {
 *             tfp_budget_go_alone(); // once more, while no other job works
 *             status = make();
 *     }
 *     tfp_budget_explain(&err);
 *     tfp_budget_end();
 *
 * Everything is counted, in all threads. Only a thread with a current account can be
 * refused memory. Every job has an account (base/progress.h); libmicrohttpd's threads,
 * for example, have none. A refusal looks like any want of memory, and the account
 * remembers it. The job can then go on in two ways: once more, alone, when others have
 * let go of theirs, or with an error that names the limit.
 *
 * Each thread has some bytes in hand, so that most allocations touch nothing shared.
 */
#ifndef TFP_BASE_BUDGET_H
#define TFP_BASE_BUDGET_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On whose behalf a thread takes memory. Zeroed memory is a job among others. It must outlive
 * every thread that has it as current. */
struct tfp_account {
	/* For a small or a lone account mapped files do not count: the kernel can take their pages
	 * back at any time. */
	bool small;            /* a list, a compressed form, a download, answered while others use
				* up the limit: it may have an eighth more */
	bool alone;            /* no other job works */
	bool one_by_one;       /* doing more at a time did not fit */
	atomic_bool refused;   /* something was */
	atomic_bool too_large; /* it was, though nearly all that is in use is its own */
	/* About what its threads took of the heap and did not give back. Below 0 when they freed
	 * more of others' memory. */
	atomic_int_least64_t heap_bytes;
};

/* Makes this the thread's current account; NULL: the thread has none. Returns the account
 * before, which the caller puts back. Threads of tfp_pool_for have their caller's. */
struct tfp_account *tfp_account_enter(struct tfp_account *account);
/* NULL when there is none. */
struct tfp_account *tfp_account_current(void);

/* ---- the whole ---- */

/* From now on so many bytes may be in use in addition to those in use now. */
void tfp_budget_set_limit(uint64_t bytes);
/* The limit that was set; UINT64_MAX before. */
uint64_t tfp_budget_limit(void);
/* In use since then, mapped files included; 0 before. */
uint64_t tfp_budget_used(void);

/* ---- taking ---- */

/* The module's own, for the two inline functions below. */
extern _Thread_local int64_t tfp_budget_in_hand;
extern atomic_int_least64_t tfp_budget_piece;
bool tfp_budget_take_more(size_t bytes);
void tfp_budget_give_back(void);

/* Counts bytes that are about to be taken; false when they are refused. */
static inline bool tfp_budget_take(size_t bytes)
{
	if ((int64_t)bytes > tfp_budget_in_hand || bytes > INT64_MAX)
		return tfp_budget_take_more(bytes);
	tfp_budget_in_hand -= (int64_t)bytes;
	return true;
}

/* Counts bytes that were given back. A small negative number counts bytes that a block takes
 * beyond what was asked for. */
static inline void tfp_budget_give(int64_t bytes)
{
	tfp_budget_in_hand += bytes;
	if (tfp_budget_in_hand > 2 * atomic_load_explicit(&tfp_budget_piece, memory_order_relaxed))
		tfp_budget_give_back();
}

/* The same for files that are mapped. */
bool tfp_budget_take_mapped(size_t bytes);
void tfp_budget_give_mapped(size_t bytes);

/* For a thread that ends: gives back the bytes in its hand. */
void tfp_budget_thread_ends(void);

/* Marks the current account as refused, because another job was that made the thing it waited
 * for. */
void tfp_budget_refuse(void);

/* ---- what is kept only while nobody needs the memory ---- */

/* Lets go of about so many bytes if possible. Called in the midst of allocations, with whatever
 * locks: it must not wait for one (pthread_mutex_trylock). */
struct tfp_reserve {
	void (*let_go)(void *context, uint64_t bytes);
	void *context;
	struct tfp_reserve *next; /* the module's own */
};

/* The reserve's memory must stay until it is removed. */
void tfp_budget_add_reserve(struct tfp_reserve *reserve);
/* let_go is not called any more once this has returned. Does nothing for a reserve that was not
 * added. */
void tfp_budget_remove_reserve(struct tfp_reserve *reserve);

/* ---- jobs, of the thread's current account ---- */

/* Waits while another job is alone or waits to be. Holds nothing meanwhile. The caller may hold
 * only what no job needs. */
void tfp_budget_begin(void);
void tfp_budget_end(void);
/* Whether the job failed for want of memory, or may have. */
bool tfp_budget_was_short(void);
/* Whether the job is alone, and needs more than there is. */
bool tfp_budget_is_too_large(void);
/* Between two attempts: the job has let go of all that the first one held. Waits until no other
 * job works, and has what is kept only let go until half of the limit is free. Jobs that begin
 * meanwhile wait for this one's end; each in its turn. */
void tfp_budget_go_alone(void);
/* Whether the current job should do one after the other what it could do at the same time. */
bool tfp_budget_one_by_one(void);

/* When err says TFP_NO_MEMORY and that is because of the limit, it says so: TFP_TOO_LARGE for a
 * job that alone needs more, TFP_BUSY where others have the memory. Returns err's status. */
enum tfp_status tfp_budget_explain(struct tfp_error *err);

#endif
