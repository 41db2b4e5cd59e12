/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operations of a run took, whether it is one of captures (capture_work.h) or a graph run
 * (graph_run.h): the same views show both. Of a graph run each node is a unit, and the graph is a
 * program.
 */
#ifndef TFP_TFPROF_GRAPH_WORK_H
#define TFP_TFPROF_GRAPH_WORK_H

#include "tfprof/capture_work.h"

/* As tfp_capture_work_init, for a run of any kind. */
enum tfp_status tfp_run_work_init(struct tfp_capture_work *work, const struct tfp_session *session,
				  const struct tfp_capture_wanted *wanted,
				  struct tfp_error *err) TFP_CHECK;

#endif
