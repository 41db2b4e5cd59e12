/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the summary of a host: what is read can be used and comes back the same
 * another time. */
#include "analysis/ops/input_ops.h"
#include "analysis/steps/bottleneck.h"
#include "analysis/steps/steps_combine.h"
#include "analysis/summary/op_stats_message.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <string.h>

#define ALL (TFP_SUMMARY_OPS | TFP_SUMMARY_STEPS | TFP_SUMMARY_BRIEF | TFP_SUMMARY_PROGRAMS)

static void use(const struct tfp_host_summary *s)
{
	struct tfp_op_stats merged;
	struct tfp_op_db by_op;
	struct tfp_steps combined, hosts[2] = {*s->steps, *s->steps};
	struct tfp_functions functions;
	struct tfp_step_totals totals;
	struct tfp_bottleneck bottleneck;
	struct tfp_input_times input;
	struct tfp_error err;
	MUST(tfp_utf8_valid(s->op_stats->env.hostname, strlen(s->op_stats->env.hostname)));
	MUST(tfp_utf8_valid(s->op_stats->env.device_type, strlen(s->op_stats->env.device_type)));
	struct tfp_op_texts texts;
	tfp_op_texts_init(&texts);
	MUST(tfp_op_texts_merge(&texts, s->op_texts) && tfp_op_texts_merge(&texts, s->op_texts));
	MUST(texts.count == s->op_texts->count);
	MUST(texts.program_count == s->op_texts->program_count);
	tfp_op_texts_release(&texts);
	for (size_t i = 0; i < s->brief->diagnostic_count; i++) {
		const struct tfp_diagnostic *d = &s->brief->diagnostics[i];
		MUST(d->severity <= TFP_ERROR && tfp_utf8_valid(d->message, strlen(d->message)));
		MUST(tfp_utf8_valid(d->hint, strlen(d->hint)));
	}
	tfp_op_stats_init(&merged);
	MUST(tfp_op_stats_merge(&merged, s->op_stats, 0, &err) == TFP_OK);
	MUST(tfp_op_stats_merge(&merged, s->op_stats, 1, &err) == TFP_OK);
	tfp_op_stats_end(&merged);
	tfp_op_db_init(&by_op);
	MUST(tfp_op_db_by_framework_op(&merged.device.ops, &by_op));
	tfp_input_times(&merged.host_ops, 0.5, &input);
	for (size_t i = 0; i < merged.kernels.count; i++)
		MUST(merged.kernels.kernels[i].occurrences > 0);
	tfp_op_db_release(&by_op);
	tfp_op_stats_release(&merged);
	tfp_functions_init(&functions);
	MUST(tfp_functions_merge(&functions, s->functions));
	MUST(functions.count == s->functions->count);
	tfp_functions_release(&functions);
	tfp_steps_init(&combined);
	MUST(tfp_steps_combine(hosts, 2, &combined, &err) == TFP_OK);
	for (size_t i = 0; i < combined.count; i++)
		(void)tfp_step_time_ps(&combined, i);
	tfp_step_totals(&combined, 0, &totals);
	tfp_bottleneck(&totals, true, &bottleneck);
	tfp_tpu_bottleneck(&combined, TFP_EVERY_HOST, true, &bottleneck);
	tfp_steps_release(&combined);
}

/* Apart from the rest: older messages have none. */
static void use_work(const uint8_t *data, size_t size)
{
	struct tfp_host_summary s = {0};
	struct tfp_step_works combined = {0};
	struct tfp_error err;
	if (tfp_op_stats_unpack(&s, TFP_SUMMARY_WORK, data, size, &err) == TFP_OK) {
		const struct tfp_step_works hosts[2] = {*s.step_works, *s.step_works};
		MUST(tfp_step_works_combine(hosts, 2, &combined, &err) == TFP_OK);
		MUST(combined.count <= s.step_works->count);
	}
	tfp_step_works_release(&combined);
	tfp_host_summary_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_host_summary first = {0}, again = {0};
	struct tfp_buf bytes, other;
	struct tfp_error err;
	enum tfp_status status = tfp_op_stats_unpack(&first, ALL, data, size, &err);
	MUST(status == TFP_OK || status == TFP_BAD_INPUT || status == TFP_NO_MEMORY);
	if (status == TFP_OK) {
		use(&first);
		tfp_buf_init(&bytes, SIZE_MAX / 2);
		tfp_buf_init(&other, SIZE_MAX / 2);
		MUST(tfp_op_stats_pack(&first, ALL, &bytes, &err) == TFP_OK);
		MUST(tfp_op_stats_unpack(&again, ALL, bytes.data, bytes.size, &err) == TFP_OK);
		MUST(tfp_op_stats_pack(&again, ALL, &other, &err) == TFP_OK);
		MUST(bytes.size == other.size && memcmp(bytes.data, other.data, bytes.size) == 0);
		tfp_buf_release(&bytes);
		tfp_buf_release(&other);
	}
	tfp_host_summary_release(&again);
	tfp_host_summary_release(&first);
	use_work(data, size);
	return 0;
}
