/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers for a few pointers what was found for them last time. Events of a
 * capture share their texts, so the same addresses come again and again, and a
 * look-up by address saves hashing and parsing the text. It forgets: a slot
 * holds the last key that fell on it.
 */
#ifndef TFP_ANALYSIS_EVENTS_MEMO_H
#define TFP_ANALYSIS_EVENTS_MEMO_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_memo_key {
	const void *part[4];
};

struct tfp_memo {
	uint32_t mask; /* number of slots - 1 */
	struct {
		struct tfp_memo_key key;
		uint32_t value;
		bool used;
	} slots[];
};

/* slots: a power of two, about twice the keys that matter. Freed with
 * tfp_free; NULL without memory. */
static inline struct tfp_memo *tfp_memo_new(uint32_t slots)
{
	struct tfp_memo *memo = tfp_calloc(1, sizeof(*memo) + slots * sizeof(memo->slots[0]));
	if (memo)
		memo->mask = slots - 1;
	return memo;
}

static inline uint32_t tfp_memo_slot(const struct tfp_memo *memo, const struct tfp_memo_key *key)
{
	uint64_t mix = 0;
	for (int i = 0; i < 4; i++)
		mix = (mix ^ (uint64_t)(uintptr_t)key->part[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(mix >> 32) & memo->mask;
}

static inline bool tfp_memo_find(const struct tfp_memo *memo, const struct tfp_memo_key *key,
				 uint32_t *value)
{
	uint32_t slot = tfp_memo_slot(memo, key);
	for (int i = 0; i < 4; i++) {
		if (memo->slots[slot].key.part[i] != key->part[i])
			return false;
	}
	*value = memo->slots[slot].value;
	return memo->slots[slot].used;
}

static inline void tfp_memo_put(struct tfp_memo *memo, const struct tfp_memo_key *key,
				uint32_t value)
{
	uint32_t slot = tfp_memo_slot(memo, key);
	memo->slots[slot].key = *key;
	memo->slots[slot].value = value;
	memo->slots[slot].used = true;
}

#endif
