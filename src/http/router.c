#include "http/router.h"

#include "base/hash.h"
#include "tools/session.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A request on its way to an answer. */
struct exchange {
	const struct tfp_http_app *app;
	const struct tfp_http_target *target;
	const struct tfp_logdir_snapshot *snapshot; /* NULL for instant routes */
	const struct tfp_run *run;                  /* as the route needs it */
	const struct tfp_tool *tool;
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

static enum tfp_status answer_healthz(struct exchange *x, struct tfp_error *err)
{
	(void)err;
	x->reply->content_type = "text/plain; charset=utf-8";
	tfp_buf_puts(&x->reply->body, "ok");
	return TFP_OK;
}

static enum tfp_status answer_runs(struct exchange *x, struct tfp_error *err)
{
	return tfp_runs_json(x->snapshot, &x->reply->body, err);
}

static enum tfp_status answer_run_list(struct exchange *x, struct tfp_error *err)
{
	return tfp_run_list_json(x->app->dir, x->snapshot, &x->reply->body, err);
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

static enum tfp_status answer_hosts(struct exchange *x, struct tfp_error *err)
{
	const char *name = parameter(x, "run");
	if (!name)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter run is missing");
	return tfp_hosts_json(tfp_logdir_find_run(x->snapshot, name), x->tool, &x->reply->body,
			      err);
}

static enum tfp_status open_session(const struct exchange *x, struct tfp_session *session,
				    struct tfp_error *err)
{
	const char *host = parameter(x, "host");
	if (!host && parameter(x, "hosts")) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter hosts is not for this: name one host");
		tfp_error_set_hint(err, "host=NAME, or host=" TFP_ALL_HOSTS " for all together");
		return TFP_BAD_QUERY;
	}
	return tfp_session_init(session, x->app->cache, x->app->pool, x->run, host, err);
}

static enum tfp_status answer_diagnostics(struct exchange *x, struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(x, &session, err);
	if (status == TFP_OK)
		status = tfp_diagnostics_json(&session, &x->reply->body, err);
	return status;
}

static enum tfp_status render(const struct exchange *x, struct tfp_answer *answer,
			      struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(x, &session, err);
	if (status != TFP_OK)
		return status;
	if (session.host_count > 1 && !(x->tool->scope & TFP_HOSTS_ALL)) {
		tfp_fail(err, TFP_BAD_QUERY, "%s shows one host at a time", x->tool->name);
		tfp_error_set_hint(err, "name one with host=; /hosts lists them");
		return TFP_BAD_QUERY;
	}
	return x->tool->render(&session, &x->target->query, answer, err);
}

static enum tfp_status answer_csv(struct exchange *x, struct tfp_error *err)
{
	struct tfp_answer answer;
	tfp_answer_init(&answer);
	enum tfp_status status = render(x, &answer, err);
	if (status == TFP_OK)
		status = tfp_answer_write_csv(&answer, &x->reply->body, err);
	tfp_answer_release(&answer);
	x->reply->content_type = "text/csv; charset=utf-8";
	return status;
}

static const char *tool_name(const struct exchange *x)
{
	const char *name = parameter(x, "tag");
	return name ? name : parameter(x, "tool");
}

static enum tfp_status answer_data_csv(struct exchange *x, struct tfp_error *err)
{
	const char *host = parameter(x, "host");
	const char *dash = host ? strrchr(host, '-') : NULL;
	char *name = x->reply->download;
	const char *end = dash ? dash + 1 : host ? host : TFP_ALL_HOSTS;
	/* Cut where it is too long; there is room left for the suffix. */
	int size = snprintf(name, sizeof(x->reply->download) - 4, "%s_%s_%s", tool_name(x),
			    x->run->name, end);
	if (size < 0)
		name[0] = '\0';
	for (; *name; name++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
			    *name))
			*name = '_';
	}
	memcpy(name, ".csv", 5);
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
	if (status == TFP_OK)
		status = tfp_answer_write_json(&answer, &x->reply->body, err);
	tfp_answer_release(&answer);
	return status;
}

static enum tfp_status answer_instances(struct exchange *x, struct tfp_error *err)
{
	struct tfp_session session;
	if (!x->tool->instances)
		return tfp_fail(err, TFP_NOT_APPLICABLE, "%s has no instances to show",
				x->tool->name);
	enum tfp_status status = open_session(x, &session, err);
	if (status == TFP_OK)
		status = x->tool->instances(&session, &x->target->query, &x->reply->body, err);
	return status;
}

static const struct tfp_route routes[] = {
	{"/runs", TFP_ROUTE_LIGHT, NONE, NONE, THE_SNAPSHOT, answer_runs},
	{"/run_list", TFP_ROUTE_LIGHT, NONE, NONE, THE_SNAPSHOT, answer_run_list},
	{"/run_info", TFP_ROUTE_LIGHT, REQUIRED, NONE, THE_BODY, answer_run_info},
	{"/run_tools", TFP_ROUTE_LIGHT, REQUIRED, NONE, THE_BODY, answer_run_tools},
	{"/tools", TFP_ROUTE_LIGHT, OPTIONAL, NONE, THE_BODY, answer_tools},
	/* XProf's: a run that is not there has no hosts. */
	{"/hosts", TFP_ROUTE_LIGHT, NONE, REQUIRED, THE_BODY, answer_hosts},
	{"/data", TFP_ROUTE_HEAVY, REQUIRED, REQUIRED, THE_RUN, answer_data},
	{"/data_csv", TFP_ROUTE_HEAVY, REQUIRED, REQUIRED, THE_RUN, answer_data_csv},
	{"/instances", TFP_ROUTE_HEAVY, REQUIRED, REQUIRED, THE_RUN, answer_instances},
	{"/diagnostics", TFP_ROUTE_HEAVY, REQUIRED, NONE, THE_BODY, answer_diagnostics},
	{"/version", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_version},
	{"/healthz", TFP_ROUTE_INSTANT, NONE, NONE, THE_BODY, answer_healthz},
};

const struct tfp_route *tfp_route_find(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].path, path) == 0)
			return &routes[i];
	}
	return NULL;
}

enum tfp_route_cost tfp_route_cost(const struct tfp_route *route)
{
	return route->cost;
}

/* ---- answering ---- */

static uint64_t hash_run(const struct tfp_run *run, uint64_t h)
{
	h = tfp_hash_bytes(run->name, strlen(run->name), h);
	for (size_t i = 0; i < run->host_count; i++) {
		const struct tfp_file_identity *id = &run->hosts[i].identity;
		const uint64_t numbers[] = {id->device, id->inode, id->bytes,
					    (uint64_t)id->modified_ns};
		h = tfp_hash_bytes(run->hosts[i].path, strlen(run->hosts[i].path), h);
		h = tfp_hash_bytes(numbers, sizeof(numbers), h);
	}
	return h;
}

static uint64_t hash_basis(const struct exchange *x, const struct tfp_route *route, uint64_t h)
{
	h = tfp_hash_bytes(route->path, strlen(route->path), h);
	h = tfp_hash_bytes(x->target->search, strlen(x->target->search), h);
	return route->basis == THE_RUN ? hash_run(x->run, h)
				       : tfp_hash_u64(h ^ x->snapshot->generation);
}

static enum tfp_status find_what_is_needed(struct exchange *x, const struct tfp_route *route,
					   struct tfp_error *err)
{
	const char *run = parameter(x, "run"), *tool = tool_name(x);
	if (route->cost != TFP_ROUTE_INSTANT) {
		enum tfp_status status = tfp_logdir_snapshot(x->app->dir, &x->snapshot, err);
		if (status != TFP_OK)
			return status;
	}
	if (route->run == REQUIRED && !run) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter run is missing");
		tfp_error_set_hint(err, "run=NAME; /runs lists the names");
		return TFP_BAD_QUERY;
	}
	if (route->run != NONE && run) {
		x->run = tfp_logdir_find_run(x->snapshot, run);
		if (!x->run) {
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
		x->tool = tfp_tool_find(tool);
		if (!x->tool) {
			tfp_fail(err, TFP_NOT_FOUND, "there is no tool \"%s\"", tool);
			tfp_error_set_hint(err, "see /tools for the names");
			return TFP_NOT_FOUND;
		}
	}
	return TFP_OK;
}

static enum tfp_status answer(struct exchange *x, const struct tfp_route *route, uint64_t build,
			      const struct tfp_http_conditions *conditions, struct tfp_error *err)
{
	struct tfp_reply *reply = x->reply;
	enum tfp_status status = find_what_is_needed(x, route, err);
	if (status != TFP_OK)
		return status;
	if (route->basis != THE_BODY) {
		snprintf(reply->etag, sizeof(reply->etag), "W/\"%016" PRIx64 "%016" PRIx64 "\"",
			 hash_basis(x, route, build), hash_basis(x, route, ~build));
		if (tfp_reply_not_modified(reply, conditions->if_none_match))
			return TFP_OK;
	}
	status = route->answer(x, err);
	if (status == TFP_OK && tfp_buf_failed(&reply->body))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	if (status == TFP_OK && route->basis == THE_BODY) {
		tfp_reply_tag_body(reply);
		tfp_reply_not_modified(reply, conditions->if_none_match);
	}
	return status;
}

void tfp_route_answer(const struct tfp_route *route, const struct tfp_http_app *app, uint64_t build,
		      const struct tfp_http_target *target,
		      const struct tfp_http_conditions *conditions, struct tfp_reply *reply)
{
	struct exchange x = {.app = app, .target = target, .reply = reply};
	struct tfp_error err;
	tfp_error_init(&err);
	if (answer(&x, route, build, conditions, &err) != TFP_OK)
		tfp_reply_error(reply, &err);
	tfp_reply_compress(reply, conditions->accept_encoding);
	tfp_logdir_snapshot_unref(x.snapshot);
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
	for (size_t i = 0; i < tfp_asset_count; i++) {
		if (strcmp(tfp_assets[i].path, path) == 0) {
			tfp_reply_asset(reply, &tfp_assets[i], conditions->accept_encoding,
					conditions->if_none_match);
			return;
		}
	}
	tfp_fail(&err, TFP_NOT_FOUND, "there is nothing at \"%s\"", target->path);
	tfp_error_set_hint(&err, "the page is at /, the API is described in docs/api.md");
	tfp_reply_error(reply, &err);
}
