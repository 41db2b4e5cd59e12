/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a track can be told apart in a stretch of time at a resolution: events, and
 * where they are too close, merged stretches of them that say how many they are, how
 * long they take together and which is the longest. Every event that begins in the window
 * is counted in exactly one of them.
 *
 * Time is cut into slots of 2^level ps, counted from 0. Events of a lane that begin in
 * one slot are merged, but for the last if it is at least as long as a slot: no other can be.
 * So an event that is as long as a slot, or a slot away from its neighbours in the
 * lane, is always there by itself.
 *
 *     struct tfp_window w = {.shift_ps = ..., .from_ps = 0, .to_ps = 512 << 20, .level = 20};
 *     struct tfp_stretches list = {0};
 *     if (!tfp_stretches_of(track, &w, 40000, &list)) ... no memory ...
 *     tfp_stretches_release(&list);
 */
#ifndef TFP_ANALYSIS_TIMELINE_STRETCHES_H
#define TFP_ANALYSIS_TIMELINE_STRETCHES_H

#include "analysis/timeline/timeline.h"

/* Times of windows and slots are below 2^TFP_WINDOW_BITS. */
#define TFP_WINDOW_BITS 62
#define TFP_LEVEL_MAX   53u

struct tfp_window {
	/* Added to the times of the track's line to make them the window's. Between -2^61 and
	 * 2^61. */
	int64_t shift_ps;
	int64_t from_ps, to_ps; /* 0 to 2^62 */
	unsigned level;
};

struct tfp_stretch {
	int64_t start_ps, duration_ps; /* by the window's time */
	int64_t busy_ps;
	uint32_t count; /* 1: an event */
	uint32_t event; /* the longest one */
	uint16_t lane;
	bool before; /* began before the window and reaches into it; not counted in events */
};

struct tfp_stretches {
	struct tfp_stretch *list; /* by lane, then start */
	size_t count, room;
	uint64_t events; /* that begin in the window */
	bool too_many;   /* there would be more than asked for: the list is not complete */
};

/* out is empty, or reused: its list is kept. Stops where there would be more than most. false
 * without memory. Not for counters. */
bool tfp_stretches_of(const struct tfp_timeline_track *t, const struct tfp_window *w, size_t most,
		      struct tfp_stretches *out) TFP_CHECK;
/* Merges what tfp_stretches_of found to what it would have found at a higher level. */
void tfp_stretches_coarsen(const struct tfp_timeline_track *t, unsigned level,
			   struct tfp_stretches *s);
/* Accepts zeroed memory. */
void tfp_stretches_release(struct tfp_stretches *s);

/* No fewer than tfp_stretches_of would find, at the cost of two look-ups a lane. */
uint64_t tfp_stretches_bound(const struct tfp_timeline_track *t, const struct tfp_window *w);

/* Events that begin in the window. */
uint64_t tfp_window_events(const struct tfp_timeline_track *t, const struct tfp_window *w);

/* The values of a counter in a slot. */
struct tfp_counter_slot {
	int64_t time_ps;        /* of the first */
	double low, high, last; /* NaN where no event has a number */
	uint32_t count;
};

struct tfp_counter_slots {
	struct tfp_counter_slot *list;
	size_t count, room;
	uint64_t events;
	bool before; /* the first is the value that held when the window began */
	bool too_many;
};

bool tfp_counter_slots_of(const struct tfp_timeline_track *t, const struct tfp_window *w,
			  size_t most, struct tfp_counter_slots *out) TFP_CHECK;
void tfp_counter_slots_release(struct tfp_counter_slots *s);

#endif
