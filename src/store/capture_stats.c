/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include <string.h>

uint32_t tfp_id_map_search(const struct tfp_id_map *map, int64_t id)
{
	size_t low = 0, high = map->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (map->keys[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->count && map->keys[low] == id ? map->indexes[low] : TFP_META_UNKNOWN;
}

const struct tfp_plane *tfp_capture_find_plane(const struct tfp_capture *capture, const char *name)
{
	for (size_t p = 0; p < capture->plane_count; p++) {
		if (tfp_str_equal(capture->planes[p].name, name))
			return &capture->planes[p];
	}
	return NULL;
}

struct tfp_span tfp_event_message(const struct tfp_line *line, size_t i)
{
	uint64_t at = tfp_event_at(line, i);
	struct tfp_pb_cursor c = tfp_pb_cursor(line->message.data + at, line->message.size - at);
	struct tfp_span span = {NULL, 0};
	/* Read without damage before, so it cannot fail now. */
	tfp_pb_bytes(&c, &span.data, &span.size);
	return span;
}

static struct tfp_stat_iter stats_of(struct tfp_span message, uint32_t field)
{
	return (struct tfp_stat_iter){tfp_pb_cursor(message.data, message.size), field};
}

struct tfp_stat_iter tfp_event_stats(const struct tfp_line *line, size_t i)
{
	return stats_of(tfp_event_message(line, i), EVENT_STATS);
}

struct tfp_stat_iter tfp_event_meta_stats(const struct tfp_event_meta *meta)
{
	return stats_of(meta->message, META_STATS);
}

struct tfp_stat_iter tfp_plane_stats(const struct tfp_plane *plane)
{
	return stats_of(plane->message, PLANE_STATS);
}

static bool read_stat(const uint8_t *data, size_t size, struct tfp_stat *stat)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(data, size);
	uint32_t tag;
	*stat = (struct tfp_stat){0};
	while (tfp_pb_next(&c, &tag)) {
		const uint8_t *text;
		size_t text_size;
		switch (tag) {
		case VARINT(STAT_METADATA_ID):
			tfp_pb_int64(&c, &stat->metadata_id);
			break;
		case TFP_PB_TAG(STAT_DOUBLE, TFP_PB_FIXED64):
			stat->kind = TFP_STAT_DOUBLE;
			tfp_pb_double(&c, &stat->double_value);
			break;
		case VARINT(STAT_UINT):
			stat->kind = TFP_STAT_UINT;
			tfp_pb_varint(&c, &stat->uint_value);
			break;
		case VARINT(STAT_INT):
			stat->kind = TFP_STAT_INT;
			tfp_pb_int64(&c, &stat->int_value);
			break;
		case BYTES(STAT_STR):
		case BYTES(STAT_BYTES):
			stat->kind = tag == BYTES(STAT_STR) ? TFP_STAT_STR : TFP_STAT_BYTES;
			if (tfp_pb_bytes(&c, &text, &text_size))
				stat->text = tfp_str(text, text_size);
			break;
		case VARINT(STAT_REF):
			stat->kind = TFP_STAT_REF;
			tfp_pb_varint(&c, &stat->uint_value);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	return c.damage == TFP_PB_SOUND;
}

/* The number that a stat ends with, which is all that is left of it. Before it are four
 * bytes at least, the stat's length among them, so that what is read at once ends with it
 * and begins within the capture. */
static inline bool last_number(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	const uint64_t tops = UINT64_C(0x8080808080808080);
	size_t size = (size_t)(end - at);
	uint64_t word;
	if (size == 1) {
		*value = *at;
		return *at < 0x80;
	}
	if (size < 4 || size > 8) {
		struct tfp_pb_cursor c = tfp_pb_cursor(at, size);
		return tfp_pb_varint(&c, value) && c.at == c.end;
	}
	memcpy(&word, end - sizeof(word), sizeof(word));
	word >>= 64 - 8 * size;
	if ((word & tops) != tops >> (72 - 8 * size))
		return false;
	*value = tfp_pb_join_sevens(word & ~tops);
	return true;
}

/* The value of a stat where it is one of those that nearly all are, and all that is left;
 * false for any other form, with nothing decided. */
static inline bool read_usual_value(const uint8_t *at, const uint8_t *end, struct tfp_stat *stat)
{
	switch (*at++) {
	case VARINT(STAT_UINT):
		stat->kind = TFP_STAT_UINT;
		return last_number(at, end, &stat->uint_value);
	case VARINT(STAT_INT):
		stat->kind = TFP_STAT_INT;
		return last_number(at, end, &stat->uint_value);
	case VARINT(STAT_REF):
		stat->kind = TFP_STAT_REF;
		return last_number(at, end, &stat->uint_value);
	case BYTES(STAT_STR): {
		struct tfp_pb_cursor c = tfp_pb_cursor(at, (size_t)(end - at));
		const uint8_t *text;
		size_t size;
		if (!tfp_pb_bytes(&c, &text, &size) || c.at != c.end)
			return false;
		stat->kind = TFP_STAT_STR;
		stat->text = tfp_str(text, size);
		return true;
	}
	default:
		return false;
	}
}

/* As every writer writes a stat: its id, then one value, and nothing else. false for
 * any other form, with nothing decided. Analyses read tens of millions of stats,
 * and this is half of their time. */
static inline bool read_usual_stat(const uint8_t *data, size_t size, struct tfp_stat *stat)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(data, size);
	if (size < 3 || data[0] != VARINT(STAT_METADATA_ID))
		return false;
	c.at++;
	return tfp_pb_int64(&c, &stat->metadata_id) && c.at != c.end &&
	       read_usual_value(c.at, c.end, stat);
}

bool tfp_stat_next(struct tfp_stat_iter *it, struct tfp_stat *stat)
{
	uint32_t tag, wanted = TFP_PB_TAG(it->field, TFP_PB_BYTES);
	while (tfp_pb_next(&it->cursor, &tag)) {
		const uint8_t *data;
		size_t size;
		if (tag != wanted)
			tfp_pb_skip(&it->cursor, tag);
		else if (tfp_pb_bytes(&it->cursor, &data, &size))
			return read_usual_stat(data, size, stat) || read_stat(data, size, stat);
	}
	return false;
}

/* Behind a number, or NULL where none ends before end. */
static inline const uint8_t *after_number(const uint8_t *at, const uint8_t *end)
{
	if (end - at >= 8) {
		uint64_t bytes;
		memcpy(&bytes, at, sizeof(bytes));
		uint64_t last = ~bytes & UINT64_C(0x8080808080808080);
		return last ? at + 1 + __builtin_ctzll(last) / 8 : NULL;
	}
	while (at != end && *at >= 0x80)
		at++;
	return at == end ? NULL : at + 1;
}

/* A stat of less than 128 bytes that begins with the key of its metadata, in one or two
 * bytes: as every writer writes them. Behind its tag is data; end is the message's. The value
 * begins at value, or this is NULL where it is anything else. */
struct usual {
	const uint8_t *value, *end;
	int64_t key;
};

static inline struct usual usual_stat(const uint8_t *data, const uint8_t *end)
{
	struct usual u = {NULL, NULL, 0};
	if (end - data < 4 || data[0] < 4 || data[0] > end - data - 1 || data[0] >= 0x80 ||
	    data[1] != VARINT(STAT_METADATA_ID))
		return u;
	u.end = data + 1 + data[0];
	u.key = data[2];
	if (data[2] < 0x80) {
		u.value = data + 3;
	} else if (data[3] < 0x80) {
		u.value = data + 4;
		u.key = (data[2] & 0x7f) | (int64_t)data[3] << 7;
	}
	return u;
}

/* The general case of tfp_stat_next_of: the next field, however it is written. *number is
 * that of a stat. false at the end. */
static bool next_field(struct tfp_stat_iter *it, const struct tfp_id_map *ids,
		       const uint8_t *wanted, struct tfp_stat *stat, unsigned *number)
{
	struct tfp_pb_cursor *c = &it->cursor;
	const uint8_t *data;
	size_t size;
	uint32_t tag;
	*number = 0;
	if (!tfp_pb_next(c, &tag))
		return false;
	if (tag != TFP_PB_TAG(it->field, TFP_PB_BYTES))
		return tfp_pb_skip(c, tag);
	if (!tfp_pb_bytes(c, &data, &size) || !read_stat(data, size, stat))
		return false;
	*number = wanted[tfp_id_map_find(ids, stat->metadata_id)];
	return true;
}

unsigned tfp_stat_next_of(struct tfp_stat_iter *it, const struct tfp_id_map *ids,
			  const uint8_t *wanted, struct tfp_stat *stat)
{
	const uint32_t stats = TFP_PB_TAG(it->field, TFP_PB_BYTES);
	const uint8_t *at = it->cursor.at, *const end = it->cursor.end;
	while (at != end) {
		unsigned number = 0;
		if (*at == stats) {
			struct usual u = usual_stat(at + 1, end);
			if (u.value && !(number = wanted[tfp_id_map_find(ids, u.key)])) {
				at = u.end;
				continue;
			}
			if (u.value && read_usual_value(u.value, u.end, stat)) {
				stat->metadata_id = u.key;
				it->cursor.at = u.end;
				return number;
			}
		} else if (TFP_PB_WIRE(*at) == TFP_PB_VARINT && *at >= 8 && *at < 0x80) {
			const uint8_t *next = after_number(at + 1, end);
			if (next) {
				at = next;
				continue;
			}
		}
		it->cursor.at = at;
		if (!next_field(it, ids, wanted, stat, &number))
			return 0;
		if (number)
			return number;
		at = it->cursor.at;
	}
	it->cursor.at = end;
	return 0;
}

static bool is_text(const struct tfp_stat *stat)
{
	return stat->kind == TFP_STAT_STR || stat->kind == TFP_STAT_REF;
}

bool tfp_stat_next_text(struct tfp_stat_iter *it, struct tfp_stat *stat)
{
	const uint32_t stats = TFP_PB_TAG(it->field, TFP_PB_BYTES);
	const uint8_t *at = it->cursor.at, *const end = it->cursor.end;
	while (at != end) {
		if (*at == stats) {
			struct usual u = usual_stat(at + 1, end);
			if (u.value && read_usual_value(u.value, u.end, stat)) {
				at = u.end;
				if (!is_text(stat))
					continue;
				stat->metadata_id = u.key;
				it->cursor.at = at;
				return true;
			}
		} else if (TFP_PB_WIRE(*at) == TFP_PB_VARINT && *at >= 8 && *at < 0x80) {
			const uint8_t *next = after_number(at + 1, end);
			if (next) {
				at = next;
				continue;
			}
		}
		it->cursor.at = at;
		if (!tfp_stat_next(it, stat))
			return false;
		if (is_text(stat))
			return true;
		at = it->cursor.at;
	}
	it->cursor.at = end;
	return false;
}

int64_t tfp_plane_stat_id(const struct tfp_plane *plane, const char *name)
{
	for (size_t i = 1; i < plane->stat_meta_count; i++) {
		const struct tfp_stat_meta *meta = &plane->stat_metas[i];
		if (tfp_str_equal(meta->name, name) &&
		    tfp_id_map_find(&plane->stat_meta_ids, meta->id) == i)
			return meta->id;
	}
	return INT64_MIN;
}

bool tfp_stat_int(const struct tfp_stat *stat, int64_t *value)
{
	if (stat->kind != TFP_STAT_INT && stat->kind != TFP_STAT_UINT)
		return false;
	*value = stat->int_value;
	return true;
}

bool tfp_stat_double(const struct tfp_stat *stat, double *value)
{
	switch (stat->kind) {
	case TFP_STAT_DOUBLE:
		*value = stat->double_value;
		return true;
	case TFP_STAT_INT:
		*value = (double)stat->int_value;
		return true;
	case TFP_STAT_UINT:
		*value = (double)stat->uint_value;
		return true;
	default:
		return false;
	}
}

bool tfp_stat_text(const struct tfp_plane *plane, const struct tfp_stat *stat,
		   struct tfp_str *value)
{
	uint32_t index;
	switch (stat->kind) {
	case TFP_STAT_STR:
		*value = stat->text;
		return true;
	case TFP_STAT_REF:
		index = tfp_id_map_find(&plane->stat_meta_ids, (int64_t)stat->uint_value);
		*value = plane->stat_metas[index].name;
		return true;
	default:
		return false;
	}
}

int tfp_str_compare(struct tfp_str a, struct tfp_str b)
{
	size_t n = a.size < b.size ? a.size : b.size;
	int order = n ? memcmp(a.data, b.data, n) : 0;
	if (order)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}
