#include "testing.h"

#include "tools/tool.h"

#include <stdio.h>

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

static void test_registry(void **state)
{
	(void)state;
	assert_true(tfp_tool_count > 0);
	for (size_t i = 0; i < tfp_tool_count; i++) {
		const struct tfp_tool *tool = tfp_tools[i];
		char old[100];
		assert_ptr_equal(tfp_tool_find(tool->name), tool);
		snprintf(old, sizeof(old), "%s^", tool->name);
		assert_ptr_equal(tfp_tool_find(old), tool);
		for (size_t a = 0; a < COUNT(tool->aliases) && tool->aliases[a]; a++)
			assert_ptr_equal(tfp_tool_find(tool->aliases[a]), tool);
		assert_true(tool->title[0] && tool->summary[0]);
		assert_true(tool->scope >= TFP_HOSTS_ONE && tool->scope <= TFP_HOSTS_BOTH);
	}
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
	assert_non_null(kernels->reason(&nothing));
	assert_non_null(kernels->reason(&host));
	assert_null(kernels->reason(&gpu));
	assert_non_null(ops->reason(&nothing));
	assert_null(ops->reason(&host));
	assert_null(ops->reason(&gpu));
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
	assert_int_equal(tfp_answer_write_csv(&answer, &out, &err), TFP_BAD_QUERY);
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
	assert_int_equal(tfp_answer_write_csv(&answer, &out, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&out), "\"A\"\n");
	tfp_table_release(&answer.tables[1]);
	answer.tables[0].failed = true;
	assert_int_equal(tfp_answer_write_json(&answer, &out, &err), TFP_NO_MEMORY);
	assert_int_equal(tfp_answer_write_csv(&answer, &out, &err), TFP_NO_MEMORY);
	tfp_answer_release(&answer);
	tfp_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
