/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values are the Unicode standard's (15.0, section 3.9): tables 3-7
 * to 3-11 and the example of D93b. */
#include "testing.h"

#include "base/buf.h"
#include "base/utf8.h"

#define R "\xef\xbf\xbd" /* U+FFFD */

static void test_repair_replaces_maximal_subparts(void **state)
{
	static const struct {
		const char *text, *repaired;
	} cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		/* 3-8: non-shortest forms */
		{"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", R R R R R R R R "A"},
		/* 3-9: surrogates */
		{"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", R R R R R R R R "A"},
		/* 3-10: other ill-formed sequences */
		{"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", R R R R R "A" R R "B"},
		/* 3-11: truncated sequences */
		{"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", R R R R "A"},
		/* D93b */
		{"\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64",
		 "a" R R R "b" R "c" R R "d"},
		/* Cut at the end of the text */
		{"abcdefgh\xe2\x82", "abcdefgh" R},
		{"\xf0\x9f\x98", R},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tfp_buf b;
		tfp_buf_init(&b, 1000);
		tfp_utf8_repair(&b, cases[i].text, strlen(cases[i].text));
		assert_string_equal(tfp_buf_text(&b), cases[i].repaired);
		tfp_buf_release(&b);
		bool same = strcmp(cases[i].text, cases[i].repaired) == 0;
		assert_int_equal(tfp_utf8_valid(cases[i].text, strlen(cases[i].text)), same);
	}
}

/* Table 3-7, by the definition and not by its rows: a sequence is well-formed
 * when it is what encoding its code point gives. */
static size_t encode(uint32_t code, unsigned char out[4])
{
	if (code < 0x80) {
		out[0] = (unsigned char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (unsigned char)(0x80 | (code & 0x3f));
	out[0] = (unsigned char)(lead[n] | code);
	return n;
}

static void test_every_code_point(void **state)
{
	unsigned char text[5];
	(void)state;
	for (uint32_t code = 0; code < 0x112000; code++) {
		size_t n = encode(code, text);
		bool good = code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
		text[n] = 'x';
		if (tfp_utf8_valid((const char *)text, n) != good)
			fail_msg("U+%X", code);
		assert_int_equal(tfp_utf8_prefix((const char *)text, n + 1), good ? n + 1 : 0);
		for (size_t cut = 1; cut < n; cut++)
			assert_int_equal(tfp_utf8_prefix((const char *)text, cut), 0);
	}
}

static void test_every_pair_of_bytes(void **state)
{
	(void)state;
	for (unsigned a = 0; a < 256; a++) {
		for (unsigned b = 0; b < 256; b++) {
			const char text[] = {(char)a, (char)b};
			bool good = (a < 0x80 && b < 0x80) ||
				    (a >= 0xc2 && a <= 0xdf && b >= 0x80 && b <= 0xbf);
			assert_int_equal(tfp_utf8_valid(text, 2), good);
		}
	}
}

static void test_prefix_in_long_text(void **state)
{
	char text[64];
	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t bad = 0; bad < sizeof(text); bad++) {
		text[bad] = (char)0xff;
		assert_int_equal(tfp_utf8_prefix(text, sizeof(text)), bad);
		text[bad] = 'a';
	}
	assert_int_equal(tfp_utf8_prefix(text, sizeof(text)), sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repair_replaces_maximal_subparts),
		cmocka_unit_test(test_every_code_point),
		cmocka_unit_test(test_every_pair_of_bytes),
		cmocka_unit_test(test_prefix_in_long_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
