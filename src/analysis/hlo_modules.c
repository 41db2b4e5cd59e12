#include "analysis/hlo_modules.h"

#include "analysis/op_name.h"
#include "analysis/schema.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "hlo.pb-c.h"

#include <stdlib.h>
#include <string.h>

/* Unpacked messages take more room than their bytes: pointers, and copies of
 * fields that we do not know. */
#define UNPACK_FACTOR 16
#define UNPACK_SLACK  ((size_t)1 << 20)

static void *arena_alloc(void *arena, size_t size)
{
	return tfp_arena_alloc(arena, size);
}

static void arena_free(void *arena, void *memory)
{
	(void)arena;
	(void)memory; /* all at once, with the arena */
}

static struct tfp_str copy(struct tfp_arena *arena, ProtobufCBinaryData bytes)
{
	const char *data =
		bytes.len ? tfp_arena_strndup(arena, (const char *)bytes.data, bytes.len) : "";
	return (struct tfp_str){data, data ? bytes.len : 0};
}

static bool is_one_of(struct tfp_str s, const char *const *list)
{
	for (; *list; list++) {
		if (tfp_str_equal(s, *list))
			return true;
	}
	return false;
}

static struct tfp_str text(const char *s)
{
	return (struct tfp_str){s, strlen(s)};
}

/* What XProf calls the category of an instruction (hlo_tools.md 2). */
static struct tfp_str category_of(struct tfp_arena *arena, const Tfp__Hlo__Instruction *in)
{
	static const char *const formatting[] = {"transpose", "copy", "reshape", "dynamic-reshape",
						 NULL};
	static const char *const elementwise[] = {"abs",
						  "add",
						  "and",
						  "atan2",
						  "bitcast-convert",
						  "cbrt",
						  "ceil",
						  "clamp",
						  "compare",
						  "complex",
						  "convert",
						  "cosine",
						  "count-leading-zeros",
						  "divide",
						  "erf",
						  "exponential",
						  "exponential-minus-one",
						  "floor",
						  "imag",
						  "is-finite",
						  "log",
						  "log-plus-one",
						  "logistic",
						  "maximum",
						  "minimum",
						  "multiply",
						  "negate",
						  "not",
						  "or",
						  "popcnt",
						  "power",
						  "real",
						  "reduce-precision",
						  "remainder",
						  "round-nearest-afz",
						  "round-nearest-even",
						  "rsqrt",
						  "select",
						  "shift-left",
						  "shift-right-arithmetic",
						  "shift-right-logical",
						  "sign",
						  "sine",
						  "sqrt",
						  "stochastic-convert",
						  "subtract",
						  "tan",
						  "tanh",
						  "xor",
						  NULL};
	struct tfp_str opcode = {(const char *)in->opcode.data, in->opcode.len};
	struct tfp_str kind = {(const char *)in->fusion_kind.data, in->fusion_kind.len};
	if (is_one_of(opcode, formatting))
		return text("data formatting");
	if (tfp_str_equal(opcode, "fusion")) {
		return text(tfp_str_equal(kind, "kInput")    ? "input fusion"
			    : tfp_str_equal(kind, "kOutput") ? "output fusion"
			    : tfp_str_equal(kind, "kCustom") ? "custom fusion"
							     : "loop fusion");
	}
	if (tfp_str_equal(opcode, "convolution")) {
		bool base = false, window = false;
		for (size_t i = 0; in->window && i < in->window->n_dimensions; i++) {
			base |= in->window->dimensions[i]->base_dilation > 1;
			window |= in->window->dimensions[i]->window_dilation > 1;
		}
		return text(base && window ? "convolution base-dilated window-dilated"
			    : base         ? "convolution base-dilated"
			    : window       ? "convolution window-dilated"
					   : "convolution");
	}
	if (is_one_of(opcode, elementwise))
		return text("non-fusion elementwise");
	return copy(arena, in->opcode);
}

/* Writes `op_name:op_type`; false without memory. */
static bool fullname_of(struct tfp_arena *arena, const Tfp__Hlo__OpMetadata *m, struct tfp_str *out)
{
	*out = text("");
	if (m->op_name.len == 0)
		return true;
	size_t size = m->op_name.len + 1 + m->op_type.len;
	char *data = tfp_arena_alloc(arena, size);
	if (!data)
		return false;
	memcpy(data, m->op_name.data, m->op_name.len);
	data[m->op_name.len] = ':';
	if (m->op_type.len)
		memcpy(data + m->op_name.len + 1, m->op_type.data, m->op_type.len);
	*out = (struct tfp_str){data, size};
	return true;
}

static bool read_instruction(struct tfp_hlo_modules *all, struct tfp_hlo_instruction *out,
			     const Tfp__Hlo__Instruction *in)
{
	struct tfp_arena *arena = &all->arena;
	out->name = copy(arena, in->name);
	out->category = category_of(arena, in);
	out->op_fullname = out->deduplicated_name = out->source_file = text("");
	if (in->metadata) {
		const Tfp__Hlo__OpMetadata *m = in->metadata;
		out->deduplicated_name = copy(arena, m->deduplicated_name);
		out->source_file = copy(arena, m->source_file);
		out->source_line = m->source_line;
		if (!fullname_of(arena, m, &out->op_fullname))
			return false;
		all->is_training |= tfp_op_is_gradient(
			(struct tfp_str){(const char *)m->op_name.data, m->op_name.len},
			(struct tfp_str){(const char *)m->op_type.data, m->op_type.len});
	}
	return out->name.data && out->category.data && out->deduplicated_name.data &&
	       out->source_file.data;
}

/* false without memory; a module that is no HLO is counted as broken. */
static bool read_module(struct tfp_hlo_modules *all, uint64_t program_id, struct tfp_str bytes)
{
	struct tfp_arena unpacked;
	size_t ceiling;
	if (__builtin_mul_overflow(bytes.size, UNPACK_FACTOR, &ceiling))
		ceiling = SIZE_MAX / 2;
	tfp_arena_init(&unpacked, ceiling + UNPACK_SLACK);
	ProtobufCAllocator allocator = {arena_alloc, arena_free, &unpacked};
	Tfp__Hlo__Proto *proto =
		tfp__hlo__proto__unpack(&allocator, bytes.size, (const uint8_t *)bytes.data);
	if (!proto || !proto->hlo_module) {
		all->broken++;
		tfp_arena_release(&unpacked);
		return true;
	}
	const Tfp__Hlo__Module *in = proto->hlo_module;
	size_t count = 0, n = 0;
	for (size_t c = 0; c < in->n_computations; c++)
		count += in->computations[c]->n_instructions;
	struct tfp_hlo_module *module = &all->modules[all->module_count];
	struct tfp_hlo_instruction *list = tfp_arena_zalloc(&all->arena, count, sizeof(*list));
	bool ok = list && count < TFP_STR_MAP_NONE;
	*module = (struct tfp_hlo_module){.program_id = program_id,
					  .name = copy(&all->arena, in->name),
					  .instructions = list,
					  .instruction_count = count};
	/* From here on the map has an owner. */
	all->module_count++;
	ok = ok && module->name.data;
	for (size_t c = 0; ok && c < in->n_computations; c++) {
		for (size_t i = 0; ok && i < in->computations[c]->n_instructions; i++) {
			ok = read_instruction(all, &list[n],
					      in->computations[c]->instructions[i]) &&
			     tfp_str_map_add(&module->by_name, list[n].name.data, list[n].name.size,
					     (uint32_t)n) != TFP_STR_MAP_NONE;
			n++;
		}
	}
	tfp_arena_release(&unpacked);
	return ok;
}

/* `name(1234)`: the number; files of some writers have other ids (FixHloMetadataInXSpace). */
static bool id_in_name(struct tfp_str name, uint64_t *id)
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
	*id = value;
	return digits > 0 && i > 0 && name.data[i - 1] == '(';
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
		id_in_name(meta->name, &program_id);
		while (tfp_stat_next(&it, &stat)) {
			int name = tfp_schema_of(&schema, &stat);
			if (name == STAT_PROGRAM_ID && tfp_stat_int(&stat, &number))
				program_id = (uint64_t)number;
			else if ((name == STAT_HLO_PROTO || name == STAT_HLO_PROTO_OLD) &&
				 stat.kind == TFP_STAT_BYTES)
				proto = stat.text;
		}
		if (proto.data && !is_known(all, program_id) &&
		    !read_module(all, program_id, proto))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for HLO modules");
	}
	tfp_schema_release(&schema);
	return status;
}

static void free_modules(void *fact)
{
	struct tfp_hlo_modules *all = fact;
	for (size_t i = 0; i < all->module_count; i++)
		tfp_str_map_release(&all->modules[i].by_name);
	tfp_arena_release(&all->arena);
	tfp_free(all->modules);
	tfp_free(all);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	(void)pool;
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
	if (status != TFP_OK) {
		free_modules(all);
		return status;
	}
	qsort(all->modules, all->module_count, sizeof(*all->modules), by_program_id);
	*heap_bytes = all->arena.bytes + most * sizeof(*all->modules);
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

const struct tfp_hlo_instruction *tfp_hlo_find(const struct tfp_hlo_modules *modules,
					       uint64_t program_id, struct tfp_str name)
{
	size_t low = 0, high = modules->module_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (modules->modules[middle].program_id < program_id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == modules->module_count || modules->modules[low].program_id != program_id)
		return NULL;
	const struct tfp_hlo_module *module = &modules->modules[low];
	uint32_t i = tfp_str_map_find(&module->by_name, name.data, name.size);
	return i == TFP_STR_MAP_NONE ? NULL : &module->instructions[i];
}
