/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/timeline/event_categories.h"
#include "analysis/timeline/stretches.h"

#include <math.h>
#include <stdio.h>

struct timeline_of {
	struct opened o;
	const struct tfp_tracks *tracks;
	const struct tfp_timeline *timeline;
};

static struct timeline_of open_timeline(struct builder *b)
{
	struct timeline_of t = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_tracks_get(t.o.capture, NULL, &t.tracks, &err) != TFP_OK ||
	    tfp_timeline_get(t.o.capture, NULL, &t.timeline, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return t;
}

static uint32_t lane_of(const struct timeline_of *t, uint32_t track, uint32_t event)
{
	uint32_t lane, place;
	assert_true(tfp_timeline_find_event(&t->timeline->tracks[track], event, &lane, &place));
	return lane;
}

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* ---- lanes ---- */

static void test_nesting_is_depth(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "t", 0);
	(void)state;
	static const struct {
		int64_t start, duration;
		uint32_t lane, parent;
	} events[] = {
		{0, 100, 0, TFP_NO_EVENT},
		{0, 40, 1, 0},
		{10, 10, 2, 1},
		{20, 10, 2, 1}, /* begins where the one before ends */
		{20, 0, 3, 3},  /* takes no time, within the one that begins there */
		{50, 50, 1, 0},
		{100, 0, 0, TFP_NO_EVENT}, /* just after the first */
		{100, 5, 0, TFP_NO_EVENT},
	};
	/* {100, 5} is longer, so it comes before {100, 0}: see below. */
	for (size_t i = 0; i < COUNT(events); i++)
		builder_event(line, "e", events[i].start, events[i].duration);
	struct timeline_of t = open_timeline(b);
	const struct tfp_timeline_track *track = &t.timeline->tracks[0];
	assert_int_equal(track->lane_count, 4);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t lane, place;
		assert_true(tfp_timeline_find_event(track, i, &lane, &place));
		assert_int_equal(lane, events[i].lane);
		assert_int_equal(tfp_timeline_parent(track, lane, place), events[i].parent);
	}
	assert_int_equal(lane_of(&t, 0, 6), 0); /* {100, 5} */
	assert_int_equal(lane_of(&t, 0, 7), 1); /* {100, 0} */
	uint32_t from, to;
	tfp_timeline_children(track, 0, 0, &from, &to);
	assert_int_equal(to - from, 2);
	assert_int_equal(tfp_lane_event(track, 1, from), 1);
	assert_int_equal(tfp_lane_event(track, 1, from + 1), 5);
	tfp_timeline_children(track, 1, 0, &from, &to);
	assert_int_equal(to - from, 2);
	close_built(&t.o);
}

static void test_overlap_gets_lanes(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	(void)state;
	builder_event(line, "a", 0, 10);
	builder_event(line, "b", 5, 10);
	builder_event(line, "c", 8, 20);
	builder_event(line, "d", 10, 3); /* a's lane is free again */
	builder_event(line, "e", 14, 3); /* and again; b still runs */
	struct timeline_of t = open_timeline(b);
	static const uint32_t lanes[] = {0, 1, 2, 0, 0};
	for (uint32_t i = 0; i < COUNT(lanes); i++)
		assert_int_equal(lane_of(&t, 0, i), lanes[i]);
	const struct tfp_timeline_track *track = &t.timeline->tracks[0];
	assert_int_equal(tfp_timeline_parent(track, 1, 0), TFP_NO_EVENT);
	/* 10-13 and 14-17, cut at 12 and 16 */
	assert_int_equal(tfp_lane_busy_between_ps(track, 0, 12, 16), 3);
	assert_int_equal(tfp_lane_busy_between_ps(track, 2, 9, 11), 2);
	assert_int_equal(tfp_lane_busy_between_ps(track, 0, 17, 1000), 0);
	close_built(&t.o);
}

static void test_one_lane_needs_no_order(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:CPU");
	struct builder_line *plain = builder_line(p, 1, "t", 0);
	struct builder_line *hidden = builder_line(p, 2, "u", 0);
	(void)state;
	for (int i = 0; i < 100; i++) {
		builder_event(plain, "e", 10 * i, 10);
		builder_event(hidden, i % 3 ? "e" : "MemoryAllocation", 10 * i, 10);
	}
	struct timeline_of t = open_timeline(b);
	uint32_t lane, place;
	assert_null(t.timeline->tracks[0].order);
	assert_int_equal(t.timeline->tracks[0].lanes[0].count, 100);
	assert_int_equal(t.timeline->tracks[1].lanes[0].count, 66);
	assert_false(tfp_timeline_find_event(&t.timeline->tracks[1], 3, &lane, &place));
	assert_true(tfp_timeline_find_event(&t.timeline->tracks[1], 4, &lane, &place));
	assert_int_equal(place, 2);
	close_built(&t.o);
}

static void test_a_million_at_once_are_no_million_lanes(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	const uint32_t count = 20000;
	(void)state;
	for (uint32_t i = 0; i < count; i++)
		builder_event(line, "e", i, 1000000);
	struct timeline_of t = open_timeline(b);
	const struct tfp_timeline_track *track = &t.timeline->tracks[0];
	struct tfp_window w = {.to_ps = 512 << 11, .level = 11};
	struct tfp_stretches list = {0};
	uint64_t events = 0;
	int64_t busy = 0;
	assert_int_equal(track->lane_count, TFP_TIMELINE_LANES);
	assert_true(track->overflows);
	assert_true(tfp_stretches_of(track, &w, SIZE_MAX, &list));
	for (size_t i = 0; i < list.count; i++) {
		events += list.list[i].count;
		busy += list.list[i].busy_ps;
		assert_true(list.list[i].lane == TFP_TIMELINE_LANES - 1 || list.list[i].count == 1);
	}
	assert_int_equal(events, count);
	assert_int_equal(busy, INT64_C(1000000) * count);
	/* 255 alone; the rest by slots of 2048: 255-2047, 2048-4095, ..., 18432-19999 */
	assert_int_equal(list.count, 255 + 10);
	tfp_stretches_release(&list);
	close_built(&t.o);
}

/* Ranges of a lane, against counting. */
static void test_sums_and_longest(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "t", 0);
	const uint32_t count = 5000;
	int64_t *durations = calloc(count, sizeof(*durations)), at = 0;
	(void)state;
	random_state = 88172645463325252u;
	for (uint32_t i = 0; i < count; i++) {
		durations[i] = (int64_t)next_random(1000);
		builder_event(line, "e", at, durations[i]);
		at += durations[i] + 1;
	}
	struct timeline_of t = open_timeline(b);
	const struct tfp_timeline_track *track = &t.timeline->tracks[0];
	for (unsigned n = 0; n < 3000; n++) {
		uint32_t from = (uint32_t)next_random(count);
		uint32_t to = from + 1 + (uint32_t)next_random(n % 2 ? 40 : count - from);
		uint32_t longest = from;
		int64_t sum = 0;
		to = to > count ? count : to;
		for (uint32_t i = from; i < to; i++) {
			sum += durations[i];
			longest = durations[i] > durations[longest] ? i : longest;
		}
		struct tfp_lane_sum found = tfp_lane_sum(track, 0, from, to);
		assert_int_equal(found.busy_ps, sum);
		assert_int_equal(found.longest, longest);
		assert_int_equal(found.longest_ps, durations[longest]);
		int64_t start = tfp_event_offset_ps(track->line, to - 1);
		assert_int_equal(tfp_lane_find(track, 0, start), to - 1);
		assert_int_equal(tfp_lane_find_from(track, 0, from, 1, start), to - 1);
		uint32_t guess = 1 + (uint32_t)next_random(2 * (to - from));
		assert_int_equal(tfp_lane_find_from(track, 0, from, guess, start), to - 1);
		assert_int_equal(tfp_lane_find_from(track, 0, from, guess, start + 1), to);
	}
	free(durations);
	close_built(&t.o);
}

/* ---- stretches ---- */

/* Nested as calls are. */
static void add_calls(struct builder_line *line, int64_t start, int64_t duration, unsigned depth)
{
	builder_event(line, depth % 2 ? "f" : "g", start, duration);
	int64_t at = start;
	while (depth < 6 && duration > 8) {
		int64_t child = (int64_t)next_random((uint64_t)duration / 2 + 1);
		if (at + child > start + duration)
			break;
		add_calls(line, at, child, depth + 1);
		at += child + (int64_t)next_random((uint64_t)duration / 3 + 1);
		if (child == 0)
			break;
	}
}

#define LAST_PS (INT64_C(1) << 20)

static struct builder *busy_capture(void)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	struct builder_line *calls = builder_line(host, 1, "calls", 0);
	struct builder_line *storm = builder_line(host, 2, "storm", 0);
	struct builder_line *instants = builder_line(host, 3, "instants", 0);
	struct builder_line *stream = builder_line(gpu, 7, "stream", 0);
	struct builder_line *counters = builder_line(gpu, 8, "_counters_", 0);
	random_state = 2463534242u;
	for (int64_t at = 0; at < LAST_PS - 20000; at += (int64_t)next_random(20000))
		add_calls(calls, at, (int64_t)next_random(20000), 0);
	for (int i = 0; i < 3000; i++)
		builder_event(storm, i % 7 ? "drop" : "PrefetchProduce",
			      500000 + (int64_t)next_random(700), (int64_t)next_random(3));
	for (int i = 0; i < 500; i++)
		builder_event(instants, "now", i < 250 ? 77 : (int64_t)next_random(LAST_PS), 0);
	for (int i = 0; i < 2000; i++)
		builder_event(stream, "kernel", (int64_t)next_random(LAST_PS),
			      (int64_t)next_random(i % 50 ? 300 : 30000));
	for (int i = 0; i < 1000; i++) {
		struct builder_stats *e = builder_event(counters, i % 3 ? "power" : "clock",
							(int64_t)next_random(LAST_PS), 0);
		if (i % 10)
			builder_stat_int(e, "value", (int64_t)next_random(100));
	}
	return b;
}

/* Whether an event may be merged at a slot: shorter than it, and with a neighbour in
 * its lane less than a slot away. */
static bool may_be_merged(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place,
			  int64_t slot)
{
	int64_t start = tfp_lane_start_ps(t, lane, place);
	int64_t duration = tfp_event_duration_ps(t->line, tfp_lane_event(t, lane, place));
	bool near = false;
	if (place > 0)
		near |= start - tfp_lane_start_ps(t, lane, place - 1) < slot;
	if (place + 1 < t->lanes[lane].count)
		near |= tfp_lane_start_ps(t, lane, place + 1) - start < slot;
	return duration < slot && near;
}

struct account {
	uint64_t events;
	int64_t busy;
	uint8_t *alone; /* by event: shown by itself */
};

static void add_up(const struct tfp_timeline_track *t, const struct tfp_window *w,
		   struct account *a)
{
	struct tfp_stretches list = {0};
	uint64_t events = 0;
	assert_true(tfp_stretches_of(t, w, SIZE_MAX, &list));
	assert_true(list.count <= tfp_stretches_bound(t, w));
	for (size_t i = 0; i < list.count; i++) {
		const struct tfp_stretch *s = &list.list[i];
		if (s->before) {
			assert_true(s->start_ps < w->from_ps);
			assert_true(s->start_ps + s->duration_ps > w->from_ps);
			continue;
		}
		assert_true(s->start_ps >= w->from_ps && s->start_ps < w->to_ps);
		assert_true(s->busy_ps <= s->duration_ps || s->count > 1);
		assert_true(s->busy_ps <= s->duration_ps); /* no lane here overflows */
		if (s->count == 1) {
			assert_int_equal(s->start_ps,
					 tfp_event_offset_ps(t->line, s->event) + w->shift_ps);
			assert_int_equal(s->duration_ps, tfp_event_duration_ps(t->line, s->event));
			a->alone[s->event] = 1;
		}
		if (i > 0 && !list.list[i - 1].before && list.list[i - 1].lane == s->lane)
			assert_true(list.list[i - 1].start_ps + list.list[i - 1].duration_ps <=
				    s->start_ps);
		events += s->count;
		a->busy += s->busy_ps;
	}
	assert_int_equal(events, list.events);
	assert_int_equal(events, tfp_window_events(t, w));
	a->events += events;
	tfp_stretches_release(&list);
}

/* By looking at every event. */
static void check_reach(const struct tfp_timeline_track *t, bool exact, int64_t begin_ps,
			int64_t end_ps)
{
	const struct tfp_line *line = t->line;
	uint32_t from, to, lane, place, first = (uint32_t)line->event_count, last = 0;
	for (uint32_t i = 0; i < line->event_count; i++) {
		int64_t start = tfp_event_offset_ps(line, i);
		if (start > end_ps || start + tfp_event_duration_ps(line, i) < begin_ps ||
		    !tfp_timeline_find_event(t, i, &lane, &place))
			continue;
		first = i < first ? i : first;
		last = i + 1;
	}
	tfp_timeline_reach(t, begin_ps, end_ps, &from, &to);
	assert_true(from <= to && to <= line->event_count);
	if (first < last)
		assert_true(from <= first && last <= to);
	/* Where all are shown and none overlaps beyond all lanes, no more than need be. */
	if (first < last && exact)
		assert_int_equal(from, first);
	assert_true(to == line->event_count || tfp_event_offset_ps(line, to) > end_ps);
}

static void test_what_reaches_into_a_stretch(void **state)
{
	struct timeline_of t = open_timeline(busy_capture());
	size_t found = 0;
	(void)state;
	for (uint32_t track = 0; track < t.tracks->track_count; track++) {
		const struct tfp_timeline_track *line = &t.timeline->tracks[track];
		if (t.tracks->tracks[track].kind == TFP_TRACK_COUNTER)
			continue;
		bool exact = !line->overflows &&
			     t.tracks->tracks[track].event_count == line->line->event_count;
		found += exact;
		check_reach(line, exact, INT64_MIN, INT64_MAX);
		check_reach(line, exact, 0, 0);
		for (size_t n = 0; n < 200; n++) {
			/* Often exactly at an end of an event. */
			uint32_t event = (uint32_t)next_random(line->line->event_count);
			int64_t begin = n % 2 ? (int64_t)next_random(LAST_PS)
					      : tfp_event_offset_ps(line->line, event) +
							tfp_event_duration_ps(line->line, event) +
							(int64_t)next_random(3) - 1;
			check_reach(line, exact, begin, begin + (int64_t)next_random(30000));
		}
	}
	assert_true(found >= 2);
	close_built(&t.o);
}

static void test_every_level_accounts_for_every_event(void **state)
{
	struct timeline_of t = open_timeline(busy_capture());
	const int64_t shifts[] = {0, 12345};
	(void)state;
	for (uint32_t i = 0; i < t.tracks->track_count; i++) {
		const struct tfp_track *track = &t.tracks->tracks[i];
		const struct tfp_timeline_track *index = &t.timeline->tracks[i];
		uint32_t n = (uint32_t)track->line->event_count;
		int64_t busy = 0;
		if (track->kind == TFP_TRACK_COUNTER)
			continue;
		for (uint32_t e = 0; e < n; e++) {
			uint32_t m = tfp_event_meta_index(track->line, e);
			if (!tfp_event_name_is_internal(track->plane->event_metas[m].name))
				busy += tfp_event_duration_ps(track->line, e);
		}
		for (unsigned level = 0; level < 24; level++) {
			int64_t tile = (int64_t)512 << level;
			struct account a = {.alone = calloc(n, 1)};
			for (int64_t from = 0; from < LAST_PS + 200000; from += tile) {
				struct tfp_window w = {shifts[level % 2], from, from + tile, level};
				add_up(index, &w, &a);
			}
			assert_int_equal(a.events, track->event_count);
			assert_int_equal(a.busy, busy);
			for (uint32_t lane = 0; lane < index->lane_count; lane++) {
				for (uint32_t p = 0; p < index->lanes[lane].count; p++) {
					if (!may_be_merged(index, lane, p, INT64_C(1) << level))
						assert_true(
							a.alone[tfp_lane_event(index, lane, p)]);
				}
			}
			free(a.alone);
		}
	}
	close_built(&t.o);
}

/* Merging what was found finds the same as looking with larger slots. */
static void test_coarser_is_the_same_either_way(void **state)
{
	struct timeline_of t = open_timeline(busy_capture());
	(void)state;
	for (uint32_t i = 0; i < t.tracks->track_count; i++) {
		const struct tfp_timeline_track *index = &t.timeline->tracks[i];
		struct tfp_stretches fine = {0}, coarse = {0};
		if (t.tracks->tracks[i].kind == TFP_TRACK_COUNTER)
			continue;
		struct tfp_window w = {77, 512 << 8, 5 * (512 << 8), 8};
		assert_true(tfp_stretches_of(index, &w, SIZE_MAX, &fine));
		for (unsigned level = 9; level < 20; level++) {
			w.level = level;
			tfp_stretches_coarsen(index, level, &fine);
			assert_true(tfp_stretches_of(index, &w, SIZE_MAX, &coarse));
			assert_int_equal(fine.count, coarse.count);
			for (size_t k = 0; k < fine.count; k++) {
				const struct tfp_stretch *a = &fine.list[k], *b = &coarse.list[k];
				assert_int_equal(a->start_ps, b->start_ps);
				assert_int_equal(a->duration_ps, b->duration_ps);
				assert_int_equal(a->busy_ps, b->busy_ps);
				assert_int_equal(a->count, b->count);
				assert_int_equal(a->event, b->event);
				assert_int_equal(a->lane, b->lane);
				assert_int_equal(a->before, b->before);
			}
		}
		tfp_stretches_release(&fine);
		tfp_stretches_release(&coarse);
	}
	close_built(&t.o);
}

static void test_counters_account_too(void **state)
{
	struct timeline_of t = open_timeline(busy_capture());
	unsigned seen = 0;
	(void)state;
	for (uint32_t i = 0; i < t.tracks->track_count; i++) {
		const struct tfp_timeline_track *index = &t.timeline->tracks[i];
		double most = -1;
		if (t.tracks->tracks[i].kind != TFP_TRACK_COUNTER)
			continue;
		seen++;
		for (uint32_t e = 0; e < index->lanes[0].count; e++)
			most = index->counter.values[e] > most ? index->counter.values[e] : most;
		for (unsigned level = 4; level < 24; level++) {
			int64_t tile = (int64_t)512 << level;
			struct tfp_counter_slots list = {0};
			uint64_t events = 0;
			double high = -1;
			for (int64_t from = 0; from < LAST_PS; from += tile) {
				struct tfp_window w = {0, from, from + tile, level};
				assert_true(tfp_counter_slots_of(index, &w, SIZE_MAX, &list));
				for (size_t s = list.before; s < list.count; s++) {
					events += list.list[s].count;
					high = list.list[s].high > high ? list.list[s].high : high;
				}
			}
			assert_int_equal(events, t.tracks->tracks[i].event_count);
			assert_true(high == most);
			tfp_counter_slots_release(&list);
		}
	}
	assert_int_equal(seen, 2);
	close_built(&t.o);
}

static void test_stretches_by_hand(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "t", 1);
	(void)state;
	/* Line time; the window's is 1000 less. Slots of 16. */
	builder_event(line, "before", 0, 20); /* reaches into [16, 32) */
	builder_event(line, "a", 20, 2);
	builder_event(line, "b", 24, 4);
	builder_event(line, "c", 29, 16); /* as long as a slot: alone */
	builder_event(line, "d", 50, 1);
	struct timeline_of t = open_timeline(b);
	struct tfp_window w = {.shift_ps = 0, .from_ps = 16, .to_ps = 64, .level = 4};
	struct tfp_stretches list = {0};
	static const struct {
		int64_t start, duration, busy;
		uint32_t count, event;
	} expected[] = {{0, 20, 20, 1, 0}, {20, 8, 6, 2, 2}, {29, 16, 16, 1, 3}, {50, 1, 1, 1, 4}};
	assert_true(tfp_stretches_of(&t.timeline->tracks[0], &w, SIZE_MAX, &list));
	assert_int_equal(list.count, COUNT(expected));
	for (size_t i = 0; i < list.count; i++) {
		assert_int_equal(list.list[i].start_ps, expected[i].start);
		assert_int_equal(list.list[i].duration_ps, expected[i].duration);
		assert_int_equal(list.list[i].busy_ps, expected[i].busy);
		assert_int_equal(list.list[i].count, expected[i].count);
		assert_int_equal(list.list[i].event, expected[i].event);
		assert_int_equal(list.list[i].before, i == 0);
	}
	assert_int_equal(list.events, 4);
	assert_true(tfp_stretches_of(&t.timeline->tracks[0], &w, 2, &list));
	assert_true(list.too_many);
	tfp_stretches_release(&list);
	close_built(&t.o);
}

/* Times that a damaged file can hold. */
static void test_the_ends_of_time(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "t", 0);
	(void)state;
	for (int i = 0; i < 300; i++)
		builder_event(line, "e", INT64_MAX, INT64_MAX);
	builder_event(line, "e", INT64_MIN, INT64_MAX);
	builder_event(line, "e", 0, INT64_MAX);
	struct timeline_of t = open_timeline(b);
	const int64_t far = INT64_C(1) << 61;
	for (unsigned level = 0; level <= TFP_LEVEL_MAX; level += 8) {
		struct tfp_window w = {far, 0, INT64_C(1) << TFP_WINDOW_BITS, level};
		struct tfp_stretches list = {0};
		assert_true(tfp_stretches_of(&t.timeline->tracks[0], &w, SIZE_MAX, &list));
		for (size_t i = 0; i < list.count; i++)
			assert_true(list.list[i].duration_ps >= 0 && list.list[i].busy_ps >= 0);
		tfp_stretches_release(&list);
	}
	close_built(&t.o);
}

/* ---- categories ---- */

static void test_categories(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 1, "/device:GPU:0");
	struct builder_line *thread = builder_line(host, 1, "t", 0);
	struct builder_line *stream = builder_line(gpu, 1, "s", 0);
	(void)state;
	static const struct {
		const char *name;
		enum tfp_step_category category;
	} kernels[] = {{"gemm", TFP_STEP_DEVICE_COMPUTE},
		       {"ncclAllReduce", TFP_STEP_COLLECTIVES},
		       {"MEMCPYHtoD", TFP_STEP_INPUT},
		       {"MemcpyD2H", TFP_STEP_OUTPUT},
		       {"MEMCPYDtoD", TFP_STEP_BETWEEN_DEVICES}};
	for (size_t i = 0; i < COUNT(kernels); i++)
		builder_event(stream, kernels[i].name, (int64_t)i, 1);
	builder_event(thread, "MatMul:MatMul", 0, 1);
	builder_stat_int(builder_event(thread, "cuLaunchKernel", 1, 1), "correlation_id", 7);
	builder_event(thread, "IteratorGetNext:IteratorGetNext", 2, 1);
	builder_event(builder_line(gpu, 0xdeadbeef, "Steps", 0), "0", 0, 1);
	struct timeline_of t = open_timeline(b);
	const struct tfp_event_categories *c;
	struct tfp_error err;
	assert_int_equal(tfp_event_categories_get(t.o.capture, NULL, &c, &err), TFP_OK);
	assert_str(t.tracks->tracks[0].name, "Steps");
	assert_int_equal(tfp_event_category(c, 0, t.tracks->tracks[0].line, 0),
			 TFP_STEP_ALL_OTHERS);
	for (size_t i = 0; i < COUNT(kernels); i++)
		assert_int_equal(tfp_event_category(c, 1, t.tracks->tracks[1].line, i),
				 kernels[i].category);
	static const enum tfp_step_category of_host[] = {TFP_STEP_ON_HOST, TFP_STEP_KERNEL_LAUNCH,
							 TFP_STEP_INPUT};
	const struct tfp_line *line = t.tracks->tracks[2].line;
	for (size_t i = 0; i < COUNT(of_host); i++)
		assert_int_equal(tfp_event_category(c, 2, line, i), of_host[i]);
	close_built(&t.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting_is_depth),
		cmocka_unit_test(test_overlap_gets_lanes),
		cmocka_unit_test(test_one_lane_needs_no_order),
		cmocka_unit_test(test_a_million_at_once_are_no_million_lanes),
		cmocka_unit_test(test_sums_and_longest),
		cmocka_unit_test(test_what_reaches_into_a_stretch),
		cmocka_unit_test(test_every_level_accounts_for_every_event),
		cmocka_unit_test(test_coarser_is_the_same_either_way),
		cmocka_unit_test(test_counters_account_too),
		cmocka_unit_test(test_stretches_by_hand),
		cmocka_unit_test(test_the_ends_of_time),
		cmocka_unit_test(test_categories),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
