/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tfp_number_begin(const char **text, uint64_t *out)
{
	const char *at = *text;
	uint64_t n = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n))
			return false;
	}
	if (at == *text)
		return false;
	*text = at;
	*out = n;
	return true;
}

bool tfp_number(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t n;
	if (!tfp_number_begin(&text, &n) || *text != '\0' || n > max)
		return false;
	*out = n;
	return true;
}

int tfp_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* ---- writing ---- */

size_t tfp_put_count(char *out, uint64_t value)
{
	/* Two at a time: answers of the timeline have hundreds of thousands of numbers. */
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
				    "31323334353637383940414243444546474849505152535455565758596061"
				    "62636465666768697071727374757677787980818283848586878889909192"
				    "93949596979899";
	char digits[TFP_DIGITS_MAX], *at = digits + sizeof(digits);
	for (; value >= 100; value /= 100)
		memcpy(at -= 2, pairs + value % 100 * 2, 2);
	if (value >= 10)
		memcpy(at -= 2, pairs + value * 2, 2);
	else
		*--at = (char)('0' + value);
	size_t size = (size_t)(digits + sizeof(digits) - at);
	memcpy(out, at, size);
	return size;
}

size_t tfp_put_integer(char *out, int64_t value)
{
	if (value >= 0)
		return tfp_put_count(out, (uint64_t)value);
	*out = '-';
	return 1 + tfp_put_count(out + 1, -(uint64_t)value);
}

/* The fewest significant digits that read back as the same number; with an
 * exponent outside 1e-4..1e15, as the peers do. */
static void shortest(double value, char *out, size_t size)
{
	int digits = 15;
	do
		snprintf(out, size, "%.*g", digits, value);
	while (strtod(out, NULL) != value && ++digits <= 17);
	if (fabs(value) < 1e15)
		return;
	/* %g has no exponent yet where all the digits stand before the point. */
	snprintf(out, size, "%.*e", digits - 1, value);
	char *exponent = strchr(out, 'e'), *end = exponent;
	while (end[-1] == '0')
		end--;
	end -= end[-1] == '.';
	memmove(end, exponent, strlen(exponent) + 1);
}

size_t tfp_put_double(char *out, double value)
{
	double size = fabs(value);
	if (size < 1e15 && value == floor(value)) {
		/* A sum of nothing can be -0. It is shown as 0. */
		size_t digits = tfp_put_integer(out, (int64_t)value);
		memcpy(out + digits, ".0", 2);
		return digits + 2;
	}
	shortest(value, out, TFP_DOUBLE_MAX);
	return strlen(out);
}
