/* SPDX-License-Identifier: Apache-2.0 */
#include "http/shared_reply.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { FORMS = TFP_HTTP_ZSTD + 1 };

struct tfp_shared_reply {
	atomic_uint references;
	struct tfp_reply plain;
	pthread_mutex_t lock; /* held while a form is made */
	struct {
		struct tfp_buf body; /* empty where it would not be smaller */
		atomic_bool made;
	} forms[FORMS];
	atomic_size_t bytes;
};

/* Gives back a buffer's memory that is not used. */
static void trim(struct tfp_buf *b)
{
	char *data = b->data ? tfp_realloc(b->data, b->size + 1) : NULL;
	if (data) {
		b->data = data;
		b->room = b->size + 1;
	}
}

struct tfp_shared_reply *tfp_shared_reply_new(struct tfp_reply *reply)
{
	struct tfp_shared_reply *shared = tfp_calloc(1, sizeof(*shared));
	if (!shared)
		return NULL;
	atomic_init(&shared->references, 1);
	pthread_mutex_init(&shared->lock, NULL);
	shared->plain = *reply;
	trim(&shared->plain.body);
	shared->plain.varies = tfp_reply_is_worth_packing(reply);
	atomic_init(&shared->forms[TFP_HTTP_IDENTITY].made, true);
	atomic_init(&shared->bytes, sizeof(*shared) + shared->plain.body.room);
	tfp_reply_init(reply);
	return shared;
}

struct tfp_shared_reply *tfp_shared_reply_ref(struct tfp_shared_reply *shared)
{
	atomic_fetch_add(&shared->references, 1);
	return shared;
}

void tfp_shared_reply_unref(struct tfp_shared_reply *shared)
{
	if (!shared || atomic_fetch_sub(&shared->references, 1) != 1)
		return;
	for (int i = 0; i < FORMS; i++)
		tfp_buf_release(&shared->forms[i].body);
	tfp_reply_release(&shared->plain);
	pthread_mutex_destroy(&shared->lock);
	tfp_free(shared);
}

const struct tfp_reply *tfp_shared_reply_plain(const struct tfp_shared_reply *shared)
{
	return &shared->plain;
}

static enum tfp_http_encoding choose(const struct tfp_shared_reply *shared,
				     const char *accept_encoding)
{
	return shared->plain.varies ? tfp_http_accepted_encoding(accept_encoding, (1u << FORMS) - 1)
				    : TFP_HTTP_IDENTITY;
}

bool tfp_shared_reply_is_ready(struct tfp_shared_reply *shared, const char *accept_encoding)
{
	return atomic_load(&shared->forms[choose(shared, accept_encoding)].made);
}

void tfp_shared_reply_fill(struct tfp_shared_reply *shared, const char *accept_encoding,
			   const char *if_none_match, struct tfp_reply *out)
{
	const struct tfp_reply *plain = &shared->plain;
	out->status = plain->status;
	out->content_type = plain->content_type;
	out->varies = plain->varies;
	out->retry_after_s = plain->retry_after_s;
	memcpy(out->etag, plain->etag, sizeof(out->etag));
	memcpy(out->download, plain->download, sizeof(out->download));
	if (tfp_reply_not_modified(out, if_none_match)) {
		out->varies = true;
		return;
	}
	if (plain->fixed) { /* there was no memory for a body */
		out->fixed = plain->fixed;
		out->fixed_size = plain->fixed_size;
		return;
	}
	enum tfp_http_encoding encoding = choose(shared, accept_encoding);
	if (!atomic_load(&shared->forms[encoding].made)) {
		pthread_mutex_lock(&shared->lock);
		if (!atomic_load(&shared->forms[encoding].made)) {
			struct tfp_buf *body = &shared->forms[encoding].body;
			tfp_reply_pack(&plain->body, encoding, body);
			trim(body);
			atomic_fetch_add(&shared->bytes, body->room);
			atomic_store(&shared->forms[encoding].made, true);
		}
		pthread_mutex_unlock(&shared->lock);
	}
	if (shared->forms[encoding].body.size == 0)
		encoding = TFP_HTTP_IDENTITY;
	const struct tfp_buf *body =
		encoding == TFP_HTTP_IDENTITY ? &plain->body : &shared->forms[encoding].body;
	out->encoding = encoding;
	out->fixed = body->data ? body->data : "";
	out->fixed_size = body->size;
}

size_t tfp_shared_reply_bytes(const struct tfp_shared_reply *shared)
{
	return atomic_load(&shared->bytes);
}
