/*
 * What the server counts about itself, in Prometheus' text format. Counters are
 * atomics that any thread may change at any time; a page of them is not a
 * moment's picture, as nobody is stopped for it.
 *
 * To count something new, give it a line here and one in the table of metrics.c.
 */
#ifndef TFP_HTTP_METRICS_H
#define TFP_HTTP_METRICS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of the page; those of one family stand together. */
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

/* name: of each of count routes. Requests are counted by the route's number; the next one is
 * for files of the page, and one more for all else. NULL without memory. */
struct tfp_metrics *tfp_metrics_new(const char *(*name)(unsigned route), unsigned count);
/* Accepts NULL. */
void tfp_metrics_free(struct tfp_metrics *metrics);

/* All accept metrics == NULL: then nothing is counted. by may be negative. */
void tfp_metrics_add(struct tfp_metrics *metrics, enum tfp_metric which, int64_t by);
/* For values that somebody else keeps. */
void tfp_metrics_set(struct tfp_metrics *metrics, enum tfp_metric which, int64_t value);
int64_t tfp_metrics_get(const struct tfp_metrics *metrics, enum tfp_metric which);

/* One request was answered. route: its number, the count of routes for files of the page,
 * or more for what is neither. */
void tfp_metrics_request(struct tfp_metrics *metrics, unsigned route, unsigned status,
			 int64_t duration_ns);

/* Appends the page, those of the process included. */
void tfp_metrics_write(const struct tfp_metrics *metrics, struct tfp_buf *out);

#endif
