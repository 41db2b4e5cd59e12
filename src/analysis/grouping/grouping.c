/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/grouping.h"

#include "analysis/grouping/grouping_parts.h"
#include "analysis/grouping/grouping_tpu.h"
#include "base/progress.h"

/* ---- GPU events that nothing launched ---- */

struct gpu_event {
	int64_t begin_ps, duration_ps;
	struct tfp_raw_ref ref;
};

static bool begins_before(const void *events, uint32_t a, uint32_t b)
{
	const struct gpu_event *x = (const struct gpu_event *)events + a;
	const struct gpu_event *y = (const struct gpu_event *)events + b;
	if (x->begin_ps != y->begin_ps)
		return x->begin_ps < y->begin_ps;
	return x->duration_ps < y->duration_ps;
}

/* On a GPU an event without a group takes that of the latest one before it
 * (ProcessUngroupedEvents). */
static bool fill_gpu(struct tfp_raw *raw, size_t first_line, size_t line_count)
{
	size_t count = 0, n = 0;
	bool grouped = false, ungrouped = false;
	for (size_t l = first_line; l < first_line + line_count; l++) {
		const struct tfp_line *line = raw->lines[l].line;
		if (tfp_line_is_derived(line))
			continue;
		count += line->event_count;
		for (size_t i = 0; i < line->event_count; i++) {
			bool has_group = raw->lines[l].group[i] != TFP_NO_GROUP;
			grouped |= has_group;
			ungrouped |= !has_group;
		}
	}
	if (!grouped || !ungrouped)
		return true;
	struct gpu_event *all = tfp_reallocarray(NULL, count, sizeof(*all));
	if (!all)
		return false;
	for (size_t l = first_line; l < first_line + line_count; l++) {
		const struct tfp_line *line = raw->lines[l].line;
		if (tfp_line_is_derived(line))
			continue;
		for (size_t i = 0; i < line->event_count; i++) {
			all[n++] = (struct gpu_event){tfp_event_start_ps(line, i),
						      tfp_event_duration_ps(line, i),
						      {(uint32_t)l, (uint32_t)i}};
		}
	}
	uint32_t *order = n < UINT32_MAX ? tfp_sort_indexes(n, begins_before, all) : NULL;
	int32_t last = TFP_NO_GROUP;
	for (size_t i = 0; order && i < n; i++) {
		int32_t *group = group_at(raw, all[order[i]].ref);
		if (*group == TFP_NO_GROUP)
			*group = last;
		else
			last = *group;
	}
	bool ok = order != NULL;
	tfp_free(order);
	tfp_free(all);
	return ok;
}

/* Names of loops whose iterations these rules do not understand: with one of
 * them in a capture the peers make no groups at all. */
static bool is_loop(struct tfp_str name)
{
	static const char *const loops[] = {"WhileOp-EvalCond", "WhileOp-StartBody", "ForOp",
					    "ParallelForOp", "ForeverOp"};
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		if (tfp_str_equal(name, loops[i]))
			return true;
	}
	return false;
}

/* ---- the whole ---- */

static void read_process(const struct tfp_plane *plane, struct tfp_raw_line *l)
{
	int64_t id = tfp_plane_stat_id(plane, "process_id");
	struct tfp_stat_iter it = tfp_plane_stats(plane);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == id)
			l->has_process = tfp_stat_int(&stat, &l->process);
	}
}

static bool prepare(struct tfp_raw *raw, const struct tfp_stat_columns *const stats[2],
		    struct tfp_error *err)
{
	const struct tfp_capture *c = raw->capture;
	raw->lines = tfp_calloc(c->line_count, sizeof(*raw->lines));
	raw->schemas = tfp_calloc(c->plane_count, sizeof(*raw->schemas));
	raw->types = tfp_calloc(c->plane_count, sizeof(*raw->types));
	if (!raw->lines || !raw->schemas || !raw->types)
		return false;
	for (size_t p = 0; p < c->plane_count; p++) {
		const struct tfp_plane *plane = &c->planes[p];
		enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
		size_t grouping = tfp_tpu_grouping_line(plane), first = raw->line_count;
		struct tfp_raw_line of_plane = {.plane = plane, .schema = &raw->schemas[p]};
		read_process(plane, &of_plane);
		raw->types[p] = tfp_runtime_events_of(plane);
		if (!raw->types[p] || tfp_schema_init(&raw->schemas[p], plane, tfp_grouping_stats,
						      WANTED, err) != TFP_OK)
			return false;
		of_plane.types = raw->types[p];
		of_plane.has_regions = memchr(raw->types[p], TFP_EVENT_START_REGION,
					      plane->event_meta_count) != NULL;
		of_plane.has_ops =
			memchr(raw->types[p], TFP_EVENT_TF_OP, plane->event_meta_count) != NULL;
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			struct tfp_raw_line *out = &raw->lines[raw->line_count];
			*out = of_plane;
			out->line = line;
			out->stats = &tfp_stats_of_plane(stats, p)[l];
			out->groups = &raw->groups->planes[p][l];
			out->number = (uint32_t)raw->line_count;
			out->is_host = kind == TFP_PLANE_HOST;
			out->is_gpu = kind == TFP_PLANE_GPU;
			out->is_tpu = tfp_str_starts(plane->name, TFP_TPU_PREFIX);
			out->grouping_line =
				grouping == SIZE_MAX ? NO_PARENT : (uint32_t)(first + grouping);
			out->device_ordinal =
				kind == TFP_PLANE_TPU && tfp_str_equal(line->name, "XLA Modules")
					? tfp_tpu_ordinal(plane->name)
					: -1;
			raw->line_count++;
		}
	}
	return true;
}

/* Joins the lists of all lines to one. at: where the list is, in a line and in the whole. */
static bool join_list(struct tfp_raw *raw, struct tfp_raw_list *all, size_t at, size_t size)
{
	size_t count = 0;
	for (size_t i = 0; i < raw->line_count; i++)
		count += ((struct tfp_raw_list *)((char *)&raw->lines[i] + at))->count;
	if (count == 0)
		return true;
	all->items = tfp_reallocarray(NULL, count, size);
	all->room = count;
	for (size_t i = 0; all->items && i < raw->line_count; i++) {
		struct tfp_raw_list *of_line = (struct tfp_raw_list *)((char *)&raw->lines[i] + at);
		if (of_line->count)
			memcpy((char *)all->items + all->count * size, of_line->items,
			       of_line->count * size);
		all->count += of_line->count;
		drop(of_line);
	}
	return all->items != NULL;
}

static bool join_lists(struct tfp_raw *raw)
{
	for (size_t i = 0; i < raw->line_count; i++)
		raw->has_eager |= raw->lines[i].eager_roots.count > 0;
#define JOIN(list, type)                                                                           \
	join_list(raw, &raw->list, offsetof(struct tfp_raw_line, list), sizeof(type))
	return JOIN(producers, struct tfp_pair) && JOIN(consumers, struct tfp_pair) &&
	       JOIN(roots, struct tfp_raw_root) && JOIN(iterations, struct tfp_raw_iteration) &&
	       JOIN(data_ids, int64_t);
#undef JOIN
}

static bool group_tpu_planes(struct tfp_raw *raw)
{
	for (size_t p = 0; p < raw->capture->plane_count; p++) {
		const struct tfp_plane *plane = &raw->capture->planes[p];
		if (!tfp_group_tpu_lines(plane, raw->groups->planes[p]))
			return false;
	}
	return true;
}

/* Each link once, ordered by the upper group. */
static int by_above(const void *a, const void *b)
{
	const struct tfp_group_link *x = a, *y = b;
	int order = compare_u64(x->above, y->above);
	return order ? order : compare_u64(x->below, y->below);
}

static void keep_links(struct tfp_raw *raw)
{
	struct tfp_group_link *links = raw->group_links.items;
	size_t n = 0;
	sort(&raw->group_links, sizeof(*links), by_above);
	for (size_t i = 0; i < raw->group_links.count; i++) {
		if (i == 0 || by_above(&links[n - 1], &links[i]) != 0)
			links[n++] = links[i];
	}
	raw->groups->links = links;
	raw->groups->link_count = n;
	raw->group_links = (struct tfp_raw_list){0};
}

static bool fill_gpus(struct tfp_raw *raw)
{
	for (size_t i = 0; i < raw->line_count;) {
		size_t end = i;
		while (end < raw->line_count && raw->lines[end].plane == raw->lines[i].plane)
			end++;
		if (raw->lines[i].is_gpu && !fill_gpu(raw, i, end - i))
			return false;
		i = end;
	}
	return true;
}

static void make_room(void *context, size_t index)
{
	struct tfp_raw *raw = context;
	struct tfp_raw_line *l = &raw->lines[index];
	size_t n = l->line->event_count;
	if (n == 0 || (l->is_tpu && l->grouping_line != l->number))
		return;
	l->group = tfp_reallocarray(NULL, n, sizeof(*l->group));
	if (!l->group)
		atomic_store(&raw->no_memory, true);
	for (size_t i = 0; l->group && i < n; i++)
		l->group[i] = TFP_NO_GROUP;
}

/* A line's groups as they are kept. */
static void keep_groups(void *context, size_t index)
{
	struct tfp_raw *raw = context;
	struct tfp_raw_line *l = &raw->lines[index];
	size_t n = l->line->event_count;
	struct tfp_group_writer w;
	if (!l->group)
		return;
	bool ok = tfp_group_writer_init(&w, &l->groups->group, n);
	for (size_t i = 0; ok && i < n; i++)
		ok = tfp_group_writer_add(&w, l->group[i]);
	if (!ok || !tfp_group_writer_finish(&w))
		atomic_store(&raw->no_memory, true);
	tfp_free(l->group);
	l->group = NULL;
}

static bool make_groups(struct tfp_raw *raw, struct tfp_pool *pool)
{
	tfp_pool_for(pool, raw->line_count, tfp_grouping_read_line, raw);
	/* Cancelling also ends here; tfp_capture_fact reports it. */
	bool ok = !atomic_load(&raw->no_memory) && !tfp_cancelled() && join_lists(raw) &&
		  tfp_grouping_connect(raw, pool) && !tfp_cancelled();
	if (ok)
		tfp_pool_for(pool, raw->line_count, make_room, raw);
	ok = ok && !atomic_load(&raw->no_memory) && tfp_grouping_of_roots(raw);
	/* The other order does for what follows. */
	drop(&raw->by_parent);
	tfp_free(raw->kernels_at);
	tfp_free(raw->kernels);
	raw->kernels_at = raw->kernels = NULL;
	ok = ok && fill_gpus(raw);
	if (ok) {
		tfp_pool_for(pool, raw->line_count, keep_groups, raw);
		ok = !atomic_load(&raw->no_memory) && group_tpu_planes(raw);
	}
	if (ok)
		keep_links(raw);
	return ok && tfp_grouping_eager(raw, pool);
}

static bool has_loop(const struct tfp_capture *capture)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t m = 1; m < capture->planes[p].event_meta_count; m++) {
			if (is_loop(capture->planes[p].event_metas[m].name))
				return true;
		}
	}
	return false;
}

static void release(struct tfp_raw *raw)
{
	for (size_t i = 0; i < raw->line_count; i++) {
		struct tfp_raw_line *l = &raw->lines[i];
		struct tfp_raw_list *lists[] = {&l->producers,  &l->consumers, &l->roots,
						&l->iterations, &l->data_ids,  &l->eager_roots};
		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
			tfp_free(lists[k]->items);
		tfp_free(l->parent);
		tfp_free(l->group);
		tfp_free(l->eager);
		tfp_free(l->above);
	}
	for (size_t p = 0; p < raw->capture->plane_count; p++) {
		if (raw->schemas)
			tfp_schema_release(&raw->schemas[p]);
		if (raw->types)
			tfp_free(raw->types[p]);
	}
	struct tfp_raw_list *lists[] = {&raw->producers,  &raw->consumers,   &raw->roots,
					&raw->iterations, &raw->data_ids,    &raw->by_parent,
					&raw->by_child,   &raw->group_roots, &raw->group_links};
	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		tfp_free(lists[k]->items);
	tfp_free(raw->launch_of);
	tfp_free(raw->kernels_at);
	tfp_free(raw->kernels);
	tfp_free(raw->kernel_lines);
	tfp_free(raw->launch_lines);
	tfp_free(raw->parents_at);
	tfp_free(raw->children_at);
	tfp_free(raw->lines);
	tfp_free(raw->schemas);
	tfp_free(raw->types);
}

enum tfp_status tfp_group_raw(struct tfp_capture *capture, struct tfp_pool *pool,
			      struct tfp_groups *groups, struct tfp_error *err)
{
	struct tfp_raw raw = {.capture = capture, .groups = groups};
	const struct tfp_stat_columns *stats[2];
	if (has_loop(capture))
		return TFP_OK;
	enum tfp_status status = tfp_stat_columns_get_all(capture, pool, stats, err);
	if (status != TFP_OK)
		return status;
	bool ok = prepare(&raw, stats, err) && make_groups(&raw, pool);
	release(&raw);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the groups of events");
}
