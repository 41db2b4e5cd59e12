/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace viewer's answers on one capture, through the same code as a request but for the
 * socket: the index against a load, tiles at random places and zooms with their sizes,
 * searches, sums.
 *
 *     bench_trace LOGDIR [REQUESTS]
 */
#include "answer.h"

#include "analysis/timeline/event_categories.h"
#include "analysis/timeline/timeline.h"
#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRACKS 40
#define PIXELS 1920
#define MOST   100000

static struct tfp_http_app app;
static struct tfp_pool *pool;
static const struct tfp_run *run;
static char run_name[512];

/* By the clock, and of all processors together: the one that a busy machine leaves alone. */
struct moment {
	int64_t clock_ns, busy_ns;
};

struct spent {
	double ms, busy_ms;
};

static struct moment now(void)
{
	struct timespec busy;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &busy);
	return (struct moment){tfp_clock_monotonic_ns(),
			       (int64_t)busy.tv_sec * 1000000000 + busy.tv_nsec};
}

static struct spent since(struct moment start)
{
	struct moment end = now();
	return (struct spent){(double)(end.clock_ns - start.clock_ns) / 1e6,
			      (double)(end.busy_ns - start.busy_ns) / 1e6};
}

static struct spent least(struct spent a, struct spent b)
{
	return (struct spent){fmin(a.ms, b.ms), fmin(a.busy_ms, b.busy_ms)};
}

static void report(const char *what, struct spent s, struct spent base)
{
	printf("%-44s %9.1f ms, busy %9.1f ms", what, s.ms, s.busy_ms);
	if (base.ms > 0)
		printf(" %7.2f x, busy %.2f x the load", s.ms / base.ms, s.busy_ms / base.busy_ms);
	printf("\n");
}

static uint64_t random_state = 88172645463325252u;

static double next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double share(double *values, size_t count, double part)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[(size_t)(part * (double)(count - 1))];
}

/* ---- load and index ---- */

static int by_events(const void *a, const void *b)
{
	const struct tfp_timeline_track *const *x = a, *const *y = b;
	return (*x)->line->event_count < (*y)->line->event_count
		       ? 1
		       : (*x)->line->event_count > (*y)->line->event_count;
}

struct built {
	struct spent load, tracks, index, categories, derived, all;
	uint64_t events, index_bytes, column_bytes;
	int64_t duration_ps;
	char largest[TRACKS * 24];
};

static void list_tracks(const struct tfp_timeline *timeline, char *out, size_t size)
{
	const struct tfp_timeline_track **list = calloc(timeline->track_count + 1, sizeof(*list));
	size_t used = 0;
	for (uint32_t t = 0; t < timeline->track_count; t++)
		list[t] = &timeline->tracks[t];
	qsort(list, timeline->track_count, sizeof(*list), by_events);
	for (uint32_t t = 0; t < timeline->track_count && t < TRACKS; t++)
		used += (size_t)snprintf(out + used, size - used, "%s0.%td", t ? "," : "",
					 list[t] - timeline->tracks);
	free(list);
}

/* One build in a fresh capture. */
static void build(struct built *b)
{
	struct tfp_capture_cache *cache;
	struct tfp_capture *capture;
	const struct tfp_tracks *tracks, *all_tracks;
	const struct tfp_timeline *timeline, *all_timeline = NULL;
	const struct tfp_event_categories *categories;
	struct tfp_error err;
	if (tfp_capture_cache_new(&cache, app.dir, UINT64_MAX, pool, &err) != TFP_OK)
		bench_die("cache", &err);
	struct moment start = now();
	if (tfp_capture_cache_get(cache, &run->hosts[0], &capture, &err) != TFP_OK)
		bench_die("load", &err);
	b->load = since(start);
	start = now();
	if (tfp_file_tracks_get(capture, pool, &tracks, &err) != TFP_OK)
		bench_die("tracks", &err);
	b->tracks = since(start);
	start = now();
	if (tfp_file_timeline_get(capture, pool, &timeline, &err) != TFP_OK)
		bench_die("index", &err);
	b->index = since(start);
	start = now();
	if (tfp_file_event_categories_get(capture, pool, &categories, &err) != TFP_OK)
		bench_die("categories", &err);
	b->categories = since(start);
	start = now();
	if (tfp_tracks_get(capture, pool, &all_tracks, &err) != TFP_OK ||
	    tfp_timeline_get(capture, pool, &all_timeline, &err) != TFP_OK)
		bench_die("derived lines", &err);
	b->derived = since(start);
	b->all = (struct spent){b->tracks.ms + b->index.ms + b->categories.ms,
				b->tracks.busy_ms + b->index.busy_ms + b->categories.busy_ms};
	b->events = tracks->event_count;
	b->index_bytes = timeline->heap_bytes + all_timeline->heap_bytes;
	b->column_bytes = capture->event_count * 24;
	b->duration_ps = tracks->end_ps - tracks->begin_ps;
	list_tracks(timeline, b->largest, sizeof(b->largest));
	tfp_capture_unref(capture);
	tfp_capture_cache_free(cache);
}

/* ---- requests ---- */

/* Milliseconds; what came is in *raw and *packed bytes, and shown where the answer says so. */
static struct spent ask(const char *uri, size_t *raw, size_t *packed, uint64_t *shown)
{
	static const char *const encodings[] = {"identity", "zstd"};
	struct spent spent = {0};
	for (int zstd = raw ? 0 : 1; zstd < 2; zstd++) {
		struct tfp_reply reply;
		struct moment start = now();
		bench_ask(&app, uri, encodings[zstd], &reply);
		spent = since(start);
		if (!zstd) {
			const char *at = strstr(tfp_buf_text(&reply.body), "\"shown\":");
			*raw = reply.body.size;
			if (at && shown)
				*shown = strtoull(at + 8, NULL, 10);
		} else if (packed) {
			*packed = reply.body.size;
		}
		tfp_reply_release(&reply);
	}
	return spent;
}

/* A view of so much of the trace somewhere, as the page asks for it. */
static void tile_uri(const struct built *b, double from_ps, double length_ps, char *uri,
		     size_t size)
{
	unsigned level = (unsigned)floor(log2(fmax(length_ps / PIXELS, 1)));
	uint64_t tile_ps = UINT64_C(512) << level;
	uint64_t first = (uint64_t)from_ps / tile_ps;
	uint64_t last = (uint64_t)(from_ps + length_ps) / tile_ps;
	uint64_t count = last - first + 1 > 16 ? 16 : last - first + 1;
	snprintf(uri, size,
		 "/trace_viewer/tiles?run=%s&tracks=%s&level=%u&tile=%" PRIu64 "&tiles=%" PRIu64,
		 run_name, b->largest, level, first, count);
}

static void tiles(const struct built *b, size_t requests)
{
	double *times = calloc(requests, sizeof(*times)), *busy = calloc(requests, sizeof(*busy));
	double *sizes = calloc(requests, sizeof(*sizes));
	double *entries = calloc(requests, sizeof(*entries)), most_raw = 0;
	double deepest = log2(fmax((double)b->duration_ps / 1e6, 2)); /* to a microsecond */
	char uri[4096];
	for (size_t i = 0; i < requests; i++) {
		double length = (double)b->duration_ps / exp2(next_random() * deepest);
		double from = next_random() * ((double)b->duration_ps - length);
		size_t raw, packed;
		uint64_t shown = 0;
		tile_uri(b, from, length, uri, sizeof(uri));
		struct spent spent = ask(uri, &raw, &packed, &shown);
		times[i] = spent.ms;
		busy[i] = spent.busy_ms;
		sizes[i] = (double)packed / 1e3;
		entries[i] = (double)shown;
		most_raw = fmax(most_raw, (double)raw / 1e3);
	}
	printf("tiles, %zu views of %d tracks, packed\n", requests, TRACKS);
	printf("  ms: median %.2f, 99 %% %.2f, worst %.2f; busy: median %.2f, 99 %% %.2f, worst "
	       "%.2f\n",
	       share(times, requests, 0.5), share(times, requests, 0.99), share(times, requests, 1),
	       share(busy, requests, 0.5), share(busy, requests, 0.99), share(busy, requests, 1));
	printf("  kB: median %.0f, 99 %% %.0f, worst %.0f; plain at most %.0f\n",
	       share(sizes, requests, 0.5), share(sizes, requests, 0.99), share(sizes, requests, 1),
	       most_raw);
	printf("  entries: median %.0f, worst %.0f\n", share(entries, requests, 0.5),
	       share(entries, requests, 1));
	free(times);
	free(busy);
	free(sizes);
	free(entries);
}

static void one(const char *what, const char *format, const char *rest)
{
	char uri[4096];
	struct spent best = {1e300, 1e300};
	size_t packed;
	snprintf(uri, sizeof(uri), format, run_name, rest);
	for (int i = 0; i < 3; i++)
		best = least(best, ask(uri, NULL, &packed, NULL));
	report(what, best, (struct spent){0});
}

int main(int argc, char **argv)
{
	size_t requests = argc > 2 ? (size_t)atoi(argv[2]) : 300;
	const struct tfp_logdir_snapshot *snapshot = NULL;
	struct tfp_error err;
	struct built b = {0}, best = {0};
	if (argc < 2 || requests < 1 || requests > MOST) {
		fprintf(stderr, "usage: bench_trace LOGDIR [REQUESTS]\n");
		return 2;
	}
	if (tfp_pool_new(&pool, 2, &err) != TFP_OK)
		bench_die("threads", &err);
	bench_open(&app, argv[1], NULL, pool);
	bench_run_name(&app, run_name, sizeof(run_name));
	if (tfp_logdir_snapshot(app.dir, &snapshot, &err) != TFP_OK)
		bench_die(argv[1], &err);
	run = &snapshot->runs[0];
	for (int i = 0; i < 3; i++) {
		build(&b);
		best.load = i ? least(best.load, b.load) : b.load;
		best.tracks = i ? least(best.tracks, b.tracks) : b.tracks;
		best.index = i ? least(best.index, b.index) : b.index;
		best.categories = i ? least(best.categories, b.categories) : b.categories;
		best.derived = i ? least(best.derived, b.derived) : b.derived;
		best.all = i ? least(best.all, b.all) : b.all;
	}
	printf("%.2f million events, %.1f s long\n", (double)b.events / 1e6,
	       (double)b.duration_ps / 1e12);
	report("load", best.load, (struct spent){0});
	report("list of tracks", best.tracks, best.load);
	report("index", best.index, best.load);
	report("categories", best.categories, best.load);
	report("these three", best.all, best.load);
	report("derived lines, and their index", best.derived, best.load);
	printf("index %.1f MB, %.1f %% of the columns\n", (double)b.index_bytes / 1e6,
	       100.0 * (double)b.index_bytes / (double)b.column_bytes);
	char uri[1024];
	snprintf(uri, sizeof(uri), "/trace_viewer/tracks?derived=0&run=%s", run_name);
	report("first answer, from nothing", ask(uri, NULL, NULL, NULL), best.load);
	snprintf(uri, sizeof(uri), "/trace_viewer/tracks?run=%s", run_name);
	report("then the whole, with steps", ask(uri, NULL, NULL, NULL), best.load);
	one("tracks, again", "/trace_viewer/tracks?run=%s%s", "");
	tiles(&b, requests);
	one("search of a name", "/trace_viewer/search?run=%s&q=%s", "MatMul");
	one("search of a name, hit 1000000", "/trace_viewer/search?run=%s&offset=1000000&q=%s",
	    "e");
	one("search of names by an expression", "/trace_viewer/search?run=%s&mode=regex&q=%s",
	    "mat.*l%7Cconv");
	one("search of arguments", "/trace_viewer/search?run=%s&in=args&q=%s", "float32");
	one("sums of everything", "/trace_viewer/aggregate?run=%s%s", "");
	one("list of everything", "/trace_viewer/events?run=%s%s", "");
	tfp_logdir_snapshot_unref(snapshot);
	bench_close(&app);
	tfp_pool_free(pool);
	return 0;
}
