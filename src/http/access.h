/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a request is answered, from its method, address and headers alone. It has no
 * sockets, and no state but what is fixed at the start, so that it can be tested by itself.
 *
 *     struct tfp_access *access;
 *     tfp_access_new(&access, &config, &err);
 *     tfp_access_decide(access, &request, &arena, &answer);
 *     if (answer.verdict == TFP_ACCESS_ALLOWED)
 *             ...
 *     tfp_access_free(access);
 *
 * A token opens a session: a cookie with a random value, valid as long as the process lives.
 * So no browser holds the token itself. The cookie of another process counts as absent; a
 * wrong token counts as an attempt.
 */
#ifndef TFP_HTTP_ACCESS_H
#define TFP_HTTP_ACCESS_H

#include "base/arena.h"
#include "base/error.h"
#include "http/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_access_config {
	const char *token;         /* every client needs it; NULL: none is needed */
	bool check_host;           /* refuse a Host that is not known to be ours */
	bool tls;                  /* cookies are for encrypted connections only */
	uint16_t port;             /* the one we listen on */
	const char *prefix;        /* "" or "/something" */
	const char *host;          /* the name we listen on; may be NULL */
	const char *own_name;      /* of this machine; may be NULL */
	const char *allowed_hosts; /* "name,*.domain"; may be NULL */
	const char *embed;         /* origins that may frame the page, with commas; may be NULL */
};

/* Check a list for allowed_hosts, and one for embed. TFP_BAD_QUERY tells what is wrong with it. */
enum tfp_status tfp_access_check_hosts(const char *list, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_access_check_origins(const char *list, struct tfp_error *err) TFP_CHECK;

struct tfp_access;

/* Copies config, whose lists must have passed the checks. TFP_IO when the system has no random
 * numbers. */
enum tfp_status tfp_access_new(struct tfp_access **out, const struct tfp_access_config *config,
			       struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_access_free(struct tfp_access *access);

/* What is known of a request. A header that is absent is NULL. */
struct tfp_access_request {
	bool get;  /* GET or HEAD */
	bool open; /* there is no secret in the answer; only Host is checked */
	/* The route changes something; the method is POST. */
	bool changes, posts;
	const struct tfp_http_target *target;
	const char *uri; /* as it came */
	const char *host, *origin, *fetch_site, *fetch_mode, *accept;
	const char *authorization, *cookie, *content_type;
	/* Token in the form of the page that asks for one; NULL when this is not that form. */
	const char *form;
	/* Too many wrong tokens came from this address: none is looked at. */
	bool exhausted;
};

enum tfp_access_verdict {
	TFP_ACCESS_ALLOWED,
	TFP_ACCESS_REDIRECT, /* to an address without the token */
	TFP_ACCESS_SIGN_IN,  /* 401 */
	TFP_ACCESS_SLOW,     /* 429 */
	TFP_ACCESS_REFUSED,  /* for the reason in err */
};

struct tfp_access_answer {
	enum tfp_access_verdict verdict;
	bool wrong;           /* a wrong token was tried */
	bool page;            /* the client wants a page, not JSON */
	const char *location; /* of a redirect; the arena's */
	const char *cookie;   /* for Set-Cookie, or NULL; the arena's */
	struct tfp_error err; /* unless allowed or redirected */
};

void tfp_access_decide(const struct tfp_access *access, const struct tfp_access_request *request,
		       struct tfp_arena *arena, struct tfp_access_answer *answer);
/* Whether this is the posted form of the page that asks for the token. */
bool tfp_access_is_form(const struct tfp_access *access, const char *method, const char *path);

/* Content-Security-Policy of our pages; form: of the page that asks for the token. */
const char *tfp_access_policy(const struct tfp_access *access, bool form);
/* Whether no other page may frame ours. */
bool tfp_access_never_framed(const struct tfp_access *access);

/* Masks, in place, the value of a token parameter in an address. */
void tfp_access_mask(char *uri);

#endif
