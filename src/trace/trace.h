/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chosen hosts of a run as one timeline: what all of /trace_viewer works on.
 *
 * Time counts in picoseconds from the run's zero (clock_align.h), whichever hosts are
 * chosen. A track is "h.t" and an event "h.t.e": host in the run's list,
 * track of the host (tracks.h), event of the track's line.
 *
 *     struct tfp_trace trace;
 *     status = tfp_trace_open(session, &trace, err);
 *     if (status == TFP_OK)
 *             status = tfp_trace_tracks(&trace, query, SIZE_MAX, &tracks, &count, err);
 *     ...
 *     tfp_free(tracks);
 *     tfp_trace_release(&trace);
 */
#ifndef TFP_TRACE_TRACE_H
#define TFP_TRACE_TRACE_H

#include "analysis/grouping/groups.h"
#include "analysis/timeline/event_categories.h"
#include "analysis/timeline/timeline.h"
#include "base/json_writer.h"
#include "session/query.h"
#include "session/session.h"

struct tfp_trace_host {
	uint32_t index; /* in the run's list of hosts */
	const char *name;
	/* Referenced; NULL when the file could not be read, and problem says why (owned). */
	struct tfp_capture *capture;
	char *problem;
	const struct tfp_tracks *tracks;
	const struct tfp_timeline *timeline;
	const struct tfp_event_categories *categories;
	const struct tfp_groups *groups; /* NULL of a trace of the file's lines alone */
	int64_t offset_ps;               /* of its clock against the earliest host's */
	__int128 shift_ps;               /* what makes its clock's times the trace's */
};

struct tfp_trace {
	struct tfp_trace_host *hosts; /* owned */
	uint32_t host_count;
	/* Whether derived lines are among the tracks. Finding them takes several times as
	 * long as reading a raw capture; without them ids of tracks are the same. */
	bool complete;
	int64_t duration_ps; /* from the run's zero to the last end */
	int64_t first_ps;    /* the earliest event of the chosen hosts */
	uint64_t event_count;
	uint64_t begin_ns; /* since 1970; 0 where the files do not say */
	bool aligned;
	const char *alignment; /* why hosts are not aligned, or NULL */
	struct tfp_pool *pool; /* borrowed, may be NULL */
};

/* A host whose file cannot be read has no capture, and a problem that says why; an error when
 * that is so of all hosts. The caller releases the trace in any case. */
enum tfp_status tfp_trace_open(const struct tfp_session *session, struct tfp_trace *trace,
			       struct tfp_error *err) TFP_CHECK;
/* The same. Parameter derived=0 leaves derived lines out. TFP_BAD_QUERY for other values than 0
 * and 1. */
enum tfp_status tfp_trace_open_as_asked(const struct tfp_session *session,
					const struct tfp_query *query, struct tfp_trace *trace,
					struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_trace_release(struct tfp_trace *trace);

/* One track of one host. */
struct tfp_trace_track {
	const struct tfp_trace_host *host;
	uint32_t index;
	const struct tfp_track *track;
	const struct tfp_timeline_track *timeline;
	/* What makes its line's times the trace's; between -2^61 and 2^61. The lines of a
	 * damaged file can be further apart than that: then they are brought nearer, so that no
	 * event that is shown is before 0. */
	int64_t shift_ps;
	bool reads_step_names;
};

struct tfp_trace_track tfp_trace_track(const struct tfp_trace_host *host, uint32_t index);

/* A moment of the host's clock as one of the trace's, from 0 to 2^62; it saturates. */
int64_t tfp_trace_moment_ps(const struct tfp_trace_host *host, int64_t ps);
/* The layer of a track. Tracks of different layers tell the same time in other words, so their
 * times must not be added. The layer of what was recorded is "", that of a derived line its name
 * without the stream, such as "Steps" or "XLA Ops". On TPUs steps and modules are layers above
 * the ops, although they were recorded. */
struct tfp_str tfp_trace_layer(const struct tfp_trace_track *t);

/* Parameter tracks=h.t,h.t,... as a list (tfp_free); all tracks without it. TFP_BAD_QUERY,
 * TFP_NOT_FOUND; TFP_TOO_LARGE for more than most tracks. */
enum tfp_status tfp_trace_tracks(const struct tfp_trace *trace, const struct tfp_query *query,
				 size_t most, struct tfp_trace_track **list, size_t *count,
				 struct tfp_error *err) TFP_CHECK;
/* Parameter id=h.t.e. */
enum tfp_status tfp_trace_event(const struct tfp_trace *trace, const struct tfp_query *query,
				struct tfp_trace_track *track, uint32_t *event,
				struct tfp_error *err) TFP_CHECK;
/* Parameters from_ps and to_ps; all of the trace without them. */
enum tfp_status tfp_trace_range(const struct tfp_trace *trace, const struct tfp_query *query,
				int64_t *from_ps, int64_t *to_ps, struct tfp_error *err) TFP_CHECK;

/* What an event is called: by its step where it carries one's name, else by its metadata. */
struct tfp_str tfp_trace_event_name(const struct tfp_trace_track *t, uint32_t event);
struct tfp_str tfp_trace_meta_name(const struct tfp_trace_track *t, uint32_t meta);
/* Events whose name is a step's, ascending: *count of them, at list, or all events of the line
 * where that is NULL. */
void tfp_trace_named_events(const struct tfp_trace_track *t, const uint32_t **list, size_t *count);

static inline int64_t tfp_trace_start_ps(const struct tfp_trace_track *t, uint32_t event)
{
	return tfp_event_offset_ps(t->track->line, event) + t->shift_ps;
}

/* "h.t" or "h.t.e" as a member. */
void tfp_trace_set_track_id(struct tfp_json *j, const char *key, const struct tfp_trace_track *t);
void tfp_trace_set_event_id(struct tfp_json *j, const char *key, const struct tfp_trace_track *t,
			    uint32_t event);

/* ---- answers: JSON for /trace_viewer/..., appended (docs/api.md) ---- */

enum tfp_status tfp_trace_tracks_json(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_buf *json,
				      struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_steps_json(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_tiles_json(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_event_json(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_neighbour_json(const struct tfp_session *session,
					 const struct tfp_query *query, struct tfp_buf *json,
					 struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_events_json(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_buf *json,
				      struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_search_json(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_buf *json,
				      struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_trace_aggregate_json(const struct tfp_session *session,
					 const struct tfp_query *query, struct tfp_buf *json,
					 struct tfp_error *err) TFP_CHECK;

#endif
