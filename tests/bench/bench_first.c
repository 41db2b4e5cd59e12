/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One first answer in a fresh process: what a user who opens a capture waits for.
 *
 *     bench_first FILE WHAT [THREADS]
 *
 * WHAT is scan (the bare scan, one thread), load, the name of a tool, tile (the trace viewer's
 * first tiles, as the page asks for them before derived lines are known), derived (the same,
 * once derived lines are there too), or event or search (the first event looked up, and the
 * first search over arguments, of a trace that is open). Prints milliseconds, milliseconds of all
 * processors together, most bytes on the heap, bytes of the file.
 */
#include "answer.h"
#include "measure.h"

#include "base/clock.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* As of the page: web/src/timeline/tiles.ts. */
#define SCREEN_PIXELS 1600
#define GROUP_ROWS    24
#define GROUP_TRACKS  60
#define BLOCK_TILES   4

static const char *path, *what;
static struct tfp_pool *pool;
static int64_t start_ns, start_busy_ns;

static int64_t busy_ns(void)
{
	struct timespec busy;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &busy);
	return (int64_t)busy.tv_sec * 1000000000 + busy.tv_nsec;
}

static void start_clocks(void)
{
	start_ns = tfp_clock_monotonic_ns();
	start_busy_ns = busy_ns();
}

static void load(void)
{
	struct tfp_http_app app;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_capture *capture;
	struct tfp_error err;
	bench_open(&app, path, NULL, pool);
	if (tfp_logdir_snapshot(app.dir, &snapshot, &err) != TFP_OK ||
	    tfp_capture_cache_get(app.cache, &snapshot->runs[0].hosts[0], &capture, &err) != TFP_OK)
		bench_die(path, &err);
	tfp_capture_unref(capture);
	tfp_logdir_snapshot_unref(snapshot);
	bench_close(&app);
}

/* The tracks that the page asks for first: one group, from the top. */
static void first_group(const json_t *tracks, char *list, size_t size)
{
	size_t process, i, used = 0, rows = 0, count = 0;
	const json_t *p, *track;
	json_array_foreach(json_object_get(tracks, "processes"), process, p)
	{
		json_array_foreach(json_object_get(p, "tracks"), i, track)
		{
			size_t depth = (size_t)json_integer_value(json_object_get(track, "depth"));
			rows += depth ? depth : 1;
			if (count && (rows > GROUP_ROWS || count == GROUP_TRACKS))
				return;
			used += (size_t)snprintf(list + used, size - used, "%s%s",
						 count++ ? "," : "",
						 json_string_value(json_object_get(track, "id")));
		}
	}
}

static void first_tiles(bool derived)
{
	struct tfp_http_app app;
	struct tfp_reply reply;
	char run[512], uri[4096], list[2048] = "";
	const char *early = derived ? "" : "derived=0&";
	bench_open(&app, path, NULL, pool);
	bench_run_name(&app, run, sizeof(run));
	snprintf(uri, sizeof(uri), "/trace_viewer/tracks?%srun=%s", early, run);
	bench_ask(&app, uri, NULL, &reply);
	json_t *tracks = json_loadb(tfp_buf_text(&reply.body), reply.body.size, 0, NULL);
	tfp_reply_release(&reply);
	double duration_ps = json_number_value(json_object_get(tracks, "duration_ps"));
	first_group(tracks, list, sizeof(list));
	if (duration_ps <= 0 || !list[0])
		bench_die("the trace has no events", NULL);
	json_decref(tracks);
	snprintf(uri, sizeof(uri),
		 "/trace_viewer/tiles?%srun=%s&tracks=%s&level=%ld&tile=0&tiles=%d", early, run,
		 list, lround(fmax(log2(duration_ps / SCREEN_PIXELS), 0)), BLOCK_TILES);
	bench_ask(&app, uri, NULL, &reply);
	tfp_reply_release(&reply);
	bench_close(&app);
}

/* What is asked of a trace with all of its lines, which is not counted. */
static void first_question(const char *question)
{
	struct tfp_http_app app;
	struct tfp_reply reply;
	char run[512], uri[4096], list[2048] = "";
	bench_open(&app, path, NULL, pool);
	bench_run_name(&app, run, sizeof(run));
	snprintf(uri, sizeof(uri), "/trace_viewer/tracks?run=%s", run);
	bench_ask(&app, uri, NULL, &reply);
	json_t *tracks = json_loadb(tfp_buf_text(&reply.body), reply.body.size, 0, NULL);
	tfp_reply_release(&reply);
	first_group(tracks, list, sizeof(list));
	json_decref(tracks);
	list[strcspn(list, ",")] = '\0';
	snprintf(uri, sizeof(uri), question, run, list);
	start_clocks();
	bench_ask(&app, uri, NULL, &reply);
	tfp_reply_release(&reply);
	bench_close(&app);
}

static void answer(void *context)
{
	(void)context;
	if (strcmp(what, "scan") == 0)
		bench_bare_scan(path);
	else if (strcmp(what, "load") == 0)
		load();
	else if (strcmp(what, "tile") == 0)
		first_tiles(false);
	else if (strcmp(what, "derived") == 0)
		first_tiles(true);
	else if (strcmp(what, "event") == 0)
		first_question("/trace_viewer/event?run=%s&id=%s.0");
	else if (strcmp(what, "search") == 0)
		first_question("/trace_viewer/search?run=%s&in=args&q=float32");
	else
		bench_first_answer(path, NULL, what, NULL, pool);
}

int main(int argc, char **argv)
{
	struct stat file;
	if (argc < 3 || stat(argv[1], &file) < 0) {
		fprintf(stderr, "usage: bench_first FILE scan|load|TOOL|tile|derived|event|search "
				"[THREADS]\n");
		return 2;
	}
	path = argv[1];
	what = argv[2];
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 2;
	if (threads > 1 && tfp_pool_new(&pool, threads, NULL) != TFP_OK)
		bench_die("threads", NULL);
	start_clocks();
	start_busy_ns = 0; /* threads that begin are counted, too */
	double peak_bytes = bench_peak_bytes(answer, NULL);
	double ms = (double)(tfp_clock_monotonic_ns() - start_ns) / 1e6;
	double busy_ms = (double)(busy_ns() - start_busy_ns) / 1e6;
	printf("%.3f %.3f %.0f %lld\n", ms, busy_ms, peak_bytes, (long long)file.st_size);
	tfp_pool_free(pool);
	return 0;
}
