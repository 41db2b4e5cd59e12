/*
 * Where access.h meets libmicrohttpd: looks up the headers that it decides by,
 * counts and logs wrong tokens, and makes the replies to who does not get in.
 * Also the headers that every answer carries for the browser's sake.
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
struct MHD_Response;

struct tfp_gate {
	const struct tfp_access *access; /* borrowed */
	struct tfp_attempts *attempts;   /* owned */
};

struct tfp_gate_request {
	const char *method, *uri;
	const struct tfp_http_target *target;
	bool changes;     /* it asks for more than to be shown something */
	const char *form; /* body of the page's form that brings the token; or NULL */
};

/* access is borrowed. */
enum tfp_status tfp_gate_init(struct tfp_gate *gate, const struct tfp_access *access,
			      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_gate_release(struct tfp_gate *gate);

/* Whether the request is to be answered; if not, the reply is made. What it points
 * to is the arena's. */
bool tfp_gate_check(struct tfp_gate *gate, struct MHD_Connection *connection,
		    const struct tfp_gate_request *request, struct tfp_arena *arena,
		    struct tfp_reply *reply);
/* What tells a browser how to treat the answer. */
void tfp_gate_add_headers(const struct tfp_gate *gate, struct MHD_Response *response,
			  const struct tfp_reply *reply);

#endif
