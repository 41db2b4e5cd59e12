/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/alloc.h"
#include "http/framing.h"

#include <stdio.h>
#include <string.h>

/* What comes out for some bytes; a text of ours until the next call. */
static const char *passed(const char *in, enum tfp_framing_fault *fault, unsigned *heads)
{
	static char out[1 << 16];
	struct tfp_framing f;
	tfp_framing_init(&f);
	tfp_framing_feed(&f, in, strlen(in));
	size_t n = tfp_framing_take(&f, out, sizeof(out) - 1);
	out[n] = '\0';
	*fault = f.fault;
	*heads = f.heads;
	assert_false(tfp_framing_broken(&f));
	tfp_framing_release(&f);
	return out;
}

static void expect(const char *in, const char *out, unsigned expected_heads)
{
	enum tfp_framing_fault fault;
	unsigned heads;
	assert_string_equal(passed(in, &fault, &heads), out);
	assert_int_equal(fault, TFP_FRAMING_FINE);
	assert_int_equal(heads, expected_heads);
}

static void expect_fault(const char *in, enum tfp_framing_fault expected)
{
	enum tfp_framing_fault fault;
	unsigned heads;
	const char *out = passed(in, &fault, &heads);
	if (fault != expected)
		fail_msg("\"%.60s\": fault %d, not %d", in, fault, expected);
	assert_int_equal(heads, 1);
	assert_non_null(strstr(out, "\r\n\r\n"));
	assert_null(strstr(out, "secret"));
}

static void test_one_spelling(void **state)
{
	(void)state;
	expect("\r\nGET /a?b HTTP/1.1\r\nhOST:\t x:1 \r\nX:  y  z \r\n\r\n",
	       "GET /a?b HTTP/1.1\r\nHost: x:1\r\nX: y  z\r\n\r\n", 1);
	expect("GET http://name/a HTTP/1.1\r\nHost: other\r\n\r\n",
	       "GET /a HTTP/1.1\r\nHost: name\r\n\r\n", 1);
	expect("GET https://name?b HTTP/1.0\r\n\r\n", "GET /?b HTTP/1.0\r\nHost: name\r\n\r\n", 1);
	expect("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 1);
	expect("GET / HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\nTfprof-Cookie: c=d\r\n\r\n",
	       "GET / HTTP/1.1\r\nHost: x\r\nTfprof-Cookie: a=b\r\n\r\n", 1);
	expect("POST / HTTP/1.1\r\nContent-Length: 002\r\nHost: x\r\n\r\nabGET / HTTP/1.0\r\n\r\n",
	       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.0\r\n\r\n",
	       2);
	expect("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: CHUNKED\r\n\r\n"
	       "00A;x=y\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.0\r\n\r\n",
	       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	       "a\r\n0123456789\r\n0\r\n\r\nGET / HTTP/1.0\r\n\r\n",
	       2);
}

static void test_nothing_before_the_end_of_a_head(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct tfp_framing f;
	char out[100];
	(void)state;
	tfp_framing_init(&f);
	assert_false(tfp_framing_within_head(&f));
	for (size_t i = 0; i < strlen(request); i++) {
		assert_int_equal(tfp_framing_take(&f, out, sizeof(out)), 0);
		tfp_framing_feed(&f, request + i, 1);
		assert_int_equal(tfp_framing_within_head(&f), i + 1 < strlen(request));
	}
	/* In pieces, as there is room. */
	assert_int_equal(tfp_framing_take(&f, out, 5), 5);
	assert_int_equal(tfp_framing_take(&f, out + 5, sizeof(out) - 5), strlen(request) - 5);
	assert_memory_equal(out, request, strlen(request));
	tfp_framing_release(&f);
}

static void test_faults(void **state)
{
	(void)state;
	expect_fault("GET / HTTP/1.1\nsecret", TFP_FRAMING_LINE_END);
	expect_fault("GET /\x01", TFP_FRAMING_CONTROL);
	expect_fault("GET / \r\n", TFP_FRAMING_REQUEST_LINE);
	expect_fault("GET secret HTTP/1.1\r\n", TFP_FRAMING_TARGET);
	expect_fault("GET / HTTP/2.0\r\n", TFP_FRAMING_VERSION);
	expect_fault("GET / HTTP/1.1\r\nsecret\r\n", TFP_FRAMING_FIELD);
	expect_fault("GET / HTTP/1.1\r\nX: y\r\n secret\r\n", TFP_FRAMING_FOLDED);
	expect_fault("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n", TFP_FRAMING_TWICE);
	expect_fault("GET / HTTP/1.1\r\n\r\nsecret", TFP_FRAMING_HOST_MISSING);
	expect_fault("GET / HTTP/1.1\r\nHost: /\r\n", TFP_FRAMING_HOST);
	expect_fault("GET / HTTP/1.1\r\nContent-Length: 1x\r\n", TFP_FRAMING_LENGTH);
	expect_fault("GET / HTTP/1.1\r\nContent-Length: 1048577\r\n", TFP_FRAMING_LONG_BODY);
	expect_fault("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
		     "Transfer-Encoding: chunked\r\n\r\nsecret",
		     TFP_FRAMING_ENCODING);
	expect_fault("GET / HTTP/1.1\r\nExpect: more\r\n", TFP_FRAMING_EXPECT);
	/* In a body: its end comes out in place of the rest. */
	enum tfp_framing_fault fault;
	unsigned heads;
	assert_string_equal(passed("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
				   "1\r\nabsecret",
				   &fault, &heads),
			    "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
			    "1\r\na\r\n0\r\n\r\n");
	assert_int_equal(fault, TFP_FRAMING_CHUNK);
	assert_int_equal(heads, 1);
}

static void test_a_fault_is_of_the_last_request(void **state)
{
	static const char requests[] = "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n\n";
	struct tfp_framing f;
	(void)state;
	tfp_framing_init(&f);
	tfp_framing_feed(&f, requests, strlen(requests));
	assert_int_equal(tfp_framing_fault(&f, 1), TFP_FRAMING_FINE);
	assert_int_equal(tfp_framing_fault(&f, 2), TFP_FRAMING_FINE);
	assert_int_equal(tfp_framing_fault(&f, 3), TFP_FRAMING_LINE_END);
	/* What follows means nothing. */
	size_t before = f.ready.size;
	tfp_framing_feed(&f, requests, strlen(requests));
	assert_int_equal(f.ready.size, before);
	tfp_framing_release(&f);
}

static void test_no_memory(void **state)
{
	static const char request[] = "GET /a HTTP/1.1\r\nHost: x\r\nX: y\r\n\r\n";
	char out[200];
	(void)state;
	bool went_well = false;
	for (uint64_t nth = 1; !went_well; nth++) {
		struct tfp_framing f;
		tfp_framing_init(&f);
		tfp_alloc_fail_at(nth);
		tfp_framing_feed(&f, request, strlen(request));
		tfp_alloc_fail_at(0);
		size_t n = tfp_framing_take(&f, out, sizeof(out));
		went_well = f.fault == TFP_FRAMING_FINE && !tfp_framing_broken(&f);
		if (went_well)
			assert_int_equal(n, strlen(request));
		else
			assert_true(tfp_framing_broken(&f) || f.fault == TFP_FRAMING_NO_MEMORY);
		tfp_framing_release(&f);
		assert_true(nth < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_spelling),
		cmocka_unit_test(test_nothing_before_the_end_of_a_head),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_a_fault_is_of_the_last_request),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
