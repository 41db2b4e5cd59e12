/*
 * One limit for the memory that work takes, whoever takes it: heap (base/alloc),
 * what compressed files are unpacked to, and mapped files.
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
 * Everything is counted, in all threads. Refused is only what a thread asks for
 * that has a current account (every job has one, see base/progress.h): libmicrohttpd's
 * threads, say, have none, and take what they need. A refusal looks as if there were
 * no memory. It is remembered in the account, so that whoever began the job
 * can tell, and has two ways to go on: alone, when what others hold has come free,
 * or with an error that names the limit.
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
	/* Of these two mapped files do not count: the kernel can take their pages back at any time,
	 * so all that they can do is to have others wait. */
	bool small;            /* a list, a compressed form, a download, answered while others use
				* up the limit: it may have an eighth more */
	bool alone;            /* no other job works */
	bool one_by_one;       /* doing more at a time did not fit */
	atomic_bool refused;   /* something was */
	atomic_bool too_large; /* it was, though nearly all that is in use is its own */
	atomic_bool spoiled;   /* see tfp_budget_spoil */
	/* What its threads took of the heap and did not give back; about that. Below 0 when they
	 * freed what others had taken. */
	atomic_int_least64_t heap_bytes;
};

/* Makes it the thread's current account; NULL for none. Returns the one before, to be put
 * back. Threads of tfp_pool_for have the caller's. */
struct tfp_account *tfp_account_enter(struct tfp_account *account);
/* NULL when there is none. */
struct tfp_account *tfp_account_current(void);

/* ---- the whole ---- */

/* From now on so many bytes may be in use besides those that are by now. */
void tfp_budget_set_limit(uint64_t bytes);
/* What was set; UINT64_MAX before. */
uint64_t tfp_budget_limit(void);
/* In use since then, mapped files included; 0 before. */
uint64_t tfp_budget_used(void);

/* ---- taking ---- */

/* Of the module's own; for the two below. */
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

/* Counts bytes that were given back, or, below 0, a few that were taken besides. */
static inline void tfp_budget_give(int64_t bytes)
{
	tfp_budget_in_hand += bytes;
	if (tfp_budget_in_hand > 2 * atomic_load_explicit(&tfp_budget_piece, memory_order_relaxed))
		tfp_budget_give_back();
}

/* The same for files that are mapped. */
bool tfp_budget_take_mapped(size_t bytes);
void tfp_budget_give_mapped(size_t bytes);

/* Before a thread ends: what it has in hand is the others'. */
void tfp_budget_thread_ends(void);

/* Of the current account: what it waited for was refused to another job. */
void tfp_budget_refuse(void);
/* Of the current account: something was left out for want of memory where nobody can tell, so
 * that what comes of the job is of no use. */
void tfp_budget_spoil(void);

bool tfp_budget_is_spoiled(void);

/* ---- what is kept only while nobody needs the memory ---- */

/* Lets go of about so many bytes if possible. Called in the midst of allocations, with whatever
 * locks: it must not wait for one (pthread_mutex_trylock). */
struct tfp_reserve {
	void (*let_go)(void *context, uint64_t bytes);
	void *context;
	struct tfp_reserve *next; /* the module's own */
};

/* Its memory must stay until it is removed. */
void tfp_budget_add_reserve(struct tfp_reserve *reserve);
/* When it returns let_go is not called any more. Does nothing for one that was not added. */
void tfp_budget_remove_reserve(struct tfp_reserve *reserve);

/* ---- jobs, of the thread's current account ---- */

/* Waits while a job is alone, or was about to be before. Holds nothing meanwhile; nor may the
 * caller, but for what no job needs. */
void tfp_budget_begin(void);
void tfp_budget_end(void);
/* Whether it failed for want of memory, or may have. */
bool tfp_budget_was_short(void);
/* Whether it is alone, and needs more than there is. */
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
