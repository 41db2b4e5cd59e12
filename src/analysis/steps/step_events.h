/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a host or a GPU say about the steps of their capture: markers, copies,
 * and which events count for which group. step_events_host.h and step_events_gpu.h read them;
 * generic_steps.c and tpu_steps.c make steps of them.
 *
 * An event that counts is kept as part of a run, not as a span of time: the spans of all
 * events would take a quarter of what the capture takes. A reader makes the spans of a run when
 * somebody looks at its group.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_EVENTS_H
#define TFP_ANALYSIS_STEPS_STEP_EVENTS_H

#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "analysis/grouping/groups.h"
#include "analysis/steps/step_sweep.h"

struct tfp_step_marker {
	int64_t begin_ps, end_ps;
	uint32_t group;
	bool is_named; /* the event carries the step's name */
};

/* Owned; zeroed to begin with. */
struct tfp_step_markers {
	struct tfp_step_marker *list;
	size_t count, room;
};

struct tfp_step_copy_event {
	uint32_t group;
	enum tfp_step_copy kind;
	uint64_t time_ps, bytes;
};

/* Events of a line from first to last. Those between that are of another group do not count,
 * and so do some of the group itself: the reader tells them when it makes the spans. */
struct tfp_step_run {
	uint32_t group, first, last;
	uint32_t count; /* of events that count, at least 1 */
};

/* Of one line. Lists are owned. */
struct tfp_line_steps {
	struct tfp_step_run *runs; /* ascending by group, then by event */
	size_t run_count, run_room;
	struct tfp_step_span *spans; /* in place of runs, beside a TPU */
	size_t span_count, span_room;
	struct tfp_step_markers markers;
	struct tfp_step_copy_event *copies;
	size_t copy_count, copy_room;
	uint64_t *root_stages;  /* of a host: a bit for each event; NULL: none is one */
	uint8_t *types_by_kind; /* of a GPU, where shapes decide about types */
};

/* Of one plane, as far as it is read: lists are owned, all else must outlive it. */
struct tfp_plane_steps {
	size_t plane; /* set by the caller, and kind too; the rest is zeroed */
	enum tfp_plane_kind kind;
	struct tfp_line_steps *lines;    /* as the plane's; derived ones stay empty */
	struct tfp_step_markers markers; /* of a GPU's steps */
	/* What the spans of runs are made from. */
	const struct tfp_capture *capture;
	const struct tfp_line_groups *groups;  /* by line */
	const struct tfp_line_stats *stats;    /* by line; NULL where no GPU is */
	const struct tfp_group_column **group; /* by line of a GPU */
	struct tfp_group_column *filled;       /* those of it that are not the groups' own */
	struct tfp_step_host_name *names;      /* of a host, by metadata */
	bool has_shapes;                       /* of a GPU, that decide about types */
	uint8_t *types;                        /* of a GPU, by metadata: where no shape decides */
};

void tfp_plane_steps_release(struct tfp_plane_steps *steps);

/* ---- for the readers ---- */

/* Adders return false without memory. */
bool tfp_step_markers_add(struct tfp_step_markers *markers, struct tfp_step_marker marker);
/* Adds an event to the line's last run, or begins one. Events come ascending. */
bool tfp_step_runs_add(struct tfp_line_steps *line, uint32_t group, uint32_t event);
/* After the last event: puts the runs in order. */
void tfp_step_runs_finish(struct tfp_line_steps *line);

/* Indexes + 1 of the last span of each type, zeroed to begin with. */
struct tfp_step_last {
	uint32_t by_type[TFP_STEP_EVENT_COUNT];
};

/* Spans of a line come ascending by begin. A span that begins in the last one of its
 * type and group joins it: nested ops would be most of a line otherwise. */
bool tfp_step_spans_add(struct tfp_line_steps *line, struct tfp_step_last *last,
			struct tfp_step_span span);
/* The same for spans of one group, where there is room for all. Returns the new count. */
size_t tfp_step_spans_put(struct tfp_step_span *spans, size_t count, struct tfp_step_last *last,
			  struct tfp_step_span span);

/* Whether the event is a launch or was launched. Where the column leaves that open, its stats
 * decide. */
bool tfp_step_is_correlated(const struct tfp_line_stats *stats, const struct tfp_plane *plane,
			    const struct tfp_line *line, size_t event);

#endif
