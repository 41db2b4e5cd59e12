/* /trace_viewer/event and /trace_viewer/neighbour: everything that is known of one event. */
#include "analysis/flows.h"
#include "analysis/gpu_events.h"
#include "analysis/op_name.h"
#include "tools/trace.h"

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

static void put_text(struct tfp_buf *out, struct tfp_str text)
{
	bool cut = text.size > TEXT_MAX;
	tfp_json_text(out, text.data, cut ? TEXT_MAX : text.size);
	if (cut)
		tfp_buf_printf(out, ",\"cut\":%zu", text.size);
}

static void put_value(struct tfp_buf *out, const struct tfp_plane *plane,
		      const struct tfp_stat *stat)
{
	struct tfp_str text;
	switch (stat->kind) {
	case TFP_STAT_DOUBLE:
		if (isfinite(stat->double_value))
			tfp_json_number(out, stat->double_value);
		else
			tfp_buf_puts(out, isnan(stat->double_value)  ? "\"NaN\""
					  : stat->double_value > 0.0 ? "\"Infinity\""
								     : "\"-Infinity\"");
		break;
	case TFP_STAT_INT:
		tfp_buf_printf(out,
			       stat->int_value > EXACT_MAX || stat->int_value < -EXACT_MAX
				       ? "\"%" PRId64 "\""
				       : "%" PRId64,
			       stat->int_value);
		break;
	case TFP_STAT_UINT:
		tfp_buf_printf(out, stat->uint_value > EXACT_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64,
			       stat->uint_value);
		break;
	case TFP_STAT_STR:
	case TFP_STAT_REF:
		tfp_stat_text(plane, stat, &text);
		put_text(out, text);
		break;
	case TFP_STAT_BYTES:
		tfp_buf_printf(out, "null,\"bytes\":%zu", stat->text.size);
		break;
	default:
		tfp_buf_puts(out, "null");
	}
}

static void put_stats(struct tfp_buf *out, const struct tfp_plane *plane, struct tfp_stat_iter it,
		      bool *first)
{
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		struct tfp_str name = plane->stat_metas[index].name;
		/* Flows are shown as what they lead to. */
		if (stat.kind == TFP_STAT_NONE || tfp_stat_name_is_internal(name) ||
		    tfp_stat_is_unset(plane, name) || tfp_str_equal(name, "flow"))
			continue;
		tfp_buf_puts(out, *first ? "{\"name\":" : ",{\"name\":");
		*first = false;
		tfp_json_text(out, name.data, name.size);
		tfp_buf_puts(out, ",\"value\":");
		put_value(out, plane, &stat);
		tfp_buf_putc(out, '}');
	}
}

/* ---- neighbours ---- */

static void put_event_or_null(struct tfp_buf *out, const char *name, const struct place *p,
			      uint32_t event)
{
	tfp_buf_printf(out, ",\"%s\":", name);
	if (event == TFP_NO_EVENT)
		tfp_buf_puts(out, "null");
	else
		tfp_trace_put_event_id(out, &p->t, event);
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

static void put_flow(struct tfp_buf *out, const struct place *p, const struct tfp_flow_end *other,
		     bool incoming, size_t *count)
{
	struct tfp_trace_track t;
	struct place at;
	if (!find_track(p->t.host, other, &t) || !place_of(&t, other->event, &at) ||
	    ++*count > FLOWS_MAX)
		return;
	const char *category = tfp_flow_category_name(other->category);
	struct tfp_str name = tfp_trace_event_name(&t, other->event);
	tfp_buf_printf(out, "%s{\"direction\":\"%s\",\"category\":", *count > 1 ? "," : "",
		       incoming ? "in" : "out");
	tfp_json_text(out, category, strlen(category));
	tfp_buf_puts(out, ",\"id\":");
	tfp_trace_put_event_id(out, &t, other->event);
	tfp_buf_puts(out, ",\"name\":");
	tfp_json_text(out, name.data, name.size);
	tfp_buf_puts(out, ",\"track\":");
	tfp_trace_put_track_id(out, &t);
	tfp_buf_printf(
		out, ",\"start_ps\":%" PRId64 ",\"duration_ps\":%" PRId64 ",\"depth\":%" PRIu32 "}",
		tfp_trace_start_ps(&t, other->event),
		tfp_event_duration_ps(t.track->line, other->event), at.lane);
}

static enum tfp_status put_flows(struct tfp_buf *out, const struct tfp_trace *trace,
				 const struct place *p, struct tfp_error *err)
{
	struct tfp_flows *flows = NULL;
	const struct tfp_track *track = p->t.track;
	size_t end_count, written = 0;
	tfp_buf_puts(out, ",\"flows\":[");
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
				put_flow(out, p, other, !after, &written);
		}
	}
	tfp_buf_printf(out, "],\"flows_total\":%zu", written);
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
static bool put_kernel_details(struct tfp_buf *out, const struct tfp_trace_track *t, uint32_t event,
			       bool *first)
{
	const struct tfp_plane *plane = t->track->plane;
	struct tfp_stat_iter it = tfp_event_stats(t->track->line, event);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		uint32_t index = tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id);
		struct tfp_str name = plane->stat_metas[index].name;
		if (!tfp_str_equal(name, "kernel_details") || tfp_stat_is_unset(plane, name))
			continue;
		tfp_buf_printf(out, "%s{\"name\":\"kernel_details\",\"value\":", *first ? "" : ",");
		*first = false;
		put_value(out, plane, &stat);
		tfp_buf_putc(out, '}');
		return true;
	}
	return false;
}

/* The details of what the event launched, in place of its own, which nobody wrote. */
static void put_launched(struct tfp_buf *out, const struct tfp_flows *flows, const struct place *p,
			 bool *first)
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
			    put_kernel_details(out, &t, other->event, first))
				return;
		}
	}
}

static enum tfp_status put_args(struct tfp_buf *out, const struct tfp_trace *trace,
				const struct place *p, struct tfp_error *err)
{
	const struct tfp_plane *plane = p->t.track->plane;
	const struct tfp_line *line = p->t.track->line;
	bool first = true;
	tfp_buf_puts(out, ",\"args\":[");
	put_stats(out, plane, tfp_event_meta_stats(tfp_event_meta(plane, line, p->event)), &first);
	put_stats(out, plane, tfp_event_stats(line, p->event), &first);
	if (has_unset(p)) {
		const struct tfp_flows *flows;
		enum tfp_status status =
			tfp_flows_get(p->t.host->capture, trace->pool, &flows, err);
		if (status != TFP_OK)
			return status;
		put_launched(out, flows, p, &first);
	}
	tfp_buf_putc(out, ']');
	return TFP_OK;
}

/* ---- steps, kernels, ops ---- */

static void put_step(struct tfp_buf *out, const struct place *p)
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
		tfp_buf_puts(out, ",\"step\":null");
		return;
	}
	struct tfp_str name = groups->groups[group].name;
	tfp_buf_printf(out, ",\"step\":%" PRId64 ",\"step_name\":", group);
	tfp_json_text(out, name.data, name.size);
}

static void put_pair(struct tfp_buf *out, const char *key, struct tfp_str value)
{
	tfp_buf_printf(out, ",\"%s\":", key);
	tfp_json_text(out, value.data, value.size);
}

/* What the event is called on the pages of kernels and ops. */
static enum tfp_status put_links(struct tfp_buf *out, const struct tfp_trace *trace,
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
			put_pair(out, "kernel", event.name);
		op = tfp_op_name_parse(tfp_gpu_event_op(&event));
		tfp_gpu_reader_release(&reader);
	}
	if (op.name.size && op.category != TFP_OP_UNKNOWN)
		put_pair(out, "op", op.name);
	return TFP_OK;
}

/* ---- the event ---- */

static enum tfp_status put_event(struct tfp_buf *out, const struct tfp_trace *trace,
				 const struct place *p, struct tfp_error *err)
{
	const struct tfp_track *track = p->t.track;
	const struct tfp_process *process = &p->t.host->tracks->processes[track->process];
	const struct tfp_event_meta *meta = tfp_event_meta(track->plane, track->line, p->event);
	int64_t duration = tfp_event_duration_ps(track->line, p->event), busy;
	uint32_t children, child = first_child_of(p, &children, &busy);
	struct tfp_str name = tfp_trace_event_name(&p->t, p->event);
	tfp_buf_puts(out, "{\"id\":");
	tfp_trace_put_event_id(out, &p->t, p->event);
	put_pair(out, "name", name);
	if (meta->display_name.size) {
		tfp_buf_puts(out, ",\"long_name\":");
		tfp_json_text(out, meta->name.data,
			      meta->name.size < TEXT_MAX ? meta->name.size : TEXT_MAX);
	}
	tfp_buf_puts(out, ",\"track\":");
	tfp_trace_put_track_id(out, &p->t);
	put_pair(out, "track_name", track->name);
	put_pair(out, "process", process->name);
	put_pair(out, "host", (struct tfp_str){p->t.host->name, strlen(p->t.host->name)});
	tfp_buf_printf(
		out,
		",\"start_ps\":%" PRId64 ",\"duration_ps\":%" PRId64 ",\"self_ps\":%" PRId64
		",\"depth\":%" PRIu32 ",\"category\":%d",
		tfp_trace_start_ps(&p->t, p->event), duration, duration - busy, p->lane,
		(int)tfp_event_category(p->t.host->categories, p->t.index, track->line, p->event));
	put_step(out, p);
	enum tfp_status status = put_args(out, trace, p, err);
	put_event_or_null(out, "parent", p, parent_of(p));
	tfp_buf_printf(out, ",\"children\":%" PRIu32, children);
	put_event_or_null(out, "first_child", p, child);
	put_event_or_null(out, "previous", p, beside(p, -1));
	put_event_or_null(out, "next", p, beside(p, 1));
	if (status == TFP_OK)
		status = put_flows(out, trace, p, err);
	if (status == TFP_OK)
		status = put_links(out, trace, p, err);
	tfp_buf_putc(out, '}');
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
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = find(&trace, query, &p, err);
	if (status == TFP_OK)
		status = put_event(json, &trace, &p, err);
	tfp_trace_release(&trace);
	return status;
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
	uint32_t event = TFP_NO_EVENT;
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = find(&trace, query, &p, err);
	if (status == TFP_OK)
		status = neighbour_of(&p, tfp_query_get(query, "direction"), &event, err);
	if (status == TFP_OK) {
		if (event == TFP_NO_EVENT || !place_of(&p.t, event, &other))
			tfp_buf_puts(json, "null");
		else
			status = put_event(json, &trace, &other, err);
	}
	tfp_trace_release(&trace);
	return status;
}
