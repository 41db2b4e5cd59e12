/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list in order of use, for caches: links are members of the cache's entries, so that
 * nothing is allocated.
 *
 *     struct entry {
 *             struct tfp_lru_link order;
 *             ...
 *     };
 *     tfp_lru_add(&cache->lru, &e->order);
 *     tfp_lru_touch(&cache->lru, &e->order);
 *     while (too_much && cache->lru.oldest)
 *             drop(TFP_LRU_ENTRY(cache->lru.oldest, struct entry, order));
 *
 * A zeroed list is empty. Not thread-safe.
 */
#ifndef TFP_BASE_LRU_H
#define TFP_BASE_LRU_H

#include <stddef.h>

struct tfp_lru_link {
	struct tfp_lru_link *newer, *older; /* NULL at the ends */
};

struct tfp_lru {
	struct tfp_lru_link *newest, *oldest; /* NULL: it is empty */
};

/* The entry that a link (not NULL) is the named member of. */
#define TFP_LRU_ENTRY(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Adds an entry that is not in the list as the one used last. */
void tfp_lru_add(struct tfp_lru *lru, struct tfp_lru_link *link);
/* Takes out an entry that is in the list. */
void tfp_lru_remove(struct tfp_lru *lru, struct tfp_lru_link *link);
/* Makes an entry of the list the one used last. */
void tfp_lru_touch(struct tfp_lru *lru, struct tfp_lru_link *link);

#endif
