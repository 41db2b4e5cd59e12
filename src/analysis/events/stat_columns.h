/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stats of events that several analyses ask for, read once and kept as columns. Walking an
 * event's stats costs ten times as much as anything else that is done with the event.
 *
 *     const struct tfp_stat_columns *stats;
 *     tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &stats, &err);
 *     const struct tfp_line_stats *s = &stats->planes[p][l];
 *     if (tfp_event_set_has(&s->correlated, i))
 *             id = tfp_correlation_of(s, i);
 *
 * Other stats are not kept. Sets say which events have stats that are worth a look.
 */
#ifndef TFP_ANALYSIS_EVENTS_STAT_COLUMNS_H
#define TFP_ANALYSIS_EVENTS_STAT_COLUMNS_H

#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Some of a line's events. Zeroed: none of them. */
struct tfp_event_set {
	uint64_t *words;
	uint32_t *before; /* by word: how many events of the set come before its own */
	size_t count;
};

static inline bool tfp_event_set_has(const struct tfp_event_set *set, size_t event)
{
	return set->words && (set->words[event / 64] >> event % 64 & 1);
}

/* How many events of the set, which is not empty, come before this one. */
static inline uint32_t tfp_event_set_rank(const struct tfp_event_set *set, size_t event)
{
	uint64_t below = set->words[event / 64] & ((UINT64_C(1) << event % 64) - 1);
	return set->before[event / 64] + (uint32_t)__builtin_popcountll(below);
}

/* The first event of the set from this one on, or SIZE_MAX. events: of the line. */
size_t tfp_event_set_next(const struct tfp_event_set *set, size_t event, size_t events);

/* The event of that rank, which the set has. */
size_t tfp_event_set_at(const struct tfp_event_set *set, size_t events, uint32_t rank);

#define TFP_IDS_A_BLOCK 32u

#define TFP_NO_KIND UINT32_MAX

/* Of a launch's device. */
#define TFP_NO_DEVICE    254u /* no stat says which */
#define TFP_OTHER_DEVICE 255u /* the event's stats have to be asked */

struct tfp_line_stats {
	/* Events with a number as correlation_id: launches, and what they launched. The ids by
	 * rank: 16 bits from that of their block on, as profilers count them up; or, for lines
	 * where that is not enough, themselves. */
	struct tfp_event_set correlated;
	uint16_t *narrow_ids;
	uint64_t *id_blocks;
	uint64_t *wide_ids;
	/* Of a host's launches, by rank: the number device_id. NULL: no event has one. */
	uint8_t *devices;
	/* Events whose correlation_id is below zero, comes more than once, or is no number.
	 * Analyses differ in what they make of those, so each reads their stats. */
	struct tfp_event_set odd;
	/* Events with stats that connect threads or mark steps (grouping_parts.h). */
	struct tfp_event_set linked;
	struct tfp_event_set flowing; /* with the stat flow */
	struct tfp_event_set calls;   /* of a tf.function */

	/* GPUs. Events of one kind have the same name, and stats that say the same, but for
	 * those above and scope_range_id. By event, in the one that is wide enough; both NULL:
	 * hardly any two events are of one kind, or there are none. */
	uint16_t *narrow_kinds;
	uint32_t *wide_kinds;
	uint32_t *first_of_kind; /* event, by kind */
	uint32_t kind_count;
};

struct tfp_stat_columns {
	struct tfp_line_stats **planes; /* [plane][line]; NULL for planes that are left out */
	size_t plane_count;
};

/* Planes of GPUs, or all others. */
enum tfp_stats_of { TFP_STATS_OF_GPUS, TFP_STATS_OF_OTHERS };

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_stat_columns_get(struct tfp_capture *capture, struct tfp_pool *pool,
				     enum tfp_stats_of which, const struct tfp_stat_columns **out,
				     struct tfp_error *err) TFP_CHECK;
/* Both, side by side: first GPUs, then others. */
enum tfp_status tfp_stat_columns_get_all(struct tfp_capture *capture, struct tfp_pool *pool,
					 const struct tfp_stat_columns *out[2],
					 struct tfp_error *err) TFP_CHECK;

/* Of a plane that is in one of them. */
static inline const struct tfp_line_stats *
tfp_stats_of_plane(const struct tfp_stat_columns *const columns[2], size_t plane)
{
	return columns[columns[0]->planes[plane] ? 0 : 1]->planes[plane];
}

static inline uint64_t tfp_correlation_at(const struct tfp_line_stats *s, uint32_t rank)
{
	return s->wide_ids ? s->wide_ids[rank]
			   : s->id_blocks[rank / TFP_IDS_A_BLOCK] + s->narrow_ids[rank];
}

/* The event is in the set. */
static inline uint64_t tfp_correlation_of(const struct tfp_line_stats *s, size_t event)
{
	return tfp_correlation_at(s, tfp_event_set_rank(&s->correlated, event));
}

/* Below kind_count, or TFP_NO_KIND where the line has none. */
static inline uint32_t tfp_kind_of(const struct tfp_line_stats *s, size_t event)
{
	if (s->narrow_kinds)
		return s->narrow_kinds[event];
	return s->wide_kinds ? s->wide_kinds[event] : TFP_NO_KIND;
}

#endif
