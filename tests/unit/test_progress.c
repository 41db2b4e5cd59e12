/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/pool.h"
#include "base/progress.h"

#include <string.h>
#include <time.h>

static void test_nothing_without_a_job(void **state)
{
	(void)state;
	assert_null(tfp_progress_current());
	assert_false(tfp_cancelled());
	tfp_progress_add_bytes(1);
	tfp_progress_expect_bytes(1);
	tfp_progress_add_events(1);
	tfp_progress_expect_hosts(1);
	tfp_progress_add_host();
	tfp_progress_partial();
	assert_int_equal(tfp_progress_stage(TFP_STAGE_READING), TFP_STAGE_READING);
}

static void test_stages_have_names(void **state)
{
	(void)state;
	assert_string_equal(tfp_stage_name(TFP_STAGE_WAITING), "waiting");
	assert_string_equal(tfp_stage_name(TFP_STAGE_READING), "reading");
	assert_string_equal(tfp_stage_name(TFP_STAGE_GROUPING), "grouping");
	assert_string_equal(tfp_stage_name(TFP_STAGE_ANALYSING), "analysing");
	assert_string_equal(tfp_stage_name(TFP_STAGE_WRITING), "writing");
}

static void add_one(void *context, size_t i)
{
	(void)context;
	tfp_progress_add_events(i);
}

static void test_helpers_report_for_the_job(void **state)
{
	struct tfp_progress p = {0};
	struct tfp_pool *pool;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_pool_new(&pool, 3, &err), TFP_OK);
	assert_null(tfp_progress_enter(&p));
	tfp_pool_for(pool, 1000, add_one, NULL);
	assert_ptr_equal(tfp_progress_enter(NULL), &p);
	assert_int_equal(atomic_load(&p.events), 999 * 1000 / 2);
	/* A loop without a job is not counted for the last one. */
	tfp_pool_for(pool, 1000, add_one, NULL);
	assert_int_equal(atomic_load(&p.events), 999 * 1000 / 2);
	tfp_pool_free(pool);
}

static void test_stop_is_for_good(void **state)
{
	struct tfp_progress p = {0};
	struct tfp_error err;
	(void)state;
	tfp_progress_enter(&p);
	assert_false(tfp_cancelled());
	atomic_store(&p.unwanted, true);
	atomic_store(&p.needed_by, 1);
	assert_false(tfp_cancelled());
	atomic_store(&p.needed_by, 0);
	assert_true(tfp_cancelled());
	/* Work that was left undone stays undone. */
	atomic_store(&p.needed_by, 1);
	assert_true(tfp_cancelled());
	assert_int_equal(tfp_fail_cancelled(&err), TFP_CANCELLED);
	assert_int_equal(err.status, TFP_CANCELLED);
	tfp_progress_enter(NULL);
}

struct thing {
	pthread_mutex_t lock;
	pthread_cond_t made;
	struct tfp_making making;
	bool done;
};

static void *wait_for_it(void *context)
{
	struct thing *t = context;
	struct tfp_progress mine = {0};
	bool wanted = true;
	tfp_progress_enter(&mine);
	pthread_mutex_lock(&t->lock);
	while (wanted && !t->done)
		wanted = tfp_making_wait(&t->making, &t->made, &t->lock);
	pthread_mutex_unlock(&t->lock);
	tfp_progress_enter(NULL);
	/* As far as the maker had come when one last looked. */
	return wanted && atomic_load(&mine.bytes_done) <= 7 ? t : NULL;
}

static void nap(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	nanosleep(&ms, NULL);
}

static void test_a_maker_goes_on_for_those_who_wait(void **state)
{
	struct thing t = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct tfp_progress p = {0};
	pthread_t id;
	void *result;
	(void)state;
	tfp_making_init_condition(&t.made);
	tfp_progress_enter(&p);
	tfp_progress_add_bytes(7);
	pthread_mutex_lock(&t.lock);
	tfp_making_begin(&t.making);
	pthread_mutex_unlock(&t.lock);
	assert_int_equal(pthread_create(&id, NULL, wait_for_it, &t), 0);
	while (atomic_load(&p.needed_by) == 0)
		nap();
	pthread_mutex_lock(&t.lock);
	/* With the lock no thread comes or goes: the one that waits is counted. */
	bool counted = t.making.waiting == 1 && atomic_load(&p.needed_by) == 1;
	atomic_store(&p.unwanted, true);
	bool stops = counted && tfp_cancelled();
	tfp_making_end(&t.making);
	t.done = true;
	pthread_cond_broadcast(&t.made);
	pthread_mutex_unlock(&t.lock);
	assert_int_equal(pthread_join(id, &result), 0);
	assert_true(counted);
	assert_false(stops);
	assert_ptr_equal(result, &t);
	/* Now that it is made nobody needs it. */
	assert_int_equal(atomic_load(&p.needed_by), 0);
	assert_true(tfp_cancelled());
	tfp_progress_enter(NULL);
	pthread_cond_destroy(&t.made);
}

static void test_who_is_unwanted_waits_no_longer(void **state)
{
	struct thing t = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct tfp_progress p = {0};
	(void)state;
	tfp_making_init_condition(&t.made);
	atomic_store(&p.unwanted, true);
	tfp_progress_enter(&p);
	pthread_mutex_lock(&t.lock);
	assert_false(tfp_making_wait(&t.making, &t.made, &t.lock));
	assert_int_equal(t.making.waiting, 0);
	pthread_mutex_unlock(&t.lock);
	tfp_progress_enter(NULL);
	pthread_cond_destroy(&t.made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_without_a_job),
		cmocka_unit_test(test_stages_have_names),
		cmocka_unit_test(test_helpers_report_for_the_job),
		cmocka_unit_test(test_stop_is_for_good),
		cmocka_unit_test(test_a_maker_goes_on_for_those_who_wait),
		cmocka_unit_test(test_who_is_unwanted_waits_no_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
