/* SPDX-License-Identifier: Apache-2.0 */
/* Expected texts are RFC 8259's grammar, written by hand. */
#include "testing.h"

#include "base/json_writer.h"

#include <math.h>
#include <stdlib.h>

struct text {
	struct tfp_buf buf;
	struct tfp_json j;
};

static void begin(struct text *t)
{
	tfp_buf_init(&t->buf, 100000);
	tfp_json_init(&t->j, &t->buf);
}

static void assert_written(struct text *t, const char *expected)
{
	assert_int_equal(tfp_json_finish(&t->j, NULL), TFP_OK);
	assert_string_equal(tfp_buf_text(&t->buf), expected);
	tfp_buf_release(&t->buf);
}

static void test_nesting(void **state)
{
	struct text t;
	(void)state;
	begin(&t);
	tfp_json_begin_object(&t.j);
	tfp_json_begin_array_of(&t.j, "none");
	tfp_json_end_array(&t.j);
	tfp_json_begin_object_of(&t.j, "empty");
	tfp_json_end_object(&t.j);
	tfp_json_begin_array_of(&t.j, "list");
	tfp_json_add_integer(&t.j, -1);
	tfp_json_begin_object(&t.j);
	tfp_json_set_string(&t.j, "a", "b");
	tfp_json_set_null(&t.j, "c");
	tfp_json_end_object(&t.j);
	tfp_json_begin_array(&t.j);
	tfp_json_end_array(&t.j);
	tfp_json_add_boolean(&t.j, false);
	tfp_json_end_array(&t.j);
	tfp_json_set_boolean(&t.j, "yes", true);
	tfp_json_end_object(&t.j);
	assert_written(&t, "{\"none\":[],\"empty\":{},\"list\":[-1,{\"a\":\"b\",\"c\":null},[],"
			   "false],\"yes\":true}");
}

static void test_values(void **state)
{
	struct text t;
	(void)state;
	begin(&t);
	tfp_json_begin_array(&t.j);
	tfp_json_add_count(&t.j, UINT64_MAX);
	tfp_json_add_integer(&t.j, INT64_MIN);
	tfp_json_add_number(&t.j, 3);
	tfp_json_add_number(&t.j, 0.1);
	tfp_json_add_number(&t.j, NAN);
	tfp_json_add_number(&t.j, INFINITY);
	tfp_json_add_double(&t.j, 3);
	tfp_json_add_double(&t.j, -0.0);
	tfp_json_add_double(&t.j, 1e15);
	tfp_json_add_double(&t.j, -INFINITY);
	tfp_json_add_double(&t.j, NAN);
	tfp_json_add_string(&t.j, NULL);
	tfp_json_add_format(&t.j, "%d.%s", 7, "\"");
	tfp_json_add_raw(&t.j, "[1 ]", 4);
	tfp_json_end_array(&t.j);
	assert_written(&t, "[18446744073709551615,-9223372036854775808,3.0,0.1,null,null,3,0,1e+15,"
			   "\"-Infinity\",\"NaN\",null,\"7.\\\"\",[1 ]]");
}

static void test_texts(void **state)
{
	static const char odd[] = "a\"b\\c\n\t\r\x01\x1f/\xc3\xa9\x7f";
	struct text t;
	(void)state;
	begin(&t);
	tfp_json_begin_object(&t.j);
	tfp_json_set_text(&t.j, "odd", odd, sizeof(odd) - 1);
	tfp_json_set_text(&t.j, "zero", "\0", 1);
	tfp_json_set_text(&t.j, "none", NULL, 0);
	tfp_json_set_string(&t.j, "k\"\n", "x\xffy");
	tfp_json_key_text(&t.j, "\xc3(", 2);
	tfp_json_add_text(&t.j, "ab", 1);
	tfp_json_end_object(&t.j);
	assert_written(&t, "{\"odd\":\"a\\\"b\\\\c\\n\\t\\u000d\\u0001\\u001f/\xc3\xa9\x7f\","
			   "\"zero\":\"\\u0000\",\"none\":\"\",\"k\\\"\\n\":\"x\xef\xbf\xbdy\","
			   "\"\xef\xbf\xbd(\":\"a\"}");
}

static void test_lines(void **state)
{
	struct text t;
	(void)state;
	begin(&t);
	tfp_json_begin_array(&t.j);
	for (int i = 0; i < 2; i++) {
		tfp_json_break_line(&t.j);
		tfp_json_add_integer(&t.j, i);
	}
	tfp_json_break_line(&t.j);
	tfp_json_end_array(&t.j);
	assert_written(&t, "[\n0,\n1\n]");
}

/* The caller takes what there is, and goes on. */
static void test_pieces(void **state)
{
	char whole[100] = "";
	struct text t;
	(void)state;
	begin(&t);
	tfp_json_begin_array(&t.j);
	for (int i = 0; i < 3; i++) {
		tfp_json_add_integer(&t.j, i);
		strcat(whole, tfp_buf_text(&t.buf));
		tfp_buf_clear(&t.buf);
	}
	tfp_json_end_array(&t.j);
	strcat(whole, tfp_buf_text(&t.buf));
	assert_string_equal(whole, "[0,1,2]");
	tfp_buf_release(&t.buf);
}

static void test_no_memory(void **state)
{
	struct tfp_error err;
	struct text t;
	(void)state;
	begin(&t);
	t.buf.ceiling = 50;
	tfp_json_begin_array(&t.j);
	for (int i = 0; i < 100; i++)
		tfp_json_add_string(&t.j, "text");
	tfp_json_end_array(&t.j);
	assert_int_equal(tfp_json_finish(&t.j, &err), TFP_NO_MEMORY);
	tfp_buf_release(&t.buf);
}

static void value_without_key(struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_add_null(j);
	tfp_json_end_object(j);
}

static void key_in_array(struct tfp_json *j)
{
	tfp_json_begin_array(j);
	tfp_json_set_null(j, "a");
	tfp_json_end_array(j);
}

static void key_without_value(struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_key(j, "a");
	tfp_json_end_object(j);
}

static void two_keys(struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_key(j, "a");
	tfp_json_key(j, "b");
	tfp_json_add_null(j);
	tfp_json_end_object(j);
}

static void wrong_end(struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_end_array(j);
}

static void end_of_nothing(struct tfp_json *j)
{
	tfp_json_end_object(j);
}

static void two_documents(struct tfp_json *j)
{
	tfp_json_add_null(j);
	tfp_json_add_null(j);
}

static void still_open(struct tfp_json *j)
{
	tfp_json_begin_array(j);
}

static void nothing(struct tfp_json *j)
{
	(void)j;
}

static void too_deep(struct tfp_json *j)
{
	for (unsigned i = 0; i <= TFP_JSON_DEPTH; i++)
		tfp_json_begin_array(j);
	for (unsigned i = 0; i <= TFP_JSON_DEPTH; i++)
		tfp_json_end_array(j);
}

static void too_long_a_format(struct tfp_json *j)
{
	tfp_json_add_format(j, "%300d", 1);
}

static void test_misuse(void **state)
{
	static void (*const wrong[])(struct tfp_json *) = {
		value_without_key, key_in_array,   key_without_value, two_keys,
		wrong_end,         end_of_nothing, two_documents,     still_open,
		nothing,           too_deep,       too_long_a_format,
	};
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct text t;
		begin(&t);
		wrong[i](&t.j);
		assert_int_equal(tfp_json_finish(&t.j, NULL), TFP_NO_MEMORY);
		tfp_buf_release(&t.buf);
	}
}

static void test_deepest(void **state)
{
	struct text t;
	(void)state;
	begin(&t);
	for (unsigned i = 0; i < TFP_JSON_DEPTH; i++) {
		if (i % 2)
			tfp_json_begin_object_of(&t.j, "o");
		else if (i)
			tfp_json_begin_array_of(&t.j, "a");
		else
			tfp_json_begin_object(&t.j);
		if (i && i % 2 == 0) {
			tfp_json_end_array(&t.j);
			tfp_json_begin_object_of(&t.j, "p");
		}
	}
	for (unsigned i = 0; i < TFP_JSON_DEPTH; i++)
		tfp_json_end_object(&t.j);
	assert_int_equal(tfp_json_finish(&t.j, NULL), TFP_OK);
	tfp_buf_release(&t.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting), cmocka_unit_test(test_values),
		cmocka_unit_test(test_texts),   cmocka_unit_test(test_lines),
		cmocka_unit_test(test_pieces),  cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_misuse),  cmocka_unit_test(test_deepest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
