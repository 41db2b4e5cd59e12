/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks that a user gave in a file. */
#include "testing.h"

#include "session/given_peaks.h"

#include <string.h>

static enum tfp_status parse(const char *text, struct tfp_given_peaks **out, struct tfp_error *err)
{
	return tfp_given_peaks_parse(out, (struct tfp_str){text, strlen(text)}, "peaks", err);
}

static void test_a_device_of_the_file(void **state)
{
	(void)state;
	struct tfp_given_peaks *given;
	struct tfp_error err;
	struct tfp_run_env env = {.device_type = "TPU v4"}, other = {.device_type = "TPU v5"};
	env.peaks.gigabytes_per_second[TFP_PEAK_HBM] = 1200;
	assert_int_equal(parse("# ours\r\n"
			       "[TPU v4]\r\n"
			       "  tflops = 2.5e2\n"
			       "vmem_gbs=7\n"
			       "source = measured, = on Monday\n"
			       "\n"
			       "[*]\n"
			       "hbm_gbs = 3",
			       &given, &err),
			 TFP_OK);
	tfp_given_peaks_apply(given, &env);
	tfp_given_peaks_apply(given, &other);
	assert_true(env.peaks.teraflops == 250);
	assert_true(env.peaks.gigabytes_per_second[TFP_PEAK_HBM] == 1200);
	assert_true(env.peaks.gigabytes_per_second[TFP_PEAK_VMEM_READ] == 7);
	assert_true(env.peaks.gigabytes_per_second[TFP_PEAK_VMEM_WRITE] == 7);
	assert_string_equal(env.peaks.source, "measured, = on Monday");
	assert_true(other.peaks.teraflops == 0);
	assert_true(other.peaks.gigabytes_per_second[TFP_PEAK_HBM] == 3);
	assert_string_equal(other.peaks.source, "the file of --peaks");
	assert_true(tfp_given_peaks_stamp(given) != 0);
	tfp_given_peaks_free(given);
}

static void test_no_file(void **state)
{
	(void)state;
	struct tfp_run_env env = {.device_type = "CPU"};
	tfp_given_peaks_apply(NULL, &env);
	assert_true(env.peaks.teraflops == 0);
	assert_string_equal(env.peaks.source, "");
	assert_true(tfp_given_peaks_stamp(NULL) == 0);
	tfp_given_peaks_free(NULL);
}

static void test_another_text_another_stamp(void **state)
{
	(void)state;
	struct tfp_given_peaks *a, *b;
	struct tfp_error err;
	assert_int_equal(parse("[*]\ntflops = 1\n", &a, &err), TFP_OK);
	assert_int_equal(parse("[*]\ntflops = 2\n", &b, &err), TFP_OK);
	assert_true(tfp_given_peaks_stamp(a) != tfp_given_peaks_stamp(b));
	tfp_given_peaks_free(a);
	tfp_given_peaks_free(b);
}

static void test_what_is_no_such_file(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"tflops = 1",
		"[]",
		"[TPU v4",
		"[TPU v4]\nflops = 1",
		"[TPU v4]\ntflops = 0",
		"[TPU v4]\ntflops = -1",
		"[TPU v4]\ntflops = inf",
		"[TPU v4]\ntflops = 0x10",
		"[TPU v4]\ntflops = 1e999",
		"[TPU v4]\ntflops =",
		"[TPU v4]\ntflops",
		"[TPU v4]\nsource = \x01",
		"[TPU \xff]",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tfp_given_peaks *given;
		struct tfp_error err;
		assert_int_equal(parse(texts[i], &given, &err), TFP_BAD_QUERY);
		assert_null(given);
		assert_non_null(strstr(err.message, strchr(texts[i], '\n') ? "peaks, line 2: "
									   : "peaks, line 1: "));
	}
}

static void test_a_file_that_is_not_there(void **state)
{
	(void)state;
	struct tfp_given_peaks *given;
	struct tfp_error err;
	assert_int_equal(tfp_given_peaks_read(&given, "/nowhere/peaks", &err), TFP_BAD_QUERY);
	assert_null(given);
	assert_int_equal(tfp_given_peaks_read(&given, "/", &err), TFP_BAD_QUERY);
	assert_null(given);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_device_of_the_file),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_another_text_another_stamp),
		cmocka_unit_test(test_what_is_no_such_file),
		cmocka_unit_test(test_a_file_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
