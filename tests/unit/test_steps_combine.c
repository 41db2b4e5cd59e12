/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of several hosts: shifted, alone, or without steps. */
#include "steps.h"

#include "analysis/steps/step_totals.h"
#include "analysis/steps/steps_combine.h"

static struct opened host_with_steps(const int64_t (*steps)[2], size_t count)
{
	struct builder *b = builder_new();
	struct builder_line *h = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "python", 0);
	for (size_t i = 0; i < count; i++) {
		grouped(h, "train", steps[i][0], steps[i][1], (int64_t)(10 + i));
		grouped(h, "a/Op:Op", steps[i][0], steps[i][1], (int64_t)(10 + i));
	}
	return open_built(b);
}

static void combine(struct opened *opened, size_t count, struct tfp_steps *out)
{
	struct tfp_steps *hosts = calloc(count, sizeof(*hosts));
	struct tfp_error err;
	for (size_t h = 0; h < count; h++) {
		tfp_steps_init(&hosts[h]);
		assert_true(tfp_steps_copy(&hosts[h], steps_of(&opened[h])));
	}
	tfp_steps_init(out);
	assert_int_equal(tfp_steps_combine(hosts, count, out, &err), TFP_OK);
	for (size_t h = 0; h < count; h++) {
		tfp_steps_release(&hosts[h]);
		close_built(&opened[h]);
	}
	free(hosts);
}

static void test_shifted_hosts(void **state)
{
	/* The second host's capture began a step earlier and ended one earlier. */
	static const int64_t a[][2] = {{1000, 90}, {1100, 90}, {1200, 90}};
	static const int64_t b[][2] = {{905, 90}, {1005, 90}, {1105, 95}};
	struct opened hosts[] = {host_with_steps(a, 3), host_with_steps(b, 3)};
	struct tfp_steps steps;
	(void)state;
	combine(hosts, 2, &steps);
	assert_int_equal(steps.count, 2);
	assert_int_equal(steps.steps[0].number, 0);
	assert_int_equal(steps.steps[1].number, 1);
	assert_int_equal(steps.steps[0].core_count, 2);
	assert_int_equal(tfp_step_core(&steps, 0, 0)->begin_ps, 1000);
	assert_int_equal(tfp_step_core(&steps, 0, 1)->begin_ps, 1005);
	assert_int_equal(tfp_step_core_id(tfp_step_core(&steps, 0, 0)), 1);
	assert_int_equal(tfp_step_core_id(tfp_step_core(&steps, 0, 1)), 1001);
	assert_int_equal(tfp_step_time_ps(&steps, 1), 95);
	assert_false(steps.intersection_empty);
	assert_ptr_equal(tfp_host_core(&steps, 1, 0), tfp_step_core(&steps, 1, 0));
	assert_ptr_equal(tfp_host_core(&steps, 1, 1), tfp_step_core(&steps, 1, 1));
	assert_null(tfp_host_core(&steps, 1, 2));
	assert_int_equal(tfp_host_time_ps(&steps, 0), 180);
	assert_int_equal(tfp_host_time_ps(&steps, 1), 185);
	assert_int_equal(tfp_host_time_ps(&steps, 2), 0);
	tfp_steps_release(&steps);
}

static void test_one_host_keeps_its_numbers(void **state)
{
	static const int64_t a[][2] = {{1000, 90}, {1100, 90}};
	struct opened host = host_with_steps(a, 2);
	struct tfp_steps steps;
	(void)state;
	combine(&host, 1, &steps);
	assert_int_equal(steps.count, 2);
	assert_int_equal(steps.steps[0].number, 10);
	assert_int_equal(steps.steps[1].number, 11);
	tfp_steps_release(&steps);
}

static void test_host_without_steps(void **state)
{
	static const int64_t a[][2] = {{1000, 90}, {1100, 90}};
	struct opened hosts[] = {host_with_steps(a, 2), host_with_steps(NULL, 0)};
	struct tfp_steps steps;
	(void)state;
	combine(hosts, 2, &steps);
	assert_int_equal(steps.count, 0);
	assert_true(steps.intersection_empty);
	tfp_steps_release(&steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shifted_hosts),
		cmocka_unit_test(test_one_host_keeps_its_numbers),
		cmocka_unit_test(test_host_without_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
