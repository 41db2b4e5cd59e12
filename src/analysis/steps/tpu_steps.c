/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/tpu_steps.h"

#include "analysis/steps/step_events_host.h"
#include "analysis/steps/step_events_tpu.h"
#include "analysis/steps/step_totals.h"
#include "base/alloc.h"

#include <stdatomic.h>
#include <string.h>

struct maker {
	const struct tfp_capture *capture;
	const struct tfp_groups *groups;
	const struct tfp_executions *executions; /* that the groups are of, or NULL */
	struct tfp_tpu_core_steps *cores;
	size_t core_count;
	uint64_t *input_ps; /* by group id: the time that the host waited for input or copied it */
	atomic_bool no_memory;
};

static void read_core(void *context, size_t index)
{
	struct maker *m = context;
	if (!tfp_step_events_of_tpu(m->capture, m->groups, m->executions, &m->cores[index]))
		atomic_store(&m->no_memory, true);
}

static bool read_cores(struct maker *m, struct tfp_pool *pool)
{
	m->cores = tfp_calloc(m->capture->plane_count + 1, sizeof(*m->cores));
	for (size_t p = 0; m->cores && p < m->capture->plane_count; p++) {
		if (tfp_plane_kind(m->capture->planes[p].name) == TFP_PLANE_TPU)
			m->cores[m->core_count++].plane = p;
	}
	if (m->cores)
		tfp_pool_for(pool, m->core_count, read_core, m);
	return m->cores && !atomic_load(&m->no_memory);
}

/* Whether all cores that have steps at all have this one. */
static bool all_cores_have(const struct maker *m, uint32_t group, size_t *at)
{
	for (size_t c = 0; c < m->core_count; c++) {
		const struct tfp_tpu_core_steps *core = &m->cores[c];
		if (core->count == 0)
			continue;
		while (at[c] < core->count && core->steps[at[c]].group < group)
			at[c]++;
		if (at[c] == core->count || core->steps[at[c]].group != group ||
		    !core->steps[at[c]].has_marker)
			return false;
	}
	return true;
}

/* The ops of a step may take longer than the step: they may overlap, and an op that only touches
 * the step belongs to it. The excess is taken off compute first, because the peers too count as
 * compute what the other parts leave. */
static void cut_parts(struct tfp_core_step *core, uint64_t excess)
{
	for (unsigned i = 0; excess && i < TFP_TPU_PART_COUNT; i++) {
		uint64_t cut = core->tpu_ps[i] < excess ? core->tpu_ps[i] : excess;
		core->tpu_ps[i] -= cut;
		excess -= cut;
	}
}

static bool add_core(struct tfp_steps *out, int64_t plane_id, const struct tfp_tpu_step *s)
{
	struct tfp_core_step core = {.core = (uint32_t)plane_id, .is_tpu = true};
	uint64_t sum = 0;
	core.begin_ps = s->begin_ps;
	core.duration_ps = s->end_ps - s->begin_ps;
	memcpy(core.tpu_ps, s->part_ps, sizeof(core.tpu_ps));
	for (unsigned i = 0; i < TFP_TPU_PART_COUNT; i++)
		sum += core.tpu_ps[i];
	if (sum < (uint64_t)core.duration_ps)
		core.tpu_ps[TFP_TPU_IDLE] = (uint64_t)core.duration_ps - sum;
	else
		cut_parts(&core, sum - (uint64_t)core.duration_ps);
	return tfp_steps_add_core(out, &core);
}

/* A program without infeed ops gets its data in another way. The host's time on input then counts
 * as infeed of the cores' idle time, in proportion (MayFixTpuStepAnalysis). */
static void add_host_input(struct tfp_steps *out, size_t step, uint64_t input_ps)
{
	struct tfp_tpu_step_view view;
	tfp_tpu_step_view(out, step, TFP_EVERY_HOST, &view);
	double ratio = view.idle_ms > 0 ? (double)input_ps / 1e9 / view.idle_ms : 0;
	for (size_t c = 0; c < out->steps[step].core_count; c++) {
		struct tfp_core_step *core = &out->cores[out->steps[step].first_core + c];
		uint64_t idle = core->tpu_ps[TFP_TPU_IDLE];
		uint64_t infeed = ratio < 1 ? (uint64_t)((double)idle * ratio) : idle;
		core->tpu_ps[TFP_TPU_INFEED] += infeed;
		core->tpu_ps[TFP_TPU_IDLE] -= infeed;
	}
}

static bool read_host_input(struct maker *m, struct tfp_pool *pool)
{
	const struct tfp_plane *host = tfp_capture_find_plane(m->capture, "/host:CPU");
	m->input_ps = tfp_calloc(m->groups->group_count + 1, sizeof(*m->input_ps));
	if (!host || !m->input_ps)
		return m->input_ps != NULL;
	const struct tfp_step_host_options options = {.has_markers = !m->executions};
	struct tfp_plane_steps events = {.plane = (size_t)(host - m->capture->planes),
					 .kind = TFP_PLANE_HOST};
	bool ok = tfp_step_events_of_host(m->capture, m->groups, &options, pool, &events);
	for (size_t l = 0; ok && l < host->line_count; l++) {
		const struct tfp_line_steps *line = &events.lines[l];
		for (size_t i = 0; i < line->span_count; i++) {
			const struct tfp_step_span *span = &line->spans[i];
			if (span->type == TFP_STEP_HOST_WAIT_INPUT ||
			    span->type == TFP_STEP_HOST_TO_DEVICE)
				m->input_ps[span->group] +=
					(uint64_t)(span->end_ps - span->begin_ps);
		}
	}
	tfp_plane_steps_release(&events);
	return ok;
}

static bool add_steps(struct maker *m, struct tfp_pool *pool, struct tfp_steps *out)
{
	const struct tfp_tpu_core_steps *first = NULL;
	bool has_infeed = false;
	for (size_t c = m->core_count; c-- > 0;) {
		if (m->cores[c].count)
			first = &m->cores[c];
		has_infeed |= m->cores[c].has_infeed;
	}
	if (!first)
		return true;
	size_t *at = tfp_calloc(m->core_count, sizeof(*at));
	bool ok = at && (has_infeed || read_host_input(m, pool));
	for (size_t s = 0; ok && s < first->count; s++) {
		uint32_t group = first->steps[s].group;
		if (!all_cores_have(m, group, at))
			continue;
		ok = tfp_steps_add(out, group, m->groups->groups[group].name) != NULL;
		for (size_t c = 0; ok && c < m->core_count; c++) {
			const struct tfp_tpu_core_steps *core = &m->cores[c];
			if (core->count)
				ok = add_core(out, m->capture->planes[core->plane].id,
					      &core->steps[at[c]]);
		}
		if (ok && !has_infeed)
			add_host_input(out, out->count - 1, m->input_ps[group]);
	}
	tfp_free(at);
	return ok;
}

bool tfp_tpu_steps(const struct tfp_capture *capture, const struct tfp_groups *groups,
		   const struct tfp_executions *executions, struct tfp_pool *pool,
		   struct tfp_steps *out)
{
	struct maker m = {.capture = capture, .groups = groups, .executions = executions};
	bool ok = read_cores(&m, pool) && add_steps(&m, pool, out);
	for (size_t c = 0; c < m.core_count; c++)
		tfp_tpu_core_steps_release(&m.cores[c]);
	tfp_free(m.cores);
	tfp_free(m.input_ps);
	return ok;
}
