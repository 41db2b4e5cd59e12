/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_busy.h"

#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>

/* The stretch is cut into this many, which are worked on in parallel: the busy time of
 * one does not depend on the others. */
#define SLICES 64

/* A lane, and the first of its events that ends after what has been counted. */
struct cursor {
	const struct tfp_trace_track *track;
	uint32_t lane, place;
	int64_t start_ps, end_ps; /* by the trace's time */
};

struct busy {
	const struct tfp_trace_track *tracks;
	size_t count, lane_count;
	int64_t from_ps, to_ps;
	atomic_int_least64_t sum_ps;
	atomic_bool no_memory;
};

static bool is_unordered(const struct cursor *c)
{
	const struct tfp_timeline_track *t = c->track->timeline;
	return t->overflows && c->lane + 1 == t->lane_count;
}

static int64_t end_at(const struct cursor *c, uint32_t place)
{
	const struct tfp_timeline_track *t = c->track->timeline;
	return tfp_event_end_offset_ps(t->line, tfp_lane_event(t, c->lane, place)) +
	       c->track->shift_ps;
}

/* First place from the cursor's on whose event ends after a moment: in a lane ends ascend. */
static uint32_t ends_after(const struct cursor *c, int64_t ps)
{
	uint32_t count = c->track->timeline->lanes[c->lane].count;
	uint32_t low = c->place, step = 1, high;
	if (is_unordered(c)) {
		while (low < count && end_at(c, low) <= ps)
			low++;
		return low;
	}
	while (step < count - low && end_at(c, low + step) <= ps) {
		low += step;
		step *= 2;
	}
	high = step < count - low ? low + step : count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (end_at(c, middle) <= ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* False at the lane's end. */
static bool advance(struct cursor *c, int64_t ps)
{
	const struct tfp_timeline_track *t = c->track->timeline;
	if (c->place < t->lanes[c->lane].count)
		c->place = ends_after(c, ps);
	if (c->place >= t->lanes[c->lane].count)
		return false;
	c->start_ps = tfp_lane_start_ps(t, c->lane, c->place) + c->track->shift_ps;
	c->end_ps = end_at(c, c->place);
	return true;
}

/* Restores the heap, whose first is the earliest start, below a place. */
static void sift(struct cursor *heap, size_t count, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && heap[child + 1].start_ps < heap[child].start_ps)
			child++;
		if (heap[at].start_ps <= heap[child].start_ps)
			return;
		struct cursor moved = heap[at];
		heap[at] = heap[child];
		heap[child] = moved;
	}
}

static int64_t sweep(struct cursor *heap, size_t count, int64_t from_ps, int64_t to_ps)
{
	int64_t busy = 0, counted = from_ps;
	for (size_t i = count / 2; i-- > 0;)
		sift(heap, count, i);
	for (size_t turn = 0; count && counted < to_ps && tfp_goes_on(turn); turn++) {
		struct cursor *first = &heap[0];
		if (first->start_ps >= to_ps)
			break;
		int64_t end = first->end_ps < to_ps ? first->end_ps : to_ps;
		/* Nothing begins before it, so that all before is counted; an event without
		 * length would be the first again otherwise. */
		if (first->start_ps > counted)
			counted = first->start_ps;
		if (end > counted) {
			busy += end - counted;
			counted = end;
		}
		if (!advance(first, counted))
			heap[0] = heap[--count];
		sift(heap, count, 0);
	}
	return busy;
}

static int64_t slice_begin(const struct busy *b, size_t slice)
{
	return b->from_ps + (int64_t)((__int128)(b->to_ps - b->from_ps) * (int)slice / SLICES);
}

static void run_slice(void *context, size_t slice)
{
	struct busy *b = context;
	int64_t from = slice_begin(b, slice), to = slice_begin(b, slice + 1);
	struct cursor *heap = tfp_reallocarray(NULL, b->lane_count, sizeof(*heap));
	size_t count = 0;
	if (!heap) {
		atomic_store(&b->no_memory, true);
		return;
	}
	for (size_t i = 0; i < b->count; i++) {
		const struct tfp_trace_track *t = &b->tracks[i];
		for (uint32_t lane = 0;
		     t->track->kind != TFP_TRACK_COUNTER && lane < t->timeline->lane_count;
		     lane++) {
			struct cursor c = {.track = t, .lane = lane};
			if (advance(&c, from) && c.start_ps < to)
				heap[count++] = c;
		}
	}
	atomic_fetch_add(&b->sum_ps, sweep(heap, count, from, to));
	tfp_free(heap);
}

bool tfp_trace_busy(const struct tfp_trace_track *tracks, size_t count, int64_t from_ps,
		    int64_t to_ps, struct tfp_pool *pool, int64_t *busy_ps)
{
	struct busy b = {.tracks = tracks, .count = count, .from_ps = from_ps, .to_ps = to_ps};
	for (size_t i = 0; i < count; i++)
		b.lane_count += tracks[i].timeline->lane_count;
	if (b.lane_count && to_ps > from_ps)
		tfp_pool_for(pool, SLICES, run_slice, &b);
	*busy_ps = atomic_load(&b.sum_ps);
	return !atomic_load(&b.no_memory);
}
