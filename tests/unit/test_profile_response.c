/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/buf.h"
#include "remote/profile_response.h"
#include "wire/pb_writer.h"

static struct tfp_buf message, capture;

static int set_up(void **state)
{
	(void)state;
	tfp_buf_init(&message, 1 << 20);
	tfp_buf_init(&capture, 1 << 20);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tfp_buf_release(&message);
	tfp_buf_release(&capture);
	return 0;
}

static enum tfp_status collect(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	(void)context;
	(void)err;
	tfp_buf_add(&capture, bytes, size);
	return TFP_OK;
}

/* In pieces of that many bytes. */
static enum tfp_status parse(struct tfp_profile_response *r, size_t piece, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	tfp_buf_clear(&capture);
	tfp_profile_response_init(r, collect, NULL);
	for (size_t at = 0; at < message.size && status == TFP_OK; at += piece) {
		size_t n = message.size - at < piece ? message.size - at : piece;
		status = tfp_profile_response_feed(r, message.data + at, n, err);
	}
	return status == TFP_OK ? tfp_profile_response_end(r, err) : status;
}

/* However it is cut, the result is the same. */
static void assert_capture(const char *bytes, size_t size, bool empty, unsigned others)
{
	struct tfp_profile_response r;
	struct tfp_error err;
	for (size_t piece = 1; piece <= message.size + 1; piece++) {
		if (parse(&r, piece, &err) != TFP_OK)
			fail_msg("%s", err.message);
		assert_int_equal(capture.size, size);
		assert_int_equal(r.capture_bytes, size);
		assert_memory_equal(capture.data, bytes, size);
		assert_int_equal(r.empty_trace, empty);
		assert_int_equal(r.other_data, others);
	}
}

static void add_entry(const char *name, const char *data)
{
	size_t entry = tfp_pb_begin(&message, 6);
	tfp_pb_put_text(&message, 1, name);
	tfp_pb_put_text(&message, 2, data);
	tfp_pb_end(&message, entry);
}

static void test_xspace(void **state)
{
	char large[300];
	(void)state;
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (char)(i * 7);
	tfp_pb_put_uint(&message, 7, 0);
	tfp_pb_put_bytes(&message, 8, large, sizeof(large));
	assert_capture(large, sizeof(large), false, 0);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_capture("", 0, false, 0);
	tfp_pb_put_uint(&message, 7, 1);
	assert_capture("", 0, true, 0);
	tfp_pb_put_bytes(&message, 8, "", 0);
	assert_capture("", 0, true, 0);
	/* The last one counts. */
	tfp_pb_put_uint(&message, 7, 0);
	assert_capture("", 0, false, 0);
}

static void test_unknown_fields_around(void **state)
{
	(void)state;
	tfp_pb_put_uint(&message, 1, UINT64_MAX);
	tfp_pb_put_double(&message, 2, 1.5);
	tfp_pb_key(&message, 3, TFP_PB_FIXED32);
	tfp_buf_add(&message, "\x08\x42\x3a\x08", 4);
	tfp_pb_put_bytes(&message, 8, "abc", 3);
	tfp_pb_put_text(&message, 1000, "\x42\x01x");
	/* Field 7 of another wire type is none that we know. */
	tfp_pb_put_text(&message, 7, "\x01");
	assert_capture("abc", 3, false, 0);
}

static void test_parts_of_one_message(void **state)
{
	(void)state;
	tfp_pb_put_text(&message, 8, "one");
	tfp_pb_put_uint(&message, 7, 0);
	tfp_pb_put_text(&message, 8, "two");
	assert_capture("onetwo", 6, false, 0);
}

static void test_tool_data(void **state)
{
	(void)state;
	add_entry("overview_page.pb", "\x42\x01x");
	add_entry("xplane.pb", "capture");
	add_entry("xplane.pb", "a second");
	add_entry("xplane.pb.but longer than any", "no");
	tfp_pb_put_text(&message, 6, "");
	assert_capture("capture", 7, false, 4);
	/* Never both after each other. */
	tfp_pb_put_text(&message, 8, "field 8");
	assert_capture("capture", 7, false, 4);
}

static void test_field_8_wins_if_first(void **state)
{
	(void)state;
	tfp_pb_put_text(&message, 8, "field 8");
	add_entry("xplane.pb", "capture");
	assert_capture("field 8", 7, false, 1);
}

static void assert_damaged(const char *bytes, size_t size)
{
	struct tfp_profile_response r;
	struct tfp_error err;
	for (size_t piece = 1; piece <= size; piece++) {
		tfp_buf_clear(&message);
		tfp_buf_add(&message, bytes, size);
		assert_int_equal(parse(&r, piece, &err), TFP_BAD_INPUT);
		assert_non_null(strstr(err.message, "byte"));
	}
}

#define DAMAGED(text) assert_damaged(text, sizeof(text) - 1)

static void test_damage(void **state)
{
	(void)state;
	DAMAGED("\x42\x05"
		"abc");                                      /* cut in a value */
	DAMAGED("\x42");                                     /* after a tag */
	DAMAGED("\x42\x80");                                 /* in a length */
	DAMAGED("\x38");                                     /* before a number */
	DAMAGED("\x02\x01x");                                /* field 0 */
	DAMAGED("\x0b");                                     /* a group */
	DAMAGED("\x0f");                                     /* no wire type */
	DAMAGED("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02"); /* more than 64 bits */
	DAMAGED("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	DAMAGED("\xf8\xff\xff\xff\xff\x01\x00");                 /* a field number above 32 bits */
	DAMAGED("\x42\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); /* a length above 63 bits */
	DAMAGED("\x32\x03\x12\x05"
		"abc");              /* longer than its entry */
	DAMAGED("\x32\x01\x12");     /* an entry ends after a tag */
	DAMAGED("\x32\x02\x12\x80"); /* and in a length */
	DAMAGED("\x32\x02\x0d\x01"); /* and in a fixed value */
	DAMAGED("\x32\x03\x08\x01"); /* an entry that is cut */
}

static enum tfp_status refuse(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	(void)context;
	(void)bytes;
	(void)size;
	return tfp_fail(err, TFP_IO, "full");
}

static void test_the_sink_says_no(void **state)
{
	struct tfp_profile_response r;
	struct tfp_error err;
	(void)state;
	tfp_profile_response_init(&r, refuse, NULL);
	assert_int_equal(tfp_profile_response_feed(&r, "\x42\x01x", 3, &err), TFP_IO);
	assert_string_equal(err.message, "full");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_xspace),
		TEST(test_nothing),
		TEST(test_unknown_fields_around),
		TEST(test_parts_of_one_message),
		TEST(test_tool_data),
		TEST(test_field_8_wins_if_first),
		TEST(test_damage),
		TEST(test_the_sink_says_no),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
