/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"

#include "base/alloc.h"

#include <string.h>

void tfp_sort_indexes_in(uint32_t *order, uint32_t *room, size_t count,
			 bool (*before)(const void *context, uint32_t a, uint32_t b),
			 const void *context)
{
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t low = 0; low + width < count; low += 2 * width) {
			size_t middle = low + width;
			size_t high = count - middle > width ? middle + width : count;
			if (!before(context, order[middle], order[middle - 1]))
				continue;
			memcpy(room, order + low, width * sizeof(*room));
			size_t a = 0, b = middle, to = low;
			while (a < width && b < high) {
				bool right = before(context, order[b], room[a]);
				order[to++] = right ? order[b++] : room[a++];
			}
			memcpy(order + to, room + a, (width - a) * sizeof(*order));
		}
	}
}

uint32_t *tfp_sort_indexes(size_t count,
			   bool (*before)(const void *context, uint32_t a, uint32_t b),
			   const void *context)
{
	uint32_t *order = tfp_reallocarray(NULL, count, sizeof(*order));
	uint32_t *room = tfp_reallocarray(NULL, count, sizeof(*room));
	if (order && room) {
		tfp_sort_indexes_in(order, room, count, before, context);
	} else {
		tfp_free(order);
		order = NULL;
	}
	tfp_free(room);
	return order;
}

bool tfp_sort_pairs(struct tfp_pair *pairs, size_t count)
{
	enum { BITS = 11, DIGITS = 1 << BITS };
	uint64_t differ = 0;
	bool sorted = true;
	for (size_t i = 1; i < count; i++) {
		differ |= pairs[i].key ^ pairs[0].key;
		sorted &= pairs[i - 1].key <= pairs[i].key;
	}
	if (sorted)
		return true;
	struct tfp_pair *spare = tfp_reallocarray(NULL, count, sizeof(*spare));
	if (!spare)
		return false;
	struct tfp_pair *in = pairs, *out = spare;
	for (unsigned shift = 0; shift < 64; shift += BITS) {
		size_t next[DIGITS] = {0}, sum = 0;
		if ((differ >> shift & (DIGITS - 1)) == 0)
			continue;
		for (size_t i = 0; i < count; i++)
			next[in[i].key >> shift & (DIGITS - 1)]++;
		for (unsigned d = 0; d < DIGITS; d++) {
			size_t here = next[d];
			next[d] = sum;
			sum += here;
		}
		for (size_t i = 0; i < count; i++)
			out[next[in[i].key >> shift & (DIGITS - 1)]++] = in[i];
		struct tfp_pair *swap = in;
		in = out;
		out = swap;
	}
	if (in != pairs)
		memcpy(pairs, in, count * sizeof(*pairs));
	tfp_free(spare);
	return true;
}
