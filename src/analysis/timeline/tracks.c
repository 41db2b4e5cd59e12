/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/tracks.h"

#include "analysis/events/schema.h"
#include "analysis/timeline/derived_lines.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER_LINE "_counters_"

/* ---- which lines ---- */

struct track_list {
	struct tfp_track *tracks;
	size_t count, room;
};

static bool add_track(struct track_list *list, struct tfp_track track)
{
	if (!TFP_GROW(list->tracks, list->count, list->room))
		return false;
	list->tracks[list->count++] = track;
	return true;
}

/* One track for each name in the line, in the order of the metadata. */
static bool add_counters(struct track_list *list, struct tfp_track track)
{
	const struct tfp_plane *plane = track.plane;
	uint8_t *seen = tfp_calloc(plane->event_meta_count, 1);
	bool ok = seen != NULL;
	track.is_memory = track.kind == TFP_TRACK_DERIVED;
	track.kind = TFP_TRACK_COUNTER;
	for (size_t i = 0; ok && i < track.line->event_count; i++)
		seen[tfp_event_meta_index(track.line, i)] = 1;
	for (size_t m = 0; ok && m < plane->event_meta_count; m++) {
		const struct tfp_event_meta *meta = &plane->event_metas[m];
		if (!seen[m] || tfp_event_name_is_internal(meta->name))
			continue;
		track.name = meta->display_name.size ? meta->display_name : meta->name;
		track.counter_meta = (uint32_t)m;
		ok = add_track(list, track);
	}
	tfp_free(seen);
	return ok;
}

static bool add_lines(struct track_list *list, const struct tfp_capture *capture, size_t p,
		      uint32_t process, enum tfp_process_kind kind, bool derived)
{
	const struct tfp_plane *plane = &capture->planes[p];
	bool ok = true;
	for (size_t l = 0; ok && l < plane->line_count; l++) {
		const struct tfp_line *line = &plane->lines[l];
		struct tfp_track track = {
			.kind = derived || tfp_line_is_derived(line) ? TFP_TRACK_DERIVED
				: kind == TFP_PROCESS_HOST           ? TFP_TRACK_THREAD
								     : TFP_TRACK_STREAM,
			.process = process,
			.tid = (uint32_t)(line->display_id ? line->display_id : line->id),
			.name = line->display_name,
			.capture = capture,
			.plane = plane,
			.line = line,
			.plane_index = (uint32_t)p,
			.line_index = (uint32_t)l,
		};
		if (!tfp_line_is_shown(line))
			continue;
		ok = tfp_str_equal(line->name, COUNTER_LINE) ? add_counters(list, track)
							     : add_track(list, track);
	}
	return ok;
}

/* ---- their order ---- */

/* Of a process: what was derived from no stream in particular; streams, each
 * with what was derived from it; counters. Streams go by number, threads stay as
 * they are in the file: by name, when the profiler ended well. */
struct track_key {
	uint32_t process, part, stream, derived, place;
};

static bool stream_of_derived(struct tfp_str name, uint32_t *stream)
{
	static const char mark[] = " - from #";
	const char *at = name.size ? memmem(name.data, name.size, mark, sizeof(mark) - 1) : NULL;
	uint32_t number = 0;
	if (!at)
		return false;
	for (at += sizeof(mark) - 1; at < name.data + name.size && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint32_t)(*at - '0');
	*stream = number;
	return true;
}

static struct track_key key_of(const struct tfp_track *t, size_t place)
{
	struct track_key key = {t->process, 1, 0, 0, (uint32_t)place};
	if (t->kind == TFP_TRACK_COUNTER)
		key.part = 2;
	else if (t->kind == TFP_TRACK_STREAM)
		key.stream = t->tid;
	else if (t->kind == TFP_TRACK_DERIVED)
		key.part = key.derived = stream_of_derived(t->name, &key.stream);
	return key;
}

static int compare_keys(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	for (size_t i = 0; i < sizeof(struct track_key) / sizeof(*x); i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

/* order: numbers of tracks as they are shown, room for all. */
static bool order_tracks(const struct tfp_track *tracks, size_t count, uint32_t *order)
{
	struct track_key *keys = tfp_reallocarray(NULL, count, sizeof(*keys));
	if (!keys)
		return false;
	for (size_t i = 0; i < count; i++)
		keys[i] = key_of(&tracks[i], i);
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < count; i++)
		order[i] = keys[i].place;
	tfp_free(keys);
	return true;
}

/* Tracks from first on, sorted among themselves. */
static bool sort_tracks(struct track_list *list, size_t first)
{
	size_t count = list->count - first;
	if (count == 0)
		return true;
	uint32_t *order = tfp_reallocarray(NULL, count, sizeof(*order));
	struct tfp_track *sorted = tfp_reallocarray(NULL, count, sizeof(*sorted));
	bool ok = order && sorted && order_tracks(list->tracks + first, count, order);
	for (size_t i = 0; ok && i < count; i++)
		sorted[i] = list->tracks[first + order[i]];
	if (ok)
		memcpy(list->tracks + first, sorted, count * sizeof(*sorted));
	tfp_free(sorted);
	tfp_free(order);
	return ok;
}

/* ---- extents ---- */

static void see_event(struct tfp_track *t, size_t i)
{
	int64_t start = tfp_event_offset_ps(t->line, i);
	int64_t end = start + tfp_event_duration_ps(t->line, i);
	if (t->event_count++ == 0) {
		t->begin_offset_ps = start;
		t->end_offset_ps = end;
	}
	if (t->end_offset_ps < end)
		t->end_offset_ps = end;
}

static int64_t on_capture(const struct tfp_line *line, int64_t offset_ps)
{
	__int128 ps = (__int128)line->timestamp_ns * 1000 + offset_ps;
	return ps > INT64_MAX ? INT64_MAX : ps < INT64_MIN ? INT64_MIN : (int64_t)ps;
}

struct measuring {
	struct tfp_track *tracks;
	size_t count;
	atomic_bool no_memory;
};

/* A line of counters is gone through once for all of its tracks, which lie side by
 * side, by the first of them. */
static bool measure_counters(struct tfp_track *tracks, size_t count)
{
	const struct tfp_line *line = tracks[0].line;
	size_t n = 0;
	while (n < count && tracks[n].kind == TFP_TRACK_COUNTER && tracks[n].line == line)
		n++;
	uint32_t *of_meta = tfp_calloc(tracks[0].plane->event_meta_count, sizeof(*of_meta));
	if (!of_meta)
		return false;
	for (size_t t = 0; t < n; t++)
		of_meta[tracks[t].counter_meta] = (uint32_t)t + 1;
	for (size_t i = 0; i < line->event_count && tfp_goes_on(i); i++) {
		uint32_t t = of_meta[tfp_event_meta_index(line, i)];
		if (t)
			see_event(&tracks[t - 1], i);
	}
	tfp_free(of_meta);
	return true;
}

static bool measure_line(struct tfp_track *t)
{
	const struct tfp_plane *plane = t->plane;
	/* A table of names is more than a short line asks for. */
	if (t->line->event_count < plane->event_meta_count) {
		for (size_t i = 0; i < t->line->event_count; i++) {
			if (!tfp_event_name_is_internal(tfp_event_meta(plane, t->line, i)->name))
				see_event(t, i);
		}
		return true;
	}
	uint8_t *hidden = tfp_calloc(plane->event_meta_count, 1);
	if (!hidden)
		return false;
	for (size_t m = 0; m < plane->event_meta_count; m++)
		hidden[m] = tfp_event_name_is_internal(plane->event_metas[m].name);
	for (size_t i = 0; i < t->line->event_count && tfp_goes_on(i); i++) {
		if (!hidden[tfp_event_meta_index(t->line, i)])
			see_event(t, i);
	}
	tfp_free(hidden);
	return true;
}

static void measure(void *context, size_t i)
{
	struct measuring *m = context;
	struct tfp_track *t = &m->tracks[i];
	bool ok = true;
	if (t->kind != TFP_TRACK_COUNTER)
		ok = measure_line(t);
	else if (i == 0 || t[-1].line != t->line)
		ok = measure_counters(t, m->count - i);
	if (!ok)
		atomic_store(&m->no_memory, true);
}

static void sum_up(struct tfp_tracks *tracks)
{
	for (size_t i = 0; i < tracks->track_count; i++) {
		struct tfp_track *t = &tracks->tracks[i];
		if (t->event_count == 0)
			continue;
		t->begin_ps = on_capture(t->line, t->begin_offset_ps);
		t->end_ps = on_capture(t->line, t->end_offset_ps);
		if (tracks->event_count == 0) {
			tracks->begin_ps = t->begin_ps;
			tracks->end_ps = tracks->end_of_peers_ps = t->end_ps;
		}
		if (t->begin_ps < tracks->begin_ps)
			tracks->begin_ps = t->begin_ps;
		if (t->end_ps > tracks->end_ps)
			tracks->end_ps = t->end_ps;
		tracks->event_count += t->event_count;
		/* Derived lines come last, so that something else was first. */
		if (t->is_memory)
			continue;
		tracks->event_count_of_peers += t->event_count;
		if (tracks->end_of_peers_ps < t->end_ps)
			tracks->end_of_peers_ps = t->end_ps;
	}
}

/* ---- the fact ---- */

static void free_tracks(void *fact)
{
	struct tfp_tracks *tracks = fact;
	tfp_free(tracks->processes);
	tfp_free(tracks->tracks);
	tfp_free(tracks->order);
	tfp_free(tracks);
}

static const struct tfp_plane *derived_of(const struct tfp_capture *derived,
					  const struct tfp_plane *plane, size_t *index)
{
	for (size_t p = 0; p < derived->plane_count; p++) {
		if (derived->planes[p].id == plane->id &&
		    tfp_str_compare(derived->planes[p].name, plane->name) == 0) {
			*index = p;
			return &derived->planes[p];
		}
	}
	return NULL;
}

/* Adds tracks to those in out: of the capture's own lines, or of the derived ones
 * where derived is not NULL. out->processes has room for every plane. */
static bool list_tracks(const struct tfp_capture *capture, const struct tfp_capture *derived,
			const struct tfp_shown_plane *planes, size_t count, struct tfp_tracks *out)
{
	struct track_list list = {out->tracks, out->track_count, out->track_count};
	size_t first = out->track_count;
	bool ok = true;
	out->process_count = 0;
	for (size_t i = 0; ok && i < count; i++) {
		const struct tfp_shown_plane *choice = &planes[i];
		bool joins = i > 0 && choice->joins &&
			     out->processes[out->process_count - 1].pid == choice->pid;
		size_t d;
		if (!joins)
			out->processes[out->process_count++] = (struct tfp_process){
				.kind = choice->kind,
				.pid = choice->pid,
				.name = choice->plane->name,
			};
		uint32_t process = out->process_count - 1;
		if (!derived)
			ok = add_lines(&list, capture, choice->index, process, choice->kind, false);
		else if (derived_of(derived, choice->plane, &d))
			ok = add_lines(&list, derived, d, process, choice->kind, true);
	}
	ok = ok && list.count < UINT32_MAX && sort_tracks(&list, first);
	out->tracks = list.tracks;
	out->track_count = (uint32_t)list.count;
	return ok;
}

static bool order_processes(struct tfp_tracks *out)
{
	out->order = tfp_reallocarray(NULL, out->track_count, sizeof(*out->order));
	if (!out->order || !order_tracks(out->tracks, out->track_count, out->order))
		return false;
	for (uint32_t i = 0; i < out->track_count; i++) {
		struct tfp_process *process = &out->processes[out->tracks[out->order[i]].process];
		if (process->track_count++ == 0)
			process->tracks = &out->order[i];
	}
	return true;
}

/* file: the list without derived lines, NULL while that is made. */
static bool make_tracks(const struct tfp_capture *capture, const struct tfp_tracks *file,
			const struct tfp_capture *derived, struct tfp_pool *pool,
			struct tfp_tracks *out)
{
	/* A plane is chosen for one reason only, so its place is enough. */
	struct tfp_shown_plane *planes = tfp_calloc(capture->plane_count, sizeof(*planes));
	out->processes = tfp_calloc(capture->plane_count, sizeof(*out->processes));
	bool ok = planes && out->processes;
	if (ok && file) {
		out->tracks = tfp_reallocarray(NULL, file->track_count, sizeof(*out->tracks));
		ok = out->tracks != NULL;
		if (ok && file->track_count)
			memcpy(out->tracks, file->tracks, file->track_count * sizeof(*out->tracks));
		out->track_count = file->track_count;
	}
	uint32_t first = out->track_count;
	ok = ok && list_tracks(capture, derived, planes, tfp_shown_planes(capture, planes), out) &&
	     order_processes(out);
	tfp_free(planes);
	if (!ok)
		return false;
	struct measuring m = {.count = out->track_count - first};
	if (m.count)
		m.tracks = out->tracks + first;
	tfp_pool_for(pool, m.count, measure, &m);
	sum_up(out);
	out->file_track_count = file ? first : out->track_count;
	return !atomic_load(&m.no_memory);
}

static enum tfp_status make_list(struct tfp_capture *capture, const struct tfp_tracks *file,
				 const struct tfp_capture *derived, struct tfp_pool *pool,
				 void **fact, uint64_t *heap_bytes, struct tfp_error *err)
{
	struct tfp_tracks *tracks = tfp_calloc(1, sizeof(*tracks));
	if (!tracks || !make_tracks(capture, file, derived, pool, tracks)) {
		if (tracks)
			free_tracks(tracks);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the list of tracks");
	}
	tracks->profile_start_ns = tfp_capture_profile_start_ns(capture);
	*heap_bytes = sizeof(*tracks) + capture->plane_count * sizeof(*tracks->processes) +
		      tracks->track_count * (sizeof(*tracks->tracks) + sizeof(*tracks->order));
	*fact = tracks;
	return TFP_OK;
}

static enum tfp_status compute_file(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
				    uint64_t *heap_bytes, struct tfp_error *err)
{
	return make_list(capture, NULL, NULL, pool, fact, heap_bytes, err);
}

static enum tfp_status compute(struct tfp_capture *capture, struct tfp_pool *pool, void **fact,
			       uint64_t *heap_bytes, struct tfp_error *err)
{
	const struct tfp_tracks *file;
	const struct tfp_capture *derived;
	enum tfp_status status = tfp_file_tracks_get(capture, pool, &file, err);
	if (status == TFP_OK)
		status = tfp_derived_lines_get(capture, pool, &derived, err);
	if (status == TFP_OK)
		status = make_list(capture, file, derived, pool, fact, heap_bytes, err);
	return status;
}

enum tfp_status tfp_file_tracks_get(struct tfp_capture *capture, struct tfp_pool *pool,
				    const struct tfp_tracks **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute_file, free_tracks};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}

enum tfp_status tfp_tracks_get(struct tfp_capture *capture, struct tfp_pool *pool,
			       const struct tfp_tracks **out, struct tfp_error *err)
{
	static const struct tfp_fact_kind kind = {compute, free_tracks};
	const void *fact;
	enum tfp_status status = tfp_capture_fact(capture, &kind, pool, &fact, err);
	*out = fact;
	return status;
}
