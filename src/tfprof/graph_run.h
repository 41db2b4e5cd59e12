/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph run: what the event files of a folder have of a TensorFlow graph and of the steps in
 * which it was traced (session/graph_runs.h), as a profile.
 *
 *     struct tfp_graph_run *graph;
 *     status = tfp_graph_run_open(&graph, session, &err);
 *     for (size_t i = 0; i < graph->profile.count; i++) ... graph->profile.nodes[i] ...
 *     tfp_graph_run_free(graph);
 */
#ifndef TFP_TFPROF_GRAPH_RUN_H
#define TFP_TFPROF_GRAPH_RUN_H

#include "session/session.h"
#include "tfprof/tree.h"

struct tfp_graph_run {
	struct tfp_profile profile; /* finished; flops that nobody recorded are counted */
	/* Whether any record has these. */
	bool has_accelerator, has_memory;
	struct tfp_graph_file *files; /* owned; names of the profile point into them */
	size_t file_count;
};

/* Of the session's files of events. The last graph counts; runs at a step that has been are one
 * later, as in the program tfprof. A file that is no such file is passed over. TFP_NOT_FOUND where
 * none holds a run. */
enum tfp_status tfp_graph_run_open(struct tfp_graph_run **out, const struct tfp_session *session,
				   struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_graph_run_free(struct tfp_graph_run *graph);

/* Microseconds as picoseconds; 0 for what is below, and saturates. */
int64_t tfp_graph_ps(int64_t us);
/* Adds what a node took, in a step by its place among the profile's, or in all of them where step
 * is negative; most: peak and residual bytes of all steps are the most of any, not their sum. What
 * a node took that no record came for is unknown. */
void tfp_graph_node_add(const struct tfp_graph_run *graph, const struct tfp_profile_node *node,
			int64_t step, bool most, struct tfp_taken *taken);

#endif
