/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a connection's bytes into requests, strictly. Programs that read HTTP loosely do not
 * agree: one sees one request where another, such as a proxy in front, sees two, or another
 * Host. A request passes only if it has one meaning by RFC 9112, and it comes out in one
 * spelling. Anything else is a fault. After a fault nothing of the connection is believed.
 *
 * It works between a socket and the library that reads requests, and knows neither:
 *
 *     struct tfp_framing f;
 *     tfp_framing_init(&f);
 *     tfp_framing_feed(&f, bytes, size);
 *     n = tfp_framing_take(&f, to, room);
 *     tfp_framing_release(&f);
 *
 * HTTP/1.1 comes out again: whole heads, and bodies. A head with a fault comes out as a
 * request without meaning that ends the connection, and a body with a fault comes to its end.
 * tfp_framing_fault tells why the request has to be refused. A target with scheme and
 * authority comes out as path and Host.
 */
#ifndef TFP_HTTP_FRAMING_H
#define TFP_HTTP_FRAMING_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a request line with its fields, and the number of fields. */
#define TFP_FRAMING_HEAD_MAX   ((size_t)32 << 10)
#define TFP_FRAMING_FIELDS_MAX 100u
/* Bytes of a body. */
#define TFP_FRAMING_BODY_MAX ((uint64_t)1 << 20)
/* The name that a Cookie field comes out by: libmicrohttpd takes cookies apart, without a limit. A
 * field that comes in by this name is left out. */
#define TFP_FRAMING_COOKIE "Tfprof-Cookie"

enum tfp_framing_fault {
	TFP_FRAMING_FINE,
	TFP_FRAMING_LINE_END, /* a line feed or a carriage return by itself */
	TFP_FRAMING_CONTROL,  /* another control character */
	TFP_FRAMING_REQUEST_LINE,
	TFP_FRAMING_TARGET,
	TFP_FRAMING_VERSION,
	TFP_FRAMING_FIELD, /* a line that is no field */
	TFP_FRAMING_FOLDED,
	TFP_FRAMING_TWICE, /* a field that may be there once */
	TFP_FRAMING_HOST_MISSING,
	TFP_FRAMING_HOST,
	TFP_FRAMING_LENGTH,
	TFP_FRAMING_ENCODING, /* Transfer-Encoding other than chunked, or with a length */
	TFP_FRAMING_CHUNK,
	TFP_FRAMING_EXPECT,
	TFP_FRAMING_LONG_TARGET,
	TFP_FRAMING_LONG_HEAD,
	TFP_FRAMING_LONG_BODY,
	TFP_FRAMING_NO_MEMORY,
};

struct tfp_framing {
	enum tfp_framing_state {
		TFP_FRAMING_HEAD,
		TFP_FRAMING_BODY,
		TFP_FRAMING_CHUNK_SIZE,
		TFP_FRAMING_CHUNK_DATA,
		TFP_FRAMING_CHUNK_END,
		TFP_FRAMING_TRAILER,
		TFP_FRAMING_REFUSED
	} state;
	enum tfp_framing_fault fault;
	unsigned heads; /* that came out */
	struct tfp_buf line, start, fields, ready;
	size_t taken; /* of ready */
	/* of the head or trailer that is being read */
	size_t size;
	unsigned lines, blank_lines, seen;
	bool return_before, is_head, is_old, absolute, chunked, expects;
	char host[264];
	uint64_t body_left, body_size; /* left: of the body, or of its chunk */
};

void tfp_framing_init(struct tfp_framing *f);
/* Accepts zeroed memory. */
void tfp_framing_release(struct tfp_framing *f);
void tfp_framing_feed(struct tfp_framing *f, const char *bytes, size_t size);
/* Hands out at most room bytes, and tells how many. Less than room only if there is no more. */
size_t tfp_framing_take(struct tfp_framing *f, char *to, size_t room);
/* Whether bytes are missing for want of memory. */
bool tfp_framing_broken(const struct tfp_framing *f);
/* Whether a head has begun and its end has not come. */
bool tfp_framing_within_head(const struct tfp_framing *f);
/* What is wrong with a request. Requests are counted by their heads, from 1. */
enum tfp_framing_fault tfp_framing_fault(const struct tfp_framing *f, unsigned request);

/* The answer to a fault: its status, and a sentence. */
unsigned tfp_framing_status(enum tfp_framing_fault fault);
const char *tfp_framing_text(enum tfp_framing_fault fault);

#endif
