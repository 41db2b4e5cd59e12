/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory profile: what each allocator had in use over time, and what for
 * (docs/tools/memory_profile.md). The answer is XProf's document (memory_document.h); view= asks
 * for one of our tables (memory_views.h) in its place.
 */
#include "session/run_clock.h"
#include "session/summary.h"
#include "tools/memory_document.h"
#include "tools/memory_views.h"
#include "tools/tool.h"

#include <string.h>

enum view { VIEW_DOCUMENT, VIEW_SUMMARY, VIEW_TIMELINE, VIEW_BREAKDOWN, VIEW_STEPS, VIEW_COUNT };

struct request {
	const struct tfp_query *query;
	struct tfp_answer *answer;
	__int128 shift_ps; /* makes times of the capture the run's */
};

/* The allocator that the query names; without a name NULL for the document, the first for
 * a view. */
static enum tfp_status choose(const struct tfp_memory *memory, const struct tfp_query *query,
			      enum view view, const struct tfp_allocator **chosen,
			      struct tfp_error *err)
{
	const char *id = tfp_query_get(query, "memory_id");
	*chosen = view != VIEW_DOCUMENT && memory->allocator_count ? &memory->allocators[0] : NULL;
	if (!id)
		return TFP_OK;
	for (size_t i = 0; i < memory->allocator_count; i++) {
		if (tfp_str_equal(memory->allocators[i].id, id)) {
			*chosen = &memory->allocators[i];
			return TFP_OK;
		}
	}
	tfp_fail(err, TFP_NOT_FOUND, "there is no allocator \"%.100s\"", id);
	tfp_error_set_hint(err, "memoryIds of the answer without memory_id= lists them");
	return TFP_NOT_FOUND;
}

/* Its times are as XProf has them. */
static enum tfp_status put_peers_document(const struct request *r, struct tfp_capture *capture,
					  struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_allocator *a;
	const struct tfp_memory *memory;
	enum tfp_status status = tfp_memory_get(capture, pool, &memory, err);
	if (status == TFP_OK)
		status = choose(memory, r->query, VIEW_DOCUMENT, &a, err);
	return status == TFP_OK ? tfp_memory_document(capture, memory, a, &r->answer->json, err)
				: status;
}

static enum tfp_status render_capture(void *context, struct tfp_capture *capture, const char *host,
				      struct tfp_pool *pool, struct tfp_error *err)
{
	static const char *const views[] = {"document", "summary", "timeline", "breakdown",
					    "steps"};
	const struct request *r = context;
	struct tfp_answer *answer = r->answer;
	const struct tfp_allocator *a;
	const struct tfp_memory *memory;
	size_t view;
	(void)host;
	enum tfp_status status =
		tfp_query_get_word(r->query, "view", views, VIEW_COUNT, &view, err);
	if (status == TFP_OK)
		status = tfp_memory_on_clock_get(capture, pool, &memory, err);
	if (status == TFP_OK)
		status = choose(memory, r->query, (enum view)view, &a, err);
	if (status != TFP_OK)
		return status;
	struct tfp_table *t = &answer->tables[answer->table_count++];
	const struct tfp_memory_clock clock = {r->shift_ps + memory->origin_ps};
	answer->bare = true;
	switch ((enum view)view) {
	case VIEW_TIMELINE:
		status = tfp_memory_timeline_table(t, memory, a, clock, r->query, err);
		break;
	case VIEW_BREAKDOWN:
		status = tfp_memory_breakdown_table(t, memory, a, clock, r->query, err);
		break;
	case VIEW_STEPS:
		status = tfp_memory_steps_table(t, capture, r->shift_ps, pool, err);
		break;
	default:
		status = tfp_memory_summary_table(t, capture, memory, clock, err);
		break;
	}
	if (status == TFP_OK && view == VIEW_DOCUMENT)
		status = put_peers_document(r, capture, pool, err);
	if (status == TFP_OK && tfp_table_failed(t))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the table");
	return status;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct request r = {query, answer, 0};
	enum tfp_status status = TFP_OK;
	if (session->host_count)
		status = tfp_run_shift(session, session->hosts[0].host, &r.shift_ps, err);
	return status != TFP_OK ? status : tfp_session_each(session, render_capture, &r, err);
}

const struct tfp_tool tfp_memory_profile = {
	.name = "memory_profile",
	.title = "Memory profile",
	.summary = "What each allocator had in use over time, and what for.",
	.place = 60,
	.key = 'm',
	.filter = "Filter ops, regions, types and shapes",
	.scope = TFP_HOSTS_ONE,
	.needs = TFP_NEEDS_HOST,
	.without = "No host was recorded in this run, and allocators report on hosts.",
	.parameters =
		{
			TFP_TAKES(TEXT, "memory_id", NULL,
				  "One allocator. Default: all in the document, the first in a "
				  "view."),
			TFP_TAKES_ONE_OF("view", "document",
					 "XProf's document, or one table instead of it.",
					 "document", "summary", "timeline", "breakdown", "steps"),
			TFP_TAKES(COUNT, "points", "4000",
				  "Timeline: how many moments it keeps; 0 for all."),
			TFP_TAKES(INTEGER, "from_ps", NULL, "Timeline: its start."),
			TFP_TAKES(INTEGER, "to_ps", NULL, "Timeline: its end."),
			TFP_TAKES(INTEGER, "at_ps", NULL,
				  "Breakdown: the moment. Default: the moment of the peak."),
			TFP_TAKES_ONE_OF("alive", NULL,
					 "Breakdown: only blocks that were still in use when the "
					 "capture ended.",
					 "end"),
			TFP_TAKES_ONE_OF(
				"scope", "step",
				"Breakdown: the blocks of the moment's step, or all blocks "
				"in use.",
				"step", "all"),
			TFP_TAKES_ONE_OF("group", "allocation", "Breakdown: what a row stands for.",
					 "allocation", "op", "region", "shape", "data_type"),
			TFP_TAKES(COUNT, "limit", "10000",
				  "Breakdown: how many rows it keeps; 0 for all."),
		},
	.render = render,
};
