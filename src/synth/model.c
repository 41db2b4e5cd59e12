/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/model.h"

#include "synth/kernels.h"
#include "synth/rng.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BLOCKS_MAX 48
/* Of TensorFlow's DataType. */
enum { DT_FLOAT = 1, DT_UINT8 = 4, DT_INT64 = 9, DT_BOOL = 10, DT_HALF = 19 };
/* What is not per op: input, executor, Python, eager ops. */
#define EVENTS_PER_STEP   125
#define EVENTS_PER_DEVICE 22
/* Leaves room for weights on a card with 40 GB. */
#define STEP_BYTES_MAX ((int64_t)24 << 30)

_Static_assert(FAMILY_COUNT <= TFP_SYNTH_FAMILIES_MAX, "a turn for every family");

struct builder {
	struct tfp_synth_model *m;
	unsigned side, channels; /* of the tensor that flows through */
	unsigned last;           /* op that made it */
	unsigned order_room;
};

static const char *text(struct tfp_synth_model *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *text(struct tfp_synth_model *m, const char *format, ...)
{
	const char *copy;
	va_list args;

	va_start(args, format);
	copy = tfp_arena_vprintf(&m->arena, format, args);
	va_end(args);
	if (!copy)
		m->no_memory = true;
	return copy ? copy : "";
}

static unsigned add_op(struct builder *b, enum tfp_synth_phase phase, const char *type,
		       const char *name)
{
	struct tfp_synth_model *m = b->m;
	struct tfp_synth_op *op;

	if (m->op_count == m->op_room) {
		/* Sized for the largest model; running over it is a defect that
		 * must not write beyond the array. */
		m->no_memory = true;
		return 0;
	}
	op = &m->ops[m->op_count];
	op->name = name;
	op->type = type;
	op->phase = phase;
	op->bucket = -1;
	op->region = "output";
	op->arguments = text(m, "(%s[%u,%u,%u,%u])", phase == PHASE_UPDATE ? "float" : "half",
			     m->batch, b->side, b->side, b->channels);
	op->host_ns = 3000 + synth_below(synth_draw(m->seed, m->op_count), 9000);
	return m->op_count++;
}

/* Kernels that MLIR generated are named for one type of op. */
static bool launched_by(const char *kernel, const char *type)
{
	size_t length = strlen(type);

	return !strstr(kernel, "_GPU_DT_") ||
	       (!strncmp(kernel, type, length) && !strncmp(kernel + length, "_GPU", 4));
}

/* The family's kernels that suit the op, in turn, so that even a small model
 * shows all of them. */
static unsigned choose_kernel(struct tfp_synth_model *m, enum tfp_synth_family family,
			      const char *type)
{
	unsigned suited[16] = {0}, count = 0;

	for (unsigned row = 0; row < tfp_synth_kernel_count(); row++) {
		const struct tfp_synth_kernel_row *r = tfp_synth_kernel_row_at(row);

		if (r->family != family || count == 16)
			continue;
		/* Any will do where none suits. */
		if (launched_by(r->kernel.name, type))
			suited[count++] = row;
		else if (count == 0)
			suited[0] = row;
	}
	if (count == 0)
		return suited[0];
	return suited[m->family_next[family]++ % count];
}

/* permille scales the family's nominal duration. */
static void add_use(struct builder *b, unsigned op, enum tfp_synth_family family, unsigned permille)
{
	struct tfp_synth_model *m = b->m;
	struct tfp_synth_op *o = &m->ops[op];
	struct tfp_synth_use *uses, *u;
	unsigned row = choose_kernel(m, family, o->type);
	uint64_t draw = synth_draw(m->seed ^ 0x75, (uint64_t)op * 8 + o->use_count);

	uses = tfp_arena_alloc(&m->arena, (o->use_count + 1) * sizeof(*uses));
	if (!uses) {
		m->no_memory = true;
		return;
	}
	if (o->use_count)
		memcpy(uses, o->uses, o->use_count * sizeof(*uses));
	u = &uses[o->use_count];
	memset(u, 0, sizeof(*u));
	u->kernel = row;
	u->ns = synth_jitter(draw, (int64_t)tfp_synth_kernel_row_at(row)->us * permille, 350);
	/* Durations in the table are for batches of 64. */
	if (o->phase == PHASE_FORWARD || o->phase == PHASE_BACKWARD)
		u->ns = u->ns * m->batch / 64;
	if (u->ns < 1500)
		u->ns = 1500;
	u->grid[0] = (unsigned)(1 + synth_below(synth_mix(draw), 32)) * 8;
	u->grid[1] = 1 + (unsigned)(b->channels / 64) % 16;
	u->grid[2] = family == FAMILY_WGRAD ? 4 : 1;
	u->bytes = (uint64_t)b->channels * b->channels * 18;
	o->uses = uses;
	o->use_count++;
	o->host_ns += 1500;
}

static void allocate(struct builder *b, unsigned op, int64_t bytes, int data_type,
		     const char *region, const char *shape)
{
	struct tfp_synth_op *o = &b->m->ops[op];

	o->requested = bytes;
	o->bytes = (bytes + 255) / 256 * 256;
	o->data_type = data_type;
	o->region = region;
	o->shape = shape;
}

static void free_after(struct builder *b, unsigned what, unsigned op)
{
	struct tfp_synth_model *m = b->m;

	if (m->ops[what].bytes == 0)
		return;
	for (unsigned i = op; i < m->op_count; i++)
		if (m->ops[i].free_count < TFP_SYNTH_FREES_MAX && m->ops[i].phase != PHASE_REDUCE) {
			m->ops[i].frees[m->ops[i].free_count++] = what;
			m->ops[what].freed = true;
			return;
		}
	/* Nobody left to free it: then it was never allocated. */
	m->ops[what].bytes = 0;
}

static void output(struct builder *b, unsigned op)
{
	struct tfp_synth_model *m = b->m;

	allocate(b, op, (int64_t)m->batch * b->side * b->side * b->channels * 2, DT_HALF, "output",
		 text(m, "[%u,%u,%u,%u]", m->batch, b->side, b->side, b->channels));
	b->last = op;
}

static unsigned forward(struct builder *b, const char *layer, const char *type, const char *leaf,
			enum tfp_synth_family family, unsigned permille, bool keeps)
{
	unsigned op = add_op(b, PHASE_FORWARD, type, text(b->m, "%s/%s", layer, leaf));

	add_use(b, op, family, permille);
	if (keeps)
		output(b, op);
	return op;
}

/* A variable read and cast to half, as mixed precision does. */
static void variable(struct builder *b, const char *layer, const char *type)
{
	unsigned op;

	add_op(b, PHASE_FORWARD, "ReadVariableOp", text(b->m, "%s/%s/ReadVariableOp", layer, type));
	op = add_op(b, PHASE_FORWARD, "Cast", text(b->m, "%s/%s/Cast", layer, type));
	add_use(b, op, FAMILY_CAST, 300);
}

static void conv(struct builder *b, const char *layer, unsigned permille)
{
	variable(b, layer, "Conv2D");
	forward(b, layer, "Conv2D", "Conv2D", FAMILY_CONV, permille, true);
}

static void conv_block(struct builder *b, unsigned stage, unsigned block)
{
	const char *base = text(b->m, "resnet50_vit/stage%u_block%u", stage + 1, block);
	unsigned side = 56u >> stage, channels = 64u << stage;
	unsigned permille = 1000 - stage * 180;

	b->side = side;
	for (unsigned i = 1; i <= 3; i++) {
		const char *layer = text(b->m, "%s_conv%u", base, i);

		b->channels = i == 3 ? channels * 4 : channels;
		conv(b, layer, permille);
		layer = text(b->m, "%s_bn%u", base, i);
		forward(b, layer, "FusedBatchNormV3", "FusedBatchNormV3", FAMILY_NORM, permille,
			i == 3);
		if (i < 3)
			forward(b, text(b->m, "%s_relu%u", base, i), "Relu", "Relu", FAMILY_RELU,
				permille, true);
	}
	forward(b, text(b->m, "%s_add", base), "AddV2", "add", FAMILY_BINARY, permille, false);
	forward(b, text(b->m, "%s_out", base), "Relu", "Relu", FAMILY_RELU, permille, true);
}

static void einsum(struct builder *b, const char *layer, const char *leaf, const char *equation)
{
	unsigned op = forward(b, layer, "Einsum", leaf, FAMILY_GEMM, 900, true);

	b->m->ops[op].equation = equation;
}

static void encoder_block(struct builder *b, unsigned block)
{
	const char *base = text(b->m, "resnet50_vit/transformer/encoder_block_%u", block);
	const char *attention = text(b->m, "%s/self_attention", base);
	static const char *const projections[] = {"query", "key", "value"};

	b->side = 14;
	b->channels = 768;
	forward(b, text(b->m, "%s/layer_norm_1", base), "FusedBatchNormV3",
		"batchnorm/FusedBatchNormV3", FAMILY_NORM, 400, false);
	for (unsigned i = 0; i < 3; i++) {
		const char *layer = text(b->m, "%s/%s", attention, projections[i]);

		variable(b, layer, "einsum");
		einsum(b, layer, "einsum/Einsum", "abc,cde->abde");
		forward(b, layer, "AddV2", "add", FAMILY_BINARY, 500, false);
	}
	forward(b, attention, "Transpose", "transpose", FAMILY_TRANSPOSE, 700, false);
	einsum(b, attention, "einsum/Einsum", "aecd,abcd->acbe");
	forward(b, attention, "Softmax", "softmax/Softmax", FAMILY_SOFTMAX, 900, true);
	add_use(b, b->last, FAMILY_SOFTMAX, 500);
	forward(b, attention, "RandomUniform", "dropout/dropout/random_uniform/RandomUniform",
		FAMILY_RANDOM, 800, false);
	forward(b, attention, "GreaterEqual", "dropout/dropout/GreaterEqual", FAMILY_SELECT, 700,
		false);
	forward(b, attention, "SelectV2", "dropout/dropout/SelectV2", FAMILY_SELECT, 700, true);
	einsum(b, attention, "einsum_1/Einsum", "acbe,aecd->abcd");
	einsum(b, attention, "attention_output/einsum/Einsum", "abcd,cde->abe");
	forward(b, base, "AddV2", "add", FAMILY_BINARY, 500, false);
	forward(b, text(b->m, "%s/layer_norm_2", base), "FusedBatchNormV3",
		"batchnorm/FusedBatchNormV3", FAMILY_NORM, 400, false);
	b->channels = 3072;
	variable(b, text(b->m, "%s/mlp/dense_1", base), "MatMul");
	forward(b, text(b->m, "%s/mlp/dense_1", base), "MatMul", "MatMul", FAMILY_GEMM, 2100, true);
	forward(b, text(b->m, "%s/mlp/dense_1", base), "BiasAdd", "BiasAdd", FAMILY_BIAS, 900,
		false);
	forward(b, text(b->m, "%s/mlp/gelu", base), "Erf", "Gelu/Erf", FAMILY_UNARY, 1000, true);
	forward(b, text(b->m, "%s/mlp/gelu", base), "Mul", "Gelu/mul_1", FAMILY_BINARY, 800, false);
	b->channels = 768;
	variable(b, text(b->m, "%s/mlp/dense_2", base), "MatMul");
	forward(b, text(b->m, "%s/mlp/dense_2", base), "MatMul", "MatMul", FAMILY_GEMM, 2000, true);
	forward(b, text(b->m, "%s/mlp/dense_2", base), "BiasAdd", "BiasAdd", FAMILY_BIAS, 500,
		false);
	forward(b, base, "AddV2", "add_1", FAMILY_BINARY, 500, false);
}

/* The head, which every model has, so that the smallest launches most of the
 * kernels too. */
static void attention_pool(struct builder *b)
{
	const char *base = "resnet50_vit/attention_pool";

	b->side = 14;
	b->channels = 768;
	forward(b, base, "GatherV2", "position_embedding/GatherV2", FAMILY_GATHER, 1000, false);
	forward(b, base, "Transpose", "transpose", FAMILY_TRANSPOSE, 700, false);
	einsum(b, base, "query_key/einsum/Einsum", "aecd,abcd->acbe");
	forward(b, base, "Softmax", "softmax/Softmax", FAMILY_SOFTMAX, 900, true);
	add_use(b, b->last, FAMILY_SOFTMAX, 500);
	forward(b, base, "RandomUniform", "dropout/dropout/random_uniform/RandomUniform",
		FAMILY_RANDOM, 800, false);
	forward(b, base, "GreaterEqual", "dropout/dropout/GreaterEqual", FAMILY_SELECT, 700, false);
	forward(b, base, "SelectV2", "dropout/dropout/SelectV2", FAMILY_SELECT, 700, false);
	einsum(b, base, "value/einsum/Einsum", "acbe,aecd->abcd");
	forward(b, base, "MatMul", "projection/MatMul", FAMILY_GEMM, 1500, true);
	forward(b, base, "Erf", "gelu/Erf", FAMILY_UNARY, 900, false);
}

static unsigned backward(struct builder *b, const struct tfp_synth_op *of, const char *type,
			 const char *leaf, enum tfp_synth_family family, unsigned permille)
{
	unsigned op = add_op(b, PHASE_BACKWARD, type, text(b->m, "%s/%s", of->name, leaf));

	b->m->ops[op].arguments = of->arguments;
	add_use(b, op, family, permille);
	return op;
}

/* Scratch that an op frees itself. */
static void workspace(struct builder *b, unsigned op, int64_t bytes)
{
	allocate(b, op, bytes, DT_UINT8, "temp", text(b->m, "[%lld]", (long long)bytes));
	free_after(b, op, op);
}

/* A gradient that lives until the next one has been computed from it. */
static void gradient(struct builder *b, unsigned op, const struct tfp_synth_op *of)
{
	if (of->bytes == 0)
		return;
	allocate(b, op, of->requested, DT_HALF, "output", of->shape);
	b->last = op;
}

static void gradients_of(struct builder *b, unsigned index)
{
	struct tfp_synth_model *m = b->m;
	const struct tfp_synth_op of = m->ops[index];
	unsigned before = b->last, first = m->op_count, op;

	if (!strcmp(of.type, "Conv2D")) {
		op = backward(b, &of, "Conv2DBackpropInput", "Conv2DBackpropInput", FAMILY_DGRAD,
			      900);
		gradient(b, op, &of);
		op = backward(b, &of, "Conv2DBackpropFilter", "Conv2DBackpropFilter", FAMILY_MEMSET,
			      1000);
		add_use(b, op, FAMILY_WGRAD, 900);
		add_use(b, op, FAMILY_SPLIT_K, 700);
		workspace(b, op, (int64_t)36904960 + (int64_t)(index % 7) * 262144);
	} else if (!strcmp(of.type, "FusedBatchNormV3")) {
		op = backward(b, &of, "FusedBatchNormGradV3", "FusedBatchNormGradV3",
			      FAMILY_NORM_GRAD, 700);
		gradient(b, op, &of);
	} else if (!strcmp(of.type, "Relu")) {
		op = backward(b, &of, "ReluGrad", "ReluGrad", FAMILY_RELU_GRAD, 900);
		gradient(b, op, &of);
	} else if (!strcmp(of.type, "AddV2")) {
		backward(b, &of, "AddN", "AddN", FAMILY_ADD_N, 700);
	} else if (!strcmp(of.type, "MatMul")) {
		bool single = strstr(of.name, "predictions") != NULL;

		op = backward(b, &of, "MatMul", "MatMul", single ? FAMILY_SGEMM : FAMILY_GEMM,
			      single ? 300 : 1900);
		gradient(b, op, &of);
		op = backward(b, &of, "MatMul", "MatMul_1", single ? FAMILY_SGEMM : FAMILY_GEMM,
			      single ? 300 : 1900);
		add_use(b, op, FAMILY_SPLIT_K, 900);
	} else if (!strcmp(of.type, "Einsum")) {
		op = backward(b, &of, "Einsum", "Einsum", FAMILY_GEMM, 900);
		m->ops[op].equation = of.equation;
		gradient(b, op, &of);
		op = backward(b, &of, "Einsum", "Einsum_1", FAMILY_GEMM, 900);
		m->ops[op].equation = of.equation;
	} else if (!strcmp(of.type, "BiasAdd")) {
		backward(b, &of, "BiasAddGrad", "BiasAddGrad", FAMILY_BIAS_GRAD, 800);
	} else if (!strcmp(of.type, "Softmax")) {
		backward(b, &of, "Mul", "mul", FAMILY_BINARY, 900);
		backward(b, &of, "Sum", "Sum", FAMILY_REDUCE, 900);
		op = backward(b, &of, "Sub", "sub", FAMILY_BINARY, 900);
		gradient(b, op, &of);
	} else if (!strcmp(of.type, "SelectV2")) {
		op = backward(b, &of, "SelectV2", "SelectV2", FAMILY_SELECT, 700);
		gradient(b, op, &of);
	} else if (!strcmp(of.type, "Erf")) {
		backward(b, &of, "Mul", "mul", FAMILY_BINARY, 900);
		backward(b, &of, "Exp", "Exp", FAMILY_UNARY, 900);
	} else if (!strcmp(of.type, "MaxPool")) {
		op = backward(b, &of, "MaxPoolGrad", "MaxPoolGrad", FAMILY_POOL_GRAD, 1000);
		gradient(b, op, &of);
	} else if (!strcmp(of.type, "Mean")) {
		backward(b, &of, "Tile", "Tile", FAMILY_COPY, 1000);
	} else if (!strcmp(of.type, "Transpose")) {
		backward(b, &of, "Transpose", "transpose", FAMILY_TRANSPOSE, 700);
	}
	if (m->op_count == first)
		return;
	op = m->op_count - 1;
	if (b->last != before && m->ops[before].phase == PHASE_BACKWARD)
		free_after(b, before, op);
	free_after(b, index, op);
}

static void add_reduce(struct builder *b, unsigned bucket)
{
	struct tfp_synth_model *m = b->m;
	unsigned op = add_op(b, PHASE_REDUCE, "CollectiveReduceV2",
			     text(m, "CollectiveReduceV2_%u", bucket));

	m->ops[op].bucket = (int)bucket;
	m->ops[op].reduce_bytes = (uint64_t)8 << 20;
	m->ops[op].arguments = text(m, "(half[4194304];int32[];int32[];int32[])");
	add_use(b, op, FAMILY_NCCL, 1000);
}

static void add_update(struct builder *b, unsigned index, unsigned number)
{
	struct tfp_synth_model *m = b->m;
	unsigned op = add_op(b, PHASE_UPDATE, "ResourceApplyAdam",
			     text(m, "%u/ResourceApplyAdam", number));

	m->ops[op].arguments = text(m, "(resource[];resource[];resource[];float[];float[%u])",
				    64u + index % 32 * 64);
	add_use(b, op, FAMILY_UPDATE, 1000);
}

static bool has_variable(const char *type)
{
	return !strcmp(type, "Conv2D") || !strcmp(type, "FusedBatchNormV3") ||
	       !strcmp(type, "MatMul") || !strcmp(type, "Einsum") || !strcmp(type, "BiasAdd");
}

static void build_forward(struct builder *b, unsigned blocks)
{
	unsigned encoders = blocks < 2 ? 0 : (blocks + 1) / 3;
	unsigned convs = blocks - encoders;
	unsigned op;

	b->side = 224;
	b->channels = 3;
	op = forward(b, "resnet50_vit/normalization", "Cast", "Cast", FAMILY_CAST_INPUT, 1000,
		     true);
	b->m->ops[op].arguments = text(b->m, "(uint8[%u,224,224,3])", b->m->batch);
	forward(b, "resnet50_vit/normalization", "Sub", "sub", FAMILY_BINARY, 1000, false);
	b->side = 112;
	b->channels = 64;
	conv(b, "resnet50_vit/conv1_conv", 1300);
	forward(b, "resnet50_vit/conv1_bn", "FusedBatchNormV3", "FusedBatchNormV3", FAMILY_NORM,
		1500, true);
	forward(b, "resnet50_vit/conv1_relu", "Relu", "Relu", FAMILY_RELU, 1500, true);
	b->side = 56;
	forward(b, "resnet50_vit/pool1_pool", "MaxPool", "MaxPool", FAMILY_POOL, 1000, true);
	for (unsigned i = 0; i < convs; i++)
		conv_block(b, i * 4 / convs, i);
	for (unsigned i = 0; i < encoders; i++)
		encoder_block(b, i);
	attention_pool(b);
	b->side = 1;
	forward(b, "resnet50_vit/avg_pool", "Mean", "Mean", FAMILY_REDUCE, 900, true);
	b->channels = 1000;
	variable(b, "resnet50_vit/predictions", "MatMul");
	forward(b, "resnet50_vit/predictions", "MatMul", "MatMul", FAMILY_SGEMM, 500, true);
	forward(b, "resnet50_vit/predictions", "BiasAdd", "BiasAdd", FAMILY_BIAS, 300, false);
	op = forward(b, "sparse_categorical_crossentropy", "SparseSoftmaxCrossEntropyWithLogits",
		     "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits",
		     FAMILY_REDUCE, 800, false);
	add_use(b, op, FAMILY_LOSS, 800);
	add_use(b, op, FAMILY_LOSS, 800);
	forward(b, "sparse_categorical_crossentropy", "Sum", "weighted_loss/Sum", FAMILY_REDUCE,
		300, false);
}

static unsigned last_backward(const struct tfp_synth_model *m)
{
	unsigned i = m->op_count - 1;

	while (m->ops[i].phase != PHASE_BACKWARD)
		i--;
	return i;
}

static void build_backward(struct builder *b)
{
	struct tfp_synth_model *m = b->m;
	unsigned forwards = m->op_count, bucket = 0, op;

	b->last = 0;
	for (unsigned i = forwards; i-- > 0;) {
		gradients_of(b, i);
		/* Buckets of equal size; the last one closes the pass. */
		if (bucket + 1 < m->buckets &&
		    (forwards - i) * m->buckets >= (bucket + 1) * forwards)
			add_reduce(b, bucket++);
	}
	/* What is left goes before the pass ends, so that passes can repeat. */
	if (m->ops[b->last].phase == PHASE_BACKWARD)
		free_after(b, b->last, last_backward(m));
	for (unsigned i = 0; i < forwards; i++)
		if (!m->ops[i].freed)
			free_after(b, i, forwards);
	add_reduce(b, bucket);
	op = add_op(b, PHASE_UPDATE, "IsFinite", text(m, "all_finite/IsFinite"));
	add_use(b, op, FAMILY_FINITE, 1000);
	op = add_op(b, PHASE_UPDATE, "All", text(m, "all_finite/All"));
	add_use(b, op, FAMILY_FINITE, 1000);
	op = add_op(b, PHASE_UPDATE, "Rsqrt", text(m, "global_norm/Rsqrt"));
	add_use(b, op, FAMILY_UNARY, 500);
	op = add_op(b, PHASE_UPDATE, "Square", text(m, "global_norm/Square"));
	add_use(b, op, FAMILY_UNARY, 500);
	for (unsigned i = 0, number = 0; i < forwards; i++)
		if (has_variable(m->ops[i].type))
			add_update(b, i, number++);
}

/* Every op's memory at an address of its own, so that no two that live at the
 * same time share one. */
static void place_memory(struct tfp_synth_model *m)
{
	int64_t at = 0, live = 0;

	m->step_bytes = 0;
	for (unsigned i = 0; i < m->op_count; i++) {
		m->ops[i].address = at;
		at += m->ops[i].bytes;
	}
	for (unsigned i = 0; i < m->op_count; i++) {
		live += m->ops[i].bytes;
		if (live > m->step_bytes)
			m->step_bytes = live;
		for (unsigned k = 0; k < m->ops[i].free_count; k++)
			live -= m->ops[m->ops[i].frees[k]].bytes;
	}
}

static unsigned events_of(const struct tfp_synth_op *op)
{
	return 1 + 2 * op->use_count + (op->bytes > 0) + op->free_count +
	       (op->phase == PHASE_REDUCE ? 2 : 0);
}

static enum tfp_status build(struct tfp_synth_model *m, uint64_t seed, unsigned blocks,
			     unsigned batch, struct tfp_error *err)
{
	struct builder b = {.m = m};

	tfp_synth_model_release(m);
	tfp_arena_init(&m->arena, (size_t)1 << 28);
	m->seed = synth_mix(seed);
	m->op_room = 200 + blocks * 120;
	m->batch = batch;
	m->buckets = blocks < 2 ? 1 : blocks < 8 ? 2 : blocks < 24 ? 4 : 8;
	m->ops = tfp_arena_zalloc(&m->arena, m->op_room, sizeof(*m->ops));
	if (!m->ops)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a model of %u blocks", blocks);
	build_forward(&b, blocks);
	build_backward(&b);
	place_memory(m);
	m->resident_bytes = (int64_t)(640 + 48 * blocks) << 20;
	m->input_bytes = (uint64_t)batch * 224 * 224 * 3;
	if (m->no_memory)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a model of %u blocks", blocks);
	return TFP_OK;
}

static unsigned device_events(const struct tfp_synth_model *m, bool update)
{
	unsigned events = 0;

	for (unsigned i = 0; i < m->op_count; i++)
		if ((m->ops[i].phase >= PHASE_REDUCE) == update)
			events += events_of(&m->ops[i]);
	return events;
}

static enum tfp_status put_in_order(struct tfp_synth_model *m, unsigned micro_batches,
				    struct tfp_error *err)
{
	unsigned run = 0, left = 0, previous = UINT32_MAX;
	size_t room = (size_t)m->op_count * micro_batches;

	m->order = tfp_arena_zalloc(&m->arena, room, sizeof(*m->order));
	m->thread_run = tfp_arena_zalloc(&m->arena, room, sizeof(*m->thread_run));
	if (!m->order || !m->thread_run)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a step of %zu ops", room);
	for (unsigned pass = 0; pass < micro_batches; pass++)
		for (unsigned i = 0; i < m->op_count; i++) {
			unsigned kind = m->ops[i].phase;

			/* Reductions and updates follow the last micro-batch. */
			if (kind >= PHASE_REDUCE && pass + 1 < micro_batches)
				continue;
			/* A run ends where an executor thread hands over: after a
			 * dozen ops or so, and before the update, which waits. */
			if (left == 0 || (kind == PHASE_UPDATE && previous != PHASE_UPDATE)) {
				run++;
				left = 8 +
				       (unsigned)synth_below(synth_draw(m->seed ^ 0x72, run), 16);
			}
			left--;
			previous = kind;
			m->order[m->order_count] = i;
			m->thread_run[m->order_count++] = run;
			m->use_total += m->ops[i].use_count;
		}
	return TFP_OK;
}

enum tfp_status tfp_synth_model_init(struct tfp_synth_model *m, uint64_t seed, unsigned devices,
				     unsigned events, struct tfp_error *err)
{
	unsigned low = 1, high = BLOCKS_MAX, batch = 256, micro_batches = 1, once, fixed;
	enum tfp_status status;
	unsigned budget;

	memset(m, 0, sizeof(*m));
	fixed = EVENTS_PER_STEP + devices * EVENTS_PER_DEVICE;
	budget = events > fixed ? (events - fixed) / devices : 0;
	while (low < high) {
		unsigned middle = (low + high + 1) / 2;

		status = build(m, seed, middle, batch, err);
		if (status != TFP_OK)
			return status;
		if (device_events(m, false) + device_events(m, true) <= budget)
			low = middle;
		else
			high = middle - 1;
	}
	do {
		status = build(m, seed, low, batch, err);
		if (status != TFP_OK)
			return status;
		batch /= 2;
	} while (m->step_bytes > STEP_BYTES_MAX && batch > 1);
	once = device_events(m, false);
	if (low == BLOCKS_MAX && budget > device_events(m, true) + 2 * once)
		micro_batches = (budget - device_events(m, true)) / once;
	return put_in_order(m, micro_batches, err);
}

void tfp_synth_model_release(struct tfp_synth_model *m)
{
	tfp_arena_release(&m->arena);
	memset(m, 0, sizeof(*m));
}

void tfp_synth_model_op_name(const struct tfp_synth_op *op, unsigned device, char *out, size_t size)
{
	char replica[24] = "";

	if (device > 0)
		snprintf(replica, sizeof(replica), "replica_%u/", device);
	switch (op->phase) {
	case PHASE_BACKWARD:
		snprintf(out, size, "gradient_tape/%s%s", replica, op->name);
		return;
	case PHASE_UPDATE:
		if (device > 0)
			snprintf(out, size, "Adam/Adam/update_%u_%s", device, op->name);
		else
			snprintf(out, size, "Adam/Adam/update_%s", op->name);
		return;
	default:
		snprintf(out, size, "%s%s", replica, op->name);
	}
}
