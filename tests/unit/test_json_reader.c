/* SPDX-License-Identifier: Apache-2.0 */
/* Values are those that RFC 8259 gives the texts. Texts are as long as jansson's first buffers,
 * and a byte around that: there it asks for more in the midst of a token. */
#include "testing.h"

#include "base/alloc.h"
#include "wire/json_reader.h"

#include <string.h>

static json_t *read(const char *text)
{
	struct tfp_error err;
	json_t *json;
	if (tfp_json_read(text, strlen(text), 0, &json, NULL, &err) != TFP_OK || !json)
		fail_msg("%s is not read", text);
	return json;
}

static void test_values(void **state)
{
	(void)state;
	json_t *json = read("{\"a\": [1, -2.5e1, \"\\u00e4\\n\", true, null], \"b\": {}}");
	const json_t *a = json_object_get(json, "a");
	assert_int_equal(json_object_size(json), 2);
	assert_int_equal(json_array_size(a), 5);
	assert_int_equal(json_integer_value(json_array_get(a, 0)), 1);
	assert_true(json_real_value(json_array_get(a, 1)) == -25.0);
	assert_string_equal(json_string_value(json_array_get(a, 2)), "\xc3\xa4\n");
	assert_true(json_is_true(json_array_get(a, 3)));
	assert_true(json_is_null(json_array_get(a, 4)));
	json_decref(json);
}

static void test_what_is_no_json(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {{"", "'[' or '{' expected near end of file"},
		     {"{", "string or '}' expected near end of file"},
		     {"[1,]", "unexpected token near ']'"},
		     {"[1] 2", "end of file expected near '2'"},
		     {"[\"\xff\"]", "unable to decode byte 0xff near '\"'"}};
	struct tfp_error err;
	json_error_t where;
	json_t *json;
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
			tfp_json_read(cases[i].text, strlen(cases[i].text), 0, &json, &where, &err),
			TFP_OK);
		assert_null(json);
		assert_string_equal(where.text, cases[i].why);
	}
	/* The size counts, not a zero byte. */
	assert_int_equal(tfp_json_read("[1]x", 3, 0, &json, NULL, &err), TFP_OK);
	assert_int_equal(json_array_size(json), 1);
	json_decref(json);
}

/* Makes the allocations fail one after the other: that one alone, or all from there on. */
static void fail_each(const char *text, bool once)
{
	json_t *whole = read(text);
	for (uint64_t n = 1;; n++) {
		struct tfp_error err;
		json_t *json;
		if (once)
			tfp_alloc_fail_once(n);
		else
			tfp_alloc_fail_at(n);
		enum tfp_status status = tfp_json_read(text, strlen(text), 0, &json, NULL, &err);
		bool reached = tfp_alloc_count() >= n;
		tfp_alloc_fail_at(0);
		if (!reached) {
			assert_int_equal(status, TFP_OK);
			assert_true(json_equal(json, whole));
			json_decref(json);
			break;
		}
		assert_int_equal(status, TFP_NO_MEMORY);
		assert_int_equal(err.status, TFP_NO_MEMORY);
		assert_null(json);
	}
	json_decref(whole);
}

static void test_no_memory(void **state)
{
	char text[600];
	(void)state;
	for (size_t length = 1; length < 140; length++) {
		const int n = (int)length;
		static const char digits[] = "1234567890123456789";
		snprintf(text, sizeof(text), "{\"k%0*d\":\"v%0*d\\u00e4\"}", n, 0, n, 0);
		fail_each(text, true);
		fail_each(text, false);
		snprintf(text, sizeof(text), "[%.*s, 1.%0*d, 1%.*se5, -1%0*de-%.3s]",
			 n < 18 ? n : 18, digits, n, 0, n < 17 ? n : 17, digits, n, 0, "200");
		fail_each(text, true);
		fail_each(text, false);
	}
	/* An object's table grows. */
	size_t at = 0;
	for (int i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%c\"%d\":[%d]", i ? ',' : '{',
				       i, i);
	snprintf(text + at, sizeof(text) - at, "}");
	fail_each(text, true);
	fail_each(text, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_what_is_no_json),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
