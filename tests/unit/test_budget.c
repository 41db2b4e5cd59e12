/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of memory: what is counted, who is refused, who lets go, who waits for whom. */
#include "testing.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/pool.h"
#include "base/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define MIB ((size_t)1 << 20)
/* What the threads of a test may have in hand beside what they use. */
#define SLACK MIB

static void nap(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	nanosleep(&ms, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	tfp_account_enter(NULL);
	tfp_budget_set_limit(UINT64_MAX);
	return 0;
}

static void test_counts(void **state)
{
	(void)state;
	assert_true(tfp_budget_limit() == UINT64_MAX);
	tfp_budget_set_limit(64 * MIB);
	assert_true(tfp_budget_limit() == 64 * MIB);
	char *a = tfp_malloc(3 * MIB), *b = tfp_calloc(2, MIB);
	assert_in_range(tfp_budget_used(), 5 * MIB, 5 * MIB + SLACK);
	a = tfp_realloc(a, 10 * MIB);
	assert_in_range(tfp_budget_used(), 12 * MIB, 12 * MIB + SLACK);
	a = tfp_realloc(a, 4 * MIB);
	assert_in_range(tfp_budget_used(), 6 * MIB, 6 * MIB + SLACK);
	tfp_free(b);
	tfp_free(a);
	tfp_free(NULL);
	assert_in_range(tfp_budget_used(), 0, SLACK);
	/* Many small ones as few large ones. */
	void *small[4096];
	for (size_t i = 0; i < COUNT(small); i++)
		small[i] = tfp_malloc(1000);
	assert_in_range(tfp_budget_used(), COUNT(small) * 1000, 5 * MIB + SLACK);
	for (size_t i = 0; i < COUNT(small); i++)
		tfp_free(small[i]);
	assert_in_range(tfp_budget_used(), 0, SLACK);
	assert_true(tfp_budget_take(MIB));
	assert_true(tfp_budget_take_mapped(MIB));
	assert_in_range(tfp_budget_used(), 2 * MIB, 2 * MIB + SLACK);
	tfp_budget_give((int64_t)MIB);
	tfp_budget_give_mapped(MIB);
}

static void test_refuses_jobs_only(void **state)
{
	struct tfp_account job = {0}, list = {.small = true};
	struct tfp_error err;
	(void)state;
	tfp_budget_set_limit(16 * MIB);
	void *large = tfp_malloc(40 * MIB); /* of a thread that must not fail */
	assert_non_null(large);
	tfp_free(large);

	tfp_account_enter(&job);
	void *half = tfp_malloc(10 * MIB);
	assert_non_null(half);
	assert_null(tfp_malloc(10 * MIB));
	assert_null(tfp_calloc(10, MIB));
	assert_null(tfp_realloc(half, 20 * MIB));
	assert_false(tfp_budget_take(10 * MIB));
	assert_false(tfp_budget_take_mapped(10 * MIB));
	assert_null(tfp_malloc(SIZE_MAX / 2));
	assert_true(tfp_budget_was_short());
	tfp_fail(&err, TFP_NO_MEMORY, "no memory");
	/* There may be others, as far as it knows. */
	assert_int_equal(tfp_budget_explain(&err), TFP_BUSY);
	assert_non_null(strstr(err.message, "16 MiB"));
	assert_non_null(strstr(err.hint, "--memory-limit"));
	tfp_fail(&err, TFP_IO, "something else");
	assert_int_equal(tfp_budget_explain(&err), TFP_IO);

	/* A list is answered all the same. */
	void *more = tfp_malloc(5 * MIB);
	assert_non_null(more);
	assert_null(tfp_malloc(2 * MIB));
	tfp_account_enter(&list);
	void *reserve = tfp_malloc(MIB);
	assert_non_null(reserve);
	assert_false(tfp_budget_was_short());
	assert_null(tfp_malloc(4 * MIB));
	assert_true(tfp_budget_was_short());
	tfp_account_enter(NULL);
	tfp_fail(&err, TFP_NO_MEMORY, "no memory");
	assert_int_equal(tfp_budget_explain(&err), TFP_NO_MEMORY);
	tfp_free(reserve);
	tfp_free(more);
	tfp_free(half);
}

static void test_alone(void **state)
{
	struct tfp_account job = {0};
	struct tfp_error err;
	(void)state;
	tfp_budget_set_limit(16 * MIB);
	void *others = tfp_malloc(12 * MIB);
	tfp_account_enter(&job);
	tfp_budget_begin();
	assert_null(tfp_malloc(8 * MIB));
	assert_false(tfp_budget_one_by_one());
	tfp_budget_go_alone();
	assert_false(tfp_budget_was_short());
	assert_true(tfp_budget_one_by_one());
	assert_null(tfp_malloc(8 * MIB));
	tfp_fail(&err, TFP_NO_MEMORY, "no memory");
	/* It is not its own fault. */
	assert_int_equal(tfp_budget_explain(&err), TFP_BUSY);

	tfp_account_enter(NULL);
	tfp_free(others);
	tfp_account_enter(&job);
	tfp_budget_go_alone();
	void *most = tfp_malloc(12 * MIB);
	assert_non_null(most);
	/* A file of its own is only mapped. */
	assert_true(tfp_budget_take_mapped(100 * MIB));
	void *rest = tfp_malloc(2 * MIB);
	assert_non_null(rest);
	assert_false(tfp_budget_is_too_large());
	assert_null(tfp_malloc(8 * MIB));
	assert_true(tfp_budget_is_too_large());
	tfp_fail(&err, TFP_NO_MEMORY, "no memory");
	tfp_error_set_file(&err, "large.xplane.pb");
	assert_int_equal(tfp_budget_explain(&err), TFP_TOO_LARGE);
	assert_string_equal(err.file, "large.xplane.pb");
	tfp_budget_give_mapped(100 * MIB);
	tfp_free(rest);
	tfp_free(most);
	tfp_budget_end();
}

/* ---- what is kept only ---- */

struct kept {
	struct tfp_reserve reserve;
	pthread_mutex_t lock;
	void *memory;
	unsigned calls;
};

static void let_go(void *context, uint64_t bytes)
{
	struct kept *kept = context;
	assert_true(bytes > 0);
	kept->calls++;
	if (pthread_mutex_trylock(&kept->lock) != 0)
		return;
	tfp_free(kept->memory);
	kept->memory = NULL;
	pthread_mutex_unlock(&kept->lock);
}

static void test_reserves_let_go(void **state)
{
	struct kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct tfp_account job = {0};
	(void)state;
	tfp_budget_set_limit(16 * MIB);
	kept.reserve = (struct tfp_reserve){.let_go = let_go, .context = &kept};
	tfp_budget_add_reserve(&kept.reserve);
	kept.memory = tfp_malloc(10 * MIB);
	tfp_account_enter(&job);
	void *fits = tfp_malloc(4 * MIB);
	assert_int_equal(kept.calls, 0);
	/* With the lock held, in the midst of its owner's work: refused, and no wait. */
	pthread_mutex_lock(&kept.lock);
	assert_null(tfp_malloc(6 * MIB));
	pthread_mutex_unlock(&kept.lock);
	assert_int_equal(kept.calls, 1);
	void *needs_room = tfp_malloc(6 * MIB);
	assert_non_null(needs_room);
	assert_null(kept.memory);
	/* What another had taken is not given back by this job. */
	assert_in_range(atomic_load(&job.heap_bytes), 10 * MIB, 10 * MIB + SLACK);
	tfp_budget_remove_reserve(&kept.reserve);
	tfp_budget_remove_reserve(&kept.reserve);
	unsigned calls = kept.calls;
	assert_null(tfp_malloc(16 * MIB));
	assert_int_equal(kept.calls, calls);
	tfp_free(fits);
	tfp_free(needs_room);
}

/* ---- several threads ---- */

struct crowd {
	struct tfp_progress job;
	atomic_uint refused;
	atomic_uint_least64_t most;
	atomic_bool on_account;
};

static void take_and_give(void *context, size_t i)
{
	struct crowd *c = context;
	void *held[64] = {0};
	if (tfp_account_current() != &c->job.memory)
		atomic_store(&c->on_account, false);
	for (size_t round = 0; round < 4000; round++) {
		size_t at = (round * 7 + i) % COUNT(held);
		size_t size = round % 50 == 0 ? MIB : 500 * (round % 40);
		tfp_free(held[at]);
		held[at] = tfp_malloc(size);
		if (!held[at])
			atomic_fetch_add(&c->refused, 1);
		uint64_t used = tfp_budget_used(), most = atomic_load(&c->most);
		while (used > most && !atomic_compare_exchange_weak(&c->most, &most, used))
			;
	}
	for (size_t at = 0; at < COUNT(held); at++)
		tfp_free(held[at]);
}

static void test_threads_of_a_pool(void **state)
{
	struct crowd crowd = {.on_account = true};
	struct tfp_pool *pool;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_pool_new(&pool, 4, &err), TFP_OK);
	tfp_budget_set_limit(MIB);
	tfp_progress_enter(&crowd.job);
	tfp_pool_for(pool, 16, take_and_give, &crowd);
	tfp_progress_enter(NULL);
	tfp_pool_free(pool);
	assert_true(atomic_load(&crowd.on_account));
	assert_true(atomic_load(&crowd.refused) > 0);
	assert_true(atomic_load(&crowd.job.memory.refused));
	assert_true(atomic_load(&crowd.most) <= MIB);
	assert_in_range(tfp_budget_used(), 0, 128 << 10); /* in this thread's hand */
}

struct turn {
	atomic_uint working, alone, most_working;
	atomic_bool together; /* another job worked beside the one that was alone */
};

static void *work(void *context)
{
	struct turn *turn = context;
	struct tfp_account job = {0};
	tfp_account_enter(&job);
	for (int i = 0; i < 20; i++) {
		tfp_budget_begin();
		unsigned n = atomic_fetch_add(&turn->working, 1) + 1;
		if (n > atomic_load(&turn->most_working))
			atomic_store(&turn->most_working, n);
		if (atomic_load(&turn->alone))
			atomic_store(&turn->together, true);
		nap();
		atomic_fetch_sub(&turn->working, 1);
		if (i % 4 == 0) {
			tfp_budget_go_alone();
			if (atomic_fetch_add(&turn->alone, 1) || atomic_load(&turn->working))
				atomic_store(&turn->together, true);
			nap();
			atomic_fetch_sub(&turn->alone, 1);
		}
		tfp_budget_end();
	}
	tfp_account_enter(NULL);
	return NULL;
}

static void test_one_alone_among_others(void **state)
{
	struct turn turn = {0};
	pthread_t threads[6];
	(void)state;
	tfp_budget_set_limit(64 * MIB);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &turn), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_false(atomic_load(&turn.together));
	assert_true(atomic_load(&turn.most_working) > 1);
}

static atomic_uint strangers;

static void rest_a_little(void *context, size_t i)
{
	(void)context;
	(void)i;
	nanosleep(&(struct timespec){0, 2000000}, NULL);
}

static void look_at_account(void *context)
{
	(void)context;
	if (tfp_account_current() || tfp_progress_current())
		atomic_fetch_add(&strangers, 1);
}

/* Threads that helped a job have no account of it afterwards: it is gone by then. */
static void test_helpers_keep_no_account(void **state)
{
	struct tfp_pool *pool;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_pool_new(&pool, 3, &err), TFP_OK);
	struct tfp_progress job = {0};
	struct tfp_progress *before = tfp_progress_enter(&job);
	tfp_pool_for(pool, 24, rest_a_little, NULL);
	tfp_progress_enter(before);
	for (int i = 0; i < 30; i++)
		assert_int_equal(tfp_pool_submit(pool, look_at_account, NULL, NULL), TFP_OK);
	tfp_pool_free(pool);
	assert_int_equal(atomic_load(&strangers), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_counts, tear_down),
		cmocka_unit_test_teardown(test_refuses_jobs_only, tear_down),
		cmocka_unit_test_teardown(test_alone, tear_down),
		cmocka_unit_test_teardown(test_reserves_let_go, tear_down),
		cmocka_unit_test_teardown(test_threads_of_a_pool, tear_down),
		cmocka_unit_test_teardown(test_helpers_keep_no_account, tear_down),
		cmocka_unit_test_teardown(test_one_alone_among_others, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
