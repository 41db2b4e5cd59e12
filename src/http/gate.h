/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects access.h with libmicrohttpd. The gate looks up the headers that access decides by,
 * counts and logs wrong tokens, and makes the replies to requests that are refused. It also
 * adds the headers that tell browsers how to treat an answer.
 */
#ifndef TFP_HTTP_GATE_H
#define TFP_HTTP_GATE_H

#include "base/arena.h"
#include "http/access.h"
#include "http/attempts.h"
#include "http/reply.h"
#include "http/request.h"

#include <stdbool.h>

struct MHD_Connection;
struct sockaddr;
struct MHD_Response;

struct tfp_gate {
	const struct tfp_access *access; /* borrowed */
	struct tfp_attempts *attempts;   /* owned */
};

struct tfp_gate_request {
	const char *method, *uri;
	const struct tfp_http_target *target;
	bool changes;     /* its route changes something */
	const char *form; /* body of the page's form that brings the token; or NULL */
};

/* access is borrowed. */
enum tfp_status tfp_gate_init(struct tfp_gate *gate, const struct tfp_access *access,
			      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_gate_release(struct tfp_gate *gate);

/* Whether the request may be answered. If not, fills the reply, with memory of the arena. */
bool tfp_gate_check(struct tfp_gate *gate, struct MHD_Connection *connection,
		    const struct tfp_gate_request *request, struct tfp_arena *arena,
		    struct tfp_reply *reply);
/* Where the client's end of a connection is; may be NULL. */
const struct sockaddr *tfp_client_address(struct MHD_Connection *connection);
/* Adds the headers that tell a browser how to treat the answer. */
void tfp_gate_add_headers(const struct tfp_gate *gate, struct MHD_Response *response,
			  const struct tfp_reply *reply);

#endif
