/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of allocators. Expected values are worked out by hand from the rules of
 * xplane_to_memory_profile.cc; the peers' own example is in tests/golden.
 */
#include "testing.h"

#include "analysis/memory/memory_events.h"
#include "base/alloc.h"
#include "base/pool.h"

#include <inttypes.h>
#include <stdio.h>

struct profile {
	struct opened o;
	const struct tfp_memory *memory;
};

static struct profile profile_built(struct builder *b, struct tfp_pool *pool)
{
	struct profile p = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_memory_get(p.o.capture, pool, &p.memory, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return p;
}

/* An event with what every test needs; heap: after it. */
static struct builder_stats *event(struct builder_line *line, const char *allocator, bool give,
				   int64_t at_ps, int64_t heap, int64_t bytes, int64_t address)
{
	struct builder_stats *e =
		builder_event(line, give ? "MemoryDeallocation" : "MemoryAllocation", at_ps, 0);
	builder_stat_ref(e, "allocator_name", allocator);
	builder_stat_int(e, "bytes_reserved", 0);
	builder_stat_int(e, "bytes_allocated", heap);
	builder_stat_int(e, "bytes_available", heap < 0 ? 1000 : 1000 - heap);
	builder_stat_int(e, "requested_bytes", bytes > 0 ? bytes - 1 : bytes);
	builder_stat_int(e, "allocation_bytes", bytes);
	builder_stat_int(e, "addr", address);
	return e;
}

static struct builder_line *host_line(struct builder *b)
{
	return builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
}

static struct tfp_memory_rows alive(const struct profile *p, const struct tfp_allocator *a,
				    int64_t time_ps, enum tfp_memory_scope scope)
{
	struct tfp_memory_moment moment;
	struct tfp_memory_rows rows;
	struct tfp_error err;
	assert_true(tfp_memory_moment_at(p->memory, a, time_ps, &moment));
	assert_int_equal(tfp_memory_alive(p->memory, a, &moment, scope, &rows, &err), TFP_OK);
	return rows;
}

static void check_row(const struct profile *p, const struct tfp_memory_row *row, const char *op,
		      int64_t bytes, uint64_t occurrences)
{
	assert_str(p->memory->labels[row->label].op, op);
	assert_int_equal(row->allocation_bytes, bytes);
	assert_int_equal(row->occurrences, occurrences);
}

static const struct tfp_allocator *only(const struct profile *p)
{
	assert_int_equal(p->memory->allocator_count, 1);
	return &p->memory->allocators[0];
}

static void test_nothing_recorded(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "/device:GPU:0");
	struct profile p = profile_built(b, NULL);
	assert_null(p.memory->plane);
	assert_int_equal(p.memory->allocator_count, 0);
	close_built(&p.o);

	b = builder_new();
	builder_event(host_line(b), "MemoryAllocation2", 0, 1);
	p = profile_built(b, NULL);
	assert_non_null(p.memory->plane);
	assert_int_equal(p.memory->allocator_count, 0);
	close_built(&p.o);
}

/* a takes address 7 and nobody sees it freed; b takes 7: the allocator's later word counts
 * for what is in use, the first for what a deallocation frees. */
static void test_address_reuse(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	builder_stat_ref(event(line, "m", false, 10, 100, 100, 7), "tf_op", "a");
	builder_stat_ref(event(line, "m", false, 20, 150, 50, 7), "tf_op", "b");
	event(line, "m", true, 30, 100, 50, 7);
	builder_stat_ref(event(line, "m", false, 40, 160, 60, 7), "tf_op", "c");
	event(line, "m", true, 50, 100, 60, 7);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	struct tfp_memory_rows rows = alive(&p, a, 25, TFP_MEMORY_ALL);
	assert_int_equal(rows.count, 1);
	check_row(&p, &rows.rows[0], "b", 50, 1);
	assert_int_equal(rows.unused_bytes, 0); /* 150 - 100 - 50 */
	tfp_memory_rows_release(&rows);
	assert_str(p.memory->labels[a->label[2]].op, "a");
	assert_str(p.memory->labels[a->label[4]].op, "c");
	/* 100 - 100 - 50 + 50: a is gone from the books, its bytes are still counted. */
	rows = alive(&p, a, 35, TFP_MEMORY_ALL);
	assert_int_equal(rows.count, 0);
	assert_int_equal(rows.unused_bytes, 0);
	tfp_memory_rows_release(&rows);
	rows = alive(&p, a, 45, TFP_MEMORY_ALL);
	assert_int_equal(rows.count, 1);
	check_row(&p, &rows.rows[0], "c", 60, 1);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);
}

/* Memory allocated before the profile began is not preallocated when it is freed. */
static void test_deallocation_without_allocation(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	builder_stat_ref(event(line, "m", true, 10, 400, 100, 1), "tf_op", "(null)");
	builder_stat_ref(event(line, "m", false, 20, 430, 30, 2), "tf_op", "x");
	event(line, "m", true, 30, 400, 30, 2);
	event(line, "m", true, 40, 370, 30, 2); /* twice */
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	assert_str(p.memory->labels[a->label[0]].op, "(null)");
	assert_str(p.memory->labels[a->label[2]].op, "x");
	assert_str(p.memory->labels[a->label[3]].op, "");
	assert_int_equal(a->allocations, 1);
	assert_int_equal(a->deallocations, 3);
	struct tfp_memory_rows rows = alive(&p, a, 20, TFP_MEMORY_STEP);
	assert_int_equal(rows.count, 2);
	check_row(&p, &rows.rows[0], "unused preallocated device memory", 400, 1);
	assert_int_equal(rows.rows[0].first, TFP_MEMORY_NONE);
	check_row(&p, &rows.rows[1], "x", 30, 1);
	tfp_memory_rows_release(&rows);
	rows = alive(&p, a, 40, TFP_MEMORY_STEP);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.unused_bytes, 370);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);
}

static void test_two_allocators(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	event(line, "gpu", false, 10, 100, 100, 1);
	event(line, "CPU", false, 11, 5, 5, 1);
	event(line, "gpu", true, 12, 0, 100, 1);
	struct builder_stats *e = builder_event(line, "MemoryAllocation", 13, 0);
	builder_stat_ref(e, "allocator_name", "gpu");
	builder_stat_int(e, "index_on_host", -4);
	builder_event(line, "MemoryAllocation", 14, 0); /* no id at all */
	builder_stat_double(builder_event(line, "MemoryAllocation", 15, 0), "allocator_name", 3);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = p.memory->allocators;
	/* Bytewise; a name that is no text is the empty one. */
	assert_int_equal(p.memory->allocator_count, 4);
	assert_str(a[0].id, "");
	assert_int_equal(a[0].count, 2);
	assert_str(a[1].id, "-4");
	assert_str(a[2].id, "CPU");
	assert_str(a[3].id, "gpu");
	struct tfp_memory_rows rows = alive(&p, &a[2], 20, TFP_MEMORY_STEP);
	assert_int_equal(rows.count, 1); /* gpu's deallocation of the same address is not CPU's */
	tfp_memory_rows_release(&rows);
	assert_int_equal(a[3].count, 2);
	close_built(&p.o);
}

/* Events of a line that lie in the file in another order than in time: time decides the
 * timeline, the file the lifetime's peak and ties. */
static void test_out_of_order(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	builder_stat_int(event(line, "m", false, 30, 300, 100, 3), "peak_bytes_in_use", 1);
	builder_stat_int(event(line, "m", false, 10, 100, 100, 1), "peak_bytes_in_use", 2);
	builder_stat_int(event(line, "m", true, 40, 200, 100, 1), "peak_bytes_in_use", 3);
	builder_stat_int(event(line, "m", false, 20, 300, 100, 2), "peak_bytes_in_use", 4);
	/* The same picosecond as the first in the file, and after it there. */
	builder_stat_int(event(line, "m", true, 30, 250, 100, 2), "peak_bytes_in_use", 5);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	static const int64_t times[] = {10, 20, 30, 30, 40}, used[] = {100, 300, 300, 250, 200};
	assert_int_equal(a->count, COUNT(times));
	for (size_t i = 0; i < COUNT(times); i++) {
		assert_int_equal(a->time_ps[i], times[i]);
		assert_int_equal(a->used_bytes[i], used[i]);
		assert_int_equal(a->step[i], 0);
	}
	assert_int_equal(a->lifetime_peak_bytes, 5);
	/* 300 at 30 and at 20: the latter is the later in the file. */
	assert_int_equal(a->peak, 1);
	struct tfp_memory_moment moment;
	assert_true(tfp_memory_moment_of_peak(p.memory, a, &moment));
	assert_int_equal(moment.time_ps, 20);
	assert_int_equal(moment.state.peak_bytes, 300);
	assert_int_equal(moment.end, 2);
	assert_true(tfp_memory_moment_at(p.memory, a, 30, &moment));
	assert_int_equal(moment.end, 4);
	assert_int_equal(moment.state.heap_bytes, 250);
	assert_false(tfp_memory_moment_at(p.memory, a, 9, &moment));
	close_built(&p.o);
}

/* The peak's time stands first in the file's order, its step last in time. */
static void test_peak_step(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *one = builder_line(host, 1, "one", 0);
	struct builder_line *two = builder_line(host, 2, "two", 1);
	(void)state;
	builder_stat_int(event(one, "m", false, 50, 300, 10, 1), "group_id", 8);
	builder_stat_int(event(two, "m", false, 20, 300, 20, 2), "group_id", 6);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	assert_int_equal(a->time_ps[a->peak], 20);
	assert_int_equal(a->peak_step, 8);
	assert_true(p.memory->clocks_differ);
	assert_int_equal(p.memory->origin_ps, 0);
	struct tfp_memory_moment moment;
	struct tfp_memory_rows rows;
	struct tfp_error err;
	assert_true(tfp_memory_moment_of_peak(p.memory, a, &moment));
	assert_int_equal(moment.step, 8);
	/* The event at 20 is of step 6, so nothing of it is seen. */
	assert_int_equal(tfp_memory_alive(p.memory, a, &moment, TFP_MEMORY_STEP, &rows, &err),
			 TFP_OK);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.unused_bytes, 300);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);
}

/* UpdateStepId: before the first group 0, between groups the one before and 1. */
static void test_steps_between_groups(void **state)
{
	static const int64_t groups[] = {-1, -1, 4, -1, -1, 2, -1};
	static const int64_t steps[] = {0, 0, 4, 5, 5, 2, 3};
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	for (size_t i = 0; i < COUNT(groups); i++) {
		struct builder_stats *e = event(line, "m", false, (int64_t)i, 1, 1, (int64_t)i);
		if (groups[i] >= 0)
			builder_stat_uint(e, "group_id", (uint64_t)groups[i]);
	}
	struct profile p = profile_built(b, NULL);
	for (size_t i = 0; i < COUNT(groups); i++)
		assert_int_equal(only(&p)->step[i], steps[i]);
	close_built(&p.o);
}

/* A raw capture: groups are made, here from nesting under a root. */
static void test_steps_of_a_raw_capture(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	for (int step = 0; step < 2; step++) {
		builder_stat_int(builder_event(line, "train", step * 100, 50), "_r", 1);
		event(line, "m", false, step * 100 + 10, 100, 100, step);
	}
	event(line, "m", true, 170, 0, 100, 0);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	assert_int_equal(a->step[0], 0);
	assert_int_equal(a->step[1], 1);
	assert_int_equal(a->step[2], 2);
	struct tfp_memory_rows rows = alive(&p, a, 120, TFP_MEMORY_STEP);
	assert_int_equal(rows.count, 1); /* of step 0's nothing is known in step 1 */
	assert_int_equal(rows.unused_bytes, 0);
	tfp_memory_rows_release(&rows);
	rows = alive(&p, a, 120, TFP_MEMORY_ALL);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.rows[0].occurrences, 2);
	assert_int_equal(rows.rows[0].first, 0);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);
}

static void test_typing(void **state)
{
	static const struct {
		int64_t number;
		const char *text;
	} types[] = {{0, "INVALID"},
		     {1, "float"},
		     {14, "bfloat16"},
		     {19, "half"},
		     {30, "uint4"},
		     {31, "unknown dtype enum (31)"},
		     {100, "unknown dtype enum (100)"},
		     {101, "float_ref"},
		     {130, "uint4_ref"},
		     {131, "unknown dtype enum (31)_ref"},
		     {-1, "unknown dtype enum (-1)"},
		     {INT64_C(1) << 32 | 3, "int32"}};
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	struct tfp_memory_state s;
	(void)state;
	for (size_t i = 0; i < COUNT(types); i++)
		builder_stat_int(event(line, "m", false, (int64_t)i, 5, 5, (int64_t)i), "data_type",
				 types[i].number);
	struct builder_stats *e = event(line, "m", false, 100, 0, 5, 0);
	builder_stat_uint(e, "addr", UINT64_C(1) << 63);
	builder_stat_uint(e, "bytes_reserved", 7);
	builder_stat_int(e, "fragmentation", 1);
	builder_stat_int(e, "shape", 12);
	builder_stat_str(e, "region_type", "temp");
	builder_stat_str(e, "data_type", "float");
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	for (size_t i = 0; i < COUNT(types); i++)
		assert_str(p.memory->labels[a->label[i]].data_type, types[i].text);
	size_t last = COUNT(types);
	assert_int_equal(a->address[last], 0);
	tfp_memory_state_at(p.memory, a, last, &s);
	assert_int_equal(s.stack_bytes, 0);
	assert_double(s.fragmentation, 0);
	assert_str(p.memory->labels[a->label[last]].shape, "");
	assert_str(p.memory->labels[a->label[last]].region, "temp");
	assert_str(p.memory->labels[a->label[last]].data_type, "INVALID");
	close_built(&p.o);
}

/* The order of rows, key by key, and that only neighbours equal in all are one. */
static void test_order_of_rows(void **state)
{
	static const struct {
		int64_t bytes, requested;
		const char *op, *region, *shape;
		int type;
	} rows[] = {
		{10, 9, "a", "r", "s", 1}, {20, 9, "z", "r", "s", 1}, {10, 10, "z", "r", "s", 1},
		{10, 9, "a", "q", "s", 1}, {10, 9, "a", "r", "s", 2}, {10, 9, "a", "r", "t", 2},
		{10, 9, "a", "r", "s", 1}, {10, 9, "A", "z", "z", 3},
	};
	/* bytes, requested, op, region, data type ("double" < "float" < "int32"), shape */
	static const struct {
		const char *op, *region, *type, *shape;
		int64_t bytes, requested;
		uint64_t occurrences;
	} expected[] = {
		{"z", "r", "float", "s", 20, 9, 1},  {"z", "r", "float", "s", 10, 10, 1},
		{"A", "z", "int32", "z", 10, 9, 1},  {"a", "q", "float", "s", 10, 9, 1},
		{"a", "r", "double", "s", 10, 9, 1}, {"a", "r", "double", "t", 10, 9, 1},
		{"a", "r", "float", "s", 10, 9, 2},
	};
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct builder_stats *e =
			event(line, "m", false, (int64_t)i, 90, rows[i].bytes, (int64_t)i);
		builder_stat_int(e, "requested_bytes", rows[i].requested);
		builder_stat_ref(e, "tf_op", rows[i].op);
		builder_stat_ref(e, "region_type", rows[i].region);
		builder_stat_int(e, "data_type", rows[i].type);
		builder_stat_ref(e, "shape", rows[i].shape);
	}
	struct profile p = profile_built(b, NULL);
	struct tfp_memory_rows have = alive(&p, only(&p), 100, TFP_MEMORY_STEP);
	assert_int_equal(have.unused_bytes, 0); /* 20 + 7 times 10 */
	assert_int_equal(have.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		const struct tfp_memory_label *l = &p.memory->labels[have.rows[i].label];
		check_row(&p, &have.rows[i], expected[i].op, expected[i].bytes,
			  expected[i].occurrences);
		assert_int_equal(have.rows[i].requested_bytes, expected[i].requested);
		assert_str(l->region, expected[i].region);
		assert_str(l->data_type, expected[i].type);
		assert_str(l->shape, expected[i].shape);
	}
	assert_int_equal(have.rows[6].first, 0);
	tfp_memory_rows_release(&have);
	close_built(&p.o);
}

/* An allocation that is all of what nobody accounts for, by coincidence of every text. */
static void test_special_rows_merge_with_their_equals(void **state)
{
	struct builder *b = builder_new();
	struct builder_stats *e = event(host_line(b), "m", false, 1, 40, 20, 1);
	(void)state;
	builder_stat_int(e, "requested_bytes", 20);
	builder_stat_ref(e, "tf_op", "unused preallocated device memory");
	builder_stat_ref(e, "region_type", "persist/dynamic");
	builder_stat_ref(e, "shape", "unknown");
	builder_stat_int(e, "data_type", 0);
	struct profile p = profile_built(b, NULL);
	struct tfp_memory_rows rows = alive(&p, only(&p), 1, TFP_MEMORY_STEP);
	assert_int_equal(rows.unused_bytes, 20);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.rows[0].occurrences, 2);
	assert_int_equal(rows.rows[0].first, 0);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);
}

static void test_failed_allocations(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	event(line, "m", false, 1, 100, 100, 0); /* address 0, but memory was given */
	event(line, "m", false, 2, 100, 900, 0);
	builder_stat_int(event(line, "m", false, 3, 100, 0, 5), "requested_bytes", 64);
	builder_stat_int(event(line, "m", false, 4, 100, 0, 5), "requested_bytes", 0);
	event(line, "m", true, 5, 0, 100, 0);
	/* An address that XProf reads as 0 is a good one. */
	builder_stat_uint(event(line, "m", false, 6, 0, 8, 1), "addr", UINT64_MAX);
	struct profile p = profile_built(b, NULL);
	assert_int_equal(only(&p)->failed, 2);
	assert_int_equal(only(&p)->first_failed, 1);
	assert_true(only(&p)->knows_free);
	close_built(&p.o);
}

static void test_hostile_numbers(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct builder_stats *e = event(line, "m", i == 3, i, i % 2 ? INT64_MAX : INT64_MIN,
						i % 2 ? INT64_MIN + 1 : INT64_MAX, i % 2);
		builder_stat_int(e, "bytes_reserved", i % 2 ? INT64_MAX : INT64_MIN);
		builder_stat_int(e, "group_id", i ? INT64_MAX : INT64_MIN);
	}
	event(line, "m", true, 4, -5, 5, 9);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	assert_int_equal(a->used_bytes[0], INT64_MIN);
	assert_int_equal(a->used_bytes[1], INT64_MAX);
	assert_int_equal(a->peak, 3);
	assert_int_equal(a->step[4], INT64_MAX);
	struct tfp_memory_rows rows = alive(&p, a, 4, TFP_MEMORY_ALL);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);

	b = builder_new();
	event(host_line(b), "m", false, 0, -1, 1, 1);
	p = profile_built(b, NULL);
	struct tfp_memory_moment moment;
	assert_false(only(&p)->has_peak);
	assert_false(tfp_memory_moment_of_peak(p.memory, only(&p), &moment));
	close_built(&p.o);
}

/* Boxes of XProf's sampling: with 10 events and at most 4, width 2 twice, then 3 twice. */
static void test_sampling(void **state)
{
	static const int64_t heap[] = {5, 9, 7, 7, 1, 2, 2, 8, 3, 8};
	static const uint32_t expected[] = {1, 2, 5, 7};
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	size_t count;
	(void)state;
	for (size_t i = 0; i < COUNT(heap); i++)
		event(line, "m", false, (int64_t)i, heap[i], 1, (int64_t)i);
	struct profile p = profile_built(b, NULL);
	uint32_t *chosen = tfp_memory_sample(only(&p), 4, &count);
	assert_int_equal(count, COUNT(expected));
	assert_memory_equal(chosen, expected, sizeof(expected));
	tfp_free(chosen);
	chosen = tfp_memory_sample(only(&p), 10, &count);
	assert_int_equal(count, 10);
	assert_int_equal(chosen[9], 9);
	tfp_free(chosen);
	close_built(&p.o);
}

static bool has(const uint32_t *list, size_t count, uint32_t value)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == value)
			return true;
	}
	return false;
}

/* Of every stretch of time the outline has the highest and the lowest. */
static void test_outline(void **state)
{
	enum { EVENTS = 1000, MAX = 80, STRETCH = EVENTS / (MAX / 4) };
	struct builder *b = builder_new();
	struct builder_line *line = host_line(b);
	size_t count;
	(void)state;
	for (int i = 0; i < EVENTS; i++)
		event(line, "m", false, i, 100 + i * 7919 % 800, 1, i);
	struct profile p = profile_built(b, NULL);
	const struct tfp_allocator *a = only(&p);
	uint32_t *chosen = tfp_memory_outline(a, INT64_MIN, INT64_MAX, MAX, &count);
	assert_true(count <= MAX);
	assert_int_equal(chosen[0], 0);
	assert_int_equal(chosen[count - 1], EVENTS - 1);
	for (size_t i = 1; i < count; i++)
		assert_true(chosen[i - 1] < chosen[i]);
	for (uint32_t from = 0; from + STRETCH < EVENTS; from += STRETCH) {
		uint32_t low = from, high = from;
		/* A picosecond at the seam may fall to either side. */
		for (uint32_t i = from + 1; i < from + STRETCH - 1; i++) {
			low = a->used_bytes[i] < a->used_bytes[low] ? i : low;
			high = a->used_bytes[i] > a->used_bytes[high] ? i : high;
		}
		if (low != from && !has(chosen, count, low))
			assert_true(has(chosen, count, from + STRETCH - 1));
		if (high != from && !has(chosen, count, high))
			assert_true(has(chosen, count, from + STRETCH - 1));
	}
	tfp_free(chosen);
	/* A window: its events, and one to each side. */
	chosen = tfp_memory_outline(a, 100, 109, MAX, &count);
	assert_int_equal(count, 12);
	assert_int_equal(chosen[0], 99);
	assert_int_equal(chosen[11], 110);
	tfp_free(chosen);
	chosen = tfp_memory_outline(a, 5000, 6000, MAX, &count);
	assert_int_equal(count, 1);
	assert_int_equal(chosen[0], EVENTS - 1);
	tfp_free(chosen);
	chosen = tfp_memory_outline(a, 50, 40, MAX, &count);
	assert_true(count <= 2);
	tfp_free(chosen);
	close_built(&p.o);
}

/* Eight threads allocate and free at once, more events than a piece of reading, each
 * thread the blocks of the one before: the sums and the end must come out, with one
 * thread reading and with several. */
static void check_storm(struct tfp_pool *pool)
{
	enum { THREADS = 8, ROUNDS = 6000 };
	struct builder *b = builder_new();
	struct builder_plane *host = builder_plane(b, 0, "/host:CPU");
	struct builder_line *lines[THREADS];
	int64_t heap = 0, time = 0;
	char op[32];
	for (int t = 0; t < THREADS; t++)
		lines[t] = builder_line(host, t, "worker", 0);
	for (int round = 0; round < ROUNDS; round++) {
		for (int t = 0; t < THREADS; t++) {
			/* In time: every thread takes a block in even rounds; its
			 * neighbour frees it in odd ones, but for thread 3's. */
			int owner = round % 2 ? (t + 1) % THREADS : t;
			int64_t bytes = 16 * (owner + 1);
			bool give = round % 2;
			if (give && owner == 3)
				continue;
			heap += give ? -bytes : bytes;
			struct builder_stats *e = event(lines[t], "m", give, ++time, heap, bytes,
							owner == 3 ? 100000 + round : owner);
			snprintf(op, sizeof(op), "op%d", owner);
			if (!give)
				builder_stat_ref(e, "tf_op", op);
		}
	}
	struct profile p = profile_built(b, pool);
	const struct tfp_allocator *a = only(&p);
	assert_int_equal(a->allocations, THREADS * ROUNDS / 2);
	assert_int_equal(a->deallocations, (THREADS - 1) * ROUNDS / 2);
	for (size_t i = 1; i < a->count; i++)
		assert_true(a->time_ps[i - 1] < a->time_ps[i]);
	for (size_t i = 0; i < a->count; i++) {
		snprintf(op, sizeof(op), "op%d", (int)(a->allocation_bytes[i] / 16 - 1));
		assert_str(p.memory->labels[a->label[i]].op, op);
	}
	struct tfp_memory_rows rows = alive(&p, a, INT64_MAX, TFP_MEMORY_ALL);
	assert_int_equal(rows.count, 1);
	check_row(&p, &rows.rows[0], "op3", 64, ROUNDS / 2);
	assert_int_equal(rows.unused_bytes, 0);
	tfp_memory_rows_release(&rows);
	close_built(&p.o);
}

static void test_storm(void **state)
{
	struct tfp_pool *pool;
	struct tfp_error err;
	(void)state;
	check_storm(NULL);
	assert_int_equal(tfp_pool_new(&pool, 4, &err), TFP_OK);
	check_storm(pool);
	tfp_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_recorded),
		cmocka_unit_test(test_address_reuse),
		cmocka_unit_test(test_deallocation_without_allocation),
		cmocka_unit_test(test_two_allocators),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_peak_step),
		cmocka_unit_test(test_steps_between_groups),
		cmocka_unit_test(test_steps_of_a_raw_capture),
		cmocka_unit_test(test_typing),
		cmocka_unit_test(test_order_of_rows),
		cmocka_unit_test(test_special_rows_merge_with_their_equals),
		cmocka_unit_test(test_failed_allocations),
		cmocka_unit_test(test_hostile_numbers),
		cmocka_unit_test(test_sampling),
		cmocka_unit_test(test_outline),
		cmocka_unit_test(test_storm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
