/* SPDX-License-Identifier: Apache-2.0 */
/* What a sound capture looks like in columns, and what odd ones become. */
#include "testing.h"

#include "base/pool.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct tfp_line *only_line(const struct opened *o)
{
	assert_int_equal(o->capture->plane_count, 1);
	assert_int_equal(o->capture->planes[0].line_count, 1);
	return &o->capture->planes[0].lines[0];
}

static void assert_event(const struct tfp_plane *plane, const struct tfp_line *line, size_t i,
			 const char *name, int64_t start_ps, int64_t duration_ps)
{
	assert_true(i < line->event_count);
	assert_str(tfp_event_meta(plane, line, i)->name, name);
	assert_int_equal(tfp_event_offset_ps(line, i), start_ps);
	assert_int_equal(tfp_event_duration_ps(line, i), duration_ps);
}

static void test_columns(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 3, "/device:GPU:3");
	struct builder_line *l = builder_line(p, -559038737, "Steps", 1500);
	(void)state;
	builder_line_display(l, 9, "shown");
	builder_event(l, "a", 0, 10);
	builder_event(l, "b", 5, 2);
	builder_event(l, "a", 20, 0);
	builder_event(builder_line(p, 7, "Stream #7", 0), "c", 1, 1);
	builder_hostname(b, "node-1");
	builder_warning(b, "w1");
	builder_warning(b, "w2");
	builder_error(b, "e");
	struct opened o = open_built(b);
	const struct tfp_capture *c = o.capture;
	assert_int_equal(c->plane_count, 1);
	assert_int_equal(c->line_count, 2);
	assert_int_equal(c->event_count, 4);
	assert_int_equal(c->diagnostic_count, 0);
	assert_int_equal(c->hostname_count, 1);
	assert_str(c->hostnames[0], "node-1");
	assert_int_equal(c->warning_count, 2);
	assert_str(c->warnings[1], "w2");
	assert_int_equal(c->error_count, 1);
	assert_str(c->errors[0], "e");
	const struct tfp_plane *plane = tfp_capture_find_plane(c, "/device:GPU:3");
	assert_ptr_equal(plane, &c->planes[0]);
	assert_null(tfp_capture_find_plane(c, "/device:GPU"));
	assert_int_equal(plane->id, 3);
	assert_int_equal(plane->event_meta_count, 4);
	const struct tfp_line *line = &plane->lines[0];
	assert_int_equal(line->id, -559038737);
	assert_int_equal(line->display_id, 9);
	assert_str(line->name, "Steps");
	assert_str(line->display_name, "shown");
	assert_str(plane->lines[1].display_name, "Stream #7");
	assert_int_equal(line->timestamp_ns, 1500);
	assert_int_equal(line->event_count, 3);
	assert_event(plane, line, 0, "a", 0, 10);
	assert_event(plane, line, 1, "b", 5, 2);
	assert_event(plane, line, 2, "a", 20, 0);
	assert_int_equal(tfp_event_start_ps(line, 1), 1500005);
	assert_int_equal(tfp_event_meta_index(line, 0), tfp_event_meta_index(line, 2));
	assert_true(c->heap_bytes > 0);
	close_built(&o);
}

static void test_metadata_may_come_first_or_last(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct builder *b = builder_new();
		struct builder_plane *p = builder_plane(b, 0, "p");
		if (first)
			builder_metadata_first(p);
		builder_event(builder_line(p, 1, "l", 0), "named", 1, 2);
		struct opened o = open_built(b);
		assert_event(&o.capture->planes[0], only_line(&o), 0, "named", 1, 2);
		close_built(&o);
	}
}

static void test_all_kinds_of_stats(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_stats *e = builder_event(builder_line(p, 1, "l", 0), "e", 1, 2);
	struct tfp_stat stat;
	struct tfp_str text;
	int64_t number;
	double real;
	(void)state;
	builder_stat_int(e, "int", -5);
	builder_stat_uint(e, "uint", UINT64_MAX);
	builder_stat_double(e, "double", 0.25);
	builder_stat_str(e, "str", "text");
	builder_stat_ref(e, "ref", "a value that many share");
	builder_stat_bytes(e, "bytes", "\0\1", 2);
	builder_stat_empty(e, "none");
	builder_stat_ref_id(e, "lost ref", 999);
	builder_stat_int(builder_metadata_stats(p, "e"), "int", 7);
	builder_stat_int(builder_plane_stats(p), "int", 8);
	struct opened o = open_built(b);
	const struct tfp_plane *plane = &o.capture->planes[0];
	struct tfp_stat_iter it = tfp_event_stats(only_line(&o), 0);

	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.metadata_id, tfp_plane_stat_id(plane, "int"));
	assert_int_equal(stat.kind, TFP_STAT_INT);
	assert_true(tfp_stat_int(&stat, &number));
	assert_int_equal(number, -5);
	assert_true(tfp_stat_double(&stat, &real));
	assert_true(real == -5);
	assert_false(tfp_stat_text(plane, &stat, &text));

	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_UINT);
	assert_true(tfp_stat_int(&stat, &number));
	assert_int_equal(number, -1);
	assert_true(tfp_stat_double(&stat, &real));
	assert_true(real == 18446744073709551616.0);

	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_DOUBLE);
	assert_false(tfp_stat_int(&stat, &number));
	assert_true(tfp_stat_double(&stat, &real));
	assert_true(real == 0.25);

	assert_true(tfp_stat_next(&it, &stat));
	assert_true(tfp_stat_text(plane, &stat, &text));
	assert_str(text, "text");
	assert_false(tfp_stat_int(&stat, &number));
	assert_false(tfp_stat_double(&stat, &real));

	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_REF);
	assert_true(tfp_stat_text(plane, &stat, &text));
	assert_str(text, "a value that many share");

	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_BYTES);
	assert_int_equal(stat.text.size, 2);
	assert_false(tfp_stat_text(plane, &stat, &text));

	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_NONE);
	assert_false(tfp_stat_int(&stat, &number));
	assert_false(tfp_stat_double(&stat, &real));
	assert_false(tfp_stat_text(plane, &stat, &text));

	assert_true(tfp_stat_next(&it, &stat));
	assert_true(tfp_stat_text(plane, &stat, &text));
	assert_str(text, "");
	assert_false(tfp_stat_next(&it, &stat));

	it = tfp_event_meta_stats(tfp_event_meta(plane, only_line(&o), 0));
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.int_value, 7);
	assert_false(tfp_stat_next(&it, &stat));
	it = tfp_plane_stats(plane);
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.int_value, 8);
	assert_false(tfp_stat_next(&it, &stat));
	assert_int_equal(tfp_plane_stat_id(plane, "nobody"), INT64_MIN);
	close_built(&o);
}

static void test_last_value_of_a_oneof_counts(void **state)
{
	/* metadata_id 1, int64_value 3, double_value 1.0 */
	static const char two_values[] = "\x22\x0d\x08\x01\x20\x03\x11\0\0\0\0\0\0\xf0\x3f";
	/* metadata_id 1, double_value as a varint, int64_value 4 */
	static const char wrong_type[] = "\x22\x06\x08\x01\x10\x07\x20\x04";
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_stats *e = builder_event(builder_line(p, 1, "l", 0), "e", 1, 2);
	struct tfp_stat stat;
	(void)state;
	builder_stat_metadata(p, 1, "s");
	builder_raw_stats(e, two_values, sizeof(two_values) - 1);
	builder_raw_stats(e, wrong_type, sizeof(wrong_type) - 1);
	struct opened o = open_built(b);
	struct tfp_stat_iter it = tfp_event_stats(only_line(&o), 0);
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_DOUBLE);
	assert_true(stat.double_value == 1.0);
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.kind, TFP_STAT_INT);
	assert_int_equal(stat.int_value, 4);
	assert_false(tfp_stat_next(&it, &stat));
	close_built(&o);
}

static void test_unsorted_events_are_sorted(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "p"), 1, "l", 0);
	struct tfp_stat stat;
	(void)state;
	builder_stat_int(builder_event(l, "late", 50, 1), "s", 1);
	builder_stat_int(builder_event(l, "first of equals", 10, 5), "s", 2);
	builder_stat_int(builder_event(l, "inner", 10, 2), "s", 3);
	builder_stat_int(builder_event(l, "outer", 10, 90), "s", 4);
	builder_stat_int(builder_event(l, "second of equals", 10, 5), "s", 5);
	builder_stat_int(builder_event(l, "negative", -3, 1), "s", 6);
	static const struct {
		const char *name;
		int64_t start, duration, stat;
	} expected[] = {
		{"negative", -3, 1, 6},         {"outer", 10, 90, 4}, {"first of equals", 10, 5, 2},
		{"second of equals", 10, 5, 5}, {"inner", 10, 2, 3},  {"late", 50, 1, 1},
	};
	struct opened o = open_built(b);
	const struct tfp_line *line = only_line(&o);
	assert_int_equal(line->event_count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_event(&o.capture->planes[0], line, i, expected[i].name, expected[i].start,
			     expected[i].duration);
		/* Stats have come along. */
		struct tfp_stat_iter it = tfp_event_stats(line, i);
		assert_true(tfp_stat_next(&it, &stat));
		assert_int_equal(stat.int_value, expected[i].stat);
	}
	assert_int_equal(o.capture->diagnostic_count, 0);
	close_built(&o);
}

static void test_many_unsorted_events(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "p"), 1, "l", 0);
	(void)state;
	for (int64_t i = 0; i < 3000; i++)
		builder_event(l, "e", (i * 7919) % 3000, i % 3);
	struct opened o = open_built(b);
	const struct tfp_line *line = only_line(&o);
	assert_int_equal(line->event_count, 3000);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(tfp_event_offset_ps(line, i), i);
	close_built(&o);
}

static void test_aggregated_events(void **state)
{
	/* An offset and then a count, and the other way round: the last one counts. */
	static const char count_last[] = "\x22\x08\x08\x01\x10\x09\x28\x03\x18\x04";
	static const char offset_last[] = "\x22\x08\x08\x01\x28\x03\x10\x09\x18\x04";
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "p"), 1, "l", 0);
	(void)state;
	builder_event_aggregated(l, "e", 12, 500);
	builder_raw_line(l, count_last, sizeof(count_last) - 1);
	builder_raw_line(l, offset_last, sizeof(offset_last) - 1);
	struct opened o = open_built(b);
	const struct tfp_line *line = only_line(&o);
	assert_int_equal(line->event_count, 3);
	assert_int_equal(line->aggregated, 2);
	assert_event(&o.capture->planes[0], line, 0, "e", 0, 500);
	assert_event(&o.capture->planes[0], line, 1, "e", 0, 4);
	assert_event(&o.capture->planes[0], line, 2, "e", 9, 4);
	close_built(&o);
}

static void test_impossible_times_are_clamped(void **state)
{
	struct builder *b = builder_new();
	struct builder_line *l = builder_line(builder_plane(b, 0, "p"), 1, "l", INT64_MAX);
	(void)state;
	builder_event(l, "negative duration", 10, -4);
	builder_event(l, "far", INT64_MAX, 1);
	builder_event(l, "long", 20, INT64_MAX);
	builder_event(l, "before time", INT64_MIN, INT64_MIN);
	struct opened o = open_built(b);
	const struct tfp_line *line = only_line(&o);
	const int64_t most = INT64_MAX / 4;
	assert_event(&o.capture->planes[0], line, 0, "before time", -most, 0);
	assert_event(&o.capture->planes[0], line, 1, "negative duration", 10, 0);
	assert_event(&o.capture->planes[0], line, 2, "long", 20, most);
	assert_event(&o.capture->planes[0], line, 3, "far", most, 1);
	assert_int_equal(tfp_event_start_ps(line, 1), INT64_MAX);
	assert_int_equal(o.capture->diagnostic_count, 1);
	/* Five numbers of the four events. */
	assert_non_null(strstr(o.capture->diagnostics[0].message, "impossible time"));
	assert_non_null(strstr(o.capture->diagnostics[0].message, "\"l\""));
	close_built(&o);
}

static void test_start_saturates(void **state)
{
	const int64_t block = -2;
	const uint32_t low[] = {3, 3, 1};
	const uint16_t high[] = {0, 0, 0};
	struct tfp_line line = {.timestamp_ns = INT64_MAX / 1000,
				.start_blocks_ps = &block,
				.start_low_ps = low,
				.start_high = high};
	(void)state;
	assert_int_equal(tfp_event_start_ps(&line, 0), INT64_MAX / 1000 * 1000 + 1);
	line.timestamp_ns = INT64_MAX;
	assert_int_equal(tfp_event_start_ps(&line, 1), INT64_MAX);
	line.timestamp_ns = INT64_MIN;
	assert_int_equal(tfp_event_start_ps(&line, 2), INT64_MIN);
}

static void test_missing_metadata(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_line *l = builder_line(p, 1, "l", 0);
	(void)state;
	builder_event(l, "known", 0, 1);
	builder_event_id(l, 77, 5, 1);
	builder_event_id(l, -1, 6, 1);
	builder_event_id(l, 0, 7, 1);
	builder_stat_int_id(builder_event(l, "known", 8, 1), 55, 1);
	struct opened o = open_built(b);
	const struct tfp_plane *plane = &o.capture->planes[0];
	const struct tfp_line *line = only_line(&o);
	assert_event(plane, line, 0, "known", 0, 1);
	for (size_t i = 1; i <= 3; i++) {
		assert_int_equal(tfp_event_meta_index(line, i), TFP_META_UNKNOWN);
		assert_event(plane, line, i, "", (int64_t)i + 4, 1);
	}
	struct tfp_stat_iter it = tfp_event_stats(line, 4);
	struct tfp_stat stat;
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(tfp_id_map_find(&plane->stat_meta_ids, stat.metadata_id), 0);
	assert_int_equal(o.capture->diagnostic_count, 1);
	assert_non_null(strstr(o.capture->diagnostics[0].message, "3 events"));
	close_built(&o);
}

static void test_duplicate_keys_last_wins(void **state)
{
	static const int64_t ids[] = {5, INT64_C(1) << 40, -9};
	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		struct builder *b = builder_new();
		struct builder_plane *p = builder_plane(b, 0, "p");
		builder_event_metadata(p, ids[i], "first");
		builder_event_metadata(p, 3, "other");
		builder_event_metadata(p, ids[i], "second");
		builder_event_metadata(p, ids[i], "third");
		builder_event_id(builder_line(p, 1, "l", 0), ids[i], 0, 1);
		builder_stat_metadata(p, ids[i], "s1");
		builder_stat_metadata(p, ids[i], "s2");
		struct opened o = open_built(b);
		const struct tfp_plane *plane = &o.capture->planes[0];
		assert_event(plane, only_line(&o), 0, "third", 0, 1);
		assert_int_equal(tfp_plane_stat_id(plane, "s2"), ids[i]);
		assert_int_equal(tfp_plane_stat_id(plane, "s1"), INT64_MIN);
		close_built(&o);
	}
}

static void test_the_key_of_the_map_counts(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_line *l = builder_line(p, 1, "l", 0);
	(void)state;
	builder_event_metadata_key(p, true, 4, 5, "key 4");
	builder_event_metadata_key(p, false, 0, 6, "no key");
	builder_event_id(l, 4, 0, 1);
	builder_event_id(l, 5, 1, 1);
	builder_event_id(l, 0, 2, 1);
	struct opened o = open_built(b);
	assert_event(&o.capture->planes[0], only_line(&o), 0, "key 4", 0, 1);
	assert_event(&o.capture->planes[0], only_line(&o), 1, "", 1, 1);
	assert_event(&o.capture->planes[0], only_line(&o), 2, "no key", 2, 1);
	close_built(&o);
}

static void test_id_maps(void **state)
{
	static const int64_t extremes[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	(void)state;
	for (size_t i = 0; i < COUNT(extremes); i++)
		builder_event_metadata(p, extremes[i], "x");
	for (int64_t i = 0; i < 2000; i++)
		builder_stat_metadata(p, i * 2, "y");
	struct opened o = open_built(b);
	const struct tfp_plane *plane = &o.capture->planes[0];
	for (size_t i = 0; i < COUNT(extremes); i++)
		assert_int_equal(tfp_id_map_find(&plane->event_meta_ids, extremes[i]), i + 1);
	assert_int_equal(tfp_id_map_find(&plane->event_meta_ids, 2), 0);
	assert_int_equal(tfp_id_map_find(&plane->event_meta_ids, INT64_MAX - 1), 0);
	assert_true(plane->stat_meta_ids.dense);
	for (int64_t i = 0; i < 4000; i++)
		assert_int_equal(tfp_id_map_find(&plane->stat_meta_ids, i),
				 i % 2 == 0 ? i / 2 + 1 : 0);
	assert_int_equal(tfp_id_map_find(&plane->stat_meta_ids, -1), 0);
	assert_int_equal(tfp_id_map_find(&plane->stat_meta_ids, INT64_MAX), 0);
	assert_int_equal(tfp_id_map_find(&plane->stat_meta_ids, INT64_MIN), 0);
	close_built(&o);
}

static void test_names_may_be_any_bytes(void **state)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:\xff\xfe");
	(void)state;
	builder_event(builder_line(p, 1, "\x80line", 0), "\xc3(event", 0, 1);
	builder_event_id(builder_line(p, 2, "\xf0\x9f line", 0), 99, 0, 1);
	struct opened o = open_built(b);
	assert_str(o.capture->planes[0].name, "/host:\xff\xfe");
	assert_event(&o.capture->planes[0], &o.capture->planes[0].lines[0], 0, "\xc3(event", 0, 1);
	/* What we say about it is UTF-8. */
	assert_int_equal(o.capture->diagnostic_count, 1);
	assert_non_null(strstr(o.capture->diagnostics[0].message, "\xef\xbf\xbd line"));
	assert_non_null(
		strstr(o.capture->diagnostics[0].message, "/host:\xef\xbf\xbd\xef\xbf\xbd"));
	close_built(&o);
}

static void test_unknown_fields_are_skipped(void **state)
{
	/* Field 2000 as a group that holds a group, a text and a number. */
	static const char group[] = "\x83\x7d\x0b\x12\x03"
				    "abc\x0c\x10\x96\x01\x84\x7d";
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_line *l = builder_line(p, 1, "l", 0);
	struct builder_stats *e = builder_event(l, "e", 3, 4);
	struct tfp_stat stat;
	(void)state;
	builder_raw_stats(e, group, sizeof(group) - 1);
	builder_stat_int(e, "s", 5);
	builder_unknown_fields(b);
	builder_raw(b, group, sizeof(group) - 1);
	builder_raw_plane(p, group, sizeof(group) - 1);
	builder_raw_line(l, group, sizeof(group) - 1);
	builder_raw_stats(builder_metadata_stats(p, "e"), group, sizeof(group) - 1);
	struct opened o = open_built(b);
	assert_int_equal(o.capture->diagnostic_count, 0);
	assert_event(&o.capture->planes[0], only_line(&o), 0, "e", 3, 4);
	struct tfp_stat_iter it = tfp_event_stats(only_line(&o), 0);
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.int_value, 5);
	assert_false(tfp_stat_next(&it, &stat));
	close_built(&o);
}

static void test_many_lines_with_threads(void **state)
{
	struct tfp_pool *pool;
	struct tfp_error err;
	struct tfp_capture *capture;
	struct builder *b = builder_new();
	size_t size;
	(void)state;
	for (int64_t i = 0; i < 20; i++) {
		struct builder_plane *p = builder_plane(b, i, "p");
		for (int64_t k = 0; k < 20; k++) {
			struct builder_line *l = builder_line(p, k, "l", 0);
			for (int64_t n = 0; n < k; n++)
				builder_event(l, "e", 100 - n, i);
		}
	}
	uint8_t *bytes = builder_bytes(b, &size);
	builder_free(b);
	assert_int_equal(tfp_pool_new(&pool, 3, &err), TFP_OK);
	assert_int_equal(tfp_capture_from_bytes(&capture, bytes, size, "x", pool, &err), TFP_OK);
	tfp_pool_free(pool);
	assert_int_equal(capture->line_count, 400);
	assert_int_equal(capture->event_count, 20 * 190);
	for (size_t i = 0; i < 20; i++) {
		for (size_t k = 0; k < 20; k++) {
			const struct tfp_line *line = &capture->planes[i].lines[k];
			assert_int_equal(line->id, k);
			assert_int_equal(line->event_count, k);
			for (size_t n = 0; n < k; n++)
				assert_event(&capture->planes[i], line, n, "e",
					     (int64_t)(101 - k + n), (int64_t)i);
		}
	}
	tfp_capture_unref(capture);
	free(bytes);
}

static void test_references(void **state)
{
	struct builder *b = builder_new();
	(void)state;
	builder_plane(b, 0, "p");
	struct opened o = open_built(b);
	assert_ptr_equal(tfp_capture_ref(o.capture), o.capture);
	tfp_capture_unref(o.capture);
	assert_int_equal(o.capture->plane_count, 1);
	close_built(&o);
	tfp_capture_unref(NULL);
}

/* ---- large files, of holes ---- */

#define HOLE (UINT64_C(9) << 29) /* 4.5 GiB */

static size_t put_varint(uint8_t *out, uint64_t value)
{
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		out[n++] = (uint8_t)(value | 0x80);
	out[n++] = (uint8_t)value;
	return n;
}

/* Writes a key (fields below 16, with a length) at *at. */
static void put_length(int fd, uint64_t *at, unsigned field, uint64_t length)
{
	uint8_t head[11] = {(uint8_t)(field << 3 | 2)};
	size_t n = 1 + put_varint(head + 1, length);
	assert_int_equal(pwrite(fd, head, n, (off_t)*at), n);
	*at += n;
}

static uint64_t head_size(uint64_t length)
{
	uint8_t head[10];
	return 1 + put_varint(head, length);
}

static void put_bytes(int fd, uint64_t *at, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)*at), size);
	*at += size;
}

static struct tfp_capture *open_file(int fd)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	if (tfp_capture_open(&capture, fd, "large", TFP_PLAIN, UINT64_MAX, NULL, &err) != TFP_OK)
		fail_msg("%s", err.message);
	close(fd);
	return capture;
}

/* id 1, name "e", start 5, duration 6 with an int stat 7 of metadata 1 */
static const char an_event[] = "\x22\x0c\x08\x01\x10\x05\x18\x06\x22\x04\x08\x01\x20\x07";
static const char its_names[] = "\x22\x09\x08\x01\x12\x05\x08\x01\x12\x01"
				"e"
				"\x2a\x09\x08\x01\x12\x05\x08\x01\x12\x01"
				"s";

static void check_the_event(const struct tfp_plane *plane, const struct tfp_line *line, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	assert_event(plane, line, i, "e", 5, 6);
	assert_true(tfp_stat_next(&it, &stat));
	assert_int_equal(stat.int_value, 7);
	assert_int_equal(stat.metadata_id, tfp_plane_stat_id(plane, "s"));
}

static void test_data_after_four_gibibytes(void **state)
{
	const size_t event = sizeof(an_event) - 1, names = sizeof(its_names) - 1;
	/* name "p", an unknown field 15 of 4.5 GiB, a line of one event, names */
	const uint64_t plane = 3 + head_size(HOLE) + HOLE + 2 + event + names;
	int fd = memfd_create("large", 0);
	uint64_t at = 0;
	(void)state;
	put_length(fd, &at, 1, plane);
	put_bytes(fd, &at, "\x12\x01p", 3);
	put_length(fd, &at, 15, HOLE);
	at += HOLE;
	put_length(fd, &at, 3, event);
	put_bytes(fd, &at, an_event, event);
	put_bytes(fd, &at, its_names, names);
	put_bytes(fd, &at, "\x0a\x03\x12\x01q\x22\x01h", 8);
	struct tfp_capture *capture = open_file(fd);
	assert_int_equal(capture->diagnostic_count, 0);
	assert_int_equal(capture->plane_count, 2);
	assert_int_equal(capture->planes[0].line_count, 1);
	check_the_event(&capture->planes[0], &capture->planes[0].lines[0], 0);
	assert_str(capture->planes[1].name, "q");
	assert_str(capture->hostnames[0], "h");
	assert_true(capture->heap_bytes < 1 << 20);
	tfp_capture_unref(capture);
}

static void test_line_of_more_than_four_gibibytes(void **state)
{
	const size_t event = sizeof(an_event) - 1, names = sizeof(its_names) - 1;
	/* an event, an unknown field 15 of 4.5 GiB, an earlier and the same event */
	static const char earlier[] = "\x22\x04\x08\x01\x10\x02";
	const uint64_t line = head_size(HOLE) + HOLE + 2 * event + sizeof(earlier) - 1;
	const uint64_t plane = head_size(line) + line + names;
	int fd = memfd_create("large", 0);
	uint64_t at = 0;
	(void)state;
	put_length(fd, &at, 1, plane);
	put_length(fd, &at, 3, line);
	put_bytes(fd, &at, an_event, event);
	put_length(fd, &at, 15, HOLE);
	at += HOLE;
	put_bytes(fd, &at, earlier, sizeof(earlier) - 1);
	put_bytes(fd, &at, an_event, event);
	put_bytes(fd, &at, its_names, names);
	struct tfp_capture *capture = open_file(fd);
	assert_int_equal(capture->diagnostic_count, 0);
	const struct tfp_plane *p = &capture->planes[0];
	const struct tfp_line *l = &p->lines[0];
	assert_int_equal(l->event_count, 3);
	assert_event(p, l, 0, "e", 2, 0);
	check_the_event(p, l, 1);
	check_the_event(p, l, 2);
	assert_true(tfp_event_message(l, 2).data - tfp_event_message(l, 1).data >
		    (ptrdiff_t)(UINT64_C(1) << 32));
	tfp_capture_unref(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_metadata_may_come_first_or_last),
		cmocka_unit_test(test_all_kinds_of_stats),
		cmocka_unit_test(test_last_value_of_a_oneof_counts),
		cmocka_unit_test(test_unsorted_events_are_sorted),
		cmocka_unit_test(test_many_unsorted_events),
		cmocka_unit_test(test_aggregated_events),
		cmocka_unit_test(test_impossible_times_are_clamped),
		cmocka_unit_test(test_start_saturates),
		cmocka_unit_test(test_missing_metadata),
		cmocka_unit_test(test_duplicate_keys_last_wins),
		cmocka_unit_test(test_the_key_of_the_map_counts),
		cmocka_unit_test(test_id_maps),
		cmocka_unit_test(test_names_may_be_any_bytes),
		cmocka_unit_test(test_unknown_fields_are_skipped),
		cmocka_unit_test(test_many_lines_with_threads),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_data_after_four_gibibytes),
		cmocka_unit_test(test_line_of_more_than_four_gibibytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
