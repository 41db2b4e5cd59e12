/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values by kernel_stats_utils.cc as noted in the reference. */
#include "testing.h"

#include "analysis/ops/device_ops.h"
#include "support/sample_capture.h"

static struct tfp_kernel kernel_of(const char *details)
{
	struct tfp_gpu_event e = {
		.name = str_of("k"),
		.duration_ps = 5000,
		.op_fullname = str_of(""),
		.kernel_details = str_of(details),
		.equation = str_of(""),
	};
	struct tfp_kernel k;
	assert_true(tfp_kernel_of_event(&e, &k));
	return k;
}

struct launch {
	uint32_t registers, static_shared, dynamic_shared, block[3], grid[3];
	double occupancy;
};

static void assert_launch(const char *details, struct launch expected)
{
	struct tfp_kernel k = kernel_of(details);
	assert_int_equal(k.registers, expected.registers);
	assert_int_equal(k.static_shared_bytes, expected.static_shared);
	assert_int_equal(k.dynamic_shared_bytes, expected.dynamic_shared);
	assert_memory_equal(k.block, expected.block, sizeof(k.block));
	assert_memory_equal(k.grid, expected.grid, sizeof(k.grid));
	assert_double((double)k.occupancy_percent, (double)(float)expected.occupancy);
}

#define ONE                                                                                        \
	{                                                                                          \
		1, 1, 1                                                                            \
	}

static void test_launch_details(void **state)
{
	(void)state;
	assert_launch("regs:32 static_shared:16 dynamic_shared:1024 grid:8,4,2 block:128,2,1 "
		      "occ_pct:37.5",
		      (struct launch){32, 16, 1024, {128, 2, 1}, {8, 4, 2}, 37.5});
	/* Lines for blanks, as older writers have it. */
	assert_launch("regs:32\nstatic_shared:16\ndynamic_shared:0\ngrid:8,4,2\nblock:128,2,1\n",
		      (struct launch){32, 16, 0, {128, 2, 1}, {8, 4, 2}, 0});
	/* Before 2021 */
	assert_launch("regs:16 shm:48 grid:1,1,1 block:1024,1,1",
		      (struct launch){16, 48, 0, {1024, 1, 1}, ONE, 0});
	/* ROCm */
	assert_launch(" grid:64,1,1 block:256,1,1 private_mem:0 group_mem:512 occ_pct:100",
		      (struct launch){0, 0, 0, {256, 1, 1}, {64, 1, 1}, 100});
	assert_launch("occ_pct:33.3", (struct launch){0, 0, 0, ONE, ONE, 33.3});
}

static void test_odd_launch_details(void **state)
{
	(void)state;
	assert_launch("x", (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("regs:1:2 regs grid:1,2 block:1,2,3,4",
		      (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("grid:1,2, block:,2,3", (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("grid:a,2,3 block:-1,2,3", (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("regs:4294967295 static_shared:4294967296 dynamic_shared:-1",
		      (struct launch){UINT32_MAX, 0, 0, ONE, ONE, 0});
	assert_launch("occ_pct:nan", (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("occ_pct:inf regs:", (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("occ_pct:1x", (struct launch){0, 0, 0, ONE, ONE, 0});
	assert_launch("  regs:7  ", (struct launch){7, 0, 0, ONE, ONE, 0});
}

static void test_what_is_no_kernel(void **state)
{
	struct tfp_gpu_event e = {.duration_ps = 5000, .kernel_details = str_of("")};
	struct tfp_kernel k;
	(void)state;
	assert_false(tfp_kernel_of_event(&e, &k));
	e.kernel_details = str_of("regs:1");
	e.duration_ps = 999; /* less than a nanosecond */
	assert_false(tfp_kernel_of_event(&e, &k));
	e.duration_ps = 1999;
	assert_true(tfp_kernel_of_event(&e, &k));
	assert_int_equal(k.total_ns, 1);
	assert_int_equal(k.min_ns, 1);
	assert_int_equal(k.max_ns, 1);
}

static void test_kernels_on_tensor_cores(void **state)
{
	static const char *const yes[] = {
		"ampere_s16816gemm_fp16",
		"x_c1688_y",
		"conv1x1_k",
		"conv2d_c1_k1_nhwc",
		"dgrad_1x1_stride_2x2",
		"direct_group_x",
		"first_layer_wgrad_kernel_1",
		"turing_h1688gemm",
		"volta_h884gemm",
		"void hmma_x",
		"i16832gemm",
		"i8816gemm",
		"volta_fp16_s884cudnn",
		"turing_s1688",
		"sm80_xmma_gemm_f16",
		"xmma_implicit_gemm_x",
		"xmma_sparse_conv",
		"xmma_sparse_gemm",
		"xmma_warp_specialized_implicit_gemm",
	};
	static const char *const no[] = {"", "volta_sgemm_128x64", "conv1x", "HMMA", "h88", "xmma"};
	(void)state;
	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(tfp_kernel_uses_tensor_core(str_of(yes[i])));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(tfp_kernel_uses_tensor_core(str_of(no[i])));
}

static void test_ops_that_could_use_tensor_cores(void **state)
{
	static const char *const yes[] = {
		"m/Conv2D",
		"Conv2DBackpropFilter",
		"a/Conv2DBackpropInput",
		"Conv3D",
		"DepthwiseConv2dNative",
		"x/DepthwiseConv2dNativeBackpropFilter",
		"DepthwiseConv2dNativeBackpropInput",
		"dense/MatMul",
		"_FusedMatMul",
		"rnn/CudnnRNN",
		"XlaDot",
		"x/XlaDotV2",
		"BatchMatMulV2",
		"my_BatchMatMul_3",
		"CudnnRNNV3",
		"CudnnRNNForward_1",
		"a/CudnnRNNBackpropV2",
	};
	static const char *const no[] = {"",
					 "MatMul",
					 "dense/MatMul_1",
					 "Conv2D_1",
					 "conv2d",
					 "CudnnRNN",
					 "XlaDotV3",
					 "dense/MatMul:MatMul",
					 "dense/Relu",
					 "Conv3DBackpropInputV2"};
	(void)state;
	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(tfp_op_is_tensor_core_eligible(str_of(yes[i])));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(tfp_op_is_tensor_core_eligible(str_of(no[i])));
}

static void test_eligible_by_equation_name_or_kernel(void **state)
{
	static const struct {
		const char *kernel, *op, *equation;
		bool eligible;
	} cases[] = {
		{"k", "x/Einsum:Einsum", "ab,bc->ac", true},
		{"k", "x/Einsum:Einsum", "ab->ba", false},
		{"k", "x/Einsum:Einsum", "a,b,c->abc", false},
		{"k", "x/Einsum:Einsum", "ab,bc", false},
		{"k", "x/Einsum:Einsum", "a,b->c->d", false},
		{"k", "x/Einsum:Einsum", "", false},
		{"k", "dense/MatMul:MatMul", "", true},
		{"k", "dense/Relu:Relu", "", false},
		{"volta_h884gemm", "dense/Relu:Relu", "", true},
		{"volta_h884gemm", "", "ab,bc->ac", false}, /* no op to be eligible */
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_gpu_event e = {
			.name = str_of(cases[i].kernel),
			.duration_ps = 5000,
			.op_fullname = str_of(cases[i].op),
			.kernel_details = str_of("regs:1"),
			.equation = str_of(cases[i].equation),
		};
		struct tfp_kernel k;
		assert_true(tfp_kernel_of_event(&e, &k));
		if (k.op_is_tensor_core_eligible != cases[i].eligible)
			fail_msg("case %zu", i);
	}
}

/* ---- all kernels of a capture ---- */

static struct builder_stats *launch(struct builder_line *l, const char *name, int64_t start,
				    int64_t duration, const char *op, const char *details)
{
	struct builder_stats *e = builder_event(l, name, start, duration);
	if (op)
		builder_stat_str(e, "tf_op", op);
	builder_stat_str(e, "kernel_details", details);
	return e;
}

static struct tfp_kernels compute(struct opened *o)
{
	const struct tfp_hlo_modules *modules;
	struct tfp_kernels kernels;
	struct tfp_device_work work;
	struct tfp_error err;
	tfp_device_work_init(&work);
	tfp_kernels_init(&kernels);
	assert_int_equal(tfp_hlo_modules_get(o->capture, NULL, &modules, &err), TFP_OK);
	assert_int_equal(tfp_device_ops(o->capture, modules, NULL, NULL, &work, &kernels, &err),
			 TFP_OK);
	tfp_device_work_release(&work);
	return kernels;
}

static void test_what_is_one_kernel(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *l = builder_line(gpu, 1, "s", 0);
	static const char plain[] =
		"regs:8 static_shared:1 dynamic_shared:2 grid:4,1,1 block:5,1,1";
	(void)state;
	launch(l, "k", 0, 3000, "a/b:C", plain);
	/* Occupancy and the op's type play no part. */
	launch(l, "k", 10000, 9000, "a/b:D",
	       "regs:8 static_shared:1 dynamic_shared:2 grid:4,1,1 block:5,1,1 occ_pct:50");
	/* Another GPU is the same kernel. */
	launch(builder_line(builder_plane(b, 1, "/device:GPU:1"), 1, "s", 0), "k", 0, 5000, "a/b:C",
	       plain);
	launch(l, "other", 20000, 1000, "a/b:C", plain);
	launch(l, "k", 30000, 1000, "a/c:C", plain);
	launch(l, "k", 40000, 1000, NULL, plain);
	launch(l, "k", 50000, 1000, "a/b:C",
	       "regs:9 static_shared:1 dynamic_shared:2 grid:4,1,1 block:5,1,1");
	launch(l, "k", 60000, 1000, "a/b:C",
	       "regs:8 static_shared:2 dynamic_shared:1 grid:4,1,1 block:5,1,1");
	launch(l, "k", 70000, 1000, "a/b:C",
	       "regs:8 static_shared:1 dynamic_shared:2 grid:1,4,1 block:5,1,1");
	launch(l, "k", 80000, 1000, "a/b:C",
	       "regs:8 static_shared:1 dynamic_shared:2 grid:4,1,1 block:1,1,5");
	builder_event(l, "memcpy", 90000, 100000);
	launch(builder_line(gpu, -559038732, "XLA Ops", 0), "k", 0, 3000, "a/b:C", plain);
	struct opened o = open_built(b);
	struct tfp_kernels kernels = compute(&o);
	assert_int_equal(kernels.count, 8);
	const struct tfp_kernel *k = &kernels.kernels[0];
	assert_str(k->name, "k");
	assert_str(k->op_name, "a/b");
	assert_str(k->op_type, "C");
	assert_int_equal(k->occurrences, 3);
	assert_int_equal(k->total_ns, 17);
	assert_int_equal(k->min_ns, 3);
	assert_int_equal(k->max_ns, 9);
	assert_double((double)k->occupancy_percent, 0);
	assert_int_equal(k->host, 0);
	/* The texts are the report's own. */
	close_built(&o);
	assert_str(k->op_name, "a/b");
	tfp_kernels_release(&kernels);
	tfp_kernels_release(&kernels);
}

static void test_order(void **state)
{
	static const struct {
		const char *name, *details, *op;
		int64_t ns;
	} in[] = {
		{"b", "regs:1", "", 5},
		{"a", "regs:2 grid:2,1,1", "", 5},
		{"a", "regs:9 grid:1,1,1", "", 5},
		{"a", "regs:9 grid:1,1,1 block:2,1,1", "", 5},
		{"z", "regs:1", "", 50},
		{"a", "regs:8 grid:1,1,1 block:2,1,1", "", 5},
		{"a", "regs:8 grid:1,1,1 block:2,1,1 static_shared:1", "", 5},
		{"a", "regs:8 grid:1,1,1 block:2,1,1 dynamic_shared:1", "", 5},
		{"a", "regs:8 grid:1,1,1 block:2,1,1", "y:Y", 5},
		{"a", "regs:8 grid:1,1,1 block:2,1,1", "x:X", 5},
	};
	/* total descending; then name, grid, block, registers, static, dynamic, op ascending */
	static const size_t expected[] = {4, 2, 5, 9, 8, 7, 6, 3, 1, 0};
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	(void)state;
	for (size_t i = 0; i < COUNT(in); i++)
		launch(l, in[i].name, (int64_t)i, in[i].ns * 1000, in[i].op[0] ? in[i].op : NULL,
		       in[i].details);
	struct opened o = open_built(b);
	struct tfp_kernels kernels = compute(&o);
	assert_int_equal(kernels.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		struct tfp_kernel want = kernel_of(in[expected[i]].details);
		const struct tfp_kernel *k = &kernels.kernels[i];
		assert_str(k->name, in[expected[i]].name);
		assert_int_equal(k->registers, want.registers);
		assert_memory_equal(k->grid, want.grid, sizeof(want.grid));
		assert_memory_equal(k->block, want.block, sizeof(want.block));
		assert_int_equal(k->static_shared_bytes, want.static_shared_bytes);
		assert_int_equal(k->dynamic_shared_bytes, want.dynamic_shared_bytes);
		assert_int_equal(k->op_name.size, in[expected[i]].op[0] ? 1 : 0);
	}
	tfp_kernels_release(&kernels);
	close_built(&o);
}

static void test_xla_kernels_keep_the_type_in_the_name(void **state)
{
	static const char *const instructions[][4] = {{"dot.1", "dot", "jit(f)/m/MatMul", ""}};
	struct builder *b = builder_new();
	struct builder_plane *metadata = builder_plane(b, 0, "/host:metadata");
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	struct tfp_buf proto;
	(void)state;
	tfp_buf_init(&proto, 1 << 16);
	sample_hlo(&proto, "jit_f", instructions, 1);
	sample_add_module(metadata, "jit_f(12)", &proto);
	tfp_buf_release(&proto);
	struct builder_stats *e = launch(l, "known", 0, 9000, "XlaModule:", "regs:1");
	builder_stat_str(e, "hlo_op", "dot.1");
	builder_stat_uint(e, "program_id", 12);
	e = launch(l, "unknown", 10000, 5000, "XlaModule:", "regs:1");
	builder_stat_str(e, "hlo_op", "dot.2");
	builder_stat_uint(e, "program_id", 12);
	struct opened o = open_built(b);
	struct tfp_kernels kernels = compute(&o);
	assert_int_equal(kernels.count, 2);
	assert_str(kernels.kernels[0].op_name, "jit(f)/m/MatMul:");
	/* `/MatMul` is not where such a name ends. */
	assert_false(kernels.kernels[0].op_is_tensor_core_eligible);
	assert_str(kernels.kernels[1].op_name, "XlaModule");
	tfp_kernels_release(&kernels);
	close_built(&o);
}

static void test_no_kernels(void **state)
{
	struct opened o = open_built(sample_capture(SAMPLE_TPU));
	struct tfp_kernels kernels = compute(&o);
	(void)state;
	assert_int_equal(kernels.count, 0);
	tfp_kernels_release(&kernels);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch_details),
		cmocka_unit_test(test_odd_launch_details),
		cmocka_unit_test(test_what_is_no_kernel),
		cmocka_unit_test(test_kernels_on_tensor_cores),
		cmocka_unit_test(test_ops_that_could_use_tensor_cores),
		cmocka_unit_test(test_eligible_by_equation_name_or_kernel),
		cmocka_unit_test(test_what_is_one_kernel),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_xla_kernels_keep_the_type_in_the_name),
		cmocka_unit_test(test_no_kernels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
