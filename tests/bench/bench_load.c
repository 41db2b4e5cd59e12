/*
 * What reading a capture costs, as ratios to a bare scan of the same bytes in
 * the same run: the scan reads every varint of every plane, line, event and
 * stat and stores nothing, so no reader can be faster by much.
 *
 *     bench_load FILE [RUNS]
 */
#include "analysis/op_stats.h"
#include "base/clock.h"
#include "store/capture.h"
#include "tools/session.h"
#include "tools/tool.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- heap in use, counted by standing in for the C library's functions ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);

static atomic_llong heap, heap_peak;

static void count(long long bytes)
{
	long long now = atomic_fetch_add(&heap, bytes) + bytes, peak = atomic_load(&heap_peak);
	while (now > peak && !atomic_compare_exchange_weak(&heap_peak, &peak, now))
		;
}

static void *counted(void *memory)
{
	if (memory)
		count((long long)malloc_usable_size(memory));
	return memory;
}

void *malloc(size_t size)
{
	return counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return counted(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	long long before = old ? (long long)malloc_usable_size(old) : 0;
	void *memory = __libc_realloc(old, size);
	if (memory) {
		count(-before);
		counted(memory);
	}
	return memory;
}

void free(void *memory)
{
	if (memory)
		count(-(long long)malloc_usable_size(memory));
	__libc_free(memory);
}

/* ---- the bare scan ---- */

static uint64_t sum; /* keeps the compiler from leaving the scan out */

static const uint8_t *varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
	uint64_t v = 0;
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p++ < 0x80)
			break;
	}
	*value = v;
	return p;
}

/* Messages within messages, by what XSpace is: depth 0 its fields, 1 a plane's,
 * 2 a line's, 3 an event's, 4 a stat's. */
static void scan(const uint8_t *p, const uint8_t *end, int depth)
{
	static const uint32_t inside[] = {1, 3, 4, 4};
	while (p < end) {
		uint64_t tag, value;
		p = varint(p, end, &tag);
		switch (tag & 7) {
		case 0:
			p = varint(p, end, &value);
			sum += value;
			break;
		case 1:
			p = end - p < 8 ? end : p + 8;
			break;
		case 2:
			p = varint(p, end, &value);
			if (value > (uint64_t)(end - p))
				return;
			if (depth < 4 && tag >> 3 == inside[depth])
				scan(p, p + value, depth + 1);
			p += value;
			break;
		case 5:
			p = end - p < 4 ? end : p + 4;
			break;
		default:
			return;
		}
	}
}

/* ---- measuring ---- */

static int fd;
static const char *path;
static uint64_t event_count;

static void bare_scan(struct tfp_pool *pool)
{
	struct tfp_mapped_file file;
	(void)pool;
	if (tfp_mapped_file_open(&file, fd, path, NULL) != TFP_OK)
		abort();
	scan(file.data, file.data + file.size, 0);
	tfp_mapped_file_release(&file);
}

static void load(struct tfp_pool *pool)
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

/* From nothing to the bytes of the answer, as the server's first request does it. */
static void first_answer_of(const char *name, struct tfp_pool *pool)
{
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_session session;
	struct tfp_answer answer;
	struct tfp_query query = {0};
	struct tfp_buf json;
	const struct tfp_tool *tool = tfp_tool_find(name);
	tfp_buf_init(&json, SIZE_MAX / 2);
	if (!tool || tfp_logdir_new(&dir, path, 0, NULL) != TFP_OK ||
	    tfp_capture_cache_new(&cache, dir, UINT64_MAX, pool, NULL) != TFP_OK ||
	    tfp_logdir_snapshot(dir, &snapshot, NULL) != TFP_OK || snapshot->run_count == 0 ||
	    tfp_session_init(&session, cache, pool, &snapshot->runs[0], NULL, NULL) != TFP_OK)
		abort();
	tfp_answer_init(&answer);
	if (tool->render(&session, &query, &answer, NULL) != TFP_OK ||
	    tfp_answer_write_json(&answer, &json, NULL) != TFP_OK)
		abort();
	tfp_answer_release(&answer);
	tfp_buf_release(&json);
	tfp_logdir_snapshot_unref(snapshot);
	tfp_capture_cache_free(cache);
	tfp_logdir_free(dir);
}

static void first_op_stats(struct tfp_pool *pool)
{
	first_answer_of("framework_op_stats", pool);
}

static void first_overview(struct tfp_pool *pool)
{
	first_answer_of("overview_page", pool);
}

/* Most bytes on the heap at a time. */
static double peak_of(void (*what)(struct tfp_pool *pool), struct tfp_pool *pool)
{
	long long before = atomic_load(&heap);
	atomic_store(&heap_peak, before);
	what(pool);
	return (double)(atomic_load(&heap_peak) - before);
}

static double best_ms(void (*what)(struct tfp_pool *pool), struct tfp_pool *pool, int runs)
{
	double best = 1e300;
	for (int i = 0; i < runs; i++) {
		int64_t start = tfp_clock_monotonic_ns();
		what(pool);
		double ms = (double)(tfp_clock_monotonic_ns() - start) / 1e6;
		if (ms < best)
			best = ms;
	}
	return best;
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
	bare_scan(NULL); /* bring the file into the page cache */
	double bare = best_ms(bare_scan, NULL, runs);
	double one = best_ms(load, NULL, runs);
	double two = best_ms(load, pool, runs);
	double answer = best_ms(first_op_stats, pool, runs);
	double overview_one = best_ms(first_overview, NULL, runs);
	double overview_two = best_ms(first_overview, pool, runs);
	const struct {
		const char *name;
		double bytes;
	} peaks[] = {
		{"peak heap, load", peak_of(load, pool)},
		{"peak heap, framework_op_stats", peak_of(first_op_stats, pool)},
		{"peak heap, overview_page", peak_of(first_overview, pool)},
	};

	printf("%s: %.1f MB, %.2f million events\n", path, size / 1e6, (double)event_count / 1e6);
	report("bare scan", bare, bare);
	report("load, one thread", one, bare);
	report("load, two threads", two, bare);
	report("first framework_op_stats", answer, bare);
	report("first overview_page, one thread", overview_one, bare);
	report("first overview_page, two threads", overview_two, bare);
	for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
		printf("%-34s %9.1f MB %7.2f x the file\n", peaks[i].name, peaks[i].bytes / 1e6,
		       peaks[i].bytes / size);
	tfp_pool_free(pool);
	close(fd);
	return (int)(sum & 0);
}
