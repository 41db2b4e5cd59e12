/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/server_parts.h"

#include <string.h>

#define REQUEST_MEMORY ((size_t)1 << 20)
/* Of a body. A client that sends more than twice as much is cut off. */
#define BODY_MAX ((size_t)64 << 10)

static void answer_job(void *context)
{
	struct tfp_exchange *r = context;
	struct tfp_account account = {.small = true};
	tfp_account_enter(&account);
	tfp_route_answer(r->route, &r->server->app, r->server->build, &r->target, &r->conditions,
			 &r->reply);
	tfp_account_enter(NULL);
	MHD_resume_connection(r->connection);
}

static void answer_is_there(struct tfp_waiter *waiter)
{
	struct tfp_exchange *r = waiter->context;
	r->shared = waiter->shared;
	if (r->reply.stream.write && strcmp(r->method, "GET") == 0)
		tfp_exchange_stream(r);
	MHD_resume_connection(r->connection);
}

/* As hand_over, for answers that several requests share. */
static bool ask_for_answer(struct tfp_exchange *r)
{
	struct tfp_jobs *jobs = r->server->jobs;
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
	if (tfp_jobs_at_hand(jobs, &r->waiter)) {
		r->shared = r->waiter.shared;
		return false;
	}
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		r->waiter.fd = info->connect_fd;
	r->waiter.network = tfp_network_of(tfp_client_address(r->connection));
	MHD_suspend_connection(r->connection);
	tfp_jobs_wait(jobs, &r->waiter);
	return true;
}

/* A copy of a header. The connection's own memory is not for our threads. */
static const char *header(struct tfp_exchange *r, const char *name)
{
	const char *value = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
	return value ? tfp_arena_strndup(&r->arena, value, strlen(value)) : NULL;
}

static bool pass_gate(struct tfp_exchange *r)
{
	const struct tfp_gate_request request = {
		.method = r->method,
		.uri = r->uri,
		.target = &r->target,
		.changes = r->route && r->route->post,
		.form = r->is_form ? tfp_buf_text(&r->body) : NULL,
	};
	return tfp_gate_check(&r->server->gate, r->connection, &request, &r->arena, &r->reply);
}

/* Refuses a request that could be understood in two ways. */
static bool refuse_fault(struct tfp_exchange *r)
{
	enum tfp_framing_fault fault = tfp_intake_fault(r->intake, r->number);
	struct tfp_error err;
	if (fault == TFP_FRAMING_FINE)
		return false;
	tfp_fail(&err, TFP_BAD_QUERY, "%s", tfp_framing_text(fault));
	tfp_reply_error(&r->reply, &err);
	r->reply.status = tfp_framing_status(fault);
	r->refused = true;
	return true;
}

/* Makes the answer, or has it made by a job: then true, and the request is the
 * job's until the connection is resumed. */
static bool hand_over(struct tfp_exchange *r)
{
	struct tfp_http_server *server = r->server;
	struct tfp_error err;
	if (refuse_fault(r))
		return false;
	r->conditions.accept_encoding = header(r, "Accept-Encoding");
	r->conditions.if_none_match = header(r, "If-None-Match");
	if (tfp_buf_failed(&r->body)) {
		tfp_fail(&err, TFP_TOO_LARGE, "a body has at most %zu bytes", BODY_MAX);
		tfp_reply_error(&r->reply, &err);
		return false;
	}
	if (r->is_form) {
		/* The gate answers the form itself. */
		pass_gate(r);
		return false;
	}
	if (r->route && r->route->post) {
		r->post = (struct tfp_http_post){
			.posted = r->takes_body,
			.body = tfp_buf_text(&r->body),
			.size = r->body.size,
		};
		r->conditions.post = &r->post;
	}
	if (!r->route) {
		tfp_page_answer(&r->target, &r->conditions, &r->reply);
		return false;
	}
	enum tfp_route_cost cost = r->route->cost;
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

/* Everything that answers is freed soon. A client that goes on asking must not be answered by
 * memory that is freed. */
static bool refuse_while_stopping(struct tfp_exchange *r)
{
	struct tfp_error err;
	tfp_fail(&err, TFP_BUSY, "the server is stopping");
	tfp_reply_error(&r->reply, &err);
	return false;
}

static bool hand_over_unless_stopping(struct tfp_exchange *r)
{
	struct tfp_http_server *server = r->server;
	/* Before the lock is taken, too: a stream of readers must not keep the writer out. */
	if (atomic_load(&server->stopping))
		return refuse_while_stopping(r);
	pthread_rwlock_rdlock(&server->handing_over);
	bool is_job = atomic_load(&server->stopping) ? refuse_while_stopping(r) : hand_over(r);
	pthread_rwlock_unlock(&server->handing_over);
	return is_job;
}

/* Looks at the first line. Returns false when the reply is made already. */
static bool accept_request(struct tfp_exchange *r)
{
	struct tfp_error err;
	if (refuse_fault(r)) {
		r->shown = "?"; /* nothing of it can be shown */
		return false;
	}
	bool get = strcmp(r->method, "GET") == 0, head = strcmp(r->method, "HEAD") == 0;
	bool post = strcmp(r->method, "POST") == 0;
	enum tfp_status status =
		tfp_http_target_parse(&r->target, r->uri, r->server->prefix, &r->arena, &err);
	r->route = status == TFP_OK ? tfp_route_find(r->target.path) : NULL;
	r->is_form = status == TFP_OK &&
		     tfp_access_is_form(r->server->gate.access, r->method, r->target.path);
	r->takes_body = r->is_form || (post && r->route && r->route->post);
	bool known = get || head || r->is_form;
	if (r->route)
		known = r->takes_body || (known && r->route->get && !(head && r->route->post));
	if (!known) {
		const char *allow = r->route ? tfp_route_methods(r->route) : "GET, HEAD";
		tfp_fail(&err, TFP_BAD_QUERY, "only %s is allowed here", allow);
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

/* Takes a piece of a body. Returns false when the client is to be cut off. */
static bool take_body(struct tfp_exchange *r, const char *bytes, size_t size)
{
	if (!r->takes_body)
		return true;
	tfp_buf_add(&r->body, bytes, size);
	if (!tfp_buf_failed(&r->body))
		return true;
	r->dropped += size;
	return r->dropped <= 2 * BODY_MAX;
}

enum MHD_Result tfp_exchange_handle(void *context, struct MHD_Connection *connection,
				    const char *url, const char *method, const char *version,
				    const char *upload, size_t *upload_size, void **state)
{
	struct tfp_exchange *r = *state;
	(void)context;
	(void)url;
	(void)version;
	if (!r)
		return MHD_NO; /* there was no memory for it */
	switch (r->state) {
	case TFP_EXCHANGE_HEAD:
		r->state = TFP_EXCHANGE_BODY;
		r->connection = connection;
		r->method = tfp_arena_strndup(&r->arena, method, strlen(method));
		if (!r->method)
			return MHD_NO;
		r->counted = true;
		tfp_client_phase(r->server->limits, r->client, TFP_PHASE_BODY, 0);
		atomic_fetch_add(&r->server->active, 1);
		tfp_metrics_add(r->server->metrics, TFP_METRIC_IN_FLIGHT, 1);
		/* A refusal is sent at once: the body may be long. */
		return accept_request(r) ? MHD_YES : tfp_exchange_send(r);
	case TFP_EXCHANGE_BODY:
		if (*upload_size) {
			bool goes_on = take_body(r, upload, *upload_size);
			*upload_size = 0;
			return goes_on ? MHD_YES : MHD_NO;
		}
		r->state = TFP_EXCHANGE_ANSWERED;
		return hand_over_unless_stopping(r) ? MHD_YES : tfp_exchange_send(r);
	case TFP_EXCHANGE_ANSWERED:
		break;
	}
	return tfp_exchange_send(r);
}

void *tfp_exchange_begin(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct tfp_http_server *server = context;
	struct tfp_exchange *r = tfp_calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->server = server;
	r->intake = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			    ->socket_context;
	r->client = tfp_intake_client(r->intake);
	r->number = tfp_intake_begin(r->intake);
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
	if (r->intake && r->number == 0)
		tfp_log_warning("a request was read past what checks requests");
	if (!r->uri || !shown || r->number == 0) {
		tfp_arena_release(&r->arena);
		tfp_free(r);
		return NULL;
	}
	return r;
}

void tfp_exchange_end(void *context, struct MHD_Connection *connection, void **state,
		      enum MHD_RequestTerminationCode code)
{
	struct tfp_exchange *r = *state;
	(void)context;
	(void)connection;
	if (!r)
		return;
	if (r->counted) {
		bool head = r->method && strcmp(r->method, "HEAD") == 0;
		bool whole = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
		int64_t duration_ns = tfp_clock_monotonic_ns() - r->started_ns;
		size_t sent = head ? 0 : r->sent;
		tfp_exchange_log(r, sent, duration_ns, whole);
		tfp_exchange_count(r, sent, duration_ns, whole);
		atomic_fetch_sub(&r->server->active, 1);
	}
	tfp_intake_end(r->intake);
	*state = NULL;
	if (r->pipe) /* nothing of the pipe was sent */
		tfp_pipe_abandon(r->pipe);
	tfp_shared_reply_unref(r->shared);
	tfp_reply_release(&r->reply);
	tfp_buf_release(&r->body);
	tfp_arena_release(&r->arena);
	tfp_free(r);
}
