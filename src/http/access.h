/*
 * Who gets in: what is decided about a request before it is answered, from its
 * method, address and headers alone. No sockets and no state but what is fixed
 * at the start, so that it can be tested by itself.
 *
 *     struct tfp_access *access;
 *     tfp_access_new(&access, &config, &err);
 *     tfp_access_decide(access, &request, &arena, &answer);
 *     if (answer.verdict == TFP_ACCESS_ALLOWED)
 *             ...
 *     tfp_access_free(access);
 *
 * A token opens a session: a cookie with a random value that lives as long as
 * the process, so that the token itself is in no browser. Cookies of another
 * process, of which the value cannot be guessed, count as absent; wrong tokens
 * count as attempts.
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
	const char *token;         /* asked for from everybody; NULL: nobody is asked */
	bool check_host;           /* Host has to be a name that is known to be ours */
	bool tls;                  /* cookies are for encrypted connections only */
	uint16_t port;             /* that is listened at */
	const char *prefix;        /* "" or "/something" */
	const char *host;          /* name that is listened at; may be NULL */
	const char *own_name;      /* of this machine; may be NULL */
	const char *allowed_hosts; /* "name,*.domain"; may be NULL */
	const char *embed;         /* origins that may frame the page, with commas; may be NULL */
};

/* Whether a list of names is one for allowed_hosts, and of origins for embed:
 * TFP_BAD_QUERY with what is wrong. */
enum tfp_status tfp_access_check_hosts(const char *list, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_access_check_origins(const char *list, struct tfp_error *err) TFP_CHECK;

struct tfp_access;

/* Copies config. The lists have to be good. TFP_IO without random numbers. */
enum tfp_status tfp_access_new(struct tfp_access **out, const struct tfp_access_config *config,
			       struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_access_free(struct tfp_access *access);

/* What is known of a request; texts of headers are NULL where one is absent. */
struct tfp_access_request {
	bool get;  /* GET or HEAD */
	bool open; /* answered to everybody who names the server right: no secret */
	/* What it asks for changes something, and by POST. */
	bool changes, posts;
	const struct tfp_http_target *target;
	const char *uri; /* as it came */
	const char *host, *origin, *fetch_site, *fetch_mode, *accept;
	const char *authorization, *cookie, *content_type;
	/* The form of the page that asks for the token, once it was read; else NULL. */
	const char *form;
	/* There were too many wrong tokens from there: none is looked at. */
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
	bool page;            /* a person is waiting for a page, not a program for JSON */
	const char *location; /* of a redirect; the arena's */
	const char *cookie;   /* for Set-Cookie, or NULL; the arena's */
	struct tfp_error err; /* unless allowed or redirected */
};

void tfp_access_decide(const struct tfp_access *access, const struct tfp_access_request *request,
		       struct tfp_arena *arena, struct tfp_access_answer *answer);
/* Whether this is the posted form of the page that asks for the token. */
bool tfp_access_is_form(const struct tfp_access *access, const char *method, const char *path);

/* Content-Security-Policy of pages. form: of the one that asks for the token. */
const char *tfp_access_policy(const struct tfp_access *access, bool form);
/* Whether no other page may frame ours. */
bool tfp_access_never_framed(const struct tfp_access *access);

/* Replaces, in place, what a token parameter of an address holds. */
void tfp_access_mask(char *uri);

#endif
