/*
 * What tools take from the captures of a session: the merged OpStats, or a visit
 * to each capture.
 */
#ifndef TFP_TOOLS_SUMMARY_H
#define TFP_TOOLS_SUMMARY_H

#include "analysis/op_stats.h"
#include "tools/session.h"

/* out is released by the caller (tfp_op_stats_release) in any case. Hosts are opened one
 * after the other, so that only the summaries are held together. Files that
 * cannot be read fail the request when they are all of the session, else they
 * are left out: /diagnostics tells. */
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
