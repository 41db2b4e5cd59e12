/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finished replies in memory, by key. When they hold more than the limit together, the least
 * recently used go. A key is bytes, compared whole. Thread-safe.
 */
#ifndef TFP_HTTP_REPLY_CACHE_H
#define TFP_HTTP_REPLY_CACHE_H

#include "http/shared_reply.h"

struct tfp_reply_cache;

/* limit_bytes: of all replies with their keys. A reply that takes more than an eighth of it is not
 * kept. */
enum tfp_status tfp_reply_cache_new(struct tfp_reply_cache **out, size_t limit_bytes,
				    struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_reply_cache_free(struct tfp_reply_cache *cache);

/* The reply that was put under key, or NULL. The caller owns a reference. */
struct tfp_shared_reply *tfp_reply_cache_get(struct tfp_reply_cache *cache,
					     const struct tfp_buf *key);
/* Keeps a reference of its own, if there is room. */
void tfp_reply_cache_put(struct tfp_reply_cache *cache, const struct tfp_buf *key,
			 struct tfp_shared_reply *shared);
/* How many replies it holds, and how many bytes. Either pointer may be NULL. */
void tfp_reply_cache_size(struct tfp_reply_cache *cache, size_t *count, size_t *bytes);

#endif
