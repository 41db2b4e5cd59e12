/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of a run's captures: what operations took (capture_work.h) as a tree (tree.h).
 *
 *     struct tfp_capture_view view;
 *     status = tfp_capture_view_init(&view, &work, &choice, &err);
 *     status = tfp_capture_view_show(&view, &options, &err);
 *     for (n = tfp_tree_root(&view.tree); n; n = tfp_tree_next(n)) ...
 *     tfp_capture_view_release(&view);                in any case
 *
 * Scope: parts of names, leaves are the operations of TF stats. Op: types, below them operations.
 * Code: frames, outermost first, below them operations. Graph: programs, below each its
 * instructions by operands.
 */
#ifndef TFP_TFPROF_CAPTURE_VIEW_H
#define TFP_TFPROF_CAPTURE_VIEW_H

#include "tfprof/capture_work.h"
#include "tfprof/options.h"

struct tfp_capture_choice {
	enum tfp_view_command view; /* scope, graph, op or code */
	int64_t step;               /* from 0 on, TFP_CAPTURE_ALL or TFP_CAPTURE_MEAN */
	bool strip;                 /* names without their transformations */
	/* Also kernels that belong to no operation, and in the graph and code views operations of
	 * no program. Without others_given: where no program is known, for those two. */
	bool others_given, others;
};

/* Beside a node of the tree, by its place. */
struct tfp_capture_node {
	struct tfp_taken taken;
	uint32_t first_unit, last_unit; /* TFP_UNIT_NONE: a scope alone */
	uint32_t parent;                /* place */
	bool is_op;                     /* it has units, or is an instruction that never ran */
};

struct tfp_capture_view {
	const struct tfp_capture_work *work;
	struct tfp_capture_choice choice;
	struct tfp_tree tree;
	struct tfp_capture_node *nodes; /* owned; by place */
	size_t room;
	uint32_t *next_unit; /* owned; of the same node, by unit */
	bool *is_placed;     /* owned; by unit */
	struct tfp_str_map by_key;
	struct tfp_arena arena;
	/* Of devices, what is in no node. */
	uint64_t left_out_ps;
	size_t left_out;
};

/* work must outlive it. TFP_BAD_QUERY for a step that the run has not. */
enum tfp_status tfp_capture_view_init(struct tfp_capture_view *view,
				      const struct tfp_capture_work *work,
				      const struct tfp_capture_choice *choice,
				      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_capture_view_release(struct tfp_capture_view *view);
/* Shows it as the options say, whose minima of times are microseconds; their step is ignored.
 * TFP_BAD_QUERY for expressions that are none; *gave_up: one took too long on some names. */
enum tfp_status tfp_capture_view_show(struct tfp_capture_view *view,
				      const struct tfp_view_options *options, bool *gave_up,
				      struct tfp_error *err) TFP_CHECK;

/* What a node took in another part of the capture. */
void tfp_capture_node_taken(const struct tfp_capture_view *view, uint32_t place, int64_t step,
			    struct tfp_taken *taken);
/* An amount as it is shown: times in microseconds, divided if it is of the mean. */
double tfp_capture_amount(const struct tfp_capture_view *view, enum tfp_amount amount,
			  int64_t value);

#endif
