/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_fields.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* xla_data.proto: LiteralProto has a field for the values of each type. Types below a byte have
 * a byte for each value, which is in its low bits. */
static const struct {
	uint8_t field, width; /* bytes of a value in a text of bytes; 0: numbers one by one */
} places[TFP_HLO_TYPE_COUNT] = {
	[TFP_HLO_TYPE_PRED] = {2, 0},        [TFP_HLO_TYPE_S8] = {15, 1},
	[TFP_HLO_TYPE_S16] = {17, 2},        [TFP_HLO_TYPE_S32] = {4, 0},
	[TFP_HLO_TYPE_S64] = {5, 0},         [TFP_HLO_TYPE_U8] = {3, 1},
	[TFP_HLO_TYPE_U16] = {16, 2},        [TFP_HLO_TYPE_U32] = {6, 0},
	[TFP_HLO_TYPE_U64] = {7, 0},         [TFP_HLO_TYPE_F16] = {11, 2},
	[TFP_HLO_TYPE_F32] = {8, 4},         [TFP_HLO_TYPE_F64] = {9, 8},
	[TFP_HLO_TYPE_C64] = {12, 8},        [TFP_HLO_TYPE_BF16] = {13, 2},
	[TFP_HLO_TYPE_C128] = {18, 16},      [TFP_HLO_TYPE_F8E5M2] = {19, 1},
	[TFP_HLO_TYPE_F8E4M3FN] = {20, 1},   [TFP_HLO_TYPE_S4] = {21, 1},
	[TFP_HLO_TYPE_U4] = {22, 1},         [TFP_HLO_TYPE_F8E4M3B11FNUZ] = {23, 1},
	[TFP_HLO_TYPE_F8E5M2FNUZ] = {24, 1}, [TFP_HLO_TYPE_F8E4M3FNUZ] = {25, 1},
	[TFP_HLO_TYPE_S2] = {26, 1},         [TFP_HLO_TYPE_U2] = {27, 1},
	[TFP_HLO_TYPE_F8E4M3] = {28, 1},     [TFP_HLO_TYPE_F8E3M4] = {29, 1},
	[TFP_HLO_TYPE_S1] = {30, 1},         [TFP_HLO_TYPE_U1] = {31, 1},
	[TFP_HLO_TYPE_F4E2M1FN] = {32, 1},   [TFP_HLO_TYPE_F8E8M0FNU] = {33, 1},
};

/* What bits of a float of at most 16 bits stand for beside numbers. */
enum specials {
	IEEE,    /* the largest exponent: infinities, and not a number */
	FINITE,  /* all bits but the sign set: not a number; no infinities */
	ONE_NAN, /* the sign alone: not a number; neither infinities nor a negative zero */
	ALL,     /* every one is a number */
};

struct small_float {
	uint8_t exponent_bits, mantissa_bits, bias, digits;
	uint8_t specials;
};

/* ml_dtypes; digits are those that tell all values apart (max_digits10). */
static const struct small_float small_floats[TFP_HLO_TYPE_COUNT] = {
	[TFP_HLO_TYPE_F16] = {5, 10, 15, 5, IEEE},
	[TFP_HLO_TYPE_BF16] = {8, 7, 127, 4, IEEE},
	[TFP_HLO_TYPE_F8E5M2] = {5, 2, 15, 2, IEEE},
	[TFP_HLO_TYPE_F8E4M3] = {4, 3, 7, 3, IEEE},
	[TFP_HLO_TYPE_F8E3M4] = {3, 4, 3, 3, IEEE},
	[TFP_HLO_TYPE_F8E4M3FN] = {4, 3, 7, 3, FINITE},
	[TFP_HLO_TYPE_F8E4M3B11FNUZ] = {4, 3, 11, 3, ONE_NAN},
	[TFP_HLO_TYPE_F8E5M2FNUZ] = {5, 2, 16, 2, ONE_NAN},
	[TFP_HLO_TYPE_F8E4M3FNUZ] = {4, 3, 8, 3, ONE_NAN},
	[TFP_HLO_TYPE_F4E2M1FN] = {2, 1, 1, 2, ALL},
};

struct literal {
	struct tfp_buf *out;
	size_t end;
	uint8_t type;
	size_t rank;
	int64_t dimensions[TFP_HLO_RANK_MAX];
	int64_t strides[TFP_HLO_RANK_MAX]; /* in values */
	struct tfp_hlo_numbers numbers;
	bool in_order;         /* values come as they are written */
	int64_t *list;         /* of numbers that do not; owned */
	size_t count;          /* of list */
	const uint8_t *values; /* as bytes */
	size_t size;
	bool cut; /* values are missing */
};

static void put_float(struct tfp_buf *out, double value, int first, int last, bool is_single)
{
	char text[280]; /* as many digits as a byte counts */
	/* The few digits that read back the same, else all that can be needed. */
	snprintf(text, sizeof(text), "%.*g", first, value);
	bool same = is_single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
	if (first != last && !same)
		snprintf(text, sizeof(text), "%.*g", last, value);
	tfp_buf_puts(out, text);
}

static double small_value(const struct small_float *f, unsigned bits, bool *is_nan)
{
	unsigned exponent = bits >> f->mantissa_bits & ((1u << f->exponent_bits) - 1);
	unsigned mantissa = bits & ((1u << f->mantissa_bits) - 1);
	unsigned sign = bits >> (f->exponent_bits + f->mantissa_bits) & 1;
	unsigned magnitude = bits & ((1u << (f->exponent_bits + f->mantissa_bits)) - 1);
	unsigned most = (1u << f->exponent_bits) - 1;
	int shift = f->bias + f->mantissa_bits;
	double value;
	*is_nan = (f->specials == IEEE && exponent == most && mantissa) ||
		  (f->specials == FINITE &&
		   magnitude == (1u << (f->exponent_bits + f->mantissa_bits)) - 1) ||
		  (f->specials == ONE_NAN && sign && magnitude == 0);
	if (f->specials == IEEE && exponent == most)
		value = (double)INFINITY;
	else if (exponent)
		value = ldexp((1u << f->mantissa_bits) + mantissa, (int)exponent - shift);
	else
		value = ldexp(mantissa, 1 - shift);
	return sign ? -value : value;
}

/* What is no number is printed with its payload, unless that is the usual one. */
static void put_nan(struct tfp_buf *out, bool is_negative, uint64_t payload, unsigned bits)
{
	tfp_buf_puts(out, is_negative ? "-nan" : "nan");
	if (payload != UINT64_C(1) << (bits - 1))
		tfp_buf_printf(out, "(0x%" PRIx64 ")", payload);
}

static void put_small(struct tfp_buf *out, uint8_t type, unsigned bits)
{
	const struct small_float *f = &small_floats[type];
	bool is_nan, sign = bits >> (f->exponent_bits + f->mantissa_bits) & 1;
	double value = small_value(f, bits, &is_nan);
	if (!is_nan)
		put_float(out, value, f->digits, f->digits, false);
	else if (f->specials == IEEE)
		put_nan(out, sign, bits & ((1u << f->mantissa_bits) - 1), f->mantissa_bits);
	else /* the only one of its kind; its sign is the bit's or, where zero has none, up to
		the conversion */
		tfp_buf_puts(out, f->specials == FINITE ? (sign ? "-nan" : "nan")
				  : f->bias == 11       ? "-nan"
							: "nan");
}

/* Of fewer than eight bits. */
static void put_narrow(struct tfp_buf *out, uint8_t byte, unsigned bits, bool is_signed)
{
	int value = byte & ((1 << bits) - 1);
	if (is_signed && value >> (bits - 1))
		value -= 1 << bits;
	tfp_buf_printf(out, "%d", value);
}

static void put_single(struct tfp_buf *out, const uint8_t *at)
{
	float value;
	uint32_t bits;
	memcpy(&value, at, sizeof(value));
	memcpy(&bits, at, sizeof(bits));
	if (isnan(value))
		put_nan(out, bits >> 31, bits & 0x7fffff, 23);
	else
		put_float(out, (double)value, 6, 9, true);
}

static void put_double(struct tfp_buf *out, const uint8_t *at)
{
	double value;
	uint64_t bits;
	memcpy(&value, at, sizeof(value));
	memcpy(&bits, at, sizeof(bits));
	if (isnan(value))
		put_nan(out, bits >> 63, bits & ((UINT64_C(1) << 52) - 1), 52);
	else
		put_float(out, value, 15, 17, false);
}

/* A value of a type that lies as bytes, the little end first. */
static void put_bytes(struct literal *l, const uint8_t *at)
{
	uint16_t bits = at[0];
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
	case TFP_HLO_TYPE_S1:
	case TFP_HLO_TYPE_S2:
	case TFP_HLO_TYPE_S4:
		put_narrow(l->out, at[0], tfp_hlo_type_bits(l->type), true);
		break;
	case TFP_HLO_TYPE_U1:
	case TFP_HLO_TYPE_U2:
	case TFP_HLO_TYPE_U4:
		put_narrow(l->out, at[0], tfp_hlo_type_bits(l->type), false);
		break;
	case TFP_HLO_TYPE_F8E8M0FNU: /* an exponent alone */
		if (at[0] == UINT8_MAX)
			tfp_buf_puts(l->out, "nan");
		else
			put_float(l->out, ldexp(1, at[0] - 127), 2, 2, false);
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
		put_small(l->out, l->type, bits);
	}
}

/* Numbers have no width: where they do not come in their order, all are read first. false
 * without memory. */
static bool read_numbers(struct literal *l)
{
	size_t room = 0;
	int64_t number;
	while (tfp_hlo_next_number(&l->numbers, &number)) {
		if (!TFP_GROW(l->list, l->count, room))
			return false;
		l->list[l->count++] = number;
	}
	return true;
}

static bool number_at(struct literal *l, int64_t place, int64_t *number)
{
	if (l->in_order)
		return tfp_hlo_next_number(&l->numbers, number);
	if ((uint64_t)place >= l->count)
		return false;
	*number = l->list[place];
	return true;
}

static void put_value(struct literal *l, int64_t place)
{
	size_t width = places[l->type].width;
	int64_t number;
	if (width) {
		if ((uint64_t)place >= l->size / width)
			l->cut = true;
		else
			put_bytes(l, l->values + (size_t)place * width);
		return;
	}
	if (!number_at(l, place, &number))
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
static void put_part(struct literal *l, size_t depth, int64_t index, int64_t place)
{
	if (depth == l->rank) {
		put_value(l, place);
		return;
	}
	open_brace(l, depth, index);
	for (int64_t i = 0; i < l->dimensions[depth]; i++) {
		if (l->cut || l->out->size >= l->end || tfp_buf_failed(l->out))
			return;
		if (i > 0)
			tfp_buf_puts(l->out, ", ");
		put_part(l, depth + 1, i, place + i * l->strides[depth]);
	}
	close_brace(l, depth);
}

/* Values lie in the order of the layout. false: there are more than can be counted, or the
 * layout is none. */
static bool set_strides(struct literal *l, struct tfp_str shape)
{
	struct tfp_str layout;
	struct tfp_hlo_numbers order;
	int64_t dimension, stride = 1;
	size_t count = 0;
	l->in_order = true;
	bool has_layout = tfp_hlo_field(shape, 5, &layout);
	order = tfp_hlo_numbers(layout, 1);
	for (; count < l->rank; count++) {
		if (!has_layout)
			dimension = (int64_t)(l->rank - count) - 1;
		else if (!tfp_hlo_next_number(&order, &dimension))
			break;
		if (dimension < 0 || dimension >= (int64_t)l->rank || l->strides[dimension])
			return false;
		l->strides[dimension] = stride;
		l->in_order &= dimension == (int64_t)(l->rank - count) - 1;
		if (l->dimensions[dimension] == 0)
			continue;
		if (stride > INT64_MAX / l->dimensions[dimension])
			return false;
		stride *= l->dimensions[dimension];
	}
	return count == l->rank;
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
	if (!set_strides(l, shape))
		return false;
	l->numbers = tfp_hlo_numbers(message, places[type].field);
	tfp_hlo_field(message, places[type].field, &values);
	l->values = (const uint8_t *)values.data;
	l->size = values.size;
	return true;
}

void tfp_hlo_write_literal(struct tfp_str message, size_t end, struct tfp_buf *out)
{
	struct literal l = {.out = out, .end = end};
	size_t before = out->size;
	if (!begin(&l, message))
		l.cut = true;
	else if (l.in_order || places[l.type].width || read_numbers(&l))
		put_part(&l, 0, 0, 0);
	else
		out->failed = true;
	tfp_free(l.list);
	if (l.cut && !tfp_buf_failed(out)) {
		out->size = before;
		tfp_buf_puts(out, "{...}");
	}
}
