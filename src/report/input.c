/* SPDX-License-Identifier: Apache-2.0 */
/* The input pipeline: whether steps wait for input, and what the host does to get it. */
#include "report/step_report.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The answer's tables, by place. */
enum { CORES, STEPS, OPS, ADVICE, DIAGNOSTICS };

static const struct {
	const char *property, *name, *advice;
} parts[] = {
	{"demanded_file_read_us", "Reading on demand",
	 "Read in advance: with prefetch, interleave and a reader buffer the next data is ready "
	 "when it is needed."},
	{"advanced_file_read_us", "Reading in advance",
	 "Tune the prefetch size, the cycle_length of interleave, and the buffer_size of the "
	 "reader."},
	{"preprocessing_us", "Preprocessing",
	 "Give Dataset.map num_parallel_calls=tf.data.AUTOTUNE, or preprocess the data once, "
	 "offline."},
	{"enqueue_us", "Enqueuing to the device",
	 "Combine small chunks of input into fewer but larger ones."},
	{"unclassified_nonequeue_us", "Other reading or processing",
	 "Use the tf.data API where it is not used yet: it overlaps reading with the steps."},
};

static void say_host(const struct tfp_report_source *source, struct tfp_report *r,
		     const struct tfp_table *ops)
{
	static const struct tfp_column columns[] = {
		{"part", "Part", TFP_CELL_TEXT},
		{"us", "Time (us)", TFP_CELL_NUMBER},
		{"share", "Share", TFP_CELL_NUMBER},
	};
	static const struct tfp_report_column shown[] = {
		{"part", "category", TFP_Q_TEXT, 3, false, false},
		{"us", "time", TFP_Q_US, 3, false, false},
		{"share", "share", TFP_Q_SHARE, 2, false, false},
	};
	double us[COUNT(parts)], whole = 0;
	size_t largest = 0;
	for (size_t i = 0; i < COUNT(parts); i++) {
		us[i] = atof(tfp_table_property(ops, parts[i].property));
		whole += us[i] > 0 ? us[i] : 0;
		largest = us[i] > us[largest] ? i : largest;
	}
	tfp_report_heading(r, "Host: where the input time goes");
	if (whole <= 0) {
		tfp_report_say(r, tfp_table_row_count(ops)
					  ? "Input operations were recorded, but none of them "
					    "belongs to one of the five categories."
					  : "No input operation was recorded on the host: the "
					    "program feeds its data without tf.data, or "
					    "host_tracer_level was below 2.");
		return;
	}
	struct tfp_table *t = &source->more->tables[source->more->table_count++];
	tfp_table_init(t, columns, COUNT(columns));
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (us[i] <= 0)
			continue;
		tfp_table_add_text(t, parts[i].name, strlen(parts[i].name));
		tfp_table_add_number(t, us[i]);
		tfp_table_add_number(t, us[i] / whole);
	}
	tfp_report_table(r, t, shown, COUNT(shown), NULL);
	tfp_report_say(r, "%s", parts[largest].advice);
}

static void say_operations(struct tfp_report *r, const struct tfp_table *t)
{
	static const struct tfp_report_column columns[] = {
		{"opName", "operation", TFP_Q_NAME, 9, false, false},
		{"category", "category", TFP_Q_TEXT, 4, false, false},
		{"count", "count", TFP_Q_COUNT, 5, false, false},
		{"timeInMs", "total", TFP_Q_MS, 8, false, false},
		{"timeInPercent", "share", TFP_Q_SHARE, 3, false, false},
		{"selfTimeInMs", "self", TFP_Q_MS, 7, false, false},
		{"selfTimeInPercent", "self share", TFP_Q_SHARE, 6, false, false},
	};
	if (tfp_table_row_count(t) == 0)
		return;
	tfp_report_heading(r, "Input operations of the host");
	tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
}

/* The core that waited longest, of TPUs; the steps are columns. */
static void say_cores(const struct tfp_report_source *source, struct tfp_report *r,
		      const struct tfp_table *t, const struct tfp_table *steps)
{
	static const struct tfp_column columns[] = {
		{"step", "Step", TFP_CELL_TEXT},
		{"core", "Core", TFP_CELL_TEXT},
	};
	static const struct tfp_report_column shown[] = {
		{"step", "step", TFP_Q_TEXT, 2, false, false},
		{"core", "core", TFP_Q_NAME, 2, false, false},
	};
	/* Without any waiting there is no core that waited longest. */
	if (t->column_count < 2 || atof(tfp_table_property(steps, "infeed_percent_maximum")) <= 0)
		return;
	struct tfp_table *turned = &source->more->tables[source->more->table_count++];
	tfp_table_init(turned, columns, COUNT(columns));
	for (size_t c = 1; c < t->column_count; c++) {
		struct tfp_text step = {0}, core = {0};
		if (!tfp_table_text(t, 0, c, &step) || !tfp_table_text(t, 1, c, &core))
			continue;
		tfp_table_add_text(turned, step.data, step.size);
		tfp_table_add_text(turned, core.data, core.size);
	}
	tfp_report_heading(r, "Core that waited longest, in each step");
	tfp_report_table(r, turned, shown, COUNT(shown), "--limit 0");
}

static enum tfp_status write(const struct tfp_report_source *source, struct tfp_report *r,
			     struct tfp_error *err)
{
	const struct tfp_table *t = source->answer->tables;
	bool none = tfp_table_row_count(&t[STEPS]) == 0;
	(void)err;
	tfp_report_messages(r, &t[DIAGNOSTICS], none);
	tfp_report_step_source(r, &t[STEPS]);
	if (none) {
		tfp_report_no_steps(r, &t[STEPS], "What the host did to prepare input is below.");
	} else {
		tfp_report_average_step(r, &t[STEPS]);
		tfp_report_say(r, "%s", tfp_table_property(&t[STEPS], "input_conclusion"));
		tfp_report_say(r, "%s", tfp_table_property(&t[STEPS], "output_conclusion"));
		tfp_report_step_parts(source, r, &t[STEPS]);
	}
	say_cores(source, r, &t[CORES], &t[STEPS]);
	say_host(source, r, &t[OPS]);
	say_operations(r, &t[OPS]);
	return TFP_OK;
}

/* The table of cores comes first as the peers have it, and says little. */
const struct tfp_reporter tfp_report_input = {.tool = "input_pipeline_analyzer", .write = write};
