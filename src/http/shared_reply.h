/*
 * A reply that is made once and sent to many, whoever came first: counted by
 * references, unchanging but for its compressed forms. Each of these is made once,
 * when somebody first accepts it. Thread-safe.
 */
#ifndef TFP_HTTP_SHARED_REPLY_H
#define TFP_HTTP_SHARED_REPLY_H

#include "http/reply.h"

struct tfp_shared_reply;

/* Takes what the reply holds, which has a body and is not compressed, and leaves it as
 * tfp_reply_init does. One reference is the caller's. NULL without memory; then reply is
 * as it was. */
struct tfp_shared_reply *tfp_shared_reply_new(struct tfp_reply *reply);
/* Returns the reply. */
struct tfp_shared_reply *tfp_shared_reply_ref(struct tfp_shared_reply *shared);
/* Accepts NULL. */
void tfp_shared_reply_unref(struct tfp_shared_reply *shared);

/* The reply without compression. */
const struct tfp_reply *tfp_shared_reply_plain(const struct tfp_shared_reply *shared);
/* Whether tfp_shared_reply_fill with that header has nothing to compress. */
bool tfp_shared_reply_is_ready(struct tfp_shared_reply *shared, const char *accept_encoding);
/* Makes of an initialised reply what a client with such headers (NULL: none) is sent: the body
 * is the shared one's memory, or none where the client has it already (304). */
void tfp_shared_reply_fill(struct tfp_shared_reply *shared, const char *accept_encoding,
			   const char *if_none_match, struct tfp_reply *out);
/* Bytes that it holds at present. */
size_t tfp_shared_reply_bytes(const struct tfp_shared_reply *shared);

#endif
