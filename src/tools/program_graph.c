/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/program_graph.h"

#include "base/alloc.h"
#include "base/progress.h"

#include <string.h>

/* What is reached, in the order in which it is; what is beyond the limit is counted only. */
struct walk {
	struct tfp_program_graph *graph;
	const struct tfp_graph_request *request;
	uint32_t *queue; /* of instructions, each once */
	uint32_t *hops;  /* of each, one further; 0: not reached */
	size_t count, taken;
};

static const struct tfp_hlo_op *op_of(const struct tfp_program_graph *g, uint32_t i)
{
	return &g->program->instructions[i];
}

static bool add_node(struct tfp_program_graph *g, const struct tfp_graph_request *request,
		     uint32_t instruction, uint32_t hops, uint32_t parent)
{
	if (g->place[instruction])
		return true;
	if (g->node_count >= request->limit) {
		g->cut++;
		return true;
	}
	if (!TFP_GROW(g->nodes, g->node_count, g->node_room))
		return false;
	g->nodes[g->node_count] =
		(struct tfp_graph_node){.instruction = instruction, .hops = hops, .parent = parent};
	g->place[instruction] = (uint32_t)++g->node_count;
	return true;
}

static void reach(struct walk *w, uint32_t instruction, uint32_t hops)
{
	if (w->hops[instruction])
		return;
	w->hops[instruction] = hops + 1;
	w->queue[w->count++] = instruction;
}

static void reach_neighbours(struct walk *w, uint32_t instruction, uint32_t hops)
{
	const struct tfp_hlo_program *p = w->graph->program;
	const struct tfp_hlo_op *op = &p->instructions[instruction];
	for (uint32_t o = 0; o < op->operand_count; o++)
		reach(w, tfp_hlo_operand(p, instruction, o), hops);
	for (uint32_t u = 0; u < op->user_count; u++)
		reach(w, p->users[op->first_user + u], hops);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for a graph");
}

static enum tfp_status find_neighbourhood(struct tfp_program_graph *g,
					  const struct tfp_graph_request *request,
					  struct tfp_error *err)
{
	size_t count = (size_t)g->program->instruction_count + 1;
	struct walk w = {
		g, request, tfp_calloc(count, sizeof(*w.queue)), tfp_calloc(count, sizeof(*w.hops)),
		0, 0};
	enum tfp_status status = w.queue && w.hops ? TFP_OK : no_memory(err);
	if (status == TFP_OK)
		reach(&w, request->instruction, 0);
	for (; status == TFP_OK && w.taken < w.count; w.taken++) {
		uint32_t at = w.queue[w.taken], hops = w.hops[at] - 1;
		if (!tfp_goes_on(w.taken))
			status = tfp_fail_cancelled(err);
		else if (!add_node(g, request, at, hops, TFP_HLO_NONE))
			status = no_memory(err);
		else if (hops < request->hops)
			reach_neighbours(&w, at, hops + 1);
	}
	tfp_free(w.queue);
	tfp_free(w.hops);
	return status;
}

static enum tfp_status add_computation(struct tfp_program_graph *g,
				       const struct tfp_graph_request *request,
				       uint32_t computation, uint32_t hops, uint32_t parent,
				       struct tfp_error *err)
{
	const struct tfp_hlo_computation *c = &g->program->computations[computation];
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		if (!tfp_goes_on(i))
			return tfp_fail_cancelled(err);
		if (!add_node(g, request, i, hops, parent))
			return no_memory(err);
	}
	return TFP_OK;
}

/* ---- what is opened ---- */

static bool is_named(const char *list, struct tfp_str name)
{
	while (*list) {
		size_t size = strcspn(list, ",");
		if (size == name.size && memcmp(list, name.data, size) == 0)
			return true;
		list += size + (list[size] == ',');
	}
	return false;
}

/* Nodes that are added meanwhile may be opened, too: called computations come before their
 * callers, so this ends. */
static enum tfp_status open_nodes(struct tfp_program_graph *g,
				  const struct tfp_graph_request *request, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (!request->open || !*request->open)
		return TFP_OK;
	for (size_t n = 0; status == TFP_OK && n < g->node_count; n++) {
		uint32_t at = g->nodes[n].instruction, hops = g->nodes[n].hops;
		const struct tfp_hlo_op *op = op_of(g, at);
		if (op->called_count == 0 || !is_named(request->open, op->name))
			continue;
		g->nodes[n].is_open = true;
		for (uint32_t k = 0; status == TFP_OK && k < op->called_count; k++)
			status = add_computation(g, request, tfp_hlo_called(g->program, at, k),
						 hops, at, err);
	}
	return status;
}

/* ---- edges ---- */

static bool add_edge(struct tfp_program_graph *g, uint32_t from, uint32_t to, uint32_t operand,
		     enum tfp_graph_edge_kind kind)
{
	if (!g->place[from] || !g->place[to])
		return true;
	if (!TFP_GROW(g->edges, g->edge_count, g->edge_room))
		return false;
	g->edges[g->edge_count++] = (struct tfp_graph_edge){from, to, operand, (uint8_t)kind};
	return true;
}

static bool is_among_earlier(const struct tfp_hlo_program *p, uint32_t i, uint32_t count,
			     uint32_t operand)
{
	for (uint32_t o = 0; o < count; o++) {
		if (tfp_hlo_operand(p, i, o) == operand)
			return true;
	}
	return false;
}

/* Values of a fusion or call become parameters by their numbers. Of other operations, which
 * value does depends on them: a loop's is both a parameter and a result. */
static bool add_call_edges(struct tfp_program_graph *g, uint32_t i)
{
	const struct tfp_hlo_op *op = op_of(g, i);
	bool by_number = op->opcode == TFP_HLO_FUSION || op->opcode == TFP_HLO_CALL ||
			 op->opcode == TFP_HLO_WHILE || op->opcode == TFP_HLO_ASYNC_START;
	bool ok = true;
	for (uint32_t k = 0; ok && k < op->called_count; k++) {
		const struct tfp_hlo_computation *c =
			&g->program->computations[tfp_hlo_called(g->program, i, k)];
		for (uint32_t n = c->first; ok && by_number && n < c->first + c->count; n++) {
			const struct tfp_hlo_op *parameter = op_of(g, n);
			if (parameter->opcode == TFP_HLO_PARAMETER &&
			    parameter->number < op->operand_count)
				ok = add_edge(g, tfp_hlo_operand(g->program, i, parameter->number),
					      n, parameter->number, TFP_EDGE_ENTER);
		}
		ok = ok && add_edge(g, c->root, i, k, TFP_EDGE_RETURN);
	}
	return ok;
}

static bool add_edges(struct tfp_program_graph *g, struct tfp_graph_node *node)
{
	const struct tfp_hlo_program *p = g->program;
	uint32_t i = node->instruction;
	const struct tfp_hlo_op *op = &p->instructions[i];
	bool ok = true;
	for (uint32_t o = 0; ok && o < op->operand_count; o++) {
		uint32_t operand = tfp_hlo_operand(p, i, o);
		/* Who takes a value twice is told of it once. Thousands are looked at as they are.
		 */
		if (!g->place[operand])
			node->hidden_operands += o > 4096 || !is_among_earlier(p, i, o, operand);
		ok = add_edge(g, operand, i, o, TFP_EDGE_DATA);
	}
	for (uint32_t u = 0; u < op->user_count; u++)
		node->hidden_users += !g->place[p->users[op->first_user + u]];
	for (uint32_t k = 0; ok && k < op->control_count; k++)
		ok = add_edge(g, p->controls[op->first_control + k], i, 0, TFP_EDGE_CONTROL);
	return ok && (!node->is_open || add_call_edges(g, i));
}

enum tfp_status tfp_program_graph_init(struct tfp_program_graph *graph,
				       const struct tfp_hlo_program *program,
				       const struct tfp_graph_request *request,
				       struct tfp_error *err)
{
	*graph = (struct tfp_program_graph){.program = program};
	graph->place = tfp_calloc((size_t)program->instruction_count + 1, sizeof(*graph->place));
	if (!graph->place)
		return no_memory(err);
	enum tfp_status status = request->instruction == TFP_HLO_NONE
					 ? add_computation(graph, request, request->computation, 0,
							   TFP_HLO_NONE, err)
					 : find_neighbourhood(graph, request, err);
	if (status == TFP_OK)
		status = open_nodes(graph, request, err);
	for (size_t i = 0; status == TFP_OK && i < graph->node_count; i++) {
		if (!add_edges(graph, &graph->nodes[i]))
			status = no_memory(err);
	}
	return status;
}

void tfp_program_graph_release(struct tfp_program_graph *graph)
{
	tfp_free(graph->nodes);
	tfp_free(graph->edges);
	tfp_free(graph->place);
	*graph = (struct tfp_program_graph){0};
}
