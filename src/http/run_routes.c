/* SPDX-License-Identifier: Apache-2.0 */
#include "http/run_routes.h"

#include "base/alloc.h"
#include "base/progress.h"
#include "http/question.h"
#include "session/one_state.h"
#include "session/session.h"
#include "store/pack.h"
#include "tools/findings.h"
#include "tools/module_list.h"
#include "tools/tool.h"
#include "trace/trace.h"
#include "trace/trace_export.h"

#include <stdio.h>
#include <string.h>

static enum tfp_status choose_hosts(struct tfp_route_call *call, bool takes_hosts,
				    struct tfp_session *session, struct tfp_error *err)
{
	const char *host = tfp_question_parameter(call->q, "host"),
		   *hosts = tfp_question_parameter(call->q, "hosts");
	/* XProf's page sends both, and means hosts. */
	if (hosts && *hosts && takes_hosts) {
		enum tfp_status status =
			tfp_session_init(session, call->q->app->cache, call->q->app->results,
					 call->q->app->pool, call->q->run, NULL, err);
		session->clocks = call->q->app->clocks;
		session->peaks = call->q->app->peaks;
		call->chosen = tfp_calloc(call->q->run->host_count, sizeof(*call->chosen));
		if (!call->chosen)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
		return status == TFP_OK ? tfp_session_choose(session, hosts, call->chosen, err)
					: status;
	}
	if (!host && hosts) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter hosts cannot be used here: name one host");
		tfp_error_set_hint(err, "host=NAME, or host=" TFP_ALL_HOSTS " for all together");
		return TFP_BAD_QUERY;
	}
	enum tfp_status status =
		tfp_session_init(session, call->q->app->cache, call->q->app->results,
				 call->q->app->pool, call->q->run, host, err);
	session->clocks = call->q->app->clocks;
	session->peaks = call->q->app->peaks;
	return status;
}

/* takes_hosts: several hosts may be named, as XProf's trace viewers allow. */
static enum tfp_status open_session(struct tfp_route_call *call, bool takes_hosts,
				    struct tfp_session *session, struct tfp_error *err)
{
	enum tfp_status status = choose_hosts(call, takes_hosts, session, err);
	if (status == TFP_OK) {
		call->hosts = session->hosts;
		call->host_count = session->host_count;
	}
	return status;
}

enum tfp_status tfp_route_diagnostics(struct tfp_route_call *call, struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(call, false, &session, err);
	if (status == TFP_OK)
		status = tfp_diagnostics_json(&session, &call->reply->body, err);
	return status;
}

static enum tfp_status render(struct tfp_route_call *call, struct tfp_answer *answer,
			      struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(call, call->q->tool->takes_hosts, &session, err);
	if (status != TFP_OK)
		return status;
	return tfp_tool_render(call->q->tool, &session, &call->q->target->query, answer, err);
}

static enum tfp_status answer_csv(struct tfp_route_call *call, struct tfp_error *err)
{
	struct tfp_answer answer;
	tfp_answer_init(&answer);
	enum tfp_status status = render(call, &answer, err);
	tfp_progress_stage(TFP_STAGE_WRITING);
	if (status == TFP_OK)
		status = tfp_answer_write_csv(&answer, TFP_CSV_QUOTED, &call->reply->body, err);
	tfp_answer_release(&answer);
	call->reply->content_type = "text/csv; charset=utf-8";
	return status;
}

/* Makes a file name of what, run and host. */
static void name_download(struct tfp_route_call *call, const char *what, const char *suffix)
{
	const char *host = tfp_question_parameter(call->q, "host");
	const char *dash = host ? strrchr(host, '-') : NULL;
	char *name = call->reply->download;
	const char *end = dash ? dash + 1 : host ? host : TFP_ALL_HOSTS;
	/* It is cut if it is too long. There is room left for the suffix. */
	int size = snprintf(name, sizeof(call->reply->download) - strlen(suffix), "%s_%s_%s", what,
			    call->q->run->name, end);
	if (size < 0)
		name[0] = '\0';
	for (; *name; name++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
			    *name))
			*name = '_';
	}
	memcpy(name, suffix, strlen(suffix) + 1);
}

enum tfp_status tfp_route_data_csv(struct tfp_route_call *call, struct tfp_error *err)
{
	name_download(call, tfp_question_tool_name(call->q), ".csv");
	return answer_csv(call, err);
}

/* ---- a tool's answer that outlives the request's way to it ---- */

struct stream_body {
	struct tfp_session session;
	struct tfp_answer_stream stream;
	const struct tfp_logdir_snapshot *snapshot; /* which holds the run */
	struct tfp_capture_file *chosen;
};

static void free_stream(void *context)
{
	struct stream_body *body = context;
	if (body->stream.free)
		body->stream.free(body->stream.context);
	tfp_logdir_snapshot_unref(body->snapshot);
	tfp_free(body->chosen);
	tfp_free(body);
}

static enum tfp_status write_stream(void *context, const struct tfp_sink *sink,
				    struct tfp_error *err)
{
	struct stream_body *body = context;
	return body->stream.write(body->stream.context, sink, err);
}

static enum tfp_status answer_stream(struct tfp_route_call *call, struct tfp_error *err)
{
	struct stream_body *body = tfp_calloc(1, sizeof(*body));
	if (!body)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	enum tfp_status status =
		open_session(call, call->q->tool->takes_hosts, &body->session, err);
	if (status == TFP_OK)
		status = tfp_tool_stream(call->q->tool, &body->session, &call->q->target->query,
					 &body->stream, err);
	if (status != TFP_OK) {
		free_stream(body);
		return status;
	}
	body->snapshot = tfp_logdir_snapshot_ref(call->q->snapshot);
	body->chosen = call->chosen;
	call->chosen = NULL;
	name_download(call, tfp_question_tool_name(call->q), body->stream.ending);
	call->reply->content_type = body->stream.content_type;
	call->reply->stream = (struct tfp_body_stream){
		.write = write_stream, .free = free_stream, .context = body};
	return TFP_OK;
}

enum tfp_status tfp_route_data(struct tfp_route_call *call, struct tfp_error *err)
{
	if (tfp_tool_streams(call->q->tool, &call->q->target->query))
		return answer_stream(call, err);
	const char *form = tfp_question_parameter(call->q, "tqx");
	if (form && strncmp(form, "out:csv", 7) == 0 && (form[7] == '\0' || form[7] == ';'))
		return answer_csv(call, err);
	struct tfp_answer answer;
	tfp_answer_init(&answer);
	answer.document_only = true;
	enum tfp_status status = render(call, &answer, err);
	tfp_progress_stage(TFP_STAGE_WRITING);
	if (status == TFP_OK)
		status = tfp_answer_write_json(&answer, &call->reply->body, err);
	if (status == TFP_OK && answer.file_type) {
		call->reply->content_type = answer.file_type;
		name_download(call, tfp_question_tool_name(call->q), answer.file_suffix);
	}
	tfp_answer_release(&answer);
	return status;
}

/* ---- an export, which outlives the request's way to its answer ---- */

struct export_body {
	struct tfp_session session;
	struct tfp_trace_export export;
	const struct tfp_logdir_snapshot *snapshot; /* which holds the run */
	struct tfp_capture_file *chosen;
};

static void free_export(void *context)
{
	struct export_body *body = context;
	tfp_trace_export_release(&body->export);
	tfp_logdir_snapshot_unref(body->snapshot);
	tfp_free(body->chosen);
	tfp_free(body);
}

static enum tfp_status write_plain(void *context, const struct tfp_sink *sink,
				   struct tfp_error *err)
{
	struct export_body *body = context;
	return tfp_trace_export_write(&body->export, sink, err);
}

static enum tfp_status write_packed(void *context, const struct tfp_sink *sink,
				    struct tfp_error *err)
{
	return tfp_gzip_all(sink, write_plain, context, err);
}

enum tfp_status tfp_route_export(struct tfp_route_call *call, struct tfp_error *err)
{
	struct export_body *body = tfp_calloc(1, sizeof(*body));
	if (!body)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	enum tfp_status status = open_session(call, true, &body->session, err);
	if (status == TFP_OK)
		status = tfp_trace_export_init(&body->export, &body->session,
					       &call->q->target->query, err);
	if (status != TFP_OK) {
		free_export(body);
		return status;
	}
	body->snapshot = tfp_logdir_snapshot_ref(call->q->snapshot);
	body->chosen = call->chosen;
	call->chosen = NULL;
	bool chrome = body->export.format == TFP_TRACE_CHROME;
	name_download(call, "trace", chrome ? ".json.gz" : ".perfetto-trace");
	call->reply->content_type = chrome ? "application/gzip" : "application/octet-stream";
	call->reply->stream = (struct tfp_body_stream){
		.write = chrome ? write_packed : write_plain,
		.free = free_export,
		.context = body,
		.packed = chrome,
	};
	return TFP_OK;
}

/* ---- parts of a page, straight from the captures ---- */

/* As tfp_tool.instances and tfp_route.part. */
struct part {
	enum tfp_status (*make)(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_buf *out, struct tfp_error *err);
	const struct tfp_session *session;
	const struct tfp_query *query;
	struct tfp_buf *out;
};

static enum tfp_status make_part(void *context, struct tfp_error *err)
{
	struct part *part = context;
	tfp_buf_clear(part->out);
	return part->make(part->session, part->query, part->out, err);
}

static enum tfp_status answer_part(struct tfp_route_call *call, bool takes_hosts, struct part *part,
				   struct tfp_error *err)
{
	struct tfp_session session;
	part->session = &session;
	part->query = &call->q->target->query;
	part->out = &call->reply->body;
	enum tfp_status status = open_session(call, takes_hosts, &session, err);
	return status == TFP_OK ? tfp_one_state(&session, make_part, part, err) : status;
}

enum tfp_status tfp_route_part(struct tfp_route_call *call, struct tfp_error *err)
{
	struct part part = {.make = call->q->route->part};
	return answer_part(call, true, &part, err);
}

enum tfp_status tfp_route_module_list(struct tfp_route_call *call, struct tfp_error *err)
{
	struct part part = {.make = tfp_module_list};
	call->reply->content_type = "text/plain; charset=utf-8";
	return answer_part(call, false, &part, err);
}

enum tfp_status tfp_route_instances(struct tfp_route_call *call, struct tfp_error *err)
{
	struct part part = {.make = call->q->tool->instances};
	if (!part.make)
		return tfp_fail(err, TFP_NOT_APPLICABLE, "%s has no instances to show",
				call->q->tool->name);
	return answer_part(call, false, &part, err);
}
