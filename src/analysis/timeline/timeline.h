/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index over the events of every track, so that a question about a stretch
 * of time costs as much as its answer is long, and not as much as the capture.
 *
 * The events of a track lie in lanes: first come, first served, each event goes
 * to the first lane that is free when it begins. On a thread, where events nest, a lane
 * is a depth; on a stream, where they overlap, it keeps them apart. Within a lane
 * events follow one another, so that the lane is sorted by end as well as by start,
 * and at most one event reaches over any moment. Over the lane lie blocks with the sum of
 * busy times up to each of them and the longest event in it, and blocks over blocks.
 *
 *     const struct tfp_timeline *timeline;
 *     tfp_timeline_get(capture, pool, &timeline, &err);
 *     const struct tfp_timeline_track *t = &timeline->tracks[i];   beside tracks->tracks[i]
 *     for (uint32_t l = 0; l < t->lane_count; l++) {
 *             uint32_t from = tfp_lane_find(t, l, begin), to = tfp_lane_find(t, l, end);
 *             ... tfp_lane_sum(t, l, from, to).busy_ps ...
 *     }
 *
 * Times here are as in the line's columns: from its timestamp on.
 */
#ifndef TFP_ANALYSIS_TIMELINE_TIMELINE_H
#define TFP_ANALYSIS_TIMELINE_TIMELINE_H

#include "analysis/timeline/tracks.h"

#include <stdbool.h>
#include <stdint.h>

/* Most lanes of a track. Events that find no free lane go to the last one, where events then
 * overlap. So many lanes cannot be drawn, and no file must make us try. */
#define TFP_TIMELINE_LANES 256u
#define TFP_NO_EVENT       UINT32_MAX

struct tfp_lane {
	uint32_t first, count; /* places in order */
	uint64_t *busy_ps;     /* before each block of events; modulo 2^64 */
	/* By block, then by block of blocks, ...: the longest event's place and duration. */
	uint32_t *longest;
	int64_t *longest_ps;
};

/* The values of a counter, beside its one lane. */
struct tfp_counter_values {
	double *values;     /* NaN where the event has no number */
	double *low, *high; /* of each block; NaN where it has none */
};

struct tfp_timeline_track {
	const struct tfp_line *line;
	struct tfp_lane *lanes;
	uint32_t lane_count;
	bool overflows;        /* the last lane holds events that overlap */
	const uint32_t *order; /* events by lane and start; NULL: one lane with all events */
	struct tfp_counter_values counter; /* of a counter only */
	void *owned[2];                    /* the memory of order and lanes */
	bool borrowed;                     /* all of it is another timeline's */
};

struct tfp_timeline {
	struct tfp_timeline_track *tracks; /* as the tracks of the capture */
	uint32_t track_count;
	uint64_t heap_bytes;
};

/* Of tfp_tracks_get's tracks; computed once, with the pool's threads, and kept with the
 * capture. */
enum tfp_status tfp_timeline_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_timeline **out, struct tfp_error *err) TFP_CHECK;
/* Of tfp_file_tracks_get's tracks; the timeline of all borrows from it. */
enum tfp_status tfp_file_timeline_get(struct tfp_capture *capture, struct tfp_pool *pool,
				      const struct tfp_timeline **out,
				      struct tfp_error *err) TFP_CHECK;

/* The event at a place of a lane. */
static inline uint32_t tfp_lane_event(const struct tfp_timeline_track *t, uint32_t lane,
				      uint32_t place)
{
	uint32_t at = t->lanes[lane].first + place;
	return t->order ? t->order[at] : at;
}

static inline int64_t tfp_lane_start_ps(const struct tfp_timeline_track *t, uint32_t lane,
					uint32_t place)
{
	return tfp_event_offset_ps(t->line, tfp_lane_event(t, lane, place));
}

/* First place whose event begins at start_ps or later; the lane's count where there is none. */
uint32_t tfp_lane_find(const struct tfp_timeline_track *t, uint32_t lane, int64_t start_ps);
/* The same from a place on. It looks so far ahead first, and further if need be: the cost
 * grows with the logarithm of how wrong that is. guess is not 0. */
uint32_t tfp_lane_find_from(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place,
			    uint32_t guess, int64_t start_ps);
/* The places from..to-1 together, from < to. */
struct tfp_lane_sum {
	int64_t busy_ps;    /* sum of durations; INT64_MAX where it is more */
	uint32_t longest;   /* place, the first of equals */
	int64_t longest_ps; /* its duration */
};
struct tfp_lane_sum tfp_lane_sum(const struct tfp_timeline_track *t, uint32_t lane, uint32_t from,
				 uint32_t to);
/* Time that a lane is busy between two moments; events are cut at both. Not for a
 * lane that overflows. */
int64_t tfp_lane_busy_between_ps(const struct tfp_timeline_track *t, uint32_t lane,
				 int64_t begin_ps, int64_t end_ps);

/* Events of the line that reach into a stretch of time, both ends included: all that do and
 * are shown lie from *from to *to - 1. Others between them begin before it and end before
 * it. Not for counters. */
void tfp_timeline_reach(const struct tfp_timeline_track *t, int64_t begin_ps, int64_t end_ps,
			uint32_t *from, uint32_t *to);

/* Lane of an event and its place there. false for one that is not shown. */
bool tfp_timeline_find_event(const struct tfp_timeline_track *t, uint32_t event, uint32_t *lane,
			     uint32_t *place);
/* The event that contains this one most closely, by lane; TFP_NO_EVENT where none does. */
uint32_t tfp_timeline_parent(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place);
/* The events one lane below that lie within this one: places *from..*to-1. */
void tfp_timeline_children(const struct tfp_timeline_track *t, uint32_t lane, uint32_t place,
			   uint32_t *from, uint32_t *to);

/* Least and greatest value of the places from..to-1 of a counter; NaN where there is none. */
void tfp_counter_range(const struct tfp_timeline_track *t, uint32_t from, uint32_t to, double *low,
		       double *high);

#endif
