/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/float_ops.h"

#include "tfprof/messages.h"

#include <string.h>

struct shapes {
	const struct tfp_profile_node *node;
	bool known; /* all shapes that were asked for so far */
};

static bool is_known(struct tfp_shape shape)
{
	for (size_t i = 0; i < shape.rank; i++) {
		if (shape.dims[i] < 0)
			return false;
	}
	return shape.rank > 0;
}

static struct tfp_shape input(struct shapes *s, size_t i)
{
	struct tfp_shape shape = {NULL, 0};
	if (i < s->node->input_count)
		shape = tfp_profile_input_shape(&s->node->inputs[i]);
	s->known &= is_known(shape);
	return shape;
}

static struct tfp_shape output(struct shapes *s)
{
	struct tfp_shape shape = {NULL, 0};
	if (s->node->output_count && s->node->outputs[0].index == 0)
		shape = s->node->outputs[0].shape;
	s->known &= is_known(shape);
	return shape;
}

/* Numbers wrap when a shape is beyond reason. */
static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t elements(struct tfp_shape shape)
{
	int64_t n = 1;
	for (size_t i = 0; i < shape.rank; i++)
		n = times(n, shape.dims[i]);
	return n;
}

/* A dimension counted from the end, 1 the last; 0 where there is none, which makes it unknown. */
static int64_t from_end(struct shapes *s, struct tfp_shape shape, size_t i)
{
	if (i > shape.rank) {
		s->known = false;
		return 0;
	}
	return shape.dims[shape.rank - i];
}

/* The formulas for convolutions and pools know one layout. */
static bool is_nhwc(const struct tfp_profile_node *node)
{
	struct tfp_attribute a;
	if (!tfp_attribute_find(node, "data_format", &a) || a.field != TFP_ATTR_TEXT ||
	    !a.bytes.size)
		return true;
	return a.bytes.size == 4 && memcmp(a.bytes.data, "NHWC", 4) == 0;
}

static bool has_flag(const struct tfp_profile_node *node, const char *name)
{
	struct tfp_attribute a;
	return tfp_attribute_find(node, name, &a) && a.field == TFP_ATTR_BOOL && a.number;
}

/* A list of numbers, at most four; their count. */
static size_t list_of(const struct tfp_profile_node *node, const char *name, int64_t values[4])
{
	struct tfp_attribute a;
	size_t count = 0;
	uint32_t tag;
	if (!tfp_attribute_find(node, name, &a) || a.field != TFP_ATTR_LIST)
		return 0;
	struct tfp_pb_cursor c = tfp_pb_cursor(a.bytes.data, a.bytes.size);
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span packed;
		int64_t n;
		if (tag == TFP_PB_TAG(3, TFP_PB_VARINT)) {
			if (tfp_pb_int64(&c, &n) && count < 4)
				values[count++] = n;
		} else if (tag == TFP_PB_TAG(3, TFP_PB_BYTES) && tfp_read_span(&c, &packed)) {
			struct tfp_pb_cursor in = tfp_pb_cursor(packed.data, packed.size);
			while (in.at != in.end && tfp_pb_int64(&in, &n)) {
				if (count < 4)
					values[count++] = n;
			}
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	return c.damage ? 0 : count;
}

/* ---- formulas ---- */

static int64_t per_input(struct shapes *s, int64_t factor)
{
	return times(factor, elements(input(s, 0)));
}

static int64_t per_output(struct shapes *s, int64_t factor)
{
	return times(factor, elements(output(s)));
}

static int64_t one_per_input(struct shapes *s)
{
	return per_input(s, 1);
}

static int64_t two_per_input(struct shapes *s)
{
	return per_input(s, 2);
}

static int64_t five_per_input(struct shapes *s)
{
	return per_input(s, 5);
}

static int64_t one_per_output(struct shapes *s)
{
	return per_output(s, 1);
}

static int64_t two_per_output(struct shapes *s)
{
	return per_output(s, 2);
}

static int64_t four_per_output(struct shapes *s)
{
	return per_output(s, 4);
}

static int64_t l2_loss(struct shapes *s)
{
	return per_input(s, 3) - 1;
}

static int64_t reduction(struct shapes *s)
{
	return elements(input(s, 0)) - elements(output(s));
}

static int64_t window(struct shapes *s)
{
	int64_t size[4];
	size_t count = list_of(s->node, "ksize", size);
	int64_t n = 1;
	s->known &= count > 0 && is_nhwc(s->node);
	for (size_t i = 0; i < count; i++)
		n = times(n, size[i]);
	return n;
}

static int64_t pool(struct shapes *s)
{
	return times(window(s), elements(output(s)));
}

static int64_t average_pool_grad(struct shapes *s)
{
	return times(2 * window(s), elements(input(s, 1)));
}

static int64_t max_pool_grad(struct shapes *s)
{
	return times(window(s) + 1, elements(input(s, 1)));
}

static int64_t add_n(struct shapes *s)
{
	int64_t count = 0;
	for (size_t i = 0; i < s->node->input_count; i++)
		count += s->node->inputs[i].output >= 0;
	return per_input(s, count - 1);
}

static int64_t matrix_product(struct shapes *s)
{
	struct tfp_shape a = input(s, 0);
	bool transposed = has_flag(s->node, "transpose_a");
	if (a.rank != 2)
		s->known = false;
	return times(2 * from_end(s, a, transposed ? 2 : 1), elements(output(s)));
}

static int64_t batch_product(struct shapes *s)
{
	bool transposed = has_flag(s->node, "transpose_a");
	return times(2 * from_end(s, input(s, 0), transposed ? 2 : 1), elements(output(s)));
}

/* Kernels are height, width, channels in, channels out. */
static int64_t convolution(struct shapes *s)
{
	struct tfp_shape kernel = input(s, 1);
	int64_t n = times(from_end(s, kernel, 4), from_end(s, kernel, 3));
	s->known &= is_nhwc(s->node);
	return times(times(2, n), times(from_end(s, kernel, 2), elements(output(s))));
}

static int64_t depthwise_convolution(struct shapes *s)
{
	struct tfp_shape kernel = input(s, 1);
	int64_t n = times(from_end(s, kernel, 4), from_end(s, kernel, 3));
	s->known &= is_nhwc(s->node);
	return times(times(2, n), elements(output(s)));
}

/* Kernels are height, width, channels. */
static int64_t dilation(struct shapes *s)
{
	struct tfp_shape kernel = input(s, 1);
	int64_t n = times(from_end(s, kernel, 3), from_end(s, kernel, 2));
	return times(times(2, n), elements(output(s)));
}

static int64_t conv_backprop(struct shapes *s, struct tfp_shape image, struct tfp_shape kernel)
{
	int64_t strides[4];
	size_t count = list_of(s->node, "strides", strides);
	s->known &= is_nhwc(s->node) && count == 4;
	if (!s->known)
		return 0;
	int64_t by = times(from_end(s, image, 1), times(strides[1], strides[2]));
	if (by <= 0) {
		s->known = false;
		return 0;
	}
	return times(2, times(elements(image), elements(kernel))) / by;
}

static int64_t conv_backprop_input(struct shapes *s)
{
	struct tfp_shape image = output(s);
	return conv_backprop(s, image, input(s, 1));
}

static int64_t conv_backprop_filter(struct shapes *s)
{
	struct tfp_shape image = input(s, 0);
	return conv_backprop(s, image, output(s));
}

static const struct {
	const char *op;
	int64_t (*flops)(struct shapes *s);
} formulas[] = {
	{"Reciprocal", one_per_input},
	{"Square", one_per_input},
	{"Rsqrt", two_per_input},
	{"Log", one_per_input},
	{"Neg", one_per_input},
	{"AssignSub", one_per_input},
	{"AssignAdd", one_per_input},
	{"L2Loss", l2_loss},
	{"Softmax", five_per_input},
	{"Add", one_per_output},
	{"AddV2", one_per_output},
	{"Sub", one_per_output},
	{"Mul", one_per_output},
	{"RealDiv", one_per_output},
	{"Maximum", one_per_output},
	{"Minimum", one_per_output},
	{"Pow", one_per_output},
	{"RsqrtGrad", four_per_output},
	{"GreaterEqual", one_per_output},
	{"Greater", one_per_output},
	{"LessEqual", one_per_output},
	{"Less", one_per_output},
	{"Equal", one_per_output},
	{"NotEqual", one_per_output},
	{"SquaredDifference", two_per_output},
	{"Mean", one_per_input},
	{"Sum", reduction},
	{"ArgMax", reduction},
	{"ArgMin", reduction},
	{"BiasAddGrad", reduction},
	{"AvgPool", pool},
	{"MaxPool", pool},
	{"AvgPoolGrad", average_pool_grad},
	{"MaxPoolGrad", max_pool_grad},
	{"Conv2DBackpropInput", conv_backprop_input},
	{"Conv2DBackpropFilter", conv_backprop_filter},
	{"AddN", add_n},
	{"MatMul", matrix_product},
	{"BatchMatMul", batch_product},
	{"BatchMatMulV2", batch_product},
	{"BatchMatMulV3", batch_product},
	{"Conv2D", convolution},
	{"DepthwiseConv2dNative", depthwise_convolution},
	{"BiasAdd", one_per_input},
	{"Dilation2D", dilation},
};

static bool count_node(const struct tfp_profile_node *node, int64_t *flops, bool *formula)
{
	struct shapes s = {node, true};
	*formula = false;
	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
		if (!tfp_str_equal(node->op, formulas[i].op))
			continue;
		*formula = true;
		*flops = formulas[i].flops(&s);
		return s.known;
	}
	return false;
}

bool tfp_float_ops(const struct tfp_profile_node *node, int64_t *flops)
{
	bool formula;
	return count_node(node, flops, &formula);
}

void tfp_count_float_ops(struct tfp_profile *p, size_t *unknown)
{
	*unknown = 0;
	for (size_t i = 0; i < p->count; i++) {
		int64_t flops;
		bool formula;
		if (p->nodes[i]->float_ops)
			continue;
		if (count_node(p->nodes[i], &flops, &formula))
			p->nodes[i]->float_ops = flops;
		else
			*unknown += formula;
	}
}
