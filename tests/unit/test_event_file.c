/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "tfprof/crc32c.h"
#include "tfprof/event_file.h"
#include "wire/pb_writer.h"

/* The values of RFC 3720, appendix B.4, and TensorFlow's mask of one. */
static void test_crc(void **state)
{
	uint8_t bytes[32];
	(void)state;
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(tfp_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(tfp_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_int_equal(tfp_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	assert_int_equal(tfp_crc32c(tfp_crc32c(0, bytes, 10), bytes + 10, 22), 0x46dd794e);
	assert_int_equal(tfp_crc32c_masked(bytes, sizeof(bytes)),
			 (uint32_t)((0x46dd794eu >> 15 | 0x46dd794eu << 17) + 0xa282ead8u));
}

static void put_little(struct tfp_buf *b, uint64_t n, int size)
{
	for (int i = 0; i < size; i++)
		tfp_buf_putc(b, (char)(n >> (8 * i)));
}

static void put_record(struct tfp_buf *b, const struct tfp_buf *event)
{
	size_t from = b->size;
	put_little(b, event->size, 8);
	put_little(b, tfp_crc32c_masked(b->data + from, 8), 4);
	tfp_buf_add(b, event->data, event->size);
	put_little(b, tfp_crc32c_masked(event->data, event->size), 4);
}

static void compose(struct tfp_buf *b)
{
	struct tfp_buf event;
	tfp_buf_init(b, 1 << 16);
	tfp_buf_init(&event, 1 << 10);
	tfp_pb_put_text(&event, 3, "brain.Event:2");
	put_record(b, &event);
	tfp_buf_clear(&event);
	tfp_pb_put_text(&event, 4, "graph");
	put_record(b, &event);
	tfp_buf_clear(&event);
	size_t run = tfp_pb_begin(&event, 8);
	tfp_pb_put_text(&event, 1, "step_7");
	tfp_pb_put_text(&event, 2, "metadata");
	tfp_pb_end(&event, run);
	tfp_pb_put_int(&event, 2, 7);
	put_record(b, &event);
	tfp_buf_release(&event);
}

static struct tfp_span span_of(const struct tfp_buf *b, size_t size)
{
	return (struct tfp_span){(const uint8_t *)b->data, size};
}

static void test_whole(void **state)
{
	struct tfp_buf b;
	struct tfp_event_file f;
	struct tfp_error err;
	(void)state;
	compose(&b);
	assert_int_equal(tfp_event_file_read(&f, span_of(&b, b.size), &err), TFP_OK);
	assert_int_equal(f.records, 3);
	assert_int_equal(f.damaged_at, b.size);
	assert_true(f.has_graph && f.graph.size == 5);
	assert_int_equal(f.count, 1);
	assert_int_equal(f.runs[0].step, 7);
	assert_str(f.runs[0].tag, "step_7");
	assert_int_equal(f.runs[0].metadata.size, 8);
	tfp_event_file_release(&f);
	tfp_buf_release(&b);
}

/* A file that is still written, or was damaged: the records before that count. */
static void test_cut_anywhere(void **state)
{
	struct tfp_buf b;
	struct tfp_event_file f;
	struct tfp_error err;
	const size_t ends[] = {0, 31, 54};
	(void)state;
	compose(&b);
	for (size_t size = 0; size < b.size; size++) {
		enum tfp_status status = tfp_event_file_read(&f, span_of(&b, size), &err);
		size_t records = (size >= ends[1]) + (size >= ends[2]);
		assert_int_equal(status, records ? TFP_OK : TFP_BAD_INPUT);
		if (records) {
			assert_int_equal(f.records, records);
			assert_int_equal(f.damaged_at, ends[records]);
			tfp_event_file_release(&f);
		}
	}
	for (size_t i = ends[2]; i < b.size; i++) {
		b.data[i] ^= 1;
		assert_int_equal(tfp_event_file_read(&f, span_of(&b, b.size), &err), TFP_OK);
		assert_int_equal(f.records, 2);
		assert_int_equal(f.damaged_at, ends[2]);
		tfp_event_file_release(&f);
		b.data[i] ^= 1;
	}
	tfp_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
