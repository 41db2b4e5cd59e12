/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the server share. Nobody else includes this.
 *
 *     server.c        its start and end
 *     exchange.c      the life of a request
 *     send.c          from a reply to libmicrohttpd, and bodies made while they are sent
 *     exchange_log.c  a request in log and metrics
 */
#ifndef TFP_HTTP_SERVER_PARTS_H
#define TFP_HTTP_SERVER_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/gate.h"
#include "http/health.h"
#include "http/intake.h"
#include "http/jobs.h"
#include "http/limits.h"
#include "http/metrics.h"
#include "http/page.h"
#include "http/pipe.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/router.h"
#include "http/server.h"
#include "http/shared_reply.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Downloads at a time. Their threads wait for clients, so these are not the threads that make
 * answers, and a client that takes nothing is given up. */
#define TFP_STREAMS_MAX 4u

struct tfp_http_server {
	struct MHD_Daemon *daemon;
	struct tfp_http_app app;
	uint64_t build;
	bool encrypted;
	char *prefix;
	struct tfp_listener *listener;
	struct tfp_gate gate;
	/* Pools of their own, so that long work does not keep lists waiting. app.pool is another
	 * one: it works within answers. */
	struct tfp_pool *light, *waiting, *streams;
	struct tfp_jobs *jobs; /* heavy work; it has threads of its own */
	struct tfp_metrics *metrics;
	struct tfp_health *health;
	struct tfp_limits *limits;
	atomic_uint streaming; /* downloads being made */
	/* First closing: connections end with their reply. Then stopping: no request is handed over
	 * any more. A thread that hands one over holds the lock for reading. */
	atomic_bool closing, stopping;
	pthread_rwlock_t handing_over;
	atomic_uint active; /* requests being answered */
};

/* One request. It is made when its first line is read, and freed when libmicrohttpd is done with
 * it. While a job answers it the connection is suspended, so one thread at a time has it. */
struct tfp_exchange {
	struct tfp_http_server *server;
	struct MHD_Connection *connection;
	struct tfp_intake *intake; /* the connection's; or NULL */
	struct tfp_client *client; /* the same */
	unsigned number;           /* of the request on its connection, from 1 */
	struct tfp_arena arena;
	const char *uri, *shown, *method; /* shown: without secrets */
	struct tfp_http_target target;
	struct tfp_http_conditions conditions;
	const struct tfp_route *route;
	struct tfp_http_post post;
	struct tfp_buf body;      /* of a POST */
	size_t dropped;           /* bytes of a body that was too long */
	bool takes_body, is_form; /* is_form: brings the token */
	struct tfp_reply reply;
	struct tfp_pipe *pipe;           /* the source of its body; or NULL */
	struct tfp_waiter waiter;        /* for an answer that others may want, too */
	struct tfp_shared_reply *shared; /* the owner of its body; or NULL */
	enum { TFP_EXCHANGE_HEAD, TFP_EXCHANGE_BODY, TFP_EXCHANGE_ANSWERED } state;
	bool counted, refused; /* refused: before it was understood */
	size_t sent;
	int64_t started_ns;
};

/* ---- exchange.c: libmicrohttpd's callbacks for a request ---- */

/* Its first line has come. Returns the request, or NULL without memory. context: the server. */
void *tfp_exchange_begin(void *context, const char *uri, struct MHD_Connection *connection);
/* Called when the head of a request is read, for every piece of its body, at its
 * end, and after a suspension. */
enum MHD_Result tfp_exchange_handle(void *context, struct MHD_Connection *connection,
				    const char *url, const char *method, const char *version,
				    const char *upload, size_t *upload_size, void **state);
/* Counts, logs and frees it. */
void tfp_exchange_end(void *context, struct MHD_Connection *connection, void **state,
		      enum MHD_RequestTerminationCode code);

/* ---- send.c ---- */

/* Has the reply's body made by a thread of its own. On failure makes the reply an error. */
void tfp_exchange_stream(struct tfp_exchange *r);
/* Gives the reply to libmicrohttpd, which sends it. */
enum MHD_Result tfp_exchange_send(struct tfp_exchange *r);

/* ---- exchange_log.c ---- */

/* Writes a line, if the log is verbose. whole: the client got all of the answer. */
void tfp_exchange_log(struct tfp_exchange *r, size_t sent_bytes, int64_t duration_ns, bool whole);
void tfp_exchange_count(const struct tfp_exchange *r, size_t sent_bytes, int64_t duration_ns,
			bool whole);

#endif
