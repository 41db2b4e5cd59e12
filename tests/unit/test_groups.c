/*
 * Groups of events. The first two cases are facts from the peers' own unit
 * tests (op_stats.md 9b); the others follow preprocess.md C.
 */
#include "testing.h"

#include "analysis/groups.h"

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
			builder_event(part ? other : line,
				      (const char *const[]){"a0", "a1", "b0", "b1"}[2 * part +
										      iteration],
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
	};
	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
