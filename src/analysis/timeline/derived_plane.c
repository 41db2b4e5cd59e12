/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_plane.h"

#include "analysis/events/memo.h"
#include "analysis/grouping/groups.h"
#include "base/alloc.h"
#include "store/xplane_fields.h"
#include "wire/pb_writer.h"

#include <string.h>

static const char *const stat_names[TFP_DERIVED_STATS] = {
	[TFP_DERIVED_GROUP_ID] = "group_id",
	[TFP_DERIVED_STEP_NAME] = "step_name",
	[TFP_DERIVED_CORRELATION_ID] = "correlation_id",
	[TFP_DERIVED_CUDA_GRAPH_ID] = "cuda_graph_id",
	[TFP_DERIVED_NUM_LAUNCHES] = "num_launches",
	[TFP_DERIVED_MAX_LAUNCH_TIME_US] = "max_launch_time_us",
	[TFP_DERIVED_AVG_LAUNCH_TIME_US] = "avg_launch_time_us",
	[TFP_DERIVED_IS_ASYNC] = "_a",
	[TFP_DERIVED_RAW_BYTES_ACCESSED] = "raw_bytes_accessed",
	[TFP_DERIVED_SHAPE_WITH_LAYOUT] = "shape_with_layout",
	[TFP_DERIVED_CONSUMER_TYPE] = "_ct",
	[TFP_DERIVED_CONSUMER_ID] = "_c",
	[TFP_DERIVED_BYTES_IN_USE] = "bytes_in_use",
};

/* ---- the plane ---- */

void tfp_derived_plane_init(struct tfp_derived_plane *plane, struct tfp_str name, int64_t id,
			    int64_t start_ns, size_t ceiling)
{
	*plane = (struct tfp_derived_plane){.name = name, .id = id, .start_ns = start_ns};
	tfp_arena_init(&plane->arena, SIZE_MAX);
	tfp_buf_init(&plane->lines, ceiling);
}

void tfp_derived_plane_release(struct tfp_derived_plane *plane)
{
	for (size_t l = 0; l < plane->line_count; l++)
		tfp_made_line_free(plane->made[l]);
	tfp_free(plane->made);
	tfp_free(plane->names);
	tfp_str_map_release(&plane->by_name);
	tfp_buf_release(&plane->lines);
	tfp_arena_release(&plane->arena);
}

static struct tfp_str keep(struct tfp_derived_plane *plane, struct tfp_str s)
{
	char *copy = tfp_arena_strndup(&plane->arena, s.size ? s.data : "", s.size);
	if (!copy)
		plane->failed = true;
	return (struct tfp_str){copy ? copy : "", copy ? s.size : 0};
}

uint32_t tfp_derived_name(struct tfp_derived_plane *plane, struct tfp_str text,
			  struct tfp_str display)
{
	/* Names that only have a display name are told apart by that. The zero byte
	 * keeps the two kinds of keys apart. */
	struct tfp_str key = text;
	char small[256], *large = NULL;
	if (text.size == 0 && display.size) {
		char *to = small;
		if (display.size >= sizeof(small))
			to = large = tfp_malloc(display.size + 1);
		if (!to) {
			plane->failed = true;
			return 0;
		}
		to[0] = '\0';
		memcpy(to + 1, display.data, display.size);
		key = (struct tfp_str){to, display.size + 1};
	}
	uint32_t found = tfp_str_map_find(&plane->by_name, key.data, key.size);
	if (found != TFP_STR_MAP_NONE) {
		tfp_free(large);
		if (display.size && plane->names[found].display.size == 0)
			plane->names[found].display = keep(plane, display);
		return found;
	}
	if (!TFP_GROW(plane->names, plane->name_count, plane->name_room)) {
		tfp_free(large);
		plane->failed = true;
		return 0;
	}
	key = keep(plane, key);
	tfp_free(large);
	found = plane->name_count;
	plane->names[found].name = text.size ? key : (struct tfp_str){"", 0};
	plane->names[found].display = keep(plane, display);
	if (plane->failed || tfp_str_map_add(&plane->by_name, key.data, key.size, found) != found)
		plane->failed = true;
	else
		plane->name_count++;
	return plane->failed ? 0 : found;
}

static void put_metadata(struct tfp_buf *b, uint32_t field, int64_t id, struct tfp_str name,
			 struct tfp_str display)
{
	size_t entry = tfp_pb_begin(b, field);
	tfp_pb_put_int(b, MAP_KEY, id);
	size_t value = tfp_pb_begin(b, MAP_VALUE);
	tfp_pb_put_int(b, META_ID, id);
	tfp_pb_put_bytes(b, META_NAME, name.data, name.size);
	if (display.size)
		tfp_pb_put_bytes(b, META_DISPLAY_NAME, display.data, display.size);
	tfp_pb_end(b, value);
	tfp_pb_end(b, entry);
}

bool tfp_derived_plane_finish(struct tfp_derived_plane *plane, struct tfp_buf *space)
{
	struct tfp_buf *b = &plane->lines;
	const struct tfp_str none = {"", 0};
	if (plane->line_count) {
		tfp_pb_put_int(b, PLANE_ID, plane->id);
		tfp_pb_put_bytes(b, PLANE_NAME, plane->name.data, plane->name.size);
		for (uint32_t i = 0; i < plane->name_count; i++)
			put_metadata(b, PLANE_EVENT_METADATA, (int64_t)i + 1, plane->names[i].name,
				     plane->names[i].display);
		for (int i = 0; i < TFP_DERIVED_STATS; i++)
			put_metadata(b, PLANE_STAT_METADATA, i + 1,
				     (struct tfp_str){stat_names[i], strlen(stat_names[i])}, none);
		tfp_pb_put_bytes(space, SPACE_PLANES, b->data, b->size);
	}
	return !plane->failed && !tfp_buf_failed(b) && !tfp_buf_failed(space);
}

/* ---- events of a line ---- */

void tfp_derived_line_init(struct tfp_derived_line *line, struct tfp_derived_plane *plane,
			   bool joins_any_gap)
{
	*line = (struct tfp_derived_line){.plane = plane, .joins_any_gap = joins_any_gap};
	tfp_buf_init(&line->extras, UINT32_MAX - 1);
	tfp_buf_init(&line->stats, UINT32_MAX - 1);
}

void tfp_derived_line_release(struct tfp_derived_line *line)
{
	tfp_free(line->events);
	tfp_free(line->levels);
	tfp_made_line_free(line->made);
	tfp_free(line->memo);
	tfp_buf_release(&line->extras);
	tfp_buf_release(&line->stats);
	*line = (struct tfp_derived_line){0};
}

/* At least so many events wait before those that do not change any more are made. */
#define EVENTS_AT_ONCE 4096u

/* The first event that may change. */
static size_t first_open(const struct tfp_derived_line *line)
{
	size_t first = line->count;
	for (size_t i = 0; i < line->level_count; i++) {
		if (line->levels[i].open && line->levels[i].event < first)
			first = line->levels[i].event;
	}
	return first;
}

static void make_events(struct tfp_derived_line *line, size_t end);

size_t tfp_derived_add(struct tfp_derived_line *line, uint32_t name, struct tfp_derived_span span,
		       int32_t group)
{
	size_t here = line->count - line->made_count;
	if (here == line->room && here >= EVENTS_AT_ONCE && !line->is_kept) {
		make_events(line, first_open(line));
		here = line->count - line->made_count;
	}
	if (line->plane->failed || !TFP_GROW(line->events, here, line->room)) {
		line->plane->failed = true;
		return SIZE_MAX;
	}
	if (span.end_ps < span.begin_ps)
		span.end_ps = span.begin_ps;
	line->events[here] = (struct tfp_derived_event){span, name, group, 0, 0};
	return line->count++;
}

/* Whether stats can be put for this event; begins its part of the extras. */
static bool begin_stat(struct tfp_derived_line *line, size_t event)
{
	if (event >= line->count || event < line->made_count)
		return false;
	struct tfp_derived_event *e = tfp_derived_event_at(line, event);
	if (e->extra == 0)
		e->extra = (uint32_t)line->extras.size + 1;
	return true;
}

static void end_stat(struct tfp_derived_line *line, size_t event)
{
	struct tfp_derived_event *e = tfp_derived_event_at(line, event);
	e->extra_n = (uint32_t)line->extras.size + 1 - e->extra;
}

void tfp_derived_put_int(struct tfp_derived_line *line, size_t event, enum tfp_derived_stat stat,
			 int64_t value)
{
	if (!begin_stat(line, event))
		return;
	size_t mark = tfp_pb_begin(&line->extras, EVENT_STATS);
	tfp_pb_put_int(&line->extras, STAT_METADATA_ID, (int64_t)stat + 1);
	tfp_pb_put_int(&line->extras, STAT_INT, value);
	tfp_pb_end(&line->extras, mark);
	end_stat(line, event);
}

void tfp_derived_put_double(struct tfp_derived_line *line, size_t event, enum tfp_derived_stat stat,
			    double value)
{
	if (!begin_stat(line, event))
		return;
	size_t mark = tfp_pb_begin(&line->extras, EVENT_STATS);
	tfp_pb_put_int(&line->extras, STAT_METADATA_ID, (int64_t)stat + 1);
	tfp_pb_put_double(&line->extras, STAT_DOUBLE, value);
	tfp_pb_end(&line->extras, mark);
	end_stat(line, event);
}

void tfp_derived_put_text(struct tfp_derived_line *line, size_t event, enum tfp_derived_stat stat,
			  struct tfp_str value)
{
	if (!begin_stat(line, event))
		return;
	size_t mark = tfp_pb_begin(&line->extras, EVENT_STATS);
	tfp_pb_put_int(&line->extras, STAT_METADATA_ID, (int64_t)stat + 1);
	tfp_pb_put_bytes(&line->extras, STAT_STR, value.data, value.size);
	tfp_pb_end(&line->extras, mark);
	end_stat(line, event);
}

/* ---- joining ---- */

size_t tfp_derived_open_event(const struct tfp_derived_line *line, size_t level)
{
	return level < line->level_count && line->levels[level].open ? line->levels[level].event
								     : SIZE_MAX;
}

static bool same_span(struct tfp_derived_span a, struct tfp_derived_span b)
{
	return a.begin_ps == b.begin_ps && a.end_ps == b.end_ps;
}

/* As AdjustDurationForTraceViewer: a stack of events with one span is shown as
 * a stack only when the inner ones are shorter. */
static void shrink(struct tfp_derived_line *line, size_t level)
{
	size_t top = level;
	while (top < line->level_count && line->levels[top].open)
		top++;
	if (top <= level + 1)
		return;
	struct tfp_derived_span last =
		tfp_derived_event_at(line, line->levels[top - 1].event)->span;
	int64_t most_ns = (last.end_ps - last.begin_ps) / 1000 - 1, ns = 0;
	for (size_t i = level; i < top; i++) {
		struct tfp_derived_span *span =
			&tfp_derived_event_at(line, line->levels[i].event)->span;
		if (ns < most_ns && i > level && same_span(last, *span))
			ns++;
		last = *span;
		span->end_ps -= ns * 1000;
		if (span->end_ps < span->begin_ps)
			span->end_ps = span->begin_ps;
	}
}

void tfp_derived_close(struct tfp_derived_line *line, size_t level)
{
	shrink(line, level);
	for (size_t i = level; i < line->level_count; i++)
		line->levels[i].open = false;
	for (size_t i = 0; level == 0 && i < 2; i++) {
		if (line->dependents[i])
			tfp_derived_close(line->dependents[i], 0);
	}
}

static bool joins(const struct tfp_derived_line *line, const struct tfp_derived_level *level,
		  uint32_t name, const int64_t *range, struct tfp_derived_span span, int32_t group)
{
	if (!level->open)
		return false;
	const struct tfp_derived_event *e = tfp_derived_event_at(line, level->event);
	if (e->name != name || e->group != group)
		return false;
	if (range && level->has_range && *range != level->range)
		return false;
	if (line->joins_any_gap || group != TFP_NO_GROUP)
		return true;
	/* The gap in unsigned numbers, so that no clock can overflow it. */
	uint64_t lasts = (uint64_t)e->span.end_ps - (uint64_t)e->span.begin_ps;
	uint64_t gap = span.begin_ps > e->span.end_ps
			       ? (uint64_t)span.begin_ps - (uint64_t)e->span.end_ps
			       : 0;
	return gap / 2 + gap % 2 <= lasts;
}

static void expand_level(struct tfp_derived_line *line, uint32_t name, const int64_t *range,
			 struct tfp_derived_span span, int32_t group, size_t at)
{
	if (at >= line->level_count) {
		void *levels = tfp_reallocarray(line->levels, at + 1, sizeof(*line->levels));
		if (!levels) {
			line->plane->failed = true;
			return;
		}
		line->levels = levels;
		line->levels[at] = (struct tfp_derived_level){0};
		line->level_count = at + 1;
	}
	struct tfp_derived_level *level = &line->levels[at];
	if (joins(line, level, name, range, span, group)) {
		struct tfp_derived_span *open = &tfp_derived_event_at(line, level->event)->span;
		if (span.begin_ps < open->begin_ps)
			open->begin_ps = span.begin_ps;
		if (span.end_ps > open->end_ps)
			open->end_ps = span.end_ps;
		return;
	}
	tfp_derived_close(line, at);
	size_t event = tfp_derived_add(line, name, span, group);
	*level = (struct tfp_derived_level){event, range ? *range : 0, event != SIZE_MAX,
					    range != NULL};
}

void tfp_derived_expand_one(struct tfp_derived_line *line, uint32_t name, const int64_t *range_id,
			    struct tfp_derived_span span, int32_t group)
{
	expand_level(line, name, range_id, span, group, 0);
}

void tfp_derived_expand(struct tfp_derived_line *line, const uint32_t *names,
			const int64_t *range_ids, size_t count, struct tfp_derived_span span,
			int32_t group)
{
	if (count == 0)
		return;
	for (size_t i = 0; i < count && !line->plane->failed; i++)
		expand_level(line, names[i], range_ids ? &range_ids[i] : NULL, span, group, i);
	tfp_derived_close(line, count);
}

/* ---- writing ---- */

/* A line's events are in columns. Their messages lie in the line's message under a field that
 * readers do not take for events. */
#define LINE_MADE_STATS 15

/* Puts the message of an event; returns where its length is. */
static uint32_t put_stats(struct tfp_derived_line *line, const struct tfp_derived_event *e)
{
	struct tfp_buf *b = &line->stats;
	tfp_pb_key(b, LINE_MADE_STATS, TFP_PB_BYTES);
	uint32_t at = (uint32_t)b->size;
	size_t group_size = 0;
	if (e->group != TFP_NO_GROUP) /* keys of one byte each */
		group_size = 3 + tfp_pb_varint_size((uint64_t)(int64_t)e->group);
	tfp_pb_put_varint(b, (group_size ? 2 + group_size : 0) + (e->extra ? e->extra_n : 0));
	if (group_size) {
		tfp_pb_key(b, EVENT_STATS, TFP_PB_BYTES);
		tfp_pb_put_varint(b, group_size);
		tfp_pb_put_int(b, STAT_METADATA_ID, TFP_DERIVED_GROUP_ID + 1);
		tfp_pb_key(b, STAT_INT, TFP_PB_VARINT);
		tfp_pb_put_varint(b, (uint64_t)(int64_t)e->group);
	}
	if (e->extra)
		tfp_buf_add(b, line->extras.data + e->extra - 1, e->extra_n);
	return at;
}

/* Where what an event says is in the line's stats. */
static uint32_t stats_of(struct tfp_derived_line *line, const struct tfp_derived_event *e)
{
	const struct tfp_memo_key key = {{line, (const void *)(uintptr_t)(uint32_t)e->group}};
	uint32_t at;
	if (e->extra)
		return put_stats(line, e);
	if (tfp_memo_find(line->memo, &key, &at))
		return at;
	at = put_stats(line, e);
	tfp_memo_put(line->memo, &key, at);
	return at;
}

static int64_t minus(int64_t a, int64_t b)
{
	int64_t difference;
	return __builtin_sub_overflow(a, b, &difference) ? INT64_MAX : difference;
}

/* Makes the events before end, which do not change any more. */
static void make_events(struct tfp_derived_line *line, size_t end)
{
	struct tfp_derived_plane *plane = line->plane;
	size_t count = end - line->made_count;
	int64_t origin_ps;
	if (__builtin_mul_overflow(plane->start_ns, 1000, &origin_ps))
		origin_ps = plane->start_ns < 0 ? INT64_MIN : INT64_MAX;
	if (!line->made) {
		line->made = tfp_made_line_new();
		line->memo = tfp_memo_new(256);
	}
	plane->failed |= !line->made || !line->memo;
	for (size_t i = 0; i < count && !plane->failed; i++) {
		const struct tfp_derived_event *e = &line->events[i];
		plane->failed |= !tfp_made_line_add(line->made, minus(e->span.begin_ps, origin_ps),
						    minus(e->span.end_ps, e->span.begin_ps),
						    e->name + 1, stats_of(line, e));
	}
	if (end < line->count)
		memmove(line->events, line->events + count,
			(line->count - end) * sizeof(*line->events));
	line->made_count = end;
	plane->failed |= tfp_buf_failed(&line->stats);
}

static void put_line_head(struct tfp_buf *b, int64_t id, int64_t display_id, struct tfp_str name,
			  int64_t timestamp_ns)
{
	tfp_pb_put_int(b, LINE_ID, id);
	if (display_id)
		tfp_pb_put_int(b, LINE_DISPLAY_ID, display_id);
	tfp_pb_put_bytes(b, LINE_NAME, name.data, name.size);
	tfp_pb_put_int(b, LINE_TIMESTAMP_NS, timestamp_ns);
}

/* made: the line's events, taken over, or NULL. */
static void add_line(struct tfp_derived_plane *plane, struct tfp_made_line *made)
{
	if (plane->failed || !TFP_GROW(plane->made, plane->line_count, plane->line_room)) {
		plane->failed = true;
		tfp_made_line_free(made);
		return;
	}
	plane->made[plane->line_count++] = made;
}

void tfp_derived_line_write(struct tfp_derived_line *line, int64_t id, int64_t display_id,
			    struct tfp_str name)
{
	struct tfp_derived_plane *plane = line->plane;
	plane->failed |= tfp_buf_failed(&line->extras);
	if (line->count && !plane->failed)
		make_events(line, line->count);
	if (line->count && !plane->failed) {
		struct tfp_buf head;
		tfp_buf_init(&head, plane->lines.ceiling);
		put_line_head(&head, id, display_id, name, plane->start_ns);
		plane->failed |=
			tfp_buf_failed(&head) || !tfp_made_line_finish(line->made, head.size);
		tfp_pb_key(&plane->lines, PLANE_LINES, TFP_PB_BYTES);
		tfp_pb_put_varint(&plane->lines, head.size + line->stats.size);
		tfp_buf_add(&plane->lines, head.data, head.size);
		tfp_buf_add(&plane->lines, line->stats.data, line->stats.size);
		tfp_buf_release(&head);
		add_line(plane, line->made);
		line->made = NULL;
	}
	tfp_made_line_free(line->made);
	tfp_free(line->memo);
	tfp_free(line->events);
	line->events = NULL;
	line->made = NULL;
	line->memo = NULL;
	line->count = line->room = line->made_count = line->level_count = 0;
	tfp_buf_clear(&line->extras);
	tfp_buf_clear(&line->stats);
}

void tfp_derived_place_line(struct tfp_derived_plane *plane, const struct tfp_line *of,
			    int64_t display_id)
{
	size_t mark = tfp_pb_begin(&plane->lines, PLANE_LINES);
	put_line_head(&plane->lines, of->id, display_id, of->name, of->timestamp_ns);
	if (of->display_name.size)
		tfp_pb_put_bytes(&plane->lines, LINE_DISPLAY_NAME, of->display_name.data,
				 of->display_name.size);
	tfp_pb_end(&plane->lines, mark);
	add_line(plane, NULL);
}
