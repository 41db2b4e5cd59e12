/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_events_host.h"

#include "analysis/events/time_span.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CORRELATION_ID, STAGE_NAME, PRODUCER_TYPE, PRODUCER_ID, CONSUMER_TYPE, CONSUMER_ID, WANTED };

static const char *const names[WANTED] = {
	[CORRELATION_ID] = "correlation_id",
	[STAGE_NAME] = "_ipl_stage_name",
	[PRODUCER_TYPE] = "_pt",
	[PRODUCER_ID] = "_p",
	[CONSUMER_TYPE] = "_ct",
	[CONSUMER_ID] = "_c",
};

static bool is_marker_name(struct tfp_str name)
{
	return (tfp_str_starts(name, "train") || tfp_str_starts(name, "test") ||
		tfp_str_starts(name, "TraceContext")) &&
	       !memchr(name.data, '/', name.size);
}

/* Frames around ops: they compute nothing themselves. */
static bool is_frame_name(struct tfp_str name)
{
	return tfp_str_starts(name, "EagerExecute") || tfp_str_starts(name, "EagerLocalExecute") ||
	       tfp_str_starts(name, "EagerKernelExecute") || tfp_str_starts(name, "FunctionRun");
}

enum host_kind { HOST_EVENT, HOST_MARKER, HOST_FRAME };

/* By metadata: what its events are, without and with a correlation id. */
struct tfp_step_host_name {
	uint8_t kind, type, type_if_correlated;
};

/* One end of a connection between threads. */
struct context {
	int64_t type, id;
};

struct host_lines {
	const struct tfp_plane *plane;
	const struct tfp_groups *groups;
	const bool *wanted;
	const struct tfp_schema *schema;
	const struct tfp_step_host_name *names;
	bool has_stages, by_runs;
	/* What the plane's events produce for others, sorted; where there are stages. */
	struct context *producers;
	size_t producer_count, producer_room;
	struct tfp_plane_steps *out;
	atomic_bool no_memory;
};

/* Open events of a thread, for telling the outermost stages of an input pipeline. */
struct stage_stack {
	struct {
		int64_t begin_ps, end_ps;
		bool in_stage;
	} * open;
	size_t depth, room;
};

/* What the stats of a host event say. */
struct host_facts {
	bool correlated, stage;
	bool has_producer, has_consumer;
	struct context producer, consumer;
};

/* Whether the event is a stage that neither lies in another nor is done for an event of
 * another thread. */
static bool is_root_stage(struct stage_stack *s, int64_t begin, int64_t end, bool stage,
			  bool is_called, bool *no_memory)
{
	while (s->depth &&
	       !(s->open[s->depth - 1].begin_ps <= begin && end <= s->open[s->depth - 1].end_ps))
		s->depth--;
	bool within = is_called || (s->depth && s->open[s->depth - 1].in_stage);
	if (!TFP_GROW(s->open, s->depth, s->room)) {
		*no_memory = true;
		return false;
	}
	s->open[s->depth].begin_ps = begin;
	s->open[s->depth].end_ps = end;
	s->open[s->depth++].in_stage = within || stage;
	return stage && !within;
}

static void read_host_stats(const struct host_lines *h, const struct tfp_line *line, size_t i,
			    struct host_facts *f)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	struct tfp_str text;
	int64_t number;
	bool seen[WANTED] = {false};
	*f = (struct host_facts){0};
	int name;
	while ((name = tfp_schema_next(h->schema, &it, &stat)) >= 0) {
		if (name == STAGE_NAME) {
			f->stage = tfp_stat_text(h->plane, &stat, &text) && text.size > 0;
			continue;
		}
		if (!tfp_stat_int(&stat, &number))
			continue;
		seen[name] = true;
		if (name == CORRELATION_ID)
			f->correlated = number >= 0 || stat.kind == TFP_STAT_UINT;
		else if (name == PRODUCER_TYPE)
			f->producer.type = number;
		else if (name == PRODUCER_ID)
			f->producer.id = number;
		else if (name == CONSUMER_TYPE)
			f->consumer.type = number;
		else if (name == CONSUMER_ID)
			f->consumer.id = number;
	}
	f->has_producer = seen[PRODUCER_TYPE] && seen[PRODUCER_ID];
	f->has_consumer = seen[CONSUMER_TYPE] && seen[CONSUMER_ID];
}

static int by_context(const void *a, const void *b)
{
	const struct context *x = a, *y = b;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool list_producers(struct host_lines *h)
{
	for (size_t l = 0; l < h->plane->line_count; l++) {
		const struct tfp_line *line = &h->plane->lines[l];
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			struct host_facts f;
			read_host_stats(h, line, i, &f);
			if (!f.has_producer)
				continue;
			if (!TFP_GROW(h->producers, h->producer_count, h->producer_room))
				return false;
			h->producers[h->producer_count++] = f.producer;
		}
	}
	if (h->producer_count)
		qsort(h->producers, h->producer_count, sizeof(*h->producers), by_context);
	return true;
}

static bool is_called(const struct host_lines *h, const struct host_facts *f)
{
	return f->has_consumer && h->producer_count &&
	       bsearch(&f->consumer, h->producers, h->producer_count, sizeof(*h->producers),
		       by_context);
}

/* Where a walk over a line's events is in the lists beside them. */
struct host_place {
	size_t named, region;
};

static struct host_place place_before(const struct tfp_line_groups *groups, size_t event)
{
	struct host_place p = {0, 0};
	for (size_t high = groups->named_count; p.named < high;) {
		size_t middle = p.named + (high - p.named) / 2;
		if (groups->named[middle] < event)
			p.named = middle + 1;
		else
			high = middle;
	}
	for (size_t high = groups->region_count; p.region < high;) {
		size_t middle = p.region + (high - p.region) / 2;
		if (groups->regions[middle].event < event)
			p.region = middle + 1;
		else
			high = middle;
	}
	return p;
}

/* Asked for one event after the other. */
static bool is_named(const struct tfp_line_groups *groups, struct host_place *p, size_t event)
{
	while (p->named < groups->named_count && groups->named[p->named] < event)
		p->named++;
	return p->named < groups->named_count && groups->named[p->named] == event;
}

/* From when to when an event counts: where a thread of a pool begins to work for a group, as
 * long as it does. Asked for one event after the other. */
static void host_span(const struct tfp_line_groups *groups, const struct tfp_line *line,
		      struct host_place *p, size_t event, int64_t *begin, int64_t *end)
{
	const struct tfp_time_span span = tfp_event_span(line, event);
	*begin = span.begin_ps;
	*end = span.end_ps;
	while (p->region < groups->region_count && groups->regions[p->region].event < event)
		p->region++;
	if (p->region < groups->region_count && groups->regions[p->region].event == event)
		*end = *begin +
		       (groups->regions[p->region].end_ps - tfp_event_offset_ps(line, event));
}

static uint8_t host_type(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
			 size_t index, size_t event)
{
	const struct tfp_line *line = &plane->lines[index];
	const struct tfp_step_host_name *name = &steps->names[tfp_event_meta_index(line, event)];
	const uint64_t *stages = steps->lines[index].root_stages;
	uint8_t type = name->type;
	if (name->type != name->type_if_correlated && steps->stats &&
	    tfp_step_is_correlated(&steps->stats[index], plane, line, event))
		type = name->type_if_correlated;
	if (type == TFP_STEP_HOST_COMPUTE && stages && (stages[event / 64] >> event % 64 & 1))
		type = TFP_STEP_HOST_WAIT_INPUT;
	return type;
}

static bool note_root_stage(struct tfp_line_steps *out, const struct tfp_line *line, size_t event)
{
	if (!out->root_stages)
		out->root_stages =
			tfp_calloc(line->event_count / 64 + 1, sizeof(*out->root_stages));
	if (!out->root_stages)
		return false;
	out->root_stages[event / 64] |= UINT64_C(1) << event % 64;
	return true;
}

static void run_host_line(void *context, size_t index)
{
	struct host_lines *h = context;
	const struct tfp_line *line = &h->plane->lines[index];
	struct tfp_line_steps *out = &h->out->lines[index];
	const struct tfp_line_groups *groups = &h->groups->planes[h->out->plane][index];
	struct tfp_step_last last = {{0}};
	struct stage_stack stack = {0};
	struct host_place place = {0, 0};
	bool ok = true, no_memory = false;
	if (tfp_line_is_derived(line) || !groups->group.blocks)
		return;
	for (size_t i = 0; ok && i < line->event_count && tfp_goes_on(i); i++) {
		const struct tfp_step_host_name *name = &h->names[tfp_event_meta_index(line, i)];
		int32_t group = tfp_group_in(&groups->group, i);
		int64_t begin = 0, end = 0;
		bool counts = group >= 0 && (!h->wanted || h->wanted[group]);
		bool is_marker =
			counts && (name->kind == HOST_MARKER || is_named(groups, &place, i));
		bool is_event = counts && !is_marker && name->kind == HOST_EVENT;
		if (is_marker || h->has_stages || (is_event && !h->by_runs))
			host_span(groups, line, &place, i, &begin, &end);
		if (h->has_stages) {
			struct host_facts f = {0};
			read_host_stats(h, line, i, &f);
			if (is_root_stage(&stack, begin, end, f.stage, is_called(h, &f),
					  &no_memory))
				ok = note_root_stage(out, line, i);
		}
		if (ok && is_marker)
			ok = tfp_step_markers_add(
				&out->markers,
				(struct tfp_step_marker){begin, end, (uint32_t)group,
							 is_named(groups, &place, i)});
		else if (ok && is_event && h->by_runs)
			ok = tfp_step_runs_add(out, (uint32_t)group, (uint32_t)i);
		else if (ok && is_event)
			ok = tfp_step_spans_add(
				out, &last,
				(struct tfp_step_span){begin, end, (uint32_t)group,
						       host_type(h->out, h->plane, index, i)});
		ok = ok && !no_memory;
	}
	tfp_free(stack.open);
	tfp_step_runs_finish(out);
	if (!ok || no_memory)
		atomic_store(&h->no_memory, true);
}

/* has_markers: without them they are frames like others. */
static struct tfp_step_host_name *host_names(const struct tfp_plane *plane, bool has_gpu,
					     bool has_markers)
{
	struct tfp_step_host_name *list = tfp_calloc(plane->event_meta_count, sizeof(*list));
	for (size_t m = 0; list && m < plane->event_meta_count; m++) {
		struct tfp_str name = plane->event_metas[m].name;
		list[m] = (struct tfp_step_host_name){
			.kind = is_marker_name(name)  ? (has_markers ? HOST_MARKER : HOST_FRAME)
				: is_frame_name(name) ? HOST_FRAME
						      : HOST_EVENT,
			.type = (uint8_t)tfp_step_type_of_host_event(name, has_gpu, false),
			.type_if_correlated =
				(uint8_t)tfp_step_type_of_host_event(name, has_gpu, true),
		};
	}
	return list;
}

bool tfp_step_events_of_host(const struct tfp_capture *capture, const struct tfp_groups *groups,
			     const struct tfp_step_host_options *options, struct tfp_pool *pool,
			     struct tfp_plane_steps *out)
{
	const struct tfp_plane *plane = &capture->planes[out->plane];
	struct tfp_schema schema;
	if (tfp_schema_init(&schema, plane, names, WANTED, NULL) != TFP_OK)
		return false;
	out->capture = capture;
	out->groups = groups->planes[out->plane];
	out->stats = options->stats;
	out->names = host_names(plane, options->stats != NULL, options->has_markers);
	out->lines = tfp_calloc(plane->line_count, sizeof(*out->lines));
	struct host_lines h = {
		.plane = plane,
		.groups = groups,
		.wanted = options->wanted,
		.schema = &schema,
		.names = out->names,
		.has_stages = tfp_schema_has(&schema, STAGE_NAME),
		.by_runs = options->by_runs,
		.out = out,
	};
	bool ok = out->names && out->lines && (!h.has_stages || list_producers(&h));
	if (ok)
		tfp_pool_for(pool, plane->line_count, run_host_line, &h);
	tfp_free(h.producers);
	tfp_schema_release(&schema);
	return ok && !atomic_load(&h.no_memory);
}

size_t tfp_step_spans_of_host_run(const struct tfp_plane_steps *steps, size_t index,
				  const struct tfp_step_run *run, struct tfp_step_span *spans)
{
	const struct tfp_plane *plane = &steps->capture->planes[steps->plane];
	const struct tfp_line *line = &plane->lines[index];
	const struct tfp_line_groups *groups = &steps->groups[index];
	struct host_place place = place_before(groups, run->first);
	struct tfp_step_last last = {{0}};
	size_t n = 0;
	for (size_t i = run->first; i <= run->last; i++) {
		struct tfp_step_span s = {.group = run->group};
		if (steps->names[tfp_event_meta_index(line, i)].kind != HOST_EVENT ||
		    tfp_group_in(&groups->group, i) != (int32_t)run->group ||
		    is_named(groups, &place, i))
			continue;
		host_span(groups, line, &place, i, &s.begin_ps, &s.end_ps);
		s.type = host_type(steps, plane, index, i);
		n = tfp_step_spans_put(spans, n, &last, s);
	}
	return n;
}
