/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces in Perfetto's own format: a sequence of TracePackets with descriptors
 * of tracks and TrackEvents (perfetto.dev/docs/reference/synthetic-track-event;
 * field numbers: protos/perfetto/trace/trace_packet.proto and
 * trace/track_event/{track_descriptor,track_event,debug_annotation}.proto,
 * trace/interned_data/interned_data.proto).
 */
#ifndef TFP_TRACE_TRACE_PERFETTO_H
#define TFP_TRACE_TRACE_PERFETTO_H

#include "base/sink.h"
#include "session/session.h"
#include "trace/trace_select.h"

/* Times are nanoseconds: what lies below is cut off. Hosts are put on one clock where
 * their files allow it. */
enum tfp_status tfp_perfetto_write(const struct tfp_session *session,
				   const struct tfp_trace_selection *selection,
				   const struct tfp_sink *sink, struct tfp_error *err) TFP_CHECK;

#endif
