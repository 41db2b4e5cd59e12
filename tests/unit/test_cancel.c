/* SPDX-License-Identifier: Apache-2.0 */
/* No client wants the answer any more: at the first place that asks, then at the second, ...
 * until all is made. Each time it stops there, nothing unfinished is kept, and the next
 * request gets all of it. The linker has the program's tfp_cancelled called here first. */
#include "testing.h"

#include "analysis/grouping/capture_groups.h"
#include "analysis/grouping/groups.h"
#include "analysis/memory/memory_events.h"
#include "analysis/steps/capture_steps.h"
#include "analysis/steps/requests.h"
#include "analysis/summary/op_stats.h"
#include "analysis/tf_data/iterators.h"
#include "analysis/timeline/event_categories.h"
#include "analysis/timeline/flows.h"
#include "analysis/timeline/timeline.h"
#include "base/pool.h"
#include "base/progress.h"
#include "support/sample_capture.h"

#include <stdatomic.h>

bool __real_tfp_cancelled(void);
bool __wrap_tfp_cancelled(void);

static struct tfp_progress job;
static atomic_uint_least64_t looks, wanted_until;

bool __wrap_tfp_cancelled(void)
{
	if (tfp_progress_current() == &job &&
	    atomic_fetch_add(&looks, 1) + 1 == atomic_load(&wanted_until))
		atomic_store(&job.unwanted, true);
	return __real_tfp_cancelled();
}

#define FACTS(X)                                                                                   \
	X(groups)                                                                                  \
	X(op_stats)                                                                                \
	X(steps)                                                                                   \
	X(requests)                                                                                \
	X(memory)                                                                                  \
	X(iterators)                                                                               \
	X(timeline)                                                                                \
	X(event_categories)                                                                        \
	X(flows)
#define GETTER(name)                                                                               \
	static enum tfp_status get_##name(struct tfp_capture *capture, struct tfp_pool *pool,      \
					  const void **fact, struct tfp_error *err)                \
	{                                                                                          \
		return tfp_##name##_get(capture, pool, (void *)fact, err);                         \
	}
FACTS(GETTER)

typedef enum tfp_status (*getter)(struct tfp_capture *, struct tfp_pool *, const void **,
				  struct tfp_error *);
#define ENTRY(name) get_##name,
static const getter getters[] = {FACTS(ENTRY)};

/* Whether it was stopped. */
static bool make_and_stop(const uint8_t *bytes, size_t size, struct tfp_pool *pool, uint64_t at)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	const void *fact;
	enum tfp_status status;
	bool stopped = false;
	job = (struct tfp_progress){0};
	atomic_store(&looks, 0);
	atomic_store(&wanted_until, at);
	tfp_progress_enter(&job);
	status = tfp_capture_from_bytes(&capture, bytes, size, "x", pool, &err);
	if (status != TFP_OK) {
		assert_int_equal(status, TFP_CANCELLED);
		tfp_progress_enter(NULL);
		return true;
	}
	for (size_t i = 0; i < COUNT(getters); i++) {
		status = getters[i](capture, pool, &fact, &err);
		if (status != TFP_OK)
			assert_int_equal(status, TFP_CANCELLED);
		stopped |= status != TFP_OK;
	}
	tfp_progress_enter(NULL);
	if (stopped) {
		/* The same as if nobody had stopped. */
		for (size_t i = 0; i < COUNT(getters); i++)
			assert_int_equal(getters[i](capture, pool, &fact, &err), TFP_OK);
		struct tfp_capture *whole;
		const struct tfp_timeline *a, *b;
		const struct tfp_steps *x, *y;
		assert_int_equal(tfp_capture_from_bytes(&whole, bytes, size, "x", pool, &err),
				 TFP_OK);
		assert_int_equal(tfp_timeline_get(capture, pool, &a, &err), TFP_OK);
		assert_int_equal(tfp_timeline_get(whole, pool, &b, &err), TFP_OK);
		assert_int_equal(a->track_count, b->track_count);
		assert_int_equal(a->heap_bytes, b->heap_bytes);
		assert_int_equal(tfp_steps_get(capture, pool, &x, &err), TFP_OK);
		assert_int_equal(tfp_steps_get(whole, pool, &y, &err), TFP_OK);
		assert_int_equal(x->count, y->count);
		assert_int_equal(x->core_count, y->core_count);
		tfp_capture_unref(whole);
	}
	tfp_capture_unref(capture);
	return stopped;
}

static void stop_everywhere(enum sample_device device, struct tfp_pool *pool)
{
	struct builder *b = sample_capture(device);
	size_t size;
	uint64_t at = 1;
	uint8_t *bytes = builder_bytes(b, &size);
	builder_free(b);
	while (make_and_stop(bytes, size, pool, at))
		at++;
	assert_true(at > 40);
	free(bytes);
}

static void test_stops_anywhere(void **state)
{
	(void)state;
	for (int device = SAMPLE_GPU; device <= SAMPLE_NO_DEVICE; device++)
		stop_everywhere((enum sample_device)device, NULL);
}

static void test_stops_anywhere_with_threads(void **state)
{
	struct tfp_pool *pool;
	struct tfp_error err;
	(void)state;
	assert_int_equal(tfp_pool_new(&pool, 2, &err), TFP_OK);
	stop_everywhere(SAMPLE_GPU, pool);
	stop_everywhere(SAMPLE_TPU, pool);
	tfp_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stops_anywhere),
		cmocka_unit_test(test_stops_anywhere_with_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
