/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_details.h"

#include "analysis/ops/op_db.h"
#include "base/alloc.h"
#include "tfprof/capture_answer.h"
#include "tfprof/capture_shapes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX  50
#define LINKS_MAX 10
#define STEPS_MAX 10000

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the details");
}

struct details {
	const struct tfp_capture_view *view;
	const struct tfp_tree_node *node;
	struct tfp_json *j;
	uint32_t *units; /* owned; of the node and all below it, largest first */
	size_t count, room;
	/* By step, of the same. */
	uint64_t *device_ps, *host_ps, *runs, *most;
};

/* ---- finding ---- */

static const struct tfp_tree_node *find_node(const struct tfp_capture_view *view,
					     const struct tfp_capture_request *request)
{
	const struct tfp_tree_node *n = tfp_tree_root(&view->tree);
	for (size_t i = 0; n && i < request->path_count; i++) {
		n = n->shown_first;
		while (n && !tfp_str_equal(n->label, request->path[i]))
			n = n->shown_next;
	}
	return n;
}

/* The next of what counts for the total of a node, itself included; NULL at the end. */
static const struct tfp_tree_node *next_below(const struct tfp_tree_node *n,
					      const struct tfp_tree_node *top)
{
	if (n->kept_first)
		return n->kept_first;
	while (n != top && !n->kept_next)
		n = n->kept_parent;
	return n == top ? NULL : n->kept_next;
}

/* A node of a graph run ran on both sides. */
static void add_steps_of_node(struct details *d, const struct tfp_unit *unit)
{
	const struct tfp_capture_work *work = d->view->work;
	for (uint32_t c = 0; c < unit->cell_count; c++) {
		const struct tfp_op_step *cell = &work->cells.cells[unit->first_cell + c];
		struct tfp_taken taken = {.known = 0};
		tfp_unit_add(work, unit, cell->step, &taken);
		d->device_ps[cell->step] += (uint64_t)taken.amounts[TFP_ACCELERATOR_TIME];
		d->host_ps[cell->step] += (uint64_t)taken.amounts[TFP_CPU_TIME];
		d->runs[cell->step] += cell->occurrences;
	}
}

/* Runs of an op in a step are those of the part that ran most. */
static void add_steps(struct details *d, const struct tfp_capture_node *node)
{
	const struct tfp_capture_work *work = d->view->work;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t u = node->first_unit; u != TFP_UNIT_NONE; u = d->view->next_unit[u]) {
			const struct tfp_unit *unit = &work->units[u];
			bool host = unit->kind == TFP_UNIT_HOST;
			if (unit->kind == TFP_UNIT_NODE) {
				if (pass == 0)
					add_steps_of_node(d, unit);
				continue;
			}
			for (uint32_t c = 0; c < unit->cell_count; c++) {
				const struct tfp_op_step *cell =
					&work->cells.cells[unit->first_cell + c];
				if (cell->step < 0)
					continue;
				uint64_t *most = &d->most[cell->step];
				if (pass == 1) {
					d->runs[cell->step] += *most;
					*most = 0;
					continue;
				}
				*(host ? &d->host_ps[cell->step] : &d->device_ps[cell->step]) +=
					cell->self_time_ps;
				if (host)
					d->runs[cell->step] += cell->occurrences;
				else if (cell->occurrences > *most)
					*most = cell->occurrences;
			}
		}
	}
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct tfp_capture_work *work = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct tfp_unit *x = &work->units[i], *y = &work->units[j];
	if (x->self_ps != y->self_ps)
		return x->self_ps > y->self_ps ? -1 : 1;
	return i < j ? -1 : i > j;
}

static bool collect(struct details *d)
{
	const struct tfp_capture_work *work = d->view->work;
	size_t steps = work->step_count + 1;
	d->device_ps = tfp_calloc(steps, sizeof(*d->device_ps));
	d->host_ps = tfp_calloc(steps, sizeof(*d->host_ps));
	d->runs = tfp_calloc(steps, sizeof(*d->runs));
	d->most = tfp_calloc(steps, sizeof(*d->most));
	if (!d->device_ps || !d->host_ps || !d->runs || !d->most)
		return false;
	for (const struct tfp_tree_node *n = d->node; n; n = next_below(n, d->node)) {
		const struct tfp_capture_node *node = &d->view->nodes[n->place];
		if (!n->taken || !n->accounted)
			continue;
		add_steps(d, node);
		for (uint32_t u = node->first_unit; u != TFP_UNIT_NONE; u = d->view->next_unit[u]) {
			if (!TFP_GROW(d->units, d->count, d->room))
				return false;
			d->units[d->count++] = u;
		}
	}
	if (d->count)
		qsort_r(d->units, d->count, sizeof(*d->units), by_time, (void *)(uintptr_t)work);
	return true;
}

/* ---- writing ---- */

static void write_text(struct tfp_json *j, struct tfp_str s)
{
	tfp_json_add_text(j, s.data, s.size);
}

static void write_path(struct details *d, const struct tfp_capture_request *request)
{
	size_t children = 0;
	for (const struct tfp_tree_node *c = d->node->shown_first; c; c = c->shown_next)
		children++;
	tfp_json_begin_array_of(d->j, "path");
	for (size_t i = 0; i < request->path_count; i++)
		tfp_json_add_string(d->j, request->path[i]);
	tfp_json_end_array(d->j);
	tfp_json_set_text(d->j, "name", d->node->label.data, d->node->label.size);
	if (request->path_count)
		tfp_json_set_text(d->j, "full_name", d->node->name.data, d->node->name.size);
	else
		tfp_json_set_string(d->j, "full_name", "");
	tfp_json_set_count(d->j, "flags", tfp_capture_flags(d->node));
	tfp_json_set_count(d->j, "depth", request->path_count);
	tfp_json_set_count(d->j, "children", children);
}

static void write_quantities(struct details *d)
{
	const struct tfp_tree_node *root = tfp_tree_root(&d->view->tree), *n = d->node;
	tfp_json_begin_array_of(d->j, "quantities");
	for (size_t q = 0; q < TFP_QUANTITIES; q++) {
		enum tfp_amount amount = tfp_quantities[q].amount;
		bool known = n->known_total & TFP_AMOUNT_BIT(amount);
		int64_t own;
		tfp_json_begin_object(d->j);
		tfp_json_set_string(d->j, "id", tfp_quantities[q].id);
		tfp_json_set_string(d->j, "label", tfp_quantities[q].label);
		tfp_json_set_string(d->j, "unit", tfp_quantities[q].unit);
		tfp_json_key(d->j, "self");
		if (tfp_capture_own(n, amount, &own))
			tfp_capture_put_amount(d->j, d->view, amount, own);
		else
			tfp_json_add_null(d->j);
		tfp_json_key(d->j, "total");
		if (known)
			tfp_capture_put_amount(d->j, d->view, amount, n->total[amount]);
		else
			tfp_json_add_null(d->j);
		tfp_json_set_boolean(d->j, "partial",
				     known && (n->partial & TFP_AMOUNT_BIT(amount)));
		if (known && root->total[amount] > 0)
			tfp_json_set_number(d->j, "share",
					    (double)n->total[amount] / (double)root->total[amount]);
		else
			tfp_json_set_null(d->j, "share");
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
}

static void write_times(struct details *d, const char *key, bool known, const uint64_t *a,
			const uint64_t *b)
{
	size_t count = d->view->work->step_count;
	tfp_json_begin_array_of(d->j, key);
	for (size_t s = 0; s < count && s < STEPS_MAX; s++) {
		if (known)
			tfp_json_add_number(d->j, (double)((a ? a[s] : 0) + (b ? b[s] : 0)) / 1e6);
		else
			tfp_json_add_null(d->j);
	}
	tfp_json_end_array(d->j);
}

static void write_by_step(struct details *d)
{
	const struct tfp_capture_work *work = d->view->work;
	uint32_t known = d->node->known_total;
	if (work->step_count == 0) {
		tfp_json_set_null(d->j, "by_step");
		return;
	}
	tfp_json_begin_object_of(d->j, "by_step");
	tfp_json_begin_array_of(d->j, "steps");
	for (size_t s = 0; s < work->step_count && s < STEPS_MAX; s++) {
		tfp_json_begin_object(d->j);
		tfp_json_set_count(d->j, "id", s);
		tfp_json_set_text(d->j, "name", work->steps[s].name.data, work->steps[s].name.size);
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
	write_times(d, "micros", known & TFP_AMOUNT_BIT(TFP_TOTAL_TIME), d->device_ps, d->host_ps);
	write_times(d, "accelerator_micros", known & TFP_AMOUNT_BIT(TFP_ACCELERATOR_TIME),
		    d->device_ps, NULL);
	write_times(d, "cpu_micros", known & TFP_AMOUNT_BIT(TFP_CPU_TIME), d->host_ps, NULL);
	tfp_json_begin_array_of(d->j, "occurrence_run");
	for (size_t s = 0; s < work->step_count && s < STEPS_MAX; s++)
		tfp_json_add_count(d->j, d->runs[s]);
	tfp_json_end_array(d->j);
	tfp_json_end_object(d->j);
}

static bool write_devices(struct details *d)
{
	const struct tfp_capture_work *work = d->view->work;
	bool *has = tfp_calloc(work->device_count + 1, sizeof(*has));
	if (!has)
		return false;
	for (size_t i = 0; i < d->count; i++) {
		const struct tfp_unit *unit = &work->units[d->units[i]];
		for (uint32_t u = unit->first_device; u; u = work->uses[u - 1].next)
			has[work->uses[u - 1].device] = true;
	}
	tfp_json_begin_array_of(d->j, "devices");
	for (size_t i = 0; i < work->device_count; i++) {
		if (has[i])
			write_text(d->j, work->devices[i]);
	}
	tfp_json_end_array(d->j);
	tfp_free(has);
	return true;
}

/* Types and categories, those of the largest first. */
static bool write_types(struct details *d)
{
	struct tfp_str_map seen = {0};
	bool ok = true;
	tfp_json_begin_array_of(d->j, "op_types");
	for (size_t i = 0; ok && i < d->count && seen.count < LIST_MAX; i++) {
		const struct tfp_unit *unit = &d->view->work->units[d->units[i]];
		const struct tfp_str texts[] = {unit->type, unit->category};
		for (int t = 0; ok && t < 2; t++) {
			size_t before = seen.count;
			if (texts[t].size == 0)
				continue;
			ok = tfp_str_map_add(&seen, texts[t].data, texts[t].size, 0) !=
			     TFP_STR_MAP_NONE;
			if (seen.count > before)
				write_text(d->j, texts[t]);
		}
	}
	tfp_json_end_array(d->j);
	tfp_str_map_release(&seen);
	return ok;
}

static bool is_instruction(const struct tfp_unit *unit)
{
	return unit->kind == TFP_UNIT_DEVICE && unit->origin == TFP_ORIGIN_INSTRUCTION;
}

static void write_id(struct tfp_json *j, const struct tfp_unit *unit)
{
	tfp_json_set_format(j, "program_id", "%" PRIu64, unit->program_id);
}

static void write_shapes(struct details *d)
{
	size_t written = 0;
	tfp_json_begin_array_of(d->j, "input_shapes");
	for (size_t i = 0; i < d->count && written < LIST_MAX; i++) {
		const struct tfp_unit *unit = &d->view->work->units[d->units[i]];
		struct tfp_shapes shapes;
		if (!is_instruction(unit) || !tfp_shapes_read(unit->expression, &shapes))
			continue;
		written++;
		tfp_json_begin_object(d->j);
		tfp_json_set_text(d->j, "instruction", unit->name.data, unit->name.size);
		write_id(d->j, unit);
		tfp_json_begin_array_of(d->j, "inputs");
		for (size_t s = 0; s < shapes.count; s++)
			write_text(d->j, shapes.inputs[s]);
		tfp_json_end_array(d->j);
		tfp_json_set_text(d->j, "output", shapes.output.data, shapes.output.size);
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
}

/* Outermost first: the file has it the other way round. "file:line:column" loses its column. */
static void write_stack(struct details *d, struct tfp_str stack)
{
	size_t end = stack.size;
	tfp_json_begin_array_of(d->j, "stack");
	while (end) {
		const char *before = memrchr(stack.data, '\n', end - 1);
		size_t from = before ? (size_t)(before - stack.data) + 1 : 0;
		size_t size = end - from;
		size -= size && stack.data[from + size - 1] == '\n';
		const char *colon = size ? memrchr(stack.data + from, ':', size) : NULL;
		if (colon && memchr(stack.data + from, ':', (size_t)(colon - stack.data) - from))
			size = (size_t)(colon - stack.data) - from;
		if (size)
			tfp_json_add_text(d->j, stack.data + from, size);
		end = from;
	}
	tfp_json_end_array(d->j);
}

static void write_source(struct details *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct tfp_unit *unit = &d->view->work->units[d->units[i]];
		if (unit->source_file.size == 0)
			continue;
		tfp_json_begin_object_of(d->j, "source");
		tfp_json_set_text(d->j, "file", unit->source_file.data, unit->source_file.size);
		tfp_json_set_integer(d->j, "line", unit->source_line);
		write_stack(d, unit->source_stack);
		tfp_json_end_object(d->j);
		return;
	}
	tfp_json_set_null(d->j, "source");
}

static void write_instructions(struct details *d)
{
	const struct tfp_capture_work *work = d->view->work;
	size_t total = 0;
	tfp_json_begin_array_of(d->j, "instructions");
	for (size_t i = 0; i < d->count; i++) {
		const struct tfp_unit *unit = &work->units[d->units[i]];
		const struct tfp_captured_program *program;
		if (!is_instruction(unit) || total++ >= LIST_MAX)
			continue;
		program = tfp_capture_program(work, unit->program_id);
		tfp_json_begin_object(d->j);
		write_id(d->j, unit);
		if (program)
			tfp_json_set_text(d->j, "program", program->name.data, program->name.size);
		else
			tfp_json_set_null(d->j, "program");
		tfp_json_set_text(d->j, "instruction", unit->name.data, unit->name.size);
		tfp_json_set_text(d->j, "category", unit->category.data, unit->category.size);
		tfp_json_set_text(d->j, "expression", unit->expression.data, unit->expression.size);
		tfp_json_set_number(d->j, "micros", (double)unit->self_ps / 1e6);
		tfp_json_set_count(d->j, "occurrence_run", unit->occurrences);
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
	tfp_json_set_count(d->j, "instructions_total", total);
}

/* ---- links ---- */

static bool begins(struct details *d, uint32_t at, bool host)
{
	/* The first of the largest few that is of this op. */
	const struct tfp_unit *units = d->view->work->units, *unit = &units[d->units[at]];
	for (uint32_t i = 0; i < at; i++) {
		const struct tfp_unit *other = &units[d->units[i]];
		if ((other->kind == TFP_UNIT_HOST) == host &&
		    (other->kind == TFP_UNIT_HOST || other->kind == TFP_UNIT_DEVICE) &&
		    tfp_str_compare(other->op, unit->op) == 0)
			return false;
	}
	return true;
}

static void write_instances(struct details *d)
{
	size_t written = 0;
	tfp_json_begin_array_of(d->j, "instances");
	for (uint32_t i = 0; i < d->count && i < LIST_MAX && written < LINKS_MAX; i++) {
		const struct tfp_unit *unit = &d->view->work->units[d->units[i]];
		bool host = unit->kind == TFP_UNIT_HOST;
		if ((!host && unit->kind != TFP_UNIT_DEVICE) || !begins(d, i, host))
			continue;
		written++;
		tfp_json_begin_object(d->j);
		tfp_json_set_string(d->j, "tag", "framework_op_stats");
		tfp_json_set_string(d->j, "where", host ? "host" : "device");
		tfp_json_set_text(d->j, "type", unit->type.data, unit->type.size);
		tfp_json_set_text(d->j, "name", unit->op.data, unit->op.size);
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
}

static void write_links(struct details *d)
{
	const struct tfp_unit *units = d->view->work->units, *memory = NULL;
	size_t written = 0;
	tfp_json_begin_object_of(d->j, "links");
	write_instances(d);
	tfp_json_begin_array_of(d->j, "op_profile");
	for (size_t i = 0; i < d->count && written < LINKS_MAX; i++) {
		if (!is_instruction(&units[d->units[i]]))
			continue;
		written++;
		tfp_json_begin_object(d->j);
		write_id(d->j, &units[d->units[i]]);
		tfp_json_set_text(d->j, "instruction", units[d->units[i]].name.data,
				  units[d->units[i]].name.size);
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
	tfp_json_begin_array_of(d->j, "trace");
	for (size_t i = 0; i < d->count && i < LINKS_MAX; i++) {
		const struct tfp_unit *unit = &units[d->units[i]];
		struct tfp_str query =
			is_instruction(unit) || !unit->op.size ? unit->name : unit->op;
		if (unit->kind > TFP_UNIT_HOST)
			continue;
		tfp_json_begin_object(d->j);
		tfp_json_set_text(d->j, "query", query.data, query.size);
		tfp_json_set_string(d->j, "in", "all");
		tfp_json_end_object(d->j);
	}
	tfp_json_end_array(d->j);
	for (size_t i = 0; !memory && i < d->count; i++) {
		if (units[d->units[i]].kind == TFP_UNIT_MEMORY)
			memory = &units[d->units[i]];
	}
	if (memory) {
		tfp_json_begin_object_of(d->j, "memory");
		tfp_json_set_text(d->j, "op", memory->op.data, memory->op.size);
		tfp_json_end_object(d->j);
	} else {
		tfp_json_set_null(d->j, "memory");
	}
	tfp_json_end_object(d->j);
}

static enum tfp_status write(struct details *d, const struct tfp_capture_request *request,
			     struct tfp_error *err)
{
	if (!collect(d))
		return no_memory(err);
	tfp_json_begin_object(d->j);
	write_path(d, request);
	write_quantities(d);
	write_by_step(d);
	bool ok = write_devices(d) && write_types(d);
	write_shapes(d);
	write_source(d);
	write_instructions(d);
	write_links(d);
	tfp_json_end_object(d->j);
	return ok ? TFP_OK : no_memory(err);
}

enum tfp_status tfp_capture_details_write(const struct tfp_capture_view *view,
					  const struct tfp_capture_request *request,
					  struct tfp_json *j, struct tfp_error *err)
{
	struct details d = {.view = view, .node = find_node(view, request), .j = j};
	if (!d.node) {
		tfp_fail(err, TFP_NOT_FOUND, "there is no node of this path");
		tfp_error_set_hint(err, "names, or other parameters, may leave it out");
		return TFP_NOT_FOUND;
	}
	enum tfp_status status = write(&d, request, err);
	tfp_free(d.units);
	tfp_free(d.device_ps);
	tfp_free(d.host_ps);
	tfp_free(d.runs);
	tfp_free(d.most);
	return status;
}
