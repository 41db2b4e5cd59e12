#include "http/server.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/answers.h"
#include "http/gate.h"
#include "http/pipe.h"
#include "store/pack.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONNECTION_THREADS 2u
#define LIGHT_THREADS      2u
#define HEAVY_THREADS      8u
/* Answers that may wait for one of these threads, in all and of one address. */
#define QUEUE_MAX        128u
#define QUEUE_MAX_CLIENT 32u
/* Downloads that are made while they are sent. Their threads wait for clients, so they are
 * apart from those that answer, and a client that takes nothing is given up. */
#define STREAMS_MAX        4u
#define STREAM_ROOM        ((size_t)1 << 20)
#define STREAM_PATIENCE_MS 30000u
#define IDLE_SECONDS       75u
#define REQUEST_MEMORY     ((size_t)1 << 20)
/* Of libmicrohttpd for a request's head: a longer one it refuses itself. */
#define HEAD_MEMORY (32 << 10)
/* Of a body; a client that goes on beyond twice as much is cut off. */
#define BODY_MAX ((size_t)64 << 10)

struct tfp_http_server {
	struct MHD_Daemon *daemon;
	struct tfp_http_app app;
	uint64_t build;
	char *prefix;
	struct tfp_listener *listener;
	struct tfp_gate gate;
	/* Apart, so that long work in one does not keep lists waiting. They are
	 * not the pool that work within an answer uses. */
	struct tfp_pool *light, *waiting, *streams;
	struct tfp_answers *answers; /* which has threads of its own for heavy work */
	struct tfp_metrics *metrics;
	struct tfp_health *health;
	struct tfp_limits *limits;
	atomic_uint streaming; /* downloads being made */
	atomic_bool stopping;
	atomic_uint active; /* requests being answered */
};

/* A body on its way: made by a job, read by libmicrohttpd. */
struct stream {
	struct tfp_http_server *server;
	struct tfp_pipe *pipe;
	struct tfp_body_stream body;
	bool gzip;
};

/* One request. Made when its first line is read, freed when libmicrohttpd is
 * done with it. While a job answers it the connection is suspended, so that
 * only one thread at a time has it. */
struct request {
	struct tfp_http_server *server;
	struct MHD_Connection *connection;
	struct tfp_client *client; /* the connection's; or NULL */
	struct tfp_arena arena;
	const char *uri, *shown, *method; /* shown: without secrets */
	struct tfp_http_target target;
	struct tfp_http_conditions conditions;
	const struct tfp_route *route;
	struct tfp_http_post post;
	struct tfp_buf body;      /* of a POST */
	size_t dropped;           /* bytes of a body that nobody wants */
	bool takes_body, is_form; /* is_form: brings the token */
	struct tfp_reply reply;
	struct tfp_pipe *pipe;           /* its body comes from here; or NULL */
	struct tfp_waiter waiter;        /* for an answer that others may want too */
	struct tfp_shared_reply *shared; /* its body is this one's; or NULL */
	enum stage { HEAD, BODY, ANSWERED } stage;
	bool counted;
	size_t sent;
	int64_t started_ns;
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
	/* The connection is closed, so that the client knows that something is missing. */
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
	struct tfp_gzip *gzip;
	if (!s->gzip)
		return s->body.write(s->body.context, &to, err);
	enum tfp_status status = tfp_gzip_new(&gzip, &to, err);
	if (status == TFP_OK)
		status = s->body.write(s->body.context, tfp_gzip_sink(gzip), err);
	if (status == TFP_OK)
		status = tfp_gzip_finish(gzip, err);
	tfp_gzip_free(gzip);
	return status;
}

static void stream_job(void *context)
{
	struct stream *s = context;
	struct tfp_metrics *metrics = s->server->metrics;
	struct tfp_error err;
	tfp_error_init(&err);
	enum tfp_status status = write_stream(s, &err);
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
	tfp_fail(err, TFP_TOO_MANY, "%u downloads are being made already", STREAMS_MAX);
	tfp_error_set_hint(err, "try again when one of them has ended");
	return TFP_TOO_MANY;
}

/* Has the reply's body made by a thread of its own; on failure the reply is an error. */
static void start_stream(struct request *r)
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
	bool counted = atomic_fetch_add(&server->streaming, 1) < STREAMS_MAX;
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

static struct MHD_Response *stream_response(struct request *r)
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

/* A body that goes to others too: nothing is copied. */
static struct MHD_Response *shared_response(struct request *r)
{
	void *body = (void *)(uintptr_t)(r->reply.fixed ? r->reply.fixed : "");
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		r->reply.fixed_size, body, drop_shared, r->shared);
	if (response)
		r->shared = NULL;
	r->sent = r->reply.fixed_size;
	return response;
}

static enum MHD_Result send_reply(struct request *r)
{
	struct MHD_Response *response;
	struct tfp_reply *reply = &r->reply;
	if (r->pipe) {
		response = stream_response(r);
	} else if (r->shared) {
		response = shared_response(r);
	} else if (reply->stream.write) {
		/* HEAD: as GET would begin. */
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
	tfp_client_phase(r->server->limits, r->client, TFP_PHASE_ANSWER, r->sent);
	enum MHD_Result result = MHD_queue_response(r->connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

/* ---- the life of a request ---- */

static void answer_job(void *context)
{
	struct request *r = context;
	tfp_route_answer(r->route, &r->server->app, r->server->build, &r->target, &r->conditions,
			 &r->reply);
	MHD_resume_connection(r->connection);
}

static void answer_is_there(struct tfp_waiter *waiter)
{
	struct request *r = waiter->context;
	r->shared = waiter->shared;
	if (r->reply.stream.write && strcmp(r->method, "GET") == 0)
		start_stream(r);
	MHD_resume_connection(r->connection);
}

/* Of an IPv6 address the part that its owner cannot choose. */
static struct tfp_client client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct tfp_client client = {{0}};
	if (info && info->client_addr && info->client_addr->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)info->client_addr;
		memcpy(client.bytes + 12, &v4->sin_addr, 4);
	} else if (info && info->client_addr && info->client_addr->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const void *)info->client_addr;
		bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
		memcpy(client.bytes, &v6->sin6_addr, mapped ? 16 : 8);
	}
	return client;
}

/* As hand_over, for answers that are made once for all that want them. */
static bool ask_for_answer(struct request *r)
{
	struct tfp_answers *answers = r->server->answers;
	const union MHD_ConnectionInfo *info;
	r->waiter = (struct tfp_waiter){
		.route = r->route,
		.target = &r->target,
		.accept_encoding = r->conditions.accept_encoding,
		.if_none_match = r->conditions.if_none_match,
		.fd = -1,
		.reply = &r->reply,
		.done = answer_is_there,
		.context = r,
	};
	if (tfp_answers_at_hand(answers, &r->waiter)) {
		r->shared = r->waiter.shared;
		return false;
	}
	info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		r->waiter.fd = info->connect_fd;
	r->waiter.client = client_of(r->connection);
	MHD_suspend_connection(r->connection);
	tfp_answers_wait(answers, &r->waiter);
	return true;
}

/* A copy of a header, as the connection's own memory is not for our threads. */
static const char *header(struct request *r, const char *name)
{
	const char *value = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
	return value ? tfp_arena_strndup(&r->arena, value, strlen(value)) : NULL;
}

static bool pass_gate(struct request *r)
{
	const struct tfp_gate_request request = {
		.method = r->method,
		.uri = r->uri,
		.target = &r->target,
		.changes = r->route && tfp_route_takes_post(r->route),
		.form = r->is_form ? tfp_buf_text(&r->body) : NULL,
	};
	return tfp_gate_check(&r->server->gate, r->connection, &request, &r->arena, &r->reply);
}

/* Makes the answer, or has it made by a job: then true, and the request is the
 * job's until the connection is resumed. */
static bool hand_over(struct request *r)
{
	struct tfp_http_server *server = r->server;
	struct tfp_error err;
	r->conditions.accept_encoding = header(r, "Accept-Encoding");
	r->conditions.if_none_match = header(r, "If-None-Match");
	if (tfp_buf_failed(&r->body)) {
		tfp_fail(&err, TFP_TOO_LARGE, "a body has at most %zu bytes", BODY_MAX);
		tfp_reply_error(&r->reply, &err);
		return false;
	}
	if (r->is_form) {
		/* It always ends in a reply of its own. */
		pass_gate(r);
		return false;
	}
	if (r->route && tfp_route_takes_post(r->route)) {
		r->post = (struct tfp_http_post){
			.posted = r->takes_body,
			.body = tfp_buf_text(&r->body),
			.size = r->body.size,
		};
		r->conditions.post = &r->post;
	}
	if (!r->route) {
		tfp_route_answer_static(&r->target, &r->conditions, &r->reply);
		return false;
	}
	enum tfp_route_cost cost = tfp_route_cost(r->route);
	if (cost == TFP_ROUTE_INSTANT) {
		tfp_route_answer(r->route, &server->app, server->build, &r->target, &r->conditions,
				 &r->reply);
		return false;
	}
	tfp_client_phase(server->limits, r->client, TFP_PHASE_WORK, 0);
	if (cost == TFP_ROUTE_HEAVY)
		return ask_for_answer(r);
	MHD_suspend_connection(r->connection);
	struct tfp_pool *pool = server->light;
	if (cost == TFP_ROUTE_WAITS && !r->takes_body)
		pool = server->waiting;
	if (tfp_pool_submit(pool, answer_job, r, &err) != TFP_OK) {
		tfp_reply_error(&r->reply, &err);
		MHD_resume_connection(r->connection);
	}
	return true;
}

/* Looks at the first line; false when the reply is made already. */
static bool accept_request(struct request *r)
{
	struct tfp_error err;
	bool get = strcmp(r->method, "GET") == 0, head = strcmp(r->method, "HEAD") == 0;
	bool post = strcmp(r->method, "POST") == 0;
	enum tfp_status status =
		tfp_http_target_parse(&r->target, r->uri, r->server->prefix, &r->arena, &err);
	r->route = status == TFP_OK ? tfp_route_find(r->target.path) : NULL;
	r->is_form = status == TFP_OK &&
		     tfp_access_is_form(r->server->gate.access, r->method, r->target.path);
	r->takes_body = r->is_form || (post && r->route && tfp_route_takes_post(r->route));
	bool known = get || head || r->is_form;
	if (r->route)
		known = r->takes_body || (known && tfp_route_takes_get(r->route) &&
					  !(head && tfp_route_takes_post(r->route)));
	if (!known) {
		const char *allow = r->route ? tfp_route_methods(r->route) : "GET, HEAD";
		tfp_fail(&err, TFP_BAD_QUERY, "here only %s is answered", allow);
		tfp_reply_error(&r->reply, &err);
		r->reply.status = 405;
		r->reply.allow = allow;
		return false;
	}
	if (status != TFP_OK) {
		tfp_reply_error(&r->reply, &err);
		return false;
	}
	return r->is_form || pass_gate(r);
}

/* A piece of a body; false when the client is to be cut off. */
static bool take_body(struct request *r, const char *bytes, size_t size)
{
	if (!r->takes_body)
		return true;
	tfp_buf_add(&r->body, bytes, size);
	if (!tfp_buf_failed(&r->body))
		return true;
	r->dropped += size;
	return r->dropped <= 2 * BODY_MAX;
}

/* Called when the head of a request is read, for every piece of its body, at its
 * end, and after a suspension. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct request *r = *state;
	(void)context;
	(void)url;
	(void)version;
	if (!r)
		return MHD_NO; /* there was no memory for it */
	switch (r->stage) {
	case HEAD:
		r->stage = BODY;
		r->connection = connection;
		r->method = tfp_arena_strndup(&r->arena, method, strlen(method));
		if (!r->method)
			return MHD_NO;
		r->counted = true;
		tfp_client_phase(r->server->limits, r->client, TFP_PHASE_BODY, 0);
		atomic_fetch_add(&r->server->active, 1);
		tfp_metrics_add(r->server->metrics, TFP_METRIC_IN_FLIGHT, 1);
		/* At once where it is refused: a body may be long. */
		return accept_request(r) ? MHD_YES : send_reply(r);
	case BODY:
		if (*upload_size) {
			bool goes_on = take_body(r, upload, *upload_size);
			*upload_size = 0;
			return goes_on ? MHD_YES : MHD_NO;
		}
		r->stage = ANSWERED;
		return hand_over(r) ? MHD_YES : send_reply(r);
	case ANSWERED:
		break;
	}
	return send_reply(r);
}

static void *first_line(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct tfp_http_server *server = context;
	struct request *r = tfp_calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->server = server;
	r->client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			    ->socket_context;
	tfp_client_phase(server->limits, r->client, TFP_PHASE_HEAD, 0);
	r->started_ns = tfp_clock_monotonic_ns();
	tfp_arena_init(&r->arena, REQUEST_MEMORY);
	tfp_reply_init(&r->reply);
	tfp_buf_init(&r->body, BODY_MAX);
	r->uri = tfp_arena_strndup(&r->arena, uri, strlen(uri));
	char *shown = tfp_arena_strndup(&r->arena, uri, strlen(uri));
	r->shown = shown;
	if (shown)
		tfp_access_mask(shown);
	if (!r->uri || !shown) {
		tfp_arena_release(&r->arena);
		tfp_free(r);
		return NULL;
	}
	return r;
}

static enum MHD_Result admit(void *context, const struct sockaddr *address, socklen_t size)
{
	struct tfp_http_server *server = context;
	(void)size;
	return tfp_limits_admit(server->limits, address) ? MHD_YES : MHD_NO;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **state,
			       enum MHD_ConnectionNotificationCode code)
{
	struct tfp_http_server *server = context;
	bool begins = code == MHD_CONNECTION_NOTIFY_STARTED;
	if (begins) {
		int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;
		*state = tfp_limits_enter(
			server->limits, fd,
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
				->client_addr);
	} else {
		tfp_limits_leave(server->limits, *state);
	}
	tfp_metrics_add(server->metrics, TFP_METRIC_CONNECTIONS, begins ? 1 : -1);
	tfp_metrics_add(server->metrics, TFP_METRIC_ACCEPTED, begins);
}

static void log_request(struct request *r, size_t sent, double ms, bool whole)
{
	char client[TFP_ADDRESS_TEXT];
	tfp_address_text(MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
				 ->client_addr,
			 client);
	const struct tfp_log_field fields[] = {
		{"status", NULL, r->reply.status},
		{"bytes", NULL, (double)sent},
		{"ms", NULL, ms},
		{"client", client, 0},
		{"end", whole ? "whole" : "cut_off", 0},
		{"method", r->method ? r->method : "?", 0},
		{"path", r->shown, 0},
	};
	tfp_log_event("request", fields, sizeof(fields) / sizeof(fields[0]),
		      "%s %s %u %zu %.1f ms%s", r->method ? r->method : "?", r->shown,
		      r->reply.status, sent, ms, whole ? "" : " (cut off)");
}

static void count_request(const struct request *r, size_t sent, int64_t duration_ns, bool whole)
{
	struct tfp_metrics *metrics = r->server->metrics;
	unsigned route = tfp_route_count();
	if (r->route)
		route = tfp_route_number(r->route);
	else if (r->reply.status >= 400)
		route++; /* neither a route nor a file of the page */
	tfp_metrics_request(metrics, route, r->reply.status, duration_ns);
	tfp_metrics_add(metrics, TFP_METRIC_BODY_BYTES, (int64_t)sent);
	tfp_metrics_add(metrics, TFP_METRIC_CUT_OFF, !whole);
	tfp_metrics_add(metrics, TFP_METRIC_IN_FLIGHT, -1);
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
		      enum MHD_RequestTerminationCode code)
{
	struct request *r = *state;
	(void)context;
	(void)connection;
	if (!r)
		return;
	if (r->counted) {
		bool head = r->method && strcmp(r->method, "HEAD") == 0;
		bool whole = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
		int64_t duration_ns = tfp_clock_monotonic_ns() - r->started_ns;
		size_t sent = head ? 0 : r->sent;
		if (tfp_log_is_verbose())
			log_request(r, sent, (double)duration_ns / 1e6, whole);
		count_request(r, sent, duration_ns, whole);
		atomic_fetch_sub(&r->server->active, 1);
	}
	tfp_client_phase(r->server->limits, r->client, TFP_PHASE_IDLE, 0);
	*state = NULL;
	if (r->pipe) /* it was never sent */
		tfp_pipe_abandon(r->pipe);
	tfp_shared_reply_unref(r->shared);
	tfp_reply_release(&r->reply);
	tfp_buf_release(&r->body);
	tfp_arena_release(&r->arena);
	tfp_free(r);
}

__attribute__((format(printf, 2, 0))) static void log_line(void *context, const char *format,
							   va_list args)
{
	char line[512];
	(void)context;
	vsnprintf(line, sizeof(line), format, args);
	size_t size = strlen(line);
	if (size && line[size - 1] == '\n')
		line[size - 1] = '\0';
	/* A thread without connections tries again at once when there is no descriptor for one,
	 * and would do nothing else. */
	if (strstr(line, "resource limit"))
		nanosleep(&(const struct timespec){.tv_nsec = 20000000}, NULL);
	tfp_log_verbose("http: %s", line);
}

enum tfp_status tfp_http_server_start(struct tfp_http_server **out,
				      const struct tfp_http_config *config,
				      const struct tfp_http_app *app, struct tfp_error *err)
{
	struct tfp_http_server *server = tfp_calloc(1, sizeof(*server));
	*out = NULL;
	if (!server)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	server->listener = config->listener;
	server->app = *app;
	server->build = config->build;
	server->prefix = tfp_strdup(config->url_prefix);
	enum tfp_status status = TFP_OK;
	server->metrics = tfp_metrics_new(tfp_route_path, tfp_route_count());
	if (!server->prefix || !server->metrics)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	if (status == TFP_OK)
		status = tfp_health_new(&server->health, app->dir, err);
	if (status == TFP_OK)
		status = tfp_limits_new(&server->limits, &config->limits, server->metrics, err);
	server->app.metrics = server->metrics;
	server->app.health = server->health;
	if (status == TFP_OK)
		status = tfp_gate_init(&server->gate, config->access, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&server->light, LIGHT_THREADS, err);
	const struct tfp_answers_config answers = {
		.app = &server->app,
		.build = config->build,
		.memory_bytes = config->answer_bytes,
		.threads = HEAVY_THREADS,
		.queue_max = QUEUE_MAX,
		.client_max = QUEUE_MAX_CLIENT,
	};
	if (status == TFP_OK)
		status = tfp_answers_new(&server->answers, &answers, err);
	server->app.answers = server->answers;
	if (status == TFP_OK)
		status = tfp_pool_new(&server->waiting, TFP_CAPTURES_AT_ONCE, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&server->streams, STREAMS_MAX, err);
	if (status != TFP_OK) {
		tfp_http_server_free(server);
		return status;
	}
	/* Ours is the limit that counts: a thread that reaches its own takes nobody any more,
	 * not even one for whom there would be room. */
	unsigned most = tfp_limits_connections(server->limits);
	most = CONNECTION_THREADS * (most + most / 10 + 8);
	const struct MHD_OptionItem options[] = {
		/* First, so that it is there for what the others complain about. */
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)log_line, NULL},
		{MHD_OPTION_LISTEN_SOCKET, server->listener->fd, NULL},
		{MHD_OPTION_THREAD_POOL_SIZE, CONNECTION_THREADS, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, most, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MEMORY, NULL},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)first_line, server},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, server},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection_changed, server},
		{MHD_OPTION_END, 0, NULL},
	};
	const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
	const struct MHD_OptionItem encrypted[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, config->tls ? config->tls->certificate : NULL},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, config->tls ? config->tls->key : NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TFP_TLS_PRIORITIES},
		{MHD_OPTION_END, 0, NULL},
	};
	server->daemon =
		MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
					 MHD_USE_ERROR_LOG | (config->tls ? MHD_USE_TLS : 0),
				 0, admit, server, handle, server, MHD_OPTION_ARRAY, options,
				 MHD_OPTION_ARRAY, config->tls ? encrypted : plain, MHD_OPTION_END);
	if (!server->daemon) {
		tfp_http_server_free(server);
		return tfp_fail(err, TFP_IO, "cannot start the HTTP server");
	}
	*out = server;
	return TFP_OK;
}

void tfp_http_server_stop(struct tfp_http_server *server)
{
	tfp_health_stop(server->health);
	/* Its workers may still be about to look at the descriptor: new clients are
	 * refused, but it is closed only when they have ended. */
	if (MHD_quiesce_daemon(server->daemon) >= 0)
		tfp_listener_stop(server->listener);
}

bool tfp_http_server_idle(const struct tfp_http_server *server)
{
	return atomic_load(&server->active) == 0 && tfp_health_idle(server->health);
}

void tfp_http_server_free(struct tfp_http_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		tfp_http_server_stop(server);
	atomic_store(&server->stopping, true);
	/* The jobs first: libmicrohttpd must not be stopped while it has
	 * suspended connections. */
	tfp_pool_free(server->light);
	tfp_answers_free(server->answers);
	tfp_pool_free(server->streams);
	tfp_pool_free(server->waiting);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	tfp_gate_release(&server->gate);
	tfp_health_free(server->health);
	tfp_limits_free(server->limits);
	tfp_metrics_free(server->metrics);
	tfp_free(server->prefix);
	tfp_free(server);
}
