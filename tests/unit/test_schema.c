#include "testing.h"

#include "analysis/schema.h"

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
		cmocka_unit_test(test_plane_kinds),
		cmocka_unit_test(test_derived_lines),
		cmocka_unit_test(test_grouped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
