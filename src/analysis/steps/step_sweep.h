/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the time between two moments is spent on, given spans of time that overlap.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_SWEEP_H
#define TFP_ANALYSIS_STEPS_STEP_SWEEP_H

#include "analysis/steps/step_kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_step_span {
	int64_t begin_ps, end_ps; /* end >= begin */
	uint32_t group;
	uint8_t type; /* enum tfp_step_event */
};

/* spans: of one group, in any order, also overlapping; they are reordered. Adds to in_step the
 * time within [step_begin, step_end] by type, adds to everywhere all time by type, and sets
 * seen for every type that had a segment, even one of no length (ToNonOverlappedEvents). Spans
 * of no length are taken as the peers take them: the end of such a span comes before its
 * begin, so its type goes on until something greater ends or another span of its type does.
 * false without memory. */
bool tfp_step_sweep(struct tfp_step_span *spans, size_t count, int64_t step_begin, int64_t step_end,
		    uint64_t in_step[TFP_STEP_EVENT_COUNT],
		    uint64_t everywhere[TFP_STEP_EVENT_COUNT], bool seen[TFP_STEP_EVENT_COUNT]);

#endif
