/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/tf_functions.h"

#include "analysis/events/schema.h"
#include "analysis/events/stat_columns.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>

enum { CALL, TRACING_COUNT, WANTED };

static const char *const names[WANTED] = {
	[CALL] = "tf_function_call",
	[TRACING_COUNT] = "tracing_count",
};

void tfp_functions_init(struct tfp_functions *functions)
{
	*functions = (struct tfp_functions){0};
	tfp_arena_init(&functions->arena, SIZE_MAX);
}

void tfp_functions_release(struct tfp_functions *functions)
{
	tfp_free(functions->list);
	tfp_str_map_release(&functions->by_name);
	tfp_arena_release(&functions->arena);
	*functions = (struct tfp_functions){0};
}

static struct tfp_function *enter(struct tfp_functions *f, struct tfp_str name)
{
	uint32_t found = tfp_str_map_find(&f->by_name, name.data, name.size);
	if (found != TFP_STR_MAP_NONE)
		return &f->list[found];
	if (!TFP_GROW(f->list, f->count, f->room))
		return NULL;
	const char *kept = tfp_arena_strndup(&f->arena, name.data ? name.data : "", name.size);
	if (!kept ||
	    tfp_str_map_add(&f->by_name, kept, name.size, (uint32_t)f->count) == TFP_STR_MAP_NONE)
		return NULL;
	f->list[f->count] = (struct tfp_function){.name = {kept, name.size}};
	return &f->list[f->count++];
}

bool tfp_functions_merge(struct tfp_functions *to, const struct tfp_functions *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tfp_function *src = &from->list[i];
		struct tfp_function *f = enter(to, src->name);
		if (!f)
			return false;
		for (int m = 0; m < TFP_FUNCTION_MODE_COUNT; m++) {
			f->calls[m] += src->calls[m];
			f->self_ps[m] += src->self_ps[m];
		}
		if (f->tracing_count < src->tracing_count)
			f->tracing_count = src->tracing_count;
	}
	return true;
}

static enum tfp_function_mode mode_of(struct tfp_str text)
{
	if (tfp_str_equal(text, "eager"))
		return TFP_FUNCTION_EAGER;
	if (tfp_str_equal(text, "concrete"))
		return TFP_FUNCTION_CONCRETE;
	if (tfp_str_starts(text, "traced-"))
		return TFP_FUNCTION_TRACED;
	if (tfp_str_starts(text, "notTraced-"))
		return TFP_FUNCTION_NOT_TRACED;
	return TFP_FUNCTION_OTHER;
}

struct call {
	int64_t end_ps;
	uint64_t time_ps, children_ps;
	struct tfp_str name;
	enum tfp_function_mode mode;
	int64_t tracing_count;
};

struct calls {
	struct call *stack;
	size_t depth, room;
	struct tfp_functions *out;
};

static bool close_call(struct calls *c)
{
	const struct call *call = &c->stack[--c->depth];
	struct tfp_function *f = enter(c->out, call->name);
	if (!f)
		return false;
	f->calls[call->mode]++;
	if (call->time_ps > call->children_ps)
		f->self_ps[call->mode] += call->time_ps - call->children_ps;
	if (f->tracing_count < call->tracing_count)
		f->tracing_count = call->tracing_count;
	return true;
}

static bool open_call(struct calls *c, int64_t begin_ps, struct call call)
{
	while (c->depth > 0 && c->stack[c->depth - 1].end_ps <= begin_ps &&
	       !(call.time_ps == 0 && c->stack[c->depth - 1].end_ps == begin_ps)) {
		if (!close_call(c))
			return false;
	}
	if (c->depth > 0)
		c->stack[c->depth - 1].children_ps += call.time_ps;
	if (!TFP_GROW(c->stack, c->depth, c->room))
		return false;
	c->stack[c->depth++] = call;
	return true;
}

static bool read_line(struct calls *c, const struct tfp_plane *plane,
		      const struct tfp_schema *schema, const struct tfp_line *line,
		      const struct tfp_event_set *called)
{
	const size_t n = line->event_count;
	bool ok = true;
	for (size_t i = tfp_event_set_next(called, 0, n); ok && i != SIZE_MAX;
	     i = tfp_event_set_next(called, i + 1, n)) {
		struct tfp_stat_iter it = tfp_event_stats(line, i);
		struct tfp_str mode = {"", 0};
		struct tfp_stat stat;
		int64_t tracing_count = 0;
		int name;
		while ((name = tfp_schema_next(schema, &it, &stat)) >= 0) {
			if (name == CALL)
				tfp_stat_text(plane, &stat, &mode);
			else if (name == TRACING_COUNT && !tfp_stat_int(&stat, &tracing_count))
				tracing_count = 0;
		}
		if (mode.size == 0)
			continue;
		ok = open_call(c, tfp_event_offset_ps(line, i),
			       (struct call){
				       .end_ps = tfp_event_end_offset_ps(line, i),
				       .time_ps = (uint64_t)tfp_event_duration_ps(line, i),
				       .name = tfp_event_meta(plane, line, i)->name,
				       .mode = mode_of(mode),
				       .tracing_count = tracing_count,
			       });
	}
	while (ok && c->depth > 0)
		ok = close_call(c);
	return ok;
}

struct lines {
	const struct tfp_plane *plane;
	const struct tfp_line_stats *stats; /* by line */
	struct tfp_schema schema;
	struct tfp_functions *of_line;
	atomic_bool no_memory;
};

static void run_line(void *context, size_t index)
{
	struct lines *all = context;
	const struct tfp_line *line = &all->plane->lines[index];
	struct calls calls = {.out = &all->of_line[index]};
	tfp_functions_init(calls.out);
	if (!tfp_line_is_derived(line) &&
	    !read_line(&calls, all->plane, &all->schema, line, &all->stats[index].calls))
		atomic_store(&all->no_memory, true);
	tfp_free(calls.stack);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for tf.functions");
}

static bool run_lines(struct lines *all, struct tfp_pool *pool, struct tfp_functions *out)
{
	const size_t count = all->plane->line_count;
	all->of_line = tfp_calloc(count, sizeof(*all->of_line));
	bool ok = all->of_line != NULL;
	if (ok)
		tfp_pool_for(pool, count, run_line, all);
	for (size_t l = 0; all->of_line && l < count; l++) {
		ok = ok && tfp_functions_merge(out, &all->of_line[l]);
		tfp_functions_release(&all->of_line[l]);
	}
	tfp_free(all->of_line);
	return ok && !atomic_load(&all->no_memory);
}

static enum tfp_status read_plane(struct tfp_capture *capture, const struct tfp_plane *plane,
				  struct tfp_pool *pool, struct tfp_functions *out,
				  struct tfp_error *err)
{
	struct lines all = {.plane = plane};
	const struct tfp_stat_columns *stats;
	enum tfp_status status = tfp_schema_init(&all.schema, plane, names, WANTED, err);
	/* Programs without tf.function pay nothing. */
	if (status == TFP_OK && tfp_schema_has(&all.schema, CALL)) {
		status = tfp_stat_columns_get(capture, pool, TFP_STATS_OF_OTHERS, &stats, err);
		if (status == TFP_OK) {
			all.stats = stats->planes[plane - capture->planes];
			status = run_lines(&all, pool, out) ? TFP_OK : no_memory(err);
		}
	}
	tfp_schema_release(&all.schema);
	return status;
}

static void free_fact(void *fact)
{
	tfp_functions_release(fact);
	tfp_free(fact);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_plane *plane = tfp_capture_find_plane(capture, "/host:CPU");
	struct tfp_functions *out = tfp_malloc(sizeof(*out));
	if (!out)
		return no_memory(err);
	tfp_functions_init(out);
	enum tfp_status status = plane ? read_plane(capture, plane, pool, out, err) : TFP_OK;
	if (status != TFP_OK) {
		free_fact(out);
		return status;
	}
	*heap_bytes = sizeof(*out) + out->room * sizeof(*out->list) + out->arena.bytes;
	*fact = out;
	return TFP_OK;
}

enum tfp_status tfp_functions_get(struct tfp_capture *capture, struct tfp_pool *pool,
				  const struct tfp_functions **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

double tfp_function_expensive_percent(const struct tfp_function *function)
{
	uint64_t all = 0;
	for (int m = 0; m < TFP_FUNCTION_MODE_COUNT; m++)
		all += function->self_ps[m];
	uint64_t expensive =
		function->self_ps[TFP_FUNCTION_TRACED] + function->self_ps[TFP_FUNCTION_EAGER];
	return all ? 100 * (double)expensive / (double)all : 0;
}
