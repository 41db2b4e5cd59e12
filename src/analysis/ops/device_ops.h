/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Op metrics of the devices (op_stats.md 2; where TensorFlow 2.x and XProf
 * differ, tf2_and_xprof.md).
 */
#ifndef TFP_ANALYSIS_OPS_DEVICE_OPS_H
#define TFP_ANALYSIS_OPS_DEVICE_OPS_H

#include "analysis/grouping/groups.h"
#include "analysis/hlo/hlo_modules.h"
#include "analysis/ops/kernels.h"
#include "analysis/ops/op_db.h"
#include "analysis/ops/op_steps.h"
#include "analysis/ops/step_work.h"

/* What devices did, all added up. */
struct tfp_device_work {
	struct tfp_op_db ops; /* with one IDLE op */
	/* Of GPUs: kernels and copies that belong to no op, by their own names. */
	struct tfp_op_db unnamed;
	/* Time of the devices' windows, where ops take longer than those the time of ops, which is
	 * counted for each device by itself: of ops that XProf knows (instructions, and those
	 * with tf_op), and of all with the unnamed. ops.total_time_ps lies between them. */
	uint64_t peers_time_ps, whole_time_ps;
};

void tfp_device_work_init(struct tfp_device_work *work);
/* Accepts zeroed memory. */
void tfp_device_work_release(struct tfp_device_work *work);
/* Adds another host's or device's; false without memory. */
bool tfp_device_work_merge(struct tfp_device_work *to, const struct tfp_device_work *from);

/* Ops of all TPU cores, or where there are none of all GPUs, added up, with
 * one IDLE op. A device without a single event adds nothing. kernels: those of all GPUs,
 * sorted; made in the same walk over the events. Both are initialised by the caller, and
 * released whatever happens. groups as in tfp_host_ops. */
enum tfp_status tfp_device_ops(struct tfp_capture *capture, const struct tfp_hlo_modules *modules,
			       const struct tfp_groups *groups, struct tfp_pool *pool,
			       struct tfp_device_work *out, struct tfp_kernels *kernels,
			       struct tfp_error *err) TFP_CHECK;

/* What one device did, and in which group. */
struct tfp_device_by_step {
	const struct tfp_plane *plane;
	struct tfp_device_work work;
	struct tfp_op_steps steps, unnamed_steps; /* of work.ops and work.unnamed */
};

/* The same as tfp_device_ops, each device by itself. groups: of all events. The list of *count
 * is the caller's also after an error (tfp_devices_by_step_free); planes are the capture's. */
enum tfp_status tfp_devices_by_step(struct tfp_capture *capture,
				    const struct tfp_hlo_modules *modules,
				    const struct tfp_groups *groups, struct tfp_pool *pool,
				    struct tfp_device_by_step **out, size_t *count,
				    struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_devices_by_step_free(struct tfp_device_by_step *devices, size_t count);
/* Adds to count steps what devices did in them. A device's event counts for the step of its
 * group, of an event of no group for none. step_of_group: by group id, the place in steps, or
 * TFP_NO_WORK. Of steps name, place and durations are given, all else is zeroed. On TPUs the
 * line XLA Ops counts. */
enum tfp_status tfp_device_step_work(struct tfp_capture *capture,
				     const struct tfp_hlo_modules *modules,
				     const struct tfp_groups *groups, const uint32_t *step_of_group,
				     struct tfp_pool *pool, struct tfp_step_work *steps,
				     size_t count, struct tfp_error *err) TFP_CHECK;

/* Calls visit with every event that counts for a device op, and the framework op that it
 * counts for, as tfp_op_db_by_framework_op names it. */
enum tfp_status tfp_device_op_events(const struct tfp_capture *capture,
				     const struct tfp_hlo_modules *modules,
				     void (*visit)(void *context, const struct tfp_plane *plane,
						   const struct tfp_line *line, size_t event,
						   struct tfp_str name, struct tfp_str type),
				     void *context, struct tfp_error *err) TFP_CHECK;

#endif
