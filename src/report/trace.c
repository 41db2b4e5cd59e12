/* SPDX-License-Identifier: Apache-2.0 */
/* The trace in a few lines: its tracks, and how busy each was. To look at events one opens the
 * page, or exports them. */
#include "report/reports.h"

#include "analysis/timeline/tracks.h"
#include "session/summary.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct tfp_column track_columns[] = {
	{"host", "Host", TFP_CELL_TEXT},
	{"process", "Process", TFP_CELL_TEXT},
	{"track", "Track", TFP_CELL_TEXT},
	{"events", "Events", TFP_CELL_NUMBER},
	{"begin_ps", "First event (ps)", TFP_CELL_NUMBER},
	{"end_ps", "Last end (ps)", TFP_CELL_NUMBER},
	{"busy_ps", "Busy (ps)", TFP_CELL_NUMBER},
	{"busy_share", "Busy, of the trace", TFP_CELL_NUMBER},
};

/* Time in which an event of the line goes on; events are sorted by start. */
static double busy_ps(const struct tfp_line *line)
{
	double sum = 0;
	int64_t until = INT64_MIN;
	for (size_t i = 0; i < line->event_count; i++) {
		int64_t begin = tfp_event_offset_ps(line, i),
			end = tfp_event_end_offset_ps(line, i);
		if (end <= until)
			continue;
		sum += (double)end - (double)(begin > until ? begin : until);
		until = end;
	}
	return sum;
}

static void add_str(struct tfp_table *t, struct tfp_str text)
{
	tfp_table_add_text(t, text.data, text.size);
}

static void add_track(struct tfp_table *t, const struct tfp_tracks *tracks,
		      const struct tfp_process *process, const struct tfp_track *track,
		      const char *host)
{
	double whole = (double)tracks->end_ps - (double)tracks->begin_ps;
	tfp_table_add_text(t, host, strlen(host));
	add_str(t, process->name);
	add_str(t, track->name);
	tfp_table_add_number(t, (double)track->event_count);
	tfp_table_add_number(t, (double)track->begin_ps - (double)tracks->begin_ps);
	tfp_table_add_number(t, (double)track->end_ps - (double)tracks->begin_ps);
	if (track->kind == TFP_TRACK_COUNTER) {
		tfp_table_add_absent(t);
		tfp_table_add_absent(t);
		return;
	}
	double busy = busy_ps(track->line);
	tfp_table_add_number(t, busy);
	if (whole > 0)
		tfp_table_add_number(t, busy / whole);
	else
		tfp_table_add_absent(t);
}

static enum tfp_status add_host(void *context, struct tfp_capture *capture, const char *host,
				struct tfp_pool *pool, struct tfp_error *err)
{
	struct tfp_table *t = context;
	const struct tfp_tracks *tracks;
	enum tfp_status status = tfp_tracks_get(capture, pool, &tracks, err);
	for (uint32_t p = 0; status == TFP_OK && p < tracks->process_count; p++) {
		const struct tfp_process *process = &tracks->processes[p];
		for (uint32_t i = 0; i < process->track_count; i++) {
			const struct tfp_track *track = &tracks->tracks[process->tracks[i]];
			if (track->event_count)
				add_track(t, tracks, process, track, host);
		}
	}
	return status;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_table *t = &answer->tables[answer->table_count++];
	(void)query;
	tfp_table_init(t, track_columns, COUNT(track_columns));
	enum tfp_status status = tfp_session_each(session, add_host, t, err);
	if (status == TFP_OK && tfp_table_failed(t))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the list of tracks");
	return status;
}

static enum tfp_status write(const struct tfp_report_source *source, struct tfp_report *r,
			     struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"host", "host", TFP_Q_NAME, 3, false, false},
		{"process", "process", TFP_Q_NAME, 7, false, false},
		{"track", "track", TFP_Q_NAME, 9, false, false},
		{"events", "events", TFP_Q_COUNT, 8, false, false},
		{"begin_ps", "from", TFP_Q_PS, 4, false, true},
		{"end_ps", "to", TFP_Q_PS, 4, false, false},
		{"busy_ps", "busy", TFP_Q_PS, 6, false, false},
		{"busy_share", "busy", TFP_Q_SHARE, 5, false, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	size_t rows = tfp_table_row_count(t);
	double events = 0, end_ps = 0, value;
	char count[40], time[40];
	(void)err;
	if (rows == 0) {
		tfp_report_say(r, "No events were recorded: the capture holds no event of a thread "
				  "or a device.");
		tfp_report_say(r, "Capture while the program runs, with host_tracer_level at 2 and "
				  "device_tracer_level at 1 (the defaults).");
		return TFP_OK;
	}
	for (size_t i = 0; i < rows; i++) {
		events += tfp_table_number(t, i, 3, &value) ? value : 0;
		end_ps = tfp_table_number(t, i, 5, &value) && value > end_ps ? value : end_ps;
	}
	tfp_report_fact(r, "Trace", "%s, %s events on %zu tracks",
			tfp_report_quantity(TFP_Q_PS, end_ps, time, sizeof(time)),
			tfp_report_quantity(TFP_Q_COUNT, events, count, sizeof(count)), rows);
	tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
	tfp_report_say(r, "tfprof-server shows the events; tfprof trace_export writes them for "
			  "Perfetto or chrome://tracing.");
	return TFP_OK;
}

const struct tfp_reporter tfp_report_trace = {
	.tool = "trace_viewer", .render = render, .write = write};
