/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include "analysis/summary/op_stats.h"
#include "support/sample_capture.h"

static const struct tfp_op_stats *stats_of(const struct opened *o)
{
	const struct tfp_op_stats *stats;
	struct tfp_error err;
	assert_int_equal(tfp_op_stats_get(o->capture, NULL, &stats, &err), TFP_OK);
	return stats;
}

static void test_of_one_host(void **state)
{
	struct opened o = open_built(sample_capture(SAMPLE_GPU));
	const struct tfp_op_stats *s = stats_of(&o);
	(void)state;
	assert_ptr_equal(stats_of(&o), s);
	assert_string_equal(s->env.hostname, "node-1");
	assert_true(s->is_training);
	assert_int_equal(s->kernels.count, 3);
	assert_int_equal(find_op(&s->host_ops, 0, "dense/MatMul")->self_time_ps, 3000000);
	assert_int_equal(find_op(&s->device.ops, 12, "fusion.1")->time_ps, 700000);
	assert_true(tfp_capture_held_bytes(o.capture) > o.capture->heap_bytes + o.size);
	close_built(&o);
}

static void test_merge(void **state)
{
	struct opened gpu = open_built(sample_capture(SAMPLE_GPU));
	struct opened cpu = open_built(sample_capture(SAMPLE_NO_DEVICE));
	struct tfp_op_stats all;
	struct tfp_error err;
	(void)state;
	tfp_op_stats_init(&all);
	assert_int_equal(tfp_op_stats_merge(&all, stats_of(&cpu), 0, &err), TFP_OK);
	assert_int_equal(tfp_op_stats_merge(&all, stats_of(&gpu), 1, &err), TFP_OK);
	assert_int_equal(tfp_op_stats_merge(&all, stats_of(&gpu), 2, &err), TFP_OK);
	tfp_op_stats_end(&all);
	/* The first accelerated host's, with the devices of all. */
	assert_int_equal(all.env.hardware, TFP_HW_GPU);
	assert_string_equal(all.env.device_type, "Nvidia GPU (Volta)");
	assert_int_equal(all.env.device_count, 4);
	assert_int_equal(find_op(&all.host_ops, 0, "dense/MatMul")->self_time_ps, 9000000);
	assert_int_equal(find_op(&all.device.ops, 12, "fusion.1")->occurrences, 2);
	/* Kernels of hosts stay apart, in one order. */
	assert_int_equal(all.kernels.count, 6);
	uint32_t hosts = 0;
	for (size_t i = 0; i < 6; i++) {
		const struct tfp_kernel *k = &all.kernels.kernels[i];
		hosts += k->host;
		assert_true(k->host == 1 || k->host == 2);
		assert_true(i == 0 || all.kernels.kernels[i - 1].total_ns >= k->total_ns);
		/* What both hosts have stands by host, and its texts are there once. */
		if (i % 2) {
			assert_true(k->host == 2 && k[-1].host == 1);
			assert_ptr_equal(k->name.data, k[-1].name.data);
			assert_ptr_equal(k->op_name.data, k[-1].op_name.data);
		}
	}
	assert_int_equal(hosts, 9);
	/* Nothing borrowed is left. */
	close_built(&gpu);
	close_built(&cpu);
	assert_str(all.kernels.kernels[0].name, "volta_h884gemm");
	assert_str(find_op(&all.device.ops, 12, "fusion.1")->category, "loop fusion");
	tfp_op_stats_release(&all);
	struct tfp_op_stats zeroed = {0};
	tfp_op_stats_release(&zeroed);
}

/* A raw capture says by nesting what ran eagerly, a grouped one by stats. */
static void test_eager_of_raw_captures(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(host, 1, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "EagerExecute", 0, 100), "is_func", 0);
	builder_event(line, "a:MatMul", 10, 50);
	builder_stat_int(builder_event(line, "cuLaunchKernel", 20, 5), "correlation_id", 1);
	builder_event(line, "b:MatMul", 200, 50);
	struct builder_stats *kernel =
		builder_event(builder_line(gpu, 13, "Stream #13", 0), "kernel", 50, 40);
	builder_stat_uint(kernel, "correlation_id", 1);
	builder_stat_ref(kernel, "tf_op", "a:MatMul");
	struct opened o = open_built(b);
	const struct tfp_op_stats *stats = stats_of(&o);
	assert_true(find_op(&stats->host_ops, 0, "a")->is_eager);
	assert_false(find_op(&stats->host_ops, 0, "b")->is_eager);
	assert_true(find_op(&stats->device.ops, 0, "a/kernel")->is_eager);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_one_host),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_eager_of_raw_captures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
