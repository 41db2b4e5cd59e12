/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a host with GPUs or without any device. One core stands for the host and its GPUs;
 * where several things happen at once, the greatest kind of event counts.
 */
#ifndef TFP_ANALYSIS_STEPS_GENERIC_STEPS_H
#define TFP_ANALYSIS_STEPS_GENERIC_STEPS_H

#include "analysis/events/stat_columns.h"
#include "analysis/grouping/groups.h"
#include "analysis/steps/executions.h"
#include "analysis/steps/steps.h"

/* executions: whose steps the groups are, NULL where steps are marked. stats: both columns
 * where there are GPUs, else unused. out is initialised by the caller, and released by it
 * either way. false without memory. */
bool tfp_generic_steps(const struct tfp_capture *capture, const struct tfp_groups *groups,
		       const struct tfp_executions *executions,
		       const struct tfp_stat_columns *const stats[2], struct tfp_pool *pool,
		       struct tfp_steps *out);

#endif
