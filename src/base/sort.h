/* SPDX-License-Identifier: Apache-2.0 */
/* A stable sort of indexes, for columns that are sorted together. */
#ifndef TFP_BASE_SORT_H
#define TFP_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The indexes 0..count-1 in the order of before(context, a, b), which says
 * whether a must come before b; the smaller index first where neither must.
 * Nothing recursive, and cheap when the order is nearly right already. count
 * is below 2^32. The caller frees the result (tfp_free); NULL without memory. */
uint32_t *tfp_sort_indexes(size_t count,
			   bool (*before)(const void *context, uint32_t a, uint32_t b),
			   const void *context);

/* The same in the caller's memory, which has room for count numbers each: order gets the
 * result, room is scratch. */
void tfp_sort_indexes_in(uint32_t *order, uint32_t *room, size_t count,
			 bool (*before)(const void *context, uint32_t a, uint32_t b),
			 const void *context);

struct tfp_pair {
	uint64_t key, value;
};

/* Sorts by key; pairs of one key stay in their order. The time grows with count, and with
 * how many bits of the keys differ. false without memory: nothing is moved then. */
bool tfp_sort_pairs(struct tfp_pair *pairs, size_t count);

#endif
