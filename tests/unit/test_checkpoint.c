/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "tfprof/checkpoint.h"
#include "tfprof/crc32c.h"
#include "wire/pb_writer.h"

#include <stdio.h>
#include <unistd.h>

static void put_little(struct tfp_buf *b, uint64_t n, int size)
{
	for (int i = 0; i < size; i++)
		tfp_buf_putc(b, (char)(n >> (8 * i)));
}

static void put_entry(struct tfp_buf *b, size_t shared, const char *own,
		      const struct tfp_buf *value)
{
	tfp_pb_put_varint(b, shared);
	tfp_pb_put_varint(b, strlen(own));
	tfp_pb_put_varint(b, value->size);
	tfp_buf_puts(b, own);
	tfp_buf_add(b, value->data, value->size);
}

static void put_tensor(struct tfp_buf *b, size_t shared, const char *own, int type,
		       const char *dims, int64_t offset, const void *data, size_t size)
{
	struct tfp_buf value;
	tfp_buf_init(&value, 1 << 10);
	tfp_pb_put_int(&value, 1, type);
	size_t shape = tfp_pb_begin(&value, 2);
	for (; *dims; dims++) {
		size_t dimension = tfp_pb_begin(&value, 2);
		tfp_pb_put_int(&value, 1, *dims - '0');
		tfp_pb_end(&value, dimension);
	}
	tfp_pb_end(&value, shape);
	tfp_pb_put_int(&value, 4, offset);
	tfp_pb_put_int(&value, 5, (int64_t)size);
	tfp_pb_key(&value, 6, TFP_PB_FIXED32);
	put_little(&value, tfp_crc32c_masked(data, size), 4);
	put_entry(b, shared, own, &value);
	tfp_buf_release(&value);
}

/* A block: its entries, one restart, and what stands behind it; returns its place as varints. */
static void put_block(struct tfp_buf *out, const struct tfp_buf *entries, struct tfp_buf *handle)
{
	size_t from = out->size;
	tfp_buf_add(out, entries->data, entries->size);
	put_little(out, 0, 4);
	put_little(out, 1, 4);
	tfp_buf_init(handle, 64);
	tfp_pb_put_varint(handle, from);
	tfp_pb_put_varint(handle, out->size - from);
	tfp_buf_putc(out, 0);
	put_little(out, tfp_crc32c_masked(out->data + from, out->size - from), 4);
}

static const float floats[] = {1, -2.5f, 0.125f, 1234567};
static const int64_t longs[] = {-7};

static void compose(struct tfp_buf *out)
{
	struct tfp_buf entries, value, handle, index, place;
	tfp_buf_init(out, 1 << 16);
	tfp_buf_init(&entries, 1 << 16);
	tfp_buf_init(&value, 1 << 10);
	tfp_buf_init(&index, 1 << 10);
	tfp_pb_put_int(&value, 1, 1);
	put_entry(&entries, 0, "", &value);
	put_tensor(&entries, 0, "layer/bias", 9, "", 16, longs, sizeof(longs));
	put_tensor(&entries, 6, "weights", 1, "22", 0, floats, sizeof(floats));
	put_tensor(&entries, 13, "x", 1, "23", 0, floats, sizeof(floats));
	put_block(out, &entries, &handle);
	put_entry(&index, 0, "z", &handle);
	put_block(out, &index, &place);
	size_t footer = out->size;
	tfp_buf_add(out, "\0\0", 2);
	tfp_buf_add(out, place.data, place.size);
	while (out->size < footer + 40)
		tfp_buf_putc(out, 0);
	put_little(out, UINT64_C(0xdb4775248b80fb57), 8);
	tfp_buf_release(&entries);
	tfp_buf_release(&value);
	tfp_buf_release(&handle);
	tfp_buf_release(&index);
	tfp_buf_release(&place);
}

static void write_file(const char *prefix, const char *end, const void *bytes, size_t size)
{
	char path[200];
	snprintf(path, sizeof(path), "%s%s", prefix, end);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void check_value(struct tfp_checkpoint *c, const char *name, const char *expected)
{
	struct tfp_buf out;
	tfp_buf_init(&out, 1 << 16);
	tfp_checkpoint_put_value(c, str_of(name), &out);
	assert_string_equal(tfp_buf_text(&out), expected);
	tfp_buf_release(&out);
}

static void test_values(void **state)
{
	char folder[] = "/tmp/tfprof-checkpoint-XXXXXX", prefix[100], path[150];
	static const char *const ends[] = {".index", ".data-00000-of-00001"};
	struct tfp_checkpoint *c;
	struct tfp_buf index, data;
	struct tfp_error err;
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(prefix, sizeof(prefix), "%s/model", folder);
	compose(&index);
	tfp_buf_init(&data, 1 << 10);
	tfp_buf_add(&data, floats, sizeof(floats));
	tfp_buf_add(&data, longs, sizeof(longs));
	write_file(prefix, ends[0], index.data, index.size);
	write_file(prefix, ends[1], data.data, data.size);
	assert_int_equal(tfp_checkpoint_open(&c, prefix, &err), TFP_OK);
	assert_int_equal(tfp_checkpoint_count(c), 3);
	/* As printf rounds them; seven digits become six first. */
	check_value(c, "layer/weights", "[[1.00 -2.50 ],\n[0.12 1234570.00 ],\n],\n");
	check_value(c, "layer/bias", "[-7 ],\n");
	check_value(c, "layer/weightsx", ""); /* six floats in the bytes of four */
	check_value(c, "layer", "");
	tfp_checkpoint_free(c);
	data.data[0] ^= 1;
	write_file(prefix, ends[1], data.data, data.size);
	assert_int_equal(tfp_checkpoint_open(&c, prefix, &err), TFP_OK);
	check_value(c, "layer/weights", "");
	check_value(c, "layer/bias", "[-7 ],\n");
	tfp_checkpoint_free(c);
	for (size_t i = 0; i < COUNT(ends); i++) {
		snprintf(path, sizeof(path), "%s%s", prefix, ends[i]);
		remove(path);
	}
	rmdir(folder);
	tfp_buf_release(&index);
	tfp_buf_release(&data);
}

/* Of an index every byte counts, but for the filling of the footer. */
static void test_damage(void **state)
{
	struct tfp_checkpoint *c;
	struct tfp_buf index;
	struct tfp_error err;
	(void)state;
	compose(&index);
	const uint8_t *bytes = (const uint8_t *)index.data;
	assert_int_equal(tfp_checkpoint_from_bytes(&c, bytes, index.size, &err), TFP_OK);
	tfp_checkpoint_free(c);
	for (size_t size = 0; size < index.size; size++)
		assert_int_equal(tfp_checkpoint_from_bytes(&c, bytes, size, &err), TFP_BAD_INPUT);
	for (size_t i = 0; i < index.size - 48; i++) {
		index.data[i] ^= 0x10;
		assert_int_equal(tfp_checkpoint_from_bytes(&c, bytes, index.size, &err),
				 TFP_BAD_INPUT);
		index.data[i] ^= 0x10;
	}
	tfp_buf_release(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
