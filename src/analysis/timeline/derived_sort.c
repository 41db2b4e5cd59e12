/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_sort.h"

#include "analysis/events/schema.h"
#include "base/alloc.h"

static bool before(const struct tfp_derived_ref *x, const struct tfp_derived_ref *y)
{
	if (x->span.begin_ps != y->span.begin_ps)
		return x->span.begin_ps < y->span.begin_ps;
	return x->span.end_ps < y->span.end_ps;
}

static void swap(struct tfp_derived_ref *x, struct tfp_derived_ref *y)
{
	struct tfp_derived_ref z = *x;
	*x = *y;
	*y = z;
}

static struct tfp_derived_ref *median(struct tfp_derived_ref *x, struct tfp_derived_ref *y,
				      struct tfp_derived_ref *z)
{
	if (before(x, y))
		return before(y, z) ? y : before(x, z) ? z : x;
	return before(x, z) ? x : before(y, z) ? z : y;
}

/* Moves what is smaller than the pivot a[0] to the front, and returns where the back begins. The
 * rest must have something no smaller and something no larger than the pivot. */
static size_t divide(struct tfp_derived_ref *a, size_t n)
{
	size_t low = 1, high = n;
	for (;;) {
		while (before(&a[low], &a[0]))
			low++;
		do
			high--;
		while (before(&a[0], &a[high]));
		if (low >= high)
			return low;
		swap(&a[low++], &a[high]);
	}
}

static void sift(struct tfp_derived_ref *a, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && before(&a[child], &a[child + 1]))
			child++;
		if (!before(&a[at], &a[child]))
			return;
		swap(&a[at], &a[child]);
	}
}

/* For what does not divide well. */
static void heap_sort(struct tfp_derived_ref *a, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(a, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(&a[0], &a[end]);
		sift(a, 0, end);
	}
}

#define FEW 16u /* so many are left to the insertions at the end */

/*
 * The peers sort with GNU C++'s std::sort, which keeps no order among events of one
 * begin and length, and what they derive shows it: which row a copy lies in depends on
 * which of two that end at once comes first. So the steps are the same here: divide
 * by the median of three (the second, the middle, the last) until parts are small,
 * then insert.
 */
static void sort_as_peers(struct tfp_derived_ref *a, size_t n)
{
	struct {
		size_t first, last;
		unsigned left;
	} todo[2 * 64 + 1];
	/* Where no two are alike there is only one order, and a stream mostly has it. */
	size_t sorted = 1;
	while (sorted < n && before(&a[sorted - 1], &a[sorted]))
		sorted++;
	if (sorted >= n)
		return;
	size_t count = 0;
	unsigned levels = 0;
	for (size_t m = n; m > 1; m >>= 1)
		levels += 2;
	todo[count].first = 0;
	todo[count].last = n;
	todo[count++].left = levels;
	while (count > 0) {
		size_t first = todo[count - 1].first, last = todo[count - 1].last;
		unsigned left = todo[--count].left;
		while (last - first > FEW) {
			if (left-- == 0) {
				heap_sort(a + first, last - first);
				break;
			}
			swap(&a[first],
			     median(&a[first + 1], &a[first + (last - first) / 2], &a[last - 1]));
			size_t cut = first + divide(a + first, last - first);
			todo[count].first = cut;
			todo[count].last = last;
			todo[count++].left = left;
			last = cut;
		}
	}
	for (size_t i = 1; i < n; i++) {
		struct tfp_derived_ref ref = a[i];
		size_t at = i;
		for (; at > 0 && before(&ref, &a[at - 1]); at--)
			a[at] = a[at - 1];
		a[at] = ref;
	}
}

struct tfp_derived_ref *tfp_derived_sorted(const struct tfp_plane *plane,
					   const struct tfp_line *only, bool with_derived,
					   size_t *count)
{
	size_t room = 0, n = 0;
	for (size_t l = 0; l < plane->line_count; l++) {
		if (!only || only == &plane->lines[l])
			room += plane->lines[l].event_count;
	}
	struct tfp_derived_ref *all = tfp_reallocarray(NULL, room, sizeof(*all));
	*count = 0;
	if (!all)
		return NULL;
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		if ((only && only != line) || (!with_derived && tfp_line_is_derived(line)))
			continue;
		for (size_t i = 0; i < line->event_count; i++)
			all[n++] = (struct tfp_derived_ref){tfp_derived_span_of(line, i),
							    (uint32_t)l, (uint32_t)i};
	}
	*count = n;
	sort_as_peers(all, n);
	return all;
}

bool tfp_derived_is_sorted(const struct tfp_line *line)
{
	for (size_t i = 1; i < line->event_count; i++) {
		if (tfp_event_start_ps(line, i - 1) >= tfp_event_start_ps(line, i))
			return false;
	}
	return true;
}

/* ---- over lines ---- */

/* A line, and which of its events is next. Events of one begin are in the line longest first
 * and come shortest first: from run_end down to run. */
struct tfp_derived_head {
	struct tfp_derived_ref next;
	size_t run, run_end;
};

/* Finds the next event; false when there is none. */
static bool advance(const struct tfp_plane *plane, struct tfp_derived_head *h)
{
	const struct tfp_line *line = &plane->lines[h->next.line];
	if (h->next.event > h->run) {
		h->next.event--;
	} else {
		h->run = h->run_end;
		if (h->run == line->event_count)
			return false;
		const int64_t begin_ps = tfp_event_start_ps(line, h->run);
		h->run_end = h->run + 1;
		while (h->run_end < line->event_count &&
		       tfp_event_start_ps(line, h->run_end) == begin_ps)
			h->run_end++;
		h->next.event = (uint32_t)(h->run_end - 1);
	}
	h->next.span = tfp_derived_span_of(line, h->next.event);
	return true;
}

static void sift_head(struct tfp_derived_merge *m, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < m->count; at = child) {
		if (child + 1 < m->count &&
		    before(&m->heads[child + 1].next, &m->heads[child].next))
			child++;
		if (!before(&m->heads[child].next, &m->heads[at].next))
			return;
		struct tfp_derived_head swap_with = m->heads[at];
		m->heads[at] = m->heads[child];
		m->heads[child] = swap_with;
	}
}

bool tfp_derived_merge_init(struct tfp_derived_merge *m, const struct tfp_plane *plane)
{
	*m = (struct tfp_derived_merge){.plane = plane};
	m->heads = tfp_calloc(plane->line_count, sizeof(*m->heads));
	for (size_t l = 0; m->heads && l < plane->line_count; l++) {
		m->heads[m->count].next.line = (uint32_t)l;
		if (!tfp_line_is_derived(&plane->lines[l]) && advance(plane, &m->heads[m->count]))
			m->count++;
		else
			m->heads[m->count] = (struct tfp_derived_head){0};
	}
	for (size_t i = m->count / 2; i-- > 0;)
		sift_head(m, i);
	return m->heads != NULL;
}

bool tfp_derived_merge_next(struct tfp_derived_merge *m, struct tfp_derived_ref *ref)
{
	if (m->count == 0)
		return false;
	*ref = m->heads[0].next;
	if (!advance(m->plane, &m->heads[0]))
		m->heads[0] = m->heads[--m->count];
	sift_head(m, 0);
	return true;
}

void tfp_derived_merge_release(struct tfp_derived_merge *m)
{
	tfp_free(m->heads);
	*m = (struct tfp_derived_merge){0};
}
