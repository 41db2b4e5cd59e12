/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which step of one sequence is which of another (step_intersection.cc): hosts
 * and cores begin to be recorded at different steps.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_ALIGN_H
#define TFP_ANALYSIS_STEPS_STEP_ALIGN_H

#include "analysis/events/time_span.h"

#include <stdbool.h>
#include <stddef.h>

/* The shift k (place in chief - own place) with which steps of the two overlap most in all;
 * of equal ones the first of 0, 1, 2, ..., -1, -2, ... Takes time and memory in
 * proportion to the steps, and to the pairs that overlap. false without memory. */
bool tfp_step_shift(const struct tfp_time_span *chief, size_t chief_count,
		    const struct tfp_time_span *own, size_t own_count, int64_t *shift);

#endif
