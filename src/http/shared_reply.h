/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reply that is made once and sent to many clients. It has counted references, and does not
 * change, but for its compressed forms: each of these is made once, when a client first
 * accepts it. Thread-safe.
 */
#ifndef TFP_HTTP_SHARED_REPLY_H
#define TFP_HTTP_SHARED_REPLY_H

#include "http/reply.h"

struct tfp_shared_reply;

/* Takes the contents of a reply that has a body and is not compressed, and leaves the reply as
 * tfp_reply_init does. The caller owns a reference. NULL without memory: then reply is as it was.
 */
struct tfp_shared_reply *tfp_shared_reply_new(struct tfp_reply *reply);
/* Returns the reply. */
struct tfp_shared_reply *tfp_shared_reply_ref(struct tfp_shared_reply *shared);
/* Accepts NULL. */
void tfp_shared_reply_unref(struct tfp_shared_reply *shared);

/* The reply without compression. */
const struct tfp_reply *tfp_shared_reply_plain(const struct tfp_shared_reply *shared);
/* Whether tfp_shared_reply_fill with this header would have nothing to compress. */
bool tfp_shared_reply_is_ready(struct tfp_shared_reply *shared, const char *accept_encoding);
/* Fills an initialised reply for a client with these headers (NULL: absent). The body is memory of
 * the shared reply. There is none if the client has it already (304). */
void tfp_shared_reply_fill(struct tfp_shared_reply *shared, const char *accept_encoding,
			   const char *if_none_match, struct tfp_reply *out);
/* Bytes that it holds at present. */
size_t tfp_shared_reply_bytes(const struct tfp_shared_reply *shared);

#endif
