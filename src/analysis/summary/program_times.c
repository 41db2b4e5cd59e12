/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/program_times.h"

#include "analysis/events/schema.h"
#include "analysis/ops/gpu_events.h"
#include "analysis/summary/op_stats.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdlib.h>

/* ---- GPUs ---- */

/* A kernel of an instruction: an instruction may launch several. */
struct launch {
	uint32_t module, instruction, kernel;
};

struct launches {
	struct launch *key;
	uint64_t times;
};

/* A GPU's events while they are counted. */
struct gpu {
	struct tfp_program_times *out;
	struct tfp_gpu_reader reader;
	struct tfp_str_map by_launch;
	struct tfp_arena keys;
	struct launches *list;
	size_t count, room;
};

static bool count_launch(struct gpu *g, struct launch launch)
{
	uint32_t known = tfp_str_map_find(&g->by_launch, &launch, sizeof(launch));
	if (known != TFP_STR_MAP_NONE) {
		g->list[known].times++;
		return true;
	}
	struct launch *key = tfp_arena_alloc(&g->keys, sizeof(*key));
	if (!key || g->count >= TFP_STR_MAP_NONE || !TFP_GROW(g->list, g->count, g->room))
		return false;
	*key = launch;
	if (tfp_str_map_add(&g->by_launch, key, sizeof(*key), (uint32_t)g->count) ==
	    TFP_STR_MAP_NONE)
		return false;
	g->list[g->count++] = (struct launches){key, 1};
	return true;
}

static bool read_gpu_line(struct gpu *g, const struct tfp_line *line)
{
	const struct tfp_hlo_modules *modules = g->out->modules;
	for (size_t i = 0; i < line->event_count; i++) {
		struct tfp_gpu_event e;
		if (!tfp_goes_on(i))
			return false;
		tfp_gpu_event_read(&g->reader, line, i, &e);
		if (!e.instruction)
			continue;
		const struct tfp_hlo_module *module = tfp_hlo_module_find(modules, e.program_id);
		size_t m = (size_t)(module - modules->modules);
		g->out->list[m].time_ps += (uint64_t)e.duration_ps;
		g->out->list[m].has_time = true;
		struct launch launch = {(uint32_t)m,
					(uint32_t)(e.instruction - module->instructions),
					tfp_event_meta_index(line, i)};
		if (!count_launch(g, launch))
			return false;
	}
	return true;
}

/* By module and instruction, the most times first. */
static int by_instruction(const void *a, const void *b)
{
	const struct launches *x = a, *y = b;
	if (x->key->module != y->key->module)
		return x->key->module < y->key->module ? -1 : 1;
	if (x->key->instruction != y->key->instruction)
		return x->key->instruction < y->key->instruction ? -1 : 1;
	return (x->times < y->times) - (x->times > y->times);
}

static int by_times(const void *a, const void *b)
{
	const struct launches *x = a, *y = b;
	return (x->times > y->times) - (x->times < y->times);
}

/* By computation whether an execution of the program runs it once. NULL without memory. */
static bool *find_once(const struct tfp_hlo_program *p)
{
	bool *once = tfp_calloc((size_t)p->computation_count + 1, sizeof(*once));
	if (!once)
		return NULL;
	once[p->entry] = true;
	/* Callers come after what they call. */
	for (uint32_t c = p->computation_count; c-- > 0;) {
		const struct tfp_hlo_computation *in = &p->computations[c];
		for (uint32_t i = in->first; once[c] && i < in->first + in->count; i++) {
			const struct tfp_hlo_op *op = &p->instructions[i];
			bool calls =
				op->opcode == TFP_HLO_CALL || op->opcode == TFP_HLO_ASYNC_START;
			for (uint32_t n = 0; calls && n < op->called_count; n++)
				once[tfp_hlo_called(p, i, n)] = true;
		}
	}
	return once;
}

/* The number of times that most entries have, of several such the least; 0 of none. */
static uint64_t usual_times(struct launches *list, size_t count)
{
	uint64_t usual = 0;
	size_t most = 0;
	qsort(list, count, sizeof(*list), by_times);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && list[end].times == list[i].times;)
			end++;
		if (end - i > most) {
			most = end - i;
			usual = list[i].times;
		}
	}
	return usual;
}

/* Of one module's launches, in order: those that count are moved to the front. */
static bool count_executions(struct gpu *g, struct launches *list, size_t count)
{
	uint32_t m = list[0].key->module;
	const struct tfp_hlo_program *p = &g->out->modules->modules[m].program;
	struct tfp_program_time *time = &g->out->list[m];
	bool *once = find_once(p);
	size_t kept = 0;
	if (!once)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t instruction = list[i].key->instruction;
		bool first = i == 0 || list[i - 1].key->instruction != instruction;
		if (first && once[p->instructions[instruction].computation])
			list[kept++] = list[i];
	}
	tfp_free(once);
	time->executions += usual_times(list, kept);
	time->has_executions &= kept > 0;
	return true;
}

static bool finish_gpu(struct gpu *g)
{
	bool ok = true;
	if (g->count)
		qsort(g->list, g->count, sizeof(*g->list), by_instruction);
	for (size_t i = 0, end; ok && i < g->count; i = end) {
		for (end = i + 1;
		     end < g->count && g->list[end].key->module == g->list[i].key->module;)
			end++;
		ok = count_executions(g, &g->list[i], end - i);
	}
	return ok;
}

static enum tfp_status read_gpu(struct tfp_program_times *out, const struct tfp_plane *plane,
				struct tfp_error *err)
{
	struct gpu g = {.out = out};
	enum tfp_status status = tfp_gpu_reader_init(&g.reader, plane, out->modules, err);
	if (status != TFP_OK)
		return status;
	tfp_arena_init(&g.keys, SIZE_MAX);
	bool ok = true;
	for (size_t l = 0; ok && l < plane->line_count; l++) {
		if (!tfp_line_is_derived(&plane->lines[l]))
			ok = read_gpu_line(&g, &plane->lines[l]);
	}
	ok = ok && finish_gpu(&g);
	tfp_gpu_reader_release(&g.reader);
	tfp_str_map_release(&g.by_launch);
	tfp_arena_release(&g.keys);
	tfp_free(g.list);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the times of programs");
}

/* ---- TPUs ---- */

static struct tfp_program_time *time_of(struct tfp_program_times *out, uint64_t program_id)
{
	const struct tfp_hlo_module *module = tfp_hlo_module_find(out->modules, program_id);
	return module ? &out->list[module - out->modules->modules] : NULL;
}

static void read_tpu(struct tfp_program_times *out, const struct tfp_plane *plane)
{
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		if (!tfp_str_equal(line->name, "XLA Modules"))
			continue;
		for (size_t i = 0; i < line->event_count; i++) {
			uint64_t id;
			struct tfp_program_time *time =
				tfp_hlo_id_in_name(tfp_event_meta(plane, line, i)->name, &id)
					? time_of(out, id)
					: NULL;
			if (time)
				time->executions++;
		}
	}
}

static enum tfp_status read_tpus(struct tfp_program_times *out, struct tfp_capture *capture,
				 struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_op_stats *stats;
	enum tfp_status status = tfp_op_stats_get(capture, pool, &stats, err);
	if (status != TFP_OK)
		return status;
	const struct tfp_op_db *db = &stats->device.ops;
	for (size_t i = 0; i < db->count; i++) {
		struct tfp_program_time *time = time_of(out, db->ops[i].module_id);
		if (!time || tfp_op_is_idle(&db->ops[i]))
			continue;
		time->time_ps += db->ops[i].self_time_ps;
		time->has_time = true;
	}
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU)
			read_tpu(out, &capture->planes[p]);
	}
	return TFP_OK;
}

/* ---- both ---- */

enum tfp_status tfp_program_times_init(struct tfp_program_times *times, struct tfp_capture *capture,
				       struct tfp_pool *pool, struct tfp_error *err)
{
	bool has_tpu = false;
	*times = (struct tfp_program_times){0};
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &times->modules, err);
	if (status != TFP_OK)
		return status;
	size_t count = times->modules->module_count;
	times->list = tfp_calloc(count + 1, sizeof(*times->list));
	if (!times->list)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the times of programs");
	for (size_t p = 0; p < capture->plane_count; p++)
		has_tpu |= tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU;
	for (size_t i = 0; i < count; i++)
		times->list[i].has_executions = !has_tpu;
	if (has_tpu)
		status = read_tpus(times, capture, pool, err);
	for (size_t p = 0; !has_tpu && status == TFP_OK && p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_GPU)
			status = read_gpu(times, &capture->planes[p], err);
	}
	for (size_t i = 0; i < count; i++) {
		struct tfp_program_time *time = &times->list[i];
		if (has_tpu)
			time->has_executions = time->executions > 0;
		else
			time->has_executions &= time->has_time;
	}
	return status;
}

void tfp_program_times_release(struct tfp_program_times *times)
{
	tfp_free(times->list);
	times->list = NULL;
}
