/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/crc32c.h"

#include <stdbool.h>
#include <threads.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t table[256];
static once_flag made = ONCE_FLAG_INIT;

static void make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
}

uint32_t tfp_crc32c(uint32_t crc, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	call_once(&made, make);
	crc = ~crc;
	for (size_t i = 0; i < size; i++)
		crc = crc >> 8 ^ table[(crc ^ at[i]) & 0xff];
	return ~crc;
}

uint32_t tfp_crc32c_masked(const void *bytes, size_t size)
{
	uint32_t crc = tfp_crc32c(0, bytes, size);
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}
