/* SPDX-License-Identifier: Apache-2.0 */
/* The client against a server that does everything wrong, over real HTTP/2. */
#include "testing.h"

#include "base/buf.h"
#include "remote/grpc_unary.h"
#include "support/fake_profiler.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROFILE "/tensorflow.ProfilerService/Profile"
#define SIZE    100000u

static struct tfp_buf received;
static uint64_t counted, refuse_after;

static enum tfp_status collect(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	(void)context;
	counted += size;
	if (refuse_after && counted > refuse_after)
		return tfp_fail(err, TFP_IO, "no room left");
	tfp_buf_add(&received, bytes, size);
	return TFP_OK;
}

struct limits {
	int64_t answer_ms, stall_ms, limit_ms;
	uint64_t max_bytes;
};

static const struct limits patient = {20000, 20000, 20000, UINT32_MAX};

static void call_port(unsigned port, const struct limits *limits, struct tfp_grpc_result *result)
{
	struct tfp_grpc *g;
	struct tfp_grpc_call *call;
	struct tfp_target target;
	struct tfp_error err;
	char address[64];
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	assert_int_equal(tfp_target_parse(&target, address, strlen(address), &err), TFP_OK);
	assert_int_equal(tfp_grpc_new(&g, &err), TFP_OK);
	tfp_buf_clear(&received);
	counted = 0;
	const struct tfp_grpc_request request = {
		.target = &target,
		.method = PROFILE,
		.message = "\x08\x01",
		.size = 2,
		.answer_ms = limits->answer_ms,
		.stall_ms = limits->stall_ms,
		.limit_ms = limits->limit_ms,
		.max_bytes = limits->max_bytes,
		.sink = collect,
	};
	assert_int_equal(tfp_grpc_start(g, &call, &request, &err), TFP_OK);
	for (int i = 0; !tfp_grpc_done(call); i++) {
		assert_true(i < 100000);
		tfp_grpc_run(g, 50);
	}
	*result = *tfp_grpc_result(call);
	tfp_grpc_end(call);
	tfp_grpc_free(g);
}

static void call(const struct fake_config *config, const struct limits *limits,
		 struct tfp_grpc_result *result, struct fake_seen *seen)
{
	struct fake_profiler *f = fake_profiler_start(config);
	assert_non_null(f);
	call_port(fake_profiler_port(f), limits, result);
	if (seen)
		fake_profiler_look(f, seen);
	fake_profiler_stop(f);
}

/* Field 8 of SIZE bytes, then the tail of the server's. */
static void assert_whole_profile(void)
{
	static const uint8_t head[] = {0x42, 0xa0, 0x8d, 0x06}; /* 100000 as a varint */
	const uint8_t *b = (const uint8_t *)received.data;
	assert_int_equal(received.size, sizeof(head) + SIZE + 6);
	assert_memory_equal(b, head, sizeof(head));
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(b[sizeof(head) + i], fake_profiler_byte(i));
}

static void test_a_good_answer(void **state)
{
	struct tfp_grpc_result r;
	struct fake_seen seen;
	(void)state;
	call(&(struct fake_config){.behave = "ok", .size = SIZE}, &patient, &r, &seen);
	assert_int_equal(r.code, TFP_GRPC_OK);
	assert_whole_profile();
	assert_string_equal(seen.path, PROFILE);
	assert_string_equal(seen.content_type, "application/grpc");
	assert_string_equal(seen.te, "trailers");
	assert_string_equal(seen.encoding, "identity");
	assert_string_equal(seen.expect, "");
	/* At most eight digits and a unit. */
	assert_string_equal(seen.timeout, "20000m");
	assert_int_equal(seen.message_bytes, 2);
}

static void test_long_timeouts(void **state)
{
	const struct limits long_ones = {1000, 1000, INT64_C(100000000), UINT32_MAX};
	struct tfp_grpc_result r;
	struct fake_seen seen;
	(void)state;
	call(&(struct fake_config){.behave = "ok", .size = 1}, &long_ones, &r, &seen);
	assert_string_equal(seen.timeout, "100000S");
}

static void test_many_small_frames(void **state)
{
	struct tfp_grpc_result r;
	(void)state;
	/* The first eight bytes, among them the prefix, in a frame each. */
	call(&(struct fake_config){.behave = "drip", .size = SIZE, .after = 9999, .pause_ms = 1},
	     &patient, &r, NULL);
	assert_int_equal(r.code, TFP_GRPC_OK);
	assert_whole_profile();
}

static void test_every_status(void **state)
{
	struct tfp_grpc_result r;
	(void)state;
	for (unsigned status = 1; status <= 17; status++) {
		unsigned expected = status <= 16 ? status : TFP_GRPC_UNKNOWN;
		call(&(struct fake_config){.behave = "status", .status = status, .message = "why"},
		     &patient, &r, NULL);
		assert_int_equal(r.code, expected);
		assert_int_equal(r.origin, TFP_GRPC_BY_SERVER);
		assert_string_equal(r.message, "why");
		assert_int_equal(received.size, 0);
		/* In trailers, after a message. */
		call(&(struct fake_config){.behave = "late_status",
					   .status = status,
					   .message = "late",
					   .size = 10},
		     &patient, &r, NULL);
		assert_int_equal(r.code, expected);
		assert_string_equal(r.message, "late");
	}
}

static void test_messages_are_decoded(void **state)
{
	static const char *const pairs[][2] = {
		{"a%20b%C3%A9%e2%82%ac", "a b\xc3\xa9\xe2\x82\xac"},
		{"100% sure %zz %4", "100% sure %zz %4"},
		{"%FFbad", "\xef\xbf\xbd"
			   "bad"},
		{"two%0Alines%1b[1m", "two lines [1m"},
		{"%00x", " x"},
		{"", ""},
	};
	char out[64];
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		tfp_grpc_decode_message(pairs[i][0], strlen(pairs[i][0]), out, sizeof(out));
		assert_string_equal(out, pairs[i][1]);
	}
	/* Cut between characters. */
	char small[6];
	tfp_grpc_decode_message("abc\xe2\x82\xac", 6, small, sizeof(small));
	assert_string_equal(small, "abc");
	char many[3000];
	memset(many, '%', sizeof(many));
	tfp_grpc_decode_message(many, sizeof(many), out, sizeof(out));
	assert_int_equal(strlen(out), sizeof(out) - 1);
}

static void test_what_is_no_answer(void **state)
{
	static const struct {
		struct fake_config config;
		enum tfp_grpc_code code;
		enum tfp_grpc_origin origin;
		const char *says;
	} cases[] = {
		{{.behave = "no_status", .size = 10},
		 TFP_GRPC_UNKNOWN,
		 TFP_GRPC_BY_ANSWER,
		 "status"},
		{{.behave = "no_message", .size = 10},
		 TFP_GRPC_INTERNAL,
		 TFP_GRPC_BY_ANSWER,
		 "message"},
		{{.behave = "short", .size = 100}, TFP_GRPC_INTERNAL, TFP_GRPC_BY_ANSWER, "before"},
		{{.behave = "two"}, TFP_GRPC_INTERNAL, TFP_GRPC_BY_ANSWER, "more than one"},
		{{.behave = "compressed", .size = 9},
		 TFP_GRPC_INTERNAL,
		 TFP_GRPC_BY_ANSWER,
		 "compressed"},
		{{.behave = "html", .size = 10}, TFP_GRPC_UNKNOWN, TFP_GRPC_BY_ANSWER, "text/html"},
		{{.behave = "html", .size = 1 << 20},
		 TFP_GRPC_UNKNOWN,
		 TFP_GRPC_BY_ANSWER,
		 "text/html"},
		{{.behave = "http", .status = 404},
		 TFP_GRPC_UNIMPLEMENTED,
		 TFP_GRPC_BY_ANSWER,
		 "404"},
		{{.behave = "http", .status = 401},
		 TFP_GRPC_UNAUTHENTICATED,
		 TFP_GRPC_BY_ANSWER,
		 "401"},
		{{.behave = "http", .status = 403},
		 TFP_GRPC_PERMISSION_DENIED,
		 TFP_GRPC_BY_ANSWER,
		 "403"},
		{{.behave = "http", .status = 503},
		 TFP_GRPC_UNAVAILABLE,
		 TFP_GRPC_BY_ANSWER,
		 "503"},
		{{.behave = "http", .status = 500}, TFP_GRPC_UNKNOWN, TFP_GRPC_BY_ANSWER, "500"},
		{{.behave = "http1"}, TFP_GRPC_UNAVAILABLE, TFP_GRPC_BY_NETWORK, "not speak gRPC"},
		{{.behave = "reset", .size = SIZE, .after = 500},
		 TFP_GRPC_INTERNAL,
		 TFP_GRPC_BY_NETWORK,
		 "aborted"},
		{{.behave = "hangup", .size = SIZE, .after = 500},
		 TFP_GRPC_UNAVAILABLE,
		 TFP_GRPC_BY_NETWORK,
		 ""},
	};
	struct tfp_grpc_result r;
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		call(&cases[i].config, &patient, &r, NULL);
		if (r.code != cases[i].code || r.origin != cases[i].origin ||
		    !strstr(r.message, cases[i].says))
			fail_msg("%s: %s by %d: %s", cases[i].config.behave,
				 tfp_grpc_code_name(r.code), (int)r.origin, r.message);
	}
}

/* Refused before the request is sent: whether libcurl hands the status on or not, it
 * is the method that is not there, and no broken connection, which would be asked again. */
static void test_refused_early(void **state)
{
	struct tfp_grpc_result r;
	(void)state;
	for (int i = 0; i < 20; i++) {
		call(&(struct fake_config){.behave = "early", .status = 12}, &patient, &r, NULL);
		assert_int_equal(r.code, TFP_GRPC_UNIMPLEMENTED);
	}
}

static void test_deadlines(void **state)
{
	const struct limits no_answer = {150, 20000, 20000, UINT32_MAX};
	const struct limits stalled = {20000, 1500, 20000, UINT32_MAX};
	const struct limits endless = {20000, 20000, 1500, UINT32_MAX};
	struct tfp_grpc_result r;
	(void)state;
	call(&(struct fake_config){.behave = "hang"}, &no_answer, &r, NULL);
	assert_int_equal(r.code, TFP_GRPC_DEADLINE_EXCEEDED);
	assert_int_equal(r.origin, TFP_GRPC_BY_US);
	call(&(struct fake_config){.behave = "stall", .size = SIZE, .after = 700}, &stalled, &r,
	     NULL);
	assert_int_equal(r.code, TFP_GRPC_DEADLINE_EXCEEDED);
	assert_int_equal(counted, 695);
	call(&(struct fake_config){.behave = "drip", .size = SIZE, .after = 1, .pause_ms = 5},
	     &endless, &r, NULL);
	assert_int_equal(r.code, TFP_GRPC_DEADLINE_EXCEEDED);
	assert_true(counted > 0);
}

static void test_limits(void **state)
{
	const struct limits small = {20000, 20000, 20000, 1000};
	struct tfp_grpc_result r;
	(void)state;
	call(&(struct fake_config){.behave = "ok", .size = 1000}, &small, &r, NULL);
	assert_int_equal(r.code, TFP_GRPC_INTERNAL);
	assert_non_null(strstr(r.message, "larger"));
	assert_int_equal(counted, 0);
	refuse_after = 50000;
	call(&(struct fake_config){.behave = "ok", .size = SIZE}, &patient, &r, NULL);
	refuse_after = 0;
	assert_true(r.sink_failed);
	assert_int_equal(r.err.status, TFP_IO);
	assert_string_equal(r.err.message, "no room left");
}

static void test_nobody_is_there(void **state)
{
	struct tfp_grpc_result r;
	(void)state;
	/* A port that was free a moment ago. */
	struct fake_profiler *f = fake_profiler_start(&(struct fake_config){.behave = "ok"});
	unsigned port = fake_profiler_port(f);
	fake_profiler_stop(f);
	call_port(port, &patient, &r);
	assert_int_equal(r.code, TFP_GRPC_UNAVAILABLE);
	assert_int_equal(r.origin, TFP_GRPC_BY_NETWORK);
}

/* Accepts, and closes at once. */
static void *slam(void *context)
{
	int fd = accept(*(int *)context, NULL, NULL);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void test_a_closed_door(void **state)
{
	struct tfp_grpc_result r;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	pthread_t thread;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&a, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&a, &size);
	pthread_create(&thread, NULL, slam, &listener);
	call_port(ntohs(a.sin_port), &patient, &r);
	pthread_join(thread, NULL);
	close(listener);
	assert_int_equal(r.code, TFP_GRPC_UNAVAILABLE);
}

static void test_several_at_once_and_cancelling(void **state)
{
	struct fake_profiler *good =
		fake_profiler_start(&(struct fake_config){.behave = "ok", .size = 10});
	struct fake_profiler *stuck = fake_profiler_start(&(struct fake_config){.behave = "hang"});
	struct tfp_grpc *g;
	struct tfp_grpc_call *calls[2];
	struct tfp_target targets[2];
	struct tfp_error err;
	char list[64];
	size_t count;
	(void)state;
	snprintf(list, sizeof(list), "127.0.0.1:%u,localhost:%u", fake_profiler_port(good),
		 fake_profiler_port(stuck));
	assert_int_equal(tfp_targets_parse(targets, &count, list, &err), TFP_OK);
	assert_int_equal(tfp_grpc_new(&g, &err), TFP_OK);
	for (int i = 0; i < 2; i++) {
		const struct tfp_grpc_request request = {
			.target = &targets[i],
			.method = PROFILE,
			.message = "",
			.answer_ms = 20000,
			.stall_ms = 20000,
			.limit_ms = 20000,
			.max_bytes = 1000,
			.sink = collect,
		};
		assert_int_equal(tfp_grpc_start(g, &calls[i], &request, &err), TFP_OK);
	}
	while (!tfp_grpc_done(calls[0]) || !tfp_grpc_connected(calls[1]))
		tfp_grpc_run(g, 20);
	assert_int_equal(tfp_grpc_result(calls[0])->code, TFP_GRPC_OK);
	assert_true(fake_profiler_wait(stuck, 1, 0));
	assert_false(tfp_grpc_done(calls[1]));
	tfp_grpc_cancel(calls[1]);
	assert_true(tfp_grpc_done(calls[1]));
	assert_int_equal(tfp_grpc_result(calls[1])->code, TFP_GRPC_CANCELLED);
	/* Ending a call that is under way, too. */
	tfp_grpc_end(calls[0]);
	tfp_grpc_end(calls[1]);
	tfp_grpc_free(g);
	fake_profiler_stop(good);
	fake_profiler_stop(stuck);
}

static void test_the_environment_s_proxy_is_not_used(void **state)
{
	struct tfp_grpc_result r;
	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("all_proxy", "http://127.0.0.1:1", 1);
	call(&(struct fake_config){.behave = "ok", .size = 5}, &patient, &r, NULL);
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	assert_int_equal(r.code, TFP_GRPC_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_answer),
		cmocka_unit_test(test_long_timeouts),
		cmocka_unit_test(test_many_small_frames),
		cmocka_unit_test(test_every_status),
		cmocka_unit_test(test_messages_are_decoded),
		cmocka_unit_test(test_what_is_no_answer),
		cmocka_unit_test(test_refused_early),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_nobody_is_there),
		cmocka_unit_test(test_a_closed_door),
		cmocka_unit_test(test_several_at_once_and_cancelling),
		cmocka_unit_test(test_the_environment_s_proxy_is_not_used),
	};
	signal(SIGPIPE, SIG_IGN);
	tfp_buf_init(&received, 16 << 20);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tfp_buf_release(&received);
	return failed;
}
