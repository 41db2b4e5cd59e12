/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_events_gpu.h"

#include "analysis/events/time_span.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <string.h>

struct gpu_lines {
	const struct tfp_plane *plane;
	int64_t details_id; /* of the stat memcpy_details */
	struct tfp_plane_steps *out;
	atomic_bool no_memory;
};

/* The number in `num_bytes:123` (before 2021) or `size:123` among other pairs. */
static uint64_t bytes_of_details(struct tfp_str details)
{
	static const char *const keys[] = {"num_bytes:", "size:"};
	for (size_t k = 0; k < 2; k++) {
		size_t n = strlen(keys[k]);
		const char *at =
			details.size >= n ? memmem(details.data, details.size, keys[k], n) : NULL;
		if (!at)
			continue;
		uint64_t bytes = 0;
		for (at += n; at < details.data + details.size && *at >= '0' && *at <= '9'; at++) {
			if (bytes > UINT64_MAX / 10 - 9)
				return 0;
			bytes = bytes * 10 + (uint64_t)(*at - '0');
		}
		return bytes;
	}
	return 0;
}

static bool add_copy(struct tfp_line_steps *out, uint32_t group, uint8_t type, uint64_t time_ps,
		     struct tfp_str details)
{
	if (!TFP_GROW(out->copies, out->copy_count, out->copy_room))
		return false;
	out->copies[out->copy_count++] = (struct tfp_step_copy_event){
		.group = group,
		.kind = type == TFP_STEP_HOST_TO_DEVICE   ? TFP_COPY_H2D
			: type == TFP_STEP_DEVICE_TO_HOST ? TFP_COPY_D2H
							  : TFP_COPY_D2D,
		.time_ps = time_ps,
		.bytes = bytes_of_details(details),
	};
	return true;
}

static uint8_t type_by_shape(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
			     const struct tfp_line *line, size_t i)
{
	struct tfp_str shape =
		tfp_stats_text(plane, tfp_event_stats(line, i), tfp_plane_stat_id(plane, "shape"));
	return shape.size ? (uint8_t)tfp_step_type_of_gpu_event(
				    tfp_event_meta(plane, line, i)->name, shape)
			  : steps->types[tfp_event_meta_index(line, i)];
}

static uint8_t gpu_type(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
			size_t index, size_t i)
{
	const struct tfp_line *line = &plane->lines[index];
	const uint8_t *by_kind = steps->lines[index].types_by_kind;
	if (!steps->has_shapes)
		return steps->types[tfp_event_meta_index(line, i)];
	return by_kind ? by_kind[tfp_kind_of(&steps->stats[index], i)]
		       : type_by_shape(steps, plane, line, i);
}

static bool type_kinds(struct tfp_plane_steps *steps, const struct tfp_plane *plane, size_t index)
{
	const struct tfp_line_stats *stats = &steps->stats[index];
	if (!steps->has_shapes || stats->kind_count == 0)
		return true;
	uint8_t *types = tfp_malloc(stats->kind_count);
	for (uint32_t k = 0; types && k < stats->kind_count; k++)
		types[k] =
			type_by_shape(steps, plane, &plane->lines[index], stats->first_of_kind[k]);
	steps->lines[index].types_by_kind = types;
	return types != NULL;
}

static void run_gpu_line(void *context, size_t index)
{
	struct gpu_lines *g = context;
	const struct tfp_line *line = &g->plane->lines[index];
	struct tfp_line_steps *out = &g->out->lines[index];
	const struct tfp_group_column *groups = g->out->group[index];
	if (tfp_line_is_derived(line) || !groups->blocks)
		return;
	bool ok = type_kinds(g->out, g->plane, index);
	for (size_t i = 0; ok && i < line->event_count && tfp_goes_on(i); i++) {
		int32_t group = tfp_group_in(groups, i);
		if (group < 0 || !tfp_step_is_correlated(&g->out->stats[index], g->plane, line, i))
			continue;
		uint8_t type = gpu_type(g->out, g->plane, index, i);
		ok = tfp_step_runs_add(out, (uint32_t)group, (uint32_t)i);
		if (!ok || (type != TFP_STEP_HOST_TO_DEVICE && type != TFP_STEP_DEVICE_TO_HOST &&
			    type != TFP_STEP_DEVICE_TO_DEVICE))
			continue;
		struct tfp_time_span span = tfp_event_span(line, i);
		ok = add_copy(out, (uint32_t)group, type, (uint64_t)(span.end_ps - span.begin_ps),
			      tfp_stats_text(g->plane, tfp_event_stats(line, i), g->details_id));
	}
	tfp_step_runs_finish(out);
	if (!ok)
		atomic_store(&g->no_memory, true);
}

size_t tfp_step_spans_of_gpu_run(const struct tfp_plane_steps *steps, size_t index,
				 const struct tfp_step_run *run, struct tfp_step_span *spans)
{
	const struct tfp_plane *plane = &steps->capture->planes[steps->plane];
	const struct tfp_line *line = &plane->lines[index];
	struct tfp_step_last last = {{0}};
	size_t n = 0;
	for (size_t i = run->first; i <= run->last; i++) {
		if (tfp_group_in(steps->group[index], i) != (int32_t)run->group ||
		    !tfp_step_is_correlated(&steps->stats[index], plane, line, i))
			continue;
		struct tfp_time_span span = tfp_event_span(line, i);
		n = tfp_step_spans_put(spans, n, &last,
				       (struct tfp_step_span){span.begin_ps, span.end_ps,
							      run->group,
							      gpu_type(steps, plane, index, i)});
	}
	return n;
}

static bool read_step_line(const struct tfp_line *line, const struct tfp_group_column *groups,
			   struct tfp_plane_steps *out)
{
	for (size_t i = 0; i < line->event_count; i++) {
		int32_t group = tfp_group_in(groups, i);
		struct tfp_time_span span = tfp_event_span(line, i);
		if (group >= 0 &&
		    !tfp_step_markers_add(&out->markers,
					  (struct tfp_step_marker){span.begin_ps, span.end_ps,
								   (uint32_t)group, false}))
			return false;
	}
	return true;
}

static bool is_steps_line(const struct tfp_line *line)
{
	return (int32_t)(uint32_t)(uint64_t)line->id == TFP_LINE_STEPS;
}

/* A raw capture has no line of steps; they follow from the groups
 * (preprocess.md D1): over the events of all streams in order of time, an event without
 * group belongs to the group before it, and a step goes from the first to the last
 * of consecutive events of one group. */
struct walk {
	const struct tfp_plane *plane;
	size_t *at;                       /* next event by line */
	struct tfp_group_writer *writers; /* by line; of those that take part */
};

static bool head_is_before(const struct walk *w, size_t a, size_t b)
{
	const struct tfp_line *x = &w->plane->lines[a], *y = &w->plane->lines[b];
	int64_t begin_x = tfp_event_start_ps(x, w->at[a]);
	int64_t begin_y = tfp_event_start_ps(y, w->at[b]);
	if (begin_x != begin_y)
		return begin_x < begin_y;
	return tfp_event_duration_ps(x, w->at[a]) < tfp_event_duration_ps(y, w->at[b]);
}

static void sift(const struct walk *w, uint32_t *heap, size_t n, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;
		if (left < n && head_is_before(w, heap[left], heap[least]))
			least = left;
		if (right < n && head_is_before(w, heap[right], heap[least]))
			least = right;
		if (least == i)
			return;
		uint32_t swap = heap[i];
		heap[i] = heap[least];
		heap[least] = swap;
		i = least;
	}
}

static bool walk_streams(struct walk *w, const struct tfp_line_groups *groups,
			 struct tfp_plane_steps *out)
{
	size_t n = 0;
	int32_t current = TFP_NO_GROUP;
	uint32_t *heap = tfp_reallocarray(NULL, w->plane->line_count + 1, sizeof(*heap));
	if (!heap)
		return false;
	for (size_t l = 0; l < w->plane->line_count; l++) {
		if (w->writers[l].column)
			heap[n++] = (uint32_t)l;
	}
	for (size_t i = n; i-- > 0;)
		sift(w, heap, n, i);
	bool ok = true;
	while (ok && n > 0) {
		size_t l = heap[0], i = w->at[l]++;
		if (!tfp_goes_on(i)) {
			ok = false;
			break;
		}
		const struct tfp_line *line = &w->plane->lines[l];
		int32_t group = tfp_group_in(&groups[l].group, i);
		if (group < 0)
			group = current;
		ok = tfp_group_writer_add(&w->writers[l], group);
		if (ok && group >= 0) {
			struct tfp_time_span span = tfp_event_span(line, i);
			if (group != current) {
				ok = tfp_step_markers_add(
					&out->markers,
					(struct tfp_step_marker){span.begin_ps, span.end_ps,
								 (uint32_t)group, false});
			} else if (out->markers.list[out->markers.count - 1].end_ps < span.end_ps) {
				out->markers.list[out->markers.count - 1].end_ps = span.end_ps;
			}
			current = group;
		}
		if (ok && w->at[l] == line->event_count) {
			ok = tfp_group_writer_finish(&w->writers[l]);
			heap[0] = heap[--n];
		}
		sift(w, heap, n, 0);
	}
	tfp_free(heap);
	return ok;
}

static bool fill_groups(const struct tfp_plane *plane, const struct tfp_line_groups *groups,
			struct tfp_group_column *filled, struct tfp_plane_steps *out)
{
	struct walk w = {.plane = plane};
	bool any = false;
	for (size_t l = 0; l < plane->line_count; l++)
		any |= !tfp_line_is_derived(&plane->lines[l]) && groups[l].group.blocks;
	if (!any)
		return true;
	w.at = tfp_calloc(plane->line_count, sizeof(*w.at));
	w.writers = tfp_calloc(plane->line_count, sizeof(*w.writers));
	bool ok = w.at && w.writers;
	for (size_t l = 0; ok && l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		if (!tfp_line_is_derived(line) && line->event_count)
			ok = tfp_group_writer_init(&w.writers[l], &filled[l], line->event_count);
	}
	ok = ok && walk_streams(&w, groups, out);
	tfp_free(w.writers);
	tfp_free(w.at);
	return ok;
}

static uint8_t *gpu_types(const struct tfp_plane *plane)
{
	const struct tfp_str none = {"", 0};
	uint8_t *types = tfp_calloc(plane->event_meta_count, 1);
	for (size_t m = 0; types && m < plane->event_meta_count; m++)
		types[m] = (uint8_t)tfp_step_type_of_gpu_event(plane->event_metas[m].name, none);
	return types;
}

/* The markers of a GPU whose steps are executions. */
static bool mark_executions(const struct tfp_executions *e, struct tfp_plane_steps *out)
{
	for (size_t s = 0; s < e->count; s++) {
		struct tfp_time_span span = e->spans[e->chief][s];
		if (!tfp_step_markers_add(&out->markers,
					  (struct tfp_step_marker){span.begin_ps, span.end_ps,
								   (uint32_t)s, false}))
			return false;
	}
	return true;
}

bool tfp_step_events_of_gpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions,
			    const struct tfp_line_stats *stats, struct tfp_pool *pool,
			    struct tfp_plane_steps *out)
{
	const struct tfp_plane *plane = &capture->planes[out->plane];
	const struct tfp_line_groups *of_lines = groups->planes[out->plane];
	bool has_steps = executions || groups->from_file, ok = true;
	out->capture = capture;
	out->groups = of_lines;
	out->stats = stats;
	out->has_shapes = tfp_plane_stat_id(plane, "shape") != INT64_MIN;
	out->types = gpu_types(plane);
	out->filled = tfp_calloc(plane->line_count, sizeof(*out->filled));
	out->group = tfp_calloc(plane->line_count, sizeof(*out->group));
	out->lines = tfp_calloc(plane->line_count, sizeof(*out->lines));
	ok = out->types && out->filled && out->group && out->lines;
	if (ok && executions)
		ok = mark_executions(executions, out);
	for (size_t l = 0; ok && !executions && l < plane->line_count; l++) {
		if (is_steps_line(&plane->lines[l])) {
			ok = read_step_line(&plane->lines[l], &of_lines[l].group, out);
			has_steps = true;
		}
	}
	if (ok && !has_steps)
		ok = fill_groups(plane, of_lines, out->filled, out);
	if (ok) {
		for (size_t l = 0; l < plane->line_count; l++)
			out->group[l] = has_steps ? &of_lines[l].group : &out->filled[l];
		struct gpu_lines g = {.plane = plane,
				      .details_id = tfp_plane_stat_id(plane, "memcpy_details"),
				      .out = out};
		tfp_pool_for(pool, plane->line_count, run_gpu_line, &g);
		ok = !atomic_load(&g.no_memory);
	}
	return ok;
}
