/*
 * What a client asks for: the path below the server's prefixes and the
 * decoded parameters. Nothing of HTTP beyond that, and no state.
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
	const char *path;   /* "/runs"; "/" for the page itself */
	const char *search; /* the query as it came, without '?' */
	/* Set when a prefix was asked for without its slash, so that relative
	 * addresses in the page would miss it: where to go instead. */
	const char *redirect;
	struct tfp_query query;
};

/* uri: path and query as they are in the request line. prefix: "" or
 * "/something" without a slash at its end. TFP_BAD_QUERY for escapes that are
 * none, text that is not UTF-8, zero bytes, and too much of anything. */
enum tfp_status tfp_http_target_parse(struct tfp_http_target *target, const char *uri,
				      const char *prefix, struct tfp_arena *arena,
				      struct tfp_error *err) TFP_CHECK;

/* What a request that changes something brings besides its address: texts of
 * headers, NULL where one is absent. */
struct tfp_http_post {
	bool posted; /* by POST: there is a body */
	const char *body;
	size_t size;
	const char *content_type, *host, *origin, *fetch_site;
};

/* Whether such a request can only come from our own page or from a program, and
 * not from a page of somebody else in the user's browser: its body, if any, is JSON
 * (which a page can send to another origin only after asking), browsers' headers
 * name no other origin, and, where strict, Host is an address, localhost,
 * host_name or own_name (either may be NULL): no name that somebody could make
 * point here. TFP_FORBIDDEN, or TFP_BAD_QUERY for another kind of body. */
enum tfp_status tfp_http_post_check(const struct tfp_http_post *post, bool strict,
				    const char *host_name, const char *own_name,
				    struct tfp_error *err) TFP_CHECK;

enum tfp_http_encoding { TFP_HTTP_IDENTITY, TFP_HTTP_GZIP, TFP_HTTP_ZSTD };

/* What an Accept-Encoding header (NULL: none) allows of the encodings whose
 * bits are set in offered (1 << encoding): the one with the highest q, zstd
 * before gzip before identity. */
enum tfp_http_encoding tfp_http_accepted_encoding(const char *header, unsigned offered);

/* Whether an If-None-Match header (NULL: none) names the tag, by the weak comparison. */
bool tfp_http_etag_matches(const char *header, const char *etag);

#endif
