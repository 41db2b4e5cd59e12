/*
 * Groups of raw captures (XProf's group_events.cc and preprocess_xplane.cc, as
 * preprocess.md B, C and D1 describe them).
 *
 * An event's parents are the event that it is nested in on its thread, and the
 * producers that it is a consumer of, elsewhere. A root passes its group to
 * everything below it. Nothing here is a graph of objects: nesting is one
 * index an event, and only the few events that connect threads are lists.
 */
#include "analysis/groups.h"

#include "analysis/grouping_tpu.h"
#include "analysis/op_name.h"
#include "analysis/schema.h"
#include "analysis/time_span.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/progress.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PARENT UINT32_MAX
#define ASYNC     (UINT32_MAX - 1) /* neither has a parent nor is one */

/* A group of so many producers and so many consumers connects everything with
 * everything: the peers leave it out, and so do we. */
#define CROWD 64u

/* How far an event's ancestors are followed; more than any program nests. */
#define ANCESTORS_MAX 65536u

enum type {
	OTHER,
	TF_OP,
	TRACE_CONTEXT,
	FUNCTION_RUN,
	SESSION_RUN,
	RUN_GRAPH,
	EXECUTOR_PROCESS,
	GET_NEXT,
	GET_NEXT_OPTIONAL,
	EAGER_EXECUTE,
	CAPTURED_FUNCTION,
	PROCESS_BATCH,
	BATCHING_SESSION_RUN,
	TPU_EXECUTE_OP,
	ENQUEUE_REQUEST,
	DEQUEUE_REQUEST,
	ENQUEUE_PROGRAM,
	COMPLETE_PROGRAM,
	START_REGION,
	STOP_REGION,
};

/* Kinds of connections that the profiler numbers (context_types.h), as far as older
 * events stand for them. */
enum { CONTEXT_TPU_STREAM = 11, CONTEXT_TPU_LAUNCH = 12, CONTEXT_THREADPOOL = 15 };

/* The device knows the low bits of a run's number. */
#define RUN_ID_MASK ((UINT64_C(1) << 27) - 1)

enum {
	PRODUCER_TYPE,
	PRODUCER_ID,
	CONSUMER_TYPE,
	CONSUMER_ID,
	PROCESS_ID,
	ROOT_LEVEL,
	IS_ASYNC,
	STEP_ID,
	ITER_NUM,
	STEP_NUM,
	GRAPH_TYPE,
	CORRELATION_ID,
	IS_FUNC,
	REQUEST_ID,
	QUEUE_ADDR,
	DEVICE_ORDINAL,
	QUEUE_ID,
	RUN_ID,
	CORE_TYPE,
	WANTED
};

static const char *const stat_names[WANTED] = {
	[PRODUCER_TYPE] = "_pt",     [PRODUCER_ID] = "_p",
	[CONSUMER_TYPE] = "_ct",     [CONSUMER_ID] = "_c",
	[PROCESS_ID] = "_pid",       [ROOT_LEVEL] = "_r",
	[IS_ASYNC] = "_a",           [STEP_ID] = "id",
	[ITER_NUM] = "iter_num",     [STEP_NUM] = "step_num",
	[GRAPH_TYPE] = "graph_type", [CORRELATION_ID] = "correlation_id",
	[IS_FUNC] = "is_func",       [REQUEST_ID] = "request_id",
	[QUEUE_ADDR] = "queue_addr", [DEVICE_ORDINAL] = "device_ordinal",
	[QUEUE_ID] = "queue_id",     [RUN_ID] = "run_id",
	[CORE_TYPE] = "core_type",
};

/* What the stats of an event say; numbers by place in stat_names. */
struct facts {
	uint32_t present; /* bits */
	int64_t number[WANTED];
	struct tfp_str graph_type;
};

/* An event, by the number of its line over all planes. */
struct ref {
	uint32_t line, event;
};

/* One end of a connection between threads. */
struct end {
	uint64_t key[3]; /* kind of connection, id, process */
	struct ref ref;
};

struct link {
	struct ref from, to;
};

struct root {
	struct ref ref;
	int64_t level, start_ps;
};

/* An executor's run of a function, which may be an iteration of a loop. */
struct iteration {
	int64_t id, iter;
	int64_t start_ps;
	struct ref ref;
};

struct list {
	void *items;
	size_t count, room;
};

struct raw_line {
	const struct tfp_plane *plane;
	const struct tfp_line *line;
	struct tfp_line_groups *groups;
	const struct tfp_schema *schema;
	const uint8_t *types; /* by event metadata */
	uint32_t number;
	bool is_host, is_gpu, is_tpu;
	/* Of a TPU's plane: the line whose events stand for all that happens under them
	 * (its number, NO_PARENT where there is none), and the device's number on the
	 * line of modules, else -1. */
	uint32_t grouping_line;
	int64_t device_ordinal;
	bool has_process; /* the plane says which process it is of */
	int64_t process;
	uint32_t *parent;
	uint8_t *eager; /* what an event passes on to those below it */
	/* Found on this line, then joined into those of all lines. */
	struct list producers, consumers, roots, iterations, data_ids, eager_roots;
	struct list launches, kernels;
};

struct raw {
	const struct tfp_capture *capture;
	struct tfp_groups *groups;
	struct raw_line *lines;
	size_t line_count;
	struct tfp_schema *schemas; /* by plane */
	uint8_t **types;            /* by plane */
	struct list producers, consumers, roots, iterations, data_ids, launches, kernels;
	struct list by_parent, by_child;  /* struct link, sorted by that end */
	size_t *parents_at, *children_at; /* by line: where its links begin; one more */
	struct list group_roots;          /* struct ref, of the groups made */
	struct list group_links;          /* struct tfp_group_link */
	size_t group_room;
	bool has_eager;
	atomic_bool no_memory;
};

static bool push(struct list *list, const void *item, size_t size)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 16;
		void *items = tfp_reallocarray(list->items, room, size);
		if (!items)
			return false;
		list->items = items;
		list->room = room;
	}
	memcpy((char *)list->items + list->count++ * size, item, size);
	return true;
}

static void drop(struct list *list)
{
	tfp_free(list->items);
	*list = (struct list){0};
}

static bool append(struct list *list, struct list *from, size_t size)
{
	if (from->count) {
		size_t room = list->count + from->count;
		void *items = tfp_reallocarray(list->items, room, size);
		if (!items)
			return false;
		memcpy((char *)items + list->count * size, from->items, from->count * size);
		list->items = items;
		list->count = list->room = room;
	}
	drop(from);
	return true;
}

/* ---- one line ---- */

static enum type type_of(struct tfp_str name)
{
	static const struct {
		const char *name;
		enum type type;
	} known[] = {
		{"TraceContext", TRACE_CONTEXT},
		{"FunctionRun", FUNCTION_RUN},
		{"SessionRun", SESSION_RUN},
		{"RunGraph", RUN_GRAPH},
		{"ExecutorState::Process", EXECUTOR_PROCESS},
		{"IteratorGetNextOp::DoCompute", GET_NEXT},
		{"IteratorGetNextAsOptionalOp::DoCompute", GET_NEXT_OPTIONAL},
		{"EagerExecute", EAGER_EXECUTE},
		{"InstantiatedCapturedFunction::Run", CAPTURED_FUNCTION},
		{"InstantiatedCapturedFunction::RunWithBorrowedArgs", CAPTURED_FUNCTION},
		{"InstantiatedCapturedFunction::RunInstantiated", CAPTURED_FUNCTION},
		{"InstantiatedCapturedFunction::RunAsync", CAPTURED_FUNCTION},
		{"ProcessBatch", PROCESS_BATCH},
		{"OrbaxServing::ProcessBatch", PROCESS_BATCH},
		{"BatchingSessionRun", BATCHING_SESSION_RUN},
		{"TpuExecuteOp", TPU_EXECUTE_OP},
		{"EnqueueRequestLocked", ENQUEUE_REQUEST},
		{"RunProgramRequest", DEQUEUE_REQUEST},
		{"HostCallbackRequest", DEQUEUE_REQUEST},
		{"TransferH2DRequest", DEQUEUE_REQUEST},
		{"TransferPreprocessedH2DRequest", DEQUEUE_REQUEST},
		{"TransferD2HRequest", DEQUEUE_REQUEST},
		{"OnDeviceSendRequest", DEQUEUE_REQUEST},
		{"OnDeviceRecvRequest", DEQUEUE_REQUEST},
		{"OnDeviceSendRecvLocalRequest", DEQUEUE_REQUEST},
		{"OnDeviceSendRequestMulti", DEQUEUE_REQUEST},
		{"OnDeviceRecvRequestMulti", DEQUEUE_REQUEST},
		{"CustomWait", DEQUEUE_REQUEST},
		{"PjrtAsyncWait", DEQUEUE_REQUEST},
		{"DoEnqueueProgram", ENQUEUE_PROGRAM},
		{"CompleteCallbacks", COMPLETE_PROGRAM},
		{"ThreadpoolListener::StartRegion", START_REGION},
		{"ThreadpoolListener::StopRegion", STOP_REGION},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (tfp_str_equal(name, known[i].name))
			return known[i].type;
	}
	return tfp_op_name_parse(name).category == TFP_OP_TENSORFLOW ? TF_OP : OTHER;
}

/* Names of loops whose iterations these rules do not understand: with one of
 * them in a capture the peers make no groups at all. */
static bool is_loop(struct tfp_str name)
{
	static const char *const loops[] = {"WhileOp-EvalCond", "WhileOp-StartBody", "ForOp",
					    "ParallelForOp", "ForeverOp"};
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		if (tfp_str_equal(name, loops[i]))
			return true;
	}
	return false;
}

static void read_facts(const struct raw_line *l, size_t i, struct facts *f)
{
	struct tfp_stat_iter it = tfp_event_stats(l->line, i);
	struct tfp_stat stat;
	f->present = 0;
	f->graph_type = (struct tfp_str){"", 0};
	while (tfp_stat_next(&it, &stat)) {
		int name = tfp_schema_of(l->schema, &stat);
		if (name < 0)
			continue;
		if (name == GRAPH_TYPE)
			f->present |= (uint32_t)tfp_stat_text(l->plane, &stat, &f->graph_type)
				      << GRAPH_TYPE;
		else if (tfp_stat_int(&stat, &f->number[name]))
			f->present |= 1u << name;
	}
}

static bool has(const struct facts *f, int name)
{
	return f->present & 1u << name;
}

enum { TO_GET_NEXT = 1000, TO_GET_NEXT_OPTIONAL, TO_EXECUTOR };

/* A launch or a kernel. There are as many as all other connections together,
 * and their ids are nearly in order already. */
struct launch {
	uint64_t id;
	struct ref ref;
};

static bool add_end(struct list *list, uint64_t kind, uint64_t id, uint64_t process, struct ref ref)
{
	struct end end = {{kind, id, process}, ref};
	return push(list, &end, sizeof(end));
}

static void set_fact(struct facts *f, int name, uint64_t value)
{
	f->number[name] = (int64_t)value;
	f->present |= 1u << name;
}

/* One number for several, which are equal where they are. */
static uint64_t id_of(const struct facts *f, const int *names, size_t count)
{
	uint64_t id = 0;
	for (size_t i = 0; i < count; i++)
		id = tfp_hash_u64(id ^ (uint64_t)(has(f, names[i]) ? f->number[names[i]] : 0));
	return id;
}

static bool has_all(const struct facts *f, const int *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!has(f, names[i]))
			return false;
	}
	return true;
}

/* What the peers add to the stats of some events before they group them
 * (preprocess_xplane.cc): the root level of batches, and connections of the
 * TPU runtime whose ends are known by other stats. */
static void preprocess(const struct raw_line *l, enum type type, struct facts *f)
{
	static const int request[] = {REQUEST_ID, QUEUE_ADDR};
	/* The core's type is 0 where it is not said. */
	static const int launch[] = {DEVICE_ORDINAL, QUEUE_ID, RUN_ID, CORE_TYPE};
	bool produces = type == ENQUEUE_REQUEST || type == ENQUEUE_PROGRAM;
	uint64_t context = 0, id = 0;
	if (type == PROCESS_BATCH || type == BATCHING_SESSION_RUN)
		set_fact(f, ROOT_LEVEL, type == PROCESS_BATCH ? 2 : 1);
	else if (type == TRACE_CONTEXT && !has(f, ROOT_LEVEL))
		set_fact(f, ROOT_LEVEL, 1);
	if ((type == ENQUEUE_PROGRAM || type == COMPLETE_PROGRAM) && has(f, RUN_ID))
		set_fact(f, RUN_ID, (uint64_t)f->number[RUN_ID] & RUN_ID_MASK);
	if (l->device_ordinal >= 0)
		set_fact(f, DEVICE_ORDINAL, (uint64_t)l->device_ordinal);
	if ((type == ENQUEUE_REQUEST || type == DEQUEUE_REQUEST) && has_all(f, request, 2)) {
		context = CONTEXT_TPU_STREAM;
		id = id_of(f, request, 2);
	} else if ((type == ENQUEUE_PROGRAM || type == COMPLETE_PROGRAM ||
		    l->device_ordinal >= 0) &&
		   has_all(f, launch, 3)) {
		context = CONTEXT_TPU_LAUNCH;
		id = id_of(f, launch, 4);
	} else {
		return;
	}
	set_fact(f, produces ? PRODUCER_TYPE : CONSUMER_TYPE, context);
	set_fact(f, produces ? PRODUCER_ID : CONSUMER_ID, id);
}

static uint64_t iteration_key(const struct facts *f)
{
	return tfp_hash_u64((uint64_t)f->number[STEP_ID]) ^ (uint64_t)f->number[ITER_NUM];
}

/* Connections by context: `_pt` and `_p` make a producer, `_ct` and `_c` a
 * consumer; a context type that is none of the known ones counts as 0. ref: the event
 * that is the end. */
static bool add_context(struct raw_line *l, struct ref ref, const struct facts *f)
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
static bool add_by_type(struct raw_line *l, struct ref ref, enum type type, const struct facts *f)
{
	bool iterates = has(f, STEP_ID) && has(f, ITER_NUM), ok = true;
	switch (type) {
	case EXECUTOR_PROCESS:
		if (!iterates)
			break;
		ok = add_end(&l->producers, TO_GET_NEXT, iteration_key(f), 0, ref) &&
		     add_end(&l->producers, TO_GET_NEXT_OPTIONAL, iteration_key(f), 0, ref) &&
		     add_end(&l->producers, TO_EXECUTOR, iteration_key(f), 0, ref);
		break;
	case GET_NEXT:
	case GET_NEXT_OPTIONAL:
		if (iterates)
			ok = add_end(&l->consumers,
				     type == GET_NEXT ? TO_GET_NEXT : TO_GET_NEXT_OPTIONAL,
				     iteration_key(f), 0, ref);
		break;
	case TPU_EXECUTE_OP:
		if (iterates)
			ok = add_end(&l->consumers, TO_EXECUTOR, iteration_key(f), 0, ref);
		break;
	case OTHER:
		if (has(f, CORRELATION_ID)) {
			struct launch launch = {(uint64_t)f->number[CORRELATION_ID], ref};
			ok = push(l->is_host ? &l->launches : &l->kernels, &launch, sizeof(launch));
		}
		break;
	default:
		break;
	}
	return ok;
}

static bool add_event(struct raw_line *l, size_t i, enum type type, const struct facts *f)
{
	struct ref ref = {l->number, (uint32_t)i};
	int64_t start = tfp_event_start_ps(l->line, i);
	bool ok = add_context(l, ref, f) && add_by_type(l, ref, type, f);
	struct root root = {ref, f->number[ROOT_LEVEL], start};
	if (has(f, ROOT_LEVEL))
		ok = ok && push(&l->roots, &root, sizeof(root));
	if (type == CAPTURED_FUNCTION && has(f, STEP_ID))
		ok = ok && push(&l->data_ids, &f->number[STEP_ID], sizeof(int64_t));
	if (type == EXECUTOR_PROCESS && has(f, STEP_ID) && has(f, ITER_NUM)) {
		struct iteration it = {f->number[STEP_ID], f->number[ITER_NUM], start, ref};
		ok = ok && push(&l->iterations, &it, sizeof(it));
	}
	return ok;
}

struct open {
	uint32_t event;
	int64_t end_ps;
};

/* Nesting: the innermost event before that includes it, ends included. */
static void nest(struct raw_line *l, size_t i, int64_t end_ps, struct open *open, size_t *depth)
{
	const int64_t *start = l->line->start_ps;
	while (*depth > 0) {
		const struct open *top = &open[*depth - 1];
		if (end_ps <= top->end_ps && start[i] >= start[top->event])
			break;
		--*depth;
	}
	l->parent[i] = *depth ? open[*depth - 1].event : NO_PARENT;
	open[(*depth)++] = (struct open){(uint32_t)i, end_ps};
}

/* A thread of a pool says when it begins to work for somebody and when it stops; what
 * happens between belongs to that work. The peers add an event for it. Here the first of the
 * two lasts as long as that: nothing is added to the line. */
static bool find_regions(struct raw_line *l)
{
	struct tfp_line_groups *g = l->groups;
	size_t room = 0;
	bool is_open = false;
	for (size_t i = 0; i < l->line->event_count; i++) {
		enum type type = (enum type)l->types[tfp_event_meta_index(l->line, i)];
		struct facts f;
		if (type == START_REGION) {
			read_facts(l, i, &f);
			if (!has(&f, CONSUMER_ID))
				continue;
			if (g->region_count == room) {
				room = room ? room * 2 : 16;
				struct tfp_region *list =
					tfp_reallocarray(g->regions, room, sizeof(*list));
				if (!list)
					return false;
				g->regions = list;
			}
			/* One that is not stopped is taken back. */
			g->region_count -= is_open;
			g->regions[g->region_count++] =
				(struct tfp_region){(uint32_t)i, l->line->start_ps[i]};
			is_open = true;
		} else if (type == STOP_REGION && g->region_count) {
			g->regions[g->region_count - 1].end_ps = l->line->start_ps[i];
			is_open = false;
		}
	}
	g->region_count -= is_open;
	return true;
}

static bool read_thread(struct raw_line *l)
{
	const struct tfp_line_groups *g = l->groups;
	size_t n = l->line->event_count, depth = 0, region = 0;
	struct open *open = tfp_reallocarray(NULL, n, sizeof(*open));
	bool ok = open != NULL && find_regions(l);
	for (size_t i = 0; ok && i < n; i++) {
		enum type type = (enum type)l->types[tfp_event_meta_index(l->line, i)];
		int64_t end_ps = l->line->start_ps[i] + tfp_event_duration_ps(l->line, i);
		struct facts f;
		read_facts(l, i, &f);
		preprocess(l, type, &f);
		if (region < g->region_count && g->regions[region].event == i) {
			end_ps = g->regions[region++].end_ps;
			set_fact(&f, CONSUMER_TYPE, CONTEXT_THREADPOOL);
		}
		if (has(&f, IS_ASYNC) && f.number[IS_ASYNC])
			l->parent[i] = ASYNC;
		else
			nest(l, i, end_ps, open, &depth);
		if (f.present || (type != OTHER && type != TF_OP))
			ok = add_event(l, i, type, &f);
		if (type == EAGER_EXECUTE) {
			/* Eager is what runs no function, and says so. */
			uint32_t item[2] = {(uint32_t)i,
					    has(&f, IS_FUNC) && f.number[IS_FUNC] == 0};
			ok = ok && push(&l->eager_roots, item, sizeof(item));
		}
	}
	tfp_free(open);
	return ok;
}

/* On a TPU only the events of the grouping line are connected to others
 * (ConnectIntraThreadTPU): what happens under one of them, on any line, speaks for
 * it. */
static bool read_tpu_line(const struct raw *raw, struct raw_line *l)
{
	const struct tfp_line *line = l->line;
	size_t n = line->event_count, at = 0;
	for (size_t i = 0; i < n; i++)
		l->parent[i] = NO_PARENT;
	if (l->grouping_line == NO_PARENT)
		return true;
	const struct tfp_line *above = raw->lines[l->grouping_line].line;
	bool ok = true, is_grouping = l->grouping_line == l->number;
	for (size_t i = 0; ok && i < n; i++) {
		enum type type = (enum type)l->types[tfp_event_meta_index(line, i)];
		struct facts f;
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
		struct ref ref = {l->grouping_line, (uint32_t)node};
		read_facts(l, i, &f);
		preprocess(l, type, &f);
		ok = add_context(l, ref, &f);
		if (ok && is_grouping && type == OTHER)
			ok = add_by_type(l, ref, type, &f);
	}
	return ok;
}

static void read_line(void *context, size_t index)
{
	struct raw *raw = context;
	struct raw_line *l = &raw->lines[index];
	size_t n = l->line->event_count;
	if (n == 0)
		return;
	l->parent = tfp_reallocarray(NULL, n, sizeof(*l->parent));
	if (!l->parent || !(l->is_tpu ? read_tpu_line(raw, l) : read_thread(l)))
		atomic_store(&raw->no_memory, true);
}

/* ---- connections ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_ref(struct ref a, struct ref b)
{
	int order = compare_u64(a.line, b.line);
	return order ? order : compare_u64(a.event, b.event);
}

static int by_key(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	for (int i = 0; i < 3; i++) {
		int order = compare_u64(x->key[i], y->key[i]);
		if (order)
			return order;
	}
	return compare_ref(x->ref, y->ref);
}

static int by_from(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	int order = compare_ref(x->from, y->from);
	return order ? order : compare_ref(x->to, y->to);
}

static int by_to(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	int order = compare_ref(x->to, y->to);
	return order ? order : compare_ref(x->from, y->from);
}

static bool same_key(const struct end *a, const struct end *b)
{
	return memcmp(a->key, b->key, sizeof(a->key)) == 0;
}

static bool add_link(struct raw *raw, struct ref from, struct ref to)
{
	struct link link = {from, to};
	return compare_ref(from, to) == 0 || push(&raw->by_parent, &link, sizeof(link));
}

/* Producers and consumers of one key: by context every producer is a parent of
 * every consumer, in the older ways the last producer is. */
static bool connect(struct raw *raw, const struct end *p, size_t producers, const struct end *c,
		    size_t consumers)
{
	bool last_only = p->key[0] == TO_GET_NEXT || p->key[0] == TO_GET_NEXT_OPTIONAL;
	if (!last_only && producers >= CROWD && consumers >= CROWD)
		return true;
	for (size_t i = 0; i < consumers; i++) {
		for (size_t j = last_only ? producers - 1 : 0; j < producers; j++) {
			if (!add_link(raw, p[j].ref, c[i].ref))
				return false;
		}
	}
	return true;
}

static void sort(struct list *list, size_t size, int (*compare)(const void *a, const void *b))
{
	if (list->count)
		qsort(list->items, list->count, size, compare);
}

static bool connect_all(struct raw *raw)
{
	sort(&raw->producers, sizeof(struct end), by_key);
	sort(&raw->consumers, sizeof(struct end), by_key);
	const struct end *p = raw->producers.items, *c = raw->consumers.items;
	size_t i = 0, j = 0;
	while (i < raw->producers.count && j < raw->consumers.count) {
		int order = 0;
		for (int k = 0; k < 3 && !order; k++)
			order = compare_u64(p[i].key[k], c[j].key[k]);
		if (order < 0) {
			i++;
			continue;
		}
		if (order > 0) {
			j++;
			continue;
		}
		size_t ps = 1, cs = 1;
		while (i + ps < raw->producers.count && same_key(&p[i + ps], &p[i]))
			ps++;
		while (j + cs < raw->consumers.count && same_key(&c[j + cs], &c[j]))
			cs++;
		if (!connect(raw, &p[i], ps, &c[j], cs))
			return false;
		i += ps;
		j += cs;
	}
	return true;
}

static bool launch_before(const void *launches, uint32_t a, uint32_t b)
{
	const struct launch *all = launches;
	return all[a].id < all[b].id;
}

/* Every kernel is below the launch of its id, the last one where there are more. */
static bool connect_kernels(struct raw *raw)
{
	const struct launch *launches = raw->launches.items, *kernels = raw->kernels.items;
	size_t n = raw->launches.count, m = raw->kernels.count, i = 0;
	if (n >= UINT32_MAX || m >= UINT32_MAX)
		return false;
	uint32_t *by_launch = tfp_sort_indexes(n, launch_before, launches);
	uint32_t *by_kernel = tfp_sort_indexes(m, launch_before, kernels);
	bool ok = by_launch && by_kernel;
	for (size_t k = 0; ok && k < m; k++) {
		const struct launch *kernel = &kernels[by_kernel[k]];
		while (i < n && launches[by_launch[i]].id < kernel->id)
			i++;
		if (i == n || launches[by_launch[i]].id != kernel->id)
			continue;
		size_t last = i;
		while (last + 1 < n && launches[by_launch[last + 1]].id == kernel->id)
			last++;
		ok = add_link(raw, launches[by_launch[last]].ref, kernel->ref);
	}
	tfp_free(by_launch);
	tfp_free(by_kernel);
	/* They are as large as the links made of them. */
	drop(&raw->launches);
	drop(&raw->kernels);
	return ok;
}

/* from, sorted by one end, into to. Launches of a thread and kernels of a stream come
 * in order, so dealing links out to lines mostly sorts them. */
static bool sort_links(const struct raw *raw, const struct list *from, struct list *to, bool child,
		       size_t **at)
{
	const struct link *in = from->items;
	size_t n = from->count;
	int (*compare)(const void *a, const void *b) = child ? by_to : by_from;
	size_t *next = tfp_calloc(raw->line_count + 2, sizeof(*next));
	struct link *out = tfp_reallocarray(NULL, n, sizeof(*out));
	bool sorted = true, ok = next && out;
	for (size_t i = 0; ok && i < n; i++)
		next[(child ? in[i].to.line : in[i].from.line) + 2]++;
	for (size_t l = 0; ok && l < raw->line_count; l++)
		next[l + 2] += next[l + 1];
	/* While dealing, next[l + 1] is the next place of line l; then it is where
	 * the line after it begins. */
	for (size_t i = 0; ok && i < n; i++)
		out[next[(child ? in[i].to.line : in[i].from.line) + 1]++] = in[i];
	for (size_t i = 1; ok && sorted && i < n; i++)
		sorted = compare(&out[i - 1], &out[i]) <= 0;
	if (ok && !sorted)
		qsort(out, n, sizeof(*out), compare);
	if (!ok) {
		tfp_free(next);
		tfp_free(out);
		return false;
	}
	*to = (struct list){out, n, n};
	*at = next;
	return true;
}

static bool finish_links(struct raw *raw)
{
	struct list by_parent;
	if (!sort_links(raw, &raw->by_parent, &raw->by_child, true, &raw->children_at) ||
	    !sort_links(raw, &raw->by_parent, &by_parent, false, &raw->parents_at))
		return false;
	tfp_free(raw->by_parent.items);
	raw->by_parent = by_parent;
	return true;
}

/* Where the links of an event begin, as a child or as a parent, or where they
 * would: among those of its line. */
static size_t first_link(const struct raw *raw, struct ref ref, bool child)
{
	const struct link *links = child ? raw->by_child.items : raw->by_parent.items;
	const size_t *at = child ? raw->children_at : raw->parents_at;
	size_t low = at[ref.line], high = at[ref.line + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((child ? links[middle].to.event : links[middle].from.event) < ref.event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- groups ---- */

static int32_t *group_at(const struct raw *raw, struct ref ref)
{
	return &raw->lines[ref.line].groups->group[ref.event];
}

/* The event is of another group already: that one is below this one. */
static bool note_below(struct raw *raw, int32_t group, struct ref ref)
{
	int32_t other = *group_at(raw, ref);
	struct tfp_group_link link = {(uint32_t)group, (uint32_t)other};
	const struct tfp_group_link *links = raw->group_links.items;
	size_t n = raw->group_links.count;
	if (other == group ||
	    (n && links[n - 1].above == link.above && links[n - 1].below == link.below))
		return true;
	return push(&raw->group_links, &link, sizeof(link));
}

/* Gives an event and what is nested in it to a group, as far as it has none, and
 * queues the consumers of what was new. */
static bool take_subtree(struct raw *raw, struct ref ref, int32_t group, struct list *queue)
{
	const struct raw_line *l = &raw->lines[ref.line];
	const struct link *links = raw->by_parent.items;
	size_t next = first_link(raw, ref, false);
	uint32_t taken = UINT32_MAX; /* an event of another group, while in it */
	for (uint32_t i = ref.event; i < l->line->event_count; i++) {
		if (i > ref.event) {
			if (l->parent[i] == ASYNC)
				continue;
			if (l->parent[i] == NO_PARENT || l->parent[i] < ref.event)
				break;
		}
		struct ref here = {ref.line, i};
		if (l->groups->group[i] != TFP_NO_GROUP) {
			if (taken != UINT32_MAX && l->parent[i] >= taken)
				continue;
			taken = i;
			if (!note_below(raw, group, here))
				return false;
			continue;
		}
		l->groups->group[i] = group;
		while (next < raw->by_parent.count && compare_ref(links[next].from, here) < 0)
			next++;
		for (; next < raw->by_parent.count && compare_ref(links[next].from, here) == 0;
		     next++) {
			if (!push(queue, &links[next].to, sizeof(struct ref)))
				return false;
		}
	}
	return true;
}

static bool propagate(struct raw *raw, struct ref root, int32_t group)
{
	struct list queue = {0};
	bool ok = push(&queue, &root, sizeof(root));
	for (size_t at = 0; ok && at < queue.count; at++) {
		struct ref ref = ((const struct ref *)queue.items)[at];
		ok = *group_at(raw, ref) == TFP_NO_GROUP ? take_subtree(raw, ref, group, &queue)
							 : note_below(raw, group, ref);
	}
	tfp_free(queue.items);
	return ok;
}

/* Calls see with the event and its ancestors, nearest first, until it says stop. */
static bool each_ancestor(const struct raw *raw, struct ref start,
			  bool (*see)(const struct raw *raw, struct ref ref, void *context),
			  void *context)
{
	struct list queue = {0};
	const struct link *links = raw->by_child.items;
	bool ok = push(&queue, &start, sizeof(start));
	for (size_t at = 0; ok && at < queue.count && at < ANCESTORS_MAX; at++) {
		struct ref ref = ((const struct ref *)queue.items)[at];
		if (!see(raw, ref, context))
			break;
		uint32_t parent = raw->lines[ref.line].parent[ref.event];
		if (parent < ASYNC) {
			struct ref up = {ref.line, parent};
			ok = push(&queue, &up, sizeof(up));
		}
		size_t i = first_link(raw, ref, true);
		for (; ok && i < raw->by_child.count && compare_ref(links[i].to, ref) == 0; i++)
			ok = push(&queue, &links[i].from, sizeof(struct ref));
	}
	tfp_free(queue.items);
	return ok;
}

static int by_ref(const void *a, const void *b)
{
	return compare_ref(((const struct root *)a)->ref, ((const struct root *)b)->ref);
}

static const struct root *root_at(const struct raw *raw, struct ref ref)
{
	const struct root key = {.ref = ref};
	return raw->roots.count ? bsearch(&key, raw->roots.items, raw->roots.count,
					  sizeof(struct root), by_ref)
				: NULL;
}

struct rival {
	struct ref self;
	int64_t level;
	bool found;
};

static bool see_rival(const struct raw *raw, struct ref ref, void *context)
{
	struct rival *r = context;
	const struct root *root = compare_ref(ref, r->self) ? root_at(raw, ref) : NULL;
	r->found = root && root->level == r->level;
	return !r->found;
}

struct naming {
	bool has_iter, has_type, has_step;
	int64_t iter, step;
	struct tfp_str type;
};

static bool see_name(const struct raw *raw, struct ref ref, void *context)
{
	struct naming *n = context;
	struct facts f;
	read_facts(&raw->lines[ref.line], ref.event, &f);
	if (!n->has_type && has(&f, GRAPH_TYPE)) {
		n->has_type = true;
		n->type = f.graph_type;
	}
	if (!n->has_iter && has(&f, ITER_NUM)) {
		n->has_iter = true;
		n->iter = f.number[ITER_NUM];
	}
	if (!n->has_step && has(&f, STEP_NUM)) {
		n->has_step = true;
		n->step = f.number[STEP_NUM];
	}
	return !n->has_type || !n->has_iter || !n->has_step;
}

/* Inferred from what runs, not marked by anybody: such a root shows no step name. */
static bool is_implicit(enum type type)
{
	return type == FUNCTION_RUN || type == SESSION_RUN || type == RUN_GRAPH ||
	       type == EXECUTOR_PROCESS;
}

static bool is_implicit_event(const struct raw_line *l, uint32_t event)
{
	return l->is_tpu || is_implicit((enum type)l->types[tfp_event_meta_index(l->line, event)]);
}

static bool name_group(struct raw *raw, struct ref ref, int32_t group)
{
	struct raw_line *l = &raw->lines[ref.line];
	struct naming n = {0};
	char number[32];
	if (!each_ancestor(raw, ref, see_name, &n))
		return false;
	struct tfp_str text = {"", 0};
	if (n.has_type)
		text = n.type;
	else if (!is_implicit_event(l, ref.event))
		text = tfp_event_meta(l->plane, l->line, ref.event)->name;
	int64_t value = n.has_iter ? n.iter : n.has_step ? n.step : group;
	int digits = snprintf(number, sizeof(number), "%s%" PRId64, text.size ? " " : "", value);
	char *name = tfp_arena_alloc(&raw->groups->arena, text.size + (size_t)digits);
	if (!name)
		return false;
	if (text.size)
		memcpy(name, text.data, text.size);
	memcpy(name + text.size, number, (size_t)digits);
	raw->groups->groups[group].name = (struct tfp_str){name, text.size + (size_t)digits};
	return true;
}

/* group: the next number, or one that there is. */
static bool make_group(struct raw *raw, struct ref root, int32_t group)
{
	struct tfp_groups *groups = raw->groups;
	if ((size_t)group == raw->group_room) {
		size_t room = raw->group_room ? raw->group_room * 2 : 64;
		struct tfp_group *list = tfp_reallocarray(groups->groups, room, sizeof(*list));
		if (!list)
			return false;
		groups->groups = list;
		raw->group_room = room;
	}
	if ((size_t)group == groups->group_count)
		groups->groups[groups->group_count++] = (struct tfp_group){{"", 0}};
	return push(&raw->group_roots, &root, sizeof(root)) && propagate(raw, root, group) &&
	       name_group(raw, root, group);
}

static bool new_group(struct raw *raw, struct ref root)
{
	size_t group = raw->groups->group_count;
	return group < INT32_MAX && make_group(raw, root, (int32_t)group);
}

/* ---- which roots there are ---- */

static bool is_data_id(const struct raw *raw, int64_t id)
{
	const int64_t *ids = raw->data_ids.items;
	for (size_t i = 0; i < raw->data_ids.count; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

static int by_iteration(const void *a, const void *b)
{
	const struct iteration *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->iter != y->iter)
		return x->iter < y->iter ? -1 : 1;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return compare_ref(x->ref, y->ref);
}

static int by_start(const void *a, const void *b)
{
	const struct iteration *x = a, *y = b;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return compare_ref(x->ref, y->ref);
}

/* Iterations of TensorFlow 1's loops: in each the earliest run is the root and
 * the others are below it. firsts: the roots, in order of time. */
static bool find_loops(struct raw *raw, struct list *firsts)
{
	sort(&raw->iterations, sizeof(struct iteration), by_iteration);
	const struct iteration *all = raw->iterations.items;
	for (size_t i = 0; i < raw->iterations.count;) {
		size_t end = i;
		bool loops = false;
		while (end < raw->iterations.count && all[end].id == all[i].id)
			loops |= all[end++].iter != 0;
		loops = loops && !is_data_id(raw, all[i].id);
		for (size_t j = i; loops && j < end;) {
			size_t first = j;
			if (!push(firsts, &all[first], sizeof(*all)))
				return false;
			while (++j < end && all[j].iter == all[first].iter) {
				if (!add_link(raw, all[first].ref, all[j].ref))
					return false;
			}
		}
		i = end;
	}
	sort(firsts, sizeof(struct iteration), by_start);
	return true;
}

static bool group_loops(struct raw *raw, const struct list *firsts)
{
	const struct iteration *all = firsts->items;
	for (size_t i = 0; i < firsts->count; i++) {
		if (!new_group(raw, all[i].ref))
			return false;
	}
	return true;
}

static int by_level(const void *a, const void *b)
{
	const struct root *x = a, *y = b;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return compare_ref(x->ref, y->ref);
}

/* Whether a root has no group yet, nor a root of its level above it. */
static bool needs_group(const struct raw *raw, struct ref ref, int64_t level, bool *needs)
{
	struct rival rival = {ref, level, false};
	*needs = false;
	if (*group_at(raw, ref) != TFP_NO_GROUP)
		return true;
	if (!each_ancestor(raw, ref, see_rival, &rival))
		return false;
	*needs = !rival.found;
	return true;
}

static bool group_roots(struct raw *raw)
{
	size_t n = raw->roots.count;
	struct root *order = tfp_reallocarray(NULL, n, sizeof(*order));
	bool ok = order != NULL;
	sort(&raw->roots, sizeof(struct root), by_ref);
	if (ok && n) {
		memcpy(order, raw->roots.items, n * sizeof(*order));
		qsort(order, n, sizeof(*order), by_level);
	}
	for (size_t i = 0; ok && i < n; i++) {
		struct raw_line *l = &raw->lines[order[i].ref.line];
		bool needs = false;
		struct facts f;
		read_facts(l, order[i].ref.event, &f);
		if (has(&f, STEP_ID) && is_data_id(raw, f.number[STEP_ID]))
			continue;
		ok = needs_group(raw, order[i].ref, order[i].level, &needs);
		if (ok && needs)
			ok = new_group(raw, order[i].ref);
	}
	tfp_free(order);
	return ok;
}

static bool is_core(const struct raw_line *l)
{
	return l->grouping_line == l->number && tfp_plane_kind(l->plane->name) == TFP_PLANE_TPU;
}

/* Where nothing of the host reaches any core, the events of each core's grouping line are
 * its steps, counted on every core from the same number on. */
static bool group_cores(struct raw *raw)
{
	size_t first = raw->groups->group_count;
	bool needs = true;
	for (size_t l = 0; needs && l < raw->line_count; l++) {
		for (uint32_t i = 0;
		     needs && is_core(&raw->lines[l]) && i < raw->lines[l].line->event_count; i++) {
			if (!needs_group(raw, (struct ref){(uint32_t)l, i}, 0, &needs))
				return false;
		}
	}
	for (size_t l = 0; needs && l < raw->line_count; l++) {
		size_t group = first;
		for (uint32_t i = 0; is_core(&raw->lines[l]) && i < raw->lines[l].line->event_count;
		     i++) {
			struct ref ref = {(uint32_t)l, i};
			bool takes;
			if (!needs_group(raw, ref, 0, &takes))
				return false;
			if (takes &&
			    (group >= INT32_MAX || !make_group(raw, ref, (int32_t)group++)))
				return false;
		}
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	return compare_ref(*(const struct ref *)a, *(const struct ref *)b);
}

/* The roots of groups show the group's name, but for those that nobody marked. */
static bool note_named(struct raw *raw)
{
	const struct ref *roots = raw->group_roots.items;
	sort(&raw->group_roots, sizeof(struct ref), by_place);
	for (size_t i = 0; i < raw->group_roots.count; i++) {
		struct raw_line *l = &raw->lines[roots[i].line];
		struct tfp_line_groups *g = l->groups;
		if (is_implicit_event(l, roots[i].event))
			continue;
		uint32_t *list = tfp_reallocarray(g->named, g->named_count + 1, sizeof(*list));
		if (!list)
			return false;
		g->named = list;
		g->named[g->named_count++] = roots[i].event;
	}
	return true;
}

/* ---- eager execution ---- */

/* What an event inherits: YES or NO by the nearest EagerExecute above it, else NO. */
static uint8_t eager_above(const struct raw *raw, struct ref ref)
{
	const struct link *links = raw->by_child.items;
	for (unsigned hops = 0; hops < ANCESTORS_MAX; hops++) {
		const struct raw_line *l = &raw->lines[ref.line];
		if (l->eager && l->eager[ref.event] != TFP_EAGER_UNKNOWN)
			return l->eager[ref.event];
		size_t i = first_link(raw, ref, true);
		if (i < raw->by_child.count && compare_ref(links[i].to, ref) == 0)
			ref = links[i].from;
		else if (l->parent[ref.event] < ASYNC)
			ref.event = l->parent[ref.event];
		else
			break;
	}
	return TFP_EAGER_NO;
}

/* Spreads every EagerExecute of a line over what is nested in it, inner ones last. */
static void spread_eager(void *context, size_t index)
{
	struct raw *raw = context;
	struct raw_line *l = &raw->lines[index];
	const uint32_t(*roots)[2] = l->eager_roots.items;
	size_t n = l->line->event_count;
	if (l->eager_roots.count == 0)
		return;
	l->eager = tfp_calloc(n, 1);
	if (!l->eager) {
		atomic_store(&raw->no_memory, true);
		return;
	}
	for (size_t r = 0; r < l->eager_roots.count; r++) {
		uint8_t value = roots[r][1] ? TFP_EAGER_YES : TFP_EAGER_NO;
		for (uint32_t i = roots[r][0]; i < n; i++) {
			if (i > roots[r][0] && l->parent[i] == ASYNC)
				continue;
			if (i > roots[r][0] &&
			    (l->parent[i] == NO_PARENT || l->parent[i] < roots[r][0]))
				break;
			l->eager[i] = value;
		}
	}
}

/* Ops and kernels get what is above them. Down the line everything has what its
 * parent has, unless it is a consumer: then its producer decides. */
static void mark_eager(void *context, size_t index)
{
	struct raw *raw = context;
	struct raw_line *l = &raw->lines[index];
	const struct link *links = raw->by_child.items;
	size_t n = l->line->event_count;
	size_t at = first_link(raw, (struct ref){l->number, 0}, true);
	if (n == 0)
		return;
	uint8_t *above = raw->has_eager ? tfp_malloc(n) : NULL;
	l->groups->eager = tfp_calloc(n, 1);
	if (!l->groups->eager || (raw->has_eager && !above)) {
		tfp_free(above);
		atomic_store(&raw->no_memory, true);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct ref ref = {l->number, (uint32_t)i};
		enum type type = (enum type)l->types[tfp_event_meta_index(l->line, i)];
		while (at < raw->by_child.count && compare_ref(links[at].to, ref) < 0)
			at++;
		bool consumes = at < raw->by_child.count && compare_ref(links[at].to, ref) == 0;
		uint8_t value = TFP_EAGER_NO;
		if (raw->has_eager) {
			if (l->eager && l->eager[i] != TFP_EAGER_UNKNOWN)
				value = l->eager[i];
			else if (consumes)
				value = eager_above(raw, links[at].from);
			else if (l->parent[i] < ASYNC)
				value = above[l->parent[i]];
			above[i] = value;
		}
		if (type == TF_OP || (consumes && type == OTHER && !l->is_host && !l->is_tpu))
			l->groups->eager[i] = value;
	}
	tfp_free(above);
}

/* ---- GPU events that nothing launched ---- */

struct gpu_event {
	int64_t begin_ps, duration_ps;
	struct ref ref;
};

static bool begins_before(const void *events, uint32_t a, uint32_t b)
{
	const struct gpu_event *x = (const struct gpu_event *)events + a;
	const struct gpu_event *y = (const struct gpu_event *)events + b;
	if (x->begin_ps != y->begin_ps)
		return x->begin_ps < y->begin_ps;
	return x->duration_ps < y->duration_ps;
}

/* On a GPU an event without a group takes that of the latest one before it
 * (ProcessUngroupedEvents). */
static bool fill_gpu(struct raw *raw, size_t first_line, size_t line_count)
{
	size_t count = 0, n = 0;
	bool grouped = false;
	for (size_t l = first_line; l < first_line + line_count; l++)
		count += raw->lines[l].line->event_count;
	struct gpu_event *all = tfp_reallocarray(NULL, count, sizeof(*all));
	if (!all)
		return false;
	for (size_t l = first_line; l < first_line + line_count; l++) {
		const struct tfp_line *line = raw->lines[l].line;
		if (tfp_line_is_derived(line))
			continue;
		for (size_t i = 0; i < line->event_count; i++) {
			all[n++] = (struct gpu_event){tfp_event_start_ps(line, i),
						      tfp_event_duration_ps(line, i),
						      {(uint32_t)l, (uint32_t)i}};
			grouped |= raw->lines[l].groups->group[i] != TFP_NO_GROUP;
		}
	}
	if (n == 0 || !grouped) {
		tfp_free(all);
		return true;
	}
	uint32_t *order = n < UINT32_MAX ? tfp_sort_indexes(n, begins_before, all) : NULL;
	int32_t last = TFP_NO_GROUP;
	for (size_t i = 0; order && i < n; i++) {
		int32_t *group = group_at(raw, all[order[i]].ref);
		if (*group == TFP_NO_GROUP)
			*group = last;
		else
			last = *group;
	}
	bool ok = order != NULL;
	tfp_free(order);
	tfp_free(all);
	return ok;
}

/* ---- the whole ---- */

static void read_process(const struct tfp_plane *plane, struct raw_line *l)
{
	int64_t id = tfp_plane_stat_id(plane, "process_id");
	struct tfp_stat_iter it = tfp_plane_stats(plane);
	struct tfp_stat stat;
	while (tfp_stat_next(&it, &stat)) {
		if (stat.metadata_id == id)
			l->has_process = tfp_stat_int(&stat, &l->process);
	}
}

static bool prepare(struct raw *raw, struct tfp_error *err)
{
	const struct tfp_capture *c = raw->capture;
	raw->lines = tfp_calloc(c->line_count, sizeof(*raw->lines));
	raw->schemas = tfp_calloc(c->plane_count, sizeof(*raw->schemas));
	raw->types = tfp_calloc(c->plane_count, sizeof(*raw->types));
	if (!raw->lines || !raw->schemas || !raw->types)
		return false;
	for (size_t p = 0; p < c->plane_count; p++) {
		const struct tfp_plane *plane = &c->planes[p];
		enum tfp_plane_kind kind = tfp_plane_kind(plane->name);
		size_t grouping = tfp_tpu_grouping_line(plane), first = raw->line_count;
		struct raw_line of_plane = {.plane = plane, .schema = &raw->schemas[p]};
		read_process(plane, &of_plane);
		raw->types[p] = tfp_calloc(plane->event_meta_count, 1);
		if (!raw->types[p] ||
		    tfp_schema_init(&raw->schemas[p], plane, stat_names, WANTED, err) != TFP_OK)
			return false;
		for (size_t m = 0; m < plane->event_meta_count; m++)
			raw->types[p][m] = (uint8_t)type_of(plane->event_metas[m].name);
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			struct tfp_line_groups *g = &raw->groups->planes[p][l];
			size_t n = line->event_count;
			g->group = n ? tfp_reallocarray(NULL, n, sizeof(*g->group)) : NULL;
			if (n && !g->group)
				return false;
			for (size_t i = 0; i < n; i++)
				g->group[i] = TFP_NO_GROUP;
			struct raw_line *out = &raw->lines[raw->line_count];
			*out = of_plane;
			out->line = line;
			out->groups = g;
			out->types = raw->types[p];
			out->number = (uint32_t)raw->line_count;
			out->is_host = kind == TFP_PLANE_HOST;
			out->is_gpu = kind == TFP_PLANE_GPU;
			out->is_tpu = tfp_str_starts(plane->name, TFP_TPU_PREFIX);
			out->grouping_line =
				grouping == SIZE_MAX ? NO_PARENT : (uint32_t)(first + grouping);
			out->device_ordinal =
				kind == TFP_PLANE_TPU && tfp_str_equal(line->name, "XLA Modules")
					? tfp_tpu_ordinal(plane->name)
					: -1;
			raw->line_count++;
		}
	}
	return true;
}

static bool join_lists(struct raw *raw)
{
	for (size_t i = 0; i < raw->line_count; i++) {
		struct raw_line *l = &raw->lines[i];
		raw->has_eager |= l->eager_roots.count > 0;
		if (!append(&raw->producers, &l->producers, sizeof(struct end)) ||
		    !append(&raw->consumers, &l->consumers, sizeof(struct end)) ||
		    !append(&raw->roots, &l->roots, sizeof(struct root)) ||
		    !append(&raw->iterations, &l->iterations, sizeof(struct iteration)) ||
		    !append(&raw->data_ids, &l->data_ids, sizeof(int64_t)) ||
		    !append(&raw->launches, &l->launches, sizeof(struct launch)) ||
		    !append(&raw->kernels, &l->kernels, sizeof(struct launch)))
			return false;
	}
	return true;
}

static bool group_tpu_planes(struct raw *raw)
{
	for (size_t p = 0; p < raw->capture->plane_count; p++) {
		const struct tfp_plane *plane = &raw->capture->planes[p];
		if (!tfp_group_tpu_lines(plane, raw->groups->planes[p]))
			return false;
	}
	return true;
}

/* Each link once, ordered by the upper group. */
static int by_above(const void *a, const void *b)
{
	const struct tfp_group_link *x = a, *y = b;
	int order = compare_u64(x->above, y->above);
	return order ? order : compare_u64(x->below, y->below);
}

static void keep_links(struct raw *raw)
{
	struct tfp_group_link *links = raw->group_links.items;
	size_t n = 0;
	sort(&raw->group_links, sizeof(*links), by_above);
	for (size_t i = 0; i < raw->group_links.count; i++) {
		if (i == 0 || by_above(&links[n - 1], &links[i]) != 0)
			links[n++] = links[i];
	}
	raw->groups->links = links;
	raw->groups->link_count = n;
	raw->group_links = (struct list){0};
}

static bool fill_gpus(struct raw *raw)
{
	for (size_t i = 0; i < raw->line_count;) {
		size_t end = i;
		while (end < raw->line_count && raw->lines[end].plane == raw->lines[i].plane)
			end++;
		if (raw->lines[i].is_gpu && !fill_gpu(raw, i, end - i))
			return false;
		i = end;
	}
	return true;
}

/* Lines without a single group keep no column. */
static void drop_empty(struct raw *raw)
{
	for (size_t i = 0; i < raw->line_count; i++) {
		struct tfp_line_groups *g = raw->lines[i].groups;
		bool any = false;
		for (size_t e = 0; !any && e < raw->lines[i].line->event_count; e++)
			any = g->group[e] != TFP_NO_GROUP;
		if (!any) {
			tfp_free(g->group);
			g->group = NULL;
		}
	}
}

static bool make_groups(struct raw *raw, struct tfp_pool *pool)
{
	struct list firsts = {0};
	tfp_pool_for(pool, raw->line_count, read_line, raw);
	/* When it gives up for want of people, tfp_capture_fact says so. */
	bool ok = !atomic_load(&raw->no_memory) && !tfp_cancelled() && join_lists(raw) &&
		  connect_all(raw) && connect_kernels(raw) && find_loops(raw, &firsts) &&
		  finish_links(raw);
	ok = ok && !tfp_cancelled();
	if (ok)
		ok = firsts.count ? group_loops(raw, &firsts) : group_roots(raw);
	tfp_free(firsts.items);
	ok = ok && group_cores(raw) && note_named(raw) && fill_gpus(raw) && group_tpu_planes(raw);
	if (ok) {
		keep_links(raw);
		tfp_pool_for(pool, raw->line_count, spread_eager, raw);
		tfp_pool_for(pool, raw->line_count, mark_eager, raw);
		ok = !atomic_load(&raw->no_memory);
	}
	return ok;
}

static bool has_loop(const struct tfp_capture *capture)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		for (size_t m = 1; m < capture->planes[p].event_meta_count; m++) {
			if (is_loop(capture->planes[p].event_metas[m].name))
				return true;
		}
	}
	return false;
}

static void release(struct raw *raw)
{
	for (size_t i = 0; i < raw->line_count; i++) {
		struct raw_line *l = &raw->lines[i];
		struct list *lists[] = {&l->producers,  &l->consumers, &l->roots,
					&l->iterations, &l->data_ids,  &l->eager_roots,
					&l->launches,   &l->kernels};
		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
			tfp_free(lists[k]->items);
		tfp_free(l->parent);
		tfp_free(l->eager);
	}
	for (size_t p = 0; p < raw->capture->plane_count; p++) {
		if (raw->schemas)
			tfp_schema_release(&raw->schemas[p]);
		if (raw->types)
			tfp_free(raw->types[p]);
	}
	struct list *lists[] = {&raw->producers,  &raw->consumers,   &raw->roots,
				&raw->iterations, &raw->data_ids,    &raw->by_parent,
				&raw->by_child,   &raw->group_roots, &raw->launches,
				&raw->kernels,    &raw->group_links};
	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		tfp_free(lists[k]->items);
	tfp_free(raw->parents_at);
	tfp_free(raw->children_at);
	tfp_free(raw->lines);
	tfp_free(raw->schemas);
	tfp_free(raw->types);
}

enum tfp_status tfp_group_raw(const struct tfp_capture *capture, struct tfp_pool *pool,
			      struct tfp_groups *groups, struct tfp_error *err)
{
	struct raw raw = {.capture = capture, .groups = groups};
	if (has_loop(capture))
		return TFP_OK;
	bool ok = prepare(&raw, err) && make_groups(&raw, pool);
	if (ok)
		drop_empty(&raw);
	release(&raw);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the groups of events");
}
