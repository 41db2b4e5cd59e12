/*
 * The clocks of a run's hosts: what makes times of a capture times from the run's
 * zero (trace_align.h), which are what every page and table shows. Where hosts
 * are aligned the zero depends on all of them, also on those that are not
 * chosen. So what is known of a file is remembered, here and in the summary that
 * the result cache keeps of it; only what neither knows is opened.
 *
 *     __int128 shift_ps;
 *     status = tfp_run_shift(session, host, &shift_ps, err);
 *     ... tfp_event_start_ps(line, i) + shift_ps ...
 */
#ifndef TFP_TOOLS_RUN_CLOCK_H
#define TFP_TOOLS_RUN_CLOCK_H

#include "base/error.h"
#include "tools/session.h"
#include "tools/trace_align.h"

/* What was learned of files, by their state. A few hundred KB; what does not find a place takes
 * an older one's. All functions may be called by several threads at once. */
struct tfp_run_clocks;

enum tfp_status tfp_run_clocks_new(struct tfp_run_clocks **out, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_run_clocks_free(struct tfp_run_clocks *clocks);

/* What is known of all hosts of the session's run, chosen or not; hosts has room for them and is
 * zeroed. A file that cannot be read is not known. To be called by who holds no capture:
 * some may have to be opened. */
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
