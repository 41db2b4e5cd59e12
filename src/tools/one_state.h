/*
 * Answers of one state of a run's files. What is made takes one part after the other, from
 * summaries and captures, and a file that is replaced in between would give parts of two.
 */
#ifndef TFP_TOOLS_ONE_STATE_H
#define TFP_TOOLS_ONE_STATE_H

#include "tools/session.h"

/* Calls make, which begins anew each time, until the session's files are in the same state
 * after it as before, three times at most. TFP_CHANGING, with the file, when they never are;
 * else what make said: an error may be that of a file that was not there as a whole, so it
 * counts only when nothing changed. TFP_NO_MEMORY. */
enum tfp_status tfp_one_state(const struct tfp_session *session,
			      enum tfp_status (*make)(void *context, struct tfp_error *err),
			      void *context, struct tfp_error *err) TFP_CHECK;

#endif
