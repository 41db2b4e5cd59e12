/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_modules.h"

#include "analysis/events/op_name.h"
#include "analysis/events/schema.h"
#include "analysis/hlo/hlo_fields.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static struct tfp_str text(const char *s)
{
	return (struct tfp_str){s, strlen(s)};
}

static struct tfp_str category_of_fusion(const struct tfp_hlo_op *op)
{
	struct tfp_str kind;
	tfp_hlo_field(op->message, 11, &kind);
	return text(tfp_str_equal(kind, "kInput")    ? "input fusion"
		    : tfp_str_equal(kind, "kOutput") ? "output fusion"
		    : tfp_str_equal(kind, "kCustom") ? "custom fusion"
						     : "loop fusion");
}

static struct tfp_str category_of_convolution(const struct tfp_hlo_op *op)
{
	struct tfp_hlo_details details;
	bool base = false, window = false;
	/* What of a damaged message was read counts. */
	(void)!tfp_hlo_details(op, &details, NULL);
	for (size_t i = 0; i < details.window_rank; i++) {
		base |= details.window[i].base_dilation > 1;
		window |= details.window[i].window_dilation > 1;
	}
	return text(base && window ? "convolution base-dilated window-dilated"
		    : base         ? "convolution base-dilated"
		    : window       ? "convolution window-dilated"
				   : "convolution");
}

/* What XProf calls the category of an instruction (hlo_modules.md 2). */
static struct tfp_str category_of(const struct tfp_hlo_op *op)
{
	switch (op->opcode) {
	case TFP_HLO_TRANSPOSE:
	case TFP_HLO_COPY:
	case TFP_HLO_RESHAPE:
	case TFP_HLO_DYNAMIC_RESHAPE:
		return text("data formatting");
	case TFP_HLO_FUSION:
		return category_of_fusion(op);
	case TFP_HLO_CONVOLUTION:
		return category_of_convolution(op);
	case TFP_HLO_MAP:
		return text("non-fusion elementwise");
	default:
		return tfp_hlo_opcode_elementwise(op->opcode) ? text("non-fusion elementwise")
							      : op->opcode_name;
	}
}

/* Writes `op_name:op_type`; false without memory. */
static bool fullname_of(struct tfp_arena *arena, const struct tfp_hlo_metadata *x,
			struct tfp_str *out)
{
	*out = text("");
	if (x->op_name.size == 0)
		return true;
	size_t size = x->op_name.size + 1 + x->op_type.size;
	char *data = tfp_arena_alloc(arena, size);
	if (!data)
		return false;
	memcpy(data, x->op_name.data, x->op_name.size);
	data[x->op_name.size] = ':';
	if (x->op_type.size)
		memcpy(data + x->op_name.size + 1, x->op_type.data, x->op_type.size);
	*out = (struct tfp_str){data, size};
	return true;
}

static bool read_instruction(struct tfp_hlo_modules *all, struct tfp_hlo_instruction *out,
			     const struct tfp_hlo_op *op)
{
	struct tfp_hlo_metadata x = tfp_hlo_metadata(op);
	out->name = op->name;
	out->category = category_of(op);
	out->deduplicated_name = x.deduplicated_name;
	out->source_file = x.source_file;
	out->source_line = x.source_line;
	all->is_training |= tfp_op_is_gradient(x.op_name, x.op_type);
	return fullname_of(&all->arena, &x, &out->op_fullname);
}

/* TFP_OK also for what is no HLO, or none that XLA would read: it is counted as broken. */
static enum tfp_status read_module(struct tfp_hlo_modules *all, uint64_t program_id,
				   struct tfp_str bytes, struct tfp_error *err)
{
	struct tfp_hlo_module *module = &all->modules[all->module_count];
	*module = (struct tfp_hlo_module){.program_id = program_id};
	enum tfp_status status = tfp_hlo_program_init(&module->program, bytes, err);
	if (status == TFP_BAD_INPUT) {
		tfp_hlo_program_release(&module->program);
		all->broken++;
		return TFP_OK;
	}
	/* From here on it has an owner. */
	all->module_count++;
	if (status != TFP_OK)
		return status;
	size_t count = module->program.instruction_count;
	struct tfp_hlo_instruction *list = tfp_arena_zalloc(&all->arena, count, sizeof(*list));
	bool ok = list;
	module->name = module->program.name;
	module->instructions = list;
	module->instruction_count = count;
	for (size_t i = 0; ok && i < count; i++)
		ok = read_instruction(all, &list[i], &module->program.instructions[i]) &&
		     tfp_str_map_add(&module->by_name, list[i].name.data, list[i].name.size,
				     (uint32_t)i) != TFP_STR_MAP_NONE;
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for HLO modules");
}

bool tfp_hlo_id_in_name(struct tfp_str name, uint64_t *id)
{
	size_t i = name.size;
	uint64_t value = 0, unit = 1;
	if (i == 0 || name.data[--i] != ')')
		return false;
	size_t digits = 0;
	for (; i > 0 && name.data[i - 1] >= '0' && name.data[i - 1] <= '9'; i--, digits++) {
		if (digits == 20)
			return false;
		value += (uint64_t)(name.data[i - 1] - '0') * unit;
		unit *= 10;
	}
	if (digits == 0 || i == 0 || name.data[i - 1] != '(')
		return false;
	*id = value;
	return true;
}

static int by_program_id(const void *a, const void *b)
{
	const struct tfp_hlo_module *x = a, *y = b;
	return x->program_id < y->program_id ? -1 : x->program_id > y->program_id;
}

static bool is_known(const struct tfp_hlo_modules *all, uint64_t program_id)
{
	for (size_t i = 0; i < all->module_count; i++) {
		if (all->modules[i].program_id == program_id)
			return true;
	}
	return false;
}

enum { STAT_HLO_PROTO, STAT_HLO_PROTO_OLD, STAT_PROGRAM_ID };

static const char *const stat_names[] = {"Hlo Proto", "HLO Proto", "program_id"};

static enum tfp_status read_plane(struct tfp_hlo_modules *all, const struct tfp_plane *plane,
				  struct tfp_error *err)
{
	struct tfp_schema schema;
	enum tfp_status status = tfp_schema_init(&schema, plane, stat_names, 3, err);
	for (size_t m = 1; status == TFP_OK && m < plane->event_meta_count; m++) {
		const struct tfp_event_meta *meta = &plane->event_metas[m];
		struct tfp_stat_iter it = tfp_event_meta_stats(meta);
		struct tfp_str proto = {NULL, 0};
		uint64_t program_id = (uint64_t)meta->id;
		struct tfp_stat stat;
		int64_t number;
		/* Files of some writers have other ids (FixHloMetadataInXSpace). */
		tfp_hlo_id_in_name(meta->name, &program_id);
		while (tfp_stat_next(&it, &stat)) {
			int name = tfp_schema_of(&schema, &stat);
			if (name == STAT_PROGRAM_ID && tfp_stat_int(&stat, &number))
				program_id = (uint64_t)number;
			else if ((name == STAT_HLO_PROTO || name == STAT_HLO_PROTO_OLD) &&
				 stat.kind == TFP_STAT_BYTES)
				proto = stat.text;
		}
		if (proto.data && !is_known(all, program_id))
			status = read_module(all, program_id, proto, err);
	}
	tfp_schema_release(&schema);
	return status;
}

static void free_modules(void *fact)
{
	struct tfp_hlo_modules *all = fact;
	for (size_t i = 0; i < all->module_count; i++) {
		tfp_hlo_program_release(&all->modules[i].program);
		tfp_str_map_release(&all->modules[i].by_name);
		tfp_free(all->modules[i].costs);
	}
	tfp_arena_release(&all->arena);
	tfp_free(all->modules);
	tfp_free(all);
}

struct cost_job {
	struct tfp_hlo_modules *all;
	enum tfp_status *status; /* by module */
};

static void cost_module(void *context, size_t i)
{
	struct cost_job *job = context;
	struct tfp_hlo_module *module = &job->all->modules[i];
	/* Instructions are ours until the fact is made. */
	struct tfp_hlo_instruction *list = (struct tfp_hlo_instruction *)module->instructions;
	job->status[i] = tfp_hlo_cost_analyse(&module->program, &module->costs, NULL);
	for (size_t k = 0; module->costs && k < module->instruction_count; k++)
		list[k].cost = &module->costs[k];
}

/* Costs are wanted of GPUs only: on TPUs the profiler counts. */
static enum tfp_status add_costs(struct tfp_hlo_modules *all, const struct tfp_capture *capture,
				 struct tfp_pool *pool, struct tfp_error *err)
{
	bool has_gpu = false;
	for (size_t p = 0; p < capture->plane_count; p++)
		has_gpu |= tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_GPU;
	if (!has_gpu || all->module_count == 0)
		return TFP_OK;
	struct cost_job job = {all, tfp_calloc(all->module_count, sizeof(*job.status))};
	enum tfp_status status = job.status ? TFP_OK : TFP_NO_MEMORY;
	if (job.status)
		tfp_pool_for(pool, all->module_count, cost_module, &job);
	for (size_t i = 0; job.status && i < all->module_count; i++) {
		if (job.status[i] == TFP_NO_MEMORY)
			status = TFP_NO_MEMORY;
	}
	tfp_free(job.status);
	return status == TFP_OK ? TFP_OK
				: tfp_fail(err, status, "no memory for the costs of HLO modules");
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	size_t most = 0;
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_METADATA)
			most += capture->planes[p].event_meta_count;
	}
	struct tfp_hlo_modules *all = tfp_calloc(1, sizeof(*all));
	if (!all)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for HLO modules");
	tfp_arena_init(&all->arena, SIZE_MAX);
	all->modules = tfp_calloc(most, sizeof(*all->modules));
	enum tfp_status status = TFP_OK;
	if (!all->modules)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for HLO modules");
	for (size_t p = 0; status == TFP_OK && p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_METADATA)
			status = read_plane(all, &capture->planes[p], err);
	}
	if (status == TFP_OK)
		status = add_costs(all, capture, pool, err);
	if (status != TFP_OK) {
		free_modules(all);
		return status;
	}
	qsort(all->modules, all->module_count, sizeof(*all->modules), by_program_id);
	*heap_bytes = all->arena.bytes + most * sizeof(*all->modules);
	for (size_t i = 0; i < all->module_count; i++)
		*heap_bytes += tfp_hlo_program_heap_bytes(&all->modules[i].program) +
			       (all->modules[i].costs ? all->modules[i].instruction_count *
								sizeof(*all->modules[i].costs)
						      : 0);
	*fact = all;
	return TFP_OK;
}

enum tfp_status tfp_hlo_modules_get(struct tfp_capture *capture, struct tfp_pool *pool,
				    const struct tfp_hlo_modules **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_modules};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

const struct tfp_hlo_module *tfp_hlo_module_find(const struct tfp_hlo_modules *modules,
						 uint64_t program_id)
{
	size_t low = 0, high = modules->module_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (modules->modules[middle].program_id < program_id)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < modules->module_count && modules->modules[low].program_id == program_id;
	return found ? &modules->modules[low] : NULL;
}

const struct tfp_hlo_instruction *tfp_hlo_find(const struct tfp_hlo_modules *modules,
					       uint64_t program_id, struct tfp_str name)
{
	const struct tfp_hlo_module *module = tfp_hlo_module_find(modules, program_id);
	uint32_t i = module ? tfp_str_map_find(&module->by_name, name.data, name.size)
			    : TFP_STR_MAP_NONE;
	return i == TFP_STR_MAP_NONE ? NULL : &module->instructions[i];
}
