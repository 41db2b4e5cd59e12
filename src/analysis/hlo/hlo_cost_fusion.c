/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_cost_parts.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* Constants of at most so many elements are part of the code. */
#define IMMEDIATE_GENERIC 1
#define IMMEDIATE_GPU     8
/* A fusion's instructions may have that many roots together, for each of them: real ones have
 * a few. Fusions with more are not looked through. */
#define ROOTS_EACH 64

static enum tfp_status no_memory(struct tfp_hlo_costing *c)
{
	return tfp_fail(c->err, TFP_NO_MEMORY, "no memory for the costs of an HLO module");
}

/* ---- utilization: how much of what an instruction could compute is computed ---- */

/* Sets of roots: what instructions that are joined elementwise end in. A set grows by being
 * named several times, and is made one when its instruction's turn comes. */
struct root_link {
	uint32_t root, next; /* next: index of a link, or TFP_HLO_NONE */
};

struct roots {
	struct root_link *links;
	size_t count, room, most;
	uint32_t *heads;   /* by place in the computation */
	float *share;      /* by place: what is computed of it as a root */
	uint32_t *seen_at; /* by place, as a root: whose set had it last */
};

static bool add_root(struct roots *roots, uint32_t to, uint32_t root)
{
	if (roots->count >= roots->most || !TFP_GROW(roots->links, roots->count, roots->room))
		return false;
	roots->links[roots->count] = (struct root_link){root, roots->heads[to]};
	roots->heads[to] = (uint32_t)roots->count++;
	return true;
}

/* How much of an operand a use needs, as a share of its elements. */
static float share_of_operand(const struct tfp_hlo_costing *c, uint32_t i, uint32_t number)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i);
	const struct tfp_hlo_shape *operand = tfp_hlo_operand_shape(p, i, number);
	double n = (double)operand->elements;
	switch (op->opcode) {
	case TFP_HLO_SLICE:
	case TFP_HLO_DYNAMIC_SLICE:
	case TFP_HLO_GATHER:
		return number == 0 && n > 0 ? (float)((double)out->elements / n) : 1;
	case TFP_HLO_DYNAMIC_UPDATE_SLICE:
		if (number > 0)
			return 1;
		if (c->overwritten[i] || out->elements == 0)
			return 0;
		return (float)(((double)out->elements -
				(double)tfp_hlo_operand_shape(p, i, 1)->elements) /
			       (double)out->elements);
	case TFP_HLO_REDUCE:
		return number >= op->operand_count / 2
			       ? (float)tfp_hlo_real_output(p, out)->elements
			       : 1;
	case TFP_HLO_FUSION: {
		const struct tfp_hlo_fused *inner = &c->fused[tfp_hlo_called(p, i, 0)];
		if (number < inner->parameter_count && inner->parameters[number] != TFP_HLO_NONE)
			return c->utilization[inner->parameters[number]];
		return 0;
	}
	default:
		return 1;
	}
}

static bool keeps_dimensions(const struct tfp_hlo_program *p, uint32_t i)
{
	const struct tfp_hlo_shape *out = tfp_hlo_shape_of(p, i);
	const struct tfp_hlo_shape *in = tfp_hlo_operand_shape(p, i, 0);
	return out->rank == in->rank &&
	       (out->rank == 0 ||
		memcmp(out->dimensions, in->dimensions, out->rank * sizeof(*in->dimensions)) == 0);
}

static bool passes_roots_on(const struct tfp_hlo_program *p, uint32_t i)
{
	switch (p->instructions[i].opcode) {
	case TFP_HLO_TUPLE:
	case TFP_HLO_GET_TUPLE_ELEMENT:
		return true;
	case TFP_HLO_BITCAST:
		return p->instructions[i].operand_count > 0 && keeps_dimensions(p, i);
	default:
		return tfp_hlo_is_elementwise(p, i);
	}
}

/* One instruction of the walk from the root to the parameters; false when there are too many
 * roots, or no memory. */
static bool visit(struct tfp_hlo_costing *c, struct roots *roots, uint32_t first, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	uint32_t at = i - first, kept = TFP_HLO_NONE;
	float use = 0;
	for (uint32_t link = roots->heads[at], next; link != TFP_HLO_NONE; link = next) {
		uint32_t root = roots->links[link].root;
		next = roots->links[link].next;
		if (roots->seen_at[root] == at)
			continue;
		roots->seen_at[root] = at;
		use += roots->share[root];
		roots->links[link].next = kept;
		kept = link;
	}
	roots->heads[at] = kept;
	c->utilization[i] = use;
	bool pass = passes_roots_on(p, i);
	for (uint32_t o = 0; o < op->operand_count; o++) {
		uint32_t operand = tfp_hlo_operand(p, i, o), to = operand - first;
		if (pass) {
			for (uint32_t link = kept; link != TFP_HLO_NONE;
			     link = roots->links[link].next) {
				if (!add_root(roots, to, roots->links[link].root))
					return false;
			}
			continue;
		}
		float part = use * share_of_operand(c, i, o);
		float n = (float)tfp_hlo_shape_of(p, operand)->elements;
		part = n == 0 ? 0 : ceilf(part * n) / n;
		if (!add_root(roots, to, to))
			return false;
		roots->share[to] += part;
	}
	return true;
}

/* Sets utilization for a computation's instructions and adds up their flops. */
static enum tfp_status utilize(struct tfp_hlo_costing *c, uint32_t computation, float *flops)
{
	const struct tfp_hlo_computation *in = &c->program->computations[computation];
	size_t count = in->count;
	struct roots roots = {.most = count * ROOTS_EACH + 4096};
	uint32_t *order = tfp_calloc(count + 1, sizeof(*order));
	enum tfp_status status = TFP_OK;
	roots.heads = tfp_malloc((count + 1) * sizeof(*roots.heads));
	roots.share = tfp_calloc(count + 1, sizeof(*roots.share));
	roots.seen_at = tfp_malloc((count + 1) * sizeof(*roots.seen_at));
	if (!order || !roots.heads || !roots.share || !roots.seen_at)
		status = no_memory(c);
	if (status == TFP_OK)
		status = tfp_hlo_visit_order(c->program, computation, order, c->err);
	*flops = 0;
	if (status == TFP_OK) {
		memset(roots.heads, 0xff, (count + 1) * sizeof(*roots.heads));
		memset(roots.seen_at, 0xff, (count + 1) * sizeof(*roots.seen_at));
		uint32_t root = in->root - in->first;
		roots.share[root] = 1;
		if (!add_root(&roots, root, root))
			status = no_memory(c);
	}
	for (size_t k = count; status == TFP_OK && k-- > 0;) {
		if (!visit(c, &roots, in->first, order[k]))
			status = roots.count >= roots.most
					 ? tfp_fail(c->err, TFP_BAD_INPUT,
						    "a fusion is too entangled to be costed")
					 : no_memory(c);
		*flops += c->utilization[order[k]] * c->props[order[k]].gpu_flops;
	}
	tfp_free(order);
	tfp_free(roots.links);
	tfp_free(roots.heads);
	tfp_free(roots.share);
	tfp_free(roots.seen_at);
	return status;
}

/* ---- generic analysis: what is read of a parameter ---- */

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Bytes that a user's operand adds to those read of it, or -1 when it reads all of it and can
 * share that with others. */
static int64_t bytes_of_use(const struct tfp_hlo_costing *c, uint32_t user, uint32_t number)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_fused *inner;
	switch (p->instructions[user].opcode) {
	case TFP_HLO_FUSION:
		inner = &c->fused[tfp_hlo_called(p, user, 0)];
		return number < inner->parameter_count && inner->parameters[number] != TFP_HLO_NONE
			       ? c->read_bytes[inner->parameters[number]]
			       : 0;
	case TFP_HLO_SLICE:
		return tfp_hlo_shape_of(p, user)->bytes;
	case TFP_HLO_DYNAMIC_SLICE:
		return number == 0 ? tfp_hlo_shape_of(p, user)->bytes : -1;
	case TFP_HLO_DYNAMIC_UPDATE_SLICE:
		return number == 0 ? 0 : -1; /* the output's memory */
	case TFP_HLO_BROADCAST:
	case TFP_HLO_RESHAPE:
		return tfp_hlo_operand_shape(p, user, number)->bytes;
	default:
		return -1;
	}
}

/* Of all parameters, and of parts taken out of them, in one pass over their users. Inner
 * fusions' parameters have been looked at with their computation. */
static enum tfp_status read_by_users(struct tfp_hlo_costing *c, uint32_t computation)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_computation *in = &p->computations[computation];
	bool *read_whole = tfp_calloc((size_t)in->count + 1, sizeof(*read_whole));
	if (!read_whole)
		return no_memory(c);
	for (uint32_t user = in->first; user < in->first + in->count; user++) {
		for (uint32_t o = 0; o < p->instructions[user].operand_count; o++) {
			uint32_t i = tfp_hlo_operand(p, user, o);
			int64_t bytes = bytes_of_use(c, user, o);
			if (bytes < 0) {
				bytes = read_whole[i - in->first] ? 0
								  : tfp_hlo_shape_of(p, i)->bytes;
				read_whole[i - in->first] = true;
			}
			c->read_bytes[i] = add(c->read_bytes[i], bytes);
		}
	}
	tfp_free(read_whole);
	return TFP_OK;
}

/* ---- a computation that fusions call ---- */

static uint32_t part_of(const struct tfp_hlo_program *p, uint32_t tuple, uint32_t number)
{
	const struct tfp_hlo_op *op = &p->instructions[tuple];
	for (uint32_t u = 0; u < op->user_count; u++) {
		uint32_t user = p->users[op->first_user + u];
		if (p->instructions[user].opcode == TFP_HLO_GET_TUPLE_ELEMENT &&
		    p->instructions[user].number == number)
			return user;
	}
	return tuple; /* no instruction takes it: XLA goes on with the tuple */
}

static int64_t gpu_read_of(const struct tfp_hlo_costing *c, uint32_t i)
{
	float use = fminf(c->utilization[i], 1);
	return llround((double)tfp_hlo_shape_of(c->program, i)->bytes * (double)use);
}

struct leaves {
	int64_t generic, gpu, gpu_main;
	size_t budget;
};

/* Leaves of a tuple parameter, each by the instruction that takes it out. As deep as tuples go. */
static bool read_leaves(const struct tfp_hlo_costing *c, const struct tfp_hlo_shape *shape,
			uint32_t taken, struct leaves *sum)
{
	const struct tfp_hlo_program *p = c->program;
	for (uint32_t k = 0; shape->type == TFP_HLO_TYPE_TUPLE && k < shape->part_count; k++) {
		/* part_of looks at all users. */
		size_t work = (size_t)p->instructions[taken].user_count + 1;
		if (work > sum->budget)
			return false;
		sum->budget -= work;
		if (!read_leaves(c, &p->shapes.list[shape->first_part + k], part_of(p, taken, k),
				 sum))
			return false;
	}
	if (shape->type == TFP_HLO_TYPE_TUPLE)
		return true;
	int64_t gpu = gpu_read_of(c, taken);
	sum->generic = add(sum->generic, c->read_bytes[taken]);
	sum->gpu = add(sum->gpu, gpu);
	if (shape->has_layout && shape->memory_space == 0)
		sum->gpu_main = add(sum->gpu_main, gpu);
	return true;
}

static enum tfp_status read_parameters(struct tfp_hlo_costing *c, uint32_t computation)
{
	const struct tfp_hlo_program *p = c->program;
	struct tfp_hlo_fused *fused = &c->fused[computation];
	enum tfp_status status = read_by_users(c, computation);
	if (status != TFP_OK)
		return status;
	for (uint32_t n = 0; n < fused->parameter_count; n++) {
		uint32_t i = fused->parameters[n];
		if (i == TFP_HLO_NONE)
			continue;
		const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, i);
		struct leaves sum = {.budget = 1u << 22};
		if (shape->type == TFP_HLO_TYPE_TUPLE) {
			if (!read_leaves(c, shape, i, &sum))
				return tfp_fail(c->err, TFP_BAD_INPUT,
						"a fusion's tuple is too entangled to be costed");
		} else {
			sum.generic = c->read_bytes[i];
			sum.gpu = gpu_read_of(c, i);
		}
		fused->bytes += (float)sum.generic;
		fused->gpu_bytes += (float)sum.gpu;
		fused->parameter_bytes[n] = sum.gpu;
		fused->parameter_main[n] = sum.gpu_main;
	}
	return TFP_OK;
}

static enum tfp_status find_parameters(struct tfp_hlo_costing *c, uint32_t computation)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_computation *in = &p->computations[computation];
	struct tfp_hlo_fused *fused = &c->fused[computation];
	uint32_t count = 0;
	fused->gather_or_scatter = TFP_HLO_NONE;
	for (uint32_t i = in->first; i < in->first + in->count; i++) {
		const struct tfp_hlo_op *op = &p->instructions[i];
		if (fused->gather_or_scatter == TFP_HLO_NONE &&
		    (op->opcode == TFP_HLO_GATHER || op->opcode == TFP_HLO_SCATTER))
			fused->gather_or_scatter = i;
		if (op->opcode != TFP_HLO_PARAMETER)
			continue;
		if (op->number >= in->count)
			return tfp_fail(c->err, TFP_BAD_INPUT,
					"parameters of a fusion are not numbered one by one");
		if (op->number >= count)
			count = op->number + 1;
	}
	fused->parameters =
		tfp_arena_zalloc(&c->arena, (size_t)count + 1, sizeof(*fused->parameters));
	fused->parameter_bytes =
		tfp_arena_zalloc(&c->arena, (size_t)count + 1, sizeof(*fused->parameter_bytes));
	fused->parameter_main =
		tfp_arena_zalloc(&c->arena, (size_t)count + 1, sizeof(*fused->parameter_main));
	if (!fused->parameters || !fused->parameter_bytes || !fused->parameter_main)
		return no_memory(c);
	memset(fused->parameters, 0xff, count * sizeof(*fused->parameters));
	fused->parameter_count = count;
	for (uint32_t i = in->first; i < in->first + in->count; i++) {
		if (p->instructions[i].opcode == TFP_HLO_PARAMETER)
			fused->parameters[p->instructions[i].number] = i;
	}
	return TFP_OK;
}

/* What a dynamic-update-slice writes in place of its whole result. */
static bool writes_in_place(struct tfp_hlo_costing *c, uint32_t i, int64_t *bytes, int64_t *main)
{
	const struct tfp_hlo_program *p = c->program;
	if (p->instructions[i].opcode != TFP_HLO_DYNAMIC_UPDATE_SLICE)
		return false;
	*bytes = tfp_hlo_operand_shape(p, i, 1)->bytes;
	*main = tfp_hlo_shape_of(p, i)->memory_space == 0 ? *bytes : 0;
	c->overwritten[i] = true;
	return true;
}

static void write_outputs(struct tfp_hlo_costing *c, uint32_t computation)
{
	const struct tfp_hlo_program *p = c->program;
	struct tfp_hlo_fused *fused = &c->fused[computation];
	uint32_t root = p->computations[computation].root;
	const struct tfp_hlo_op *op = &p->instructions[root];
	int64_t bytes, main;
	if (op->opcode != TFP_HLO_TUPLE) {
		if (!writes_in_place(c, root, &bytes, &main)) {
			bytes = tfp_hlo_shape_of(p, root)->leaf_bytes;
			main = tfp_hlo_shape_of(p, root)->main_bytes;
		}
		fused->output = (float)bytes;
		fused->main_output = main;
	}
	for (uint32_t o = 0; op->opcode == TFP_HLO_TUPLE && o < op->operand_count; o++) {
		uint32_t i = tfp_hlo_operand(p, root, o);
		if (!writes_in_place(c, i, &bytes, &main)) {
			bytes = tfp_hlo_shape_of(p, i)->leaf_bytes;
			main = tfp_hlo_shape_of(p, i)->main_bytes;
		}
		fused->output += (float)bytes;
		fused->main_output = add(fused->main_output, main);
	}
	fused->bytes = fused->gpu_bytes = fused->output;
}

enum tfp_status tfp_hlo_cost_fused(struct tfp_hlo_costing *c, uint32_t computation)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_computation *in = &p->computations[computation];
	struct tfp_hlo_fused *fused = &c->fused[computation];
	enum tfp_status status = find_parameters(c, computation);
	if (status != TFP_OK)
		return status;
	write_outputs(c, computation);
	status = utilize(c, computation, &fused->gpu_flops);
	for (uint32_t i = in->first; status == TFP_OK && i < in->first + in->count; i++) {
		const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, i);
		if (p->instructions[i].opcode != TFP_HLO_CONSTANT)
			continue;
		if (shape->elements > IMMEDIATE_GENERIC)
			fused->bytes += (float)shape->bytes;
		if (shape->elements > IMMEDIATE_GPU)
			fused->gpu_bytes += (float)shape->bytes * fminf(c->utilization[i], 1);
	}
	return status == TFP_OK ? read_parameters(c, computation) : status;
}

enum tfp_status tfp_hlo_cost_fusion(struct tfp_hlo_costing *c, uint32_t i)
{
	const struct tfp_hlo_program *p = c->program;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_computation *in = &p->computations[tfp_hlo_called(p, i, 0)];
	const struct tfp_hlo_fused *fused = &c->fused[tfp_hlo_called(p, i, 0)];
	struct tfp_hlo_details details;
	enum tfp_status status = tfp_hlo_details(op, &details, c->err);
	if (status != TFP_OK)
		return status;
	if (details.fusion_kind.size == 7 && memcmp(details.fusion_kind.data, "kCustom", 7) == 0 &&
	    fused->gather_or_scatter != TFP_HLO_NONE) {
		uint32_t inner = fused->gather_or_scatter;
		if (p->instructions[inner].opcode == TFP_HLO_GATHER)
			tfp_hlo_cost_gather(c, inner, i);
		else
			tfp_hlo_cost_scatter(c, inner, i);
		return TFP_OK;
	}
	const struct tfp_hlo_props *sum = &c->sums[in - p->computations];
	c->props[i] = (struct tfp_hlo_props){
		.flops = sum->flops,
		.transcendentals = sum->transcendentals,
		.bytes = fused->bytes,
		.gpu_flops = fused->gpu_flops,
		.gpu_bytes = fused->gpu_bytes,
		.gpu_output = fused->output,
	};
	c->leaf_written[i] = fused->main_output;
	for (uint32_t o = 0; o < op->operand_count; o++) {
		bool has = o < fused->parameter_count && fused->parameters[o] != TFP_HLO_NONE;
		c->operand_bytes[op->first_operand + o] =
			has ? (float)fused->parameter_bytes[o] : 0;
		if (has)
			c->leaf_read[i] = add(c->leaf_read[i], fused->parameter_main[o]);
	}
	return TFP_OK;
}
