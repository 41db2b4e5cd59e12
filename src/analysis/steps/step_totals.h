/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps in the units of the pages: sums over the steps of a host, what a TPU step is over
 * its cores, and statistics of either (docs/tools/overview_page.md;
 * op_stats_to_input_pipeline_analysis.cc). Milliseconds and percent.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_TOTALS_H
#define TFP_ANALYSIS_STEPS_STEP_TOTALS_H

#include "analysis/steps/steps.h"

#include <stddef.h>
#include <stdint.h>

/* All 0 without values. The deviation is that of a sample (n - 1), 0 for one value. */
struct tfp_stat_summary {
	double average, deviation, minimum, maximum;
};

struct tfp_stat_summary tfp_summarize(const double *values, size_t count);

/* A host is named by its place among those whose steps were combined. */

/* The core that stands for a host without TPUs in a step. NULL where the host takes no part. */
const struct tfp_core_step *tfp_host_core(const struct tfp_steps *steps, size_t step,
					  uint32_t host);
/* The time of the host's longest core, summed over all steps; 0 where it takes no part. */
int64_t tfp_host_time_ps(const struct tfp_steps *steps, uint32_t host);

/* Sums over the steps of a host without TPUs. */
struct tfp_step_totals {
	size_t steps;
	double step_ms, category_ms[TFP_STEP_CATEGORY_COUNT];
	double host_to_device_ms; /* part of the input */
};

void tfp_step_totals(const struct tfp_steps *steps, uint32_t host, struct tfp_step_totals *totals);

/* Stands for all hosts where one could be named. */
#define TFP_EVERY_HOST UINT32_MAX

/* A TPU step over the cores of one host or of all (ComputeTpuPerStepDataAcrossCores). */
struct tfp_tpu_step_view {
	double step_ms, compute_ms, infeed_ms, outfeed_ms, idle_ms, host_transfer_ms;
	double all_reduce_ms; /* of the core with the most */
	double infeed_percent_average, infeed_percent_minimum, infeed_percent_maximum;
	size_t worst_core; /* of the step: longest infeed */
	size_t cores;      /* that were looked at; where it is 0 so is everything */
};

/* host: a place, or TFP_EVERY_HOST. */
void tfp_tpu_step_view(const struct tfp_steps *steps, size_t step, uint32_t host,
		       struct tfp_tpu_step_view *view);

#endif
