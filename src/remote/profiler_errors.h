/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the errors of a program's profiler mean, and what to do about them.
 */
#ifndef TFP_REMOTE_PROFILER_ERRORS_H
#define TFP_REMOTE_PROFILER_ERRORS_H

#include "remote/grpc_unary.h"

#include <stdbool.h>

/* Whether somebody else is profiling the program: it takes one profile at a time. Programs
 * report that as INTERNAL, so that only their words tell it from a defect. */
bool tfp_profiler_is_busy(const struct tfp_grpc_result *r);
/* Whether it is worth asking again. This is the rule of TensorFlow's own client and nothing
 * more, because a second try of anything else would only disturb the program again. */
bool tfp_profiler_is_retryable(const struct tfp_grpc_result *r);
/* What a person can do; "" when there is nothing to say. A constant. */
const char *tfp_profiler_hint(const struct tfp_grpc_result *r);

#endif
