/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile: the views of a run by scope, graph, operation and line of code
 * (docs/tools/tfprof.md).
 */
#include "tfprof/capture_answer.h"
#include "tfprof/capture_details.h"
#include "tfprof/capture_output.h"
#include "tfprof/graph_work.h"
#include "tools/tool.h"

#include <string.h>

extern const struct tfp_tool tfp_tfprof;

#define NUMBERS(id, label)                                                                         \
	{id, label " (self)", TFP_CELL_NUMBER},                                                    \
	{                                                                                          \
		id "_total", label, TFP_CELL_NUMBER                                                \
	}

/* In the order of tfp_quantities. */
static const struct tfp_column columns[] = {
	{"depth", "Depth", TFP_CELL_NUMBER},
	{"path", "Path", TFP_CELL_TEXT},
	{"name", "Name", TFP_CELL_TEXT},
	{"pass", "Pass", TFP_CELL_TEXT},
	NUMBERS("micros", "Total time (us)"),
	NUMBERS("accelerator_micros", "Accelerator time (us)"),
	NUMBERS("cpu_micros", "CPU time (us)"),
	NUMBERS("occurrence_run", "Runs"),
	NUMBERS("occurrence_defined", "Defined"),
	NUMBERS("bytes", "Requested bytes"),
	NUMBERS("peak_bytes", "Peak bytes"),
	NUMBERS("residual_bytes", "Residual bytes"),
	NUMBERS("output_bytes", "Output bytes"),
	NUMBERS("float_ops", "Flops"),
	NUMBERS("model_flops", "Model flops"),
	NUMBERS("bytes_accessed", "Bytes accessed"),
	NUMBERS("params", "Parameters"),
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
_Static_assert(COLUMNS == 4 + 2 * TFP_QUANTITIES, "each quantity has two columns");

/* A view that was asked for, and what it is made of. */
struct profile {
	struct tfp_capture_request request;
	struct tfp_capture_work work;
	struct tfp_capture_view view;
	struct tfp_capture_rows rows;
	bool gave_up;
};

static void release(struct profile *p)
{
	tfp_capture_rows_release(&p->rows);
	tfp_capture_view_release(&p->view);
	tfp_capture_work_release(&p->work);
	tfp_capture_request_release(&p->request);
}

static enum tfp_status make(struct profile *p, const struct tfp_session *session,
			    const struct tfp_query *query, struct tfp_error *err)
{
	enum tfp_status status = tfp_capture_request_init(&p->request, query, err);
	if (status == TFP_OK)
		status = tfp_run_work_init(&p->work, session, &p->request.wanted, err);
	if (status == TFP_OK)
		status = tfp_capture_view_init(&p->view, &p->work, &p->request.choice, err);
	if (status == TFP_OK)
		status = tfp_capture_view_show(&p->view, &p->request.options, &p->gave_up, err);
	if (status == TFP_OK)
		status = tfp_capture_rows_init(&p->rows, &p->view, &p->request, err);
	return status;
}

/* ---- the table ---- */

static void add_number(struct tfp_table *t, const struct profile *p, enum tfp_amount amount,
		       bool known, int64_t value)
{
	if (known)
		tfp_table_add_number(t, tfp_capture_amount(&p->view, amount, value));
	else
		tfp_table_add_absent(t);
}

static void add_pass(struct tfp_table *t, unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *word;
	} passes[] = {{TFP_FORWARD, "forward"},
		      {TFP_BACKWARD, "backward"},
		      {TFP_REMATERIALISED, "rematerialised"}};
	char words[64] = "";
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		if (!(flags & passes[i].flag))
			continue;
		if (words[0])
			strcat(words, ", ");
		strcat(words, passes[i].word);
	}
	tfp_table_add_text(t, words, strlen(words));
}

static void add_table(const struct profile *p, struct tfp_answer *answer)
{
	struct tfp_table *t = &answer->tables[answer->table_count++];
	tfp_table_init(t, columns, COLUMNS);
	for (size_t i = 0; i < p->rows.count; i++) {
		const struct tfp_tree_node *n = p->rows.nodes[i];
		struct tfp_str label = n->label, path = i ? n->name : (struct tfp_str){"", 0};
		size_t depth = 0;
		for (uint32_t at = (uint32_t)i; at != 0; at = p->rows.parents[at])
			depth++;
		tfp_table_add_number(t, (double)depth);
		tfp_table_add_text(t, path.data, path.size);
		tfp_table_add_text(t, label.data, label.size);
		add_pass(t, n->flags);
		for (size_t q = 0; q < TFP_QUANTITIES; q++) {
			enum tfp_amount amount = tfp_quantities[q].amount;
			int64_t own;
			bool known = tfp_capture_own(n, amount, &own);
			add_number(t, p, amount, known, own);
			known = n->known_total & TFP_AMOUNT_BIT(amount);
			add_number(t, p, amount, known, n->total[amount]);
		}
	}
}

/* ---- the answer ---- */

static enum tfp_status write_file(const struct profile *p, struct tfp_answer *answer,
				  struct tfp_error *err)
{
	static const char plain[] = "text/plain; charset=utf-8";
	enum tfp_status status = TFP_OK;
	answer->file_type = plain;
	switch (p->request.output) {
	case TFP_CAPTURE_PPROF:
		answer->file_type = "application/octet-stream";
		answer->file_suffix = ".pb.gz";
		status = tfp_capture_pprof(&p->view, &p->request, &p->rows, &answer->json, err);
		break;
	case TFP_CAPTURE_FOLDED:
		answer->file_suffix = ".folded.txt";
		tfp_capture_folded(&p->view, &p->request, &p->rows, &answer->json);
		break;
	case TFP_CAPTURE_TIMELINE:
		answer->file_type = "application/json";
		answer->file_suffix = ".trace.json";
		tfp_capture_timeline(&p->view, &p->request, &p->rows, &answer->json);
		break;
	case TFP_CAPTURE_CSV:
		answer->file_type = "text/csv; charset=utf-8";
		answer->file_suffix = ".csv";
		add_table(p, answer);
		if (tfp_table_failed(&answer->tables[0]))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the table");
		tfp_table_write_csv(&answer->tables[0], TFP_CSV_PLAIN, &answer->json);
		break;
	default:
		answer->file_suffix = ".txt";
		tfp_capture_text(&p->view, &p->request, &p->rows, &answer->json);
	}
	if (status == TFP_OK && tfp_buf_failed(&answer->json))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	return status;
}

static enum tfp_status write_document(const struct profile *p, const struct tfp_session *session,
				      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_json j;
	tfp_json_init(&j, &answer->json);
	if (p->request.has_path) {
		enum tfp_status status = tfp_capture_details_write(&p->view, &p->request, &j, err);
		return status == TFP_OK ? tfp_json_finish(&j, err) : status;
	}
	tfp_capture_answer_write(&p->view, &p->request, &p->rows, session, p->gave_up, &j);
	if (!answer->document_only)
		add_table(p, answer);
	return tfp_json_finish(&j, err);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct profile p = {.gave_up = false};
	enum tfp_status status = make(&p, session, query, err);
	if (status == TFP_OK && p.request.output != TFP_CAPTURE_JSON && !p.request.has_path)
		status = write_file(&p, answer, err);
	else if (status == TFP_OK)
		status = write_document(&p, session, answer, err);
	release(&p);
	return status;
}

const struct tfp_tool tfp_tfprof = {
	.name = "tfprof",
	.title = "Profile",
	.summary = "Time, memory and flops by name scope, graph, operation or line of code.",
	.place = 45,
	.scope = TFP_HOSTS_BOTH,
	.takes_graph_runs = true,
	.takes_hosts = true,
	.shows_steps = true,
	.parameters =
		{
			TFP_TAKES_ONE_OF("view", "scope", "What the tree is of.", "scope", "graph",
					 "op", "code"),
			TFP_TAKES(TEXT, "select", TFP_CAPTURE_SELECT,
				  "Quantities, with commas between them: micros, "
				  "accelerator_micros, cpu_micros, occurrence, bytes, peak_bytes, "
				  "residual_bytes, output_bytes, float_ops, model_flops, "
				  "bytes_accessed, params; in text also device, op_types, "
				  "input_shapes."),
			TFP_TAKES(TEXT, "order_by", "micros",
				  "Order of siblings: name, or a quantity, the largest first."),
			TFP_TAKES(COUNT, "max_depth", "10000",
				  "Levels that are shown; the root is the first."),
			TFP_TAKES(TEXT, "step", "all",
				  "all of the capture, the mean of its steps, or the number of "
				  "a step."),
			TFP_TAKES(COUNT, "min_micros", "0", "Only what took so long, in total."),
			TFP_TAKES(COUNT, "min_accelerator_micros", "0", "The same on devices."),
			TFP_TAKES(COUNT, "min_cpu_micros", "0", "The same on the host."),
			TFP_TAKES(COUNT, "min_bytes", "0", "Only what asked for so much memory."),
			TFP_TAKES(COUNT, "min_peak_bytes", "0",
				  "Only what held so much memory at a time."),
			TFP_TAKES(COUNT, "min_residual_bytes", "0",
				  "Only what still held so much memory at the end."),
			TFP_TAKES(COUNT, "min_output_bytes", "0",
				  "Only what wrote outputs of so many bytes."),
			TFP_TAKES(COUNT, "min_params", "0", "Only what has so many parameters."),
			TFP_TAKES(COUNT, "min_float_ops", "0", "Only what did so many flops."),
			TFP_TAKES(COUNT, "min_occurrence", "0", "Only what ran so often."),
			TFP_TAKES(TEXT, "account_type_regexes", ".*",
				  "What counts, by type, category, device or pass (forward, "
				  "backward, rematerialised): regular expressions with commas "
				  "between them."),
			TFP_TAKES(TEXT, "start_name_regexes", ".*",
				  "The tree begins with the first names that match."),
			TFP_TAKES(TEXT, "trim_name_regexes", NULL,
				  "Nothing is shown below names that match."),
			TFP_TAKES(TEXT, "show_name_regexes", ".*", "Only names that match."),
			TFP_TAKES(TEXT, "hide_name_regexes", NULL, "Only names that do not match."),
			TFP_TAKES(BOOLEAN, "account_displayed_op_only", "false",
				  "Totals are those of what is shown."),
			TFP_TAKES_ONE_OF(
				"wrappers", "keep",
				"strip takes jit, jvp, transpose, vmap, remat and their "
				"like out of names, so that all passes of a scope are one.",
				"keep", "strip"),
			TFP_TAKES(
				BOOLEAN, "others", NULL,
				"Shows also kernels and copies that belong to no operation; "
				"without it, only in the graph and code views of a run that knows "
				"no program."),
			TFP_TAKES(TEXT, "params_regexes", NULL,
				  "Which entry parameters of programs are parameters of the "
				  "model, by their names; without it what begins with params, "
				  "variables or weights, and not the optimizer's."),
			TFP_TAKES(COUNT, "limit", TFP_CAPTURE_NODES,
				  "Nodes of the answer, at most 1000000; those with the least of "
				  "the order are left out first."),
			TFP_TAKES(TEXT, "node", NULL,
				  "The details of one node in place of the tree: the names on the "
				  "way to it, as a JSON list."),
			TFP_TAKES_ONE_OF("output", "json",
					 "The form of the answer; pprof is compressed.", "json",
					 "pprof", "folded", "csv", "text", "timeline"),
			TFP_TAKES(TEXT, "output_quantity", NULL,
				  "The quantity of pprof, folded and timeline; without it the "
				  "order's."),
		},
	.render = render,
};
