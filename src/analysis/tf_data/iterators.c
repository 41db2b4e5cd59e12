/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tf_data/iterators.h"

#include "analysis/events/op_name.h"
#include "analysis/events/schema.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "base/sort.h"
#include "base/str_map.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Two bits of a node's stamp are its state within a call. */
#define NODES_MAX (UINT32_MAX / 4)

/* How many times all calls together may look at a node, on average. Calls share elements only in
 * damaged files, which must not take the square of their size. */
#define LOOKS_PER_NODE 16u
#define LOOKS_ALWAYS   1000000u

/* How types are told apart (docs/tools/tf_data_bottleneck_analysis.md). */
enum type { OTHER, ITERATOR, GENERATOR, PRODUCE, CONSUME };

struct kind {
	uint8_t type; /* enum type */
	bool is_data; /* counts as an iterator below another one */
	bool is_root;
};

enum { ID, PARENT_ID, ELEMENT_ID, IS_ASYNC, WANTED };

static const char *const stat_names[WANTED] = {
	[ID] = "id",
	[PARENT_ID] = "parent_id",
	[ELEMENT_ID] = "element_id",
	[IS_ASYNC] = "_a",
};

/* An event that tells something about tf.data. */
struct node {
	int64_t start_ps, end_ps;
	int64_t id;        /* of the iterator, or of the element */
	int64_t parent_id; /* of an iterator */
	uint32_t parent;   /* the node that it is nested in with nothing between, or NONE */
	uint32_t child;    /* the first that is nested in it, or NONE */
	uint32_t sibling;  /* the next nested in the same, or NONE */
	uint32_t iterator; /* index, or NONE */
	uint32_t meta;
	struct kind kind;
	bool has_id, has_parent_id;
};

/* An iterator that worked ahead, and for whom. */
struct producer {
	int64_t parent_id, element_id;
	uint32_t node;
};

struct line_task {
	const struct tfp_line *line;
	size_t first_node, node_count;
};

struct span {
	int64_t start_ps, end_ps;
};

struct step {
	uint32_t node;
	bool is_blocking;
};

struct data {
	const struct tfp_plane *plane;
	struct kind *kinds; /* by event metadata */
	struct tfp_schema schema;
	struct line_task *lines;
	struct node *nodes;
	struct producer *producers; /* sorted */
	size_t node_count, producer_count;
	struct tfp_str_map by_id; /* iterators; keys are ids inside nodes */
	uint32_t *roots;          /* nodes */
	size_t root_count;
	struct tfp_iterators *out;
	size_t use_room;
	atomic_bool no_memory;

	/* While calls are followed. */
	uint32_t *stamps;   /* by node: number of the call * 2, + 1 when it was blocking */
	uint32_t *use_call; /* by iterator: number of the last call that used it */
	size_t *use_at;     /* and where its use is */
	struct step *queue;
	struct span *spans;
	size_t queue_room, span_room;
	uint64_t looks;
};

/* ---- events ---- */

static size_t count_separators(struct tfp_str s)
{
	size_t count = 0;
	for (size_t i = 0; i + 1 < s.size; i++) {
		if (s.data[i] == ':' && s.data[i + 1] == ':') {
			count++;
			i++;
		}
	}
	return count;
}

static struct kind kind_of(struct tfp_str name)
{
	static const char *const stages[] = {"Prefetch",    "ParallelInterleave", "ParallelMap",
					     "MapAndBatch", "ParseExample",       "ParallelBatch"};
	struct kind kind = {.is_data = tfp_op_name_parse(name).category == TFP_OP_TF_DATA};
	if (tfp_str_equal(name, "Iterator::Prefetch::Generator")) {
		kind.type = GENERATOR;
	} else if (kind.is_data || tfp_str_equal(name, "Iterator")) {
		kind.type = ITERATOR;
		kind.is_root = count_separators(name) == 1;
	}
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		size_t n = strlen(stages[i]);
		if (!tfp_str_starts(name, stages[i]))
			continue;
		struct tfp_str rest = {name.data + n, name.size - n};
		if (tfp_str_equal(rest, "Produce"))
			kind.type = PRODUCE;
		else if (tfp_str_equal(rest, "Consume"))
			kind.type = CONSUME;
	}
	return kind;
}

static bool is_iterator(const struct node *n)
{
	return n->kind.type == ITERATOR || n->kind.type == GENERATOR;
}

/* Returns whether the event is asynchronous: it is nested in nothing, and nothing in it. */
static bool read_stats(const struct data *d, const struct tfp_line *line, size_t i,
		       struct node *node)
{
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	int64_t number;
	bool is_async = false;
	while (tfp_stat_next(&it, &stat)) {
		int name = tfp_schema_of(&d->schema, &stat);
		if (name < 0 || !tfp_stat_int(&stat, &number))
			continue;
		if (name == IS_ASYNC) {
			is_async = number != 0;
		} else if (node && name == (is_iterator(node) ? ID : ELEMENT_ID)) {
			node->id = number;
			node->has_id = true;
		} else if (node && name == PARENT_ID) {
			node->parent_id = number;
			node->has_parent_id = true;
		}
	}
	return is_async;
}

struct open_event {
	int64_t end_ps;
	uint32_t node; /* or NONE */
};

/* Events come sorted, so that one that begins later lies within an open one exactly when it
 * ends no later. */
static void read_line(void *context, size_t index)
{
	struct data *d = context;
	const struct line_task *task = &d->lines[index];
	const struct tfp_line *line = task->line;
	bool any_async = tfp_schema_has(&d->schema, IS_ASYNC), ok = true;
	struct open_event *open = NULL;
	size_t depth = 0, room = 0, next = task->first_node;
	for (size_t i = 0; ok && task->node_count && i < line->event_count; i++) {
		if (!tfp_goes_on(i)) {
			ok = false; /* not all nodes are written */
			break;
		}
		struct kind kind = d->kinds[tfp_event_meta_index(line, i)];
		struct node *node = kind.type == OTHER ? NULL : &d->nodes[next];
		int64_t end = tfp_event_end_offset_ps(line, i);
		if (node) {
			int64_t start = tfp_event_start_ps(line, i), until;
			if (__builtin_add_overflow(start, tfp_event_duration_ps(line, i), &until))
				until = INT64_MAX;
			*node = (struct node){.start_ps = start,
					      .end_ps = until,
					      .parent = NONE,
					      .child = NONE,
					      .sibling = NONE,
					      .iterator = NONE,
					      .meta = tfp_event_meta_index(line, i),
					      .kind = kind};
			next++;
		}
		if ((node || any_async) && read_stats(d, line, i, node))
			continue;
		while (depth > 0 && open[depth - 1].end_ps < end)
			depth--;
		if (node && depth > 0)
			node->parent = open[depth - 1].node;
		ok = TFP_GROW(open, depth, room);
		if (ok)
			open[depth++] =
				(struct open_event){end, node ? (uint32_t)(next - 1) : NONE};
	}
	tfp_free(open);
	if (!ok)
		atomic_store(&d->no_memory, true);
}

static bool read_events(struct data *d, struct tfp_pool *pool)
{
	const struct tfp_plane *plane = d->plane;
	d->lines = tfp_calloc(plane->line_count, sizeof(*d->lines));
	if (!d->lines)
		return false;
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		d->lines[l] = (struct line_task){line, d->node_count, 0};
		if (tfp_line_is_derived(line))
			continue;
		for (size_t i = 0; i < line->event_count; i++)
			d->lines[l].node_count +=
				d->kinds[tfp_event_meta_index(line, i)].type != OTHER;
		d->node_count += d->lines[l].node_count;
	}
	if (d->node_count > NODES_MAX)
		return false;
	d->nodes = tfp_reallocarray(NULL, d->node_count, sizeof(*d->nodes));
	if (!d->nodes)
		return false;
	tfp_pool_for(pool, plane->line_count, read_line, d);
	/* Backwards, so that each is put before those that come after it. */
	for (size_t i = d->node_count; !atomic_load(&d->no_memory) && i-- > 0;) {
		struct node *node = &d->nodes[i];
		if (node->parent != NONE) {
			node->sibling = d->nodes[node->parent].child;
			d->nodes[node->parent].child = (uint32_t)i;
		}
	}
	return !atomic_load(&d->no_memory);
}

/* ---- iterators ---- */

static struct tfp_str last_part(struct tfp_str s)
{
	for (size_t i = s.size; i >= 2; i--) {
		if (s.data[i - 1] == ':' && s.data[i - 2] == ':')
			return (struct tfp_str){s.data + i, s.size - i};
	}
	return s;
}

static uint32_t find_iterator(const struct data *d, int64_t id)
{
	uint32_t found = tfp_str_map_find(&d->by_id, &id, sizeof(id));
	return found == TFP_STR_MAP_NONE ? NONE : found;
}

static bool enter_iterators(struct data *d, enum type type, size_t *room)
{
	struct tfp_iterators *out = d->out;
	for (size_t i = 0; i < d->node_count; i++) {
		struct node *node = &d->nodes[i];
		if (node->kind.type != type || !node->has_id)
			continue;
		uint32_t next = (uint32_t)out->iterator_count;
		node->iterator = tfp_str_map_add(&d->by_id, &node->id, sizeof(node->id), next);
		if (node->iterator == TFP_STR_MAP_NONE)
			return false;
		if (node->iterator < next)
			continue;
		if (next == *room && !tfp_grow(&out->iterators, room, sizeof(*out->iterators)))
			return false;
		struct tfp_str name = d->plane->event_metas[node->meta].name;
		/* parent is set once all are known; until then it says whether there is one. */
		out->iterators[next] = (struct tfp_iterator){
			.id = node->id,
			.parent_id = node->has_parent_id ? node->parent_id : 0,
			.parent = node->has_parent_id ? 0 : TFP_NO_ITERATOR,
			.name = last_part(name),
			.long_name = name,
		};
		out->iterator_count++;
	}
	return true;
}

/* is_device: by iterator, whether a generator feeds it. The first event of an
 * iterator says what it is; iterators before generators, as the peers have it. */
static bool find_iterators(struct data *d, bool **is_device)
{
	struct tfp_iterators *out = d->out;
	size_t room = 0;
	if (!enter_iterators(d, ITERATOR, &room))
		return false;
	size_t generators = out->iterator_count;
	if (!enter_iterators(d, GENERATOR, &room))
		return false;
	*is_device = tfp_calloc(out->iterator_count, sizeof(**is_device));
	if (!*is_device)
		return false;
	for (size_t i = 0; i < out->iterator_count; i++) {
		struct tfp_iterator *it = &out->iterators[i];
		if (it->parent != TFP_NO_ITERATOR)
			it->parent = find_iterator(d, it->parent_id);
		if (i >= generators && it->parent != TFP_NO_ITERATOR)
			(*is_device)[it->parent] = true;
	}
	return true;
}

/* ---- work ahead ---- */

static int by_key(const void *a, const void *b)
{
	const struct producer *x = a, *y = b;
	if (x->parent_id != y->parent_id)
		return x->parent_id < y->parent_id ? -1 : 1;
	if (x->element_id != y->element_id)
		return x->element_id < y->element_id ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The first iterator that runs within a Produce event made its element. */
static uint32_t made_by(const struct data *d, const struct node *produce)
{
	for (uint32_t c = produce->child; c != NONE; c = d->nodes[c].sibling) {
		if (is_iterator(&d->nodes[c]))
			return d->nodes[c].has_parent_id ? c : NONE;
	}
	return NONE;
}

static bool find_producers(struct data *d)
{
	size_t room = 0;
	for (size_t i = 0; i < d->node_count; i++) {
		const struct node *node = &d->nodes[i];
		if (node->kind.type != PRODUCE || !node->has_id)
			continue;
		uint32_t maker = made_by(d, node);
		if (maker == NONE)
			continue;
		if (!TFP_GROW(d->producers, d->producer_count, room))
			return false;
		d->producers[d->producer_count++] =
			(struct producer){d->nodes[maker].parent_id, node->id, maker};
	}
	if (d->producer_count)
		qsort(d->producers, d->producer_count, sizeof(*d->producers), by_key);
	return true;
}

/* The first of the events that made this element for this iterator. */
static size_t first_producer(const struct data *d, int64_t iterator_id, int64_t element_id)
{
	const struct producer key = {iterator_id, element_id, 0};
	size_t low = 0, high = d->producer_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_key(&d->producers[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- calls ---- */

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t duration_of(const struct node *n)
{
	return n->end_ps - n->start_ps;
}

static struct tfp_iterator_use *use_of(struct data *d, const struct node *n, uint32_t call)
{
	struct tfp_iterators *out = d->out;
	if (d->use_call[n->iterator] == call)
		return &out->uses[d->use_at[n->iterator]];
	if (!TFP_GROW(out->uses, out->use_count, d->use_room))
		return NULL;
	d->use_call[n->iterator] = call;
	d->use_at[n->iterator] = out->use_count;
	out->uses[out->use_count] =
		(struct tfp_iterator_use){.iterator = n->iterator, .start_ps = n->start_ps};
	return &out->uses[out->use_count++];
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

/* Time that the spans cover together. */
static int64_t covered(struct span *spans, size_t count)
{
	int64_t sum = 0, until = INT64_MIN;
	if (count)
		qsort(spans, count, sizeof(*spans), by_start);
	for (size_t i = 0; i < count; i++) {
		int64_t from = spans[i].start_ps > until ? spans[i].start_ps : until;
		if (spans[i].end_ps > from) {
			sum += spans[i].end_ps - from;
			until = spans[i].end_ps;
		}
	}
	return sum;
}

struct visit {
	const struct node *node;
	bool is_blocking;
	size_t span_count, *queue_count;
};

static bool add_child(struct data *d, struct visit *v, uint32_t index)
{
	const struct node *child = &d->nodes[index], *n = v->node;
	d->looks++;
	if (!child->kind.is_data)
		return true;
	int64_t from = child->start_ps > n->start_ps ? child->start_ps : n->start_ps;
	int64_t to = child->end_ps < n->end_ps ? child->end_ps : n->end_ps;
	if (!TFP_GROW(d->queue, *v->queue_count, d->queue_room) ||
	    !TFP_GROW(d->spans, v->span_count, d->span_room))
		return false;
	if (to > from)
		d->spans[v->span_count++] = (struct span){from, to};
	if (child->iterator != NONE)
		d->queue[(*v->queue_count)++] = (struct step){index, v->is_blocking && to > from};
	return true;
}

/* Queues the events that an iterator's event called, and puts their times in spans. */
static bool add_children(struct data *d, struct visit *v, uint64_t most_looks)
{
	for (uint32_t c = v->node->child; c != NONE; c = d->nodes[c].sibling) {
		const struct node *child = &d->nodes[c];
		if (!add_child(d, v, c))
			return false;
		if (child->kind.type != CONSUME || !child->has_id)
			continue;
		size_t p = first_producer(d, v->node->id, child->id);
		for (; p < d->producer_count && d->producers[p].parent_id == v->node->id &&
		       d->producers[p].element_id == child->id && d->looks < most_looks;
		     p++) {
			if (!add_child(d, v, d->producers[p].node))
				return false;
		}
	}
	return true;
}

/* Follows one call. An event counts once however many ways lead to it, so cycles end; it
 * is looked at a second time when only a later way to it is blocking. */
static bool follow(struct data *d, uint32_t root, uint32_t call, uint64_t most_looks)
{
	size_t count = 0;
	if (!TFP_GROW(d->queue, count, d->queue_room))
		return false;
	d->queue[count++] = (struct step){root, true};
	for (size_t at = 0; at < count && d->looks < most_looks; at++) {
		struct step step = d->queue[at];
		const struct node *n = &d->nodes[step.node];
		uint32_t stamp = call * 2 + step.is_blocking, before = d->stamps[step.node];
		struct visit v = {n, step.is_blocking, 0, &count};
		if (before >= stamp)
			continue;
		d->stamps[step.node] = stamp;
		if (!tfp_goes_on(at) || !add_children(d, &v, most_looks))
			return false;
		struct tfp_iterator_use *use = use_of(d, n, call);
		if (!use)
			return false;
		use->is_blocking |= step.is_blocking;
		if (before >= call * 2)
			continue;
		use->calls++;
		use->duration_ps = add(use->duration_ps, duration_of(n));
		use->self_ps = add(use->self_ps, duration_of(n) - covered(d->spans, v.span_count));
		if (n->start_ps < use->start_ps)
			use->start_ps = n->start_ps;
	}
	return true;
}

/* qsort has no context: iterators are numbered by it before. */
static int by_iterator(const void *a, const void *b)
{
	const struct tfp_iterator_use *x = a, *y = b;
	return x->iterator < y->iterator ? -1 : x->iterator > y->iterator;
}

static void conclude_call(struct tfp_iterators *out, struct tfp_iterator_call *call)
{
	struct tfp_iterator_use *uses = out->uses + call->first_use;
	int64_t most = 0;
	call->use_count = out->use_count - call->first_use;
	call->bottleneck = SIZE_MAX;
	if (call->use_count)
		qsort(uses, call->use_count, sizeof(*uses), by_iterator);
	for (size_t i = 0; i < call->use_count; i++) {
		if (uses[i].is_blocking && uses[i].self_ps > most) {
			most = uses[i].self_ps;
			call->bottleneck = call->first_use + i;
		}
	}
}

static bool root_before(const void *context, uint32_t a, uint32_t b)
{
	const struct data *d = context;
	const struct node *x = &d->nodes[d->roots[a]], *y = &d->nodes[d->roots[b]];
	if (x->iterator != y->iterator)
		return x->iterator < y->iterator;
	if (duration_of(x) != duration_of(y))
		return duration_of(x) > duration_of(y);
	return x->start_ps < y->start_ps;
}

static bool follow_calls(struct data *d, const uint32_t *order)
{
	struct tfp_iterators *out = d->out;
	uint64_t most_looks = LOOKS_ALWAYS + (uint64_t)d->node_count * LOOKS_PER_NODE;
	out->calls = tfp_calloc(d->root_count, sizeof(*out->calls));
	d->stamps = tfp_calloc(d->node_count, sizeof(*d->stamps));
	d->use_call = tfp_calloc(out->iterator_count, sizeof(*d->use_call));
	d->use_at = tfp_calloc(out->iterator_count, sizeof(*d->use_at));
	if (!out->calls || !d->stamps || !d->use_call || !d->use_at)
		return false;
	for (size_t i = 0; i < d->root_count; i++) {
		struct tfp_iterator_call *call = &out->calls[out->call_count++];
		uint32_t root = d->roots[order[i]];
		call->start_ps = d->nodes[root].start_ps;
		call->duration_ps = duration_of(&d->nodes[root]);
		call->first_use = out->use_count;
		if (!tfp_goes_on(i) || !follow(d, root, (uint32_t)i + 1, most_looks))
			return false;
		if (d->looks >= most_looks && out->first_cut_call == SIZE_MAX)
			out->first_cut_call = i;
		conclude_call(out, call);
	}
	return true;
}

/* ---- pipelines ---- */

static void sum_up(const struct tfp_iterators *out, struct tfp_pipeline *p)
{
	const struct tfp_iterator_call *calls = out->calls + p->first_call;
	uint64_t sum = 0;
	p->max_ps = calls[0].duration_ps;
	p->min_ps = calls[p->call_count - 1].duration_ps;
	for (size_t i = 0; i < p->call_count; i++) {
		uint64_t more = (uint64_t)calls[i].duration_ps;
		if (__builtin_add_overflow(sum, more, &sum))
			sum = UINT64_MAX;
		p->slow_count += calls[i].duration_ps > TFP_SLOW_CALL_PS;
	}
	if (p->call_count)
		p->mean_ps = (int64_t)(sum / p->call_count);
}

static int64_t first_start(const struct tfp_iterators *out, const struct tfp_pipeline *p)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < p->call_count; i++) {
		if (out->calls[p->first_call + i].start_ps < first)
			first = out->calls[p->first_call + i].start_ps;
	}
	return first;
}

struct ranked {
	int64_t start_ps;
	struct tfp_pipeline pipeline;
};

static int by_first_start(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	return x->pipeline.root < y->pipeline.root ? -1 : x->pipeline.root > y->pipeline.root;
}

/* The peers number pipelines in the order of a hash table; here the one that was called
 * first is the first. */
static bool number_pipelines(struct tfp_iterators *out)
{
	struct ranked *ranked = tfp_calloc(out->pipeline_count, sizeof(*ranked));
	uint32_t host = 0, device = 0;
	if (!ranked)
		return false;
	for (size_t p = 0; p < out->pipeline_count; p++)
		ranked[p] =
			(struct ranked){first_start(out, &out->pipelines[p]), out->pipelines[p]};
	qsort(ranked, out->pipeline_count, sizeof(*ranked), by_first_start);
	for (size_t p = 0; p < out->pipeline_count; p++) {
		out->pipelines[p] = ranked[p].pipeline;
		out->pipelines[p].number = out->pipelines[p].is_device ? device++ : host++;
	}
	tfp_free(ranked);
	return true;
}

static bool find_pipelines(struct data *d, const uint32_t *order, const bool *is_device)
{
	struct tfp_iterators *out = d->out;
	size_t room = 0;
	for (size_t i = 0; i < d->root_count; i++) {
		uint32_t root = d->nodes[d->roots[order[i]]].iterator;
		size_t n = out->pipeline_count;
		if (n == 0 || out->pipelines[n - 1].root != root) {
			if (!TFP_GROW(out->pipelines, n, room))
				return false;
			out->pipelines[out->pipeline_count++] = (struct tfp_pipeline){
				.root = root, .is_device = is_device[root], .first_call = i};
		}
		out->pipelines[out->pipeline_count - 1].call_count++;
	}
	for (size_t p = 0; p < out->pipeline_count; p++)
		sum_up(out, &out->pipelines[p]);
	return out->pipeline_count == 0 || number_pipelines(out);
}

static bool find_roots(struct data *d)
{
	size_t room = 0;
	for (size_t i = 0; i < d->node_count; i++) {
		const struct node *node = &d->nodes[i];
		d->out->without_id += is_iterator(node) && !node->has_id;
		if (node->iterator == NONE || !node->kind.is_root)
			continue;
		if (!TFP_GROW(d->roots, d->root_count, room))
			return false;
		d->roots[d->root_count++] = (uint32_t)i;
	}
	return true;
}

/* Uses of a call are shown by id; indexes in that order make it so, and equal captures give
 * equal answers whatever their order of threads. */
static bool by_id(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_iterators *out = context;
	return out->iterators[a].id < out->iterators[b].id;
}

static bool sort_iterators(struct data *d, bool *is_device)
{
	struct tfp_iterators *out = d->out;
	size_t n = out->iterator_count;
	if (n == 0)
		return true;
	uint32_t *order = tfp_sort_indexes(n, by_id, out);
	struct tfp_iterator *sorted = tfp_reallocarray(NULL, n, sizeof(*sorted));
	uint32_t *place = tfp_reallocarray(NULL, n, sizeof(*place));
	bool *flags = tfp_reallocarray(NULL, n, sizeof(*flags));
	bool ok = order && sorted && place && flags;
	for (size_t i = 0; ok && i < n; i++)
		place[order[i]] = (uint32_t)i;
	for (size_t i = 0; ok && i < n; i++) {
		struct tfp_iterator *it = &sorted[i];
		*it = out->iterators[order[i]];
		if (it->parent != TFP_NO_ITERATOR)
			it->parent = place[it->parent];
		flags[i] = is_device[order[i]];
	}
	for (size_t i = 0; ok && i < d->node_count; i++) {
		if (d->nodes[i].iterator != NONE)
			d->nodes[i].iterator = place[d->nodes[i].iterator];
	}
	if (ok) {
		memcpy(out->iterators, sorted, n * sizeof(*sorted));
		memcpy(is_device, flags, n * sizeof(*flags));
	}
	tfp_free(order);
	tfp_free(sorted);
	tfp_free(place);
	tfp_free(flags);
	return ok;
}

/* ---- the fact ---- */

static bool analyse(struct data *d, struct tfp_pool *pool)
{
	bool *is_device = NULL, any = false;
	uint32_t *order = NULL;
	d->kinds = tfp_calloc(d->plane->event_meta_count, sizeof(*d->kinds));
	if (!d->kinds || tfp_schema_init(&d->schema, d->plane, stat_names, WANTED, NULL) != TFP_OK)
		return false;
	for (size_t m = 0; m < d->plane->event_meta_count; m++) {
		d->kinds[m] = kind_of(d->plane->event_metas[m].name);
		any |= d->kinds[m].type != OTHER;
	}
	/* Programs without tf.data pay nothing more. */
	if (!any)
		return true;
	bool ok = read_events(d, pool) && find_iterators(d, &is_device) &&
		  sort_iterators(d, is_device) && find_producers(d) && find_roots(d);
	if (ok && d->root_count) {
		order = tfp_sort_indexes(d->root_count, root_before, d);
		ok = order && follow_calls(d, order) && find_pipelines(d, order, is_device);
	}
	tfp_free(order);
	tfp_free(is_device);
	return ok;
}

static void release(struct data *d)
{
	tfp_schema_release(&d->schema);
	tfp_str_map_release(&d->by_id);
	void *const parts[] = {d->kinds,  d->lines,    d->nodes,  d->producers, d->roots,
			       d->stamps, d->use_call, d->use_at, d->queue,     d->spans};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		tfp_free(parts[i]);
}

static void free_fact(void *fact)
{
	struct tfp_iterators *data = fact;
	tfp_free(data->iterators);
	tfp_free(data->pipelines);
	tfp_free(data->calls);
	tfp_free(data->uses);
	tfp_free(data);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_iterators *out = tfp_calloc(1, sizeof(*out));
	struct data d = {.plane = tfp_capture_find_plane(capture, "/host:CPU"), .out = out};
	if (!out)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for tf.data iterators");
	out->first_cut_call = SIZE_MAX;
	bool ok = !d.plane || analyse(&d, pool);
	release(&d);
	if (!ok) {
		free_fact(out);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for tf.data iterators");
	}
	*heap_bytes = sizeof(*out) + out->iterator_count * sizeof(*out->iterators) +
		      out->pipeline_count * sizeof(*out->pipelines) +
		      out->call_count * sizeof(*out->calls) + d.use_room * sizeof(*out->uses);
	*fact = out;
	return TFP_OK;
}

enum tfp_status tfp_iterators_get(struct tfp_capture *capture, struct tfp_pool *pool,
				  const struct tfp_iterators **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_fact};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
