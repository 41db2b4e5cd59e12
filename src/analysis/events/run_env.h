/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that the profiled program ran on: their kind, their number, and
 * what they can do at most (op_stats.md 6).
 */
#ifndef TFP_ANALYSIS_EVENTS_RUN_ENV_H
#define TFP_ANALYSIS_EVENTS_RUN_ENV_H

#include "analysis/events/device_peaks.h"
#include "store/capture.h"

enum tfp_hardware { TFP_HW_UNKNOWN, TFP_HW_CPU, TFP_HW_GPU, TFP_HW_TPU };

struct tfp_run_env {
	enum tfp_hardware hardware;
	char device_type[96];   /* "Nvidia GPU (Volta)", "TPU v6 Lite", "CPU" */
	uint32_t device_count;  /* planes; idle devices count */
	char hostname[256];     /* as the profiler wrote it; "localhost" where it wrote none */
	struct tfp_peaks peaks; /* of the first device */
};

void tfp_run_env(const struct tfp_capture *capture, struct tfp_run_env *env);

/* The model of the device that a plane stands for; "" for planes of no device. */
void tfp_device_type(const struct tfp_plane *plane, char *out, size_t size);

/* The plane in which newer profilers write what the profile as a whole was. */
#define TFP_TASK_PLANE "Task Environment"

/* When the profile began, nanoseconds since 1970, by the profile_start_time of such a plane;
 * 0 where it does not say. */
int64_t tfp_profile_start_ns(const struct tfp_plane *plane);

#endif
