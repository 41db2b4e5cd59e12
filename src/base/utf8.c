/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/buf.h"

#include <stdint.h>
#include <string.h>

/* Length of the well-formed sequence at p, or 0; then *bad is the length of
 * the maximal ill-formed part (Unicode 15, 3.9, table 3-7). */
static size_t sequence(const unsigned char *p, size_t size, size_t *bad)
{
	unsigned char lead = p[0], low = 0x80, high = 0xbf;
	size_t need;
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf) {
		need = 2;
	} else if (lead >= 0xe0 && lead <= 0xef) {
		need = 3;
		if (lead == 0xe0)
			low = 0xa0;
		else if (lead == 0xed)
			high = 0x9f;
	} else if (lead >= 0xf0 && lead <= 0xf4) {
		need = 4;
		if (lead == 0xf0)
			low = 0x90;
		else if (lead == 0xf4)
			high = 0x8f;
	} else {
		*bad = 1;
		return 0;
	}
	for (size_t i = 1; i < need; i++) {
		if (i == size || p[i] < low || p[i] > high) {
			*bad = i;
			return 0;
		}
		low = 0x80;
		high = 0xbf;
	}
	return need;
}

size_t tfp_utf8_prefix(const char *text, size_t size)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0, bad;
	while (at < size) {
		uint64_t eight;
		if (size - at >= 8) {
			memcpy(&eight, p + at, 8);
			if (!(eight & UINT64_C(0x8080808080808080))) {
				at += 8;
				continue;
			}
		}
		size_t n = sequence(p + at, size - at, &bad);
		if (!n)
			break;
		at += n;
	}
	return at;
}

bool tfp_utf8_valid(const char *text, size_t size)
{
	return tfp_utf8_prefix(text, size) == size;
}

void tfp_utf8_repair(struct tfp_buf *out, const char *text, size_t size)
{
	while (size) {
		size_t good = tfp_utf8_prefix(text, size), bad = 0;
		tfp_buf_add(out, text, good);
		if (good == size)
			return;
		sequence((const unsigned char *)text + good, size - good, &bad);
		tfp_buf_puts(out, "\xef\xbf\xbd");
		text += good + bad;
		size -= good + bad;
	}
}
