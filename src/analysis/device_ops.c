#include "analysis/device_ops.h"

#include "analysis/gpu_events.h"
#include "analysis/memo.h"
#include "analysis/op_name.h"
#include "analysis/stat_columns.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/progress.h"

#include <string.h>

struct plane_ops {
	const struct tfp_plane *plane;
	const struct tfp_line_groups *groups; /* by line; NULL: the stats tell */
	const struct tfp_line_stats *stats;   /* by line of a GPU */
	bool is_tpu;
	bool has_ops; /* a GPU beside TPU cores has kernels only */
	struct tfp_op_db db;
	struct tfp_kernels kernels;
	enum tfp_status status;
	struct tfp_error error;
};

struct device_ops {
	const struct tfp_hlo_modules *modules;
	struct plane_ops *planes;
};

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the metrics of device ops");
}

/* ---- GPU ---- */

static bool set_texts(struct tfp_op_db *db, struct tfp_op *op, struct tfp_str category,
		      struct tfp_str provenance)
{
	op->category = tfp_op_db_text(db, category);
	op->provenance = tfp_op_db_text(db, provenance);
	return op->category.data && op->provenance.data;
}

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
		if (!set_texts(db, op, category, fullname))
			return NULL;
		op->is_eager = e->is_eager;
		op->has_cost = true;
	}
	return op;
}

/* What is known of events of one kind. */
struct kind {
	uint32_t op, kernel; /* NO_OP, NO_KERNEL: of none */
	bool is_known, is_kernel, has_cost;
	double flops, model_flops, bytes_accessed;
};

#define NO_OP UINT32_MAX

/* What an execution costs: by the analysis of the program, else by what the profiler counted
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

static void add_to_op(struct tfp_op_db *db, const struct kind *k, uint64_t duration_ps)
{
	if (k->op == NO_OP)
		return;
	struct tfp_op *op = &db->ops[k->op];
	op->occurrences++;
	op->time_ps += duration_ps;
	op->self_time_ps += duration_ps;
	op->has_cost &= k->has_cost;
	op->flops += k->flops;
	op->model_flops += k->model_flops;
	op->bytes_accessed += k->bytes_accessed;
	db->total_op_time_ps += duration_ps;
}

/* The span of all events by their offsets; the origins of lines play no part
 * there, by the peers' rule. */
struct span {
	int64_t first_ps, last_ps;
};

static void widen(struct span *span, int64_t begin_ps, int64_t end_ps)
{
	if (begin_ps < span->first_ps)
		span->first_ps = begin_ps;
	if (end_ps > span->last_ps)
		span->last_ps = end_ps;
}

static bool finish(struct tfp_op_db *db, const struct span *span)
{
	uint64_t window =
		span->last_ps > span->first_ps ? (uint64_t)(span->last_ps - span->first_ps) : 0;
	db->total_time_ps = window > db->total_op_time_ps ? window : db->total_op_time_ps;
	return tfp_op_db_add_idle(db, db->total_time_ps - db->total_op_time_ps);
}

/* A GPU's events while they are read. */
struct gpu {
	struct plane_ops *plane;
	struct tfp_gpu_reader reader;
	struct tfp_memo *memo, *kernel_memo;
	struct tfp_buf name;
	struct span span;
	struct kind *kinds; /* of the line */
	size_t kind_room;
};

static bool learn(struct gpu *g, size_t l, size_t i, struct kind *k)
{
	struct plane_ops *p = g->plane;
	struct tfp_gpu_event e;
	tfp_gpu_event_read(&g->reader, &p->plane->lines[l], i, &e);
	if (p->groups)
		e.is_eager = tfp_eager_in(&p->groups[l], i) == TFP_EAGER_YES;
	*k = (struct kind){.op = NO_OP, .is_known = true, .is_kernel = e.kernel_details.size > 0};
	learn_cost(k, &e);
	return tfp_kernels_find(&p->kernels, g->kernel_memo, &e, &k->kernel) &&
	       (!p->has_ops || find_op(&p->db, &e, g->memo, &g->name, &k->op));
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

static bool run_gpu_line(struct gpu *g, size_t l)
{
	struct plane_ops *p = g->plane;
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
		widen(&g->span, start_ps, start_ps + (int64_t)duration_ps);
		if (ok && k->is_kernel && duration_ps >= 1000)
			tfp_kernels_count(&p->kernels, k->kernel, duration_ps / 1000);
		if (ok)
			add_to_op(&p->db, k, duration_ps);
	}
	return ok;
}

static enum tfp_status run_gpu(struct plane_ops *p, const struct tfp_hlo_modules *modules)
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
	ok = ok && (events == 0 || !p->has_ops || finish(&p->db, &g.span));
	tfp_buf_release(&g.name);
	tfp_free(g.memo);
	tfp_free(g.kernel_memo);
	tfp_free(g.kinds);
	tfp_gpu_reader_release(&g.reader);
	return ok ? TFP_OK : no_memory(&p->error);
}

/* ---- TPU ---- */

enum {
	META_PROGRAM_ID,
	META_SYMBOL_ID,
	META_CATEGORY,
	META_TF_OP,
	META_FLOPS,
	META_MODEL_FLOPS,
	META_BYTES,
	DEVICE_OFFSET,
	DEVICE_DURATION,
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
	[DEVICE_OFFSET] = "device_offset_ps",
	[DEVICE_DURATION] = "device_duration_ps",
};

/* An HLO op as the metadata of its events describes it, and its sums. */
struct tpu_op {
	uint64_t program_id, symbol_id;
	bool has_program_id, has_symbol_id;
	struct tfp_str name, category, tf_op;
	double flops, model_flops, bytes;
	uint64_t occurrences, time_ps, self_time_ps;
};

struct open_event {
	int64_t begin_ps, end_ps;
	uint64_t children_ps;
	uint32_t meta;
	uint64_t occurrences;
};

struct tpu {
	const struct tfp_plane *plane;
	struct tfp_schema schema;
	struct tpu_op *ops; /* by event metadata */
	struct open_event *stack;
	size_t depth, room;
	struct span span;
	size_t events;
};

static void read_tpu_op(const struct tpu *t, const struct tfp_event_meta *meta, struct tpu_op *op)
{
	const struct tfp_str none = {"", 0};
	struct tfp_stat_iter it = tfp_event_meta_stats(meta);
	struct tfp_stat stat;
	int64_t number;
	*op = (struct tpu_op){.name = meta->display_name.size ? meta->display_name : meta->name,
			      .category = none,
			      .tf_op = none};
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
		default:
			break;
		}
	}
}

/* Device clock where the event has it, else the profiler's
 * (GetDeviceEventTimespan). */
static struct open_event read_tpu_event(const struct tpu *t, const struct tfp_line *line, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t offset = 0, duration = 0;
	bool has_offset = false, has_duration = false;
	int name;
	while ((name = tfp_schema_next(&t->schema, &it, &stat)) >= 0) {
		if (name == DEVICE_OFFSET)
			has_offset = tfp_stat_int(&stat, &offset);
		else if (name == DEVICE_DURATION)
			has_duration = tfp_stat_int(&stat, &duration);
	}
	const int64_t most = INT64_MAX / 4;
	struct open_event e = {.meta = tfp_event_meta_index(line, i), .occurrences = 1};
	if (has_offset && has_duration && offset >= 0 && offset < most && duration >= 0 &&
	    duration < most) {
		e.begin_ps = offset;
	} else {
		e.begin_ps = tfp_event_start_ps(line, i);
		duration = tfp_event_duration_ps(line, i);
		if (e.begin_ps > most || e.begin_ps < -most)
			e.begin_ps = 0;
	}
	e.end_ps = e.begin_ps + duration;
	return e;
}

static void pop(struct tpu *t)
{
	const struct open_event *e = &t->stack[--t->depth];
	struct tpu_op *op = &t->ops[e->meta];
	uint64_t time = (uint64_t)(e->end_ps - e->begin_ps);
	op->occurrences += e->occurrences;
	op->time_ps += time;
	op->self_time_ps += time > e->children_ps ? time - e->children_ps : 0;
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

static bool is_op_line(const struct tfp_line *line)
{
	return tfp_str_equal(line->name, "XLA Ops") || tfp_str_equal(line->name, "Framework Ops") ||
	       tfp_str_equal(line->name, "Sparse Core Ops");
}

static bool is_step_line(const struct tfp_line *line)
{
	return tfp_str_equal(line->name, "Steps") || tfp_str_equal(line->name, "Sparse Core Steps");
}

static bool run_tpu_lines(struct tpu *t)
{
	for (size_t l = 0; l < t->plane->line_count; l++) {
		const struct tfp_line *line = &t->plane->lines[l];
		bool ops = is_op_line(line);
		if (!ops && !is_step_line(line))
			continue;
		t->events += line->event_count;
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			struct open_event e = read_tpu_event(t, line, i);
			widen(&t->span, e.begin_ps, e.end_ps);
			if (ops && !push(t, e))
				return false;
		}
		while (t->depth > 0)
			pop(t);
	}
	return true;
}

/* Several metadata of one plane may stand for one (program, symbol); the table
 * of ops goes by (program, name), which joins them as well. What a metadata
 * says of flops and bytes is for one occurrence. */
static bool enter_tpu_op(struct tfp_op_db *db, const struct tpu_op *src)
{
	if (src->occurrences == 0 || !src->has_program_id || !src->has_symbol_id ||
	    src->symbol_id == 0)
		return true;
	struct tfp_op *op = tfp_op_db_enter(db, src->program_id, src->name);
	if (!op)
		return false;
	if (op->occurrences == 0 && !set_texts(db, op, src->category, src->tf_op))
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
	db->total_op_time_ps += src->self_time_ps;
	return true;
}

static enum tfp_status run_tpu(struct plane_ops *p)
{
	struct tpu t = {.plane = p->plane, .span = {INT64_MAX, 0}};
	enum tfp_status status = tfp_schema_init(&t.schema, p->plane, names, WANTED, &p->error);
	if (status != TFP_OK)
		return status;
	t.ops = tfp_calloc(p->plane->event_meta_count, sizeof(*t.ops));
	bool ok = t.ops != NULL;
	for (size_t m = 1; ok && m < p->plane->event_meta_count; m++)
		read_tpu_op(&t, &p->plane->event_metas[m], &t.ops[m]);
	ok = ok && run_tpu_lines(&t);
	for (size_t m = 1; ok && m < p->plane->event_meta_count; m++)
		ok = enter_tpu_op(&p->db, &t.ops[m]);
	ok = ok && (t.events == 0 || finish(&p->db, &t.span));
	tfp_free(t.ops);
	tfp_free(t.stack);
	tfp_schema_release(&t.schema);
	return ok ? TFP_OK : no_memory(&p->error);
}

/* ---- */

/* TPU cores are the devices where there is one, even beside GPUs. */
static enum tfp_plane_kind device_kind(const struct tfp_capture *capture)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU)
			return TFP_PLANE_TPU;
	}
	return TFP_PLANE_GPU;
}

static void run_plane(void *context, size_t index)
{
	struct device_ops *d = context;
	struct plane_ops *p = &d->planes[index];
	p->status = p->is_tpu ? run_tpu(p) : run_gpu(p, d->modules);
}

enum tfp_status tfp_device_ops(struct tfp_capture *capture, const struct tfp_hlo_modules *modules,
			       const struct tfp_groups *groups, struct tfp_pool *pool,
			       struct tfp_op_db *out, struct tfp_kernels *kernels,
			       struct tfp_error *err)
{
	struct device_ops d = {.modules = modules};
	enum tfp_plane_kind wanted = device_kind(capture);
	const struct tfp_stat_columns *stats;
	size_t count = 0;
	enum tfp_status status =
		tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &stats, err);
	if (status != TFP_OK)
		return status;
	d.planes = tfp_calloc(capture->plane_count, sizeof(*d.planes));
	if (!d.planes)
		return no_memory(err);
	for (size_t p = 0; p < capture->plane_count; p++) {
		enum tfp_plane_kind kind = tfp_plane_kind(capture->planes[p].name);
		if (kind != wanted && kind != TFP_PLANE_GPU)
			continue;
		d.planes[count].plane = &capture->planes[p];
		d.planes[count].groups = groups ? groups->planes[p] : NULL;
		d.planes[count].stats = stats->planes[p];
		d.planes[count].is_tpu = kind == TFP_PLANE_TPU;
		d.planes[count].has_ops = kind == wanted;
		tfp_op_db_init(&d.planes[count].db);
		tfp_kernels_init(&d.planes[count++].kernels);
	}
	tfp_pool_for(pool, count, run_plane, &d);
	for (size_t p = 0; p < count; p++) {
		if (status == TFP_OK && d.planes[p].status != TFP_OK) {
			status = d.planes[p].status;
			if (err)
				*err = d.planes[p].error;
		}
		if (status == TFP_OK && (!tfp_op_db_merge(out, &d.planes[p].db) ||
					 !tfp_kernels_merge(kernels, &d.planes[p].kernels)))
			status = no_memory(err);
		tfp_op_db_release(&d.planes[p].db);
		tfp_kernels_release(&d.planes[p].kernels);
	}
	tfp_kernels_sort(kernels);
	tfp_free(d.planes);
	return status;
}

struct visit {
	void (*call)(void *context, const struct tfp_plane *plane, const struct tfp_line *line,
		     size_t event, struct tfp_str name, struct tfp_str type);
	void *context;
};

static enum tfp_status visit_gpu(const struct tfp_plane *plane,
				 const struct tfp_hlo_modules *modules, const struct visit *visit,
				 struct tfp_error *err)
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

static enum tfp_status visit_tpu(const struct tfp_plane *plane, const struct visit *visit,
				 struct tfp_error *err)
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

enum tfp_status tfp_device_op_events(const struct tfp_capture *capture,
				     const struct tfp_hlo_modules *modules,
				     void (*call)(void *context, const struct tfp_plane *plane,
						  const struct tfp_line *line, size_t event,
						  struct tfp_str name, struct tfp_str type),
				     void *context, struct tfp_error *err)
{
	const struct visit visit = {call, context};
	enum tfp_plane_kind wanted = device_kind(capture);
	enum tfp_status status = TFP_OK;
	for (size_t p = 0; status == TFP_OK && p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (tfp_plane_kind(plane->name) != wanted)
			continue;
		status = wanted == TFP_PLANE_TPU ? visit_tpu(plane, &visit, err)
						 : visit_gpu(plane, modules, &visit, err);
	}
	return status;
}
