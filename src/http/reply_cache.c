/* SPDX-License-Identifier: Apache-2.0 */
#include "http/reply_cache.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/hash.h"
#include "base/lru.h"

#include <pthread.h>
#include <string.h>

#define BUCKETS 4096u
/* A reply of a greater part of the limit would drive out all others. */
#define PARTS 8u

struct entry {
	struct entry *next_in_bucket;
	struct tfp_lru_link order;
	struct tfp_shared_reply *shared;
	size_t bytes; /* counted for it in cache->bytes */
	uint64_t hash;
	size_t key_size;
	char key[];
};

struct tfp_reply_cache {
	size_t limit;
	struct tfp_reserve reserve;
	pthread_mutex_t lock; /* guards what follows */
	size_t count, bytes;
	struct tfp_lru order;
	struct entry *gone; /* to be freed by whoever gives up the lock, as that takes time */
	struct entry *buckets[BUCKETS];
};

static void let_go(void *context, uint64_t bytes);

enum tfp_status tfp_reply_cache_new(struct tfp_reply_cache **out, size_t limit_bytes,
				    struct tfp_error *err)
{
	struct tfp_reply_cache *cache = tfp_calloc(1, sizeof(*cache));
	*out = cache;
	if (!cache)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a cache of answers");
	cache->limit = limit_bytes;
	pthread_mutex_init(&cache->lock, NULL);
	cache->reserve = (struct tfp_reserve){.let_go = let_go, .context = cache};
	tfp_budget_add_reserve(&cache->reserve);
	return TFP_OK;
}

static struct entry **find(struct tfp_reply_cache *cache, const struct tfp_buf *key, uint64_t hash)
{
	struct entry **at = &cache->buckets[hash % BUCKETS];
	while (*at && ((*at)->hash != hash || (*at)->key_size != key->size ||
		       memcmp((*at)->key, key->data, key->size) != 0))
		at = &(*at)->next_in_bucket;
	return at;
}

static struct entry *oldest(const struct tfp_reply_cache *cache)
{
	return TFP_LRU_ENTRY(cache->order.oldest, struct entry, order);
}

static void remove_entry(struct tfp_reply_cache *cache, struct entry *e)
{
	struct entry **at = &cache->buckets[e->hash % BUCKETS];
	while (*at != e)
		at = &(*at)->next_in_bucket;
	*at = e->next_in_bucket;
	tfp_lru_remove(&cache->order, &e->order);
	cache->count--;
	cache->bytes -= e->bytes;
	e->next_in_bucket = cache->gone;
	cache->gone = e;
}

/* Gives up the lock, and frees what was removed. */
static void unlock(struct tfp_reply_cache *cache)
{
	struct entry *next, *e = cache->gone;
	cache->gone = NULL;
	pthread_mutex_unlock(&cache->lock);
	for (; e; e = next) {
		next = e->next_in_bucket;
		tfp_shared_reply_unref(e->shared);
		tfp_free(e);
	}
}

/* Counts anew what an entry holds, as compressed forms are added over time, and makes room;
 * the entry itself may go. */
static void account(struct tfp_reply_cache *cache, struct entry *e)
{
	size_t bytes = sizeof(*e) + e->key_size + tfp_shared_reply_bytes(e->shared);
	cache->bytes += bytes - e->bytes;
	e->bytes = bytes;
	if (bytes > cache->limit / PARTS)
		remove_entry(cache, e);
	while (cache->bytes > cache->limit && cache->order.oldest)
		remove_entry(cache, oldest(cache));
}

/* The program is short of memory. */
static void let_go(void *context, uint64_t bytes)
{
	struct tfp_reply_cache *cache = context;
	if (pthread_mutex_trylock(&cache->lock) != 0)
		return;
	uint64_t enough = cache->bytes > bytes ? cache->bytes - bytes : 0;
	while (cache->bytes > enough)
		remove_entry(cache, oldest(cache));
	unlock(cache);
}

void tfp_reply_cache_free(struct tfp_reply_cache *cache)
{
	if (!cache)
		return;
	tfp_budget_remove_reserve(&cache->reserve);
	pthread_mutex_lock(&cache->lock);
	while (cache->order.oldest)
		remove_entry(cache, oldest(cache));
	unlock(cache);
	pthread_mutex_destroy(&cache->lock);
	tfp_free(cache);
}

struct tfp_shared_reply *tfp_reply_cache_get(struct tfp_reply_cache *cache,
					     const struct tfp_buf *key)
{
	struct tfp_shared_reply *shared = NULL;
	uint64_t hash = tfp_hash_bytes(key->data, key->size, 0);
	pthread_mutex_lock(&cache->lock);
	struct entry *e = *find(cache, key, hash);
	if (e) {
		shared = tfp_shared_reply_ref(e->shared);
		tfp_lru_touch(&cache->order, &e->order);
		account(cache, e);
	}
	unlock(cache);
	return shared;
}

void tfp_reply_cache_put(struct tfp_reply_cache *cache, const struct tfp_buf *key,
			 struct tfp_shared_reply *shared)
{
	uint64_t hash = tfp_hash_bytes(key->data, key->size, 0);
	if (tfp_shared_reply_bytes(shared) > cache->limit / PARTS)
		return;
	struct entry *e = tfp_calloc(1, sizeof(*e) + key->size);
	if (!e)
		return; /* it is made again when it is wanted again */
	memcpy(e->key, key->data, key->size);
	e->key_size = key->size;
	e->hash = hash;
	e->shared = tfp_shared_reply_ref(shared);
	pthread_mutex_lock(&cache->lock);
	struct entry *old = *find(cache, key, hash);
	if (old)
		remove_entry(cache, old);
	e->next_in_bucket = cache->buckets[hash % BUCKETS];
	cache->buckets[hash % BUCKETS] = e;
	tfp_lru_add(&cache->order, &e->order);
	cache->count++;
	account(cache, e);
	unlock(cache);
}

void tfp_reply_cache_size(struct tfp_reply_cache *cache, size_t *count, size_t *bytes)
{
	pthread_mutex_lock(&cache->lock);
	if (count)
		*count = cache->count;
	if (bytes)
		*bytes = cache->bytes;
	unlock(cache);
}
