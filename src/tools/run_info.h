/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of runs before their captures are opened: when they were made, and what they
 * hold, by a quick look at the names of their files' planes. A look is remembered until the
 * file changes.
 *
 *     struct tfp_run_info *info;
 *     tfp_run_info_new(&info, dir, 1 << 30, pool, &err);
 *     tfp_run_traits(info, run, &traits, &err);
 *     tfp_run_info_free(info);
 *
 * run_documents.h and run_tables.h show it.
 */
#ifndef TFP_TOOLS_RUN_INFO_H
#define TFP_TOOLS_RUN_INFO_H

#include "base/error.h"
#include "base/pool.h"
#include "session/run_times.h"
#include "store/logdir.h"
#include "tools/tool.h"

#include <stddef.h>
#include <stdint.h>

struct tfp_run_info;

/* max_bytes bounds what a compressed file may unpack to for a look. dir and pool must outlive
 * it; pool may be NULL. Owned by the caller. All functions below may be called by several
 * threads at once. */
enum tfp_status tfp_run_info_new(struct tfp_run_info **out, struct tfp_logdir *dir,
				 uint64_t max_bytes, struct tfp_pool *pool,
				 struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_run_info_free(struct tfp_run_info *info);

/* "capture" or "graph run". */
const char *tfp_run_kind_name(const struct tfp_run *run);
/* The directory that the runs are in. */
const struct tfp_logdir *tfp_run_info_logdir(const struct tfp_run_info *info);

/* ---- looks ---- */

/* What a quick look at a file told. */
struct tfp_look {
	struct tfp_run_traits traits;
	char device_type[96]; /* of its first device; "CPU" without one */
	size_t device_count;
};

/* Of each host of a run, in its order: the look, or an error that says why there is none. */
struct tfp_run_looks {
	struct tfp_run_info *info;
	const struct tfp_run *run;
	struct tfp_look *looks;
	struct tfp_error *errors;
};

/* A file that cannot be read is no error of the call, but want of memory is. */
enum tfp_status tfp_run_looks_init(struct tfp_run_looks *r, struct tfp_run_info *info,
				   const struct tfp_run *run, struct tfp_error *err) TFP_CHECK;
void tfp_run_looks_release(struct tfp_run_looks *r);

/* What the files of a run hold together; a file that cannot be read counts as holding nothing. */
enum tfp_status tfp_run_traits(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_run_traits *traits, struct tfp_error *err) TFP_CHECK;

/* ---- the list of runs ---- */

/* When a run was made (run_times.h). */
struct tfp_dated_run tfp_run_info_time_of(struct tfp_run_info *info, const struct tfp_run *run);
/* The snapshot's runs, captures and graph runs, newest first; the caller frees the list with
 * tfp_free. */
enum tfp_status tfp_run_info_sort(struct tfp_run_info *info,
				  const struct tfp_logdir_snapshot *snapshot,
				  struct tfp_dated_run **sorted, size_t *count,
				  struct tfp_error *err) TFP_CHECK;
/* The newest of the captures, or else of the graph runs; *run is NULL when there is neither. */
enum tfp_status tfp_newest_run(struct tfp_run_info *info,
			       const struct tfp_logdir_snapshot *snapshot,
			       const struct tfp_run **run, struct tfp_error *err) TFP_CHECK;
/* Why a directory has nothing to show, for a person: true and the words in
 * *err (TFP_NOT_FOUND) when there is no run. */
bool tfp_run_list_problem(const struct tfp_logdir *dir, const struct tfp_logdir_snapshot *snapshot,
			  struct tfp_error *err);

#endif
