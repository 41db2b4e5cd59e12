/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a run's devices: not recorded, mostly idle, mostly waiting, or busy. It is the
 * first thing to know where there are no steps
 * (docs/tools/overview_page.md, "What the devices did").
 */
#ifndef TFP_TOOLS_DEVICE_ACTIVITY_H
#define TFP_TOOLS_DEVICE_ACTIVITY_H

#include "tools/run_summary.h"

enum tfp_device_state {
	TFP_DEVICE_NONE,         /* the run has none */
	TFP_DEVICE_NOT_RECORDED, /* it has, and nothing of them is in the captures */
	TFP_DEVICE_IDLE,         /* TFP_MOSTLY of the time */
	TFP_DEVICE_WAITING,      /* TFP_MOSTLY of the time of its ops is waiting for copies */
	TFP_DEVICE_BUSY,
};

#define TFP_MOSTLY 50.0 /* percent */

struct tfp_device_activity {
	enum tfp_device_state state;
	/* Of the time of devices that ran anything, as tfp_utilization has it. */
	double idle_percent;
	/* Of the time of device ops: TPU ops that only wait for a copy, a transfer or a
	 * collective which began before to end (copy-done and the like). */
	double wait_percent;
	char statement[500]; /* "" for TFP_DEVICE_NONE */
};

void tfp_device_activity(const struct tfp_run_summary *run, struct tfp_device_activity *out);

/* "none", "not_recorded", "idle", "waiting", "busy". */
const char *tfp_device_state_name(enum tfp_device_state state);

#endif
