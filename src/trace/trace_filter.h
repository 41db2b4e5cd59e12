/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of a trace XProf's page asks for: those of some steps, and those that a
 * TraceFilterConfig keeps (trace_filter_config.proto as JSON, read as XProf reads it).
 *
 *     struct tfp_trace_filter *filter;
 *     status = tfp_trace_filter_new(&filter, "3,4", "{\"deviceRegexes\": [\"GPU\"]}", &err);
 *     if (tfp_trace_filter_takes_row(filter, "host /device:GPU:0", &row) &&
 *         tfp_trace_filter_takes(filter, group, name, duration_ps)) ...
 *     status = tfp_trace_filter_check(filter, &err);
 *     tfp_trace_filter_free(filter);
 */
#ifndef TFP_TRACE_TRACE_FILTER_H
#define TFP_TRACE_TRACE_FILTER_H

#include "base/error.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_trace_filter;

/* groups: numbers of steps with commas; config: JSON; either may be NULL or "". *out is NULL
 * when all is wanted. TFP_BAD_QUERY when groups or config is something else, when an expression
 * is none, and for parts of XProf's format that XProf does not follow. */
enum tfp_status tfp_trace_filter_new(struct tfp_trace_filter **out, const char *groups,
				     const char *config, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_trace_filter_free(struct tfp_trace_filter *filter);

/* All accept NULL, which takes everything. One thread at a time. */

/* process: as it is shown, host in front; row: NULL for counters, which are on none. */
bool tfp_trace_filter_takes_row(const struct tfp_trace_filter *filter, struct tfp_str process,
				const struct tfp_str *row);
/* group: below 0 for none. */
bool tfp_trace_filter_takes(const struct tfp_trace_filter *filter, int64_t group,
			    struct tfp_str name, int64_t duration_ps);
/* At the end: TFP_TOO_LARGE when an expression was too much for some text, so that answers about
 * it mean nothing; TFP_NO_MEMORY. */
enum tfp_status tfp_trace_filter_check(const struct tfp_trace_filter *filter,
				       struct tfp_error *err) TFP_CHECK;

#endif
