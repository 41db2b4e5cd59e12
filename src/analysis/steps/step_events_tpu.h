/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ops of a TPU core say about steps: the self time of each part of a step.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_EVENTS_TPU_H
#define TFP_ANALYSIS_STEPS_STEP_EVENTS_TPU_H

#include "analysis/grouping/groups.h"
#include "analysis/steps/executions.h"
#include "analysis/steps/step_kinds.h"

/* A core's part of a step. */
struct tfp_tpu_step {
	uint32_t group;
	bool has_marker;
	int64_t begin_ps, end_ps;
	uint64_t part_ps[TFP_TPU_PART_COUNT]; /* self times; IDLE is 0 */
};

/* Of one plane. Owned. */
struct tfp_tpu_core_steps {
	size_t plane;               /* set by the caller; the rest is zeroed */
	struct tfp_tpu_step *steps; /* ascending by group */
	size_t count, room;
	bool has_infeed; /* some HLO op takes data in */
};

/* executions: whose steps the groups are, NULL where steps are marked. false without memory;
 * out is released by the caller either way. */
bool tfp_step_events_of_tpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions,
			    struct tfp_tpu_core_steps *out);
void tfp_tpu_core_steps_release(struct tfp_tpu_core_steps *steps);

#endif
