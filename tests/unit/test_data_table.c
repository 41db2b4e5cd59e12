#include "testing.h"

#include "base/alloc.h"
#include "tools/data_table.h"

#include <math.h>

static const struct tfp_column columns[] = {
	{"n", "Number", TFP_CELL_NUMBER},
	{"t", "A \"text\"", TFP_CELL_TEXT},
	{"b", "", TFP_CELL_BOOLEAN},
};

static void assert_number(double value, const char *expected)
{
	struct tfp_buf b;
	tfp_buf_init(&b, 100);
	tfp_json_number(&b, value);
	assert_string_equal(tfp_buf_text(&b), expected);
	tfp_buf_release(&b);
}

/* As the peers' JSON library writes doubles: the shortest digits that read back
 * the same, plain from 1e-4 to below 1e15. */
static void test_numbers(void **state)
{
	(void)state;
	assert_number(0, "0.0");
	assert_number(-0.0, "0.0");
	assert_number(3, "3.0");
	assert_number(-3, "-3.0");
	assert_number(0.1, "0.1");
	assert_number(1.0 / 3, "0.3333333333333333");
	assert_number(2.0 / 3, "0.6666666666666666");
	assert_number(0.1 + 0.2, "0.30000000000000004");
	assert_number(100, "100.0");
	assert_number(0.0001, "0.0001");
	assert_number(0.00012345, "0.00012345");
	assert_number(0.00001, "1e-05");
	assert_number(0.000012345, "1.2345e-05");
	assert_number(123456789012345.0, "123456789012345.0");
	assert_number(999999999999999.0, "999999999999999.0");
	assert_number(123456789012.345, "123456789012.345");
	assert_number(12345678901234.568, "12345678901234.568");
	assert_number(999999999999999.9, "999999999999999.9");
	assert_number(1e15, "1e+15");
	assert_number(-1e15, "-1e+15");
	assert_number(1234567890123456.0, "1.234567890123456e+15");
	assert_number(12345678901234568.0, "1.2345678901234568e+16");
	assert_number(9007199254740993.0, "9.007199254740992e+15");
	assert_number(1e22, "1e+22");
	assert_number(1e100, "1e+100");
	assert_number(1.7976931348623157e308, "1.7976931348623157e+308");
	assert_number(2.2250738585072014e-308, "2.2250738585072014e-308");
	assert_number((double)33.3f, "33.29999923706055");
}

static void test_numbers_read_back_the_same(void **state)
{
	uint64_t random = 1;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct tfp_buf b;
		double value;
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		memcpy(&value, &random, sizeof(value));
		if (!isfinite(value))
			continue;
		tfp_buf_init(&b, 100);
		tfp_json_number(&b, value);
		assert_true(strtod(tfp_buf_text(&b), NULL) == value);
		assert_non_null(strpbrk(tfp_buf_text(&b), ".e"));
		tfp_buf_release(&b);
	}
}

static void test_strings(void **state)
{
	static const char text[] = "a\"b\\c\n\t\r\x01\x1f/\xc3\xa9\x7f";
	struct tfp_buf b;
	(void)state;
	tfp_buf_init(&b, 100);
	tfp_json_string(&b, text, sizeof(text) - 1);
	assert_string_equal(tfp_buf_text(&b),
			    "\"a\\\"b\\\\c\\n\\t\\u000d\\u0001\\u001f/\xc3\xa9\x7f\"");
	tfp_buf_clear(&b);
	tfp_json_string(&b, "\0", 1);
	assert_string_equal(tfp_buf_text(&b), "\"\\u0000\"");
	tfp_buf_release(&b);
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
	tfp_table_write_json(&t, &b);
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
	tfp_table_write_json(&t, &b);
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
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_read_back_the_same),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_has_no_formulas),
		cmocka_unit_test(test_empty_table),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
