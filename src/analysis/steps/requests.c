/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/requests.h"

#include "analysis/events/schema.h"
#include "analysis/events/time_span.h"
#include "analysis/grouping/capture_groups.h"
#include "analysis/steps/step_events_gpu.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdlib.h>
#include <string.h>

enum kind {
	OTHER,
	BATCHING_SESSION_RUN,
	TFRT_MODEL_RUN,
	SERVING_MODEL_RUN,
	SESSION_RUN,
	SERVER_REQUEST, /* a request where its root level says so */
	PROCESS_BATCH,
	READ,
	WRITE,
	/* A transfer in two events, which have its number in common. */
	WRITE_ISSUE,
	WRITE_DONE,
	READ_ISSUE,
	READ_DONE,
	KIND_COUNT
};

enum { ROOT_LEVEL, CONSUMER_ID, WANTED };

static const char *const names[WANTED] = {
	[ROOT_LEVEL] = "_r",
	[CONSUMER_ID] = "_c",
};

static enum kind kind_of(struct tfp_str name)
{
	static const struct {
		const char *name;
		enum kind kind;
	} known[] = {
		{"BatchingSessionRun", BATCHING_SESSION_RUN},
		{"TfrtModelRun", TFRT_MODEL_RUN},
		{"ServingModelRun", SERVING_MODEL_RUN},
		{"SessionRun", SESSION_RUN},
		{"RunGraph", SESSION_RUN},
		{"ProcessBatch", PROCESS_BATCH},
		{"OrbaxServing::ProcessBatch", PROCESS_BATCH},
		{"ReadHbm", READ},
		{"TransferD2HRequest", READ},
		{"WriteHbm", WRITE},
		{"TransferH2DRequest", WRITE},
		{"TransferPreprocessedH2DRequest", WRITE},
		{"tpu::System::TransferToDevice=>IssueEvent", WRITE_ISSUE},
		{"tpu::System::TransferToDevice=>IssueEvent=>Done", WRITE_DONE},
		{"tpu::System::TransferFromDevice=>IssueEvent", READ_ISSUE},
		{"tpu::System::TransferFromDevice=>IssueEvent=>Done", READ_DONE},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (tfp_str_equal(name, known[i].name))
			return known[i].kind;
	}
	return tfp_str_starts(name, "ModelServerRequest_") ? SERVER_REQUEST : OTHER;
}

/* What is known of a group. */
struct group {
	bool is_request, is_batch, is_seen;
	struct tfp_time_span span;
	int64_t batch_end_ps;
	size_t first_span, span_count;
};

struct transfer {
	int64_t id;
	uint32_t group;
	enum kind kind;
	struct tfp_time_span span;
};

struct spans {
	struct tfp_step_span *list;
	size_t count, room;
};

struct transfers {
	struct transfer *list;
	size_t count, room;
};

struct reader {
	const struct tfp_capture *capture;
	const struct tfp_groups *groups;
	const struct tfp_stat_columns *stats; /* of GPUs */
	const struct tfp_plane *host;
	size_t host_plane;
	struct tfp_schema schema;
	uint8_t *kinds; /* by metadata of the host's plane */
	bool has_kind[KIND_COUNT];
	struct group *by_id;
	struct spans spans; /* what devices and copies did, by group */
	struct transfers transfers;
	struct tfp_group_link *up; /* the groups' links, ordered by below */
};

static bool add_span(struct reader *r, struct tfp_time_span span, uint32_t group,
		     enum tfp_step_event type)
{
	struct spans *s = &r->spans;
	if (!TFP_GROW(s->list, s->count, s->room))
		return false;
	s->list[s->count++] =
		(struct tfp_step_span){span.begin_ps, span.end_ps, group, (uint8_t)type};
	return true;
}

static bool add_transfer(struct reader *r, struct transfer transfer)
{
	struct transfers *t = &r->transfers;
	if (!TFP_GROW(t->list, t->count, t->room))
		return false;
	t->list[t->count++] = transfer;
	return true;
}

/* ---- the host ---- */

static bool read_stat(const struct reader *r, const struct tfp_line *line, size_t i, int wanted,
		      int64_t *value)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	bool found = false;
	int name;
	while ((name = tfp_schema_next(&r->schema, &it, &stat)) >= 0) {
		if (name == wanted)
			found = tfp_stat_int(&stat, value);
	}
	return found;
}

/* Which of the events that could be requests are: the kinds are of different servers, one
 * on top of the other. */
static enum kind request_kind(const struct reader *r)
{
	static const enum kind order[] = {BATCHING_SESSION_RUN, TFRT_MODEL_RUN, SERVING_MODEL_RUN};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (r->has_kind[order[i]])
			return order[i];
	}
	return SESSION_RUN;
}

/* is_named: the event is the root of its group, marked by the program; only such ones are
 * asked for their level, because asking costs. */
static bool is_request(const struct reader *r, const struct tfp_line *line, size_t i,
		       enum kind kind, enum kind wanted, bool is_named)
{
	int64_t level;
	if (kind == wanted)
		return true;
	if (kind != SERVER_REQUEST && !is_named)
		return false;
	return tfp_schema_has(&r->schema, ROOT_LEVEL) &&
	       read_stat(r, line, i, ROOT_LEVEL, &level) &&
	       (level == -1 || (level == 1 && kind == SERVER_REQUEST));
}

static bool read_event(struct reader *r, const struct tfp_line *line, size_t i, uint32_t group,
		       enum kind wanted, bool is_named)
{
	enum kind kind = (enum kind)r->kinds[tfp_event_meta_index(line, i)];
	struct tfp_time_span span = tfp_event_span(line, i);
	struct group *g = &r->by_id[group];
	int64_t id;
	if (!g->is_seen || span.begin_ps < g->span.begin_ps)
		g->span.begin_ps = span.begin_ps;
	if (!g->is_seen || span.end_ps > g->span.end_ps)
		g->span.end_ps = span.end_ps;
	g->is_seen = true;
	g->is_request |= is_request(r, line, i, kind, wanted, is_named);
	switch (kind) {
	case PROCESS_BATCH:
		if (!g->is_batch || span.end_ps > g->batch_end_ps)
			g->batch_end_ps = span.end_ps;
		g->is_batch = true;
		break;
	case READ:
	case WRITE:
		return add_span(r, span, group,
				kind == READ ? TFP_STEP_DEVICE_TO_HOST : TFP_STEP_HOST_TO_DEVICE);
	case READ_ISSUE:
	case READ_DONE:
	case WRITE_ISSUE:
	case WRITE_DONE:
		return !read_stat(r, line, i, CONSUMER_ID, &id) ||
		       add_transfer(r, (struct transfer){id, group, kind, span});
	default:
		break;
	}
	return true;
}

static bool read_host(struct reader *r)
{
	enum kind wanted = request_kind(r);
	for (size_t l = 0; l < r->host->line_count; l++) {
		const struct tfp_line *line = &r->host->lines[l];
		const struct tfp_line_groups *g = &r->groups->planes[r->host_plane][l];
		if (!g->group.blocks || tfp_line_is_derived(line))
			continue;
		for (size_t i = 0, named = 0; i < line->event_count && tfp_goes_on(i); i++) {
			while (named < g->named_count && g->named[named] < i)
				named++;
			bool is_named = named < g->named_count && g->named[named] == i;
			int32_t group = tfp_group_in(&g->group, i);
			if (group >= 0 &&
			    !read_event(r, line, i, (uint32_t)group, wanted, is_named))
				return false;
		}
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->span.begin_ps > y->span.begin_ps) - (x->span.begin_ps < y->span.begin_ps);
}

/* A transfer lasts from the begin of the event that issues it to the end of the event that
 * completes it. */
static bool pair_transfers(struct reader *r)
{
	const struct transfer *t = r->transfers.list;
	size_t n = r->transfers.count;
	if (n)
		qsort(r->transfers.list, n, sizeof(*t), by_id);
	for (size_t i = 0; i + 1 < n; i++) {
		const struct transfer *done = &t[i + 1];
		bool issues = t[i].kind == READ_ISSUE || t[i].kind == WRITE_ISSUE;
		if (!issues || done->id != t[i].id || done->kind != t[i].kind + 1 ||
		    done->span.begin_ps <= t[i].span.begin_ps)
			continue;
		if (!add_span(r, (struct tfp_time_span){t[i].span.begin_ps, done->span.end_ps},
			      t[i].group,
			      t[i].kind == READ_ISSUE ? TFP_STEP_DEVICE_TO_HOST
						      : TFP_STEP_HOST_TO_DEVICE))
			return false;
	}
	return true;
}

/* ---- devices ---- */

static bool read_tpu(struct reader *r, size_t p)
{
	const struct tfp_plane *plane = &r->capture->planes[p];
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		const struct tfp_group_column *groups = &r->groups->planes[p][l].group;
		if (!groups->blocks || !tfp_str_equal(line->name, "XLA Modules"))
			continue;
		for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
			int32_t group = tfp_group_in(groups, i);
			if (group >= 0 && !add_span(r, tfp_event_span(line, i), (uint32_t)group,
						    TFP_STEP_DEVICE_COMPUTE_32))
				return false;
		}
	}
	return true;
}

/* Room for the spans of one run at a time. */
struct run_room {
	struct tfp_step_span *spans;
	size_t size;
};

static bool make_run_room(struct run_room *room, size_t count)
{
	if (count <= room->size)
		return true;
	tfp_free(room->spans);
	room->spans = tfp_reallocarray(NULL, count, sizeof(*room->spans));
	room->size = room->spans ? count : 0;
	return room->spans != NULL;
}

static bool read_gpu_line(struct reader *r, const struct tfp_plane_steps *steps, size_t l,
			  struct run_room *room)
{
	const struct tfp_line_steps *line = &steps->lines[l];
	bool ok = true;
	for (size_t i = 0; ok && i < line->run_count; i++) {
		const struct tfp_step_run *run = &line->runs[i];
		ok = make_run_room(room, run->count);
		const struct tfp_step_span *spans = room->spans;
		size_t count = ok ? tfp_step_spans_of_gpu_run(steps, l, run, room->spans) : 0;
		for (size_t s = 0; ok && s < count; s++)
			ok = add_span(r, (struct tfp_time_span){spans[s].begin_ps, spans[s].end_ps},
				      spans[s].group, (enum tfp_step_event)spans[s].type);
	}
	return ok;
}

static bool read_gpu(struct reader *r, size_t p, struct tfp_pool *pool)
{
	struct tfp_plane_steps steps = {.plane = p, .kind = TFP_PLANE_GPU};
	struct run_room room = {NULL, 0};
	bool ok = tfp_step_events_of_gpu(r->capture, r->groups, NULL, r->stats->planes[p], pool,
					 &steps);
	for (size_t l = 0; ok && l < r->capture->planes[p].line_count; l++)
		ok = read_gpu_line(r, &steps, l, &room);
	tfp_free(room.spans);
	tfp_plane_steps_release(&steps);
	return ok;
}

static bool read_devices(struct reader *r, struct tfp_pool *pool)
{
	for (size_t p = 0; p < r->capture->plane_count; p++) {
		enum tfp_plane_kind kind = tfp_plane_kind(r->capture->planes[p].name);
		if ((kind == TFP_PLANE_TPU && !read_tpu(r, p)) ||
		    (kind == TFP_PLANE_GPU && !read_gpu(r, p, pool)))
			return false;
	}
	return true;
}

/* ---- requests ---- */

static int by_below(const void *a, const void *b)
{
	const struct tfp_group_link *x = a, *y = b;
	if (x->below != y->below)
		return x->below < y->below ? -1 : 1;
	return (x->above > y->above) - (x->above < y->above);
}

static size_t first_above(const struct reader *r, uint32_t below)
{
	size_t low = 0, high = r->groups->link_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->up[middle].below < below)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The work of a group is done for itself and for the requests above it. Calls see with each of
 * these. */
static void each_request(struct reader *r, uint32_t group,
			 void (*see)(struct group *g, const struct tfp_step_span *span,
				     struct tfp_step_span *all),
			 const struct tfp_step_span *span, struct tfp_step_span *all)
{
	if (r->by_id[group].is_request)
		see(&r->by_id[group], span, all);
	for (size_t i = first_above(r, group); i < r->groups->link_count && r->up[i].below == group;
	     i++) {
		if (r->by_id[r->up[i].above].is_request)
			see(&r->by_id[r->up[i].above], span, all);
	}
}

static void count_span(struct group *g, const struct tfp_step_span *span, struct tfp_step_span *all)
{
	(void)span;
	(void)all;
	g->span_count++;
}

static void put_span(struct group *g, const struct tfp_step_span *span, struct tfp_step_span *all)
{
	all[g->first_span + g->span_count++] = *span;
}

static bool measure(const struct group *g, struct tfp_step_span *all, struct tfp_request *out)
{
	uint64_t in[TFP_STEP_EVENT_COUNT] = {0}, everywhere[TFP_STEP_EVENT_COUNT] = {0};
	bool seen[TFP_STEP_EVENT_COUNT] = {false};
	if (!tfp_step_sweep(&all[g->first_span], g->span_count, g->span.begin_ps, g->span.end_ps,
			    in, everywhere, seen))
		return false;
	*out = (struct tfp_request){
		.total_ps = (uint64_t)(g->span.end_ps - g->span.begin_ps),
		.device_ps = in[TFP_STEP_DEVICE_COMPUTE_16] + in[TFP_STEP_DEVICE_COMPUTE_32],
		.communication_ps = in[TFP_STEP_HOST_TO_DEVICE] + in[TFP_STEP_DEVICE_TO_HOST],
	};
	return true;
}

static bool list_requests(struct reader *r, struct tfp_requests *out)
{
	size_t n = r->groups->group_count, spans = 0, requests = 0;
	for (size_t i = 0; i < r->groups->link_count; i++) {
		struct group *above = &r->by_id[r->groups->links[i].above];
		const struct group *below = &r->by_id[r->groups->links[i].below];
		if (below->is_batch && above->span.end_ps < below->batch_end_ps)
			above->span.end_ps = below->batch_end_ps;
	}
	for (size_t g = 0; g < n; g++) {
		/* What runs in a batch is no request of its own. */
		r->by_id[g].is_request &= !r->by_id[g].is_batch;
		requests += r->by_id[g].is_request;
	}
	for (size_t i = 0; i < r->spans.count; i++)
		each_request(r, r->spans.list[i].group, count_span, NULL, NULL);
	for (size_t g = 0; g < n; g++) {
		r->by_id[g].first_span = spans;
		spans += r->by_id[g].span_count;
		r->by_id[g].span_count = 0;
	}
	struct tfp_step_span *all = tfp_reallocarray(NULL, spans + 1, sizeof(*all));
	out->list = tfp_calloc(requests + 1, sizeof(*out->list));
	bool ok = all && out->list;
	for (size_t i = 0; ok && i < r->spans.count; i++)
		each_request(r, r->spans.list[i].group, put_span, &r->spans.list[i], all);
	for (size_t g = 0; ok && g < n; g++) {
		const struct group *x = &r->by_id[g];
		if (x->is_request && x->span.end_ps > x->span.begin_ps)
			ok = measure(x, all, &out->list[out->count++]);
	}
	tfp_free(all);
	return ok;
}

/* Whether anything in the capture could be a request: most have none. */
static bool prepare(struct reader *r, bool *any)
{
	*any = false;
	r->kinds = tfp_calloc(r->host->event_meta_count, 1);
	if (!r->kinds || tfp_schema_init(&r->schema, r->host, names, WANTED, NULL) != TFP_OK)
		return false;
	for (size_t m = 0; m < r->host->event_meta_count; m++)
		r->kinds[m] = (uint8_t)kind_of(r->host->event_metas[m].name);
	for (size_t l = 0; l < r->host->line_count; l++) {
		for (size_t i = 0; i < r->host->lines[l].event_count; i++)
			r->has_kind[r->kinds[tfp_event_meta_index(&r->host->lines[l], i)]] = true;
	}
	*any = tfp_schema_has(&r->schema, ROOT_LEVEL);
	for (int k = BATCHING_SESSION_RUN; k <= SESSION_RUN; k++)
		*any |= r->has_kind[k];
	return true;
}

static bool has_request(const struct reader *r)
{
	for (size_t g = 0; g < r->groups->group_count; g++) {
		if (r->by_id[g].is_request)
			return true;
	}
	return false;
}

static bool read_requests(struct reader *r, struct tfp_pool *pool, struct tfp_requests *out)
{
	size_t n = r->groups->group_count, links = r->groups->link_count;
	r->by_id = tfp_calloc(n + 1, sizeof(*r->by_id));
	r->up = tfp_reallocarray(NULL, links + 1, sizeof(*r->up));
	if (!r->by_id || !r->up || !read_host(r))
		return false;
	if (!has_request(r))
		return true;
	if (links) {
		memcpy(r->up, r->groups->links, links * sizeof(*r->up));
		qsort(r->up, links, sizeof(*r->up), by_below);
	}
	return pair_transfers(r) && read_devices(r, pool) && list_requests(r, out);
}

static void free_requests(void *fact)
{
	struct tfp_requests *requests = fact;
	tfp_free(requests->list);
	tfp_free(requests);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the requests to the model");
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct reader r = {.capture = capture,
			   .host = tfp_capture_find_plane(capture, "/host:CPU")};
	struct tfp_requests *requests = tfp_calloc(1, sizeof(*requests));
	enum tfp_status status = TFP_OK;
	bool any = false;
	if (!requests)
		return no_memory(err);
	bool ok = !r.host || prepare(&r, &any);
	if (ok && any) {
		r.host_plane = (size_t)(r.host - capture->planes);
		status = tfp_groups_get(capture, pool, &r.groups, err);
		if (status == TFP_OK)
			status = tfp_stat_columns_get(capture, pool, TFP_STATS_OF_GPUS, &r.stats,
						      err);
		ok = status != TFP_OK || read_requests(&r, pool, requests);
	}
	tfp_schema_release(&r.schema);
	tfp_free(r.kinds);
	tfp_free(r.by_id);
	tfp_free(r.spans.list);
	tfp_free(r.transfers.list);
	tfp_free(r.up);
	if (!ok)
		status = no_memory(err);
	if (status != TFP_OK) {
		free_requests(requests);
		return status;
	}
	*heap_bytes = sizeof(*requests) + requests->count * sizeof(*requests->list);
	*fact = requests;
	return TFP_OK;
}

enum tfp_status tfp_requests_get(struct tfp_capture *capture, struct tfp_pool *pool,
				 const struct tfp_requests **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_requests};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
