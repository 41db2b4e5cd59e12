/* The OpStats of a session: of its one host, or merged over its hosts. */
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

#endif
