/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a line against the events that were written, in the order that a stable sort
 * of the C library's gives them. */
#include "testing.h"

#include "base/pool.h"

#include <stdio.h>

/* Events that make a line of several pieces: so many, and with a stat more than 8 MiB. */
#define MANY    400000u
#define PADDING 12

struct written {
	int64_t start_ps, duration_ps;
	uint32_t number; /* its metadata's id, and the order in the file */
};

static int in_order(const void *a, const void *b)
{
	const struct written *x = a, *y = b;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->duration_ps != y->duration_ps)
		return x->duration_ps > y->duration_ps ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t random_below(uint64_t *seed, uint64_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (*seed >> 33) % n;
}

enum shape {
	SORTED,
	ENDS,      /* as written when they end: those within come before */
	BACKWARDS, /* nothing is where it belongs */
};

struct plan {
	enum shape shape;
	size_t count, padding; /* bytes of a stat of every event */
	size_t bad_at;         /* a damaged event lies before this one, 0 for none */
	size_t gap_every;      /* after so many events nothing happens for a while, 0 for never */
	unsigned threads;
};

static void write_events(struct builder_line *line, struct written *events, const struct plan *plan)
{
	static const int64_t lengths[] = {
		0, 999, 4294967295, 4294967296, 1095216660479, 1095216660480, 90000000000000};
	/* 200 s, so that the starts of a block of events are up to 48 bits apart, and more */
	static const int64_t gap_ps = 200000000000000;
	static const char bad[] = "\x22\x02\x08\xff";
	char *padding = calloc(1, plan->padding + 1);
	uint64_t seed = 7;
	memset(padding, 'x', plan->padding);
	for (uint32_t i = 0; i < plan->count; i++) {
		int64_t at = plan->shape == BACKWARDS ? (int64_t)(plan->count - i) : (int64_t)i;
		struct written *e = &events[i];
		e->number = i;
		/* every fourth begins with the one after it */
		e->start_ps = (at | (i % 4 == 0)) * 1000;
		if (plan->gap_every)
			e->start_ps += at / (int64_t)plan->gap_every * gap_ps;
		e->duration_ps = (int64_t)random_below(&seed, 2000);
		if (random_below(&seed, 50) == 0)
			e->duration_ps = lengths[random_below(&seed, 7)];
		if (plan->shape == ENDS && i % 7 == 6) {
			e->start_ps -= 6000;
			e->duration_ps = 6500;
		}
		if (plan->bad_at && i == plan->bad_at)
			builder_raw_line(line, bad, sizeof(bad) - 1);
		struct builder_stats *s =
			builder_event_id(line, i + 1, e->start_ps, e->duration_ps);
		if (plan->padding)
			builder_stat_str(s, "padding", padding);
	}
	free(padding);
}

static void check(const struct plan *plan)
{
	struct builder *b = builder_new();
	struct builder_plane *plane = builder_plane(b, 0, "/host:CPU");
	struct written *events = calloc(plan->count, sizeof(*events));
	struct tfp_capture *capture;
	struct tfp_pool *pool = NULL;
	struct tfp_error err;
	char name[32];
	size_t size;
	write_events(builder_line(plane, 1, "main", 0), events, plan);
	for (uint32_t i = 0; i < plan->count; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		builder_event_metadata(plane, i + 1, name);
	}
	uint8_t *bytes = builder_bytes(b, &size);
	builder_free(b);
	if (plan->threads)
		assert_int_equal(tfp_pool_new(&pool, plan->threads, &err), TFP_OK);
	if (tfp_capture_from_bytes(&capture, bytes, size, "built", pool, &err) != TFP_OK)
		fail_msg("%s", err.message);
	qsort(events, plan->count, sizeof(*events), in_order);
	const struct tfp_plane *p = &capture->planes[0];
	const struct tfp_line *line = &p->lines[0];
	assert_str(line->name, "main");
	assert_int_equal(line->event_count, plan->count);
	assert_int_equal(capture->diagnostic_count, plan->bad_at ? 1 : 0);
	for (size_t i = 0; i < plan->count; i++) {
		const struct written *e = &events[i];
		struct tfp_span message = tfp_event_message(line, i);
		if (tfp_event_offset_ps(line, i) != e->start_ps ||
		    tfp_event_duration_ps(line, i) != e->duration_ps)
			fail_msg("event %zu: %lld +%lld is not %lld +%lld", i,
				 (long long)tfp_event_offset_ps(line, i),
				 (long long)tfp_event_duration_ps(line, i), (long long)e->start_ps,
				 (long long)e->duration_ps);
		assert_int_equal(tfp_event_meta(p, line, i)->id, e->number + 1);
		/* Its message begins with the id. */
		struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
		uint32_t tag;
		int64_t id = 0;
		assert_true(tfp_pb_next(&c, &tag) && tfp_pb_int64(&c, &id));
		assert_int_equal(id, e->number + 1);
	}
	tfp_capture_unref(capture);
	tfp_pool_free(pool);
	free(events);
	free(bytes);
}

static void test_few(void **state)
{
	static const enum shape shapes[] = {SORTED, ENDS, BACKWARDS};
	static const size_t counts[] = {1, 2, 31, 32, 33, 64, 1000};
	(void)state;
	for (size_t s = 0; s < 3; s++) {
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			check(&(struct plan){.shape = shapes[s], .count = counts[c]});
			check(&(struct plan){
				.shape = shapes[s], .count = counts[c], .gap_every = 1});
			check(&(struct plan){
				.shape = shapes[s], .count = counts[c], .gap_every = 11});
			/* too far from each other for 16 bits */
			check(&(struct plan){
				.shape = shapes[s], .count = counts[c], .padding = 3000});
		}
	}
}

/* The thread sanitizer has nothing to see where one thread works, and takes its time. */
#ifdef __SANITIZE_THREAD__
#define FEWEST 4u
#else
#define FEWEST 0u
#endif

static void test_many(void **state)
{
	(void)state;
	for (unsigned threads = FEWEST; threads <= 4; threads += 2) {
		check(&(struct plan){
			.shape = SORTED, .count = MANY, .padding = PADDING, .threads = threads});
		check(&(struct plan){
			.shape = ENDS, .count = MANY, .padding = PADDING, .threads = threads});
	}
	if (FEWEST > 0)
		return;
	check(&(struct plan){.shape = BACKWARDS, .count = MANY, .padding = PADDING, .threads = 3});
	check(&(struct plan){.shape = SORTED,
			     .count = MANY,
			     .padding = PADDING,
			     .threads = 3,
			     .gap_every = 100});
	check(&(struct plan){
		.shape = ENDS, .count = MANY, .padding = PADDING, .threads = 3, .gap_every = 100});
}

static void test_many_with_a_bad_one(void **state)
{
	(void)state;
	for (unsigned threads = FEWEST; threads <= 4; threads += 4) {
		check(&(struct plan){.shape = SORTED,
				     .count = MANY,
				     .padding = PADDING,
				     .threads = threads,
				     .bad_at = 150001});
		check(&(struct plan){.shape = ENDS,
				     .count = MANY,
				     .padding = PADDING,
				     .threads = threads,
				     .bad_at = 399999});
	}
	check(&(struct plan){.shape = SORTED, .count = 1000, .bad_at = 500});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_with_a_bad_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
