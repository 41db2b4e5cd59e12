#include "tools/trace_chrome.h"

#include "base/alloc.h"
#include "tools/data_table.h"
#include "tools/trace_source.h"
#include "tools/trace_visibility.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is gathered before it goes to the sink. */
#define PIECE       ((size_t)64 << 10)
#define PIECE_MAX   ((size_t)64 << 20) /* one event with the longest of arguments */
#define FRAMES_MAX  ((size_t)256 << 20)
#define PIDS_A_HOST 1000u

/* XProf cuts longer names, and keeps names up to the other length as they are. */
#define LONG_NAME_MAX   10000u
#define SHORT_NAME_MAX  16u
#define SAFE_INTEGER    (INT64_C(1) << 53)
#define STREAMING_LEAST 500000u /* smaller traces are sent whole */

struct args {
	struct tfp_trace_arg *list;
	size_t count, room;
	bool failed;
};

struct writer {
	const struct tfp_session *session;
	const struct tfp_chrome_options *options;
	const struct tfp_trace_selection *selection;
	const struct tfp_sink *sink;
	struct tfp_buf piece;
	struct args args;
	enum tfp_status status;
	struct tfp_error *err;
	bool any; /* an element of traceEvents was written */
	uint64_t event_count, counter_count;
	/* Of all hosts. */
	bool has_bounds, filtered, is_tpu;
	int64_t begin_ps, end_ps;
	/* Frames of stacks, which hold long names: XProf's way of writing each once. */
	struct tfp_buf frames;
	uint64_t frame_count;

	/* Of the host that is written. */
	struct tfp_trace_source host;
	uint32_t first_pid;
	int64_t offset_ps;
	struct tfp_trace_range *ranges; /* by track: what is in the window, and a little more */
	uint64_t slot_ps;               /* events closer than that are left out; 0: none */
	uint32_t **frame_of[2]; /* [derived][plane][event metadata]: number of a frame, or 0 */
	bool *taken;            /* by track: whether the filter takes its row */
};

/* ---- pieces ---- */

static void flush(struct writer *w, size_t least)
{
	if (w->status != TFP_OK || w->piece.size < least)
		return;
	if (tfp_buf_failed(&w->piece) || w->args.failed)
		w->status = tfp_fail(w->err, TFP_NO_MEMORY, "no memory for the trace");
	else if (w->piece.size)
		w->status = w->sink->write(w->sink->context, w->piece.data, w->piece.size, w->err);
	tfp_buf_clear(&w->piece);
}

static void put(struct writer *w, const char *text)
{
	tfp_buf_puts(&w->piece, text);
}

static void put_string(struct tfp_buf *b, struct tfp_str s)
{
	tfp_json_text(b, s.data, s.size);
}

/* A key. Parsers that are written in C take no zero byte in one, though JSON allows it;
 * a name that has one ends there for them. */
static void put_key(struct tfp_buf *b, struct tfp_str s)
{
	tfp_json_text(b, s.data, strnlen(s.data, s.size));
}

/* Picoseconds as exact microseconds. */
static void put_us(struct tfp_buf *b, int64_t ps)
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
	tfp_buf_add(b, text + at, sizeof(text) - at);
}

static void begin_element(struct writer *w)
{
	flush(w, PIECE);
	if (w->options->dialect == TFP_CHROME_PLAIN)
		return;
	put(w, w->any ? ",\n" : "\n");
	w->any = true;
}

static void end_element(struct writer *w)
{
	put(w, w->options->dialect == TFP_CHROME_PLAIN ? "},\n" : "}");
}

/* ---- names of processes and rows ---- */

static uint32_t pid_of(const struct writer *w, const struct tfp_track *track)
{
	return w->first_pid + w->host.tracks->processes[track->process].pid;
}

/* As it is shown: with the host in front, where there can be several. */
static void process_name(const struct writer *w, struct tfp_str name, struct tfp_buf *out)
{
	tfp_buf_init(out, PIECE_MAX);
	if (w->options->dialect != TFP_CHROME_PLAIN)
		tfp_buf_printf(out, "%s ", w->host.name);
	tfp_buf_add(out, name.data, name.size);
}

static struct tfp_str row_name(const struct tfp_track *track)
{
	return track->kind == TFP_TRACK_COUNTER ? track->line->name : track->name;
}

static void put_meta_name(struct writer *w, const char *kind, uint32_t pid, const uint32_t *tid,
			  struct tfp_str name, const uint32_t *threads)
{
	begin_element(w);
	put(w, "{\"args\":{\"name\":");
	put_string(&w->piece, name);
	tfp_buf_printf(&w->piece, "},\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRIu32, kind, pid);
	if (tid)
		tfp_buf_printf(&w->piece, ",\"tid\":%" PRIu32, *tid);
	if (threads)
		tfp_buf_printf(&w->piece, ",\"thread_count\":%" PRIu32, *threads);
	end_element(w);
}

static void put_meta_index(struct writer *w, const char *kind, uint32_t pid, const uint32_t *tid,
			   uint32_t index)
{
	begin_element(w);
	tfp_buf_printf(&w->piece,
		       "{\"args\":{\"sort_index\":%" PRIu32 "},\"name\":\"%s\",\"ph\":\"M\","
		       "\"pid\":%" PRIu32,
		       index, kind, pid);
	if (tid)
		tfp_buf_printf(&w->piece, ",\"tid\":%" PRIu32, *tid);
	end_element(w);
}

/* XProf's first viewer knows no counters: a line of them is a row like others, which
 * its first counter stands for. */
static bool is_row(const struct writer *w, uint32_t t)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	if (track->kind != TFP_TRACK_COUNTER)
		return true;
	return w->options->dialect == TFP_CHROME_PLAIN && (t == 0 || track[-1].line != track->line);
}

static void put_process(struct writer *w, const struct tfp_process *process)
{
	const struct tfp_tracks *tracks = w->host.tracks;
	uint32_t pid = w->first_pid + process->pid, rows = 0;
	for (uint32_t t = 0; t < process->track_count; t++)
		rows += is_row(w, process->tracks[t]);
	struct tfp_buf name;
	process_name(w, process->name, &name);
	put_meta_name(w, "process_name", pid, NULL,
		      (struct tfp_str){tfp_buf_text(&name), name.size},
		      w->options->dialect == TFP_CHROME_STREAMING ? &rows : NULL);
	w->args.failed |= tfp_buf_failed(&name);
	tfp_buf_release(&name);
	put_meta_index(w, "process_sort_index", pid, NULL, pid);
	for (uint32_t t = 0; t < process->track_count; t++) {
		uint32_t at = process->tracks[t];
		const struct tfp_track *track = &tracks->tracks[at];
		if (!is_row(w, at) || !tfp_trace_selects_track(w->selection, w->host.index, at))
			continue;
		uint32_t row = tfp_trace_row(&w->host, track);
		put_meta_name(w, "thread_name", pid, &row, row_name(track), NULL);
		/* Ours in the order in which tracks are shown; theirs by number. */
		put_meta_index(w, "thread_sort_index", pid, &row,
			       w->options->dialect == TFP_CHROME_EXPORT ? t : row);
	}
}

/* ---- arguments ---- */

static void keep_arg(void *context, const struct tfp_trace_arg *arg)
{
	struct args *args = context;
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

static void put_double(struct tfp_buf *b, const struct tfp_trace_arg *arg)
{
	double v = arg->double_value;
	if (isnan(v))
		tfp_buf_puts(b, "\"NaN\"");
	else if (isinf(v))
		tfp_buf_puts(b, v < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else if (ends_with(arg->name, "(util %)") || ends_with(arg->name, " (MB/sec)"))
		tfp_buf_printf(b, "%.2f", v);
	else
		tfp_json_number(b, v);
}

static void put_value(struct tfp_buf *b, const struct tfp_trace_arg *arg)
{
	switch (arg->kind) {
	case TFP_ARG_INT: {
		bool safe = arg->int_value <= SAFE_INTEGER && arg->int_value >= -SAFE_INTEGER;
		tfp_buf_printf(b, safe ? "%" PRId64 : "\"%" PRId64 "\"", arg->int_value);
		break;
	}
	case TFP_ARG_UINT:
		tfp_buf_printf(b,
			       arg->uint_value <= (uint64_t)SAFE_INTEGER ? "%" PRIu64
									 : "\"%" PRIu64 "\"",
			       arg->uint_value);
		break;
	case TFP_ARG_DOUBLE:
		put_double(b, arg);
		break;
	case TFP_ARG_TEXT:
		put_string(b, arg->text);
		break;
	}
}

static void put_text_value(struct tfp_buf *b, const struct tfp_trace_arg *arg)
{
	switch (arg->kind) {
	case TFP_ARG_INT:
		tfp_buf_printf(b, "\"%" PRId64 "\"", arg->int_value);
		break;
	case TFP_ARG_UINT:
		tfp_buf_printf(b, "\"%" PRIu64 "\"", arg->uint_value);
		break;
	case TFP_ARG_DOUBLE:
		tfp_buf_printf(b, "\"%g\"", arg->double_value);
		break;
	case TFP_ARG_TEXT:
		put_string(b, arg->text);
		break;
	}
}

static void add_long_name(struct writer *w, const struct tfp_trace_event *event, char *cut)
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
static uint32_t frame_of(struct writer *w, const struct tfp_track *track, size_t i,
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
		tfp_buf_printf(&w->frames, "%s\"%" PRIu32 "\":{\"name\":", *frame > 1 ? "," : "",
			       *frame);
		if (long_name.size > LONG_NAME_MAX)
			long_name.size = LONG_NAME_MAX;
		put_string(&w->frames, long_name);
		tfp_buf_putc(&w->frames, '}');
	}
	return *frame;
}

static uint64_t serial_of(uint32_t track, size_t event)
{
	return (uint64_t)track << 32 | event;
}

/* What is needed to ask for the arguments. */
static void put_uid(struct writer *w, const struct tfp_track *track, size_t i,
		    const struct tfp_trace_event *event)
{
	uint32_t t = (uint32_t)(track - w->host.tracks->tracks);
	put(w, ",\"args\":{");
	if (event->group != TFP_NO_GROUP)
		tfp_buf_printf(&w->piece, "\"group_id\":%" PRId32 ",", event->group);
	tfp_buf_printf(&w->piece, "\"uid\":%" PRIu64 "}", serial_of(t, i));
}

static void put_args(struct writer *w, const struct tfp_track *track, size_t i,
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
	for (size_t a = 0; a < w->args.count; a++) {
		put(w, a ? "," : ",\"args\":{");
		put_key(&w->piece, w->args.list[a].name);
		tfp_buf_putc(&w->piece, ':');
		if (w->options->dialect == TFP_CHROME_PLAIN)
			put_text_value(&w->piece, &w->args.list[a]);
		else
			put_value(&w->piece, &w->args.list[a]);
	}
	if (w->args.count)
		put(w, "}");
	if (frame)
		tfp_buf_printf(&w->piece, ",\"sf\":%" PRIu32, frame);
}

/* ---- events ---- */

static void put_head(struct writer *w, const struct tfp_track *track,
		     const struct tfp_trace_event *event, bool with_row)
{
	tfp_buf_printf(&w->piece, "{\"pid\":%" PRIu32, pid_of(w, track));
	if (with_row)
		tfp_buf_printf(&w->piece, ",\"tid\":%" PRIu32, tfp_trace_row(&w->host, track));
	put(w, ",\"name\":");
	put_string(&w->piece, event->name);
}

static void put_category(struct writer *w, const struct tfp_trace_event *event, bool always)
{
	const char *category = tfp_flow_category_name(event->category);
	if (category[0] || always)
		tfp_buf_printf(&w->piece, ",\"cat\":\"%s\"", category);
}

/* One end of an event that lies on no row: what begins and ends is told apart by an id. */
static void put_async(struct writer *w, const struct tfp_track *track, size_t i,
		      const struct tfp_trace_event *event, char phase, int64_t at_ps,
		      bool with_args)
{
	begin_element(w);
	put_head(w, track, event, false);
	put(w, ",\"ts\":");
	put_us(&w->piece, at_ps);
	tfp_buf_printf(&w->piece, ",\"id\":%" PRIu64, event->flow_id);
	if (w->options->dialect == TFP_CHROME_EXPORT && event->category < 2)
		put(w, ",\"cat\":\"async\""); /* it may not be empty */
	else
		put_category(w, event, true);
	tfp_buf_printf(&w->piece, ",\"ph\":\"%c\"", phase);
	if (with_args)
		put_args(w, track, i, event);
	end_element(w);
	w->event_count++;
}

static void put_complete(struct writer *w, const struct tfp_track *track, uint32_t t, size_t i,
			 const struct tfp_trace_event *event)
{
	const enum tfp_chrome_dialect dialect = w->options->dialect;
	int64_t duration_ps = event->duration_ps;
	if (dialect == TFP_CHROME_STREAMING && duration_ps == 0)
		duration_ps = 1; /* theirs: what has no length cannot be clicked */
	begin_element(w);
	put_head(w, track, event, true);
	put(w, ",\"ts\":");
	put_us(&w->piece, event->start_ps);
	if (dialect == TFP_CHROME_PLAIN && duration_ps == 0) {
		put(w, ",\"ph\":\"i\",\"s\":\"t\"");
	} else {
		put(w, ",\"dur\":");
		put_us(&w->piece, duration_ps);
		if (event->has_flow && dialect != TFP_CHROME_PLAIN) {
			tfp_buf_printf(&w->piece, ",\"bind_id\":%" PRIu64, event->flow_id);
			put_category(w, event, false);
			put(w, event->direction & TFP_FLOW_IN ? ",\"flow_in\":true" : "");
			put(w, event->direction & TFP_FLOW_OUT ? ",\"flow_out\":true" : "");
		}
		put(w, ",\"ph\":\"X\"");
	}
	put_args(w, track, i, event);
	if (dialect == TFP_CHROME_STREAMING)
		tfp_buf_printf(&w->piece, ",\"z\":%" PRIu64, serial_of(t, i));
	end_element(w);
	w->event_count++;
}

/* Saturates; offsets are not negative, and no moment is: only lines that begin before their
 * profile have any. */
static int64_t on_common_clock(const struct writer *w, int64_t ps)
{
	if (__builtin_add_overflow(ps, w->offset_ps, &ps))
		return INT64_MAX;
	return ps > 0 ? ps : 0;
}

/* Events that are flagged as asynchronous and have an id lie on no row. A flow that the
 * peers would not have made of a grouped file does not count. */
static bool is_async(const struct writer *w, const struct tfp_trace_event *event)
{
	return event->is_async && event->has_flow && w->options->dialect != TFP_CHROME_PLAIN &&
	       (event->flow_in_file || !w->host.groups->from_file);
}

static void put_event(struct writer *w, uint32_t t, size_t i, struct tfp_trace_event *event)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	int64_t end_ps;
	event->start_ps = on_common_clock(w, event->start_ps);
	if (!is_async(w, event)) {
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

/* Steps of copies on a TPU are shown when they are asked for. */
static bool is_hidden_step(const struct writer *w, const struct tfp_track *track,
			   const struct tfp_trace_event *event)
{
	return w->options->dialect == TFP_CHROME_STREAMING && w->host.is_tpu &&
	       !w->options->full_dma && event->has_flow && event->direction == TFP_FLOW_BOTH &&
	       w->host.tracks->processes[track->process].kind == TFP_PROCESS_DEVICE;
}

static bool in_window(const struct writer *w, const struct tfp_line *line, size_t i)
{
	return tfp_trace_selects_time(w->selection, on_common_clock(w, tfp_event_start_ps(line, i)),
				      tfp_event_duration_ps(line, i));
}

static bool has_prefix(const struct writer *w, struct tfp_str name)
{
	return !w->options->prefix || tfp_str_starts(name, w->options->prefix);
}

static bool is_taken(const struct writer *w, const struct tfp_trace_event *event)
{
	return tfp_trace_filter_takes(w->options->filter, event->group, event->name,
				      event->duration_ps);
}

static void put_track(struct writer *w, uint32_t t)
{
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	const struct tfp_line *line = track->line;
	const bool plain = w->options->dialect == TFP_CHROME_PLAIN;
	/* As with the peers: the row is there, what is in it overlaps too much. */
	if (plain && tfp_str_equal(track->name, "Async XLA Ops"))
		return;
	for (size_t i = w->ranges[t].from; i < w->ranges[t].to && w->status == TFP_OK; i++) {
		struct tfp_trace_event event;
		if (in_window(w, line, i) && tfp_trace_event_read(&w->host, track, i, &event) &&
		    has_prefix(w, event.name) && is_taken(w, &event) &&
		    !is_hidden_step(w, track, &event))
			put_event(w, t, i, &event);
	}
}

/* ---- counters ---- */

/* A counter's values: what numbers it has. */
static void put_counter_args(struct writer *w, const struct tfp_track *track, size_t i,
			     const struct tfp_trace_event *event)
{
	w->args.count = 0;
	tfp_trace_each_arg(&w->host, track, i, event, keep_arg, &w->args);
	for (size_t a = 0; a < w->args.count;) {
		const struct tfp_trace_arg *arg = &w->args.list[a];
		if (arg->kind == TFP_ARG_TEXT ||
		    (arg->kind == TFP_ARG_DOUBLE && !isfinite(arg->double_value)))
			w->args.list[a] = w->args.list[--w->args.count];
		else
			a++;
	}
}

static void put_number(struct tfp_buf *b, const struct tfp_trace_arg *arg)
{
	if (arg->kind == TFP_ARG_INT)
		tfp_buf_printf(b, "%" PRId64, arg->int_value);
	else if (arg->kind == TFP_ARG_UINT)
		tfp_buf_printf(b, "%" PRIu64, arg->uint_value);
	else
		tfp_json_number(b, arg->double_value);
}

static void put_sample(struct writer *w, const struct tfp_track *track,
		       const struct tfp_trace_event *event)
{
	begin_element(w);
	put_head(w, track, event, false);
	put(w, ",\"ph\":\"C\",\"ts\":");
	put_us(&w->piece, event->start_ps);
	put(w, ",\"args\":{");
	for (size_t a = 0; a < w->args.count; a++) {
		put(w, a ? "," : "");
		put_key(&w->piece, w->args.list[a].name);
		tfp_buf_putc(&w->piece, ':');
		put_number(&w->piece, &w->args.list[a]);
	}
	put(w, "}");
	end_element(w);
}

/* XProf's own: all samples of a counter in one object. */
static void put_entry(struct writer *w, const struct tfp_track *track,
		      const struct tfp_trace_event *event, bool *open)
{
	if (!*open) {
		begin_element(w);
		put_head(w, track, event, false);
		put(w, ",\"ph\":\"C\",\"event_stats\":");
		put_string(&w->piece, w->args.list[0].name);
		put(w, ",\"entries\":[");
	}
	flush(w, PIECE);
	put(w, *open ? ",[" : "[");
	put_us(&w->piece, event->start_ps);
	for (size_t a = 0; a < w->args.count; a++) {
		tfp_buf_putc(&w->piece, ',');
		put_number(&w->piece, &w->args.list[a]);
	}
	put(w, "]");
	*open = true;
}

static void put_counter(struct writer *w, uint32_t t, const uint32_t *events, size_t count)
{
	const uint64_t slot_ps = w->slot_ps;
	const struct tfp_track *track = &w->host.tracks->tracks[t];
	bool open = false, shown = false;
	int64_t last_ps = 0;
	for (size_t k = 0; k < count && w->status == TFP_OK; k++) {
		struct tfp_trace_event event;
		size_t i = events[k];
		if (!in_window(w, track->line, i) ||
		    !tfp_trace_event_read(&w->host, track, i, &event) ||
		    !has_prefix(w, event.name) || !is_taken(w, &event))
			continue;
		if (shown && (uint64_t)event.start_ps - (uint64_t)last_ps < slot_ps)
			continue;
		put_counter_args(w, track, i, &event);
		if (w->args.count == 0)
			continue;
		shown = true;
		last_ps = event.start_ps;
		event.start_ps = on_common_clock(w, event.start_ps);
		w->event_count++;
		w->counter_count++;
		if (w->options->dialect == TFP_CHROME_STREAMING)
			put_entry(w, track, &event, &open);
		else
			put_sample(w, track, &event);
	}
	if (open) {
		put(w, "]");
		end_element(w);
	}
}

static bool is_wanted(const struct writer *w, uint32_t track)
{
	return w->taken[track] && tfp_trace_selects_track(w->selection, w->host.index, track);
}

static void see_counter(void *context, uint32_t track, const uint32_t *events, size_t count)
{
	struct writer *w = context;
	if (is_wanted(w, track))
		put_counter(w, track, events, count);
}

/* ---- a host ---- */

static void put_all(struct writer *w)
{
	const struct tfp_tracks *tracks = w->host.tracks;
	for (uint32_t t = 0; t < tracks->track_count && w->status == TFP_OK;) {
		if (tracks->tracks[t].kind == TFP_TRACK_COUNTER &&
		    w->options->dialect != TFP_CHROME_PLAIN) {
			if (!tfp_trace_each_counter(tracks, &t, see_counter, w)) {
				w->args.failed = true;
				return;
			}
			continue;
		}
		if (w->slot_ps == 0 && is_row(w, t) && is_wanted(w, t))
			put_track(w, t);
		t++;
	}
}

/* Events in the order of time, over all rows, as far as they can be told apart. */
static void put_visible(struct writer *w)
{
	struct tfp_visibility *v;
	uint32_t t;
	size_t i;
	w->filtered = true;
	w->status = tfp_visibility_new(&v, w->host.tracks, w->ranges, w->slot_ps, w->err);
	while (w->status == TFP_OK && tfp_visibility_next(v, &t, &i)) {
		const struct tfp_track *track = &w->host.tracks->tracks[t];
		struct tfp_trace_event event;
		if (!is_wanted(w, t) || !in_window(w, track->line, i) ||
		    !tfp_trace_event_read(&w->host, track, i, &event) || !is_taken(w, &event) ||
		    is_hidden_step(w, track, &event))
			continue;
		if (tfp_visibility_shows(v, t, &event, is_async(w, &event)))
			put_event(w, t, i, &event);
	}
	if (w->status == TFP_OK && tfp_visibility_failed(v))
		w->status = tfp_fail(w->err, TFP_NO_MEMORY, "no memory for the trace");
	tfp_visibility_free(v);
}

/* How long a slot of the drawing is; 0 when all is shown. */
static uint64_t slot_of(const struct writer *w)
{
	const struct tfp_tracks *tracks = w->host.tracks;
	int64_t from = tracks->begin_ps, to = tracks->end_ps;
	if (w->options->dialect != TFP_CHROME_STREAMING || w->options->resolution == 0 ||
	    w->options->prefix || tracks->event_count < STREAMING_LEAST)
		return 0;
	if (w->selection->has_window && w->selection->from_ps > from)
		from = w->selection->from_ps;
	if (w->selection->has_window && w->selection->to_ps < to)
		to = w->selection->to_ps;
	if (to <= from)
		return 0;
	return (uint64_t)llround(((double)to - (double)from) / (double)w->options->resolution);
}

/* Clients give times as doubles of milliseconds: late in a long trace that is not exact. */
static bool is_as_asked(int64_t ps, int64_t asked_ps)
{
	uint64_t apart = ps > asked_ps ? (uint64_t)ps - (uint64_t)asked_ps
				       : (uint64_t)asked_ps - (uint64_t)ps;
	return apart <= (uint64_t)(ps < 0 ? -(uint64_t)ps : (uint64_t)ps) >> 50;
}

static bool put_only(struct writer *w)
{
	const struct tfp_chrome_event_key *only = w->options->only;
	const struct tfp_tracks *tracks = w->host.tracks;
	uint64_t t = only->serial >> 32, i = only->serial & UINT32_MAX;
	struct tfp_trace_event event;
	if (t >= tracks->track_count || i >= tracks->tracks[t].line->event_count ||
	    !tfp_trace_event_read(&w->host, &tracks->tracks[t], i, &event))
		return false;
	int64_t duration_ps = event.duration_ps ? event.duration_ps : 1;
	if (!is_as_asked(event.start_ps, only->start_ps) ||
	    !tfp_str_equal(event.name, only->name) ||
	    !(is_as_asked(duration_ps, only->duration_ps) ||
	      event.duration_ps == only->duration_ps))
		return false;
	put_event(w, (uint32_t)t, i, &event);
	return true;
}

static void see_bounds(struct writer *w)
{
	const struct tfp_tracks *tracks = w->host.tracks;
	if (tracks->event_count == 0)
		return;
	if (!w->has_bounds || tracks->begin_ps < w->begin_ps)
		w->begin_ps = tracks->begin_ps;
	if (!w->has_bounds || tracks->end_ps > w->end_ps)
		w->end_ps = tracks->end_ps;
	w->has_bounds = true;
}

static void release_host(struct writer *w)
{
	for (int d = 0; d < 2; d++) {
		const struct tfp_capture *capture = d ? w->host.derived : w->host.file;
		for (size_t p = 0; w->frame_of[d] && p < capture->plane_count; p++)
			tfp_free(w->frame_of[d][p]);
		tfp_free(w->frame_of[d]);
		w->frame_of[d] = NULL;
	}
	tfp_free(w->ranges);
	tfp_free(w->taken);
	w->ranges = NULL;
	w->taken = NULL;
	tfp_trace_source_release(&w->host);
}

static void filter_rows(struct writer *w)
{
	const struct tfp_tracks *tracks = w->host.tracks;
	w->taken = tfp_calloc(tracks->track_count, sizeof(*w->taken));
	w->args.failed |= !w->taken;
	for (uint32_t t = 0; w->taken && t < tracks->track_count; t++) {
		const struct tfp_track *track = &tracks->tracks[t];
		const struct tfp_str row = row_name(track);
		bool on_row = track->kind != TFP_TRACK_COUNTER;
		struct tfp_buf process;
		if (!w->options->filter) {
			w->taken[t] = true;
			continue;
		}
		process_name(w, tracks->processes[track->process].name, &process);
		w->taken[t] = tfp_trace_filter_takes_row(
			w->options->filter, (struct tfp_str){tfp_buf_text(&process), process.size},
			on_row ? &row : NULL);
		w->args.failed |= tfp_buf_failed(&process);
		tfp_buf_release(&process);
	}
}

static bool open_host(struct writer *w, size_t i)
{
	w->status = tfp_trace_source_open(&w->host, w->session, i, w->err);
	w->host.leaves_out_unset = w->options->dialect == TFP_CHROME_EXPORT;
	if (w->status == TFP_OK)
		w->status = tfp_trace_ranges(&w->host, w->session->pool, w->selection, w->offset_ps,
					     &w->ranges, w->err);
	if (w->status != TFP_OK)
		return false;
	for (int d = 0; d < 2; d++) {
		const struct tfp_capture *capture = d ? w->host.derived : w->host.file;
		w->frame_of[d] = tfp_calloc(capture->plane_count, sizeof(*w->frame_of[d]));
		w->args.failed |= !w->frame_of[d];
	}
	filter_rows(w);
	/* The peers' first viewer takes one host and its numbers as they are. */
	w->first_pid = ((uint32_t)i + (w->options->dialect != TFP_CHROME_PLAIN)) * PIDS_A_HOST;
	if (w->args.failed)
		w->status = tfp_fail(w->err, TFP_NO_MEMORY, "no memory for the trace");
	return w->status == TFP_OK;
}

static void put_host(struct writer *w, size_t i, bool *found)
{
	if (open_host(w, i)) {
		const struct tfp_tracks *tracks = w->host.tracks;
		see_bounds(w);
		w->is_tpu |= w->host.is_tpu;
		for (uint32_t p = 0; p < tracks->process_count && w->status == TFP_OK; p++)
			put_process(w, &tracks->processes[p]);
		if (w->options->only) {
			*found = *found || put_only(w);
		} else {
			w->slot_ps = slot_of(w);
			put_all(w);
			if (w->slot_ps && w->status == TFP_OK)
				put_visible(w);
		}
	}
	release_host(w);
}

/* ---- the document ---- */

static const char head[] = "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},";

static void put_streaming_tail(struct writer *w)
{
	if (w->is_tpu)
		tfp_buf_printf(&w->piece, ",\"details\":[{\"name\":\"full_dma\",\"value\":%s}]",
			       w->options->full_dma ? "true" : "false");
	tfp_buf_printf(&w->piece,
		       ",\"codeLink\":\"\",\"useNewBackend\":false,\"returnedEventsSize\":%" PRIu64
		       ",\"filteredByVisibility\":%s,\"fullTimespan\":[%.6g,%.6g],"
		       "\"stackFrames\":{",
		       w->event_count, w->filtered ? "true" : "false", (double)w->begin_ps / 1e9,
		       (double)w->end_ps / 1e9);
	flush(w, 0);
	w->args.failed |= tfp_buf_failed(&w->frames);
	if (w->status == TFP_OK && w->frames.size && !w->args.failed)
		w->status =
			w->sink->write(w->sink->context, w->frames.data, w->frames.size, w->err);
	tfp_buf_printf(&w->piece,
		       "},\"showCounterMessage\":\"\",\"totalCounterEvents\":%" PRIu64 "}\n",
		       w->counter_count);
}

enum tfp_status tfp_chrome_write(const struct tfp_session *session,
				 const struct tfp_chrome_options *options,
				 const struct tfp_trace_selection *selection,
				 const struct tfp_sink *sink, struct tfp_error *err)
{
	struct writer w = {.session = session,
			   .options = options,
			   .selection = selection,
			   .sink = sink,
			   .err = err};
	struct tfp_trace_alignment alignment = {0};
	bool found = !options->only;
	tfp_buf_init(&w.piece, PIECE_MAX);
	tfp_buf_init(&w.frames, FRAMES_MAX);
	if (options->dialect == TFP_CHROME_EXPORT)
		w.status = tfp_trace_align(&alignment, session, err);
	put(&w, head);
	put(&w,
	    options->dialect == TFP_CHROME_PLAIN ? "\n\"traceEvents\":[\n" : "\"traceEvents\":[");
	for (size_t i = 0; i < session->host_count && w.status == TFP_OK; i++) {
		const struct tfp_trace_selection own =
			tfp_trace_selection_of(selection, &alignment, i);
		w.selection = &own;
		w.offset_ps = alignment.offset_ps ? alignment.offset_ps[i] : 0;
		put_host(&w, i, &found);
	}
	if (w.status == TFP_OK && !found)
		w.status = tfp_fail(err, TFP_NOT_FOUND, "Event not found");
	if (w.status == TFP_OK)
		w.status = tfp_trace_filter_check(options->filter, err);
	if (options->dialect == TFP_CHROME_PLAIN) {
		put(&w, "{}]}\n");
	} else {
		put(&w, "\n]");
		if (options->dialect == TFP_CHROME_STREAMING)
			put_streaming_tail(&w);
		else
			put(&w, "}\n");
	}
	flush(&w, 0);
	tfp_trace_alignment_release(&alignment);
	tfp_free(w.args.list);
	tfp_buf_release(&w.piece);
	tfp_buf_release(&w.frames);
	return w.status;
}
