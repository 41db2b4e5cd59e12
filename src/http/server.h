/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server: libmicrohttpd's threads, and our threads for answers that take time. While
 * such an answer is made its connection sleeps, so that no connection waits for another.
 *
 *     struct tfp_http_server *server;
 *     tfp_http_server_start(&server, &config, &app, &err);
 *     puts(listener.url);
 *     ...
 *     tfp_http_server_stop(server);
 *     while (!tfp_http_server_idle(server))
 *             ...
 *     tfp_http_server_free(server);
 */
#ifndef TFP_HTTP_SERVER_H
#define TFP_HTTP_SERVER_H

#include "base/error.h"
#include "http/access.h"
#include "http/app.h"
#include "http/limits.h"
#include "http/listen.h"
#include "http/tls.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_http_config {
	struct tfp_listener *listener; /* borrowed; stopped with the server */
	struct tfp_access *access;     /* who gets in; borrowed */
	const struct tfp_tls *tls;     /* NULL: plain; borrowed */
	const char *url_prefix;        /* "" or "/something" */
	uint64_t build;                /* tells one build of the program from another */
	size_t answer_bytes;           /* that finished answers in memory may take */
	struct tfp_limits_config limits;
};

struct tfp_http_server;

/* The server answers when this returns. config may go away; what it and app point to may not. Owned
 * by the caller. */
enum tfp_status tfp_http_server_start(struct tfp_http_server **out,
				      const struct tfp_http_config *config,
				      const struct tfp_http_app *app,
				      struct tfp_error *err) TFP_CHECK;
/* From now on takes no new connections. */
void tfp_http_server_stop(struct tfp_http_server *server);
/* Whether no request is being answered. */
bool tfp_http_server_idle(const struct tfp_http_server *server);
/* Waits for answers that are being made, closes all connections and frees. Accepts NULL. */
void tfp_http_server_free(struct tfp_http_server *server);

#endif
