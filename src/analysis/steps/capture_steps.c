/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/capture_steps.h"

#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "analysis/events/time_span.h"
#include "analysis/grouping/capture_groups.h"
#include "analysis/steps/executions.h"
#include "analysis/steps/generic_steps.h"
#include "analysis/steps/tpu_steps.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>

static bool has_planes(const struct tfp_capture *capture, enum tfp_plane_kind kind)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == kind)
			return true;
	}
	return false;
}

static void free_fact(void *fact)
{
	tfp_steps_release(fact);
	tfp_free(fact);
}

/* out is owned by the caller, also after a failure; NULL without memory. */
static enum tfp_status make_steps(struct tfp_capture *capture, const struct tfp_groups *groups,
				  const struct tfp_executions *executions, struct tfp_pool *pool,
				  struct tfp_steps **out, struct tfp_error *err)
{
	const struct tfp_stat_columns *stats[2];
	/* TPU cores are the devices where there is one, even beside GPUs. */
	bool has_tpu = has_planes(capture, TFP_PLANE_TPU);
	bool has_gpu = !has_tpu && has_planes(capture, TFP_PLANE_GPU), ok = true;
	struct tfp_steps *steps = *out = tfp_malloc(sizeof(*steps));
	if (!steps)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
	tfp_steps_init(steps);
	steps->has_device = has_tpu || has_gpu;
	steps->has_groups = groups->group_count > 0;
	if (has_gpu) {
		/* What launches what matters only where there are GPUs. */
		enum tfp_status status = tfp_stat_columns_get_all(capture, pool, stats, err);
		if (status != TFP_OK)
			return status;
	}
	if (has_tpu)
		ok = tfp_tpu_steps(capture, groups, executions, pool, steps);
	else
		ok = tfp_generic_steps(capture, groups, executions, stats, pool, steps);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
}

/* Keeps steps that could be made, frees others. */
static enum tfp_status keep(enum tfp_status status, struct tfp_steps *steps, void **fact,
			    uint64_t *heap_bytes)
{
	if (status == TFP_OK) {
		*heap_bytes = tfp_steps_bytes(steps);
		*fact = steps;
	} else if (steps) {
		free_fact(steps);
	}
	return status;
}

/* ---- marked steps ---- */

static enum tfp_status count_executions(struct tfp_capture *capture, struct tfp_pool *pool,
					struct tfp_steps *steps, struct tfp_error *err)
{
	const struct tfp_executions *executions;
	enum tfp_status status = tfp_executions_get(capture, pool, &executions, err);
	if (status == TFP_OK)
		steps->module_steps = (uint32_t)executions->count;
	return status;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_groups *groups;
	struct tfp_steps *steps = NULL;
	enum tfp_status status = tfp_groups_get(capture, pool, &groups, err);
	if (status == TFP_OK)
		status = make_steps(capture, groups, NULL, pool, &steps, err);
	if (status == TFP_OK && steps->count == 0 && steps->has_device)
		status = count_executions(capture, pool, steps, err);
	return keep(status, steps, fact, heap_bytes);
}

enum tfp_status tfp_steps_get(struct tfp_capture *capture, struct tfp_pool *pool,
			      const struct tfp_steps **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

/* ---- executions as steps ---- */

struct by_time {
	const struct tfp_capture *capture;
	const struct tfp_executions *executions;
	struct tfp_groups *groups;
	size_t plane;
	atomic_bool no_memory;
};

static void group_line_by_time(void *context, size_t index)
{
	struct by_time *b = context;
	const struct tfp_line *line = &b->capture->planes[b->plane].lines[index];
	struct tfp_group_writer w;
	bool ok = tfp_group_writer_init(&w, &b->groups->planes[b->plane][index].group,
					line->event_count);
	for (size_t i = 0; ok && i < line->event_count && tfp_goes_on(i); i++)
		ok = tfp_group_writer_add(&w, tfp_execution_at(b->executions, b->plane,
							       tfp_event_span(line, i).begin_ps));
	if (!ok || !tfp_group_writer_finish(&w))
		atomic_store(&b->no_memory, true);
}

struct tfp_groups *tfp_groups_by_module(const struct tfp_capture *capture,
					const struct tfp_executions *executions,
					struct tfp_pool *pool)
{
	struct by_time b = {capture, executions, tfp_groups_new(capture), 0, false};
	if (!b.groups)
		return NULL;
	b.groups->group_count = executions->count;
	b.groups->groups = tfp_calloc(executions->count + 1, sizeof(*b.groups->groups));
	for (size_t s = 0; b.groups->groups && s < executions->count; s++)
		b.groups->groups[s].name = (struct tfp_str){"", 0};
	for (b.plane = 0; executions->count && b.plane < capture->plane_count; b.plane++) {
		const struct tfp_plane *plane = &capture->planes[b.plane];
		if (executions->spans[b.plane] || tfp_plane_kind(plane->name) == TFP_PLANE_HOST)
			tfp_pool_for(pool, plane->line_count, group_line_by_time, &b);
	}
	if (b.groups->groups && !atomic_load(&b.no_memory))
		return b.groups;
	tfp_groups_free(b.groups);
	return NULL;
}

static enum tfp_status compute_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					 void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_executions *executions;
	struct tfp_steps *steps = NULL;
	enum tfp_status status = tfp_executions_get(capture, pool, &executions, err);
	if (status != TFP_OK)
		return status;
	struct tfp_groups *groups = tfp_groups_by_module(capture, executions, pool);
	if (!groups)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
	status = make_steps(capture, groups, executions, pool, &steps, err);
	tfp_groups_free(groups);
	if (status == TFP_OK && !tfp_steps_set_module(steps, executions->module))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
	return keep(status, steps, fact, heap_bytes);
}

enum tfp_status tfp_steps_get_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					const struct tfp_steps **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_by_module, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
