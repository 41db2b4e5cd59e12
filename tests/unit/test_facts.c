/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "base/mapped_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static atomic_int computed, freed;
static atomic_bool fail;

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	(void)capture;
	(void)pool;
	atomic_fetch_add(&computed, 1);
	/* Long enough for the others to come and wait. */
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	if (atomic_load(&fail))
		return tfp_fail(err, TFP_INTERNAL, "as asked");
	*fact = tfp_malloc(1);
	*heap_bytes = 1000;
	return TFP_OK;
}

static void free_fact(void *fact)
{
	atomic_fetch_add(&freed, 1);
	tfp_free(fact);
}

static const struct tfp_fact_kind kind = {compute, free_fact}, other_kind = {compute, free_fact};

struct asker {
	struct tfp_capture *capture;
	const void *fact;
	enum tfp_status status;
	struct tfp_error err;
};

static void *ask(void *context)
{
	struct asker *a = context;
	a->status = tfp_capture_fact(a->capture, &kind, NULL, &a->fact, &a->err);
	return NULL;
}

static void ask_all(struct asker *askers, size_t count, struct tfp_capture *capture)
{
	pthread_t threads[16];
	for (size_t i = 0; i < count; i++) {
		askers[i] = (struct asker){.capture = capture};
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static struct opened capture(void)
{
	struct builder *b = builder_new();
	builder_plane(b, 0, "p");
	atomic_store(&computed, 0);
	atomic_store(&freed, 0);
	atomic_store(&fail, false);
	return open_built(b);
}

static void test_computed_once_for_all(void **state)
{
	struct asker askers[8];
	struct opened o = capture();
	uint64_t before = tfp_capture_held_bytes(o.capture);
	(void)state;
	ask_all(askers, COUNT(askers), o.capture);
	assert_int_equal(atomic_load(&computed), 1);
	for (size_t i = 0; i < COUNT(askers); i++) {
		assert_int_equal(askers[i].status, TFP_OK);
		assert_ptr_equal(askers[i].fact, askers[0].fact);
	}
	assert_int_equal(tfp_capture_held_bytes(o.capture), before + 1000);
	close_built(&o);
	assert_int_equal(atomic_load(&freed), 1);
}

static void test_kinds_are_apart(void **state)
{
	struct opened o = capture();
	const void *first, *second;
	(void)state;
	assert_int_equal(tfp_capture_fact(o.capture, &kind, NULL, &first, NULL), TFP_OK);
	assert_int_equal(tfp_capture_fact(o.capture, &other_kind, NULL, &second, NULL), TFP_OK);
	assert_ptr_not_equal(first, second);
	assert_int_equal(atomic_load(&computed), 2);
	close_built(&o);
	assert_int_equal(atomic_load(&freed), 2);
}

static void test_a_failure_is_not_kept(void **state)
{
	struct asker askers[4];
	struct opened o = capture();
	const void *fact;
	(void)state;
	atomic_store(&fail, true);
	ask_all(askers, COUNT(askers), o.capture);
	/* Every one of them tried, as nobody before had an answer. */
	assert_int_equal(atomic_load(&computed), COUNT(askers));
	for (size_t i = 0; i < COUNT(askers); i++) {
		assert_int_equal(askers[i].status, TFP_INTERNAL);
		assert_string_equal(askers[i].err.message, "as asked");
		assert_null(askers[i].fact);
	}
	atomic_store(&fail, false);
	assert_int_equal(tfp_capture_fact(o.capture, &kind, NULL, &fact, NULL), TFP_OK);
	assert_non_null(fact);
	close_built(&o);
	assert_int_equal(atomic_load(&freed), 1);
}

static void test_without_memory(void **state)
{
	struct opened o = capture();
	const void *fact;
	struct tfp_error err;
	(void)state;
	tfp_alloc_fail_at(1);
	assert_int_equal(tfp_capture_fact(o.capture, &kind, NULL, &fact, &err), TFP_NO_MEMORY);
	tfp_alloc_fail_at(0);
	assert_null(fact);
	assert_int_equal(tfp_capture_fact(o.capture, &kind, NULL, &fact, &err), TFP_OK);
	close_built(&o);
}

/* Reads a byte near the end of the file. */
static enum tfp_status compute_from_the_end(struct tfp_capture *capture, struct tfp_pool *pool,
					    void **fact, uint64_t *heap_bytes,
					    struct tfp_error *err)
{
	(void)pool;
	(void)err;
	volatile uint8_t last = capture->bytes.data[capture->bytes.size - 1];
	(void)last;
	*heap_bytes = 1;
	*fact = tfp_malloc(1);
	return TFP_OK;
}

static const struct tfp_fact_kind late_kind = {compute_from_the_end, free_fact};

static void test_a_fact_of_a_file_cut_meanwhile_is_not_kept(void **state)
{
	static char padding[100000];
	struct tfp_capture *cut;
	struct tfp_error err;
	const void *fact;
	size_t size;
	struct builder *b = builder_new();
	(void)state;
	assert_int_equal(tfp_mapped_file_guard(&err), TFP_OK);
	builder_plane(b, 0, "p");
	memset(padding, 'x', sizeof(padding) - 1);
	builder_warning(b, padding);
	uint8_t *bytes = builder_bytes(b, &size);
	builder_free(b);
	int fd = memfd_create("test", 0);
	assert_int_equal(write(fd, bytes, size), size);
	free(bytes);
	assert_int_equal(tfp_capture_open(&cut, fd, "f", TFP_PLAIN, 0, NULL, &err), TFP_OK);
	assert_int_equal(tfp_capture_fact(cut, &late_kind, NULL, &fact, &err), TFP_OK);
	assert_false(tfp_capture_was_cut(cut));
	tfp_capture_unref(cut);

	assert_int_equal(tfp_capture_open(&cut, fd, "f", TFP_PLAIN, 0, NULL, &err), TFP_OK);
	assert_int_equal(ftruncate(fd, 50), 0);
	atomic_store(&freed, 0);
	assert_int_equal(tfp_capture_fact(cut, &late_kind, NULL, &fact, &err), TFP_IO);
	assert_null(fact);
	assert_int_equal(atomic_load(&freed), 1);
	assert_true(tfp_capture_was_cut(cut));
	tfp_capture_unref(cut);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_computed_once_for_all),
		cmocka_unit_test(test_kinds_are_apart),
		cmocka_unit_test(test_a_failure_is_not_kept),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_a_fact_of_a_file_cut_meanwhile_is_not_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
