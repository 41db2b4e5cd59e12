/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's request: the path below the server's prefixes, the decoded parameters, and the few
 * headers that answers depend on. No connections, and no state.
 */
#ifndef TFP_HTTP_REQUEST_H
#define TFP_HTTP_REQUEST_H

#include "base/arena.h"
#include "base/error.h"
#include "tools/tool.h"

#include <stdbool.h>

#define TFP_HTTP_URI_MAX    8192u
#define TFP_HTTP_PARAMS_MAX 64u

/* All memory is the arena's. */
struct tfp_http_target {
	const char *path;   /* "/runs"; "/" is the page itself. Never two slashes in a row. */
	const char *search; /* the query as it came, without "?" */
	/* Where to go instead, when a prefix was asked for without its slash: relative addresses in
	 * the page would miss it. Else NULL. */
	const char *redirect;
	struct tfp_query query;
};

/* uri: path and query as they are in the request line. prefix: "" or "/something", without a slash
 * at its end. TFP_BAD_QUERY for malformed escapes, text that is not UTF-8, zero bytes, and too much
 * of anything. */
enum tfp_status tfp_http_target_parse(struct tfp_http_target *target, const char *uri,
				      const char *prefix, struct tfp_arena *arena,
				      struct tfp_error *err) TFP_CHECK;

/* Whether one parameter of a query as it came, "key=value", has this key. */
bool tfp_http_param_named(const char *param, size_t size, const char *name);
/* The first value of a key in the body of a form, decoded. NULL when there is none, or the body is
 * no form. */
const char *tfp_http_form_value(const char *body, const char *key, struct tfp_arena *arena);

/* The body of a request that changes something. */
struct tfp_http_post {
	bool posted; /* the method is POST, so there is a body */
	const char *body;
	size_t size;
};

/* What a request brings along besides its address; NULL where a header is absent. */
struct tfp_http_conditions {
	const char *accept_encoding, *if_none_match;
	const struct tfp_http_post *post; /* NULL unless the route changes something */
};

enum tfp_http_encoding { TFP_HTTP_IDENTITY, TFP_HTTP_GZIP, TFP_HTTP_ZSTD };

/* Chooses among the encodings whose bits are set in offered (1 << encoding), by an Accept-Encoding
 * header (NULL: none): the highest q wins, and zstd goes before gzip before identity. */
enum tfp_http_encoding tfp_http_accepted_encoding(const char *header, unsigned offered);

/* Whether an If-None-Match header (NULL: none) names the tag, by the weak comparison. */
bool tfp_http_etag_matches(const char *header, const char *etag);

#endif
