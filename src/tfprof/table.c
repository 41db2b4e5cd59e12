/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/table.h"

#include "base/alloc.h"
#include "tfprof/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const legends[TFP_AMOUNT_COUNT] = {
	[TFP_TOTAL_TIME] = "total execution time",
	[TFP_ACCELERATOR_TIME] = "accelerator execution time",
	[TFP_CPU_TIME] = "cpu execution time",
	[TFP_REQUESTED_BYTES] = "requested bytes",
	[TFP_PEAK_BYTES] = "peak bytes",
	[TFP_RESIDUAL_BYTES] = "residual bytes",
	[TFP_OUTPUT_BYTES] = "output bytes",
	[TFP_PARAMETERS] = "# parameters",
	[TFP_FLOAT_OPS] = "# float_ops",
};

static bool is_column(enum tfp_amount amount, const struct tfp_view_options *o)
{
	static const enum tfp_selected words[] = {
		[TFP_TOTAL_TIME] = TFP_SELECT_MICROS,
		[TFP_ACCELERATOR_TIME] = TFP_SELECT_ACCELERATOR_MICROS,
		[TFP_CPU_TIME] = TFP_SELECT_CPU_MICROS,
		[TFP_REQUESTED_BYTES] = TFP_SELECT_BYTES,
		[TFP_PEAK_BYTES] = TFP_SELECT_PEAK_BYTES,
		[TFP_RESIDUAL_BYTES] = TFP_SELECT_RESIDUAL_BYTES,
		[TFP_OUTPUT_BYTES] = TFP_SELECT_OUTPUT_BYTES,
		[TFP_PARAMETERS] = TFP_SELECT_PARAMS,
		[TFP_FLOAT_OPS] = TFP_SELECT_FLOAT_OPS,
	};
	return tfp_selects(o, words[amount]) ||
	       (amount <= TFP_CPU_TIME && tfp_selects(o, TFP_SELECT_MICROS));
}

void tfp_amount_columns(enum tfp_view_command view, const struct tfp_view_options *o,
			enum tfp_amount columns[TFP_AMOUNT_COUNT + 1])
{
	static const enum tfp_amount rest[] = {
		TFP_REQUESTED_BYTES, TFP_PEAK_BYTES,       TFP_RESIDUAL_BYTES, TFP_OUTPUT_BYTES,
		TFP_TOTAL_TIME,      TFP_ACCELERATOR_TIME, TFP_CPU_TIME,
	};
	static const enum tfp_amount counts[] = {TFP_PARAMETERS, TFP_FLOAT_OPS};
	bool counts_first = view == TFP_VIEW_SCOPE || view == TFP_VIEW_GRAPH;
	size_t n = 0;
	for (int part = 0; part < 2; part++) {
		const enum tfp_amount *list = (part == 0) == counts_first ? counts : rest;
		size_t count = list == counts ? 2 : sizeof(rest) / sizeof(rest[0]);
		for (size_t i = 0; i < count; i++) {
			if (is_column(list[i], o))
				columns[n++] = list[i];
		}
	}
	columns[n] = TFP_AMOUNT_COUNT;
}

/* Begins the next part of a list, which may be empty. */
static void next_part(struct tfp_buf *out, bool *any, const char *between)
{
	if (*any)
		tfp_buf_puts(out, between);
	*any = true;
}

void tfp_put_legend(struct tfp_buf *out, enum tfp_view_command view,
		    const struct tfp_view_options *o)
{
	bool tree = view == TFP_VIEW_SCOPE || view == TFP_VIEW_GRAPH;
	const struct {
		enum tfp_selected what;
		const char *text;
	} more[] = {
		{TFP_SELECT_DEVICE, "assigned devices"},
		{TFP_SELECT_OP_TYPES, "op types"},
		{TFP_SELECT_OCCURRENCE,
		 tree ? "op count (run|defined)" : "op occurrence (run|defined)"},
		{TFP_SELECT_INPUT_SHAPES, "input shapes"},
	};
	enum tfp_amount columns[TFP_AMOUNT_COUNT + 1];
	tfp_amount_columns(view, o, columns);
	tfp_buf_puts(out, "node name | ");
	bool any = false;
	for (int i = 0; columns[i] != TFP_AMOUNT_COUNT; i++) {
		next_part(out, &any, " | ");
		tfp_buf_puts(out, legends[columns[i]]);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (!tfp_selects(o, more[i].what))
			continue;
		next_part(out, &any, " | ");
		tfp_buf_puts(out, more[i].text);
	}
	tfp_buf_putc(out, '\n');
}

/* ---- what several nodes have ---- */

static int by_text(const void *a, const void *b)
{
	const struct tfp_str *x = a, *y = b;
	return tfp_str_compare(*x, *y);
}

static bool put_texts(struct tfp_buf *out, const struct tfp_node_group *group, bool types)
{
	struct tfp_str *texts = NULL;
	size_t count = 0, room = 0;
	bool good = true;
	for (size_t i = 0; good && i < group->count; i++) {
		const struct tfp_profile_node *node = group->members[i];
		size_t n = types ? node->type_count : 1;
		for (size_t j = 0; group->times[i] && good && j < n; j++) {
			good = TFP_GROW(texts, count, room);
			if (good)
				texts[count++] = types ? node->types[j] : node->device;
		}
	}
	if (good && count)
		qsort(texts, count, sizeof(*texts), by_text);
	for (size_t i = 0; good && i < count; i++) {
		if (i && tfp_str_compare(texts[i - 1], texts[i]) == 0)
			continue;
		if (i)
			tfp_buf_putc(out, '|');
		tfp_put_str(out, texts[i]);
	}
	tfp_free(texts);
	return good;
}

bool tfp_put_group_devices(struct tfp_buf *out, const struct tfp_node_group *group)
{
	return put_texts(out, group, false);
}

bool tfp_put_group_types(struct tfp_buf *out, const struct tfp_node_group *group)
{
	return put_texts(out, group, true);
}

void tfp_put_inputs(struct tfp_buf *out, const struct tfp_profile_node *node, const char *text)
{
	for (size_t i = 0; i < node->input_count; i++) {
		struct tfp_shape shape = tfp_profile_input_shape(&node->inputs[i]);
		if (i)
			tfp_buf_puts(out, text);
		tfp_buf_printf(out, "%" PRId64 ":", node->inputs[i].index);
		if (shape.rank)
			tfp_put_shape(out, shape);
		else
			tfp_buf_puts(out, "unknown");
	}
}

/* ---- rows ---- */

static void put_part(struct tfp_buf *out, const struct tfp_tree_node *n, enum tfp_amount amount,
		     const char *word)
{
	if (n->accounted)
		tfp_put_amount(out, amount, n->own[amount]);
	else
		tfp_buf_puts(out, "--");
	tfp_buf_putc(out, '/');
	tfp_put_amount(out, amount, n->total[amount]);
	tfp_buf_puts(out, word);
}

static void put_amounts(struct tfp_buf *out, bool *any, enum tfp_view_command view,
			const struct tfp_view_options *o, const struct tfp_tree_node *n)
{
	enum tfp_amount columns[TFP_AMOUNT_COUNT + 1];
	tfp_amount_columns(view, o, columns);
	for (int i = 0; columns[i] != TFP_AMOUNT_COUNT; i++) {
		next_part(out, any, ", ");
		if (columns[i] == TFP_PARAMETERS && n->node && n->node->shape.rank) {
			tfp_put_shape(out, n->node->shape);
			tfp_buf_puts(out, ", ");
		}
		put_part(out, n, columns[i],
			 columns[i] == TFP_PARAMETERS  ? " params"
			 : columns[i] == TFP_FLOAT_OPS ? " flops"
						       : "");
	}
}

static void put_node_types(struct tfp_buf *out, const struct tfp_tree_node *n)
{
	if (!n->node)
		tfp_put_str(out, n->type);
	for (size_t i = 0; n->node && i < n->node->type_count; i++) {
		if (i)
			tfp_buf_putc(out, '|');
		tfp_put_str(out, n->node->types[i]);
	}
}

/* Of a scope or a node of the graph. */
static void put_more(struct tfp_buf *out, bool *any, const struct tfp_view_options *o,
		     const struct tfp_tree_node *n)
{
	if (tfp_selects(o, TFP_SELECT_DEVICE) && n->node && n->node->device.size) {
		next_part(out, any, ", ");
		tfp_put_str(out, n->node->device);
	}
	if (tfp_selects(o, TFP_SELECT_OP_TYPES)) {
		next_part(out, any, ", ");
		put_node_types(out, n);
	}
	if (tfp_selects(o, TFP_SELECT_OCCURRENCE)) {
		next_part(out, any, ", ");
		put_part(out, n, TFP_RUNS, "|");
		put_part(out, n, TFP_DEFINED, "");
	}
	if (tfp_selects(o, TFP_SELECT_INPUT_SHAPES)) {
		next_part(out, any, ", ");
		if (n->node)
			tfp_put_inputs(out, n->node, "|");
	}
}

/* Of a line of code. */
static void put_more_of_code(struct tfp_buf *out, bool *any, const struct tfp_view_options *o,
			     const struct tfp_tree_node *n)
{
	bool good = true;
	if (tfp_selects(o, TFP_SELECT_DEVICE) && n->group.picked) {
		next_part(out, any, ", ");
		good &= tfp_put_group_devices(out, &n->group);
	}
	if (tfp_selects(o, TFP_SELECT_OP_TYPES)) {
		next_part(out, any, ", ");
		good &= tfp_put_group_types(out, &n->group);
	}
	if (tfp_selects(o, TFP_SELECT_OCCURRENCE)) {
		next_part(out, any, ", ");
		tfp_buf_puts(out, "occurrence N/A in code view");
	}
	if (tfp_selects(o, TFP_SELECT_INPUT_SHAPES)) {
		next_part(out, any, ", ");
		tfp_buf_puts(out, "input_shapes N/A in code view");
	}
	out->failed |= !good;
}

void tfp_put_row(struct tfp_buf *out, enum tfp_view_command view, const struct tfp_view_options *o,
		 const struct tfp_tree_node *n, size_t level)
{
	char *blanks = level <= SIZE_MAX / 2 ? tfp_buf_reserve(out, 2 * level) : NULL;
	if (!blanks)
		return;
	memset(blanks, ' ', 2 * level);
	out->size += 2 * level;
	tfp_put_str(out, n->name);
	tfp_buf_puts(out, " (");
	bool any = false;
	put_amounts(out, &any, view, o, n);
	if (view == TFP_VIEW_CODE)
		put_more_of_code(out, &any, o, n);
	else
		put_more(out, &any, o, n);
	tfp_buf_puts(out, ")\n");
}
