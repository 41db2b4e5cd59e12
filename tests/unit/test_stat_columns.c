/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of events' stats, against what the events of composed captures have. */
#include "testing.h"

#include "analysis/events/stat_columns.h"

struct read {
	struct opened o;
	const struct tfp_stat_columns *columns[2];
};

static struct read columns_of(struct builder *b)
{
	struct read r = {.o = open_built(b)};
	struct tfp_error err;
	if (tfp_stat_columns_get_all(r.o.capture, NULL, r.columns, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return r;
}

static const struct tfp_line_stats *line_of(const struct read *r, size_t plane, size_t line)
{
	return &tfp_stats_of_plane(r->columns, plane)[line];
}

static void test_correlation_ids(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	(void)state;
	for (int i = 0; i < 200; i++) {
		struct builder_stats *e = builder_event(host, "launch", i * 10, 5);
		if (i % 3 == 0)
			builder_stat_uint(e, "correlation_id", (uint64_t)(1000 + i));
		if (i == 6)
			builder_stat_uint(e, "device_id", 1);
		if (i == 9)
			builder_stat_uint(e, "device_id", 300);
	}
	struct read r = columns_of(b);
	const struct tfp_line_stats *s = line_of(&r, 0, 0);
	assert_int_equal(s->correlated.count, 67);
	assert_non_null(s->narrow_ids);
	uint32_t rank = 0;
	size_t next = tfp_event_set_next(&s->correlated, 0, 200);
	for (size_t i = 0; i < 200; i++) {
		assert_int_equal(tfp_event_set_has(&s->correlated, i), i % 3 == 0);
		if (i % 3)
			continue;
		assert_int_equal(next, i);
		assert_int_equal(tfp_event_set_rank(&s->correlated, i), rank);
		assert_int_equal(tfp_event_set_at(&s->correlated, 200, rank), i);
		assert_int_equal(tfp_correlation_of(s, i), 1000 + i);
		assert_int_equal(s->devices[rank], i == 6   ? 1
						   : i == 9 ? TFP_OTHER_DEVICE
							    : TFP_NO_DEVICE);
		next = tfp_event_set_next(&s->correlated, i + 1, 200);
		rank++;
	}
	assert_true(next == SIZE_MAX);
	close_built(&r.o);
}

/* Ids of more than 32 bits make the column a wide one; those before stay as they are. */
static void test_wide_ids(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *gpu = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	(void)state;
	builder_stat_uint(builder_event(gpu, "a", 0, 5), "correlation_id", 7);
	builder_stat_uint(builder_event(gpu, "b", 10, 5), "correlation_id", UINT64_MAX - 1);
	builder_stat_int(builder_event(gpu, "c", 20, 5), "correlation_id", -4);
	builder_stat_str(builder_event(gpu, "d", 30, 5), "correlation_id", "text");
	struct builder_stats *e = builder_event(gpu, "e", 40, 5);
	builder_stat_uint(e, "correlation_id", 8);
	builder_stat_uint(e, "correlation_id", 9);
	struct read r = columns_of(b);
	const struct tfp_line_stats *s = line_of(&r, 0, 0);
	assert_non_null(s->wide_ids);
	assert_int_equal(s->correlated.count, 4);
	assert_int_equal(tfp_correlation_of(s, 0), 7);
	assert_true(tfp_correlation_of(s, 1) == UINT64_MAX - 1);
	assert_true(tfp_correlation_of(s, 2) == (uint64_t)-4);
	assert_int_equal(tfp_correlation_of(s, 4), 9);
	assert_false(tfp_event_set_has(&s->odd, 0));
	assert_false(tfp_event_set_has(&s->odd, 1));
	assert_true(tfp_event_set_has(&s->odd, 2));
	assert_true(tfp_event_set_has(&s->odd, 3));
	assert_true(tfp_event_set_has(&s->odd, 4));
	close_built(&r.o);
}

static void test_sets(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *host = builder_line(builder_plane(b, 0, "/host:CPU"), 1, "main", 0);
	(void)state;
	builder_stat_int(builder_event(host, "root", 0, 5), "_r", 1);
	builder_stat_str(builder_event(host, "call", 10, 5), "tf_function_call", "traced-xla");
	builder_stat_uint(builder_event(host, "flow", 20, 5), "flow", 12);
	builder_stat_uint(builder_event(host, "other", 30, 5), "bytes", 12);
	struct read r = columns_of(b);
	const struct tfp_line_stats *s = line_of(&r, 0, 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(tfp_event_set_has(&s->linked, i), i == 0);
		assert_int_equal(tfp_event_set_has(&s->calls, i), i == 1);
		assert_int_equal(tfp_event_set_has(&s->flowing, i), i == 2);
		assert_false(tfp_event_set_has(&s->correlated, i));
		assert_int_equal(tfp_kind_of(s, i), TFP_NO_KIND);
	}
	close_built(&r.o);
}

/* The same name and texts are one kind whatever the ids say; a text is the same whether it is
 * in the event or referred to only where it is so in both. */
static void test_kinds(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *gpu = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	static const char *const ops[] = {"a:A", "b:B", "a:A", "a:A", "b:B"};
	static const char *const kernels[] = {"k", "k", "k", "l", "k"};
	static const uint32_t kinds[] = {0, 1, 0, 2, 1};
	(void)state;
	for (int i = 0; i < 5; i++) {
		struct builder_stats *e = builder_event(gpu, kernels[i], i * 10, 5);
		builder_stat_ref(e, "tf_op", ops[i]);
		builder_stat_uint(e, "correlation_id", (uint64_t)i);
		builder_stat_uint(e, "queued", (uint64_t)i);
	}
	struct read r = columns_of(b);
	const struct tfp_line_stats *s = line_of(&r, 0, 0);
	assert_int_equal(s->kind_count, 3);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(tfp_kind_of(s, i), kinds[i]);
	assert_int_equal(s->first_of_kind[0], 0);
	assert_int_equal(s->first_of_kind[1], 1);
	assert_int_equal(s->first_of_kind[2], 3);
	close_built(&r.o);
}

/* Where every event is of its own kind there are none to speak of. */
static void test_too_many_kinds(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *gpu = builder_line(builder_plane(b, 0, "/device:GPU:0"), 1, "s", 0);
	(void)state;
	for (int i = 0; i < 3000; i++)
		builder_stat_int(builder_event(gpu, "k", i * 10, 5), "program_id", i);
	struct read r = columns_of(b);
	const struct tfp_line_stats *s = line_of(&r, 0, 0);
	assert_int_equal(s->kind_count, 0);
	assert_int_equal(tfp_kind_of(s, 0), TFP_NO_KIND);
	close_built(&r.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_correlation_ids),
		cmocka_unit_test(test_wide_ids),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_too_many_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
