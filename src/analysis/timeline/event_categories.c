/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/event_categories.h"

#include "analysis/events/schema.h"
#include "analysis/steps/step_kinds.h"
#include "base/alloc.h"

#include <stdatomic.h>

/* ---- one plane ---- */

static enum tfp_step_category category_of_part(enum tfp_tpu_part part)
{
	switch (part) {
	case TFP_TPU_COMPUTE:
		return TFP_STEP_DEVICE_COMPUTE;
	case TFP_TPU_INFEED:
		return TFP_STEP_INPUT;
	case TFP_TPU_OUTFEED:
		return TFP_STEP_OUTPUT;
	case TFP_TPU_ALL_REDUCE:
		return TFP_STEP_COLLECTIVES;
	default:
		return TFP_STEP_ALL_OTHERS;
	}
}

static void of_tpu(const struct tfp_plane *plane, uint8_t *out)
{
	int64_t id = tfp_plane_stat_id(plane, "hlo_category");
	for (size_t m = 0; m < plane->event_meta_count; m++) {
		struct tfp_str category = {"", 0};
		if (id != INT64_MIN)
			category = tfp_stats_text(plane,
						  tfp_event_meta_stats(&plane->event_metas[m]), id);
		out[m] = (uint8_t)category_of_part(tfp_tpu_part_of_category(category));
	}
}

static void of_gpu(const struct tfp_plane *plane, uint8_t *out)
{
	const struct tfp_str no_shape = {"", 0};
	for (size_t m = 0; m < plane->event_meta_count; m++)
		out[m] = (uint8_t)tfp_step_category_of(
			tfp_step_type_of_gpu_event(plane->event_metas[m].name, no_shape));
}

static void of_host(const struct tfp_plane *plane, bool has_gpu, bool launches, uint8_t *out)
{
	for (size_t m = 0; m < plane->event_meta_count; m++)
		out[m] = (uint8_t)tfp_step_category_of(
			tfp_step_type_of_host_event(plane->event_metas[m].name, has_gpu, launches));
}

bool tfp_event_is_launch(const struct tfp_track_category *track, const struct tfp_line *line,
			 size_t event)
{
	uint32_t meta;
	bool launch = false;
	if (!track->of_launch)
		return false;
	meta = tfp_event_meta_index(line, event);
	if (track->of_launch[meta] == track->by_meta[meta])
		return false;
	struct tfp_stat_iter it = tfp_event_stats(line, event);
	struct tfp_stat stat;
	int64_t number;
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == track->correlation_id && tfp_stat_int(&stat, &number))
			launch = number >= 0 || stat.kind == TFP_STAT_UINT;
	}
	return launch;
}

/* ---- all ---- */

struct plane_task {
	const struct tfp_plane *plane;
	enum tfp_process_kind kind;
	int64_t correlation_id; /* INT64_MIN: nothing is launched */
	uint8_t *list, *of_launch;
};

struct work {
	struct plane_task *tasks;
	bool has_gpu;
	atomic_bool no_memory;
};

static void read_plane(void *context, size_t index)
{
	struct work *w = context;
	struct plane_task *t = &w->tasks[index];
	t->list = tfp_malloc(t->plane->event_meta_count);
	if (t->correlation_id != INT64_MIN)
		t->of_launch = tfp_malloc(t->plane->event_meta_count);
	if (!t->list || (t->correlation_id != INT64_MIN && !t->of_launch)) {
		atomic_store(&w->no_memory, true);
	} else if (t->kind == TFP_PROCESS_HOST) {
		of_host(t->plane, w->has_gpu, false, t->list);
		if (t->of_launch)
			of_host(t->plane, w->has_gpu, true, t->of_launch);
	} else if (tfp_str_starts(t->plane->name, "/device:GPU:")) {
		of_gpu(t->plane, t->list);
	} else {
		of_tpu(t->plane, t->list);
	}
}

static void free_categories(void *fact)
{
	struct tfp_event_categories *c = fact;
	for (size_t i = 0; i < c->list_count; i++)
		tfp_free(c->lists[i]);
	tfp_free(c->lists);
	tfp_free(c->tracks);
	tfp_free(c);
}

/* Tracks of one plane lie side by side. tasks has room for one of each track; task_of:
 * by track. */
static size_t list_planes(const struct tfp_tracks *tracks, struct plane_task *tasks,
			  uint32_t *task_of)
{
	size_t count = 0;
	for (uint32_t t = 0; t < tracks->track_count; t++) {
		const struct tfp_track *track = &tracks->tracks[t];
		size_t i = count;
		/* Two at most in turn: the capture's and the derived one's. */
		while (i > 0 && i + 4 > count && tasks[i - 1].plane != track->plane)
			i--;
		if (i == 0 || tasks[i - 1].plane != track->plane) {
			tasks[count++] = (struct plane_task){
				.plane = track->plane,
				.kind = tracks->processes[track->process].kind,
				.correlation_id = INT64_MIN,
			};
			i = count;
		}
		task_of[t] = (uint32_t)(i - 1);
	}
	return count;
}

static void point_tracks(const struct tfp_tracks *tracks, const struct plane_task *tasks,
			 const uint32_t *task_of, struct tfp_event_categories *c)
{
	for (uint32_t t = 0; t < tracks->track_count; t++) {
		const struct tfp_track *track = &tracks->tracks[t];
		struct tfp_track_category *out = &c->tracks[t];
		out->same = TFP_STEP_ALL_OTHERS;
		if (track->kind == TFP_TRACK_DERIVED && tfp_str_starts(track->name, "Launch Stats"))
			out->same = TFP_STEP_KERNEL_LAUNCH;
		else if (!tfp_str_starts(track->name, "Steps") && track->kind != TFP_TRACK_COUNTER)
			*out = (struct tfp_track_category){
				.by_meta = tasks[task_of[t]].list,
				.of_launch = tasks[task_of[t]].of_launch,
				.correlation_id = tasks[task_of[t]].correlation_id,
			};
	}
}

static bool categorise(const struct tfp_tracks *tracks, struct tfp_pool *pool,
		       struct tfp_event_categories *c, uint64_t *bytes)
{
	struct work w = {0};
	uint32_t *task_of = tfp_calloc(tracks->track_count, sizeof(*task_of));
	w.tasks = tfp_calloc(tracks->track_count, sizeof(*w.tasks));
	c->tracks = tfp_calloc(tracks->track_count, sizeof(*c->tracks));
	bool ok = task_of && w.tasks && c->tracks;
	size_t count = ok ? list_planes(tracks, w.tasks, task_of) : 0;
	c->lists = ok ? tfp_calloc(2 * count, sizeof(*c->lists)) : NULL;
	ok = c->lists != NULL;
	for (size_t i = 0; i < count; i++)
		w.has_gpu |= tfp_str_starts(w.tasks[i].plane->name, "/device:GPU:");
	for (size_t i = 0; w.has_gpu && i < count; i++) {
		struct plane_task *t = &w.tasks[i];
		if (t->kind == TFP_PROCESS_HOST)
			t->correlation_id = tfp_plane_stat_id(t->plane, "correlation_id");
	}
	if (ok) {
		c->list_count = 2 * count;
		tfp_pool_for(pool, count, read_plane, &w);
		for (size_t i = 0; i < count; i++) {
			const struct plane_task *t = &w.tasks[i];
			c->lists[2 * i] = t->list;
			c->lists[2 * i + 1] = t->of_launch;
			*bytes += t->plane->event_meta_count * (t->of_launch ? 2 : 1);
		}
		ok = !atomic_load(&w.no_memory);
		point_tracks(tracks, w.tasks, task_of, c);
	}
	tfp_free(task_of);
	tfp_free(w.tasks);
	return ok;
}

static enum tfp_status categorise_all(const struct tfp_tracks *tracks, struct tfp_pool *pool,
				      void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_event_categories *c = tfp_calloc(1, sizeof(*c));
	*heap_bytes = sizeof(*c) + tracks->track_count * sizeof(*c->tracks);
	if (c && categorise(tracks, pool, c, heap_bytes)) {
		*fact = c;
		return TFP_OK;
	}
	if (c)
		free_categories(c);
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the categories of events");
}

static enum tfp_status compute_file(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
				    uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_tracks *tracks;
	enum tfp_status status = tfp_file_tracks_get(capture, pool, &tracks, err);
	return status == TFP_OK ? categorise_all(tracks, pool, fact, heap_bytes, err) : status;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_tracks *tracks;
	enum tfp_status status = tfp_tracks_get(capture, pool, &tracks, err);
	return status == TFP_OK ? categorise_all(tracks, pool, fact, heap_bytes, err) : status;
}

enum tfp_status tfp_file_event_categories_get(struct tfp_capture *capture, struct tfp_pool *pool,
					      const struct tfp_event_categories **out,
					      struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_file, free_categories};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

enum tfp_status tfp_event_categories_get(struct tfp_capture *capture, struct tfp_pool *pool,
					 const struct tfp_event_categories **out,
					 struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_categories};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
