/* SPDX-License-Identifier: Apache-2.0 */
#include "xspace_builder.h"

#include "base/buf.h"
#include "wire/pb_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder_stats {
	struct builder_plane *plane;
	uint32_t field;      /* of stats in what they belong to */
	struct tfp_buf body; /* of the event or metadata, or stats of the plane */
	struct builder_stats *next;
};

struct name {
	char *text;
	int64_t id;
	struct builder_stats *more; /* of event metadata, or NULL */
	struct name *next;
};

struct names {
	struct name *first, **end;
	int64_t count;
	struct tfp_buf given; /* entries by builder_*_metadata */
};

struct builder_line {
	struct builder_plane *plane;
	struct tfp_buf head, tail;
	struct builder_stats *events, **end;
	struct builder_line *next;
};

struct builder_plane {
	struct builder *builder;
	struct tfp_buf head, tail;
	bool metadata_first;
	struct builder_line *lines, **end;
	struct names events, stats;
	struct builder_stats *own;
	struct builder_plane *next;
};

struct builder {
	struct builder_plane *planes, **end;
	struct tfp_buf tail;
};

static void *new_zeroed(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory) {
		fputs("xspace_builder: no memory\n", stderr);
		abort();
	}
	return memory;
}

static void open_buf(struct tfp_buf *b)
{
	tfp_buf_init(b, (size_t)1 << 31);
}

static void must_be_whole(const struct tfp_buf *b)
{
	if (tfp_buf_failed(b)) {
		fputs("xspace_builder: a buffer failed\n", stderr);
		abort();
	}
}

/* A part's bytes at the end of another. */
static void append(struct tfp_buf *to, const struct tfp_buf *from)
{
	must_be_whole(from);
	if (from->size > 0)
		tfp_buf_add(to, from->data, from->size);
}

static void append_message(struct tfp_buf *to, uint32_t field, const struct tfp_buf *from)
{
	must_be_whole(from);
	tfp_pb_put_bytes(to, field, from->data, from->size);
}

struct builder *builder_new(void)
{
	struct builder *b = new_zeroed(sizeof(*b));

	b->end = &b->planes;
	open_buf(&b->tail);
	return b;
}

static void free_stats(struct builder_stats *s)
{
	while (s) {
		struct builder_stats *next = s->next;

		tfp_buf_release(&s->body);
		free(s);
		s = next;
	}
}

static void free_names(struct names *names)
{
	struct name *n = names->first;

	while (n) {
		struct name *next = n->next;

		free_stats(n->more);
		free(n->text);
		free(n);
		n = next;
	}
	tfp_buf_release(&names->given);
}

static void free_line(struct builder_line *l)
{
	free_stats(l->events);
	tfp_buf_release(&l->head);
	tfp_buf_release(&l->tail);
	free(l);
}

static void free_plane(struct builder_plane *p)
{
	struct builder_line *l = p->lines;

	while (l) {
		struct builder_line *next = l->next;

		free_line(l);
		l = next;
	}
	free_names(&p->events);
	free_names(&p->stats);
	free_stats(p->own);
	tfp_buf_release(&p->head);
	tfp_buf_release(&p->tail);
	free(p);
}

void builder_free(struct builder *b)
{
	struct builder_plane *p;

	if (!b)
		return;
	p = b->planes;
	while (p) {
		struct builder_plane *next = p->next;

		free_plane(p);
		p = next;
	}
	tfp_buf_release(&b->tail);
	free(b);
}

void builder_hostname(struct builder *b, const char *name)
{
	tfp_pb_put_text(&b->tail, 4, name);
}

void builder_warning(struct builder *b, const char *text)
{
	tfp_pb_put_text(&b->tail, 3, text);
}

void builder_error(struct builder *b, const char *text)
{
	tfp_pb_put_text(&b->tail, 2, text);
}

static struct builder_stats *new_stats(struct builder_plane *p, uint32_t field)
{
	struct builder_stats *s = new_zeroed(sizeof(*s));

	s->plane = p;
	s->field = field;
	open_buf(&s->body);
	return s;
}

struct builder_plane *builder_plane(struct builder *b, int64_t id, const char *name)
{
	struct builder_plane *p = new_zeroed(sizeof(*p));

	p->builder = b;
	p->end = &p->lines;
	p->events.end = &p->events.first;
	p->stats.end = &p->stats.first;
	open_buf(&p->head);
	open_buf(&p->tail);
	open_buf(&p->events.given);
	open_buf(&p->stats.given);
	p->own = new_stats(p, 6);
	if (id != 0)
		tfp_pb_put_int(&p->head, 1, id);
	tfp_pb_put_text(&p->head, 2, name);
	*b->end = p;
	b->end = &p->next;
	return p;
}

struct builder_line *builder_line(struct builder_plane *p, int64_t id, const char *name,
				  int64_t timestamp_ns)
{
	struct builder_line *l = new_zeroed(sizeof(*l));

	l->plane = p;
	l->end = &l->events;
	open_buf(&l->head);
	open_buf(&l->tail);
	if (id != 0)
		tfp_pb_put_int(&l->head, 1, id);
	tfp_pb_put_text(&l->head, 2, name);
	if (timestamp_ns != 0)
		tfp_pb_put_int(&l->head, 3, timestamp_ns);
	*p->end = l;
	p->end = &l->next;
	return l;
}

void builder_line_display(struct builder_line *l, int64_t id, const char *name)
{
	if (id != 0)
		tfp_pb_put_int(&l->tail, 10, id);
	if (name)
		tfp_pb_put_text(&l->tail, 11, name);
}

void builder_line_duration(struct builder_line *l, int64_t ps)
{
	tfp_pb_put_int(&l->tail, 9, ps);
}

static struct name *known(struct names *names, const char *text)
{
	struct name *n;

	for (n = names->first; n; n = n->next)
		if (!strcmp(n->text, text))
			return n;
	n = new_zeroed(sizeof(*n));
	n->text = new_zeroed(strlen(text) + 1);
	strcpy(n->text, text);
	n->id = ++names->count;
	*names->end = n;
	names->end = &n->next;
	return n;
}

int64_t builder_event_name_id(struct builder_plane *p, const char *name)
{
	return known(&p->events, name)->id;
}

int64_t builder_stat_name_id(struct builder_plane *p, const char *name)
{
	return known(&p->stats, name)->id;
}

static struct builder_stats *add_event(struct builder_line *l, int64_t metadata_id)
{
	struct builder_stats *e = new_stats(l->plane, 4);

	tfp_pb_put_int(&e->body, 1, metadata_id);
	*l->end = e;
	l->end = &e->next;
	return e;
}

struct builder_stats *builder_event_id(struct builder_line *l, int64_t metadata_id,
				       int64_t start_ps, int64_t duration_ps)
{
	struct builder_stats *e = add_event(l, metadata_id);

	tfp_pb_put_int(&e->body, 2, start_ps);
	if (duration_ps != 0)
		tfp_pb_put_int(&e->body, 3, duration_ps);
	return e;
}

struct builder_stats *builder_event(struct builder_line *l, const char *name, int64_t start_ps,
				    int64_t duration_ps)
{
	return builder_event_id(l, builder_event_name_id(l->plane, name), start_ps, duration_ps);
}

struct builder_stats *builder_event_aggregated(struct builder_line *l, const char *name,
					       int64_t occurrences, int64_t duration_ps)
{
	struct builder_stats *e = add_event(l, builder_event_name_id(l->plane, name));

	if (duration_ps != 0)
		tfp_pb_put_int(&e->body, 3, duration_ps);
	tfp_pb_put_int(&e->body, 5, occurrences);
	return e;
}

struct builder_stats *builder_plane_stats(struct builder_plane *p)
{
	return p->own;
}

struct builder_stats *builder_metadata_stats(struct builder_plane *p, const char *name)
{
	struct name *n = known(&p->events, name);

	if (!n->more)
		n->more = new_stats(p, 5);
	return n->more;
}

void builder_metadata_display(struct builder_plane *p, const char *name, const char *display_name)
{
	tfp_pb_put_text(&builder_metadata_stats(p, name)->body, 4, display_name);
}

void builder_metadata_child(struct builder_plane *p, const char *name, const char *child)
{
	tfp_pb_put_int(&builder_metadata_stats(p, name)->body, 6, builder_event_name_id(p, child));
}

static size_t begin_stat(struct builder_stats *s, int64_t id)
{
	size_t mark = tfp_pb_begin(&s->body, s->field);

	tfp_pb_put_int(&s->body, 1, id);
	return mark;
}

static size_t begin_named(struct builder_stats *s, const char *name)
{
	return begin_stat(s, builder_stat_name_id(s->plane, name));
}

void builder_stat_int(struct builder_stats *s, const char *name, int64_t value)
{
	size_t mark = begin_named(s, name);

	tfp_pb_put_int(&s->body, 4, value);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_uint(struct builder_stats *s, const char *name, uint64_t value)
{
	size_t mark = begin_named(s, name);

	tfp_pb_put_uint(&s->body, 3, value);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_double(struct builder_stats *s, const char *name, double value)
{
	size_t mark = begin_named(s, name);

	tfp_pb_put_double(&s->body, 2, value);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_str(struct builder_stats *s, const char *name, const char *value)
{
	size_t mark = begin_named(s, name);

	tfp_pb_put_text(&s->body, 5, value);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_ref(struct builder_stats *s, const char *name, const char *value)
{
	builder_stat_ref_id(s, name, (uint64_t)builder_stat_name_id(s->plane, value));
}

void builder_stat_bytes(struct builder_stats *s, const char *name, const void *bytes, size_t size)
{
	size_t mark = begin_named(s, name);

	tfp_pb_put_bytes(&s->body, 6, bytes, size);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_int_id(struct builder_stats *s, int64_t stat_id, int64_t value)
{
	size_t mark = begin_stat(s, stat_id);

	tfp_pb_put_int(&s->body, 4, value);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_ref_id(struct builder_stats *s, const char *name, uint64_t ref)
{
	size_t mark = begin_named(s, name);

	tfp_pb_put_uint(&s->body, 7, ref);
	tfp_pb_end(&s->body, mark);
}

void builder_stat_empty(struct builder_stats *s, const char *name)
{
	tfp_pb_end(&s->body, begin_named(s, name));
}

/* more: fields of the metadata besides id and name, or NULL. */
static void put_entry(struct tfp_buf *to, uint32_t field, const int64_t *key, int64_t id,
		      const char *name, const struct tfp_buf *more)
{
	size_t entry = tfp_pb_begin(to, field), value;

	if (key)
		tfp_pb_put_int(to, 1, *key);
	value = tfp_pb_begin(to, 2);
	tfp_pb_put_int(to, 1, id);
	tfp_pb_put_text(to, 2, name);
	if (more)
		append(to, more);
	tfp_pb_end(to, value);
	tfp_pb_end(to, entry);
}

void builder_event_metadata(struct builder_plane *p, int64_t id, const char *name)
{
	put_entry(&p->events.given, 4, &id, id, name, NULL);
}

void builder_stat_metadata(struct builder_plane *p, int64_t id, const char *name)
{
	put_entry(&p->stats.given, 5, &id, id, name, NULL);
}

void builder_event_metadata_key(struct builder_plane *p, bool with_key, int64_t key, int64_t id,
				const char *name)
{
	put_entry(&p->events.given, 4, with_key ? &key : NULL, id, name, NULL);
}

void builder_metadata_first(struct builder_plane *p)
{
	p->metadata_first = true;
}

void builder_raw(struct builder *b, const void *bytes, size_t size)
{
	tfp_buf_add(&b->tail, bytes, size);
}

void builder_raw_plane(struct builder_plane *p, const void *bytes, size_t size)
{
	tfp_buf_add(&p->tail, bytes, size);
}

void builder_raw_line(struct builder_line *l, const void *bytes, size_t size)
{
	tfp_buf_add(&l->tail, bytes, size);
}

void builder_raw_stats(struct builder_stats *s, const void *bytes, size_t size)
{
	tfp_buf_add(&s->body, bytes, size);
}

static void put_unknown(struct tfp_buf *b)
{
	size_t group;

	tfp_pb_put_uint(b, 1000, UINT64_MAX);
	tfp_pb_put_double(b, 1001, 0.5);
	tfp_pb_put_text(b, 1002, "unknown");
	tfp_pb_key(b, 536870911, TFP_PB_FIXED32);
	tfp_buf_add(b, "\1\2\3\4", 4);
	group = tfp_pb_begin(b, 1003);
	tfp_pb_put_int(b, 1, -1);
	tfp_pb_end(b, group);
}

void builder_unknown_fields(struct builder *b)
{
	put_unknown(&b->tail);
	for (struct builder_plane *p = b->planes; p; p = p->next) {
		put_unknown(&p->tail);
		for (struct name *n = p->events.first; n; n = n->next)
			put_unknown(&builder_metadata_stats(p, n->text)->body);
		for (struct builder_line *l = p->lines; l; l = l->next) {
			put_unknown(&l->tail);
			for (struct builder_stats *e = l->events; e; e = e->next)
				put_unknown(&e->body);
		}
	}
}

static void put_line(struct tfp_buf *to, const struct builder_line *l)
{
	struct tfp_buf body;

	open_buf(&body);
	append(&body, &l->head);
	for (const struct builder_stats *e = l->events; e; e = e->next)
		append_message(&body, 4, &e->body);
	append(&body, &l->tail);
	append_message(to, 3, &body);
	tfp_buf_release(&body);
}

static void put_names(struct tfp_buf *to, uint32_t field, const struct names *names)
{
	for (const struct name *n = names->first; n; n = n->next)
		put_entry(to, field, &n->id, n->id, n->text, n->more ? &n->more->body : NULL);
	append(to, &names->given);
}

static void put_plane(struct tfp_buf *to, const struct builder_plane *p)
{
	struct tfp_buf body;

	open_buf(&body);
	append(&body, &p->head);
	for (int pass = 0; pass < 2; pass++) {
		if ((pass == 0) == p->metadata_first) {
			put_names(&body, 4, &p->events);
			put_names(&body, 5, &p->stats);
		} else {
			for (const struct builder_line *l = p->lines; l; l = l->next)
				put_line(&body, l);
		}
	}
	append(&body, &p->own->body);
	append(&body, &p->tail);
	append_message(to, 1, &body);
	tfp_buf_release(&body);
}

uint8_t *builder_bytes(struct builder *b, size_t *size)
{
	struct tfp_buf out;
	uint8_t *bytes;

	open_buf(&out);
	for (const struct builder_plane *p = b->planes; p; p = p->next)
		put_plane(&out, p);
	append(&out, &b->tail);
	must_be_whole(&out);
	*size = out.size;
	bytes = new_zeroed(out.size + 1);
	if (out.size > 0)
		memcpy(bytes, out.data, out.size);
	tfp_buf_release(&out);
	return bytes;
}

void builder_write(struct builder *b, const char *path)
{
	size_t size;
	uint8_t *bytes = builder_bytes(b, &size);
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		abort();
	}
	free(bytes);
}
