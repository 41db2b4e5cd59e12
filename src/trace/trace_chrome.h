/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces as JSON in Chrome's Trace Event Format, in the dialects of its readers. A trace is
 * written piece by piece and never held as a whole.
 */
#ifndef TFP_TRACE_TRACE_CHROME_H
#define TFP_TRACE_TRACE_CHROME_H

#include "base/sink.h"
#include "session/session.h"
#include "trace/trace_filter.h"
#include "trace/trace_select.h"

#include <stdbool.h>
#include <stdint.h>

enum tfp_chrome_dialect {
	TFP_CHROME_EXPORT, /* for Perfetto and chrome://tracing: on one clock, classic counters */
	TFP_CHROME_PLAIN,  /* XProf's trace_viewer (trace_events.md 3): arguments are texts */
	TFP_CHROME_STREAMING, /* XProf's trace_viewer@ (trace_events.md 5) */
};

struct tfp_chrome_options {
	enum tfp_chrome_dialect dialect;
	bool full_dma; /* STREAMING: steps of copies on TPUs too */
	/* STREAMING: events that cannot be told apart when the window is drawn with
	 * this many slots are left out of traces of 500,000 events and more; 0: none. */
	uint64_t resolution;
	/* STREAMING: only the event with this number (`z`), name and times, if any. */
	const struct tfp_chrome_event_key *only;
	/* STREAMING: only events whose name begins so, at any time; or NULL. */
	const char *prefix;
	/* STREAMING: events have all of their arguments, as with `only`. Else they have the
	 * number by which XProf's page asks for them (`uid`). */
	bool all_args;
	const struct tfp_trace_filter *filter; /* only events that it takes; NULL: all */
};

struct tfp_chrome_event_key {
	const char *name;
	int64_t start_ps, duration_ps;
	uint64_t serial;
};

/* TFP_NOT_FOUND when `only` is not there. */
enum tfp_status tfp_chrome_write(const struct tfp_session *session,
				 const struct tfp_chrome_options *options,
				 const struct tfp_trace_selection *selection,
				 const struct tfp_sink *sink, struct tfp_error *err) TFP_CHECK;

#endif
