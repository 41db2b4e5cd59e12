/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from byte strings to small numbers (indexes into the caller's
 * own array). Keys are not copied: they must outlive the map.
 */
#ifndef TFP_BASE_STR_MAP_H
#define TFP_BASE_STR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_str_map {
	struct tfp_str_map_slot *slots; /* owned */
	size_t room;                    /* a power of two, or 0 */
	size_t count;
};

#define TFP_STR_MAP_NONE UINT32_MAX

/* Zeroed memory is an empty map. */
void tfp_str_map_release(struct tfp_str_map *m);
/* The value of a key, or TFP_STR_MAP_NONE. */
uint32_t tfp_str_map_find(const struct tfp_str_map *m, const void *key, size_t size);
/* Puts value under key unless the key is there; returns what the key then
 * has, or TFP_STR_MAP_NONE when there is no memory. */
uint32_t tfp_str_map_add(struct tfp_str_map *m, const void *key, size_t size, uint32_t value);

#endif
