/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/events/run_env.h"

static struct tfp_run_env env_of(struct builder *b)
{
	struct opened o = open_built(b);
	struct tfp_run_env env;
	tfp_run_env(o.capture, &env);
	close_built(&o);
	return env;
}

static struct builder *gpu(const char *vendor, const char *device, int64_t major, int64_t minor)
{
	struct builder *b = builder_new();
	struct builder_stats *caps = builder_plane_stats(builder_plane(b, 0, "/device:GPU:0"));
	if (vendor)
		builder_stat_str(caps, "device_vendor", vendor);
	if (device)
		builder_stat_str(caps, "gpu_device_name", device);
	builder_stat_int(caps, "compute_cap_major", major);
	builder_stat_int(caps, "compute_cap_minor", minor);
	builder_stat_uint(caps, "clock_rate", 1530000);
	builder_stat_uint(caps, "core_count", 80);
	builder_stat_uint(caps, "memory_bandwidth", UINT64_C(900000000000));
	return b;
}

/* GpuPerfEnv: 80 SMs at 1.53 GHz of capability 7.0 do 1024 operations a cycle each. */
static void test_worked_example(void **state)
{
	struct builder *b = gpu("Nvidia", "Tesla V100", 7, 0);
	(void)state;
	builder_plane(b, 1, "/device:GPU:1");
	struct tfp_run_env env = env_of(b);
	assert_int_equal(env.hardware, TFP_HW_GPU);
	assert_int_equal(env.device_count, 2);
	assert_string_equal(env.device_type, "Nvidia GPU (Volta)");
	assert_string_equal(env.hostname, "localhost");
	assert_double(env.peaks.teraflops, 125.3376);
	assert_double(env.peaks.gigabytes_per_second[TFP_PEAK_HBM], 900);
	assert_double(env.peaks.gigabytes_per_second[TFP_PEAK_SRAM_READ], 80 * 256 * 1.53);
}

static void test_models_and_peaks(void **state)
{
	static const struct {
		const char *vendor, *device;
		int64_t major, minor;
		const char *model;
		double flops_per_cycle, shared_bytes_per_cycle;
	} cases[] = {
		{"Nvidia", "x", 2, 1, "Nvidia GPU (Fermi)", 64, 64},
		{"Nvidia", "x", 3, 5, "Nvidia GPU (Kepler)", 384, 256},
		{"Nvidia", "x", 5, 2, "Nvidia GPU (Maxwell)", 256, 256},
		{"Nvidia", "x", 6, 0, "Nvidia GPU (Pascal)", 256, 256},
		{"Nvidia", "x", 6, 1, "Nvidia GPU (Pascal)", 256, 256},
		{"Nvidia", "x", 7, 5, "Nvidia GPU (Turing)", 1024, 256},
		{"Nvidia", "x", 8, 0, "Nvidia GPU (Ampere)", 2048, 256},
		{"Nvidia", "x", 8, 6, "Nvidia GPU (Ampere)", 1024, 256},
		{"Nvidia", "x", 8, 9, "Nvidia GPU (Ada Lovelace)", 1024, 256},
		{"Nvidia", "x", 9, 0, "Nvidia GPU (Hopper)", 4096, 256},
		{"Nvidia", "x", 10, 0, "Nvidia GPU (Blackwell)", 8192, 256},
		/* unknown ones: as the next older */
		{"Nvidia", "x", 7, 2, "Nvidia GPU (Volta)", 1024, 256},
		{"Nvidia", "x", 12, 0, "Nvidia GPU", 8192, 256},
		{"Nvidia", "x", 1, 0, "Nvidia GPU", 64, 64},
		{"AMD", "gfx942:sramecc+:xnack-", 9, 4, "AMD GPU - gfx942", 2048, 128},
		{"AMD", "gfx90a", 9, 0, "AMD GPU - gfx90a", 1024, 128},
		{"AMD", "AMD Instinct", 9, 4, "AMD GPU - gfx942", 2048, 128},
		{"AMD", "AMD Instinct", 9, 5, "AMD GPU - gfx950", 4096, 256},
		/* the chip is known by its capability where the file names no device */
		{"AMD", NULL, 9, 4, "AMD GPU - gfx942", 2048, 128},
		{"AMD", "", 9, 5, "AMD GPU - gfx950", 4096, 256},
		{"AMD", NULL, 9, 0, "AMD GPU - gfx-9XX series", 0, 0},
		/* a name that the file gives goes before the capability */
		{"AMD", "gfx90a", 9, 4, "AMD GPU - gfx90a", 1024, 128},
		{"AMD", "AMD Instinct", 9, 0, "AMD GPU - gfx-9XX series", 0, 0},
		{"AMD", "AMD Radeon", 10, 3, "AMD GPU - gfx-10XX series", 0, 0},
		{"AMD", "gf", 11, 0, "AMD GPU - gfx-11XX series", 0, 0},
		{"AMD", "gfxyz", 1, 0, "AMD GPU", 0, 0},
		{"Somebody", "x", 7, 0, "GPU", 1024, 256},
		{NULL, NULL, 7, 0, "Nvidia GPU (Volta)", 1024, 256}, /* before 2021 */
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_run_env env = env_of(
			gpu(cases[i].vendor, cases[i].device, cases[i].major, cases[i].minor));
		assert_string_equal(env.device_type, cases[i].model);
		assert_double(env.peaks.teraflops, 80 * 1.53 * cases[i].flops_per_cycle / 1000);
		assert_double(env.peaks.gigabytes_per_second[TFP_PEAK_SRAM_READ],
			      80 * cases[i].shared_bytes_per_cycle * 1.53);
	}
}

static void test_a_peak_in_the_file_goes_first(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_stat_double(builder_plane_stats(builder_plane(b, 0, "/device:GPU:0")),
			    "peak_teraflops_per_second", 312);
	struct tfp_run_env env = env_of(b);
	assert_string_equal(env.device_type, "GPU");
	assert_double(env.peaks.teraflops, 312);
}

static void test_tpu(void **state)
{
	struct builder *b = builder_new();
	struct builder_stats *caps = builder_plane_stats(builder_plane(b, 0, "/device:TPU:0"));
	(void)state;
	builder_stat_ref(caps, "device_type_string", "TPU v6 Lite");
	builder_stat_double(caps, "peak_teraflops_per_second", 918);
	builder_stat_double(caps, "peak_hbm_bw_gigabytes_per_second", 1640);
	builder_plane(b, 1, "/device:TPU:1");
	builder_plane(b, 1, "/device:TPU:0 SparseCore 0");
	builder_plane(b, 0, "/device:GPU:0");
	builder_hostname(b, "first");
	builder_hostname(b, "second");
	struct tfp_run_env env = env_of(b);
	assert_int_equal(env.hardware, TFP_HW_TPU);
	assert_int_equal(env.device_count, 2);
	assert_string_equal(env.device_type, "TPU v6 Lite");
	assert_string_equal(env.hostname, "first");
	assert_double(env.peaks.teraflops, 918);
	assert_double(env.peaks.gigabytes_per_second[TFP_PEAK_HBM], 1640);
	b = builder_new();
	builder_plane(b, 0, "/device:TPU:0");
	assert_string_equal(env_of(b).device_type, "TPU");
}

static void test_cpu_and_odd_names(void **state)
{
	char name[400];
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "/host:CPU");
	builder_hostname(b, "h\xff");
	struct tfp_run_env env = env_of(b);
	assert_int_equal(env.hardware, TFP_HW_CPU);
	assert_int_equal(env.device_count, 0);
	assert_string_equal(env.device_type, "CPU");
	assert_string_equal(env.hostname, "h");
	assert_double(env.peaks.teraflops, 0);
	/* Cut between characters: 255 bytes hold 85 of three. */
	for (size_t i = 0; i < 100; i++)
		memcpy(name + 3 * i, "\xe2\x82\xac", 4);
	b = builder_new();
	builder_plane(b, 0, "/host:CPU");
	builder_hostname(b, name);
	env = env_of(b);
	assert_int_equal(strlen(env.hostname), 255);
	assert_memory_equal(env.hostname, name, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_example),
		cmocka_unit_test(test_models_and_peaks),
		cmocka_unit_test(test_a_peak_in_the_file_goes_first),
		cmocka_unit_test(test_tpu),
		cmocka_unit_test(test_cpu_and_odd_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
