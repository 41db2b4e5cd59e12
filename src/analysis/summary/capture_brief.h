/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture in a few numbers, and what is wrong with it.
 */
#ifndef TFP_ANALYSIS_SUMMARY_CAPTURE_BRIEF_H
#define TFP_ANALYSIS_SUMMARY_CAPTURE_BRIEF_H

#include "analysis/timeline/tracks.h"

struct tfp_capture_brief {
	uint64_t planes, lines, events;
	uint64_t broken_modules; /* HLO modules that could not be read */
	double duration_ms;      /* of the longest plane, as planes need not share a clock */
	struct tfp_capture_start start;
	const struct tfp_diagnostic *diagnostics; /* about damage; whose the brief is */
	size_t diagnostic_count;
};

/* Of a capture; computed once and kept with it. */
enum tfp_status tfp_capture_brief_get(struct tfp_capture *capture, struct tfp_pool *pool,
				      const struct tfp_capture_brief **out,
				      struct tfp_error *err) TFP_CHECK;

/* From the first begin to the last end of a plane's events; any is false without events that
 * have a time. */
struct tfp_plane_span {
	int64_t from_ps, to_ps;
	bool any;
};

struct tfp_plane_span tfp_plane_span(const struct tfp_plane *plane);
/* 0 without events. */
double tfp_plane_span_ms(struct tfp_plane_span span);

#endif
