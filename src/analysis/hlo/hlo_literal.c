/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_fields.h"
#include "analysis/hlo/hlo_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* xla_data.proto: LiteralProto has a field for the values of each type. */
static const struct {
	uint8_t field, width; /* bytes of a value in a text of bytes; 0: numbers one by one */
} places[TFP_HLO_TYPE_COUNT] = {
	[TFP_HLO_TYPE_PRED] = {2, 0}, [TFP_HLO_TYPE_S8] = {15, 1},   [TFP_HLO_TYPE_S16] = {17, 2},
	[TFP_HLO_TYPE_S32] = {4, 0},  [TFP_HLO_TYPE_S64] = {5, 0},   [TFP_HLO_TYPE_U8] = {3, 1},
	[TFP_HLO_TYPE_U16] = {16, 2}, [TFP_HLO_TYPE_U32] = {6, 0},   [TFP_HLO_TYPE_U64] = {7, 0},
	[TFP_HLO_TYPE_F16] = {11, 2}, [TFP_HLO_TYPE_F32] = {8, 4},   [TFP_HLO_TYPE_F64] = {9, 8},
	[TFP_HLO_TYPE_C64] = {12, 8}, [TFP_HLO_TYPE_BF16] = {13, 2}, [TFP_HLO_TYPE_C128] = {18, 16},
};

struct literal {
	struct tfp_buf *out;
	size_t end;
	uint8_t type;
	size_t rank;
	int64_t dimensions[TFP_HLO_RANK_MAX];
	struct tfp_hlo_numbers numbers;
	const uint8_t *at, *stop; /* values as bytes */
	bool cut;                 /* values are missing */
};

static void put_float(struct tfp_buf *out, double value, int first, int last, bool is_single)
{
	char text[40];
	if (isnan(value)) {
		tfp_buf_puts(out, signbit(value) ? "-nan" : "nan");
		return;
	}
	/* The few digits that read back the same, else all that can be needed. */
	snprintf(text, sizeof(text), "%.*g", first, value);
	bool same = is_single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
	if (first != last && !same)
		snprintf(text, sizeof(text), "%.*g", last, value);
	tfp_buf_puts(out, text);
}

static double half_of(uint16_t bits)
{
	int exponent = bits >> 10 & 0x1f;
	double fraction = bits & 0x3ff, value;
	if (exponent == 0x1f)
		value = fraction > 0 ? (double)NAN : (double)INFINITY;
	else
		value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
	return bits >> 15 ? -value : value;
}

static void put_single(struct tfp_buf *out, const uint8_t *at)
{
	float value;
	memcpy(&value, at, sizeof(value));
	put_float(out, (double)value, 6, 9, true);
}

static void put_double(struct tfp_buf *out, const uint8_t *at)
{
	double value;
	memcpy(&value, at, sizeof(value));
	put_float(out, value, 15, 17, false);
}

/* A value of a type that lies as bytes, the little end first. */
static void put_bytes(struct literal *l, const uint8_t *at)
{
	uint16_t bits = 0;
	uint32_t single;
	float value;
	if (places[l->type].width == 2)
		bits = (uint16_t)(at[0] | at[1] << 8);
	switch (l->type) {
	case TFP_HLO_TYPE_S8:
		tfp_buf_printf(l->out, "%d", (int8_t)at[0]);
		break;
	case TFP_HLO_TYPE_U8:
		tfp_buf_printf(l->out, "%d", at[0]);
		break;
	case TFP_HLO_TYPE_S16:
		tfp_buf_printf(l->out, "%d", (int16_t)bits);
		break;
	case TFP_HLO_TYPE_U16:
		tfp_buf_printf(l->out, "%d", bits);
		break;
	case TFP_HLO_TYPE_F16:
		put_float(l->out, half_of(bits), 5, 5, false);
		break;
	case TFP_HLO_TYPE_BF16:
		single = (uint32_t)bits << 16;
		memcpy(&value, &single, sizeof(value));
		put_float(l->out, (double)value, 4, 4, false);
		break;
	case TFP_HLO_TYPE_F32:
		put_single(l->out, at);
		break;
	case TFP_HLO_TYPE_F64:
		put_double(l->out, at);
		break;
	case TFP_HLO_TYPE_C64:
	case TFP_HLO_TYPE_C128:
		tfp_buf_putc(l->out, '(');
		(l->type == TFP_HLO_TYPE_C64 ? put_single : put_double)(l->out, at);
		tfp_buf_puts(l->out, ", ");
		(l->type == TFP_HLO_TYPE_C64 ? put_single
					     : put_double)(l->out, at + places[l->type].width / 2);
		tfp_buf_putc(l->out, ')');
		break;
	default:
		break;
	}
}

static void put_value(struct literal *l)
{
	size_t width = places[l->type].width;
	int64_t number;
	if (width) {
		if ((size_t)(l->stop - l->at) < width) {
			l->cut = true;
			return;
		}
		put_bytes(l, l->at);
		l->at += width;
		return;
	}
	if (!tfp_hlo_next_number(&l->numbers, &number))
		l->cut = true;
	else if (l->type == TFP_HLO_TYPE_PRED)
		tfp_buf_puts(l->out,
			     l->rank == 0 ? (number ? "true" : "false") : (number ? "1" : "0"));
	else if (l->type == TFP_HLO_TYPE_U32 || l->type == TFP_HLO_TYPE_U64)
		tfp_buf_printf(l->out, "%" PRIu64, (uint64_t)number);
	else
		tfp_buf_printf(l->out, "%" PRId64, number);
}

static void open_brace(struct literal *l, size_t depth, int64_t index)
{
	bool innermost = depth + 1 == l->rank;
	tfp_buf_putc(l->out, '{');
	if (l->rank == 1)
		return;
	if (innermost) {
		if (l->dimensions[depth] > 1)
			tfp_buf_putc(l->out, ' ');
		return;
	}
	if (l->rank > 3 && depth > 0) {
		tfp_buf_printf(l->out, " /*i%zu=%" PRId64 "*/", depth - 1, index);
		if (l->dimensions[depth] <= 0)
			return;
	}
	tfp_buf_putc(l->out, ' ');
}

static void close_brace(struct literal *l, size_t depth)
{
	if (l->rank > 1 && (depth + 1 < l->rank || l->dimensions[depth] > 1))
		tfp_buf_putc(l->out, ' ');
	tfp_buf_putc(l->out, '}');
}

/* Recursion goes as deep as an array has dimensions, which is bounded. */
static void put_part(struct literal *l, size_t depth, int64_t index)
{
	if (depth == l->rank) {
		put_value(l);
		return;
	}
	open_brace(l, depth, index);
	for (int64_t i = 0; i < l->dimensions[depth]; i++) {
		if (l->cut || l->out->size >= l->end || tfp_buf_failed(l->out))
			return;
		if (i > 0)
			tfp_buf_puts(l->out, ", ");
		put_part(l, depth + 1, i);
	}
	close_brace(l, depth);
}

/* Values lie in the order of the layout; any but the usual one is for large arrays only. */
static bool is_row_major(const struct literal *l, struct tfp_str shape)
{
	struct tfp_str layout;
	struct tfp_hlo_numbers order;
	int64_t dimension, next = (int64_t)l->rank;
	tfp_hlo_field(shape, 5, &layout);
	order = tfp_hlo_numbers(layout, 1);
	while (tfp_hlo_next_number(&order, &dimension)) {
		if (dimension != --next)
			return false;
	}
	return true;
}

/* Values as bytes come as such (bytes fields) or packed (fixed32, fixed64): the same bytes. */
static bool begin(struct literal *l, struct tfp_str message)
{
	struct tfp_str shape, values;
	struct tfp_hlo_numbers sizes;
	if (!tfp_hlo_field(message, 1, &shape))
		return false;
	int64_t type = tfp_hlo_number(shape, 2, 0);
	if (type <= 0 || type >= TFP_HLO_TYPE_COUNT || places[type].field == 0)
		return false;
	l->type = (uint8_t)type;
	sizes = tfp_hlo_numbers(shape, 3);
	for (int64_t size; tfp_hlo_next_number(&sizes, &size);) {
		if (size < 0 || l->rank == TFP_HLO_RANK_MAX)
			return false;
		l->dimensions[l->rank++] = size;
	}
	if (!is_row_major(l, shape))
		return false;
	l->numbers = tfp_hlo_numbers(message, places[type].field);
	tfp_hlo_field(message, places[type].field, &values);
	l->at = (const uint8_t *)values.data;
	l->stop = l->at + values.size;
	return true;
}

void tfp_hlo_write_literal(struct tfp_str message, size_t end, struct tfp_buf *out)
{
	struct literal l = {.out = out, .end = end};
	size_t before = out->size;
	if (begin(&l, message))
		put_part(&l, 0, 0);
	else
		l.cut = true;
	if (l.cut && !tfp_buf_failed(out)) {
		out->size = before;
		tfp_buf_puts(out, "{...}");
	}
}
