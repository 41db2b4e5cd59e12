/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_summary.h"

#include "analysis/steps/steps_combine.h"
#include "base/alloc.h"
#include "session/given_peaks.h"
#include "session/summary.h"

#include <stdlib.h>
#include <string.h>

void tfp_run_summary_release(struct tfp_run_summary *summary)
{
	tfp_op_stats_release(&summary->stats);
	tfp_steps_release(&summary->steps);
	tfp_functions_release(&summary->functions);
	tfp_step_hosts_release(&summary->step_hosts);
	tfp_free(summary->requests.list);
	tfp_free(summary->hostnames);
	tfp_free(summary->errors);
	tfp_free(summary->warnings);
	tfp_arena_release(&summary->arena);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool add_texts(struct tfp_run_summary *s, const char ***list, size_t *count,
		      const struct tfp_str *texts, size_t text_count)
{
	for (size_t i = 0; i < text_count; i++) {
		const char *text = tfp_arena_strndup(&s->arena, texts[i].data, texts[i].size);
		size_t known = 0;
		if (!text)
			return false;
		while (known < *count && strcmp((*list)[known], text) != 0)
			known++;
		if (known < *count)
			continue;
		const char **more = tfp_reallocarray(*list, *count + 1, sizeof(*more));
		if (!more)
			return false;
		*list = more;
		more[(*count)++] = text;
	}
	return true;
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory to combine hosts");
}

enum tfp_status tfp_steps_by_module(const struct tfp_query *query, bool *by_module,
				    struct tfp_error *err)
{
	const char *source = tfp_query_get(query, "step_source");
	*by_module = source && strcmp(source, "module") == 0;
	if (*by_module || !source || !source[0] || strcmp(source, "marked") == 0)
		return TFP_OK;
	tfp_fail(err, TFP_BAD_QUERY, "there is no step_source \"%s\"", source);
	tfp_error_set_hint(err, "it is \"marked\" or \"module\"");
	return TFP_BAD_QUERY;
}

static bool add_requests(struct tfp_requests *to, const struct tfp_requests *from)
{
	struct tfp_request *list =
		tfp_reallocarray(to->list, to->count + from->count + 1, sizeof(*list));
	if (!list)
		return false;
	if (from->count)
		memcpy(list + to->count, from->list, from->count * sizeof(*list));
	to->list = list;
	to->count += from->count;
	return true;
}

struct hosts {
	struct tfp_run_summary *out;
	struct tfp_steps *steps; /* by place; absent where a host could not be read */
};

static enum tfp_status add_host(void *context, size_t place, const struct tfp_host_summary *host,
				struct tfp_error *err)
{
	struct hosts *hosts = context;
	struct tfp_run_summary *s = hosts->out;
	struct tfp_steps *steps = &hosts->steps[place];
	if (!host)
		return TFP_OK;
	const struct tfp_utilization *utilization = host->utilization;
	const char *name = host->op_stats->env.hostname;
	enum tfp_status status =
		tfp_op_stats_merge(&s->stats, host->op_stats, (uint32_t)place, err);
	if (status != TFP_OK)
		return status;
	s->utilization.busy_ps += utilization->busy_ps;
	s->utilization.idle_ps += utilization->idle_ps;
	s->utilization.devices_active += utilization->devices_active;
	s->utilization.matrix_unit_percent += utilization->matrix_unit_percent;
	s->utilization.hbm_percent += utilization->hbm_percent;
	s->utilization.enqueue_ps += utilization->enqueue_ps;
	s->utilization.enqueue_window_ps += utilization->enqueue_window_ps;
	const char *hostname = tfp_arena_strndup(&s->arena, name, strlen(name));
	if (!hostname || !add_requests(&s->requests, host->requests) ||
	    !tfp_functions_merge(&s->functions, host->functions) ||
	    !tfp_steps_copy(steps, host->steps) ||
	    !add_texts(s, &s->errors, &s->error_count, host->errors, host->error_count) ||
	    !add_texts(s, &s->warnings, &s->warning_count, host->warnings, host->warning_count))
		return no_memory(err);
	steps->absent = false;
	s->hostnames[place] = hostname;
	s->captures++;
	return TFP_OK;
}

static uint32_t different_names(const char *const *names, size_t count)
{
	uint32_t n = 0;
	for (size_t i = 0; i < count; i++) {
		size_t j = 0;
		while (j < i && !(names[j] && names[i] && strcmp(names[i], names[j]) == 0))
			j++;
		n += names[i] && j == i;
	}
	return n;
}

static void conclude_on_steps(struct tfp_run_summary *s)
{
	uint32_t shown = s->step_hosts.shown;
	bool uses_tf_data = tfp_uses_tf_data(&s->input);
	struct tfp_step_totals totals = s->totals;
	if (s->stats.env.hardware == TFP_HW_TPU) {
		tfp_tpu_bottleneck(&s->steps, shown, uses_tf_data, &s->bottleneck);
		return;
	}
	if (shown != 0)
		tfp_step_totals(&s->steps, shown, &totals);
	tfp_bottleneck(&totals, uses_tf_data, &s->bottleneck);
}

static enum tfp_status conclude(struct tfp_run_summary *s, const struct tfp_session *session,
				const struct tfp_query *query, struct tfp_error *err)
{
	double ratio = 0;
	tfp_op_stats_end(&s->stats);
	tfp_given_peaks_apply(session->peaks, &s->stats.env);
	if (s->captures) {
		s->utilization.matrix_unit_percent /= s->captures;
		s->utilization.hbm_percent /= s->captures;
	}
	tfp_step_totals(&s->steps, 0, &s->totals);
	if (s->utilization.enqueue_window_ps)
		ratio = (double)s->utilization.enqueue_ps /
			(double)s->utilization.enqueue_window_ps;
	else if (s->totals.step_ms > 0)
		ratio = s->totals.host_to_device_ms / s->totals.step_ms;
	tfp_input_times(&s->stats.host_ops, ratio, &s->input);
	enum tfp_status status =
		tfp_step_hosts(session, query, &s->steps, s->stats.env.hardware == TFP_HW_TPU,
			       tfp_uses_tf_data(&s->input), &s->step_hosts, err);
	if (status != TFP_OK)
		return status;
	conclude_on_steps(s);
	if (s->error_count)
		qsort(s->errors, s->error_count, sizeof(*s->errors), by_text);
	if (s->warning_count)
		qsort(s->warnings, s->warning_count, sizeof(*s->warnings), by_text);
	return TFP_OK;
}

enum tfp_status tfp_run_summary(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_run_summary *out, struct tfp_error *err)
{
	bool by_module;
	*out = (struct tfp_run_summary){0};
	tfp_op_stats_init(&out->stats);
	tfp_steps_init(&out->steps);
	tfp_functions_init(&out->functions);
	tfp_arena_init(&out->arena, SIZE_MAX);
	enum tfp_status status = tfp_steps_by_module(query, &by_module, err);
	if (status != TFP_OK)
		return status;
	out->hostnames = tfp_calloc(session->host_count + 1, sizeof(*out->hostnames));
	struct tfp_steps *steps = tfp_calloc(session->host_count + 1, sizeof(*steps));
	if (!out->hostnames || !steps)
		status = no_memory(err);
	for (size_t h = 0; steps && h < session->host_count; h++) {
		tfp_steps_init(&steps[h]);
		steps[h].absent = true;
	}
	struct hosts hosts = {out, steps};
	unsigned steps_part = by_module ? TFP_SUMMARY_MODULE_STEPS : TFP_SUMMARY_STEPS;
	if (status == TFP_OK)
		status = tfp_session_summaries(session, TFP_SUMMARY_OPS | steps_part, add_host,
					       &hosts, err);
	if (status == TFP_OK)
		status = tfp_steps_combine(steps, session->host_count, &out->steps, err);
	if (status == TFP_OK) {
		out->host_count = different_names(out->hostnames, session->host_count);
		status = conclude(out, session, query, err);
	}
	for (size_t h = 0; steps && h < session->host_count; h++)
		tfp_steps_release(&steps[h]);
	tfp_free(steps);
	return status;
}
