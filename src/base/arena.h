/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: the lifetime of a capture or a request.
 * Not thread-safe. Blocks grow geometrically up to 1 MiB; the sum is bounded
 * by a ceiling.
 */
#ifndef TFP_BASE_ARENA_H
#define TFP_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct tfp_arena_block;

struct tfp_arena {
	struct tfp_arena_block *blocks;
	size_t bytes; /* taken from the heap so far */
	size_t ceiling;
};

void tfp_arena_init(struct tfp_arena *a, size_t ceiling);
/* Frees everything. Accepts zeroed memory. */
void tfp_arena_release(struct tfp_arena *a);

/* Memory aligned for any type, owned by the arena; NULL when there is none or
 * the ceiling is reached. Not zeroed, but for tfp_arena_zalloc. */
void *tfp_arena_alloc(struct tfp_arena *a, size_t size);
void *tfp_arena_zalloc(struct tfp_arena *a, size_t count, size_t size);
/* A NUL-terminated copy of length bytes. */
char *tfp_arena_strndup(struct tfp_arena *a, const char *text, size_t length);
/* A formatted text, whole however long it is. */
char *tfp_arena_vprintf(struct tfp_arena *a, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
