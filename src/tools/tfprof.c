/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile: the views of a run by scope, graph, operation and line of code
 * (docs/tools/tfprof.md).
 */
#include "tfprof/capture_answer.h"
#include "tools/tool.h"

extern const struct tfp_tool tfp_tfprof;

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_capture_request request = {0};
	struct tfp_capture_work work = {0};
	struct tfp_capture_view view = {0};
	struct tfp_capture_rows rows = {0};
	struct tfp_json j;
	bool gave_up = false;
	enum tfp_status status = tfp_capture_request_init(&request, query, err);
	if (status == TFP_OK)
		status = tfp_capture_work_init(&work, session, &request.wanted, err);
	if (status == TFP_OK)
		status = tfp_capture_view_init(&view, &work, &request.choice, err);
	if (status == TFP_OK)
		status = tfp_capture_view_show(&view, &request.options, &gave_up, err);
	if (status == TFP_OK)
		status = tfp_capture_rows_init(&rows, &view, &request, err);
	if (status == TFP_OK) {
		tfp_json_init(&j, &answer->json);
		tfp_capture_answer_write(&view, &request, &rows, session, gave_up, &j);
		status = tfp_json_finish(&j, err);
	}
	tfp_capture_rows_release(&rows);
	tfp_capture_view_release(&view);
	tfp_capture_work_release(&work);
	tfp_capture_request_release(&request);
	return status;
}

const struct tfp_tool tfp_tfprof = {
	.name = "tfprof",
	.title = "Profile",
	.summary = "Time, memory and flops by name scope, graph, operation or line of code.",
	.place = 0, /* until it has a page */
	.scope = TFP_HOSTS_BOTH,
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
		},
	.render = render,
};
