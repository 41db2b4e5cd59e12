/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/op_texts.h"

#include "analysis/events/schema.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdlib.h>
#include <string.h>

static const struct tfp_str nothing = {"", 0};

void tfp_op_texts_init(struct tfp_op_texts *texts)
{
	*texts = (struct tfp_op_texts){0};
	tfp_arena_init(&texts->arena, SIZE_MAX);
}

void tfp_op_texts_release(struct tfp_op_texts *texts)
{
	tfp_free(texts->list);
	tfp_free(texts->programs);
	tfp_str_map_release(&texts->by_key);
	tfp_arena_release(&texts->arena);
	*texts = (struct tfp_op_texts){0};
}

uint64_t tfp_op_texts_heap_bytes(const struct tfp_op_texts *texts)
{
	return texts->arena.bytes + texts->room * sizeof(*texts->list) +
	       texts->program_room * sizeof(*texts->programs);
}

/* data is NULL without memory. */
static struct tfp_str keep(struct tfp_op_texts *texts, struct tfp_str s)
{
	if (s.size == 0)
		return nothing;
	return (struct tfp_str){tfp_arena_strndup(&texts->arena, s.data, s.size), s.size};
}

/* The key of an op: its program's id and its name. In small when it fits, else of the heap;
 * NULL without memory. */
static char *make_key(uint64_t module_id, struct tfp_str name, char *small, size_t room)
{
	size_t size = sizeof(module_id) + name.size;
	char *key = size > room ? tfp_malloc(size) : small;
	if (!key)
		return NULL;
	memcpy(key, &module_id, sizeof(module_id));
	if (name.size)
		memcpy(key + sizeof(module_id), name.data, name.size);
	return key;
}

struct tfp_op_text *tfp_op_texts_enter(struct tfp_op_texts *texts, uint64_t module_id,
				       struct tfp_str name)
{
	char small[256], *key = make_key(module_id, name, small, sizeof(small)), *kept;
	size_t size = sizeof(module_id) + name.size;
	struct tfp_op_text *text = NULL;
	if (!key)
		return NULL;
	uint32_t found = tfp_str_map_find(&texts->by_key, key, size);
	if (found != TFP_STR_MAP_NONE) {
		text = &texts->list[found];
	} else if (TFP_GROW(texts->list, texts->count, texts->room) &&
		   (kept = tfp_arena_strndup(&texts->arena, key, size)) &&
		   tfp_str_map_add(&texts->by_key, kept, size, (uint32_t)texts->count) !=
			   TFP_STR_MAP_NONE) {
		text = &texts->list[texts->count++];
		*text = (struct tfp_op_text){
			.module_id = module_id,
			.name = {kept + sizeof(module_id), name.size},
			.deduplicated_name = nothing,
			.expression = nothing,
			.source_file = nothing,
			.source_stack = nothing,
		};
	}
	if (key != small)
		tfp_free(key);
	return text;
}

const struct tfp_op_text *tfp_op_texts_find(const struct tfp_op_texts *texts, uint64_t module_id,
					    struct tfp_str name)
{
	char small[256], *key = make_key(module_id, name, small, sizeof(small));
	uint32_t found = TFP_STR_MAP_NONE;
	if (key)
		found = tfp_str_map_find(&texts->by_key, key, sizeof(module_id) + name.size);
	if (key != small)
		tfp_free(key);
	return found == TFP_STR_MAP_NONE ? NULL : &texts->list[found];
}

/* ---- programs ---- */

/* The place of an id, or where it belongs. */
static size_t program_place(const struct tfp_op_texts *texts, uint64_t id)
{
	size_t low = 0, high = texts->program_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (texts->programs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct tfp_program *tfp_op_texts_program(struct tfp_op_texts *texts, uint64_t id,
					 struct tfp_str name)
{
	size_t at = program_place(texts, id);
	if (at < texts->program_count && texts->programs[at].id == id)
		return &texts->programs[at];
	struct tfp_str kept = keep(texts, name);
	if (!kept.data || !TFP_GROW(texts->programs, texts->program_count, texts->program_room))
		return NULL;
	memmove(&texts->programs[at + 1], &texts->programs[at],
		(texts->program_count - at) * sizeof(*texts->programs));
	texts->program_count++;
	texts->programs[at] = (struct tfp_program){.id = id, .name = kept};
	return &texts->programs[at];
}

const struct tfp_program *tfp_op_texts_find_program(const struct tfp_op_texts *texts, uint64_t id)
{
	size_t at = program_place(texts, id);
	return at < texts->program_count && texts->programs[at].id == id ? &texts->programs[at]
									 : NULL;
}

/* ---- merging ---- */

static bool fill(struct tfp_op_texts *texts, struct tfp_str *to, struct tfp_str from)
{
	if (to->size == 0)
		*to = keep(texts, from);
	return to->data != NULL;
}

static bool copy_parts(struct tfp_op_texts *texts, const struct tfp_op_text *from,
		       const struct tfp_op_part **out)
{
	struct tfp_op_part *parts =
		tfp_arena_zalloc(&texts->arena, from->part_count, sizeof(*parts));
	bool ok = parts != NULL;
	for (uint32_t i = 0; ok && i < from->part_count; i++) {
		const struct tfp_op_part *src = &from->parts[i];
		parts[i] = (struct tfp_op_part){
			src->depth, keep(texts, src->name), keep(texts, src->category),
			keep(texts, src->provenance), keep(texts, src->expression)};
		ok = parts[i].name.data && parts[i].category.data && parts[i].provenance.data &&
		     parts[i].expression.data;
	}
	*out = parts;
	return ok;
}

bool tfp_op_texts_merge(struct tfp_op_texts *to, const struct tfp_op_texts *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct tfp_op_text *src = &from->list[i];
		struct tfp_op_text *text = tfp_op_texts_enter(to, src->module_id, src->name);
		if (!text)
			return false;
		bool has_source = text->source_file.size || text->source_stack.size;
		if (!fill(to, &text->deduplicated_name, src->deduplicated_name) ||
		    !fill(to, &text->expression, src->expression))
			return false;
		if (!has_source) {
			text->source_line = src->source_line;
			if (!fill(to, &text->source_file, src->source_file) ||
			    !fill(to, &text->source_stack, src->source_stack))
				return false;
		}
		if (text->part_count == 0 && src->part_count) {
			if (!copy_parts(to, src, &text->parts))
				return false;
			text->part_count = src->part_count;
		}
	}
	for (size_t i = 0; i < from->program_count; i++) {
		const struct tfp_program *src = &from->programs[i];
		struct tfp_program *program = tfp_op_texts_program(to, src->id, src->name);
		if (!program)
			return false;
		program->instructions = src->instructions;
		program->hosts += src->hosts;
	}
	return true;
}

/* ---- of a capture ---- */

struct maker {
	struct tfp_op_texts *texts;
	const struct tfp_hlo_modules *modules;
	struct tfp_hlo_frames *frames; /* by module, made when first needed */
	struct tfp_buf buf;
	struct tfp_op_part *parts; /* of the op at hand */
	size_t part_count, part_room;
	struct tfp_error *err;
};

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the texts of instructions");
}

static bool write_expression(struct maker *m, const struct tfp_hlo_program *program,
			     uint32_t instruction, struct tfp_str *out)
{
	tfp_buf_clear(&m->buf);
	tfp_hlo_write_op(program, instruction, TFP_HLO_TEXT_OPERAND_SHAPES, TFP_EXPRESSION_MAX,
			 &m->buf);
	if (tfp_buf_failed(&m->buf))
		return false;
	*out = keep(m->texts, (struct tfp_str){m->buf.data, m->buf.size});
	return out->data != NULL;
}

static enum tfp_status add_source(struct maker *m, size_t module, uint32_t instruction,
				  struct tfp_op_text *text)
{
	const struct tfp_hlo_program *program = &m->modules->modules[module].program;
	struct tfp_hlo_source source;
	if (!m->frames[module].list) {
		enum tfp_status status = tfp_hlo_frames_init(&m->frames[module], program, m->err);
		if (status != TFP_OK)
			return status;
	}
	if (!tfp_hlo_source_of(&m->frames[module], &program->instructions[instruction],
			       &m->texts->arena, &source))
		return no_memory(m->err);
	text->source_line = source.line;
	text->source_stack = source.stack; /* the arena's already */
	text->source_file = keep(m->texts, source.file);
	return text->source_file.data ? TFP_OK : no_memory(m->err);
}

/* XProf writes a colon even where there is neither name nor type. */
static struct tfp_str provenance_of(const struct tfp_hlo_instruction *instruction)
{
	return instruction->op_fullname.size ? instruction->op_fullname : (struct tfp_str){":", 1};
}

/* Fusions lie in one another: each computation comes before its caller, so this ends; how deep
 * is bounded beside. */
static bool add_parts(struct maker *m, size_t at, uint32_t instruction, uint32_t depth)
{
	const struct tfp_hlo_module *module = &m->modules->modules[at];
	const struct tfp_hlo_program *program = &module->program;
	const struct tfp_hlo_op *op = &program->instructions[instruction];
	if (op->opcode != TFP_HLO_FUSION || op->called_count == 0 || depth > TFP_OP_PART_DEPTH_MAX)
		return true;
	const struct tfp_hlo_computation *c =
		&program->computations[tfp_hlo_called(program, instruction, 0)];
	for (uint32_t i = c->first; i < c->first + c->count && tfp_goes_on(i); i++) {
		/* Computations that several fusions share, which XLA does not make, could double
		 * with each level. */
		if (m->part_count >= program->instruction_count)
			break;
		uint8_t opcode = program->instructions[i].opcode;
		if (opcode == TFP_HLO_PARAMETER || opcode == TFP_HLO_TUPLE)
			continue;
		if (!TFP_GROW(m->parts, m->part_count, m->part_room))
			return false;
		struct tfp_op_part part = {
			.depth = depth,
			.name = module->instructions[i].name,
			.category = module->instructions[i].category,
			.provenance = provenance_of(&module->instructions[i]),
		};
		if (!write_expression(m, program, i, &part.expression))
			return false;
		m->parts[m->part_count++] = part;
		if (!add_parts(m, at, i, depth + 1))
			return false;
	}
	return true;
}

/* The module of that id, or SIZE_MAX. */
static size_t find_module(const struct tfp_hlo_modules *modules, uint64_t id)
{
	size_t low = 0, high = modules->module_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (modules->modules[middle].program_id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < modules->module_count && modules->modules[low].program_id == id ? low
										     : SIZE_MAX;
}

/* What the HLO module says of an op. On TPUs the profiler says it itself, but for parts. */
static enum tfp_status add_from_module(struct maker *m, const struct tfp_op *op, bool is_tpu)
{
	size_t at = find_module(m->modules, op->module_id);
	if (at == SIZE_MAX)
		return TFP_OK;
	const struct tfp_hlo_module *module = &m->modules->modules[at];
	uint32_t i = tfp_str_map_find(&module->by_name, op->name.data, op->name.size);
	if (i == TFP_STR_MAP_NONE)
		return TFP_OK;
	struct tfp_op_text *text = tfp_op_texts_enter(m->texts, op->module_id, op->name);
	if (!text)
		return no_memory(m->err);
	if (!is_tpu) {
		text->deduplicated_name = keep(m->texts, module->instructions[i].deduplicated_name);
		if (!text->deduplicated_name.data ||
		    !write_expression(m, &module->program, i, &text->expression))
			return no_memory(m->err);
		return add_source(m, at, i, text);
	}
	m->part_count = 0;
	if (!add_parts(m, at, i, 1))
		return no_memory(m->err);
	struct tfp_op_part *parts =
		tfp_arena_zalloc(&m->texts->arena, m->part_count, sizeof(*parts));
	if (!parts)
		return no_memory(m->err);
	if (m->part_count)
		memcpy(parts, m->parts, m->part_count * sizeof(*parts));
	text->parts = parts; /* names are the capture's */
	text->part_count = (uint32_t)m->part_count;
	return TFP_OK;
}

/* ---- TPU ---- */

enum { PROGRAM_ID, DEDUPLICATED, SOURCE, SOURCE_STACK, WANTED };

static const char *const names[WANTED] = {
	[PROGRAM_ID] = "program_id",
	[DEDUPLICATED] = "deduplicated_name",
	[SOURCE] = "source",
	[SOURCE_STACK] = "source_stack",
};

/* "file:line"; what has another form is nothing, as at XProf. */
static bool read_source(struct tfp_str source, struct tfp_str *file, int32_t *line)
{
	const char *colon = source.size ? memchr(source.data, ':', source.size) : NULL;
	char digits[12];
	size_t rest = colon ? source.size - (size_t)(colon - source.data) - 1 : 0;
	if (rest == 0 || rest >= sizeof(digits))
		return false;
	memcpy(digits, colon + 1, rest);
	digits[rest] = '\0';
	char *end;
	long value = strtol(digits, &end, 10);
	if (*end || value > INT32_MAX || value < INT32_MIN)
		return false;
	*file = (struct tfp_str){source.data, (size_t)(colon - source.data)};
	*line = (int32_t)value;
	return true;
}

/* What the metadata of a TPU's events say of an op that ran; those of the first plane count. */
static enum tfp_status add_from_meta(struct maker *m, const struct tfp_plane *plane,
				     const struct tfp_schema *schema,
				     const struct tfp_event_meta *meta)
{
	struct tfp_str deduplicated = nothing, source = nothing, stack = nothing;
	struct tfp_stat_iter it = tfp_event_meta_stats(meta);
	struct tfp_stat stat;
	bool has_program = false;
	int64_t program = 0;
	while (tfp_stat_next(&it, &stat)) {
		switch (tfp_schema_of(schema, &stat)) {
		case PROGRAM_ID:
			has_program = tfp_stat_int(&stat, &program);
			break;
		case DEDUPLICATED:
			tfp_stat_text(plane, &stat, &deduplicated);
			break;
		case SOURCE:
			tfp_stat_text(plane, &stat, &source);
			break;
		case SOURCE_STACK:
			tfp_stat_text(plane, &stat, &stack);
			break;
		default:
			break;
		}
	}
	if (!has_program)
		return TFP_OK;
	struct tfp_str name = meta->display_name.size ? meta->display_name : meta->name;
	char small[256], *key = make_key((uint64_t)program, name, small, sizeof(small));
	if (!key)
		return no_memory(m->err);
	uint32_t found = tfp_str_map_find(&m->texts->by_key, key, sizeof(uint64_t) + name.size);
	if (key != small)
		tfp_free(key);
	if (found == TFP_STR_MAP_NONE)
		return TFP_OK;
	struct tfp_op_text *text = &m->texts->list[found];
	if (meta->display_name.size && !fill(m->texts, &text->expression, meta->name))
		return no_memory(m->err);
	if (!fill(m->texts, &text->deduplicated_name, deduplicated))
		return no_memory(m->err);
	if (text->source_file.size == 0 && read_source(source, &source, &text->source_line) &&
	    !fill(m->texts, &text->source_file, source))
		return no_memory(m->err);
	return fill(m->texts, &text->source_stack, stack) ? TFP_OK : no_memory(m->err);
}

static enum tfp_status add_from_plane(struct maker *m, const struct tfp_plane *plane)
{
	struct tfp_schema schema;
	enum tfp_status status = tfp_schema_init(&schema, plane, names, WANTED, m->err);
	for (size_t i = 1; status == TFP_OK && i < plane->event_meta_count; i++)
		status = add_from_meta(m, plane, &schema, &plane->event_metas[i]);
	tfp_schema_release(&schema);
	return status;
}

/* ---- */

static enum tfp_status add_ops(struct maker *m, const struct tfp_capture *capture,
			       const struct tfp_op_db *ops)
{
	enum tfp_status status = TFP_OK;
	bool is_tpu = false;
	for (size_t p = 0; p < capture->plane_count; p++)
		is_tpu |= tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU;
	for (size_t i = 0; status == TFP_OK && i < ops->count && tfp_goes_on(i); i++) {
		const struct tfp_op *op = &ops->ops[i];
		if (tfp_op_origin(op) != TFP_ORIGIN_INSTRUCTION)
			continue;
		if (is_tpu && !tfp_op_texts_enter(m->texts, op->module_id, op->name))
			return no_memory(m->err);
		status = add_from_module(m, op, is_tpu);
	}
	for (size_t p = 0; is_tpu && status == TFP_OK && p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU)
			status = add_from_plane(m, &capture->planes[p]);
	}
	return status;
}

enum tfp_status tfp_op_texts_make(struct tfp_op_texts *texts, const struct tfp_capture *capture,
				  const struct tfp_hlo_modules *modules,
				  const struct tfp_op_db *ops, struct tfp_error *err)
{
	struct maker m = {.texts = texts, .modules = modules, .err = err};
	tfp_buf_init(&m.buf, SIZE_MAX / 2);
	m.frames = tfp_calloc(modules->module_count + 1, sizeof(*m.frames));
	enum tfp_status status = m.frames ? TFP_OK : no_memory(err);
	for (size_t i = 0; status == TFP_OK && i < modules->module_count; i++) {
		const struct tfp_hlo_module *module = &modules->modules[i];
		struct tfp_program *program =
			tfp_op_texts_program(texts, module->program_id, module->name);
		if (!program) {
			status = no_memory(err);
			break;
		}
		program->instructions = module->instruction_count;
		program->hosts = 1;
	}
	if (status == TFP_OK)
		status = add_ops(&m, capture, ops);
	for (size_t i = 0; m.frames && i < modules->module_count; i++)
		tfp_hlo_frames_release(&m.frames[i]);
	tfp_free(m.frames);
	tfp_free(m.parts);
	tfp_buf_release(&m.buf);
	return status;
}
