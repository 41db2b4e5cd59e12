#include "analysis/memory_events.h"

#include "analysis/groups.h"
#include "analysis/memo.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/str_map.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PIECE_EVENTS 32768
#define MEMO_SLOTS   4096
#define NO_STEP      (-1)
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

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the events of allocators");
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static int64_t subtract(int64_t a, int64_t b)
{
	int64_t difference;
	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* ---- labels and ids of allocators, each once ---- */

struct names {
	struct tfp_arena arena;
	struct tfp_str_map label_map, id_map;
	struct tfp_memory_label *labels;
	size_t label_count, label_room;
	struct tfp_str *ids;
	size_t id_count, id_room;
	struct tfp_buf key;
};

static void names_init(struct names *n)
{
	*n = (struct names){0};
	tfp_arena_init(&n->arena, SIZE_MAX);
	tfp_buf_init(&n->key, SIZE_MAX / 2);
}

/* The labels, the ids and their texts stay, if kept. */
static void names_release(struct names *n, bool kept)
{
	tfp_str_map_release(&n->label_map);
	tfp_str_map_release(&n->id_map);
	tfp_buf_release(&n->key);
	if (kept)
		return;
	tfp_free(n->labels);
	tfp_free(n->ids);
	tfp_arena_release(&n->arena);
}

static uint32_t add_id(struct names *n, struct tfp_str id)
{
	uint32_t found = tfp_str_map_find(&n->id_map, id.data, id.size);
	if (found != TFP_STR_MAP_NONE)
		return found;
	if (n->id_count == n->id_room) {
		size_t room = n->id_room ? n->id_room * 2 : 8;
		struct tfp_str *list = tfp_reallocarray(n->ids, room, sizeof(*list));
		if (!list)
			return TFP_STR_MAP_NONE;
		n->ids = list;
		n->id_room = room;
	}
	const char *copy = tfp_arena_strndup(&n->arena, id.data, id.size);
	if (!copy)
		return TFP_STR_MAP_NONE;
	n->ids[n->id_count] = (struct tfp_str){copy, id.size};
	found = tfp_str_map_add(&n->id_map, copy, id.size, (uint32_t)n->id_count);
	if (found != TFP_STR_MAP_NONE)
		n->id_count++;
	return found;
}

/* Four texts as one key: their sizes, then their bytes. */
static bool make_key(struct tfp_buf *key, const struct tfp_memory_label *l)
{
	const struct tfp_str *texts[] = {&l->op, &l->region, &l->data_type, &l->shape};
	tfp_buf_clear(key);
	for (int i = 0; i < 4; i++)
		tfp_buf_add(key, &texts[i]->size, sizeof(texts[i]->size));
	for (int i = 0; i < 4; i++)
		tfp_buf_add(key, texts[i]->data, texts[i]->size);
	return !tfp_buf_failed(key);
}

static struct tfp_str take_text(const char **at, size_t size)
{
	struct tfp_str text = {*at, size};
	*at += size;
	return text;
}

static uint32_t add_label(struct names *n, const struct tfp_memory_label *label)
{
	if (!make_key(&n->key, label))
		return TFP_STR_MAP_NONE;
	uint32_t found = tfp_str_map_find(&n->label_map, n->key.data, n->key.size);
	if (found != TFP_STR_MAP_NONE)
		return found;
	if (n->label_count == n->label_room) {
		size_t room = n->label_room ? n->label_room * 2 : 64;
		struct tfp_memory_label *list = tfp_reallocarray(n->labels, room, sizeof(*list));
		if (!list)
			return TFP_STR_MAP_NONE;
		n->labels = list;
		n->label_room = room;
	}
	const char *copy = tfp_arena_strndup(&n->arena, n->key.data, n->key.size);
	if (!copy)
		return TFP_STR_MAP_NONE;
	const char *at = copy + 4 * sizeof(label->op.size);
	struct tfp_memory_label *own = &n->labels[n->label_count];
	own->op = take_text(&at, label->op.size);
	own->region = take_text(&at, label->region.size);
	own->data_type = take_text(&at, label->data_type.size);
	own->shape = take_text(&at, label->shape.size);
	own->rank = 0;
	found = tfp_str_map_add(&n->label_map, copy, n->key.size, (uint32_t)n->label_count);
	if (found != TFP_STR_MAP_NONE)
		n->label_count++;
	return found;
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

/* ---- reading events ---- */

/* All events, line after line, in the order of the file. */
struct columns {
	int64_t *time, *used, *allocation, *requested, *address, *step;
	uint32_t *label, *line, *event;
	uint32_t *allocator; /* gone when the events are sorted by it */
	uint8_t *activity;
	uint8_t *is_null; /* allocations that got no address or no bytes */
};

/* The memory events of a line, in the order of the file. */
struct line_events {
	uint32_t *events;
	size_t count;
};

/* A part of a line's, read in one go, with names of its own. */
struct piece {
	uint32_t line;
	size_t from, count; /* in the line's list */
	size_t place;       /* in the columns */
	struct names names;
	struct tfp_memo *memo;
	/* Writers mostly refer to one text for an allocator's name. */
	const char *last_id;
	uint32_t last_allocator;
};

struct reader {
	const struct tfp_plane *plane;
	size_t plane_index;
	const struct tfp_schema *schema;
	const struct tfp_groups *groups; /* NULL: the capture brings its own along */
	uint8_t *kinds;                  /* by event metadata: enum tfp_memory_activity or 0 */
	struct line_events *lines;
	struct columns c;
	size_t count;
	struct piece *pieces;
	size_t piece_count;
	struct names names;
	atomic_bool no_memory;
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
static bool restore_order(const struct tfp_line *line, struct line_events *l)
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
	struct reader *r = context;
	const struct tfp_line *line = &r->plane->lines[index];
	struct line_events *l = &r->lines[index];
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
	*e = (struct raw_event){.step = NO_STEP,
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

static uint32_t label_of(struct piece *p, const struct raw_event *e)
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
	label = add_label(&p->names, &l);
	if (label != TFP_STR_MAP_NONE)
		tfp_memo_put(p->memo, &key, label);
	return label;
}

static uint32_t allocator_of(struct piece *p, const struct raw_event *e)
{
	char room[24];
	if (e->has_allocator && !e->allocator_is_text) {
		int n = snprintf(room, sizeof(room), "%" PRId64, e->allocator_number);
		return add_id(&p->names, (struct tfp_str){room, (size_t)n});
	}
	if (e->allocator.data != p->last_id) {
		p->last_allocator = add_id(&p->names, e->allocator);
		p->last_id = e->allocator.data;
	}
	return p->last_allocator;
}

static bool read_piece_event(struct reader *r, struct piece *p, size_t place, size_t i)
{
	const struct tfp_line *line = &r->plane->lines[p->line];
	struct columns *c = &r->c;
	struct raw_event e;
	read_event(r->plane, r->schema, line, i, &e);
	if (r->groups) {
		int32_t group = tfp_group_of(r->groups, r->plane_index, p->line, i);
		if (group != TFP_NO_GROUP)
			e.step = group;
	}
	c->time[place] = line->start_ps[i];
	c->used[place] = add(e.state.stack_bytes, e.state.heap_bytes);
	c->allocation[place] = e.allocation;
	c->requested[place] = e.requested;
	c->address[place] = e.address;
	c->step[place] = e.step;
	c->line[place] = p->line;
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
	struct reader *r = context;
	struct piece *p = &r->pieces[index];
	const uint32_t *events = r->lines[p->line].events + p->from;
	p->memo = tfp_memo_new(MEMO_SLOTS);
	bool ok = p->memo != NULL;
	for (size_t i = 0; ok && i < p->count; i++)
		ok = read_piece_event(r, p, p->place + i, events[i]);
	tfp_free(p->memo);
	p->memo = NULL;
	if (!ok)
		atomic_store(&r->no_memory, true);
}

static bool make_pieces(struct reader *r)
{
	size_t place = 0;
	for (size_t l = 0; l < r->plane->line_count; l++)
		r->piece_count += (r->lines[l].count + PIECE_EVENTS - 1) / PIECE_EVENTS;
	r->pieces = tfp_calloc(r->piece_count, sizeof(*r->pieces));
	if (!r->pieces)
		return false;
	struct piece *p = r->pieces;
	for (size_t l = 0; l < r->plane->line_count; l++) {
		for (size_t from = 0; from < r->lines[l].count; from += PIECE_EVENTS, p++) {
			size_t rest = r->lines[l].count - from;
			names_init(&p->names);
			p->line = (uint32_t)l;
			p->from = from;
			p->count = rest < PIECE_EVENTS ? rest : PIECE_EVENTS;
			p->place = place;
			place += p->count;
		}
	}
	return true;
}

static bool allocate_columns(struct reader *r)
{
	struct columns *c = &r->c;
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

static void release_columns(struct columns *c)
{
	void *all[] = {c->time,  c->used, c->allocation, c->requested, c->address,  c->step,
		       c->label, c->line, c->event,      c->allocator, c->activity, c->is_null};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tfp_free(all[i]);
	*c = (struct columns){0};
}

/* Gives the pieces' labels and allocators common numbers. */
static bool join_names(struct reader *r)
{
	for (size_t p = 0; p < r->piece_count; p++) {
		struct piece *piece = &r->pieces[p];
		size_t labels = piece->names.label_count, ids = piece->names.id_count;
		uint32_t *map = tfp_reallocarray(NULL, labels + ids, sizeof(*map));
		bool ok = map != NULL;
		for (size_t i = 0; ok && i < labels; i++) {
			map[i] = add_label(&r->names, &piece->names.labels[i]);
			ok = map[i] != TFP_STR_MAP_NONE;
		}
		for (size_t i = 0; ok && i < ids; i++) {
			map[labels + i] = add_id(&r->names, piece->names.ids[i]);
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

static void reader_release(struct reader *r)
{
	for (size_t l = 0; r->lines && l < r->plane->line_count; l++)
		tfp_free(r->lines[l].events);
	for (size_t p = 0; r->pieces && p < r->piece_count; p++)
		names_release(&r->pieces[p].names, false);
	tfp_free(r->lines);
	tfp_free(r->pieces);
	tfp_free(r->kinds);
	release_columns(&r->c);
}

/* ---- sorting by allocator and time ---- */

struct slice {
	const int64_t *time;
	const uint32_t *places;
};

static bool earlier(const void *context, uint32_t a, uint32_t b)
{
	const struct slice *s = context;
	return s->time[s->places[a]] < s->time[s->places[b]];
}

static bool lower_id(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_str *ids = context;
	return tfp_str_compare(ids[a], ids[b]) < 0;
}

/* The places in the columns, allocator by allocator; from[i]: where number i of the
 * sorted ids begins. */
static bool sort_places(const struct reader *r, const uint32_t *by_id, uint32_t *places,
			size_t *from)
{
	size_t ids = r->names.id_count;
	size_t *at = tfp_calloc(ids + 1, sizeof(*at));
	if (!at)
		return false;
	for (size_t i = 0; i < r->count; i++)
		at[r->c.allocator[i]]++;
	size_t sum = 0;
	for (size_t i = 0; i < ids; i++) {
		from[i] = sum;
		sum += at[by_id[i]];
		at[by_id[i]] = from[i];
	}
	from[ids] = sum;
	for (size_t i = 0; i < r->count; i++)
		places[at[r->c.allocator[i]]++] = (uint32_t)i;
	tfp_free(at);
	return true;
}

static bool sort_by_time(const struct reader *r, uint32_t *places, size_t count)
{
	struct slice slice = {r->c.time, places};
	uint32_t *order = tfp_sort_indexes(count, earlier, &slice);
	if (!order)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = places[order[i]];
	memcpy(places, order, count * sizeof(*places));
	tfp_free(order);
	return true;
}

/* A column in the new order. One after the other, so that only one is there twice. */
static bool reorder(void **column, size_t size, const uint32_t *places, size_t count)
{
	char *sorted = tfp_reallocarray(NULL, count, size), *old = *column;
	if (!sorted)
		return false;
	if (size == sizeof(int64_t)) {
		for (size_t i = 0; i < count; i++)
			((int64_t *)sorted)[i] = ((const int64_t *)old)[places[i]];
	} else if (size == sizeof(uint32_t)) {
		for (size_t i = 0; i < count; i++)
			((uint32_t *)sorted)[i] = ((const uint32_t *)old)[places[i]];
	} else {
		for (size_t i = 0; i < count; i++)
			sorted[i] = old[places[i]];
	}
	tfp_free(old);
	*column = sorted;
	return true;
}

#define REORDER(column) reorder((void **)&(column), sizeof(*(column)), places, r->count)

static bool reorder_columns(struct reader *r, const uint32_t *places)
{
	struct columns *c = &r->c;
	tfp_free(c->allocator);
	c->allocator = NULL;
	return REORDER(c->time) && REORDER(c->used) && REORDER(c->allocation) &&
	       REORDER(c->requested) && REORDER(c->address) && REORDER(c->step) &&
	       REORDER(c->label) && REORDER(c->line) && REORDER(c->event) && REORDER(c->activity) &&
	       REORDER(c->is_null);
}

/* ---- what the events of an allocator say together ---- */

/* UpdateStepId. */
static void fill_steps(int64_t *step, size_t count)
{
	int64_t last = NO_STEP;
	for (size_t i = 0; i < count; i++) {
		if (step[i] == NO_STEP)
			step[i] = add(last, 1);
		else
			last = step[i];
	}
}

/* Links events of one address, and gives deallocations the label of what they free: of
 * the first allocation there that nothing has freed yet (UpdateDeallocation). */
static bool link_addresses(const struct tfp_allocator *a, uint32_t *next, uint32_t *label)
{
	size_t room = 16;
	while (room < 2 * a->count)
		room *= 2;
	uint32_t *slots = tfp_reallocarray(NULL, room, sizeof(*slots));
	/* By event: the allocation that holds its address after it. */
	uint32_t *holder = tfp_reallocarray(NULL, a->count, sizeof(*holder));
	bool ok = slots && holder;
	if (ok)
		memset(slots, 0xff, room * sizeof(*slots));
	for (size_t i = 0; ok && i < a->count; i++) {
		size_t slot = tfp_hash_u64((uint64_t)a->address[i]) & (room - 1);
		while (slots[slot] != TFP_MEMORY_NONE && a->address[slots[slot]] != a->address[i])
			slot = (slot + 1) & (room - 1);
		uint32_t before = slots[slot];
		uint32_t held = before == TFP_MEMORY_NONE ? TFP_MEMORY_NONE : holder[before];
		if (before != TFP_MEMORY_NONE)
			next[before] = (uint32_t)i;
		next[i] = TFP_MEMORY_NONE;
		if (a->activity[i] == TFP_MEMORY_ALLOCATION) {
			holder[i] = held == TFP_MEMORY_NONE ? (uint32_t)i : held;
		} else {
			if (held != TFP_MEMORY_NONE)
				label[i] = label[held];
			holder[i] = TFP_MEMORY_NONE;
		}
		slots[slot] = (uint32_t)i;
	}
	tfp_free(slots);
	tfp_free(holder);
	return ok;
}

/* An allocation that got nothing is one that did not add to what is in use either: on
 * some devices 0 is a good address. */
static void count_failures(struct tfp_allocator *a, const uint8_t *is_null)
{
	a->first_failed = TFP_MEMORY_NONE;
	for (size_t i = 0; i < a->count; i++) {
		if (!is_null[i] || (i > 0 && a->used_bytes[i] > a->used_bytes[i - 1]) ||
		    (i == 0 && a->used_bytes[i] >= a->requested_bytes[i]))
			continue;
		if (a->failed++ == 0)
			a->first_failed = (uint32_t)i;
	}
}

/* The events of a time-sorted allocator that come last in the file: of all, and of those
 * with most memory in use (UpdateProfileSummary). */
static void find_peak(const struct tfp_memory *memory, struct tfp_allocator *a)
{
	const struct tfp_plane *plane = memory->plane;
	uint32_t last = 0, lowest = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		a->allocations += a->activity[i] == TFP_MEMORY_ALLOCATION;
		const struct tfp_line *line = &plane->lines[a->line[i]];
		uint64_t place = tfp_event_at(line, a->event[i]);
		const uint32_t *rivals[] = {&last, &a->peak};
		bool later[2];
		for (int k = 0; k < 2; k++) {
			uint32_t j = *rivals[k];
			later[k] = a->line[i] != a->line[j]
					   ? a->line[i] > a->line[j]
					   : place >= tfp_event_at(line, a->event[j]);
		}
		if (later[0])
			last = i;
		if (a->used_bytes[i] < a->used_bytes[lowest])
			lowest = i;
		if (a->used_bytes[i] < 0)
			continue;
		if (!a->has_peak || a->used_bytes[i] > a->used_bytes[a->peak] ||
		    (a->used_bytes[i] == a->used_bytes[a->peak] && later[1]))
			a->peak = i;
		a->has_peak = true;
	}
	a->deallocations = a->count - a->allocations;
	struct tfp_memory_state state;
	tfp_memory_state_at(memory, a, last, &state);
	a->lifetime_peak_bytes = state.peak_bytes;
	/* Where nothing is free when least is in use, nobody says how much is. */
	tfp_memory_state_at(memory, a, lowest, &state);
	a->knows_free = state.free_bytes > 0;
	for (size_t i = 0; a->has_peak && i < a->count; i++) {
		if (a->used_bytes[i] == a->used_bytes[a->peak])
			a->peak_step = a->step[i];
	}
}

static bool lower_label(const void *context, uint32_t x, uint32_t y)
{
	const struct tfp_memory_label *labels = context, *a = &labels[x], *b = &labels[y];
	int order = tfp_str_compare(a->op, b->op);
	if (!order)
		order = tfp_str_compare(a->region, b->region);
	if (!order)
		order = tfp_str_compare(a->data_type, b->data_type);
	if (!order)
		order = tfp_str_compare(a->shape, b->shape);
	return order < 0;
}

static bool rank_labels(struct tfp_memory *memory)
{
	uint32_t *order = tfp_sort_indexes(memory->label_count, lower_label, memory->labels);
	if (!order)
		return false;
	for (size_t i = 0; i < memory->label_count; i++)
		memory->labels[order[i]].rank = (uint32_t)i;
	tfp_free(order);
	return true;
}

/* ---- the fact ---- */

static void free_memory(void *fact)
{
	struct tfp_memory *memory = fact;
	for (size_t i = 0; i < sizeof(memory->columns) / sizeof(memory->columns[0]); i++)
		tfp_free(memory->columns[i]);
	tfp_schema_release(&memory->schema);
	tfp_free(memory->allocators);
	tfp_free(memory->labels);
	tfp_arena_release(&memory->arena);
	tfp_free(memory);
}

static bool find_kinds(struct reader *r)
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
static void compare_clocks(const struct reader *r, struct tfp_memory *memory)
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

static bool read_events(struct reader *r, struct tfp_pool *pool)
{
	names_init(&r->names);
	if (!make_pieces(r) || !allocate_columns(r))
		return false;
	tfp_pool_for(pool, r->piece_count, read_piece, r);
	return !atomic_load(&r->no_memory) && join_names(r);
}

static bool add_special_labels(struct names *names, struct tfp_memory *memory)
{
	const struct tfp_memory_label unused = {{"unused preallocated device memory", 33},
						{"persist/dynamic", 15},
						{"INVALID", 7},
						{"unknown", 7},
						0};
	const struct tfp_memory_label stack = {
		{"stack", 5}, {"stack", 5}, {"INVALID", 7}, {"unknown", 7}, 0};
	memory->unused_label = add_label(names, &unused);
	memory->stack_label = add_label(names, &stack);
	return memory->unused_label != TFP_STR_MAP_NONE && memory->stack_label != TFP_STR_MAP_NONE;
}

/* Hands the columns over to the allocators. */
static bool cut_columns(struct reader *r, struct tfp_memory *memory, const uint32_t *by_id,
			const size_t *from)
{
	struct columns *c = &r->c;
	uint32_t *next = tfp_reallocarray(NULL, r->count, sizeof(*next));
	bool ok = next != NULL;
	for (size_t i = 0; ok && i < memory->allocator_count; i++) {
		size_t at = from[i];
		struct tfp_allocator *a = &memory->allocators[i];
		a->id = r->names.ids[by_id[i]];
		a->count = from[i + 1] - at;
		a->time_ps = c->time + at;
		a->used_bytes = c->used + at;
		a->allocation_bytes = c->allocation + at;
		a->requested_bytes = c->requested + at;
		a->address = c->address + at;
		a->step = c->step + at;
		a->label = c->label + at;
		a->next = next + at;
		a->line = c->line + at;
		a->event = c->event + at;
		a->activity = c->activity + at;
		fill_steps(c->step + at, a->count);
		ok = link_addresses(a, next + at, c->label + at);
		count_failures(a, c->is_null + at);
		find_peak(memory, a);
	}
	void *all[] = {c->time,  c->used, c->allocation, c->requested, c->address, c->step,
		       c->label, c->line, c->event,      c->activity,  next};
	_Static_assert(sizeof(all) == sizeof(memory->columns), "every column is kept");
	memcpy(memory->columns, all, sizeof(all));
	tfp_free(c->is_null);
	*c = (struct columns){0};
	return ok;
}

static bool arrange(struct reader *r, struct tfp_memory *memory)
{
	size_t ids = r->names.id_count;
	uint32_t *by_id = tfp_sort_indexes(ids, lower_id, r->names.ids);
	uint32_t *places = tfp_reallocarray(NULL, r->count, sizeof(*places));
	size_t *from = tfp_calloc(ids + 1, sizeof(*from));
	memory->allocators = tfp_calloc(ids, sizeof(*memory->allocators));
	bool ok = by_id && places && from && memory->allocators &&
		  sort_places(r, by_id, places, from);
	for (size_t i = 0; ok && i < ids; i++)
		ok = sort_by_time(r, places + from[i], from[i + 1] - from[i]);
	ok = ok && reorder_columns(r, places);
	tfp_free(places);
	if (ok) {
		memory->allocator_count = ids;
		ok = cut_columns(r, memory, by_id, from);
	}
	tfp_free(by_id);
	tfp_free(from);
	return ok;
}

static enum tfp_status fill(struct tfp_capture *capture, struct tfp_pool *pool,
			    struct tfp_memory *memory, struct reader *r, struct tfp_error *err)
{
	if (!find_kinds(r))
		return no_memory(err);
	if (!r->lines)
		return TFP_OK;
	tfp_pool_for(pool, r->plane->line_count, list_line, r);
	if (atomic_load(&r->no_memory))
		return no_memory(err);
	for (size_t l = 0; l < r->plane->line_count; l++)
		r->count += r->lines[l].count;
	if (r->count == 0)
		return TFP_OK;
	if (r->count >= TFP_MEMORY_NONE)
		return tfp_fail(err, TFP_TOO_LARGE, "more than 2^32 events of allocators");
	compare_clocks(r, memory);
	/* Making groups costs more than all the rest; a file that has them says so. */
	if (!tfp_capture_is_grouped(capture)) {
		enum tfp_status status = tfp_groups_get(capture, pool, &r->groups, err);
		if (status != TFP_OK)
			return status;
	}
	bool ok = read_events(r, pool) && add_special_labels(&r->names, memory);
	memory->labels = r->names.labels;
	memory->label_count = r->names.label_count;
	ok = ok && rank_labels(memory) && arrange(r, memory);
	memory->arena = r->names.arena;
	tfp_free(r->names.ids);
	names_release(&r->names, true);
	return ok ? TFP_OK : no_memory(err);
}

static uint64_t held_bytes(const struct tfp_memory *memory)
{
	uint64_t bytes = sizeof(*memory) + memory->arena.bytes;
	const size_t per_event = 6 * sizeof(int64_t) + 4 * sizeof(uint32_t) + sizeof(uint8_t);
	bytes += memory->label_count * sizeof(*memory->labels);
	bytes += memory->allocator_count * sizeof(*memory->allocators);
	for (size_t i = 0; i < memory->allocator_count; i++)
		bytes += memory->allocators[i].count * per_event;
	return bytes;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	struct tfp_memory *memory = tfp_calloc(1, sizeof(*memory));
	if (!memory)
		return no_memory(err);
	memory->plane = tfp_capture_find_plane(capture, "/host:CPU");
	if (memory->plane) {
		struct reader r = {.plane = memory->plane, .schema = &memory->schema};
		r.plane_index = (size_t)(memory->plane - capture->planes);
		status = tfp_schema_init(&memory->schema, memory->plane, stat_names, STAT_COUNT,
					 err);
		if (status == TFP_OK)
			status = fill(capture, pool, memory, &r, err);
		reader_release(&r);
	}
	if (status != TFP_OK) {
		free_memory(memory);
		return status;
	}
	*heap_bytes = held_bytes(memory);
	*fact = memory;
	return TFP_OK;
}

enum tfp_status tfp_memory_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_memory **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_memory};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

void tfp_memory_state_at(const struct tfp_memory *memory, const struct tfp_allocator *a, size_t i,
			 struct tfp_memory_state *state)
{
	struct raw_event e;
	read_event(memory->plane, &memory->schema, &memory->plane->lines[a->line[i]], a->event[i],
		   &e);
	*state = e.state;
}

/* ---- what is in use at a time ---- */

/* The first event after time_ps. */
static size_t end_of_time(const struct tfp_allocator *a, int64_t time_ps)
{
	size_t low = 0, high = a->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (a->time_ps[middle] <= time_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tfp_memory_moment_of_peak(const struct tfp_memory *memory, const struct tfp_allocator *a,
			       struct tfp_memory_moment *moment)
{
	*moment = (struct tfp_memory_moment){0};
	if (!a->has_peak)
		return false;
	moment->time_ps = a->time_ps[a->peak];
	moment->end = end_of_time(a, moment->time_ps);
	moment->step = a->peak_step;
	tfp_memory_state_at(memory, a, a->peak, &moment->state);
	moment->state.peak_bytes = a->used_bytes[a->peak];
	return true;
}

bool tfp_memory_moment_at(const struct tfp_memory *memory, const struct tfp_allocator *a,
			  int64_t time_ps, struct tfp_memory_moment *moment)
{
	size_t end = end_of_time(a, time_ps);
	*moment = (struct tfp_memory_moment){0};
	if (end == 0)
		return false;
	moment->time_ps = time_ps;
	moment->end = end;
	moment->step = a->step[end - 1];
	tfp_memory_state_at(memory, a, end - 1, &moment->state);
	return true;
}

struct look {
	const struct tfp_allocator *a;
	size_t end;
	bool one_step;
	int64_t step;
};

static bool counts(const struct look *l, size_t i)
{
	return !l->one_step || l->a->step[i] == l->step;
}

/* The next event of the address that counts, or TFP_MEMORY_NONE. */
static uint32_t next_of(const struct look *l, uint32_t i)
{
	do
		i = l->a->next[i];
	while (i < l->end && !counts(l, i));
	return i < l->end ? i : TFP_MEMORY_NONE;
}

static bool add_row(struct tfp_memory_rows *out, size_t *room, struct tfp_memory_row row)
{
	if (out->count == *room) {
		size_t more = *room ? *room * 2 : 256;
		struct tfp_memory_row *rows = tfp_reallocarray(out->rows, more, sizeof(*rows));
		if (!rows)
			return false;
		out->rows = rows;
		*room = more;
	}
	out->rows[out->count++] = row;
	return true;
}

struct row_order {
	const struct tfp_memory_label *labels;
	const struct tfp_memory_row *rows;
};

static bool larger(const void *context, uint32_t x, uint32_t y)
{
	const struct row_order *o = context;
	const struct tfp_memory_row *a = &o->rows[x], *b = &o->rows[y];
	if (a->allocation_bytes != b->allocation_bytes)
		return a->allocation_bytes > b->allocation_bytes;
	if (a->requested_bytes != b->requested_bytes)
		return a->requested_bytes > b->requested_bytes;
	return o->labels[a->label].rank < o->labels[b->label].rank;
}

/* Sorts, and makes one row of neighbours that are equal. */
static bool merge_rows(const struct tfp_memory *memory, struct tfp_memory_rows *out)
{
	const struct row_order context = {memory->labels, out->rows};
	uint32_t *order = tfp_sort_indexes(out->count, larger, &context);
	struct tfp_memory_row *merged = tfp_reallocarray(NULL, out->count, sizeof(*merged));
	size_t n = 0;
	bool ok = order && merged;
	for (size_t i = 0; ok && i < out->count; i++) {
		const struct tfp_memory_row *row = &out->rows[order[i]];
		struct tfp_memory_row *last = n ? &merged[n - 1] : NULL;
		if (last && last->allocation_bytes == row->allocation_bytes &&
		    last->requested_bytes == row->requested_bytes && last->label == row->label)
			last->occurrences++;
		else
			merged[n++] = *row;
	}
	tfp_free(order);
	if (!ok) {
		tfp_free(merged);
		return false;
	}
	tfp_free(out->rows);
	out->rows = merged;
	out->count = n;
	return true;
}

/* ProcessActiveAllocations. Of two allocations at an address without a deallocation
 * between them the later is in use. */
enum tfp_status tfp_memory_alive(const struct tfp_memory *memory, const struct tfp_allocator *a,
				 const struct tfp_memory_moment *moment,
				 enum tfp_memory_scope scope, struct tfp_memory_rows *out,
				 struct tfp_error *err)
{
	const struct look l = {a, moment->end, scope == TFP_MEMORY_STEP, moment->step};
	int64_t unused = moment->state.heap_bytes;
	size_t room = 0;
	bool ok = true;
	*out = (struct tfp_memory_rows){0};
	for (uint32_t i = 0; ok && i < moment->end; i++) {
		int64_t bytes = a->allocation_bytes[i];
		if (!counts(&l, i))
			continue;
		if (a->activity[i] == TFP_MEMORY_DEALLOCATION)
			continue;
		uint32_t next = next_of(&l, i);
		unused = subtract(unused, bytes);
		/* What was freed was allocated in scope; what is freed and was not adds nothing
		 * to the rest, because it is taken off again as freed memory of before. */
		if (next == TFP_MEMORY_NONE)
			ok = add_row(out, &room,
				     (struct tfp_memory_row){bytes, a->requested_bytes[i],
							     a->label[i], i, 1});
		else if (a->activity[next] == TFP_MEMORY_DEALLOCATION)
			unused = add(unused, a->allocation_bytes[next]);
	}
	out->unused_bytes = unused;
	out->stack_bytes = moment->state.stack_bytes;
	if (ok && out->unused_bytes > 0)
		ok = add_row(out, &room,
			     (struct tfp_memory_row){unused, unused, memory->unused_label,
						     TFP_MEMORY_NONE, 1});
	if (ok && out->stack_bytes > 0)
		ok = add_row(out, &room,
			     (struct tfp_memory_row){out->stack_bytes, out->stack_bytes,
						     memory->stack_label, TFP_MEMORY_NONE, 1});
	if (ok && out->count)
		ok = merge_rows(memory, out);
	if (ok)
		return TFP_OK;
	tfp_memory_rows_release(out);
	return no_memory(err);
}

void tfp_memory_rows_release(struct tfp_memory_rows *rows)
{
	tfp_free(rows->rows);
	*rows = (struct tfp_memory_rows){0};
}

/* ---- fewer events, the peaks kept ---- */

uint32_t *tfp_memory_sample(const struct tfp_allocator *a, size_t max, size_t *count)
{
	size_t boxes = a->count < max ? a->count : max;
	uint32_t *chosen = tfp_reallocarray(NULL, boxes, sizeof(*chosen));
	*count = chosen ? boxes : 0;
	if (!chosen || boxes == 0)
		return chosen;
	size_t width = a->count / boxes, narrow = boxes * (width + 1) - a->count, at = 0;
	for (size_t b = 0; b < boxes; b++) {
		size_t end = at + width + (b >= narrow), best = at;
		for (at++; at < end; at++) {
			if (a->used_bytes[at] > a->used_bytes[best])
				best = at;
		}
		chosen[b] = (uint32_t)best;
	}
	return chosen;
}

/* Of the events from..end-1 the first, lowest, highest and last, each once, in order. */
static size_t corners(const struct tfp_allocator *a, size_t from, size_t end, uint32_t *chosen)
{
	size_t lowest = from, highest = from, n = 0;
	for (size_t i = from; i < end; i++) {
		if (a->used_bytes[i] < a->used_bytes[lowest])
			lowest = i;
		if (a->used_bytes[i] > a->used_bytes[highest])
			highest = i;
	}
	const size_t in_order[] = {from, lowest < highest ? lowest : highest,
				   lowest < highest ? highest : lowest, end - 1};
	for (int i = 0; i < 4; i++) {
		if (n == 0 || chosen[n - 1] != in_order[i])
			chosen[n++] = (uint32_t)in_order[i];
	}
	return n;
}

uint32_t *tfp_memory_outline(const struct tfp_allocator *a, int64_t from_ps, int64_t to_ps,
			     size_t max, size_t *count)
{
	size_t first = from_ps == INT64_MIN ? 0 : end_of_time(a, from_ps - 1);
	size_t end = end_of_time(a, to_ps), n = 0;
	if (end < first)
		end = first;
	first -= first > 0;
	end += end < a->count;
	bool all = end <= first || end - first <= max;
	uint32_t *chosen = tfp_reallocarray(NULL, all ? end - first : max + 4, sizeof(*chosen));
	*count = 0;
	if (!chosen)
		return NULL;
	if (all) {
		for (size_t i = first; i < end; i++)
			chosen[n++] = (uint32_t)i;
		*count = n;
		return chosen;
	}
	size_t stretches = max / 4, at = first;
	long double start = a->time_ps[first], length = a->time_ps[end - 1] - start;
	for (size_t s = 0; s < stretches && at < end; s++) {
		size_t from = at;
		long double until = start + length * (long double)(s + 1) / (long double)stretches;
		while (at < end && (s + 1 == stretches || a->time_ps[at] < until))
			at++;
		if (at > from)
			n += corners(a, from, at, chosen + n);
	}
	*count = n;
	return chosen;
}
