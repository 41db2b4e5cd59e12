/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a client comes from, as far as shares and limits go: an IPv4 address, or a network of
 * IPv6 of 64 bits, because a client that has one of its addresses can have them all.
 */
#ifndef TFP_HTTP_NETWORK_H
#define TFP_HTTP_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct tfp_network {
	uint8_t bytes[16]; /* as in IPv6; all 0: a socket in the file system */
};

/* address may be NULL. NULL, and any other family, counts as a socket in the file system. */
struct tfp_network tfp_network_of(const struct sockaddr *address);
bool tfp_network_equal(const struct tfp_network *a, const struct tfp_network *b);
/* Whether it is this machine: a loopback address, or a socket in the file system. */
bool tfp_network_is_local(const struct tfp_network *network);

/* Room for an address as text. */
#define TFP_ADDRESS_TEXT 48

/* Writes a client's address, without its port, to out, which has TFP_ADDRESS_TEXT bytes. Returns
 * out. */
const char *tfp_address_text(const struct sockaddr *address, char *out);

#endif
