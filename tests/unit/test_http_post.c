/* Which requests that change something are followed: only those of our own page
 * and of programs. */
#include "testing.h"

#include "http/request.h"

static enum tfp_status check(struct tfp_http_post post, bool strict)
{
	struct tfp_error err;
	post.posted = true;
	if (!post.content_type)
		post.content_type = "application/json";
	return tfp_http_post_check(&post, strict, "192.168.0.7", "workstation", &err);
}

#define CHECK(strict, ...) check((struct tfp_http_post){__VA_ARGS__}, strict)

static void test_types(void **state)
{
	(void)state;
	assert_int_equal(CHECK(true, .host = "localhost:1"), TFP_OK);
	assert_int_equal(CHECK(true, .host = "localhost:1",
			       .content_type = "application/json; charset=utf-8"),
			 TFP_OK);
	/* What a form of another site can send without asking. */
	static const char *const others[] = {
		"text/plain",        "application/x-www-form-urlencoded", "multipart/form-data", "",
		"application/jsonx", "text/plain; application/json"};
	for (size_t i = 0; i < COUNT(others); i++)
		assert_int_equal(CHECK(true, .host = "localhost", .content_type = others[i]),
				 TFP_BAD_QUERY);
}

static void test_origins(void **state)
{
	(void)state;
	assert_int_equal(CHECK(true, .host = "localhost:6006", .origin = "http://localhost:6006",
			       .fetch_site = "same-origin"),
			 TFP_OK);
	assert_int_equal(CHECK(true, .host = "localhost:6006", .origin = "http://localhost:8080"),
			 TFP_FORBIDDEN);
	assert_int_equal(CHECK(true, .host = "localhost:6006", .origin = "null"), TFP_FORBIDDEN);
	assert_int_equal(CHECK(true, .host = "localhost:6006", .origin = "http://evil.example"),
			 TFP_FORBIDDEN);
	assert_int_equal(CHECK(false, .host = NULL, .origin = "http://evil.example"),
			 TFP_FORBIDDEN);
	assert_int_equal(CHECK(true, .host = "localhost:6006", .fetch_site = "cross-site"),
			 TFP_FORBIDDEN);
	assert_int_equal(CHECK(true, .host = "localhost:6006", .fetch_site = "same-site"),
			 TFP_FORBIDDEN);
	assert_int_equal(CHECK(true, .host = "localhost:6006", .fetch_site = "none"), TFP_OK);
}

static void test_hosts(void **state)
{
	static const char *const ours[] = {"localhost",        "LOCALHOST:6006",  "127.0.0.1:6006",
					   "10.1.2.3",         "[::1]:6006",      "x.localhost:1",
					   "192.168.0.7:6006", "workstation:6006"};
	/* A name that its owner can make point here (DNS rebinding). */
	static const char *const others[] = {
		"evil.example:6006", "localhost.evil.example", "",          ":6006",
		"workstation.evil",  "127.0.0.1.evil:1",       "xlocalhost"};
	(void)state;
	for (size_t i = 0; i < COUNT(ours); i++)
		assert_int_equal(CHECK(true, .host = ours[i]), TFP_OK);
	for (size_t i = 0; i < COUNT(others); i++) {
		assert_int_equal(CHECK(true, .host = others[i]), TFP_FORBIDDEN);
		assert_int_equal(CHECK(false, .host = others[i]), TFP_OK);
	}
	assert_int_equal(CHECK(true, .host = NULL), TFP_FORBIDDEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_hosts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
