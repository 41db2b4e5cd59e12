/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "base/pool.h"

#include <stdatomic.h>

static atomic_size_t sum;

static void add_context(void *context)
{
	atomic_fetch_add(&sum, *(const size_t *)context);
}

static struct tfp_pool *new_pool(unsigned threads)
{
	struct tfp_pool *pool;
	struct tfp_error err;
	assert_int_equal(tfp_pool_new(&pool, threads, &err), TFP_OK);
	return pool;
}

static void test_submitted_tasks_all_run_before_free(void **state)
{
	size_t one = 1;
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct tfp_pool *pool = new_pool(threads);
		assert_int_equal(tfp_pool_threads(pool), threads);
		atomic_store(&sum, 0);
		for (int i = 0; i < 1000; i++)
			assert_int_equal(tfp_pool_submit(pool, add_context, &one, NULL), TFP_OK);
		tfp_pool_free(pool);
		assert_int_equal(atomic_load(&sum), 1000);
	}
	tfp_pool_free(NULL);
	assert_int_equal(tfp_pool_threads(NULL), 1);
	struct tfp_pool *pool = new_pool(0);
	assert_true(tfp_pool_threads(pool) >= 1);
	tfp_pool_free(pool);
}

struct visits {
	struct tfp_pool *pool;
	atomic_uint count[500];
};

static void visit(void *context, size_t i)
{
	struct visits *v = context;
	atomic_fetch_add(&v->count[i], 1);
}

static void check_for(struct tfp_pool *pool, size_t count)
{
	struct visits v = {.pool = pool};
	tfp_pool_for(pool, count, visit, &v);
	for (size_t i = 0; i < COUNT(v.count); i++)
		assert_int_equal(atomic_load(&v.count[i]), i < count);
}

static void test_for_visits_everything_once(void **state)
{
	static const size_t counts[] = {0, 1, 2, 3, 17, 500};
	(void)state;
	for (unsigned threads = 0; threads <= 3; threads++) {
		struct tfp_pool *pool = threads ? new_pool(threads) : NULL;
		for (size_t c = 0; c < COUNT(counts); c++)
			check_for(pool, counts[c]);
		tfp_pool_free(pool);
	}
}

static void visit_nested(void *context, size_t i)
{
	struct visits *v = context;
	(void)i;
	tfp_pool_for(v->pool, 100, visit, v);
}

static void test_nested_for_ends(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads++) {
		struct visits v = {.pool = new_pool(threads)};
		tfp_pool_for(v.pool, 20, visit_nested, &v);
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(atomic_load(&v.count[i]), 20);
		tfp_pool_free(v.pool);
	}
}

static atomic_bool release_worker;

static void wait_for_release(void *context)
{
	(void)context;
	while (!atomic_load(&release_worker))
		;
}

static void test_for_ends_while_all_threads_are_busy(void **state)
{
	(void)state;
	struct tfp_pool *pool = new_pool(1);
	atomic_store(&release_worker, false);
	assert_int_equal(tfp_pool_submit(pool, wait_for_release, NULL, NULL), TFP_OK);
	check_for(pool, 100);
	atomic_store(&release_worker, true);
	tfp_pool_free(pool);
}

static void test_without_memory(void **state)
{
	struct tfp_error err;
	struct tfp_pool *pool = new_pool(2);
	struct visits v = {.pool = pool};
	(void)state;
	for (uint64_t n = 1; n <= 4; n++) {
		tfp_alloc_fail_at(n);
		tfp_pool_for(pool, 100, visit, &v);
		tfp_alloc_fail_at(0);
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(atomic_load(&v.count[i]), n);
	}
	tfp_alloc_fail_at(1);
	assert_int_equal(tfp_pool_submit(pool, add_context, NULL, &err), TFP_NO_MEMORY);
	struct tfp_pool *none;
	assert_int_equal(tfp_pool_new(&none, 2, &err), TFP_NO_MEMORY);
	tfp_alloc_fail_at(0);
	assert_null(none);
	tfp_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_submitted_tasks_all_run_before_free),
		cmocka_unit_test(test_for_visits_everything_once),
		cmocka_unit_test(test_nested_for_ends),
		cmocka_unit_test(test_for_ends_while_all_threads_are_busy),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
