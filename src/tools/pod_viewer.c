/*
 * Pod viewer: every step of every host beside the others
 * (docs/tools/pod_viewer.md). The answer is a document in protobuf's JSON form.
 */
#include "tools/step_table.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <string.h>

extern const struct tfp_tool tfp_pod_viewer;

static void put_str(struct tfp_buf *out, struct tfp_str text)
{
	tfp_json_text(out, text.data, text.size);
}

static void put_text(struct tfp_buf *out, const char *text)
{
	put_str(out, (struct tfp_str){text, strlen(text)});
}

/* A double as protobuf prints it: whole numbers without a point. */
static void put_us(struct tfp_buf *out, uint64_t ps)
{
	if (ps % 1000000 == 0)
		tfp_buf_printf(out, "%" PRIu64, ps / 1000000);
	else
		tfp_json_number(out, (double)ps / 1e6);
}

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

static void put_core(struct tfp_buf *out, const struct tfp_run_summary *run,
		     const struct tfp_step *step, const struct tfp_core_step *core)
{
	const char *host = run->hostnames[core->host];
	uint64_t category_ps[TFP_STEP_CATEGORY_COUNT];
	tfp_step_categories(core, category_ps);
	tfp_buf_printf(out, "\"%" PRIu64 "\":{\"hostName\":", tfp_step_core_id(core));
	put_text(out, host ? host : "");
	tfp_buf_printf(out, ",\"chipId\":0,\"nodeId\":0,\"stepNum\":%" PRIu32, step->number);
	tfp_buf_puts(out, ",\"totalDurationUs\":");
	put_us(out, (uint64_t)core->duration_ps);
	tfp_buf_puts(out, ",\"stepBreakdownUs\":{");
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++) {
		tfp_buf_printf(out, "%s\"%u\":", c ? "," : "", c + 1);
		put_us(out, category_ps[c]);
	}
	tfp_buf_puts(out, "},\"bottleneck\":");
	put_text(out, tfp_step_category_name(longest(category_ps)));
	tfp_buf_putc(out, '}');
}

static void put_steps(struct tfp_buf *out, const struct tfp_run_summary *run)
{
	const struct tfp_steps *steps = &run->steps;
	tfp_buf_puts(out, "\"podStatsSequence\":{\"podStatsMap\":[");
	for (size_t s = 0; s < steps->count; s++) {
		const struct tfp_step *step = &steps->steps[s];
		tfp_buf_printf(out, "%s{\"stepNum\":%" PRIu32 ",\"podStatsPerCore\":{",
			       s ? "," : "", step->number);
		for (size_t c = 0; c < step->core_count; c++) {
			if (c)
				tfp_buf_putc(out, ',');
			put_core(out, run, step, tfp_step_core(steps, s, c));
		}
		tfp_buf_puts(out, "},\"channelDb\":[],\"coreIdToReplicaIdMap\":{},"
				  "\"allReduceOpDb\":[]}");
	}
	tfp_buf_puts(out, "]}");
}

static void put_document(struct tfp_buf *out, const struct tfp_run_summary *run)
{
	const char *warning = tfp_step_diagnostic(&run->steps);
	tfp_buf_puts(out, "{\"deviceType\":");
	put_text(out, run->stats.env.device_type);
	tfp_buf_putc(out, ',');
	put_steps(out, run);
	/* Ours; readers of protobuf messages ignore fields that they do not know. */
	tfp_buf_puts(out, ",\"hosts\":[");
	for (size_t h = 0; h < run->step_hosts.session->host_count; h++) {
		if (h)
			tfp_buf_putc(out, ',');
		put_text(out, tfp_step_host_name(&run->step_hosts, (uint32_t)h));
	}
	tfp_buf_putc(out, ']');
	if (run->steps.count == 0)
		tfp_buf_puts(out, ",\"noSteps\":true");
	if (run->steps.module_steps)
		tfp_buf_printf(out, ",\"moduleSteps\":%" PRIu32, run->steps.module_steps);
	if (run->steps.module.size) {
		tfp_buf_puts(out, ",\"stepSource\":\"module\",\"stepModule\":");
		put_str(out, run->steps.module);
	}
	tfp_buf_puts(out, ",\"diagnostics\":{\"info\":[],\"warnings\":[");
	if (warning)
		put_text(out, warning);
	tfp_buf_puts(out, "],\"errors\":[]},\"stepBreakdownEvents\":[");
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++) {
		tfp_buf_printf(out, "%s{\"id\":%u,\"name\":", c ? "," : "", c + 1);
		put_text(out, tfp_step_category_name((enum tfp_step_category)c));
		tfp_buf_putc(out, '}');
	}
	tfp_buf_puts(out, "]}");
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_run_summary run;
	enum tfp_status status = tfp_run_summary(session, query, &run, err);
	if (status == TFP_OK) {
		put_document(&answer->json, &run);
		if (tfp_buf_failed(&answer->json))
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps of hosts");
	}
	tfp_run_summary_release(&run);
	return status;
}

const struct tfp_tool tfp_pod_viewer = {
	.name = "pod_viewer",
	.title = "Pod viewer",
	.summary = "Every step of every host, side by side.",
	.scope = TFP_HOSTS_BOTH,
	.peer_scope = TFP_HOSTS_ALL,
	.render = render,
};
