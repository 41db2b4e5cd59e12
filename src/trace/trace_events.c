/* SPDX-License-Identifier: Apache-2.0 */
/* /trace_viewer/events: the events of a stretch of time as a list. */
#include "base/alloc.h"
#include "trace/trace_hits.h"

#include <stdlib.h>

#define LIMIT     200u
#define LIMIT_MAX 2000u

struct listing {
	struct tfp_trace_track *tracks;
	size_t count;
	struct tfp_hit_track *hits; /* beside tracks: what begins in the range */
	struct tfp_hit_masks masks;
	/* Events that began before it and reach into it. */
	struct tfp_hit *before;
	size_t before_count, before_room;
	int64_t from_ps, to_ps;
	uint64_t offset, limit;
};

static bool add_before(struct listing *l, struct tfp_hit hit)
{
	if (!TFP_GROW(l->before, l->before_count, l->before_room))
		return false;
	l->before[l->before_count++] = hit;
	return true;
}

/* One of each lane at most. */
static bool look_before(struct listing *l, uint32_t index)
{
	const struct tfp_trace_track *t = &l->tracks[index];
	const struct tfp_timeline_track *timeline = t->timeline;
	bool ok = true;
	for (uint32_t lane = 0; ok && lane < timeline->lane_count; lane++) {
		uint32_t place = tfp_lane_find(timeline, lane, l->from_ps - t->shift_ps);
		if (place == 0 || (timeline->overflows && lane + 1 == timeline->lane_count))
			continue;
		uint32_t event = tfp_lane_event(timeline, lane, place - 1);
		int64_t start = tfp_trace_start_ps(t, event);
		if (start + tfp_event_duration_ps(t->track->line, event) > l->from_ps)
			ok = add_before(l, (struct tfp_hit){start, index, event});
	}
	return ok;
}

static int by_start(const void *a, const void *b)
{
	const struct tfp_hit *x = a, *y = b;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static bool prepare(struct listing *l)
{
	bool ok = (l->hits = tfp_calloc(l->count, sizeof(*l->hits))) != NULL;
	for (size_t i = 0; ok && i < l->count; i++) {
		const struct tfp_trace_track *t = &l->tracks[i];
		const struct tfp_plane *plane = t->track->plane;
		bool is_new;
		uint8_t *shown = tfp_hit_masks_get(&l->masks, plane, &is_new);
		for (size_t m = 0; shown && is_new && m < plane->event_meta_count; m++)
			shown[m] = !tfp_event_name_is_internal(plane->event_metas[m].name);
		l->hits[i] = (struct tfp_hit_track){
			.track = *t,
			.from = tfp_hits_find(t, l->from_ps),
			.to = tfp_hits_find(t, l->to_ps),
			.by_meta = shown,
		};
		/* A counter's value has no length. */
		ok = shown && (t->track->kind == TFP_TRACK_COUNTER || look_before(l, (uint32_t)i));
	}
	if (ok && l->before_count)
		qsort(l->before, l->before_count, sizeof(*l->before), by_start);
	return ok;
}

static enum tfp_status put_rows(struct listing *l, struct tfp_pool *pool, struct tfp_buf *out,
				struct tfp_error *err)
{
	uint64_t total = tfp_hits_count(l->hits, l->count, pool) + l->before_count;
	struct tfp_hit *page = tfp_reallocarray(NULL, l->limit, sizeof(*page));
	size_t n = 0, more;
	if (!page)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of events");
	for (uint64_t i = l->offset; i < l->before_count && n < l->limit; i++)
		page[n++] = l->before[i];
	uint64_t offset = l->offset > l->before_count ? l->offset - l->before_count : 0;
	enum tfp_status status = tfp_hits_page(l->hits, l->count, offset, (size_t)l->limit - n,
					       pool, page + n, &more, err);
	if (status == TFP_OK) {
		struct tfp_json j;
		tfp_json_init(&j, out);
		tfp_json_begin_object(&j);
		tfp_json_set_count(&j, "total", total);
		tfp_json_begin_array_of(&j, "rows");
		for (size_t i = 0; i < n + more; i++)
			tfp_hits_put(&j, &l->tracks[page[i].track], page[i].event);
		tfp_json_end_array(&j);
		tfp_json_end_object(&j);
		status = tfp_json_finish(&j, err);
	}
	tfp_free(page);
	return status;
}

enum tfp_status tfp_trace_events_json(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_buf *json,
				      struct tfp_error *err)
{
	struct tfp_trace trace;
	struct listing l = {0};
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "offset", 0, &l.offset, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "limit", LIMIT, &l.limit, err);
	if (status == TFP_OK && l.limit > LIMIT_MAX)
		status = tfp_fail(err, TFP_BAD_QUERY, "parameter limit: at most %u", LIMIT_MAX);
	if (status == TFP_OK)
		status = tfp_trace_range(&trace, query, &l.from_ps, &l.to_ps, err);
	if (status == TFP_OK)
		status = tfp_trace_tracks(&trace, query, SIZE_MAX, &l.tracks, &l.count, err);
	if (status == TFP_OK && !prepare(&l))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of events");
	if (status == TFP_OK)
		status = put_rows(&l, session->pool, json, err);
	tfp_hit_masks_release(&l.masks);
	tfp_free(l.before);
	tfp_free(l.hits);
	tfp_free(l.tracks);
	tfp_trace_release(&trace);
	return status;
}
