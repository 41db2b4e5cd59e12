/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/timeline.h"

#include "base/alloc.h"
#include "base/progress.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Events of a block, and blocks of a block of blocks. */
#define FAN 32u
/* Values of a counter's block. */
#define COUNTER_BLOCK 64u

#define LAST_LANE (TFP_TIMELINE_LANES - 1)

static inline int64_t duration_at(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place)
{
	return tfp_event_duration_ps(t->line, tfp_lane_event(t, lane, place));
}

static inline uint32_t blocks_of(uint32_t count)
{
	return count / FAN + (count % FAN != 0);
}

/* ---- asking ---- */

/* The first place from low on, before high, that begins at start_ps or after it; else high. */
static uint32_t first_from(const struct tfp_timeline_track *t, uint32_t lane, uint32_t low,
			   uint32_t high, int64_t start_ps)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (tfp_lane_start_ps(t, lane, middle) < start_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t tfp_lane_find(const struct tfp_timeline_track *t, uint32_t lane, int64_t start_ps)
{
	return first_from(t, lane, 0, t->lanes[lane].count, start_ps);
}

uint32_t tfp_lane_find_from(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place,
			    uint32_t guess, int64_t start_ps)
{
	uint32_t count = t->lanes[lane].count, low = place, high = count, step = guess;
	/* Everything before low begins earlier; everything from high on does not. */
	while (count - low > step) {
		if (tfp_lane_start_ps(t, lane, low + step) >= start_ps) {
			high = low + step;
			break;
		}
		low += step + 1;
		step = step < UINT32_MAX / 2 ? step * 2 : step;
	}
	/* The place is more often near a right guess than near the middle. */
	for (step = 1; low < high && high - low > step; step *= 2) {
		if (tfp_lane_start_ps(t, lane, high - step) < start_ps) {
			low = high - step + 1;
			high -= step / 2;
			break;
		}
	}
	return first_from(t, lane, low, high, start_ps);
}

static void add_one(struct tfp_lane_sum *sum, uint32_t place, int64_t duration_ps)
{
	if (__builtin_add_overflow(sum->busy_ps, duration_ps, &sum->busy_ps))
		sum->busy_ps = INT64_MAX;
	if (duration_ps > sum->longest_ps ||
	    (duration_ps == sum->longest_ps && place < sum->longest)) {
		sum->longest_ps = duration_ps;
		sum->longest = place;
	}
}

static void add_events(const struct tfp_timeline_track *t, uint32_t lane, uint32_t from,
		       uint32_t to, struct tfp_lane_sum *sum)
{
	for (uint32_t i = from; i < to; i++)
		add_one(sum, i, duration_at(t, lane, i));
}

static void see_blocks(const uint32_t *places, const int64_t *durations, uint32_t from, uint32_t to,
		       struct tfp_lane_sum *sum)
{
	for (uint32_t i = from; i < to; i++) {
		if (durations[i] > sum->longest_ps ||
		    (durations[i] == sum->longest_ps && places[i] < sum->longest)) {
			sum->longest_ps = durations[i];
			sum->longest = places[i];
		}
	}
}

struct tfp_lane_sum tfp_lane_sum(const struct tfp_timeline_track *t, uint32_t lane, uint32_t from,
				 uint32_t to)
{
	const struct tfp_lane *l = &t->lanes[lane];
	struct tfp_lane_sum sum = {.longest = from, .longest_ps = -1};
	if (to - from <= 2 * FAN) {
		add_events(t, lane, from, to, &sum);
		return sum;
	}
	/* Whole blocks, and what is left on both sides of them. */
	uint32_t first = blocks_of(from), last = to / FAN, size = blocks_of(l->count);
	const uint32_t *places = l->longest;
	const int64_t *durations = l->longest_ps;
	uint64_t whole = l->busy_ps[last] - l->busy_ps[first], most;
	uint32_t low = first, high = last;
	while (high - low > 2 * FAN) {
		uint32_t next_low = blocks_of(low), next_high = high / FAN;
		see_blocks(places, durations, low, next_low * FAN, &sum);
		see_blocks(places, durations, next_high * FAN, high, &sum);
		places += size;
		durations += size;
		size = blocks_of(size);
		low = next_low;
		high = next_high;
	}
	see_blocks(places, durations, low, high, &sum);
	/* Overlapping events of a damaged file can be more than a number holds. */
	if (t->overflows && lane == LAST_LANE &&
	    (__builtin_mul_overflow((uint64_t)sum.longest_ps, (uint64_t)(last - first) * FAN,
				    &most) ||
	     most > INT64_MAX)) {
		add_events(t, lane, first * FAN, last * FAN, &sum);
	} else {
		sum.busy_ps = (int64_t)whole;
	}
	add_events(t, lane, from, first * FAN, &sum);
	add_events(t, lane, last * FAN, to, &sum);
	return sum;
}

int64_t tfp_lane_busy_between_ps(const struct tfp_timeline_track *t, uint32_t lane,
				 int64_t begin_ps, int64_t end_ps)
{
	uint32_t from = tfp_lane_find(t, lane, begin_ps);
	uint32_t to = tfp_lane_find_from(t, lane, from, 1, end_ps);
	int64_t busy = from < to ? tfp_lane_sum(t, lane, from, to).busy_ps : 0;
	if (from > 0) {
		int64_t end = tfp_lane_start_ps(t, lane, from - 1) + duration_at(t, lane, from - 1);
		if (end > begin_ps)
			busy += (end < end_ps ? end : end_ps) - begin_ps;
	}
	if (to > from) {
		int64_t end = tfp_lane_start_ps(t, lane, to - 1) + duration_at(t, lane, to - 1);
		if (end > end_ps)
			busy -= end - end_ps;
	}
	return busy;
}

/* The first event of the line that begins at start_ps or later. */
static uint32_t first_event(const struct tfp_line *line, int64_t start_ps)
{
	size_t low = 0, high = line->event_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tfp_event_offset_ps(line, middle) < start_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

void tfp_timeline_reach(const struct tfp_timeline_track *t, int64_t begin_ps, int64_t end_ps,
			uint32_t *from, uint32_t *to)
{
	*to = end_ps == INT64_MAX ? (uint32_t)t->line->event_count
				  : first_event(t->line, end_ps + 1);
	*from = first_event(t->line, begin_ps);
	for (uint32_t lane = 0; lane < t->lane_count; lane++) {
		uint32_t place = tfp_lane_find(t, lane, begin_ps);
		if (place == 0)
			continue;
		/* Of the events that begin before, only the last one of a lane can reach so far. */
		uint32_t event = tfp_lane_event(t, lane, place - 1);
		int64_t end = tfp_event_end_offset_ps(t->line, event);
		if (t->overflows && lane == LAST_LANE)
			event = tfp_lane_event(t, lane, 0);
		else if (end < begin_ps)
			continue;
		*from = event < *from ? event : *from;
	}
	*from = *from < *to ? *from : *to;
}

bool tfp_timeline_find_event(const struct tfp_timeline_track *t, uint32_t event, uint32_t *lane,
			     uint32_t *place)
{
	for (uint32_t l = 0; l < t->lane_count; l++) {
		uint32_t low = 0, high = t->lanes[l].count;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (tfp_lane_event(t, l, middle) < event)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < t->lanes[l].count && tfp_lane_event(t, l, low) == event) {
			*lane = l;
			*place = low;
			return true;
		}
	}
	return false;
}

/* First place of a lane whose event comes after that one in the line. */
static uint32_t find_after(const struct tfp_timeline_track *t, uint32_t lane, uint32_t event)
{
	uint32_t low = 0, high = t->lanes[lane].count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (tfp_lane_event(t, lane, middle) <= event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t tfp_timeline_parent(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place)
{
	uint32_t event = tfp_lane_event(t, lane, place);
	int64_t end = tfp_event_end_offset_ps(t->line, event);
	while (lane-- > 0) {
		uint32_t after = find_after(t, lane, event), above;
		if (after == 0)
			continue;
		above = tfp_lane_event(t, lane, after - 1);
		if (tfp_event_end_offset_ps(t->line, above) >= end)
			return above;
	}
	return TFP_NO_EVENT;
}

void tfp_timeline_children(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place,
			   uint32_t *from, uint32_t *to)
{
	uint32_t event = tfp_lane_event(t, lane, place);
	int64_t end = tfp_event_end_offset_ps(t->line, event);
	*from = *to = 0;
	if (lane + 1 >= t->lane_count || (t->overflows && lane + 1 == LAST_LANE))
		return;
	*from = find_after(t, lane + 1, event);
	*to = tfp_lane_find_from(t, lane + 1, *from, 1, end);
	if (*to > *from) {
		uint32_t last = tfp_lane_event(t, lane + 1, *to - 1);
		if (tfp_event_end_offset_ps(t->line, last) > end)
			--*to;
	}
}

static void widen(double *low, double *high, double l, double h)
{
	if (isnan(l))
		return;
	if (isnan(*low) || l < *low)
		*low = l;
	if (isnan(*high) || h > *high)
		*high = h;
}

void tfp_counter_range(const struct tfp_timeline_track *t, uint32_t from, uint32_t to, double *low,
		       double *high)
{
	const struct tfp_counter_values *c = &t->counter;
	*low = *high = NAN;
	while (from < to) {
		if (from % COUNTER_BLOCK == 0 && to - from >= COUNTER_BLOCK) {
			widen(low, high, c->low[from / COUNTER_BLOCK],
			      c->high[from / COUNTER_BLOCK]);
			from += COUNTER_BLOCK;
		} else {
			widen(low, high, c->values[from], c->values[from]);
			from++;
		}
	}
}

/* ---- lanes ---- */

/* When each lane is free again. Groups of lanes with the earliest of each make finding
 * the first free one cheap, however many there are. */
#define GROUP 16u
struct free_lanes {
	int64_t end_ps[TFP_TIMELINE_LANES];
	int64_t first_ps[TFP_TIMELINE_LANES / GROUP];
};

static void free_lanes_init(struct free_lanes *f)
{
	for (unsigned i = 0; i < TFP_TIMELINE_LANES; i++)
		f->end_ps[i] = INT64_MIN;
	for (unsigned i = 0; i < TFP_TIMELINE_LANES / GROUP; i++)
		f->first_ps[i] = INT64_MIN;
}

static inline unsigned take_lane(struct free_lanes *f, int64_t start_ps, int64_t end_ps)
{
	unsigned group = 0, lane;
	/* The last lane never counts as taken, so that both loops end. */
	while (f->first_ps[group] > start_ps)
		group++;
	lane = group * GROUP;
	while (f->end_ps[lane] > start_ps)
		lane++;
	if (lane == LAST_LANE)
		return lane;
	int64_t was = f->end_ps[lane];
	f->end_ps[lane] = end_ps;
	if (was == f->first_ps[group]) {
		int64_t first = INT64_MAX;
		for (unsigned i = group * GROUP; i < (group + 1) * GROUP; i++)
			first = f->end_ps[i] < first ? f->end_ps[i] : first;
		f->first_ps[group] = first;
	}
	return lane;
}

/* ---- making ---- */

struct making {
	const struct tfp_tracks *list;
	struct tfp_timeline_track *tracks;
	size_t first; /* tracks before are there already */
	atomic_bool no_memory;
	atomic_uint_least64_t bytes;
};

static void *take(struct making *m, size_t count, size_t size)
{
	void *memory = tfp_reallocarray(NULL, count, size);
	if (memory)
		atomic_fetch_add(&m->bytes, count * size);
	return memory;
}

static size_t levels_size(uint32_t count)
{
	size_t size = 0;
	while (count > FAN) {
		count = blocks_of(count);
		size += count;
	}
	return size;
}

static void fill_lane(const struct tfp_timeline_track *t, uint32_t lane)
{
	struct tfp_lane *l = &t->lanes[lane];
	uint32_t blocks = blocks_of(l->count);
	uint64_t busy = 0;
	if (l->count <= FAN)
		return;
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t end = l->count - b * FAN < FAN ? l->count : b * FAN + FAN;
		l->busy_ps[b] = busy;
		l->longest_ps[b] = -1;
		for (uint32_t i = b * FAN; i < end; i++) {
			int64_t duration = duration_at(t, lane, i);
			busy += (uint64_t)duration;
			if (duration > l->longest_ps[b]) {
				l->longest_ps[b] = duration;
				l->longest[b] = i;
			}
		}
	}
	/* A range can end where the lane does. */
	l->busy_ps[blocks] = busy;
	uint32_t *places = l->longest, size = blocks;
	int64_t *durations = l->longest_ps;
	while (size > FAN) {
		uint32_t above = blocks_of(size);
		for (uint32_t b = 0; b < above; b++) {
			uint32_t end = size - b * FAN < FAN ? size : b * FAN + FAN;
			struct tfp_lane_sum sum = {.longest_ps = -1};
			see_blocks(places, durations, b * FAN, end, &sum);
			places[size + b] = sum.longest;
			durations[size + b] = sum.longest_ps;
		}
		places += size;
		durations += size;
		size = above;
	}
}

/* counts: events by lane. Lanes and their blocks in one piece of memory. */
static bool make_lanes(struct making *m, struct tfp_timeline_track *t, const uint32_t *counts,
		       uint32_t lane_count)
{
	size_t sums = 0, longest = 0;
	for (uint32_t l = 0; l < lane_count; l++) {
		sums += counts[l] > FAN ? (size_t)blocks_of(counts[l]) + 1 : 0;
		longest += levels_size(counts[l]);
	}
	size_t bytes = lane_count * sizeof(struct tfp_lane) + (sums + longest) * sizeof(uint64_t) +
		       longest * sizeof(uint32_t);
	t->owned[0] = take(m, bytes, 1);
	if (!t->owned[0])
		return false;
	t->lanes = t->owned[0];
	t->lane_count = lane_count;
	uint64_t *busy = (uint64_t *)(t->lanes + lane_count);
	int64_t *durations = (int64_t *)(busy + sums);
	uint32_t *places = (uint32_t *)(durations + longest), first = 0;
	for (uint32_t l = 0; l < lane_count; l++) {
		t->lanes[l] = (struct tfp_lane){first, counts[l], busy, places, durations};
		busy += counts[l] > FAN ? (size_t)blocks_of(counts[l]) + 1 : 0;
		places += levels_size(counts[l]);
		durations += levels_size(counts[l]);
		first += counts[l];
	}
	return true;
}

/* Which events of a line are not shown: by name, in a table where the line is longer than that
 * would be. */
struct hiding {
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	uint8_t *by_meta;
	bool any;
};

static bool hides(const struct hiding *h, size_t event)
{
	uint32_t meta = tfp_event_meta_index(h->line, event);
	return h->by_meta ? h->by_meta[meta]
			  : tfp_event_name_is_internal(h->plane->event_metas[meta].name);
}

/* false without memory. */
static bool hiding_init(struct hiding *h, const struct tfp_plane *plane,
			const struct tfp_line *line)
{
	*h = (struct hiding){.plane = plane, .line = line};
	if (line->event_count < plane->event_meta_count) {
		for (size_t i = 0; i < line->event_count && !h->any; i++)
			h->any = hides(h, i);
		return true;
	}
	h->by_meta = tfp_calloc(plane->event_meta_count, 1);
	for (size_t m = 0; h->by_meta && m < plane->event_meta_count; m++) {
		h->by_meta[m] = tfp_event_name_is_internal(plane->event_metas[m].name);
		h->any |= h->by_meta[m];
	}
	return h->by_meta != NULL;
}

static bool make_line(struct making *m, struct tfp_timeline_track *t, const struct tfp_track *track)
{
	const struct tfp_line *line = track->line;
	uint32_t counts[TFP_TIMELINE_LANES] = {0}, next[TFP_TIMELINE_LANES], lane_count = 0;
	uint32_t n = (uint32_t)line->event_count, shown = (uint32_t)track->event_count;
	struct free_lanes lanes;
	struct hiding hiding;
	bool ok = hiding_init(&hiding, track->plane, line);
	uint8_t *of_event = tfp_malloc(n);
	uint32_t *order = NULL;
	ok = ok && of_event;
	free_lanes_init(&lanes);
	for (uint32_t i = 0; ok && i < n; i++) {
		if (!tfp_goes_on(i)) {
			ok = false; /* not all events have their lanes */
			break;
		}
		if (hiding.any && hides(&hiding, i))
			continue;
		int64_t start = tfp_event_offset_ps(line, i);
		unsigned lane = take_lane(&lanes, start, start + tfp_event_duration_ps(line, i));
		of_event[i] = (uint8_t)lane;
		counts[lane]++;
	}
	while (lane_count < TFP_TIMELINE_LANES && counts[lane_count])
		next[lane_count] = lane_count ? next[lane_count - 1] + counts[lane_count - 1] : 0,
		lane_count++;
	t->overflows = lane_count == TFP_TIMELINE_LANES;
	if (ok && (lane_count > 1 || shown < n)) {
		t->owned[1] = order = take(m, shown, sizeof(*order));
		ok = order != NULL;
		for (uint32_t i = 0; ok && i < n; i++) {
			if (!hiding.any || !hides(&hiding, i))
				order[next[of_event[i]]++] = i;
		}
	}
	t->order = order;
	ok = ok && make_lanes(m, t, counts, lane_count);
	for (uint32_t l = 0; ok && l < lane_count && tfp_goes_on(0); l++)
		fill_lane(t, l);
	tfp_free(hiding.by_meta);
	tfp_free(of_event);
	return ok;
}

/* ---- counters ---- */

/* A counter's value is the first number among the stats of its event. */
static double value_of(const struct tfp_plane *plane, const struct tfp_line *line, uint32_t event)
{
	struct tfp_stat_iter it = tfp_event_stats(line, event);
	struct tfp_stat stat;
	double value;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t name = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		if (tfp_stat_double(&stat, &value) && isfinite(value) &&
		    !tfp_stat_name_is_internal(plane->stat_metas[name].name))
			return value;
	}
	return NAN;
}

static bool make_counter(struct making *m, struct tfp_timeline_track *t,
			 const struct tfp_track *track)
{
	uint32_t count = (uint32_t)track->event_count;
	uint32_t blocks = count / COUNTER_BLOCK + 1;
	struct tfp_counter_values *c = &t->counter;
	uint32_t *order = t->owned[1] = take(m, count, sizeof(*order));
	if (!order || !make_lanes(m, t, &count, 1))
		return false;
	t->order = order;
	c->values = take(m, (size_t)count + 2 * (size_t)blocks, sizeof(double));
	if (!c->values)
		return false;
	c->low = c->values + count;
	c->high = c->low + blocks;
	return true;
}

static bool fill_counter(struct tfp_timeline_track *t, const struct tfp_plane *plane)
{
	struct tfp_counter_values *c = &t->counter;
	uint32_t count = t->lanes[0].count;
	for (uint32_t i = 0; i < count; i++) {
		if (!tfp_goes_on(i))
			return false;
		c->values[i] = value_of(plane, t->line, t->order[i]);
	}
	for (uint32_t b = 0; b * COUNTER_BLOCK < count; b++) {
		c->low[b] = c->high[b] = NAN;
		for (uint32_t i = b * COUNTER_BLOCK; i < count && i < (b + 1) * COUNTER_BLOCK; i++)
			widen(&c->low[b], &c->high[b], c->values[i], c->values[i]);
	}
	fill_lane(t, 0);
	return true;
}

/* All counters of a line at once, of which this is the first: a line can have very many. */
static bool make_counters(struct making *m, size_t first)
{
	const struct tfp_track *list = m->list->tracks;
	const struct tfp_line *line = list[first].line;
	size_t end = first;
	bool ok = true;
	while (end < m->list->track_count && list[end].kind == TFP_TRACK_COUNTER &&
	       list[end].line == line)
		end++;
	uint32_t *of_meta = tfp_calloc(list[first].plane->event_meta_count, sizeof(*of_meta));
	uint32_t *filled = tfp_calloc(end - first, sizeof(*filled));
	ok = of_meta && filled;
	for (size_t t = first; ok && t < end; t++) {
		of_meta[list[t].counter_meta] = (uint32_t)(t - first) + 1;
		m->tracks[t].line = line;
		ok = make_counter(m, &m->tracks[t], &list[t]);
	}
	for (uint32_t i = 0; ok && i < line->event_count; i++) {
		uint32_t t = of_meta[tfp_event_meta_index(line, i)];
		if (t)
			((uint32_t *)m->tracks[first + t - 1].owned[1])[filled[t - 1]++] = i;
	}
	for (size_t t = first; ok && t < end; t++)
		ok = fill_counter(&m->tracks[t], list[t].plane);
	tfp_free(of_meta);
	tfp_free(filled);
	return ok;
}

static void make_track(void *context, size_t i)
{
	struct making *m = context;
	i += m->first;
	const struct tfp_track *track = &m->list->tracks[i];
	bool ok = true;
	if (track->kind != TFP_TRACK_COUNTER) {
		m->tracks[i].line = track->line;
		ok = make_line(m, &m->tracks[i], track);
	} else if (i == 0 || track[-1].line != track->line) {
		ok = make_counters(m, i);
	}
	if (!ok)
		atomic_store(&m->no_memory, true);
}

/* ---- the fact ---- */

static void free_timeline(void *fact)
{
	struct tfp_timeline *timeline = fact;
	for (uint32_t t = 0; t < timeline->track_count; t++) {
		if (timeline->tracks[t].borrowed)
			continue;
		tfp_free(timeline->tracks[t].owned[0]);
		tfp_free(timeline->tracks[t].owned[1]);
		tfp_free(timeline->tracks[t].counter.values);
	}
	tfp_free(timeline->tracks);
	tfp_free(timeline);
}

/* file: the timeline of the list's first tracks, or NULL. */
static enum tfp_status make_timeline(const struct tfp_tracks *list, const struct tfp_timeline *file,
				     struct tfp_pool *pool, void **fact, uint64_t *heap_bytes,
				     struct tfp_error *err)
{
	struct making m = {.list = list, .first = file ? file->track_count : 0};
	struct tfp_timeline *timeline = tfp_calloc(1, sizeof(*timeline));
	if (!timeline)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the timeline");
	timeline->tracks = m.tracks = tfp_calloc(list->track_count, sizeof(*m.tracks));
	if (m.tracks) {
		timeline->track_count = list->track_count;
		for (size_t t = 0; t < m.first; t++) {
			m.tracks[t] = file->tracks[t];
			m.tracks[t].borrowed = true;
		}
		tfp_pool_for(pool, list->track_count - m.first, make_track, &m);
	}
	if (!m.tracks || atomic_load(&m.no_memory)) {
		free_timeline(timeline);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the timeline");
	}
	timeline->heap_bytes = atomic_load(&m.bytes) + sizeof(*timeline) +
			       timeline->track_count * sizeof(*m.tracks);
	*heap_bytes = timeline->heap_bytes;
	*fact = timeline;
	return TFP_OK;
}

static enum tfp_status compute_file(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
				    uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_tracks *list;
	enum tfp_status status = tfp_file_tracks_get(capture, pool, &list, err);
	return status == TFP_OK ? make_timeline(list, NULL, pool, fact, heap_bytes, err) : status;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_tracks *list;
	const struct tfp_timeline *file;
	enum tfp_status status = tfp_tracks_get(capture, pool, &list, err);
	if (status == TFP_OK)
		status = tfp_file_timeline_get(capture, pool, &file, err);
	return status == TFP_OK ? make_timeline(list, file, pool, fact, heap_bytes, err) : status;
}

enum tfp_status tfp_file_timeline_get(struct tfp_capture *capture, struct tfp_pool *pool,
				      const struct tfp_timeline **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_file, free_timeline};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

enum tfp_status tfp_timeline_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_timeline **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_timeline};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
