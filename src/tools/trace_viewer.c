/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XProf's trace viewers, for clients that ask as they ask XProf: the page
 * of this program reads /trace_viewer/tiles and its like instead.
 */
#include "tools/tool.h"
#include "trace/trace_chrome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* XProf's page asks for so many slots when it does not know its width. */
#define RESOLUTION 8000

static enum tfp_status into_buffer(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	struct tfp_buf *buf = context;
	bool fits = size <= buf->ceiling - buf->size;
	tfp_buf_add(buf, bytes, size);
	if (!tfp_buf_failed(buf))
		return TFP_OK;
	if (fits)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	tfp_fail(err, TFP_TOO_LARGE, "the trace is larger than an answer may be");
	tfp_error_set_hint(err, "ask for a window (start_time_ms, end_time_ms), or for "
				"/trace_viewer/export, which has no limit");
	return TFP_TOO_LARGE;
}

static const char *given(const struct tfp_query *query, const char *key)
{
	const char *value = tfp_query_get(query, key);
	return value && value[0] ? value : NULL;
}

static enum tfp_status get_number(const struct tfp_query *query, const char *key, double fallback,
				  double *value, struct tfp_error *err)
{
	const char *text = given(query, key);
	char *end;
	*value = fallback;
	if (!text)
		return TFP_OK;
	*value = strtod(text, &end);
	if (end == text || *end || !isfinite(*value))
		return tfp_fail(err, TFP_BAD_QUERY, "%s must be a number, not \"%.100s\"", key,
				text);
	return TFP_OK;
}

/* Saturates. */
static int64_t ps_of_ms(double ms)
{
	double ps = round(ms * 1e9);
	if (ps >= 9.2e18)
		return INT64_MAX;
	return ps <= -9.2e18 ? INT64_MIN : (int64_t)ps;
}

static bool is_true(const struct tfp_query *query, const char *key)
{
	const char *value = given(query, key);
	return value && (strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

struct request {
	struct tfp_chrome_options options;
	struct tfp_chrome_event_key key;
	struct tfp_trace_selection selection;
	struct tfp_trace_filter *filter; /* owned */
};

static enum tfp_status read_window(struct request *r, const struct tfp_query *query,
				   struct tfp_error *err)
{
	double from_ms, to_ms;
	enum tfp_status status = get_number(query, "start_time_ms", 0, &from_ms, err);
	if (status == TFP_OK)
		status = get_number(query, "end_time_ms", 0, &to_ms, err);
	if (status != TFP_OK)
		return status;
	r->selection.has_window = from_ms != 0 || to_ms != 0;
	r->selection.from_ps = from_ms != 0 ? ps_of_ms(from_ms) : INT64_MIN;
	r->selection.to_ps = to_ms != 0 ? ps_of_ms(to_ms) : INT64_MAX;
	return TFP_OK;
}

/* One event, whose arguments XProf's page did not have yet. */
static enum tfp_status read_event(struct request *r, const struct tfp_query *query,
				  struct tfp_error *err)
{
	double start_ms, duration_ms;
	enum tfp_status status = get_number(query, "start_time_ms", 0, &start_ms, err);
	if (status == TFP_OK)
		status = get_number(query, "duration_ms", 0, &duration_ms, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "unique_id", 0, &r->key.serial, err);
	if (status != TFP_OK)
		return status;
	r->key.name = given(query, "event_name");
	r->key.start_ps = ps_of_ms(start_ms);
	r->key.duration_ps = ps_of_ms(duration_ms);
	r->options.only = &r->key;
	return TFP_OK;
}

static enum tfp_status read_streaming(struct request *r, const struct tfp_query *query,
				      struct tfp_error *err)
{
	double resolution;
	enum tfp_status status = get_number(query, "resolution", RESOLUTION, &resolution, err);
	const char *args = given(query, "args");
	if (status != TFP_OK)
		return status;
	if (resolution < 0 || resolution > 1e15)
		return tfp_fail(err, TFP_BAD_QUERY, "resolution must be a number from 0 on");
	r->options.all_args = args && strcmp(args, "all") == 0;
	r->options.dialect = TFP_CHROME_STREAMING;
	r->options.resolution = (uint64_t)resolution;
	r->options.full_dma = is_true(query, "full_dma");
	if (given(query, "event_name"))
		return read_event(r, query, err);
	r->options.prefix = given(query, "search_prefix");
	return r->options.prefix ? TFP_OK : read_window(r, query, err);
}

/* What both viewers are asked. */
static enum tfp_status read_common(struct request *r, const struct tfp_query *query,
				   struct tfp_error *err)
{
	enum tfp_status status =
		tfp_trace_filter_new(&r->filter, given(query, "selected_group_ids"),
				     given(query, "trace_filter_config"), err);
	r->options.filter = r->filter;
	return status;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct request r = {.options = {.dialect = TFP_CHROME_PLAIN}};
	const struct tfp_sink sink = {into_buffer, &answer->json};
	const char *tag = given(query, "tag");
	enum tfp_status status = read_common(&r, query, err);
	if (!tag)
		tag = given(query, "tool");
	if (status == TFP_OK && tag && strchr(tag, '@'))
		status = read_streaming(&r, query, err);
	if (status == TFP_OK)
		status = tfp_chrome_write(session, &r.options, &r.selection, &sink, err);
	tfp_trace_filter_free(r.filter);
	return status;
}

const struct tfp_tool tfp_trace_viewer = {
	.name = "trace_viewer",
	.aliases = {"trace_viewer@"},
	.title = "Trace viewer",
	.summary = "Every event of every thread and stream on a timeline.",
	.place = 40,
	.key = 'v',
	.filter = "Find events in the whole trace",
	.shows_steps = true,
	.scope = TFP_HOSTS_BOTH,
	.peer_scope = TFP_HOSTS_ONE,
	.takes_hosts = true,
	.peer_name = "trace_viewer@",
	.parameters =
		{
			TFP_TAKES(NUMBER, "resolution", "8000",
				  "The number of slots of the drawing. Events shorter than a "
				  "slot may be left out; 0 for all events."),
			TFP_TAKES(NUMBER, "start_time_ms", "0",
				  "The start of the window, or of the one event."),
			TFP_TAKES(NUMBER, "end_time_ms", NULL, "The end of the window."),
			TFP_TAKES(TEXT, "search_prefix", NULL,
				  "Only events whose name begins with this, at any time."),
			TFP_TAKES(BOOLEAN, "full_dma", "false",
				  "Also show the copies that are hidden by default."),
			TFP_TAKES(TEXT, "event_name", NULL,
				  "Only the event with this name, with all its arguments."),
			TFP_TAKES(NUMBER, "duration_ms", "0", "The duration of the one event."),
			TFP_TAKES(COUNT, "unique_id", "0", "The uid of the one event."),
			TFP_TAKES_ONE_OF(
				"args", "uid",
				"The arguments of each event: all, or an id to ask for them "
				"later.",
				"uid", "all"),
			TFP_TAKES(TEXT, "selected_group_ids", NULL,
				  "Only events of these groups, such as 3,4."),
			TFP_TAKES(TEXT, "trace_filter_config", NULL,
				  "The filter of XProf's page, in JSON: which events to leave "
				  "out."),
			TFP_TAKES_ONE_OF("format", "json",
					 "The format of the answer. /trace_viewer/export has more "
					 "formats.",
					 "json"),
		},
	.render = render,
};
