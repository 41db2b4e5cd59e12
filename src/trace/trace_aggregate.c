/* SPDX-License-Identifier: Apache-2.0 */
/* /trace_viewer/aggregate: what the events of some tracks in a stretch of time sum up to, by
 * name. */
#include "base/alloc.h"
#include "base/str_map.h"
#include "trace/trace_busy.h"
#include "trace/trace_hits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT     1000u
#define LIMIT_MAX 100000u
/* Events that one thread takes at a time. */
#define PIECE ((uint32_t)1 << 18)

/* Times are cut at the ends of the range. Sums are wide: a damaged file has long events. The
 * total is that of events that do not lie within another of the same name. */
struct sums {
	uint64_t count;
	__int128 total_ps, each_ps, self_ps;
	int64_t min_ps, max_ps;
};

static void add_time(struct sums *s, int64_t time_ps, bool within_itself)
{
	if (s->count == 0 || time_ps < s->min_ps)
		s->min_ps = time_ps;
	if (s->count == 0 || time_ps > s->max_ps)
		s->max_ps = time_ps;
	s->count++;
	s->total_ps += within_itself ? 0 : time_ps;
	s->each_ps += time_ps;
	s->self_ps += time_ps;
}

static void add_sums(struct sums *to, const struct sums *from)
{
	if (from->count && (to->count == 0 || from->min_ps < to->min_ps))
		to->min_ps = from->min_ps;
	if (from->count && (to->count == 0 || from->max_ps > to->max_ps))
		to->max_ps = from->max_ps;
	to->count += from->count;
	to->total_ps += from->total_ps;
	to->each_ps += from->each_ps;
	to->self_ps += from->self_ps;
}

/* ---- one piece of a track ---- */

/* Sums by metadata, of launches and others apart; no more than there are events in a piece. */
struct table {
	struct table_slot {
		uint64_t key;  /* 0: free */
		uint32_t open; /* events of it that the present one may lie within */
		struct sums sums;
	} * slots;
	size_t room, count;
};

static uint64_t key_of(uint32_t meta, bool is_launch)
{
	return ((uint64_t)meta << 1 | is_launch) + 1;
}

static struct table_slot *find_slot(struct table_slot *slots, size_t room, uint64_t key)
{
	size_t at = (size_t)(key * UINT32_C(2654435761)) & (room - 1);
	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static struct table_slot *slot_of(struct table *t, uint64_t key)
{
	if (t->count * 2 >= t->room) {
		size_t room = t->room ? t->room * 2 : 256;
		struct table_slot *slots = tfp_calloc(room, sizeof(*slots));
		if (!slots)
			return NULL;
		for (size_t i = 0; i < t->room; i++) {
			if (t->slots[i].key)
				*find_slot(slots, room, t->slots[i].key) = t->slots[i];
		}
		tfp_free(t->slots);
		t->slots = slots;
		t->room = room;
	}
	struct table_slot *slot = find_slot(t->slots, t->room, key);
	if (!slot->key) {
		slot->key = key;
		t->count++;
	}
	return slot;
}

struct piece {
	const struct tfp_trace_track *track;
	const uint8_t *shown;
	uint32_t from, to;  /* events */
	bool counts_before; /* also what began before the range and reaches into it */
	struct table table;
};

struct open {
	struct open_event {
		uint32_t event;
		uint64_t key; /* of its sums */
	} * events;
	size_t count, room;
};

static bool push(struct open *o, struct open_event event)
{
	if (!TFP_GROW(o->events, o->count, o->room))
		return false;
	o->events[o->count++] = event;
	return true;
}

struct aggregate {
	struct piece *pieces;
	size_t piece_count;
	int64_t from_ps, to_ps; /* by the trace's time */
	atomic_bool no_memory;
	/* Of threads of hosts, and of all others: how many, and how long any of them ran. */
	size_t side_tracks[2];
	int64_t busy_ps[2];
};

/* Tracks whose times can be added. */
struct layer {
	struct tfp_str name;
	size_t tracks;
};

/* Those of the chosen tracks, what was recorded first, in the order of the tracks. */
struct layers {
	struct layer *list;
	size_t count, room;
	size_t shown;
};

static int64_t end_of(const struct tfp_line *line, uint32_t event)
{
	return tfp_event_end_offset_ps(line, event);
}

/* The part of an event that lies in the range. */
static int64_t time_of(const struct aggregate *a, const struct tfp_trace_track *t, uint32_t event)
{
	int64_t start = tfp_trace_start_ps(t, event);
	int64_t end = start + tfp_event_duration_ps(t->track->line, event);
	start = start < a->from_ps ? a->from_ps : start;
	end = end > a->to_ps ? a->to_ps : end;
	return end > start ? end - start : 0;
}

/* Takes what the event does not lie within off the open ones; the innermost of the rest, or NULL.
 */
static const struct open_event *parent_of(struct piece *p, struct open *o, uint32_t event)
{
	const struct tfp_line *line = p->track->track->line;
	int64_t end = end_of(line, event);
	while (o->count && end_of(line, o->events[o->count - 1].event) < end) {
		o->count--;
		find_slot(p->table.slots, p->table.room, o->events[o->count].key)->open--;
	}
	return o->count ? &o->events[o->count - 1] : NULL;
}

static bool add_event(const struct aggregate *a, struct piece *p, struct open *o, uint32_t event,
		      bool counts)
{
	const struct tfp_trace_track *t = p->track;
	const struct tfp_line *line = t->track->line;
	const struct open_event *parent = parent_of(p, o, event);
	const struct open_event self = {
		.event = event,
		.key = key_of(
			tfp_event_meta_index(line, event),
			tfp_event_is_launch(&t->host->categories->tracks[t->index], line, event)),
	};
	struct table_slot *slot = slot_of(&p->table, self.key);
	if (!slot)
		return false;
	if (counts) {
		int64_t time = time_of(a, t, event);
		add_time(&slot->sums, time, slot->open > 0);
		if (parent)
			find_slot(p->table.slots, p->table.room, parent->key)->sums.self_ps -= time;
	}
	slot->open++;
	return push(o, self);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Events before the piece that reach to its begin: the last of each lane. */
static bool add_open(const struct aggregate *a, struct piece *p, struct open *o)
{
	const struct tfp_timeline_track *t = p->track->timeline;
	const struct tfp_line *line = p->track->track->line;
	uint32_t reaching[TFP_TIMELINE_LANES];
	size_t count = 0;
	int64_t begin = p->counts_before ? a->from_ps - p->track->shift_ps
					 : tfp_event_offset_ps(line, p->from);
	for (uint32_t lane = 0; lane < t->lane_count; lane++) {
		uint32_t low = 0, high = t->lanes[lane].count;
		if (t->overflows && lane + 1 == t->lane_count)
			break;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (tfp_lane_event(t, lane, middle) < p->from)
				low = middle + 1;
			else
				high = middle;
		}
		if (low > 0 && end_of(line, tfp_lane_event(t, lane, low - 1)) > begin)
			reaching[count++] = tfp_lane_event(t, lane, low - 1);
	}
	qsort(reaching, count, sizeof(*reaching), by_number);
	for (size_t i = 0; i < count; i++) {
		if (!add_event(a, p, o, reaching[i], p->counts_before))
			return false;
	}
	return true;
}

static void run_piece(void *context, size_t index)
{
	struct aggregate *a = context;
	struct piece *p = &a->pieces[index];
	const struct tfp_line *line = p->track->track->line;
	struct open o = {0};
	bool ok = add_open(a, p, &o);
	for (uint32_t e = p->from; ok && e < p->to; e++) {
		if (p->shown[tfp_event_meta_index(line, e)])
			ok = add_event(a, p, &o, e, true);
	}
	if (!ok)
		atomic_store(&a->no_memory, true);
	tfp_free(o.events);
}

/* ---- by name ---- */

struct row {
	struct tfp_str name;
	uint8_t category;
	struct sums sums;
};

struct rows {
	struct tfp_str_map names[TFP_STEP_CATEGORY_COUNT];
	struct row *list;
	size_t count, room;
};

static bool add_row(struct rows *r, const struct tfp_trace_track *t, uint64_t key,
		    const struct sums *sums)
{
	uint32_t meta = (uint32_t)((key - 1) >> 1);
	struct tfp_str name = tfp_trace_meta_name(t, meta);
	unsigned category =
		tfp_category_of(&t->host->categories->tracks[t->index], meta, (key - 1) & 1);
	if (!TFP_GROW(r->list, r->count, r->room))
		return false;
	uint32_t at = tfp_str_map_add(&r->names[category], name.size ? name.data : "", name.size,
				      (uint32_t)r->count);
	if (at == TFP_STR_MAP_NONE)
		return false;
	if (at == r->count)
		r->list[r->count++] = (struct row){name, (uint8_t)category, {0}};
	add_sums(&r->list[at].sums, sums);
	return true;
}

/* Takes what a piece has found, and its memory. */
static bool take_piece(struct rows *r, struct piece *p)
{
	bool ok = true;
	for (size_t i = 0; ok && i < p->table.room; i++) {
		/* An event that only reaches in is counted by another piece; here it has less time
		 * of its own. */
		if (p->table.slots[i].sums.count || p->table.slots[i].sums.self_ps)
			ok = add_row(r, p->track, p->table.slots[i].key, &p->table.slots[i].sums);
	}
	tfp_free(p->table.slots);
	p->table = (struct table){0};
	return ok;
}

static int by_total(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->sums.total_ps != y->sums.total_ps)
		return x->sums.total_ps < y->sums.total_ps ? 1 : -1;
	int order = tfp_str_compare(x->name, y->name);
	return order ? order : (int)x->category - (int)y->category;
}

/* ---- all ---- */

/* Pieces are run some at a time, so that what they have found need not all be kept. */
static bool run(struct aggregate *a, struct rows *rows, struct tfp_pool *pool)
{
	struct piece *pieces = a->pieces;
	size_t count = a->piece_count, at_a_time = 2 * (size_t)tfp_pool_threads(pool) + 2;
	bool ok = true;
	for (size_t i = 0; ok && i < count; i += at_a_time) {
		size_t n = count - i < at_a_time ? count - i : at_a_time;
		a->pieces = pieces + i;
		tfp_pool_for(pool, n, run_piece, a);
		for (size_t k = 0; k < n; k++)
			ok &= take_piece(rows, &pieces[i + k]);
		ok = ok && !atomic_load(&a->no_memory);
	}
	a->pieces = pieces;
	return ok;
}

static bool cut_into_pieces(struct aggregate *a, const struct tfp_trace_track *tracks, size_t count,
			    struct tfp_hit_masks *masks)
{
	size_t n = 0;
	for (int filling = 0; filling < 2; filling++) {
		if (filling && !(a->pieces = tfp_calloc(n, sizeof(*a->pieces))))
			return false;
		n = 0;
		for (size_t i = 0; i < count; i++) {
			const struct tfp_trace_track *t = &tracks[i];
			uint32_t from = tfp_hits_find(t, a->from_ps);
			uint32_t to = tfp_hits_find(t, a->to_ps);
			const struct tfp_plane *plane = t->track->plane;
			bool is_new, first = true;
			if (t->track->kind == TFP_TRACK_COUNTER)
				continue;
			uint8_t *shown = tfp_hit_masks_get(masks, plane, &is_new);
			if (!shown)
				return false;
			for (size_t m = 0; is_new && m < plane->event_meta_count; m++)
				shown[m] = !tfp_event_name_is_internal(plane->event_metas[m].name);
			for (; first || from < to; first = false) {
				uint32_t end = to - from > PIECE ? from + PIECE : to;
				if (filling)
					a->pieces[n] =
						(struct piece){t, shown, from, end, first, {0}};
				n++;
				from = end;
			}
		}
	}
	a->piece_count = n;
	return true;
}

static int64_t narrow(__int128 value)
{
	return value < 0 ? 0 : value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static void put_layers(const struct layers *layers, struct tfp_json *j)
{
	struct tfp_str name =
		layers->count ? layers->list[layers->shown].name : (struct tfp_str){"", 0};
	tfp_json_set_text(j, "layer", name.data, name.size);
	tfp_json_begin_array_of(j, "layers");
	for (size_t i = 0; i < layers->count; i++) {
		const struct layer *layer = &layers->list[i];
		tfp_json_begin_object(j);
		tfp_json_set_text(j, "layer", layer->name.data, layer->name.size);
		tfp_json_set_count(j, "tracks", layer->tracks);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
}

static void put_busy(const struct aggregate *a, struct tfp_json *j)
{
	for (unsigned side = 0; side < 2; side++) {
		tfp_json_key(j, side ? "device_busy_ps" : "host_busy_ps");
		if (a->side_tracks[side])
			tfp_json_add_integer(j, a->busy_ps[side]);
		else
			tfp_json_add_null(j);
	}
}

static void put_row(const struct row *row, struct tfp_json *j)
{
	const struct sums *s = &row->sums;
	tfp_json_begin_object(j);
	tfp_json_set_text(j, "name", row->name.data, row->name.size);
	tfp_json_set_integer(j, "category", row->category);
	tfp_json_set_count(j, "count", s->count);
	tfp_json_set_integer(j, "total_ps", narrow(s->total_ps));
	tfp_json_set_integer(j, "self_ps", narrow(s->self_ps));
	tfp_json_set_integer(j, "avg_ps", narrow(s->count ? s->each_ps / s->count : 0));
	tfp_json_set_integer(j, "min_ps", s->min_ps);
	tfp_json_set_integer(j, "max_ps", s->max_ps);
	tfp_json_end_object(j);
}

static enum tfp_status put_rows(const struct aggregate *a, const struct layers *layers,
				struct rows *r, uint64_t limit, struct tfp_buf *out,
				struct tfp_error *err)
{
	struct tfp_json j;
	uint64_t events = 0;
	for (size_t i = 0; i < r->count; i++)
		events += r->list[i].sums.count;
	if (r->count)
		qsort(r->list, r->count, sizeof(*r->list), by_total);
	tfp_json_init(&j, out);
	tfp_json_begin_object(&j);
	tfp_json_set_integer(&j, "from_ps", a->from_ps);
	tfp_json_set_integer(&j, "to_ps", a->to_ps);
	put_layers(layers, &j);
	put_busy(a, &j);
	tfp_json_set_count(&j, "events", events);
	tfp_json_set_count(&j, "rows_total", r->count);
	tfp_json_begin_array_of(&j, "rows");
	for (size_t i = 0; i < r->count && i < limit; i++)
		put_row(&r->list[i], &j);
	tfp_json_end_array(&j);
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

/* ---- layers ---- */

static bool is_host(const struct tfp_trace_track *t)
{
	return t->host->tracks->processes[t->track->process].kind == TFP_PROCESS_HOST;
}

/* The layer of a name; layers->count where it is new. */
static size_t find_layer(const struct layers *layers, struct tfp_str name)
{
	size_t i = 0;
	while (i < layers->count && tfp_str_compare(layers->list[i].name, name) != 0)
		i++;
	return i;
}

static bool add_layer(struct layers *layers, struct tfp_str name)
{
	size_t i = find_layer(layers, name);
	if (i < layers->count) {
		layers->list[i].tracks++;
		return true;
	}
	if (!TFP_GROW(layers->list, layers->count, layers->room))
		return false;
	/* The layer of what was recorded has no name, and comes first. */
	if (name.size == 0 && i > 0) {
		layers->list[i] = layers->list[0];
		i = 0;
	}
	layers->list[i] = (struct layer){name, 1};
	layers->count++;
	return true;
}

/* Leaves of the tracks those of the layer that is asked for, without a word the first. */
static enum tfp_status choose_layer(struct layers *layers, struct tfp_trace_track *tracks,
				    size_t *count, const char *wanted, struct tfp_error *err)
{
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++) {
		if (tracks[i].track->kind == TFP_TRACK_COUNTER)
			continue;
		if (!add_layer(layers, tfp_trace_layer(&tracks[i])))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for sums of events");
	}
	if (wanted && *wanted) {
		layers->shown = find_layer(layers, (struct tfp_str){wanted, strlen(wanted)});
		if (layers->shown == layers->count)
			return tfp_fail(err, TFP_NOT_FOUND,
					"no track of these is of the layer \"%.100s\"", wanted);
	}
	for (size_t i = 0; i < *count; i++) {
		if (tracks[i].track->kind != TFP_TRACK_COUNTER &&
		    find_layer(layers, tfp_trace_layer(&tracks[i])) == layers->shown)
			tracks[kept++] = tracks[i];
	}
	*count = kept;
	return TFP_OK;
}

/* Threads of hosts first. */
static bool find_busy(struct aggregate *a, struct tfp_trace_track *tracks, size_t count,
		      struct tfp_pool *pool)
{
	size_t hosts = 0;
	for (size_t i = 0; i < count; i++) {
		if (is_host(&tracks[i])) {
			struct tfp_trace_track other = tracks[hosts];
			tracks[hosts++] = tracks[i];
			tracks[i] = other;
		}
	}
	a->side_tracks[0] = hosts;
	a->side_tracks[1] = count - hosts;
	return tfp_trace_busy(tracks, hosts, a->from_ps, a->to_ps, pool, &a->busy_ps[0]) &&
	       tfp_trace_busy(tracks + hosts, count - hosts, a->from_ps, a->to_ps, pool,
			      &a->busy_ps[1]);
}

static enum tfp_status answer(struct aggregate *a, struct tfp_trace_track *tracks, size_t count,
			      const struct layers *layers, uint64_t limit, struct tfp_pool *pool,
			      struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_hit_masks masks = {0};
	struct rows rows = {0};
	bool ok = cut_into_pieces(a, tracks, count, &masks) && run(a, &rows, pool);
	/* Pieces point into the tracks, whose order changes here. */
	ok = ok && find_busy(a, tracks, count, pool);
	enum tfp_status status = ok ? put_rows(a, layers, &rows, limit, out, err)
				    : tfp_fail(err, TFP_NO_MEMORY, "no memory for sums of events");
	for (size_t i = 0; a->pieces && i < a->piece_count; i++)
		tfp_free(a->pieces[i].table.slots);
	tfp_free(a->pieces);
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		tfp_str_map_release(&rows.names[c]);
	tfp_free(rows.list);
	tfp_hit_masks_release(&masks);
	return status;
}

enum tfp_status tfp_trace_aggregate_json(const struct tfp_session *session,
					 const struct tfp_query *query, struct tfp_buf *json,
					 struct tfp_error *err)
{
	struct tfp_trace trace;
	struct aggregate a = {0};
	struct layers layers = {0};
	struct tfp_trace_track *tracks = NULL;
	size_t count = 0;
	uint64_t limit = 0;
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "limit", LIMIT, &limit, err);
	if (status == TFP_OK && limit > LIMIT_MAX)
		status = tfp_fail(err, TFP_BAD_QUERY, "parameter limit: at most %u", LIMIT_MAX);
	if (status == TFP_OK)
		status = tfp_trace_range(&trace, query, &a.from_ps, &a.to_ps, err);
	if (status == TFP_OK)
		status = tfp_trace_tracks(&trace, query, SIZE_MAX, &tracks, &count, err);
	if (status == TFP_OK)
		status = choose_layer(&layers, tracks, &count, tfp_query_get(query, "layer"), err);
	if (status == TFP_OK)
		status = answer(&a, tracks, count, &layers, limit, session->pool, json, err);
	tfp_free(layers.list);
	tfp_free(tracks);
	tfp_trace_release(&trace);
	return status;
}
