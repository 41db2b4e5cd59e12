/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/grouping/grouping_parts.h"

#include "analysis/events/time_span.h"
#include "base/hash.h"
#include "base/progress.h"

const char *const tfp_grouping_stats[WANTED] = {
	[PRODUCER_TYPE] = "_pt",
	[PRODUCER_ID] = "_p",
	[CONSUMER_TYPE] = "_ct",
	[CONSUMER_ID] = "_c",
	[PROCESS_ID] = "_pid",
	[ROOT_LEVEL] = "_r",
	[IS_ASYNC] = "_a",
	[STEP_ID] = "id",
	[ITER_NUM] = "iter_num",
	[STEP_NUM] = "step_num",
	[GRAPH_TYPE] = "graph_type",
	[IS_FUNC] = "is_func",
	[REQUEST_ID] = "request_id",
	[QUEUE_ADDR] = "queue_addr",
	[DEVICE_ORDINAL] = "device_ordinal",
	[QUEUE_ID] = "queue_id",
	[RUN_ID] = "run_id",
	[CORE_TYPE] = "core_type",
};

/* ---- what stats say ---- */

void tfp_grouping_facts(const struct tfp_raw_line *l, size_t event, struct tfp_raw_facts *f)
{
	f->present = 0;
	f->graph_type = (struct tfp_str){"", 0};
	if (!tfp_event_set_has(&l->stats->linked, event))
		return;
	struct tfp_stat_iter it = tfp_event_stats(l->line, event);
	struct tfp_stat stat;
	int name;
	while ((name = tfp_schema_next(l->schema, &it, &stat)) >= 0) {
		if (name == GRAPH_TYPE)
			f->present |= (uint32_t)tfp_stat_text(l->plane, &stat, &f->graph_type)
				      << GRAPH_TYPE;
		else if (tfp_stat_int(&stat, &f->number[name]))
			f->present |= 1u << name;
	}
}

/* One number stands for the kind of a connection, its id and the process. Different connections
 * share it with a chance of 1 in 2^63; some ids are hashes themselves. */
static bool add_end(struct tfp_raw_list *list, uint64_t kind, uint64_t id, uint64_t process,
		    struct tfp_raw_ref ref)
{
	bool last_only = kind == TO_GET_NEXT || kind == TO_GET_NEXT_OPTIONAL;
	uint64_t hash = tfp_hash_u64(id ^ tfp_hash_u64(process ^ tfp_hash_u64(kind)));
	const struct tfp_pair end = {
		(hash & ~LAST_PRODUCER_ONLY) | (last_only ? LAST_PRODUCER_ONLY : 0), place_of(ref)};
	return push(list, &end, sizeof(end));
}

static void set_fact(struct tfp_raw_facts *f, int name, uint64_t value)
{
	f->number[name] = (int64_t)value;
	f->present |= 1u << name;
}

/* One number for several, which are equal where they are. */
static uint64_t id_of(const struct tfp_raw_facts *f, const int *names, size_t count)
{
	uint64_t id = 0;
	for (size_t i = 0; i < count; i++)
		id = tfp_hash_u64(id ^ (uint64_t)(has(f, names[i]) ? f->number[names[i]] : 0));
	return id;
}

static bool has_all(const struct tfp_raw_facts *f, const int *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!has(f, names[i]))
			return false;
	}
	return true;
}

/* Adds what the peers add to the stats of some events before they group them
 * (preprocess_xplane.cc): the root level of batches, and connections of the TPU runtime whose ends
 * other stats tell. */
static void preprocess(const struct tfp_raw_line *l, enum tfp_runtime_event type,
		       struct tfp_raw_facts *f)
{
	static const int request[] = {REQUEST_ID, QUEUE_ADDR};
	/* The core's type is 0 where it is not said. */
	static const int launch[] = {DEVICE_ORDINAL, QUEUE_ID, RUN_ID, CORE_TYPE};
	bool produces = type == TFP_EVENT_ENQUEUE_REQUEST || type == TFP_EVENT_ENQUEUE_PROGRAM;
	uint64_t context = 0, id = 0;
	if (type == TFP_EVENT_PROCESS_BATCH || type == TFP_EVENT_BATCHING_SESSION_RUN)
		set_fact(f, ROOT_LEVEL, type == TFP_EVENT_PROCESS_BATCH ? 2 : 1);
	else if (type == TFP_EVENT_TRACE_CONTEXT && !has(f, ROOT_LEVEL))
		set_fact(f, ROOT_LEVEL, 1);
	if ((type == TFP_EVENT_ENQUEUE_PROGRAM || type == TFP_EVENT_COMPLETE_PROGRAM) &&
	    has(f, RUN_ID))
		set_fact(f, RUN_ID, (uint64_t)f->number[RUN_ID] & TFP_RUN_ID_MASK);
	if (l->device_ordinal >= 0)
		set_fact(f, DEVICE_ORDINAL, (uint64_t)l->device_ordinal);
	if ((type == TFP_EVENT_ENQUEUE_REQUEST || type == TFP_EVENT_DEQUEUE_REQUEST) &&
	    has_all(f, request, 2)) {
		context = TFP_CONTEXT_TPU_STREAM;
		id = id_of(f, request, 2);
	} else if ((type == TFP_EVENT_ENQUEUE_PROGRAM || type == TFP_EVENT_COMPLETE_PROGRAM ||
		    l->device_ordinal >= 0) &&
		   has_all(f, launch, 3)) {
		context = TFP_CONTEXT_TPU_LAUNCH;
		id = id_of(f, launch, 4);
	} else {
		return;
	}
	set_fact(f, produces ? PRODUCER_TYPE : CONSUMER_TYPE, context);
	set_fact(f, produces ? PRODUCER_ID : CONSUMER_ID, id);
}

static uint64_t iteration_key(const struct tfp_raw_facts *f)
{
	return tfp_hash_u64((uint64_t)f->number[STEP_ID]) ^ (uint64_t)f->number[ITER_NUM];
}

/* Connections by context: `_pt` and `_p` make a producer, `_ct` and `_c` a
 * consumer; a context type that is none of the known ones counts as 0. ref: the event
 * that is the end. */
static bool add_context(struct tfp_raw_line *l, struct tfp_raw_ref ref,
			const struct tfp_raw_facts *f)
{
	/* A process that is not named is one of its own. */
	uint64_t process = has(f, PROCESS_ID) ? (uint64_t)f->number[PROCESS_ID] + 1
			   : l->has_process   ? (uint64_t)l->process + 1
					      : 0;
	bool ok = true;
	if (has(f, PRODUCER_TYPE) && has(f, PRODUCER_ID))
		ok = add_end(&l->producers, (uint64_t)f->number[PRODUCER_TYPE],
			     (uint64_t)f->number[PRODUCER_ID], process, ref);
	if (has(f, CONSUMER_TYPE) && has(f, CONSUMER_ID))
		ok = ok && add_end(&l->consumers, (uint64_t)f->number[CONSUMER_TYPE],
				   (uint64_t)f->number[CONSUMER_ID], process, ref);
	return ok;
}

/* Connections that older names and stats stand for. */
static bool add_by_type(struct tfp_raw_line *l, struct tfp_raw_ref ref, enum tfp_runtime_event type,
			const struct tfp_raw_facts *f)
{
	bool iterates = has(f, STEP_ID) && has(f, ITER_NUM), ok = true;
	switch (type) {
	case TFP_EVENT_EXECUTOR_PROCESS:
		if (!iterates)
			break;
		ok = add_end(&l->producers, TO_GET_NEXT, iteration_key(f), 0, ref) &&
		     add_end(&l->producers, TO_GET_NEXT_OPTIONAL, iteration_key(f), 0, ref) &&
		     add_end(&l->producers, TO_EXECUTOR, iteration_key(f), 0, ref);
		break;
	case TFP_EVENT_GET_NEXT:
	case TFP_EVENT_GET_NEXT_OPTIONAL:
		if (iterates)
			ok = add_end(&l->consumers,
				     type == TFP_EVENT_GET_NEXT ? TO_GET_NEXT
								: TO_GET_NEXT_OPTIONAL,
				     iteration_key(f), 0, ref);
		break;
	case TFP_EVENT_TPU_EXECUTE_OP:
		if (iterates)
			ok = add_end(&l->consumers, TO_EXECUTOR, iteration_key(f), 0, ref);
		break;
	default:
		break;
	}
	return ok;
}

static bool add_event(struct tfp_raw_line *l, size_t i, enum tfp_runtime_event type,
		      const struct tfp_raw_facts *f)
{
	struct tfp_raw_ref ref = {l->number, (uint32_t)i};
	int64_t start = tfp_event_start_ps(l->line, i);
	bool ok = add_context(l, ref, f) && add_by_type(l, ref, type, f);
	struct tfp_raw_root root = {ref, f->number[ROOT_LEVEL], start};
	if (has(f, ROOT_LEVEL))
		ok = ok && push(&l->roots, &root, sizeof(root));
	if (type == TFP_EVENT_CAPTURED_FUNCTION && has(f, STEP_ID))
		ok = ok && push(&l->data_ids, &f->number[STEP_ID], sizeof(int64_t));
	if (type == TFP_EVENT_EXECUTOR_PROCESS && has(f, STEP_ID) && has(f, ITER_NUM)) {
		struct tfp_raw_iteration it = {f->number[STEP_ID], f->number[ITER_NUM], start, ref};
		ok = ok && push(&l->iterations, &it, sizeof(it));
	}
	return ok;
}

struct open {
	uint32_t event;
	int64_t end_ps;
};

/* The list is made for the first parent only: kernels of a stream follow one another, so that most
 * lines of devices need none. */
static bool set_parent(struct tfp_raw_line *l, size_t i, uint32_t parent)
{
	size_t n = l->line->event_count;
	if (!l->parent) {
		l->parent = tfp_reallocarray(NULL, n, sizeof(*l->parent));
		if (!l->parent)
			return false;
		memset(l->parent, 0xff, n * sizeof(*l->parent)); /* NO_PARENT */
	}
	l->parent[i] = parent;
	return true;
}

/* Nesting: the innermost event before that includes it, ends included. */
static bool nest(struct tfp_raw_line *l, size_t i, int64_t end_ps, struct tfp_raw_list *open)
{
	const int64_t start_ps = tfp_event_offset_ps(l->line, i);
	const struct open *top = NULL;
	while (open->count > 0) {
		top = (const struct open *)open->items + open->count - 1;
		if (end_ps <= top->end_ps && start_ps >= tfp_event_offset_ps(l->line, top->event))
			break;
		open->count--;
	}
	if (open->count && !set_parent(l, i, top->event))
		return false;
	const struct open self = {(uint32_t)i, end_ps};
	return push(open, &self, sizeof(self));
}

/* A thread of a pool marks when it begins to work for another thread and when it stops. The events
 * between belong to that work. The peers add an event for it; here the first mark lasts until the
 * second, and nothing is added to the line. */
static bool find_regions(struct tfp_raw_line *l)
{
	struct tfp_line_groups *g = l->groups;
	size_t room = 0;
	bool is_open = false;
	for (size_t i = 0; i < l->line->event_count; i++) {
		enum tfp_runtime_event type = type_at(l, i);
		struct tfp_raw_facts f;
		if (type == TFP_EVENT_START_REGION) {
			tfp_grouping_facts(l, i, &f);
			if (!has(&f, CONSUMER_ID))
				continue;
			if (!TFP_GROW(g->regions, g->region_count, room))
				return false;
			/* One that is not stopped is taken back. */
			g->region_count -= is_open;
			g->regions[g->region_count++] =
				(struct tfp_region){(uint32_t)i, tfp_event_offset_ps(l->line, i)};
			is_open = true;
		} else if (type == TFP_EVENT_STOP_REGION && g->region_count) {
			g->regions[g->region_count - 1].end_ps = tfp_event_offset_ps(l->line, i);
			is_open = false;
		}
	}
	g->region_count -= is_open;
	return true;
}

static bool read_thread(struct tfp_raw_line *l)
{
	const struct tfp_line_groups *g = l->groups;
	size_t n = l->line->event_count, region = 0;
	struct tfp_raw_list open = {0};
	bool ok = !l->has_regions || find_regions(l);
	for (size_t i = 0; ok && i < n; i++) {
		if (!tfp_goes_on(i)) {
			ok = false; /* not all parents are written */
			break;
		}
		enum tfp_runtime_event type = type_at(l, i);
		int64_t end_ps = tfp_event_end_offset_ps(l->line, i);
		struct tfp_raw_facts f;
		tfp_grouping_facts(l, i, &f);
		if (f.present || (type != TFP_EVENT_OTHER && type != TFP_EVENT_TF_OP))
			preprocess(l, type, &f);
		if (region < g->region_count && g->regions[region].event == i) {
			end_ps = g->regions[region++].end_ps;
			set_fact(&f, CONSUMER_TYPE, TFP_CONTEXT_THREADPOOL);
		}
		if (has(&f, IS_ASYNC) && f.number[IS_ASYNC])
			ok = set_parent(l, i, ASYNC);
		else
			ok = nest(l, i, end_ps, &open);
		if (ok && (f.present || (type != TFP_EVENT_OTHER && type != TFP_EVENT_TF_OP)))
			ok = add_event(l, i, type, &f);
		if (type == TFP_EVENT_EAGER_EXECUTE) {
			/* Eager is what runs no function, and says so. */
			uint32_t item[2] = {(uint32_t)i,
					    has(&f, IS_FUNC) && f.number[IS_FUNC] == 0};
			ok = ok && push(&l->eager_roots, item, sizeof(item));
		}
	}
	tfp_free(open.items);
	return ok;
}

/* On a TPU only the events of the grouping line are connected to others (ConnectIntraThreadTPU).
 * The stats of an event below one of them, on any line, count for that one. */
static bool read_tpu_line(const struct tfp_raw *raw, struct tfp_raw_line *l)
{
	const struct tfp_line *line = l->line;
	size_t n = line->event_count, at = 0;
	if (l->grouping_line == NO_PARENT)
		return true;
	const struct tfp_line *above = raw->lines[l->grouping_line].line;
	bool ok = true, is_grouping = l->grouping_line == l->number;
	for (size_t i = 0; ok && i < n && tfp_goes_on(i); i++) {
		enum tfp_runtime_event type = type_at(l, i);
		struct tfp_raw_facts f;
		size_t node = i;
		if (!is_grouping) {
			struct tfp_time_span span = tfp_event_span(line, i);
			while (at < above->event_count &&
			       tfp_event_span(above, at).end_ps <= span.begin_ps)
				at++;
			if (at == above->event_count)
				break;
			struct tfp_time_span parent = tfp_event_span(above, at);
			if (span.begin_ps < parent.begin_ps || span.end_ps > parent.end_ps)
				continue;
			node = at;
		}
		struct tfp_raw_ref ref = {l->grouping_line, (uint32_t)node};
		tfp_grouping_facts(l, i, &f);
		preprocess(l, type, &f);
		ok = add_context(l, ref, &f);
	}
	return ok;
}

void tfp_grouping_read_line(void *context, size_t index)
{
	struct tfp_raw *raw = context;
	struct tfp_raw_line *l = &raw->lines[index];
	if (l->line->event_count && !(l->is_tpu ? read_tpu_line(raw, l) : read_thread(l)))
		atomic_store(&raw->no_memory, true);
}
