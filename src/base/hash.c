/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <string.h>

uint64_t tfp_hash_u64(uint64_t x)
{
	/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x;
}

uint64_t tfp_hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = seed ^ (size * UINT64_C(0x9e3779b97f4a7c15)), part;
	for (; size >= 8; p += 8, size -= 8) {
		memcpy(&part, p, 8);
		h = tfp_hash_u64(h ^ part);
	}
	if (size) {
		part = 0;
		memcpy(&part, p, size);
		h ^= part;
	}
	return tfp_hash_u64(h);
}
