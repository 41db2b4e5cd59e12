/*
 * Where a client comes from, as far as shares and limits go: an IPv4 address, or a network of
 * IPv6 (64 bits: who has one of its addresses has all of them).
 */
#ifndef TFP_HTTP_NETWORK_H
#define TFP_HTTP_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct tfp_network {
	uint8_t bytes[16]; /* as in IPv6; all 0: a socket in the file system */
};

/* address: NULL, or of another family, is taken for a socket in the file system. */
struct tfp_network tfp_network_of(const struct sockaddr *address);
bool tfp_network_equal(const struct tfp_network *a, const struct tfp_network *b);
/* Whether it is this machine: a loopback address, or a socket in the file system. */
bool tfp_network_is_local(const struct tfp_network *network);

/* Room for an address as text. */
#define TFP_ADDRESS_TEXT 48

/* Of a client, without its port; out has TFP_ADDRESS_TEXT bytes and is returned. */
const char *tfp_address_text(const struct sockaddr *address, char *out);

#endif
