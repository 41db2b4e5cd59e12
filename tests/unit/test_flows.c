/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows, by preprocess.md B3 and the packing of trace_events.md 1.
 */
#include "testing.h"

#include "analysis/timeline/flows.h"

struct flowing {
	struct opened o;
	const struct tfp_flows *flows;
};

static struct flowing flows_of(struct builder *b)
{
	struct flowing f = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_flows_get(f.o.capture, NULL, &f.flows, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return f;
}

/* The one end at an event. */
static const struct tfp_flow_end *end_at(const struct flowing *f, uint32_t plane, uint32_t event)
{
	size_t count;
	const struct tfp_flow_end *end =
		tfp_flows_of_event(f->flows, false, plane, 0, event, &count);
	assert_int_equal(count, 1);
	return end;
}

static void test_launch_to_kernels(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_line *gpu =
		builder_line(builder_plane(b, 0, "/device:GPU:0"), 7, "Stream #7", 0);
	(void)state;
	builder_stat_uint(builder_event(host, "launch", 0, 10), "correlation_id", 5);
	builder_stat_uint(builder_event(host, "no kernel", 20, 10), "correlation_id", 6);
	/* Another integer type is the same number. */
	builder_stat_int(builder_event(gpu, "kernel", 100, 10), "correlation_id", 5);
	builder_stat_int(builder_event(gpu, "kernel of a graph", 200, 10), "correlation_id", 5);
	struct flowing f = flows_of(b);
	assert_int_equal(f.flows->count, 3);
	const struct tfp_flow_end *launch = end_at(&f, 0, 0);
	assert_int_equal(launch->direction, TFP_FLOW_OUT);
	assert_string_equal(tfp_flow_category_name(launch->category), "gpu_launch");
	assert_true(launch->id < UINT64_C(1) << 52);
	size_t count;
	const uint32_t *ends = tfp_flows_of_id(f.flows, launch->id, &count);
	assert_int_equal(count, 3);
	assert_int_equal(f.flows->ends[ends[0]].direction, TFP_FLOW_OUT);
	assert_int_equal(f.flows->ends[ends[1]].event, 0);
	assert_int_equal(f.flows->ends[ends[2]].event, 1);
	tfp_flows_of_event(f.flows, false, 0, 0, 1, &count);
	assert_int_equal(count, 0); /* it leads nowhere */
	close_built(&f.o);
}

static void add_context(struct builder_stats *e, const char *type, const char *id, int64_t number,
			int64_t context)
{
	builder_stat_int(e, type, context);
	builder_stat_int(e, id, number);
}

static void test_contexts(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *a = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "a", 0);
	(void)state;
	add_context(builder_event(a, "produces", 0, 10), "_pt", "_p", 7, 5);
	add_context(builder_event(a, "consumes", 20, 10), "_ct", "_c", 7, 5);
	/* The same number in another context is another flow. */
	add_context(builder_event(a, "elsewhere", 40, 10), "_ct", "_c", 7, 14);
	/* Contexts that nobody knows are generic. */
	add_context(builder_event(a, "produces", 60, 10), "_pt", "_p", 8, 99);
	add_context(builder_event(a, "consumes", 80, 10), "_ct", "_c", 8, 0);
	/* Half of a context is none. */
	builder_stat_int(builder_event(a, "half", 90, 10), "_p", 7);
	struct flowing f = flows_of(b);
	assert_int_equal(f.flows->count, 4);
	assert_string_equal(tfp_flow_category_name(end_at(&f, 0, 0)->category), "PjRt");
	assert_true(end_at(&f, 0, 0)->id == end_at(&f, 0, 1)->id);
	assert_int_equal(end_at(&f, 0, 3)->category, 0);
	assert_true(end_at(&f, 0, 3)->id == end_at(&f, 0, 4)->id);
	close_built(&f.o);
}

/* Direction 2 bits, id 56, category 6. */
static void test_flows_of_the_file(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *a = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "a", 0);
	const uint64_t id = (UINT64_C(1) << 55) + 77, category = 13;
	(void)state;
	builder_stat_uint(builder_event(a, "from", 0, 10), "flow", category << 58 | id << 2 | 2);
	builder_stat_uint(builder_event(a, "over", 20, 10), "flow", category << 58 | id << 2 | 3);
	builder_stat_uint(builder_event(a, "to", 40, 10), "flow", category << 58 | id << 2 | 1);
	struct flowing f = flows_of(b);
	assert_int_equal(f.flows->count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(end_at(&f, 0, i)->id == id);
		assert_string_equal(tfp_flow_category_name(end_at(&f, 0, i)->category),
				    "pathways_exec");
	}
	assert_int_equal(end_at(&f, 0, 0)->direction, TFP_FLOW_OUT);
	assert_int_equal(end_at(&f, 0, 1)->direction, TFP_FLOW_BOTH);
	assert_int_equal(end_at(&f, 0, 2)->direction, TFP_FLOW_IN);
	close_built(&f.o);
}

/* The host's run id has more bits than the device's. */
static void test_programs_of_a_tensor_core(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_line *tpu =
		builder_line(builder_plane(b, 4, "/device:TPU:3"), 2, "XLA Modules", 0);
	(void)state;
	struct builder_stats *e = builder_event(host, "DoEnqueueProgram", 0, 10);
	builder_stat_int(e, "device_ordinal", 3);
	builder_stat_int(e, "queue_id", 1);
	builder_stat_int(e, "run_id", (INT64_C(5) << 27) + 42);
	e = builder_event(tpu, "jit_f(1)", 100, 10);
	builder_stat_uint(e, "queue_id", 1);
	builder_stat_uint(e, "run_id", 42);
	builder_stat_uint(e, "core_type", 0);
	e = builder_event(tpu, "jit_f(1)", 200, 10);
	builder_stat_uint(e, "queue_id", 1);
	builder_stat_uint(e, "run_id", 43);
	struct flowing f = flows_of(b);
	assert_int_equal(f.flows->count, 2);
	assert_true(end_at(&f, 0, 0)->id == end_at(&f, 1, 0)->id);
	assert_string_equal(tfp_flow_category_name(end_at(&f, 1, 0)->category), "tpu_launch");
	close_built(&f.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launch_to_kernels),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_flows_of_the_file),
		cmocka_unit_test(test_programs_of_a_tensor_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
