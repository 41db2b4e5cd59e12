/*
 * From when to when something took, by the capture's clock.
 */
#ifndef TFP_ANALYSIS_TIME_SPAN_H
#define TFP_ANALYSIS_TIME_SPAN_H

#include "store/capture.h"

#include <stdint.h>

struct tfp_time_span {
	int64_t begin_ps, end_ps; /* end >= begin */
};

/* Of an event. Far-off times of damaged files are brought near enough for sums and
 * differences to fit. */
static inline struct tfp_time_span tfp_event_span(const struct tfp_line *line, size_t i)
{
	const int64_t most = TFP_TIME_MAX_PS;
	int64_t start = tfp_event_start_ps(line, i), duration = tfp_event_duration_ps(line, i);
	struct tfp_time_span span;
	span.begin_ps = start > most ? most : start < -most ? -most : start;
	span.end_ps = span.begin_ps + (duration > most ? most : duration < 0 ? 0 : duration);
	return span;
}

#endif
