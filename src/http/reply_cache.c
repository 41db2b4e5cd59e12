#include "http/reply_cache.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/hash.h"

#include <pthread.h>
#include <string.h>

#define BUCKETS 4096u
/* A reply that takes a greater part would drive out all others. */
#define PARTS 8u

struct entry {
	struct entry *next_in_bucket;
	struct entry *newer, *older;
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
	struct entry *newest, *oldest;
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

static void order_remove(struct tfp_reply_cache *cache, struct entry *e)
{
	*(e->newer ? &e->newer->older : &cache->newest) = e->older;
	*(e->older ? &e->older->newer : &cache->oldest) = e->newer;
	e->newer = e->older = NULL;
}

static void order_add(struct tfp_reply_cache *cache, struct entry *e)
{
	e->older = cache->newest;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = e;
	cache->newest = e;
}

static void remove_entry(struct tfp_reply_cache *cache, struct entry *e)
{
	struct entry **at = &cache->buckets[e->hash % BUCKETS];
	while (*at != e)
		at = &(*at)->next_in_bucket;
	*at = e->next_in_bucket;
	order_remove(cache, e);
	cache->count--;
	cache->bytes -= e->bytes;
	tfp_shared_reply_unref(e->shared);
	tfp_free(e);
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
	while (cache->bytes > cache->limit && cache->oldest)
		remove_entry(cache, cache->oldest);
}

/* Somebody needs the memory. */
static void let_go(void *context, uint64_t bytes)
{
	struct tfp_reply_cache *cache = context;
	if (pthread_mutex_trylock(&cache->lock) != 0)
		return;
	uint64_t enough = cache->bytes > bytes ? cache->bytes - bytes : 0;
	while (cache->bytes > enough)
		remove_entry(cache, cache->oldest);
	pthread_mutex_unlock(&cache->lock);
}

void tfp_reply_cache_free(struct tfp_reply_cache *cache)
{
	if (!cache)
		return;
	tfp_budget_remove_reserve(&cache->reserve);
	while (cache->oldest)
		remove_entry(cache, cache->oldest);
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
		if (e != cache->newest) {
			order_remove(cache, e);
			order_add(cache, e);
		}
		account(cache, e);
	}
	pthread_mutex_unlock(&cache->lock);
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
	order_add(cache, e);
	cache->count++;
	account(cache, e);
	pthread_mutex_unlock(&cache->lock);
}

void tfp_reply_cache_size(struct tfp_reply_cache *cache, size_t *count, size_t *bytes)
{
	pthread_mutex_lock(&cache->lock);
	if (count)
		*count = cache->count;
	if (bytes)
		*bytes = cache->bytes;
	pthread_mutex_unlock(&cache->lock);
}
