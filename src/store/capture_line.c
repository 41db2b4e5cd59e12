#include "store/capture_parts.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Start and duration are kept within these bounds, so that an end, or a
 * difference of two times, never overflows. */
#define MAX_PS (INT64_MAX / 4)

struct columns {
	int64_t *start_ps, *duration_ps;
	uint32_t *meta;
	uint32_t *at; /* one of the two */
	uint64_t *at_wide;
};

static size_t count_events(struct tfp_span message)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(message.data, message.size);
	const uint8_t *data;
	size_t size, n = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == BYTES(LINE_EVENTS))
			n += tfp_pb_bytes(&c, &data, &size);
		else
			tfp_pb_skip(&c, tag);
	}
	return n;
}

static bool allocate_columns(struct tfp_capture_parts *cap, struct tfp_line_state *s, size_t count,
			     bool wide, struct columns *out)
{
	size_t width = 2 * sizeof(int64_t) + sizeof(uint32_t) +
		       (wide ? sizeof(uint64_t) : sizeof(uint32_t));
	if (count == 0)
		return true;
	size_t bytes;
	if (__builtin_mul_overflow(count, width, &bytes))
		bytes = SIZE_MAX;
	s->columns = tfp_capture_count_heap(cap, tfp_malloc(bytes), bytes);
	if (!s->columns)
		return false;
	out->start_ps = s->columns;
	out->duration_ps = out->start_ps + count;
	if (wide) {
		out->at_wide = (uint64_t *)(out->duration_ps + count);
		out->meta = (uint32_t *)(out->at_wide + count);
	} else {
		out->at = (uint32_t *)(out->duration_ps + count);
		out->meta = out->at + count;
	}
	return true;
}

struct event {
	int64_t metadata_id, offset_ps, duration_ps;
	bool aggregated;
};

/* The hot loop of a load: stats are passed over by their length. */
static inline bool read_event(const uint8_t *data, size_t size, struct event *e,
			      struct tfp_pb_cursor *out)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(data, size);
	uint32_t tag;
	*e = (struct event){0};
	while (tfp_pb_next(&c, &tag)) {
		const uint8_t *stat;
		size_t stat_size;
		uint64_t ignored;
		switch (tag) {
		case VARINT(EVENT_METADATA_ID):
			tfp_pb_int64(&c, &e->metadata_id);
			break;
		case VARINT(EVENT_OFFSET_PS):
			tfp_pb_int64(&c, &e->offset_ps);
			/* offset and count are a oneof: the last one counts */
			e->aggregated = false;
			break;
		case VARINT(EVENT_DURATION_PS):
			tfp_pb_int64(&c, &e->duration_ps);
			break;
		case BYTES(EVENT_STATS):
			tfp_pb_bytes(&c, &stat, &stat_size);
			break;
		case VARINT(EVENT_NUM_OCCURRENCES):
			tfp_pb_varint(&c, &ignored);
			e->aggregated = true;
			e->offset_ps = 0;
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	*out = c;
	return c.damage == TFP_PB_SOUND;
}

static int64_t clamp(int64_t ps, int64_t low, uint64_t *clamped)
{
	if (ps < low || ps > MAX_PS) {
		++*clamped;
		return ps < low ? low : MAX_PS;
	}
	return ps;
}

static bool before(const void *columns, uint32_t a, uint32_t b)
{
	const struct columns *col = columns;
	if (col->start_ps[a] != col->start_ps[b])
		return col->start_ps[a] < col->start_ps[b];
	return col->duration_ps[a] > col->duration_ps[b];
}

static void permute_64(void *column, const uint32_t *order, uint64_t *spare, size_t n)
{
	memcpy(spare, column, n * sizeof(*spare));
	for (size_t i = 0; i < n; i++)
		((uint64_t *)column)[i] = spare[order[i]];
}

static void permute_32(uint32_t *column, const uint32_t *order, uint64_t *spare, size_t n)
{
	uint32_t *copy = (uint32_t *)spare;
	memcpy(copy, column, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		column[i] = copy[order[i]];
}

static bool sort_events(const struct columns *col, size_t n)
{
	uint32_t *order = tfp_sort_indexes(n, before, col);
	uint64_t *spare = order ? tfp_reallocarray(NULL, n, sizeof(*spare)) : NULL;
	bool ok = spare != NULL;
	if (ok) {
		permute_64(col->start_ps, order, spare, n);
		permute_64(col->duration_ps, order, spare, n);
		permute_32(col->meta, order, spare, n);
		if (col->at)
			permute_32(col->at, order, spare, n);
		else
			permute_64(col->at_wide, order, spare, n);
	}
	tfp_free(order);
	tfp_free(spare);
	return ok;
}

static void read_line(struct tfp_capture_parts *cap, const struct tfp_plane *plane,
		      struct tfp_line *line, struct tfp_line_state *s)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(line->message.data, line->message.size);
	const struct tfp_id_map *ids = &plane->event_meta_ids;
	bool wide = line->message.size > UINT32_MAX;
	size_t count = count_events(line->message), n = 0;
	struct columns col = {0};
	const uint8_t *data;
	size_t size;
	uint32_t tag;

	line->name = line->display_name = (struct tfp_str){"", 0};
	if (count >= UINT32_MAX || !allocate_columns(cap, s, count, wide, &col)) {
		atomic_store(&cap->no_memory, true);
		return;
	}
	while (tfp_pb_next(&c, &tag)) {
		const uint8_t *start = c.at;
		switch (tag) {
		case VARINT(LINE_ID):
			tfp_pb_int64(&c, &line->id);
			break;
		case VARINT(LINE_DISPLAY_ID):
			tfp_pb_int64(&c, &line->display_id);
			break;
		case VARINT(LINE_TIMESTAMP_NS):
			tfp_pb_int64(&c, &line->timestamp_ns);
			break;
		case BYTES(LINE_NAME):
			if (tfp_pb_bytes(&c, &data, &size))
				line->name = tfp_str(data, size);
			break;
		case BYTES(LINE_DISPLAY_NAME):
			if (tfp_pb_bytes(&c, &data, &size))
				line->display_name = tfp_str(data, size);
			break;
		case BYTES(LINE_EVENTS): {
			struct tfp_pb_cursor inside;
			struct event e;
			if (!tfp_pb_bytes(&c, &data, &size))
				break;
			if (n + s->bad_events == count) {
				/* Not there when they were counted: somebody
				 * writes to the file. */
				tfp_pb_stop(&c, TFP_PB_LENGTH, start);
				break;
			}
			if (!read_event(data, size, &e, &inside)) {
				if (s->bad_events++ == 0) {
					s->bad_event_at = inside.damage_at;
					s->bad_event_kind = inside.damage;
				}
				break;
			}
			col.start_ps[n] = clamp(e.offset_ps, -MAX_PS, &s->clamped_events);
			col.duration_ps[n] = clamp(e.duration_ps, 0, &s->clamped_events);
			col.meta[n] = tfp_id_map_find(ids, e.metadata_id);
			s->unknown_events += col.meta[n] == TFP_META_UNKNOWN;
			if (wide)
				col.at_wide[n] = (uint64_t)(start - line->message.data);
			else
				col.at[n] = (uint32_t)(start - line->message.data);
			line->aggregated += e.aggregated;
			if (n && before(&col, (uint32_t)n, (uint32_t)n - 1))
				s->unsorted = true;
			n++;
			break;
		}
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	if (line->display_name.size == 0)
		line->display_name = line->name;
	s->damage.kind = c.damage;
	s->damage.at = c.damage_at;
	if (s->unsorted && !sort_events(&col, n)) {
		atomic_store(&cap->no_memory, true);
		return;
	}
	line->event_count = n;
	line->start_ps = col.start_ps;
	line->durations_ps = col.duration_ps;
	line->metas = col.meta;
	line->at = col.at;
	line->at_wide = col.at_wide;
}

struct line_task {
	uint32_t plane, line;
	size_t bytes;
};

struct line_tasks {
	struct tfp_capture_parts *capture;
	struct line_task *tasks;
};

static void read_line_task(void *context, size_t i)
{
	struct line_tasks *all = context;
	struct line_task t = all->tasks[i];
	struct tfp_plane_state *s = &all->capture->states[t.plane];
	if (tfp_cancelled())
		return;
	read_line(all->capture, &all->capture->planes[t.plane], &s->lines[t.line],
		  &s->line_states[t.line]);
	if (all->capture->unpacked.data) { /* a file's, not derived ones */
		tfp_progress_add_bytes(t.bytes);
		tfp_progress_add_events(s->lines[t.line].event_count);
	}
}

static int larger_first(const void *a, const void *b)
{
	const struct line_task *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->plane != y->plane)
		return x->plane < y->plane ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Lines are the unit of parallel work: one plane often holds most of a
 * capture. The largest go first, so that no thread starts one at the end. */
bool tfp_lines_read(struct tfp_capture_parts *cap, struct tfp_pool *pool)
{
	size_t count = 0, n = 0;
	for (size_t p = 0; p < cap->pub.plane_count; p++)
		count += cap->planes[p].line_count;
	struct line_task *tasks = tfp_reallocarray(NULL, count, sizeof(*tasks));
	if (!tasks)
		return false;
	for (size_t p = 0; p < cap->pub.plane_count; p++) {
		for (size_t l = 0; l < cap->planes[p].line_count; l++)
			tasks[n++] = (struct line_task){(uint32_t)p, (uint32_t)l,
							cap->planes[p].lines[l].message.size};
	}
	qsort(tasks, n, sizeof(*tasks), larger_first);
	struct line_tasks all = {cap, tasks};
	tfp_pool_for(pool, n, read_line_task, &all);
	tfp_free(tasks);
	return true;
}
