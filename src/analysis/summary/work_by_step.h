/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ops of a capture took, by device and step: the tables of op_stats.h, but each device
 * by itself, and with the part of each step.
 *
 *     const struct tfp_work_by_step *work;
 *     tfp_work_by_step_get(capture, pool, &work, &err);
 *
 * Steps are those that the program marked, else executions of its module (capture_steps.h).
 * Sums over devices and steps, with what lies in no step, are those of op_stats.h.
 */
#ifndef TFP_ANALYSIS_SUMMARY_WORK_BY_STEP_H
#define TFP_ANALYSIS_SUMMARY_WORK_BY_STEP_H

#include "analysis/ops/device_ops.h"
#include "analysis/ops/host_ops.h"

struct tfp_work_step {
	uint32_t group;      /* by which op_steps.h has it */
	struct tfp_str name; /* "train 12"; "" where nobody named it. The fact's */
};

struct tfp_work_by_step {
	struct tfp_device_by_step *devices;
	size_t device_count;
	bool has_host; /* there is a host plane */
	struct tfp_op_db host_ops;
	struct tfp_op_steps host_steps;
	struct tfp_work_step *steps; /* ascending by group */
	size_t step_count;
	bool by_module; /* the steps are executions of a module */
	struct tfp_arena arena;
};

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_work_by_step_get(struct tfp_capture *capture, struct tfp_pool *pool,
				     const struct tfp_work_by_step **out,
				     struct tfp_error *err) TFP_CHECK;

#endif
