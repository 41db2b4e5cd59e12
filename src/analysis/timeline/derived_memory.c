/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_memory.h"

#include "analysis/grouping/groups.h"
#include "analysis/timeline/shown_lines.h"
#include "base/alloc.h"
#include "base/str_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- which plane ---- */

/* Digits from at on; false where there are none, or too many for a device. */
static bool read_ordinal(struct tfp_str s, size_t at, size_t *end, uint32_t *ordinal)
{
	*ordinal = 0;
	for (*end = at; *end < s.size && s.data[*end] >= '0' && s.data[*end] <= '9'; ++*end) {
		if (*end - at == 6)
			return false;
		*ordinal = *ordinal * 10 + (uint32_t)(s.data[*end] - '0');
	}
	return *end > at;
}

/* The name of the device that an id names; false where it names none. */
static bool device_name(struct tfp_str id, char name[32])
{
	/* TensorFlow's and XLA's allocators of a GPU's memory: GPU_0_bfc, gpu_async_0. That of
	 * the host's memory for GPUs is gpu_host_bfc, without a number. */
	static const char *const before[] = {"GPU_", "gpu_async_"};
	uint32_t ordinal;
	size_t end;
	if (read_ordinal(id, 0, &end, &ordinal) && end == id.size) {
		snprintf(name, 32, "/device:TPU:%" PRIu32, ordinal);
		return true;
	}
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		if (tfp_str_starts(id, before[i]) &&
		    read_ordinal(id, strlen(before[i]), &end, &ordinal) &&
		    (end == id.size || id.data[end] == '_')) {
			snprintf(name, 32, "/device:GPU:%" PRIu32, ordinal);
			return true;
		}
	}
	return false;
}

/* By the names of devices, so that many allocators and many planes cost no more than both. */
static bool map_devices(const struct tfp_capture *capture, struct tfp_str_map *devices)
{
	for (size_t p = 0; p < capture->plane_count && p < TFP_STR_MAP_NONE; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (plane->line_count && tfp_str_starts(plane->name, "/device:") &&
		    tfp_str_map_find(devices, plane->name.data, plane->name.size) ==
			    TFP_STR_MAP_NONE &&
		    tfp_str_map_add(devices, plane->name.data, plane->name.size, (uint32_t)p) ==
			    TFP_STR_MAP_NONE)
			return false;
	}
	return true;
}

static bool place_allocators(struct tfp_derived_memory *m, const struct tfp_capture *capture)
{
	struct tfp_str_map devices = {0};
	const size_t host = (size_t)(m->memory->plane - capture->planes);
	m->first = tfp_calloc(capture->plane_count, sizeof(*m->first));
	m->next = tfp_calloc(m->memory->allocator_count, sizeof(*m->next));
	bool ok = m->first && m->next && map_devices(capture, &devices);
	/* Backward, so that the lists are in the order of ids. */
	for (size_t i = m->memory->allocator_count; ok && i-- > 0;) {
		char name[32];
		uint32_t device = TFP_STR_MAP_NONE;
		const struct tfp_allocator *a = &m->memory->allocators[i];
		/* Some never say what is in use. */
		if (!a->has_peak || a->used_bytes[a->peak] == 0)
			continue;
		if (device_name(a->id, name))
			device = tfp_str_map_find(&devices, name, strlen(name));
		size_t plane = device == TFP_STR_MAP_NONE ? host : device;
		m->next[i] = m->first[plane];
		m->first[plane] = (uint32_t)i + 1;
	}
	tfp_str_map_release(&devices);
	return ok;
}

enum tfp_status tfp_derived_memory_get(struct tfp_capture *capture, struct tfp_pool *pool,
				       struct tfp_derived_memory *out, struct tfp_error *err)
{
	struct tfp_capture_start start;
	*out = (struct tfp_derived_memory){0};
	enum tfp_status status = tfp_memory_on_clock_get(capture, pool, &out->memory, err);
	if (status != TFP_OK || out->memory->allocator_count == 0)
		return status;
	status = tfp_capture_start(capture, &start, err);
	if (status != TFP_OK || !start.any)
		return status;
	out->begin_ps = start.begin_ps;
	if (!place_allocators(out, capture))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
	return status;
}

void tfp_derived_memory_release(struct tfp_derived_memory *memory)
{
	tfp_free(memory->first);
	tfp_free(memory->next);
	*memory = (struct tfp_derived_memory){0};
}

/* ---- its counters ---- */

/* An allocator whose events are put in the order of time with those of others. */
struct head {
	const struct tfp_allocator *allocator;
	size_t at;
	uint32_t name;
};

static int64_t time_of(const struct head *h)
{
	return h->allocator->time_ps[h->at];
}

/* The earlier on top; of equals the first by id. */
static bool comes_before(const struct head *a, const struct head *b)
{
	return time_of(a) != time_of(b) ? time_of(a) < time_of(b) : a->allocator < b->allocator;
}

static void sink(struct head *heap, size_t count, size_t i)
{
	for (;;) {
		size_t least = i;
		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++) {
			if (comes_before(&heap[child], &heap[least]))
				least = child;
		}
		if (least == i)
			return;
		struct head other = heap[i];
		heap[i] = heap[least];
		heap[least] = other;
		i = least;
	}
}

static int64_t on_capture(const struct tfp_memory *memory, int64_t time_ps)
{
	int64_t ps;
	if (__builtin_add_overflow(memory->origin_ps, time_ps, &ps))
		return time_ps < 0 ? INT64_MIN : INT64_MAX;
	return ps;
}

/* The last event at or before the begin stands for all before it. */
static size_t first_event(const struct tfp_memory *memory, const struct tfp_allocator *a,
			  int64_t begin_ps)
{
	size_t low = 0, high = a->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (on_capture(memory, a->time_ps[middle]) <= begin_ps)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

static uint32_t counter_name(struct tfp_derived_plane *out, struct tfp_str id)
{
	struct tfp_buf text;
	tfp_buf_init(&text, SIZE_MAX / 2);
	tfp_buf_printf(&text, "%s", TFP_DERIVED_MEMORY_PREFIX);
	tfp_buf_add(&text, id.size ? id.data : "", id.size);
	out->failed |= tfp_buf_failed(&text);
	uint32_t name = tfp_derived_name(out, id, (struct tfp_str){tfp_buf_text(&text), text.size});
	tfp_buf_release(&text);
	return name;
}

static void put_samples(struct tfp_derived_plane *out, struct head *heap, size_t count,
			const struct tfp_memory *memory, int64_t begin_ps)
{
	struct tfp_derived_line line;
	tfp_derived_line_init(&line, out, false);
	for (size_t i = count / 2; i-- > 0;)
		sink(heap, count, i);
	for (size_t i = 0; count && tfp_derived_goes_on(out, i); i++) {
		struct head *h = &heap[0];
		int64_t ps = on_capture(memory, time_of(h));
		if (ps < begin_ps)
			ps = begin_ps;
		size_t event = tfp_derived_add(&line, h->name, (struct tfp_derived_span){ps, ps},
					       TFP_NO_GROUP);
		if (event != SIZE_MAX)
			tfp_derived_put_int(&line, event, TFP_DERIVED_BYTES_IN_USE,
					    h->allocator->used_bytes[h->at]);
		if (++h->at == h->allocator->count)
			*h = heap[--count];
		sink(heap, count, 0);
	}
	tfp_derived_line_write(&line, 0, 0,
			       (struct tfp_str){"_counters_", sizeof("_counters_") - 1});
	tfp_derived_line_release(&line);
}

enum tfp_status tfp_derive_memory(struct tfp_derived_plane *out, const struct tfp_derived_memory *m,
				  size_t plane, struct tfp_error *err)
{
	size_t count = 0, at = 0;
	for (uint32_t i = m->first ? m->first[plane] : 0; i; i = m->next[i - 1])
		count++;
	if (count == 0)
		return TFP_OK;
	struct head *heap = tfp_reallocarray(NULL, count, sizeof(*heap));
	if (!heap)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for derived lines");
	for (uint32_t i = m->first[plane]; i; i = m->next[i - 1]) {
		const struct tfp_allocator *a = &m->memory->allocators[i - 1];
		heap[at++] = (struct head){a, first_event(m->memory, a, m->begin_ps),
					   counter_name(out, a->id)};
	}
	put_samples(out, heap, count, m->memory, m->begin_ps);
	tfp_free(heap);
	return TFP_OK;
}
