/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/device_ops_parts.h"

#include "analysis/events/schema.h"
#include "analysis/events/time_span.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "wire/pb_cursor.h"

enum {
	META_PROGRAM_ID,
	META_SYMBOL_ID,
	META_CATEGORY,
	META_TF_OP,
	META_FLOPS,
	META_MODEL_FLOPS,
	META_BYTES,
	META_BREAKDOWN,
	DEVICE_OFFSET,
	DEVICE_DURATION,
	TIME_SCALE,
	DMA_STALL,
	WANTED
};

static const char *const names[WANTED] = {
	[META_PROGRAM_ID] = "program_id",
	[META_SYMBOL_ID] = "symbol_id",
	[META_CATEGORY] = "hlo_category",
	[META_TF_OP] = "tf_op",
	[META_FLOPS] = "flops",
	[META_MODEL_FLOPS] = "model_flops",
	[META_BYTES] = "bytes_accessed",
	[META_BREAKDOWN] = "memory_access_breakdown",
	[TIME_SCALE] = "time_scale_multiplier",
	[DMA_STALL] = "dma_stall_duration_ps",
	[DEVICE_OFFSET] = "device_offset_ps",
	[DEVICE_DURATION] = "device_duration_ps",
};

/* An HLO op as the metadata of its events describes it, and its sums. */
struct tpu_op {
	uint64_t program_id, symbol_id;
	bool has_program_id, has_symbol_id;
	struct tfp_str name, category, tf_op;
	double flops, model_flops, bytes;
	uint64_t occurrences, time_ps, self_time_ps, normalized_ps, dma_stall_ps;
	struct tfp_str breakdown; /* a MemoryAccessBreakdown, of one occurrence */
	/* Where steps are asked for: the cost of one occurrence. */
	struct tfp_work_sum cost;
	uint8_t part; /* enum tfp_work_part */
	bool counts;  /* at all */
};

struct open_event {
	int64_t begin_ps, end_ps;
	uint64_t children_ps, dma_stall_ps;
	double scale;        /* of time, to the usual clock */
	uint32_t meta, work; /* TFP_NO_WORK: of no step whose work is asked for */
	int32_t step;
	uint64_t occurrences;
};

struct tpu {
	const struct tfp_plane *plane;
	const struct tfp_plane_ops *asked; /* has the works, or NULL */
	struct tfp_schema schema;
	struct tpu_op *ops; /* by event metadata */
	struct open_event *stack;
	size_t depth, room;
	struct tfp_ops_span span;
	size_t events;
	struct tfp_op_steps *steps;           /* by metadata; NULL: nobody asks */
	const struct tfp_line_groups *groups; /* by line */
	bool no_memory;
};

static void read_tpu_op(const struct tpu *t, const struct tfp_event_meta *meta, struct tpu_op *op)
{
	const struct tfp_str none = {"", 0};
	struct tfp_stat_iter it = tfp_event_meta_stats(meta);
	struct tfp_stat stat;
	int64_t number;
	*op = (struct tpu_op){.name = meta->display_name.size ? meta->display_name : meta->name,
			      .category = none,
			      .tf_op = none,
			      .breakdown = none};
	while (tfp_stat_next(&it, &stat)) {
		switch (tfp_schema_of(&t->schema, &stat)) {
		case META_PROGRAM_ID:
			op->has_program_id = tfp_stat_int(&stat, &number);
			op->program_id = op->has_program_id ? (uint64_t)number : 0;
			break;
		case META_SYMBOL_ID:
			op->has_symbol_id = tfp_stat_int(&stat, &number);
			op->symbol_id = op->has_symbol_id ? (uint64_t)number : 0;
			break;
		case META_CATEGORY:
			tfp_stat_text(t->plane, &stat, &op->category);
			break;
		case META_TF_OP:
			tfp_stat_text(t->plane, &stat, &op->tf_op);
			break;
		case META_FLOPS:
			tfp_stat_double(&stat, &op->flops);
			break;
		case META_MODEL_FLOPS:
			tfp_stat_double(&stat, &op->model_flops);
			break;
		case META_BYTES:
			tfp_stat_double(&stat, &op->bytes);
			break;
		case META_BREAKDOWN:
			if (stat.kind == TFP_STAT_BYTES)
				op->breakdown = stat.text;
			break;
		default:
			break;
		}
	}
}

/* By the device's clock where the event has it, else by the profiler's. */
static struct open_event read_tpu_event(const struct tpu *t, const struct tfp_line *line, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t offset = -1, duration = -1, stall;
	struct tfp_time_span span;
	struct open_event e = {.meta = tfp_event_meta_index(line, i),
			       .work = TFP_NO_WORK,
			       .step = TFP_NO_STEP,
			       .occurrences = 1,
			       .scale = 1};
	int name;
	while ((name = tfp_schema_next(&t->schema, &it, &stat)) >= 0) {
		if (name == DEVICE_OFFSET && !tfp_stat_int(&stat, &offset))
			offset = -1;
		else if (name == DEVICE_DURATION && !tfp_stat_int(&stat, &duration))
			duration = -1;
		else if (name == TIME_SCALE && !tfp_stat_double(&stat, &e.scale))
			e.scale = 1;
		else if (name == DMA_STALL && tfp_stat_int(&stat, &stall) && stall > 0)
			e.dma_stall_ps = (uint64_t)stall;
	}
	if (!tfp_device_span(offset, duration, &span)) {
		const int64_t most = INT64_MAX / 4;
		span.begin_ps = tfp_event_start_ps(line, i);
		if (span.begin_ps > most || span.begin_ps < -most)
			span.begin_ps = 0;
		span.end_ps = span.begin_ps + tfp_event_duration_ps(line, i);
	}
	e.begin_ps = span.begin_ps;
	e.end_ps = span.end_ps;
	return e;
}

static void add_to_work(const struct tpu *t, const struct open_event *e, uint64_t time_ps,
			uint64_t self_time_ps)
{
	const struct tpu_op *op = &t->ops[e->meta];
	if (e->work == TFP_NO_WORK || !op->counts)
		return;
	struct tfp_work_sum *sum = &t->asked->works[e->work].parts[op->part];
	sum->time_ps += time_ps;
	sum->self_time_ps += self_time_ps;
	tfp_work_add_cost(sum, &op->cost, 1);
}

static void pop(struct tpu *t)
{
	const struct open_event *e = &t->stack[--t->depth];
	struct tpu_op *op = &t->ops[e->meta];
	uint64_t time = (uint64_t)(e->end_ps - e->begin_ps);
	uint64_t self = time > e->children_ps ? time - e->children_ps : 0;
	add_to_work(t, e, time, self);
	op->occurrences += e->occurrences;
	op->time_ps += time;
	op->self_time_ps += self;
	if (t->steps && !tfp_op_steps_add(t->steps, e->meta, e->step, time, self))
		t->no_memory = true;
	op->dma_stall_ps += e->dma_stall_ps;
	double normalized = (double)time * e->scale;
	if (normalized > 0 && normalized < 0x1p62)
		op->normalized_ps += e->scale == 1 ? time : (uint64_t)normalized;
}

static bool push(struct tpu *t, struct open_event e)
{
	while (t->depth > 0) {
		struct open_event *top = &t->stack[t->depth - 1];
		if (top->begin_ps <= e.begin_ps && e.end_ps <= top->end_ps) {
			top->children_ps += (uint64_t)(e.end_ps - e.begin_ps);
			break;
		}
		pop(t);
	}
	if (!TFP_GROW(t->stack, t->depth, t->room))
		return false;
	t->stack[t->depth++] = e;
	return true;
}

static bool is_xla_line(const struct tfp_line *line)
{
	return tfp_str_equal(line->name, "XLA Ops");
}

static bool is_op_line(const struct tfp_line *line)
{
	return is_xla_line(line) || tfp_str_equal(line->name, "Framework Ops") ||
	       tfp_str_equal(line->name, "Sparse Core Ops");
}

static bool is_step_line(const struct tfp_line *line)
{
	return tfp_str_equal(line->name, "Steps") || tfp_str_equal(line->name, "Sparse Core Steps");
}

/* op_metrics.proto: MemoryAccessBreakdown, of entries MemoryAccessed. Adds to bytes; false for
 * one without entries. */
static bool add_breakdown(double bytes[TFP_SPACE_COUNT][TFP_ACCESS_COUNT], struct tfp_str message,
			  double times)
{
	enum { ENTRY = 1, ACCESS = 1, SPACE = 2, BYTES = 3 };
	static const enum tfp_space memories[] = {TFP_SPACE_OTHER, TFP_SPACE_HBM, TFP_SPACE_CMEM,
						  TFP_SPACE_VMEM};
	struct tfp_pb_cursor c = tfp_pb_cursor((const uint8_t *)message.data, message.size);
	const uint8_t *data;
	size_t size;
	uint32_t tag;
	bool any = false;
	while (tfp_pb_next(&c, &tag)) {
		if (tag != TFP_PB_TAG(ENTRY, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_pb_bytes(&c, &data, &size))
			break;
		struct tfp_pb_cursor inner = tfp_pb_cursor(data, size);
		uint64_t fields[BYTES + 1] = {0};
		while (tfp_pb_next(&inner, &tag)) {
			if (TFP_PB_WIRE(tag) == TFP_PB_VARINT && TFP_PB_FIELD(tag) <= BYTES)
				tfp_pb_varint(&inner, &fields[TFP_PB_FIELD(tag)]);
			else
				tfp_pb_skip(&inner, tag);
		}
		enum tfp_space memory = fields[SPACE] < sizeof(memories) / sizeof(memories[0])
						? memories[fields[SPACE]]
						: TFP_SPACE_OTHER;
		enum tfp_access access = fields[ACCESS] < TFP_ACCESS_COUNT
						 ? (enum tfp_access)fields[ACCESS]
						 : TFP_ACCESS_UNKNOWN;
		any = true;
		bytes[memory][access] += (double)fields[BYTES] * times;
	}
	return any;
}

/* What one occurrence of each op costs in a step, and how often each ran on the line that counts:
 * the numbers of a custom call are of all its occurrences. */
static bool price_ops(struct tpu *t)
{
	size_t count = t->plane->event_meta_count;
	uint64_t *runs = tfp_calloc(count, sizeof(*runs));
	if (!runs)
		return false;
	for (size_t l = 0; l < t->plane->line_count; l++) {
		const struct tfp_line *line = &t->plane->lines[l];
		for (size_t i = 0; is_xla_line(line) && i < line->event_count && tfp_goes_on(i);
		     i++)
			runs[tfp_event_meta_index(line, i)]++;
	}
	for (size_t m = 1; m < count; m++) {
		struct tpu_op *op = &t->ops[m];
		bool of_all = tfp_str_equal(op->category, "custom-call") && runs[m];
		double one = of_all ? 1 / (double)runs[m] : 1;
		op->counts = op->has_program_id && op->has_symbol_id && op->symbol_id != 0;
		op->part = tfp_category_is_feed(op->category) ? TFP_WORK_FEEDS : TFP_WORK_OPS;
		if (tfp_category_has_inner_ops(op->category))
			continue;
		op->cost.has_cost = true;
		op->cost.flops = op->flops * one;
		op->cost.model_flops = (op->model_flops > 0 ? op->model_flops : op->flops) * one;
		op->cost.bytes_accessed = op->bytes * one;
		op->cost.has_breakdown = add_breakdown(op->cost.bytes, op->breakdown, 1);
	}
	tfp_free(runs);
	return true;
}

static bool run_tpu_lines(struct tpu *t)
{
	for (size_t l = 0; l < t->plane->line_count; l++) {
		const struct tfp_line *line = &t->plane->lines[l];
		bool ops = is_op_line(line);
		if (!ops && !is_step_line(line))
			continue;
		t->events += line->event_count;
		bool in_works = t->asked && is_xla_line(line);
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			struct open_event e = read_tpu_event(t, line, i);
			e.step = t->groups ? tfp_group_in(&t->groups[l].group, i) : TFP_NO_STEP;
			if (in_works)
				e.work = tfp_plane_work(t->asked, l, i);
			tfp_ops_span_widen(&t->span, e.begin_ps, e.end_ps);
			if (ops && !push(t, e))
				return false;
		}
		while (t->depth > 0)
			pop(t);
	}
	return !t->no_memory;
}

static bool is_op(const struct tpu_op *op)
{
	return op->occurrences > 0 && op->has_program_id && op->has_symbol_id && op->symbol_id != 0;
}

/* Several metadata of one plane may stand for one (program, symbol). The table of ops goes by
 * (program, name), which joins them as well. Flops and bytes of a metadata are for one
 * occurrence. */
static bool enter_tpu_op(struct tfp_op_db *db, const struct tpu_op *src)
{
	if (!is_op(src))
		return true;
	struct tfp_op *op = tfp_op_db_enter(db, src->program_id, src->name);
	if (!op)
		return false;
	if (op->occurrences == 0 && !tfp_device_op_texts(db, op, src->category, src->tf_op))
		return false;
	/* A custom call's numbers are of all its occurrences already. */
	double times = tfp_str_equal(src->category, "custom-call") ? 1 : (double)src->occurrences;
	op->has_cost = true;
	op->occurrences += src->occurrences;
	op->time_ps += src->time_ps;
	op->self_time_ps += src->self_time_ps;
	op->flops += src->flops * times;
	op->model_flops += (src->model_flops > 0 ? src->model_flops : src->flops) * times;
	op->bytes_accessed += src->bytes * times;
	struct tfp_device_metrics *device = tfp_op_db_device(db, op);
	if (!device)
		return false;
	device->origin = TFP_ORIGIN_INSTRUCTION;
	device->cost_by = TFP_COST_BY_PROFILER;
	device->core = TFP_CORE_TENSOR;
	device->normalized_ps += src->normalized_ps;
	device->dma_stall_ps += src->dma_stall_ps;
	device->has_breakdown |=
		add_breakdown(device->bytes, src->breakdown, (double)src->occurrences);
	db->total_op_time_ps += src->self_time_ps;
	return true;
}

/* Cells of metadata as cells of the ops that they stand for. */
static bool name_steps(struct tfp_plane_ops *p, const struct tpu *t)
{
	struct tfp_op_db *db = &p->work.ops;
	for (size_t i = 0; i < t->steps->count; i++) {
		const struct tfp_op_step *cell = &t->steps->cells[i];
		const struct tpu_op *src = &t->ops[cell->op];
		if (!is_op(src))
			continue;
		struct tfp_op *op = tfp_op_db_enter(db, src->program_id, src->name);
		if (!op || !tfp_op_steps_add_cell(p->steps, (uint32_t)(op - db->ops), cell))
			return false;
	}
	return true;
}

enum tfp_status tfp_device_ops_of_tpu(struct tfp_plane_ops *p)
{
	struct tpu t = {.plane = p->plane, .span = {INT64_MAX, 0}};
	enum tfp_status status = tfp_schema_init(&t.schema, p->plane, names, WANTED, &p->error);
	if (status != TFP_OK)
		return status;
	struct tfp_op_steps by_meta = {0};
	if (p->steps) {
		t.steps = &by_meta;
		t.groups = p->groups;
	}
	t.ops = tfp_calloc(p->plane->event_meta_count, sizeof(*t.ops));
	bool ok = t.ops != NULL;
	for (size_t m = 1; ok && m < p->plane->event_meta_count; m++)
		read_tpu_op(&t, &p->plane->event_metas[m], &t.ops[m]);
	t.asked = p->works ? p : NULL;
	ok = ok && (!t.asked || price_ops(&t)) && run_tpu_lines(&t);
	for (size_t m = 1; ok && m < p->plane->event_meta_count; m++)
		ok = enter_tpu_op(&p->work.ops, &t.ops[m]);
	ok = ok && (!p->steps || name_steps(p, &t));
	ok = ok && (t.events == 0 || tfp_device_ops_finish(&p->work, &t.span));
	tfp_op_steps_release(&by_meta);
	tfp_free(t.ops);
	tfp_free(t.stack);
	tfp_schema_release(&t.schema);
	return ok ? TFP_OK : tfp_device_ops_no_memory(&p->error);
}

enum tfp_status tfp_device_visit_tpu(const struct tfp_plane *plane,
				     const struct tfp_op_visit *visit, struct tfp_error *err)
{
	struct tpu t = {.plane = plane};
	enum tfp_status status = tfp_schema_init(&t.schema, plane, names, WANTED, err);
	for (size_t l = 0; status == TFP_OK && l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		for (size_t i = 0; is_op_line(line) && i < line->event_count && tfp_goes_on(i);
		     i++) {
			struct tfp_str name, type;
			struct tpu_op op;
			read_tpu_op(&t, tfp_event_meta(plane, line, i), &op);
			if (!op.has_program_id || !op.has_symbol_id || op.symbol_id == 0)
				continue;
			tfp_framework_op(op.tf_op, op.name, &name, &type);
			visit->call(visit->context, plane, line, i, name, type);
		}
	}
	tfp_schema_release(&t.schema);
	return status;
}
