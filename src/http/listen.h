/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that clients connect to: where it is bound, whether other machines can reach it,
 * and the address to open in a browser. It knows nothing of HTTP beyond that address.
 *
 *     tfp_listener_init(&listener);
 *     tfp_listen(&listener, &config, &err);
 *     puts(listener.url);
 */
#ifndef TFP_HTTP_LISTEN_H
#define TFP_HTTP_LISTEN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_listen_config {
	const char *host;        /* name or address of this machine to bind to */
	const char *socket_path; /* or a socket in the file system; NULL: host */
	uint16_t port;           /* 0: any */
	unsigned further_ports;  /* tried in turn when the port is taken */
	const char *prefix;      /* path below which the page is, for the URL */
	bool tls;                /* the URL begins with https */
};

struct tfp_listener {
	int fd;        /* -1 when closed */
	uint16_t port; /* 0 for a socket in the file system */
	bool public;   /* other machines can reach it */
	bool wildcard; /* it is bound to every address of the machine */
	/* "http://127.0.0.1:6006/", to open in a browser on this machine, or
	 * "unix:/run/tfprof.sock". */
	char url[1200];
	char socket_path[108];  /* "" when there is none to remove */
	uint64_t device, inode; /* of that file, so that no other is removed */
};

void tfp_listener_init(struct tfp_listener *listener);
/* TFP_BAD_QUERY when the host is no address or the path cannot be a socket's, TFP_IO when we
 * cannot listen there. A socket file has mode 0600 from its first moment. It replaces one that a
 * dead server left. A socket that answers, and a file of another kind, is left alone. Closed by
 * tfp_listener_close. */
enum tfp_status tfp_listen(struct tfp_listener *listener, const struct tfp_listen_config *config,
			   struct tfp_error *err) TFP_CHECK;
/* Removes a socket file, so that no client finds it and a new server can take its place. The
 * descriptor stays open. May be called again. */
void tfp_listener_stop(struct tfp_listener *listener);
/* Accepts a listener that was only initialised. */
void tfp_listener_close(struct tfp_listener *listener);

#endif
