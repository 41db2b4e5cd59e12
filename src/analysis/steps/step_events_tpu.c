/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_events_tpu.h"

#include "analysis/events/schema.h"
#include "analysis/events/time_span.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <string.h>

enum { CATEGORY, DEVICE_OFFSET, DEVICE_DURATION, WANTED };

static const char *const names[WANTED] = {
	[CATEGORY] = "hlo_category",
	[DEVICE_OFFSET] = "device_offset_ps",
	[DEVICE_DURATION] = "device_duration_ps",
};

struct tpu_open {
	int64_t begin_ps, end_ps;
	uint64_t children_ps;
	uint32_t group;
	uint8_t part;
};

struct tpu_reader {
	const struct tfp_plane *plane;
	const struct tfp_time_span *executions; /* of the core, or NULL */
	struct tfp_schema schema;
	uint8_t *parts; /* by metadata */
	struct tpu_open *open;
	size_t depth, room;
	size_t last_step; /* asked for, in out->steps */
	struct tfp_tpu_core_steps *out;
};

/* One op after the other is of the same step. */
static struct tfp_tpu_step *tpu_step(struct tpu_reader *r, uint32_t group)
{
	struct tfp_tpu_core_steps *out = r->out;
	size_t low = 0, high = out->count;
	if (r->last_step < high && out->steps[r->last_step].group == group)
		return &out->steps[r->last_step];
	if (high && out->steps[high - 1].group < group)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (out->steps[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	r->last_step = low;
	if (low < out->count && out->steps[low].group == group)
		return &out->steps[low];
	if (!TFP_GROW(out->steps, out->count, out->room))
		return NULL;
	memmove(&out->steps[low + 1], &out->steps[low], (out->count - low) * sizeof(*out->steps));
	out->count++;
	out->steps[low] = (struct tfp_tpu_step){.group = group};
	return &out->steps[low];
}

/* By the device's clock where the event has it. */
static void tpu_span(const struct tpu_reader *r, const struct tfp_line *line, size_t i,
		     int64_t *begin, int64_t *end)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t offset = -1, duration = -1;
	struct tfp_time_span span = tfp_event_span(line, i);
	int name;
	/* Modules have only the profiler's clock. */
	while (!r->executions && (name = tfp_schema_next(&r->schema, &it, &stat)) >= 0) {
		if (name == DEVICE_OFFSET && !tfp_stat_int(&stat, &offset))
			offset = -1;
		else if (name == DEVICE_DURATION && !tfp_stat_int(&stat, &duration))
			duration = -1;
	}
	tfp_device_span(offset, duration, &span);
	*begin = span.begin_ps;
	*end = span.end_ps;
}

static bool tpu_pop(struct tpu_reader *r)
{
	const struct tpu_open *e = &r->open[--r->depth];
	struct tfp_tpu_step *step = tpu_step(r, e->group);
	uint64_t time = (uint64_t)(e->end_ps - e->begin_ps);
	if (!step)
		return false;
	step->part_ps[e->part] += time > e->children_ps ? time - e->children_ps : 0;
	return true;
}

static bool read_tpu_ops(struct tpu_reader *r, const struct tfp_line *line,
			 const struct tfp_group_column *groups)
{
	bool ok = true;
	for (size_t i = 0; ok && groups->blocks && i < line->event_count && tfp_goes_on(i); i++) {
		struct tpu_open e = {.part = r->parts[tfp_event_meta_index(line, i)]};
		int32_t group = tfp_group_in(groups, i);
		if (group < 0)
			continue;
		e.group = (uint32_t)group;
		tpu_span(r, line, i, &e.begin_ps, &e.end_ps);
		if (r->executions && e.end_ps > r->executions[e.group].end_ps)
			e.end_ps = r->executions[e.group].end_ps;
		while (ok && r->depth > 0) {
			struct tpu_open *top = &r->open[r->depth - 1];
			if (top->group == e.group && top->begin_ps <= e.begin_ps &&
			    e.end_ps <= top->end_ps) {
				top->children_ps += (uint64_t)(e.end_ps - e.begin_ps);
				break;
			}
			ok = tpu_pop(r);
		}
		ok = ok && TFP_GROW(r->open, r->depth, r->room);
		if (ok)
			r->open[r->depth++] = e;
		r->out->has_infeed |= e.part == TFP_TPU_INFEED;
	}
	while (ok && r->depth > 0)
		ok = tpu_pop(r);
	return ok;
}

/* Consecutive markers of one group are one step of a raw capture. */
static bool read_tpu_steps(struct tpu_reader *r, const struct tfp_line *line,
			   const struct tfp_group_column *groups, bool joins)
{
	int32_t last = TFP_NO_GROUP;
	for (size_t i = 0; i < line->event_count; i++) {
		int32_t group = tfp_group_in(groups, i);
		int64_t begin, end;
		if (group < 0) {
			last = TFP_NO_GROUP;
			continue;
		}
		struct tfp_tpu_step *step = tpu_step(r, (uint32_t)group);
		if (!step)
			return false;
		tpu_span(r, line, i, &begin, &end);
		if (step->has_marker && joins && group == last) {
			if (step->end_ps < end)
				step->end_ps = end;
		} else if (!step->has_marker || end - begin > step->end_ps - step->begin_ps) {
			step->begin_ps = begin;
			step->end_ps = end;
			step->has_marker = true;
		}
		last = group;
	}
	return true;
}

static void read_parts(struct tpu_reader *r)
{
	for (size_t m = 0; m < r->plane->event_meta_count; m++) {
		struct tfp_stat_iter it = tfp_event_meta_stats(&r->plane->event_metas[m]);
		struct tfp_str category = {"", 0};
		struct tfp_stat stat;
		while (tfp_stat_next(&it, &stat)) {
			if (tfp_schema_of(&r->schema, &stat) == CATEGORY)
				tfp_stat_text(r->plane, &stat, &category);
		}
		r->parts[m] = (uint8_t)tfp_tpu_part_of_category(category);
	}
}

static bool read_tpu_executions(struct tpu_reader *r, size_t count)
{
	for (size_t s = 0; s < count; s++) {
		struct tfp_tpu_step *step = tpu_step(r, (uint32_t)s);
		if (!step)
			return false;
		step->begin_ps = r->executions[s].begin_ps;
		step->end_ps = r->executions[s].end_ps;
		step->has_marker = true;
	}
	return true;
}

bool tfp_step_events_of_tpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions, struct tfp_tpu_core_steps *out)
{
	struct tpu_reader r = {.plane = &capture->planes[out->plane], .out = out};
	if (executions && !executions->spans[out->plane])
		return true;
	if (executions)
		r.executions = executions->spans[out->plane];
	if (tfp_schema_init(&r.schema, r.plane, names, WANTED, NULL) != TFP_OK)
		return false;
	r.parts = tfp_calloc(r.plane->event_meta_count, 1);
	bool ok = r.parts != NULL;
	if (ok)
		read_parts(&r);
	if (ok && executions)
		ok = read_tpu_executions(&r, executions->count);
	for (size_t l = 0; ok && l < r.plane->line_count; l++) {
		const struct tfp_line *line = &r.plane->lines[l];
		const struct tfp_group_column *of_line = &groups->planes[out->plane][l].group;
		if (!executions && tfp_str_equal(line->name, "Steps"))
			ok = read_tpu_steps(&r, line, of_line, !groups->from_file);
		else if (tfp_str_equal(line->name, "XLA Ops"))
			ok = read_tpu_ops(&r, line, of_line);
	}
	tfp_free(r.open);
	tfp_free(r.parts);
	tfp_schema_release(&r.schema);
	return ok;
}

void tfp_tpu_core_steps_release(struct tfp_tpu_core_steps *steps)
{
	tfp_free(steps->steps);
	*steps = (struct tfp_tpu_core_steps){0};
}
