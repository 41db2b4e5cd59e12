/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph viewer: a compiled program as a graph and as text (docs/tools/graph_viewer.md).
 */
#include "analysis/hlo/hlo_dot.h"
#include "analysis/hlo/hlo_listing.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "session/summary.h"
#include "tools/graph_document.h"
#include "tools/program_choice.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <string.h>

#define NODES_USUAL 500
#define NODES_MOST  20000
#define HOPS_USUAL  "2"
#define HOPS_MOST   1000
#define WIDTH_USUAL "3" /* XProf's */
#define LINES_USUAL "200"
#define LINES_MOST  10000
#define FOUND_USUAL 100

#define PLAIN_TEXT "text/plain; charset=utf-8"

extern const struct tfp_tool tfp_graph_viewer;

enum view {
	TABLES,
	GRAPH,
	SHORT,
	LONG,
	PROTO,
	PROTO_TEXT,
	ADJACENT,
	CALL,
	PART,
	LINES,
	SEARCH,
	VIEWS
};

static const char *const view_names[VIEWS] = {
	[TABLES] = "",
	[GRAPH] = "graph",
	[SHORT] = "short_txt",
	[LONG] = "long_txt",
	[PROTO] = "pb",
	[PROTO_TEXT] = "pbtxt",
	[ADJACENT] = "adj_nodes",
	[CALL] = "custom_call",
	[PART] = "neighborhood",
	[LINES] = "lines",
	[SEARCH] = "search",
};

struct asked {
	enum view view;
	const char *node; /* or NULL */
	bool has_id;
	uint64_t instruction_id;
	uint64_t width, hops, limit, from, count;
	const char *open, *search;
	bool has_metadata, merges_fusions, is_long;
};

static bool is_true(const struct tfp_query *query, const char *name)
{
	const char *text = tfp_query_get(query, name);
	return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

static const char *given(const struct tfp_query *query, const char *name)
{
	const char *text = tfp_query_get(query, name);
	return text && *text ? text : NULL;
}

/* Texts have a % before names. */
static const char *name_of(const char *text)
{
	return text && text[0] == '%' && text[1] ? text + 1 : text;
}

static enum view view_of(const struct tfp_query *query)
{
	const char *type = tfp_query_get(query, "type");
	for (int i = 0; type && i < VIEWS; i++) {
		if (strcmp(type, view_names[i]) == 0)
			return (enum view)i;
	}
	return TABLES;
}

/* A count of at most most. */
static enum tfp_status read_count(const struct tfp_query *query, const char *name, uint64_t usual,
				  uint64_t most, uint64_t *value, struct tfp_error *err)
{
	enum tfp_status status = tfp_query_get_count(query, name, usual, value, err);
	if (status == TFP_OK && *value > most)
		status = tfp_fail(err, TFP_BAD_QUERY, "%s is at most %" PRIu64, name, most);
	return status;
}

static enum tfp_status read_query(const struct tfp_query *query, struct asked *a,
				  struct tfp_error *err)
{
	*a = (struct asked){
		.view = view_of(query),
		.node = name_of(given(query, "node_name")),
		.open = given(query, "open"),
		.search = given(query, "q"),
		.has_id = given(query, "instruction_id") != NULL,
		.has_metadata = is_true(query, "show_metadata"),
		.merges_fusions = is_true(query, "merge_fusion"),
		.is_long = is_true(query, "large_constants"),
	};
	enum tfp_status status =
		tfp_query_get_count(query, "instruction_id", 0, &a->instruction_id, err);
	if (status == TFP_OK)
		status = read_count(query, "graph_width", 3, HOPS_MOST, &a->width, err);
	if (status == TFP_OK)
		status = read_count(query, "hops", 2, HOPS_MOST, &a->hops, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "limit", 0, &a->limit, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "from", 0, &a->from, err);
	if (status == TFP_OK)
		status = read_count(query, "count", 200, LINES_MOST, &a->count, err);
	/* 0: no limit of the caller's. */
	if (a->limit > NODES_MOST || (a->limit == 0 && given(query, "limit")))
		a->limit = NODES_MOST;
	if (a->limit == 0)
		a->limit = a->view == SEARCH ? FOUND_USUAL : NODES_USUAL;
	return status;
}

/* What XProf's clients may ask, and nobody here can answer. */
static enum tfp_status check_view(const struct tfp_query *query, const struct asked *a,
				  struct tfp_error *err)
{
	const char *format = given(query, "format");
	bool needs_node = a->view == GRAPH || a->view == ADJACENT || a->view == CALL;
	if (a->view == GRAPH && format && strcmp(format, "dot") != 0) {
		tfp_fail(err, TFP_BAD_QUERY,
			 "graphs are drawn by the page: format=%s needs a "
			 "program from another site",
			 strcmp(format, "html") == 0 ? "html" : "url");
		tfp_error_set_hint(err, "format=dot is graphviz's language");
		return TFP_BAD_QUERY;
	}
	if (a->view == PROTO_TEXT) {
		tfp_fail(err, TFP_BAD_QUERY, "type=pbtxt is not written here");
		tfp_error_set_hint(err, "type=pb has the same; protoc --decode=xla.HloProto writes "
					"it as text");
		return TFP_BAD_QUERY;
	}
	if (needs_node && !a->node && !a->has_id)
		return tfp_fail(err, TFP_BAD_QUERY, "node_name should not be empty");
	if (a->view == SEARCH && !a->search)
		return tfp_fail(err, TFP_BAD_QUERY, "parameter q is missing: what to search for");
	return TFP_OK;
}

/* ---- the node ---- */

/* Ids of newer files have the computation's in their upper half, and are unique; in older ones
 * they are, too. */
static uint32_t find_id(const struct tfp_hlo_program *p, uint64_t id)
{
	for (uint32_t i = 0; i < p->instruction_count; i++) {
		if ((uint64_t)p->instructions[i].id == id)
			return i;
	}
	return TFP_HLO_NONE;
}

/* The instruction that is meant, else the computation; without either the entry's root. */
static enum tfp_status find_node(const struct tfp_hlo_module *module, const struct asked *a,
				 uint32_t *instruction, uint32_t *computation,
				 struct tfp_error *err)
{
	const struct tfp_hlo_program *p = &module->program;
	*instruction = *computation = TFP_HLO_NONE;
	if (a->has_id) {
		*instruction = find_id(p, a->instruction_id);
		if (*instruction == TFP_HLO_NONE)
			return tfp_fail(err, TFP_NOT_FOUND, "no instruction has the id %" PRIu64,
					a->instruction_id);
		return TFP_OK;
	}
	if (!a->node) {
		*instruction = p->computations[p->entry].root;
		return TFP_OK;
	}
	const struct tfp_str name = {a->node, strlen(a->node)};
	uint32_t found = tfp_str_map_find(&module->by_name, name.data, name.size);
	/* Of an instruction and a computation of one name XProf draws the computation. */
	if (a->view == GRAPH || found == TFP_STR_MAP_NONE)
		*computation = tfp_find_computation(p, name);
	if (*computation == TFP_HLO_NONE && found != TFP_STR_MAP_NONE)
		*instruction = found;
	if (*instruction != TFP_HLO_NONE || *computation != TFP_HLO_NONE)
		return TFP_OK;
	/* XProf's words. */
	tfp_fail(err, TFP_NOT_FOUND, "Couldn't find HloInstruction or HloComputation named %.200s.",
		 a->node);
	tfp_error_set_hint(err, "type=search&q=TEXT lists instructions of the program");
	return TFP_NOT_FOUND;
}

/* ---- XProf's answers ---- */

static struct tfp_str category_of(const void *context, uint32_t instruction)
{
	const struct tfp_hlo_module *module = context;
	return module->instructions[instruction].category;
}

static enum tfp_status write_graph(const struct tfp_hlo_module *module, const struct asked *a,
				   struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_hlo_dot_request request = {
		.radius = (uint32_t)a->width,
		.merges_fusions = a->merges_fusions,
		.has_configuration = a->has_metadata,
		.category = category_of,
		.context = module,
	};
	enum tfp_status status =
		find_node(module, a, &request.instruction, &request.computation, err);
	if (status == TFP_OK)
		status = tfp_hlo_write_dot(&module->program, &request, &answer->json, err);
	answer->file_type = PLAIN_TEXT;
	answer->file_suffix = ".dot";
	return status;
}

static bool is_taken_apart(struct tfp_str name)
{
	return tfp_str_starts(name, "get-tuple-element");
}

static void add_name(const struct tfp_hlo_program *p, uint32_t i, struct tfp_json *j)
{
	tfp_json_add_text(j, p->instructions[i].name.data, p->instructions[i].name.size);
}

/* Neighbours by value, through what only takes a tuple apart, which XProf knows by its name. */
static void write_adjacent(const struct tfp_hlo_program *p, uint32_t i, struct tfp_json *j)
{
	const struct tfp_hlo_op *op = &p->instructions[i];
	tfp_json_begin_object(j);
	tfp_json_begin_array_of(j, "consumer_names");
	for (uint32_t u = 0; u < op->user_count; u++) {
		uint32_t user = p->users[op->first_user + u];
		const struct tfp_hlo_op *by = &p->instructions[user];
		if (!is_taken_apart(by->name))
			add_name(p, user, j);
		for (uint32_t v = 0; is_taken_apart(by->name) && v < by->user_count; v++)
			add_name(p, p->users[by->first_user + v], j);
	}
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "operand_names");
	for (uint32_t o = 0; o < op->operand_count; o++) {
		uint32_t operand = tfp_hlo_operand(p, i, o);
		const struct tfp_hlo_op *of = &p->instructions[operand];
		if (is_taken_apart(of->name) && of->operand_count)
			operand = tfp_hlo_operand(p, operand, 0);
		add_name(p, operand, j);
	}
	tfp_json_end_array(j);
	tfp_json_end_object(j);
}

static enum tfp_status write_neighbours(const struct tfp_hlo_module *module, const struct asked *a,
					struct tfp_answer *answer, struct tfp_error *err)
{
	uint32_t instruction, computation;
	struct tfp_json j;
	enum tfp_status status = find_node(module, a, &instruction, &computation, err);
	if (status == TFP_OK && instruction == TFP_HLO_NONE)
		status = tfp_fail(
			err, TFP_BAD_QUERY,
			"a computation has no operands and consumers; name an instruction");
	if (status != TFP_OK)
		return status;
	tfp_json_init(&j, &answer->json);
	write_adjacent(&module->program, instruction, &j);
	return tfp_json_finish(&j, err);
}

/* An instruction with its configuration as it is, for custom calls. */
static enum tfp_status write_call(const struct tfp_hlo_module *module, const struct asked *a,
				  struct tfp_answer *answer, struct tfp_error *err)
{
	uint32_t instruction, computation;
	struct tfp_hlo_details details;
	enum tfp_status status = find_node(module, a, &instruction, &computation, err);
	if (status != TFP_OK)
		return status;
	if (instruction == TFP_HLO_NONE ||
	    module->program.instructions[instruction].opcode != TFP_HLO_CUSTOM_CALL)
		return tfp_fail(err, TFP_BAD_QUERY, "%.200s is no custom call",
				a->node ? a->node : "the instruction");
	status = tfp_hlo_details(&module->program.instructions[instruction], &details, err);
	if (status != TFP_OK)
		return status;
	tfp_hlo_write_op(&module->program, instruction, TFP_HLO_TEXT_OPERAND_SHAPES,
			 (size_t)1 << 20, &answer->json);
	tfp_buf_puts(&answer->json, "\n\n");
	if (details.backend_config.size)
		tfp_buf_add(&answer->json, details.backend_config.data,
			    details.backend_config.size);
	tfp_buf_putc(&answer->json, '\n');
	answer->file_type = PLAIN_TEXT;
	answer->file_suffix = ".txt";
	return TFP_OK;
}

/* ---- ours ---- */

static enum tfp_status write_part(const struct tfp_hlo_module *module,
				  const struct tfp_program_ops *ops, const struct asked *a,
				  struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_graph_request request = {
		.hops = (uint32_t)a->hops, .limit = (uint32_t)a->limit, .open = a->open};
	struct tfp_program_graph graph = {0};
	struct tfp_graph_source source = {0};
	struct tfp_json j;
	enum tfp_status status =
		find_node(module, a, &request.instruction, &request.computation, err);
	if (status == TFP_OK)
		status = tfp_program_graph_init(&graph, &module->program, &request, err);
	if (status == TFP_OK)
		status = tfp_graph_source_init(&source, module, ops, err);
	if (status == TFP_OK && a->view == PART) {
		tfp_json_init(&j, &answer->json);
		status = tfp_graph_write(&source, &graph, &request, &j, err);
		if (status == TFP_OK)
			status = tfp_json_finish(&j, err);
	} else if (status == TFP_OK) {
		status = tfp_graph_tables(&source, &graph, &request, &answer->tables[0],
					  &answer->tables[1], err);
	}
	tfp_graph_source_release(&source);
	tfp_program_graph_release(&graph);
	return status;
}

static enum tfp_status write_document(const struct tfp_hlo_module *module, const struct asked *a,
				      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_json j;
	unsigned flags = (a->is_long ? TFP_HLO_LISTING_LONG : TFP_HLO_LISTING_NAMED) |
			 (a->has_metadata ? TFP_HLO_LISTING_METADATA : 0u);
	tfp_json_init(&j, &answer->json);
	enum tfp_status status =
		a->view == LINES ? tfp_graph_write_lines(module, flags, a->from, a->count, &j, err)
				 : tfp_graph_write_matches(module, a->search, a->limit, &j, err);
	return status == TFP_OK ? tfp_json_finish(&j, err) : status;
}

/* ---- rendering ---- */

struct rendering {
	const struct asked *asked;
	const struct tfp_program_choice *choice;
	const struct tfp_program_ops *ops;
	struct tfp_answer *answer;
	bool found;
};

static enum tfp_status write_answer(struct rendering *r, const struct tfp_hlo_module *module,
				    struct tfp_error *err)
{
	switch (r->asked->view) {
	case GRAPH:
		return write_graph(module, r->asked, r->answer, err);
	case ADJACENT:
		return write_neighbours(module, r->asked, r->answer, err);
	case CALL:
		return write_call(module, r->asked, r->answer, err);
	case LINES:
	case SEARCH:
		return write_document(module, r->asked, r->answer, err);
	default:
		return write_part(module, r->ops, r->asked, r->answer, err);
	}
}

static enum tfp_status look_at_host(void *context, struct tfp_capture *capture, const char *host,
				    struct tfp_pool *pool, struct tfp_error *err)
{
	struct rendering *r = context;
	const struct tfp_hlo_modules *modules;
	(void)host;
	if (r->found)
		return TFP_OK;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	const struct tfp_hlo_module *module =
		status == TFP_OK ? tfp_chosen_module(r->choice, modules) : NULL;
	r->found = module != NULL;
	return module ? write_answer(r, module, err) : status;
}

static enum tfp_status answer_of(const struct tfp_session *session, const struct tfp_query *query,
				 struct rendering *r, struct tfp_error *err)
{
	struct tfp_program_ops ops = {0};
	enum tfp_status status = TFP_OK;
	bool wants_times = r->asked->view == TABLES || r->asked->view == PART;
	if (wants_times)
		status = tfp_program_ops(session, query, &ops, err);
	r->ops = wants_times ? &ops : NULL;
	if (status == TFP_OK)
		status = tfp_session_each(session, look_at_host, r, err);
	tfp_program_ops_release(&ops);
	if (status == TFP_OK && !r->found)
		status = tfp_no_such_program(r->choice, err);
	return status;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct asked asked;
	struct tfp_program_choice choice;
	struct rendering r = {.asked = &asked, .choice = &choice, .answer = answer};
	enum tfp_status status = read_query(query, &asked, err);
	if (asked.view == TABLES) {
		tfp_graph_tables_init(&answer->tables[0], &answer->tables[1]);
		answer->table_count = 2;
	}
	if (status == TFP_OK)
		status = check_view(query, &asked, err);
	if (status == TFP_OK)
		status = tfp_choose_program(session, query, asked.node, &choice, err);
	if (status != TFP_OK)
		return status;
	if (!choice.any && asked.view == TABLES)
		return TFP_OK;
	if (!choice.any)
		return tfp_fail(err, TFP_NOT_FOUND, "%s", tfp_graph_viewer.without);
	return answer_of(session, query, &r, err);
}

/* ---- streams: whole programs ---- */

static bool streams(const struct tfp_query *query)
{
	enum view view = view_of(query);
	return view == SHORT || view == LONG || view == PROTO;
}

struct stream {
	const struct tfp_session *session;
	struct asked asked;
	struct tfp_program_choice choice;
	char *name; /* choice's; owned */
	const struct tfp_sink *sink;
	bool found;
};

static void free_stream(void *context)
{
	struct stream *s = context;
	tfp_free(s->name);
	tfp_free(s);
}

static enum tfp_status write_program(struct stream *s, const struct tfp_hlo_module *module,
				     struct tfp_error *err)
{
	struct tfp_str proto = module->program.proto;
	struct tfp_hlo_listing listing;
	unsigned flags = (s->asked.view == LONG ? TFP_HLO_LISTING_LONG : TFP_HLO_LISTING_SHORT) |
			 (s->asked.has_metadata ? TFP_HLO_LISTING_METADATA : 0u);
	if (s->asked.view == PROTO)
		return s->sink->write(s->sink->context, proto.data, proto.size, err);
	enum tfp_status status = tfp_hlo_listing_init(&listing, &module->program, flags, err);
	if (status == TFP_OK)
		status = tfp_hlo_listing_write_all(&listing, s->sink, err);
	tfp_hlo_listing_release(&listing);
	return status;
}

/* Without a sink only whether the program is there. */
static enum tfp_status stream_host(void *context, struct tfp_capture *capture, const char *host,
				   struct tfp_pool *pool, struct tfp_error *err)
{
	struct stream *s = context;
	const struct tfp_hlo_modules *modules;
	(void)host;
	if (s->found)
		return TFP_OK;
	enum tfp_status status = tfp_hlo_modules_get(capture, pool, &modules, err);
	const struct tfp_hlo_module *module =
		status == TFP_OK ? tfp_chosen_module(&s->choice, modules) : NULL;
	s->found = module != NULL;
	return module && s->sink ? write_program(s, module, err) : status;
}

static enum tfp_status write_stream(void *context, const struct tfp_sink *sink,
				    struct tfp_error *err)
{
	struct stream *s = context;
	s->sink = sink;
	s->found = false;
	enum tfp_status status = tfp_session_each(s->session, stream_host, s, err);
	return status == TFP_OK && !s->found ? tfp_no_such_program(&s->choice, err) : status;
}

/* The query does not live as long as the stream. */
static bool keep_name(struct stream *s)
{
	size_t size = s->choice.name.size;
	s->name = tfp_malloc(size + 1);
	if (!s->name)
		return false;
	if (size)
		memcpy(s->name, s->choice.name.data, size);
	s->choice.name.data = s->name;
	s->asked.node = s->asked.open = s->asked.search = NULL;
	return true;
}

static enum tfp_status begin_stream(const struct tfp_session *session,
				    const struct tfp_query *query, struct tfp_answer_stream *out,
				    struct tfp_error *err)
{
	struct stream *s = tfp_calloc(1, sizeof(*s));
	if (!s)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the text of a program");
	s->session = session;
	enum tfp_status status = read_query(query, &s->asked, err);
	if (status == TFP_OK)
		status = tfp_choose_program(session, query, s->asked.node, &s->choice, err);
	if (status == TFP_OK && !s->choice.any)
		status = tfp_fail(err, TFP_NOT_FOUND, "%s", tfp_graph_viewer.without);
	if (status == TFP_OK && !keep_name(s))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the text of a program");
	if (status == TFP_OK)
		status = tfp_session_each(session, stream_host, s, err);
	if (status == TFP_OK && !s->found)
		status = tfp_no_such_program(&s->choice, err);
	if (status != TFP_OK) {
		free_stream(s);
		return status;
	}
	bool is_proto = s->asked.view == PROTO;
	*out = (struct tfp_answer_stream){
		.content_type = is_proto ? "application/octet-stream" : PLAIN_TEXT,
		.ending = is_proto ? ".hlo_proto.pb" : ".txt",
		.write = write_stream,
		.free = free_stream,
		.context = s,
	};
	return TFP_OK;
}

const struct tfp_tool tfp_graph_viewer = {
	.name = "graph_viewer",
	.title = "Graph viewer",
	.summary = "A compiled program as a graph around an instruction, and as text.",
	.place = 42,
	.filter = "Filter instructions",
	.scope = TFP_HOSTS_BOTH,
	.takes_hosts = true,
	.needs = TFP_NEEDS_PROGRAM,
	.without = "The capture holds no compiled program.",
	.parameters =
		{
			TFP_TAKES_ONE_OF("type", NULL,
					 "What is answered; without it, tables of the nodes and "
					 "edges around an instruction.",
					 "graph", "short_txt", "long_txt", "pb", "pbtxt",
					 "adj_nodes", "custom_call", "neighborhood", "lines",
					 "search"),
			TFP_TAKES(COUNT, "program_id", NULL,
				  "The program, by its number; without it the only one that has "
				  "node_name, or that with the most time on the devices."),
			TFP_TAKES(TEXT, "module_name", NULL,
				  "The program, by its name, with its number or without: "
				  "jit_step(17). program_id goes first."),
			TFP_TAKES(TEXT, "node_name", NULL,
				  "An instruction or a computation; without it the entry "
				  "computation's root."),
			TFP_TAKES(COUNT, "instruction_id", NULL,
				  "An instruction, by the id that the file has for it. It goes "
				  "before node_name."),
			TFP_TAKES(COUNT, "hops", HOPS_USUAL,
				  "How far from the instruction nodes are shown, along operands "
				  "and users."),
			TFP_TAKES(TEXT, "open", NULL,
				  "Instructions whose fused or called computations are shown as "
				  "well, with commas."),
			TFP_TAKES(COUNT, "limit", NULL,
				  "Nodes that are shown, 500 without it and 20,000 at most, or "
				  "instructions that a search lists, 100 without it."),
			TFP_TAKES(COUNT, "graph_width", WIDTH_USUAL,
				  "The same as hops, of type=graph."),
			TFP_TAKES(BOOLEAN, "merge_fusion", "false",
				  "Draws each fusion as one node, of type=graph."),
			TFP_TAKES(BOOLEAN, "show_metadata", "false",
				  "Texts have metadata and stacks, graphs configurations."),
			TFP_TAKES(BOOLEAN, "large_constants", "false",
				  "Lines have all values of constants, of type=lines."),
			TFP_TAKES(COUNT, "from", "0", "The first line, of type=lines."),
			TFP_TAKES(COUNT, "count", LINES_USUAL,
				  "How many lines, 10,000 at most, of type=lines."),
			TFP_TAKES(TEXT, "q", NULL, "What type=search looks for."),
		},
	.render = render,
	.streams = streams,
	.stream = begin_stream,
};
