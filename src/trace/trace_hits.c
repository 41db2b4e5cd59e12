/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_hits.h"

#include "base/alloc.h"

#include <string.h>

/* So many hits are few enough to be looked at one by one. */
#define FEW     65536u
#define BUCKETS 4096u

uint32_t tfp_hits_find(const struct tfp_trace_track *t, int64_t start_ps)
{
	const struct tfp_line *line = t->track->line;
	uint32_t low = 0, high = (uint32_t)line->event_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (tfp_event_offset_ps(line, middle) + t->shift_ps < start_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- masks ---- */

uint8_t *tfp_hit_masks_get(struct tfp_hit_masks *masks, const struct tfp_plane *plane, bool *is_new)
{
	*is_new = false;
	for (size_t i = masks->count; i-- > 0;) {
		if (masks->list[i].plane == plane)
			return masks->list[i].by_meta;
	}
	if (!TFP_GROW(masks->list, masks->count, masks->room))
		return NULL;
	uint8_t *mask = tfp_calloc(plane->event_meta_count, 1);
	if (!mask)
		return NULL;
	masks->list[masks->count++] = (struct tfp_hit_mask){plane, mask};
	*is_new = true;
	return mask;
}

void tfp_hit_masks_release(struct tfp_hit_masks *masks)
{
	for (size_t i = 0; i < masks->count; i++)
		tfp_free(masks->list[i].by_meta);
	tfp_free(masks->list);
	*masks = (struct tfp_hit_masks){0};
}

/* ---- counting ---- */

static void count_one(void *context, size_t i)
{
	struct tfp_hit_track *t = &((struct tfp_hit_track *)context)[i];
	uint64_t count = 0;
	if (t->bits || t->track.track->kind == TFP_TRACK_COUNTER) {
		for (uint32_t e = t->from; e < t->to; e++)
			count += tfp_hits_match(t, e);
	} else {
		const struct tfp_line *line = t->track.track->line;
		for (uint32_t e = t->from; e < t->to; e++)
			count += t->by_meta[tfp_event_meta_index(line, e)] != 0;
	}
	t->count = count;
}

uint64_t tfp_hits_count(struct tfp_hit_track *list, size_t count, struct tfp_pool *pool)
{
	uint64_t total = 0;
	tfp_pool_for(pool, count, count_one, list);
	for (size_t i = 0; i < count; i++)
		total += list[i].count;
	return total;
}

/* ---- where the page begins ---- */

/* The hits that begin in [from, to) of the trace's time, of which the first is number before
 * of all. */
struct range {
	int64_t from_ps, to_ps;
	uint64_t before, count;
};

struct histogram {
	const struct tfp_hit_track *list;
	struct range range;
	unsigned shift; /* log2 of a bucket's time */
	atomic_uint_least64_t counts[BUCKETS];
};

static void add_to_histogram(void *context, size_t i)
{
	struct histogram *h = context;
	const struct tfp_hit_track *t = &h->list[i];
	if (t->count == 0)
		return;
	uint32_t e = tfp_hits_find(&t->track, h->range.from_ps);
	uint64_t bucket = 0, count = 0;
	for (e = e < t->from ? t->from : e; e < t->to; e++) {
		int64_t start = tfp_trace_start_ps(&t->track, e);
		if (start >= h->range.to_ps)
			break;
		if (!tfp_hits_match(t, e))
			continue;
		uint64_t at = (uint64_t)(start - h->range.from_ps) >> h->shift;
		/* Starts ascend: the counts go over one at a time. */
		if (at != bucket) {
			atomic_fetch_add(&h->counts[bucket], count);
			bucket = at;
			count = 0;
		}
		count++;
	}
	atomic_fetch_add(&h->counts[bucket], count);
}

/* Narrows the range to the bucket with hit number offset. */
static void narrow(struct histogram *h, size_t count, uint64_t offset, struct tfp_pool *pool)
{
	struct range *r = &h->range;
	h->shift = 0;
	while ((uint64_t)(r->to_ps - r->from_ps - 1) >> h->shift >= BUCKETS)
		h->shift++;
	memset(h->counts, 0, sizeof(h->counts));
	tfp_pool_for(pool, count, add_to_histogram, h);
	unsigned bucket = 0;
	while (bucket + 1 < BUCKETS && r->before + atomic_load(&h->counts[bucket]) <= offset)
		r->before += atomic_load(&h->counts[bucket++]);
	r->count = atomic_load(&h->counts[bucket]);
	r->from_ps += (int64_t)((uint64_t)bucket << h->shift);
	if (r->to_ps - r->from_ps > (INT64_C(1) << h->shift))
		r->to_ps = r->from_ps + (INT64_C(1) << h->shift);
}

/* A range with hit number offset that has few hits, or no length to speak of. */
static bool find_range(const struct tfp_hit_track *list, size_t count, uint64_t offset,
		       struct tfp_pool *pool, struct range *out)
{
	int64_t from = INT64_C(1) << 62, to = -(INT64_C(1) << 62);
	uint64_t total = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tfp_hit_track *t = &list[i];
		if (t->count == 0)
			continue;
		int64_t first = tfp_trace_start_ps(&t->track, t->from);
		int64_t last = tfp_trace_start_ps(&t->track, t->to - 1);
		from = first < from ? first : from;
		to = last >= to ? last + 1 : to;
		total += t->count;
	}
	*out = (struct range){from, to, 0, total};
	if (offset == 0 || total <= FEW)
		return true;
	struct histogram *h = tfp_calloc(1, sizeof(*h));
	if (!h)
		return false;
	h->list = list;
	h->range = *out;
	while (h->range.count > FEW && h->range.to_ps - h->range.from_ps > 1)
		narrow(h, count, offset, pool);
	*out = h->range;
	tfp_free(h);
	return true;
}

/* ---- density ---- */

struct density {
	const struct tfp_hit_track *list;
	int64_t from_ps, to_ps;
	uint32_t slots;
	atomic_uint_least64_t *counts;
};

static void add_to_density(void *context, size_t i)
{
	const struct density *d = context;
	const struct tfp_hit_track *t = &d->list[i];
	const __int128 length = (__int128)d->to_ps - d->from_ps;
	int64_t slot_end = d->from_ps;
	uint32_t slot = 0;
	uint64_t count = 0;
	for (uint32_t e = t->count ? t->from : t->to; e < t->to; e++) {
		int64_t start = tfp_trace_start_ps(&t->track, e);
		if (start < d->from_ps || !tfp_hits_match(t, e))
			continue;
		if (start >= d->to_ps)
			break;
		/* Starts ascend: the counts go over one at a time. */
		if (start >= slot_end) {
			atomic_fetch_add(&d->counts[slot], count);
			count = 0;
			slot = (uint32_t)(((__int128)start - d->from_ps) * d->slots / length);
			slot_end = d->from_ps +
				   (int64_t)((length * (slot + 1) + d->slots - 1) / d->slots);
		}
		count++;
	}
	if (count)
		atomic_fetch_add(&d->counts[slot], count);
}

void tfp_hits_density(const struct tfp_hit_track *list, size_t count, int64_t from_ps,
		      int64_t to_ps, uint32_t slots, struct tfp_pool *pool,
		      atomic_uint_least64_t *counts)
{
	struct density d = {list, from_ps, to_ps, slots, counts};
	if (slots > 0 && from_ps < to_ps)
		tfp_pool_for(pool, count, add_to_density, &d);
}

/* ---- the page ---- */

/* Hits of one track from some event on. */
struct source {
	const struct tfp_hit_track *track;
	uint32_t next;
	int64_t start_ps; /* of next */
};

static void go_to_next(struct source *s)
{
	while (s->next < s->track->to && !tfp_hits_match(s->track, s->next))
		s->next++;
	if (s->next < s->track->to)
		s->start_ps = tfp_trace_start_ps(&s->track->track, s->next);
}

static void start_source(void *context, size_t i)
{
	struct source *s = &((struct source *)context)[i];
	uint32_t at = tfp_hits_find(&s->track->track, s->start_ps);
	s->next = at < s->track->from ? s->track->from : at;
	if (s->track->count == 0)
		s->next = s->track->to;
	go_to_next(s);
}

static bool comes_before(const struct source *sources, uint32_t a, uint32_t b)
{
	if (sources[a].start_ps != sources[b].start_ps)
		return sources[a].start_ps < sources[b].start_ps;
	return a < b;
}

static void sink(uint32_t *heap, size_t size, size_t at, const struct source *sources)
{
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= size)
			return;
		if (child + 1 < size && comes_before(sources, heap[child + 1], heap[child]))
			child++;
		if (!comes_before(sources, heap[child], heap[at]))
			return;
		uint32_t swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

/* Very many hits at one moment: track after track, so nothing has to be merged to pass over
 * them. */
static uint64_t skip_moment(struct source *sources, size_t count, int64_t moment_ps, uint64_t skip)
{
	for (size_t i = 0; i < count && skip > 0; i++) {
		struct source *s = &sources[i];
		while (skip > 0 && s->next < s->track->to && s->start_ps == moment_ps) {
			s->next++;
			skip--;
			go_to_next(s);
		}
	}
	return skip;
}

static size_t merge(struct source *sources, uint32_t *heap, size_t count, uint64_t skip,
		    size_t limit, struct tfp_hit *out)
{
	size_t size = 0, n = 0;
	for (size_t i = 0; i < count; i++) {
		if (sources[i].next < sources[i].track->to)
			heap[size++] = (uint32_t)i;
	}
	for (size_t i = size / 2; i-- > 0;)
		sink(heap, size, i, sources);
	while (size > 0 && n < limit) {
		struct source *s = &sources[heap[0]];
		if (skip > 0)
			skip--;
		else
			out[n++] = (struct tfp_hit){s->start_ps, heap[0], s->next};
		s->next++;
		go_to_next(s);
		if (s->next >= s->track->to)
			heap[0] = heap[--size];
		sink(heap, size, 0, sources);
	}
	return n;
}

enum tfp_status tfp_hits_page(const struct tfp_hit_track *list, size_t count, uint64_t offset,
			      size_t limit, struct tfp_pool *pool, struct tfp_hit *out,
			      size_t *out_count, struct tfp_error *err)
{
	struct range range;
	struct source *sources = tfp_calloc(count, sizeof(*sources));
	uint32_t *heap = tfp_reallocarray(NULL, count, sizeof(*heap));
	bool ok = sources && heap && find_range(list, count, offset, pool, &range);
	*out_count = 0;
	if (ok && range.before + range.count > offset) {
		uint64_t skip = offset - range.before;
		for (size_t i = 0; i < count; i++)
			sources[i] = (struct source){&list[i], 0, range.from_ps};
		tfp_pool_for(pool, count, start_source, sources);
		if (range.to_ps - range.from_ps == 1)
			skip = skip_moment(sources, count, range.from_ps, skip);
		*out_count = merge(sources, heap, count, skip, limit, out);
	}
	tfp_free(sources);
	tfp_free(heap);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of events");
}

/* ---- rows ---- */

void tfp_hits_put(struct tfp_json *j, const struct tfp_trace_track *t, uint32_t event)
{
	struct tfp_str name = tfp_trace_event_name(t, event);
	uint32_t lane = 0, place;
	if (!tfp_timeline_find_event(t->timeline, event, &lane, &place))
		lane = 0;
	tfp_json_begin_object(j);
	tfp_trace_set_event_id(j, "id", t, event);
	tfp_trace_set_track_id(j, "track", t);
	tfp_json_set_text(j, "name", name.data, name.size);
	tfp_json_set_integer(j, "start_ps", tfp_trace_start_ps(t, event));
	tfp_json_set_integer(j, "duration_ps", tfp_event_duration_ps(t->track->line, event));
	tfp_json_set_integer(j, "depth", lane);
	tfp_json_end_object(j);
}
