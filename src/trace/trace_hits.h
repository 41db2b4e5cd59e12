/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some of the events of many tracks, in the order of their starts, a page at a time: the hits
 * of a search, or all events of a stretch of time. Counts and the page are all that is kept,
 * however many events there are; every page goes through the events again.
 *
 *     list[i] = (struct tfp_hit_track){.track = ..., .from = 0, .to = n, .by_meta = wanted};
 *     total = tfp_hits_count(list, count, pool);
 *     tfp_hits_page(list, count, offset, limit, pool, hits, &hit_count, &err);
 */
#ifndef TFP_TRACE_TRACE_HITS_H
#define TFP_TRACE_TRACE_HITS_H

#include "trace/trace.h"

#include <stdatomic.h>

struct tfp_hit_track {
	struct tfp_trace_track track;
	uint32_t from, to;      /* events of the line that are looked at: from..to-1 */
	const uint8_t *by_meta; /* by metadata: whether events of it count */
	const uint8_t *bits;    /* by event, one bit each: counts as well; or NULL */
	uint64_t count;         /* set by tfp_hits_count */
};

struct tfp_hit {
	int64_t start_ps; /* by the trace's time */
	uint32_t track;   /* index into the list */
	uint32_t event;
};

/* By plane, a byte for each name of an event. Zeroed memory is empty. */
struct tfp_hit_masks {
	struct tfp_hit_mask {
		const struct tfp_plane *plane;
		uint8_t *by_meta; /* owned */
	} * list;
	size_t count, room;
};

/* The mask of a plane, zeroed where it is new, which *is_new says. NULL without memory. */
uint8_t *tfp_hit_masks_get(struct tfp_hit_masks *masks, const struct tfp_plane *plane,
			   bool *is_new);
void tfp_hit_masks_release(struct tfp_hit_masks *masks);

static inline bool tfp_hits_match(const struct tfp_hit_track *t, uint32_t event)
{
	const struct tfp_track *track = t->track.track;
	uint32_t meta = tfp_event_meta_index(track->line, event);
	if (track->kind == TFP_TRACK_COUNTER && meta != track->counter_meta)
		return false;
	return t->by_meta[meta] || (t->bits && (t->bits[event / 8] >> (event % 8) & 1));
}

/* Counts the hits of each track, and returns those of all. */
uint64_t tfp_hits_count(struct tfp_hit_track *list, size_t count, struct tfp_pool *pool);

/* Hits number offset..offset+limit-1 by start, then track, then event, into out, which has
 * room for limit of them. After tfp_hits_count. */
enum tfp_status tfp_hits_page(const struct tfp_hit_track *list, size_t count, uint64_t offset,
			      size_t limit, struct tfp_pool *pool, struct tfp_hit *out,
			      size_t *out_count, struct tfp_error *err) TFP_CHECK;

/* How many hits begin in each of the slots of equal length from from_ps to to_ps; counts has one
 * for each, zeroed by the caller. After tfp_hits_count. */
void tfp_hits_density(const struct tfp_hit_track *list, size_t count, int64_t from_ps,
		      int64_t to_ps, uint32_t slots, struct tfp_pool *pool,
		      atomic_uint_least64_t *counts);

/* First event of the track's line that begins at a time of the trace or later. */
uint32_t tfp_hits_find(const struct tfp_trace_track *t, int64_t start_ps);

/* Writes a row: {"id", "track", "name", "start_ps", "duration_ps", "depth"}. */
void tfp_hits_put(struct tfp_json *j, const struct tfp_trace_track *t, uint32_t event);

#endif
