/* SPDX-License-Identifier: Apache-2.0 */
/* What XProf's page restricts a trace to; meanings as in its trace_options.cc. */
#include "testing.h"

#include "base/alloc.h"
#include "trace/trace_filter.h"

#include <stdio.h>

static struct tfp_trace_filter *filter(const char *groups, const char *config)
{
	struct tfp_trace_filter *f;
	struct tfp_error err;
	if (tfp_trace_filter_new(&f, groups, config, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return f;
}

static void refused(const char *groups, const char *config)
{
	struct tfp_trace_filter *f;
	struct tfp_error err;
	if (tfp_trace_filter_new(&f, groups, config, &err) != TFP_BAD_QUERY)
		fail_msg("%s %s is not refused", groups ? groups : "", config ? config : "");
	assert_null(f);
}

static bool row(const struct tfp_trace_filter *f, const char *process, const char *name)
{
	const struct tfp_str text = name ? str_of(name) : (struct tfp_str){"", 0};
	return tfp_trace_filter_takes_row(f, str_of(process), name ? &text : NULL);
}

static bool event(const struct tfp_trace_filter *f, int64_t group, const char *name,
		  int64_t duration_ps)
{
	return tfp_trace_filter_takes(f, group, str_of(name), duration_ps);
}

static void test_nothing_restricts(void **state)
{
	(void)state;
	assert_null(filter(NULL, NULL));
	assert_null(filter("", ""));
	assert_null(filter(NULL, "{}"));
	assert_null(filter(NULL, "{\"deviceRegexes\":[],\"traceEventFilters\":null,"
				 "\"negation\":true,\"unknown\":1}"));
	assert_true(row(NULL, "h /host:CPU", NULL));
	assert_true(event(NULL, -1, "", 0));
	struct tfp_error err;
	assert_int_equal(tfp_trace_filter_check(NULL, &err), TFP_OK);
	tfp_trace_filter_free(NULL);
}

static void test_steps(void **state)
{
	struct tfp_trace_filter *f = filter("12,3,4", NULL);
	(void)state;
	assert_true(event(f, 3, "a", 1) && event(f, 4, "a", 1) && event(f, 12, "a", 1));
	assert_false(event(f, 2, "a", 1) || event(f, 5, "a", 1) || event(f, -1, "a", 1));
	assert_true(row(f, "h /host:CPU", NULL));
	tfp_trace_filter_free(f);
	refused("a", NULL);
	refused("1,", NULL);
	refused("1, 2", NULL);
	refused("-1", NULL);
	refused("18446744073709551616", NULL);
}

static void test_rows(void **state)
{
	struct tfp_trace_filter *f = filter(
		NULL, "{\"deviceRegexes\":[\"GPU:[01]\",\"TPU\"],\"resourceRegexes\":[\"#1\"]}");
	(void)state;
	assert_true(row(f, "h /device:GPU:1", "Stream #13"));
	assert_true(row(f, "h /device:TPU:7", "#1"));
	assert_false(row(f, "h /device:GPU:2", "Stream #13"));
	assert_false(row(f, "h /device:GPU:1", "Stream #23"));
	/* On no row: there is nothing that could match. */
	assert_false(row(f, "h /device:GPU:1", NULL));
	tfp_trace_filter_free(f);
	f = filter(NULL, "{\"device_regexes\":[\"gpu\"]}");
	assert_false(row(f, "h /device:GPU:1", "a"));
	tfp_trace_filter_free(f);
	f = filter(NULL, "{\"device_regexes\":[\"(?i)gpu\"]}");
	assert_true(row(f, "h /device:GPU:1", NULL));
	tfp_trace_filter_free(f);
}

/* The example of XProf's own test: matmul of at least 5 ms. */
static void test_events(void **state)
{
	static const char both[] =
		"{\"traceEventFilters\":[{\"fieldName\":\"name\",\"opId\":\"OP_REGEX\","
		"\"regexValue\":\"matmul\"},{\"fieldName\":\"duration\",\"opId\":\"OP_GE\","
		"\"doubleValue\":5.0}]%s}";
	const int64_t ms = 1000000000;
	char text[400];
	(void)state;
	snprintf(text, sizeof(text), both, "");
	struct tfp_trace_filter *f = filter(NULL, text);
	assert_true(event(f, -1, "matmul_op", 6 * ms) && event(f, -1, "matmul_op", 5 * ms));
	assert_false(event(f, -1, "matmul_op", 4 * ms) || event(f, -1, "convolution_op", 10 * ms));
	tfp_trace_filter_free(f);
	snprintf(text, sizeof(text), both, ",\"negation\":true");
	f = filter("1", text);
	assert_true(event(f, 1, "matmul_op", 4 * ms) && event(f, 1, "convolution_op", 10 * ms));
	assert_false(event(f, 1, "matmul_op", 6 * ms) || event(f, 2, "matmul_op", 4 * ms));
	tfp_trace_filter_free(f);
	static const struct {
		const char *op;
		bool less, equal, more;
	} ops[] = {{"OP_EQ", false, true, false},
		   {"OP_LT", true, false, false},
		   {"OP_GT", false, false, true},
		   {"OP_LE", true, true, false},
		   {"OP_GE", false, true, true}};
	for (size_t i = 0; i < COUNT(ops); i++) {
		snprintf(text, sizeof(text),
			 "{\"trace_event_filters\":[{\"field_name\":\"duration\",\"op_id\":\"%s\","
			 "\"uint_value\":\"2\"}]}",
			 ops[i].op);
		f = filter(NULL, text);
		assert_int_equal(event(f, -1, "", 2 * ms - 2000), ops[i].less);
		assert_int_equal(event(f, -1, "", 2 * ms), ops[i].equal);
		assert_int_equal(event(f, -1, "", 2 * ms + 2000), ops[i].more);
		tfp_trace_filter_free(f);
	}
}

static void test_what_is_refused(void **state)
{
	static const char *const configs[] = {
		"nothing", "[]", "1", "{", "{\"deviceRegexes\":\"a\"}", "{\"deviceRegexes\":[1]}",
		"{\"resourceRegexes\":[\"(\"]}", "{\"negation\":1}", "{\"traceEventFilters\":{}}",
		"{\"traceEventFilters\":[1]}", "{\"traceEventFilters\":[{}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"name\"}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"name\",\"opId\":\"OP_LT\","
		"\"strValue\":\"a\"}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"name\",\"opId\":6,\"strValue\":\"a\"}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"duration\",\"strValue\":\"1\"}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"duration\",\"opId\":\"OP_REGEX\","
		"\"doubleValue\":1}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"duration\",\"doubleValue\":\"NaN\"}]}",
		"{\"traceEventFilters\":[{\"fieldName\":\"pid\",\"uintValue\":1}]}",
		/* XProf reads these and does nothing. */
		"{\"traceEventArgFilters\":[{\"fieldName\":\"shape\",\"strValue\":\"a\"}]}"};
	(void)state;
	for (size_t i = 0; i < COUNT(configs); i++)
		refused(NULL, configs[i]);
}

/* The request is right, and says so once there is memory again. */
static void test_no_memory(void **state)
{
	static const char config[] =
		"{\"deviceRegexes\":[\"a device with a long name\"],\"traceEventFilters\":"
		"[{\"fieldName\":\"duration\",\"opId\":\"OP_GT\",\"doubleValue\":12345678901234e5}]"
		"}";
	(void)state;
	for (uint64_t n = 1;; n++) {
		struct tfp_trace_filter *f;
		struct tfp_error err;
		tfp_alloc_fail_once(n);
		enum tfp_status status = tfp_trace_filter_new(&f, "3,4", config, &err);
		bool reached = tfp_alloc_count() >= n;
		tfp_alloc_fail_at(0);
		assert_int_equal(status, reached ? TFP_NO_MEMORY : TFP_OK);
		if (!reached) {
			tfp_trace_filter_free(f);
			break;
		}
		assert_int_equal(err.status, TFP_NO_MEMORY);
	}
}

static void test_costly(void **state)
{
	struct tfp_trace_filter *f =
		filter(NULL, "{\"traceEventFilters\":[{\"fieldName\":\"name\",\"regexValue\":"
			     "\"^(a+)+$\"}]}");
	struct tfp_error err;
	(void)state;
	assert_true(event(f, -1, "aaa", 1));
	assert_int_equal(tfp_trace_filter_check(f, &err), TFP_OK);
	assert_false(event(f, -1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 1));
	assert_int_equal(tfp_trace_filter_check(f, &err), TFP_TOO_LARGE);
	tfp_trace_filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_restricts),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_costly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
