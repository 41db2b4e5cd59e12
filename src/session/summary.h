/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tools take from the captures of a session: the summary of each host, the
 * merged OpStats, or a visit to each capture.
 */
#ifndef TFP_SESSION_SUMMARY_H
#define TFP_SESSION_SUMMARY_H

#include "analysis/summary/host_summary.h"
#include "session/session.h"

/* Calls take for each host of the session, in the order of hosts, with its place in the session
 * and its summary. The summary has parts (a set of enum tfp_summary_part) and lives during the
 * call.
 *
 * Summaries come from the result cache. Captures of which it has none are opened first, as many
 * at a time as there are threads and as the capture cache has room for; each is let go once its
 * summary is kept. Without a result cache captures are opened as their hosts are taken, as many
 * at a time as there are threads.
 *
 * The summary of a host that cannot be read is NULL, and err says why. Such hosts are left out
 * of an answer, and /diagnostics names them; a session of no other host is an error. */
enum tfp_status tfp_session_summaries(const struct tfp_session *session, unsigned parts,
				      enum tfp_status (*take)(void *context, size_t place,
							      const struct tfp_host_summary *host,
							      struct tfp_error *err),
				      void *context, struct tfp_error *err) TFP_CHECK;

/* The hosts' op_stats, merged. out is released by the caller (tfp_op_stats_release) in
 * any case. */
enum tfp_status tfp_session_summary(const struct tfp_session *session, struct tfp_op_stats *out,
				    struct tfp_error *err) TFP_CHECK;

/* Opens the captures of the session one after the other and calls visit with each, and
 * the name of its host. Stops at the first error, which a capture that was cut
 * meanwhile is as well. */
enum tfp_status tfp_session_each(const struct tfp_session *session,
				 enum tfp_status (*visit)(void *context,
							  struct tfp_capture *capture,
							  const char *host, struct tfp_pool *pool,
							  struct tfp_error *err),
				 void *context, struct tfp_error *err) TFP_CHECK;

#endif
