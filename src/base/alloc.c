/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include "base/budget.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

static atomic_uint_fast64_t asked;
static atomic_uint_fast64_t fail_at;
static atomic_bool armed, only_one;

static bool refused(void)
{
	if (!atomic_load_explicit(&armed, memory_order_relaxed))
		return false;
	uint64_t nth = atomic_fetch_add(&asked, 1) + 1;
	uint64_t limit = atomic_load(&fail_at);
	return limit != 0 && (atomic_load(&only_one) ? nth == limit : nth >= limit);
}

/* The bytes asked for are counted before the block is taken, the rest of it afterwards. */
static inline void *settle(void *memory, size_t counted)
{
	size_t size = memory ? malloc_usable_size(memory) : 0;
	tfp_budget_give((int64_t)counted - (int64_t)size);
	return memory;
}

void *tfp_malloc(size_t size)
{
	if (refused() || !tfp_budget_take(size))
		return NULL;
	return settle(malloc(size ? size : 1), size);
}

void *tfp_calloc(size_t count, size_t size)
{
	size_t bytes;
	if (count == 0 || size == 0)
		count = size = 1;
	if (refused() || __builtin_mul_overflow(count, size, &bytes) || !tfp_budget_take(bytes))
		return NULL;
	return settle(calloc(count, size), bytes);
}

void *tfp_realloc(void *old, size_t size)
{
	size_t before = malloc_usable_size(old), more = size > before ? size - before : 0;
	if (refused() || !tfp_budget_take(more))
		return NULL;
	void *memory = realloc(old, size ? size : 1);
	/* Without memory the old block stays. */
	size_t after = memory ? malloc_usable_size(memory) : before;
	tfp_budget_give((int64_t)(before + more) - (int64_t)after);
	return memory;
}

void *tfp_reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return tfp_realloc(old, bytes);
}

char *tfp_strndup(const char *text, size_t length)
{
	char *copy = tfp_malloc(length + 1);
	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *tfp_strdup(const char *text)
{
	return tfp_strndup(text, strlen(text));
}

void tfp_free(void *memory)
{
	if (!memory)
		return;
	tfp_budget_give((int64_t)malloc_usable_size(memory));
	free(memory);
}

bool tfp_grow(void *list, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : FIRST_ROOM;
	void *old;
	memcpy(&old, list, sizeof(old)); /* a pointer of whatever type */
	void *longer = more > *room ? tfp_reallocarray(old, more, size) : NULL;
	if (!longer)
		return false;
	memcpy(list, &longer, sizeof(longer));
	*room = more;
	return true;
}

static void arm(uint64_t n, bool one)
{
	atomic_store(&armed, false);
	atomic_store(&asked, 0);
	atomic_store(&fail_at, n);
	atomic_store(&only_one, one);
	atomic_store(&armed, n != 0);
}

void tfp_alloc_fail_at(uint64_t n)
{
	arm(n, false);
}

void tfp_alloc_fail_once(uint64_t n)
{
	arm(n, true);
}

uint64_t tfp_alloc_count(void)
{
	return atomic_load(&asked);
}
