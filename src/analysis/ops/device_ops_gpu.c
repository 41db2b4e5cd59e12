/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/device_ops_parts.h"

#include "analysis/events/memo.h"
#include "analysis/events/op_name.h"
#include "analysis/ops/gpu_events.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/progress.h"

#include <string.h>

/* The op of an event: an HLO instruction under its program, any other op under
 * `<op>/<kernel>`. key is room for that name. NULL without memory. */
static struct tfp_op *op_of_gpu_event(struct tfp_op_db *db, const struct tfp_gpu_event *e,
				      struct tfp_str fullname, struct tfp_buf *key)
{
	struct tfp_str name = e->hlo_op, category;
	uint64_t module_id = 0;
	if (e->instruction) {
		module_id = e->program_id;
		category = e->instruction->category;
	} else {
		struct tfp_op_name op = tfp_op_name_parse(fullname);
		tfp_buf_clear(key);
		tfp_buf_add(key, op.name.data, op.name.size);
		tfp_buf_putc(key, '/');
		tfp_buf_add(key, e->name.data, e->name.size);
		if (tfp_buf_failed(key))
			return NULL;
		name = (struct tfp_str){key->data, key->size};
		category = op.type.size ? op.type : (struct tfp_str){"unknown", 7};
	}
	struct tfp_op *op = tfp_op_db_enter(db, module_id, name);
	if (op && op->occurrences == 0) {
		if (!tfp_device_op_texts(db, op, category, fullname))
			return NULL;
		op->is_eager = e->is_eager;
		op->has_cost = true;
		struct tfp_device_metrics *device = tfp_op_db_device(db, op);
		if (!device)
			return NULL;
		device->origin = e->instruction                        ? TFP_ORIGIN_INSTRUCTION
				 : e->has_tf_op && e->hlo_op.size == 0 ? TFP_ORIGIN_FRAMEWORK
								       : TFP_ORIGIN_OTHER;
	}
	return op;
}

/* What belongs to no op, by its own name. */
static bool find_unnamed(struct tfp_op_db *db, const struct tfp_gpu_event *e, uint32_t *index)
{
	struct tfp_op *op = tfp_op_db_enter(db, 0, e->name);
	struct tfp_device_metrics *device = op ? tfp_op_db_device(db, op) : NULL;
	if (!device)
		return false;
	if (op->occurrences == 0) {
		const char *category = e->is_in_graph           ? "kernel of a graph"
				       : e->kernel_details.size ? "kernel"
								: "copy or fill";
		op->category = (struct tfp_str){category, strlen(category)};
		device->origin = TFP_ORIGIN_UNNAMED;
	}
	*index = (uint32_t)(op - db->ops);
	return true;
}

/* What is known of events of one kind. */
struct kind {
	uint32_t op, unnamed, kernel; /* NO_OP, NO_KERNEL: of none */
	bool is_known, is_kernel, has_cost;
	uint8_t cost_by; /* enum tfp_cost_by */
	uint8_t part;    /* enum tfp_work_part */
	bool has_inner;  /* its cost is that of other ops */
	double flops, model_flops, bytes_accessed, bytes_read, bytes_written;
};

#define NO_OP UINT32_MAX

/* The cost of one execution: by the analysis of the program, else as the profiler counted it
 * (XProf's order, xplane_to_op_metrics_db.cc). */
static void learn_cost(struct kind *k, const struct tfp_gpu_event *e)
{
	const struct tfp_hlo_cost *cost = e->instruction ? e->instruction->cost : NULL;
	bool analysed = cost && cost->source != TFP_HLO_COST_UNKNOWN;
	k->has_cost = analysed || (e->has_flops && e->has_bytes);
	k->flops =
		analysed && cost->gpu_device_flops > 0 ? (double)cost->gpu_device_flops : e->flops;
	k->model_flops = analysed && cost->gpu_flops > 0 ? (double)cost->gpu_flops : k->flops;
	k->bytes_accessed =
		analysed && cost->gpu_bytes > 0 ? (double)cost->gpu_bytes : e->bytes_accessed;
	if (analysed && cost->gpu_bytes_read > 0)
		k->bytes_read = (double)cost->gpu_bytes_read;
	if (analysed && cost->gpu_bytes_written > 0)
		k->bytes_written = (double)cost->gpu_bytes_written;
	k->cost_by = !k->has_cost                        ? TFP_COST_BY_NOBODY
		     : !analysed                         ? TFP_COST_BY_PROFILER
		     : cost->source == TFP_HLO_COST_OURS ? TFP_COST_BY_US
							 : TFP_COST_BY_XLA;
}

static bool find_op(struct tfp_op_db *db, const struct tfp_gpu_event *e, struct tfp_memo *memo,
		    struct tfp_buf *name, uint32_t *index)
{
	struct tfp_str fullname = tfp_gpu_event_op(e);
	const struct tfp_memo_key key = {{e->instruction, fullname.data,
					  e->instruction ? NULL : e->name.data,
					  (const void *)(uintptr_t)e->program_id}};
	*index = NO_OP;
	if (!e->instruction && fullname.size == 0)
		return true; /* a copy or a kernel that nothing names */
	if (tfp_memo_find(memo, &key, index))
		return true;
	struct tfp_op *op = op_of_gpu_event(db, e, fullname, name);
	if (!op)
		return false;
	*index = (uint32_t)(op - db->ops);
	tfp_memo_put(memo, &key, *index);
	return true;
}

/* false without memory. */
static bool add_to_op(struct tfp_plane_ops *p, const struct kind *k, uint64_t duration_ps,
		      int32_t step)
{
	struct tfp_device_work *work = &p->work;
	bool named = k->op != NO_OP;
	if (!named && k->unnamed == NO_OP)
		return true;
	struct tfp_op_db *db = named ? &work->ops : &work->unnamed;
	struct tfp_op *op = &db->ops[named ? k->op : k->unnamed];
	struct tfp_device_metrics *device = op->device;
	device->cost_by = k->cost_by;
	device->has_breakdown |= k->bytes_read + k->bytes_written > 0;
	device->bytes[TFP_SPACE_HBM][TFP_ACCESS_READ] += k->bytes_read;
	device->bytes[TFP_SPACE_HBM][TFP_ACCESS_WRITE] += k->bytes_written;
	op->occurrences++;
	op->time_ps += duration_ps;
	op->self_time_ps += duration_ps;
	op->has_cost &= k->has_cost;
	op->flops += k->flops;
	op->model_flops += k->model_flops;
	op->bytes_accessed += k->bytes_accessed;
	db->total_op_time_ps += duration_ps;
	struct tfp_op_steps *steps = named ? p->steps : p->unnamed_steps;
	return !steps ||
	       tfp_op_steps_add(steps, named ? k->op : k->unnamed, step, duration_ps, duration_ps);
}

static void add_to_work(struct tfp_step_work *step, const struct kind *k, uint64_t duration_ps)
{
	const struct tfp_work_sum cost = {
		.has_cost = k->has_cost && !k->has_inner,
		.flops = k->flops,
		.model_flops = k->model_flops,
		.bytes_accessed = k->bytes_accessed,
		.has_breakdown = k->bytes_read + k->bytes_written > 0,
		.bytes[TFP_SPACE_HBM] =
			{[TFP_ACCESS_READ] = k->bytes_read, [TFP_ACCESS_WRITE] = k->bytes_written},
	};
	struct tfp_work_sum *sum = &step->parts[k->part];
	if (k->op == NO_OP && k->unnamed == NO_OP)
		return;
	sum->time_ps += duration_ps;
	sum->self_time_ps += duration_ps;
	tfp_work_add_cost(sum, &cost, 1);
}

/* Which sum of a step an event's op belongs to. */
static void learn_part(const struct tfp_device_work *work, struct kind *k)
{
	const struct tfp_op *op = k->op == NO_OP ? NULL : &work->ops.ops[k->op];
	k->part = !op || tfp_op_origin(op) == TFP_ORIGIN_OTHER ? TFP_WORK_OTHERS
		  : tfp_category_is_feed(op->category)         ? TFP_WORK_FEEDS
							       : TFP_WORK_OPS;
	k->has_inner = op && tfp_category_has_inner_ops(op->category);
}

/* A GPU's events while they are read. */
struct gpu {
	struct tfp_plane_ops *plane;
	struct tfp_gpu_reader reader;
	struct tfp_memo *memo, *kernel_memo;
	struct tfp_buf name;
	struct tfp_ops_span span;
	struct kind *kinds; /* of the line */
	size_t kind_room;
	/* By op, the kernel that runs it, + 1; 0 while there is none. */
	uint32_t *runs;
	size_t run_room;
};

/* An instruction that several kernels run has one cost, and nobody knows whose. */
static bool share_cost(struct gpu *g, const struct kind *k, bool is_instruction)
{
	struct tfp_kernel *kernels = g->plane->kernels.kernels;
	if (k->kernel == TFP_NO_KERNEL)
		return true;
	if (!is_instruction || k->op == NO_OP)
		return true;
	if (k->op >= g->run_room) {
		size_t room = 2 * (size_t)k->op + 64;
		uint32_t *runs = tfp_reallocarray(g->runs, room, sizeof(*runs));
		if (!runs)
			return false;
		memset(runs + g->run_room, 0, (room - g->run_room) * sizeof(*runs));
		g->runs = runs;
		g->run_room = room;
	}
	if (g->runs[k->op] == 0)
		g->runs[k->op] = k->kernel + 1;
	else if (g->runs[k->op] != k->kernel + 1)
		kernels[k->kernel].has_no_cost = kernels[g->runs[k->op] - 1].has_no_cost = true;
	return true;
}

static bool learn(struct gpu *g, size_t l, size_t i, struct kind *k)
{
	struct tfp_plane_ops *p = g->plane;
	struct tfp_gpu_event e;
	tfp_gpu_event_read(&g->reader, &p->plane->lines[l], i, &e);
	if (p->groups)
		e.is_eager = tfp_eager_in(&p->groups[l], i) == TFP_EAGER_YES;
	*k = (struct kind){.op = NO_OP,
			   .unnamed = NO_OP,
			   .is_known = true,
			   .is_kernel = e.kernel_details.size > 0};
	learn_cost(k, &e);
	if (!tfp_kernels_find(&p->kernels, g->kernel_memo, &e, &k->kernel))
		return false;
	if (k->kernel != TFP_NO_KERNEL && !k->has_cost)
		p->kernels.kernels[k->kernel].has_no_cost = true;
	if (!p->has_ops)
		return true;
	if (!find_op(&p->work.ops, &e, g->memo, &g->name, &k->op) ||
	    (k->op == NO_OP && !find_unnamed(&p->work.unnamed, &e, &k->unnamed)))
		return false;
	learn_part(&p->work, k);
	return share_cost(g, k, e.instruction != NULL);
}

static bool make_room(struct gpu *g, size_t count)
{
	if (count > g->kind_room) {
		tfp_free(g->kinds);
		g->kinds = tfp_reallocarray(NULL, count, sizeof(*g->kinds));
		g->kind_room = g->kinds ? count : 0;
	}
	for (size_t k = 0; g->kinds && k < count; k++)
		g->kinds[k].is_known = false;
	return g->kind_room >= count;
}

static void count_kernel(struct tfp_plane_ops *p, const struct kind *k, uint64_t ns)
{
	tfp_kernels_count(&p->kernels, k->kernel, ns);
	tfp_kernels_add_cost(&p->kernels, k->kernel, k->flops, k->bytes_accessed);
}

static bool run_gpu_line(struct gpu *g, size_t l)
{
	struct tfp_plane_ops *p = g->plane;
	const struct tfp_line *line = &p->plane->lines[l];
	const struct tfp_line_stats *stats = &p->stats[l];
	bool ok = make_room(g, stats->kind_count);
	for (size_t i = 0; ok && i < line->event_count && tfp_goes_on(i); i++) {
		int64_t start_ps = tfp_event_offset_ps(line, i);
		uint64_t duration_ps = (uint64_t)tfp_event_duration_ps(line, i);
		uint32_t kind = tfp_kind_of(stats, i);
		struct kind alone, *k = kind == TFP_NO_KIND ? &alone : &g->kinds[kind];
		/* Kernels of less than a nanosecond are none. */
		bool is_new = kind == TFP_NO_KIND || !k->is_known ||
			      (k->is_kernel && k->kernel == TFP_NO_KERNEL && duration_ps >= 1000);
		if (is_new)
			ok = learn(g, l, i, k);
		tfp_ops_span_widen(&g->span, start_ps, start_ps + (int64_t)duration_ps);
		if (ok && k->is_kernel && duration_ps >= 1000)
			count_kernel(p, k, duration_ps / 1000);
		if (ok)
			ok = add_to_op(p, k, duration_ps,
				       p->steps ? tfp_group_in(&p->groups[l].group, i)
						: TFP_NO_STEP);
		uint32_t step = ok ? tfp_plane_work(p, l, i) : TFP_NO_WORK;
		if (step != TFP_NO_WORK)
			add_to_work(&p->works[step], k, duration_ps);
	}
	return ok;
}

enum tfp_status tfp_device_ops_of_gpu(struct tfp_plane_ops *p,
				      const struct tfp_hlo_modules *modules)
{
	struct gpu g = {.plane = p, .span = {INT64_MAX, 0}};
	size_t events = 0;
	enum tfp_status status = tfp_gpu_reader_init(&g.reader, p->plane, modules, &p->error);
	if (status != TFP_OK)
		return status;
	g.memo = tfp_memo_new(8192);
	g.kernel_memo = tfp_memo_new(8192);
	tfp_buf_init(&g.name, SIZE_MAX / 2);
	bool ok = g.memo && g.kernel_memo;
	for (size_t l = 0; ok && l < p->plane->line_count; l++) {
		if (tfp_line_is_derived(&p->plane->lines[l]))
			continue;
		events += p->plane->lines[l].event_count;
		ok = run_gpu_line(&g, l);
	}
	ok = ok && (events == 0 || !p->has_ops || tfp_device_ops_finish(&p->work, &g.span));
	tfp_buf_release(&g.name);
	tfp_free(g.memo);
	tfp_free(g.kernel_memo);
	tfp_free(g.kinds);
	tfp_free(g.runs);
	tfp_gpu_reader_release(&g.reader);
	return ok ? TFP_OK : tfp_device_ops_no_memory(&p->error);
}

enum tfp_status tfp_device_visit_gpu(const struct tfp_plane *plane,
				     const struct tfp_hlo_modules *modules,
				     const struct tfp_op_visit *visit, struct tfp_error *err)
{
	struct tfp_gpu_reader reader;
	enum tfp_status status = tfp_gpu_reader_init(&reader, plane, modules, err);
	for (size_t l = 0; status == TFP_OK && l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		if (tfp_line_is_derived(line))
			continue;
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			struct tfp_str name, type;
			struct tfp_gpu_event e;
			tfp_gpu_event_read(&reader, line, i, &e);
			struct tfp_str fullname = tfp_gpu_event_op(&e);
			if (!e.instruction && fullname.size == 0)
				continue;
			tfp_framework_op(fullname, e.hlo_op, &name, &type);
			visit->call(visit->context, plane, line, i, name, type);
		}
	}
	tfp_gpu_reader_release(&reader);
	return status;
}
