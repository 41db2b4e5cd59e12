/* SPDX-License-Identifier: Apache-2.0 */
#include "base/budget.h"

#include <malloc.h>
#include <pthread.h>

#define NO_LIMIT INT64_MAX
/* The bytes in a thread's hand: a thousandth of the limit, but within these bounds. */
#define PIECES    1024
#define PIECE_MIN 1024
#define PIECE_MAX 65536
/* Of the limit. */
#define RESERVE_PART 8
/* Reserves let go of some more than is needed just now. */
#define LET_GO_PART 16

_Thread_local int64_t tfp_budget_in_hand;
atomic_int_least64_t tfp_budget_piece = PIECE_MAX;

static _Thread_local struct tfp_account *current;

/* The bytes in the hands of threads are part of heap. Both are counted from the start; a limit
 * counts from base on. */
static atomic_int_least64_t heap, mapped;
static atomic_int_least64_t base, limit = NO_LIMIT;

/* Held while reserves let go: they wait for nobody. */
static pthread_mutex_t reserves_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tfp_reserve *reserves;

/* The jobs that work now. Each draws a number and enters in its turn, so that neither a job that
 * goes alone nor any other waits for ever. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t next, turn;
	unsigned working;
	bool alone;
} jobs = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct tfp_account *tfp_account_enter(struct tfp_account *account)
{
	struct tfp_account *before = current;
	current = account;
	return before;
}

struct tfp_account *tfp_account_current(void)
{
	return current;
}

/* ---- the whole ---- */

static int64_t in_use(void)
{
	return atomic_load(&heap) + atomic_load(&mapped) - atomic_load(&base);
}

void tfp_budget_set_limit(uint64_t bytes)
{
	int64_t most = bytes < NO_LIMIT / 4 ? (int64_t)bytes : NO_LIMIT;
	int64_t piece = most / PIECES;
	piece = piece < PIECE_MIN ? PIECE_MIN : piece > PIECE_MAX ? PIECE_MAX : piece;
	atomic_store(&base, atomic_load(&heap) + atomic_load(&mapped));
	atomic_store(&tfp_budget_piece, piece);
	atomic_store(&limit, most);
}

uint64_t tfp_budget_limit(void)
{
	int64_t most = atomic_load(&limit);
	return most == NO_LIMIT ? UINT64_MAX : (uint64_t)most;
}

uint64_t tfp_budget_used(void)
{
	int64_t used = in_use();
	return tfp_budget_limit() != UINT64_MAX && used > 0 ? (uint64_t)used : 0;
}

/* ---- reserves ---- */

void tfp_budget_add_reserve(struct tfp_reserve *reserve)
{
	pthread_mutex_lock(&reserves_lock);
	reserve->next = reserves;
	reserves = reserve;
	pthread_mutex_unlock(&reserves_lock);
}

void tfp_budget_remove_reserve(struct tfp_reserve *reserve)
{
	pthread_mutex_lock(&reserves_lock);
	struct tfp_reserve **at = &reserves;
	while (*at && *at != reserve)
		at = &(*at)->next;
	if (*at)
		*at = reserve->next;
	pthread_mutex_unlock(&reserves_lock);
}

/* All but so much of what the thread has in hand. */
static void give_back_to(int64_t piece)
{
	int64_t back = tfp_budget_in_hand - piece;
	if (back <= 0)
		return;
	atomic_fetch_sub(&heap, back);
	if (current)
		atomic_fetch_sub(&current->heap_bytes, back);
	tfp_budget_in_hand = piece;
}

void tfp_budget_give_back(void)
{
	give_back_to(atomic_load_explicit(&tfp_budget_piece, memory_order_relaxed));
}

void tfp_budget_thread_ends(void)
{
	atomic_fetch_sub(&heap, tfp_budget_in_hand);
	tfp_budget_in_hand = 0;
}

/* Until no more than that is in use, if possible. */
static void let_go(int64_t wanted)
{
	/* The freed memory is not of this job's account, and reserves must not come here again. */
	struct tfp_account *before = tfp_account_enter(NULL);
	give_back_to(0);
	pthread_mutex_lock(&reserves_lock);
	for (struct tfp_reserve *r = reserves; r; r = r->next) {
		int64_t more = in_use() - wanted;
		if (more <= 0)
			break;
		r->let_go(r->context, (uint64_t)more);
		give_back_to(0);
	}
	pthread_mutex_unlock(&reserves_lock);
	tfp_account_enter(before);
}

/* ---- taking ---- */

/* The limit for this account: what all may have in use when it takes memory. */
static int64_t most_for(const struct tfp_account *a)
{
	int64_t most = atomic_load(&limit);
	if (most == NO_LIMIT)
		return most;
	if (a->small)
		most += most / RESERVE_PART;
	return a->small || a->alone ? most + atomic_load(&mapped) : most;
}

static void refuse(struct tfp_account *a, int64_t bytes)
{
	int64_t most = atomic_load(&limit), own;
	if (a->alone && (__builtin_add_overflow(atomic_load(&a->heap_bytes), bytes, &own) ||
			 own >= most - most / 4))
		atomic_store(&a->too_large, true);
	atomic_store(&a->refused, true);
}

/* Adds to one of the two counters, if what is in use then is not too much. */
static bool add(atomic_int_least64_t *counter, int64_t bytes)
{
	struct tfp_account *a = current;
	const atomic_int_least64_t *other = counter == &heap ? &mapped : &heap;
	if (!a || most_for(a) == NO_LIMIT) {
		atomic_fetch_add(counter, bytes);
		return true;
	}
	for (bool again = false;; again = true) {
		int64_t most = most_for(a) - atomic_load(other) + atomic_load(&base);
		int64_t now = atomic_load(counter);
		while (bytes <= most - now) {
			if (atomic_compare_exchange_weak(counter, &now, now + bytes))
				return true;
		}
		if (again || bytes > most_for(a))
			return false;
		int64_t wanted = most_for(a) - bytes - atomic_load(&limit) / LET_GO_PART;
		let_go(wanted > 0 ? wanted : 0);
	}
}

bool tfp_budget_take_more(size_t bytes)
{
	int64_t piece = atomic_load_explicit(&tfp_budget_piece, memory_order_relaxed);
	struct tfp_account *a = current;
	if (bytes > (size_t)(NO_LIMIT / 4)) {
		if (a)
			refuse(a, NO_LIMIT / 4);
		return false;
	}
	int64_t need = (int64_t)bytes - tfp_budget_in_hand + piece;
	if (!add(&heap, need)) {
		refuse(a, need);
		return false;
	}
	if (a)
		atomic_fetch_add(&a->heap_bytes, need);
	tfp_budget_in_hand = piece;
	return true;
}

bool tfp_budget_take_mapped(size_t bytes)
{
	struct tfp_account *a = current;
	if (bytes > (size_t)(NO_LIMIT / 4))
		return false;
	if (!a || a->small || a->alone)
		atomic_fetch_add(&mapped, (int64_t)bytes);
	else if (!add(&mapped, (int64_t)bytes)) {
		refuse(a, 0);
		return false;
	}
	return true;
}

void tfp_budget_give_mapped(size_t bytes)
{
	atomic_fetch_sub(&mapped, (int64_t)bytes);
}

void tfp_budget_refuse(void)
{
	if (current)
		atomic_store(&current->refused, true);
}

/* ---- jobs ---- */

/* With the lock. */
static void wait_for_turn(bool alone)
{
	uint64_t mine = jobs.next++;
	while (jobs.turn != mine || jobs.alone || (alone && jobs.working))
		pthread_cond_wait(&jobs.changed, &jobs.lock);
	jobs.turn++;
	jobs.working++;
	jobs.alone = alone;
	pthread_cond_broadcast(&jobs.changed);
}

static void leave(void)
{
	jobs.working--;
	jobs.alone = false;
	pthread_cond_broadcast(&jobs.changed);
}

void tfp_budget_begin(void)
{
	pthread_mutex_lock(&jobs.lock);
	wait_for_turn(false);
	pthread_mutex_unlock(&jobs.lock);
}

void tfp_budget_end(void)
{
	if (current)
		current->alone = false;
	pthread_mutex_lock(&jobs.lock);
	leave();
	pthread_mutex_unlock(&jobs.lock);
}

bool tfp_budget_was_short(void)
{
	return current && atomic_load(&current->refused);
}

bool tfp_budget_is_too_large(void)
{
	return current && atomic_load(&current->too_large);
}

void tfp_budget_go_alone(void)
{
	struct tfp_account *a = current;
	pthread_mutex_lock(&jobs.lock);
	leave();
	wait_for_turn(true);
	pthread_mutex_unlock(&jobs.lock);
	/* Half, not all: a capture that is dropped has to be loaded anew, and more can go later.
	 * Facts of earlier jobs stay with captures that are in use. */
	let_go(atomic_load(&limit) / 2);
	/* What the heap has of it goes back to the system, too. */
	malloc_trim(0);
	if (!a)
		return;
	a->alone = a->one_by_one = true;
	atomic_store(&a->refused, false);
	atomic_store(&a->too_large, false);
	atomic_store(&a->heap_bytes, 0);
}

bool tfp_budget_one_by_one(void)
{
	return current && current->one_by_one;
}

enum tfp_status tfp_budget_explain(struct tfp_error *err)
{
	struct tfp_account *a = current;
	struct tfp_error said = *err;
	double amount = (double)atomic_load(&limit) / (1 << 20);
	const char *unit = amount < 1024 ? "MiB" : "GiB";
	if (err->status != TFP_NO_MEMORY || !a || !atomic_load(&a->refused))
		return err->status;
	amount = amount < 1024 ? amount : amount / 1024;
	if (atomic_load(&a->too_large)) {
		tfp_fail(err, TFP_TOO_LARGE,
			 "takes more than the %.4g %s of memory that may be used", amount, unit);
		tfp_error_set_hint(err, "raise --memory-limit, or capture for a shorter time");
	} else {
		tfp_fail(err, TFP_BUSY,
			 "the %.4g %s of memory that may be used are taken by other requests",
			 amount, unit);
		tfp_error_set_hint(err, "try again in a moment, or raise --memory-limit");
	}
	if (said.file[0])
		tfp_error_set_file(err, said.file);
	return err->status;
}
