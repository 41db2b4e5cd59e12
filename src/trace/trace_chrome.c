/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_chrome.h"

#include "base/alloc.h"
#include "trace/trace_chrome_parts.h"
#include "trace/trace_visibility.h"

#include <math.h>

#define STREAMING_LEAST 500000u /* smaller traces are sent whole */

struct choice {
	struct tfp_chrome_writer w;
	const struct tfp_session *session;

	/* Of the host that is written. */
	const struct tfp_trace_selection *selection;
	struct tfp_trace_range *ranges; /* by track: what is in the window, and a little more */
	uint64_t slot_ps;               /* events closer than that are left out; 0: none */
	bool *taken;                    /* by track: whether the filter takes its row */
};

/* ---- which events ---- */

/* Steps of copies on a TPU are shown when they are asked for. */
static bool is_hidden_step(const struct choice *c, const struct tfp_track *track,
			   const struct tfp_trace_event *event)
{
	return c->w.options->dialect == TFP_CHROME_STREAMING && c->w.host.is_tpu &&
	       !c->w.options->full_dma && event->has_flow && event->direction == TFP_FLOW_BOTH &&
	       c->w.host.tracks->processes[track->process].kind == TFP_PROCESS_DEVICE;
}

static bool in_window(const struct choice *c, const struct tfp_line *line, size_t i)
{
	return tfp_trace_selects_time(
		c->selection, tfp_chrome_on_common_clock(&c->w, tfp_event_start_ps(line, i)),
		tfp_event_duration_ps(line, i));
}

static bool has_prefix(const struct choice *c, struct tfp_str name)
{
	return !c->w.options->prefix || tfp_str_starts(name, c->w.options->prefix);
}

static bool is_taken(const struct choice *c, const struct tfp_trace_event *event)
{
	return tfp_trace_filter_takes(c->w.options->filter, event->group, event->name,
				      event->duration_ps);
}

static bool is_wanted(const struct choice *c, uint32_t track)
{
	return c->taken[track] && tfp_trace_selects_track(c->selection, c->w.host.index, track);
}

static void put_track(struct choice *c, uint32_t t)
{
	const struct tfp_track *track = &c->w.host.tracks->tracks[t];
	const struct tfp_line *line = track->line;
	const bool plain = c->w.options->dialect == TFP_CHROME_PLAIN;
	/* As with the peers: the row is there, what is in it overlaps too much. */
	if (plain && tfp_str_equal(track->name, "Async XLA Ops"))
		return;
	for (size_t i = c->ranges[t].from; i < c->ranges[t].to && c->w.status == TFP_OK; i++) {
		struct tfp_trace_event event;
		if (in_window(c, line, i) && tfp_trace_event_read(&c->w.host, track, i, &event) &&
		    has_prefix(c, event.name) && is_taken(c, &event) &&
		    !is_hidden_step(c, track, &event))
			tfp_chrome_put_event(&c->w, t, i, &event);
	}
}

static void put_counter(struct choice *c, uint32_t t, const uint32_t *events, size_t count)
{
	const uint64_t slot_ps = c->slot_ps;
	const struct tfp_track *track = &c->w.host.tracks->tracks[t];
	bool open = false, shown = false;
	int64_t last_ps = 0;
	for (size_t k = 0; k < count && c->w.status == TFP_OK; k++) {
		struct tfp_trace_event event;
		size_t i = events[k];
		if (!in_window(c, track->line, i) ||
		    !tfp_trace_event_read(&c->w.host, track, i, &event) ||
		    !has_prefix(c, event.name) || !is_taken(c, &event))
			continue;
		if (shown && (uint64_t)event.start_ps - (uint64_t)last_ps < slot_ps)
			continue;
		if (!tfp_chrome_read_sample(&c->w, t, i, &event))
			continue;
		shown = true;
		last_ps = event.start_ps;
		tfp_chrome_put_sample(&c->w, t, &event, &open);
	}
	tfp_chrome_end_samples(&c->w, open);
}

static void see_counter(void *context, uint32_t track, const uint32_t *events, size_t count)
{
	struct choice *c = context;
	if (is_wanted(c, track))
		put_counter(c, track, events, count);
}

/* ---- a host ---- */

static void put_all(struct choice *c)
{
	const struct tfp_tracks *tracks = c->w.host.tracks;
	for (uint32_t t = 0; t < tracks->track_count && c->w.status == TFP_OK;) {
		if (tracks->tracks[t].kind == TFP_TRACK_COUNTER &&
		    c->w.options->dialect != TFP_CHROME_PLAIN) {
			if (!tfp_trace_each_counter(tracks, &t, see_counter, c)) {
				c->w.args.failed = true;
				return;
			}
			continue;
		}
		if (c->slot_ps == 0 && tfp_chrome_is_row(&c->w, t) && is_wanted(c, t))
			put_track(c, t);
		t++;
	}
}

/* Events in the order of time, over all rows, as far as they can be told apart. */
static void put_visible(struct choice *c)
{
	struct tfp_visibility *v;
	uint32_t t;
	size_t i;
	c->w.filtered = true;
	c->w.status = tfp_visibility_new(&v, c->w.host.tracks, c->ranges, c->slot_ps, c->w.err);
	while (c->w.status == TFP_OK && tfp_visibility_next(v, &t, &i)) {
		const struct tfp_track *track = &c->w.host.tracks->tracks[t];
		struct tfp_trace_event event;
		if (!is_wanted(c, t) || !in_window(c, track->line, i) ||
		    !tfp_trace_event_read(&c->w.host, track, i, &event) || !is_taken(c, &event) ||
		    is_hidden_step(c, track, &event))
			continue;
		if (tfp_visibility_shows(v, t, &event, tfp_chrome_is_async(&c->w, &event)))
			tfp_chrome_put_event(&c->w, t, i, &event);
	}
	if (c->w.status == TFP_OK && tfp_visibility_failed(v))
		c->w.status = tfp_fail(c->w.err, TFP_NO_MEMORY, "no memory for the trace");
	tfp_visibility_free(v);
}

/* How long a slot of the drawing is; 0 when all is shown. */
static uint64_t slot_of(const struct choice *c)
{
	const struct tfp_tracks *tracks = c->w.host.tracks;
	int64_t from = tracks->begin_ps, to = tracks->end_of_peers_ps;
	if (c->w.options->dialect != TFP_CHROME_STREAMING || c->w.options->resolution == 0 ||
	    c->w.options->prefix || tracks->event_count_of_peers < STREAMING_LEAST)
		return 0;
	if (c->selection->has_window && c->selection->from_ps > from)
		from = c->selection->from_ps;
	if (c->selection->has_window && c->selection->to_ps < to)
		to = c->selection->to_ps;
	if (to <= from)
		return 0;
	return (uint64_t)llround(((double)to - (double)from) / (double)c->w.options->resolution);
}

/* Clients give times as doubles of milliseconds: late in a long trace that is not exact. */
static bool is_as_asked(int64_t ps, int64_t asked_ps)
{
	uint64_t apart = ps > asked_ps ? (uint64_t)ps - (uint64_t)asked_ps
				       : (uint64_t)asked_ps - (uint64_t)ps;
	return apart <= (uint64_t)(ps < 0 ? -(uint64_t)ps : (uint64_t)ps) >> 50;
}

static bool put_only(struct choice *c)
{
	const struct tfp_chrome_event_key *only = c->w.options->only;
	const struct tfp_tracks *tracks = c->w.host.tracks;
	uint64_t t = only->serial >> 32, i = only->serial & UINT32_MAX;
	struct tfp_trace_event event;
	if (t >= tracks->track_count || i >= tracks->tracks[t].line->event_count ||
	    !tfp_trace_event_read(&c->w.host, &tracks->tracks[t], i, &event))
		return false;
	int64_t duration_ps = event.duration_ps ? event.duration_ps : 1;
	if (!is_as_asked(event.start_ps, only->start_ps) ||
	    !tfp_str_equal(event.name, only->name) ||
	    !(is_as_asked(duration_ps, only->duration_ps) ||
	      event.duration_ps == only->duration_ps))
		return false;
	tfp_chrome_put_event(&c->w, (uint32_t)t, i, &event);
	return true;
}

static void filter_rows(struct choice *c)
{
	const struct tfp_tracks *tracks = c->w.host.tracks;
	c->taken = tfp_calloc(tracks->track_count, sizeof(*c->taken));
	c->w.args.failed |= !c->taken;
	for (uint32_t t = 0; c->taken && t < tracks->track_count; t++) {
		const struct tfp_track *track = &tracks->tracks[t];
		const struct tfp_str row = tfp_chrome_row_name(track);
		bool on_row = track->kind != TFP_TRACK_COUNTER;
		struct tfp_buf process;
		if (track->is_memory && !tfp_chrome_has_memory(&c->w))
			continue;
		if (!c->w.options->filter) {
			c->taken[t] = true;
			continue;
		}
		tfp_chrome_process_name(&c->w, tracks->processes[track->process].name, &process);
		c->taken[t] = tfp_trace_filter_takes_row(
			c->w.options->filter,
			(struct tfp_str){tfp_buf_text(&process), process.size},
			on_row ? &row : NULL);
		c->w.args.failed |= tfp_buf_failed(&process);
		tfp_buf_release(&process);
	}
}

static bool open_host(struct choice *c, size_t i, int64_t offset_ps)
{
	c->w.status = tfp_trace_source_open(&c->w.host, c->session, i, c->w.err);
	c->w.host.leaves_out_unset = c->w.options->dialect == TFP_CHROME_EXPORT;
	if (c->w.status == TFP_OK)
		c->w.status = tfp_trace_ranges(&c->w.host, c->session->pool, c->selection,
					       offset_ps, &c->ranges, c->w.err);
	if (c->w.status != TFP_OK)
		return false;
	tfp_chrome_begin_host(&c->w, i, offset_ps);
	filter_rows(c);
	if (c->w.args.failed)
		c->w.status = tfp_fail(c->w.err, TFP_NO_MEMORY, "no memory for the trace");
	return c->w.status == TFP_OK;
}

static void release_host(struct choice *c)
{
	tfp_chrome_end_host(&c->w);
	tfp_free(c->ranges);
	tfp_free(c->taken);
	c->ranges = NULL;
	c->taken = NULL;
	tfp_trace_source_release(&c->w.host);
}

static void put_process(struct choice *c, const struct tfp_process *process)
{
	tfp_chrome_put_process(&c->w, process);
	for (uint32_t place = 0; place < process->track_count; place++) {
		uint32_t t = process->tracks[place];
		if (tfp_chrome_is_row(&c->w, t) &&
		    tfp_trace_selects_track(c->selection, c->w.host.index, t))
			tfp_chrome_put_row(&c->w, process, place);
	}
}

static void put_host(struct choice *c, size_t i, int64_t offset_ps, bool *found)
{
	if (open_host(c, i, offset_ps)) {
		const struct tfp_tracks *tracks = c->w.host.tracks;
		for (uint32_t p = 0; p < tracks->process_count && c->w.status == TFP_OK; p++)
			put_process(c, &tracks->processes[p]);
		if (c->w.options->only) {
			*found = *found || put_only(c);
		} else {
			c->slot_ps = slot_of(c);
			put_all(c);
			if (c->slot_ps && c->w.status == TFP_OK)
				put_visible(c);
		}
	}
	release_host(c);
}

/* ---- the whole ---- */

enum tfp_status tfp_chrome_write(const struct tfp_session *session,
				 const struct tfp_chrome_options *options,
				 const struct tfp_trace_selection *selection,
				 const struct tfp_sink *sink, struct tfp_error *err)
{
	struct choice c = {.session = session};
	struct tfp_trace_alignment alignment = {0};
	bool found = !options->only;
	tfp_chrome_begin(&c.w, options, sink, err);
	if (options->dialect == TFP_CHROME_EXPORT)
		c.w.status = tfp_trace_align(&alignment, session, err);
	for (size_t i = 0; i < session->host_count && c.w.status == TFP_OK; i++) {
		const struct tfp_trace_selection own =
			tfp_trace_selection_of(selection, &alignment, i);
		c.selection = &own;
		put_host(&c, i, alignment.offset_ps ? alignment.offset_ps[i] : 0, &found);
	}
	if (c.w.status == TFP_OK && !found)
		c.w.status = tfp_fail(err, TFP_NOT_FOUND, "Event not found");
	if (c.w.status == TFP_OK)
		c.w.status = tfp_trace_filter_check(options->filter, err);
	tfp_trace_alignment_release(&alignment);
	return tfp_chrome_end(&c.w);
}
