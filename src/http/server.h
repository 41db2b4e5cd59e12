/*
 * The HTTP server: libmicrohttpd's threads, and our threads for
 * answers that take time. While one of those is made its connection sleeps, so
 * that no connection waits for another.
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
#include "http/limits.h"
#include "http/listen.h"
#include "http/router.h"
#include "http/tls.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_http_config {
	struct tfp_listener *listener; /* borrowed; stopped with the server */
	struct tfp_access *access;     /* who gets in; borrowed */
	const struct tfp_tls *tls;     /* NULL: plain; borrowed */
	const char *url_prefix;        /* "" or "/something" */
	uint64_t build;                /* as tfp_route_answer's */
	size_t answer_bytes;           /* that finished answers in memory may take */
	struct tfp_limits_config limits;
};

struct tfp_http_server;

/* Answers when it returns. config may go away, what it and app point to not. Owned by
 * the caller. */
enum tfp_status tfp_http_server_start(struct tfp_http_server **out,
				      const struct tfp_http_config *config,
				      const struct tfp_http_app *app,
				      struct tfp_error *err) TFP_CHECK;
/* Takes no new connections any more. */
void tfp_http_server_stop(struct tfp_http_server *server);
/* Whether no request is being answered. */
bool tfp_http_server_idle(const struct tfp_http_server *server);
/* Closes all connections and frees; waits for answers that are being made.
 * Accepts NULL. */
void tfp_http_server_free(struct tfp_http_server *server);

#endif
