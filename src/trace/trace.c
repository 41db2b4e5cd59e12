/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace.h"

#include "analysis/events/schema.h"
#include "analysis/grouping/capture_groups.h"
#include "base/alloc.h"
#include "base/number.h"
#include "session/run_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TIME_MAX (INT64_C(1) << 62)

/* ---- opening ---- */

static enum tfp_status index_lines(struct tfp_trace_host *host, struct tfp_pool *pool,
				   struct tfp_error *err)
{
	enum tfp_status status = tfp_file_tracks_get(host->capture, pool, &host->tracks, err);
	if (status == TFP_OK)
		status = tfp_file_timeline_get(host->capture, pool, &host->timeline, err);
	if (status == TFP_OK)
		status = tfp_file_event_categories_get(host->capture, pool, &host->categories, err);
	return status;
}

static enum tfp_status index_all(struct tfp_trace_host *host, struct tfp_pool *pool,
				 struct tfp_error *err)
{
	enum tfp_status status = tfp_tracks_get(host->capture, pool, &host->tracks, err);
	if (status == TFP_OK)
		status = tfp_timeline_get(host->capture, pool, &host->timeline, err);
	if (status == TFP_OK)
		status = tfp_event_categories_get(host->capture, pool, &host->categories, err);
	if (status == TFP_OK)
		status = tfp_groups_get(host->capture, pool, &host->groups, err);
	return status;
}

static enum tfp_status open_host(const struct tfp_session *session, uint32_t h,
				 struct tfp_trace *trace, struct tfp_error *err)
{
	struct tfp_trace_host *host = &trace->hosts[h];
	const struct tfp_capture_file *file = &session->hosts[h];
	enum tfp_status status = tfp_capture_cache_get(session->cache, file, &host->capture, err);
	host->index = tfp_session_host_index(session, file->host);
	host->name = file->host;
	if (status != TFP_OK)
		return status;
	return trace->complete ? index_all(host, session->pool, err)
			       : index_lines(host, session->pool, err);
}

static enum tfp_status open_hosts(const struct tfp_session *session, struct tfp_trace *trace,
				  struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	bool any = false;
	for (uint32_t h = 0; h < session->host_count; h++) {
		struct tfp_trace_host *host = &trace->hosts[h];
		char text[1024];
		trace->host_count = h + 1;
		status = open_host(session, h, trace, err);
		if (status == TFP_OK) {
			any = true;
			continue;
		}
		tfp_capture_unref(host->capture);
		host->capture = NULL;
		/* A problem of one file is that file's. */
		if (status == TFP_NO_MEMORY || session->host_count == 1)
			return status;
		host->problem = tfp_strdup(tfp_error_text(err, text, sizeof(text)));
		if (!host->problem)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the hosts of a run");
	}
	return any ? TFP_OK : status;
}

static enum tfp_status align(struct tfp_trace *trace, struct tfp_host_clock *clocks,
			     size_t run_hosts, struct tfp_error *err)
{
	__int128 end = 0;
	for (uint32_t h = 0; h < trace->host_count; h++) {
		const struct tfp_trace_host *host = &trace->hosts[h];
		struct tfp_host_clock *clock = &clocks[host->index];
		if (!host->capture)
			continue;
		enum tfp_status status = tfp_capture_start(host->capture, &clock->start, err);
		if (status != TFP_OK)
			return status;
		clock->known = true;
		trace->event_count += host->tracks->event_count;
	}
	const struct tfp_common_clock all = tfp_clock_align(clocks, run_hosts);
	trace->aligned = all.aligned;
	if (!all.aligned && trace->host_count > 1)
		trace->alignment = "Not every file records when its profile began: each host "
				   "begins at the left edge, which may not be the same moment.";
	trace->first_ps = INT64_MAX;
	for (uint32_t h = 0; h < trace->host_count; h++) {
		struct tfp_trace_host *host = &trace->hosts[h];
		const struct tfp_host_clock *clock = &clocks[host->index];
		host->offset_ps = clock->offset_ps;
		host->shift_ps = clock->shift_ps;
		if (!host->capture || !clock->start.any)
			continue;
		int64_t first = tfp_trace_moment_ps(host, clock->start.begin_ps);
		trace->first_ps = first < trace->first_ps ? first : trace->first_ps;
		if (host->tracks->end_ps + host->shift_ps > end)
			end = host->tracks->end_ps + host->shift_ps;
	}
	trace->duration_ps = tfp_clamp_ps(end, 0, TIME_MAX);
	trace->first_ps = trace->first_ps == INT64_MAX ? 0 : trace->first_ps;
	if (all.aligned && all.any)
		trace->begin_ns =
			(uint64_t)tfp_clamp_ps(all.earliest_ns + all.begin_ps / 1000, 0, INT64_MAX);
	return TFP_OK;
}

/* The zero is the run's: where some hosts are left out, what is known of them is asked for before
 * the others are opened. */
static enum tfp_status open_trace(const struct tfp_session *session, bool complete,
				  struct tfp_trace *trace, struct tfp_error *err)
{
	size_t run_hosts = session->run->host_count;
	struct tfp_host_clock *clocks = tfp_calloc(run_hosts, sizeof(*clocks));
	enum tfp_status status = TFP_OK;
	*trace = (struct tfp_trace){.pool = session->pool, .complete = complete};
	trace->hosts = tfp_calloc(session->host_count, sizeof(*trace->hosts));
	if (!trace->hosts || !clocks)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the hosts of a run");
	if (status == TFP_OK && session->host_count < run_hosts)
		status = tfp_run_clocks_find(session, clocks, err);
	if (status == TFP_OK)
		status = open_hosts(session, trace, err);
	if (status == TFP_OK)
		status = align(trace, clocks, run_hosts, err);
	tfp_free(clocks);
	return status;
}

enum tfp_status tfp_trace_open(const struct tfp_session *session, struct tfp_trace *trace,
			       struct tfp_error *err)
{
	return open_trace(session, true, trace, err);
}

enum tfp_status tfp_trace_open_as_asked(const struct tfp_session *session,
					const struct tfp_query *query, struct tfp_trace *trace,
					struct tfp_error *err)
{
	uint64_t derived;
	*trace = (struct tfp_trace){0};
	enum tfp_status status = tfp_query_get_count(query, "derived", 1, &derived, err);
	if (status == TFP_OK && derived > 1)
		status = tfp_fail(err, TFP_BAD_QUERY, "parameter derived is 0 or 1");
	return status == TFP_OK ? open_trace(session, derived == 1, trace, err) : status;
}

void tfp_trace_release(struct tfp_trace *trace)
{
	for (uint32_t h = 0; h < trace->host_count; h++) {
		tfp_capture_unref(trace->hosts[h].capture);
		tfp_free(trace->hosts[h].problem);
	}
	tfp_free(trace->hosts);
	*trace = (struct tfp_trace){0};
}

/* ---- tracks and events ---- */

int64_t tfp_trace_moment_ps(const struct tfp_trace_host *host, int64_t ps)
{
	return tfp_clamp_ps(host->shift_ps + ps, 0, TIME_MAX);
}

struct tfp_trace_track tfp_trace_track(const struct tfp_trace_host *host, uint32_t index)
{
	const struct tfp_track *track = &host->tracks->tracks[index];
	return (struct tfp_trace_track){
		.host = host,
		.index = index,
		.track = track,
		.timeline = &host->timeline->tracks[index],
		.shift_ps = tfp_clamp_ps((__int128)tfp_trace_moment_ps(host, track->begin_ps) -
						 track->begin_offset_ps,
					 -TFP_CLOCK_SHIFT_MAX, TFP_CLOCK_SHIFT_MAX),
		.reads_step_names =
			track->kind == TFP_TRACK_DERIVED && tfp_str_starts(track->name, "Steps"),
	};
}

struct tfp_str tfp_trace_layer(const struct tfp_trace_track *t)
{
	static const char mark[] = " - from #";
	struct tfp_str name = t->track->name;
	const char *at;
	if (t->track->kind != TFP_TRACK_DERIVED &&
	    !(tfp_plane_kind(t->track->plane->name) == TFP_PLANE_TPU &&
	      (tfp_str_equal(name, "Steps") || tfp_str_equal(name, "XLA Modules"))))
		return (struct tfp_str){"", 0};
	at = name.size ? memmem(name.data, name.size, mark, sizeof(mark) - 1) : NULL;
	return (struct tfp_str){name.data, at ? (size_t)(at - name.data) : name.size};
}

/* Numbers with points between them; at their end, or at a comma. */
static bool parse_id(const char **text, uint64_t *numbers, size_t count)
{
	const char *at = *text;
	for (size_t i = 0; i < count; i++) {
		if (!tfp_number_begin(&at, &numbers[i]) || (i + 1 < count && *at++ != '.'))
			return false;
	}
	*text = at;
	return *at == '\0' || *at == ',';
}

static enum tfp_status find_track(const struct tfp_trace *trace, const uint64_t *numbers,
				  struct tfp_trace_track *out, struct tfp_error *err)
{
	for (uint32_t h = 0; h < trace->host_count; h++) {
		const struct tfp_trace_host *host = &trace->hosts[h];
		if (host->index != numbers[0] || !host->capture)
			continue;
		if (numbers[1] >= host->tracks->track_count)
			break;
		*out = tfp_trace_track(host, (uint32_t)numbers[1]);
		return TFP_OK;
	}
	return tfp_fail(err, TFP_NOT_FOUND, "there is no track %" PRIu64 ".%" PRIu64, numbers[0],
			numbers[1]);
}

static enum tfp_status too_many_tracks(size_t count, size_t most, struct tfp_error *err)
{
	tfp_fail(err, TFP_TOO_LARGE, "%zu tracks, at most %zu at a time", count, most);
	tfp_error_set_hint(err, "name some with tracks=");
	return TFP_TOO_LARGE;
}

static enum tfp_status all_tracks(const struct tfp_trace *trace, size_t most,
				  struct tfp_trace_track **list, size_t *count,
				  struct tfp_error *err)
{
	size_t n = 0;
	for (uint32_t h = 0; h < trace->host_count; h++)
		n += trace->hosts[h].capture ? trace->hosts[h].tracks->track_count : 0;
	if (n > most)
		return too_many_tracks(n, most, err);
	*list = tfp_reallocarray(NULL, n, sizeof(**list));
	if (!*list)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of tracks");
	for (uint32_t h = 0; h < trace->host_count; h++) {
		const struct tfp_trace_host *host = &trace->hosts[h];
		for (uint32_t t = 0; host->capture && t < host->tracks->track_count; t++)
			(*list)[(*count)++] = tfp_trace_track(host, t);
	}
	return TFP_OK;
}

enum tfp_status tfp_trace_tracks(const struct tfp_trace *trace, const struct tfp_query *query,
				 size_t most, struct tfp_trace_track **list, size_t *count,
				 struct tfp_error *err)
{
	const char *text = tfp_query_get(query, "tracks");
	size_t n = 1;
	*list = NULL;
	*count = 0;
	if (!text || !*text)
		return all_tracks(trace, most, list, count, err);
	for (const char *c = text; *c; c++)
		n += *c == ',';
	if (n > most)
		return too_many_tracks(n, most, err);
	*list = tfp_reallocarray(NULL, n, sizeof(**list));
	if (!*list)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of tracks");
	for (;;) {
		uint64_t numbers[2];
		enum tfp_status status;
		if (!parse_id(&text, numbers, 2))
			status = tfp_fail(err, TFP_BAD_QUERY,
					  "parameter tracks: \"%.50s\" is not a track such as 0.12",
					  text);
		else
			status = find_track(trace, numbers, &(*list)[*count], err);
		if (status != TFP_OK) {
			tfp_free(*list);
			*list = NULL;
			return status;
		}
		++*count;
		if (*text++ == '\0')
			return TFP_OK;
	}
}

enum tfp_status tfp_trace_event(const struct tfp_trace *trace, const struct tfp_query *query,
				struct tfp_trace_track *track, uint32_t *event,
				struct tfp_error *err)
{
	const char *text = tfp_query_get(query, "id"), *at = text;
	uint64_t numbers[3];
	if (!text || !*text)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter id is missing");
	if (!parse_id(&at, numbers, 3) || *at)
		return tfp_fail(err, TFP_BAD_QUERY,
				"parameter id: \"%.50s\" is not an event such as 0.12.345", text);
	enum tfp_status status = find_track(trace, numbers, track, err);
	uint32_t lane, place;
	if (status != TFP_OK)
		return status;
	*event = (uint32_t)numbers[2];
	if (numbers[2] >= track->track->line->event_count ||
	    !tfp_timeline_find_event(track->timeline, *event, &lane, &place))
		return tfp_fail(err, TFP_NOT_FOUND, "there is no event %s", text);
	return TFP_OK;
}

enum tfp_status tfp_trace_range(const struct tfp_trace *trace, const struct tfp_query *query,
				int64_t *from_ps, int64_t *to_ps, struct tfp_error *err)
{
	/* An event of no length at the very end is within all of the trace. */
	uint64_t from, to, all = (uint64_t)trace->duration_ps + 1;
	enum tfp_status status = tfp_query_get_count(query, "from_ps", 0, &from, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "to_ps", all, &to, err);
	if (status != TFP_OK)
		return status;
	if (to < from)
		return tfp_fail(err, TFP_BAD_QUERY, "to_ps is before from_ps");
	*from_ps = tfp_clamp_ps(from, 0, TIME_MAX);
	*to_ps = tfp_clamp_ps(to, 0, TIME_MAX);
	return TFP_OK;
}

/* ---- names ---- */

struct tfp_str tfp_trace_meta_name(const struct tfp_trace_track *t, uint32_t meta)
{
	const struct tfp_event_meta *m = &t->track->plane->event_metas[meta];
	return m->display_name.size ? m->display_name : m->name;
}

static struct tfp_str step_name_stat(const struct tfp_trace_track *t, uint32_t event)
{
	const struct tfp_plane *plane = t->track->plane;
	struct tfp_stat_iter it = tfp_event_stats(t->track->line, event);
	struct tfp_str name = {"", 0};
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		if (tfp_str_equal(plane->stat_metas[index].name, "step_name"))
			tfp_stat_text(plane, &stat, &name);
	}
	return name;
}

/* The groups of the track's line, or NULL for lines that are not in the file and while
 * groups are not asked for. */
static const struct tfp_line_groups *line_groups(const struct tfp_trace_track *t)
{
	if (t->track->capture != t->host->capture || !t->host->groups)
		return NULL;
	return &t->host->groups->planes[t->track->plane_index][t->track->line_index];
}

struct tfp_str tfp_trace_event_name(const struct tfp_trace_track *t, uint32_t event)
{
	const struct tfp_line_groups *groups = line_groups(t);
	struct tfp_str name = {"", 0};
	if (t->reads_step_names)
		name = step_name_stat(t, event);
	else if (groups && groups->named_count && tfp_group_in(&groups->group, event) >= 0 &&
		 tfp_event_is_named(t->host->groups, t->track->plane_index, t->track->line_index,
				    event))
		name = t->host->groups->groups[tfp_group_in(&groups->group, event)].name;
	return name.size ? name
			 : tfp_trace_meta_name(t, tfp_event_meta_index(t->track->line, event));
}

void tfp_trace_named_events(const struct tfp_trace_track *t, const uint32_t **list, size_t *count)
{
	const struct tfp_line_groups *groups = line_groups(t);
	*list = NULL;
	*count = 0;
	if (t->reads_step_names) {
		*count = t->track->line->event_count;
	} else if (groups) {
		*list = groups->named;
		*count = groups->named_count;
	}
}

/* ---- ids ---- */

void tfp_trace_set_track_id(struct tfp_json *j, const char *key, const struct tfp_trace_track *t)
{
	tfp_json_set_format(j, key, "%" PRIu32 ".%" PRIu32, t->host->index, t->index);
}

void tfp_trace_set_event_id(struct tfp_json *j, const char *key, const struct tfp_trace_track *t,
			    uint32_t event)
{
	tfp_json_set_format(j, key, "%" PRIu32 ".%" PRIu32 ".%" PRIu32, t->host->index, t->index,
			    event);
}
