/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes of HLO values (xla_data.proto: ShapeProto, LayoutProto): arrays, tuples of shapes,
 * tokens. Shapes with the same bytes are one entry, and shapes are named by their index.
 */
#ifndef TFP_ANALYSIS_HLO_HLO_SHAPE_H
#define TFP_ANALYSIS_HLO_HLO_SHAPE_H

#include "base/arena.h"
#include "base/str_map.h"
#include "store/capture.h"

#include <stdbool.h>

/* xla_data.proto: PrimitiveType. */
enum tfp_hlo_type {
	TFP_HLO_TYPE_PRED = 1,
	TFP_HLO_TYPE_S8 = 2,
	TFP_HLO_TYPE_S16 = 3,
	TFP_HLO_TYPE_S32 = 4,
	TFP_HLO_TYPE_S64 = 5,
	TFP_HLO_TYPE_U8 = 6,
	TFP_HLO_TYPE_U16 = 7,
	TFP_HLO_TYPE_U32 = 8,
	TFP_HLO_TYPE_U64 = 9,
	TFP_HLO_TYPE_F16 = 10,
	TFP_HLO_TYPE_F32 = 11,
	TFP_HLO_TYPE_F64 = 12,
	TFP_HLO_TYPE_TUPLE = 13,
	TFP_HLO_TYPE_OPAQUE = 14,
	TFP_HLO_TYPE_C64 = 15,
	TFP_HLO_TYPE_BF16 = 16,
	TFP_HLO_TYPE_TOKEN = 17,
	TFP_HLO_TYPE_C128 = 18,
	TFP_HLO_TYPE_F8E5M2 = 19,
	TFP_HLO_TYPE_F8E4M3FN = 20,
	TFP_HLO_TYPE_S4 = 21,
	TFP_HLO_TYPE_U4 = 22,
	TFP_HLO_TYPE_F8E4M3B11FNUZ = 23,
	TFP_HLO_TYPE_F8E5M2FNUZ = 24,
	TFP_HLO_TYPE_F8E4M3FNUZ = 25,
	TFP_HLO_TYPE_S2 = 26,
	TFP_HLO_TYPE_U2 = 27,
	TFP_HLO_TYPE_F8E4M3 = 28,
	TFP_HLO_TYPE_F8E3M4 = 29,
	TFP_HLO_TYPE_S1 = 30,
	TFP_HLO_TYPE_U1 = 31,
	TFP_HLO_TYPE_F4E2M1FN = 32,
	TFP_HLO_TYPE_F8E8M0FNU = 33,
	TFP_HLO_TYPE_COUNT = 36
};

/* Arrays have at most so many dimensions here; XLA's own code stops far below. */
#define TFP_HLO_RANK_MAX 64
/* Tuples lie at most so deep in one another. */
#define TFP_HLO_TUPLE_DEPTH_MAX 32

struct tfp_hlo_shape {
	uint8_t type; /* enum tfp_hlo_type; 0 for what nobody knows */
	bool has_layout;
	uint8_t rank;
	int32_t memory_space;            /* of the layout: 0 is the device's main memory */
	const int64_t *dimensions;       /* rank of them */
	const uint8_t *minor_to_major;   /* rank of them, where there is a layout */
	uint32_t first_part, part_count; /* of a tuple: its shapes lie beside one another */
	int64_t elements;                /* of an array; of a tuple all leaves' together */
	/* What XLA takes for the size in memory: an array's elements, dense, types below a byte
	 * packed; 8 for each part of a tuple; 0 of a token, and where there is no layout. */
	int64_t bytes;
	/* The same of all arrays in it, and of those in the device's main memory. */
	int64_t leaf_bytes, main_bytes;
	struct tfp_str message; /* the ShapeProto */
};

struct tfp_hlo_shapes {
	struct tfp_hlo_shape *list; /* owned; index 0 is the shape of what has none */
	size_t count, room;
	struct tfp_str_map by_message;
};

enum tfp_status tfp_hlo_shapes_init(struct tfp_hlo_shapes *shapes, struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_hlo_shapes_release(struct tfp_hlo_shapes *shapes);

/* The shape of a ShapeProto. Its bytes are borrowed for as long as the shapes live; lists come
 * from the arena. TFP_BAD_INPUT for what no array can be: negative sizes, more elements than
 * 64 bits count, tuples too deep. */
enum tfp_status tfp_hlo_shapes_add(struct tfp_hlo_shapes *shapes, struct tfp_arena *arena,
				   struct tfp_str message, uint32_t *index,
				   struct tfp_error *err) TFP_CHECK;

/* Bits of an element in memory; 0 for tuples, tokens and types that nobody knows. */
unsigned tfp_hlo_type_bits(uint8_t type);
/* "f32"; "" for types that nobody knows. */
const char *tfp_hlo_type_name(uint8_t type);

#endif
