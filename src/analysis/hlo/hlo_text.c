/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_text.h"

#include "analysis/hlo/hlo_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Fields of HloInstructionProto (xla/service/hlo.proto) that are printed. */
enum {
	F_LITERAL = 8,
	F_FUSION_KIND = 11,
	F_DIMENSIONS = 14,
	F_WINDOW = 15,
	F_CONVOLUTION = 16,
	F_SLICES = 17,
	F_EXPONENT_BITS = 18,
	F_MANTISSA_BITS = 19,
	F_DYNAMIC_SLICE_SIZES = 20,
	F_PADDING = 21,
	F_OUTFEED_CONFIG = 22,
	F_DISTRIBUTION = 23,
	F_EPSILON = 24,
	F_FEATURE_INDEX = 25,
	F_CHANNEL_ID = 26,
	F_INFEED_CONFIG = 27,
	F_TARGET = 28,
	F_OUTFEED_SHAPE = 29,
	F_DOT = 30,
	F_FFT_TYPE = 31,
	F_FFT_LENGTH = 32,
	F_GATHER = 33,
	F_GATHER_SLICES = 34,
	F_SHARDING = 40,
	F_BACKEND_CONFIG = 43,
	F_ALL_REDUCE_ID = 45,
	F_HOST_TRANSFER = 47,
	F_SCATTER = 48,
	F_REPLICA_GROUPS = 49,
	F_FEATURE_GROUPS = 50,
	F_PRECISION = 51,
	F_SOURCE_TARGETS = 52,
	F_DOMAIN_ENTRY = 54,
	F_DOMAIN_EXIT = 55,
	F_CONSTRAIN_LAYOUT = 56,
	F_OPERAND_SHAPES = 57,
	F_BATCH_GROUPS = 58,
	F_TRIANGULAR_SOLVE = 59,
	F_STABLE = 60,
	F_REPLICATION = 61,
	F_CHOLESKY = 62,
	F_DIRECTION = 63,
	F_SIDE_EFFECT = 65,
	F_DELTA = 66,
	F_INDICES_SORTED = 67,
	F_FRONTEND_ATTRIBUTES = 68,
	F_UNIQUE_INDICES = 69,
	F_RNG_ALGORITHM = 70,
	F_GLOBAL_IDS = 71,
	F_COMPARISON_TYPE = 72,
	F_ALIASING = 74,
	F_PADDING_TYPE = 75,
	F_SCHEDULE = 76,
	F_API_VERSION = 77,
	F_THREAD = 79,
	F_PREFETCH_INDEX = 80,
	F_K = 81,
	F_STATISTICS = 82,
	F_LARGEST = 85,
	F_DEVICE_LIST = 87,
	F_COMPOSITE = 89,
	F_RAGGED_DOT = 90,
	F_ACCURACY = 91,
	F_IOTA_LIST = 92,
	F_MESH_LIST = 93,
	F_REVERSED = 94,
	F_CARRIES = 95,
	F_ASSOCIATIVE = 96,
};

struct writer {
	const struct tfp_hlo_program *program;
	struct tfp_buf *out;
	size_t end; /* of out, where writing stops */
	unsigned flags;
	const char *between; /* attributes */
};

static bool is_full(const struct writer *w)
{
	return w->out->size >= w->end || tfp_buf_failed(w->out);
}

static void put(struct tfp_buf *out, struct tfp_str s)
{
	if (s.size)
		tfp_buf_add(out, s.data, s.size);
}

static void put_number(struct tfp_buf *out, int64_t value)
{
	tfp_buf_printf(out, "%" PRId64, value);
}

/* "1,2,3" */
static void put_numbers(struct tfp_buf *out, struct tfp_str message, uint32_t field)
{
	struct tfp_hlo_numbers n = tfp_hlo_numbers(message, field);
	int64_t value;
	for (size_t i = 0; tfp_hlo_next_number(&n, &value); i++) {
		if (i)
			tfp_buf_putc(out, ',');
		put_number(out, value);
	}
}

static bool has_numbers(struct tfp_str message, uint32_t field)
{
	struct tfp_hlo_numbers n = tfp_hlo_numbers(message, field);
	int64_t value;
	return tfp_hlo_next_number(&n, &value);
}

/* absl::CEscape */
static void put_escaped(struct tfp_buf *out, struct tfp_str s)
{
	for (size_t i = 0; i < s.size; i++) {
		unsigned char c = (unsigned char)s.data[i];
		if (c == '\n')
			tfp_buf_puts(out, "\\n");
		else if (c == '\r')
			tfp_buf_puts(out, "\\r");
		else if (c == '\t')
			tfp_buf_puts(out, "\\t");
		else if (c == '"' || c == '\'' || c == '\\')
			tfp_buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			tfp_buf_printf(out, "\\%03o", c);
		else
			tfp_buf_putc(out, (char)c);
	}
}

/* Whether a text looks like a JSON object to XLA's reader (LexesAsJsonDict), which counts
 * braces outside texts. */
static bool is_json_object(struct tfp_str s)
{
	size_t depth = 0, i = 0;
	if (s.size == 0 || s.data[0] != '{')
		return false;
	for (; i < s.size; i++) {
		if (s.data[i] == '"') {
			for (i++; i < s.size && s.data[i] != '"'; i++)
				i += s.data[i] == '\\';
			if (i >= s.size)
				return false;
		} else if (s.data[i] == '{') {
			depth++;
		} else if (s.data[i] == '}' && --depth == 0) {
			break;
		}
	}
	while (depth == 0 && ++i < s.size) {
		if (s.data[i] != ' ' && s.data[i] != '\n' && s.data[i] != '\t' && s.data[i] != '\r')
			return false;
	}
	return depth == 0;
}

/* ---- shapes ---- */

static void put_tile(struct tfp_buf *out, struct tfp_str tile)
{
	struct tfp_hlo_numbers n = tfp_hlo_numbers(tile, 1);
	int64_t value;
	tfp_buf_putc(out, '(');
	for (size_t i = 0; tfp_hlo_next_number(&n, &value); i++) {
		if (i)
			tfp_buf_putc(out, ',');
		if (value == INT64_MIN) /* the dimension is one with the next */
			tfp_buf_putc(out, '*');
		else
			put_number(out, value);
	}
	tfp_buf_putc(out, ')');
}

struct layout_parts {
	struct tfp_buf *out;
	bool any;
};

static void begin_part(struct layout_parts *p, const char *name)
{
	if (!p->any)
		tfp_buf_putc(p->out, ':');
	p->any = true;
	tfp_buf_puts(p->out, name);
}

static void put_optional(struct layout_parts *p, const char *name, struct tfp_str layout,
			 uint32_t field, int64_t usual)
{
	int64_t value = tfp_hlo_number(layout, field, 0);
	if (value == 0 || value == usual)
		return;
	begin_part(p, name);
	tfp_buf_printf(p->out, "(%" PRId64 ")", value);
}

static void put_type_part(struct layout_parts *p, const char *name, struct tfp_str layout,
			  uint32_t field)
{
	int64_t type = tfp_hlo_number(layout, field, 0);
	if (type <= 0 || type >= TFP_HLO_TYPE_COUNT)
		return;
	begin_part(p, name);
	tfp_buf_printf(p->out, "(%s)", tfp_hlo_type_name((uint8_t)type));
}

static void put_shape(struct tfp_buf *out, struct tfp_str message, unsigned depth);

/* Layout::ToString; the parts that mean nothing for a scalar are not written. */
static void put_layout(struct tfp_buf *out, struct tfp_str layout, bool is_scalar, unsigned depth)
{
	size_t before = out->size;
	struct layout_parts p = {.out = out};
	struct tfp_pb_cursor tiles = tfp_hlo_walk(layout), splits = tiles;
	struct tfp_str inner;
	bool first = true;
	tfp_buf_putc(out, '{');
	put_numbers(out, layout, 1);
	for (; tfp_hlo_next(&tiles, 6, &inner); first = false) {
		if (first)
			begin_part(&p, "T");
		put_tile(out, inner);
	}
	put_optional(&p, "L", layout, 16, 1);
	put_type_part(&p, "#", layout, 11);
	put_type_part(&p, "*", layout, 12);
	put_optional(&p, "E", layout, 7, 0);
	put_optional(&p, "S", layout, 8, 0);
	for (first = true; tfp_hlo_next(&splits, 17, &inner); first = false) {
		if (first)
			begin_part(&p, "SC");
		tfp_buf_putc(out, '(');
		put_number(out, tfp_hlo_number(inner, 1, 0));
		tfp_buf_putc(out, ':');
		put_numbers(out, inner, 2);
		tfp_buf_putc(out, ')');
	}
	if (tfp_hlo_field(layout, 10, &inner)) {
		begin_part(&p, "P(");
		put_shape(out, inner, depth + 1);
		tfp_buf_putc(out, ')');
	}
	put_optional(&p, "M", layout, 15, 0);
	tfp_buf_putc(out, '}');
	if (is_scalar && !tfp_buf_failed(out) && out->size == before + 2)
		out->size = before;
}

static void put_shape_as(struct tfp_buf *out, struct tfp_str message, unsigned depth,
			 bool has_layout);

static void put_tuple(struct tfp_buf *out, struct tfp_str message, unsigned depth, bool has_layout)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str part;
	tfp_buf_putc(out, '(');
	for (size_t i = 0; !tfp_buf_failed(out) && tfp_hlo_next(&c, 4, &part); i++) {
		if (i)
			tfp_buf_puts(out, ", ");
		if (i && i % 5 == 0)
			tfp_buf_printf(out, "/*index=%zu*/", i);
		put_shape_as(out, part, depth + 1, has_layout);
	}
	tfp_buf_putc(out, ')');
}

/* Recursion goes as deep as tuples do here, which is bounded. */
static void put_shape_as(struct tfp_buf *out, struct tfp_str message, unsigned depth,
			 bool has_layout)
{
	int64_t type = tfp_hlo_number(message, 2, 0), size, is_dynamic;
	struct tfp_hlo_numbers sizes = tfp_hlo_numbers(message, 3);
	struct tfp_hlo_numbers dynamic = tfp_hlo_numbers(message, 6);
	struct tfp_str layout;
	size_t rank = 0;
	if (depth > TFP_HLO_TUPLE_DEPTH_MAX)
		return;
	if (type == TFP_HLO_TYPE_TUPLE) {
		put_tuple(out, message, depth, has_layout);
		return;
	}
	tfp_buf_puts(out, type > 0 && type < TFP_HLO_TYPE_COUNT ? tfp_hlo_type_name((uint8_t)type)
								: "invalid");
	tfp_buf_putc(out, '[');
	for (; tfp_hlo_next_number(&sizes, &size); rank++) {
		if (rank)
			tfp_buf_putc(out, ',');
		if (tfp_hlo_next_number(&dynamic, &is_dynamic) && is_dynamic)
			tfp_buf_puts(out, size == INT64_MIN ? "?" : "<=");
		if (size != INT64_MIN)
			put_number(out, size);
	}
	tfp_buf_putc(out, ']');
	if (has_layout && tfp_hlo_field(message, 5, &layout) && tfp_hlo_type_bits((uint8_t)type))
		put_layout(out, layout, rank == 0, depth);
}

static void put_shape(struct tfp_buf *out, struct tfp_str message, unsigned depth)
{
	put_shape_as(out, message, depth, true);
}

void tfp_hlo_write_shape(struct tfp_str message, struct tfp_buf *out)
{
	put_shape(out, message, 0);
}

void tfp_hlo_write_plain_shape(struct tfp_str message, struct tfp_buf *out)
{
	put_shape_as(out, message, 0, false);
}

static void put_shape_of(struct writer *w, uint32_t instruction)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(w->program, instruction);
	put_shape(w->out, shape->message, 0);
}

/* ---- attributes ---- */

static void attribute(struct writer *w, const char *name)
{
	tfp_buf_puts(w->out, w->between);
	tfp_buf_puts(w->out, name);
	tfp_buf_putc(w->out, '=');
}

static void attribute_number(struct writer *w, const char *name, int64_t value)
{
	attribute(w, name);
	put_number(w->out, value);
}

/* Only where it is not what it usually is. */
static void attribute_unusual(struct writer *w, const char *name, struct tfp_str message,
			      uint32_t field, int64_t usual)
{
	int64_t value = tfp_hlo_number(message, field, 0);
	if (value != usual && value != 0)
		attribute_number(w, name, value);
}

static void attribute_true(struct writer *w, const char *name, struct tfp_str message,
			   uint32_t field)
{
	if (tfp_hlo_number(message, field, 0) == 0)
		return;
	attribute(w, name);
	tfp_buf_puts(w->out, "true");
}

/* name={1,2} */
static void attribute_list(struct writer *w, const char *name, struct tfp_str message,
			   uint32_t field)
{
	attribute(w, name);
	tfp_buf_putc(w->out, '{');
	put_numbers(w->out, message, field);
	tfp_buf_putc(w->out, '}');
}

static void attribute_list_if_any(struct writer *w, const char *name, struct tfp_str message,
				  uint32_t field)
{
	if (has_numbers(message, field))
		attribute_list(w, name, message, field);
}

/* The name of an enum's value; numbers that have none here are written as such. */
static void attribute_enum(struct writer *w, const char *name, int64_t value,
			   const char *const *names, size_t count)
{
	attribute(w, name);
	if (value >= 0 && (uint64_t)value < count)
		tfp_buf_puts(w->out, names[value]);
	else
		put_number(w->out, value);
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void put_name(struct writer *w, struct tfp_str name)
{
	if (!(w->flags & TFP_HLO_TEXT_SHORT))
		tfp_buf_putc(w->out, '%');
	put(w->out, name);
}

static struct tfp_str computation_name(const struct writer *w, uint32_t instruction, uint32_t k)
{
	return w->program->computations[tfp_hlo_called(w->program, instruction, k)].name;
}

/* ---- window, convolution ---- */

enum { W_SIZE = 1, W_STRIDE, W_LOW, W_HIGH, W_WINDOW_DILATION, W_BASE_DILATION, W_REVERSAL };

static bool any_dimension(struct tfp_str window, uint32_t field, int64_t usual)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(window);
	struct tfp_str dimension;
	while (tfp_hlo_next(&c, 1, &dimension)) {
		if (tfp_hlo_number(dimension, field, 0) != usual)
			return true;
	}
	return false;
}

static void put_dimensions(struct writer *w, const char *name, struct tfp_str window,
			   uint32_t field)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(window);
	struct tfp_str dimension;
	tfp_buf_puts(w->out, name);
	for (size_t i = 0; tfp_hlo_next(&c, 1, &dimension); i++) {
		if (i)
			tfp_buf_putc(w->out, 'x');
		put_number(w->out, tfp_hlo_number(dimension, field, 0));
		if (field == W_LOW)
			tfp_buf_printf(w->out, "_%" PRId64, tfp_hlo_number(dimension, W_HIGH, 0));
	}
}

/* window_util::ToString */
static void write_window(struct writer *w, struct tfp_str message)
{
	struct tfp_str window, dimension;
	if (!tfp_hlo_field(message, F_WINDOW, &window) || !tfp_hlo_field(window, 1, &dimension))
		return;
	attribute(w, "window");
	put_dimensions(w, "{size=", window, W_SIZE);
	if (any_dimension(window, W_STRIDE, 1))
		put_dimensions(w, " stride=", window, W_STRIDE);
	if (any_dimension(window, W_LOW, 0) || any_dimension(window, W_HIGH, 0))
		put_dimensions(w, " pad=", window, W_LOW);
	if (any_dimension(window, W_BASE_DILATION, 1))
		put_dimensions(w, " lhs_dilate=", window, W_BASE_DILATION);
	if (any_dimension(window, W_WINDOW_DILATION, 1))
		put_dimensions(w, " rhs_dilate=", window, W_WINDOW_DILATION);
	if (any_dimension(window, W_REVERSAL, 0))
		put_dimensions(w, " rhs_reversal=", window, W_REVERSAL);
	tfp_buf_putc(w->out, '}');
}

/* "b01f": which dimension is what; '?' where nothing is said. */
static void put_labels(struct writer *w, struct tfp_str dims, uint32_t first_field, char first,
		       uint32_t second_field, char second, uint32_t spatial_field)
{
	char labels[TFP_HLO_RANK_MAX][8];
	struct tfp_hlo_numbers spatial = tfp_hlo_numbers(dims, spatial_field);
	int64_t at[2] = {tfp_hlo_number(dims, first_field, 0),
			 tfp_hlo_number(dims, second_field, 0)};
	int64_t place, count = 0;
	for (int i = 0; i < TFP_HLO_RANK_MAX; i++)
		snprintf(labels[i], sizeof(labels[i]), "?");
	for (int i = 0; i < 2; i++) {
		if (at[i] < 0 || at[i] >= TFP_HLO_RANK_MAX)
			continue;
		snprintf(labels[at[i]], sizeof(labels[0]), "%c", i ? second : first);
		count = at[i] + 1 > count ? at[i] + 1 : count;
	}
	for (int i = 0; i < TFP_HLO_RANK_MAX && tfp_hlo_next_number(&spatial, &place); i++) {
		if (place < 0 || place >= TFP_HLO_RANK_MAX)
			continue;
		snprintf(labels[place], sizeof(labels[0]), "%d", i);
		count = place + 1 > count ? place + 1 : count;
	}
	for (int64_t i = 0; i < count; i++)
		tfp_buf_puts(w->out, labels[i]);
}

static void write_convolution(struct writer *w, struct tfp_str message)
{
	struct tfp_str dims;
	write_window(w, message);
	if (tfp_hlo_field(message, F_CONVOLUTION, &dims)) {
		attribute(w, "dim_labels");
		put_labels(w, dims, 7, 'b', 8, 'f', 11);
		tfp_buf_putc(w->out, '_');
		put_labels(w, dims, 3, 'i', 4, 'o', 6);
		tfp_buf_puts(w->out, "->");
		put_labels(w, dims, 9, 'b', 10, 'f', 12);
	}
	attribute_unusual(w, "feature_group_count", message, F_FEATURE_GROUPS, 1);
	attribute_unusual(w, "batch_group_count", message, F_BATCH_GROUPS, 1);
}

static void write_precision(struct writer *w, struct tfp_str message)
{
	static const char *const precisions[] = {"default", "high", "highest", "packed_nibble"};
	static const char *const algorithms[] = {"unset",
						 "dot_any_f8_any_f8_f32",
						 "dot_any_f8_any_f8_f32_fast_accum",
						 "dot_f16_f16_f16",
						 "dot_f16_f16_f32",
						 "dot_bf16_bf16_bf16",
						 "dot_bf16_bf16_f32",
						 "dot_bf16_bf16_f32_x3",
						 "dot_bf16_bf16_f32_x6",
						 "dot_tf32_tf32_f32",
						 "dot_tf32_tf32_f32_x3",
						 "dot_f32_f32_f32",
						 "dot_f64_f64_f64",
						 "dot_bf16_bf16_f32_x9"};
	struct tfp_str config;
	int64_t value, algorithm;
	bool any = false;
	tfp_hlo_field(message, F_PRECISION, &config);
	struct tfp_hlo_numbers n = tfp_hlo_numbers(config, 1);
	while (tfp_hlo_next_number(&n, &value))
		any |= value != 0;
	if (any) {
		attribute(w, "operand_precision");
		tfp_buf_putc(w->out, '{');
		n = tfp_hlo_numbers(config, 1);
		for (size_t i = 0; tfp_hlo_next_number(&n, &value); i++) {
			if (i)
				tfp_buf_putc(w->out, ',');
			if (value >= 0 && (size_t)value < COUNT(precisions))
				tfp_buf_puts(w->out, precisions[value]);
			else
				put_number(w->out, value);
		}
		tfp_buf_putc(w->out, '}');
	}
	algorithm = tfp_hlo_number(config, 2, 0);
	if (algorithm)
		attribute_enum(w, "algorithm", algorithm, algorithms, COUNT(algorithms));
}

/* From here on attributes are one with the one before; the usual again with the result. */
static const char *join(struct writer *w)
{
	const char *between = w->between;
	w->between = ", ";
	return between;
}

static void write_dot(struct writer *w, struct tfp_str dims)
{
	const char *between = w->between;
	if (has_numbers(dims, 3)) {
		attribute_list(w, "lhs_batch_dims", dims, 3);
		join(w);
	}
	attribute_list(w, "lhs_contracting_dims", dims, 1);
	join(w);
	attribute_list_if_any(w, "rhs_batch_dims", dims, 4);
	attribute_list(w, "rhs_contracting_dims", dims, 2);
	w->between = between;
}

/* ---- collectives ---- */

/* "[4,2]<=[2,4]T(1,0)": numbers counted up along dimensions, which may change places. */
static void put_iota(struct writer *w, struct tfp_str message, uint32_t reshape, uint32_t order)
{
	struct tfp_hlo_numbers n = tfp_hlo_numbers(message, order);
	int64_t value, i = 0;
	bool moves = false;
	tfp_buf_puts(w->out, "<=[");
	put_numbers(w->out, message, reshape);
	tfp_buf_putc(w->out, ']');
	for (; tfp_hlo_next_number(&n, &value); i++)
		moves |= value != i;
	if (!moves)
		return;
	tfp_buf_puts(w->out, "T(");
	put_numbers(w->out, message, order);
	tfp_buf_putc(w->out, ')');
}

static void put_groups(struct writer *w, struct tfp_str message, uint32_t field)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str group;
	tfp_buf_putc(w->out, '{');
	for (size_t i = 0; !is_full(w) && tfp_hlo_next(&c, field, &group); i++) {
		tfp_buf_puts(w->out, i ? ",{" : "{");
		put_numbers(w->out, group, 1);
		tfp_buf_putc(w->out, '}');
	}
	tfp_buf_putc(w->out, '}');
}

/* The nth message of a field; false when there are fewer. */
static bool nth(struct tfp_str message, uint32_t field, int64_t n, struct tfp_str *value)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	for (int64_t i = 0; tfp_hlo_next(&c, field, value); i++) {
		if (i == n)
			return true;
	}
	return false;
}

/* MeshProto: "mesh['x'=2,'y'=4]", with the devices where they are not counted up. */
static void put_mesh(struct writer *w, struct tfp_str mesh)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(mesh);
	struct tfp_str axis, name;
	size_t i = 0;
	for (; !is_full(w) && tfp_hlo_next(&c, 1, &axis); i++) {
		tfp_hlo_field(axis, 1, &name);
		tfp_buf_puts(w->out, i ? ",'" : "mesh['");
		put(w->out, name);
		tfp_buf_printf(w->out, "'=%" PRId64, tfp_hlo_number(axis, 2, 0));
	}
	if (i == 0) {
		tfp_buf_printf(w->out, "maximal_mesh[device_id=%" PRId64 "]",
			       tfp_hlo_number(mesh, 2, 0));
		return;
	}
	tfp_buf_putc(w->out, ']');
	if (!has_numbers(mesh, 2))
		return;
	tfp_buf_puts(w->out, ", device_ids=(");
	put_numbers(w->out, mesh, 2);
	tfp_buf_putc(w->out, ')');
}

/* AxisRefProto: an axis of the mesh, or a part of one: "'x':(1)2". */
static void put_axis(struct writer *w, struct tfp_str mesh, struct tfp_str reference)
{
	struct tfp_str axis, name, part;
	int64_t index = tfp_hlo_number(reference, 1, 0);
	if (nth(mesh, 1, index, &axis)) {
		tfp_hlo_field(axis, 1, &name);
		tfp_buf_putc(w->out, '\'');
		put(w->out, name);
		tfp_buf_putc(w->out, '\'');
	} else {
		put_number(w->out, index);
	}
	if (tfp_hlo_field(reference, 2, &part))
		tfp_buf_printf(w->out, ":(%" PRId64 ")%" PRId64, tfp_hlo_number(part, 1, 0),
			       tfp_hlo_number(part, 2, 0));
}

/* MeshAxesReplicaGroupListProto */
static void put_mesh_groups(struct writer *w, struct tfp_str list)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(list);
	struct tfp_str mesh, axis;
	tfp_hlo_field(list, 1, &mesh);
	put_mesh(w, mesh);
	tfp_buf_puts(w->out, " {");
	for (size_t i = 0; !is_full(w) && tfp_hlo_next(&c, 2, &axis); i++) {
		if (i)
			tfp_buf_putc(w->out, ',');
		put_axis(w, mesh, axis);
	}
	tfp_buf_putc(w->out, '}');
}

static void write_groups(struct writer *w, struct tfp_str message)
{
	struct tfp_str list, iota, axes;
	attribute(w, "replica_groups");
	bool has_list = tfp_hlo_field(message, F_DEVICE_LIST, &list);
	if (tfp_hlo_field(message, F_MESH_LIST, &axes)) {
		put_mesh_groups(w, axes);
		return;
	}
	/* Newer files have counted groups in a field of their own. */
	if (tfp_hlo_field(message, F_IOTA_LIST, &iota) ||
	    (has_list && tfp_hlo_field(list, 2, &iota))) {
		tfp_buf_printf(w->out, "[%" PRId64 ",%" PRId64 "]", tfp_hlo_number(iota, 1, 0),
			       tfp_hlo_number(iota, 2, 0));
		put_iota(w, iota, 3, 4);
	} else if (has_list) {
		put_groups(w, list, 1);
	} else {
		put_groups(w, message, F_REPLICA_GROUPS);
	}
}

static void write_channel(struct writer *w, struct tfp_str message)
{
	int64_t channel = tfp_hlo_number(message, F_CHANNEL_ID, 0);
	/* What reductions of older files have instead. */
	int64_t reduction = tfp_hlo_number(message, F_ALL_REDUCE_ID, 0);
	if (reduction > 0)
		channel = reduction;
	if (channel > 0)
		attribute_number(w, "channel_id", channel);
}

static void write_collective(struct writer *w, struct tfp_str message)
{
	write_channel(w, message);
	write_groups(w, message);
	attribute_true(w, "constrain_layout", message, F_CONSTRAIN_LAYOUT);
}

static void write_permute(struct writer *w, struct tfp_str message)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str pair;
	write_channel(w, message);
	attribute(w, "source_target_pairs");
	tfp_buf_putc(w->out, '{');
	for (size_t i = 0; !is_full(w) && tfp_hlo_next(&c, F_SOURCE_TARGETS, &pair); i++)
		tfp_buf_printf(w->out, "%s{%" PRId64 ",%" PRId64 "}", i ? "," : "",
			       tfp_hlo_number(pair, 1, 0), tfp_hlo_number(pair, 2, 0));
	tfp_buf_putc(w->out, '}');
}

/* ---- gather, scatter, slices ---- */

static void write_gather(struct writer *w, struct tfp_str message)
{
	struct tfp_str dims;
	const char *between;
	tfp_hlo_field(message, F_GATHER, &dims);
	attribute_list(w, "offset_dims", dims, 1);
	between = join(w);
	attribute_list(w, "collapsed_slice_dims", dims, 2);
	attribute_list(w, "start_index_map", dims, 3);
	attribute_list_if_any(w, "operand_batching_dims", dims, 5);
	attribute_list_if_any(w, "start_indices_batching_dims", dims, 6);
	attribute_number(w, "index_vector_dim", tfp_hlo_number(dims, 4, 0));
	w->between = between;
	attribute_list(w, "slice_sizes", message, F_GATHER_SLICES);
	attribute_true(w, "indices_are_sorted", message, F_INDICES_SORTED);
}

static void write_scatter(struct writer *w, struct tfp_str message)
{
	struct tfp_str dims;
	const char *between;
	tfp_hlo_field(message, F_SCATTER, &dims);
	attribute_list(w, "update_window_dims", dims, 1);
	between = join(w);
	attribute_list(w, "inserted_window_dims", dims, 2);
	attribute_list(w, "scatter_dims_to_operand_dims", dims, 3);
	attribute_list_if_any(w, "input_batching_dims", dims, 5);
	attribute_list_if_any(w, "scatter_indices_batching_dims", dims, 6);
	attribute_number(w, "index_vector_dim", tfp_hlo_number(dims, 4, 0));
	w->between = between;
	attribute_true(w, "indices_are_sorted", message, F_INDICES_SORTED);
	attribute_true(w, "unique_indices", message, F_UNIQUE_INDICES);
}

static void write_slice(struct writer *w, struct tfp_str message)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str slice;
	bool strides = false;
	while (tfp_hlo_next(&c, F_SLICES, &slice))
		strides |= tfp_hlo_number(slice, 3, 0) != 1;
	attribute(w, "slice");
	tfp_buf_putc(w->out, '{');
	c = tfp_hlo_walk(message);
	for (size_t i = 0; tfp_hlo_next(&c, F_SLICES, &slice); i++) {
		tfp_buf_printf(w->out, "%s[%" PRId64 ":%" PRId64, i ? ", " : "",
			       tfp_hlo_number(slice, 1, 0), tfp_hlo_number(slice, 2, 0));
		if (strides)
			tfp_buf_printf(w->out, ":%" PRId64, tfp_hlo_number(slice, 3, 0));
		tfp_buf_putc(w->out, ']');
	}
	tfp_buf_putc(w->out, '}');
}

static void write_padding(struct writer *w, struct tfp_str message)
{
	struct tfp_str config, dimension;
	struct tfp_pb_cursor c;
	bool interior = false;
	tfp_hlo_field(message, F_PADDING, &config);
	c = tfp_hlo_walk(config);
	while (tfp_hlo_next(&c, 1, &dimension))
		interior |= tfp_hlo_number(dimension, 3, 0) != 0;
	attribute(w, "padding");
	c = tfp_hlo_walk(config);
	for (size_t i = 0; tfp_hlo_next(&c, 1, &dimension); i++) {
		tfp_buf_printf(w->out, "%s%" PRId64 "_%" PRId64, i ? "x" : "",
			       tfp_hlo_number(dimension, 1, 0), tfp_hlo_number(dimension, 2, 0));
		if (interior)
			tfp_buf_printf(w->out, "_%" PRId64, tfp_hlo_number(dimension, 3, 0));
	}
}

/* ---- calls ---- */

static void write_aliasing(struct writer *w, struct tfp_str message)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str pair;
	size_t i = 0;
	for (; !is_full(w) && tfp_hlo_next(&c, F_ALIASING, &pair); i++) {
		if (i == 0)
			attribute(w, "output_to_operand_aliasing");
		tfp_buf_puts(w->out, i ? ", {" : "{{");
		put_numbers(w->out, pair, 1);
		tfp_buf_printf(w->out, "}: (%" PRId64 ", {", tfp_hlo_number(pair, 2, 0));
		put_numbers(w->out, pair, 3);
		tfp_buf_puts(w->out, "})");
	}
	if (i)
		tfp_buf_putc(w->out, '}');
}

static void write_custom_call(struct writer *w, struct tfp_str message)
{
	static const char *const paddings[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
	static const char *const schedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST",
						"SCHEDULE_EARLIEST"};
	static const char *const versions[] = {
		"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
		"API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str text;
	int64_t number;
	write_convolution(w, message);
	write_precision(w, message);
	number = tfp_hlo_number(message, F_PADDING_TYPE, 0);
	if (number)
		attribute_enum(w, "padding_type", number, paddings, COUNT(paddings));
	tfp_hlo_field(message, F_TARGET, &text);
	attribute(w, "custom_call_target");
	tfp_buf_putc(w->out, '"');
	put_escaped(w->out, text);
	tfp_buf_putc(w->out, '"');
	if (tfp_hlo_number(message, F_CONSTRAIN_LAYOUT, 0)) {
		attribute(w, "operand_layout_constraints");
		tfp_buf_putc(w->out, '{');
		for (size_t i = 0; !is_full(w) && tfp_hlo_next(&c, F_OPERAND_SHAPES, &text); i++) {
			if (i)
				tfp_buf_puts(w->out, ", ");
			put_shape(w->out, text, 0);
		}
		tfp_buf_putc(w->out, '}');
	}
	attribute_true(w, "custom_call_has_side_effect", message, F_SIDE_EFFECT);
	write_aliasing(w, message);
	number = tfp_hlo_number(message, F_SCHEDULE, 0);
	if (number)
		attribute_enum(w, "schedule", number, schedules, COUNT(schedules));
	number = tfp_hlo_number(message, F_API_VERSION, 0);
	if (number > 1)
		attribute_enum(w, "api_version", number, versions, COUNT(versions));
}

/* The comparison of two values of that type when the instruction does not name one. */
static const char *default_comparison(uint8_t type)
{
	switch (type) {
	case TFP_HLO_TYPE_PRED:
	case TFP_HLO_TYPE_U8:
	case TFP_HLO_TYPE_U16:
	case TFP_HLO_TYPE_U32:
	case TFP_HLO_TYPE_U64:
		return "UNSIGNED";
	case TFP_HLO_TYPE_S8:
	case TFP_HLO_TYPE_S16:
	case TFP_HLO_TYPE_S32:
	case TFP_HLO_TYPE_S64:
		return "SIGNED";
	default:
		break;
	}
	const char *name = tfp_hlo_type_name(type);
	return name[0] == 's' ? "SIGNED" : name[0] == 'u' ? "UNSIGNED" : "FLOAT";
}

static void write_comparison(struct writer *w, uint32_t instruction, struct tfp_str message)
{
	const struct tfp_hlo_op *op = &w->program->instructions[instruction];
	struct tfp_str text;
	tfp_hlo_field(message, F_DIRECTION, &text);
	attribute(w, "direction");
	put(w->out, text);
	if (!tfp_hlo_field(message, F_COMPARISON_TYPE, &text) || op->operand_count == 0)
		return;
	uint32_t operand = tfp_hlo_operand(w->program, instruction, 0);
	if (tfp_str_equal(text, default_comparison(tfp_hlo_shape_of(w->program, operand)->type)))
		return;
	attribute(w, "type");
	put(w->out, text);
}

static void write_triangular_solve(struct writer *w, struct tfp_str message)
{
	static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
						 "ADJOINT"};
	struct tfp_str options;
	tfp_hlo_field(message, F_TRIANGULAR_SOLVE, &options);
	attribute_true(w, "left_side", options, 1);
	attribute_true(w, "lower", options, 2);
	attribute_true(w, "unit_diagonal", options, 3);
	int64_t transpose = tfp_hlo_number(options, 4, 0);
	if (transpose)
		attribute_enum(w, "transpose_a", transpose, transposes, COUNT(transposes));
}

static void write_replication(struct writer *w, struct tfp_str message)
{
	struct tfp_str replication;
	int64_t value;
	if (!tfp_hlo_field(message, F_REPLICATION, &replication))
		return;
	struct tfp_hlo_numbers n = tfp_hlo_numbers(replication, 1);
	for (size_t i = 0; tfp_hlo_next_number(&n, &value); i++) {
		if (i == 0) {
			attribute(w, "parameter_replication");
			tfp_buf_putc(w->out, '{');
		}
		tfp_buf_printf(w->out, "%s%s", i ? "," : "", value ? "true" : "false");
	}
	if (has_numbers(replication, 1))
		tfp_buf_putc(w->out, '}');
}

static void write_batch_norm(struct writer *w, struct tfp_str message)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	float epsilon = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(F_EPSILON, TFP_PB_FIXED32) && c.end - c.at >= 4)
			memcpy(&epsilon, c.at, sizeof(epsilon));
		tfp_pb_skip(&c, tag);
	}
	attribute(w, "epsilon");
	tfp_buf_printf(w->out, "%g", (double)epsilon);
	attribute_number(w, "feature_index", tfp_hlo_number(message, F_FEATURE_INDEX, 0));
}

static void attribute_text(struct writer *w, const char *name, struct tfp_str message,
			   uint32_t field)
{
	struct tfp_str text;
	if (!tfp_hlo_field(message, field, &text) || text.size == 0)
		return;
	attribute(w, name);
	tfp_buf_putc(w->out, '"');
	put_escaped(w->out, text);
	tfp_buf_putc(w->out, '"');
}

static void write_scan(struct writer *w, struct tfp_str message)
{
	int64_t associative = tfp_hlo_number(message, F_ASSOCIATIVE, 0);
	attribute_list(w, "dimensions", message, F_DIMENSIONS);
	attribute_number(w, "num_carries", tfp_hlo_number(message, F_CARRIES, 0));
	attribute_true(w, "is_reverse", message, F_REVERSED);
	if (associative == 0) /* nobody said */
		return;
	attribute(w, "is_associative");
	tfp_buf_puts(w->out, associative == 1 ? "true" : "false");
}

static void put_sharding(struct writer *w, struct tfp_str m, unsigned depth);

/* The fields' names are exchanged in XLA: what is printed as entry is the exit's. */
static void write_domain(struct writer *w, struct tfp_str message)
{
	struct tfp_str sharding;
	attribute(w, "domain");
	tfp_buf_puts(w->out, "{kind=\"sharding\", entry=");
	tfp_hlo_field(message, F_DOMAIN_EXIT, &sharding);
	put_sharding(w, sharding, 0);
	tfp_buf_puts(w->out, ", exit=");
	tfp_hlo_field(message, F_DOMAIN_ENTRY, &sharding);
	put_sharding(w, sharding, 0);
	tfp_buf_putc(w->out, '}');
}

/* Attributes that an operation has of its own (PrintExtraAttributesImpl). */
static void write_own(struct writer *w, uint32_t instruction)
{
	static const char *const ffts[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
	static const char *const distributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};
	static const char *const algorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
	const struct tfp_hlo_op *op = &w->program->instructions[instruction];
	struct tfp_str m = op->message, text;
	struct tfp_hlo_numbers n;
	int64_t first;
	switch (op->opcode) {
	case TFP_HLO_ALL_GATHER:
	case TFP_HLO_ALL_GATHER_START:
		write_collective(w, m);
		attribute_list(w, "dimensions", m, F_DIMENSIONS);
		attribute_true(w, "use_global_device_ids", m, F_GLOBAL_IDS);
		break;
	case TFP_HLO_ALL_REDUCE:
	case TFP_HLO_ALL_REDUCE_START:
		write_collective(w, m);
		attribute_true(w, "use_global_device_ids", m, F_GLOBAL_IDS);
		break;
	case TFP_HLO_REDUCE_SCATTER:
		write_collective(w, m);
		attribute_true(w, "use_global_device_ids", m, F_GLOBAL_IDS);
		attribute_list(w, "dimensions", m, F_DIMENSIONS);
		break;
	case TFP_HLO_ALL_TO_ALL:
		write_collective(w, m);
		attribute_list_if_any(w, "dimensions", m, F_DIMENSIONS);
		break;
	case TFP_HLO_RAGGED_ALL_TO_ALL:
	case TFP_HLO_COLLECTIVE_BROADCAST:
		write_collective(w, m);
		break;
	case TFP_HLO_COLLECTIVE_PERMUTE:
	case TFP_HLO_COLLECTIVE_PERMUTE_START:
		write_permute(w, m);
		break;
	case TFP_HLO_SEND:
	case TFP_HLO_SEND_DONE:
	case TFP_HLO_RECV:
	case TFP_HLO_RECV_DONE:
		write_channel(w, m);
		attribute_true(w, "is_host_transfer", m, F_HOST_TRANSFER);
		break;
	case TFP_HLO_COPY_START:
		if (tfp_hlo_number(m, F_PREFETCH_INDEX, INT64_MIN) != INT64_MIN)
			attribute_number(w, "cross_program_prefetch_index",
					 tfp_hlo_number(m, F_PREFETCH_INDEX, 0));
		break;
	case TFP_HLO_COMPARE:
		write_comparison(w, instruction, m);
		break;
	case TFP_HLO_TRIANGULAR_SOLVE:
		write_triangular_solve(w, m);
		break;
	case TFP_HLO_CHOLESKY:
		tfp_hlo_field(m, F_CHOLESKY, &text);
		attribute_true(w, "lower", text, 1);
		break;
	case TFP_HLO_FFT:
		attribute_enum(w, "fft_type", tfp_hlo_number(m, F_FFT_TYPE, 0), ffts, COUNT(ffts));
		attribute_list(w, "fft_length", m, F_FFT_LENGTH);
		break;
	case TFP_HLO_REVERSE:
	case TFP_HLO_CONCATENATE:
	case TFP_HLO_REDUCE:
	case TFP_HLO_TRANSPOSE:
	case TFP_HLO_BROADCAST:
	case TFP_HLO_MAP:
	case TFP_HLO_GET_DIMENSION_SIZE:
	case TFP_HLO_SET_DIMENSION_SIZE:
		attribute_list(w, "dimensions", m, F_DIMENSIONS);
		break;
	case TFP_HLO_SORT:
		attribute_list(w, "dimensions", m, F_DIMENSIONS);
		attribute_true(w, "is_stable", m, F_STABLE);
		break;
	case TFP_HLO_SCAN:
		write_scan(w, m);
		break;
	case TFP_HLO_RESHAPE:
		n = tfp_hlo_numbers(m, F_DIMENSIONS);
		if (tfp_hlo_next_number(&n, &first) && first != -1)
			attribute_number(w, "inferred_dimension", first);
		break;
	case TFP_HLO_SLICE:
		write_slice(w, m);
		break;
	case TFP_HLO_FUSION:
		tfp_hlo_field(m, F_FUSION_KIND, &text);
		attribute(w, "kind");
		put(w->out, text);
		write_aliasing(w, m);
		break;
	case TFP_HLO_RNG:
		attribute_enum(w, "distribution", tfp_hlo_number(m, F_DISTRIBUTION, 0),
			       distributions, COUNT(distributions));
		break;
	case TFP_HLO_RNG_BIT_GENERATOR:
		attribute_enum(w, "algorithm", tfp_hlo_number(m, F_RNG_ALGORITHM, 0), algorithms,
			       COUNT(algorithms));
		break;
	case TFP_HLO_RNG_GET_AND_UPDATE_STATE:
		attribute_number(w, "delta", tfp_hlo_number(m, F_DELTA, 0));
		break;
	case TFP_HLO_PARAMETER:
		write_replication(w, m);
		break;
	case TFP_HLO_GET_TUPLE_ELEMENT:
		attribute_number(w, "index", op->number);
		break;
	case TFP_HLO_REDUCE_PRECISION:
		attribute_number(w, "exponent_bits", tfp_hlo_number(m, F_EXPONENT_BITS, 0));
		attribute_number(w, "mantissa_bits", tfp_hlo_number(m, F_MANTISSA_BITS, 0));
		break;
	case TFP_HLO_OUTFEED:
		if (tfp_hlo_field(m, F_OUTFEED_SHAPE, &text)) {
			attribute(w, "outfeed_shape");
			put_shape(w->out, text, 0);
		}
		attribute_text(w, "outfeed_config", m, F_OUTFEED_CONFIG);
		break;
	case TFP_HLO_INFEED:
		attribute_text(w, "infeed_config", m, F_INFEED_CONFIG);
		break;
	case TFP_HLO_DOMAIN:
		write_domain(w, m);
		break;
	case TFP_HLO_CONVOLUTION:
		write_convolution(w, m);
		write_precision(w, m);
		break;
	case TFP_HLO_REDUCE_WINDOW:
	case TFP_HLO_SELECT_AND_SCATTER:
		write_window(w, m);
		break;
	case TFP_HLO_CUSTOM_CALL:
		write_custom_call(w, m);
		break;
	case TFP_HLO_PAD:
		write_padding(w, m);
		break;
	case TFP_HLO_DYNAMIC_SLICE:
		attribute_list(w, "dynamic_slice_sizes", m, F_DYNAMIC_SLICE_SIZES);
		break;
	case TFP_HLO_GATHER:
		write_gather(w, m);
		break;
	case TFP_HLO_SCATTER:
		write_scatter(w, m);
		break;
	case TFP_HLO_IOTA:
		attribute(w, "iota_dimension");
		put_numbers(w->out, m, F_DIMENSIONS);
		break;
	case TFP_HLO_DOT:
	case TFP_HLO_SCALED_DOT:
		tfp_hlo_field(m, F_DOT, &text);
		write_dot(w, text);
		write_precision(w, m);
		break;
	case TFP_HLO_RAGGED_DOT: {
		struct tfp_str ragged;
		tfp_hlo_field(m, F_RAGGED_DOT, &ragged);
		tfp_hlo_field(ragged, 1, &text);
		write_dot(w, text);
		attribute_list_if_any(w, "lhs_ragged_dims", ragged, 2);
		attribute_list_if_any(w, "rhs_group_dims", ragged, 3);
		write_precision(w, m);
		break;
	}
	case TFP_HLO_TOPK:
		attribute_number(w, "k", tfp_hlo_number(m, F_K, 0));
		attribute(w, "largest");
		tfp_buf_puts(w->out, tfp_hlo_number(m, F_LARGEST, 0) ? "true" : "false");
		attribute(w, "is_stable");
		tfp_buf_puts(w->out, tfp_hlo_number(m, F_STABLE, 0) ? "true" : "false");
		break;
	default:
		if (tfp_str_starts(op->opcode_name, "batch-norm-"))
			write_batch_norm(w, m);
	}
}

static void write_called(struct writer *w, uint32_t instruction, const char *name, uint32_t k)
{
	if (k >= w->program->instructions[instruction].called_count)
		return;
	attribute(w, name);
	put_name(w, computation_name(w, instruction, k));
}

static void write_called_list(struct writer *w, uint32_t instruction, const char *name,
			      const char *open, const char *close)
{
	const struct tfp_hlo_op *op = &w->program->instructions[instruction];
	if (op->called_count == 0)
		return;
	attribute(w, name);
	tfp_buf_puts(w->out, open);
	for (uint32_t k = 0; !is_full(w) && k < op->called_count; k++) {
		if (k)
			tfp_buf_puts(w->out, ", ");
		put_name(w, computation_name(w, instruction, k));
	}
	tfp_buf_puts(w->out, close);
}

static void write_calls(struct writer *w, uint32_t instruction)
{
	const struct tfp_hlo_program *p = w->program;
	const struct tfp_hlo_op *op = &p->instructions[instruction];
	switch (op->opcode) {
	case TFP_HLO_WHILE:
		/* The body comes first among what it calls. */
		write_called(w, instruction, "condition", 1);
		write_called(w, instruction, "body", 0);
		break;
	case TFP_HLO_SELECT_AND_SCATTER:
		write_called(w, instruction, "select", 0);
		write_called(w, instruction, "scatter", 1);
		break;
	case TFP_HLO_CONDITIONAL:
		if (op->operand_count &&
		    tfp_hlo_shape_of(p, tfp_hlo_operand(p, instruction, 0))->type ==
			    TFP_HLO_TYPE_PRED) {
			write_called(w, instruction, "true_computation", 0);
			write_called(w, instruction, "false_computation", 1);
		} else {
			write_called_list(w, instruction, "branch_computations", "{", "}");
		}
		break;
	case TFP_HLO_CALL:
	case TFP_HLO_MAP:
	case TFP_HLO_REDUCE_WINDOW:
	case TFP_HLO_REDUCE:
	case TFP_HLO_ALL_REDUCE:
	case TFP_HLO_REDUCE_SCATTER:
	case TFP_HLO_ALL_REDUCE_START:
	case TFP_HLO_SCATTER:
	case TFP_HLO_SORT:
	case TFP_HLO_SCAN:
		write_called(w, instruction, "to_apply", 0);
		if (op->opcode == TFP_HLO_CALL)
			attribute_true(w, "is_composite", op->message, F_COMPOSITE);
		break;
	case TFP_HLO_CUSTOM_CALL:
		write_called_list(w, instruction, "called_computations", "{", "}");
		break;
	case TFP_HLO_ASYNC_START:
		if (tfp_hlo_wrapped(p, instruction) == TFP_HLO_NONE)
			write_called(w, instruction, "calls", 0);
		break;
	case TFP_HLO_ASYNC_UPDATE:
	case TFP_HLO_ASYNC_DONE:
		break;
	default:
		write_called_list(w, instruction, "calls", "", "");
	}
}

/* HloSharding::ToString; tuples of shardings lie one deep. */
static void put_sharding(struct writer *w, struct tfp_str m, unsigned depth)
{
	enum { REPLICATED, MAXIMAL, TUPLE, OTHER, MANUAL, UNKNOWN, UNREDUCED };
	static const char *const kinds[] = {"replicated", "maximal", "",         "",
					    "manual",     "unknown", "unreduced"};
	struct tfp_pb_cursor c = tfp_hlo_walk(m);
	struct tfp_str inner;
	struct tfp_hlo_numbers n;
	int64_t type = tfp_hlo_number(m, 1, 0), value;
	tfp_buf_putc(w->out, '{');
	if (type == TUPLE) {
		for (size_t i = 0; depth == 0 && !is_full(w) && tfp_hlo_next(&c, 5, &inner); i++) {
			if (i)
				tfp_buf_puts(w->out, ", ");
			if (i && i % 5 == 0)
				tfp_buf_printf(w->out, "/*index=%zu*/", i);
			put_sharding(w, inner, depth + 1);
		}
	} else if (type == OTHER) {
		tfp_buf_puts(w->out, "devices=[");
		put_numbers(w->out, m, 3);
		tfp_buf_putc(w->out, ']');
		if (has_numbers(m, 9))
			put_iota(w, m, 9, 10);
		else
			put_numbers(w->out, m, 4);
		if (tfp_hlo_number(m, 6, 0))
			tfp_buf_puts(w->out, " last_tile_dim_replicate");
		n = tfp_hlo_numbers(m, 8);
		for (size_t i = 0; tfp_hlo_next_number(&n, &value); i++) {
			tfp_buf_puts(w->out, i ? ", " : " last_tile_dims={");
			if (value >= 0 && value <= UNREDUCED)
				tfp_buf_puts(w->out, kinds[value]);
		}
		if (has_numbers(m, 8))
			tfp_buf_putc(w->out, '}');
	} else if (type >= 0 && type <= UNREDUCED) {
		tfp_buf_puts(w->out, kinds[type]);
		if (type == MAXIMAL) {
			tfp_buf_puts(w->out, " device=");
			put_numbers(w->out, m, 4);
		}
	}
	tfp_buf_putc(w->out, '}');
}

/* Sorted by name, as XLA prints them. Of two with one name the last counts. */
static void write_frontend_attributes(struct writer *w, struct tfp_str attributes)
{
	struct tfp_str last = {NULL, 0};
	bool any = false;
	for (;;) {
		struct tfp_pb_cursor c = tfp_hlo_walk(attributes);
		struct tfp_str entry, key, value, next_key = {NULL, 0}, next_value = {"", 0};
		while (tfp_hlo_next(&c, 1, &entry)) {
			tfp_hlo_field(entry, 1, &key);
			tfp_hlo_field(entry, 2, &value);
			if (last.data && tfp_str_compare(key, last) <= 0)
				continue;
			if (!next_key.data || tfp_str_compare(key, next_key) <= 0) {
				next_key = key;
				next_value = value;
			}
		}
		if (!next_key.data || is_full(w))
			break;
		if (any)
			tfp_buf_putc(w->out, ',');
		else
			attribute(w, "frontend_attributes");
		if (!any)
			tfp_buf_putc(w->out, '{');
		any = true;
		last = next_key;
		put(w->out, next_key);
		tfp_buf_putc(w->out, '=');
		if (is_json_object(next_value)) {
			put(w->out, next_value);
		} else {
			tfp_buf_putc(w->out, '"');
			put_escaped(w->out, next_value);
			tfp_buf_putc(w->out, '"');
		}
	}
	if (any)
		tfp_buf_putc(w->out, '}');
}

void tfp_hlo_write_frontend_attributes(struct tfp_str attributes, struct tfp_buf *out)
{
	struct writer w = {.out = out, .end = SIZE_MAX, .between = ", "};
	write_frontend_attributes(&w, attributes);
}

/* HloInstruction::PrintExtraAttributes */
static void write_attributes(struct writer *w, uint32_t instruction)
{
	const struct tfp_hlo_op *op = &w->program->instructions[instruction];
	struct tfp_str text;
	uint32_t wrapped;
	if (op->opcode == TFP_HLO_ASYNC_START) {
		if (tfp_hlo_field(op->message, F_THREAD, &text) && text.size &&
		    !tfp_str_equal(text, "main")) {
			attribute(w, "async_execution_thread");
			tfp_buf_putc(w->out, '"');
			put(w->out, text);
			tfp_buf_putc(w->out, '"');
		}
		wrapped = tfp_hlo_wrapped(w->program, instruction);
		/* One that wraps another that wraps another is nothing XLA makes. */
		if (wrapped != TFP_HLO_NONE &&
		    w->program->instructions[wrapped].opcode != TFP_HLO_ASYNC_START)
			write_attributes(w, wrapped);
		write_aliasing(w, op->message);
	} else {
		write_own(w, instruction);
	}
	if (!(w->flags & TFP_HLO_TEXT_NO_CALLS))
		write_calls(w, instruction);
	if (tfp_hlo_field(op->message, F_SHARDING, &text)) {
		attribute(w, "sharding");
		put_sharding(w, text, 0);
	}
	if (tfp_hlo_field(op->message, F_FRONTEND_ATTRIBUTES, &text))
		write_frontend_attributes(w, text);
	uint32_t controls = w->flags & TFP_HLO_TEXT_SHORT ? 0 : op->control_count;
	for (uint32_t k = 0; !is_full(w) && k < controls; k++) {
		if (k == 0)
			attribute(w, "control-predecessors");
		tfp_buf_puts(w->out, k ? ", " : "{");
		put_name(
			w,
			w->program->instructions[w->program->controls[op->first_control + k]].name);
	}
	if (controls)
		tfp_buf_putc(w->out, '}');
	if (tfp_hlo_field(op->message, F_ACCURACY, &text) && tfp_hlo_number(text, 1, 0) == 1) {
		attribute(w, "result_accuracy");
		tfp_buf_puts(w->out, "{mode=highest}");
	}
}

static void write_operands(struct writer *w, uint32_t instruction)
{
	const struct tfp_hlo_program *p = w->program;
	const struct tfp_hlo_op *op = &p->instructions[instruction];
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, instruction);
	struct tfp_str literal;
	if (op->opcode == TFP_HLO_PARAMETER) {
		put_number(w->out, op->number);
		return;
	}
	if (op->opcode == TFP_HLO_CONSTANT) {
		bool small = shape->type != TFP_HLO_TYPE_TUPLE && shape->elements <= 10;
		if (tfp_hlo_field(op->message, F_LITERAL, &literal) &&
		    (small || w->flags & TFP_HLO_TEXT_LARGE_CONSTANTS))
			tfp_hlo_write_literal(literal, w->end, w->out);
		else
			tfp_buf_puts(w->out, "{...}");
		return;
	}
	for (uint32_t o = 0; !is_full(w) && o < op->operand_count; o++) {
		uint32_t operand = tfp_hlo_operand(p, instruction, o);
		if (o && o % 5 == 0 && !(w->flags & TFP_HLO_TEXT_SHORT))
			tfp_buf_printf(w->out, ", /*index=%" PRIu32 "*/", o);
		else if (o)
			tfp_buf_puts(w->out, ", ");
		if (w->flags & TFP_HLO_TEXT_OPERAND_SHAPES) {
			put_shape_of(w, operand);
			tfp_buf_putc(w->out, ' ');
		}
		put_name(w, p->instructions[operand].name);
	}
}

static void write_opcode(struct writer *w, uint32_t instruction)
{
	const struct tfp_hlo_op *op = &w->program->instructions[instruction];
	uint32_t wrapped = tfp_hlo_wrapped(w->program, instruction);
	if (wrapped == TFP_HLO_NONE) {
		put(w->out, op->opcode_name);
		return;
	}
	put(w->out, w->program->instructions[wrapped].opcode_name);
	tfp_buf_puts(w->out, op->opcode == TFP_HLO_ASYNC_START    ? "-start"
			     : op->opcode == TFP_HLO_ASYNC_UPDATE ? "-update"
								  : "-done");
}

/* How many of the bytes are `"wait_on_operation_queues":[],`, with blanks or without; 0: none. */
static size_t old_queues(struct tfp_str s)
{
	static const char key[] = "\"wait_on_operation_queues\"", *const rest = ":[],";
	size_t at = sizeof(key) - 1;
	if (!tfp_str_starts(s, key))
		return 0;
	for (size_t i = 0; i < strlen(rest); i++, at++) {
		while (at < s.size && strchr(" \t\n\r\f", s.data[at]) && s.data[at])
			at++;
		if (at == s.size || s.data[at] != rest[i])
			return 0;
	}
	return at;
}

/* XLA takes a field that it has no more out of what it reads, where it is empty. */
static void put_json(struct tfp_buf *out, struct tfp_str s)
{
	while (s.size) {
		size_t skip = s.data[0] == '"' ? old_queues(s) : 0;
		const char *next = memchr(s.data + 1, '"', s.size - 1);
		size_t size = skip ? skip : next ? (size_t)(next - s.data) : s.size;
		if (!skip)
			tfp_buf_add(out, s.data, size);
		s.data += size;
		s.size -= size;
	}
}

void tfp_hlo_write_backend_config(const struct tfp_hlo_op *op, struct tfp_buf *out)
{
	struct tfp_str config;
	if (!tfp_hlo_field(op->message, F_BACKEND_CONFIG, &config) || config.size == 0)
		return;
	tfp_buf_puts(out, ", backend_config=");
	if (is_json_object(config)) {
		put_json(out, config);
	} else {
		tfp_buf_putc(out, '"');
		put_escaped(out, config);
		tfp_buf_putc(out, '"');
	}
}

void tfp_hlo_write_escaped(struct tfp_str text, struct tfp_buf *out)
{
	put_escaped(out, text);
}

void tfp_hlo_write_op(const struct tfp_hlo_program *program, uint32_t instruction, unsigned flags,
		      size_t most, struct tfp_buf *out)
{
	const struct tfp_hlo_op *op = &program->instructions[instruction];
	struct writer w = {program, out, out->size + most, flags, ", "};
	put_name(&w, op->name);
	tfp_buf_puts(out, " = ");
	put_shape_of(&w, instruction);
	tfp_buf_putc(out, ' ');
	write_opcode(&w, instruction);
	tfp_buf_putc(out, '(');
	write_operands(&w, instruction);
	tfp_buf_putc(out, ')');
	write_attributes(&w, instruction);
	if (flags & TFP_HLO_TEXT_BACKEND_CONFIG)
		tfp_hlo_write_backend_config(op, out);
	if (out->size > w.end && !tfp_buf_failed(out))
		out->size = w.end;
}

void tfp_hlo_write_attributes(const struct tfp_hlo_program *program, uint32_t instruction,
			      size_t most, struct tfp_buf *out)
{
	struct writer w = {program, out, out->size + most, TFP_HLO_TEXT_NO_CALLS, "\n"};
	write_attributes(&w, instruction);
	if (out->size > w.end && !tfp_buf_failed(out))
		out->size = w.end;
}

/* ---- metadata ---- */

static void put_quoted(struct tfp_buf *out, size_t start, const char *name, struct tfp_str text)
{
	if (text.size == 0)
		return;
	tfp_buf_printf(out, "%s%s=\"", out->size > start ? " " : "", name);
	put_escaped(out, text);
	tfp_buf_putc(out, '"');
}

static void put_nonzero(struct tfp_buf *out, size_t start, const char *name, int64_t value)
{
	if (value)
		tfp_buf_printf(out, "%s%s=%" PRId64, out->size > start ? " " : "", name, value);
}

/* xla::OpMetadataToString */
void tfp_hlo_write_metadata(const struct tfp_hlo_op *op, uint32_t frame, struct tfp_buf *out)
{
	struct tfp_hlo_metadata m = tfp_hlo_metadata(op);
	if (!m.op_type.size && !m.op_name.size && !m.source_file.size && !m.scheduling_name.size &&
	    frame == 0)
		return;
	tfp_buf_puts(out, ", metadata={");
	size_t start = out->size;
	put_quoted(out, start, "op_type", m.op_type);
	put_quoted(out, start, "op_name", m.op_name);
	put_quoted(out, start, "source_file", m.source_file);
	put_nonzero(out, start, "source_line", m.source_line);
	put_nonzero(out, start, "source_end_line", m.source_end_line);
	put_nonzero(out, start, "source_column", m.source_column);
	put_nonzero(out, start, "source_end_column", m.source_end_column);
	put_quoted(out, start, "deduplicated_name", m.deduplicated_name);
	put_quoted(out, start, "scheduling_name", m.scheduling_name);
	put_nonzero(out, start, "stack_frame_id", frame);
	tfp_buf_putc(out, '}');
}
