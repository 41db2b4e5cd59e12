/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/budget.h"
#include "base/log.h"
#include "http/server_parts.h"
#include "store/pack.h"

#include <stdio.h>

#define STREAM_ROOM        ((size_t)1 << 20)
#define STREAM_PATIENCE_MS 30000u

/* A body that a job makes while libmicrohttpd sends it. */
struct stream {
	struct tfp_http_server *server;
	struct tfp_pipe *pipe;
	struct tfp_body_stream body;
	bool gzip;
};

/* ---- from a reply to libmicrohttpd ---- */

static void add_headers(const struct tfp_gate *gate, struct MHD_Response *response,
			const struct tfp_reply *reply)
{
	static const char *const encodings[] = {[TFP_HTTP_GZIP] = "gzip", [TFP_HTTP_ZSTD] = "zstd"};
	tfp_gate_add_headers(gate, response, reply);
	if (reply->status != 304)
		MHD_add_response_header(response, "Content-Type", reply->content_type);
	if (reply->encoding != TFP_HTTP_IDENTITY)
		MHD_add_response_header(response, "Content-Encoding", encodings[reply->encoding]);
	if (reply->varies)
		MHD_add_response_header(response, "Vary", "Accept-Encoding");
	if (reply->etag[0])
		MHD_add_response_header(response, "ETag", reply->etag);
	if (reply->retry_after_s) {
		char seconds[16];
		snprintf(seconds, sizeof(seconds), "%u", reply->retry_after_s);
		MHD_add_response_header(response, "Retry-After", seconds);
	}
	if (reply->location)
		MHD_add_response_header(response, "Location", reply->location);
	if (reply->allow)
		MHD_add_response_header(response, "Allow", reply->allow);
	if (reply->download[0]) {
		char value[sizeof(reply->download) + 32];
		snprintf(value, sizeof(value), "attachment; filename=\"%s\"", reply->download);
		MHD_add_response_header(response, "Content-Disposition", value);
	}
}

/* ---- bodies that are made while they are sent ---- */

/* Called with the pipe's lock: nothing wakes the connection before it sleeps. */
static void sleep_connection(void *context)
{
	MHD_suspend_connection(context);
}

static void wake_connection(void *context)
{
	MHD_resume_connection(context);
}

/* libmicrohttpd's end of a stream. */
struct source {
	struct tfp_pipe *pipe;
	struct tfp_limits *limits;
	struct tfp_client *client;
};

static ssize_t read_stream(void *context, uint64_t at, char *to, size_t room)
{
	struct source *source = context;
	size_t size;
	(void)at;
	switch (tfp_pipe_read(source->pipe, to, room, &size)) {
	case TFP_PIPE_DATA:
		tfp_client_phase(source->limits, source->client, TFP_PHASE_ANSWER, size);
		return (ssize_t)size;
	case TFP_PIPE_EMPTY:
		tfp_client_phase(source->limits, source->client, TFP_PHASE_WORK, 0);
		return 0;
	case TFP_PIPE_END:
		return MHD_CONTENT_READER_END_OF_STREAM;
	case TFP_PIPE_BROKEN:
		break;
	}
	/* Closes the connection, so that the client knows that something is missing. */
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void abandon_stream(void *context)
{
	struct source *source = context;
	tfp_pipe_abandon(source->pipe);
	tfp_free(source);
}

static enum tfp_status write_counted(void *context, const void *bytes, size_t size,
				     struct tfp_error *err)
{
	struct stream *s = context;
	tfp_metrics_add(s->server->metrics, TFP_METRIC_BODY_BYTES, (int64_t)size);
	return tfp_pipe_write(s->pipe, bytes, size, err);
}

static enum tfp_status write_stream(struct stream *s, struct tfp_error *err)
{
	const struct tfp_sink to = {write_counted, s};
	return s->gzip ? tfp_gzip_all(&to, s->body.write, s->body.context, err)
		       : s->body.write(s->body.context, &to, err);
}

static void stream_job(void *context)
{
	struct stream *s = context;
	struct tfp_metrics *metrics = s->server->metrics;
	struct tfp_error err;
	struct tfp_account account = {.small = true};
	tfp_error_init(&err);
	tfp_account_enter(&account);
	enum tfp_status status = write_stream(s, &err);
	tfp_account_enter(NULL);
	if (status != TFP_OK)
		tfp_log_verbose("a download ends early: %s", err.message);
	s->body.free(s->body.context);
	tfp_pipe_close(s->pipe, status == TFP_OK);
	atomic_fetch_sub(&s->server->streaming, 1);
	tfp_metrics_add(metrics, TFP_METRIC_DOWNLOADS, -1);
	tfp_free(s);
}

static enum tfp_status refuse_stream(struct tfp_error *err)
{
	tfp_fail(err, TFP_TOO_MANY, "%u downloads are already under way", TFP_STREAMS_MAX);
	tfp_error_set_hint(err, "try again when one of them has ended");
	return TFP_TOO_MANY;
}

void tfp_exchange_stream(struct tfp_exchange *r)
{
	struct tfp_http_server *server = r->server;
	const struct tfp_pipe_config config = {.room = STREAM_ROOM,
					       .patience_ms = STREAM_PATIENCE_MS,
					       .stop = &server->stopping,
					       .sleep = sleep_connection,
					       .wake = wake_connection,
					       .context = r->connection};
	struct tfp_error err;
	struct stream *s = tfp_calloc(1, sizeof(*s));
	enum tfp_status status = TFP_OK;
	bool counted = atomic_fetch_add(&server->streaming, 1) < TFP_STREAMS_MAX;
	if (!counted)
		status = refuse_stream(&err);
	else if (!s)
		status = tfp_fail(&err, TFP_NO_MEMORY, "no memory for a download");
	if (status == TFP_OK)
		status = tfp_pipe_new(&r->pipe, &config, &err);
	if (status == TFP_OK) {
		*s = (struct stream){server, r->pipe, r->reply.stream,
				     r->reply.encoding == TFP_HTTP_GZIP};
		tfp_metrics_add(server->metrics, TFP_METRIC_DOWNLOADS, 1);
		status = tfp_pool_submit(server->streams, stream_job, s, &err);
		if (status != TFP_OK) {
			tfp_metrics_add(server->metrics, TFP_METRIC_DOWNLOADS, -1);
			tfp_pipe_close(r->pipe, false);
			tfp_pipe_abandon(r->pipe);
			r->pipe = NULL;
		}
	}
	if (status != TFP_OK) {
		atomic_fetch_sub(&server->streaming, 1);
		tfp_free(s);
		tfp_reply_error(&r->reply, &err);
		return;
	}
	r->reply.stream = (struct tfp_body_stream){0}; /* the job's now */
}

static struct MHD_Response *stream_response(struct tfp_exchange *r)
{
	struct source *source = tfp_malloc(sizeof(*source));
	if (!source)
		return NULL;
	*source = (struct source){r->pipe, r->server->limits, r->client};
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 64 << 10, read_stream, source, abandon_stream);
	if (response)
		r->pipe = NULL;
	else
		tfp_free(source);
	return response;
}

static ssize_t read_nothing(void *context, uint64_t at, char *to, size_t room)
{
	(void)context;
	(void)at;
	(void)to;
	(void)room;
	return MHD_CONTENT_READER_END_OF_STREAM;
}

static void drop_shared(void *context)
{
	tfp_shared_reply_unref(context);
}

/* Others are sent the same body: nothing is copied. */
static struct MHD_Response *shared_response(struct tfp_exchange *r)
{
	void *body = (void *)(uintptr_t)(r->reply.fixed ? r->reply.fixed : "");
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		r->reply.fixed_size, body, drop_shared, r->shared);
	if (response)
		r->shared = NULL;
	r->sent = r->reply.fixed_size;
	return response;
}

enum MHD_Result tfp_exchange_send(struct tfp_exchange *r)
{
	struct MHD_Response *response;
	struct tfp_reply *reply = &r->reply;
	if (r->pipe) {
		response = stream_response(r);
	} else if (r->shared) {
		response = shared_response(r);
	} else if (reply->stream.write) {
		/* HEAD: the headers that GET would have. */
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_nothing,
							     NULL, NULL);
	} else if (reply->fixed) {
		response = MHD_create_response_from_buffer(
			reply->fixed_size, (void *)(uintptr_t)reply->fixed, MHD_RESPMEM_PERSISTENT);
		r->sent = reply->fixed_size;
	} else {
		char *body = tfp_buf_take(&reply->body, &r->sent);
		response =
			MHD_create_response_from_buffer_with_free_callback(r->sent, body, tfp_free);
		if (!response)
			tfp_free(body);
	}
	if (!response)
		return MHD_NO; /* no memory: the connection is closed */
	add_headers(&r->server->gate, response, reply);
	/* After a request that makes no sense nothing else makes sense. */
	if (atomic_load(&r->server->closing) || r->refused || reply->status == 400 ||
	    tfp_intake_is_last(r->intake, r->number))
		MHD_add_response_header(response, "Connection", "close");
	tfp_client_phase(r->server->limits, r->client, TFP_PHASE_ANSWER, r->sent);
	enum MHD_Result result = MHD_queue_response(r->connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}
