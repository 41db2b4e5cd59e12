/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Op metrics of the host's threads (op_stats.md 1; rules of TensorFlow 2.x in
 * tf2_and_xprof.md "Checked").
 */
#ifndef TFP_ANALYSIS_OPS_HOST_OPS_H
#define TFP_ANALYSIS_OPS_HOST_OPS_H

#include "analysis/events/op_name.h"
#include "analysis/grouping/groups.h"
#include "analysis/ops/op_db.h"
#include "analysis/ops/op_steps.h"
#include "store/capture.h"

/* Ops of the plane /host:CPU, all threads added up, with one IDLE op. out is
 * initialised by the caller. No such plane: nothing is added.
 * groups tell what ran eagerly; without them (NULL) the stats of the file do. */
enum tfp_status tfp_host_ops(const struct tfp_capture *capture, const struct tfp_groups *groups,
			     struct tfp_pool *pool, struct tfp_op_db *out,
			     struct tfp_error *err) TFP_CHECK;

/* The same; steps (initialised by the caller, of out's ops) gets what they took in each group.
 * Without groups, or with NULL, nothing. */
enum tfp_status tfp_host_ops_by_step(const struct tfp_capture *capture,
				     const struct tfp_groups *groups, struct tfp_pool *pool,
				     struct tfp_op_db *out, struct tfp_op_steps *steps,
				     struct tfp_error *err) TFP_CHECK;

/* Calls visit with every event that counts for a host op, and that op's name and type. */
enum tfp_status tfp_host_op_events(const struct tfp_capture *capture,
				   void (*visit)(void *context, const struct tfp_plane *plane,
						 const struct tfp_line *line, size_t event,
						 struct tfp_str name, struct tfp_str type),
				   void *context, struct tfp_error *err) TFP_CHECK;

#endif
