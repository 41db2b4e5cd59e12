#include "base/sort.h"

#include "base/alloc.h"

#include <string.h>

uint32_t *tfp_sort_indexes(size_t count,
			   bool (*before)(const void *context, uint32_t a, uint32_t b),
			   const void *context)
{
	uint32_t *order = tfp_reallocarray(NULL, count, sizeof(*order));
	uint32_t *left = tfp_reallocarray(NULL, count, sizeof(*left));
	if (!order || !left) {
		tfp_free(order);
		tfp_free(left);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t low = 0; low + width < count; low += 2 * width) {
			size_t middle = low + width;
			size_t high = count - middle > width ? middle + width : count;
			if (!before(context, order[middle], order[middle - 1]))
				continue;
			memcpy(left, order + low, width * sizeof(*left));
			size_t a = 0, b = middle, to = low;
			while (a < width && b < high) {
				bool right = before(context, order[b], left[a]);
				order[to++] = right ? order[b++] : left[a++];
			}
			memcpy(order + to, left + a, (width - a) * sizeof(*order));
		}
	}
	tfp_free(left);
	return order;
}
