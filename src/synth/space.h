/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that is being made: planes, their lines and their names, laid out
 * as protobuf's own serialiser would (lines, then metadata, then stats).
 *
 * A line's events are written as they come and never kept, so that memory does
 * not grow with the capture. That takes two passes over the same events: the
 * first counts bytes, from which every length and every position in the file
 * follows; the second writes. The maker of the events must make the same ones
 * twice.
 *
 *     tfp_synth_space_plane, tfp_synth_space_line, tfp_synth_intern_* ...
 *     (all events)                         pass one
 *     tfp_synth_space_lay_out(&space, fd, hostname, err)
 *     (all events again)                   pass two
 *     tfp_synth_space_finish(&space, err)
 *
 * Failures of single writes are remembered and come out of finish.
 */
#ifndef TFP_SYNTH_SPACE_H
#define TFP_SYNTH_SPACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str_map.h"
#include "wire/pb_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Field numbers of xplane.proto. */
enum {
	XSPACE_PLANES = 1,
	XSPACE_HOSTNAMES = 4,

	XPLANE_ID = 1,
	XPLANE_NAME = 2,
	XPLANE_LINES = 3,
	XPLANE_EVENT_METADATA = 4,
	XPLANE_STAT_METADATA = 5,
	XPLANE_STATS = 6,

	XLINE_ID = 1,
	XLINE_NAME = 2,
	XLINE_TIMESTAMP_NS = 3,
	XLINE_EVENTS = 4,
	XLINE_DISPLAY_NAME = 11,

	XEVENT_METADATA_ID = 1,
	XEVENT_OFFSET_PS = 2,
	XEVENT_DURATION_PS = 3,
	XEVENT_STATS = 4,

	XSTAT_METADATA_ID = 1,
	XSTAT_DOUBLE = 2,
	XSTAT_UINT64 = 3,
	XSTAT_INT64 = 4,
	XSTAT_STR = 5,
	XSTAT_BYTES = 6,
	XSTAT_REF = 7,

	XMETADATA_ID = 1,
	XMETADATA_NAME = 2,
	XMETADATA_STATS = 5,

	MAP_KEY = 1,
	MAP_VALUE = 2,
};

/* Names of one kind in a plane, and their encoded map entries. */
struct tfp_synth_names {
	struct tfp_str_map index;
	struct tfp_buf entries;
	uint32_t count;
	uint32_t field; /* of XPlane */
};

struct tfp_synth_line {
	int64_t id;
	const char *name;
	int64_t timestamp_ns;
	bool has_display_name;
	struct tfp_buf pending; /* encoded events not yet counted or written */
	struct tfp_buf first;   /* an event before all others, known after pass one */
	uint64_t event_bytes;   /* pass one's count */
	uint64_t at;            /* where pass two writes next */
	uint64_t end;           /* where it must have arrived at the end */
	uint64_t event_count;   /* of the pass that runs */
	struct tfp_synth_space *space;
};

#define TFP_SYNTH_LINES_MAX 80

struct tfp_synth_plane {
	int64_t id;
	const char *name;
	struct tfp_synth_names events, stats;
	struct tfp_buf plane_stats;
	struct tfp_synth_line **lines;
	unsigned line_count;
};

struct tfp_synth_space {
	struct tfp_arena arena; /* names, planes and lines */
	struct tfp_synth_plane *planes;
	unsigned plane_count;
	int fd; /* -1 in pass one; the caller's */
	uint64_t size;
	bool no_memory;
	int io_error; /* errno of the first write that failed, or 0 */
};

/* Caller's memory. planes: how many there will be at most. */
enum tfp_status tfp_synth_space_init(struct tfp_synth_space *s, unsigned planes,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_synth_space_release(struct tfp_synth_space *s);

/* The next plane, in the order of the file; owned by the space, never NULL
 * within what init was promised. name is copied. */
struct tfp_synth_plane *tfp_synth_space_plane(struct tfp_synth_space *s, int64_t id,
					      const char *name);
/* The next line of a plane, at most TFP_SYNTH_LINES_MAX. A line that gets no
 * events is left out of the file, as profilers do. */
struct tfp_synth_line *tfp_synth_space_line(struct tfp_synth_space *s, struct tfp_synth_plane *p,
					    int64_t id, const char *name, int64_t timestamp_ns);
/* Puts a plane's lines in the order of their names. */
void tfp_synth_space_sort_lines(struct tfp_synth_plane *p);
/* A copy of a formatted text that lives as long as the space; "" without
 * memory. */
const char *tfp_synth_space_text(struct tfp_synth_space *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The id of a name, entered at its first mention. name must live as long as
 * the space. */
uint32_t tfp_synth_intern(struct tfp_synth_space *s, struct tfp_synth_names *names,
			  const char *name);
/* Enters a name under an id of the caller's; later ids are larger. */
void tfp_synth_intern_at(struct tfp_synth_space *s, struct tfp_synth_names *names, const char *name,
			 uint32_t id);

/* The same for an event's name with a stat of bytes. */
void tfp_synth_intern_bytes_at(struct tfp_synth_space *s, struct tfp_synth_names *names,
			       const char *name, uint32_t id, uint32_t stat, const void *bytes,
			       size_t size);

/* An event; stats are put into *out between begin and end. Times in ns since
 * the start of the profile. */
struct tfp_buf *tfp_synth_event_begin(struct tfp_synth_line *line, uint32_t metadata,
				      int64_t start_ns, int64_t duration_ns, size_t *mark);
void tfp_synth_event_end(struct tfp_synth_line *line, size_t mark);
/* The one event that encloses a whole line: start is the line's. Between the
 * passes only. */
void tfp_synth_event_first(struct tfp_synth_line *line, uint32_t metadata, int64_t duration_ns);

/* Stats, into an event or into plane_stats. */
void tfp_synth_stat_int(struct tfp_buf *b, uint32_t field, uint32_t stat, int64_t value);
void tfp_synth_stat_uint(struct tfp_buf *b, uint32_t field, uint32_t stat, uint64_t value);
void tfp_synth_stat_double(struct tfp_buf *b, uint32_t field, uint32_t stat, double value);
void tfp_synth_stat_ref(struct tfp_buf *b, uint32_t field, uint32_t stat, uint32_t text);
void tfp_synth_stat_text(struct tfp_buf *b, uint32_t field, uint32_t stat, const char *text);

/* Bytes of the file so far as pass one knows them. */
uint64_t tfp_synth_space_size(const struct tfp_synth_space *s, const char *hostname);
/* Ends pass one: writes everything but the events to fd. */
enum tfp_status tfp_synth_space_lay_out(struct tfp_synth_space *s, int fd, const char *hostname,
					struct tfp_error *err) TFP_CHECK;
/* Ends pass two. */
enum tfp_status tfp_synth_space_finish(struct tfp_synth_space *s, struct tfp_error *err) TFP_CHECK;

#endif
