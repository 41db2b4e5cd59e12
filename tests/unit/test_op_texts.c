/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "analysis/ops/op_texts.h"
#include "base/buf.h"
#include "support/sample_capture.h"
#include "wire/pb_writer.h"

#include <string.h>

/* ---- by hand: what is entered, found and merged ---- */

static void test_entries(void **state)
{
	struct tfp_op_texts texts;
	char long_name[400];
	(void)state;
	memset(long_name, 'n', sizeof(long_name));
	const struct tfp_str long_text = {long_name, sizeof(long_name)};
	tfp_op_texts_init(&texts);
	struct tfp_op_text *text = tfp_op_texts_enter(&texts, 7, str_of("add.1"));
	assert_non_null(text);
	text->expression = str_of("first");
	assert_non_null(tfp_op_texts_enter(&texts, 8, str_of("add.1")));
	assert_non_null(tfp_op_texts_enter(&texts, 7, long_text));
	assert_int_equal(texts.count, 3);
	/* The same identity is the same entry. */
	assert_str(tfp_op_texts_enter(&texts, 7, str_of("add.1"))->expression, "first");
	assert_int_equal(texts.count, 3);
	assert_str(tfp_op_texts_find(&texts, 8, str_of("add.1"))->expression, "");
	assert_int_equal(tfp_op_texts_find(&texts, 7, long_text)->name.size, sizeof(long_name));
	assert_null(tfp_op_texts_find(&texts, 9, str_of("add.1")));
	assert_null(tfp_op_texts_find(&texts, 7, str_of("add")));
	tfp_op_texts_release(&texts);
}

static void test_programs(void **state)
{
	static const uint64_t ids[] = {9, 3, UINT64_MAX, 5, 3};
	struct tfp_op_texts texts;
	(void)state;
	tfp_op_texts_init(&texts);
	for (size_t i = 0; i < COUNT(ids); i++)
		assert_non_null(tfp_op_texts_program(&texts, ids[i], str_of(i ? "p" : "first")));
	assert_int_equal(texts.program_count, 4);
	for (size_t i = 1; i < texts.program_count; i++)
		assert_true(texts.programs[i - 1].id < texts.programs[i].id);
	assert_str(tfp_op_texts_find_program(&texts, 9)->name, "first");
	assert_non_null(tfp_op_texts_find_program(&texts, UINT64_MAX));
	assert_null(tfp_op_texts_find_program(&texts, 4));
	tfp_op_texts_release(&texts);
}

static void test_merging(void **state)
{
	static const struct tfp_op_part part = {.depth = 1,
						.name = {"p", 1},
						.category = {"c", 1},
						.provenance = {":", 1},
						.expression = {"e", 1}};
	struct tfp_op_texts to, from;
	(void)state;
	tfp_op_texts_init(&to);
	tfp_op_texts_init(&from);
	struct tfp_op_text *text = tfp_op_texts_enter(&to, 1, str_of("a"));
	text->expression = str_of("mine");
	text = tfp_op_texts_enter(&from, 1, str_of("a"));
	text->expression = str_of("theirs");
	text->source_file = str_of("f.py");
	text->source_line = 12;
	text->parts = &part;
	text->part_count = 1;
	text = tfp_op_texts_enter(&from, 2, str_of("a"));
	text->deduplicated_name = str_of("d");
	tfp_op_texts_program(&to, 1, str_of("one"))->hosts = 1;
	tfp_op_texts_program(&from, 1, str_of("uno"))->hosts = 1;
	tfp_op_texts_program(&from, 2, str_of("two"))->instructions = 5;
	assert_true(tfp_op_texts_merge(&to, &from));
	tfp_op_texts_release(&from); /* what was merged is a copy */
	const struct tfp_op_text *merged = tfp_op_texts_find(&to, 1, str_of("a"));
	assert_str(merged->expression, "mine");
	assert_str(merged->source_file, "f.py");
	assert_int_equal(merged->source_line, 12);
	assert_int_equal(merged->part_count, 1);
	assert_str(merged->parts[0].expression, "e");
	assert_str(tfp_op_texts_find(&to, 2, str_of("a"))->deduplicated_name, "d");
	assert_str(tfp_op_texts_find_program(&to, 1)->name, "one");
	assert_int_equal(tfp_op_texts_find_program(&to, 1)->hosts, 2);
	assert_int_equal(tfp_op_texts_find_program(&to, 2)->instructions, 5);
	assert_true(tfp_op_texts_heap_bytes(&to) > 0);
	tfp_op_texts_release(&to);
}

/* ---- of a capture ---- */

enum { NAME = 1, OPCODE = 2, SHAPE = 3, METADATA = 7, KIND = 11, ID = 35, OPERANDS = 36 };
enum { CALLED = 38 };

static size_t begin_op(struct tfp_buf *b, int64_t id, const char *name, const char *opcode)
{
	size_t op = tfp_pb_begin(b, 2);
	tfp_pb_put_text(b, NAME, name);
	tfp_pb_put_text(b, OPCODE, opcode);
	tfp_pb_put_int(b, ID, id);
	size_t shape = tfp_pb_begin(b, SHAPE);
	tfp_pb_put_uint(b, 2, TFP_HLO_TYPE_F32);
	tfp_pb_end(b, shape);
	return op;
}

static size_t begin_computation(struct tfp_buf *b, int64_t id, const char *name, int64_t root)
{
	size_t computation = tfp_pb_begin(b, 3);
	tfp_pb_put_text(b, 1, name);
	tfp_pb_put_int(b, 5, id);
	tfp_pb_put_int(b, 6, root);
	return computation;
}

/* A fusion of a sine, in the program jit_f(7). */
static void put_program(struct builder *b)
{
	struct tfp_buf proto;
	tfp_buf_init(&proto, 1 << 20);
	size_t module = tfp_pb_begin(&proto, 1);
	tfp_pb_put_text(&proto, 1, "jit_f");
	tfp_pb_put_int(&proto, 6, 2);
	size_t computation = begin_computation(&proto, 1, "fused", 2);
	tfp_pb_end(&proto, begin_op(&proto, 1, "p", "parameter"));
	size_t op = begin_op(&proto, 2, "sine.1", "sine");
	tfp_pb_put_int(&proto, OPERANDS, 1);
	tfp_pb_end(&proto, op);
	tfp_pb_end(&proto, computation);
	computation = begin_computation(&proto, 2, "main", 4);
	tfp_pb_end(&proto, begin_op(&proto, 3, "x", "parameter"));
	op = begin_op(&proto, 4, "fusion", "fusion");
	tfp_pb_put_int(&proto, OPERANDS, 3);
	tfp_pb_put_int(&proto, CALLED, 1);
	tfp_pb_put_text(&proto, KIND, "kLoop");
	size_t metadata = tfp_pb_begin(&proto, METADATA);
	tfp_pb_put_text(&proto, 3, "model.py");
	tfp_pb_put_int(&proto, 4, 31);
	tfp_pb_put_text(&proto, 12, "fusion.same");
	tfp_pb_end(&proto, metadata);
	tfp_pb_end(&proto, op);
	tfp_pb_end(&proto, computation);
	tfp_pb_end(&proto, module);
	sample_add_module(builder_plane(b, 9, "/host:metadata"), "jit_f(7)", &proto);
	tfp_buf_release(&proto);
}

static void make(struct tfp_op_texts *texts, struct opened *o, const char *device)
{
	static const char *const names[] = {"fusion", "gone"};
	struct builder *b = builder_new();
	const struct tfp_hlo_modules *modules;
	struct tfp_op_db ops;
	struct tfp_error err;
	put_program(b);
	builder_plane(b, 0, device);
	*o = open_built(b);
	assert_int_equal(tfp_hlo_modules_get(o->capture, NULL, &modules, &err), TFP_OK);
	tfp_op_db_init(&ops);
	for (size_t i = 0; i < COUNT(names); i++) {
		struct tfp_op *op = tfp_op_db_enter(&ops, 7, str_of(names[i]));
		tfp_op_db_device(&ops, op)->origin = TFP_ORIGIN_INSTRUCTION;
	}
	/* What is no instruction has no text, whatever its name. */
	struct tfp_op *op = tfp_op_db_enter(&ops, 0, str_of("fusion"));
	tfp_op_db_device(&ops, op)->origin = TFP_ORIGIN_FRAMEWORK;
	tfp_op_texts_init(texts);
	assert_int_equal(tfp_op_texts_make(texts, o->capture, modules, &ops, &err), TFP_OK);
	tfp_op_db_release(&ops);
}

static void test_on_a_gpu(void **state)
{
	struct tfp_op_texts texts;
	struct opened o;
	(void)state;
	make(&texts, &o, "/device:GPU:0");
	assert_int_equal(texts.count, 1);
	const struct tfp_op_text *text = tfp_op_texts_find(&texts, 7, str_of("fusion"));
	assert_str(text->expression, "%fusion = f32[] fusion(f32[] %x), kind=kLoop, calls=%fused");
	assert_str(text->deduplicated_name, "fusion.same");
	assert_str(text->source_file, "model.py");
	assert_int_equal(text->source_line, 31);
	assert_int_equal(text->part_count, 0); /* XProf shows none there */
	assert_str(tfp_op_texts_find_program(&texts, 7)->name, "jit_f");
	assert_int_equal(tfp_op_texts_find_program(&texts, 7)->instructions, 4);
	tfp_op_texts_release(&texts);
	close_built(&o);
}

/* The profiler says there what an op is; the program, what a fusion is made of. */
static void test_on_a_tpu(void **state)
{
	struct tfp_op_texts texts;
	struct opened o;
	(void)state;
	make(&texts, &o, "/device:TPU:0");
	const struct tfp_op_text *text = tfp_op_texts_find(&texts, 7, str_of("fusion"));
	assert_str(text->expression, "");
	assert_int_equal(text->part_count, 1); /* parameters are none */
	assert_int_equal(text->parts[0].depth, 1);
	assert_str(text->parts[0].name, "sine.1");
	assert_str(text->parts[0].category, "non-fusion elementwise");
	assert_str(text->parts[0].provenance, ":");
	assert_str(text->parts[0].expression, "%sine.1 = f32[] sine(f32[] %p)");
	assert_non_null(tfp_op_texts_find(&texts, 7, str_of("gone")));
	tfp_op_texts_release(&texts);
	close_built(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),  cmocka_unit_test(test_programs),
		cmocka_unit_test(test_merging),  cmocka_unit_test(test_on_a_gpu),
		cmocka_unit_test(test_on_a_tpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
