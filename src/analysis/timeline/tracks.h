/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracks of a capture's timeline: which lines are shown, in which order, and
 * under which process and thread (trace_events.md 2 and 4).
 *
 *     const struct tfp_tracks *tracks;
 *     tfp_tracks_get(capture, pool, &tracks, &err);
 */
#ifndef TFP_ANALYSIS_TIMELINE_TRACKS_H
#define TFP_ANALYSIS_TIMELINE_TRACKS_H

#include "analysis/timeline/shown_lines.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

enum tfp_track_kind {
	TFP_TRACK_THREAD,  /* of the host: events nest */
	TFP_TRACK_STREAM,  /* of a device: events may overlap */
	TFP_TRACK_DERIVED, /* a line that no profiler wrote */
	TFP_TRACK_COUNTER, /* one name of a `_counters_` line: values over time */
};

struct tfp_track {
	enum tfp_track_kind kind;
	uint32_t process; /* index into processes */
	uint32_t tid;     /* display id, kept modulo 2^32 as the peers do */
	struct tfp_str name;
	/* Where its events lie. */
	const struct tfp_capture *capture; /* the capture, or its derived lines */
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	uint32_t plane_index, line_index;
	uint32_t counter_meta; /* COUNTER: only the line's events of this metadata */
	bool is_memory;        /* a counter of what an allocator had in use (derived_memory.h) */
	/* Of its events that are shown; 0 where there is none. */
	uint64_t event_count;
	int64_t begin_offset_ps, end_offset_ps; /* by the line's clock, as tfp_event_offset_ps */
	int64_t begin_ps, end_ps;               /* by the capture's; saturated */
};

struct tfp_process {
	enum tfp_process_kind kind;
	uint32_t pid; /* within one host, see trace_events.md 2 */
	struct tfp_str name;
	const uint32_t *tracks; /* numbers of its tracks, in the order that they are shown */
	uint32_t track_count;
};

struct tfp_tracks {
	struct tfp_process *processes; /* owned; ascending by pid */
	uint32_t process_count;
	struct tfp_track *tracks; /* owned; lines of the file first, then derived ones */
	uint32_t track_count;
	uint32_t file_track_count; /* of these, lines of the file */
	uint32_t *order;           /* owned; what the processes point into */
	/* Of all events shown, by the capture's clock; 0, 0 where there is none. */
	int64_t begin_ps, end_ps;
	uint64_t event_count;
	/* The same without counters of memory, which the peers' timelines do not have and which
	 * begin no earlier than these. */
	int64_t end_of_peers_ps;
	uint64_t event_count_of_peers;
	/* When the profile began, nanoseconds since 1970 (Task Environment's
	 * profile_start_time), or 0 where the file does not say. */
	uint64_t profile_start_ns;
};

/* The id of the allocator whose memory a track shows. */
static inline struct tfp_str tfp_track_allocator(const struct tfp_track *track)
{
	return track->plane->event_metas[track->counter_meta].name;
}

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_tracks_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_tracks **out, struct tfp_error *err) TFP_CHECK;
/* The same without derived lines, which for raw captures take several times as long as
 * reading the file. Its tracks are the first file_track_count of all: their numbers
 * are the same in both lists. */
enum tfp_status tfp_file_tracks_get(struct tfp_capture *capture, struct tfp_pool *pool,
				    const struct tfp_tracks **out, struct tfp_error *err) TFP_CHECK;

#endif
