/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "tfprof/message_rules.h"
#include "tfprof/text_message.h"

static enum tfp_status convert(const char *text, struct tfp_buf *out, struct tfp_error *err)
{
	tfp_buf_init(out, 1 << 16);
	return tfp_text_message(&tfp_graph_def_rule, text, strlen(text), out, err);
}

static void check(const char *text, const char *bytes, size_t size)
{
	struct tfp_buf out;
	struct tfp_error err;
	if (convert(text, &out, &err) != TFP_OK)
		fail_msg("%s", err.message);
	assert_int_equal(out.size, size);
	assert_memory_equal(tfp_buf_text(&out), bytes, size);
	tfp_buf_release(&out);
}

#define CHECK(text, bytes) check(text, bytes, sizeof(bytes) - 1)

static void test_values(void **state)
{
	(void)state;
	CHECK("", "");
	CHECK(" # nothing\n", "");
	CHECK("version: 3", "\x18\x03");
	CHECK("version : -1 ;", "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	CHECK("versions < producer: 0x10, min_consumer: 010 >", "\x22\x04\x08\x10\x10\x08");
	CHECK("versions: { bad_consumers: [1, 2] bad_consumers: 3 }",
	      "\x22\x06\x18\x01\x18\x02\x18\x03");
	CHECK("node { name: 'a' \"\\x62\\143\" }", "\x0a\x05\x0a\x03"
						   "abc");
	CHECK("node { attr { key: 'T' value { type: DT_FLOAT } } }",
	      "\x0a\x09\x2a\x07\x0a\x01T\x12\x02\x30\x01");
	CHECK("node { attr { value { b: true } } attr { value { f: 1.5 } } }",
	      "\x0a\x0f\x2a\x04\x12\x02\x28\x01\x2a\x07\x12\x05\x25\x00\x00\xc0\x3f");
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *why;
		uint64_t offset;
	} bad[] = {
		{"nodes { }", "unknown field", 0},
		{"version: 1\nversion: 2", "line 2", 11},
		{"version 1", "':' is missing", 8},
		{"version: 99999999999", "out of range", 9},
		{"version: 1x", "an integer is missing", 9},
		{"node {", "does not end", 6},
		{"node { name: \"a", "does not end", 15},
		{"node { name: \"a\n\" }", "in its line", 15},
		{"node { name: \"\\xff\" }", "not UTF-8", 13},
		{"node { name: \"\\q\" }", "unknown escape", 15},
		{"node { attr { value { type: DT_NONE } } }", "unknown word", 28},
		{"node 3", "a message is missing", 5},
		{"\x08\x01", "name of a field", 0},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct tfp_buf out;
		struct tfp_error err;
		assert_int_equal(convert(bad[i].text, &out, &err), TFP_BAD_INPUT);
		if (!strstr(err.message, bad[i].why) || err.offset != bad[i].offset)
			fail_msg("%s: %s, byte %d", bad[i].text, err.message, (int)err.offset);
		tfp_buf_release(&out);
	}
}

static void test_depth(void **state)
{
	static const char open[] = "attr { value { func { ", close[] = "} } } ";
	struct tfp_buf text, out;
	struct tfp_error err;
	(void)state;
	tfp_buf_init(&text, 1 << 20);
	tfp_buf_puts(&text, "node { ");
	for (int i = 0; i < 50; i++)
		tfp_buf_puts(&text, open);
	for (int i = 0; i < 50; i++)
		tfp_buf_puts(&text, close);
	tfp_buf_puts(&text, "}");
	assert_int_equal(convert(tfp_buf_text(&text), &out, &err), TFP_BAD_INPUT);
	assert_non_null(strstr(err.message, "inside one another"));
	tfp_buf_release(&out);
	tfp_buf_release(&text);
}

static void test_wire(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		bool good;
	} cases[] = {
		{"", 0, true},
		{"\x0a\x03\x0a\x01z", 5, true},
		{"\x0a\x03\x0a\x01\xff", 5, false},     /* a name that is not UTF-8 */
		{"\x0a\x03\x0a\x02z", 5, false},        /* a name beyond its node */
		{"\x0a\x04\x2a\x02\x12\x05", 6, false}, /* an attribute beyond its entry */
		{"\x22\x04\x1a\x02\x01\x80", 6, false}, /* a packed number that is cut */
		{"\x98\x06\x01\xa2\x06\x01z", 7, true}, /* unknown fields */
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_error err;
		const struct tfp_span bytes = {(const uint8_t *)cases[i].bytes, cases[i].size};
		assert_int_equal(tfp_message_check(&tfp_graph_def_rule, bytes, &err) == TFP_OK,
				 cases[i].good);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_wire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
