/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_shape.h"

#include "base/alloc.h"
#include "wire/pb_cursor.h"

#include <string.h>

/* Fields of ShapeProto and LayoutProto (xla_data.proto). */
enum { SHAPE_TYPE = 2, SHAPE_DIMENSIONS = 3, SHAPE_PARTS = 4, SHAPE_LAYOUT = 5 };
enum { LAYOUT_ORDER = 1, LAYOUT_ELEMENT_BITS = 7, LAYOUT_SPACE = 8 };

static const struct {
	const char *name;
	uint8_t bits;
} types[TFP_HLO_TYPE_COUNT] = {
	{"", 0},           {"pred", 8},  {"s8", 8},       {"s16", 16},          {"s32", 32},
	{"s64", 64},       {"u8", 8},    {"u16", 16},     {"u32", 32},          {"u64", 64},
	{"f16", 16},       {"f32", 32},  {"f64", 64},     {"tuple", 0},         {"opaque", 0},
	{"c64", 64},       {"bf16", 16}, {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
	{"f8e4m3fn", 8},   {"s4", 4},    {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
	{"f8e4m3fnuz", 8}, {"s2", 2},    {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
	{"s1", 1},         {"u1", 1},    {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"buffer", 0},
	{"", 0},
};

unsigned tfp_hlo_type_bits(uint8_t type)
{
	return type < TFP_HLO_TYPE_COUNT ? types[type].bits : 0;
}

const char *tfp_hlo_type_name(uint8_t type)
{
	return type < TFP_HLO_TYPE_COUNT ? types[type].name : "";
}

enum tfp_status tfp_hlo_shapes_init(struct tfp_hlo_shapes *shapes, struct tfp_error *err)
{
	*shapes = (struct tfp_hlo_shapes){0};
	if (!TFP_GROW(shapes->list, 0, shapes->room))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for shapes");
	shapes->list[0] = (struct tfp_hlo_shape){.has_layout = false};
	shapes->count = 1;
	return TFP_OK;
}

void tfp_hlo_shapes_release(struct tfp_hlo_shapes *shapes)
{
	tfp_str_map_release(&shapes->by_message);
	tfp_free(shapes->list);
	*shapes = (struct tfp_hlo_shapes){0};
}

/* false: there are too many. */
static bool add_numbers(struct tfp_pb_cursor *c, uint32_t tag, int64_t *list, size_t *count)
{
	struct tfp_pb_numbers n = {0};
	int64_t value;
	while (tfp_pb_next_int64(c, tag, &n, &value)) {
		if (*count == TFP_HLO_RANK_MAX)
			return false;
		list[(*count)++] = value;
	}
	return true;
}

struct head {
	uint64_t type;
	int64_t dimensions[TFP_HLO_RANK_MAX], order[TFP_HLO_RANK_MAX];
	size_t rank, order_count, part_count;
	int64_t element_bits, space;
	bool has_layout;
};

static bool read_layout(struct head *h, const uint8_t *data, size_t size)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(data, size);
	uint32_t tag;
	h->has_layout = true;
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(LAYOUT_ORDER, TFP_PB_VARINT):
		case TFP_PB_TAG(LAYOUT_ORDER, TFP_PB_BYTES):
			if (!add_numbers(&c, tag, h->order, &h->order_count))
				return false;
			break;
		case TFP_PB_TAG(LAYOUT_ELEMENT_BITS, TFP_PB_VARINT):
			tfp_pb_int64(&c, &h->element_bits);
			break;
		case TFP_PB_TAG(LAYOUT_SPACE, TFP_PB_VARINT):
			tfp_pb_int64(&c, &h->space);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

static bool read_head(struct head *h, struct tfp_str message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor((const uint8_t *)message.data, message.size);
	const uint8_t *data;
	size_t size;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(SHAPE_TYPE, TFP_PB_VARINT):
			tfp_pb_varint(&c, &h->type);
			break;
		case TFP_PB_TAG(SHAPE_DIMENSIONS, TFP_PB_VARINT):
		case TFP_PB_TAG(SHAPE_DIMENSIONS, TFP_PB_BYTES):
			if (!add_numbers(&c, tag, h->dimensions, &h->rank))
				return false;
			break;
		case TFP_PB_TAG(SHAPE_PARTS, TFP_PB_BYTES):
			if (tfp_pb_bytes(&c, &data, &size))
				h->part_count++;
			break;
		case TFP_PB_TAG(SHAPE_LAYOUT, TFP_PB_BYTES):
			if (tfp_pb_bytes(&c, &data, &size) && !read_layout(h, data, size))
				return false;
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

/* An array's elements and bytes; false when 64 bits do not hold them. */
static bool measure(struct tfp_hlo_shape *shape, const struct head *h)
{
	int64_t n = 1, bits = tfp_hlo_type_bits(shape->type), all;
	for (size_t i = 0; i < h->rank; i++) {
		if (h->dimensions[i] < 0 || __builtin_mul_overflow(n, h->dimensions[i], &n))
			return false;
	}
	if (bits == 0) {
		shape->elements = shape->type == TFP_HLO_TYPE_TOKEN ? 0 : n;
		return true;
	}
	shape->elements = n;
	if (bits < 8 && h->element_bits == 0)
		bits = 8; /* packed only where the layout says so */
	else if (bits < 8)
		bits = h->element_bits;
	if (bits < 0 || __builtin_mul_overflow(n, bits, &all) || all > INT64_MAX - 7)
		return false;
	shape->bytes = (all + 7) / 8;
	return true;
}

static enum tfp_status copy_lists(struct tfp_hlo_shape *shape, struct tfp_arena *arena,
				  const struct head *h, struct tfp_error *err)
{
	int64_t *dimensions = tfp_arena_zalloc(arena, h->rank + 1, sizeof(*dimensions));
	uint8_t *order = tfp_arena_zalloc(arena, h->rank + 1, sizeof(*order));
	if (!dimensions || !order)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for shapes");
	for (size_t i = 0; i < h->rank; i++) {
		dimensions[i] = h->dimensions[i];
		/* A layout that leaves dimensions out, or names ones that are not there: as dense.
		 */
		bool sound = h->order_count == h->rank && h->order[i] >= 0 &&
			     h->order[i] < (int64_t)h->rank;
		order[i] = (uint8_t)(sound ? h->order[i] : (int64_t)(h->rank - 1 - i));
	}
	shape->dimensions = dimensions;
	shape->minor_to_major = order;
	return TFP_OK;
}

static enum tfp_status fill(struct tfp_hlo_shapes *shapes, struct tfp_arena *arena,
			    struct tfp_str message, uint32_t at, unsigned depth,
			    struct tfp_error *err);

/* The parts of the tuple at `at`, beside one another at the end of the list. */
static enum tfp_status fill_parts(struct tfp_hlo_shapes *shapes, struct tfp_arena *arena,
				  struct tfp_str message, uint32_t at, size_t parts, unsigned depth,
				  struct tfp_error *err)
{
	struct tfp_pb_cursor c = tfp_pb_cursor((const uint8_t *)message.data, message.size);
	uint32_t first = (uint32_t)shapes->count, done = 0, tag;
	const uint8_t *data;
	size_t size;
	bool has_layout = true;
	int64_t elements = 0, leaf_bytes = 0, main_bytes = 0;
	if (depth == TFP_HLO_TUPLE_DEPTH_MAX)
		return tfp_fail(err, TFP_BAD_INPUT, "tuples lie more than %d deep in one another",
				TFP_HLO_TUPLE_DEPTH_MAX);
	for (size_t i = 0; i < parts; i++) {
		if (shapes->count >= UINT32_MAX - 1 ||
		    !TFP_GROW(shapes->list, shapes->count, shapes->room))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for shapes");
		shapes->list[shapes->count++] = (struct tfp_hlo_shape){.has_layout = false};
	}
	while (tfp_pb_next(&c, &tag)) {
		if (tag != TFP_PB_TAG(SHAPE_PARTS, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_pb_bytes(&c, &data, &size))
			break;
		enum tfp_status status =
			fill(shapes, arena, (struct tfp_str){(const char *)data, size},
			     first + done, depth + 1, err);
		if (status != TFP_OK)
			return status;
		const struct tfp_hlo_shape *part = &shapes->list[first + done++];
		has_layout &= part->has_layout || tfp_hlo_type_bits(part->type) == 0;
		if (__builtin_add_overflow(elements, part->elements, &elements) ||
		    __builtin_add_overflow(leaf_bytes, part->leaf_bytes, &leaf_bytes))
			return tfp_fail(err, TFP_BAD_INPUT, "a tuple is too large to count");
		main_bytes += part->main_bytes; /* at most leaf_bytes */
	}
	struct tfp_hlo_shape *shape = &shapes->list[at];
	shape->leaf_bytes = leaf_bytes;
	shape->main_bytes = main_bytes;
	shape->first_part = first;
	shape->part_count = (uint32_t)parts;
	shape->elements = elements;
	shape->has_layout = has_layout;
	shape->bytes = has_layout ? (int64_t)parts * 8 : 0;
	return TFP_OK;
}

/* Recursion goes as deep as tuples do, which is bounded. */
static enum tfp_status fill(struct tfp_hlo_shapes *shapes, struct tfp_arena *arena,
			    struct tfp_str message, uint32_t at, unsigned depth,
			    struct tfp_error *err)
{
	struct head h = {0};
	if (!read_head(&h, message))
		return tfp_fail(err, TFP_BAD_INPUT,
				"a shape is damaged, or has more than %d dimensions",
				TFP_HLO_RANK_MAX);
	struct tfp_hlo_shape *shape = &shapes->list[at];
	*shape = (struct tfp_hlo_shape){
		.type = h.type < TFP_HLO_TYPE_COUNT ? (uint8_t)h.type : 0,
		.has_layout = h.has_layout,
		.rank = (uint8_t)h.rank,
		.memory_space = (int32_t)h.space,
		.message = message,
	};
	if (shape->type == TFP_HLO_TYPE_TUPLE)
		return fill_parts(shapes, arena, message, at, h.part_count, depth, err);
	if (!measure(shape, &h))
		return tfp_fail(err, TFP_BAD_INPUT, "an array is too large to count");
	if (!shape->has_layout)
		shape->bytes = 0;
	shape->leaf_bytes = shape->bytes;
	shape->main_bytes = shape->memory_space == 0 ? shape->bytes : 0;
	return copy_lists(shape, arena, &h, err);
}

enum tfp_status tfp_hlo_shapes_add(struct tfp_hlo_shapes *shapes, struct tfp_arena *arena,
				   struct tfp_str message, uint32_t *index, struct tfp_error *err)
{
	uint32_t known = tfp_str_map_find(&shapes->by_message, message.data, message.size);
	if (known != TFP_STR_MAP_NONE) {
		*index = known;
		return TFP_OK;
	}
	if (shapes->count >= UINT32_MAX - 1 || !TFP_GROW(shapes->list, shapes->count, shapes->room))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for shapes");
	uint32_t at = (uint32_t)shapes->count++;
	enum tfp_status status = fill(shapes, arena, message, at, 0, err);
	if (status == TFP_OK && tfp_str_map_add(&shapes->by_message, message.data, message.size,
						at) == TFP_STR_MAP_NONE)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for shapes");
	*index = at;
	return status;
}
