/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/progress.h"
#include "store/capture_cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define MIB    ((uint64_t)1 << 20)
#define PLENTY (UINT64_C(1) << 30)

static char root[64];
static struct tfp_logdir *dir;

static const char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void put_bytes(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(path_of(name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

/* A capture with so many events on one line. */
static void put_capture(const char *name, int events)
{
	struct builder *b = builder_new();
	struct builder_line *line = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	for (int i = 0; i < events; i++)
		builder_event(line, "op", i * 1000, 500);
	size_t size;
	uint8_t *bytes = builder_bytes(b, &size);
	put_bytes(name, bytes, size);
	free(bytes);
	builder_free(b);
}

static int set_up(void **state)
{
	struct tfp_error err;
	(void)state;
	strcpy(root, "/tmp/tfprof-cache-XXXXXX");
	if (!mkdtemp(root) || tfp_logdir_new(&dir, root, 0, &err) != TFP_OK)
		return -1;
	put_capture("a.xplane.pb", 10);
	put_capture("b.xplane.pb", 20);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tfp_progress_enter(NULL);
	tfp_budget_set_limit(UINT64_MAX);
	tfp_logdir_free(dir);
	unlink(path_of("a.xplane.pb"));
	unlink(path_of("b.xplane.pb"));
	return rmdir(root);
}

static const struct tfp_capture_file file_a = {
	.host = "a", .path = "a.xplane.pb", .name = "a.xplane.pb"};
static const struct tfp_capture_file file_b = {
	.host = "b", .path = "b.xplane.pb", .name = "b.xplane.pb"};

static struct tfp_capture_cache *new_cache(uint64_t limit)
{
	struct tfp_capture_cache *cache;
	struct tfp_error err;
	assert_int_equal(tfp_capture_cache_new(&cache, dir, limit, NULL, &err), TFP_OK);
	return cache;
}

static struct tfp_capture *get(struct tfp_capture_cache *cache, const struct tfp_capture_file *file)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	if (tfp_capture_cache_get(cache, file, &capture, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return capture;
}

/* Gives a file's time back, so that its state seems the same. */
static struct timespec times_of(const char *name)
{
	struct stat st;
	assert_int_equal(stat(path_of(name), &st), 0);
	return st.st_mtim;
}

static void set_time(const char *name, struct timespec modified)
{
	const struct timespec times[2] = {modified, modified};
	assert_int_equal(utimensat(AT_FDCWD, path_of(name), times, 0), 0);
}

static void test_kept(void **state)
{
	(void)state;
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	struct tfp_capture *first = get(cache, &file_a), *again = get(cache, &file_a);
	struct tfp_capture *other = get(cache, &file_b);
	assert_ptr_equal(first, again);
	assert_ptr_not_equal(first, other);
	assert_int_equal(first->event_count, 10);
	assert_int_equal(other->event_count, 20);
	tfp_capture_unref(first);
	tfp_capture_unref(again);
	tfp_capture_cache_free(cache);
	assert_int_equal(other->event_count, 20); /* lives on */
	tfp_capture_unref(other);
	tfp_capture_cache_free(NULL);
}

static void test_a_changed_file_is_read_again(void **state)
{
	(void)state;
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	struct tfp_capture *before = get(cache, &file_a);
	unlink(path_of("a.xplane.pb")); /* the old capture has it mapped */
	put_capture("a.xplane.pb", 11);
	struct tfp_capture *after = get(cache, &file_a);
	assert_int_equal(before->event_count, 10);
	assert_int_equal(after->event_count, 11);
	tfp_capture_unref(before);
	tfp_capture_unref(after);
	tfp_capture_cache_free(cache);
}

static void test_the_least_recently_used_goes(void **state)
{
	(void)state;
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	put_capture("a.xplane.pb", 1000);
	put_capture("b.xplane.pb", 1000);
	struct tfp_capture *a = get(cache, &file_a);
	uint64_t one = tfp_capture_held_bytes(a) + a->bytes.size;
	tfp_capture_unref(a);
	tfp_capture_cache_free(cache);

	cache = new_cache(one * 3 / 2);
	a = get(cache, &file_a);
	struct tfp_capture *b = get(cache, &file_b), *b_again = get(cache, &file_b);
	assert_ptr_equal(b, b_again);
	struct tfp_capture *a_again = get(cache, &file_a);
	assert_ptr_not_equal(a, a_again);
	tfp_capture_unref(a);
	tfp_capture_unref(b);
	tfp_capture_unref(b_again);
	tfp_capture_unref(a_again);
	tfp_capture_cache_free(cache);
}

static void test_too_large_is_served_and_not_kept(void **state)
{
	(void)state;
	struct tfp_capture_cache *cache = new_cache(1);
	struct tfp_capture *first = get(cache, &file_a), *second = get(cache, &file_a);
	assert_ptr_not_equal(first, second);
	assert_int_equal(second->event_count, 10);
	tfp_capture_unref(first);
	tfp_capture_unref(second);
	tfp_capture_cache_free(cache);
}

static void test_errors_are_remembered_until_the_file_changes(void **state)
{
	(void)state;
	struct tfp_capture *capture;
	struct tfp_error err;
	put_bytes("a.xplane.pb", "nonsense!", 9);
	struct timespec modified = times_of("a.xplane.pb");
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	assert_int_equal(tfp_capture_cache_get(cache, &file_a, &capture, &err), TFP_BAD_INPUT);
	assert_string_equal(err.file, "a.xplane.pb");
	assert_null(capture);

	/* Other bytes, which nobody can tell from outside: so it is not read again. */
	put_bytes("a.xplane.pb", "\x22\x07hostnam", 9);
	set_time("a.xplane.pb", modified);
	struct tfp_error again;
	assert_int_equal(tfp_capture_cache_get(cache, &file_a, &capture, &again), TFP_BAD_INPUT);
	assert_string_equal(again.message, err.message);
	assert_int_equal(tfp_capture_cache_get(cache, &file_a, &capture, NULL), TFP_BAD_INPUT);

	put_capture("a.xplane.pb", 3);
	capture = get(cache, &file_a);
	assert_int_equal(capture->event_count, 3);
	tfp_capture_unref(capture);
	tfp_capture_cache_free(cache);
}

static void test_a_missing_file_is_not_remembered(void **state)
{
	(void)state;
	struct tfp_capture *capture;
	struct tfp_error err;
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	unlink(path_of("a.xplane.pb"));
	assert_int_equal(tfp_capture_cache_get(cache, &file_a, &capture, &err), TFP_NOT_FOUND);
	put_capture("a.xplane.pb", 3);
	capture = get(cache, &file_a);
	tfp_capture_unref(capture);
	tfp_capture_cache_free(cache);
}

static struct tfp_capture *visit(struct tfp_capture_cache *cache,
				 const struct tfp_capture_file *file)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	if (tfp_capture_cache_visit(cache, file, &capture, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return capture;
}

static void leave(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
		  struct tfp_capture *capture)
{
	tfp_capture_cache_leave(cache, file, capture, false);
	tfp_capture_unref(capture);
}

/* Whether a capture is in memory: the same one comes again. */
static bool is_kept(struct tfp_capture_cache *cache, const struct tfp_capture_file *file,
		    struct tfp_capture *capture)
{
	struct tfp_capture *now = visit(cache, file);
	bool same = now == capture;
	leave(cache, file, now);
	return same;
}

static void test_visitors_leave_nothing(void **state)
{
	(void)state;
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	/* The capture lives on as long as we hold it: a new one is another. */
	struct tfp_capture *held = tfp_capture_ref(visit(cache, &file_a));
	leave(cache, &file_a, held);
	assert_false(is_kept(cache, &file_a, held));
	tfp_capture_unref(held);
	/* Two visitors share one; it goes with the first who leaves. */
	held = visit(cache, &file_a);
	struct tfp_capture *other = visit(cache, &file_a);
	assert_ptr_equal(held, other);
	tfp_capture_ref(held);
	leave(cache, &file_a, held);
	leave(cache, &file_a, other);
	assert_false(is_kept(cache, &file_a, held));
	tfp_capture_unref(held);
	/* Somebody comes to stay meanwhile. */
	held = visit(cache, &file_a);
	tfp_capture_unref(get(cache, &file_a));
	tfp_capture_ref(held);
	leave(cache, &file_a, held);
	assert_true(is_kept(cache, &file_a, held));
	tfp_capture_unref(held);
	/* It was there before. */
	held = get(cache, &file_b);
	leave(cache, &file_b, visit(cache, &file_b));
	assert_true(is_kept(cache, &file_b, held));
	/* Left by one whose capture is of an older state of the file. */
	tfp_capture_unref(held);
	held = visit(cache, &file_b);
	put_capture("b.xplane.pb", 5);
	struct tfp_capture *newer = get(cache, &file_b);
	tfp_capture_cache_leave(cache, &file_b, held, false);
	assert_true(is_kept(cache, &file_b, newer));
	tfp_capture_unref(newer);
	tfp_capture_unref(held);
	assert_ptr_equal(tfp_capture_cache_dir(cache), dir);
	tfp_capture_cache_free(cache);
}

struct asker {
	struct tfp_capture_cache *cache;
	const struct tfp_capture_file *file;
	struct tfp_capture *capture;
};

static void *ask(void *context)
{
	struct asker *a = context;
	if (tfp_capture_cache_get(a->cache, a->file, &a->capture, NULL) != TFP_OK)
		a->capture = NULL;
	return NULL;
}

static void test_one_load_however_many_ask(void **state)
{
	(void)state;
	put_capture("a.xplane.pb", 20000);
	put_capture("b.xplane.pb", 20000);
	for (int round = 0; round < 10; round++) {
		pthread_t threads[8];
		struct asker askers[COUNT(threads)];
		struct tfp_capture_cache *cache = new_cache(PLENTY);
		for (size_t i = 0; i < COUNT(threads); i++) {
			askers[i] = (struct asker){cache, i % 2 ? &file_b : &file_a, NULL};
			assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
		}
		for (size_t i = 0; i < COUNT(threads); i++) {
			pthread_join(threads[i], NULL);
			assert_non_null(askers[i].capture);
			assert_ptr_equal(askers[i].capture, askers[i % 2].capture);
		}
		for (size_t i = 0; i < COUNT(threads); i++)
			tfp_capture_unref(askers[i].capture);
		tfp_capture_cache_free(cache);
	}
}

static void *ask_often(void *context)
{
	struct asker *a = context;
	for (int i = 0; i < 300; i++) {
		struct tfp_capture *capture;
		const struct tfp_capture_file *file = i % 2 ? &file_a : &file_b;
		if (tfp_capture_cache_get(a->cache, file, &capture, NULL) != TFP_OK)
			return NULL;
		tfp_capture_unref(capture);
	}
	return context;
}

/* Room for one of the two, so that loading, waiting and dropping meet. */
static void test_threads_in_little_room(void **state)
{
	(void)state;
	pthread_t threads[6];
	struct tfp_capture_cache *cache = new_cache(8000);
	struct asker asker = {cache, NULL, NULL};
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &asker), 0);
	for (size_t i = 0; i < COUNT(threads); i++) {
		void *done;
		pthread_join(threads[i], &done);
		assert_non_null(done);
	}
	tfp_capture_cache_free(cache);
}

/* Captures that somebody uses count, in the table or not; what is not used makes room. */
static void test_the_limit_holds_for_what_is_in_use(void **state)
{
	(void)state;
	put_capture("a.xplane.pb", 20000);
	put_capture("b.xplane.pb", 20000);
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	struct tfp_capture *a = get(cache, &file_a);
	uint64_t one = tfp_capture_held_bytes(a);
	tfp_capture_unref(a);
	tfp_capture_cache_free(cache);

	cache = new_cache(one * 5 / 2);
	a = get(cache, &file_a);
	put_capture("a.xplane.pb", 20001); /* the old one is used on */
	struct tfp_capture *newer = get(cache, &file_a);
	tfp_capture_unref(get(cache, &file_b));
	/* a, the newer a and b are too much together: the last to come stays. */
	assert_int_equal(tfp_capture_cache_stats(cache).resident, 1);
	tfp_capture_unref(newer);
	tfp_capture_cache_free(cache);
	tfp_capture_unref(a); /* it outlives the cache */
}

static void *visit_often(void *context)
{
	struct asker *a = context;
	for (int i = 0; i < 100; i++) {
		struct tfp_capture *capture = visit(a->cache, i % 2 ? &file_a : &file_b);
		leave(a->cache, i % 2 ? &file_a : &file_b, capture);
		if (i % 10 == 0)
			tfp_capture_unref(get(a->cache, &file_a));
	}
	return context;
}

/* Visitors wait for each other, and others for loads; nobody waits for ever. */
static void test_visitors_in_little_room(void **state)
{
	static const uint64_t limits[] = {1, 8000, 3000000, PLENTY};
	(void)state;
	put_capture("a.xplane.pb", 20000);
	put_capture("b.xplane.pb", 20000);
	for (size_t l = 0; l < COUNT(limits); l++) {
		pthread_t threads[6];
		struct tfp_capture_cache *cache = new_cache(limits[l]);
		struct asker asker = {cache, NULL, NULL};
		for (size_t i = 0; i < COUNT(threads); i++)
			assert_int_equal(pthread_create(&threads[i], NULL, visit_often, &asker), 0);
		for (size_t i = 0; i < COUNT(threads); i++) {
			void *done;
			pthread_join(threads[i], &done);
			assert_non_null(done);
		}
		tfp_capture_cache_free(cache);
	}
}

static uint64_t resident(struct tfp_capture_cache *cache)
{
	return tfp_capture_cache_stats(cache).resident;
}

static void test_what_nobody_uses_is_dropped(void **state)
{
	(void)state;
	struct tfp_error err;
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	assert_int_equal(tfp_capture_cache_drop_idle(cache, 1000000, &err), TFP_OK);
	struct tfp_capture *used = get(cache, &file_a);
	tfp_capture_unref(get(cache, &file_b));
	for (int i = 0; i < 2000 && resident(cache) > 1; i++)
		usleep(10000);
	assert_int_equal(resident(cache), 1);
	struct tfp_capture *again = get(cache, &file_a);
	assert_ptr_equal(again, used); /* it is in use all the time */
	tfp_capture_unref(again);
	tfp_capture_unref(used);
	for (int i = 0; i < 2000 && resident(cache) > 0; i++)
		usleep(10000);
	assert_int_equal(resident(cache), 0);
	/* It wakes for those that come later, too. */
	tfp_capture_unref(get(cache, &file_b));
	for (int i = 0; i < 2000 && resident(cache) > 0; i++)
		usleep(10000);
	assert_int_equal(resident(cache), 0);
	tfp_capture_cache_free(cache);
}

/* ---- freeing takes time: nobody waits for it ---- */

static struct asker while_freeing;
static bool came_through;

static enum tfp_status compute_nothing(struct tfp_capture *capture, struct tfp_pool *pool,
				       void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	(void)capture;
	(void)pool;
	(void)err;
	*fact = &came_through;
	*heap_bytes = 0;
	return TFP_OK;
}

/* In the midst of freeing a capture somebody asks for another. */
static void ask_meanwhile(void *fact)
{
	struct timespec until;
	pthread_t thread;
	assert_ptr_equal(fact, &came_through);
	assert_int_equal(pthread_create(&thread, NULL, ask, &while_freeing), 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	came_through = pthread_timedjoin_np(thread, NULL, &until) == 0;
	if (!came_through)
		pthread_detach(thread);
}

static const struct tfp_fact_kind slow_to_free = {compute_nothing, ask_meanwhile};

static void test_freeing_holds_up_nobody(void **state)
{
	const void *fact;
	struct tfp_error err;
	(void)state;
	put_capture("a.xplane.pb", 10);
	put_capture("b.xplane.pb", 20);
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	while_freeing = (struct asker){.cache = cache, .file = &file_b};
	came_through = false;
	struct tfp_capture *a = get(cache, &file_a);
	assert_int_equal(tfp_capture_fact(a, &slow_to_free, NULL, &fact, &err), TFP_OK);
	tfp_capture_unref(a);
	/* Its file has changed: the old one goes. */
	put_capture("a.xplane.pb", 11);
	tfp_capture_unref(get(cache, &file_a));
	assert_true(came_through);
	tfp_capture_unref(while_freeing.capture);
	tfp_capture_cache_free(cache);
}

/* ---- with a budget ---- */

static void test_what_nobody_uses_makes_room(void **state)
{
	struct tfp_account job = {0};
	(void)state;
	put_capture("a.xplane.pb", 20000);
	put_capture("b.xplane.pb", 20000);
	tfp_budget_set_limit(32 * MIB);
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	struct tfp_capture *used = get(cache, &file_a);
	tfp_capture_unref(get(cache, &file_b));
	assert_int_equal(resident(cache), 2);
	uint64_t before = tfp_budget_used();
	assert_true(before > 2 * 20000 * 15); /* columns */
	tfp_account_enter(&job);
	void *work = tfp_malloc(32 * MIB - before);
	assert_null(tfp_malloc(MIB)); /* only one could go */
	tfp_account_enter(NULL);
	assert_non_null(work);
	assert_int_equal(resident(cache), 1);
	tfp_free(work);
	struct tfp_capture *again = get(cache, &file_a);
	assert_ptr_equal(again, used);
	tfp_capture_unref(again);
	tfp_capture_unref(used);
	tfp_capture_cache_free(cache);
}

/* A plane of one name that is nearly all of so many bytes, packed. */
static void put_bomb(const char *name, size_t bytes)
{
	struct builder *b = builder_new();
	size_t size;
	char *text = malloc(bytes + 1);
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	builder_plane(b, 0, text);
	uint8_t *plain = builder_bytes(b, &size);
	size_t room = ZSTD_compressBound(size);
	void *packed = malloc(room);
	size_t packed_size = ZSTD_compress(packed, room, plain, size, 1);
	assert_false(ZSTD_isError(packed_size));
	assert_true(packed_size < bytes / 1000);
	put_bytes(name, packed, packed_size);
	free(packed);
	free(plain);
	free(text);
	builder_free(b);
}

static void test_bombs(void **state)
{
	const struct tfp_capture_file bomb = {.host = "h",
					      .path = "h.xplane.pb.zst",
					      .name = "h.xplane.pb.zst",
					      .compression = TFP_ZSTD};
	struct tfp_progress job = {0};
	struct tfp_capture *capture;
	struct tfp_error err;
	(void)state;
	put_bomb("h.xplane.pb.zst", 48 * MIB);
	struct tfp_capture_cache *cache = new_cache(PLENTY);
	tfp_budget_set_limit(32 * MIB);
	tfp_progress_enter(&job);
	tfp_budget_begin();
	/* Others could have the rest: it may go well another time. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tfp_capture_cache_get(cache, &bomb, &capture, &err),
				 TFP_NO_MEMORY);
		assert_true(tfp_budget_was_short());
		assert_true(tfp_budget_used() < 2 * MIB);
	}
	assert_int_equal(tfp_capture_cache_stats(cache).loads, 2);
	/* Now they have not, and it is not tried once more. */
	tfp_budget_go_alone();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tfp_capture_cache_get(cache, &bomb, &capture, &err),
				 TFP_TOO_LARGE);
		assert_non_null(strstr(err.message, "32 MiB"));
		assert_string_equal(err.file, "h.xplane.pb.zst");
	}
	assert_int_equal(tfp_capture_cache_stats(cache).loads, 3);
	tfp_budget_end();
	tfp_capture_cache_free(cache);
	/* By itself a cache takes what fits its own limit. */
	tfp_budget_set_limit(UINT64_MAX);
	cache = new_cache(16 * MIB);
	assert_int_equal(tfp_capture_cache_get(cache, &bomb, &capture, &err), TFP_TOO_LARGE);
	tfp_capture_cache_free(cache);
	unlink(path_of("h.xplane.pb.zst"));
}

static void test_without_memory(void **state)
{
	(void)state;
	for (uint64_t n = 1;; n++) {
		struct tfp_capture_cache *cache;
		struct tfp_capture *capture = NULL;
		tfp_alloc_fail_at(n);
		enum tfp_status status = tfp_capture_cache_new(&cache, dir, PLENTY, NULL, NULL);
		if (status == TFP_OK)
			status = tfp_capture_cache_get(cache, &file_a, &capture, NULL);
		uint64_t asked = tfp_alloc_count();
		tfp_alloc_fail_at(0);
		if (status != TFP_OK) {
			assert_int_equal(status, TFP_NO_MEMORY);
			if (cache) /* not remembered */
				capture = get(cache, &file_a);
		}
		tfp_capture_unref(capture);
		tfp_capture_cache_free(cache);
		if (asked < n)
			break;
		assert_true(n < 10000);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kept),
		TEST(test_a_changed_file_is_read_again),
		TEST(test_the_least_recently_used_goes),
		TEST(test_too_large_is_served_and_not_kept),
		TEST(test_errors_are_remembered_until_the_file_changes),
		TEST(test_a_missing_file_is_not_remembered),
		TEST(test_visitors_leave_nothing),
		TEST(test_one_load_however_many_ask),
		TEST(test_threads_in_little_room),
		TEST(test_the_limit_holds_for_what_is_in_use),
		TEST(test_visitors_in_little_room),
		TEST(test_what_nobody_uses_is_dropped),
		TEST(test_freeing_holds_up_nobody),
		TEST(test_what_nobody_uses_makes_room),
		TEST(test_bombs),
		TEST(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
