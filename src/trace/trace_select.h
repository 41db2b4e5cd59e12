/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of a trace is asked for: tracks and a stretch of time.
 */
#ifndef TFP_TRACE_TRACE_SELECT_H
#define TFP_TRACE_TRACE_SELECT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Host and track as in the ids of docs/api.md: "h.t". */
struct tfp_track_id {
	uint32_t host, track;
};

struct tfp_trace_selection {
	struct tfp_track_id *tracks; /* ascending; owned */
	size_t track_count;          /* 0: all */
	bool has_window;
	int64_t from_ps, to_ps; /* by the clock of the document, both ends in */
};

/* text: "0.1,0.2", or NULL for all. TFP_BAD_QUERY when it is something else. */
enum tfp_status tfp_trace_selection_tracks(struct tfp_trace_selection *selection, const char *text,
					   struct tfp_error *err) TFP_CHECK;
void tfp_trace_selection_release(struct tfp_trace_selection *selection);

bool tfp_trace_selects_track(const struct tfp_trace_selection *selection, uint32_t host,
			     uint32_t track);

/* Whether an event lies in the window or touches it. */
static inline bool tfp_trace_selects_time(const struct tfp_trace_selection *s, int64_t start_ps,
					  int64_t duration_ps)
{
	if (!s->has_window)
		return true;
	return start_ps <= s->to_ps &&
	       (start_ps >= s->from_ps ||
		(uint64_t)duration_ps >= (uint64_t)s->from_ps - (uint64_t)start_ps);
}

#endif
