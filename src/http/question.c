/* SPDX-License-Identifier: Apache-2.0 */
#include "http/question.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "session/given_peaks.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_MAX ((size_t)16 << 20)

const char *tfp_question_parameter(const struct tfp_question *q, const char *key)
{
	const char *value = tfp_query_get(&q->target->query, key);
	return value && value[0] ? value : NULL;
}

const char *tfp_question_tool_name(const struct tfp_question *q)
{
	const char *name = tfp_question_parameter(q, "tag");
	return name ? name : tfp_question_parameter(q, "tool");
}

enum tfp_status tfp_question_init(struct tfp_question *q, const struct tfp_route *route,
				  const struct tfp_http_app *app,
				  const struct tfp_http_target *target, bool at_once,
				  struct tfp_error *err)
{
	*q = (struct tfp_question){.route = route, .app = app, .target = target};
	const char *run = tfp_question_parameter(q, "run"), *tool = tfp_question_tool_name(q);
	if (tfp_question_parameter(q, "session_path") || tfp_question_parameter(q, "run_path")) {
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
	if (route->run == TFP_REQUIRED && !run) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter run is missing");
		tfp_error_set_hint(err, "run=NAME; /runs lists the names");
		return TFP_BAD_QUERY;
	}
	if (route->run != TFP_NOT_NEEDED && run) {
		q->run = tfp_logdir_find_run(q->snapshot, run);
		if (!q->run) {
			tfp_fail(err, TFP_NOT_FOUND, "there is no run \"%s\"", run);
			tfp_error_set_hint(err, "see /runs for the names");
			return TFP_NOT_FOUND;
		}
	}
	if (route->tool == TFP_REQUIRED && !tool) {
		tfp_fail(err, TFP_BAD_QUERY, "parameter tag is missing");
		tfp_error_set_hint(err, "tag=NAME of a tool; /tools lists the names");
		return TFP_BAD_QUERY;
	}
	if (route->tool == TFP_REQUIRED) {
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
		add_text(key, run->hosts[i].path);
		tfp_buf_add(key, &run->hosts[i].identity, sizeof(run->hosts[i].identity));
	}
}

bool tfp_question_key(const struct tfp_question *q, struct tfp_buf *key)
{
	tfp_buf_init(key, KEY_MAX);
	add_text(key, q->route->path);
	add_text(key, q->target->search);
	uint64_t peaks = tfp_given_peaks_stamp(q->app->peaks);
	tfp_buf_add(key, &peaks, sizeof(peaks));
	if (q->run)
		add_run(key, q->run);
	else if (q->snapshot)
		tfp_buf_add(key, &q->snapshot->generation, sizeof(q->snapshot->generation));
	/* A body that is made while it is sent is nobody else's. */
	bool streams = q->tool && tfp_tool_streams(q->tool, &q->target->query);
	return q->run && q->route->basis != TFP_OF_DOWNLOAD && !streams && !tfp_buf_failed(key);
}

bool tfp_question_tag(const struct tfp_question *q, const struct tfp_buf *key, uint64_t build,
		      struct tfp_reply *reply)
{
	if (q->route->basis == TFP_OF_BODY || tfp_buf_failed(key))
		return false;
	snprintf(reply->etag, sizeof(reply->etag), "W/\"%016" PRIx64 "%016" PRIx64 "\"",
		 tfp_hash_bytes(key->data, key->size, build),
		 tfp_hash_bytes(key->data, key->size, ~build));
	return true;
}

bool tfp_question_pays_on_disk(const struct tfp_question *q)
{
	return q->app->results && q->route->cost == TFP_ROUTE_HEAVY &&
	       q->route->tool == TFP_REQUIRED;
}

/* Whether the files that the answer was made of are as the snapshot has them. */
static bool is_unchanged(const struct tfp_route_call *call)
{
	for (size_t i = 0; i < call->host_count; i++) {
		struct tfp_file_identity now;
		int fd;
		if (tfp_logdir_open(call->q->app->dir, &call->hosts[i], &fd, &now, NULL) != TFP_OK)
			return false;
		close(fd);
		if (!tfp_file_identity_equal(&now, &call->hosts[i].identity))
			return false;
	}
	return true;
}

enum tfp_status tfp_question_answer(const struct tfp_question *q, struct tfp_reply *reply,
				    bool *lasting, struct tfp_error *err)
{
	struct tfp_route_call call = {.q = q, .reply = reply};
	enum tfp_status status = q->route->get(&call, err);
	if (status == TFP_OK && tfp_buf_failed(&reply->body))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	if (status == TFP_OK && q->route->basis == TFP_OF_BODY && reply->status == 200)
		tfp_reply_tag_body(reply);
	if (lasting)
		*lasting = status == TFP_OK && !reply->stream.write && is_unchanged(&call);
	tfp_free(call.chosen);
	return status;
}
