/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_launches.h"

#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { DEVICE_ID, CORRELATION_ID, WANTED };
static const char *const stat_names[WANTED] = {
	[DEVICE_ID] = "device_id",
	[CORRELATION_ID] = "correlation_id",
};

struct line_task {
	const struct tfp_line *line;
	const struct tfp_line_stats *stats;
	const struct tfp_group_column *groups;
	/* Launches for one device in one group that follow one another are one. */
	struct tfp_derived_launch *list;
	size_t count, room;
};

struct work {
	const struct tfp_capture *capture;
	const struct tfp_plane *host;
	struct tfp_schema schema;
	uint8_t *is_cuda; /* by event metadata */
	struct line_task *lines;
	size_t device_count;
	atomic_bool no_memory;
};

/* The device that an event launches something on, or SIZE_MAX, by the event's own stats. */
static size_t ask_device(const struct work *w, const struct tfp_line *line, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t id = -1, correlation;
	bool correlated = false;
	int which;
	while ((which = tfp_schema_next(&w->schema, &it, &stat)) >= 0) {
		if (which == DEVICE_ID)
			tfp_stat_int(&stat, &id);
		else
			correlated |= tfp_stat_int(&stat, &correlation);
	}
	return correlated && id >= 0 && (uint64_t)id < w->device_count ? (size_t)id : SIZE_MAX;
}

static size_t device_of(const struct work *w, const struct line_task *t, size_t i)
{
	unsigned device = t->stats->devices
				  ? t->stats->devices[tfp_event_set_rank(&t->stats->correlated, i)]
				  : TFP_NO_DEVICE;
	if (device == TFP_OTHER_DEVICE)
		return ask_device(w, t->line, i);
	return device < TFP_NO_DEVICE && device < w->device_count ? device : SIZE_MAX;
}

static bool is_same(const struct tfp_derived_launch *a, const struct tfp_derived_launch *b)
{
	return a->device == b->device && a->group == b->group;
}

static void join(struct tfp_derived_launch *to, const struct tfp_derived_launch *from)
{
	if (from->span.begin_ps < to->span.begin_ps)
		to->span.begin_ps = from->span.begin_ps;
	if (from->span.end_ps > to->span.end_ps)
		to->span.end_ps = from->span.end_ps;
	to->count += from->count;
	to->total_ps += from->total_ps;
	if (from->longest_ps > to->longest_ps)
		to->longest_ps = from->longest_ps;
}

static bool add_launch(struct line_task *t, const struct tfp_derived_launch *launch)
{
	if (t->count && is_same(&t->list[t->count - 1], launch)) {
		join(&t->list[t->count - 1], launch);
		return true;
	}
	if (!TFP_GROW(t->list, t->count, t->room))
		return false;
	t->list[t->count++] = *launch;
	return true;
}

static void read_line(void *context, size_t index)
{
	struct work *w = context;
	struct line_task *t = &w->lines[index];
	const size_t n = t->line->event_count;
	size_t i = t->groups && t->groups->blocks ? tfp_event_set_next(&t->stats->correlated, 0, n)
						  : SIZE_MAX;
	for (; i != SIZE_MAX; i = tfp_event_set_next(&t->stats->correlated, i + 1, n)) {
		int32_t group = tfp_group_in(t->groups, i);
		/* CUPTI's own calls are no launches but for cuLaunchKernel and
		 * its like, which the peers leave out all the same. */
		if (group == TFP_NO_GROUP || w->is_cuda[tfp_event_meta_index(t->line, i)])
			continue;
		size_t device = device_of(w, t, i);
		if (device == SIZE_MAX)
			continue;
		const struct tfp_derived_span span = tfp_derived_span_of(t->line, i);
		const uint64_t lasts = (uint64_t)span.end_ps - (uint64_t)span.begin_ps;
		const struct tfp_derived_launch launch = {device, group, span, 1, lasts, lasts};
		if (!add_launch(t, &launch)) {
			atomic_store(&w->no_memory, true);
			return;
		}
	}
}

static bool prepare(struct work *w, const struct tfp_groups *groups,
		    const struct tfp_stat_columns *stats)
{
	const struct tfp_plane *host = w->host;
	const size_t plane = (size_t)(host - w->capture->planes);
	w->is_cuda = tfp_malloc(host->event_meta_count);
	w->lines = tfp_calloc(host->line_count, sizeof(*w->lines));
	if (!w->is_cuda || !w->lines)
		return false;
	for (size_t m = 0; m < host->event_meta_count; m++)
		w->is_cuda[m] = tfp_str_starts(host->event_metas[m].name, "cu");
	for (size_t l = 0; l < host->line_count; l++) {
		w->lines[l].line = &host->lines[l];
		w->lines[l].stats = &stats->planes[plane][l];
		if (!tfp_line_is_derived(&host->lines[l]))
			w->lines[l].groups = &groups->planes[plane][l].group;
	}
	return true;
}

static int by_device(const void *a, const void *b)
{
	const struct tfp_derived_launch *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static bool gather(const struct work *w, struct tfp_derived_launches *out)
{
	size_t count = 0, n = 0;
	for (size_t l = 0; l < w->host->line_count; l++)
		count += w->lines[l].count;
	out->list = tfp_reallocarray(NULL, count, sizeof(*out->list));
	if (!out->list)
		return false;
	for (size_t l = 0; l < w->host->line_count; l++) {
		for (size_t i = 0; i < w->lines[l].count; i++)
			out->list[n++] = w->lines[l].list[i];
	}
	if (n)
		qsort(out->list, n, sizeof(*out->list), by_device);
	for (size_t i = 0; i < n; i++) {
		if (out->count && is_same(&out->list[out->count - 1], &out->list[i]))
			join(&out->list[out->count - 1], &out->list[i]);
		else
			out->list[out->count++] = out->list[i];
	}
	return true;
}

enum tfp_status tfp_derived_launches_get(struct tfp_capture *capture,
					 const struct tfp_groups *groups, size_t device_count,
					 struct tfp_pool *pool, struct tfp_derived_launches *out,
					 struct tfp_error *err)
{
	struct work w = {.capture = capture,
			 .host = tfp_capture_find_plane(capture, "/host:CPU"),
			 .device_count = device_count};
	*out = (struct tfp_derived_launches){0};
	if (!w.host || groups->group_count == 0 || device_count == 0)
		return TFP_OK;
	const struct tfp_stat_columns *stats;
	enum tfp_status status =
		tfp_stat_columns_get(capture, pool, TFP_STATS_OF_OTHERS, &stats, err);
	if (status == TFP_OK)
		status = tfp_schema_init(&w.schema, w.host, stat_names, WANTED, err);
	if (status != TFP_OK)
		return status;
	bool ok = prepare(&w, groups, stats);
	if (ok && tfp_schema_has(&w.schema, DEVICE_ID))
		tfp_pool_for(pool, w.host->line_count, read_line, &w);
	ok = ok && !atomic_load(&w.no_memory) && gather(&w, out);
	for (size_t l = 0; w.lines && l < w.host->line_count; l++)
		tfp_free(w.lines[l].list);
	tfp_free(w.lines);
	tfp_free(w.is_cuda);
	tfp_schema_release(&w.schema);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
}

/* The first of a device, or where it would be. */
static size_t first_of(const struct tfp_derived_launches *launches, size_t device)
{
	size_t low = 0, high = launches->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (launches->list[middle].device < device)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void tfp_derive_launches(struct tfp_derived_plane *out, const struct tfp_groups *groups,
			 const struct tfp_derived_launches *launches, size_t device)
{
	struct tfp_derived_line line;
	tfp_derived_line_init(&line, out, true);
	for (size_t i = first_of(launches, device); i < launches->count && !out->failed; i++) {
		const struct tfp_derived_launch *l = &launches->list[i];
		const struct tfp_str group = groups->groups[l->group].name;
		struct tfp_buf name;
		if (l->device != device)
			break;
		tfp_buf_init(&name, SIZE_MAX / 2);
		tfp_buf_puts(&name, "Launch Stats for ");
		tfp_buf_add(&name, group.data, group.size);
		out->failed |= tfp_buf_failed(&name);
		size_t event = tfp_derived_add(
			&line,
			tfp_derived_name(out, (struct tfp_str){tfp_buf_text(&name), name.size},
					 (struct tfp_str){"", 0}),
			l->span, l->group);
		tfp_buf_release(&name);
		tfp_derived_put_int(&line, event, TFP_DERIVED_NUM_LAUNCHES, (int64_t)l->count);
		tfp_derived_put_double(&line, event, TFP_DERIVED_MAX_LAUNCH_TIME_US,
				       (double)l->longest_ps / 1e6);
		tfp_derived_put_double(&line, event, TFP_DERIVED_AVG_LAUNCH_TIME_US,
				       (double)l->total_ps / (double)l->count / 1e6);
	}
	tfp_derived_line_write(&line, TFP_LINE_LAUNCH_STATS, 0,
			       (struct tfp_str){"Launch Stats", 12});
	tfp_derived_line_release(&line);
}
