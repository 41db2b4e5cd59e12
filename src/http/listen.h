/*
 * The socket that clients connect to: where it is bound, whether others than
 * this machine can reach it, and the address to open in a browser. Knows
 * nothing of HTTP beyond that address.
 */
#ifndef TFP_HTTP_LISTEN_H
#define TFP_HTTP_LISTEN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_listener {
	int fd; /* -1 when closed */
	uint16_t port;
	bool public;    /* others than this machine can reach it */
	char url[1200]; /* "http://127.0.0.1:6006/" */
};

void tfp_listener_init(struct tfp_listener *listener);
/* Binds to host, a name or an address of this machine, and to port (0: any free
 * one) or, while that is taken, one of the further_ports after it. prefix is
 * the path below which the page is, for the URL. TFP_BAD_QUERY when host is no
 * address, TFP_IO when it cannot be listened at. Closed by tfp_listener_close. */
enum tfp_status tfp_listen(struct tfp_listener *listener, const char *host, uint16_t port,
			   unsigned further_ports, const char *prefix,
			   struct tfp_error *err) TFP_CHECK;
/* Accepts one that was only initialised. */
void tfp_listener_close(struct tfp_listener *listener);

#endif
