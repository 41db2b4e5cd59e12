/* SPDX-License-Identifier: Apache-2.0 */
#include "http/router.h"

#include "base/budget.h"
#include "base/json_writer.h"
#include "base/notices.h"
#include "http/health.h"
#include "http/jobs.h"
#include "http/metrics.h"
#include "http/question.h"
#include "http/recordings.h"
#include "http/run_routes.h"
#include "store/capture_cache.h"
#include "store/result_cache.h"
#include "tools/run_documents.h"
#include "tools/tool.h"
#include "trace/trace.h"

#include <string.h>

/* ---- what the server tells about itself ---- */

static enum tfp_status answer_version(struct tfp_route_call *call, struct tfp_error *err)
{
	(void)err;
	call->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&call->reply->body, TFP_VERSION);
	return TFP_OK;
}

static enum tfp_status answer_licenses(struct tfp_route_call *call, struct tfp_error *err)
{
	(void)err;
	call->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&call->reply->body, tfp_notices);
	return TFP_OK;
}

static enum tfp_status answer_healthz(struct tfp_route_call *call, struct tfp_error *err)
{
	enum tfp_status status = tfp_health_check(call->q->app->health, err);
	if (status != TFP_OK) {
		tfp_app_error(call->q->app, err, call->reply);
		call->reply->status = 503; /* whatever the reason, another server may be asked */
		return TFP_OK;
	}
	call->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&call->reply->body, "ok");
	return TFP_OK;
}

static enum tfp_status answer_metrics(struct tfp_route_call *call, struct tfp_error *err)
{
	struct tfp_metrics *m = call->q->app->metrics;
	struct tfp_capture_cache_stats captures = tfp_capture_cache_stats(call->q->app->cache);
	struct tfp_result_cache_stats results = tfp_result_cache_stats(call->q->app->results);
	struct tfp_jobs_stats jobs;
	(void)err;
	tfp_jobs_stats(call->q->app->jobs, &jobs);
	tfp_metrics_set(m, TFP_METRIC_JOBS_QUEUED, (int64_t)jobs.queued);
	tfp_metrics_set(m, TFP_METRIC_JOBS_RUNNING, (int64_t)jobs.running);
	tfp_metrics_set(m, TFP_METRIC_JOBS_STARTED, (int64_t)jobs.made);
	tfp_metrics_set(m, TFP_METRIC_JOBS_JOINED, (int64_t)jobs.joined);
	tfp_metrics_set(m, TFP_METRIC_JOBS_CANCELLED, (int64_t)jobs.cancelled);
	tfp_metrics_set(m, TFP_METRIC_JOBS_REFUSED, (int64_t)jobs.refused);
	tfp_metrics_set(m, TFP_METRIC_ANSWERS_KEPT, (int64_t)jobs.kept);
	tfp_metrics_set(m, TFP_METRIC_ANSWER_BYTES, (int64_t)jobs.kept_bytes);
	tfp_metrics_set(m, TFP_METRIC_ANSWERS_FROM_MEMORY, (int64_t)jobs.from_memory);
	tfp_metrics_set(m, TFP_METRIC_ANSWERS_FROM_DISK, (int64_t)jobs.from_disk);
	tfp_metrics_set(m, TFP_METRIC_MEMORY_BYTES, (int64_t)tfp_budget_used());
	tfp_metrics_set(m, TFP_METRIC_MEMORY_LIMIT, (int64_t)tfp_budget_limit());
	tfp_metrics_set(m, TFP_METRIC_CAPTURES_RESIDENT, (int64_t)captures.resident);
	tfp_metrics_set(m, TFP_METRIC_CAPTURE_BYTES, (int64_t)captures.bytes);
	tfp_metrics_set(m, TFP_METRIC_CAPTURE_HITS, (int64_t)captures.hits);
	tfp_metrics_set(m, TFP_METRIC_CAPTURE_LOADS, (int64_t)captures.loads);
	tfp_metrics_set(m, TFP_METRIC_RESULT_HITS, (int64_t)results.hits);
	tfp_metrics_set(m, TFP_METRIC_RESULT_MISSES, (int64_t)results.misses);
	tfp_metrics_set(m, TFP_METRIC_RESULT_WRITES, (int64_t)results.writes);
	tfp_metrics_set(m, TFP_METRIC_RESULT_FAILURES, (int64_t)results.failures);
	tfp_metrics_set(m, TFP_METRIC_RESULT_BYTES, (int64_t)results.bytes);
	call->reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	tfp_metrics_write(m, &call->reply->body);
	return TFP_OK;
}

static enum tfp_status answer_config(struct tfp_route_call *call, struct tfp_error *err)
{
	struct tfp_json j;
	tfp_json_init(&j, &call->reply->body);
	tfp_json_begin_object(&j);
	tfp_json_set_boolean(&j, "enableTabNameLabel", false);
	tfp_json_set_boolean(&j, "hideCaptureProfileButton",
			     !tfp_recordings_by_get(call->q->app->recordings));
	tfp_json_set_string(&j, "srcPathPrefix", "");
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

/* ---- lists ---- */

static enum tfp_status answer_runs(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_runs_json(call->q->snapshot, &call->reply->body, err);
}

static enum tfp_status answer_run_list(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_run_list_json(call->q->app->info, call->q->snapshot, &call->reply->body, err);
}

static enum tfp_status answer_run_info(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_run_info_json(call->q->app->info, call->q->run, &call->reply->body, err);
}

static enum tfp_status answer_run_tools(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_run_tools_json(call->q->app->info, call->q->run, &call->reply->body, err);
}

static enum tfp_status answer_tools(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_tools_json(call->q->app->info, call->q->run, &call->reply->body, err);
}

/* As XProf does: a run that is not there has no hosts, and a tool that is not there has the run's.
 */
static enum tfp_status answer_hosts(struct tfp_route_call *call, struct tfp_error *err)
{
	const char *name = tfp_question_parameter(call->q, "run"),
		   *tool = tfp_question_tool_name(call->q);
	if (!name)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter run is missing");
	return tfp_hosts_json(tfp_logdir_find_run(call->q->snapshot, name),
			      tool ? tfp_tool_find(tool) : NULL, &call->reply->body, err);
}

/* ---- captures from running programs ---- */

static enum tfp_status answer_capture(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_recordings_run(call->q->app->recordings, &call->q->target->query,
				  &call->reply->body, err);
}

static enum tfp_status post_capture(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_recordings_start(call->q->app->recordings, call->post->body, call->post->size,
				    &call->reply->body, err);
}

static enum tfp_status answer_capture_status(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_recordings_status(call->q->app->recordings,
				     tfp_question_parameter(call->q, "id"), &call->reply->body,
				     err);
}

static enum tfp_status post_capture_cancel(struct tfp_route_call *call, struct tfp_error *err)
{
	return tfp_recordings_cancel(call->q->app->recordings, call->post->body, call->post->size,
				     &call->reply->body, err);
}

/* ---- jobs ---- */

static enum tfp_status answer_progress(struct tfp_route_call *call, struct tfp_error *err)
{
	const char *of = tfp_question_parameter(call->q, "of");
	if (!of) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter of is missing");
		tfp_error_set_hint(err, "of=ADDRESS of a request under way, such as data?run=... "
					"with escapes");
		return TFP_BAD_QUERY;
	}
	return tfp_jobs_progress_json(call->q->app->jobs, of, &call->reply->body, err);
}

static const struct tfp_route routes[] = {
	{"/runs", TFP_ROUTE_LIGHT, .basis = TFP_OF_SNAPSHOT, .get = answer_runs},
	/* Looking for graph runs can take several requests, in which no file changes. */
	{"/run_list", TFP_ROUTE_LIGHT, .basis = TFP_OF_BODY, .get = answer_run_list},
	{"/run_info", TFP_ROUTE_LIGHT, .run = TFP_REQUIRED, .get = answer_run_info},
	{"/run_tools", TFP_ROUTE_LIGHT, .run = TFP_REQUIRED, .get = answer_run_tools},
	{"/tools", TFP_ROUTE_LIGHT, .run = TFP_OPTIONAL, .get = answer_tools},
	{"/hosts", TFP_ROUTE_LIGHT, .get = answer_hosts},
	{"/module_list", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_module_list},
	{"/data", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .tool = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_data},
	{"/data_csv", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .tool = TFP_REQUIRED,
	 .basis = TFP_OF_RUN, .get = tfp_route_data_csv},
	{"/instances", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .tool = TFP_REQUIRED,
	 .basis = TFP_OF_RUN, .get = tfp_route_instances},
	{"/trace_viewer/export", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_DOWNLOAD,
	 .get = tfp_route_export},
	{"/diagnostics", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .get = tfp_route_diagnostics},
	{"/capture_profile", TFP_ROUTE_WAITS, .get = answer_capture, .post = post_capture},
	{"/capture_status", TFP_ROUTE_BRIEF, .get = answer_capture_status},
	{"/capture_cancel", TFP_ROUTE_BRIEF, .post = post_capture_cancel},
	{"/trace_viewer/tracks", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_tracks_json},
	{"/trace_viewer/tiles", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_tiles_json},
	{"/trace_viewer/event", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_event_json},
	{"/trace_viewer/neighbour", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_neighbour_json},
	{"/trace_viewer/events", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_events_json},
	{"/trace_viewer/search", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_search_json},
	{"/trace_viewer/steps", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_steps_json},
	{"/trace_viewer/aggregate", TFP_ROUTE_HEAVY, .run = TFP_REQUIRED, .basis = TFP_OF_RUN,
	 .get = tfp_route_part, .part = tfp_trace_aggregate_json},
	{"/progress", TFP_ROUTE_INSTANT, .get = answer_progress},
	{"/config", TFP_ROUTE_INSTANT, .get = answer_config},
	{"/version", TFP_ROUTE_INSTANT, .get = answer_version},
	{"/licenses", TFP_ROUTE_INSTANT, .get = answer_licenses},
	{"/healthz", TFP_ROUTE_INSTANT, .get = answer_healthz},
	{"/metrics", TFP_ROUTE_INSTANT, .get = answer_metrics},
};

const struct tfp_route *tfp_route_find(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].path, path) == 0)
			return &routes[i];
	}
	return NULL;
}

unsigned tfp_route_count(void)
{
	return sizeof(routes) / sizeof(routes[0]);
}

const char *tfp_route_path(unsigned number)
{
	return routes[number].path;
}

unsigned tfp_route_number(const struct tfp_route *route)
{
	return (unsigned)(route - routes);
}

const char *tfp_route_methods(const struct tfp_route *route)
{
	if (!route->post)
		return "GET, HEAD";
	return route->get ? "GET, POST" : "POST";
}

/* ---- answering ---- */

static enum tfp_status answer_post(const struct tfp_question *q, const struct tfp_http_post *post,
				   struct tfp_reply *reply, struct tfp_error *err)
{
	struct tfp_route_call call = {.q = q, .post = post, .reply = reply};
	enum tfp_status status =
		post->posted ? q->route->post(&call, err) : q->route->get(&call, err);
	if (status == TFP_OK && tfp_buf_failed(&reply->body))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	return status;
}

static enum tfp_status answer_get(const struct tfp_question *q, uint64_t build,
				  const char *if_none_match, struct tfp_reply *reply,
				  struct tfp_error *err)
{
	struct tfp_buf key;
	enum tfp_status status = TFP_OK;
	tfp_question_key(q, &key);
	if (!tfp_question_tag(q, &key, build, reply) ||
	    !tfp_reply_not_modified(reply, if_none_match)) {
		status = tfp_question_answer(q, reply, NULL, err);
		if (status == TFP_OK && reply->status == 200)
			tfp_reply_not_modified(reply, if_none_match);
	}
	tfp_buf_release(&key);
	return status;
}

void tfp_route_answer(const struct tfp_route *route, const struct tfp_http_app *app, uint64_t build,
		      const struct tfp_http_target *target,
		      const struct tfp_http_conditions *conditions, struct tfp_reply *reply)
{
	struct tfp_question q = {.route = route, .app = app, .target = target};
	struct tfp_error err;
	enum tfp_status status;
	tfp_error_init(&err);
	if (conditions->post) {
		status = answer_post(&q, conditions->post, reply, &err);
	} else {
		status = tfp_question_init(&q, route, app, target, false, &err);
		if (status == TFP_OK)
			status = answer_get(&q, build, conditions->if_none_match, reply, &err);
		tfp_question_release(&q);
	}
	if (status != TFP_OK) {
		tfp_budget_explain(&err);
		tfp_app_error(app, &err, reply);
	}
	tfp_reply_compress(reply, conditions->accept_encoding);
}
