/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Shorter lines are one thread's work from begin to end: their bytes stay in its cache. */
#define LARGE_LINE_BYTES ((size_t)8 << 20)

/* A line of more events is read in pieces, each by another thread. */
#define PIECE_EVENTS ((size_t)1 << 17)
_Static_assert(PIECE_EVENTS % TFP_EVENTS_A_BLOCK == 0, "a block of events has one writer");

/* Events that one thread reads: count of them, numbered from first on. */
struct piece {
	const uint8_t *from, *to;
	size_t first, count;
	/* Counts made while reading them. */
	size_t read, bad, aggregated;
	uint64_t unknown, clamped;
	const uint8_t *bad_at;
	enum tfp_pb_damage bad_kind, damage;
	const uint8_t *damage_at;
	bool unsorted, not_near, no_memory;
	struct tfp_long_times long_starts, longs;
	int64_t first_start_ps, first_duration_ps, last_start_ps, last_duration_ps;
};

/* A line while it is read. */
struct reading {
	struct tfp_capture_parts *capture;
	const struct tfp_plane *plane;
	struct tfp_line *line;
	struct tfp_line_state *state;
	struct piece *pieces;
	size_t piece_count;
	size_t count; /* of events, good and bad */
	bool near;    /* as far as can be said without knowing which are bad */
};

static bool add_piece(struct reading *r, const uint8_t *from)
{
	struct piece *all = tfp_reallocarray(r->pieces, r->piece_count + 1, sizeof(*all));
	if (!all)
		return false;
	r->pieces = all;
	all[r->piece_count++] = (struct piece){.from = from, .first = r->count};
	return true;
}

/* Everything but the events: those are counted. */
static bool read_head(struct reading *r)
{
	struct tfp_line *line = r->line;
	struct tfp_pb_cursor c = tfp_pb_cursor(line->message.data, line->message.size);
	const uint8_t *data, *block = c.at;
	size_t size;
	uint32_t tag;
	line->name = line->display_name = (struct tfp_str){"", 0};
	r->near = true;
	if (!add_piece(r, c.at))
		return false;
	for (;;) {
		const uint8_t *start = c.at;
		if (!tfp_pb_next(&c, &tag))
			break;
		switch (tag) {
		case BYTES(LINE_EVENTS):
			if (!tfp_pb_bytes(&c, &data, &size))
				break;
			if (r->count % TFP_EVENTS_A_BLOCK == 0)
				block = start;
			r->near &= start - block <= TFP_PLACES_NEAR;
			if (r->count && r->count % PIECE_EVENTS == 0) {
				r->pieces[r->piece_count - 1].to = start;
				r->pieces[r->piece_count - 1].count = PIECE_EVENTS;
				if (!add_piece(r, start))
					return false;
			}
			r->count++;
			break;
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
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	if (line->display_name.size == 0)
		line->display_name = line->name;
	struct piece *last = &r->pieces[r->piece_count - 1];
	last->to = line->message.data + line->message.size;
	last->count = r->count - last->first;
	return r->count < UINT32_MAX;
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
	if (ps < low || ps > TFP_TIME_MAX_PS) {
		++*clamped;
		return ps < low ? low : TFP_TIME_MAX_PS;
	}
	return ps;
}

static inline bool is_before(int64_t start_ps, int64_t duration_ps, int64_t last_start_ps,
			     int64_t last_duration_ps)
{
	return start_ps < last_start_ps ||
	       (start_ps == last_start_ps && duration_ps > last_duration_ps);
}

static inline void put_event(struct reading *r, struct piece *p, const struct event *e,
			     const uint8_t *at)
{
	struct tfp_columns *col = &r->state->columns;
	size_t i = p->first + p->read;
	int64_t start_ps = clamp(e->offset_ps, -TFP_TIME_MAX_PS, &p->clamped);
	int64_t duration_ps = clamp(e->duration_ps, 0, &p->clamped);
	uint32_t meta = tfp_id_map_find(&r->plane->event_meta_ids, e->metadata_id);
	p->unknown += meta == TFP_META_UNKNOWN;
	p->aggregated += e->aggregated;
	p->no_memory |= !tfp_columns_put_start(col, i, start_ps, &p->long_starts);
	col->duration_low_ps[i] = (uint32_t)duration_ps;
	if (duration_ps >> 32 < TFP_LONG_DURATION) {
		col->duration_high[i] = (uint8_t)(duration_ps >> 32);
	} else {
		col->duration_high[i] = TFP_LONG_DURATION;
		p->no_memory |= !tfp_long_times_add(&p->longs, i, duration_ps);
	}
	if (col->narrow_metas)
		col->narrow_metas[i] = (uint16_t)meta;
	else
		col->wide_metas[i] = meta;
	p->not_near |= !tfp_columns_put_place(col, i, (uint64_t)(at - r->line->message.data));
	if (p->read == 0) {
		p->first_start_ps = start_ps;
		p->first_duration_ps = duration_ps;
	} else if (is_before(start_ps, duration_ps, p->last_start_ps, p->last_duration_ps)) {
		p->unsorted = true;
	}
	p->last_start_ps = start_ps;
	p->last_duration_ps = duration_ps;
	p->read++;
}

static void read_piece(struct reading *r, struct piece *p)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(p->from, (size_t)(p->to - p->from));
	const uint8_t *data;
	size_t size;
	uint32_t tag;
	while (!p->no_memory && tfp_pb_next(&c, &tag)) {
		const uint8_t *start = c.at;
		struct tfp_pb_cursor inside;
		struct event e;
		if (tag != BYTES(LINE_EVENTS)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_pb_bytes(&c, &data, &size))
			break;
		if (p->read + p->bad == p->count) {
			/* Not there when they were counted: another program writes to the file. */
			tfp_pb_stop(&c, TFP_PB_LENGTH, start);
			break;
		}
		if (read_event(data, size, &e, &inside)) {
			put_event(r, p, &e, start);
		} else if (p->bad++ == 0) {
			p->bad_at = inside.damage_at;
			p->bad_kind = inside.damage;
		}
	}
	p->damage = c.damage;
	p->damage_at = c.damage_at;
}

static void release_long_times(struct reading *r)
{
	for (size_t i = 0; i < r->piece_count; i++) {
		tfp_free(r->pieces[i].long_starts.list);
		tfp_free(r->pieces[i].longs.list);
	}
}

static void release_pieces(struct reading *r)
{
	release_long_times(r);
	tfp_free(r->pieces);
	r->pieces = NULL;
	r->piece_count = 0;
}

static bool begin(struct reading *r)
{
	return read_head(r) &&
	       tfp_columns_init(&r->state->columns, r->count, r->plane->event_meta_count,
				r->near ? TFP_PLACES_NEAR : UINT64_MAX, r->line->message.size);
}

/* Whether the pieces fit together as the count has them. Where an event is damaged, those
 * after it have other numbers. */
static bool fits(const struct reading *r)
{
	for (size_t i = 0; i < r->piece_count; i++) {
		const struct piece *p = &r->pieces[i];
		if (p->not_near || (i + 1 < r->piece_count && p->read != p->count))
			return false;
	}
	return true;
}

/* Reads a line in one piece that is not as it was counted. */
static bool read_again(struct reading *r)
{
	struct piece whole = {.from = r->line->message.data,
			      .to = r->line->message.data + r->line->message.size,
			      .count = r->count};
	release_long_times(r);
	r->piece_count = 1;
	r->pieces[0] = whole;
	tfp_columns_release(&r->state->columns);
	if (!tfp_columns_init(&r->state->columns, r->count, r->plane->event_meta_count, UINT64_MAX,
			      r->line->message.size))
		return false;
	read_piece(r, &r->pieces[0]);
	return !r->pieces[0].no_memory;
}

static bool append_long_times(struct tfp_long_times *list, const struct tfp_long_times *more)
{
	for (size_t i = 0; i < more->count; i++) {
		if (!tfp_long_times_add(list, more->list[i].event, more->list[i].ps))
			return false;
	}
	return true;
}

static bool join_long_times(struct reading *r)
{
	struct tfp_columns *col = &r->state->columns;
	struct piece *all = &r->pieces[0];
	for (size_t i = 1; i < r->piece_count; i++) {
		if (!append_long_times(&all->long_starts, &r->pieces[i].long_starts) ||
		    !append_long_times(&all->longs, &r->pieces[i].longs))
			return false;
	}
	col->long_starts = all->long_starts.list;
	col->long_start_count = all->long_starts.count;
	col->long_durations = all->longs.list;
	col->long_count = all->longs.count;
	all->long_starts = all->longs = (struct tfp_long_times){0};
	return true;
}

/* Makes a line of the pieces. */
static bool join(struct reading *r)
{
	struct tfp_line_state *s = r->state;
	for (size_t i = 0; i < r->piece_count; i++) {
		if (r->pieces[i].no_memory)
			return false;
	}
	if ((!fits(r) && !read_again(r)) || !join_long_times(r))
		return false;
	size_t n = 0;
	const struct piece *last = NULL;
	for (size_t i = 0; i < r->piece_count; i++) {
		const struct piece *p = &r->pieces[i];
		if (p->bad && s->bad_events == 0) {
			s->bad_event_at = p->bad_at;
			s->bad_event_kind = p->bad_kind;
		}
		s->bad_events += p->bad;
		s->unknown_events += p->unknown;
		s->clamped_events += p->clamped;
		r->line->aggregated += p->aggregated;
		s->unsorted |= p->unsorted;
		if (p->read && last)
			s->unsorted |= is_before(p->first_start_ps, p->first_duration_ps,
						 last->last_start_ps, last->last_duration_ps);
		if (p->read)
			last = p;
		if (p->damage != TFP_PB_SOUND && s->damage.kind == TFP_PB_SOUND) {
			s->damage.kind = p->damage;
			s->damage.at = p->damage_at;
		}
		n += p->read;
	}
	tfp_columns_show(&s->columns, n, r->line);
	if (s->unsorted && !tfp_columns_sort(&s->columns, n, r->line))
		return false;
	__atomic_fetch_add(&r->capture->pub.heap_bytes, tfp_columns_bytes(&s->columns, r->count),
			   __ATOMIC_RELAXED);
	return true;
}

/* ---- all lines ---- */

struct lines {
	struct tfp_capture_parts *capture;
	struct reading *list;
	/* The next step of the work is on pieces of the first lines, the large ones. */
	struct piece_task {
		struct reading *reading;
		size_t piece;
	} * tasks;
	size_t task_count, large_count;
};

static void failed(struct lines *all, struct reading *r)
{
	atomic_store(&all->capture->no_memory, true);
	release_pieces(r);
}

static void begin_large(void *context, size_t i)
{
	struct lines *all = context;
	if (!tfp_cancelled() && !begin(&all->list[i]))
		failed(all, &all->list[i]);
}

static void join_large(void *context, size_t i)
{
	struct lines *all = context;
	if (!all->list[i].pieces || tfp_cancelled())
		return; /* it failed before, or is not whole */
	if (!join(&all->list[i]))
		failed(all, &all->list[i]);
	release_pieces(&all->list[i]);
}

static void report(const struct tfp_capture_parts *cap, size_t bytes, size_t events)
{
	if (cap->unpacked.data) { /* a file's, not derived ones */
		if (!cap->unpacked.packed)
			tfp_progress_add_bytes(bytes);
		tfp_progress_add_events(events);
	}
}

/* Pieces of large lines, then lines as a whole. */
static void read_task(void *context, size_t i)
{
	struct lines *all = context;
	if (tfp_cancelled())
		return;
	if (i < all->task_count) {
		struct reading *large = all->tasks[i].reading;
		struct piece *p = &large->pieces[all->tasks[i].piece];
		read_piece(large, p);
		report(all->capture, (size_t)(p->to - p->from), p->read);
		return;
	}
	struct reading *r = &all->list[i - all->task_count + all->large_count];
	bool ok = begin(r);
	for (size_t p = 0; ok && p < r->piece_count; p++)
		read_piece(r, &r->pieces[p]);
	if (!ok || !join(r))
		failed(all, r);
	release_pieces(r);
	report(all->capture, r->line->message.size, r->line->event_count);
}

static bool list_pieces(struct lines *all)
{
	for (size_t i = 0; i < all->large_count; i++)
		all->task_count += all->list[i].piece_count;
	all->tasks = tfp_reallocarray(NULL, all->task_count, sizeof(*all->tasks));
	if (!all->tasks)
		return false;
	size_t n = 0;
	for (size_t i = 0; i < all->large_count; i++) {
		for (size_t p = 0; p < all->list[i].piece_count; p++)
			all->tasks[n++] = (struct piece_task){&all->list[i], p};
	}
	return true;
}

static int larger_first(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;
	size_t x_bytes = x->line->message.size, y_bytes = y->line->message.size;
	if (x_bytes != y_bytes)
		return x_bytes < y_bytes ? 1 : -1;
	return x->line->message.data < y->line->message.data ? -1 : 1;
}

/* Lines are the unit of parallel work, as one plane often holds most of a capture; and
 * pieces of lines, as one line sometimes does. The largest go first, so that no thread
 * starts one at the end. */
bool tfp_lines_read(struct tfp_capture_parts *cap, struct tfp_plane *planes,
		    struct tfp_plane_state *states, size_t count, struct tfp_pool *pool)
{
	struct lines all = {.capture = cap};
	size_t n = 0, total = 0;
	for (size_t p = 0; p < count; p++)
		total += planes[p].line_count;
	all.list = tfp_calloc(total, sizeof(*all.list));
	if (!all.list)
		return false;
	for (size_t p = 0; p < count; p++) {
		for (size_t l = 0; l < planes[p].line_count; l++)
			all.list[n++] = (struct reading){.capture = cap,
							 .plane = &planes[p],
							 .line = &states[p].lines[l],
							 .state = &states[p].line_states[l]};
	}
	qsort(all.list, n, sizeof(*all.list), larger_first);
	while (tfp_pool_threads(pool) > 1 && all.large_count < n &&
	       all.list[all.large_count].line->message.size >= LARGE_LINE_BYTES)
		all.large_count++;
	tfp_pool_for(pool, all.large_count, begin_large, &all);
	bool ok = list_pieces(&all);
	if (ok)
		tfp_pool_for(pool, all.task_count + n - all.large_count, read_task, &all);
	if (ok)
		tfp_pool_for(pool, all.large_count, join_large, &all);
	for (size_t i = 0; i < all.large_count; i++)
		release_pieces(&all.list[i]);
	tfp_free(all.tasks);
	tfp_free(all.list);
	return ok;
}
