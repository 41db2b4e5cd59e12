#include "analysis/groups.h"

#include "analysis/schema.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <string.h>

/* A group id sizes an array: more groups than this is no capture's. */
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
	const struct tfp_line *line;
	struct tfp_line_groups *groups;
	struct tfp_group_writer writer;
	int32_t largest;
	size_t named_room;
};

struct file_tasks {
	struct line_task *tasks;
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

static bool read_event(struct line_task *t, const struct tfp_schema *schema, size_t i)
{
	struct tfp_stat_iter it = tfp_event_stats(t->line, i);
	struct tfp_stat stat;
	struct tfp_str name = {"", 0};
	int32_t group = TFP_NO_GROUP;
	int64_t number;
	while (tfp_stat_next(&it, &stat)) {
		switch (tfp_schema_of(schema, &stat)) {
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
	struct tfp_schema schema = {0};
	size_t n = t->line->event_count;
	bool ok = tfp_schema_init(&schema, t->plane, stat_names, WANTED, NULL) == TFP_OK;
	t->largest = TFP_NO_GROUP;
	if (ok && n && tfp_schema_has(&schema, GROUP_ID)) {
		ok = tfp_group_writer_init(&t->writer, &t->groups->group, n);
		for (size_t i = 0; ok && i < n && tfp_goes_on(i); i++)
			ok = read_event(t, &schema, i);
		ok = ok && tfp_group_writer_finish(&t->writer);
	}
	if (!ok)
		atomic_store(&all->no_memory, true);
	tfp_schema_release(&schema);
}

/* The name that an event has for its group. */
static struct tfp_str step_name_of(const struct tfp_plane *plane, const struct tfp_line *line,
				   size_t i)
{
	int64_t id = tfp_plane_stat_id(plane, stat_names[STEP_NAME]);
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_str name = {"", 0};
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == id)
			tfp_stat_text(plane, &stat, &name);
	}
	return name;
}

/* Within a line the last name counts, over lines the first (op_stats.md 3). */
static void take_names(struct tfp_groups *groups, const struct line_task *t)
{
	for (size_t n = t->groups->named_count; n-- > 0;) {
		int32_t group = tfp_group_in(&t->groups->group, t->groups->named[n]);
		if (group >= 0 && groups->groups[group].name.size == 0)
			groups->groups[group].name =
				step_name_of(t->plane, t->line, t->groups->named[n]);
	}
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the groups of events");
}

static enum tfp_status read_groups(const struct tfp_capture *capture, struct tfp_pool *pool,
				   struct tfp_groups *groups, struct tfp_error *err)
{
	struct file_tasks all = {0};
	size_t count = 0;
	int32_t largest = TFP_NO_GROUP;
	all.tasks = tfp_calloc(capture->line_count, sizeof(*all.tasks));
	if (!all.tasks)
		return no_memory(err);
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		for (size_t l = 0; l < plane->line_count; l++)
			all.tasks[count++] = (struct line_task){.plane = plane,
								.line = &plane->lines[l],
								.groups = &groups->planes[p][l],
								.largest = TFP_NO_GROUP};
	}
	tfp_pool_for(pool, count, read_line, &all);
	bool ok = !atomic_load(&all.no_memory);
	for (size_t i = 0; i < count; i++) {
		if (all.tasks[i].largest > largest)
			largest = all.tasks[i].largest;
	}
	groups->group_count = (size_t)(largest + 1);
	groups->groups = tfp_calloc(groups->group_count, sizeof(*groups->groups));
	ok = ok && groups->groups;
	for (size_t i = 0; ok && i < groups->group_count; i++)
		groups->groups[i].name = (struct tfp_str){"", 0};
	for (size_t i = 0; ok && i < count; i++)
		take_names(groups, &all.tasks[i]);
	tfp_free(all.tasks);
	return ok ? TFP_OK : no_memory(err);
}

/* ---- the fact ---- */

void tfp_groups_free(struct tfp_groups *groups)
{
	if (!groups)
		return;
	for (size_t p = 0; groups->planes && p < groups->plane_count; p++) {
		struct tfp_line_groups *lines = groups->planes[p];
		/* The list of a plane ends with a line of no groups and no names. */
		for (size_t l = 0; lines && lines[l].named_count != SIZE_MAX; l++) {
			tfp_group_column_release(&lines[l].group);
			tfp_free(lines[l].eager);
			tfp_free(lines[l].named);
			tfp_free(lines[l].regions);
		}
		tfp_free(lines);
	}
	tfp_free(groups->planes);
	tfp_free(groups->groups);
	tfp_free(groups->links);
	tfp_arena_release(&groups->arena);
	tfp_free(groups);
}

static void free_groups(void *fact)
{
	tfp_groups_free(fact);
}

static bool allocate(const struct tfp_capture *capture, struct tfp_groups *groups)
{
	groups->planes = tfp_calloc(capture->plane_count, sizeof(struct tfp_line_groups *));
	if (!groups->planes)
		return false;
	groups->plane_count = capture->plane_count;
	for (size_t p = 0; p < capture->plane_count; p++) {
		size_t count = capture->planes[p].line_count;
		groups->planes[p] = tfp_calloc(count + 1, sizeof(struct tfp_line_groups));
		if (!groups->planes[p])
			return false;
		groups->planes[p][count].named_count = SIZE_MAX;
	}
	return true;
}

struct tfp_groups *tfp_groups_new(const struct tfp_capture *capture)
{
	struct tfp_groups *groups = tfp_calloc(1, sizeof(*groups));
	if (!groups)
		return NULL;
	tfp_arena_init(&groups->arena, SIZE_MAX);
	if (allocate(capture, groups))
		return groups;
	tfp_groups_free(groups);
	return NULL;
}

static uint64_t held_bytes(const struct tfp_capture *capture, const struct tfp_groups *groups)
{
	uint64_t bytes =
		sizeof(*groups) + groups->arena.bytes + groups->link_count * sizeof(*groups->links);
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t l = 0; l < capture->planes[p].line_count; l++) {
			const struct tfp_line_groups *g = &groups->planes[p][l];
			size_t n = capture->planes[p].lines[l].event_count;
			bytes += sizeof(*g) + g->named_count * sizeof(*g->named) +
				 g->region_count * sizeof(*g->regions);
			bytes += tfp_group_column_bytes(&g->group) +
				 (g->eager ? TFP_EAGER_BYTES(n) : 0);
		}
	}
	return bytes;
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
	*heap_bytes = held_bytes(capture, groups);
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

bool tfp_event_is_named(const struct tfp_groups *groups, size_t plane, size_t line, size_t event)
{
	const struct tfp_line_groups *g = &groups->planes[plane][line];
	size_t low = 0, high = g->named_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (g->named[middle] < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->named_count && g->named[low] == event;
}
