/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers computed by hand from the rules of op_stack.h and of TensorFlow 2.x. */
#include "ops.h"

#include "analysis/ops/host_ops.h"
#include "base/pool.h"

static struct builder *b;
static struct builder_plane *host;

static struct builder_line *thread(int64_t id)
{
	if (!b) {
		b = builder_new();
		host = builder_plane(b, 0, "/host:CPU");
	}
	return builder_line(host, id, "thread", 1000 * id);
}

static struct tfp_op_db compute(void)
{
	struct opened o = open_built(b);
	struct tfp_op_db db;
	struct tfp_error err;
	b = NULL;
	tfp_op_db_init(&db);
	assert_int_equal(tfp_host_ops(o.capture, NULL, NULL, &db, &err), TFP_OK);
	close_built(&o);
	return db;
}

static void test_nesting(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "outer:Outer", 0, 100);
	builder_event(l, "middle:Middle", 10, 50);
	builder_event(l, "inner:Inner", 20, 5);
	builder_event(l, "inner:Inner", 30, 7);
	builder_event(l, "second:Second", 70, 20);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "outer", "Outer", 1, 100, 30}, {0, "middle", "Middle", 1, 50, 38},
		   {0, "inner", "Inner", 2, 12, 12}, {0, "second", "Second", 1, 20, 20},
		   {0, "IDLE", "IDLE", 0, 0, 0});
	assert_int_equal(db.total_time_ps, 100);
	assert_int_equal(db.total_op_time_ps, 100);
	tfp_op_db_release(&db);
}

static void test_idle_between_ops(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "not an op", 0, 1000);
	builder_event(l, "a:A", 100, 10);
	builder_event(l, "a:A", 110, 10); /* begins where the other ends */
	builder_event(l, "b:B", 150, 50);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "a", "A", 2, 20, 20}, {0, "b", "B", 1, 50, 50},
		   {0, "IDLE", "IDLE", 0, 30, 30});
	assert_int_equal(db.total_time_ps, 100);
	assert_int_equal(db.total_op_time_ps, 70);
	tfp_op_db_release(&db);
}

/* The outer op's end comes first in the list of activities, so it closes and
 * takes the inner one off the stack: the inner one is lost, and its time stays with the outer. */
static void test_equal_ends(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "outer:Outer", 0, 100);
	builder_event(l, "inner:Inner", 60, 40);
	builder_event(l, "next:Next", 100, 10);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "outer", "Outer", 1, 100, 100}, {0, "next", "Next", 1, 10, 10},
		   {0, "IDLE", "IDLE", 0, 0, 0});
	assert_int_equal(db.total_time_ps, 110);
	tfp_op_db_release(&db);
}

/* The end of the lost op finds nothing and empties the stack: ops that were open
 * around both are lost as well. */
static void test_equal_ends_within_another(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "around:Around", 0, 200);
	builder_event(l, "outer:Outer", 10, 90);
	builder_event(l, "inner:Inner", 60, 40);
	builder_event(l, "after:After", 150, 10);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "outer", "Outer", 1, 90, 90}, {0, "after", "After", 1, 10, 10},
		   {0, "IDLE", "IDLE", 0, 100, 100});
	assert_int_equal(db.total_time_ps, 200);
	assert_int_equal(db.total_op_time_ps, 100);
	tfp_op_db_release(&db);
}

/* The first one's end takes the second off the stack, too. */
static void test_overlap_without_nesting(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "first:First", 0, 50);
	builder_event(l, "second:Second", 30, 50);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "first", "First", 1, 50, 50}, {0, "IDLE", "IDLE", 0, 30, 30});
	tfp_op_db_release(&db);
}

static void test_instant_op(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "a:A", 0, 10);
	builder_event(l, "now:Now", 4, 0);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "a", "A", 1, 10, 10}, {0, "now", "Now", 1, 0, 0},
		   {0, "IDLE", "IDLE", 0, 0, 0});
	tfp_op_db_release(&db);
}

static void test_threads_are_added_up(void **state)
{
	struct tfp_pool *pool;
	struct tfp_error err;
	struct tfp_op_db db;
	(void)state;
	for (int64_t id = 1; id <= 5; id++) {
		struct builder_line *l = thread(id);
		builder_event(l, "a:A", 0, 10);
		builder_event(l, "b:B", 10 + id, 10);
	}
	builder_event(thread(6), "not an op", 0, 1000);
	/* A derived line repeats what is counted already. */
	builder_event(thread(-559038734), "a:A", 0, 1000);
	struct opened o = open_built(b);
	b = NULL;
	tfp_op_db_init(&db);
	assert_int_equal(tfp_pool_new(&pool, 2, &err), TFP_OK);
	assert_int_equal(tfp_host_ops(o.capture, NULL, pool, &db, &err), TFP_OK);
	tfp_pool_free(pool);
	close_built(&o);
	ASSERT_OPS(&db, {0, "a", "A", 5, 50, 50}, {0, "b", "B", 5, 50, 50},
		   {0, "IDLE", "IDLE", 0, 15, 15});
	assert_int_equal(db.total_time_ps, 115);
	assert_int_equal(db.total_op_time_ps, 100);
	tfp_op_db_release(&db);
}

static void test_iterators(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_event(l, "Iterator::Root", 0, 30);
	builder_event(l, "Iterator::Root::Map", 5, 10);
	builder_event(l, "IteratorGetNext:IteratorGetNext", 40, 10);
	builder_event(l, "MEMCPYHtoD", 50, 10);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "Iterator::Root", "Dataset", 1, 30, 20},
		   {0, "Iterator::Root::Map", "Dataset", 1, 10, 10},
		   {0, "IteratorGetNext", "IteratorGetNext", 1, 10, 10},
		   {0, "MEMCPYHtoD", "MemcpyHToD", 1, 10, 10}, {0, "IDLE", "IDLE", 0, 10, 10});
	tfp_op_db_release(&db);
}

static void test_input_stages(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	struct builder_stats *e = builder_event(l, "load", 0, 30);
	builder_stat_int(e, "_ipl_stage_id", 4);
	builder_stat_str(e, "_ipl_stage_cat", "Reading");
	e = builder_event(l, "load", 30, 10);
	builder_stat_uint(e, "_ipl_stage_id", 5);
	builder_stat_ref(e, "_ipl_stage_cat", "Preprocessing");
	/* Without a category it is no op, whatever its name. */
	e = builder_event(l, "a:A", 40, 10);
	builder_stat_int(e, "_ipl_stage_id", 6);
	builder_event(l, "a:A", 50, 10);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {4, "load", "Reading", 1, 30, 30}, {5, "load", "Preprocessing", 1, 10, 10},
		   {0, "a", "A", 1, 10, 10}, {0, "IDLE", "IDLE", 0, 10, 10});
	tfp_op_db_release(&db);
}

static void test_eager_is_true_when_once_true(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_stat_int(builder_event(l, "a:A", 0, 10), "is_eager", 1);
	builder_stat_int(builder_event(l, "a:A", 20, 10), "is_eager", 0);
	builder_stat_uint(builder_event(l, "b:B", 30, 10), "is_eager", 1);
	builder_stat_int(builder_event(l, "c:C", 40, 10), "is_eager", 0);
	struct tfp_op_db db = compute();
	assert_true(find_op(&db, 0, "a")->is_eager);
	assert_true(find_op(&db, 0, "b")->is_eager);
	assert_false(find_op(&db, 0, "c")->is_eager);
	tfp_op_db_release(&db);
}

static void test_tf_op_on_the_host_plays_no_part(void **state)
{
	struct builder_line *l = thread(1);
	(void)state;
	builder_stat_str(builder_event(l, "cuLaunchKernel", 0, 10), "tf_op", "a/MatMul:MatMul");
	builder_stat_str(builder_event(l, "MemoryAllocation", 20, 0), "tf_op", "XlaModule:");
	builder_event(l, "b:B", 30, 10);
	struct tfp_op_db db = compute();
	ASSERT_OPS(&db, {0, "b", "B", 1, 10, 10}, {0, "IDLE", "IDLE", 0, 0, 0});
	tfp_op_db_release(&db);
}

static void test_no_host_plane(void **state)
{
	(void)state;
	b = builder_new();
	builder_event(builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "l", 0), "a:A", 0, 1);
	struct tfp_op_db db = compute();
	assert_int_equal(db.count, 0);
	assert_int_equal(db.total_time_ps, 0);
	tfp_op_db_release(&db);
}

static size_t visited;

static void visit(void *context, const struct tfp_plane *plane, const struct tfp_line *line,
		  size_t event, struct tfp_str name, struct tfp_str type)
{
	(void)context;
	(void)plane;
	visited++;
	assert_str(name, visited == 1 ? "a" : "stage");
	assert_str(type, visited == 1 ? "A" : "Reading");
	assert_int_equal(tfp_event_duration_ps(line, event), visited == 1 ? 10 : 20);
}

static void test_events_of_ops(void **state)
{
	struct builder_line *l = thread(1);
	struct tfp_error err;
	(void)state;
	builder_event(l, "nothing", 0, 5);
	builder_event(l, "a:A", 10, 10);
	struct builder_stats *e = builder_event(l, "stage", 30, 20);
	builder_stat_int(e, "_ipl_stage_id", 1);
	builder_stat_str(e, "_ipl_stage_cat", "Reading");
	builder_event(thread(-559038737), "a:A", 10, 10);
	struct opened o = open_built(b);
	b = NULL;
	visited = 0;
	assert_int_equal(tfp_host_op_events(o.capture, visit, NULL, &err), TFP_OK);
	assert_int_equal(visited, 2);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_idle_between_ops),
		cmocka_unit_test(test_equal_ends),
		cmocka_unit_test(test_equal_ends_within_another),
		cmocka_unit_test(test_overlap_without_nesting),
		cmocka_unit_test(test_instant_op),
		cmocka_unit_test(test_threads_are_added_up),
		cmocka_unit_test(test_iterators),
		cmocka_unit_test(test_input_stages),
		cmocka_unit_test(test_eager_is_true_when_once_true),
		cmocka_unit_test(test_tf_op_on_the_host_plays_no_part),
		cmocka_unit_test(test_no_host_plane),
		cmocka_unit_test(test_events_of_ops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
