/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From steps to a verdict: what most likely holds the program back
 * (docs/tools/overview_page.md, "[3] Recommendation"; op_stats_to_input_pipeline_analysis.cc).
 * The thresholds are the peers', the sentences are ours.
 */
#ifndef TFP_ANALYSIS_STEPS_BOTTLENECK_H
#define TFP_ANALYSIS_STEPS_BOTTLENECK_H

#include "analysis/steps/step_totals.h"

#include <stdbool.h>

/* Thresholds in percent of the step time. */
#define TFP_HIGHLY_INPUT_BOUND     20.0
#define TFP_MODERATELY_INPUT_BOUND 5.0
#define TFP_MUCH                   15.0 /* kernel launch, all others, collectives */
#define TFP_SOME                   3.0

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

/* Of a host without TPUs, and of the TPUs of one host or of all (TFP_EVERY_HOST). */
void tfp_bottleneck(const struct tfp_step_totals *totals, bool uses_tf_data,
		    struct tfp_bottleneck *out);
void tfp_tpu_bottleneck(const struct tfp_steps *steps, uint32_t host, bool uses_tf_data,
			struct tfp_bottleneck *out);

/* Why there is no step time, in a sentence for the user; NULL where there are steps. */
const char *tfp_step_diagnostic(const struct tfp_steps *steps);

#endif
