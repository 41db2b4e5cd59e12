/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of a run's hosts. Every page and table shows times from the run's zero
 * (clock_align.h); a shift makes a capture's times such times. Where hosts are aligned the zero
 * depends on all of them, also on those that are not chosen. So what was learned of a file is
 * remembered, here and in the summary that the result cache keeps; a file is opened only when
 * neither knows it.
 *
 *     __int128 shift_ps;
 *     status = tfp_run_shift(session, host, &shift_ps, err);
 *     ... tfp_event_start_ps(line, i) + shift_ps ...
 */
#ifndef TFP_SESSION_RUN_CLOCK_H
#define TFP_SESSION_RUN_CLOCK_H

#include "base/error.h"
#include "session/clock_align.h"
#include "session/session.h"

/* What was learned of files, by their state. It takes a few hundred KB; when it is full, new
 * files take the places of old ones. All functions may be called by several threads at once. */
struct tfp_run_clocks;

enum tfp_status tfp_run_clocks_new(struct tfp_run_clocks **out, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_run_clocks_free(struct tfp_run_clocks *clocks);

/* What is known of all hosts of the session's run, chosen or not; hosts has room for them and is
 * zeroed. A file that cannot be read is not known. The caller must hold no capture: the
 * function may open some, and waits for room. */
enum tfp_status tfp_run_clocks_find(const struct tfp_session *session, struct tfp_host_clock *hosts,
				    struct tfp_error *err) TFP_CHECK;

/* The same, aligned: a list for all hosts of the run (tfp_free). */
enum tfp_status tfp_run_clocks_aligned(const struct tfp_session *session,
				       struct tfp_host_clock **hosts,
				       struct tfp_error *err) TFP_CHECK;

/* The shift of one host of the run, by its name. The same holds. */
enum tfp_status tfp_run_shift(const struct tfp_session *session, const char *host,
			      __int128 *shift_ps, struct tfp_error *err) TFP_CHECK;

#endif
