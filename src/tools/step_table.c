/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/step_table.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MS(ps)       ((double)(ps) / 1e9)
#define VERDICT_MAX  ((size_t)1 << 14)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

double tfp_safe_divide(double a, double b)
{
	return b > -1e-10 && b < 1e-10 ? 0 : a / b;
}

void tfp_set_property(struct tfp_table *t, const char *key, const char *format, ...)
{
	char text[500];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tfp_table_set_property(t, key, text);
}

bool tfp_is_tpu_run(const struct tfp_run_summary *run)
{
	return run->stats.env.hardware == TFP_HW_TPU;
}

static void set_step_times(struct tfp_table *t, const struct tfp_run_summary *run, double *values)
{
	for (size_t s = 0; s < run->steps.count; s++)
		values[s] = MS(tfp_step_time_ps(&run->steps, s));
	struct tfp_stat_summary all = tfp_summarize(values, run->steps.count);
	tfp_set_property(t, "steptime_ms_average", "%.1f", all.average);
	tfp_set_property(t, "steptime_ms_standard_deviation", "%.1f", all.deviation);
	tfp_set_property(t, "steptime_ms_minimum", "%.1f", all.minimum);
	tfp_set_property(t, "steptime_ms_maximum", "%.1f", all.maximum);
}

void tfp_set_verdict(struct tfp_table *t, const char *key, const struct tfp_run_summary *run,
		     enum tfp_judgement which)
{
	struct tfp_buf text;
	tfp_buf_init(&text, VERDICT_MAX);
	tfp_step_hosts_verdict(&run->step_hosts, which, &run->bottleneck, &text);
	tfp_table_set_property(t, key, tfp_buf_text(&text));
	t->failed |= tfp_buf_failed(&text);
	tfp_buf_release(&text);
}

void tfp_set_step_hosts(struct tfp_table *t, const struct tfp_run_summary *run)
{
	const struct tfp_step_hosts *hosts = &run->step_hosts;
	struct tfp_buf text;
	if (hosts->count < 2)
		return;
	tfp_set_property(t, "step_hosts", "%zu", hosts->count);
	if (hosts->shown != TFP_EVERY_HOST)
		tfp_table_set_property(t, "steps_of_host", tfp_step_host_name(hosts, hosts->shown));
	tfp_table_set_property(t, "slowest_host", tfp_step_host_name(hosts, hosts->slowest->host));
	tfp_buf_init(&text, VERDICT_MAX);
	tfp_step_hosts_sentence(hosts, TFP_ON_INPUT, &run->bottleneck, &text);
	tfp_table_set_property(t, "hosts_statement", tfp_buf_text(&text));
	t->failed |= tfp_buf_failed(&text);
	tfp_buf_release(&text);
}

/* Steps that stand in for marked ones, or could. */
static void set_source(struct tfp_table *t, const struct tfp_steps *steps)
{
	struct tfp_buf name;
	if (steps->module_steps)
		tfp_set_property(t, "module_steps", "%" PRIu32, steps->module_steps);
	if (steps->module.size == 0)
		return;
	tfp_buf_init(&name, (size_t)1 << 16);
	tfp_utf8_repair(&name, steps->module.data,
			steps->module.size < 10000 ? steps->module.size : 10000);
	tfp_table_set_property(t, "step_source", "module");
	tfp_table_set_property(t, "step_module", tfp_buf_text(&name));
	t->failed |= tfp_buf_failed(&name);
	tfp_buf_release(&name);
}

static void set_verdicts(struct tfp_table *t, const struct tfp_run_summary *run)
{
	tfp_set_verdict(t, "input_conclusion", run, TFP_ON_INPUT);
	tfp_table_set_property(t, "summary_nextstep", run->bottleneck.next_step);
	tfp_set_step_hosts(t, run);
	tfp_set_property(t, "steps_total", "%zu", run->steps.count);
	if (run->steps.count == 0)
		tfp_table_set_property(t, "no_steps", "true");
	set_source(t, &run->steps);
}

/* ---- GPU and CPU ---- */

static const struct tfp_column generic_columns[] = {
	{"stepnum", "Step number", TFP_CELL_TEXT},
	{"deviceComputeTimeMs", "Device compute", TFP_CELL_NUMBER},
	{"deviceToDeviceTimeMs", "Device to device", TFP_CELL_NUMBER},
	{"deviceCollectivesTimeMs", "Device collective communication", TFP_CELL_NUMBER},
	{"hostComputeTimeMs", "Host compute", TFP_CELL_NUMBER},
	{"kernelLaunchTimeMs", "Kernel launch", TFP_CELL_NUMBER},
	{"infeedTimeMs", "Input", TFP_CELL_NUMBER},
	{"outfeedTimeMs", "Output", TFP_CELL_NUMBER},
	{"compileTimeMs", "Compilation", TFP_CELL_NUMBER},
	{"otherTimeMs", "All others", TFP_CELL_NUMBER},
	{"tooltip", "tooltip", TFP_CELL_TEXT},
	{"stepTimeMs", "Step time", TFP_CELL_NUMBER},
};

static const char *const generic_roles[COUNT(generic_columns)] = {[10] = "tooltip"};

static const char *const property_names[TFP_STEP_CATEGORY_COUNT] = {
	[TFP_STEP_DEVICE_COMPUTE] = "device_compute",
	[TFP_STEP_BETWEEN_DEVICES] = "device_to_device",
	[TFP_STEP_COLLECTIVES] = "device_collectives",
	[TFP_STEP_ON_HOST] = "host_compute",
	[TFP_STEP_KERNEL_LAUNCH] = "kernel_launch",
	[TFP_STEP_INPUT] = "infeed",
	[TFP_STEP_OUTPUT] = "outfeed",
	[TFP_STEP_COMPILATION] = "compile",
	[TFP_STEP_ALL_OTHERS] = "other",
};

static void step_label(const struct tfp_step *step, char *out, size_t size)
{
	if (step->name.size)
		snprintf(out, size, "%.*s", (int)(step->name.size < 200 ? step->name.size : 200),
			 step->name.data);
	else
		snprintf(out, size, "%" PRIu32, step->number);
}

static void add_tooltip(struct tfp_table *t, const char *label, const double *ms, double step_ms)
{
	char text[800];
	int n = snprintf(text, sizeof(text), "Step %s, duration: %.2f ms", label, step_ms);
	for (int c = TFP_STEP_CATEGORY_COUNT - 1; c >= 0; c--) {
		const char *name = c == TFP_STEP_COLLECTIVES
					   ? "Device collectives"
					   : tfp_step_category_name((enum tfp_step_category)c);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "\n-%s: %.2f ms", name, ms[c]);
	}
	tfp_table_add_text(t, text, strlen(text));
}

static void add_generic_row(struct tfp_table *t, const struct tfp_step *step,
			    const struct tfp_core_step *core, double ms[TFP_STEP_CATEGORY_COUNT])
{
	uint64_t category_ps[TFP_STEP_CATEGORY_COUNT];
	char label[256];
	tfp_step_categories(core, category_ps);
	step_label(step, label, sizeof(label));
	tfp_table_add_text(t, label, strlen(label));
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++) {
		ms[c] = MS(category_ps[c]);
		tfp_table_add_number(t, ms[c]);
	}
	add_tooltip(t, label, ms, MS(core->duration_ps));
	tfp_table_add_number(t, MS(core->duration_ps));
}

static void set_category(struct tfp_table *t, const char *name, const double *values, size_t count)
{
	struct tfp_stat_summary s = tfp_summarize(values, count);
	char key[64];
	snprintf(key, sizeof(key), "%s_time_ms_avg", name);
	tfp_set_property(t, key, "%.1f", s.average);
	snprintf(key, sizeof(key), "%s_time_ms_sdv", name);
	tfp_set_property(t, key, "%.1f", s.deviation);
}

static void generic_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	const struct tfp_steps *steps = &run->steps;
	const struct tfp_bottleneck *b = &run->bottleneck;
	size_t n = 0;
	tfp_table_init(t, generic_columns, COUNT(generic_columns));
	t->roles = generic_roles;
	double *values = tfp_calloc(steps->count + 1, sizeof(*values) * TFP_STEP_CATEGORY_COUNT);
	if (!values) {
		t->failed = true;
		return;
	}
	set_step_times(t, run, values);
	for (size_t s = 0; s < steps->count; s++) {
		const struct tfp_core_step *core = tfp_host_core(steps, s, run->step_hosts.shown);
		double ms[TFP_STEP_CATEGORY_COUNT];
		if (!core)
			continue;
		add_generic_row(t, &steps->steps[s], core, ms);
		for (size_t c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
			values[c * steps->count + n] = ms[c];
		n++;
	}
	for (size_t c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		set_category(t, property_names[c], &values[c * steps->count], n);
	tfp_free(values);
	tfp_table_set_property(t, "hardware_type",
			       run->stats.env.hardware == TFP_HW_GPU ? "GPU" : "CPU_ONLY");
	/* The blank is the peers'. */
	tfp_table_set_property(t, "step_time_graph_column_ids",
			       "stepnum,deviceComputeTimeMs,deviceToDeviceTimeMs,"
			       "deviceCollectivesTimeMs,hostComputeTimeMs,kernelLaunchTimeMs,"
			       "infeedTimeMs,outfeedTimeMs,compileTimeMs,otherTimeMs, tooltip");
	/* XProf's three `_bottleneck` keys hold the statements here, not the classes. */
	tfp_table_set_property(t, "device_collectives_bottleneck", b->collectives.statement);
	tfp_set_verdict(t, "device_collectives_statement", run, TFP_ON_COLLECTIVES);
	tfp_table_set_property(t, "kernel_launch_bottleneck", b->kernel_launch.statement);
	tfp_set_verdict(t, "kernel_launch_statement", run, TFP_ON_KERNEL_LAUNCH);
	tfp_table_set_property(t, "all_other_bottleneck", b->all_others.statement);
	tfp_set_verdict(t, "all_other_statement", run, TFP_ON_ALL_OTHERS);
	set_verdicts(t, run);
}

/* ---- TPU ---- */

static const struct tfp_column tpu_columns[] = {
	{"stepnum", "stepnum", TFP_CELL_TEXT},
	{"tcComputeTimeMs", "TensorCore compute (in ms)", TFP_CELL_NUMBER},
	{"scv0ComputeTimeMs", "SparseCoreV0 compute (in ms)", TFP_CELL_NUMBER},
	{"scv0InfeedTimeMs", "SparseCoreV0 input (in ms)", TFP_CELL_NUMBER},
	{"tcInfeedTimeMs", "TensorCore input (in ms)", TFP_CELL_NUMBER},
	{"tcOutfeedTimeMs", "TensorCore output (in ms)", TFP_CELL_NUMBER},
	{"tcIdleTimeMs", "TensorCore idle (in ms)", TFP_CELL_NUMBER},
	{"hostTransferTimeMs", "Host transfer (in ms)", TFP_CELL_NUMBER},
	{"tooltip", "tooltip", TFP_CELL_TEXT},
	{"infeedPercentAverage", "% step time waiting for input data", TFP_CELL_NUMBER},
	{"infeedPercentMin", "Infeed percent min", TFP_CELL_NUMBER},
	{"infeedPercentMax", "Infeed percent max", TFP_CELL_NUMBER},
};

static const char *const tpu_roles[COUNT(tpu_columns)] = {
	[8] = "tooltip", [10] = "interval", [11] = "interval"};

struct tpu_sums {
	double compute, infeed, outfeed, idle, host_transfer;
};

static void add_tpu_row(struct tfp_table *t, const struct tfp_step *step,
			const struct tfp_tpu_step_view *v)
{
	char text[200];
	snprintf(text, sizeof(text), "%" PRIu32, step->number);
	tfp_table_add_text(t, text, strlen(text));
	tfp_table_add_number(t, v->compute_ms);
	tfp_table_add_number(t, 0);
	tfp_table_add_number(t, 0);
	tfp_table_add_number(t, v->infeed_ms);
	tfp_table_add_number(t, v->outfeed_ms);
	tfp_table_add_number(t, v->idle_ms);
	tfp_table_add_number(t, v->host_transfer_ms);
	snprintf(text, sizeof(text),
		 "step %" PRIu32 ":\nTime waiting for input data = %.3f ms, Step time = %.3f ms",
		 step->number, v->infeed_ms, v->step_ms - v->all_reduce_ms);
	tfp_table_add_text(t, text, strlen(text));
	tfp_table_add_number(t, v->infeed_percent_average);
	tfp_table_add_number(t, v->infeed_percent_minimum);
	tfp_table_add_number(t, v->infeed_percent_maximum);
}

static void tpu_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	size_t n = run->steps.count;
	struct tpu_sums sums = {0};
	tfp_table_init(t, tpu_columns, COUNT(tpu_columns));
	t->roles = tpu_roles;
	double *values = tfp_calloc(n + 1, sizeof(*values));
	if (!values) {
		t->failed = true;
		return;
	}
	set_step_times(t, run, values);
	double least = 0, most = 0;
	for (size_t s = 0; s < n; s++) {
		struct tfp_tpu_step_view v;
		tfp_tpu_step_view(&run->steps, s, TFP_EVERY_HOST, &v);
		add_tpu_row(t, &run->steps.steps[s], &v);
		values[s] = v.infeed_percent_average;
		least = s == 0 || v.infeed_percent_minimum < least ? v.infeed_percent_minimum
								   : least;
		most = v.infeed_percent_maximum > most ? v.infeed_percent_maximum : most;
		sums.compute += v.compute_ms / (double)n;
		sums.infeed += v.infeed_ms / (double)n;
		sums.outfeed += v.outfeed_ms / (double)n;
		sums.idle += v.idle_ms / (double)n;
		sums.host_transfer += v.host_transfer_ms / (double)n;
	}
	struct tfp_stat_summary infeed = tfp_summarize(values, n);
	tfp_free(values);
	tfp_set_property(t, "infeed_percent_average", "%.1f", infeed.average);
	tfp_set_property(t, "infeed_percent_standard_deviation", "%.1f", infeed.deviation);
	tfp_set_property(t, "infeed_percent_minimum", "%.1f", least);
	tfp_set_property(t, "infeed_percent_maximum", "%.1f", most);
	tfp_set_property(t, "tc_compute_ms_average", "%.2f", sums.compute);
	tfp_set_property(t, "tc_infeed_ms_average", "%.2f", sums.infeed);
	tfp_set_property(t, "tc_outfeed_ms_average", "%.2f", sums.outfeed);
	tfp_set_property(t, "tc_idle_ms_average", "%.2f", sums.idle);
	tfp_set_property(t, "host_transfer_ms_average", "%.2f", sums.host_transfer);
	tfp_table_set_property(t, "scv0_compute_ms_average", "0.00");
	tfp_table_set_property(t, "scv0_infeed_ms_average", "0.00");
	tfp_table_set_property(t, "hardware_type", "TPU");
	tfp_table_set_property(t, "step_time_graph_column_ids",
			       "stepnum,tcComputeTimeMs,scv0ComputeTimeMs,scv0InfeedTimeMs,"
			       "tcInfeedTimeMs,tcOutfeedTimeMs,tcIdleTimeMs,hostTransferTimeMs,"
			       "tooltip");
	tfp_table_set_property(t, "output_conclusion", run->bottleneck.output_statement);
	set_verdicts(t, run);
}

void tfp_step_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	if (tfp_is_tpu_run(run))
		tpu_table(t, run);
	else
		generic_table(t, run);
}

/* ---- diagnostics ---- */

static const struct tfp_column diagnostic_columns[] = {
	{"severity", "Severity", TFP_CELL_TEXT},
	{"message", "Message", TFP_CELL_TEXT},
};

static void add_diagnostic(struct tfp_table *t, const char *severity, const char *message)
{
	tfp_table_add_text(t, severity, strlen(severity));
	tfp_table_add_text(t, message, strlen(message));
}

void tfp_diagnostics_table(struct tfp_table *t, const struct tfp_run_summary *run, bool all)
{
	const char *about_steps = tfp_step_diagnostic(&run->steps);
	const struct tfp_run_env *env = &run->stats.env;
	tfp_table_init(t, diagnostic_columns, COUNT(diagnostic_columns));
	for (size_t i = 0; all && i < run->warning_count; i++)
		add_diagnostic(t, "WARNING", run->warnings[i]);
	if (about_steps)
		add_diagnostic(t, "WARNING", about_steps);
	for (size_t i = 0; all && i < run->error_count; i++)
		add_diagnostic(t, "ERROR", run->errors[i]);
	if (all && run->error_count == 0 && strcmp(env->device_type, "CPU") != 0 &&
	    env->device_count == 0)
		add_diagnostic(t, "ERROR", "The trace of the device is missing from this capture.");
}
