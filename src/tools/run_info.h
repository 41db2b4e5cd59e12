/*
 * Facts about runs that are no dashboard: what the page's list, its pickers
 * and its verdict bar show, and what `tfprof ls` and `tfprof info` print. JSON
 * by jansson, documented in docs/api.md. What a run holds is told by a quick
 * look at the names of its files' planes, remembered by the state of the file.
 *
 *     struct tfp_run_info *info;
 *     tfp_run_info_new(&info, dir, 1 << 30, pool, &err);
 *     tfp_run_info_json(info, run, &json, &err);
 *     tfp_run_info_free(info);
 */
#ifndef TFP_TOOLS_RUN_INFO_H
#define TFP_TOOLS_RUN_INFO_H

#include "base/buf.h"
#include "base/error.h"
#include "base/pool.h"
#include "store/capture_cache.h"
#include "store/logdir.h"
#include "tools/session.h"
#include "tools/tool.h"

struct tfp_run_info;

/* Has jansson take its memory from base/alloc. Once, by main, before threads start. */
void tfp_documents_init(void);

/* max_bytes bounds what a compressed file may unpack to for a look. dir and
 * pool (may be NULL) must outlive it. Owned by the caller. All functions below
 * may be called by several threads at once. */
enum tfp_status tfp_run_info_new(struct tfp_run_info **out, struct tfp_logdir *dir,
				 uint64_t max_bytes, struct tfp_pool *pool,
				 struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_run_info_free(struct tfp_run_info *info);

/* The following append to json. */

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
/* /tools; without run every tool and no hosts. */
enum tfp_status tfp_tools_json(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* /hosts, as XProf's clients expect it; run NULL gives [], tool NULL the hosts. */
enum tfp_status tfp_hosts_json(const struct tfp_run *run, const struct tfp_tool *tool,
			       struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* /diagnostics: opens the captures. */
enum tfp_status tfp_diagnostics_json(const struct tfp_session *session, struct tfp_buf *json,
				     struct tfp_error *err) TFP_CHECK;

/* Something that reading a capture brought up, or that its profiler wrote into it. */
struct tfp_finding {
	enum tfp_severity severity;
	const char *host;
	struct tfp_str message, hint; /* hint may be empty */
	uint64_t offset;              /* TFP_NO_OFFSET where it stands for no byte */
	bool damage;                  /* answers lack something because of it */
};
/* Calls see for each of the session's captures, in the order of hosts; what it is given lives
 * during the call. Uses summaries that are kept, else opens the captures. */
enum tfp_status tfp_session_findings(const struct tfp_session *session,
				     void (*see)(void *context, struct tfp_finding finding),
				     void *context, struct tfp_error *err) TFP_CHECK;
/* "error", "warning" or "info". */
const char *tfp_severity_word(enum tfp_severity severity);

/* By a quick look at the run's files; a file that cannot be read counts as holding
 * nothing. */
enum tfp_status tfp_run_traits(struct tfp_run_info *info, const struct tfp_run *run,
			       struct tfp_run_traits *traits, struct tfp_error *err) TFP_CHECK;

/* Why a directory has nothing to show, for a person: true and the words in
 * *err (TFP_NOT_FOUND) when there is no run. */
bool tfp_run_list_problem(const struct tfp_logdir *dir, const struct tfp_logdir_snapshot *snapshot,
			  struct tfp_error *err);

/* The newest of the runs (run_times.h), of which there is one at least. */
enum tfp_status tfp_newest_run(struct tfp_run_info *info,
			       const struct tfp_logdir_snapshot *snapshot,
			       const struct tfp_run **run, struct tfp_error *err) TFP_CHECK;
/* The runs as a table, newest first: run, hosts, bytes, time, where the time is from. */
enum tfp_status tfp_run_list_answer(struct tfp_run_info *info,
				    const struct tfp_logdir_snapshot *snapshot,
				    struct tfp_answer *answer, struct tfp_error *err) TFP_CHECK;
/* What the captures of a session hold: a table of planes and one of what
 * reading brought up. */
enum tfp_status tfp_capture_info_answer(const struct tfp_session *session,
					struct tfp_answer *answer, struct tfp_error *err) TFP_CHECK;

/* {"error": {"code", "message", "hint", "file", "offset"}}, appended. */
void tfp_error_json(const struct tfp_error *err, struct tfp_buf *json);

#endif
