/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of one state of a run's files. An answer takes one part after the other, from
 * summaries and captures; a file that is replaced in between would give it parts of two.
 */
#ifndef TFP_SESSION_ONE_STATE_H
#define TFP_SESSION_ONE_STATE_H

#include "session/session.h"

/* Calls make until the session's files are in the same state after it as before, three times at
 * most; make begins anew each time. Returns what make said, also an error: it counts only when
 * nothing changed, because it may be that of a file that was not there as a whole.
 * TFP_CHANGING, with the file, when the files never stay as they are. TFP_NO_MEMORY. */
enum tfp_status tfp_one_state(const struct tfp_session *session,
			      enum tfp_status (*make)(void *context, struct tfp_error *err),
			      void *context, struct tfp_error *err) TFP_CHECK;

#endif
