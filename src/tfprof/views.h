/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views of a profile: built when first asked for, shown as often as one likes.
 *
 *     struct tfp_views v;
 *     tfp_views_init(&v, &profile, NULL);
 *     status = tfp_views_show(&v, TFP_VIEW_SCOPE, &options, &err);
 *     tfp_views_release(&v);
 */
#ifndef TFP_TFPROF_VIEWS_H
#define TFP_TFPROF_VIEWS_H

#include "tfprof/checkpoint.h"
#include "tfprof/op_rows.h"
#include "tfprof/options.h"
#include "tfprof/profile.h"
#include "tfprof/tree.h"

struct tfp_views {
	struct tfp_profile *profile;
	struct tfp_checkpoint *checkpoint;  /* NULL: none */
	struct tfp_tree scope, graph, code; /* without nodes until they are built */
	struct tfp_op_rows ops;
	bool flops_counted;
};

/* profile and checkpoint must outlive it; flops that nobody recorded are put into the profile
 * when options ask for them. */
void tfp_views_init(struct tfp_views *v, struct tfp_profile *profile,
		    struct tfp_checkpoint *checkpoint);
/* Accepts zeroed memory. */
void tfp_views_release(struct tfp_views *v);

/* Shows a scope, graph, code or op view, as the options say: on standard output or in a file.
 * What is wrong with the request (no such step, a view that cannot be written so) is told on
 * standard error, as the original does, and is no error here. */
enum tfp_status tfp_views_show(struct tfp_views *v, enum tfp_view_command view,
			       const struct tfp_view_options *o, struct tfp_error *err) TFP_CHECK;

/* For those who want a tree rather than a table: the tree of a view, shown. */
enum tfp_status tfp_views_tree(struct tfp_views *v, enum tfp_view_command view,
			       const struct tfp_view_options *o, struct tfp_tree **tree,
			       struct tfp_error *err) TFP_CHECK;
/* And the rows of operations. */
enum tfp_status tfp_views_ops(struct tfp_views *v, const struct tfp_view_options *o,
			      struct tfp_error *err) TFP_CHECK;

/* Builds an empty tree from a profile. */
enum tfp_status tfp_scope_build(struct tfp_tree *t, const struct tfp_profile *p,
				struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_graph_build(struct tfp_tree *t, const struct tfp_profile *p,
				struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_code_build(struct tfp_tree *t, struct tfp_profile *p,
			       struct tfp_error *err) TFP_CHECK;

#endif
