#include "ops.h"

#include "analysis/op_stats.h"
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
	assert_int_equal(find_op(&s->device_ops, 12, "fusion.1")->time_ps, 700000);
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
	/* The first accelerated host's, with the devices of all. */
	assert_int_equal(all.env.hardware, TFP_HW_GPU);
	assert_string_equal(all.env.device_type, "Nvidia GPU (Volta)");
	assert_int_equal(all.env.device_count, 4);
	assert_int_equal(find_op(&all.host_ops, 0, "dense/MatMul")->self_time_ps, 9000000);
	assert_int_equal(find_op(&all.device_ops, 12, "fusion.1")->occurrences, 2);
	/* Kernels of hosts stay apart, in one order. */
	assert_int_equal(all.kernels.count, 6);
	uint32_t hosts = 0;
	for (size_t i = 0; i < 6; i++) {
		const struct tfp_kernel *k = &all.kernels.kernels[i];
		hosts += k->host;
		assert_true(k->host == 1 || k->host == 2);
		assert_true(i == 0 || all.kernels.kernels[i - 1].total_ns >= k->total_ns);
	}
	assert_int_equal(hosts, 9);
	/* Nothing borrowed is left. */
	close_built(&gpu);
	close_built(&cpu);
	assert_str(all.kernels.kernels[0].name, "volta_h884gemm");
	assert_str(find_op(&all.device_ops, 12, "fusion.1")->category, "loop fusion");
	tfp_op_stats_release(&all);
	struct tfp_op_stats zeroed = {0};
	tfp_op_stats_release(&zeroed);
}

static bool knows_eager(bool grouped, bool executes_eagerly)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	builder_event(builder_line(host, 1, "l", 0), "a:A", 0, 1);
	if (grouped)
		builder_stat_name_id(host, "group_id");
	if (executes_eagerly)
		builder_event_name_id(host, "EagerExecute");
	struct opened o = open_built(b);
	bool knows = stats_of(&o)->knows_eager;
	close_built(&o);
	return knows;
}

static void test_eager_is_known_where_it_can_be(void **state)
{
	(void)state;
	assert_true(knows_eager(true, true));
	assert_true(knows_eager(true, false));
	assert_true(knows_eager(false, false));
	assert_false(knows_eager(false, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_one_host),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_eager_is_known_where_it_can_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
