/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "tfprof/rank.h"

/* What GCC 12's std::sort makes of 0, 1, 2, ... with the comparisons below. */
static const uint32_t order_of_17[] = {
	2, 12, 7, 14, 4, 9, 1, 16, 11, 6, 8, 13, 3, 10, 5, 15, 0,
};
static const uint32_t order_of_40[] = {
	17, 2,  37, 22, 7,  32, 27, 12, 9,  24, 14, 29, 19, 34, 4, 39, 21, 1,  26, 31,
	36, 16, 11, 6,  18, 23, 38, 13, 28, 3,  8,  33, 0,  20, 5, 35, 10, 30, 15, 25,
};
static const uint32_t order_of_100[] = {
	42, 27, 72, 77, 22, 32, 47, 67, 82, 17, 52, 87, 12, 37, 62, 92, 7,  57, 97, 2,
	64, 44, 34, 39, 59, 69, 29, 79, 74, 54, 24, 19, 84, 14, 89, 49, 9,  94, 4,  99,
	56, 51, 1,  61, 66, 71, 76, 81, 86, 91, 96, 21, 31, 6,  36, 26, 41, 11, 46, 16,
	88, 18, 68, 78, 23, 83, 73, 28, 8,  13, 93, 33, 63, 38, 3,  58, 43, 98, 53, 48,
	0,  95, 10, 90, 5,  50, 15, 85, 20, 80, 25, 75, 30, 70, 35, 65, 40, 60, 45, 55,
};
static const uint32_t order_of_200[] = {
	0,   2,   100, 101, 102, 6,   4,   103, 104, 10,  8,   105, 106, 14,  12,  107, 108,
	18,  16,  109, 110, 22,  20,  111, 112, 26,  24,  113, 114, 30,  28,  116, 115, 34,
	32,  117, 38,  36,  118, 120, 119, 42,  40,  121, 46,  122, 44,  48,  50,  124, 123,
	126, 52,  125, 54,  128, 127, 56,  58,  129, 62,  130, 60,  64,  66,  132, 131, 133,
	68,  70,  134, 135, 72,  136, 74,  78,  138, 76,  137, 82,  140, 80,  139, 86,  142,
	84,  141, 90,  144, 88,  143, 94,  146, 92,  145, 98,  148, 96,  147, 149, 150, 1,
	3,   7,   5,   151, 152, 11,  9,   153, 154, 15,  13,  156, 155, 19,  17,  157, 158,
	159, 160, 21,  23,  161, 162, 25,  27,  29,  31,  163, 164, 165, 166, 35,  33,  167,
	168, 39,  37,  169, 170, 41,  43,  47,  172, 171, 45,  174, 51,  49,  173, 55,  176,
	175, 53,  57,  178, 177, 59,  63,  61,  179, 180, 67,  65,  181, 182, 183, 184, 69,
	71,  73,  75,  185, 186, 77,  79,  187, 188, 81,  83,  189, 190, 191, 192, 85,  87,
	89,  91,  193, 194, 195, 196, 93,  95,  198, 97,  197, 99,  199,
};

static bool by_remainder(const void *context, uint32_t a, uint32_t b)
{
	(void)context;
	return a * 7 % 5 > b * 7 % 5;
}

/* Keys for which the median of three is always next to the end, so that the heap has its turn. */
static bool by_bad_key(const void *context, uint32_t a, uint32_t b)
{
	const uint32_t *keys = context;
	return keys[a] / 4 < keys[b] / 4;
}

static void check(size_t count, const uint32_t *expected,
		  bool (*before)(const void *context, uint32_t a, uint32_t b), const void *context)
{
	uint32_t *order = tfp_rank_indexes(count, before, context);
	assert_non_null(order);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(order[i], expected[i]);
	tfp_free(order);
}

static void test_ties(void **state)
{
	(void)state;
	check(COUNT(order_of_17), order_of_17, by_remainder, NULL);
	check(COUNT(order_of_40), order_of_40, by_remainder, NULL);
	check(COUNT(order_of_100), order_of_100, by_remainder, NULL);
}

static void test_heap(void **state)
{
	uint32_t keys[200] = {0};
	(void)state;
	for (uint32_t i = 1; i <= 100; i++) {
		if (i % 2) {
			keys[i - 1] = i;
			keys[i] = 100 + i;
		}
		keys[100 + i - 1] = 2 * i;
	}
	check(COUNT(order_of_200), order_of_200, by_bad_key, keys);
}

static void test_few(void **state)
{
	static const uint32_t in_order[] = {0, 1, 2, 3, 4};
	static const uint32_t sorted[] = {2, 4, 1, 3, 0};
	(void)state;
	check(0, in_order, by_remainder, NULL);
	check(1, in_order, by_remainder, NULL);
	check(5, sorted, by_remainder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_heap),
		cmocka_unit_test(test_few),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
