/* SPDX-License-Identifier: Apache-2.0 */
#include "http/recordings.h"

#include "base/alloc.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/number.h"
#include "base/pool.h"
#include "http/recording_request.h"
#include "remote/recording.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED 16u

/* One recording. The slot is free when recording is NULL. */
struct slot {
	struct tfp_recordings *owner;
	uint64_t id;
	struct tfp_recording *recording;
	bool running;
	unsigned readers;               /* threads that look at it without the lock */
	char run[TFP_RUN_NAME_MAX + 1]; /* its name in the list of runs, once it ended well */
	struct tfp_recording_options *options;
};

struct tfp_recordings {
	struct tfp_logdir *dir;
	struct tfp_recordings_config config;
	struct tfp_pool *pool;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t ended;
	bool allowed, stopping;
	uint64_t last_id;
	unsigned running;
	struct slot slots[REMEMBERED];
};

/* ---- what is allowed ---- */

static enum tfp_status check_targets(const struct tfp_recordings *r,
				     const struct tfp_recording_options *o, struct tfp_error *err)
{
	for (size_t i = 0; r->config.rule_count && i < o->target_count; i++) {
		if (tfp_target_allowed(&o->targets[i], r->config.rules, r->config.rule_count))
			continue;
		tfp_fail(err, TFP_FORBIDDEN, "capturing from %s is not allowed",
			 o->targets[i].text);
		tfp_error_set_hint(err, "this server was started with --capture-allow; see "
					"/capture_status for the addresses");
		return TFP_FORBIDDEN;
	}
	return TFP_OK;
}

static enum tfp_status not_allowed(struct tfp_error *err)
{
	tfp_fail(err, TFP_FORBIDDEN,
		 "capturing is off, because others than this machine can "
		 "reach the server");
	tfp_error_set_hint(err, "start tfprof-server with --allow-capture, or use tfprof capture");
	return TFP_FORBIDDEN;
}

/* ---- running ---- */

/* The name of a folder's run in the list of runs: the log directory's layout decides. */
static void find_run(struct tfp_recordings *r, const char *folder_name, char *out, size_t size)
{
	const struct tfp_logdir_snapshot *s;
	struct tfp_error err;
	snprintf(out, size, "%s", folder_name);
	tfp_logdir_expire(r->dir);
	if (tfp_logdir_snapshot(r->dir, &s, &err) != TFP_OK)
		return;
	/* Runs of a part of a log directory have longer names. */
	const struct tfp_run *run = tfp_logdir_find_run(s, folder_name);
	for (size_t i = 0; !run && i < s->run_count; i++) {
		const char *last = strrchr(s->runs[i].name, '/');
		if (last && strcmp(last + 1, folder_name) == 0)
			run = &s->runs[i];
	}
	if (run)
		snprintf(out, size, "%s", run->name);
	else
		tfp_log_warning("the new run %s is not listed", folder_name);
	tfp_logdir_snapshot_unref(s);
}

static void run_slot(void *context)
{
	struct slot *slot = context;
	struct tfp_recordings *r = slot->owner;
	struct tfp_recording_progress *p = tfp_malloc(sizeof(*p));
	struct tfp_error err;
	char run[sizeof(slot->run)] = "";
	enum tfp_status status = tfp_recording_run(slot->recording, &err);
	if (p)
		tfp_recording_look(slot->recording, p);
	/* Also when a program put its profile there by itself. */
	if (status == TFP_OK && p)
		find_run(r, p->run, run, sizeof(run));
	tfp_log_verbose("capture %" PRIu64 ": %s", slot->id, status == TFP_OK ? run : err.message);
	tfp_free(p);
	pthread_mutex_lock(&r->lock);
	memcpy(slot->run, run, sizeof(run));
	slot->running = false;
	r->running--;
	pthread_cond_broadcast(&r->ended);
	pthread_mutex_unlock(&r->lock);
}

static void free_slot(struct slot *slot)
{
	tfp_recording_free(slot->recording);
	tfp_free(slot->options);
	*slot = (struct slot){.owner = slot->owner};
}

/* The slot for a new recording: a free one, or that of the oldest one that has ended. */
static struct slot *choose_slot(struct tfp_recordings *r)
{
	struct slot *best = NULL;
	for (size_t i = 0; i < REMEMBERED; i++) {
		struct slot *s = &r->slots[i];
		if (!s->recording && !s->id)
			return s;
		if (!s->running && !s->readers && (!best || s->id < best->id))
			best = s;
	}
	return best;
}

/* Owns options from now on, whatever becomes of it. */
static enum tfp_status start(struct tfp_recordings *r, struct tfp_recording_options *options,
			     uint64_t *id, struct tfp_error *err)
{
	char folder[PATH_MAX];
	struct slot *slot = NULL;
	enum tfp_status status = tfp_logdir_runs_folder(r->dir, folder, sizeof(folder), err);
	if (status == TFP_OK)
		status = check_targets(r, options, err);
	if (status != TFP_OK) {
		tfp_free(options);
		return status;
	}
	pthread_mutex_lock(&r->lock);
	if (!r->allowed || r->stopping) {
		status = not_allowed(err);
	} else if (r->running == TFP_RECORDINGS_AT_ONCE || !(slot = choose_slot(r))) {
		tfp_fail(err, TFP_BUSY, "%u captures are under way already", r->running);
		tfp_error_set_hint(err, "wait until one has ended, or cancel one");
		status = TFP_BUSY;
	}
	if (status == TFP_OK) {
		free_slot(slot);
		slot->options = options;
		options = NULL;
		status = tfp_recording_new(&slot->recording, slot->options, folder, err);
	}
	if (status == TFP_OK) {
		slot->id = *id = ++r->last_id;
		slot->running = true;
		r->running++;
		status = tfp_pool_submit(r->pool, run_slot, slot, err);
		if (status != TFP_OK) {
			slot->running = false;
			r->running--;
		}
	}
	if (status != TFP_OK && slot && !slot->running)
		free_slot(slot);
	pthread_mutex_unlock(&r->lock);
	tfp_free(options);
	return status;
}

static struct slot *find_slot(struct tfp_recordings *r, uint64_t id)
{
	for (size_t i = 0; id && i < REMEMBERED; i++) {
		if (r->slots[i].id == id)
			return &r->slots[i];
	}
	return NULL;
}

static enum tfp_status no_such(uint64_t id, struct tfp_error *err)
{
	tfp_fail(err, TFP_NOT_FOUND, "there is no capture %" PRIu64, id);
	tfp_error_set_hint(err, "only the last %u are kept", REMEMBERED);
	return TFP_NOT_FOUND;
}

/* ---- documents ---- */

/* "" becomes null. */
static void set_text(struct tfp_json *j, const char *key, const char *text)
{
	tfp_json_set_string(j, key, text[0] ? text : NULL);
}

static void set_error(struct tfp_json *j, const char *key, enum tfp_status status,
		      const char *message, const char *hint)
{
	tfp_json_begin_object_of(j, key);
	tfp_json_set_string(j, "code", tfp_status_name(status));
	tfp_json_set_string(j, "message", message);
	set_text(j, "hint", hint);
	tfp_json_end_object(j);
}

static void add_host(struct tfp_json *j, const struct tfp_recording_host *h)
{
	bool failed = h->state == TFP_RECORDING_FAILED;
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "target", h->target);
	tfp_json_set_string(j, "state", tfp_recording_state_name(h->state));
	tfp_json_set_count(j, "bytes", h->bytes);
	tfp_json_set_string(j, "code", failed ? tfp_grpc_code_name(h->code) : NULL);
	tfp_json_set_boolean(j, "busy", h->busy);
	set_text(j, "message", h->message);
	set_text(j, "hint", h->hint);
	set_text(j, "command", h->command);
	set_text(j, "file", h->file);
	tfp_json_end_object(j);
}

static void add_progress(struct tfp_json *j, const struct slot *slot, bool running, const char *run,
			 const struct tfp_recording_progress *p)
{
	tfp_json_begin_object(j);
	tfp_json_set_count(j, "id", slot->id);
	tfp_json_set_boolean(j, "done", !running);
	set_text(j, "run", run);
	if (!running && p->status != TFP_OK)
		set_error(j, "error", p->status, p->error, p->hint);
	else
		tfp_json_set_null(j, "error");
	tfp_json_set_count(j, "attempt", p->attempt);
	tfp_json_set_count(j, "retries", slot->options->retries);
	tfp_json_set_integer(j, "elapsed_ms", p->elapsed_ms);
	tfp_json_set_count(j, "duration_ms", slot->options->duration_ms);
	tfp_json_set_count(j, "delay_ms", slot->options->delay_ms);
	tfp_json_begin_array_of(j, "hosts");
	for (size_t i = 0; i < p->count; i++)
		add_host(j, &p->hosts[i]);
	tfp_json_end_array(j);
	tfp_json_end_object(j);
}

static void add_rule(struct tfp_json *j, const struct tfp_target_rule *rule)
{
	bool v6 = strchr(rule->host, ':') != NULL;
	char text[sizeof(rule->host) + 16], port[16] = "";
	if (rule->port)
		snprintf(port, sizeof(port), ":%u", (unsigned)rule->port);
	snprintf(text, sizeof(text), "%s%s%s%s", v6 ? "[" : "", rule->host, v6 ? "]" : "", port);
	tfp_json_add_string(j, text);
}

static enum tfp_status overview(struct tfp_recordings *r, struct tfp_buf *json,
				struct tfp_error *err)
{
	char folder[PATH_MAX];
	uint64_t running[REMEMBERED];
	size_t running_count = 0;
	struct tfp_error reason;
	struct tfp_json j;
	tfp_error_init(&reason);
	enum tfp_status status = tfp_logdir_runs_folder(r->dir, folder, sizeof(folder), &reason);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < REMEMBERED; i++) {
		if (r->slots[i].running)
			running[running_count++] = r->slots[i].id;
	}
	if (!r->allowed)
		status = not_allowed(&reason);
	pthread_mutex_unlock(&r->lock);
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_set_boolean(&j, "allowed", status == TFP_OK);
	if (status != TFP_OK) {
		tfp_logdir_redact(r->dir, reason.message);
		set_error(&j, "reason", reason.status, reason.message, reason.hint);
	} else {
		tfp_json_set_null(&j, "reason");
	}
	if (r->config.rule_count) {
		tfp_json_begin_array_of(&j, "targets");
		for (size_t i = 0; i < r->config.rule_count; i++)
			add_rule(&j, &r->config.rules[i]);
		tfp_json_end_array(&j);
	} else {
		tfp_json_set_null(&j, "targets");
	}
	tfp_json_begin_array_of(&j, "running");
	for (size_t i = 0; i < running_count; i++)
		tfp_json_add_count(&j, running[i]);
	tfp_json_end_array(&j);
	tfp_json_set_string(&j, "logdir", tfp_logdir_path(r->dir));
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

/* Clients need not know where the log directory lies. */
static void redact(struct tfp_recordings *r, struct tfp_recording_progress *p)
{
	tfp_logdir_redact(r->dir, p->error);
	tfp_logdir_redact(r->dir, p->hint);
	for (size_t i = 0; i < p->count; i++) {
		tfp_logdir_redact(r->dir, p->hosts[i].message);
		tfp_logdir_redact(r->dir, p->hosts[i].hint);
		tfp_logdir_redact(r->dir, p->hosts[i].command);
		tfp_logdir_redact(r->dir, p->hosts[i].file);
	}
}

static enum tfp_status describe(struct tfp_recordings *r, uint64_t id, struct tfp_buf *json,
				struct tfp_error *err)
{
	char run[sizeof(r->slots[0].run)];
	struct tfp_recording_progress *p = tfp_malloc(sizeof(*p));
	if (!p)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	pthread_mutex_lock(&r->lock);
	struct slot *slot = find_slot(r, id);
	bool running = slot && slot->running;
	if (slot) {
		slot->readers++;
		memcpy(run, slot->run, sizeof(run));
	}
	pthread_mutex_unlock(&r->lock);
	if (!slot) {
		tfp_free(p);
		return no_such(id, err);
	}
	tfp_recording_look(slot->recording, p);
	redact(r, p);
	struct tfp_json j;
	tfp_json_init(&j, json);
	add_progress(&j, slot, running, run, p);
	enum tfp_status status = tfp_json_finish(&j, err);
	tfp_free(p);
	pthread_mutex_lock(&r->lock);
	slot->readers--;
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* ---- requests ---- */

enum tfp_status tfp_recordings_start(struct tfp_recordings *r, const char *body, size_t size,
				     struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_recording_options *options;
	struct tfp_json j;
	uint64_t id;
	enum tfp_status status = tfp_recording_request_body(&options, body, size, err);
	if (status == TFP_OK)
		status = start(r, options, &id, err);
	if (status != TFP_OK)
		return status;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_set_count(&j, "id", id);
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

/* In XProf's words, for clients that look at them. */
static enum tfp_status put_done(struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_json j;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_set_string(&j, "result", "Capture profile successfully. Please refresh.");
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

enum tfp_status tfp_recordings_run(struct tfp_recordings *r, const struct tfp_query *query,
				   struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_recording_options *options;
	struct tfp_recording_progress *p = NULL;
	uint64_t id;
	if (!r->config.by_get) {
		tfp_fail(err, TFP_FORBIDDEN, "captures are started by POST");
		tfp_error_set_hint(err, "--capture-get allows XProf's form, by GET");
		return TFP_FORBIDDEN;
	}
	enum tfp_status status = tfp_recording_request_query(&options, query, err);
	if (status == TFP_OK)
		status = start(r, options, &id, err);
	if (status != TFP_OK)
		return status;
	pthread_mutex_lock(&r->lock);
	struct slot *slot = find_slot(r, id);
	if (slot)
		slot->readers++;
	while (slot && slot->running)
		pthread_cond_wait(&r->ended, &r->lock);
	pthread_mutex_unlock(&r->lock);
	if (!slot)
		return no_such(id, err);
	p = tfp_malloc(sizeof(*p));
	if (!p) {
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	} else {
		tfp_recording_look(slot->recording, p);
		status = p->status;
		if (status != TFP_OK) {
			tfp_fail(err, status, "%s", p->error);
			tfp_error_set_hint(err, "%s", p->hint);
		} else {
			status = put_done(json, err);
		}
	}
	tfp_free(p);
	pthread_mutex_lock(&r->lock);
	slot->readers--;
	pthread_mutex_unlock(&r->lock);
	return status;
}

enum tfp_status tfp_recordings_status(struct tfp_recordings *r, const char *text,
				      struct tfp_buf *json, struct tfp_error *err)
{
	uint64_t id;
	if (!text)
		return overview(r, json, err);
	if (!tfp_number(text, UINT64_MAX, &id))
		return tfp_fail(err, TFP_BAD_QUERY, "id must be a number");
	return describe(r, id, json, err);
}

enum tfp_status tfp_recordings_cancel(struct tfp_recordings *r, const char *body, size_t size,
				      struct tfp_buf *json, struct tfp_error *err)
{
	uint64_t id;
	enum tfp_status status = tfp_recording_request_id(&id, body, size, err);
	if (status != TFP_OK)
		return status;
	pthread_mutex_lock(&r->lock);
	struct slot *slot = find_slot(r, id);
	if (slot && slot->running)
		tfp_recording_cancel(slot->recording);
	pthread_mutex_unlock(&r->lock);
	return slot ? describe(r, id, json, err) : no_such(id, err);
}

/* ---- beginning and end ---- */

enum tfp_status tfp_recordings_new(struct tfp_recordings **out, struct tfp_logdir *dir,
				   const struct tfp_recordings_config *config,
				   struct tfp_error *err)
{
	struct tfp_recordings *r = tfp_calloc(1, sizeof(*r));
	*out = NULL;
	if (!r)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for captures");
	r->dir = dir;
	r->config = *config;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->ended, NULL);
	for (size_t i = 0; i < REMEMBERED; i++)
		r->slots[i].owner = r;
	enum tfp_status status = tfp_pool_new(&r->pool, TFP_RECORDINGS_AT_ONCE, err);
	if (status != TFP_OK) {
		tfp_recordings_free(r);
		return status;
	}
	*out = r;
	return TFP_OK;
}

bool tfp_recordings_by_get(struct tfp_recordings *r)
{
	pthread_mutex_lock(&r->lock);
	bool allowed = r->allowed && r->config.by_get;
	pthread_mutex_unlock(&r->lock);
	return allowed;
}

void tfp_recordings_allow(struct tfp_recordings *r)
{
	pthread_mutex_lock(&r->lock);
	r->allowed = true;
	pthread_mutex_unlock(&r->lock);
}

void tfp_recordings_stop(struct tfp_recordings *r)
{
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	for (size_t i = 0; i < REMEMBERED; i++) {
		if (r->slots[i].running)
			tfp_recording_cancel(r->slots[i].recording);
	}
	while (r->running)
		pthread_cond_wait(&r->ended, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

void tfp_recordings_free(struct tfp_recordings *r)
{
	if (!r)
		return;
	if (r->pool)
		tfp_recordings_stop(r);
	tfp_pool_free(r->pool);
	for (size_t i = 0; i < REMEMBERED; i++)
		free_slot(&r->slots[i]);
	pthread_cond_destroy(&r->ended);
	pthread_mutex_destroy(&r->lock);
	tfp_free(r);
}
