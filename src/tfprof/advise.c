/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/advise.h"

#include "base/alloc.h"
#include "tfprof/format.h"
#include "tfprof/messages.h"
#include "tfprof/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX   ((size_t)1 << 28)
#define WELL_USED  0.5
#define SHOWN_ROWS 3
#define SLOW_US    1000 /* lines of code that take less are not told */
#define LEVELS     3    /* of lines of code */

#define EXPENSIVE "ExpensiveOperationChecker"

/* ---- how much of the time accelerators work ---- */

struct use {
	struct tfp_str device;
	int64_t start_us, end_us, busy_us;
};

static int by_device(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	return tfp_str_compare(x->device, y->device);
}

/* Each node in its own last step. */
static void add_use(struct use *use, const struct tfp_exec *exec)
{
	if (use->start_us == 0 || (exec->start_us != 0 && exec->start_us < use->start_us))
		use->start_us = exec->start_us;
	if (exec->end_us > use->end_us)
		use->end_us = exec->end_us;
	use->busy_us = tfp_wrap_add(use->busy_us, exec->accelerator_us);
}

static bool check_utilization(const struct tfp_profile *p, struct tfp_buf *out)
{
	struct use *list = NULL;
	size_t count = 0, room = 0;
	struct tfp_str_map devices = {0};
	bool good = true;
	for (size_t i = 0; good && i < p->count; i++) {
		const struct tfp_profile_node *node = p->nodes[i];
		if (!node->exec_count || !(tfp_str_contains(node->device, "gpu") ||
					   tfp_str_contains(node->device, "sycl")))
			continue;
		good = TFP_GROW(list, count, room);
		uint32_t at = good ? tfp_str_map_add(&devices, node->device.data, node->device.size,
						     (uint32_t)count)
				   : TFP_STR_MAP_NONE;
		good = at != TFP_STR_MAP_NONE;
		if (good && at == count)
			list[count++] = (struct use){.device = node->device};
		if (good)
			add_use(&list[at], &node->execs[node->exec_count - 1]);
	}
	if (good && count)
		qsort(list, count, sizeof(*list), by_device);
	for (size_t i = 0; good && i < count; i++) {
		double span_us = (double)list[i].end_us - (double)list[i].start_us;
		double share = (double)list[i].busy_us / span_us;
		if (span_us <= 0)
			continue;
		tfp_buf_puts(out, "device: ");
		tfp_put_str(out, list[i].device);
		tfp_buf_printf(out, " %sutilization: %.2f\n", share >= WELL_USED ? "" : "low ",
			       share);
	}
	tfp_str_map_release(&devices);
	tfp_free(list);
	return good;
}

/* ---- operations for which there are faster ones ---- */

static bool has_type(const struct tfp_profile_node *node, const char *type)
{
	for (size_t i = 0; i < node->type_count; i++) {
		if (tfp_str_equal(node->types[i], type))
			return true;
	}
	return false;
}

static void check_operations(const struct tfp_profile *p, struct tfp_buf *out)
{
	bool plain = false, fused = false, layout = false;
	for (size_t i = 0; i < p->count; i++) {
		const struct tfp_profile_node *node = p->nodes[i];
		struct tfp_attribute a;
		plain |= tfp_str_contains(node->name, "BatchNorm");
		fused |= has_type(node, "FusedBatchNorm");
		if (layout || !(tfp_str_contains(node->device, "gpu") ||
				tfp_str_contains(node->device, "sycl")))
			continue;
		layout = tfp_attribute_find(node, "data_format", &a) && a.field == TFP_ATTR_TEXT &&
			 a.bytes.size == 4 && memcmp(a.bytes.data, "NHWC", 4) == 0;
	}
	if (plain && !fused)
		tfp_buf_puts(out, "Batch normalisation is made of single operations here; "
				  "FusedBatchNorm does the same in one, and faster.\n");
	if (layout)
		tfp_buf_puts(out, "Operations on a GPU have data_format NHWC; with NCHW they can "
				  "be faster there.\n");
}

/* ---- what takes most ---- */

static enum tfp_status options_for(struct tfp_view_options *o, int64_t depth, int64_t min_us,
				   struct tfp_error *err)
{
	enum tfp_status status = tfp_view_options_init(o, err);
	if (status != TFP_OK)
		return status;
	o->numbers[TFP_MAX_DEPTH] = depth;
	o->numbers[TFP_MIN_MICROS] = min_us;
	status = tfp_view_options_set_text(o, TFP_ORDER_BY, "micros", err);
	if (status != TFP_OK)
		tfp_view_options_release(o);
	return status;
}

static void put_times(struct tfp_buf *out, const int64_t amounts[TFP_AMOUNT_COUNT])
{
	tfp_buf_puts(out, ", cpu: ");
	tfp_put_time(out, amounts[TFP_CPU_TIME]);
	tfp_buf_puts(out, ", accelerator: ");
	tfp_put_time(out, amounts[TFP_ACCELERATOR_TIME]);
	tfp_buf_puts(out, ", total: ");
	tfp_put_time(out, amounts[TFP_TOTAL_TIME]);
}

static enum tfp_status check_ops(struct tfp_views *v, struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_view_options o;
	if (!v->profile->step_count) {
		fprintf(stderr, "Missing run_meta for " EXPENSIVE "\n");
		return TFP_OK;
	}
	enum tfp_status status = options_for(&o, 3, 1, err);
	if (status != TFP_OK)
		return status;
	status = tfp_views_ops(v, &o, err);
	for (size_t i = 0; status == TFP_OK && i < SHOWN_ROWS && i < v->ops.shown_count; i++) {
		const struct tfp_op_row *row = v->ops.shown[i];
		tfp_buf_printf(out, "top %zu operation type: ", i + 1);
		tfp_put_str(out, row->op);
		put_times(out, row->own);
		tfp_buf_printf(out, " (%.2f%%)\n",
			       100.0 * (double)row->own[TFP_TOTAL_TIME] /
				       ((double)v->ops.total[TFP_TOTAL_TIME] + 1e-10));
	}
	tfp_view_options_release(&o);
	return status;
}

static enum tfp_status check_scopes(struct tfp_views *v, struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_view_options o;
	struct tfp_tree *tree;
	int place = 1;
	enum tfp_status status = options_for(&o, 100, 100, err);
	if (status != TFP_OK)
		return status;
	status = tfp_views_tree(v, TFP_VIEW_SCOPE, &o, &tree, err);
	tfp_view_options_release(&o);
	if (status != TFP_OK)
		return status;
	for (const struct tfp_tree_node *n = tfp_tree_root(tree)->shown_first;
	     n && place <= SHOWN_ROWS; n = n->shown_next, place++) {
		tfp_buf_printf(out, "top %d graph node: ", place);
		tfp_put_str(out, n->name);
		/* Its own, as the original has it: 0 of a scope that is no node. */
		put_times(out, n->own);
		tfp_buf_putc(out, '\n');
	}
	return TFP_OK;
}

static void put_lines(struct tfp_buf *out, const struct tfp_tree_node *parent, size_t depth)
{
	int place = 0;
	if (!parent->shown_first || !parent->shown_first->shown_next || depth > LEVELS)
		return;
	for (const struct tfp_tree_node *n = parent->shown_first; n && place < SHOWN_ROWS;
	     n = n->shown_next, place++) {
		if (n->total[TFP_TOTAL_TIME] < SLOW_US)
			continue;
		tfp_buf_printf(out, "%*s", (int)(2 * depth), "");
		tfp_put_str(out, n->name);
		put_times(out, n->total);
		tfp_buf_putc(out, '\n');
		put_lines(out, n, depth + 1);
	}
}

static enum tfp_status check_code(struct tfp_views *v, struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_view_options o;
	struct tfp_tree *tree;
	if (!v->profile->has_traces) {
		fprintf(stderr, "Missing op_log (code traces) for " EXPENSIVE "\n");
		return TFP_OK;
	}
	enum tfp_status status = options_for(&o, 100, 1, err);
	if (status != TFP_OK)
		return status;
	status = tfp_views_tree(v, TFP_VIEW_CODE, &o, &tree, err);
	tfp_view_options_release(&o);
	if (status != TFP_OK)
		return status;
	/* Lines that lead to one other only are usually of a library. */
	const struct tfp_tree_node *n = tfp_tree_root(tree);
	while (n->shown_first && !n->shown_first->shown_next)
		n = n->shown_first;
	size_t from = out->size;
	put_lines(out, n, 0);
	/* The original has an empty line here when there are lines, and all of them are fast. */
	if (n->shown_first && out->size == from)
		tfp_buf_putc(out, '\n');
	return TFP_OK;
}

enum tfp_status tfp_advise(struct tfp_views *v, struct tfp_error *err)
{
	struct tfp_buf out;
	struct tfp_tree *tree;
	struct tfp_view_options o;
	enum tfp_status status = options_for(&o, 1, 0, err);
	if (status != TFP_OK)
		return status;
	/* So that what is wrong with call stacks is told first. */
	status = tfp_views_tree(v, TFP_VIEW_CODE, &o, &tree, err);
	tfp_view_options_release(&o);
	tfp_buf_init(&out, TEXT_MAX);
	tfp_buf_puts(&out, "\nAcceleratorUtilizationChecker:\n");
	if (status == TFP_OK && !check_utilization(v->profile, &out))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for advice");
	tfp_buf_puts(&out, "\nOperationChecker:\n");
	check_operations(v->profile, &out);
	tfp_buf_puts(&out, "\n" EXPENSIVE ":\n");
	if (!v->profile->step_count)
		fprintf(stderr, "Missing RunMetadata info. Skip " EXPENSIVE "\n");
	if (status == TFP_OK)
		status = check_ops(v, &out, err);
	if (status == TFP_OK)
		status = check_scopes(v, &out, err);
	if (status == TFP_OK)
		status = check_code(v, &out, err);
	if (status == TFP_OK)
		status = tfp_print(&out, err);
	tfp_buf_release(&out);
	return status;
}
