/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_events.h"

#include "base/alloc.h"
#include "store/capture.h"

#include <stdlib.h>

bool tfp_step_markers_add(struct tfp_step_markers *markers, struct tfp_step_marker marker)
{
	if (!TFP_GROW(markers->list, markers->count, markers->room))
		return false;
	markers->list[markers->count++] = marker;
	return true;
}

bool tfp_step_runs_add(struct tfp_line_steps *l, uint32_t group, uint32_t event)
{
	struct tfp_step_run *run = l->run_count ? &l->runs[l->run_count - 1] : NULL;
	if (run && run->group == group) {
		run->last = event;
		run->count++;
		return true;
	}
	if (!TFP_GROW(l->runs, l->run_count, l->run_room))
		return false;
	l->runs[l->run_count++] = (struct tfp_step_run){group, event, event, 1};
	return true;
}

static int by_group(const void *a, const void *b)
{
	const struct tfp_step_run *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

void tfp_step_runs_finish(struct tfp_line_steps *l)
{
	bool sorted = true;
	for (size_t i = 1; sorted && i < l->run_count; i++)
		sorted = l->runs[i - 1].group <= l->runs[i].group;
	if (!sorted)
		qsort(l->runs, l->run_count, sizeof(*l->runs), by_group);
	/* Gives back what they do not need. */
	struct tfp_step_run *runs =
		l->run_count ? tfp_reallocarray(l->runs, l->run_count, sizeof(*runs)) : NULL;
	if (runs) {
		l->runs = runs;
		l->run_room = l->run_count;
	}
}

/* Whether a span that begins no earlier than another one of its type and group begins in it.
 * One that only touches it does not: between the two another type has its turn, if only for no
 * time, and that decides whether a step is one (tfp_step_sweep). */
static bool joins(const struct tfp_step_span *old, const struct tfp_step_span *s)
{
	return s->begin_ps < old->end_ps;
}

/* Whether the span became part of the last one of its type. */
static bool was_joined(struct tfp_step_span *spans, const struct tfp_step_last *last,
		       const struct tfp_step_span *s)
{
	struct tfp_step_span *old =
		last->by_type[s->type] ? &spans[last->by_type[s->type] - 1] : NULL;
	if (!old || old->group != s->group || !joins(old, s))
		return false;
	if (old->end_ps < s->end_ps)
		old->end_ps = s->end_ps;
	return true;
}

bool tfp_step_spans_add(struct tfp_line_steps *line, struct tfp_step_last *last,
			struct tfp_step_span span)
{
	if (was_joined(line->spans, last, &span))
		return true;
	if (!TFP_GROW(line->spans, line->span_count, line->span_room))
		return false;
	line->span_count = tfp_step_spans_put(line->spans, line->span_count, last, span);
	return true;
}

size_t tfp_step_spans_put(struct tfp_step_span *spans, size_t count, struct tfp_step_last *last,
			  struct tfp_step_span span)
{
	if (was_joined(spans, last, &span))
		return count;
	spans[count++] = span;
	if (count <= UINT32_MAX)
		last->by_type[span.type] = (uint32_t)count;
	return count;
}

bool tfp_step_is_correlated(const struct tfp_line_stats *stats, const struct tfp_plane *plane,
			    const struct tfp_line *line, size_t event)
{
	if (!tfp_event_set_has(&stats->odd, event))
		return tfp_event_set_has(&stats->correlated, event);
	const int64_t id = tfp_plane_stat_id(plane, "correlation_id");
	const bool host = tfp_plane_kind(plane->name) == TFP_PLANE_HOST;
	struct tfp_stat_iter it = tfp_event_stats(line, event);
	struct tfp_stat stat;
	bool correlated = false;
	while (tfp_stat_next(&it, &stat)) {
		int64_t number;
		if (stat.metadata_id != id)
			continue;
		bool is_number = tfp_stat_int(&stat, &number);
		if (is_number || !host)
			correlated = is_number && (number >= 0 || stat.kind == TFP_STAT_UINT);
	}
	return correlated;
}

void tfp_plane_steps_release(struct tfp_plane_steps *steps)
{
	size_t lines = steps->capture ? steps->capture->planes[steps->plane].line_count : 0;
	for (size_t l = 0; l < lines; l++) {
		if (steps->filled)
			tfp_group_column_release(&steps->filled[l]);
		if (!steps->lines)
			continue;
		tfp_free(steps->lines[l].runs);
		tfp_free(steps->lines[l].root_stages);
		tfp_free(steps->lines[l].types_by_kind);
		tfp_free(steps->lines[l].spans);
		tfp_free(steps->lines[l].markers.list);
		tfp_free(steps->lines[l].copies);
	}
	tfp_free(steps->filled);
	tfp_free(steps->group);
	tfp_free(steps->names);
	tfp_free(steps->types);
	tfp_free(steps->lines);
	tfp_free(steps->markers.list);
	*steps = (struct tfp_plane_steps){0};
}
