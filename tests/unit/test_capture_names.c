/* SPDX-License-Identifier: Apache-2.0 */
/* What names and expressions of a capture say: scopes, passes, shapes. */
#include "testing.h"

#include "tfprof/capture_path.h"
#include "tfprof/capture_shapes.h"
#include "tfprof/tree.h"

#include <stdio.h>

static struct tfp_str str(const char *text)
{
	return (struct tfp_str){text, strlen(text)};
}

/* The parts with '|' between them. */
static void join(const struct tfp_path *path, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; i < path->count && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%.*s", i ? "|" : "",
					 (int)path->parts[i].size, path->parts[i].data);
}

static void check_path(const char *name, const char *kept, const char *stripped)
{
	struct tfp_path path;
	char text[256];
	tfp_path_read(str(name), false, &path);
	join(&path, text, sizeof(text));
	assert_string_equal(text, kept);
	tfp_path_read(str(name), true, &path);
	join(&path, text, sizeof(text));
	assert_string_equal(text, stripped);
}

static void test_paths(void **state)
{
	(void)state;
	check_path("a/b/c", "a|b|c", "a|b|c");
	check_path("//a//b/", "a|b", "a|b");
	check_path("", "", "");
	check_path("jit(f)/jit(main)/transpose(jvp(Mlp))/dot",
		   "jit(f)|jit(main)|transpose(jvp(Mlp))|dot", "f|Mlp|dot");
	check_path("jit(f)/vmap(jvp(a/b))/c", "jit(f)|vmap(jvp(a/b))|c", "f|a/b|c");
	check_path("jit(f)/jvp()/checkpoint/rematted_computation/mul",
		   "jit(f)|jvp()|checkpoint|rematted_computation|mul", "f|mul");
	/* Brackets that nobody closes, or opens, and those of no transformation. */
	check_path("a(b/c/d", "a(b|c|d", "a(b|c|d");
	check_path("a)/b(c)/d", "a)|b(c)|d", "a)|b(c)|d");
	/* A name must stay. */
	check_path("jit(main)", "jit(main)", "jit(main)");
}

static void test_long_paths(void **state)
{
	struct tfp_path path;
	char name[2 * 300];
	(void)state;
	for (size_t i = 0; i < sizeof(name); i += 2) {
		name[i] = 'a';
		name[i + 1] = '/';
	}
	tfp_path_read((struct tfp_str){name, sizeof(name)}, false, &path);
	assert_int_equal(path.count, TFP_PATH_PARTS_MAX);
	assert_int_equal(path.parts[TFP_PATH_PARTS_MAX - 1].size,
			 sizeof(name) - 2 * (TFP_PATH_PARTS_MAX - 1));
	memset(name, '(', sizeof(name));
	tfp_path_read((struct tfp_str){name, sizeof(name)}, true, &path);
	assert_int_equal(path.count, 1);
}

static void check_parameter(const char *name, const char *expected)
{
	struct tfp_path path;
	char text[256];
	tfp_path_read_parameter(str(name), &path);
	join(&path, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_parameters(void **state)
{
	(void)state;
	check_parameter("params['Dense_0']['kernel']", "params|Dense_0|kernel");
	check_parameter("state.params[\"a\"].b", "state.params|a|b");
	check_parameter("params", "params");
	check_parameter("[]", "[]");
	check_parameter("", "");
}

static void test_passes(void **state)
{
	const struct tfp_str none = {"", 0};
	(void)state;
	assert_int_equal(tfp_path_passes(str("jit(f)/jvp(a)/dot"), str("dot"), none), TFP_FORWARD);
	assert_int_equal(tfp_path_passes(str("jit(f)/transpose(jvp(a))/dot"), str("dot"), none),
			 TFP_BACKWARD);
	assert_int_equal(
		tfp_path_passes(str("jit(f)/vmap(transpose(jvp(a)))/dot"), str("dot"), none),
		TFP_BACKWARD);
	assert_int_equal(tfp_path_passes(str("jit(f)/transpose(jvp(a))/rematted_computation/dot"),
					 str("dot"), none),
			 TFP_BACKWARD | TFP_REMATERIALISED);
	assert_int_equal(tfp_path_passes(str("jit(f)/add"), str("add"), str("add.3.remat2")),
			 TFP_REMATERIALISED);
	assert_int_equal(tfp_path_passes(str("gradient_tape/m/MatMul"), str("MatMul"), none),
			 TFP_BACKWARD);
	assert_int_equal(tfp_path_passes(str("m/MatMul"), str("MatMul"), none), 0);
}

static void check_shapes(const char *expression, const char *output, const char *inputs)
{
	struct tfp_shapes shapes;
	char text[256] = "";
	size_t used = 0;
	assert_true(tfp_shapes_read(str(expression), &shapes));
	assert_int_equal(shapes.output.size, strlen(output));
	assert_memory_equal(shapes.output.data, output, strlen(output));
	for (size_t i = 0; i < shapes.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s", i ? "|" : "",
					 (int)shapes.inputs[i].size, shapes.inputs[i].data);
	assert_string_equal(text, inputs);
}

static void test_shapes(void **state)
{
	static const char *const none[] = {"",
					   "dot",
					   "%a = ",
					   "%a = f32[2]",
					   "%a = f32[2] add(",
					   "%a = f32[2] add(%b, %c)",
					   "%a = (f32[2",
					   "%a = f32[ add("};
	struct tfp_shapes shapes;
	char many[4096] = "%t = () tuple(";
	(void)state;
	check_shapes("%dot.3 = f32[8,4]{1,0} dot(f32[8,16]{1,0} %a, f32[16,4]{1,0} %b), "
		     "lhs_contracting_dims={1}",
		     "f32[8,4]{1,0}", "f32[8,16]{1,0}|f32[16,4]{1,0}");
	check_shapes("%w = (s32[], f32[2]{0}) while((s32[], f32[2]{0}) %t), body=%b",
		     "(s32[], f32[2]{0})", "(s32[], f32[2]{0})");
	check_shapes("%c = f32[]{:T(128)} constant()", "f32[]{:T(128)}", "");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(tfp_shapes_read(str(none[i]), &shapes));
	for (int i = 0; i < 100; i++)
		strcat(many, i ? ", s32[] %a" : "s32[] %a");
	strcat(many, ")");
	assert_true(tfp_shapes_read(str(many), &shapes));
	assert_int_equal(shapes.count, TFP_SHAPES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),      cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_parameters), cmocka_unit_test(test_passes),
		cmocka_unit_test(test_shapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
