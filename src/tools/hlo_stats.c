/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HLO stats: every instruction of compiled programs that ran, with its time, rates and what
 * binds it (docs/tools/hlo_stats.md).
 */
#include "base/alloc.h"
#include "tools/program_ops.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const struct tfp_tool tfp_hlo_stats;

/* XProf's, and ours from program on. */
static const struct tfp_column columns[] = {
	{"rank", "Rank", TFP_CELL_NUMBER},
	{"program_id", "Program id", TFP_CELL_TEXT},
	{"category", "HLO op category", TFP_CELL_TEXT},
	{"hlo_op_name", "HLO op name", TFP_CELL_TEXT},
	{"hlo_op_expression", "HLO op text", TFP_CELL_TEXT},
	{"tf_op_name", "Framework op name", TFP_CELL_TEXT},
	{"occurrences", "#Occurrences", TFP_CELL_NUMBER},
	{"total_time", "Total time (us)", TFP_CELL_NUMBER},
	{"avg_time", "Avg. time (us)", TFP_CELL_NUMBER},
	{"total_self_time", "Total self time (us)", TFP_CELL_NUMBER},
	{"avg_self_time", "Avg. self time (us)", TFP_CELL_NUMBER},
	{"total_self_time_percent", "Total self time (%)", TFP_CELL_NUMBER},
	{"cumulative_total_self_time_percent", "Cumulative total self time (%)", TFP_CELL_NUMBER},
	{"dma_stall_percent", "%time stalled by DMA", TFP_CELL_NUMBER},
	{"model_flop_rate", "Model GFLOP/s", TFP_CELL_NUMBER},
	{"normalized_flop_rate", "Normalized GFLOP/s", TFP_CELL_NUMBER},
	{"measured_memory_bw", "Measured memory BW (GiB/s)", TFP_CELL_NUMBER},
	{"hbm_bw", "HBM BW (GiB/s)", TFP_CELL_NUMBER},
	{"cmem_read_bw", "CMEM Read BW (GiB/s)", TFP_CELL_NUMBER},
	{"cmem_write_bw", "CMEM Write BW (GiB/s)", TFP_CELL_NUMBER},
	{"operational_intensity", "Operational intensity (FLOPS/Byte)", TFP_CELL_NUMBER},
	{"bound_by", "Bound by", TFP_CELL_TEXT},
	{"hlo_rematerialization", "Rematerialization", TFP_CELL_TEXT},
	{"outside_compilation", "Outside Compilation", TFP_CELL_TEXT},
	{"autotuned", "Autotuned", TFP_CELL_TEXT},
	{"source_info", "Source Info", TFP_CELL_TEXT},
	{"core_type", "TPU core type", TFP_CELL_TEXT},
	{"parent_op_name", "Parent op name", TFP_CELL_TEXT},
	{"vdd_energy", "VDD Energy (J)", TFP_CELL_NUMBER},
	{"program", "Program", TFP_CELL_TEXT},
	{"cost_source", "Cost known from", TFP_CELL_TEXT},
	{"source", "Source", TFP_CELL_TEXT},
	{"source_stack", "Source stack", TFP_CELL_TEXT},
};

static void add_text(struct tfp_table *t, struct tfp_str s)
{
	tfp_table_add_text(t, s.data, s.size);
}

static void add_string(struct tfp_table *t, const char *s)
{
	tfp_table_add_text(t, s, strlen(s));
}

/* Whether text contains word between its begin and its first '='. */
static bool contains(struct tfp_str text, const char *word, bool before_equals)
{
	const char *end = before_equals && text.size ? memchr(text.data, '=', text.size) : NULL;
	size_t size = end ? (size_t)(end - text.data) : text.size;
	return size && memmem(text.data, size, word, strlen(word));
}

static bool ends_with(struct tfp_str text, const char *end)
{
	size_t size = strlen(end);
	return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

/* Computed a second time to save memory (xla_op_utils.h, IsRematerialization). */
static bool is_rematerialized(const struct tfp_op *op, const struct tfp_op_text *text)
{
	return contains(text->expression, ".remat", true) ||
	       contains(op->provenance, "/rematted_computation/", false);
}

/* Sent to the host or back for what the compiled program leaves out (IsOutsideCompilationOp). */
static bool is_outside_compilation(const struct tfp_op *op, const struct tfp_op_text *text)
{
	return ends_with(op->provenance, ":XlaSendToHost") ||
	       ends_with(op->provenance, ":XlaRecvFromHost") ||
	       (contains(text->expression, "send-done", false) &&
		contains(text->expression, "is_host_transfer=true", false));
}

/* "%add.1 = ..." is add.1. */
static struct tfp_str name_of(struct tfp_str expression)
{
	const char *end =
		expression.size ? memmem(expression.data, expression.size, " = ", 3) : NULL;
	struct tfp_str name = expression;
	if (end)
		name.size = (size_t)(end - expression.data);
	if (name.size && name.data[0] == '%') {
		name.data++;
		name.size--;
	}
	return name;
}

static void add_rates(struct tfp_table *t, const struct tfp_op *op, const struct tfp_run_env *env)
{
	struct tfp_op_rates r = tfp_op_rates(op, env);
	uint64_t normalized = op->device ? op->device->normalized_ps : 0;
	double usual_rate =
		normalized ? tfp_divide(op->flops, (double)normalized / 1e3) : r.flop_rate;
	const double rates[] = {r.model_flop_rate, usual_rate,     r.memory_bw, r.hbm_bw,
				r.onchip_bw[0],    r.onchip_bw[1], r.intensity};
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		/* Nobody knows what it costs; but GPUs have no CMEM, whatever it is. */
		bool is_cmem = i == 4 || i == 5;
		if (op->has_cost || (is_cmem && env->hardware == TFP_HW_GPU))
			tfp_table_add_number(t, rates[i]);
		else
			tfp_table_add_absent(t);
	}
	if (op->has_cost)
		add_string(t, r.bound_by);
	else
		tfp_table_add_absent(t);
}

static void add_program(struct tfp_table *t, const struct tfp_program_ops *ops, uint64_t id)
{
	const struct tfp_program *program = tfp_op_texts_find_program(&ops->texts, id);
	struct tfp_buf name;
	if (!program) {
		tfp_table_add_text(t, "", 0);
		return;
	}
	tfp_buf_init(&name, (size_t)1 << 20);
	tfp_buf_add(&name, program->name.data, program->name.size);
	tfp_buf_printf(&name, "(%" PRIu64 ")", id);
	if (tfp_buf_failed(&name))
		t->failed = true;
	else
		tfp_table_add_text(t, name.data, name.size);
	tfp_buf_release(&name);
}

static void add_row(struct tfp_table *t, const struct tfp_program_ops *ops, size_t i,
		    double *cumulative)
{
	static const char *const cores[] = {"", "TensorCore", "SparseCore"};
	const struct tfp_op *op = ops->list[i];
	const struct tfp_op_text *text = tfp_program_ops_text(ops, op);
	const struct tfp_device_metrics *device = op->device;
	struct tfp_str expression = text->expression.size ? text->expression : op->name;
	double n = (double)op->occurrences, time_us = (double)op->time_ps / 1e6;
	double self_us = (double)op->self_time_ps / 1e6;
	double share = tfp_divide(self_us, (double)ops->total_time_ps / 1e6);
	char id[24];
	*cumulative += share;
	snprintf(id, sizeof(id), "%" PRIu64, op->module_id);
	tfp_table_add_number(t, (double)i + 1);
	add_string(t, id);
	add_text(t, op->category);
	add_text(t, name_of(expression));
	add_text(t, expression);
	add_text(t, op->provenance);
	tfp_table_add_number(t, n);
	tfp_table_add_number(t, time_us);
	tfp_table_add_number(t, tfp_divide(time_us, n));
	tfp_table_add_number(t, self_us);
	tfp_table_add_number(t, tfp_divide(self_us, n));
	tfp_table_add_number(t, share * 100);
	tfp_table_add_number(t, *cumulative * 100);
	/* A share, whatever the label says; as XProf's. */
	tfp_table_add_number(
		t, device ? tfp_divide((double)device->dma_stall_ps, (double)op->time_ps) : 0);
	add_rates(t, op, &ops->stats.env);
	add_string(t, is_rematerialized(op, text) ? "Yes" : "No");
	add_string(t, is_outside_compilation(op, text) ? "Yes" : "No");
	add_string(t, "No");
	tfp_program_ops_add_source(t, text);
	add_string(t, cores[device ? device->core : 0]);
	add_string(t, "");
	tfp_table_add_number(t, 0);
	add_program(t, ops, op->module_id);
	add_string(t, tfp_cost_by_name(op));
	tfp_program_ops_add_place(t, text->source_file, text->source_line);
	add_text(t, text->source_stack);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_program_ops ops;
	uint64_t limit;
	double cumulative = 0;
	char number[32];
	enum tfp_status status = tfp_query_get_count(query, "limit", 0, &limit, err);
	if (status != TFP_OK)
		return status;
	status = tfp_program_ops(session, query, &ops, err);
	if (status == TFP_OK) {
		struct tfp_table *t = &answer->tables[answer->table_count++];
		answer->bare = true;
		tfp_table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < ops.count && (limit == 0 || i < limit); i++)
			add_row(t, &ops, i, &cumulative);
		tfp_program_ops_properties(&ops, t);
		snprintf(number, sizeof(number), "%zu", ops.count);
		tfp_table_set_property(t, "rows_total", number);
		if (tfp_table_failed(t))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the table of HLO ops");
	}
	tfp_program_ops_release(&ops);
	return status;
}

const struct tfp_tool tfp_hlo_stats = {
	.name = "hlo_stats",
	.title = "HLO stats",
	.summary = "The instructions of compiled programs that took the devices' time.",
	.place = 36,
	.key = 'h',
	.filter = "Filter instructions",
	.scope = TFP_HOSTS_BOTH,
	.takes_hosts = true,
	.needs = TFP_NEEDS_DEVICE,
	.without = "No device was captured, so no compiled instruction ran on one.",
	.parameters =
		{
			TFP_TAKES(COUNT, "limit", "0", "How many rows the table keeps; 0 for all."),
			TFP_PROGRAM_OPS_PARAMETERS,
		},
	.render = render,
};
