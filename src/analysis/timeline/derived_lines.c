/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_lines.h"

#include "analysis/events/schema.h"
#include "analysis/grouping/capture_groups.h"
#include "analysis/hlo/hlo_modules.h"
#include "analysis/timeline/derived_gpu.h"
#include "analysis/timeline/derived_launches.h"
#include "analysis/timeline/derived_memory.h"
#include "analysis/timeline/derived_plane.h"
#include "analysis/timeline/derived_tpu.h"
#include "base/alloc.h"

#include <stdatomic.h>
#include <string.h>

/* Most bytes of encoded derived lines. No real capture needs more. */
#define PLANE_BYTES_MAX ((size_t)2 << 30)
#define SPACE_BYTES_MAX ((size_t)8 << 30)

/* The fact. */
struct derived {
	struct tfp_buf bytes;
	struct tfp_capture *capture;
};

struct plane_task {
	struct tfp_derived_source source;
	const struct tfp_derived_memory *memory;
	struct tfp_derived_plane plane;
	bool used;
	struct tfp_error err;
	enum tfp_status status;
};

/* ---- threads of the host ---- */

enum { CONSUMER_ID, HOST_WANTED };
static const char *const host_stats[HOST_WANTED] = {[CONSUMER_ID] = "_c"};

enum { REGION_CONTEXT = 15 }; /* context_types.h: threadpool_event */

/* Where a thread of a pool runs what another thread handed to it: between the marks
 * that begin and end a region (preprocess.md B3, threadpool). */
static void derive_regions(struct tfp_derived_plane *out, const struct tfp_schema *schema,
			   const struct tfp_line *line, uint32_t start_meta, uint32_t stop_meta)
{
	struct tfp_derived_line regions;
	bool open = false;
	int64_t begin_ps = 0, id = 0;
	tfp_derived_line_init(&regions, out, false);
	for (size_t i = 0; i < line->event_count; i++) {
		if (tfp_event_meta_index(line, i) == start_meta) {
			struct tfp_stat_iter it = tfp_event_stats(line, i);
			struct tfp_stat stat;
			while (tfp_stat_next(&it, &stat)) {
				if (tfp_schema_of(schema, &stat) == CONSUMER_ID &&
				    tfp_stat_int(&stat, &id)) {
					open = true;
					begin_ps = tfp_event_start_ps(line, i);
				}
			}
		} else if (tfp_event_meta_index(line, i) == stop_meta && open) {
			static const char name[] = "ThreadpoolListener::Region";
			struct tfp_derived_span span = {begin_ps, tfp_event_start_ps(line, i)};
			size_t event = tfp_derived_add(
				&regions,
				tfp_derived_name(out, (struct tfp_str){name, sizeof(name) - 1},
						 (struct tfp_str){"", 0}),
				span, TFP_NO_GROUP);
			tfp_derived_put_int(&regions, event, TFP_DERIVED_CONSUMER_TYPE,
					    REGION_CONTEXT);
			tfp_derived_put_int(&regions, event, TFP_DERIVED_CONSUMER_ID, id);
			open = false;
		}
	}
	tfp_derived_line_write(&regions, line->id, line->display_id, line->display_name);
	tfp_derived_line_release(&regions);
}

static enum tfp_status derive_host(struct tfp_derived_plane *out,
				   const struct tfp_derived_source *source, struct tfp_error *err)
{
	const struct tfp_plane *plane = source->plane;
	uint32_t start_meta = TFP_META_UNKNOWN, stop_meta = TFP_META_UNKNOWN;
	struct tfp_schema schema;
	for (size_t m = 1; m < plane->event_meta_count; m++) {
		if (tfp_str_equal(plane->event_metas[m].name, "ThreadpoolListener::StartRegion"))
			start_meta = (uint32_t)m;
		if (tfp_str_equal(plane->event_metas[m].name, "ThreadpoolListener::StopRegion"))
			stop_meta = (uint32_t)m;
	}
	if (start_meta == TFP_META_UNKNOWN || stop_meta == TFP_META_UNKNOWN)
		return TFP_OK;
	enum tfp_status status = tfp_schema_init(&schema, plane, host_stats, HOST_WANTED, err);
	for (size_t l = 0; status == TFP_OK && l < plane->line_count; l++)
		derive_regions(out, &schema, &plane->lines[l], start_meta, stop_meta);
	tfp_schema_release(&schema);
	return status;
}

/* ---- the whole ---- */

/* The origin of a plane's derived lines: the earliest of its lines' (GetStartTimestampNs). */
static int64_t plane_start_ns(const struct tfp_plane *plane)
{
	int64_t start = plane->line_count ? INT64_MAX : 0;
	for (size_t l = 0; l < plane->line_count; l++) {
		if (plane->lines[l].timestamp_ns < start)
			start = plane->lines[l].timestamp_ns;
	}
	return start;
}

static enum tfp_status derive_events(struct plane_task *t)
{
	switch (tfp_plane_kind(t->source.plane->name)) {
	case TFP_PLANE_GPU:
		return tfp_derive_gpu(&t->plane, &t->source, &t->err);
	case TFP_PLANE_TPU:
		return tfp_derive_tpu(&t->plane, &t->source, &t->err);
	default:
		return tfp_str_starts(t->source.plane->name, "/host:CPU")
			       ? derive_host(&t->plane, &t->source, &t->err)
			       : TFP_OK;
	}
}

static void derive_plane(void *context, size_t index)
{
	struct plane_task *t = (struct plane_task *)context + index;
	const struct tfp_plane *plane = t->source.plane;
	t->used = true;
	tfp_derived_plane_init(&t->plane, plane->name, plane->id, plane_start_ns(plane),
			       PLANE_BYTES_MAX);
	t->status = tfp_derive_memory(&t->plane, t->memory, t->source.plane_index, &t->err);
	/* The peers derive lines when they group: a grouped capture has brought its lines along. */
	if (t->status == TFP_OK && t->source.groups)
		t->status = derive_events(t);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
}

/* Puts the planes together. Those without lines are left out. */
static enum tfp_status load(struct derived *derived, struct plane_task *tasks, size_t count,
			    struct tfp_pool *pool, struct tfp_error *err)
{
	struct tfp_made_plane *made = tfp_calloc(count, sizeof(*made));
	size_t n = 0;
	bool ok = made != NULL;
	for (size_t p = 0; ok && p < count; p++) {
		struct tfp_derived_plane *plane = &tasks[p].plane;
		ok = tfp_derived_plane_finish(plane, &derived->bytes);
		if (plane->line_count)
			made[n++] = (struct tfp_made_plane){plane->made, plane->line_count};
		tfp_buf_release(&plane->lines);
	}
	enum tfp_status status =
		ok ? tfp_capture_from_made(&derived->capture, derived->bytes.data,
					   derived->bytes.size, "derived lines", made, n, pool, err)
		   : no_memory(err);
	tfp_free(made);
	return status;
}

/* Where lines of events come from, for each plane. */
static enum tfp_status find_sources(struct tfp_capture *capture, struct tfp_pool *pool,
				    struct plane_task *tasks, struct tfp_derived_launches *launches,
				    struct tfp_error *err)
{
	const struct tfp_groups *groups;
	const struct tfp_hlo_modules *modules;
	const struct tfp_stat_columns *stats;
	size_t gpus = 0;
	enum tfp_status status = tfp_groups_get(capture, pool, &groups, err);
	if (status == TFP_OK)
		status = tfp_hlo_modules_get(capture, pool, &modules, err);
	if (status == TFP_OK)
		status = tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &stats, err);
	if (status != TFP_OK)
		return status;
	for (size_t p = 0; p < capture->plane_count; p++) {
		struct tfp_derived_source *s = &tasks[p].source;
		s->groups = groups;
		s->modules = modules;
		s->launches = launches;
		s->stats = stats->planes[p];
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_GPU)
			s->device_index = gpus++;
	}
	return tfp_derived_launches_get(capture, groups, gpus, pool, launches, err);
}

static enum tfp_status derive_all(struct tfp_capture *capture, struct tfp_pool *pool,
				  struct derived *derived, struct tfp_error *err)
{
	struct tfp_derived_launches launches = {0};
	struct tfp_derived_memory memory;
	struct plane_task *tasks = tfp_calloc(capture->plane_count, sizeof(*tasks));
	if (!tasks)
		return no_memory(err);
	for (size_t p = 0; p < capture->plane_count; p++) {
		tasks[p].memory = &memory;
		tasks[p].source = (struct tfp_derived_source){
			.capture = capture, .plane = &capture->planes[p], .plane_index = p};
	}
	enum tfp_status status = tfp_derived_memory_get(capture, pool, &memory, err);
	if (status == TFP_OK && !tfp_capture_is_grouped(capture))
		status = find_sources(capture, pool, tasks, &launches, err);
	if (status == TFP_OK)
		tfp_pool_for(pool, capture->plane_count, derive_plane, tasks);
	tfp_free(launches.list);
	tfp_derived_memory_release(&memory);
	for (size_t p = 0; p < capture->plane_count; p++) {
		struct plane_task *t = &tasks[p];
		if (status == TFP_OK && t->status != TFP_OK) {
			status = t->status;
			if (err)
				*err = t->err;
		}
	}
	if (status == TFP_OK)
		status = load(derived, tasks, capture->plane_count, pool, err);
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tasks[p].used)
			tfp_derived_plane_release(&tasks[p].plane);
	}
	tfp_free(tasks);
	return status;
}

static void free_derived(void *fact)
{
	struct derived *derived = fact;
	tfp_capture_unref(derived->capture);
	tfp_buf_release(&derived->bytes);
	tfp_free(derived);
}

/* An XSpace of no planes is still one. */
static void put_host_name(struct tfp_buf *bytes)
{
	tfp_buf_add(bytes, "\042\007derived", 9); /* hostnames = 4 */
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct derived *derived = tfp_calloc(1, sizeof(*derived));
	if (!derived)
		return no_memory(err);
	tfp_buf_init(&derived->bytes, SPACE_BYTES_MAX);
	put_host_name(&derived->bytes);
	enum tfp_status status = derive_all(capture, pool, derived, err);
	if (status != TFP_OK) {
		free_derived(derived);
		return status;
	}
	*heap_bytes = sizeof(*derived) + derived->bytes.room + derived->capture->heap_bytes;
	*fact = derived;
	return TFP_OK;
}

enum tfp_status tfp_derived_lines_get(struct tfp_capture *capture, struct tfp_pool *pool,
				      const struct tfp_capture **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_derived};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = status == TFP_OK ? ((const struct derived *)fact)->capture : NULL;
	return status;
}

int64_t tfp_derived_row_of(const struct tfp_capture *derived, const struct tfp_plane *plane,
			   const struct tfp_line *line)
{
	if (tfp_plane_kind(plane->name) != TFP_PLANE_GPU)
		return 0;
	for (size_t p = 0; p < derived->plane_count; p++) {
		const struct tfp_plane *other = &derived->planes[p];
		if (other->id != plane->id || tfp_str_compare(other->name, plane->name) != 0)
			continue;
		/* A line without events stands for one of the file's. */
		for (size_t l = 0; l < other->line_count; l++) {
			if (other->lines[l].id == line->id && other->lines[l].event_count == 0)
				return other->lines[l].display_id;
		}
	}
	return 0;
}
