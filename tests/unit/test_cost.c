/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What answers cost in things that can be counted, whatever the machine does beside: walks over
 * an event's stats, which take most of the time of a large capture, and allocations, which do
 * where threads are many and short.
 */
#include "testing.h"

#include "analysis/grouping/capture_groups.h"
#include "analysis/ops/host_ops.h"
#include "analysis/ops/tf_functions.h"
#include "analysis/steps/capture_steps.h"
#include "analysis/summary/op_stats.h"
#include "analysis/timeline/derived_lines.h"
#include "base/alloc.h"

struct tfp_stat_iter __real_tfp_event_stats(const struct tfp_line *line, size_t i);
struct tfp_stat_iter __wrap_tfp_event_stats(const struct tfp_line *line, size_t i);

static size_t walks;

struct tfp_stat_iter __wrap_tfp_event_stats(const struct tfp_line *line, size_t i)
{
	walks++;
	return __real_tfp_event_stats(line, i);
}

#define STEPS   40
#define KERNELS 100

/* Steps that launch kernels, as today's profilers write them. */
static struct opened training(void)
{
	struct builder *b = builder_new();
	struct builder_plane *cpu = builder_plane(b, 0, "/host:CPU");
	struct builder_line *host = builder_line(cpu, 1, "main", 0);
	struct builder_line *gpu =
		builder_line(builder_plane(b, 1, "/device:GPU:0"), 7, "Stream #7", 0);
	for (int64_t s = 0; s < STEPS; s++) {
		int64_t at = s * 1000000;
		struct builder_stats *root = builder_event(host, "train", at, 900000);
		builder_stat_int(root, "_r", 1);
		builder_stat_int(root, "step_num", s);
		struct builder_stats *call = builder_event(host, "f", at + 10, 800000);
		builder_stat_str(call, "tf_function_call", "traced-nonXla");
		builder_stat_int(call, "tracing_count", 1);
		for (int64_t k = 0; k < KERNELS; k++) {
			uint64_t id = (uint64_t)(s * KERNELS + k);
			struct builder_stats *e =
				builder_event(host, "Launch", at + 100 + k * 100, 50);
			builder_stat_uint(e, "correlation_id", id);
			builder_stat_uint(e, "device_id", 0);
			e = builder_event(gpu, k % 2 ? "odd_kernel" : "even_kernel",
					  at + 50000 + k * 5000, 4000);
			builder_stat_uint(e, "correlation_id", id);
			builder_stat_ref(e, "tf_op", k % 2 ? "a/odd:MatMul" : "a/even:Relu");
			builder_stat_ref(e, "kernel_details", "regs:16 grid:1,1,1 block:32,1,1");
		}
	}
	return open_built(b);
}

/* An overview, then the trace's derived lines. */
static void test_walks_over_stats(void **state)
{
	struct opened o = training();
	const struct tfp_op_stats *op_stats;
	const struct tfp_steps *steps;
	const struct tfp_functions *functions;
	const struct tfp_capture *derived;
	struct tfp_error err;
	(void)state;
	walks = 0;
	assert_int_equal(tfp_op_stats_get(o.capture, NULL, &op_stats, &err), TFP_OK);
	assert_int_equal(tfp_steps_get(o.capture, NULL, &steps, &err), TFP_OK);
	assert_int_equal(tfp_functions_get(o.capture, NULL, &functions, &err), TFP_OK);
	assert_int_equal(steps->count, STEPS);
	assert_int_equal(op_stats->kernels.count, 2);
	assert_int_equal(functions->count, 1);
	/* Once, and again those few that root steps or are calls. */
	assert_in_range(walks, o.capture->event_count, o.capture->event_count * 11 / 10);
	walks = 0;
	assert_int_equal(tfp_derived_lines_get(o.capture, NULL, &derived, &err), TFP_OK);
	assert_in_range(derived->event_count, STEPS, SIZE_MAX);
	assert_in_range(walks, 0, o.capture->event_count / 10);
	/* What is derived has no message of its own for each event. */
	assert_in_range(derived->bytes.size, 1, derived->event_count * 16);
	close_built(&o);
}

#define LINES 2000

/* The same events in few lines and in many. */
static struct opened threads(size_t lines)
{
	struct builder *b = builder_new();
	struct builder_plane *cpu = builder_plane(b, 0, "/host:CPU");
	for (size_t l = 0; l < lines; l++) {
		struct builder_line *line = builder_line(cpu, (int64_t)l, "thread", 0);
		for (size_t i = 0; i < LINES / lines; i++) {
			struct builder_stats *e =
				builder_event(line, "a/b:MatMul", (int64_t)i * 10000, 5000);
			builder_stat_int(e, "_pt", 5);
			builder_stat_int(e, "_p", (int64_t)(l * LINES + i));
		}
	}
	return open_built(b);
}

static uint64_t allocations(size_t lines)
{
	struct opened o = threads(lines);
	const struct tfp_groups *groups;
	struct tfp_op_db ops;
	struct tfp_error err;
	tfp_op_db_init(&ops);
	tfp_alloc_fail_at(UINT64_MAX);
	assert_int_equal(tfp_groups_get(o.capture, NULL, &groups, &err), TFP_OK);
	assert_int_equal(tfp_host_ops(o.capture, groups, NULL, &ops, &err), TFP_OK);
	uint64_t count = tfp_alloc_count();
	tfp_alloc_fail_at(0);
	assert_int_equal(ops.ops[0].occurrences, LINES);
	tfp_op_db_release(&ops);
	close_built(&o);
	return count;
}

/* A thread costs what its events do, and little beside. */
static void test_many_lines(void **state)
{
	(void)state;
	assert_in_range(allocations(1), 1, 200);
	assert_in_range(allocations(LINES), 1, 12 * LINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks_over_stats),
		cmocka_unit_test(test_many_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
