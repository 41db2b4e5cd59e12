#include "tools/run_summary.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void tfp_run_summary_release(struct tfp_run_summary *summary)
{
	tfp_op_stats_release(&summary->stats);
	tfp_steps_release(&summary->steps);
	tfp_functions_release(&summary->functions);
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

static enum tfp_status add_host(struct tfp_run_summary *s, struct tfp_capture *capture,
				struct tfp_pool *pool, size_t h, struct tfp_steps *steps,
				struct tfp_error *err)
{
	const struct tfp_op_stats *stats;
	const struct tfp_steps *own_steps;
	const struct tfp_functions *functions;
	const struct tfp_utilization *utilization;
	enum tfp_status status = tfp_op_stats_get(capture, pool, &stats, err);
	if (status == TFP_OK)
		status = tfp_steps_get(capture, pool, &own_steps, err);
	if (status == TFP_OK)
		status = tfp_functions_get(capture, pool, &functions, err);
	if (status == TFP_OK)
		status = tfp_utilization_get(capture, pool, &utilization, err);
	if (status == TFP_OK)
		status = tfp_op_stats_merge(&s->stats, stats, (uint32_t)h, err);
	if (status != TFP_OK)
		return status;
	s->utilization.busy_ps += utilization->busy_ps;
	s->utilization.idle_ps += utilization->idle_ps;
	s->utilization.matrix_unit_percent += utilization->matrix_unit_percent;
	s->utilization.hbm_percent += utilization->hbm_percent;
	s->utilization.enqueue_ps += utilization->enqueue_ps;
	s->utilization.enqueue_window_ps += utilization->enqueue_window_ps;
	const char *hostname =
		tfp_arena_strndup(&s->arena, stats->env.hostname, strlen(stats->env.hostname));
	if (!hostname || !tfp_functions_merge(&s->functions, functions) ||
	    !tfp_steps_copy(steps, own_steps) ||
	    !add_texts(s, &s->errors, &s->error_count, capture->errors, capture->error_count) ||
	    !add_texts(s, &s->warnings, &s->warning_count, capture->warnings,
		       capture->warning_count))
		return no_memory(err);
	s->hostnames[h] = hostname;
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

static void conclude(struct tfp_run_summary *s)
{
	double ratio = 0;
	if (s->captures) {
		s->utilization.matrix_unit_percent /= s->captures;
		s->utilization.hbm_percent /= s->captures;
	}
	tfp_step_totals(&s->steps, &s->totals);
	if (s->utilization.enqueue_window_ps)
		ratio = (double)s->utilization.enqueue_ps /
			(double)s->utilization.enqueue_window_ps;
	else if (s->totals.step_ms > 0)
		ratio = s->totals.host_to_device_ms / s->totals.step_ms;
	tfp_input_times(&s->stats.host_ops, ratio, &s->input);
	if (s->stats.env.hardware == TFP_HW_TPU)
		tfp_tpu_bottleneck(&s->steps, tfp_uses_tf_data(&s->input), &s->bottleneck);
	else
		tfp_bottleneck(&s->totals, tfp_uses_tf_data(&s->input), &s->bottleneck);
	if (s->error_count)
		qsort(s->errors, s->error_count, sizeof(*s->errors), by_text);
	if (s->warning_count)
		qsort(s->warnings, s->warning_count, sizeof(*s->warnings), by_text);
}

enum tfp_status tfp_run_summary(const struct tfp_session *session, struct tfp_run_summary *out,
				struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	*out = (struct tfp_run_summary){0};
	tfp_op_stats_init(&out->stats);
	tfp_steps_init(&out->steps);
	tfp_functions_init(&out->functions);
	tfp_arena_init(&out->arena, SIZE_MAX);
	out->hostnames = tfp_calloc(session->host_count + 1, sizeof(*out->hostnames));
	struct tfp_steps *steps = tfp_calloc(session->host_count + 1, sizeof(*steps));
	if (!out->hostnames || !steps)
		status = no_memory(err);
	for (size_t h = 0; h < session->host_count && status != TFP_NO_MEMORY; h++) {
		struct tfp_capture *capture;
		tfp_steps_init(&steps[h]);
		status = tfp_capture_cache_get(session->cache, &session->hosts[h], &capture, err);
		if (status == TFP_OK) {
			status = add_host(out, capture, session->pool, h, &steps[h], err);
			tfp_capture_unref(capture);
		}
		steps[h].absent = status != TFP_OK;
	}
	if (out->captures && status != TFP_NO_MEMORY)
		status = tfp_steps_combine(steps, session->host_count, &out->steps, err);
	if (status == TFP_OK) {
		out->host_count = different_names(out->hostnames, session->host_count);
		conclude(out);
	}
	for (size_t h = 0; steps && h < session->host_count; h++)
		tfp_steps_release(&steps[h]);
	tfp_free(steps);
	return status;
}
