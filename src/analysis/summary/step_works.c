/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/step_works.h"

#include "analysis/grouping/capture_groups.h"
#include "analysis/ops/device_ops.h"
#include "analysis/steps/capture_steps.h"
#include "analysis/steps/steps_combine.h"
#include "base/alloc.h"

#include <string.h>

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the work of steps");
}

void tfp_step_works_release(struct tfp_step_works *works)
{
	tfp_free(works->list);
	tfp_free((void *)(uintptr_t)works->module.data);
	*works = (struct tfp_step_works){0};
}

static bool set_module(struct tfp_step_works *works, struct tfp_str name)
{
	char *copy = tfp_malloc(name.size + 1);
	if (!copy)
		return false;
	if (name.size)
		memcpy(copy, name.data, name.size);
	copy[name.size] = '\0';
	works->module = (struct tfp_str){copy, name.size};
	return true;
}

static bool make_room(struct tfp_step_works *works, size_t count)
{
	works->list = tfp_calloc(count + 1, sizeof(*works->list));
	return works->list != NULL;
}

bool tfp_step_works_copy(struct tfp_step_works *to, const struct tfp_step_works *from)
{
	*to = *from;
	to->list = NULL;
	to->module = (struct tfp_str){0};
	if (!make_room(to, from->count) || !set_module(to, from->module))
		return false;
	if (from->count)
		memcpy(to->list, from->list, from->count * sizeof(*to->list));
	return true;
}

/* ---- of a capture ---- */

static void free_fact(void *fact)
{
	tfp_step_works_release(fact);
	tfp_free(fact);
}

/* Of a step all but what devices did in it. */
static void place(struct tfp_step_work *work, const struct tfp_steps *steps, size_t s)
{
	work->number = steps->steps[s].number;
	for (size_t c = 0; c < steps->steps[s].core_count; c++) {
		const struct tfp_core_step *core = tfp_step_core(steps, s, c);
		int64_t end = core->begin_ps + core->duration_ps;
		if (c == 0 || core->begin_ps < work->begin_ps)
			work->begin_ps = core->begin_ps;
		if (c == 0 || end > work->end_ps)
			work->end_ps = end;
		if ((uint64_t)core->duration_ps > work->duration_ps)
			work->duration_ps = (uint64_t)core->duration_ps;
	}
}

static enum tfp_status fill(struct tfp_step_works *works, struct tfp_capture *capture,
			    const struct tfp_steps *steps, const struct tfp_groups *groups,
			    struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_hlo_modules *modules;
	if (!make_room(works, steps->count) || !set_module(works, steps->module))
		return no_memory(err);
	works->has_device = steps->has_device;
	works->module_steps = steps->module_steps;
	works->count = steps->count;
	if (works->count == 0 || !works->has_device)
		return TFP_OK;
	uint32_t *step_of_group = tfp_reallocarray(NULL, groups->group_count + 1, sizeof(uint32_t));
	if (!step_of_group)
		return no_memory(err);
	memset(step_of_group, 0xff, (groups->group_count + 1) * sizeof(uint32_t));
	for (size_t s = 0; s < steps->count; s++) {
		place(&works->list[s], steps, s);
		if (steps->steps[s].number < groups->group_count)
			step_of_group[steps->steps[s].number] = (uint32_t)s;
	}
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status == TFP_OK)
		status = tfp_device_step_work(capture, modules, groups, step_of_group, pool,
					      works->list, works->count, err);
	tfp_free(step_of_group);
	return status;
}

static enum tfp_status make_marked(struct tfp_step_works *works, struct tfp_capture *capture,
				   struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_steps *steps;
	const struct tfp_groups *groups = NULL;
	enum tfp_status status = tfp_steps_get(capture, pool, &steps, err);
	if (status == TFP_OK)
		status = tfp_groups_get(capture, pool, &groups, err);
	return status == TFP_OK ? fill(works, capture, steps, groups, pool, err) : status;
}

static enum tfp_status make_by_module(struct tfp_step_works *works, struct tfp_capture *capture,
				      struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_steps *steps;
	const struct tfp_executions *executions;
	enum tfp_status status = tfp_steps_get_by_module(capture, pool, &steps, err);
	if (status == TFP_OK)
		status = tfp_executions_get(capture, pool, &executions, err);
	if (status != TFP_OK)
		return status;
	struct tfp_groups *groups = tfp_groups_by_module(capture, executions, pool);
	status = groups ? fill(works, capture, steps, groups, pool, err) : no_memory(err);
	tfp_groups_free(groups);
	return status;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, bool by_module,
			       void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_step_works *works = tfp_calloc(1, sizeof(*works));
	if (!works)
		return no_memory(err);
	enum tfp_status status = by_module ? make_by_module(works, capture, pool, err)
					   : make_marked(works, capture, pool, err);
	if (status != TFP_OK) {
		free_fact(works);
		return status;
	}
	*heap_bytes = sizeof(*works) + (works->count + 1) * sizeof(*works->list);
	*fact = works;
	return TFP_OK;
}

static enum tfp_status compute_marked(struct tfp_capture *capture, struct tfp_pool *pool,
				      void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	return compute(capture, pool, false, fact, heap_bytes, err);
}

static enum tfp_status compute_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					 void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	return compute(capture, pool, true, fact, heap_bytes, err);
}

enum tfp_status tfp_step_works_get(struct tfp_capture *capture, bool by_module,
				   struct tfp_pool *pool, const struct tfp_step_works **out,
				   struct tfp_error *err)
{
	static const struct tfp_fact_kind marked = {compute_marked, free_fact};
	static const struct tfp_fact_kind executions = {compute_by_module, free_fact};
	const void *fact;
	enum tfp_status status =
		tfp_capture_fact(capture, by_module ? &executions : &marked, pool, &fact, err);
	*out = fact;
	return status;
}

/* ---- of several hosts ---- */

/* A host's steps with one core each, which is all that aligning them needs. */
static bool bare_steps(struct tfp_steps *steps, const struct tfp_step_works *works)
{
	steps->absent = works->absent;
	steps->has_device = works->has_device;
	steps->module_steps = works->module_steps;
	if (!tfp_steps_set_module(steps, works->module))
		return false;
	for (size_t s = 0; s < works->count; s++) {
		const struct tfp_step_work *work = &works->list[s];
		const struct tfp_core_step core = {.core = TFP_HOST_CORE,
						   .begin_ps = work->begin_ps,
						   .duration_ps = work->end_ps - work->begin_ps};
		if (!tfp_steps_add(steps, work->number, (struct tfp_str){"", 0}) ||
		    !tfp_steps_add_core(steps, &core))
			return false;
	}
	return true;
}

static bool add_work(struct tfp_step_works *out, const struct tfp_steps *steps,
		     const struct tfp_step_works *hosts)
{
	if (!make_room(out, steps->count) || !set_module(out, steps->module))
		return false;
	out->has_device = steps->has_device;
	out->module_steps = steps->module_steps;
	for (size_t s = 0; s < steps->count; s++) {
		struct tfp_step_work *work = &out->list[out->count++];
		place(work, steps, s);
		for (size_t c = 0; c < steps->steps[s].core_count; c++) {
			const struct tfp_core_step *core = tfp_step_core(steps, s, c);
			tfp_step_work_add(work, &hosts[core->host].list[core->host_step]);
		}
	}
	return true;
}

enum tfp_status tfp_step_works_combine(const struct tfp_step_works *hosts, size_t host_count,
				       struct tfp_step_works *out, struct tfp_error *err)
{
	struct tfp_steps *bare = tfp_calloc(host_count + 1, sizeof(*bare)), all;
	bool ok = bare != NULL;
	tfp_steps_init(&all);
	for (size_t h = 0; bare && h < host_count; h++) {
		tfp_steps_init(&bare[h]);
		ok = ok && bare_steps(&bare[h], &hosts[h]);
	}
	enum tfp_status status =
		ok ? tfp_steps_combine(bare, host_count, &all, err) : no_memory(err);
	if (status == TFP_OK && !add_work(out, &all, hosts))
		status = no_memory(err);
	for (size_t h = 0; bare && h < host_count; h++)
		tfp_steps_release(&bare[h]);
	tfp_free(bare);
	tfp_steps_release(&all);
	return status;
}
