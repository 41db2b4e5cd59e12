/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_cost.h"

#include "analysis/hlo/hlo_cost_parts.h"
#include "base/alloc.h"

#include <string.h>

/* ---- rates ---- */

/* Clock cycles of an elementwise operation on one element: XLA's profile of the GPU sm_86, which
 * it takes for every GPU unless told otherwise (hlo_op_profiles_data.h). */
static const struct rate {
	uint8_t opcode, type;
	uint16_t cycles;
} rates[] = {
	{TFP_HLO_ADD, TFP_HLO_TYPE_F64, 97},
	{TFP_HLO_ADD, TFP_HLO_TYPE_C128, 97},
	{TFP_HLO_SUBTRACT, TFP_HLO_TYPE_F64, 97},
	{TFP_HLO_SUBTRACT, TFP_HLO_TYPE_C128, 97},
	{TFP_HLO_MULTIPLY, TFP_HLO_TYPE_F64, 97},
	{TFP_HLO_MULTIPLY, TFP_HLO_TYPE_C128, 270},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_S8, 370},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_S16, 367},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_S32, 306},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_S64, 918},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_U8, 306},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_U16, 302},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_U32, 115},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_U64, 838},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_F64, 2016},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_C64, 687},
	{TFP_HLO_DIVIDE, TFP_HLO_TYPE_C128, 7941},
	{TFP_HLO_POWER, TFP_HLO_TYPE_S8, 392},
	{TFP_HLO_POWER, TFP_HLO_TYPE_S16, 396},
	{TFP_HLO_POWER, TFP_HLO_TYPE_S64, 601},
	{TFP_HLO_POWER, TFP_HLO_TYPE_U8, 388},
	{TFP_HLO_POWER, TFP_HLO_TYPE_U16, 399},
	{TFP_HLO_POWER, TFP_HLO_TYPE_U64, 604},
	{TFP_HLO_POWER, TFP_HLO_TYPE_F16, 975},
	{TFP_HLO_POWER, TFP_HLO_TYPE_F32, 925},
	{TFP_HLO_POWER, TFP_HLO_TYPE_F64, 5511},
	{TFP_HLO_POWER, TFP_HLO_TYPE_C64, 3351},
	{TFP_HLO_POWER, TFP_HLO_TYPE_C128, 18205},
	{TFP_HLO_EXPONENTIAL, TFP_HLO_TYPE_F16, 108},
	{TFP_HLO_EXPONENTIAL, TFP_HLO_TYPE_F32, 86},
	{TFP_HLO_EXPONENTIAL, TFP_HLO_TYPE_F64, 1652},
	{TFP_HLO_EXPONENTIAL, TFP_HLO_TYPE_C64, 1360},
	{TFP_HLO_EXPONENTIAL, TFP_HLO_TYPE_C128, 4028},
	{TFP_HLO_EXPONENTIAL_MINUS_ONE, TFP_HLO_TYPE_F16, 396},
	{TFP_HLO_EXPONENTIAL_MINUS_ONE, TFP_HLO_TYPE_F32, 381},
	{TFP_HLO_EXPONENTIAL_MINUS_ONE, TFP_HLO_TYPE_F64, 1900},
	{TFP_HLO_EXPONENTIAL_MINUS_ONE, TFP_HLO_TYPE_C64, 1400},
	{TFP_HLO_EXPONENTIAL_MINUS_ONE, TFP_HLO_TYPE_C128, 4161},
	{TFP_HLO_LOG, TFP_HLO_TYPE_F16, 266},
	{TFP_HLO_LOG, TFP_HLO_TYPE_F32, 244},
	{TFP_HLO_LOG, TFP_HLO_TYPE_F64, 608},
	{TFP_HLO_LOG, TFP_HLO_TYPE_C64, 950},
	{TFP_HLO_LOG, TFP_HLO_TYPE_C128, 7599},
	{TFP_HLO_LOG_PLUS_ONE, TFP_HLO_TYPE_F16, 284},
	{TFP_HLO_LOG_PLUS_ONE, TFP_HLO_TYPE_F32, 262},
	{TFP_HLO_LOG_PLUS_ONE, TFP_HLO_TYPE_F64, 2073},
	{TFP_HLO_LOG_PLUS_ONE, TFP_HLO_TYPE_C64, 842},
	{TFP_HLO_LOG_PLUS_ONE, TFP_HLO_TYPE_C128, 6962},
	{TFP_HLO_LOGISTIC, TFP_HLO_TYPE_F16, 226},
	{TFP_HLO_LOGISTIC, TFP_HLO_TYPE_F32, 176},
	{TFP_HLO_LOGISTIC, TFP_HLO_TYPE_F64, 2412},
	{TFP_HLO_RSQRT, TFP_HLO_TYPE_F16, 97},
	{TFP_HLO_RSQRT, TFP_HLO_TYPE_F32, 75},
	{TFP_HLO_RSQRT, TFP_HLO_TYPE_F64, 698},
	{TFP_HLO_RSQRT, TFP_HLO_TYPE_C64, 2383},
	{TFP_HLO_RSQRT, TFP_HLO_TYPE_C128, 11318},
	{TFP_HLO_SQRT, TFP_HLO_TYPE_F16, 97},
	{TFP_HLO_SQRT, TFP_HLO_TYPE_F32, 75},
	{TFP_HLO_SQRT, TFP_HLO_TYPE_F64, 986},
	{TFP_HLO_SQRT, TFP_HLO_TYPE_C64, 3193},
	{TFP_HLO_SQRT, TFP_HLO_TYPE_C128, 15606},
	{TFP_HLO_CBRT, TFP_HLO_TYPE_F16, 925},
	{TFP_HLO_CBRT, TFP_HLO_TYPE_F32, 867},
	{TFP_HLO_CBRT, TFP_HLO_TYPE_F64, 6339},
	{TFP_HLO_TANH, TFP_HLO_TYPE_F16, 212},
	{TFP_HLO_TANH, TFP_HLO_TYPE_F32, 190},
	{TFP_HLO_TANH, TFP_HLO_TYPE_F64, 1609},
	{TFP_HLO_TANH, TFP_HLO_TYPE_C128, 9939},
	{TFP_HLO_SINE, TFP_HLO_TYPE_F32, 662},
	{TFP_HLO_SINE, TFP_HLO_TYPE_F64, 1789},
	{TFP_HLO_SINE, TFP_HLO_TYPE_C128, 5878},
	{TFP_HLO_COSINE, TFP_HLO_TYPE_F16, 691},
	{TFP_HLO_COSINE, TFP_HLO_TYPE_F32, 662},
	{TFP_HLO_COSINE, TFP_HLO_TYPE_F64, 1717},
	{TFP_HLO_COSINE, TFP_HLO_TYPE_C128, 6613},
	{TFP_HLO_ATAN2, TFP_HLO_TYPE_F16, 482},
	{TFP_HLO_ATAN2, TFP_HLO_TYPE_F32, 486},
	{TFP_HLO_ATAN2, TFP_HLO_TYPE_F64, 3747},
	{TFP_HLO_ATAN2, TFP_HLO_TYPE_C64, 5353},
	{TFP_HLO_ATAN2, TFP_HLO_TYPE_C128, 39027},
};

#define CYCLES_OF_OTHERS 3

static int64_t cycles(uint8_t opcode, uint8_t type)
{
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		if (rates[i].opcode == opcode && rates[i].type == type)
			return rates[i].cycles;
	}
	return CYCLES_OF_OTHERS;
}

static bool is_transcendental(uint8_t opcode)
{
	switch (opcode) {
	case TFP_HLO_ATAN2:
	case TFP_HLO_CBRT:
	case TFP_HLO_COSINE:
	case TFP_HLO_ERF:
	case TFP_HLO_EXPONENTIAL:
	case TFP_HLO_EXPONENTIAL_MINUS_ONE:
	case TFP_HLO_LOG:
	case TFP_HLO_LOG_PLUS_ONE:
	case TFP_HLO_LOGISTIC:
	case TFP_HLO_POWER:
	case TFP_HLO_RSQRT:
	case TFP_HLO_SINE:
	case TFP_HLO_SQRT:
	case TFP_HLO_TAN:
	case TFP_HLO_TANH:
		return true;
	default:
		return false;
	}
}

/* ---- shapes ---- */

const struct tfp_hlo_shape *tfp_hlo_real_output(const struct tfp_hlo_program *program,
						const struct tfp_hlo_shape *shape)
{
	return shape->type == TFP_HLO_TYPE_TUPLE && shape->part_count > 0
		       ? &program->shapes.list[shape->first_part]
		       : shape;
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t product;
	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

bool tfp_hlo_is_elementwise(const struct tfp_hlo_program *p, uint32_t i)
{
	const struct tfp_hlo_op *op = &p->instructions[i];
	if (op->opcode == TFP_HLO_BITCAST_CONVERT && op->operand_count > 0)
		return tfp_hlo_type_bits(tfp_hlo_shape_of(p, i)->type) ==
		       tfp_hlo_type_bits(tfp_hlo_operand_shape(p, i, 0)->type);
	if (op->opcode == TFP_HLO_FUSION && op->called_count > 0) {
		/* Not looked into again: fusions in fusions are few, and theirs never nest. */
		const struct tfp_hlo_computation *in = &p->computations[tfp_hlo_called(p, i, 0)];
		for (uint32_t k = in->first; k < in->first + in->count; k++) {
			uint8_t opcode = p->instructions[k].opcode;
			if (opcode != TFP_HLO_PARAMETER && !tfp_hlo_opcode_elementwise(opcode))
				return false;
		}
		return true;
	}
	return op->opcode == TFP_HLO_MAP || tfp_hlo_opcode_elementwise(op->opcode);
}

/* ---- what an opcode must have ---- */

/* Operands and computations without which its rule makes no sense: XLA refuses such modules. */
static const struct need {
	uint8_t opcode, operands, called;
} needs[] = {
	{TFP_HLO_ALL_REDUCE, 0, 0},    {TFP_HLO_ASYNC_START, 0, 1},
	{TFP_HLO_CALL, 0, 1},          {TFP_HLO_CHOLESKY, 1, 0},
	{TFP_HLO_CONDITIONAL, 1, 1},   {TFP_HLO_CONVOLUTION, 2, 0},
	{TFP_HLO_CONCATENATE, 1, 0},   {TFP_HLO_DOT, 2, 0},
	{TFP_HLO_DYNAMIC_SLICE, 2, 0}, {TFP_HLO_DYNAMIC_UPDATE_SLICE, 3, 0},
	{TFP_HLO_FFT, 1, 0},           {TFP_HLO_FUSION, 0, 1},
	{TFP_HLO_GATHER, 2, 0},        {TFP_HLO_GET_TUPLE_ELEMENT, 1, 0},
	{TFP_HLO_MAP, 1, 1},           {TFP_HLO_RAGGED_DOT, 2, 0},
	{TFP_HLO_REDUCE, 2, 1},        {TFP_HLO_REDUCE_WINDOW, 2, 1},
	{TFP_HLO_SCALED_DOT, 2, 0},    {TFP_HLO_SCAN, 1, 1},
	{TFP_HLO_SCATTER, 3, 1},       {TFP_HLO_SELECT_AND_SCATTER, 3, 2},
	{TFP_HLO_SLICE, 1, 0},         {TFP_HLO_SORT, 1, 0},
	{TFP_HLO_TRANSPOSE, 1, 0},     {TFP_HLO_TRIANGULAR_SOLVE, 2, 0},
	{TFP_HLO_WHILE, 1, 2},
};

static enum tfp_status check_needs(const struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_op *op = &c->program->instructions[i];
	for (size_t k = 0; k < sizeof(needs) / sizeof(needs[0]); k++) {
		if (needs[k].opcode == op->opcode &&
		    (op->operand_count < needs[k].operands || op->called_count < needs[k].called))
			return tfp_fail(
				c->err, TFP_BAD_INPUT, "%.*s lacks operands or computations (%.*s)",
				(int)op->opcode_name.size, op->opcode_name.data,
				op->name.size > 200 ? 200 : (int)op->name.size, op->name.data);
	}
	return TFP_OK;
}

/* ---- rules by opcode ---- */

static float *operand_bytes(struct tfp_hlo_costing *c, uint32_t i, uint32_t number)
{
	return &c->operand_bytes[c->program->instructions[i].first_operand + number];
}

/* What every rule begins with: all operands are read and all results written. */
static void set_defaults(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i);
	float bytes = (float)out->leaf_bytes;
	for (uint32_t o = 0; o < op->operand_count; o++) {
		int64_t size = tfp_hlo_operand_shape(p, i, o)->bytes;
		*operand_bytes(c, i, o) = (float)size;
		bytes += (float)size;
	}
	c->props[i] = (struct tfp_hlo_props){
		.bytes = bytes,
		.gpu_bytes = bytes,
		.gpu_output = (float)out->leaf_bytes,
	};
}

static void set_bytes(struct tfp_hlo_costing *c, uint32_t i, float bytes, float output)
{
	c->props[i].bytes = c->props[i].gpu_bytes = bytes;
	c->props[i].gpu_output = output;
}

/* Nothing is touched. */
static void set_free(struct tfp_hlo_costing *c, uint32_t i)
{
	set_bytes(c, i, 0, 0);
	for (uint32_t o = 0; o < c->program->instructions[i].operand_count; o++)
		*operand_bytes(c, i, o) = 0;
}

static void set_flops(struct tfp_hlo_costing *c, uint32_t i, float flops)
{
	c->props[i].flops = c->props[i].gpu_flops = flops;
}

static void cost_elementwise(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(c->program, i);
	uint8_t opcode = c->program->instructions[i].opcode;
	if (is_transcendental(opcode))
		c->props[i].transcendentals = (float)out->elements;
	else
		c->props[i].flops = (float)out->elements;
	c->props[i].gpu_flops = (float)times(cycles(opcode, out->type), out->elements);
}

/* A computation applied so many times: its flops, not its bytes. */
static void apply(struct tfp_hlo_costing *c, uint32_t i, uint32_t number, int64_t count)
{
	const struct tfp_hlo_props *sum = &c->sums[tfp_hlo_called(c->program, i, number)];
	c->props[i].flops += sum->flops * (float)count;
	c->props[i].transcendentals += sum->transcendentals * (float)count;
	c->props[i].gpu_flops += sum->gpu_flops * (float)count;
}

static void cost_reduce(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *out = tfp_hlo_real_output(p, tfp_hlo_shape_of(p, i));
	uint32_t inputs = op->operand_count / 2;
	apply(c, i, 0, tfp_hlo_operand_shape(p, i, 0)->elements - out->elements);
	/* On GPUs each result begins with its initial value. */
	float bytes = (float)tfp_hlo_shape_of(p, i)->leaf_bytes;
	for (uint32_t o = 0; o < op->operand_count; o++) {
		int64_t size = tfp_hlo_operand_shape(p, i, o)->bytes;
		if (o >= inputs)
			size = times(size, out->elements);
		*operand_bytes(c, i, o) = (float)size;
		bytes += (float)size;
	}
	c->props[i].gpu_bytes = bytes;
}

static int64_t window_size(const struct tfp_hlo_details *d)
{
	int64_t size = 1;
	for (size_t k = 0; k < d->window_rank; k++)
		size = times(size, d->window[k].size);
	return size;
}

/* A reduction of one dimension that is spread over it again, in the clothes of a window:
 * the window covers the dimension from each of its places. Its length, or 0. */
static int64_t whole_dimension(const struct tfp_hlo_shape *out, const struct tfp_hlo_details *d)
{
	size_t wide = 0, padded = 0, which = 0;
	for (size_t k = 0; k < d->window_rank; k++) {
		const struct tfp_hlo_dimension *w = &d->window[k];
		if (w->size != 1) {
			wide++;
			which = k;
		}
		padded += w->padding_low != 0 || w->padding_high != 0;
	}
	if (wide != 1 || padded != 1 || out->type == TFP_HLO_TYPE_TUPLE || which >= out->rank)
		return 0;
	const struct tfp_hlo_dimension *w = &d->window[which];
	return w->padding_low != 0 && w->padding_low == w->padding_high &&
			       w->size - 1 == 2 * w->padding_low &&
			       w->padding_low == out->dimensions[which] - 1
		       ? out->dimensions[which]
		       : 0;
}

static void cost_reduce_window(struct tfp_hlo_costing *c, uint32_t i,
			       const struct tfp_hlo_details *d)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(c->program, i);
	int64_t out = tfp_hlo_real_output(c->program, shape)->elements;
	int64_t whole = whole_dimension(shape, d);
	apply(c, i, 0, whole > 0 ? out / whole + whole - 1 : times(window_size(d) - 1, out));
}

void tfp_hlo_cost_gather(struct tfp_hlo_costing *c, uint32_t gather, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	float out = (float)tfp_hlo_shape_of(p, gather)->bytes;
	float indices = (float)tfp_hlo_operand_shape(p, gather, 1)->bytes;
	uint32_t operands = p->instructions[i].operand_count;
	set_bytes(c, i, (float)((int64_t)out * 2 + (int64_t)indices), out);
	if (operands > 0)
		*operand_bytes(c, i, 0) = out;
	if (operands > 1)
		*operand_bytes(c, i, 1) = indices;
}

void tfp_hlo_cost_scatter(struct tfp_hlo_costing *c, uint32_t scatter, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	uint32_t operands = p->instructions[i].operand_count;
	uint32_t n = p->instructions[scatter].operand_count / 2; /* results, indices, updates */
	int64_t updates = 0, indices = tfp_hlo_operand_shape(p, scatter, n)->bytes;
	for (uint32_t k = 0; k < n; k++) {
		int64_t size = tfp_hlo_operand_shape(p, scatter, n + 1 + k)->bytes;
		if (k < operands)
			*operand_bytes(c, i, k) = (float)size;
		if (n + 1 + k < operands)
			*operand_bytes(c, i, n + 1 + k) = (float)size;
		if (__builtin_add_overflow(updates, size, &updates))
			updates = INT64_MAX;
	}
	if (n < operands)
		*operand_bytes(c, i, n) = (float)indices;
	set_bytes(c, i, (float)times(updates, 3) + (float)indices, (float)updates);
	const struct tfp_hlo_props *sum = &c->sums[tfp_hlo_called(p, scatter, 0)];
	float count = (float)tfp_hlo_operand_shape(p, scatter, n + 1)->elements;
	c->props[i].flops = sum->flops * count;
	c->props[i].transcendentals = sum->transcendentals * count;
	c->props[i].gpu_flops = sum->gpu_flops * count;
}

static unsigned log2_ceiling(int64_t n)
{
	return n <= 1 ? 0 : 64 - (unsigned)__builtin_clzll((unsigned long long)n - 1);
}

static void cost_fft(struct tfp_hlo_costing *c, uint32_t i, const struct tfp_hlo_details *d)
{
	const struct tfp_hlo_shape *in = tfp_hlo_operand_shape(c->program, i, 0);
	int64_t factors = 1;
	for (size_t k = 0; k < d->fft_length.count; k++) {
		int64_t n = d->fft_length.values[k];
		factors = times(factors, n < 1 ? 0 : 63 - __builtin_clzll((unsigned long long)n));
	}
	/* Four fused multiplications and additions for a complex product. */
	set_flops(c, i,
		  (float)times(times(8, factors), tfp_hlo_real_output(c->program, in)->elements));
}

static int64_t last_dimension(const struct tfp_hlo_shape *shape)
{
	return shape->rank > 0 ? shape->dimensions[shape->rank - 1] : 1;
}

static void cost_cholesky(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_shape *a = tfp_hlo_operand_shape(c->program, i, 0);
	float half = (float)a->bytes / 2.0f;
	set_bytes(c, i, half + half, half);
	*operand_bytes(c, i, 0) = half;
	set_flops(c, i, (float)(times(last_dimension(a), a->elements) / 3));
}

static void cost_triangular_solve(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_shape *a = tfp_hlo_operand_shape(p, i, 0);
	const struct tfp_hlo_shape *b = tfp_hlo_operand_shape(p, i, 1);
	float out = (float)tfp_hlo_shape_of(p, i)->bytes;
	set_bytes(c, i, out + (float)a->bytes / 2.0f + (float)b->bytes, out);
	*operand_bytes(c, i, 0) = (float)b->bytes; /* XLA sets it twice */
	set_flops(c, i, (float)times(2, times(last_dimension(a), b->elements)));
}

static void cost_slices(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	float out = (float)tfp_hlo_shape_of(p, i)->bytes;
	switch (p->instructions[i].opcode) {
	case TFP_HLO_SLICE:
		set_bytes(c, i, out * 2, out);
		*operand_bytes(c, i, 0) = out;
		break;
	case TFP_HLO_DYNAMIC_SLICE:
		set_bytes(c, i, out * 2 + (float)tfp_hlo_operand_shape(p, i, 1)->bytes, out);
		*operand_bytes(c, i, 0) = out;
		break;
	default: /* dynamic-update-slice: operand 0 is the result's memory */
		out = (float)tfp_hlo_operand_shape(p, i, 1)->bytes;
		set_bytes(c, i, out * 2 + (float)tfp_hlo_operand_shape(p, i, 2)->bytes, out);
		*operand_bytes(c, i, 0) = 0;
	}
}

static bool moves_nothing(const struct tfp_hlo_program *p, uint32_t i,
			  const struct tfp_hlo_details *d)
{
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i),
				   *in = tfp_hlo_operand_shape(p, i, 0);
	if (!out->has_layout || !in->has_layout || out->rank != in->rank ||
	    d->dimensions.count != out->rank || out->type != in->type)
		return false;
	for (size_t k = 0; k < out->rank; k++) {
		if (d->dimensions.values[out->minor_to_major[k]] != in->minor_to_major[k])
			return false;
	}
	return true;
}

static void cost_concatenate(struct tfp_hlo_costing *c, uint32_t i, const struct tfp_hlo_details *d)
{
	const struct tfp_hlo_shape *first = tfp_hlo_operand_shape(c->program, i, 0);
	int64_t along = d->dimensions.count > 0 ? d->dimensions.values[0] : 0, each = 6;
	/* A warp of 32 threads that crosses operands takes both ways. */
	if (along > 0 && along < first->rank && first->dimensions[along] % 32 != 0)
		each = 400;
	c->props[i].gpu_flops = (float)times(each, tfp_hlo_shape_of(c->program, i)->elements);
}

static void cost_collective(struct tfp_hlo_costing *c, uint32_t i, const struct tfp_hlo_details *d)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i);
	int64_t group = d->largest_replica_group > 0 ? d->largest_replica_group : 1;
	int64_t size = out->leaf_bytes, in = 0;
	uint8_t applied = TFP_HLO_ADD;
	if (op->called_count > 0) {
		uint32_t called = p->called[op->first_called];
		applied = p->instructions[p->computations[called].root].opcode;
	}
	for (uint32_t o = 0; o < op->operand_count; o++) {
		if (__builtin_add_overflow(in, tfp_hlo_operand_shape(p, i, o)->bytes, &in))
			in = INT64_MAX;
	}
	switch (op->opcode) {
	case TFP_HLO_ALL_REDUCE:
	case TFP_HLO_ALL_REDUCE_START:
		c->props[i].flops = (float)out->elements;
		c->props[i].gpu_flops = (float)times(cycles(applied, out->type), out->elements);
		if (op->opcode == TFP_HLO_ALL_REDUCE_START)
			c->props[i].gpu_bytes = (float)size;
		break;
	case TFP_HLO_ALL_GATHER:
	case TFP_HLO_ALL_GATHER_START:
		/* The start's result is a pair: what went in, and what comes out. */
		if (op->opcode == TFP_HLO_ALL_GATHER_START && out->type == TFP_HLO_TYPE_TUPLE &&
		    out->part_count > 0)
			size -= p->shapes.list[out->first_part].leaf_bytes;
		c->props[i].gpu_bytes = (float)times(size / group, times(2, group) - 1) +
					(float)times(size / group, group);
		break;
	default: /* reduce-scatter */
		c->props[i].gpu_bytes = (float)times(in / group, group) +
					(float)times(in / group, times(2, group) - 1);
		c->props[i].gpu_flops = (float)times(cycles(applied, out->type), out->elements);
	}
}

static float larger(float a, float b)
{
	return a > b ? a : b;
}

/* Operands' bytes of a computation are those of its instructions' operands of the same number:
 * XLA adds properties by name. numbers: how many are wanted. */
static void add_operand_bytes(const struct tfp_hlo_costing *c, uint32_t computation, float *sums,
			      uint32_t numbers)
{
	const struct tfp_hlo_computation *in = &c->program->computations[computation];
	memset(sums, 0, numbers * sizeof(*sums));
	for (uint32_t k = in->first; k < in->first + in->count; k++) {
		const struct tfp_hlo_op *op = &c->program->instructions[k];
		for (uint32_t o = 0; o < op->operand_count && o < numbers; o++)
			sums[o] += c->operand_bytes[op->first_operand + o];
	}
}

static enum tfp_status cost_call(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	struct tfp_hlo_props props = c->sums[tfp_hlo_called(p, i, 0)];
	float *own = op->operand_count ? operand_bytes(c, i, 0) : NULL;
	float *other = tfp_calloc((size_t)op->operand_count + 1, sizeof(*other));
	if (!other)
		return tfp_fail(c->err, TFP_NO_MEMORY, "no memory for the costs of an HLO module");
	if (own)
		add_operand_bytes(c, tfp_hlo_called(p, i, 0), own, op->operand_count);
	uint32_t computations = op->opcode == TFP_HLO_WHILE         ? 2
				: op->opcode == TFP_HLO_CONDITIONAL ? op->called_count
								    : 1;
	for (uint32_t k = 1; k < computations; k++) {
		const struct tfp_hlo_props *next = &c->sums[tfp_hlo_called(p, i, k)];
		bool both = op->opcode == TFP_HLO_WHILE;
		if (own)
			add_operand_bytes(c, tfp_hlo_called(p, i, k), other, op->operand_count);
		for (uint32_t o = 0; o < op->operand_count; o++)
			own[o] = both ? own[o] + other[o] : larger(own[o], other[o]);
#define JOIN(field)                                                                                \
	props.field = both ? props.field + next->field : larger(props.field, next->field)
		JOIN(flops);
		JOIN(transcendentals);
		JOIN(bytes);
		JOIN(gpu_flops);
		JOIN(gpu_bytes);
		JOIN(gpu_output);
#undef JOIN
	}
	tfp_free(other);
	c->props[i] = props;
	return TFP_OK;
}

/* Of some collectives what is wrapped counts, not the sum of its computation. */
static enum tfp_status cost_async(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	uint32_t wrapped = p->computations[tfp_hlo_called(p, i, 0)].root;
	uint8_t opcode = p->instructions[wrapped].opcode;
	enum tfp_status status = cost_call(c, i);
	if (status == TFP_OK && (opcode == TFP_HLO_REDUCE_SCATTER || opcode == TFP_HLO_ALL_TO_ALL))
		c->props[i] = c->props[wrapped];
	return status;
}

/* All operands are read, their leaves too. */
static void cost_outfeed(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	float bytes = 0;
	for (uint32_t o = 0; o < p->instructions[i].operand_count; o++) {
		const struct tfp_hlo_shape *shape = tfp_hlo_operand_shape(p, i, o);
		*operand_bytes(c, i, o) = (float)shape->leaf_bytes;
		bytes += (float)shape->leaf_bytes;
		if (shape->type == TFP_HLO_TYPE_TUPLE)
			c->leaf_read[i] += shape->main_bytes;
	}
	set_bytes(c, i, bytes, c->props[i].gpu_output);
}

static enum tfp_status cost_instruction(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i);
	struct tfp_hlo_details d;
	enum tfp_status status = check_needs(c, i);
	if (status != TFP_OK)
		return status;
	set_defaults(c, i);
	switch (op->opcode) {
	case TFP_HLO_PARAMETER:
	case TFP_HLO_CONSTANT:
	case TFP_HLO_GET_TUPLE_ELEMENT:
	case TFP_HLO_BITCAST:
	case TFP_HLO_AFTER_ALL:
	case TFP_HLO_ADD_DEPENDENCY:
	case TFP_HLO_DOMAIN:
		set_free(c, i);
		return TFP_OK;
	case TFP_HLO_TUPLE:
		set_free(c, i);
		set_bytes(c, i, (float)out->bytes, (float)out->bytes);
		return TFP_OK;
	case TFP_HLO_COPY:
		return TFP_OK;
	case TFP_HLO_SLICE:
	case TFP_HLO_DYNAMIC_SLICE:
	case TFP_HLO_DYNAMIC_UPDATE_SLICE:
		cost_slices(c, i);
		return TFP_OK;
	case TFP_HLO_GATHER:
		tfp_hlo_cost_gather(c, i, i);
		return TFP_OK;
	case TFP_HLO_SCATTER:
		if (op->operand_count % 2 == 0)
			return tfp_fail(c->err, TFP_BAD_INPUT, "scatter lacks operands");
		tfp_hlo_cost_scatter(c, i, i);
		return TFP_OK;
	case TFP_HLO_MAP:
		apply(c, i, 0, out->elements);
		return TFP_OK;
	case TFP_HLO_REDUCE:
		cost_reduce(c, i);
		return TFP_OK;
	case TFP_HLO_SORT: {
		int64_t n = tfp_hlo_operand_shape(p, i, 0)->elements;
		set_flops(c, i, (float)times(n, log2_ceiling(n)));
		return TFP_OK;
	}
	case TFP_HLO_CHOLESKY:
		cost_cholesky(c, i);
		return TFP_OK;
	case TFP_HLO_TRIANGULAR_SOLVE:
		cost_triangular_solve(c, i);
		return TFP_OK;
	case TFP_HLO_RNG:
	case TFP_HLO_RNG_BIT_GENERATOR:
		c->props[i].transcendentals = (float)out->elements;
		return TFP_OK;
	case TFP_HLO_INFEED:
		set_bytes(c, i, (float)out->leaf_bytes, (float)out->leaf_bytes);
		c->leaf_written[i] = out->main_bytes;
		return TFP_OK;
	case TFP_HLO_OUTFEED:
		cost_outfeed(c, i);
		return TFP_OK;
	case TFP_HLO_FUSION:
		return tfp_hlo_cost_fusion(c, i);
	case TFP_HLO_CALL:
	case TFP_HLO_WHILE:
	case TFP_HLO_CONDITIONAL:
		return cost_call(c, i);
	case TFP_HLO_ASYNC_START:
		return cost_async(c, i);
	default:
		break;
	}
	if (tfp_hlo_opcode_elementwise(op->opcode)) {
		cost_elementwise(c, i);
		return TFP_OK;
	}
	/* The others' rules need more than shapes. */
	status = tfp_hlo_details(op, &d, c->err);
	if (status != TFP_OK)
		return status;
	switch (op->opcode) {
	case TFP_HLO_DOT:
	case TFP_HLO_SCALED_DOT:
	case TFP_HLO_RAGGED_DOT:
		set_flops(
			c, i,
			tfp_hlo_dot_flops(tfp_hlo_operand_shape(p, i, 0), out, &d.lhs_contracting));
		break;
	case TFP_HLO_CONVOLUTION: {
		float flops = tfp_hlo_convolution_flops(tfp_hlo_operand_shape(p, i, 0),
							tfp_hlo_operand_shape(p, i, 1), out, &d);
		if (flops < 0)
			return tfp_fail(c->err, TFP_BAD_INPUT,
					"a convolution's dimensions make no sense");
		set_flops(c, i, flops);
		break;
	}
	case TFP_HLO_REDUCE_WINDOW:
		cost_reduce_window(c, i, &d);
		break;
	case TFP_HLO_SELECT_AND_SCATTER: {
		int64_t n = tfp_hlo_operand_shape(p, i, 1)->elements;
		apply(c, i, 0, times(n, window_size(&d) - 1));
		apply(c, i, 1, n);
		break;
	}
	case TFP_HLO_FFT:
		cost_fft(c, i, &d);
		break;
	case TFP_HLO_TRANSPOSE:
		if (moves_nothing(p, i, &d))
			set_free(c, i);
		break;
	case TFP_HLO_CONCATENATE:
		cost_concatenate(c, i, &d);
		break;
	case TFP_HLO_ALL_GATHER:
	case TFP_HLO_ALL_GATHER_START:
	case TFP_HLO_ALL_REDUCE:
	case TFP_HLO_ALL_REDUCE_START:
	case TFP_HLO_REDUCE_SCATTER:
		cost_collective(c, i, &d);
		break;
	case TFP_HLO_CUSTOM_CALL:
		return tfp_hlo_cost_custom_call(c, i, &d);
	default:
		break;
	}
	return TFP_OK;
}

/* ---- the walk ---- */

/* Whether XLA's analysis looks into what the instruction calls. It does not for comparisons of a
 * sort and additions of a collective. */
static bool looks_into(uint8_t opcode)
{
	switch (opcode) {
	case TFP_HLO_ASYNC_START:
	case TFP_HLO_CALL:
	case TFP_HLO_CONDITIONAL:
	case TFP_HLO_FUSION:
	case TFP_HLO_MAP:
	case TFP_HLO_REDUCE:
	case TFP_HLO_REDUCE_WINDOW:
	case TFP_HLO_SCAN:
	case TFP_HLO_SCATTER:
	case TFP_HLO_SELECT_AND_SCATTER:
	case TFP_HLO_WHILE:
		return true;
	default:
		return false;
	}
}

static void find_visited(const struct tfp_hlo_program *p, bool *visited)
{
	visited[p->entry] = true;
	/* Callers come after what they call. */
	for (uint32_t k = p->computation_count; k-- > 0;) {
		const struct tfp_hlo_computation *in = &p->computations[k];
		for (uint32_t i = in->first; visited[k] && i < in->first + in->count; i++) {
			const struct tfp_hlo_op *op = &p->instructions[i];
			for (uint32_t n = 0; looks_into(op->opcode) && n < op->called_count; n++)
				visited[tfp_hlo_called(p, i, n)] = true;
		}
	}
}

static int64_t whole(float value)
{
	return value >= 0x1p63f ? INT64_MAX : value <= -0x1p63f ? INT64_MIN : (int64_t)value;
}

/* Bits of the widest operand; a truth value counts as one. */
static unsigned widest_operand(const struct tfp_hlo_program *p, uint32_t i)
{
	unsigned widest = 0;
	for (uint32_t o = 0; o < p->instructions[i].operand_count; o++) {
		uint8_t type = tfp_hlo_operand_shape(p, i, o)->type;
		unsigned bits = type == TFP_HLO_TYPE_PRED ? 1 : tfp_hlo_type_bits(type);
		widest = bits > widest ? bits : widest;
	}
	return widest;
}

/* Narrow inputs are multiplied faster. */
static int64_t device_flops(const struct tfp_hlo_program *p, uint32_t i, int64_t flops,
			    uint8_t source)
{
	const struct tfp_hlo_op *op = &p->instructions[i];
	unsigned bits = widest_operand(p, i);
	if (op->opcode == TFP_HLO_CUSTOM_CALL) {
		struct tfp_hlo_details d;
		bool gemm = source != TFP_HLO_COST_UNKNOWN && op->operand_count > 0 &&
			    tfp_hlo_details(op, &d, NULL) == TFP_OK &&
			    d.custom_call_target.size >= 9 &&
			    memcmp(d.custom_call_target.data, "__cublas$", 9) == 0;
		bits = gemm ? tfp_hlo_type_bits(tfp_hlo_operand_shape(p, i, 0)->type) : 0;
	}
	return bits == 8 ? flops / 2 : bits == 4 ? flops / 4 : flops;
}

static void finish(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_props *props = &c->props[i];
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i);
	struct tfp_hlo_cost *cost = &c->costs[i];
	cost->flops = whole(props->flops);
	cost->transcendentals = whole(props->transcendentals);
	cost->bytes = whole(props->bytes);
	cost->gpu_flops = whole(props->gpu_flops);
	cost->gpu_bytes = whole(props->gpu_bytes);
	cost->gpu_device_flops = device_flops(p, i, cost->gpu_flops, cost->source);
	cost->gpu_bytes_read = c->leaf_read[i];
	for (uint32_t o = 0; o < op->operand_count; o++) {
		const struct tfp_hlo_shape *in = tfp_hlo_operand_shape(p, i, o);
		int64_t bytes = whole(*operand_bytes(c, i, o));
		if (in->type != TFP_HLO_TYPE_TUPLE && in->has_layout && in->memory_space == 0 &&
		    __builtin_add_overflow(cost->gpu_bytes_read, bytes, &cost->gpu_bytes_read))
			cost->gpu_bytes_read = INT64_MAX;
	}
	cost->gpu_bytes_written = out->type == TFP_HLO_TYPE_TUPLE ? c->leaf_written[i]
				  : out->has_layout && out->memory_space == 0
					  ? whole(props->gpu_output)
					  : 0;
}

static enum tfp_status cost_computation(struct tfp_hlo_costing *c, uint32_t computation,
					uint32_t *order)
{
	const struct tfp_hlo_computation *in = &c->program->computations[computation];
	struct tfp_hlo_props *sum = &c->sums[computation];
	enum tfp_status status = tfp_hlo_visit_order(c->program, computation, order, c->err);
	for (uint32_t k = 0; status == TFP_OK && k < in->count; k++) {
		const struct tfp_hlo_props *props = &c->props[order[k]];
		status = cost_instruction(c, order[k]);
		sum->flops += props->flops;
		sum->transcendentals += props->transcendentals;
		sum->bytes += props->bytes;
		sum->gpu_flops += props->gpu_flops;
		sum->gpu_bytes += props->gpu_bytes;
		sum->gpu_output += props->gpu_output;
	}
	return status == TFP_OK && in->is_fused ? tfp_hlo_cost_fused(c, computation) : status;
}

static enum tfp_status analyse(struct tfp_hlo_costing *c, struct tfp_hlo_cost **costs)
{
	const struct tfp_hlo_program *p = c->program;
	size_t n = (size_t)p->instruction_count + 1, links = p->link_count + 1;
	struct tfp_arena *arena = &c->arena;
	bool *visited = tfp_arena_zalloc(arena, (size_t)p->computation_count + 1, sizeof(*visited));
	uint32_t *order = tfp_arena_zalloc(arena, n, sizeof(*order));
	c->costs = tfp_calloc(n, sizeof(*c->costs));
	c->props = tfp_arena_zalloc(arena, n, sizeof(*c->props));
	c->sums = tfp_arena_zalloc(arena, (size_t)p->computation_count + 1, sizeof(*c->sums));
	c->fused = tfp_arena_zalloc(arena, (size_t)p->computation_count + 1, sizeof(*c->fused));
	c->operand_bytes = tfp_arena_zalloc(arena, links, sizeof(*c->operand_bytes));
	c->leaf_read = tfp_arena_zalloc(arena, n, sizeof(*c->leaf_read));
	c->leaf_written = tfp_arena_zalloc(arena, n, sizeof(*c->leaf_written));
	c->utilization = tfp_arena_zalloc(arena, n, sizeof(*c->utilization));
	c->read_bytes = tfp_arena_zalloc(arena, n, sizeof(*c->read_bytes));
	c->overwritten = tfp_arena_zalloc(arena, n, sizeof(*c->overwritten));
	*costs = c->costs;
	if (!visited || !order || !c->costs || !c->props || !c->sums || !c->fused ||
	    !c->operand_bytes || !c->leaf_read || !c->leaf_written || !c->utilization ||
	    !c->read_bytes || !c->overwritten)
		return tfp_fail(c->err, TFP_NO_MEMORY, "no memory for the costs of an HLO module");
	find_visited(p, visited);
	for (uint32_t k = 0; k < p->computation_count; k++) {
		enum tfp_status status = visited[k] ? cost_computation(c, k, order) : TFP_OK;
		if (status != TFP_OK)
			return status;
	}
	for (uint32_t i = 0; i < p->instruction_count; i++) {
		if (visited[p->instructions[i].computation])
			finish(c, i);
	}
	return TFP_OK;
}

enum tfp_status tfp_hlo_cost_analyse(const struct tfp_hlo_program *program,
				     struct tfp_hlo_cost **costs, struct tfp_error *err)
{
	struct tfp_hlo_costing c = {.program = program, .err = err};
	*costs = NULL;
	tfp_arena_init(&c.arena, SIZE_MAX);
	enum tfp_status status = analyse(&c, costs);
	tfp_arena_release(&c.arena);
	if (status != TFP_OK) {
		tfp_free(*costs);
		*costs = NULL;
	}
	return status;
}
