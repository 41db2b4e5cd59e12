/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of ops and what binds them: worked out by hand from XProf's formulas
 * (op_metrics_to_record.h). */
#include "testing.h"

#include "analysis/ops/op_rates.h"

#include <math.h>

#define GIB (1024.0 * 1024.0 * 1024.0)

static void assert_near(double have, double want)
{
	if (fabs(have - want) > 1e-9 * fabs(want))
		fail_msg("%.12g instead of %.12g", have, want);
}

/* One millisecond, 2 GFLOP, 8 MiB: 2000 GFLOP/s, and 7.8125 GiB/s. */
static struct tfp_op an_op(void)
{
	return (struct tfp_op){.time_ps = 1000000000,
			       .has_cost = true,
			       .flops = 2e9,
			       .model_flops = 1e9,
			       .bytes_accessed = 8 * 1024.0 * 1024.0};
}

static void test_rates(void **state)
{
	struct tfp_op op = an_op();
	struct tfp_run_env env = {.hardware = TFP_HW_GPU};
	(void)state;
	struct tfp_op_rates r = tfp_op_rates(&op, &env);
	assert_near(r.flop_rate, 2000);
	assert_near(r.model_flop_rate, 1000);
	assert_near(r.memory_bw, 7.8125);
	assert_near(r.hbm_bw, 7.8125); /* without a breakdown all bytes are HBM's */
	assert_near(r.intensity, 2e9 / 8388608);
	assert_near(r.hbm_intensity, 2e9 / 8388608);
	/* Without peaks nothing is known to bind. */
	assert_string_equal(r.bound_by, "Unknown");
	assert_true(r.bound_intensity == 0);
}

static void test_what_binds(void **state)
{
	struct tfp_op op = an_op();
	struct tfp_run_env env = {.hardware = TFP_HW_GPU};
	double *peaks = env.peaks.gigabytes_per_second;
	(void)state;
	env.peaks.teraflops = 4;   /* half of it is used */
	peaks[TFP_PEAK_HBM] = 100; /* 8388608 bytes in 1 ms are 8.388608 GB/s */
	peaks[TFP_PEAK_SRAM_WRITE] = 90;
	assert_string_equal(tfp_op_rates(&op, &env).bound_by, "Compute");
	peaks[TFP_PEAK_HBM] = 16;
	assert_string_equal(tfp_op_rates(&op, &env).bound_by, "HBM");
	peaks[TFP_PEAK_SRAM_WRITE] = 15;
	assert_string_equal(tfp_op_rates(&op, &env).bound_by, "Shm/L1");
	/* Of equals the first counts. */
	peaks[TFP_PEAK_SRAM_WRITE] = 16;
	assert_string_equal(tfp_op_rates(&op, &env).bound_by, "HBM");
	assert_near(tfp_op_rates(&op, &env).bound_intensity, 2e9 / 8388608);
	/* Only GPUs have that memory. */
	peaks[TFP_PEAK_SRAM_WRITE] = 1;
	env.hardware = TFP_HW_TPU;
	assert_string_equal(tfp_op_rates(&op, &env).bound_by, "HBM");
}

static void test_memories_of_a_tpu(void **state)
{
	struct tfp_device_metrics device = {.has_breakdown = true};
	struct tfp_op op = an_op();
	struct tfp_run_env env = {.hardware = TFP_HW_TPU};
	double *peaks = env.peaks.gigabytes_per_second;
	(void)state;
	op.device = &device;
	device.bytes[TFP_SPACE_HBM][TFP_ACCESS_READ] = GIB / 1000;
	device.bytes[TFP_SPACE_HBM][TFP_ACCESS_WRITE] = GIB / 1000;
	device.bytes[TFP_SPACE_HBM][TFP_ACCESS_UNKNOWN] = GIB / 1000;
	device.bytes[TFP_SPACE_CMEM][TFP_ACCESS_READ] = 2 * GIB / 1000;
	device.bytes[TFP_SPACE_VMEM][TFP_ACCESS_WRITE] = 4 * GIB / 1000;
	env.peaks.teraflops = 1000;
	for (int i = 0; i < TFP_PEAK_COUNT; i++)
		peaks[i] = 100;
	struct tfp_op_rates r = tfp_op_rates(&op, &env);
	assert_near(r.hbm_bw, 3);
	assert_near(r.onchip_bw[0], 2);
	assert_true(r.onchip_bw[1] == 0);
	assert_true(r.onchip_bw[2] == 0);
	assert_near(r.onchip_bw[3], 4);
	assert_near(r.onchip_intensity[3], 2e9 / (4 * GIB / 1000));
	assert_true(r.onchip_intensity[1] == 0); /* nothing divided by nothing */
	assert_string_equal(r.bound_by, "VMEM Write");
}

static void test_nothing(void **state)
{
	struct tfp_op op = {.has_cost = false};
	struct tfp_run_env env = {.hardware = TFP_HW_GPU};
	(void)state;
	env.peaks.teraflops = 4;
	struct tfp_op_rates r = tfp_op_rates(&op, &env);
	assert_true(r.flop_rate == 0 && r.memory_bw == 0 && r.intensity == 0);
	assert_string_equal(r.bound_by, "Unknown");
	assert_true(tfp_divide(5, 1e-11) == 0);
	assert_true(tfp_divide(5, -2) == -2.5);
}

static void test_who_knows(void **state)
{
	struct tfp_device_metrics device = {.cost_by = TFP_COST_BY_US};
	struct tfp_op op = {.has_cost = true};
	(void)state;
	assert_string_equal(tfp_cost_by_name(&op), "");
	op.device = &device;
	assert_string_equal(tfp_cost_by_name(&op), "ours");
	device.cost_by = TFP_COST_BY_XLA;
	assert_string_equal(tfp_cost_by_name(&op), "XLA");
	device.cost_by = TFP_COST_BY_PROFILER;
	assert_string_equal(tfp_cost_by_name(&op), "profiler");
	op.has_cost = false;
	assert_string_equal(tfp_cost_by_name(&op), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_what_binds),
		cmocka_unit_test(test_memories_of_a_tpu),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_who_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
