/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal shows: units, widths, and what goes where there is no room. */
#include "testing.h"

#include "base/alloc.h"
#include "report/report.h"
#include "report/reports.h"
#include "report/text_width.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tfp_column columns[] = {
	{"op", "Op", TFP_CELL_TEXT},       {"type", "Type", TFP_CELL_TEXT},
	{"us", "Time", TFP_CELL_NUMBER},   {"bytes", "Bytes", TFP_CELL_NUMBER},
	{"none", "None", TFP_CELL_NUMBER},
};

static const struct tfp_report_column shown[] = {
	{"op", "op", TFP_Q_NAME, 9, false, false},
	{"type", "type", TFP_Q_TEXT, 2, false, false},
	{"us", "time", TFP_Q_US, 8, false, false},
	{"bytes", "size", TFP_Q_BYTES, 4, false, false},
	{"none", "none", TFP_Q_COUNT, 7, true, false},
	{"absent", "absent", TFP_Q_COUNT, 7, false, false},
};

static void add_row(struct tfp_table *t, const char *op, const char *type, double us, double bytes)
{
	tfp_table_add_text(t, op, strlen(op));
	tfp_table_add_text(t, type, strlen(type));
	tfp_table_add_number(t, us);
	tfp_table_add_number(t, bytes);
	tfp_table_add_number(t, 0);
}

static void fill(struct tfp_table *t)
{
	tfp_table_init(t, columns, COUNT(columns));
	add_row(t, "gradient_tape/sequential/conv2d_5/Conv2D/Conv2DBackpropFilter", "Conv2D",
		12345.678, 133063680);
	add_row(t, "short", "MatMul", 1.5, 512);
	add_row(t, "", "", 0, 0);
}

static void write(const struct tfp_table *t, size_t width, size_t rows, struct tfp_buf *out)
{
	struct tfp_report r;
	tfp_report_init(&r);
	tfp_report_table(&r, t, shown, COUNT(shown), "--limit 0");
	tfp_buf_clear(out);
	tfp_report_write(&r, width, rows, out);
	assert_false(tfp_buf_failed(out));
	tfp_report_release(&r);
}

static void test_a_table(void **state)
{
	struct tfp_table t;
	struct tfp_buf b;
	(void)state;
	fill(&t);
	tfp_buf_init(&b, 100000);
	/* Times in one unit, which the title says; bytes each in its own; columns without any
	 * value are left out. */
	write(&t, 0, 0, &b);
	assert_string_equal(
		tfp_buf_text(&b),
		"op                                                             type    time (ms)"
		"        size\n"
		"gradient_tape/sequential/conv2d_5/Conv2D/Conv2DBackpropFilter  Conv2D     12.346"
		"  126.90 MiB\n"
		"short                                                          MatMul      0.002"
		"       512 B\n"
		"-                                                              -           0.000"
		"         0 B\n");
	/* The name loses its middle; numbers stay. */
	write(&t, 60, 1, &b);
	assert_string_equal(tfp_buf_text(&b),
			    "op                             type    time (ms)        size\n"
			    "gradient_tape/\xe2\x80\xa6"
			    "BackpropFilter  Conv2D     12.346  126.90 MiB\n"
			    "... and 2 more rows: --limit 0 shows all\n");
	tfp_buf_release(&b);
	tfp_table_release(&t);
}

static void each_line_fits(struct tfp_buf *b, size_t width)
{
	for (const char *line = tfp_buf_text(b); *line;) {
		size_t size = strcspn(line, "\n");
		if (tfp_text_width(line, size) > width)
			fail_msg("%zu is wider than %zu: %.*s", tfp_text_width(line, size), width,
				 (int)size, line);
		assert_true(size == 0 || line[size - 1] != ' ');
		line += size + 1;
	}
}

static void test_every_width(void **state)
{
	struct tfp_table t;
	struct tfp_buf b;
	(void)state;
	fill(&t);
	tfp_buf_init(&b, 100000);
	for (size_t width = 16; width < 130; width++) {
		write(&t, width, 0, &b);
		each_line_fits(&b, width);
		/* What has most to say is there at any width. */
		assert_non_null(strstr(tfp_buf_text(&b), "12.346"));
		bool all = strstr(tfp_buf_text(&b), "126.90 MiB") &&
			   strstr(tfp_buf_text(&b), "type  ");
		assert_int_equal(all, strstr(tfp_buf_text(&b), "not shown") == NULL);
	}
	/* The least important goes first. */
	write(&t, 40, 0, &b);
	assert_non_null(strstr(tfp_buf_text(&b), "(not shown: type; --width 0"));
	tfp_buf_release(&b);
	tfp_table_release(&t);
}

static void test_wide_letters(void **state)
{
	static const struct {
		const char *text;
		size_t width, room;
		const char *shortened;
	} cases[] = {
		{"abcdefgh", 8, 8, "abcdefgh"},
		{"abcdefgh", 8, 7,
		 "abc\xe2\x80\xa6"
		 "fgh"},
		{"abcdefgh", 8, 2, "a\xe2\x80\xa6"},
		{"abcdefgh", 8, 1, "\xe2\x80\xa6"},
		{"abcdefgh", 8, 0, ""},
		{"\xc3\xa9\xc3\xa8\xc3\xaa", 3, 2, "\xc3\xa9\xe2\x80\xa6"},
		/* Two columns each. */
		{"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 6, 5,
		 "\xe6\xbc\xa2\xe2\x80\xa6\xe6\xbc\xa2"},
		{"\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 6, 4, "\xe6\xbc\xa2\xe2\x80\xa6"},
		/* An accent of its own takes no room. */
		{"e\xcc\x81x", 2, 2, "e\xcc\x81x"},
	};
	struct tfp_buf b;
	(void)state;
	tfp_buf_init(&b, 1000);
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t size = strlen(cases[i].text);
		assert_int_equal(tfp_text_width(cases[i].text, size), cases[i].width);
		tfp_buf_clear(&b);
		tfp_text_shorten(&b, cases[i].text, size, cases[i].room);
		assert_string_equal(tfp_buf_text(&b), cases[i].shortened);
	}
	/* Nothing commands the terminal, or turns the direction of writing. */
	static const char bad[] = "a\x1b[2Jb\xc2\x9b"
				  "c\xe2\x80\xae"
				  "d\n\x7f";
	tfp_buf_clear(&b);
	tfp_text_clean(&b, bad, sizeof(bad) - 1);
	assert_string_equal(tfp_buf_text(&b), "a [2Jb cd  ");
	tfp_buf_release(&b);
}

static void test_quantities(void **state)
{
	static const struct {
		enum tfp_quantity quantity;
		double value;
		const char *text;
	} cases[] = {
		{TFP_Q_US, 9999, "9999.000 \xc2\xb5s"},
		{TFP_Q_US, 10000, "10.000 ms"},
		{TFP_Q_MS, 10.630863, "10.631 ms"},
		{TFP_Q_MS, 0.5, "500.000 \xc2\xb5s"},
		{TFP_Q_PS, 12e12, "12.000 s"},
		{TFP_Q_PS, 1500, "0.002 \xc2\xb5s"},
		{TFP_Q_BYTES, 0, "0 B"},
		{TFP_Q_BYTES, 1023, "1023 B"},
		{TFP_Q_BYTES, 1536, "1.50 KiB"},
		{TFP_Q_BYTES, 14648653952, "13.64 GiB"},
		{TFP_Q_COUNT, 0, "0"},
		{TFP_Q_COUNT, 999, "999"},
		{TFP_Q_COUNT, 1000, "1,000"},
		{TFP_Q_COUNT, -1234567, "-1,234,567"},
		{TFP_Q_PERCENT, 4.86, "4.9 %"},
		{TFP_Q_SHARE, 0.568, "56.8 %"},
		{TFP_Q_NUMBER, 126, "126"},
		{TFP_Q_NUMBER, 0.125, "0.125"},
	};
	char text[80];
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(
			tfp_report_quantity(cases[i].quantity, cases[i].value, text, sizeof(text)),
			cases[i].text);
}

static void test_texts(void **state)
{
	struct tfp_report r;
	struct tfp_buf b;
	(void)state;
	tfp_report_init(&r);
	tfp_buf_init(&b, 10000);
	tfp_report_fact(&r, "Device", "%s", "a very long name of a device");
	tfp_report_fact(&r, "Hosts", "%d", 2);
	tfp_report_say(&r, "Use <a href=\"https://x\" target=\"_blank\">prefetch</a> of "
			   "vector<float> and a_word_that_is_longer_than_the_line.");
	tfp_report_say(&r, "%s", "");
	tfp_report_heading(&r, "More");
	tfp_report_say(&r, "End.");
	tfp_report_write(&r, 24, 0, &b);
	assert_string_equal(tfp_buf_text(&b), "Device  a very long name\n"
					      "        of a device\n"
					      "Hosts   2\n"
					      "\n"
					      "Use prefetch of\n"
					      "vector<float> and\n"
					      "a_word_that_is_longer_th\n"
					      "an_the_line.\n"
					      "\n"
					      "More\n"
					      "End.\n");
	tfp_buf_release(&b);
	tfp_report_release(&r);
}

/* A tool without a report would be one without a terminal. */
static void test_every_tool_reports(void **state)
{
	static const struct tfp_tool other = {.name = "other"};
	(void)state;
	for (const struct tfp_tool *t = tfp_tool_next(NULL); t; t = tfp_tool_next(t))
		assert_ptr_not_equal(tfp_reporter_find(t), tfp_reporter_find(&other));
}

/* A tool that brings no report of its own is shown as its tables. */
static void test_tables_only(void **state)
{
	static const struct tfp_tool other = {.name = "other"};
	static const struct tfp_column two[] = {{"name", "Name", TFP_CELL_TEXT},
						{"count", "Count", TFP_CELL_NUMBER}};
	struct tfp_answer answer;
	struct tfp_report r;
	struct tfp_error err;
	struct tfp_buf out;
	(void)state;
	tfp_answer_init(&answer);
	tfp_report_init(&r);
	tfp_buf_init(&out, 4096);
	for (size_t i = 0; i < 2; i++) {
		struct tfp_table *t = &answer.tables[answer.table_count++];
		tfp_table_init(t, two, COUNT(two));
		tfp_table_add_text(t, i ? "b" : "a", 1);
		tfp_table_add_number(t, 7 + (double)i);
	}
	const struct tfp_report_source source = {.answer = &answer};
	assert_int_equal(tfp_reporter_find(&other)->write(&source, &r, &err), TFP_OK);
	tfp_report_write(&r, 80, 0, &out);
	assert_string_equal(tfp_buf_text(&out), "Table 1\n"
						"Name  Count\n"
						"a         7\n"
						"\n"
						"Table 2\n"
						"Name  Count\n"
						"b         8\n");
	tfp_buf_release(&out);
	tfp_report_release(&r);
	tfp_answer_release(&answer);
}

static void test_without_memory(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 12; n++) {
		struct tfp_table t;
		struct tfp_report r;
		struct tfp_buf b;
		fill(&t);
		tfp_buf_init(&b, 10000);
		tfp_alloc_fail_at(n);
		tfp_report_init(&r);
		tfp_report_say(&r, "A sentence.");
		tfp_report_table(&r, &t, shown, COUNT(shown), NULL);
		tfp_report_write(&r, 50, 0, &b);
		tfp_alloc_fail_at(0);
		/* All of it, or a failure. */
		assert_true(tfp_buf_failed(&b) || strstr(tfp_buf_text(&b), "short"));
		tfp_report_release(&r);
		tfp_buf_release(&b);
		tfp_table_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_table),      cmocka_unit_test(test_every_width),
		cmocka_unit_test(test_wide_letters), cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_texts),        cmocka_unit_test(test_every_tool_reports),
		cmocka_unit_test(test_tables_only),  cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
