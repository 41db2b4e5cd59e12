/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which folders of event files are runs: those in which a file holds steps of a graph (RunMetadata
 * that tf.summary.FileWriter.add_run_metadata wrote). One folder is one run, its files are what
 * hosts are to a capture's run.
 *
 *     struct tfp_graph_runs *graphs;
 *     struct tfp_dated_run *runs;
 *     tfp_graph_runs_new(&graphs, dir, pool, &err);
 *     tfp_graph_runs_list(graphs, snapshot, &runs, &count, &err);
 *     tfp_free(runs);
 *     tfp_graph_runs_free(graphs);
 *
 * A log directory can hold thousands of files of gigabytes, nearly all of them without such steps.
 * Only the heads of their records are looked at (store/event_heads.h), each once: what a file said
 * is remembered, and of one that grew the new part is looked at alone.
 */
#ifndef TFP_SESSION_GRAPH_RUNS_H
#define TFP_SESSION_GRAPH_RUNS_H

#include "base/pool.h"
#include "session/run_times.h"

struct tfp_graph_runs;

/* dir and pool (may be NULL) must outlive it. Owned by the caller. May be used by several threads
 * at once. */
enum tfp_status tfp_graph_runs_new(struct tfp_graph_runs **out, struct tfp_logdir *dir,
				   struct tfp_pool *pool, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_graph_runs_free(struct tfp_graph_runs *graphs);

/* In no order. *out is the caller's, to be freed with tfp_free; it points into the snapshot. Looks
 * at files for two seconds at most: what was not seen by then is found when somebody asks again. A
 * run's time is that of its first step where the file says it, else that of its newest file. */
enum tfp_status tfp_graph_runs_list(struct tfp_graph_runs *graphs,
				    const struct tfp_logdir_snapshot *snapshot,
				    struct tfp_dated_run **out, size_t *count,
				    struct tfp_error *err) TFP_CHECK;
/* The same of one folder: false where it is no run. *dated as above. */
bool tfp_graph_runs_has(struct tfp_graph_runs *graphs, const struct tfp_run *run,
			struct tfp_dated_run *dated);

#endif
