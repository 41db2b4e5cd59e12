/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a capture its timeline shows: which planes, as which processes, which lines, names and
 * stats, and where it begins (trace_events.md 2 and 4).
 *
 *     struct tfp_capture_start start;
 *     tfp_capture_start(capture, &start, &err);
 *     if (start.any) ... start.begin_ps ...
 */
#ifndef TFP_ANALYSIS_TIMELINE_SHOWN_LINES_H
#define TFP_ANALYSIS_TIMELINE_SHOWN_LINES_H

#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

/* Events of this name lie in a line but are not shown (IsInternalEvent,
 * xplane_schema.cc). */
bool tfp_event_name_is_internal(struct tfp_str name);
/* Stats of this name are not shown (IsInternalStat). */
bool tfp_stat_name_is_internal(struct tfp_str name);
/* Whether a stat of that name holds, on this plane, what nobody wrote there. TensorFlow 2.x
 * copies kernel_details of a launch, which is an event of a host's thread, from memory that
 * only the record of the kernel fills: registers and sizes are what was left in it. The
 * kernel's own are right. */
bool tfp_stat_is_unset(const struct tfp_plane *plane, struct tfp_str name);

enum tfp_process_kind { TFP_PROCESS_DEVICE, TFP_PROCESS_HOST, TFP_PROCESS_OTHER };

struct tfp_shown_plane {
	const struct tfp_plane *plane;
	uint32_t index;
	uint32_t pid; /* within one host */
	enum tfp_process_kind kind;
	bool joins; /* the process before it, if that has the same pid */
};

/* The planes that are shown, ascending by pid; out has room for every plane. Unmerged host planes
 * take the pid of /host:CPU: one process in the end. Returns how many there are. */
size_t tfp_shown_planes(const struct tfp_capture *capture, struct tfp_shown_plane *out);
/* Whether a line of such a plane is shown: it has events, and is not one that the peers leave
 * out. */
bool tfp_line_is_shown(const struct tfp_line *line);

/* When the profile began, nanoseconds since 1970 (Task Environment's profile_start_time), or 0
 * where the file does not say. */
uint64_t tfp_capture_profile_start_ns(const struct tfp_capture *capture);

/* Where a capture's timeline begins, by its own clock: the earliest event of its lines that is
 * shown. Derived lines begin no earlier. */
struct tfp_capture_start {
	bool any; /* events are shown */
	int64_t begin_ps;
	uint64_t profile_start_ns; /* as tfp_capture_profile_start_ns */
};

/* Looks at the first events of each line: much quicker than the list of tracks. */
enum tfp_status tfp_capture_start(const struct tfp_capture *capture, struct tfp_capture_start *out,
				  struct tfp_error *err) TFP_CHECK;

#endif
