/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts at and beside their thresholds, and the statistics beneath them. */
#include "testing.h"

#include "analysis/steps/bottleneck.h"

static void test_statistics(void **state)
{
	static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	(void)state;
	struct tfp_stat_summary s = tfp_summarize(values, COUNT(values));
	assert_double(s.average, 5);
	assert_double(s.deviation * s.deviation, 32.0 / 7);
	assert_double(s.minimum, 2);
	assert_double(s.maximum, 9);
	s = tfp_summarize(values, 1);
	assert_double(s.deviation, 0);
	s = tfp_summarize(values, 0);
	assert_double(s.average, 0);
}

static struct tfp_bottleneck verdict(double input, double launch, double others)
{
	struct tfp_step_totals totals = {.steps = 1, .step_ms = 100};
	struct tfp_bottleneck b;
	totals.category_ms[TFP_STEP_INPUT] = input;
	totals.category_ms[TFP_STEP_KERNEL_LAUNCH] = launch;
	totals.category_ms[TFP_STEP_ALL_OTHERS] = others;
	tfp_bottleneck(&totals, true, &b);
	return b;
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_string_equal(verdict(20, 0, 0).input.class, "host");
	assert_string_equal(verdict(19.9, 0, 0).input.class, "both");
	assert_string_equal(verdict(5, 0, 50).input.class, "both");
	assert_string_equal(verdict(5, 0, 50).all_others.class, "high");
	/* All others is said once. */
	assert_string_equal(verdict(4.9, 0, 3).input.class, "both");
	assert_string_equal(verdict(4.9, 0, 3).all_others.class, "no");
	assert_string_equal(verdict(4.9, 0, 2.9).input.class, "device");
	assert_string_equal(verdict(0, 15, 0).kernel_launch.class, "high");
	assert_string_equal(verdict(0, 3, 0).kernel_launch.class, "moderate");
	assert_string_equal(verdict(0, 2.9, 0).kernel_launch.class, "no");
	assert_string_equal(verdict(0, 2.9, 0).kernel_launch.statement, "");
	struct tfp_step_totals none = {0};
	struct tfp_bottleneck b;
	tfp_bottleneck(&none, false, &b);
	assert_string_equal(b.input.class, "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_verdicts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
