/* SPDX-License-Identifier: Apache-2.0 */
/* What input ops do, by name and type. */
#include "testing.h"

#include "analysis/ops/input_ops.h"

static void test_input_categories(void **state)
{
	static const struct {
		const char *name, *type;
		enum tfp_input_category category;
	} ops[] = {
		{"Iterator::Model::TFRecord", "Dataset", TFP_INPUT_DEMANDED_READ},
		{"Iterator::Prefetch::TFRecord", "Dataset", TFP_INPUT_ADVANCED_READ},
		{"Iterator::ParallelInterleave::TextLine", "Dataset", TFP_INPUT_DEMANDED_READ},
		{"Iterator::Prefetch::Map", "Dataset", TFP_INPUT_PREPROCESSING},
		{"x", "InfeedEnqueueTuple", TFP_INPUT_ENQUEUE},
		{"x", "MemcpyHToD", TFP_INPUT_ENQUEUE},
		{"x", "Read", TFP_INPUT_DEMANDED_READ},
		{"x", "preprocessing", TFP_INPUT_PREPROCESSING},
		{"x", "Unknown", TFP_INPUT_UNKNOWN},
		{"IteratorGetNext", "IteratorGetNext", TFP_INPUT_NONE},
		{"IDLE", "IDLE", TFP_INPUT_NONE},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(ops); i++)
		assert_int_equal(tfp_input_category(str_of(ops[i].name), str_of(ops[i].type)),
				 ops[i].category);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_input_categories),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
