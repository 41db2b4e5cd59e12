/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_cost_parts.h"
#include "base/number.h"
#include "wire/json_reader.h"

#include <string.h>

static bool starts(struct tfp_str s, const char *prefix)
{
	size_t size = strlen(prefix);
	return s.size >= size && memcmp(s.data, prefix, size) == 0;
}

static bool is(struct tfp_str s, const char *text)
{
	return s.size == strlen(text) && starts(s, text);
}

/* XLA: cublas_cudnn.h. */
static bool is_convolution(struct tfp_str target)
{
	static const char *const targets[] = {
		"__cudnn$convForward",
		"__cudnn$convForwardGraph",
		"__cudnn$convBackwardInput",
		"__cudnn$convBackwardFilter",
		"__cudnn$convBiasActivationForward",
	};
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (is(target, targets[i]))
			return true;
	}
	return false;
}

/* Numbers as JSON of protobuf has them: 64 bits are texts. */
static bool read_numbers(const json_t *list, struct tfp_hlo_list *out)
{
	out->count = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const char *text = json_string_value(item);
		int64_t value = 0;
		if (out->count == TFP_HLO_RANK_MAX)
			return false;
		if (json_is_integer(item)) {
			value = json_integer_value(item);
		} else if (text && text[0] && strlen(text) < 4 &&
			   strspn(text, "0123456789") == strlen(text)) {
			for (; *text; text++)
				value = value * 10 + (*text - '0');
		} else {
			return false;
		}
		out->values[out->count++] = value;
	}
	return json_is_array(list);
}

/* The left side's contracting dimensions in gemm_backend_config; an empty list when they are
 * left out, as protobuf's JSON leaves out what is empty. *has: whether there is such a
 * configuration, and it can be read. */
static enum tfp_status gemm_dimensions(struct tfp_str config, struct tfp_hlo_list *out, bool *has,
				       struct tfp_error *err)
{
	json_t *root;
	enum tfp_status status = tfp_json_read(config.data, config.size, 0, &root, NULL, err);
	const json_t *gemm = json_object_get(root, "gemm_backend_config");
	const json_t *numbers = json_object_get(gemm, "dot_dimension_numbers");
	const json_t *list = json_object_get(numbers, "lhs_contracting_dimensions");
	out->count = 0;
	*has = json_is_object(numbers) && (!list || read_numbers(list, out));
	json_decref(root);
	return status;
}

/* ---- attention by cuDNN ---- */

/* What cudnn_fmha_backend_config says of it. */
struct attention {
	int64_t dimensions[4]; /* of the scores: batch, heads, queries, keys */
	bool causal;
	int64_t window; /* keys that a query sees at most; 0: all */
};

static bool read_dimension(const json_t *item, int64_t *out)
{
	uint64_t value = 0;
	if (json_is_integer(item))
		value = json_integer_value(item) > 0 ? (uint64_t)json_integer_value(item) : 0;
	else if (!json_is_string(item) ||
		 !tfp_number(json_string_value(item), (uint64_t)1 << 40, &value))
		return false;
	*out = (int64_t)value;
	return value > 0 && value <= (uint64_t)1 << 40;
}

/* Masks by length are of no use: no lengths are in the program. */
static bool read_mask(const json_t *config, struct attention *a)
{
	const char *mask = json_string_value(json_object_get(config, "mask_type"));
	const json_t *window = json_object_get(config, "sliding_window_length");
	a->causal = mask && !strcmp(mask, "CAUSAL");
	a->window = 0;
	if (window && !read_dimension(window, &a->window))
		a->window = 0;
	return !mask || a->causal || !strcmp(mask, "NO_MASK");
}

static enum tfp_status read_attention(struct tfp_str text, struct attention *a, bool *has,
				      struct tfp_error *err)
{
	json_t *root;
	enum tfp_status status = tfp_json_read(text.data, text.size, 0, &root, NULL, err);
	const json_t *config = json_object_get(root, "cudnn_fmha_backend_config");
	const json_t *scores = json_object_get(config, "intermediate_tensor_shape");
	const json_t *list = json_object_get(scores, "dimensions");
	*has = json_array_size(list) == 4 && read_mask(config, a);
	for (size_t i = 0; *has && i < 4; i++)
		*has = read_dimension(json_array_get(list, i), &a->dimensions[i]);
	json_decref(root);
	return status;
}

/* Pairs of a query and a key that are not masked, of one head. */
static double visible_pairs(const struct attention *a)
{
	double queries = (double)a->dimensions[2], keys = (double)a->dimensions[3], all;
	double window = a->window > 0 && (double)a->window < keys ? (double)a->window : keys;
	if (!a->causal)
		return queries * window;
	/* A query sees the keys up to its own place: 1, 2, 3, ... until the window is full. */
	all = queries < window ? queries : window;
	return all * (all + 1) / 2 + (queries - all) * window;
}

/* How long the vectors of a tensor [batch, heads, length, size] are, in any order of dimensions;
 * 0 when its elements do not divide. */
static double vector_size(const struct tfp_hlo_shape *shape, double vectors)
{
	double size = (double)shape->elements / vectors;
	return size >= 1 && size == (double)(int64_t)size ? size : 0;
}

/* Two products forward: scores of queries and keys, and the values weighed by them. Five
 * backward, with the scores once more: docs/reference/hlo_cost.md. */
static enum tfp_status attention_flops(struct tfp_hlo_costing *c, uint32_t i,
				       const struct tfp_hlo_details *details, float *flops,
				       bool *ours)
{
	const struct tfp_hlo_program *p = c->program;
	bool backward =
		details->custom_call_target.size > 8 &&
		memcmp(details->custom_call_target.data + details->custom_call_target.size - 8,
		       "Backward", 8) == 0;
	struct attention a = {.window = 0};
	bool has;
	enum tfp_status status = read_attention(details->backend_config, &a, &has, c->err);
	if (status != TFP_OK || !has || (backward && p->instructions[i].operand_count < 5))
		return status;
	double heads = (double)a.dimensions[0] * (double)a.dimensions[1];
	double vectors = heads * (double)a.dimensions[2];
	/* The gradient of the result is the fifth operand, and like the result. */
	const struct tfp_hlo_shape *result =
		backward ? tfp_hlo_operand_shape(p, i, 4)
			 : tfp_hlo_real_output(p, tfp_hlo_shape_of(p, i));
	double keys = vector_size(tfp_hlo_operand_shape(p, i, 0), vectors);
	double values = vector_size(result, vectors);
	if (keys == 0 || values == 0)
		return TFP_OK;
	*flops = (float)(2 * heads * visible_pairs(&a) *
			 (backward ? 3 * keys + 2 * values : keys + values));
	*ours = true;
	return TFP_OK;
}

/* Flops of what XLA's analysis knows, or of what we know besides; negative when neither does. */
static enum tfp_status find_flops(struct tfp_hlo_costing *c, uint32_t i,
				  const struct tfp_hlo_details *details, float *flops, bool *ours)
{
	const struct tfp_hlo_program *p = c->program;
	struct tfp_str target = details->custom_call_target;
	const struct tfp_hlo_shape *out = tfp_hlo_real_output(p, tfp_hlo_shape_of(p, i));
	struct tfp_hlo_list contracting;
	enum tfp_status status = TFP_OK;
	bool has = false;
	*ours = false;
	*flops = -1;
	if (p->instructions[i].operand_count < 2)
		return TFP_OK;
	const struct tfp_hlo_shape *lhs = tfp_hlo_operand_shape(p, i, 0);
	if (is_convolution(target)) {
		*flops = tfp_hlo_convolution_flops(lhs, tfp_hlo_operand_shape(p, i, 1), out,
						   details);
		return TFP_OK;
	}
	if (starts(target, "__cudnn$fmha"))
		return attention_flops(c, i, details, flops, ours);
	/* Also $f8, $mx, and groupedMatmul. */
	*ours = is(target, "__cublas$gemm");
	if (*ours || starts(target, "__cublas$lt$matmul") ||
	    is(target, "__cublas$lt$groupedMatmul"))
		status = gemm_dimensions(details->backend_config, &contracting, &has, c->err);
	if (status == TFP_OK && has)
		*flops = tfp_hlo_dot_flops(lhs, out, &contracting);
	return status;
}

enum tfp_status tfp_hlo_cost_custom_call(struct tfp_hlo_costing *c, uint32_t i,
					 const struct tfp_hlo_details *details)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, i);
	struct tfp_hlo_props *props = &c->props[i];
	bool attention = starts(details->custom_call_target, "__cudnn$fmha");
	/* Attention has several results; its workspace is the last part. */
	int64_t results = tfp_hlo_real_output(p, shape)->bytes;
	for (uint32_t part = 1; attention && part + 1 < shape->part_count; part++)
		results += p->shapes.list[shape->first_part + part].bytes;
	float written = (float)results;
	float flops;
	bool ours;
	enum tfp_status status = find_flops(c, i, details, &flops, &ours);
	if (status != TFP_OK)
		return status;
	if (flops < 0) {
		*props = (struct tfp_hlo_props){-1, 0, -1, 0, -1, -1};
		for (uint32_t o = 0; o < op->operand_count; o++)
			c->operand_bytes[op->first_operand + o] = -1;
		c->costs[i].source = TFP_HLO_COST_UNKNOWN;
		return TFP_OK;
	}
	/* The workspace is no result: counting it would reward calls that take more. */
	float bytes = written;
	for (uint32_t o = 0; o < op->operand_count; o++)
		bytes += (float)tfp_hlo_operand_shape(p, i, o)->bytes;
	*props = (struct tfp_hlo_props){
		.flops = -1,
		.bytes = -1,
		.gpu_flops = flops,
		.gpu_bytes = bytes,
		.gpu_output = written,
	};
	c->costs[i].source = ours ? TFP_HLO_COST_OURS : TFP_HLO_COST_XLA;
	if (ours)
		c->leaf_written[i] =
			attention ? results : tfp_hlo_real_output(p, shape)->main_bytes;
	return TFP_OK;
}
