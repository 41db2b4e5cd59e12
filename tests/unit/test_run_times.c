/* SPDX-License-Identifier: Apache-2.0 */
/* When a run was made, by its name; what files say is in tests/http/test_cli.py. */
#include "testing.h"

#include "session/run_times.h"

#include <stdlib.h>
#include <time.h>

#define S INT64_C(1000000000)

static void test_names(void **state)
{
	static const struct {
		const char *name;
		int64_t seconds; /* 0: none */
	} cases[] = {
		{"2023_11_07_18_18_59", 1699381139},
		{"a/b/2023_11_07_18_18_59", 1699381139},
		{"2023_11_07_18_18_59-warm", 1699381139},
		{"warm-2023_11_07_18_18_59 (2)", 1699381139},
		{"2000_02_29_00_00_00", 951782400},
		{"", 0},
		{"GPU-multi-worker", 0},
		{"2023_11_07_18_18_59/late", 0}, /* the folder's, not the run's */
		{"12023_11_07_18_18_59", 0},
		{"2023_11_07_18_18_591", 0},
		{"2023_11_07_18_18_5", 0},
		{"2023_13_07_18_18_59", 0},
		{"2023_11_07_24_18_59", 0},
		{"1023_11_07_18_18_59", 0},
		{"2023-11-07_18_18_59", 0},
	};
	(void)state;
	setenv("TZ", "UTC0", 1);
	tzset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t time_ns = 0;
		assert_int_equal(tfp_run_name_time(cases[i].name, &time_ns), cases[i].seconds != 0);
		assert_int_equal(time_ns, cases[i].seconds * S);
	}
	/* A name is by the clock on the wall. */
	int64_t time_ns;
	setenv("TZ", "XXX-2", 1);
	tzset();
	assert_true(tfp_run_name_time("2023_11_07_18_18_59", &time_ns));
	assert_int_equal(time_ns, (INT64_C(1699381139) - 7200) * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
