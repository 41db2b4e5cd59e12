/*
 * What is sent back: filled by a handler on any thread, made ready (tag,
 * compression) on that thread, and handed to libmicrohttpd by the server.
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

/* A body that is made while it is sent, by a thread that may wait for the client. All that
 * can be refused was refused before. */
struct tfp_body_stream {
	/* NULL: there is none. */
	enum tfp_status (*write)(void *context, const struct tfp_sink *sink, struct tfp_error *err);
	void (*free)(void *context);
	void *context;
	bool packed; /* it is compressed by its own nature */
};

struct tfp_reply {
	unsigned status; /* 200, ... */
	const char *content_type;
	struct tfp_buf body;
	struct tfp_body_stream stream; /* in place of body; owned */
	const void *fixed;             /* in place of body: memory that never goes away */
	size_t fixed_size;
	enum tfp_http_encoding encoding;
	bool varies;            /* the body depends on Accept-Encoding */
	char etag[64];          /* "" for none */
	char download[512];     /* file name, "" for none */
	const char *location;   /* for a redirect: the request's memory */
	const char *cookie;     /* to be set; the request's memory */
	bool asks_for_token;    /* a page or an error that does */
	unsigned retry_after_s; /* when it may be worth trying again; 0 for none */
	const char *allow;      /* methods, when the one used is refused; a constant */
};

void tfp_reply_init(struct tfp_reply *reply);
/* Accepts zeroed memory. */
void tfp_reply_release(struct tfp_reply *reply);

/* The one mapping from errors to HTTP: status and JSON body in place of
 * whatever was there. */
void tfp_reply_error(struct tfp_reply *reply, const struct tfp_error *err);
/* A file of the page; 304 when the client has it. */
void tfp_reply_asset(struct tfp_reply *reply, const struct tfp_asset *asset,
		     const char *accept_encoding, const char *if_none_match);
/* Turns the reply into 304 when the client's tag says that it has this; true if so. */
bool tfp_reply_not_modified(struct tfp_reply *reply, const char *if_none_match);
/* Sets the tag to one of the body. */
void tfp_reply_tag_body(struct tfp_reply *reply);
/* Whether its body may be sent compressed. */
bool tfp_reply_is_worth_packing(const struct tfp_reply *reply);
/* Initialises out and compresses into it; out stays empty where that would not be smaller, for
 * want of memory, and for TFP_HTTP_IDENTITY. */
void tfp_reply_pack(const struct tfp_buf *body, enum tfp_http_encoding encoding,
		    struct tfp_buf *out);
/* Compresses the body where that is worth it and the client accepts it. */
void tfp_reply_compress(struct tfp_reply *reply, const char *accept_encoding);

#endif
