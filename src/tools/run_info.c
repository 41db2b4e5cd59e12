/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_info.h"

#include "analysis/events/run_env.h"
#include "analysis/events/schema.h"
#include "base/alloc.h"
#include "base/budget.h"
#include "session/graph_runs.h"
#include "session/run_times.h"
#include "store/file_notes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILES_MOST 8192u /* whose looks are remembered */

/* The part of a look that is remembered. */
struct note {
	struct tfp_look look;
	struct tfp_error *error; /* owned; NULL where the look went well */
};

struct tfp_run_info {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	struct tfp_run_times *times;
	struct tfp_graph_runs *graphs;
	uint64_t max_bytes;
	struct tfp_file_notes *looks; /* of struct note */
};

/* Where a caller wants it. */
struct recalled {
	struct tfp_look *look;
	struct tfp_error *error;
};

static void copy_look(void *to, const void *note)
{
	const struct recalled *recalled = to;
	const struct note *known = note;
	*recalled->look = known->look;
	if (known->error)
		*recalled->error = *known->error;
}

static void drop_look(void *note)
{
	struct note *known = note;
	tfp_free(known->error);
}

enum tfp_status tfp_run_info_new(struct tfp_run_info **out, struct tfp_logdir *dir,
				 uint64_t max_bytes, struct tfp_pool *pool, struct tfp_error *err)
{
	static const struct tfp_file_notes_config config = {.files = FILES_MOST,
							    .note_size = sizeof(struct note),
							    .copy = copy_look,
							    .drop = drop_look};
	struct tfp_run_info *info = tfp_calloc(1, sizeof(*info));
	*out = NULL;
	if (!info)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for what is known of runs");
	info->dir = dir;
	info->pool = pool;
	info->max_bytes = max_bytes;
	enum tfp_status status = tfp_file_notes_new(&info->looks, &config, err);
	if (status == TFP_OK)
		status = tfp_run_times_new(&info->times, dir, pool, err);
	if (status == TFP_OK)
		status = tfp_graph_runs_new(&info->graphs, dir, pool, err);
	if (status == TFP_OK)
		*out = info;
	else
		tfp_run_info_free(info);
	return status;
}

void tfp_run_info_free(struct tfp_run_info *info)
{
	if (!info)
		return;
	tfp_file_notes_free(info->looks);
	tfp_run_times_free(info->times);
	tfp_graph_runs_free(info->graphs);
	tfp_free(info);
}

/* ---- quick looks ---- */

static bool see_plane(void *context, const struct tfp_plane *plane)
{
	struct tfp_look *look = context;
	struct tfp_run_traits *traits = &look->traits;
	enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
	traits->tpu_planes += kind == TFP_PLANE_TPU;
	traits->gpu_planes += kind == TFP_PLANE_GPU;
	/* The first of its metadata stands for none. */
	traits->program_planes += kind == TFP_PLANE_METADATA && plane->event_meta_count > 1;
	traits->host_planes += tfp_str_starts(plane->name, "/host:");
	/* As tfp_run_env: the first device speaks for all, TPUs before GPUs. */
	if ((kind == TFP_PLANE_TPU && traits->tpu_planes == 1) ||
	    (kind == TFP_PLANE_GPU && traits->gpu_planes == 1 && !traits->tpu_planes))
		tfp_device_type(plane, look->device_type, sizeof(look->device_type));
	return true;
}

static void count_devices(struct tfp_look *look)
{
	const struct tfp_run_traits *traits = &look->traits;
	look->device_count = traits->tpu_planes ? traits->tpu_planes : traits->gpu_planes;
	if (look->device_count == 0)
		snprintf(look->device_type, sizeof(look->device_type), "CPU");
}

static void remember(struct tfp_run_info *info, const struct tfp_file_identity *identity,
		     const struct tfp_look *look, const struct tfp_error *error)
{
	struct note note = {.look = *look};
	if (error->status != TFP_OK) {
		/* Another time these may go well. */
		if (error->status != TFP_BAD_INPUT && error->status != TFP_TOO_LARGE)
			return;
		note.error = tfp_malloc(sizeof(*note.error));
		if (!note.error)
			return;
		*note.error = *error;
	}
	tfp_file_notes_write(info->looks, identity, &note);
}

/* error->status is TFP_OK or what is wrong with the file. */
static void look_at(struct tfp_run_info *info, const struct tfp_capture_file *file,
		    struct tfp_look *look, struct tfp_error *error)
{
	struct tfp_file_identity identity;
	int fd;
	*look = (struct tfp_look){0};
	tfp_error_init(error);
	struct recalled recalled = {look, error};
	if (tfp_file_notes_recall(info->looks, &file->identity, &recalled))
		return;
	if (tfp_logdir_open(info->dir, file, &fd, &identity, error) != TFP_OK)
		return;
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
	remember(info, &identity, look, error);
}

static void look_at_host(void *context, size_t i)
{
	struct tfp_run_looks *r = context;
	look_at(r->info, &r->run->hosts[i], &r->looks[i], &r->errors[i]);
}

void tfp_run_looks_release(struct tfp_run_looks *r)
{
	tfp_free(r->looks);
	tfp_free(r->errors);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
}

enum tfp_status tfp_run_looks_init(struct tfp_run_looks *r, struct tfp_run_info *info,
				   const struct tfp_run *run, struct tfp_error *err)
{
	*r = (struct tfp_run_looks){
		.info = info,
		.run = run,
		.looks = tfp_calloc(run->host_count, sizeof(*r->looks)),
		.errors = tfp_calloc(run->host_count, sizeof(*r->errors)),
	};
	if (!r->looks || !r->errors) {
		tfp_run_looks_release(r);
		return no_memory(err);
	}
	/* There is nothing of a capture to be seen in files of events. */
	if (run->kind != TFP_RUN_CAPTURE)
		return TFP_OK;
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
		tfp_run_looks_release(r);
		return status == TFP_BUSY ? status : no_memory(err);
	}
	return TFP_OK;
}

enum tfp_status tfp_run_traits(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_run_traits *traits, struct tfp_error *err)
{
	struct tfp_run_looks r;
	*traits = (struct tfp_run_traits){.unreadable = run->kind == TFP_RUN_CAPTURE,
					  .graph_run = run->kind == TFP_RUN_GRAPH};
	if (traits->graph_run)
		return TFP_OK;
	enum tfp_status status = tfp_run_looks_init(&r, info, run, err);
	if (status != TFP_OK)
		return status;
	for (size_t i = 0; i < run->host_count; i++) {
		if (r.errors[i].status != TFP_OK)
			continue;
		traits->unreadable = false;
		traits->gpu_planes += r.looks[i].traits.gpu_planes;
		traits->tpu_planes += r.looks[i].traits.tpu_planes;
		traits->host_planes += r.looks[i].traits.host_planes;
		traits->program_planes += r.looks[i].traits.program_planes;
	}
	tfp_run_looks_release(&r);
	return TFP_OK;
}

/* ---- the list of runs ---- */

enum tfp_status tfp_newest_run(struct tfp_run_info *info,
			       const struct tfp_logdir_snapshot *snapshot,
			       const struct tfp_run **run, struct tfp_error *err)
{
	struct tfp_dated_run *sorted;
	size_t count = snapshot->run_count;
	enum tfp_status status;
	*run = NULL;
	if (count)
		status = tfp_run_times_sort(info->times, snapshot, &sorted, err);
	else
		status = tfp_run_info_sort(info, snapshot, &sorted, &count, err);
	if (status == TFP_OK && count)
		*run = sorted[0].run;
	tfp_free(sorted);
	return status;
}

enum tfp_status tfp_run_info_sort(struct tfp_run_info *info,
				  const struct tfp_logdir_snapshot *snapshot,
				  struct tfp_dated_run **sorted, size_t *count,
				  struct tfp_error *err)
{
	struct tfp_dated_run *graphs = NULL;
	size_t captures = snapshot->run_count;
	*sorted = NULL;
	enum tfp_status status = tfp_graph_runs_list(info->graphs, snapshot, &graphs, count, err);
	if (status == TFP_OK)
		status = tfp_run_times_sort(info->times, snapshot, sorted, err);
	if (status == TFP_OK && *count) {
		void *both = tfp_reallocarray(*sorted, captures + *count, sizeof(**sorted));
		if (both)
			*sorted = both;
		else
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of runs");
	}
	if (status == TFP_OK) {
		for (size_t i = 0; i < *count; i++)
			(*sorted)[captures + i] = graphs[i];
		*count += captures;
		tfp_dated_runs_sort(*sorted, *count);
	} else {
		tfp_free(*sorted);
		*sorted = NULL;
	}
	tfp_free(graphs);
	return status;
}

struct tfp_dated_run tfp_run_info_time_of(struct tfp_run_info *info, const struct tfp_run *run)
{
	struct tfp_dated_run dated;
	if (run->kind == TFP_RUN_CAPTURE)
		return tfp_run_times_of(info->times, run);
	tfp_graph_runs_has(info->graphs, run, &dated);
	return dated;
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

const struct tfp_logdir *tfp_run_info_logdir(const struct tfp_run_info *info)
{
	return info->dir;
}

const char *tfp_run_kind_name(const struct tfp_run *run)
{
	return run->kind == TFP_RUN_GRAPH ? "graph run" : "capture";
}
