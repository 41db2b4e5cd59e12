/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/op_rows.h"

#include "base/alloc.h"
#include "tfprof/format.h"
#include "tfprof/rank.h"
#include "tfprof/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the operations");
}

/* ---- building ---- */

static int by_op(const void *a, const void *b)
{
	const struct tfp_op_row *x = a, *y = b;
	return tfp_str_compare(x->op, y->op);
}

enum tfp_status tfp_op_rows_build(struct tfp_op_rows *r, const struct tfp_profile *p,
				  struct tfp_error *err)
{
	struct tfp_str_map by_name = {0};
	bool good = true;
	for (size_t i = 0; good && i < p->count; i++) {
		struct tfp_str op = p->nodes[i]->op;
		good = TFP_GROW(r->rows, r->count, r->room);
		if (!good)
			break;
		uint32_t row = tfp_str_map_add(&by_name, op.data, op.size, (uint32_t)r->count);
		good = row != TFP_STR_MAP_NONE;
		if (row == r->count)
			r->rows[r->count++] = (struct tfp_op_row){.op = op};
		good = good && tfp_node_group_add(&r->rows[row].group, p->nodes[i]);
	}
	tfp_str_map_release(&by_name);
	if (good && r->count)
		qsort(r->rows, r->count, sizeof(*r->rows), by_op);
	for (size_t i = 0; good && i < r->count; i++)
		good = tfp_node_group_finish(&r->rows[i].group);
	r->built = good;
	return good ? TFP_OK : no_memory(err);
}

void tfp_op_rows_release(struct tfp_op_rows *r)
{
	for (size_t i = 0; i < r->count; i++)
		tfp_node_group_release(&r->rows[i].group);
	tfp_free(r->rows);
	tfp_free(r->shown);
	*r = (struct tfp_op_rows){0};
}

/* ---- showing ---- */

struct order {
	const struct tfp_op_row *rows;
	enum tfp_amount amount;
};

static bool before(const void *context, uint32_t a, uint32_t b)
{
	const struct order *order = context;
	const struct tfp_op_row *x = &order->rows[a], *y = &order->rows[b];
	if (tfp_str_equal(x->op, TFP_ROOT_NAME) || tfp_str_equal(y->op, TFP_ROOT_NAME))
		return tfp_str_equal(x->op, TFP_ROOT_NAME) && !tfp_str_equal(y->op, TFP_ROOT_NAME);
	if (order->amount == TFP_DEFINED)
		return x->group.picked > y->group.picked;
	if (order->amount == TFP_AMOUNT_COUNT)
		return tfp_str_compare(x->op, y->op) < 0;
	return x->own[order->amount] > y->own[order->amount];
}

/* Each row's total is its own and that of the row below; sum: the total of all. */
static void accumulate(struct tfp_op_row **rows, size_t count, int64_t sum[TFP_AMOUNT_COUNT])
{
	memset(sum, 0, TFP_AMOUNT_COUNT * sizeof(*sum));
	for (size_t i = count; i-- > 0;) {
		tfp_amounts_add(sum, rows[i]->own);
		memcpy(rows[i]->total, sum, sizeof(rows[i]->total));
	}
}

/* As the original's comparison of a signed with an unsigned number: a negative minimum is
 * beyond every count. */
static bool occurs_enough(const struct tfp_op_row *row, const struct tfp_view_options *o)
{
	return (uint64_t)o->numbers[TFP_MIN_OCCURRENCE] <= row->group.picked;
}

static bool is_shown(const struct tfp_op_row *row, const struct tfp_view_options *o,
		     struct tfp_filters *f, int64_t place)
{
	return tfp_str_equal(row->op, TFP_ROOT_NAME) ||
	       (occurs_enough(row, o) &&
		tfp_is_shown(o, f, row->op, row->total, row->total[TFP_PARAMETERS],
			     row->total[TFP_FLOAT_OPS], place));
}

static void choose(struct tfp_op_rows *r, struct tfp_op_row **rows, size_t count,
		   const struct tfp_view_options *o, struct tfp_filters *f)
{
	size_t first = 0;
	while (!f->start.all && f->start.count && first < count &&
	       !tfp_name_matches(&f->start, rows[first]->op))
		first++;
	r->shown_count = 0;
	for (size_t i = first; i < count; i++) {
		int64_t place = (int64_t)(i - first);
		if (tfp_name_matches(&f->trim, rows[i]->op) || place > o->numbers[TFP_MAX_DEPTH])
			break;
		if (is_shown(rows[i], o, f, place))
			r->shown[r->shown_count++] = rows[i];
	}
}

enum tfp_status tfp_op_rows_show(struct tfp_op_rows *r, const struct tfp_view_options *o,
				 struct tfp_filters *f, struct tfp_error *err)
{
	struct order order = {r->rows, tfp_order_amount(o)};
	for (size_t i = 0; i < r->count; i++)
		r->rows[i].accounted = tfp_node_group_account(&r->rows[i].group, &f->account,
							      o->numbers[TFP_STEP], r->rows[i].own);
	uint32_t *indexes = tfp_rank_indexes(r->count, before, &order);
	struct tfp_op_row **rows = tfp_reallocarray(NULL, r->count + 1, sizeof(*rows));
	struct tfp_op_row **shown = tfp_reallocarray(r->shown, r->count + 1, sizeof(*shown));
	size_t count = 0;
	r->shown = shown ? shown : r->shown;
	if (indexes && rows && shown) {
		for (size_t i = 0; i < r->count; i++) {
			if (r->rows[indexes[i]].accounted)
				rows[count++] = &r->rows[indexes[i]];
		}
		accumulate(rows, count, r->total);
		choose(r, rows, count, o, f);
		if (o->displayed_only)
			accumulate(r->shown, r->shown_count, r->total);
	}
	bool good = indexes && rows && shown;
	tfp_free(indexes);
	tfp_free(rows);
	return good ? TFP_OK : no_memory(err);
}

/* ---- the table ---- */

static void put_shares(struct tfp_buf *out, const struct tfp_op_row *row,
		       const int64_t all[TFP_AMOUNT_COUNT], enum tfp_amount amount)
{
	bool memory = amount >= TFP_REQUESTED_BYTES && amount <= TFP_OUTPUT_BYTES;
	size_t from = out->size;
	double below = 0, own = 0;
	/* The original looks at the row alone for memory, and at the row and those below for
	 * everything else. */
	if ((memory ? row->own[amount] : row->total[amount]) > 0) {
		below = 100.0 * (double)row->total[amount] / (double)all[amount];
		own = 100.0 * (double)row->own[amount] / (double)all[amount];
	}
	tfp_put_amount(out, amount, row->own[amount]);
	tfp_buf_printf(out, "%s (%.2f%%, %.2f%%)",
		       amount == TFP_PARAMETERS  ? " params"
		       : amount == TFP_FLOAT_OPS ? " float_ops"
						 : "",
		       below, own);
	tfp_pad_left(out, from, 30);
}

struct signature {
	struct tfp_str text; /* of the inputs' shapes */
	int64_t defined, runs, time_us;
};

struct by_runs {
	const struct signature *list;
};

static int by_signature(const void *a, const void *b)
{
	const struct signature *x = a, *y = b;
	return tfp_str_compare(x->text, y->text);
}

static bool ran_more(const void *context, uint32_t a, uint32_t b)
{
	const struct by_runs *order = context;
	return order->list[a].runs > order->list[b].runs;
}

/* One entry a node; *texts holds what they point to. */
static bool sign(const struct tfp_node_group *g, int64_t step, struct signature *list,
		 size_t *count, struct tfp_buf *texts)
{
	size_t *ends = tfp_calloc(g->count ? g->count : 1, sizeof(*ends));
	if (!ends)
		return false;
	for (size_t i = 0; i < g->count; i++) {
		int64_t amounts[TFP_AMOUNT_COUNT];
		if (!g->times[i])
			continue;
		tfp_profile_amounts(g->members[i], step, amounts);
		tfp_put_inputs(texts, g->members[i], ",\t");
		list[*count] = (struct signature){.defined = 1,
						  .runs = amounts[TFP_RUNS],
						  .time_us = amounts[TFP_TOTAL_TIME]};
		ends[(*count)++] = texts->size;
	}
	for (size_t i = 0; i < *count; i++) {
		size_t from = i ? ends[i - 1] : 0;
		const char *data = texts->data ? texts->data + from : "";
		list[i].text = (struct tfp_str){data, ends[i] - from};
	}
	tfp_free(ends);
	return !tfp_buf_failed(texts);
}

static size_t merge(struct signature *list, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(list, count, sizeof(*list), by_signature);
	for (size_t i = 0; i < count; i++) {
		if (kept && by_signature(&list[kept - 1], &list[i]) == 0) {
			list[kept - 1].defined++;
			list[kept - 1].runs = tfp_wrap_add(list[kept - 1].runs, list[i].runs);
			list[kept - 1].time_us =
				tfp_wrap_add(list[kept - 1].time_us, list[i].time_us);
		} else {
			list[kept++] = list[i];
		}
	}
	return kept;
}

/* A line for each signature of inputs, those that ran most first. */
static bool put_signatures(struct tfp_buf *out, const struct tfp_node_group *g, int64_t step)
{
	struct signature *list = tfp_calloc(g->count ? g->count : 1, sizeof(*list));
	struct tfp_buf texts;
	size_t count = 0;
	tfp_buf_init(&texts, (size_t)1 << 31);
	bool good = list && sign(g, step, list, &count, &texts);
	if (good)
		count = merge(list, count);
	struct by_runs order = {list};
	uint32_t *indexes = good ? tfp_rank_indexes(count, ran_more, &order) : NULL;
	if (indexes && count) {
		for (size_t i = 0; i < count; i++) {
			const struct signature *s = &list[indexes[i]];
			tfp_buf_puts(out, "\ninput_type: ");
			tfp_put_str(out, s->text);
			tfp_buf_printf(out, "\t(run*%" PRId64 "|defined*%" PRId64 ")\texec_time: ",
				       s->runs, s->defined);
			tfp_put_time(out, s->time_us);
		}
		tfp_buf_puts(out, "\n\n");
	}
	tfp_free(indexes);
	tfp_free(list);
	tfp_buf_release(&texts);
	return good && indexes;
}

static int64_t runs_of(const struct tfp_node_group *g, int64_t step)
{
	int64_t runs = 0, amounts[TFP_AMOUNT_COUNT];
	for (size_t i = 0; i < g->count; i++) {
		if (!g->times[i])
			continue;
		tfp_profile_amounts(g->members[i], step, amounts);
		runs = tfp_wrap_add(runs, amounts[TFP_RUNS]);
	}
	return runs;
}

static void put_row(struct tfp_buf *out, const struct tfp_op_row *row,
		    const int64_t all[TFP_AMOUNT_COUNT], const struct tfp_view_options *o)
{
	enum tfp_amount columns[TFP_AMOUNT_COUNT + 1];
	const char *comma = "";
	bool good = true;
	tfp_amount_columns(TFP_VIEW_OP, o, columns);
	size_t from = out->size;
	tfp_put_str(out, row->op);
	for (size_t size = tfp_buf_failed(out) ? 25 : out->size - from; size < 25; size++)
		tfp_buf_putc(out, ' ');
	for (int i = 0; columns[i] != TFP_AMOUNT_COUNT; i++, comma = ", ") {
		tfp_buf_puts(out, comma);
		put_shares(out, row, all, columns[i]);
	}
	if (tfp_selects(o, TFP_SELECT_DEVICE)) {
		tfp_buf_puts(out, comma);
		good &= tfp_put_group_devices(out, &row->group);
		comma = ", ";
	}
	if (tfp_selects(o, TFP_SELECT_OP_TYPES)) {
		tfp_buf_puts(out, comma);
		good &= tfp_put_group_types(out, &row->group);
		comma = ", ";
	}
	if (tfp_selects(o, TFP_SELECT_OCCURRENCE)) {
		tfp_buf_puts(out, comma);
		from = out->size;
		tfp_buf_printf(out, "%" PRId64 "|%zu", runs_of(&row->group, o->numbers[TFP_STEP]),
			       row->group.picked);
		tfp_pad_left(out, from, 10);
	}
	tfp_buf_putc(out, '\n');
	if (tfp_selects(o, TFP_SELECT_INPUT_SHAPES) && row->group.picked)
		good &= put_signatures(out, &row->group, o->numbers[TFP_STEP]);
	out->failed |= !good;
}

void tfp_op_rows_write(const struct tfp_op_rows *r, const struct tfp_view_options *o,
		       struct tfp_buf *out)
{
	/* Without any node there is a row for the root, and no legend. */
	if (!r->count) {
		const struct tfp_op_row root = {.op = {TFP_ROOT_NAME, strlen(TFP_ROOT_NAME)}};
		put_row(out, &root, r->total, o);
		return;
	}
	tfp_put_legend(out, TFP_VIEW_OP, o);
	for (size_t i = 0; i < r->shown_count; i++)
		put_row(out, r->shown[i], r->total, o);
}
