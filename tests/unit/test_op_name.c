/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values by the rules of tf_op_utils.cc as noted in the reference, not
 * by our parser. */
#include "testing.h"

#include "analysis/events/op_name.h"

static void test_parse(void **state)
{
	static const struct {
		const char *fullname;
		enum tfp_op_category category;
		const char *name, *type;
	} cases[] = {
		/* 1: no colon */
		{"", TFP_OP_UNKNOWN, "", ""},
		{"train", TFP_OP_UNKNOWN, "train", ""},
		{"MEMCPYHtoD", TFP_OP_MEMCPY_H2D, "MEMCPYHtoD", "MemcpyHToD"},
		{"memcpyhtod 128 bytes", TFP_OP_MEMCPY_H2D, "memcpyhtod 128 bytes", "MemcpyHToD"},
		{"MEMCPYDtoH", TFP_OP_MEMCPY_D2H, "MEMCPYDtoH", "MemcpyDToH"},
		{"MemcpyDtoD", TFP_OP_MEMCPY_D2D, "MemcpyDtoD", "MemcpyDToD"},
		{"MemcpyHtoH", TFP_OP_MEMCPY_H2H, "MemcpyHtoH", "MemcpyHToH"},
		{"MemcpyH2D", TFP_OP_UNKNOWN, "MemcpyH2D", ""},
		{"MEMCPY", TFP_OP_UNKNOWN, "MEMCPY", ""},
		/* 2: tf.data */
		{"Iterator::Batch::Map::TFRecord", TFP_OP_TF_DATA, "Iterator::Batch::Map::TFRecord",
		 "Dataset"},
		{"Iterator:x", TFP_OP_TF_DATA, "Iterator:x", "Dataset"},
		{"IteratorGetNext:IteratorGetNext", TFP_OP_TENSORFLOW, "IteratorGetNext",
		 "IteratorGetNext"},
		/* 3: TensorFlow */
		{"dense/MatMul:MatMul", TFP_OP_TENSORFLOW, "dense/MatMul", "MatMul"},
		{"a.b-c>d/e_1:_Send", TFP_OP_TENSORFLOW, "a.b-c>d/e_1", "_Send"},
		{".hidden:Op", TFP_OP_TENSORFLOW, ".hidden", "Op"},
		{"0x:T", TFP_OP_TENSORFLOW, "0x", "T"},
		{"conv-0-TransposeNHWCToNCHW-LayoutOptimizer:Transpose", TFP_OP_TENSORFLOW,
		 "conv-0-TransposeNHWCToNCHW-LayoutOptimizer", "Transpose"},
		/* 4: JAX, the type given or made from the name */
		{"jit(f)/jit(main)/dot_general:dot_general", TFP_OP_JAX,
		 "jit(f)/jit(main)/dot_general", "dot_general"},
		{"jit(f)/add[a=1]:add[a=1]", TFP_OP_JAX, "jit(f)/add[a=1]", "add"},
		{"jit(f)/dot_general:", TFP_OP_JAX, "jit(f)/dot_general", "dot_general"},
		{"jit(f)/reduce_sum_12:", TFP_OP_JAX, "jit(f)/reduce_sum_12", "reduce_sum"},
		{"jit(f)/conv2:", TFP_OP_JAX, "jit(f)/conv2", "conv2"},
		{"mul:", TFP_OP_JAX, "mul", "mul"},
		{"/a/b[]:", TFP_OP_JAX, "/a/b[]", "b"},
		{"x:_private", TFP_OP_TENSORFLOW, "x", "_private"},
		{"(x):_private", TFP_OP_JAX, "(x)", "_private"},
		/* 5: nothing to make a JAX type of */
		{"XlaModule:", TFP_OP_TENSORFLOW, "XlaModule", "XlaModule"},
		{"jit(f)/Upper_3:", TFP_OP_TENSORFLOW, "jit(f)/Upper_3", "Upper"},
		{":", TFP_OP_TENSORFLOW, "", ""},
		{"a/b/:", TFP_OP_TENSORFLOW, "a/b/", ""},
		/* 6: neither */
		{"std::vector", TFP_OP_UNKNOWN, "std::vector", ""},
		{"a b:Op", TFP_OP_UNKNOWN, "a b:Op", ""},
		{"Thread #7: working", TFP_OP_UNKNOWN, "Thread #7: working", ""},
		{"a:Op:more", TFP_OP_UNKNOWN, "a:Op:more", ""},
		{"a:0", TFP_OP_UNKNOWN, "a:0", ""},
		{"x:add[", TFP_OP_UNKNOWN, "x:add[", ""},
		{"x:add[1\n2]", TFP_OP_UNKNOWN, "x:add[1\n2]", ""},
		{"x:add[1]2", TFP_OP_UNKNOWN, "x:add[1]2", ""},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_op_name op = tfp_op_name_parse(str_of(cases[i].fullname));
		if (op.category != cases[i].category)
			fail_msg("\"%s\" is of category %d", cases[i].fullname, op.category);
		assert_str(op.name, cases[i].name);
		assert_str(op.type, cases[i].type);
	}
}

static void test_any_bytes(void **state)
{
	static const char with_nul[] = "a\0b:Op";
	(void)state;
	struct tfp_op_name op = tfp_op_name_parse((struct tfp_str){with_nul, sizeof(with_nul) - 1});
	assert_int_equal(op.category, TFP_OP_UNKNOWN);
	assert_int_equal(op.name.size, 6);
	op = tfp_op_name_parse((struct tfp_str){NULL, 0});
	assert_int_equal(op.category, TFP_OP_UNKNOWN);
	op = tfp_op_name_parse(str_of("\xff\xfe:Op"));
	assert_int_equal(op.category, TFP_OP_UNKNOWN);
}

static void test_gradients(void **state)
{
	static const struct {
		const char *name, *type;
		bool gradient;
	} cases[] = {
		{"gradient_tape/model/dense/MatMul", "MatMul", true},
		{"model/gradient_tape/MatMul", "MatMul", true},
		{"gradients/dense/MatMul_grad", "MatMul", true},
		{"model/gradients_1/x", "AddV2", true},
		{"model/gradient/x", "AddV2", false},
		{"gradients", "AddV2", false}, /* an op's own name is no scope */
		{"gradient_tape", "AddV2", false},
		{"my_gradient_tape/x", "AddV2", false},
		{"gradient_tape/(x)", "AddV2", false}, /* no TensorFlow name */
		{"jit(f)/transpose(jvp(g))/dot_general", "dot_general", true},
		{"jit(f)/transpose(jvp(g))/dot_general", "", true},
		{"transpose(jvp(f))", "", true},
		{"jit(f)/transpose/x", "transpose", false},
		{"jit(f)/my_transpose(x)", "mul", false},
		{"jit(f)/transpose(jvp(g))/x", "MatMul", false}, /* no JAX type */
		{"", "", false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (tfp_op_is_gradient(str_of(cases[i].name), str_of(cases[i].type)) !=
		    cases[i].gradient)
			fail_msg("%s:%s", cases[i].name, cases[i].type);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_gradients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
