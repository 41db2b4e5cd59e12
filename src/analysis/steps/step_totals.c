/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_totals.h"

#include <math.h>

#define MS(ps) ((double)(ps) / 1e9)

struct tfp_stat_summary tfp_summarize(const double *values, size_t count)
{
	struct tfp_stat_summary s = {0};
	double squares = 0;
	if (count == 0)
		return s;
	s.minimum = s.maximum = values[0];
	for (size_t i = 0; i < count; i++) {
		s.average += values[i] / (double)count;
		s.minimum = values[i] < s.minimum ? values[i] : s.minimum;
		s.maximum = values[i] > s.maximum ? values[i] : s.maximum;
	}
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - s.average) * (values[i] - s.average);
	if (count > 1)
		s.deviation = sqrt(squares / (double)(count - 1));
	return s;
}

const struct tfp_core_step *tfp_host_core(const struct tfp_steps *steps, size_t step, uint32_t host)
{
	for (size_t c = 0; c < steps->steps[step].core_count; c++) {
		const struct tfp_core_step *core = tfp_step_core(steps, step, c);
		if (!core->is_tpu && core->host == host && core->core == TFP_HOST_CORE)
			return core;
	}
	return NULL;
}

int64_t tfp_host_time_ps(const struct tfp_steps *steps, uint32_t host)
{
	int64_t sum = 0;
	for (size_t s = 0; s < steps->count; s++) {
		int64_t longest = 0;
		for (size_t c = 0; c < steps->steps[s].core_count; c++) {
			const struct tfp_core_step *core = tfp_step_core(steps, s, c);
			if (core->host == host && core->duration_ps > longest)
				longest = core->duration_ps;
		}
		sum = longest > INT64_MAX - sum ? INT64_MAX : sum + longest;
	}
	return sum;
}

void tfp_step_totals(const struct tfp_steps *steps, uint32_t host, struct tfp_step_totals *totals)
{
	*totals = (struct tfp_step_totals){0};
	for (size_t s = 0; s < steps->count; s++) {
		const struct tfp_core_step *core = tfp_host_core(steps, s, host);
		uint64_t category_ps[TFP_STEP_CATEGORY_COUNT];
		if (!core)
			continue;
		tfp_step_categories(core, category_ps);
		for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
			totals->category_ms[c] += MS(category_ps[c]);
		totals->step_ms += MS(core->duration_ps);
		totals->host_to_device_ms += MS(core->type_ps[TFP_STEP_HOST_TO_DEVICE]);
		totals->steps++;
	}
}

void tfp_tpu_step_view(const struct tfp_steps *steps, size_t step, uint32_t host,
		       struct tfp_tpu_step_view *view)
{
	double least_step = 0;
	*view = (struct tfp_tpu_step_view){0};
	for (size_t c = 0; c < steps->steps[step].core_count; c++) {
		const struct tfp_core_step *core = tfp_step_core(steps, step, c);
		if (host != TFP_EVERY_HOST && core->host != host)
			continue;
		double time = MS(core->duration_ps);
		double infeed = MS(core->tpu_ps[TFP_TPU_INFEED]);
		double compute =
			MS(core->tpu_ps[TFP_TPU_COMPUTE]) + MS(core->tpu_ps[TFP_TPU_ALL_REDUCE]);
		double transfer = MS(core->tpu_ps[TFP_TPU_HOST_TRANSFER]);
		double all_reduce = MS(core->tpu_ps[TFP_TPU_ALL_REDUCE]);
		double percent = time > 0 ? 100 * infeed / time : 0;
		bool first = view->cores++ == 0;
		view->step_ms = fmax(view->step_ms, time);
		least_step = first ? time : fmin(least_step, time);
		view->compute_ms = first ? compute : fmin(view->compute_ms, compute);
		if (first || infeed > view->infeed_ms) {
			view->infeed_ms = infeed;
			view->worst_core = c;
		}
		view->outfeed_ms += MS(core->tpu_ps[TFP_TPU_OUTFEED]);
		view->host_transfer_ms = fmax(view->host_transfer_ms, transfer);
		view->all_reduce_ms = fmax(view->all_reduce_ms, all_reduce);
		view->infeed_percent_average += percent;
		view->infeed_percent_minimum =
			first ? percent : fmin(view->infeed_percent_minimum, percent);
		view->infeed_percent_maximum = fmax(view->infeed_percent_maximum, percent);
	}
	if (view->cores) {
		view->outfeed_ms /= (double)view->cores;
		view->infeed_percent_average /= (double)view->cores;
	}
	view->idle_ms = fmax(0, least_step - (view->compute_ms + view->infeed_ms +
					      view->all_reduce_ms + view->outfeed_ms));
}
