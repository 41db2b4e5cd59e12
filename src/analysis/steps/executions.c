/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/executions.h"

#include "analysis/events/memo.h"
#include "analysis/events/schema.h"
#include "analysis/steps/step_align.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "base/str_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At most so many modules are looked at to find one that repeats. */
#define TRIES 16

enum { HLO_OP, HLO_MODULE, PROGRAM_ID, WANTED };

static const char *const names[WANTED] = {
	[HLO_OP] = "hlo_op",
	[HLO_MODULE] = "hlo_module",
	[PROGRAM_ID] = "program_id",
};

struct module {
	struct tfp_str name;
	uint64_t time_ps, events;
	bool tried;
};

struct finder {
	const struct tfp_capture *capture;
	struct tfp_executions *out;
	enum tfp_plane_kind kind;
	struct tfp_schema *schemas; /* by plane */
	struct module *modules;
	size_t module_count, module_room;
	struct tfp_str_map by_name;
	struct tfp_memo *memo;
	struct tfp_arena arena; /* names of modules while they are found */
};

static bool takes_part(const struct finder *f, size_t plane)
{
	return tfp_plane_kind(f->capture->planes[plane].name) == f->kind;
}

static bool has_modules(const struct finder *f, const struct tfp_line *line)
{
	return f->kind == TFP_PLANE_TPU ? tfp_str_equal(line->name, "XLA Modules")
					: !tfp_line_is_derived(line);
}

/* ---- modules ---- */

/* Index of the module, or UINT32_MAX without memory. */
static uint32_t module_of_name(struct finder *f, const char *name, size_t size)
{
	uint32_t known = tfp_str_map_find(&f->by_name, name, size);
	if (known != TFP_STR_MAP_NONE)
		return known;
	if (f->module_count > INT32_MAX || !TFP_GROW(f->modules, f->module_count, f->module_room))
		return UINT32_MAX;
	const char *kept = tfp_arena_strndup(&f->arena, name, size);
	uint32_t index = (uint32_t)f->module_count;
	if (!kept || tfp_str_map_add(&f->by_name, kept, size, index) == TFP_STR_MAP_NONE)
		return UINT32_MAX;
	f->modules[f->module_count++] = (struct module){.name = {kept, size}};
	return index;
}

/* A kernel's module: `name(program)`, as a TPU's line calls them. */
static uint32_t module_of_kernel(struct finder *f, struct tfp_str name, int64_t program,
				 bool has_program)
{
	struct tfp_memo_key key = {
		{name.data, (const void *)name.size, (const void *)(uintptr_t)program, f}};
	uint32_t index;
	char text[512];
	if (tfp_memo_find(f->memo, &key, &index))
		return index;
	size_t size = name.size < 400 ? name.size : 400;
	memcpy(text, name.data, size);
	if (has_program)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "(%" PRIu64 ")",
					 (uint64_t)program);
	index = module_of_name(f, text, size);
	if (index != UINT32_MAX)
		tfp_memo_put(f->memo, &key, index);
	return index;
}

struct kernel_facts {
	struct tfp_str module, op;
	int64_t program;
	bool has_program;
};

static struct kernel_facts read_kernel(const struct finder *f, size_t plane,
				       const struct tfp_line *line, size_t i)
{
	struct kernel_facts k = {{"", 0}, {"", 0}, 0, false};
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int name;
	while ((name = tfp_schema_next(&f->schemas[plane], &it, &stat)) >= 0) {
		switch (name) {
		case HLO_OP:
			tfp_stat_text(&f->capture->planes[plane], &stat, &k.op);
			break;
		case HLO_MODULE:
			tfp_stat_text(&f->capture->planes[plane], &stat, &k.module);
			break;
		case PROGRAM_ID:
			k.has_program = tfp_stat_int(&stat, &k.program);
			break;
		default:
			break;
		}
	}
	return k;
}

/* Module of an event: its index, SIZE_MAX for none. false without memory. */
static bool module_of_event(struct finder *f, size_t plane, const struct tfp_line *line, size_t i,
			    struct kernel_facts *kernel, size_t *module)
{
	uint32_t index;
	*module = SIZE_MAX;
	if (f->kind == TFP_PLANE_TPU) {
		struct tfp_str name = tfp_event_meta(&f->capture->planes[plane], line, i)->name;
		index = module_of_name(f, name.data, name.size);
	} else {
		*kernel = read_kernel(f, plane, line, i);
		if (kernel->module.size == 0)
			return true;
		index = module_of_kernel(f, kernel->module, kernel->program, kernel->has_program);
	}
	*module = index;
	return index != UINT32_MAX;
}

static bool sum_modules(struct finder *f)
{
	for (size_t p = 0; p < f->capture->plane_count; p++) {
		const struct tfp_plane *plane = &f->capture->planes[p];
		if (!takes_part(f, p) ||
		    (f->kind == TFP_PLANE_GPU && !tfp_schema_has(&f->schemas[p], HLO_MODULE)))
			continue;
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			for (size_t i = 0;
			     has_modules(f, line) && i < line->event_count && tfp_goes_on(i); i++) {
				struct kernel_facts k;
				size_t m;
				if (!module_of_event(f, p, line, i, &k, &m))
					return false;
				if (m == SIZE_MAX)
					continue;
				f->modules[m].events++;
				f->modules[m].time_ps += (uint64_t)tfp_event_duration_ps(line, i);
			}
		}
	}
	return true;
}

/* ---- executions of one module ---- */

/* An event of the module; key says which operation and kernel it is. */
struct piece {
	struct tfp_time_span span;
	uint64_t key;
	bool is_nested; /* in a loop or a branch of the module */
};

struct pieces {
	struct piece *list;
	size_t count, room;
	int64_t last_end_ps; /* of whatever the device did */
};

static bool add_piece(struct pieces *p, struct piece piece)
{
	if (!TFP_GROW(p->list, p->count, p->room))
		return false;
	p->list[p->count++] = piece;
	return true;
}

static bool collect(struct finder *f, size_t plane, size_t module, struct pieces *out)
{
	const struct tfp_plane *p = &f->capture->planes[plane];
	struct tfp_str_map ops = {0};
	bool ok = true;
	for (size_t l = 0; ok && l < p->line_count; l++) {
		const struct tfp_line *line = &p->lines[l];
		for (size_t i = 0;
		     ok && has_modules(f, line) && i < line->event_count && tfp_goes_on(i); i++) {
			struct kernel_facts k = {0};
			struct piece piece = {.span = tfp_event_span(line, i)};
			size_t m;
			if (out->last_end_ps < piece.span.end_ps)
				out->last_end_ps = piece.span.end_ps;
			ok = module_of_event(f, plane, line, i, &k, &m);
			if (!ok || m != module)
				continue;
			if (k.op.size) {
				uint32_t op = tfp_str_map_add(&ops, k.op.data, k.op.size,
							      (uint32_t)ops.count);
				ok = op != TFP_STR_MAP_NONE;
				piece.key = (uint64_t)op << 32;
				piece.is_nested = memmem(k.op.data, k.op.size, "::", 2) != NULL;
			}
			piece.key |= tfp_event_meta_index(line, i);
			ok = ok && add_piece(out, piece);
		}
	}
	tfp_str_map_release(&ops);
	return ok;
}

static int by_begin(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->span.begin_ps != y->span.begin_ps)
		return x->span.begin_ps < y->span.begin_ps ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static int by_key(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	return x->key == y->key ? by_begin(a, b) : x->key < y->key ? -1 : 1;
}

/* The kernel with which executions begin: of those outside of loops and branches
 * that run the fewest times, but twice at least, the one that comes first. One
 * time more is as few: the capture may cut off an execution. found: its key. */
static bool find_anchor(const struct pieces *p, bool nested, uint64_t *found)
{
	struct piece *list = tfp_reallocarray(NULL, p->count, sizeof(*list));
	size_t fewest = SIZE_MAX;
	int64_t first_ps = 0;
	bool any = false;
	if (!list)
		return false;
	memcpy(list, p->list, p->count * sizeof(*list));
	qsort(list, p->count, sizeof(*list), by_key);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0, end; i < p->count; i = end) {
			for (end = i + 1; end < p->count && list[end].key == list[i].key;)
				end++;
			size_t n = end - i;
			if (n < 2 || (list[i].is_nested && !nested))
				continue;
			if (pass == 0 && n < fewest)
				fewest = n;
			if (pass == 1 && n <= fewest + 1 &&
			    (!any || list[i].span.begin_ps < first_ps)) {
				any = true;
				first_ps = list[i].span.begin_ps;
				*found = list[i].key;
			}
		}
	}
	tfp_free(list);
	if (!any)
		*found = UINT64_MAX;
	return true;
}

static void end_last(struct tfp_time_span *spans, size_t count, int64_t end_ps,
		     int64_t device_end_ps)
{
	struct tfp_time_span *last = &spans[count - 1];
	int64_t longest = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		if (longest < spans[i].end_ps - spans[i].begin_ps)
			longest = spans[i].end_ps - spans[i].begin_ps;
	}
	last->end_ps =
		device_end_ps < last->begin_ps + longest ? device_end_ps : last->begin_ps + longest;
	if (last->end_ps < end_ps)
		last->end_ps = end_ps;
}

/* One span for each execution, as executions.h has it. Of a TPU every piece is one. */
static bool executions_of(const struct finder *f, struct pieces *p, struct tfp_time_span **spans,
			  size_t *count)
{
	uint64_t anchor = 0;
	bool is_tpu = f->kind == TFP_PLANE_TPU;
	int64_t last_end = INT64_MIN;
	*count = 0;
	*spans = NULL;
	if (p->count < 2)
		return true;
	qsort(p->list, p->count, sizeof(*p->list), by_begin);
	if (!is_tpu && !find_anchor(p, false, &anchor))
		return false;
	if (anchor == UINT64_MAX && !find_anchor(p, true, &anchor))
		return false;
	*spans = tfp_reallocarray(NULL, p->count, sizeof(**spans));
	if (!*spans)
		return false;
	for (size_t i = 0; i < p->count; i++) {
		struct tfp_time_span s = p->list[i].span;
		bool begins = is_tpu || p->list[i].key == anchor;
		/* Two that begin at once are no steps of their own. */
		if (begins && (*count == 0 || (*spans)[*count - 1].begin_ps < s.begin_ps)) {
			if (*count)
				(*spans)[*count - 1].end_ps = s.begin_ps;
			(*spans)[(*count)++].begin_ps = s.begin_ps;
			last_end = s.end_ps;
		} else if (last_end < s.end_ps) {
			last_end = s.end_ps;
		}
	}
	if (*count)
		end_last(*spans, *count, last_end, p->last_end_ps);
	return true;
}

/* ---- on all devices ---- */

struct plane_executions {
	struct tfp_time_span *spans;
	size_t count;
	int64_t shift;
};

/* The first of the planes with the most. */
static size_t busiest(const struct plane_executions *planes, size_t count)
{
	size_t best = 0;
	for (size_t p = 1; p < count; p++) {
		if (planes[p].count > planes[best].count)
			best = p;
	}
	return best;
}

/* TPU cores have executions of their own, which are aligned as hosts are; steps are those
 * that all have. */
static bool keep(struct finder *f, struct plane_executions *planes)
{
	struct tfp_executions *out = f->out;
	size_t chief = busiest(planes, out->plane_count);
	int64_t first = 0, last = (int64_t)planes[chief].count;
	if (planes[chief].count < 2)
		return true;
	for (size_t p = 0; f->kind == TFP_PLANE_TPU && p < out->plane_count; p++) {
		struct plane_executions *e = &planes[p];
		/* A core that runs it once is not aligned by that. */
		if (p == chief || e->count < 2)
			continue;
		if (!tfp_step_shift(planes[chief].spans, planes[chief].count, e->spans, e->count,
				    &e->shift))
			return false;
		if (first < e->shift)
			first = e->shift;
		if (last > e->shift + (int64_t)e->count)
			last = e->shift + (int64_t)e->count;
	}
	if (last - first < 2)
		return true;
	out->count = (size_t)(last - first);
	out->chief = chief;
	for (size_t p = 0; p < out->plane_count; p++) {
		const struct plane_executions *e = &planes[f->kind == TFP_PLANE_TPU ? p : chief];
		if (!takes_part(f, p) || e->count < 2)
			continue;
		struct tfp_time_span *kept =
			tfp_arena_zalloc(&out->arena, out->count, sizeof(*kept));
		if (!kept)
			return false;
		memcpy(kept, &e->spans[first - e->shift], out->count * sizeof(*kept));
		out->spans[p] = kept;
	}
	return true;
}

static bool try_module(struct finder *f, size_t module)
{
	struct tfp_executions *out = f->out;
	struct plane_executions *planes = tfp_calloc(out->plane_count + 1, sizeof(*planes));
	bool ok = planes != NULL;
	for (size_t p = 0; ok && p < out->plane_count; p++) {
		struct pieces pieces = {.last_end_ps = INT64_MIN};
		if (!takes_part(f, p))
			continue;
		ok = collect(f, p, module, &pieces) &&
		     executions_of(f, &pieces, &planes[p].spans, &planes[p].count);
		tfp_free(pieces.list);
	}
	ok = ok && keep(f, planes);
	if (ok && out->count) {
		struct tfp_str name = f->modules[module].name;
		out->module.data = tfp_arena_strndup(&out->arena, name.data, name.size);
		out->module.size = name.size;
		ok = out->module.data != NULL;
	}
	for (size_t p = 0; planes && p < out->plane_count; p++)
		tfp_free(planes[p].spans);
	tfp_free(planes);
	return ok;
}

static bool find(struct finder *f)
{
	if (!sum_modules(f))
		return false;
	for (size_t n = 0; n < TRIES && f->out->count == 0; n++) {
		size_t best = SIZE_MAX;
		for (size_t m = 0; m < f->module_count; m++) {
			const struct module *x = &f->modules[m];
			if (!x->tried && x->events >= 2 && x->time_ps > 0 &&
			    (best == SIZE_MAX || x->time_ps > f->modules[best].time_ps))
				best = m;
		}
		if (best == SIZE_MAX)
			break;
		f->modules[best].tried = true;
		if (!try_module(f, best))
			return false;
	}
	return true;
}

static bool prepare(struct finder *f)
{
	const struct tfp_capture *c = f->capture;
	f->kind = TFP_PLANE_GPU;
	f->schemas = tfp_calloc(c->plane_count + 1, sizeof(*f->schemas));
	f->memo = tfp_memo_new(1024);
	f->out->plane_count = c->plane_count;
	f->out->spans =
		tfp_arena_zalloc(&f->out->arena, c->plane_count + 1, sizeof(*f->out->spans));
	if (!f->schemas || !f->memo || !f->out->spans)
		return false;
	for (size_t p = 0; p < c->plane_count; p++) {
		if (tfp_plane_kind(c->planes[p].name) == TFP_PLANE_TPU)
			f->kind = TFP_PLANE_TPU;
		if (tfp_schema_init(&f->schemas[p], &c->planes[p], names, WANTED, NULL) != TFP_OK)
			return false;
	}
	return true;
}

static void free_executions(void *fact)
{
	struct tfp_executions *e = fact;
	tfp_arena_release(&e->arena);
	tfp_free(e);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_executions *e = tfp_calloc(1, sizeof(*e));
	struct finder f = {.capture = capture, .out = e};
	(void)pool;
	bool ok = e != NULL;
	if (ok) {
		tfp_arena_init(&e->arena, SIZE_MAX);
		tfp_arena_init(&f.arena, SIZE_MAX);
		e->module = (struct tfp_str){"", 0};
		ok = prepare(&f) && find(&f);
		for (size_t p = 0; f.schemas && p < capture->plane_count; p++)
			tfp_schema_release(&f.schemas[p]);
		tfp_free(f.schemas);
		tfp_free(f.memo);
		tfp_free(f.modules);
		tfp_str_map_release(&f.by_name);
		tfp_arena_release(&f.arena);
	}
	if (!ok) {
		if (e)
			free_executions(e);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the executions of modules");
	}
	*heap_bytes = sizeof(*e) + e->arena.bytes;
	*fact = e;
	return TFP_OK;
}

enum tfp_status tfp_executions_get(struct tfp_capture *capture, struct tfp_pool *pool,
				   const struct tfp_executions **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_executions};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

int32_t tfp_execution_at(const struct tfp_executions *e, size_t plane, int64_t ps)
{
	const struct tfp_time_span *spans = e->spans[plane] ? e->spans[plane] : e->spans[e->chief];
	size_t low = 0, high = e->count;
	/* The last that begins by then. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spans[middle].begin_ps <= ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low && ps < spans[low - 1].end_ps ? (int32_t)(low - 1) : -1;
}
