#include "testing.h"

#include "base/number.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_texts),
		cmocka_unit_test(test_beginnings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
