/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/grouping_tpu.h"

#include "analysis/events/schema.h"
#include "analysis/events/time_span.h"
#include "base/alloc.h"

static bool is_steps(struct tfp_str name)
{
	return tfp_str_equal(name, "Steps") || tfp_str_equal(name, "Sparse Core Steps");
}

static bool is_modules(struct tfp_str name)
{
	return tfp_str_equal(name, "XLA Modules") || tfp_str_equal(name, "Sparse Core Modules");
}

size_t tfp_tpu_grouping_line(const struct tfp_plane *plane)
{
	enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
	size_t steps = SIZE_MAX, modules = SIZE_MAX;
	if (kind != TFP_PLANE_TPU && kind != TFP_PLANE_SPARSE_CORE)
		return SIZE_MAX;
	for (size_t l = 0; l < plane->line_count; l++) {
		if (is_steps(plane->lines[l].name))
			steps = l;
		else if (is_modules(plane->lines[l].name))
			modules = l;
	}
	if (steps != SIZE_MAX && plane->lines[steps].event_count)
		return steps;
	return modules != SIZE_MAX && plane->lines[modules].event_count ? modules : SIZE_MAX;
}

int64_t tfp_tpu_ordinal(struct tfp_str name)
{
	size_t i = sizeof(TFP_TPU_PREFIX) - 1;
	int64_t number = 0;
	if (!tfp_str_starts(name, TFP_TPU_PREFIX) || i == name.size)
		return -1;
	for (; i < name.size && name.data[i] >= '0' && name.data[i] <= '9'; i++) {
		if (number > INT32_MAX)
			return -1;
		number = number * 10 + (name.data[i] - '0');
	}
	return number;
}

struct stretch {
	struct tfp_time_span span;
	int32_t group;
};

/* Events of the grouping line. Consecutive steps of one group are one, which spans
 * what is between them; steps without a group are none. */
static size_t list_stretches(const struct tfp_line *line, struct tfp_line_groups *g, bool steps,
			     struct stretch *list)
{
	size_t n = 0;
	bool joins = false;
	for (size_t i = 0; i < line->event_count; i++) {
		struct stretch s = {tfp_event_span(line, i), tfp_group_in(&g->group, i)};
		if (steps && s.group == TFP_NO_GROUP) {
			joins = false;
		} else if (joins && list[n - 1].group == s.group) {
			list[n - 1].span.end_ps = s.span.end_ps;
		} else {
			list[n++] = s;
			joins = steps;
			if (steps)
				g->named[g->named_count++] = (uint32_t)i;
		}
	}
	return n;
}

static bool overlaps(struct tfp_time_span a, struct tfp_time_span b)
{
	return a.begin_ps <= b.end_ps && b.begin_ps <= a.end_ps;
}

/* An event stays with the stretch of the one before it as long as it touches that, else
 * takes the next that it touches. */
static bool group_line(const struct tfp_line *line, struct tfp_group_column *groups,
		       const struct stretch *list, size_t count)
{
	struct tfp_group_writer w;
	size_t at = 0;
	bool has_current = false, ok = tfp_group_writer_init(&w, groups, line->event_count);
	for (size_t i = 0; ok && i < line->event_count; i++) {
		struct tfp_time_span span = tfp_event_span(line, i);
		if (!has_current || !overlaps(list[at].span, span)) {
			size_t next = has_current ? at + 1 : at;
			while (next < count && list[next].span.end_ps < span.begin_ps)
				next++;
			if (next == count || list[next].span.begin_ps > span.end_ps) {
				ok = tfp_group_writer_add(&w, TFP_NO_GROUP);
				continue;
			}
			at = next;
			has_current = true;
		}
		ok = tfp_group_writer_add(&w, list[at].group);
	}
	return ok && tfp_group_writer_finish(&w);
}

bool tfp_group_tpu_lines(const struct tfp_plane *plane, struct tfp_line_groups *lines)
{
	size_t grouping = tfp_tpu_grouping_line(plane);
	if (grouping == SIZE_MAX)
		return true;
	const struct tfp_line *line = &plane->lines[grouping];
	struct tfp_line_groups *g = &lines[grouping];
	bool steps = is_steps(line->name);
	struct stretch *list = tfp_reallocarray(NULL, line->event_count, sizeof(*list));
	if (steps && !g->named)
		g->named = tfp_reallocarray(NULL, line->event_count, sizeof(*g->named));
	bool ok = list && (!steps || g->named);
	if (ok) {
		g->named_count = 0;
		size_t count = list_stretches(line, g, steps, list);
		for (size_t l = 0; ok && l < plane->line_count; l++) {
			if (l != grouping && plane->lines[l].event_count)
				ok = group_line(&plane->lines[l], &lines[l].group, list, count);
		}
	}
	tfp_free(list);
	return ok;
}
