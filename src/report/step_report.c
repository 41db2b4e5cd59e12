/* SPDX-License-Identifier: Apache-2.0 */
#include "report/step_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Categories of steps and their columns in tfp_step_table; devices of one kind have those of the
 * first part, TPUs those of the second. */
static const struct {
	const char *id, *name;
} parts[] = {
	{"deviceComputeTimeMs", "Device compute"},
	{"deviceToDeviceTimeMs", "Device to device"},
	{"deviceCollectivesTimeMs", "Device collective communication"},
	{"hostComputeTimeMs", "Host compute"},
	{"kernelLaunchTimeMs", "Kernel launch"},
	{"infeedTimeMs", "Input"},
	{"outfeedTimeMs", "Output"},
	{"compileTimeMs", "Compilation"},
	{"otherTimeMs", "All others"},
	{"tcComputeTimeMs", "TensorCore compute"},
	{"scv0ComputeTimeMs", "SparseCore compute"},
	{"scv0InfeedTimeMs", "SparseCore input"},
	{"tcInfeedTimeMs", "TensorCore input"},
	{"tcOutfeedTimeMs", "TensorCore output"},
	{"tcIdleTimeMs", "TensorCore idle"},
	{"hostTransferTimeMs", "Host transfer"},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static double cell(const struct tfp_table *t, size_t row, size_t column)
{
	double value = 0;
	return column != TFP_NO_COLUMN && tfp_table_number(t, row, column, &value) ? value : 0;
}

static double mean(const struct tfp_table *t, size_t column)
{
	size_t rows = tfp_table_row_count(t);
	double sum = 0;
	for (size_t i = 0; i < rows; i++)
		sum += cell(t, i, column);
	return rows ? sum / (double)rows : 0;
}

void tfp_report_messages(struct tfp_report *r, const struct tfp_table *diagnostics,
			 bool steps_missing)
{
	for (size_t i = 0; i < tfp_table_row_count(diagnostics); i++) {
		struct tfp_text severity, message;
		if (!tfp_table_text(diagnostics, i, 0, &severity) ||
		    !tfp_table_text(diagnostics, i, 1, &message))
			continue;
		if (steps_missing && message.size > 18 &&
		    memcmp(message.data, "No step was marked", 18) == 0)
			continue;
		tfp_report_say(r, "%s: %.*s", severity.size == 5 ? "Error" : "Warning",
			       (int)message.size, message.data);
	}
}

void tfp_report_step_source(struct tfp_report *r, const struct tfp_table *steps)
{
	const char *module = tfp_table_property(steps, "step_module");
	if (module[0])
		tfp_report_say(r, "These are not marked steps: each execution of %s counts as one.",
			       module);
}

void tfp_report_no_steps(struct tfp_report *r, const struct tfp_table *steps, const char *rest)
{
	const char *modules = tfp_table_property(steps, "module_steps");
	tfp_report_say(
		r,
		"No step was marked in this capture. Without marks the profiler cannot tell where "
		"a training step begins and ends, so there is no step time to break down. %s",
		rest);
	tfp_report_say(
		r, "Keras marks its steps by itself. In a custom training loop, wrap the step in "
		   "tf.profiler.experimental.Trace('train', step_num=step, _r=1) or "
		   "jax.profiler.StepTraceAnnotation('train', step_num=step).");
	if (modules[0])
		tfp_report_say(r,
			       "Executions of the XLA module can be used as steps (%s of them): "
			       "--step-source module",
			       modules);
}

void tfp_report_average_step(struct tfp_report *r, const struct tfp_table *steps)
{
	size_t column = tfp_table_column(steps, "stepTimeMs");
	size_t rows = tfp_table_row_count(steps);
	bool tpu = column == TFP_NO_COLUMN;
	double average = atof(tfp_table_property(steps, "steptime_ms_average"));
	double deviation = atof(tfp_table_property(steps, "steptime_ms_standard_deviation"));
	double least = atof(tfp_table_property(steps, "steptime_ms_minimum"));
	double most = atof(tfp_table_property(steps, "steptime_ms_maximum"));
	double own = tpu ? average : mean(steps, column);
	/* Properties have one decimal of a millisecond. Of several hosts they are of the slowest
	 * in each step, rows of the one that is shown. */
	bool slowest = average > own * 1.01 + 0.05;
	if (!tpu && !slowest) {
		double squares = 0;
		least = most = cell(steps, 0, column);
		for (size_t i = 0; i < rows; i++) {
			double ms = cell(steps, i, column);
			squares += (ms - own) * (ms - own);
			least = fmin(least, ms);
			most = fmax(most, ms);
		}
		average = own;
		deviation = rows < 2 ? 0 : sqrt(squares / (double)(rows - 1));
	}
	char text[4][40];
	tfp_report_quantity(TFP_Q_MS, average, text[0], sizeof(text[0]));
	tfp_report_quantity(TFP_Q_MS, deviation, text[1], sizeof(text[1]));
	tfp_report_quantity(TFP_Q_MS, least, text[2], sizeof(text[2]));
	tfp_report_quantity(TFP_Q_MS, most, text[3], sizeof(text[3]));
	const char *whose = !slowest ? "" : tpu ? "; of the slowest core" : "; of the slowest host";
	if (rows == 1)
		tfp_report_fact(r, "Average step", "%s, one step%s", text[0], whose);
	else
		tfp_report_fact(r, "Average step", "%s, %zu steps of %s to %s (\xcf\x83 %s)%s",
				text[0], rows, text[2], text[3], text[1], whose);
}

void tfp_report_step_parts(const struct tfp_report_source *source, struct tfp_report *r,
			   const struct tfp_table *steps)
{
	static const struct tfp_column columns[] = {
		{"part", "Part", TFP_CELL_TEXT},
		{"ms", "Time (ms)", TFP_CELL_NUMBER},
		{"share", "Share", TFP_CELL_NUMBER},
	};
	static const struct tfp_report_column shown[] = {
		{"part", "average step, by category", TFP_Q_TEXT, 3, false, false},
		{"ms", "time", TFP_Q_MS, 3, false, false},
		{"share", "share", TFP_Q_SHARE, 2, false, false},
	};
	struct tfp_table *t = &source->more->tables[source->more->table_count++];
	double sum = 0;
	tfp_table_init(t, columns, 3);
	for (size_t i = 0; i < PARTS; i++)
		sum += mean(steps, tfp_table_column(steps, parts[i].id));
	for (size_t i = 0; i < PARTS; i++) {
		double ms = mean(steps, tfp_table_column(steps, parts[i].id));
		if (ms <= 0)
			continue;
		tfp_table_add_text(t, parts[i].name, strlen(parts[i].name));
		tfp_table_add_number(t, ms);
		tfp_table_add_number(t, ms / sum);
	}
	tfp_report_table(r, t, shown, 3, NULL);
}
