/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading a capture costs, as ratios to a bare scan of the same bytes in
 * the same run.
 *
 *     bench_load FILE [RUNS]
 */
#include "answer.h"
#include "measure.h"

#include "store/capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int fd;
static const char *path;
static uint64_t event_count;

static void scan(void *pool)
{
	(void)pool;
	bench_bare_scan(path);
}

static void load(void *pool)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	char text[1024];
	if (tfp_capture_open(&capture, fd, path, TFP_PLAIN, UINT64_MAX, pool, &err) != TFP_OK) {
		fprintf(stderr, "%s\n", tfp_error_text(&err, text, sizeof(text)));
		exit(1);
	}
	event_count = capture->event_count;
	tfp_capture_unref(capture);
}

/* Takes the file out of the page cache; mapped pages stay in it. */
static void forget(void)
{
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void read_all(void *context)
{
	static char block[1 << 20];
	(void)context;
	lseek(fd, 0, SEEK_SET);
	while (read(fd, block, sizeof(block)) > 0)
		;
}

static double best_from_disk_ms(void (*what)(void *context), void *context, int runs)
{
	double best = 1e300;
	for (int i = 0; i < runs; i++) {
		forget();
		double ms = bench_best_ms(what, context, 1);
		best = ms < best ? ms : best;
	}
	return best;
}

static void first_op_stats(void *pool)
{
	bench_first_answer(path, NULL, "framework_op_stats", NULL, pool);
}

static void first_overview(void *pool)
{
	bench_first_answer(path, NULL, "overview_page", NULL, pool);
}

static void first_memory_profile(void *pool)
{
	bench_first_answer(path, NULL, "memory_profile", NULL, pool);
}

static void report(const char *name, double ms, double baseline)
{
	printf("%-34s %9.1f ms %7.2f x the bare scan\n", name, ms, ms / baseline);
}

int main(int argc, char **argv)
{
	int runs = argc > 2 ? atoi(argv[2]) : 5;
	struct tfp_pool *pool;
	if (argc < 2 || runs < 1) {
		fprintf(stderr, "usage: bench_load FILE [RUNS]\n");
		return 2;
	}
	path = argv[1];
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || tfp_pool_new(&pool, 2, NULL) != TFP_OK) {
		perror(path);
		return 1;
	}
	double size = (double)lseek(fd, 0, SEEK_END);
	bench_bare_scan(path); /* bring the file into the page cache */
	double bare = bench_best_ms(scan, NULL, runs);
	double one = bench_best_ms(load, NULL, runs);
	double two = bench_best_ms(load, pool, runs);
	double disk = best_from_disk_ms(read_all, NULL, runs);
	double disk_one = best_from_disk_ms(load, NULL, runs);
	double disk_two = best_from_disk_ms(load, pool, runs);
	double answer = bench_best_ms(first_op_stats, pool, runs);
	double overview_one = bench_best_ms(first_overview, NULL, runs);
	double overview_two = bench_best_ms(first_overview, pool, runs);
	double memory_one = bench_best_ms(first_memory_profile, NULL, runs);
	double memory_two = bench_best_ms(first_memory_profile, pool, runs);
	const struct {
		const char *name;
		double bytes;
	} peaks[] = {
		{"peak heap, load", bench_peak_bytes(load, pool)},
		{"peak heap, framework_op_stats", bench_peak_bytes(first_op_stats, pool)},
		{"peak heap, overview_page", bench_peak_bytes(first_overview, pool)},
		{"peak heap, memory_profile", bench_peak_bytes(first_memory_profile, pool)},
	};

	printf("%s: %.1f MB, %.2f million events\n", path, size / 1e6, (double)event_count / 1e6);
	report("bare scan", bare, bare);
	report("load, one thread", one, bare);
	report("load, two threads", two, bare);
	report("the file from the disk, read()", disk, bare);
	report("load from the disk, one thread", disk_one, bare);
	report("load from the disk, two threads", disk_two, bare);
	report("first framework_op_stats", answer, bare);
	report("first overview_page, one thread", overview_one, bare);
	report("first overview_page, two threads", overview_two, bare);
	report("first memory_profile, one thread", memory_one, bare);
	report("first memory_profile, two threads", memory_two, bare);
	for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
		printf("%-34s %9.1f MB %7.2f x the file\n", peaks[i].name, peaks[i].bytes / 1e6,
		       peaks[i].bytes / size);
	tfp_pool_free(pool);
	close(fd);
	return 0;
}
