#include "report/reports.h"

#include <stdio.h>
#include <string.h>

extern const struct tfp_reporter tfp_report_overview, tfp_report_input, tfp_report_ops,
	tfp_report_kernels, tfp_report_memory, tfp_report_pod, tfp_report_tf_data, tfp_report_trace;

static const struct tfp_reporter *const reporters[] = {
	&tfp_report_overview, &tfp_report_input,  &tfp_report_ops, &tfp_report_trace,
	&tfp_report_kernels,  &tfp_report_memory, &tfp_report_pod, &tfp_report_tf_data,
};

const struct tfp_reporter *tfp_reporter_find(const struct tfp_tool *tool)
{
	for (size_t i = 0; i < sizeof(reporters) / sizeof(reporters[0]); i++) {
		if (strcmp(reporters[i]->tool, tool->name) == 0)
			return reporters[i];
	}
	return NULL;
}

enum tfp_status tfp_reporter_render(const struct tfp_reporter *reporter,
				    const struct tfp_tool *tool, const struct tfp_session *session,
				    const struct tfp_query *query, struct tfp_answer *answer,
				    struct tfp_error *err)
{
	if (!reporter || !reporter->render)
		return tfp_tool_render(tool, session, query, answer, err);
	struct tfp_tool in_tables = *tool;
	in_tables.render = reporter->render;
	return tfp_tool_render(&in_tables, session, query, answer, err);
}

const struct tfp_table *tfp_report_csv_table(const struct tfp_answer *answer)
{
	const struct tfp_table *first = NULL;
	for (size_t i = 0; i < answer->table_count; i++) {
		const struct tfp_table *t = &answer->tables[i];
		if (t->column_count && tfp_table_row_count(t))
			return t;
		if (t->column_count && !first)
			first = t;
	}
	return first;
}

void tfp_report_runs(const struct tfp_answer *answer, struct tfp_report *r)
{
	static const struct tfp_report_column columns[] = {
		{"run", "run", TFP_Q_KEY, 9, false, false},
		{"hosts", "hosts", TFP_Q_COUNT, 5, false, false},
		{"bytes", "size", TFP_Q_BYTES, 6, false, false},
		{"time", "time", TFP_Q_LABEL, 8, false, false},
		{"time_from", "from", TFP_Q_LABEL, 1, false, false},
		{"names", "names", TFP_Q_NAME, 4, false, false},
	};
	tfp_report_table(r, &answer->tables[0], columns, sizeof(columns) / sizeof(columns[0]),
			 "--limit 0");
}

void tfp_report_captures(const struct tfp_answer *answer, struct tfp_report *r)
{
	static const struct tfp_report_column planes[] = {
		{"host", "host", TFP_Q_NAME, 7, false, false},
		{"plane", "plane", TFP_Q_NAME, 9, false, false},
		{"lines", "lines", TFP_Q_COUNT, 6, false, false},
		{"events", "events", TFP_Q_COUNT, 8, false, false},
		{"stats", "stats", TFP_Q_COUNT, 4, false, false},
		{"event_names", "event names", TFP_Q_COUNT, 3, false, false},
		{"stat_names", "stat names", TFP_Q_COUNT, 2, false, false},
		{"start_ms", "start", TFP_Q_MS, 5, false, false},
		{"duration_ms", "duration", TFP_Q_MS, 7, false, false},
	};
	const struct tfp_table *findings = &answer->tables[1];
	tfp_report_table(r, &answer->tables[0], planes, sizeof(planes) / sizeof(planes[0]),
			 "--limit 0");
	for (size_t i = 0; i < tfp_table_row_count(findings); i++) {
		struct tfp_text severity, host, message, hint;
		double byte;
		char at[40] = "";
		if (!tfp_table_text(findings, i, 0, &severity) ||
		    !tfp_table_text(findings, i, 1, &host) ||
		    !tfp_table_text(findings, i, 3, &message) ||
		    !tfp_table_text(findings, i, 4, &hint))
			continue;
		if (tfp_table_number(findings, i, 2, &byte))
			snprintf(at, sizeof(at), " (byte %.0f)", byte);
		tfp_report_say(r, "%.*s: %.*s: %.*s%s%s%.*s", (int)severity.size, severity.data,
			       (int)host.size, host.data, (int)message.size, message.data, at,
			       hint.size ? "; " : "", (int)hint.size, hint.data);
	}
}
