/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What our page shows of a program's graph: nodes and edges of a neighbourhood, lines of the
 * program's text, instructions that were searched for. docs/tools/graph_viewer.md has the forms.
 */
#ifndef TFP_TOOLS_GRAPH_DOCUMENT_H
#define TFP_TOOLS_GRAPH_DOCUMENT_H

#include "analysis/hlo/hlo_modules.h"
#include "base/json_writer.h"
#include "tools/data_table.h"
#include "tools/program_graph.h"
#include "tools/program_ops.h"

/* What is known of a program besides the program. */
struct tfp_graph_source {
	const struct tfp_hlo_module *module;
	const struct tfp_program_ops *ops; /* what ran, or NULL */
	struct tfp_str_map times;          /* by an instruction's name its place in ops->list */
	const struct tfp_hlo_cost *costs;  /* NULL: the analysis failed */
	struct tfp_hlo_cost *own_costs;    /* where the module has none */
	struct tfp_hlo_frames frames;
	struct tfp_arena arena; /* texts of stacks */
};

/* ops may be NULL. Released by the caller in any case. */
enum tfp_status tfp_graph_source_init(struct tfp_graph_source *source,
				      const struct tfp_hlo_module *module,
				      const struct tfp_program_ops *ops,
				      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_graph_source_release(struct tfp_graph_source *source);

/* Writes a document as a value of j. */
enum tfp_status tfp_graph_write(struct tfp_graph_source *source,
				const struct tfp_program_graph *graph,
				const struct tfp_graph_request *request, struct tfp_json *j,
				struct tfp_error *err) TFP_CHECK;
/* The tables of nodes and edges, empty; released by the caller. */
void tfp_graph_tables_init(struct tfp_table *nodes, struct tfp_table *edges);
/* The same as these two tables. */
enum tfp_status tfp_graph_tables(struct tfp_graph_source *source,
				 const struct tfp_program_graph *graph,
				 const struct tfp_graph_request *request, struct tfp_table *nodes,
				 struct tfp_table *edges, struct tfp_error *err) TFP_CHECK;

/* count lines of the program's text from one on; flags of hlo_listing.h. */
enum tfp_status tfp_graph_write_lines(const struct tfp_hlo_module *module, unsigned flags,
				      uint64_t from, uint64_t count, struct tfp_json *j,
				      struct tfp_error *err) TFP_CHECK;

/* Instructions with the text, in any letters, in name, opcode, op name, shape, source or target;
 * the first limit of them, and how many there are. */
enum tfp_status tfp_graph_write_matches(const struct tfp_hlo_module *module, const char *text,
					uint64_t limit, struct tfp_json *j,
					struct tfp_error *err) TFP_CHECK;

#endif
