/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plane of derived lines while it is made, and what it becomes: an XPlane in
 * protobuf's wire format, but for its events, which become columns as soon as nothing
 * changes them any more (store/capture_made.h). Names are kept once.
 *
 *     struct tfp_derived_plane plane;
 *     tfp_derived_plane_init(&plane, "/device:GPU:0", 0, start_ns);
 *     struct tfp_derived_line ops;
 *     tfp_derived_line_init(&ops, &plane, true);
 *     uint32_t name = tfp_derived_name(&plane, text, display);
 *     tfp_derived_expand(&ops, &name, NULL, 1, span, group);
 *     tfp_derived_line_write(&ops, id, display_id, "XLA Ops");
 *     tfp_derived_plane_finish(&plane, space);
 *     tfp_derived_line_release(&ops);
 *     tfp_derived_plane_release(&plane);
 *
 * Failures (no memory, a ceiling) stay in the plane and come out of finish.
 */
#ifndef TFP_ANALYSIS_TIMELINE_DERIVED_PLANE_H
#define TFP_ANALYSIS_TIMELINE_DERIVED_PLANE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/progress.h"
#include "base/str_map.h"
#include "store/capture_made.h"

#include <stdbool.h>
#include <stdint.h>

/* Stats that derived events can have. */
enum tfp_derived_stat {
	TFP_DERIVED_GROUP_ID,
	TFP_DERIVED_STEP_NAME,
	TFP_DERIVED_CORRELATION_ID,
	TFP_DERIVED_CUDA_GRAPH_ID,
	TFP_DERIVED_NUM_LAUNCHES,
	TFP_DERIVED_MAX_LAUNCH_TIME_US,
	TFP_DERIVED_AVG_LAUNCH_TIME_US,
	TFP_DERIVED_IS_ASYNC,
	TFP_DERIVED_RAW_BYTES_ACCESSED,
	TFP_DERIVED_SHAPE_WITH_LAYOUT,
	TFP_DERIVED_CONSUMER_TYPE,
	TFP_DERIVED_CONSUMER_ID,
	TFP_DERIVED_BYTES_IN_USE,
	TFP_DERIVED_STATS
};

/* Absolute, by the capture's clock. */
struct tfp_derived_span {
	int64_t begin_ps, end_ps;
};

/* Of an event of the capture; an end beyond all numbers is the last of them. */
static inline struct tfp_derived_span tfp_derived_span_of(const struct tfp_line *line, size_t i)
{
	struct tfp_derived_span span;
	span.begin_ps = tfp_event_start_ps(line, i);
	if (__builtin_add_overflow(span.begin_ps, tfp_event_duration_ps(line, i), &span.end_ps))
		span.end_ps = INT64_MAX;
	return span;
}

struct tfp_derived_event {
	struct tfp_derived_span span;
	uint32_t name;
	int32_t group;    /* or TFP_NO_GROUP */
	uint32_t extra;   /* 1 + place of encoded stats in the line's extras, or 0 */
	uint32_t extra_n; /* their size */
};

struct tfp_derived_plane {
	struct tfp_arena arena; /* names */
	struct tfp_str name;
	int64_t id, start_ns; /* origin of its lines */
	struct {
		struct tfp_str name, display; /* display "" for none */
	} * names;
	uint32_t name_count;
	size_t name_room;
	struct tfp_str_map by_name;
	struct tfp_buf lines; /* encoded, without events */
	/* By line, so many as there are: NULL where it has no events. */
	struct tfp_made_line **made;
	size_t line_count, line_room;
	bool failed;
};

/* For loops over events, before the one at i: whether nothing has failed and somebody still
 * wants the lines. When nobody does it fails, and tfp_capture_fact says why. */
static inline bool tfp_derived_goes_on(struct tfp_derived_plane *plane, size_t i)
{
	if (!tfp_goes_on(i))
		plane->failed = true;
	return !plane->failed;
}

/* The events open on one level of nesting, see tfp_derived_expand. */
struct tfp_derived_level {
	size_t event; /* index of the open event */
	int64_t range;
	bool open, has_range;
};

struct tfp_derived_line {
	struct tfp_derived_plane *plane;
	/* Those from made_count on; the others are in made. */
	struct tfp_derived_event *events;
	size_t count, room, made_count;
	struct tfp_made_line *made;
	bool is_kept;          /* no event is made before the line is written */
	struct tfp_buf extras; /* encoded stats of events */
	struct tfp_buf stats;  /* what events say, once for all that say the same */
	struct tfp_memo *memo; /* where in stats a group's is */
	/* Levels that were ever used; above them nothing. */
	struct tfp_derived_level *levels;
	size_t level_count;
	struct tfp_derived_line *dependents[2]; /* closed with level 0 */
	bool joins_any_gap;                     /* on GPUs: see tfp_derived_expand */
};

/* Levels of nesting that are looked at; more are cut off. */
#define TFP_DERIVED_LEVELS_MAX 256u

/* name is kept, not copied. ceiling: most bytes of encoded lines. */
void tfp_derived_plane_init(struct tfp_derived_plane *plane, struct tfp_str name, int64_t id,
			    int64_t start_ns, size_t ceiling);
void tfp_derived_plane_release(struct tfp_derived_plane *plane);
/* The number of a name; text and display are copied when new. display may be "". As the
 * peers do, the first display that is not "" stays. */
uint32_t tfp_derived_name(struct tfp_derived_plane *plane, struct tfp_str text,
			  struct tfp_str display);

void tfp_derived_line_init(struct tfp_derived_line *line, struct tfp_derived_plane *plane,
			   bool joins_any_gap);
void tfp_derived_line_release(struct tfp_derived_line *line);

/* Events nested in each other, outermost first, that cover span: each joins
 * the open event of its level when that has the same name and group (and no
 * other range id), else it closes that and what is open below it, and begins a
 * new one (derived_timeline.cc, ExpandOrAddEvents). Outside of GPUs, an event
 * without a group joins only one that ended at most twice its own duration ago.
 * range_ids: NULL, or one a level. */
void tfp_derived_expand(struct tfp_derived_line *line, const uint32_t *names,
			const int64_t *range_ids, size_t count, struct tfp_derived_span span,
			int32_t group);
/* The same for one event at the only level; unlike above it leaves deeper levels. */
void tfp_derived_expand_one(struct tfp_derived_line *line, uint32_t name, const int64_t *range_id,
			    struct tfp_derived_span span, int32_t group);
/* Closes what is open from a level on. Events of the same span are made to end
 * a nanosecond before the one that they lie in, so that they nest. */
void tfp_derived_close(struct tfp_derived_line *line, size_t level);
/* The event that is open at a level, or SIZE_MAX. */
size_t tfp_derived_open_event(const struct tfp_derived_line *line, size_t level);

/* An event that can still change: one that is open, or any of a line that is kept. */
static inline struct tfp_derived_event *tfp_derived_event_at(const struct tfp_derived_line *line,
							     size_t event)
{
	return &line->events[event - line->made_count];
}

/* An event as it is; returns its index. */
size_t tfp_derived_add(struct tfp_derived_line *line, uint32_t name, struct tfp_derived_span span,
		       int32_t group);
/* Stats of an event that can still change; all of one event are put before those of another. */
void tfp_derived_put_int(struct tfp_derived_line *line, size_t event, enum tfp_derived_stat stat,
			 int64_t value);
void tfp_derived_put_double(struct tfp_derived_line *line, size_t event, enum tfp_derived_stat stat,
			    double value);
void tfp_derived_put_text(struct tfp_derived_line *line, size_t event, enum tfp_derived_stat stat,
			  struct tfp_str value);

/* Adds the line to the plane, unless it has no events; forgets the events. */
void tfp_derived_line_write(struct tfp_derived_line *line, int64_t id, int64_t display_id,
			    struct tfp_str name);
/* Says that a line of the capture is shown in the place display_id: a line with
 * its id and without events. */
void tfp_derived_place_line(struct tfp_derived_plane *plane, const struct tfp_line *of,
			    int64_t display_id);

/* Appends the plane to the bytes of an XSpace, unless it has no lines. False
 * when something failed. The lines' events stay in the plane. */
bool tfp_derived_plane_finish(struct tfp_derived_plane *plane, struct tfp_buf *space);

#endif
