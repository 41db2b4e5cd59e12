/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of events. The first two cases are facts from the peers' own unit
 * tests (op_stats.md 9b); the others follow preprocess.md C.
 */
#include "testing.h"

#include "analysis/grouping/capture_groups.h"

struct grouped {
	struct opened o;
	const struct tfp_groups *groups;
};

static struct grouped group_built(struct builder *b)
{
	struct grouped g = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_groups_get(g.o.capture, NULL, &g.groups, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return g;
}

/* Where the only event of that name is; the names in these captures are unique. */
static void find(const struct grouped *g, const char *name, size_t at[3])
{
	for (size_t p = 0; p < g->o.capture->plane_count; p++) {
		const struct tfp_plane *plane = &g->o.capture->planes[p];
		for (size_t l = 0; l < plane->line_count; l++) {
			for (size_t i = 0; i < plane->lines[l].event_count; i++) {
				if (!tfp_str_equal(tfp_event_meta(plane, &plane->lines[l], i)->name,
						   name))
					continue;
				at[0] = p;
				at[1] = l;
				at[2] = i;
				return;
			}
		}
	}
	fail_msg("there is no event \"%s\"", name);
}

static int group_of(const struct grouped *g, const char *name)
{
	size_t at[3] = {0};
	find(g, name, at);
	return tfp_group_of(g->groups, at[0], at[1], at[2]);
}

static enum tfp_eager eager_of(const struct grouped *g, const char *name)
{
	size_t at[3] = {0};
	find(g, name, at);
	return tfp_eager_of(g->groups, at[0], at[1], at[2]);
}

static bool is_named(const struct grouped *g, const char *name)
{
	size_t at[3] = {0};
	find(g, name, at);
	return tfp_event_is_named(g->groups, at[0], at[1], at[2]);
}

static void test_function_on_another_thread(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = builder_line(host, 0, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "TraceContext", 0, 100), "step_num", 123);
	struct builder_stats *run = builder_event(line, "FunctionRun", 10, 90);
	builder_stat_int(run, "id", 0);
	builder_stat_int(run, "_pt", 1);
	builder_stat_int(run, "_p", 0);
	line = builder_line(host, 1, "executor", 0);
	struct builder_stats *process = builder_event(line, "ExecutorState::Process", 20, 80);
	builder_stat_int(process, "id", 0);
	builder_stat_int(process, "_ct", 1);
	builder_stat_int(process, "_c", 0);
	builder_event(line, "matmul", 30, 70);
	struct grouped g = group_built(b);
	assert_false(g.groups->from_file);
	assert_int_equal(g.groups->group_count, 1);
	assert_str(g.groups->groups[0].name, "TraceContext 123");
	assert_int_equal(group_of(&g, "TraceContext"), 0);
	assert_int_equal(group_of(&g, "FunctionRun"), 0);
	assert_int_equal(group_of(&g, "ExecutorState::Process"), 0);
	assert_int_equal(group_of(&g, "matmul"), 0);
	assert_true(is_named(&g, "TraceContext"));
	assert_false(is_named(&g, "FunctionRun"));
	close_built(&g.o);
}

static void test_launch_reaches_the_gpu(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(host, 0, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "TraceContext", 0, 100), "step_num", 123);
	struct builder_stats *run = builder_event(line, "FunctionRun", 10, 90);
	builder_stat_int(run, "_pt", 1);
	builder_stat_int(run, "_p", 0);
	line = builder_line(host, 1, "executor", 0);
	struct builder_stats *process = builder_event(line, "ExecutorState::Process", 20, 20);
	builder_stat_int(process, "_ct", 1);
	builder_stat_int(process, "_c", 0);
	builder_stat_int(builder_event(line, "launch", 30, 10), "correlation_id", 100);
	line = builder_line(gpu, 13, "Stream #13", 0);
	builder_event(line, "before", 5, 1);
	/* Stored under another integer type, as CUPTI's is. */
	builder_stat_uint(builder_event(line, "kernel", 50, 40), "correlation_id", 100);
	builder_event(line, "after", 95, 1);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 1);
	assert_int_equal(group_of(&g, "kernel"), 0);
	/* What nothing launched belongs to what ran last; the first has nothing before it. */
	assert_int_equal(group_of(&g, "before"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "after"), 0);
	assert_int_equal(eager_of(&g, "kernel"), TFP_EAGER_NO);
	close_built(&g.o);
}

static void test_levels_and_order(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "main", 0);
	(void)state;
	/* Processed: level 2 first, then level 1 by start. The root within one of
	 * its own level gets no group of its own; the one within level 1 does,
	 * because it comes first. */
	builder_stat_int(builder_event(line, "late", 500, 100), "_r", 1);
	builder_stat_int(builder_event(line, "train", 0, 400), "_r", 1);
	builder_stat_int(builder_event(line, "inner", 10, 100), "_r", 1);
	builder_stat_int(builder_event(line, "batch", 200, 100), "_r", 2);
	builder_event(line, "work", 220, 10);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 3);
	assert_int_equal(group_of(&g, "batch"), 0);
	assert_int_equal(group_of(&g, "work"), 0);
	assert_int_equal(group_of(&g, "train"), 1);
	assert_int_equal(group_of(&g, "inner"), 1);
	assert_int_equal(group_of(&g, "late"), 2);
	assert_str(g.groups->groups[0].name, "batch 0");
	assert_true(is_named(&g, "train"));
	assert_false(is_named(&g, "inner"));
	close_built(&g.o);
}

static void test_names(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "main", 0);
	(void)state;
	struct builder_stats *e = builder_event(line, "train", 0, 10);
	builder_stat_int(e, "_r", 1);
	builder_stat_int(e, "step_num", 7);
	e = builder_event(line, "serve", 20, 10);
	builder_stat_int(e, "_r", 1);
	builder_stat_ref(e, "graph_type", "inference");
	builder_stat_int(e, "iter_num", 41);
	builder_stat_int(builder_event(line, "SessionRun", 40, 10), "_r", 1);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 3);
	assert_str(g.groups->groups[0].name, "train 7");
	assert_str(g.groups->groups[1].name, "inference 41");
	assert_str(g.groups->groups[2].name, "2");
	assert_false(is_named(&g, "SessionRun"));
	close_built(&g.o);
}

static void test_loops(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = builder_line(host, 0, "one", 0);
	struct builder_line *other = builder_line(host, 1, "two", 0);
	(void)state;
	/* With a loop the marked root counts for nothing. */
	builder_stat_int(builder_event(line, "marked", 300, 100), "_r", 1);
	for (int iteration = 0; iteration < 2; iteration++) {
		for (int part = 0; part < 2; part++) {
			struct builder_stats *e =
				builder_event(part ? other : line, "ExecutorState::Process",
					      100 * iteration + 10 * part, 50);
			builder_stat_int(e, "id", 9);
			builder_stat_int(e, "iter_num", iteration);
			builder_event(
				part ? other : line,
				(const char *const[]){"a0", "a1", "b0", "b1"}[2 * part + iteration],
				100 * iteration + 10 * part + 1, 5);
		}
	}
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 2);
	assert_int_equal(group_of(&g, "a0"), 0);
	assert_int_equal(group_of(&g, "b0"), 0);
	assert_int_equal(group_of(&g, "a1"), 1);
	assert_int_equal(group_of(&g, "b1"), 1);
	assert_int_equal(group_of(&g, "marked"), TFP_NO_GROUP);
	close_built(&g.o);
}

static void test_loops_that_nobody_understands(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "train", 0, 100), "_r", 1);
	builder_event(line, "WhileOp-StartBody", 10, 10);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 0);
	assert_int_equal(group_of(&g, "train"), TFP_NO_GROUP);
	close_built(&g.o);
}

static void test_eager(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_plane *gpu = builder_plane(b, 0, "/device:GPU:0");
	struct builder_line *line = builder_line(host, 0, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "EagerExecute", 0, 100), "is_func", 0);
	builder_event(line, "a:MatMul", 10, 50);
	builder_stat_int(builder_event(line, "cuLaunchKernel", 20, 5), "correlation_id", 1);
	builder_stat_int(builder_event(line, "EagerExecute", 200, 100), "is_func", 1);
	builder_event(line, "b:MatMul", 210, 50);
	/* A call of a function within an eager call is not eager. */
	builder_stat_int(builder_event(line, "EagerExecute", 400, 100), "is_func", 0);
	builder_stat_int(builder_event(line, "EagerExecute", 410, 50), "is_func", 1);
	builder_event(line, "c:MatMul", 420, 10);
	builder_event(line, "d:MatMul", 470, 10);
	builder_event(line, "e:MatMul", 600, 10);
	line = builder_line(gpu, 13, "Stream #13", 0);
	builder_stat_uint(builder_event(line, "kernel", 50, 40), "correlation_id", 1);
	struct grouped g = group_built(b);
	assert_int_equal(eager_of(&g, "a:MatMul"), TFP_EAGER_YES);
	assert_int_equal(eager_of(&g, "kernel"), TFP_EAGER_YES);
	assert_int_equal(eager_of(&g, "b:MatMul"), TFP_EAGER_NO);
	assert_int_equal(eager_of(&g, "c:MatMul"), TFP_EAGER_NO);
	assert_int_equal(eager_of(&g, "d:MatMul"), TFP_EAGER_YES);
	assert_int_equal(eager_of(&g, "e:MatMul"), TFP_EAGER_NO);
	close_built(&g.o);
}

static void test_async_events_nest_nowhere(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "train", 0, 100), "_r", 1);
	builder_stat_int(builder_event(line, "async", 10, 50), "_a", 1);
	builder_event(line, "inside", 20, 10);
	struct grouped g = group_built(b);
	assert_int_equal(group_of(&g, "async"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "inside"), 0);
	close_built(&g.o);
}

static void test_runs_of_tf_data_are_no_steps(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "main", 0);
	(void)state;
	builder_stat_int(builder_event(line, "InstantiatedCapturedFunction::Run", 0, 10), "id", 5);
	struct builder_stats *e = builder_event(line, "FunctionRun", 20, 10);
	builder_stat_int(e, "_r", 1);
	builder_stat_int(e, "id", 5);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 0);
	close_built(&g.o);
}

/* As many producers as consumers of one id; groups is what comes of it. */
static void check_crowd(int size, int expected)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = builder_line(host, 0, "main", 0);
	builder_stat_int(builder_event(line, "train", 0, 1000), "_r", 1);
	for (int i = 0; i < size; i++) {
		struct builder_stats *e = builder_event(line, "producer", 1 + i, 1);
		builder_stat_int(e, "_pt", 3);
		builder_stat_int(e, "_p", 77);
	}
	line = builder_line(host, 1, "other", 0);
	for (int i = 0; i < size; i++) {
		struct builder_stats *e = builder_event(line, i ? "consumer" : "first", 2 * i, 1);
		builder_stat_int(e, "_ct", 3);
		builder_stat_int(e, "_c", 77);
	}
	struct grouped g = group_built(b);
	assert_int_equal(group_of(&g, "first"), expected);
	close_built(&g.o);
}

static void test_crowds_connect_nothing(void **state)
{
	(void)state;
	check_crowd(63, 0);
	check_crowd(64, TFP_NO_GROUP);
}

static void test_groups_of_the_file(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 0, "main", 0);
	(void)state;
	struct builder_stats *e = builder_event(line, "train", 0, 100);
	builder_stat_int(e, "group_id", 2);
	builder_stat_ref(e, "step_name", "train 9");
	e = builder_event(line, "a:MatMul", 10, 10);
	builder_stat_uint(e, "group_id", 2);
	builder_stat_int(e, "is_eager", 1);
	builder_event(line, "outside", 200, 10);
	builder_stat_int(builder_event(line, "nonsense", 300, 10), "group_id", -7);
	struct grouped g = group_built(b);
	assert_true(g.groups->from_file);
	assert_int_equal(g.groups->group_count, 3);
	assert_str(g.groups->groups[2].name, "train 9");
	assert_str(g.groups->groups[0].name, "");
	assert_int_equal(group_of(&g, "a:MatMul"), 2);
	assert_int_equal(eager_of(&g, "a:MatMul"), TFP_EAGER_YES);
	assert_int_equal(eager_of(&g, "train"), TFP_EAGER_UNKNOWN);
	assert_int_equal(group_of(&g, "outside"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "nonsense"), TFP_NO_GROUP);
	assert_true(is_named(&g, "train"));
	close_built(&g.o);
}

/* ---- TPU ---- */

static void stat_launch(struct builder_stats *e, int64_t run_id, int64_t core_type)
{
	builder_stat_int(e, "run_id", run_id);
	builder_stat_int(e, "queue_id", 0);
	if (core_type >= 0)
		builder_stat_int(e, "core_type", core_type);
}

/* A marked step on the host enqueues two programs on a core; the device knows the low 27
 * bits of a run's number, the host all of them. Ops belong to the module they overlap. */
static void test_tpu_modules_of_a_host_step(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *tpu = builder_plane(b, 2, "/device:TPU:3");
	struct builder_line *modules = builder_line(tpu, 2, "XLA Modules", 0);
	struct builder_line *ops = builder_line(tpu, 3, "XLA Ops", 0);
	(void)state;
	struct builder_stats *e = builder_event(host, "train", 0, 100);
	builder_stat_int(e, "_r", 1);
	builder_stat_int(e, "step_num", 7);
	for (int run = 0; run < 2; run++) {
		e = builder_event(host, "DoEnqueueProgram", 10 + 20 * run, 5);
		stat_launch(e, (INT64_C(5) << 27) + 40 + run, -1);
		builder_stat_int(e, "device_ordinal", 3);
	}
	stat_launch(builder_event(modules, "before(1)", 0, 50), 39, 0);
	stat_launch(builder_event(modules, "first(2)", 200, 100), 40, 0);
	stat_launch(builder_event(modules, "second(2)", 400, 100), 41, 0);
	stat_launch(builder_event(modules, "other(2)", 600, 100), 41, 1);
	builder_event(ops, "early", 10, 10);
	builder_event(ops, "op1", 220, 10);
	builder_event(ops, "between", 310, 10);
	builder_event(ops, "op2", 390, 20);
	builder_event(ops, "op3", 650, 10);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 1);
	assert_str(g.groups->groups[0].name, "train 7");
	assert_int_equal(group_of(&g, "before(1)"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "first(2)"), 0);
	assert_int_equal(group_of(&g, "second(2)"), 0);
	assert_int_equal(group_of(&g, "other(2)"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "early"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "op1"), 0);
	assert_int_equal(group_of(&g, "between"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "op2"), 0);
	assert_int_equal(group_of(&g, "op3"), TFP_NO_GROUP);
	close_built(&g.o);
}

/* With a line of steps, modules speak for the step that includes them. Consecutive steps
 * of a group are one, which also spans what is between them; a step without a group is
 * none. */
static void test_tpu_steps_of_a_host_step(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *tpu = builder_plane(b, 2, "/device:TPU:0");
	struct builder_line *steps = builder_line(tpu, 1, "Steps", 0);
	struct builder_line *modules = builder_line(tpu, 2, "XLA Modules", 0);
	struct builder_line *ops = builder_line(tpu, 3, "XLA Ops", 0);
	(void)state;
	for (int step = 0; step < 2; step++) {
		struct builder_stats *e =
			builder_event(host, step ? "train b" : "train a", 100 * step, 90);
		builder_stat_int(e, "_r", 1);
		for (int run = 0; run < 2; run++) {
			e = builder_event(host, "DoEnqueueProgram", 100 * step + 10 + 20 * run, 5);
			stat_launch(e, 2 * step + run, 0);
			builder_stat_int(e, "device_ordinal", 0);
		}
	}
	builder_event(steps, "0", 100, 50);
	for (int run = 0; run < 4; run++) {
		builder_event(steps,
			      run == 0   ? "1"
			      : run == 1 ? "2"
			      : run == 2 ? "3"
					 : "4",
			      200 + 100 * run, 80);
		stat_launch(builder_event(modules, "jit_f(1)", 210 + 100 * run, 60), run, 0);
	}
	builder_event(ops, "lost", 110, 10);
	builder_event(ops, "between a", 285, 5); /* merged into the step before */
	builder_event(ops, "in b", 450, 5);
	builder_event(ops, "after", 600, 5);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 2);
	assert_int_equal(group_of(&g, "0"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "1"), 0);
	assert_int_equal(group_of(&g, "2"), 0);
	assert_int_equal(group_of(&g, "3"), 1);
	assert_int_equal(group_of(&g, "4"), 1);
	assert_true(is_named(&g, "1"));
	assert_false(is_named(&g, "2"));
	assert_true(is_named(&g, "3"));
	assert_int_equal(group_of(&g, "lost"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "between a"), 0);
	assert_int_equal(group_of(&g, "in b"), 1);
	assert_int_equal(group_of(&g, "after"), TFP_NO_GROUP);
	close_built(&g.o);
}

/* Nothing of the host reaches the cores: their steps are counted, alike on each, after
 * the groups of the host. A SparseCore is not counted. */
static void test_tpu_steps_alone(void **state)
{
	static const char *const names[3][2] = {{"a0", "a1"}, {"b0", "b1"}, {"c0", "c1"}};
	static const char *const planes[] = {"/device:TPU:0", "/device:TPU:1",
					     "/device:TPU:0 SparseCore 1"};
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	(void)state;
	builder_stat_int(builder_event(host, "train", 0, 10), "_r", 1);
	for (int c = 0; c < 3; c++) {
		struct builder_plane *tpu = builder_plane(b, 2 + c, planes[c]);
		struct builder_line *steps =
			builder_line(tpu, 1, c == 2 ? "Sparse Core Steps" : "Steps", 0);
		builder_event(steps, names[c][0], 100, 50);
		builder_event(steps, names[c][1], 200, 50);
	}
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 3);
	assert_str(g.groups->groups[1].name, "1");
	assert_int_equal(group_of(&g, "a0"), 1);
	assert_int_equal(group_of(&g, "a1"), 2);
	assert_int_equal(group_of(&g, "b0"), 1);
	assert_int_equal(group_of(&g, "b1"), 2);
	assert_int_equal(group_of(&g, "c0"), TFP_NO_GROUP);
	close_built(&g.o);
}

/* One core is reached by the host: then none is counted. The group of an event on a core's other
 * line is given to the step that includes it. */
static void test_tpu_lines_speak_for_the_step(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	struct builder_plane *one = builder_plane(b, 2, "/device:TPU:0");
	struct builder_plane *two = builder_plane(b, 3, "/device:TPU:1");
	struct builder_line *steps = builder_line(one, 1, "Steps", 0);
	struct builder_line *traceme = builder_line(one, 6, "XLA TraceMe", 0);
	(void)state;
	builder_stat_int(builder_event(host, "train", 0, 100), "_r", 1);
	struct builder_stats *e = builder_event(host, "send", 10, 5);
	builder_stat_int(e, "_pt", 9);
	builder_stat_int(e, "_p", 77);
	builder_event(steps, "a0", 100, 50);
	builder_event(steps, "a1", 200, 50);
	e = builder_event(traceme, "receive", 220, 10);
	builder_stat_int(e, "_ct", 9);
	builder_stat_int(e, "_c", 77);
	builder_event(builder_line(two, 1, "Steps", 0), "b0", 100, 50);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 1);
	assert_int_equal(group_of(&g, "a0"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "a1"), 0);
	assert_int_equal(group_of(&g, "receive"), 0);
	assert_int_equal(group_of(&g, "b0"), TFP_NO_GROUP);
	close_built(&g.o);
}

static void test_tpu_runtime_queues(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *main = builder_line(host, 1, "main", 0);
	struct builder_line *worker = builder_line(host, 2, "worker", 0);
	struct builder_line *callbacks = builder_line(host, 3, "callbacks", 0);
	(void)state;
	builder_stat_int(builder_event(main, "train", 0, 100), "_r", 1);
	struct builder_stats *e = builder_event(main, "EnqueueRequestLocked", 10, 5);
	builder_stat_int(e, "request_id", 4);
	builder_stat_int(e, "queue_addr", 1000);
	e = builder_event(worker, "RunProgramRequest", 50, 40);
	builder_stat_int(e, "request_id", 4);
	builder_stat_int(e, "queue_addr", 1000);
	e = builder_event(worker, "CustomWait", 100, 10);
	builder_stat_int(e, "request_id", 4);
	builder_stat_int(e, "queue_addr", 2000);
	e = builder_event(worker, "DoEnqueueProgram", 60, 5);
	stat_launch(e, 9, 0);
	builder_stat_int(e, "device_ordinal", 1);
	e = builder_event(callbacks, "CompleteCallbacks", 200, 5);
	stat_launch(e, 9, -1);
	builder_stat_int(e, "device_ordinal", 1);
	struct grouped g = group_built(b);
	assert_int_equal(group_of(&g, "RunProgramRequest"), 0);
	assert_int_equal(group_of(&g, "CustomWait"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "CompleteCallbacks"), 0);
	close_built(&g.o);
}

/* Between its start and its stop a pool's thread works for the thread that asked. */
static void test_threadpool_regions(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *main = builder_line(host, 1, "main", 0);
	struct builder_line *pool = builder_line(host, 2, "pool", 0);
	(void)state;
	builder_stat_int(builder_event(main, "train", 0, 100), "_r", 1);
	struct builder_stats *e = builder_event(main, "schedule", 10, 5);
	builder_stat_int(e, "_pt", 15);
	builder_stat_int(e, "_p", 3);
	builder_event(pool, "before", 5, 5);
	e = builder_event(pool, "ThreadpoolListener::StartRegion", 20, 0);
	builder_stat_int(e, "_ct", 15);
	builder_stat_int(e, "_c", 3);
	builder_event(pool, "work", 25, 20);
	builder_event(pool, "part", 30, 5);
	builder_event(pool, "ThreadpoolListener::StopRegion", 60, 0);
	builder_event(pool, "later", 70, 5);
	struct grouped g = group_built(b);
	size_t at[3];
	assert_int_equal(group_of(&g, "before"), TFP_NO_GROUP);
	assert_int_equal(group_of(&g, "work"), 0);
	assert_int_equal(group_of(&g, "part"), 0);
	assert_int_equal(group_of(&g, "later"), TFP_NO_GROUP);
	find(&g, "ThreadpoolListener::StartRegion", at);
	const struct tfp_line_groups *line = &g.groups->planes[at[0]][at[1]];
	assert_int_equal(line->region_count, 1);
	assert_int_equal(line->regions[0].event, at[2]);
	assert_int_equal(line->regions[0].end_ps, 60);
	close_built(&g.o);
}

/* Requests lead to the batch that was grouped before them. */
static void test_batches_are_below_requests(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *main = builder_line(host, 1, "main", 0);
	(void)state;
	for (int r = 0; r < 2; r++) {
		struct builder_stats *e = builder_event(main, "BatchingSessionRun", 100 * r, 90);
		builder_stat_int(e, "_pt", 2);
		builder_stat_int(e, "_p", 5);
	}
	struct builder_stats *e =
		builder_event(builder_line(host, 2, "batch", 0), "ProcessBatch", 200, 50);
	builder_stat_int(e, "_ct", 2);
	builder_stat_int(e, "_c", 5);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 3);
	assert_int_equal(group_of(&g, "ProcessBatch"), 0);
	assert_int_equal(g.groups->link_count, 2);
	assert_int_equal(g.groups->links[0].above, 1);
	assert_int_equal(g.groups->links[0].below, 0);
	assert_int_equal(g.groups->links[1].above, 2);
	assert_int_equal(g.groups->links[1].below, 0);
	close_built(&g.o);
}

/* Layers of threads, where everything in one leads to everything in the next: so many ways
 * up that to follow each would never arrive. The root's number is on the topmost event. */
static void test_many_ways_lead_up(void **state)
{
	enum { LAYERS = 8, EVENTS = 20 };
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	(void)state;
	for (int l = 0; l < LAYERS; l++) {
		struct builder_line *line = builder_line(host, l + 1, "thread", 0);
		for (int i = 0; i < EVENTS; i++) {
			struct builder_stats *e = builder_event(line, "work", 100 * i, 50);
			builder_stat_int(e, "_pt", 1);
			builder_stat_int(e, "_p", l);
			if (l > 0) {
				builder_stat_int(e, "_ct", 1);
				builder_stat_int(e, "_c", l - 1);
			} else if (i == 0) {
				builder_stat_int(e, "iter_num", 77);
			}
		}
	}
	struct builder_stats *root =
		builder_event(builder_line(host, LAYERS + 1, "last", 0), "Bottom", 3000, 10);
	builder_stat_int(root, "_r", 1);
	builder_stat_int(root, "_ct", 1);
	builder_stat_int(root, "_c", LAYERS - 1);
	struct grouped g = group_built(b);
	assert_int_equal(g.groups->group_count, 1);
	assert_str(g.groups->groups[0].name, "Bottom 77");
	assert_int_equal(group_of(&g, "Bottom"), 0);
	assert_int_equal(group_of(&g, "work"), TFP_NO_GROUP);
	close_built(&g.o);
}

/* The groups put in come out again, whether or not they fill whole blocks; and a column without
 * groups takes no memory. */
static void test_columns_of_groups(void **state)
{
	enum { MOST = 5 * TFP_GROUPS_A_BLOCK };
	static const struct {
		size_t events, lone; /* an event of a group of its own, or MOST */
		int32_t first, second;
		size_t blocks, mixed;
	} cases[] = {
		{MOST, MOST, 3, 3, 5, 0},
		{MOST, MOST, 3, 4, 5, 1},
		{MOST, 0, TFP_NO_GROUP, TFP_NO_GROUP, 5, 1},
		{MOST - 1, MOST - 2, TFP_NO_GROUP, INT32_MAX, 5, 2},
		{3 * TFP_GROUPS_A_BLOCK + 1, 3 * TFP_GROUPS_A_BLOCK, 0, 0, 4, 0},
		{MOST, MOST, TFP_NO_GROUP, TFP_NO_GROUP, 0, 0},
		{0, MOST, 1, 1, 0, 0},
	};
	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct tfp_group_column column = {0};
		struct tfp_group_writer w;
		int32_t want[MOST];
		assert_true(tfp_group_writer_init(&w, &column, cases[c].events));
		for (size_t i = 0; i < cases[c].events; i++) {
			want[i] = i == cases[c].lone ? 7
				  : i < 70           ? cases[c].first
						     : cases[c].second;
			assert_true(tfp_group_writer_add(&w, want[i]));
		}
		assert_true(tfp_group_writer_finish(&w));
		for (size_t i = 0; i < cases[c].events; i++)
			assert_int_equal(tfp_group_in(&column, i), want[i]);
		assert_int_equal(column.block_count, cases[c].blocks);
		assert_int_equal(column.mixed_count, cases[c].mixed);
		assert_true((column.blocks != NULL) == (cases[c].blocks > 0));
		tfp_group_column_release(&column);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_on_another_thread),
		cmocka_unit_test(test_launch_reaches_the_gpu),
		cmocka_unit_test(test_levels_and_order),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_loops_that_nobody_understands),
		cmocka_unit_test(test_eager),
		cmocka_unit_test(test_async_events_nest_nowhere),
		cmocka_unit_test(test_runs_of_tf_data_are_no_steps),
		cmocka_unit_test(test_crowds_connect_nothing),
		cmocka_unit_test(test_groups_of_the_file),
		cmocka_unit_test(test_tpu_modules_of_a_host_step),
		cmocka_unit_test(test_tpu_steps_of_a_host_step),
		cmocka_unit_test(test_tpu_steps_alone),
		cmocka_unit_test(test_tpu_lines_speak_for_the_step),
		cmocka_unit_test(test_tpu_runtime_queues),
		cmocka_unit_test(test_threadpool_regions),
		cmocka_unit_test(test_batches_are_below_requests),
		cmocka_unit_test(test_many_ways_lead_up),
		cmocka_unit_test(test_columns_of_groups),
	};
	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
