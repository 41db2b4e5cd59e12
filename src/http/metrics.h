/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's counters about itself, in Prometheus' text format. Any thread may change an
 * (atomic) counter at any time. A page of them is no picture of one moment, because nothing
 * stops while it is written.
 *
 * To count something new, give it a line here and one in the table of metrics.c.
 */
#ifndef TFP_HTTP_METRICS_H
#define TFP_HTTP_METRICS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of the page. Metrics of one family stand together. */
enum tfp_metric {
	TFP_METRIC_IN_FLIGHT, /* requests being answered */
	TFP_METRIC_BODY_BYTES,
	TFP_METRIC_CUT_OFF,
	TFP_METRIC_CONNECTIONS,
	TFP_METRIC_ACCEPTED,
	TFP_METRIC_REFUSED_TOTAL, /* connections, because all places are taken */
	TFP_METRIC_REFUSED_PER_CLIENT,
	TFP_METRIC_CLOSED_IDLE,
	TFP_METRIC_CLOSED_SLOW_HEAD,
	TFP_METRIC_CLOSED_SLOW_BODY,
	TFP_METRIC_CLOSED_SLOW_READER,
	TFP_METRIC_CLOSED_FOR_ROOM,
	TFP_METRIC_JOBS_QUEUED,
	TFP_METRIC_JOBS_RUNNING,
	TFP_METRIC_JOBS_STARTED,
	TFP_METRIC_JOBS_JOINED,
	TFP_METRIC_JOBS_CANCELLED,
	TFP_METRIC_JOBS_REFUSED,
	TFP_METRIC_ANSWERS_KEPT,
	TFP_METRIC_ANSWER_BYTES,
	TFP_METRIC_ANSWERS_FROM_MEMORY,
	TFP_METRIC_ANSWERS_FROM_DISK,
	TFP_METRIC_DOWNLOADS,
	TFP_METRIC_MEMORY_BYTES, /* of the limit */
	TFP_METRIC_MEMORY_LIMIT,
	TFP_METRIC_CAPTURES_RESIDENT,
	TFP_METRIC_CAPTURE_BYTES,
	TFP_METRIC_CAPTURE_HITS,
	TFP_METRIC_CAPTURE_LOADS,
	TFP_METRIC_RESULT_HITS,
	TFP_METRIC_RESULT_MISSES,
	TFP_METRIC_RESULT_WRITES,
	TFP_METRIC_RESULT_FAILURES,
	TFP_METRIC_RESULT_BYTES,
	TFP_METRIC_OPEN_FILES_MAX,
	TFP_METRIC_COUNT
};

struct tfp_metrics;

/* name gives the path of each of count routes. Requests are counted by the route's number. The
 * number after the last route is for files of the page, the next for everything else. NULL without
 * memory. */
struct tfp_metrics *tfp_metrics_new(const char *(*name)(unsigned route), unsigned count);
/* Accepts NULL. */
void tfp_metrics_free(struct tfp_metrics *metrics);

/* These accept metrics == NULL, and then count nothing. by may be negative. */
void tfp_metrics_add(struct tfp_metrics *metrics, enum tfp_metric which, int64_t by);
/* For values that are counted elsewhere. */
void tfp_metrics_set(struct tfp_metrics *metrics, enum tfp_metric which, int64_t value);
int64_t tfp_metrics_get(const struct tfp_metrics *metrics, enum tfp_metric which);

/* Counts a request that was answered. route: a number as tfp_metrics_new says. */
void tfp_metrics_request(struct tfp_metrics *metrics, unsigned route, unsigned status,
			 int64_t duration_ns);

/* Appends the page, with the metrics of the process. */
void tfp_metrics_write(const struct tfp_metrics *metrics, struct tfp_buf *out);

#endif
