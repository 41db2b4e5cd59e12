/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of clients, from text. */
#ifndef TFP_TESTS_UNIT_ADDRESSES_H
#define TFP_TESTS_UNIT_ADDRESSES_H

#include "testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* Of IPv4 or IPv6; text NULL: of a socket in the file system. */
static inline struct sockaddr_storage address_of(const char *text)
{
	struct sockaddr_storage out = {.ss_family = AF_UNIX};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out;
	if (!text)
		return out;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		out.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
		out.ss_family = AF_INET6;
	else
		fail_msg("no address: %s", text);
	return out;
}

/* Whether two clients are from one network. */
static const struct {
	const char *a, *b;
	bool same;
} address_pairs[] = {
	{"192.0.2.1", "192.0.2.1", true},
	{"192.0.2.1", "192.0.2.2", false},
	{"192.0.2.1", "::ffff:192.0.2.1", true},
	{"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
	{"192.0.2.1", "::192.0.2.1", false},
	{"2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
	{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
	{"2001:db8::1", "192.0.2.1", false},
	{"127.0.0.1", "127.0.0.2", false},
	{"127.0.0.1", "::1", false},
	{"::1", "::2", false}, /* one /64, but only one is this machine */
	{"::1", NULL, false},
	{"127.0.0.1", NULL, false},
	{NULL, NULL, true},
};

#endif
