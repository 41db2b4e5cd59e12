/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "tools/data_table.h"

#include <math.h>

static const struct tfp_column columns[] = {
	{"n", "Number", TFP_CELL_NUMBER},
	{"t", "A \"text\"", TFP_CELL_TEXT},
	{"b", "", TFP_CELL_BOOLEAN},
};

static void write_json(const struct tfp_table *t, struct tfp_buf *out)
{
	struct tfp_json j;
	tfp_json_init(&j, out);
	tfp_table_write_json(t, &j);
}

static void fill(struct tfp_table *t)
{
	tfp_table_init(t, columns, COUNT(columns));
	tfp_table_add_number(t, 1.5);
	tfp_table_add_text(t, "a \"b\", c\nd", 10);
	tfp_table_add_boolean(t, true);
	tfp_table_add_number(t, INFINITY);
	tfp_table_add_text(t, "\xff", 1);
	tfp_table_add_boolean(t, false);
	tfp_table_add_number(t, NAN);
	tfp_table_add_absent(t);
	tfp_table_add_absent(t);
}

static void test_json(void **state)
{
	struct tfp_table t;
	struct tfp_buf b;
	(void)state;
	fill(&t);
	assert_int_equal(tfp_table_row_count(&t), 3);
	tfp_table_set_property(&t, "z", "last");
	tfp_table_set_property(&t, "a", "one");
	tfp_table_set_property(&t, "z", "\"again\"");
	assert_false(tfp_table_failed(&t));
	tfp_buf_init(&b, 10000);
	write_json(&t, &b);
	assert_string_equal(
		tfp_buf_text(&b),
		"{\"cols\":[{\"id\":\"n\",\"label\":\"Number\",\"type\":\"number\"},"
		"{\"id\":\"t\",\"label\":\"A \\\"text\\\"\",\"type\":\"string\"},"
		"{\"id\":\"b\",\"label\":\"\",\"type\":\"boolean\"}],"
		"\"p\":{\"a\":\"one\",\"z\":\"\\\"again\\\"\"},"
		"\"rows\":[{\"c\":[{\"v\":1.5},{\"v\":\"a \\\"b\\\", c\\nd\"},{\"v\":true}]},"
		"{\"c\":[{\"v\":null},{\"v\":\"\xef\xbf\xbd\"},{\"v\":false}]},"
		"{\"c\":[{\"v\":null},{\"v\":null},{\"v\":null}]}]}");
	tfp_buf_release(&b);
	tfp_table_release(&t);
	tfp_table_release(&t);
}

static void test_csv(void **state)
{
	struct tfp_table t;
	struct tfp_buf b;
	(void)state;
	fill(&t);
	tfp_buf_init(&b, 10000);
	tfp_table_write_csv(&t, TFP_CSV_QUOTED, &b);
	/* RFC 4180 quoting; a column without a label goes by its id. */
	assert_string_equal(tfp_buf_text(&b), "\"Number\",\"A \"\"text\"\"\",\"b\"\n"
					      "\"1.5\",\"a \"\"b\"\", c\nd\",\"True\"\n"
					      "\"\",\"\xef\xbf\xbd\",\"False\"\n"
					      "\"\",\"\",\"\"\n");
	tfp_buf_clear(&b);
	tfp_table_write_csv(&t, TFP_CSV_PLAIN, &b);
	assert_string_equal(tfp_buf_text(&b), "Number,\"A \"\"text\"\"\",b\n"
					      "1.5,\"a \"\"b\"\", c\nd\",true\n"
					      ",\xef\xbf\xbd,false\n"
					      ",,\n");
	tfp_buf_release(&b);
	tfp_table_release(&t);
}

/* What a spreadsheet would compute is written as text; numbers stay numbers. */
static void test_csv_has_no_formulas(void **state)
{
	static const struct tfp_column two[] = {
		{"op", "=Op", TFP_CELL_TEXT},
		{"us", "Time", TFP_CELL_NUMBER},
	};
	static const struct {
		const char *text, *plain, *quoted;
		double number;
		const char *plain_number, *quoted_number;
	} rows[] = {
		{"=1+1", "'=1+1", "'=1+1", -1, "-1", "-1.0"},
		{"+a", "'+a", "'+a", -0.5, "-0.5", "-0.5"},
		{"-a", "'-a", "'-a", 126, "126", "126.0"},
		{"@a", "'@a", "'@a", -1e15, "-1e+15", "-1e+15"},
		{"\ta", "'\ta", "'\ta", 0, "0", "0.0"},
		{"\ra", "\"'\ra\"", "'\ra", -0.0, "0", "0.0"},
		{"\na", "\"'\na\"", "'\na", 999999999999999, "999999999999999",
		 "999999999999999.0"},
		{"a=b", "a=b", "a=b", 1e-7, "1e-07", "1e-07"},
		{"=\"x\",y", "\"'=\"\"x\"\",y\"", "'=\"\"x\"\",y", 2, "2", "2.0"},
		{"", "", "", 3, "3", "3.0"},
	};
	struct tfp_table t;
	struct tfp_buf b, plain, quoted;
	(void)state;
	tfp_table_init(&t, two, 2);
	tfp_buf_init(&b, 10000);
	tfp_buf_init(&plain, 10000);
	tfp_buf_init(&quoted, 10000);
	tfp_buf_puts(&plain, "'=Op,Time\n");
	tfp_buf_puts(&quoted, "\"'=Op\",\"Time\"\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tfp_table_add_text(&t, rows[i].text, strlen(rows[i].text));
		tfp_table_add_number(&t, rows[i].number);
		tfp_buf_printf(&plain, "%s,%s\n", rows[i].plain, rows[i].plain_number);
		tfp_buf_printf(&quoted, "\"%s\",\"%s\"\n", rows[i].quoted, rows[i].quoted_number);
	}
	tfp_table_write_csv(&t, TFP_CSV_PLAIN, &b);
	assert_string_equal(tfp_buf_text(&b), tfp_buf_text(&plain));
	tfp_buf_clear(&b);
	tfp_table_write_csv(&t, TFP_CSV_QUOTED, &b);
	assert_string_equal(tfp_buf_text(&b), tfp_buf_text(&quoted));
	tfp_buf_release(&b);
	tfp_buf_release(&plain);
	tfp_buf_release(&quoted);
	tfp_table_release(&t);
}

static void test_empty_table(void **state)
{
	struct tfp_table t;
	struct tfp_buf b;
	(void)state;
	tfp_table_init(&t, columns, 1);
	tfp_buf_init(&b, 10000);
	write_json(&t, &b);
	assert_string_equal(tfp_buf_text(&b), "{\"cols\":[{\"id\":\"n\",\"label\":\"Number\","
					      "\"type\":\"number\"}],\"rows\":[]}");
	tfp_buf_clear(&b);
	tfp_table_write_csv(&t, TFP_CSV_PLAIN, &b);
	assert_string_equal(tfp_buf_text(&b), "Number\n");
	tfp_buf_release(&b);
	tfp_table_release(&t);
}

static void test_without_memory(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 4; n++) {
		struct tfp_table t;
		tfp_alloc_fail_at(n);
		fill(&t);
		tfp_table_set_property(&t, "k", "v");
		tfp_alloc_fail_at(0);
		assert_true(tfp_table_failed(&t));
		tfp_table_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_has_no_formulas),
		cmocka_unit_test(test_empty_table),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
