/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod viewer: every step of every host beside the others
 * (docs/tools/pod_viewer.md). The answer is a document in protobuf's JSON form.
 */
#include "base/json_writer.h"
#include "tools/step_table.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of equally long categories the last by the alphabet, as the peers have it. */
static enum tfp_step_category longest(const uint64_t category_ps[TFP_STEP_CATEGORY_COUNT])
{
	unsigned found = 0;
	for (unsigned c = 1; c < TFP_STEP_CATEGORY_COUNT; c++) {
		if (category_ps[c] > category_ps[found] ||
		    (category_ps[c] == category_ps[found] &&
		     strcmp(tfp_step_category_name((enum tfp_step_category)c),
			    tfp_step_category_name((enum tfp_step_category)found)) > 0))
			found = c;
	}
	return (enum tfp_step_category)found;
}

static void put_core(struct tfp_json *j, const struct tfp_run_summary *run,
		     const struct tfp_step *step, const struct tfp_core_step *core)
{
	const char *host = run->hostnames[core->host];
	uint64_t category_ps[TFP_STEP_CATEGORY_COUNT];
	char number[24];
	tfp_step_categories(core, category_ps);
	snprintf(number, sizeof(number), "%" PRIu64, tfp_step_core_id(core));
	tfp_json_begin_object_of(j, number);
	tfp_json_set_string(j, "hostName", host ? host : "");
	tfp_json_set_integer(j, "chipId", 0);
	tfp_json_set_integer(j, "nodeId", 0);
	tfp_json_set_integer(j, "stepNum", step->number);
	tfp_json_key(j, "totalDurationUs");
	tfp_json_add_double(j, (double)core->duration_ps / 1e6);
	tfp_json_begin_object_of(j, "stepBreakdownUs");
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++) {
		snprintf(number, sizeof(number), "%u", c + 1);
		tfp_json_key(j, number);
		tfp_json_add_double(j, (double)category_ps[c] / 1e6);
	}
	tfp_json_end_object(j);
	tfp_json_set_string(j, "bottleneck", tfp_step_category_name(longest(category_ps)));
	tfp_json_end_object(j);
}

/* The peers have these fields, and leave them empty. */
static void put_empty_fields(struct tfp_json *j)
{
	tfp_json_begin_array_of(j, "channelDb");
	tfp_json_end_array(j);
	tfp_json_begin_object_of(j, "coreIdToReplicaIdMap");
	tfp_json_end_object(j);
	tfp_json_begin_array_of(j, "allReduceOpDb");
	tfp_json_end_array(j);
}

static void put_steps(struct tfp_json *j, const struct tfp_run_summary *run)
{
	const struct tfp_steps *steps = &run->steps;
	tfp_json_begin_object_of(j, "podStatsSequence");
	tfp_json_begin_array_of(j, "podStatsMap");
	for (size_t s = 0; s < steps->count; s++) {
		const struct tfp_step *step = &steps->steps[s];
		tfp_json_begin_object(j);
		tfp_json_set_integer(j, "stepNum", step->number);
		tfp_json_begin_object_of(j, "podStatsPerCore");
		for (size_t c = 0; c < step->core_count; c++)
			put_core(j, run, step, tfp_step_core(steps, s, c));
		tfp_json_end_object(j);
		put_empty_fields(j);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
	tfp_json_end_object(j);
}

static void put_diagnostics(struct tfp_json *j, const char *warning)
{
	tfp_json_begin_object_of(j, "diagnostics");
	tfp_json_begin_array_of(j, "info");
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "warnings");
	if (warning)
		tfp_json_add_string(j, warning);
	tfp_json_end_array(j);
	tfp_json_begin_array_of(j, "errors");
	tfp_json_end_array(j);
	tfp_json_end_object(j);
}

static void put_document(struct tfp_json *j, const struct tfp_run_summary *run)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "deviceType", run->stats.env.device_type);
	put_steps(j, run);
	/* Ours; readers of protobuf messages ignore fields that they do not know. */
	tfp_json_begin_array_of(j, "hosts");
	for (size_t h = 0; h < run->step_hosts.session->host_count; h++)
		tfp_json_add_string(j, tfp_step_host_name(&run->step_hosts, (uint32_t)h));
	tfp_json_end_array(j);
	if (run->steps.count == 0)
		tfp_json_set_boolean(j, "noSteps", true);
	if (run->steps.module_steps)
		tfp_json_set_integer(j, "moduleSteps", run->steps.module_steps);
	if (run->steps.module.size) {
		tfp_json_set_string(j, "stepSource", "module");
		tfp_json_set_text(j, "stepModule", run->steps.module.data, run->steps.module.size);
	}
	put_diagnostics(j, tfp_step_diagnostic(&run->steps));
	tfp_json_begin_array_of(j, "stepBreakdownEvents");
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++) {
		tfp_json_begin_object(j);
		tfp_json_set_integer(j, "id", c + 1);
		tfp_json_set_string(j, "name", tfp_step_category_name((enum tfp_step_category)c));
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
	tfp_json_end_object(j);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_run_summary run;
	enum tfp_status status = tfp_run_summary(session, query, &run, err);
	if (status == TFP_OK) {
		struct tfp_json j;
		tfp_json_init(&j, &answer->json);
		put_document(&j, &run);
		status = tfp_json_finish(&j, err);
	}
	tfp_run_summary_release(&run);
	return status;
}

const struct tfp_tool tfp_pod_viewer = {
	.name = "pod_viewer",
	.title = "Pod viewer",
	.summary = "Every step of every host, side by side.",
	.place = 70,
	.key = 'p',
	.filter = "Filter hosts",
	.shows_steps = true,
	.scope = TFP_HOSTS_BOTH,
	.peer_scope = TFP_HOSTS_ALL,
	.parameters =
		{
			TFP_TAKES_ONE_OF(
				"step_source", "marked",
				"Which steps count: those that the program marked or, if it "
				"marked none, the executions of its module.",
				"marked", "module"),
		},
	.render = render,
};
