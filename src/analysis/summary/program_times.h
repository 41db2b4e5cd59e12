/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the programs of a capture were on its devices, and how often each was executed.
 *
 *     struct tfp_program_times times;
 *     status = tfp_program_times_init(&times, capture, pool, &err);
 *     ... times.modules->modules[i], times.list[i] ...
 *     tfp_program_times_release(&times);
 *
 * On a GPU the time is that of kernels and copies that name an instruction of the program. No
 * event says where an execution begins; an instruction outside of loops and branches runs once
 * in each, so an execution is counted as most of these instructions were. One that the capture
 * cut off may be missing. On a TPU the time is that of operations, nested ones counted once, and
 * the line `XLA Modules` has the executions.
 */
#ifndef TFP_ANALYSIS_SUMMARY_PROGRAM_TIMES_H
#define TFP_ANALYSIS_SUMMARY_PROGRAM_TIMES_H

#include "analysis/hlo/hlo_modules.h"
#include "store/capture.h"

/* Of all devices of the capture together: a program that four run at once counts four times. */
struct tfp_program_time {
	uint64_t time_ps;
	uint64_t executions;
	/* Something that a device did names the program. */
	bool has_time;
	bool has_executions;
};

struct tfp_program_times {
	const struct tfp_hlo_modules *modules; /* the capture's */
	struct tfp_program_time *list;         /* entry i is of module i; owned */
};

/* Released by the caller in any case. The capture must outlive it. */
enum tfp_status tfp_program_times_init(struct tfp_program_times *times, struct tfp_capture *capture,
				       struct tfp_pool *pool, struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_program_times_release(struct tfp_program_times *times);

#endif
