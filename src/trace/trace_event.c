/* SPDX-License-Identifier: Apache-2.0 */
/* /trace_viewer/event and /trace_viewer/neighbour: everything that is known of one event. */
#include "analysis/events/op_name.h"
#include "analysis/ops/gpu_events.h"
#include "analysis/timeline/flows.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Texts in full up to here; HLO modules can be megabytes. */
#define TEXT_MAX  ((size_t)100000)
#define FLOWS_MAX 100u
/* Beyond this JavaScript's numbers are not exact. */
#define EXACT_MAX (INT64_C(1) << 53)

/* One event, found. */
struct place {
	struct tfp_trace_track t;
	uint32_t event, lane, place;
};

static bool place_of(const struct tfp_trace_track *t, uint32_t event, struct place *out)
{
	*out = (struct place){.t = *t, .event = event};
	return tfp_timeline_find_event(t->timeline, event, &out->lane, &out->place);
}

/* ---- stats ---- */

static void set_text(struct tfp_json *j, const char *key, struct tfp_str text)
{
	bool cut = text.size > TEXT_MAX;
	tfp_json_set_text(j, key, text.data, cut ? TEXT_MAX : text.size);
	if (cut)
		tfp_json_set_count(j, "cut", text.size);
}

static void set_value(struct tfp_json *j, const struct tfp_plane *plane,
		      const struct tfp_stat *stat)
{
	const char *key = "value";
	struct tfp_str text;
	switch (stat->kind) {
	case TFP_STAT_DOUBLE:
		tfp_json_key(j, key);
		if (isfinite(stat->double_value))
			tfp_json_add_number(j, stat->double_value);
		else
			tfp_json_add_double(j, stat->double_value);
		break;
	case TFP_STAT_INT:
		if (stat->int_value > EXACT_MAX || stat->int_value < -EXACT_MAX)
			tfp_json_set_format(j, key, "%" PRId64, stat->int_value);
		else
			tfp_json_set_integer(j, key, stat->int_value);
		break;
	case TFP_STAT_UINT:
		if (stat->uint_value > EXACT_MAX)
			tfp_json_set_format(j, key, "%" PRIu64, stat->uint_value);
		else
			tfp_json_set_count(j, key, stat->uint_value);
		break;
	case TFP_STAT_STR:
	case TFP_STAT_REF:
		tfp_stat_text(plane, stat, &text);
		set_text(j, key, text);
		break;
	case TFP_STAT_BYTES:
		tfp_json_set_null(j, key);
		tfp_json_set_count(j, "bytes", stat->text.size);
		break;
	default:
		tfp_json_set_null(j, key);
	}
}

static void put_stats(struct tfp_json *j, const struct tfp_plane *plane, struct tfp_stat_iter it)
{
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		struct tfp_str name = plane->stat_metas[index].name;
		/* Flows are shown as what they lead to. */
		if (stat.kind == TFP_STAT_NONE || tfp_stat_name_is_internal(name) ||
		    tfp_stat_is_unset(plane, name) || tfp_str_equal(name, "flow"))
			continue;
		tfp_json_begin_object(j);
		tfp_json_set_text(j, "name", name.data, name.size);
		set_value(j, plane, &stat);
		tfp_json_end_object(j);
	}
}

/* ---- neighbours ---- */

static void set_event_or_null(struct tfp_json *j, const char *key, const struct place *p,
			      uint32_t event)
{
	if (event == TFP_NO_EVENT)
		tfp_json_set_null(j, key);
	else
		tfp_trace_set_event_id(j, key, &p->t, event);
}

/* The event some places further in the lane. */
static uint32_t beside(const struct place *p, int step)
{
	const struct tfp_lane *lane = &p->t.timeline->lanes[p->lane];
	int64_t place = (int64_t)p->place + step;
	return place < 0 || place >= lane->count
		       ? TFP_NO_EVENT
		       : tfp_lane_event(p->t.timeline, p->lane, (uint32_t)place);
}

static uint32_t parent_of(const struct place *p)
{
	return tfp_timeline_parent(p->t.timeline, p->lane, p->place);
}

static uint32_t first_child_of(const struct place *p, uint32_t *count, int64_t *busy_ps)
{
	uint32_t from, to;
	tfp_timeline_children(p->t.timeline, p->lane, p->place, &from, &to);
	*count = to - from;
	*busy_ps = from < to ? tfp_lane_sum(p->t.timeline, p->lane + 1, from, to).busy_ps : 0;
	return to > from ? tfp_lane_event(p->t.timeline, p->lane + 1, from) : TFP_NO_EVENT;
}

/* The next event of the track with the same metadata, or the one before. */
static uint32_t same_name(const struct place *p, bool forward)
{
	const struct tfp_line *line = p->t.track->line;
	uint32_t meta = tfp_event_meta_index(line, p->event);
	for (size_t i = p->event; forward ? ++i < line->event_count : i-- > 0;) {
		if (tfp_event_meta_index(line, i) == meta)
			return (uint32_t)i;
	}
	return TFP_NO_EVENT;
}

/* ---- flows ---- */

static bool find_track(const struct tfp_trace_host *host, const struct tfp_flow_end *end,
		       struct tfp_trace_track *out)
{
	for (uint32_t t = 0; t < host->tracks->track_count; t++) {
		const struct tfp_track *track = &host->tracks->tracks[t];
		if (track->plane_index == end->plane && track->line_index == end->line &&
		    (track->capture != host->capture) == end->derived &&
		    end->event < track->line->event_count &&
		    (track->kind != TFP_TRACK_COUNTER ||
		     tfp_event_meta_index(track->line, end->event) == track->counter_meta)) {
			*out = tfp_trace_track(host, t);
			return true;
		}
	}
	return false;
}

static bool may_send(const struct tfp_flow_end *end)
{
	return end->direction != TFP_FLOW_IN;
}

static bool may_receive(const struct tfp_flow_end *end)
{
	return end->direction != TFP_FLOW_OUT;
}

static void put_flow(struct tfp_json *j, const struct place *p, const struct tfp_flow_end *other,
		     bool incoming, size_t *count)
{
	struct tfp_trace_track t;
	struct place at;
	if (!find_track(p->t.host, other, &t) || !place_of(&t, other->event, &at) ||
	    ++*count > FLOWS_MAX)
		return;
	struct tfp_str name = tfp_trace_event_name(&t, other->event);
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "direction", incoming ? "in" : "out");
	tfp_json_set_string(j, "category", tfp_flow_category_name(other->category));
	tfp_trace_set_event_id(j, "id", &t, other->event);
	tfp_json_set_text(j, "name", name.data, name.size);
	tfp_trace_set_track_id(j, "track", &t);
	tfp_json_set_integer(j, "start_ps", tfp_trace_start_ps(&t, other->event));
	tfp_json_set_integer(j, "duration_ps", tfp_event_duration_ps(t.track->line, other->event));
	tfp_json_set_integer(j, "depth", at.lane);
	tfp_json_end_object(j);
}

static enum tfp_status put_flows(struct tfp_json *j, const struct tfp_trace *trace,
				 const struct place *p, struct tfp_error *err)
{
	struct tfp_flows *flows = NULL;
	const struct tfp_track *track = p->t.track;
	size_t end_count, written = 0;
	tfp_json_begin_array_of(j, "flows");
	/* Nothing leads to or from what was derived. */
	if (track->capture == p->t.host->capture) {
		enum tfp_status status =
			tfp_flows_near(p->t.host->capture, trace->pool, track->plane_index,
				       track->line_index, p->event, &flows, err);
		if (status != TFP_OK)
			return status;
	}
	const struct tfp_flow_end *ends =
		flows ? tfp_flows_of_event(flows, false, track->plane_index, track->line_index,
					   p->event, &end_count)
		      : NULL;
	end_count = flows ? end_count : 0;
	for (size_t e = 0; e < end_count; e++) {
		size_t count;
		const uint32_t *list = tfp_flows_of_id(flows, ends[e].id, &count);
		bool after = false;
		for (size_t i = 0; i < count; i++) {
			const struct tfp_flow_end *other = &flows->ends[list[i]];
			if (other == &ends[e])
				after = true;
			else if (after ? may_send(&ends[e]) && may_receive(other)
				       : may_receive(&ends[e]) && may_send(other))
				put_flow(j, p, other, !after, &written);
		}
	}
	tfp_json_end_array(j);
	tfp_json_set_count(j, "flows_total", written);
	tfp_flows_free(flows);
	return TFP_OK;
}

/* ---- arguments ---- */

static bool has_unset(const struct place *p)
{
	const struct tfp_plane *plane = p->t.track->plane;
	struct tfp_stat_iter it = tfp_event_stats(p->t.track->line, p->event);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		if (tfp_stat_is_unset(plane, plane->stat_metas[index].name))
			return true;
	}
	return false;
}

/* False for an event that has none of its own. */
static bool put_kernel_details(struct tfp_json *j, const struct tfp_trace_track *t, uint32_t event)
{
	const struct tfp_plane *plane = t->track->plane;
	struct tfp_stat_iter it = tfp_event_stats(t->track->line, event);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		struct tfp_str name = plane->stat_metas[index].name;
		if (!tfp_str_equal(name, "kernel_details") || tfp_stat_is_unset(plane, name))
			continue;
		tfp_json_begin_object(j);
		tfp_json_set_string(j, "name", "kernel_details");
		set_value(j, plane, &stat);
		tfp_json_end_object(j);
		return true;
	}
	return false;
}

/* The details of the kernel that the event launched, in place of its own, which were never
 * written. */
static void put_launched(struct tfp_json *j, const struct tfp_flows *flows, const struct place *p)
{
	const struct tfp_track *track = p->t.track;
	size_t end_count, count;
	const struct tfp_flow_end *ends =
		tfp_flows_of_event(flows, track->capture != p->t.host->capture, track->plane_index,
				   track->line_index, p->event, &end_count);
	for (size_t e = 0; e < end_count; e++) {
		const uint32_t *list = tfp_flows_of_id(flows, ends[e].id, &count);
		for (size_t i = 0; i < count; i++) {
			const struct tfp_flow_end *other = &flows->ends[list[i]];
			struct tfp_trace_track t;
			if (other != &ends[e] && may_receive(other) &&
			    find_track(p->t.host, other, &t) &&
			    put_kernel_details(j, &t, other->event))
				return;
		}
	}
}

static enum tfp_status put_args(struct tfp_json *j, const struct tfp_trace *trace,
				const struct place *p, struct tfp_error *err)
{
	const struct tfp_plane *plane = p->t.track->plane;
	const struct tfp_line *line = p->t.track->line;
	tfp_json_begin_array_of(j, "args");
	put_stats(j, plane, tfp_event_meta_stats(tfp_event_meta(plane, line, p->event)));
	put_stats(j, plane, tfp_event_stats(line, p->event));
	if (has_unset(p)) {
		const struct tfp_flows *flows;
		enum tfp_status status =
			tfp_flows_get(p->t.host->capture, trace->pool, &flows, err);
		if (status != TFP_OK)
			return status;
		put_launched(j, flows, p);
	}
	tfp_json_end_array(j);
	return TFP_OK;
}

/* ---- steps, kernels, ops ---- */

static void put_step(struct tfp_json *j, const struct place *p)
{
	const struct tfp_track *track = p->t.track;
	const struct tfp_groups *groups = p->t.host->groups;
	int64_t group = TFP_NO_GROUP;
	if (track->capture == p->t.host->capture) {
		group = tfp_group_of(groups, track->plane_index, track->line_index, p->event);
	} else {
		int64_t id = tfp_plane_stat_id(track->plane, "group_id");
		struct tfp_stat_iter it = tfp_event_stats(track->line, p->event);
		struct tfp_stat stat;
		while (id != INT64_MIN && tfp_stat_next(&it, &stat)) {
			if (stat.metadata_id == id && !tfp_stat_int(&stat, &group))
				group = TFP_NO_GROUP;
		}
	}
	if (group < 0 || (uint64_t)group >= groups->group_count) {
		tfp_json_set_null(j, "step");
		return;
	}
	struct tfp_str name = groups->groups[group].name;
	tfp_json_set_integer(j, "step", group);
	tfp_json_set_text(j, "step_name", name.data, name.size);
}

/* The event's names on the pages of kernels and ops. */
static enum tfp_status put_links(struct tfp_json *j, const struct tfp_trace *trace,
				 const struct place *p, struct tfp_error *err)
{
	const struct tfp_track *track = p->t.track;
	struct tfp_op_name op = {0};
	if (track->kind == TFP_TRACK_THREAD) {
		op = tfp_op_name_parse(tfp_event_meta(track->plane, track->line, p->event)->name);
	} else if (track->kind == TFP_TRACK_STREAM &&
		   tfp_plane_kind(track->plane->name) == TFP_PLANE_GPU) {
		const struct tfp_hlo_modules *modules;
		struct tfp_gpu_reader reader;
		struct tfp_gpu_event event;
		enum tfp_status status =
			tfp_hlo_modules_get(p->t.host->capture, trace->pool, &modules, err);
		if (status == TFP_OK)
			status = tfp_gpu_reader_init(&reader, track->plane, modules, err);
		if (status != TFP_OK)
			return status;
		tfp_gpu_event_read(&reader, track->line, p->event, &event);
		if (event.kernel_details.size)
			tfp_json_set_text(j, "kernel", event.name.data, event.name.size);
		op = tfp_op_name_parse(tfp_gpu_event_op(&event));
		tfp_gpu_reader_release(&reader);
	}
	if (op.name.size && op.category != TFP_OP_UNKNOWN)
		tfp_json_set_text(j, "op", op.name.data, op.name.size);
	return TFP_OK;
}

/* ---- the event ---- */

static enum tfp_status put_event(struct tfp_json *j, const struct tfp_trace *trace,
				 const struct place *p, struct tfp_error *err)
{
	const struct tfp_track *track = p->t.track;
	const struct tfp_process *process = &p->t.host->tracks->processes[track->process];
	const struct tfp_event_meta *meta = tfp_event_meta(track->plane, track->line, p->event);
	int64_t duration = tfp_event_duration_ps(track->line, p->event), busy;
	uint32_t children, child = first_child_of(p, &children, &busy);
	struct tfp_str name = tfp_trace_event_name(&p->t, p->event);
	tfp_json_begin_object(j);
	tfp_trace_set_event_id(j, "id", &p->t, p->event);
	tfp_json_set_text(j, "name", name.data, name.size);
	if (meta->display_name.size)
		tfp_json_set_text(j, "long_name", meta->name.data,
				  meta->name.size < TEXT_MAX ? meta->name.size : TEXT_MAX);
	tfp_trace_set_track_id(j, "track", &p->t);
	tfp_json_set_text(j, "track_name", track->name.data, track->name.size);
	tfp_json_set_text(j, "process", process->name.data, process->name.size);
	tfp_json_set_string(j, "host", p->t.host->name);
	tfp_json_set_integer(j, "start_ps", tfp_trace_start_ps(&p->t, p->event));
	tfp_json_set_integer(j, "duration_ps", duration);
	tfp_json_set_integer(j, "self_ps", duration - busy);
	tfp_json_set_integer(j, "depth", p->lane);
	tfp_json_set_integer(
		j, "category",
		tfp_event_category(p->t.host->categories, p->t.index, track->line, p->event));
	put_step(j, p);
	enum tfp_status status = put_args(j, trace, p, err);
	if (status != TFP_OK)
		return status;
	set_event_or_null(j, "parent", p, parent_of(p));
	tfp_json_set_integer(j, "children", children);
	set_event_or_null(j, "first_child", p, child);
	set_event_or_null(j, "previous", p, beside(p, -1));
	set_event_or_null(j, "next", p, beside(p, 1));
	status = put_flows(j, trace, p, err);
	if (status == TFP_OK)
		status = put_links(j, trace, p, err);
	tfp_json_end_object(j);
	return status;
}

static enum tfp_status find(const struct tfp_trace *trace, const struct tfp_query *query,
			    struct place *out, struct tfp_error *err)
{
	struct tfp_trace_track t;
	uint32_t event;
	enum tfp_status status = tfp_trace_event(trace, query, &t, &event, err);
	if (status == TFP_OK && !place_of(&t, event, out))
		status = tfp_fail(err, TFP_NOT_FOUND, "the event is not shown");
	return status;
}

enum tfp_status tfp_trace_event_json(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err)
{
	struct tfp_trace trace;
	struct place p;
	struct tfp_json j;
	tfp_json_init(&j, json);
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = find(&trace, query, &p, err);
	if (status == TFP_OK)
		status = put_event(&j, &trace, &p, err);
	tfp_trace_release(&trace);
	return status == TFP_OK ? tfp_json_finish(&j, err) : status;
}

static enum tfp_status neighbour_of(const struct place *p, const char *direction, uint32_t *event,
				    struct tfp_error *err)
{
	uint32_t count;
	int64_t busy;
	if (!direction)
		direction = "";
	if (strcmp(direction, "next") == 0)
		*event = beside(p, 1);
	else if (strcmp(direction, "previous") == 0)
		*event = beside(p, -1);
	else if (strcmp(direction, "parent") == 0)
		*event = parent_of(p);
	else if (strcmp(direction, "child") == 0)
		*event = first_child_of(p, &count, &busy);
	else if (strcmp(direction, "same_name_next") == 0)
		*event = same_name(p, true);
	else if (strcmp(direction, "same_name_previous") == 0)
		*event = same_name(p, false);
	else
		return tfp_fail(err, TFP_BAD_QUERY,
				"parameter direction: next, previous, parent, child, "
				"same_name_next or same_name_previous");
	return TFP_OK;
}

enum tfp_status tfp_trace_neighbour_json(const struct tfp_session *session,
					 const struct tfp_query *query, struct tfp_buf *json,
					 struct tfp_error *err)
{
	struct tfp_trace trace;
	struct place p, other;
	struct tfp_json j;
	uint32_t event = TFP_NO_EVENT;
	tfp_json_init(&j, json);
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = find(&trace, query, &p, err);
	if (status == TFP_OK)
		status = neighbour_of(&p, tfp_query_get(query, "direction"), &event, err);
	if (status == TFP_OK) {
		if (event == TFP_NO_EVENT || !place_of(&p.t, event, &other))
			tfp_json_add_null(&j);
		else
			status = put_event(&j, &trace, &other, err);
	}
	tfp_trace_release(&trace);
	return status == TFP_OK ? tfp_json_finish(&j, err) : status;
}
