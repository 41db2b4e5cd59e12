/* SPDX-License-Identifier: Apache-2.0 */
/* What programs did: op profile, HLO stats, roofline, modules, costs, graphs, views. */
#include "report/reports.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A time that a table has as a property, in microseconds; false where it has none, or 0. */
static bool time_of(const struct tfp_table *t, const char *key, double *us)
{
	*us = strtod(tfp_table_property(t, key), NULL);
	return *us > 0;
}

static void say_share(struct tfp_report *r, const char *label, double part, double whole,
		      const char *what)
{
	char time[40], share[40];
	tfp_report_fact(r, label, "%s, %s of %s",
			tfp_report_quantity(TFP_Q_US, part, time, sizeof(time)),
			tfp_report_quantity(TFP_Q_SHARE, part / whole, share, sizeof(share)), what);
}

/* The devices' time, and the part whose cost is unknown. false, with a reason, when nothing ran. */
static bool say_times(struct tfp_report *r, const struct tfp_table *t)
{
	double total, busy, part;
	const char *source = tfp_table_property(t, "peaks_source");
	if (!time_of(t, "busy_time_us", &busy)) {
		tfp_report_say(r, "No device ran anything while the capture was made.");
		return false;
	}
	tfp_report_fact(r, "Device", "%s", tfp_table_property(t, "device_type"));
	if (source[0])
		tfp_report_fact(r, "Peaks", "%s", source);
	if (time_of(t, "total_time_us", &total))
		say_share(r, "Busy", busy, total, "the devices' time");
	if (time_of(t, "no_hlo_time_us", &part))
		say_share(r, "No known HLO", part, busy, "busy time");
	if (time_of(t, "unknown_cost_time_us", &part))
		say_share(r, "Cost unknown", part, busy, "busy time");
	return true;
}

/* made: the rows of a tree, drawn by blanks; its columns are t's of the same ids, after the first.
 */
static bool add_tree(struct tfp_table *made, const struct tfp_table *t)
{
	struct tfp_buf name;
	tfp_buf_init(&name, (size_t)1 << 20);
	for (size_t i = 0; i < tfp_table_row_count(t); i++) {
		struct tfp_text text;
		double depth = 0, number;
		tfp_buf_clear(&name);
		if (tfp_table_number(t, i, tfp_table_column(t, "depth"), &depth))
			for (int k = 0; k < (int)depth && k < 64; k++)
				tfp_buf_puts(&name, "  ");
		if (tfp_table_text(t, i, tfp_table_column(t, "name"), &text))
			tfp_buf_add(&name, text.data, text.size);
		tfp_table_add_text(made, tfp_buf_text(&name), name.size);
		for (size_t c = 1; c < made->column_count; c++) {
			size_t from = tfp_table_column(t, made->columns[c].id);
			if (tfp_table_number(t, i, from, &number))
				tfp_table_add_number(made, number);
			else if (tfp_table_text(t, i, from, &text))
				tfp_table_add_text(made, text.data, text.size);
			else
				tfp_table_add_absent(made);
		}
	}
	bool ok = !tfp_buf_failed(&name) && !tfp_table_failed(made);
	tfp_buf_release(&name);
	return ok;
}

static enum tfp_status write_profile(const struct tfp_report_source *source, struct tfp_report *r,
				     struct tfp_error *err)
{
	static const struct tfp_report_column shown[] = {
		{"tree", "name", TFP_Q_NAME, 20, false, false},
		{"time_share", "time", TFP_Q_SHARE, 19, false, false},
		{"time_us", "time", TFP_Q_US, 18, false, false},
		{"occurrences", "count", TFP_Q_COUNT, 12, false, false},
		{"wasted_share", "wasted", TFP_Q_SHARE, 15, true, false},
		{"flops_utilization", "FLOPS", TFP_Q_SHARE, 14, true, false},
		{"hbm_utilization", "HBM", TFP_Q_SHARE, 13, true, false},
		{"program_id", "program", TFP_Q_KEY, 5, true, false},
	};
	static const struct tfp_column columns[] = {
		{"tree", "Name", TFP_CELL_TEXT},
		{"time_share", "Time", TFP_CELL_NUMBER},
		{"time_us", "Time", TFP_CELL_NUMBER},
		{"occurrences", "Count", TFP_CELL_NUMBER},
		{"wasted_share", "Wasted", TFP_CELL_NUMBER},
		{"flops_utilization", "FLOPS", TFP_CELL_NUMBER},
		{"hbm_utilization", "HBM", TFP_CELL_NUMBER},
		{"program_id", "Program", TFP_CELL_TEXT},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	struct tfp_table *made = &source->more->tables[source->more->table_count++];
	tfp_table_init(made, columns, COUNT(columns));
	if (!say_times(r, t))
		return TFP_OK;
	if (!add_tree(made, t))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the report");
	tfp_report_table(r, made, shown, COUNT(shown), "--limit 0");
	return TFP_OK;
}

/* Any view of the tool tfprof, without what is the node's alone. */
static enum tfp_status write_views(const struct tfp_report_source *source, struct tfp_report *r,
				   struct tfp_error *err)
{
	static const struct tfp_report_column shown[] = {
		{"tree", "name", TFP_Q_NAME, 20, false, false},
		{"micros_total", "time", TFP_Q_US, 19, true, false},
		{"accelerator_micros_total", "accelerator", TFP_Q_US, 17, true, false},
		{"cpu_micros_total", "CPU", TFP_Q_US, 16, true, false},
		{"occurrence_run_total", "runs", TFP_Q_COUNT, 15, true, false},
		{"float_ops_total", "flops", TFP_Q_COUNT, 18, true, false},
		{"bytes_total", "requested", TFP_Q_BYTES, 14, true, false},
		{"peak_bytes_total", "peak", TFP_Q_BYTES, 13, true, false},
		{"output_bytes_total", "output", TFP_Q_BYTES, 12, true, false},
		{"bytes_accessed_total", "accessed", TFP_Q_BYTES, 11, true, false},
		{"params_total", "parameters", TFP_Q_COUNT, 10, true, false},
		{"pass", "pass", TFP_Q_LABEL, 9, true, false},
	};
	static const struct tfp_column columns[] = {
		{"tree", "Name", TFP_CELL_TEXT},
		{"micros_total", "Time", TFP_CELL_NUMBER},
		{"accelerator_micros_total", "Accelerator", TFP_CELL_NUMBER},
		{"cpu_micros_total", "CPU", TFP_CELL_NUMBER},
		{"occurrence_run_total", "Runs", TFP_CELL_NUMBER},
		{"float_ops_total", "Flops", TFP_CELL_NUMBER},
		{"bytes_total", "Requested", TFP_CELL_NUMBER},
		{"peak_bytes_total", "Peak", TFP_CELL_NUMBER},
		{"output_bytes_total", "Output", TFP_CELL_NUMBER},
		{"bytes_accessed_total", "Accessed", TFP_CELL_NUMBER},
		{"params_total", "Parameters", TFP_CELL_NUMBER},
		{"pass", "Pass", TFP_CELL_TEXT},
	};
	const struct tfp_answer *answer = source->answer;
	if (answer->table_count == 0) {
		tfp_report_say(r, "The answer has no table; --format json prints it.");
		return TFP_OK;
	}
	struct tfp_table *made = &source->more->tables[source->more->table_count++];
	tfp_table_init(made, columns, COUNT(columns));
	if (!add_tree(made, &answer->tables[0]))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the report");
	tfp_report_table(r, made, shown, COUNT(shown), "--limit 0");
	return TFP_OK;
}

static enum tfp_status write_stats(const struct tfp_report_source *source, struct tfp_report *r,
				   struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"rank", "rank", TFP_Q_COUNT, 6, false, false},
		{"program", "program", TFP_Q_NAME, 12, true, false},
		{"category", "category", TFP_Q_NAME, 14, false, false},
		{"hlo_op_name", "instruction", TFP_Q_NAME, 20, false, false},
		{"tf_op_name", "from", TFP_Q_NAME, 11, true, false},
		{"occurrences", "count", TFP_Q_COUNT, 15, false, false},
		{"total_self_time", "self", TFP_Q_US, 19, false, false},
		{"avg_self_time", "average", TFP_Q_US, 10, false, false},
		{"total_self_time_percent", "share", TFP_Q_PERCENT, 18, false, false},
		{"model_flop_rate", "GFLOP/s", TFP_Q_NUMBER, 9, true, false},
		{"hbm_bw", "HBM GiB/s", TFP_Q_NUMBER, 8, true, false},
		{"operational_intensity", "FLOP/B", TFP_Q_NUMBER, 5, true, false},
		{"bound_by", "bound by", TFP_Q_TEXT, 13, true, false},
		{"cost_source", "cost from", TFP_Q_LABEL, 4, true, false},
		{"source", "source", TFP_Q_NAME, 7, true, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	(void)err;
	if (say_times(r, t))
		tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
	return TFP_OK;
}

static void say_no_steps(struct tfp_report *r, const struct tfp_table *t)
{
	const char *stand_in = tfp_table_property(t, "module_steps");
	if (stand_in[0])
		tfp_report_fact(r, "Steps",
				"none marked; --step-source module takes %s executions of a module",
				stand_in);
	else
		tfp_report_fact(r, "Steps", "none marked");
}

/* Of the half with infeed and outfeed, whether a row is the program's or an operation's. */
static bool is_row(const struct tfp_table *t, size_t row, bool of_program)
{
	double rank;
	bool with_feeds;
	return tfp_table_boolean(t, row, tfp_table_column(t, "include_infeed_outfeed"),
				 &with_feeds) &&
	       with_feeds && tfp_table_number(t, row, tfp_table_column(t, "rank"), &rank) &&
	       (rank == 0) == of_program;
}

/* Copies these columns of rows of a roofline. */
static void take_rows(const struct tfp_table *t, bool of_program, struct tfp_table *made)
{
	for (size_t i = 0; i < tfp_table_row_count(t); i++) {
		for (size_t c = 0; c < made->column_count && is_row(t, i, of_program); c++) {
			struct tfp_text text;
			double number;
			size_t from = tfp_table_column(t, made->columns[c].id);
			if (tfp_table_number(t, i, from, &number))
				tfp_table_add_number(made, number);
			else if (tfp_table_text(t, i, from, &text))
				tfp_table_add_text(made, text.data, text.size);
			else
				tfp_table_add_absent(made);
		}
	}
}

static enum tfp_status write_roofline(const struct tfp_report_source *source, struct tfp_report *r,
				      struct tfp_error *err)
{
	static const struct tfp_column columns[] = {
		{"step", "Step", TFP_CELL_TEXT},
		{"rank", "Rank", TFP_CELL_NUMBER},
		{"category", "Category", TFP_CELL_TEXT},
		{"operation", "Operation", TFP_CELL_TEXT},
		{"total_time", "Time", TFP_CELL_NUMBER},
		{"total_time_in_percentage", "Share", TFP_CELL_NUMBER},
		{"measured_flop_rate", "GFLOP/s", TFP_CELL_NUMBER},
		{"hbm_bw", "HBM GiB/s", TFP_CELL_NUMBER},
		{"bottleneck_operational_intensity", "FLOP/B", TFP_CELL_NUMBER},
		{"bound_by", "Bound by", TFP_CELL_TEXT},
		{"roofline_efficiency", "Of the roof", TFP_CELL_NUMBER},
		{"cost_source", "Cost from", TFP_CELL_TEXT},
	};
	static const struct tfp_report_column program[] = {
		{"step", "program in", TFP_Q_LABEL, 20, false, false},
		{"total_time", "time", TFP_Q_US, 19, false, false},
		{"measured_flop_rate", "GFLOP/s", TFP_Q_NUMBER, 15, true, false},
		{"hbm_bw", "HBM GiB/s", TFP_Q_NUMBER, 14, true, false},
		{"bottleneck_operational_intensity", "FLOP/B", TFP_Q_NUMBER, 13, true, false},
		{"bound_by", "bound by", TFP_Q_TEXT, 16, true, false},
		{"roofline_efficiency", "of the roof", TFP_Q_SHARE, 17, true, false},
	};
	static const struct tfp_report_column ops[] = {
		{"rank", "rank", TFP_Q_COUNT, 6, false, false},
		{"category", "category", TFP_Q_NAME, 12, false, false},
		{"operation", "operation", TFP_Q_NAME, 20, false, false},
		{"total_time", "time", TFP_Q_US, 19, false, false},
		{"total_time_in_percentage", "share", TFP_Q_SHARE, 18, false, false},
		{"measured_flop_rate", "GFLOP/s", TFP_Q_NUMBER, 15, true, false},
		{"hbm_bw", "HBM GiB/s", TFP_Q_NUMBER, 14, true, false},
		{"bottleneck_operational_intensity", "FLOP/B", TFP_Q_NUMBER, 13, true, false},
		{"bound_by", "bound by", TFP_Q_TEXT, 16, true, false},
		{"roofline_efficiency", "of the roof", TFP_Q_SHARE, 17, true, false},
		{"cost_source", "cost from", TFP_Q_LABEL, 5, true, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	const char *module = tfp_table_property(t, "step_module");
	if (!say_times(r, t))
		return TFP_OK;
	tfp_report_fact(r, "Peak", "%s GFLOP/s, HBM %s GiB/s, ridge at %s FLOP/byte",
			tfp_table_property(t, "peak_flop_rate"),
			tfp_table_property(t, "peak_hbm_bw"),
			tfp_table_property(t, "hbm_ridge_point"));
	if (module[0])
		tfp_report_fact(r, "Steps", "executions of module %s", module);
	else if (strcmp(tfp_table_property(t, "steps_total"), "0") == 0)
		say_no_steps(r, t);
	for (int of_program = 1; of_program >= 0; of_program--) {
		struct tfp_table *made = &source->more->tables[source->more->table_count++];
		tfp_table_init(made, columns, COUNT(columns));
		take_rows(t, of_program, made);
		if (tfp_table_failed(made))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the report");
		tfp_report_heading(r, of_program ? "The program" : "Operations");
		tfp_report_table(r, made, of_program ? program : ops,
				 of_program ? COUNT(program) : COUNT(ops), "--limit 0");
	}
	return TFP_OK;
}

static enum tfp_status write_modules(const struct tfp_report_source *source, struct tfp_report *r,
				     struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"module", "module", TFP_Q_NAME, 9, false, false},
		{"program_id", "program id", TFP_Q_KEY, 8, false, false},
		{"time_us", "device time", TFP_Q_US, 7, false, false},
		{"time_share", "share", TFP_Q_SHARE, 6, false, false},
		{"executions", "executions", TFP_Q_COUNT, 5, false, false},
		{"instructions", "instructions", TFP_Q_COUNT, 4, false, false},
		{"instructions_run", "ran", TFP_Q_COUNT, 3, false, false},
		{"hosts", "hosts", TFP_Q_COUNT, 2, false, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	(void)err;
	tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
	return TFP_OK;
}

static void say_program(struct tfp_report *r, const struct tfp_table *t)
{
	struct tfp_text id, name;
	const char *ours = tfp_table_property(t, "ours_total");
	const char *unknown = tfp_table_property(t, "unknown_total");
	const char *problem = tfp_table_property(t, "problem");
	if (tfp_table_text(t, 0, tfp_table_column(t, "program_id"), &id) &&
	    tfp_table_text(t, 0, tfp_table_column(t, "module"), &name))
		tfp_report_fact(r, "Program", "%.*s(%.*s)", (int)name.size, name.data, (int)id.size,
				id.data);
	tfp_report_fact(r, "Instructions", "%s", tfp_table_property(t, "rows_total"));
	if (strcmp(ours, "0") != 0)
		tfp_report_fact(r, "Cost not known to XLA, but by shapes", "%s", ours);
	if (strcmp(unknown, "0") != 0)
		tfp_report_fact(r, "Cost unknown", "%s", unknown);
	if (problem[0])
		tfp_report_say(r, "The costs of this program could not be computed: %s.", problem);
}

static enum tfp_status write_costs(const struct tfp_report_source *source, struct tfp_report *r,
				   struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"instruction", "instruction", TFP_Q_NAME, 20, false, false},
		{"opcode", "opcode", TFP_Q_LABEL, 18, false, false},
		{"shape", "shape", TFP_Q_NAME, 12, false, false},
		{"xla_flops", "flops", TFP_Q_COUNT, 17, false, false},
		{"xla_transcendentals", "transc.", TFP_Q_COUNT, 9, true, false},
		{"xla_bytes", "bytes", TFP_Q_BYTES, 16, false, false},
		{"gpu_flops_model", "GPU flops", TFP_Q_COUNT, 15, false, false},
		{"gpu_bytes", "GPU bytes", TFP_Q_BYTES, 14, false, false},
		{"gpu_bytes_read_hbm", "read", TFP_Q_BYTES, 8, false, false},
		{"gpu_bytes_written_hbm", "written", TFP_Q_BYTES, 7, false, false},
		{"cost_source", "cost from", TFP_Q_LABEL, 13, false, false},
		{"computation", "computation", TFP_Q_NAME, 11, false, false},
		{"op_name", "op", TFP_Q_NAME, 10, true, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	(void)err;
	if (tfp_table_row_count(t) == 0) {
		tfp_report_say(r, "The capture holds no compiled program.");
		return TFP_OK;
	}
	say_program(r, t);
	tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
	return TFP_OK;
}

static enum tfp_status write_graph(const struct tfp_report_source *source, struct tfp_report *r,
				   struct tfp_error *err)
{
	static const struct tfp_report_column nodes[] = {
		{"instruction", "instruction", TFP_Q_NAME, 20, false, false},
		{"opcode", "opcode", TFP_Q_LABEL, 18, false, false},
		{"hops", "hops", TFP_Q_COUNT, 19, false, false},
		{"shape", "shape", TFP_Q_NAME, 14, false, false},
		{"bytes", "size", TFP_Q_BYTES, 13, false, false},
		{"self_time_us", "self time", TFP_Q_US, 17, true, false},
		{"occurrences", "count", TFP_Q_COUNT, 12, true, false},
		{"flops", "flops", TFP_Q_COUNT, 16, false, false},
		{"bytes_accessed", "bytes", TFP_Q_BYTES, 15, false, false},
		{"hidden_operands", "more operands", TFP_Q_COUNT, 8, false, false},
		{"hidden_users", "more users", TFP_Q_COUNT, 7, false, false},
		{"source", "source", TFP_Q_NAME, 6, true, false},
		{"op_name", "op", TFP_Q_NAME, 5, true, false},
	};
	static const struct tfp_report_column edges[] = {
		{"from", "from", TFP_Q_NAME, 9, false, false},
		{"to", "to", TFP_Q_NAME, 8, false, false},
		{"operand", "operand", TFP_Q_COUNT, 7, true, false},
		{"kind", "kind", TFP_Q_LABEL, 6, false, false},
		{"shape", "shape", TFP_Q_NAME, 4, false, false},
		{"bytes", "size", TFP_Q_BYTES, 5, false, false},
	};
	const struct tfp_table *t = source->answer->tables;
	(void)err;
	if (source->answer->table_count < 2) {
		tfp_report_say(r, "The answer has no table; --format json prints it.");
		return TFP_OK;
	}
	if (tfp_table_row_count(&t[0]) == 0) {
		tfp_report_say(r, "The capture holds no compiled program.");
		return TFP_OK;
	}
	const char *cut = tfp_table_property(&t[0], "cut");
	tfp_report_fact(r, "Program", "%s(%s)", tfp_table_property(&t[0], "module"),
			tfp_table_property(&t[0], "program_id"));
	tfp_report_fact(r, "Around", "%s", tfp_table_property(&t[0], "center"));
	if (strcmp(cut, "0") != 0)
		tfp_report_fact(r, "Not shown", "%s more; --limit N shows more of them", cut);
	tfp_report_heading(r, "Instructions");
	tfp_report_table(r, &t[0], nodes, COUNT(nodes), "--limit 0");
	tfp_report_heading(r, "Values");
	tfp_report_table(r, &t[1], edges, COUNT(edges), "--limit 0");
	return TFP_OK;
}

const struct tfp_reporter tfp_report_graph_viewer = {.tool = "graph_viewer", .write = write_graph};
const struct tfp_reporter tfp_report_tfprof = {.tool = "tfprof", .write = write_views};
const struct tfp_reporter tfp_report_op_profile = {.tool = "op_profile", .write = write_profile};
const struct tfp_reporter tfp_report_hlo_stats = {.tool = "hlo_stats", .write = write_stats};
const struct tfp_reporter tfp_report_roofline = {.tool = "roofline_model", .write = write_roofline};
const struct tfp_reporter tfp_report_modules = {.tool = "modules", .write = write_modules};
const struct tfp_reporter tfp_report_hlo_costs = {.tool = "hlo_costs", .write = write_costs};
