/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions as text against what XLA printed for the same modules: files
 * MODULE.hlo_proto.pb and MODULE.long_txt.txt of tests/golden/hlo_costs (README.md there), and
 * by hand what these lack.
 */
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "testing.h"
#include "wire/pb_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *module, const char *ending, size_t *size)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s%s", TFP_TEST_DATA, module, ending);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*size = (size_t)ftell(f);
	rewind(f);
	char *data = malloc(*size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, f), *size);
	data[*size] = '\0';
	fclose(f);
	return data;
}

/* Every instruction is one line of XLA's text, after two blanks and perhaps "ROOT ". */
static void check_module(const char *module)
{
	size_t size, text_size, lines = 0;
	char *bytes = read_file(module, ".hlo_proto.pb", &size);
	char *text = read_file(module, ".long_txt.txt", &text_size);
	struct tfp_hlo_program program;
	struct tfp_error err;
	struct tfp_buf buf;
	assert_int_equal(tfp_hlo_program_init(&program, (struct tfp_str){bytes, size}, &err),
			 TFP_OK);
	tfp_buf_init(&buf, 1 << 20);
	for (uint32_t i = 0; i < program.instruction_count; i++) {
		bool is_root = program.computations[program.instructions[i].computation].root == i;
		tfp_buf_clear(&buf);
		tfp_buf_puts(&buf, is_root ? "\n  ROOT " : "\n  ");
		tfp_hlo_write_op(&program, i,
				 TFP_HLO_TEXT_BACKEND_CONFIG | TFP_HLO_TEXT_LARGE_CONSTANTS,
				 1 << 16, &buf);
		tfp_buf_putc(&buf, '\n');
		if (!strstr(text, tfp_buf_text(&buf)))
			fail_msg("%s: XLA does not print%s", module, buf.data);
	}
	for (const char *at = text; (at = strstr(at, "\n  ")); at++)
		lines++;
	assert_int_equal(lines, program.instruction_count);
	tfp_buf_release(&buf);
	tfp_hlo_program_release(&program);
	free(bytes);
	free(text);
}

static void test_modules(void **state)
{
	static const char *const modules[] = {"collectives", "elementwise", "fusions",
					      "matmul_conv", "reduce_etc"};
	(void)state;
	for (size_t i = 0; i < COUNT(modules); i++)
		check_module(modules[i]);
}

/* ---- by hand ---- */

enum { NAME = 1, OPCODE = 2, SHAPE = 3, LITERAL = 8, ID = 35, OPERANDS = 36, CONTROLS = 37 };
enum { CALLED = 38, SHARDING = 40, ATTRIBUTES = 68, THREAD = 79, METADATA = 7 };

struct made {
	struct tfp_buf bytes;
	struct tfp_hlo_program program;
	size_t module, computation;
};

static void begin(struct made *m)
{
	tfp_buf_init(&m->bytes, 1 << 20);
	m->module = tfp_pb_begin(&m->bytes, 1);
	tfp_pb_put_int(&m->bytes, 6, 9);
}

static void begin_computation(struct made *m, int64_t id, const char *name, int64_t root)
{
	m->computation = tfp_pb_begin(&m->bytes, 3);
	tfp_pb_put_text(&m->bytes, 1, name);
	tfp_pb_put_int(&m->bytes, 5, id);
	tfp_pb_put_int(&m->bytes, 6, root);
}

/* type: of an array without dimensions. */
static size_t begin_op(struct made *m, int64_t id, const char *name, const char *opcode,
		       unsigned type)
{
	size_t op = tfp_pb_begin(&m->bytes, 2);
	tfp_pb_put_text(&m->bytes, NAME, name);
	tfp_pb_put_text(&m->bytes, OPCODE, opcode);
	tfp_pb_put_int(&m->bytes, ID, id);
	size_t shape = tfp_pb_begin(&m->bytes, SHAPE);
	tfp_pb_put_uint(&m->bytes, 2, type);
	tfp_pb_end(&m->bytes, shape);
	return op;
}

static void load(struct made *m)
{
	struct tfp_error err;
	tfp_pb_end(&m->bytes, m->module);
	if (tfp_hlo_program_init(&m->program, (struct tfp_str){m->bytes.data, m->bytes.size},
				 &err) != TFP_OK)
		fail_msg("%s", err.message);
}

static void release(struct made *m)
{
	tfp_hlo_program_release(&m->program);
	tfp_buf_release(&m->bytes);
}

static void check_op(const struct made *m, uint32_t instruction, const char *expected)
{
	struct tfp_buf buf;
	tfp_buf_init(&buf, 1 << 20);
	tfp_hlo_write_op(&m->program, instruction, TFP_HLO_TEXT_OPERAND_SHAPES, 1 << 16, &buf);
	assert_string_equal(tfp_buf_text(&buf), expected);
	/* Cut after so many bytes, and no error. */
	tfp_buf_clear(&buf);
	tfp_hlo_write_op(&m->program, instruction, TFP_HLO_TEXT_OPERAND_SHAPES, 7, &buf);
	assert_int_equal(buf.size, 7);
	assert_memory_equal(buf.data, expected, 7);
	tfp_buf_release(&buf);
}

static void put_attribute(struct made *m, const char *key, const char *value)
{
	size_t entry = tfp_pb_begin(&m->bytes, 1);
	tfp_pb_put_text(&m->bytes, 1, key);
	tfp_pb_put_text(&m->bytes, 2, value);
	tfp_pb_end(&m->bytes, entry);
}

static void test_attributes(void **state)
{
	struct made m = {0};
	(void)state;
	begin(&m);
	begin_computation(&m, 9, "main", 3);
	tfp_pb_end(&m.bytes, begin_op(&m, 1, "a", "parameter", TFP_HLO_TYPE_S32));
	size_t op = begin_op(&m, 2, "b", "negate", TFP_HLO_TYPE_S32);
	tfp_pb_put_int(&m.bytes, OPERANDS, 1);
	tfp_pb_put_int(&m.bytes, CONTROLS, 1);
	tfp_pb_end(&m.bytes, op);
	op = begin_op(&m, 3, "c", "negate", TFP_HLO_TYPE_S32);
	tfp_pb_put_int(&m.bytes, OPERANDS, 2);
	tfp_pb_put_int(&m.bytes, CONTROLS, 1);
	tfp_pb_put_int(&m.bytes, CONTROLS, 2);
	size_t part = tfp_pb_begin(&m.bytes, SHARDING);
	tfp_pb_put_int(&m.bytes, 1, 1); /* MAXIMAL */
	tfp_pb_put_int(&m.bytes, 4, 3);
	tfp_pb_end(&m.bytes, part);
	part = tfp_pb_begin(&m.bytes, ATTRIBUTES);
	put_attribute(&m, "z", "say \"hi\"");
	put_attribute(&m, "a", "{\"k\": \"}\"}");
	tfp_pb_end(&m.bytes, part);
	tfp_pb_end(&m.bytes, op);
	tfp_pb_end(&m.bytes, m.computation);
	load(&m);
	check_op(&m, 0, "%a = s32[] parameter(0)");
	check_op(&m, 1, "%b = s32[] negate(s32[] %a), control-predecessors={%a}");
	check_op(&m, 2,
		 "%c = s32[] negate(s32[] %b), sharding={maximal device=3}, "
		 "frontend_attributes={a={\"k\": \"}\"},z=\"say \\\"hi\\\"\"}, "
		 "control-predecessors={%a, %b}");
	release(&m);
}

static void test_async(void **state)
{
	struct made m = {0};
	(void)state;
	begin(&m);
	begin_computation(&m, 8, "wrapped", 2);
	tfp_pb_end(&m.bytes, begin_op(&m, 1, "p", "parameter", TFP_HLO_TYPE_F32));
	size_t op = begin_op(&m, 2, "s", "sort", TFP_HLO_TYPE_F32);
	tfp_pb_put_int(&m.bytes, OPERANDS, 1);
	tfp_pb_put_int(&m.bytes, 14, 0);
	tfp_pb_put_int(&m.bytes, 60, 1);
	tfp_pb_end(&m.bytes, op);
	tfp_pb_end(&m.bytes, m.computation);
	begin_computation(&m, 9, "main", 5);
	tfp_pb_end(&m.bytes, begin_op(&m, 3, "x", "parameter", TFP_HLO_TYPE_F32));
	op = begin_op(&m, 4, "start", "async-start", TFP_HLO_TYPE_F32);
	tfp_pb_put_int(&m.bytes, OPERANDS, 3);
	tfp_pb_put_int(&m.bytes, CALLED, 8);
	tfp_pb_put_text(&m.bytes, THREAD, "other");
	tfp_pb_end(&m.bytes, op);
	op = begin_op(&m, 5, "done", "async-done", TFP_HLO_TYPE_F32);
	tfp_pb_put_int(&m.bytes, OPERANDS, 4);
	tfp_pb_end(&m.bytes, op);
	tfp_pb_end(&m.bytes, m.computation);
	load(&m);
	check_op(&m, 3,
		 "%start = f32[] sort-start(f32[] %x), async_execution_thread=\"other\", "
		 "dimensions={0}, is_stable=true");
	check_op(&m, 4, "%done = f32[] sort-done(f32[] %start)");
	release(&m);
}

static void put_list(struct tfp_buf *b, uint32_t field, const int64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tfp_pb_put_int(b, field, values[i]);
}

static void test_shapes(void **state)
{
	static const int64_t sizes[] = {5, 1024}, order[] = {1, 0}, tile[] = {8, 128};
	static const int64_t dynamic[] = {0, 1};
	struct tfp_buf b, text;
	(void)state;
	tfp_buf_init(&b, 1 << 16);
	tfp_buf_init(&text, 1 << 16);
	tfp_pb_put_uint(&b, 2, TFP_HLO_TYPE_TUPLE);
	for (int i = 0; i < 6; i++) {
		size_t part = tfp_pb_begin(&b, 4);
		tfp_pb_put_uint(&b, 2, i ? TFP_HLO_TYPE_TOKEN : TFP_HLO_TYPE_BF16);
		if (i == 0) {
			put_list(&b, 3, sizes, 2);
			put_list(&b, 6, dynamic, 2);
			size_t layout = tfp_pb_begin(&b, 5);
			put_list(&b, 1, order, 2);
			size_t inner = tfp_pb_begin(&b, 6);
			put_list(&b, 1, tile, 2);
			tfp_pb_end(&b, inner);
			tfp_pb_put_int(&b, 8, 5);
			tfp_pb_end(&b, layout);
		}
		tfp_pb_end(&b, part);
	}
	tfp_hlo_write_shape((struct tfp_str){b.data, b.size}, &text);
	assert_string_equal(
		tfp_buf_text(&text),
		"(bf16[5,<=1024]{1,0:T(8,128)S(5)}, token[], token[], token[], token[], "
		"/*index=5*/token[])");
	tfp_buf_release(&b);
	tfp_buf_release(&text);
}

static void check_literal(const int64_t *sizes, size_t rank, const int64_t *values, size_t count,
			  const char *expected)
{
	struct tfp_buf b, text;
	tfp_buf_init(&b, 1 << 16);
	tfp_buf_init(&text, 1 << 16);
	size_t shape = tfp_pb_begin(&b, 1);
	tfp_pb_put_uint(&b, 2, TFP_HLO_TYPE_S32);
	put_list(&b, 3, sizes, rank);
	tfp_pb_end(&b, shape);
	put_list(&b, 4, values, count);
	tfp_hlo_write_literal((struct tfp_str){b.data, b.size}, 1000, &text);
	assert_string_equal(tfp_buf_text(&text), expected);
	tfp_buf_release(&b);
	tfp_buf_release(&text);
}

/* bytes: the values of a type that lies as such in a field. */
static void check_bytes(unsigned type, uint32_t field, const char *bytes, size_t count,
			const char *expected)
{
	struct tfp_buf b, text;
	int64_t size = (int64_t)count;
	tfp_buf_init(&b, 1 << 16);
	tfp_buf_init(&text, 1 << 16);
	size_t shape = tfp_pb_begin(&b, 1);
	tfp_pb_put_uint(&b, 2, type);
	put_list(&b, 3, &size, 1);
	tfp_pb_end(&b, shape);
	tfp_pb_put_bytes(&b, field, bytes, count);
	tfp_hlo_write_literal((struct tfp_str){b.data, b.size}, 1000, &text);
	assert_string_equal(tfp_buf_text(&text), expected);
	tfp_buf_release(&b);
	tfp_buf_release(&text);
}

/* Types of a byte and less. Integers are those of XLA's own test (hlo_parser_test.cc,
 * MinMaxValues); floats were read off the formats' definitions (OCP 8-bit floating point, and
 * ml_dtypes): smallest and largest values, one, and what is no number. */
static void test_small_literals(void **state)
{
	(void)state;
	check_bytes(TFP_HLO_TYPE_S4, 21, "\x08\x07", 2, "{-8, 7}");
	check_bytes(TFP_HLO_TYPE_S4, 21, "\xf8\xf7", 2, "{-8, 7}"); /* high bits say nothing */
	check_bytes(TFP_HLO_TYPE_U4, 22, "\x00\x0f", 2, "{0, 15}");
	check_bytes(TFP_HLO_TYPE_S2, 26, "\x02\x01", 2, "{-2, 1}");
	check_bytes(TFP_HLO_TYPE_U2, 27, "\x00\x03", 2, "{0, 3}");
	check_bytes(TFP_HLO_TYPE_S1, 30, "\x00\x01", 2, "{0, -1}");
	check_bytes(TFP_HLO_TYPE_U1, 31, "\x00\x01", 2, "{0, 1}");
	check_bytes(TFP_HLO_TYPE_F8E5M2, 19, "\x00\x3c\x7b\x01\x7c\xfc\x7e\x7d", 8,
		    "{0, 1, 5.7e+04, 1.5e-05, inf, -inf, nan, nan(0x1)}");
	check_bytes(TFP_HLO_TYPE_F8E4M3, 28, "\x38\x77\x78\xb8", 4, "{1, 240, inf, -1}");
	check_bytes(TFP_HLO_TYPE_F8E4M3FN, 20, "\x38\x7e\x01\x80\x7f\xff", 6,
		    "{1, 448, 0.00195, -0, nan, -nan}");
	check_bytes(TFP_HLO_TYPE_F8E3M4, 29, "\x30\x6f\x70", 3, "{1, 15.5, inf}");
	check_bytes(TFP_HLO_TYPE_F8E4M3B11FNUZ, 23, "\x58\x7f\x80", 3, "{1, 30, -nan}");
	check_bytes(TFP_HLO_TYPE_F8E5M2FNUZ, 24, "\x40\x7f\x80", 3, "{1, 5.7e+04, nan}");
	check_bytes(TFP_HLO_TYPE_F8E4M3FNUZ, 25, "\x40\x7f\x80", 3, "{1, 240, nan}");
	check_bytes(TFP_HLO_TYPE_F4E2M1FN, 32, "\x00\x01\x02\x07\x0f", 5, "{0, 0.5, 1, 6, -6}");
	check_bytes(TFP_HLO_TYPE_F8E8M0FNU, 33, "\x7f\x80\x7e\xff", 4, "{1, 2, 0.5, nan}");
	check_bytes(TFP_HLO_TYPE_S4, 21, "\x01", 1, "{1}");
}

/* Values lie as the layout says: here column by column. */
static void test_columns(void **state)
{
	static const int64_t sizes[] = {2, 3}, order[] = {0, 1}, values[] = {1, 4, 2, 5, 3, 6};
	static const char bytes[] = "\1\4\2\5\3\6";
	(void)state;
	for (int numbers = 0; numbers < 2; numbers++) {
		struct tfp_buf b, text;
		tfp_buf_init(&b, 1 << 16);
		tfp_buf_init(&text, 1 << 16);
		size_t shape = tfp_pb_begin(&b, 1);
		tfp_pb_put_uint(&b, 2, numbers ? TFP_HLO_TYPE_S32 : TFP_HLO_TYPE_U8);
		put_list(&b, 3, sizes, 2);
		size_t layout = tfp_pb_begin(&b, 5);
		put_list(&b, 1, order, 2);
		tfp_pb_end(&b, layout);
		tfp_pb_end(&b, shape);
		if (numbers)
			put_list(&b, 4, values, 6);
		else
			tfp_pb_put_bytes(&b, 3, bytes, 6);
		tfp_hlo_write_literal((struct tfp_str){b.data, b.size}, 1000, &text);
		assert_string_equal(tfp_buf_text(&text), "{ { 1, 2, 3 }, { 4, 5, 6 } }");
		tfp_buf_release(&b);
		tfp_buf_release(&text);
	}
}

static void put_axis(struct made *m, int64_t index, int64_t before, int64_t size)
{
	size_t axis = tfp_pb_begin(&m->bytes, 2);
	tfp_pb_put_int(&m->bytes, 1, index);
	if (size) {
		size_t part = tfp_pb_begin(&m->bytes, 2);
		tfp_pb_put_int(&m->bytes, 1, before);
		tfp_pb_put_int(&m->bytes, 2, size);
		tfp_pb_end(&m->bytes, part);
	}
	tfp_pb_end(&m->bytes, axis);
}

static void put_gather(struct made *m, int64_t id, bool has_devices)
{
	static const int64_t devices[] = {0, 2, 1, 3};
	size_t op = begin_op(m, id, "g", "all-gather", TFP_HLO_TYPE_F32);
	tfp_pb_put_int(&m->bytes, OPERANDS, 1);
	tfp_pb_put_int(&m->bytes, 14, 0);
	size_t list = tfp_pb_begin(&m->bytes, 93), mesh = tfp_pb_begin(&m->bytes, 1);
	for (int i = 0; i < 2; i++) {
		size_t axis = tfp_pb_begin(&m->bytes, 1);
		tfp_pb_put_text(&m->bytes, 1, i ? "axis_1" : "axis_0");
		tfp_pb_put_int(&m->bytes, 2, 2);
		tfp_pb_end(&m->bytes, axis);
	}
	if (has_devices)
		put_list(&m->bytes, 2, devices, 4);
	tfp_pb_end(&m->bytes, mesh);
	put_axis(m, 1, 0, 0);
	if (has_devices)
		put_axis(m, 0, 1, 2);
	tfp_pb_end(&m->bytes, list);
	tfp_pb_end(&m->bytes, op);
}

/* Groups by the axes of a mesh: the texts are XLA's (hlo_parser_test.cc,
 * AllReduceWithMeshAxesReplicaGroupList; spmd_partitioner_util_test.cc for devices). A scan is
 * that test's, too. */
static void test_newer(void **state)
{
	struct made m = {0};
	(void)state;
	begin(&m);
	begin_computation(&m, 9, "main", 4);
	tfp_pb_end(&m.bytes, begin_op(&m, 1, "x", "parameter", TFP_HLO_TYPE_F32));
	put_gather(&m, 2, false);
	put_gather(&m, 3, true);
	size_t op = begin_op(&m, 4, "scan", "scan", TFP_HLO_TYPE_F32);
	tfp_pb_put_int(&m.bytes, OPERANDS, 1);
	tfp_pb_put_int(&m.bytes, 14, 0);
	tfp_pb_put_int(&m.bytes, 94, 1);
	tfp_pb_put_int(&m.bytes, 95, 1);
	tfp_pb_put_int(&m.bytes, 96, 1);
	tfp_pb_end(&m.bytes, op);
	tfp_pb_end(&m.bytes, m.computation);
	load(&m);
	check_op(&m, 1,
		 "%g = f32[] all-gather(f32[] %x), "
		 "replica_groups=mesh['axis_0'=2,'axis_1'=2] {'axis_1'}, dimensions={0}");
	check_op(&m, 2,
		 "%g = f32[] all-gather(f32[] %x), replica_groups=mesh['axis_0'=2,'axis_1'=2], "
		 "device_ids=(0,2,1,3) {'axis_1','axis_0':(1)2}, dimensions={0}");
	check_op(&m, 3,
		 "%scan = f32[] scan(f32[] %x), dimensions={0}, num_carries=1, is_reverse=true, "
		 "is_associative=true");
	release(&m);
}

static void test_literals(void **state)
{
	static const int64_t values[] = {1, -2, 3, 4}, two[] = {2, 2}, rows[] = {2, 1},
			     none[] = {0};
	(void)state;
	check_literal(NULL, 0, values + 1, 1, "-2");
	check_literal(two, 1, values, 2, "{1, -2}");
	check_literal(two, 2, values, 4, "{ { 1, -2 }, { 3, 4 } }");
	check_literal(rows, 2, values, 2, "{ {1}, {-2} }");
	check_literal(none, 1, NULL, 0, "{}");
	/* Values that are not there are not 0. */
	check_literal(two, 2, values, 3, "{...}");
}

static void put_frame(struct made *m, int64_t location, int64_t parent)
{
	size_t frame = tfp_pb_begin(&m->bytes, 4);
	tfp_pb_put_int(&m->bytes, 1, location);
	tfp_pb_put_int(&m->bytes, 2, parent);
	tfp_pb_end(&m->bytes, frame);
}

static void test_source(void **state)
{
	struct made m = {0};
	struct tfp_hlo_frames frames;
	struct tfp_hlo_source source;
	struct tfp_arena arena;
	struct tfp_error err;
	(void)state;
	begin(&m);
	size_t index = tfp_pb_begin(&m.bytes, 17);
	tfp_pb_put_text(&m.bytes, 1, "model.py");
	tfp_pb_put_text(&m.bytes, 1, "train.py");
	for (int64_t i = 1; i <= 2; i++) {
		size_t location = tfp_pb_begin(&m.bytes, 3);
		tfp_pb_put_int(&m.bytes, 1, i);
		tfp_pb_put_int(&m.bytes, 3, 10 * i);
		tfp_pb_put_int(&m.bytes, 4, i);
		tfp_pb_end(&m.bytes, location);
	}
	put_frame(&m, 1, 2);
	put_frame(&m, 2, 0);
	put_frame(&m, 2, 3); /* its own parent */
	tfp_pb_end(&m.bytes, index);
	begin_computation(&m, 9, "main", 1);
	for (int64_t i = 1; i <= 4; i++) {
		size_t op = begin_op(&m, i, "a", "parameter", TFP_HLO_TYPE_F32);
		size_t metadata = tfp_pb_begin(&m.bytes, METADATA);
		tfp_pb_put_text(&m.bytes, 3, "elsewhere.py");
		tfp_pb_put_int(&m.bytes, 4, 7);
		tfp_pb_put_int(&m.bytes, 15, i == 4 ? 77 : i);
		tfp_pb_end(&m.bytes, metadata);
		tfp_pb_end(&m.bytes, op);
	}
	tfp_pb_end(&m.bytes, m.computation);
	load(&m);
	tfp_arena_init(&arena, 1 << 20);
	assert_int_equal(tfp_hlo_frames_init(&frames, &m.program, &err), TFP_OK);
	assert_true(tfp_hlo_source_of(&frames, &m.program.instructions[0], &arena, &source));
	assert_str(source.file, "model.py");
	assert_int_equal(source.line, 10);
	assert_str(source.stack, "model.py:10:1\ntrain.py:20:2\n");
	assert_true(tfp_hlo_source_of(&frames, &m.program.instructions[2], &arena, &source));
	assert_int_equal(source.stack.size, TFP_HLO_STACK_MAX * strlen("train.py:20:2\n"));
	/* A frame that is not there: what the metadata says. */
	assert_true(tfp_hlo_source_of(&frames, &m.program.instructions[3], &arena, &source));
	assert_str(source.file, "elsewhere.py");
	assert_int_equal(source.line, 7);
	assert_int_equal(source.stack.size, 0);
	tfp_hlo_frames_release(&frames);
	tfp_arena_release(&arena);
	release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules),  cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_async),    cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_literals), cmocka_unit_test(test_small_literals),
		cmocka_unit_test(test_columns),  cmocka_unit_test(test_newer),
		cmocka_unit_test(test_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
