/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tfprof ls` and `tfprof info` say: the runs of a log directory and the contents of
 * captures, as tables.
 */
#ifndef TFP_TOOLS_RUN_TABLES_H
#define TFP_TOOLS_RUN_TABLES_H

#include "base/error.h"
#include "session/session.h"
#include "store/logdir.h"
#include "tools/run_info.h"
#include "tools/tool.h"

/* Both add tables to an answer that is initialised. */

/* The runs, newest first: run, hosts, bytes, time, where the time is from. */
enum tfp_status tfp_run_list_answer(struct tfp_run_info *info,
				    const struct tfp_logdir_snapshot *snapshot,
				    struct tfp_answer *answer, struct tfp_error *err) TFP_CHECK;
/* What the captures of a session hold: a table of planes, and one of findings (findings.h).
 * A session of one file that is no capture is an error. */
enum tfp_status tfp_capture_info_answer(const struct tfp_session *session,
					struct tfp_answer *answer, struct tfp_error *err) TFP_CHECK;

#endif
