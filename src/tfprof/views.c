/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/views.h"

#include "tfprof/explain.h"
#include "tfprof/float_ops.h"
#include "tfprof/output.h"
#include "tfprof/pprof_output.h"
#include "tfprof/table.h"
#include "tfprof/timeline_output.h"

#include <inttypes.h>
#include <stdio.h>

#define TABLE_MAX ((size_t)1 << 31)

void tfp_views_init(struct tfp_views *v, struct tfp_profile *profile,
		    struct tfp_checkpoint *checkpoint)
{
	*v = (struct tfp_views){.profile = profile, .checkpoint = checkpoint};
}

void tfp_views_release(struct tfp_views *v)
{
	tfp_tree_release(&v->scope);
	tfp_tree_release(&v->graph);
	tfp_tree_release(&v->code);
	tfp_op_rows_release(&v->ops);
}

static enum tfp_status built_tree(struct tfp_views *v, enum tfp_view_command view,
				  struct tfp_tree **tree, struct tfp_error *err)
{
	enum tfp_status status;
	*tree = view == TFP_VIEW_SCOPE ? &v->scope : view == TFP_VIEW_GRAPH ? &v->graph : &v->code;
	if ((*tree)->count)
		return TFP_OK;
	if (view == TFP_VIEW_SCOPE)
		status = tfp_scope_build(*tree, v->profile, err);
	else if (view == TFP_VIEW_GRAPH)
		status = tfp_graph_build(*tree, v->profile, err);
	else
		status = tfp_code_build(*tree, v->profile, err);
	if (status != TFP_OK)
		tfp_tree_release(*tree);
	return status;
}

static void tell_of(const struct tfp_filters *f)
{
	if (f->account.gave_up || f->start.gave_up || f->trim.gave_up || f->show.gave_up ||
	    f->hide.gave_up)
		fprintf(stderr, "A regular expression took too long on some names, which count as "
				"not matched.\n");
}

enum tfp_status tfp_views_tree(struct tfp_views *v, enum tfp_view_command view,
			       const struct tfp_view_options *o, struct tfp_tree **tree,
			       struct tfp_error *err)
{
	struct tfp_filters filters;
	enum tfp_status status = built_tree(v, view, tree, err);
	if (status == TFP_OK)
		status = tfp_filters_init(&filters, o, err);
	if (status != TFP_OK)
		return status;
	status = tfp_tree_show(*tree, o, &filters, err);
	tell_of(&filters);
	tfp_filters_release(&filters);
	return status;
}

enum tfp_status tfp_views_ops(struct tfp_views *v, const struct tfp_view_options *o,
			      struct tfp_error *err)
{
	struct tfp_filters filters;
	enum tfp_status status = TFP_OK;
	if (!v->ops.built)
		status = tfp_op_rows_build(&v->ops, v->profile, err);
	if (status == TFP_OK)
		status = tfp_filters_init(&filters, o, err);
	if (status != TFP_OK)
		return status;
	status = tfp_op_rows_show(&v->ops, o, &filters, err);
	tell_of(&filters);
	tfp_filters_release(&filters);
	return status;
}

/* ---- tables ---- */

static void put_tree(struct tfp_views *v, enum tfp_view_command view,
		     const struct tfp_view_options *o, const struct tfp_tree *tree,
		     struct tfp_buf *out)
{
	bool values = tfp_selects(o, TFP_SELECT_TENSOR_VALUE);
	const struct tfp_tree_node *root = tfp_tree_root(tree);
	size_t level = 0;
	tfp_put_legend(out, view, o);
	for (const struct tfp_tree_node *n = root, *next; n && !tfp_buf_failed(out); n = next) {
		tfp_put_row(out, view, o, n, level);
		if (values && view == TFP_VIEW_CODE)
			fprintf(stderr, "code view has no tensor value to show\n");
		else if (values && v->checkpoint && n != root)
			tfp_checkpoint_put_value(v->checkpoint, n->name, out);
		next = tfp_tree_next(n);
		if (next && next->shown_parent == n) {
			level++;
		} else if (next) {
			for (; n->shown_parent != next->shown_parent; n = n->shown_parent)
				level--;
		}
	}
}

static enum tfp_status put_table(struct tfp_views *v, enum tfp_view_command view,
				 const struct tfp_view_options *o, const struct tfp_tree *tree,
				 struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	struct tfp_buf out;
	char reason[1024];
	tfp_buf_init(&out, TABLE_MAX);
	tfp_put_explanation(&out, view, o, v->profile->misses_streams);
	if (view == TFP_VIEW_OP)
		tfp_op_rows_write(&v->ops, o, &out);
	else
		put_tree(v, view, o, tree, &out);
	if (o->output == TFP_OUT_STDOUT)
		status = tfp_print(&out, err);
	else if (tfp_buf_failed(&out))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the table");
	else if (o->output == TFP_OUT_FILE_TABLE &&
		 !tfp_write_file(o->texts[TFP_OUT_FILE], out.data, out.size, reason,
				 sizeof(reason)))
		fprintf(stderr, "%s\n", reason);
	tfp_buf_release(&out);
	return status;
}

/* ---- commands ---- */

static bool has_step(const struct tfp_profile *p, const struct tfp_view_options *o)
{
	int64_t step = o->numbers[TFP_STEP];
	if (step < 0 || tfp_profile_has_step(p, step))
		return true;
	fprintf(stderr, "Options -step=%" PRId64 " not found.\nAvailable steps: ", step);
	for (size_t i = 0; i < p->step_count; i++)
		fprintf(stderr, "%" PRId64 " ", p->steps[i]);
	fputc('\n', stderr);
	return false;
}

static enum tfp_status show_tree(struct tfp_views *v, enum tfp_view_command view,
				 const struct tfp_view_options *o, struct tfp_error *err)
{
	struct tfp_tree *tree;
	enum tfp_status status = tfp_views_tree(v, view, o, &tree, err);
	if (status != TFP_OK)
		return status;
	if (o->output == TFP_OUT_PPROF)
		return tfp_pprof_write(tree, o, err);
	if (o->output == TFP_OUT_TIMELINE)
		return view == TFP_VIEW_GRAPH ? tfp_timeline_of_graph(tree, v->profile, o, err)
					      : tfp_timeline_of_tree(tree, o, err);
	return put_table(v, view, o, tree, err);
}

/* A timeline of the graph is of one step: of all there are, one after the other. */
static enum tfp_status show_steps(struct tfp_views *v, const struct tfp_view_options *o,
				  struct tfp_error *err)
{
	struct tfp_view_options one;
	enum tfp_status status = tfp_view_options_copy(&one, o, err);
	for (size_t i = 0; status == TFP_OK && i < v->profile->step_count; i++) {
		one.numbers[TFP_STEP] = v->profile->steps[i];
		status = show_tree(v, TFP_VIEW_GRAPH, &one, err);
	}
	tfp_view_options_release(&one);
	return status;
}

static void count_flops(struct tfp_views *v)
{
	size_t unknown;
	if (v->flops_counted)
		return;
	tfp_count_float_ops(v->profile, &unknown);
	v->flops_counted = true;
	if (unknown)
		fprintf(stderr, "%zu ops have no flops because their shapes are not complete.\n",
			unknown);
}

enum tfp_status tfp_views_show(struct tfp_views *v, enum tfp_view_command view,
			       const struct tfp_view_options *o, struct tfp_error *err)
{
	struct tfp_tree *tree;
	if (o->count_flops)
		count_flops(v);
	if (view == TFP_VIEW_OP) {
		if (!has_step(v->profile, o))
			return TFP_OK;
		if (o->output == TFP_OUT_PPROF) {
			fprintf(stderr, "Only 'code' view supports pprof output now.\n");
			return TFP_OK;
		}
		if (o->output == TFP_OUT_TIMELINE) {
			fprintf(stderr, "op view doesn't support timeline yet. "
					"Consider graph/scope/code view.\n");
			return TFP_OK;
		}
		enum tfp_status status = tfp_views_ops(v, o, err);
		return status == TFP_OK ? put_table(v, view, o, NULL, err) : status;
	}
	enum tfp_status status = built_tree(v, view, &tree, err);
	if (status != TFP_OK || !has_step(v->profile, o))
		return status;
	if (view == TFP_VIEW_CODE && !v->profile->has_traces) {
		fprintf(stderr, "No code trace information\n");
		return TFP_OK;
	}
	if (o->output == TFP_OUT_PPROF && view != TFP_VIEW_CODE) {
		fprintf(stderr, "Only 'code' view supports pprof output now.\n");
		return TFP_OK;
	}
	if (o->output == TFP_OUT_PPROF && !tfp_pprof_allows(o))
		return TFP_OK;
	if (view == TFP_VIEW_CODE && o->displayed_only)
		fprintf(stderr, "Note: code view ignores account_displayed_op_only\n");
	if (view == TFP_VIEW_GRAPH && o->output == TFP_OUT_TIMELINE && o->numbers[TFP_STEP] < 0)
		return show_steps(v, o, err);
	return show_tree(v, view, o, err);
}
