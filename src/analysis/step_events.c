#include "analysis/step_events.h"

#include "analysis/op_name.h"
#include "analysis/time_span.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "base/sort.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Derived line of a GPU that holds its steps (0xdeadbeef as a signed number). */
#define STEPS_LINE (-559038737)

enum {
	CORRELATION_ID,
	SHAPE,
	MEMCPY_DETAILS,
	STAGE_NAME,
	CATEGORY,
	DEVICE_OFFSET,
	DEVICE_DURATION,
	PRODUCER_TYPE,
	PRODUCER_ID,
	CONSUMER_TYPE,
	CONSUMER_ID,
	WANTED
};

static const char *const names[WANTED] = {
	[CORRELATION_ID] = "correlation_id",
	[SHAPE] = "shape",
	[MEMCPY_DETAILS] = "memcpy_details",
	[STAGE_NAME] = "_ipl_stage_name",
	[CATEGORY] = "hlo_category",
	[DEVICE_OFFSET] = "device_offset_ps",
	[DEVICE_DURATION] = "device_duration_ps",
	[PRODUCER_TYPE] = "_pt",
	[PRODUCER_ID] = "_p",
	[CONSUMER_TYPE] = "_ct",
	[CONSUMER_ID] = "_c",
};

/* ---- lists ---- */

/* Whether a span that begins no earlier than another one of its type and group lies in it or
 * touches it. */
static bool joins(const struct tfp_step_span *old, const struct tfp_step_span *s)
{
	return old->begin_ps < old->end_ps &&
	       (s->begin_ps < old->end_ps ||
		(s->begin_ps == old->end_ps && s->end_ps > s->begin_ps));
}

/* Spans of a line come ascending by begin. What lies in or touches the last span of its
 * type and group joins it: nested ops would be most of a line otherwise. last:
 * index + 1 of the last span by type. */
static bool add_span(struct tfp_line_steps *l, uint32_t *last, struct tfp_step_span s)
{
	struct tfp_step_span *old = last[s.type] ? &l->spans[last[s.type] - 1] : NULL;
	if (old && old->group == s.group && joins(old, &s)) {
		if (old->end_ps < s.end_ps)
			old->end_ps = s.end_ps;
		return true;
	}
	if (!TFP_GROW(l->spans, l->span_count, l->span_room))
		return false;
	l->spans[l->span_count++] = s;
	if (l->span_count <= UINT32_MAX)
		last[s.type] = (uint32_t)l->span_count;
	return true;
}

static bool group_is_before(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_step_span *spans = context;
	return spans[a].group < spans[b].group;
}

/* Orders the spans of a line by group, and gives back what they do not need. They are
 * so already where one group is worked for after the other. */
static bool finish_spans(struct tfp_line_steps *l)
{
	bool sorted = true;
	if (l->span_count == 0)
		return true;
	for (size_t i = 1; sorted && i < l->span_count; i++)
		sorted = l->spans[i - 1].group <= l->spans[i].group;
	uint32_t *order =
		sorted ? NULL : tfp_sort_indexes(l->span_count, group_is_before, l->spans);
	struct tfp_step_span *spans =
		tfp_reallocarray(sorted ? l->spans : NULL, l->span_count, sizeof(*spans));
	bool ok = spans && (sorted || order);
	if (ok && !sorted) {
		for (size_t i = 0; i < l->span_count; i++)
			spans[i] = l->spans[order[i]];
		tfp_free(l->spans);
	}
	if (ok) {
		l->spans = spans;
		l->span_room = l->span_count;
	} else if (!sorted) {
		tfp_free(spans);
	}
	tfp_free(order);
	return ok;
}

/* Events of a line come one after the other. */
static bool add_to_run(struct tfp_line_steps *l, uint32_t group, uint32_t event)
{
	struct tfp_step_run *run = l->run_count ? &l->runs[l->run_count - 1] : NULL;
	if (run && run->group == group) {
		run->last = event;
		run->count++;
		return true;
	}
	if (!TFP_GROW(l->runs, l->run_count, l->run_room))
		return false;
	l->runs[l->run_count++] = (struct tfp_step_run){group, event, event, 1};
	return true;
}

static int by_group(const void *a, const void *b)
{
	const struct tfp_step_run *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Orders the runs of a line by group, and gives back what they do not need. */
static bool finish_runs(struct tfp_line_steps *l)
{
	bool sorted = true;
	for (size_t i = 1; sorted && i < l->run_count; i++)
		sorted = l->runs[i - 1].group <= l->runs[i].group;
	if (!sorted)
		qsort(l->runs, l->run_count, sizeof(*l->runs), by_group);
	struct tfp_step_run *runs =
		l->run_count ? tfp_reallocarray(l->runs, l->run_count, sizeof(*runs)) : NULL;
	if (runs) {
		l->runs = runs;
		l->run_room = l->run_count;
	}
	return true;
}

static bool add_marker(struct tfp_step_marker **list, size_t *count, size_t *room,
		       struct tfp_step_marker marker)
{
	if (*count == *room && !tfp_grow(list, room, sizeof(**list)))
		return false;
	(*list)[(*count)++] = marker;
	return true;
}

static void span_of(const struct tfp_line *line, size_t i, int64_t *begin, int64_t *end)
{
	struct tfp_time_span span = tfp_event_span(line, i);
	*begin = span.begin_ps;
	*end = span.end_ps;
}

/* ---- what events are ---- */

static bool starts_any_case(struct tfp_str s, const char *text)
{
	size_t n = strlen(text);
	return s.size >= n && strncasecmp(s.data, text, n) == 0;
}

static bool contains(struct tfp_str s, const char *text)
{
	return s.size && memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/* MEMCPYHtoD, MemcpyH2D, `Memcpy HtoD (...)`, ROCm's CopyHostToDevice: every spelling
 * since 2020 (tf2_and_xprof.md, "device copies"). A name with a colon is an op's. */
static bool copy_of_name(struct tfp_str name, enum tfp_step_copy *copy)
{
	static const struct {
		const char *text;
		enum tfp_step_copy copy;
	} ends[] = {{"HtoD", TFP_COPY_H2D},          {"H2D", TFP_COPY_H2D},
		    {"DtoH", TFP_COPY_D2H},          {"D2H", TFP_COPY_D2H},
		    {"DtoD", TFP_COPY_D2D},          {"D2D", TFP_COPY_D2D},
		    {"PtoP", TFP_COPY_D2D},          {"P2P", TFP_COPY_D2D},
		    {"HostToDevice", TFP_COPY_H2D},  {"DeviceToHost", TFP_COPY_D2H},
		    {"DeviceToDevice", TFP_COPY_D2D}};
	struct tfp_str rest = name;
	if (name.size == 0 || memchr(name.data, ':', name.size))
		return false;
	if (starts_any_case(rest, "Memcpy"))
		rest = (struct tfp_str){rest.data + 6, rest.size - 6};
	else if (starts_any_case(rest, "Copy"))
		rest = (struct tfp_str){rest.data + 4, rest.size - 4};
	else
		return false;
	while (rest.size && (rest.data[0] == ' ' || rest.data[0] == '_'))
		rest = (struct tfp_str){rest.data + 1, rest.size - 1};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (starts_any_case(rest, ends[i].text)) {
			*copy = ends[i].copy;
			return true;
		}
	}
	return false;
}

enum tfp_step_event tfp_step_type_of_gpu_event(struct tfp_str name, struct tfp_str shape)
{
	enum tfp_step_copy copy;
	if (copy_of_name(name, &copy))
		return copy == TFP_COPY_H2D   ? TFP_STEP_HOST_TO_DEVICE
		       : copy == TFP_COPY_D2H ? TFP_STEP_DEVICE_TO_HOST
					      : TFP_STEP_DEVICE_TO_DEVICE;
	if (starts_any_case(name, "nccl"))
		return TFP_STEP_DEVICE_COLLECTIVES;
	if (shape.size)
		return contains(shape, "half") ? TFP_STEP_DEVICE_COMPUTE_16
					       : TFP_STEP_DEVICE_COMPUTE_32;
	return contains(name, "half") || contains(name, "fp16") ? TFP_STEP_DEVICE_COMPUTE_16
								: TFP_STEP_DEVICE_COMPUTE_32;
}

enum tfp_step_event tfp_step_type_of_host_event(struct tfp_str name, bool has_gpu,
						bool has_correlation_id)
{
	struct tfp_op_name op = tfp_op_name_parse(name);
	if (op.category == TFP_OP_MEMCPY_H2D ||
	    (op.category == TFP_OP_TENSORFLOW && tfp_str_starts(op.type, "InfeedEnqueue")))
		return TFP_STEP_HOST_TO_DEVICE;
	if (op.category == TFP_OP_MEMCPY_H2H)
		return TFP_STEP_HOST_TO_HOST;
	if (has_gpu && (has_correlation_id || starts_any_case(name, "ExecutorState::Process")))
		return TFP_STEP_HOST_PREPARE;
	if (starts_any_case(name, "IteratorGetNext"))
		return TFP_STEP_HOST_WAIT_INPUT;
	return TFP_STEP_HOST_COMPUTE;
}

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

/* ---- host ---- */

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

/* Whether the event is a launch or was launched. Where that is not plain its stats say. */
static bool is_correlated(const struct tfp_line_stats *stats, const struct tfp_plane *plane,
			  const struct tfp_line *line, size_t i)
{
	if (!tfp_event_set_has(&stats->odd, i))
		return tfp_event_set_has(&stats->correlated, i);
	const int64_t id = tfp_plane_stat_id(plane, names[CORRELATION_ID]);
	const bool host = tfp_plane_kind(plane->name) == TFP_PLANE_HOST;
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	bool correlated = false;
	while (tfp_stat_next(&it, &stat)) {
		int64_t number;
		if (stat.metadata_id != id)
			continue;
		bool is_number = tfp_stat_int(&stat, &number);
		if (is_number || !host)
			correlated = is_number && (number >= 0 || stat.kind == TFP_STAT_UINT);
	}
	return correlated;
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
	span_of(line, event, begin, end);
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
	    is_correlated(&steps->stats[index], plane, line, event))
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
	uint32_t last[TFP_STEP_EVENT_COUNT] = {0};
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
			ok = add_marker(&out->markers, &out->marker_count, &out->marker_room,
					(struct tfp_step_marker){begin, end, (uint32_t)group,
								 is_named(groups, &place, i)});
		else if (ok && is_event && h->by_runs)
			ok = add_to_run(out, (uint32_t)group, (uint32_t)i);
		else if (ok && is_event)
			ok = add_span(
				out, last,
				(struct tfp_step_span){begin, end, (uint32_t)group,
						       host_type(h->out, h->plane, index, i)});
		ok = ok && !no_memory;
	}
	tfp_free(stack.open);
	if (!ok || no_memory || !(h->by_runs ? finish_runs(out) : finish_spans(out)))
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
			     const struct tfp_executions *executions, const bool *wanted,
			     const struct tfp_line_stats *stats, bool by_runs,
			     struct tfp_pool *pool, struct tfp_plane_steps *out)
{
	const struct tfp_plane *plane = &capture->planes[out->plane];
	struct tfp_schema schema;
	if (tfp_schema_init(&schema, plane, names, WANTED, NULL) != TFP_OK)
		return false;
	out->capture = capture;
	out->groups = groups->planes[out->plane];
	out->stats = stats;
	out->names = host_names(plane, stats != NULL, !executions);
	out->lines = tfp_calloc(plane->line_count, sizeof(*out->lines));
	struct host_lines h = {
		.plane = plane,
		.groups = groups,
		.wanted = wanted,
		.schema = &schema,
		.names = out->names,
		.has_stages = tfp_schema_has(&schema, STAGE_NAME),
		.by_runs = by_runs,
		.out = out,
	};
	bool ok = out->names && out->lines && (!h.has_stages || list_producers(&h));
	if (ok)
		tfp_pool_for(pool, plane->line_count, run_host_line, &h);
	tfp_free(h.producers);
	tfp_schema_release(&schema);
	return ok && !atomic_load(&h.no_memory);
}

/* Appends a span to those of a run; see add_span. */
static size_t put_span(struct tfp_step_span *spans, size_t count, uint32_t *last,
		       struct tfp_step_span s)
{
	struct tfp_step_span *old = last[s.type] ? &spans[last[s.type] - 1] : NULL;
	if (old && joins(old, &s)) {
		if (old->end_ps < s.end_ps)
			old->end_ps = s.end_ps;
		return count;
	}
	spans[count++] = s;
	last[s.type] = (uint32_t)count;
	return count;
}

static size_t spans_of_host_run(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
				size_t index, const struct tfp_step_run *run,
				struct tfp_step_span *spans)
{
	const struct tfp_line *line = &plane->lines[index];
	const struct tfp_line_groups *groups = &steps->groups[index];
	struct host_place place = place_before(groups, run->first);
	uint32_t last[TFP_STEP_EVENT_COUNT] = {0};
	size_t n = 0;
	for (size_t i = run->first; i <= run->last; i++) {
		struct tfp_step_span s = {.group = run->group};
		if (steps->names[tfp_event_meta_index(line, i)].kind != HOST_EVENT ||
		    tfp_group_in(&groups->group, i) != (int32_t)run->group ||
		    is_named(groups, &place, i))
			continue;
		host_span(groups, line, &place, i, &s.begin_ps, &s.end_ps);
		s.type = host_type(steps, plane, index, i);
		n = put_span(spans, n, last, s);
	}
	return n;
}

/* ---- GPU ---- */

struct gpu_lines {
	const struct tfp_plane *plane;
	const struct tfp_schema *schema;
	struct tfp_plane_steps *out;
	atomic_bool no_memory;
};

/* The number in `num_bytes:123` (before 2021) or `size:123` among other pairs. */
static uint64_t bytes_of_details(struct tfp_str details)
{
	static const char *const keys[] = {"num_bytes:", "size:"};
	for (size_t k = 0; k < 2; k++) {
		size_t n = strlen(keys[k]);
		const char *at =
			details.size >= n ? memmem(details.data, details.size, keys[k], n) : NULL;
		if (!at)
			continue;
		uint64_t bytes = 0;
		for (at += n; at < details.data + details.size && *at >= '0' && *at <= '9'; at++) {
			if (bytes > UINT64_MAX / 10 - 9)
				return 0;
			bytes = bytes * 10 + (uint64_t)(*at - '0');
		}
		return bytes;
	}
	return 0;
}

static bool add_copy(struct tfp_line_steps *out, uint32_t group, uint8_t type, uint64_t time_ps,
		     struct tfp_str details)
{
	if (!TFP_GROW(out->copies, out->copy_count, out->copy_room))
		return false;
	out->copies[out->copy_count++] = (struct tfp_step_copy_event){
		.group = group,
		.kind = type == TFP_STEP_HOST_TO_DEVICE   ? TFP_COPY_H2D
			: type == TFP_STEP_DEVICE_TO_HOST ? TFP_COPY_D2H
							  : TFP_COPY_D2D,
		.time_ps = time_ps,
		.bytes = bytes_of_details(details),
	};
	return true;
}

static struct tfp_str text_of(const struct tfp_plane *plane, const struct tfp_line *line, size_t i,
			      const char *name)
{
	const int64_t id = tfp_plane_stat_id(plane, name);
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_str text = {"", 0};
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == id)
			tfp_stat_text(plane, &stat, &text);
	}
	return text;
}

static uint8_t type_by_shape(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
			     const struct tfp_line *line, size_t i)
{
	struct tfp_str shape = text_of(plane, line, i, names[SHAPE]);
	return shape.size ? (uint8_t)tfp_step_type_of_gpu_event(
				    tfp_event_meta(plane, line, i)->name, shape)
			  : steps->types[tfp_event_meta_index(line, i)];
}

static uint8_t gpu_type(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
			size_t index, size_t i)
{
	const struct tfp_line *line = &plane->lines[index];
	const uint8_t *by_kind = steps->lines[index].types_by_kind;
	if (!steps->has_shapes)
		return steps->types[tfp_event_meta_index(line, i)];
	return by_kind ? by_kind[tfp_kind_of(&steps->stats[index], i)]
		       : type_by_shape(steps, plane, line, i);
}

static bool type_kinds(struct tfp_plane_steps *steps, const struct tfp_plane *plane, size_t index)
{
	const struct tfp_line_stats *stats = &steps->stats[index];
	if (!steps->has_shapes || stats->kind_count == 0)
		return true;
	uint8_t *types = tfp_malloc(stats->kind_count);
	for (uint32_t k = 0; types && k < stats->kind_count; k++)
		types[k] =
			type_by_shape(steps, plane, &plane->lines[index], stats->first_of_kind[k]);
	steps->lines[index].types_by_kind = types;
	return types != NULL;
}

static void run_gpu_line(void *context, size_t index)
{
	struct gpu_lines *g = context;
	const struct tfp_line *line = &g->plane->lines[index];
	struct tfp_line_steps *out = &g->out->lines[index];
	const struct tfp_group_column *groups = g->out->group[index];
	if (tfp_line_is_derived(line) || !groups->blocks)
		return;
	bool ok = type_kinds(g->out, g->plane, index);
	for (size_t i = 0; ok && i < line->event_count && tfp_goes_on(i); i++) {
		int32_t group = tfp_group_in(groups, i);
		int64_t begin, end;
		if (group < 0 || !is_correlated(&g->out->stats[index], g->plane, line, i))
			continue;
		uint8_t type = gpu_type(g->out, g->plane, index, i);
		ok = add_to_run(out, (uint32_t)group, (uint32_t)i);
		if (!ok || (type != TFP_STEP_HOST_TO_DEVICE && type != TFP_STEP_DEVICE_TO_HOST &&
			    type != TFP_STEP_DEVICE_TO_DEVICE))
			continue;
		span_of(line, i, &begin, &end);
		ok = add_copy(out, (uint32_t)group, type, (uint64_t)(end - begin),
			      text_of(g->plane, line, i, names[MEMCPY_DETAILS]));
	}
	if (!ok || !finish_runs(out))
		atomic_store(&g->no_memory, true);
}

static size_t spans_of_gpu_run(const struct tfp_plane_steps *steps, const struct tfp_plane *plane,
			       size_t index, const struct tfp_step_run *run,
			       struct tfp_step_span *spans)
{
	const struct tfp_line *line = &plane->lines[index];
	uint32_t last[TFP_STEP_EVENT_COUNT] = {0};
	size_t n = 0;
	for (size_t i = run->first; i <= run->last; i++) {
		struct tfp_step_span s = {.group = run->group};
		if (tfp_group_in(steps->group[index], i) != (int32_t)run->group ||
		    !is_correlated(&steps->stats[index], plane, line, i))
			continue;
		span_of(line, i, &s.begin_ps, &s.end_ps);
		s.type = gpu_type(steps, plane, index, i);
		n = put_span(spans, n, last, s);
	}
	return n;
}

size_t tfp_step_spans_of_run(const struct tfp_plane_steps *steps, size_t line,
			     const struct tfp_step_run *run, struct tfp_step_span *spans)
{
	const struct tfp_plane *plane = &steps->capture->planes[steps->plane];
	return steps->kind == TFP_PLANE_GPU ? spans_of_gpu_run(steps, plane, line, run, spans)
					    : spans_of_host_run(steps, plane, line, run, spans);
}

static bool read_step_line(const struct tfp_line *line, const struct tfp_group_column *groups,
			   struct tfp_plane_steps *out)
{
	for (size_t i = 0; i < line->event_count; i++) {
		int32_t group = tfp_group_in(groups, i);
		struct tfp_step_marker marker = {.group = (uint32_t)group};
		if (group < 0)
			continue;
		span_of(line, i, &marker.begin_ps, &marker.end_ps);
		if (!add_marker(&out->markers, &out->marker_count, &out->marker_room, marker))
			return false;
	}
	return true;
}

static bool is_steps_line(const struct tfp_line *line)
{
	return (int32_t)(uint32_t)(uint64_t)line->id == STEPS_LINE;
}

/* A raw capture has no line of steps; they follow from the groups
 * (preprocess.md D1): over the events of all streams in order of time, an event without
 * group belongs to the group before it, and a step goes from the first to the last
 * of consecutive events of one group. */
struct walk {
	const struct tfp_plane *plane;
	size_t *at;                       /* next event by line */
	struct tfp_group_writer *writers; /* by line; of those that take part */
};

static bool head_is_before(const struct walk *w, size_t a, size_t b)
{
	const struct tfp_line *x = &w->plane->lines[a], *y = &w->plane->lines[b];
	int64_t begin_x = tfp_event_start_ps(x, w->at[a]);
	int64_t begin_y = tfp_event_start_ps(y, w->at[b]);
	if (begin_x != begin_y)
		return begin_x < begin_y;
	return tfp_event_duration_ps(x, w->at[a]) < tfp_event_duration_ps(y, w->at[b]);
}

static void sift(const struct walk *w, uint32_t *heap, size_t n, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;
		if (left < n && head_is_before(w, heap[left], heap[least]))
			least = left;
		if (right < n && head_is_before(w, heap[right], heap[least]))
			least = right;
		if (least == i)
			return;
		uint32_t swap = heap[i];
		heap[i] = heap[least];
		heap[least] = swap;
		i = least;
	}
}

static bool walk_streams(struct walk *w, const struct tfp_line_groups *groups,
			 struct tfp_plane_steps *out)
{
	size_t n = 0;
	int32_t current = TFP_NO_GROUP;
	uint32_t *heap = tfp_reallocarray(NULL, w->plane->line_count + 1, sizeof(*heap));
	if (!heap)
		return false;
	for (size_t l = 0; l < w->plane->line_count; l++) {
		if (w->writers[l].column)
			heap[n++] = (uint32_t)l;
	}
	for (size_t i = n; i-- > 0;)
		sift(w, heap, n, i);
	bool ok = true;
	while (ok && n > 0) {
		size_t l = heap[0], i = w->at[l]++;
		if (!tfp_goes_on(i)) {
			ok = false;
			break;
		}
		const struct tfp_line *line = &w->plane->lines[l];
		int32_t group = tfp_group_in(&groups[l].group, i);
		if (group < 0)
			group = current;
		ok = tfp_group_writer_add(&w->writers[l], group);
		if (ok && group >= 0) {
			int64_t begin, end;
			span_of(line, i, &begin, &end);
			if (group != current) {
				ok = add_marker(&out->markers, &out->marker_count,
						&out->marker_room,
						(struct tfp_step_marker){begin, end,
									 (uint32_t)group, false});
			} else if (out->markers[out->marker_count - 1].end_ps < end) {
				out->markers[out->marker_count - 1].end_ps = end;
			}
			current = group;
		}
		if (ok && w->at[l] == line->event_count) {
			ok = tfp_group_writer_finish(&w->writers[l]);
			heap[0] = heap[--n];
		}
		sift(w, heap, n, 0);
	}
	tfp_free(heap);
	return ok;
}

static bool fill_groups(const struct tfp_plane *plane, const struct tfp_line_groups *groups,
			struct tfp_group_column *filled, struct tfp_plane_steps *out)
{
	struct walk w = {.plane = plane};
	bool any = false;
	for (size_t l = 0; l < plane->line_count; l++)
		any |= !tfp_line_is_derived(&plane->lines[l]) && groups[l].group.blocks;
	if (!any)
		return true;
	w.at = tfp_calloc(plane->line_count, sizeof(*w.at));
	w.writers = tfp_calloc(plane->line_count, sizeof(*w.writers));
	bool ok = w.at && w.writers;
	for (size_t l = 0; ok && l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		if (!tfp_line_is_derived(line) && line->event_count)
			ok = tfp_group_writer_init(&w.writers[l], &filled[l], line->event_count);
	}
	ok = ok && walk_streams(&w, groups, out);
	tfp_free(w.writers);
	tfp_free(w.at);
	return ok;
}

static uint8_t *gpu_types(const struct tfp_plane *plane)
{
	const struct tfp_str none = {"", 0};
	uint8_t *types = tfp_calloc(plane->event_meta_count, 1);
	for (size_t m = 0; types && m < plane->event_meta_count; m++)
		types[m] = (uint8_t)tfp_step_type_of_gpu_event(plane->event_metas[m].name, none);
	return types;
}

/* The markers of a GPU whose steps are executions. */
static bool mark_executions(const struct tfp_executions *e, struct tfp_plane_steps *out)
{
	for (size_t s = 0; s < e->count; s++) {
		struct tfp_time_span span = e->spans[e->chief][s];
		if (!add_marker(&out->markers, &out->marker_count, &out->marker_room,
				(struct tfp_step_marker){span.begin_ps, span.end_ps, (uint32_t)s,
							 false}))
			return false;
	}
	return true;
}

bool tfp_step_events_of_gpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions,
			    const struct tfp_line_stats *stats, struct tfp_pool *pool,
			    struct tfp_plane_steps *out)
{
	const struct tfp_plane *plane = &capture->planes[out->plane];
	const struct tfp_line_groups *of_lines = groups->planes[out->plane];
	struct tfp_schema schema;
	bool has_steps = executions || groups->from_file, ok = true;
	if (tfp_schema_init(&schema, plane, names, WANTED, NULL) != TFP_OK)
		return false;
	out->capture = capture;
	out->groups = of_lines;
	out->stats = stats;
	out->has_shapes = tfp_schema_has(&schema, SHAPE);
	out->types = gpu_types(plane);
	out->filled = tfp_calloc(plane->line_count, sizeof(*out->filled));
	out->group = tfp_calloc(plane->line_count, sizeof(*out->group));
	out->lines = tfp_calloc(plane->line_count, sizeof(*out->lines));
	ok = out->types && out->filled && out->group && out->lines;
	if (ok && executions)
		ok = mark_executions(executions, out);
	for (size_t l = 0; ok && !executions && l < plane->line_count; l++) {
		if (is_steps_line(&plane->lines[l])) {
			ok = read_step_line(&plane->lines[l], &of_lines[l].group, out);
			has_steps = true;
		}
	}
	if (ok && !has_steps)
		ok = fill_groups(plane, of_lines, out->filled, out);
	if (ok) {
		for (size_t l = 0; l < plane->line_count; l++)
			out->group[l] = has_steps ? &of_lines[l].group : &out->filled[l];
		struct gpu_lines g = {.plane = plane, .schema = &schema, .out = out};
		tfp_pool_for(pool, plane->line_count, run_gpu_line, &g);
		ok = !atomic_load(&g.no_memory);
	}
	tfp_schema_release(&schema);
	return ok;
}

/* ---- TPU ---- */

enum tfp_tpu_part tfp_tpu_part_of_category(struct tfp_str category)
{
	static const struct {
		const char *name;
		enum tfp_tpu_part part;
	} table[] = {
		{"infeed", TFP_TPU_INFEED},           {"outfeed", TFP_TPU_OUTFEED},
		{"host send", TFP_TPU_HOST_TRANSFER}, {"host send-done", TFP_TPU_HOST_TRANSFER},
		{"host recv", TFP_TPU_HOST_TRANSFER}, {"host recv-done", TFP_TPU_HOST_TRANSFER},
		{"all-reduce", TFP_TPU_ALL_REDUCE},   {"all-reduce fusion", TFP_TPU_ALL_REDUCE},
		{"all-to-all", TFP_TPU_ALL_REDUCE},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (tfp_str_equal(category, table[i].name))
			return table[i].part;
	}
	return TFP_TPU_COMPUTE;
}

struct tpu_open {
	int64_t begin_ps, end_ps;
	uint64_t children_ps;
	uint32_t group;
	uint8_t part;
};

struct tpu_reader {
	const struct tfp_plane *plane;
	const struct tfp_time_span *executions; /* of the core, or NULL */
	struct tfp_schema schema;
	uint8_t *parts; /* by metadata */
	struct tpu_open *open;
	size_t depth, room;
	size_t last_step; /* asked for, in out->tpu */
	struct tfp_plane_steps *out;
};

/* One op after the other is of the same step. */
static struct tfp_tpu_step *tpu_step(struct tpu_reader *r, uint32_t group)
{
	struct tfp_plane_steps *out = r->out;
	size_t low = 0, high = out->tpu_count;
	if (r->last_step < high && out->tpu[r->last_step].group == group)
		return &out->tpu[r->last_step];
	if (high && out->tpu[high - 1].group < group)
		low = high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (out->tpu[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	r->last_step = low;
	if (low < out->tpu_count && out->tpu[low].group == group)
		return &out->tpu[low];
	if (!TFP_GROW(out->tpu, out->tpu_count, out->tpu_room))
		return NULL;
	memmove(&out->tpu[low + 1], &out->tpu[low], (out->tpu_count - low) * sizeof(*out->tpu));
	out->tpu_count++;
	out->tpu[low] = (struct tfp_tpu_step){.group = group};
	return &out->tpu[low];
}

/* The device's own clock where the event has it (GetDeviceEventTimespan). */
static void tpu_span(const struct tpu_reader *r, const struct tfp_line *line, size_t i,
		     int64_t *begin, int64_t *end)
{
	const int64_t most = INT64_MAX / 4;
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t offset = -1, duration = -1;
	span_of(line, i, begin, end);
	/* Modules have only the profiler's clock. */
	if (r->executions)
		return;
	int name;
	while ((name = tfp_schema_next(&r->schema, &it, &stat)) >= 0) {
		if (name == DEVICE_OFFSET && !tfp_stat_int(&stat, &offset))
			offset = -1;
		else if (name == DEVICE_DURATION && !tfp_stat_int(&stat, &duration))
			duration = -1;
	}
	if (offset >= 0 && offset < most && duration >= 0 && duration < most) {
		*begin = offset;
		*end = offset + duration;
	}
}

static bool tpu_pop(struct tpu_reader *r)
{
	const struct tpu_open *e = &r->open[--r->depth];
	struct tfp_tpu_step *step = tpu_step(r, e->group);
	uint64_t time = (uint64_t)(e->end_ps - e->begin_ps);
	if (!step)
		return false;
	step->part_ps[e->part] += time > e->children_ps ? time - e->children_ps : 0;
	return true;
}

static bool read_tpu_ops(struct tpu_reader *r, const struct tfp_line *line,
			 const struct tfp_group_column *groups)
{
	bool ok = true;
	for (size_t i = 0; ok && groups->blocks && i < line->event_count && tfp_goes_on(i); i++) {
		struct tpu_open e = {.part = r->parts[tfp_event_meta_index(line, i)]};
		int32_t group = tfp_group_in(groups, i);
		if (group < 0)
			continue;
		e.group = (uint32_t)group;
		tpu_span(r, line, i, &e.begin_ps, &e.end_ps);
		if (r->executions && e.end_ps > r->executions[e.group].end_ps)
			e.end_ps = r->executions[e.group].end_ps;
		while (ok && r->depth > 0) {
			struct tpu_open *top = &r->open[r->depth - 1];
			if (top->group == e.group && top->begin_ps <= e.begin_ps &&
			    e.end_ps <= top->end_ps) {
				top->children_ps += (uint64_t)(e.end_ps - e.begin_ps);
				break;
			}
			ok = tpu_pop(r);
		}
		ok = ok && TFP_GROW(r->open, r->depth, r->room);
		if (ok)
			r->open[r->depth++] = e;
		r->out->has_infeed |= e.part == TFP_TPU_INFEED;
	}
	while (ok && r->depth > 0)
		ok = tpu_pop(r);
	return ok;
}

/* Consecutive markers of one group are one step of a raw capture. */
static bool read_tpu_steps(struct tpu_reader *r, const struct tfp_line *line,
			   const struct tfp_group_column *groups, bool joins)
{
	int32_t last = TFP_NO_GROUP;
	for (size_t i = 0; i < line->event_count; i++) {
		int32_t group = tfp_group_in(groups, i);
		int64_t begin, end;
		if (group < 0) {
			last = TFP_NO_GROUP;
			continue;
		}
		struct tfp_tpu_step *step = tpu_step(r, (uint32_t)group);
		if (!step)
			return false;
		tpu_span(r, line, i, &begin, &end);
		if (step->has_marker && joins && group == last) {
			if (step->end_ps < end)
				step->end_ps = end;
		} else if (!step->has_marker || end - begin > step->end_ps - step->begin_ps) {
			step->begin_ps = begin;
			step->end_ps = end;
			step->has_marker = true;
		}
		last = group;
	}
	return true;
}

static void read_parts(struct tpu_reader *r)
{
	for (size_t m = 0; m < r->plane->event_meta_count; m++) {
		struct tfp_stat_iter it = tfp_event_meta_stats(&r->plane->event_metas[m]);
		struct tfp_str category = {"", 0};
		struct tfp_stat stat;
		while (tfp_stat_next(&it, &stat)) {
			if (tfp_schema_of(&r->schema, &stat) == CATEGORY)
				tfp_stat_text(r->plane, &stat, &category);
		}
		r->parts[m] = (uint8_t)tfp_tpu_part_of_category(category);
	}
}

static bool read_tpu_executions(struct tpu_reader *r, size_t count)
{
	for (size_t s = 0; s < count; s++) {
		struct tfp_tpu_step *step = tpu_step(r, (uint32_t)s);
		if (!step)
			return false;
		step->begin_ps = r->executions[s].begin_ps;
		step->end_ps = r->executions[s].end_ps;
		step->has_marker = true;
	}
	return true;
}

bool tfp_step_events_of_tpu(const struct tfp_capture *capture, const struct tfp_groups *groups,
			    const struct tfp_executions *executions, struct tfp_plane_steps *out)
{
	struct tpu_reader r = {.plane = &capture->planes[out->plane], .out = out};
	if (executions && !executions->spans[out->plane])
		return true;
	if (executions)
		r.executions = executions->spans[out->plane];
	if (tfp_schema_init(&r.schema, r.plane, names, WANTED, NULL) != TFP_OK)
		return false;
	r.parts = tfp_calloc(r.plane->event_meta_count, 1);
	bool ok = r.parts != NULL;
	if (ok)
		read_parts(&r);
	if (ok && executions)
		ok = read_tpu_executions(&r, executions->count);
	for (size_t l = 0; ok && l < r.plane->line_count; l++) {
		const struct tfp_line *line = &r.plane->lines[l];
		const struct tfp_group_column *of_line = &groups->planes[out->plane][l].group;
		if (!executions && tfp_str_equal(line->name, "Steps"))
			ok = read_tpu_steps(&r, line, of_line, !groups->from_file);
		else if (tfp_str_equal(line->name, "XLA Ops"))
			ok = read_tpu_ops(&r, line, of_line);
	}
	tfp_free(r.open);
	tfp_free(r.parts);
	tfp_schema_release(&r.schema);
	return ok;
}

void tfp_plane_steps_release(const struct tfp_capture *capture, struct tfp_plane_steps *steps)
{
	for (size_t l = 0; l < capture->planes[steps->plane].line_count; l++) {
		if (steps->filled)
			tfp_group_column_release(&steps->filled[l]);
		if (!steps->lines)
			continue;
		tfp_free(steps->lines[l].runs);
		tfp_free(steps->lines[l].root_stages);
		tfp_free(steps->lines[l].types_by_kind);
		tfp_free(steps->lines[l].spans);
		tfp_free(steps->lines[l].markers);
		tfp_free(steps->lines[l].copies);
	}
	tfp_free(steps->filled);
	tfp_free(steps->group);
	tfp_free(steps->names);
	tfp_free(steps->types);
	tfp_free(steps->lines);
	tfp_free(steps->markers);
	tfp_free(steps->tpu);
	*steps = (struct tfp_plane_steps){0};
}
