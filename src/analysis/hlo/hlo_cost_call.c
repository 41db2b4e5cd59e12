#include "analysis/hlo/hlo_cost_parts.h"

#include <jansson.h>
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
 * left out, as protobuf's JSON leaves out what is empty. */
static bool gemm_dimensions(struct tfp_str config, struct tfp_hlo_list *out)
{
	json_t *root = json_loadb(config.data, config.size, 0, NULL);
	const json_t *gemm = json_object_get(root, "gemm_backend_config");
	const json_t *numbers = json_object_get(gemm, "dot_dimension_numbers");
	const json_t *list = json_object_get(numbers, "lhs_contracting_dimensions");
	out->count = 0;
	bool ok = json_is_object(numbers) && (!list || read_numbers(list, out));
	json_decref(root);
	return ok;
}

/* Flops of what XLA's analysis knows, or of what we know besides; negative when neither does. */
static float flops_of(struct tfp_hlo_costing *c, uint32_t i, const struct tfp_hlo_details *details,
		      bool *ours)
{
	const struct tfp_hlo_program *p = c->program;
	struct tfp_str target = details->custom_call_target;
	const struct tfp_hlo_shape *out = tfp_hlo_real_output(p, tfp_hlo_shape_of(p, i));
	struct tfp_hlo_list contracting;
	*ours = false;
	if (p->instructions[i].operand_count < 2)
		return -1;
	const struct tfp_hlo_shape *lhs = tfp_hlo_operand_shape(p, i, 0);
	if (is_convolution(target))
		return tfp_hlo_convolution_flops(lhs, tfp_hlo_operand_shape(p, i, 1), out, details);
	/* Also $f8, $mx, and groupedMatmul. */
	*ours = is(target, "__cublas$gemm");
	if ((*ours || starts(target, "__cublas$lt$matmul") ||
	     is(target, "__cublas$lt$groupedMatmul")) &&
	    gemm_dimensions(details->backend_config, &contracting))
		return tfp_hlo_dot_flops(lhs, out, &contracting);
	return -1;
}

enum tfp_status tfp_hlo_cost_custom_call(struct tfp_hlo_costing *c, uint32_t i,
					 const struct tfp_hlo_details *details)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, i);
	struct tfp_hlo_props *props = &c->props[i];
	bool ours;
	float flops = flops_of(c, i, details, &ours);
	float written = (float)tfp_hlo_real_output(p, shape)->bytes;
	if (flops < 0) {
		*props = (struct tfp_hlo_props){-1, 0, -1, 0, -1, -1};
		for (uint32_t o = 0; o < op->operand_count; o++)
			c->operand_bytes[op->first_operand + o] = -1;
		c->costs[i].source = TFP_HLO_COST_UNKNOWN;
		return TFP_OK;
	}
	/* The workspace is no result: to count it would reward who takes more. */
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
		c->leaf_written[i] = tfp_hlo_real_output(p, shape)->main_bytes;
	return TFP_OK;
}
