/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a captured run, from the file to the answers of every tool: what is
 * JSON is JSON, nothing grows beyond its input, and the answers by way of summaries
 * on disk are those by way of the capture. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/hash.h"
#include "session/session.h"
#include "store/result_cache.h"

#include <string.h>

#define FILE_PATH "logs/plugins/profile/run/host.xplane.pb"
/* All answers together, from a capture of nothing, and for each of its bytes. */
#define ANSWER_BYTES   ((size_t)4 << 20)
#define BYTES_FOR_BYTE ((size_t)4096)

static void ask(const char *results_folder, uint64_t choice, size_t size, struct tfp_buf *out)
{
	char path[128];
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_result_cache *results = NULL;
	struct tfp_capture_cache *cache;
	struct tfp_session session;
	struct tfp_logdir *dir;
	struct tfp_error err;
	tfp_buf_init(out, ANSWER_BYTES + size * BYTES_FOR_BYTE);
	snprintf(path, sizeof(path), "%s/logs", fuzz_folder());
	MUST(tfp_logdir_new(&dir, path, 0, &err) == TFP_OK);
	MUST(tfp_capture_cache_new(&cache, dir, (uint64_t)1 << 30, NULL, &err) == TFP_OK);
	if (results_folder)
		MUST(tfp_result_cache_new(&results, results_folder, path, 1 << 24, 1, &err) ==
		     TFP_OK);
	MUST(tfp_logdir_snapshot(dir, &snapshot, &err) == TFP_OK);
	MUST(snapshot->run_count == 1 && snapshot->runs[0].host_count == 1);
	MUST(tfp_session_init(&session, cache, results, NULL, &snapshot->runs[0], NULL, &err) ==
	     TFP_OK);
	fuzz_ask_dashboards(&session, choice, out);
	size_t dashboards = out->size;
	if (!results_folder)
		fuzz_ask_timeline(&session, choice, out);
	MUST(!tfp_buf_failed(out));
	out->size = dashboards;
	tfp_logdir_snapshot_unref(snapshot);
	tfp_result_cache_free(results);
	tfp_capture_cache_free(cache);
	tfp_logdir_free(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_buf plain, first, second;
	char results[128];
	/* A file of another state, in a folder without results of the one before. */
	fuzz_empty_folder();
	MUST(fuzz_write(FILE_PATH, data, size));
	snprintf(results, sizeof(results), "%s/results", fuzz_folder());
	uint64_t choice = tfp_hash_bytes(data, size, 0);
	ask(NULL, choice, size, &plain);
	ask(results, choice, size, &first);
	ask(results, choice, size, &second);
	MUST(plain.size == first.size && memcmp(plain.data, first.data, first.size) == 0);
	MUST(plain.size == second.size && memcmp(plain.data, second.data, second.size) == 0);
	tfp_buf_release(&plain);
	tfp_buf_release(&first);
	tfp_buf_release(&second);
	return 0;
}
