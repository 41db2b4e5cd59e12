/* SPDX-License-Identifier: Apache-2.0 */
/* The shift of one sequence of steps against another, as it is defined. */
#include "testing.h"

#include "analysis/steps/step_align.h"

/* The definition, pair by pair, for comparison. */
static int64_t shift_by_definition(const struct tfp_time_span *a, size_t n,
				   const struct tfp_time_span *b, size_t m)
{
	int64_t best = 0;
	double most = -1;
	for (size_t test = 0; test < n + m; test++) {
		int64_t k = test < n ? (int64_t)test : -(int64_t)(test - n + 1);
		double sum = 0;
		if (test >= n && (size_t)-k >= m)
			break;
		for (size_t j = 0; j < m; j++) {
			int64_t i = (int64_t)j + k;
			if (i < 0 || i >= (int64_t)n)
				continue;
			int64_t begin =
				a[i].begin_ps > b[j].begin_ps ? a[i].begin_ps : b[j].begin_ps;
			int64_t end = a[i].end_ps < b[j].end_ps ? a[i].end_ps : b[j].end_ps;
			if (end > begin)
				sum += (double)(end - begin);
		}
		if (sum > most) {
			most = sum;
			best = k;
		}
	}
	return best;
}

static void test_shift_is_the_defined_one(void **state)
{
	uint64_t seed = 7;
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tfp_time_span spans[2][24];
		size_t count[2];
		int64_t shift;
		for (int s = 0; s < 2; s++) {
			int64_t at = (int64_t)((seed = seed * 6364136223846793005u + 1) >> 60);
			count[s] = (seed >> 33) % COUNT(spans[s]);
			for (size_t i = 0; i < count[s]; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				/* Some begin before those ahead of them, some have no length. */
				at += (int64_t)(seed >> 61) - 1;
				spans[s][i].begin_ps = at;
				spans[s][i].end_ps = at + (int64_t)((seed >> 40) % 6);
			}
		}
		assert_true(tfp_step_shift(spans[0], count[0], spans[1], count[1], &shift));
		assert_int_equal(shift,
				 shift_by_definition(spans[0], count[0], spans[1], count[1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift_is_the_defined_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
