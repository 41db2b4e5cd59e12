/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/host_ops.h"

#include "analysis/events/memo.h"
#include "analysis/events/schema.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "base/sort.h"

#include <stdatomic.h>
enum { IS_EAGER, STAGE_ID, STAGE_CATEGORY, WANTED };

static const char *const names[WANTED] = {
	[IS_EAGER] = "is_eager",
	[STAGE_ID] = "_ipl_stage_id",
	[STAGE_CATEGORY] = "_ipl_stage_cat",
};

/* An op on the thread's time line. Begin and end are two activities; which one
 * of simultaneous ones comes first is the order of the file's events. */
struct activity {
	int64_t begin_ps, end_ps;
	uint64_t children_ps;
	uint64_t module_id; /* an input pipeline's stage, else 0 */
	struct tfp_str name, type;
	int32_t step;
	bool is_eager;
	bool open;
};

struct line_ops {
	const struct tfp_plane *plane;
	const struct tfp_schema *schema;
	const struct tfp_op_name *ops; /* by event metadata */
	const struct tfp_line *line;
	const struct tfp_line_groups *groups; /* NULL: the stats tell */
	bool reads_stats;                     /* some stat that matters may be on an event */
};

/* Consecutive threads whose ops go into one table. A program can have tens of thousands of threads
 * with a few events each; a table for each thread would cost more than its events. */
struct stretch {
	size_t first_line, line_count;
	struct tfp_op_db db;
	struct tfp_op_steps steps; /* of db; empty if nobody asks */
};

/* Room that the threads of a stretch use one after the other. */
struct room {
	struct activity *all;
	uint32_t *stack, *ends;
	size_t size; /* of each, in activities */
	struct tfp_memo *memo;
	bool by_step;
};

/* A stretch ends when it has so many events. */
#define STRETCH_EVENTS 32768u

struct host_ops {
	struct line_ops *lines;
	struct stretch *stretches;
	size_t stretch_count;
	bool by_step;
	atomic_bool no_memory;
};

/* The op of an event; false when it is none. Stats tell a stage of an input pipeline, the name
 * tells everything else. */
static bool op_of_event(const struct line_ops *l, size_t i, struct activity *a)
{
	uint32_t meta = tfp_event_meta_index(l->line, i);
	const struct tfp_op_name *op = &l->ops[meta];
	struct tfp_str category = {"", 0};
	bool staged = false, has_category = false;
	int64_t stage_id = 0, number;
	*a = (struct activity){.name = op->name, .type = op->type};
	if (l->reads_stats) {
		struct tfp_stat_iter it = tfp_event_stats(l->line, i);
		struct tfp_stat stat;
		int name;
		while ((name = tfp_schema_next(l->schema, &it, &stat)) >= 0) {
			switch (name) {
			case IS_EAGER:
				if (tfp_stat_int(&stat, &number))
					a->is_eager = number != 0;
				break;
			case STAGE_ID:
				staged = tfp_stat_int(&stat, &stage_id);
				break;
			case STAGE_CATEGORY:
				has_category = tfp_stat_text(l->plane, &stat, &category);
				break;
			default:
				break;
			}
		}
	}
	if (l->groups)
		a->is_eager = tfp_eager_in(l->groups, i) == TFP_EAGER_YES;
	if (staged) {
		a->name = l->plane->event_metas[meta].name;
		a->type = category;
		a->module_id = (uint64_t)stage_id;
		return has_category && a->name.size > 0;
	}
	return op->category != TFP_OP_UNKNOWN;
}

static bool ends_before(const void *activities, uint32_t a, uint32_t b)
{
	const struct activity *all = activities;
	return all[a].end_ps < all[b].end_ps;
}

static struct tfp_op *op_of(struct tfp_op_db *db, const struct activity *a, struct tfp_memo *memo)
{
	const struct tfp_memo_key key = {
		{a->name.data, a->type.data, (const void *)(uintptr_t)a->module_id, NULL}};
	uint32_t index;
	if (tfp_memo_find(memo, &key, &index))
		return &db->ops[index];
	struct tfp_op *op = tfp_op_db_enter(db, a->module_id, a->name);
	if (op && op->category.size == 0) {
		op->category = tfp_op_db_text(db, a->type);
		op->has_cost = true; /* the peers' tables have 0 for every host op */
		if (!op->category.data)
			return NULL;
	}
	if (op)
		tfp_memo_put(memo, &key, (uint32_t)(op - db->ops));
	return op;
}

static bool enter(struct stretch *s, const struct activity *a, const struct room *room)
{
	struct tfp_op_db *db = &s->db;
	struct tfp_op *op = op_of(db, a, room->memo);
	if (!op)
		return false;
	uint64_t time = (uint64_t)(a->end_ps - a->begin_ps);
	/* Children that overlap each other can be longer than their parent. */
	uint64_t self = time > a->children_ps ? time - a->children_ps : 0;
	op->is_eager |= a->is_eager;
	op->occurrences++;
	op->time_ps += time;
	op->self_time_ps += self;
	db->total_op_time_ps += self;
	return !room->by_step ||
	       tfp_op_steps_add(&s->steps, (uint32_t)(op - db->ops), a->step, time, self);
}

/* Begins and ends in order of time. An end closes its op and forgets every op
 * above it on the stack; the end of a forgotten op finds nothing and empties the
 * stack. That is the peers' rule (op_stack.h), and it decides numbers when ops
 * overlap or end at the same time. */
static bool run_activities(struct stretch *s, const struct room *room, size_t n)
{
	struct tfp_op_db *db = &s->db;
	struct activity *all = room->all;
	uint32_t *ends = room->ends, *stack = room->stack;
	const uint64_t ops_before_ps = db->total_op_time_ps;
	size_t depth = 0, begun = 0;
	bool ok = true;
	tfp_sort_indexes_in(ends, stack, n, ends_before, all);
	for (size_t e = 0; ok && e < n && tfp_goes_on(e); e++) {
		struct activity *a = &all[ends[e]];
		while (begun < n && (all[begun].begin_ps < a->end_ps ||
				     (all[begun].begin_ps == a->end_ps && begun <= ends[e]))) {
			all[begun].open = true;
			stack[depth++] = (uint32_t)begun++;
		}
		if (!a->open) {
			while (depth > 0)
				all[stack[--depth]].open = false;
			continue;
		}
		while (stack[depth - 1] != ends[e])
			all[stack[--depth]].open = false;
		a->open = false;
		depth--;
		ok = enter(s, a, room);
		if (depth > 0)
			all[stack[depth - 1]].children_ps += (uint64_t)(a->end_ps - a->begin_ps);
	}
	if (ok) {
		uint64_t window = (uint64_t)(all[ends[n - 1]].end_ps - all[0].begin_ps);
		uint64_t ops_ps = db->total_op_time_ps - ops_before_ps;
		uint64_t idle_ps = window > ops_ps ? window - ops_ps : 0;
		db->total_time_ps += ops_ps + idle_ps;
		ok = tfp_op_db_add_idle(db, idle_ps);
	}
	return ok;
}

/* Most activities that the line can have; exact unless stats decide. */
static size_t count_activities(const struct line_ops *l)
{
	size_t count = 0;
	if (tfp_schema_has(l->schema, STAGE_ID))
		return l->line->event_count;
	for (size_t i = 0; i < l->line->event_count; i++)
		count += l->ops[tfp_event_meta_index(l->line, i)].category != TFP_OP_UNKNOWN;
	return count;
}

static bool make_room(struct room *room, size_t count)
{
	if (count <= room->size)
		return true;
	tfp_free(room->all);
	tfp_free(room->stack);
	tfp_free(room->ends);
	room->all = tfp_reallocarray(NULL, count, sizeof(*room->all));
	room->stack = tfp_reallocarray(NULL, count + 1, sizeof(*room->stack));
	room->ends = tfp_reallocarray(NULL, count, sizeof(*room->ends));
	room->size = room->all && room->stack && room->ends ? count : 0;
	return room->size > 0;
}

static bool run_ops(const struct line_ops *l, struct stretch *s, struct room *room)
{
	size_t n = 0, count = count_activities(l);
	bool by_name = !tfp_schema_has(l->schema, STAGE_ID);
	if (count && !make_room(room, count))
		return false;
	for (size_t i = 0; count && i < l->line->event_count && tfp_goes_on(i); i++) {
		struct activity *a = &room->all[n];
		if (by_name && l->ops[tfp_event_meta_index(l->line, i)].category == TFP_OP_UNKNOWN)
			continue;
		if (op_of_event(l, i, a)) {
			a->begin_ps = tfp_event_offset_ps(l->line, i);
			a->end_ps = tfp_event_end_offset_ps(l->line, i);
			a->step = room->by_step ? tfp_group_in(&l->groups->group, i) : TFP_NO_STEP;
			n++;
		}
	}
	/* A thread without ops counts as idle for no time at all. */
	return n ? run_activities(s, room, n) : tfp_op_db_add_idle(&s->db, 0);
}

static void run_stretch(void *context, size_t index)
{
	struct host_ops *h = context;
	struct stretch *s = &h->stretches[index];
	struct room room = {.memo = tfp_memo_new(512), .by_step = h->by_step};
	bool ok = room.memo != NULL;
	for (size_t l = s->first_line; ok && l < s->first_line + s->line_count; l++) {
		if (!tfp_line_is_derived(h->lines[l].line))
			ok = run_ops(&h->lines[l], s, &room);
	}
	tfp_free(room.all);
	tfp_free(room.stack);
	tfp_free(room.ends);
	tfp_free(room.memo);
	if (!ok)
		atomic_store(&h->no_memory, true);
}

/* Room for as many as there are threads. */
static void divide(struct host_ops *h, const struct tfp_plane *plane)
{
	size_t events = 0;
	for (size_t l = 0; l < plane->line_count; l++) {
		if (h->stretch_count == 0 || events >= STRETCH_EVENTS) {
			struct stretch *s = &h->stretches[h->stretch_count++];
			s->first_line = l;
			tfp_op_db_init(&s->db);
			events = 0;
		}
		h->stretches[h->stretch_count - 1].line_count++;
		events += plane->lines[l].event_count;
	}
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the metrics of host ops");
}

/* The plane's tables that every thread's ops are read with. */
struct host_plane {
	const struct tfp_plane *plane;
	struct tfp_schema schema;
	struct tfp_op_name *ops;
	bool reads_stats;
};

static enum tfp_status host_plane_init(struct host_plane *h, const struct tfp_plane *plane,
				       struct tfp_error *err)
{
	*h = (struct host_plane){.plane = plane};
	enum tfp_status status = tfp_schema_init(&h->schema, plane, names, WANTED, err);
	if (status != TFP_OK)
		return status;
	h->ops = tfp_reallocarray(NULL, plane->event_meta_count, sizeof(*h->ops));
	if (!h->ops)
		return no_memory(err);
	for (size_t m = 0; m < plane->event_meta_count; m++)
		h->ops[m] = tfp_op_name_parse(plane->event_metas[m].name);
	h->reads_stats =
		tfp_schema_has(&h->schema, IS_EAGER) || tfp_schema_has(&h->schema, STAGE_ID);
	return TFP_OK;
}

static void host_plane_release(struct host_plane *h)
{
	tfp_free(h->ops);
	tfp_schema_release(&h->schema);
}

static struct line_ops line_ops_of(const struct host_plane *h, size_t line)
{
	return (struct line_ops){.plane = h->plane,
				 .schema = &h->schema,
				 .ops = h->ops,
				 .line = &h->plane->lines[line],
				 .reads_stats = h->reads_stats};
}

enum tfp_status tfp_host_ops(const struct tfp_capture *capture, const struct tfp_groups *groups,
			     struct tfp_pool *pool, struct tfp_op_db *out, struct tfp_error *err)
{
	return tfp_host_ops_by_step(capture, groups, pool, out, NULL, err);
}

enum tfp_status tfp_host_ops_by_step(const struct tfp_capture *capture,
				     const struct tfp_groups *groups, struct tfp_pool *pool,
				     struct tfp_op_db *out, struct tfp_op_steps *steps,
				     struct tfp_error *err)
{
	const struct tfp_plane *plane = tfp_capture_find_plane(capture, "/host:CPU");
	struct host_ops h = {.by_step = steps && groups};
	struct host_plane host;
	if (!plane)
		return TFP_OK;
	enum tfp_status status = host_plane_init(&host, plane, err);
	if (status == TFP_OK) {
		h.lines = tfp_calloc(plane->line_count, sizeof(*h.lines));
		h.stretches = tfp_calloc(plane->line_count, sizeof(*h.stretches));
		if (!h.lines || !h.stretches)
			status = no_memory(err);
	}
	if (status == TFP_OK) {
		for (size_t l = 0; l < plane->line_count; l++) {
			h.lines[l] = line_ops_of(&host, l);
			if (groups)
				h.lines[l].groups = &groups->planes[plane - capture->planes][l];
		}
		divide(&h, plane);
		tfp_pool_for(pool, h.stretch_count, run_stretch, &h);
		bool ok = !atomic_load(&h.no_memory);
		for (size_t s = 0; s < h.stretch_count; s++) {
			struct stretch *stretch = &h.stretches[s];
			ok = ok && tfp_op_db_merge(out, &stretch->db) &&
			     (!steps ||
			      tfp_op_steps_merge(steps, out, &stretch->steps, &stretch->db));
			tfp_op_db_release(&stretch->db);
			tfp_op_steps_release(&stretch->steps);
		}
		if (!ok)
			status = no_memory(err);
	}
	tfp_free(h.lines);
	tfp_free(h.stretches);
	host_plane_release(&host);
	return status;
}

enum tfp_status tfp_host_op_events(const struct tfp_capture *capture,
				   void (*visit)(void *context, const struct tfp_plane *plane,
						 const struct tfp_line *line, size_t event,
						 struct tfp_str name, struct tfp_str type),
				   void *context, struct tfp_error *err)
{
	const struct tfp_plane *plane = tfp_capture_find_plane(capture, "/host:CPU");
	struct host_plane host;
	if (!plane)
		return TFP_OK;
	enum tfp_status status = host_plane_init(&host, plane, err);
	for (size_t l = 0; status == TFP_OK && l < plane->line_count; l++) {
		struct line_ops ops = line_ops_of(&host, l);
		if (tfp_line_is_derived(ops.line))
			continue;
		for (size_t i = 0; i < ops.line->event_count && tfp_goes_on(i); i++) {
			struct activity a;
			if (op_of_event(&ops, i, &a))
				visit(context, plane, ops.line, i, a.name, a.type);
		}
	}
	host_plane_release(&host);
	return status;
}
