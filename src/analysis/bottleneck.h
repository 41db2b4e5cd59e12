/*
 * From steps to a verdict: statistics over steps, the share of each category,
 * and what most likely holds the program back (input_pipeline.md 1 and 3;
 * op_stats_to_input_pipeline_analysis.cc). Thresholds are the peers', the
 * sentences are ours.
 *
 * Milliseconds and percent.
 */
#ifndef TFP_ANALYSIS_BOTTLENECK_H
#define TFP_ANALYSIS_BOTTLENECK_H

#include "analysis/steps.h"

#include <stdbool.h>
#include <stddef.h>

/* All 0 without values. The deviation is that of a sample (n - 1), 0 for one value. */
struct tfp_stat_summary {
	double average, deviation, minimum, maximum;
};

struct tfp_stat_summary tfp_summarize(const double *values, size_t count);

/* Thresholds in percent of the step time. */
#define TFP_HIGHLY_INPUT_BOUND     20.0
#define TFP_MODERATELY_INPUT_BOUND 5.0
#define TFP_MUCH                   15.0 /* kernel launch, all others, collectives */
#define TFP_SOME                   3.0

/* Stands for all hosts where one could be named. */
#define TFP_EVERY_HOST UINT32_MAX

/* Sums over the steps of a host without TPUs. */
struct tfp_step_totals {
	size_t steps;
	double step_ms, category_ms[TFP_STEP_CATEGORY_COUNT];
	double host_to_device_ms; /* part of the input */
};

struct tfp_verdict {
	const char *class; /* "host", "both", "device", "unknown"; "no", "moderate", "high" */
	const char
		*word; /* of the input: "HIGHLY", "MODERATELY", "POTENTIALLY", "NOT"; else NULL */
	char statement[400]; /* "" where there is nothing to say */
	double percent;
};

struct tfp_bottleneck {
	struct tfp_verdict input, kernel_launch, all_others, collectives;
	char output_statement[200]; /* TPU only */
	const char *next_step;
};

/* The core that stands for a host without TPUs in a step: its number 1. NULL where the host
 * takes no part. host: its place among those that were combined. */
const struct tfp_core_step *tfp_host_core(const struct tfp_steps *steps, size_t step,
					  uint32_t host);
/* What the host's longest core took in all steps together; 0 where it takes no part. */
int64_t tfp_host_time_ps(const struct tfp_steps *steps, uint32_t host);

void tfp_step_totals(const struct tfp_steps *steps, uint32_t host, struct tfp_step_totals *totals);
void tfp_bottleneck(const struct tfp_step_totals *totals, bool uses_tf_data,
		    struct tfp_bottleneck *out);

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
void tfp_tpu_bottleneck(const struct tfp_steps *steps, uint32_t host, bool uses_tf_data,
			struct tfp_bottleneck *out);

/* Why there is no step time, or why the steps at hand are not all; NULL when all is
 * well. A sentence for the user. */
const char *tfp_step_diagnostic(const struct tfp_steps *steps);

#endif
