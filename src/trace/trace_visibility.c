/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_visibility.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

/* What is shown of a row so far. */
struct row {
	int64_t *ends; /* of the last one shown, by depth */
	size_t depth, room;
	int64_t last_flow_ps, last_async_ps;
	bool has_flow, has_async;
};

enum flow_state { FLOW_UNKNOWN, FLOW_SHOWN, FLOW_HIDDEN, FLOW_OVER };

struct flow {
	uint64_t id;
	enum flow_state state;
};

struct tfp_visibility {
	const struct tfp_tracks *tracks;
	const struct tfp_trace_range *ranges; /* by track, or NULL */
	uint64_t slot_ps;
	struct row *rows; /* by track */
	size_t *next;     /* by track: the event that comes next */
	uint32_t *heap;   /* of tracks, by their next event */
	uint32_t heap_count;
	struct flow *flows; /* a hash table; room is a power of two */
	size_t flow_count, flow_room;
	bool failed;
};

/* ---- in the order of time ---- */

static size_t end_of(const struct tfp_visibility *v, uint32_t track)
{
	return v->ranges ? v->ranges[track].to : v->tracks->tracks[track].line->event_count;
}

static bool track_before(const struct tfp_visibility *v, uint32_t a, uint32_t b)
{
	const struct tfp_line *x = v->tracks->tracks[a].line, *y = v->tracks->tracks[b].line;
	int64_t p = tfp_event_start_ps(x, v->next[a]), q = tfp_event_start_ps(y, v->next[b]);
	if (p != q)
		return p < q;
	p = tfp_event_duration_ps(x, v->next[a]);
	q = tfp_event_duration_ps(y, v->next[b]);
	return p != q ? p > q : a < b;
}

static void sink_down(struct tfp_visibility *v, uint32_t at)
{
	for (;;) {
		uint32_t least = at;
		for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < v->heap_count;
		     child++) {
			if (track_before(v, v->heap[child], v->heap[least]))
				least = child;
		}
		if (least == at)
			return;
		uint32_t track = v->heap[at];
		v->heap[at] = v->heap[least];
		v->heap[least] = track;
		at = least;
	}
}

bool tfp_visibility_next(struct tfp_visibility *v, uint32_t *track, size_t *event)
{
	if (v->heap_count == 0 || v->failed)
		return false;
	*track = v->heap[0];
	*event = v->next[*track]++;
	if (v->next[*track] == end_of(v, *track))
		v->heap[0] = v->heap[--v->heap_count];
	sink_down(v, 0);
	return true;
}

enum tfp_status tfp_visibility_new(struct tfp_visibility **out, const struct tfp_tracks *tracks,
				   const struct tfp_trace_range *ranges, uint64_t slot_ps,
				   struct tfp_error *err)
{
	struct tfp_visibility *v = tfp_calloc(1, sizeof(*v));
	*out = v;
	if (v) {
		v->tracks = tracks;
		v->ranges = ranges;
		v->slot_ps = slot_ps;
		v->rows = tfp_calloc(tracks->track_count, sizeof(*v->rows));
		v->next = tfp_calloc(tracks->track_count, sizeof(*v->next));
		v->heap = tfp_calloc(tracks->track_count, sizeof(*v->heap));
	}
	if (!v || !v->rows || !v->next || !v->heap) {
		tfp_visibility_free(v);
		*out = NULL;
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	}
	for (uint32_t t = 0; t < tracks->track_count; t++) {
		const struct tfp_track *track = &tracks->tracks[t];
		v->next[t] = ranges ? ranges[t].from : 0;
		if (track->kind != TFP_TRACK_COUNTER && v->next[t] < end_of(v, t))
			v->heap[v->heap_count++] = t;
	}
	for (uint32_t i = v->heap_count / 2; i-- > 0;)
		sink_down(v, i);
	return TFP_OK;
}

void tfp_visibility_free(struct tfp_visibility *v)
{
	if (!v)
		return;
	for (uint32_t t = 0; v->rows && t < v->tracks->track_count; t++)
		tfp_free(v->rows[t].ends);
	tfp_free(v->rows);
	tfp_free(v->next);
	tfp_free(v->heap);
	tfp_free(v->flows);
	tfp_free(v);
}

bool tfp_visibility_failed(const struct tfp_visibility *v)
{
	return v->failed;
}

/* ---- what is shown ---- */

static struct flow *place_of(struct flow *flows, size_t room, uint64_t id)
{
	size_t at = tfp_hash_u64(id) & (room - 1);
	while (flows[at].state != FLOW_UNKNOWN && flows[at].id != id)
		at = (at + 1) & (room - 1);
	return &flows[at];
}

static struct flow *find_flow(struct tfp_visibility *v, uint64_t id)
{
	if (v->flow_count * 2 >= v->flow_room) {
		size_t room = v->flow_room ? v->flow_room * 2 : 1024;
		struct flow *flows = tfp_calloc(room, sizeof(*flows));
		if (!flows) {
			v->failed = true;
			return NULL;
		}
		for (size_t i = 0; i < v->flow_room; i++) {
			if (v->flows[i].state != FLOW_UNKNOWN)
				*place_of(flows, room, v->flows[i].id) = v->flows[i];
		}
		tfp_free(v->flows);
		v->flows = flows;
		v->flow_room = room;
	}
	struct flow *flow = place_of(v->flows, v->flow_room, id);
	if (flow->state == FLOW_UNKNOWN) {
		*flow = (struct flow){id, FLOW_OVER};
		v->flow_count++;
	}
	return flow;
}

static bool is_apart(const struct tfp_visibility *v, int64_t at_ps, int64_t last_ps)
{
	return (uint64_t)at_ps - (uint64_t)last_ps >= v->slot_ps;
}

static bool shows_flow(struct tfp_visibility *v, struct row *row,
		       const struct tfp_trace_event *event, int64_t end_ps, bool visible)
{
	struct flow *flow = find_flow(v, event->flow_id);
	if (!flow)
		return visible;
	bool first = flow->state == FLOW_OVER;
	if (first)
		flow->state = visible ? FLOW_SHOWN : FLOW_HIDDEN;
	if (!visible) {
		if (first && (!row->has_flow || is_apart(v, end_ps, row->last_flow_ps)))
			flow->state = FLOW_SHOWN;
		visible = flow->state == FLOW_SHOWN;
	}
	if (event->direction == TFP_FLOW_IN)
		flow->state = FLOW_OVER;
	if (visible) {
		row->has_flow = true;
		row->last_flow_ps = end_ps;
	}
	return visible;
}

static void push_end(struct tfp_visibility *v, struct row *row, size_t depth, int64_t end_ps)
{
	if (!TFP_GROW(row->ends, depth, row->room)) {
		v->failed = true;
		return;
	}
	row->ends[depth] = end_ps;
	row->depth = depth + 1;
}

bool tfp_visibility_shows(struct tfp_visibility *v, uint32_t track,
			  const struct tfp_trace_event *event, bool is_async)
{
	struct row *row = &v->rows[track];
	int64_t start_ps = event->start_ps, end_ps;
	if (is_async) {
		bool visible = !row->has_async || is_apart(v, start_ps, row->last_async_ps);
		if (visible) {
			row->has_async = true;
			row->last_async_ps = start_ps;
		}
		return visible;
	}
	if (__builtin_add_overflow(start_ps, event->duration_ps, &end_ps))
		end_ps = INT64_MAX;
	size_t depth = 0;
	while (depth < row->depth && row->ends[depth] > start_ps)
		depth++;
	bool visible = (uint64_t)event->duration_ps >= v->slot_ps || depth >= row->depth ||
		       is_apart(v, start_ps, row->ends[depth]);
	if (event->has_flow)
		visible = shows_flow(v, row, event, end_ps, visible);
	if (visible)
		push_end(v, row, depth, end_ps);
	return visible;
}
