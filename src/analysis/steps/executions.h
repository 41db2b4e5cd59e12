/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executions of an XLA module, where they stand in for steps that nobody
 * marked (JAX programs without StepTraceAnnotation; inference on TPUs).
 *
 * The module is the one with the most time in all of those that run at least twice
 * on a device. A step goes from the begin of one execution to the begin of the next,
 * so that events between them are counted too. The capture does not know what
 * follows the last execution: its step ends with the device's last event, but takes no
 * longer than the longest before it, unless its execution does. On a TPU the line `XLA Modules` has
 * the executions. A GPU's kernels only say which module and operation they are of: an execution
 * begins where an operation runs that every execution runs once.
 */
#ifndef TFP_ANALYSIS_STEPS_EXECUTIONS_H
#define TFP_ANALYSIS_STEPS_EXECUTIONS_H

#include "analysis/events/time_span.h"
#include "base/arena.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>

struct tfp_executions {
	struct tfp_str module; /* "jit_train_step(17)"; any bytes, owned */
	size_t count;          /* of steps, at least 2; 0: no module repeats */
	/* By plane: count spans, ascending, each ending where the next begins; NULL for
	 * planes that take no part. GPUs of a host share their steps. */
	const struct tfp_time_span **spans;
	size_t plane_count;
	/* The plane whose steps are the host's. */
	size_t chief;
	struct tfp_arena arena;
};

/* Of a capture; computed once. */
enum tfp_status tfp_executions_get(struct tfp_capture *capture, struct tfp_pool *pool,
				   const struct tfp_executions **out,
				   struct tfp_error *err) TFP_CHECK;

/* Step of a moment on a plane, or -1; plane: one that takes no part goes by the chief. */
int32_t tfp_execution_at(const struct tfp_executions *e, size_t plane, int64_t ps);

#endif
