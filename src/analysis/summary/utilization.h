/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small sums of a capture for the overview and the input pipeline:
 * how busy devices are, what hardware counters say, how long the host enqueues
 * data for TPUs (op_stats.md 1, 2 and 6).
 */
#ifndef TFP_ANALYSIS_SUMMARY_UTILIZATION_H
#define TFP_ANALYSIS_SUMMARY_UTILIZATION_H

#include "store/capture.h"

struct tfp_utilization {
	/* Over TPU cores: time with and without an op that computes, from the first op to the
	 * last. Over GPUs that ran anything: time with and without a kernel or copy on some
	 * stream, of the time captured (of the plane that lasts longest). */
	uint64_t busy_ps, idle_ps;
	/* Percent, from counters; summed over hosts where hosts is more than 1. */
	double matrix_unit_percent, hbm_percent;
	/* Of InfeedEnqueue ops on each thread, the last left out: durations, and from the
	 * first's begin to the last's. */
	uint64_t enqueue_ps, enqueue_window_ps;
	uint64_t devices_active; /* TPU cores and GPUs that ran anything */
};

enum tfp_status tfp_utilization_get(struct tfp_capture *capture, struct tfp_pool *pool,
				    const struct tfp_utilization **out,
				    struct tfp_error *err) TFP_CHECK;

#endif
