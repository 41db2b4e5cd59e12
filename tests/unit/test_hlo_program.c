/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from HLO protos: links by index, shapes, and bytes that mean harm. */
#include "analysis/hlo/hlo_cost.h"
#include "base/alloc.h"
#include "testing.h"
#include "wire/pb_writer.h"

#include <string.h>

/* Fields of hlo.proto and xla_data.proto that these modules have. */
enum { MODULE = 1, COMPUTATIONS = 3, ENTRY = 6, INSTRUCTIONS = 2, ID = 5, ROOT = 6 };
enum { NAME = 1, OPCODE = 2, SHAPE = 3, NUMBER = 9, OP_ID = 35, OPERANDS = 36, CALLED = 38 };
enum { TYPE = 2, DIMENSIONS = 3, PARTS = 4, LAYOUT = 5, ORDER = 1 };

struct op {
	const char *name, *opcode;
	int64_t id, operands[3], called; /* 0: none */
};

static void put_array(struct tfp_buf *b, uint32_t field, int64_t rows, int64_t columns)
{
	size_t shape = tfp_pb_begin(b, field);
	tfp_pb_put_uint(b, TYPE, TFP_HLO_TYPE_F32);
	tfp_pb_put_int(b, DIMENSIONS, rows);
	tfp_pb_put_int(b, DIMENSIONS, columns);
	size_t layout = tfp_pb_begin(b, LAYOUT);
	tfp_pb_put_int(b, ORDER, 1);
	tfp_pb_put_int(b, ORDER, 0);
	tfp_pb_end(b, layout);
	tfp_pb_end(b, shape);
}

static void put_computation(struct tfp_buf *b, int64_t id, int64_t root, const struct op *ops,
			    size_t count)
{
	size_t computation = tfp_pb_begin(b, COMPUTATIONS);
	tfp_pb_put_text(b, NAME, "computation");
	tfp_pb_put_int(b, ID, id);
	tfp_pb_put_int(b, ROOT, root);
	for (size_t i = 0; i < count; i++) {
		size_t op = tfp_pb_begin(b, INSTRUCTIONS);
		tfp_pb_put_text(b, NAME, ops[i].name);
		tfp_pb_put_text(b, OPCODE, ops[i].opcode);
		put_array(b, SHAPE, 4, 8);
		tfp_pb_put_int(b, OP_ID, ops[i].id);
		for (size_t k = 0; k < COUNT(ops[i].operands) && ops[i].operands[k]; k++)
			tfp_pb_put_int(b, OPERANDS, ops[i].operands[k]);
		if (ops[i].called)
			tfp_pb_put_int(b, CALLED, ops[i].called);
		tfp_pb_end(b, op);
	}
	tfp_pb_end(b, computation);
}

static enum tfp_status load(struct tfp_hlo_program *p, struct tfp_buf *b, struct tfp_error *err)
{
	assert_false(tfp_buf_failed(b));
	return tfp_hlo_program_init(p, (struct tfp_str){b->data, b->size}, err);
}

static enum tfp_status load_ops(struct tfp_hlo_program *p, struct tfp_buf *b, const struct op *ops,
				size_t count, struct tfp_error *err)
{
	tfp_buf_init(b, 1 << 20);
	size_t module = tfp_pb_begin(b, MODULE);
	tfp_pb_put_text(b, NAME, "jit_f");
	tfp_pb_put_int(b, ENTRY, 1);
	put_computation(b, 1, ops[count - 1].id, ops, count);
	tfp_pb_end(b, module);
	return load(p, b, err);
}

static void test_links(void **state)
{
	static const struct op ops[] = {
		{.name = "a", .opcode = "parameter", .id = 70},
		{.name = "unused", .opcode = "exponential", .id = 71, .operands = {70}},
		{.name = "b", .opcode = "negate", .id = 5, .operands = {70}},
		{.name = "c", .opcode = "add", .id = INT64_C(1) << 40, .operands = {5, 70}},
		{.name = "d", .opcode = "multiply", .id = 9, .operands = {INT64_C(1) << 40, 5}},
		{.name = "e", .opcode = "something-new", .id = 10, .operands = {9, 9, 70}},
	};
	struct tfp_hlo_program p;
	struct tfp_error err;
	struct tfp_buf b;
	uint32_t order[COUNT(ops)];
	static const uint32_t expected[] = {0, 1, 2, 3, 4, 5};
	(void)state;
	assert_int_equal(load_ops(&p, &b, ops, COUNT(ops), &err), TFP_OK);
	assert_str(p.name, "jit_f");
	assert_int_equal(p.instruction_count, COUNT(ops));
	assert_int_equal(p.computation_count, 1);
	assert_int_equal(p.entry, 0);
	assert_int_equal(p.computations[0].root, 5);
	assert_int_equal(tfp_hlo_operand(&p, 4, 0), 3);
	assert_int_equal(tfp_hlo_operand(&p, 4, 1), 2);
	assert_int_equal(p.instructions[5].opcode, TFP_HLO_OTHER);
	assert_str(p.instructions[5].opcode_name, "something-new");
	/* A user that takes a value twice is one user. */
	assert_int_equal(p.instructions[4].user_count, 1);
	assert_int_equal(p.instructions[0].user_count, 4);
	assert_int_equal(p.users[p.instructions[2].first_user], 3);
	assert_int_equal(p.users[p.instructions[2].first_user + 1], 4);
	/* One shape for all. */
	assert_int_equal(p.shapes.count, 2);
	assert_int_equal(tfp_hlo_shape_of(&p, 3)->elements, 32);
	assert_int_equal(tfp_hlo_shape_of(&p, 3)->bytes, 128);
	assert_int_equal(tfp_hlo_visit_order(&p, 0, order, &err), TFP_OK);
	assert_memory_equal(order, expected, sizeof(expected));
	tfp_hlo_program_release(&p);
	tfp_buf_release(&b);
}

/* A module that XLA would not read, with a word of the message. */
static void refuse(const struct op *ops, size_t count, const char *word)
{
	struct tfp_hlo_program p;
	struct tfp_error err;
	struct tfp_buf b;
	assert_int_equal(load_ops(&p, &b, ops, count, &err), TFP_BAD_INPUT);
	assert_non_null(strstr(err.message, word));
	tfp_hlo_program_release(&p);
	tfp_buf_release(&b);
}

static void test_circles(void **state)
{
	static const struct op itself[] = {
		{.name = "me", .opcode = "add", .id = 7, .operands = {7}}};
	static const struct op two[] = {
		{.name = "x", .opcode = "add", .id = 7, .operands = {8}},
		{.name = "y", .opcode = "add", .id = 8, .operands = {7}},
	};
	static const struct op nobody[] = {
		{.name = "x", .opcode = "add", .id = 7, .operands = {99}}};
	static const struct op calls_itself[] = {
		{.name = "x", .opcode = "call", .id = 7, .called = 1}};
	(void)state;
	refuse(itself, COUNT(itself), "before it (me)");
	refuse(two, COUNT(two), "before it (x)");
	refuse(nobody, COUNT(nobody), "before it (x)");
	refuse(calls_itself, COUNT(calls_itself), "calls a computation");
}

static enum tfp_status load_shape(const struct tfp_buf *shape, struct tfp_error *err)
{
	struct tfp_hlo_program p;
	struct tfp_buf b;
	tfp_buf_init(&b, 1 << 20);
	size_t module = tfp_pb_begin(&b, MODULE), computation = tfp_pb_begin(&b, COMPUTATIONS);
	size_t op = tfp_pb_begin(&b, INSTRUCTIONS);
	tfp_pb_put_bytes(&b, SHAPE, shape->data, shape->size);
	tfp_pb_end(&b, op);
	tfp_pb_end(&b, computation);
	tfp_pb_end(&b, module);
	enum tfp_status status = load(&p, &b, err);
	tfp_hlo_program_release(&p);
	tfp_buf_release(&b);
	return status;
}

static void test_absurd_shapes(void **state)
{
	struct tfp_error err;
	struct tfp_buf shape;
	(void)state;
	tfp_buf_init(&shape, 1 << 20);
	tfp_pb_put_uint(&shape, TYPE, TFP_HLO_TYPE_F32);
	tfp_pb_put_int(&shape, DIMENSIONS, -1);
	assert_int_equal(load_shape(&shape, &err), TFP_BAD_INPUT);
	tfp_buf_clear(&shape);
	tfp_pb_put_uint(&shape, TYPE, TFP_HLO_TYPE_F32);
	for (int i = 0; i < 3; i++)
		tfp_pb_put_int(&shape, DIMENSIONS, INT64_C(1) << 30);
	assert_int_equal(load_shape(&shape, &err), TFP_BAD_INPUT);
	assert_non_null(strstr(err.message, "too large"));
	tfp_buf_clear(&shape);
	for (int i = 0; i < TFP_HLO_RANK_MAX; i++)
		tfp_pb_put_int(&shape, DIMENSIONS, 1);
	tfp_pb_put_uint(&shape, TYPE, 9999); /* a type of the future */
	assert_int_equal(load_shape(&shape, &err), TFP_OK);
	tfp_pb_put_int(&shape, DIMENSIONS, 1);
	assert_int_equal(load_shape(&shape, &err), TFP_BAD_INPUT);
	tfp_buf_release(&shape);
}

static void test_deep_tuples(void **state)
{
	struct tfp_error err;
	(void)state;
	for (size_t depth = 1; depth <= 40; depth += 39) {
		struct tfp_buf shape;
		size_t marks[40];
		tfp_buf_init(&shape, 1 << 20);
		for (size_t i = 0; i < depth; i++) {
			tfp_pb_put_uint(&shape, TYPE, TFP_HLO_TYPE_TUPLE);
			marks[i] = tfp_pb_begin(&shape, PARTS);
		}
		for (size_t i = depth; i-- > 0;)
			tfp_pb_end(&shape, marks[i]);
		assert_int_equal(load_shape(&shape, &err), depth == 1 ? TFP_OK : TFP_BAD_INPUT);
		tfp_buf_release(&shape);
	}
}

/* Every prefix of a module, and every bit of it turned: no crash, and costs or none. */
static void test_damage(void **state)
{
	static const struct op ops[] = {
		{.name = "a", .opcode = "parameter", .id = 1},
		{.name = "b", .opcode = "dot", .id = 2, .operands = {1, 1}},
		{.name = "c", .opcode = "reduce", .id = 3, .operands = {2, 1}},
		{.name = "d", .opcode = "dynamic-update-slice", .id = 4, .operands = {3, 2, 1}},
	};
	struct tfp_hlo_program p;
	struct tfp_error err;
	struct tfp_buf b;
	(void)state;
	assert_int_equal(load_ops(&p, &b, ops, COUNT(ops), &err), TFP_OK);
	struct tfp_hlo_cost *costs;
	/* A reduction without a function. */
	assert_int_equal(tfp_hlo_cost_analyse(&p, &costs, &err), TFP_BAD_INPUT);
	assert_null(costs);
	tfp_hlo_program_release(&p);
	for (size_t bit = 0; bit < b.size * 8; bit++) {
		b.data[bit / 8] ^= (char)(1 << bit % 8);
		if (load(&p, &b, &err) == TFP_OK &&
		    tfp_hlo_cost_analyse(&p, &costs, &err) == TFP_OK)
			tfp_free(costs);
		tfp_hlo_program_release(&p);
		b.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t size = b.size; size-- > 0;) {
		b.size = size;
		assert_int_not_equal(load(&p, &b, &err), TFP_NO_MEMORY);
		tfp_hlo_program_release(&p);
	}
	tfp_buf_release(&b);
}

static void test_no_memory(void **state)
{
	static const struct op ops[] = {
		{.name = "a", .opcode = "parameter", .id = 1},
		{.name = "b", .opcode = "add", .id = 2, .operands = {1, 1}},
	};
	enum tfp_status status = TFP_NO_MEMORY;
	struct tfp_hlo_program p;
	struct tfp_hlo_cost *costs;
	struct tfp_error err;
	struct tfp_buf b;
	(void)state;
	assert_int_equal(load_ops(&p, &b, ops, COUNT(ops), &err), TFP_OK);
	tfp_hlo_program_release(&p);
	for (uint64_t n = 1; status != TFP_OK && n < 1000; n++) {
		costs = NULL;
		tfp_alloc_fail_at(n);
		status = load(&p, &b, &err);
		if (status == TFP_OK)
			status = tfp_hlo_cost_analyse(&p, &costs, &err);
		tfp_alloc_fail_at(0);
		assert_true(status == TFP_OK || status == TFP_NO_MEMORY);
		tfp_free(costs);
		tfp_hlo_program_release(&p);
	}
	assert_int_equal(status, TFP_OK);
	tfp_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),         cmocka_unit_test(test_circles),
		cmocka_unit_test(test_absurd_shapes), cmocka_unit_test(test_deep_tuples),
		cmocka_unit_test(test_damage),        cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
