/* /trace_viewer/tiles: what can be told apart of some tracks in a stretch of time, as
 * columns. */
#include "analysis/stretches.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/str_map.h"
#include "tools/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define TILE_SLOTS  512
#define TILES_MAX   16u
#define TRACKS_MAX  1024u
#define ENTRIES_MAX 24000u
/* So much coarser than asked for a track can get: then a slot is sixteen tiles. */
#define COARSER_MAX 13u
/* What the bounds may come to before anything is looked at. A bound counts two entries for
 * a slot, and there is seldom more than one. */
#define BOUND_MAX (7 * (uint64_t)ENTRIES_MAX / 4)

/* ---- names ---- */

/* Names in the order of their first use. An entry finds its name by plane, metadata and
 * whether it is a launch; texts that are the same and of one category are one name. */
struct names {
	struct tfp_buf json, categories;
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
	tfp_buf_init(&n->json, (size_t)1 << 28);
	tfp_buf_init(&n->categories, (size_t)1 << 24);
	n->slots = tfp_calloc(n->slot_count, sizeof(*n->slots));
	return n->slots != NULL;
}

static void names_release(struct names *n)
{
	tfp_buf_release(&n->json);
	tfp_buf_release(&n->categories);
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
		if (n->count++) {
			tfp_buf_putc(&n->json, ',');
			tfp_buf_putc(&n->categories, ',');
		}
		tfp_json_text(&n->json, text.data, text.size);
		tfp_json_integer(&n->categories, category);
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

/* A column is written into room that was made for all of it: tiles have hundreds of thousands of
 * numbers. */
struct column {
	struct tfp_buf *out;
	char *start, *at; /* NULL without memory */
};

#define DIGITS_MAX 21 /* of a number, with sign and comma */

static struct column column(struct tfp_buf *out, const char *name, size_t count)
{
	tfp_buf_printf(out, ",\"%s\":[", name);
	char *room = tfp_buf_reserve(out, count * DIGITS_MAX + 1);
	return (struct column){out, room, room};
}

static inline void put(struct column *c, int64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
				    "31323334353637383940414243444546474849505152535455565758596061"
				    "62636465666768697071727374757677787980818283848586878889909192"
				    "93949596979899";
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[DIGITS_MAX], *at = digits + sizeof(digits);
	if (!c->at)
		return;
	while (rest >= 100) {
		memcpy(at -= 2, pairs + rest % 100 * 2, 2);
		rest /= 100;
	}
	if (rest >= 10)
		memcpy(at -= 2, pairs + rest * 2, 2);
	else
		*--at = (char)('0' + rest);
	if (value < 0)
		*--at = '-';
	size_t size = (size_t)(digits + sizeof(digits) - at);
	memcpy(c->at, at, size);
	c->at[size] = ',';
	c->at += size + 1;
}

static void close_column(struct column *c)
{
	if (!c->at)
		return;
	c->at -= c->at > c->start; /* the last comma */
	*c->at++ = ']';
	c->out->size += (size_t)(c->at - c->start);
}

static bool same_lane(const struct tfp_stretches *s, size_t i)
{
	return i > 0 && s->list[i - 1].lane == s->list[i].lane;
}

static void put_lanes(const struct tfp_stretches *s, struct tfp_buf *out)
{
	tfp_buf_puts(out, ",\"depth\":[");
	for (size_t i = 0, from = 0; i < s->count; i++) {
		if (i + 1 < s->count && same_lane(s, i + 1))
			continue;
		tfp_buf_printf(out, "%s[%u,%zu]", from ? "," : "", s->list[i].lane, i + 1 - from);
		from = i + 1;
	}
	tfp_buf_putc(out, ']');
}

static void put_merged(const struct tfp_stretches *s, struct tfp_buf *out)
{
	struct column c = column(out, "merged", s->count);
	size_t before = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].count > 1) {
			put(&c, (int64_t)(i - before));
			before = i;
		}
	}
	close_column(&c);
	c = column(out, "count", s->count);
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].count > 1)
			put(&c, s->list[i].count);
	}
	close_column(&c);
	c = column(out, "busy", s->count);
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].count > 1)
			put(&c, s->list[i].busy_ps);
	}
	close_column(&c);
}

static bool put_stretches(const struct part *p, struct names *names, struct tfp_buf *out)
{
	const struct tfp_stretches *s = &p->stretches;
	const uint32_t *named;
	size_t named_count, before = 0;
	tfp_trace_named_events(&p->track, &named, &named_count);
	struct column c = column(out, "start", s->count);
	for (size_t i = 0; i < s->count; i++) {
		put(&c, s->list[i].start_ps - (same_lane(s, i) ? s->list[i - 1].start_ps : 0));
		before += s->list[i].before;
	}
	close_column(&c);
	c = column(out, "duration", s->count);
	for (size_t i = 0; i < s->count; i++)
		put(&c, s->list[i].duration_ps);
	close_column(&c);
	put_lanes(s, out);
	c = column(out, "name", s->count);
	for (size_t i = 0; i < s->count; i++) {
		uint32_t name = name_of(names, &p->track, named_count > 0, &s->list[i]);
		if (name == TFP_STR_MAP_NONE)
			return false;
		put(&c, name);
	}
	close_column(&c);
	c = column(out, "event", s->count);
	for (size_t i = 0; i < s->count; i++)
		put(&c, (int64_t)s->list[i].event -
				(same_lane(s, i) ? (int64_t)s->list[i - 1].event : 0));
	close_column(&c);
	put_merged(s, out);
	tfp_buf_printf(out, ",\"events\":%" PRIu64 ",\"before\":%zu", s->events, before);
	if (p->track.timeline->overflows)
		tfp_buf_printf(out, ",\"overflow\":%" PRIu32, p->track.timeline->lane_count - 1);
	return true;
}

static void put_values(struct tfp_buf *out, const char *name, const struct tfp_counter_slots *s,
		       size_t value_offset)
{
	tfp_buf_printf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < s->count; i++) {
		double value;
		memcpy(&value, (const char *)&s->list[i] + value_offset, sizeof(value));
		if (i)
			tfp_buf_putc(out, ',');
		if (isnan(value))
			tfp_buf_puts(out, "null");
		else if (value == trunc(value) && fabs(value) < 1e15)
			tfp_json_integer(out, (int64_t)value);
		else
			tfp_json_number(out, value);
	}
	tfp_buf_putc(out, ']');
}

static void put_counter(const struct part *p, struct tfp_buf *out)
{
	const struct tfp_counter_slots *s = &p->counter;
	struct column c = column(out, "time", s->count);
	for (size_t i = 0; i < s->count; i++)
		put(&c, s->list[i].time_ps - (i ? s->list[i - 1].time_ps : 0));
	close_column(&c);
	put_values(out, "min", s, offsetof(struct tfp_counter_slot, low));
	put_values(out, "max", s, offsetof(struct tfp_counter_slot, high));
	put_values(out, "last", s, offsetof(struct tfp_counter_slot, last));
	c = column(out, "count", s->count);
	for (size_t i = 0; i < s->count; i++)
		put(&c, s->list[i].count);
	close_column(&c);
	tfp_buf_printf(out, ",\"events\":%" PRIu64 ",\"before\":%d", s->events, s->before);
}

static enum tfp_status put_tile(const struct tile *tile, struct tfp_buf *out, struct tfp_error *err)
{
	struct names names;
	uint64_t events = 0;
	bool ok = names_init(&names);
	tfp_buf_printf(out,
		       "{\"level\":%u,\"tile\":%" PRIu64 ",\"tiles\":%" PRIu64
		       ",\"from_ps\":%" PRId64 ",\"to_ps\":%" PRId64 ",\"slot_ps\":%" PRIu64
		       ",\"tracks\":[",
		       tile->level, tile->tile, tile->tiles, tile->from_ps, tile->to_ps,
		       UINT64_C(1) << tile->level);
	for (size_t i = 0; ok && i < tile->part_count; i++) {
		const struct part *p = &tile->parts[i];
		tfp_buf_puts(out, i ? ",{\"id\":" : "{\"id\":");
		tfp_trace_put_track_id(out, &p->track);
		tfp_buf_printf(out, ",\"slot_ps\":%" PRIu64, UINT64_C(1) << p->level);
		events += is_counter(p) ? p->counter.events : p->stretches.events;
		if (is_counter(p))
			put_counter(p, out);
		else
			ok = put_stretches(p, &names, out);
		tfp_buf_putc(out, '}');
	}
	tfp_buf_puts(out, "],\"names\":[");
	tfp_buf_add(out, names.json.data, names.json.size);
	tfp_buf_puts(out, "],\"categories\":[");
	tfp_buf_add(out, names.categories.data, names.categories.size);
	tfp_buf_printf(out, "],\"shown\":%" PRIu64 ",\"events\":%" PRIu64 "}", sum(tile, false),
		       events);
	ok = ok && !tfp_buf_failed(&names.json) && !tfp_buf_failed(&names.categories);
	names_release(&names);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for tiles");
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
