/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_perfetto.h"

#include "base/alloc.h"
#include "base/str_map.h"
#include "base/utf8.h"
#include "trace/trace_source.h"
#include "wire/pb_writer.h"

#include <math.h>
#include <string.h>

/* trace.proto, trace_packet.proto */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* TracePacket.SequenceFlags */

/* track_descriptor.proto, process_descriptor.proto, thread_descriptor.proto */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
};

/* track_event.proto, debug_annotation.proto */
enum {
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
};

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 }; /* TrackEvent.Type */

/* interned_data.proto */
enum {
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_IID = 1,
	INTERNED_NAME = 2
};

#define PIECE     ((size_t)64 << 10)
#define PIECE_MAX ((size_t)64 << 20)

/* Rows for events of one track that overlap without nesting; what finds no row is
 * cut to fit the last. */
#define LANES_MAX 256u
/* Arrows from one event. */
#define ARROWS_MAX 64u
/* Values of a counter that have a track of their own. */
#define VALUES_MAX 64u

/* Threads whose number another one has get one from here on. */
#define TID_SUBSTITUTES 0x40000000u

/* Slices that are open on one of Perfetto's tracks, outermost first. */
struct lane {
	uint64_t uuid;
	int64_t *ends;
	size_t depth, room;
};

struct writer {
	const struct tfp_session *session;
	const struct tfp_trace_selection *selection;
	const struct tfp_sink *sink;
	struct tfp_buf piece;
	enum tfp_status status;
	struct tfp_error *err;
	bool failed;      /* no memory */
	int64_t shift_ps; /* so that no time is below 0 */
	uint32_t tid_substitute;

	/* Of the host. */
	struct tfp_trace_source host;
	struct tfp_trace_range *ranges; /* by track */
	uint32_t number;                /* of the host, from 1 */
	int64_t offset_ps;
	bool began;              /* its sequence of packets */
	struct tfp_buf interned; /* names that the next packet brings along */
	uint64_t **name_iids[2]; /* [derived][plane][event metadata] */
	uint64_t last_iid;
	struct tfp_str_map arg_names;
	uint32_t *tids; /* keys of by_tid */
	struct tfp_str_map by_tid;
	uint64_t lane_uuid;

	/* Of the track. */
	struct lane *lanes;
	size_t lane_count;
	struct tfp_buf args;
};

/* ---- packets ---- */

static void flush(struct writer *w, size_t least)
{
	if (w->status != TFP_OK || w->piece.size < least)
		return;
	if (tfp_buf_failed(&w->piece) || w->failed)
		w->status = tfp_fail(w->err, TFP_NO_MEMORY, "no memory for the trace");
	else if (w->piece.size)
		w->status = w->sink->write(w->sink->context, w->piece.data, w->piece.size, w->err);
	tfp_buf_clear(&w->piece);
}

static size_t begin_packet(struct writer *w)
{
	flush(w, PIECE);
	size_t mark = tfp_pb_begin(&w->piece, TRACE_PACKET);
	tfp_pb_put_uint(&w->piece, PACKET_SEQUENCE_ID, w->number);
	tfp_pb_put_uint(&w->piece, PACKET_SEQUENCE_FLAGS,
			w->began ? NEEDS_STATE : STATE_CLEARED | NEEDS_STATE);
	w->began = true;
	return mark;
}

static void put_text(struct tfp_buf *b, uint32_t field, struct tfp_str s)
{
	struct tfp_buf repaired;
	if (tfp_utf8_valid(s.data, s.size)) {
		tfp_pb_put_bytes(b, field, s.data, s.size);
		return;
	}
	tfp_buf_init(&repaired, PIECE_MAX);
	tfp_utf8_repair(&repaired, s.data, s.size);
	tfp_pb_put_bytes(b, field, repaired.data, repaired.size);
	b->failed |= tfp_buf_failed(&repaired);
	tfp_buf_release(&repaired);
}

static void put_fixed64(struct tfp_buf *b, uint32_t field, uint64_t value)
{
	uint8_t bytes[8];
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	tfp_pb_key(b, field, TFP_PB_FIXED64);
	tfp_buf_add(b, bytes, sizeof(bytes));
}

static void put_time(struct writer *w, int64_t ps)
{
	int64_t shifted;
	if (__builtin_add_overflow(ps, w->shift_ps, &shifted))
		shifted = ps < 0 ? 0 : INT64_MAX;
	tfp_pb_put_uint(&w->piece, PACKET_TIMESTAMP, shifted > 0 ? (uint64_t)shifted / 1000 : 0);
}

/* ---- tracks ---- */

/* Ids of Perfetto's tracks: host, kind, number. */
enum track_kind { PROCESS_TRACK = 1, ROW_TRACK, LANE_TRACK, VALUE_TRACK };

static uint64_t uuid_of(const struct writer *w, enum track_kind kind, uint64_t number)
{
	return (uint64_t)w->number << 48 | (uint64_t)kind << 44 | number;
}

static uint64_t process_uuid(const struct writer *w, const struct tfp_track *track)
{
	return uuid_of(w, PROCESS_TRACK, track->process);
}

/* As XProf numbers the processes of several hosts. */
static uint32_t pid_of(const struct writer *w, const struct tfp_process *process)
{
	return w->number * 1000 + process->pid;
}

static void put_process(struct writer *w, uint32_t p)
{
	const struct tfp_process *process = &w->host.tracks->processes[p];
	struct tfp_buf name;
	tfp_buf_init(&name, PIECE_MAX);
	tfp_buf_printf(&name, "%s ", w->host.name);
	tfp_buf_add(&name, process->name.data, process->name.size);
	size_t packet = begin_packet(w);
	size_t track = tfp_pb_begin(&w->piece, PACKET_TRACK_DESCRIPTOR);
	tfp_pb_put_uint(&w->piece, TRACK_UUID, uuid_of(w, PROCESS_TRACK, p));
	size_t descriptor = tfp_pb_begin(&w->piece, TRACK_PROCESS);
	tfp_pb_put_int(&w->piece, PROCESS_PID, pid_of(w, process));
	put_text(&w->piece, PROCESS_NAME, (struct tfp_str){tfp_buf_text(&name), name.size});
	tfp_pb_end(&w->piece, descriptor);
	tfp_pb_end(&w->piece, track);
	tfp_pb_end(&w->piece, packet);
	w->failed |= tfp_buf_failed(&name);
	tfp_buf_release(&name);
}

/* Perfetto takes a thread's number for unique over all processes. */
static uint32_t tid_of(struct writer *w, uint32_t t)
{
	uint32_t *tid = &w->tids[t];
	*tid = tfp_trace_row(&w->host, &w->host.tracks->tracks[t]) & INT32_MAX;
	if (w->number == 1 && *tid && *tid < TID_SUBSTITUTES &&
	    tfp_str_map_add(&w->by_tid, tid, sizeof(*tid), t) == t)
		return *tid;
	return w->tid_substitute++;
}

static void put_track(struct writer *w, uint64_t uuid, uint32_t t, struct tfp_str name,
		      bool is_thread, bool is_counter)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	size_t packet = begin_packet(w);
	size_t mark = tfp_pb_begin(&w->piece, PACKET_TRACK_DESCRIPTOR);
	tfp_pb_put_uint(&w->piece, TRACK_UUID, uuid);
	tfp_pb_put_uint(&w->piece, TRACK_PARENT_UUID, process_uuid(w, track));
	if (is_thread) {
		size_t thread = tfp_pb_begin(&w->piece, TRACK_THREAD);
		tfp_pb_put_int(&w->piece, THREAD_PID,
			       pid_of(w, &w->host.tracks->processes[track->process]));
		tfp_pb_put_int(&w->piece, THREAD_TID, tid_of(w, t));
		put_text(&w->piece, THREAD_NAME, name);
		tfp_pb_end(&w->piece, thread);
	} else {
		put_text(&w->piece, TRACK_NAME, name);
	}
	if (is_counter)
		tfp_pb_end(&w->piece, tfp_pb_begin(&w->piece, TRACK_COUNTER));
	tfp_pb_end(&w->piece, mark);
	tfp_pb_end(&w->piece, packet);
}

static void open_lane(struct writer *w, uint32_t t)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	void *lanes = tfp_reallocarray(w->lanes, w->lane_count + 1, sizeof(*w->lanes));
	if (!lanes) {
		w->failed = true;
		return;
	}
	w->lanes = lanes;
	bool first = w->lane_count == 0;
	uint64_t uuid = first ? uuid_of(w, ROW_TRACK, t) : uuid_of(w, LANE_TRACK, w->lane_uuid++);
	w->lanes[w->lane_count++] = (struct lane){.uuid = uuid};
	/* Tracks of one name below one process are shown as one. */
	put_track(w, uuid, t, track->name, first && track->kind == TFP_TRACK_THREAD, false);
}

/* ---- names ---- */

static void intern(struct writer *w, uint32_t field, uint64_t iid, struct tfp_str name)
{
	size_t mark = tfp_pb_begin(&w->interned, field);
	tfp_pb_put_uint(&w->interned, INTERNED_IID, iid);
	put_text(&w->interned, INTERNED_NAME, name);
	tfp_pb_end(&w->interned, mark);
}

/* The number under which the name of an event's metadata is known; 0 where the
 * event has another name. */
static uint64_t name_iid(struct writer *w, const struct tfp_track *track, size_t i,
			 struct tfp_str name)
{
	const struct tfp_event_meta *meta = tfp_event_meta(track->plane, track->line, i);
	bool derived = track->capture == w->host.derived;
	uint64_t **of_plane = &w->name_iids[derived][track->plane_index];
	if (name.data != meta->name.data && name.data != meta->display_name.data)
		return 0;
	if (!*of_plane)
		*of_plane = tfp_calloc(track->plane->event_meta_count, sizeof(**of_plane));
	if (!*of_plane) {
		w->failed = true;
		return 0;
	}
	uint64_t *iid = &(*of_plane)[tfp_event_meta_index(track->line, i)];
	if (*iid == 0) {
		*iid = ++w->last_iid;
		intern(w, INTERNED_EVENT_NAMES, *iid, name);
	}
	return *iid;
}

static void put_arg(void *context, const struct tfp_trace_arg *arg)
{
	struct writer *w = context;
	uint32_t next = (uint32_t)w->arg_names.count;
	uint32_t index = tfp_str_map_add(&w->arg_names, arg->name.size ? arg->name.data : "",
					 arg->name.size, next);
	if (index == TFP_STR_MAP_NONE) {
		w->failed = true;
		return;
	}
	if (index == next)
		intern(w, INTERNED_ANNOTATION_NAMES, (uint64_t)index + 1, arg->name);
	size_t mark = tfp_pb_begin(&w->args, EVENT_DEBUG_ANNOTATIONS);
	tfp_pb_put_uint(&w->args, ANNOTATION_NAME_IID, (uint64_t)index + 1);
	switch (arg->kind) {
	case TFP_ARG_INT:
		tfp_pb_put_int(&w->args, ANNOTATION_INT, arg->int_value);
		break;
	case TFP_ARG_UINT:
		tfp_pb_put_uint(&w->args, ANNOTATION_UINT, arg->uint_value);
		break;
	case TFP_ARG_DOUBLE:
		tfp_pb_put_double(&w->args, ANNOTATION_DOUBLE, arg->double_value);
		break;
	case TFP_ARG_TEXT:
		put_text(&w->args, ANNOTATION_STRING, arg->text);
		break;
	}
	tfp_pb_end(&w->args, mark);
}

/* ---- slices ---- */

/* A flow from one event to several is an arrow to each; an arrow has the number of the
 * end that it points at. */
static void put_flows(struct writer *w, const struct tfp_track *track, size_t i)
{
	const struct tfp_flows *flows = w->host.flows;
	size_t count, others;
	if (track->capture == w->host.derived)
		return;
	const struct tfp_flow_end *ends = tfp_flows_of_event(
		flows, false, track->plane_index, track->line_index, (uint32_t)i, &count);
	for (size_t e = 0; e < count; e++) {
		uint64_t base = (uint64_t)w->number << 40;
		if (ends[e].direction & TFP_FLOW_IN)
			put_fixed64(&w->piece, EVENT_TERMINATING_FLOW_IDS,
				    base + (uint64_t)(&ends[e] - flows->ends) + 1);
		if (!(ends[e].direction & TFP_FLOW_OUT))
			continue;
		const uint32_t *of_id = tfp_flows_of_id(flows, ends[e].id, &others);
		size_t arrows = 0;
		for (size_t k = 0; k < others && arrows < ARROWS_MAX; k++) {
			if (!(flows->ends[of_id[k]].direction & TFP_FLOW_IN) ||
			    &flows->ends[of_id[k]] == &ends[e])
				continue;
			put_fixed64(&w->piece, EVENT_FLOW_IDS, base + of_id[k] + 1);
			arrows++;
		}
	}
}

static void put_begin(struct writer *w, uint64_t uuid, const struct tfp_track *track, size_t i,
		      const struct tfp_trace_event *event, int type)
{
	/* First, because they say which names are new. */
	tfp_buf_clear(&w->args);
	tfp_buf_clear(&w->interned);
	uint64_t iid = name_iid(w, track, i, event->name);
	if (event->long_name.size) {
		struct tfp_trace_arg arg = {{"long_name", 9}, TFP_ARG_TEXT, {0}};
		arg.text = event->long_name;
		put_arg(w, &arg);
	}
	tfp_trace_each_arg(&w->host, track, i, event, put_arg, w);
	w->failed |= tfp_buf_failed(&w->args) || tfp_buf_failed(&w->interned);

	size_t packet = begin_packet(w);
	put_time(w, event->start_ps);
	if (w->interned.size)
		tfp_pb_put_bytes(&w->piece, PACKET_INTERNED_DATA, w->interned.data,
				 w->interned.size);
	size_t mark = tfp_pb_begin(&w->piece, PACKET_TRACK_EVENT);
	tfp_pb_put_uint(&w->piece, EVENT_TYPE, (uint64_t)type);
	tfp_pb_put_uint(&w->piece, EVENT_TRACK_UUID, uuid);
	if (iid)
		tfp_pb_put_uint(&w->piece, EVENT_NAME_IID, iid);
	else
		put_text(&w->piece, EVENT_NAME, event->name);
	put_flows(w, track, i);
	tfp_buf_add(&w->piece, w->args.data, w->args.size);
	tfp_pb_end(&w->piece, mark);
	tfp_pb_end(&w->piece, packet);
}

static void put_end(struct writer *w, struct lane *lane)
{
	size_t packet = begin_packet(w);
	put_time(w, lane->ends[--lane->depth]);
	size_t mark = tfp_pb_begin(&w->piece, PACKET_TRACK_EVENT);
	tfp_pb_put_uint(&w->piece, EVENT_TYPE, SLICE_END);
	tfp_pb_put_uint(&w->piece, EVENT_TRACK_UUID, lane->uuid);
	tfp_pb_end(&w->piece, mark);
	tfp_pb_end(&w->piece, packet);
}

static void close_until(struct writer *w, struct lane *lane, int64_t ps)
{
	while (lane->depth && lane->ends[lane->depth - 1] <= ps)
		put_end(w, lane);
}

/* The first lane in which the event lies after, or within, what is there. */
static struct lane *choose_lane(struct writer *w, uint32_t t, int64_t start_ps, int64_t *end_ps)
{
	for (size_t l = 0; l < w->lane_count; l++) {
		struct lane *lane = &w->lanes[l];
		close_until(w, lane, start_ps);
		if (lane->depth == 0 || lane->ends[lane->depth - 1] >= *end_ps)
			return lane;
	}
	if (w->lane_count < LANES_MAX) {
		open_lane(w, t);
		return w->failed ? NULL : &w->lanes[w->lane_count - 1];
	}
	struct lane *last = &w->lanes[LANES_MAX - 1];
	*end_ps = last->ends[last->depth - 1];
	return last;
}

static void put_event(struct writer *w, uint32_t t, size_t i, struct tfp_trace_event *event)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	int64_t end_ps;
	if (__builtin_add_overflow(event->start_ps, w->offset_ps, &event->start_ps))
		event->start_ps = INT64_MAX;
	if (__builtin_add_overflow(event->start_ps, event->duration_ps, &end_ps))
		end_ps = INT64_MAX;
	if (event->duration_ps == 0) {
		if (w->lane_count == 0)
			open_lane(w, t);
		if (!w->failed)
			put_begin(w, w->lanes[0].uuid, track, i, event, INSTANT);
		return;
	}
	struct lane *lane = choose_lane(w, t, event->start_ps, &end_ps);
	if (!lane)
		return;
	if (!TFP_GROW(lane->ends, lane->depth, lane->room)) {
		w->failed = true;
		return;
	}
	put_begin(w, lane->uuid, track, i, event, SLICE_BEGIN);
	lane->ends[lane->depth++] = end_ps;
}

static bool is_chosen(const struct writer *w, const struct tfp_line *line, size_t i)
{
	int64_t start_ps;
	if (__builtin_add_overflow(tfp_event_start_ps(line, i), w->offset_ps, &start_ps))
		start_ps = INT64_MAX;
	return tfp_trace_selects_time(w->selection, start_ps, tfp_event_duration_ps(line, i));
}

static void put_row(struct writer *w, uint32_t t)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	const struct tfp_trace_range range = w->ranges[t];
	for (size_t i = range.from; i < range.to && w->status == TFP_OK && !w->failed; i++) {
		struct tfp_trace_event event;
		if (is_chosen(w, track->line, i) &&
		    tfp_trace_event_read(&w->host, track, i, &event))
			put_event(w, t, i, &event);
	}
	for (size_t l = 0; l < w->lane_count; l++) {
		if (!w->failed)
			close_until(w, &w->lanes[l], INT64_MAX);
		tfp_free(w->lanes[l].ends);
	}
	tfp_free(w->lanes);
	w->lanes = NULL;
	w->lane_count = 0;
}

/* ---- counters ---- */

/* A counter's values over one line, by the counter's track. */
struct counter {
	struct writer *w;
	uint32_t t;
	int64_t at_ps;
	/* Names of values that have a track. */
	struct tfp_str names[VALUES_MAX];
	uint32_t count;
};

static void put_value(void *context, const struct tfp_trace_arg *arg)
{
	struct counter *c = context;
	struct writer *w = c->w;
	uint32_t v = 0;
	if (arg->kind == TFP_ARG_TEXT ||
	    (arg->kind == TFP_ARG_DOUBLE && !isfinite(arg->double_value)))
		return;
	while (v < c->count && tfp_str_compare(c->names[v], arg->name) != 0)
		v++;
	if (v == VALUES_MAX)
		return;
	uint64_t uuid = uuid_of(w, VALUE_TRACK, (uint64_t)c->t * VALUES_MAX + v);
	if (v == c->count) {
		struct tfp_str track_name = w->host.tracks->tracks[c->t].name;
		struct tfp_buf name;
		tfp_buf_init(&name, PIECE_MAX);
		tfp_buf_add(&name, track_name.data, track_name.size);
		if (v > 0) {
			tfp_buf_puts(&name, ": ");
			tfp_buf_add(&name, arg->name.data, arg->name.size);
		}
		c->names[c->count++] = arg->name;
		put_track(w, uuid, c->t, (struct tfp_str){tfp_buf_text(&name), name.size}, false,
			  true);
		w->failed |= tfp_buf_failed(&name);
		tfp_buf_release(&name);
	}
	size_t packet = begin_packet(w);
	put_time(w, c->at_ps);
	size_t mark = tfp_pb_begin(&w->piece, PACKET_TRACK_EVENT);
	tfp_pb_put_uint(&w->piece, EVENT_TYPE, COUNTER);
	tfp_pb_put_uint(&w->piece, EVENT_TRACK_UUID, uuid);
	if (arg->kind == TFP_ARG_DOUBLE)
		tfp_pb_put_double(&w->piece, EVENT_DOUBLE_COUNTER_VALUE, arg->double_value);
	else if (arg->kind == TFP_ARG_UINT && arg->uint_value > INT64_MAX)
		tfp_pb_put_double(&w->piece, EVENT_DOUBLE_COUNTER_VALUE, (double)arg->uint_value);
	else
		tfp_pb_put_int(&w->piece, EVENT_COUNTER_VALUE, arg->int_value);
	tfp_pb_end(&w->piece, mark);
	tfp_pb_end(&w->piece, packet);
}

static void put_counter(struct writer *w, uint32_t t, const uint32_t *events, size_t count)
{
	struct counter c = {.w = w, .t = t};
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	for (size_t k = 0; k < count && w->status == TFP_OK; k++) {
		struct tfp_trace_event event;
		if (!is_chosen(w, track->line, events[k]) ||
		    !tfp_trace_event_read(&w->host, track, events[k], &event))
			continue;
		if (__builtin_add_overflow(event.start_ps, w->offset_ps, &c.at_ps))
			c.at_ps = INT64_MAX;
		event.group = TFP_NO_GROUP; /* no value */
		tfp_trace_each_arg(&w->host, track, events[k], &event, put_value, &c);
	}
}

static void see_counter(void *context, uint32_t track, const uint32_t *events, size_t count)
{
	struct writer *w = context;
	if (tfp_trace_selects_track(w->selection, w->host.index, track))
		put_counter(w, track, events, count);
}

/* ---- a host ---- */

static bool open_host(struct writer *w, size_t i)
{
	w->status = tfp_trace_source_open(&w->host, w->session, i, w->err);
	w->host.leaves_out_unset = true;
	if (w->status == TFP_OK)
		w->status = tfp_trace_ranges(&w->host, w->session->pool, w->selection, w->offset_ps,
					     &w->ranges, w->err);
	if (w->status != TFP_OK)
		return false;
	w->number = (uint32_t)i + 1;
	w->began = false;
	w->last_iid = w->lane_uuid = 0;
	w->tids = tfp_calloc(w->host.tracks->track_count, sizeof(*w->tids));
	for (int d = 0; d < 2; d++) {
		const struct tfp_capture *capture = d ? w->host.derived : w->host.file;
		w->name_iids[d] = tfp_calloc(capture->plane_count, sizeof(*w->name_iids[d]));
		w->failed |= !w->name_iids[d];
	}
	w->failed |= !w->tids;
	if (w->failed)
		w->status = tfp_fail(w->err, TFP_NO_MEMORY, "no memory for the trace");
	return w->status == TFP_OK;
}

static void release_host(struct writer *w)
{
	for (int d = 0; d < 2; d++) {
		const struct tfp_capture *capture = d ? w->host.derived : w->host.file;
		for (size_t p = 0; w->name_iids[d] && p < capture->plane_count; p++)
			tfp_free(w->name_iids[d][p]);
		tfp_free(w->name_iids[d]);
		w->name_iids[d] = NULL;
	}
	tfp_str_map_release(&w->arg_names);
	tfp_str_map_release(&w->by_tid);
	tfp_free(w->tids);
	w->tids = NULL;
	tfp_free(w->ranges);
	w->ranges = NULL;
	tfp_trace_source_release(&w->host);
}

static void put_host(struct writer *w, size_t i)
{
	if (open_host(w, i)) {
		const struct tfp_tracks *tracks = w->host.tracks;
		for (uint32_t p = 0; p < tracks->process_count; p++)
			put_process(w, p);
		for (uint32_t t = 0;
		     t < tracks->track_count && w->status == TFP_OK && !w->failed;) {
			if (tracks->tracks[t].kind == TFP_TRACK_COUNTER) {
				w->failed |= !tfp_trace_each_counter(tracks, &t, see_counter, w);
				continue;
			}
			if (tfp_trace_selects_track(w->selection, w->host.index, t))
				put_row(w, t);
			t++;
		}
	}
	release_host(w);
}

enum tfp_status tfp_perfetto_write(const struct tfp_session *session,
				   const struct tfp_trace_selection *selection,
				   const struct tfp_sink *sink, struct tfp_error *err)
{
	struct writer w = {.session = session,
			   .selection = selection,
			   .sink = sink,
			   .err = err,
			   .tid_substitute = TID_SUBSTITUTES};
	struct tfp_trace_alignment alignment;
	tfp_buf_init(&w.piece, PIECE_MAX);
	tfp_buf_init(&w.args, PIECE_MAX);
	tfp_buf_init(&w.interned, PIECE_MAX);
	w.status = tfp_trace_align(&alignment, session, err);
	if (w.status == TFP_OK && alignment.begin_ps < 0)
		w.shift_ps = alignment.begin_ps == INT64_MIN ? INT64_MAX : -alignment.begin_ps;
	for (size_t i = 0; i < session->host_count && w.status == TFP_OK; i++) {
		const struct tfp_trace_selection own =
			tfp_trace_selection_of(selection, &alignment, i);
		w.selection = &own;
		w.offset_ps = alignment.offset_ps[i];
		put_host(&w, i);
	}
	flush(&w, 0);
	if (w.status == TFP_OK && w.failed)
		w.status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the trace");
	tfp_trace_alignment_release(&alignment);
	tfp_buf_release(&w.piece);
	tfp_buf_release(&w.args);
	tfp_buf_release(&w.interned);
	return w.status;
}
