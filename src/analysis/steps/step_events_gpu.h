/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a GPU's streams say about steps.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_EVENTS_GPU_H
#define TFP_ANALYSIS_STEPS_STEP_EVENTS_GPU_H

#include "analysis/steps/executions.h"
#include "analysis/steps/step_events.h"

/* executions: whose steps the groups are, NULL where steps are marked. stats: of the GPU's
 * lines. Reads the plane in the pool's threads. false without memory; out is released by the
 * caller either way. */
bool tfp_step_events_of_gpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions,
			    const struct tfp_line_stats *stats, struct tfp_pool *pool,
			    struct tfp_plane_steps *out);

/* As tfp_step_spans_of_host_run. */
size_t tfp_step_spans_of_gpu_run(const struct tfp_plane_steps *steps, size_t line,
				 const struct tfp_step_run *run, struct tfp_step_span *spans);

#endif
