/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents about runs that are no dashboard: what the page's list and its pickers show, and
 * what XProf's clients ask for beside the tools (docs/api.md). Each function appends JSON.
 */
#ifndef TFP_TOOLS_RUN_DOCUMENTS_H
#define TFP_TOOLS_RUN_DOCUMENTS_H

#include "base/buf.h"
#include "base/error.h"
#include "store/logdir.h"
#include "tools/run_info.h"
#include "tools/tool.h"

/* /runs */
enum tfp_status tfp_runs_json(const struct tfp_logdir_snapshot *snapshot, struct tfp_buf *json,
			      struct tfp_error *err) TFP_CHECK;
/* /run_list: newest first (run_times.h). */
enum tfp_status tfp_run_list_json(struct tfp_run_info *info,
				  const struct tfp_logdir_snapshot *snapshot, struct tfp_buf *json,
				  struct tfp_error *err) TFP_CHECK;
/* /run_info. A host whose file is no capture is listed with its problem. */
enum tfp_status tfp_run_info_json(struct tfp_run_info *info, const struct tfp_run *run,
				  struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* /run_tools */
enum tfp_status tfp_run_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
				   struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* /tools; without run every tool and no hosts, and then info may be NULL. */
enum tfp_status tfp_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* /hosts, as XProf's clients expect it; run NULL gives [], tool NULL the hosts. */
enum tfp_status tfp_hosts_json(const struct tfp_run *run, const struct tfp_tool *tool,
			       struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;

/* {"error": {"code", "message", "hint", "file", "offset"}}. Without memory it clears json and
 * says less. */
void tfp_error_json(const struct tfp_error *err, struct tfp_buf *json);

#endif
