/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/capture_brief.h"

#include "analysis/hlo/hlo_modules.h"
#include "base/alloc.h"

struct tfp_plane_span tfp_plane_span(const struct tfp_plane *plane)
{
	struct tfp_plane_span span = {0};
	for (size_t i = 0; i < plane->line_count; i++) {
		const struct tfp_line *line = &plane->lines[i];
		if (line->event_count == 0 || line->event_count == line->aggregated)
			continue;
		int64_t from = tfp_event_start_ps(line, 0), length = 0, to;
		for (size_t j = 0; j < line->event_count; j++) {
			int64_t end;
			if (__builtin_add_overflow(tfp_event_offset_ps(line, j),
						   tfp_event_duration_ps(line, j), &end))
				end = INT64_MAX;
			if (j == 0 || end > length)
				length = end;
		}
		if (__builtin_sub_overflow(length, tfp_event_offset_ps(line, 0), &length) ||
		    __builtin_add_overflow(from, length, &to))
			to = INT64_MAX;
		if (!span.any || from < span.from_ps)
			span.from_ps = from;
		if (!span.any || to > span.to_ps)
			span.to_ps = to;
		span.any = true;
	}
	return span;
}

double tfp_plane_span_ms(struct tfp_plane_span span)
{
	return span.any ? ((double)span.to_ps - (double)span.from_ps) / 1e9 : 0;
}

static double duration_ms(const struct tfp_capture *capture)
{
	double longest = 0;
	for (size_t i = 0; i < capture->plane_count; i++) {
		double ms = tfp_plane_span_ms(tfp_plane_span(&capture->planes[i]));
		if (ms > longest)
			longest = ms;
	}
	return longest;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_hlo_modules *modules;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status != TFP_OK)
		return status;
	struct tfp_capture_start start;
	status = tfp_capture_start(capture, &start, err);
	if (status != TFP_OK)
		return status;
	struct tfp_capture_brief *brief = tfp_malloc(sizeof(*brief));
	if (!brief)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a capture's description");
	*brief = (struct tfp_capture_brief){
		.planes = capture->plane_count,
		.lines = capture->line_count,
		.events = capture->event_count,
		.broken_modules = modules->broken,
		.duration_ms = duration_ms(capture),
		.start = start,
		.diagnostics = capture->diagnostics,
		.diagnostic_count = capture->diagnostic_count,
	};
	*heap_bytes = sizeof(*brief);
	*fact = brief;
	return TFP_OK;
}

enum tfp_status tfp_capture_brief_get(struct tfp_capture *capture, struct tfp_pool *pool,
				      const struct tfp_capture_brief **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, tfp_free};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
