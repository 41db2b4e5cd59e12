/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_documents.h"

#include "base/alloc.h"
#include "base/json_writer.h"

#include <string.h>

#define NS_PER_MS INT64_C(1000000)

static void set_milliseconds(struct tfp_json *j, const char *key, int64_t ns)
{
	tfp_json_set_integer(j, key, ns / NS_PER_MS);
}

static void set_text_or_null(struct tfp_json *j, const char *key, const char *text)
{
	tfp_json_set_string(j, key, text && text[0] ? text : NULL);
}

/* ---- errors ---- */

static void add_error(struct tfp_json *j, const struct tfp_error *err)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "code", tfp_status_name(err->status));
	tfp_json_set_string(j, "message", err->message);
	if (err->hint[0])
		tfp_json_set_string(j, "hint", err->hint);
	if (err->file[0])
		tfp_json_set_string(j, "file", err->file);
	if (err->offset != TFP_NO_OFFSET)
		tfp_json_set_count(j, "offset", err->offset);
	tfp_json_end_object(j);
}

void tfp_error_json(const struct tfp_error *err, struct tfp_buf *json)
{
	struct tfp_json j;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_key(&j, "error");
	add_error(&j, err);
	tfp_json_end_object(&j);
	if (tfp_json_finish(&j, NULL) == TFP_OK)
		return;
	tfp_buf_clear(json);
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_begin_object_of(&j, "error");
	tfp_json_set_string(&j, "code", tfp_status_name(err->status));
	tfp_json_set_string(&j, "message", "no memory to say more");
	tfp_json_end_object(&j);
	tfp_json_end_object(&j);
}

/* ---- all runs ---- */

enum tfp_status tfp_runs_json(const struct tfp_logdir_snapshot *snapshot, struct tfp_buf *json,
			      struct tfp_error *err)
{
	struct tfp_json j;
	tfp_json_init(&j, json);
	tfp_json_begin_array(&j);
	for (size_t i = 0; i < snapshot->run_count; i++)
		tfp_json_add_string(&j, snapshot->runs[i].name);
	tfp_json_end_array(&j);
	return tfp_json_finish(&j, err);
}

static void put_run(struct tfp_json *j, const struct tfp_dated_run *dated)
{
	const struct tfp_run *run = dated->run;
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "run", run->name);
	tfp_json_set_string(j, "kind", tfp_run_kind_name(run));
	tfp_json_begin_array_of(j, "hosts");
	for (size_t i = 0; i < run->host_count; i++)
		tfp_json_add_string(j, run->hosts[i].host);
	tfp_json_end_array(j);
	tfp_json_set_count(j, "files", run->host_count);
	tfp_json_set_count(j, "bytes", run->bytes);
	set_milliseconds(j, "time_ms", dated->time_ns);
	tfp_json_set_string(j, "time_from", tfp_time_source_name(dated->source));
	set_milliseconds(j, "modified_ms", run->modified_ns);
	tfp_json_end_object(j);
}

static void put_notes(struct tfp_json *j, const char *key,
		      const struct tfp_logdir_snapshot *snapshot)
{
	tfp_json_begin_array_of(j, key);
	for (size_t i = 0; i < snapshot->note_count; i++)
		tfp_json_add_string(j, snapshot->notes[i]);
	tfp_json_end_array(j);
}

static void put_problem(struct tfp_json *j, const struct tfp_logdir *dir,
			const struct tfp_logdir_snapshot *snapshot, size_t run_count)
{
	struct tfp_error problem;
	if (run_count || !tfp_run_list_problem(dir, snapshot, &problem)) {
		tfp_json_set_null(j, "problem");
		return;
	}
	tfp_json_begin_object_of(j, "problem");
	tfp_json_set_string(j, "message", problem.message);
	tfp_json_set_string(j, "hint", problem.hint);
	put_notes(j, "found", snapshot);
	tfp_json_end_object(j);
}

enum tfp_status tfp_run_list_json(struct tfp_run_info *info,
				  const struct tfp_logdir_snapshot *snapshot, struct tfp_buf *json,
				  struct tfp_error *err)
{
	const struct tfp_logdir *dir = tfp_run_info_logdir(info);
	struct tfp_dated_run *sorted;
	struct tfp_json j;
	size_t count;
	enum tfp_status status = tfp_run_info_sort(info, snapshot, &sorted, &count, err);
	if (status != TFP_OK)
		return status;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_set_string(&j, "logdir", tfp_logdir_path(dir));
	tfp_json_set_string(&j, "version", TFP_VERSION);
	tfp_json_begin_array_of(&j, "runs");
	for (size_t i = 0; i < count; i++)
		put_run(&j, &sorted[i]);
	tfp_json_end_array(&j);
	tfp_free(sorted);
	tfp_json_begin_object_of(&j, "searched");
	tfp_json_set_count(&j, "folders", snapshot->folders);
	tfp_json_set_count(&j, "files", snapshot->files);
	tfp_json_set_boolean(&j, "truncated", snapshot->truncated);
	tfp_json_end_object(&j);
	put_notes(&j, "notes", snapshot);
	put_problem(&j, dir, snapshot, count);
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

/* ---- one run ---- */

static void put_host(struct tfp_json *j, const struct tfp_capture_file *file,
		     const struct tfp_look *look, const struct tfp_error *error)
{
	static const char *const compressions[] = {
		[TFP_PLAIN] = "none", [TFP_GZIP] = "gzip", [TFP_ZSTD] = "zstd"};
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "host", file->host);
	tfp_json_set_string(j, "file", file->name);
	tfp_json_set_count(j, "bytes", file->identity.bytes);
	set_milliseconds(j, "modified_ms", file->identity.modified_ns);
	tfp_json_set_string(j, "compression", compressions[file->compression]);
	set_text_or_null(j, "device_type", look->device_type);
	tfp_json_set_count(j, "device_count", look->device_count);
	tfp_json_key(j, "problem");
	if (error->status == TFP_OK)
		tfp_json_add_null(j);
	else
		add_error(j, error);
	tfp_json_end_object(j);
}

/* A run is of the kind of its accelerators, where it has any. */
static const struct tfp_look *most_devices(const struct tfp_run_looks *r, size_t *devices)
{
	const struct tfp_look *best = NULL;
	*devices = 0;
	for (size_t i = 0; i < r->run->host_count; i++) {
		const struct tfp_look *look = &r->looks[i];
		if (r->errors[i].status != TFP_OK)
			continue;
		*devices += look->device_count;
		if (!best || look->device_count > best->device_count)
			best = look;
	}
	return best;
}

enum tfp_status tfp_run_info_json(struct tfp_run_info *info, const struct tfp_run *run,
				  struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_run_looks r;
	struct tfp_json j;
	size_t devices;
	enum tfp_status status = tfp_run_looks_init(&r, info, run, err);
	if (status != TFP_OK)
		return status;
	const struct tfp_look *best = most_devices(&r, &devices);
	struct tfp_dated_run dated = tfp_run_info_time_of(info, run);
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_set_string(&j, "run", run->name);
	tfp_json_set_string(&j, "kind", tfp_run_kind_name(run));
	tfp_json_set_count(&j, "bytes", run->bytes);
	set_milliseconds(&j, "time_ms", dated.time_ns);
	tfp_json_set_string(&j, "time_from", tfp_time_source_name(dated.source));
	set_milliseconds(&j, "modified_ms", run->modified_ns);
	set_text_or_null(&j, "device_type", best ? best->device_type : NULL);
	tfp_json_set_count(&j, "device_count", devices);
	tfp_json_begin_array_of(&j, "hosts");
	for (size_t i = 0; i < run->host_count; i++)
		put_host(&j, &run->hosts[i], &r.looks[i], &r.errors[i]);
	tfp_json_end_array(&j);
	tfp_json_end_object(&j);
	tfp_run_looks_release(&r);
	return tfp_json_finish(&j, err);
}

/* ---- hosts ---- */

static void add_hostname_object(struct tfp_json *j, const char *host)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "hostname", host);
	tfp_json_end_object(j);
}

/* The hosts that a tool can be asked for, in byte order. */
static void add_hosts(struct tfp_json *j, const struct tfp_run *run, enum tfp_host_scope scope,
		      void (*add)(struct tfp_json *j, const char *host))
{
	size_t i = 0;
	bool several = run->host_count > 1;
	bool all = several && (scope & TFP_HOSTS_ALL);
	bool each = !several || (scope & TFP_HOSTS_ONE);
	/* In byte order, in which lower case comes after ALL_HOSTS. */
	for (; each && i < run->host_count && strcmp(run->hosts[i].host, TFP_ALL_HOSTS) < 0; i++)
		add(j, run->hosts[i].host);
	if (all)
		add(j, TFP_ALL_HOSTS);
	for (; each && i < run->host_count; i++)
		add(j, run->hosts[i].host);
}

enum tfp_status tfp_hosts_json(const struct tfp_run *run, const struct tfp_tool *tool,
			       struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_json j;
	enum tfp_host_scope scope = TFP_HOSTS_ONE;
	if (tool)
		scope = tool->peer_scope ? tool->peer_scope : tool->scope;
	tfp_json_init(&j, json);
	tfp_json_begin_array(&j);
	if (run)
		add_hosts(&j, run, scope, add_hostname_object);
	tfp_json_end_array(&j);
	return tfp_json_finish(&j, err);
}

/* ---- tools ---- */

enum tfp_status tfp_run_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
				   struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_run_traits traits;
	struct tfp_json j;
	enum tfp_status status = tfp_run_traits(info, run, &traits, err);
	if (status != TFP_OK)
		return status;
	tfp_json_init(&j, json);
	tfp_json_begin_array(&j);
	for (const struct tfp_tool *tool = tfp_tool_next(NULL); tool; tool = tfp_tool_next(tool)) {
		if (!traits.unreadable && !tfp_tool_reason(tool, &traits))
			tfp_json_add_string(&j, tool->peer_name ? tool->peer_name : tool->name);
	}
	tfp_json_end_array(&j);
	return tfp_json_finish(&j, err);
}

/* The words of a list, of which those behind the last are NULL. */
static void put_words(struct tfp_json *j, const char *key, const char *const *list, size_t room)
{
	tfp_json_begin_array_of(j, key);
	for (size_t i = 0; i < room && list[i]; i++)
		tfp_json_add_string(j, list[i]);
	tfp_json_end_array(j);
}

static void put_parameters(struct tfp_json *j, const char *key, const struct tfp_parameter *list,
			   size_t room)
{
	tfp_json_begin_array_of(j, key);
	for (size_t i = 0; i < room && list[i].name; i++) {
		const struct tfp_parameter *p = &list[i];
		tfp_json_begin_object(j);
		tfp_json_set_string(j, "name", p->name);
		tfp_json_set_string(j, "kind", tfp_parameter_kind_name(p->kind));
		put_words(j, "values", p->values, TFP_PARAMETER_VALUES);
		set_text_or_null(j, "default", p->fallback);
		tfp_json_set_string(j, "sentence", p->sentence);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
}

static void put_needs(struct tfp_json *j, unsigned needs)
{
	static const char *const names[] = {"host", "gpu", "tpu", "program"};
	tfp_json_begin_array_of(j, "needs");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (needs & (1u << i))
			tfp_json_add_string(j, names[i]);
	}
	tfp_json_end_array(j);
}

static const char *scope_name(enum tfp_host_scope scope)
{
	return scope == TFP_HOSTS_ONE ? "one" : scope == TFP_HOSTS_ALL ? "all" : "both";
}

/* traits: NULL where there is no run. */
static void put_tool(struct tfp_json *j, const struct tfp_tool *tool,
		     const struct tfp_run_traits *traits)
{
	const char *reason = traits ? tfp_tool_reason(tool, traits) : NULL;
	const char key[2] = {tool->key, '\0'};
	tfp_json_set_string(j, "name", tool->name);
	tfp_json_set_string(j, "title", tool->title);
	tfp_json_set_string(j, "summary", tool->summary);
	tfp_json_set_boolean(j, "available", reason == NULL);
	set_text_or_null(j, "reason", reason);
	put_words(j, "aliases", tool->aliases, TFP_TOOL_ALIASES);
	set_text_or_null(j, "key", key);
	tfp_json_set_string(j, "filter", tool->filter ? tool->filter : "Filter");
	tfp_json_set_boolean(j, "shows_steps", tool->shows_steps);
	tfp_json_set_string(j, "host_scope", scope_name(tool->scope));
	tfp_json_set_boolean(j, "takes_hosts", tool->takes_hosts);
	put_needs(j, tool->needs);
	set_text_or_null(j, "without", tool->without);
	tfp_json_set_boolean(j, "has_instances", tool->instances != NULL);
	put_parameters(j, "parameters", tool->parameters, TFP_TOOL_PARAMETERS);
	put_parameters(j, "row_parameters", tool->row_parameters, TFP_ROW_PARAMETERS);
}

enum tfp_status tfp_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_run_traits traits;
	struct tfp_json j;
	if (run) {
		enum tfp_status status = tfp_run_traits(info, run, &traits, err);
		if (status != TFP_OK)
			return status;
	}
	tfp_json_init(&j, json);
	tfp_json_begin_array(&j);
	for (const struct tfp_tool *tool = tfp_tool_next(NULL); tool; tool = tfp_tool_next(tool)) {
		tfp_json_begin_object(&j);
		put_tool(&j, tool, run ? &traits : NULL);
		if (run) {
			tfp_json_begin_array_of(&j, "hosts");
			add_hosts(&j, run, tool->scope, tfp_json_add_string);
			tfp_json_end_array(&j);
		}
		tfp_json_end_object(&j);
	}
	tfp_json_end_array(&j);
	return tfp_json_finish(&j, err);
}
