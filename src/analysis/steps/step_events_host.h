/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a host's threads say about steps.
 */
#ifndef TFP_ANALYSIS_STEPS_STEP_EVENTS_HOST_H
#define TFP_ANALYSIS_STEPS_STEP_EVENTS_HOST_H

#include "analysis/steps/step_events.h"

struct tfp_step_host_options {
	const bool *wanted; /* by group: whether its host events count; NULL: all do */
	/* Of the host's lines; NULL without GPUs, where no event is a launch of a kernel. */
	const struct tfp_line_stats *stats;
	bool has_markers; /* names of markers mark steps; else they are frames around ops */
	bool by_runs;     /* runs are wanted, else spans */
};

/* Reads the host's plane in the pool's threads. false without memory; out is released by the
 * caller either way. */
bool tfp_step_events_of_host(const struct tfp_capture *capture, const struct tfp_groups *groups,
			     const struct tfp_step_host_options *options, struct tfp_pool *pool,
			     struct tfp_plane_steps *out);

/* The spans of a run of a line, at most run->count; returns how many. Spans of a type
 * that overlap are one. */
size_t tfp_step_spans_of_host_run(const struct tfp_plane_steps *steps, size_t line,
				  const struct tfp_step_run *run, struct tfp_step_span *spans);

#endif
