/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a capture, as facts that are kept with it.
 *
 *     const struct tfp_steps *steps;
 *     tfp_steps_get(capture, pool, &steps, &err);
 */
#ifndef TFP_ANALYSIS_STEPS_CAPTURE_STEPS_H
#define TFP_ANALYSIS_STEPS_CAPTURE_STEPS_H

#include "analysis/grouping/groups.h"
#include "analysis/steps/executions.h"
#include "analysis/steps/steps.h"

/* The steps that the program marked. */
enum tfp_status tfp_steps_get(struct tfp_capture *capture, struct tfp_pool *pool,
			      const struct tfp_steps **out, struct tfp_error *err) TFP_CHECK;

/* The executions of an XLA module as steps, 0 to n-1 (executions.h). An event on a device or
 * on the host belongs to the step in which it begins, as far as it lies in it. None where no
 * module repeats. */
enum tfp_status tfp_steps_get_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					const struct tfp_steps **out,
					struct tfp_error *err) TFP_CHECK;

/* The groups that stand behind steps by module, where there are executions: every event of
 * the host and of devices belongs to the step in which it begins, and group ids are steps. The
 * caller frees them (tfp_groups_free); NULL without memory. */
struct tfp_groups *tfp_groups_by_module(const struct tfp_capture *capture,
					const struct tfp_executions *executions,
					struct tfp_pool *pool);

#endif
