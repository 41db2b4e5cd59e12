/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as the head of a request, in this order: its address, Host, Origin,
 * Sec-Fetch-Site, Sec-Fetch-Mode, Accept, Authorization, Cookie, Content-Type, the body of
 * the form; a line that is empty is a header that is missing. "{T}" in a line stands for
 * the token, "{S}" for the session's cookie. Nobody gets in without one of them, and by no foreign
 * name. */
#include "fuzz.h"

#include "http/access.h"

#include <string.h>
#include <strings.h>

#define TOKEN "0123456789abcdefGHIJ"
#define LINES 10

static struct tfp_access *accesses[4];
static char session[128]; /* "tfprof_1=..." */

static void set_up(void)
{
	struct tfp_access_answer answer;
	struct tfp_http_target target;
	struct tfp_arena arena;
	struct tfp_error err;
	for (unsigned i = 0; i < 4; i++) {
		const struct tfp_access_config config = {
			.token = i & 1 ? TOKEN : NULL,
			.check_host = i & 2,
			.port = 1,
			.prefix = "/p",
			.own_name = "own",
			.allowed_hosts = "known.test,*.below.test",
		};
		MUST(tfp_access_new(&accesses[i], &config, &err) == TFP_OK);
	}
	tfp_arena_init(&arena, 1 << 20);
	MUST(tfp_http_target_parse(&target, "/?token=" TOKEN, "/p", &arena, &err) == TFP_OK);
	const struct tfp_access_request r = {
		.get = true, .target = &target, .uri = "/?token=" TOKEN, .host = "localhost:1"};
	tfp_access_decide(accesses[3], &r, &arena, &answer);
	MUST(answer.verdict == TFP_ACCESS_REDIRECT && answer.cookie);
	snprintf(session, sizeof(session), "%.*s", (int)strcspn(answer.cookie, ";"), answer.cookie);
	tfp_arena_release(&arena);
}

/* The line with what stands for secrets put in; to be freed. */
static char *expand(const char *line)
{
	size_t n = strlen(line);
	char *out = malloc(n * sizeof(session) + 1), *to = out;
	MUST(out);
	for (size_t i = 0; i < n;) {
		const char *secret = strncmp(line + i, "{T}", 3) == 0   ? TOKEN
				     : strncmp(line + i, "{S}", 3) == 0 ? session
									: NULL;
		if (secret) {
			memcpy(to, secret, strlen(secret));
			to += strlen(secret);
			i += 3;
		} else {
			*to++ = line[i++];
		}
	}
	*to = '\0';
	return out;
}

static void check_mask(const char *uri)
{
	char *masked = strdup(uri);
	MUST(masked);
	tfp_access_mask(masked);
	MUST(strlen(masked) <= strlen(uri));
	const char *at = masked + strcspn(masked, "?");
	for (at += *at == '?'; *at; at += *at == '&') {
		size_t n = strcspn(at, "&"), key = strcspn(at, "=&");
		if (key < n && tfp_http_param_named(at, n, "token"))
			MUST(strspn(at + key + 1, "*") == n - key - 1 && n - key <= 4);
		at += n;
	}
	free(masked);
}

static bool is_ours(const char *host)
{
	static const char *const ends[] = {"localhost", "own", "known.test", ".below.test"};
	size_t n = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");
	if (host[0] == '[' || strspn(host, "0123456789.") >= n)
		return n > 0;
	n -= host[n - 1] == '.';
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t size = strlen(ends[i]);
		if (n >= size && strncasecmp(host + n - size, ends[i], size) == 0)
			return true;
	}
	return false;
}

static void check_answer(const struct tfp_access_request *r, const struct tfp_access_answer *answer,
			 bool token, bool checks)
{
	bool in = answer->verdict == TFP_ACCESS_ALLOWED || answer->verdict == TFP_ACCESS_REDIRECT;
	bool shown = (r->authorization && strstr(r->authorization, TOKEN)) ||
		     (r->cookie && strstr(r->cookie, strchr(session, '=') + 1)) ||
		     (r->form && strcmp(r->form, TOKEN) == 0);
	for (size_t i = 0; i < r->target->query.count; i++)
		shown |= strcmp(r->target->query.params[i].value, TOKEN) == 0;
	MUST(!in || !token || shown || r->open);
	MUST(!in || !checks || !r->host || is_ours(r->host));
	MUST(!in || !r->changes || !r->origin || r->fetch_site || strstr(r->origin, "://"));
	MUST(in || answer->err.message[0]);
	MUST(!answer->wrong || answer->verdict == TFP_ACCESS_SIGN_IN);
	if (answer->verdict != TFP_ACCESS_REDIRECT)
		return;
	const char *location = answer->location, *query = location + strcspn(location, "?");
	MUST(strncmp(location, "./", 2) == 0);
	MUST(strcspn(location + 2, "/") >= (size_t)(query - location) - 2);
	for (query += *query == '?'; *query; query += *query == '&') {
		size_t n = strcspn(query, "&");
		MUST(!tfp_http_param_named(query, n, "token"));
		query += n;
	}
	MUST(!answer->cookie || !strpbrk(answer->cookie, "\r\n"));
	MUST(!answer->cookie || !strstr(answer->cookie, TOKEN));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *lines[LINES] = {0}, *text = malloc(size + 1), *at = text;
	struct tfp_http_target target;
	struct tfp_access_answer answer;
	struct tfp_arena arena;
	struct tfp_error err;
	MUST(text);
	if (!accesses[0])
		set_up();
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < LINES && at; i++) {
		char *end = strchr(at, '\n');
		if (end)
			*end = '\0';
		lines[i] = at[0] ? expand(at) : NULL;
		at = end ? end + 1 : NULL;
	}
	free(text);
	const char *uri = lines[0] ? lines[0] : "/";
	check_mask(uri);
	/* What options take. */
	if (tfp_access_check_hosts(uri, &err) != TFP_OK)
		MUST(err.message[0]);
	if (tfp_access_check_origins(uri, &err) == TFP_OK)
		MUST(!strpbrk(uri, "; '\"\r\n"));
	tfp_arena_init(&arena, 1 << 20);
	bool parsed = tfp_http_target_parse(&target, uri, "/p", &arena, &err) == TFP_OK;
	for (unsigned i = 0; parsed && i < 32; i++) {
		const struct tfp_access_request r = {
			.get = !(i & 4),
			.posts = i & 4,
			.changes = i & 8,
			.exhausted = i & 16,
			.target = &target,
			.uri = uri,
			.host = lines[1],
			.origin = lines[2],
			.fetch_site = lines[3],
			.fetch_mode = lines[4],
			.accept = lines[5],
			.authorization = lines[6],
			.cookie = lines[7],
			.content_type = lines[8],
			.form = i & 4 && lines[9] ? tfp_http_form_value(lines[9], "token", &arena)
						  : NULL,
		};
		tfp_access_decide(accesses[i & 3], &r, &arena, &answer);
		check_answer(&r, &answer, i & 1, i & 2);
	}
	tfp_arena_release(&arena);
	for (size_t i = 0; i < LINES; i++)
		free(lines[i]);
	return 0;
}
