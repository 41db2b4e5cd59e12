/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_align.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <string.h>

static bool begins_before(const void *spans, uint32_t a, uint32_t b)
{
	const struct tfp_time_span *all = spans;
	return all[a].begin_ps < all[b].begin_ps;
}

/* The chief's steps by begin, and the latest end of any up to each. */
struct order {
	uint32_t *at;
	int64_t *latest_ps;
	size_t count;
};

static bool make_order(const struct tfp_time_span *spans, size_t count, struct order *o)
{
	if (count >= UINT32_MAX)
		return false;
	o->count = count;
	o->at = tfp_sort_indexes(count, begins_before, spans);
	o->latest_ps = tfp_reallocarray(NULL, count + 1, sizeof(*o->latest_ps));
	if (!o->at || !o->latest_ps)
		return false;
	for (size_t i = 0; i < count; i++) {
		int64_t end = spans[o->at[i]].end_ps;
		o->latest_ps[i] = i && o->latest_ps[i - 1] > end ? o->latest_ps[i - 1] : end;
	}
	return true;
}

/* The first step in order that may end after a time. */
static size_t first_ending_after(const struct order *o, int64_t ps)
{
	size_t low = 0, high = o->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (o->latest_ps[middle] <= ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Only pairs that overlap count, and each counts for one shift. Own steps are taken in
 * turn, so that what a shift sums up it sums up in that order. overlap: by shift + own_count. */
static void add_overlaps(const struct tfp_time_span *chief, const struct order *o,
			 const struct tfp_time_span *own, size_t own_count, double *overlap)
{
	for (size_t j = 0; j < own_count; j++) {
		for (size_t i = first_ending_after(o, own[j].begin_ps);
		     i < o->count && chief[o->at[i]].begin_ps < own[j].end_ps; i++) {
			const struct tfp_time_span *c = &chief[o->at[i]];
			int64_t begin =
				c->begin_ps > own[j].begin_ps ? c->begin_ps : own[j].begin_ps;
			int64_t end = c->end_ps < own[j].end_ps ? c->end_ps : own[j].end_ps;
			if (end > begin)
				overlap[own_count + o->at[i] - j] += (double)(end - begin);
		}
	}
}

bool tfp_step_shift(const struct tfp_time_span *chief, size_t chief_count,
		    const struct tfp_time_span *own, size_t own_count, int64_t *shift)
{
	struct order o = {0};
	double *overlap = tfp_calloc(chief_count + own_count + 1, sizeof(*overlap));
	bool ok = overlap && make_order(chief, chief_count, &o);
	double most = -1;
	*shift = 0;
	if (ok)
		add_overlaps(chief, &o, own, own_count, overlap);
	for (size_t k = 0; ok && k < chief_count; k++) {
		if (overlap[own_count + k] > most) {
			most = overlap[own_count + k];
			*shift = (int64_t)k;
		}
	}
	for (size_t k = 1; ok && k < own_count; k++) {
		if (overlap[own_count - k] > most) {
			most = overlap[own_count - k];
			*shift = -(int64_t)k;
		}
	}
	tfp_free(overlap);
	tfp_free(o.at);
	tfp_free(o.latest_ps);
	return ok;
}
