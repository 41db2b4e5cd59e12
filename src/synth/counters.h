/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU's counters would have shown: how busy its processors and its memory were, sampled
 * evenly in each step, as XLA's sampler writes it.
 */
#ifndef TFP_SYNTH_COUNTERS_H
#define TFP_SYNTH_COUNTERS_H

#include "synth/host_state.h"

/* Makes the device's line of counters and its names. */
void tfp_synth_counters_set_up(struct tfp_synth_host *h, struct tfp_synth_device *d,
			       int64_t timestamp_ns);
/* The samples of a step. */
void tfp_synth_counters_step(struct tfp_synth_host *h, const struct tfp_synth_step *s,
			     unsigned device);

#endif
