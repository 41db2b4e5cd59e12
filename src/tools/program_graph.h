/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a program that is drawn: what is within some hops of an instruction, or a whole
 * computation, and what is in called computations that are opened. There is a limit, and what it
 * cuts off is counted: of each node, too, so that somebody can go on there.
 *
 *     struct tfp_program_graph graph;
 *     status = tfp_program_graph_init(&graph, &program, &request, &err);
 *     ... graph.nodes[i], graph.edges[k] ...
 *     tfp_program_graph_release(&graph);
 */
#ifndef TFP_TOOLS_PROGRAM_GRAPH_H
#define TFP_TOOLS_PROGRAM_GRAPH_H

#include "analysis/hlo/hlo_program.h"

struct tfp_graph_request {
	uint32_t instruction; /* the centre; TFP_HLO_NONE: a computation as a whole */
	uint32_t computation; /* which, then */
	uint32_t hops;        /* from the centre, along operands and users */
	uint32_t limit;       /* of nodes */
	/* Instructions whose called computations are opened, a list with commas; may be NULL. Those
	 * that are no nodes are passed over. */
	const char *open;
};

struct tfp_graph_node {
	uint32_t instruction;
	uint32_t hops;   /* from the centre; of what is opened those of who opened it */
	uint32_t parent; /* the instruction whose called computation it is in, or TFP_HLO_NONE */
	bool is_open;
	/* Different operands and users that are no nodes. */
	uint32_t hidden_operands, hidden_users;
};

enum tfp_graph_edge_kind {
	TFP_EDGE_DATA,
	TFP_EDGE_CONTROL, /* only the order */
	TFP_EDGE_ENTER,   /* a value becomes the parameter of an opened computation */
	TFP_EDGE_RETURN,  /* the root of one becomes the result of who calls it */
};

struct tfp_graph_edge {
	uint32_t from, to; /* instructions, which are nodes */
	uint32_t operand;  /* of to: which it is */
	uint8_t kind;      /* enum tfp_graph_edge_kind */
};

struct tfp_program_graph {
	const struct tfp_hlo_program *program; /* borrowed */
	struct tfp_graph_node *nodes;          /* nearest first; owned */
	struct tfp_graph_edge *edges;          /* owned */
	size_t node_count, node_room, edge_count, edge_room;
	uint64_t cut;    /* instructions that the limit left out */
	uint32_t *place; /* of each instruction its node, one further; 0: none; owned */
};

/* Released by the caller in any case. TFP_NO_MEMORY, TFP_CANCELLED. */
enum tfp_status tfp_program_graph_init(struct tfp_program_graph *graph,
				       const struct tfp_hlo_program *program,
				       const struct tfp_graph_request *request,
				       struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_program_graph_release(struct tfp_program_graph *graph);

#endif
