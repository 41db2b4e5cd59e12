/* SPDX-License-Identifier: Apache-2.0 */
#include "session/summary.h"

#include "analysis/summary/op_stats_message.h"
#include "base/log.h"
#include "base/progress.h"
#include "session/given_peaks.h"
#include "store/result_cache.h"

#include <stdatomic.h>
#include <string.h>

/* Hosts whose summaries are read at a time, so that a run of thousands does not need
 * all of them in memory. */
#define HOSTS_A_BATCH 8
#define KEY_MAX       ((size_t)1 << 16)

static const struct {
	enum tfp_summary_part part;
	const char *name; /* in the key */
} kinds[] = {
	{TFP_SUMMARY_OPS, "ops"},
	{TFP_SUMMARY_STEPS, "steps"},
	{TFP_SUMMARY_MODULE_STEPS, "module_steps"},
	{TFP_SUMMARY_BRIEF, "brief"},
	{TFP_SUMMARY_PROGRAMS, "programs"},
	{TFP_SUMMARY_WORK, "work"},
	{TFP_SUMMARY_MODULE_WORK, "module_work"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What is wanted of a session's hosts. */
struct wanted {
	const struct tfp_session *session;
	unsigned parts;
};

struct host {
	const struct wanted *wanted;
	const struct tfp_capture_file *file;
	struct tfp_host_summary summary;
	unsigned found;         /* parts that the cache has */
	struct tfp_buf state;   /* of the file, as part of a key; empty where nothing is kept */
	enum tfp_status status; /* of what was missing */
	struct tfp_error error;
};

static bool add_state(const struct host *host, struct tfp_buf *out)
{
	struct tfp_logdir *dir = tfp_capture_cache_dir(host->wanted->session->cache);
	return tfp_result_key_add_file(out, dir, host->file, NULL) == TFP_OK;
}

static void host_init(struct host *host, const struct wanted *wanted, size_t place)
{
	*host = (struct host){.wanted = wanted, .file = &wanted->session->hosts[place]};
	tfp_buf_init(&host->state, KEY_MAX / 2);
	if (wanted->session->results && !add_state(host, &host->state))
		tfp_buf_clear(&host->state);
}

static void host_release(struct host *host)
{
	tfp_host_summary_release(&host->summary);
	tfp_buf_release(&host->state);
}

static void make_key(const struct host *host, size_t kind, struct tfp_buf *key)
{
	tfp_buf_init(key, KEY_MAX);
	tfp_buf_printf(key, "summary %s\n", kinds[kind].name);
	tfp_buf_add(key, host->state.data, host->state.size);
}

/* ---- one part of one host ---- */

static void look_for_part(struct host *host, size_t kind)
{
	struct tfp_buf key;
	make_key(host, kind, &key);
	if (tfp_result_cache_has(host->wanted->session->results, &key))
		host->found |= kinds[kind].part;
	tfp_buf_release(&key);
}

static void read_part(struct host *host, size_t kind)
{
	struct tfp_buf key, bytes;
	make_key(host, kind, &key);
	tfp_buf_init(&bytes, TFP_OP_STATS_MESSAGE_MAX);
	if (tfp_result_cache_get(host->wanted->session->results, &key, &bytes)) {
		if (tfp_op_stats_unpack(&host->summary, kinds[kind].part, bytes.data, bytes.size,
					NULL) == TFP_OK) {
			host->found |= kinds[kind].part;
		} else {
			/* A part that failed may have left something half done. */
			tfp_host_summary_release(&host->summary);
			host->found = 0;
		}
	}
	tfp_buf_release(&key);
	tfp_buf_release(&bytes);
}

static bool keep_part(struct host *host, size_t kind)
{
	struct tfp_buf key, bytes;
	make_key(host, kind, &key);
	tfp_buf_init(&bytes, TFP_OP_STATS_MESSAGE_MAX);
	bool ok = tfp_op_stats_pack(&host->summary, kinds[kind].part, &bytes, NULL) == TFP_OK &&
		  tfp_result_cache_put(host->wanted->session->results, &key, &bytes);
	tfp_buf_release(&key);
	tfp_buf_release(&bytes);
	return ok;
}

/* ---- one host ---- */

static void each_part(struct host *host, void (*what)(struct host *host, size_t kind))
{
	for (size_t k = 0; host->state.size && k < KINDS; k++) {
		if (host->wanted->parts & kinds[k].part)
			what(host, k);
	}
}

static unsigned missing_parts(const struct host *host)
{
	return host->wanted->parts & ~host->found;
}

static bool changed_since(const struct host *host)
{
	struct tfp_buf now;
	tfp_buf_init(&now, KEY_MAX / 2);
	bool same = add_state(host, &now) && now.size == host->state.size &&
		    memcmp(now.data, host->state.data, now.size) == 0;
	tfp_buf_release(&now);
	return !same;
}

/* Takes what is missing from the capture, and keeps it, unless the file changed since it was
 * looked at: the capture may be of either state. passing: the capture is not needed open
 * when all of it is kept. */
static enum tfp_status make_missing(struct host *host, bool passing, struct tfp_error *err)
{
	const struct tfp_session *session = host->wanted->session;
	unsigned missing = missing_parts(host);
	struct tfp_capture *capture;
	bool kept = false;
	enum tfp_status status = tfp_capture_cache_visit(session->cache, host->file, &capture, err);
	if (status != TFP_OK)
		return status;
	status = tfp_host_summary_get(&host->summary, capture, missing, session->pool, err);
	if (status == TFP_OK && host->state.size)
		kept = !changed_since(host) && !tfp_capture_was_cut(capture);
	for (size_t k = 0; kept && k < KINDS; k++)
		kept = !(missing & kinds[k].part) || keep_part(host, k);
	tfp_capture_cache_leave(session->cache, host->file, capture, !(passing && kept));
	tfp_capture_unref(capture);
	return status;
}

/* ---- all hosts ---- */

struct keeping {
	const struct wanted *wanted;
	unsigned needed; /* a host that lacks nothing of these is left alone */
	atomic_bool no_memory;
};

static void keep_host(void *context, size_t i)
{
	struct keeping *all = context;
	struct host host;
	if (tfp_cancelled() || atomic_load(&all->no_memory))
		return;
	host_init(&host, all->wanted, i);
	each_part(&host, look_for_part);
	if (host.state.size && (missing_parts(&host) & all->needed) &&
	    make_missing(&host, true, NULL) == TFP_NO_MEMORY)
		atomic_store(&all->no_memory, true);
	host_release(&host);
	tfp_progress_add_host();
}

/* Has the summaries of all hosts kept before the first is read, so that with the open captures
 * there is nothing else in memory. So many hosts at a time as there are threads, and as
 * the cache has room for. A failure is not told: the host is tried again when it is taken. */
static enum tfp_status keep_all(const struct wanted *wanted, struct tfp_error *err)
{
	const struct tfp_session *session = wanted->session;
	/* The page asks for it next, it costs little, and the capture is open now. */
	const struct wanted more = {session, wanted->parts | TFP_SUMMARY_BRIEF};
	struct keeping all = {.wanted = &more, .needed = wanted->parts};
	tfp_pool_for(session->pool, session->host_count, keep_host, &all);
	if (atomic_load(&all.no_memory))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the summaries of %zu hosts",
				session->host_count);
	return TFP_OK;
}

struct batch {
	const struct wanted *wanted;
	size_t first;
	struct host hosts[HOSTS_A_BATCH];
};

static void read_host(void *context, size_t i)
{
	struct batch *batch = context;
	struct host *host = &batch->hosts[i];
	host_init(host, batch->wanted, batch->first + i);
	each_part(host, read_part);
	if (missing_parts(host) == 0)
		tfp_log_verbose("summary of %s: from the result cache", host->file->path);
	else
		host->status = make_missing(host, false, &host->error);
}

/* Summaries that cannot be kept are of captures that stay open until they are taken: then
 * as many at a time as there are threads. */
static size_t batch_size(const struct tfp_session *session)
{
	size_t threads = tfp_pool_threads(session->pool);
	return session->results || threads > HOSTS_A_BATCH ? HOSTS_A_BATCH : threads;
}

enum tfp_status tfp_session_summaries(const struct tfp_session *session, unsigned parts,
				      enum tfp_status (*take)(void *context, size_t place,
							      const struct tfp_host_summary *host,
							      struct tfp_error *err),
				      void *context, struct tfp_error *err)
{
	const struct wanted wanted = {session, parts};
	struct batch batch = {.wanted = &wanted};
	enum tfp_status status = TFP_OK;
	struct tfp_error failure;
	size_t taken = 0;
	bool counted = false; /* the hosts, for progress: once, where they take time */
	tfp_error_init(&failure);
	tfp_progress_expect_hosts(session->host_count);
	if (session->results && session->host_count > 1)
		status = keep_all(&wanted, &failure);
	else
		counted = true;
	while (status != TFP_NO_MEMORY && batch.first < session->host_count && !tfp_cancelled()) {
		size_t count = session->host_count - batch.first;
		if (count > batch_size(session))
			count = batch_size(session);
		tfp_pool_for(session->pool, count, read_host, &batch);
		for (size_t i = 0; i < count; i++) {
			struct host *host = &batch.hosts[i];
			if (status != TFP_NO_MEMORY) {
				size_t place = batch.first + i;
				status = host->status;
				if (status != TFP_OK)
					failure = host->error;
				if (status == TFP_OK)
					status = take(context, place, &host->summary, &failure);
				else if (status != TFP_NO_MEMORY &&
					 take(context, place, NULL, &failure) == TFP_NO_MEMORY)
					status = TFP_NO_MEMORY;
				taken += status == TFP_OK;
			}
			host_release(host);
			if (counted)
				tfp_progress_add_host();
		}
		batch.first += count;
	}
	if (tfp_cancelled())
		return tfp_fail_cancelled(err);
	if (status == TFP_OK || (taken && status != TFP_NO_MEMORY))
		return TFP_OK;
	if (err)
		*err = failure;
	return status;
}

static enum tfp_status merge(void *context, size_t place, const struct tfp_host_summary *host,
			     struct tfp_error *err)
{
	return !host ? TFP_OK : tfp_op_stats_merge(context, host->op_stats, (uint32_t)place, err);
}

enum tfp_status tfp_session_summary(const struct tfp_session *session, struct tfp_op_stats *out,
				    struct tfp_error *err)
{
	tfp_op_stats_init(out);
	enum tfp_status status = tfp_session_summaries(session, TFP_SUMMARY_OPS, merge, out, err);
	tfp_op_stats_end(out);
	tfp_given_peaks_apply(session->peaks, &out->env);
	return status;
}

enum tfp_status tfp_session_each(const struct tfp_session *session,
				 enum tfp_status (*visit)(void *context,
							  struct tfp_capture *capture,
							  const char *host, struct tfp_pool *pool,
							  struct tfp_error *err),
				 void *context, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	for (size_t h = 0; status == TFP_OK && h < session->host_count; h++) {
		struct tfp_capture *capture;
		const struct tfp_capture_file *file = &session->hosts[h];
		status = tfp_capture_cache_get(session->cache, file, &capture, err);
		if (status != TFP_OK)
			break;
		status = visit(context, capture, file->host, session->pool, err);
		if (status == TFP_OK && tfp_capture_was_cut(capture)) {
			status = tfp_fail(err, TFP_IO, "the file was cut while it was read");
			tfp_error_set_file(err, file->path);
		}
		tfp_capture_unref(capture);
	}
	return status;
}
