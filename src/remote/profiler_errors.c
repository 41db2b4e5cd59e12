/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/profiler_errors.h"

#include <string.h>

static bool says(const char *text, const char *what)
{
	return strcasestr(text, what) != NULL;
}

bool tfp_profiler_is_busy(const struct tfp_grpc_result *r)
{
	return r->origin == TFP_GRPC_BY_SERVER &&
	       (r->code == TFP_GRPC_ALREADY_EXISTS ||
		says(r->message, "profiling session active") ||
		(says(r->message, "session") && says(r->message, "already active")) ||
		says(r->message, "only one profile"));
}

bool tfp_profiler_is_retryable(const struct tfp_grpc_result *r)
{
	return r->code == TFP_GRPC_UNAVAILABLE || r->code == TFP_GRPC_ALREADY_EXISTS ||
	       (r->code == TFP_GRPC_UNKNOWN && strcmp(r->message, "Stream removed") == 0);
}

const char *tfp_profiler_hint(const struct tfp_grpc_result *r)
{
	switch (r->origin) {
	case TFP_GRPC_BY_NETWORK:
		return "is the program running, has it started its profiler server, and is this "
		       "the server's port?";
	case TFP_GRPC_BY_ANSWER:
		return "is this the port of the profiler server, and not of TensorBoard or "
		       "something else?";
	case TFP_GRPC_BY_US:
		return r->code == TFP_GRPC_DEADLINE_EXCEEDED
			       ? "the program may be stuck, or its clock may be behind this "
				 "machine's; a shorter duration is collected faster"
			       : "";
	case TFP_GRPC_BY_SERVER:
		break;
	}
	if (r->code == TFP_GRPC_UNIMPLEMENTED)
		return "a gRPC server answers there, but no profiler: is this the right port?";
	if (r->code == TFP_GRPC_RESOURCE_EXHAUSTED)
		return "try a shorter duration or lower tracer levels";
	return "";
}
