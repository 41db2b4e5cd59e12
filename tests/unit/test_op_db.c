/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include "base/alloc.h"

static struct tfp_op *add(struct tfp_op_db *db, uint64_t module_id, const char *name,
			  const char *category, uint64_t occurrences, uint64_t time_ps)
{
	struct tfp_op *op = tfp_op_db_enter(db, module_id, str_of(name));
	op->category = tfp_op_db_text(db, str_of(category));
	op->occurrences = occurrences;
	op->time_ps = op->self_time_ps = time_ps;
	op->has_cost = true;
	return op;
}

static void test_identity_is_module_and_name(void **state)
{
	struct tfp_op_db db;
	char long_name[600];
	(void)state;
	memset(long_name, 'n', sizeof(long_name));
	tfp_op_db_init(&db);
	tfp_op_db_enter(&db, 1, str_of("a"))->time_ps = 1;
	tfp_op_db_enter(&db, 2, str_of("a"))->time_ps = 2;
	tfp_op_db_enter(&db, 1, str_of(""))->time_ps = 3;
	tfp_op_db_enter(&db, 1, (struct tfp_str){long_name, 599})->time_ps = 4;
	tfp_op_db_enter(&db, 1, (struct tfp_str){long_name, 600})->time_ps = 5;
	assert_int_equal(db.count, 5);
	assert_int_equal(tfp_op_db_enter(&db, 1, str_of("a"))->time_ps, 1);
	assert_int_equal(tfp_op_db_enter(&db, 2, str_of("a"))->time_ps, 2);
	assert_int_equal(tfp_op_db_enter(&db, 1, (struct tfp_str){long_name, 600})->time_ps, 5);
	assert_int_equal(db.count, 5);
	for (unsigned i = 0; i < 1000; i++)
		tfp_op_db_enter(&db, 100 + i, str_of("a"))->time_ps = i;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(tfp_op_db_enter(&db, 100 + i, str_of("a"))->time_ps, i);
	tfp_op_db_release(&db);
	tfp_op_db_release(&db);
}

static void test_idle(void **state)
{
	struct tfp_op_db db;
	(void)state;
	tfp_op_db_init(&db);
	assert_true(tfp_op_db_add_idle(&db, 5));
	assert_true(tfp_op_db_add_idle(&db, 7));
	ASSERT_OPS(&db, {0, "IDLE", "IDLE", 0, 12, 12});
	assert_true(tfp_op_is_idle(&db.ops[0]));
	tfp_op_db_release(&db);
}

static void test_merge_sums_and_fills_texts(void **state)
{
	struct tfp_op_db a, b;
	(void)state;
	tfp_op_db_init(&a);
	tfp_op_db_init(&b);
	struct tfp_op *op = add(&a, 0, "x", "", 2, 10);
	op->flops = 3;
	op = add(&b, 0, "x", "MatMul", 5, 100);
	op->flops = 4;
	op->bytes_accessed = 8;
	op->is_eager = true;
	op->provenance = tfp_op_db_text(&b, str_of("p/x:MatMul"));
	add(&b, 0, "y", "AddV2", 1, 1)->has_cost = false;
	a.total_time_ps = 20;
	a.total_op_time_ps = 10;
	b.total_time_ps = 200;
	b.total_op_time_ps = 101;
	assert_true(tfp_op_db_merge(&a, &b));
	tfp_op_db_release(&b);
	ASSERT_OPS(&a, {0, "x", "MatMul", 7, 110, 110}, {0, "y", "AddV2", 1, 1, 1});
	assert_int_equal(a.total_time_ps, 220);
	assert_int_equal(a.total_op_time_ps, 111);
	const struct tfp_op *x = find_op(&a, 0, "x");
	assert_true(x->is_eager && x->has_cost);
	assert_double(x->flops, 7);
	assert_double(x->bytes_accessed, 8);
	assert_str(x->provenance, "p/x:MatMul");
	assert_false(find_op(&a, 0, "y")->has_cost);
	tfp_op_db_release(&a);
}

static void test_a_sum_with_an_unknown_part_is_unknown(void **state)
{
	(void)state;
	for (int known = 0; known < 4; known++) {
		struct tfp_op_db all, part;
		tfp_op_db_init(&all);
		for (int i = 0; i < 2; i++) {
			tfp_op_db_init(&part);
			add(&part, 0, "x", "T", 1, 1)->has_cost = known >> i & 1;
			assert_true(tfp_op_db_merge(&all, &part));
			tfp_op_db_release(&part);
		}
		assert_int_equal(find_op(&all, 0, "x")->has_cost, known == 3);
		tfp_op_db_release(&all);
	}
}

static void test_sorted_by_self_time_then_name(void **state)
{
	static const char *const expected[] = {"long", "a", "ab", "b", "b", "short"};
	struct tfp_op_db db;
	(void)state;
	tfp_op_db_init(&db);
	add(&db, 0, "short", "T", 1, 1);
	add(&db, 9, "b", "T", 1, 5);
	add(&db, 0, "ab", "T", 1, 5);
	add(&db, 3, "b", "T", 1, 5);
	add(&db, 0, "a", "T", 1, 5);
	add(&db, 0, "long", "T", 1, 50);
	uint32_t *order = tfp_op_db_sorted(&db);
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_str(db.ops[order[i]].name, expected[i]);
	assert_int_equal(db.ops[order[3]].module_id, 3);
	tfp_free(order);
	tfp_op_db_release(&db);
	tfp_op_db_init(&db);
	order = tfp_op_db_sorted(&db);
	assert_non_null(order);
	tfp_free(order);
}

static void test_by_framework_op(void **state)
{
	struct tfp_op_db device, by_op;
	(void)state;
	tfp_op_db_init(&device);
	tfp_op_db_init(&by_op);
	struct tfp_op *op = add(&device, 0, "d/MatMul/k1", "MatMul", 3, 30);
	op->provenance = str_of("d/MatMul:MatMul");
	op->flops = 5;
	op = add(&device, 0, "d/MatMul/k2", "MatMul", 4, 8);
	op->provenance = str_of("d/MatMul:MatMul");
	op->flops = 6;
	op = add(&device, 12, "fusion.1", "loop fusion", 2, 2);
	op->provenance = str_of("jit(f)/add:");
	op->has_cost = false;
	add(&device, 12, "copy.1", "data formatting", 1, 1);
	add(&device, 13, "copy.1", "data formatting", 6, 1);
	device.total_time_ps = 100;
	device.total_op_time_ps = 42;
	assert_true(tfp_op_db_add_idle(&device, 58));
	assert_true(tfp_op_db_by_framework_op(&device, &by_op));
	ASSERT_OPS(&by_op, {0, "d/MatMul", "MatMul", 4, 38, 38}, {0, "jit(f)/add", "add", 2, 2, 2},
		   {0, "copy.1", "Unknown", 6, 2, 2}, {0, "IDLE", "IDLE", 0, 58, 58});
	assert_double(find_op(&by_op, 0, "d/MatMul")->flops, 11);
	assert_true(find_op(&by_op, 0, "d/MatMul")->has_cost);
	assert_false(find_op(&by_op, 0, "jit(f)/add")->has_cost);
	assert_int_equal(by_op.total_time_ps, 100);
	assert_int_equal(by_op.total_op_time_ps, 42);
	tfp_op_db_release(&by_op);
	tfp_op_db_release(&device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity_is_module_and_name),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_merge_sums_and_fills_texts),
		cmocka_unit_test(test_a_sum_with_an_unknown_part_is_unknown),
		cmocka_unit_test(test_sorted_by_self_time_then_name),
		cmocka_unit_test(test_by_framework_op),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
