/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FIRST_BLOCK 4096u
#define LAST_BLOCK  (1u << 20)

struct tfp_arena_block {
	struct tfp_arena_block *next;
	size_t used, room;
	alignas(max_align_t) unsigned char bytes[];
};

void tfp_arena_init(struct tfp_arena *a, size_t ceiling)
{
	*a = (struct tfp_arena){.ceiling = ceiling};
}

void tfp_arena_release(struct tfp_arena *a)
{
	struct tfp_arena_block *next;
	for (struct tfp_arena_block *b = a->blocks; b; b = next) {
		next = b->next;
		tfp_free(b);
	}
	*a = (struct tfp_arena){.ceiling = a->ceiling};
}

static struct tfp_arena_block *add_block(struct tfp_arena *a, size_t size)
{
	size_t room = a->blocks ? a->blocks->room * 2 : FIRST_BLOCK;
	if (room > LAST_BLOCK)
		room = LAST_BLOCK;
	if (room < size)
		room = size;
	if (room > SIZE_MAX - sizeof(struct tfp_arena_block))
		return NULL;
	size_t bytes = room + sizeof(struct tfp_arena_block);
	if (bytes > a->ceiling || a->bytes > a->ceiling - bytes)
		return NULL;
	struct tfp_arena_block *b = tfp_malloc(bytes);
	if (!b)
		return NULL;
	b->used = 0;
	b->room = room;
	a->bytes += bytes;
	/* A block made for one big object goes behind the current one, which
	 * still has room for small ones. */
	if (a->blocks && size > LAST_BLOCK / 2) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		b->next = a->blocks;
		a->blocks = b;
	}
	return b;
}

void *tfp_arena_alloc(struct tfp_arena *a, size_t size)
{
	const size_t mask = alignof(max_align_t) - 1;
	if (size > SIZE_MAX - mask)
		return NULL;
	size = (size + mask) & ~mask;
	struct tfp_arena_block *b = a->blocks;
	if (!b || b->room - b->used < size) {
		b = add_block(a, size);
		if (!b)
			return NULL;
	}
	void *memory = b->bytes + b->used;
	b->used += size;
	return memory;
}

void *tfp_arena_zalloc(struct tfp_arena *a, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *memory = tfp_arena_alloc(a, bytes);
	if (memory)
		memset(memory, 0, bytes);
	return memory;
}

char *tfp_arena_strndup(struct tfp_arena *a, const char *text, size_t length)
{
	if (length == SIZE_MAX)
		return NULL;
	char *copy = tfp_arena_alloc(a, length + 1);
	if (copy) {
		if (length)
			memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *tfp_arena_vprintf(struct tfp_arena *a, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int size = vsnprintf(NULL, 0, format, args);
	char *text = size < 0 ? NULL : tfp_arena_alloc(a, (size_t)size + 1);
	if (text)
		vsnprintf(text, (size_t)size + 1, format, again);
	va_end(again);
	return text;
}
