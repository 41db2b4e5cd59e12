/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/stat_columns.h"

#include "analysis/events/schema.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	CORRELATION_ID,
	DEVICE_ID,
	FLOW,
	FUNCTION_CALL,
	FIRST_LINKED,
	LAST_LINKED = FIRST_LINKED + 17,
	FIRST_OF_KIND,
	LAST_OF_KIND = FIRST_OF_KIND + 14,
	WANTED
};

static const char *const names[WANTED] = {
	[CORRELATION_ID] = "correlation_id",
	[DEVICE_ID] = "device_id",
	[FLOW] = "flow",
	[FUNCTION_CALL] = "tf_function_call",
	/* What grouping and flows ask for beside these. */
	[FIRST_LINKED] = "_pt",
	"_p",
	"_ct",
	"_c",
	"_pid",
	"_r",
	"_a",
	"id",
	"iter_num",
	"step_num",
	"graph_type",
	"is_func",
	"request_id",
	"queue_addr",
	"device_ordinal",
	"queue_id",
	"run_id",
	[LAST_LINKED] = "core_type",
	/* The stats of GPU events that gpu_events, step_events and derived_gpu ask for. */
	[FIRST_OF_KIND] = "tf_op",
	"level 0",
	"annotation",
	"hlo_op",
	"hlo_module",
	"program_id",
	"kernel_details",
	"equation",
	"is_eager",
	"flops",
	"bytes_accessed",
	"shape",
	"memcpy_details",
	"cuda_graph_exec_id",
	[LAST_OF_KIND] = "cuda_graph_id",
};

/* Kinds save little on a line where they are more than this share of its events. */
#define EVENTS_A_KIND 8u
#define FEW_KINDS     1024u

struct kind_slot {
	uint64_t hash;
	uint32_t kind; /* counted from 1; 0 is an empty slot */
};

/* A line while it is read. */
struct reading {
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	const struct tfp_schema *schema;
	bool is_gpu;
	struct tfp_line_stats *out;
	size_t id_room, device_room, kind_room;
	struct kind_slot *slots;
	size_t slot_count; /* a power of two */
};

struct work {
	struct reading *lines;
	atomic_bool no_memory;
};

/* ---- sets ---- */

static bool put(struct tfp_event_set *set, const struct tfp_line *line, size_t event)
{
	if (!set->words)
		set->words = tfp_calloc(line->event_count / 64 + 1, sizeof(*set->words));
	if (!set->words)
		return false;
	set->words[event / 64] |= UINT64_C(1) << event % 64;
	return true;
}

static bool finish(struct tfp_event_set *set, const struct tfp_line *line)
{
	size_t words = line->event_count / 64 + 1;
	if (!set->words)
		return true;
	set->before = tfp_reallocarray(NULL, words, sizeof(*set->before));
	if (!set->before)
		return false;
	for (size_t w = 0; w < words; w++) {
		set->before[w] = (uint32_t)set->count;
		set->count += (size_t)__builtin_popcountll(set->words[w]);
	}
	return true;
}

size_t tfp_event_set_next(const struct tfp_event_set *set, size_t event, size_t events)
{
	if (!set->words || event >= events)
		return SIZE_MAX;
	size_t w = event / 64;
	uint64_t word = set->words[w] & (UINT64_MAX << event % 64);
	while (word == 0) {
		if (++w > (events - 1) / 64)
			return SIZE_MAX;
		word = set->words[w];
	}
	return w * 64 + (size_t)__builtin_ctzll(word);
}

size_t tfp_event_set_at(const struct tfp_event_set *set, size_t events, uint32_t rank)
{
	size_t low = 0, high = events / 64 + 1; /* the last word with no more before it */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (set->before[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	uint64_t word = set->words[low];
	for (uint32_t n = rank - set->before[low]; n > 0; n--)
		word &= word - 1;
	return low * 64 + (size_t)__builtin_ctzll(word);
}

/* ---- correlation ids ---- */

/* The next size of a column that is full: a quarter more, at most one entry for each event. */
static size_t more_room(const struct reading *r, size_t room)
{
	size_t more = room + room / 4 + 64;
	return more < r->line->event_count ? more : r->line->event_count;
}

static size_t id_blocks(size_t count)
{
	return count / TFP_IDS_A_BLOCK + 1;
}

static bool widen_ids(struct reading *r, size_t count)
{
	struct tfp_line_stats *s = r->out;
	uint64_t *ids = tfp_reallocarray(NULL, r->id_room, sizeof(*ids));
	if (!ids)
		return false;
	for (size_t i = 0; i < count; i++)
		ids[i] = tfp_correlation_at(s, (uint32_t)i);
	tfp_free(s->narrow_ids);
	tfp_free(s->id_blocks);
	s->narrow_ids = NULL;
	s->id_blocks = NULL;
	s->wide_ids = ids;
	return true;
}

/* Room for so many ids, at least those that there are. */
static bool resize_ids(struct reading *r, size_t room)
{
	struct tfp_line_stats *s = r->out;
	if (s->wide_ids) {
		void *ids = tfp_reallocarray(s->wide_ids, room, sizeof(*s->wide_ids));
		s->wide_ids = ids ? ids : s->wide_ids;
		return ids != NULL;
	}
	void *ids = tfp_reallocarray(s->narrow_ids, room, sizeof(*s->narrow_ids));
	s->narrow_ids = ids ? ids : s->narrow_ids;
	void *blocks =
		ids ? tfp_reallocarray(s->id_blocks, id_blocks(room), sizeof(*s->id_blocks)) : NULL;
	s->id_blocks = blocks ? blocks : s->id_blocks;
	return blocks != NULL;
}

static bool grow_ids(struct reading *r)
{
	size_t room = more_room(r, r->id_room);
	if (!resize_ids(r, room))
		return false;
	r->id_room = room;
	return true;
}

/* Threads take ids in turn, and some come a little later than they were taken. */
#define ID_SLACK (UINT16_MAX / 4)

/* Whether there was room for it in 16 bits. */
static bool put_narrow_id(struct tfp_line_stats *s, size_t rank, uint64_t id)
{
	uint64_t *block = &s->id_blocks[rank / TFP_IDS_A_BLOCK];
	if (rank % TFP_IDS_A_BLOCK == 0)
		*block = id > ID_SLACK ? id - ID_SLACK : 0;
	s->narrow_ids[rank] = (uint16_t)(id - *block);
	return id >= *block && id - *block <= UINT16_MAX;
}

static bool put_device(struct reading *r, size_t count, uint8_t device)
{
	struct tfp_line_stats *s = r->out;
	if (!s->devices && device == TFP_NO_DEVICE)
		return true;
	if (!s->devices || r->device_room < r->id_room) {
		uint8_t *devices = tfp_realloc(s->devices, r->id_room);
		if (!devices)
			return false;
		if (!s->devices)
			memset(devices, TFP_NO_DEVICE, count);
		s->devices = devices;
		r->device_room = r->id_room;
	}
	s->devices[count] = device;
	return true;
}

/* The sets' count is that of correlated events so far. */
static bool put_id(struct reading *r, size_t event, uint64_t id, uint8_t device)
{
	struct tfp_line_stats *s = r->out;
	size_t count = s->correlated.count;
	if ((count == r->id_room && !grow_ids(r)) || !put(&s->correlated, r->line, event) ||
	    !put_device(r, count, device))
		return false;
	if (!s->wide_ids && !put_narrow_id(s, count, id) && !widen_ids(r, count))
		return false;
	if (s->wide_ids)
		s->wide_ids[count] = id;
	s->correlated.count++;
	return true;
}

/* Gives back the room that no id needed. */
static void fit_ids(struct reading *r)
{
	struct tfp_line_stats *s = r->out;
	size_t count = s->correlated.count;
	void *fitting;
	if (r->id_room && !resize_ids(r, count))
		return; /* it fits as it is */
	if (s->devices && (fitting = tfp_realloc(s->devices, count ? count : 1)))
		s->devices = fitting;
}

/* ---- kinds ---- */

static uint64_t hash_stat(uint64_t hash, int name, const struct tfp_stat *stat)
{
	hash = tfp_hash_u64(hash ^ ((uint64_t)name << 8 | (uint64_t)stat->kind));
	if (stat->kind == TFP_STAT_STR || stat->kind == TFP_STAT_BYTES)
		return tfp_hash_bytes(stat->text.data, stat->text.size, hash);
	return tfp_hash_u64(hash ^ stat->uint_value);
}

static void drop_kinds(struct reading *r)
{
	struct tfp_line_stats *s = r->out;
	tfp_free(s->narrow_kinds);
	tfp_free(s->wide_kinds);
	tfp_free(s->first_of_kind);
	tfp_free(r->slots);
	s->narrow_kinds = NULL;
	s->wide_kinds = s->first_of_kind = NULL;
	s->kind_count = 0;
	r->slots = NULL;
	r->slot_count = 0;
}

static struct kind_slot *slot_of(const struct reading *r, uint64_t hash)
{
	size_t i = hash & (r->slot_count - 1);
	while (r->slots[i].kind && r->slots[i].hash != hash)
		i = (i + 1) & (r->slot_count - 1);
	return &r->slots[i];
}

static bool more_slots(struct reading *r)
{
	struct kind_slot *old = r->slots;
	size_t old_count = r->slot_count;
	r->slot_count = old_count ? old_count * 2 : 256;
	r->slots = tfp_calloc(r->slot_count, sizeof(*r->slots));
	if (!r->slots) {
		r->slots = old;
		r->slot_count = old_count;
		return false;
	}
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].kind)
			*slot_of(r, old[i].hash) = old[i];
	}
	tfp_free(old);
	return true;
}

static bool widen_kinds(struct reading *r, size_t count)
{
	struct tfp_line_stats *s = r->out;
	s->wide_kinds = tfp_reallocarray(NULL, r->line->event_count, sizeof(*s->wide_kinds));
	if (!s->wide_kinds)
		return false;
	for (size_t i = 0; i < count; i++)
		s->wide_kinds[i] = s->narrow_kinds[i];
	tfp_free(s->narrow_kinds);
	s->narrow_kinds = NULL;
	return true;
}

static bool begin_kinds(struct reading *r)
{
	r->out->narrow_kinds =
		tfp_reallocarray(NULL, r->line->event_count, sizeof(*r->out->narrow_kinds));
	return r->out->narrow_kinds && more_slots(r);
}

/* One hash stands for the name and the stats. Different ones share it with a chance of 1 in
 * 2^64. */
static bool put_kind(struct reading *r, size_t event, uint64_t hash)
{
	struct tfp_line_stats *s = r->out;
	if (!r->slots)
		return true; /* given up */
	if ((size_t)s->kind_count * 2 >= r->slot_count && !more_slots(r))
		return false;
	struct kind_slot *slot = slot_of(r, hash);
	if (slot->kind == 0) {
		if (s->kind_count >= FEW_KINDS &&
		    s->kind_count >= r->line->event_count / EVENTS_A_KIND) {
			drop_kinds(r);
			return true;
		}
		if (s->kind_count == (uint32_t)UINT16_MAX + 1 && !widen_kinds(r, event))
			return false;
		if (!TFP_GROW(s->first_of_kind, s->kind_count, r->kind_room))
			return false;
		s->first_of_kind[s->kind_count++] = (uint32_t)event;
		*slot = (struct kind_slot){hash, s->kind_count};
	}
	if (s->narrow_kinds)
		s->narrow_kinds[event] = (uint16_t)(slot->kind - 1);
	else
		s->wide_kinds[event] = slot->kind - 1;
	return true;
}

/* ---- reading ---- */

static bool read_event(struct reading *r, size_t i)
{
	struct tfp_line_stats *s = r->out;
	struct tfp_stat_iter it = tfp_event_stats(r->line, i);
	struct tfp_stat stat;
	bool ok = true, correlated = false, odd = false;
	uint64_t hash = tfp_hash_u64(tfp_event_meta_index(r->line, i)), id = 0;
	unsigned id_stats = 0;
	uint8_t device = TFP_NO_DEVICE;
	int64_t number;
	int name;
	while (ok && (name = tfp_schema_next(r->schema, &it, &stat)) >= 0) {
		if (name >= FIRST_OF_KIND) {
			hash = hash_stat(hash, name, &stat);
		} else if (name >= FIRST_LINKED) {
			ok = put(&s->linked, r->line, i);
		} else if (name == CORRELATION_ID) {
			bool is_number = tfp_stat_int(&stat, &number);
			if (is_number)
				id = (uint64_t)number;
			correlated |= is_number;
			odd |= ++id_stats > 1 || !is_number ||
			       (number < 0 && stat.kind != TFP_STAT_UINT);
		} else if (name == DEVICE_ID) {
			bool is_number = tfp_stat_int(&stat, &number);
			device = device == TFP_NO_DEVICE && is_number && number >= 0 &&
						 number < (int64_t)TFP_NO_DEVICE
					 ? (uint8_t)number
					 : TFP_OTHER_DEVICE;
		} else {
			ok = put(name == FLOW ? &s->flowing : &s->calls, r->line, i);
		}
	}
	if (ok && correlated)
		ok = put_id(r, i, id, device);
	if (ok && odd)
		ok = put(&s->odd, r->line, i);
	return ok && (!r->is_gpu || put_kind(r, i, hash));
}

static void read_line(void *context, size_t index)
{
	struct work *work = context;
	struct reading *r = &work->lines[index];
	struct tfp_line_stats *s = r->out;
	bool ok = !r->is_gpu || begin_kinds(r);
	size_t i = 0;
	for (; ok && i < r->line->event_count && tfp_goes_on(i); i++)
		ok = read_event(r, i);
	if (i < r->line->event_count)
		drop_kinds(r); /* it gave up, or for want of people */
	tfp_free(r->slots);
	fit_ids(r);
	s->correlated.count = 0;
	if (!ok || !finish(&s->correlated, r->line) || !finish(&s->odd, r->line) ||
	    !finish(&s->linked, r->line) || !finish(&s->flowing, r->line) ||
	    !finish(&s->calls, r->line))
		atomic_store(&work->no_memory, true);
}

/* ---- the facts ---- */

static void release_set(struct tfp_event_set *set)
{
	tfp_free(set->words);
	tfp_free(set->before);
}

static void release_line(struct tfp_line_stats *s)
{
	release_set(&s->correlated);
	release_set(&s->odd);
	release_set(&s->linked);
	release_set(&s->flowing);
	release_set(&s->calls);
	tfp_free(s->narrow_ids);
	tfp_free(s->id_blocks);
	tfp_free(s->wide_ids);
	tfp_free(s->devices);
	tfp_free(s->narrow_kinds);
	tfp_free(s->wide_kinds);
	tfp_free(s->first_of_kind);
}

struct fact {
	struct tfp_stat_columns pub;
	const struct tfp_capture *capture;
};

static void free_fact(void *fact)
{
	struct fact *f = fact;
	for (size_t p = 0; f->pub.planes && p < f->pub.plane_count; p++) {
		for (size_t l = 0; f->pub.planes[p] && l < f->capture->planes[p].line_count; l++)
			release_line(&f->pub.planes[p][l]);
		tfp_free(f->pub.planes[p]);
	}
	tfp_free(f->pub.planes);
	tfp_free(f);
}

static uint64_t set_bytes(const struct tfp_event_set *set, size_t events)
{
	return set->words ? (events / 64 + 1) * (sizeof(*set->words) + sizeof(*set->before)) : 0;
}

static uint64_t line_bytes(const struct tfp_line_stats *s, size_t events)
{
	return sizeof(*s) + set_bytes(&s->correlated, events) + set_bytes(&s->odd, events) +
	       set_bytes(&s->linked, events) + set_bytes(&s->flowing, events) +
	       set_bytes(&s->calls, events) +
	       s->correlated.count *
		       ((s->narrow_ids ? sizeof(*s->narrow_ids) : 0) +
			(s->wide_ids ? sizeof(*s->wide_ids) : 0) + (s->devices != NULL)) +
	       events * ((s->narrow_kinds ? sizeof(*s->narrow_kinds) : 0) +
			 (s->wide_kinds ? sizeof(*s->wide_kinds) : 0)) +
	       s->kind_count * sizeof(*s->first_of_kind);
}

static int larger_first(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;
	if (x->line->event_count != y->line->event_count)
		return x->line->event_count < y->line->event_count ? 1 : -1;
	return x->out < y->out ? -1 : x->out > y->out;
}

static bool has_any(const struct tfp_schema *schema, bool is_gpu)
{
	return is_gpu || tfp_schema_has_any(schema);
}

/* Lists the lines to read; schemas are by plane. */
static enum tfp_status prepare(struct fact *f, bool gpus, struct tfp_schema *schemas,
			       struct work *work, size_t *count, struct tfp_error *err)
{
	const struct tfp_capture *c = f->capture;
	for (size_t p = 0; p < c->plane_count; p++) {
		const struct tfp_plane *plane = &c->planes[p];
		if ((tfp_plane_kind(plane->name) == TFP_PLANE_GPU) != gpus)
			continue;
		f->pub.planes[p] = tfp_calloc(plane->line_count, sizeof(**f->pub.planes));
		if (!f->pub.planes[p])
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for what stats say");
		enum tfp_status status = tfp_schema_init(&schemas[p], plane, names,
							 gpus ? WANTED : FIRST_OF_KIND, err);
		if (status != TFP_OK)
			return status;
		for (size_t l = 0; l < plane->line_count; l++) {
			if (plane->lines[l].event_count && has_any(&schemas[p], gpus))
				work->lines[(*count)++] =
					(struct reading){.plane = plane,
							 .line = &plane->lines[l],
							 .schema = &schemas[p],
							 .is_gpu = gpus,
							 .out = &f->pub.planes[p][l]};
		}
	}
	if (*count)
		qsort(work->lines, *count, sizeof(*work->lines), larger_first);
	return TFP_OK;
}

static enum tfp_status make(struct tfp_capture *capture, struct tfp_pool *pool, bool gpus,
			    void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	struct fact *f = tfp_calloc(1, sizeof(*f));
	struct tfp_schema *schemas = tfp_calloc(capture->plane_count, sizeof(*schemas));
	struct work work = {.lines = tfp_calloc(capture->line_count, sizeof(*work.lines))};
	size_t count = 0;
	enum tfp_status status = TFP_NO_MEMORY;
	if (f) {
		f->capture = capture;
		f->pub.plane_count = capture->plane_count;
		f->pub.planes = tfp_calloc(capture->plane_count, sizeof(struct tfp_line_stats *));
	}
	if (f && f->pub.planes && schemas && work.lines)
		status = prepare(f, gpus, schemas, &work, &count, err);
	else
		tfp_fail(err, TFP_NO_MEMORY, "no memory for what stats say");
	if (status == TFP_OK) {
		tfp_pool_for(pool, count, read_line, &work);
		if (atomic_load(&work.no_memory))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for what stats say");
	}
	for (size_t p = 0; schemas && p < capture->plane_count; p++)
		tfp_schema_release(&schemas[p]);
	tfp_free(schemas);
	tfp_free(work.lines);
	if (status != TFP_OK) {
		if (f)
			free_fact(f);
		return status;
	}
	*heap_bytes = sizeof(*f) + capture->plane_count * sizeof(*f->pub.planes);
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t l = 0; f->pub.planes[p] && l < capture->planes[p].line_count; l++)
			*heap_bytes += line_bytes(&f->pub.planes[p][l],
						  capture->planes[p].lines[l].event_count);
	}
	*fact = f;
	return TFP_OK;
}

static enum tfp_status make_gpus(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
				 uint64_t *heap_bytes, struct tfp_error *err)
{
	return make(capture, pool, true, fact, heap_bytes, err);
}

static enum tfp_status make_others(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
				   uint64_t *heap_bytes, struct tfp_error *err)
{
	return make(capture, pool, false, fact, heap_bytes, err);
}

enum tfp_status tfp_stat_columns_get(struct tfp_capture *capture, struct tfp_pool *pool,
				     enum tfp_stats_of which, const struct tfp_stat_columns **out,
				     struct tfp_error *err)
{
	static const struct tfp_fact_kind kinds[] = {
		[TFP_STATS_OF_GPUS] = {make_gpus, free_fact},
		[TFP_STATS_OF_OTHERS] = {make_others, free_fact},
	};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kinds[which], pool, &fact, err);
	*out = fact;
	return status;
}

struct both {
	struct tfp_capture *capture;
	struct tfp_pool *pool;
	const struct tfp_stat_columns **out;
	enum tfp_status status[2];
	struct tfp_error errors[2];
};

static void get_one(void *context, size_t which)
{
	struct both *b = context;
	b->status[which] = tfp_stat_columns_get(b->capture, b->pool, (enum tfp_stats_of)which,
						&b->out[which], &b->errors[which]);
}

enum tfp_status tfp_stat_columns_get_all(struct tfp_capture *capture, struct tfp_pool *pool,
					 const struct tfp_stat_columns *out[2],
					 struct tfp_error *err)
{
	struct both b = {.capture = capture, .pool = pool, .out = out};
	tfp_pool_for(pool, 2, get_one, &b);
	for (int i = 0; i < 2; i++) {
		if (b.status[i] == TFP_OK)
			continue;
		if (err)
			*err = b.errors[i];
		return b.status[i];
	}
	return TFP_OK;
}
