/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that packing and unpacking an OpStats message share. For these two files alone.
 */
#ifndef TFP_ANALYSIS_SUMMARY_OP_STATS_FIELDS_H
#define TFP_ANALYSIS_SUMMARY_OP_STATS_FIELDS_H

#include "analysis/steps/steps.h"
#include "op_stats.pb-c.h"

/* Which message the breakdown of a step is. */
#define TFP_GENERIC_URL "type.googleapis.com/tensorflow.profiler.GenericStepBreakdown"
#define TFP_TPU_URL     "type.googleapis.com/tensorflow.profiler.TpuStepBreakdown"

/* The peers' numbers of what a moment is spent on (event_span.h). */
static const int32_t tfp_event_numbers[TFP_STEP_EVENT_COUNT] = {
	[TFP_STEP_UNKNOWN] = 0,
	[TFP_STEP_HOST_COMPUTE] = 10,
	[TFP_STEP_HOST_COMPILE] = 60,
	[TFP_STEP_HOST_TO_HOST] = 70,
	[TFP_STEP_HOST_TO_DEVICE] = 80,
	[TFP_STEP_HOST_PREPARE] = 90,
	[TFP_STEP_DEVICE_COLLECTIVES] = 100,
	[TFP_STEP_HOST_WAIT_INPUT] = 110,
	[TFP_STEP_DEVICE_TO_DEVICE] = 120,
	[TFP_STEP_DEVICE_TO_HOST] = 130,
	[TFP_STEP_DEVICE_COMPUTE_32] = 140,
	[TFP_STEP_DEVICE_COMPUTE_16] = 150,
};

#endif
