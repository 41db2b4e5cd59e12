/* SPDX-License-Identifier: Apache-2.0 */
#include "http/metrics.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLASSES 5u /* 1xx to 5xx */

/* Upper bounds; one more bucket has no bound. */
static const struct bound {
	int64_t ns;
	const char *seconds;
} bounds[] = {
	{100000, "0.0001"},  {250000, "0.00025"}, {500000, "0.0005"},  {1000000, "0.001"},
	{2500000, "0.0025"}, {5000000, "0.005"},  {10000000, "0.01"},  {25000000, "0.025"},
	{50000000, "0.05"},  {100000000, "0.1"},  {250000000, "0.25"}, {500000000, "0.5"},
	{1000000000, "1"},   {2500000000, "2.5"}, {5000000000, "5"},   {10000000000, "10"},
	{30000000000, "30"}, {60000000000, "60"},
};

#define BUCKETS (sizeof(bounds) / sizeof(bounds[0]) + 1)

struct route {
	atomic_uint_least64_t by_class[CLASSES];
	/* Each request in one bucket; the page adds them up. */
	atomic_uint_least64_t buckets[BUCKETS];
	atomic_uint_least64_t sum_ns;
};

struct tfp_metrics {
	const char *(*name)(unsigned route);
	unsigned route_count;
	double started; /* seconds since 1970 */
	atomic_int_least64_t values[TFP_METRIC_COUNT];
	struct route routes[]; /* route_count + 2 */
};

static const struct family {
	const char *name; /* NULL: of the family above */
	const char *type, *help, *label;
} table[] = {
	[TFP_METRIC_IN_FLIGHT] = {"tfprof_http_requests_in_flight", "gauge",
				  "Requests being answered.", NULL},
	[TFP_METRIC_BODY_BYTES] = {"tfprof_http_response_body_bytes_total", "counter",
				   "Bytes of bodies handed out, as compressed.", NULL},
	[TFP_METRIC_CUT_OFF] = {"tfprof_http_requests_cut_off_total", "counter",
				"Requests whose connection ended before the answer did.", NULL},
	[TFP_METRIC_CONNECTIONS] = {"tfprof_http_connections_open", "gauge", "Open connections.",
				    NULL},
	[TFP_METRIC_ACCEPTED] = {"tfprof_http_connections_accepted_total", "counter",
				 "Connections taken.", NULL},
	[TFP_METRIC_REFUSED_TOTAL] = {"tfprof_http_connections_refused_total", "counter",
				      "Connections closed at once.", "reason=\"total\""},
	[TFP_METRIC_REFUSED_PER_CLIENT] = {NULL, NULL, NULL, "reason=\"per_client\""},
	[TFP_METRIC_CLOSED_IDLE] = {"tfprof_http_connections_closed_total", "counter",
				    "Connections closed by a limit.", "reason=\"idle\""},
	[TFP_METRIC_CLOSED_SLOW_HEAD] = {NULL, NULL, NULL, "reason=\"slow_head\""},
	[TFP_METRIC_CLOSED_SLOW_BODY] = {NULL, NULL, NULL, "reason=\"slow_body\""},
	[TFP_METRIC_CLOSED_SLOW_READER] = {NULL, NULL, NULL, "reason=\"slow_reader\""},
	[TFP_METRIC_CLOSED_FOR_ROOM] = {NULL, NULL, NULL, "reason=\"room\""},
	[TFP_METRIC_JOBS_QUEUED] = {"tfprof_jobs", "gauge", "Jobs that make answers.",
				    "state=\"queued\""},
	[TFP_METRIC_JOBS_RUNNING] = {NULL, NULL, NULL, "state=\"running\""},
	[TFP_METRIC_JOBS_STARTED] = {"tfprof_jobs_started_total", "counter", "Jobs begun.", NULL},
	[TFP_METRIC_JOBS_JOINED] = {"tfprof_jobs_joined_total", "counter",
				    "Requests that joined another's job.", NULL},
	[TFP_METRIC_JOBS_CANCELLED] = {"tfprof_jobs_cancelled_total", "counter",
				       "Jobs that nobody waited for any more.", NULL},
	[TFP_METRIC_JOBS_REFUSED] = {"tfprof_jobs_refused_total", "counter",
				     "Requests refused because too many wait.", NULL},
	[TFP_METRIC_ANSWERS_KEPT] = {"tfprof_answers_kept", "gauge", "Finished answers in memory.",
				     NULL},
	[TFP_METRIC_ANSWER_BYTES] = {"tfprof_answers_kept_bytes", "gauge",
				     "Bytes of finished answers in memory.", NULL},
	[TFP_METRIC_ANSWERS_FROM_MEMORY] = {"tfprof_answers_reused_total", "counter",
					    "Requests served a finished answer.",
					    "from=\"memory\""},
	[TFP_METRIC_ANSWERS_FROM_DISK] = {NULL, NULL, NULL, "from=\"disk\""},
	[TFP_METRIC_DOWNLOADS] = {"tfprof_downloads", "gauge",
				  "Answers being made while they are sent.", NULL},
	[TFP_METRIC_MEMORY_BYTES] = {"tfprof_memory_bytes", "gauge",
				     "Bytes in use that count towards the memory limit.", NULL},
	[TFP_METRIC_MEMORY_LIMIT] = {"tfprof_memory_limit_bytes", "gauge",
				     "Bytes that may be in use.", NULL},
	[TFP_METRIC_CAPTURES_RESIDENT] = {"tfprof_captures_resident", "gauge",
					  "Captures kept open.", NULL},
	[TFP_METRIC_CAPTURE_BYTES] = {"tfprof_captures_bytes", "gauge",
				      "Bytes that captures kept open hold, mapped ones included.",
				      NULL},
	[TFP_METRIC_CAPTURE_HITS] = {"tfprof_capture_cache_hits_total", "counter",
				     "Captures that were open when needed.", NULL},
	[TFP_METRIC_CAPTURE_LOADS] = {"tfprof_capture_cache_misses_total", "counter",
				      "Captures that had to be opened.", NULL},
	[TFP_METRIC_RESULT_HITS] = {"tfprof_result_cache_hits_total", "counter",
				    "Results found on disk.", NULL},
	[TFP_METRIC_RESULT_MISSES] = {"tfprof_result_cache_misses_total", "counter",
				      "Results not found on disk.", NULL},
	[TFP_METRIC_RESULT_WRITES] = {"tfprof_result_cache_writes_total", "counter",
				      "Results put on disk.", NULL},
	[TFP_METRIC_RESULT_FAILURES] = {"tfprof_result_cache_write_failures_total", "counter",
					"Results that could not be put on disk.", NULL},
	[TFP_METRIC_RESULT_BYTES] = {"tfprof_result_cache_bytes", "gauge",
				     "Bytes of results on disk, as far as known.", NULL},
	[TFP_METRIC_OPEN_FILES_MAX] = {"tfprof_open_files_max", "gauge",
				       "File descriptors that the process may have.", NULL},
};

_Static_assert(sizeof(table) / sizeof(table[0]) == TFP_METRIC_COUNT, "each has a line");

struct tfp_metrics *tfp_metrics_new(const char *(*name)(unsigned route), unsigned count)
{
	struct tfp_metrics *metrics =
		tfp_calloc(1, sizeof(*metrics) + (count + 2) * sizeof(metrics->routes[0]));
	if (metrics) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		metrics->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
		metrics->name = name;
		metrics->route_count = count;
	}
	return metrics;
}

void tfp_metrics_free(struct tfp_metrics *metrics)
{
	tfp_free(metrics);
}

/* Nothing depends on the order of counts. */
void tfp_metrics_add(struct tfp_metrics *metrics, enum tfp_metric which, int64_t by)
{
	if (metrics)
		atomic_fetch_add_explicit(&metrics->values[which], by, memory_order_relaxed);
}

void tfp_metrics_set(struct tfp_metrics *metrics, enum tfp_metric which, int64_t value)
{
	if (metrics)
		atomic_store_explicit(&metrics->values[which], value, memory_order_relaxed);
}

int64_t tfp_metrics_get(const struct tfp_metrics *metrics, enum tfp_metric which)
{
	return metrics ? atomic_load_explicit(&metrics->values[which], memory_order_relaxed) : 0;
}

static void increase(atomic_uint_least64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

void tfp_metrics_request(struct tfp_metrics *metrics, unsigned route, unsigned status,
			 int64_t duration_ns)
{
	size_t i = 0;
	if (!metrics || status < 100 || status >= 100 * (CLASSES + 1))
		return;
	if (route > metrics->route_count)
		route = metrics->route_count + 1;
	if (duration_ns < 0)
		duration_ns = 0;
	while (i < BUCKETS - 1 && duration_ns > bounds[i].ns)
		i++;
	increase(&metrics->routes[route].by_class[status / 100 - 1], 1);
	increase(&metrics->routes[route].buckets[i], 1);
	increase(&metrics->routes[route].sum_ns, (uint64_t)duration_ns);
}

/* ---- the page ---- */

static void begin(struct tfp_buf *out, const char *name, const char *type, const char *help)
{
	tfp_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static uint64_t count_of(const atomic_uint_least64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static const char *route_name(const struct tfp_metrics *metrics, unsigned i)
{
	if (i < metrics->route_count)
		return metrics->name(i);
	return i == metrics->route_count ? "page" : "other";
}

static void write_requests(const struct tfp_metrics *metrics, struct tfp_buf *out)
{
	begin(out, "tfprof_http_requests_total", "counter",
	      "Requests answered, by route and class of status.");
	for (unsigned i = 0; i < metrics->route_count + 2; i++) {
		for (unsigned c = 0; c < CLASSES; c++) {
			uint64_t n = count_of(&metrics->routes[i].by_class[c]);
			/* Combinations that never were would be most of the page. */
			if (n)
				tfp_buf_printf(out,
					       "tfprof_http_requests_total{route=\"%s\",status=\"%"
					       "uxx\"} %" PRIu64 "\n",
					       route_name(metrics, i), c + 1, n);
		}
	}
}

static void write_latencies(const struct tfp_metrics *metrics, struct tfp_buf *out)
{
	static const char name[] = "tfprof_http_request_duration_seconds";
	begin(out, name, "histogram", "From the first line of a request to the end of its answer.");
	for (unsigned i = 0; i < metrics->route_count + 2; i++) {
		const struct route *route = &metrics->routes[i];
		const char *label = route_name(metrics, i);
		uint64_t counts[BUCKETS], sum = 0, total = 0;
		for (size_t b = 0; b < BUCKETS; b++)
			total += counts[b] = count_of(&route->buckets[b]);
		if (total == 0)
			continue;
		for (size_t b = 0; b < BUCKETS; b++) {
			sum += counts[b];
			tfp_buf_printf(out, "%s_bucket{route=\"%s\",le=\"%s\"} %" PRIu64 "\n", name,
				       label, b < BUCKETS - 1 ? bounds[b].seconds : "+Inf", sum);
		}
		uint64_t ns = count_of(&route->sum_ns);
		tfp_buf_printf(out, "%s_sum{route=\"%s\"} %" PRIu64 ".%09" PRIu64 "\n", name, label,
			       ns / 1000000000, ns % 1000000000);
		/* The sum of the buckets as they were printed: they may have gone on meanwhile. */
		tfp_buf_printf(out, "%s_count{route=\"%s\"} %" PRIu64 "\n", name, label, total);
	}
}

/* Resident bytes, or 0 where the system does not tell. */
static uint64_t resident_bytes(void)
{
	unsigned long long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_process(const struct tfp_metrics *metrics, struct tfp_buf *out)
{
	struct timespec cpu = {0};
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	begin(out, "tfprof_process_cpu_seconds_total", "counter", "Processor time used.");
	tfp_buf_printf(out, "tfprof_process_cpu_seconds_total %" PRId64 ".%09ld\n",
		       (int64_t)cpu.tv_sec, cpu.tv_nsec);
	begin(out, "tfprof_process_start_time_seconds", "gauge", "When it began, since 1970.");
	tfp_buf_printf(out, "tfprof_process_start_time_seconds %.3f\n", metrics->started);
	begin(out, "tfprof_process_resident_memory_bytes", "gauge", "Resident memory.");
	tfp_buf_printf(out, "tfprof_process_resident_memory_bytes %" PRIu64 "\n", resident_bytes());
}

void tfp_metrics_write(const struct tfp_metrics *metrics, struct tfp_buf *out)
{
	const char *name = NULL;
	begin(out, "tfprof_build_info", "gauge", "1, with the program's version.");
	tfp_buf_puts(out, "tfprof_build_info{version=\"" TFP_VERSION "\"} 1\n");
	if (!metrics)
		return;
	write_process(metrics, out);
	write_requests(metrics, out);
	write_latencies(metrics, out);
	for (size_t i = 0; i < TFP_METRIC_COUNT; i++) {
		const struct family *f = &table[i];
		if (f->name) {
			name = f->name;
			begin(out, name, f->type, f->help);
		}
		tfp_buf_printf(out, "%s%s%s%s %" PRId64 "\n", name, f->label ? "{" : "",
			       f->label ? f->label : "", f->label ? "}" : "",
			       tfp_metrics_get(metrics, (enum tfp_metric)i));
	}
}
