/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summaries of a session's hosts, merged, for the dashboards about steps (op_stats.md 5).
 */
#ifndef TFP_TOOLS_RUN_SUMMARY_H
#define TFP_TOOLS_RUN_SUMMARY_H

#include "analysis/ops/input_ops.h"
#include "analysis/ops/tf_functions.h"
#include "analysis/steps/bottleneck.h"
#include "analysis/steps/requests.h"
#include "analysis/steps/steps.h"
#include "analysis/summary/op_stats.h"
#include "analysis/summary/utilization.h"
#include "session/session.h"
#include "tools/step_hosts.h"
#include "tools/tool.h"

struct tfp_run_summary {
	struct tfp_op_stats stats;
	struct tfp_steps steps;
	struct tfp_functions functions;
	struct tfp_requests requests;       /* of all hosts */
	struct tfp_utilization utilization; /* percentages: averages over hosts */
	struct tfp_input_times input;
	struct tfp_step_totals totals;    /* of the first host, as XProf's */
	struct tfp_step_hosts step_hosts; /* whose steps are shown, and what the others say */
	struct tfp_bottleneck bottleneck; /* of the hosts that are shown */
	uint32_t captures;                /* read */
	uint32_t host_count;              /* different hostnames inside them */
	/* By place in the session's hosts: as the profiler wrote it. */
	const char **hostnames;
	/* Texts of the profiler, each once, sorted. */
	const char **errors, **warnings;
	size_t error_count, warning_count;
	struct tfp_arena arena;
};

/* Reads step_source: whether executions of a module are the steps. TFP_BAD_QUERY for what it cannot
 * be. */
enum tfp_status tfp_steps_by_module(const struct tfp_query *query, bool *by_module,
				    struct tfp_error *err) TFP_CHECK;

/* query: step_source=module takes executions of an XLA module for steps; without it, or as
 * `marked`, steps are what was marked as such; steps_of chooses whose steps are shown
 * (step_hosts.h). TFP_BAD_QUERY for anything else. out is released by the caller in any
 * case, and must not outlive the session. Files that cannot be read are left out
 * unless no other is left, as tfp_session_summaries does. */
enum tfp_status tfp_run_summary(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_run_summary *out, struct tfp_error *err) TFP_CHECK;
void tfp_run_summary_release(struct tfp_run_summary *summary);

#endif
