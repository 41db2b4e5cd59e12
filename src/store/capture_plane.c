/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include "base/alloc.h"

#include <stdlib.h>

bool tfp_bytes_or_part(struct tfp_pb_cursor *c, struct tfp_span *span, bool *cut)
{
	uint64_t length;
	*cut = false;
	if (!tfp_pb_varint(c, &length))
		return false;
	size_t there = (size_t)(c->end - c->at);
	if (length > there) {
		*cut = true;
		length = there;
	}
	*span = (struct tfp_span){c->at, (size_t)length};
	c->at += length;
	return true;
}

static int compare_ids(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return x[0] < y[0] ? -1 : x[0] > y[0];
}

void *tfp_capture_count_heap(struct tfp_capture_parts *c, void *memory, size_t bytes)
{
	if (memory)
		__atomic_fetch_add(&c->pub.heap_bytes, bytes, __ATOMIC_RELAXED);
	else
		atomic_store(&c->no_memory, true);
	return memory;
}

/* ids: of the metadata 1..count in file order. A later one replaces an earlier
 * one of the same id, as in any protobuf map. Sets keys or a dense table. */
static bool build_id_map(struct tfp_capture_parts *c, struct tfp_id_map *map, const int64_t *ids,
			 size_t count)
{
	int64_t largest = -1, smallest = 0;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] > largest)
			largest = ids[i];
		if (ids[i] < smallest)
			smallest = ids[i];
	}
	*map = (struct tfp_id_map){0};
	if (count == 0)
		return true;
	if (smallest >= 0 && (uint64_t)largest < count * 4 + 1024) {
		size_t room = (size_t)largest + 1;
		uint32_t *dense = tfp_capture_count_heap(c, tfp_calloc(room, sizeof(*dense)),
							 room * sizeof(*dense));
		if (!dense)
			return false;
		for (size_t i = 0; i < count; i++)
			dense[ids[i]] = (uint32_t)(i + 1);
		*map = (struct tfp_id_map){NULL, dense, room, true};
		return true;
	}
	int64_t(*pairs)[2] = tfp_reallocarray(NULL, count, sizeof(*pairs));
	int64_t *keys = tfp_reallocarray(NULL, count, sizeof(*keys));
	uint32_t *indexes = tfp_reallocarray(NULL, count, sizeof(*indexes));
	if (!pairs || !keys || !indexes) {
		tfp_free(pairs);
		tfp_free(keys);
		tfp_free(indexes);
		tfp_capture_count_heap(c, NULL, 0);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		pairs[i][0] = ids[i];
		pairs[i][1] = (int64_t)i + 1;
	}
	qsort(pairs, count, sizeof(*pairs), compare_ids);
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t index = (uint32_t)pairs[i][1];
		if (n && keys[n - 1] == pairs[i][0]) {
			if (indexes[n - 1] < index)
				indexes[n - 1] = index;
			continue;
		}
		keys[n] = pairs[i][0];
		indexes[n++] = index;
	}
	tfp_free(pairs);
	tfp_capture_count_heap(c, keys, count * sizeof(*keys));
	tfp_capture_count_heap(c, indexes, count * sizeof(*indexes));
	*map = (struct tfp_id_map){keys, indexes, n, false};
	return true;
}

/* A map entry {key, value}; false when it is damaged. */
static bool read_entry(struct tfp_span entry, int64_t *key, struct tfp_span *value)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(entry.data, entry.size);
	uint32_t tag;
	*key = 0;
	*value = (struct tfp_span){NULL, 0};
	while (tfp_pb_next(&c, &tag)) {
		if (tag == VARINT(MAP_KEY))
			tfp_pb_int64(&c, key);
		else if (tag == BYTES(MAP_VALUE))
			tfp_pb_bytes(&c, &value->data, &value->size);
		else
			tfp_pb_skip(&c, tag);
	}
	return c.damage == TFP_PB_SOUND;
}

static bool read_meta(struct tfp_span message, struct tfp_str *name, struct tfp_str *display_name)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	const uint8_t *data;
	size_t size;
	uint32_t tag;
	*name = *display_name = (struct tfp_str){"", 0};
	while (tfp_pb_next(&c, &tag)) {
		if (tag == BYTES(META_NAME)) {
			if (tfp_pb_bytes(&c, &data, &size))
				*name = tfp_str(data, size);
		} else if (tag == BYTES(META_DISPLAY_NAME)) {
			if (tfp_pb_bytes(&c, &data, &size))
				*display_name = tfp_str(data, size);
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	return c.damage == TFP_PB_SOUND;
}

struct counts {
	size_t lines, event_metas, stat_metas;
};

static struct counts count_fields(struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	struct counts n = {0};
	struct tfp_span span;
	uint32_t tag;
	bool cut;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == BYTES(PLANE_LINES)) {
			n.lines += tfp_bytes_or_part(&c, &span, &cut);
		} else if (tag == BYTES(PLANE_EVENT_METADATA)) {
			n.event_metas++;
			tfp_pb_skip(&c, tag);
		} else if (tag == BYTES(PLANE_STAT_METADATA)) {
			n.stat_metas++;
			tfp_pb_skip(&c, tag);
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	return n;
}

static void bad_metadata(struct tfp_plane_state *s, const uint8_t *at)
{
	if (s->bad_metadata++ == 0)
		s->bad_metadata_at = at;
}

void tfp_plane_read(struct tfp_capture_parts *cap, struct tfp_plane *plane,
		    struct tfp_plane_state *s)
{
	struct counts n = count_fields(plane->message);
	struct tfp_pb_cursor c = tfp_pb_cursor(plane->message.data, plane->message.size);
	size_t events = 1, stats = 1; /* [0] is the unknown one */
	size_t most = n.event_metas > n.stat_metas ? n.event_metas : n.stat_metas;
	int64_t *ids = NULL;
	uint32_t tag;

	plane->name = (struct tfp_str){"", 0};
	size_t metas = n.event_metas + n.stat_metas;
	if (atomic_fetch_add(&cap->lines, n.lines) + n.lines > TFP_MAX_LINES ||
	    atomic_fetch_add(&cap->metas, metas) + metas > TFP_MAX_METAS) {
		atomic_store(&cap->too_many, true);
		return;
	}
	struct tfp_event_meta *event_metas =
		tfp_capture_count_heap(cap, tfp_calloc(n.event_metas + 1, sizeof(*event_metas)),
				       (n.event_metas + 1) * sizeof(*event_metas));
	struct tfp_stat_meta *stat_metas =
		tfp_capture_count_heap(cap, tfp_calloc(n.stat_metas + 1, sizeof(*stat_metas)),
				       (n.stat_metas + 1) * sizeof(*stat_metas));
	s->event_metas = event_metas;
	s->stat_metas = stat_metas;
	s->lines = tfp_capture_count_heap(cap, tfp_calloc(n.lines, sizeof(*s->lines)),
					  n.lines * sizeof(*s->lines));
	s->line_states = tfp_capture_count_heap(cap, tfp_calloc(n.lines, sizeof(*s->line_states)),
						n.lines * sizeof(*s->line_states));
	ids = tfp_reallocarray(NULL, most + 1, sizeof(*ids));
	if (!event_metas || !stat_metas || !s->lines || !s->line_states || !ids)
		goto no_memory;
	event_metas[0].name = event_metas[0].display_name = (struct tfp_str){"", 0};
	stat_metas[0].name = (struct tfp_str){"", 0};

	/* Entries that were not there when they were counted are left out: another program writes
	 * to the file while it is read. */
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span span, value;
		struct tfp_str ignored;
		int64_t key;
		bool cut;
		switch (tag) {
		case VARINT(PLANE_ID):
			tfp_pb_int64(&c, &plane->id);
			break;
		case BYTES(PLANE_NAME):
			if (tfp_pb_bytes(&c, &span.data, &span.size))
				plane->name = tfp_str(span.data, span.size);
			break;
		case BYTES(PLANE_LINES):
			if (plane->line_count == n.lines) {
				tfp_pb_stop(&c, TFP_PB_LENGTH, c.at);
			} else if (tfp_bytes_or_part(&c, &span, &cut)) {
				s->line_states[plane->line_count].damage.cut = cut;
				s->lines[plane->line_count++].message = span;
			}
			break;
		case BYTES(PLANE_EVENT_METADATA):
			if (!tfp_pb_bytes(&c, &span.data, &span.size))
				break;
			if (events > n.event_metas) {
				tfp_pb_stop(&c, TFP_PB_LENGTH, span.data);
				break;
			}
			if (!read_entry(span, &key, &value) ||
			    !read_meta(value, &event_metas[events].name,
				       &event_metas[events].display_name)) {
				bad_metadata(s, span.data);
				break;
			}
			event_metas[events].id = key;
			event_metas[events++].message = value;
			break;
		case BYTES(PLANE_STAT_METADATA):
			if (!tfp_pb_bytes(&c, &span.data, &span.size))
				break;
			if (stats > n.stat_metas) {
				tfp_pb_stop(&c, TFP_PB_LENGTH, span.data);
				break;
			}
			if (!read_entry(span, &key, &value) ||
			    !read_meta(value, &stat_metas[stats].name, &ignored)) {
				bad_metadata(s, span.data);
				break;
			}
			stat_metas[stats++].id = key;
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	s->damage.kind = c.damage;
	s->damage.at = c.damage_at;
	plane->lines = s->lines;
	plane->event_metas = event_metas;
	plane->event_meta_count = events;
	plane->stat_metas = stat_metas;
	plane->stat_meta_count = stats;
	for (size_t i = 1; i < events; i++)
		ids[i - 1] = event_metas[i].id;
	if (!build_id_map(cap, &plane->event_meta_ids, ids, events - 1))
		goto no_memory;
	for (size_t i = 1; i < stats; i++)
		ids[i - 1] = stat_metas[i].id;
	if (!build_id_map(cap, &plane->stat_meta_ids, ids, stats - 1))
		goto no_memory;
	tfp_free(ids);
	return;

no_memory:
	tfp_free(ids);
	plane->line_count = 0;
	atomic_store(&cap->no_memory, true);
}

void tfp_plane_release(struct tfp_plane *plane, struct tfp_plane_state *s)
{
	for (size_t l = 0; s->line_states && l < plane->line_count; l++)
		tfp_columns_release(&s->line_states[l].columns);
	tfp_free(s->lines);
	tfp_free(s->line_states);
	tfp_free(s->event_metas);
	tfp_free(s->stat_metas);
	tfp_free((void *)(uintptr_t)plane->event_meta_ids.keys);
	tfp_free((void *)(uintptr_t)plane->event_meta_ids.indexes);
	tfp_free((void *)(uintptr_t)plane->stat_meta_ids.keys);
	tfp_free((void *)(uintptr_t)plane->stat_meta_ids.indexes);
}
