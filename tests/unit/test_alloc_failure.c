/* SPDX-License-Identifier: Apache-2.0 */
/* One allocation after another fails, and all after it, each in a round of its own: each time the
 * answer is TFP_NO_MEMORY or right, and nothing is left behind.
 *
 * Under the address sanitizer a round without failures notes through which calls each allocation
 * was asked for. Of those with the same calls, in all tests together, the first fails and the
 * last, so that there is nothing and everything to clean up; of the rest, samples.
 * Threads have no such order: with them every one fails. Other builds take samples.
 *
 * What is left behind is counted after each round, in every build; the address sanitizer sees
 * memory that is used after it was freed. */
#include "testing.h"

#include "analysis/summary/op_stats.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/pool.h"
#include "report/reports.h"
#include "support/sample_capture.h"
#include "tools/tool.h"
#include "trace/trace.h"
#include "trace/trace_export.h"

#include <dirent.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* Samples: every so many-th allocation, also where there are threads. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define ONLY_THREADS    false
#define CHOSEN_BY_CALLS true
#define STRIDE          16
#define STRIDE_THREADS  1
#elif defined(__SANITIZE_THREAD__)
/* Which sees nothing where there is one thread. */
#define ONLY_THREADS    true
#define CHOSEN_BY_CALLS false
#define STRIDE          16
#define STRIDE_THREADS  16
#else
#define ONLY_THREADS    false
#define CHOSEN_BY_CALLS false
#define STRIDE          5
#define STRIDE_THREADS  5
#endif

#define MAX_ALLOCATIONS 20000u
#define MAX_CALLS       64

static struct tfp_pool *pool;
static char folder[64], run_folder[128];

/* ---- who asks for memory, and who gives it back ---- */

/* The calls that lead to allocation n + 1, as a number. */
static uint64_t calls[MAX_ALLOCATIONS];
static bool noting;
/* The outermost, which are the tests' own. */
static int outer_calls;
/* Blocks that were asked for and not given back. */
static atomic_int_least64_t blocks;

void *__real_tfp_malloc(size_t size);
void *__real_tfp_calloc(size_t count, size_t size);
void *__real_tfp_realloc(void *old, size_t size);
void *__real_tfp_reallocarray(void *old, size_t count, size_t size);
char *__real_tfp_strdup(const char *text);
char *__real_tfp_strndup(const char *text, size_t length);
void __real_tfp_free(void *memory);
bool __real_tfp_grow(void *list, size_t *room, size_t size);

void *__wrap_tfp_malloc(size_t size);
void *__wrap_tfp_calloc(size_t count, size_t size);
void *__wrap_tfp_realloc(void *old, size_t size);
void *__wrap_tfp_reallocarray(void *old, size_t count, size_t size);
char *__wrap_tfp_strdup(const char *text);
char *__wrap_tfp_strndup(const char *text, size_t length);
void __wrap_tfp_free(void *memory);
bool __wrap_tfp_grow(void *list, size_t *room, size_t size);

/* An allocation was asked for: one block more, unless it failed or an old one moved. */
static void note(bool more)
{
	if (more)
		atomic_fetch_add(&blocks, 1);
	uint64_t n = tfp_alloc_count();
	if (!noting || n == 0)
		return;
	assert_true(n <= MAX_ALLOCATIONS);
	void *callers[MAX_CALLS];
	int count = backtrace(callers, MAX_CALLS) - outer_calls;
	calls[n - 1] = tfp_hash_bytes(callers, (size_t)count * sizeof(callers[0]), 0);
}

void *__wrap_tfp_malloc(size_t size)
{
	void *memory = __real_tfp_malloc(size);
	note(memory);
	return memory;
}

void *__wrap_tfp_calloc(size_t count, size_t size)
{
	void *memory = __real_tfp_calloc(count, size);
	note(memory);
	return memory;
}

void *__wrap_tfp_realloc(void *old, size_t size)
{
	void *memory = __real_tfp_realloc(old, size);
	note(memory && !old);
	return memory;
}

void *__wrap_tfp_reallocarray(void *old, size_t count, size_t size)
{
	void *memory = __real_tfp_reallocarray(old, count, size);
	note(memory && !old);
	return memory;
}

char *__wrap_tfp_strdup(const char *text)
{
	char *copy = __real_tfp_strdup(text);
	note(copy);
	return copy;
}

char *__wrap_tfp_strndup(const char *text, size_t length)
{
	char *copy = __real_tfp_strndup(text, length);
	note(copy);
	return copy;
}

void __wrap_tfp_free(void *memory)
{
	if (memory)
		atomic_fetch_sub(&blocks, 1);
	__real_tfp_free(memory);
}

bool __wrap_tfp_grow(void *list, size_t *room, size_t size)
{
	bool first = *room == 0, grown = __real_tfp_grow(list, room, size);
	note(grown && first);
	return grown;
}

/* ---- which fail ---- */

/* The same calls, and the last allocation with them in the round that was noted. */
static struct {
	uint64_t calls;
	uint32_t last;
} seen[MAX_ALLOCATIONS];
static size_t seen_count;

/* Of the round that was noted: how many allocations, and whether the nth is to fail. */
static uint32_t noted_count;
static bool to_fail[MAX_ALLOCATIONS + 1];

/* Before the round whose calls are noted, and after it. */
static __attribute__((noinline)) void begin_to_note(void)
{
	void *callers[MAX_CALLS];
	outer_calls = backtrace(callers, MAX_CALLS) - 1;
	noting = CHOSEN_BY_CALLS && !pool;
	tfp_alloc_fail_at(UINT64_MAX);
}

static void choose(void)
{
	uint32_t stride = pool ? STRIDE_THREADS : STRIDE;
	size_t known = seen_count;
	noted_count = (uint32_t)tfp_alloc_count();
	tfp_alloc_fail_at(0);
	assert_true(noted_count <= MAX_ALLOCATIONS);
	for (uint32_t n = 1; n <= noted_count; n++) {
		to_fail[n] = n % stride == 0;
		if (!noting)
			continue;
		size_t i = 0;
		while (i < seen_count && seen[i].calls != calls[n - 1])
			i++;
		assert_true(i < MAX_ALLOCATIONS);
		if (i == seen_count) {
			seen[seen_count++].calls = calls[n - 1];
			to_fail[n] = true;
		}
		seen[i].last = n;
	}
	for (size_t i = known; i < seen_count; i++)
		to_fail[seen[i].last] = true;
	noting = false;
}

/* The next after the nth that is to fail. Should a round have more than the one that was noted,
 * all of these are. */
static uint32_t next_after(uint32_t n)
{
	do
		n++;
	while (n <= noted_count && !to_fail[n]);
	return n;
}

/* ---- a capture and its summary ---- */

static __attribute__((noinline)) enum tfp_status open_and_sum_up(const uint8_t *bytes, size_t size,
								 struct tfp_error *err)
{
	const struct tfp_op_stats *stats;
	struct tfp_op_stats merged;
	struct tfp_capture *capture;
	enum tfp_status status = tfp_capture_from_bytes(&capture, bytes, size, "x", pool, err);
	if (status != TFP_OK) {
		assert_null(capture);
		return status;
	}
	status = tfp_op_stats_get(capture, pool, &stats, err);
	if (status == TFP_OK) {
		tfp_op_stats_init(&merged);
		status = tfp_op_stats_merge(&merged, stats, 0, err);
		if (status == TFP_OK)
			status = tfp_op_stats_merge(&merged, stats, 1, err);
		tfp_op_stats_end(&merged);
		tfp_op_stats_release(&merged);
	}
	tfp_capture_unref(capture);
	return status;
}

static void assert_nothing_left(int_least64_t before, uint32_t n)
{
	int_least64_t left = atomic_load(&blocks) - before;
	if (left != 0)
		fail_msg("allocation %u failed: %d blocks are left", (unsigned)n, (int)left);
}

static void fail_everywhere(enum sample_device device, bool damaged)
{
	struct builder *b = sample_capture(device);
	struct tfp_error err;
	size_t size;
	uint32_t n = 0;
	if (damaged) {
		for (int64_t i = 0; i < 40; i++)
			builder_event_id(builder_line(builder_plane(b, 9, "bad"), 1, "l", 0), 99,
					 50 - i, -1);
		builder_raw(b, "\x0a\x50\x12\x01", 4);
	}
	uint8_t *bytes = builder_bytes(b, &size);
	builder_free(b);
	begin_to_note();
	assert_int_equal(open_and_sum_up(bytes, size, &err), TFP_OK);
	choose();
	for (;;) {
		n = next_after(n);
		int_least64_t before = atomic_load(&blocks);
		tfp_alloc_fail_at(n);
		enum tfp_status status = open_and_sum_up(bytes, size, &err);
		bool reached = tfp_alloc_count() >= n;
		tfp_alloc_fail_at(0);
		if (status != TFP_OK) {
			assert_int_equal(status, TFP_NO_MEMORY);
			assert_int_equal(err.status, TFP_NO_MEMORY);
			assert_true(err.message[0] != '\0');
		}
		/* Threads that helped may let go a moment later. */
		if (!pool)
			assert_nothing_left(before, n);
		if (!reached) {
			assert_int_equal(status, TFP_OK);
			break;
		}
	}
	assert_true(n > 50);
	free(bytes);
}

static void test_captures(void **state)
{
	(void)state;
	for (int device = SAMPLE_GPU; device <= SAMPLE_NO_DEVICE; device++) {
		fail_everywhere((enum sample_device)device, false);
		fail_everywhere((enum sample_device)device, true);
	}
}

static void test_captures_with_threads(void **state)
{
	struct tfp_error err;
	(void)state;
	int_least64_t before = atomic_load(&blocks);
	assert_int_equal(tfp_pool_new(&pool, 2, &err), TFP_OK);
	fail_everywhere(SAMPLE_GPU, true);
	fail_everywhere(SAMPLE_TPU, false);
	tfp_pool_free(pool);
	pool = NULL;
	assert_nothing_left(before, 0);
}

/* ---- the tools ---- */

static int make_folder(void **state)
{
	char path[256];
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/tfprof-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/plugins", folder);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/plugins/profile", folder);
	mkdir(path, 0777);
	snprintf(run_folder, sizeof(run_folder), "%s/plugins/profile/run", folder);
	mkdir(run_folder, 0777);
	for (int i = 0; i < 2; i++) {
		struct builder *b = sample_capture(SAMPLE_GPU);
		snprintf(path, sizeof(path), "%s/h%d.xplane.pb", run_folder, i);
		builder_write(b, path);
		builder_free(b);
	}
	return 0;
}

static int remove_folder(void **state)
{
	char path[256];
	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/h%d.xplane.pb", run_folder, i);
		unlink(path);
	}
	rmdir(run_folder);
	snprintf(path, sizeof(path), "%s/plugins/profile", folder);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/plugins", folder);
	rmdir(path);
	return rmdir(folder);
}

static void empty_folder(const char *path)
{
	DIR *dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	closedir(dir);
}

/* What a terminal shows; answer: the tool's. */
static enum tfp_status report_on(const struct tfp_tool *tool, const struct tfp_session *session,
				 const struct tfp_query *query, const struct tfp_answer *answer,
				 struct tfp_buf *out, struct tfp_error *err)
{
	const struct tfp_reporter *reporter = tfp_reporter_find(tool);
	struct tfp_answer tables, more;
	struct tfp_report report;
	enum tfp_status status = TFP_OK;
	tfp_answer_init(&tables);
	tfp_answer_init(&more);
	tfp_report_init(&report);
	/* Nothing is rendered twice: there are thousands of rounds. */
	if (reporter->render)
		status = tfp_reporter_render(reporter, tool, session, query, &tables, err);
	const struct tfp_report_source source = {session, query,
						 reporter->render ? &tables : answer, &more};
	if (status == TFP_OK)
		status = reporter->write(&source, &report, err);
	if (status == TFP_OK) {
		for (size_t i = 0; i < more.table_count; i++)
			report.failed |= tfp_table_failed(&more.tables[i]);
		tfp_report_write(&report, 40, 0, out);
		if (tfp_buf_failed(out))
			status = tfp_fail(err, TFP_NO_MEMORY, "the text");
	}
	tfp_report_release(&report);
	tfp_answer_release(&more);
	tfp_answer_release(&tables);
	return status;
}

/* The row whose occurrences are asked for. */
static const struct tfp_param row[] = {
	{"where", "device"}, {"type", "MatMul"}, {"name", "dense/MatMul"}};

static enum tfp_status render(const struct tfp_tool *tool, const struct tfp_session *session,
			      struct tfp_query query, struct tfp_buf *out, struct tfp_error *err)
{
	struct tfp_answer answer;
	tfp_answer_init(&answer);
	struct tfp_session chosen = *session;
	if (!(tool->scope & TFP_HOSTS_ALL))
		chosen.host_count = 1;
	enum tfp_status status = tfp_tool_render(tool, &chosen, &query, &answer, err);
	if (status == TFP_OK)
		status = tfp_answer_write_json(&answer, out, err);
	if (status == TFP_OK && answer.table_count)
		status = tfp_answer_write_csv(&answer, TFP_CSV_PLAIN, out, err);
	if (status == TFP_OK && !tfp_query_get(&query, "view"))
		status = report_on(tool, &chosen, &query, &answer, out, err);
	tfp_answer_release(&answer);
	if (status == TFP_OK && tool->instances)
		status = tool->instances(session, &(struct tfp_query){row, COUNT(row)}, out, err);
	return status;
}

/* What tools answer beside their first answer. */
static const struct {
	const char *tool;
	struct tfp_param params[3];
} further[] = {
	{"memory_profile", {{"view", "timeline"}, {"points", "4"}, {"run", ""}}},
	{"memory_profile", {{"view", "breakdown"}, {"group", "op"}, {"run", ""}}},
	{"memory_profile", {{"view", "steps"}, {"run", ""}, {"run", ""}}},
	{"overview_page", {{"step_source", "module"}, {"run", ""}, {"run", ""}}},
	{"pod_viewer", {{"step_source", "module"}, {"run", ""}, {"run", ""}}},
	{"trace_viewer",
	 {{"tag", "trace_viewer@"},
	  {"args", "all"},
	  {"trace_filter_config",
	   "{\"deviceRegexes\":[\"host\"],\"traceEventFilters\":[{\"fieldName\":"
	   "\"name\",\"opId\":\"OP_REGEX\",\"regexValue\":\".\"}]}"}}},
};

/* The trace viewer's answers. */
static enum tfp_status ask_trace(const struct tfp_session *session, struct tfp_buf *out,
				 struct tfp_error *err)
{
	static enum tfp_status (*const answers[])(const struct tfp_session *,
						  const struct tfp_query *, struct tfp_buf *,
						  struct tfp_error *) = {
		tfp_trace_tracks_json,    tfp_trace_tiles_json,     tfp_trace_event_json,
		tfp_trace_events_json,    tfp_trace_neighbour_json, tfp_trace_search_json,
		tfp_trace_aggregate_json, tfp_trace_steps_json,
	};
	static const struct tfp_param params[] = {{"level", "30"},       {"id", "0.0.0"},
						  {"direction", "next"}, {"q", "a|b"},
						  {"in", "all"},         {"mode", "regex"}};
	static const struct tfp_query query = {params, COUNT(params)};
	enum tfp_status status = TFP_OK;
	for (size_t i = 0; status == TFP_OK && i < COUNT(answers); i++) {
		status = answers[i](session, &query, out, err);
		if (status == TFP_OK && tfp_buf_failed(out))
			status = tfp_fail(err, TFP_NO_MEMORY, "the answer");
	}
	return status;
}

static enum tfp_status into_buffer(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	tfp_buf_add(context, bytes, size);
	return tfp_buf_failed(context) ? tfp_fail(err, TFP_NO_MEMORY, "the trace") : TFP_OK;
}

static enum tfp_status export_trace(const struct tfp_session *session, struct tfp_buf *out,
				    struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	for (int i = 0; i < 2 && status == TFP_OK; i++) {
		const struct tfp_sink sink = {into_buffer, out};
		const struct tfp_param format[] = {{"format", i ? "perfetto" : "chrome"},
						   {"tracks", "0.0,0.1,0.2,1.0"}};
		const struct tfp_query asked = {format, 2};
		struct tfp_trace_export export;
		status = tfp_trace_export_init(&export, session, &asked, err);
		if (status == TFP_OK) {
			status = tfp_trace_export_write(&export, &sink, err);
			tfp_trace_export_release(&export);
		}
	}
	return status;
}

/* From the directory to the answers of all tools; *reply is the caller's. */
static __attribute__((noinline)) enum tfp_status
ask_all_tools(const char *results_folder, struct tfp_buf *reply, struct tfp_error *err)
{
	struct tfp_result_cache *results = NULL;
	const struct tfp_logdir_snapshot *snapshot = NULL;
	struct tfp_capture_cache *cache = NULL;
	struct tfp_logdir *dir = NULL;
	struct tfp_session session;
	enum tfp_status status = tfp_logdir_new(&dir, folder, 0, err);
	if (status == TFP_OK)
		status = tfp_capture_cache_new(&cache, dir, (uint64_t)1 << 30, NULL, err);
	if (status == TFP_OK && results_folder)
		status = tfp_result_cache_new(&results, results_folder, folder, 1 << 20, 1, err);
	if (status == TFP_OK)
		status = tfp_logdir_snapshot(dir, &snapshot, err);
	if (status == TFP_OK) {
		assert_int_equal(snapshot->run_count, 1);
		status = tfp_session_init(&session, cache, results, NULL, &snapshot->runs[0], NULL,
					  err);
	}
	for (const struct tfp_tool *t = tfp_tool_next(NULL); status == TFP_OK && t;
	     t = tfp_tool_next(t))
		status = render(t, &session, (struct tfp_query){0}, reply, err);
	for (size_t i = 0; status == TFP_OK && i < COUNT(further); i++)
		status = render(tfp_tool_find(further[i].tool), &session,
				(struct tfp_query){further[i].params, COUNT(further[i].params)},
				reply, err);
	if (status == TFP_OK)
		status = export_trace(&session, reply, err);
	if (status == TFP_OK)
		status = ask_trace(&session, reply, err);
	if (snapshot)
		tfp_logdir_snapshot_unref(snapshot);
	tfp_capture_cache_free(cache);
	tfp_result_cache_free(results);
	tfp_logdir_free(dir);
	return status;
}

static void fail_tools_everywhere(const char *results_folder, bool empty)
{
	struct tfp_buf right, reply;
	struct tfp_error err;
	uint32_t n = 0;
	bool reached = true;
	tfp_buf_init(&right, 1 << 20);
	assert_int_equal(ask_all_tools(NULL, &right, &err), TFP_OK);
	assert_true(right.size > 1000);
	assert_non_null(strstr(tfp_buf_text(&right), "jit_step(12)"));
	if (empty)
		empty_folder(results_folder);
	tfp_buf_init(&reply, 1 << 20);
	begin_to_note();
	assert_int_equal(ask_all_tools(results_folder, &reply, &err), TFP_OK);
	choose();
	assert_string_equal(tfp_buf_text(&reply), tfp_buf_text(&right));
	tfp_buf_release(&reply);
	while (reached) {
		if (empty)
			empty_folder(results_folder);
		n = next_after(n);
		int_least64_t before = atomic_load(&blocks);
		tfp_buf_init(&reply, 1 << 20);
		tfp_alloc_fail_at(n);
		enum tfp_status status = ask_all_tools(results_folder, &reply, &err);
		reached = tfp_alloc_count() >= n;
		tfp_alloc_fail_at(0);
		if (status != TFP_OK) {
			if (status != TFP_NO_MEMORY)
				fail_msg("allocation %d: %s", (int)n, err.message);
		} else {
			/* An answer that was made is the right one. */
			assert_string_equal(tfp_buf_text(&reply), tfp_buf_text(&right));
		}
		assert_true(reached || status == TFP_OK);
		tfp_buf_release(&reply);
		assert_nothing_left(before, n);
	}
	tfp_buf_release(&right);
}

static void test_tools(void **state)
{
	(void)state;
	fail_tools_everywhere(NULL, false);
}

/* First the summaries are written, then they are read; those that a failure left unwritten are
 * computed again. */
static void test_tools_with_results(void **state)
{
	char path[] = "/tmp/tfprof-test-XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(path));
	fail_tools_everywhere(path, true);
	fail_tools_everywhere(path, false);
	empty_folder(path);
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures_with_threads),
		cmocka_unit_test(test_captures),
		cmocka_unit_test_setup_teardown(test_tools, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_tools_with_results, make_folder,
						remove_folder),
	};
	return _cmocka_run_group_tests("tests", tests, ONLY_THREADS ? 1 : COUNT(tests), NULL, NULL);
}
