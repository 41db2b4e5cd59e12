/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/train_step.h"

#include "base/alloc.h"
#include "synth/hlo_writer.h"

#include <stdio.h>
#include <string.h>

/* The model: sizes of a language model of some two billion parameters with 24 layers. */
#define BATCH     8
#define SEQUENCE  2048
#define TOKENS    (BATCH * SEQUENCE)
#define WIDTH     2048
#define HEADS     16
#define HEAD_SIZE (WIDTH / HEADS)
#define HIDDEN    8192
#define WORDS     32000
#define WORKSPACE 4194304

/* The device, and what of its peaks kernels reach. */
#define PEAK_FLOPS_PER_NS 989.4e3
#define PEAK_BYTES_PER_NS 3350.0
#define LINK_BYTES_PER_NS 360.0
#define GEMM_SHARE        0.68
#define ATTENTION_SHARE   0.52
#define STREAMING_SHARE   0.82
#define SHORTEST_NS       2100

enum {
	SRC_STEP,
	SRC_MODEL,
	SRC_NORM,
	SRC_ATTENTION,
	SRC_MLP,
	SRC_EMBED,
	SRC_LOSS,
	SRC_ADAM,
	SRC_SCAN,
	SRC_COUNT
};

static const struct tfp_synth_hlo_source sources[SRC_COUNT] = {
	{"/app/train.py", "train_step", 118, 1},
	{"/app/model.py", "TransformerLM.__call__", 204, 2},
	{"/app/model.py", "RMSNorm.__call__", 41, 3},
	{"/app/model.py", "Attention.__call__", 87, 4},
	{"/app/model.py", "Mlp.__call__", 133, 5},
	{"/app/model.py", "Embedding.__call__", 22, 6},
	{"/app/train.py", "loss_fn", 71, 7},
	{"/app/optimizer.py", "adamw", 56, 8},
	{"/app/model.py", "TransformerLM.layers", 188, 9},
};

enum { W_QKV, W_OUT, W_UP, W_DOWN, W_NORM, WEIGHTS };

struct builder {
	struct tfp_synth_hlo_writer w;
	struct tfp_synth_train_step *t;
	const struct tfp_synth_train_options *o;
	struct tfp_synth_hlo_computation *c; /* where instructions go */
	int64_t add_f32, add_bf16;           /* computations that reductions call */
	const char *scope;                   /* of op_name: "jvp(TransformerLM)/while/body" */
	bool failed;
};

/* ---- what runs ---- */

static double at_most(double flops, double flops_per_ns, double bytes)
{
	double compute = flops / flops_per_ns;
	double memory = bytes / (PEAK_BYTES_PER_NS * STREAMING_SHARE);

	return compute > memory ? compute : memory;
}

static void launch(struct builder *b, struct tfp_synth_hlo_value op, const char *op_name,
		   const char *kernel, enum tfp_synth_stream stream, double ns, unsigned block,
		   double occupancy)
{
	struct tfp_synth_train_step *t = b->t;
	int64_t whole = ns > SHORTEST_NS ? (int64_t)ns : SHORTEST_NS;
	unsigned grid = (unsigned)(whole / 90 + 1);

	if (!TFP_GROW(t->works, t->work_count, t->work_room)) {
		b->failed = true;
		return;
	}
	t->works[t->work_count++] = (struct tfp_synth_kernel_work){
		.hlo_op = op.name,
		.op_name = op_name,
		.kernel = kernel,
		.details =
			tfp_synth_hlo_text(&b->w,
					   "regs:%u static_shared:0 dynamic_shared:%u grid:%u,1,1 "
					   "block:%u,1,1 occ_pct:%g",
					   block == 384 ? 168u : 32u, block == 384 ? 229376u : 0u,
					   grid, block, occupancy),
		.occupancy = occupancy,
		.block = block,
		.stream = stream,
		.ns = whole,
	};
}

/* The name of a kernel that XLA generates for a fusion. */
static const char *generated(struct builder *b, const char *op)
{
	char text[128];
	size_t i = 0;

	for (; op[i] && i < sizeof(text) - 1; i++)
		text[i] = op[i] == '.' || op[i] == '-' ? '_' : op[i];
	text[i] = '\0';
	return tfp_synth_hlo_text(&b->w, "%s", text);
}

static struct tfp_synth_hlo_meta meta_of(struct builder *b, const char *where, const char *type,
					 unsigned source)
{
	return (struct tfp_synth_hlo_meta){
		.op_type = type,
		.op_name = tfp_synth_hlo_text(&b->w, "jit(train_step)/jit(main)/%s/%s/%s", b->scope,
					      where, type),
		.source = &sources[source]};
}

/* ---- fusions ---- */

#define INPUTS_MAX 8

struct fusion {
	struct tfp_synth_hlo_computation *outer;
	const struct tfp_synth_hlo_value *outside; /* the fusion's operands */
	struct tfp_synth_hlo_value in[INPUTS_MAX];
	unsigned count;
	const char *word; /* "multiply" */
	struct tfp_synth_hlo_meta meta;
};

static struct fusion fuse(struct builder *b, const char *word, struct tfp_synth_hlo_meta meta,
			  const struct tfp_synth_hlo_value *inputs, unsigned count)
{
	struct fusion f = {
		.outer = b->c, .outside = inputs, .count = count, .word = word, .meta = meta};

	b->c = tfp_synth_hlo_open(
		&b->w, tfp_synth_hlo_name(&b->w, tfp_synth_hlo_text(&b->w, "fused_%s", word)),
		true);
	for (unsigned i = 0; i < count; i++)
		f.in[i] = tfp_synth_hlo_parameter(
			&b->w, b->c, i,
			tfp_synth_hlo_name(&b->w, tfp_synth_hlo_text(&b->w, "param_%u", i)),
			inputs[i].shape);
	return f;
}

static int64_t bytes_of(const struct tfp_synth_hlo_value *values, unsigned count)
{
	int64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += tfp_synth_hlo_bytes(&values[i].shape);
	return bytes;
}

/* reads: bytes that the fusion really reads, or -1 for all of its operands. */
static struct tfp_synth_hlo_value fused(struct builder *b, struct fusion *f, const char *kind,
					struct tfp_synth_hlo_value root, int64_t reads)
{
	struct tfp_synth_hlo_extra extra = {
		.called = (int64_t[]){tfp_synth_hlo_close(&b->w, b->c, root)},
		.called_count = 1,
		.fusion_kind = kind};
	const char *prefix = !strcmp(kind, "kLoop") ? "loop" : "input";
	const char *name = tfp_synth_hlo_name(
		&b->w, tfp_synth_hlo_text(&b->w, "%s_%s_fusion", prefix, f->word));
	struct tfp_synth_hlo_value op;
	double bytes;

	b->c = f->outer;
	op = tfp_synth_hlo_add(&b->w, b->c, "fusion", name, root.shape, f->outside, f->count,
			       &extra, &f->meta);
	if (reads < 0)
		reads = bytes_of(f->outside, f->count);
	bytes = (double)(reads + tfp_synth_hlo_bytes(&root.shape));
	launch(b, op, f->meta.op_name, generated(b, name), STREAM_COMPUTE,
	       bytes / (PEAK_BYTES_PER_NS * STREAMING_SHARE), 128, 100);
	return op;
}

/* An elementwise op inside a fusion, named by its opcode. */
static struct tfp_synth_hlo_value op2(struct builder *b, const struct fusion *f, const char *opcode,
				      struct tfp_synth_hlo_value x, struct tfp_synth_hlo_value y)
{
	return tfp_synth_hlo_add(&b->w, b->c, opcode, tfp_synth_hlo_name(&b->w, opcode), x.shape,
				 (struct tfp_synth_hlo_value[]){x, y}, 2, NULL, &f->meta);
}

static struct tfp_synth_hlo_value op1(struct builder *b, const struct fusion *f, const char *opcode,
				      struct tfp_synth_hlo_value x)
{
	return tfp_synth_hlo_add(&b->w, b->c, opcode, tfp_synth_hlo_name(&b->w, opcode), x.shape,
				 &x, 1, NULL, &f->meta);
}

static struct tfp_synth_hlo_value convert(struct builder *b, const struct fusion *f,
					  struct tfp_synth_hlo_value x,
					  enum tfp_synth_hlo_type type)
{
	struct tfp_synth_hlo_shape shape = x.shape;

	shape.type = type;
	return tfp_synth_hlo_add(&b->w, b->c, "convert", tfp_synth_hlo_name(&b->w, "convert"),
				 shape, &x, 1, NULL, &f->meta);
}

/* x along the given dimension of shape; dimension -1: a scalar everywhere. */
static struct tfp_synth_hlo_value broadcast(struct builder *b, const struct fusion *f,
					    struct tfp_synth_hlo_value x,
					    struct tfp_synth_hlo_shape shape, int64_t dimension)
{
	struct tfp_synth_hlo_extra extra = {.dimensions = &dimension,
					    .dimension_count = dimension < 0 ? 0 : 1};

	shape.type = x.shape.type;
	return tfp_synth_hlo_add(&b->w, b->c, "broadcast", tfp_synth_hlo_name(&b->w, "broadcast"),
				 shape, &x, 1, &extra, &f->meta);
}

static struct tfp_synth_hlo_value scalar(struct builder *b, const struct fusion *f, double value,
					 struct tfp_synth_hlo_shape like)
{
	return broadcast(b, f, tfp_synth_hlo_constant(&b->w, b->c, like.type, value), like, -1);
}

/* The sum over the second dimension of f32[A,B]. */
static struct tfp_synth_hlo_value row_sum(struct builder *b, const struct fusion *f,
					  struct tfp_synth_hlo_value x)
{
	int64_t dimension = 1;
	struct tfp_synth_hlo_extra extra = {.dimensions = &dimension,
					    .dimension_count = 1,
					    .called = &b->add_f32,
					    .called_count = 1};
	struct tfp_synth_hlo_value zero = tfp_synth_hlo_constant(&b->w, b->c, HLO_F32, 0);

	return tfp_synth_hlo_add(&b->w, b->c, "reduce", tfp_synth_hlo_name(&b->w, "reduce"),
				 tfp_synth_hlo_array(HLO_F32, 1, x.shape.dims[0]),
				 (struct tfp_synth_hlo_value[]){x, zero}, 2, &extra, &f->meta);
}

static struct tfp_synth_hlo_shape rows(int64_t width)
{
	return tfp_synth_hlo_array(HLO_BF16, 2, (int64_t)TOKENS, width);
}

/* ---- kernels of libraries ---- */

static struct tfp_synth_hlo_value custom_call(struct builder *b, const char *target,
					      const char *config,
					      const struct tfp_synth_hlo_value *operands,
					      unsigned count,
					      const struct tfp_synth_hlo_shape *results,
					      unsigned result_count, struct tfp_synth_hlo_meta meta)
{
	struct tfp_synth_hlo_extra extra = {.target = target, .backend_config = config};

	return tfp_synth_hlo_add(&b->w, b->c, "custom-call",
				 tfp_synth_hlo_name(&b->w, "custom-call"),
				 tfp_synth_hlo_tuple_of(&b->w, results, result_count), operands,
				 count, &extra, &meta);
}

static const char *gemm_config(struct builder *b, int left, int right)
{
	return tfp_synth_hlo_text(
		&b->w,
		"{\"operation_queue_id\":\"0\",\"gemm_backend_config\":{\"alpha_real\":1,"
		"\"alpha_imag\":0,\"beta\":0,\"dot_dimension_numbers\":{"
		"\"lhs_contracting_dimensions\":[\"%d\"],"
		"\"rhs_contracting_dimensions\":[\"%d\"],"
		"\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]},"
		"\"precision_config\":{\"operand_precision\":[\"DEFAULT\",\"DEFAULT\"]},"
		"\"epilogue\":\"DEFAULT\",\"damax_output\":false}}",
		left, right);
}

/* left and right, contracted over one dimension of each. */
static struct tfp_synth_hlo_value gemm(struct builder *b, struct tfp_synth_hlo_value left,
				       int left_contracting, struct tfp_synth_hlo_value right,
				       int right_contracting, struct tfp_synth_hlo_meta meta)
{
	int64_t m = left.shape.dims[1 - left_contracting], k = left.shape.dims[left_contracting];
	int64_t n = right.shape.dims[1 - right_contracting];
	struct tfp_synth_hlo_shape results[] = {tfp_synth_hlo_array(HLO_BF16, 2, m, n),
						tfp_synth_hlo_array(HLO_S8, 1, (int64_t)WORKSPACE)};
	struct tfp_synth_hlo_value op =
		custom_call(b, "__cublas$gemm", gemm_config(b, left_contracting, right_contracting),
			    (struct tfp_synth_hlo_value[]){left, right}, 2, results, 2, meta);
	const char *kernel = left_contracting == 0    ? "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NTN"
			     : right_contracting == 1 ? "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN"
						      : "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NNN";
	double ns = at_most(2.0 * (double)m * (double)n * (double)k, PEAK_FLOPS_PER_NS * GEMM_SHARE,
			    2.0 * (double)(m * k + k * n + m * n));

	launch(b, op, meta.op_name, kernel, STREAM_COMPUTE, ns, 384, 18.75);
	return tfp_synth_hlo_element(&b->w, b->c, op, 0);
}

static const char attention_config[] =
	"{\"operation_queue_id\":\"0\",\"cudnn_fmha_backend_config\":{"
	"\"algorithm\":{\"algo_id\":\"0\",\"math_type\":\"TENSOR_OP_MATH\"},"
	"\"fmha_scale\":0.08838834764831845,\"dropout_rate\":0,"
	"\"intermediate_tensor_shape\":{\"element_type\":\"BF16\","
	"\"dimensions\":[\"8\",\"16\",\"2048\",\"2048\"]},"
	"\"bmm1_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"],"
	"\"rhs_contracting_dimensions\":[\"3\"],\"lhs_batch_dimensions\":[\"0\",\"2\"],"
	"\"rhs_batch_dimensions\":[\"0\",\"2\"]},"
	"\"bmm2_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"],"
	"\"rhs_contracting_dimensions\":[\"1\"],\"lhs_batch_dimensions\":[\"0\",\"1\"],"
	"\"rhs_batch_dimensions\":[\"0\",\"2\"]},"
	"\"seed\":\"42\",\"is_flash_attention\":true,\"mask_type\":\"CAUSAL\"}}";

/* Of both products, half of which a causal mask leaves out. */
static double attention_flops(void)
{
	return 4.0 * BATCH * HEADS * (double)SEQUENCE * SEQUENCE * HEAD_SIZE / 2;
}

static struct tfp_synth_hlo_shape head_shape(void)
{
	return tfp_synth_hlo_array(HLO_BF16, 4, (int64_t)BATCH, (int64_t)SEQUENCE, (int64_t)HEADS,
				   (int64_t)HEAD_SIZE);
}

/* q, k, v → a tuple of the result, statistics of the softmax, and scratch. */
static struct tfp_synth_hlo_value attention(struct builder *b,
					    const struct tfp_synth_hlo_value qkv[3])
{
	struct tfp_synth_hlo_shape results[] = {
		head_shape(),
		tfp_synth_hlo_array(HLO_F32, 3, (int64_t)BATCH, (int64_t)HEADS, (int64_t)SEQUENCE),
		tfp_synth_hlo_array(HLO_U8, 1, INT64_C(0))};
	struct tfp_synth_hlo_meta meta =
		meta_of(b, "attention", "dot_product_attention", SRC_ATTENTION);
	struct tfp_synth_hlo_value op =
		custom_call(b, "__cudnn$fmhaSoftmax", attention_config, qkv, 3, results, 3, meta);

	launch(b, op, meta.op_name,
	       "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_128x128x128_"
	       "4x1x1_kernel0_0",
	       STREAM_COMPUTE, attention_flops() / (PEAK_FLOPS_PER_NS * ATTENTION_SHARE), 384,
	       18.75);
	return op;
}

static struct tfp_synth_hlo_value attention_gradient(struct builder *b,
						     const struct tfp_synth_hlo_value *operands)
{
	struct tfp_synth_hlo_shape results[] = {head_shape(), head_shape(), head_shape(),
						tfp_synth_hlo_array(HLO_U8, 1, INT64_C(0))};
	struct tfp_synth_hlo_meta meta =
		meta_of(b, "attention", "dot_product_attention_bwd", SRC_ATTENTION);
	struct tfp_synth_hlo_value op = custom_call(
		b, "__cudnn$fmhaSoftmaxBackward", attention_config, operands, 6, results, 4, meta);

	launch(b, op, meta.op_name,
	       "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_128x64x128_"
	       "1x4x1_kernel0_0",
	       STREAM_COMPUTE, 2.5 * attention_flops() / (PEAK_FLOPS_PER_NS * ATTENTION_SHARE), 384,
	       12.5);
	return op;
}

/* ---- parts of a layer ---- */

/* One layer of stacked weights or activations: [L,A,B] → [A,B]. */
static struct tfp_synth_hlo_value slice_of(struct builder *b, struct tfp_synth_hlo_value stacked,
					   struct tfp_synth_hlo_value layer, const char *where)
{
	struct tfp_synth_hlo_value inputs[] = {stacked, layer};
	struct fusion f =
		fuse(b, "dynamic_slice", meta_of(b, where, "dynamic_slice", SRC_SCAN), inputs, 2);
	int64_t sizes[3] = {1, stacked.shape.dims[1], stacked.shape.dims[2]};
	struct tfp_synth_hlo_extra extra = {.slice_sizes = sizes, .slice_size_count = 3};
	struct tfp_synth_hlo_value zero = tfp_synth_hlo_constant(&b->w, b->c, HLO_S32, 0);
	struct tfp_synth_hlo_value part = tfp_synth_hlo_add(
		&b->w, b->c, "dynamic-slice", tfp_synth_hlo_name(&b->w, "dynamic-slice"),
		tfp_synth_hlo_array(stacked.shape.type, 3, sizes[0], sizes[1], sizes[2]),
		(struct tfp_synth_hlo_value[]){f.in[0], f.in[1], zero, zero}, 4, &extra, &f.meta);
	struct tfp_synth_hlo_value flat =
		tfp_synth_hlo_add(&b->w, b->c, "bitcast", tfp_synth_hlo_name(&b->w, "bitcast"),
				  tfp_synth_hlo_array(stacked.shape.type, 2, sizes[1], sizes[2]),
				  &part, 1, NULL, &f.meta);

	return fused(b, &f, "kLoop", flat, tfp_synth_hlo_bytes(&flat.shape));
}

/* stacked with one layer replaced. */
static struct tfp_synth_hlo_value put_layer(struct builder *b, struct tfp_synth_hlo_value stacked,
					    struct tfp_synth_hlo_value value,
					    struct tfp_synth_hlo_value layer, const char *where)
{
	struct tfp_synth_hlo_value inputs[] = {stacked, value, layer};
	struct fusion f = fuse(b, "dynamic_update_slice",
			       meta_of(b, where, "dynamic_update_slice", SRC_SCAN), inputs, 3);
	struct tfp_synth_hlo_value zero = tfp_synth_hlo_constant(&b->w, b->c, HLO_S32, 0);
	struct tfp_synth_hlo_value deep =
		tfp_synth_hlo_add(&b->w, b->c, "bitcast", tfp_synth_hlo_name(&b->w, "bitcast"),
				  tfp_synth_hlo_array(value.shape.type, 3, INT64_C(1),
						      value.shape.dims[0], value.shape.dims[1]),
				  &f.in[1], 1, NULL, &f.meta);
	struct tfp_synth_hlo_value root = tfp_synth_hlo_add(
		&b->w, b->c, "dynamic-update-slice",
		tfp_synth_hlo_name(&b->w, "dynamic-update-slice"), stacked.shape,
		(struct tfp_synth_hlo_value[]){f.in[0], deep, f.in[2], zero, zero}, 5, NULL,
		&f.meta);
	struct tfp_synth_hlo_value op =
		fused(b, &f, "kLoop", root, tfp_synth_hlo_bytes(&value.shape));
	struct tfp_synth_kernel_work *work;

	/* In place: what is written is one layer, not all. */
	if (!b->failed) {
		work = &b->t->works[b->t->work_count - 1];
		work->ns = (int64_t)(2.0 * (double)tfp_synth_hlo_bytes(&value.shape) /
				     (PEAK_BYTES_PER_NS * STREAMING_SHARE));
	}
	return op;
}

/* Two kernels, as XLA makes of a norm: the sums, then the rest. */
static struct tfp_synth_hlo_value norm(struct builder *b, struct tfp_synth_hlo_value x,
				       struct tfp_synth_hlo_value scale, const char *where)
{
	struct fusion f = fuse(b, "reduce", meta_of(b, where, "reduce_sum", SRC_NORM), &x, 1);
	struct tfp_synth_hlo_value wide = convert(b, &f, f.in[0], HLO_F32);
	struct tfp_synth_hlo_value sums =
		fused(b, &f, "kInput", row_sum(b, &f, op2(b, &f, "multiply", wide, wide)), -1);
	struct tfp_synth_hlo_value inputs[] = {x, sums, scale};
	struct tfp_synth_hlo_value mean, y;

	f = fuse(b, "multiply", meta_of(b, where, "mul", SRC_NORM), inputs, 3);
	mean = op2(b, &f, "multiply", f.in[1], scalar(b, &f, 1.0 / WIDTH, f.in[1].shape));
	mean = op1(b, &f, "rsqrt", op2(b, &f, "add", mean, scalar(b, &f, 1e-6, f.in[1].shape)));
	wide = convert(b, &f, f.in[0], HLO_F32);
	y = op2(b, &f, "multiply", wide, broadcast(b, &f, mean, wide.shape, 0));
	y = op2(b, &f, "multiply", y, broadcast(b, &f, f.in[2], wide.shape, 1));
	return fused(b, &f, "kLoop", convert(b, &f, y, HLO_BF16), -1);
}

/* Of a norm, with the gradient that goes around it added. */
static struct tfp_synth_hlo_value norm_gradient(struct builder *b, struct tfp_synth_hlo_value x,
						struct tfp_synth_hlo_value dy,
						struct tfp_synth_hlo_value around,
						struct tfp_synth_hlo_value scale, const char *where)
{
	struct tfp_synth_hlo_value inputs[] = {x, dy, scale, around};
	struct fusion f = fuse(b, "reduce", meta_of(b, where, "reduce_sum", SRC_NORM), inputs, 3);
	struct tfp_synth_hlo_value product, sums, wide, y;

	wide = convert(b, &f, f.in[0], HLO_F32);
	product = op2(b, &f, "multiply", convert(b, &f, f.in[1], HLO_F32),
		      broadcast(b, &f, f.in[2], wide.shape, 1));
	sums = fused(b, &f, "kInput", row_sum(b, &f, op2(b, &f, "multiply", product, wide)), -1);
	struct tfp_synth_hlo_value all[] = {x, dy, around, sums, scale};
	f = fuse(b, "add_multiply", meta_of(b, where, "mul", SRC_NORM), all, 5);
	wide = convert(b, &f, f.in[0], HLO_F32);
	y = op2(b, &f, "multiply", convert(b, &f, f.in[1], HLO_F32),
		broadcast(b, &f, f.in[4], wide.shape, 1));
	y = op2(b, &f, "subtract", y,
		op2(b, &f, "multiply", wide, broadcast(b, &f, f.in[3], wide.shape, 0)));
	y = op2(b, &f, "add", y, convert(b, &f, f.in[2], HLO_F32));
	return fused(b, &f, "kLoop", convert(b, &f, y, HLO_BF16), -1);
}

static struct tfp_synth_hlo_value residual(struct builder *b, struct tfp_synth_hlo_value x,
					   struct tfp_synth_hlo_value y, const char *where)
{
	struct tfp_synth_hlo_value inputs[] = {x, y};
	struct fusion f = fuse(b, "add", meta_of(b, where, "add", SRC_MODEL), inputs, 2);

	return fused(b, &f, "kLoop", op2(b, &f, "add", f.in[0], f.in[1]), -1);
}

/* tanh(x * (1 + 0.044715 x²) * √(2/π)), the slow half of a gelu. */
static struct tfp_synth_hlo_value gelu_tanh(struct builder *b, const struct fusion *f,
					    struct tfp_synth_hlo_value x)
{
	struct tfp_synth_hlo_value cubic =
		op2(b, f, "multiply", op2(b, f, "multiply", x, x), scalar(b, f, 0.044715, x.shape));
	struct tfp_synth_hlo_value inner =
		op2(b, f, "multiply", x, op2(b, f, "add", cubic, scalar(b, f, 1, x.shape)));

	return op1(b, f, "tanh", op2(b, f, "multiply", inner, scalar(b, f, 0.7978845608, x.shape)));
}

static struct tfp_synth_hlo_value gelu(struct builder *b, struct tfp_synth_hlo_value x)
{
	struct fusion f = fuse(b, "tanh_multiply", meta_of(b, "mlp/gelu", "mul", SRC_MLP), &x, 1);
	struct tfp_synth_hlo_value wide = convert(b, &f, f.in[0], HLO_F32);
	struct tfp_synth_hlo_value gate =
		op2(b, &f, "add", gelu_tanh(b, &f, wide), scalar(b, &f, 1, wide.shape));
	struct tfp_synth_hlo_value y = op2(b, &f, "multiply", op2(b, &f, "multiply", wide, gate),
					   scalar(b, &f, 0.5, wide.shape));

	return fused(b, &f, "kLoop", convert(b, &f, y, HLO_BF16), -1);
}

static struct tfp_synth_hlo_value gelu_gradient(struct builder *b, struct tfp_synth_hlo_value x,
						struct tfp_synth_hlo_value dy)
{
	struct tfp_synth_hlo_value inputs[] = {x, dy};
	struct fusion f =
		fuse(b, "tanh_multiply", meta_of(b, "mlp/gelu", "mul", SRC_MLP), inputs, 2);
	struct tfp_synth_hlo_value wide = convert(b, &f, f.in[0], HLO_F32);
	struct tfp_synth_hlo_value t = gelu_tanh(b, &f, wide), one = scalar(b, &f, 1, wide.shape);
	struct tfp_synth_hlo_value slope = op2(
		b, &f, "multiply", wide, op2(b, &f, "subtract", one, op2(b, &f, "multiply", t, t)));
	struct tfp_synth_hlo_value y = op2(b, &f, "multiply", convert(b, &f, f.in[1], HLO_F32),
					   op2(b, &f, "add", op2(b, &f, "add", t, one), slope));

	return fused(b, &f, "kLoop", convert(b, &f, y, HLO_BF16), -1);
}

/* bf16[T,3D] → q, k and v, each bf16[B,S,H,D/H]. */
static void split_heads(struct builder *b, struct tfp_synth_hlo_value joined,
			struct tfp_synth_hlo_value out[3])
{
	struct fusion f =
		fuse(b, "slice", meta_of(b, "attention", "split", SRC_ATTENTION), &joined, 1);
	struct tfp_synth_hlo_value parts[3], op;

	for (int i = 0; i < 3; i++) {
		int64_t begin[2] = {0, INT64_C(1) * i * WIDTH},
			end[2] = {TOKENS, INT64_C(1) * (i + 1) * WIDTH};
		struct tfp_synth_hlo_extra extra = {
			.slice_begin = begin, .slice_end = end, .slice_size_count = 2};
		struct tfp_synth_hlo_value part =
			tfp_synth_hlo_add(&b->w, b->c, "slice", tfp_synth_hlo_name(&b->w, "slice"),
					  rows(WIDTH), &f.in[0], 1, &extra, &f.meta);
		parts[i] = tfp_synth_hlo_add(&b->w, b->c, "bitcast",
					     tfp_synth_hlo_name(&b->w, "bitcast"), head_shape(),
					     &part, 1, NULL, &f.meta);
	}
	op = fused(b, &f, "kLoop", tfp_synth_hlo_tuple(&b->w, b->c, parts, 3), -1);
	for (unsigned i = 0; i < 3; i++)
		out[i] = tfp_synth_hlo_element(&b->w, b->c, op, i);
}

/* The way back. */
static struct tfp_synth_hlo_value join_heads(struct builder *b,
					     const struct tfp_synth_hlo_value parts[3])
{
	struct fusion f = fuse(b, "concatenate",
			       meta_of(b, "attention", "concatenate", SRC_ATTENTION), parts, 3);
	struct tfp_synth_hlo_value flat[3];
	int64_t dimension = 1;
	struct tfp_synth_hlo_extra extra = {.dimensions = &dimension, .dimension_count = 1};

	for (int i = 0; i < 3; i++)
		flat[i] = tfp_synth_hlo_add(&b->w, b->c, "bitcast",
					    tfp_synth_hlo_name(&b->w, "bitcast"), rows(WIDTH),
					    &f.in[i], 1, NULL, &f.meta);
	return fused(b, &f, "kInput",
		     tfp_synth_hlo_add(&b->w, b->c, "concatenate",
				       tfp_synth_hlo_name(&b->w, "concatenate"),
				       rows(INT64_C(3) * WIDTH), flat, 3, &extra, &f.meta),
		     -1);
}

static struct tfp_synth_hlo_value as_rows(struct builder *b, struct tfp_synth_hlo_value heads)
{
	return tfp_synth_hlo_add(&b->w, b->c, "bitcast", tfp_synth_hlo_name(&b->w, "bitcast"),
				 rows(WIDTH), &heads, 1, NULL, NULL);
}

static struct tfp_synth_hlo_value as_heads(struct builder *b, struct tfp_synth_hlo_value flat)
{
	return tfp_synth_hlo_add(&b->w, b->c, "bitcast", tfp_synth_hlo_name(&b->w, "bitcast"),
				 head_shape(), &flat, 1, NULL, NULL);
}

static struct tfp_synth_hlo_meta dot(struct builder *b, const char *where, unsigned source)
{
	return meta_of(b, where, "dot_general", source);
}

/* What a layer computes on its way forward, kept for the way back. */
struct layer {
	struct tfp_synth_hlo_value normed, qkv[3], attended, flat, middle, middle_normed, up,
		active, out;
	struct tfp_synth_hlo_value w[WEIGHTS], scale;
};

static struct layer forward(struct builder *b, struct tfp_synth_hlo_value x,
			    struct tfp_synth_hlo_value number,
			    const struct tfp_synth_hlo_value stacked[WEIGHTS], bool all)
{
	struct layer l;

	for (unsigned i = 0; i < W_NORM; i++)
		l.w[i] = slice_of(b, stacked[i], number, i < W_UP ? "attention" : "mlp");
	l.scale = stacked[W_NORM];
	l.normed = norm(b, x, l.scale, "attention_norm");
	split_heads(b, gemm(b, l.normed, 1, l.w[W_QKV], 0, dot(b, "attention/qkv", SRC_ATTENTION)),
		    l.qkv);
	l.attended = attention(b, l.qkv);
	l.flat = as_rows(b, tfp_synth_hlo_element(&b->w, b->c, l.attended, 0));
	l.middle = residual(
		b, x, gemm(b, l.flat, 1, l.w[W_OUT], 0, dot(b, "attention/out", SRC_ATTENTION)),
		"attention");
	l.middle_normed = norm(b, l.middle, l.scale, "mlp_norm");
	l.up = gemm(b, l.middle_normed, 1, l.w[W_UP], 0, dot(b, "mlp/up", SRC_MLP));
	l.active = gelu(b, l.up);
	l.out = l.middle;
	if (all)
		l.out = residual(b, l.middle,
				 gemm(b, l.active, 1, l.w[W_DOWN], 0, dot(b, "mlp/down", SRC_MLP)),
				 "mlp");
	return l;
}

/* → the gradient of the layer's input; grads: of the stacked weights, replaced. */
static struct tfp_synth_hlo_value backward(struct builder *b, struct tfp_synth_hlo_value x,
					   struct tfp_synth_hlo_value dy,
					   struct tfp_synth_hlo_value number,
					   const struct tfp_synth_hlo_value stacked[WEIGHTS],
					   struct tfp_synth_hlo_value grads[W_NORM])
{
	const char *scope = b->scope;
	struct tfp_synth_hlo_value dup, dmiddle, dnormed, dflat, parts[3], djoined;
	struct layer l;

	b->scope = tfp_synth_hlo_text(&b->w, "%s/checkpoint/rematted_computation", scope);
	l = forward(b, x, number, stacked, false);
	b->scope = scope;
	grads[W_DOWN] = put_layer(b, grads[W_DOWN],
				  gemm(b, l.active, 0, dy, 0, dot(b, "mlp/down", SRC_MLP)), number,
				  "mlp/down");
	dup = gelu_gradient(b, l.up, gemm(b, dy, 1, l.w[W_DOWN], 1, dot(b, "mlp/down", SRC_MLP)));
	grads[W_UP] = put_layer(b, grads[W_UP],
				gemm(b, l.middle_normed, 0, dup, 0, dot(b, "mlp/up", SRC_MLP)),
				number, "mlp/up");
	dnormed = gemm(b, dup, 1, l.w[W_UP], 1, dot(b, "mlp/up", SRC_MLP));
	dmiddle = norm_gradient(b, l.middle, dnormed, dy, l.scale, "mlp_norm");
	grads[W_OUT] =
		put_layer(b, grads[W_OUT],
			  gemm(b, l.flat, 0, dmiddle, 0, dot(b, "attention/out", SRC_ATTENTION)),
			  number, "attention/out");
	dflat = gemm(b, dmiddle, 1, l.w[W_OUT], 1, dot(b, "attention/out", SRC_ATTENTION));
	struct tfp_synth_hlo_value operands[] = {
		l.qkv[0],           l.qkv[1],
		l.qkv[2],           tfp_synth_hlo_element(&b->w, b->c, l.attended, 1),
		as_heads(b, dflat), tfp_synth_hlo_element(&b->w, b->c, l.attended, 0)};
	struct tfp_synth_hlo_value both = attention_gradient(b, operands);
	for (unsigned i = 0; i < 3; i++)
		parts[i] = tfp_synth_hlo_element(&b->w, b->c, both, i);
	djoined = join_heads(b, parts);
	grads[W_QKV] =
		put_layer(b, grads[W_QKV],
			  gemm(b, l.normed, 0, djoined, 0, dot(b, "attention/qkv", SRC_ATTENTION)),
			  number, "attention/qkv");
	dnormed = gemm(b, djoined, 1, l.w[W_QKV], 1, dot(b, "attention/qkv", SRC_ATTENTION));
	return norm_gradient(b, x, dnormed, dmiddle, l.scale, "attention_norm");
}

/* ---- loops over layers ---- */

/* The launches from first on are one turn of the loop. */
static void run(struct builder *b, size_t first, size_t end, unsigned turns)
{
	struct tfp_synth_train_step *t = b->t;

	for (unsigned turn = 0; turn < turns; turn++)
		for (size_t i = first; i < end; i++) {
			if (!TFP_GROW(t->order, t->order_count, t->order_room)) {
				b->failed = true;
				return;
			}
			t->order[t->order_count++] = (uint32_t)i;
		}
}

/* counter < layers, as a computation. */
static int64_t loop_condition(struct builder *b, struct tfp_synth_hlo_shape state, const char *name)
{
	struct tfp_synth_hlo_computation *c = tfp_synth_hlo_open(&b->w, name, false);
	struct tfp_synth_hlo_value in =
		tfp_synth_hlo_parameter(&b->w, c, 0, tfp_synth_hlo_name(&b->w, "arg_tuple"), state);
	struct tfp_synth_hlo_value pair[] = {
		tfp_synth_hlo_element(&b->w, c, in, 0),
		tfp_synth_hlo_constant(&b->w, c, HLO_S32, b->o->layers)};
	struct tfp_synth_hlo_extra extra = {.direction = "LT"};

	return tfp_synth_hlo_close(&b->w, c,
				   tfp_synth_hlo_add(&b->w, c, "compare",
						     tfp_synth_hlo_name(&b->w, "compare"),
						     (struct tfp_synth_hlo_shape){.type = HLO_PRED},
						     pair, 2, &extra, NULL));
}

/* The counter, one more. */
static struct tfp_synth_hlo_value next_turn(struct builder *b, struct tfp_synth_hlo_value counter)
{
	struct fusion f = fuse(b, "add", meta_of(b, "layers", "add", SRC_SCAN), &counter, 1);

	return fused(b, &f, "kLoop",
		     op2(b, &f, "add", f.in[0], tfp_synth_hlo_constant(&b->w, b->c, HLO_S32, 1)),
		     -1);
}

/* state[0] is the counter; turn replaces what changes in it. */
static void loop(struct builder *b, struct tfp_synth_hlo_value *state, unsigned count,
		 const char *where,
		 void (*turn)(struct builder *b, struct tfp_synth_hlo_value *state))
{
	struct tfp_synth_hlo_value before = tfp_synth_hlo_tuple(&b->w, b->c, state, count), in, op;
	struct tfp_synth_hlo_computation *outer = b->c;
	struct tfp_synth_hlo_meta meta = meta_of(b, where, "while", SRC_SCAN);
	const char *name = tfp_synth_hlo_name(&b->w, "while");
	struct tfp_synth_hlo_extra extra = {
		.called_count = 2,
		.backend_config = tfp_synth_hlo_text(&b->w, "{\"known_trip_count\":{\"n\":\"%u\"}}",
						     b->o->layers)};
	size_t first = b->t->work_count;
	int64_t called[2];

	called[1] = loop_condition(b, before.shape, tfp_synth_hlo_name(&b->w, "region_cond"));
	b->c = tfp_synth_hlo_open(&b->w, tfp_synth_hlo_name(&b->w, "region_body"), false);
	in = tfp_synth_hlo_parameter(&b->w, b->c, 0, tfp_synth_hlo_name(&b->w, "arg_tuple"),
				     before.shape);
	for (unsigned i = 0; i < count; i++)
		state[i] = tfp_synth_hlo_element(&b->w, b->c, in, i);
	turn(b, state);
	state[0] = next_turn(b, state[0]);
	called[0] =
		tfp_synth_hlo_close(&b->w, b->c, tfp_synth_hlo_tuple(&b->w, b->c, state, count));
	b->c = outer;
	extra.called = called;
	op = tfp_synth_hlo_add(&b->w, b->c, "while", name, before.shape, &before, 1, &extra, &meta);
	run(b, first, b->t->work_count, b->o->layers);
	for (unsigned i = 0; i < count; i++)
		state[i] = tfp_synth_hlo_element(&b->w, b->c, op, i);
}

/* Counter, x, inputs of all layers, weights. */
enum { F_X = 1, F_SAVED, F_WEIGHTS, F_COUNT = F_WEIGHTS + WEIGHTS };
/* Counter, gradient, inputs of all layers, weights, their gradients. */
enum { B_DX = 1, B_SAVED, B_WEIGHTS, B_GRADS = B_WEIGHTS + WEIGHTS, B_COUNT = B_GRADS + W_NORM };

static void forward_turn(struct builder *b, struct tfp_synth_hlo_value *state)
{
	struct layer l = forward(b, state[F_X], state[0], state + F_WEIGHTS, true);

	state[F_SAVED] = put_layer(b, state[F_SAVED], state[F_X], state[0], "layers");
	state[F_X] = l.out;
}

static void backward_turn(struct builder *b, struct tfp_synth_hlo_value *state)
{
	struct tfp_synth_hlo_value x = slice_of(b, state[B_SAVED], state[0], "layers");

	state[B_DX] = backward(b, x, state[B_DX], state[0], state + B_WEIGHTS, state + B_GRADS);
}

/* All turns, as a loop of the program or one after the other. */
static void all_layers(struct builder *b, struct tfp_synth_hlo_value *state, unsigned count,
		       const char *scope, bool back,
		       void (*turn)(struct builder *b, struct tfp_synth_hlo_value *state))
{
	size_t first = b->t->work_count;

	if (!b->o->unrolled) {
		b->scope = tfp_synth_hlo_text(&b->w, "%s", scope);
		state[0] = tfp_synth_hlo_constant(&b->w, b->c, HLO_S32, 0);
		b->scope = tfp_synth_hlo_text(&b->w, "%s/while/body/layers", scope);
		loop(b, state, count, "layers", turn);
		return;
	}
	for (unsigned i = 0; i < b->o->layers; i++) {
		unsigned layer = back ? b->o->layers - 1 - i : i;

		b->scope = tfp_synth_hlo_text(&b->w, "%s/layers_%u", scope, layer);
		state[0] = tfp_synth_hlo_constant(&b->w, b->c, HLO_S32, layer);
		turn(b, state);
	}
	run(b, first, b->t->work_count, 1);
}

/* ---- the rest of the step ---- */

/* A scalar sum as a computation, for reductions. */
static int64_t adder(struct builder *b, enum tfp_synth_hlo_type type, const char *name)
{
	struct tfp_synth_hlo_computation *c = tfp_synth_hlo_open(&b->w, name, false);
	struct tfp_synth_hlo_shape shape = {.type = type};
	struct tfp_synth_hlo_value pair[] = {
		tfp_synth_hlo_parameter(&b->w, c, 0, tfp_synth_hlo_name(&b->w, "Arg_0"), shape),
		tfp_synth_hlo_parameter(&b->w, c, 1, tfp_synth_hlo_name(&b->w, "Arg_1"), shape)};

	return tfp_synth_hlo_close(&b->w, c,
				   tfp_synth_hlo_add(&b->w, c, "add",
						     tfp_synth_hlo_name(&b->w, "add"), shape, pair,
						     2, NULL, NULL));
}

static struct tfp_synth_hlo_value embed(struct builder *b, struct tfp_synth_hlo_value table,
					struct tfp_synth_hlo_value tokens)
{
	struct tfp_synth_hlo_value inputs[] = {table, tokens};
	struct fusion f = fuse(b, "gather", meta_of(b, "embed", "gather", SRC_EMBED), inputs, 2);
	int64_t sizes[] = {1, WIDTH};
	struct tfp_synth_hlo_extra extra = {
		.slice_sizes = sizes, .slice_size_count = 2, .embedding_gather = true};
	struct tfp_synth_hlo_value root =
		tfp_synth_hlo_add(&b->w, b->c, "gather", tfp_synth_hlo_name(&b->w, "gather"),
				  rows(WIDTH), f.in, 2, &extra, &f.meta);

	return fused(b, &f, "kLoop", root, tfp_synth_hlo_bytes(&root.shape) + 4 * TOKENS);
}

static struct tfp_synth_hlo_value embed_gradient(struct builder *b,
						 struct tfp_synth_hlo_value grads,
						 struct tfp_synth_hlo_value tokens,
						 struct tfp_synth_hlo_value dx)
{
	struct tfp_synth_hlo_value inputs[] = {grads, tokens, dx};
	struct fusion f =
		fuse(b, "scatter", meta_of(b, "embed", "scatter-add", SRC_EMBED), inputs, 3);
	struct tfp_synth_hlo_extra extra = {
		.embedding_scatter = true, .called = &b->add_bf16, .called_count = 1};
	struct tfp_synth_hlo_value root =
		tfp_synth_hlo_add(&b->w, b->c, "scatter", tfp_synth_hlo_name(&b->w, "scatter"),
				  grads.shape, f.in, 3, &extra, &f.meta);

	return fused(b, &f, "kInput", root, -1);
}

/* Softmax and what it gives back, in one kernel for the sums and one for the rest. */
static struct tfp_synth_hlo_value loss_gradient(struct builder *b,
						struct tfp_synth_hlo_value logits,
						struct tfp_synth_hlo_value *loss)
{
	struct fusion f = fuse(b, "exponential_reduce", meta_of(b, "loss", "reduce_sum", SRC_LOSS),
			       &logits, 1);
	struct tfp_synth_hlo_value wide = convert(b, &f, f.in[0], HLO_F32), sums, y;

	sums = fused(b, &f, "kInput", row_sum(b, &f, op1(b, &f, "exponential", wide)), -1);
	struct tfp_synth_hlo_value inputs[] = {logits, sums};
	f = fuse(b, "exponential_divide", meta_of(b, "loss", "div", SRC_LOSS), inputs, 2);
	y = op1(b, &f, "exponential", convert(b, &f, f.in[0], HLO_F32));
	y = op2(b, &f, "divide", y, broadcast(b, &f, f.in[1], y.shape, 0));
	y = fused(b, &f, "kLoop", convert(b, &f, y, HLO_BF16), -1);
	f = fuse(b, "log_reduce", meta_of(b, "loss", "reduce_sum", SRC_LOSS), &sums, 1);
	int64_t dimension = 0;
	struct tfp_synth_hlo_extra extra = {.dimensions = &dimension,
					    .dimension_count = 1,
					    .called = &b->add_f32,
					    .called_count = 1};
	struct tfp_synth_hlo_value pair[] = {op1(b, &f, "log", f.in[0]),
					     tfp_synth_hlo_constant(&b->w, b->c, HLO_F32, 0)};
	*loss = fused(b, &f, "kInput",
		      tfp_synth_hlo_add(&b->w, b->c, "reduce", tfp_synth_hlo_name(&b->w, "reduce"),
					(struct tfp_synth_hlo_shape){.type = HLO_F32}, pair, 2,
					&extra, &f.meta),
		      -1);
	return y;
}

static struct tfp_synth_hlo_value zeros(struct builder *b, struct tfp_synth_hlo_shape shape,
					const char *where)
{
	struct fusion f =
		fuse(b, "broadcast", meta_of(b, where, "broadcast_in_dim", SRC_MODEL), NULL, 0);

	return fused(b, &f, "kLoop", scalar(b, &f, 0, shape), 0);
}

/* Started when the gradient is there, waited for before the update. */
static struct tfp_synth_hlo_value
sum_over_replicas(struct builder *b, struct tfp_synth_hlo_value grad, int64_t channel)
{
	struct tfp_synth_hlo_meta meta = meta_of(b, "gradients", "psum", SRC_STEP);
	struct tfp_synth_hlo_extra extra = {.called = &b->add_bf16,
					    .called_count = 1,
					    .replicas = b->o->replicas,
					    .channel = channel};
	struct tfp_synth_hlo_value start = tfp_synth_hlo_add(
		&b->w, b->c, "all-reduce-start", tfp_synth_hlo_name(&b->w, "all-reduce-start"),
		grad.shape, &grad, 1, &extra, &meta);

	/* A ring sends nearly twice the bytes. */
	launch(b, start, meta.op_name,
	       "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	       STREAM_COLLECTIVE,
	       2.0 * (double)tfp_synth_hlo_bytes(&grad.shape) / LINK_BYTES_PER_NS, 544, 25);
	return tfp_synth_hlo_add(&b->w, b->c, "all-reduce-done",
				 tfp_synth_hlo_name(&b->w, "all-reduce-done"), grad.shape, &start,
				 1, NULL, &meta);
}

/* state: the parameter and both moments, replaced. */
static void update(struct builder *b, struct tfp_synth_hlo_value state[3],
		   struct tfp_synth_hlo_value grad, const char *where)
{
	struct tfp_synth_hlo_value inputs[] = {state[0], grad, state[1], state[2]};
	struct fusion f = fuse(b, "adamw", meta_of(b, where, "add", SRC_ADAM), inputs, 4);
	struct tfp_synth_hlo_value g = convert(b, &f, f.in[1], HLO_F32), m, v, p, out[3], op;

	m = op2(b, &f, "add", op2(b, &f, "multiply", f.in[2], scalar(b, &f, 0.9, g.shape)),
		op2(b, &f, "multiply", g, scalar(b, &f, 0.1, g.shape)));
	v = op2(b, &f, "add", op2(b, &f, "multiply", f.in[3], scalar(b, &f, 0.95, g.shape)),
		op2(b, &f, "multiply", op2(b, &f, "multiply", g, g), scalar(b, &f, 0.05, g.shape)));
	p = op2(b, &f, "divide", m,
		op2(b, &f, "add", op1(b, &f, "sqrt", v), scalar(b, &f, 1e-8, g.shape)));
	p = op2(b, &f, "subtract", convert(b, &f, f.in[0], HLO_F32),
		op2(b, &f, "multiply", p, scalar(b, &f, 3e-4, g.shape)));
	out[0] = convert(b, &f, p, HLO_BF16);
	out[1] = m;
	out[2] = v;
	op = fused(b, &f, "kLoop", tfp_synth_hlo_tuple(&b->w, b->c, out, 3), -1);
	if (!b->failed)
		b->t->works[b->t->work_count - 1].after_collectives = true;
	for (unsigned i = 0; i < 3; i++)
		state[i] = tfp_synth_hlo_element(&b->w, b->c, op, i);
}

enum { P_EMBED = WEIGHTS, TRAINED, P_TOKENS = TRAINED };

static void build(struct builder *b)
{
	static const char *const names[TRAINED] = {"attention/qkv", "attention/out", "mlp/up",
						   "mlp/down",      "norm",          "embed"};
	int64_t layers = b->o->layers;
	struct tfp_synth_hlo_shape shapes[TRAINED] = {
		tfp_synth_hlo_array(HLO_BF16, 3, layers, (int64_t)WIDTH, INT64_C(3) * WIDTH),
		tfp_synth_hlo_array(HLO_BF16, 3, layers, (int64_t)WIDTH, (int64_t)WIDTH),
		tfp_synth_hlo_array(HLO_BF16, 3, layers, (int64_t)WIDTH, (int64_t)HIDDEN),
		tfp_synth_hlo_array(HLO_BF16, 3, layers, (int64_t)HIDDEN, (int64_t)WIDTH),
		tfp_synth_hlo_array(HLO_F32, 1, (int64_t)WIDTH),
		tfp_synth_hlo_array(HLO_BF16, 2, (int64_t)WORDS, (int64_t)WIDTH),
	};
	struct tfp_synth_hlo_value p[TRAINED][3], grads[TRAINED], state[B_COUNT],
		out[TRAINED * 3 + 1];
	struct tfp_synth_hlo_value tokens, x, logits, dlogits, loss, saved;
	size_t first;
	unsigned count = 0;

	b->add_f32 = adder(b, HLO_F32, "region_0");
	b->add_bf16 = adder(b, HLO_BF16, "region_1");
	b->c = tfp_synth_hlo_open(&b->w, "main.612", false);
	for (unsigned i = 0; i < TRAINED; i++)
		for (unsigned k = 0; k < 3; k++) {
			static const char *const kinds[] = {"params", "opt_state.mu",
							    "opt_state.nu"};
			struct tfp_synth_hlo_shape shape = shapes[i];

			if (k > 0)
				shape.type = HLO_F32;
			p[i][k] = tfp_synth_hlo_parameter(
				&b->w, b->c, i * 3 + k,
				tfp_synth_hlo_text(&b->w, "state.%s.%u", kinds[k], i), shape);
		}
	tokens = tfp_synth_hlo_parameter(&b->w, b->c, TRAINED * 3, "batch.tokens",
					 tfp_synth_hlo_array(HLO_S32, 1, (int64_t)TOKENS));

	b->scope = "jvp(TransformerLM)";
	first = b->t->work_count;
	x = embed(b, p[P_EMBED][0], tokens);
	saved = zeros(b, tfp_synth_hlo_array(HLO_BF16, 3, layers, (int64_t)TOKENS, (int64_t)WIDTH),
		      "layers");
	run(b, first, b->t->work_count, 1);
	state[F_X] = x;
	state[F_SAVED] = saved;
	for (unsigned i = 0; i < WEIGHTS; i++)
		state[F_WEIGHTS + i] = p[i][0];
	all_layers(b, state, F_COUNT, "jvp(TransformerLM)", false, forward_turn);
	x = state[F_X];
	saved = state[F_SAVED];

	first = b->t->work_count;
	b->scope = "jvp(TransformerLM)";
	logits = gemm(b, x, 1, p[P_EMBED][0], 1, dot(b, "unembed", SRC_EMBED));
	b->scope = "jvp(loss_fn)";
	dlogits = loss_gradient(b, logits, &loss);
	b->scope = "transpose(jvp(TransformerLM))";
	grads[P_EMBED] = gemm(b, dlogits, 0, x, 0, dot(b, "unembed", SRC_EMBED));
	state[B_DX] = gemm(b, dlogits, 1, p[P_EMBED][0], 0, dot(b, "unembed", SRC_EMBED));
	state[B_SAVED] = saved;
	for (unsigned i = 0; i < WEIGHTS; i++)
		state[B_WEIGHTS + i] = p[i][0];
	for (unsigned i = 0; i < W_NORM; i++)
		state[B_GRADS + i] = zeros(b, shapes[i], names[i]);
	run(b, first, b->t->work_count, 1);
	all_layers(b, state, B_COUNT, "transpose(jvp(TransformerLM))", true, backward_turn);

	first = b->t->work_count;
	b->scope = "transpose(jvp(TransformerLM))";
	for (unsigned i = 0; i < W_NORM; i++)
		grads[i] = state[B_GRADS + i];
	for (unsigned i = 0; i < W_NORM && b->o->replicas > 1; i++)
		grads[i] = sum_over_replicas(b, grads[i], i + 1);
	grads[P_EMBED] = embed_gradient(b, grads[P_EMBED], tokens, state[B_DX]);
	if (b->o->replicas > 1)
		grads[P_EMBED] = sum_over_replicas(b, grads[P_EMBED], W_NORM + 1);
	b->scope = "optimizer";
	for (unsigned i = 0; i < TRAINED; i++)
		if (i != W_NORM)
			update(b, p[i], grads[i], names[i]);
	run(b, first, b->t->work_count, 1);
	for (unsigned i = 0; i < TRAINED; i++)
		for (unsigned k = 0; k < 3; k++)
			out[count++] = p[i][k];
	out[count++] = loss;
	tfp_synth_hlo_close(&b->w, b->c, tfp_synth_hlo_tuple(&b->w, b->c, out, count));
}

enum tfp_status tfp_synth_train_step_init(struct tfp_synth_train_step *t,
					  const struct tfp_synth_train_options *o,
					  struct tfp_error *err)
{
	struct builder *b = tfp_calloc(1, sizeof(*b));
	bool ok;

	*t = (struct tfp_synth_train_step){.module = "jit_train_step",
					   .program_id = UINT64_C(41) + o->layers};
	tfp_buf_init(&t->proto, (size_t)1 << 30);
	if (!b)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a program");
	b->t = t;
	b->o = o;
	tfp_synth_hlo_writer_init(&b->w, t->module, sources, SRC_COUNT);
	build(b);
	ok = tfp_synth_hlo_writer_finish(&b->w, &t->proto) && !b->failed;
	/* Names of works lie in the writer's arena, which is the step's from here on. */
	t->arena = b->w.arena;
	b->w.arena = (struct tfp_arena){0};
	tfp_synth_hlo_writer_release(&b->w);
	tfp_free(b);
	for (size_t i = 0; i < t->order_count; i++)
		if (t->works[t->order[i]].stream == STREAM_COMPUTE)
			t->ns += t->works[t->order[i]].ns;
	if (!ok) {
		tfp_synth_train_step_release(t);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a program of %u layers",
				o->layers);
	}
	return TFP_OK;
}

void tfp_synth_train_step_release(struct tfp_synth_train_step *t)
{
	tfp_arena_release(&t->arena);
	tfp_buf_release(&t->proto);
	tfp_free(t->works);
	tfp_free(t->order);
	*t = (struct tfp_synth_train_step){0};
}
