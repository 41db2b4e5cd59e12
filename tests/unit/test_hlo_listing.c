/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole programs as text against what XLA printed for the same modules: files
 * MODULE.hlo_proto.pb, MODULE.long_txt.txt and MODULE.short_txt.txt of tests/golden/hlo_costs
 * (README.md there), and by hand what these lack.
 */
#include "analysis/hlo/hlo_listing.h"
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

static enum tfp_status collect(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	(void)err;
	tfp_buf_add(context, bytes, size);
	return TFP_OK;
}

static size_t without_ends(const char *text, size_t size)
{
	while (size && text[size - 1] == '\n')
		size--;
	return size;
}

/* All at once and line by line, from the last one on; empty lines at the end do not count. */
static void check_text(const struct tfp_hlo_program *program, const char *module,
		       const char *ending, unsigned flags)
{
	struct tfp_hlo_listing listing;
	struct tfp_error err;
	struct tfp_buf whole, line;
	size_t size;
	char *expected = read_file(module, ending, &size);
	tfp_buf_init(&whole, 1 << 24);
	tfp_buf_init(&line, 1 << 20);
	const struct tfp_sink sink = {collect, &whole};
	assert_int_equal(tfp_hlo_listing_init(&listing, program, flags, &err), TFP_OK);
	assert_int_equal(tfp_hlo_listing_write_all(&listing, &sink, &err), TFP_OK);
	if (without_ends(whole.data, whole.size) != without_ends(expected, size) ||
	    memcmp(whole.data, expected, without_ends(expected, size)) != 0)
		fail_msg("%s%s: another text:\n%s", module, ending, tfp_buf_text(&whole));
	size_t end = whole.size;
	for (uint64_t n = listing.line_count; n-- > 0;) {
		tfp_buf_clear(&line);
		struct tfp_hlo_line about = tfp_hlo_listing_write(&listing, n, 1 << 20, &line);
		assert_false(about.is_cut);
		assert_int_equal(whole.data[end - 1], '\n');
		end -= line.size + 1;
		assert_memory_equal(whole.data + end, tfp_buf_text(&line), line.size);
		if (about.instruction != TFP_HLO_NONE)
			assert_int_equal(tfp_hlo_listing_line_of(&listing, about.instruction), n);
	}
	assert_int_equal(end, 0);
	tfp_hlo_listing_release(&listing);
	tfp_buf_release(&whole);
	tfp_buf_release(&line);
	free(expected);
}

static void test_modules(void **state)
{
	static const char *const modules[] = {"collectives", "elementwise", "fusions",
					      "matmul_conv", "reduce_etc"};
	(void)state;
	for (size_t i = 0; i < COUNT(modules); i++) {
		size_t size;
		char *bytes = read_file(modules[i], ".hlo_proto.pb", &size);
		struct tfp_hlo_program program;
		struct tfp_error err;
		assert_int_equal(
			tfp_hlo_program_init(&program, (struct tfp_str){bytes, size}, &err),
			TFP_OK);
		check_text(&program, modules[i], ".long_txt.txt", TFP_HLO_LISTING_LONG);
		check_text(&program, modules[i], ".short_txt.txt", TFP_HLO_LISTING_SHORT);
		tfp_hlo_program_release(&program);
		free(bytes);
	}
}

/* ---- by hand ---- */

enum { NAME = 1, OPCODE = 2, SHAPE = 3, METADATA = 7, ID = 35, OPERANDS = 36, CALLED = 38 };
enum { CONFIG = 43, PARAMETER = 9, F32 = 11 };

static size_t begin_op(struct tfp_buf *b, int64_t id, const char *name, const char *opcode)
{
	size_t op = tfp_pb_begin(b, 2);
	tfp_pb_put_text(b, NAME, name);
	tfp_pb_put_text(b, OPCODE, opcode);
	tfp_pb_put_int(b, ID, id);
	size_t shape = tfp_pb_begin(b, SHAPE);
	tfp_pb_put_uint(b, 2, F32);
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

static void put_frames(struct tfp_buf *b)
{
	static const char *const names[] = {"unused.py", "train.py"};
	size_t index = tfp_pb_begin(b, 17);
	for (size_t i = 0; i < 2; i++)
		tfp_pb_put_text(b, 1, names[i]);
	tfp_pb_put_text(b, 2, "main");
	for (int64_t i = 1; i <= 2; i++) {
		size_t location = tfp_pb_begin(b, 3);
		tfp_pb_put_int(b, 1, i);
		tfp_pb_put_int(b, 2, 1);
		tfp_pb_put_int(b, 3, 10 * i);
		tfp_pb_put_int(b, 4, 4);
		tfp_pb_put_int(b, 5, 10 * i + 1);
		tfp_pb_put_int(b, 6, 9);
		tfp_pb_end(b, location);
	}
	for (int64_t i = 1; i <= 2; i++) {
		size_t frame = tfp_pb_begin(b, 4);
		tfp_pb_put_int(b, 1, i);
		tfp_pb_end(b, frame);
	}
	tfp_pb_end(b, index);
}

/* A scheduled module: the schedule has the second negation first. */
static void put_scheduled(struct tfp_buf *b)
{
	static const int64_t order[] = {1, 3, 2, 4};
	size_t module = tfp_pb_begin(b, 1);
	tfp_pb_put_text(b, 1, "m");
	tfp_pb_put_int(b, 6, 9);
	put_frames(b);
	size_t computation = begin_computation(b, 9, "main", 4);
	size_t op = begin_op(b, 1, "x", "parameter");
	tfp_pb_put_int(b, PARAMETER, 0);
	tfp_pb_end(b, op);
	for (int64_t i = 2; i <= 3; i++) {
		op = begin_op(b, i, i == 2 ? "a" : "b", "negate");
		tfp_pb_put_int(b, OPERANDS, 1);
		if (i == 2) {
			size_t metadata = tfp_pb_begin(b, METADATA);
			tfp_pb_put_text(b, 2, "f/neg");
			tfp_pb_put_int(b, 15, 2);
			tfp_pb_end(b, metadata);
			tfp_pb_put_text(b, CONFIG,
					"{\"id\":\"0\",\"wait_on_operation_queues\": [ ],\"x\":1}");
		} else {
			/* With something in it it stays. */
			tfp_pb_put_text(b, CONFIG, "{\"wait_on_operation_queues\":[1],\"x\":1}");
		}
		tfp_pb_end(b, op);
	}
	op = begin_op(b, 4, "sum", "add");
	tfp_pb_put_int(b, OPERANDS, 2);
	tfp_pb_put_int(b, OPERANDS, 3);
	tfp_pb_end(b, op);
	tfp_pb_put_text(b, 8, "other"); /* the thread */
	tfp_pb_end(b, computation);
	size_t schedule = tfp_pb_begin(b, 7), entry = tfp_pb_begin(b, 1);
	tfp_pb_put_int(b, 1, 9);
	size_t sequence = tfp_pb_begin(b, 2);
	for (size_t i = 0; i < COUNT(order); i++)
		tfp_pb_put_int(b, 1, order[i]);
	tfp_pb_end(b, sequence);
	tfp_pb_end(b, entry);
	tfp_pb_end(b, schedule);
	tfp_pb_end(b, module);
}

static void check_scheduled(const struct tfp_hlo_program *program, unsigned flags,
			    const char *expected)
{
	struct tfp_hlo_listing listing;
	struct tfp_error err;
	struct tfp_buf text;
	tfp_buf_init(&text, 1 << 20);
	const struct tfp_sink sink = {collect, &text};
	assert_int_equal(tfp_hlo_listing_init(&listing, program, flags, &err), TFP_OK);
	assert_int_equal(tfp_hlo_listing_write_all(&listing, &sink, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&text), expected);
	/* A line is cut where it is told to be, and says so. */
	tfp_buf_clear(&text);
	assert_true(tfp_hlo_listing_write(&listing, 0, 5, &text).is_cut);
	assert_string_equal(tfp_buf_text(&text), "HloMo");
	tfp_hlo_listing_release(&listing);
	tfp_buf_release(&text);
}

static void test_schedule_and_stacks(void **state)
{
	struct tfp_hlo_program program;
	struct tfp_error err;
	struct tfp_buf bytes;
	(void)state;
	tfp_buf_init(&bytes, 1 << 20);
	put_scheduled(&bytes);
	assert_int_equal(
		tfp_hlo_program_init(&program, (struct tfp_str){bytes.data, bytes.size}, &err),
		TFP_OK);
	check_scheduled(&program, TFP_HLO_LISTING_LONG,
			"HloModule m, is_scheduled=true\n"
			"\n"
			"ENTRY %main (x: f32[]) -> f32[] {\n"
			"  %x = f32[] parameter(0)\n"
			"  %b = f32[] negate(%x), "
			"backend_config={\"wait_on_operation_queues\":[1],\"x\":1}\n"
			"  %a = f32[] negate(%x), backend_config={\"id\":\"0\",\"x\":1}\n"
			"  ROOT %sum = f32[] add(%a, %b)\n"
			"}, execution_thread=\"other\"\n"
			"\n");
	check_scheduled(&program, TFP_HLO_LISTING_SHORT | TFP_HLO_LISTING_METADATA,
			"HloModule m, is_scheduled=true\n"
			"\n"
			"FileNames\n"
			"1 \"train.py\"\n"
			"\n"
			"FunctionNames\n"
			"1 \"main\"\n"
			"\n"
			"FileLocations\n"
			"1 {file_name_id=1 function_name_id=1 line=20 end_line=21 column=4 "
			"end_column=9}\n"
			"\n"
			"StackFrames\n"
			"1 {file_location_id=1 parent_frame_id=1}\n"
			"\n"
			"\n"
			"ENTRY main {\n"
			"  x = f32[] parameter(0)\n"
			"  b = f32[] negate(x), "
			"backend_config={\"wait_on_operation_queues\":[1],\"x\":1}\n"
			"  a = f32[] negate(x), metadata={op_name=\"f/neg\" stack_frame_id=1}, "
			"backend_config={\"id\":\"0\",\"x\":1}\n"
			"  ROOT sum = f32[] add(a, b)\n"
			"}, execution_thread=\"other\"\n"
			"\n");
	tfp_hlo_program_release(&program);
	tfp_buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_schedule_and_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
