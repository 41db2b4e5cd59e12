/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/monitor.h"

#include "remote/grpc_unary.h"
#include "remote/profiler_errors.h"
#include "remote/profiler_messages.h"

#define MONITOR "/tensorflow.ProfilerService/Monitor"

#define TICK_MS       100
#define GRACE_MS      60000u /* for the answer, after the duration */
#define REQUEST_BYTES ((size_t)64 << 10)
#define ANSWER_BYTES  ((size_t)64 << 10)

static enum tfp_status take_text(void *context, const void *bytes, size_t size,
				 struct tfp_error *err)
{
	struct tfp_buf *buf = context;
	tfp_buf_add(buf, bytes, size);
	return tfp_buf_failed(buf) ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer")
				   : TFP_OK;
}

static enum tfp_status monitor_failed(const struct tfp_target *target,
				      const struct tfp_grpc_result *r, struct tfp_error *err)
{
	if (r->code == TFP_GRPC_UNIMPLEMENTED) {
		tfp_fail(err, TFP_NOT_APPLICABLE, "%s: the program cannot be monitored",
			 target->text);
		tfp_error_set_hint(err, "%s",
				   r->origin == TFP_GRPC_BY_SERVER
					   ? "only TPU runtimes can; capture a profile instead"
					   : tfp_profiler_hint(r));
		return TFP_NOT_APPLICABLE;
	}
	tfp_fail(err, TFP_IO, "%s: %s%s%s", target->text,
		 r->origin == TFP_GRPC_BY_SERVER ? tfp_grpc_code_name(r->code) : "",
		 r->origin == TFP_GRPC_BY_SERVER && r->message[0] ? ": " : "", r->message);
	tfp_error_set_hint(err, "%s", tfp_profiler_hint(r));
	return TFP_IO;
}

enum tfp_status tfp_monitor(const struct tfp_target *target, uint32_t duration_ms, int level,
			    struct tfp_buf *text, struct tfp_error *err)
{
	struct tfp_grpc *g;
	struct tfp_grpc_call *call = NULL;
	struct tfp_buf request, answer;
	enum tfp_status status = tfp_grpc_new(&g, err);
	if (status != TFP_OK)
		return status;
	tfp_buf_init(&request, REQUEST_BYTES);
	tfp_buf_init(&answer, ANSWER_BYTES);
	status = tfp_encode_monitor_request(&request, duration_ms, level, err);
	if (status == TFP_OK) {
		int64_t limit_ms = (int64_t)duration_ms + GRACE_MS;
		const struct tfp_grpc_request r = {
			.target = target,
			.method = MONITOR,
			.message = request.data,
			.size = request.size,
			.answer_ms = limit_ms,
			.stall_ms = limit_ms,
			.limit_ms = limit_ms,
			.max_bytes = ANSWER_BYTES,
			.sink = take_text,
			.context = &answer,
		};
		status = tfp_grpc_start(g, &call, &r, err);
	}
	if (status == TFP_OK) {
		while (!tfp_grpc_done(call))
			tfp_grpc_run(g, TICK_MS);
		if (tfp_grpc_result(call)->code != TFP_GRPC_OK)
			status = monitor_failed(target, tfp_grpc_result(call), err);
		else
			status = tfp_decode_monitor_response(answer.data, answer.size, text, err);
	}
	tfp_grpc_end(call);
	tfp_grpc_free(g);
	tfp_buf_release(&answer);
	tfp_buf_release(&request);
	return status;
}
