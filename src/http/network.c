/* SPDX-License-Identifier: Apache-2.0 */
#include "http/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_BYTES 8u

/* In front of an IPv4 address that is written as one of IPv6. */
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

struct tfp_network tfp_network_of(const struct sockaddr *address)
{
	static const uint8_t none[PREFIX_BYTES];
	struct tfp_network n = {{0}};
	if (address && address->sa_family == AF_INET) {
		memcpy(n.bytes, mapped, sizeof(mapped));
		memcpy(n.bytes + sizeof(mapped),
		       &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
	} else if (address && address->sa_family == AF_INET6) {
		memcpy(n.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
		       sizeof(n.bytes));
		/* 0::/64 is no network: there are the loopback address and those of IPv4. */
		if (memcmp(n.bytes, none, PREFIX_BYTES) != 0)
			memset(n.bytes + PREFIX_BYTES, 0, sizeof(n.bytes) - PREFIX_BYTES);
	}
	return n;
}

bool tfp_network_equal(const struct tfp_network *a, const struct tfp_network *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool tfp_network_is_local(const struct tfp_network *network)
{
	static const struct tfp_network file = {{0}}, loopback = {{[15] = 1}};
	if (memcmp(network->bytes, mapped, sizeof(mapped)) == 0)
		return network->bytes[sizeof(mapped)] == 127;
	return tfp_network_equal(network, &loopback) || tfp_network_equal(network, &file);
}

const char *tfp_address_text(const struct sockaddr *address, char *out)
{
	const void *bytes = NULL;
	int family = address ? address->sa_family : AF_UNSPEC;
	if (family == AF_INET)
		bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
	else if (family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	if (!bytes || !inet_ntop(family, bytes, out, TFP_ADDRESS_TEXT))
		snprintf(out, TFP_ADDRESS_TEXT, "%s", family == AF_UNIX ? "unix" : "?");
	return out;
}
