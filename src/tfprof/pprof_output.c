/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/pprof_output.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sort.h"
#include "base/str_map.h"
#include "store/pack.h"
#include "tfprof/output.h"
#include "wire/pb_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_MAX ((size_t)1 << 31)

static const struct {
	enum tfp_selected what;
	enum tfp_amount amount;
	const char *unit, *comment;
} kinds[] = {
	{TFP_SELECT_MICROS, TFP_TOTAL_TIME, "microseconds",
	 "Sum of accelerator execution time and cpu execution time."},
	{TFP_SELECT_ACCELERATOR_MICROS, TFP_ACCELERATOR_TIME, "microseconds",
	 "Accelerator execution time."},
	{TFP_SELECT_CPU_MICROS, TFP_CPU_TIME, "microseconds", "CPU execution time."},
	{TFP_SELECT_BYTES, TFP_REQUESTED_BYTES, "bytes",
	 "Sum of operation total memory requests, excluding deallocations."},
	{TFP_SELECT_PEAK_BYTES, TFP_PEAK_BYTES, "bytes", "Sum of operation peak memory usage."},
	{TFP_SELECT_RESIDUAL_BYTES, TFP_RESIDUAL_BYTES, "bytes",
	 "Sum of operation allocated memory after finish."},
	{TFP_SELECT_OUTPUT_BYTES, TFP_OUTPUT_BYTES, "bytes", "Sum of operation output size."},
	{TFP_SELECT_PARAMS, TFP_PARAMETERS, "count", "Model parameters."},
	{TFP_SELECT_FLOAT_OPS, TFP_FLOAT_OPS, "count",
	 "Model float operations (Only available if defined)."},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t kind_of(const struct tfp_view_options *o)
{
	size_t kind = 0;
	while (kind < KINDS &&
	       strcmp(o->texts[TFP_SELECT], tfp_selected_words[kinds[kind].what]) != 0)
		kind++;
	return kind;
}

bool tfp_pprof_allows(const struct tfp_view_options *o)
{
	const char *select = o->texts[TFP_SELECT];
	if (!*select || strchr(select, ','))
		fprintf(stderr, "Can only select 1 attribute for pprof output.\n");
	else if (kind_of(o) == KINDS)
		fprintf(stderr, "pprof doesn't support -select=%s\n", select);
	else
		return true;
	return false;
}

/* ---- tables of the profile ---- */

/* A function is a file, a name and its first line; a location is a file, the function that is
 * called there, and the line of the call. Keys hold the two texts, each with a zero behind it. */
struct place {
	struct tfp_str key;
	uint64_t line;
	uint64_t id;         /* from 1 on, by first use */
	uint64_t function;   /* of a location */
	uint64_t name, file; /* of a function: texts */
};

struct places {
	struct place *list; /* owned */
	size_t count, room;
	struct tfp_str_map by_key;
};

struct sample {
	const struct tfp_profile_node *node;
	size_t repeats; /* of the same node before it */
	uint64_t label, text;
	size_t first, count; /* of locations */
};

struct writer {
	const struct tfp_tree *tree;
	const struct tfp_view_options *options;
	struct tfp_arena arena;
	struct tfp_str *texts; /* owned; of the string table */
	size_t text_count, text_room;
	struct tfp_str_map by_text;
	struct places functions, locations;
	struct sample *samples; /* owned */
	size_t sample_count, sample_room;
	uint64_t *ids; /* owned; locations of samples */
	size_t id_count, id_room;
	uint32_t *seen; /* owned; how many samples each node of the profile has */
	size_t seen_count;
	bool failed;
};

static uint64_t text_id(struct writer *w, const char *data, size_t size)
{
	char *copy;
	uint32_t id = tfp_str_map_find(&w->by_text, data, size);
	if (id != TFP_STR_MAP_NONE || w->failed)
		return id;
	copy = tfp_arena_strndup(&w->arena, data, size);
	if (!copy || !TFP_GROW(w->texts, w->text_count, w->text_room) ||
	    tfp_str_map_add(&w->by_text, copy, size, (uint32_t)w->text_count) == TFP_STR_MAP_NONE) {
		w->failed = true;
		return 0;
	}
	w->texts[w->text_count] = (struct tfp_str){copy, size};
	return w->text_count++;
}

static uint64_t text_of(struct writer *w, const char *text)
{
	return text_id(w, text, strlen(text));
}

static struct tfp_str function_name(struct writer *w, const struct tfp_tree_node *n)
{
	static const char behind[] = " (gradient)";
	struct tfp_str name = n->frame->function;
	if (!n->gradient)
		return name;
	char *copy = tfp_arena_alloc(&w->arena, name.size + sizeof(behind));
	if (!copy) {
		w->failed = true;
		return (struct tfp_str){"", 0};
	}
	if (name.size)
		memcpy(copy, name.data, name.size);
	memcpy(copy + name.size, behind, sizeof(behind));
	return (struct tfp_str){copy, name.size + sizeof(behind) - 1};
}

/* The entry of a key, new if need be; *found tells. NULL without memory. */
static struct place *find_place(struct writer *w, struct places *places, struct tfp_str file,
				struct tfp_str name, uint64_t line, bool *found)
{
	struct tfp_buf key;
	struct place *place = NULL;
	tfp_buf_init(&key, PROFILE_MAX);
	tfp_buf_add(&key, file.data, file.size);
	tfp_buf_putc(&key, '\0');
	tfp_buf_add(&key, name.data, name.size);
	tfp_buf_putc(&key, '\0');
	size_t size = key.size;
	tfp_buf_add(&key, &line, sizeof(line));
	char *copy = tfp_buf_failed(&key) ? NULL : tfp_arena_strndup(&w->arena, key.data, key.size);
	*found = false;
	if (copy && TFP_GROW(places->list, places->count, places->room)) {
		uint32_t at =
			tfp_str_map_add(&places->by_key, copy, key.size, (uint32_t)places->count);
		*found = at != places->count;
		if (at != TFP_STR_MAP_NONE)
			place = &places->list[at];
		if (at == places->count)
			*place = (struct place){{copy, size}, line, ++places->count, 0, 0, 0};
	}
	tfp_buf_release(&key);
	w->failed |= !place;
	return place;
}

static uint64_t function_id(struct writer *w, const struct tfp_tree_node *n)
{
	bool found;
	struct tfp_str file = n->frame->file, name = function_name(w, n), base = file;
	struct tfp_buf text;
	struct place *place = find_place(w, &w->functions, file, name,
					 (uint64_t)(int64_t)n->frame->function_line, &found);
	if (!place || found)
		return place ? place->id : 0;
	const char *slash = file.size ? memrchr(file.data, '/', file.size) : NULL;
	if (slash) {
		base.data = slash + 1;
		base.size -= (size_t)(slash + 1 - file.data);
	}
	const char *dot = base.size ? memrchr(base.data, '.', base.size) : NULL;
	if (dot)
		base.size = (size_t)(dot - base.data);
	tfp_buf_init(&text, PROFILE_MAX);
	tfp_buf_add(&text, base.data, base.size);
	tfp_buf_putc(&text, ':');
	tfp_buf_add(&text, name.data, name.size);
	place->name = text_id(w, tfp_buf_text(&text), text.size);
	place->file = text_id(w, file.data, file.size);
	w->failed |= tfp_buf_failed(&text);
	tfp_buf_release(&text);
	return place->id;
}

static uint64_t location_id(struct writer *w, const struct tfp_tree_node *callee,
			    const struct tfp_tree_node *caller)
{
	bool found;
	struct tfp_str name = function_name(w, callee);
	struct place *place = find_place(w, &w->locations, caller->frame->file, name,
					 (uint64_t)(int64_t)caller->frame->line, &found);
	if (!place)
		return 0;
	if (!found)
		place->function = function_id(w, callee);
	return place->id;
}

/* ---- samples ---- */

static void add_sample(struct writer *w, const struct tfp_profile_node *node, const uint64_t *way,
		       size_t count)
{
	if (!TFP_GROW(w->samples, w->sample_count, w->sample_room)) {
		w->failed = true;
		return;
	}
	struct sample *s = &w->samples[w->sample_count++];
	*s = (struct sample){.node = node, .first = w->id_count, .count = count};
	s->repeats = w->seen[node->index]++;
	/* From the callee to the callers. */
	for (size_t i = count; i-- > 0;) {
		if (!TFP_GROW(w->ids, w->id_count, w->id_room)) {
			w->failed = true;
			return;
		}
		w->ids[w->id_count++] = way[i];
	}
	s->label = text_of(w, "graph node:");
	s->text = text_id(w, node->name.size ? node->name.data : "", node->name.size);
}

struct step {
	const struct tfp_tree_node *line;
	size_t child;
};

/* Nodes of the lines without lines below them, under a displayed line. */
static void add_leaves(struct writer *w, const struct tfp_tree_node *line, const uint64_t *way,
		       size_t count)
{
	struct step *stack = NULL;
	size_t depth = 0, room = 0;
	if (!TFP_GROW(stack, depth, room)) {
		w->failed = true;
		return;
	}
	stack[depth++] = (struct step){line, 0};
	while (depth && !w->failed) {
		struct step *top = &stack[depth - 1];
		const struct tfp_node_group *g = &top->line->group;
		if (top->child < top->line->child_count) {
			const struct tfp_tree_node *next = top->line->children[top->child++];
			w->failed |= !TFP_GROW(stack, depth, room);
			if (!w->failed)
				stack[depth++] = (struct step){next, 0};
			continue;
		}
		for (size_t i = 0; !top->line->child_count && i < g->count; i++) {
			if (g->times[i])
				add_sample(w, g->members[i], way, count);
		}
		depth--;
	}
	tfp_free(stack);
}

/* The outermost frame has no caller, and so no location. */
static void add_samples(struct writer *w)
{
	uint64_t *way = NULL;
	size_t depth = 0, room = 0;
	const struct tfp_tree_node *n = tfp_tree_root(w->tree);
	if (!n->shown_first)
		return;
	n = n->shown_first;
	while (n && !w->failed) {
		if (n->shown_parent->frame) {
			w->failed |= !TFP_GROW(way, depth, room);
			if (w->failed)
				break;
			way[depth++] = location_id(w, n, n->shown_parent);
		}
		if (n->shown_first) {
			n = n->shown_first;
			continue;
		}
		add_leaves(w, n, way, depth);
		for (; n && !n->shown_next; n = n->shown_parent)
			depth -= n->shown_parent && n->shown_parent->frame;
		if (n) {
			depth -= n->shown_parent->frame != NULL;
			n = n->shown_next;
		}
	}
	tfp_free(way);
}

/* ---- the message ---- */

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = tfp_str_compare(x->key, y->key);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* By the names of nodes, to which an '@' is added for each further sample of one node. */
static bool sample_before(const void *context, uint32_t a, uint32_t b)
{
	const struct writer *w = context;
	const struct sample *x = &w->samples[a], *y = &w->samples[b];
	struct tfp_str s = x->node->name, t = y->node->name;
	size_t both = s.size < t.size ? s.size : t.size;
	int order = both ? memcmp(s.data, t.data, both) : 0;
	if (order)
		return order < 0;
	for (size_t i = both; i < s.size + x->repeats && i < t.size + y->repeats; i++) {
		unsigned char c = i < s.size ? (unsigned char)s.data[i] : '@';
		unsigned char d = i < t.size ? (unsigned char)t.data[i] : '@';
		if (c != d)
			return c < d;
	}
	return s.size + x->repeats < t.size + y->repeats;
}

static void put_type(struct writer *w, struct tfp_buf *out, const char *type, const char *unit)
{
	uint64_t name = text_of(w, type), in = text_of(w, unit);
	size_t mark = tfp_pb_begin(out, 1);
	tfp_pb_put_uint(out, 1, name);
	tfp_pb_put_uint(out, 2, in);
	tfp_pb_end(out, mark);
}

static void put_sample(struct writer *w, struct tfp_buf *out, const struct sample *s,
		       enum tfp_amount amount)
{
	int64_t amounts[TFP_AMOUNT_COUNT];
	size_t mark = tfp_pb_begin(out, 2), inner;
	tfp_profile_amounts(s->node, w->options->numbers[TFP_STEP], amounts);
	if (s->count) {
		inner = tfp_pb_begin(out, 1);
		for (size_t i = 0; i < s->count; i++)
			tfp_pb_put_varint(out, w->ids[s->first + i]);
		tfp_pb_end(out, inner);
	}
	inner = tfp_pb_begin(out, 2);
	tfp_pb_put_varint(out, 1);
	tfp_pb_put_varint(out, (uint64_t)amounts[amount]);
	tfp_pb_end(out, inner);
	inner = tfp_pb_begin(out, 3);
	tfp_pb_put_uint(out, 1, s->label);
	if (s->text)
		tfp_pb_put_uint(out, 2, s->text);
	tfp_pb_end(out, inner);
	tfp_pb_end(out, mark);
}

static void put_places(struct writer *w, struct tfp_buf *out)
{
	struct places *l = &w->locations, *f = &w->functions;
	if (l->count)
		qsort(l->list, l->count, sizeof(*l->list), by_key);
	for (size_t i = 0; i < l->count; i++) {
		size_t mark = tfp_pb_begin(out, 4), line;
		tfp_pb_put_uint(out, 1, l->list[i].id);
		line = tfp_pb_begin(out, 4);
		tfp_pb_put_uint(out, 1, l->list[i].function);
		if (l->list[i].line)
			tfp_pb_put_uint(out, 2, l->list[i].line);
		tfp_pb_end(out, line);
		tfp_pb_end(out, mark);
	}
	if (f->count)
		qsort(f->list, f->count, sizeof(*f->list), by_key);
	for (size_t i = 0; i < f->count; i++) {
		size_t mark = tfp_pb_begin(out, 5);
		tfp_pb_put_uint(out, 1, f->list[i].id);
		tfp_pb_put_uint(out, 2, f->list[i].name);
		if (f->list[i].file)
			tfp_pb_put_uint(out, 4, f->list[i].file);
		if (f->list[i].line)
			tfp_pb_put_uint(out, 5, f->list[i].line);
		tfp_pb_end(out, mark);
	}
}

static void put_profile(struct writer *w, struct tfp_buf *out)
{
	size_t kind = kind_of(w->options);
	put_type(w, out, "count", "count");
	put_type(w, out, w->options->texts[TFP_SELECT], kinds[kind].unit);
	uint64_t comment = text_of(w, kinds[kind].comment);
	uint32_t *order = tfp_sort_indexes(w->sample_count, sample_before, w);
	w->failed |= !order;
	for (size_t i = 0; !w->failed && i < w->sample_count; i++)
		put_sample(w, out, &w->samples[order[i]], kinds[kind].amount);
	tfp_free(order);
	put_places(w, out);
	for (size_t i = 0; i < w->text_count; i++)
		tfp_pb_put_bytes(out, 6, w->texts[i].data, w->texts[i].size);
	size_t mark = tfp_pb_begin(out, 13);
	tfp_pb_put_varint(out, comment);
	tfp_pb_end(out, mark);
	w->failed |= tfp_buf_failed(out);
}

static enum tfp_status into_buffer(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	struct tfp_buf *out = context;
	tfp_buf_add(out, bytes, size);
	return tfp_buf_failed(out) ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the profile")
				   : TFP_OK;
}

static enum tfp_status pack(const struct tfp_buf *from, struct tfp_buf *to, struct tfp_error *err)
{
	const struct tfp_sink sink = {into_buffer, to};
	struct tfp_gzip *gzip;
	enum tfp_status status = tfp_gzip_new(&gzip, &sink, err);
	if (status == TFP_OK) {
		const struct tfp_sink *in = tfp_gzip_sink(gzip);
		status = in->write(in->context, from->data, from->size, err);
	}
	if (status == TFP_OK)
		status = tfp_gzip_finish(gzip, err);
	tfp_gzip_free(gzip);
	return status;
}

static enum tfp_status finish(struct writer *w, struct tfp_error *err)
{
	const char *path = w->options->texts[TFP_OUT_FILE];
	struct tfp_buf message, packed, said;
	char reason[1024];
	tfp_buf_init(&message, PROFILE_MAX);
	tfp_buf_init(&packed, PROFILE_MAX);
	tfp_buf_init(&said, PROFILE_MAX);
	put_profile(w, &message);
	enum tfp_status status = w->failed
					 ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the profile")
					 : pack(&message, &packed, err);
	if (status == TFP_OK &&
	    !tfp_write_file(path, packed.data, packed.size, reason, sizeof(reason))) {
		fprintf(stderr, "%s\n", reason);
	} else if (status == TFP_OK) {
		tfp_buf_printf(&said, "\nRun pprof -png --nodecount=100 --sample_index=1 <%s>\n",
			       path);
		status = tfp_print(&said, err);
	}
	tfp_buf_release(&message);
	tfp_buf_release(&packed);
	tfp_buf_release(&said);
	return status;
}

enum tfp_status tfp_pprof_write(const struct tfp_tree *t, const struct tfp_view_options *o,
				struct tfp_error *err)
{
	struct writer w = {.tree = t, .options = o};
	size_t nodes = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct tfp_node_group *g = &t->nodes[i]->group;
		if (g->count && g->members[g->count - 1]->index >= nodes)
			nodes = g->members[g->count - 1]->index + 1;
	}
	tfp_arena_init(&w.arena, PROFILE_MAX);
	w.seen = tfp_calloc(nodes + 1, sizeof(*w.seen));
	w.failed = !w.seen;
	text_id(&w, "", 0);
	if (!w.failed)
		add_samples(&w);
	enum tfp_status status = finish(&w, err);
	tfp_free(w.seen);
	tfp_free(w.ids);
	tfp_free(w.samples);
	tfp_free(w.texts);
	tfp_free(w.functions.list);
	tfp_free(w.locations.list);
	tfp_str_map_release(&w.by_text);
	tfp_str_map_release(&w.functions.by_key);
	tfp_str_map_release(&w.locations.by_key);
	tfp_arena_release(&w.arena);
	return status;
}
