/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_tpu.h"

#include "analysis/events/memo.h"
#include "analysis/events/schema.h"
#include "analysis/timeline/derived_ops.h"
#include "analysis/timeline/derived_sort.h"
#include "base/alloc.h"
#include "base/str_map.h"

#include <stdio.h>
#include <string.h>

enum { TF_OP, SOURCE, IS_ASYNC, RAW_BYTES, SHAPE, WANTED };
static const char *const stat_names[WANTED] = {
	[TF_OP] = "tf_op",
	[SOURCE] = "source",
	[IS_ASYNC] = "_a",
	[RAW_BYTES] = "raw_bytes_accessed",
	[SHAPE] = "shape_with_layout",
};

struct facts {
	struct tfp_str tf_op, source, shape;
	bool is_async, has_bytes;
	int64_t raw_bytes;
};

static void read_stats(const struct tfp_schema *schema, struct tfp_stat_iter it, struct facts *f)
{
	const struct tfp_plane *plane = schema->plane;
	struct tfp_stat stat;
	int64_t number;
	int which;
	while ((which = tfp_schema_next(schema, &it, &stat)) >= 0) {
		switch (which) {
		case TF_OP:
			tfp_stat_text(plane, &stat, &f->tf_op);
			break;
		case SOURCE:
			tfp_stat_text(plane, &stat, &f->source);
			break;
		case SHAPE:
			tfp_stat_text(plane, &stat, &f->shape);
			break;
		case IS_ASYNC:
			if (tfp_stat_int(&stat, &number))
				f->is_async = number != 0;
			break;
		case RAW_BYTES:
			f->has_bytes |= tfp_stat_int(&stat, &f->raw_bytes);
			break;
		default:
			break;
		}
	}
}

/* ---- copies between the device's memory and the host's ---- */

/* The rows that copies are laid out in: one beside the other while they overlap. */
#define ROWS_MAX (TFP_LINE_HOST_OFFLOAD_END - TFP_LINE_HOST_OFFLOAD)

#define NONE UINT32_MAX

/* A copy that has begun and has not ended, in a list with those of its name. */
struct begun {
	int64_t begin_ps;
	struct tfp_str shape;
	uint32_t next;
};

struct copies {
	struct tfp_derived_plane *out;
	struct tfp_derived_line rows[ROWS_MAX];
	int64_t row_end_ps[ROWS_MAX];
	size_t row_count;
	struct begun *begun;
	uint32_t begun_count;
	size_t begun_room;
	/* By number of the name: the oldest and youngest begun. */
	struct {
		uint32_t first, last;
	} * queues;
	size_t queue_room;
};

static bool contains(struct tfp_str s, const char *text)
{
	return s.size && memmem(s.data, s.size, text, strlen(text));
}

/* S(5) in an instruction's layout is the host's memory. */
static bool is_copy(const struct tfp_event_meta *meta)
{
	static const char *const words[] = {
		"copy-start",
		"copy-done",
		"dynamic-slice-start",
		"dynamic-slice-done",
		"dynamic-update-slice-start",
		"dynamic-update-slice-done",
	};
	if (!contains(meta->name, "S(5)"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (contains(meta->display_name, words[i]))
			return true;
	}
	return false;
}

/* `copy-start.2` and `copy-done.2` are both `offload-copy.2`; what has no number
 * has number 0. */
static uint32_t copy_name(struct tfp_derived_plane *out, struct tfp_str op)
{
	struct tfp_buf name;
	struct tfp_str stem = op, number = {"0", 1};
	const char *cut = op.size ? memmem(op.data, op.size, "-start", 6) : NULL;
	if (!cut && op.size)
		cut = memmem(op.data, op.size, "-done", 5);
	if (cut)
		stem.size = (size_t)(cut - op.data);
	for (size_t i = op.size; i > 0; i--) {
		if (op.data[i - 1] == '.') {
			number = (struct tfp_str){op.data + i, op.size - i};
			break;
		}
	}
	tfp_buf_init(&name, SIZE_MAX / 2);
	tfp_buf_puts(&name, "offload-");
	tfp_buf_add(&name, stem.data, stem.size);
	tfp_buf_putc(&name, '.');
	tfp_buf_add(&name, number.data, number.size);
	out->failed |= tfp_buf_failed(&name);
	/* A name to show and none besides. */
	uint32_t index = tfp_derived_name(out, (struct tfp_str){"", 0},
					  (struct tfp_str){tfp_buf_text(&name), name.size});
	tfp_buf_release(&name);
	return index;
}

static bool make_room(struct copies *c, uint32_t name)
{
	if (!TFP_GROW(c->begun, c->begun_count, c->begun_room))
		return false;
	if (name >= c->queue_room) {
		size_t room = c->out->name_room;
		void *queues = tfp_reallocarray(c->queues, room, sizeof(*c->queues));
		if (!queues)
			return false;
		c->queues = queues;
		for (size_t i = c->queue_room; i < room; i++)
			c->queues[i].first = c->queues[i].last = NONE;
		c->queue_room = room;
	}
	return true;
}

/* The row that has been free for longest, or a new one, or the last of all. */
static size_t choose_row(struct copies *c, struct tfp_derived_span span)
{
	size_t best = SIZE_MAX;
	int64_t end_ps = span.begin_ps;
	for (size_t i = 0; i < c->row_count; i++) {
		if (c->row_end_ps[i] <= end_ps) {
			best = i;
			end_ps = c->row_end_ps[i];
		}
	}
	if (best != SIZE_MAX)
		return best;
	if (c->row_count < ROWS_MAX) {
		tfp_derived_line_init(&c->rows[c->row_count], c->out, false);
		c->row_end_ps[c->row_count++] = span.end_ps;
	}
	return c->row_count - 1;
}

static void add_copy(struct copies *c, uint32_t name, const struct begun *begun,
		     const struct facts *done, int64_t end_ps)
{
	struct tfp_derived_span span = {begun->begin_ps,
					end_ps > begun->begin_ps ? end_ps : begun->begin_ps};
	size_t row = choose_row(c, span);
	if (c->row_end_ps[row] < span.end_ps)
		c->row_end_ps[row] = span.end_ps;
	size_t event = tfp_derived_add(&c->rows[row], name, span, TFP_NO_GROUP);
	tfp_derived_put_int(&c->rows[row], event, TFP_DERIVED_IS_ASYNC, 1);
	if (done->has_bytes)
		tfp_derived_put_int(&c->rows[row], event, TFP_DERIVED_RAW_BYTES_ACCESSED,
				    done->raw_bytes);
	if (begun->shape.size)
		tfp_derived_put_text(&c->rows[row], event, TFP_DERIVED_SHAPE_WITH_LAYOUT,
				     begun->shape);
}

static void see_copy(struct copies *c, uint32_t name, bool begins, const struct facts *of_meta,
		     struct tfp_derived_span span)
{
	if (c->out->failed || !make_room(c, name)) {
		c->out->failed = true;
		return;
	}
	if (begins) {
		c->begun[c->begun_count] = (struct begun){span.begin_ps, of_meta->shape, NONE};
		if (c->queues[name].last != NONE)
			c->begun[c->queues[name].last].next = c->begun_count;
		else
			c->queues[name].first = c->begun_count;
		c->queues[name].last = c->begun_count++;
		return;
	}
	/* Its begin may lie before the profile's. */
	uint32_t first = c->queues[name].first;
	if (first == NONE)
		return;
	c->queues[name].first = c->begun[first].next;
	if (c->queues[name].first == NONE)
		c->queues[name].last = NONE;
	add_copy(c, name, &c->begun[first], of_meta, span.end_ps);
}

static void finish_copies(struct copies *c)
{
	for (size_t i = 0; i < c->row_count; i++) {
		char name[48];
		snprintf(name, sizeof(name), "Host Offload Ops row %zu", i);
		tfp_derived_line_write(&c->rows[i], TFP_LINE_HOST_OFFLOAD + (int64_t)i, 0,
				       (struct tfp_str){name, strlen(name)});
		tfp_derived_line_release(&c->rows[i]);
	}
	tfp_free(c->begun);
	tfp_free(c->queues);
}

/* ---- the plane ---- */

/* What the stats of an event's metadata say, for all of its events. */
struct op {
	struct facts facts;
	bool known, is_copy, begins_copy;
	uint32_t copy_name; /* NONE before its first event */
};

struct tpu {
	const struct tfp_derived_source *source;
	struct tfp_schema schema;
	struct op *ops; /* by event metadata */
	struct tfp_derived_ops framework_ops;
	struct tfp_memo *source_names; /* number of the name, by address of the text */
	struct tfp_derived_line scopes, op_line, lines;
	struct copies copies;
};

static struct op *op_of(struct tpu *t, uint32_t meta_index)
{
	const struct tfp_plane *plane = t->source->plane;
	const struct tfp_event_meta *meta = &plane->event_metas[meta_index];
	const struct tfp_str none = {"", 0};
	struct op *op = &t->ops[meta_index];
	if (!op->known) {
		op->facts = (struct facts){.tf_op = none, .source = none, .shape = none};
		read_stats(&t->schema, tfp_event_meta_stats(meta), &op->facts);
		op->is_copy = is_copy(meta);
		op->begins_copy = contains(meta->display_name, "-start");
		op->copy_name = NONE;
		op->known = true;
	}
	return op;
}

static uint32_t source_name(struct tpu *t, struct tfp_str text)
{
	const struct tfp_memo_key key = {{text.data, (const void *)(uintptr_t)text.size}};
	uint32_t name;
	if (tfp_memo_find(t->source_names, &key, &name))
		return name;
	name = tfp_derived_name(t->lines.plane, text, (struct tfp_str){"", 0});
	tfp_memo_put(t->source_names, &key, name);
	return name;
}

static void derive_event(struct tpu *t, const struct tfp_derived_ref *ref)
{
	const struct tfp_derived_source *source = t->source;
	const struct tfp_plane *plane = source->plane;
	const struct tfp_line *line = &plane->lines[ref->line];
	struct op *op = op_of(t, tfp_event_meta_index(line, ref->event));
	struct facts f = op->facts;
	read_stats(&t->schema, tfp_event_stats(line, ref->event), &f);
	int32_t group = tfp_group_of(source->groups, source->plane_index, ref->line, ref->event);
	if (f.is_async)
		return;
	if (f.tf_op.size)
		tfp_derive_framework_op(&t->framework_ops,
					tfp_derived_op(&t->framework_ops, f.tf_op), &t->scopes,
					&t->op_line, ref->span, group);
	if (f.source.size)
		tfp_derived_expand_one(&t->lines, source_name(t, f.source), NULL, ref->span, group);
	if (!op->is_copy)
		return;
	if (op->copy_name == NONE)
		op->copy_name = copy_name(t->copies.out,
					  tfp_event_meta(plane, line, ref->event)->display_name);
	see_copy(&t->copies, op->copy_name, op->begins_copy, &op->facts, ref->span);
}

static bool has_line(const struct tfp_plane *plane, int64_t id)
{
	for (size_t l = 0; l < plane->line_count; l++) {
		if (plane->lines[l].id == id && plane->lines[l].event_count)
			return true;
	}
	return false;
}

static void write_lines(struct tpu *t)
{
	const struct {
		struct tfp_derived_line *line;
		int64_t id;
		const char *name;
	} lines[] = {{&t->scopes, TFP_LINE_NAME_SCOPE, "Framework Name Scope"},
		     {&t->op_line, TFP_LINE_FRAMEWORK_OPS, "Framework Ops"},
		     {&t->lines, TFP_LINE_SOURCE, "Source code"}};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!has_line(t->source->plane, lines[i].id))
			tfp_derived_line_write(
				lines[i].line, lines[i].id, 0,
				(struct tfp_str){lines[i].name, strlen(lines[i].name)});
		tfp_derived_line_release(lines[i].line);
	}
	finish_copies(&t->copies);
}

static bool prepare(struct tpu *t, struct tfp_derived_plane *out)
{
	t->copies.out = out;
	t->ops = tfp_calloc(t->source->plane->event_meta_count, sizeof(*t->ops));
	t->source_names = tfp_memo_new(1024);
	tfp_derived_ops_init(&t->framework_ops, out);
	tfp_derived_line_init(&t->scopes, out, false);
	tfp_derived_line_init(&t->op_line, out, false);
	tfp_derived_line_init(&t->lines, out, false);
	t->scopes.dependents[0] = &t->op_line;
	return t->ops && t->source_names;
}

enum tfp_status tfp_derive_tpu(struct tfp_derived_plane *out,
			       const struct tfp_derived_source *source, struct tfp_error *err)
{
	struct tpu *t = tfp_calloc(1, sizeof(*t));
	size_t count = 0;
	struct tfp_derived_ref *events = NULL;
	if (!t)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
	t->source = source;
	enum tfp_status status =
		tfp_schema_init(&t->schema, source->plane, stat_names, WANTED, err);
	if (status == TFP_OK) {
		events = tfp_derived_sorted(source->plane, NULL, true, &count);
		if (!prepare(t, out) || !events)
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
	}
	for (size_t i = 0; status == TFP_OK && i < count && !out->failed; i++)
		derive_event(t, &events[i]);
	tfp_free(events);
	if (status == TFP_OK) {
		tfp_derived_close(&t->scopes, 0);
		write_lines(t);
	}
	tfp_derived_ops_release(&t->framework_ops);
	tfp_free(t->source_names);
	tfp_free(t->ops);
	tfp_schema_release(&t->schema);
	tfp_free(t);
	return status;
}
