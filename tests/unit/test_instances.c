/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics computed by hand. */
#include "testing.h"

#include "base/alloc.h"
#include "tools/instances.h"

#include <stdio.h>

static struct opened with_durations(const int64_t *us, size_t count)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 2000);
	builder_line_display(l, 0, "Stream \xff");
	for (size_t i = 0; i < count; i++)
		builder_event(l, "k", (int64_t)i * 1000000000, us[i] * 1000000);
	return open_built(b);
}

static void add_all(struct tfp_instances *all, const struct opened *o)
{
	const struct tfp_plane *plane = &o->capture->planes[0];
	for (size_t i = 0; i < plane->lines[0].event_count; i++)
		tfp_instances_add(all, "host", plane, &plane->lines[0], i);
}

static char *written(const int64_t *us, size_t count)
{
	struct opened o = with_durations(us, count);
	struct tfp_instances all = {0};
	struct tfp_buf json;
	struct tfp_error err;
	add_all(&all, &o);
	tfp_buf_init(&json, 1 << 20);
	assert_int_equal(tfp_instances_write(&all, &json, &err), TFP_OK);
	tfp_instances_release(&all);
	close_built(&o);
	tfp_buf_text(&json);
	return tfp_buf_take(&json, NULL);
}

static void assert_has(const char *json, const char *part)
{
	if (!strstr(json, part))
		fail_msg("%s is not in %s", part, json);
}

static void test_statistics(void **state)
{
	static const int64_t us[] = {10, 1, 4, 2, 3};
	char *json = written(us, COUNT(us));
	(void)state;
	assert_has(json, "{\"count\":5,\"total_us\":20.0,\"min_us\":1.0,\"mean_us\":4.0,"
			 "\"median_us\":3.0,\"p95_us\":10.0,\"max_us\":10.0,"
			 /* sqrt((36 + 9 + 0 + 4 + 1) / 4) */
			 "\"stddev_us\":3.5355339059327378,");
	/* From 1 to 10 in 24 buckets of 0.375. */
	assert_has(json, "\"histogram\":[{\"from_us\":1.0,\"to_us\":1.375,\"count\":1},");
	assert_has(json, "{\"from_us\":1.75,\"to_us\":2.125,\"count\":1}");
	assert_has(json, "{\"from_us\":2.875,\"to_us\":3.25,\"count\":1}");
	assert_has(json, "{\"from_us\":4.0,\"to_us\":4.375,\"count\":1}");
	assert_has(json, "{\"from_us\":9.625,\"to_us\":10.0,\"count\":1}],");
	assert_has(json,
		   "\"slowest\":[{\"host\":\"host\",\"plane\":\"/device:GPU:0\","
		   "\"line\":\"Stream \xef\xbf\xbd\",\"start_us\":2.0,\"duration_us\":10.0},");
	assert_has(json, "\"start_us\":2002.0,\"duration_us\":4.0},");
	tfp_free(json);
}

static void test_even_count_and_percentile(void **state)
{
	/* 1 to 100: the median is the 50th, the 95th percentile the 95th. */
	int64_t us[100];
	(void)state;
	for (int64_t i = 0; i < 100; i++)
		us[i] = (i * 37) % 100 + 1;
	char *json = written(us, 100);
	assert_has(json, "\"mean_us\":50.5,\"median_us\":50.0,\"p95_us\":95.0,\"max_us\":100.0,");
	const char *at = strstr(json, "\"slowest\"");
	size_t slowest = 0;
	for (int64_t expected = 100; expected > 90; expected--, slowest++) {
		char part[40];
		snprintf(part, sizeof(part), "\"duration_us\":%d.0}", (int)expected);
		at = strstr(at, part);
		assert_non_null(at);
	}
	assert_null(strstr(at + 2, "duration_us"));
	tfp_free(json);
}

static void test_one_and_none(void **state)
{
	static const int64_t one[] = {7};
	char *json = written(one, 1);
	(void)state;
	assert_string_equal(json,
			    "{\"count\":1,\"total_us\":7.0,\"min_us\":7.0,\"mean_us\":7.0,"
			    "\"median_us\":7.0,\"p95_us\":7.0,\"max_us\":7.0,\"stddev_us\":0.0,"
			    "\"histogram\":[{\"from_us\":7.0,\"to_us\":7.0,\"count\":1}],"
			    "\"slowest\":[{\"host\":\"host\",\"plane\":\"/device:GPU:0\","
			    "\"line\":\"Stream \xef\xbf\xbd\",\"start_us\":2.0,"
			    "\"duration_us\":7.0}]}");
	tfp_free(json);
	json = written(NULL, 0);
	assert_string_equal(json, "{\"count\":0,\"histogram\":[],\"slowest\":[]}");
	tfp_free(json);
}

static void test_all_equal(void **state)
{
	static const int64_t us[] = {5, 5, 5};
	char *json = written(us, COUNT(us));
	(void)state;
	assert_has(json,
		   "\"stddev_us\":0.0,\"histogram\":[{\"from_us\":5.0,\"to_us\":5.0,\"count\":3}]");
	/* Of equal ones the first come first. */
	const char *first = strstr(json, "\"start_us\":2.0,"),
		   *second = strstr(json, "\"start_us\":1002.0,");
	assert_true(first && second && first < second);
	tfp_free(json);
}

static void test_without_memory(void **state)
{
	static const int64_t us[] = {1, 2, 3};
	struct opened o = with_durations(us, COUNT(us));
	(void)state;
	for (uint64_t n = 1; n <= 7; n++) {
		struct tfp_instances all = {0};
		struct tfp_buf json;
		struct tfp_error err;
		tfp_buf_init(&json, 1 << 20);
		tfp_alloc_fail_at(n);
		add_all(&all, &o);
		enum tfp_status status = tfp_instances_write(&all, &json, &err);
		tfp_alloc_fail_at(0);
		assert_int_equal(status, TFP_NO_MEMORY);
		tfp_instances_release(&all);
		tfp_buf_release(&json);
	}
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_even_count_and_percentile),
		cmocka_unit_test(test_one_and_none),
		cmocka_unit_test(test_all_equal),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
