#include "analysis/derived_device.h"

#include "analysis/op_name.h"
#include "analysis/schema.h"
#include "base/alloc.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shared with TPUs ---- */

static bool before(const struct tfp_derived_ref *x, const struct tfp_derived_ref *y)
{
	if (x->span.begin_ps != y->span.begin_ps)
		return x->span.begin_ps < y->span.begin_ps;
	return x->span.end_ps < y->span.end_ps;
}

static void swap(struct tfp_derived_ref *x, struct tfp_derived_ref *y)
{
	struct tfp_derived_ref z = *x;
	*x = *y;
	*y = z;
}

static struct tfp_derived_ref *median(struct tfp_derived_ref *x, struct tfp_derived_ref *y,
				      struct tfp_derived_ref *z)
{
	if (before(x, y))
		return before(y, z) ? y : before(x, z) ? z : x;
	return before(x, z) ? x : before(y, z) ? z : y;
}

/* What lies before the pivot a[0], which is no larger than something in the rest and no
 * smaller than something else of it, goes to the front. Returns where the back begins. */
static size_t divide(struct tfp_derived_ref *a, size_t n)
{
	size_t low = 1, high = n;
	for (;;) {
		while (before(&a[low], &a[0]))
			low++;
		do
			high--;
		while (before(&a[0], &a[high]));
		if (low >= high)
			return low;
		swap(&a[low++], &a[high]);
	}
}

static void sift(struct tfp_derived_ref *a, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && before(&a[child], &a[child + 1]))
			child++;
		if (!before(&a[at], &a[child]))
			return;
		swap(&a[at], &a[child]);
	}
}

/* For what does not divide well. */
static void heap_sort(struct tfp_derived_ref *a, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(a, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(&a[0], &a[end]);
		sift(a, 0, end);
	}
}

#define FEW 16u /* so many are left to the insertions at the end */

/*
 * The peers sort with GNU C++'s std::sort, which keeps no order among events of one
 * begin and length, and what they derive shows it: which row a copy lies in depends on
 * which of two that end at once comes first. So the steps are the same here: divide
 * by the median of three (the second, the middle, the last) until parts are small,
 * then insert.
 */
static void sort_as_peers(struct tfp_derived_ref *a, size_t n)
{
	struct {
		size_t first, last;
		unsigned left;
	} todo[2 * 64 + 1];
	size_t count = 0;
	unsigned levels = 0;
	for (size_t m = n; m > 1; m >>= 1)
		levels += 2;
	todo[count].first = 0;
	todo[count].last = n;
	todo[count++].left = levels;
	while (count > 0) {
		size_t first = todo[count - 1].first, last = todo[count - 1].last;
		unsigned left = todo[--count].left;
		while (last - first > FEW) {
			if (left-- == 0) {
				heap_sort(a + first, last - first);
				break;
			}
			swap(&a[first],
			     median(&a[first + 1], &a[first + (last - first) / 2], &a[last - 1]));
			size_t cut = first + divide(a + first, last - first);
			todo[count].first = cut;
			todo[count].last = last;
			todo[count++].left = left;
			last = cut;
		}
	}
	for (size_t i = 1; i < n; i++) {
		struct tfp_derived_ref ref = a[i];
		size_t at = i;
		for (; at > 0 && before(&ref, &a[at - 1]); at--)
			a[at] = a[at - 1];
		a[at] = ref;
	}
}

static struct tfp_derived_span span_of(const struct tfp_line *line, size_t i)
{
	struct tfp_derived_span span;
	span.begin_ps = tfp_event_start_ps(line, i);
	if (__builtin_add_overflow(span.begin_ps, tfp_event_duration_ps(line, i), &span.end_ps))
		span.end_ps = INT64_MAX;
	return span;
}

/* Of one line (only), or of all. */
static struct tfp_derived_ref *sorted_events(const struct tfp_plane *plane,
					     const struct tfp_line *only, bool with_derived,
					     size_t *count)
{
	size_t room = 0, n = 0;
	for (size_t l = 0; l < plane->line_count; l++) {
		if (!only || only == &plane->lines[l])
			room += plane->lines[l].event_count;
	}
	struct tfp_derived_ref *all = tfp_reallocarray(NULL, room, sizeof(*all));
	*count = 0;
	if (!all)
		return NULL;
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		if ((only && only != line) || (!with_derived && tfp_line_is_derived(line)))
			continue;
		for (size_t i = 0; i < line->event_count; i++)
			all[n++] = (struct tfp_derived_ref){span_of(line, i), (uint32_t)l,
							    (uint32_t)i};
	}
	*count = n;
	sort_as_peers(all, n);
	return all;
}

struct tfp_derived_ref *tfp_derived_sorted(const struct tfp_plane *plane, bool with_derived,
					   size_t *count)
{
	return sorted_events(plane, NULL, with_derived, count);
}

/* What the peers show for an op (TfOpEventName); text is for what has to be made. */
static struct tfp_str event_name(const struct tfp_op_name *op, struct tfp_buf *text)
{
	struct tfp_str s = op->name;
	size_t last = s.size;
	switch (op->category) {
	case TFP_OP_UNKNOWN:
		while (s.size && memchr(" \t\n\v\f\r", s.data[s.size - 1], 6))
			s.size--;
		return s;
	case TFP_OP_TF_DATA:
		while (last >= 2 && memcmp(s.data + last - 2, "::", 2) != 0)
			last--;
		last = last >= 2 ? last : 0;
		tfp_buf_puts(text, "Iterator::");
		tfp_buf_add(text, s.data + last, s.size - last);
		return (struct tfp_str){tfp_buf_text(text), text->size};
	default:
		return op->type;
	}
}

void tfp_derive_framework_op(struct tfp_derived_line *scopes, struct tfp_derived_line *ops,
			     struct tfp_str fullname, struct tfp_derived_span span, int32_t group)
{
	struct tfp_op_name op = tfp_op_name_parse(fullname);
	const struct tfp_str none = {"", 0};
	if (op.category == TFP_OP_TENSORFLOW || op.category == TFP_OP_JAX) {
		uint32_t names[TFP_DERIVED_LEVELS_MAX];
		size_t count = 0, from = 0;
		for (size_t i = 0; i < op.name.size && count < TFP_DERIVED_LEVELS_MAX; i++) {
			if (op.name.data[i] != '/')
				continue;
			names[count++] = tfp_derived_name(
				scopes->plane, (struct tfp_str){op.name.data + from, i - from},
				none);
			from = i + 1;
		}
		tfp_derived_expand(scopes, names, NULL, count, span, group);
	}
	struct tfp_buf text;
	tfp_buf_init(&text, SIZE_MAX / 2);
	uint32_t name = tfp_derived_name(ops->plane, fullname, event_name(&op, &text));
	ops->plane->failed |= tfp_buf_failed(&text);
	tfp_buf_release(&text);
	tfp_derived_expand_one(ops, name, NULL, span, group);
}

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
	*f = (struct facts){.hlo_op = none, .hlo_module = none, .tf_op = none};
	while (tfp_stat_next(&it, &stat)) {
		int which = tfp_schema_of(schema, &stat);
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
		case PROGRAM_ID:
		case GRAPH_EXEC_ID:
		case GRAPH_ID:
		case CORRELATION_ID:
		case RANGE_ID:
			if (tfp_stat_int(&stat, &f->number[which]))
				f->present |= 1u << which;
			break;
		default:
			break;
		}
	}
	f->is_kernel = details.size > 0;
}

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
		if (ranges->count == room) {
			room = room ? room * 2 : 256;
			void *list = tfp_reallocarray(ranges->list, room, sizeof(range));
			if (!list)
				return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
			ranges->list = list;
		}
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

static uint32_t module_name(struct tfp_derived_plane *out, const struct facts *f)
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

/* Ops in ops, joined with "::", outermost first. The innermost comes out in *inner. */
static size_t split_ops(struct tfp_derived_plane *out, const struct facts *f,
			uint32_t names[TFP_DERIVED_LEVELS_MAX], struct tfp_str *inner)
{
	struct tfp_str rest = f->hlo_op;
	size_t n = 0;
	while (n < TFP_DERIVED_LEVELS_MAX) {
		const char *next = rest.size ? memmem(rest.data, rest.size, "::", 2) : NULL;
		size_t size = next ? (size_t)(next - rest.data) : rest.size;
		*inner = (struct tfp_str){rest.data, size};
		names[n++] = hlo_op_name(out, f, *inner);
		if (!next)
			break;
		rest = (struct tfp_str){next + 2, rest.size - size - 2};
	}
	return n;
}

static void derive_op(struct stream *s, const struct tfp_derived_source *source,
		      const struct facts *f, const int64_t *range_ids, size_t range_count,
		      struct tfp_derived_span span, int32_t group)
{
	struct tfp_derived_plane *out = s->ops.plane;
	uint32_t names[TFP_DERIVED_LEVELS_MAX];
	struct tfp_str inner = {"", 0};
	size_t levels = split_ops(out, f, names, &inner);
	tfp_derived_expand(&s->hlo_ops, names, range_count == levels ? range_ids : NULL, levels,
			   span, group);
	if (has(f, GRAPH_ID) && f->number[GRAPH_ID] != 0) {
		/* Of its first kernel, where an op has several. */
		size_t event = tfp_derived_open_event(&s->hlo_ops, levels - 1);
		if (event != SIZE_MAX && s->hlo_ops.events[event].extra == 0) {
			tfp_derived_put_int(&s->hlo_ops, event, TFP_DERIVED_CUDA_GRAPH_ID,
					    f->number[GRAPH_ID]);
			if (has(f, CORRELATION_ID))
				tfp_derived_put_int(&s->hlo_ops, event, TFP_DERIVED_CORRELATION_ID,
						    f->number[CORRELATION_ID]);
		}
	}
	if (!has(f, PROGRAM_ID))
		return;
	const struct tfp_hlo_instruction *instruction =
		tfp_hlo_find(source->modules, (uint64_t)f->number[PROGRAM_ID], inner);
	if (!instruction)
		return;
	/* An instruction that says nothing of its op has a name of two empty parts. */
	struct tfp_str fullname = instruction->op_fullname;
	if (fullname.size == 0)
		fullname = (struct tfp_str){":", 1};
	tfp_derive_framework_op(&s->scopes, &s->ops, fullname, span, group);
	if (instruction->source_file.size)
		tfp_derived_expand_one(&s->source, source_name(out, instruction), NULL, span,
				       group);
}

static void derive_kernel(struct stream *s, const struct tfp_derived_source *source,
			  const struct ranges *ranges, const struct facts *f,
			  struct tfp_derived_span span, int32_t group)
{
	struct tfp_derived_plane *out = s->ops.plane;
	int64_t ids[TFP_DERIVED_LEVELS_MAX];
	size_t range_count = 0;
	if (f->hlo_module.size || f->hlo_op.size)
		range_count = ranges_of(ranges, f, ids);
	if (f->hlo_module.size)
		tfp_derived_expand_one(&s->modules, module_name(out, f),
				       range_count ? &ids[0] : NULL, span, group);
	if (f->hlo_op.size)
		derive_op(s, source, f, ids, range_count, span, group);
	else if (f->tf_op.size)
		tfp_derive_framework_op(&s->scopes, &s->ops, f->tf_op, span, group);
}

static void write_line(struct tfp_derived_line *line, int64_t id, int64_t display_id,
		       const char *name, int64_t stream)
{
	char full[96];
	snprintf(full, sizeof(full), "%s - from #%" PRId64, name, stream);
	tfp_derived_line_write(line, id, display_id, (struct tfp_str){full, strlen(full)});
}

static enum tfp_status derive_stream(struct tfp_derived_plane *out,
				     const struct tfp_derived_source *source,
				     const struct ranges *ranges, const struct tfp_schema *schema,
				     const struct tfp_line *line, size_t rank)
{
	const struct tfp_plane *plane = source->plane;
	struct stream s;
	size_t count;
	struct tfp_derived_ref *events = sorted_events(plane, line, true, &count);
	if (!events)
		return TFP_NO_MEMORY;
	tfp_derived_line_init(&s.scopes, out, true);
	tfp_derived_line_init(&s.ops, out, true);
	tfp_derived_line_init(&s.modules, out, true);
	tfp_derived_line_init(&s.hlo_ops, out, true);
	tfp_derived_line_init(&s.source, out, true);
	s.scopes.dependents[0] = &s.ops;
	s.modules.dependents[0] = &s.scopes;
	s.modules.dependents[1] = &s.hlo_ops;
	for (size_t i = 0; i < count && !out->failed; i++) {
		struct facts f;
		read_facts(plane, schema, line, events[i].event, &f);
		if (!f.is_kernel && !has(&f, GRAPH_EXEC_ID))
			continue;
		derive_kernel(&s, source, ranges, &f, events[i].span,
			      tfp_group_of(source->groups, source->plane_index, events[i].line,
					   events[i].event));
	}
	tfp_free(events);
	/* Six numbers for a stream and what comes of it, used or not. */
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

static enum tfp_status derive_streams(struct tfp_derived_plane *out,
				      const struct tfp_derived_source *source,
				      struct tfp_error *err)
{
	const struct tfp_plane *plane = source->plane;
	struct ranges ranges;
	struct tfp_schema schema = {0};
	enum tfp_status status = read_ranges(source->capture, &ranges, err);
	uint32_t *order = tfp_sort_indexes(plane->line_count, stream_before, plane);
	if (status == TFP_OK && !order)
		status = TFP_NO_MEMORY;
	if (status == TFP_OK)
		status = tfp_schema_init(&schema, plane, stat_names, WANTED, err);
	for (size_t i = 0; status == TFP_OK && i < plane->line_count; i++) {
		const struct tfp_line *line = &plane->lines[order[i]];
		/* There are ids for so many streams; the others have no derived lines. */
		if (tfp_line_is_derived(line) ||
		    TFP_LINE_STREAMS + (int64_t)(i + 1) * 6 > TFP_LINE_STREAMS_END - 1)
			break;
		status = derive_stream(out, source, &ranges, &schema, line, i);
	}
	tfp_schema_release(&schema);
	tfp_free(order);
	tfp_free(ranges.list);
	return status == TFP_NO_MEMORY ? tfp_fail(err, status, "no memory for derived lines")
				       : status;
}

/* ---- steps ---- */

static enum tfp_status derive_steps(struct tfp_derived_plane *out,
				    const struct tfp_derived_source *source, struct tfp_error *err)
{
	const struct tfp_groups *groups = source->groups;
	struct tfp_derived_line steps;
	size_t count;
	if (groups->group_count == 0)
		return TFP_OK;
	struct tfp_derived_ref *events = tfp_derived_sorted(source->plane, false, &count);
	if (!events)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
	tfp_derived_line_init(&steps, out, true);
	for (size_t i = 0; i < count && !out->failed; i++) {
		char number[16];
		int32_t group =
			tfp_group_of(groups, source->plane_index, events[i].line, events[i].event);
		if (group == TFP_NO_GROUP)
			continue;
		snprintf(number, sizeof(number), "%" PRId32, group);
		tfp_derived_expand_one(&steps,
				       tfp_derived_name(out,
							(struct tfp_str){number, strlen(number)},
							(struct tfp_str){"", 0}),
				       NULL, events[i].span, group);
	}
	tfp_free(events);
	for (size_t i = 0; i < steps.count && !out->failed; i++)
		tfp_derived_put_text(&steps, i, TFP_DERIVED_STEP_NAME,
				     groups->groups[steps.events[i].group].name);
	tfp_derived_line_write(&steps, TFP_LINE_STEPS, 0, (struct tfp_str){"Steps", 5});
	tfp_derived_line_release(&steps);
	return TFP_OK;
}

/* ---- launches ---- */

enum { DEVICE_ID, LAUNCH_CORRELATION_ID, LAUNCH_WANTED };
static const char *const launch_stats[LAUNCH_WANTED] = {
	[DEVICE_ID] = "device_id",
	[LAUNCH_CORRELATION_ID] = "correlation_id",
};

struct launches {
	struct tfp_derived_span span;
	uint64_t count, total_ps, longest_ps;
};

static bool is_launch(const struct tfp_schema *schema, const struct tfp_line *line, size_t i,
		      size_t device)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t id = -1, correlation;
	bool correlated = false;
	while (tfp_stat_next(&it, &stat)) {
		int which = tfp_schema_of(schema, &stat);
		if (which == DEVICE_ID)
			tfp_stat_int(&stat, &id);
		else if (which == LAUNCH_CORRELATION_ID)
			correlated |= tfp_stat_int(&stat, &correlation);
	}
	return correlated && id >= 0 && (uint64_t)id == device;
}

static void count_launches(const struct tfp_derived_source *source, const struct tfp_plane *host,
			   size_t host_index, const struct tfp_schema *schema,
			   struct launches *by_group)
{
	for (size_t l = 0; l < host->line_count; l++) {
		const struct tfp_line *line = &host->lines[l];
		if (tfp_line_is_derived(line) || !source->groups->planes[host_index][l].group)
			continue;
		for (size_t i = 0; i < line->event_count; i++) {
			int32_t group = tfp_group_of(source->groups, host_index, l, i);
			/* CUPTI's own calls are no launches but for cuLaunchKernel and
			 * its like, which the peers leave out all the same. */
			if (group == TFP_NO_GROUP ||
			    tfp_str_starts(tfp_event_meta(host, line, i)->name, "cu") ||
			    !is_launch(schema, line, i, source->device_index))
				continue;
			struct launches *g = &by_group[group];
			struct tfp_derived_span span = span_of(line, i);
			uint64_t lasts = (uint64_t)span.end_ps - (uint64_t)span.begin_ps;
			if (g->count == 0)
				g->span = span;
			if (span.begin_ps < g->span.begin_ps)
				g->span.begin_ps = span.begin_ps;
			if (span.end_ps > g->span.end_ps)
				g->span.end_ps = span.end_ps;
			g->count++;
			g->total_ps += lasts;
			if (lasts > g->longest_ps)
				g->longest_ps = lasts;
		}
	}
}

static void write_launches(struct tfp_derived_plane *out, const struct tfp_groups *groups,
			   const struct launches *by_group)
{
	struct tfp_derived_line line;
	tfp_derived_line_init(&line, out, true);
	for (size_t g = 0; g < groups->group_count && !out->failed; g++) {
		const struct launches *l = &by_group[g];
		struct tfp_buf name;
		if (l->count == 0)
			continue;
		tfp_buf_init(&name, SIZE_MAX / 2);
		tfp_buf_puts(&name, "Launch Stats for ");
		tfp_buf_add(&name, groups->groups[g].name.data, groups->groups[g].name.size);
		out->failed |= tfp_buf_failed(&name);
		size_t event = tfp_derived_add(
			&line,
			tfp_derived_name(out, (struct tfp_str){tfp_buf_text(&name), name.size},
					 (struct tfp_str){"", 0}),
			l->span, (int32_t)g);
		tfp_buf_release(&name);
		tfp_derived_put_int(&line, event, TFP_DERIVED_NUM_LAUNCHES, (int64_t)l->count);
		tfp_derived_put_double(&line, event, TFP_DERIVED_MAX_LAUNCH_TIME_US,
				       (double)l->longest_ps / 1e6);
		tfp_derived_put_double(&line, event, TFP_DERIVED_AVG_LAUNCH_TIME_US,
				       (double)l->total_ps / (double)l->count / 1e6);
	}
	tfp_derived_line_write(&line, TFP_LINE_LAUNCH_STATS, 0,
			       (struct tfp_str){"Launch Stats", 12});
	tfp_derived_line_release(&line);
}

static enum tfp_status derive_launches(struct tfp_derived_plane *out,
				       const struct tfp_derived_source *source,
				       struct tfp_error *err)
{
	const struct tfp_plane *host = tfp_capture_find_plane(source->capture, "/host:CPU");
	struct tfp_schema schema;
	if (!host || source->groups->group_count == 0)
		return TFP_OK;
	struct launches *by_group = tfp_calloc(source->groups->group_count, sizeof(*by_group));
	if (!by_group)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
	enum tfp_status status = tfp_schema_init(&schema, host, launch_stats, LAUNCH_WANTED, err);
	if (status == TFP_OK) {
		count_launches(source, host, (size_t)(host - source->capture->planes), &schema,
			       by_group);
		write_launches(out, source->groups, by_group);
		tfp_schema_release(&schema);
	}
	tfp_free(by_group);
	return status;
}

enum tfp_status tfp_derive_gpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (source->plane->line_count == 0)
		return TFP_OK;
	status = derive_steps(out, source, err);
	if (status == TFP_OK)
		status = derive_streams(out, source, err);
	if (status == TFP_OK)
		status = derive_launches(out, source, err);
	return status;
}
