/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reports of the dashboards. A file of this folder that defines `const struct
 * tfp_reporter tfp_report_x` is the reporter of a tool; the build finds it. Tools without one are
 * shown as their tables.
 *
 *     const struct tfp_reporter *reporter = tfp_reporter_find(tool);
 *     tfp_reporter_render(reporter, tool, session, query, &answer, &err);
 *     struct tfp_report_source source = {session, query, &answer, &more};
 *     reporter->write(&source, &report, &err);
 */
#ifndef TFP_REPORT_REPORTS_H
#define TFP_REPORT_REPORTS_H

#include "report/report.h"
#include "tools/tool.h"

struct tfp_report_source {
	const struct tfp_session *session;
	const struct tfp_query *query;
	const struct tfp_answer *answer;
	/* Empty; for tables that a report makes itself. Lives as long as the report. */
	struct tfp_answer *more;
};

struct tfp_reporter {
	const char *tool;
	bool tells_findings; /* the profiler's errors and warnings are in it */
	/* Makes tables of what the tool answers as a document; NULL: the tool's own answer has
	 * tables. As tfp_tool.render. */
	enum tfp_status (*render)(const struct tfp_session *session, const struct tfp_query *query,
				  struct tfp_answer *answer, struct tfp_error *err);
	enum tfp_status (*write)(const struct tfp_report_source *source, struct tfp_report *report,
				 struct tfp_error *err);
};

/* Never NULL. */
const struct tfp_reporter *tfp_reporter_find(const struct tfp_tool *tool);

/* Makes the answer that is shown, or written as CSV. The caller initialises answer, and releases
 * it in any case. */
enum tfp_status tfp_reporter_render(const struct tfp_reporter *reporter,
				    const struct tfp_tool *tool, const struct tfp_session *session,
				    const struct tfp_query *query, struct tfp_answer *answer,
				    struct tfp_error *err) TFP_CHECK;

/* The table that stands for an answer in CSV: the first one that has columns and rows, else the
 * first that has columns; NULL where there is none. */
const struct tfp_table *tfp_report_csv_table(const struct tfp_answer *answer);

/* Reports of the answers of `tfprof ls` and `tfprof info` (tools/run_tables.h). */
void tfp_report_runs(const struct tfp_answer *answer, struct tfp_report *r);
void tfp_report_captures(const struct tfp_answer *answer, struct tfp_report *r);

#endif
