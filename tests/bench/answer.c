#include "answer.h"

#include "tools/session.h"
#include "tools/tool.h"

#include <stdio.h>
#include <stdlib.h>

unsigned long bench_first_answer(const char *logdir, const char *results_folder, const char *name,
				 const char *host, struct tfp_pool *pool)
{
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	struct tfp_result_cache *results = NULL;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_session session;
	struct tfp_answer answer;
	struct tfp_query query = {0};
	struct tfp_buf json;
	const struct tfp_tool *tool = tfp_tool_find(name);
	tfp_buf_init(&json, SIZE_MAX / 2);
	if (!tool || tfp_logdir_new(&dir, logdir, 0, NULL) != TFP_OK ||
	    tfp_capture_cache_new(&cache, dir, UINT64_MAX, pool, NULL) != TFP_OK ||
	    (results_folder && tfp_result_cache_new(&results, results_folder, logdir,
						    (uint64_t)1 << 30, 1, NULL) != TFP_OK) ||
	    tfp_logdir_snapshot(dir, &snapshot, NULL) != TFP_OK || snapshot->run_count == 0 ||
	    tfp_session_init(&session, cache, results, pool, &snapshot->runs[0], host, NULL) !=
		    TFP_OK) {
		fprintf(stderr, "no %s of %s\n", name, logdir);
		exit(1);
	}
	tfp_answer_init(&answer);
	if (tfp_tool_render(tool, &session, &query, &answer, NULL) != TFP_OK ||
	    tfp_answer_write_json(&answer, &json, NULL) != TFP_OK)
		exit(1);
	unsigned long bytes = json.size;
	tfp_answer_release(&answer);
	tfp_buf_release(&json);
	tfp_logdir_snapshot_unref(snapshot);
	tfp_result_cache_free(results);
	tfp_capture_cache_free(cache);
	tfp_logdir_free(dir);
	return bytes;
}
