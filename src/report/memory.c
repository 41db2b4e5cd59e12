/* SPDX-License-Identifier: Apache-2.0 */
/* The memory profile: what allocators had in use at most, and what for. */
#include "report/reports.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PARAMS_MOST  16

/* The query with further parameters; extra ends with a key that is NULL. */
static struct tfp_query with(const struct tfp_query *query, const struct tfp_param *extra,
			     struct tfp_param *room)
{
	size_t count = 0;
	for (; extra->key; extra++)
		room[count++] = *extra;
	for (size_t i = 0; i < query->count && count < PARAMS_MOST; i++)
		room[count++] = query->params[i];
	return (struct tfp_query){room, count};
}

/* The summary without the document that it stands beside. */
static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct tfp_param summary[] = {{"view", "summary"}, {NULL, NULL}};
	struct tfp_param room[PARAMS_MOST];
	struct tfp_query asked = with(query, summary, room);
	return tfp_tool_find("memory_profile")->render(session, &asked, answer, err);
}

static bool largest_peak(const struct tfp_table *t, struct tfp_text *name)
{
	size_t id = tfp_table_column(t, "memory_id"), peak = tfp_table_column(t, "peak_bytes");
	double most = 0, bytes;
	bool found = false;
	for (size_t i = 0; i < tfp_table_row_count(t); i++) {
		if (!tfp_table_number(t, i, peak, &bytes) || (found && bytes <= most))
			continue;
		most = bytes;
		found = tfp_table_text(t, i, id, name);
	}
	return found;
}

static void say_notes(struct tfp_report *r, const struct tfp_table *t)
{
	size_t id = tfp_table_column(t, "memory_id"), note = tfp_table_column(t, "note");
	for (size_t i = 0; i < tfp_table_row_count(t); i++) {
		struct tfp_text name, text;
		if (tfp_table_text(t, i, id, &name) && tfp_table_text(t, i, note, &text) &&
		    text.size)
			tfp_report_say(r, "%.*s: %.*s", (int)name.size, name.data, (int)text.size,
				       text.data);
	}
}

static enum tfp_status say_breakdown(const struct tfp_report_source *source, struct tfp_report *r,
				     struct tfp_text allocator, struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"op_name", "operation", TFP_Q_NAME, 9, false, false},
		{"total_bytes", "in use", TFP_Q_BYTES, 8, false, false},
		{"total_requested_bytes", "requested", TFP_Q_BYTES, 4, false, false},
		{"occurrences", "blocks", TFP_Q_COUNT, 6, false, false},
		{"kind", "kind", TFP_Q_TEXT, 3, true, false},
	};
	char heading[300];
	char *name = tfp_strndup(allocator.data, allocator.size);
	if (!name)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the report");
	const struct tfp_param asked[] = {
		{"view", "breakdown"}, {"group", "op"}, {"memory_id", name}, {NULL, NULL}};
	struct tfp_param room[PARAMS_MOST];
	struct tfp_query query = with(source->query, asked, room);
	enum tfp_status status = tfp_tool_render(tfp_tool_find("memory_profile"), source->session,
						 &query, source->more, err);
	snprintf(heading, sizeof(heading), "In use at the peak of %.200s, by operation", name);
	tfp_free(name);
	if (status != TFP_OK || source->more->table_count == 0 ||
	    tfp_table_row_count(&source->more->tables[0]) == 0)
		return status;
	tfp_report_heading(r, heading);
	tfp_report_table(r, &source->more->tables[0], columns, COUNT(columns), "--limit 0");
	return TFP_OK;
}

static enum tfp_status write(const struct tfp_report_source *source, struct tfp_report *r,
			     struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"memory_id", "allocator", TFP_Q_NAME, 20, false, false},
		{"peak_bytes", "peak", TFP_Q_BYTES, 19, false, false},
		{"capacity_bytes", "capacity", TFP_Q_BYTES, 17, false, false},
		{"peak_time_ps", "peak at", TFP_Q_PS, 16, false, false},
		{"lifetime_peak_bytes", "lifetime peak", TFP_Q_BYTES, 12, false, false},
		{"heap_bytes", "heap", TFP_Q_BYTES, 6, true, false},
		{"stack_bytes", "stack", TFP_Q_BYTES, 6, true, false},
		{"free_bytes", "free", TFP_Q_BYTES, 7, false, false},
		{"fragmentation", "fragmentation", TFP_Q_SHARE, 8, true, false},
		{"allocations", "allocations", TFP_Q_COUNT, 14, false, false},
		{"deallocations", "deallocations", TFP_Q_COUNT, 13, false, false},
		{"alive_at_end", "blocks kept", TFP_Q_COUNT, 10, true, false},
		{"alive_at_end_bytes", "bytes kept", TFP_Q_BYTES, 11, true, false},
		{"failed", "failed", TFP_Q_COUNT, 18, true, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	struct tfp_text allocator;
	if (tfp_table_row_count(t) == 0) {
		tfp_report_say(r,
			       "No allocator reported to the profiler. Allocations are recorded by "
			       "TensorFlow's and XLA's allocators of accelerators (and by MKL's "
			       "on CPUs), when the host is traced at level 2 or higher, which is "
			       "the default.");
		tfp_report_say(r, "A program on the CPU alone has none of them. Otherwise check "
				  "host_tracer_level in the profiler's options, and that something "
				  "was allocated during the capture: memory that is kept from step "
				  "to step is not allocated again.");
		return TFP_OK;
	}
	say_notes(r, t);
	tfp_report_table(r, t, columns, COUNT(columns), NULL);
	return largest_peak(t, &allocator) ? say_breakdown(source, r, allocator, err) : TFP_OK;
}

const struct tfp_reporter tfp_report_memory = {
	.tool = "memory_profile", .render = render, .write = write};
