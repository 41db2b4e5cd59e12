/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str_map.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

struct tfp_str_map_slot {
	const void *key;
	size_t size;
	uint32_t hash;
	uint32_t value; /* TFP_STR_MAP_NONE: free */
};

void tfp_str_map_release(struct tfp_str_map *m)
{
	tfp_free(m->slots);
	*m = (struct tfp_str_map){0};
}

static struct tfp_str_map_slot *slot_of(const struct tfp_str_map *m, const void *key, size_t size,
					uint32_t hash)
{
	size_t i = hash & (m->room - 1);
	for (;; i = (i + 1) & (m->room - 1)) {
		struct tfp_str_map_slot *s = &m->slots[i];
		if (s->value == TFP_STR_MAP_NONE)
			return s;
		if (s->hash == hash && s->size == size &&
		    (size == 0 || memcmp(s->key, key, size) == 0))
			return s;
	}
}

uint32_t tfp_str_map_find(const struct tfp_str_map *m, const void *key, size_t size)
{
	if (!m->room)
		return TFP_STR_MAP_NONE;
	return slot_of(m, key, size, (uint32_t)tfp_hash_bytes(key, size, 0))->value;
}

static bool grow(struct tfp_str_map *m)
{
	struct tfp_str_map bigger = {.room = m->room ? m->room * 2 : 16, .count = m->count};
	bigger.slots = tfp_reallocarray(NULL, bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < bigger.room; i++)
		bigger.slots[i].value = TFP_STR_MAP_NONE;
	for (size_t i = 0; i < m->room; i++) {
		const struct tfp_str_map_slot *s = &m->slots[i];
		if (s->value != TFP_STR_MAP_NONE)
			*slot_of(&bigger, s->key, s->size, s->hash) = *s;
	}
	tfp_free(m->slots);
	*m = bigger;
	return true;
}

uint32_t tfp_str_map_add(struct tfp_str_map *m, const void *key, size_t size, uint32_t value)
{
	if (m->count >= m->room / 4 * 3 && !grow(m))
		return TFP_STR_MAP_NONE;
	uint32_t hash = (uint32_t)tfp_hash_bytes(key, size, 0);
	struct tfp_str_map_slot *s = slot_of(m, key, size, hash);
	if (s->value == TFP_STR_MAP_NONE) {
		*s = (struct tfp_str_map_slot){key, size, hash, value};
		m->count++;
	}
	return s->value;
}
