#include "analysis/host_summary.h"

#include "base/alloc.h"

enum tfp_status tfp_host_summary_get(struct tfp_host_summary *summary, struct tfp_capture *capture,
				     unsigned parts, struct tfp_pool *pool, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (!summary->capture)
		summary->capture = tfp_capture_ref(capture);
	if (parts & TFP_SUMMARY_OPS)
		status = tfp_op_stats_get(capture, pool, &summary->op_stats, err);
	if (status == TFP_OK && (parts & TFP_SUMMARY_ANY_STEPS)) {
		status = parts & TFP_SUMMARY_STEPS
				 ? tfp_steps_get(capture, pool, &summary->steps, err)
				 : tfp_steps_get_by_module(capture, pool, &summary->steps, err);
		if (status == TFP_OK)
			status = tfp_functions_get(capture, pool, &summary->functions, err);
		if (status == TFP_OK)
			status = tfp_utilization_get(capture, pool, &summary->utilization, err);
		if (status == TFP_OK)
			status = tfp_requests_get(capture, pool, &summary->requests, err);
	}
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
		tfp_steps_release(&m->steps);
		tfp_functions_release(&m->functions);
		tfp_free(m->requests.list);
		tfp_arena_release(&m->texts);
		tfp_free(m);
	}
	tfp_capture_unref(summary->capture);
	*summary = (struct tfp_host_summary){0};
}
