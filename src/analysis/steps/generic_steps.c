/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/generic_steps.h"

#include "analysis/steps/step_events_gpu.h"
#include "analysis/steps/step_events_host.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <string.h>

struct marker {
	bool is_there;
	int64_t begin_ps, end_ps;
};

/* What is known of a group while its steps are made. */
struct group {
	uint32_t id;
	struct marker host, device;
	bool is_named;               /* an event carries the group's name */
	size_t first_run, run_count; /* of the maker's runs */
	size_t span_count;           /* at most */
	struct tfp_step_copies copies[TFP_COPY_COUNT];
	/* results of the sweep */
	struct marker step;
	uint64_t type_ps[TFP_STEP_EVENT_COUNT], everywhere_ps[TFP_STEP_EVENT_COUNT];
	bool is_step;
};

/* A run of events of a group. */
struct run_place {
	uint32_t plane, line, run; /* plane: of the maker's */
};

struct maker {
	const struct tfp_capture *capture;
	const struct tfp_groups *groups;
	const struct tfp_executions *executions;     /* that the groups are of, or NULL */
	const struct tfp_stat_columns *const *stats; /* where there is a GPU */
	struct tfp_plane_steps *planes;              /* GPUs, then the host's */
	size_t plane_count;
	bool has_gpu;
	bool *on_device;    /* by group id: some device has steps of it */
	uint32_t *index;    /* by group id: index in list + 1 */
	struct group *list; /* ascending by id */
	size_t count;
	struct run_place *runs; /* of all lines, by group */
	atomic_bool no_memory;
};

/* The longest marker counts; the first of equal ones. */
static void offer(struct marker *m, int64_t begin, int64_t end)
{
	if (m->is_there && end - begin <= m->end_ps - m->begin_ps)
		return;
	*m = (struct marker){true, begin, end};
}

/* A GPU's steps are the groups that have both a marker and events there. */
static bool mark_groups_of_gpu(struct maker *m, struct tfp_plane_steps *p)
{
	const struct tfp_plane *plane = &m->capture->planes[p->plane];
	uint8_t *seen = tfp_calloc(m->groups->group_count + 1, 1);
	if (!seen)
		return false;
	for (size_t l = 0; l < plane->line_count; l++) {
		for (size_t i = 0; i < p->lines[l].run_count; i++)
			seen[p->lines[l].runs[i].group] |= 1;
	}
	for (size_t i = 0; i < p->markers.count; i++)
		seen[p->markers.list[i].group] |= 2;
	for (size_t g = 0; g < m->groups->group_count; g++)
		m->on_device[g] |= seen[g] == 3;
	/* What another GPU has steps of does not count here. */
	for (size_t l = 0; l < plane->line_count; l++) {
		struct tfp_line_steps *line = &p->lines[l];
		size_t n = 0;
		for (size_t i = 0; i < line->run_count; i++) {
			if (seen[line->runs[i].group] == 3)
				line->runs[n++] = line->runs[i];
		}
		line->run_count = n;
		n = 0;
		for (size_t i = 0; i < line->copy_count; i++) {
			if (seen[line->copies[i].group] == 3)
				line->copies[n++] = line->copies[i];
		}
		line->copy_count = n;
	}
	size_t n = 0;
	for (size_t i = 0; i < p->markers.count; i++) {
		if (seen[p->markers.list[i].group] == 3)
			p->markers.list[n++] = p->markers.list[i];
	}
	p->markers.count = n;
	tfp_free(seen);
	return true;
}

static bool read_gpus(struct maker *m, struct tfp_pool *pool)
{
	for (size_t p = 0; p < m->capture->plane_count; p++) {
		if (tfp_plane_kind(m->capture->planes[p].name) != TFP_PLANE_GPU)
			continue;
		struct tfp_plane_steps *out = &m->planes[m->plane_count++];
		*out = (struct tfp_plane_steps){.plane = p, .kind = TFP_PLANE_GPU};
		m->has_gpu = true;
		if (!tfp_step_events_of_gpu(m->capture, m->groups, m->executions,
					    tfp_stats_of_plane(m->stats, p), pool, out) ||
		    !mark_groups_of_gpu(m, out))
			return false;
	}
	return true;
}

/* Called after read_gpus: beside GPUs, host events count only for groups that some GPU has. */
static bool read_host(struct maker *m, struct tfp_pool *pool)
{
	const struct tfp_plane *host = tfp_capture_find_plane(m->capture, "/host:CPU");
	if (!host)
		return true;
	struct tfp_plane_steps *out = &m->planes[m->plane_count++];
	*out = (struct tfp_plane_steps){.plane = (size_t)(host - m->capture->planes),
					.kind = TFP_PLANE_HOST};
	const struct tfp_step_host_options options = {
		.wanted = m->has_gpu ? m->on_device : NULL,
		.stats = m->has_gpu ? tfp_stats_of_plane(m->stats, out->plane) : NULL,
		.has_markers = !m->executions,
		.by_runs = true,
	};
	return tfp_step_events_of_host(m->capture, m->groups, &options, pool, out);
}

static bool read_planes(struct maker *m, struct tfp_pool *pool)
{
	m->planes = tfp_calloc(m->capture->plane_count + 1, sizeof(*m->planes));
	m->on_device = tfp_calloc(m->groups->group_count + 1, sizeof(*m->on_device));
	return m->planes && m->on_device && read_gpus(m, pool) && read_host(m, pool);
}

static struct group *group_of(const struct maker *m, uint32_t id)
{
	return &m->list[m->index[id] - 1];
}

static size_t line_count(const struct maker *m, const struct tfp_plane_steps *plane)
{
	return plane->lines ? m->capture->planes[plane->plane].line_count : 0;
}

/* Lists the groups that anything is known of. */
static bool list_groups(struct maker *m)
{
	size_t n = m->groups->group_count;
	m->index = tfp_calloc(n + 1, sizeof(*m->index));
	if (!m->index)
		return false;
	for (size_t p = 0; p < m->plane_count; p++) {
		const struct tfp_plane_steps *plane = &m->planes[p];
		for (size_t l = 0; l < line_count(m, plane); l++) {
			for (size_t i = 0; i < plane->lines[l].run_count; i++)
				m->index[plane->lines[l].runs[i].group] = 1;
			for (size_t i = 0; i < plane->lines[l].markers.count; i++)
				m->index[plane->lines[l].markers.list[i].group] = 1;
		}
		for (size_t i = 0; i < plane->markers.count; i++)
			m->index[plane->markers.list[i].group] = 1;
	}
	for (size_t g = 0; g < n; g++) {
		if (m->index[g])
			m->index[g] = (uint32_t)++m->count;
	}
	m->list = tfp_calloc(m->count + 1, sizeof(*m->list));
	if (!m->list)
		return false;
	for (size_t g = 0; g < n; g++) {
		if (m->index[g])
			group_of(m, (uint32_t)g)->id = (uint32_t)g;
	}
	return true;
}

static void take_line(struct maker *m, const struct tfp_line_steps *line)
{
	for (size_t i = 0; i < line->run_count; i++) {
		struct group *g = group_of(m, line->runs[i].group);
		g->run_count++;
		g->span_count += line->runs[i].count;
	}
	for (size_t i = 0; i < line->markers.count; i++) {
		const struct tfp_step_marker *marker = &line->markers.list[i];
		struct group *g = group_of(m, marker->group);
		offer(&g->host, marker->begin_ps, marker->end_ps);
		g->is_named |= marker->is_named;
	}
	for (size_t i = 0; i < line->copy_count; i++) {
		const struct tfp_step_copy_event *copy = &line->copies[i];
		struct tfp_step_copies *sum = &group_of(m, copy->group)->copies[copy->kind];
		sum->count++;
		sum->time_ps += copy->time_ps;
		sum->bytes += copy->bytes;
	}
}

/* Collects everything about the groups but the time of their spans. */
static bool collect(struct maker *m)
{
	if (!list_groups(m))
		return false;
	for (size_t p = 0; p < m->plane_count; p++) {
		const struct tfp_plane_steps *plane = &m->planes[p];
		for (size_t l = 0; l < line_count(m, plane); l++)
			take_line(m, &plane->lines[l]);
		for (size_t i = 0; i < plane->markers.count; i++) {
			const struct tfp_step_marker *marker = &plane->markers.list[i];
			offer(&group_of(m, marker->group)->device, marker->begin_ps,
			      marker->end_ps);
		}
	}
	return true;
}

/* Lists the runs of each group, which are counted already. */
static bool list_runs(struct maker *m)
{
	size_t count = 0;
	for (size_t i = 0; i < m->count; i++) {
		m->list[i].first_run = count;
		count += m->list[i].run_count;
		m->list[i].run_count = 0;
	}
	m->runs = tfp_reallocarray(NULL, count, sizeof(*m->runs));
	if (!m->runs)
		return false;
	for (size_t p = 0; p < m->plane_count; p++) {
		for (size_t l = 0; l < line_count(m, &m->planes[p]); l++) {
			const struct tfp_line_steps *line = &m->planes[p].lines[l];
			for (size_t i = 0; i < line->run_count; i++) {
				struct group *g = group_of(m, line->runs[i].group);
				m->runs[g->first_run + g->run_count++] =
					(struct run_place){(uint32_t)p, (uint32_t)l, (uint32_t)i};
			}
		}
	}
	return true;
}

/* The spans of a group on all lines; NULL without memory. Only those of groups that are
 * being looked at are there: all together take as much as the capture. */
static struct tfp_step_span *group_spans(const struct maker *m, const struct group *g,
					 size_t *count)
{
	size_t n = 0;
	struct tfp_step_span *list = tfp_reallocarray(NULL, g->span_count + 1, sizeof(*list));
	for (size_t i = 0; list && i < g->run_count; i++) {
		const struct run_place *at = &m->runs[g->first_run + i];
		const struct tfp_plane_steps *plane = &m->planes[at->plane];
		const struct tfp_step_run *run = &plane->lines[at->line].runs[at->run];
		n += plane->kind == TFP_PLANE_GPU
			     ? tfp_step_spans_of_gpu_run(plane, at->line, run, list + n)
			     : tfp_step_spans_of_host_run(plane, at->line, run, list + n);
	}
	*count = n;
	return list;
}

/* StepDetails::StepTime: the host's marker where it holds the device's or where there is
 * none on a device, else the device's. */
static struct marker step_of(const struct group *g)
{
	if (!g->device.is_there)
		return g->host;
	if (g->host.is_there && g->host.begin_ps <= g->device.begin_ps &&
	    g->device.end_ps <= g->host.end_ps)
		return g->host;
	return g->device;
}

static void run_group(void *context, size_t index)
{
	struct maker *m = context;
	struct group *g = &m->list[index];
	bool seen[TFP_STEP_EVENT_COUNT] = {false};
	if (tfp_cancelled())
		return;
	size_t count;
	struct tfp_step_span *spans = group_spans(m, g, &count);
	g->step = step_of(g);
	bool ok = spans && tfp_step_sweep(spans, count, g->step.begin_ps, g->step.end_ps,
					  g->type_ps, g->everywhere_ps, seen);
	tfp_free(spans);
	if (!ok) {
		atomic_store(&m->no_memory, true);
		return;
	}
	uint64_t known = 0;
	for (unsigned t = 0; t < TFP_STEP_EVENT_COUNT; t++)
		known += g->type_ps[t];
	if (!g->step.is_there || g->step.begin_ps == g->step.end_ps)
		return;
	g->type_ps[TFP_STEP_UNKNOWN] += (uint64_t)(g->step.end_ps - g->step.begin_ps) - known;
	/* A step on which nothing computed is none. */
	g->is_step = m->has_gpu
			     ? seen[TFP_STEP_DEVICE_COMPUTE_32] || seen[TFP_STEP_DEVICE_COMPUTE_16]
			     : seen[TFP_STEP_HOST_COMPUTE];
}

static bool add_steps(const struct maker *m, struct tfp_steps *out)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct group *g = &m->list[i];
		struct tfp_core_step core = {.core = TFP_HOST_CORE, .begin_ps = g->step.begin_ps};
		out->compute_16_ps += g->everywhere_ps[TFP_STEP_DEVICE_COMPUTE_16];
		out->compute_32_ps += g->everywhere_ps[TFP_STEP_DEVICE_COMPUTE_32];
		if (!g->is_step)
			continue;
		core.duration_ps = g->step.end_ps - g->step.begin_ps;
		memcpy(core.type_ps, g->type_ps, sizeof(core.type_ps));
		/* Groups whose root was inferred have names too, but no event that shows it:
		 * those steps go by their numbers. */
		struct tfp_str name =
			g->is_named ? m->groups->groups[g->id].name : (struct tfp_str){"", 0};
		struct tfp_step *step = tfp_steps_add(out, g->id, name);
		if (!step)
			return false;
		memcpy(step->copies, g->copies, sizeof(step->copies));
		if (!tfp_steps_add_core(out, &core))
			return false;
	}
	return true;
}

bool tfp_generic_steps(const struct tfp_capture *capture, const struct tfp_groups *groups,
		       const struct tfp_executions *executions,
		       const struct tfp_stat_columns *const stats[2], struct tfp_pool *pool,
		       struct tfp_steps *out)
{
	struct maker m = {
		.capture = capture, .groups = groups, .executions = executions, .stats = stats};
	bool ok = read_planes(&m, pool) && collect(&m) && list_runs(&m);
	if (ok)
		tfp_pool_for(pool, m.count, run_group, &m);
	ok = ok && !atomic_load(&m.no_memory) && add_steps(&m, out);
	for (size_t p = 0; p < m.plane_count; p++)
		tfp_plane_steps_release(&m.planes[p]);
	tfp_free(m.planes);
	tfp_free(m.on_device);
	tfp_free(m.index);
	tfp_free(m.list);
	tfp_free(m.runs);
	return ok;
}
