/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory/memory_parts.h"
#include "base/alloc.h"
#include "base/sort.h"

#include <string.h>

static int64_t subtract(int64_t a, int64_t b)
{
	int64_t difference;
	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* ---- what is in use at a time ---- */

/* The first event after time_ps. */
static size_t end_of_time(const struct tfp_allocator *a, int64_t time_ps)
{
	size_t low = 0, high = a->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (a->time_ps[middle] <= time_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tfp_memory_moment_of_peak(const struct tfp_memory *memory, const struct tfp_allocator *a,
			       struct tfp_memory_moment *moment)
{
	*moment = (struct tfp_memory_moment){0};
	if (!a->has_peak)
		return false;
	moment->time_ps = a->time_ps[a->peak];
	moment->end = end_of_time(a, moment->time_ps);
	moment->step = a->peak_step;
	tfp_memory_state_at(memory, a, a->peak, &moment->state);
	moment->state.peak_bytes = a->used_bytes[a->peak];
	return true;
}

bool tfp_memory_moment_at(const struct tfp_memory *memory, const struct tfp_allocator *a,
			  int64_t time_ps, struct tfp_memory_moment *moment)
{
	size_t end = end_of_time(a, time_ps);
	*moment = (struct tfp_memory_moment){0};
	if (end == 0)
		return false;
	moment->time_ps = time_ps;
	moment->end = end;
	moment->step = a->step[end - 1];
	tfp_memory_state_at(memory, a, end - 1, &moment->state);
	return true;
}

struct look {
	const struct tfp_allocator *a;
	size_t end;
	bool one_step;
	int64_t step;
};

static bool counts(const struct look *l, size_t i)
{
	return !l->one_step || l->a->step[i] == l->step;
}

/* The next event of the address that counts, or TFP_MEMORY_NONE. */
static uint32_t next_of(const struct look *l, uint32_t i)
{
	do
		i = l->a->next[i];
	while (i < l->end && !counts(l, i));
	return i < l->end ? i : TFP_MEMORY_NONE;
}

static bool add_row(struct tfp_memory_rows *out, size_t *room, struct tfp_memory_row row)
{
	if (out->count == *room && !tfp_grow(&out->rows, room, sizeof(*out->rows)))
		return false;
	out->rows[out->count++] = row;
	return true;
}

struct row_order {
	const struct tfp_memory_label *labels;
	const struct tfp_memory_row *rows;
};

static bool larger(const void *context, uint32_t x, uint32_t y)
{
	const struct row_order *o = context;
	const struct tfp_memory_row *a = &o->rows[x], *b = &o->rows[y];
	if (a->allocation_bytes != b->allocation_bytes)
		return a->allocation_bytes > b->allocation_bytes;
	if (a->requested_bytes != b->requested_bytes)
		return a->requested_bytes > b->requested_bytes;
	return o->labels[a->label].rank < o->labels[b->label].rank;
}

/* Sorts, and makes one row of neighbours that are equal. */
static bool merge_rows(const struct tfp_memory *memory, struct tfp_memory_rows *out)
{
	const struct row_order context = {memory->labels, out->rows};
	uint32_t *order = tfp_sort_indexes(out->count, larger, &context);
	struct tfp_memory_row *merged = tfp_reallocarray(NULL, out->count, sizeof(*merged));
	size_t n = 0;
	bool ok = order && merged;
	for (size_t i = 0; ok && i < out->count; i++) {
		const struct tfp_memory_row *row = &out->rows[order[i]];
		struct tfp_memory_row *last = n ? &merged[n - 1] : NULL;
		if (last && last->allocation_bytes == row->allocation_bytes &&
		    last->requested_bytes == row->requested_bytes && last->label == row->label)
			last->occurrences++;
		else
			merged[n++] = *row;
	}
	tfp_free(order);
	if (!ok) {
		tfp_free(merged);
		return false;
	}
	tfp_free(out->rows);
	out->rows = merged;
	out->count = n;
	return true;
}

/* ProcessActiveAllocations. Of two allocations at an address without a deallocation
 * between them the later is in use. */
enum tfp_status tfp_memory_alive(const struct tfp_memory *memory, const struct tfp_allocator *a,
				 const struct tfp_memory_moment *moment,
				 enum tfp_memory_scope scope, struct tfp_memory_rows *out,
				 struct tfp_error *err)
{
	const struct look l = {a, moment->end, scope == TFP_MEMORY_STEP, moment->step};
	int64_t unused = moment->state.heap_bytes;
	size_t room = 0;
	bool ok = true;
	*out = (struct tfp_memory_rows){0};
	for (uint32_t i = 0; ok && i < moment->end; i++) {
		int64_t bytes = a->allocation_bytes[i];
		if (!counts(&l, i))
			continue;
		if (a->activity[i] == TFP_MEMORY_DEALLOCATION)
			continue;
		uint32_t next = next_of(&l, i);
		unused = subtract(unused, bytes);
		/* Only memory that was allocated in scope counts as freed. Memory from before
		 * would add nothing: it is taken off again as freed memory of before. */
		if (next == TFP_MEMORY_NONE)
			ok = add_row(out, &room,
				     (struct tfp_memory_row){bytes, a->requested_bytes[i],
							     a->label[i], i, 1});
		else if (a->activity[next] == TFP_MEMORY_DEALLOCATION)
			unused = tfp_memory_add(unused, a->allocation_bytes[next]);
	}
	out->unused_bytes = unused;
	out->stack_bytes = moment->state.stack_bytes;
	if (ok && out->unused_bytes > 0)
		ok = add_row(out, &room,
			     (struct tfp_memory_row){unused, unused, memory->unused_label,
						     TFP_MEMORY_NONE, 1});
	if (ok && out->stack_bytes > 0)
		ok = add_row(out, &room,
			     (struct tfp_memory_row){out->stack_bytes, out->stack_bytes,
						     memory->stack_label, TFP_MEMORY_NONE, 1});
	if (ok && out->count)
		ok = merge_rows(memory, out);
	if (ok)
		return TFP_OK;
	tfp_memory_rows_release(out);
	return tfp_memory_exhausted(err);
}

void tfp_memory_rows_release(struct tfp_memory_rows *rows)
{
	tfp_free(rows->rows);
	*rows = (struct tfp_memory_rows){0};
}

/* ---- fewer events, the peaks kept ---- */

uint32_t *tfp_memory_sample(const struct tfp_allocator *a, size_t max, size_t *count)
{
	size_t boxes = a->count < max ? a->count : max;
	uint32_t *chosen = tfp_reallocarray(NULL, boxes, sizeof(*chosen));
	*count = chosen ? boxes : 0;
	if (!chosen || boxes == 0)
		return chosen;
	size_t width = a->count / boxes, narrow = boxes * (width + 1) - a->count, at = 0;
	for (size_t b = 0; b < boxes; b++) {
		size_t end = at + width + (b >= narrow), best = at;
		for (at++; at < end; at++) {
			if (a->used_bytes[at] > a->used_bytes[best])
				best = at;
		}
		chosen[b] = (uint32_t)best;
	}
	return chosen;
}

/* Of the events from..end-1 the first, lowest, highest and last, each once, in order. */
static size_t corners(const struct tfp_allocator *a, size_t from, size_t end, uint32_t *chosen)
{
	size_t lowest = from, highest = from, n = 0;
	for (size_t i = from; i < end; i++) {
		if (a->used_bytes[i] < a->used_bytes[lowest])
			lowest = i;
		if (a->used_bytes[i] > a->used_bytes[highest])
			highest = i;
	}
	const size_t in_order[] = {from, lowest < highest ? lowest : highest,
				   lowest < highest ? highest : lowest, end - 1};
	for (int i = 0; i < 4; i++) {
		if (n == 0 || chosen[n - 1] != in_order[i])
			chosen[n++] = (uint32_t)in_order[i];
	}
	return n;
}

uint32_t *tfp_memory_outline(const struct tfp_allocator *a, int64_t from_ps, int64_t to_ps,
			     size_t max, size_t *count)
{
	size_t first = from_ps == INT64_MIN ? 0 : end_of_time(a, from_ps - 1);
	size_t end = end_of_time(a, to_ps), n = 0;
	if (end < first)
		end = first;
	first -= first > 0;
	end += end < a->count;
	bool all = end <= first || end - first <= max;
	uint32_t *chosen = tfp_reallocarray(NULL, all ? end - first : max + 4, sizeof(*chosen));
	*count = 0;
	if (!chosen)
		return NULL;
	if (all) {
		for (size_t i = first; i < end; i++)
			chosen[n++] = (uint32_t)i;
		*count = n;
		return chosen;
	}
	size_t stretches = max / 4, at = first;
	long double start = a->time_ps[first], length = a->time_ps[end - 1] - start;
	for (size_t s = 0; s < stretches && at < end; s++) {
		size_t from = at;
		long double until = start + length * (long double)(s + 1) / (long double)stretches;
		while (at < end && (s + 1 == stretches || a->time_ps[at] < until))
			at++;
		if (at > from)
			n += corners(a, from, at, chosen + n);
	}
	*count = n;
	return chosen;
}
