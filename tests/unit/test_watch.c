/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "http/peer.h"
#include "http/watch.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ends[0] is the server's. */
static void connect_pair(int ends[2], int family)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = {.any.sa_family = (sa_family_t)family};
	if (family == AF_UNIX) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		return;
	}
	/* Of IPv6, so that the client's address is one of IPv4 within it. */
	int listener = socket(family, SOCK_STREAM, 0);
	if (listener < 0)
		skip();
	socklen_t size = family == AF_INET6 ? sizeof(address.v6) : sizeof(address.v4);
	if (bind(listener, &address.any, size) != 0)
		skip();
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, &address.any, &size), 0);
	in_port_t port = family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port;
	const struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(ends[1], (const struct sockaddr *)&to, sizeof(to)), 0);
	ends[0] = accept(listener, NULL, NULL);
	assert_true(ends[0] >= 0);
	close(listener);
}

static void test_peer(void **state)
{
	static const int families[] = {AF_INET, AF_INET6};
	int ends[2];
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		connect_pair(ends, families[i]);
		if (tfp_peer(ends[0]) == TFP_PEER_UNKNOWN)
			skip(); /* the kernel may not be asked here */
		assert_int_equal(tfp_peer(ends[0]), TFP_PEER_OPEN);
		assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
		assert_int_equal(tfp_peer(ends[0]), TFP_PEER_OPEN);
		close(ends[1]);
		assert_int_equal(tfp_peer(ends[0]), TFP_PEER_CLOSED);
		close(ends[0]);
	}
	connect_pair(ends, AF_UNIX);
	assert_int_equal(tfp_peer(ends[0]), TFP_PEER_UNKNOWN);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(tfp_peer(-1), TFP_PEER_UNKNOWN);
}

static atomic_uint gone[8];

static void count_gone(void *context, uint64_t id)
{
	(void)context;
	atomic_fetch_add(&gone[id], 1);
}

static bool goes(unsigned id)
{
	for (int i = 0; i < 6000; i++) {
		if (atomic_load(&gone[id]))
			return true;
		nanosleep(&(const struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return false;
}

static void test_who_leaves(void **state)
{
	static const int families[] = {AF_INET, AF_UNIX};
	struct tfp_watch *watch;
	struct tfp_error err;
	(void)state;
	for (size_t f = 0; f < 2; f++) {
		struct tfp_watched watched[5] = {0};
		int ends[5][2];
		assert_int_equal(tfp_watch_new(&watch, count_gone, NULL, &err), TFP_OK);
		for (unsigned i = 1; i < 5; i++) {
			atomic_store(&gone[i], 0);
			connect_pair(ends[i], families[f]);
			if (i == 1)
				assert_int_equal(shutdown(ends[1][1], SHUT_WR), 0);
			tfp_watch_add(watch, &watched[i], ends[i][0], i);
		}
		bool knows = families[f] == AF_UNIX || tfp_peer(ends[1][0]) != TFP_PEER_UNKNOWN;
		close(ends[2][1]);
		if (knows)
			assert_true(goes(2));
		/* It was hung up on before, so it was looked at before. */
		assert_int_equal(atomic_load(&gone[1]), 0);
		assert_int_equal(atomic_load(&gone[3]), 0);
		/* It leaves after all. */
		close(ends[1][1]);
		if (knows)
			assert_true(goes(1));
		for (unsigned i = 1; i < 5; i++) {
			tfp_watch_remove(watch, &watched[i]);
			assert_true(atomic_load(&gone[i]) <= 1);
			close(ends[i][0]);
			if (i > 2)
				close(ends[i][1]);
		}
		tfp_watch_free(watch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peer),
		cmocka_unit_test(test_who_leaves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
