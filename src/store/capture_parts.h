/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the capture reader share. Nobody else includes this.
 *
 *     capture.c              the top level, and the whole
 *     capture_plane.c        metadata
 *     capture_line.c         events
 *     capture_columns.c      how events are stored
 *     capture_stream.c       planes of a file that is still being unpacked
 *     capture_made.c         lines whose events are in no file
 *     capture_stats.c        stats, decoded later
 *     capture_diagnostics.c  words about damage
 */
#ifndef TFP_STORE_CAPTURE_PARTS_H
#define TFP_STORE_CAPTURE_PARTS_H

#include "base/progress.h"
#include "store/capture.h"
#include "store/capture_made.h"
#include "store/unpack.h"
#include "store/xplane_fields.h"

#include <pthread.h>
#include <stdatomic.h>

#define VARINT(field) TFP_PB_TAG(field, TFP_PB_VARINT)
#define BYTES(field)  TFP_PB_TAG(field, TFP_PB_BYTES)

struct tfp_fact {
	struct tfp_fact *next;
	const struct tfp_fact_kind *kind;
	bool computing;
	bool failed; /* no more in the list; the last that waited for it frees it */
	struct tfp_making making;
	void *value;
	uint64_t heap_bytes;
};

/* What the threads learn about damage. One of them makes sentences of it. */
struct tfp_damage {
	enum tfp_pb_damage kind; /* that ended the walk, or of the first bad part */
	const uint8_t *at;
	bool cut; /* the message was longer than the file: what is here is a part */
};

/* The columns of a line while it is read. Owned by the line's state. */
struct tfp_columns {
	void *block; /* all that have a fixed width: start_blocks_ps to metas */
	int64_t *start_blocks_ps;
	uint32_t *start_low_ps;
	uint16_t *start_high;
	uint32_t *duration_low_ps;
	uint8_t *duration_high;
	uint16_t *narrow_metas; /* one of the two */
	uint32_t *wide_metas;
	struct tfp_long_time *long_starts, *long_durations;
	size_t long_start_count, long_count;
	struct tfp_places *places;
};

struct tfp_line_state {
	struct tfp_damage damage;
	const uint8_t *bad_event_at;
	enum tfp_pb_damage bad_event_kind;
	uint64_t bad_events, unknown_events, clamped_events;
	bool unsorted;
	struct tfp_columns columns;
};

struct tfp_plane_state {
	struct tfp_damage damage;
	uint64_t bad_metadata;
	const uint8_t *bad_metadata_at;
	struct tfp_line *lines;
	struct tfp_line_state *line_states;
	void *event_metas, *stat_metas;
};

struct tfp_capture_parts {
	struct tfp_capture pub; /* first: a pointer to one is a pointer to the other */
	atomic_size_t references;
	struct tfp_unpacked unpacked; /* zeroed when the bytes are the caller's */
	size_t mapped_bytes;          /* counted for it in the budget */
	struct tfp_plane *planes;
	struct tfp_plane_state *states;
	struct tfp_diagnostic *diagnostics;
	size_t more_diagnostics;
	struct tfp_str *strings;    /* errors, warnings and hostnames */
	atomic_bool no_memory;      /* some thread had none */
	atomic_bool too_many;       /* lines or names */
	atomic_size_t lines, metas; /* so far, while it is loaded */
	pthread_mutex_t lock;       /* guards facts */
	pthread_cond_t computed;
	struct tfp_fact *facts;
	void (*gone)(void *context); /* may be NULL */
	void *gone_context;
};

#define TFP_MAX_DIAGNOSTICS 32u

/* A few bytes of a file, and far fewer of a compressed one, make a plane, a line or a name
 * that takes hundreds in memory. Profilers write some hundred planes with some thousand
 * lines, and names for what a program can do. */
#define TFP_MAX_PLANES ((size_t)1 << 16)
#define TFP_MAX_LINES  ((size_t)1 << 18) /* of a capture */
#define TFP_MAX_METAS  ((size_t)1 << 24) /* of a capture, of events and stats */

static inline struct tfp_str tfp_str(const uint8_t *data, size_t size)
{
	return (struct tfp_str){(const char *)data, size};
}

/* As tfp_pb_bytes, but a message that goes beyond the end is given as far as
 * it is there, with *cut set; that is the last thing the cursor gives. */
bool tfp_bytes_or_part(struct tfp_pb_cursor *c, struct tfp_span *span, bool *cut);

/* Counts memory that the capture will hold; NULL is noted as no memory. Returns
 * memory. */
void *tfp_capture_count_heap(struct tfp_capture_parts *c, void *memory, size_t bytes);

/* Reads everything of a plane but its lines' events. */
void tfp_plane_read(struct tfp_capture_parts *cap, struct tfp_plane *plane,
		    struct tfp_plane_state *s);
void tfp_plane_release(struct tfp_plane *plane, struct tfp_plane_state *s);

/* Reads the events of all lines of so many planes, in parallel. false without memory. */
bool tfp_lines_read(struct tfp_capture_parts *cap, struct tfp_plane *planes,
		    struct tfp_plane_state *states, size_t count, struct tfp_pool *pool);

/* Puts made lines into a capture that has been read (capture_made.c). */
enum tfp_status tfp_made_lines_take(struct tfp_capture_parts *cap,
				    const struct tfp_made_plane *planes, size_t plane_count,
				    struct tfp_error *err);

/* ---- planes of a compressed file, read while more is unpacked (capture_stream.c) ---- */

struct tfp_stream;

/* NULL without memory, or when the pool has no thread to help the caller: then planes are read when
 * all of the file has come. */
struct tfp_stream *tfp_stream_new(struct tfp_capture_parts *cap, struct tfp_pool *pool);
/* For tfp_unpack. */
struct tfp_unpack_watch tfp_stream_watch(struct tfp_stream *stream);
/* Waits until what has begun is done, reading what is left, and moves the planes into planes
 * and states, which have room for count. Returns how many there are: the first ones of the
 * file. Frees the stream. Accepts NULL. */
size_t tfp_stream_finish(struct tfp_stream *stream, struct tfp_plane *planes,
			 struct tfp_plane_state *states, size_t count);

/* ---- columns (capture_columns.c) ---- */

/* Starts and places are kept in blocks of TFP_EVENTS_A_BLOCK events. Parts of a line that are
 * read at the same time begin at a multiple of it. */

/* How far from each other the messages of a block's events may lie to be kept as near. */
#define TFP_PLACES_NEAR UINT16_MAX
/* And to take one byte: where many events have one message. */
#define TFP_PLACES_TINY UINT8_MAX

/* Room for count events. metas: how many different ones there can be. spread: how far the
 * messages of a block's events lie from each other at most; span is the size of the line's
 * message. Places of up to TFP_PLACES_TINY are put by tfp_columns_put_place_from alone. */
bool tfp_columns_init(struct tfp_columns *col, size_t count, size_t metas, uint64_t spread,
		      uint64_t span);
void tfp_columns_release(struct tfp_columns *col);
uint64_t tfp_columns_bytes(const struct tfp_columns *col, size_t count);
/* Stores where event i lies; all of a block in order of i, its lowest first. false when it
 * does not lie near after all. */
bool tfp_columns_put_place(struct tfp_columns *col, size_t i, uint64_t at);
/* The same where lowest is known: the lowest of i's block. Not for places that do not lie
 * near. */
void tfp_columns_put_place_from(struct tfp_columns *col, size_t i, uint64_t at, uint64_t lowest);

/* Ascending by event. */
struct tfp_long_times {
	struct tfp_long_time *list;
	size_t count, room;
};
/* false without memory. */
bool tfp_long_times_add(struct tfp_long_times *list, size_t event, int64_t ps);

/* An event that is written when it ends comes after those within it, and begins so much
 * before them at most, usually: 17 s. */
#define TFP_START_SLACK_PS ((int64_t)1 << 44)

/* Stores when event i starts; all of a block in order of i. false without memory. */
static inline bool tfp_columns_put_start(struct tfp_columns *col, size_t i, int64_t ps,
					 struct tfp_long_times *long_starts)
{
	int64_t *block = &col->start_blocks_ps[i / TFP_EVENTS_A_BLOCK];
	if (i % TFP_EVENTS_A_BLOCK == 0)
		*block = ps - TFP_START_SLACK_PS;
	/* One that is before the block's comes out as very late. */
	uint64_t after = (uint64_t)ps - (uint64_t)*block;
	col->start_low_ps[i] = (uint32_t)after;
	bool is_long = after >> 32 >= TFP_LONG_START;
	col->start_high[i] = is_long ? TFP_LONG_START : (uint16_t)(after >> 32);
	return !is_long || tfp_long_times_add(long_starts, i, ps);
}
/* The columns as a line has them. */
void tfp_columns_show(const struct tfp_columns *col, size_t count, struct tfp_line *line);
/* Brings the first count events into order: by start, then the longer first, then as they
 * are. Shows them in line again. */
bool tfp_columns_sort(struct tfp_columns *col, size_t count, struct tfp_line *line);

/* Notes a diagnostic. at: the byte, or NULL; hint: a constant. */
void tfp_diagnose(struct tfp_capture_parts *cap, enum tfp_severity severity, const uint8_t *at,
		  const char *hint, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Notes what the planes and lines that are left have learnt about damage. */
void tfp_diagnose_planes(struct tfp_capture_parts *cap);
extern const char tfp_hint_copy_again[], tfp_hint_was_it_complete[];

#endif
