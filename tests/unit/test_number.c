/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void test_whole_texts(void **state)
{
	static const struct {
		const char *text;
		uint64_t max, value;
	} good[] = {
		{"0", 0, 0},
		{"7", 7, 7},
		{"0008", 8, 8},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX},
		{"000000000000000000000000000001", 1, 1},
	};
	static const struct {
		const char *text;
		uint64_t max;
	} bad[] = {
		{"", UINT64_MAX},
		{"1", 0},
		{"8", 7},
		{"-1", UINT64_MAX},
		{"+1", UINT64_MAX},
		{" 1", UINT64_MAX},
		{"1 ", UINT64_MAX},
		{"1K", UINT64_MAX},
		{"0x10", UINT64_MAX},
		{"1.0", UINT64_MAX},
		{"18446744073709551616", UINT64_MAX},
		{"18446744073709551620", UINT64_MAX},
		{"99999999999999999999", UINT64_MAX},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		uint64_t n = 99;
		assert_true(tfp_number(good[i].text, good[i].max, &n));
		assert_true(n == good[i].value);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		uint64_t n = 99;
		assert_false(tfp_number(bad[i].text, bad[i].max, &n));
		assert_true(n == 99);
	}
}

static void test_beginnings(void **state)
{
	const char text[] = "12.345,x", *at = text;
	uint64_t n = 0;
	(void)state;
	assert_true(tfp_number_begin(&at, &n));
	assert_true(n == 12 && at == text + 2);
	assert_false(tfp_number_begin(&at, &n));
	assert_true(n == 12 && at == text + 2);
	at++;
	assert_true(tfp_number_begin(&at, &n));
	assert_true(n == 345 && *at == ',');
	at = "99999999999999999999K";
	assert_false(tfp_number_begin(&at, &n));
	assert_true(n == 345 && *at == '9');
}

static void assert_number(double value, const char *expected)
{
	char text[TFP_DOUBLE_MAX + 1];
	text[tfp_put_double(text, value)] = '\0';
	assert_string_equal(text, expected);
}

/* As the peers' JSON library writes doubles: the shortest digits that read back
 * the same, plain from 1e-4 to below 1e15. */
static void test_doubles(void **state)
{
	(void)state;
	assert_number(0, "0.0");
	assert_number(-0.0, "0.0");
	assert_number(3, "3.0");
	assert_number(-3, "-3.0");
	assert_number(0.1, "0.1");
	assert_number(1.0 / 3, "0.3333333333333333");
	assert_number(2.0 / 3, "0.6666666666666666");
	assert_number(0.1 + 0.2, "0.30000000000000004");
	assert_number(100, "100.0");
	assert_number(0.0001, "0.0001");
	assert_number(0.00012345, "0.00012345");
	assert_number(0.00001, "1e-05");
	assert_number(0.000012345, "1.2345e-05");
	assert_number(123456789012345.0, "123456789012345.0");
	assert_number(999999999999999.0, "999999999999999.0");
	assert_number(123456789012.345, "123456789012.345");
	assert_number(12345678901234.568, "12345678901234.568");
	assert_number(999999999999999.9, "999999999999999.9");
	assert_number(1e15, "1e+15");
	assert_number(-1e15, "-1e+15");
	assert_number(1234567890123456.0, "1.234567890123456e+15");
	assert_number(12345678901234568.0, "1.2345678901234568e+16");
	assert_number(9007199254740993.0, "9.007199254740992e+15");
	assert_number(1e22, "1e+22");
	assert_number(1e100, "1e+100");
	assert_number(1.7976931348623157e308, "1.7976931348623157e+308");
	assert_number(2.2250738585072014e-308, "2.2250738585072014e-308");
	assert_number((double)33.3f, "33.29999923706055");
}

static void test_doubles_read_back_the_same(void **state)
{
	uint64_t random = 1;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[TFP_DOUBLE_MAX + 1];
		double value;
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		memcpy(&value, &random, sizeof(value));
		if (!isfinite(value))
			continue;
		text[tfp_put_double(text, value)] = '\0';
		assert_true(strtod(text, NULL) == value);
		assert_non_null(strpbrk(text, ".e"));
	}
}

static void test_integers(void **state)
{
	static const int64_t edges[] = {0,   9,    10,      99,        100,       101,          -1,
					-10, -999, 1000000, INT64_MAX, INT64_MIN, INT64_MIN + 1};
	(void)state;
	for (size_t i = 0; i < COUNT(edges); i++) {
		char text[TFP_DIGITS_MAX + 1], expected[32];
		text[tfp_put_integer(text, edges[i])] = '\0';
		snprintf(expected, sizeof(expected), "%" PRId64, edges[i]);
		assert_string_equal(text, expected);
		text[tfp_put_count(text, (uint64_t)edges[i])] = '\0';
		snprintf(expected, sizeof(expected), "%" PRIu64, (uint64_t)edges[i]);
		assert_string_equal(text, expected);
	}
}

static void test_hex_digits(void **state)
{
	static const char digits[] = "0123456789abcdef", capital[] = "0123456789ABCDEF";
	unsigned found = 0;
	(void)state;
	for (int i = 0; i < 16; i++) {
		assert_int_equal(tfp_hex_digit(digits[i]), i);
		assert_int_equal(tfp_hex_digit(capital[i]), i);
	}
	for (int c = -128; c < 128; c++)
		found += tfp_hex_digit((char)c) >= 0;
	assert_int_equal(found, 22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_doubles_read_back_the_same),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_whole_texts),
		cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_hex_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
