/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a host with TPUs. Each TPU core is a core of the step.
 */
#ifndef TFP_ANALYSIS_STEPS_TPU_STEPS_H
#define TFP_ANALYSIS_STEPS_TPU_STEPS_H

#include "analysis/grouping/groups.h"
#include "analysis/steps/executions.h"
#include "analysis/steps/steps.h"

/* executions: whose steps the groups are, NULL where steps are marked. out is initialised by
 * the caller, and released by it either way. false without memory. */
bool tfp_tpu_steps(const struct tfp_capture *capture, const struct tfp_groups *groups,
		   const struct tfp_executions *executions, struct tfp_pool *pool,
		   struct tfp_steps *out);

#endif
