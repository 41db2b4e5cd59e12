/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: what reading captures brought up, and what profilers wrote into them about
 * themselves. /diagnostics and the table of `tfprof info` list them.
 */
#ifndef TFP_TOOLS_FINDINGS_H
#define TFP_TOOLS_FINDINGS_H

#include "analysis/summary/host_summary.h"
#include "base/buf.h"
#include "base/error.h"
#include "session/session.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_finding {
	enum tfp_severity severity;
	const char *host;
	struct tfp_str message, hint; /* hint may be empty */
	uint64_t offset;              /* TFP_NO_OFFSET where it stands for no byte */
	bool damage;                  /* answers lack something because of it */
};

/* "error", "warning" or "info". */
const char *tfp_severity_word(enum tfp_severity severity);

/* Calls see for each finding of the session's captures, in the order of hosts. The finding lives
 * during the call. Summaries that are kept are used; without one the capture is opened. A file
 * that cannot be read is a finding, and no error. */
enum tfp_status tfp_session_findings(const struct tfp_session *session,
				     void (*see)(void *context, struct tfp_finding finding),
				     void *context, struct tfp_error *err) TFP_CHECK;
/* The same for captures that the caller has: the finding of a file that could not be opened, and
 * those of a summary with its brief. */
void tfp_see_failure(void (*see)(void *context, struct tfp_finding finding), void *context,
		     const char *host, const struct tfp_error *error);
void tfp_see_findings(void (*see)(void *context, struct tfp_finding finding), void *context,
		      const char *host, const struct tfp_host_summary *summary);

/* Appends /diagnostics (docs/api.md). */
enum tfp_status tfp_diagnostics_json(const struct tfp_session *session, struct tfp_buf *json,
				     struct tfp_error *err) TFP_CHECK;

#endif
