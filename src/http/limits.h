/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits connections, in number and in time. Each connection is in a phase, and most phases have
 * to end in time, whatever bytes dribble in. A thread, which runs only while somebody is
 * connected, shuts sockets that are late. When places become few, connections that do nothing
 * lose theirs: those between requests first, then those that have not sent a request yet.
 *
 * It knows sockets and addresses, and nothing of HTTP.
 */
#ifndef TFP_HTTP_LIMITS_H
#define TFP_HTTP_LIMITS_H

#include "base/error.h"
#include "http/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* For per_client: as the defaults say. */
#define TFP_PER_CLIENT_DEFAULT UINT32_MAX

struct tfp_limits_config {
	/* In all. There are fewer if the process may not have as many descriptors. */
	unsigned connections;
	/* From one network (see network.h), 0: any number. TFP_PER_CLIENT_DEFAULT:
	 * 64, and any number from this machine. */
	unsigned per_client;
	unsigned head_ms;     /* from connecting, or from a request's first line, to its end */
	unsigned body_ms;     /* from there to the end of its body */
	unsigned answer_ms;   /* to take an answer, besides what its size allows */
	unsigned idle_ms;     /* between requests */
	unsigned bytes_per_s; /* the slowest that an answer may be taken at */
};

/* The server's limits without options. */
struct tfp_limits_config tfp_limits_defaults(void);

struct tfp_limits;
struct tfp_client; /* one connection */

enum tfp_phase {
	TFP_PHASE_HEAD,   /* we wait for a request's head */
	TFP_PHASE_BODY,   /* we wait for its body */
	TFP_PHASE_WORK,   /* we make the answer: no limit */
	TFP_PHASE_ANSWER, /* the client takes the answer */
	TFP_PHASE_IDLE,   /* between requests */
};

/* metrics must outlive it. Owned by the caller. */
enum tfp_status tfp_limits_new(struct tfp_limits **out, const struct tfp_limits_config *config,
			       struct tfp_metrics *metrics, struct tfp_error *err) TFP_CHECK;
/* After the last client has left. Accepts NULL. */
void tfp_limits_free(struct tfp_limits *limits);
/* Connections in all, as descriptors allow. */
unsigned tfp_limits_connections(const struct tfp_limits *limits);

/* Whether another connection from there may be taken; makes room if it can. Thread-safe,
 * as all that follow. */
bool tfp_limits_admit(struct tfp_limits *limits, const struct sockaddr *address);
/* A connection begins, in TFP_PHASE_HEAD. It is shut at once if others from its address took its
 * place since it was admitted. NULL without memory: then it is not counted. */
struct tfp_client *tfp_limits_enter(struct tfp_limits *limits, int fd,
				    const struct sockaddr *address);
/* A connection ends. Close fd only after that. Accepts client == NULL. */
void tfp_limits_leave(struct tfp_limits *limits, struct tfp_client *client);

/* Begins a connection's next phase. bytes: of the answer or its next piece, for
 * TFP_PHASE_ANSWER. TFP_PHASE_HEAD within TFP_PHASE_HEAD gives no more time. Takes no lock. Accepts
 * client == NULL. */
void tfp_client_phase(struct tfp_limits *limits, struct tfp_client *client, enum tfp_phase phase,
		      size_t bytes);

#endif
