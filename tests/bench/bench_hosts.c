/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the overview of a run of many hosts costs: without summaries, as ratios to a bare scan of
 * the same bytes and to one host; and from summaries in the result cache.
 *
 *     bench_hosts RUN_FOLDER RESULTS_FOLDER [RUNS]
 *
 * RESULTS_FOLDER is emptied.
 */
#include "answer.h"
#include "measure.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL "overview_page"

static const char *folder, *results;
static char first_host[256];

static void each_file(const char *path, void (*what)(const char *file))
{
	char file[4096];
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		if (e->d_name[0] != '.')
			what(file);
	}
	if (dir)
		closedir(dir);
}

static void remove_file(const char *file)
{
	unlink(file);
}

static double bytes, largest;
static unsigned count;

static void scan_file(const char *file)
{
	double size = bench_bare_scan(file);
	const char *name = strrchr(file, '/') + 1, *end = strstr(name, ".xplane.pb");
	bytes += size;
	count++;
	if (size > largest)
		largest = size;
	if (end && (first_host[0] == '\0' || strncmp(name, first_host, (size_t)(end - name)) < 0))
		snprintf(first_host, sizeof(first_host), "%.*s", (int)(end - name), name);
}

static void scan(void *pool)
{
	(void)pool;
	bytes = largest = 0;
	count = 0;
	each_file(folder, scan_file);
}

static void cold_one(void *pool)
{
	bench_first_answer(folder, NULL, TOOL, first_host, pool);
}

static void cold(void *pool)
{
	each_file(results, remove_file);
	bench_first_answer(folder, results, TOOL, NULL, pool);
}

/* Runs of many hosts take long: time and peak are of the same runs. */
static int cold_runs;
static double cold_ms;

static void cold_times(void *pool)
{
	cold_ms = bench_best_ms(cold, pool, cold_runs);
}

static void warm(void *pool)
{
	bench_first_answer(folder, results, TOOL, NULL, pool);
}

int main(int argc, char **argv)
{
	struct tfp_pool *pool;
	int runs = argc > 3 ? atoi(argv[3]) : 3;
	if (argc < 3 || runs < 1 || tfp_pool_new(&pool, 2, NULL) != TFP_OK) {
		fprintf(stderr, "usage: bench_hosts RUN_FOLDER RESULTS_FOLDER [RUNS]\n");
		return 2;
	}
	folder = argv[1];
	results = argv[2];
	scan(NULL); /* bring the files into the page cache */
	double bare = bench_best_ms(scan, NULL, runs);
	double one_bytes = largest;
	double one = bench_best_ms(cold_one, NULL, runs);
	cold_runs = runs;
	double peak = bench_peak_bytes(cold_times, NULL), all = cold_ms;
	double peak_two = bench_peak_bytes(cold_times, pool), all_two = cold_ms;
	double again = bench_best_ms(warm, NULL, runs * 3);
	double again_two = bench_best_ms(warm, pool, runs * 3);
	double peak_warm = bench_peak_bytes(warm, NULL);

	printf("%s: %u hosts, %.1f MB, the largest %.1f MB\n", folder, count, bytes / 1e6,
	       largest / 1e6);
	printf("%-34s %9.1f ms\n", "bare scan", bare);
	printf("%-34s %9.1f ms\n", "first " TOOL " of one host", one);
	printf("%-34s %9.1f ms %7.2f x the bare scan, %.2f x one host's per byte\n",
	       "first " TOOL ", one thread", all, all / bare, all / bytes / (one / one_bytes));
	printf("%-34s %9.1f ms %7.2f x the bare scan\n", "first " TOOL ", two threads", all_two,
	       all_two / bare);
	printf("%-34s %9.1f ms %7.4f x the first\n", "from summaries, one thread", again,
	       again / all);
	printf("%-34s %9.1f ms %7.4f x the first\n", "from summaries, two threads", again_two,
	       again_two / all_two);
	printf("%-34s %9.1f MB %7.2f x the largest file\n", "peak heap, one thread", peak / 1e6,
	       peak / largest);
	printf("%-34s %9.1f MB %7.2f x the largest file\n", "peak heap, two threads",
	       peak_two / 1e6, peak_two / largest);
	printf("%-34s %9.1f MB %7.2f x the largest file\n", "peak heap, from summaries",
	       peak_warm / 1e6, peak_warm / largest);
	tfp_pool_free(pool);
	return 0;
}
