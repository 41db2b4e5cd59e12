/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/summary/host_summary.h"

#include "analysis/grouping/capture_groups.h"
#include "analysis/steps/capture_steps.h"
#include "base/alloc.h"

/* The facts that steps are shown with. Steps come first because they take longest. */
enum { STEPS, FUNCTIONS, UTILIZATION, REQUESTS, STEP_FACTS };

struct step_facts {
	struct tfp_host_summary *summary;
	struct tfp_capture *capture;
	bool by_module;
	struct tfp_pool *pool;
	enum tfp_status status[STEP_FACTS];
	struct tfp_error errors[STEP_FACTS];
};

static void get_step_fact(void *context, size_t which)
{
	struct step_facts *f = context;
	struct tfp_host_summary *s = f->summary;
	struct tfp_error *err = &f->errors[which];
	enum tfp_status *status = &f->status[which];
	switch (which) {
	case STEPS:
		*status = f->by_module
				  ? tfp_steps_get_by_module(f->capture, f->pool, &s->steps, err)
				  : tfp_steps_get(f->capture, f->pool, &s->steps, err);
		break;
	case FUNCTIONS:
		*status = tfp_functions_get(f->capture, f->pool, &s->functions, err);
		break;
	case UTILIZATION:
		*status = tfp_utilization_get(f->capture, f->pool, &s->utilization, err);
		break;
	default:
		*status = tfp_requests_get(f->capture, f->pool, &s->requests, err);
	}
}

static enum tfp_status get_step_facts(struct tfp_host_summary *summary, struct tfp_capture *capture,
				      bool by_module, struct tfp_pool *pool, struct tfp_error *err)
{
	struct step_facts f = {
		.summary = summary, .capture = capture, .by_module = by_module, .pool = pool};
	const struct tfp_groups *groups;
	/* Several facts need these. They are made first, so that no thread waits for another that
	 * makes them. */
	enum tfp_status status = by_module ? TFP_OK : tfp_groups_get(capture, pool, &groups, err);
	if (status != TFP_OK)
		return status;
	tfp_pool_for(pool, STEP_FACTS, get_step_fact, &f);
	for (size_t i = 0; i < STEP_FACTS; i++) {
		if (f.status[i] == TFP_OK)
			continue;
		if (err)
			*err = f.errors[i];
		return f.status[i];
	}
	return TFP_OK;
}

enum tfp_status tfp_host_summary_get(struct tfp_host_summary *summary, struct tfp_capture *capture,
				     unsigned parts, struct tfp_pool *pool, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (!summary->capture)
		summary->capture = tfp_capture_ref(capture);
	if (parts & TFP_SUMMARY_OPS)
		status = tfp_op_stats_get(capture, pool, &summary->op_stats, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_ANY_STEPS))
		status = get_step_facts(summary, capture, !(parts & TFP_SUMMARY_STEPS), pool, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_PROGRAMS))
		status = tfp_op_texts_get(capture, pool, &summary->op_texts, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_ANY_WORK))
		status = tfp_step_works_get(capture, !(parts & TFP_SUMMARY_WORK), pool,
					    &summary->step_works, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_BRIEF))
		status = tfp_capture_brief_get(capture, pool, &summary->brief, err);
	if (parts & (TFP_SUMMARY_ANY_STEPS | TFP_SUMMARY_BRIEF)) {
		summary->errors = capture->errors;
		summary->error_count = capture->error_count;
		summary->warnings = capture->warnings;
		summary->warning_count = capture->warning_count;
	}
	return status;
}

bool tfp_host_summary_own(struct tfp_host_summary *summary)
{
	if (summary->memory)
		return true;
	struct tfp_host_summary_memory *m = tfp_calloc(1, sizeof(*m));
	if (!m)
		return false;
	tfp_op_stats_init(&m->op_stats);
	tfp_op_texts_init(&m->op_texts);
	tfp_steps_init(&m->steps);
	tfp_functions_init(&m->functions);
	tfp_arena_init(&m->texts, SIZE_MAX);
	summary->memory = m;
	return true;
}

void tfp_host_summary_release(struct tfp_host_summary *summary)
{
	struct tfp_host_summary_memory *m = summary->memory;
	if (m) {
		tfp_op_stats_release(&m->op_stats);
		tfp_op_texts_release(&m->op_texts);
		tfp_steps_release(&m->steps);
		tfp_step_works_release(&m->step_works);
		tfp_functions_release(&m->functions);
		tfp_free(m->requests.list);
		tfp_arena_release(&m->texts);
		tfp_free(m);
	}
	tfp_capture_unref(summary->capture);
	*summary = (struct tfp_host_summary){0};
}
