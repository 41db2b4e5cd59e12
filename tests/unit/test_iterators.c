/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf.data iterators (docs/tools/tf_data_bottleneck_analysis.md). The first two cases are facts
 * from the peers' own unit tests; times of the others are worked out beside them, in us.
 */
#include "testing.h"

#include "analysis/tf_data/iterators.h"

#include <stdio.h>

#define US INT64_C(1000000)

struct read {
	struct opened o;
	const struct tfp_iterators *data;
};

static struct read read_built(struct builder *b)
{
	struct read r = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_iterators_get(r.o.capture, NULL, &r.data, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return r;
}

static struct builder_line *thread(struct builder_plane *host, int64_t id)
{
	return builder_line(host, id, "thread", 0);
}

/* parent -1: none. Times in us. */
static void iterator(struct builder_line *line, const char *name, int64_t from, int64_t to,
		     int64_t id, int64_t parent)
{
	struct builder_stats *e = builder_event(line, name, from * US, (to - from) * US);
	builder_stat_int(e, "id", id);
	if (parent != -1)
		builder_stat_int(e, "parent_id", parent);
}

static void element(struct builder_line *line, const char *name, int64_t from, int64_t to,
		    int64_t id)
{
	builder_stat_int(builder_event(line, name, from * US, (to - from) * US), "element_id", id);
}

/* The iterator of that id in the call of that rank; the test fails without it. */
static const struct tfp_iterator_use *use_in(const struct tfp_iterators *data, size_t pipeline,
					     size_t rank, int64_t id)
{
	const struct tfp_iterator_call *call =
		&data->calls[data->pipelines[pipeline].first_call + rank];
	assert_true(pipeline < data->pipeline_count);
	assert_true(rank < data->pipelines[pipeline].call_count);
	for (size_t i = 0; i < call->use_count; i++) {
		const struct tfp_iterator_use *use = &data->uses[call->first_use + i];
		if (data->iterators[use->iterator].id == id)
			return use;
	}
	fail_msg("iterator %lld is not in call %zu of pipeline %zu", (long long)id, rank, pipeline);
	return NULL;
}

static void check_use(const struct read *r, size_t pipeline, size_t rank, int64_t id,
		      int64_t duration, int64_t self, uint32_t calls, bool is_blocking)
{
	const struct tfp_iterator_use *use = use_in(r->data, pipeline, rank, id);
	assert_int_equal(use->duration_ps, duration * US);
	assert_int_equal(use->self_ps, self * US);
	assert_int_equal(use->calls, calls);
	assert_int_equal(use->is_blocking, is_blocking);
}

static size_t uses_of(const struct read *r, size_t pipeline, size_t rank)
{
	return r->data->calls[r->data->pipelines[pipeline].first_call + rank].use_count;
}

/* The bottleneck of a call; id -1: none. */
static void check_bottleneck(const struct read *r, size_t pipeline, size_t rank, int64_t id,
			     int64_t self)
{
	const struct tfp_iterators *data = r->data;
	size_t at = data->calls[data->pipelines[pipeline].first_call + rank].bottleneck;
	if (id == -1) {
		assert_true(at == SIZE_MAX);
		return;
	}
	assert_true(at < data->use_count);
	assert_int_equal(data->iterators[data->uses[at].iterator].id, id);
	assert_int_equal(data->uses[at].self_ps, self * US);
}

static void check_pipeline(const struct read *r, size_t pipeline, bool is_device, uint32_t number,
			   int64_t min, int64_t mean, int64_t max, size_t calls, size_t slow)
{
	assert_true(pipeline < r->data->pipeline_count);
	const struct tfp_pipeline *p = &r->data->pipelines[pipeline];
	assert_int_equal(p->is_device, is_device);
	assert_int_equal(p->number, number);
	assert_int_equal(p->min_ps, min * US);
	assert_int_equal(p->mean_ps, mean * US);
	assert_int_equal(p->max_ps, max * US);
	assert_int_equal(p->call_count, calls);
	assert_int_equal(p->slow_count, slow);
}

static void test_device_pipeline(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0);
	(void)state;
	iterator(line, "Iterator::Prefetch", 0, 30, 123, -1);
	iterator(line, "Iterator::Prefetch", 100, 200, 123, -1);
	element(line, "PrefetchConsume", 180, 200, 100);
	line = thread(host, 1);
	element(line, "PrefetchProduce", 100, 180, 100);
	iterator(line, "Iterator::Prefetch::Generator", 100, 180, 456, 123);
	struct read r = read_built(b);
	assert_int_equal(r.data->pipeline_count, 1);
	check_pipeline(&r, 0, true, 0, 30, 65, 100, 2, 1);
	check_use(&r, 0, 0, 123, 100, 20, 1, true);
	check_use(&r, 0, 0, 456, 80, 80, 1, true);
	check_bottleneck(&r, 0, 0, 456, 80);
	check_use(&r, 0, 1, 123, 30, 30, 1, true);
	assert_int_equal(uses_of(&r, 0, 1), 1);
	check_bottleneck(&r, 0, 1, 123, 30);
	close_built(&r.o);
}

static void test_map_and_batch(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0);
	(void)state;
	iterator(line, "Iterator::MapAndBatch", 0, 100, 123, -1);
	element(line, "MapAndBatchConsume", 80, 100, 100);
	line = thread(host, 1);
	element(line, "MapAndBatchProduce", 0, 30, 100);
	iterator(line, "Iterator::MapAndBatch::Range", 0, 30, 456, 123);
	element(line, "MapAndBatchProduce", 40, 70, 100);
	iterator(line, "Iterator::MapAndBatch::Range", 40, 70, 456, 123);
	struct read r = read_built(b);
	check_pipeline(&r, 0, false, 0, 100, 100, 100, 1, 1);
	check_use(&r, 0, 0, 123, 100, 40, 1, true);
	check_use(&r, 0, 0, 456, 60, 60, 2, true);
	check_bottleneck(&r, 0, 0, 456, 60);
	assert_str(r.data->iterators[1].name, "Range");
	assert_str(r.data->iterators[1].long_name, "Iterator::MapAndBatch::Range");
	assert_int_equal(r.data->iterators[1].parent, 0);
	assert_int_equal(r.data->iterators[0].parent, TFP_NO_ITERATOR);
	close_built(&r.o);
}

/* Three threads at the same time, 60 + 60 + 50: the sum is more than the call, but only
 * 0-70 is covered, so 30 is the consumer's own. */
static void test_parallel_producers(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0);
	const int64_t spans[3][2] = {{0, 60}, {10, 70}, {5, 55}};
	(void)state;
	iterator(line, "Iterator::ParallelInterleave", 0, 100, 1, -1);
	element(line, "ParallelInterleaveConsume", 90, 95, 7);
	for (int i = 0; i < 3; i++) {
		line = thread(host, 1 + i);
		element(line, "ParallelInterleaveProduce", spans[i][0], spans[i][1], 7);
		iterator(line, "Iterator::ParallelInterleave::TFRecord", spans[i][0], spans[i][1],
			 10 + i, 1);
	}
	struct read r = read_built(b);
	check_use(&r, 0, 0, 1, 100, 30, 1, true);
	check_use(&r, 0, 0, 10, 60, 60, 1, true);
	check_use(&r, 0, 0, 11, 60, 60, 1, true);
	check_use(&r, 0, 0, 12, 50, 50, 1, true);
	/* Of equals the one of the lower id. */
	check_bottleneck(&r, 0, 0, 10, 60);
	close_built(&r.o);
}

/* Elements made before the call do not block it, nor do the events that they waited for. */
static void test_work_that_was_ready(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0);
	(void)state;
	iterator(line, "Iterator::Prefetch", 200, 210, 1, -1);
	element(line, "PrefetchConsume", 201, 209, 3);
	line = thread(host, 1);
	element(line, "PrefetchProduce", 0, 100, 3);
	iterator(line, "Iterator::Prefetch::Map", 0, 100, 2, 1);
	iterator(line, "Iterator::Prefetch::Map::TFRecord", 20, 90, 3, 2);
	struct read r = read_built(b);
	check_use(&r, 0, 0, 1, 10, 10, 1, true);
	check_use(&r, 0, 0, 2, 100, 30, 1, false);
	check_use(&r, 0, 0, 3, 70, 70, 1, false);
	check_bottleneck(&r, 0, 0, 1, 10);
	close_built(&r.o);
}

/* An event between two iterators on a thread separates them; the time is the outer
 * one's. */
static void test_only_direct_children(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	iterator(line, "Iterator::FlatMap", 0, 100, 1, -1);
	builder_event(line, "InstantiatedCapturedFunction::Run", 10 * US, 80 * US);
	iterator(line, "Iterator::FlatMap[0]::Range", 20, 80, 2, 1);
	struct read r = read_built(b);
	assert_int_equal(uses_of(&r, 0, 0), 1);
	check_use(&r, 0, 0, 1, 100, 100, 1, true);
	close_built(&r.o);
}

/* Asynchronous events are nested in nothing and hold nothing. */
static void test_async_events(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	iterator(line, "Iterator::Map", 0, 100, 1, -1);
	builder_stat_int(builder_event(line, "wait", 5 * US, 90 * US), "_a", 1);
	iterator(line, "Iterator::Map::Range", 20, 80, 2, 1);
	struct read r = read_built(b);
	check_use(&r, 0, 0, 1, 100, 40, 1, true);
	check_use(&r, 0, 0, 2, 60, 60, 1, true);
	close_built(&r.o);
}

static void test_deep_pipeline(void **state)
{
	enum { LEVELS = 300 };
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	iterator(line, "Iterator::Map", 0, 2 * LEVELS, 1, -1);
	for (int i = 1; i < LEVELS; i++)
		iterator(line, "Iterator::Map::Map", i, 2 * LEVELS - i, 1 + i, i);
	struct read r = read_built(b);
	assert_int_equal(uses_of(&r, 0, 0), LEVELS);
	for (int i = 0; i < LEVELS; i++)
		check_use(&r, 0, 0, 1 + i, 2 * LEVELS - 2 * i, 2, 1, true);
	close_built(&r.o);
}

/* Each consumes what the other produces, and one names itself as its parent. */
static void test_cycles(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0);
	(void)state;
	element(line, "PrefetchProduce", 0, 100, 5);
	iterator(line, "Iterator::Prefetch", 0, 100, 1, 2);
	element(line, "PrefetchConsume", 0, 90, 5);
	line = thread(host, 1);
	element(line, "PrefetchProduce", 10, 60, 5);
	iterator(line, "Iterator::Prefetch::Prefetch", 10, 60, 2, 1);
	element(line, "PrefetchConsume", 10, 50, 5);
	line = thread(host, 2);
	iterator(line, "Iterator::Map", 200, 300, 3, 3);
	struct read r = read_built(b);
	assert_int_equal(r.data->pipeline_count, 2);
	check_use(&r, 0, 0, 1, 100, 50, 1, true);
	/* The other ran all the time that this one did. */
	check_use(&r, 0, 0, 2, 50, 0, 1, true);
	check_bottleneck(&r, 0, 0, 1, 50);
	check_use(&r, 1, 0, 3, 100, 100, 1, true);
	assert_int_equal(r.data->iterators[2].parent, 2);
	assert_true(r.data->first_cut_call == SIZE_MAX);
	close_built(&r.o);
}

/* 20 levels of which each consumes twice what the next one makes: 2^20 ways, 21 iterators.
 * It ends, and everything is counted once. */
static void test_many_ways(void **state)
{
	enum { LEVELS = 20 };
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	(void)state;
	for (int i = 0; i <= LEVELS; i++) {
		struct builder_line *line = thread(host, i);
		if (i > 0)
			element(line, "PrefetchProduce", 0, 100, i);
		iterator(line, i ? "Iterator::Prefetch::Prefetch" : "Iterator::Prefetch", 0, 100, i,
			 i - 1);
		element(line, "PrefetchConsume", 10, 20, i + 1);
		element(line, "PrefetchConsume", 30, 40, i + 1);
	}
	struct read r = read_built(b);
	assert_int_equal(uses_of(&r, 0, 0), LEVELS + 1);
	for (int i = 0; i < LEVELS; i++)
		check_use(&r, 0, 0, i, 100, 0, 1, true);
	check_use(&r, 0, 0, LEVELS, 100, 100, 1, true);
	close_built(&r.o);
}

/* Every call consumes all elements, and all have the same number: as many links as the
 * square of the events. What is left out is said. */
static void test_tangled_file_is_cut(void **state)
{
	enum { EVENTS = 3000 };
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0), *other = thread(host, 1);
	(void)state;
	for (int i = 0; i < EVENTS; i++) {
		iterator(line, "Iterator::Prefetch", 10 * i, 10 * i + 9, 1, -1);
		element(line, "PrefetchConsume", 10 * i + 1, 10 * i + 2, 1);
		element(other, "PrefetchProduce", 10 * i, 10 * i + 5, 1);
		iterator(other, "Iterator::Prefetch::Range", 10 * i, 10 * i + 5, 2, 1);
	}
	struct read r = read_built(b);
	check_pipeline(&r, 0, false, 0, 9, 9, 9, EVENTS, 0);
	assert_true(r.data->first_cut_call > 0 && r.data->first_cut_call < EVENTS);
	assert_int_equal(uses_of(&r, 0, EVENTS - 1), 0);
	check_bottleneck(&r, 0, EVENTS - 1, -1, 0);
	close_built(&r.o);
}

/* 0 is an id like any other; the peers take it for none. */
static void test_id_zero(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	iterator(line, "Iterator::Map", 0, 100, 0, -1);
	iterator(line, "Iterator::Map::Range", 10, 30, -5, 0);
	struct read r = read_built(b);
	check_use(&r, 0, 0, 0, 100, 80, 1, true);
	check_use(&r, 0, 0, -5, 20, 20, 1, true);
	check_bottleneck(&r, 0, 0, 0, 80);
	assert_int_equal(r.data->iterators[0].parent, 1);
	close_built(&r.o);
}

/* An event without an id is no iterator's, and what is in it is not followed; one whose id
 * is stored as another kind of integer has it. */
static void test_missing_ids(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	builder_stat_uint(builder_event(line, "Iterator::Map", 0, 100 * US), "id", 9);
	builder_event(line, "Iterator::Map::Batch", 10 * US, 50 * US);
	iterator(line, "Iterator::Map::Batch::Range", 20, 30, 3, 2);
	builder_event(line, "Iterator::Batch", 200 * US, 50 * US);
	builder_stat_str(builder_event(line, "Iterator::Batch", 300 * US, 50 * US), "id", "x");
	builder_event(line, "Iterator", 400 * US, 50 * US);
	struct read r = read_built(b);
	assert_int_equal(r.data->pipeline_count, 1);
	assert_int_equal(uses_of(&r, 0, 0), 1);
	check_use(&r, 0, 0, 9, 100, 50, 1, true);
	assert_int_equal(r.data->without_id, 4);
	/* Nobody has id 2. */
	assert_int_equal(r.data->iterators[0].id, 3);
	assert_int_equal(r.data->iterators[0].parent, TFP_NO_ITERATOR);
	assert_int_equal(r.data->iterators[0].parent_id, 2);
	close_built(&r.o);
}

/* The same as in order: columns are sorted before they are read. */
static void test_events_out_of_order(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	iterator(line, "Iterator::Map::Batch::Range", 30, 40, 3, 2);
	iterator(line, "Iterator::Map::Batch", 10, 70, 2, 1);
	iterator(line, "Iterator::Map", 200, 230, 1, -1);
	iterator(line, "Iterator::Map", 0, 100, 1, -1);
	iterator(line, "Iterator::Map::Batch", 205, 215, 2, 1);
	struct read r = read_built(b);
	check_pipeline(&r, 0, false, 0, 30, 65, 100, 2, 1);
	check_use(&r, 0, 0, 1, 100, 40, 1, true);
	check_use(&r, 0, 0, 2, 60, 50, 1, true);
	check_use(&r, 0, 0, 3, 10, 10, 1, true);
	check_use(&r, 0, 1, 1, 30, 20, 1, true);
	check_use(&r, 0, 1, 2, 10, 10, 1, true);
	close_built(&r.o);
}

/* Of the same span the first holds the second. Nothing lasts, nothing is divided by it. */
static void test_no_time_at_all(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	iterator(line, "Iterator::Map", 10, 10, 1, -1);
	iterator(line, "Iterator::Map::Range", 10, 10, 2, 1);
	struct read r = read_built(b);
	check_pipeline(&r, 0, false, 0, 0, 0, 0, 1, 0);
	check_use(&r, 0, 0, 1, 0, 0, 1, true);
	check_use(&r, 0, 0, 2, 0, 0, 1, false);
	check_bottleneck(&r, 0, 0, -1, 0);
	close_built(&r.o);
}

/* Slow is longer than 50 us, not as long. The first called is the first; calls that last
 * equally long come by their start. */
static void test_pipelines(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = thread(host, 0);
	(void)state;
	iterator(line, "Iterator::Model", 300, 350, 2, -1);
	iterator(line, "Iterator::Model", 100, 150, 2, -1);
	builder_stat_int(builder_event(line, "Iterator::Model", 500 * US, 50 * US + 1), "id", 2);
	line = thread(host, 1);
	iterator(line, "Iterator::Root", 50, 90, 7, -1);
	/* Not on the host's own plane. */
	iterator(thread(builder_plane(b, 1, "/device:GPU:0"), 0), "Iterator::Root", 0, 900, 8, -1);
	struct read r = read_built(b);
	assert_int_equal(r.data->pipeline_count, 2);
	check_pipeline(&r, 0, false, 0, 40, 40, 40, 1, 0);
	const struct tfp_pipeline *p = &r.data->pipelines[1];
	assert_int_equal(p->number, 1);
	assert_int_equal(p->call_count, 3);
	assert_int_equal(p->slow_count, 1);
	assert_int_equal(p->max_ps, 50 * US + 1);
	assert_int_equal(p->mean_ps, 50 * US);
	assert_int_equal(r.data->calls[p->first_call].start_ps, 500 * US);
	assert_int_equal(r.data->calls[p->first_call + 1].start_ps, 100 * US);
	assert_int_equal(r.data->calls[p->first_call + 2].start_ps, 300 * US);
	close_built(&r.o);
}

/* Names that look alike and are something else. */
static void test_other_names(void **state)
{
	static const char *const names[] = {"IteratorGetNext:IteratorGetNext",
					    "IteratorGetNextOp::DoCompute",
					    "MyIterator::Map",
					    "Iterators::Map",
					    "iterator::Map",
					    "PrefetchProduced",
					    "Consume"};
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		iterator(line, names[i], 100 * (int64_t)i, 100 * (int64_t)i + 90, (int64_t)i, -1);
	struct read r = read_built(b);
	assert_int_equal(r.data->pipeline_count, 0);
	assert_int_equal(r.data->iterator_count, 0);
	close_built(&r.o);
}

/* Ends of work ahead, and no iterator that did it. */
static void test_no_iterator(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = thread(builder_plane(b, 0, "/host:CPU"), 0);
	(void)state;
	element(line, "PrefetchProduce", 0, 10, 1);
	element(line, "PrefetchConsume", 20, 30, 1);
	struct read r = read_built(b);
	assert_int_equal(r.data->iterator_count, 0);
	assert_int_equal(r.data->pipeline_count, 0);
	close_built(&r.o);
}

/* Times at the end of what numbers can say. */
static void test_extreme_times(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *line = builder_line(host, 0, "thread", INT64_MAX / 1000);
	(void)state;
	for (int i = 0; i < 3; i++) {
		builder_stat_int(builder_event(line, "Iterator::Map", 0, INT64_MAX), "id", 1);
		builder_stat_int(builder_event(line, "Iterator::Map::Range", 0, INT64_MAX), "id",
				 2);
	}
	struct read r = read_built(b);
	for (size_t i = 0; i < r.data->use_count; i++) {
		assert_true(r.data->uses[i].self_ps >= 0);
		assert_true(r.data->uses[i].self_ps <= r.data->uses[i].duration_ps);
	}
	close_built(&r.o);
}

static void test_no_host(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "/device:GPU:0");
	struct read r = read_built(b);
	assert_int_equal(r.data->pipeline_count, 0);
	close_built(&r.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_pipeline),
		cmocka_unit_test(test_map_and_batch),
		cmocka_unit_test(test_parallel_producers),
		cmocka_unit_test(test_work_that_was_ready),
		cmocka_unit_test(test_only_direct_children),
		cmocka_unit_test(test_async_events),
		cmocka_unit_test(test_deep_pipeline),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_many_ways),
		cmocka_unit_test(test_tangled_file_is_cut),
		cmocka_unit_test(test_id_zero),
		cmocka_unit_test(test_missing_ids),
		cmocka_unit_test(test_events_out_of_order),
		cmocka_unit_test(test_no_time_at_all),
		cmocka_unit_test(test_pipelines),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_no_iterator),
		cmocka_unit_test(test_extreme_times),
		cmocka_unit_test(test_no_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
