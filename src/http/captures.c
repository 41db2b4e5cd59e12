#include "http/captures.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/pool.h"
#include "base/utf8.h"
#include "remote/recording.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED 16u

/* One capture. The slot is free when recording is NULL. */
struct slot {
	struct tfp_captures *owner;
	uint64_t id;
	struct tfp_recording *recording;
	bool running;
	unsigned readers;               /* who look at it with the lock given back */
	char run[TFP_RUN_NAME_MAX + 1]; /* name in the list of runs, once it ended well */
	struct tfp_recording_options *options;
};

struct tfp_captures {
	struct tfp_logdir *dir;
	struct tfp_captures_config config;
	struct tfp_pool *pool;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t ended;
	bool allowed, stopping;
	uint64_t last_id;
	unsigned running;
	struct slot slots[REMEMBERED];
};

/* ---- what is asked for ---- */

static enum tfp_status bad_field(const char *name, const char *what, struct tfp_error *err)
{
	return tfp_fail(err, TFP_BAD_QUERY, "%s must be %s", name, what);
}

/* One field of the request by name, from JSON or from an address. */
struct fields {
	const json_t *json;
	const struct tfp_query *query;
};

static const char *text_field(const struct fields *f, const char *name)
{
	if (f->json)
		return json_string_value(json_object_get(f->json, name));
	return tfp_query_get(f->query, name);
}

/* Leaves *out when the field is not there. */
static enum tfp_status number_field(const struct fields *f, const char *name, uint32_t max,
				    uint32_t *out, struct tfp_error *err)
{
	const json_t *value = f->json ? json_object_get(f->json, name) : NULL;
	char what[64];
	snprintf(what, sizeof(what), "a whole number from 0 to %u", max);
	if (value && !json_is_null(value)) {
		json_int_t n = json_integer_value(value);
		if (!json_is_integer(value) || n < 0 || n > (json_int_t)max)
			return bad_field(name, what, err);
		*out = (uint32_t)n;
		return TFP_OK;
	}
	const char *text = f->json ? NULL : tfp_query_get(f->query, name);
	if (!text || !text[0])
		return TFP_OK;
	uint64_t n;
	if (!tfp_number(text, max, &n))
		return bad_field(name, what, err);
	*out = (uint32_t)n;
	return TFP_OK;
}

static enum tfp_status add_setting(struct tfp_recording_options *o, const char *key, json_t *value,
				   struct tfp_error *err)
{
	char number[32];
	const char *text = json_string_value(value);
	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
		text = number;
	} else if (json_is_boolean(value)) {
		text = json_is_true(value) ? "true" : "false";
	}
	if (!text)
		return bad_field("an option's value", "a string, a whole number or a boolean", err);
	return tfp_recording_add_setting(o, key, strlen(key), text, err);
}

static enum tfp_status read_options(const struct fields *f, struct tfp_recording_options *o,
				    struct tfp_error *err)
{
	const char *addresses = text_field(f, "service_addr"), *name = text_field(f, "session");
	const char *workers = text_field(f, "worker_list"), *tpu = text_field(f, "is_tpu_name");
	json_t *settings = f->json ? json_object_get(f->json, "options") : NULL;
	tfp_recording_options_init(o);
	if ((workers && workers[0]) || (tpu && strcmp(tpu, "true") == 0)) {
		tfp_fail(err, TFP_BAD_QUERY, "names of Cloud TPUs are not resolved here");
		tfp_error_set_hint(err, "give the workers' addresses, as IP:8466,...");
		return TFP_BAD_QUERY;
	}
	if (!addresses)
		return bad_field("service_addr", "a string with the addresses", err);
	enum tfp_status status = tfp_targets_parse(o->targets, &o->target_count, addresses, err);
	const struct {
		const char *name;
		uint32_t max, *out;
	} numbers[] = {
		{"duration", TFP_RECORDING_DURATION_MAX_MS, &o->duration_ms},
		{"delay", TFP_RECORDING_DURATION_MAX_MS, &o->delay_ms},
		{"num_retry", TFP_RECORDING_RETRIES_MAX, &o->retries},
		{"host_tracer_level", TFP_TRACER_LEVEL_MAX, &o->host_level},
		{"device_tracer_level", TFP_TRACER_LEVEL_MAX, &o->device_level},
		{"python_tracer_level", TFP_TRACER_LEVEL_MAX, &o->python_level},
	};
	for (size_t i = 0; status == TFP_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		status = number_field(f, numbers[i].name, numbers[i].max, numbers[i].out, err);
	if (name)
		tfp_run_name_clean(name, o->session);
	if (settings && !json_is_null(settings)) {
		const char *key;
		json_t *value;
		if (status == TFP_OK && !json_is_object(settings))
			status = bad_field("options", "an object", err);
		json_object_foreach(settings, key, value)
		{
			if (status == TFP_OK)
				status = add_setting(o, key, value, err);
		}
	}
	return status == TFP_OK ? tfp_recording_options_check(o, err) : status;
}

static enum tfp_status check_targets(const struct tfp_captures *c,
				     const struct tfp_recording_options *o, struct tfp_error *err)
{
	for (size_t i = 0; c->config.rule_count && i < o->target_count; i++) {
		if (tfp_target_allowed(&o->targets[i], c->config.rules, c->config.rule_count))
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

/* Name under which the list of runs has it: the log directory's layout decides. */
static void find_run(struct tfp_captures *c, const char *folder_name, char *out, size_t size)
{
	const struct tfp_logdir_snapshot *s;
	struct tfp_error err;
	snprintf(out, size, "%s", folder_name);
	tfp_logdir_expire(c->dir);
	if (tfp_logdir_snapshot(c->dir, &s, &err) != TFP_OK)
		return;
	/* A log directory that is a part of one gives its runs longer names. */
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
	struct tfp_captures *c = slot->owner;
	struct tfp_recording_progress *p = tfp_malloc(sizeof(*p));
	struct tfp_error err;
	char run[sizeof(slot->run)] = "";
	enum tfp_status status = tfp_recording_run(slot->recording, &err);
	if (p)
		tfp_recording_look(slot->recording, p);
	/* Also when a program put its profile there by itself. */
	if (status == TFP_OK && p)
		find_run(c, p->run, run, sizeof(run));
	tfp_log_verbose("capture %" PRIu64 ": %s", slot->id, status == TFP_OK ? run : err.message);
	tfp_free(p);
	pthread_mutex_lock(&c->lock);
	memcpy(slot->run, run, sizeof(run));
	slot->running = false;
	c->running--;
	pthread_cond_broadcast(&c->ended);
	pthread_mutex_unlock(&c->lock);
}

static void free_slot(struct slot *slot)
{
	tfp_recording_free(slot->recording);
	tfp_free(slot->options);
	*slot = (struct slot){.owner = slot->owner};
}

/* The slot for a new capture: a free one, or the oldest that has ended. */
static struct slot *choose_slot(struct tfp_captures *c)
{
	struct slot *best = NULL;
	for (size_t i = 0; i < REMEMBERED; i++) {
		struct slot *s = &c->slots[i];
		if (!s->recording && !s->id)
			return s;
		if (!s->running && !s->readers && (!best || s->id < best->id))
			best = s;
	}
	return best;
}

/* Takes options in every case. */
static enum tfp_status start(struct tfp_captures *c, struct tfp_recording_options *options,
			     uint64_t *id, struct tfp_error *err)
{
	char folder[PATH_MAX];
	struct slot *slot = NULL;
	enum tfp_status status = tfp_logdir_runs_folder(c->dir, folder, sizeof(folder), err);
	if (status == TFP_OK)
		status = check_targets(c, options, err);
	if (status != TFP_OK) {
		tfp_free(options);
		return status;
	}
	pthread_mutex_lock(&c->lock);
	if (!c->allowed || c->stopping) {
		status = not_allowed(err);
	} else if (c->running == TFP_CAPTURES_AT_ONCE || !(slot = choose_slot(c))) {
		tfp_fail(err, TFP_BUSY, "%u captures are under way already", c->running);
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
		slot->id = *id = ++c->last_id;
		slot->running = true;
		c->running++;
		status = tfp_pool_submit(c->pool, run_slot, slot, err);
		if (status != TFP_OK) {
			slot->running = false;
			c->running--;
		}
	}
	if (status != TFP_OK && slot && !slot->running)
		free_slot(slot);
	pthread_mutex_unlock(&c->lock);
	tfp_free(options);
	return status;
}

static enum tfp_status start_by(struct tfp_captures *c, const struct fields *f, uint64_t *id,
				struct tfp_error *err)
{
	struct tfp_recording_options *o = tfp_malloc(sizeof(*o));
	if (!o)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a capture");
	enum tfp_status status = read_options(f, o, err);
	if (status != TFP_OK) {
		tfp_free(o);
		return status;
	}
	return start(c, o, id, err);
}

static struct slot *find_slot(struct tfp_captures *c, uint64_t id)
{
	for (size_t i = 0; id && i < REMEMBERED; i++) {
		if (c->slots[i].id == id)
			return &c->slots[i];
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

static enum tfp_status print(json_t *document, struct tfp_buf *json, struct tfp_error *err)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
	json_decref(document);
	if (!text)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	tfp_buf_puts(json, text);
	/* jansson's own heap. */
	json_free_t release;
	json_get_alloc_funcs(NULL, &release);
	release(text);
	return tfp_buf_failed(json) ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer")
				    : TFP_OK;
}

/* Paths may hold any bytes, and what was cut to fit half a character; JSON may not. */
static json_t *text_json(const char *text)
{
	struct tfp_buf clean;
	if (tfp_utf8_valid(text, strlen(text)))
		return json_string(text);
	tfp_buf_init(&clean, 3 * strlen(text));
	tfp_utf8_repair(&clean, text, strlen(text));
	json_t *value = tfp_buf_failed(&clean) ? NULL : json_string(tfp_buf_text(&clean));
	tfp_buf_release(&clean);
	return value;
}

static json_t *text_or_null(const char *text)
{
	return text[0] ? text_json(text) : json_null();
}

static json_t *error_json(enum tfp_status status, const char *message, const char *hint)
{
	return json_pack("{s:s, s:o, s:o}", "code", tfp_status_name(status), "message",
			 text_json(message), "hint", text_or_null(hint));
}

static json_t *host_json(const struct tfp_recording_host *h)
{
	return json_pack(
		"{s:s, s:s, s:I, s:o, s:b, s:o, s:o, s:o, s:o}", "target", h->target, "state",
		tfp_recording_state_name(h->state), "bytes", (json_int_t)h->bytes, "code",
		h->state == TFP_RECORDING_FAILED ? json_string(tfp_grpc_code_name(h->code))
						 : json_null(),
		"busy", h->busy, "message", text_or_null(h->message), "hint", text_or_null(h->hint),
		"command", text_or_null(h->command), "file", text_or_null(h->file));
}

static json_t *progress_json(const struct slot *slot, bool running, const char *run,
			     const struct tfp_recording_progress *p)
{
	json_t *hosts = json_array();
	for (size_t i = 0; i < p->count; i++)
		json_array_append_new(hosts, host_json(&p->hosts[i]));
	json_t *error = json_null();
	if (!running && p->status != TFP_OK)
		error = error_json(p->status, p->error, p->hint);
	return json_pack("{s:I, s:b, s:o, s:o, s:i, s:i, s:I, s:I, s:I, s:o}", "id",
			 (json_int_t)slot->id, "done", !running, "run", text_or_null(run), "error",
			 error, "attempt", (int)p->attempt, "retries", (int)slot->options->retries,
			 "elapsed_ms", (json_int_t)p->elapsed_ms, "duration_ms",
			 (json_int_t)slot->options->duration_ms, "delay_ms",
			 (json_int_t)slot->options->delay_ms, "hosts", hosts);
}

static enum tfp_status overview(struct tfp_captures *c, struct tfp_buf *json, struct tfp_error *err)
{
	char folder[PATH_MAX];
	struct tfp_error reason;
	json_t *rules = c->config.rule_count ? json_array() : json_null();
	json_t *ids = json_array();
	for (size_t i = 0; i < c->config.rule_count; i++) {
		const struct tfp_target_rule *r = &c->config.rules[i];
		bool v6 = strchr(r->host, ':') != NULL;
		char text[sizeof(r->host) + 16], port[16] = "";
		if (r->port)
			snprintf(port, sizeof(port), ":%u", (unsigned)r->port);
		snprintf(text, sizeof(text), "%s%s%s%s", v6 ? "[" : "", r->host, v6 ? "]" : "",
			 port);
		json_array_append_new(rules, json_string(text));
	}
	tfp_error_init(&reason);
	enum tfp_status status = tfp_logdir_runs_folder(c->dir, folder, sizeof(folder), &reason);
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < REMEMBERED; i++) {
		if (c->slots[i].running)
			json_array_append_new(ids, json_integer((json_int_t)c->slots[i].id));
	}
	if (!c->allowed)
		status = not_allowed(&reason);
	pthread_mutex_unlock(&c->lock);
	json_t *why = json_null();
	if (status != TFP_OK) {
		tfp_logdir_redact(c->dir, reason.message);
		why = error_json(reason.status, reason.message, reason.hint);
	}
	json_t *logdir = text_json(tfp_logdir_path(c->dir));
	return print(json_pack("{s:b, s:o, s:o, s:o, s:o}", "allowed", status == TFP_OK, "reason",
			       why, "targets", rules, "running", ids, "logdir", logdir),
		     json, err);
}

/* Where the log directory lies need not concern those who ask. */
static void redact(struct tfp_captures *c, struct tfp_recording_progress *p)
{
	tfp_logdir_redact(c->dir, p->error);
	tfp_logdir_redact(c->dir, p->hint);
	for (size_t i = 0; i < p->count; i++) {
		tfp_logdir_redact(c->dir, p->hosts[i].message);
		tfp_logdir_redact(c->dir, p->hosts[i].hint);
		tfp_logdir_redact(c->dir, p->hosts[i].command);
		tfp_logdir_redact(c->dir, p->hosts[i].file);
	}
}

static enum tfp_status describe(struct tfp_captures *c, uint64_t id, struct tfp_buf *json,
				struct tfp_error *err)
{
	char run[sizeof(c->slots[0].run)];
	struct tfp_recording_progress *p = tfp_malloc(sizeof(*p));
	if (!p)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	pthread_mutex_lock(&c->lock);
	struct slot *slot = find_slot(c, id);
	bool running = slot && slot->running;
	if (slot) {
		slot->readers++;
		memcpy(run, slot->run, sizeof(run));
	}
	pthread_mutex_unlock(&c->lock);
	if (!slot) {
		tfp_free(p);
		return no_such(id, err);
	}
	tfp_recording_look(slot->recording, p);
	redact(c, p);
	enum tfp_status status = print(progress_json(slot, running, run, p), json, err);
	tfp_free(p);
	pthread_mutex_lock(&c->lock);
	slot->readers--;
	pthread_mutex_unlock(&c->lock);
	return status;
}

/* ---- requests ---- */

static enum tfp_status parse_body(const char *body, size_t size, json_t **out,
				  struct tfp_error *err)
{
	json_error_t why;
	*out = json_loadb(body, size, JSON_REJECT_DUPLICATES, &why);
	if (*out && json_is_object(*out))
		return TFP_OK;
	if (*out)
		tfp_fail(err, TFP_BAD_QUERY, "the body must be a JSON object");
	else
		tfp_fail(err, TFP_BAD_QUERY, "the body is not JSON: %s", why.text);
	json_decref(*out);
	*out = NULL;
	return TFP_BAD_QUERY;
}

enum tfp_status tfp_captures_start(struct tfp_captures *c, const char *body, size_t size,
				   struct tfp_buf *json, struct tfp_error *err)
{
	json_t *request;
	uint64_t id;
	enum tfp_status status = parse_body(body, size, &request, err);
	if (status != TFP_OK)
		return status;
	const struct fields f = {.json = request};
	status = start_by(c, &f, &id, err);
	json_decref(request);
	if (status == TFP_OK)
		status = print(json_pack("{s:I}", "id", (json_int_t)id), json, err);
	return status;
}

/* XProf's words, for clients that look at them. */
static const char done_text[] = "{\"result\": \"Capture profile successfully. Please refresh.\"}";

enum tfp_status tfp_captures_run(struct tfp_captures *c, const struct tfp_query *query,
				 struct tfp_buf *json, struct tfp_error *err)
{
	const struct fields f = {.query = query};
	struct tfp_recording_progress *p = NULL;
	uint64_t id;
	if (!c->config.by_get) {
		tfp_fail(err, TFP_FORBIDDEN, "captures are started by POST");
		tfp_error_set_hint(err, "--capture-get allows XProf's form, by GET");
		return TFP_FORBIDDEN;
	}
	enum tfp_status status = start_by(c, &f, &id, err);
	if (status != TFP_OK)
		return status;
	pthread_mutex_lock(&c->lock);
	struct slot *slot = find_slot(c, id);
	if (slot)
		slot->readers++;
	while (slot && slot->running)
		pthread_cond_wait(&c->ended, &c->lock);
	pthread_mutex_unlock(&c->lock);
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
			tfp_buf_puts(json, done_text);
		}
	}
	tfp_free(p);
	pthread_mutex_lock(&c->lock);
	slot->readers--;
	pthread_mutex_unlock(&c->lock);
	return status;
}

enum tfp_status tfp_captures_status(struct tfp_captures *c, const char *text, struct tfp_buf *json,
				    struct tfp_error *err)
{
	uint64_t id;
	if (!text)
		return overview(c, json, err);
	if (!tfp_number(text, UINT64_MAX, &id))
		return bad_field("id", "a number", err);
	return describe(c, id, json, err);
}

enum tfp_status tfp_captures_cancel(struct tfp_captures *c, const char *body, size_t size,
				    struct tfp_buf *json, struct tfp_error *err)
{
	json_t *request;
	enum tfp_status status = parse_body(body, size, &request, err);
	if (status != TFP_OK)
		return status;
	const json_t *id = json_object_get(request, "id");
	uint64_t number = json_is_integer(id) ? (uint64_t)json_integer_value(id) : 0;
	json_decref(request);
	pthread_mutex_lock(&c->lock);
	struct slot *slot = find_slot(c, number);
	if (slot && slot->running)
		tfp_recording_cancel(slot->recording);
	pthread_mutex_unlock(&c->lock);
	return slot ? describe(c, number, json, err) : no_such(number, err);
}

/* ---- beginning and end ---- */

enum tfp_status tfp_captures_new(struct tfp_captures **out, struct tfp_logdir *dir,
				 const struct tfp_captures_config *config, struct tfp_error *err)
{
	struct tfp_captures *c = tfp_calloc(1, sizeof(*c));
	*out = NULL;
	if (!c)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for captures");
	c->dir = dir;
	c->config = *config;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->ended, NULL);
	for (size_t i = 0; i < REMEMBERED; i++)
		c->slots[i].owner = c;
	enum tfp_status status = tfp_pool_new(&c->pool, TFP_CAPTURES_AT_ONCE, err);
	if (status != TFP_OK) {
		tfp_captures_free(c);
		return status;
	}
	*out = c;
	return TFP_OK;
}

bool tfp_captures_by_get(struct tfp_captures *c)
{
	pthread_mutex_lock(&c->lock);
	bool allowed = c->allowed && c->config.by_get;
	pthread_mutex_unlock(&c->lock);
	return allowed;
}

void tfp_captures_allow(struct tfp_captures *c)
{
	pthread_mutex_lock(&c->lock);
	c->allowed = true;
	pthread_mutex_unlock(&c->lock);
}

void tfp_captures_stop(struct tfp_captures *c)
{
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	for (size_t i = 0; i < REMEMBERED; i++) {
		if (c->slots[i].running)
			tfp_recording_cancel(c->slots[i].recording);
	}
	while (c->running)
		pthread_cond_wait(&c->ended, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

void tfp_captures_free(struct tfp_captures *c)
{
	if (!c)
		return;
	if (c->pool)
		tfp_captures_stop(c);
	tfp_pool_free(c->pool);
	for (size_t i = 0; i < REMEMBERED; i++)
		free_slot(&c->slots[i]);
	pthread_cond_destroy(&c->ended);
	pthread_mutex_destroy(&c->lock);
	tfp_free(c);
}
