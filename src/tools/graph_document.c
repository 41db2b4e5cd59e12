/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/graph_document.h"

#include "analysis/hlo/hlo_listing.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Bytes of a shape, an attribute and a line that are shown; stacks are whole. */
#define SHAPE_MOST      4000
#define LINE_SHOWN      4000
#define ATTRIBUTES_MOST 1000
/* Bytes of what such texts are cut from. */
#define TEXT_ROOM       ((size_t)1 << 20)
#define COMPUTATION_MAX 1000 /* called computations of a node that are named */

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for a graph");
}

static bool is_of(const struct tfp_op *op, uint64_t program_id)
{
	return op->module_id == program_id && tfp_op_origin(op) == TFP_ORIGIN_INSTRUCTION;
}

enum tfp_status tfp_graph_source_init(struct tfp_graph_source *source,
				      const struct tfp_hlo_module *module,
				      const struct tfp_program_ops *ops, struct tfp_error *err)
{
	struct tfp_error problem;
	*source = (struct tfp_graph_source){.module = module, .ops = ops, .costs = module->costs};
	tfp_arena_init(&source->arena, SIZE_MAX);
	tfp_error_init(&problem);
	if (!source->costs) {
		enum tfp_status status =
			tfp_hlo_cost_analyse(&module->program, &source->own_costs, &problem);
		if (status == TFP_NO_MEMORY)
			return no_memory(err);
		/* Costs of a program that cannot be analysed are unknown. */
		source->costs = status == TFP_OK ? source->own_costs : NULL;
	}
	for (size_t i = 0; ops && i < ops->count; i++) {
		const struct tfp_op *op = ops->list[i];
		if (is_of(op, module->program_id) &&
		    tfp_str_map_add(&source->times, op->name.data, op->name.size, (uint32_t)i) ==
			    TFP_STR_MAP_NONE)
			return no_memory(err);
	}
	return tfp_hlo_frames_init(&source->frames, &module->program, err);
}

void tfp_graph_source_release(struct tfp_graph_source *source)
{
	tfp_str_map_release(&source->times);
	tfp_free(source->own_costs);
	tfp_hlo_frames_release(&source->frames);
	tfp_arena_release(&source->arena);
	*source = (struct tfp_graph_source){0};
}

/* What ran of an instruction, or NULL. */
static const struct tfp_op *time_of(const struct tfp_graph_source *s, uint32_t instruction)
{
	struct tfp_str name = s->module->program.instructions[instruction].name;
	uint32_t at = tfp_str_map_find(&s->times, name.data, name.size);
	return at == TFP_STR_MAP_NONE ? NULL : s->ops->list[at];
}

static void set_text(struct tfp_json *j, const char *key, struct tfp_str text)
{
	tfp_json_set_text(j, key, text.data, text.size);
}

static void set_written(struct tfp_json *j, const char *key, struct tfp_buf *text, bool failed)
{
	if (failed)
		tfp_json_set_null(j, key);
	else
		tfp_json_set_text(j, key, text->data, text->size);
}

/* A shape without a layout, as far as it is shown. */
static void write_shape(const struct tfp_hlo_shape *shape, struct tfp_buf *out)
{
	tfp_buf_clear(out);
	tfp_hlo_write_plain_shape(shape->message, out);
	if (tfp_buf_failed(out) || out->size > SHAPE_MOST) {
		out->failed = false; /* longer than the buffer may be */
		if (out->size > SHAPE_MOST - 3)
			out->size = SHAPE_MOST - 3;
		tfp_buf_puts(out, "...");
	}
}

static void write_program(const struct tfp_hlo_module *module, struct tfp_json *j)
{
	tfp_json_begin_object_of(j, "program");
	tfp_json_set_format(j, "id", "%" PRIu64, module->program_id);
	set_text(j, "name", module->name);
	tfp_json_set_count(j, "instructions", module->program.instruction_count);
	tfp_json_set_count(j, "computations", module->program.computation_count);
	set_text(j, "entry", module->program.computations[module->program.entry].name);
	tfp_json_end_object(j);
}

/* ---- nodes ---- */

static void set_known(struct tfp_json *j, const char *key, bool known, int64_t value)
{
	if (known && value >= 0)
		tfp_json_set_integer(j, key, value);
	else
		tfp_json_set_null(j, key);
}

static void write_cost(const struct tfp_graph_source *s, uint32_t i, struct tfp_json *j)
{
	static const char *const names[] = {[TFP_HLO_COST_XLA] = "XLA",
					    [TFP_HLO_COST_OURS] = "ours",
					    [TFP_HLO_COST_UNKNOWN] = "unknown"};
	const struct tfp_hlo_cost *cost = s->costs ? &s->costs[i] : NULL;
	if (!cost || cost->source == TFP_HLO_COST_UNKNOWN) {
		tfp_json_set_null(j, "cost");
		return;
	}
	/* Of what the generic analysis does not know it says so in its flops alone. */
	bool generic = !(cost->source == TFP_HLO_COST_OURS && cost->flops < 0);
	tfp_json_begin_object_of(j, "cost");
	set_known(j, "flops", generic, cost->flops);
	set_known(j, "bytes", generic, cost->bytes);
	set_known(j, "gpu_flops", true, cost->gpu_flops);
	set_known(j, "gpu_bytes", true, cost->gpu_bytes);
	tfp_json_set_string(j, "source", names[cost->source]);
	tfp_json_end_object(j);
}

static void write_time(const struct tfp_graph_source *s, uint32_t i, struct tfp_json *j)
{
	const struct tfp_op *op = time_of(s, i);
	if (!op) {
		tfp_json_set_null(j, "time");
		return;
	}
	tfp_json_begin_object_of(j, "time");
	tfp_json_set_count(j, "self_time_ps", op->self_time_ps);
	tfp_json_set_count(j, "time_ps", op->time_ps);
	tfp_json_set_count(j, "occurrences", op->occurrences);
	tfp_json_end_object(j);
}

static bool write_source(struct tfp_graph_source *s, uint32_t i, struct tfp_json *j)
{
	struct tfp_hlo_source source;
	if (!tfp_hlo_source_of(&s->frames, &s->module->program.instructions[i], &s->arena, &source))
		return false;
	if (source.file.size == 0) {
		tfp_json_set_null(j, "source");
		return true;
	}
	tfp_json_begin_object_of(j, "source");
	set_text(j, "file", source.file);
	tfp_json_set_integer(j, "line", source.line);
	set_text(j, "stack", source.stack);
	tfp_json_end_object(j);
	return true;
}

static void write_called(const struct tfp_hlo_program *p, const struct tfp_graph_node *node,
			 struct tfp_json *j)
{
	const struct tfp_hlo_op *op = &p->instructions[node->instruction];
	tfp_json_begin_array_of(j, "called");
	for (uint32_t k = 0; k < op->called_count && k < COMPUTATION_MAX; k++) {
		const struct tfp_hlo_computation *c =
			&p->computations[tfp_hlo_called(p, node->instruction, k)];
		tfp_json_begin_object(j);
		set_text(j, "name", c->name);
		tfp_json_set_count(j, "instructions", c->count);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
	tfp_json_set_boolean(j, "open", node->is_open);
}

static bool write_node(struct tfp_graph_source *s, const struct tfp_graph_node *node,
		       const struct tfp_hlo_listing *listing, struct tfp_buf *text,
		       struct tfp_json *j)
{
	const struct tfp_hlo_program *p = &s->module->program;
	uint32_t i = node->instruction;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, i);
	struct tfp_hlo_metadata metadata = tfp_hlo_metadata(op);
	uint64_t line = tfp_hlo_listing_line_of(listing, i);
	tfp_json_break_line(j);
	tfp_json_begin_object(j);
	tfp_json_set_count(j, "id", i);
	set_text(j, "name", op->name);
	set_text(j, "opcode", op->opcode_name);
	set_text(j, "category", s->module->instructions[i].category);
	set_text(j, "computation", p->computations[op->computation].name);
	tfp_json_set_boolean(j, "root", p->computations[op->computation].root == i);
	tfp_json_set_count(j, "hops", node->hops);
	if (node->parent == TFP_HLO_NONE)
		tfp_json_set_null(j, "parent");
	else
		tfp_json_set_count(j, "parent", node->parent);
	write_shape(shape, text);
	set_written(j, "shape", text, tfp_buf_failed(text));
	tfp_json_set_integer(j, "bytes", shape->leaf_bytes);
	tfp_buf_clear(text);
	tfp_hlo_write_attributes(p, i, ATTRIBUTES_MOST, text);
	/* Each comes after a line end. */
	if (tfp_buf_failed(text))
		tfp_json_set_null(j, "attributes");
	else
		tfp_json_set_text(j, "attributes", text->size ? text->data + 1 : "",
				  text->size ? text->size - 1 : 0);
	set_text(j, "op_name", metadata.op_name);
	set_text(j, "op_type", metadata.op_type);
	bool ok = write_source(s, i, j);
	write_cost(s, i, j);
	write_time(s, i, j);
	if (op->opcode == TFP_HLO_PARAMETER || op->opcode == TFP_HLO_GET_TUPLE_ELEMENT)
		tfp_json_set_count(j, "number", op->number);
	tfp_json_set_count(j, "operands", op->operand_count);
	tfp_json_set_count(j, "users", op->user_count);
	tfp_json_set_count(j, "hidden_operands", node->hidden_operands);
	tfp_json_set_count(j, "hidden_users", node->hidden_users);
	write_called(p, node, j);
	if (line == UINT64_MAX)
		tfp_json_set_null(j, "line");
	else
		tfp_json_set_count(j, "line", line);
	tfp_json_end_object(j);
	return ok;
}

static const char *const edge_kinds[] = {
	[TFP_EDGE_DATA] = "data",
	[TFP_EDGE_CONTROL] = "control",
	[TFP_EDGE_ENTER] = "enter",
	[TFP_EDGE_RETURN] = "return",
};

static void write_edge(const struct tfp_hlo_program *p, const struct tfp_graph_edge *edge,
		       struct tfp_buf *text, struct tfp_json *j)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(p, edge->from);
	tfp_json_break_line(j);
	tfp_json_begin_object(j);
	tfp_json_set_count(j, "from", edge->from);
	tfp_json_set_count(j, "to", edge->to);
	tfp_json_set_string(j, "kind", edge_kinds[edge->kind]);
	if (edge->kind != TFP_EDGE_CONTROL) {
		tfp_json_set_count(j, "operand", edge->operand);
		write_shape(shape, text);
		set_written(j, "shape", text, tfp_buf_failed(text));
		tfp_json_set_integer(j, "bytes", shape->leaf_bytes);
	}
	tfp_json_end_object(j);
}

static void write_centre(const struct tfp_hlo_program *p, const struct tfp_graph_request *request,
			 struct tfp_json *j)
{
	bool is_whole = request->instruction == TFP_HLO_NONE;
	uint32_t in =
		is_whole ? request->computation : p->instructions[request->instruction].computation;
	tfp_json_begin_object_of(j, "center");
	if (is_whole)
		tfp_json_set_null(j, "id");
	else
		tfp_json_set_count(j, "id", request->instruction);
	set_text(j, "name",
		 is_whole ? p->computations[in].name : p->instructions[request->instruction].name);
	set_text(j, "computation", p->computations[in].name);
	tfp_json_end_object(j);
}

enum tfp_status tfp_graph_write(struct tfp_graph_source *source,
				const struct tfp_program_graph *graph,
				const struct tfp_graph_request *request, struct tfp_json *j,
				struct tfp_error *err)
{
	const struct tfp_hlo_program *p = &source->module->program;
	struct tfp_hlo_listing listing;
	struct tfp_buf text;
	enum tfp_status status = tfp_hlo_listing_init(&listing, p, TFP_HLO_LISTING_NAMED, err);
	tfp_buf_init(&text, TEXT_ROOM);
	tfp_json_begin_object(j);
	write_program(source->module, j);
	write_centre(p, request, j);
	tfp_json_set_count(j, "hops", request->hops);
	tfp_json_set_count(j, "limit", request->limit);
	tfp_json_set_count(j, "cut", graph->cut);
	tfp_json_set_count(j, "lines", listing.line_count);
	tfp_json_begin_array_of(j, "nodes");
	for (size_t i = 0; status == TFP_OK && i < graph->node_count; i++) {
		if (!tfp_goes_on(i))
			status = tfp_fail_cancelled(err);
		else if (!write_node(source, &graph->nodes[i], &listing, &text, j))
			status = no_memory(err);
	}
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "edges");
	for (size_t i = 0; status == TFP_OK && i < graph->edge_count; i++)
		write_edge(p, &graph->edges[i], &text, j);
	tfp_json_end_array(j);
	tfp_json_end_object(j);
	tfp_buf_release(&text);
	tfp_hlo_listing_release(&listing);
	return status;
}

/* ---- tables ---- */

static const struct tfp_column node_columns[] = {
	{"instruction", "Instruction", TFP_CELL_TEXT},
	{"opcode", "Opcode", TFP_CELL_TEXT},
	{"hops", "Hops", TFP_CELL_NUMBER},
	{"shape", "Shape", TFP_CELL_TEXT},
	{"bytes", "Bytes", TFP_CELL_NUMBER},
	{"self_time_us", "Self time (us)", TFP_CELL_NUMBER},
	{"occurrences", "Occurrences", TFP_CELL_NUMBER},
	{"flops", "Flops", TFP_CELL_NUMBER},
	{"bytes_accessed", "Bytes accessed", TFP_CELL_NUMBER},
	{"hidden_operands", "Operands not shown", TFP_CELL_NUMBER},
	{"hidden_users", "Users not shown", TFP_CELL_NUMBER},
	{"computation", "Computation", TFP_CELL_TEXT},
	{"op_name", "Op name", TFP_CELL_TEXT},
	{"source", "Source", TFP_CELL_TEXT},
};

static const struct tfp_column edge_columns[] = {
	{"from", "From", TFP_CELL_TEXT},         {"to", "To", TFP_CELL_TEXT},
	{"operand", "Operand", TFP_CELL_NUMBER}, {"kind", "Kind", TFP_CELL_TEXT},
	{"shape", "Shape", TFP_CELL_TEXT},       {"bytes", "Bytes", TFP_CELL_NUMBER},
};

void tfp_graph_tables_init(struct tfp_table *nodes, struct tfp_table *edges)
{
	tfp_table_init(nodes, node_columns, sizeof(node_columns) / sizeof(*node_columns));
	tfp_table_init(edges, edge_columns, sizeof(edge_columns) / sizeof(*edge_columns));
}

static void add_str(struct tfp_table *t, struct tfp_str text)
{
	tfp_table_add_text(t, text.data, text.size);
}

static void add_shape(struct tfp_table *t, const struct tfp_hlo_shape *shape, struct tfp_buf *text)
{
	write_shape(shape, text);
	tfp_table_add_text(t, text->data, text->size);
	tfp_table_add_number(t, (double)shape->leaf_bytes);
}

static void add_known(struct tfp_table *t, bool known, double value)
{
	if (known)
		tfp_table_add_number(t, value);
	else
		tfp_table_add_absent(t);
}

/* The analysis that counts: that for GPUs where the capture has one. */
static void add_cost(const struct tfp_graph_source *s, struct tfp_table *t, uint32_t i)
{
	const struct tfp_hlo_cost *cost = s->costs ? &s->costs[i] : NULL;
	bool known = cost && cost->source != TFP_HLO_COST_UNKNOWN;
	bool is_gpu = s->module->costs != NULL;
	int64_t flops = !known ? -1 : is_gpu ? cost->gpu_flops : cost->flops;
	int64_t bytes = !known ? -1 : is_gpu ? cost->gpu_bytes : cost->bytes;
	add_known(t, flops >= 0, (double)flops);
	add_known(t, bytes >= 0, (double)bytes);
}

static bool add_source(struct tfp_graph_source *s, struct tfp_table *t, uint32_t i)
{
	struct tfp_hlo_source source;
	struct tfp_buf text;
	if (!tfp_hlo_source_of(&s->frames, &s->module->program.instructions[i], &s->arena, &source))
		return false;
	if (source.file.size == 0) {
		tfp_table_add_absent(t);
		return true;
	}
	tfp_buf_init(&text, source.file.size + 24);
	tfp_buf_add(&text, source.file.data, source.file.size);
	tfp_buf_printf(&text, ":%" PRId32, source.line);
	bool ok = !tfp_buf_failed(&text);
	tfp_table_add_text(t, text.data, text.size);
	tfp_buf_release(&text);
	return ok;
}

static bool add_row(struct tfp_graph_source *s, struct tfp_table *t,
		    const struct tfp_graph_node *node, struct tfp_buf *text)
{
	const struct tfp_hlo_program *p = &s->module->program;
	uint32_t i = node->instruction;
	const struct tfp_hlo_op *op = &p->instructions[i];
	const struct tfp_op *time = time_of(s, i);
	add_str(t, op->name);
	add_str(t, op->opcode_name);
	tfp_table_add_number(t, node->hops);
	add_shape(t, tfp_hlo_shape_of(p, i), text);
	add_known(t, time, time ? (double)time->self_time_ps / 1e6 : 0);
	add_known(t, time, time ? (double)time->occurrences : 0);
	add_cost(s, t, i);
	tfp_table_add_number(t, node->hidden_operands);
	tfp_table_add_number(t, node->hidden_users);
	add_str(t, p->computations[op->computation].name);
	add_str(t, tfp_hlo_metadata(op).op_name);
	return add_source(s, t, i);
}

static void set_count(struct tfp_table *t, const char *key, uint64_t count)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRIu64, count);
	tfp_table_set_property(t, key, text);
}

static void set_name(struct tfp_table *t, const char *key, struct tfp_str name)
{
	char text[400];
	snprintf(text, sizeof(text), "%.*s", (int)(name.size < 399 ? name.size : 399), name.data);
	tfp_table_set_property(t, key, text);
}

enum tfp_status tfp_graph_tables(struct tfp_graph_source *source,
				 const struct tfp_program_graph *graph,
				 const struct tfp_graph_request *request, struct tfp_table *nodes,
				 struct tfp_table *edges, struct tfp_error *err)
{
	const struct tfp_hlo_program *p = &source->module->program;
	enum tfp_status status = TFP_OK;
	struct tfp_buf text;
	tfp_buf_init(&text, TEXT_ROOM);
	set_count(nodes, "program_id", source->module->program_id);
	set_name(nodes, "module", source->module->name);
	set_name(nodes, "center",
		 request->instruction == TFP_HLO_NONE ? p->computations[request->computation].name
						      : p->instructions[request->instruction].name);
	set_count(nodes, "cut", graph->cut);
	set_count(nodes, "rows_total", graph->node_count + graph->cut);
	for (size_t i = 0; status == TFP_OK && i < graph->node_count; i++) {
		if (!add_row(source, nodes, &graph->nodes[i], &text))
			status = no_memory(err);
	}
	for (size_t i = 0; status == TFP_OK && i < graph->edge_count; i++) {
		const struct tfp_graph_edge *edge = &graph->edges[i];
		const char *kind = edge_kinds[edge->kind];
		add_str(edges, p->instructions[edge->from].name);
		add_str(edges, p->instructions[edge->to].name);
		add_known(edges, edge->kind != TFP_EDGE_CONTROL, edge->operand);
		tfp_table_add_text(edges, kind, strlen(kind));
		add_shape(edges, tfp_hlo_shape_of(p, edge->from), &text);
	}
	tfp_buf_release(&text);
	return status;
}

/* ---- lines ---- */

enum tfp_status tfp_graph_write_lines(const struct tfp_hlo_module *module, unsigned flags,
				      uint64_t from, uint64_t count, struct tfp_json *j,
				      struct tfp_error *err)
{
	const struct tfp_hlo_program *p = &module->program;
	struct tfp_hlo_listing listing;
	struct tfp_buf text;
	enum tfp_status status = tfp_hlo_listing_init(&listing, p, flags, err);
	/* A line is cut by bytes; the rest of what is written at its end is small. */
	tfp_buf_init(&text, (size_t)1 << 24);
	tfp_json_begin_object(j);
	write_program(module, j);
	tfp_json_set_count(j, "from", from);
	tfp_json_set_count(j, "lines_total", listing.line_count);
	tfp_json_begin_array_of(j, "lines");
	for (uint64_t n = from; status == TFP_OK && n < listing.line_count && n - from < count;
	     n++) {
		tfp_buf_clear(&text);
		struct tfp_hlo_line line = tfp_hlo_listing_write(&listing, n, LINE_SHOWN, &text);
		if (tfp_buf_failed(&text)) {
			status = no_memory(err);
			break;
		}
		tfp_json_break_line(j);
		tfp_json_begin_object(j);
		tfp_json_set_text(j, "text", text.data, text.size);
		if (line.instruction != TFP_HLO_NONE) {
			tfp_json_set_count(j, "id", line.instruction);
			set_text(j, "name", p->instructions[line.instruction].name);
		}
		if (line.computation != TFP_HLO_NONE)
			set_text(j, "computation", p->computations[line.computation].name);
		if (line.is_cut)
			tfp_json_set_boolean(j, "cut", true);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
	tfp_json_end_object(j);
	tfp_buf_release(&text);
	tfp_hlo_listing_release(&listing);
	return status;
}

/* ---- search ---- */

static bool contains(struct tfp_str text, const char *wanted, size_t size)
{
	for (size_t i = 0; i + size <= text.size; i++) {
		if (strncasecmp(text.data + i, wanted, size) == 0)
			return true;
	}
	return false;
}

static bool matches(const struct tfp_hlo_program *p, const struct tfp_hlo_frames *frames,
		    uint32_t i, const char *wanted, size_t size, struct tfp_buf *text)
{
	const struct tfp_hlo_op *op = &p->instructions[i];
	struct tfp_hlo_metadata m = tfp_hlo_metadata(op);
	struct tfp_str file = m.source_file;
	int32_t line = m.source_line;
	if (contains(op->name, wanted, size) || contains(op->opcode_name, wanted, size) ||
	    contains(m.op_name, wanted, size))
		return true;
	if (m.stack_frame > 0 && m.stack_frame <= frames->count &&
	    frames->list[m.stack_frame - 1].file.size) {
		file = frames->list[m.stack_frame - 1].file;
		line = frames->list[m.stack_frame - 1].line;
	}
	write_shape(tfp_hlo_shape_of(p, i), text);
	if (contains((struct tfp_str){text->data, text->size}, wanted, size))
		return true;
	if (file.size == 0)
		return false;
	tfp_buf_clear(text);
	tfp_buf_add(text, file.data, file.size < SHAPE_MOST / 2 ? file.size : SHAPE_MOST / 2);
	tfp_buf_printf(text, ":%" PRId32, line);
	return contains((struct tfp_str){text->data, text->size}, wanted, size);
}

enum tfp_status tfp_graph_write_matches(const struct tfp_hlo_module *module, const char *wanted,
					uint64_t limit, struct tfp_json *j, struct tfp_error *err)
{
	const struct tfp_hlo_program *p = &module->program;
	struct tfp_hlo_listing listing;
	struct tfp_hlo_frames frames = {0};
	struct tfp_buf text;
	uint64_t total = 0;
	size_t size = strlen(wanted);
	enum tfp_status status = tfp_hlo_listing_init(&listing, p, TFP_HLO_LISTING_NAMED, err);
	if (status == TFP_OK)
		status = tfp_hlo_frames_init(&frames, p, err);
	tfp_buf_init(&text, TEXT_ROOM);
	tfp_json_begin_object(j);
	write_program(module, j);
	tfp_json_begin_array_of(j, "matches");
	for (uint32_t i = 0; status == TFP_OK && i < p->instruction_count; i++) {
		const struct tfp_hlo_op *op = &p->instructions[i];
		if (!tfp_goes_on(i))
			status = tfp_fail_cancelled(err);
		else if (matches(p, &frames, i, wanted, size, &text) && total++ < limit) {
			uint64_t line = tfp_hlo_listing_line_of(&listing, i);
			tfp_json_break_line(j);
			tfp_json_begin_object(j);
			tfp_json_set_count(j, "id", i);
			set_text(j, "name", op->name);
			set_text(j, "opcode", op->opcode_name);
			set_text(j, "computation", p->computations[op->computation].name);
			write_shape(tfp_hlo_shape_of(p, i), &text);
			set_written(j, "shape", &text, tfp_buf_failed(&text));
			set_text(j, "op_name", tfp_hlo_metadata(op).op_name);
			if (line == UINT64_MAX)
				tfp_json_set_null(j, "line");
			else
				tfp_json_set_count(j, "line", line);
			tfp_json_end_object(j);
		}
	}
	tfp_json_end_array(j);
	tfp_json_set_count(j, "total", total);
	tfp_json_end_object(j);
	tfp_buf_release(&text);
	tfp_hlo_frames_release(&frames);
	tfp_hlo_listing_release(&listing);
	return status;
}
