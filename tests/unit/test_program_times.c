/* SPDX-License-Identifier: Apache-2.0 */
/* Times and executions by hand, from the events of tests/support/sample_capture.c. */
#include "testing.h"

#include "analysis/summary/program_times.h"
#include "base/alloc.h"
#include "support/sample_capture.h"

static void check(const struct tfp_program_times *times, uint64_t time_ps, uint64_t executions)
{
	assert_int_equal(times->modules->module_count, 1);
	assert_int_equal(times->modules->modules[0].program_id, 12);
	assert_int_equal(times->list[0].time_ps, time_ps);
	assert_int_equal(times->list[0].has_time, time_ps > 0);
	assert_int_equal(times->list[0].executions, executions);
	assert_int_equal(times->list[0].has_executions, executions > 0);
}

static void check_sample(enum sample_device device, uint64_t time_ps, uint64_t executions)
{
	struct opened o = open_built(sample_capture(device));
	struct tfp_program_times times;
	struct tfp_error err;
	assert_int_equal(tfp_program_times_init(&times, o.capture, NULL, &err), TFP_OK);
	check(&times, time_ps, executions);
	tfp_program_times_release(&times);
	close_built(&o);
}

/* fusion.1 once, 0.7 us, and copy.2 three times, 0.3 us; the rest belongs to no program. No two
 * instructions agree: once is what is sure. */
static void test_gpu(void **state)
{
	(void)state;
	check_sample(SAMPLE_GPU, 1600000, 1);
}

/* Two events of `XLA Modules`; fusion.1 for 2.5 us by the device's clock, and for 1 us. */
static void test_tpu(void **state)
{
	(void)state;
	check_sample(SAMPLE_TPU, 3500000, 2);
}

static void test_no_device(void **state)
{
	(void)state;
	check_sample(SAMPLE_NO_DEVICE, 0, 0);
}

static void run_out_of_memory(enum sample_device device)
{
	enum tfp_status status = TFP_NO_MEMORY;
	for (uint64_t n = 1; status != TFP_OK; n++) {
		struct opened o = open_built(sample_capture(device));
		struct tfp_program_times times;
		struct tfp_error err;
		assert_true(n < 10000);
		tfp_alloc_fail_at(n);
		status = tfp_program_times_init(&times, o.capture, NULL, &err);
		tfp_alloc_fail_at(0);
		assert_true(status == TFP_OK || status == TFP_NO_MEMORY);
		tfp_program_times_release(&times);
		close_built(&o);
	}
}

static void test_no_memory(void **state)
{
	(void)state;
	run_out_of_memory(SAMPLE_GPU);
	run_out_of_memory(SAMPLE_TPU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_tpu),
		cmocka_unit_test(test_no_device),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
