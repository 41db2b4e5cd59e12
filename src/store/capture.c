/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <string.h>

static void free_capture(struct tfp_capture_parts *cap)
{
	struct tfp_fact *next;
	for (struct tfp_fact *f = cap->facts; f; f = next) {
		next = f->next;
		f->kind->free(f->value);
		tfp_free(f);
	}
	for (size_t p = 0; p < cap->pub.plane_count; p++)
		tfp_plane_release(&cap->planes[p], &cap->states[p]);
	for (size_t i = 0; i < cap->pub.diagnostic_count; i++)
		tfp_free((char *)(uintptr_t)cap->diagnostics[i].message);
	tfp_free(cap->planes);
	tfp_free(cap->states);
	tfp_free(cap->diagnostics);
	tfp_free(cap->strings);
	tfp_unpacked_release(&cap->unpacked);
	if (cap->mapped_bytes)
		tfp_budget_give_mapped(cap->mapped_bytes);
	pthread_mutex_destroy(&cap->lock);
	pthread_cond_destroy(&cap->computed);
	if (cap->gone)
		cap->gone(cap->gone_context);
	tfp_free(cap);
}

struct top {
	size_t planes, strings[3];
	enum tfp_pb_damage damage;
	const uint8_t *damage_at;
};

/* Walks the top level, twice: with room unset it only counts, then it fills in as
 * much as was counted (another program may write to the file in between). */
static struct top walk_top(struct tfp_capture_parts *cap, const struct top *room)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(cap->pub.bytes.data, cap->pub.bytes.size);
	struct top top = {0};
	struct tfp_span span;
	uint32_t tag;
	bool cut;
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case BYTES(SPACE_PLANES):
			if (!tfp_bytes_or_part(&c, &span, &cut))
				break;
			if (room && top.planes == room->planes)
				return top;
			if (room) {
				cap->planes[top.planes].message = span;
				cap->states[top.planes].damage.cut = cut;
			}
			top.planes++;
			break;
		case BYTES(SPACE_ERRORS):
		case BYTES(SPACE_WARNINGS):
		case BYTES(SPACE_HOSTNAMES): {
			unsigned kind = TFP_PB_FIELD(tag) - SPACE_ERRORS;
			if (!tfp_pb_bytes(&c, &span.data, &span.size))
				break;
			if (room && top.strings[kind] == room->strings[kind])
				return top;
			if (room) {
				const struct tfp_str *list = kind == 0   ? cap->pub.errors
							     : kind == 1 ? cap->pub.warnings
									 : cap->pub.hostnames;
				((struct tfp_str *)(uintptr_t)list)[top.strings[kind]] =
					tfp_str(span.data, span.size);
			}
			top.strings[kind]++;
			break;
		}
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	top.damage = c.damage;
	top.damage_at = c.damage_at;
	return top;
}

/* Bytes that went through a text tool: those that were not UTF-8 became U+FFFD. */
static bool repaired_as_text(struct tfp_span bytes)
{
	size_t some = bytes.size < 4096 ? bytes.size : 4096, replaced = 0;
	for (size_t i = 0; i + 2 < some; i++)
		replaced += memcmp(bytes.data + i, "\xef\xbf\xbd", 3) == 0;
	return replaced >= 4 && tfp_utf8_prefix((const char *)bytes.data, some) + 4 > some;
}

static enum tfp_status no_capture(const struct tfp_capture_parts *cap, const uint8_t *at,
				  const char *what, struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_INPUT, "not a profiler capture (XSpace): %s", what);
	tfp_error_set_offset(err, (uint64_t)(at - cap->pub.bytes.data));
	if (repaired_as_text(cap->pub.bytes))
		tfp_error_set_hint(err, "a tool has replaced its bytes by U+FFFD as if it were "
					"text: copy the original again in binary mode");
	else
		tfp_error_set_hint(err, "expected the .xplane.pb that TensorFlow, JAX or "
					"PyTorch/XLA writes: copy it again in binary mode, or "
					"profile again");
	return TFP_BAD_INPUT;
}

static const char damaged_inside[] =
	"a length goes beyond the end of the file, and what follows is damaged";

/* A plane that is longer than the file is the end of a truncated one, if what
 * is there of it is sound up to the cut. If not, its length was never right,
 * and nothing in it can be believed. */
static const uint8_t *distrusted(const struct tfp_plane *plane, const struct tfp_plane_state *s)
{
	if (!s->damage.cut)
		return NULL;
	if (s->damage.kind != TFP_PB_SOUND && s->damage.kind != TFP_PB_CUT &&
	    s->damage.kind != TFP_PB_LENGTH)
		return s->damage.at;
	if (s->bad_metadata)
		return s->bad_metadata_at;
	for (size_t l = 0; l < plane->line_count; l++) {
		const struct tfp_line_state *ls = &s->line_states[l];
		if (ls->bad_events)
			return ls->bad_event_at;
		if (ls->damage.kind != TFP_PB_SOUND && ls->damage.kind != TFP_PB_CUT &&
		    ls->damage.kind != TFP_PB_LENGTH)
			return ls->damage.at;
	}
	return NULL;
}

/* Takes out planes that cannot be believed and looks whether anything is left. */
static enum tfp_status judge(struct tfp_capture_parts *cap, const struct top *top,
			     struct tfp_error *err)
{
	const uint8_t *first_bad = top->damage_at;
	const char *what = tfp_pb_damage_text(top->damage);
	bool plausible = false;
	size_t kept = 0;
	for (size_t p = 0; p < cap->pub.plane_count; p++) {
		struct tfp_plane *plane = &cap->planes[p];
		struct tfp_plane_state *s = &cap->states[p];
		const uint8_t *bad = distrusted(plane, s);
		if (bad) {
			tfp_diagnose(
				cap, TFP_WARNING, plane->message.data, tfp_hint_copy_again,
				"a plane claims to be longer than the file and is damaged inside: "
				"left out");
			first_bad = bad;
			what = damaged_inside;
			tfp_plane_release(plane, s);
			continue;
		}
		plausible |= plane->name.size > 0 || plane->line_count > 0 ||
			     plane->event_meta_count > 1 || plane->stat_meta_count > 1;
		cap->planes[kept] = *plane;
		cap->states[kept++] = *s;
	}
	cap->pub.plane_count = kept;
	if (first_bad && !plausible)
		return no_capture(cap, first_bad, what, err);
	if (!plausible &&
	    cap->pub.hostname_count + cap->pub.error_count + cap->pub.warning_count == 0)
		return no_capture(cap, cap->pub.bytes.data, "it holds no plane", err);
	if (top->damage != TFP_PB_SOUND)
		tfp_diagnose(cap, TFP_WARNING, top->damage_at,
			     top->damage == TFP_PB_CUT || top->damage == TFP_PB_LENGTH
				     ? tfp_hint_was_it_complete
				     : tfp_hint_copy_again,
			     "the capture is damaged from here on: %s", what);
	return TFP_OK;
}

static enum tfp_status was_cut(struct tfp_error *err)
{
	tfp_fail(err, TFP_IO, "the file was cut while it was read");
	tfp_error_set_hint(err, "try again when it is complete");
	return TFP_IO;
}

bool tfp_capture_was_cut(const struct tfp_capture *capture)
{
	return tfp_unpacked_was_cut(&((const struct tfp_capture_parts *)capture)->unpacked);
}

static enum tfp_status too_many(struct tfp_error *err)
{
	tfp_fail(err, TFP_TOO_LARGE, "holds more than %zu planes, %zu lines or %zu names",
		 TFP_MAX_PLANES, TFP_MAX_LINES, TFP_MAX_METAS);
	tfp_error_set_hint(err, "no profiler writes so many: profile again, or report it if one "
				"does");
	return TFP_TOO_LARGE;
}

static enum tfp_status empty_file(struct tfp_error *err)
{
	tfp_fail(err, TFP_BAD_INPUT, "the file is empty");
	tfp_error_set_offset(err, 0);
	tfp_error_set_hint(err, "the profiler reports success and writes nothing when a capture "
				"exceeds 2 GiB: profile fewer steps or hosts");
	return TFP_BAD_INPUT;
}

/* The planes from first on. */
struct rest {
	struct tfp_capture_parts *capture;
	size_t first;
};

static void read_plane(void *context, size_t i)
{
	const struct rest *rest = context;
	struct tfp_capture_parts *cap = rest->capture;
	i += rest->first;
	tfp_plane_read(cap, &cap->planes[i], &cap->states[i]);
}

/* stream: NULL, or has begun with the first planes; it is taken over. */
static enum tfp_status load(struct tfp_capture_parts *cap, struct tfp_stream *stream,
			    struct tfp_pool *pool, struct tfp_error *err)
{
	uint64_t in_lines = 0;
	if (cap->pub.bytes.size == 0) {
		tfp_stream_finish(stream, NULL, NULL, 0);
		return empty_file(err);
	}
	struct top top = walk_top(cap, NULL);
	if (top.planes > TFP_MAX_PLANES) {
		tfp_stream_finish(stream, NULL, NULL, 0);
		return too_many(err);
	}
	size_t strings = top.strings[0] + top.strings[1] + top.strings[2];
	cap->diagnostics = tfp_calloc(TFP_MAX_DIAGNOSTICS, sizeof(*cap->diagnostics));
	cap->strings = tfp_calloc(strings, sizeof(*cap->strings));
	cap->states = tfp_calloc(top.planes, sizeof(*cap->states));
	cap->planes = tfp_calloc(top.planes, sizeof(*cap->planes));
	if (!cap->diagnostics || !cap->strings || !cap->states || !cap->planes) {
		tfp_stream_finish(stream, NULL, NULL, 0);
		goto no_memory;
	}
	cap->pub.errors = cap->strings;
	cap->pub.warnings = cap->strings + top.strings[0];
	cap->pub.hostnames = cap->pub.warnings + top.strings[1];
	walk_top(cap, &top);
	cap->pub.error_count = top.strings[0];
	cap->pub.warning_count = top.strings[1];
	cap->pub.hostname_count = top.strings[2];
	cap->pub.planes = cap->planes;
	cap->pub.plane_count = top.planes;
	cap->pub.diagnostics = cap->diagnostics;

	/* Of a compressed one, unpacking tells how far it is. */
	bool counts = cap->unpacked.data && !cap->unpacked.packed;
	if (counts)
		tfp_progress_expect_bytes(cap->pub.bytes.size);
	size_t there = tfp_stream_finish(stream, cap->planes, cap->states, top.planes);
	struct rest rest = {cap, there};
	tfp_pool_for(pool, top.planes - there, read_plane, &rest);
	if (atomic_load(&cap->too_many))
		return too_many(err);
	if (atomic_load(&cap->no_memory) ||
	    !tfp_lines_read(cap, cap->planes + there, cap->states + there, top.planes - there,
			    pool) ||
	    atomic_load(&cap->no_memory))
		goto no_memory;
	enum tfp_status status = judge(cap, &top, err);
	if (status != TFP_OK)
		return status;
	if (cap->unpacked.truncated)
		tfp_diagnose(cap, TFP_WARNING, NULL, tfp_hint_was_it_complete,
			     "the compressed data ends early");
	tfp_diagnose_planes(cap);
	if (atomic_load(&cap->no_memory))
		goto no_memory;
	for (size_t p = 0; p < cap->pub.plane_count; p++) {
		cap->pub.line_count += cap->planes[p].line_count;
		for (size_t l = 0; l < cap->planes[p].line_count; l++) {
			cap->pub.event_count += cap->planes[p].lines[l].event_count;
			in_lines += cap->planes[p].lines[l].message.size;
		}
	}
	if (counts)
		tfp_progress_add_bytes(cap->pub.bytes.size - in_lines);
	return TFP_OK;

no_memory:
	tfp_fail(err, TFP_NO_MEMORY, "no memory for the capture's %zu bytes", cap->pub.bytes.size);
	return TFP_NO_MEMORY;
}

static enum tfp_status new_capture(struct tfp_capture_parts **out, struct tfp_error *err)
{
	struct tfp_capture_parts *cap = tfp_calloc(1, sizeof(*cap));
	*out = cap;
	if (!cap)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a capture");
	atomic_init(&cap->references, 1);
	pthread_mutex_init(&cap->lock, NULL);
	tfp_making_init_condition(&cap->computed);
	return TFP_OK;
}

/* Counts a file that is read where it is mapped. */
static enum tfp_status count_mapped(struct tfp_capture_parts *cap, struct tfp_error *err)
{
	size_t bytes = cap->unpacked.packed ? 0 : cap->unpacked.size;
	if (!tfp_budget_take_mapped(bytes))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the capture's %zu bytes", bytes);
	cap->mapped_bytes = bytes;
	return TFP_OK;
}

static enum tfp_status finish(struct tfp_capture **out, struct tfp_capture_parts *cap,
			      enum tfp_status status, const char *name, struct tfp_error *err)
{
	if (status != TFP_OK) {
		tfp_error_set_file(err, name);
		if (cap)
			free_capture(cap);
		return status;
	}
	*out = &cap->pub;
	return TFP_OK;
}

enum tfp_status tfp_capture_open(struct tfp_capture **out, int fd, const char *name,
				 enum tfp_compression compression, uint64_t max_bytes,
				 struct tfp_pool *pool, struct tfp_error *err)
{
	struct tfp_capture_parts *cap;
	*out = NULL;
	enum tfp_status status = new_capture(&cap, err);
	enum tfp_stage stage = tfp_progress_stage(TFP_STAGE_READING);
	struct tfp_stream *stream = NULL;
	struct tfp_unpack_watch watch;
	if (status == TFP_OK && compression != TFP_PLAIN)
		stream = tfp_stream_new(cap, pool);
	if (stream)
		watch = tfp_stream_watch(stream);
	if (status == TFP_OK)
		status = tfp_unpack(&cap->unpacked, fd, name, compression, max_bytes,
				    stream ? &watch : NULL, err);
	if (status == TFP_OK)
		status = count_mapped(cap, err);
	if (status == TFP_OK) {
		cap->pub.bytes = (struct tfp_span){cap->unpacked.data, cap->unpacked.size};
		/* Threads that read its first planes count theirs meanwhile. */
		__atomic_fetch_add(&cap->pub.heap_bytes, cap->unpacked.room, __ATOMIC_RELAXED);
		status = load(cap, stream, pool, err);
	} else {
		tfp_stream_finish(stream, NULL, NULL, 0);
	}
	if (cap && tfp_unpacked_was_cut(&cap->unpacked))
		status = was_cut(err);
	/* Lines that were left out look like damage. */
	if (tfp_cancelled())
		status = tfp_fail_cancelled(err);
	tfp_progress_stage(stage);
	return finish(out, cap, status, name, err);
}

enum tfp_status tfp_capture_from_bytes(struct tfp_capture **out, const void *bytes, size_t size,
				       const char *name, struct tfp_pool *pool,
				       struct tfp_error *err)
{
	struct tfp_capture_parts *cap;
	*out = NULL;
	enum tfp_status status = new_capture(&cap, err);
	if (status == TFP_OK) {
		cap->pub.bytes = (struct tfp_span){bytes, size};
		status = load(cap, NULL, pool, err);
	}
	if (tfp_cancelled()) /* as above */
		status = tfp_fail_cancelled(err);
	return finish(out, cap, status, name, err);
}

enum tfp_status tfp_capture_from_made(struct tfp_capture **out, const void *bytes, size_t size,
				      const char *name, const struct tfp_made_plane *planes,
				      size_t plane_count, struct tfp_pool *pool,
				      struct tfp_error *err)
{
	enum tfp_status status = tfp_capture_from_bytes(out, bytes, size, name, pool, err);
	if (status != TFP_OK)
		return status;
	status = tfp_made_lines_take((struct tfp_capture_parts *)*out, planes, plane_count, err);
	if (status != TFP_OK) {
		tfp_capture_unref(*out);
		*out = NULL;
	}
	return status;
}

struct tfp_capture *tfp_capture_ref(struct tfp_capture *capture)
{
	atomic_fetch_add(&((struct tfp_capture_parts *)capture)->references, 1);
	return capture;
}

void tfp_capture_unref(struct tfp_capture *capture)
{
	struct tfp_capture_parts *cap = (struct tfp_capture_parts *)capture;
	if (cap && atomic_fetch_sub(&cap->references, 1) == 1)
		free_capture(cap);
}

bool tfp_capture_is_shared(const struct tfp_capture *capture)
{
	return atomic_load(&((const struct tfp_capture_parts *)capture)->references) > 1;
}

void tfp_capture_on_free(struct tfp_capture *capture, void (*gone)(void *context), void *context)
{
	struct tfp_capture_parts *cap = (struct tfp_capture_parts *)capture;
	cap->gone = gone;
	cap->gone_context = context;
}

struct peek {
	bool (*see)(void *context, const struct tfp_plane *plane);
	void *context;
	bool more;
	size_t found;
	const uint8_t *bad; /* in a plane that cannot be believed */
};

/* Reads one plane without its lines and shows it. Only where the file ends in
 * it, its lines decide whether it can be believed. */
static enum tfp_status peek_plane(struct peek *peek, struct tfp_span message, bool cut,
				  struct tfp_error *err)
{
	struct tfp_plane plane = {.message = message};
	struct tfp_plane_state state = {.damage.cut = cut};
	struct tfp_capture_parts cap = {0};
	enum tfp_status status = TFP_OK;
	tfp_plane_read(&cap, &plane, &state);
	if (atomic_load(&cap.no_memory) ||
	    (cut && !tfp_lines_read(&cap, &plane, &state, 1, NULL)) ||
	    atomic_load(&cap.no_memory)) {
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a plane's names");
	} else if (atomic_load(&cap.too_many)) {
		status = too_many(err);
	} else if (distrusted(&plane, &state)) {
		peek->bad = distrusted(&plane, &state);
	} else {
		struct tfp_plane shown = plane;
		shown.lines = NULL;
		shown.line_count = 0;
		peek->more = peek->see(peek->context, &shown);
		peek->found++;
	}
	tfp_plane_release(&plane, &state);
	return status;
}

static bool is_named(struct tfp_span plane, const char *name)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(plane.data, plane.size);
	struct tfp_str text = {"", 0};
	uint32_t tag;
	/* The name stands in front of the lines. */
	while (tfp_pb_next(&c, &tag)) {
		const uint8_t *data;
		size_t size;
		if (tag != BYTES(PLANE_NAME)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (tfp_pb_bytes(&c, &data, &size))
			text = (struct tfp_str){(const char *)data, size};
		break;
	}
	return tfp_str_equal(text, name);
}

enum tfp_status tfp_capture_peek(int fd, const char *name, enum tfp_compression compression,
				 uint64_t max_bytes, const char *only,
				 bool (*see)(void *context, const struct tfp_plane *plane),
				 void *context, struct tfp_error *err)
{
	struct tfp_capture_parts cap = {0};
	struct peek peek = {.see = see, .context = context, .more = true};
	struct tfp_span span;
	uint32_t tag;
	bool cut;
	enum tfp_status status =
		tfp_unpack(&cap.unpacked, fd, name, compression, max_bytes, NULL, err);
	if (status != TFP_OK)
		return status;
	cap.pub.bytes = (struct tfp_span){cap.unpacked.data, cap.unpacked.size};
	struct tfp_pb_cursor c = tfp_pb_cursor(cap.pub.bytes.data, cap.pub.bytes.size);
	while (status == TFP_OK && peek.more && tfp_pb_next(&c, &tag)) {
		if (tag != BYTES(SPACE_PLANES))
			tfp_pb_skip(&c, tag);
		else if (tfp_bytes_or_part(&c, &span, &cut) && (!only || is_named(span, only)))
			status = peek_plane(&peek, span, cut, err);
	}
	if (status == TFP_OK && tfp_unpacked_was_cut(&cap.unpacked))
		status = was_cut(err);
	else if (status == TFP_OK && cap.pub.bytes.size == 0)
		status = empty_file(err);
	else if (status == TFP_OK && peek.found == 0 && peek.bad)
		status = no_capture(&cap, peek.bad, damaged_inside, err);
	else if (status == TFP_OK && peek.found == 0 && c.damage != TFP_PB_SOUND)
		status = no_capture(&cap, c.damage_at, tfp_pb_damage_text(c.damage), err);
	if (status != TFP_OK)
		tfp_error_set_file(err, name);
	tfp_unpacked_release(&cap.unpacked);
	return status;
}

/* ---- facts ---- */

enum tfp_status tfp_capture_fact(struct tfp_capture *capture, const struct tfp_fact_kind *kind,
				 struct tfp_pool *pool, const void **out, struct tfp_error *err)
{
	struct tfp_capture_parts *cap = (struct tfp_capture_parts *)capture;
	struct tfp_fact *f;
	*out = NULL;
	pthread_mutex_lock(&cap->lock);
	for (;;) {
		for (f = cap->facts; f && f->kind != kind; f = f->next)
			;
		if (!f || !f->computing)
			break;
		bool goes_on = tfp_making_wait(&f->making, &cap->computed, &cap->lock);
		if (f->failed && f->making.waiting == 0)
			tfp_free(f);
		if (!goes_on) {
			pthread_mutex_unlock(&cap->lock);
			return tfp_fail_cancelled(err);
		}
	}
	if (f) {
		*out = f->value;
		pthread_mutex_unlock(&cap->lock);
		return TFP_OK;
	}
	f = tfp_calloc(1, sizeof(*f));
	if (!f) {
		pthread_mutex_unlock(&cap->lock);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for an analysis");
	}
	*f = (struct tfp_fact){.next = cap->facts, .kind = kind, .computing = true};
	cap->facts = f;
	tfp_making_begin(&f->making);
	pthread_mutex_unlock(&cap->lock);

	void *value = NULL;
	uint64_t heap_bytes = 0;
	enum tfp_status status = TFP_OK;
	enum tfp_stage stage = tfp_progress_stage(TFP_STAGE_ANALYSING);
	if (!tfp_cancelled())
		status = kind->compute(capture, pool, &value, &heap_bytes, err);
	if (tfp_cancelled() || (status == TFP_OK && tfp_capture_was_cut(capture))) {
		if (status == TFP_OK && value)
			kind->free(value);
		status = tfp_cancelled() ? tfp_fail_cancelled(err) : was_cut(err);
	}
	if (status != TFP_OK)
		tfp_progress_partial();
	tfp_progress_stage(stage);

	pthread_mutex_lock(&cap->lock);
	tfp_making_end(&f->making);
	if (status == TFP_OK) {
		f->value = value;
		f->heap_bytes = heap_bytes;
		f->computing = false;
		*out = value;
	} else {
		struct tfp_fact **link = &cap->facts;
		while (*link != f)
			link = &(*link)->next;
		*link = f->next;
		f->failed = true;
		if (f->making.waiting == 0)
			tfp_free(f);
	}
	pthread_cond_broadcast(&cap->computed);
	pthread_mutex_unlock(&cap->lock);
	return status;
}

uint64_t tfp_capture_held_bytes(struct tfp_capture *capture)
{
	struct tfp_capture_parts *cap = (struct tfp_capture_parts *)capture;
	uint64_t bytes = capture->heap_bytes + (cap->unpacked.packed ? 0 : capture->bytes.size);
	pthread_mutex_lock(&cap->lock);
	for (const struct tfp_fact *f = cap->facts; f; f = f->next)
		bytes += f->heap_bytes;
	pthread_mutex_unlock(&cap->lock);
	return bytes;
}
