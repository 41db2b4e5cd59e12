/* SPDX-License-Identifier: Apache-2.0 */
/* tf.data: which input pipelines are slow, and what their calls wait for. */
#include "report/reports.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ADVICE_MOST  5u

/* The answer's tables, by place. */
enum { GRAPH, PIPELINES, BOTTLENECKS };

static bool same(struct tfp_text a, struct tfp_text b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* What to do about the slow ones, each once. */
static void say_advice(struct tfp_report *r, const struct tfp_table *t)
{
	size_t kind = tfp_table_column(t, "kind"), suggestion = tfp_table_column(t, "suggestion");
	size_t said = 0;
	for (size_t i = 0; i < tfp_table_row_count(t) && said < ADVICE_MOST; i++) {
		struct tfp_text what, text, other;
		bool before = false;
		if (!tfp_table_text(t, i, kind, &what) ||
		    !tfp_table_text(t, i, suggestion, &text) || text.size == 0)
			continue;
		for (size_t k = 0; k < i && !before; k++)
			before = tfp_table_text(t, k, suggestion, &other) && same(text, other);
		if (before)
			continue;
		tfp_report_say(r, "To do (%.*s): %.*s", (int)what.size, what.data, (int)text.size,
			       text.data);
		said++;
	}
}

static enum tfp_status write(const struct tfp_report_source *source, struct tfp_report *r,
			     struct tfp_error *err)
{
	static const struct tfp_report_column slow[] = {
		{"host", "host", TFP_Q_NAME, 3, false, false},
		{"input_pipeline", "pipeline", TFP_Q_NAME, 7, false, false},
		{"max_latency_us", "slowest call", TFP_Q_US, 8, false, false},
		{"long_name", "waits for", TFP_Q_NAME, 9, false, false},
		{"latency_us", "of it", TFP_Q_US, 6, false, false},
		{"kind", "which", TFP_Q_TEXT, 4, false, false},
	};
	static const struct tfp_report_column pipelines[] = {
		{"host", "host", TFP_Q_NAME, 3, false, false},
		{"input_pipeline", "pipeline", TFP_Q_NAME, 9, false, false},
		{"num_calls", "calls", TFP_Q_COUNT, 8, false, false},
		{"num_slow_calls", "slow calls", TFP_Q_COUNT, 7, false, false},
		{"min_us", "min", TFP_Q_US, 4, false, false},
		{"avg_us", "average", TFP_Q_US, 6, false, false},
		{"max_us", "max", TFP_Q_US, 8, false, false},
		{"root", "root", TFP_Q_NAME, 2, false, false},
	};
	static const struct tfp_report_column iterators[] = {
		{"host", "host", TFP_Q_NAME, 2, false, false},
		{"input_pipeline", "pipeline", TFP_Q_NAME, 3, false, false},
		{"rank", "call", TFP_Q_COUNT, 4, false, false},
		{"long_name", "iterator", TFP_Q_NAME, 9, false, false},
		{"total_us", "total", TFP_Q_US, 8, false, false},
		{"self_us", "self", TFP_Q_US, 7, false, false},
		{"num_calls", "calls", TFP_Q_COUNT, 5, false, false},
		{"kind", "which", TFP_Q_TEXT, 6, false, false},
	};
	const struct tfp_table *t = source->answer->tables;
	(void)err;
	if (tfp_table_row_count(&t[PIPELINES]) == 0) {
		tfp_report_say(r, "No tf.data activity was recorded. No input pipeline was called "
				  "during the capture, or its calls were not recorded. A "
				  "program that reads its data in another way has nothing to show "
				  "here.");
		return TFP_OK;
	}
	tfp_report_say(r, "%s", tfp_table_property(&t[BOTTLENECKS], "summary_message"));
	if (tfp_table_row_count(&t[BOTTLENECKS])) {
		tfp_report_heading(r, "Bottlenecks");
		tfp_report_table(r, &t[BOTTLENECKS], slow, COUNT(slow), "--limit 0");
		say_advice(r, &t[BOTTLENECKS]);
	}
	tfp_report_heading(r, "Input pipelines");
	tfp_report_table(r, &t[PIPELINES], pipelines, COUNT(pipelines), "--limit 0");
	tfp_report_heading(r, "Iterators of the slowest calls");
	tfp_report_table(r, &t[GRAPH], iterators, COUNT(iterators), "--limit 0");
	return TFP_OK;
}

const struct tfp_reporter tfp_report_tf_data = {.tool = "tf_data_bottleneck_analysis",
						.write = write};
