/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include "base/alloc.h"
#include "base/sort.h"

#include <string.h>

/* Events of a block lie close to each other in the file nearly always: 1 or 2 bytes each and
 * the block's lowest place. Where they do not, the place itself. */
struct tfp_places {
	uint8_t *tiny;  /* from blocks[i / TFP_EVENTS_A_BLOCK] */
	uint16_t *near; /* the same */
	uint64_t *blocks;
	uint32_t *far;  /* lines below 4 GiB */
	uint64_t *wide; /* others */
	size_t bytes;
};

static size_t blocks_of(size_t count)
{
	return (count + TFP_EVENTS_A_BLOCK - 1) / TFP_EVENTS_A_BLOCK;
}

/* spread: how far at most places of a block lie from each other. */
static struct tfp_places *new_places(size_t count, uint64_t spread, uint64_t span)
{
	const bool blocks = spread <= TFP_PLACES_NEAR;
	const size_t each = spread <= TFP_PLACES_TINY   ? sizeof(uint8_t)
			    : spread <= TFP_PLACES_NEAR ? sizeof(uint16_t)
			    : span > UINT32_MAX         ? sizeof(uint64_t)
							: sizeof(uint32_t);
	const size_t bytes = count * each + (blocks ? blocks_of(count) * sizeof(uint64_t) : 0);
	struct tfp_places *p = tfp_malloc(sizeof(*p) + bytes);
	if (!p)
		return NULL;
	*p = (struct tfp_places){.bytes = sizeof(*p) + bytes};
	void *list = p + 1;
	if (blocks) {
		p->blocks = list;
		list = p->blocks + blocks_of(count);
	}
	if (each == sizeof(uint8_t))
		p->tiny = list;
	else if (each == sizeof(uint16_t))
		p->near = list;
	else if (each == sizeof(uint32_t))
		p->far = list;
	else
		p->wide = list;
	return p;
}

static inline uint64_t place(const struct tfp_places *p, size_t i)
{
	if (p->near)
		return p->blocks[i / TFP_EVENTS_A_BLOCK] + p->near[i];
	if (p->tiny)
		return p->blocks[i / TFP_EVENTS_A_BLOCK] + p->tiny[i];
	return p->far ? p->far[i] : p->wide[i];
}

uint64_t tfp_event_at(const struct tfp_line *line, size_t i)
{
	return place(line->places, i);
}

bool tfp_columns_put_place(struct tfp_columns *col, size_t i, uint64_t at)
{
	struct tfp_places *p = col->places;
	if (p->near) {
		uint64_t *block = &p->blocks[i / TFP_EVENTS_A_BLOCK];
		if (i % TFP_EVENTS_A_BLOCK == 0)
			*block = at;
		if (at - *block > TFP_PLACES_NEAR)
			return false;
		p->near[i] = (uint16_t)(at - *block);
	} else if (p->far) {
		p->far[i] = (uint32_t)at;
	} else {
		p->wide[i] = at;
	}
	return true;
}

void tfp_columns_put_place_from(struct tfp_columns *col, size_t i, uint64_t at, uint64_t lowest)
{
	struct tfp_places *p = col->places;
	if (p->blocks)
		p->blocks[i / TFP_EVENTS_A_BLOCK] = lowest;
	if (p->tiny)
		p->tiny[i] = (uint8_t)(at - lowest);
	else if (p->near)
		p->near[i] = (uint16_t)(at - lowest);
	else
		tfp_columns_put_place(col, i, at);
}

static size_t block_bytes(size_t count, bool narrow_metas)
{
	return blocks_of(count) * sizeof(int64_t) +
	       count * (2 * sizeof(uint32_t) + sizeof(uint16_t) + sizeof(uint8_t) +
			(narrow_metas ? sizeof(uint16_t) : sizeof(uint32_t)));
}

bool tfp_columns_init(struct tfp_columns *col, size_t count, size_t metas, uint64_t spread,
		      uint64_t span)
{
	bool narrow = metas <= (size_t)UINT16_MAX + 1;
	*col = (struct tfp_columns){0};
	if (count == 0)
		return true;
	/* count is below 2^32, so that no product overflows */
	col->block = tfp_malloc(block_bytes(count, narrow));
	col->places = col->block ? new_places(count, spread, span) : NULL;
	if (!col->places) {
		tfp_columns_release(col);
		return false;
	}
	col->start_blocks_ps = col->block;
	col->start_low_ps = (uint32_t *)(col->start_blocks_ps + blocks_of(count));
	col->duration_low_ps = col->start_low_ps + count;
	uint32_t *next = col->duration_low_ps + count;
	if (!narrow) {
		col->wide_metas = next;
		next += count;
	}
	col->start_high = (uint16_t *)next;
	uint16_t *rest = col->start_high + count;
	if (narrow) {
		col->narrow_metas = rest;
		rest += count;
	}
	col->duration_high = (uint8_t *)rest;
	return true;
}

void tfp_columns_release(struct tfp_columns *col)
{
	tfp_free(col->block);
	tfp_free(col->places);
	tfp_free(col->long_starts);
	tfp_free(col->long_durations);
	*col = (struct tfp_columns){0};
}

uint64_t tfp_columns_bytes(const struct tfp_columns *col, size_t count)
{
	if (!col->block)
		return 0;
	return block_bytes(count, col->narrow_metas) + col->places->bytes +
	       (col->long_start_count + col->long_count) * sizeof(struct tfp_long_time);
}

void tfp_columns_show(const struct tfp_columns *col, size_t count, struct tfp_line *line)
{
	line->event_count = count;
	line->start_blocks_ps = col->start_blocks_ps;
	line->start_low_ps = col->start_low_ps;
	line->start_high = col->start_high;
	line->long_starts = col->long_starts;
	line->long_start_count = col->long_start_count;
	line->duration_low_ps = col->duration_low_ps;
	line->duration_high = col->duration_high;
	line->long_durations = col->long_durations;
	line->long_count = col->long_count;
	line->narrow_metas = col->narrow_metas;
	line->wide_metas = col->wide_metas;
	line->places = col->places;
}

/* ---- long times ---- */

bool tfp_long_times_add(struct tfp_long_times *list, size_t event, int64_t ps)
{
	if (!TFP_GROW(list->list, list->count, list->room))
		return false;
	list->list[list->count++] = (struct tfp_long_time){ps, event};
	return true;
}

static int64_t find_long(const struct tfp_long_time *list, size_t count, size_t event)
{
	size_t low = 0, high = count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (list[middle].event <= event)
			low = middle;
		else
			high = middle;
	}
	return list[low].ps;
}

int64_t tfp_event_long_offset_ps(const struct tfp_line *line, size_t i)
{
	return find_long(line->long_starts, line->long_start_count, i);
}

int64_t tfp_event_long_duration_ps(const struct tfp_line *line, size_t i)
{
	return find_long(line->long_durations, line->long_count, i);
}

/* ---- order ---- */

/*
 * Events that were written when they ended come after those within them: lines like that
 * are out of order, yet only locally. They are cut into stretches of blocks that have nothing
 * after them that belongs before, and each stretch is sorted by itself, so that the room for
 * sorting is that of the longest one.
 */
struct stretch {
	struct tfp_columns *col;
	const struct tfp_line *line;
	size_t first, count;
	size_t long_at;               /* the first of its long durations */
	size_t long_start_at;         /* and starts */
	struct tfp_long_times starts; /* of this stretch and those before, in their new order */
};

struct key {
	int64_t start_ps, duration_ps;
};

static struct key key_of(const struct tfp_line *line, size_t i)
{
	return (struct key){tfp_event_offset_ps(line, i), tfp_event_duration_ps(line, i)};
}

static bool key_before(struct key a, struct key b)
{
	return a.start_ps < b.start_ps ||
	       (a.start_ps == b.start_ps && a.duration_ps > b.duration_ps);
}

static bool before(const void *context, uint32_t a, uint32_t b)
{
	const struct stretch *s = context;
	return key_before(key_of(s->line, s->first + a), key_of(s->line, s->first + b));
}

/* The long durations in their new order. */
static bool sort_long_durations(struct stretch *s, const uint32_t *order)
{
	struct tfp_columns *col = s->col;
	struct tfp_long_times sorted = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < s->count; i++) {
		size_t from = s->first + order[i];
		if (col->duration_high[from] == TFP_LONG_DURATION)
			ok = tfp_long_times_add(&sorted, s->first + i,
						tfp_event_long_duration_ps(s->line, from));
	}
	if (ok && sorted.count)
		memcpy(col->long_durations + s->long_at, sorted.list,
		       sorted.count * sizeof(*sorted.list));
	tfp_free(sorted.list);
	return ok;
}

static bool make_far(struct tfp_columns *col, size_t n, uint64_t span)
{
	struct tfp_places *near = col->places, *far = new_places(n, UINT64_MAX, span);
	if (!far)
		return false;
	col->places = far;
	for (size_t i = 0; i < n; i++)
		tfp_columns_put_place(col, i, place(near, i));
	tfp_free(near);
	return true;
}

static uint64_t lowest(const uint64_t *at, size_t n)
{
	uint64_t low = at[0];
	for (size_t i = 1; i < n; i++)
		low = at[i] < low ? at[i] : low;
	return low;
}

static bool all_within(const uint64_t *at, size_t n, uint64_t spread)
{
	uint64_t low = lowest(at, n);
	for (size_t i = 0; i < n; i++) {
		if (at[i] - low > spread)
			return false;
	}
	return true;
}

static bool sort_places(struct stretch *s, const uint32_t *order, uint64_t *spare, size_t total)
{
	for (size_t i = 0; i < s->count; i++)
		spare[i] = place(s->col->places, s->first + order[i]);
	for (size_t i = 0; i < s->count && s->col->places->blocks; i += TFP_EVENTS_A_BLOCK) {
		size_t n = s->count - i < TFP_EVENTS_A_BLOCK ? s->count - i : TFP_EVENTS_A_BLOCK;
		uint64_t spread = s->col->places->tiny ? TFP_PLACES_TINY : TFP_PLACES_NEAR;
		if (!all_within(spare + i, n, spread) &&
		    !make_far(s->col, total, s->line->message.size))
			return false;
	}
	uint64_t low = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (i % TFP_EVENTS_A_BLOCK == 0)
			low = lowest(spare + i, s->count - i < TFP_EVENTS_A_BLOCK
							? s->count - i
							: TFP_EVENTS_A_BLOCK);
		tfp_columns_put_place_from(s->col, s->first + i, spare[i], low);
	}
	return true;
}

static bool sort_starts(struct stretch *s, const uint32_t *order, int64_t *spare)
{
	bool ok = true;
	for (size_t i = 0; i < s->count; i++)
		spare[i] = tfp_event_offset_ps(s->line, s->first + order[i]);
	for (size_t i = 0; ok && i < s->count; i++)
		ok = tfp_columns_put_start(s->col, s->first + i, spare[i], &s->starts);
	return ok;
}

static void permute(void *column, size_t size, const uint32_t *order, void *spare, size_t n)
{
	memcpy(spare, column, n * size);
	switch (size) {
	case sizeof(uint8_t):
		for (size_t i = 0; i < n; i++)
			((uint8_t *)column)[i] = ((const uint8_t *)spare)[order[i]];
		break;
	case sizeof(uint16_t):
		for (size_t i = 0; i < n; i++)
			((uint16_t *)column)[i] = ((const uint16_t *)spare)[order[i]];
		break;
	default:
		for (size_t i = 0; i < n; i++)
			((uint32_t *)column)[i] = ((const uint32_t *)spare)[order[i]];
		break;
	}
}

/* total: of the line's events. */
static bool sort_stretch(struct stretch *s, size_t total)
{
	struct tfp_columns *col = s->col;
	size_t n = s->count, first = s->first;
	uint32_t *order = tfp_sort_indexes(n, before, s);
	uint64_t *spare = order ? tfp_reallocarray(NULL, n, sizeof(*spare)) : NULL;
	bool ok = spare && sort_places(s, order, spare, total) &&
		  sort_starts(s, order, (int64_t *)spare) && sort_long_durations(s, order);
	if (ok) {
		permute(col->duration_low_ps + first, sizeof(uint32_t), order, spare, n);
		permute(col->duration_high + first, sizeof(uint8_t), order, spare, n);
		if (col->narrow_metas)
			permute(col->narrow_metas + first, sizeof(uint16_t), order, spare, n);
		else
			permute(col->wide_metas + first, sizeof(uint32_t), order, spare, n);
	}
	tfp_free(order);
	tfp_free(spare);
	return ok;
}

/* Of a stretch that is in order. */
static bool keep_long_starts(struct stretch *s)
{
	const struct tfp_long_time *list = s->col->long_starts;
	bool ok = true;
	for (size_t i = s->long_start_at;
	     ok && i < s->col->long_start_count && list[i].event < s->first + s->count; i++)
		ok = tfp_long_times_add(&s->starts, list[i].event, list[i].ps);
	return ok;
}

bool tfp_columns_sort(struct tfp_columns *col, size_t n, struct tfp_line *line)
{
	size_t blocks = blocks_of(n);
	/* of all events from a block on */
	struct key *least = tfp_reallocarray(NULL, blocks, sizeof(*least));
	struct stretch s = {.col = col, .line = line};
	struct key most = {0}; /* so far */
	bool unsorted = false, ok = least != NULL;
	for (size_t i = n; ok && i-- > 0;) {
		struct key key = key_of(line, i);
		size_t b = i / TFP_EVENTS_A_BLOCK;
		if (i + 1 == n)
			least[b] = key;
		else if (i % TFP_EVENTS_A_BLOCK == TFP_EVENTS_A_BLOCK - 1)
			least[b] = least[b + 1];
		if (key_before(key, least[b]))
			least[b] = key;
	}
	for (size_t i = 0; ok && i < n; i++) {
		struct key key = key_of(line, i);
		bool lower = i > 0 && key_before(key, most);
		unsorted |= lower;
		if (!lower)
			most = key;
		if (i + 1 < n && ((i + 1) % TFP_EVENTS_A_BLOCK != 0 ||
				  key_before(least[(i + 1) / TFP_EVENTS_A_BLOCK], most)))
			continue;
		s.count = i + 1 - s.first;
		ok = unsorted ? sort_stretch(&s, n) : keep_long_starts(&s);
		s.first = i + 1;
		while (s.long_start_at < col->long_start_count &&
		       col->long_starts[s.long_start_at].event <= i)
			s.long_start_at++;
		while (s.long_at < col->long_count && col->long_durations[s.long_at].event <= i)
			s.long_at++;
		unsorted = false;
	}
	tfp_free(least);
	/* While sorting went on, the old ones were still asked for. */
	tfp_free(col->long_starts);
	col->long_starts = s.starts.list;
	col->long_start_count = s.starts.count;
	tfp_columns_show(col, n, line);
	return ok;
}
