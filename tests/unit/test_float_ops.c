/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "tfprof/float_ops.h"

#include <stdio.h>

/* A node x with inputs a and b, of which the shapes are given as the text of a shape. */
static bool flops_of(const char *op, const char *a, const char *b, const char *out,
		     const char *attributes, int64_t *flops)
{
	static const char form[] =
		"node { name: 'a' attr { key: '_output_shapes' value { list { shape { "
		"%s } } } } } node { name: 'b' attr { key: '_output_shapes' value "
		"{ list { shape { %s } } } } } node { name: 'x' op: '%s' input: "
		"'a' input: 'b' attr { key: '_output_shapes' value { list { shape "
		"{ %s } } } } %s }";
	char text[2000];
	struct tfp_profile p;
	tfp_profile_init(&p);
	snprintf(text, sizeof(text), form, a, b, op, out, attributes);
	add_graph(&p, text);
	finish(&p);
	bool known = tfp_float_ops(p.nodes[2], flops);
	tfp_profile_release(&p);
	return known;
}

#define D2(a, b)       "dim { size: " #a " } dim { size: " #b " }"
#define D3(a, b, c)    D2(a, b) " dim { size: " #c " }"
#define D4(a, b, c, d) D3(a, b, c) " dim { size: " #d " }"
#define KSIZE          "attr { key: 'ksize' value { list { i: [1, 2, 3, 1] } } } "
#define STRIDES        "attr { key: 'strides' value { list { i: [1, 2, 2, 1] } } } "
#define TRANSPOSED     "attr { key: 'transpose_a' value { b: true } } "
#define LAYOUT(word)   "attr { key: 'data_format' value { s: '" word "' } } "

/* Worked out by hand from the registered formulas. */
static void test_formulas(void **state)
{
	static const struct {
		const char *op, *a, *b, *out, *attributes;
		int64_t flops; /* -1: not known */
	} cases[] = {
		{"Neg", D2(3, 4), "", D2(3, 4), "", 12},
		{"Rsqrt", D2(3, 4), "", D2(3, 4), "", 24},
		{"L2Loss", D2(3, 4), "", "", "", 35},
		{"Softmax", D2(3, 4), "", D2(3, 4), "", 60},
		{"AddV2", D2(3, 1), D2(1, 4), D2(3, 4), "", 12},
		{"SquaredDifference", D2(3, 4), D2(3, 4), D2(3, 4), "", 24},
		{"RsqrtGrad", D2(3, 4), D2(3, 4), D2(3, 4), "", 48},
		{"Mean", D2(3, 4), "", "", "", 12},
		{"Sum", D2(3, 4), "", D2(3, 1), "", 9},
		{"BiasAddGrad", D2(3, 4), "", D2(1, 4), "", 8},
		{"BiasAdd", D2(3, 4), D2(1, 4), D2(3, 4), "", 12},
		{"AddN", D2(3, 4), D2(3, 4), D2(3, 4), "", 12},
		{"MatMul", D2(2, 5), D2(5, 3), D2(2, 3), "", 60},
		{"MatMul", D2(5, 2), D2(5, 3), D2(2, 3), TRANSPOSED, 60},
		{"BatchMatMulV2", D3(7, 2, 5), D3(7, 5, 3), D3(7, 2, 3), "", 420},
		{"Conv2D", D4(1, 8, 8, 3), D4(5, 5, 3, 4), D4(1, 4, 4, 4), STRIDES, 9600},
		{"Conv2D", D4(1, 8, 8, 3), D4(5, 5, 3, 4), D4(1, 4, 4, 4), LAYOUT("NCHW"), -1},
		{"DepthwiseConv2dNative", D4(1, 8, 8, 3), D4(5, 5, 3, 2), D4(1, 4, 4, 6),
		 LAYOUT("NHWC"), 4800},
		{"Dilation2D", D4(1, 8, 8, 3), D3(5, 5, 3), D4(1, 4, 4, 3), "", 2400},
		{"MaxPool", D4(1, 8, 8, 3), "", D4(1, 4, 4, 3), KSIZE, 288},
		{"AvgPool", D4(1, 8, 8, 3), "", D4(1, 4, 4, 3), "", -1},
		{"AvgPoolGrad", D2(1, 4), D4(1, 4, 4, 3), D4(1, 8, 8, 3), KSIZE, 576},
		{"MaxPoolGrad", D4(1, 8, 8, 3), D4(1, 4, 4, 3), D4(1, 8, 8, 3), KSIZE, 336},
		/* 2 * 192 * 300 / (3 * 2 * 2) */
		{"Conv2DBackpropInput", D2(1, 4), D4(5, 5, 3, 4), D4(1, 8, 8, 3), STRIDES, 9600},
		{"Conv2DBackpropFilter", D4(1, 8, 8, 3), D2(1, 4), D4(5, 5, 3, 4), STRIDES, 9600},
		{"Neg", "unknown_rank: true", "", "", "", -1},
		{"Neg", D2(-1, 4), "", "", "", -1},
		{"Reshape", D2(3, 4), "", D2(4, 3), "", -1},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t flops = 0;
		bool known = flops_of(cases[i].op, cases[i].a, cases[i].b, cases[i].out,
				      cases[i].attributes, &flops);
		if (known != (cases[i].flops >= 0) || (known && flops != cases[i].flops))
			fail_msg("%s: %d, %lld", cases[i].op, known, (long long)flops);
	}
}

static void test_recorded_stay(void **state)
{
	struct tfp_profile p;
	size_t unknown;
	(void)state;
	tfp_profile_init(&p);
	add_graph(&p, "node { name: 'a' op: 'Neg' } node { name: 'b' op: 'Neg' }");
	p.nodes[0]->float_ops = 7;
	finish(&p);
	tfp_count_float_ops(&p, &unknown);
	assert_int_equal(p.nodes[0]->float_ops, 7);
	assert_int_equal(p.nodes[1]->float_ops, 0);
	assert_int_equal(unknown, 1);
	tfp_profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas),
		cmocka_unit_test(test_recorded_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
