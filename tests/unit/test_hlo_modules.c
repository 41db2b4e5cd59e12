/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/hlo/hlo_modules.h"
#include "support/sample_capture.h"

static const struct tfp_hlo_modules *modules_of(const struct opened *o)
{
	const struct tfp_hlo_modules *modules;
	struct tfp_error err;
	assert_int_equal(tfp_hlo_modules_get(o->capture, NULL, &modules, &err), TFP_OK);
	return modules;
}

static void add_module(struct builder_plane *p, const char *metadata_name,
		       const char *const (*instructions)[4], size_t count)
{
	struct tfp_buf proto;
	tfp_buf_init(&proto, 1 << 20);
	sample_hlo(&proto, "jit_f", instructions, count);
	sample_add_module(p, metadata_name, &proto);
	tfp_buf_release(&proto);
}

static void test_instructions(void **state)
{
	static const char *const instructions[][4] = {
		{"fusion.1", "fusion", "jit(f)/add", ""},
		{"add.2", "add", "a/Add", "AddV2"},
		{"tuple.3", "tuple", NULL, NULL},
	};
	struct builder *b = builder_new();
	(void)state;
	add_module(builder_plane(b, 0, "/host:metadata"), "jit_f(18446744073709551615)",
		   instructions, 3);
	struct opened o = open_built(b);
	const struct tfp_hlo_modules *m = modules_of(&o);
	assert_int_equal(m->module_count, 1);
	assert_int_equal(m->broken, 0);
	assert_false(m->is_training);
	assert_str(m->modules[0].name, "jit_f");
	assert_int_equal(m->modules[0].instruction_count, 3);
	const struct tfp_hlo_instruction *i = tfp_hlo_find(m, UINT64_MAX, str_of("fusion.1"));
	assert_non_null(i);
	assert_str(i->op_fullname, "jit(f)/add:");
	assert_str(tfp_hlo_find(m, UINT64_MAX, str_of("add.2"))->op_fullname, "a/Add:AddV2");
	assert_str(tfp_hlo_find(m, UINT64_MAX, str_of("tuple.3"))->op_fullname, "");
	assert_null(tfp_hlo_find(m, UINT64_MAX, str_of("none")));
	assert_null(tfp_hlo_find(m, 5, str_of("fusion.1")));
	assert_ptr_equal(modules_of(&o), m);
	close_built(&o);
}

static void test_categories(void **state)
{
	static const char *const instructions[][4] = {
		{"copy", "copy", NULL, NULL},
		{"transpose", "transpose", NULL, NULL},
		{"fusion", "fusion", NULL, NULL},
		{"convolution", "convolution", NULL, NULL},
		{"tanh", "tanh", NULL, NULL},
		{"custom-call", "custom-call", NULL, NULL},
		{"all-reduce", "all-reduce", NULL, NULL},
	};
	static const char *const expected[] = {
		"data formatting",        "data formatting", "loop fusion", "convolution",
		"non-fusion elementwise", "custom-call",     "all-reduce",
	};
	struct builder *b = builder_new();
	(void)state;
	add_module(builder_plane(b, 0, "/host:metadata"), "m(1)", instructions,
		   COUNT(instructions));
	struct opened o = open_built(b);
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_str(tfp_hlo_find(modules_of(&o), 1, str_of(instructions[i][0]))->category,
			   expected[i]);
	close_built(&o);
}

static void test_ids(void **state)
{
	static const char *const a[][4] = {{"a", "add", NULL, NULL}};
	static const char *const b_[][4] = {{"b", "add", NULL, NULL}};
	static const char *const c[][4] = {{"c", "add", NULL, NULL}};
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:metadata");
	(void)state;
	add_module(p, "no number", a, 1); /* by its key, 1 */
	add_module(p, "by name(77)", b_, 1);
	builder_stat_uint(builder_metadata_stats(p, "by stat(78)"), "program_id", 5);
	add_module(p, "by stat(78)", c, 1);
	add_module(builder_plane(b, 0, "/host:other"), "not ours(9)", a, 1);
	struct opened o = open_built(b);
	const struct tfp_hlo_modules *m = modules_of(&o);
	assert_int_equal(m->module_count, 3);
	assert_non_null(tfp_hlo_find(m, 1, str_of("a")));
	assert_non_null(tfp_hlo_find(m, 77, str_of("b")));
	assert_non_null(tfp_hlo_find(m, 5, str_of("c")));
	assert_null(tfp_hlo_find(m, 78, str_of("c")));
	assert_null(tfp_hlo_find(m, 9, str_of("a")));
	close_built(&o);
}

static void test_broken_modules_are_counted(void **state)
{
	static const char *const good[][4] = {{"a", "add", NULL, NULL}};
	struct builder *b = builder_new();
	struct builder_plane *p = builder_plane(b, 0, "/host:metadata");
	(void)state;
	builder_stat_bytes(builder_metadata_stats(p, "cut(1)"), "Hlo Proto", "\x0a\x7f", 2);
	builder_stat_bytes(builder_metadata_stats(p, "empty(2)"), "Hlo Proto", "", 0);
	builder_stat_str(builder_metadata_stats(p, "text(3)"), "Hlo Proto", "text");
	add_module(p, "good(4)", good, 1);
	struct opened o = open_built(b);
	const struct tfp_hlo_modules *m = modules_of(&o);
	assert_int_equal(m->broken, 2);
	assert_int_equal(m->module_count, 1);
	assert_non_null(tfp_hlo_find(m, 4, str_of("a")));
	close_built(&o);
}

static void test_the_old_name_of_the_stat(void **state)
{
	static const char *const list[][4] = {{"a", "add", "x/transpose(f)/y", ""}};
	struct builder *b = builder_new();
	struct tfp_buf proto;
	(void)state;
	tfp_buf_init(&proto, 1 << 20);
	sample_hlo(&proto, "m", list, 1);
	builder_stat_bytes(builder_metadata_stats(builder_plane(b, 0, "/host:metadata"), "m(3)"),
			   "HLO Proto", proto.data, proto.size);
	tfp_buf_release(&proto);
	struct opened o = open_built(b);
	assert_int_equal(modules_of(&o)->module_count, 1);
	assert_true(modules_of(&o)->is_training);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_categories),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_broken_modules_are_counted),
		cmocka_unit_test(test_the_old_name_of_the_stat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
