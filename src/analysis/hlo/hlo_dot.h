/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of a program as a graph in graphviz's language, as XLA draws it (hlo_graph_dumper.cc):
 * what is within some steps of an instruction, or a whole computation. Fusions are drawn as what
 * they are made of, other called computations beside who calls them.
 *
 *     struct tfp_hlo_dot_request request = {.instruction = i, .radius = 3};
 *     status = tfp_hlo_write_dot(&program, &request, &buf, &err);
 */
#ifndef TFP_ANALYSIS_HLO_HLO_DOT_H
#define TFP_ANALYSIS_HLO_HLO_DOT_H

#include "analysis/hlo/hlo_program.h"
#include "base/buf.h"

/* Nodes of one graph; a graph of more says as a comment how many it lacks. */
#define TFP_HLO_DOT_NODES_MAX 20000u

struct tfp_hlo_dot_request {
	uint32_t instruction; /* TFP_HLO_NONE: a computation as a whole */
	uint32_t computation; /* which, then */
	uint32_t radius;
	bool merges_fusions;    /* they are one node each */
	bool has_configuration; /* backend configurations are shown */
	/* The category of an instruction ("loop fusion"); called for fusions. */
	struct tfp_str (*category)(const void *context, uint32_t instruction);
	const void *context;
};

/* Appends the graph. TFP_NO_MEMORY, TFP_CANCELLED. */
enum tfp_status tfp_hlo_write_dot(const struct tfp_hlo_program *program,
				  const struct tfp_hlo_dot_request *request, struct tfp_buf *out,
				  struct tfp_error *err) TFP_CHECK;

#endif
