/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "support/pb_walk.h"
#include "wire/pb_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_bytes(const struct tfp_buf *b, const void *bytes, size_t size)
{
	assert_false(tfp_buf_failed(b));
	assert_int_equal(b->size, size);
	assert_memory_equal(b->data, bytes, size);
}

/* The examples of protobuf's own description of the format. */
static void writes_the_documented_examples(void **state)
{
	struct tfp_buf b;
	size_t mark;

	(void)state;
	tfp_buf_init(&b, 100);
	tfp_pb_put_uint(&b, 1, 150);
	expect_bytes(&b, "\x08\x96\x01", 3);
	tfp_buf_clear(&b);
	tfp_pb_put_text(&b, 2, "testing");
	expect_bytes(&b, "\x12\x07testing", 9);
	tfp_buf_clear(&b);
	mark = tfp_pb_begin(&b, 3);
	tfp_pb_put_uint(&b, 1, 150);
	tfp_pb_end(&b, mark);
	expect_bytes(&b, "\x1a\x03\x08\x96\x01", 5);
	tfp_buf_clear(&b);
	tfp_pb_put_double(&b, 1, 1.0);
	expect_bytes(&b, "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", 9);
	tfp_buf_release(&b);
}

static void negative_numbers_take_ten_bytes(void **state)
{
	struct tfp_buf b;
	struct pb_walk w;

	(void)state;
	tfp_buf_init(&b, 100);
	tfp_pb_put_int(&b, 1, -559038737);
	assert_int_equal(b.size, 11);
	w = pb_walk(b.data, b.size);
	assert_true(pb_next(&w));
	assert_int_equal((int64_t)w.value, -559038737);
	tfp_buf_release(&b);
}

static void varints_come_back(void **state)
{
	struct tfp_buf b;

	(void)state;
	tfp_buf_init(&b, 100);
	for (unsigned bit = 0; bit <= 64; bit++) {
		uint64_t value = bit == 64 ? UINT64_MAX : UINT64_C(1) << bit;

		for (int i = -1; i <= 1; i++) {
			uint64_t v = value + (uint64_t)(int64_t)i;
			struct pb_walk w;

			tfp_buf_clear(&b);
			tfp_pb_put_uint(&b, 15, v);
			assert_int_equal(b.size, 1 + tfp_pb_varint_size(v));
			w = pb_walk(b.data, b.size);
			assert_true(pb_next(&w));
			assert_true(w.value == v);
			assert_false(pb_next(&w));
			assert_true(pb_good(&w));
		}
	}
	tfp_buf_release(&b);
}

/* Lengths around the sizes where they take a byte more. */
static void messages_of_any_length_nest(void **state)
{
	static const size_t sizes[] = {0, 1, 126, 127, 128, 129, 16383, 16384, 16385, 300000};
	struct tfp_buf b;

	(void)state;
	tfp_buf_init(&b, 1 << 20);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *text = malloc(sizes[i] + 1);
		size_t outer, inner;
		struct pb_walk w, in;

		assert_non_null(text);
		memset(text, 'x', sizes[i]);
		tfp_buf_clear(&b);
		outer = tfp_pb_begin(&b, 1);
		inner = tfp_pb_begin(&b, 2);
		tfp_buf_add(&b, text, sizes[i]);
		tfp_pb_end(&b, inner);
		tfp_pb_put_uint(&b, 3, 7);
		tfp_pb_end(&b, outer);
		w = pb_walk(b.data, b.size);
		assert_true(pb_next(&w));
		assert_int_equal(w.field, 1);
		in = pb_inside(&w);
		assert_true(pb_next(&in));
		assert_int_equal(in.size, sizes[i]);
		if (sizes[i] > 0)
			assert_memory_equal(in.data, text, sizes[i]);
		assert_true(pb_next(&in));
		assert_int_equal(in.value, 7);
		assert_false(pb_next(&in));
		assert_true(pb_good(&in));
		assert_false(pb_next(&w));
		assert_true(pb_good(&w));
		free(text);
	}
	tfp_buf_release(&b);
}

/* When a write fails in the middle, no matter which, the buffer says so and nothing is overrun. */
static void a_full_buffer_stays_failed(void **state)
{
	(void)state;
	for (size_t ceiling = 0; ceiling < 420; ceiling++) {
		struct tfp_buf b;
		size_t outer, inner;
		char text[150];

		memset(text, 'x', sizeof(text));
		tfp_buf_init(&b, ceiling);
		outer = tfp_pb_begin(&b, 1);
		tfp_pb_put_int(&b, 1, -1);
		inner = tfp_pb_begin(&b, 2);
		tfp_pb_put_bytes(&b, 3, text, sizeof(text));
		tfp_pb_put_double(&b, 4, 2.5);
		tfp_pb_end(&b, inner);
		tfp_pb_end(&b, outer);
		assert_true(b.size <= ceiling);
		if (!tfp_buf_failed(&b)) {
			struct pb_walk w = pb_walk(b.data, b.size);

			while (pb_next(&w))
				;
			assert_true(pb_good(&w));
		}
		tfp_buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_the_documented_examples),
		cmocka_unit_test(negative_numbers_take_ten_bytes),
		cmocka_unit_test(varints_come_back),
		cmocka_unit_test(messages_of_any_length_nest),
		cmocka_unit_test(a_full_buffer_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
