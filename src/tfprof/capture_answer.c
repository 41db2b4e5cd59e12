/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_answer.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_ROW    UINT32_MAX
#define STEPS_MAX 10000 /* that are listed */

/* ---- rows ---- */

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the rows");
}

struct choosing {
	struct tfp_tree_node **nodes;
	enum tfp_amount amount;
};

/* Largest first; a parent, which has at least as much as its child, before that. */
static int by_amount(const void *a, const void *b, void *context)
{
	const struct choosing *c = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct tfp_tree_node *x = c->nodes[i], *y = c->nodes[j];
	bool knows_x = x->known_total & TFP_AMOUNT_BIT(c->amount);
	bool knows_y = y->known_total & TFP_AMOUNT_BIT(c->amount);
	if (knows_x != knows_y)
		return knows_x ? -1 : 1;
	if (x->total[c->amount] != y->total[c->amount])
		return x->total[c->amount] > y->total[c->amount] ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return i < j ? -1 : 1;
}

/* Leaves out what lies behind the limit. keep: by node, as listed. */
static bool choose(const struct tfp_capture_rows *rows, const struct tfp_capture_request *request,
		   bool *keep)
{
	struct choosing c = {rows->nodes, request->order ? request->order->amount : TFP_TOTAL_TIME};
	if (rows->shown <= request->limit) {
		memset(keep, 1, rows->shown);
		return true;
	}
	uint32_t *order = tfp_reallocarray(NULL, rows->shown, sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < rows->shown; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, rows->shown, sizeof(*order), by_amount, &c);
	for (size_t i = 0; i < request->limit; i++)
		keep[order[i]] = true;
	keep[0] = true;
	tfp_free(order);
	return true;
}

static bool list_rows(struct tfp_capture_rows *rows, const struct tfp_capture_view *view)
{
	size_t room = 0;
	for (struct tfp_tree_node *n = tfp_tree_root(&view->tree); n; n = tfp_tree_next(n)) {
		if (rows->shown >= NO_ROW || !TFP_GROW(rows->nodes, rows->shown, room))
			return false;
		rows->nodes[rows->shown++] = n;
	}
	return true;
}

enum tfp_status tfp_capture_rows_init(struct tfp_capture_rows *rows,
				      const struct tfp_capture_view *view,
				      const struct tfp_capture_request *request,
				      struct tfp_error *err)
{
	*rows = (struct tfp_capture_rows){0};
	bool ok = list_rows(rows, view);
	bool *keep = tfp_calloc(rows->shown + 1, sizeof(*keep));
	/* By place in the tree; places of nodes that are not shown are not used. */
	uint32_t *row_of = tfp_calloc(view->tree.count + 1, sizeof(*row_of));
	rows->parents = tfp_calloc(rows->shown + 1, sizeof(*rows->parents));
	rows->cut = tfp_calloc(rows->shown + 1, sizeof(*rows->cut));
	ok = ok && keep && row_of && rows->parents && rows->cut && choose(rows, request, keep);
	for (size_t i = 0; ok && i < rows->shown; i++) {
		struct tfp_tree_node *n = rows->nodes[i];
		uint32_t parent = n->shown_parent ? row_of[n->shown_parent->place] : NO_ROW;
		/* Totals of what is displayed alone need not be larger than their parts. */
		bool kept = keep[i] && (i == 0 || parent != NO_ROW);
		row_of[n->place] = NO_ROW;
		if (!kept) {
			if (parent != NO_ROW)
				rows->cut[parent]++;
			continue;
		}
		row_of[n->place] = (uint32_t)rows->count;
		rows->parents[rows->count] = parent;
		rows->nodes[rows->count++] = n;
	}
	tfp_free(keep);
	tfp_free(row_of);
	return ok ? TFP_OK : no_memory(err);
}

void tfp_capture_rows_release(struct tfp_capture_rows *rows)
{
	tfp_free(rows->nodes);
	tfp_free(rows->parents);
	tfp_free(rows->cut);
	*rows = (struct tfp_capture_rows){0};
}

/* ---- values ---- */

void tfp_capture_put_amount(struct tfp_json *j, const struct tfp_capture_view *view,
			    enum tfp_amount amount, int64_t value)
{
	char text[48];
	int size;
	bool time = amount <= TFP_CPU_TIME;
	if (tfp_capture_divisor(view->work, view->choice.step, amount) != 1) {
		tfp_json_add_double(j, tfp_capture_amount(view, amount, value));
		return;
	}
	if (!time) {
		tfp_json_add_integer(j, value);
		return;
	}
	size = snprintf(text, sizeof(text), "%" PRId64 ".%06" PRId64, value / 1000000,
			value % 1000000);
	while (text[size - 1] == '0')
		size--;
	size -= text[size - 1] == '.';
	tfp_json_add_raw(j, text, (size_t)size);
}

bool tfp_capture_own(const struct tfp_tree_node *n, enum tfp_amount amount, int64_t *value)
{
	uint32_t bit = TFP_AMOUNT_BIT(amount);
	*value = n->own[amount];
	if (n->taken && n->accounted)
		return n->known_own & bit;
	*value = 0;
	return n->known_total & bit;
}

unsigned tfp_capture_flags(const struct tfp_tree_node *n)
{
	return n->flags | (n->taken ? 32u : 0u);
}

struct tfp_str tfp_capture_label(const struct tfp_tree_node *n)
{
	return n->label;
}

/* ---- the document ---- */

struct writer {
	const struct tfp_capture_view *view;
	const struct tfp_capture_request *request;
	const struct tfp_capture_rows *rows;
	struct tfp_json *j;
};

static void write_steps(const struct writer *w)
{
	const struct tfp_capture_work *work = w->view->work;
	tfp_json_begin_array_of(w->j, "steps");
	for (size_t s = 0; s < work->step_count && s < STEPS_MAX; s++) {
		struct tfp_str name = work->steps[s].name;
		tfp_json_begin_object(w->j);
		tfp_json_set_count(w->j, "id", s);
		tfp_json_set_text(w->j, "name", name.data, name.size);
		tfp_json_end_object(w->j);
	}
	tfp_json_end_array(w->j);
	tfp_json_set_count(w->j, "steps_total", work->step_count);
	tfp_json_set_boolean(w->j, "steps_by_module", work->by_module);
}

static void write_head(const struct writer *w, const struct tfp_session *session)
{
	const struct tfp_capture_choice *choice = &w->view->choice;
	tfp_json_set_count(w->j, "version", 1);
	tfp_json_set_string(w->j, "view", tfp_view_command_words[choice->view]);
	tfp_json_set_string(w->j, "order_by", w->request->order ? w->request->order->id : "name");
	if (choice->step >= 0)
		tfp_json_set_format(w->j, "step", "%" PRId64, choice->step);
	else
		tfp_json_set_string(w->j, "step",
				    choice->step == TFP_CAPTURE_MEAN ? "mean" : "all");
	write_steps(w);
	tfp_json_begin_array_of(w->j, "hosts");
	for (size_t h = 0; h < session->host_count; h++)
		tfp_json_add_string(w->j, session->hosts[h].host);
	tfp_json_end_array(w->j);
	tfp_json_begin_array_of(w->j, "quantities");
	for (size_t q = 0; q < TFP_QUANTITIES; q++) {
		if (!w->request->selected[q])
			continue;
		tfp_json_begin_object(w->j);
		tfp_json_set_string(w->j, "id", tfp_quantities[q].id);
		tfp_json_set_string(w->j, "label", tfp_quantities[q].label);
		tfp_json_set_string(w->j, "unit", tfp_quantities[q].unit);
		tfp_json_end_object(w->j);
	}
	tfp_json_end_array(w->j);
}

/* The labels, each once; *of_row: their places. */
static bool write_names(const struct writer *w, uint32_t *of_row)
{
	struct tfp_str_map places = {0};
	bool ok = true;
	tfp_json_begin_array_of(w->j, "names");
	for (size_t i = 0; ok && i < w->rows->count; i++) {
		struct tfp_str label = tfp_capture_label(w->rows->nodes[i]);
		size_t before = places.count;
		of_row[i] = tfp_str_map_add(&places, label.data, label.size, (uint32_t)before);
		ok = of_row[i] != TFP_STR_MAP_NONE;
		if (places.count > before)
			tfp_json_add_text(w->j, label.data, label.size);
	}
	tfp_json_end_array(w->j);
	tfp_str_map_release(&places);
	return ok;
}

static void write_column(const struct writer *w, const struct tfp_quantity *q, bool own)
{
	tfp_json_begin_array_of(w->j, q->id);
	for (size_t i = 0; i < w->rows->count; i++) {
		const struct tfp_tree_node *n = w->rows->nodes[i];
		int64_t value = n->total[q->amount];
		bool known = own ? tfp_capture_own(n, q->amount, &value)
				 : n->known_total & TFP_AMOUNT_BIT(q->amount);
		if (known)
			tfp_capture_put_amount(w->j, w->view, q->amount, value);
		else
			tfp_json_add_null(w->j);
	}
	tfp_json_end_array(w->j);
}

static void write_columns(const struct writer *w, bool own)
{
	tfp_json_begin_object_of(w->j, own ? "self" : "total");
	for (size_t q = 0; q < TFP_QUANTITIES; q++) {
		if (w->request->selected[q])
			write_column(w, &tfp_quantities[q], own);
	}
	tfp_json_end_object(w->j);
}

static void write_cut(const struct writer *w)
{
	if (w->rows->shown == w->rows->count)
		return;
	tfp_json_begin_object_of(w->j, "cut");
	for (size_t i = 0; i < w->rows->count; i++) {
		char key[24];
		if (!w->rows->cut[i])
			continue;
		snprintf(key, sizeof(key), "%zu", i);
		tfp_json_set_count(w->j, key, w->rows->cut[i]);
	}
	tfp_json_end_object(w->j);
}

static void write_nodes(const struct writer *w, const uint32_t *names)
{
	tfp_json_begin_object_of(w->j, "nodes");
	tfp_json_begin_array_of(w->j, "parent");
	for (size_t i = 0; i < w->rows->count; i++)
		tfp_json_add_integer(
			w->j, w->rows->parents[i] == NO_ROW ? -1 : (int64_t)w->rows->parents[i]);
	tfp_json_end_array(w->j);
	tfp_json_begin_array_of(w->j, "name");
	for (size_t i = 0; i < w->rows->count; i++)
		tfp_json_add_count(w->j, names[i]);
	tfp_json_end_array(w->j);
	tfp_json_begin_array_of(w->j, "flags");
	for (size_t i = 0; i < w->rows->count; i++)
		tfp_json_add_count(w->j, tfp_capture_flags(w->rows->nodes[i]));
	tfp_json_end_array(w->j);
	write_columns(w, true);
	write_columns(w, false);
	write_cut(w);
	tfp_json_end_object(w->j);
}

static void write_partial(const struct writer *w)
{
	tfp_json_begin_object_of(w->j, "partial");
	for (size_t q = 0; q < TFP_QUANTITIES; q++) {
		uint32_t bit = TFP_AMOUNT_BIT(tfp_quantities[q].amount);
		bool any = false;
		for (size_t i = 0; w->request->selected[q] && i < w->rows->count; i++) {
			const struct tfp_tree_node *n = w->rows->nodes[i];
			if (!(n->partial & n->known_total & bit))
				continue;
			if (!any)
				tfp_json_begin_array_of(w->j, tfp_quantities[q].id);
			any = true;
			tfp_json_add_count(w->j, i);
		}
		if (any)
			tfp_json_end_array(w->j);
	}
	tfp_json_end_object(w->j);
}

static void write_graph_notes(const struct writer *w)
{
	tfp_json_add_string(w->j, "A graph run: flops are those that were recorded, or else "
				  "follow from shapes by TensorFlow's formulas, which not all "
				  "operations have.");
	if (!w->view->work->has_devices)
		tfp_json_add_string(w->j, "No work of accelerators was timed: accelerator times "
					  "are unknown.");
}

static void write_notes(const struct writer *w, bool gave_up)
{
	const struct tfp_capture_work *work = w->view->work;
	tfp_json_begin_array_of(w->j, "notes");
	if (work->graph)
		write_graph_notes(w);
	else if (!work->has_devices)
		tfp_json_add_string(w->j,
				    "The run has no work of devices: accelerator times, flops "
				    "and bytes are unknown.");
	if (!work->has_memory)
		tfp_json_add_string(w->j, "No allocator was recorded: requested, peak and residual "
					  "bytes are unknown.");
	if (!work->any_instruction && work->has_devices)
		tfp_json_add_string(w->j, "No instruction of a program that the run holds ran: "
					  "output bytes and sources are unknown.");
	if (!work->graph && work->program_count && !work->parameter_count)
		tfp_json_add_string(w->j, "No entry parameter of a program matches the rule for "
					  "parameters.");
	if (work->by_module)
		tfp_json_add_string(w->j,
				    "Nobody marked steps: executions of a module stand in for "
				    "them.");
	if (gave_up)
		tfp_json_add_string(w->j, "A regular expression took too long on some names, which "
					  "count as not matched.");
	tfp_json_end_array(w->j);
}

void tfp_capture_answer_write(const struct tfp_capture_view *view,
			      const struct tfp_capture_request *request,
			      const struct tfp_capture_rows *rows,
			      const struct tfp_session *session, bool gave_up, struct tfp_json *j)
{
	const struct writer w = {view, request, rows, j};
	uint32_t *names = tfp_reallocarray(NULL, rows->count + 1, sizeof(*names));
	tfp_json_begin_object(j);
	write_head(&w, session);
	if (names && write_names(&w, names))
		write_nodes(&w, names);
	else
		j->out->failed = true;
	tfp_free(names);
	write_partial(&w);
	tfp_json_set_count(j, "node_count", rows->count);
	tfp_json_set_count(j, "shown_count", rows->shown);
	tfp_json_set_count(j, "cut_count", rows->shown - rows->count);
	tfp_json_begin_object_of(j, "left_out");
	tfp_json_set_count(j, "ops", view->left_out);
	tfp_json_set_number(j, "micros", (double)view->left_out_ps / 1e6);
	tfp_json_end_object(j);
	tfp_json_set_string(j, "params_rule",
			    request->wanted.parameters_regexes ? request->wanted.parameters_regexes
							       : TFP_PARAMETERS_RULE);
	tfp_json_set_count(j, "params_found", view->work->parameter_count);
	write_notes(&w, gave_up);
	tfp_json_end_object(j);
}
