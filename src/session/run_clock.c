/* SPDX-License-Identifier: Apache-2.0 */
#include "session/run_clock.h"

#include "base/alloc.h"
#include "session/summary.h"
#include "store/file_notes.h"

#define FILES_MOST 4096u /* whose clocks are remembered */

struct tfp_run_clocks {
	struct tfp_file_notes *starts; /* of struct tfp_capture_start */
};

enum tfp_status tfp_run_clocks_new(struct tfp_run_clocks **out, struct tfp_error *err)
{
	static const struct tfp_file_notes_config config = {
		.files = FILES_MOST, .note_size = sizeof(struct tfp_capture_start)};
	struct tfp_run_clocks *clocks = tfp_calloc(1, sizeof(*clocks));
	*out = NULL;
	if (!clocks)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the clocks of runs");
	enum tfp_status status = tfp_file_notes_new(&clocks->starts, &config, err);
	if (status == TFP_OK)
		*out = clocks;
	else
		tfp_free(clocks);
	return status;
}

void tfp_run_clocks_free(struct tfp_run_clocks *clocks)
{
	if (!clocks)
		return;
	tfp_file_notes_free(clocks->starts);
	tfp_free(clocks);
}

static bool recall(struct tfp_run_clocks *clocks, const struct tfp_file_identity *id,
		   struct tfp_capture_start *start)
{
	return clocks && tfp_file_notes_recall(clocks->starts, id, start);
}

static void remember(struct tfp_run_clocks *clocks, const struct tfp_file_identity *id,
		     const struct tfp_capture_start *start)
{
	if (clocks)
		tfp_file_notes_write(clocks->starts, id, start);
}

/* Of the files of a session that nothing is remembered of. */
struct finding {
	const struct tfp_session *session;
	struct tfp_host_clock *hosts; /* of the run */
	const size_t *places;         /* in the run, by place in the session */
};

static enum tfp_status take(void *context, size_t place, const struct tfp_host_summary *host,
			    struct tfp_error *err)
{
	struct finding *f = context;
	struct tfp_host_clock *clock = &f->hosts[f->places[place]];
	(void)err;
	if (!host)
		return TFP_OK;
	clock->known = true;
	clock->start = host->brief->start;
	remember(f->session->clocks, &f->session->hosts[place].identity, &clock->start);
	return TFP_OK;
}

/* The caller opens the only host of a run in any case. */
static enum tfp_status ask_capture(const struct tfp_session *session, struct tfp_host_clock *host,
				   struct tfp_error *err)
{
	struct tfp_capture *capture;
	const struct tfp_capture_file *file = &session->run->hosts[0];
	enum tfp_status status = tfp_capture_cache_get(session->cache, file, &capture, err);
	if (status != TFP_OK)
		return status;
	status = tfp_capture_start(capture, &host->start, err);
	tfp_capture_unref(capture);
	host->known = status == TFP_OK;
	if (host->known)
		remember(session->clocks, &file->identity, &host->start);
	return status;
}

enum tfp_status tfp_run_clocks_find(const struct tfp_session *session, struct tfp_host_clock *hosts,
				    struct tfp_error *err)
{
	const struct tfp_run *run = session->run;
	struct tfp_session rest = *session;
	size_t missing = 0;
	for (size_t h = 0; h < run->host_count; h++) {
		hosts[h].known = recall(session->clocks, &run->hosts[h].identity, &hosts[h].start);
		missing += !hosts[h].known;
	}
	if (missing == 0)
		return TFP_OK;
	if (run->host_count == 1)
		return ask_capture(session, &hosts[0], err);
	struct tfp_capture_file *files = tfp_calloc(missing, sizeof(*files));
	size_t *places = tfp_calloc(missing, sizeof(*places));
	enum tfp_status status = TFP_OK;
	if (!files || !places) {
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the hosts of a run");
	} else {
		rest.hosts = files;
		rest.host_count = 0;
		for (size_t h = 0; h < run->host_count; h++) {
			if (hosts[h].known)
				continue;
			places[rest.host_count] = h;
			files[rest.host_count++] = run->hosts[h];
		}
		struct finding f = {&rest, hosts, places};
		status = tfp_session_summaries(&rest, TFP_SUMMARY_BRIEF, take, &f, err);
		/* The caller tells of files that cannot be read, where it needs them. */
		if (status != TFP_NO_MEMORY && status != TFP_CANCELLED)
			status = TFP_OK;
	}
	tfp_free(files);
	tfp_free(places);
	return status;
}

enum tfp_status tfp_run_clocks_aligned(const struct tfp_session *session,
				       struct tfp_host_clock **hosts, struct tfp_error *err)
{
	size_t count = session->run->host_count;
	*hosts = tfp_calloc(count, sizeof(**hosts));
	if (!*hosts)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the hosts of a run");
	enum tfp_status status = tfp_run_clocks_find(session, *hosts, err);
	if (status == TFP_OK) {
		tfp_clock_align(*hosts, count);
	} else {
		tfp_free(*hosts);
		*hosts = NULL;
	}
	return status;
}

enum tfp_status tfp_run_shift(const struct tfp_session *session, const char *host,
			      __int128 *shift_ps, struct tfp_error *err)
{
	struct tfp_host_clock *hosts;
	enum tfp_status status = tfp_run_clocks_aligned(session, &hosts, err);
	*shift_ps = status == TFP_OK ? hosts[tfp_session_host_index(session, host)].shift_ps : 0;
	tfp_free(hosts);
	return status;
}
