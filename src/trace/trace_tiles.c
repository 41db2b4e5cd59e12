/* SPDX-License-Identifier: Apache-2.0 */
/* /trace_viewer/tiles: what can be told apart of some tracks in a stretch of time, as
 * columns. */
#include "analysis/timeline/stretches.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/str_map.h"
#include "trace/trace.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define TILE_SLOTS  512
#define TILES_MAX   16u
#define TRACKS_MAX  1024u
#define ENTRIES_MAX 24000u
/* So much coarser than asked for a track can get: then a slot is sixteen tiles. */
#define COARSER_MAX 13u
/* The bounds may add up to this before anything is looked at. A bound counts two entries for a
 * slot, and there is seldom more than one. */
#define BOUND_MAX (7 * (uint64_t)ENTRIES_MAX / 4)

/* ---- names ---- */

/* Names in the order of their first use. An entry finds its name by plane, metadata and
 * whether it is a launch; texts that are the same and of one category are one name. */
struct names {
	struct tfp_buf list_bytes, category_bytes;
	struct tfp_json list, categories; /* arrays beside each other */
	struct tfp_str_map texts[TFP_STEP_CATEGORY_COUNT];
	struct name_slot {
		uintptr_t key; /* 0: free */
		uint32_t name;
	} * slots; /* a power of two */
	size_t slot_count, used;
	uint32_t count;
};

static bool names_init(struct names *n)
{
	*n = (struct names){.slot_count = 1024};
	tfp_buf_init(&n->list_bytes, (size_t)1 << 28);
	tfp_buf_init(&n->category_bytes, (size_t)1 << 24);
	tfp_json_init(&n->list, &n->list_bytes);
	tfp_json_init(&n->categories, &n->category_bytes);
	tfp_json_begin_array(&n->list);
	tfp_json_begin_array(&n->categories);
	n->slots = tfp_calloc(n->slot_count, sizeof(*n->slots));
	return n->slots != NULL;
}

static void names_release(struct names *n)
{
	tfp_buf_release(&n->list_bytes);
	tfp_buf_release(&n->category_bytes);
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		tfp_str_map_release(&n->texts[c]);
	tfp_free(n->slots);
}

/* Metadata lie at even addresses. */
static uintptr_t key_of(const struct tfp_event_meta *meta, bool is_launch)
{
	return (uintptr_t)meta | is_launch;
}

static struct name_slot *slot_of(struct name_slot *slots, size_t count, uintptr_t key)
{
	size_t at = (size_t)tfp_hash_u64((uint64_t)key) & (count - 1);
	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static bool grow_names(struct names *n)
{
	size_t count = n->slot_count * 2;
	struct name_slot *slots = tfp_calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < n->slot_count; i++) {
		if (n->slots[i].key)
			*slot_of(slots, count, n->slots[i].key) = n->slots[i];
	}
	tfp_free(n->slots);
	n->slots = slots;
	n->slot_count = count;
	return true;
}

/* TFP_STR_MAP_NONE without memory. */
static uint32_t name_of_text(struct names *n, struct tfp_str text, unsigned category)
{
	uint32_t name = tfp_str_map_add(&n->texts[category], text.size ? text.data : "", text.size,
					n->count);
	if (name == n->count) {
		n->count++;
		tfp_json_add_text(&n->list, text.data, text.size);
		tfp_json_add_integer(&n->categories, category);
	}
	return name;
}

static uint32_t name_of(struct names *n, const struct tfp_trace_track *t, bool has_named,
			const struct tfp_stretch *s)
{
	const struct tfp_track_category *categories = &t->host->categories->tracks[t->index];
	uint32_t meta = tfp_event_meta_index(t->track->line, s->event);
	bool is_launch = tfp_event_is_launch(categories, t->track->line, s->event);
	unsigned category = tfp_category_of(categories, meta, is_launch);
	if (has_named && s->count == 1)
		return name_of_text(n, tfp_trace_event_name(t, s->event), category);
	if (!categories->by_meta)
		return name_of_text(n, tfp_trace_meta_name(t, meta), category);
	uintptr_t key = key_of(&t->track->plane->event_metas[meta], is_launch);
	struct name_slot *slot = slot_of(n->slots, n->slot_count, key);
	if (slot->key)
		return slot->name;
	uint32_t name = name_of_text(n, tfp_trace_meta_name(t, meta), category);
	*slot = (struct name_slot){key, name};
	if (++n->used * 2 > n->slot_count && !grow_names(n))
		return TFP_STR_MAP_NONE;
	return name;
}

/* ---- what there is ---- */

struct part {
	struct tfp_trace_track track;
	unsigned level;
	uint64_t bound;
	bool due; /* to be looked at */
	struct tfp_stretches stretches;
	struct tfp_counter_slots counter;
};

struct tile {
	unsigned level;
	uint64_t tile, tiles;
	int64_t from_ps, to_ps;
	struct part *parts;
	size_t part_count;
	atomic_bool no_memory;
};

static struct tfp_window window_of(const struct tile *tile, const struct part *p)
{
	return (struct tfp_window){p->track.shift_ps, tile->from_ps, tile->to_ps, p->level};
}

static bool is_counter(const struct part *p)
{
	return p->track.track->kind == TFP_TRACK_COUNTER;
}

static size_t entries_of(const struct part *p)
{
	return is_counter(p) ? p->counter.count : p->stretches.count;
}

/* Ends of merged stretches are moved outward to sixteenths of a slot: nobody can see the
 * difference, and numbers that repeat make an answer half as long. Events by themselves, and
 * sums, stay exact. */
static void round_merged(struct part *p)
{
	unsigned level = p->level < 4 ? 0 : p->level - 4;
	for (size_t i = 0; i < p->stretches.count; i++) {
		struct tfp_stretch *s = &p->stretches.list[i];
		int64_t end = s->start_ps + s->duration_ps;
		if (s->count == 1)
			continue;
		s->start_ps = s->start_ps >> level << level;
		end = (end + ((int64_t)1 << level) - 1) >> level << level;
		s->duration_ps = end - s->start_ps;
	}
}

static void look(void *context, size_t i)
{
	struct tile *tile = context;
	struct part *p = &tile->parts[i];
	struct tfp_window w = window_of(tile, p);
	if (!p->due)
		return;
	p->due = false;
	if (!(is_counter(p) ? tfp_counter_slots_of(p->track.timeline, &w, SIZE_MAX, &p->counter)
			    : tfp_stretches_of(p->track.timeline, &w, SIZE_MAX, &p->stretches)))
		atomic_store(&tile->no_memory, true);
}

static void bound(void *context, size_t i)
{
	struct tile *tile = context;
	struct part *p = &tile->parts[i];
	struct tfp_window w = window_of(tile, p);
	p->bound = tfp_stretches_bound(p->track.timeline, &w);
}

/* Makes the densest track twice as coarse; false when none can be any more. */
static bool coarsen(struct tile *tile, bool by_bound)
{
	struct part *densest = NULL;
	uint64_t most = 0;
	for (size_t i = 0; i < tile->part_count; i++) {
		struct part *p = &tile->parts[i];
		uint64_t entries = by_bound ? p->bound : entries_of(p);
		if (entries > most && p->level < tile->level + COARSER_MAX &&
		    p->level < TFP_LEVEL_MAX) {
			most = entries;
			densest = p;
		}
	}
	if (!densest)
		return false;
	densest->level++;
	if (by_bound) {
		bound(tile, (size_t)(densest - tile->parts));
	} else if (is_counter(densest)) {
		densest->due = true;
		look(tile, (size_t)(densest - tile->parts));
	} else {
		tfp_stretches_coarsen(densest->track.timeline, densest->level, &densest->stretches);
	}
	return true;
}

static uint64_t sum(const struct tile *tile, bool of_bounds)
{
	uint64_t all = 0;
	for (size_t i = 0; i < tile->part_count; i++)
		all += of_bounds ? tile->parts[i].bound : entries_of(&tile->parts[i]);
	return all;
}

/* Bounds are often too high. Where tracks were made coarser for them and there is room left, they
 * become finer again: half a slot gives about twice the entries at most. */
static void refine(struct tile *tile, struct tfp_pool *pool)
{
	for (bool any = true; any;) {
		uint64_t all = sum(tile, false);
		any = false;
		for (size_t i = 0; i < tile->part_count; i++) {
			struct part *p = &tile->parts[i];
			if (p->level == tile->level || all + entries_of(p) > ENTRIES_MAX)
				continue;
			all += entries_of(p);
			p->level--;
			p->due = any = true;
		}
		if (any)
			tfp_pool_for(pool, tile->part_count, look, tile);
	}
}

static enum tfp_status look_at_all(struct tile *tile, struct tfp_pool *pool, struct tfp_error *err)
{
	tfp_pool_for(pool, tile->part_count, bound, tile);
	while (sum(tile, true) > BOUND_MAX && coarsen(tile, true))
		;
	tfp_pool_for(pool, tile->part_count, look, tile);
	refine(tile, pool);
	while (sum(tile, false) > ENTRIES_MAX && coarsen(tile, false))
		;
	for (size_t i = 0; i < tile->part_count; i++)
		round_merged(&tile->parts[i]);
	if (atomic_load(&tile->no_memory))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for tiles");
	return TFP_OK;
}

/* ---- columns ---- */

static bool same_lane(const struct tfp_stretches *s, size_t i)
{
	return i > 0 && s->list[i - 1].lane == s->list[i].lane;
}

static void put_lanes(const struct tfp_stretches *s, struct tfp_json *j)
{
	tfp_json_begin_array_of(j, "depth");
	for (size_t i = 0, from = 0; i < s->count; i++) {
		if (i + 1 < s->count && same_lane(s, i + 1))
			continue;
		tfp_json_begin_array(j);
		tfp_json_add_integer(j, s->list[i].lane);
		tfp_json_add_count(j, i + 1 - from);
		tfp_json_end_array(j);
		from = i + 1;
	}
	tfp_json_end_array(j);
}

static void put_merged(const struct tfp_stretches *s, struct tfp_json *j)
{
	size_t before = 0;
	tfp_json_begin_array_of(j, "merged");
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].count > 1) {
			tfp_json_add_count(j, i - before);
			before = i;
		}
	}
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "count");
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].count > 1)
			tfp_json_add_integer(j, s->list[i].count);
	}
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "busy");
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].count > 1)
			tfp_json_add_integer(j, s->list[i].busy_ps);
	}
	tfp_json_end_array(j);
}

static bool put_stretches(const struct part *p, struct names *names, struct tfp_json *j)
{
	const struct tfp_stretches *s = &p->stretches;
	const uint32_t *named;
	size_t named_count, before = 0;
	tfp_trace_named_events(&p->track, &named, &named_count);
	tfp_json_begin_array_of(j, "start");
	for (size_t i = 0; i < s->count; i++) {
		tfp_json_add_integer(j, s->list[i].start_ps -
						(same_lane(s, i) ? s->list[i - 1].start_ps : 0));
		before += s->list[i].before;
	}
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "duration");
	for (size_t i = 0; i < s->count; i++)
		tfp_json_add_integer(j, s->list[i].duration_ps);
	tfp_json_end_array(j);
	put_lanes(s, j);
	tfp_json_begin_array_of(j, "name");
	for (size_t i = 0; i < s->count; i++) {
		uint32_t name = name_of(names, &p->track, named_count > 0, &s->list[i]);
		if (name == TFP_STR_MAP_NONE)
			return false;
		tfp_json_add_integer(j, name);
	}
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "event");
	for (size_t i = 0; i < s->count; i++)
		tfp_json_add_integer(j,
				     (int64_t)s->list[i].event -
					     (same_lane(s, i) ? (int64_t)s->list[i - 1].event : 0));
	tfp_json_end_array(j);
	put_merged(s, j);
	tfp_json_set_count(j, "events", s->events);
	tfp_json_set_count(j, "before", before);
	if (p->track.timeline->overflows)
		tfp_json_set_integer(j, "overflow", p->track.timeline->lane_count - 1);
	return true;
}

static void put_values(struct tfp_json *j, const char *key, const struct tfp_counter_slots *s,
		       size_t value_offset)
{
	tfp_json_begin_array_of(j, key);
	for (size_t i = 0; i < s->count; i++) {
		double value;
		memcpy(&value, (const char *)&s->list[i] + value_offset, sizeof(value));
		if (isfinite(value))
			tfp_json_add_double(j, value);
		else
			tfp_json_add_null(j);
	}
	tfp_json_end_array(j);
}

static void put_counter(const struct part *p, struct tfp_json *j)
{
	const struct tfp_counter_slots *s = &p->counter;
	tfp_json_begin_array_of(j, "time");
	for (size_t i = 0; i < s->count; i++)
		tfp_json_add_integer(j, s->list[i].time_ps - (i ? s->list[i - 1].time_ps : 0));
	tfp_json_end_array(j);
	put_values(j, "min", s, offsetof(struct tfp_counter_slot, low));
	put_values(j, "max", s, offsetof(struct tfp_counter_slot, high));
	put_values(j, "last", s, offsetof(struct tfp_counter_slot, last));
	tfp_json_begin_array_of(j, "count");
	for (size_t i = 0; i < s->count; i++)
		tfp_json_add_integer(j, s->list[i].count);
	tfp_json_end_array(j);
	tfp_json_set_count(j, "events", s->events);
	tfp_json_set_integer(j, "before", s->before);
}

/* False without memory. */
static bool put_part(const struct part *p, struct names *names, struct tfp_json *j)
{
	bool ok = true;
	tfp_json_begin_object(j);
	tfp_trace_set_track_id(j, "id", &p->track);
	tfp_json_set_count(j, "slot_ps", UINT64_C(1) << p->level);
	if (is_counter(p))
		put_counter(p, j);
	else
		ok = put_stretches(p, names, j);
	tfp_json_end_object(j);
	return ok;
}

static bool put_names(struct names *n, struct tfp_json *j)
{
	tfp_json_end_array(&n->list);
	tfp_json_end_array(&n->categories);
	tfp_json_key(j, "names");
	tfp_json_add_raw(j, n->list_bytes.data, n->list_bytes.size);
	tfp_json_key(j, "categories");
	tfp_json_add_raw(j, n->category_bytes.data, n->category_bytes.size);
	return !tfp_buf_failed(&n->list_bytes) && !tfp_buf_failed(&n->category_bytes);
}

static enum tfp_status put_tile(const struct tile *tile, struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_json j;
	struct names names;
	uint64_t events = 0;
	bool ok = names_init(&names);
	tfp_json_init(&j, out);
	tfp_json_begin_object(&j);
	tfp_json_set_integer(&j, "level", tile->level);
	tfp_json_set_count(&j, "tile", tile->tile);
	tfp_json_set_count(&j, "tiles", tile->tiles);
	tfp_json_set_integer(&j, "from_ps", tile->from_ps);
	tfp_json_set_integer(&j, "to_ps", tile->to_ps);
	tfp_json_set_count(&j, "slot_ps", UINT64_C(1) << tile->level);
	tfp_json_begin_array_of(&j, "tracks");
	for (size_t i = 0; ok && i < tile->part_count; i++) {
		const struct part *p = &tile->parts[i];
		events += is_counter(p) ? p->counter.events : p->stretches.events;
		ok = put_part(p, &names, &j);
	}
	tfp_json_end_array(&j);
	ok = ok && put_names(&names, &j);
	tfp_json_set_count(&j, "shown", sum(tile, false));
	tfp_json_set_count(&j, "events", events);
	tfp_json_end_object(&j);
	names_release(&names);
	return ok ? tfp_json_finish(&j, err) : tfp_fail(err, TFP_NO_MEMORY, "no memory for tiles");
}

/* ---- the question ---- */

static enum tfp_status read_query(const struct tfp_query *query, struct tile *tile,
				  struct tfp_error *err)
{
	uint64_t level, end;
	enum tfp_status status = tfp_query_get_count(query, "level", UINT64_MAX, &level, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "tile", 0, &tile->tile, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "tiles", 1, &tile->tiles, err);
	if (status != TFP_OK)
		return status;
	if (level == UINT64_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter level is missing");
	if (level > TFP_LEVEL_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter level: at most %u", TFP_LEVEL_MAX);
	if (tile->tiles < 1 || tile->tiles > TILES_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter tiles: from 1 to %u", TILES_MAX);
	const uint64_t length = (uint64_t)TILE_SLOTS << level;
	const uint64_t all = UINT64_C(1) << TFP_WINDOW_BITS;
	if (length > all || __builtin_add_overflow(tile->tile, tile->tiles, &end) ||
	    end > (all + length - 1) / length)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter tile: beyond the end of time");
	tile->level = (unsigned)level;
	tile->from_ps = (int64_t)(tile->tile * length);
	tile->to_ps = (int64_t)(end * length);
	return TFP_OK;
}

static enum tfp_status answer(const struct tfp_trace *trace, const struct tfp_query *query,
			      struct tile *tile, struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_trace_track *tracks;
	size_t count;
	enum tfp_status status = tfp_trace_tracks(trace, query, TRACKS_MAX, &tracks, &count, err);
	if (status != TFP_OK)
		return status;
	tile->parts = tfp_calloc(count, sizeof(*tile->parts));
	tile->part_count = tile->parts ? count : 0;
	for (size_t i = 0; i < tile->part_count; i++)
		tile->parts[i] =
			(struct part){.track = tracks[i], .level = tile->level, .due = true};
	tfp_free(tracks);
	status = tile->parts ? look_at_all(tile, trace->pool, err)
			     : tfp_fail(err, TFP_NO_MEMORY, "no memory for tiles");
	if (status == TFP_OK)
		status = put_tile(tile, json, err);
	for (size_t i = 0; i < tile->part_count; i++) {
		tfp_stretches_release(&tile->parts[i].stretches);
		tfp_counter_slots_release(&tile->parts[i].counter);
	}
	tfp_free(tile->parts);
	return status;
}

enum tfp_status tfp_trace_tiles_json(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err)
{
	struct tfp_trace trace = {0};
	struct tile tile = {0};
	enum tfp_status status = read_query(query, &tile, err);
	if (status == TFP_OK)
		status = tfp_trace_open_as_asked(session, query, &trace, err);
	if (status == TFP_OK)
		status = answer(&trace, query, &tile, json, err);
	tfp_trace_release(&trace);
	return status;
}
