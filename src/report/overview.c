/* SPDX-License-Identifier: Apache-2.0 */
/* The overview: step time, verdict, what it goes to, top operations. */
#include "report/step_report.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The answer's tables, by place. */
enum { OPS, STEPS, ENVIRONMENT, ADVICE, LATENCY, DIAGNOSTICS = 6 };

/* Shares that the page shows as tiles; nothing is said of one that is 0. */
static void say_share(struct tfp_report *r, const struct tfp_table *t, const char *key,
		      const char *label)
{
	const char *text = tfp_table_property(t, key);
	char shown[40];
	if (atof(text) > 0)
		tfp_report_fact(
			r, label, "%s",
			tfp_report_quantity(TFP_Q_PERCENT, atof(text), shown, sizeof(shown)));
}

static void say_environment(struct tfp_report *r, const struct tfp_table *t, size_t hosts,
			    size_t steps)
{
	const char *devices = tfp_table_property(t, "device_core_count");
	const char *type = tfp_table_property(t, "device_type");
	tfp_report_heading(r, "Run environment");
	tfp_report_fact(r, "Hosts", "%zu", hosts);
	if (atof(devices) > 0)
		tfp_report_fact(r, "Devices", "%s \xc3\x97 %s", devices, type);
	else if (type[0])
		tfp_report_fact(r, "Devices", "%s only", type);
	if (steps)
		tfp_report_fact(r, "Steps", "%zu", steps);
	else
		tfp_report_fact(r, "Steps", "none marked");
	if (strcmp(tfp_table_property(t, "is_training"), "true") == 0)
		tfp_report_fact(r, "Kind", "training");
}

static void say_operations(struct tfp_report *r, const struct tfp_table *t)
{
	static const struct tfp_report_column columns[] = {
		{"category", "type", TFP_Q_TEXT, 4, false, false},
		{"operation", "operation", TFP_Q_NAME, 9, false, false},
		{"selfTimePercent", "self", TFP_Q_SHARE, 8, false, false},
		{"cumulativeTimePercent", "cumulative", TFP_Q_SHARE, 5, false, false},
		{"flopRate", "GFLOP/s", TFP_Q_NUMBER, 3, true, false},
		{"tcEligibility", "eligible", TFP_Q_BOOLEAN, 1, true, false},
		{"tcUtilization", "TensorCore", TFP_Q_BOOLEAN, 2, true, false},
	};
	tfp_report_heading(r, "Top operations on the device, by self time");
	if (tfp_table_row_count(t))
		tfp_report_table(r, t, columns, COUNT(columns), NULL);
	else
		tfp_report_say(r, "No device operations were recorded. The operations of the host "
				  "are in framework_op_stats.");
}

static void say_latency(struct tfp_report *r, const struct tfp_table *t)
{
	static const struct tfp_report_column columns[] = {
		{"percentile", "percentile", TFP_Q_TEXT, 9, false, false},
		{"totalTimeMs", "total", TFP_Q_MS, 8, false, false},
		{"hostTimeMs", "host", TFP_Q_MS, 5, false, false},
		{"deviceTimeMs", "device", TFP_Q_MS, 5, false, false},
		{"communicationTimeMs", "communication", TFP_Q_MS, 4, false, false},
	};
	if (tfp_table_row_count(t) == 0)
		return;
	tfp_report_heading(r, "Inference latency");
	tfp_report_table(r, t, columns, COUNT(columns), NULL);
}

static enum tfp_status write(const struct tfp_report_source *source, struct tfp_report *r,
			     struct tfp_error *err)
{
	static const char *const statements[] = {
		"statement",
		"kernel_launch_statement",
		"all_other_statement",
		"device_collectives_statement",
		"output_statement",
		"precision_statement",
		"eager_statement",
		"tf_function_statement",
		"outside_compilation_statement",
	};
	const struct tfp_table *t = source->answer->tables;
	size_t steps = tfp_table_row_count(&t[STEPS]);
	(void)err;
	tfp_report_messages(r, &t[DIAGNOSTICS], steps == 0);
	tfp_report_step_source(r, &t[STEPS]);
	if (steps) {
		tfp_report_average_step(r, &t[STEPS]);
	} else {
		tfp_report_say(r, "%s", tfp_table_property(&t[ADVICE], "device_statement"));
		tfp_report_no_steps(r, &t[STEPS], "Everything that does not need steps is below.");
	}
	for (size_t i = steps ? 0 : 1; i < COUNT(statements); i++)
		tfp_report_say(r, "%s", tfp_table_property(&t[ADVICE], statements[i]));
	if (steps)
		tfp_report_step_parts(source, r, &t[STEPS]);
	else
		say_share(r, &t[ADVICE], "device_idle_percent", "Device idle");
	say_share(r, &t[ADVICE], "device_wait_percent", "Waiting for copies");
	say_share(r, &t[OPS], "device_duty_cycle_percent", "Device duty cycle");
	if (tfp_table_row_count(&t[OPS]))
		say_share(r, &t[OPS], "device_compute_16bit_percent", "16-bit compute");
	say_share(r, &t[OPS], "host_op_time_eager_percent", "Eager, host");
	say_share(r, &t[OPS], "device_op_time_eager_percent", "Eager, device");
	say_operations(r, &t[OPS]);
	say_latency(r, &t[LATENCY]);
	say_environment(r, &t[ENVIRONMENT], source->session->host_count, steps);
	return TFP_OK;
}

const struct tfp_reporter tfp_report_overview = {
	.tool = "overview_page", .tells_findings = true, .write = write};
