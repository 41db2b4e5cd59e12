/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the dashboards of steps and operations take from one host's capture. It
 * is made from an open capture, or read back from the bytes that were made of it
 * (op_stats_message.h); both are the same to its users.
 *
 *     struct tfp_host_summary summary = {0};
 *     tfp_host_summary_get(&summary, capture, TFP_SUMMARY_OPS, pool, &err);
 *     ... summary.op_stats->kernels.count ...
 *     tfp_host_summary_release(&summary);
 *
 * It has parts, because steps take as long as reading the capture and tables of
 * operations do not need them.
 */
#ifndef TFP_ANALYSIS_SUMMARY_HOST_SUMMARY_H
#define TFP_ANALYSIS_SUMMARY_HOST_SUMMARY_H

#include "analysis/ops/op_texts.h"
#include "analysis/ops/tf_functions.h"
#include "analysis/steps/requests.h"
#include "analysis/steps/steps.h"
#include "analysis/summary/capture_brief.h"
#include "analysis/summary/op_stats.h"
#include "analysis/summary/step_works.h"
#include "analysis/summary/utilization.h"

enum tfp_summary_part {
	TFP_SUMMARY_OPS = 1,   /* op_stats */
	TFP_SUMMARY_STEPS = 2, /* steps, functions, utilization, requests, errors, warnings */
	TFP_SUMMARY_BRIEF = 4, /* brief, errors, warnings */
	/* In place of TFP_SUMMARY_STEPS: the same, with executions of a module as steps. */
	TFP_SUMMARY_MODULE_STEPS = 8,
	TFP_SUMMARY_PROGRAMS = 16, /* op_texts */
	TFP_SUMMARY_WORK = 32,     /* step_works */
	/* In its place: the same, with executions of a module as steps. */
	TFP_SUMMARY_MODULE_WORK = 64,
	TFP_SUMMARY_ANY_WORK = TFP_SUMMARY_WORK | TFP_SUMMARY_MODULE_WORK,
	TFP_SUMMARY_ANY_STEPS = TFP_SUMMARY_STEPS | TFP_SUMMARY_MODULE_STEPS,
};

/* The memory of a summary that no capture has. */
struct tfp_host_summary_memory {
	struct tfp_op_stats op_stats;
	struct tfp_op_texts op_texts;
	struct tfp_steps steps;
	struct tfp_step_works step_works;
	struct tfp_functions functions;
	struct tfp_utilization utilization;
	struct tfp_requests requests;
	struct tfp_capture_brief brief;
	struct tfp_arena texts;
};

/* Zeroed memory is one without parts. */
struct tfp_host_summary {
	const struct tfp_op_stats *op_stats; /* NULL without its part, as the next seven */
	const struct tfp_op_texts *op_texts;
	const struct tfp_steps *steps;
	const struct tfp_step_works *step_works;
	const struct tfp_functions *functions;
	const struct tfp_utilization *utilization;
	const struct tfp_requests *requests;
	const struct tfp_capture_brief *brief;
	const struct tfp_str *errors, *warnings; /* the profiler's */
	size_t error_count, warning_count;
	/* What the above points into; either may be NULL. */
	struct tfp_capture *capture;
	struct tfp_host_summary_memory *memory;
};

/* Adds parts (a set of enum tfp_summary_part) from a capture, to which it keeps a
 * reference. What is computed is kept with the capture. */
enum tfp_status tfp_host_summary_get(struct tfp_host_summary *summary, struct tfp_capture *capture,
				     unsigned parts, struct tfp_pool *pool,
				     struct tfp_error *err) TFP_CHECK;
/* Makes summary->memory if there is none; false without memory. */
bool tfp_host_summary_own(struct tfp_host_summary *summary);
/* Leaves a summary without parts. Accepts zeroed memory. */
void tfp_host_summary_release(struct tfp_host_summary *summary);

#endif
