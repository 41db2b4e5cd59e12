/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/capture_groups.h"

#include "analysis/events/schema.h"
#include "analysis/grouping/grouping.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>

/* Group ids index an array. No real capture has more groups than this. */
#define GROUPS_MAX (1 << 24)

/* ---- groups that are in the file ---- */

enum { GROUP_ID, STEP_NAME, IS_EAGER, WANTED };

static const char *const stat_names[WANTED] = {
	[GROUP_ID] = "group_id",
	[STEP_NAME] = "step_name",
	[IS_EAGER] = "is_eager",
};

struct line_task {
	const struct tfp_plane *plane;
	const struct tfp_schema *schema; /* of the plane */
	const struct tfp_line *line;
	struct tfp_line_groups *groups;
	struct tfp_group_writer writer;
	int32_t largest;
	size_t named_room;
};

struct file_tasks {
	struct line_task *tasks;
	size_t count;
	atomic_bool no_memory;
};

static bool add_named(struct line_task *t, size_t event)
{
	struct tfp_line_groups *g = t->groups;
	if (!TFP_GROW(g->named, g->named_count, t->named_room))
		return false;
	g->named[g->named_count++] = (uint32_t)event;
	return true;
}

static bool set_eager(struct line_task *t, size_t event, enum tfp_eager eager)
{
	if (!t->groups->eager)
		t->groups->eager = tfp_calloc(TFP_EAGER_BYTES(t->line->event_count), 1);
	if (t->groups->eager)
		tfp_set_eager(t->groups->eager, event, eager);
	return t->groups->eager != NULL;
}

static bool read_event(struct line_task *t, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(t->line, i);
	struct tfp_stat stat;
	struct tfp_str name = {"", 0};
	int32_t group = TFP_NO_GROUP;
	int64_t number;
	while (tfp_stat_next(&it, &stat)) {
		switch (tfp_schema_of(t->schema, &stat)) {
		case GROUP_ID:
			if (tfp_stat_int(&stat, &number) && number >= 0 && number < GROUPS_MAX) {
				group = (int32_t)number;
				if (t->largest < number)
					t->largest = (int32_t)number;
			}
			break;
		case STEP_NAME:
			tfp_stat_text(t->plane, &stat, &name);
			break;
		case IS_EAGER:
			if (tfp_stat_int(&stat, &number) &&
			    !set_eager(t, i, number ? TFP_EAGER_YES : TFP_EAGER_NO))
				return false;
			break;
		default:
			break;
		}
	}
	return tfp_group_writer_add(&t->writer, group) && (name.size == 0 || add_named(t, i));
}

static void read_line(void *context, size_t index)
{
	struct file_tasks *all = context;
	struct line_task *t = &all->tasks[index];
	size_t n = t->line->event_count;
	if (n == 0)
		return;
	bool ok = tfp_group_writer_init(&t->writer, &t->groups->group, n);
	for (size_t i = 0; ok && i < n && tfp_goes_on(i); i++)
		ok = read_event(t, i);
	if (!ok || !tfp_group_writer_finish(&t->writer))
		atomic_store(&all->no_memory, true);
}

/* Within a line the last name counts, over lines the first (op_stats.md 3). */
static void take_names(struct tfp_groups *groups, const struct line_task *t)
{
	int64_t id =
		t->groups->named_count ? tfp_plane_stat_id(t->plane, stat_names[STEP_NAME]) : 0;
	for (size_t n = t->groups->named_count; n-- > 0;) {
		int32_t group = tfp_group_in(&t->groups->group, t->groups->named[n]);
		if (group >= 0 && groups->groups[group].name.size == 0)
			groups->groups[group].name = tfp_stats_text(
				t->plane, tfp_event_stats(t->line, t->groups->named[n]), id);
	}
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the groups of events");
}

/* The lines of planes that know of groups; false without memory. */
static bool list_tasks(const struct tfp_capture *capture, struct tfp_groups *groups,
		       struct tfp_schema *schemas, struct file_tasks *all)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (tfp_schema_init(&schemas[p], plane, stat_names, WANTED, NULL) != TFP_OK)
			return false;
		for (size_t l = 0; l < plane->line_count && tfp_schema_has(&schemas[p], GROUP_ID);
		     l++)
			all->tasks[all->count++] =
				(struct line_task){.plane = plane,
						   .schema = &schemas[p],
						   .line = &plane->lines[l],
						   .groups = &groups->planes[p][l],
						   .largest = TFP_NO_GROUP};
	}
	return true;
}

static bool number_groups(struct tfp_groups *groups, const struct file_tasks *all)
{
	int32_t largest = TFP_NO_GROUP;
	for (size_t i = 0; i < all->count; i++) {
		if (all->tasks[i].largest > largest)
			largest = all->tasks[i].largest;
	}
	groups->group_count = (size_t)(largest + 1);
	groups->groups = tfp_calloc(groups->group_count, sizeof(*groups->groups));
	if (!groups->groups)
		return false;
	for (size_t i = 0; i < groups->group_count; i++)
		groups->groups[i].name = (struct tfp_str){"", 0};
	for (size_t i = 0; i < all->count; i++)
		take_names(groups, &all->tasks[i]);
	return true;
}

static enum tfp_status read_groups(const struct tfp_capture *capture, struct tfp_pool *pool,
				   struct tfp_groups *groups, struct tfp_error *err)
{
	struct file_tasks all = {.tasks = tfp_calloc(capture->line_count, sizeof(*all.tasks))};
	struct tfp_schema *schemas = tfp_calloc(capture->plane_count, sizeof(*schemas));
	bool ok = all.tasks && schemas && list_tasks(capture, groups, schemas, &all);
	if (ok)
		tfp_pool_for(pool, all.count, read_line, &all);
	ok = ok && !atomic_load(&all.no_memory) && number_groups(groups, &all);
	for (size_t p = 0; schemas && p < capture->plane_count; p++)
		tfp_schema_release(&schemas[p]);
	tfp_free(schemas);
	tfp_free(all.tasks);
	return ok ? TFP_OK : no_memory(err);
}

/* ---- the fact ---- */

static void free_groups(void *fact)
{
	tfp_groups_free(fact);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_groups *groups = tfp_groups_new(capture);
	if (!groups)
		return no_memory(err);
	tfp_progress_stage(TFP_STAGE_GROUPING); /* tfp_capture_fact puts it back */
	groups->from_file = tfp_capture_is_grouped(capture);
	enum tfp_status status = groups->from_file ? read_groups(capture, pool, groups, err)
						   : tfp_group_raw(capture, pool, groups, err);
	if (status != TFP_OK) {
		tfp_groups_free(groups);
		return status;
	}
	*heap_bytes = tfp_groups_bytes(groups, capture);
	*fact = groups;
	return TFP_OK;
}

enum tfp_status tfp_groups_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_groups **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_groups};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
