/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/utilization.h"

#include "analysis/events/op_name.h"
#include "analysis/events/schema.h"
#include "analysis/events/time_span.h"
#include "analysis/summary/capture_brief.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <string.h>

enum { CATEGORY, WANTED };

static const char *const names[WANTED] = {
	[CATEGORY] = "hlo_category",
};

/* While such an op runs the core waits. */
static bool is_off_duty(struct tfp_str category)
{
	static const char *const texts[] = {"infeed",         "outfeed",        "host send",
					    "host send-done", "host recv",      "host recv-done",
					    "async-done",     "megacore fusion"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (tfp_str_equal(category, texts[i]))
			return true;
	}
	return false;
}

static bool *off_duty_metas(const struct tfp_plane *plane, const struct tfp_schema *schema)
{
	bool *off = tfp_calloc(plane->event_meta_count, sizeof(*off));
	for (size_t m = 0; off && m < plane->event_meta_count; m++) {
		struct tfp_stat_iter it = tfp_event_meta_stats(&plane->event_metas[m]);
		struct tfp_str category = {"", 0};
		struct tfp_stat stat;
		while (tfp_stat_next(&it, &stat)) {
			if (tfp_schema_of(schema, &stat) == CATEGORY)
				tfp_stat_text(plane, &stat, &category);
		}
		off[m] = is_off_duty(category);
	}
	return off;
}

/* The profiler's clock, not the device's: modules have no other. Ops of a line come in
 * order of their begins. */
static bool add_core(struct tfp_utilization *u, const struct tfp_plane *plane)
{
	struct tfp_schema schema;
	int64_t first = INT64_MAX, last = INT64_MIN, busy_until = INT64_MIN;
	uint64_t busy = 0;
	if (tfp_schema_init(&schema, plane, names, WANTED, NULL) != TFP_OK)
		return false;
	bool *off = off_duty_metas(plane, &schema);
	for (size_t l = 0; off && l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		bool ops = tfp_str_equal(line->name, "XLA Ops");
		if (!ops && !tfp_str_equal(line->name, "XLA Modules"))
			continue;
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			struct tfp_time_span e = tfp_event_span(line, i);
			first = e.begin_ps < first ? e.begin_ps : first;
			last = e.end_ps > last ? e.end_ps : last;
			if (!ops || off[tfp_event_meta_index(line, i)] || e.end_ps <= busy_until)
				continue;
			busy += (uint64_t)(e.end_ps -
					   (e.begin_ps > busy_until ? e.begin_ps : busy_until));
			busy_until = e.end_ps;
		}
	}
	if (last > first) {
		u->devices_active++;
		u->busy_ps += busy;
		u->idle_ps += (uint64_t)(last - first) > busy ? (uint64_t)(last - first) - busy : 0;
	}
	bool ok = off != NULL;
	tfp_free(off);
	tfp_schema_release(&schema);
	return ok;
}

/* ---- GPUs ---- */

/* The next event of a stream. */
struct cursor {
	const struct tfp_line *line;
	size_t next;
	struct tfp_time_span event;
};

/* Moves what lies at place down a heap of cursors whose first begins first. */
static void sift(struct cursor *heap, size_t count, size_t place)
{
	for (;;) {
		size_t least = place, child = 2 * place + 1;
		for (size_t c = child; c < count && c < child + 2; c++) {
			if (heap[c].event.begin_ps < heap[least].event.begin_ps)
				least = c;
		}
		if (least == place)
			return;
		struct cursor moved = heap[place];
		heap[place] = heap[least];
		heap[least] = moved;
		place = least;
	}
}

static bool advance(struct cursor *c)
{
	if (c->next >= c->line->event_count)
		return false;
	c->event = tfp_event_span(c->line, c->next++);
	return true;
}

/* Streams run at the same time: a moment counts once. */
static uint64_t union_of(struct cursor *heap, size_t count)
{
	uint64_t busy = 0;
	int64_t until = INT64_MIN;
	for (size_t i = count; i-- > 0;)
		sift(heap, count, i);
	for (size_t n = 0; count > 0 && tfp_goes_on(n); n++) {
		struct tfp_time_span e = heap[0].event;
		if (e.end_ps > until) {
			busy += (uint64_t)(e.end_ps - (e.begin_ps > until ? e.begin_ps : until));
			until = e.end_ps;
		}
		if (!advance(&heap[0]))
			heap[0] = heap[--count];
		sift(heap, count, 0);
	}
	return busy;
}

static bool add_gpu(struct tfp_utilization *u, const struct tfp_plane *plane, uint64_t captured_ps)
{
	struct cursor *heap = tfp_calloc(plane->line_count + 1, sizeof(*heap));
	size_t count = 0;
	if (!heap)
		return false;
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		heap[count] = (struct cursor){.line = line};
		if (!tfp_line_is_derived(line) && line->aggregated == 0 && advance(&heap[count]))
			count++;
	}
	if (count > 0) {
		uint64_t busy = union_of(heap, count);
		u->devices_active++;
		u->busy_ps += busy;
		u->idle_ps += captured_ps > busy ? captured_ps - busy : 0;
	}
	tfp_free(heap);
	return true;
}

static bool add_gpus(struct tfp_utilization *u, const struct tfp_capture *capture)
{
	uint64_t captured_ps = 0;
	bool any = false, ok = true;
	for (size_t p = 0; p < capture->plane_count; p++)
		any |= tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_GPU;
	for (size_t p = 0; any && p < capture->plane_count; p++) {
		struct tfp_plane_span span = tfp_plane_span(&capture->planes[p]);
		uint64_t length = (uint64_t)span.to_ps - (uint64_t)span.from_ps;
		if (span.any && span.to_ps > span.from_ps && length > captured_ps)
			captured_ps = length;
	}
	for (size_t p = 0; ok && p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_GPU)
			ok = add_gpu(u, &capture->planes[p], captured_ps);
	}
	return ok;
}

static void read_counters(struct tfp_utilization *u, const struct tfp_plane *host)
{
	struct tfp_stat_iter it = tfp_plane_stats(host);
	struct tfp_stat stat;
	int64_t matrix = tfp_plane_stat_id(host, "matrix_unit_utilization_percent");
	int64_t hbm = tfp_plane_stat_id(host, "hbm_utilization_percent");
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == matrix)
			tfp_stat_double(&stat, &u->matrix_unit_percent);
		else if (stat.metadata_id == hbm)
			tfp_stat_double(&stat, &u->hbm_percent);
	}
}

static bool read_enqueues(struct tfp_utilization *u, const struct tfp_plane *host)
{
	bool any = false;
	bool *enqueues = tfp_calloc(host->event_meta_count, sizeof(*enqueues));
	if (!enqueues)
		return false;
	for (size_t m = 0; m < host->event_meta_count; m++) {
		struct tfp_op_name op = tfp_op_name_parse(host->event_metas[m].name);
		enqueues[m] = op.category == TFP_OP_TENSORFLOW &&
			      tfp_str_starts(op.type, "InfeedEnqueue");
		any |= enqueues[m];
	}
	for (size_t l = 0; any && l < host->line_count; l++) {
		const struct tfp_line *line = &host->lines[l];
		size_t last = SIZE_MAX;
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			if (!enqueues[tfp_event_meta_index(line, i)] || tfp_line_is_derived(line))
				continue;
			if (last != SIZE_MAX) {
				u->enqueue_ps += (uint64_t)tfp_event_duration_ps(line, last);
				u->enqueue_window_ps += (uint64_t)(tfp_event_offset_ps(line, i) -
								   tfp_event_offset_ps(line, last));
			}
			last = i;
		}
	}
	tfp_free(enqueues);
	return true;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_plane *host = tfp_capture_find_plane(capture, "/host:CPU");
	struct tfp_utilization *u = tfp_calloc(1, sizeof(*u));
	bool ok = u != NULL;
	(void)pool;
	for (size_t p = 0; ok && p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU)
			ok = add_core(u, &capture->planes[p]);
	}
	ok = ok && add_gpus(u, capture);
	if (ok && host) {
		read_counters(u, host);
		ok = read_enqueues(u, host);
	}
	if (!ok) {
		tfp_free(u);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the utilization of devices");
	}
	*heap_bytes = sizeof(*u);
	*fact = u;
	return TFP_OK;
}

enum tfp_status tfp_utilization_get(struct tfp_capture *capture, struct tfp_pool *pool,
				    const struct tfp_utilization **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, tfp_free};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
