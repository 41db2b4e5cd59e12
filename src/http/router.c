#include "http/router.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/hash.h"
#include "base/notices.h"
#include "base/progress.h"
#include "http/answers.h"
#include "store/pack.h"
#include "tools/module_list.h"
#include "tools/one_state.h"
#include "tools/session.h"
#include "tools/tool.h"
#include "tools/trace.h"
#include "tools/trace_export.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIGN_IN "/sign_in.html" /* served in place of others only */

#define KEY_MAX ((size_t)16 << 20)

/* A request on its way to an answer. */
struct exchange {
	const struct tfp_http_app *app;
	const struct tfp_http_target *target;
	const struct tfp_logdir_snapshot *snapshot; /* NULL where none is needed */
	const struct tfp_run *run;                  /* as the route needs it */
	const struct tfp_tool *tool;
	const struct tfp_http_post *post;     /* NULL unless the route changes something */
	struct tfp_capture_file *chosen;      /* hosts of a session, owned; mostly NULL */
	const struct tfp_capture_file *hosts; /* of the session that was opened */
	size_t host_count;
	struct tfp_reply *reply;
};

enum need { NONE, OPTIONAL, REQUIRED };

/* What an answer is a function of, besides the address: how its tag is made. */
enum basis {
	THE_BODY,     /* cheap answers, and ones that may come out differently */
	THE_SNAPSHOT, /* the tag is known without the answer */
	THE_RUN,      /* the same */
};

struct tfp_route {
	const char *path;
	enum tfp_route_cost cost;
	enum need run, tool;
	enum basis basis;
	enum tfp_status (*answer)(struct exchange *x, struct tfp_error *err);
};

static const char *parameter(const struct exchange *x, const char *key)
{
	const char *value = tfp_query_get(&x->target->query, key);
	return value && value[0] ? value : NULL;
}

/* ---- routes ---- */

static enum tfp_status answer_version(struct exchange *x, struct tfp_error *err)
{
	(void)err;
	x->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&x->reply->body, TFP_VERSION);
	return TFP_OK;
}

static enum tfp_status answer_licenses(struct exchange *x, struct tfp_error *err)
{
	(void)err;
	x->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&x->reply->body, tfp_notices);
	return TFP_OK;
}

static enum tfp_status answer_healthz(struct exchange *x, struct tfp_error *err)
{
	enum tfp_status status = tfp_health_check(x->app->health, err);
	if (status != TFP_OK) {
		tfp_route_error(x->app, err, x->reply);
		x->reply->status = 503; /* whatever the reason: ask another server */
		return TFP_OK;
	}
	x->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&x->reply->body, "ok");
	return TFP_OK;
}

static enum tfp_status answer_metrics(struct exchange *x, struct tfp_error *err)
{
	struct tfp_metrics *m = x->app->metrics;
	struct tfp_capture_cache_stats captures = tfp_capture_cache_stats(x->app->cache);
	struct tfp_result_cache_stats results = tfp_result_cache_stats(x->app->results);
	struct tfp_answers_stats answers;
	(void)err;
	tfp_answers_stats(x->app->answers, &answers);
	tfp_metrics_set(m, TFP_METRIC_JOBS_QUEUED, (int64_t)answers.queued);
	tfp_metrics_set(m, TFP_METRIC_JOBS_RUNNING, (int64_t)answers.running);
	tfp_metrics_set(m, TFP_METRIC_JOBS_STARTED, (int64_t)answers.made);
	tfp_metrics_set(m, TFP_METRIC_JOBS_JOINED, (int64_t)answers.joined);
	tfp_metrics_set(m, TFP_METRIC_JOBS_CANCELLED, (int64_t)answers.cancelled);
	tfp_metrics_set(m, TFP_METRIC_JOBS_REFUSED, (int64_t)answers.refused);
	tfp_metrics_set(m, TFP_METRIC_ANSWERS_KEPT, (int64_t)answers.kept);
	tfp_metrics_set(m, TFP_METRIC_ANSWER_BYTES, (int64_t)answers.kept_bytes);
	tfp_metrics_set(m, TFP_METRIC_ANSWERS_FROM_MEMORY, (int64_t)answers.from_memory);
	tfp_metrics_set(m, TFP_METRIC_ANSWERS_FROM_DISK, (int64_t)answers.from_disk);
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
	x->reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	tfp_metrics_write(m, &x->reply->body);
	return TFP_OK;
}

static enum tfp_status answer_config(struct exchange *x, struct tfp_error *err)
{
	(void)err;
	tfp_buf_printf(&x->reply->body,
		       "{\"enableTabNameLabel\": false, \"hideCaptureProfileButton\": %s, "
		       "\"srcPathPrefix\": \"\"}",
		       tfp_captures_by_get(x->app->captures) ? "false" : "true");
	return TFP_OK;
}

static enum tfp_status answer_runs(struct exchange *x, struct tfp_error *err)
{
	return tfp_runs_json(x->snapshot, &x->reply->body, err);
}

static enum tfp_status answer_run_list(struct exchange *x, struct tfp_error *err)
{
	return tfp_run_list_json(x->app->info, x->snapshot, &x->reply->body, err);
}

static enum tfp_status answer_run_info(struct exchange *x, struct tfp_error *err)
{
	return tfp_run_info_json(x->app->info, x->run, &x->reply->body, err);
}

static enum tfp_status answer_run_tools(struct exchange *x, struct tfp_error *err)
{
	return tfp_run_tools_json(x->app->info, x->run, &x->reply->body, err);
}

static enum tfp_status answer_tools(struct exchange *x, struct tfp_error *err)
{
	return tfp_tools_json(x->app->info, x->run, &x->reply->body, err);
}

static enum tfp_status choose_hosts(struct exchange *x, bool takes_hosts,
				    struct tfp_session *session, struct tfp_error *err)
{
	const char *host = parameter(x, "host"), *hosts = parameter(x, "hosts");
	/* XProf's page sends both; what it means are hosts. */
	if (hosts && *hosts && takes_hosts) {
		enum tfp_status status = tfp_session_init(session, x->app->cache, x->app->results,
							  x->app->pool, x->run, NULL, err);
		session->clocks = x->app->clocks;
		x->chosen = tfp_calloc(x->run->host_count, sizeof(*x->chosen));
		if (!x->chosen)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
		return status == TFP_OK ? tfp_session_choose(session, hosts, x->chosen, err)
					: status;
	}
	if (!host && hosts) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter hosts cannot be used here: name one host");
		tfp_error_set_hint(err, "host=NAME, or host=" TFP_ALL_HOSTS " for all together");
		return TFP_BAD_QUERY;
	}
	enum tfp_status status = tfp_session_init(session, x->app->cache, x->app->results,
						  x->app->pool, x->run, host, err);
	session->clocks = x->app->clocks;
	return status;
}

/* takes_hosts: several hosts may be named, as XProf's trace viewers allow. */
static enum tfp_status open_session(struct exchange *x, bool takes_hosts,
				    struct tfp_session *session, struct tfp_error *err)
{
	enum tfp_status status = choose_hosts(x, takes_hosts, session, err);
	if (status == TFP_OK) {
		x->hosts = session->hosts;
		x->host_count = session->host_count;
	}
	return status;
}

static enum tfp_status answer_diagnostics(struct exchange *x, struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(x, false, &session, err);
	if (status == TFP_OK)
		status = tfp_diagnostics_json(&session, &x->reply->body, err);
	return status;
}

static enum tfp_status render(struct exchange *x, struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(x, x->tool->takes_hosts, &session, err);
	if (status != TFP_OK)
		return status;
	return tfp_tool_render(x->tool, &session, &x->target->query, answer, err);
}

static enum tfp_status answer_csv(struct exchange *x, struct tfp_error *err)
{
	struct tfp_answer answer;
	tfp_answer_init(&answer);
	enum tfp_status status = render(x, &answer, err);
	tfp_progress_stage(TFP_STAGE_WRITING);
	if (status == TFP_OK)
		status = tfp_answer_write_csv(&answer, TFP_CSV_QUOTED, &x->reply->body, err);
	tfp_answer_release(&answer);
	x->reply->content_type = "text/csv; charset=utf-8";
	return status;
}

static const char *tool_name(const struct exchange *x)
{
	const char *name = parameter(x, "tag");
	return name ? name : parameter(x, "tool");
}

/* As XProf's: a run that is not there has no hosts, and a tool that is not there those of the
 * run. */
static enum tfp_status answer_hosts(struct exchange *x, struct tfp_error *err)
{
	const char *name = parameter(x, "run"), *tool = tool_name(x);
	if (!name)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter run is missing");
	return tfp_hosts_json(tfp_logdir_find_run(x->snapshot, name),
			      tool ? tfp_tool_find(tool) : NULL, &x->reply->body, err);
}

/* What, run and host as the name of a file. */
static void name_download(struct exchange *x, const char *what, const char *suffix)
{
	const char *host = parameter(x, "host");
	const char *dash = host ? strrchr(host, '-') : NULL;
	char *name = x->reply->download;
	const char *end = dash ? dash + 1 : host ? host : TFP_ALL_HOSTS;
	/* Cut where it is too long; there is room left for the suffix. */
	int size = snprintf(name, sizeof(x->reply->download) - strlen(suffix), "%s_%s_%s", what,
			    x->run->name, end);
	if (size < 0)
		name[0] = '\0';
	for (; *name; name++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
			    *name))
			*name = '_';
	}
	memcpy(name, suffix, strlen(suffix) + 1);
}

static enum tfp_status answer_data_csv(struct exchange *x, struct tfp_error *err)
{
	name_download(x, tool_name(x), ".csv");
	return answer_csv(x, err);
}

static enum tfp_status answer_data(struct exchange *x, struct tfp_error *err)
{
	const char *form = parameter(x, "tqx");
	if (form && strncmp(form, "out:csv", 7) == 0 && (form[7] == '\0' || form[7] == ';'))
		return answer_csv(x, err);
	struct tfp_answer answer;
	tfp_answer_init(&answer);
	enum tfp_status status = render(x, &answer, err);
	tfp_progress_stage(TFP_STAGE_WRITING);
	if (status == TFP_OK)
		status = tfp_answer_write_json(&answer, &x->reply->body, err);
	tfp_answer_release(&answer);
	return status;
}

static enum tfp_status answer_capture(struct exchange *x, struct tfp_error *err)
{
	return tfp_captures_run(x->app->captures, &x->target->query, &x->reply->body, err);
}

static enum tfp_status post_capture(struct exchange *x, struct tfp_error *err)
{
	return tfp_captures_start(x->app->captures, x->post->body, x->post->size, &x->reply->body,
				  err);
}

static enum tfp_status answer_capture_status(struct exchange *x, struct tfp_error *err)
{
	return tfp_captures_status(x->app->captures, parameter(x, "id"), &x->reply->body, err);
}

static enum tfp_status post_capture_cancel(struct exchange *x, struct tfp_error *err)
{
	return tfp_captures_cancel(x->app->captures, x->post->body, x->post->size, &x->reply->body,
				   err);
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

static enum tfp_status write_export(void *context, const struct tfp_sink *sink,
				    struct tfp_error *err)
{
	struct export_body *body = context;
	struct tfp_gzip *gzip;
	if (body->export.format == TFP_TRACE_PERFETTO)
		return tfp_trace_export_write(&body->export, sink, err);
	enum tfp_status status = tfp_gzip_new(&gzip, sink, err);
	if (status == TFP_OK)
		status = tfp_trace_export_write(&body->export, tfp_gzip_sink(gzip), err);
	if (status == TFP_OK)
		status = tfp_gzip_finish(gzip, err);
	tfp_gzip_free(gzip);
	return status;
}

static enum tfp_status answer_export(struct exchange *x, struct tfp_error *err)
{
	struct export_body *body = tfp_calloc(1, sizeof(*body));
	if (!body)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the request");
	enum tfp_status status = open_session(x, true, &body->session, err);
	if (status == TFP_OK)
		status = tfp_trace_export_init(&body->export, &body->session, &x->target->query,
					       err);
	if (status != TFP_OK) {
		free_export(body);
		return status;
	}
	body->snapshot = tfp_logdir_snapshot_ref(x->snapshot);
	body->chosen = x->chosen;
	x->chosen = NULL;
	bool chrome = body->export.format == TFP_TRACE_CHROME;
	name_download(x, "trace", chrome ? ".json.gz" : ".perfetto-trace");
	x->reply->content_type = chrome ? "application/gzip" : "application/octet-stream";
	x->reply->stream = (struct tfp_body_stream){write_export, free_export, body, chrome};
	return TFP_OK;
}

/* ---- parts of a page, straight from the captures ---- */

typedef enum tfp_status (*part_fn)(const struct tfp_session *session, const struct tfp_query *query,
				   struct tfp_buf *json, struct tfp_error *err);

struct part {
	part_fn make;
	const struct tfp_session *session;
	const struct tfp_query *query;
	struct tfp_buf *json;
};

static enum tfp_status make_part(void *context, struct tfp_error *err)
{
	struct part *part = context;
	tfp_buf_clear(part->json);
	return part->make(part->session, part->query, part->json, err);
}

static enum tfp_status answer_part(struct exchange *x, bool takes_hosts, part_fn make,
				   struct tfp_error *err)
{
	struct tfp_session session;
	struct part part = {make, &session, &x->target->query, &x->reply->body};
	enum tfp_status status = open_session(x, takes_hosts, &session, err);
	return status == TFP_OK ? tfp_one_state(&session, make_part, &part, err) : status;
}

static enum tfp_status answer_instances(struct exchange *x, struct tfp_error *err)
{
	if (!x->tool->instances)
		return tfp_fail(err, TFP_NOT_APPLICABLE, "%s has no instances to show",
				x->tool->name);
	return answer_part(x, false, x->tool->instances, err);
}

static enum tfp_status answer_module_list(struct exchange *x, struct tfp_error *err)
{
	x->reply->content_type = "text/plain; charset=utf-8";
	return answer_part(x, false, tfp_module_list, err);
}

static enum tfp_status answer_trace_tracks(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_tracks_json, err);
}

static enum tfp_status answer_trace_tiles(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_tiles_json, err);
}

static enum tfp_status answer_trace_event(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_event_json, err);
}

static enum tfp_status answer_trace_neighbour(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_neighbour_json, err);
}

static enum tfp_status answer_trace_events(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_events_json, err);
}

static enum tfp_status answer_trace_search(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_search_json, err);
}

static enum tfp_status answer_trace_steps(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_steps_json, err);
}

static enum tfp_status answer_trace_aggregate(struct exchange *x, struct tfp_error *err)
{
	return answer_part(x, true, tfp_trace_aggregate_json, err);
}

static enum tfp_status answer_progress(struct exchange *x, struct tfp_error *err)
{
	const char *of = parameter(x, "of");
	if (!of) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter of is missing");
		tfp_error_set_hint(err, "of=ADDRESS of a request under way, such as data?run=... "
					"with escapes");
		return TFP_BAD_QUERY;
	}
	return tfp_answers_progress_json(x->app->answers, of, &x->reply->body, err);
}

static const struct tfp_route routes[] = {
	{"/runs", TFP_ROUTE_LIGHT, NONE, NONE, THE_SNAPSHOT, answer_runs},
	{"/run_list", TFP_ROUTE_LIGHT, NONE, NONE, THE_SNAPSHOT, answer_run_list},
	{"/run_info", TFP_ROUTE_LIGHT, REQUIRED, NONE, THE_BODY, answer_run_info},
	{"/run_tools", TFP_ROUTE_LIGHT, REQUIRED, NONE, THE_BODY, answer_run_tools},
	{"/tools", TFP_ROUTE_LIGHT, OPTIONAL, NONE, THE_BODY, answer_tools},
	{"/hosts", TFP_ROUTE_LIGHT, NONE, NONE, THE_BODY, answer_hosts},
	{"/module_list", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_module_list},
	{"/data", TFP_ROUTE_HEAVY, REQUIRED, REQUIRED, THE_RUN, answer_data},
	{"/data_csv", TFP_ROUTE_HEAVY, REQUIRED, REQUIRED, THE_RUN, answer_data_csv},
	{"/instances", TFP_ROUTE_HEAVY, REQUIRED, REQUIRED, THE_RUN, answer_instances},
	{"/trace_viewer/export", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_export},
	{"/diagnostics", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_BODY, answer_diagnostics},
	{"/capture_profile", TFP_ROUTE_WAITS, NONE, NONE, THE_BODY, answer_capture},
	{"/capture_status", TFP_ROUTE_BRIEF, NONE, NONE, THE_BODY, answer_capture_status},
	{"/capture_cancel", TFP_ROUTE_BRIEF, NONE, NONE, THE_BODY, NULL},
	{"/trace_viewer/tracks", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_trace_tracks},
	{"/trace_viewer/tiles", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_trace_tiles},
	{"/trace_viewer/event", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_trace_event},
	{"/trace_viewer/neighbour", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN,
	 answer_trace_neighbour},
	{"/trace_viewer/events", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_trace_events},
	{"/trace_viewer/search", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_trace_search},
	{"/trace_viewer/steps", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN, answer_trace_steps},
	{"/trace_viewer/aggregate", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_RUN,
	 answer_trace_aggregate},
	{"/progress", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_progress},
	{"/config", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_config},
	{"/version", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_version},
	{"/licenses", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_licenses},
	{"/healthz", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_healthz},
	{"/metrics", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_metrics},
};

/* Of those that change something. */
static const struct post {
	const char *path;
	enum tfp_status (*answer)(struct exchange *x, struct tfp_error *err);
} posts[] = {
	{"/capture_profile", post_capture},
	{"/capture_cancel", post_capture_cancel},
};

static const struct post *find_post(const struct tfp_route *route)
{
	for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
		if (strcmp(posts[i].path, route->path) == 0)
			return &posts[i];
	}
	return NULL;
}

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

enum tfp_route_cost tfp_route_cost(const struct tfp_route *route)
{
	return route->cost;
}

bool tfp_route_takes_get(const struct tfp_route *route)
{
	return route->answer != NULL;
}

bool tfp_route_takes_post(const struct tfp_route *route)
{
	return find_post(route) != NULL;
}

const char *tfp_route_methods(const struct tfp_route *route)
{
	if (!find_post(route))
		return "GET, HEAD";
	return route->answer ? "GET, POST" : "POST";
}

/* ---- answering ---- */

enum tfp_status tfp_question_init(struct tfp_question *q, const struct tfp_route *route,
				  const struct tfp_http_app *app,
				  const struct tfp_http_target *target, bool at_once,
				  struct tfp_error *err)
{
	struct exchange x = {.target = target};
	const char *run = parameter(&x, "run"), *tool = tool_name(&x);
	*q = (struct tfp_question){.route = route, .app = app, .target = target};
	if (parameter(&x, "session_path") || parameter(&x, "run_path")) {
		tfp_fail(err, TFP_BAD_QUERY, "a request names a run, and no path to one");
		tfp_error_set_hint(err, "leave out session_path and run_path: runs are those of "
					"the directory that the server was started with");
		return TFP_BAD_QUERY;
	}
	if (route->cost == TFP_ROUTE_LIGHT || route->cost == TFP_ROUTE_HEAVY) {
		enum tfp_status status = TFP_OK;
		if (at_once)
			q->snapshot = tfp_logdir_snapshot_at_hand(app->dir);
		else
			status = tfp_logdir_snapshot(app->dir, &q->snapshot, err);
		if (status != TFP_OK)
			return status;
		if (!q->snapshot)
			return tfp_fail(err, TFP_BUSY, "the log directory has to be looked at");
	}
	if (route->run == REQUIRED && !run) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter run is missing");
		tfp_error_set_hint(err, "run=NAME; /runs lists the names");
		return TFP_BAD_QUERY;
	}
	if (route->run != NONE && run) {
		q->run = tfp_logdir_find_run(q->snapshot, run);
		if (!q->run) {
			tfp_fail(err, TFP_NOT_FOUND, "there is no run \"%s\"", run);
			tfp_error_set_hint(err, "see /runs for the names");
			return TFP_NOT_FOUND;
		}
	}
	if (route->tool == REQUIRED && !tool) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter tag is missing");
		tfp_error_set_hint(err, "tag=NAME of a tool; /tools lists the names");
		return TFP_BAD_QUERY;
	}
	if (route->tool == REQUIRED) {
		q->tool = tfp_tool_find(tool);
		if (!q->tool) {
			tfp_fail(err, TFP_NOT_FOUND, "there is no tool \"%s\"", tool);
			tfp_error_set_hint(err, "see /tools for the names");
			return TFP_NOT_FOUND;
		}
	}
	return TFP_OK;
}

void tfp_question_release(struct tfp_question *q)
{
	tfp_logdir_snapshot_unref(q->snapshot);
	*q = (struct tfp_question){0};
}

static void add_text(struct tfp_buf *key, const char *text)
{
	tfp_buf_add(key, text, strlen(text) + 1);
}

static void add_run(struct tfp_buf *key, const struct tfp_run *run)
{
	add_text(key, run->name);
	for (size_t i = 0; i < run->host_count; i++) {
		const struct tfp_file_identity *id = &run->hosts[i].identity;
		const uint64_t numbers[] = {id->device, id->inode, id->bytes,
					    (uint64_t)id->modified_ns};
		add_text(key, run->hosts[i].path);
		tfp_buf_add(key, numbers, sizeof(numbers));
	}
}

bool tfp_question_key(const struct tfp_question *q, struct tfp_buf *key)
{
	tfp_buf_init(key, KEY_MAX);
	add_text(key, q->route->path);
	add_text(key, q->target->search);
	if (q->run)
		add_run(key, q->run);
	else if (q->snapshot)
		tfp_buf_add(key, &q->snapshot->generation, sizeof(q->snapshot->generation));
	return q->run && q->route->answer != answer_export && !tfp_buf_failed(key);
}

bool tfp_question_tag(const struct tfp_question *q, const struct tfp_buf *key, uint64_t build,
		      struct tfp_reply *reply)
{
	if (q->route->basis == THE_BODY || tfp_buf_failed(key))
		return false;
	snprintf(reply->etag, sizeof(reply->etag), "W/\"%016" PRIx64 "%016" PRIx64 "\"",
		 tfp_hash_bytes(key->data, key->size, build),
		 tfp_hash_bytes(key->data, key->size, ~build));
	return true;
}

bool tfp_question_pays_on_disk(const struct tfp_question *q)
{
	return q->app->results && q->route->cost == TFP_ROUTE_HEAVY && q->route->tool == REQUIRED;
}

/* Whether the files that the answer was made of are as the snapshot has them. */
static bool is_unchanged(const struct exchange *x)
{
	for (size_t i = 0; i < x->host_count; i++) {
		const struct tfp_file_identity *then = &x->hosts[i].identity;
		struct tfp_file_identity now;
		int fd;
		if (tfp_logdir_open(x->app->dir, &x->hosts[i], &fd, &now, NULL) != TFP_OK)
			return false;
		close(fd);
		if (now.device != then->device || now.inode != then->inode ||
		    now.bytes != then->bytes || now.modified_ns != then->modified_ns)
			return false;
	}
	return true;
}

enum tfp_status tfp_question_answer(const struct tfp_question *q, struct tfp_reply *reply,
				    bool *lasting, struct tfp_error *err)
{
	struct exchange x = {.app = q->app,
			     .target = q->target,
			     .snapshot = q->snapshot,
			     .run = q->run,
			     .tool = q->tool,
			     .reply = reply};
	enum tfp_status status = q->route->answer(&x, err);
	if (status == TFP_OK && tfp_buf_failed(&reply->body))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	if (status == TFP_OK && q->route->basis == THE_BODY && reply->status == 200)
		tfp_reply_tag_body(reply);
	if (lasting)
		*lasting = status == TFP_OK && !reply->stream.write && is_unchanged(&x);
	tfp_free(x.chosen);
	return status;
}

static enum tfp_status answer_post(const struct tfp_route *route, const struct tfp_http_app *app,
				   const struct tfp_http_target *target,
				   const struct tfp_http_post *post, struct tfp_reply *reply,
				   struct tfp_error *err)
{
	struct exchange x = {.app = app, .target = target, .post = post, .reply = reply};
	enum tfp_status status =
		post->posted ? find_post(route)->answer(&x, err) : route->answer(&x, err);
	if (status == TFP_OK && tfp_buf_failed(&reply->body))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	return status;
}

static enum tfp_status answer_get(const struct tfp_route *route, const struct tfp_http_app *app,
				  uint64_t build, const struct tfp_http_target *target,
				  const struct tfp_http_conditions *conditions,
				  struct tfp_reply *reply, struct tfp_error *err)
{
	struct tfp_question q;
	struct tfp_buf key;
	enum tfp_status status = tfp_question_init(&q, route, app, target, false, err);
	tfp_buf_init(&key, KEY_MAX);
	if (status == TFP_OK) {
		tfp_question_key(&q, &key);
		if (!tfp_question_tag(&q, &key, build, reply) ||
		    !tfp_reply_not_modified(reply, conditions->if_none_match)) {
			status = tfp_question_answer(&q, reply, NULL, err);
			if (status == TFP_OK && reply->status == 200)
				tfp_reply_not_modified(reply, conditions->if_none_match);
		}
	}
	tfp_buf_release(&key);
	tfp_question_release(&q);
	return status;
}

void tfp_route_error(const struct tfp_http_app *app, const struct tfp_error *err,
		     struct tfp_reply *reply)
{
	struct tfp_error shown = *err;
	tfp_logdir_redact(app->dir, shown.file);
	tfp_logdir_redact(app->dir, shown.message);
	tfp_logdir_redact(app->dir, shown.hint);
	tfp_reply_error(reply, &shown);
}

void tfp_route_answer(const struct tfp_route *route, const struct tfp_http_app *app, uint64_t build,
		      const struct tfp_http_target *target,
		      const struct tfp_http_conditions *conditions, struct tfp_reply *reply)
{
	struct tfp_error err;
	tfp_error_init(&err);
	enum tfp_status status =
		conditions->post ? answer_post(route, app, target, conditions->post, reply, &err)
				 : answer_get(route, app, build, target, conditions, reply, &err);
	if (status == TFP_OK && tfp_budget_is_spoiled())
		status = tfp_fail(&err, TFP_NO_MEMORY, "no memory for the answer");
	if (status != TFP_OK) {
		tfp_budget_explain(&err);
		tfp_route_error(app, &err, reply);
	}
	tfp_reply_compress(reply, conditions->accept_encoding);
}

static const struct tfp_asset *find_asset(const char *path)
{
	for (size_t i = 0; i < tfp_asset_count; i++) {
		if (strcmp(tfp_assets[i].path, path) == 0)
			return &tfp_assets[i];
	}
	return NULL;
}

bool tfp_route_is_open(const char *path)
{
	static const char *const open[] = {"/healthz", "/sign_in.css", "/sign_in.js", "/theme.js",
					   "/icon.svg"};
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		if (strcmp(open[i], path) == 0)
			return true;
	}
	return false;
}

bool tfp_route_answer_sign_in(const char *why, struct tfp_reply *reply)
{
	static const char place[] = "{{why}}";
	const struct tfp_asset *asset = find_asset(SIGN_IN);
	const char *text = asset ? (const char *)asset->data : NULL;
	const char *at = text ? memmem(text, asset->size, place, sizeof(place) - 1) : NULL;
	if (!at)
		return false;
	tfp_buf_clear(&reply->body);
	tfp_buf_add(&reply->body, text, (size_t)(at - text));
	tfp_buf_puts(&reply->body, why);
	at += sizeof(place) - 1;
	tfp_buf_add(&reply->body, at, (size_t)(text + asset->size - at));
	reply->content_type = asset->content_type;
	return true;
}

void tfp_route_answer_static(const struct tfp_http_target *target,
			     const struct tfp_http_conditions *conditions, struct tfp_reply *reply)
{
	const char *path = strcmp(target->path, "/") == 0 ? "/index.html" : target->path;
	struct tfp_error err;
	if (target->redirect) {
		reply->status = 308;
		reply->location = target->redirect;
		reply->content_type = "text/plain; charset=utf-8";
		return;
	}
	const struct tfp_asset *asset = find_asset(path);
	if (asset && strcmp(path, SIGN_IN) != 0) {
		tfp_reply_asset(reply, asset, conditions->accept_encoding,
				conditions->if_none_match);
		return;
	}
	tfp_fail(&err, TFP_NOT_FOUND, "there is nothing at \"%s\"", target->path);
	tfp_error_set_hint(&err, "the page is at /, the API is described in docs/api.md");
	tfp_reply_error(reply, &err);
}
