/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_listing.h"

#include "analysis/hlo/hlo_fields.h"
#include "analysis/hlo/hlo_text.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Most bytes of the head, of a line, and of what is written at a time. */
#define HEAD_MOST  ((size_t)1 << 28)
#define LINE_MOST  ((size_t)1 << 30)
#define PIECE_SIZE ((size_t)1 << 16)

/* Fields of HloModuleProto and HloComputationProto (xla/service/hlo.proto). */
enum { PROGRAM_SHAPE = 4, SCHEDULE = 7, ALIASES = 8, DONORS = 18, ATTRIBUTES = 19 };
enum { THREAD = 8 };

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the text of a program");
}

/* ---- which lines there are ---- */

/* Computations that asynchronous operations stand for are printed in their place. */
static bool *find_hidden(const struct tfp_hlo_program *p)
{
	bool *hidden = tfp_calloc((size_t)p->computation_count + 1, sizeof(*hidden));
	for (uint32_t i = 0; hidden && i < p->instruction_count; i++) {
		const struct tfp_hlo_op *op = &p->instructions[i];
		if (op->opcode == TFP_HLO_ASYNC_START && tfp_hlo_wrapped(p, i) != TFP_HLO_NONE)
			hidden[tfp_hlo_called(p, i, 0)] = true;
	}
	return hidden;
}

struct numbered {
	int64_t id;
	uint32_t index;
};

static int by_id(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* InstructionSequence. One that does not name each instruction of the computation once is none.
 * scratch and seen have room for its instructions. */
static bool take_sequence(const struct tfp_hlo_program *p, const struct tfp_hlo_computation *c,
			  struct tfp_str sequence, struct numbered *scratch, bool *seen,
			  uint32_t *order)
{
	struct tfp_hlo_numbers ids = tfp_hlo_numbers(sequence, 1);
	struct numbered key = {0, 0};
	uint32_t at = 0;
	bool sorted = true;
	for (uint32_t i = 0; i < c->count; i++) {
		scratch[i] = (struct numbered){p->instructions[c->first + i].id, i};
		sorted &= i == 0 || scratch[i - 1].id < scratch[i].id;
		seen[i] = false;
	}
	if (!sorted)
		qsort(scratch, c->count, sizeof(*scratch), by_id);
	/* Mostly they count up without gaps. */
	bool dense = c->count && scratch[0].id >= 0 &&
		     scratch[c->count - 1].id - scratch[0].id == (int64_t)c->count - 1;
	for (; tfp_hlo_next_number(&ids, &key.id); at++) {
		const struct numbered *found = NULL;
		if (!dense)
			found = bsearch(&key, scratch, c->count, sizeof(*scratch), by_id);
		else if (key.id >= scratch[0].id && key.id <= scratch[c->count - 1].id)
			found = &scratch[key.id - scratch[0].id];
		if (!found || seen[found->index])
			return false;
		seen[found->index] = true;
		order[at] = c->first + found->index;
	}
	return at == c->count;
}

static void keep_order(const struct tfp_hlo_computation *c, uint32_t *order)
{
	for (uint32_t i = 0; i < c->count; i++)
		order[i] = c->first + i;
}

/* HloScheduleProto: a map from computations to sequences. */
static enum tfp_status read_schedule(struct tfp_hlo_listing *l, struct tfp_error *err)
{
	const struct tfp_hlo_program *p = l->program;
	struct tfp_str schedule, entry, sequence;
	struct numbered *ids = tfp_calloc((size_t)p->computation_count + 1, sizeof(*ids));
	struct numbered *scratch = tfp_calloc((size_t)p->instruction_count + 1, sizeof(*scratch));
	bool *seen = tfp_calloc((size_t)p->instruction_count + 1, sizeof(*seen));
	bool ok = ids && scratch && seen;
	for (uint32_t i = 0; ok && i < p->computation_count; i++) {
		ids[i] = (struct numbered){p->computations[i].id, i};
		keep_order(&p->computations[i], l->order + p->computations[i].first);
	}
	if (ok && tfp_hlo_field(p->module, SCHEDULE, &schedule)) {
		struct tfp_pb_cursor c = tfp_hlo_walk(schedule);
		qsort(ids, p->computation_count, sizeof(*ids), by_id);
		while (tfp_hlo_next(&c, 1, &entry)) {
			struct numbered key = {tfp_hlo_number(entry, 1, 0), 0};
			const struct numbered *found =
				bsearch(&key, ids, p->computation_count, sizeof(*ids), by_id);
			if (!found || !tfp_hlo_field(entry, 2, &sequence))
				continue;
			const struct tfp_hlo_computation *in = &p->computations[found->index];
			uint32_t *order = l->order + in->first;
			if (!take_sequence(p, in, sequence, scratch, seen, order))
				keep_order(in, order);
		}
	}
	tfp_free(ids);
	tfp_free(scratch);
	tfp_free(seen);
	return ok ? TFP_OK : no_memory(err);
}

/* ---- stacks ---- */

/* Tables of stack frames, of those alone that instructions have, in the order in which they have
 * them: XLA makes them anew. */
struct tables {
	const struct tfp_hlo_program *program;
	struct tfp_str *files, *functions, *locations, *frames; /* as in the file; owned */
	size_t file_count, function_count, location_count, frame_count;
	struct tfp_buf file_text, function_text, location_text, frame_text;
	struct tfp_str_map file_ids, function_ids, location_ids, frame_ids;
	uint32_t *made; /* of each frame of the file its new number, from 1 on; 0: none yet */
	uint32_t path[TFP_HLO_STACK_MAX];
	struct tfp_arena arena; /* keys */
};

/* NULL without memory. */
static struct tfp_str *read_list(struct tfp_str message, uint32_t field, size_t *count)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	struct tfp_str entry, *list;
	for (*count = 0; tfp_hlo_next(&c, field, &entry);)
		++*count;
	list = tfp_calloc(*count + 1, sizeof(*list));
	c = tfp_hlo_walk(message);
	for (size_t i = 0; list && i < *count; i++)
		(void)tfp_hlo_next(&c, field, &list[i]);
	return list;
}

/* The number of a key, given if need be; 0 without memory. */
static uint32_t number_of(struct tables *t, struct tfp_str_map *map, const void *key, size_t size,
			  bool *is_new)
{
	uint32_t next = (uint32_t)map->count + 1, found = tfp_str_map_find(map, key, size);
	*is_new = found == TFP_STR_MAP_NONE;
	if (!*is_new)
		return found;
	char *kept = tfp_arena_strndup(&t->arena, size ? key : "", size);
	if (!kept || tfp_str_map_add(map, kept, size, next) == TFP_STR_MAP_NONE)
		return 0;
	return next;
}

static uint32_t name_number(struct tables *t, struct tfp_str_map *map, struct tfp_buf *text,
			    struct tfp_str name)
{
	bool is_new;
	uint32_t number = number_of(t, map, name.data, name.size, &is_new);
	if (is_new) {
		tfp_buf_printf(text, "%" PRIu32 " \"", number);
		tfp_hlo_write_escaped(name, text);
		tfp_buf_puts(text, "\"\n");
	}
	return number;
}

static bool pick(const struct tfp_str *list, size_t count, int64_t number, struct tfp_str *out)
{
	if (number <= 0 || (uint64_t)number > count)
		return false;
	*out = list[number - 1];
	return true;
}

/* A frame anew, above its parent; 0 for one that names what is not there. */
static uint32_t make_frame(struct tables *t, struct tfp_str frame, uint32_t parent)
{
	struct tfp_str location, file, function;
	bool is_new;
	if (!pick(t->locations, t->location_count, tfp_hlo_number(frame, 1, 0), &location) ||
	    !pick(t->files, t->file_count, tfp_hlo_number(location, 1, 0), &file) ||
	    !pick(t->functions, t->function_count, tfp_hlo_number(location, 2, 0), &function))
		return 0;
	int64_t place[] = {name_number(t, &t->file_ids, &t->file_text, file),
			   name_number(t, &t->function_ids, &t->function_text, function),
			   tfp_hlo_number(location, 3, 0),
			   tfp_hlo_number(location, 5, 0),
			   tfp_hlo_number(location, 4, 0),
			   tfp_hlo_number(location, 6, 0)};
	uint32_t at = number_of(t, &t->location_ids, place, sizeof(place), &is_new);
	if (is_new)
		tfp_buf_printf(&t->location_text,
			       "%" PRIu32 " {file_name_id=%" PRId64 " function_name_id=%" PRId64
			       " line=%" PRId64 " end_line=%" PRId64 " column=%" PRId64
			       " end_column=%" PRId64 "}\n",
			       at, place[0], place[1], place[2], place[3], place[4], place[5]);
	uint32_t key[] = {at, parent};
	uint32_t made = number_of(t, &t->frame_ids, key, sizeof(key), &is_new);
	/* XLA prints the parent's number one too high. */
	if (is_new)
		tfp_buf_printf(&t->frame_text,
			       "%" PRIu32 " {file_location_id=%" PRIu32 " parent_frame_id=%" PRIu32
			       "}\n",
			       made, at, parent + 1);
	return made;
}

/* The new number of an instruction's frame: outer frames are made first. */
static uint32_t frame_of(struct tables *t, int64_t number)
{
	size_t depth = 0;
	uint32_t made = 0;
	while (number > 0 && (uint64_t)number <= t->frame_count && !t->made[number - 1]) {
		if (depth == TFP_HLO_STACK_MAX) /* or in circles */
			return 0;
		t->path[depth++] = (uint32_t)number;
		number = tfp_hlo_number(t->frames[number - 1], 2, 0);
	}
	if (number > 0 && (uint64_t)number <= t->frame_count)
		made = t->made[number - 1];
	else if (number != 0)
		return 0;
	while (depth > 0) {
		uint32_t old = t->path[--depth];
		made = make_frame(t, t->frames[old - 1], made);
		if (!made)
			return 0;
		t->made[old - 1] = made;
	}
	return made;
}

static void release_tables(struct tables *t)
{
	tfp_free(t->files);
	tfp_free(t->functions);
	tfp_free(t->locations);
	tfp_free(t->frames);
	tfp_free(t->made);
	tfp_buf_release(&t->file_text);
	tfp_buf_release(&t->function_text);
	tfp_buf_release(&t->location_text);
	tfp_buf_release(&t->frame_text);
	tfp_str_map_release(&t->file_ids);
	tfp_str_map_release(&t->function_ids);
	tfp_str_map_release(&t->location_ids);
	tfp_str_map_release(&t->frame_ids);
	tfp_arena_release(&t->arena);
}

static void put_table(struct tfp_buf *out, const char *title, const struct tfp_buf *text)
{
	tfp_buf_puts(out, title);
	if (text->size)
		tfp_buf_add(out, text->data, text->size);
	out->failed |= text->failed;
}

static enum tfp_status write_tables(struct tfp_hlo_listing *l, struct tfp_error *err)
{
	const struct tfp_hlo_program *p = l->program;
	struct tables t = {.program = p};
	struct tfp_str index = p->stack_frame_index;
	tfp_arena_init(&t.arena, SIZE_MAX);
	tfp_buf_init(&t.file_text, HEAD_MOST);
	tfp_buf_init(&t.function_text, HEAD_MOST);
	tfp_buf_init(&t.location_text, HEAD_MOST);
	tfp_buf_init(&t.frame_text, HEAD_MOST);
	t.files = read_list(index, 1, &t.file_count);
	t.functions = read_list(index, 2, &t.function_count);
	t.locations = read_list(index, 3, &t.location_count);
	t.frames = read_list(index, 4, &t.frame_count);
	t.made = tfp_calloc(t.frame_count + 1, sizeof(*t.made));
	l->frames = tfp_calloc((size_t)p->instruction_count + 1, sizeof(*l->frames));
	bool ok = t.files && t.functions && t.locations && t.frames && t.made && l->frames;
	for (uint32_t i = 0; ok && i < p->instruction_count; i++)
		l->frames[i] = frame_of(&t, tfp_hlo_metadata(&p->instructions[i]).stack_frame);
	if (ok && t.frame_ids.count) {
		tfp_buf_puts(&l->head, "\n\n");
		put_table(&l->head, "FileNames\n", &t.file_text);
		put_table(&l->head, "\nFunctionNames\n", &t.function_text);
		put_table(&l->head, "\nFileLocations\n", &t.location_text);
		put_table(&l->head, "\nStackFrames\n", &t.frame_text);
	}
	release_tables(&t);
	return ok ? TFP_OK : no_memory(err);
}

/* ---- the head ---- */

static void put_index(struct tfp_buf *out, struct tfp_str message, uint32_t field)
{
	struct tfp_hlo_numbers n = tfp_hlo_numbers(message, field);
	int64_t value;
	tfp_buf_putc(out, '{');
	for (size_t i = 0; tfp_hlo_next_number(&n, &value); i++)
		tfp_buf_printf(out, "%s%" PRId64, i ? "," : "", value);
	tfp_buf_putc(out, '}');
}

/* HloInputOutputAliasProto */
static void write_aliases(struct tfp_buf *out, struct tfp_str aliases)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(aliases);
	struct tfp_str entry;
	size_t i = 0;
	for (; tfp_hlo_next(&c, 1, &entry); i++) {
		tfp_buf_puts(out, i ? ", " : ", input_output_alias={ ");
		put_index(out, entry, 1);
		tfp_buf_printf(out, ": (%" PRId64 ", ", tfp_hlo_number(entry, 2, 0));
		put_index(out, entry, 3);
		tfp_buf_puts(out,
			     tfp_hlo_number(entry, 4, 0) == 1 ? ", may-alias)" : ", must-alias)");
	}
	if (i)
		tfp_buf_puts(out, " }");
}

/* HloBufferDonorProto */
static void write_donors(struct tfp_buf *out, struct tfp_str donors)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(donors);
	struct tfp_str entry;
	size_t i = 0;
	for (; tfp_hlo_next(&c, 1, &entry); i++) {
		tfp_buf_printf(out, "%s(%" PRId64 ", ", i ? ", " : ", buffer_donor={ ",
			       tfp_hlo_number(entry, 1, 0));
		put_index(out, entry, 2);
		tfp_buf_putc(out, ')');
	}
	if (i)
		tfp_buf_puts(out, " }");
}

/* ProgramShapeProto, with layouts. */
static void write_layout(struct tfp_buf *out, struct tfp_str shape)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(shape);
	struct tfp_str part;
	tfp_buf_puts(out, ", entry_computation_layout={(");
	for (size_t i = 0; tfp_hlo_next(&c, 1, &part); i++) {
		if (i)
			tfp_buf_puts(out, ", ");
		if (i && i % 5 == 0)
			tfp_buf_printf(out, "/*index=%zu*/", i);
		tfp_hlo_write_shape(part, out);
	}
	tfp_buf_puts(out, ")->");
	tfp_hlo_field(shape, 2, &part);
	tfp_hlo_write_shape(part, out);
	tfp_buf_putc(out, '}');
}

static enum tfp_status write_head(struct tfp_hlo_listing *l, struct tfp_error *err)
{
	struct tfp_str module = l->program->module, field;
	struct tfp_buf *out = &l->head;
	enum tfp_status status = TFP_OK;
	tfp_buf_puts(out, "HloModule ");
	if (l->program->name.size)
		tfp_buf_add(out, l->program->name.data, l->program->name.size);
	if (tfp_hlo_field(module, SCHEDULE, &field))
		tfp_buf_puts(out, ", is_scheduled=true");
	if (tfp_hlo_field(module, ALIASES, &field))
		write_aliases(out, field);
	if (tfp_hlo_field(module, DONORS, &field))
		write_donors(out, field);
	if (tfp_hlo_field(module, PROGRAM_SHAPE, &field))
		write_layout(out, field);
	if (tfp_hlo_field(module, ATTRIBUTES, &field))
		tfp_hlo_write_frontend_attributes(field, out);
	if (l->flags & TFP_HLO_LISTING_METADATA)
		status = write_tables(l, err);
	tfp_buf_puts(out, "\n\n");
	return status == TFP_OK && tfp_buf_failed(out) ? no_memory(err) : status;
}

static bool find_head_lines(struct tfp_hlo_listing *l)
{
	uint64_t count = 0;
	for (size_t i = 0; i < l->head.size; i++)
		count += l->head.data[i] == '\n';
	l->head_lines = tfp_calloc((size_t)count + 1, sizeof(*l->head_lines));
	if (!l->head_lines)
		return false;
	for (size_t i = 0; i < l->head.size; i++) {
		if (l->head.data[i] == '\n')
			l->head_lines[++l->head_line_count] = i + 1;
	}
	return true;
}

/* ---- */

/* Where the walk is in a computation. */
struct place {
	uint32_t computation, next; /* an instruction's place in it */
};

/* HloModule::MakeComputationPostOrder: from computations that nobody calls, in the order of
 * instructions; called ones before their callers. Each comes once on the stack, which is not the
 * machine's: they may lie deep in one another. */
struct order_walk {
	const struct tfp_hlo_program *p;
	struct place *stack;
	size_t depth;
	bool *seen;
};

static void visit_called(struct order_walk *w, uint32_t instruction)
{
	const struct tfp_hlo_op *op = &w->p->instructions[instruction];
	for (uint32_t k = op->called_count; k-- > 0;) {
		uint32_t called = tfp_hlo_called(w->p, instruction, k);
		if (w->seen[called])
			continue;
		w->seen[called] = true;
		w->stack[w->depth++] = (struct place){called, 0};
	}
}

static void order_from(struct order_walk *w, uint32_t root, uint32_t *order, uint32_t *count)
{
	const struct tfp_hlo_program *p = w->p;
	const struct tfp_hlo_computation *c = &p->computations[root];
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		visit_called(w, i);
		while (w->depth) {
			struct place *at = &w->stack[w->depth - 1];
			const struct tfp_hlo_computation *in = &p->computations[at->computation];
			if (at->next == in->count) {
				order[(*count)++] = at->computation;
				w->depth--;
			} else {
				visit_called(w, in->first + at->next++);
			}
		}
	}
	order[(*count)++] = root;
}

/* NULL without memory. */
static uint32_t *order_computations(const struct tfp_hlo_program *p, uint32_t *count)
{
	size_t room = (size_t)p->computation_count + 1;
	struct order_walk w = {p, tfp_calloc(room, sizeof(*w.stack)), 0,
			       tfp_calloc(room, sizeof(*w.seen))};
	bool *is_called = tfp_calloc(room, sizeof(*is_called));
	uint32_t *order = tfp_calloc(room, sizeof(*order));
	bool ok = w.stack && w.seen && is_called && order;
	for (uint32_t i = 0; ok && i < p->instruction_count; i++) {
		for (uint32_t k = 0; k < p->instructions[i].called_count; k++)
			is_called[tfp_hlo_called(p, i, k)] = true;
	}
	*count = 0;
	for (uint32_t i = 0; ok && i < p->computation_count; i++) {
		if (!is_called[i])
			order_from(&w, i, order, count);
	}
	tfp_free(w.stack);
	tfp_free(w.seen);
	tfp_free(is_called);
	if (!ok) {
		tfp_free(order);
		return NULL;
	}
	return order;
}

static bool find_lines(struct tfp_hlo_listing *l)
{
	const struct tfp_hlo_program *p = l->program;
	uint32_t count = 0, printed = 0;
	bool *hidden = find_hidden(p);
	l->computations = order_computations(p, &count);
	l->first_lines = tfp_calloc((size_t)p->computation_count + 1, sizeof(*l->first_lines));
	l->line_of = tfp_calloc((size_t)p->computation_count + 1, sizeof(*l->line_of));
	bool ok = hidden && l->computations && l->first_lines && l->line_of && find_head_lines(l);
	l->line_count = l->head_line_count;
	for (uint32_t i = 0; ok && i < count; i++) {
		uint32_t computation = l->computations[i];
		l->line_of[computation] = UINT64_MAX;
		if (hidden[computation])
			continue;
		l->first_lines[printed] = l->line_of[computation] = l->line_count;
		l->computations[printed++] = computation;
		/* Its name, its end, and an empty line. */
		l->line_count += (uint64_t)p->computations[computation].count + 3;
	}
	l->computation_count = printed;
	tfp_free(hidden);
	return ok;
}

enum tfp_status tfp_hlo_listing_init(struct tfp_hlo_listing *listing,
				     const struct tfp_hlo_program *program, unsigned flags,
				     struct tfp_error *err)
{
	*listing = (struct tfp_hlo_listing){.program = program, .flags = flags};
	tfp_buf_init(&listing->head, HEAD_MOST);
	listing->order =
		tfp_calloc((size_t)program->instruction_count + 1, sizeof(*listing->order));
	listing->places =
		tfp_calloc((size_t)program->instruction_count + 1, sizeof(*listing->places));
	if (!listing->order || !listing->places)
		return no_memory(err);
	enum tfp_status status = read_schedule(listing, err);
	for (uint32_t i = 0; i < program->instruction_count; i++) {
		uint32_t at = listing->order[i];
		const struct tfp_hlo_op *op = &program->instructions[at];
		listing->places[at] = i - program->computations[op->computation].first;
	}
	if (status == TFP_OK)
		status = write_head(listing, err);
	if (status == TFP_OK && !find_lines(listing))
		status = no_memory(err);
	return status;
}

void tfp_hlo_listing_release(struct tfp_hlo_listing *listing)
{
	tfp_buf_release(&listing->head);
	tfp_free(listing->head_lines);
	tfp_free(listing->computations);
	tfp_free(listing->first_lines);
	tfp_free(listing->line_of);
	tfp_free(listing->order);
	tfp_free(listing->places);
	tfp_free(listing->frames);
	*listing = (struct tfp_hlo_listing){0};
}

/* ---- lines ---- */

static bool is_short(const struct tfp_hlo_listing *l)
{
	return !(l->flags & TFP_HLO_LISTING_NAMED);
}

static void put(struct tfp_buf *out, struct tfp_str s)
{
	if (s.size)
		tfp_buf_add(out, s.data, s.size);
}

/* "(x: f32[8]) -> f32[8]": parameters in the order of their numbers. */
static void write_program_shape(const struct tfp_hlo_listing *l,
				const struct tfp_hlo_computation *c, size_t end,
				struct tfp_buf *out)
{
	const struct tfp_hlo_program *p = l->program;
	/* Of each number the parameter, one further, so that 0 is none. */
	uint32_t *parameters = tfp_calloc((size_t)c->count + 1, sizeof(*parameters));
	bool any = false;
	out->failed |= !parameters;
	for (uint32_t i = c->first; parameters && i < c->first + c->count; i++) {
		const struct tfp_hlo_op *op = &p->instructions[i];
		if (op->opcode == TFP_HLO_PARAMETER && op->number < c->count)
			parameters[op->number] = i + 1;
	}
	tfp_buf_puts(out, " (");
	for (uint32_t n = 0; !tfp_buf_failed(out) && n < c->count && out->size < end; n++) {
		if (!parameters[n])
			continue;
		if (any)
			tfp_buf_puts(out, ", ");
		any = true;
		put(out, p->instructions[parameters[n] - 1].name);
		tfp_buf_puts(out, ": ");
		tfp_hlo_write_plain_shape(tfp_hlo_shape_of(p, parameters[n] - 1)->message, out);
	}
	tfp_free(parameters);
	tfp_buf_puts(out, ") -> ");
	tfp_hlo_write_plain_shape(tfp_hlo_shape_of(p, c->root)->message, out);
}

static void write_first(const struct tfp_hlo_listing *l, uint32_t computation, size_t end,
			struct tfp_buf *out)
{
	const struct tfp_hlo_computation *c = &l->program->computations[computation];
	if (computation == l->program->entry)
		tfp_buf_puts(out, "ENTRY ");
	if (!is_short(l))
		tfp_buf_putc(out, '%');
	put(out, c->name);
	if (!is_short(l))
		write_program_shape(l, c, end, out);
	tfp_buf_puts(out, " {");
}

static void write_last(const struct tfp_hlo_listing *l, uint32_t computation, struct tfp_buf *out)
{
	struct tfp_str thread;
	tfp_buf_putc(out, '}');
	if (!tfp_hlo_field(l->program->computations[computation].message, THREAD, &thread) ||
	    thread.size == 0 || tfp_str_equal(thread, "main"))
		return;
	tfp_buf_puts(out, ", execution_thread=\"");
	put(out, thread);
	tfp_buf_putc(out, '"');
}

static void write_instruction(const struct tfp_hlo_listing *l, uint32_t instruction, size_t most,
			      struct tfp_buf *out)
{
	const struct tfp_hlo_program *p = l->program;
	const struct tfp_hlo_op *op = &p->instructions[instruction];
	unsigned flags = (is_short(l) ? TFP_HLO_TEXT_SHORT : 0u) |
			 (l->flags & TFP_HLO_LISTING_CONSTANTS ? TFP_HLO_TEXT_LARGE_CONSTANTS : 0u);
	tfp_buf_puts(out, p->computations[op->computation].root == instruction ? "  ROOT " : "  ");
	tfp_hlo_write_op(p, instruction, flags, most, out);
	if (l->frames)
		tfp_hlo_write_metadata(op, l->frames[instruction], out);
	tfp_hlo_write_backend_config(op, out);
}

/* The last computation that begins at or before the line. */
static uint32_t computation_at(const struct tfp_hlo_listing *l, uint64_t line)
{
	uint32_t low = 0, high = l->computation_count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (l->first_lines[middle] <= line)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct tfp_hlo_line tfp_hlo_listing_write(const struct tfp_hlo_listing *l, uint64_t line,
					  size_t most, struct tfp_buf *out)
{
	struct tfp_hlo_line about = {TFP_HLO_NONE, TFP_HLO_NONE, false};
	size_t before = out->size;
	if (line < l->head_line_count) {
		uint64_t from = l->head_lines[line], to = l->head_lines[line + 1] - 1;
		size_t size = (size_t)(to - from);
		tfp_buf_add(out, l->head.data + from, size < most + 1 ? size : most + 1);
	} else {
		uint32_t at = computation_at(l, line), in = l->computations[at];
		const struct tfp_hlo_computation *c = &l->program->computations[in];
		uint64_t place = line - l->first_lines[at];
		if (place <= (uint64_t)c->count + 1)
			about.computation = in;
		if (place == 0) {
			write_first(l, in, before + most, out);
		} else if (place <= c->count) {
			about.instruction = l->order[c->first + place - 1];
			write_instruction(l, about.instruction, most, out);
		} else if (place == (uint64_t)c->count + 1) {
			write_last(l, in, out);
		}
	}
	if (!tfp_buf_failed(out) && out->size - before > most) {
		out->size = before + most;
		about.is_cut = true;
	}
	return about;
}

uint64_t tfp_hlo_listing_line_of(const struct tfp_hlo_listing *l, uint32_t instruction)
{
	uint64_t first = l->line_of[l->program->instructions[instruction].computation];
	return first == UINT64_MAX ? first : first + 1 + l->places[instruction];
}

enum tfp_status tfp_hlo_listing_write_all(const struct tfp_hlo_listing *listing,
					  const struct tfp_sink *sink, struct tfp_error *err)
{
	struct tfp_buf piece;
	enum tfp_status status = TFP_OK;
	tfp_buf_init(&piece, LINE_MOST + PIECE_SIZE);
	for (uint64_t line = 0; status == TFP_OK && line < listing->line_count; line++) {
		if (!tfp_goes_on((size_t)line)) {
			status = tfp_fail_cancelled(err);
			break;
		}
		tfp_hlo_listing_write(listing, line, LINE_MOST, &piece);
		tfp_buf_putc(&piece, '\n');
		if (tfp_buf_failed(&piece))
			status = no_memory(err);
		else if (piece.size >= PIECE_SIZE || line + 1 == listing->line_count) {
			status = sink->write(sink->context, piece.data, piece.size, err);
			tfp_buf_clear(&piece);
		}
	}
	tfp_buf_release(&piece);
	return status;
}
