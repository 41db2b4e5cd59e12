/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/work_by_step.h"

#include "analysis/grouping/capture_groups.h"
#include "analysis/hlo/hlo_modules.h"
#include "analysis/steps/capture_steps.h"
#include "base/alloc.h"

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for ops by step");
}

static void free_fact(void *fact)
{
	struct tfp_work_by_step *w = fact;
	tfp_devices_by_step_free(w->devices, w->device_count);
	tfp_op_db_release(&w->host_ops);
	tfp_op_steps_release(&w->host_steps);
	tfp_free(w->steps);
	tfp_arena_release(&w->arena);
	tfp_free(w);
}

static uint64_t table_bytes(const struct tfp_op_db *db, const struct tfp_op_steps *steps)
{
	return db->arena.bytes + db->room * sizeof(struct tfp_op) + tfp_op_steps_heap_bytes(steps);
}

static uint64_t held_bytes(const struct tfp_work_by_step *w)
{
	uint64_t bytes = sizeof(*w) + w->arena.bytes + w->step_count * sizeof(*w->steps) +
			 table_bytes(&w->host_ops, &w->host_steps);
	for (size_t i = 0; i < w->device_count; i++) {
		const struct tfp_device_by_step *d = &w->devices[i];
		bytes += sizeof(*d) + table_bytes(&d->work.ops, &d->steps) +
			 table_bytes(&d->work.unnamed, &d->unnamed_steps);
	}
	return bytes;
}

static bool copy_steps(struct tfp_work_by_step *w, const struct tfp_steps *steps)
{
	w->steps = tfp_calloc(steps->count + 1, sizeof(*w->steps));
	if (!w->steps)
		return false;
	for (size_t i = 0; i < steps->count; i++) {
		struct tfp_str name = steps->steps[i].name;
		w->steps[i].group = steps->steps[i].number;
		w->steps[i].name = (struct tfp_str){
			tfp_arena_strndup(&w->arena, name.size ? name.data : "", name.size),
			name.size};
		if (!w->steps[i].name.data)
			return false;
	}
	w->step_count = steps->count;
	return true;
}

/* The steps that count, and the groups that events have for them; *made: the caller frees them. */
static enum tfp_status choose_steps(struct tfp_work_by_step *w, struct tfp_capture *capture,
				    struct tfp_pool *pool, const struct tfp_groups **groups,
				    struct tfp_groups **made, struct tfp_error *err)
{
	const struct tfp_executions *executions;
	const struct tfp_steps *steps;
	*made = NULL;
	enum tfp_status status = tfp_groups_get(capture, pool, groups, err);
	if (status == TFP_OK)
		status = tfp_steps_get(capture, pool, &steps, err);
	if (status == TFP_OK && steps->count == 0 && steps->module_steps) {
		status = tfp_steps_get_by_module(capture, pool, &steps, err);
		if (status == TFP_OK)
			status = tfp_executions_get(capture, pool, &executions, err);
		if (status != TFP_OK)
			return status;
		w->by_module = true;
		*groups = *made = tfp_groups_by_module(capture, executions, pool);
		if (!*made)
			return no_memory(err);
	}
	if (status == TFP_OK && !copy_steps(w, steps))
		return no_memory(err);
	return status;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_hlo_modules *modules;
	const struct tfp_groups *groups = NULL;
	struct tfp_groups *made = NULL;
	struct tfp_work_by_step *w = tfp_calloc(1, sizeof(*w));
	if (!w)
		return no_memory(err);
	tfp_op_db_init(&w->host_ops);
	tfp_arena_init(&w->arena, SIZE_MAX);
	w->has_host = tfp_capture_find_plane(capture, "/host:CPU") != NULL;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status == TFP_OK)
		status = choose_steps(w, capture, pool, &groups, &made, err);
	if (status == TFP_OK)
		status = tfp_devices_by_step(capture, modules, groups, pool, &w->devices,
					     &w->device_count, err);
	if (status == TFP_OK)
		status = tfp_host_ops_by_step(capture, groups, pool, &w->host_ops, &w->host_steps,
					      err);
	tfp_groups_free(made);
	if (status != TFP_OK) {
		free_fact(w);
		return status;
	}
	*heap_bytes = held_bytes(w);
	*fact = w;
	return TFP_OK;
}

enum tfp_status tfp_work_by_step_get(struct tfp_capture *capture, struct tfp_pool *pool,
				     const struct tfp_work_by_step **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
