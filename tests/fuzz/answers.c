/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "report/reports.h"
#include "store/pack.h"
#include "tools/findings.h"
#include "tools/tool.h"
#include "trace/trace.h"
#include "trace/trace_export.h"
#include "wire/pb_cursor.h"

#include <jansson.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void fuzz_check_json(const char *text, size_t size)
{
	json_error_t why;
	json_t *document = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
	if (!document)
		fprintf(stderr, "%s at byte %d: %.*s\n", why.text, why.position,
			(int)(size < 400 ? size : 400), text);
	MUST(document);
	json_decref(document);
}

static void put_status(struct tfp_buf *out, enum tfp_status status, const struct tfp_error *err)
{
	if (status == TFP_OK)
		return;
	MUST(err->status == status && err->message[0]);
	MUST(tfp_utf8_valid(err->message, strlen(err->message)));
	MUST(tfp_utf8_valid(err->hint, strlen(err->hint)));
	/* There is memory enough, and nobody touches the file. */
	MUST(status != TFP_NO_MEMORY && status != TFP_IO);
	tfp_buf_printf(out, "\n%d: %s\n", (int)status, err->message);
}

/* ---- dashboards ---- */

/* What tools are asked beside their first answer; they ignore what only others are asked. */
static const struct tfp_param queries[][3] = {
	{{"where", "device"}, {"type", "MatMul"}, {"name", "dense/MatMul"}},
	{{"where", "host"}, {"name", "train"}, {"alive", "end"}},
	{{"view", "timeline"}, {"points", "4"}, {"step_source", "module"}},
	{{"view", "breakdown"}, {"group", "op"}, {"at_ps", "1000"}},
	{{"view", "steps"}, {"limit", "3"}, {"scope", "all"}},
	{{"type", "neighborhood"}, {"hops", "3"}, {"limit", "9"}},
	{{"type", "lines"}, {"show_metadata", "true"}, {"count", "50"}},
	{{"type", "search"}, {"q", "a"}, {"limit", "3"}},
	{{"tag", "trace_viewer@"}, {"resolution", "100"}, {"limit", "0"}},
	{{"tag", "trace_viewer@"}, {"args", "all"}, {"full_dma", "true"}},
	{{"tag", "trace_viewer@"},
	 {"selected_group_ids", "0,1"},
	 {"trace_filter_config",
	  "{\"deviceRegexes\":[\"[a-z]\"],\"traceEventFilters\":[{\"fieldName\":"
	  "\"duration\",\"opId\":1,\"doubleValue\":1}]}"}},
};

/* What a terminal shows, narrow and as long as it comes. */
static void report_tool(const struct tfp_tool *tool, const struct tfp_session *session,
			const struct tfp_query *query, struct tfp_buf *out)
{
	const struct tfp_reporter *reporter = tfp_reporter_find(tool);
	struct tfp_answer answer, more;
	struct tfp_report report;
	struct tfp_error err;
	size_t from = out->size;
	/* Another view is another table. */
	if (tfp_query_get(query, "view"))
		return;
	tfp_answer_init(&answer);
	tfp_answer_init(&more);
	tfp_report_init(&report);
	const struct tfp_report_source source = {session, query, &answer, &more};
	enum tfp_status status = tfp_reporter_render(reporter, tool, session, query, &answer, &err);
	if (status == TFP_OK)
		status = reporter->write(&source, &report, &err);
	put_status(out, status, &err);
	if (status == TFP_OK) {
		tfp_report_write(&report, 0, 80, out);
		tfp_report_write(&report, 40, 0, out);
		tfp_report_write(&report, 3, 3, out);
		MUST(!tfp_buf_failed(out));
		MUST(tfp_utf8_valid(out->data + from, out->size - from));
	}
	tfp_report_release(&report);
	tfp_answer_release(&more);
	tfp_answer_release(&answer);
}

static void ask_tool(const struct tfp_tool *tool, const struct tfp_session *session,
		     const struct tfp_query *query, struct tfp_buf *out)
{
	struct tfp_answer answer;
	struct tfp_error err;
	tfp_answer_init(&answer);
	size_t from = out->size;
	enum tfp_status status = tfp_tool_render(tool, session, query, &answer, &err);
	if (status == TFP_OK)
		status = tfp_answer_write_json(&answer, out, &err);
	put_status(out, status, &err);
	if (status == TFP_OK) {
		MUST(!tfp_buf_failed(out));
		if (!answer.file_type)
			fuzz_check_json(out->data + from, out->size - from);
		from = out->size;
		if (answer.table_count)
			put_status(out, tfp_answer_write_csv(&answer, TFP_CSV_PLAIN, out, &err),
				   &err);
		MUST(!tfp_buf_failed(out));
		MUST(tfp_utf8_valid(out->data + from, out->size - from));
	}
	tfp_answer_release(&answer);
	report_tool(tool, session, query, out);
	from = out->size;
	if (tool->instances) {
		status = tool->instances(session, query, out, &err);
		put_status(out, status, &err);
		if (status == TFP_OK)
			fuzz_check_json(out->data + from, out->size - from);
	}
}

/* ---- the timeline ---- */

static enum tfp_status (*const trace_answers[])(const struct tfp_session *,
						const struct tfp_query *, struct tfp_buf *,
						struct tfp_error *) = {
	tfp_trace_tracks_json,    tfp_trace_tiles_json,     tfp_trace_event_json,
	tfp_trace_events_json,    tfp_trace_neighbour_json, tfp_trace_search_json,
	tfp_trace_aggregate_json, tfp_trace_steps_json,
};

static const struct tfp_param trace_queries[][7] = {
	{{"level", "30"},
	 {"id", "0.0.0"},
	 {"direction", "next"},
	 {"q", "a|b"},
	 {"in", "all"},
	 {"mode", "regex"},
	 {"slots", "100"}},
	{{"level", "12"},
	 {"id", "0.1.1"},
	 {"direction", "child"},
	 {"q", "a"},
	 {"tile", "1"},
	 {"limit", "5"},
	 {"slots", "1"}},
	{{"level", "0"},
	 {"id", "0.0.1"},
	 {"direction", "previous"},
	 {"q", "E"},
	 {"case", "0"},
	 {"derived", "0"},
	 {"slots", "0"}},
	{{"level", "62"},
	 {"id", "0.2.0"},
	 {"direction", "parent"},
	 {"q", "."},
	 {"from_ps", "5"},
	 {"to_ps", "9223372036854775807"},
	 {"slots", "8192"}},
};

/* Whatever a capture says about its times, none is before the trace's begin. */
static void check_times(const json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;
	json_array_foreach(json, i, value) check_times(value);
	json_object_foreach((json_t *)(uintptr_t)json, key, value)
	{
		size_t size = strlen(key);
		check_times(value);
		if (size > 3 && strcmp(key + size - 3, "_ps") == 0 && json_is_integer(value))
			MUST(json_integer_value(value) >= 0);
	}
}

static void check_trace_answer(const char *text, size_t size)
{
	json_t *json = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	MUST(json);
	check_times(json);
	json_decref(json);
}

static void ask_trace(const struct tfp_session *session, uint64_t choice, struct tfp_buf *out)
{
	struct tfp_error err;
	const struct tfp_param *params = trace_queries[choice % COUNT(trace_queries)];
	const struct tfp_query query = {params, COUNT(trace_queries[0])};
	for (size_t i = 0; i < COUNT(trace_answers); i++) {
		size_t from = out->size;
		enum tfp_status status = trace_answers[i](session, &query, out, &err);
		MUST(!tfp_buf_failed(out));
		if (status == TFP_OK)
			check_trace_answer(out->data + from, out->size - from);
		else
			out->size = from;
		put_status(out, status, &err);
	}
}

static enum tfp_status into_buffer(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	(void)err;
	tfp_buf_add(context, bytes, size);
	MUST(!tfp_buf_failed(context));
	return TFP_OK;
}

static void check_packets(const char *bytes, size_t size)
{
	struct tfp_pb_cursor cursor = tfp_pb_cursor((const uint8_t *)bytes, size);
	uint32_t tag;
	while (tfp_pb_next(&cursor, &tag)) {
		/* A trace is packets and nothing else. */
		MUST(tag == TFP_PB_TAG(1, TFP_PB_BYTES));
		tfp_pb_skip(&cursor, tag);
	}
	MUST(!cursor.damage);
}

/* All of it, or a stretch. */
static void export_trace(const struct tfp_session *session, uint64_t choice, struct tfp_buf *out)
{
	bool chrome = choice & 1;
	const struct tfp_param params[] = {{"format", chrome ? "chrome" : "perfetto"},
					   {"from_ps", "0"},
					   {"to_ps", "9000000000000000000"}};
	const struct tfp_sink sink = {into_buffer, out};
	const struct tfp_query query = {params, choice & 2 ? 1 : COUNT(params)};
	struct tfp_trace_export export;
	struct tfp_error err;
	size_t from = out->size;
	enum tfp_status status = tfp_trace_export_init(&export, session, &query, &err);
	if (status == TFP_OK) {
		status = tfp_trace_export_write(&export, &sink, &err);
		tfp_trace_export_release(&export);
	}
	put_status(out, status, &err);
	if (status == TFP_OK && chrome)
		fuzz_check_json(out->data + from, out->size - from);
	else if (status == TFP_OK)
		check_packets(out->data + from, out->size - from);
}

static void ask_about_damage(const struct tfp_session *session, struct tfp_buf *out)
{
	struct tfp_error err;
	size_t from = out->size;
	enum tfp_status status = tfp_diagnostics_json(session, out, &err);
	put_status(out, status, &err);
	if (status == TFP_OK)
		fuzz_check_json(out->data + from, out->size - from);
}

void fuzz_ask_dashboards(const struct tfp_session *session, uint64_t choice, struct tfp_buf *out)
{
	for (const struct tfp_tool *t = tfp_tool_next(NULL); t; t = tfp_tool_next(t)) {
		const struct tfp_param *params = queries[choice % COUNT(queries)];
		const struct tfp_query query = {params, COUNT(queries[0])};
		ask_tool(t, session, &query, out);
		choice /= 2;
	}
	ask_about_damage(session, out);
}

void fuzz_ask_timeline(const struct tfp_session *session, uint64_t choice, struct tfp_buf *out)
{
	ask_trace(session, choice, out);
	export_trace(session, choice / COUNT(trace_queries), out);
}
