/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/timeline_output.h"

#include "base/alloc.h"
#include "base/json_writer.h"
#include "base/sort.h"
#include "tfprof/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_MAX     ((size_t)1 << 31)
#define LARGE_TRACE   ((size_t)200 << 20) /* Chrome may not show more */
#define APART_US      100                 /* points that are closer are left out */
#define ALLOCATIONS   10                  /* that are named at a point */
#define DOUBLE_DIGITS 40

/* The format wants what describes first: processes and boxes, then arrows and counters. */
struct trace {
	struct tfp_buf first, then;
	int64_t next_process;
};

static void trace_init(struct trace *t)
{
	*t = (struct trace){.next_process = 0};
	tfp_buf_init(&t->first, TRACE_MAX);
	tfp_buf_init(&t->then, TRACE_MAX);
}

static void trace_release(struct trace *t)
{
	tfp_buf_release(&t->first);
	tfp_buf_release(&t->then);
}

static void begin_event(struct tfp_buf *out)
{
	if (out->size)
		tfp_buf_putc(out, ',');
}

static void put_json(struct tfp_buf *out, struct tfp_str text)
{
	struct tfp_json j;
	tfp_json_init(&j, out);
	tfp_json_add_text(&j, text.data, text.size);
}

static void put_process(struct trace *t, int64_t process, const char *before, struct tfp_str name,
			const char *behind)
{
	struct tfp_buf text;
	tfp_buf_init(&text, TRACE_MAX);
	tfp_buf_puts(&text, before);
	tfp_buf_add(&text, name.data, name.size);
	tfp_buf_puts(&text, behind);
	begin_event(&t->first);
	tfp_buf_puts(&t->first, "{\"args\":{\"name\":");
	put_json(&t->first, (struct tfp_str){tfp_buf_text(&text), text.size});
	tfp_buf_printf(&t->first, "},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%" PRId64 "}",
		       process);
	t->first.failed |= tfp_buf_failed(&text);
	tfp_buf_release(&text);
}

/* op: whether the box names its op, too. */
static void put_box(struct trace *t, struct tfp_str name, bool op, int64_t process, int64_t lane,
		    int64_t start_us, int64_t duration_us)
{
	struct tfp_buf *out = &t->first;
	begin_event(out);
	tfp_buf_puts(out, "{\"args\":{\"name\":");
	put_json(out, name);
	if (op) {
		tfp_buf_puts(out, ",\"op\":");
		put_json(out, name);
	}
	tfp_buf_printf(out, "},\"cat\":\"Op\",\"dur\":%" PRId64 ",\"name\":", duration_us);
	put_json(out, name);
	tfp_buf_printf(out,
		       ",\"ph\":\"X\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%" PRId64 "}",
		       process, lane, start_us);
}

static enum tfp_status trace_write(struct trace *t, const struct tfp_view_options *o,
				   struct tfp_buf *said, struct tfp_error *err)
{
	char reason[1024];
	struct tfp_buf path;
	tfp_buf_init(&path, (size_t)1 << 20);
	tfp_buf_printf(&path, "%s_%" PRId64, o->texts[TFP_OUT_FILE], o->numbers[TFP_STEP]);
	struct tfp_buf whole;
	tfp_buf_init(&whole, TRACE_MAX);
	tfp_buf_puts(&whole, "{\"traceEvents\":[");
	tfp_buf_add(&whole, t->first.data, t->first.size);
	if (t->first.size && t->then.size)
		tfp_buf_putc(&whole, ',');
	tfp_buf_add(&whole, t->then.data, t->then.size);
	tfp_buf_puts(&whole, "]}\n");
	bool good = !tfp_buf_failed(&whole) && !tfp_buf_failed(&t->first) &&
		    !tfp_buf_failed(&t->then) && !tfp_buf_failed(&path);
	enum tfp_status status =
		good ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	if (good && whole.size > LARGE_TRACE)
		fprintf(stderr, "The trace has more than 200 MiB, which Chrome may not show. "
				"-min_micros and -account_type_regexes make it smaller.\n");
	if (good &&
	    !tfp_write_file(tfp_buf_text(&path), whole.data, whole.size, reason, sizeof(reason))) {
		fprintf(stderr, "Failed to write timeline file: %s\nError: %s\n",
			tfp_buf_text(&path), reason);
	} else if (good) {
		static const char stars[] =
			"******************************************************";
		tfp_buf_printf(said,
			       "\n%s\nTimeline file is written to %s.\nOpen a Chrome browser, "
			       "enter URL chrome://tracing and load the timeline file.\n%s\n",
			       stars, tfp_buf_text(&path), stars);
	}
	tfp_buf_release(&whole);
	tfp_buf_release(&path);
	return status;
}

/* ---- scopes and lines of code ---- */

/* The next row that takes time, in the order of the tree; those below one that takes none are
 * left out with it. */
static const struct tfp_tree_node *first_with_time(const struct tfp_tree_node *n)
{
	while (n && n->total[TFP_TOTAL_TIME] <= 0)
		n = n->shown_next;
	return n;
}

struct place {
	const struct tfp_tree_node *node;
	int64_t start_us;
};

enum tfp_status tfp_timeline_of_tree(const struct tfp_tree *tree, const struct tfp_view_options *o,
				     struct tfp_error *err)
{
	struct trace t;
	struct tfp_buf said;
	struct place *stack = NULL; /* the way from the root; start_us: of the next child */
	size_t depth = 0, room = 0, processes = 0;
	const struct tfp_tree_node *n = tfp_tree_root(tree);
	int64_t start_us = 0;
	enum tfp_status status = TFP_OK;
	trace_init(&t);
	tfp_buf_init(&said, TRACE_MAX);
	while (n) {
		if (depth == processes) {
			char name[32];
			snprintf(name, sizeof(name), "Scope:%zu", depth);
			put_process(&t, (int64_t)depth, name, (struct tfp_str){"", 0}, "");
			processes++;
		}
		put_box(&t, n->name, true, (int64_t)depth, 0, start_us, n->total[TFP_TOTAL_TIME]);
		if (!TFP_GROW(stack, depth, room)) {
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
			break;
		}
		stack[depth++] = (struct place){n, start_us};
		n = first_with_time(n->shown_first);
		while (!n && depth > 1) {
			const struct tfp_tree_node *done = stack[--depth].node;
			struct place *above = &stack[depth - 1];
			above->start_us =
				tfp_wrap_add(above->start_us, done->total[TFP_TOTAL_TIME]);
			n = first_with_time(done->shown_next);
		}
		if (n)
			start_us = stack[depth - 1].start_us;
	}
	if (status == TFP_OK)
		status = trace_write(&t, o, &said, err);
	if (status == TFP_OK)
		status = tfp_print(&said, err);
	tfp_free(stack);
	tfp_buf_release(&said);
	trace_release(&t);
	return status;
}

/* ---- the graph ---- */

struct box {
	const struct tfp_tree_node *node;
	uint32_t device;
	int64_t start_us, duration_us;
	int64_t lane;
	size_t place; /* among the boxes as they are written */
};

struct flow {
	uint32_t from, to; /* boxes */
};

/* A tensor's bytes over time. */
struct tensor {
	struct tfp_str name;
	struct tfp_bytes_at *points; /* owned; by time, sums */
	size_t count, next;
};

struct memory {
	struct tfp_str device;
	struct tensor *tensors; /* owned; by name */
	size_t count, room;
	struct tfp_bytes_at *points; /* owned; by time, as they came */
	size_t point_count, point_room;
};

struct graph {
	const struct tfp_profile *profile;
	int64_t step;
	struct trace trace;
	struct tfp_buf said;
	int64_t *processes; /* owned; of devices; -1: none so far */
	struct box *boxes;  /* owned */
	size_t count, room;
	struct tfp_str_map by_start; /* device and start to a box */
	struct tfp_arena keys;
	struct flow *flows; /* owned */
	size_t flow_count, flow_room;
	struct memory *memories; /* owned; by device */
	size_t memory_count, memory_room;
};

struct start_key {
	int64_t start_us;
	uint64_t device;
};

static bool is_accelerator(struct tfp_str device)
{
	return tfp_str_contains(device, "gpu") || tfp_str_contains(device, "sycl");
}

static const struct tfp_exec *tracked(const struct graph *g, const struct tfp_tree_node *n)
{
	const struct tfp_exec *exec = n->node ? tfp_profile_exec_at(n->node, g->step) : NULL;
	return exec && exec->start_us != 0 && n->node->device.size && n->node->has_host ? exec
											: NULL;
}

static struct memory *memory_of(struct graph *g, struct tfp_str device)
{
	for (size_t i = 0; i < g->memory_count; i++) {
		if (tfp_str_compare(g->memories[i].device, device) == 0)
			return &g->memories[i];
	}
	if (!TFP_GROW(g->memories, g->memory_count, g->memory_room))
		return NULL;
	g->memories[g->memory_count] = (struct memory){.device = device};
	return &g->memories[g->memory_count++];
}

static int by_time(const void *a, const void *b)
{
	const struct tfp_bytes_at *x = a, *y = b;
	return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

/* What the accelerator keeps for a node, at most, of all steps. */
static int64_t persistent_bytes(const struct tfp_profile_node *node)
{
	int64_t most = 0;
	for (size_t i = 0; i < node->exec_count; i++) {
		if (node->execs[i].accelerator_persistent_bytes > most)
			most = node->execs[i].accelerator_persistent_bytes;
	}
	return most;
}

/* Sums up to each time, one for each; an entry at time 0 is what is kept. */
static bool add_tensor(struct memory *m, const struct tfp_profile_node *node,
		       const struct tfp_exec *exec)
{
	struct tensor t = {.name = node->name};
	size_t room = 0, kept = 0;
	int64_t sum = 0;
	if (!TFP_GROW(t.points, t.count, room))
		return false;
	t.points[t.count++] = (struct tfp_bytes_at){NULL, 0, persistent_bytes(node)};
	for (const struct tfp_bytes_at *at = exec->allocations.first; at; at = at->next) {
		if (!TFP_GROW(t.points, t.count, room)) {
			tfp_free(t.points);
			return false;
		}
		t.points[t.count++] = *at;
	}
	qsort(t.points, t.count, sizeof(*t.points), by_time);
	for (size_t i = 0; i < t.count; i++) {
		sum = tfp_wrap_add(sum, t.points[i].bytes);
		if (kept && t.points[kept - 1].time_us == t.points[i].time_us)
			kept--;
		t.points[kept++] = (struct tfp_bytes_at){NULL, t.points[i].time_us, sum};
	}
	t.count = kept;
	if (!TFP_GROW(m->tensors, m->count, m->room)) {
		tfp_free(t.points);
		return false;
	}
	m->tensors[m->count++] = t;
	return true;
}

static bool track_memory(struct graph *g, const struct tfp_profile_node *node,
			 const struct tfp_exec *exec)
{
	struct memory *m = memory_of(g, node->device);
	if (!m || !add_tensor(m, node, exec))
		return false;
	for (const struct tfp_bytes_at *at = exec->in_use.first; at; at = at->next) {
		if (at->time_us <= 0)
			continue;
		if (!TFP_GROW(m->points, m->point_count, m->point_room))
			return false;
		m->points[m->point_count++] = *at;
	}
	return true;
}

/* The box that begins at that time on that device: a new one, or the one that is there. */
static bool add_box(struct graph *g, const struct tfp_tree_node *n,
		    const struct tfp_interval *interval)
{
	struct start_key *key = tfp_arena_alloc(&g->keys, sizeof(*key));
	if (!key || g->count >= TFP_STR_MAP_NONE - 1 || !TFP_GROW(g->boxes, g->count, g->room))
		return false;
	*key = (struct start_key){interval->start_us, interval->device};
	uint32_t found = tfp_str_map_add(&g->by_start, key, sizeof(*key), (uint32_t)g->count);
	if (found == TFP_STR_MAP_NONE)
		return false;
	if (found == g->count)
		g->boxes[g->count++] = (struct box){
			n, interval->device, interval->start_us, interval->duration_us, 0, 0};
	return true;
}

struct by_device {
	const struct graph *graph;
	const struct tfp_interval **list;
};

static bool device_before(const void *context, uint32_t a, uint32_t b)
{
	const struct by_device *order = context;
	const struct tfp_device *devices = order->graph->profile->devices;
	return tfp_str_compare(devices[order->list[a]->device].name,
			       devices[order->list[b]->device].name) < 0;
}

/* Devices get their processes in the order in which nodes name them. */
static bool add_boxes(struct graph *g, const struct tfp_tree_node *n, const struct tfp_exec *exec)
{
	struct by_device order = {g, NULL};
	size_t count = 0, room = 0;
	bool good = true;
	for (const struct tfp_interval *i = exec->intervals; good && i; i = i->next) {
		good = TFP_GROW(order.list, count, room);
		if (good)
			order.list[count++] = i;
	}
	uint32_t *indexes = good ? tfp_sort_indexes(count, device_before, &order) : NULL;
	for (size_t i = 0; indexes && good && i < count; i++) {
		const struct tfp_interval *interval = order.list[indexes[i]];
		struct tfp_str name = g->profile->devices[interval->device].name;
		if (g->processes[interval->device] < 0) {
			g->processes[interval->device] = g->trace.next_process++;
			put_process(&g->trace, g->processes[interval->device],
				    tfp_str_contains(name, "stream") ? "Op execution threads: "
								     : "Op scheduling threads: ",
				    name, "");
		}
		good = add_box(g, n, interval);
	}
	good &= indexes != NULL;
	tfp_free(indexes);
	tfp_free(order.list);
	return good;
}

struct box_order {
	const struct graph *graph;
	bool written; /* by process and lane, rather than by device */
};

static bool box_before(const void *context, uint32_t a, uint32_t b)
{
	const struct box_order *order = context;
	const struct graph *g = order->graph;
	const struct box *x = &g->boxes[a], *y = &g->boxes[b];
	int names = 0;
	if (x->device != y->device) {
		if (order->written)
			return g->processes[x->device] < g->processes[y->device];
		names = tfp_str_compare(g->profile->devices[x->device].name,
					g->profile->devices[y->device].name);
	}
	if (names)
		return names < 0;
	if (order->written && x->lane != y->lane)
		return x->lane < y->lane;
	return x->start_us < y->start_us;
}

/* ---- arrows between devices ---- */

/* From what an input ran to the box that it feeds, where they are on different devices. */
static bool add_flows_of(struct graph *g, uint32_t to)
{
	const struct box *box = &g->boxes[to];
	for (size_t i = 0; i < box->node->child_count; i++) {
		const struct tfp_tree_node *source = box->node->children[i];
		const struct tfp_exec *exec = source->accounted ? tracked(g, source) : NULL;
		for (const struct tfp_interval *at = exec ? exec->intervals : NULL; at;
		     at = at->next) {
			const struct start_key key = {at->start_us, at->device};
			if (at->accelerator || !g->profile->devices[at->device].canonical ||
			    at->device == box->device)
				continue;
			uint32_t from = tfp_str_map_find(&g->by_start, &key, sizeof(key));
			if (from == TFP_STR_MAP_NONE)
				continue;
			if (!TFP_GROW(g->flows, g->flow_count, g->flow_room))
				return false;
			g->flows[g->flow_count++] = (struct flow){from, to};
		}
	}
	return true;
}

static bool add_flows(struct graph *g, const uint32_t *by_device)
{
	for (size_t i = 0; i < g->count; i++) {
		if (g->profile->devices[g->boxes[by_device[i]].device].canonical &&
		    !add_flows_of(g, by_device[i]))
			return false;
	}
	return true;
}

static bool flow_before(const void *context, uint32_t a, uint32_t b)
{
	const struct graph *g = context;
	return g->boxes[g->flows[a].from].place < g->boxes[g->flows[b].from].place;
}

static void put_flow_end(struct graph *g, const char *phase, const struct box *named,
			 const struct box *at, int64_t time_us, size_t id)
{
	struct tfp_buf *out = &g->trace.then, name;
	tfp_buf_init(&name, TRACE_MAX);
	tfp_buf_add(&name, named->node->name.data, named->node->name.size);
	tfp_buf_puts(&name, "_flow");
	begin_event(out);
	tfp_buf_printf(out, "{\"cat\":\"DataFlow\",\"id\":%zu,\"name\":", id);
	put_json(out, (struct tfp_str){tfp_buf_text(&name), name.size});
	tfp_buf_printf(out,
		       ",\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%" PRId64 "}",
		       phase, g->processes[at->device], at->lane, time_us);
	out->failed |= tfp_buf_failed(&name);
	tfp_buf_release(&name);
}

static bool put_flows(struct graph *g)
{
	uint32_t *order = tfp_sort_indexes(g->flow_count, flow_before, g);
	for (size_t i = 0; order && i < g->flow_count; i++) {
		const struct box *from = &g->boxes[g->flows[order[i]].from];
		const struct box *to = &g->boxes[g->flows[order[i]].to];
		put_flow_end(g, "s", from, from, tfp_wrap_add(from->start_us, from->duration_us),
			     i + 1);
		put_flow_end(g, "t", from, to, to->start_us, i + 1);
	}
	bool good = order != NULL;
	tfp_free(order);
	return good;
}

/* ---- lanes ---- */

/* When the last box of each lane ends, in a tree of the least ends: the first lane that is free
 * is found in as many steps as the tree has levels. */
struct lanes {
	int64_t *least; /* owned; the leaves from `room` on */
	size_t count, room;
};

static bool grow_lanes(struct lanes *l)
{
	size_t room = l->room ? 2 * l->room : 16;
	int64_t *least = tfp_reallocarray(NULL, 2 * room, sizeof(*least));
	if (!least)
		return false;
	for (size_t i = 0; i < room; i++)
		least[room + i] = i < l->count ? l->least[l->room + i] : INT64_MAX;
	for (size_t i = room - 1; i > 0; i--)
		least[i] = least[2 * i] < least[2 * i + 1] ? least[2 * i] : least[2 * i + 1];
	tfp_free(l->least);
	l->least = least;
	l->room = room;
	return true;
}

/* The first lane whose last box has ended by then, or a new one. */
static bool take_lane(struct lanes *l, const struct box *box, int64_t *lane)
{
	size_t at = 1;
	if (l->count == l->room && !grow_lanes(l))
		return false;
	if (l->count && l->least[1] <= box->start_us) {
		while (at < l->room)
			at = 2 * at + (l->least[2 * at] > box->start_us);
	} else {
		at = l->room + l->count++;
	}
	*lane = (int64_t)(at - l->room);
	l->least[at] = tfp_wrap_add(box->start_us, box->duration_us);
	while ((at /= 2) > 0)
		l->least[at] = l->least[2 * at] < l->least[2 * at + 1] ? l->least[2 * at]
								       : l->least[2 * at + 1];
	return true;
}

static bool allocate_lanes(struct graph *g, const uint32_t *by_device)
{
	struct lanes lanes = {0};
	bool good = true;
	for (size_t i = 0; good && i < g->count; i++) {
		struct box *box = &g->boxes[by_device[i]];
		if (i && g->boxes[by_device[i - 1]].device != box->device) {
			tfp_free(lanes.least);
			lanes = (struct lanes){0};
		}
		good = take_lane(&lanes, box, &box->lane);
	}
	tfp_free(lanes.least);
	return good;
}

static bool put_boxes(struct graph *g)
{
	struct box_order order = {g, false};
	uint32_t *indexes = tfp_sort_indexes(g->count, box_before, &order);
	bool good = indexes && add_flows(g, indexes) && allocate_lanes(g, indexes);
	tfp_free(indexes);
	if (!good)
		return false;
	order.written = true;
	indexes = tfp_sort_indexes(g->count, box_before, &order);
	for (size_t i = 0; indexes && i < g->count; i++) {
		struct box *box = &g->boxes[indexes[i]];
		box->place = i;
		put_box(&g->trace, box->node->name, false, g->processes[box->device], box->lane,
			box->start_us, box->duration_us);
	}
	good = indexes && put_flows(g);
	tfp_free(indexes);
	return good;
}

/* ---- memory ---- */

struct holding {
	int64_t bytes;
	size_t tensor;
};

static int larger_first(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

/* As short as it reads back the same: 15 digits, or 17. */
static void put_megabytes(struct tfp_buf *out, int64_t bytes)
{
	char digits[DOUBLE_DIGITS];
	double megabytes = (double)bytes / 1000000.0;
	snprintf(digits, sizeof(digits), "%.15g", megabytes);
	if (strtod(digits, NULL) != megabytes)
		snprintf(digits, sizeof(digits), "%.17g", megabytes);
	tfp_buf_printf(out, "%s MB", digits);
}

static void put_allocations(struct graph *g, const struct memory *m, const struct holding *held,
			    size_t count, int64_t bytes, int64_t process, int64_t time_us)
{
	struct tfp_buf *out = &g->trace.then, texts[ALLOCATIONS];
	size_t named = 0;
	for (size_t i = 0; i < ALLOCATIONS; i++)
		tfp_buf_init(&texts[i], TRACE_MAX);
	for (size_t i = 0; i < count && named < ALLOCATIONS; i++) {
		/* What is larger than all that is left cannot be right. */
		if (bytes < held[i].bytes)
			continue;
		put_megabytes(&texts[named], held[i].bytes);
		tfp_buf_puts(&texts[named], " from ");
		tfp_buf_add(&texts[named], m->tensors[held[i].tensor].name.data,
			    m->tensors[held[i].tensor].name.size);
		named++;
		bytes -= held[i].bytes;
	}
	begin_event(out);
	tfp_buf_printf(out, "{\"args\":{\"Not Displayed\":\"%.2f MB\"", (double)bytes / 1000000.0);
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		if (i == 0 && !named)
			continue;
		tfp_buf_printf(out, ",\"Top Allocation %02zu\":", i);
		if (i < named)
			put_json(out, (struct tfp_str){tfp_buf_text(&texts[i]), texts[i].size});
		else
			tfp_buf_puts(out, "\"N/A\"");
		out->failed |= tfp_buf_failed(&texts[i]);
	}
	for (size_t i = 0; i < ALLOCATIONS; i++)
		tfp_buf_release(&texts[i]);
	tfp_buf_printf(out,
		       "},\"cat\":\"Memory\",\"name\":\"Top Allocations\",\"ph\":\"C\","
		       "\"pid\":%" PRId64 ",\"tid\":0,\"ts\":%" PRId64 "}",
		       process, time_us);
}

/* What each tensor had just before a time; times only go forward. */
static size_t hold(struct memory *m, int64_t time_us, struct holding *held)
{
	size_t count = 0;
	for (size_t i = 0; i < m->count; i++) {
		struct tensor *t = &m->tensors[i];
		while (t->next + 1 < t->count && t->points[t->next + 1].time_us < time_us)
			t->next++;
		if (t->points[t->next].bytes > 0)
			held[count++] = (struct holding){t->points[t->next].bytes, i};
	}
	if (count)
		qsort(held, count, sizeof(*held), larger_first);
	return count;
}

static bool put_points(struct graph *g, struct memory *m, int64_t process, int64_t *most)
{
	struct holding *held = tfp_calloc(m->count ? m->count : 1, sizeof(*held));
	int64_t last_us = 0;
	*most = 0;
	for (size_t i = 0; held && i < m->point_count; i++) {
		const struct tfp_bytes_at *at = &m->points[i];
		/* Of several at one time the last counts. */
		if (i + 1 < m->point_count && m->points[i + 1].time_us == at->time_us)
			continue;
		if (at->bytes > *most)
			*most = at->bytes;
		if (at->time_us - last_us < APART_US)
			continue;
		last_us = at->time_us;
		begin_event(&g->trace.then);
		tfp_buf_printf(&g->trace.then,
			       "{\"args\":{\"Allocator Bytes in Use\":%" PRId64 "},"
			       "\"cat\":\"Memory\",\"name\":\"Allocated Bytes\",\"ph\":\"C\","
			       "\"pid\":%" PRId64 ",\"tid\":0,\"ts\":%" PRId64 "}",
			       at->bytes, process, at->time_us);
		put_allocations(g, m, held, hold(m, at->time_us, held), at->bytes, process + 1,
				at->time_us);
	}
	bool good = held != NULL;
	tfp_free(held);
	return good;
}

static int by_device_name(const void *a, const void *b)
{
	const struct memory *x = a, *y = b;
	return tfp_str_compare(x->device, y->device);
}

static int by_tensor(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;
	return tfp_str_compare(x->name, y->name);
}

/* Points in the order of time; of one time as they came. */
static bool sort_points(struct memory *m)
{
	struct tfp_pair *pairs = tfp_calloc(m->point_count ? m->point_count : 1, sizeof(*pairs));
	if (!pairs)
		return false;
	for (size_t i = 0; i < m->point_count; i++)
		pairs[i] = (struct tfp_pair){(uint64_t)m->points[i].time_us,
					     (uint64_t)m->points[i].bytes};
	bool good = tfp_sort_pairs(pairs, m->point_count);
	for (size_t i = 0; good && i < m->point_count; i++)
		m->points[i] =
			(struct tfp_bytes_at){NULL, (int64_t)pairs[i].key, (int64_t)pairs[i].value};
	tfp_free(pairs);
	return good;
}

static bool put_memory(struct graph *g)
{
	bool good = true;
	if (g->memory_count)
		qsort(g->memories, g->memory_count, sizeof(*g->memories), by_device_name);
	for (size_t i = 0; good && i < g->memory_count; i++) {
		struct memory *m = &g->memories[i];
		int64_t process, most;
		if (tfp_str_contains(m->device, "cpu"))
			continue;
		process = g->trace.next_process;
		g->trace.next_process += 2;
		put_process(&g->trace, process, "mem usage on:", m->device, "");
		put_process(&g->trace, process + 1, "mem usage on:", m->device, " allocations");
		if (m->count)
			qsort(m->tensors, m->count, sizeof(*m->tensors), by_tensor);
		good = sort_points(m) && put_points(g, m, process, &most);
		if (good && is_accelerator(m->device)) {
			tfp_buf_add(&g->said, m->device.data, m->device.size);
			tfp_buf_printf(&g->said, " peak memory: %.2f MB\n",
				       (double)most / 1000000.0);
		}
	}
	return good;
}

static bool make(struct graph *g, const struct tfp_tree *t)
{
	size_t devices = g->profile->device_count;
	g->processes = tfp_reallocarray(NULL, devices + 1, sizeof(*g->processes));
	for (size_t i = 0; g->processes && i < devices; i++)
		g->processes[i] = -1;
	bool good = g->processes != NULL;
	for (const struct tfp_tree_node *n = tfp_tree_next(tfp_tree_root(t)); good && n;
	     n = tfp_tree_next(n)) {
		const struct tfp_exec *exec = tracked(g, n);
		if (exec)
			good = track_memory(g, n->node, exec) && add_boxes(g, n, exec);
	}
	tfp_buf_puts(&g->said, "generating trace file.\n");
	return good && put_boxes(g) && put_memory(g);
}

enum tfp_status tfp_timeline_of_graph(const struct tfp_tree *t, const struct tfp_profile *p,
				      const struct tfp_view_options *o, struct tfp_error *err)
{
	struct graph g = {.profile = p, .step = o->numbers[TFP_STEP]};
	enum tfp_status status = TFP_OK;
	trace_init(&g.trace);
	tfp_buf_init(&g.said, TRACE_MAX);
	tfp_arena_init(&g.keys, TRACE_MAX);
	if (!make(&g, t))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	if (status == TFP_OK)
		status = trace_write(&g.trace, o, &g.said, err);
	if (status == TFP_OK)
		status = tfp_print(&g.said, err);
	for (size_t i = 0; i < g.memory_count; i++) {
		for (size_t j = 0; j < g.memories[i].count; j++)
			tfp_free(g.memories[i].tensors[j].points);
		tfp_free(g.memories[i].tensors);
		tfp_free(g.memories[i].points);
	}
	tfp_free(g.memories);
	tfp_free(g.flows);
	tfp_free(g.boxes);
	tfp_free(g.processes);
	tfp_str_map_release(&g.by_start);
	tfp_arena_release(&g.keys);
	tfp_buf_release(&g.said);
	trace_release(&g.trace);
	return status;
}
