/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/hlo_writer.h"

#include "wire/pb_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MODULE_CEILING ((size_t)1 << 30)

/* Field numbers of hlo.proto and xla_data.proto. */
enum { PROTO_MODULE = 1 };
enum {
	MODULE_NAME = 1,
	MODULE_ENTRY_NAME = 2,
	MODULE_COMPUTATIONS = 3,
	MODULE_ID = 5,
	MODULE_ENTRY_ID = 6,
	MODULE_SCHEDULE = 7,
	MODULE_FRAMES = 17,
};
enum {
	COMPUTATION_NAME = 1,
	COMPUTATION_INSTRUCTIONS = 2,
	COMPUTATION_ID = 5,
	COMPUTATION_ROOT = 6,
	COMPUTATION_IS_FUSION = 7,
};
enum {
	OP_NAME = 1,
	OP_OPCODE = 2,
	OP_SHAPE = 3,
	OP_METADATA = 7,
	OP_LITERAL = 8,
	OP_PARAMETER = 9,
	OP_FUSION_KIND = 11,
	OP_TUPLE_INDEX = 13,
	OP_DIMENSIONS = 14,
	OP_SLICES = 17,
	OP_DYNAMIC_SLICE_SIZES = 20,
	OP_CHANNEL = 26,
	OP_TARGET = 28,
	OP_GATHER_DIMENSIONS = 33,
	OP_GATHER_SLICE_SIZES = 34,
	OP_ID = 35,
	OP_OPERANDS = 36,
	OP_CALLED = 38,
	OP_BACKEND_CONFIG = 43,
	OP_SCATTER_DIMENSIONS = 48,
	OP_REPLICA_GROUPS = 49,
	OP_DIRECTION = 63,
};
enum { SHAPE_TYPE = 2, SHAPE_DIMENSIONS = 3, SHAPE_PARTS = 4, SHAPE_LAYOUT = 5 };
enum { META_TYPE = 1, META_NAME = 2, META_FILE = 3, META_LINE = 4, META_FRAME = 15 };

void tfp_synth_hlo_writer_init(struct tfp_synth_hlo_writer *w, const char *name,
			       const struct tfp_synth_hlo_source *sources, unsigned source_count)
{
	*w = (struct tfp_synth_hlo_writer){
		.name = name, .sources = sources, .source_count = source_count, .next_id = 1};
	tfp_arena_init(&w->arena, (size_t)1 << 28);
	tfp_buf_init(&w->computations, MODULE_CEILING);
	tfp_buf_init(&w->schedule, MODULE_CEILING);
}

void tfp_synth_hlo_writer_release(struct tfp_synth_hlo_writer *w)
{
	tfp_arena_release(&w->arena);
	tfp_buf_release(&w->computations);
	tfp_buf_release(&w->schedule);
	for (unsigned i = 0; i < HLO_OPEN_MAX; i++) {
		tfp_buf_release(&w->open[i].body);
		tfp_buf_release(&w->open[i].sequence);
	}
}

const char *tfp_synth_hlo_text(struct tfp_synth_hlo_writer *w, const char *format, ...)
{
	const char *copy;
	va_list args;

	va_start(args, format);
	copy = tfp_arena_vprintf(&w->arena, format, args);
	va_end(args);
	if (!copy)
		w->failed = true;
	return copy ? copy : "";
}

const char *tfp_synth_hlo_name(struct tfp_synth_hlo_writer *w, const char *word)
{
	unsigned i = 0;

	while (i < w->word_count && strcmp(w->words[i].word, word) != 0)
		i++;
	if (i == sizeof(w->words) / sizeof(w->words[0])) {
		w->failed = true;
		return word;
	}
	if (i == w->word_count)
		w->words[w->word_count++] = (struct tfp_synth_hlo_word){word, 0};
	return w->words[i].count++ == 0
		       ? word
		       : tfp_synth_hlo_text(w, "%s.%u", word, w->words[i].count - 1);
}

/* ---- shapes ---- */

struct tfp_synth_hlo_shape tfp_synth_hlo_array(enum tfp_synth_hlo_type type, unsigned rank, ...)
{
	struct tfp_synth_hlo_shape shape = {.type = type, .rank = rank};
	va_list args;

	va_start(args, rank);
	for (unsigned i = 0; i < rank; i++)
		shape.dims[i] = va_arg(args, int64_t);
	va_end(args);
	return shape;
}

struct tfp_synth_hlo_shape tfp_synth_hlo_tuple_of(struct tfp_synth_hlo_writer *w,
						  const struct tfp_synth_hlo_shape *parts,
						  unsigned count)
{
	struct tfp_synth_hlo_shape *copy = tfp_arena_zalloc(&w->arena, count + 1, sizeof(*copy));

	if (!copy) {
		w->failed = true;
		count = 0;
	}
	if (count > 0)
		memcpy(copy, parts, count * sizeof(*copy));
	return (struct tfp_synth_hlo_shape){.type = HLO_TUPLE, .parts = copy, .part_count = count};
}

int64_t tfp_synth_hlo_elements(const struct tfp_synth_hlo_shape *shape)
{
	int64_t count = 1;

	for (unsigned i = 0; i < shape->rank; i++)
		count *= shape->dims[i];
	return count;
}

static int64_t size_of(enum tfp_synth_hlo_type type)
{
	return type == HLO_F32 || type == HLO_S32 ? 4 : type == HLO_BF16 ? 2 : 1;
}

int64_t tfp_synth_hlo_bytes(const struct tfp_synth_hlo_shape *shape)
{
	int64_t bytes = 0;

	if (shape->type != HLO_TUPLE)
		return tfp_synth_hlo_elements(shape) * size_of(shape->type);
	for (unsigned i = 0; i < shape->part_count; i++)
		bytes += tfp_synth_hlo_bytes(&shape->parts[i]);
	return bytes;
}

static void put_numbers(struct tfp_buf *b, uint32_t field, const int64_t *numbers, unsigned count)
{
	size_t mark;

	if (count == 0)
		return;
	mark = tfp_pb_begin(b, field);
	for (unsigned i = 0; i < count; i++)
		tfp_pb_put_varint(b, (uint64_t)numbers[i]);
	tfp_pb_end(b, mark);
}

static void put_array(struct tfp_buf *b, uint32_t field, const struct tfp_synth_hlo_shape *shape)
{
	size_t mark = tfp_pb_begin(b, field), layout;
	int64_t order[HLO_RANK_MAX];

	tfp_pb_put_uint(b, SHAPE_TYPE, shape->type);
	put_numbers(b, SHAPE_DIMENSIONS, shape->dims, shape->rank);
	for (unsigned i = 0; i < shape->rank; i++)
		order[i] = shape->rank - 1 - i;
	layout = tfp_pb_begin(b, SHAPE_LAYOUT);
	put_numbers(b, 1, order, shape->rank);
	tfp_pb_end(b, layout);
	tfp_pb_end(b, mark);
}

static void put_shape(struct tfp_buf *b, uint32_t field, const struct tfp_synth_hlo_shape *shape)
{
	size_t mark;

	if (shape->type != HLO_TUPLE) {
		put_array(b, field, shape);
		return;
	}
	mark = tfp_pb_begin(b, field);
	tfp_pb_put_uint(b, SHAPE_TYPE, HLO_TUPLE);
	for (unsigned i = 0; i < shape->part_count; i++)
		put_array(b, SHAPE_PARTS, &shape->parts[i]);
	tfp_pb_end(b, mark);
}

/* ---- computations ---- */

struct tfp_synth_hlo_computation *tfp_synth_hlo_open(struct tfp_synth_hlo_writer *w,
						     const char *name, bool fusion)
{
	unsigned i = 0;

	while (i < HLO_OPEN_MAX - 1 && w->open[i].open)
		i++;
	w->failed |= w->open[i].open;
	tfp_buf_release(&w->open[i].body);
	tfp_buf_release(&w->open[i].sequence);
	w->open[i] = (struct tfp_synth_hlo_computation){
		.name = name, .id = w->next_id++, .open = true, .fusion = fusion};
	tfp_buf_init(&w->open[i].body, MODULE_CEILING);
	tfp_buf_init(&w->open[i].sequence, MODULE_CEILING);
	return &w->open[i];
}

int64_t tfp_synth_hlo_close(struct tfp_synth_hlo_writer *w, struct tfp_synth_hlo_computation *c,
			    struct tfp_synth_hlo_value root)
{
	size_t mark = tfp_pb_begin(&w->computations, MODULE_COMPUTATIONS), entry, value;

	tfp_pb_put_text(&w->computations, COMPUTATION_NAME, c->name);
	tfp_buf_add(&w->computations, c->body.data, c->body.size);
	tfp_pb_put_uint(&w->computations, COMPUTATION_ID, (uint64_t)c->id);
	tfp_pb_put_uint(&w->computations, COMPUTATION_ROOT, (uint64_t)root.id);
	if (c->fusion)
		tfp_pb_put_uint(&w->computations, COMPUTATION_IS_FUSION, 1);
	tfp_pb_end(&w->computations, mark);
	if (!c->fusion) {
		/* A map from computations to sequences of instructions. */
		entry = tfp_pb_begin(&w->schedule, 1);
		tfp_pb_put_uint(&w->schedule, 1, (uint64_t)c->id);
		value = tfp_pb_begin(&w->schedule, 2);
		tfp_pb_put_bytes(&w->schedule, 1, c->sequence.data, c->sequence.size);
		tfp_pb_end(&w->schedule, value);
		tfp_pb_end(&w->schedule, entry);
	}
	w->failed |= tfp_buf_failed(&c->body) || tfp_buf_failed(&c->sequence);
	w->entry_id = c->id;
	w->entry_name = c->name;
	c->open = false;
	return c->id;
}

static void put_metadata(struct tfp_buf *b, const struct tfp_synth_hlo_meta *meta)
{
	size_t mark = tfp_pb_begin(b, OP_METADATA);

	if (meta->op_type)
		tfp_pb_put_text(b, META_TYPE, meta->op_type);
	if (meta->op_name)
		tfp_pb_put_text(b, META_NAME, meta->op_name);
	if (meta->source) {
		tfp_pb_put_text(b, META_FILE, meta->source->file);
		tfp_pb_put_uint(b, META_LINE, (uint64_t)meta->source->line);
		tfp_pb_put_uint(b, META_FRAME, (uint64_t)meta->source->frame);
	}
	tfp_pb_end(b, mark);
}

static void put_groups(struct tfp_buf *b, unsigned replicas)
{
	size_t mark = tfp_pb_begin(b, OP_REPLICA_GROUPS), ids = tfp_pb_begin(b, 1);

	for (unsigned i = 0; i < replicas; i++)
		tfp_pb_put_varint(b, i);
	tfp_pb_end(b, ids);
	tfp_pb_end(b, mark);
}

/* A row of a table for each number: table[V,D], numbers[T], rows[T,D]. */
static void put_row_dimensions(struct tfp_buf *b, uint32_t field)
{
	static const int64_t one[] = {1}, zero[] = {0};
	size_t mark = tfp_pb_begin(b, field);

	/* Of both messages: window, collapsed or inserted, mapped, and the vector's dimension. */
	put_numbers(b, 1, one, 1);
	put_numbers(b, 2, zero, 1);
	put_numbers(b, 3, zero, 1);
	tfp_pb_put_uint(b, 4, 1);
	tfp_pb_end(b, mark);
}

static void put_extra(struct tfp_buf *b, const struct tfp_synth_hlo_extra *e)
{
	if (e->fusion_kind)
		tfp_pb_put_text(b, OP_FUSION_KIND, e->fusion_kind);
	if (e->has_tuple_index && e->tuple_index > 0)
		tfp_pb_put_uint(b, OP_TUPLE_INDEX, e->tuple_index);
	put_numbers(b, OP_DIMENSIONS, e->dimensions, e->dimension_count);
	for (unsigned i = 0; e->slice_begin && i < e->slice_size_count; i++) {
		size_t mark = tfp_pb_begin(b, OP_SLICES);

		tfp_pb_put_uint(b, 1, (uint64_t)e->slice_begin[i]);
		tfp_pb_put_uint(b, 2, (uint64_t)e->slice_end[i]);
		tfp_pb_put_uint(b, 3, 1);
		tfp_pb_end(b, mark);
	}
	if (!e->slice_begin && !e->embedding_gather)
		put_numbers(b, OP_DYNAMIC_SLICE_SIZES, e->slice_sizes, e->slice_size_count);
	if (e->channel)
		tfp_pb_put_uint(b, OP_CHANNEL, (uint64_t)e->channel);
	if (e->target)
		tfp_pb_put_text(b, OP_TARGET, e->target);
	if (e->embedding_gather) {
		put_row_dimensions(b, OP_GATHER_DIMENSIONS);
		put_numbers(b, OP_GATHER_SLICE_SIZES, e->slice_sizes, e->slice_size_count);
	}
	put_numbers(b, OP_CALLED, e->called, e->called_count);
	if (e->backend_config)
		tfp_pb_put_text(b, OP_BACKEND_CONFIG, e->backend_config);
	if (e->embedding_scatter)
		put_row_dimensions(b, OP_SCATTER_DIMENSIONS);
	if (e->replicas)
		put_groups(b, e->replicas);
	if (e->direction)
		tfp_pb_put_text(b, OP_DIRECTION, e->direction);
}

static struct tfp_synth_hlo_value begin_op(struct tfp_synth_hlo_writer *w,
					   struct tfp_synth_hlo_computation *c, const char *opcode,
					   const char *name, struct tfp_synth_hlo_shape shape,
					   size_t *mark)
{
	struct tfp_synth_hlo_value value = {.id = w->next_id++, .shape = shape, .name = name};

	*mark = tfp_pb_begin(&c->body, COMPUTATION_INSTRUCTIONS);
	tfp_pb_put_text(&c->body, OP_NAME, name);
	tfp_pb_put_text(&c->body, OP_OPCODE, opcode);
	put_shape(&c->body, OP_SHAPE, &shape);
	tfp_pb_put_uint(&c->body, OP_ID, (uint64_t)value.id);
	tfp_pb_put_varint(&c->sequence, (uint64_t)value.id);
	return value;
}

struct tfp_synth_hlo_value
tfp_synth_hlo_add(struct tfp_synth_hlo_writer *w, struct tfp_synth_hlo_computation *c,
		  const char *opcode, const char *name, struct tfp_synth_hlo_shape shape,
		  const struct tfp_synth_hlo_value *operands, unsigned operand_count,
		  const struct tfp_synth_hlo_extra *extra, const struct tfp_synth_hlo_meta *meta)
{
	size_t mark, ids;
	struct tfp_synth_hlo_value value = begin_op(w, c, opcode, name, shape, &mark);

	if (operand_count > 0) {
		ids = tfp_pb_begin(&c->body, OP_OPERANDS);
		for (unsigned i = 0; i < operand_count; i++)
			tfp_pb_put_varint(&c->body, (uint64_t)operands[i].id);
		tfp_pb_end(&c->body, ids);
	}
	if (extra)
		put_extra(&c->body, extra);
	if (meta)
		put_metadata(&c->body, meta);
	tfp_pb_end(&c->body, mark);
	return value;
}

struct tfp_synth_hlo_value tfp_synth_hlo_parameter(struct tfp_synth_hlo_writer *w,
						   struct tfp_synth_hlo_computation *c,
						   unsigned number, const char *name,
						   struct tfp_synth_hlo_shape shape)
{
	size_t mark;
	struct tfp_synth_hlo_value value = begin_op(w, c, "parameter", name, shape, &mark);

	if (number > 0)
		tfp_pb_put_uint(&c->body, OP_PARAMETER, number);
	tfp_pb_end(&c->body, mark);
	return value;
}

/* LiteralProto: s32s is field 4, f32s field 8, both packed; bf16s is field 13, as bytes. */
static void put_literal(struct tfp_buf *b, const struct tfp_synth_hlo_shape *shape, double value)
{
	size_t mark = tfp_pb_begin(b, OP_LITERAL), list;
	float single = (float)value;
	uint32_t bits;

	put_shape(b, 1, shape);
	memcpy(&bits, &single, sizeof(bits));
	if (shape->type == HLO_S32) {
		list = tfp_pb_begin(b, 4);
		tfp_pb_put_varint(b, (uint64_t)(int64_t)value);
		tfp_pb_end(b, list);
	} else if (shape->type == HLO_F32) {
		const uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8),
					  (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
		tfp_pb_put_bytes(b, 8, bytes, sizeof(bytes));
	} else if (shape->type == HLO_BF16) {
		const uint8_t bytes[2] = {(uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
		tfp_pb_put_bytes(b, 13, bytes, sizeof(bytes));
	}
	tfp_pb_end(b, mark);
}

struct tfp_synth_hlo_value tfp_synth_hlo_constant(struct tfp_synth_hlo_writer *w,
						  struct tfp_synth_hlo_computation *c,
						  enum tfp_synth_hlo_type type, double value)
{
	struct tfp_synth_hlo_shape shape = {.type = type};
	size_t mark;
	struct tfp_synth_hlo_value made =
		begin_op(w, c, "constant", tfp_synth_hlo_name(w, "constant"), shape, &mark);

	put_literal(&c->body, &shape, value);
	tfp_pb_end(&c->body, mark);
	return made;
}

struct tfp_synth_hlo_value tfp_synth_hlo_element(struct tfp_synth_hlo_writer *w,
						 struct tfp_synth_hlo_computation *c,
						 struct tfp_synth_hlo_value tuple, unsigned index)
{
	struct tfp_synth_hlo_extra extra = {.has_tuple_index = true, .tuple_index = index};

	/* Without memory for its parts a tuple has none. */
	if (index >= tuple.shape.part_count) {
		w->failed = true;
		return tuple;
	}
	return tfp_synth_hlo_add(w, c, "get-tuple-element",
				 tfp_synth_hlo_name(w, "get-tuple-element"),
				 tuple.shape.parts[index], &tuple, 1, &extra, NULL);
}

struct tfp_synth_hlo_value tfp_synth_hlo_tuple(struct tfp_synth_hlo_writer *w,
					       struct tfp_synth_hlo_computation *c,
					       const struct tfp_synth_hlo_value *values,
					       unsigned count)
{
	struct tfp_synth_hlo_shape parts[HLO_PARTS_MAX];

	if (count > HLO_PARTS_MAX) {
		w->failed = true;
		count = HLO_PARTS_MAX;
	}
	for (unsigned i = 0; i < count; i++)
		parts[i] = values[i].shape;
	return tfp_synth_hlo_add(w, c, "tuple", tfp_synth_hlo_name(w, "tuple"),
				 tfp_synth_hlo_tuple_of(w, parts, count), values, count, NULL,
				 NULL);
}

/* ---- the module ---- */

/* Every source's file and function, and a stack of itself below the first source: what called
 * all of them. */
static void put_frames(struct tfp_buf *b, const struct tfp_synth_hlo_source *sources,
		       unsigned count)
{
	size_t mark = tfp_pb_begin(b, MODULE_FRAMES), one;

	for (unsigned i = 0; i < count; i++)
		tfp_pb_put_text(b, 1, sources[i].file);
	for (unsigned i = 0; i < count; i++)
		tfp_pb_put_text(b, 2, sources[i].function);
	for (unsigned i = 0; i < count; i++) {
		one = tfp_pb_begin(b, 3);
		tfp_pb_put_uint(b, 1, i + 1);
		tfp_pb_put_uint(b, 2, i + 1);
		tfp_pb_put_uint(b, 3, (uint64_t)sources[i].line);
		tfp_pb_put_uint(b, 4, 5);
		tfp_pb_end(b, one);
	}
	for (unsigned i = 0; i < count; i++) {
		one = tfp_pb_begin(b, 4);
		tfp_pb_put_uint(b, 1, i + 1);
		if (i > 0)
			tfp_pb_put_uint(b, 2, 1);
		tfp_pb_end(b, one);
	}
	tfp_pb_end(b, mark);
}

bool tfp_synth_hlo_writer_finish(struct tfp_synth_hlo_writer *w, struct tfp_buf *proto)
{
	size_t module = tfp_pb_begin(proto, PROTO_MODULE);

	tfp_pb_put_text(proto, MODULE_NAME, w->name);
	tfp_pb_put_text(proto, MODULE_ENTRY_NAME, w->entry_name);
	tfp_buf_add(proto, w->computations.data, w->computations.size);
	tfp_pb_put_uint(proto, MODULE_ID, 1);
	tfp_pb_put_uint(proto, MODULE_ENTRY_ID, (uint64_t)w->entry_id);
	tfp_pb_put_bytes(proto, MODULE_SCHEDULE, w->schedule.data, w->schedule.size);
	put_frames(proto, w->sources, w->source_count);
	tfp_pb_end(proto, module);
	return !w->failed && !tfp_buf_failed(&w->computations) && !tfp_buf_failed(&w->schedule) &&
	       !tfp_buf_failed(proto);
}
