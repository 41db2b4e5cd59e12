/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's trace as a file for other programs: Chrome's JSON or Perfetto's
 * format; all of it, or some tracks and a stretch of time.
 *
 *     struct tfp_trace_export export;
 *     tfp_trace_export_init(&export, session, query, &err);   all that can be refused
 *     tfp_trace_export_write(&export, &sink, &err);           may take long
 *     tfp_trace_export_release(&export);
 */
#ifndef TFP_TRACE_TRACE_EXPORT_H
#define TFP_TRACE_TRACE_EXPORT_H

#include "base/sink.h"
#include "session/query.h"
#include "session/session.h"
#include "trace/trace_select.h"

enum tfp_trace_format { TFP_TRACE_CHROME, TFP_TRACE_PERFETTO };

struct tfp_trace_export {
	const struct tfp_session *session; /* borrowed */
	enum tfp_trace_format format;
	struct tfp_trace_selection selection;
};

/* query: format (chrome, the default, or perfetto), tracks, from_ps and to_ps (from the
 * trace's begin). Opens the captures. */
enum tfp_status tfp_trace_export_init(struct tfp_trace_export *export,
				      const struct tfp_session *session,
				      const struct tfp_query *query,
				      struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_trace_export_release(struct tfp_trace_export *export);

/* Writes JSON, or Perfetto's packets, not compressed. */
enum tfp_status tfp_trace_export_write(const struct tfp_trace_export *export,
				       const struct tfp_sink *sink,
				       struct tfp_error *err) TFP_CHECK;

#endif
