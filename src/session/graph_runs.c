/* SPDX-License-Identifier: Apache-2.0 */
#include "session/graph_runs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "store/event_heads.h"
#include "store/file_notes.h"

#include <unistd.h>

#define FILES_MOST 65536u /* whose heads are remembered */
#define NS_PER_S   INT64_C(1000000000)
#define PATIENCE   (2 * NS_PER_S)

struct tfp_graph_runs {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	struct tfp_file_notes *heads; /* of struct tfp_event_heads */
};

enum tfp_status tfp_graph_runs_new(struct tfp_graph_runs **out, struct tfp_logdir *dir,
				   struct tfp_pool *pool, struct tfp_error *err)
{
	static const struct tfp_file_notes_config config = {
		.files = FILES_MOST, .note_size = sizeof(struct tfp_event_heads)};
	struct tfp_graph_runs *graphs = tfp_calloc(1, sizeof(*graphs));
	*out = NULL;
	if (!graphs)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for graph runs");
	graphs->dir = dir;
	graphs->pool = pool;
	enum tfp_status status = tfp_file_notes_new(&graphs->heads, &config, err);
	if (status == TFP_OK)
		*out = graphs;
	else
		tfp_free(graphs);
	return status;
}

void tfp_graph_runs_free(struct tfp_graph_runs *graphs)
{
	if (!graphs)
		return;
	tfp_file_notes_free(graphs->heads);
	tfp_free(graphs);
}

/* What is known of a file, looked at as far as one look goes. */
static struct tfp_event_heads look_at(struct tfp_graph_runs *graphs,
				      const struct tfp_capture_file *file)
{
	struct tfp_event_heads heads = {0};
	struct tfp_file_identity identity;
	int fd;
	if (tfp_file_notes_recall(graphs->heads, &file->identity, &heads) && heads.ended)
		return heads;
	if (heads.at == 0 && !tfp_file_notes_recall_earlier(graphs->heads, &file->identity, &heads))
		heads = (struct tfp_event_heads){0};
	if (tfp_logdir_open(graphs->dir, file, &fd, &identity, NULL) != TFP_OK)
		return heads;
	heads.no_file = false;
	tfp_event_heads_look(fd, identity.bytes, &heads);
	close(fd);
	tfp_file_notes_write(graphs->heads, &identity, &heads);
	return heads;
}

bool tfp_graph_runs_has(struct tfp_graph_runs *graphs, const struct tfp_run *run,
			struct tfp_dated_run *dated)
{
	bool any = false;
	*dated = (struct tfp_dated_run){run, run->modified_ns, TFP_TIME_OF_FILE};
	for (size_t i = 0; i < run->host_count; i++) {
		struct tfp_event_heads heads = look_at(graphs, &run->hosts[i]);
		if (heads.runs == 0)
			continue;
		any = true;
		int64_t time_ns = 0;
		if (heads.time_s > 0 && heads.time_s < 1e10)
			time_ns = (int64_t)(heads.time_s * 1e9);
		if (!tfp_time_is_plausible(time_ns))
			continue;
		if (dated->source == TFP_TIME_OF_FILE || time_ns < dated->time_ns)
			dated->time_ns = time_ns;
		dated->source = TFP_TIME_IN_CAPTURE;
	}
	return any;
}

struct listing {
	struct tfp_graph_runs *graphs;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_dated_run *runs; /* by folder; run NULL: none */
	int64_t until_ns;           /* of the monotonic clock */
};

static void list_one(void *context, size_t i)
{
	struct listing *l = context;
	if (tfp_clock_monotonic_ns() >= l->until_ns ||
	    !tfp_graph_runs_has(l->graphs, &l->snapshot->event_runs[i], &l->runs[i]))
		l->runs[i].run = NULL;
}

enum tfp_status tfp_graph_runs_list(struct tfp_graph_runs *graphs,
				    const struct tfp_logdir_snapshot *snapshot,
				    struct tfp_dated_run **out, size_t *count,
				    struct tfp_error *err)
{
	struct listing l = {graphs, snapshot,
			    tfp_calloc(snapshot->event_run_count + 1, sizeof(*l.runs)),
			    tfp_clock_monotonic_ns() + PATIENCE};
	*out = l.runs;
	*count = 0;
	if (!l.runs)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of runs");
	tfp_pool_for(graphs->pool, snapshot->event_run_count, list_one, &l);
	for (size_t i = 0; i < snapshot->event_run_count; i++) {
		if (l.runs[i].run)
			l.runs[(*count)++] = l.runs[i];
	}
	return TFP_OK;
}
