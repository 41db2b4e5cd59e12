/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture in columns.
 *
 * One bounds-checked pass over the bytes of an XSpace (tsl/profiler/protobuf/
 * xplane.proto) turns every event into a few numbers in parallel arrays; names
 * stay where they are, and stats are decoded from the bytes when they are asked for. A sealed
 * capture is immutable, so readers take no lock. Every pointer below belongs to the capture and
 * lives as long as it. It knows the wire format and nothing of what names mean.
 *
 *     for (size_t l = 0; l < plane->line_count; l++) {
 *             const struct tfp_line *line = &plane->lines[l];
 *             for (size_t i = 0; i < line->event_count; i++) {
 *                     struct tfp_str name = tfp_event_meta(plane, line, i)->name;
 *                     struct tfp_stat_iter it = tfp_event_stats(capture, line, i);
 *                     struct tfp_stat stat;
 *                     while (tfp_stat_next(&it, &stat))
 *                             ...
 *             }
 *     }
 */
#ifndef TFP_STORE_CAPTURE_H
#define TFP_STORE_CAPTURE_H

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/pool.h"
#include "store/logdir.h"
#include "wire/pb_cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text as it is in the file: not NUL-terminated, any bytes. */
struct tfp_str {
	const char *data;
	size_t size;
};

/* A stretch of the capture's bytes: fields of a message, without its length. */
struct tfp_span {
	const uint8_t *data;
	size_t size;
};

enum tfp_stat_kind {
	TFP_STAT_NONE, /* no value in the file */
	TFP_STAT_DOUBLE,
	TFP_STAT_UINT,
	TFP_STAT_INT,
	TFP_STAT_STR,
	TFP_STAT_BYTES,
	TFP_STAT_REF, /* uint_value is the key of a stat metadata whose name is meant */
};

struct tfp_stat {
	int64_t metadata_id;
	enum tfp_stat_kind kind;
	union {
		double double_value;
		uint64_t uint_value;
		int64_t int_value;
		struct tfp_str text; /* STR and BYTES */
	};
};

/* Walks the XStat messages in a span. Damaged stats end the walk. */
struct tfp_stat_iter {
	struct tfp_pb_cursor cursor;
	uint32_t field; /* the field that holds stats in the surrounding message */
};

struct tfp_event_meta {
	int64_t id; /* key of the map in the file */
	struct tfp_str name, display_name;
	struct tfp_span message; /* for stats and children */
};

struct tfp_stat_meta {
	int64_t id;
	struct tfp_str name;
};

/* Key of a map in the file -> index of an array. */
struct tfp_id_map {
	const int64_t *keys;     /* ascending; NULL when dense is set */
	const uint32_t *indexes; /* beside keys, or by key when dense */
	size_t count;            /* of keys, or of dense entries */
	bool dense;
};

/* Index of the metadata of an event whose id has none in the file. It is a
 * valid index: an empty name. */
#define TFP_META_UNKNOWN 0u

/* A duration of more than 1.09 s, or a start that is minutes from those beside it. A
 * thread's life holds few of them. */
struct tfp_long_time {
	int64_t ps;
	size_t event;
};

/* Durations have 40 bits. With these upper 8 one is in the list of long ones. */
#define TFP_LONG_DURATION UINT8_MAX

/* Starts have 48 bits, from a moment before those of a block of events on. With these upper
 * 16 one is in a list, too. */
#define TFP_LONG_START     UINT16_MAX
#define TFP_EVENTS_A_BLOCK 32u

/* Where the messages of a line's events lie in the line's message: capture_columns.c. */
struct tfp_places;

struct tfp_line {
	int64_t id, display_id;
	struct tfp_str name, display_name; /* display_name is name where it is empty */
	int64_t timestamp_ns;              /* origin of the events' offsets */
	struct tfp_span message;

	/* The events, ascending by start, then descending by duration, otherwise
	 * in the file's order. */
	size_t event_count;
	/* As narrow as they can be; read by the functions below, not directly. */
	const int64_t *start_blocks_ps;          /* of each block, before all of its starts */
	const uint32_t *start_low_ps;            /* from there on */
	const uint16_t *start_high;              /* the next 16 bits, or TFP_LONG_START */
	const struct tfp_long_time *long_starts; /* as they are, ascending by event */
	size_t long_start_count;
	const uint32_t *duration_low_ps;
	const uint8_t *duration_high;               /* the next 8 bits, or TFP_LONG_DURATION */
	const struct tfp_long_time *long_durations; /* ascending by event */
	size_t long_count;
	const uint16_t *narrow_metas; /* where the plane has few of them, otherwise */
	const uint32_t *wide_metas;
	const struct tfp_places *places;
	size_t aggregated; /* events that hold a count in place of a time */
};

struct tfp_plane {
	int64_t id;
	struct tfp_str name;
	struct tfp_span message;
	const struct tfp_line *lines;
	size_t line_count;
	const struct tfp_event_meta *event_metas; /* [0] is the unknown one */
	size_t event_meta_count;
	const struct tfp_stat_meta *stat_metas; /* [0] is the unknown one */
	size_t stat_meta_count;
	struct tfp_id_map event_meta_ids, stat_meta_ids;
};

enum tfp_severity { TFP_INFO, TFP_WARNING, TFP_ERROR };

struct tfp_diagnostic {
	enum tfp_severity severity;
	uint64_t offset;            /* byte in the (decompressed) file, or TFP_NO_OFFSET */
	const char *message, *hint; /* UTF-8, never NULL */
};

struct tfp_capture {
	struct tfp_span bytes; /* of the XSpace, decompressed */
	const struct tfp_plane *planes;
	size_t plane_count;
	const struct tfp_str *errors, *warnings, *hostnames; /* written by the profiler */
	size_t error_count, warning_count, hostname_count;
	const struct tfp_diagnostic *diagnostics; /* ours, about damage */
	size_t diagnostic_count;
	uint64_t event_count, line_count;
	uint64_t heap_bytes; /* that the capture holds, the mapped file not counted */
};

/* Reads the whole capture behind fd, which stays the caller's. name is for messages. A damaged file
 * is read as far as possible, with diagnostics. Bytes that are no capture at all, and an empty
 * file, give TFP_BAD_INPUT with file and offset. max_bytes bounds what a compressed file may unpack
 * to. pool may be NULL. Returned with one reference. */
enum tfp_status tfp_capture_open(struct tfp_capture **out, int fd, const char *name,
				 enum tfp_compression compression, uint64_t max_bytes,
				 struct tfp_pool *pool, struct tfp_error *err) TFP_CHECK;
/* The same from memory, which stays the caller's and must outlive the capture. */
enum tfp_status tfp_capture_from_bytes(struct tfp_capture **out, const void *bytes, size_t size,
				       const char *name, struct tfp_pool *pool,
				       struct tfp_error *err) TFP_CHECK;
struct tfp_capture *tfp_capture_ref(struct tfp_capture *capture);
/* Accepts NULL. */
void tfp_capture_unref(struct tfp_capture *capture);

/* Whether there are other references than the caller's one. The caller must make sure that no other
 * thread can take one meanwhile. */
bool tfp_capture_is_shared(const struct tfp_capture *capture);
/* Has gone(context) called when the capture is freed. Once for each capture. */
void tfp_capture_on_free(struct tfp_capture *capture, void (*gone)(void *context), void *context);

/* Whether bytes were read that the file no longer has, because another program cut it. Everything
 * that was computed since then means nothing. tfp_capture_open and tfp_capture_fact check this
 * themselves, and give TFP_IO. */
bool tfp_capture_was_cut(const struct tfp_capture *capture);

/* A quick look: calls see() with every plane, or with those of one name only (the others are
 * passed over by their length), its metadata read but not its lines (line_count is 0). What it
 * is given lives during the call. Stops when it returns false. Same errors as tfp_capture_open,
 * for what it reads. */
enum tfp_status tfp_capture_peek(int fd, const char *name, enum tfp_compression compression,
				 uint64_t max_bytes, const char *only,
				 bool (*see)(void *context, const struct tfp_plane *plane),
				 void *context, struct tfp_error *err) TFP_CHECK;

/* A fact is something computed from a capture once, when first needed, and
 * kept with it. The first caller computes, concurrent ones wait for it; a
 * failure is not kept. key is compared by address. */
struct tfp_fact_kind {
	/* The capture owns *fact from now on. */
	enum tfp_status (*compute)(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
				   uint64_t *heap_bytes, struct tfp_error *err);
	void (*free)(void *fact);
};
enum tfp_status tfp_capture_fact(struct tfp_capture *capture, const struct tfp_fact_kind *kind,
				 struct tfp_pool *pool, const void **fact,
				 struct tfp_error *err) TFP_CHECK;
/* What it takes of memory: heap_bytes, the facts so far, and the mapped file. */
uint64_t tfp_capture_held_bytes(struct tfp_capture *capture);

/* The general case of tfp_id_map_find. */
uint32_t tfp_id_map_search(const struct tfp_id_map *map, int64_t id);

/* Index of metadata by its key in the file, or TFP_META_UNKNOWN. */
static inline uint32_t tfp_id_map_find(const struct tfp_id_map *map, int64_t id)
{
	if (!map->dense)
		return tfp_id_map_search(map, id);
	return (uint64_t)id < map->count ? map->indexes[id] : TFP_META_UNKNOWN;
}

/* First plane of that name (exact), or NULL. */
const struct tfp_plane *tfp_capture_find_plane(const struct tfp_capture *capture, const char *name);

/* Offsets are from -TFP_TIME_MAX_PS to it, durations from 0, so that sums of three fit in 64 bits.
 * A value beyond that is clamped, and a diagnostic says so. */
#define TFP_TIME_MAX_PS (INT64_MAX / 4)

/* The general cases of the two below. */
int64_t tfp_event_long_offset_ps(const struct tfp_line *line, size_t i);
int64_t tfp_event_long_duration_ps(const struct tfp_line *line, size_t i);

/* Picoseconds from the line's origin, timestamp_ns * 1000, to the event's start; see
 * tfp_event_start_ps. */
static inline int64_t tfp_event_offset_ps(const struct tfp_line *line, size_t i)
{
	uint16_t high = line->start_high[i];
	if (high == TFP_LONG_START)
		return tfp_event_long_offset_ps(line, i);
	return line->start_blocks_ps[i / TFP_EVENTS_A_BLOCK] +
	       ((int64_t)high << 32 | line->start_low_ps[i]);
}

static inline int64_t tfp_event_duration_ps(const struct tfp_line *line, size_t i)
{
	uint8_t high = line->duration_high[i];
	if (high == TFP_LONG_DURATION)
		return tfp_event_long_duration_ps(line, i);
	return (int64_t)high << 32 | line->duration_low_ps[i];
}

/* Index of the event's metadata in the plane's event_metas. */
/* To its end; no overflow, as loading keeps both within bounds. */
static inline int64_t tfp_event_end_offset_ps(const struct tfp_line *line, size_t i)
{
	return tfp_event_offset_ps(line, i) + tfp_event_duration_ps(line, i);
}

static inline uint32_t tfp_event_meta_index(const struct tfp_line *line, size_t i)
{
	return line->narrow_metas ? line->narrow_metas[i] : line->wide_metas[i];
}

static inline const struct tfp_event_meta *tfp_event_meta(const struct tfp_plane *plane,
							  const struct tfp_line *line, size_t i)
{
	return &plane->event_metas[tfp_event_meta_index(line, i)];
}

/* Picoseconds from the origin of the capture's clock: timestamp_ns * 1000 +
 * offset (xplane_visitor.h). Saturates. */
static inline int64_t tfp_event_start_ps(const struct tfp_line *line, size_t i)
{
	int64_t origin, start;
	if (__builtin_mul_overflow(line->timestamp_ns, 1000, &origin) ||
	    __builtin_add_overflow(origin, tfp_event_offset_ps(line, i), &start))
		return line->timestamp_ns < 0 ? INT64_MIN : INT64_MAX;
	return start;
}

/* Where event i lies in the line's message: byte of its length. */
uint64_t tfp_event_at(const struct tfp_line *line, size_t i);
/* The message of event i. */
struct tfp_span tfp_event_message(const struct tfp_line *line, size_t i);

struct tfp_stat_iter tfp_event_stats(const struct tfp_line *line, size_t i);
struct tfp_stat_iter tfp_event_meta_stats(const struct tfp_event_meta *meta);
struct tfp_stat_iter tfp_plane_stats(const struct tfp_plane *plane);
bool tfp_stat_next(struct tfp_stat_iter *it, struct tfp_stat *stat);
/* Gives the next wanted stat, and returns wanted[index of its metadata], which is above 0; 0 at the
 * end. ids maps keys of the file to indexes. Other stats are passed over by their length, several
 * times as fast as reading them, so damage within them goes unnoticed. */
unsigned tfp_stat_next_of(struct tfp_stat_iter *it, const struct tfp_id_map *ids,
			  const uint8_t *wanted, struct tfp_stat *stat);

/* The next stat whose value is a text, or refers to one. Numbers are passed over as above. */
bool tfp_stat_next_text(struct tfp_stat_iter *it, struct tfp_stat *stat);

/* The key in the file of the stat metadata with this name, or INT64_MIN; for
 * comparing with tfp_stat.metadata_id. */
int64_t tfp_plane_stat_id(const struct tfp_plane *plane, const char *name);

/* Typed readers (tf2_and_xprof.md, "Stat typing": a number stored under
 * another integer type counts as present). Each says whether it accepted. */
bool tfp_stat_int(const struct tfp_stat *stat, int64_t *value);   /* INT, UINT */
bool tfp_stat_double(const struct tfp_stat *stat, double *value); /* DOUBLE, INT, UINT */
bool tfp_stat_text(const struct tfp_plane *plane, const struct tfp_stat *stat,
		   struct tfp_str *value); /* STR, REF */

static inline bool tfp_str_equal(struct tfp_str s, const char *text)
{
	size_t n = __builtin_strlen(text);
	return s.size == n && __builtin_memcmp(s.data, text, n) == 0;
}

/* Byte-wise order, for sorting: below, at or above 0. */
int tfp_str_compare(struct tfp_str a, struct tfp_str b);

static inline bool tfp_str_starts(struct tfp_str s, const char *text)
{
	size_t n = __builtin_strlen(text);
	return s.size >= n && __builtin_memcmp(s.data, text, n) == 0;
}

#endif
