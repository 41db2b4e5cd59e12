/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps/step_sweep.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <string.h>

/* Spans of one type, sorted and joined, so that they do not overlap; what is
 * left of spans without length stands alone or at the end of another. Begins and
 * ends are then both ascending, and each is walked by its own cursor. */
struct track {
	const struct tfp_step_span *spans;
	size_t count, begun, ended;
};

static bool comes_before(const void *context, uint32_t a, uint32_t b)
{
	const struct tfp_step_span *spans = context;
	if (spans[a].begin_ps != spans[b].begin_ps)
		return spans[a].begin_ps < spans[b].begin_ps;
	return spans[a].end_ps > spans[b].end_ps;
}

/* Sorts spans of one type from in to out and joins them. Whether something of a type
 * runs is all that matters, so joined spans mean the same as the single ones. */
static size_t join(const struct tfp_step_span *in, size_t count, struct tfp_step_span *out)
{
	uint32_t *order = tfp_sort_indexes(count, comes_before, in);
	size_t n = 0;
	if (!order)
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct tfp_step_span *s = &in[order[i]];
		struct tfp_step_span *last = n ? &out[n - 1] : NULL;
		bool empty = s->begin_ps == s->end_ps;
		if (last && empty &&
		    (s->begin_ps < last->end_ps ||
		     (s->begin_ps == last->end_ps && last->begin_ps == last->end_ps)))
			continue;
		if (last && !empty && s->begin_ps < last->end_ps) {
			if (last->end_ps < s->end_ps)
				last->end_ps = s->end_ps;
			continue;
		}
		out[n++] = *s;
	}
	tfp_free(order);
	return n;
}

/* The next boundary of all tracks: earliest first, ends before begins, greater types
 * first. Returns its type, or TFP_STEP_EVENT_COUNT when there is none. */
static unsigned next_boundary(const struct track *tracks, int64_t *time_ps, bool *is_begin)
{
	unsigned found = TFP_STEP_EVENT_COUNT;
	for (unsigned t = TFP_STEP_EVENT_COUNT; t-- > 0;) {
		const struct track *track = &tracks[t];
		if (track->ended < track->count) {
			int64_t at = track->spans[track->ended].end_ps;
			if (found == TFP_STEP_EVENT_COUNT || at < *time_ps ||
			    (at == *time_ps && *is_begin)) {
				found = t;
				*time_ps = at;
				*is_begin = false;
			}
		}
		if (track->begun < track->count) {
			int64_t at = track->spans[track->begun].begin_ps;
			if (found == TFP_STEP_EVENT_COUNT || at < *time_ps) {
				found = t;
				*time_ps = at;
				*is_begin = true;
			}
		}
	}
	return found;
}

static int64_t overlap(int64_t a_begin, int64_t a_end, int64_t b_begin, int64_t b_end)
{
	int64_t begin = a_begin > b_begin ? a_begin : b_begin;
	int64_t end = a_end < b_end ? a_end : b_end;
	return end > begin ? end - begin : 0;
}

bool tfp_step_sweep(struct tfp_step_span *spans, size_t count, int64_t step_begin, int64_t step_end,
		    uint64_t in_step[TFP_STEP_EVENT_COUNT],
		    uint64_t everywhere[TFP_STEP_EVENT_COUNT], bool seen[TFP_STEP_EVENT_COUNT])
{
	struct track tracks[TFP_STEP_EVENT_COUNT] = {0};
	size_t first[TFP_STEP_EVENT_COUNT + 1] = {0}, fill[TFP_STEP_EVENT_COUNT];
	if (count == 0)
		return true;
	struct tfp_step_span *by_type = tfp_reallocarray(NULL, count, sizeof(*by_type));
	if (!by_type)
		return false;
	for (size_t i = 0; i < count; i++)
		first[spans[i].type + 1]++;
	for (unsigned t = 0; t < TFP_STEP_EVENT_COUNT; t++) {
		first[t + 1] += first[t];
		fill[t] = first[t];
	}
	for (size_t i = 0; i < count; i++)
		by_type[fill[spans[i].type]++] = spans[i];
	for (unsigned t = 0; t < TFP_STEP_EVENT_COUNT; t++) {
		size_t n = first[t + 1] - first[t];
		n = n ? join(&by_type[first[t]], n, &spans[first[t]]) : 0;
		if (n == SIZE_MAX) {
			tfp_free(by_type);
			return false;
		}
		tracks[t] = (struct track){.spans = &spans[first[t]], .count = n};
	}
	tfp_free(by_type);

	unsigned current = TFP_STEP_UNKNOWN, t;
	bool is_begin = false, started = false;
	int64_t at = 0, last = 0;
	int running[TFP_STEP_EVENT_COUNT] = {0};
	while ((t = next_boundary(tracks, &at, &is_begin)) < TFP_STEP_EVENT_COUNT) {
		if (started) {
			in_step[current] += (uint64_t)overlap(last, at, step_begin, step_end);
			everywhere[current] += (uint64_t)(at - last);
			seen[current] = true;
		}
		started = true;
		last = at;
		if (is_begin) {
			tracks[t].begun++;
			running[t]++;
			if (t > current)
				current = t;
			continue;
		}
		tracks[t].ended++;
		running[t]--;
		if (t != current || running[t] != 0)
			continue;
		while (current > TFP_STEP_UNKNOWN && running[current] <= 0)
			current--;
	}
	return true;
}
