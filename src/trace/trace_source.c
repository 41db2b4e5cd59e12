/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_source.h"

#include "analysis/events/schema.h"
#include "analysis/grouping/capture_groups.h"
#include "analysis/timeline/derived_lines.h"
#include "analysis/timeline/timeline.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "session/run_clock.h"

#include <string.h>

enum { FLOW, GROUP_ID, IS_ASYNC, STEP_NAME, IS_EAGER, WANTED };
static const char *const special[WANTED] = {
	[FLOW] = "flow",           [GROUP_ID] = "group_id", [IS_ASYNC] = "_a",
	[STEP_NAME] = "step_name", [IS_EAGER] = "is_eager",
};

/* Answers to questions that every event asks, by number of its metadata. */
struct tfp_trace_plane {
	struct tfp_schema schema;
	uint8_t *hidden_events; /* by event metadata */
	uint8_t *hidden_stats;  /* by stat metadata */
	uint8_t *unset_stats;
};

static enum tfp_status prepare(struct tfp_trace_plane **out, const struct tfp_capture *capture,
			       struct tfp_error *err)
{
	struct tfp_trace_plane *planes = tfp_calloc(capture->plane_count, sizeof(*planes));
	*out = planes;
	if (!planes)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		enum tfp_status status =
			tfp_schema_init(&planes[p].schema, plane, special, WANTED, err);
		if (status != TFP_OK)
			return status;
		planes[p].hidden_events = tfp_calloc(plane->event_meta_count, 1);
		planes[p].hidden_stats = tfp_calloc(plane->stat_meta_count, 1);
		planes[p].unset_stats = tfp_calloc(plane->stat_meta_count, 1);
		if (!planes[p].hidden_events || !planes[p].hidden_stats || !planes[p].unset_stats)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
		for (size_t m = 0; m < plane->event_meta_count; m++)
			planes[p].hidden_events[m] =
				tfp_event_name_is_internal(plane->event_metas[m].name);
		for (size_t m = 0; m < plane->stat_meta_count; m++) {
			struct tfp_str name = plane->stat_metas[m].name;
			planes[p].hidden_stats[m] = tfp_stat_name_is_internal(name);
			planes[p].unset_stats[m] = tfp_stat_is_unset(plane, name);
		}
	}
	return TFP_OK;
}

static void release_planes(struct tfp_trace_plane *planes, const struct tfp_capture *capture)
{
	for (size_t p = 0; planes && p < capture->plane_count; p++) {
		tfp_schema_release(&planes[p].schema);
		tfp_free(planes[p].hidden_events);
		tfp_free(planes[p].hidden_stats);
		tfp_free(planes[p].unset_stats);
	}
	tfp_free(planes);
}

void tfp_trace_source_release(struct tfp_trace_source *host)
{
	if (host->file) {
		release_planes(host->planes[0], host->file);
		if (host->derived)
			release_planes(host->planes[1], host->derived);
	}
	tfp_capture_unref(host->file);
	*host = (struct tfp_trace_source){0};
}

enum tfp_status tfp_trace_source_open(struct tfp_trace_source *host,
				      const struct tfp_session *session, size_t i,
				      struct tfp_error *err)
{
	const struct tfp_capture_file *file = &session->hosts[i];
	struct tfp_pool *pool = session->pool;
	*host = (struct tfp_trace_source){.name = file->host,
					  .index = tfp_session_host_index(session, file->host)};
	enum tfp_status status = tfp_capture_cache_get(session->cache, file, &host->file, err);
	if (status == TFP_OK)
		status = tfp_derived_lines_get(host->file, pool, &host->derived, err);
	if (status == TFP_OK)
		status = tfp_tracks_get(host->file, pool, &host->tracks, err);
	if (status == TFP_OK)
		status = tfp_flows_get(host->file, pool, &host->flows, err);
	if (status == TFP_OK)
		status = tfp_groups_get(host->file, pool, &host->groups, err);
	if (status == TFP_OK)
		status = prepare(&host->planes[0], host->file, err);
	if (status == TFP_OK)
		status = prepare(&host->planes[1], host->derived, err);
	for (uint32_t p = 0; status == TFP_OK && p < host->tracks->process_count; p++)
		host->is_tpu |= tfp_str_starts(host->tracks->processes[p].name, "/device:TPU:");
	if (status != TFP_OK)
		tfp_trace_source_release(host);
	return status;
}

/* A moment of the trace by the clock of a line's columns; saturates. */
static int64_t on_line(const struct tfp_line *line, int64_t moment_ps, int64_t offset_ps)
{
	__int128 ps = (__int128)moment_ps - offset_ps - (__int128)line->timestamp_ns * 1000;
	return ps > INT64_MAX ? INT64_MAX : ps < INT64_MIN ? INT64_MIN : (int64_t)ps;
}

/* Beyond it times of events are no longer exact, and nothing is left out. */
static bool is_far(const struct tfp_line *line)
{
	return line->timestamp_ns > INT64_MAX / 4000 || line->timestamp_ns < -INT64_MAX / 4000;
}

enum tfp_status tfp_trace_ranges(const struct tfp_trace_source *host, struct tfp_pool *pool,
				 const struct tfp_trace_selection *selection, int64_t offset_ps,
				 struct tfp_trace_range **out, struct tfp_error *err)
{
	const struct tfp_timeline *timeline = NULL;
	enum tfp_status status = TFP_OK;
	*out = NULL;
	if (selection->has_window)
		status = tfp_timeline_get(host->file, pool, &timeline, err);
	if (status != TFP_OK)
		return status;
	*out = tfp_reallocarray(NULL, host->tracks->track_count, sizeof(**out));
	if (!*out)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	for (uint32_t t = 0; t < host->tracks->track_count; t++) {
		const struct tfp_line *line = host->tracks->tracks[t].line;
		uint32_t from, to;
		(*out)[t] = (struct tfp_trace_range){0, line->event_count};
		if (!timeline || host->tracks->tracks[t].kind == TFP_TRACK_COUNTER || is_far(line))
			continue;
		tfp_timeline_reach(&timeline->tracks[t],
				   on_line(line, selection->from_ps, offset_ps),
				   on_line(line, selection->to_ps, offset_ps), &from, &to);
		(*out)[t] = (struct tfp_trace_range){from, to};
	}
	return TFP_OK;
}

uint32_t tfp_trace_row(const struct tfp_trace_source *host, const struct tfp_track *track)
{
	int64_t display = tfp_derived_row_of(host->derived, track->plane, track->line);
	return display ? (uint32_t)display : track->tid;
}

static bool is_derived(const struct tfp_trace_source *host, const struct tfp_track *track)
{
	return track->capture == host->derived;
}

static const struct tfp_trace_plane *tables(const struct tfp_trace_source *host,
					    const struct tfp_track *track)
{
	return &host->planes[is_derived(host, track)][track->plane_index];
}

/* ---- an event ---- */

static void unpack_flow(struct tfp_trace_event *event, uint64_t value)
{
	event->has_flow = event->flow_in_file = true;
	event->direction = (uint8_t)(value & 3);
	event->flow_id = value >> 2 & ((UINT64_C(1) << 56) - 1);
	event->category = (uint8_t)(value >> 58);
}

static void see_special(const struct tfp_plane *plane, const struct tfp_trace_plane *t,
			struct tfp_stat_iter it, struct tfp_trace_event *event)
{
	struct tfp_stat stat;
	struct tfp_str name;
	int64_t number;
	while (tfp_stat_next(&it, &stat)) {
		switch (tfp_schema_of(&t->schema, &stat)) {
		case FLOW:
			if (tfp_stat_int(&stat, &number))
				unpack_flow(event, (uint64_t)number);
			break;
		case GROUP_ID:
			if (tfp_stat_int(&stat, &number) && number >= 0 && number <= INT32_MAX)
				event->group = (int32_t)number;
			break;
		case IS_ASYNC:
			/* The peers ask whether it is there, not what it says. */
			event->is_async |= tfp_stat_int(&stat, &number);
			break;
		case STEP_NAME:
			if (tfp_stat_text(plane, &stat, &name) && name.size) {
				event->name = name;
				event->made_step_name = false;
			}
			break;
		default:
			break;
		}
	}
}

/* Adds facts that were found out because the file does not say them. */
static void add_findings(const struct tfp_trace_source *host, const struct tfp_track *track,
			 size_t i, struct tfp_trace_event *event)
{
	const struct tfp_groups *groups = host->groups;
	if (!groups->from_file) {
		event->group = tfp_group_of(groups, track->plane_index, track->line_index, i);
		event->eager = tfp_eager_of(groups, track->plane_index, track->line_index, i);
		if (event->group != TFP_NO_GROUP && groups->groups[event->group].name.size &&
		    tfp_event_is_named(groups, track->plane_index, track->line_index, i)) {
			event->name = groups->groups[event->group].name;
			event->made_step_name = true;
		}
	}
	if (event->has_flow)
		return;
	size_t count;
	const struct tfp_flow_end *ends = tfp_flows_of_event(
		host->flows, false, track->plane_index, track->line_index, (uint32_t)i, &count);
	if (count) {
		event->has_flow = true;
		event->flow_id = ends[count - 1].id;
		event->direction = ends[count - 1].direction;
		event->category = ends[count - 1].category;
	}
}

bool tfp_trace_event_read(const struct tfp_trace_source *host, const struct tfp_track *track,
			  size_t i, struct tfp_trace_event *event)
{
	const struct tfp_trace_plane *t = tables(host, track);
	const struct tfp_line *line = track->line;
	const struct tfp_event_meta *meta = tfp_event_meta(track->plane, line, i);
	const struct tfp_str none = {"", 0};
	if (t->hidden_events[tfp_event_meta_index(line, i)])
		return false;
	*event = (struct tfp_trace_event){
		.name = meta->display_name.size ? meta->display_name : meta->name,
		.long_name = meta->display_name.size ? meta->name : none,
		.start_ps = tfp_event_start_ps(line, i),
		.duration_ps = tfp_event_duration_ps(line, i),
		.group = TFP_NO_GROUP,
	};
	see_special(track->plane, t, tfp_event_meta_stats(meta), event);
	see_special(track->plane, t, tfp_event_stats(line, i), event);
	if (!is_derived(host, track))
		add_findings(host, track, i, event);
	return true;
}

/* ---- its arguments ---- */

struct walk {
	const struct tfp_plane *plane;
	const struct tfp_trace_plane *tables;
	bool leaves_out_unset;
	void (*see)(void *context, const struct tfp_trace_arg *arg);
	void *context;
};

static void see_stats(const struct walk *w, struct tfp_stat_iter it)
{
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&w->plane->stat_meta_ids, stat.metadata_id);
		int which = tfp_schema_of(&w->tables->schema, &stat);
		bool number = stat.kind == TFP_STAT_INT || stat.kind == TFP_STAT_UINT;
		struct tfp_trace_arg arg = {.name = w->plane->stat_metas[index].name};
		if (w->tables->hidden_stats[index] ||
		    (w->leaves_out_unset && w->tables->unset_stats[index]) ||
		    (number && (which == FLOW || which == GROUP_ID || which == IS_ASYNC)))
			continue;
		switch (stat.kind) {
		case TFP_STAT_INT:
			arg.kind = TFP_ARG_INT;
			arg.int_value = stat.int_value;
			break;
		case TFP_STAT_UINT:
			arg.kind = TFP_ARG_UINT;
			arg.uint_value = stat.uint_value;
			break;
		case TFP_STAT_DOUBLE:
			arg.kind = TFP_ARG_DOUBLE;
			arg.double_value = stat.double_value;
			break;
		case TFP_STAT_STR:
		case TFP_STAT_REF:
			arg.kind = TFP_ARG_TEXT;
			if (!tfp_stat_text(w->plane, &stat, &arg.text))
				continue;
			break;
		default:
			continue;
		}
		w->see(w->context, &arg);
	}
}

static struct tfp_str constant(const char *text)
{
	return (struct tfp_str){text, strlen(text)};
}

void tfp_trace_each_arg(const struct tfp_trace_source *host, const struct tfp_track *track,
			size_t i, const struct tfp_trace_event *event,
			void (*see)(void *context, const struct tfp_trace_arg *arg), void *context)
{
	const struct walk w = {track->plane, tables(host, track), host->leaves_out_unset, see,
			       context};
	struct tfp_trace_arg arg = {.name = constant("group_id"), .kind = TFP_ARG_INT};
	if (event->group != TFP_NO_GROUP) {
		arg.int_value = event->group;
		see(context, &arg);
	}
	see_stats(&w, tfp_event_meta_stats(tfp_event_meta(track->plane, track->line, i)));
	see_stats(&w, tfp_event_stats(track->line, i));
	if (event->made_step_name) {
		arg = (struct tfp_trace_arg){.name = constant("step_name"), .kind = TFP_ARG_TEXT};
		arg.text = event->name;
		see(context, &arg);
	}
	if (event->eager != TFP_EAGER_UNKNOWN) {
		arg = (struct tfp_trace_arg){.name = constant("is_eager"), .kind = TFP_ARG_INT};
		arg.int_value = event->eager == TFP_EAGER_YES;
		see(context, &arg);
	}
}

/* ---- counters ---- */

static bool meta_before(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_line *line = context;
	return tfp_event_meta_index(line, a) < tfp_event_meta_index(line, b);
}

bool tfp_trace_each_counter(const struct tfp_tracks *tracks, uint32_t *track,
			    void (*see)(void *context, uint32_t track, const uint32_t *events,
					size_t count),
			    void *context)
{
	const struct tfp_line *line = tracks->tracks[*track].line;
	size_t n = line->event_count, at = 0;
	uint32_t *order = n < UINT32_MAX ? tfp_sort_indexes(n, meta_before, line) : NULL;
	for (; order && *track < tracks->track_count; ++*track) {
		const struct tfp_track *t = &tracks->tracks[*track];
		if (t->line != line || t->kind != TFP_TRACK_COUNTER)
			break;
		while (at < n && tfp_event_meta_index(line, order[at]) < t->counter_meta)
			at++;
		size_t end = at;
		while (end < n && tfp_event_meta_index(line, order[end]) == t->counter_meta)
			end++;
		see(context, *track, order + at, end - at);
		at = end;
	}
	tfp_free(order);
	return order != NULL;
}

/* ---- hosts on one clock ---- */

void tfp_trace_alignment_release(struct tfp_trace_alignment *alignment)
{
	tfp_free(alignment->offset_ps);
	tfp_free(alignment->zero_ps);
	*alignment = (struct tfp_trace_alignment){0};
}

/* Hosts are opened one after the other, so that no more than one must be held. */
enum tfp_status tfp_trace_align(struct tfp_trace_alignment *a, const struct tfp_session *session,
				struct tfp_error *err)
{
	size_t n = session->host_count, run_hosts = session->run->host_count;
	struct tfp_host_clock *clocks = tfp_calloc(run_hosts, sizeof(*clocks));
	*a = (struct tfp_trace_alignment){.offset_ps = tfp_calloc(n, sizeof(*a->offset_ps)),
					  .zero_ps = tfp_calloc(n, sizeof(*a->zero_ps))};
	enum tfp_status status = TFP_OK;
	if (!clocks || !a->offset_ps || !a->zero_ps)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	if (status == TFP_OK && n < run_hosts)
		status = tfp_run_clocks_find(session, clocks, err);
	for (size_t i = 0; status == TFP_OK && i < n; i++) {
		struct tfp_host_clock *clock =
			&clocks[tfp_session_host_index(session, session->hosts[i].host)];
		struct tfp_capture *capture;
		status = tfp_capture_cache_get(session->cache, &session->hosts[i], &capture, err);
		if (status != TFP_OK)
			break;
		status = tfp_capture_start(capture, &clock->start, err);
		clock->known = status == TFP_OK;
		tfp_capture_unref(capture);
	}
	if (status == TFP_OK) {
		tfp_clock_align(clocks, run_hosts);
		for (size_t i = 0; i < n; i++) {
			const struct tfp_host_clock *clock =
				&clocks[tfp_session_host_index(session, session->hosts[i].host)];
			a->offset_ps[i] = clock->offset_ps;
			a->zero_ps[i] = tfp_clamp_ps(clock->offset_ps - clock->shift_ps, INT64_MIN,
						     INT64_MAX);
			if (i == 0 || a->zero_ps[i] < a->begin_ps)
				a->begin_ps = a->zero_ps[i];
		}
	} else {
		tfp_trace_alignment_release(a);
	}
	tfp_free(clocks);
	return status;
}

static int64_t later(int64_t ps, int64_t by_ps)
{
	return tfp_clamp_ps((__int128)ps + by_ps, INT64_MIN, INT64_MAX);
}

struct tfp_trace_selection tfp_trace_selection_of(const struct tfp_trace_selection *selection,
						  const struct tfp_trace_alignment *a, size_t host)
{
	struct tfp_trace_selection own = *selection;
	if (a->zero_ps && own.has_window) {
		own.from_ps = later(own.from_ps, a->zero_ps[host]);
		own.to_ps = later(own.to_ps, a->zero_ps[host]);
	}
	return own;
}
