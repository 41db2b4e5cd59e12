#include "tools/run_info.h"

#include "analysis/run_env.h"
#include "analysis/schema.h"
#include "base/alloc.h"
#include "base/budget.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "tools/run_clock.h"
#include "tools/run_times.h"
#include "tools/summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SETS        1024u
#define WAYS        8u
#define MAX_ENTRIES 1000u /* of diagnostics in one answer */
#define NS_PER_MS   INT64_C(1000000)

/* What a quick look at a file told. */
struct look {
	struct tfp_file_identity identity;
	bool known;
	struct tfp_run_traits traits;
	char device_type[96];
	size_t device_count;
	struct tfp_error *error; /* in the table only: owned */
};

struct tfp_run_info {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	struct tfp_run_times *times;
	uint64_t max_bytes;

	pthread_mutex_t lock; /* guards what follows */
	unsigned turn;        /* which of a set is given up next */
	struct look looks[SETS][WAYS];
};

enum tfp_status tfp_run_info_new(struct tfp_run_info **out, struct tfp_logdir *dir,
				 uint64_t max_bytes, struct tfp_pool *pool, struct tfp_error *err)
{
	struct tfp_run_info *info = tfp_calloc(1, sizeof(*info));
	*out = info;
	if (!info)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for what is known of runs");
	info->dir = dir;
	info->pool = pool;
	info->max_bytes = max_bytes;
	pthread_mutex_init(&info->lock, NULL);
	return tfp_run_times_new(&info->times, dir, pool, err);
}

void tfp_run_info_free(struct tfp_run_info *info)
{
	if (!info)
		return;
	for (size_t i = 0; i < SETS; i++) {
		for (size_t j = 0; j < WAYS; j++)
			tfp_free(info->looks[i][j].error);
	}
	pthread_mutex_destroy(&info->lock);
	tfp_run_times_free(info->times);
	tfp_free(info);
}

/* ---- quick looks ---- */

static bool see_plane(void *context, const struct tfp_plane *plane)
{
	struct look *look = context;
	struct tfp_run_traits *traits = &look->traits;
	enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
	traits->tpu_planes += kind == TFP_PLANE_TPU;
	traits->gpu_planes += kind == TFP_PLANE_GPU;
	traits->host_planes += tfp_str_starts(plane->name, "/host:");
	/* As tfp_run_env: the first device speaks for all, TPUs before GPUs. */
	if ((kind == TFP_PLANE_TPU && traits->tpu_planes == 1) ||
	    (kind == TFP_PLANE_GPU && traits->gpu_planes == 1 && !traits->tpu_planes))
		tfp_device_type(plane, look->device_type, sizeof(look->device_type));
	return true;
}

static void count_devices(struct look *look)
{
	const struct tfp_run_traits *traits = &look->traits;
	look->device_count = traits->tpu_planes ? traits->tpu_planes : traits->gpu_planes;
	if (look->device_count == 0)
		snprintf(look->device_type, sizeof(look->device_type), "CPU");
}

static struct look *set_of(struct tfp_run_info *info, const struct tfp_file_identity *id)
{
	uint64_t h = tfp_hash_u64(id->device) ^ tfp_hash_u64(id->inode);
	return info->looks[tfp_hash_u64(h) % SETS];
}

static bool same(const struct tfp_file_identity *a, const struct tfp_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
	       a->modified_ns == b->modified_ns;
}

static bool recall(struct tfp_run_info *info, const struct tfp_file_identity *id, struct look *look,
		   struct tfp_error *error)
{
	bool known = false;
	pthread_mutex_lock(&info->lock);
	const struct look *set = set_of(info, id);
	for (size_t i = 0; i < WAYS && !known; i++) {
		if (!set[i].known || !same(&set[i].identity, id))
			continue;
		known = true;
		*look = set[i];
		look->error = NULL;
		if (set[i].error)
			*error = *set[i].error;
	}
	pthread_mutex_unlock(&info->lock);
	return known;
}

static void remember(struct tfp_run_info *info, const struct look *look,
		     const struct tfp_error *error)
{
	struct tfp_error *kept = NULL;
	if (error->status != TFP_OK) {
		/* Another time these may go well. */
		if (error->status != TFP_BAD_INPUT && error->status != TFP_TOO_LARGE)
			return;
		kept = tfp_malloc(sizeof(*kept));
		if (!kept)
			return;
		*kept = *error;
	}
	pthread_mutex_lock(&info->lock);
	struct look *set = set_of(info, &look->identity), *way = NULL;
	for (size_t i = 0; i < WAYS && !way; i++) {
		/* An older state of the same file is of no use any more. */
		if (!set[i].known || (set[i].identity.device == look->identity.device &&
				      set[i].identity.inode == look->identity.inode))
			way = &set[i];
	}
	if (!way)
		way = &set[info->turn++ % WAYS];
	tfp_free(way->error);
	*way = *look;
	way->known = true;
	way->error = kept;
	pthread_mutex_unlock(&info->lock);
}

/* error->status is TFP_OK or what is wrong with the file. */
static void look_at(struct tfp_run_info *info, const struct tfp_capture_file *file,
		    struct look *look, struct tfp_error *error)
{
	struct tfp_file_identity identity;
	int fd;
	*look = (struct look){0};
	tfp_error_init(error);
	if (recall(info, &file->identity, look, error))
		return;
	if (tfp_logdir_open(info->dir, file, &fd, &identity, error) != TFP_OK)
		return;
	look->identity = identity;
	/* Nothing of the reserve, which is for the lists themselves. */
	struct tfp_account looking = {0}, *before = tfp_account_enter(&looking);
	enum tfp_status status = tfp_capture_peek(fd, file->path, file->compression,
						  info->max_bytes, NULL, see_plane, look, error);
	close(fd);
	if (status != TFP_OK)
		tfp_budget_explain(error);
	tfp_account_enter(before);
	if (status == TFP_OK) {
		error->status = TFP_OK;
		count_devices(look);
	}
	remember(info, look, error);
}

/* The looks at all hosts of a run. */
struct run_looks {
	struct tfp_run_info *info;
	const struct tfp_run *run;
	struct look *looks;
	struct tfp_error *errors;
};

static void look_at_host(void *context, size_t i)
{
	struct run_looks *r = context;
	look_at(r->info, &r->run->hosts[i], &r->looks[i], &r->errors[i]);
}

static void run_looks_release(struct run_looks *r)
{
	tfp_free(r->looks);
	tfp_free(r->errors);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
}

static enum tfp_status run_looks_init(struct run_looks *r, struct tfp_run_info *info,
				      const struct tfp_run *run, struct tfp_error *err)
{
	*r = (struct run_looks){
		.info = info,
		.run = run,
		.looks = tfp_calloc(run->host_count, sizeof(*r->looks)),
		.errors = tfp_calloc(run->host_count, sizeof(*r->errors)),
	};
	if (!r->looks || !r->errors) {
		run_looks_release(r);
		return no_memory(err);
	}
	tfp_pool_for(info->pool, run->host_count, look_at_host, r);
	for (size_t i = 0; i < run->host_count; i++) {
		/* Not so many at a time, then. */
		if (r->errors[i].status == TFP_BUSY)
			look_at_host(r, i);
		/* That says nothing about the file. */
		enum tfp_status status = r->errors[i].status;
		if (status != TFP_NO_MEMORY && status != TFP_BUSY)
			continue;
		if (err)
			*err = r->errors[i];
		run_looks_release(r);
		return status == TFP_BUSY ? status : no_memory(err);
	}
	return TFP_OK;
}

enum tfp_status tfp_run_traits(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_run_traits *traits, struct tfp_error *err)
{
	struct run_looks r;
	*traits = (struct tfp_run_traits){.unreadable = true};
	enum tfp_status status = run_looks_init(&r, info, run, err);
	if (status != TFP_OK)
		return status;
	for (size_t i = 0; i < run->host_count; i++) {
		if (r.errors[i].status != TFP_OK)
			continue;
		traits->unreadable = false;
		traits->gpu_planes += r.looks[i].traits.gpu_planes;
		traits->tpu_planes += r.looks[i].traits.tpu_planes;
		traits->host_planes += r.looks[i].traits.host_planes;
	}
	run_looks_release(&r);
	return TFP_OK;
}

/* ---- JSON ---- */

static void *take(size_t size)
{
	void *memory = tfp_malloc(size);
	/* Where it has none a document may lack something without a word. */
	if (!memory)
		tfp_budget_spoil();
	return memory;
}

void tfp_documents_init(void)
{
	json_set_alloc_funcs(take, tfp_free);
}

/* Any bytes as a JSON string. */
static json_t *text_n(const char *text, size_t size)
{
	if (tfp_utf8_valid(text, size))
		return json_stringn_nocheck(text, size);
	struct tfp_buf buf;
	tfp_buf_init(&buf, 3 * size);
	tfp_utf8_repair(&buf, text, size);
	json_t *json = tfp_buf_failed(&buf) ? NULL : json_stringn_nocheck(buf.data, buf.size);
	tfp_buf_release(&buf);
	return json;
}

static json_t *text(const char *t)
{
	return text_n(t, strlen(t));
}

static json_t *text_or_null(const char *t)
{
	return t && t[0] ? text(t) : json_null();
}

static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *milliseconds(int64_t ns)
{
	return json_integer(ns / NS_PER_MS);
}

static int add_bytes(const char *bytes, size_t size, void *context)
{
	tfp_buf_add(context, bytes, size);
	return 0;
}

/* Appends a document, which is handed over; NULL stands for no memory. */
static enum tfp_status write_json(json_t *document, struct tfp_buf *json, struct tfp_error *err)
{
	bool ok = document &&
		  json_dump_callback(document, add_bytes, json,
				     JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) == 0;
	json_decref(document);
	return ok && !tfp_buf_failed(json) ? TFP_OK : no_memory(err);
}

/* A new reference, or NULL. */
static json_t *error_object(const struct tfp_error *err)
{
	json_t *object = json_pack("{s:s, s:o}", "code", tfp_status_name(err->status), "message",
				   text(err->message));
	if (object && err->hint[0])
		json_object_set_new(object, "hint", text(err->hint));
	if (object && err->file[0])
		json_object_set_new(object, "file", text(err->file));
	if (object && err->offset != TFP_NO_OFFSET)
		json_object_set_new(object, "offset", number(err->offset));
	return object;
}

void tfp_error_json(const struct tfp_error *err, struct tfp_buf *json)
{
	if (write_json(json_pack("{s:o}", "error", error_object(err)), json, NULL) != TFP_OK) {
		tfp_buf_clear(json);
		tfp_buf_printf(
			json, "{\"error\":{\"code\":\"%s\",\"message\":\"no memory to say more\"}}",
			tfp_status_name(err->status));
	}
}

/* ---- lists ---- */

enum tfp_status tfp_runs_json(const struct tfp_logdir_snapshot *snapshot, struct tfp_buf *json,
			      struct tfp_error *err)
{
	json_t *runs = json_array();
	for (size_t i = 0; i < snapshot->run_count; i++) {
		if (json_array_append_new(runs, text(snapshot->runs[i].name)) != 0) {
			json_decref(runs);
			return no_memory(err);
		}
	}
	return write_json(runs, json, err);
}

enum tfp_status tfp_newest_run(struct tfp_run_info *info,
			       const struct tfp_logdir_snapshot *snapshot,
			       const struct tfp_run **run, struct tfp_error *err)
{
	struct tfp_dated_run *sorted;
	enum tfp_status status = tfp_run_times_sort(info->times, snapshot, &sorted, err);
	if (status == TFP_OK)
		*run = sorted[0].run;
	tfp_free(sorted);
	return status;
}

static json_t *host_names(const struct tfp_run *run)
{
	json_t *hosts = json_array();
	for (size_t i = 0; i < run->host_count; i++)
		json_array_append_new(hosts, text(run->hosts[i].host));
	return hosts;
}

bool tfp_run_list_problem(const struct tfp_logdir *dir, const struct tfp_logdir_snapshot *snapshot,
			  struct tfp_error *err)
{
	if (snapshot->run_count)
		return false;
	const char *path = tfp_logdir_absolute_path(dir);
	tfp_fail(err, TFP_NOT_FOUND, "there is no capture (*.xplane.pb) in \"%s\" or below",
		 tfp_logdir_path(dir));
	/* The program that is profiled runs in a folder of its own. */
	tfp_error_set_hint(
		err,
		"a profiler writes captures to DIR/plugins/profile/RUN/HOST.xplane.pb, "
		"for example after tf.profiler.experimental.start(\"%.100s\") or "
		"jax.profiler.start_trace(\"%.100s\"); new captures are shown automatically",
		path ? path : "DIR", path ? path : "DIR");
	return true;
}

static json_t *problem_object(const struct tfp_logdir *dir,
			      const struct tfp_logdir_snapshot *snapshot)
{
	struct tfp_error problem;
	if (!tfp_run_list_problem(dir, snapshot, &problem))
		return json_null();
	json_t *found = json_array();
	for (size_t i = 0; i < snapshot->note_count; i++)
		json_array_append_new(found, text(snapshot->notes[i]));
	return json_pack("{s:o, s:o, s:o}", "message", text(problem.message), "hint",
			 text(problem.hint), "found", found);
}

enum tfp_status tfp_run_list_json(struct tfp_run_info *info,
				  const struct tfp_logdir_snapshot *snapshot, struct tfp_buf *json,
				  struct tfp_error *err)
{
	const struct tfp_logdir *dir = info->dir;
	struct tfp_dated_run *sorted;
	enum tfp_status status = tfp_run_times_sort(info->times, snapshot, &sorted, err);
	if (status != TFP_OK)
		return status;
	json_t *runs = json_array(), *notes = json_array();
	if (!runs) {
		tfp_free(sorted);
		json_decref(notes);
		return no_memory(err);
	}
	for (size_t i = 0; i < snapshot->run_count; i++) {
		const struct tfp_run *run = sorted[i].run;
		json_array_append_new(
			runs, json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "run",
					text(run->name), "hosts", host_names(run), "files",
					number(run->host_count), "bytes", number(run->bytes),
					"time_ms", milliseconds(sorted[i].time_ns), "time_from",
					tfp_time_source_name(sorted[i].source), "modified_ms",
					milliseconds(run->modified_ns)));
	}
	tfp_free(sorted);
	bool complete = json_array_size(runs) == snapshot->run_count;
	for (size_t i = 0; i < snapshot->note_count; i++)
		json_array_append_new(notes, text(snapshot->notes[i]));
	json_t *list = json_pack("{s:o, s:s, s:o, s:{s:o, s:o, s:b}, s:o, s:o}", "logdir",
				 text(tfp_logdir_path(dir)), "version", TFP_VERSION, "runs", runs,
				 "searched", "folders", number(snapshot->folders), "files",
				 number(snapshot->files), "truncated", (int)snapshot->truncated,
				 "notes", notes, "problem", problem_object(dir, snapshot));
	if (!complete) {
		json_decref(list);
		list = NULL;
	}
	return write_json(list, json, err);
}

/* ---- one run ---- */

enum tfp_status tfp_run_info_json(struct tfp_run_info *info, const struct tfp_run *run,
				  struct tfp_buf *json, struct tfp_error *err)
{
	struct run_looks r;
	enum tfp_status status = run_looks_init(&r, info, run, err);
	if (status != TFP_OK)
		return status;
	static const char *const compressions[] = {
		[TFP_PLAIN] = "none", [TFP_GZIP] = "gzip", [TFP_ZSTD] = "zstd"};
	json_t *hosts = json_array();
	const struct look *best = NULL;
	size_t devices = 0;
	for (size_t i = 0; i < run->host_count; i++) {
		const struct tfp_capture_file *file = &run->hosts[i];
		const struct look *look = &r.looks[i];
		bool ok = r.errors[i].status == TFP_OK;
		json_array_append_new(
			hosts, json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "host",
					 text(file->host), "file", text(file->name), "bytes",
					 number(file->identity.bytes), "modified_ms",
					 milliseconds(file->identity.modified_ns), "compression",
					 compressions[file->compression], "device_type",
					 text_or_null(look->device_type), "device_count",
					 number(look->device_count), "problem",
					 ok ? json_null() : error_object(&r.errors[i])));
		if (!ok)
			continue;
		devices += look->device_count;
		/* A run is of the kind of its accelerators, where it has any. */
		if (!best || look->device_count > best->device_count)
			best = look;
	}
	struct tfp_dated_run dated = tfp_run_times_of(info->times, run);
	json_t *document = json_pack(
		"{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "run", text(run->name), "bytes",
		number(run->bytes), "time_ms", milliseconds(dated.time_ns), "time_from",
		tfp_time_source_name(dated.source), "modified_ms", milliseconds(run->modified_ns),
		"device_type", text_or_null(best ? best->device_type : NULL), "device_count",
		number(devices), "hosts", hosts);
	run_looks_release(&r);
	return write_json(document, json, err);
}

/* What a tool can be asked for. */
static bool add_hosts(json_t *hosts, const struct tfp_run *run, enum tfp_host_scope scope,
		      json_t *(*make)(const char *host))
{
	size_t before = json_array_size(hosts), wanted = 0, i = 0;
	bool several = run->host_count > 1;
	bool all = several && (scope & TFP_HOSTS_ALL);
	bool each = !several || (scope & TFP_HOSTS_ONE);
	/* In byte order, in which lower case comes after ALL_HOSTS. */
	for (; each && i < run->host_count && strcmp(run->hosts[i].host, TFP_ALL_HOSTS) < 0; i++)
		json_array_append_new(hosts, make(run->hosts[i].host));
	if (all)
		json_array_append_new(hosts, make(TFP_ALL_HOSTS));
	for (; each && i < run->host_count; i++)
		json_array_append_new(hosts, make(run->hosts[i].host));
	wanted = (all ? 1 : 0) + (each ? run->host_count : 0);
	return json_array_size(hosts) - before == wanted;
}

static json_t *hostname_object(const char *host)
{
	return json_pack("{s:o}", "hostname", text(host));
}

enum tfp_status tfp_hosts_json(const struct tfp_run *run, const struct tfp_tool *tool,
			       struct tfp_buf *json, struct tfp_error *err)
{
	json_t *hosts = json_array();
	enum tfp_host_scope scope = TFP_HOSTS_ONE;
	if (tool)
		scope = tool->peer_scope ? tool->peer_scope : tool->scope;
	if (run && !add_hosts(hosts, run, scope, hostname_object)) {
		json_decref(hosts);
		return no_memory(err);
	}
	return write_json(hosts, json, err);
}

enum tfp_status tfp_run_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
				   struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_run_traits traits;
	enum tfp_status status = tfp_run_traits(info, run, &traits, err);
	if (status != TFP_OK)
		return status;
	json_t *names = json_array();
	for (size_t i = 0; i < tfp_tool_count; i++) {
		if (!traits.unreadable && !tfp_tool_reason(tfp_tools[i], &traits))
			json_array_append_new(names, json_string(tfp_tools[i]->peer_name
									 ? tfp_tools[i]->peer_name
									 : tfp_tools[i]->name));
	}
	return write_json(names, json, err);
}

enum tfp_status tfp_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_run_traits traits;
	if (run) {
		enum tfp_status status = tfp_run_traits(info, run, &traits, err);
		if (status != TFP_OK)
			return status;
	}
	json_t *tools = json_array();
	for (size_t i = 0; i < tfp_tool_count; i++) {
		const struct tfp_tool *tool = tfp_tools[i];
		const char *reason = run ? tfp_tool_reason(tool, &traits) : NULL;
		json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:o}", "name", tool->name, "title",
					   tool->title, "summary", tool->summary, "available",
					   (int)(reason == NULL), "reason", text_or_null(reason));
		json_t *hosts = run ? json_array() : NULL;
		if (!object || (run && (!add_hosts(hosts, run, tool->scope, text) ||
					json_object_set(object, "hosts", hosts) != 0))) {
			json_decref(object);
			json_decref(hosts);
			json_decref(tools);
			return no_memory(err);
		}
		json_decref(hosts);
		json_array_append_new(tools, object);
	}
	return write_json(tools, json, err);
}

/* ---- captures ---- */

struct opened {
	const struct tfp_session *session;
	struct tfp_capture **captures; /* NULL where the file is no capture */
	struct tfp_error *errors;
};

static void open_host(void *context, size_t i)
{
	struct opened *o = context;
	tfp_error_init(&o->errors[i]);
	if (tfp_capture_cache_get(o->session->cache, &o->session->hosts[i], &o->captures[i],
				  &o->errors[i]) != TFP_OK)
		o->captures[i] = NULL;
}

static void opened_release(struct opened *o)
{
	for (size_t i = 0; o->captures && i < o->session->host_count; i++)
		tfp_capture_unref(o->captures[i]);
	tfp_free(o->captures);
	tfp_free(o->errors);
}

static enum tfp_status opened_init(struct opened *o, const struct tfp_session *session,
				   struct tfp_error *err)
{
	*o = (struct opened){
		.session = session,
		.captures = tfp_calloc(session->host_count, sizeof(struct tfp_capture *)),
		.errors = tfp_calloc(session->host_count, sizeof(*o->errors)),
	};
	if (!o->captures || !o->errors) {
		opened_release(o);
		return no_memory(err);
	}
	tfp_pool_for(session->pool, session->host_count, open_host, o);
	return TFP_OK;
}

static struct tfp_str str(const char *t)
{
	return (struct tfp_str){t, strlen(t)};
}

/* What to do about things that profilers write into captures. */
static struct tfp_str known_hint(struct tfp_str message)
{
	static const char *const hints[][2] = {
		{"libcupti",
		 "put CUPTI's folder (extras/CUPTI/lib64 of CUDA) on LD_LIBRARY_PATH and "
		 "profile again; only GPU events are missing"},
		{"INSUFFICIENT_PRIVILEGES", "allow all users to profile the GPU "
					    "(NVreg_RestrictProfilingToAdminUsers=0 for the "
					    "nvidia module) or profile as root"},
		{"MULTIPLE_SUBSCRIBERS",
		 "another profiler of the GPU is running (nsys, ncu, DCGM): "
		 "stop it and profile again"},
		{"dropped", "the profiler had no room for all events: profile a shorter time"},
	};
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (message.size &&
		    memmem(message.data, message.size, hints[i][0], strlen(hints[i][0])))
			return str(hints[i][1]);
	}
	return str("");
}

struct finding_list {
	void (*see)(void *context, struct tfp_finding finding);
	void *context;
};

/* Of a host whose capture could not be read. */
static void see_failure(const struct finding_list *list, const char *host,
			const struct tfp_error *error)
{
	list->see(list->context, (struct tfp_finding){TFP_ERROR, host, str(error->message),
						      str(error->hint), error->offset, true});
}

static void see_texts(const struct finding_list *list, const char *host, enum tfp_severity severity,
		      const struct tfp_str *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		list->see(list->context,
			  (struct tfp_finding){severity, host, texts[i], known_hint(texts[i]),
					       TFP_NO_OFFSET, false});
}

/* Of one whose summary has its brief. */
static void see_findings(const struct finding_list *list, const char *host,
			 const struct tfp_host_summary *summary)
{
	const struct tfp_capture_brief *brief = summary->brief;
	for (size_t i = 0; i < brief->diagnostic_count; i++) {
		const struct tfp_diagnostic *d = &brief->diagnostics[i];
		list->see(list->context,
			  (struct tfp_finding){d->severity, host, str(d->message), str(d->hint),
					       d->offset, d->severity != TFP_INFO});
	}
	if (brief->broken_modules) {
		char text[96];
		snprintf(text, sizeof(text),
			 "%" PRIu64 " HLO modules of the capture could not be read",
			 brief->broken_modules);
		list->see(list->context,
			  (struct tfp_finding){TFP_WARNING, host, str(text),
					       str("their ops are shown under the names that the "
						   "events have"),
					       TFP_NO_OFFSET, true});
	}
	see_texts(list, host, TFP_ERROR, summary->errors, summary->error_count);
	see_texts(list, host, TFP_WARNING, summary->warnings, summary->warning_count);
}

static void add_finding_object(void *context, struct tfp_finding f)
{
	json_t *entries = context;
	if (json_array_size(entries) >= MAX_ENTRIES)
		return;
	json_array_append_new(
		entries,
		json_pack("{s:s, s:o, s:o, s:o, s:o}", "severity", tfp_severity_word(f.severity),
			  "host", text(f.host), "message", text_n(f.message.data, f.message.size),
			  "hint", f.hint.size ? text_n(f.hint.data, f.hint.size) : json_null(),
			  "offset", f.offset == TFP_NO_OFFSET ? json_null() : number(f.offset)));
}

struct told {
	const struct tfp_session *session;
	struct finding_list list;
};

static enum tfp_status tell_findings(void *context, size_t place,
				     const struct tfp_host_summary *summary, struct tfp_error *err)
{
	const struct told *told = context;
	const char *host = told->session->hosts[place].host;
	if (summary)
		see_findings(&told->list, host, summary);
	else
		see_failure(&told->list, host, err);
	return TFP_OK;
}

enum tfp_status tfp_session_findings(const struct tfp_session *session,
				     void (*see)(void *context, struct tfp_finding finding),
				     void *context, struct tfp_error *err)
{
	struct told told = {session, {see, context}};
	return tfp_session_summaries(session, TFP_SUMMARY_BRIEF, tell_findings, &told, err);
}

const char *tfp_severity_word(enum tfp_severity severity)
{
	return severity == TFP_ERROR ? "error" : severity == TFP_WARNING ? "warning" : "info";
}

struct diagnostics {
	const struct tfp_session *session;
	json_t *entries, *captures;
};

static enum tfp_status add_diagnostics(void *context, size_t place,
				       const struct tfp_host_summary *summary,
				       struct tfp_error *err)
{
	const struct diagnostics *d = context;
	const struct tfp_capture_file *file = &d->session->hosts[place];
	const struct finding_list list = {add_finding_object, d->entries};
	if (!summary) {
		see_failure(&list, file->host, err);
		return TFP_OK;
	}
	const struct tfp_capture_brief *brief = summary->brief;
	see_findings(&list, file->host, summary);
	json_array_append_new(d->captures,
			      json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "host", text(file->host),
					"bytes", number(file->identity.bytes), "planes",
					number(brief->planes), "lines", number(brief->lines),
					"events", number(brief->events), "duration_ms",
					brief->duration_ms));
	return TFP_OK;
}

enum tfp_status tfp_diagnostics_json(const struct tfp_session *session, struct tfp_buf *json,
				     struct tfp_error *err)
{
	struct diagnostics d = {session, json_array(), json_array()};
	enum tfp_status status =
		tfp_session_summaries(session, TFP_SUMMARY_BRIEF, add_diagnostics, &d, err);
	json_t *both = json_pack("{s:o, s:o}", "entries", d.entries, "captures", d.captures);
	/* That no file can be read is an answer, too. */
	if (status != TFP_NO_MEMORY)
		return write_json(both, json, err);
	json_decref(both);
	return status;
}

/* ---- tables for the command line ---- */

static void add_text(struct tfp_table *t, const char *value)
{
	tfp_table_add_text(t, value, strlen(value));
}

static void add_time(struct tfp_table *t, int64_t ns)
{
	char out[32] = "";
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm local;
	if (localtime_r(&seconds, &local))
		strftime(out, sizeof(out), "%Y-%m-%d %H:%M:%S", &local);
	add_text(t, out);
}

enum tfp_status tfp_run_list_answer(struct tfp_run_info *info,
				    const struct tfp_logdir_snapshot *snapshot,
				    struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct tfp_column columns[] = {
		{"run", "Run", TFP_CELL_TEXT},
		{"hosts", "Hosts", TFP_CELL_NUMBER},
		{"bytes", "Bytes", TFP_CELL_NUMBER},
		{"time", "Time", TFP_CELL_TEXT},
		{"time_from", "Time from", TFP_CELL_TEXT},
		{"names", "Names of hosts", TFP_CELL_TEXT},
	};
	struct tfp_dated_run *sorted;
	enum tfp_status status = tfp_run_times_sort(info->times, snapshot, &sorted, err);
	if (status != TFP_OK)
		return status;
	struct tfp_table *t = &answer->tables[answer->table_count++];
	tfp_table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
	struct tfp_buf names;
	tfp_buf_init(&names, 1024);
	for (size_t i = 0; i < snapshot->run_count; i++) {
		const struct tfp_run *run = sorted[i].run;
		tfp_buf_clear(&names);
		size_t shown = 0;
		for (; shown < run->host_count && names.size < 100; shown++)
			tfp_buf_printf(&names, "%s%s", shown ? ", " : "", run->hosts[shown].host);
		if (shown < run->host_count)
			tfp_buf_printf(&names, " and %zu more", run->host_count - shown);
		add_text(t, run->name);
		tfp_table_add_number(t, (double)run->host_count);
		tfp_table_add_number(t, (double)run->bytes);
		add_time(t, sorted[i].time_ns);
		add_text(t, tfp_time_source_name(sorted[i].source));
		add_text(t, tfp_buf_text(&names));
	}
	tfp_buf_release(&names);
	tfp_free(sorted);
	return tfp_table_failed(t) ? no_memory(err) : TFP_OK;
}

static uint64_t count_stats(const struct tfp_plane *plane)
{
	uint64_t n = 0;
	for (size_t i = 0; i < plane->line_count; i++) {
		for (size_t j = 0; j < plane->lines[i].event_count; j++) {
			struct tfp_stat_iter it = tfp_event_stats(&plane->lines[i], j);
			struct tfp_stat stat;
			while (tfp_stat_next(&it, &stat))
				n++;
		}
	}
	return n;
}

static void add_finding_row(void *context, struct tfp_finding f)
{
	struct tfp_table *t = context;
	add_text(t, tfp_severity_word(f.severity));
	add_text(t, f.host);
	if (f.offset == TFP_NO_OFFSET)
		tfp_table_add_absent(t);
	else
		tfp_table_add_number(t, (double)f.offset);
	tfp_table_add_text(t, f.message.data, f.message.size);
	tfp_table_add_text(t, f.hint.data, f.hint.size);
}

enum tfp_status tfp_capture_info_answer(const struct tfp_session *session,
					struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct tfp_column plane_columns[] = {
		{"host", "Host", TFP_CELL_TEXT},
		{"plane", "Plane", TFP_CELL_TEXT},
		{"lines", "Lines", TFP_CELL_NUMBER},
		{"events", "Events", TFP_CELL_NUMBER},
		{"stats", "Stats", TFP_CELL_NUMBER},
		{"event_names", "Event names", TFP_CELL_NUMBER},
		{"stat_names", "Stat names", TFP_CELL_NUMBER},
		{"start_ms", "Start (ms)", TFP_CELL_NUMBER},
		{"duration_ms", "Duration (ms)", TFP_CELL_NUMBER},
	};
	static const struct tfp_column finding_columns[] = {
		{"severity", "Severity", TFP_CELL_TEXT}, {"host", "Host", TFP_CELL_TEXT},
		{"offset", "At byte", TFP_CELL_NUMBER},  {"message", "Message", TFP_CELL_TEXT},
		{"hint", "Hint", TFP_CELL_TEXT},
	};
	struct opened o;
	struct tfp_host_clock *clocks;
	enum tfp_status status = tfp_run_clocks_aligned(session, &clocks, err);
	if (status == TFP_OK)
		status = opened_init(&o, session, err);
	if (status != TFP_OK) {
		tfp_free(clocks);
		return status;
	}
	struct tfp_table *planes = &answer->tables[answer->table_count++];
	tfp_table_init(planes, plane_columns, sizeof(plane_columns) / sizeof(plane_columns[0]));
	struct tfp_table *findings = &answer->tables[answer->table_count++];
	tfp_table_init(findings, finding_columns,
		       sizeof(finding_columns) / sizeof(finding_columns[0]));
	for (size_t i = 0; i < session->host_count; i++) {
		const struct tfp_capture *c = o.captures[i];
		const __int128 shift_ps =
			clocks[tfp_session_host_index(session, session->hosts[i].host)].shift_ps;
		for (size_t j = 0; c && j < c->plane_count; j++) {
			const struct tfp_plane *plane = &c->planes[j];
			struct tfp_plane_span span = tfp_plane_span(plane);
			uint64_t events = 0;
			for (size_t k = 0; k < plane->line_count; k++)
				events += plane->lines[k].event_count;
			add_text(planes, session->hosts[i].host);
			tfp_table_add_text(planes, plane->name.data, plane->name.size);
			tfp_table_add_number(planes, (double)plane->line_count);
			tfp_table_add_number(planes, (double)events);
			tfp_table_add_number(planes, (double)count_stats(plane));
			/* The first of each stands for ids that have no metadata. */
			tfp_table_add_number(planes, (double)plane->event_meta_count - 1);
			tfp_table_add_number(planes, (double)plane->stat_meta_count - 1);
			if (span.any)
				tfp_table_add_number(planes,
						     (double)(span.from_ps + shift_ps) / 1e9);
			else
				tfp_table_add_absent(planes);
			tfp_table_add_number(planes, tfp_plane_span_ms(span));
		}
	}
	const struct finding_list list = {add_finding_row, findings};
	for (size_t i = 0; status == TFP_OK && i < session->host_count; i++) {
		struct tfp_host_summary summary = {0};
		const char *host = session->hosts[i].host;
		if (!o.captures[i]) {
			see_failure(&list, host, &o.errors[i]);
			continue;
		}
		status = tfp_host_summary_get(&summary, o.captures[i], TFP_SUMMARY_BRIEF,
					      session->pool, err);
		if (status == TFP_OK)
			see_findings(&list, host, &summary);
		tfp_host_summary_release(&summary);
	}
	/* A single file that is no capture is an error, and no table. */
	if (session->host_count == 1 && !o.captures[0]) {
		status = o.errors[0].status;
		if (err)
			*err = o.errors[0];
	}
	opened_release(&o);
	tfp_free(clocks);
	return status;
}
