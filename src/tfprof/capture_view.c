/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_view.h"

#include "analysis/ops/op_db.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "tfprof/capture_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 256u

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the view");
}

static struct tfp_str text(const char *s)
{
	return (struct tfp_str){s, strlen(s)};
}

/* ---- nodes ---- */

#define NO_PLACE UINT32_MAX

/* name is what expressions match, label what tells it from its siblings. NO_PLACE without
 * memory. */
static uint32_t add_node(struct tfp_capture_view *v, uint32_t parent, struct tfp_str label,
			 struct tfp_str name)
{
	if (v->tree.count >= NO_PLACE || !TFP_GROW(v->nodes, v->tree.count, v->room))
		return NO_PLACE;
	uint32_t place = (uint32_t)v->tree.count;
	struct tfp_tree_node *node = tfp_tree_add(&v->tree, name);
	if (!node)
		return NO_PLACE;
	node->label = label;
	node->type = text("_kTFScopeParent");
	v->nodes[place] = (struct tfp_capture_node){
		.first_unit = TFP_UNIT_NONE, .last_unit = TFP_UNIT_NONE, .parent = parent};
	return place;
}

static uint32_t add_child(struct tfp_capture_view *v, uint32_t parent, struct tfp_str label,
			  struct tfp_str name)
{
	uint32_t place = add_node(v, parent, label, name);
	if (place == NO_PLACE || !tfp_tree_add_child(v->tree.nodes[parent], v->tree.nodes[place]))
		return NO_PLACE;
	return place;
}

/* The full name of a scope below another. */
static struct tfp_str join(struct tfp_capture_view *v, uint32_t parent, struct tfp_str label)
{
	struct tfp_str above = v->tree.nodes[parent]->name;
	if (parent == 0)
		return label;
	char *joined = tfp_arena_alloc(&v->arena, above.size + label.size + 2);
	if (!joined)
		return (struct tfp_str){NULL, 0};
	memcpy(joined, above.data, above.size);
	joined[above.size] = '/';
	if (label.size)
		memcpy(joined + above.size + 1, label.data, label.size);
	return (struct tfp_str){joined, above.size + label.size + 1};
}

/* Nodes are asked for by their labels, in JSON. data is NULL without memory. */
static struct tfp_str repaired(struct tfp_capture_view *v, struct tfp_str label)
{
	struct tfp_buf text;
	struct tfp_str kept = {NULL, 0};
	tfp_buf_init(&text, SIZE_MAX / 2);
	tfp_utf8_repair(&text, label.data, label.size);
	if (!tfp_buf_failed(&text))
		kept = (struct tfp_str){
			tfp_arena_strndup(&v->arena, tfp_buf_text(&text), text.size), text.size};
	tfp_buf_release(&text);
	return kept;
}

/* The child of that label, made if need be. joins: its name is its parent's with the label. */
static uint32_t child(struct tfp_capture_view *v, uint32_t parent, struct tfp_str label, bool joins)
{
	char small[256], *key = small, *kept;
	size_t size = sizeof(parent) + label.size;
	uint32_t place = NO_PLACE;
	if (parent == NO_PLACE)
		return NO_PLACE;
	if (!tfp_utf8_valid(label.data, label.size)) {
		label = repaired(v, label);
		if (!label.data)
			return NO_PLACE;
		size = sizeof(parent) + label.size;
	}
	if (size > sizeof(small))
		key = tfp_malloc(size);
	if (!key)
		return NO_PLACE;
	memcpy(key, &parent, sizeof(parent));
	if (label.size)
		memcpy(key + sizeof(parent), label.data, label.size);
	uint32_t found = tfp_str_map_find(&v->by_key, key, size);
	if (found != TFP_STR_MAP_NONE) {
		place = found;
	} else if ((kept = tfp_arena_strndup(&v->arena, key, size))) {
		struct tfp_str name = joins ? join(v, parent, label) : label;
		if (name.data)
			place = add_child(v, parent, label, name);
		if (place != NO_PLACE &&
		    tfp_str_map_add(&v->by_key, kept, size, place) == TFP_STR_MAP_NONE)
			place = NO_PLACE;
	}
	if (key != small)
		tfp_free(key);
	return place;
}

/* A unit is of one node. */
static bool put_unit(struct tfp_capture_view *v, uint32_t place, uint32_t unit)
{
	if (place == NO_PLACE)
		return false;
	struct tfp_capture_node *node = &v->nodes[place];
	node->is_op = true;
	if (v->is_placed[unit])
		return true;
	v->is_placed[unit] = true;
	v->next_unit[unit] = TFP_UNIT_NONE;
	if (node->last_unit == TFP_UNIT_NONE)
		node->first_unit = unit;
	else
		v->next_unit[node->last_unit] = unit;
	node->last_unit = unit;
	return true;
}

/* ---- where units lie ---- */

static struct tfp_str name_of(const struct tfp_unit *unit)
{
	return unit->op.size ? unit->op : unit->name;
}

/* Passes of one scope stay apart where their transformations are not told. data is NULL without
 * memory. */
static struct tfp_str with_pass(struct tfp_capture_view *v, struct tfp_str label, uint8_t flags)
{
	static const char backward[] = " (backward)", both[] = " (backward, remat)",
			  again[] = " (remat)";
	const char *end = "";
	if (flags & TFP_REMATERIALISED)
		end = flags & TFP_BACKWARD ? both : again;
	else if (flags & TFP_BACKWARD)
		end = backward;
	if (!*end)
		return label;
	size_t size = strlen(end);
	char *longer = tfp_arena_alloc(&v->arena, label.size + size + 1);
	if (!longer)
		return (struct tfp_str){NULL, 0};
	memcpy(longer, label.data, label.size);
	memcpy(longer + label.size, end, size + 1);
	return (struct tfp_str){longer, label.size + size};
}

static uint32_t place_in_scopes(struct tfp_capture_view *v, const struct tfp_unit *unit)
{
	struct tfp_path path;
	uint32_t at = 0;
	if (unit->kind == TFP_UNIT_UNNAMED)
		return child(v, child(v, 0, text("(no operation)"), true), unit->name, true);
	if (unit->kind == TFP_UNIT_PARAMETER)
		tfp_path_read_parameter(name_of(unit), &path);
	else
		tfp_path_read(name_of(unit), v->choice.strip, &path);
	for (size_t i = 0; i < path.count && at != NO_PLACE; i++) {
		struct tfp_str label = path.parts[i];
		if (v->choice.strip && i + 1 == path.count) {
			label = with_pass(v, label, unit->flags);
			if (!label.data)
				return NO_PLACE;
		}
		at = child(v, at, label, true);
	}
	return at;
}

/* By type, or else by category. */
static uint32_t place_in_types(struct tfp_capture_view *v, const struct tfp_unit *unit)
{
	struct tfp_str type = unit->type;
	if ((type.size == 0 || tfp_str_equal(type, "Unknown")) && unit->category.size)
		type = unit->category;
	if (type.size == 0)
		type = text("Unknown");
	return child(v, child(v, 0, type, false), name_of(unit), false);
}

/* "file:line" of a stack's line "file:line:column". */
static struct tfp_str frame_of(const char *begin, const char *end)
{
	const char *colon = memrchr(begin, ':', (size_t)(end - begin));
	if (colon && memchr(begin, ':', (size_t)(colon - begin)))
		end = colon;
	return (struct tfp_str){begin, (size_t)(end - begin)};
}

static uint32_t place_in_code(struct tfp_capture_view *v, const struct tfp_unit *unit)
{
	struct tfp_str frames[FRAMES_MAX], stack = unit->source_stack;
	size_t count = 0;
	uint32_t at = 0;
	/* Innermost first. */
	for (const char *line = stack.data, *all = stack.data + stack.size;
	     line < all && count < FRAMES_MAX;) {
		const char *end = memchr(line, '\n', (size_t)(all - line));
		if (!end)
			end = all;
		if (end > line)
			frames[count++] = frame_of(line, end);
		line = end + 1;
	}
	if (count == 0 && unit->source_file.size) {
		char *place = tfp_arena_alloc(&v->arena, unit->source_file.size + 16);
		if (!place)
			return NO_PLACE;
		int size = snprintf(place, unit->source_file.size + 16, "%.*s:%" PRId32,
				    (int)unit->source_file.size, unit->source_file.data,
				    unit->source_line);
		frames[count++] = (struct tfp_str){place, (size_t)size};
	}
	if (count == 0)
		frames[count++] = text("(no source)");
	while (count && at != NO_PLACE)
		at = child(v, at, frames[--count], false);
	return child(v, at, name_of(unit), false);
}

/* What no program has. */
static uint32_t place_in_graph(struct tfp_capture_view *v, const struct tfp_unit *unit)
{
	char name[40];
	if (!unit->program_id || unit->origin != TFP_ORIGIN_INSTRUCTION)
		return child(v, child(v, 0, text("(no program)"), false), name_of(unit), false);
	snprintf(name, sizeof(name), "program %" PRIu64, unit->program_id);
	char *kept = tfp_arena_strndup(&v->arena, name, strlen(name));
	if (!kept)
		return NO_PLACE;
	return child(v, child(v, 0, text(kept), false), unit->name, false);
}

/* Instructions as nodes with their operands below them; those that feed nothing lie below the
 * program. */
static bool add_program(struct tfp_capture_view *v, const struct tfp_captured_program *p)
{
	size_t room = p->name.size + 24;
	char *name = tfp_arena_alloc(&v->arena, room);
	uint32_t *places = tfp_reallocarray(NULL, (size_t)p->count + 1, sizeof(*places));
	bool *feeds = tfp_calloc((size_t)p->count + 1, sizeof(*feeds));
	bool ok = name && places && feeds;
	uint32_t top = NO_PLACE;
	if (ok) {
		snprintf(name, room, "%.*s(%" PRIu64 ")", (int)p->name.size, p->name.data, p->id);
		top = child(v, 0, text(name), false);
		ok = top != NO_PLACE;
	}
	for (uint32_t i = 0; ok && i < p->count && tfp_goes_on(i); i++) {
		const struct tfp_captured_instruction *one = &p->instructions[i];
		places[i] = NO_PLACE;
		/* Something that ran is shown wherever it lies. */
		if (one->is_fused && one->unit == TFP_UNIT_NONE)
			continue;
		places[i] = add_node(v, top, one->name, one->name);
		ok = places[i] != NO_PLACE;
		if (ok && one->unit != TFP_UNIT_NONE)
			ok = put_unit(v, places[i], one->unit);
		if (ok)
			v->nodes[places[i]].is_op = true;
	}
	for (uint32_t i = 0; ok && i < p->count && tfp_goes_on(i); i++) {
		const struct tfp_captured_instruction *one = &p->instructions[i];
		for (uint32_t f = 0; ok && places[i] != NO_PLACE && f < one->feed_count; f++) {
			uint32_t source = one->feeds[f];
			if (source >= p->count || places[source] == NO_PLACE)
				continue;
			feeds[source] = true;
			ok = tfp_tree_add_child(v->tree.nodes[places[i]],
						v->tree.nodes[places[source]]);
		}
	}
	for (uint32_t i = 0; ok && i < p->count; i++) {
		if (places[i] != NO_PLACE && !feeds[i])
			ok = tfp_tree_add_child(v->tree.nodes[top], v->tree.nodes[places[i]]);
	}
	tfp_free(places);
	tfp_free(feeds);
	return ok;
}

/* ---- all of it ---- */

static bool is_listed(const struct tfp_capture_view *v, const struct tfp_unit *unit)
{
	bool programs = v->choice.view == TFP_VIEW_CODE || v->choice.view == TFP_VIEW_GRAPH;
	if (!programs)
		return unit->kind != TFP_UNIT_UNNAMED || v->choice.others;
	if (unit->kind == TFP_UNIT_NODE)
		return true;
	if (unit->kind != TFP_UNIT_DEVICE && unit->kind != TFP_UNIT_UNNAMED)
		return false;
	return v->choice.others || unit->origin == TFP_ORIGIN_INSTRUCTION ||
	       unit->origin == TFP_ORIGIN_FRAMEWORK;
}

static bool place_units(struct tfp_capture_view *v)
{
	const struct tfp_capture_work *work = v->work;
	bool ok = true;
	for (uint32_t u = 0; ok && u < work->count && tfp_goes_on(u); u++) {
		const struct tfp_unit *unit = &work->units[u];
		if (v->is_placed[u])
			continue;
		if (!is_listed(v, unit)) {
			bool device =
				unit->kind == TFP_UNIT_DEVICE || unit->kind == TFP_UNIT_UNNAMED;
			v->left_out += device;
			v->left_out_ps += device ? unit->self_ps : 0;
			continue;
		}
		uint32_t place = v->choice.view == TFP_VIEW_SCOPE  ? place_in_scopes(v, unit)
				 : v->choice.view == TFP_VIEW_OP   ? place_in_types(v, unit)
				 : v->choice.view == TFP_VIEW_CODE ? place_in_code(v, unit)
								   : place_in_graph(v, unit);
		ok = put_unit(v, place, u);
	}
	return ok;
}

void tfp_capture_node_taken(const struct tfp_capture_view *v, uint32_t place, int64_t step,
			    struct tfp_taken *taken)
{
	const struct tfp_capture_node *node = &v->nodes[place];
	uint64_t most = 0, host = 0;
	bool only_memory = node->first_unit != TFP_UNIT_NONE;
	*taken = (struct tfp_taken){.known = 0};
	if (!node->is_op)
		return;
	for (uint32_t u = node->first_unit; u != TFP_UNIT_NONE; u = v->next_unit[u]) {
		const struct tfp_unit *unit = &v->work->units[u];
		uint64_t runs = tfp_unit_runs(v->work, unit, step);
		only_memory &= unit->kind == TFP_UNIT_MEMORY;
		tfp_unit_add(v->work, unit, step, taken);
		if (unit->kind == TFP_UNIT_HOST)
			host += runs;
		else if (runs > most)
			most = runs; /* an op's parts run once each time, as in TF stats */
	}
	if (only_memory)
		return;
	uint64_t runs = most + host;
	taken->amounts[TFP_RUNS] = runs > INT64_MAX ? INT64_MAX : (int64_t)runs;
	taken->known |= TFP_AMOUNT_BIT(TFP_RUNS) | TFP_AMOUNT_BIT(TFP_DEFINED);
	/* An instruction that never ran. */
	if (node->first_unit == TFP_UNIT_NONE)
		taken->amounts[TFP_DEFINED] = 1;
}

static bool add_type(struct tfp_str *list, size_t *count, size_t room, struct tfp_str type)
{
	if (type.size == 0)
		return true;
	for (size_t i = 0; i < *count; i++) {
		if (tfp_str_compare(list[i], type) == 0)
			return true;
	}
	if (*count < room)
		list[(*count)++] = type;
	return true;
}

/* An op has few; what goes beyond is left out. */
#define TYPES_MAX 64

/* By what a node can be accounted: types, categories, devices, passes. */
static bool name_types(struct tfp_capture_view *v, struct tfp_capture_node *node)
{
	static const struct {
		uint8_t flag;
		const char *word;
	} passes[] = {{TFP_FORWARD, "forward"},
		      {TFP_BACKWARD, "backward"},
		      {TFP_REMATERIALISED, "rematerialised"}};
	struct tfp_str types[TYPES_MAX];
	size_t count = 0;
	for (uint32_t u = node->first_unit; u != TFP_UNIT_NONE; u = v->next_unit[u]) {
		const struct tfp_unit *unit = &v->work->units[u];
		add_type(types, &count, TYPES_MAX, unit->type);
		add_type(types, &count, TYPES_MAX, unit->category);
		for (uint32_t d = unit->first_device; d; d = v->work->uses[d - 1].next)
			add_type(types, &count, TYPES_MAX,
				 v->work->devices[v->work->uses[d - 1].device]);
	}
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		if (node->taken.flags & passes[i].flag)
			add_type(types, &count, TYPES_MAX, text(passes[i].word));
	}
	struct tfp_str *kept = tfp_arena_zalloc(&v->arena, count + 1, sizeof(*kept));
	if (!kept)
		return false;
	if (count)
		memcpy(kept, types, count * sizeof(*kept));
	node->taken.types = kept;
	node->taken.type_count = count;
	return true;
}

static bool finish(struct tfp_capture_view *v)
{
	for (uint32_t i = 0; i < v->tree.count && tfp_goes_on(i); i++) {
		struct tfp_capture_node *node = &v->nodes[i];
		if (!node->is_op)
			continue;
		tfp_capture_node_taken(v, i, v->choice.step, &node->taken);
		if (!name_types(v, node))
			return false;
		v->tree.nodes[i]->taken = &node->taken;
	}
	return true;
}

enum tfp_status tfp_capture_view_init(struct tfp_capture_view *v,
				      const struct tfp_capture_work *work,
				      const struct tfp_capture_choice *choice,
				      struct tfp_error *err)
{
	bool graph = choice->view == TFP_VIEW_GRAPH;
	*v = (struct tfp_capture_view){.work = work, .choice = *choice};
	tfp_arena_init(&v->arena, SIZE_MAX);
	if (choice->step != TFP_CAPTURE_ALL && work->step_count == 0)
		return tfp_fail(err, TFP_BAD_QUERY, "the run has no steps");
	if (choice->step >= 0 && (uint64_t)choice->step >= work->step_count)
		return tfp_fail(err, TFP_BAD_QUERY, "there is no step %" PRId64 ": the run has %zu",
				choice->step, work->step_count);
	if (!choice->others_given)
		v->choice.others =
			(graph || choice->view == TFP_VIEW_CODE) && !work->any_instruction;
	enum tfp_status status =
		tfp_tree_init(&v->tree, graph ? TFP_TREE_GRAPH : TFP_TREE_SCOPE, err);
	if (status != TFP_OK)
		return status;
	v->tree.captured = true;
	tfp_tree_root(&v->tree)->type = text("_kTFScopeParent");
	tfp_tree_root(&v->tree)->label = text("(root)");
	v->nodes = tfp_calloc(1, sizeof(*v->nodes));
	v->next_unit = tfp_calloc(work->count + 1, sizeof(*v->next_unit));
	v->is_placed = tfp_calloc(work->count + 1, sizeof(*v->is_placed));
	if (!v->nodes || !v->next_unit || !v->is_placed)
		return no_memory(err);
	v->room = 1;
	v->nodes[0] = (struct tfp_capture_node){
		.first_unit = TFP_UNIT_NONE, .last_unit = TFP_UNIT_NONE, .parent = NO_PLACE};
	bool ok = true;
	for (size_t p = 0; graph && ok && p < work->program_count; p++)
		ok = add_program(v, &work->programs[p]);
	ok = ok && place_units(v) && finish(v);
	if (tfp_cancelled())
		return tfp_fail_cancelled(err);
	return ok ? TFP_OK : no_memory(err);
}

void tfp_capture_view_release(struct tfp_capture_view *v)
{
	tfp_tree_release(&v->tree);
	tfp_free(v->nodes);
	tfp_free(v->next_unit);
	tfp_free(v->is_placed);
	tfp_str_map_release(&v->by_key);
	tfp_arena_release(&v->arena);
	*v = (struct tfp_capture_view){0};
}

/* ---- showing ---- */

#define PS_A_US 1000000

static bool is_time(enum tfp_amount amount)
{
	return amount <= TFP_CPU_TIME;
}

double tfp_capture_amount(const struct tfp_capture_view *v, enum tfp_amount amount, int64_t value)
{
	double shown = (double)value / tfp_capture_divisor(v->work, v->choice.step, amount);
	return is_time(amount) ? shown / PS_A_US : shown;
}

/* A minimum in the units of the tree. */
static int64_t scale(const struct tfp_capture_view *v, enum tfp_amount amount, int64_t least)
{
	double scaled = (double)least * tfp_capture_divisor(v->work, v->choice.step, amount) *
			(is_time(amount) ? PS_A_US : 1);
	return scaled >= 0x1p63 ? INT64_MAX : scaled > 0 ? (int64_t)scaled : 0;
}

enum tfp_status tfp_capture_view_show(struct tfp_capture_view *v,
				      const struct tfp_view_options *options, bool *gave_up,
				      struct tfp_error *err)
{
	static const struct tfp_minimum counts[] = {
		{TFP_MIN_FLOAT_OPS, TFP_FLOAT_OPS},
		{TFP_MIN_OCCURRENCE, TFP_RUNS},
	};
	struct tfp_view_options scaled;
	struct tfp_filters f = {0};
	*gave_up = false;
	enum tfp_status status = tfp_view_options_copy(&scaled, options, err);
	if (status != TFP_OK)
		return status;
	for (size_t i = 0; i < TFP_MINIMA + sizeof(counts) / sizeof(counts[0]); i++) {
		struct tfp_minimum m = i < TFP_MINIMA ? tfp_minima[i] : counts[i - TFP_MINIMA];
		scaled.numbers[m.number] = scale(v, m.amount, options->numbers[m.number]);
	}
	status = tfp_filters_init_strict(&f, &scaled, err);
	if (status == TFP_OK)
		status = tfp_tree_show(&v->tree, &scaled, &f, err);
	*gave_up = f.account.gave_up || f.start.gave_up || f.trim.gave_up || f.show.gave_up ||
		   f.hide.gave_up;
	tfp_filters_release(&f);
	tfp_view_options_release(&scaled);
	return status;
}
