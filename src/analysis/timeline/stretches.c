/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/stretches.h"

#include "base/alloc.h"

#include <math.h>

static bool is_overflow(const struct tfp_timeline_track *t, uint32_t lane)
{
	return t->overflows && lane + 1 == t->lane_count;
}

/* End of the slot that holds a moment, or of the window, by the line's time. */
static int64_t slot_end(const struct tfp_window *w, int64_t start_ps)
{
	int64_t at = start_ps + w->shift_ps;
	int64_t end = ((at >> w->level) + 1) * ((int64_t)1 << w->level);
	return (end < w->to_ps ? end : w->to_ps) - w->shift_ps;
}

/* ---- events ---- */

static bool add(struct tfp_stretches *s, struct tfp_stretch stretch)
{
	if (!TFP_GROW(s->list, s->count, s->room))
		return false;
	s->list[s->count++] = stretch;
	return true;
}

static struct tfp_stretch one_event(const struct tfp_timeline_track *t, const struct tfp_window *w,
				    uint32_t lane, uint32_t place)
{
	uint32_t event = tfp_lane_event(t, lane, place);
	return (struct tfp_stretch){
		.start_ps = tfp_event_offset_ps(t->line, event) + w->shift_ps,
		.duration_ps = tfp_event_duration_ps(t->line, event),
		.busy_ps = tfp_event_duration_ps(t->line, event),
		.count = 1,
		.event = event,
		.lane = (uint16_t)lane,
	};
}

static struct tfp_stretch merged(const struct tfp_timeline_track *t, const struct tfp_window *w,
				 uint32_t lane, uint32_t from, uint32_t to,
				 const struct tfp_lane_sum *sum)
{
	struct tfp_stretch s = one_event(t, w, lane, to - 1);
	/* Where events overlap the last need not end last, but nothing is longer than the
	 * longest. */
	int64_t end = s.start_ps + (is_overflow(t, lane) ? sum->longest_ps : s.duration_ps);
	s.start_ps = tfp_lane_start_ps(t, lane, from) + w->shift_ps;
	s.duration_ps = end - s.start_ps;
	s.busy_ps = sum->busy_ps;
	s.count = to - from;
	s.event = tfp_lane_event(t, lane, sum->longest);
	return s;
}

/* The event that began before the window and reaches into it. */
static bool add_before(const struct tfp_timeline_track *t, const struct tfp_window *w,
		       uint32_t lane, uint32_t first, struct tfp_stretches *out)
{
	if (first == 0 || is_overflow(t, lane))
		return true;
	struct tfp_stretch s = one_event(t, w, lane, first - 1);
	s.before = true;
	return s.start_ps + s.duration_ps <= w->from_ps || add(out, s);
}

static bool add_lane(const struct tfp_timeline_track *t, const struct tfp_window *w, uint32_t lane,
		     size_t most, struct tfp_stretches *out)
{
	const int64_t slot = (int64_t)1 << w->level, to_ps = w->to_ps - w->shift_ps;
	uint32_t count = t->lanes[lane].count, guess = 1;
	uint32_t place = tfp_lane_find(t, lane, w->from_ps - w->shift_ps);
	bool ok = add_before(t, w, lane, place, out);
	while (ok && place < count) {
		int64_t start = tfp_lane_start_ps(t, lane, place);
		if (start >= to_ps)
			break;
		if (out->count >= most) {
			out->too_many = true;
			break;
		}
		/* Slots beside one another often hold about the same number. */
		uint32_t next = tfp_lane_find_from(t, lane, place, guess, slot_end(w, start));
		uint32_t last = next;
		struct tfp_lane_sum sum = {0};
		guess = next - place;
		if (next - place > 1 && !is_overflow(t, lane) &&
		    tfp_event_duration_ps(t->line, tfp_lane_event(t, lane, next - 1)) >= slot)
			last--;
		if (last - place > 1)
			sum = tfp_lane_sum(t, lane, place, last);
		ok = add(out, last - place == 1 ? one_event(t, w, lane, place)
						: merged(t, w, lane, place, last, &sum));
		if (ok && last < next)
			ok = add(out, one_event(t, w, lane, last));
		out->events += next - place;
		place = next;
	}
	return ok;
}

bool tfp_stretches_of(const struct tfp_timeline_track *t, const struct tfp_window *w, size_t most,
		      struct tfp_stretches *out)
{
	bool ok = true;
	out->count = 0;
	out->events = 0;
	out->too_many = false;
	for (uint32_t lane = 0; ok && !out->too_many && lane < t->lane_count; lane++)
		ok = add_lane(t, w, lane, most, out);
	return ok;
}

static bool same_slot(const struct tfp_stretch *a, const struct tfp_stretch *b, unsigned level)
{
	return a->lane == b->lane && !a->before && a->start_ps >> level == b->start_ps >> level;
}

void tfp_stretches_coarsen(const struct tfp_timeline_track *t, unsigned level,
			   struct tfp_stretches *s)
{
	const int64_t slot = (int64_t)1 << level;
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct tfp_stretch next = s->list[i];
		struct tfp_stretch *last = kept ? &s->list[kept - 1] : NULL;
		bool alone =
			next.count == 1 && next.duration_ps >= slot && !is_overflow(t, next.lane);
		if (!last || alone || !same_slot(last, &next, level)) {
			s->list[kept++] = next;
			continue;
		}
		int64_t end = next.start_ps + next.duration_ps;
		if (end > last->start_ps + last->duration_ps)
			last->duration_ps = end - last->start_ps;
		if (__builtin_add_overflow(last->busy_ps, next.busy_ps, &last->busy_ps))
			last->busy_ps = INT64_MAX;
		last->count += next.count;
		if (tfp_event_duration_ps(t->line, next.event) >
		    tfp_event_duration_ps(t->line, last->event))
			last->event = next.event;
	}
	s->count = kept;
}

void tfp_stretches_release(struct tfp_stretches *s)
{
	tfp_free(s->list);
	*s = (struct tfp_stretches){0};
}

static uint32_t count_in(const struct tfp_timeline_track *t, const struct tfp_window *w,
			 uint32_t lane)
{
	uint32_t from = tfp_lane_find(t, lane, w->from_ps - w->shift_ps);
	return tfp_lane_find_from(t, lane, from, 1, w->to_ps - w->shift_ps) - from;
}

uint64_t tfp_stretches_bound(const struct tfp_timeline_track *t, const struct tfp_window *w)
{
	/* A slot gives at most two: a merged one, and a long event after it. */
	uint64_t slots = 2 * (((uint64_t)(w->to_ps - w->from_ps) >> w->level) + 2), bound = 0;
	for (uint32_t lane = 0; lane < t->lane_count; lane++) {
		uint32_t count = count_in(t, w, lane);
		bound += 1 + (count < slots ? count : slots);
	}
	return bound;
}

uint64_t tfp_window_events(const struct tfp_timeline_track *t, const struct tfp_window *w)
{
	uint64_t events = 0;
	for (uint32_t lane = 0; lane < t->lane_count; lane++)
		events += count_in(t, w, lane);
	return events;
}

/* ---- counters ---- */

static bool add_slot(struct tfp_counter_slots *s, struct tfp_counter_slot slot)
{
	if (!TFP_GROW(s->list, s->count, s->room))
		return false;
	s->list[s->count++] = slot;
	return true;
}

static struct tfp_counter_slot slot_of(const struct tfp_timeline_track *t,
				       const struct tfp_window *w, uint32_t from, uint32_t to)
{
	struct tfp_counter_slot slot = {
		.time_ps = tfp_lane_start_ps(t, 0, from) + w->shift_ps,
		.last = NAN,
		.count = to - from,
	};
	tfp_counter_range(t, from, to, &slot.low, &slot.high);
	/* An event without a number leaves the counter as it was. */
	if (!isnan(slot.low)) {
		for (uint32_t i = to; i > from && isnan(slot.last); i--)
			slot.last = t->counter.values[i - 1];
	}
	return slot;
}

bool tfp_counter_slots_of(const struct tfp_timeline_track *t, const struct tfp_window *w,
			  size_t most, struct tfp_counter_slots *out)
{
	const int64_t to_ps = w->to_ps - w->shift_ps;
	uint32_t place = tfp_lane_find(t, 0, w->from_ps - w->shift_ps);
	bool ok = true;
	out->count = 0;
	out->events = 0;
	out->too_many = false;
	out->before = place > 0;
	if (place > 0) {
		struct tfp_counter_slot before = slot_of(t, w, place - 1, place);
		before.count = 0;
		ok = add_slot(out, before);
	}
	while (ok && place < t->lanes[0].count) {
		int64_t start = tfp_lane_start_ps(t, 0, place);
		if (start >= to_ps)
			break;
		if (out->count >= most) {
			out->too_many = true;
			break;
		}
		uint32_t next = tfp_lane_find_from(t, 0, place, 1, slot_end(w, start));
		ok = add_slot(out, slot_of(t, w, place, next));
		out->events += next - place;
		place = next;
	}
	return ok;
}

void tfp_counter_slots_release(struct tfp_counter_slots *s)
{
	tfp_free(s->list);
	*s = (struct tfp_counter_slots){0};
}
