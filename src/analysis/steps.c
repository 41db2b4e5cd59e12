#include "analysis/steps.h"

#include "analysis/bottleneck.h"
#include "analysis/groups.h"
#include "analysis/schema.h"
#include "analysis/step_align.h"
#include "analysis/step_events.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The core that stands for a host and its GPUs. */
#define PSEUDO_CORE 1

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the steps");
}

void tfp_steps_init(struct tfp_steps *steps)
{
	*steps = (struct tfp_steps){.module = {"", 0}};
	tfp_arena_init(&steps->arena, SIZE_MAX);
}

void tfp_steps_release(struct tfp_steps *steps)
{
	tfp_free(steps->steps);
	tfp_free(steps->cores);
	tfp_arena_release(&steps->arena);
	*steps = (struct tfp_steps){0};
}

uint64_t tfp_step_core_id(const struct tfp_core_step *core)
{
	return (uint64_t)core->host * 1000 + core->core;
}

const char *tfp_step_category_name(enum tfp_step_category category)
{
	static const char *const texts[TFP_STEP_CATEGORY_COUNT] = {
		[TFP_STEP_DEVICE_COMPUTE] = "Device compute",
		[TFP_STEP_BETWEEN_DEVICES] = "Device to device",
		[TFP_STEP_COLLECTIVES] = "Device collective communication",
		[TFP_STEP_ON_HOST] = "Host compute",
		[TFP_STEP_KERNEL_LAUNCH] = "Kernel launch",
		[TFP_STEP_INPUT] = "Input",
		[TFP_STEP_OUTPUT] = "Output",
		[TFP_STEP_COMPILATION] = "Compilation",
		[TFP_STEP_ALL_OTHERS] = "All others",
	};
	return texts[category];
}

enum tfp_step_category tfp_step_category_of(enum tfp_step_event type)
{
	static const uint8_t category_of[TFP_STEP_EVENT_COUNT] = {
		[TFP_STEP_UNKNOWN] = TFP_STEP_ALL_OTHERS,
		[TFP_STEP_HOST_COMPUTE] = TFP_STEP_ON_HOST,
		[TFP_STEP_HOST_COMPILE] = TFP_STEP_COMPILATION,
		[TFP_STEP_HOST_TO_HOST] = TFP_STEP_ALL_OTHERS,
		[TFP_STEP_HOST_TO_DEVICE] = TFP_STEP_INPUT,
		[TFP_STEP_HOST_PREPARE] = TFP_STEP_KERNEL_LAUNCH,
		[TFP_STEP_DEVICE_COLLECTIVES] = TFP_STEP_COLLECTIVES,
		[TFP_STEP_HOST_WAIT_INPUT] = TFP_STEP_INPUT,
		[TFP_STEP_DEVICE_TO_DEVICE] = TFP_STEP_BETWEEN_DEVICES,
		[TFP_STEP_DEVICE_TO_HOST] = TFP_STEP_OUTPUT,
		[TFP_STEP_DEVICE_COMPUTE_32] = TFP_STEP_DEVICE_COMPUTE,
		[TFP_STEP_DEVICE_COMPUTE_16] = TFP_STEP_DEVICE_COMPUTE,
	};
	return (enum tfp_step_category)category_of[type];
}

void tfp_step_categories(const struct tfp_core_step *core,
			 uint64_t category_ps[TFP_STEP_CATEGORY_COUNT])
{
	memset(category_ps, 0, TFP_STEP_CATEGORY_COUNT * sizeof(*category_ps));
	for (unsigned t = 0; t < TFP_STEP_EVENT_COUNT; t++)
		category_ps[tfp_step_category_of((enum tfp_step_event)t)] += core->type_ps[t];
}

int64_t tfp_step_time_ps(const struct tfp_steps *steps, size_t step)
{
	int64_t longest = 0;
	for (size_t c = 0; c < steps->steps[step].core_count; c++) {
		int64_t time = tfp_step_core(steps, step, c)->duration_ps;
		if (longest < time)
			longest = time;
	}
	return longest;
}

static bool keep_text(struct tfp_steps *steps, struct tfp_str text, struct tfp_str *kept)
{
	*kept = (struct tfp_str){"", 0};
	if (text.size) {
		kept->data = tfp_arena_strndup(&steps->arena, text.data, text.size);
		kept->size = text.size;
	}
	return kept->data != NULL;
}

/* Adds a step without cores; its cores are added right after. NULL without memory. */
static struct tfp_step *add_step(struct tfp_steps *steps, uint32_t number, struct tfp_str name)
{
	if (!TFP_GROW(steps->steps, steps->count, steps->room))
		return NULL;
	struct tfp_str kept;
	if (!keep_text(steps, name, &kept))
		return NULL;
	struct tfp_step *step = &steps->steps[steps->count++];
	*step = (struct tfp_step){
		.number = number, .name = kept, .first_core = (uint32_t)steps->core_count};
	return step;
}

static bool add_core(struct tfp_steps *steps, const struct tfp_core_step *core)
{
	if (!TFP_GROW(steps->cores, steps->core_count, steps->core_room))
		return false;
	if (steps->core_count >= UINT32_MAX)
		return false;
	steps->cores[steps->core_count++] = *core;
	steps->steps[steps->count - 1].core_count++;
	return true;
}

/* ---- steps of a capture ---- */

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
	uint64_t host_input_ps; /* waiting for input and copying it, beside a TPU */
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
	struct tfp_capture *capture;
	const struct tfp_groups *groups;
	const struct tfp_executions *executions; /* that the groups are of, or NULL */
	const struct tfp_stat_columns *stats[2]; /* where there is a GPU */
	struct tfp_plane_steps *planes;          /* devices, then the host's */
	size_t plane_count, device_count;
	bool has_gpu, has_tpu;
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
	for (size_t i = 0; i < p->marker_count; i++)
		seen[p->markers[i].group] |= 2;
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
	for (size_t i = 0; i < p->marker_count; i++) {
		if (seen[p->markers[i].group] == 3)
			p->markers[n++] = p->markers[i];
	}
	p->marker_count = n;
	tfp_free(seen);
	return true;
}

static void read_tpu(void *context, size_t index)
{
	struct maker *m = context;
	if (!tfp_step_events_of_tpu(m->capture, m->groups, m->executions, &m->planes[index]))
		atomic_store(&m->no_memory, true);
}

/* TPU cores are the devices where there is one, even beside GPUs. */
static enum tfp_plane_kind device_kind(const struct tfp_capture *capture)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == TFP_PLANE_TPU)
			return TFP_PLANE_TPU;
	}
	return TFP_PLANE_GPU;
}

/* Only where there are GPUs it matters what launches what. */
static enum tfp_status get_stats(struct maker *m, struct tfp_pool *pool, struct tfp_error *err)
{
	bool any = false;
	for (size_t p = 0; p < m->capture->plane_count; p++)
		any |= tfp_plane_kind(m->capture->planes[p].name) == TFP_PLANE_GPU;
	if (!any || device_kind(m->capture) == TFP_PLANE_TPU)
		return TFP_OK;
	return tfp_stat_columns_get_all(m->capture, pool, m->stats, err);
}

static bool read_planes(struct maker *m, struct tfp_pool *pool)
{
	const struct tfp_capture *capture = m->capture;
	enum tfp_plane_kind device = device_kind(capture);
	m->planes = tfp_calloc(capture->plane_count + 1, sizeof(*m->planes));
	m->on_device = tfp_calloc(m->groups->group_count + 1, sizeof(*m->on_device));
	if (!m->planes || !m->on_device)
		return false;
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_plane_kind(capture->planes[p].name) == device)
			m->planes[m->plane_count++] =
				(struct tfp_plane_steps){.plane = p, .kind = device};
	}
	m->device_count = m->plane_count;
	m->has_tpu = device == TFP_PLANE_TPU;
	m->has_gpu = device == TFP_PLANE_GPU && m->device_count > 0;
	if (m->has_tpu)
		tfp_pool_for(pool, m->device_count, read_tpu, m);
	for (size_t p = 0; m->has_gpu && p < m->device_count; p++) {
		struct tfp_plane_steps *out = &m->planes[p];
		if (!tfp_step_events_of_gpu(capture, m->groups, m->executions,
					    tfp_stats_of_plane(m->stats, out->plane), pool, out) ||
		    !mark_groups_of_gpu(m, out))
			return false;
	}
	const struct tfp_plane *host = tfp_capture_find_plane(capture, "/host:CPU");
	if (!host || atomic_load(&m->no_memory))
		return !atomic_load(&m->no_memory);
	struct tfp_plane_steps *out = &m->planes[m->plane_count++];
	*out = (struct tfp_plane_steps){.plane = (size_t)(host - capture->planes),
					.kind = TFP_PLANE_HOST};
	return tfp_step_events_of_host(capture, m->groups, m->executions,
				       m->has_gpu ? m->on_device : NULL,
				       m->has_gpu ? tfp_stats_of_plane(m->stats, out->plane) : NULL,
				       !m->has_tpu, pool, out);
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
			for (size_t i = 0; i < plane->lines[l].span_count; i++)
				m->index[plane->lines[l].spans[i].group] = 1;
			for (size_t i = 0; i < plane->lines[l].marker_count; i++)
				m->index[plane->lines[l].markers[i].group] = 1;
		}
		for (size_t i = 0; i < plane->marker_count; i++)
			m->index[plane->markers[i].group] = 1;
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
	for (size_t i = 0; i < line->marker_count; i++) {
		const struct tfp_step_marker *marker = &line->markers[i];
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

/* Learns what lines and markers say of the groups, but for their spans' time. */
static bool collect(struct maker *m)
{
	if (!list_groups(m))
		return false;
	for (size_t p = 0; p < m->plane_count; p++) {
		const struct tfp_plane_steps *plane = &m->planes[p];
		for (size_t l = 0; l < line_count(m, plane); l++)
			take_line(m, &plane->lines[l]);
		for (size_t i = 0; i < plane->marker_count; i++)
			offer(&group_of(m, plane->markers[i].group)->device,
			      plane->markers[i].begin_ps, plane->markers[i].end_ps);
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
		n += tfp_step_spans_of_run(plane, at->line, &plane->lines[at->line].runs[at->run],
					   list + n);
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

static bool make_generic(struct maker *m, struct tfp_pool *pool, struct tfp_steps *out)
{
	if (!collect(m) || !list_runs(m))
		return false;
	tfp_pool_for(pool, m->count, run_group, m);
	if (atomic_load(&m->no_memory))
		return false;
	for (size_t i = 0; i < m->count; i++) {
		const struct group *g = &m->list[i];
		struct tfp_core_step core = {.core = PSEUDO_CORE, .begin_ps = g->step.begin_ps};
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
		struct tfp_step *step = add_step(out, g->id, name);
		if (!step)
			return false;
		memcpy(step->copies, g->copies, sizeof(step->copies));
		if (!add_core(out, &core))
			return false;
	}
	return true;
}

/* ---- TPU ---- */

/* Whether all cores that have steps at all have this one. */
static bool all_cores_have(const struct maker *m, uint32_t group, size_t *at)
{
	for (size_t p = 0; p < m->device_count; p++) {
		const struct tfp_plane_steps *plane = &m->planes[p];
		if (plane->tpu_count == 0)
			continue;
		while (at[p] < plane->tpu_count && plane->tpu[at[p]].group < group)
			at[p]++;
		if (at[p] == plane->tpu_count || plane->tpu[at[p]].group != group ||
		    !plane->tpu[at[p]].has_marker)
			return false;
	}
	return true;
}

/* Ops of a step may take longer than it: they may overlap, and one that only touches the
 * step belongs to it. What is too much is no compute, which the peers too take for what
 * the other parts leave. */
static void cut_parts(struct tfp_core_step *core, uint64_t excess)
{
	for (unsigned i = 0; excess && i < TFP_TPU_PART_COUNT; i++) {
		uint64_t cut = core->tpu_ps[i] < excess ? core->tpu_ps[i] : excess;
		core->tpu_ps[i] -= cut;
		excess -= cut;
	}
}

static bool add_tpu_core(struct tfp_steps *out, int64_t plane_id, const struct tfp_tpu_step *s)
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
	return add_core(out, &core);
}

/* A program whose ops take nothing in gets its data otherwise: what the host spent on
 * input while the cores were idle is then counted as their input, in proportion
 * (MayFixTpuStepAnalysis). */
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

static bool read_host_input(struct maker *m)
{
	if (!list_groups(m))
		return false;
	for (size_t p = m->device_count; p < m->plane_count; p++) {
		const struct tfp_plane_steps *plane = &m->planes[p];
		for (size_t l = 0; l < line_count(m, plane); l++) {
			const struct tfp_line_steps *line = &plane->lines[l];
			for (size_t i = 0; i < line->span_count; i++) {
				const struct tfp_step_span *span = &line->spans[i];
				if (span->type == TFP_STEP_HOST_WAIT_INPUT ||
				    span->type == TFP_STEP_HOST_TO_DEVICE)
					group_of(m, span->group)->host_input_ps +=
						(uint64_t)(span->end_ps - span->begin_ps);
			}
		}
	}
	return true;
}

static bool make_tpu(struct maker *m, struct tfp_steps *out)
{
	const struct tfp_plane_steps *first = NULL;
	bool has_infeed = false;
	for (size_t p = m->device_count; p-- > 0;) {
		if (m->planes[p].tpu_count)
			first = &m->planes[p];
		has_infeed |= m->planes[p].has_infeed;
	}
	if (!first)
		return true;
	size_t *at = tfp_calloc(m->device_count, sizeof(*at));
	bool ok = at && (has_infeed || read_host_input(m));
	for (size_t s = 0; ok && s < first->tpu_count; s++) {
		uint32_t group = first->tpu[s].group;
		if (!all_cores_have(m, group, at))
			continue;
		ok = add_step(out, group, m->groups->groups[group].name) != NULL;
		for (size_t p = 0; ok && p < m->device_count; p++) {
			const struct tfp_plane_steps *plane = &m->planes[p];
			if (plane->tpu_count)
				ok = add_tpu_core(out, m->capture->planes[plane->plane].id,
						  &plane->tpu[at[p]]);
		}
		if (ok && !has_infeed && m->index[group])
			add_host_input(out, out->count - 1, group_of(m, group)->host_input_ps);
	}
	tfp_free(at);
	return ok;
}

static void release_maker(struct maker *m)
{
	for (size_t p = 0; p < m->plane_count; p++)
		tfp_plane_steps_release(m->capture, &m->planes[p]);
	tfp_free(m->planes);
	tfp_free(m->on_device);
	tfp_free(m->index);
	tfp_free(m->list);
	tfp_free(m->runs);
}

static void free_fact(void *fact)
{
	tfp_steps_release(fact);
	tfp_free(fact);
}

/* NULL without memory. */
static struct tfp_steps *make_steps(struct maker *m, struct tfp_pool *pool)
{
	struct tfp_steps *steps = tfp_malloc(sizeof(*steps));
	bool ok = steps != NULL;
	if (ok) {
		tfp_steps_init(steps);
		ok = read_planes(m, pool);
		steps->has_device = m->has_gpu || m->has_tpu;
		steps->has_groups = m->groups->group_count > 0;
		ok = ok && (m->has_tpu ? make_tpu(m, steps) : make_generic(m, pool, steps));
	}
	release_maker(m);
	if (ok)
		return steps;
	if (steps)
		free_fact(steps);
	return NULL;
}

static void keep_fact(struct tfp_steps *steps, void **fact, uint64_t *heap_bytes)
{
	*heap_bytes = sizeof(*steps) + steps->arena.bytes + steps->room * sizeof(*steps->steps) +
		      steps->core_room * sizeof(*steps->cores);
	*fact = steps;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct maker m = {.capture = capture};
	enum tfp_status status = tfp_groups_get(capture, pool, &m.groups, err);
	if (status == TFP_OK)
		status = get_stats(&m, pool, err);
	if (status != TFP_OK)
		return status;
	struct tfp_steps *steps = make_steps(&m, pool);
	if (!steps)
		return no_memory(err);
	if (steps->count == 0 && steps->has_device) {
		const struct tfp_executions *executions;
		status = tfp_executions_get(capture, pool, &executions, err);
		if (status != TFP_OK) {
			free_fact(steps);
			return status;
		}
		steps->module_steps = (uint32_t)executions->count;
	}
	keep_fact(steps, fact, heap_bytes);
	return TFP_OK;
}

enum tfp_status tfp_steps_get(struct tfp_capture *capture, struct tfp_pool *pool,
			      const struct tfp_steps **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

/* ---- executions as steps ---- */

struct by_time {
	const struct tfp_capture *capture;
	const struct tfp_executions *executions;
	struct tfp_groups *groups;
	size_t plane;
	atomic_bool no_memory;
};

static void group_line_by_time(void *context, size_t index)
{
	struct by_time *b = context;
	const struct tfp_line *line = &b->capture->planes[b->plane].lines[index];
	struct tfp_group_writer w;
	bool ok = tfp_group_writer_init(&w, &b->groups->planes[b->plane][index].group,
					line->event_count);
	for (size_t i = 0; ok && i < line->event_count && tfp_goes_on(i); i++)
		ok = tfp_group_writer_add(&w, tfp_execution_at(b->executions, b->plane,
							       tfp_event_span(line, i).begin_ps));
	if (!ok || !tfp_group_writer_finish(&w))
		atomic_store(&b->no_memory, true);
}

/* Every event belongs to the step in which it begins. NULL without memory. */
static struct tfp_groups *groups_of_executions(const struct tfp_capture *capture,
					       const struct tfp_executions *executions,
					       struct tfp_pool *pool)
{
	struct by_time b = {capture, executions, tfp_groups_new(capture), 0, false};
	if (!b.groups)
		return NULL;
	b.groups->group_count = executions->count;
	b.groups->groups = tfp_calloc(executions->count + 1, sizeof(*b.groups->groups));
	for (size_t s = 0; b.groups->groups && s < executions->count; s++)
		b.groups->groups[s].name = (struct tfp_str){"", 0};
	for (b.plane = 0; executions->count && b.plane < capture->plane_count; b.plane++) {
		const struct tfp_plane *plane = &capture->planes[b.plane];
		if (executions->spans[b.plane] || tfp_plane_kind(plane->name) == TFP_PLANE_HOST)
			tfp_pool_for(pool, plane->line_count, group_line_by_time, &b);
	}
	if (b.groups->groups && !atomic_load(&b.no_memory))
		return b.groups;
	tfp_groups_free(b.groups);
	return NULL;
}

static enum tfp_status compute_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					 void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	struct maker m = {.capture = capture};
	enum tfp_status status = tfp_executions_get(capture, pool, &m.executions, err);
	if (status == TFP_OK)
		status = get_stats(&m, pool, err);
	if (status != TFP_OK)
		return status;
	struct tfp_groups *groups = groups_of_executions(capture, m.executions, pool);
	if (!groups)
		return no_memory(err);
	m.groups = groups;
	struct tfp_steps *steps = make_steps(&m, pool);
	tfp_groups_free(groups);
	if (!steps)
		return no_memory(err);
	struct tfp_str module = m.executions->module;
	if (!keep_text(steps, module, &steps->module)) {
		free_fact(steps);
		return no_memory(err);
	}
	keep_fact(steps, fact, heap_bytes);
	return TFP_OK;
}

enum tfp_status tfp_steps_get_by_module(struct tfp_capture *capture, struct tfp_pool *pool,
					const struct tfp_steps **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_by_module, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

/* ---- steps of several hosts ---- */

static bool copy_step(struct tfp_steps *to, const struct tfp_steps *from, size_t step,
		      uint32_t number)
{
	const struct tfp_step *src = &from->steps[step];
	struct tfp_step *added = add_step(to, number, src->name);
	if (!added)
		return false;
	memcpy(added->copies, src->copies, sizeof(added->copies));
	return true;
}

static bool copy_cores(struct tfp_steps *to, const struct tfp_steps *from, size_t step,
		       uint32_t host)
{
	for (size_t c = 0; c < from->steps[step].core_count; c++) {
		struct tfp_core_step core = *tfp_step_core(from, step, c);
		core.host = host;
		if (!add_core(to, &core))
			return false;
	}
	return true;
}

static bool add_totals(struct tfp_steps *to, const struct tfp_steps *from)
{
	to->compute_16_ps += from->compute_16_ps;
	to->compute_32_ps += from->compute_32_ps;
	to->has_device |= from->has_device;
	to->has_groups |= from->has_groups;
	/* At most so many are on all hosts. */
	if (from->module_steps && (!to->module_steps || from->module_steps < to->module_steps))
		to->module_steps = from->module_steps;
	return to->module.size || keep_text(to, from->module, &to->module);
}

bool tfp_steps_copy(struct tfp_steps *to, const struct tfp_steps *from)
{
	for (size_t s = 0; s < from->count; s++) {
		if (!copy_step(to, from, s, from->steps[s].number) || !copy_cores(to, from, s, 0))
			return false;
	}
	return add_totals(to, from);
}

/* From the first begin to the last end of each step's cores; count entries, freed with
 * tfp_free. NULL without memory. */
static struct tfp_time_span *spans_of(const struct tfp_steps *steps)
{
	struct tfp_time_span *spans = tfp_calloc(steps->count + 1, sizeof(*spans));
	for (size_t s = 0; spans && s < steps->count; s++) {
		for (size_t c = 0; c < steps->steps[s].core_count; c++) {
			const struct tfp_core_step *core = tfp_step_core(steps, s, c);
			int64_t end = core->begin_ps + core->duration_ps;
			if (c == 0 || core->begin_ps < spans[s].begin_ps)
				spans[s].begin_ps = core->begin_ps;
			if (c == 0 || end > spans[s].end_ps)
				spans[s].end_ps = end;
		}
	}
	return spans;
}

static int64_t whole_span(const struct tfp_time_span *spans, size_t count)
{
	int64_t first = 0, last = 0;
	for (size_t s = 0; s < count; s++) {
		if (s == 0 || spans[s].begin_ps < first)
			first = spans[s].begin_ps;
		if (s == 0 || spans[s].end_ps > last)
			last = spans[s].end_ps;
	}
	return last - first;
}

struct aligned {
	bool counts;
	struct tfp_time_span *spans;
	int64_t shift;
};

static size_t find_chief(const struct tfp_steps *hosts, size_t host_count,
			 const struct aligned *aligned)
{
	size_t chief = SIZE_MAX;
	int64_t least = 0;
	for (size_t h = 0; h < host_count; h++) {
		if (!aligned[h].counts)
			continue;
		int64_t span = whole_span(aligned[h].spans, hosts[h].count);
		if (chief == SIZE_MAX || span < least) {
			chief = h;
			least = span;
		}
	}
	return chief;
}

/* Without the number of the program, which every process gives anew. */
static struct tfp_str bare_name(struct tfp_str module)
{
	const char *end = module.size ? memrchr(module.data, '(', module.size) : NULL;
	return end ? (struct tfp_str){module.data, (size_t)(end - module.data)} : module;
}

/* Executions of one module are no counterpart to those of another. */
static bool same_module(const struct tfp_steps *a, const struct tfp_steps *b)
{
	return b->count == 0 || tfp_str_compare(bare_name(a->module), bare_name(b->module)) == 0;
}

static bool combine(const struct tfp_steps *hosts, size_t host_count, struct aligned *aligned,
		    struct tfp_steps *out)
{
	bool has_steps = false;
	for (size_t h = 0; h < host_count; h++) {
		/* A coordinator has no accelerator where others have one. */
		aligned[h].counts = !hosts[h].absent && (hosts[h].has_device || !out->has_device) &&
				    same_module(out, &hosts[h]);
		has_steps |= aligned[h].counts && hosts[h].count > 0;
		aligned[h].spans = aligned[h].counts ? spans_of(&hosts[h]) : NULL;
		if (aligned[h].counts && !aligned[h].spans)
			return false;
	}
	size_t chief = find_chief(hosts, host_count, aligned);
	if (chief == SIZE_MAX)
		return true;
	int64_t first = 0, last = (int64_t)hosts[chief].count;
	for (size_t h = 0; h < host_count; h++) {
		if (!aligned[h].counts)
			continue;
		if (h != chief &&
		    !tfp_step_shift(aligned[chief].spans, hosts[chief].count, aligned[h].spans,
				    hosts[h].count, &aligned[h].shift))
			return false;
		int64_t end = aligned[h].shift + (int64_t)hosts[h].count;
		if (first < aligned[h].shift)
			first = aligned[h].shift;
		if (last > end)
			last = end;
	}
	out->intersection_empty = has_steps && first >= last;
	for (int64_t s = first; s < last; s++) {
		if (!copy_step(out, &hosts[chief], (size_t)s, (uint32_t)(s - first)))
			return false;
		for (size_t h = 0; h < host_count; h++) {
			if (aligned[h].counts &&
			    !copy_cores(out, &hosts[h], (size_t)(s - aligned[h].shift),
					(uint32_t)h))
				return false;
		}
	}
	return true;
}

enum tfp_status tfp_steps_combine(const struct tfp_steps *hosts, size_t host_count,
				  struct tfp_steps *out, struct tfp_error *err)
{
	if (host_count == 1)
		return tfp_steps_copy(out, &hosts[0]) ? TFP_OK : no_memory(err);
	for (size_t h = 0; h < host_count; h++) {
		if (!add_totals(out, &hosts[h]))
			return no_memory(err);
	}
	struct aligned *aligned = tfp_calloc(host_count + 1, sizeof(*aligned));
	bool ok = aligned && combine(hosts, host_count, aligned, out);
	for (size_t h = 0; aligned && h < host_count; h++)
		tfp_free(aligned[h].spans);
	tfp_free(aligned);
	return ok ? TFP_OK : no_memory(err);
}
