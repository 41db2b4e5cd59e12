/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reply: what is sent back. The thread that makes an answer fills it, tags it and compresses
 * it. The server then hands it to libmicrohttpd.
 */
#ifndef TFP_HTTP_REPLY_H
#define TFP_HTTP_REPLY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sink.h"
#include "http/assets.h"
#include "http/request.h"

#include <stdbool.h>
#include <stddef.h>

/* A body that is made while it is sent, by a thread that may wait for the client. By then it is too
 * late to refuse the request. */
struct tfp_body_stream {
	/* NULL: there is no stream. */
	enum tfp_status (*write)(void *context, const struct tfp_sink *sink, struct tfp_error *err);
	void (*free)(void *context);
	void *context;
	bool packed; /* it is compressed already */
};

struct tfp_reply {
	unsigned status; /* 200, ... */
	const char *content_type;
	struct tfp_buf body;
	struct tfp_body_stream stream; /* in place of body; owned */
	const void *fixed;             /* in place of body: borrowed, and outlives the reply */
	size_t fixed_size;
	enum tfp_http_encoding encoding;
	bool varies;            /* the body depends on Accept-Encoding */
	char etag[64];          /* "" for none */
	char download[512];     /* file name, "" for none */
	const char *location;   /* for a redirect: the request's memory */
	const char *cookie;     /* for Set-Cookie; the request's memory */
	bool asks_for_token;    /* it is a page or an error that asks for the token */
	unsigned retry_after_s; /* when it may be worth trying again; 0 for none */
	const char *allow;      /* methods, when the one used is refused; a constant */
};

void tfp_reply_init(struct tfp_reply *reply);
/* Accepts zeroed memory. */
void tfp_reply_release(struct tfp_reply *reply);

/* Makes it an error: HTTP status and JSON body, in place of whatever was there. The only mapping
 * from errors to HTTP. */
void tfp_reply_error(struct tfp_reply *reply, const struct tfp_error *err);
/* Makes it a file of the page, or 304 when the client has that. */
void tfp_reply_asset(struct tfp_reply *reply, const struct tfp_asset *asset,
		     const char *accept_encoding, const char *if_none_match);
/* If the client's tag says that it has this reply, makes it 304 and returns true. */
bool tfp_reply_not_modified(struct tfp_reply *reply, const char *if_none_match);
/* Sets the tag to one of the body. */
void tfp_reply_tag_body(struct tfp_reply *reply);
/* Whether its body may be sent compressed. */
bool tfp_reply_is_worth_packing(const struct tfp_reply *reply);
/* Initialises out and compresses into it. out stays empty when it would not be smaller, without
 * memory, and for TFP_HTTP_IDENTITY. */
void tfp_reply_pack(const struct tfp_buf *body, enum tfp_http_encoding encoding,
		    struct tfp_buf *out);
/* Compresses the body if that is worth it and the client accepts it. */
void tfp_reply_compress(struct tfp_reply *reply, const char *accept_encoding);

#endif
