/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/space.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Events of a line are handed on in pieces of about this size. */
#define PENDING_BYTES ((size_t)128 << 10)
#define NAMES_CEILING ((size_t)512 << 20)

static bool make_lines(struct tfp_synth_space *s, unsigned planes)
{
	for (unsigned i = 0; i < planes; i++) {
		struct tfp_synth_line *lines;

		lines = tfp_arena_zalloc(&s->arena, TFP_SYNTH_LINES_MAX, sizeof(*lines));
		s->planes[i].lines =
			tfp_arena_zalloc(&s->arena, TFP_SYNTH_LINES_MAX, sizeof(lines));
		if (!lines || !s->planes[i].lines)
			return false;
		for (unsigned k = 0; k < TFP_SYNTH_LINES_MAX; k++)
			s->planes[i].lines[k] = &lines[k];
	}
	return true;
}

enum tfp_status tfp_synth_space_init(struct tfp_synth_space *s, unsigned planes,
				     struct tfp_error *err)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	tfp_arena_init(&s->arena, (size_t)1 << 30);
	s->planes = tfp_arena_zalloc(&s->arena, planes, sizeof(*s->planes));
	if (s->planes && make_lines(s, planes))
		return TFP_OK;
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for %u planes", planes);
}

static void release_names(struct tfp_synth_names *n)
{
	tfp_str_map_release(&n->index);
	tfp_buf_release(&n->entries);
}

void tfp_synth_space_release(struct tfp_synth_space *s)
{
	for (unsigned i = 0; i < s->plane_count; i++) {
		struct tfp_synth_plane *p = &s->planes[i];

		release_names(&p->events);
		release_names(&p->stats);
		tfp_buf_release(&p->plane_stats);
		for (unsigned k = 0; k < p->line_count; k++) {
			tfp_buf_release(&p->lines[k]->pending);
			tfp_buf_release(&p->lines[k]->first);
		}
	}
	tfp_arena_release(&s->arena);
	s->plane_count = 0;
}

const char *tfp_synth_space_text(struct tfp_synth_space *s, const char *format, ...)
{
	const char *copy;
	va_list args;

	va_start(args, format);
	copy = tfp_arena_vprintf(&s->arena, format, args);
	va_end(args);
	if (!copy)
		s->no_memory = true;
	return copy ? copy : "";
}

struct tfp_synth_plane *tfp_synth_space_plane(struct tfp_synth_space *s, int64_t id,
					      const char *name)
{
	struct tfp_synth_plane *p = &s->planes[s->plane_count++];

	p->id = id;
	p->name = tfp_synth_space_text(s, "%s", name);
	p->events.field = XPLANE_EVENT_METADATA;
	p->stats.field = XPLANE_STAT_METADATA;
	tfp_buf_init(&p->events.entries, NAMES_CEILING);
	tfp_buf_init(&p->stats.entries, NAMES_CEILING);
	tfp_buf_init(&p->plane_stats, (size_t)1 << 20);
	return p;
}

struct tfp_synth_line *tfp_synth_space_line(struct tfp_synth_space *s, struct tfp_synth_plane *p,
					    int64_t id, const char *name, int64_t timestamp_ns)
{
	struct tfp_synth_line *line = p->lines[p->line_count++];

	line->id = id;
	line->name = tfp_synth_space_text(s, "%s", name);
	line->timestamp_ns = timestamp_ns;
	line->space = s;
	tfp_buf_init(&line->pending, PENDING_BYTES * 4);
	tfp_buf_init(&line->first, (size_t)1 << 12);
	return line;
}

static int by_name(const void *a, const void *b)
{
	const struct tfp_synth_line *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void tfp_synth_space_sort_lines(struct tfp_synth_plane *p)
{
	qsort(p->lines, p->line_count, sizeof(*p->lines), by_name);
}

/* stats: encoded, or NULL. */
static void add_name(struct tfp_synth_space *s, struct tfp_synth_names *names, const char *name,
		     uint32_t id, const struct tfp_buf *stats)
{
	struct tfp_buf *b = &names->entries;
	size_t entry, value;

	if (tfp_str_map_add(&names->index, name, strlen(name), id) == TFP_STR_MAP_NONE)
		s->no_memory = true;
	if (id > names->count)
		names->count = id;
	entry = tfp_pb_begin(b, names->field);
	tfp_pb_put_uint(b, MAP_KEY, id);
	value = tfp_pb_begin(b, MAP_VALUE);
	tfp_pb_put_uint(b, XMETADATA_ID, id);
	tfp_pb_put_text(b, XMETADATA_NAME, name);
	if (stats)
		tfp_buf_add(b, stats->data, stats->size);
	tfp_pb_end(b, value);
	tfp_pb_end(b, entry);
}

void tfp_synth_intern_at(struct tfp_synth_space *s, struct tfp_synth_names *names, const char *name,
			 uint32_t id)
{
	add_name(s, names, name, id, NULL);
}

void tfp_synth_intern_bytes_at(struct tfp_synth_space *s, struct tfp_synth_names *names,
			       const char *name, uint32_t id, uint32_t stat, const void *bytes,
			       size_t size)
{
	struct tfp_buf stats;
	size_t mark;

	tfp_buf_init(&stats, NAMES_CEILING);
	mark = tfp_pb_begin(&stats, XMETADATA_STATS);
	tfp_pb_put_uint(&stats, XSTAT_METADATA_ID, stat);
	tfp_pb_put_bytes(&stats, XSTAT_BYTES, bytes, size);
	tfp_pb_end(&stats, mark);
	add_name(s, names, name, id, &stats);
	s->no_memory |= tfp_buf_failed(&stats);
	tfp_buf_release(&stats);
}

uint32_t tfp_synth_intern(struct tfp_synth_space *s, struct tfp_synth_names *names,
			  const char *name)
{
	uint32_t id = tfp_str_map_find(&names->index, name, strlen(name));

	if (id != TFP_STR_MAP_NONE)
		return id;
	id = names->count + 1;
	tfp_synth_intern_at(s, names, name, id);
	return id;
}

static void write_at(struct tfp_synth_space *s, const char *data, size_t size, uint64_t at)
{
	while (size > 0 && s->io_error == 0) {
		ssize_t n = pwrite(s->fd, data, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			s->io_error = n < 0 ? errno : EIO;
			return;
		}
		data += n;
		size -= (size_t)n;
		at += (uint64_t)n;
	}
}

static void hand_on(struct tfp_synth_line *line)
{
	struct tfp_synth_space *s = line->space;

	if (tfp_buf_failed(&line->pending))
		s->no_memory = true;
	if (s->fd < 0) {
		line->event_bytes += line->pending.size;
	} else {
		write_at(s, line->pending.data, line->pending.size, line->at);
		line->at += line->pending.size;
	}
	tfp_buf_clear(&line->pending);
}

struct tfp_buf *tfp_synth_event_begin(struct tfp_synth_line *line, uint32_t metadata,
				      int64_t start_ns, int64_t duration_ns, size_t *mark)
{
	struct tfp_buf *b = &line->pending;

	*mark = tfp_pb_begin(b, XLINE_EVENTS);
	tfp_pb_put_uint(b, XEVENT_METADATA_ID, metadata);
	tfp_pb_put_int(b, XEVENT_OFFSET_PS, (start_ns - line->timestamp_ns) * 1000);
	if (duration_ns != 0)
		tfp_pb_put_int(b, XEVENT_DURATION_PS, duration_ns * 1000);
	return b;
}

void tfp_synth_event_end(struct tfp_synth_line *line, size_t mark)
{
	tfp_pb_end(&line->pending, mark);
	line->event_count++;
	if (line->pending.size >= PENDING_BYTES)
		hand_on(line);
}

void tfp_synth_event_first(struct tfp_synth_line *line, uint32_t metadata, int64_t duration_ns)
{
	size_t mark = tfp_pb_begin(&line->first, XLINE_EVENTS);

	tfp_pb_put_uint(&line->first, XEVENT_METADATA_ID, metadata);
	tfp_pb_put_int(&line->first, XEVENT_OFFSET_PS, 0);
	tfp_pb_put_int(&line->first, XEVENT_DURATION_PS, duration_ns * 1000);
	tfp_pb_end(&line->first, mark);
}

void tfp_synth_stat_int(struct tfp_buf *b, uint32_t field, uint32_t stat, int64_t value)
{
	size_t mark = tfp_pb_begin(b, field);

	tfp_pb_put_uint(b, XSTAT_METADATA_ID, stat);
	tfp_pb_put_int(b, XSTAT_INT64, value);
	tfp_pb_end(b, mark);
}

void tfp_synth_stat_uint(struct tfp_buf *b, uint32_t field, uint32_t stat, uint64_t value)
{
	size_t mark = tfp_pb_begin(b, field);

	tfp_pb_put_uint(b, XSTAT_METADATA_ID, stat);
	tfp_pb_put_uint(b, XSTAT_UINT64, value);
	tfp_pb_end(b, mark);
}

void tfp_synth_stat_double(struct tfp_buf *b, uint32_t field, uint32_t stat, double value)
{
	size_t mark = tfp_pb_begin(b, field);

	tfp_pb_put_uint(b, XSTAT_METADATA_ID, stat);
	tfp_pb_put_double(b, XSTAT_DOUBLE, value);
	tfp_pb_end(b, mark);
}

void tfp_synth_stat_ref(struct tfp_buf *b, uint32_t field, uint32_t stat, uint32_t text)
{
	size_t mark = tfp_pb_begin(b, field);

	tfp_pb_put_uint(b, XSTAT_METADATA_ID, stat);
	tfp_pb_put_uint(b, XSTAT_REF, text);
	tfp_pb_end(b, mark);
}

void tfp_synth_stat_text(struct tfp_buf *b, uint32_t field, uint32_t stat, const char *text)
{
	size_t mark = tfp_pb_begin(b, field);

	tfp_pb_put_uint(b, XSTAT_METADATA_ID, stat);
	tfp_pb_put_text(b, XSTAT_STR, text);
	tfp_pb_end(b, mark);
}

static void write_line_head(struct tfp_buf *b, const struct tfp_synth_line *line)
{
	tfp_pb_put_int(b, XLINE_ID, line->id);
	tfp_pb_put_text(b, XLINE_NAME, line->name);
	tfp_pb_put_int(b, XLINE_TIMESTAMP_NS, line->timestamp_ns);
}

static void write_line_tail(struct tfp_buf *b, const struct tfp_synth_line *line)
{
	if (line->has_display_name)
		tfp_pb_put_text(b, XLINE_DISPLAY_NAME, line->name);
}

static uint64_t field_bytes(uint64_t length)
{
	return 1 + tfp_pb_varint_size(length) + length;
}

static uint64_t line_events(const struct tfp_synth_line *line)
{
	return line->event_bytes + line->pending.size + line->first.size;
}

static uint64_t line_length(const struct tfp_synth_line *line, struct tfp_buf *scratch)
{
	tfp_buf_clear(scratch);
	write_line_head(scratch, line);
	write_line_tail(scratch, line);
	return scratch->size + line_events(line);
}

static void write_plane_head(struct tfp_buf *b, const struct tfp_synth_plane *p)
{
	if (p->id != 0)
		tfp_pb_put_int(b, XPLANE_ID, p->id);
	tfp_pb_put_text(b, XPLANE_NAME, p->name);
}

static uint64_t plane_length(const struct tfp_synth_plane *p, struct tfp_buf *scratch)
{
	uint64_t size;

	tfp_buf_clear(scratch);
	write_plane_head(scratch, p);
	size = scratch->size;
	for (unsigned i = 0; i < p->line_count; i++)
		if (line_events(p->lines[i]) > 0)
			size += field_bytes(line_length(p->lines[i], scratch));
	return size + p->events.entries.size + p->stats.entries.size + p->plane_stats.size;
}

uint64_t tfp_synth_space_size(const struct tfp_synth_space *s, const char *hostname)
{
	uint64_t size = field_bytes(strlen(hostname));
	struct tfp_buf scratch;

	tfp_buf_init(&scratch, (size_t)1 << 16);
	for (unsigned i = 0; i < s->plane_count; i++)
		size += field_bytes(plane_length(&s->planes[i], &scratch));
	tfp_buf_release(&scratch);
	return size;
}

/* Writes what scratch holds at *at, and moves on. */
static void put_scratch(struct tfp_synth_space *s, struct tfp_buf *scratch, uint64_t *at)
{
	if (tfp_buf_failed(scratch))
		s->no_memory = true;
	write_at(s, scratch->data, scratch->size, *at);
	*at += scratch->size;
	tfp_buf_clear(scratch);
}

static void put_bytes(struct tfp_synth_space *s, const struct tfp_buf *b, uint64_t *at)
{
	if (tfp_buf_failed(b))
		s->no_memory = true;
	write_at(s, b->data, b->size, *at);
	*at += b->size;
}

static void lay_out_line(struct tfp_synth_space *s, struct tfp_synth_line *line,
			 struct tfp_buf *scratch, uint64_t *at)
{
	uint64_t length = line_length(line, scratch);

	tfp_buf_clear(scratch);
	tfp_pb_key(scratch, XPLANE_LINES, TFP_PB_BYTES);
	tfp_pb_put_varint(scratch, length);
	write_line_head(scratch, line);
	put_scratch(s, scratch, at);
	put_bytes(s, &line->first, at);
	line->at = *at;
	line->end = *at + line->event_bytes;
	*at = line->end;
	write_line_tail(scratch, line);
	put_scratch(s, scratch, at);
}

static void lay_out_plane(struct tfp_synth_space *s, struct tfp_synth_plane *p,
			  struct tfp_buf *scratch, uint64_t *at)
{
	uint64_t length = plane_length(p, scratch);

	tfp_buf_clear(scratch);
	tfp_pb_key(scratch, XSPACE_PLANES, TFP_PB_BYTES);
	tfp_pb_put_varint(scratch, length);
	write_plane_head(scratch, p);
	put_scratch(s, scratch, at);
	for (unsigned i = 0; i < p->line_count; i++)
		if (line_events(p->lines[i]) > 0)
			lay_out_line(s, p->lines[i], scratch, at);
	put_bytes(s, &p->events.entries, at);
	put_bytes(s, &p->stats.entries, at);
	put_bytes(s, &p->plane_stats, at);
}

static enum tfp_status outcome(const struct tfp_synth_space *s, struct tfp_error *err)
{
	if (s->no_memory)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the capture's names");
	if (s->io_error)
		return tfp_fail(err, TFP_IO, "cannot write: %s", strerror(s->io_error));
	return TFP_OK;
}

enum tfp_status tfp_synth_space_lay_out(struct tfp_synth_space *s, int fd, const char *hostname,
					struct tfp_error *err)
{
	struct tfp_buf scratch;
	uint64_t at = 0;

	for (unsigned i = 0; i < s->plane_count; i++)
		for (unsigned k = 0; k < s->planes[i].line_count; k++) {
			hand_on(s->planes[i].lines[k]);
			s->planes[i].lines[k]->event_count = 0;
		}
	s->fd = fd;
	tfp_buf_init(&scratch, (size_t)1 << 16);
	for (unsigned i = 0; i < s->plane_count; i++)
		lay_out_plane(s, &s->planes[i], &scratch, &at);
	tfp_pb_put_text(&scratch, XSPACE_HOSTNAMES, hostname);
	put_scratch(s, &scratch, &at);
	tfp_buf_release(&scratch);
	s->size = at;
	return outcome(s, err);
}

enum tfp_status tfp_synth_space_finish(struct tfp_synth_space *s, struct tfp_error *err)
{
	for (unsigned i = 0; i < s->plane_count; i++)
		for (unsigned k = 0; k < s->planes[i].line_count; k++) {
			struct tfp_synth_line *line = s->planes[i].lines[k];

			hand_on(line);
			if (line->at != line->end)
				return tfp_fail(
					err, TFP_INTERNAL,
					"line '%s' came out %lld bytes longer the second time",
					line->name, (long long)(line->at - line->end));
		}
	return outcome(s, err);
}
