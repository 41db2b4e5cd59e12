/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/memory_parts.h"

#include "analysis/events/memo.h"
#include "analysis/grouping/capture_groups.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>

#define PIECE_EVENTS 32768
#define MEMO_SLOTS   4096
#define REF_TYPES    100 /* added to the number of a type whose value is a reference */

enum {
	INDEX_ON_HOST,
	DEVICE_ORDINAL,
	ALLOCATOR_NAME,
	BYTES_RESERVED,
	BYTES_ALLOCATED,
	BYTES_AVAILABLE,
	FRAGMENTATION,
	PEAK_BYTES_IN_USE,
	REQUESTED_BYTES,
	ALLOCATION_BYTES,
	ADDRESS,
	TF_OP,
	GROUP_ID,
	REGION_TYPE,
	DATA_TYPE,
	SHAPE,
	STAT_COUNT
};

static const char *const stat_names[STAT_COUNT] = {
	[INDEX_ON_HOST] = "index_on_host",
	[DEVICE_ORDINAL] = "device_ordinal",
	[ALLOCATOR_NAME] = "allocator_name",
	[BYTES_RESERVED] = "bytes_reserved",
	[BYTES_ALLOCATED] = "bytes_allocated",
	[BYTES_AVAILABLE] = "bytes_available",
	[FRAGMENTATION] = "fragmentation",
	[PEAK_BYTES_IN_USE] = "peak_bytes_in_use",
	[REQUESTED_BYTES] = "requested_bytes",
	[ALLOCATION_BYTES] = "allocation_bytes",
	[ADDRESS] = "addr",
	[TF_OP] = "tf_op",
	[GROUP_ID] = "group_id",
	[REGION_TYPE] = "region_type",
	[DATA_TYPE] = "data_type",
	[SHAPE] = "shape",
};

/* By the numbers of TensorFlow's DataType. */
static const char *const data_types[] = {
	"INVALID",
	"float",
	"double",
	"int32",
	"uint8",
	"int16",
	"int8",
	"string",
	"complex64",
	"int64",
	"bool",
	"qint8",
	"quint8",
	"qint32",
	"bfloat16",
	"qint16",
	"quint16",
	"uint16",
	"complex128",
	"half",
	"resource",
	"variant",
	"uint32",
	"uint64",
	"float8_e5m2",
	"float8_e4m3fn",
	"float8_e4m3fnuz",
	"float8_e4m3b11fnuz",
	"float8_e5m2fnuz",
	"int4",
	"uint4",
};

enum tfp_status tfp_memory_exhausted(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the events of allocators");
}

enum tfp_status tfp_memory_schema_init(struct tfp_schema *schema, const struct tfp_plane *plane,
				       struct tfp_error *err)
{
	return tfp_schema_init(schema, plane, stat_names, STAT_COUNT, err);
}

/* DataTypeString of TensorFlow's types.cc. */
static struct tfp_str data_type_text(int32_t number, char *room, size_t size)
{
	bool is_ref = number > REF_TYPES;
	int32_t plain = is_ref ? number - REF_TYPES : number;
	const char *suffix = is_ref ? "_ref" : "";
	int n;
	if (plain >= 0 && (size_t)plain < sizeof(data_types) / sizeof(data_types[0]))
		n = snprintf(room, size, "%s%s", data_types[plain], suffix);
	else
		n = snprintf(room, size, "unknown dtype enum (%" PRId32 ")%s", plain, suffix);
	return (struct tfp_str){room, (size_t)n};
}

/* The memory events of a line, in the order of the file. */
struct tfp_memory_line {
	uint32_t *events;
	size_t count;
};

/* At most PIECE_EVENTS events, of one line or of many, that are read in one go with a table of
 * names of their own. A program can have tens of thousands of threads with a few events each; a
 * table for each thread would take far more memory than the events. */
struct tfp_memory_piece {
	uint32_t line;       /* that the piece begins in */
	size_t from;         /* in that line's list */
	size_t place, count; /* in the columns */
	struct tfp_memory_names names;
	struct tfp_memo *memo;
	/* Writers mostly refer to one text for an allocator's name. */
	const char *last_id;
	uint32_t last_allocator;
};

struct in_line {
	const struct tfp_line *line;
	const uint32_t *events;
};

static bool before_in_file(const void *context, uint32_t a, uint32_t b)
{
	const struct in_line *l = context;
	return tfp_event_at(l->line, l->events[a]) < tfp_event_at(l->line, l->events[b]);
}

/* The columns of a capture are sorted by time; ties and the allocator's figures go by
 * the order of the file. */
static bool restore_order(const struct tfp_line *line, struct tfp_memory_line *l)
{
	size_t i = 1;
	while (i < l->count &&
	       tfp_event_at(line, l->events[i - 1]) < tfp_event_at(line, l->events[i]))
		i++;
	if (i >= l->count)
		return true;
	struct in_line context = {line, l->events};
	uint32_t *order = tfp_sort_indexes(l->count, before_in_file, &context);
	if (!order)
		return false;
	for (i = 0; i < l->count; i++)
		order[i] = l->events[order[i]];
	tfp_free(l->events);
	l->events = order;
	return true;
}

static void list_line(void *context, size_t index)
{
	struct tfp_memory_reader *r = context;
	const struct tfp_line *line = &r->plane->lines[index];
	struct tfp_memory_line *l = &r->lines[index];
	for (size_t i = 0; i < line->event_count; i++)
		l->count += r->kinds[tfp_event_meta_index(line, i)] != 0;
	if (l->count == 0)
		return;
	l->events = tfp_reallocarray(NULL, l->count, sizeof(*l->events));
	if (!l->events) {
		atomic_store(&r->no_memory, true);
		return;
	}
	size_t n = 0;
	for (size_t i = 0; i < line->event_count; i++) {
		if (r->kinds[tfp_event_meta_index(line, i)])
			l->events[n++] = (uint32_t)i;
	}
	if (!restore_order(line, l))
		atomic_store(&r->no_memory, true);
}

/* As XProf reads numbers: what is stored under another type is 0. */
static int64_t int_of(const struct tfp_stat *stat)
{
	return stat->kind == TFP_STAT_INT ? stat->int_value : 0;
}

static struct tfp_str text_of(const struct tfp_plane *plane, const struct tfp_stat *stat)
{
	struct tfp_str text = {"", 0};
	if (!tfp_stat_text(plane, stat, &text) || text.size == 0)
		return (struct tfp_str){"", 0};
	return text;
}

struct raw_event {
	struct tfp_memory_state state;
	int64_t allocation, requested, address, step;
	bool has_allocator, allocator_is_text, has_data_type, has_null_address;
	int64_t allocator_number;
	struct tfp_str allocator, op, region, shape;
	int32_t data_type;
};

static void read_event(const struct tfp_plane *plane, const struct tfp_schema *schema,
		       const struct tfp_line *line, size_t i, struct raw_event *e)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t number;
	*e = (struct raw_event){.step = TFP_MEMORY_NO_STEP,
				.op = {"", 0},
				.region = {"", 0},
				.shape = {"", 0},
				.allocator = {"", 0}};
	while (tfp_stat_next(&it, &stat)) {
		switch (tfp_schema_of(schema, &stat)) {
		case INDEX_ON_HOST:
		case DEVICE_ORDINAL:
			e->allocator_number = int_of(&stat);
			e->has_allocator = true;
			e->allocator_is_text = false;
			break;
		case ALLOCATOR_NAME:
			e->allocator = text_of(plane, &stat);
			e->has_allocator = e->allocator_is_text = true;
			break;
		case BYTES_RESERVED:
			e->state.stack_bytes = int_of(&stat);
			break;
		case BYTES_ALLOCATED:
			e->state.heap_bytes = int_of(&stat);
			break;
		case BYTES_AVAILABLE:
			e->state.free_bytes = int_of(&stat);
			break;
		case FRAGMENTATION:
			e->state.fragmentation =
				stat.kind == TFP_STAT_DOUBLE ? stat.double_value : 0;
			break;
		case PEAK_BYTES_IN_USE:
			e->state.peak_bytes = int_of(&stat);
			break;
		case REQUESTED_BYTES:
			e->requested = int_of(&stat);
			break;
		case ALLOCATION_BYTES:
			e->allocation = int_of(&stat);
			break;
		case ADDRESS:
			e->address = int_of(&stat);
			e->has_null_address = tfp_stat_int(&stat, &number) && number == 0;
			break;
		case TF_OP:
			e->op = text_of(plane, &stat);
			break;
		case GROUP_ID:
			/* Versions of TensorFlow differ in the type that they give it. */
			if (tfp_stat_int(&stat, &number))
				e->step = number;
			break;
		case REGION_TYPE:
			e->region = text_of(plane, &stat);
			break;
		case DATA_TYPE:
			e->data_type = (int32_t)(uint32_t)(uint64_t)int_of(&stat);
			e->has_data_type = true;
			break;
		case SHAPE:
			e->shape = text_of(plane, &stat);
			break;
		default:
			break;
		}
	}
}

static uint32_t label_of(struct tfp_memory_piece *p, const struct raw_event *e)
{
	struct tfp_memo_key key = {
		{e->op.data, e->region.data, e->shape.data,
		 e->has_data_type ? (const void *)((uintptr_t)(uint32_t)e->data_type + 1) : NULL}};
	uint32_t label;
	char room[64];
	if (tfp_memo_find(p->memo, &key, &label))
		return label;
	struct tfp_memory_label l = {.op = e->op, .region = e->region, .shape = e->shape};
	l.data_type = e->has_data_type ? data_type_text(e->data_type, room, sizeof(room))
				       : (struct tfp_str){"", 0};
	label = tfp_memory_add_label(&p->names, &l);
	if (label != TFP_STR_MAP_NONE)
		tfp_memo_put(p->memo, &key, label);
	return label;
}

static int64_t apart(int64_t ps, int64_t from_ps)
{
	int64_t difference;
	if (__builtin_sub_overflow(ps, from_ps, &difference))
		return ps < from_ps ? INT64_MIN : INT64_MAX;
	return difference;
}

static uint32_t allocator_of(struct tfp_memory_piece *p, const struct raw_event *e)
{
	char room[24];
	if (e->has_allocator && !e->allocator_is_text) {
		int n = snprintf(room, sizeof(room), "%" PRId64, e->allocator_number);
		return tfp_memory_add_id(&p->names, (struct tfp_str){room, (size_t)n});
	}
	if (e->allocator.data != p->last_id) {
		p->last_allocator = tfp_memory_add_id(&p->names, e->allocator);
		p->last_id = e->allocator.data;
	}
	return p->last_allocator;
}

static bool read_piece_event(struct tfp_memory_reader *r, struct tfp_memory_piece *p, size_t place,
			     uint32_t l, size_t i)
{
	const struct tfp_line *line = &r->plane->lines[l];
	struct tfp_memory_columns *c = &r->c;
	struct raw_event e;
	read_event(r->plane, r->schema, line, i, &e);
	if (r->groups) {
		int32_t group = tfp_group_of(r->groups, r->plane_index, l, i);
		if (group != TFP_NO_GROUP)
			e.step = group;
	}
	c->time[place] = tfp_event_offset_ps(line, i);
	if (r->on_one_clock)
		c->time[place] = apart(tfp_event_start_ps(line, i), r->origin_ps);
	c->used[place] = tfp_memory_add(e.state.stack_bytes, e.state.heap_bytes);
	c->allocation[place] = e.allocation;
	c->requested[place] = e.requested;
	c->address[place] = e.address;
	c->step[place] = e.step;
	c->line[place] = l;
	c->event[place] = (uint32_t)i;
	c->activity[place] = r->kinds[tfp_event_meta_index(line, i)];
	c->is_null[place] = c->activity[place] == TFP_MEMORY_ALLOCATION && e.requested > 0 &&
			    (e.has_null_address || e.allocation == 0);
	c->label[place] = label_of(p, &e);
	c->allocator[place] = allocator_of(p, &e);
	return c->label[place] != TFP_STR_MAP_NONE && c->allocator[place] != TFP_STR_MAP_NONE;
}

static void read_piece(void *context, size_t index)
{
	struct tfp_memory_reader *r = context;
	struct tfp_memory_piece *p = &r->pieces[index];
	size_t from = p->from, n = 0;
	p->memo = tfp_memo_new(MEMO_SLOTS);
	bool ok = p->memo != NULL;
	for (uint32_t l = p->line; ok && n < p->count; l++, from = 0) {
		const struct tfp_memory_line *line = &r->lines[l];
		for (size_t i = from; ok && i < line->count && n < p->count; i++, n++)
			ok = tfp_goes_on(n) &&
			     read_piece_event(r, p, p->place + n, l, line->events[i]);
	}
	tfp_free(p->memo);
	p->memo = NULL;
	if (!ok)
		atomic_store(&r->no_memory, true);
}

static bool make_pieces(struct tfp_memory_reader *r)
{
	uint32_t line = 0;
	size_t before = 0; /* events of the lines before it */
	r->piece_count = (r->count + PIECE_EVENTS - 1) / PIECE_EVENTS;
	r->pieces = tfp_calloc(r->piece_count, sizeof(*r->pieces));
	if (!r->pieces)
		return false;
	for (size_t i = 0; i < r->piece_count; i++) {
		struct tfp_memory_piece *p = &r->pieces[i];
		tfp_memory_names_init(&p->names);
		p->place = i * PIECE_EVENTS;
		p->count = r->count - p->place < PIECE_EVENTS ? r->count - p->place : PIECE_EVENTS;
		while (before + r->lines[line].count <= p->place)
			before += r->lines[line++].count;
		p->line = line;
		p->from = p->place - before;
	}
	return true;
}

static bool allocate_columns(struct tfp_memory_reader *r)
{
	struct tfp_memory_columns *c = &r->c;
	size_t n = r->count;
	int64_t **wide[] = {&c->time,      &c->used,    &c->allocation,
			    &c->requested, &c->address, &c->step};
	uint32_t **narrow[] = {&c->label, &c->line, &c->event, &c->allocator};
	bool ok = true;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		ok &= (*wide[i] = tfp_reallocarray(NULL, n, sizeof(int64_t))) != NULL;
	for (size_t i = 0; i < sizeof(narrow) / sizeof(narrow[0]); i++)
		ok &= (*narrow[i] = tfp_reallocarray(NULL, n, sizeof(uint32_t))) != NULL;
	c->activity = tfp_malloc(n);
	c->is_null = tfp_malloc(n);
	return ok && c->activity && c->is_null;
}

static void release_columns(struct tfp_memory_columns *c)
{
	void *all[] = {c->time,  c->used, c->allocation, c->requested, c->address,  c->step,
		       c->label, c->line, c->event,      c->allocator, c->activity, c->is_null};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tfp_free(all[i]);
	*c = (struct tfp_memory_columns){0};
}

/* Gives the pieces' labels and allocators common numbers. */
static bool join_names(struct tfp_memory_reader *r)
{
	for (size_t p = 0; p < r->piece_count; p++) {
		struct tfp_memory_piece *piece = &r->pieces[p];
		size_t labels = piece->names.label_count, ids = piece->names.id_count;
		uint32_t *map = tfp_reallocarray(NULL, labels + ids, sizeof(*map));
		bool ok = map != NULL;
		for (size_t i = 0; ok && i < labels; i++) {
			map[i] = tfp_memory_add_label(&r->names, &piece->names.labels[i]);
			ok = map[i] != TFP_STR_MAP_NONE;
		}
		for (size_t i = 0; ok && i < ids; i++) {
			map[labels + i] = tfp_memory_add_id(&r->names, piece->names.ids[i]);
			ok = map[labels + i] != TFP_STR_MAP_NONE;
		}
		for (size_t i = piece->place; ok && i < piece->place + piece->count; i++) {
			r->c.label[i] = map[r->c.label[i]];
			r->c.allocator[i] = map[labels + r->c.allocator[i]];
		}
		tfp_free(map);
		if (!ok)
			return false;
	}
	return true;
}

void tfp_memory_reader_release(struct tfp_memory_reader *r)
{
	for (size_t l = 0; r->lines && l < r->plane->line_count; l++)
		tfp_free(r->lines[l].events);
	for (size_t p = 0; r->pieces && p < r->piece_count; p++)
		tfp_memory_names_release(&r->pieces[p].names, false);
	tfp_free(r->lines);
	tfp_free(r->pieces);
	tfp_free(r->kinds);
	release_columns(&r->c);
}

static bool find_kinds(struct tfp_memory_reader *r)
{
	bool any = false;
	r->kinds = tfp_calloc(r->plane->event_meta_count, 1);
	if (!r->kinds)
		return false;
	for (size_t i = 0; i < r->plane->event_meta_count; i++) {
		struct tfp_str name = r->plane->event_metas[i].name;
		if (tfp_str_equal(name, "MemoryAllocation"))
			r->kinds[i] = TFP_MEMORY_ALLOCATION;
		else if (tfp_str_equal(name, "MemoryDeallocation"))
			r->kinds[i] = TFP_MEMORY_DEALLOCATION;
		any |= r->kinds[i] != 0;
	}
	r->lines = any ? tfp_calloc(r->plane->line_count, sizeof(*r->lines)) : NULL;
	return !any || r->lines;
}

/* The lines' clocks, of lines with events. */
static void compare_clocks(const struct tfp_memory_reader *r, struct tfp_memory *memory)
{
	int64_t first = 0;
	bool any = false;
	for (size_t l = 0; l < r->plane->line_count; l++) {
		int64_t start = r->plane->lines[l].timestamp_ns;
		if (r->lines[l].count == 0)
			continue;
		if (any && start != first)
			memory->clocks_differ = true;
		else
			first = start;
		any = true;
	}
	if (__builtin_mul_overflow(first, 1000, &memory->origin_ps))
		memory->origin_ps = first < 0 ? INT64_MIN : INT64_MAX;
}

static bool read_events(struct tfp_memory_reader *r, struct tfp_pool *pool)
{
	if (!make_pieces(r) || !allocate_columns(r))
		return false;
	tfp_pool_for(pool, r->piece_count, read_piece, r);
	return !atomic_load(&r->no_memory) && join_names(r);
}

enum tfp_status tfp_memory_read(struct tfp_memory_reader *r, struct tfp_capture *capture,
				struct tfp_pool *pool, struct tfp_memory *memory,
				struct tfp_error *err)
{
	tfp_memory_names_init(&r->names);
	if (!find_kinds(r))
		return tfp_memory_exhausted(err);
	if (!r->lines)
		return TFP_OK;
	tfp_pool_for(pool, r->plane->line_count, list_line, r);
	if (atomic_load(&r->no_memory))
		return tfp_memory_exhausted(err);
	for (size_t l = 0; l < r->plane->line_count; l++)
		r->count += r->lines[l].count;
	if (r->count == 0)
		return TFP_OK;
	if (r->count >= TFP_MEMORY_NONE)
		return tfp_fail(err, TFP_TOO_LARGE, "more than 2^32 events of allocators");
	compare_clocks(r, memory);
	r->origin_ps = memory->origin_ps;
	/* Making groups costs more than all the rest, so a file that brings them along is asked
	 * first. */
	if (!tfp_capture_is_grouped(capture)) {
		enum tfp_status status = tfp_groups_get(capture, pool, &r->groups, err);
		if (status != TFP_OK)
			return status;
	}
	return read_events(r, pool) ? TFP_OK : tfp_memory_exhausted(err);
}

void tfp_memory_state_at(const struct tfp_memory *memory, const struct tfp_allocator *a, size_t i,
			 struct tfp_memory_state *state)
{
	struct raw_event e;
	read_event(memory->plane, &memory->schema, &memory->plane->lines[a->line[i]], a->event[i],
		   &e);
	*state = e.state;
}
