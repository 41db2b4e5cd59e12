/* SPDX-License-Identifier: Apache-2.0 */
#include "http/access.h"

#include "base/alloc.h"
#include "http/token.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct tfp_access {
	char *token; /* NULL: none is needed */
	char session[TFP_TOKEN_SIZE];
	bool check_host, tls, framed;
	uint16_t port;
	char *prefix, *host, *own_name, *allowed_hosts;
	char *policy, *form_policy;
};

/* ---- names ---- */

/* One item of a list with commas; false at its end. */
static bool next_item(const char **list, const char **item, size_t *size)
{
	if (!*list || !**list)
		return false;
	*item = *list;
	*size = strcspn(*list, ",");
	*list += *size + ((*list)[*size] == ',');
	return true;
}

enum tfp_status tfp_access_check_hosts(const char *list, struct tfp_error *err)
{
	const char *item;
	size_t size;
	if (!list[0] || list[strlen(list) - 1] == ',')
		return tfp_fail(err, TFP_BAD_QUERY, "a name is empty");
	while (next_item(&list, &item, &size)) {
		bool any = size > 2 && item[0] == '*' && item[1] == '.';
		const char *name = any ? item + 2 : item;
		size_t n = any ? size - 2 : size;
		if (n == 0 || n > 253 || strspn(name, LETTERS "-._") < n || name[0] == '.')
			return tfp_fail(err, TFP_BAD_QUERY,
					"\"%.*s\" is not a name such as trainer.example.org or "
					"*.example.org",
					(int)size, item);
	}
	return TFP_OK;
}

enum tfp_status tfp_access_check_origins(const char *list, struct tfp_error *err)
{
	const char *item;
	size_t size;
	if (!list[0] || list[strlen(list) - 1] == ',')
		return tfp_fail(err, TFP_BAD_QUERY, "an origin is empty");
	while (next_item(&list, &item, &size)) {
		const char *host = strncmp(item, "https://", 8) == 0  ? item + 8
				   : strncmp(item, "http://", 7) == 0 ? item + 7
								      : NULL;
		/* They become part of a header: nothing in them may end its directive. */
		if (!host || host >= item + size || size > 300 ||
		    host + strspn(host, LETTERS "-._:[]*") < item + size)
			return tfp_fail(err, TFP_BAD_QUERY,
					"\"%.*s\" is no origin such as https://portal.example.org",
					(int)size, item);
	}
	return TFP_OK;
}

/* Length of the host in "host[:port]"; brackets belong to it, a dot at the end
 * does not. 0 when it is none. */
static size_t host_size(const char *host)
{
	size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	const char *port = host + n;
	if (host[0] == '[' &&
	    (n > strlen(host) || strspn(host + 1, "0123456789abcdefABCDEF:.") < n - 2))
		return 0;
	if (*port && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1)))
		return 0;
	return n > 1 && host[n - 1] == '.' ? n - 1 : n;
}

static bool is_name(const char *host, size_t size, const char *name)
{
	return name && strlen(name) == size && strncasecmp(host, name, size) == 0;
}

static bool ends_in(const char *host, size_t size, const char *end, size_t n)
{
	return size > n && strncasecmp(host + size - n, end, n) == 0;
}

static bool is_allowed(const char *list, const char *host, size_t size)
{
	const char *item;
	size_t n;
	while (next_item(&list, &item, &n)) {
		if (item[0] == '*' ? ends_in(host, size, item + 1, n - 1)
				   : n == size && strncasecmp(host, item, n) == 0)
			return true;
	}
	return false;
}

static bool host_is_ours(const struct tfp_access *a, const char *host)
{
	size_t n = host_size(host);
	if (n == 0)
		return false;
	/* Addresses cannot be made to mean something else. */
	if (host[0] == '[' || strspn(host, "0123456789.") == n)
		return true;
	return is_name(host, n, "localhost") || ends_in(host, n, ".localhost", 10) ||
	       is_name(host, n, a->host) || is_name(host, n, a->own_name) ||
	       is_allowed(a->allowed_hosts, host, n);
}

static bool check_host(const struct tfp_access *a, const struct tfp_access_request *r,
		       struct tfp_error *err)
{
	/* Browsers always send Host, so a request without one is no attack. A request that
	 * changes something still needs it. */
	if (!a->check_host || (!r->host && !r->changes) || (r->host && host_is_ours(a, r->host)))
		return true;
	tfp_fail(err, TFP_FORBIDDEN, "the server is not known by this name");
	tfp_error_set_hint(err, "use localhost or its address, or start it with "
				"--allowed-host NAME");
	return false;
}

/* ---- other sites ---- */

/* Whether a request comes from our own page or from a program, and cannot come from somebody
 * else's page in the user's browser. */
static bool check_origin(const struct tfp_access_request *r, struct tfp_error *err)
{
	bool known = r->fetch_site && strcmp(r->fetch_site, "same-origin") == 0;
	if (r->fetch_site && !known && strcmp(r->fetch_site, "none") != 0) {
		tfp_fail(err, TFP_FORBIDDEN, "the request comes from another site");
		return false;
	}
	/* The browser knows best: a proxy may have changed Host. */
	if (known || !r->origin)
		return true;
	const char *host = strstr(r->origin, "://");
	if (host && host[3] && r->host && strcasecmp(host + 3, r->host) == 0)
		return true;
	tfp_fail(err, TFP_FORBIDDEN, "the request comes from another origin");
	tfp_error_set_hint(err, "a proxy in front of the server must pass on Host");
	return false;
}

static bool is_type(const char *type, const char *wanted)
{
	size_t n = strlen(wanted);
	return type && strncasecmp(type, wanted, n) == 0 && strchr("; \t", type[n]);
}

static bool check_sites(const struct tfp_access_request *r, struct tfp_error *err)
{
	if (r->changes) {
		/* A page can send JSON to another origin only after asking. */
		if (r->posts && !is_type(r->content_type, "application/json")) {
			tfp_fail(err, TFP_BAD_QUERY, "the body must be JSON");
			tfp_error_set_hint(err, "send Content-Type: application/json");
			return false;
		}
		return check_origin(r, err);
	}
	/* A link from elsewhere may lead here; a page may not use us as its picture
	 * or measure how long we take. */
	if (r->fetch_site && strcmp(r->fetch_site, "cross-site") == 0 &&
	    !(r->fetch_mode && strcmp(r->fetch_mode, "navigate") == 0)) {
		tfp_fail(err, TFP_FORBIDDEN, "the request comes from another site");
		return false;
	}
	return true;
}

/* ---- tokens and cookies ---- */

/* Named after the port in the address, as cookies do not tell ports apart. Where connections are
 * forwarded it is not the port that we listen on. */
static void cookie_name(const struct tfp_access *a, const char *host, char name[32])
{
	const char *port = host ? strrchr(host, ':') : NULL;
	size_t n = port ? strspn(port + 1, "0123456789") : 0;
	if (n && n <= 5 && port[1 + n] == '\0')
		snprintf(name, 32, "tfprof_%s", port + 1);
	else
		snprintf(name, 32, "tfprof_%u", (unsigned)a->port);
}

static bool has_session(const struct tfp_access *a, const struct tfp_access_request *r)
{
	char name[32];
	if (!r->cookie)
		return false;
	cookie_name(a, r->host, name);
	size_t n = strlen(name);
	/* All of that name: another path may have one too. */
	for (const char *p = r->cookie; *p;) {
		p += strspn(p, "; \t");
		size_t size = strcspn(p, ";");
		if (size > n && p[n] == '=' && strncmp(p, name, n) == 0 &&
		    tfp_token_same(p + n + 1, size - n - 1, a->session))
			return true;
		p += size;
	}
	return false;
}

static const char *bearer(const char *authorization)
{
	if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
		return NULL;
	return authorization + 7 + strspn(authorization + 7, " ");
}

static const char *make_cookie(const struct tfp_access *a, const struct tfp_access_request *r,
			       struct tfp_arena *arena)
{
	char name[32];
	size_t n = strlen(a->prefix), room = n + 160;
	char *cookie = tfp_arena_alloc(arena, room);
	/* A proxy may have taken a prefix away, so we do not know where the page is. */
	bool below = strncmp(r->uri, a->prefix, n) == 0 && strchr("/?", r->uri[n]);
	cookie_name(a, r->host, name);
	if (cookie)
		snprintf(cookie, room, "%s=%s; Path=%s/; HttpOnly; SameSite=Strict%s", name,
			 a->session, below ? a->prefix : "", a->tls ? "; Secure" : "");
	return cookie;
}

/* The address without the token, relative, as a proxy may have put something in
 * front. */
static const char *without_token(const char *uri, struct tfp_arena *arena)
{
	size_t path = strcspn(uri, "?");
	const char *last = uri + path, *query = uri[path] ? uri + path + 1 : "";
	while (last > uri && last[-1] != '/')
		last--;
	size_t name = (size_t)(uri + path - last);
	char *to = tfp_arena_alloc(arena, name + strlen(query) + 4), *end = to;
	if (!to)
		return NULL;
	/* "./", lest a colon in the name makes it look like a scheme. */
	memcpy(end, "./", 2);
	memcpy(end + 2, last, name);
	end += 2 + name;
	for (char mark = '?'; *query;) {
		size_t n = strcspn(query, "&");
		if (n && !tfp_http_param_named(query, n, "token")) {
			*end++ = mark;
			memcpy(end, query, n);
			end += n;
			mark = '&';
		}
		query += n + (query[n] == '&');
	}
	*end = '\0';
	return to;
}

void tfp_access_mask(char *uri)
{
	char *from = uri + strcspn(uri, "?");
	if (!*from)
		return;
	char *to = ++from;
	while (*from) {
		size_t n = strcspn(from, "&"), keep = n;
		if (tfp_http_param_named(from, n, "token") && memchr(from, '=', n))
			keep = (size_t)((char *)memchr(from, '=', n) - from) + 1;
		memmove(to, from, keep);
		to += keep;
		for (size_t i = keep; i < n && i < keep + 3; i++)
			*to++ = '*';
		from += n;
		if (*from)
			*to++ = *from++;
	}
	*to = '\0';
}

/* ---- deciding ---- */

static bool wants_page(const struct tfp_access_request *r)
{
	return strcmp(r->target->path, "/") == 0 && r->accept && strstr(r->accept, "text/html");
}

static void ask_for_token(const struct tfp_access_request *r, struct tfp_access_answer *answer)
{
	struct tfp_error *err = &answer->err;
	answer->verdict = TFP_ACCESS_SIGN_IN;
	answer->page = wants_page(r);
	tfp_fail(err, TFP_UNAUTHORIZED,
		 answer->wrong ? "this is not the server's token"
			       : "the server asks for its token");
	tfp_error_set_hint(err, "open the address that it printed when it started, or send "
				"Authorization: Bearer TOKEN");
}

/* The ways to bring a token, the most trusted first. */
static void check_token(const struct tfp_access *a, const struct tfp_access_request *r,
			struct tfp_arena *arena, struct tfp_access_answer *answer)
{
	const char *in_address = r->get ? tfp_query_get(&r->target->query, "token") : NULL;
	const char *in_header = bearer(r->authorization);
	const char *token = r->form ? r->form : in_header ? in_header : in_address;
	bool session = !r->form && has_session(a, r), right = false;
	if (!session && token) {
		if (r->exhausted) {
			answer->verdict = TFP_ACCESS_SLOW;
			answer->page = wants_page(r);
			tfp_fail(&answer->err, TFP_TOO_MANY,
				 "too many wrong tokens came from there");
			tfp_error_set_hint(&answer->err, "try again in a minute");
			return;
		}
		right = tfp_token_same(token, strlen(token), a->token);
		answer->wrong = !right;
	}
	if (!session && !right) {
		ask_for_token(r, answer);
		return;
	}
	if (!r->form && !in_address)
		return;
	/* An address with a token is never answered: it would stay in histories. */
	answer->verdict = TFP_ACCESS_REDIRECT;
	answer->location = without_token(r->uri, arena);
	if (!session)
		answer->cookie = make_cookie(a, r, arena);
	if (!answer->location || (!session && !answer->cookie)) {
		answer->verdict = TFP_ACCESS_REFUSED;
		tfp_fail(&answer->err, TFP_NO_MEMORY, "no memory for the request");
	}
}

void tfp_access_decide(const struct tfp_access *a, const struct tfp_access_request *r,
		       struct tfp_arena *arena, struct tfp_access_answer *answer)
{
	answer->verdict = TFP_ACCESS_ALLOWED;
	answer->wrong = answer->page = false;
	answer->location = answer->cookie = NULL;
	tfp_error_init(&answer->err);
	if (!check_host(a, r, &answer->err) || !check_sites(r, &answer->err) ||
	    (r->form && !check_origin(r, &answer->err)))
		answer->verdict = TFP_ACCESS_REFUSED;
	else if (a->token && !r->open)
		check_token(a, r, arena, answer);
}

bool tfp_access_is_form(const struct tfp_access *a, const char *method, const char *path)
{
	return a->token && strcmp(method, "POST") == 0 && strcmp(path, "/") == 0;
}

/* ---- beginning and end ---- */

static char *make_policy(const char *embed, bool form)
{
	/* The page loads nothing that is not ours. Its style sheet has pictures as data:. */
	static const char format[] =
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
		"font-src 'self'; connect-src 'self'; worker-src 'self'; object-src 'none'; "
		"base-uri 'none'; form-action %s; frame-ancestors %s";
	size_t room = sizeof(format) + 32 + (embed ? strlen(embed) + 8 : 0);
	char *policy = tfp_malloc(room), ancestors[8] = "'none'";
	if (!policy)
		return NULL;
	snprintf(policy, room, format, form ? "'self'" : "'none'", embed ? embed : ancestors);
	/* The header has blanks between sources; there are no other commas in it. */
	for (char *p = policy; embed && *p; p++) {
		if (*p == ',')
			*p = ' ';
	}
	return policy;
}

static bool copy(char **out, const char *text)
{
	*out = text ? tfp_strdup(text) : NULL;
	return *out || !text;
}

enum tfp_status tfp_access_new(struct tfp_access **out, const struct tfp_access_config *config,
			       struct tfp_error *err)
{
	struct tfp_access *a = tfp_calloc(1, sizeof(*a));
	*out = NULL;
	if (!a)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	a->check_host = config->check_host;
	a->tls = config->tls;
	a->port = config->port;
	a->framed = config->embed != NULL;
	a->policy = make_policy(config->embed, false);
	a->form_policy = make_policy(config->embed, true);
	enum tfp_status status = TFP_OK;
	if (!copy(&a->token, config->token) || !copy(&a->prefix, config->prefix) ||
	    !copy(&a->host, config->host) || !copy(&a->own_name, config->own_name) ||
	    !copy(&a->allowed_hosts, config->allowed_hosts) || !a->policy || !a->form_policy)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	if (status == TFP_OK)
		status = tfp_token_make(a->session, err);
	if (status != TFP_OK) {
		tfp_access_free(a);
		return status;
	}
	*out = a;
	return TFP_OK;
}

void tfp_access_free(struct tfp_access *a)
{
	if (!a)
		return;
	tfp_free(a->token);
	tfp_free(a->prefix);
	tfp_free(a->host);
	tfp_free(a->own_name);
	tfp_free(a->allowed_hosts);
	tfp_free(a->policy);
	tfp_free(a->form_policy);
	tfp_free(a);
}

const char *tfp_access_policy(const struct tfp_access *a, bool form)
{
	return form ? a->form_policy : a->policy;
}

bool tfp_access_never_framed(const struct tfp_access *a)
{
	return !a->framed;
}
