/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/events/schema.h"
#include "wire/pb_writer.h"

static void test_stats_by_place_in_the_list(void **state)
{
	static const char *const names[] = {"group_id", "missing", "tf_op"};
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_stats *e = builder_event(builder_line(p, 1, "l", 0), "e", 0, 1);
	struct tfp_schema schema;
	struct tfp_error err;
	struct tfp_stat stat;
	int places[4];
	(void)state;
	builder_stat_int(e, "other", 1);
	builder_stat_str(e, "tf_op", "x");
	builder_stat_int(e, "group_id", 1);
	builder_stat_int_id(e, 99, 1);
	struct opened o = open_built(b);
	const struct tfp_plane *plane = &o.capture->planes[0];
	assert_int_equal(tfp_schema_init(&schema, plane, names, 3, &err), TFP_OK);
	assert_true(tfp_schema_has(&schema, 0));
	assert_false(tfp_schema_has(&schema, 1));
	assert_true(tfp_schema_has(&schema, 2));
	struct tfp_stat_iter it = tfp_event_stats(&plane->lines[0], 0);
	for (size_t i = 0; i < 4; i++) {
		assert_true(tfp_stat_next(&it, &stat));
		places[i] = tfp_schema_of(&schema, &stat);
	}
	assert_int_equal(places[0], -1);
	assert_int_equal(places[1], 2);
	assert_int_equal(places[2], 0);
	assert_int_equal(places[3], -1);
	tfp_schema_release(&schema);
	close_built(&o);
}

/* Wanted stats among others in every form that writers have, and in forms that none has. */
static void test_only_wanted_stats(void **state)
{
	/* A double (wire type 1), as a field of the event that nobody knows. */
	static const char unknown[] = "\x79\0\0\0\0\0\0\xf0\x3f";
	/* int64_value 5 before metadata_id 300, which is wanted; the other way round for 200. */
	static const char turned[] = "\x22\x05\x20\x05\x08\xac\x02";
	static const char turned_other[] = "\x22\x05\x20\x06\x08\xc8\x01";
	static const char *const names[] = {"a", "b", "c", "d"};
	static const int expected[] = {0, 1, 2, 0, 3, 2, 1};
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "p");
	struct builder_line *l = builder_line(p, 1, "l", 0);
	/* A start of nine bytes. */
	struct builder_stats *e = builder_event(l, "e", (int64_t)1 << 60, 1);
	struct tfp_schema schema;
	struct tfp_stat stat;
	char text[300];
	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	builder_stat_metadata(p, 1, "other");
	builder_stat_metadata(p, 2, "a");
	builder_stat_metadata(p, 200, "far");
	builder_stat_metadata(p, 300, "b");
	builder_stat_metadata(p, 20000, "c");
	builder_stat_metadata(p, INT64_MAX, "d");
	builder_stat_int_id(e, 1, INT64_MIN);
	builder_stat_int_id(e, 2, 10);
	builder_stat_int_id(e, 200, 1);
	builder_stat_int_id(e, 300, 11);
	builder_stat_str(e, "other", text);
	builder_stat_int_id(e, 20000, 12);
	builder_raw_stats(e, unknown, sizeof(unknown) - 1);
	builder_stat_str(e, "a", text);
	builder_stat_int_id(e, INT64_MAX, 13);
	builder_stat_int_id(e, -1, 1);
	builder_stat_double(e, "c", 1.5);
	builder_raw_stats(e, turned_other, sizeof(turned_other) - 1);
	builder_raw_stats(e, turned, sizeof(turned) - 1);
	builder_stat_int_id(e, 1, 0);
	/* Nothing of these two, up to their last byte. */
	builder_event(l, "short", 1, 1);
	builder_stat_int_id(builder_event(l, "none", 2, 2), 1, 1);
	struct opened o = open_built(b);
	const struct tfp_plane *plane = &o.capture->planes[0];
	assert_int_equal(tfp_schema_init(&schema, plane, names, COUNT(names), NULL), TFP_OK);
	struct tfp_stat_iter it = tfp_event_stats(&plane->lines[0], 2);
	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_int_equal(tfp_schema_next(&schema, &it, &stat), expected[i]);
		if (i < 3)
			assert_int_equal(stat.int_value, 10 + i);
	}
	assert_int_equal(stat.int_value, 5);
	assert_int_equal(tfp_schema_next(&schema, &it, &stat), -1);
	assert_int_equal(tfp_schema_next(&schema, &it, &stat), -1);
	for (size_t i = 0; i < 2; i++) {
		it = tfp_event_stats(&plane->lines[0], i);
		assert_int_equal(tfp_schema_next(&schema, &it, &stat), -1);
	}
	tfp_schema_release(&schema);
	close_built(&o);
}

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (random_state >> 33) % limit;
}

/* Numbers of every length, negative ones too. */
static uint64_t random_number(void)
{
	uint64_t number = random_below(1u << 31) << 31 | random_below(1u << 31);
	return random_below(4) == 0 ? -number : number >> random_below(62);
}

static void put_random_stat(struct tfp_buf *b)
{
	static const int64_t ids[] = {0, 1, 5, 127, 128, 300, 16383, 16384, 70000, -1};
	char text[300] = "text";
	size_t stat = tfp_pb_begin(b, 4);
	if (random_below(20))
		tfp_pb_put_int(b, 1, ids[random_below(COUNT(ids))]);
	switch (random_below(9)) {
	case 0:
		tfp_pb_put_double(b, 2, 0.5);
		break;
	case 1:
		tfp_pb_put_uint(b, 3, random_number());
		break;
	case 2:
	case 3:
		tfp_pb_put_uint(b, 4, random_number());
		break;
	case 4:
		tfp_pb_put_uint(b, 7, random_number());
		break;
	case 5:
		tfp_pb_put_bytes(b, 5, text, random_below(sizeof(text)));
		break;
	case 6:
		tfp_pb_put_bytes(b, 6, text, random_below(4));
		break;
	case 7:
		tfp_pb_put_uint(b, 3, random_number());
		tfp_pb_put_uint(b, 4, random_number()); /* the last value counts */
		break;
	default:
		break; /* no value */
	}
	if (random_below(30) == 0)
		tfp_pb_put_uint(b, 900, 1); /* a field of tomorrow */
	tfp_pb_end(b, stat);
}

static void put_random_event(struct tfp_buf *b)
{
	tfp_pb_put_uint(b, 1, random_below(1000));
	tfp_pb_put_uint(b, 2, random_number());
	tfp_pb_put_uint(b, 3, random_number());
	for (uint64_t n = random_below(6); n > 0; n--) {
		if (random_below(20) == 0)
			tfp_pb_put_double(b, 9, 1.0);
		if (random_below(20) == 0)
			tfp_pb_put_uint(b, 17, 3);
		put_random_stat(b);
	}
}

/* The stats passed over must be those that decoding all would have left out. */
static void test_wanted_are_those_of_all(void **state)
{
	static const int64_t keys[] = {1, 5, 127, 128, 300, 16383, 16384};
	static const uint32_t indexes[] = {1, 2, 3, 4, 5, 6, 7};
	static const uint8_t table[] = {0, 0, 3, 1, 2, 0, 7, 9};
	const struct tfp_plane plane = {.stat_meta_ids = {keys, indexes, COUNT(keys), false}};
	size_t found = 0;
	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		struct tfp_buf b;
		struct tfp_stat all, wanted;
		tfp_buf_init(&b, 1 << 20);
		put_random_event(&b);
		/* Also cut anywhere. */
		size_t size = round % 3 ? b.size : random_below(b.size + 1);
		/* So that the sanitizer sees every byte beyond. */
		uint8_t *bytes = malloc(size + 1);
		assert_non_null(bytes);
		memcpy(bytes, b.data, size);
		uint8_t *data = realloc(bytes, size ? size : 1);
		struct tfp_stat_iter it = {tfp_pb_cursor(data, size), 4};
		struct tfp_stat_iter few = it, texts = it;
		while (tfp_stat_next(&it, &all)) {
			if (all.kind == TFP_STAT_STR || all.kind == TFP_STAT_REF) {
				assert_true(tfp_stat_next_text(&texts, &wanted));
				assert_int_equal(wanted.kind, all.kind);
				assert_int_equal(wanted.metadata_id, all.metadata_id);
			}
			int which = table[tfp_id_map_find(&plane.stat_meta_ids, all.metadata_id)];
			if (!which)
				continue;
			assert_int_equal(
				tfp_stat_next_of(&few, &plane.stat_meta_ids, table, &wanted),
				which);
			assert_int_equal(wanted.kind, all.kind);
			assert_int_equal(wanted.metadata_id, all.metadata_id);
			if (all.kind == TFP_STAT_STR || all.kind == TFP_STAT_BYTES)
				assert_ptr_equal(wanted.text.data, all.text.data);
			else if (all.kind != TFP_STAT_NONE)
				assert_true(wanted.uint_value == all.uint_value);
			found++;
		}
		assert_int_equal(tfp_stat_next_of(&few, &plane.stat_meta_ids, table, &wanted), 0);
		assert_false(tfp_stat_next_text(&texts, &wanted));
		free(data);
		tfp_buf_release(&b);
	}
	assert_true(found > 10000);
}

static void test_plane_kinds(void **state)
{
	static const struct {
		const char *name;
		enum tfp_plane_kind kind;
	} cases[] = {
		{"/host:CPU", TFP_PLANE_HOST},
		{"/host:CPU [123]", TFP_PLANE_OTHER},
		{"/host:metadata", TFP_PLANE_METADATA},
		{"/device:GPU:0", TFP_PLANE_GPU},
		{"/device:GPU:12", TFP_PLANE_GPU},
		{"/device:TPU:0", TFP_PLANE_TPU},
		{"/device:TPU:15", TFP_PLANE_TPU},
		{"/device:TPU:0 SparseCore 1", TFP_PLANE_SPARSE_CORE},
		{"/device:TPU:12 SparseCore Tile 3", TFP_PLANE_SPARSE_CORE},
		{"/device:TPU: SparseCore 1", TFP_PLANE_OTHER},
		{"/device:TPU:0 SparseCore ", TFP_PLANE_OTHER},
		{"/device:TPU:0 SparseCore Tile", TFP_PLANE_OTHER},
		{"/device:TPU:0 SparseCore 1x", TFP_PLANE_OTHER},
		{"/device:CUSTOM:x", TFP_PLANE_OTHER},
		{"#Chip 0", TFP_PLANE_OTHER},
		{"Task Environment", TFP_PLANE_OTHER},
		{"", TFP_PLANE_OTHER},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tfp_plane_kind(str_of(cases[i].name)), cases[i].kind);
}

static void test_derived_lines(void **state)
{
	static const struct {
		int64_t id;
		bool derived;
	} cases[] = {
		{-559038737, true}, /* Steps: 0xdeadbeef as an int */
		{-559038732, true}, /* XLA ops */
		{-559038730, true}, /* source */
		{-559038738, false},
		{INT64_C(0xdeadbeef), true},                      /* not sign-extended */
		{(INT64_C(5) << 32) | INT64_C(0xdeadbeef), true}, /* a thread id cut to an int */
		{0, false},
		{7, false},
		{-1, false},
		{INT64_MAX, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct tfp_line line = {.id = cases[i].id};
		assert_int_equal(tfp_line_is_derived(&line), cases[i].derived);
	}
}

static bool is_grouped(const char *first, bool first_knows, const char *second, bool second_knows)
{
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, first);
	if (first_knows)
		builder_stat_name_id(p, "group_id");
	p = builder_plane(b, 0, second);
	if (second_knows)
		builder_stat_name_id(p, "group_id");
	struct opened o = open_built(b);
	bool grouped = tfp_capture_is_grouped(o.capture);
	close_built(&o);
	return grouped;
}

static void test_grouped(void **state)
{
	(void)state;
	assert_true(is_grouped("/host:CPU", true, "/device:GPU:0", true));
	assert_false(is_grouped("/host:CPU", true, "/device:GPU:0", false));
	assert_false(is_grouped("/host:CPU", false, "/device:GPU:0", true));
	/* Planes of other kinds have no say. */
	assert_true(is_grouped("/host:CPU", true, "Task Environment", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats_by_place_in_the_list),
		cmocka_unit_test(test_only_wanted_stats),
		cmocka_unit_test(test_wanted_are_those_of_all),
		cmocka_unit_test(test_plane_kinds),
		cmocka_unit_test(test_derived_lines),
		cmocka_unit_test(test_grouped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
