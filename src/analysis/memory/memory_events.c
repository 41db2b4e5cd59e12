/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/memory_events.h"

#include "analysis/memory/memory_parts.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/progress.h"
#include "base/sort.h"

#include <string.h>

/* ---- sorting by allocator and time ---- */

struct slice {
	const int64_t *time;
	const uint32_t *places;
};

static bool earlier(const void *context, uint32_t a, uint32_t b)
{
	const struct slice *s = context;
	return s->time[s->places[a]] < s->time[s->places[b]];
}

static bool lower_id(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_str *ids = context;
	return tfp_str_compare(ids[a], ids[b]) < 0;
}

/* The places in the columns, allocator by allocator; from[i]: where number i of the
 * sorted ids begins. */
static bool sort_places(const struct tfp_memory_reader *r, const uint32_t *by_id, uint32_t *places,
			size_t *from)
{
	size_t ids = r->names.id_count;
	size_t *at = tfp_calloc(ids + 1, sizeof(*at));
	if (!at)
		return false;
	for (size_t i = 0; i < r->count; i++)
		at[r->c.allocator[i]]++;
	size_t sum = 0;
	for (size_t i = 0; i < ids; i++) {
		from[i] = sum;
		sum += at[by_id[i]];
		at[by_id[i]] = from[i];
	}
	from[ids] = sum;
	for (size_t i = 0; i < r->count; i++)
		places[at[r->c.allocator[i]]++] = (uint32_t)i;
	tfp_free(at);
	return true;
}

static bool sort_by_time(const struct tfp_memory_reader *r, uint32_t *places, size_t count)
{
	struct slice slice = {r->c.time, places};
	if (tfp_cancelled())
		return false;
	uint32_t *order = tfp_sort_indexes(count, earlier, &slice);
	if (!order)
		return false;
	for (size_t i = 0; i < count; i++)
		order[i] = places[order[i]];
	memcpy(places, order, count * sizeof(*places));
	tfp_free(order);
	return true;
}

/* A column in the new order. One after the other, so that only one is there twice. */
static bool reorder(void **column, size_t size, const uint32_t *places, size_t count)
{
	char *sorted = tfp_reallocarray(NULL, count, size), *old = *column;
	if (!sorted)
		return false;
	if (size == sizeof(int64_t)) {
		for (size_t i = 0; i < count; i++)
			((int64_t *)sorted)[i] = ((const int64_t *)old)[places[i]];
	} else if (size == sizeof(uint32_t)) {
		for (size_t i = 0; i < count; i++)
			((uint32_t *)sorted)[i] = ((const uint32_t *)old)[places[i]];
	} else {
		for (size_t i = 0; i < count; i++)
			sorted[i] = old[places[i]];
	}
	tfp_free(old);
	*column = sorted;
	return true;
}

#define REORDER(column) reorder((void **)&(column), sizeof(*(column)), places, r->count)

static bool reorder_columns(struct tfp_memory_reader *r, const uint32_t *places)
{
	struct tfp_memory_columns *c = &r->c;
	tfp_free(c->allocator);
	c->allocator = NULL;
	return REORDER(c->time) && REORDER(c->used) && REORDER(c->allocation) &&
	       REORDER(c->requested) && REORDER(c->address) && REORDER(c->step) &&
	       REORDER(c->label) && REORDER(c->line) && REORDER(c->event) && REORDER(c->activity) &&
	       REORDER(c->is_null);
}

/* ---- what the events of an allocator say together ---- */

/* UpdateStepId. */
static void fill_steps(int64_t *step, size_t count)
{
	int64_t last = TFP_MEMORY_NO_STEP;
	for (size_t i = 0; i < count; i++) {
		if (step[i] == TFP_MEMORY_NO_STEP)
			step[i] = tfp_memory_add(last, 1);
		else
			last = step[i];
	}
}

/* Links events of one address, and gives deallocations the label of what they free: of
 * the first allocation there that nothing has freed yet (UpdateDeallocation). */
static bool link_addresses(const struct tfp_allocator *a, uint32_t *next, uint32_t *label)
{
	size_t room = 16;
	while (room < 2 * a->count)
		room *= 2;
	uint32_t *slots = tfp_reallocarray(NULL, room, sizeof(*slots));
	/* By event: the allocation that holds its address after it. */
	uint32_t *holder = tfp_reallocarray(NULL, a->count, sizeof(*holder));
	bool ok = slots && holder;
	if (ok)
		memset(slots, 0xff, room * sizeof(*slots));
	for (size_t i = 0; ok && i < a->count; i++) {
		size_t slot = tfp_hash_u64((uint64_t)a->address[i]) & (room - 1);
		while (slots[slot] != TFP_MEMORY_NONE && a->address[slots[slot]] != a->address[i])
			slot = (slot + 1) & (room - 1);
		uint32_t before = slots[slot];
		uint32_t held = before == TFP_MEMORY_NONE ? TFP_MEMORY_NONE : holder[before];
		if (before != TFP_MEMORY_NONE)
			next[before] = (uint32_t)i;
		next[i] = TFP_MEMORY_NONE;
		if (a->activity[i] == TFP_MEMORY_ALLOCATION) {
			holder[i] = held == TFP_MEMORY_NONE ? (uint32_t)i : held;
		} else {
			if (held != TFP_MEMORY_NONE)
				label[i] = label[held];
			holder[i] = TFP_MEMORY_NONE;
		}
		slots[slot] = (uint32_t)i;
	}
	tfp_free(slots);
	tfp_free(holder);
	return ok;
}

/* An allocation failed only if memory in use did not grow either: on some devices 0 is a good
 * address. */
static void count_failures(struct tfp_allocator *a, const uint8_t *is_null)
{
	a->first_failed = TFP_MEMORY_NONE;
	for (size_t i = 0; i < a->count; i++) {
		if (!is_null[i] || (i > 0 && a->used_bytes[i] > a->used_bytes[i - 1]) ||
		    (i == 0 && a->used_bytes[i] >= a->requested_bytes[i]))
			continue;
		if (a->failed++ == 0)
			a->first_failed = (uint32_t)i;
	}
}

/* The events of a time-sorted allocator that come last in the file: of all, and of those
 * with most memory in use (UpdateProfileSummary). */
static void find_peak(const struct tfp_memory *memory, struct tfp_allocator *a)
{
	const struct tfp_plane *plane = memory->plane;
	uint32_t last = 0, lowest = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		a->allocations += a->activity[i] == TFP_MEMORY_ALLOCATION;
		const struct tfp_line *line = &plane->lines[a->line[i]];
		uint64_t place = tfp_event_at(line, a->event[i]);
		const uint32_t *rivals[] = {&last, &a->peak};
		bool later[2];
		for (int k = 0; k < 2; k++) {
			uint32_t j = *rivals[k];
			later[k] = a->line[i] != a->line[j]
					   ? a->line[i] > a->line[j]
					   : place >= tfp_event_at(line, a->event[j]);
		}
		if (later[0])
			last = i;
		if (a->used_bytes[i] < a->used_bytes[lowest])
			lowest = i;
		if (a->used_bytes[i] < 0)
			continue;
		if (!a->has_peak || a->used_bytes[i] > a->used_bytes[a->peak] ||
		    (a->used_bytes[i] == a->used_bytes[a->peak] && later[1]))
			a->peak = i;
		a->has_peak = true;
	}
	a->deallocations = a->count - a->allocations;
	struct tfp_memory_state state;
	tfp_memory_state_at(memory, a, last, &state);
	a->lifetime_peak_bytes = state.peak_bytes;
	/* An allocator that reports no free memory even when least is in use does not report it at
	 * all. */
	tfp_memory_state_at(memory, a, lowest, &state);
	a->knows_free = state.free_bytes > 0;
	for (size_t i = 0; a->has_peak && i < a->count; i++) {
		if (a->used_bytes[i] == a->used_bytes[a->peak])
			a->peak_step = a->step[i];
	}
}

static bool lower_label(const void *context, uint32_t x, uint32_t y)
{
	const struct tfp_memory_label *labels = context, *a = &labels[x], *b = &labels[y];
	int order = tfp_str_compare(a->op, b->op);
	if (!order)
		order = tfp_str_compare(a->region, b->region);
	if (!order)
		order = tfp_str_compare(a->data_type, b->data_type);
	if (!order)
		order = tfp_str_compare(a->shape, b->shape);
	return order < 0;
}

static bool rank_labels(struct tfp_memory *memory)
{
	uint32_t *order = tfp_sort_indexes(memory->label_count, lower_label, memory->labels);
	if (!order)
		return false;
	for (size_t i = 0; i < memory->label_count; i++)
		memory->labels[order[i]].rank = (uint32_t)i;
	tfp_free(order);
	return true;
}

/* ---- the fact ---- */

static void free_memory(void *fact)
{
	struct tfp_memory *memory = fact;
	for (size_t i = 0; i < sizeof(memory->columns) / sizeof(memory->columns[0]); i++)
		tfp_free(memory->columns[i]);
	tfp_schema_release(&memory->schema);
	tfp_free(memory->allocators);
	tfp_free(memory->labels);
	tfp_arena_release(&memory->arena);
	tfp_free(memory);
}

static bool add_special_labels(struct tfp_memory_names *names, struct tfp_memory *memory)
{
	const struct tfp_memory_label unused = {{"unused preallocated device memory", 33},
						{"persist/dynamic", 15},
						{"INVALID", 7},
						{"unknown", 7},
						0};
	const struct tfp_memory_label stack = {
		{"stack", 5}, {"stack", 5}, {"INVALID", 7}, {"unknown", 7}, 0};
	memory->unused_label = tfp_memory_add_label(names, &unused);
	memory->stack_label = tfp_memory_add_label(names, &stack);
	return memory->unused_label != TFP_STR_MAP_NONE && memory->stack_label != TFP_STR_MAP_NONE;
}

/* Hands the columns over to the allocators. */
static bool cut_columns(struct tfp_memory_reader *r, struct tfp_memory *memory,
			const uint32_t *by_id, const size_t *from)
{
	struct tfp_memory_columns *c = &r->c;
	uint32_t *next = tfp_reallocarray(NULL, r->count, sizeof(*next));
	bool ok = next != NULL;
	for (size_t i = 0; ok && i < memory->allocator_count; i++) {
		size_t at = from[i];
		struct tfp_allocator *a = &memory->allocators[i];
		a->id = r->names.ids[by_id[i]];
		a->count = from[i + 1] - at;
		a->time_ps = c->time + at;
		a->used_bytes = c->used + at;
		a->allocation_bytes = c->allocation + at;
		a->requested_bytes = c->requested + at;
		a->address = c->address + at;
		a->step = c->step + at;
		a->label = c->label + at;
		a->next = next + at;
		a->line = c->line + at;
		a->event = c->event + at;
		a->activity = c->activity + at;
		fill_steps(c->step + at, a->count);
		ok = link_addresses(a, next + at, c->label + at);
		count_failures(a, c->is_null + at);
		find_peak(memory, a);
	}
	void *all[] = {c->time,  c->used, c->allocation, c->requested, c->address, c->step,
		       c->label, c->line, c->event,      c->activity,  next};
	_Static_assert(sizeof(all) == sizeof(memory->columns), "every column is kept");
	memcpy(memory->columns, all, sizeof(all));
	tfp_free(c->is_null);
	*c = (struct tfp_memory_columns){0};
	return ok;
}

static bool arrange(struct tfp_memory_reader *r, struct tfp_memory *memory)
{
	size_t ids = r->names.id_count;
	uint32_t *by_id = tfp_sort_indexes(ids, lower_id, r->names.ids);
	uint32_t *places = tfp_reallocarray(NULL, r->count, sizeof(*places));
	size_t *from = tfp_calloc(ids + 1, sizeof(*from));
	memory->allocators = tfp_calloc(ids, sizeof(*memory->allocators));
	bool ok = by_id && places && from && memory->allocators &&
		  sort_places(r, by_id, places, from);
	for (size_t i = 0; ok && i < ids; i++)
		ok = sort_by_time(r, places + from[i], from[i + 1] - from[i]);
	ok = ok && reorder_columns(r, places);
	tfp_free(places);
	if (ok) {
		memory->allocator_count = ids;
		ok = cut_columns(r, memory, by_id, from);
	}
	tfp_free(by_id);
	tfp_free(from);
	return ok;
}

static enum tfp_status fill(struct tfp_capture *capture, struct tfp_pool *pool,
			    struct tfp_memory *memory, struct tfp_memory_reader *r,
			    struct tfp_error *err)
{
	enum tfp_status status = tfp_memory_read(r, capture, pool, memory, err);
	bool any = status == TFP_OK && r->count;
	bool ok = !any || add_special_labels(&r->names, memory);
	/* The fact owns the texts from here on, after a failure too. */
	memory->labels = r->names.labels;
	memory->label_count = r->names.label_count;
	ok = ok && (!any || (rank_labels(memory) && arrange(r, memory)));
	memory->arena = r->names.arena;
	tfp_free(r->names.ids);
	tfp_memory_names_release(&r->names, true);
	return ok ? status : tfp_memory_exhausted(err);
}

static uint64_t held_bytes(const struct tfp_memory *memory)
{
	uint64_t bytes = sizeof(*memory) + memory->arena.bytes;
	const size_t per_event = 6 * sizeof(int64_t) + 4 * sizeof(uint32_t) + sizeof(uint8_t);
	bytes += memory->label_count * sizeof(*memory->labels);
	bytes += memory->allocator_count * sizeof(*memory->allocators);
	for (size_t i = 0; i < memory->allocator_count; i++)
		bytes += memory->allocators[i].count * per_event;
	return bytes;
}

static enum tfp_status make(struct tfp_capture *capture, struct tfp_pool *pool, bool on_one_clock,
			    void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	struct tfp_memory *memory = tfp_calloc(1, sizeof(*memory));
	if (!memory)
		return tfp_memory_exhausted(err);
	memory->plane = tfp_capture_find_plane(capture, "/host:CPU");
	if (memory->plane) {
		struct tfp_memory_reader r = {.plane = memory->plane,
					      .schema = &memory->schema,
					      .on_one_clock = on_one_clock};
		r.plane_index = (size_t)(memory->plane - capture->planes);
		status = tfp_memory_schema_init(&memory->schema, memory->plane, err);
		if (status == TFP_OK)
			status = fill(capture, pool, memory, &r, err);
		tfp_memory_reader_release(&r);
	}
	if (status != TFP_OK) {
		free_memory(memory);
		return status;
	}
	*heap_bytes = held_bytes(memory);
	*fact = memory;
	return TFP_OK;
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	return make(capture, pool, false, fact, heap_bytes, err);
}

static enum tfp_status compute_on_clock(struct tfp_capture *capture, struct tfp_pool *pool,
					void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	return make(capture, pool, true, fact, heap_bytes, err);
}

enum tfp_status tfp_memory_on_clock_get(struct tfp_capture *capture, struct tfp_pool *pool,
					const struct tfp_memory **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_on_clock, free_memory};
	const void *fact;
	enum tfp_status status = tfp_memory_get(capture, pool, out, err);
	if (status != TFP_OK || !(*out)->clocks_differ)
		return status;
	status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

enum tfp_status tfp_memory_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_memory **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_memory};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
