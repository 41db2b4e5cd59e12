/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_chrome_parts.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes that are gathered before they go to the sink. */
#define PIECE       ((size_t)64 << 10)
#define PIECE_MAX   ((size_t)64 << 20) /* one event with the longest of arguments */
#define FRAMES_MAX  ((size_t)256 << 20)
#define PIDS_A_HOST 1000u

/* XProf cuts longer names, and keeps names up to the other length as they are. */
#define LONG_NAME_MAX  10000u
#define SHORT_NAME_MAX 16u
#define SAFE_INTEGER   (INT64_C(1) << 53)

/* ---- pieces ---- */

static void flush(struct tfp_chrome_writer *w, size_t least)
{
	if (w->status != TFP_OK || w->piece.size < least)
		return;
	if (tfp_buf_failed(&w->piece) || w->args.failed)
		w->status = tfp_fail(w->err, TFP_NO_MEMORY, "no memory for the trace");
	else if (w->piece.size)
		w->status = w->sink->write(w->sink->context, w->piece.data, w->piece.size, w->err);
	tfp_buf_clear(&w->piece);
}

/* A key. Parsers that are written in C take no zero byte in one, though JSON allows it;
 * a name that has one ends there for them. */
static void put_key(struct tfp_chrome_writer *w, struct tfp_str s)
{
	tfp_json_key_text(&w->json, s.data, strnlen(s.data, s.size));
}

/* Picoseconds as exact microseconds. */
static void add_us(struct tfp_chrome_writer *w, int64_t ps)
{
	uint64_t rest = ps < 0 ? -(uint64_t)ps : (uint64_t)ps, digit = 0;
	char text[24];
	size_t at = sizeof(text);
	bool any = false;
	/* From the last digit on; noughts at the end of a fraction are left out. There is
	 * one of these for every event, and printf would take a tenth of all the time. */
	for (; rest || digit <= 6; digit++) {
		if (digit == 6 && any)
			text[--at] = '.';
		any |= rest % 10 != 0;
		if (any || digit >= 6)
			text[--at] = (char)('0' + rest % 10);
		rest /= 10;
	}
	if (ps < 0)
		text[--at] = '-';
	tfp_json_add_raw(&w->json, text + at, sizeof(text) - at);
}

static void begin_element(struct tfp_chrome_writer *w)
{
	flush(w, PIECE);
	tfp_json_break_line(&w->json);
	tfp_json_begin_object(&w->json);
}

static void end_element(struct tfp_chrome_writer *w)
{
	tfp_json_end_object(&w->json);
}

/* ---- names of processes and rows ---- */

static uint32_t pid_of(const struct tfp_chrome_writer *w, const struct tfp_track *track)
{
	return w->first_pid + w->host.tracks->processes[track->process].pid;
}

void tfp_chrome_process_name(const struct tfp_chrome_writer *w, struct tfp_str name,
			     struct tfp_buf *out)
{
	tfp_buf_init(out, PIECE_MAX);
	if (w->options->dialect != TFP_CHROME_PLAIN)
		tfp_buf_printf(out, "%s ", w->host.name);
	tfp_buf_add(out, name.data, name.size);
}

struct tfp_str tfp_chrome_row_name(const struct tfp_track *track)
{
	return track->kind == TFP_TRACK_COUNTER ? track->line->name : track->name;
}

static void end_meta(struct tfp_chrome_writer *w, const char *kind, uint32_t pid,
		     const uint32_t *tid)
{
	tfp_json_end_object(&w->json);
	tfp_json_set_string(&w->json, "name", kind);
	tfp_json_set_string(&w->json, "ph", "M");
	tfp_json_set_integer(&w->json, "pid", pid);
	if (tid)
		tfp_json_set_integer(&w->json, "tid", *tid);
}

static void put_meta_name(struct tfp_chrome_writer *w, const char *kind, uint32_t pid,
			  const uint32_t *tid, struct tfp_str name, const uint32_t *threads)
{
	begin_element(w);
	tfp_json_begin_object_of(&w->json, "args");
	tfp_json_set_text(&w->json, "name", name.data, name.size);
	end_meta(w, kind, pid, tid);
	if (threads)
		tfp_json_set_integer(&w->json, "thread_count", *threads);
	end_element(w);
}

static void put_meta_index(struct tfp_chrome_writer *w, const char *kind, uint32_t pid,
			   const uint32_t *tid, uint32_t index)
{
	begin_element(w);
	tfp_json_begin_object_of(&w->json, "args");
	tfp_json_set_integer(&w->json, "sort_index", index);
	end_meta(w, kind, pid, tid);
	end_element(w);
}

bool tfp_chrome_has_memory(const struct tfp_chrome_writer *w)
{
	return w->options->dialect == TFP_CHROME_EXPORT;
}

bool tfp_chrome_is_row(const struct tfp_chrome_writer *w, uint32_t t)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	if (track->kind != TFP_TRACK_COUNTER)
		return true;
	return w->options->dialect == TFP_CHROME_PLAIN && !track->is_memory &&
	       (t == 0 || track[-1].line != track->line);
}

void tfp_chrome_put_process(struct tfp_chrome_writer *w, const struct tfp_process *process)
{
	uint32_t pid = w->first_pid + process->pid, rows = 0;
	for (uint32_t t = 0; t < process->track_count; t++)
		rows += tfp_chrome_is_row(w, process->tracks[t]);
	struct tfp_buf name;
	tfp_chrome_process_name(w, process->name, &name);
	put_meta_name(w, "process_name", pid, NULL,
		      (struct tfp_str){tfp_buf_text(&name), name.size},
		      w->options->dialect == TFP_CHROME_STREAMING ? &rows : NULL);
	w->args.failed |= tfp_buf_failed(&name);
	tfp_buf_release(&name);
	put_meta_index(w, "process_sort_index", pid, NULL, pid);
}

void tfp_chrome_put_row(struct tfp_chrome_writer *w, const struct tfp_process *process,
			uint32_t place)
{
	const struct tfp_track *track = &w->host.tracks->tracks[process->tracks[place]];
	uint32_t pid = w->first_pid + process->pid, row = tfp_trace_row(&w->host, track);
	put_meta_name(w, "thread_name", pid, &row, tfp_chrome_row_name(track), NULL);
	/* Ours in the order in which tracks are shown; theirs by number. */
	put_meta_index(w, "thread_sort_index", pid, &row,
		       w->options->dialect == TFP_CHROME_EXPORT ? place : row);
}

/* ---- arguments ---- */

static void keep_arg(void *context, const struct tfp_trace_arg *arg)
{
	struct tfp_chrome_args *args = context;
	for (size_t i = 0; i < args->count; i++) {
		/* A stat of the event counts more than one of its name. */
		if (tfp_str_compare(args->list[i].name, arg->name) == 0) {
			args->list[i] = *arg;
			return;
		}
	}
	if (!TFP_GROW(args->list, args->count, args->room)) {
		args->failed = true;
		return;
	}
	args->list[args->count++] = *arg;
}

static bool ends_with(struct tfp_str s, const char *text)
{
	size_t n = strlen(text);
	return s.size >= n && memcmp(s.data + s.size - n, text, n) == 0;
}

static void add_double(struct tfp_chrome_writer *w, const struct tfp_trace_arg *arg)
{
	double v = arg->double_value;
	char text[512];
	if (!isfinite(v)) {
		tfp_json_add_double(&w->json, v);
	} else if (ends_with(arg->name, "(util %)") || ends_with(arg->name, " (MB/sec)")) {
		int size = snprintf(text, sizeof(text), "%.2f", v);
		tfp_json_add_raw(&w->json, text, (size_t)size);
	} else {
		tfp_json_add_number(&w->json, v);
	}
}

static void add_value(struct tfp_chrome_writer *w, const struct tfp_trace_arg *arg)
{
	switch (arg->kind) {
	case TFP_ARG_INT:
		if (arg->int_value <= SAFE_INTEGER && arg->int_value >= -SAFE_INTEGER)
			tfp_json_add_integer(&w->json, arg->int_value);
		else
			tfp_json_add_format(&w->json, "%" PRId64, arg->int_value);
		break;
	case TFP_ARG_UINT:
		if (arg->uint_value <= (uint64_t)SAFE_INTEGER)
			tfp_json_add_count(&w->json, arg->uint_value);
		else
			tfp_json_add_format(&w->json, "%" PRIu64, arg->uint_value);
		break;
	case TFP_ARG_DOUBLE:
		add_double(w, arg);
		break;
	case TFP_ARG_TEXT:
		tfp_json_add_text(&w->json, arg->text.data, arg->text.size);
		break;
	}
}

static void add_text_value(struct tfp_chrome_writer *w, const struct tfp_trace_arg *arg)
{
	switch (arg->kind) {
	case TFP_ARG_INT:
		tfp_json_add_format(&w->json, "%" PRId64, arg->int_value);
		break;
	case TFP_ARG_UINT:
		tfp_json_add_format(&w->json, "%" PRIu64, arg->uint_value);
		break;
	case TFP_ARG_DOUBLE:
		tfp_json_add_format(&w->json, "%g", arg->double_value);
		break;
	case TFP_ARG_TEXT:
		tfp_json_add_text(&w->json, arg->text.data, arg->text.size);
		break;
	}
}

static void add_long_name(struct tfp_chrome_writer *w, const struct tfp_trace_event *event,
			  char *cut)
{
	struct tfp_trace_arg arg = {{"long_name", 9}, TFP_ARG_TEXT, {0}};
	arg.text = event->long_name;
	if (arg.text.size > LONG_NAME_MAX && w->options->dialect == TFP_CHROME_STREAMING) {
		memcpy(cut, arg.text.data, LONG_NAME_MAX);
		memcpy(cut + LONG_NAME_MAX, "...<truncated>", 14);
		arg.text = (struct tfp_str){cut, LONG_NAME_MAX + 14};
	}
	keep_arg(&w->args, &arg);
}

/* The number of the frame that holds the long name of this metadata. */
static uint32_t frame_of(struct tfp_chrome_writer *w, const struct tfp_track *track, size_t i,
			 struct tfp_str long_name)
{
	bool derived = track->capture == w->host.derived;
	uint32_t **of_plane = &w->frame_of[derived][track->plane_index];
	if (!*of_plane)
		*of_plane = tfp_calloc(track->plane->event_meta_count, sizeof(**of_plane));
	if (!*of_plane) {
		w->args.failed = true;
		return 0;
	}
	uint32_t *frame = &(*of_plane)[tfp_event_meta_index(track->line, i)];
	if (*frame == 0 && w->frame_count < UINT32_MAX) {
		*frame = (uint32_t)++w->frame_count;
		char number[16];
		snprintf(number, sizeof(number), "%" PRIu32, *frame);
		if (long_name.size > LONG_NAME_MAX)
			long_name.size = LONG_NAME_MAX;
		tfp_json_begin_object_of(&w->frames_json, number);
		tfp_json_set_text(&w->frames_json, "name", long_name.data, long_name.size);
		tfp_json_end_object(&w->frames_json);
	}
	return *frame;
}

static uint64_t serial_of(uint32_t track, size_t event)
{
	return (uint64_t)track << 32 | event;
}

/* What is needed to ask for the arguments. */
static void put_uid(struct tfp_chrome_writer *w, const struct tfp_track *track, size_t i,
		    const struct tfp_trace_event *event)
{
	uint32_t t = (uint32_t)(track - w->host.tracks->tracks);
	tfp_json_begin_object_of(&w->json, "args");
	if (event->group != TFP_NO_GROUP)
		tfp_json_set_integer(&w->json, "group_id", event->group);
	tfp_json_set_count(&w->json, "uid", serial_of(t, i));
	tfp_json_end_object(&w->json);
}

static void put_args(struct tfp_chrome_writer *w, const struct tfp_track *track, size_t i,
		     const struct tfp_trace_event *event)
{
	char cut[LONG_NAME_MAX + 14];
	uint32_t frame = 0;
	if (w->options->dialect == TFP_CHROME_STREAMING && !w->options->all_args &&
	    !w->options->only) {
		put_uid(w, track, i, event);
		return;
	}
	w->args.count = 0;
	if (event->long_name.size > SHORT_NAME_MAX && w->options->dialect == TFP_CHROME_STREAMING)
		frame = frame_of(w, track, i, event->long_name);
	else if (event->long_name.size)
		add_long_name(w, event, cut);
	tfp_trace_each_arg(&w->host, track, i, event, keep_arg, &w->args);
	if (w->args.count)
		tfp_json_begin_object_of(&w->json, "args");
	for (size_t a = 0; a < w->args.count; a++) {
		put_key(w, w->args.list[a].name);
		if (w->options->dialect == TFP_CHROME_PLAIN)
			add_text_value(w, &w->args.list[a]);
		else
			add_value(w, &w->args.list[a]);
	}
	if (w->args.count)
		tfp_json_end_object(&w->json);
	if (frame)
		tfp_json_set_integer(&w->json, "sf", frame);
}

/* ---- events ---- */

static void put_head(struct tfp_chrome_writer *w, const struct tfp_track *track,
		     const struct tfp_trace_event *event, bool with_row)
{
	tfp_json_set_integer(&w->json, "pid", pid_of(w, track));
	if (with_row)
		tfp_json_set_integer(&w->json, "tid", tfp_trace_row(&w->host, track));
	tfp_json_set_text(&w->json, "name", event->name.data, event->name.size);
}

static void put_time(struct tfp_chrome_writer *w, const char *key, int64_t ps)
{
	tfp_json_key(&w->json, key);
	add_us(w, ps);
}

static void put_category(struct tfp_chrome_writer *w, const struct tfp_trace_event *event,
			 bool always)
{
	const char *category = tfp_flow_category_name(event->category);
	if (category[0] || always)
		tfp_json_set_string(&w->json, "cat", category);
}

/* One end of an event that lies on no row: what begins and ends is told apart by an id. */
static void put_async(struct tfp_chrome_writer *w, const struct tfp_track *track, size_t i,
		      const struct tfp_trace_event *event, char phase, int64_t at_ps,
		      bool with_args)
{
	begin_element(w);
	put_head(w, track, event, false);
	put_time(w, "ts", at_ps);
	tfp_json_set_count(&w->json, "id", event->flow_id);
	if (w->options->dialect == TFP_CHROME_EXPORT && event->category < 2)
		tfp_json_set_string(&w->json, "cat", "async"); /* it may not be empty */
	else
		put_category(w, event, true);
	tfp_json_set_format(&w->json, "ph", "%c", phase);
	if (with_args)
		put_args(w, track, i, event);
	end_element(w);
	w->event_count++;
}

static void put_complete(struct tfp_chrome_writer *w, const struct tfp_track *track, uint32_t t,
			 size_t i, const struct tfp_trace_event *event)
{
	const enum tfp_chrome_dialect dialect = w->options->dialect;
	int64_t duration_ps = event->duration_ps;
	if (dialect == TFP_CHROME_STREAMING && duration_ps == 0)
		duration_ps = 1; /* theirs: an event without length cannot be clicked */
	begin_element(w);
	put_head(w, track, event, true);
	put_time(w, "ts", event->start_ps);
	if (dialect == TFP_CHROME_PLAIN && duration_ps == 0) {
		tfp_json_set_string(&w->json, "ph", "i");
		tfp_json_set_string(&w->json, "s", "t");
	} else {
		put_time(w, "dur", duration_ps);
		if (event->has_flow && dialect != TFP_CHROME_PLAIN) {
			tfp_json_set_count(&w->json, "bind_id", event->flow_id);
			put_category(w, event, false);
			if (event->direction & TFP_FLOW_IN)
				tfp_json_set_boolean(&w->json, "flow_in", true);
			if (event->direction & TFP_FLOW_OUT)
				tfp_json_set_boolean(&w->json, "flow_out", true);
		}
		tfp_json_set_string(&w->json, "ph", "X");
	}
	put_args(w, track, i, event);
	if (dialect == TFP_CHROME_STREAMING)
		tfp_json_set_count(&w->json, "z", serial_of(t, i));
	end_element(w);
	w->event_count++;
}

int64_t tfp_chrome_on_common_clock(const struct tfp_chrome_writer *w, int64_t ps)
{
	if (__builtin_add_overflow(ps, w->offset_ps, &ps))
		return INT64_MAX;
	return ps > 0 ? ps : 0;
}

bool tfp_chrome_is_async(const struct tfp_chrome_writer *w, const struct tfp_trace_event *event)
{
	return event->is_async && event->has_flow && w->options->dialect != TFP_CHROME_PLAIN &&
	       (event->flow_in_file || !w->host.groups->from_file);
}

void tfp_chrome_put_event(struct tfp_chrome_writer *w, uint32_t t, size_t i,
			  struct tfp_trace_event *event)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	int64_t end_ps;
	event->start_ps = tfp_chrome_on_common_clock(w, event->start_ps);
	if (!tfp_chrome_is_async(w, event)) {
		put_complete(w, track, t, i, event);
		return;
	}
	if (__builtin_add_overflow(event->start_ps, event->duration_ps, &end_ps))
		end_ps = INT64_MAX;
	if (event->direction != TFP_FLOW_IN)
		put_async(w, track, i, event, 'b', event->start_ps, true);
	if (event->direction == TFP_FLOW_IN)
		put_async(w, track, i, event, 'e', event->start_ps, true);
	else if (event->direction != TFP_FLOW_OUT)
		put_async(w, track, i, event, 'e', end_ps, false);
}

/* ---- counters ---- */

bool tfp_chrome_read_sample(struct tfp_chrome_writer *w, uint32_t t, size_t i,
			    const struct tfp_trace_event *event)
{
	w->args.count = 0;
	tfp_trace_each_arg(&w->host, &w->host.tracks->tracks[t], i, event, keep_arg, &w->args);
	for (size_t a = 0; a < w->args.count;) {
		const struct tfp_trace_arg *arg = &w->args.list[a];
		if (arg->kind == TFP_ARG_TEXT ||
		    (arg->kind == TFP_ARG_DOUBLE && !isfinite(arg->double_value)))
			w->args.list[a] = w->args.list[--w->args.count];
		else
			a++;
	}
	return w->args.count > 0;
}

static void add_sample_value(struct tfp_chrome_writer *w, const struct tfp_trace_arg *arg)
{
	if (arg->kind == TFP_ARG_INT)
		tfp_json_add_integer(&w->json, arg->int_value);
	else if (arg->kind == TFP_ARG_UINT)
		tfp_json_add_count(&w->json, arg->uint_value);
	else
		tfp_json_add_number(&w->json, arg->double_value);
}

static void put_single(struct tfp_chrome_writer *w, const struct tfp_track *track,
		       const struct tfp_trace_event *event)
{
	begin_element(w);
	put_head(w, track, event, false);
	tfp_json_set_string(&w->json, "ph", "C");
	put_time(w, "ts", event->start_ps);
	tfp_json_begin_object_of(&w->json, "args");
	for (size_t a = 0; a < w->args.count; a++) {
		put_key(w, w->args.list[a].name);
		add_sample_value(w, &w->args.list[a]);
	}
	tfp_json_end_object(&w->json);
	end_element(w);
}

/* XProf's own: all samples of a counter in one object. */
static void put_entry(struct tfp_chrome_writer *w, const struct tfp_track *track,
		      const struct tfp_trace_event *event, bool *open)
{
	if (!*open) {
		const struct tfp_str name = w->args.list[0].name;
		begin_element(w);
		put_head(w, track, event, false);
		tfp_json_set_string(&w->json, "ph", "C");
		tfp_json_set_text(&w->json, "event_stats", name.data, name.size);
		tfp_json_begin_array_of(&w->json, "entries");
		*open = true;
	}
	flush(w, PIECE);
	tfp_json_begin_array(&w->json);
	add_us(w, event->start_ps);
	for (size_t a = 0; a < w->args.count; a++)
		add_sample_value(w, &w->args.list[a]);
	tfp_json_end_array(&w->json);
}

void tfp_chrome_put_sample(struct tfp_chrome_writer *w, uint32_t t, struct tfp_trace_event *event,
			   bool *open)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	event->start_ps = tfp_chrome_on_common_clock(w, event->start_ps);
	w->event_count++;
	w->counter_count++;
	if (w->options->dialect == TFP_CHROME_STREAMING)
		put_entry(w, track, event, open);
	else
		put_single(w, track, event);
}

void tfp_chrome_end_samples(struct tfp_chrome_writer *w, bool open)
{
	if (!open)
		return;
	tfp_json_end_array(&w->json);
	end_element(w);
}

/* ---- a host ---- */

static void see_bounds(struct tfp_chrome_writer *w)
{
	const struct tfp_tracks *tracks = w->host.tracks;
	const int64_t end_ps = tfp_chrome_has_memory(w) ? tracks->end_ps : tracks->end_of_peers_ps;
	if (tracks->event_count == 0)
		return;
	if (!w->has_bounds || tracks->begin_ps < w->begin_ps)
		w->begin_ps = tracks->begin_ps;
	if (!w->has_bounds || end_ps > w->end_ps)
		w->end_ps = end_ps;
	w->has_bounds = true;
}

void tfp_chrome_begin_host(struct tfp_chrome_writer *w, size_t place, int64_t offset_ps)
{
	/* The peers' first viewer takes one host and its numbers as they are. */
	w->first_pid = ((uint32_t)place + (w->options->dialect != TFP_CHROME_PLAIN)) * PIDS_A_HOST;
	w->offset_ps = offset_ps;
	w->is_tpu |= w->host.is_tpu;
	see_bounds(w);
	for (int d = 0; d < 2; d++) {
		const struct tfp_capture *capture = d ? w->host.derived : w->host.file;
		w->frame_of[d] = tfp_calloc(capture->plane_count, sizeof(*w->frame_of[d]));
		w->args.failed |= !w->frame_of[d];
	}
}

void tfp_chrome_end_host(struct tfp_chrome_writer *w)
{
	for (int d = 0; d < 2; d++) {
		const struct tfp_capture *capture = d ? w->host.derived : w->host.file;
		for (size_t p = 0; w->frame_of[d] && p < capture->plane_count; p++)
			tfp_free(w->frame_of[d][p]);
		tfp_free(w->frame_of[d]);
		w->frame_of[d] = NULL;
	}
}

/* ---- the document ---- */

/* A number as C++ streams print it. */
static void add_milliseconds(struct tfp_json *j, int64_t ps)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%.6g", (double)ps / 1e9);
	tfp_json_add_raw(j, text, (size_t)size);
}

/* They may be more than a piece holds. */
static void put_frames(struct tfp_chrome_writer *w)
{
	tfp_json_end_object(&w->frames_json);
	tfp_json_key(&w->json, "stackFrames");
	flush(w, 0);
	w->args.failed |= tfp_buf_failed(&w->frames);
	if (w->status == TFP_OK && !w->args.failed)
		w->status =
			w->sink->write(w->sink->context, w->frames.data, w->frames.size, w->err);
	tfp_json_add_raw(&w->json, "", 0);
}

static void put_streaming_tail(struct tfp_chrome_writer *w)
{
	struct tfp_json *j = &w->json;
	if (w->is_tpu) {
		tfp_json_begin_array_of(j, "details");
		tfp_json_begin_object(j);
		tfp_json_set_string(j, "name", "full_dma");
		tfp_json_set_boolean(j, "value", w->options->full_dma);
		tfp_json_end_object(j);
		tfp_json_end_array(j);
	}
	tfp_json_set_string(j, "codeLink", "");
	tfp_json_set_boolean(j, "useNewBackend", false);
	tfp_json_set_count(j, "returnedEventsSize", w->event_count);
	tfp_json_set_boolean(j, "filteredByVisibility", w->filtered);
	tfp_json_begin_array_of(j, "fullTimespan");
	add_milliseconds(j, w->begin_ps);
	add_milliseconds(j, w->end_ps);
	tfp_json_end_array(j);
	put_frames(w);
	tfp_json_set_string(j, "showCounterMessage", "");
	tfp_json_set_count(j, "totalCounterEvents", w->counter_count);
}

void tfp_chrome_begin(struct tfp_chrome_writer *w, const struct tfp_chrome_options *options,
		      const struct tfp_sink *sink, struct tfp_error *err)
{
	struct tfp_json *j = &w->json;
	*w = (struct tfp_chrome_writer){.options = options, .sink = sink, .err = err};
	tfp_buf_init(&w->piece, PIECE_MAX);
	tfp_buf_init(&w->frames, FRAMES_MAX);
	tfp_json_init(j, &w->piece);
	tfp_json_init(&w->frames_json, &w->frames);
	tfp_json_begin_object(&w->frames_json);
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "displayTimeUnit", "ns");
	tfp_json_begin_object_of(j, "metadata");
	tfp_json_set_boolean(j, "highres-ticks", true);
	tfp_json_end_object(j);
	if (w->options->dialect == TFP_CHROME_PLAIN)
		tfp_json_break_line(j);
	tfp_json_begin_array_of(j, "traceEvents");
}

enum tfp_status tfp_chrome_end(struct tfp_chrome_writer *w)
{
	struct tfp_json *j = &w->json;
	tfp_json_break_line(j);
	if (w->options->dialect == TFP_CHROME_PLAIN) {
		tfp_json_begin_object(j);
		tfp_json_end_object(j);
	}
	tfp_json_end_array(j);
	if (w->options->dialect == TFP_CHROME_STREAMING)
		put_streaming_tail(w);
	tfp_json_end_object(j);
	tfp_buf_putc(&w->piece, '\n');
	flush(w, 0);
	tfp_free(w->args.list);
	tfp_buf_release(&w->piece);
	tfp_buf_release(&w->frames);
	return w->status;
}
