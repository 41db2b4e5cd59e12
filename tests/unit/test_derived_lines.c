/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derived lines, by the rules of preprocess.md D worked out by hand.
 */
#include "testing.h"

#include "analysis/timeline/derived_lines.h"

#include <stdio.h>

struct derived {
	struct opened o;
	const struct tfp_capture *lines;
};

static struct derived derive_built(struct builder *b)
{
	struct derived d = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_derived_lines_get(d.o.capture, NULL, &d.lines, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return d;
}

static const struct tfp_line *find_line(const struct tfp_capture *c, const char *plane,
					const char *name, const struct tfp_plane **of)
{
	for (size_t p = 0; p < c->plane_count; p++) {
		if (!tfp_str_equal(c->planes[p].name, plane))
			continue;
		for (size_t l = 0; l < c->planes[p].line_count; l++) {
			if (tfp_str_equal(c->planes[p].lines[l].name, name) &&
			    c->planes[p].lines[l].event_count) {
				*of = &c->planes[p];
				return &c->planes[p].lines[l];
			}
		}
	}
	return NULL;
}

struct expected {
	const char *name; /* as it is shown */
	int64_t start_ps, duration_ps;
};

static void check_line(const struct derived *d, const char *plane, const char *name,
		       const struct expected *events, size_t count)
{
	const struct tfp_plane *of = NULL;
	const struct tfp_line *line = find_line(d->lines, plane, name, &of);
	if (!line) {
		fail_msg("there is no line \"%s\"", name);
		return;
	}
	assert_int_equal(line->event_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct tfp_event_meta *meta = tfp_event_meta(of, line, i);
		assert_str(meta->display_name.size ? meta->display_name : meta->name,
			   events[i].name);
		assert_int_equal(tfp_event_start_ps(line, i), events[i].start_ps);
		assert_int_equal(tfp_event_duration_ps(line, i), events[i].duration_ps);
	}
}

#define CHECK_LINE(d, plane, name, ...)                                                            \
	do {                                                                                       \
		static const struct expected expected_[] = {__VA_ARGS__};                          \
		check_line(d, plane, name, expected_, COUNT(expected_));                           \
	} while (0)

static struct builder_stats *kernel(struct builder_line *line, const char *name, int64_t start_ps,
				    int64_t duration_ps)
{
	struct builder_stats *e = builder_event(line, name, start_ps, duration_ps);
	builder_stat_str(e, "kernel_details", "regs:1");
	return e;
}

/* Kernels of one op join, whatever lies between in time; copies are no kernels; another
 * module closes the ops. */
static void test_xla_ops_of_a_stream(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(gpu, 7, "Stream #7(Kernel)", 1);
	static const char *const ops[] = {"fusion.1", "fusion.1", "call::fusion.2", "fusion.1"};
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct builder_stats *e = kernel(line, "k", i * 100000, 50000);
		builder_stat_str(e, "hlo_op", ops[i]);
		builder_stat_str(e, "hlo_module", i < 3 ? "jit_f" : "jit_g");
		builder_stat_uint(e, "program_id", i < 3 ? 3 : 4);
	}
	struct builder_stats *copy = builder_event(line, "MemcpyD2H", 500000, 1000);
	builder_stat_str(copy, "hlo_op", "copy");
	struct derived d = derive_built(b);
	/* The line's clock begins at 1 ns. "call" and "fusion.2" have one span: the inner
	 * one ends a nanosecond earlier. */
	CHECK_LINE(&d, "/device:GPU:0", "XLA Ops - from #7", {"fusion.1", 1000, 150000},
		   {"call", 201000, 50000}, {"fusion.2", 201000, 49000},
		   {"fusion.1", 301000, 50000});
	CHECK_LINE(&d, "/device:GPU:0", "XLA Modules - from #7", {"jit_f(3)", 1000, 250000},
		   {"jit_g(4)", 301000, 50000});
	close_built(&d.o);
}

/* `a/b/c:T` lies in the scopes a and b; its own event is named by the type. */
static void test_framework_ops_and_scopes(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(gpu, 7, "Stream #7(Compute)", 0);
	static const char *const ops[] = {"a/b/c:MatMul", "a/b/d:Relu", "a/e:Add"};
	(void)state;
	for (int i = 0; i < 3; i++)
		builder_stat_str(kernel(line, "k", i * 100000, 50000), "tf_op", ops[i]);
	struct derived d = derive_built(b);
	CHECK_LINE(&d, "/device:GPU:0", "Framework Ops - from #7", {"MatMul", 0, 50000},
		   {"Relu", 100000, 50000}, {"Add", 200000, 50000});
	CHECK_LINE(&d, "/device:GPU:0", "Framework Name Scope - from #7", {"a", 0, 250000},
		   {"b", 0, 150000});
	close_built(&d.o);
}

/* The stream that computes comes first, then the larger; every stream takes six rows. */
static void test_rows_of_streams(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *small = builder_line(gpu, 13, "Stream #13(MemcpyH2D)", 0);
	builder_event(small, "MemcpyH2D", 0, 10);
	struct builder_line *large = builder_line(gpu, 15, "Stream #15(MemcpyD2H)", 0);
	builder_event(large, "MemcpyD2H", 0, 10);
	builder_event(large, "MemcpyD2H", 20, 10);
	struct builder_line *compute = builder_line(gpu, 14, "Stream #14(Compute)", 0);
	builder_stat_str(kernel(compute, "k", 0, 10), "tf_op", "x:Y");
	(void)state;
	struct derived d = derive_built(b);
	const struct tfp_plane *plane = &d.o.capture->planes[0];
	assert_int_equal(tfp_derived_row_of(d.lines, plane, &plane->lines[2]), 1);
	assert_int_equal(tfp_derived_row_of(d.lines, plane, &plane->lines[1]), 7);
	assert_int_equal(tfp_derived_row_of(d.lines, plane, &plane->lines[0]), 13);
	const struct tfp_plane *of;
	const struct tfp_line *ops =
		find_line(d.lines, "/device:GPU:0", "Framework Ops - from #14", &of);
	assert_non_null(ops);
	assert_int_equal(ops->display_id, 3);
	close_built(&d.o);
}

/* A step for each stretch of one group; launches counted by the index of their device. */
static void test_steps_and_launches(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *main = builder_line(host, 1, "main", 0);
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(gpu, 7, "Stream #7(Kernel)", 0);
	(void)state;
	for (int i = 0; i < 2; i++) {
		int64_t at = i * 1000000;
		struct builder_stats *step = builder_event(main, "train", at, 500000);
		builder_stat_int(step, "_r", 1);
		builder_stat_int(step, "step_num", 40 + i);
		for (int k = 0; k < 2; k++) {
			struct builder_stats *launch = builder_event(
				main, "hipLaunch", at + 1000 + k * 10000, 2000000 / 1000 * (k + 1));
			builder_stat_uint(launch, "correlation_id", (uint64_t)(10 * i + k + 1));
			builder_stat_uint(launch, "device_id", 0);
			struct builder_stats *e =
				kernel(line, "k", at + 300000 + k * 100000, 50000);
			builder_stat_uint(e, "correlation_id", (uint64_t)(10 * i + k + 1));
		}
	}
	struct derived d = derive_built(b);
	CHECK_LINE(&d, "/device:GPU:0", "Steps", {"0", 300000, 150000}, {"1", 1300000, 150000});
	CHECK_LINE(&d, "/device:GPU:0", "Launch Stats", {"Launch Stats for train 40", 1000, 14000},
		   {"Launch Stats for train 41", 1001000, 14000});
	const struct tfp_plane *plane;
	const struct tfp_line *stats = find_line(d.lines, "/device:GPU:0", "Launch Stats", &plane);
	const struct tfp_line *steps = find_line(d.lines, "/device:GPU:0", "Steps", &plane);
	assert_non_null(stats);
	assert_non_null(steps);
	struct tfp_stat_iter it = tfp_event_stats(stats, 1);
	struct tfp_stat stat;
	int seen = 0;
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == tfp_plane_stat_id(plane, "num_launches")) {
			assert_int_equal(stat.int_value, 2);
			seen++;
		} else if (stat.metadata_id == tfp_plane_stat_id(plane, "max_launch_time_us")) {
			assert_double(stat.double_value, 0.004);
			seen++;
		} else if (stat.metadata_id == tfp_plane_stat_id(plane, "avg_launch_time_us")) {
			assert_double(stat.double_value, 0.003);
			seen++;
		}
	}
	assert_int_equal(seen, 3);
	it = tfp_event_stats(steps, 1);
	bool named = false;
	while (tfp_stat_next(&it, &stat)) {
		struct tfp_str text;
		if (stat.metadata_id == tfp_plane_stat_id(plane, "step_name") &&
		    tfp_stat_text(plane, &stat, &text)) {
			assert_str(text, "train 41");
			named = true;
		}
	}
	assert_true(named);
	close_built(&d.o);
}

static void add_copy(struct builder_plane *tpu, struct builder_line *line, const char *op,
		     int64_t start_ps, int64_t duration_ps)
{
	char name[64];
	snprintf(name, sizeof(name), "%%%s = f32[8]{0:S(5)} %s()", op, op);
	builder_metadata_display(tpu, name, op);
	builder_event(line, name, start_ps, duration_ps);
}

/* TensorCores: without groups an op joins the last when it begins at most twice that one's
 * length after it. Copies from start to done, in rows that do not overlap. */
static void test_tensor_core(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *tpu = builder_plane(b, 2, "/device:TPU:0");
	struct builder_line *ops = builder_line(tpu, 3, "XLA Ops", 0);
	static const int64_t starts[] = {0, 300, 600, 1700};
	(void)state;
	builder_stat_str(builder_metadata_stats(tpu, "fusion"), "tf_op", "s/x:Add");
	builder_stat_str(builder_metadata_stats(tpu, "fusion"), "source", "f.py:7");
	for (size_t i = 0; i < COUNT(starts); i++)
		builder_event(ops, "fusion", starts[i], 100);
	struct builder_stats *async = builder_event(ops, "fusion", 5000, 100);
	builder_stat_int(async, "_a", 1);
	add_copy(tpu, ops, "copy-start.1", 2000, 10);
	add_copy(tpu, ops, "copy-start.2", 2010, 10);
	add_copy(tpu, ops, "copy-done.1", 2100, 50);
	add_copy(tpu, ops, "copy-done.2", 2150, 50);
	add_copy(tpu, ops, "copy-done.9", 2200, 50); /* it began before the profile */
	add_copy(tpu, ops, "copy-start.1", 2300, 10);
	add_copy(tpu, ops, "copy-done.1", 2400, 50);
	struct derived d = derive_built(b);
	/* 0..100; 300 <= 100 + 200; 0..400; 600 <= 400 + 800; 0..700; 1700 <= 700 + 1400. */
	CHECK_LINE(&d, "/device:TPU:0", "Framework Ops", {"Add", 0, 1800});
	CHECK_LINE(&d, "/device:TPU:0", "Framework Name Scope", {"s", 0, 1800});
	CHECK_LINE(&d, "/device:TPU:0", "Source code", {"f.py:7", 0, 1800});
	CHECK_LINE(&d, "/device:TPU:0", "Host Offload Ops row 0", {"offload-copy.1", 2000, 150},
		   {"offload-copy.1", 2300, 150});
	CHECK_LINE(&d, "/device:TPU:0", "Host Offload Ops row 1", {"offload-copy.2", 2010, 190});
	close_built(&d.o);
}

static void test_regions_of_a_thread_pool(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = builder_line(host, 5, "pool/5", 2);
	(void)state;
	builder_event(line, "ThreadpoolListener::StopRegion", 0, 0); /* of one before */
	struct builder_stats *e = builder_event(line, "ThreadpoolListener::StartRegion", 1000, 0);
	builder_stat_int(e, "_c", 9);
	builder_event(line, "work", 2000, 500);
	builder_event(line, "ThreadpoolListener::StopRegion", 3000, 0);
	builder_event(line, "ThreadpoolListener::StartRegion", 4000, 0); /* without an id */
	builder_event(line, "ThreadpoolListener::StopRegion", 5000, 0);
	struct derived d = derive_built(b);
	CHECK_LINE(&d, "/host:CPU", "pool/5", {"ThreadpoolListener::Region", 3000, 2000});
	close_built(&d.o);
}

/* A capture that was grouped when it was written brings its derived lines along. */
static void test_grouped_captures_are_left_alone(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(gpu, 7, "Stream #7(Kernel)", 0);
	(void)state;
	struct builder_stats *e = kernel(line, "k", 0, 50000);
	builder_stat_str(e, "hlo_op", "op");
	builder_stat_int(e, "group_id", 0);
	struct derived d = derive_built(b);
	assert_int_equal(d.lines->plane_count, 0);
	close_built(&d.o);
}

/* More than the 16 that are sorted by insertion alone; every event once, in order. */
static void test_many_events_of_one_begin(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(gpu, 7, "Stream #7(Kernel)", 0);
	enum { EVENTS = 500 };
	(void)state;
	for (int i = 0; i < EVENTS; i++) {
		char op[16];
		snprintf(op, sizeof(op), "x%d:Y", i);
		builder_stat_str(kernel(line, "k", i / 50 * 1000, 1000 - i % 7), "tf_op", op);
	}
	struct derived d = derive_built(b);
	const struct tfp_plane *plane;
	const struct tfp_line *ops =
		find_line(d.lines, "/device:GPU:0", "Framework Ops - from #7", &plane);
	assert_non_null(ops);
	assert_int_equal(ops->event_count, EVENTS);
	close_built(&d.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xla_ops_of_a_stream),
		cmocka_unit_test(test_framework_ops_and_scopes),
		cmocka_unit_test(test_rows_of_streams),
		cmocka_unit_test(test_steps_and_launches),
		cmocka_unit_test(test_tensor_core),
		cmocka_unit_test(test_regions_of_a_thread_pool),
		cmocka_unit_test(test_grouped_captures_are_left_alone),
		cmocka_unit_test(test_many_events_of_one_begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
