/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a run's hosts as XProf's trace viewers and other programs' files
 * show them: which name an event has, which arguments, which group and flow
 * (trace_events.md 1 and 4). Writers of documents walk it:
 *
 *     struct tfp_trace_source host;
 *     tfp_trace_source_open(&host, session, i, &err);
 *     for each track of host.tracks
 *             for each event i of track->line
 *                     if (tfp_trace_event_read(&host, track, i, &event))
 *                             tfp_trace_each_arg(&host, track, i, &event, see, context);
 *     tfp_trace_source_release(&host);
 */
#ifndef TFP_TRACE_TRACE_SOURCE_H
#define TFP_TRACE_TRACE_SOURCE_H

#include "analysis/grouping/groups.h"
#include "analysis/timeline/flows.h"
#include "analysis/timeline/tracks.h"
#include "session/session.h"
#include "trace/trace_select.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_trace_source {
	const char *name;         /* of the host */
	uint32_t index;           /* among the run's hosts */
	struct tfp_capture *file; /* referenced */
	const struct tfp_capture *derived;
	const struct tfp_tracks *tracks;
	const struct tfp_flows *flows;
	const struct tfp_groups *groups;
	struct tfp_trace_plane *planes[2]; /* of the file, and derived */
	bool is_tpu;                       /* it has TensorCores */
	/* Leaves out arguments that hold what nobody wrote there (tfp_stat_is_unset). The caller
	 * sets it; documents of the peers have such arguments. */
	bool leaves_out_unset;
};

/* Opens a host of the session. All that the source points to lives until release. */
enum tfp_status tfp_trace_source_open(struct tfp_trace_source *host,
				      const struct tfp_session *session, size_t i,
				      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_trace_source_release(struct tfp_trace_source *host);

/* Events of a track that a selection may hold: first and one past the last. */
struct tfp_trace_range {
	size_t from, to;
};

/* The ranges of all tracks, by track; freed with tfp_free. They let a reader of a stretch of time
 * look at what is near it, and not at the whole capture. offset_ps: as in
 * tfp_trace_alignment. */
enum tfp_status tfp_trace_ranges(const struct tfp_trace_source *host, struct tfp_pool *pool,
				 const struct tfp_trace_selection *selection, int64_t offset_ps,
				 struct tfp_trace_range **out, struct tfp_error *err) TFP_CHECK;

/* The number of a row within its process: its display id, or the place that
 * the derived lines give it. */
uint32_t tfp_trace_row(const struct tfp_trace_source *host, const struct tfp_track *track);

struct tfp_trace_event {
	struct tfp_str name;
	struct tfp_str long_name; /* or "" */
	int64_t start_ps, duration_ps;
	int32_t group; /* or TFP_NO_GROUP */
	enum tfp_eager eager;
	bool is_async, has_flow;
	bool flow_in_file; /* not found out by us */
	uint8_t direction; /* enum tfp_flow_direction */
	uint8_t category;
	uint64_t flow_id;
	/* A name that the file does not give the event as a stat: the arg
	 * step_name is made of it. */
	bool made_step_name;
};

/* False for an event that is not shown. Of several flows the last counts, as
 * with the peers; all are in tfp_flows_of_event. */
bool tfp_trace_event_read(const struct tfp_trace_source *host, const struct tfp_track *track,
			  size_t i, struct tfp_trace_event *event);

enum tfp_trace_arg_kind { TFP_ARG_INT, TFP_ARG_UINT, TFP_ARG_DOUBLE, TFP_ARG_TEXT };

struct tfp_trace_arg {
	struct tfp_str name;
	enum tfp_trace_arg_kind kind;
	union {
		int64_t int_value;
		uint64_t uint_value;
		double double_value;
		struct tfp_str text;
	};
};

/* The arguments in the peers' order: group_id, then stats of the name, then of the
 * event. long_name is not among them. */
void tfp_trace_each_arg(const struct tfp_trace_source *host, const struct tfp_track *track,
			size_t i, const struct tfp_trace_event *event,
			void (*see)(void *context, const struct tfp_trace_arg *arg), void *context);

/* The counters of one line, whose tracks lie side by side from *track on: calls see with
 * each and its events in the order of time, and moves *track behind them. The line is gone
 * through once, however many counters it has. False without memory. */
bool tfp_trace_each_counter(const struct tfp_tracks *tracks, uint32_t *track,
			    void (*see)(void *context, uint32_t track, const uint32_t *events,
					size_t count),
			    void *context);

/* How the clocks of hosts go together (clock_align.h), by host of the session. */
struct tfp_trace_alignment {
	int64_t *offset_ps; /* add it to the host's times */
	int64_t *zero_ps;   /* the run's zero by those */
	int64_t begin_ps;   /* the earliest zero */
};

/* The lists are allocated; release them with tfp_trace_alignment_release. */
enum tfp_status tfp_trace_align(struct tfp_trace_alignment *alignment,
				const struct tfp_session *session, struct tfp_error *err) TFP_CHECK;
void tfp_trace_alignment_release(struct tfp_trace_alignment *alignment);
/* A selection whose window is by the run's time, for one host of the session by the document's.
 * Borrows the list of tracks. */
struct tfp_trace_selection tfp_trace_selection_of(const struct tfp_trace_selection *selection,
						  const struct tfp_trace_alignment *alignment,
						  size_t host);

#endif
