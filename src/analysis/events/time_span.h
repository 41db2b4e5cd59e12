/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From when to when something took, by the capture's clock.
 */
#ifndef TFP_ANALYSIS_EVENTS_TIME_SPAN_H
#define TFP_ANALYSIS_EVENTS_TIME_SPAN_H

#include "store/capture.h"

#include <stdbool.h>
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

/* Of an event of a TPU by the device's own clock, from its stats device_offset_ps and
 * device_duration_ps; below 0: it has none. false, and *span as it was, when one is missing or too
 * far off for sums. (XLA: GetDeviceEventTimespan, xplane_utils.cc.) */
static inline bool tfp_device_span(int64_t offset_ps, int64_t duration_ps,
				   struct tfp_time_span *span)
{
	const int64_t most = INT64_MAX / 4;
	if (offset_ps < 0 || offset_ps >= most || duration_ps < 0 || duration_ps >= most)
		return false;
	*span = (struct tfp_time_span){offset_ps, offset_ps + duration_ps};
	return true;
}

#endif
