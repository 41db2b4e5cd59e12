/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overview: where the step time goes, what the devices spend it on, and what
 * to do next (docs/tools/overview_page.md).
 */
#include "analysis/ops/op_db.h"
#include "base/alloc.h"
#include "base/utf8.h"
#include "tools/device_activity.h"
#include "tools/step_table.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TOP_OPS      10

/* Thresholds in percent of the peers' statements. */
#define EXPENSIVE_CALLS     20.0
#define MUCH_EAGER          10.0
#define OUTSIDE_COMPILATION 5.0
#define LITTLE_16_BIT       10.0

/* ---- summary and top ops ---- */

static const struct tfp_column gpu_columns[] = {
	{"selfTimePercent", "Time (%)", TFP_CELL_NUMBER},
	{"cumulativeTimePercent", "Cumulative time (%)", TFP_CELL_NUMBER},
	{"category", "Category", TFP_CELL_TEXT},
	{"operation", "Operation", TFP_CELL_TEXT},
	{"flopRate", "GFLOPs/Sec", TFP_CELL_NUMBER},
	{"tcEligibility", "TensorCore eligibility", TFP_CELL_BOOLEAN},
	{"tcUtilization", "Op is using TensorCore", TFP_CELL_BOOLEAN},
};

static const struct tfp_column other_columns[] = {
	{"selfTimePercent", "Time (%)", TFP_CELL_NUMBER},
	{"cumulativeTimePercent", "Cumulative time (%)", TFP_CELL_NUMBER},
	{"category", "Category", TFP_CELL_TEXT},
	{"operation", "Operation", TFP_CELL_TEXT},
	{"flopRate", "Bf16 Normalized Flop Rate(GFLOPs/Sec)", TFP_CELL_NUMBER},
};

struct shares {
	double host_op_percent, device_op_percent;
	double host_eager_percent, device_eager_percent, outside_compilation_percent;
	double compute_16_percent, compute_32_percent;
};

static bool is_gpu(const struct tfp_run_summary *run)
{
	return strstr(run->stats.env.device_type, "GPU") != NULL;
}

static uint64_t occurrences(const struct tfp_op_db *db)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < db->count; i++)
		sum += db->ops[i].occurrences;
	return sum;
}

static double eager_percent(const struct tfp_op_db *db)
{
	double all = 0, eager = 0;
	for (size_t i = 0; i < db->count; i++) {
		const struct tfp_op *op = &db->ops[i];
		if (tfp_op_is_idle(op))
			continue;
		all += (double)op->self_time_ps;
		if (op->is_eager)
			eager += (double)op->self_time_ps;
	}
	return 100 * tfp_safe_divide(eager, all);
}

static bool ends_with(struct tfp_str s, const char *text)
{
	size_t n = strlen(text);
	return s.size >= n && memcmp(s.data + s.size - n, text, n) == 0;
}

/* Ops that leave a compiled TPU program for the host. */
static double outside_compilation_percent(const struct tfp_op_db *device)
{
	double all = 0, outside = 0;
	for (size_t i = 0; i < device->count; i++) {
		const struct tfp_op *op = &device->ops[i];
		if (tfp_op_is_idle(op))
			continue;
		all += (double)op->self_time_ps;
		if (ends_with(op->provenance, ":XlaSendToHost") ||
		    ends_with(op->provenance, ":XlaRecvFromHost"))
			outside += (double)op->self_time_ps;
	}
	return 100 * tfp_safe_divide(outside, all);
}

static struct shares shares_of(const struct tfp_run_summary *run,
			       const struct tfp_op_db *framework_ops)
{
	double host = (double)occurrences(&run->stats.host_ops);
	double device = (double)occurrences(framework_ops);
	double narrow = (double)run->steps.compute_16_ps, wide = (double)run->steps.compute_32_ps;
	return (struct shares){
		.host_op_percent = 100 * tfp_safe_divide(host, host + device),
		.device_op_percent = 100 * tfp_safe_divide(device, host + device),
		.host_eager_percent = eager_percent(&run->stats.host_ops),
		.device_eager_percent = eager_percent(framework_ops),
		.outside_compilation_percent = outside_compilation_percent(&run->stats.device.ops),
		.compute_16_percent = 100 * tfp_safe_divide(narrow, narrow + wide),
		.compute_32_percent = 100 * tfp_safe_divide(wide, narrow + wide),
	};
}

/* Looks an op up in the list of kernels: whether its longest kernel's op is eligible, and
 * whether any kernel ran on tensor cores. */
static void tensor_cores_of(const struct tfp_kernels *kernels, struct tfp_str op, bool *eligible,
			    bool *used)
{
	bool first = true;
	*eligible = *used = false;
	for (size_t i = 0; i < kernels->count; i++) {
		const struct tfp_kernel *k = &kernels->kernels[i];
		if (k->op_name.size != op.size ||
		    (op.size && memcmp(k->op_name.data, op.data, op.size) != 0))
			continue;
		if (first)
			*eligible = k->op_is_tensor_core_eligible;
		*used |= k->uses_tensor_core;
		first = false;
	}
}

static bool add_top_ops(struct tfp_table *t, const struct tfp_run_summary *run,
			const struct tfp_op_db *framework_ops)
{
	uint32_t *order = tfp_op_db_sorted(framework_ops);
	double total = (double)run->stats.device.ops.total_op_time_ps, cumulative = 0;
	size_t rows = 0;
	if (!order)
		return false;
	for (size_t i = 0; i < framework_ops->count && rows < TOP_OPS; i++) {
		const struct tfp_op *op = &framework_ops->ops[order[i]];
		if (tfp_op_is_idle(op))
			continue;
		double share = tfp_safe_divide((double)op->self_time_ps, total);
		cumulative += share;
		tfp_table_add_number(t, share);
		tfp_table_add_number(t, cumulative);
		tfp_table_add_text(t, op->category.data, op->category.size);
		tfp_table_add_text(t, op->name.data, op->name.size);
		if (op->has_cost)
			tfp_table_add_number(t,
					     tfp_safe_divide(op->flops, (double)op->time_ps / 1e3));
		else
			tfp_table_add_absent(t);
		if (is_gpu(run)) {
			bool eligible, used;
			tensor_cores_of(&run->stats.kernels, op->name, &eligible, &used);
			tfp_table_add_boolean(t, eligible);
			tfp_table_add_boolean(t, used);
		}
		rows++;
	}
	tfp_free(order);
	return true;
}

static double idle_percent(const struct tfp_op_db *db)
{
	return 100 * (1 - tfp_safe_divide((double)db->total_op_time_ps, (double)db->total_time_ps));
}

static void set_tpu_properties(struct tfp_table *t, const struct tfp_run_summary *run)
{
	const struct tfp_utilization *u = &run->utilization;
	bool tpu = strstr(run->stats.env.device_type, "TPU") != NULL;
	double busy = (double)u->busy_ps, idle = (double)u->idle_ps;
	tfp_set_property(t, "device_duty_cycle_percent", "%.1f%%",
			 tpu ? 100 * tfp_safe_divide(busy, busy + idle) : 0);
	tfp_set_property(t, "device_idle_time_percent", "%.1f%%",
			 tpu ? idle_percent(&run->stats.device.ops) : 0);
	tfp_set_property(t, "host_idle_time_percent", "%.1f%%",
			 tpu ? idle_percent(&run->stats.host_ops) : 0);
	/* These need limits given by the user, and no client of XProf can give any. */
	tfp_table_set_property(t, "flop_rate_utilization_relative_to_roofline", "0.0%");
	tfp_table_set_property(t, "memory_bw_utilization_relative_to_hw_limit", "0.0%");
}

static bool analysis_table(struct tfp_table *t, const struct tfp_run_summary *run,
			   const struct tfp_op_db *framework_ops, const struct shares *shares)
{
	bool gpu = is_gpu(run);
	tfp_table_init(t, gpu ? gpu_columns : other_columns,
		       gpu ? COUNT(gpu_columns) : COUNT(other_columns));
	tfp_table_set_property(t, "host_trace_level", "0");
	tfp_set_property(t, "host_tf_op_percent", "%.1f%%", shares->host_op_percent);
	tfp_set_property(t, "device_tf_op_percent", "%.1f%%", shares->device_op_percent);
	tfp_set_property(t, "host_op_time_eager_percent", "%.1f%%", shares->host_eager_percent);
	tfp_set_property(t, "device_op_time_eager_percent", "%.1f%%", shares->device_eager_percent);
	tfp_set_property(t, "device_op_time_outside_compilation_percent", "%.1f%%",
			 shares->outside_compilation_percent);
	tfp_set_property(t, "mxu_utilization_percent", "%.1f%%",
			 run->utilization.matrix_unit_percent);
	tfp_set_property(t, "hbm_utilization_percent", "%.1f%%", run->utilization.hbm_percent);
	tfp_table_set_property(t, "remark_text", "");
	tfp_table_set_property(t, "remark_color", "");
	if (gpu) {
		tfp_set_property(t, "device_compute_16bit_percent", "%.1f%%",
				 shares->compute_16_percent);
		tfp_set_property(t, "device_compute_32bit_percent", "%.1f%%",
				 shares->compute_32_percent);
	} else {
		set_tpu_properties(t, run);
	}
	return add_top_ops(t, run, framework_ops);
}

/* ---- run environment ---- */

static const struct tfp_column environment_columns[] = {
	{"host_id", "host_id", TFP_CELL_TEXT},
	{"command_line", "command_line", TFP_CELL_TEXT},
	{"start_time", "start_time", TFP_CELL_TEXT},
	{"bns_address", "bns_address", TFP_CELL_TEXT},
};

static void environment_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	uint32_t hosts = run->host_count, tasks = run->captures;
	tfp_table_init(t, environment_columns, COUNT(environment_columns));
	tfp_set_property(t, "host_count", "%" PRIu32, hosts);
	if (hosts && tasks)
		tfp_set_property(t, "task_count", "%" PRIu32 " (num tasks per host = %" PRIu32 ")",
				 tasks, tasks / hosts);
	else
		tfp_set_property(t, "task_count", "%" PRIu32, tasks);
	tfp_table_set_property(t, "device_type", run->stats.env.device_type);
	tfp_set_property(t, "device_core_count", "%" PRIu32, run->stats.env.device_count);
	tfp_table_set_property(t, "is_training", run->stats.is_training ? "true" : "false");
}

/* ---- recommendation ---- */

static const struct tfp_column tip_columns[] = {
	{"tip_type", "tip_type", TFP_CELL_TEXT},
	{"link", "link", TFP_CELL_TEXT},
	{"description", "description", TFP_CELL_TEXT},
};

static void add_tip(struct tfp_table *t, const char *type, const char *description,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_tip(struct tfp_table *t, const char *type, const char *description,
		    const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tfp_table_add_text(t, type, strlen(type));
	tfp_table_add_text(t, text, strlen(text));
	tfp_table_add_text(t, description, strlen(description));
}

static void add_tips(struct tfp_table *t, const struct tfp_run_summary *run)
{
	static const char on_host[] = "Next steps for reducing the Host time";
	static const char on_device[] = "Next steps for reducing the Device time";
	static const char docs[] = "Other useful resources";
	bool tpu = tfp_is_tpu_run(run), gpu = run->stats.env.hardware == TFP_HW_GPU;
	const char *device = tpu ? "TPU" : gpu ? "GPU" : "CPU";
	add_tip(t, "faq", "Tool troubleshooting / FAQ",
		"The profiler guide answers the questions asked most often");
	add_tip(t, "host", on_host,
		"input_pipeline_analyzer (section 3 divides the host's input time by operation)");
	add_tip(t, "host", on_host,
		"trace_viewer (what each host thread does, at the end of the timeline)");
	add_tip(t, "device", on_device, "%s (the operations that take most time on the %s)",
		tpu ? "op_profile" : "framework_op_stats", device);
	add_tip(t, "device", on_device, "trace_viewer (the timeline of each %s%s)", device,
		tpu ? " core" : "");
	add_tip(t, "doc", docs,
		"<a href=\"https://www.tensorflow.org/guide/data_performance_analysis\" "
		"target=\"_blank\">Analysing the performance of tf.data</a>");
	add_tip(t, "doc", docs,
		"<a href=\"https://www.tensorflow.org/guide/data_performance\" "
		"target=\"_blank\">Making input pipelines fast with tf.data</a>");
}

static int by_expensive_percent(const void *a, const void *b)
{
	const struct tfp_function *x = *(const struct tfp_function *const *)a;
	const struct tfp_function *y = *(const struct tfp_function *const *)b;
	double p = tfp_function_expensive_percent(x), q = tfp_function_expensive_percent(y);
	if (p != q)
		return p > q ? -1 : 1;
	size_t n = x->name.size < y->name.size ? x->name.size : y->name.size;
	int order = n ? memcmp(x->name.data, y->name.data, n) : 0;
	return order ? order : (x->name.size > y->name.size) - (x->name.size < y->name.size);
}

/* The functions that are traced again and again or run eagerly, three by name. */
static bool set_function_statement(struct tfp_table *t, const struct tfp_functions *functions)
{
	const struct tfp_function **list = tfp_calloc(functions->count + 1, sizeof(*list));
	struct tfp_buf text;
	size_t n = 0;
	if (!list)
		return false;
	for (size_t i = 0; i < functions->count; i++) {
		if (tfp_function_expensive_percent(&functions->list[i]) >= EXPENSIVE_CALLS)
			list[n++] = &functions->list[i];
	}
	if (n)
		qsort(list, n, sizeof(*list), by_expensive_percent);
	tfp_buf_init(&text, 1 << 16);
	if (n)
		tfp_buf_puts(&text, n == 1 ? "This tf.function spends much of its time being "
					     "retraced or running eagerly: "
					   : "These tf.functions spend much of their time being "
					     "retraced or running eagerly: ");
	for (size_t i = 0; i < n && i < 3; i++) {
		struct tfp_str name = list[i]->name;
		tfp_buf_puts(&text, i ? ", \"" : "\"");
		tfp_utf8_repair(&text, name.data, name.size < 1000 ? name.size : 1000);
		tfp_buf_putc(&text, '"');
	}
	if (n)
		tfp_buf_puts(&text, n > 3 ? " and more." : ".");
	tfp_table_set_property(t, "tf_function_statement", tfp_buf_text(&text));
	bool ok = !tfp_buf_failed(&text);
	tfp_buf_release(&text);
	tfp_free(list);
	return ok;
}

static void set_device_activity(struct tfp_table *t, const struct tfp_run_summary *run)
{
	struct tfp_device_activity activity;
	tfp_device_activity(run, &activity);
	tfp_table_set_property(t, "device_state", tfp_device_state_name(activity.state));
	tfp_table_set_property(t, "device_statement", activity.statement);
	if (activity.state == TFP_DEVICE_NONE || activity.state == TFP_DEVICE_NOT_RECORDED)
		return;
	tfp_set_property(t, "device_idle_percent", "%.1f%%", activity.idle_percent);
	tfp_set_property(t, "device_wait_percent", "%.1f%%", activity.wait_percent);
}

/* tells_precision: whether names of kernels say that they are 16-bit. Only those of
 * Nvidia's libraries do. */
static void set_statements(struct tfp_table *t, const struct shares *shares, bool tells_precision)
{
	bool host = shares->host_eager_percent > MUCH_EAGER;
	bool device = shares->device_eager_percent > MUCH_EAGER;
	char host_text[120] = "", device_text[120] = "";
	if (host)
		snprintf(host_text, sizeof(host_text),
			 "%.1f%% of operation time on the host is eager execution. ",
			 shares->host_eager_percent);
	if (device)
		snprintf(device_text, sizeof(device_text),
			 "%.1f%% of operation time on the device is eager execution. ",
			 shares->device_eager_percent);
	tfp_set_property(t, "eager_statement", "%s%s%s", host_text, device_text,
			 host || device ? "tf.function avoids its cost "
					  "(https://www.tensorflow.org/guide/function)."
					: "");
	if (shares->outside_compilation_percent > OUTSIDE_COMPILATION)
		tfp_set_property(t, "outside_compilation_statement",
				 "%.1f%% of operation time on the device is spent outside the "
				 "compiled program, on the host.",
				 shares->outside_compilation_percent);
	else
		tfp_table_set_property(t, "outside_compilation_statement", "");
	if (tells_precision && shares->compute_16_percent + shares->compute_32_percent > 0 &&
	    shares->compute_16_percent < LITTLE_16_BIT)
		tfp_set_property(
			t, "precision_statement",
			"The device computes with 16-bit numbers for %.1f%% of its compute time. "
			"They are faster than 32-bit ones: use them where the program "
			"stays accurate enough (mixed precision).",
			shares->compute_16_percent);
	else
		tfp_table_set_property(t, "precision_statement", "");
}

static bool recommendation_table(struct tfp_table *t, const struct tfp_run_summary *run,
				 const struct shares *shares)
{
	const struct tfp_bottleneck *b = &run->bottleneck;
	const char *no_tips = "";
	tfp_table_init(t, tip_columns, COUNT(tip_columns));
	add_tips(t, run);
	tfp_table_set_property(t, "bottleneck", b->input.class);
	tfp_set_verdict(t, "statement", run, TFP_ON_INPUT);
	tfp_set_step_hosts(t, run);
	tfp_table_set_property(t, "kernel_launch_bottleneck", b->kernel_launch.class);
	tfp_set_verdict(t, "kernel_launch_statement", run, TFP_ON_KERNEL_LAUNCH);
	tfp_table_set_property(t, "all_other_bottleneck", b->all_others.class);
	tfp_set_verdict(t, "all_other_statement", run, TFP_ON_ALL_OTHERS);
	tfp_table_set_property(t, "device_collectives_bottleneck", b->collectives.class);
	tfp_set_verdict(t, "device_collectives_statement", run, TFP_ON_COLLECTIVES);
	if (strcmp(b->input.class, "host") == 0)
		no_tips = "device";
	else if (strcmp(b->input.class, "device") == 0)
		no_tips = "host";
	tfp_table_set_property(t, "non_bottleneck_tip_types", no_tips);
	tfp_table_set_property(t, "output_statement", b->output_statement);
	set_device_activity(t, run);
	set_statements(t, shares, strncmp(run->stats.env.device_type, "AMD", 3) != 0);
	return set_function_statement(t, &run->functions);
}

/* ---- inference latency ---- */

static const struct tfp_column latency_columns[] = {
	{"percentile", "percentile", TFP_CELL_TEXT},
	{"hostTimeMs", "Host time (in ms)", TFP_CELL_NUMBER},
	{"deviceTimeMs", "Device time (in ms)", TFP_CELL_NUMBER},
	{"communicationTimeMs", "Host-device communication time (in ms)", TFP_CELL_NUMBER},
	{"totalTimeMs", "Total latency (in ms)", TFP_CELL_NUMBER},
};

static int by_total(const void *a, const void *b)
{
	const struct tfp_request *x = a, *y = b;
	if (x->total_ps != y->total_ps)
		return x->total_ps < y->total_ps ? -1 : 1;
	return (x->device_ps > y->device_ps) - (x->device_ps < y->device_ps);
}

static void add_latency(struct tfp_table *t, const char *label, double total_ps, double device_ps,
			double communication_ps)
{
	tfp_table_add_text(t, label, strlen(label));
	tfp_table_add_number(t, (total_ps - device_ps - communication_ps) / 1e9);
	tfp_table_add_number(t, device_ps / 1e9);
	tfp_table_add_number(t, communication_ps / 1e9);
	tfp_table_add_number(t, total_ps / 1e9);
}

/* Programs that train answer no requests, though sessions may run in them. */
static bool latency_table(struct tfp_table *t, const struct tfp_run_summary *run)
{
	static const struct {
		const char *label;
		double percent;
	} rows[] = {{"50.0%", 50}, {"75.0%", 75}, {"90.0%", 90}, {"99.0%", 99}, {"99.9%", 99.9}};
	size_t n = run->requests.count;
	double total = 0, device = 0, communication = 0;
	tfp_table_init(t, latency_columns, COUNT(latency_columns));
	if (run->stats.is_training || n == 0)
		return true;
	struct tfp_request *sorted = tfp_reallocarray(NULL, n, sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, run->requests.list, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_total);
	for (size_t i = 0; i < n; i++) {
		total += (double)sorted[i].total_ps / (double)n;
		device += (double)sorted[i].device_ps / (double)n;
		communication += (double)sorted[i].communication_ps / (double)n;
	}
	add_latency(t, "Avg", total, device, communication);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct tfp_request *r = &sorted[(size_t)(rows[i].percent / 100 * (double)n)];
		add_latency(t, rows[i].label, (double)r->total_ps, (double)r->device_ps,
			    (double)r->communication_ps);
	}
	tfp_free(sorted);
	return true;
}

static bool write_tables(const struct tfp_run_summary *run, struct tfp_answer *answer)
{
	struct tfp_op_db framework_ops;
	struct tfp_table *t = answer->tables;
	tfp_op_db_init(&framework_ops);
	answer->table_count = 7;
	bool ok = tfp_op_db_by_framework_op(&run->stats.device.ops, &framework_ops);
	struct shares shares = {0};
	if (ok) {
		shares = shares_of(run, &framework_ops);
		ok = analysis_table(&t[0], run, &framework_ops, &shares);
	}
	tfp_step_table(&t[1], run);
	environment_table(&t[2], run);
	ok = recommendation_table(&t[3], run, &shares) && ok;
	ok = latency_table(&t[4], run) && ok;
	tfp_table_init(&t[5], NULL, 0);
	t[5].is_nothing = true;
	tfp_diagnostics_table(&t[6], run, true);
	tfp_op_db_release(&framework_ops);
	return ok;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_run_summary run;
	enum tfp_status status = tfp_run_summary(session, query, &run, err);
	if (status == TFP_OK && !write_tables(&run, answer))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the overview");
	tfp_run_summary_release(&run);
	return status;
}

const struct tfp_tool tfp_overview_page = {
	.name = "overview_page",
	.aliases = {"overview"},
	.title = "Overview",
	.summary = "Where the step time goes, and what to do next.",
	.place = 10,
	.key = 'o',
	.filter = "Filter top operations",
	.shows_steps = true,
	.scope = TFP_HOSTS_BOTH,
	.peer_scope = TFP_HOSTS_ALL,
	.parameters =
		{
			TFP_TAKES_ONE_OF(
				"step_source", "marked",
				"Which steps count: those that the program marked or, if it "
				"marked none, the executions of its module.",
				"marked", "module"),
			TFP_TAKES(TEXT, "steps_of", NULL,
				  "The host whose steps and verdict are shown: its name, or "
				  "slowest. Default: the first host."),
		},
	.render = render,
};
