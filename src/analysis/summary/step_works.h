/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devices did in each step of a capture, and in the steps of several hosts together
 * (ops/step_work.h).
 *
 *     const struct tfp_step_works *works;
 *     tfp_step_works_get(capture, false, pool, &works, &err);
 *     for (size_t s = 0; s < works->count; s++)
 *             ... works->list[s].parts[TFP_WORK_OPS].flops ...
 *
 * A fact of its own, because it needs steps and costs, and few dashboards need both.
 */
#ifndef TFP_ANALYSIS_SUMMARY_STEP_WORKS_H
#define TFP_ANALYSIS_SUMMARY_STEP_WORKS_H

#include "analysis/ops/step_work.h"

struct tfp_pool;

/* Zeroed memory has no steps. */
struct tfp_step_works {
	struct tfp_step_work *list; /* ascending by number; owned */
	size_t count;
	bool has_device;
	bool absent;           /* could not be read: takes no part where hosts are combined */
	uint32_t module_steps; /* where none are marked: how many executions could stand in */
	struct tfp_str module; /* whose executions are the steps, or ""; owned */
};

/* The steps that the program marked; by_module: executions of an XLA module instead. */
enum tfp_status tfp_step_works_get(struct tfp_capture *capture, bool by_module,
				   struct tfp_pool *pool, const struct tfp_step_works **out,
				   struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_step_works_release(struct tfp_step_works *works);
/* An independent copy; false without memory. to is zeroed memory, released either way. */
bool tfp_step_works_copy(struct tfp_step_works *to, const struct tfp_step_works *from);

/* The steps that all hosts have, aligned as in tfp_steps_combine, each with the work of all. out
 * is zeroed memory, released by the caller either way. */
enum tfp_status tfp_step_works_combine(const struct tfp_step_works *hosts, size_t host_count,
				       struct tfp_step_works *out, struct tfp_error *err) TFP_CHECK;

#endif
