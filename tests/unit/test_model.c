/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "tfprof/views.h"

#define DEVICE        "device: '/job:w/device:GPU:0' "
#define STREAM        "device: '/job:w/device:GPU:0/stream:all' "
#define DEV(d, nodes) "dev_stats { " d nodes "} "
#define RAN(name, start, length, more)                                                             \
	"node_stats { node_name: '" name "' all_start_micros: " #start                             \
	" op_end_rel_micros: " #length " " more "} "

static struct tfp_profile_node *node(struct tfp_profile *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++) {
		if (tfp_str_equal(p->nodes[i]->name, name))
			return p->nodes[i];
	}
	return NULL;
}

static int64_t amount(struct tfp_profile *p, const char *name, int64_t step, enum tfp_amount which)
{
	int64_t amounts[TFP_AMOUNT_COUNT];
	tfp_profile_amounts(node(p, name), step, amounts);
	return amounts[which];
}

static void test_times(void **state)
{
	struct tfp_profile p;
	(void)state;
	tfp_profile_init(&p);
	add_graph(&p, "node { name: 'a' op: 'MatMul' } node { name: 'never' op: 'X' }");
	add_run(&p, 0,
		"step_stats { " DEV(DEVICE, RAN("a:MatMul", 100, 0, "") RAN("a", 200, 6, ""))
			DEV(STREAM, RAN("a:MatMul", 110, 40, ""))
				DEV("device: '/job:w/device:GPU:0/stream:13' ",
				    RAN("a", 110, 40, "") RAN("MEMCPYHtoD", 1, 2, ""))
					DEV("device: '/job:w/device:CPU:0' ",
					    RAN("a", 300, 1000, "") RAN("_SOURCE", 1, 2, "")) "}");
	add_run(&p, 1, "step_stats { " DEV(DEVICE, RAN("a", 500, 4, "")) "}");
	finish(&p);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.covered, 1);
	assert_true(p.misses_streams); /* in step 1 */
	assert_str(node(&p, "a")->device, "/job:w/device:gpu:0");
	/* A record without time counts as a microsecond; the other device is not counted. */
	assert_int_equal(amount(&p, "a", 0, TFP_CPU_TIME), 7);
	assert_int_equal(amount(&p, "a", 0, TFP_ACCELERATOR_TIME), 40);
	assert_int_equal(amount(&p, "a", 0, TFP_RUNS), 2);
	assert_int_equal(amount(&p, "a", 1, TFP_TOTAL_TIME), 4);
	/* The means are rounded down, each by itself: 47 + 4, 7 + 4, 40. */
	assert_int_equal(amount(&p, "a", TFP_STEP_MEAN, TFP_TOTAL_TIME), 25);
	assert_int_equal(amount(&p, "a", TFP_STEP_MEAN, TFP_CPU_TIME), 5);
	assert_int_equal(amount(&p, "a", TFP_STEP_MEAN, TFP_ACCELERATOR_TIME), 20);
	assert_int_equal(amount(&p, "a", TFP_STEP_MEAN, TFP_RUNS), 1);
	assert_int_equal(amount(&p, "never", TFP_STEP_MEAN, TFP_TOTAL_TIME), 0);
	assert_int_equal(node(&p, "a")->type_count, 2);
	tfp_profile_release(&p);
}

static void test_memory(void **state)
{
	struct tfp_profile p;
	(void)state;
	tfp_profile_init(&p);
	add_run(&p, 0,
		"step_stats { " DEV(
			DEVICE,
			RAN("a", 100, 10,
			    "memory { allocator_name: 'GPU_0_bfc' total_bytes: 100 peak_bytes: 60 "
			    "live_bytes: 20 allocator_bytes_in_use: 5000 allocation_records { "
			    "alloc_micros: 105 alloc_bytes: 64 } } memory { allocator_name: 'cpu' "
			    "total_bytes: 7 peak_bytes: 7 live_bytes: 1 } output { "
			    "tensor_description { allocation_description { requested_bytes: 30 "
			    "allocated_bytes: 32 } } } output { tensor_description { "
			    "allocation_description { requested_bytes: 3 } } } memory_stats { "
			    "temp_memory_size: 1000 persistent_memory_size: 200 "
			    "device_temp_memory_size: 9999 }")) "}");
	finish(&p);
	assert_int_equal(amount(&p, "a", 0, TFP_REQUESTED_BYTES), 1307);
	assert_int_equal(amount(&p, "a", 0, TFP_PEAK_BYTES), 1267);
	assert_int_equal(amount(&p, "a", 0, TFP_RESIDUAL_BYTES), 221);
	assert_int_equal(amount(&p, "a", 0, TFP_OUTPUT_BYTES), 35);
	const struct tfp_exec *exec = tfp_profile_exec_at(node(&p, "a"), 0);
	assert_int_equal(exec->accelerator_persistent_bytes, 200);
	assert_int_equal(exec->in_use.first->time_us, 110);
	assert_int_equal(exec->in_use.first->bytes, 5000);
	assert_int_equal(exec->allocations.first->bytes, 64);
	assert_str(node(&p, "a")->op, "a");
	tfp_profile_release(&p);
}

static void test_shapes(void **state)
{
	struct tfp_profile p;
	(void)state;
	tfp_profile_init(&p);
	add_graph(
		&p,
		"node { name: 'a' attr { key: 'shape' value { shape { dim { size: 3 } dim { size: "
		"4 "
		"} } } } attr { key: '_output_shapes' value { list { shape { } shape { dim { size: "
		"5 "
		"} } shape { unknown_rank: true } } } } } node { name: 's' attr { key: 'shape' "
		"value "
		"{ shape { } } } } node { name: 'u' attr { key: 'shape' value { shape { dim { "
		"size: "
		"-1 } } } } } node { name: 'x' input: 'a' input: 'a:1' input: 'none' input: '^s' } "
		"node { name: 'y' input: 'a:2' } node { name: 'x' op: 'Second' }");
	finish(&p);
	assert_int_equal(p.count, 5);
	assert_int_equal(tfp_profile_parameters(node(&p, "a")), 12);
	assert_int_equal(tfp_profile_parameters(node(&p, "s")), 1);
	assert_int_equal(tfp_profile_parameters(node(&p, "u")), 0);
	const struct tfp_profile_node *x = node(&p, "x");
	assert_str(x->op, "");
	assert_int_equal(x->input_count, 4);
	/* Both have the last one's output. */
	assert_int_equal(tfp_profile_input_shape(&x->inputs[0]).dims[0], 5);
	assert_int_equal(tfp_profile_input_shape(&x->inputs[1]).dims[0], 5);
	assert_null(x->inputs[2].node);
	assert_true(x->inputs[3].node == node(&p, "s"));
	assert_int_equal(tfp_profile_input_shape(&node(&p, "y")->inputs[0]).rank, 0);
	tfp_profile_release(&p);
}

/* A graph in a circle that something feeds on, a name of many parts, a node called as a scope. */
static const char odd_graph[] =
	"node { name: 'end' op: 'E' input: 'c1' } node { name: 'c1' op: 'C' input: 'c2' } node { "
	"name: "
	"'c2' op: 'C' input: 'c1' input: 'c2' } node { name: 'c2/x/y/z' op: 'X' input: '^end' }";

static size_t shown(const struct tfp_tree *t)
{
	size_t count = 0;
	for (const struct tfp_tree_node *n = tfp_tree_root(t); n; n = tfp_tree_next(n))
		count++;
	return count;
}

static void test_trees(void **state)
{
	struct tfp_profile p;
	struct tfp_views v;
	struct tfp_view_options o;
	struct tfp_tree *t;
	struct tfp_error err;
	(void)state;
	tfp_profile_init(&p);
	add_graph(&p, odd_graph);
	finish(&p);
	tfp_views_init(&v, &p, NULL);
	assert_int_equal(tfp_view_options_init(&o, &err), TFP_OK);
	assert_int_equal(tfp_views_tree(&v, TFP_VIEW_GRAPH, &o, &t, &err), TFP_OK);
	assert_int_equal(shown(t), 5);
	/* Each once: c2/x/y/z, end, c1, c2. */
	assert_int_equal(tfp_tree_root(t)->total[TFP_DEFINED], 4);
	assert_int_equal(tfp_views_tree(&v, TFP_VIEW_SCOPE, &o, &t, &err), TFP_OK);
	assert_int_equal(shown(t), 7);
	assert_int_equal(tfp_tree_root(t)->total[TFP_DEFINED], 6);
	/* Again, with less. */
	o.numbers[TFP_MAX_DEPTH] = 2;
	assert_int_equal(tfp_views_tree(&v, TFP_VIEW_SCOPE, &o, &t, &err), TFP_OK);
	assert_int_equal(shown(t), 4);
	assert_int_equal(tfp_view_options_set_text(&o, TFP_ACCOUNT_TYPES, "E", &err), TFP_OK);
	assert_int_equal(tfp_views_tree(&v, TFP_VIEW_GRAPH, &o, &t, &err), TFP_OK);
	assert_int_equal(shown(t), 2);
	tfp_view_options_release(&o);
	tfp_views_release(&v);
	tfp_profile_release(&p);
}

/* A chain is walked without recursion, and a name of a million parts is no tree of a million. */
static void test_deep(void **state)
{
	struct tfp_profile p;
	struct tfp_views v;
	struct tfp_view_options o;
	struct tfp_tree *t;
	struct tfp_buf text;
	struct tfp_error err;
	(void)state;
	tfp_buf_init(&text, 1 << 24);
	for (int i = 0; i < 20000; i++)
		tfp_buf_printf(&text, "node { name: 'n%d' input: 'n%d' } ", i, i + 1);
	tfp_buf_puts(&text, "node { name: '");
	for (int i = 0; i < 100000; i++)
		tfp_buf_puts(&text, "/a");
	tfp_buf_puts(&text, "' }");
	tfp_profile_init(&p);
	struct tfp_buf out;
	tfp_buf_init(&out, 1 << 24);
	assert_int_equal(tfp_text_message(&tfp_graph_def_rule, text.data, text.size, &out, &err),
			 TFP_OK);
	assert_int_equal(
		tfp_graph_def_read(&p, (struct tfp_span){(uint8_t *)out.data, out.size}, &err),
		TFP_OK);
	finish(&p);
	tfp_views_init(&v, &p, NULL);
	assert_int_equal(tfp_view_options_init(&o, &err), TFP_OK);
	o.numbers[TFP_MAX_DEPTH] = INT32_MAX;
	assert_int_equal(tfp_views_tree(&v, TFP_VIEW_GRAPH, &o, &t, &err), TFP_OK);
	assert_int_equal(shown(t), 20002);
	assert_int_equal(tfp_views_tree(&v, TFP_VIEW_SCOPE, &o, &t, &err), TFP_OK);
	assert_int_equal(shown(t), 20000 + 1000 + 1 + 1);
	tfp_view_options_release(&o);
	tfp_views_release(&v);
	tfp_profile_release(&p);
	tfp_buf_release(&out);
	tfp_buf_release(&text);
}

/* When an allocation fails, no matter which, nothing is lost or freed twice. */
static void test_no_memory(void **state)
{
	static const char graph[] =
		"\x0a\x07\x0a\x01z\x12\x02Op\x0a\x0d\x0a\x03z/y\x12\x03Op2\x1a\x01z";
	const struct tfp_span bytes = {(const uint8_t *)graph, sizeof(graph) - 1};
	bool all = false;
	(void)state;
	for (uint64_t n = 1; !all; n++) {
		static const enum tfp_view_command views[] = {TFP_VIEW_SCOPE, TFP_VIEW_GRAPH,
							      TFP_VIEW_CODE};
		struct tfp_profile p;
		struct tfp_views v;
		struct tfp_view_options o = {.output = TFP_OUT_NONE};
		struct tfp_tree *t;
		struct tfp_error err;
		tfp_profile_init(&p);
		tfp_views_init(&v, &p, NULL);
		tfp_alloc_fail_once(n);
		bool good = tfp_view_options_init(&o, &err) == TFP_OK &&
			    tfp_graph_def_read(&p, bytes, &err) == TFP_OK &&
			    tfp_profile_finish(&p, &err) == TFP_OK;
		for (size_t i = 0; good && i < COUNT(views); i++)
			good = tfp_views_tree(&v, views[i], &o, &t, &err) == TFP_OK;
		good = good && tfp_views_ops(&v, &o, &err) == TFP_OK;
		all = tfp_alloc_count() < n;
		tfp_alloc_fail_at(0);
		assert_true(good || !all);
		tfp_views_release(&v);
		tfp_profile_release(&p);
		tfp_view_options_release(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),  cmocka_unit_test(test_memory),
		cmocka_unit_test(test_shapes), cmocka_unit_test(test_trees),
		cmocka_unit_test(test_deep),   cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
