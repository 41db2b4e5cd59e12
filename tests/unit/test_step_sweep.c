/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of a step is spent on, computed by hand: also spans of no length. */
#include "testing.h"

#include "analysis/steps/step_sweep.h"

struct swept {
	uint64_t in_step[TFP_STEP_EVENT_COUNT], everywhere[TFP_STEP_EVENT_COUNT];
	bool seen[TFP_STEP_EVENT_COUNT];
};

static struct swept sweep(const struct tfp_step_span *spans, size_t count, int64_t begin,
			  int64_t end)
{
	struct tfp_step_span copy[16];
	struct swept s = {0};
	assert_true(count <= COUNT(copy));
	memcpy(copy, spans, count * sizeof(*spans));
	assert_true(tfp_step_sweep(copy, count, begin, end, s.in_step, s.everywhere, s.seen));
	return s;
}

#define SWEEP(begin, end, ...)                                                                     \
	sweep((const struct tfp_step_span[]){__VA_ARGS__},                                         \
	      COUNT(((const struct tfp_step_span[]){__VA_ARGS__})), begin, end)

static void test_sweep_priorities(void **state)
{
	(void)state;
	struct swept s = SWEEP(
		0, 100, {0, 100, 0, TFP_STEP_HOST_COMPUTE}, {10, 40, 0, TFP_STEP_HOST_PREPARE},
		{30, 60, 0, TFP_STEP_DEVICE_COMPUTE_32}, {50, 70, 0, TFP_STEP_DEVICE_COMPUTE_16});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 10 + 30);
	assert_int_equal(s.in_step[TFP_STEP_HOST_PREPARE], 20);
	assert_int_equal(s.in_step[TFP_STEP_DEVICE_COMPUTE_32], 20);
	assert_int_equal(s.in_step[TFP_STEP_DEVICE_COMPUTE_16], 20);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 0);
}

static void test_sweep_joins_spans_of_a_type(void **state)
{
	(void)state;
	/* Given out of order: overlapping, touching, one inside another, one far off. */
	struct swept s =
		SWEEP(0, 1000, {200, 300, 0, TFP_STEP_HOST_COMPUTE},
		      {0, 50, 0, TFP_STEP_HOST_COMPUTE}, {40, 80, 0, TFP_STEP_HOST_COMPUTE},
		      {80, 100, 0, TFP_STEP_HOST_COMPUTE}, {10, 20, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 200);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 100);
	assert_true(s.seen[TFP_STEP_UNKNOWN]);
}

static void test_sweep_cuts_at_the_step(void **state)
{
	(void)state;
	struct swept s = SWEEP(50, 150, {0, 100, 0, TFP_STEP_DEVICE_COMPUTE_32},
			       {140, 200, 0, TFP_STEP_DEVICE_COMPUTE_32});
	assert_int_equal(s.in_step[TFP_STEP_DEVICE_COMPUTE_32], 60);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 40);
	assert_int_equal(s.everywhere[TFP_STEP_DEVICE_COMPUTE_32], 160);
}

/* The peers' quirk: op_stats.md 3 has these numbers. */
static void test_sweep_span_without_length(void **state)
{
	(void)state;
	struct swept s =
		SWEEP(0, 200, {0, 100, 0, TFP_STEP_HOST_COMPUTE},
		      {20, 20, 0, TFP_STEP_HOST_WAIT_INPUT}, {150, 200, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 20);
	assert_int_equal(s.in_step[TFP_STEP_HOST_WAIT_INPUT], 180);
}

static void test_sweep_span_without_length_in_its_own_type(void **state)
{
	(void)state;
	/* Within a span of its type, and at its begin, it changes nothing ... */
	struct swept s =
		SWEEP(0, 100, {0, 50, 0, TFP_STEP_HOST_COMPUTE}, {20, 20, 0, TFP_STEP_HOST_COMPUTE},
		      {0, 0, 0, TFP_STEP_HOST_COMPUTE}, {80, 100, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 70);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 30);
	/* ... at its end it goes on until the type ends again. */
	s = SWEEP(0, 100, {0, 50, 0, TFP_STEP_HOST_COMPUTE}, {50, 50, 0, TFP_STEP_HOST_COMPUTE},
		  {80, 90, 0, TFP_STEP_HOST_COMPUTE}, {95, 100, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 95);
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 5);
}

/* At 54 one copy ends and another begins. Between the two is the computation's turn, for no
 * time: so a step has one. */
static void test_sweep_spans_that_touch(void **state)
{
	(void)state;
	struct swept s =
		SWEEP(50, 60, {53, 54, 0, TFP_STEP_HOST_TO_DEVICE},
		      {54, 55, 0, TFP_STEP_HOST_TO_DEVICE}, {53, 54, 0, TFP_STEP_HOST_COMPUTE});
	assert_int_equal(s.in_step[TFP_STEP_HOST_TO_DEVICE], 2);
	assert_int_equal(s.in_step[TFP_STEP_HOST_COMPUTE], 0);
	assert_true(s.seen[TFP_STEP_HOST_COMPUTE]);
}

static void test_sweep_nothing(void **state)
{
	struct swept s = {0};
	(void)state;
	assert_true(tfp_step_sweep(NULL, 0, 0, 10, s.in_step, s.everywhere, s.seen));
	assert_int_equal(s.in_step[TFP_STEP_UNKNOWN], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sweep_priorities),
		cmocka_unit_test(test_sweep_joins_spans_of_a_type),
		cmocka_unit_test(test_sweep_cuts_at_the_step),
		cmocka_unit_test(test_sweep_span_without_length),
		cmocka_unit_test(test_sweep_span_without_length_in_its_own_type),
		cmocka_unit_test(test_sweep_spans_that_touch),
		cmocka_unit_test(test_sweep_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
