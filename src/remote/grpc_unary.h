/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unary gRPC calls over plain-text HTTP/2, by libcurl: several at once in one
 * thread, answers handed on as they arrive and never held.
 *
 *     struct tfp_grpc *g;
 *     tfp_grpc_new(&g, &err);
 *     tfp_grpc_start(g, &call, &request, &err);
 *     while (!tfp_grpc_done(call))
 *             tfp_grpc_run(g, 100);
 *     ... tfp_grpc_result(call) ...
 *     tfp_grpc_end(call);
 *     tfp_grpc_free(g);
 *
 * Protocol: gRPC over HTTP/2 (the project's PROTOCOL-HTTP2 document). One
 * message each way, never compressed; the status is in the trailers. No proxy
 * is used and no redirect followed.
 */
#ifndef TFP_REMOTE_GRPC_UNARY_H
#define TFP_REMOTE_GRPC_UNARY_H

#include "base/error.h"
#include "remote/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* gRPC's status codes, with their numbers. */
enum tfp_grpc_code {
	TFP_GRPC_OK = 0,
	TFP_GRPC_CANCELLED = 1,
	TFP_GRPC_UNKNOWN = 2,
	TFP_GRPC_INVALID_ARGUMENT = 3,
	TFP_GRPC_DEADLINE_EXCEEDED = 4,
	TFP_GRPC_NOT_FOUND = 5,
	TFP_GRPC_ALREADY_EXISTS = 6,
	TFP_GRPC_PERMISSION_DENIED = 7,
	TFP_GRPC_RESOURCE_EXHAUSTED = 8,
	TFP_GRPC_FAILED_PRECONDITION = 9,
	TFP_GRPC_ABORTED = 10,
	TFP_GRPC_OUT_OF_RANGE = 11,
	TFP_GRPC_UNIMPLEMENTED = 12,
	TFP_GRPC_INTERNAL = 13,
	TFP_GRPC_UNAVAILABLE = 14,
	TFP_GRPC_DATA_LOSS = 15,
	TFP_GRPC_UNAUTHENTICATED = 16,
};

/* Who reported the result. */
enum tfp_grpc_origin {
	TFP_GRPC_BY_SERVER,  /* the server, in its trailers */
	TFP_GRPC_BY_NETWORK, /* no connection, or it broke */
	TFP_GRPC_BY_ANSWER,  /* the answer is not gRPC */
	TFP_GRPC_BY_US,      /* deadline, cancelled, or the sink failed */
};

struct tfp_grpc_result {
	enum tfp_grpc_code code;
	enum tfp_grpc_origin origin;
	char message[512]; /* the server's, or ours; UTF-8, no control characters */
	bool sink_failed;  /* err is the sink's error */
	struct tfp_error err;
};

struct tfp_grpc_request {
	const struct tfp_target *target;
	const char *method;  /* such as "/tensorflow.ProfilerService/Profile" */
	const void *message; /* copied */
	size_t size;
	int64_t answer_ms;  /* the answer begins within this time */
	int64_t stall_ms;   /* and then never pauses for so long */
	int64_t limit_ms;   /* and is complete within this time, which the server is told */
	uint64_t max_bytes; /* of the answer's message */
	/* Takes bytes of the answer's message, in order. */
	enum tfp_status (*sink)(void *context, const void *bytes, size_t size,
				struct tfp_error *err);
	void *context;
};

struct tfp_grpc;
struct tfp_grpc_call;

enum tfp_status tfp_grpc_new(struct tfp_grpc **out, struct tfp_error *err) TFP_CHECK;
/* No call may be left. Accepts NULL. */
void tfp_grpc_free(struct tfp_grpc *g);

/* The request's target and sink must outlive the call. */
enum tfp_status tfp_grpc_start(struct tfp_grpc *g, struct tfp_grpc_call **out,
			       const struct tfp_grpc_request *request,
			       struct tfp_error *err) TFP_CHECK;
/* Moves all calls on. Returns when something happened, when it was woken, or after wait_ms. Sinks
 * are called from here. */
void tfp_grpc_run(struct tfp_grpc *g, int wait_ms);
/* Ends a tfp_grpc_run that waits; from any thread. */
void tfp_grpc_wake(struct tfp_grpc *g);

bool tfp_grpc_done(const struct tfp_grpc_call *call);
/* Whether the server has been reached. */
bool tfp_grpc_connected(const struct tfp_grpc_call *call);
/* Bytes of the answer's message so far. */
uint64_t tfp_grpc_received(const struct tfp_grpc_call *call);
/* The result of a call that is done. */
const struct tfp_grpc_result *tfp_grpc_result(const struct tfp_grpc_call *call);
/* Cancels a call that is not done. It then is done, as CANCELLED. */
void tfp_grpc_cancel(struct tfp_grpc_call *call);
/* Frees a call, and cancels it first if it is not done. Accepts NULL. */
void tfp_grpc_end(struct tfp_grpc_call *call);

/* "UNAVAILABLE", ... */
const char *tfp_grpc_code_name(enum tfp_grpc_code code);

/* Decodes grpc-message's percent-encoding. Malformed UTF-8 is replaced, control characters become
 * blanks, and the end is cut to fit. */
void tfp_grpc_decode_message(const char *text, size_t size, char *out, size_t room);

#endif
