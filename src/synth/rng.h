/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that look random but follow from a key and a place alone. There is no
 * state: the order in which they are asked for does not matter, so that a step can be
 * made twice and comes out alike.
 */
#ifndef TFP_SYNTH_RNG_H
#define TFP_SYNTH_RNG_H

#include <stdint.h>

/* The finaliser of splitmix64. */
static inline uint64_t synth_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The number for index under key, and the key for what is below it. */
static inline uint64_t synth_draw(uint64_t key, uint64_t index)
{
	return synth_mix(key ^ (index * UINT64_C(0xd6e8feb86659fd93)));
}

/* 0 to below - 1; below is at least 1 and at most 2^32. */
static inline int64_t synth_below(uint64_t draw, uint64_t below)
{
	return (int64_t)(((draw >> 32) * below) >> 32);
}

/* value, more or less by up to permille thousandths. */
static inline int64_t synth_jitter(uint64_t draw, int64_t value, int64_t permille)
{
	return value + value * (synth_below(draw, (uint64_t)permille * 2 + 1) - permille) / 1000;
}

#endif
