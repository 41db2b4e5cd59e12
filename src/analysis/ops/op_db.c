/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_db.h"

#include "analysis/events/op_name.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void tfp_op_db_init(struct tfp_op_db *db)
{
	*db = (struct tfp_op_db){0};
	tfp_arena_init(&db->arena, SIZE_MAX);
}

void tfp_op_db_release(struct tfp_op_db *db)
{
	tfp_free(db->ops);
	tfp_str_map_release(&db->by_key);
	tfp_arena_release(&db->arena);
	*db = (struct tfp_op_db){0};
}

struct tfp_str tfp_op_db_text(struct tfp_op_db *db, struct tfp_str text)
{
	if (text.size == 0)
		return (struct tfp_str){"", 0};
	return (struct tfp_str){tfp_arena_strndup(&db->arena, text.data, text.size), text.size};
}

struct tfp_op *tfp_op_db_enter(struct tfp_op_db *db, uint64_t module_id, struct tfp_str name)
{
	char small[256], *key = small;
	size_t size = sizeof(module_id) + name.size;
	if (size > sizeof(small)) {
		key = tfp_malloc(size);
		if (!key)
			return NULL;
	}
	memcpy(key, &module_id, sizeof(module_id));
	if (name.size)
		memcpy(key + sizeof(module_id), name.data, name.size);
	struct tfp_op *op = NULL;
	uint32_t found = tfp_str_map_find(&db->by_key, key, size);
	if (found != TFP_STR_MAP_NONE) {
		op = &db->ops[found];
		goto out;
	}
	if (!TFP_GROW(db->ops, db->count, db->room))
		goto out;
	/* The map keeps the key's address: it must be the arena's. */
	char *kept = tfp_arena_strndup(&db->arena, key, size);
	if (!kept ||
	    tfp_str_map_add(&db->by_key, kept, size, (uint32_t)db->count) == TFP_STR_MAP_NONE)
		goto out;
	op = &db->ops[db->count++];
	*op = (struct tfp_op){
		.module_id = module_id,
		.name = {kept + sizeof(module_id), name.size},
		.category = {"", 0},
		.provenance = {"", 0},
	};
out:
	if (key != small)
		tfp_free(key);
	return op;
}

struct tfp_device_metrics *tfp_op_db_device(struct tfp_op_db *db, struct tfp_op *op)
{
	if (!op->device)
		op->device = tfp_arena_zalloc(&db->arena, 1, sizeof(*op->device));
	return op->device;
}

enum tfp_op_origin tfp_op_origin(const struct tfp_op *op)
{
	return op->device ? (enum tfp_op_origin)op->device->origin : TFP_ORIGIN_NONE;
}

void tfp_device_metrics_add(struct tfp_device_metrics *to, const struct tfp_device_metrics *from)
{
	if (to->origin == TFP_ORIGIN_NONE)
		to->origin = from->origin;
	if (to->cost_by == TFP_COST_BY_NOBODY)
		to->cost_by = from->cost_by;
	if (to->core == TFP_CORE_NONE)
		to->core = from->core;
	to->has_breakdown |= from->has_breakdown;
	to->normalized_ps += from->normalized_ps;
	to->dma_stall_ps += from->dma_stall_ps;
	for (int m = 0; m < TFP_SPACE_COUNT; m++) {
		for (int a = 0; a < TFP_ACCESS_COUNT; a++)
			to->bytes[m][a] += from->bytes[m][a];
	}
}

bool tfp_op_is_idle(const struct tfp_op *op)
{
	return tfp_str_equal(op->category, TFP_OP_IDLE);
}

bool tfp_op_db_add_idle(struct tfp_op_db *db, uint64_t time_ps)
{
	struct tfp_op *op =
		tfp_op_db_enter(db, 0, (struct tfp_str){TFP_OP_IDLE, strlen(TFP_OP_IDLE)});
	if (!op)
		return false;
	op->category = (struct tfp_str){TFP_OP_IDLE, strlen(TFP_OP_IDLE)};
	op->time_ps += time_ps;
	op->self_time_ps += time_ps;
	op->has_cost = true; /* doing nothing costs nothing: 0 is right */
	return true;
}

static bool fill_text(struct tfp_op_db *db, struct tfp_str *to, struct tfp_str from)
{
	if (to->size == 0)
		*to = tfp_op_db_text(db, from);
	return to->data != NULL;
}

/* Times and costs; a sum with an unknown part is unknown. */
static void add_metrics(struct tfp_op *op, const struct tfp_op *src, bool first)
{
	op->time_ps += src->time_ps;
	op->self_time_ps += src->self_time_ps;
	op->has_cost = (first || op->has_cost) && src->has_cost;
	op->flops += src->flops;
	op->model_flops += src->model_flops;
	op->bytes_accessed += src->bytes_accessed;
}

bool tfp_op_db_merge(struct tfp_op_db *db, const struct tfp_op_db *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tfp_op *src = &from->ops[i];
		struct tfp_op *op = tfp_op_db_enter(db, src->module_id, src->name);
		if (!op)
			return false;
		bool first = op->category.size == 0 && op->occurrences == 0 && op->time_ps == 0;
		if (!fill_text(db, &op->category, src->category) ||
		    !fill_text(db, &op->provenance, src->provenance))
			return false;
		op->is_eager |= src->is_eager;
		op->occurrences += src->occurrences;
		add_metrics(op, src, first);
		if (!src->device)
			continue;
		struct tfp_device_metrics *device = tfp_op_db_device(db, op);
		if (!device)
			return false;
		tfp_device_metrics_add(device, src->device);
	}
	db->total_time_ps += from->total_time_ps;
	db->total_op_time_ps += from->total_op_time_ps;
	return true;
}

static int by_self_time(const void *a, const void *b, void *context)
{
	const struct tfp_op *ops = context;
	const struct tfp_op *x = &ops[*(const uint32_t *)a], *y = &ops[*(const uint32_t *)b];
	if (x->self_time_ps != y->self_time_ps)
		return x->self_time_ps > y->self_time_ps ? -1 : 1;
	int order = tfp_str_compare(x->name, y->name);
	if (order)
		return order;
	return x->module_id < y->module_id ? -1 : x->module_id > y->module_id;
}

uint32_t *tfp_op_db_sorted(const struct tfp_op_db *db)
{
	uint32_t *order = tfp_reallocarray(NULL, db->count + 1, sizeof(*order));
	if (!order)
		return NULL;
	for (size_t i = 0; i < db->count; i++)
		order[i] = (uint32_t)i;
	if (db->count)
		qsort_r(order, db->count, sizeof(*order), by_self_time, db->ops);
	return order;
}

void tfp_framework_op(struct tfp_str provenance, struct tfp_str op_name, struct tfp_str *name,
		      struct tfp_str *type)
{
	*name = op_name;
	*type = (struct tfp_str){"Unknown", 7};
	if (provenance.size) {
		struct tfp_op_name parsed = tfp_op_name_parse(provenance);
		*name = parsed.name;
		if (parsed.type.size)
			*type = parsed.type;
	}
}

bool tfp_op_db_by_framework_op(const struct tfp_op_db *device, struct tfp_op_db *out)
{
	for (size_t i = 0; i < device->count; i++) {
		const struct tfp_op *src = &device->ops[i];
		struct tfp_str name, type;
		tfp_framework_op(src->provenance, src->name, &name, &type);
		if (tfp_op_is_idle(src))
			type = src->category;
		struct tfp_op *op = tfp_op_db_enter(out, 0, name);
		if (!op)
			return false;
		bool first = op->category.size == 0;
		if (!fill_text(out, &op->category, type))
			return false;
		op->is_eager = src->is_eager;
		if (op->occurrences < src->occurrences)
			op->occurrences = src->occurrences;
		add_metrics(op, src, first);
	}
	out->total_time_ps = device->total_time_ps;
	out->total_op_time_ps = device->total_op_time_ps;
	return true;
}
