/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_gpu.h"

#include "analysis/events/memo.h"
#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "analysis/timeline/derived_launches.h"
#include "analysis/timeline/derived_ops.h"
#include "analysis/timeline/derived_sort.h"
#include "analysis/timeline/derived_steps.h"
#include "base/alloc.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- streams ---- */

enum {
	HLO_OP,
	HLO_MODULE,
	PROGRAM_ID,
	KERNEL_DETAILS,
	TF_OP,
	GRAPH_EXEC_ID,
	GRAPH_ID,
	CORRELATION_ID,
	RANGE_ID,
	WANTED
};

static const char *const stat_names[WANTED] = {
	[HLO_OP] = "hlo_op",
	[HLO_MODULE] = "hlo_module",
	[PROGRAM_ID] = "program_id",
	[KERNEL_DETAILS] = "kernel_details",
	[TF_OP] = "tf_op",
	[GRAPH_EXEC_ID] = "cuda_graph_exec_id",
	[GRAPH_ID] = "cuda_graph_id",
	[CORRELATION_ID] = "correlation_id",
	[RANGE_ID] = "scope_range_id",
};

struct facts {
	struct tfp_str hlo_op, hlo_module, tf_op;
	bool is_kernel;
	uint32_t present; /* bits, of those that are numbers */
	int64_t number[WANTED];
};

static bool has(const struct facts *f, int stat)
{
	return f->present & 1u << stat;
}

static void read_facts(const struct tfp_plane *plane, const struct tfp_schema *schema,
		       const struct tfp_line *line, size_t i, struct facts *f)
{
	const struct tfp_str none = {"", 0};
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	struct tfp_str details = none;
	int which;
	f->hlo_op = f->hlo_module = f->tf_op = none;
	f->present = 0;
	while ((which = tfp_schema_next(schema, &it, &stat)) >= 0) {
		switch (which) {
		case HLO_OP:
			tfp_stat_text(plane, &stat, &f->hlo_op);
			break;
		case HLO_MODULE:
			tfp_stat_text(plane, &stat, &f->hlo_module);
			break;
		case TF_OP:
			tfp_stat_text(plane, &stat, &f->tf_op);
			break;
		case KERNEL_DETAILS:
			tfp_stat_text(plane, &stat, &details);
			break;
		default:
			if (tfp_stat_int(&stat, &f->number[which]))
				f->present |= 1u << which;
			break;
		}
	}
	f->is_kernel = details.size > 0;
}

/* What is known of events of one kind. */
struct kind_facts {
	struct facts facts;
	bool is_known;
};

/* Ids of ranges, child and parent, ascending by child: the plane that holds them
 * uses a stat's id for the child. */
struct range {
	int64_t child, parent;
};

struct ranges {
	struct range *list;
	size_t count;
};

static int by_child(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	return x->child < y->child ? -1 : x->child > y->child;
}

static enum tfp_status read_ranges(const struct tfp_capture *capture, struct ranges *ranges,
				   struct tfp_error *err)
{
	const struct tfp_plane *plane =
		tfp_capture_find_plane(capture, "/host:__ScopeRangeCallStack__");
	size_t room = 0;
	*ranges = (struct ranges){0};
	if (!plane)
		return TFP_OK;
	struct tfp_stat_iter it = tfp_plane_stats(plane);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		struct range range = {stat.metadata_id, 0};
		if (!tfp_stat_int(&stat, &range.parent))
			continue;
		if (!TFP_GROW(ranges->list, ranges->count, room))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
		ranges->list[ranges->count++] = range;
	}
	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list), by_child);
	return TFP_OK;
}

static bool parent_range(const struct ranges *ranges, int64_t id, int64_t *parent)
{
	const struct range key = {id, 0};
	const struct range *found =
		ranges->count ? bsearch(&key, ranges->list, ranges->count, sizeof(key), by_child)
			      : NULL;
	if (found)
		*parent = found->parent;
	return found != NULL;
}

/* The ranges around a kernel, outermost first; 0 when there are none or too many. */
static size_t ranges_of(const struct ranges *ranges, const struct facts *f,
			int64_t ids[TFP_DERIVED_LEVELS_MAX])
{
	size_t n = 0;
	if (!has(f, RANGE_ID))
		return 0;
	int64_t id = f->number[RANGE_ID];
	do {
		if (n == TFP_DERIVED_LEVELS_MAX)
			return 0; /* a ring */
		ids[n++] = id;
	} while (parent_range(ranges, id, &id));
	for (size_t i = 0; i < n / 2; i++) {
		int64_t swap = ids[i];
		ids[i] = ids[n - 1 - i];
		ids[n - 1 - i] = swap;
	}
	return n;
}

/* An XLA op: what its events on derived lines are called. */
struct hlo_op {
	uint32_t first_level, level_count; /* ops in ops, outermost first */
	uint32_t framework_op;             /* or TFP_DERIVED_NO_OP */
	uint32_t source;                   /* number of a name, or NO_NAME */
};

#define NO_NAME UINT32_MAX

/* A plane and what is known of its ops. Many events share few ops. */
struct gpu {
	struct tfp_derived_plane *out;
	const struct tfp_derived_source *source;
	struct ranges ranges;
	struct tfp_schema schema;
	struct tfp_derived_ops framework_ops;
	struct tfp_memo *module_names;  /* number of the name, by module and program */
	struct tfp_memo *op_memo;       /* place in ops, by op, module and program */
	struct tfp_str_map ops_by_text; /* the same */
	struct hlo_op *ops;
	uint32_t op_count;
	size_t op_room;
	uint32_t *levels; /* numbers of names */
	size_t level_count, level_room;
	struct kind_facts *kinds; /* of the stream */
	size_t kind_room;
};

/* The lines that are derived from a stream. */
struct stream {
	struct tfp_derived_line scopes, ops, modules, hlo_ops, source;
};

/* `<program id>/<op>`, or `<module>/<op>`, so that ops of one name in different modules
 * stay apart. */
static uint32_t hlo_op_name(struct tfp_derived_plane *out, const struct facts *f, struct tfp_str op)
{
	struct tfp_buf key;
	tfp_buf_init(&key, SIZE_MAX / 2);
	if (has(f, PROGRAM_ID))
		tfp_buf_printf(&key, "%" PRIu64 "/", (uint64_t)f->number[PROGRAM_ID]);
	else {
		tfp_buf_add(&key, f->hlo_module.data, f->hlo_module.size);
		tfp_buf_putc(&key, '/');
	}
	tfp_buf_add(&key, op.data, op.size);
	out->failed |= tfp_buf_failed(&key);
	uint32_t name = tfp_derived_name(out, (struct tfp_str){tfp_buf_text(&key), key.size}, op);
	tfp_buf_release(&key);
	return name;
}

static uint32_t make_module_name(struct tfp_derived_plane *out, const struct facts *f)
{
	struct tfp_buf name;
	tfp_buf_init(&name, SIZE_MAX / 2);
	tfp_buf_add(&name, f->hlo_module.data, f->hlo_module.size);
	if (has(f, PROGRAM_ID))
		tfp_buf_printf(&name, "(%" PRIu64 ")", (uint64_t)f->number[PROGRAM_ID]);
	out->failed |= tfp_buf_failed(&name);
	uint32_t index = tfp_derived_name(out, (struct tfp_str){tfp_buf_text(&name), name.size},
					  (struct tfp_str){"", 0});
	tfp_buf_release(&name);
	return index;
}

static const void *program_of(const struct facts *f)
{
	return (const void *)(uintptr_t)f->number[PROGRAM_ID];
}

static uint32_t module_name(struct gpu *g, const struct facts *f)
{
	const bool program = has(f, PROGRAM_ID);
	const struct tfp_memo_key key = {{f->hlo_module.data,
					  (const void *)(uintptr_t)f->hlo_module.size,
					  program ? program_of(f) : NULL, program ? g : NULL}};
	uint32_t name;
	if (tfp_memo_find(g->module_names, &key, &name))
		return name;
	name = make_module_name(g->out, f);
	tfp_memo_put(g->module_names, &key, name);
	return name;
}

/* `<file>:<line>` without the file's path. */
static uint32_t source_name(struct tfp_derived_plane *out,
			    const struct tfp_hlo_instruction *instruction)
{
	struct tfp_str file = instruction->source_file;
	struct tfp_buf name;
	for (size_t i = file.size; i > 0; i--) {
		if (file.data[i - 1] == '/') {
			file = (struct tfp_str){file.data + i, file.size - i};
			break;
		}
	}
	tfp_buf_init(&name, SIZE_MAX / 2);
	tfp_buf_add(&name, file.data, file.size);
	tfp_buf_printf(&name, ":%" PRId32, instruction->source_line);
	out->failed |= tfp_buf_failed(&name);
	uint32_t index = tfp_derived_name(out, (struct tfp_str){tfp_buf_text(&name), name.size},
					  (struct tfp_str){"", 0});
	tfp_buf_release(&name);
	return index;
}

static bool add_level(struct gpu *g, uint32_t name)
{
	if (!TFP_GROW(g->levels, g->level_count, g->level_room))
		return false;
	g->levels[g->level_count++] = name;
	return true;
}

/* Ops in ops, joined with "::", outermost first. The innermost comes out in *inner. */
static bool split_ops(struct gpu *g, const struct facts *f, struct hlo_op *op,
		      struct tfp_str *inner)
{
	struct tfp_str rest = f->hlo_op;
	op->first_level = (uint32_t)g->level_count;
	while (op->level_count < TFP_DERIVED_LEVELS_MAX) {
		const char *next = rest.size ? memmem(rest.data, rest.size, "::", 2) : NULL;
		size_t size = next ? (size_t)(next - rest.data) : rest.size;
		*inner = (struct tfp_str){rest.data, size};
		if (!add_level(g, hlo_op_name(g->out, f, *inner)))
			return false;
		op->level_count++;
		if (!next)
			break;
		rest = (struct tfp_str){next + 2, rest.size - size - 2};
	}
	return true;
}

static bool make_hlo_op(struct gpu *g, const struct facts *f, struct hlo_op *op)
{
	struct tfp_str inner = {"", 0};
	*op = (struct hlo_op){.framework_op = TFP_DERIVED_NO_OP, .source = NO_NAME};
	if (!split_ops(g, f, op, &inner))
		return false;
	if (!has(f, PROGRAM_ID))
		return true;
	const struct tfp_hlo_instruction *instruction =
		tfp_hlo_find(g->source->modules, (uint64_t)f->number[PROGRAM_ID], inner);
	if (!instruction)
		return true;
	/* An instruction that says nothing of its op has a name of two empty parts. */
	struct tfp_str fullname = instruction->op_fullname;
	if (fullname.size == 0)
		fullname = (struct tfp_str){":", 1};
	op->framework_op = tfp_derived_op(&g->framework_ops, fullname);
	if (instruction->source_file.size)
		op->source = source_name(g->out, instruction);
	return !g->out->failed;
}

/* Tells ops of one text in different modules apart. */
static struct tfp_str op_key(struct gpu *g, const struct facts *f, struct tfp_buf *key)
{
	if (has(f, PROGRAM_ID)) {
		tfp_buf_printf(key, "%" PRIu64 "/", (uint64_t)f->number[PROGRAM_ID]);
	} else {
		tfp_buf_printf(key, "m%zu/", f->hlo_module.size);
		tfp_buf_add(key, f->hlo_module.data, f->hlo_module.size);
	}
	tfp_buf_add(key, f->hlo_op.data, f->hlo_op.size);
	g->out->failed |= tfp_buf_failed(key);
	return (struct tfp_str){tfp_buf_text(key), key->size};
}

static uint32_t add_hlo_op(struct gpu *g, const struct facts *f, struct tfp_str key)
{
	if (!TFP_GROW(g->ops, g->op_count, g->op_room))
		return TFP_STR_MAP_NONE;
	char *kept = tfp_arena_strndup(&g->out->arena, key.data, key.size);
	if (!kept || !make_hlo_op(g, f, &g->ops[g->op_count]) ||
	    tfp_str_map_add(&g->ops_by_text, kept, key.size, g->op_count) != g->op_count)
		return TFP_STR_MAP_NONE;
	return g->op_count++;
}

/* NULL when something failed. */
static const struct hlo_op *hlo_op_of(struct gpu *g, const struct facts *f)
{
	const bool program = has(f, PROGRAM_ID);
	const struct tfp_memo_key memo_key = {
		{f->hlo_op.data, (const void *)(uintptr_t)f->hlo_op.size,
		 program ? program_of(f) : f->hlo_module.data,
		 program ? (const void *)g : (const void *)(uintptr_t)f->hlo_module.size}};
	uint32_t op;
	if (g->out->failed)
		return NULL;
	if (tfp_memo_find(g->op_memo, &memo_key, &op))
		return &g->ops[op];
	struct tfp_buf text;
	tfp_buf_init(&text, SIZE_MAX / 2);
	const struct tfp_str key = op_key(g, f, &text);
	op = tfp_str_map_find(&g->ops_by_text, key.data, key.size);
	if (op == TFP_STR_MAP_NONE)
		op = add_hlo_op(g, f, key);
	tfp_buf_release(&text);
	if (op == TFP_STR_MAP_NONE) {
		g->out->failed = true;
		return NULL;
	}
	tfp_memo_put(g->op_memo, &memo_key, op);
	return &g->ops[op];
}

static void derive_op(struct gpu *g, struct stream *s, const struct facts *f,
		      const int64_t *range_ids, size_t range_count, struct tfp_derived_span span,
		      int32_t group)
{
	const struct hlo_op *op = hlo_op_of(g, f);
	if (!op)
		return;
	tfp_derived_expand(&s->hlo_ops, g->levels + op->first_level,
			   range_count == op->level_count ? range_ids : NULL, op->level_count, span,
			   group);
	if (has(f, GRAPH_ID) && f->number[GRAPH_ID] != 0) {
		/* Of its first kernel, where an op has several. */
		size_t event = tfp_derived_open_event(&s->hlo_ops, op->level_count - 1);
		if (event != SIZE_MAX && tfp_derived_event_at(&s->hlo_ops, event)->extra == 0) {
			tfp_derived_put_int(&s->hlo_ops, event, TFP_DERIVED_CUDA_GRAPH_ID,
					    f->number[GRAPH_ID]);
			if (has(f, CORRELATION_ID))
				tfp_derived_put_int(&s->hlo_ops, event, TFP_DERIVED_CORRELATION_ID,
						    f->number[CORRELATION_ID]);
		}
	}
	tfp_derive_framework_op(&g->framework_ops, op->framework_op, &s->scopes, &s->ops, span,
				group);
	if (op->source != NO_NAME)
		tfp_derived_expand_one(&s->source, op->source, NULL, span, group);
}

static void derive_kernel(struct gpu *g, struct stream *s, const struct facts *f,
			  struct tfp_derived_span span, int32_t group)
{
	int64_t ids[TFP_DERIVED_LEVELS_MAX];
	size_t range_count = 0;
	if (f->hlo_module.size || f->hlo_op.size)
		range_count = ranges_of(&g->ranges, f, ids);
	if (f->hlo_module.size)
		tfp_derived_expand_one(&s->modules, module_name(g, f), range_count ? &ids[0] : NULL,
				       span, group);
	if (f->hlo_op.size)
		derive_op(g, s, f, ids, range_count, span, group);
	else if (f->tf_op.size)
		tfp_derive_framework_op(&g->framework_ops,
					tfp_derived_op(&g->framework_ops, f->tf_op), &s->scopes,
					&s->ops, span, group);
}

static void write_line(struct tfp_derived_line *line, int64_t id, int64_t display_id,
		       const char *name, int64_t stream)
{
	char full[96];
	snprintf(full, sizeof(full), "%s - from #%" PRId64, name, stream);
	tfp_derived_line_write(line, id, display_id, (struct tfp_str){full, strlen(full)});
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

/* The stats of an event. Events of one kind differ in ids of ranges and correlation ids. */
static void facts_of(struct gpu *g, const struct tfp_line *line, const struct tfp_line_stats *stats,
		     size_t i, struct facts *f)
{
	const struct tfp_plane *plane = g->source->plane;
	uint32_t kind = tfp_schema_has(&g->schema, RANGE_ID) ? TFP_NO_KIND : tfp_kind_of(stats, i);
	if (kind == TFP_NO_KIND) {
		read_facts(plane, &g->schema, line, i, f);
		return;
	}
	struct kind_facts *k = &g->kinds[kind];
	if (!k->is_known) {
		read_facts(plane, &g->schema, line, i, &k->facts);
		k->facts.present &= ~(1u << CORRELATION_ID);
		k->is_known = true;
	}
	*f = k->facts;
	if (tfp_event_set_has(&stats->correlated, i)) {
		f->present |= 1u << CORRELATION_ID;
		f->number[CORRELATION_ID] = (int64_t)tfp_correlation_of(stats, i);
	}
}

static void derive_event(struct gpu *g, struct stream *s, size_t l, size_t i)
{
	const struct tfp_derived_source *source = g->source;
	const struct tfp_line *line = &source->plane->lines[l];
	struct facts f;
	facts_of(g, line, &source->stats[l], i, &f);
	if (f.is_kernel || has(&f, GRAPH_EXEC_ID))
		derive_kernel(g, s, &f, tfp_derived_span_of(line, i),
			      tfp_group_of(source->groups, source->plane_index, l, i));
}

/* In the order of tfp_derived_sorted, which is that of the line nearly always. */
static bool derive_events(struct gpu *g, struct stream *s, size_t l)
{
	const struct tfp_line *line = &g->source->plane->lines[l];
	size_t count;
	if (tfp_derived_is_sorted(line)) {
		for (size_t i = 0; i < line->event_count && tfp_derived_goes_on(g->out, i); i++)
			derive_event(g, s, l, i);
		return true;
	}
	struct tfp_derived_ref *events = tfp_derived_sorted(g->source->plane, line, true, &count);
	for (size_t i = 0; events && i < count && tfp_derived_goes_on(g->out, i); i++)
		derive_event(g, s, l, events[i].event);
	tfp_free(events);
	return events != NULL;
}

static enum tfp_status derive_stream(struct gpu *g, const struct tfp_line *line, size_t rank)
{
	struct tfp_derived_plane *out = g->out;
	const size_t l = (size_t)(line - g->source->plane->lines);
	struct stream s;
	if (!make_room(g, g->source->stats[l].kind_count))
		return TFP_NO_MEMORY;
	tfp_derived_line_init(&s.scopes, out, true);
	tfp_derived_line_init(&s.ops, out, true);
	tfp_derived_line_init(&s.modules, out, true);
	tfp_derived_line_init(&s.hlo_ops, out, true);
	tfp_derived_line_init(&s.source, out, true);
	s.scopes.dependents[0] = &s.ops;
	s.modules.dependents[0] = &s.scopes;
	s.modules.dependents[1] = &s.hlo_ops;
	out->failed |= !derive_events(g, &s, l);
	/* Each stream takes six numbers, used or not: its own, and five for derived lines. */
	int64_t id = TFP_LINE_STREAMS + (int64_t)rank * 6, display = (int64_t)rank * 6 + 1;
	tfp_derived_place_line(out, line, display);
	write_line(&s.scopes, id, display + 1, "Framework Name Scope", line->id);
	write_line(&s.ops, id + 1, display + 2, "Framework Ops", line->id);
	write_line(&s.modules, id + 2, display + 3, "XLA Modules", line->id);
	write_line(&s.hlo_ops, id + 3, display + 4, "XLA Ops", line->id);
	write_line(&s.source, id + 5, display + 5, "Source code", line->id);
	tfp_derived_line_release(&s.scopes);
	tfp_derived_line_release(&s.ops);
	tfp_derived_line_release(&s.modules);
	tfp_derived_line_release(&s.hlo_ops);
	tfp_derived_line_release(&s.source);
	return TFP_OK;
}

static bool is_compute(const struct tfp_line *line)
{
	return line->name.size && memmem(line->name.data, line->name.size, "Compute", 7);
}

static bool stream_before(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_plane *plane = context;
	const struct tfp_line *x = &plane->lines[a], *y = &plane->lines[b];
	bool x_derived = tfp_line_is_derived(x), y_derived = tfp_line_is_derived(y);
	if (x_derived != y_derived)
		return y_derived;
	if (is_compute(x) != is_compute(y))
		return is_compute(x);
	return x->event_count > y->event_count;
}

static enum tfp_status derive_streams(struct gpu *g, struct tfp_error *err)
{
	const struct tfp_plane *plane = g->source->plane;
	uint32_t *order = tfp_sort_indexes(plane->line_count, stream_before, plane);
	enum tfp_status status = order ? TFP_OK : TFP_NO_MEMORY;
	for (size_t i = 0; status == TFP_OK && i < plane->line_count; i++) {
		const struct tfp_line *line = &plane->lines[order[i]];
		/* There are ids for so many streams; the others have no derived lines. */
		if (tfp_line_is_derived(line) ||
		    TFP_LINE_STREAMS + (int64_t)(i + 1) * 6 > TFP_LINE_STREAMS_END - 1)
			break;
		status = derive_stream(g, line, i);
	}
	tfp_free(order);
	return status == TFP_OK ? status : tfp_fail(err, status, "no memory for derived lines");
}

/* With the plane's streams. */
static enum tfp_status derive_ops(struct tfp_derived_plane *out,
				  const struct tfp_derived_source *source, struct tfp_error *err)
{
	struct gpu g = {.out = out,
			.source = source,
			.module_names = tfp_memo_new(256),
			.op_memo = tfp_memo_new(4096)};
	out->failed |= !g.module_names || !g.op_memo;
	tfp_derived_ops_init(&g.framework_ops, out);
	enum tfp_status status = read_ranges(source->capture, &g.ranges, err);
	if (status == TFP_OK)
		status = tfp_schema_init(&g.schema, source->plane, stat_names, WANTED, err);
	if (status == TFP_OK && !out->failed)
		status = derive_streams(&g, err);
	tfp_schema_release(&g.schema);
	tfp_derived_ops_release(&g.framework_ops);
	tfp_str_map_release(&g.ops_by_text);
	tfp_free(g.module_names);
	tfp_free(g.op_memo);
	tfp_free(g.ops);
	tfp_free(g.levels);
	tfp_free(g.kinds);
	tfp_free(g.ranges.list);
	return status;
}

enum tfp_status tfp_derive_gpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (source->plane->line_count == 0)
		return TFP_OK;
	status = tfp_derive_steps(out, source, err);
	if (status == TFP_OK)
		status = derive_ops(out, source, err);
	if (status == TFP_OK)
		tfp_derive_launches(out, source->groups, source->launches, source->device_index);
	return status;
}
