/*
 * Finished replies in memory, by key: the least recently used go when they hold
 * more than the limit. A key is bytes, compared whole. Thread-safe.
 */
#ifndef TFP_HTTP_REPLY_CACHE_H
#define TFP_HTTP_REPLY_CACHE_H

#include "http/shared_reply.h"

struct tfp_reply_cache;

/* limit_bytes: of all replies with their keys; one that takes more than an eighth is not kept. */
enum tfp_status tfp_reply_cache_new(struct tfp_reply_cache **out, size_t limit_bytes,
				    struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_reply_cache_free(struct tfp_reply_cache *cache);

/* What was put under key, referenced for the caller, or NULL. */
struct tfp_shared_reply *tfp_reply_cache_get(struct tfp_reply_cache *cache,
					     const struct tfp_buf *key);
/* Keeps a reference if there is room. */
void tfp_reply_cache_put(struct tfp_reply_cache *cache, const struct tfp_buf *key,
			 struct tfp_shared_reply *shared);
/* What it holds at present; either may be NULL. */
void tfp_reply_cache_size(struct tfp_reply_cache *cache, size_t *count, size_t *bytes);

#endif
