/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Op profile: the devices' time as a tree of programs, categories and operations, or by what
 * they come from (docs/tools/op_profile.md).
 */
#include "base/alloc.h"
#include "base/json_writer.h"
#include "base/str_map.h"
#include "tools/program_ops.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct tfp_tool tfp_op_profile;

#define PEERS_CHILDREN "100"
#define PEERS_LIMIT    100

/* Names of one path; what lies deeper is one name, with its slashes. */
#define PATH_MAX_PARTS 128u

#define NONE UINT32_MAX

enum grouping { BY_PROGRAM, BY_CATEGORY, BY_PROVENANCE };

enum node_kind { ROOT, PROGRAM, PATH, CATEGORY, GROUP, LEAF, PART };

struct metrics {
	uint64_t time_ps, normalized_ps, occurrences, unknown_ps;
	double flops, model_flops; /* by the device, and of the model */
	double bytes[3];           /* HBM; fast memory read, written */
};

struct node {
	enum node_kind kind;
	struct tfp_str name;
	struct metrics metrics;
	const struct tfp_op *op;        /* of a leaf; of a group its largest */
	const struct tfp_op_part *part; /* of a part of a fusion */
	uint32_t parent, first, last, next, child_count;
};

struct tree {
	const struct tfp_program_ops *ops;
	enum grouping grouping;
	struct node *nodes; /* [0] is the root */
	size_t count, room;
	struct tfp_str_map by_key; /* parent, kind and name */
	struct tfp_arena arena;
	uint64_t total_ps;
	uint64_t limit; /* children that are written; 0: all */
	bool failed;
};

/* ---- growing ---- */

static uint32_t add_node(struct tree *t, uint32_t parent, enum node_kind kind, struct tfp_str name)
{
	if (t->count >= NONE || !TFP_GROW(t->nodes, t->count, t->room)) {
		t->failed = true;
		return NONE;
	}
	uint32_t index = (uint32_t)t->count++;
	t->nodes[index] = (struct node){.kind = kind,
					.name = name,
					.parent = parent,
					.first = NONE,
					.last = NONE,
					.next = NONE};
	if (parent == NONE)
		return index;
	struct node *above = &t->nodes[parent];
	if (above->first == NONE)
		above->first = index;
	else
		t->nodes[above->last].next = index;
	above->last = index;
	above->child_count++;
	return index;
}

/* The child of that kind and name, made if need be. */
static uint32_t child(struct tree *t, uint32_t parent, enum node_kind kind, struct tfp_str name)
{
	char small[256], *key = small;
	size_t size = sizeof(parent) + 1 + name.size;
	uint32_t found = NONE;
	if (t->failed)
		return NONE;
	if (size > sizeof(small))
		key = tfp_malloc(size);
	if (!key) {
		t->failed = true;
		return NONE;
	}
	memcpy(key, &parent, sizeof(parent));
	key[sizeof(parent)] = (char)kind;
	if (name.size)
		memcpy(key + sizeof(parent) + 1, name.data, name.size);
	found = tfp_str_map_find(&t->by_key, key, size);
	if (found == TFP_STR_MAP_NONE) {
		char *kept = tfp_arena_strndup(&t->arena, key, size);
		found = add_node(t, parent, kind, name);
		if (found != NONE &&
		    (!kept || tfp_str_map_add(&t->by_key, kept, size, found) == TFP_STR_MAP_NONE))
			t->failed = true;
	}
	if (key != small)
		tfp_free(key);
	return t->failed ? NONE : found;
}

static void add_costs(struct metrics *m, const struct tfp_op *op)
{
	const struct tfp_device_metrics *d = op->device;
	if (!op->has_cost) {
		m->unknown_ps += op->self_time_ps;
		return;
	}
	m->flops += op->flops;
	m->model_flops += op->model_flops;
	if (!d)
		return;
	m->bytes[0] += d->bytes[TFP_SPACE_HBM][TFP_ACCESS_READ] +
		       d->bytes[TFP_SPACE_HBM][TFP_ACCESS_WRITE];
	for (int s = TFP_SPACE_CMEM; s < TFP_SPACE_COUNT; s++) {
		m->bytes[1] += d->bytes[s][TFP_ACCESS_READ];
		m->bytes[2] += d->bytes[s][TFP_ACCESS_WRITE];
	}
}

static uint64_t normalized_time(const struct tfp_op *op)
{
	return op->device ? op->device->normalized_ps : 0;
}

static bool has_children_time(const struct tfp_op *op)
{
	return op->time_ps > op->self_time_ps;
}

/* To what an op lies below (XProf's UpdateNodeMetrics): its own time, and costs only of what
 * holds no other ops. */
static void add_below(struct tree *t, uint32_t node, const struct tfp_op *op)
{
	if (node == NONE)
		return;
	struct metrics *m = &t->nodes[node].metrics;
	m->time_ps += op->self_time_ps;
	m->normalized_ps += normalized_time(op);
	if (!has_children_time(op))
		add_costs(m, op);
}

/* To what an op is part of (CombineOpMetrics). */
static void add_whole(struct tree *t, uint32_t node, const struct tfp_op *op)
{
	if (node == NONE)
		return;
	struct metrics *m = &t->nodes[node].metrics;
	m->time_ps += op->time_ps;
	m->normalized_ps += normalized_time(op);
	m->occurrences += op->occurrences;
	add_costs(m, op);
}

static void add_parts(struct tree *t, uint32_t leaf, const struct tfp_op *op)
{
	const struct tfp_op_text *text = tfp_program_ops_text(t->ops, op);
	uint32_t above[TFP_OP_PART_DEPTH_MAX + 1] = {leaf};
	for (uint32_t i = 0; leaf != NONE && i < text->part_count; i++) {
		const struct tfp_op_part *part = &text->parts[i];
		uint32_t node = add_node(t, above[part->depth - 1], PART, part->name);
		if (node == NONE)
			return;
		t->nodes[node].part = part;
		t->nodes[node].metrics.occurrences = 1;
		above[part->depth] = node;
	}
}

static struct tfp_str program_name(struct tree *t, uint64_t id)
{
	const struct tfp_program *program = tfp_op_texts_find_program(&t->ops->texts, id);
	if (!program)
		return (struct tfp_str){"main", 4};
	size_t room = program->name.size + 24;
	char *text = tfp_arena_alloc(&t->arena, room);
	if (!text) {
		t->failed = true;
		return (struct tfp_str){"", 0};
	}
	if (program->name.size)
		memcpy(text, program->name.data, program->name.size);
	int digits =
		snprintf(text + program->name.size, room - program->name.size, "(%" PRIu64 ")", id);
	return (struct tfp_str){text, program->name.size + (size_t)digits};
}

/* Programs without a name are one node each, by id: the id is the key, the name is set after. */
static uint32_t program_node(struct tree *t, uint64_t id)
{
	char key[24];
	int size = snprintf(key, sizeof(key), "%" PRIu64, id);
	size_t before = t->count;
	uint32_t node = child(t, 0, PROGRAM, (struct tfp_str){key, (size_t)size});
	if (node != NONE && t->count > before)
		t->nodes[node].name = program_name(t, id);
	return node;
}

/* The nodes of `a/b/c:Type`, from above: a, b, c (ParseProvenance). */
static uint32_t path_node(struct tree *t, uint32_t above, const struct tfp_op *op)
{
	struct tfp_str rest = op->provenance;
	for (unsigned parts = 0; above != NONE; parts++) {
		while (rest.size && rest.data[0] == '/') {
			rest.data++;
			rest.size--;
		}
		if (rest.size == 0)
			break;
		const char *slash =
			parts + 1 < PATH_MAX_PARTS ? memchr(rest.data, '/', rest.size) : NULL;
		struct tfp_str name = rest;
		if (slash)
			name.size = (size_t)(slash - rest.data);
		rest = slash ? (struct tfp_str){slash, rest.size - name.size}
			     : (struct tfp_str){rest.data + rest.size, 0};
		size_t left = 0;
		while (left < rest.size && rest.data[left] == '/')
			left++;
		const char *colon = memchr(name.data, ':', name.size);
		if (left == rest.size && colon)
			name.size = (size_t)(colon - name.data);
		above = child(t, above, PATH, name);
		add_below(t, above, op);
	}
	return above;
}

static void add_op(struct tree *t, const struct tfp_op *op)
{
	uint32_t above = 0, category, group, leaf;
	const struct tfp_op_text *text = tfp_program_ops_text(t->ops, op);
	add_below(t, 0, op);
	if (t->grouping != BY_CATEGORY) {
		above = program_node(t, op->module_id);
		add_below(t, above, op);
	}
	if (has_children_time(op))
		return;
	if (t->grouping == BY_PROVENANCE)
		above = path_node(t, above, op);
	category = child(t, above, CATEGORY, op->category);
	group = child(t, category, GROUP,
		      text->deduplicated_name.size ? text->deduplicated_name : op->name);
	if (group == NONE)
		return;
	leaf = add_node(t, group, LEAF, op->name);
	if (leaf == NONE)
		return;
	t->nodes[leaf].op = op;
	add_parts(t, leaf, op);
	add_whole(t, category, op);
	add_whole(t, group, op);
	add_whole(t, leaf, op);
}

static void add_idle(struct tree *t, const struct tfp_op *idle)
{
	uint32_t leaf = add_node(t, 0, LEAF, idle->name);
	if (leaf == NONE)
		return;
	t->nodes[leaf].op = idle;
	add_whole(t, leaf, idle);
}

/* ---- order ---- */

static bool is_fusion(struct tfp_str category)
{
	static const char end[] = " fusion";
	return category.size >= 7 && memcmp(category.data + category.size - 7, end, 7) == 0;
}

static int by_time(const void *a, const void *b, void *nodes)
{
	const struct node *x = (const struct node *)nodes + *(const uint32_t *)a;
	const struct node *y = (const struct node *)nodes + *(const uint32_t *)b;
	if (x->metrics.time_ps != y->metrics.time_ps)
		return x->metrics.time_ps > y->metrics.time_ps ? -1 : 1;
	int order = tfp_str_compare(x->name, y->name);
	return order ? order : (x > y) - (x < y);
}

/* Children in the order of their time; parts of a fusion stay as the program has them. */
static void sort_children(struct tree *t, uint32_t at, uint32_t *scratch)
{
	struct node *n = &t->nodes[at];
	uint32_t count = 0;
	if (n->child_count < 2 || t->nodes[n->first].kind == PART)
		return;
	for (uint32_t c = n->first; c != NONE; c = t->nodes[c].next)
		scratch[count++] = c;
	qsort_r(scratch, count, sizeof(*scratch), by_time, t->nodes);
	n->first = scratch[0];
	n->last = scratch[count - 1];
	for (uint32_t i = 0; i < count; i++)
		t->nodes[scratch[i]].next = i + 1 < count ? scratch[i + 1] : NONE;
}

/* A group of one is its op; a group of several goes by its largest. */
static void name_groups(struct tree *t)
{
	for (size_t i = 0; i < t->count; i++) {
		struct node *n = &t->nodes[i];
		if (n->kind != GROUP || n->child_count < 2)
			continue;
		static const char more[] = " and its duplicate(s)";
		const struct node *top = &t->nodes[n->first];
		size_t size = top->name.size + sizeof(more) - 1;
		char *name = tfp_arena_alloc(&t->arena, size + 1);
		if (!name) {
			t->failed = true;
			return;
		}
		memcpy(name, top->name.data, top->name.size);
		memcpy(name + top->name.size, more, sizeof(more));
		n->name = (struct tfp_str){name, size};
		n->op = top->op;
	}
}

static bool grow(struct tree *t, const struct tfp_program_ops *ops, enum grouping grouping,
		 bool with_idle, const struct tfp_op *idle)
{
	static const char *const names[] = {"by_program", "by_category", "by_provenance"};
	*t = (struct tree){.ops = ops,
			   .grouping = grouping,
			   .total_ps = with_idle ? ops->total_time_ps : ops->op_time_ps};
	tfp_arena_init(&t->arena, SIZE_MAX);
	add_node(t, NONE, ROOT, (struct tfp_str){names[grouping], strlen(names[grouping])});
	for (size_t i = 0; !t->failed && i < ops->count; i++) {
		/* What cannot be named, by XProf's rule. */
		if (!tfp_str_starts(ops->list[i]->name, "region"))
			add_op(t, ops->list[i]);
	}
	if (!t->failed && with_idle)
		add_idle(t, idle);
	uint32_t *scratch = tfp_reallocarray(NULL, t->count + 1, sizeof(*scratch));
	if (!scratch)
		t->failed = true;
	for (size_t i = 0; !t->failed && i < t->count; i++)
		sort_children(t, (uint32_t)i, scratch);
	tfp_free(scratch);
	if (!t->failed) {
		t->nodes[0].metrics.time_ps = t->total_ps;
		name_groups(t);
	}
	return !t->failed;
}

static void release(struct tree *t)
{
	tfp_free(t->nodes);
	tfp_str_map_release(&t->by_key);
	tfp_arena_release(&t->arena);
}

/* ---- numbers ---- */

/* Shares of peaks, over the node's own time; -1 where nothing is known. */
struct use {
	double flops, uncapped_flops, bandwidth[3];
};

static double capped(double use)
{
	return use < 1 ? use : 1;
}

static bool is_known(const struct node *n)
{
	return n->metrics.unknown_ps < n->metrics.time_ps || n->metrics.unknown_ps == 0;
}

static struct use use_of(const struct tree *t, const struct node *n)
{
	const struct tfp_peaks *peaks = &t->ops->stats.env.peaks;
	const struct metrics *m = &n->metrics;
	double ns = (double)m->time_ps / 1e3;
	struct use u = {.uncapped_flops =
				tfp_divide(tfp_divide(m->flops, ns), peaks->teraflops * 1000)};
	u.flops = capped(u.uncapped_flops);
	for (int i = 0; i < 3; i++)
		u.bandwidth[i] = capped(
			tfp_divide(tfp_divide(m->bytes[i], ns), peaks->gigabytes_per_second[i]));
	return u;
}

/* Time that a device at its peaks would not have needed, of what has a known cost. */
static double wasted_ps(const struct tree *t, const struct node *n)
{
	struct node known = *n;
	known.metrics.time_ps -= n->metrics.unknown_ps < n->metrics.time_ps ? n->metrics.unknown_ps
									    : n->metrics.time_ps;
	struct use u = use_of(t, &known);
	double best = u.flops > u.bandwidth[0] ? u.flops : u.bandwidth[0];
	return (double)known.metrics.time_ps * (1 - best);
}

/* ---- JSON ---- */

static void set_known(struct tfp_json *j, const char *key, bool known, double value)
{
	tfp_json_key(j, key);
	if (known)
		tfp_json_add_double(j, value);
	else
		tfp_json_add_null(j);
}

static void set_list(struct tfp_json *j, const char *key, bool known, const double values[3])
{
	tfp_json_begin_array_of(j, key);
	for (int i = 0; i < 3; i++) {
		if (known)
			tfp_json_add_double(j, values[i]);
		else
			tfp_json_add_null(j);
	}
	tfp_json_end_array(j);
}

static void write_metrics(const struct tree *t, const struct node *n, struct tfp_json *j)
{
	const struct metrics *m = &n->metrics;
	/* Parts of a fusion have nothing of their own; XProf writes zeros. */
	bool known = is_known(n);
	struct use u = use_of(t, n);
	double share = tfp_divide((double)m->time_ps, (double)t->total_ps);
	/* XProf divides flops by the time at the usual clock, in which the body of a loop counts
	 * twice. */
	if (m->normalized_ps) {
		u.uncapped_flops *= (double)m->time_ps / (double)m->normalized_ps;
		u.flops = capped(u.uncapped_flops);
	}
	tfp_json_begin_object_of(j, "metrics");
	set_known(j, "flops", known, u.flops * share);
	set_known(j, "uncappedFlops", known, u.uncapped_flops * share);
	set_list(j, "bandwidthUtils", known, u.bandwidth);
	set_known(j, "rawTime", true, (double)m->time_ps);
	set_known(j, "rawFlops", known, m->model_flops);
	set_known(j, "bf16Flops", known, m->flops);
	set_known(j, "normalizedTimePs", true, (double)m->normalized_ps);
	set_list(j, "rawBytesAccessedArray", known, m->bytes);
	tfp_json_set_count(j, "occurrences", m->occurrences);
	set_known(j, "avgTimePs", true, tfp_divide((double)m->time_ps, (double)m->occurrences));
	set_known(j, "wastedTimePs", known, wasted_ps(t, n));
	set_known(j, "unknownCostTimePs", true, (double)m->unknown_ps);
	tfp_json_end_object(j);
}

static void set_str(struct tfp_json *j, const char *key, struct tfp_str s)
{
	tfp_json_set_text(j, key, s.data, s.size);
}

static void write_source(struct tfp_json *j, const struct tfp_op_text *text)
{
	tfp_json_begin_object_of(j, "sourceInfo");
	set_str(j, "fileName", text->source_file);
	tfp_json_set_integer(j, "lineNumber", text->source_line);
	set_str(j, "stackFrame", text->source_stack);
	tfp_json_end_object(j);
}

/* What an instruction is; groups of fusions have no origin of their own. */
static void write_xla(const struct tree *t, const struct node *n, struct tfp_json *j)
{
	static const struct tfp_str none = {"", 0};
	static const struct tfp_op_text no_text = {
		.source_file = {"", 0}, .source_stack = {"", 0}, .expression = {"", 0}};
	bool is_group = n->kind == GROUP;
	const struct tfp_op_text *text = n->op ? tfp_program_ops_text(t->ops, n->op) : &no_text;
	struct tfp_str category = n->op ? n->op->category : n->part->category;
	bool bare = is_group && is_fusion(category);
	tfp_json_begin_object_of(j, "xla");
	tfp_json_set_string(j, "op", "");
	set_str(j, "expression", n->op ? text->expression : n->part->expression);
	set_str(j, "provenance", bare ? none : n->op ? n->op->provenance : n->part->provenance);
	set_str(j, "category", category);
	if (is_group && !bare) {
		tfp_json_begin_object_of(j, "layout");
		tfp_json_begin_array_of(j, "dimensions");
		tfp_json_end_array(j);
		tfp_json_end_object(j);
	}
	tfp_json_set_integer(j, "computationPrimitiveSize", 0);
	tfp_json_set_string(j, "fingerprint", "0");
	tfp_json_set_format(j, "programId", "%" PRIu64, n->op ? n->op->module_id : 0);
	write_source(j, text);
	tfp_json_set_string(j, "xprofKernelMetadata", "");
	if (n->op)
		tfp_json_set_string(j, "costSource", tfp_cost_by_name(n->op));
	tfp_json_end_object(j);
}

/* Whether XProf cuts a node's children: not those of the root, of programs and of paths. */
static bool may_be_cut(const struct tree *t, const struct node *n)
{
	return n->kind != ROOT && n->kind != PROGRAM && t->grouping != BY_PROVENANCE;
}

/* Recursion goes as deep as paths and fusions do, which is bounded. */
static void write_node(const struct tree *t, const struct node *n, struct tfp_json *j)
{
	uint64_t written = 0;
	if (n->kind == GROUP && n->child_count == 1)
		n = &t->nodes[n->first];
	tfp_json_begin_object(j);
	set_str(j, "name", n->name);
	write_metrics(t, n, j);
	tfp_json_begin_array_of(j, "children");
	for (uint32_t c = n->first; c != NONE; c = t->nodes[c].next) {
		if (t->limit && written == t->limit && may_be_cut(t, n))
			break;
		write_node(t, &t->nodes[c], j);
		written++;
	}
	tfp_json_end_array(j);
	if (n->op || n->part)
		write_xla(t, n, j);
	tfp_json_set_count(j, "numChildren", n->child_count);
	tfp_json_end_object(j);
}

static void write_nothing(struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "name", "");
	tfp_json_begin_array_of(j, "children");
	tfp_json_end_array(j);
	tfp_json_set_integer(j, "numChildren", 0);
	tfp_json_end_object(j);
}

/* ---- a table, for CSV and terminals ---- */

static const struct tfp_column columns[] = {
	{"depth", "Depth", TFP_CELL_NUMBER},
	{"name", "Name", TFP_CELL_TEXT},
	{"kind", "Kind", TFP_CELL_TEXT},
	{"category", "Category", TFP_CELL_TEXT},
	{"program_id", "Program id", TFP_CELL_TEXT},
	{"provenance", "Framework op name", TFP_CELL_TEXT},
	{"occurrences", "#Occurrences", TFP_CELL_NUMBER},
	{"time_us", "Time (us)", TFP_CELL_NUMBER},
	{"time_share", "Time", TFP_CELL_NUMBER},
	{"wasted_share", "Wasted time", TFP_CELL_NUMBER},
	{"flops_utilization", "FLOPS utilization", TFP_CELL_NUMBER},
	{"hbm_utilization", "HBM bandwidth utilization", TFP_CELL_NUMBER},
	{"flops", "FLOPs", TFP_CELL_NUMBER},
	{"hbm_bytes", "HBM bytes", TFP_CELL_NUMBER},
	{"unknown_cost_us", "Time of unknown cost (us)", TFP_CELL_NUMBER},
};

static void add_known(struct tfp_table *table, bool known, double value)
{
	if (known)
		tfp_table_add_number(table, value);
	else
		tfp_table_add_absent(table);
}

static void add_row(const struct tree *t, const struct node *n, unsigned depth,
		    struct tfp_table *table)
{
	static const char *const kinds[] = {"all",   "program", "path", "category",
					    "group", "op",      "part"};
	struct use u = use_of(t, n);
	bool known = is_known(n) && n->kind != PART;
	double share = tfp_divide((double)n->metrics.time_ps, (double)t->total_ps);
	struct tfp_str category = n->op     ? n->op->category
				  : n->part ? n->part->category
					    : (struct tfp_str){"", 0};
	char id[24] = "";
	if (n->op)
		snprintf(id, sizeof(id), "%" PRIu64, n->op->module_id);
	tfp_table_add_number(table, depth);
	tfp_table_add_text(table, n->name.data, n->name.size);
	tfp_table_add_text(table, kinds[n->kind], strlen(kinds[n->kind]));
	tfp_table_add_text(table, category.data, category.size);
	tfp_table_add_text(table, id, strlen(id));
	if (n->op)
		tfp_table_add_text(table, n->op->provenance.data, n->op->provenance.size);
	else
		tfp_table_add_text(table, "", 0);
	tfp_table_add_number(table, (double)n->metrics.occurrences);
	add_known(table, n->kind != PART, (double)n->metrics.time_ps / 1e6);
	add_known(table, n->kind != PART, share);
	add_known(table, known, tfp_divide(wasted_ps(t, n), (double)t->total_ps));
	add_known(table, known, u.flops);
	add_known(table, known, u.bandwidth[0]);
	add_known(table, known, n->metrics.model_flops);
	add_known(table, known, n->metrics.bytes[0]);
	tfp_table_add_number(table, (double)n->metrics.unknown_ps / 1e6);
}

static void add_rows(const struct tree *t, const struct node *n, unsigned depth,
		     struct tfp_table *table)
{
	uint64_t written = 0;
	if (n->kind == GROUP && n->child_count == 1)
		n = &t->nodes[n->first];
	add_row(t, n, depth, table);
	for (uint32_t c = n->first; c != NONE; c = t->nodes[c].next) {
		if (t->limit && written == t->limit && may_be_cut(t, n))
			break;
		add_rows(t, &t->nodes[c], depth + 1, table);
		written++;
	}
}

/* ---- */

static enum grouping grouping_of(const struct tfp_query *query)
{
	const char *asked = tfp_query_get(query, "group_by");
	if (asked && strcmp(asked, "category") == 0)
		return BY_CATEGORY;
	return asked && strcmp(asked, "provenance") == 0 ? BY_PROVENANCE : BY_PROGRAM;
}

static void set_times(const struct tfp_program_ops *ops, struct tfp_json *j)
{
	tfp_json_set_count(j, "totalTimePs", ops->total_time_ps);
	tfp_json_set_count(j, "busyTimePs", ops->busy_time_ps);
	tfp_json_set_count(j, "noHloTimePs", ops->no_hlo_time_ps);
	tfp_json_set_count(j, "unknownCostTimePs", ops->no_cost_time_ps);
	tfp_json_set_boolean(j, "others", ops->has_others);
	tfp_json_set_string(j, "peaksSource", ops->stats.env.peaks.source);
	tfp_json_set_number(j, "peakTflops", ops->stats.env.peaks.teraflops);
	tfp_json_set_number(j, "peakHbmGBs",
			    ops->stats.env.peaks.gigabytes_per_second[TFP_PEAK_HBM]);
}

/* Of all time at the usual clock to all time. */
static double time_scale(const struct tfp_program_ops *ops)
{
	double normalized = 0;
	for (size_t i = 0; i < ops->count; i++)
		normalized += (double)ops->list[i]->self_time_ps *
			      tfp_divide((double)normalized_time(ops->list[i]),
					 (double)ops->list[i]->time_ps);
	return tfp_divide(normalized, (double)ops->op_time_ps);
}

static enum tfp_status write_answer(const struct tfp_program_ops *ops, const struct tfp_op *idle,
				    enum grouping grouping, uint64_t limit,
				    struct tfp_answer *answer, struct tfp_error *err)
{
	static const char *const keys[][2] = {{"byProgram", "byProgramExcludeIdle"},
					      {"byCategory", "byCategoryExcludeIdle"},
					      {"byProvenance", "byProvenanceExcludeIdle"}};
	static const char *const hardware[] = {"UNKNOWN_HARDWARE", "CPU_ONLY", "GPU", "TPU"};
	struct tfp_table *table = &answer->tables[answer->table_count++];
	struct tfp_json j;
	bool ok = true;
	tfp_table_init(table, columns, sizeof(columns) / sizeof(columns[0]));
	tfp_json_init(&j, &answer->json);
	tfp_json_begin_object(&j);
	for (int without_idle = 0; ok && without_idle < 2; without_idle++) {
		struct tree t;
		ok = grow(&t, ops, grouping, !without_idle, idle);
		t.limit = limit;
		tfp_json_key(&j, keys[grouping][without_idle]);
		if (ok && ops->has_devices)
			write_node(&t, &t.nodes[0], &j);
		else
			write_nothing(&j);
		if (ok && ops->has_devices && !without_idle)
			add_rows(&t, &t.nodes[0], 0, table);
		release(&t);
	}
	tfp_json_set_string(&j, "deviceType", hardware[ops->stats.env.hardware]);
	tfp_json_key(&j, "aggDvfsTimeScaleMultiplier");
	tfp_json_add_double(&j, time_scale(ops));
	set_times(ops, &j);
	tfp_json_end_object(&j);
	tfp_program_ops_properties(ops, table);
	if (!ok || tfp_table_failed(table))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the op profile");
	return tfp_json_finish(&j, err);
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	struct tfp_program_ops ops;
	uint64_t limit;
	enum tfp_status status = tfp_query_get_count(query, "limit", PEERS_LIMIT, &limit, err);
	if (status != TFP_OK)
		return status;
	status = tfp_program_ops(session, query, &ops, err);
	if (status == TFP_OK) {
		struct tfp_op idle = tfp_program_ops_idle(&ops);
		status = write_answer(&ops, &idle, grouping_of(query), limit, answer, err);
	}
	tfp_program_ops_release(&ops);
	return status;
}

const struct tfp_tool tfp_op_profile = {
	.name = "op_profile",
	.aliases = {"hlo_op_profile"},
	.title = "Op profile",
	.summary = "Where the devices' time went: programs, categories, operations.",
	.place = 35,
	.key = 'f',
	.filter = "Filter operations",
	.scope = TFP_HOSTS_BOTH,
	.takes_hosts = true,
	.needs = TFP_NEEDS_DEVICE,
	.without = "No device was captured, so there is no device time to divide.",
	.parameters =
		{
			TFP_TAKES_ONE_OF(
				"group_by", "program",
				"How the tree groups instructions: by program and category, "
				"by category alone, or by program and framework path.",
				"program", "category", "provenance"),
			TFP_TAKES(COUNT, "limit", PEERS_CHILDREN,
				  "How many children a category and the nodes below it keep, "
				  "largest first; 0 for all. numChildren says how many there are."),
			TFP_PROGRAM_OPS_PARAMETERS,
		},
	.render = render,
};
