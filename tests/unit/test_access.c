/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets in, decided from headers alone. */
#include "testing.h"

#include "http/access.h"
#include "http/attempts.h"
#include "http/token.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN "abcdefghijklmnop-0123"

static struct tfp_arena arena;
static struct tfp_access_answer answer;

static struct tfp_access *make(struct tfp_access_config config)
{
	struct tfp_access *access;
	struct tfp_error err;
	if (!config.prefix)
		config.prefix = "";
	if (!config.port)
		config.port = 6006;
	assert_int_equal(tfp_access_new(&access, &config, &err), TFP_OK);
	return access;
}

#define MAKE(...) make((struct tfp_access_config){__VA_ARGS__})

static enum tfp_access_verdict decide(const struct tfp_access *access, const char *uri,
				      struct tfp_access_request r)
{
	struct tfp_http_target target;
	struct tfp_error err;
	tfp_arena_release(&arena);
	tfp_arena_init(&arena, 1 << 20);
	assert_int_equal(tfp_http_target_parse(&target, uri, "/prefix", &arena, &err), TFP_OK);
	r.target = &target;
	r.uri = uri;
	r.get = !r.posts;
	if (!r.host)
		r.host = "localhost:6006";
	tfp_access_decide(access, &r, &arena, &answer);
	return answer.verdict;
}

#define DECIDE(access, uri, ...) decide(access, uri, (struct tfp_access_request){__VA_ARGS__})

/* ---- names ---- */

static void test_hosts(void **state)
{
	static const char *const ours[] = {
		"localhost",         "LOCALHOST:6006",   "127.0.0.1:6006",  "10.1.2.3",
		"[::1]:6006",        "x.localhost:1",    "192.168.0.7",     "workstation:6006",
		"localhost.:6006",   "portal.example:9", "a.below.example", "a.b.below.example",
		"bound.example:6006"};
	/* A name that its owner can make point here (DNS rebinding), or none. */
	static const char *const others[] = {"evil.example:6006",
					     "localhost.evil.example",
					     "",
					     ":6006",
					     "workstation.evil",
					     "127.0.0.1.evil:1",
					     "xlocalhost",
					     "below.example",
					     "xbelow.example",
					     "portal.example.evil",
					     "[::1",
					     "[evil]",
					     "[::1]evil",
					     "localhost:1:2",
					     "localhost:x",
					     "a b"};
	(void)state;
	struct tfp_access *checks =
		MAKE(.check_host = true, .host = "bound.example", .own_name = "workstation",
		     .allowed_hosts = "portal.example,*.below.example");
	struct tfp_access *trusts = MAKE(.check_host = false);
	for (size_t i = 0; i < COUNT(ours); i++)
		assert_int_equal(DECIDE(checks, "/", .host = ours[i]), TFP_ACCESS_ALLOWED);
	for (size_t i = 0; i < COUNT(others); i++) {
		assert_int_equal(DECIDE(checks, "/", .host = others[i]), TFP_ACCESS_REFUSED);
		assert_int_equal(answer.err.status, TFP_FORBIDDEN);
		assert_int_equal(DECIDE(trusts, "/", .host = others[i]), TFP_ACCESS_ALLOWED);
	}
	tfp_access_free(checks);
	tfp_access_free(trusts);
}

static void test_lists(void **state)
{
	static const char *const hosts[] = {"a", "a.b,c", "*.a.b", "A_b-1.c"};
	static const char *const no_hosts[] = {"",    ",a",  "a,", "a,,b", "*",  "*.",
					       "a:1", "a b", ".a", "a/b",  "*a", "a.*"};
	static const char *const origins[] = {"https://a", "http://a.b:80,https://*.c",
					      "https://[::1]:8443"};
	static const char *const no_origins[] = {"",
						 "a",
						 "https://",
						 "https://a/",
						 "https://a b",
						 "https://a;b",
						 "ftp://a",
						 "https://a,",
						 "*",
						 "https://a'",
						 "https://,https://a"};
	struct tfp_error err;
	(void)state;
	for (size_t i = 0; i < COUNT(hosts); i++)
		assert_int_equal(tfp_access_check_hosts(hosts[i], &err), TFP_OK);
	for (size_t i = 0; i < COUNT(no_hosts); i++)
		assert_int_equal(tfp_access_check_hosts(no_hosts[i], &err), TFP_BAD_QUERY);
	for (size_t i = 0; i < COUNT(origins); i++)
		assert_int_equal(tfp_access_check_origins(origins[i], &err), TFP_OK);
	for (size_t i = 0; i < COUNT(no_origins); i++)
		assert_int_equal(tfp_access_check_origins(no_origins[i], &err), TFP_BAD_QUERY);
}

/* ---- other sites ---- */

static enum tfp_access_verdict post(const struct tfp_access *access, struct tfp_access_request r)
{
	r.posts = r.changes = true;
	if (!r.content_type)
		r.content_type = "application/json";
	return decide(access, "/capture_profile", r);
}

#define POST(...) post(access, (struct tfp_access_request){__VA_ARGS__})

static void test_posts(void **state)
{
	/* What a form of another site can send without asking. */
	static const char *const types[] = {
		"text/plain",        "application/x-www-form-urlencoded", "multipart/form-data", "",
		"application/jsonx", "text/plain; application/json"};
	struct tfp_access *access = MAKE(.check_host = true);
	(void)state;
	assert_int_equal(POST(.host = "localhost:6006"), TFP_ACCESS_ALLOWED);
	assert_int_equal(POST(.content_type = "Application/JSON; charset=utf-8"),
			 TFP_ACCESS_ALLOWED);
	for (size_t i = 0; i < COUNT(types); i++) {
		assert_int_equal(POST(.content_type = types[i]), TFP_ACCESS_REFUSED);
		assert_int_equal(answer.err.status, TFP_BAD_QUERY);
	}
	assert_int_equal(POST(.origin = "http://localhost:6006"), TFP_ACCESS_ALLOWED);
	assert_int_equal(POST(.fetch_site = "none"), TFP_ACCESS_ALLOWED);
	/* A proxy changed Host; the browser knows better. */
	assert_int_equal(POST(.origin = "https://portal.example", .fetch_site = "same-origin"),
			 TFP_ACCESS_ALLOWED);
	static const char *const origins[] = {"http://localhost:8080", "null",
					      "http://evil.example", "localhost:6006", ""};
	for (size_t i = 0; i < COUNT(origins); i++) {
		assert_int_equal(POST(.origin = origins[i]), TFP_ACCESS_REFUSED);
		assert_int_equal(answer.err.status, TFP_FORBIDDEN);
	}
	static const char *const sites[] = {"cross-site", "same-site", "", "Same-Origin"};
	for (size_t i = 0; i < COUNT(sites); i++)
		assert_int_equal(POST(.fetch_site = sites[i], .origin = "http://localhost:6006"),
				 TFP_ACCESS_REFUSED);
	/* By GET where that changes something. */
	assert_int_equal(DECIDE(access, "/capture_profile", .changes = true,
				.fetch_site = "cross-site", .fetch_mode = "navigate"),
			 TFP_ACCESS_REFUSED);
	tfp_access_free(access);
}

static void test_reading_from_other_sites(void **state)
{
	struct tfp_access *access = MAKE(.check_host = true);
	(void)state;
	assert_int_equal(
		DECIDE(access, "/data", .fetch_site = "cross-site", .fetch_mode = "no-cors"),
		TFP_ACCESS_REFUSED);
	assert_int_equal(DECIDE(access, "/data", .fetch_site = "cross-site"), TFP_ACCESS_REFUSED);
	assert_int_equal(DECIDE(access, "/", .fetch_site = "cross-site", .fetch_mode = "navigate"),
			 TFP_ACCESS_ALLOWED);
	assert_int_equal(DECIDE(access, "/data", .fetch_site = "same-origin", .fetch_mode = "cors"),
			 TFP_ACCESS_ALLOWED);
	tfp_access_free(access);
}

/* ---- tokens ---- */

static void test_tokens(void **state)
{
	struct tfp_access *access = MAKE(.token = TOKEN);
	(void)state;
	assert_int_equal(DECIDE(access, "/runs", .host = "any.example"), TFP_ACCESS_SIGN_IN);
	assert_false(answer.wrong);
	assert_int_equal(answer.err.status, TFP_UNAUTHORIZED);
	assert_int_equal(DECIDE(access, "/healthz", .open = true), TFP_ACCESS_ALLOWED);

	assert_int_equal(DECIDE(access, "/runs", .authorization = "Bearer " TOKEN),
			 TFP_ACCESS_ALLOWED);
	assert_int_equal(DECIDE(access, "/runs", .authorization = "bearer  " TOKEN),
			 TFP_ACCESS_ALLOWED);
	static const char *const wrong[] = {"Bearer ", "Bearer abcdefghijklmnop-012",
					    "Bearer " TOKEN "x", "Bearer " TOKEN " "};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(DECIDE(access, "/runs", .authorization = wrong[i]),
				 TFP_ACCESS_SIGN_IN);
		assert_true(answer.wrong);
	}
	assert_int_equal(DECIDE(access, "/runs", .authorization = "Basic " TOKEN),
			 TFP_ACCESS_SIGN_IN);
	assert_false(answer.wrong);

	assert_int_equal(DECIDE(access, "/?token=wrong", .accept = "text/html,*/*"),
			 TFP_ACCESS_SIGN_IN);
	assert_true(answer.wrong && answer.page);
	assert_int_equal(DECIDE(access, "/?token=" TOKEN, .exhausted = true), TFP_ACCESS_SLOW);
	assert_false(answer.wrong);
	/* Only addresses of pages may hold it. */
	assert_int_equal(DECIDE(access, "/capture_profile?token=" TOKEN, .posts = true,
				.changes = true, .content_type = "application/json"),
			 TFP_ACCESS_SIGN_IN);
	tfp_access_free(access);
}

static const char *cookie_of(char out[128])
{
	assert_non_null(answer.cookie);
	snprintf(out, 128, "%.*s", (int)strcspn(answer.cookie, ";"), answer.cookie);
	return out;
}

static void test_redirects(void **state)
{
	static const struct {
		const char *uri, *location, *path;
	} cases[] = {
		{"/?token=" TOKEN, "./", "; Path=/; "},
		{"/prefix/?token=" TOKEN, "./", "; Path=/prefix/; "},
		{"/prefix/?a=b&token=" TOKEN "&c=%20", "./?a=b&c=%20", "; Path=/prefix/; "},
		{"/data/plugin/profile/?%74oken=" TOKEN "&&x", "./?x", "; Path=/; "},
		{"/prefix/runs?token=" TOKEN "&token=2", "./runs", "; Path=/prefix/; "},
		{"/prefixes?token=" TOKEN, "./prefixes", "; Path=/; "},
		{"/a:b?token=" TOKEN, "./a:b", "; Path=/; "},
	};
	struct tfp_access *access = MAKE(.token = TOKEN, .prefix = "/prefix");
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(DECIDE(access, cases[i].uri, .host = "any:7"),
				 TFP_ACCESS_REDIRECT);
		assert_string_equal(answer.location, cases[i].location);
		assert_non_null(strstr(answer.cookie, cases[i].path));
		assert_non_null(strstr(answer.cookie, "; HttpOnly; SameSite=Strict"));
		assert_null(strstr(answer.cookie, "Secure"));
		assert_null(strstr(answer.cookie, TOKEN));
		assert_ptr_equal(strstr(answer.cookie, "tfprof_7="), answer.cookie);
	}
	tfp_access_free(access);
	access = MAKE(.token = TOKEN, .tls = true);
	DECIDE(access, "/?token=" TOKEN, .host = "no.port");
	assert_non_null(strstr(answer.cookie, "; Secure"));
	assert_ptr_equal(strstr(answer.cookie, "tfprof_6006="), answer.cookie);
	tfp_access_free(access);
}

static void test_sessions(void **state)
{
	char cookie[128], text[512];
	struct tfp_access *access = MAKE(.token = TOKEN), *other = MAKE(.token = TOKEN);
	(void)state;
	DECIDE(access, "/?token=" TOKEN, .host = "a:1");
	cookie_of(cookie);
	assert_int_equal(DECIDE(access, "/runs", .host = "a:1", .cookie = cookie),
			 TFP_ACCESS_ALLOWED);
	/* Of another port, another process, cut, longer, and without its name. */
	assert_int_equal(DECIDE(access, "/runs", .host = "a:2", .cookie = cookie),
			 TFP_ACCESS_SIGN_IN);
	assert_int_equal(DECIDE(other, "/runs", .host = "a:1", .cookie = cookie),
			 TFP_ACCESS_SIGN_IN);
	assert_false(answer.wrong);
	assert_int_equal(DECIDE(access, "/runs", .host = "a:1", .cookie = cookie + 1),
			 TFP_ACCESS_SIGN_IN);
	snprintf(text, sizeof(text), "%sx", cookie);
	assert_int_equal(DECIDE(access, "/runs", .host = "a:1", .cookie = text),
			 TFP_ACCESS_SIGN_IN);
	snprintf(text, sizeof(text), "%.*s", (int)strlen(cookie) - 1, cookie);
	assert_int_equal(DECIDE(access, "/runs", .host = "a:1", .cookie = text),
			 TFP_ACCESS_SIGN_IN);
	/* Among others, one of which has the same name. */
	snprintf(text, sizeof(text), "x=y; tfprof_1=old;%s ; z", cookie);
	text[strlen(text) - 4] = ';';
	assert_int_equal(DECIDE(access, "/runs", .host = "a:1", .cookie = text),
			 TFP_ACCESS_ALLOWED);
	/* Too many wrong tokens from somebody else at the same address do not matter. */
	assert_int_equal(
		DECIDE(access, "/runs", .host = "a:1", .cookie = cookie, .exhausted = true),
		TFP_ACCESS_ALLOWED);
	/* Of an old address in somebody's notes only the token goes. */
	assert_int_equal(DECIDE(access, "/?token=old&a=b", .host = "a:1", .cookie = cookie),
			 TFP_ACCESS_REDIRECT);
	assert_string_equal(answer.location, "./?a=b");
	assert_null(answer.cookie);
	assert_false(answer.wrong);
	tfp_access_free(access);
	tfp_access_free(other);
}

static void test_form(void **state)
{
	struct tfp_access *access = MAKE(.token = TOKEN), *open = MAKE(.port = 1);
	(void)state;
	assert_true(tfp_access_is_form(access, "POST", "/"));
	assert_false(tfp_access_is_form(access, "GET", "/"));
	assert_false(tfp_access_is_form(access, "POST", "/runs"));
	assert_false(tfp_access_is_form(open, "POST", "/"));
	assert_int_equal(DECIDE(access, "/?a=b", .posts = true, .form = TOKEN),
			 TFP_ACCESS_REDIRECT);
	assert_string_equal(answer.location, "./?a=b");
	assert_non_null(answer.cookie);
	assert_int_equal(DECIDE(access, "/", .posts = true, .form = ""), TFP_ACCESS_SIGN_IN);
	assert_true(answer.wrong);
	assert_int_equal(DECIDE(access, "/", .posts = true, .form = TOKEN, .exhausted = true),
			 TFP_ACCESS_SLOW);
	assert_int_equal(
		DECIDE(access, "/", .posts = true, .form = TOKEN, .origin = "http://evil.example"),
		TFP_ACCESS_REFUSED);
	tfp_access_free(access);
	tfp_access_free(open);
}

static void test_masks(void **state)
{
	static const char *const cases[][2] = {
		{"/", "/"},
		{"/?", "/?"},
		{"/?a=b", "/?a=b"},
		{"/?token=secret", "/?token=***"},
		{"/?a=b&token=secret&c=d", "/?a=b&token=***&c=d"},
		{"/?t%6Fken=secret", "/?t%6Fken=***"},
		{"/?token=s&token=secret", "/?token=*&token=***"},
		{"/?token", "/?token"},
		{"/?token=&x", "/?token=&x"},
		{"/?tokens=a&xtoken=b", "/?tokens=a&xtoken=b"},
		{"/token=a", "/token=a"},
		{"/?token=a?b=c/d", "/?token=***"},
		{"/?%&token=%zz%", "/?%&token=***"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char uri[64];
		snprintf(uri, sizeof(uri), "%s", cases[i][0]);
		tfp_access_mask(uri);
		assert_string_equal(uri, cases[i][1]);
	}
}

static void test_policies(void **state)
{
	struct tfp_access *access = MAKE(.token = TOKEN);
	(void)state;
	assert_non_null(strstr(tfp_access_policy(access, false), "frame-ancestors 'none'"));
	assert_non_null(strstr(tfp_access_policy(access, false), "form-action 'none'"));
	assert_non_null(strstr(tfp_access_policy(access, true), "form-action 'self'"));
	assert_null(strstr(tfp_access_policy(access, false), "unsafe"));
	assert_true(tfp_access_never_framed(access));
	tfp_access_free(access);
	access = MAKE(.embed = "https://a.example,https://*.b.example:8443");
	const char *policy = tfp_access_policy(access, false);
	assert_string_equal(strstr(policy, "frame-ancestors"),
			    "frame-ancestors https://a.example https://*.b.example:8443");
	assert_false(tfp_access_never_framed(access));
	tfp_access_free(access);
}

/* ---- secrets ---- */

static void test_same(void **state)
{
	(void)state;
	assert_true(tfp_token_same("abc", 3, "abc"));
	assert_false(tfp_token_same("abc", 2, "abc"));
	assert_false(tfp_token_same("abcd", 4, "abc"));
	assert_false(tfp_token_same("abd", 3, "abc"));
	assert_false(tfp_token_same("", 0, "abc"));
}

static void test_token_files(void **state)
{
	char folder[] = "/tmp/tfprof-token-XXXXXX", path[64], token[TFP_TOKEN_MAX + 1];
	char again[TFP_TOKEN_MAX + 1];
	struct tfp_error err;
	struct stat st;
	bool made;
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/token", folder);
	mode_t mask = umask(0);
	assert_int_equal(tfp_token_file(path, token, &made, &err), TFP_OK);
	umask(mask);
	assert_true(made);
	assert_int_equal(strlen(token), 32);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(tfp_token_file(path, again, &made, &err), TFP_OK);
	assert_false(made);
	assert_string_equal(token, again);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(tfp_token_file(path, again, &made, &err), TFP_OK);
	static const mode_t bad[] = {0644, 0602, 0620, 0604};
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(chmod(path, bad[i]), 0);
		assert_int_equal(tfp_token_file(path, again, &made, &err), TFP_FORBIDDEN);
	}
	assert_int_equal(chmod(path, 0600), 0);
	static const struct {
		const char *text;
		enum tfp_status status;
	} lines[] = {
		{"0123456789abcdef", TFP_OK},         {"0123456789abcdef\r\nmore", TFP_OK},
		{"0123456789abcde", TFP_BAD_INPUT},   {"", TFP_BAD_INPUT},
		{"0123456789 abcdef", TFP_BAD_INPUT}, {"0123456789abcdef&", TFP_BAD_INPUT},
		{"~._-0123456789ab", TFP_OK},
	};
	for (size_t i = 0; i < COUNT(lines); i++) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fputs(lines[i].text, f);
		fclose(f);
		assert_int_equal(tfp_token_file(path, token, &made, &err), lines[i].status);
	}
	/* Too long, and no file. */
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < TFP_TOKEN_MAX + 1; i++)
		fputc('x', f);
	fclose(f);
	assert_int_equal(tfp_token_file(path, token, &made, &err), TFP_BAD_INPUT);
	assert_int_equal(tfp_token_file(folder, token, &made, &err), TFP_BAD_INPUT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_attempts(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET}, b = {.sin_family = AF_INET};
	const struct sockaddr *one = (const void *)&a, *two = (const void *)&b;
	const int64_t second = 1000000000;
	struct tfp_attempts *attempts;
	struct tfp_error err;
	int64_t now = 5000 * second;
	(void)state;
	assert_int_equal(tfp_attempts_new(&attempts, &err), TFP_OK);
	a.sin_addr.s_addr = htonl(0x0a000001);
	for (unsigned i = 1; i <= TFP_ATTEMPTS; i++) {
		assert_false(tfp_attempts_exhausted(attempts, one, now));
		assert_int_equal(tfp_attempts_count(attempts, one, now), TFP_ATTEMPTS - i);
	}
	assert_true(tfp_attempts_exhausted(attempts, one, now));
	/* Some other address has a counter of its own. */
	unsigned alone = 0;
	for (unsigned i = 2; i < 12; i++) {
		b.sin_addr.s_addr = htonl(0x0a000000 + i);
		alone += !tfp_attempts_exhausted(attempts, two, now);
	}
	assert_true(alone > 0);
	/* One more every few seconds, and all of them later. */
	now += (int64_t)TFP_ATTEMPT_SECONDS * second;
	assert_false(tfp_attempts_exhausted(attempts, one, now));
	assert_int_equal(tfp_attempts_count(attempts, one, now), 0);
	assert_true(tfp_attempts_exhausted(attempts, one, now));
	now += 3600 * second;
	assert_int_equal(tfp_attempts_count(attempts, one, now), TFP_ATTEMPTS - 1);
	tfp_attempts_free(attempts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),    cmocka_unit_test(test_lists),
		cmocka_unit_test(test_posts),    cmocka_unit_test(test_reading_from_other_sites),
		cmocka_unit_test(test_tokens),   cmocka_unit_test(test_redirects),
		cmocka_unit_test(test_sessions), cmocka_unit_test(test_form),
		cmocka_unit_test(test_masks),    cmocka_unit_test(test_policies),
		cmocka_unit_test(test_same),     cmocka_unit_test(test_token_files),
		cmocka_unit_test(test_attempts),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tfp_arena_release(&arena);
	return failed;
}
