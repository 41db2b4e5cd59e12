/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/ops/op_steps.h"
#include "base/alloc.h"

static struct tfp_str str(const char *text)
{
	return (struct tfp_str){text, strlen(text)};
}

static const struct tfp_op_step *find(const struct tfp_op_steps *steps, uint32_t op, int32_t step)
{
	const struct tfp_op_step *found = NULL;
	for (size_t i = 0; i < steps->count; i++) {
		if (steps->cells[i].op != op || steps->cells[i].step != step)
			continue;
		assert_null(found); /* each once */
		found = &steps->cells[i];
	}
	return found;
}

static void test_sums(void **state)
{
	struct tfp_op_steps steps = {0};
	(void)state;
	for (uint32_t i = 0; i < 30000; i++)
		assert_true(tfp_op_steps_add(&steps, i % 50, (int32_t)(i % 600) - 1, 10, i % 7));
	assert_int_equal(steps.count, 600); /* 50 divides 600 */
	const struct tfp_op_step *outside = find(&steps, 0, TFP_NO_STEP);
	assert_non_null(outside);
	assert_int_equal(outside->occurrences, 50);
	assert_int_equal(outside->time_ps, 500);
	uint64_t self = 0;
	for (uint32_t i = 0; i < 30000; i += 600)
		self += i % 7;
	assert_int_equal(outside->self_time_ps, self);
	assert_null(find(&steps, 1, TFP_NO_STEP));
	/* Whatever is below 0 is no step. */
	assert_true(tfp_op_steps_add(&steps, 0, -5, 1, 1));
	assert_int_equal(find(&steps, 0, TFP_NO_STEP)->occurrences, 51);
	assert_true(tfp_op_steps_heap_bytes(&steps) >= steps.count * sizeof(*steps.cells));
	tfp_op_steps_release(&steps);
}

static void test_merge(void **state)
{
	struct tfp_op_steps to = {0}, from = {0};
	struct tfp_op_db to_db, from_db;
	(void)state;
	tfp_op_db_init(&to_db);
	tfp_op_db_init(&from_db);
	assert_non_null(tfp_op_db_enter(&to_db, 1, str("a")));
	assert_non_null(tfp_op_db_enter(&from_db, 1, str("b")));
	assert_non_null(tfp_op_db_enter(&from_db, 1, str("a")));
	assert_true(tfp_op_steps_add(&to, 0, 3, 10, 4));
	assert_true(tfp_op_steps_add(&from, 1, 3, 20, 5));
	assert_true(tfp_op_steps_add(&from, 0, 3, 30, 6));
	assert_true(tfp_op_db_merge(&to_db, &from_db));
	assert_true(tfp_op_steps_merge(&to, &to_db, &from, &from_db));
	assert_int_equal(to.count, 2);
	assert_int_equal(find(&to, 0, 3)->time_ps, 30);
	assert_int_equal(find(&to, 0, 3)->self_time_ps, 9);
	assert_int_equal(find(&to, 1, 3)->time_ps, 30);
	tfp_op_steps_release(&to);
	tfp_op_steps_release(&from);
	tfp_op_db_release(&to_db);
	tfp_op_db_release(&from_db);
}

static void test_without_memory(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 20; n++) {
		struct tfp_op_steps steps = {0};
		tfp_alloc_fail_at(n);
		bool ok = true;
		for (uint32_t i = 0; ok && i < 1000; i++)
			ok = tfp_op_steps_add(&steps, i, 0, 1, 1);
		tfp_alloc_fail_at(0);
		for (size_t i = 0; i < steps.count; i++)
			assert_int_equal(steps.cells[i].occurrences, 1);
		tfp_op_steps_release(&steps);
		if (ok)
			return;
	}
	fail();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
