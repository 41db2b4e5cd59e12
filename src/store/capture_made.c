/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_made.h"

#include "base/alloc.h"
#include "store/capture_parts.h"

#include <string.h>

/* Events are collected so many at a time, so that nothing is copied while they come. */
#define CHUNK_EVENTS 16384u
_Static_assert(CHUNK_EVENTS % TFP_EVENTS_A_BLOCK == 0, "blocks end with chunks");

/* Names of a narrow column. */
#define NARROW_NAMES ((size_t)UINT16_MAX + 1)

struct chunk {
	struct tfp_columns columns;
	struct tfp_line view; /* of the columns */
	struct tfp_long_times long_starts, longs;
	size_t count;
	bool is_wide;
};

struct tfp_made_line {
	struct chunk *chunks;
	size_t chunk_count, chunk_room, count;
	bool has_wide, unsorted;
	int64_t last_start_ps, last_duration_ps;
	struct tfp_columns columns; /* when it is finished */
	size_t head;
};

struct tfp_made_line *tfp_made_line_new(void)
{
	return tfp_calloc(1, sizeof(struct tfp_made_line));
}

static void release_chunk(struct chunk *c)
{
	tfp_columns_release(&c->columns);
	tfp_free(c->long_starts.list);
	tfp_free(c->longs.list);
	*c = (struct chunk){0};
}

void tfp_made_line_free(struct tfp_made_line *line)
{
	if (!line)
		return;
	for (size_t i = 0; i < line->chunk_count; i++)
		release_chunk(&line->chunks[i]);
	tfp_free(line->chunks);
	tfp_columns_release(&line->columns);
	tfp_free(line);
}

size_t tfp_made_line_count(const struct tfp_made_line *line)
{
	return line->count;
}

static int64_t clamp(int64_t ps, int64_t low)
{
	return ps < low ? low : ps > TFP_TIME_MAX_PS ? TFP_TIME_MAX_PS : ps;
}

/* Puts one event, but for its place. false without memory. */
static bool put(struct tfp_columns *col, size_t i, int64_t start_ps, int64_t duration_ps,
		uint32_t name, struct tfp_long_times *long_starts, struct tfp_long_times *longs)
{
	bool is_long = duration_ps >> 32 >= TFP_LONG_DURATION;
	col->duration_low_ps[i] = (uint32_t)duration_ps;
	col->duration_high[i] = is_long ? TFP_LONG_DURATION : (uint8_t)(duration_ps >> 32);
	if (col->narrow_metas)
		col->narrow_metas[i] = (uint16_t)name;
	else
		col->wide_metas[i] = name;
	return tfp_columns_put_start(col, i, start_ps, long_starts) &&
	       (!is_long || tfp_long_times_add(longs, i, duration_ps));
}

static struct chunk *chunk_for(struct tfp_made_line *line, uint32_t name)
{
	struct chunk *c = line->chunk_count ? &line->chunks[line->chunk_count - 1] : NULL;
	bool is_wide = name >= NARROW_NAMES;
	if (c && c->count < CHUNK_EVENTS && (c->is_wide || !is_wide))
		return c;
	if (!TFP_GROW(line->chunks, line->chunk_count, line->chunk_room))
		return NULL;
	c = &line->chunks[line->chunk_count];
	*c = (struct chunk){.is_wide = is_wide};
	if (!tfp_columns_init(&c->columns, CHUNK_EVENTS, is_wide ? SIZE_MAX : 1, UINT64_MAX, 0))
		return NULL;
	line->chunk_count++;
	line->has_wide |= is_wide;
	return c;
}

bool tfp_made_line_add(struct tfp_made_line *line, int64_t offset_ps, int64_t duration_ps,
		       uint32_t name, uint32_t at)
{
	struct chunk *c = chunk_for(line, name);
	int64_t start_ps = clamp(offset_ps, -TFP_TIME_MAX_PS);
	duration_ps = clamp(duration_ps, 0);
	if (!c ||
	    !put(&c->columns, c->count, start_ps, duration_ps, name, &c->long_starts, &c->longs))
		return false;
	tfp_columns_put_place(&c->columns, c->count++, at);
	line->unsorted |=
		line->count &&
		(start_ps < line->last_start_ps ||
		 (start_ps == line->last_start_ps && duration_ps > line->last_duration_ps));
	line->last_start_ps = start_ps;
	line->last_duration_ps = duration_ps;
	line->count++;
	return true;
}

static void show(struct chunk *c)
{
	c->columns.long_starts = c->long_starts.list;
	c->columns.long_start_count = c->long_starts.count;
	c->columns.long_durations = c->longs.list;
	c->columns.long_count = c->longs.count;
	c->long_starts = c->longs = (struct tfp_long_times){0};
	tfp_columns_show(&c->columns, c->count, &c->view);
}

/* The lowest place of the block that event i of a chunk begins. *spread: how far from it the
 * others lie. */
static uint64_t lowest_of_block(const struct chunk *c, size_t i, uint64_t *spread)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t k = i; k < c->count && k < i + TFP_EVENTS_A_BLOCK; k++) {
		uint64_t at = tfp_event_at(&c->view, k);
		low = at < low ? at : low;
		high = at > high ? at : high;
	}
	*spread = high - low;
	return low;
}

/* How far the places of a block lie from each other at most. Chunks that ended early have
 * blocks of their own. */
static uint64_t largest_spread(const struct tfp_made_line *line)
{
	uint64_t most = 0, spread;
	for (size_t c = 0; c < line->chunk_count; c++) {
		const struct chunk *chunk = &line->chunks[c];
		if (chunk->count < CHUNK_EVENTS && c + 1 < line->chunk_count)
			return UINT64_MAX;
		for (size_t i = 0; i < chunk->count; i += TFP_EVENTS_A_BLOCK) {
			lowest_of_block(chunk, i, &spread);
			most = spread > most ? spread : most;
		}
	}
	/* When events of two blocks are sorted they may lie twice as far apart. */
	return line->unsorted && most <= TFP_PLACES_TINY ? TFP_PLACES_TINY + 1 : most;
}

bool tfp_made_line_finish(struct tfp_made_line *line, size_t head)
{
	struct tfp_columns *col = &line->columns;
	struct tfp_long_times starts = {0}, longs = {0};
	if (line->count >= UINT32_MAX)
		return false;
	line->head = head;
	for (size_t c = 0; c < line->chunk_count; c++)
		show(&line->chunks[c]);
	const uint64_t spread = largest_spread(line);
	bool ok = tfp_columns_init(col, line->count, line->has_wide ? SIZE_MAX : 1, spread,
				   head + UINT32_MAX);
	size_t n = 0;
	/* Columns that memory did not suffice for are freed, too. */
	for (size_t c = 0; c < line->chunk_count; c++) {
		struct chunk *chunk = &line->chunks[c];
		uint64_t low = 0, ignored;
		for (size_t i = 0; ok && i < chunk->count; i++, n++) {
			if (i % TFP_EVENTS_A_BLOCK == 0)
				low = lowest_of_block(chunk, i, &ignored);
			ok = put(col, n, tfp_event_offset_ps(&chunk->view, i),
				 tfp_event_duration_ps(&chunk->view, i),
				 tfp_event_meta_index(&chunk->view, i), &starts, &longs);
			tfp_columns_put_place_from(col, n, head + tfp_event_at(&chunk->view, i),
						   head + low);
		}
		release_chunk(chunk);
	}
	col->long_starts = starts.list;
	col->long_start_count = starts.count;
	col->long_durations = longs.list;
	col->long_count = longs.count;
	tfp_free(line->chunks);
	line->chunks = NULL;
	line->chunk_count = line->chunk_room = 0;
	return ok;
}

/* ---- the capture ---- */

static bool take(struct tfp_capture_parts *cap, struct tfp_line *to, struct tfp_line_state *state,
		 struct tfp_made_line *made)
{
	tfp_columns_release(&state->columns);
	state->columns = made->columns;
	made->columns = (struct tfp_columns){0};
	tfp_columns_show(&state->columns, made->count, to);
	if (made->unsorted && !tfp_columns_sort(&state->columns, made->count, to))
		return false;
	cap->pub.heap_bytes += tfp_columns_bytes(&state->columns, made->count);
	cap->pub.event_count += made->count;
	return true;
}

/* Names are numbered as they are in the bytes, and the line's message is as long as it was
 * when its events' places were put. */
static bool fits(const struct tfp_plane *plane, size_t line, const struct tfp_made_line *made)
{
	return line < plane->line_count && plane->lines[line].event_count == 0 &&
	       plane->event_meta_count > 1 && made->head < plane->lines[line].message.size;
}

enum tfp_status tfp_made_lines_take(struct tfp_capture_parts *cap,
				    const struct tfp_made_plane *planes, size_t plane_count,
				    struct tfp_error *err)
{
	for (size_t p = 0; p < plane_count; p++) {
		for (size_t l = 0; l < planes[p].line_count; l++) {
			struct tfp_made_line *made = planes[p].lines[l];
			if (!made)
				continue;
			if (p >= cap->pub.plane_count || !fits(&cap->planes[p], l, made))
				return tfp_fail(err, TFP_BAD_INPUT,
						"events were made for a line that is not there");
			if (!take(cap, &cap->states[p].lines[l], &cap->states[p].line_states[l],
				  made))
				return tfp_fail(err, TFP_NO_MEMORY, "no memory for lines");
			tfp_made_line_free(made);
			planes[p].lines[l] = NULL;
		}
	}
	return TFP_OK;
}
