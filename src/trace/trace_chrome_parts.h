/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between trace_chrome.c, which chooses what is written, and trace_chrome_writer.c, which knows how
 * each dialect has it: the document, rows, events and counters. Nobody else includes this.
 *
 *     tfp_chrome_begin(&w, options, sink, &err);
 *     for each host:
 *         open w.host; tfp_chrome_begin_host(&w, place, offset_ps);
 *         tfp_chrome_put_process, _put_row, _put_event, _put_sample ...
 *         tfp_chrome_end_host(&w);
 *     status = tfp_chrome_end(&w);
 *
 * What goes wrong is kept in status, and after that nothing is sent.
 */
#ifndef TFP_TRACE_TRACE_CHROME_PARTS_H
#define TFP_TRACE_TRACE_CHROME_PARTS_H

#include "base/json_writer.h"
#include "trace/trace_chrome.h"
#include "trace/trace_source.h"

/* The arguments of the event at hand. */
struct tfp_chrome_args {
	struct tfp_trace_arg *list;
	size_t count, room;
	bool failed; /* something had no memory */
};

struct tfp_chrome_writer {
	const struct tfp_chrome_options *options;
	const struct tfp_sink *sink;
	struct tfp_buf piece;
	struct tfp_json json; /* into piece */
	struct tfp_chrome_args args;
	enum tfp_status status;
	struct tfp_error *err;
	uint64_t event_count, counter_count;
	/* Of all hosts. */
	bool has_bounds, is_tpu;
	bool filtered; /* set by the caller: events were left out because they are too near */
	int64_t begin_ps, end_ps;
	/* Frames of stacks, which hold long names: XProf's way of writing each once. */
	struct tfp_buf frames;
	struct tfp_json frames_json; /* into frames */
	uint64_t frame_count;

	/* Of the host that is written. */
	struct tfp_trace_source host; /* the caller opens and releases it */
	uint32_t first_pid;
	int64_t offset_ps;      /* from its clock to the common one */
	uint32_t **frame_of[2]; /* [derived][plane][event metadata]: number of a frame, or 0 */
};

/* Sets up w and begins the document. All that is passed must outlive w. */
void tfp_chrome_begin(struct tfp_chrome_writer *w, const struct tfp_chrome_options *options,
		      const struct tfp_sink *sink, struct tfp_error *err);
/* Ends the document, sends what is left, and lets go of all that w has. */
enum tfp_status tfp_chrome_end(struct tfp_chrome_writer *w) TFP_CHECK;

/* When w->host is open, at this place among the hosts of the session. */
void tfp_chrome_begin_host(struct tfp_chrome_writer *w, size_t place, int64_t offset_ps);
/* Before w->host is released; also when it could not be opened. */
void tfp_chrome_end_host(struct tfp_chrome_writer *w);

/* As it is shown, with the host in front where there can be several. out is set up, and released
 * by the caller. */
void tfp_chrome_process_name(const struct tfp_chrome_writer *w, struct tfp_str name,
			     struct tfp_buf *out);
struct tfp_str tfp_chrome_row_name(const struct tfp_track *track);
/* Whether counters of memory are written: the peers' documents have none. */
bool tfp_chrome_has_memory(const struct tfp_chrome_writer *w);
/* Whether a track of the host is a row. XProf's first viewer knows no counters: a line of them is
 * a row like others, which its first counter stands for. The other dialects have counters on no
 * row. */
bool tfp_chrome_is_row(const struct tfp_chrome_writer *w, uint32_t track);
/* Whether an event lies on no row: those that are flagged as asynchronous and have an id. A flow
 * that the peers would not have made of a grouped file does not count. */
bool tfp_chrome_is_async(const struct tfp_chrome_writer *w, const struct tfp_trace_event *event);
/* A moment of the host. Saturates; offsets are not negative, and no moment is: only lines that
 * begin before their profile have any. */
int64_t tfp_chrome_on_common_clock(const struct tfp_chrome_writer *w, int64_t ps);

/* Name and place of a process, and of the row that is at this place in it. */
void tfp_chrome_put_process(struct tfp_chrome_writer *w, const struct tfp_process *process);
void tfp_chrome_put_row(struct tfp_chrome_writer *w, const struct tfp_process *process,
			uint32_t place);
/* Event i of a track. Its start is moved to the common clock. */
void tfp_chrome_put_event(struct tfp_chrome_writer *w, uint32_t track, size_t i,
			  struct tfp_trace_event *event);

/* Reads a counter's values, which are what numbers an event has. false: there are none. */
bool tfp_chrome_read_sample(struct tfp_chrome_writer *w, uint32_t track, size_t i,
			    const struct tfp_trace_event *event);
/* Writes the values that were read last, and moves the event's start as above. *open is false
 * before the first sample of a counter. */
void tfp_chrome_put_sample(struct tfp_chrome_writer *w, uint32_t track,
			   struct tfp_trace_event *event, bool *open);
/* After the last one. */
void tfp_chrome_end_samples(struct tfp_chrome_writer *w, bool open);

#endif
