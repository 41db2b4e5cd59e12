/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/rank.h"

#include "base/alloc.h"

#define FEW 16 /* are sorted by insertion */

struct rank {
	bool (*before)(const void *context, uint32_t a, uint32_t b);
	const void *context;
};

static bool before(const struct rank *r, uint32_t a, uint32_t b)
{
	return r->before(r->context, a, b);
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t c = *a;
	*a = *b;
	*b = c;
}

/* ---- heapsort ---- */

/* Lets a hole sink to the bottom, and the value rise from there. */
static void sift(const struct rank *r, uint32_t *list, size_t hole, size_t count, uint32_t value)
{
	size_t top = hole, child = hole;
	while (child < (count - 1) / 2) {
		child = 2 * (child + 1);
		if (before(r, list[child], list[child - 1]))
			child--;
		list[hole] = list[child];
		hole = child;
	}
	if (count % 2 == 0 && child == (count - 2) / 2) {
		child = 2 * (child + 1);
		list[hole] = list[child - 1];
		hole = child - 1;
	}
	while (hole > top && before(r, list[(hole - 1) / 2], value)) {
		list[hole] = list[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	list[hole] = value;
}

static void heapsort_all(const struct rank *r, uint32_t *list, size_t count)
{
	for (size_t parent = count / 2; count > 1 && parent-- > 0;)
		sift(r, list, parent, count, list[parent]);
	while (count > 1) {
		uint32_t value = list[--count];
		list[count] = list[0];
		sift(r, list, 0, count, value);
	}
}

/* ---- quicksort ---- */

static void median_to_first(const struct rank *r, uint32_t *first, uint32_t *a, uint32_t *b,
			    uint32_t *c)
{
	if (before(r, *a, *b))
		swap(first, before(r, *b, *c) ? b : before(r, *a, *c) ? c : a);
	else
		swap(first, before(r, *a, *c) ? a : before(r, *b, *c) ? c : b);
}

/* Where the second part begins. */
static size_t partition(const struct rank *r, uint32_t *list, size_t count)
{
	size_t low = 1, high = count;
	median_to_first(r, list, list + 1, list + count / 2, list + count - 1);
	for (;;) {
		while (before(r, list[low], list[0]))
			low++;
		high--;
		while (before(r, list[0], list[high]))
			high--;
		if (low >= high)
			return low;
		swap(&list[low++], &list[high]);
	}
}

/* depth bounds the recursion: twice the logarithm of the count. */
static void split(const struct rank *r, uint32_t *list, size_t count, unsigned depth)
{
	while (count > FEW) {
		if (depth-- == 0) {
			heapsort_all(r, list, count);
			return;
		}
		size_t cut = partition(r, list, count);
		split(r, list + cut, count - cut, depth);
		count = cut;
	}
}

/* ---- insertion ---- */

static void insert(const struct rank *r, uint32_t *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t value = list[i];
		size_t at = i;
		/* One that goes before the first of the first few goes there at once. */
		bool first = i < FEW && before(r, value, list[0]);
		for (; at > 0 && (first || before(r, value, list[at - 1])); at--)
			list[at] = list[at - 1];
		list[at] = value;
	}
}

uint32_t *tfp_rank_indexes(size_t count,
			   bool (*is_before)(const void *context, uint32_t a, uint32_t b),
			   const void *context)
{
	const struct rank r = {is_before, context};
	uint32_t *list = tfp_reallocarray(NULL, count ? count : 1, sizeof(*list));
	unsigned depth = 0;
	for (size_t i = 0; list && i < count; i++)
		list[i] = (uint32_t)i;
	for (size_t n = count; n > 1; n /= 2)
		depth += 2;
	if (list) {
		split(&r, list, count, depth);
		insert(&r, list, count);
	}
	return list;
}
