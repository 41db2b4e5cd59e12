/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reading a compressed capture costs, beside unpacking it and beside reading the
 * same capture plain, in the same run.
 *
 *     bench_packed PLAIN COMPRESSED [RUNS]
 */
#include "measure.h"

#include "store/capture.h"
#include "store/unpack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct file {
	const char *path;
	enum tfp_compression compression;
	int fd;
	struct tfp_pool *pool;
};

static void fail(struct tfp_error *err)
{
	char text[1024];
	fprintf(stderr, "%s\n", tfp_error_text(err, text, sizeof(text)));
	exit(1);
}

static void unpack(void *context)
{
	const struct file *f = context;
	struct tfp_unpacked unpacked;
	struct tfp_error err;
	if (tfp_unpack(&unpacked, f->fd, f->path, f->compression, UINT64_MAX, NULL, &err) != TFP_OK)
		fail(&err);
	tfp_unpacked_release(&unpacked);
}

static void load(void *context)
{
	const struct file *f = context;
	struct tfp_capture *capture;
	struct tfp_error err;
	if (tfp_capture_open(&capture, f->fd, f->path, f->compression, UINT64_MAX, f->pool, &err) !=
	    TFP_OK)
		fail(&err);
	tfp_capture_unref(capture);
}

static double busy_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* By the clock and of all processors together; the best of several runs each. */
struct cost {
	double ms, busy_ms;
};

static void measure(struct cost *best, void (*what)(void *context), struct file *file)
{
	double before = busy_ms(), ms = bench_best_ms(what, file, 1), busy = busy_ms() - before;
	best->ms = best->ms == 0 || ms < best->ms ? ms : best->ms;
	best->busy_ms = best->busy_ms == 0 || busy < best->busy_ms ? busy : best->busy_ms;
}

static void report(const char *name, struct cost cost)
{
	printf("%-30s %9.1f ms %9.1f ms busy\n", name, cost.ms, cost.busy_ms);
}

static struct file open_file(const char *path, struct tfp_pool *pool)
{
	size_t n = strlen(path);
	struct file f = {path, TFP_PLAIN, open(path, O_RDONLY | O_CLOEXEC), pool};
	if (n > 4 && strcmp(path + n - 4, ".zst") == 0)
		f.compression = TFP_ZSTD;
	else if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
		f.compression = TFP_GZIP;
	if (f.fd < 0) {
		perror(path);
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	int runs = argc > 3 ? atoi(argv[3]) : 5;
	struct cost plain = {0}, unpacking = {0}, packed = {0};
	struct tfp_pool *pool;
	if (argc < 3 || runs < 1) {
		fprintf(stderr, "usage: bench_packed PLAIN COMPRESSED [RUNS]\n");
		return 2;
	}
	if (tfp_pool_new(&pool, 2, NULL) != TFP_OK) {
		fprintf(stderr, "bench_packed: no threads\n");
		return 1;
	}
	struct file a = open_file(argv[1], pool), b = open_file(argv[2], pool);
	bench_bare_scan(a.path); /* bring both into the page cache */
	bench_best_ms(unpack, &b, 1);
	for (int i = 0; i < runs; i++) {
		measure(&plain, load, &a);
		measure(&unpacking, unpack, &b);
		measure(&packed, load, &b);
	}
	report("load, plain", plain);
	report("unpack", unpacking);
	report("load, compressed", packed);
	double most = plain.ms > unpacking.ms ? plain.ms : unpacking.ms;
	printf("%-30s %9.2f x the longer of the two, %.2f x their sum when busy\n", "",
	       packed.ms / most, packed.busy_ms / (plain.busy_ms + unpacking.busy_ms));
	tfp_pool_free(pool);
	close(a.fd);
	close(b.fd);
	return 0;
}
