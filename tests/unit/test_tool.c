/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "tools/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void test_query(void **state)
{
	static const struct tfp_param params[] = {
		{"run", "a"},
		{"limit", "12"},
		{"limit", "13"},
		{"empty", ""},
		{"word", "1x"},
		{"sign", "-1"},
		{"plus", "+1"},
		{"blank", " 1"},
		{"zero", "0"},
		{"most", "18446744073709551615"},
		{"over", "18446744073709551616"},
	};
	static const struct tfp_query query = {params, COUNT(params)};
	static const char *const bad[] = {"empty", "word", "sign", "plus", "blank", "over", "run"};
	struct tfp_error err;
	uint64_t n;
	(void)state;
	assert_string_equal(tfp_query_get(&query, "run"), "a");
	assert_string_equal(tfp_query_get(&query, "limit"), "12");
	assert_null(tfp_query_get(&query, "none"));
	assert_int_equal(tfp_query_get_count(&query, "limit", 7, &n, &err), TFP_OK);
	assert_int_equal(n, 12);
	assert_int_equal(tfp_query_get_count(&query, "none", 7, &n, &err), TFP_OK);
	assert_int_equal(n, 7);
	assert_int_equal(tfp_query_get_count(&query, "zero", 7, &n, &err), TFP_OK);
	assert_int_equal(n, 0);
	assert_int_equal(tfp_query_get_count(&query, "most", 7, &n, &err), TFP_OK);
	assert_true(n == UINT64_MAX);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(tfp_query_get_count(&query, bad[i], 7, &n, &err), TFP_BAD_QUERY);
		assert_non_null(strstr(err.message, bad[i]));
	}
}

static void check_parameters(const struct tfp_parameter *list, size_t room)
{
	size_t count = tfp_parameter_count(list, room);
	struct tfp_error err;
	for (size_t i = 0; i < count; i++) {
		const struct tfp_parameter *p = &list[i];
		size_t size = strlen(p->sentence);
		assert_true(size > 1 && p->sentence[size - 1] == '.');
		assert_true((p->kind == TFP_PARAMETER_CHOICE) == (p->values[0] != NULL));
		if (p->fallback)
			assert_int_equal(tfp_parameter_check(p, p->fallback, &err), TFP_OK);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(list[j].name, p->name);
	}
}

static void test_registry(void **state)
{
	(void)state;
	assert_non_null(tfp_tool_next(NULL));
	unsigned keys[256] = {0};
	for (const struct tfp_tool *tool = tfp_tool_next(NULL); tool; tool = tfp_tool_next(tool)) {
		char old[100];
		assert_ptr_equal(tfp_tool_find(tool->name), tool);
		snprintf(old, sizeof(old), "%s^", tool->name);
		assert_ptr_equal(tfp_tool_find(old), tool);
		for (size_t a = 0; a < COUNT(tool->aliases) && tool->aliases[a]; a++)
			assert_ptr_equal(tfp_tool_find(tool->aliases[a]), tool);
		assert_true(tool->title[0] && tool->summary[0]);
		assert_true(tool->scope >= TFP_HOSTS_ONE && tool->scope <= TFP_HOSTS_BOTH);
		assert_true((tool->needs != 0) == (tool->without != NULL));
		/* Two tools in one place would be one of them. */
		const struct tfp_tool *next = tfp_tool_next(tool);
		assert_true(!next || next->place > tool->place);
		if (tool->key) {
			assert_true(tool->key >= 'a' && tool->key <= 'z');
			assert_int_equal(keys[(unsigned char)tool->key]++, 0);
		}
		check_parameters(tool->parameters, TFP_TOOL_PARAMETERS);
		check_parameters(tool->row_parameters, TFP_ROW_PARAMETERS);
		assert_true(!tool->row_parameters[0].name || tool->instances);
	}
	assert_non_null(tfp_tool_find("smart_suggestion"));
	assert_int_equal(tfp_tool_find("smart_suggestion")->place, 0);
	static const char *const others[] = {"", "^", "kernel", "kernel_stats2", "KERNEL_STATS"};
	for (size_t i = 0; i < COUNT(others); i++)
		assert_null(tfp_tool_find(others[i]));
	assert_ptr_equal(tfp_tool_find("tensorflow_stats"), tfp_tool_find("framework_op_stats"));
	assert_ptr_equal(tfp_tool_find("tf_stats"), tfp_tool_find("framework_op_stats"));
}

static void test_reasons(void **state)
{
	static const struct tfp_run_traits nothing = {0}, host = {.host_planes = 1},
					   gpu = {.host_planes = 1, .gpu_planes = 2};
	(void)state;
	const struct tfp_tool *kernels = tfp_tool_find("kernel_stats");
	const struct tfp_tool *ops = tfp_tool_find("framework_op_stats");
	static const struct tfp_run_traits unreadable = {.unreadable = true};
	assert_string_equal(tfp_tool_reason(kernels, &nothing), kernels->without);
	assert_non_null(tfp_tool_reason(kernels, &host));
	assert_null(tfp_tool_reason(kernels, &gpu));
	assert_null(tfp_tool_reason(kernels, &unreadable));
	assert_non_null(tfp_tool_reason(ops, &nothing));
	assert_null(tfp_tool_reason(ops, &host));
	assert_null(tfp_tool_reason(ops, &gpu));
	assert_null(tfp_tool_reason(tfp_tool_find("overview_page"), &nothing));
}

static enum tfp_status ask(const char *tool, const char *key, const char *value,
			   struct tfp_error *err)
{
	const struct tfp_param params[] = {{"run", "r"}, {key, value}};
	const struct tfp_query query = {params, COUNT(params)};
	return tfp_tool_check(tfp_tool_find(tool), &query, err);
}

static void test_check(void **state)
{
	static const char *const good[][3] = {
		{"kernel_stats", "limit", "0"},
		{"kernel_stats", "limit", ""},
		/* Of XProf's clients, and of other tools, which the page may leave in its address.
		 */
		{"kernel_stats", "use_saved_result", "maybe"},
		{"kernel_stats", "step_source", "anything"},
		{"memory_profile", "from_ps", "-5"},
		{"memory_profile", "view", "steps"},
		{"trace_viewer", "start_time_ms", "-1.5e3"},
		{"trace_viewer", "full_dma", "True"},
		{"pod_viewer", "step_source", "marked"},
		{"smart_suggestion", "step_source", "module"},
	};
	static const char *const bad[][4] = {
		{"kernel_stats", "limt", "5", "kernel_stats has no parameter \"limt\""},
		{"kernel_stats", "", "5", "no parameter \"\""},
		{"kernel_stats", "limit", "five", "parameter limit: \"five\""},
		{"kernel_stats", "limit", "-1", "from 0 on"},
		{"memory_profile", "from_ps", "--5", "whole number"},
		{"memory_profile", "from_ps", "-", "whole number"},
		{"memory_profile", "view", "Steps", "is not known"},
		{"trace_viewer", "end_time_ms", "inf", "is not a number"},
		{"trace_viewer", "end_time_ms", "1x", "is not a number"},
		{"trace_viewer", "full_dma", "yes", "true nor false"},
		{"trace_viewer", "format", "pb", "parameter format"},
		{"smart_suggestion", "step_source", "x", "step_source"},
	};
	struct tfp_error err;
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(ask(good[i][0], good[i][1], good[i][2], &err), TFP_OK);
	for (size_t i = 0; i < COUNT(bad); i++) {
		tfp_error_init(&err);
		assert_int_equal(ask(bad[i][0], bad[i][1], bad[i][2], &err), TFP_BAD_QUERY);
		assert_non_null(strstr(err.message, bad[i][3]));
		assert_true(err.hint[0]);
	}
	/* The first of several counts, and only it. */
	static const struct tfp_param twice[] = {{"limit", "1"}, {"limit", "x"}};
	assert_int_equal(tfp_tool_check(tfp_tool_find("kernel_stats"),
					&(struct tfp_query){twice, COUNT(twice)}, &err),
			 TFP_OK);
}

static void test_answers(void **state)
{
	static const struct tfp_column column = {"a", "A", TFP_CELL_NUMBER};
	struct tfp_answer answer;
	struct tfp_error err;
	struct tfp_buf out;
	(void)state;
	tfp_answer_init(&answer);
	tfp_buf_init(&out, 1000);
	tfp_buf_puts(&answer.json, "{}");
	assert_int_equal(tfp_answer_write_json(&answer, &out, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&out), "{}");
	assert_int_equal(tfp_answer_write_csv(&answer, TFP_CSV_PLAIN, &out, &err), TFP_BAD_QUERY);
	tfp_answer_release(&answer);

	tfp_answer_init(&answer);
	for (size_t i = 0; i < 2; i++)
		tfp_table_init(&answer.tables[answer.table_count++], &column, 1);
	static const char table[] =
		"{\"cols\":[{\"id\":\"a\",\"label\":\"A\",\"type\":\"number\"}],"
		"\"rows\":[]}";
	char expected[300];
	tfp_buf_clear(&out);
	snprintf(expected, sizeof(expected), "[%s,%s]", table, table);
	assert_int_equal(tfp_answer_write_json(&answer, &out, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&out), expected);
	tfp_buf_clear(&out);
	answer.bare = true;
	answer.table_count = 1;
	assert_int_equal(tfp_answer_write_json(&answer, &out, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&out), table);
	tfp_buf_clear(&out);
	assert_int_equal(tfp_answer_write_csv(&answer, TFP_CSV_PLAIN, &out, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&out), "A\n");
	tfp_table_release(&answer.tables[1]);
	answer.tables[0].failed = true;
	assert_int_equal(tfp_answer_write_json(&answer, &out, &err), TFP_NO_MEMORY);
	assert_int_equal(tfp_answer_write_csv(&answer, TFP_CSV_PLAIN, &out, &err), TFP_NO_MEMORY);
	tfp_answer_release(&answer);
	tfp_buf_release(&out);
}

/* ---- files that change while an answer is made ---- */

static struct {
	char folder[64], path[160];
	int writes; /* times that the file grows while it is looked at */
	int renders;
	enum tfp_status status; /* of the tool itself */
} growing;

static enum tfp_status render_growing(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_answer *answer,
				      struct tfp_error *err)
{
	(void)session;
	(void)query;
	growing.renders++;
	tfp_buf_printf(&answer->json, "%d", growing.renders);
	if (growing.writes-- > 0) {
		FILE *f = fopen(growing.path, "a");
		assert_non_null(f);
		fputs("more", f);
		fclose(f);
	}
	return growing.status == TFP_OK ? TFP_OK : tfp_fail(err, growing.status, "the tool's own");
}

static enum tfp_status answer_growing(int writes, enum tfp_status own, struct tfp_error *err)
{
	static const struct tfp_tool tool = {
		.name = "growing", .scope = TFP_HOSTS_ALL, .render = render_growing};
	const struct tfp_logdir_snapshot *snapshot;
	const struct tfp_query query = {NULL, 0};
	struct tfp_capture_cache *cache;
	struct tfp_logdir *dir;
	struct tfp_session session;
	struct tfp_answer answer;
	growing.writes = writes;
	growing.renders = 0;
	growing.status = own;
	assert_int_equal(tfp_logdir_new(&dir, growing.folder, 0, err), TFP_OK);
	assert_int_equal(tfp_capture_cache_new(&cache, dir, 1 << 20, NULL, err), TFP_OK);
	assert_int_equal(tfp_logdir_snapshot(dir, &snapshot, err), TFP_OK);
	assert_int_equal(
		tfp_session_init(&session, cache, NULL, NULL, &snapshot->runs[0], NULL, err),
		TFP_OK);
	assert_int_equal(session.host_count, 2);
	tfp_answer_init(&answer);
	enum tfp_status status = tfp_tool_render(&tool, &session, &query, &answer, err);
	if (status == TFP_OK) {
		/* Of the last state alone. */
		char last[16];
		snprintf(last, sizeof(last), "%d", growing.renders);
		assert_string_equal(tfp_buf_text(&answer.json), last);
	}
	tfp_answer_release(&answer);
	tfp_logdir_snapshot_unref(snapshot);
	tfp_capture_cache_free(cache);
	tfp_logdir_free(dir);
	return status;
}

static void test_files_that_grow(void **state)
{
	static const char *const names[] = {"b.xplane.pb", "a.xplane.pb"};
	struct tfp_error err;
	(void)state;
	snprintf(growing.folder, sizeof(growing.folder), "/tmp/tfprof-test-XXXXXX");
	assert_non_null(mkdtemp(growing.folder));
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(growing.path, sizeof(growing.path), "%s/%s", growing.folder, names[i]);
		FILE *f = fopen(growing.path, "w");
		assert_non_null(f);
		fclose(f);
	}
	assert_int_equal(answer_growing(0, TFP_OK, &err), TFP_OK);
	assert_int_equal(growing.renders, 1);
	assert_int_equal(answer_growing(2, TFP_OK, &err), TFP_OK);
	assert_int_equal(growing.renders, 3);
	assert_int_equal(answer_growing(3, TFP_OK, &err), TFP_CHANGING);
	assert_int_equal(growing.renders, 3);
	assert_non_null(strstr(err.message, "a.xplane.pb"));
	assert_string_equal(err.file, "a.xplane.pb");
	assert_non_null(strstr(err.hint, "hosts whose files are complete"));
	/* A file that is half there is no reason to say that it is no capture. */
	assert_int_equal(answer_growing(3, TFP_BAD_INPUT, &err), TFP_CHANGING);
	assert_int_equal(answer_growing(0, TFP_BAD_INPUT, &err), TFP_BAD_INPUT);
	assert_int_equal(growing.renders, 1);
	assert_int_equal(answer_growing(3, TFP_CANCELLED, &err), TFP_CANCELLED);
	assert_int_equal(growing.renders, 1);
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(growing.path, sizeof(growing.path), "%s/%s", growing.folder, names[i]);
		unlink(growing.path);
	}
	rmdir(growing.folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),   cmocka_unit_test(test_registry),
		cmocka_unit_test(test_reasons), cmocka_unit_test(test_check),
		cmocka_unit_test(test_answers), cmocka_unit_test(test_files_that_grow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
