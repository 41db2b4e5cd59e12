/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text_width.h"

#include <stdint.h>

/* The letter at text, whose bytes are at most size; *length is how many it has. Anything that
 * is not UTF-8 is a letter of one byte. */
static uint32_t letter_at(const char *text, size_t size, size_t *length)
{
	const unsigned char *t = (const unsigned char *)text;
	size_t n = t[0] < 0x80 ? 1 : t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : t[0] >= 0xc0 ? 2 : 1;
	*length = 1;
	if (n > size || n == 1)
		return t[0];
	uint32_t letter = t[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((t[i] & 0xc0) != 0x80)
			return t[0];
		letter = letter << 6 | (t[i] & 0x3fu);
	}
	*length = n;
	return letter;
}

struct range {
	uint32_t from, to;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t letter)
{
	for (size_t i = 0; i < count; i++) {
		if (letter >= ranges[i].from && letter <= ranges[i].to)
			return true;
	}
	return false;
}

static size_t letter_width(uint32_t letter)
{
	static const struct range none[] = {
		{0x300, 0x36f},   {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2069},
		{0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
	};
	static const struct range wide[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf}, {0xac00, 0xd7a3},
		{0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60}, {0xffe0, 0xffe6},
		{0x1f300, 0x1faff}, {0x20000, 0x3fffd},
	};
	if (letter < 0x300)
		return 1;
	if (is_in(none, sizeof(none) / sizeof(none[0]), letter))
		return 0;
	return is_in(wide, sizeof(wide) / sizeof(wide[0]), letter) ? 2 : 1;
}

size_t tfp_text_width(const char *text, size_t size)
{
	size_t width = 0, length;
	for (size_t i = 0; i < size; i += length)
		width += letter_width(letter_at(text + i, size - i, &length));
	return width;
}

size_t tfp_text_prefix(const char *text, size_t size, size_t width)
{
	size_t i = 0, length;
	for (; i < size; i += length) {
		size_t own = letter_width(letter_at(text + i, size - i, &length));
		if (own > width)
			break;
		width -= own;
	}
	return i;
}

void tfp_text_shorten(struct tfp_buf *out, const char *text, size_t size, size_t width)
{
	size_t have = tfp_text_width(text, size);
	if (have <= width) {
		tfp_buf_add(out, text, size);
		return;
	}
	if (width == 0)
		return;
	size_t front = width / 2, length;
	size_t head = tfp_text_prefix(text, size, front), tail = head;
	/* The rest must fit behind the dots. */
	size_t rest = tfp_text_width(text + tail, size - tail);
	while (tail < size && rest > width - front - 1) {
		rest -= letter_width(letter_at(text + tail, size - tail, &length));
		tail += length;
	}
	tfp_buf_add(out, text, head);
	tfp_buf_puts(out, "\xe2\x80\xa6");
	tfp_buf_add(out, text + tail, size - tail);
}

void tfp_text_clean(struct tfp_buf *out, const char *text, size_t size)
{
	size_t length;
	for (size_t i = 0; i < size; i += length) {
		uint32_t letter = letter_at(text + i, size - i, &length);
		if (letter < 0x20 || (letter >= 0x7f && letter < 0xa0))
			tfp_buf_putc(out, ' ');
		else if (!(letter >= 0x202a && letter <= 0x202e) &&
			 !(letter >= 0x2066 && letter <= 0x2069))
			tfp_buf_add(out, text + i, length);
	}
}
