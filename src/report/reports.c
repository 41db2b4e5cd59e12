/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reports.h"

#include <stdio.h>
#include <string.h>

/* Made of the folder by scripts/list_structs.py. */
extern const struct tfp_reporter *const tfp_every_reporter[];
extern const size_t tfp_every_reporter_count;

/* One table as it is. Where not all columns fit the first ones stay. */
static enum tfp_status write_table(const struct tfp_table *t, struct tfp_report *r,
				   struct tfp_error *err)
{
	static const enum tfp_quantity quantities[] = {
		[TFP_CELL_TEXT] = TFP_Q_NAME,
		[TFP_CELL_NUMBER] = TFP_Q_NUMBER,
		[TFP_CELL_BOOLEAN] = TFP_Q_BOOLEAN,
	};
	struct tfp_report_column *columns =
		tfp_arena_zalloc(&r->arena, t->column_count, sizeof(*columns));
	if (!columns)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the report");
	for (size_t i = 0; i < t->column_count; i++)
		columns[i] = (struct tfp_report_column){
			.id = t->columns[i].id,
			.title = t->columns[i].label,
			.quantity = quantities[t->columns[i].kind],
			.keep = (unsigned)(t->column_count - i),
		};
	tfp_report_table(r, t, columns, t->column_count, "--limit 0");
	return TFP_OK;
}

/* Of a tool that has no report of its own: its tables. */
static enum tfp_status write_tables(const struct tfp_report_source *source, struct tfp_report *r,
				    struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	size_t shown = 0;
	for (size_t i = 0; status == TFP_OK && i < source->answer->table_count; i++) {
		const struct tfp_table *t = &source->answer->tables[i];
		if (t->column_count == 0)
			continue;
		char heading[40];
		snprintf(heading, sizeof(heading), "Table %zu", i + 1);
		if (source->answer->table_count > 1)
			tfp_report_heading(r, heading);
		shown++;
		status = write_table(t, r, err);
	}
	if (!shown)
		tfp_report_say(r, "The answer has no table; --format json prints it.");
	return status;
}

static const struct tfp_reporter tables_only = {.write = write_tables};

const struct tfp_reporter *tfp_reporter_find(const struct tfp_tool *tool)
{
	for (size_t i = 0; i < tfp_every_reporter_count; i++) {
		if (strcmp(tfp_every_reporter[i]->tool, tool->name) == 0)
			return tfp_every_reporter[i];
	}
	return &tables_only;
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
