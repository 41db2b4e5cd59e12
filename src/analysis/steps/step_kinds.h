/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the time of a step is spent on: the kinds of events, the categories that
 * pages show, and how the names of events tell the kind (op_stats.md 3 to 5; where
 * TensorFlow 2.x and XProf differ, tf2_and_xprof.md decides).
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_KINDS_H
#define TFP_ANALYSIS_STEPS_STEP_KINDS_H

#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

/* What a moment of a step is spent on (event_span.h). Where several things
 * happen at once, the greater one counts. */
enum tfp_step_event {
	TFP_STEP_UNKNOWN,
	TFP_STEP_HOST_COMPUTE,
	TFP_STEP_HOST_COMPILE,
	TFP_STEP_HOST_TO_HOST,
	TFP_STEP_HOST_TO_DEVICE,
	TFP_STEP_HOST_PREPARE, /* launches kernels */
	TFP_STEP_DEVICE_COLLECTIVES,
	TFP_STEP_HOST_WAIT_INPUT,
	TFP_STEP_DEVICE_TO_DEVICE,
	TFP_STEP_DEVICE_TO_HOST,
	TFP_STEP_DEVICE_COMPUTE_32,
	TFP_STEP_DEVICE_COMPUTE_16,
	TFP_STEP_EVENT_COUNT
};

/* What the pages show, in the order of the pod viewer's ids 1 to 9. */
enum tfp_step_category {
	TFP_STEP_DEVICE_COMPUTE,
	TFP_STEP_BETWEEN_DEVICES,
	TFP_STEP_COLLECTIVES,
	TFP_STEP_ON_HOST,
	TFP_STEP_KERNEL_LAUNCH,
	TFP_STEP_INPUT,
	TFP_STEP_OUTPUT,
	TFP_STEP_COMPILATION,
	TFP_STEP_ALL_OTHERS,
	TFP_STEP_CATEGORY_COUNT
};

/* What a TPU core's time goes to, by the categories of its HLO ops. */
enum tfp_tpu_part {
	TFP_TPU_COMPUTE,
	TFP_TPU_INFEED,
	TFP_TPU_OUTFEED,
	TFP_TPU_HOST_TRANSFER,
	TFP_TPU_ALL_REDUCE,
	TFP_TPU_IDLE,
	TFP_TPU_PART_COUNT
};

enum tfp_step_copy { TFP_COPY_H2D, TFP_COPY_D2H, TFP_COPY_D2D, TFP_COPY_COUNT };

/* HOST_TO_HOST belongs to none of the peers' categories. Here it counts as all others,
 * so that the categories add up to the step. */
enum tfp_step_category tfp_step_category_of(enum tfp_step_event type);
/* "Device compute", ... */
const char *tfp_step_category_name(enum tfp_step_category category);

/* The kind of an event on a GPU's stream. shape: its stat shape, "" for none. **/
enum tfp_step_event tfp_step_type_of_gpu_event(struct tfp_str name, struct tfp_str shape);
/* The kind of a host event that is neither a marker nor a frame. */
enum tfp_step_event tfp_step_type_of_host_event(struct tfp_str name, bool has_gpu,
						bool has_correlation_id);
/* What a TPU does in an op. category: the op's stat hlo_category, "" for none. */
enum tfp_tpu_part tfp_tpu_part_of_category(struct tfp_str category);

#endif
