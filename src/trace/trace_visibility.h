/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events can be told apart when a stretch of time is drawn with slots of a
 * given length (XProf's level of detail, trace_events.md 6).
 *
 *     tfp_visibility_new(&v, tracks, NULL, slot_ps, &err);
 *     while (tfp_visibility_next(v, &track, &event))
 *             if (... tfp_visibility_shows(v, track, &read, is_async))
 *                     ...
 *     tfp_visibility_free(v);
 *
 * An event is shown when it is as long as a slot, or a slot away from the last one shown at
 * its depth of nesting, or when it belongs to a flow whose first event was shown.
 */
#ifndef TFP_TRACE_TRACE_VISIBILITY_H
#define TFP_TRACE_TRACE_VISIBILITY_H

#include "analysis/timeline/tracks.h"
#include "trace/trace_source.h"

struct tfp_visibility;

/* ranges: by track, the events that are looked at; they are kept. NULL for all events. */
enum tfp_status tfp_visibility_new(struct tfp_visibility **out, const struct tfp_tracks *tracks,
				   const struct tfp_trace_range *ranges, uint64_t slot_ps,
				   struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_visibility_free(struct tfp_visibility *v);

/* The next event by start, then by length (longer first), then by track. Counters are
 * left out. False after the last. */
bool tfp_visibility_next(struct tfp_visibility *v, uint32_t *track, size_t *event);
/* To be asked of every event that may be shown, in that order. */
bool tfp_visibility_shows(struct tfp_visibility *v, uint32_t track,
			  const struct tfp_trace_event *event, bool is_async);
/* Whether there was no memory; then the answers mean nothing. */
bool tfp_visibility_failed(const struct tfp_visibility *v);

#endif
