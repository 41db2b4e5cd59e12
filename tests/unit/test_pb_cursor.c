/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values by the protobuf encoding guide. */
#include "testing.h"

#include "wire/pb_cursor.h"

#define CURSOR(text) tfp_pb_cursor((const uint8_t *)(text), sizeof(text) - 1)

static void assert_stopped(const struct tfp_pb_cursor *c, enum tfp_pb_damage damage, const void *at)
{
	uint32_t tag;
	assert_int_equal(c->damage, damage);
	assert_ptr_equal(c->damage_at, at);
	assert_ptr_equal(c->at, c->end);
	struct tfp_pb_cursor copy = *c;
	assert_false(tfp_pb_next(&copy, &tag));
}

static void test_varints(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		uint64_t value;
	} cases[] = {
		{"\0", 1, 0},
		{"\x01", 1, 1},
		{"\x7f", 1, 127},
		{"\x80\x01", 2, 128},
		{"\x96\x01", 2, 150},
		{"\xff\xff\xff\xff\x0f", 5, UINT32_MAX},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9, INT64_MAX},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, UINT64_C(1) << 63},
		/* Longer than need be is allowed. */
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, 0},
		{"\x81\x00", 2, 1},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_pb_cursor c =
			tfp_pb_cursor((const uint8_t *)cases[i].bytes, cases[i].size);
		uint64_t value;
		assert_true(tfp_pb_varint(&c, &value));
		assert_true(value == cases[i].value);
		assert_ptr_equal(c.at, c.end);
		for (size_t cut = 0; cut < cases[i].size; cut++) {
			c = tfp_pb_cursor((const uint8_t *)cases[i].bytes, cut);
			assert_false(tfp_pb_varint(&c, &value));
			assert_stopped(&c, TFP_PB_CUT, cases[i].bytes);
		}
	}
}

static void test_negative_numbers(void **state)
{
	int64_t value;
	(void)state;
	struct tfp_pb_cursor c = CURSOR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	assert_true(tfp_pb_int64(&c, &value));
	assert_int_equal(value, -1);
	c = CURSOR("\xef\xfd\xb6\xf5\xfd\xff\xff\xff\xff\x01"); /* 0xdeadbeef as an int */
	assert_true(tfp_pb_int64(&c, &value));
	assert_int_equal(value, -559038737);
}

static void test_varints_too_long(void **state)
{
	static const char eleven[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00";
	static const char too_much[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
	static const char ten_open[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00";
	uint64_t value;
	(void)state;
	struct tfp_pb_cursor c = CURSOR(eleven);
	assert_false(tfp_pb_varint(&c, &value));
	assert_stopped(&c, TFP_PB_LONG_VARINT, eleven);
	c = CURSOR(too_much);
	assert_false(tfp_pb_varint(&c, &value));
	assert_stopped(&c, TFP_PB_LONG_VARINT, too_much);
	c = CURSOR(ten_open);
	assert_false(tfp_pb_varint(&c, &value));
	assert_stopped(&c, TFP_PB_LONG_VARINT, ten_open);
}

static void test_tags(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t tag; /* 0: refused */
	} cases[] = {
		{"\x08", TFP_PB_TAG(1, TFP_PB_VARINT)},
		{"\x7a", TFP_PB_TAG(15, TFP_PB_BYTES)},
		{"\x82\x01", TFP_PB_TAG(16, TFP_PB_BYTES)},
		{"\xfd\xff\xff\xff\x0f", TFP_PB_TAG(536870911, TFP_PB_FIXED32)},
		{"\x02", 0},                 /* field 0 */
		{"\x06", 0},                 /* field 0 */
		{"\x0e", 0},                 /* wire type 6 */
		{"\x0f", 0},                 /* wire type 7 */
		{"\xff\xff\xff\xff\x0f", 0}, /* wire type 7 */
		{"\x80\x80\x80\x80\x10", 0}, /* beyond 32 bits */
		{"\x82\x80\x80\x80\x80\x80\x01", 0},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_pb_cursor c =
			tfp_pb_cursor((const uint8_t *)cases[i].bytes, strlen(cases[i].bytes));
		uint32_t tag = 0;
		assert_int_equal(tfp_pb_next(&c, &tag), cases[i].tag != 0);
		if (cases[i].tag)
			assert_int_equal(tag, cases[i].tag);
		else
			assert_stopped(&c, TFP_PB_BAD_TAG, cases[i].bytes);
	}
	struct tfp_pb_cursor zero = CURSOR("\0");
	uint32_t tag;
	assert_false(tfp_pb_next(&zero, &tag));
	assert_int_equal(zero.damage, TFP_PB_BAD_TAG);
	struct tfp_pb_cursor empty = tfp_pb_cursor(NULL, 0);
	assert_false(tfp_pb_next(&empty, &tag));
	assert_int_equal(empty.damage, TFP_PB_SOUND);
	struct tfp_pb_cursor cut = CURSOR("\x82");
	assert_false(tfp_pb_next(&cut, &tag));
	assert_int_equal(cut.damage, TFP_PB_CUT);
}

static void test_bytes(void **state)
{
	static const char too_long[] = "\x04"
				       "abc";
	static const char huge[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
				   "abc";
	const uint8_t *data;
	size_t size;
	(void)state;
	struct tfp_pb_cursor c = CURSOR("\x03"
					"abcd");
	assert_true(tfp_pb_bytes(&c, &data, &size));
	assert_int_equal(size, 3);
	assert_memory_equal(data, "abc", 3);
	assert_int_equal(c.end - c.at, 1);
	c = CURSOR("\0");
	assert_true(tfp_pb_bytes(&c, &data, &size));
	assert_int_equal(size, 0);
	c = CURSOR(too_long);
	assert_false(tfp_pb_bytes(&c, &data, &size));
	assert_stopped(&c, TFP_PB_LENGTH, too_long);
	c = CURSOR(huge);
	assert_false(tfp_pb_bytes(&c, &data, &size));
	assert_stopped(&c, TFP_PB_LENGTH, huge);
}

static void test_doubles(void **state)
{
	double value;
	(void)state;
	struct tfp_pb_cursor c = CURSOR("\0\0\0\0\0\0\xf8\x3f");
	assert_true(tfp_pb_double(&c, &value));
	assert_true(value == 1.5);
	c = CURSOR("\0\0\0\0\0\0\xf8");
	assert_false(tfp_pb_double(&c, &value));
	assert_int_equal(c.damage, TFP_PB_CUT);
}

/* Fields by tag: what is left after the first field is passed over, or the damage. */
static void check_skip(const char *bytes, size_t size, enum tfp_pb_damage damage, size_t left)
{
	struct tfp_pb_cursor c = tfp_pb_cursor((const uint8_t *)bytes, size);
	uint32_t tag;
	assert_true(tfp_pb_next(&c, &tag));
	assert_int_equal(tfp_pb_skip(&c, tag), damage == TFP_PB_SOUND);
	assert_int_equal(c.damage, damage);
	if (damage == TFP_PB_SOUND)
		assert_int_equal(c.end - c.at, left);
	else
		assert_ptr_equal(c.at, c.end);
}

#define SKIP(text, damage, left) check_skip(text, sizeof(text) - 1, damage, left)

static void test_skip(void **state)
{
	(void)state;
	SKIP("\x08\x96\x01!", TFP_PB_SOUND, 1);
	SKIP("\x09"
	     "12345678!",
	     TFP_PB_SOUND, 1);
	SKIP("\x0a\x02"
	     "ab!",
	     TFP_PB_SOUND, 1);
	SKIP("\x0d"
	     "1234!",
	     TFP_PB_SOUND, 1);
	SKIP("\x09"
	     "1234567",
	     TFP_PB_CUT, 0);
	SKIP("\x0d"
	     "123",
	     TFP_PB_CUT, 0);
	SKIP("\x08", TFP_PB_CUT, 0);
	SKIP("\x0a\x03"
	     "ab",
	     TFP_PB_LENGTH, 0);
	SKIP("\x0a", TFP_PB_CUT, 0);
}

static void test_groups(void **state)
{
	char deep[200];
	(void)state;
	SKIP("\x0b\x0c!", TFP_PB_SOUND, 1);                          /* 1 {} */
	SKIP("\x0b\x10\x05\x13\x1a\x01x\x14\x0c!", TFP_PB_SOUND, 1); /* 1 {2: 5, 2 {3: "x"}} */
	SKIP("\x0b\x10\x05", TFP_PB_CUT, 0);                         /* never closed */
	SKIP("\x0b\x14", TFP_PB_BAD_GROUP, 0);                       /* closed as another */
	SKIP("\x0c", TFP_PB_BAD_GROUP, 0);                           /* never opened */
	SKIP("\x0b\x13\x0c\x14", TFP_PB_BAD_GROUP, 0);               /* crossed */
	SKIP("\x0b\x0e\x0c", TFP_PB_BAD_TAG, 0);                     /* damage inside */
	SKIP("\x0b\x12\x09"
	     "abc\x0c",
	     TFP_PB_LENGTH, 0);
	for (size_t depth = 30; depth <= 36; depth++) {
		memset(deep, 0x0b, depth);
		memset(deep + depth, 0x0c, depth);
		deep[2 * depth] = '!';
		check_skip(deep, 2 * depth + 1, depth <= 32 ? TFP_PB_SOUND : TFP_PB_BAD_GROUP, 1);
	}
}

/* Field 1, by the encoding's own documentation: packed, 3, 270, 86942. */
static void test_repeated_numbers(void **state)
{
	static const uint8_t bytes[] = {0x0a, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05, /* packed */
					0x08, 0x8e, 0x02, 0x08, 0x03, /* two, each by itself */
					0x0a, 0x00,                   /* none */
					0x0a, 0x02, 0x07, 0x80,       /* one, and half of one */
					0x08, 0x01};
	static const int64_t expected[] = {3, 270, 86942, 270, 3, 7};
	struct tfp_pb_cursor c = tfp_pb_cursor(bytes, sizeof(bytes));
	size_t count = 0, tags = 0;
	uint32_t tag;
	(void)state;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_pb_numbers n = {0};
		int64_t value;
		tags++;
		while (tfp_pb_next_int64(&c, tag, &n, &value)) {
			assert_true(count < COUNT(expected));
			assert_int_equal(value, expected[count++]);
		}
	}
	assert_int_equal(count, COUNT(expected));
	assert_int_equal(tags, 5);
	assert_int_equal(c.damage, TFP_PB_CUT);
	assert_ptr_equal(c.damage_at, bytes + 18); /* where the half begins */

	/* Longer than the message. */
	c = tfp_pb_cursor((const uint8_t[]){0x0a, 0x02, 0x01}, 3);
	struct tfp_pb_numbers n = {0};
	int64_t value;
	assert_true(tfp_pb_next(&c, &tag));
	assert_false(tfp_pb_next_int64(&c, tag, &n, &value));
	assert_int_equal(c.damage, TFP_PB_LENGTH);
}

static void test_first_damage_is_remembered(void **state)
{
	static const char bytes[] = "\x0a\x09";
	uint32_t tag;
	uint64_t value;
	(void)state;
	struct tfp_pb_cursor c = CURSOR(bytes);
	assert_true(tfp_pb_next(&c, &tag));
	assert_false(tfp_pb_skip(&c, tag));
	assert_false(tfp_pb_varint(&c, &value));
	assert_stopped(&c, TFP_PB_LENGTH, bytes + 1);
}

static void test_wrong_wire_type_falls_to_default(void **state)
{
	/* Field 1 as text, then as a number, then as a fixed one. */
	static const char bytes[] = "\x0a\x01x\x08\x07\x0d\1\2\3\4";
	uint64_t value = 0;
	unsigned unknown = 0;
	uint32_t tag;
	(void)state;
	struct tfp_pb_cursor c = CURSOR(bytes);
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_VARINT)) {
			assert_true(tfp_pb_varint(&c, &value));
		} else {
			assert_true(tfp_pb_skip(&c, tag));
			unknown++;
		}
	}
	assert_int_equal(c.damage, TFP_PB_SOUND);
	assert_int_equal(value, 7);
	assert_int_equal(unknown, 2);
}

static void test_damage_has_words(void **state)
{
	(void)state;
	for (int a = TFP_PB_SOUND; a <= TFP_PB_BAD_GROUP; a++) {
		for (int b = TFP_PB_SOUND; b < a; b++)
			assert_string_not_equal(tfp_pb_damage_text((enum tfp_pb_damage)a),
						tfp_pb_damage_text((enum tfp_pb_damage)b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints),
		cmocka_unit_test(test_negative_numbers),
		cmocka_unit_test(test_varints_too_long),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_repeated_numbers),
		cmocka_unit_test(test_first_damage_is_remembered),
		cmocka_unit_test(test_wrong_wire_type_falls_to_default),
		cmocka_unit_test(test_damage_has_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
