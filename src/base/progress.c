/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include <time.h>

/* How soon a job that waits for another sees that one's progress, or that it need not wait. */
#define LOOK_NS 100000000

static _Thread_local struct tfp_progress *current;

const char *tfp_stage_name(enum tfp_stage stage)
{
	static const char *const names[TFP_STAGE_COUNT] = {
		[TFP_STAGE_WAITING] = "waiting",   [TFP_STAGE_READING] = "reading",
		[TFP_STAGE_GROUPING] = "grouping", [TFP_STAGE_ANALYSING] = "analysing",
		[TFP_STAGE_WRITING] = "writing",
	};
	return (unsigned)stage < TFP_STAGE_COUNT ? names[stage] : "?";
}

struct tfp_progress *tfp_progress_enter(struct tfp_progress *progress)
{
	struct tfp_progress *before = current;
	current = progress;
	tfp_account_enter(progress ? &progress->memory : NULL);
	return before;
}

struct tfp_progress *tfp_progress_current(void)
{
	return current;
}

enum tfp_stage tfp_progress_stage(enum tfp_stage stage)
{
	return current ? (enum tfp_stage)atomic_exchange(&current->stage, (int)stage) : stage;
}

void tfp_progress_expect_bytes(uint64_t bytes)
{
	if (current)
		atomic_fetch_add(&current->bytes_total, bytes);
}

void tfp_progress_add_bytes(uint64_t bytes)
{
	if (current)
		atomic_fetch_add(&current->bytes_done, bytes);
}

void tfp_progress_add_events(uint64_t events)
{
	if (current)
		atomic_fetch_add(&current->events, events);
}

void tfp_progress_expect_hosts(uint64_t hosts)
{
	if (current)
		atomic_fetch_add(&current->hosts_total, hosts);
}

void tfp_progress_add_host(void)
{
	if (current)
		atomic_fetch_add(&current->hosts_done, 1);
}

void tfp_progress_partial(void)
{
	if (current)
		atomic_store(&current->partial, true);
}

bool tfp_cancelled(void)
{
	if (!current)
		return false;
	if (atomic_load(&current->stopped))
		return true;
	if (!atomic_load(&current->unwanted) || atomic_load(&current->needed_by))
		return false;
	atomic_store(&current->stopped, true);
	return true;
}

void tfp_progress_start_over(void)
{
	if (!current)
		return;
	atomic_store(&current->bytes_done, 0);
	atomic_store(&current->bytes_total, 0);
	atomic_store(&current->events, 0);
	atomic_store(&current->hosts_done, 0);
	atomic_store(&current->hosts_total, 0);
	atomic_store(&current->partial, false);
}

enum tfp_status tfp_fail_cancelled(struct tfp_error *err)
{
	return tfp_fail(err, TFP_CANCELLED, "nobody waits for the answer any more");
}

void tfp_making_init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

void tfp_making_begin(struct tfp_making *making)
{
	making->by = current;
}

void tfp_making_end(struct tfp_making *making)
{
	if (making->by)
		atomic_fetch_sub(&making->by->needed_by, making->waiting);
	making->by = NULL;
}

static void show(const struct tfp_progress *from, struct tfp_progress *to)
{
	atomic_store(&to->stage, atomic_load(&from->stage));
	atomic_store(&to->bytes_total, atomic_load(&from->bytes_total));
	atomic_store(&to->bytes_done, atomic_load(&from->bytes_done));
	atomic_store(&to->events, atomic_load(&from->events));
}

bool tfp_making_wait(struct tfp_making *making, pthread_cond_t *condition, pthread_mutex_t *lock)
{
	if (!current) {
		/* The maker must not stop. */
		making->waiting++;
		if (making->by)
			atomic_fetch_add(&making->by->needed_by, 1);
		pthread_cond_wait(condition, lock);
	} else {
		struct timespec until;
		if (tfp_cancelled())
			return false;
		making->waiting++;
		if (making->by)
			atomic_fetch_add(&making->by->needed_by, 1);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(condition, lock, &until);
		if (making->by)
			show(making->by, current);
	}
	making->waiting--;
	if (making->by)
		atomic_fetch_sub(&making->by->needed_by, 1);
	return !tfp_cancelled();
}
