/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap memory, counted (base/budget.h), so that it has a limit, and so that a
 * test can make the nth allocation fail.
 *
 * Everything in the project that asks the heap for memory asks here. These are
 * the C library's functions, a thread's own counter, and one branch on another
 * that is never armed outside of tests.
 */
#ifndef TFP_BASE_ALLOC_H
#define TFP_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc and realloc; NULL when there is no memory, or it is refused. A size of 0
 * gives a unique pointer. The caller owns the memory and frees it with
 * tfp_free. */
void *tfp_malloc(size_t size);
void *tfp_calloc(size_t count, size_t size);
void *tfp_realloc(void *old, size_t size);
/* count * size, checked: NULL as well when the product overflows. */
void *tfp_reallocarray(void *old, size_t count, size_t size);
char *tfp_strdup(const char *text);
char *tfp_strndup(const char *text, size_t length);
void tfp_free(void *memory);

/* Makes room for one more entry in an array: list holds `count` entries and has room for `room`,
 * a size_t. A full array moves to about twice the room, and list and room are set. false without
 * memory: all is as it was. */
#define TFP_GROW(list, count, room)                                                                \
	((count) < (room) || tfp_grow((void *)&(list), &(room), sizeof(*(list))))
/* What TFP_GROW does when the array is full: *list points to entries of that size. */
bool tfp_grow(void *list, size_t *room, size_t size);

/* Test hooks. After tfp_alloc_fail_at(n) the nth allocation from now on (1 is
 * the next) and every later one fail until tfp_alloc_fail_at(0); after
 * tfp_alloc_fail_once(n) the nth alone fails.
 * tfp_alloc_count is the number of allocations asked for since the last call
 * of either, counted only while that is armed (UINT64_MAX counts
 * and fails nothing). Both count all threads together. */
void tfp_alloc_fail_at(uint64_t n);
void tfp_alloc_fail_once(uint64_t n);
uint64_t tfp_alloc_count(void);

#endif
