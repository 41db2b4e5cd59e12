/* SPDX-License-Identifier: Apache-2.0 */
/* /trace_viewer/tracks: what there is to see, and an overview of where things happen; and
 * /trace_viewer/steps, a part of it. */
#include "analysis/steps/capture_steps.h"
#include "base/alloc.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- density ---- */

#define SLOTS 1000u

enum { ON_HOST, ON_DEVICE, SIDES };

struct density {
	const struct tfp_trace_track *tracks;
	int64_t duration_ps;
	int64_t begins_ps[SLOTS + 1]; /* of slots, and of the end */
	/* Time that the outermost lanes are busy, in 1/2^20 of a slot. */
	atomic_uint_least64_t busy[SIDES][SLOTS];
};

static int64_t slot_begin(int64_t duration_ps, unsigned slot)
{
	return (int64_t)((__int128)duration_ps * slot / SLOTS);
}

/* The slot that a moment is in, or the first. */
static unsigned first_slot(const struct density *d, int64_t ps)
{
	unsigned low = 0, high = SLOTS;
	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;
		if (d->begins_ps[middle] <= ps)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* How busy the first lane of a track is, slot by slot. */
static void add_track(void *context, size_t index)
{
	struct density *d = context;
	const struct tfp_trace_track *t = &d->tracks[index];
	const struct tfp_timeline_track *timeline = t->timeline;
	bool host = t->host->tracks->processes[t->track->process].kind == TFP_PROCESS_HOST;
	if (timeline->lane_count == 0 || t->track->kind == TFP_TRACK_DERIVED ||
	    t->track->kind == TFP_TRACK_COUNTER ||
	    (timeline->overflows && timeline->lane_count == 1))
		return;
	/* From the first event's begin to the last one's end: many threads are short. */
	const uint32_t last = timeline->lanes[0].count - 1;
	const int64_t first_ps = tfp_lane_start_ps(timeline, 0, 0) + t->shift_ps;
	const int64_t end_ps =
		tfp_lane_start_ps(timeline, 0, last) + t->shift_ps +
		tfp_event_duration_ps(timeline->line, tfp_lane_event(timeline, 0, last));
	for (unsigned s = first_slot(d, first_ps); s < SLOTS && d->begins_ps[s] < end_ps; s++) {
		int64_t begin = d->begins_ps[s];
		int64_t end = d->begins_ps[s + 1];
		if (begin == end)
			continue;
		int64_t busy = tfp_lane_busy_between_ps(timeline, 0, begin - t->shift_ps,
							end - t->shift_ps);
		if (busy > 0)
			atomic_fetch_add(&d->busy[host ? ON_HOST : ON_DEVICE][s],
					 (uint64_t)(((__int128)busy << 20) / (end - begin)));
	}
}

static void put_density(const struct density *d, const char *key, unsigned side, struct tfp_json *j)
{
	uint64_t most = 1;
	for (unsigned s = 0; s < SLOTS; s++) {
		uint64_t busy = atomic_load(&d->busy[side][s]);
		most = busy > most ? busy : most;
	}
	tfp_json_begin_array_of(j, key);
	for (unsigned s = 0; s < SLOTS; s++) {
		double share = (double)atomic_load(&d->busy[side][s]) / (double)most;
		tfp_json_add_integer(j, (int64_t)ceil(share * 255));
	}
	tfp_json_end_array(j);
}

static enum tfp_status put_densities(const struct tfp_trace *trace, struct tfp_json *j,
				     struct tfp_error *err)
{
	const struct tfp_query no_query = {0};
	struct tfp_trace_track *tracks;
	size_t count;
	enum tfp_status status = tfp_trace_tracks(trace, &no_query, SIZE_MAX, &tracks, &count, err);
	if (status != TFP_OK)
		return status;
	struct density *d = tfp_calloc(1, sizeof(*d));
	if (d) {
		d->tracks = tracks;
		d->duration_ps = trace->duration_ps;
		for (unsigned s = 0; s <= SLOTS; s++)
			d->begins_ps[s] = slot_begin(trace->duration_ps, s);
		tfp_pool_for(trace->pool, count, add_track, d);
		tfp_json_begin_object_of(j, "density");
		tfp_json_set_integer(j, "slots", SLOTS);
		put_density(d, "host", ON_HOST, j);
		put_density(d, "device", ON_DEVICE, j);
		tfp_json_end_object(j);
	}
	bool ok = d != NULL;
	tfp_free(d);
	tfp_free(tracks);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for an overview");
}

/* ---- hosts, processes, tracks ---- */

static void put_hosts(const struct tfp_trace *trace, struct tfp_json *j)
{
	tfp_json_begin_array_of(j, "hosts");
	for (uint32_t h = 0; h < trace->host_count; h++) {
		const struct tfp_trace_host *host = &trace->hosts[h];
		tfp_json_begin_object(j);
		tfp_json_set_integer(j, "index", host->index);
		tfp_json_set_string(j, "host", host->name);
		tfp_json_set_integer(j, "offset_ps", host->offset_ps);
		tfp_json_set_boolean(j, "aligned", trace->aligned);
		if (host->problem)
			tfp_json_set_string(j, "problem", host->problem);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
}

static const char *kind_name(enum tfp_track_kind kind)
{
	static const char *const names[] = {
		[TFP_TRACK_THREAD] = "thread",
		[TFP_TRACK_STREAM] = "stream",
		[TFP_TRACK_DERIVED] = "derived",
		[TFP_TRACK_COUNTER] = "counter",
	};
	return names[kind];
}

static void put_track(const struct tfp_trace_host *host, uint32_t index, struct tfp_json *j)
{
	struct tfp_trace_track t = tfp_trace_track(host, index);
	const struct tfp_track *track = t.track;
	tfp_json_begin_object(j);
	tfp_trace_set_track_id(j, "id", &t);
	tfp_json_set_integer(j, "tid", track->tid);
	tfp_json_set_text(j, "name", track->name.data, track->name.size);
	tfp_json_set_string(j, "kind", kind_name(track->kind));
	if (track->is_memory) {
		const struct tfp_str id = tfp_track_allocator(track);
		tfp_json_set_text(j, "allocator", id.data, id.size);
		tfp_json_set_string(j, "unit", "bytes");
	}
	tfp_json_set_count(j, "events", track->event_count);
	tfp_json_set_integer(j, "depth", t.timeline->lane_count);
	if (t.timeline->overflows)
		tfp_json_set_integer(j, "overflow", t.timeline->lane_count - 1);
	if (track->event_count) {
		tfp_json_set_integer(j, "begin_ps", track->begin_offset_ps + t.shift_ps);
		tfp_json_set_integer(j, "end_ps", track->end_offset_ps + t.shift_ps);
	}
	if (track->kind == TFP_TRACK_COUNTER && t.timeline->lane_count) {
		double low, high;
		tfp_counter_range(t.timeline, 0, t.timeline->lanes[0].count, &low, &high);
		if (!isnan(low)) {
			tfp_json_set_number(j, "min", low);
			tfp_json_set_number(j, "max", high);
		}
	}
	tfp_json_end_object(j);
}

static const char *process_kind_name(enum tfp_process_kind kind)
{
	return kind == TFP_PROCESS_DEVICE ? "device" : kind == TFP_PROCESS_HOST ? "host" : "other";
}

static void put_process(const struct tfp_trace_host *host, const struct tfp_process *process,
			unsigned same, struct tfp_json *j)
{
	tfp_json_begin_object(j);
	if (same > 1)
		tfp_json_set_format(j, "id", "%" PRIu32 ".%" PRIu32 ".%u", host->index,
				    process->pid, same);
	else
		tfp_json_set_format(j, "id", "%" PRIu32 ".%" PRIu32, host->index, process->pid);
	tfp_json_set_integer(j, "host", host->index);
	tfp_json_set_integer(j, "pid", process->pid);
	tfp_json_set_text(j, "name", process->name.data, process->name.size);
	tfp_json_set_string(j, "kind", process_kind_name(process->kind));
	tfp_json_begin_array_of(j, "tracks");
	for (uint32_t t = 0; t < process->track_count; t++)
		put_track(host, process->tracks[t], j);
	tfp_json_end_array(j);
	tfp_json_end_object(j);
}

static void put_processes(const struct tfp_trace_host *host, struct tfp_json *j)
{
	const struct tfp_tracks *tracks = host->tracks;
	unsigned same = 1;
	for (uint32_t p = 0; p < tracks->process_count; p++) {
		const struct tfp_process *process = &tracks->processes[p];
		/* Planes of a damaged file can have the same number. */
		same = p > 0 && process[-1].pid == process->pid ? same + 1 : 1;
		if (process->track_count)
			put_process(host, process, same, j);
	}
}

/* ---- steps ---- */

static void put_step(const struct tfp_trace_host *host, const struct tfp_steps *steps, size_t s,
		     struct tfp_json *j)
{
	const struct tfp_step *step = &steps->steps[s];
	int64_t begin = 0, end = 0;
	for (size_t c = 0; c < step->core_count; c++) {
		const struct tfp_core_step *core = tfp_step_core(steps, s, c);
		int64_t core_end;
		if (__builtin_add_overflow(core->begin_ps, core->duration_ps, &core_end))
			core_end = INT64_MAX;
		begin = c == 0 || core->begin_ps < begin ? core->begin_ps : begin;
		end = c == 0 || core_end > end ? core_end : end;
	}
	int64_t start = tfp_trace_moment_ps(host, begin);
	int64_t duration = tfp_trace_moment_ps(host, end) - start;
	tfp_json_begin_object(j);
	tfp_json_set_integer(j, "number", step->number);
	tfp_json_set_text(j, "name", step->name.data, step->name.size);
	tfp_json_set_integer(j, "start_ps", start);
	tfp_json_set_integer(j, "duration_ps", duration);
	tfp_json_end_object(j);
}

/* Of the first host that has any. */
static enum tfp_status put_steps(const struct tfp_trace *trace, struct tfp_json *j,
				 struct tfp_error *err)
{
	const struct tfp_trace_host *host = NULL;
	const struct tfp_steps *steps = NULL;
	for (uint32_t h = 0; trace->complete && h < trace->host_count && !host; h++) {
		if (!trace->hosts[h].capture)
			continue;
		enum tfp_status status =
			tfp_steps_get(trace->hosts[h].capture, trace->pool, &steps, err);
		if (status != TFP_OK)
			return status;
		if (steps->count)
			host = &trace->hosts[h];
	}
	tfp_json_begin_array_of(j, "steps");
	for (size_t s = 0; host && s < steps->count; s++)
		put_step(host, steps, s, j);
	tfp_json_end_array(j);
	tfp_json_key(j, "steps_host");
	if (host)
		tfp_json_add_integer(j, host->index);
	else
		tfp_json_add_null(j);
	return TFP_OK;
}

/* ---- all ---- */

static void put_categories(struct tfp_json *j)
{
	/* As the page calls its colours. */
	static const char *const names[TFP_STEP_CATEGORY_COUNT] = {
		[TFP_STEP_DEVICE_COMPUTE] = "device_compute",
		[TFP_STEP_BETWEEN_DEVICES] = "device_to_device",
		[TFP_STEP_COLLECTIVES] = "device_collectives",
		[TFP_STEP_ON_HOST] = "host_compute",
		[TFP_STEP_KERNEL_LAUNCH] = "kernel_launch",
		[TFP_STEP_INPUT] = "input",
		[TFP_STEP_OUTPUT] = "output",
		[TFP_STEP_COMPILATION] = "compilation",
		[TFP_STEP_ALL_OTHERS] = "all_others",
	};
	tfp_json_begin_array_of(j, "categories");
	for (unsigned c = 0; c < TFP_STEP_CATEGORY_COUNT; c++)
		tfp_json_add_string(j, names[c]);
	tfp_json_end_array(j);
}

/* How the events shown come about: those in the files, less those that are not shown, and
 * those that follow from them. */
static void put_event_counts(const struct tfp_trace *trace, struct tfp_json *j)
{
	uint64_t recorded = 0, derived = 0;
	for (uint32_t h = 0; h < trace->host_count; h++) {
		const struct tfp_trace_host *host = &trace->hosts[h];
		if (!host->capture)
			continue;
		recorded += host->capture->event_count;
		for (uint32_t t = host->tracks->file_track_count; t < host->tracks->track_count;
		     t++)
			derived += host->tracks->tracks[t].event_count;
	}
	uint64_t of_files = trace->event_count - derived;
	tfp_json_set_count(j, "events", trace->event_count);
	tfp_json_set_count(j, "recorded", recorded);
	tfp_json_set_count(j, "hidden", recorded > of_files ? recorded - of_files : 0);
	tfp_json_set_count(j, "derived", derived);
}

static enum tfp_status put_all(const struct tfp_trace *trace, struct tfp_json *j,
			       struct tfp_error *err)
{
	tfp_json_begin_object(j);
	if (trace->begin_ns)
		tfp_json_set_format(j, "begin_ns", "%" PRIu64, trace->begin_ns);
	else
		tfp_json_set_null(j, "begin_ns");
	tfp_json_set_integer(j, "first_ps", trace->first_ps);
	tfp_json_set_integer(j, "duration_ps", trace->duration_ps);
	put_hosts(trace, j);
	tfp_json_set_string(j, "alignment", trace->alignment);
	put_event_counts(trace, j);
	tfp_json_begin_array_of(j, "processes");
	for (uint32_t h = 0; h < trace->host_count; h++) {
		if (trace->hosts[h].capture)
			put_processes(&trace->hosts[h], j);
	}
	tfp_json_end_array(j);
	tfp_json_set_boolean(j, "complete", trace->complete);
	enum tfp_status status = put_steps(trace, j, err);
	if (status != TFP_OK)
		return status;
	put_categories(j);
	status = put_densities(trace, j, err);
	tfp_json_end_object(j);
	return status == TFP_OK ? tfp_json_finish(j, err) : status;
}

enum tfp_status tfp_trace_steps_json(const struct tfp_session *session,
				     const struct tfp_query *query, struct tfp_buf *json,
				     struct tfp_error *err)
{
	struct tfp_trace trace;
	struct tfp_json j;
	enum tfp_status status = tfp_trace_open(session, &trace, err);
	(void)query;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	if (status == TFP_OK)
		status = put_steps(&trace, &j, err);
	tfp_json_end_object(&j);
	tfp_trace_release(&trace);
	return status == TFP_OK ? tfp_json_finish(&j, err) : status;
}

enum tfp_status tfp_trace_tracks_json(const struct tfp_session *session,
				      const struct tfp_query *query, struct tfp_buf *json,
				      struct tfp_error *err)
{
	struct tfp_trace trace;
	struct tfp_json j;
	enum tfp_status status = tfp_trace_open_as_asked(session, query, &trace, err);
	tfp_json_init(&j, json);
	if (status == TFP_OK)
		status = put_all(&trace, &j, err);
	tfp_trace_release(&trace);
	return status;
}
