/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a run was made. Page, terminal and API sort runs by the same rule, and show the same
 * times.
 *
 *     struct tfp_run_times *times;
 *     struct tfp_dated_run *runs;
 *     tfp_run_times_new(&times, dir, pool, &err);
 *     tfp_run_times_sort(times, snapshot, &runs, &err);
 *     runs[0].run ...                             the newest
 *     tfp_free(runs);
 *     tfp_run_times_free(times);
 *
 * The time is the one in the capture (when the profile began, as newer profilers
 * write it); else the one in the run's name (2023_11_07_18_18_59, in the local
 * time of this machine, as the name says no zone); else that of the newest file,
 * which copying may change. A large compressed file is not unpacked only for this.
 * What a file said is remembered by the state of the file.
 */
#ifndef TFP_SESSION_RUN_TIMES_H
#define TFP_SESSION_RUN_TIMES_H

#include "base/error.h"
#include "base/pool.h"
#include "store/logdir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_time_source { TFP_TIME_IN_CAPTURE, TFP_TIME_IN_NAME, TFP_TIME_OF_FILE };

struct tfp_dated_run {
	const struct tfp_run *run; /* the snapshot's */
	int64_t time_ns;           /* since 1970 */
	enum tfp_time_source source;
};

struct tfp_run_times;

/* dir and pool (may be NULL) must outlive it. Owned by the caller. May be used by several
 * threads at once. */
enum tfp_status tfp_run_times_new(struct tfp_run_times **out, struct tfp_logdir *dir,
				  struct tfp_pool *pool, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_run_times_free(struct tfp_run_times *times);

/* Opens what was not looked at before. A file that cannot be read has no time in it. */
struct tfp_dated_run tfp_run_times_of(struct tfp_run_times *times, const struct tfp_run *run);

/* All runs, newest first; of the same time the one whose files are newer, then the later name.
 * *out is the caller's, to be freed with tfp_free; it points into the snapshot. Looks at files
 * for two seconds at most: on a file system so slow that this is not enough the rest go by
 * name or file until somebody asks again. */
enum tfp_status tfp_run_times_sort(struct tfp_run_times *times,
				   const struct tfp_logdir_snapshot *snapshot,
				   struct tfp_dated_run **out, struct tfp_error *err) TFP_CHECK;

/* Sorts as tfp_run_times_sort does. */
void tfp_dated_runs_sort(struct tfp_dated_run *runs, size_t count);
/* Whether a profiler can have written it: between 2000 and 2200. */
bool tfp_time_is_plausible(int64_t time_ns);

/* "capture", "name" or "file". */
const char *tfp_time_source_name(enum tfp_time_source source);

/* The time in the last part of a run's name, since 1970; false where there is none. */
bool tfp_run_name_time(const char *name, int64_t *time_ns);

#endif
