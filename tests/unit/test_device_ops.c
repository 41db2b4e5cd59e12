/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers computed by hand. */
#include "ops.h"

#include "analysis/ops/device_ops.h"
#include "support/sample_capture.h"

static const struct tfp_hlo_modules *modules_of(const struct opened *o)
{
	const struct tfp_hlo_modules *modules;
	struct tfp_error err;
	assert_int_equal(tfp_hlo_modules_get(o->capture, NULL, &modules, &err), TFP_OK);
	return modules;
}

static struct tfp_device_work compute_work(struct builder *b)
{
	struct opened o = open_built(b);
	struct tfp_device_work work;
	struct tfp_error err;
	struct tfp_kernels kernels;
	tfp_device_work_init(&work);
	tfp_kernels_init(&kernels);
	assert_int_equal(
		tfp_device_ops(o.capture, modules_of(&o), NULL, NULL, &work, &kernels, &err),
		TFP_OK);
	tfp_kernels_release(&kernels);
	close_built(&o);
	return work;
}

static struct tfp_op_db compute(struct builder *b)
{
	struct tfp_device_work work = compute_work(b);
	tfp_op_db_release(&work.unnamed);
	return work.ops;
}

static struct builder_stats *named(struct builder_line *l, const char *kernel, int64_t start,
				   int64_t duration, const char *stat, const char *op)
{
	struct builder_stats *e = builder_event(l, kernel, start, duration);
	builder_stat_str(e, stat, op);
	return e;
}

static void test_gpu_ops_and_idle(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	/* The lines' own times play no part: only offsets do. */
	struct builder_line *l = builder_line(gpu, 1, "Stream #1", 5000);
	struct builder_line *copies = builder_line(gpu, 2, "Stream #2", 0);
	(void)state;
	named(l, "k1", 10, 10, "tf_op", "a/MatMul:MatMul");
	named(l, "k1", 30, 10, "tf_op", "a/MatMul:MatMul");
	named(l, "k2", 40, 5, "tf_op", "a/MatMul:MatMul");
	named(l, "k1", 50, 4, "tf_op", "b/Relu:Relu");
	builder_event(copies, "MemcpyH2D", 100, 10);
	builder_event(builder_line(gpu, -559038737, "Steps", 0), "1", 0, 1000);
	struct tfp_op_db db = compute(b), by_op;
	/* 10 to 110, less 29 */
	ASSERT_OPS(&db, {0, "a/MatMul/k1", "MatMul", 2, 20, 20},
		   {0, "a/MatMul/k2", "MatMul", 1, 5, 5}, {0, "b/Relu/k1", "Relu", 1, 4, 4},
		   {0, "IDLE", "IDLE", 0, 71, 71});
	assert_int_equal(db.total_time_ps, 100);
	assert_int_equal(db.total_op_time_ps, 29);
	tfp_op_db_init(&by_op);
	assert_true(tfp_op_db_by_framework_op(&db, &by_op));
	/* Occurrences: the largest of an op's parts. */
	ASSERT_OPS(&by_op, {0, "a/MatMul", "MatMul", 2, 25, 25}, {0, "b/Relu", "Relu", 1, 4, 4},
		   {0, "IDLE", "IDLE", 0, 71, 71});
	tfp_op_db_release(&by_op);
	tfp_op_db_release(&db);
}

static void test_order_of_the_stats_that_name_an_op(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	(void)state;
	struct builder_stats *e = named(l, "k", 0, 1, "annotation", "an:An#id=3,_r=1#");
	builder_stat_str(e, "level 0", "level:Level");
	builder_stat_str(e, "tf_op", "tf:Tf");
	e = named(l, "k", 1, 1, "annotation", "an:An#id=3#");
	builder_stat_ref(e, "level 0", "level:Level");
	named(l, "k", 2, 1, "annotation", "an:An#id=3#");
	e = named(l, "k", 3, 1, "annotation", "an2:An");
	builder_stat_str(e, "tf_op", "");
	builder_event(l, "k", 4, 1);
	struct tfp_op_db db = compute(b);
	ASSERT_OPS(&db, {0, "tf/k", "Tf", 1, 1, 1}, {0, "level/k", "Level", 1, 1, 1},
		   {0, "an/k", "An", 1, 1, 1}, {0, "an2/k", "An", 1, 1, 1},
		   {0, "IDLE", "IDLE", 0, 1, 1});
	tfp_op_db_release(&db);
}

static void test_streams_side_by_side_leave_no_idle(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	(void)state;
	named(builder_line(gpu, 1, "s", 0), "k", 0, 60, "tf_op", "a:A");
	named(builder_line(gpu, 2, "s", 0), "k", 10, 60, "tf_op", "a:A");
	struct tfp_op_db db = compute(b);
	ASSERT_OPS(&db, {0, "a/k", "A", 2, 120, 120}, {0, "IDLE", "IDLE", 0, 0, 0});
	assert_int_equal(db.total_time_ps, 120);
	tfp_op_db_release(&db);
}

static void test_planes_are_added_and_idle_ones_add_nothing(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	for (int64_t i = 0; i < 2; i++) {
		struct builder_line *l = builder_line(
			builder_plane(b, i, i ? "/device:GPU:1" : "/device:GPU:0"), 1, "s", 0);
		named(l, "k", 0, 10, "tf_op", "a:A");
		named(l, "k", 20 + i, 10, "tf_op", "a:A");
	}
	builder_plane(b, 2, "/device:GPU:2");
	builder_line(builder_plane(b, 3, "/device:GPU:3"), 1, "s", 0);
	struct tfp_op_db db = compute(b);
	ASSERT_OPS(&db, {0, "a/k", "A", 4, 40, 40}, {0, "IDLE", "IDLE", 0, 21, 21});
	assert_int_equal(db.total_time_ps, 61);
	tfp_op_db_release(&db);

	b = builder_new();
	builder_plane(b, 0, "/device:GPU:0");
	db = compute(b);
	assert_int_equal(db.count, 0);
	tfp_op_db_release(&db);
}

static void test_hlo_ops(void **state)
{
	static const char *const instructions[][4] = {
		{"fusion.1", "fusion", "jit(f)/add", ""},
		{"copy.2", "copy", NULL, NULL},
	};
	struct builder *b = builder_new();
	struct builder_plane *metadata = builder_plane(b, 0, "/host:metadata");
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	struct tfp_buf proto;
	(void)state;
	tfp_buf_init(&proto, 1 << 16);
	sample_hlo(&proto, "jit_f", instructions, 2);
	sample_add_module(metadata, "jit_f(12)", &proto);
	tfp_buf_release(&proto);
	static const struct {
		const char *hlo_op;
		uint64_t program_id;
		const char *tf_op;
	} events[] = {
		{"while.3::fusion.1", 12, "XlaModule:"}, /* known */
		{"fusion.1", 12, "XlaModule:"},
		{"copy.2", 12, "XlaModule:"},   /* known, without an op */
		{"fusion.1", 13, "XlaModule:"}, /* no such module: by tf_op */
		{"fusion.9", 12, NULL},         /* no such instruction: by hlo_op */
	};
	for (size_t i = 0; i < COUNT(events); i++) {
		struct builder_stats *e = builder_event(l, "kernel", (int64_t)i * 10, 10);
		builder_stat_ref(e, "hlo_op", events[i].hlo_op);
		builder_stat_uint(e, "program_id", events[i].program_id);
		if (events[i].tf_op)
			builder_stat_ref(e, "tf_op", events[i].tf_op);
	}
	struct tfp_op_db db = compute(b), by_op;
	ASSERT_OPS(&db, {12, "fusion.1", "loop fusion", 2, 20, 20},
		   {12, "copy.2", "data formatting", 1, 10, 10},
		   {0, "XlaModule/kernel", "XlaModule", 1, 10, 10},
		   {0, "fusion.9/kernel", "unknown", 1, 10, 10}, {0, "IDLE", "IDLE", 0, 0, 0});
	assert_str(find_op(&db, 12, "fusion.1")->provenance, "jit(f)/add:");
	tfp_op_db_init(&by_op);
	assert_true(tfp_op_db_by_framework_op(&db, &by_op));
	ASSERT_OPS(&by_op, {0, "jit(f)/add", "add", 2, 20, 20}, {0, "copy.2", "Unknown", 1, 10, 10},
		   {0, "XlaModule", "XlaModule", 1, 10, 10}, {0, "fusion.9", "Unknown", 1, 10, 10},
		   {0, "IDLE", "IDLE", 0, 0, 0});
	tfp_op_db_release(&by_op);
	tfp_op_db_release(&db);
}

static void test_gpu_cost_is_known_only_when_every_event_has_it(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	(void)state;
	for (int64_t i = 0; i < 4; i++) {
		struct builder_stats *e = named(l, "k", i, 1, "tf_op", i < 2 ? "a:A" : "b:B");
		builder_stat_uint(e, "flops", 100);
		if (i < 3)
			builder_stat_uint(e, "bytes_accessed", 7);
	}
	struct tfp_op_db db = compute(b);
	const struct tfp_op *a = find_op(&db, 0, "a/k");
	assert_true(a->has_cost);
	assert_double(a->flops, 200);
	assert_double(a->bytes_accessed, 14);
	assert_false(find_op(&db, 0, "b/k")->has_cost);
	tfp_op_db_release(&db);
}

/* ---- TPU ---- */

static void describe(struct builder_plane *tpu, const char *name, const char *category,
		     uint64_t symbol_id, uint64_t flops, uint64_t bytes)
{
	struct builder_stats *m = builder_metadata_stats(tpu, name);
	builder_stat_uint(m, "program_id", 3);
	builder_stat_uint(m, "symbol_id", symbol_id);
	builder_stat_str(m, "hlo_category", category);
	builder_stat_uint(m, "flops", flops);
	builder_stat_uint(m, "bytes_accessed", bytes);
}

static void on_device(struct builder_line *l, const char *name, int64_t host_start, int64_t start,
		      int64_t duration)
{
	struct builder_stats *e = builder_event(l, name, host_start, 1);
	builder_stat_uint(e, "device_offset_ps", (uint64_t)start);
	builder_stat_uint(e, "device_duration_ps", (uint64_t)duration);
}

static void test_tpu_nesting_by_the_device_clock(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *tpu = builder_plane(b, 0, "/device:TPU:0");
	struct builder_line *ops = builder_line(tpu, 2, "XLA Ops", 0);
	(void)state;
	describe(tpu, "while", "while", 1, 0, 0);
	describe(tpu, "fusion", "loop fusion", 2, 10, 4);
	describe(tpu, "kernel", "custom-call", 3, 1000, 500);
	describe(tpu, "none", "loop fusion", 0, 10, 4);
	builder_metadata_display(tpu, "fusion", "fusion.7");
	builder_stat_str(builder_metadata_stats(tpu, "fusion"), "tf_op", "jit(f)/add:");
	on_device(ops, "while", 0, 100, 100);
	on_device(ops, "fusion", 1, 110, 20);
	on_device(ops, "kernel", 2, 130, 10);
	on_device(ops, "fusion", 3, 180, 20); /* ends where the loop ends: inside */
	on_device(ops, "kernel", 4, 250, 10);
	on_device(ops, "none", 5, 270, 10);
	on_device(builder_line(tpu, 1, "Steps", 0), "1", 0, 50, 250);
	/* These are no lines of ops. */
	on_device(builder_line(tpu, 3, "XLA Modules", 0), "while", 0, 0, 1000);
	struct tfp_op_db db = compute(b);
	ASSERT_OPS(&db, {3, "while", "while", 1, 100, 50},
		   {3, "fusion.7", "loop fusion", 2, 40, 40},
		   {3, "kernel", "custom-call", 2, 20, 20}, {0, "IDLE", "IDLE", 0, 140, 140});
	/* 50 to 300 */
	assert_int_equal(db.total_time_ps, 250);
	assert_int_equal(db.total_op_time_ps, 110);
	const struct tfp_op *fusion = find_op(&db, 3, "fusion.7");
	assert_true(fusion->has_cost);
	assert_double(fusion->flops, 20);
	assert_double(fusion->model_flops, 20);
	assert_double(fusion->bytes_accessed, 8);
	assert_str(fusion->provenance, "jit(f)/add:");
	/* The figures of a custom call are of all its occurrences. */
	assert_double(find_op(&db, 3, "kernel")->flops, 1000);
	assert_double(find_op(&db, 3, "kernel")->bytes_accessed, 500);
	tfp_op_db_release(&db);
}

static void test_tpu_without_device_clock(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *tpu = builder_plane(b, 0, "/device:TPU:0");
	struct builder_line *ops = builder_line(tpu, 2, "XLA Ops", 1);
	(void)state;
	describe(tpu, "outer", "while", 1, 0, 0);
	describe(tpu, "inner", "loop fusion", 2, 0, 0);
	builder_stat_uint(builder_metadata_stats(tpu, "inner"), "model_flops", 6);
	builder_event(ops, "outer", 0, 50);
	builder_event(ops, "inner", 10, 5);
	builder_event(ops, "inner", 60, 5);
	struct tfp_op_db db = compute(b);
	ASSERT_OPS(&db, {3, "outer", "while", 1, 50, 45}, {3, "inner", "loop fusion", 2, 10, 10},
		   {0, "IDLE", "IDLE", 0, 10, 10});
	assert_double(find_op(&db, 3, "inner")->model_flops, 12);
	tfp_op_db_release(&db);
}

static void test_tpu_goes_before_gpu(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	named(builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0), "k", 0, 10, "tf_op",
	      "a:A");
	builder_plane(b, 0, "/device:TPU:0");
	struct tfp_op_db db = compute(b);
	assert_int_equal(db.count, 0);
	tfp_op_db_release(&db);
}

/* ---- events ---- */

static size_t visited;

static void visit(void *context, const struct tfp_plane *plane, const struct tfp_line *line,
		  size_t event, struct tfp_str name, struct tfp_str type)
{
	(void)plane;
	(void)event;
	assert_true(line->event_count > 0);
	visited++;
	if (tfp_str_equal(name, context))
		assert_str(type, "MatMul");
}

static void test_events_of_ops(void **state)
{
	struct builder *b = sample_capture(SAMPLE_GPU);
	struct tfp_error err;
	(void)state;
	struct opened o = open_built(b);
	visited = 0;
	assert_int_equal(
		tfp_device_op_events(o.capture, modules_of(&o), visit, "dense/MatMul", &err),
		TFP_OK);
	assert_int_equal(visited, 6); /* not the copy, not the derived line */
	close_built(&o);
	o = open_built(sample_capture(SAMPLE_TPU));
	visited = 0;
	assert_int_equal(tfp_device_op_events(o.capture, modules_of(&o), visit, "", &err), TFP_OK);
	assert_int_equal(visited, 2);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu_ops_and_idle),
		cmocka_unit_test(test_order_of_the_stats_that_name_an_op),
		cmocka_unit_test(test_streams_side_by_side_leave_no_idle),
		cmocka_unit_test(test_planes_are_added_and_idle_ones_add_nothing),
		cmocka_unit_test(test_hlo_ops),
		cmocka_unit_test(test_gpu_cost_is_known_only_when_every_event_has_it),
		cmocka_unit_test(test_tpu_nesting_by_the_device_clock),
		cmocka_unit_test(test_tpu_without_device_clock),
		cmocka_unit_test(test_tpu_goes_before_gpu),
		cmocka_unit_test(test_events_of_ops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
