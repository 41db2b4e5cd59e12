/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_tables.h"

#include "base/alloc.h"
#include "session/run_clock.h"
#include "session/summary.h"
#include "tools/findings.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
}

static void add_text(struct tfp_table *t, const char *value)
{
	tfp_table_add_text(t, value, strlen(value));
}

static void add_time(struct tfp_table *t, int64_t ns)
{
	char out[32] = "";
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm local;
	if (localtime_r(&seconds, &local))
		strftime(out, sizeof(out), "%Y-%m-%d %H:%M:%S", &local);
	add_text(t, out);
}

enum tfp_status tfp_run_list_answer(struct tfp_run_info *info,
				    const struct tfp_logdir_snapshot *snapshot,
				    struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct tfp_column columns[] = {
		{"run", "Run", TFP_CELL_TEXT},
		{"hosts", "Hosts", TFP_CELL_NUMBER},
		{"bytes", "Bytes", TFP_CELL_NUMBER},
		{"time", "Time", TFP_CELL_TEXT},
		{"time_from", "Time from", TFP_CELL_TEXT},
		{"names", "Names of hosts", TFP_CELL_TEXT},
		{"kind", "Kind", TFP_CELL_TEXT},
	};
	struct tfp_dated_run *sorted;
	size_t count;
	enum tfp_status status = tfp_run_info_sort(info, snapshot, &sorted, &count, err);
	if (status != TFP_OK)
		return status;
	struct tfp_table *t = &answer->tables[answer->table_count++];
	tfp_table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
	struct tfp_buf names;
	tfp_buf_init(&names, 1024);
	for (size_t i = 0; i < count; i++) {
		const struct tfp_run *run = sorted[i].run;
		tfp_buf_clear(&names);
		size_t shown = 0;
		for (; shown < run->host_count && names.size < 100; shown++)
			tfp_buf_printf(&names, "%s%s", shown ? ", " : "", run->hosts[shown].host);
		if (shown < run->host_count)
			tfp_buf_printf(&names, " and %zu more", run->host_count - shown);
		add_text(t, run->name);
		tfp_table_add_number(t, (double)run->host_count);
		tfp_table_add_number(t, (double)run->bytes);
		add_time(t, sorted[i].time_ns);
		add_text(t, tfp_time_source_name(sorted[i].source));
		add_text(t, tfp_buf_text(&names));
		add_text(t, tfp_run_kind_name(run));
	}
	tfp_buf_release(&names);
	tfp_free(sorted);
	return tfp_table_failed(t) ? no_memory(err) : TFP_OK;
}

/* ---- captures ---- */

struct opened {
	const struct tfp_session *session;
	struct tfp_capture **captures; /* NULL where the file is no capture */
	struct tfp_error *errors;
};

static void open_host(void *context, size_t i)
{
	struct opened *o = context;
	tfp_error_init(&o->errors[i]);
	if (tfp_capture_cache_get(o->session->cache, &o->session->hosts[i], &o->captures[i],
				  &o->errors[i]) != TFP_OK)
		o->captures[i] = NULL;
}

static void opened_release(struct opened *o)
{
	for (size_t i = 0; o->captures && i < o->session->host_count; i++)
		tfp_capture_unref(o->captures[i]);
	tfp_free(o->captures);
	tfp_free(o->errors);
}

static enum tfp_status opened_init(struct opened *o, const struct tfp_session *session,
				   struct tfp_error *err)
{
	*o = (struct opened){
		.session = session,
		.captures = tfp_calloc(session->host_count, sizeof(struct tfp_capture *)),
		.errors = tfp_calloc(session->host_count, sizeof(*o->errors)),
	};
	if (!o->captures || !o->errors) {
		opened_release(o);
		return no_memory(err);
	}
	tfp_pool_for(session->pool, session->host_count, open_host, o);
	return TFP_OK;
}

static uint64_t count_stats(const struct tfp_plane *plane)
{
	uint64_t n = 0;
	for (size_t i = 0; i < plane->line_count; i++) {
		for (size_t j = 0; j < plane->lines[i].event_count; j++) {
			struct tfp_stat_iter it = tfp_event_stats(&plane->lines[i], j);
			struct tfp_stat stat;
			while (tfp_stat_next(&it, &stat))
				n++;
		}
	}
	return n;
}

static void add_finding_row(void *context, struct tfp_finding f)
{
	struct tfp_table *t = context;
	add_text(t, tfp_severity_word(f.severity));
	add_text(t, f.host);
	if (f.offset == TFP_NO_OFFSET)
		tfp_table_add_absent(t);
	else
		tfp_table_add_number(t, (double)f.offset);
	tfp_table_add_text(t, f.message.data, f.message.size);
	tfp_table_add_text(t, f.hint.data, f.hint.size);
}

enum tfp_status tfp_capture_info_answer(const struct tfp_session *session,
					struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct tfp_column plane_columns[] = {
		{"host", "Host", TFP_CELL_TEXT},
		{"plane", "Plane", TFP_CELL_TEXT},
		{"lines", "Lines", TFP_CELL_NUMBER},
		{"events", "Events", TFP_CELL_NUMBER},
		{"stats", "Stats", TFP_CELL_NUMBER},
		{"event_names", "Event names", TFP_CELL_NUMBER},
		{"stat_names", "Stat names", TFP_CELL_NUMBER},
		{"start_ms", "Start (ms)", TFP_CELL_NUMBER},
		{"duration_ms", "Duration (ms)", TFP_CELL_NUMBER},
	};
	static const struct tfp_column finding_columns[] = {
		{"severity", "Severity", TFP_CELL_TEXT}, {"host", "Host", TFP_CELL_TEXT},
		{"offset", "At byte", TFP_CELL_NUMBER},  {"message", "Message", TFP_CELL_TEXT},
		{"hint", "Hint", TFP_CELL_TEXT},
	};
	struct opened o;
	struct tfp_host_clock *clocks;
	enum tfp_status status = tfp_run_clocks_aligned(session, &clocks, err);
	if (status == TFP_OK)
		status = opened_init(&o, session, err);
	if (status != TFP_OK) {
		tfp_free(clocks);
		return status;
	}
	struct tfp_table *planes = &answer->tables[answer->table_count++];
	tfp_table_init(planes, plane_columns, sizeof(plane_columns) / sizeof(plane_columns[0]));
	struct tfp_table *findings = &answer->tables[answer->table_count++];
	tfp_table_init(findings, finding_columns,
		       sizeof(finding_columns) / sizeof(finding_columns[0]));
	for (size_t i = 0; i < session->host_count; i++) {
		const struct tfp_capture *c = o.captures[i];
		const __int128 shift_ps =
			clocks[tfp_session_host_index(session, session->hosts[i].host)].shift_ps;
		for (size_t j = 0; c && j < c->plane_count; j++) {
			const struct tfp_plane *plane = &c->planes[j];
			struct tfp_plane_span span = tfp_plane_span(plane);
			uint64_t events = 0;
			for (size_t k = 0; k < plane->line_count; k++)
				events += plane->lines[k].event_count;
			add_text(planes, session->hosts[i].host);
			tfp_table_add_text(planes, plane->name.data, plane->name.size);
			tfp_table_add_number(planes, (double)plane->line_count);
			tfp_table_add_number(planes, (double)events);
			tfp_table_add_number(planes, (double)count_stats(plane));
			/* The first of each stands for ids that have no metadata. */
			tfp_table_add_number(planes, (double)plane->event_meta_count - 1);
			tfp_table_add_number(planes, (double)plane->stat_meta_count - 1);
			if (span.any)
				tfp_table_add_number(planes,
						     (double)(span.from_ps + shift_ps) / 1e9);
			else
				tfp_table_add_absent(planes);
			tfp_table_add_number(planes, tfp_plane_span_ms(span));
		}
	}
	for (size_t i = 0; status == TFP_OK && i < session->host_count; i++) {
		struct tfp_host_summary summary = {0};
		const char *host = session->hosts[i].host;
		if (!o.captures[i]) {
			tfp_see_failure(add_finding_row, findings, host, &o.errors[i]);
			continue;
		}
		status = tfp_host_summary_get(&summary, o.captures[i], TFP_SUMMARY_BRIEF,
					      session->pool, err);
		if (status == TFP_OK)
			tfp_see_findings(add_finding_row, findings, host, &summary);
		tfp_host_summary_release(&summary);
	}
	/* A single file that is no capture is an error, and no table. */
	if (session->host_count == 1 && !o.captures[0]) {
		status = o.errors[0].status;
		if (err)
			*err = o.errors[0];
	}
	opened_release(&o);
	tfp_free(clocks);
	return status;
}
