/*
 * What tools take from the captures of a session: the summary of each host, the
 * merged OpStats, or a visit to each capture.
 */
#ifndef TFP_TOOLS_SUMMARY_H
#define TFP_TOOLS_SUMMARY_H

#include "analysis/host_summary.h"
#include "tools/session.h"

/* Calls take for each host of the session whose summary can be had, in the order of hosts, with
 * its place in the session and its summary, which has parts (a set of enum
 * tfp_summary_part) and lives during the call. Summaries are read from the result cache where
 * it has them. Captures of which it has none are opened first, one after the other, and let
 * go before the next once their summaries are kept. Of a host that cannot be read the summary
 * is NULL, and err says why. Files that cannot be read fail
 * the request when they are all of the session, else they are left out:
 * /diagnostics tells. */
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
