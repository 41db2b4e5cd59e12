/* SPDX-License-Identifier: Apache-2.0 */
#include "http/jobs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/progress.h"
#include "http/reply_cache.h"
#include "http/reply_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* These threads look at lists and read results. They never open a capture. */
#define LOOKERS 2u

/* One answer that is being made. It is in the list until it is finished. It is owned by the
 * thread that looks for it, then by the queue, then by the thread that makes it. */
struct job {
	struct job *next, *next_queued;
	struct tfp_jobs *jobs;
	struct tfp_question question; /* its target is a waiter's until end_job */
	struct tfp_http_target own;   /* copies of path and search, for the time after that */
	struct tfp_buf key, file_key;
	bool shareable, pays_on_disk;
	enum { LOOKING, QUEUED, RUNNING } state;
	bool dropped;               /* it may not be joined any more */
	struct tfp_waiter *waiters; /* also those that have hung up */
	unsigned wanted;            /* waiters that have not hung up */
	struct tfp_network network; /* the network whose share of the queue it takes */
	struct tfp_progress progress;
	struct tfp_reply reply;
	int64_t started_ns;
};

struct tfp_jobs {
	struct tfp_jobs_config config;
	struct tfp_reply_cache *kept;
	struct tfp_watch *watch;
	struct tfp_pool *lookers, *workers;
	atomic_uint_fast64_t next_id;
	atomic_uint_fast64_t from_memory;

	pthread_mutex_t lock; /* guards what follows, and all jobs' lists of waiters */
	pthread_cond_t work;
	struct job *first;
	struct job *first_queued, *last_queued;
	unsigned queued, running;
	uint64_t made, joined, cancelled, refused, from_disk;
	bool stopping;
};

/* ---- what a waiter is given ---- */

static void fill(struct tfp_waiter *w, struct tfp_shared_reply *shared)
{
	w->reply->etag[0] = '\0';
	tfp_shared_reply_fill(shared, w->accept_encoding, w->if_none_match, w->reply);
	w->shared = shared;
}

static void fail_waiter(struct tfp_waiter *w, const struct tfp_error *err)
{
	tfp_app_error(w->jobs->config.app, err, w->reply);
	w->done(w);
}

/* ---- jobs; with the lock held ---- */

static struct job *find_job(const struct tfp_jobs *jobs, const struct tfp_buf *key)
{
	struct job *job = jobs->first;
	while (job && (job->dropped || !job->shareable || !tfp_buf_equal(&job->key, key)))
		job = job->next;
	return job;
}

static void add_waiter(struct job *job, struct tfp_waiter *w)
{
	w->next = job->waiters;
	job->waiters = w;
	job->wanted++;
	if (w->fd >= 0)
		tfp_watch_add(job->jobs->watch, &w->watched, w->fd, w->id);
}

static void remove_job(struct tfp_jobs *jobs, const struct job *job)
{
	struct job **link = &jobs->first;
	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
}

static void queue_add(struct tfp_jobs *jobs, struct job *job)
{
	job->state = QUEUED;
	*(jobs->last_queued ? &jobs->last_queued->next_queued : &jobs->first_queued) = job;
	jobs->last_queued = job;
	jobs->queued++;
}

static void queue_remove(struct tfp_jobs *jobs, struct job *job)
{
	struct job *before = NULL;
	for (struct job *j = jobs->first_queued; j != job; j = j->next_queued)
		before = j;
	*(before ? &before->next_queued : &jobs->first_queued) = job->next_queued;
	if (jobs->last_queued == job)
		jobs->last_queued = before;
	jobs->queued--;
}

static bool has_room(const struct tfp_jobs *jobs, const struct tfp_network *network)
{
	unsigned n = 0;
	for (const struct job *j = jobs->first_queued; j; j = j->next_queued)
		n += tfp_network_equal(&j->network, network);
	return n < jobs->config.network_max;
}

/* Finds a waiter whose network has not used up its share of the queue. It pays for all. */
static bool find_payer(struct tfp_jobs *jobs, struct job *job)
{
	for (const struct tfp_waiter *w = job->waiters; w && jobs->queued < jobs->config.queue_max;
	     w = w->next) {
		if (has_room(jobs, &w->network)) {
			job->network = w->network;
			return true;
		}
	}
	return false;
}

/* Stops a job that nobody waits for. Returns whether the caller has to finish it, because no
 * thread has it. */
static bool drop_job(struct tfp_jobs *jobs, struct job *job)
{
	if (job->dropped)
		return false;
	job->dropped = true;
	jobs->cancelled++;
	atomic_store(&job->progress.unwanted, true);
	if (job->state != QUEUED)
		return false;
	queue_remove(jobs, job);
	job->state = RUNNING;
	return true;
}

/* ---- the end of a job ---- */

static void free_job(struct job *job)
{
	tfp_question_release(&job->question);
	tfp_buf_release(&job->key);
	tfp_buf_release(&job->file_key);
	tfp_reply_release(&job->reply);
	tfp_free((char *)(uintptr_t)job->own.path);
	tfp_free((char *)(uintptr_t)job->own.search);
	tfp_free(job);
}

/* Takes the job out of the list, and returns its waiters. */
static struct tfp_waiter *end_job(struct job *job)
{
	struct tfp_jobs *jobs = job->jobs;
	pthread_mutex_lock(&jobs->lock);
	remove_job(jobs, job);
	struct tfp_waiter *waiters = job->waiters;
	pthread_mutex_unlock(&jobs->lock);
	for (struct tfp_waiter *w = waiters; w; w = w->next) {
		if (w->fd >= 0)
			tfp_watch_remove(jobs->watch, &w->watched);
	}
	job->question.target = &job->own;
	return waiters;
}

/* A body that is made while it is sent has one waiter: it is never shared. */
static void finish_stream(struct job *job)
{
	struct tfp_waiter *w = end_job(job);
	*w->reply = job->reply;
	tfp_reply_init(&job->reply);
	tfp_reply_compress(w->reply, w->accept_encoding);
	w->done(w);
	free_job(job);
}

/* Gives the job's reply to all waiters. keep: later requests may have it, too. */
static void finish(struct job *job, bool keep, bool to_disk)
{
	struct tfp_jobs *jobs = job->jobs;
	struct tfp_error err;
	struct tfp_shared_reply *shared = tfp_shared_reply_new(&job->reply);
	/* First, so that a request that comes now finds either the job or its answer. */
	if (shared && keep)
		tfp_reply_cache_put(jobs->kept, &job->key, shared);
	struct tfp_waiter *next, *w = end_job(job);
	for (; w; w = next) {
		next = w->next;
		if (shared) {
			fill(w, tfp_shared_reply_ref(shared));
			w->done(w);
		} else {
			tfp_fail(&err, TFP_NO_MEMORY, "no memory for the answer");
			fail_waiter(w, &err);
		}
	}
	if (shared && to_disk)
		tfp_reply_file_write(&job->question, &job->file_key,
				     tfp_shared_reply_plain(shared));
	tfp_shared_reply_unref(shared);
	free_job(job);
}

static void finish_failed(struct job *job, const struct tfp_error *err)
{
	tfp_app_error(job->question.app, err, &job->reply);
	finish(job, false, false);
}

static void finish_cancelled(struct job *job)
{
	struct tfp_error err;
	tfp_log_verbose("not wanted any more: %s?%s", job->own.path, job->own.search);
	tfp_fail_cancelled(&err);
	finish_failed(job, &err);
}

/* ---- making ---- */

static enum tfp_status attempt(struct job *job, bool *lasting, struct tfp_error *err)
{
	*lasting = false;
	tfp_error_init(err);
	tfp_progress_stage(TFP_STAGE_ANALYSING);
	enum tfp_status status = job->jobs->config.make(&job->question, &job->reply, lasting, err);
	if (status != TFP_OK || atomic_load(&job->progress.partial))
		*lasting = false;
	return status;
}

/* Makes an attempt. If it was refused memory, a second one follows, alone, with all that there
 * is. */
static enum tfp_status make_within_budget(struct job *job, bool *lasting, struct tfp_error *err)
{
	struct tfp_reply fresh = job->reply; /* its tag, and no body yet */
	tfp_buf_init(&fresh.body, job->reply.body.ceiling);
	tfp_budget_begin();
	enum tfp_status status = attempt(job, lasting, err);
	if (tfp_budget_was_short() && !*lasting && !job->reply.stream.write && !tfp_cancelled()) {
		tfp_log_verbose("once more, alone: %s?%s", job->own.path, job->own.search);
		tfp_reply_release(&job->reply);
		job->reply = fresh;
		tfp_progress_start_over();
		tfp_progress_stage(TFP_STAGE_WAITING);
		tfp_budget_go_alone();
		status = attempt(job, lasting, err);
	}
	if (status != TFP_OK)
		status = tfp_budget_explain(err);
	tfp_budget_end();
	return status;
}

static void make(struct job *job)
{
	struct tfp_error err;
	bool lasting;
	tfp_log_verbose("making %s?%s", job->own.path, job->own.search);
	tfp_progress_enter(&job->progress);
	enum tfp_status status = make_within_budget(job, &lasting, &err);
	bool cancelled = tfp_cancelled();
	tfp_progress_enter(NULL);
	if (cancelled)
		finish_cancelled(job);
	else if (status != TFP_OK)
		finish_failed(job, &err);
	else if (job->reply.stream.write)
		finish_stream(job);
	else
		finish(job, lasting && job->shareable, lasting && job->pays_on_disk);
}

static void work(void *context)
{
	struct tfp_jobs *jobs = context;
	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		while (!jobs->first_queued && !jobs->stopping)
			pthread_cond_wait(&jobs->work, &jobs->lock);
		struct job *job = jobs->first_queued;
		if (!job)
			break;
		queue_remove(jobs, job);
		job->state = RUNNING;
		jobs->running++;
		jobs->made++;
		pthread_mutex_unlock(&jobs->lock);
		make(job);
		pthread_mutex_lock(&jobs->lock);
		jobs->running--;
	}
	pthread_mutex_unlock(&jobs->lock);
}

/* ---- looking ---- */

/* Gives a job to the workers, or refuses it. */
static void queue_job(struct job *job)
{
	struct tfp_jobs *jobs = job->jobs;
	struct tfp_error err;
	pthread_mutex_lock(&jobs->lock);
	if (jobs->stopping && !job->dropped)
		drop_job(jobs, job);
	bool wanted = !job->dropped, accepted = wanted && find_payer(jobs, job);
	if (accepted) {
		queue_add(jobs, job);
		pthread_cond_signal(&jobs->work);
	} else if (wanted) {
		jobs->refused++;
		job->dropped = true; /* a later request may be luckier */
	}
	pthread_mutex_unlock(&jobs->lock);
	if (accepted)
		return;
	if (!wanted) {
		finish_cancelled(job);
		return;
	}
	tfp_fail(&err, TFP_TOO_MANY, "too many answers are waiting to be made");
	tfp_error_set_hint(&err, "try again in a moment");
	finish_failed(job, &err);
}

static struct job *new_job(struct tfp_waiter *w, struct tfp_question *q, struct tfp_buf *key,
			   bool shareable)
{
	struct job *job = tfp_calloc(1, sizeof(*job));
	char *path = job ? tfp_strdup(w->target->path) : NULL;
	char *search = path ? tfp_strdup(w->target->search) : NULL;
	if (!search) {
		tfp_free(path);
		tfp_free(job);
		return NULL;
	}
	job->jobs = w->jobs;
	job->own = (struct tfp_http_target){.path = path, .search = search};
	job->question = *q;
	job->key = *key;
	job->shareable = shareable;
	job->started_ns = tfp_clock_monotonic_ns();
	tfp_reply_init(&job->reply);
	tfp_buf_init(&job->file_key, 0);
	*q = (struct tfp_question){0};
	tfp_buf_init(key, 0);
	return job;
}

/* For an answer that is not in memory: reads it from disk, or has it made. */
static void begin_job(struct job *job)
{
	struct tfp_jobs *jobs = job->jobs;
	tfp_question_tag(&job->question, &job->key, jobs->config.build, &job->reply);
	job->pays_on_disk = job->shareable && tfp_reply_file_key(&job->question, &job->file_key);
	if (!job->pays_on_disk ||
	    !tfp_reply_file_read(&job->question, &job->file_key, &job->reply)) {
		queue_job(job);
		return;
	}
	tfp_log_verbose("from the result cache: %s?%s", job->own.path, job->own.search);
	pthread_mutex_lock(&jobs->lock);
	jobs->from_disk++;
	pthread_mutex_unlock(&jobs->lock);
	finish(job, true, false);
}

/* Joins the waiter to a job, or gives it an answer from memory, or begins a job. */
static void look_for(struct tfp_waiter *w, struct tfp_question *q, struct tfp_buf *key,
		     bool shareable)
{
	struct tfp_jobs *jobs = w->jobs;
	struct tfp_shared_reply *shared = NULL;
	struct tfp_error err;
	pthread_mutex_lock(&jobs->lock);
	struct job *job = shareable ? find_job(jobs, key) : NULL;
	if (job) {
		add_waiter(job, w);
		jobs->joined++;
		pthread_mutex_unlock(&jobs->lock);
		return;
	}
	if (shareable)
		shared = tfp_reply_cache_get(jobs->kept, key);
	job = shared ? NULL : new_job(w, q, key, shareable);
	if (job) {
		job->next = jobs->first;
		jobs->first = job;
		add_waiter(job, w);
	}
	pthread_mutex_unlock(&jobs->lock);
	if (job) {
		begin_job(job);
	} else if (shared) {
		atomic_fetch_add(&jobs->from_memory, 1);
		fill(w, shared);
		w->done(w);
	} else {
		tfp_fail(&err, TFP_NO_MEMORY, "no memory for the request");
		fail_waiter(w, &err);
	}
}

static void look(void *context)
{
	struct tfp_waiter *w = context;
	const struct tfp_jobs_config *config = &w->jobs->config;
	struct tfp_question q;
	struct tfp_buf key;
	struct tfp_error err;
	tfp_error_init(&err);
	tfp_buf_init(&key, 0);
	if (tfp_question_init(&q, w->route, config->app, w->target, false, &err) != TFP_OK) {
		tfp_question_release(&q);
		fail_waiter(w, &err);
		return;
	}
	bool shareable = tfp_question_key(&q, &key);
	if (tfp_question_tag(&q, &key, config->build, w->reply) &&
	    tfp_reply_not_modified(w->reply, w->if_none_match)) {
		w->reply->varies = true;
		w->done(w);
	} else {
		look_for(w, &q, &key, shareable);
	}
	tfp_buf_release(&key);
	tfp_question_release(&q);
}

bool tfp_jobs_at_hand(struct tfp_jobs *jobs, struct tfp_waiter *w)
{
	struct tfp_question q;
	struct tfp_buf key;
	bool found = false;
	tfp_buf_init(&key, 0);
	if (tfp_question_init(&q, w->route, jobs->config.app, w->target, true, NULL) == TFP_OK &&
	    tfp_question_key(&q, &key)) {
		struct tfp_shared_reply *shared = NULL;
		found = tfp_question_tag(&q, &key, jobs->config.build, w->reply) &&
			tfp_reply_not_modified(w->reply, w->if_none_match);
		if (found)
			w->reply->varies = true;
		else
			shared = tfp_reply_cache_get(jobs->kept, &key);
		if (shared && tfp_shared_reply_is_ready(shared, w->accept_encoding)) {
			fill(w, shared);
			found = true;
			atomic_fetch_add(&jobs->from_memory, 1);
		} else {
			tfp_shared_reply_unref(shared);
		}
	}
	if (!found)
		w->reply->etag[0] = '\0';
	tfp_buf_release(&key);
	tfp_question_release(&q);
	return found;
}

void tfp_jobs_wait(struct tfp_jobs *jobs, struct tfp_waiter *w)
{
	struct tfp_error err;
	w->jobs = jobs;
	w->id = atomic_fetch_add(&jobs->next_id, 1) + 1;
	if (tfp_pool_submit(jobs->lookers, look, w, &err) != TFP_OK)
		fail_waiter(w, &err);
}

/* ---- hanging up ---- */

static struct job *find_waiter(const struct tfp_jobs *jobs, uint64_t id, struct tfp_waiter **out)
{
	for (struct job *job = jobs->first; job; job = job->next) {
		for (struct tfp_waiter *w = job->waiters; w; w = w->next) {
			if (w->id == id) {
				*out = w;
				return job;
			}
		}
	}
	return NULL;
}

/* A client has hung up. Its request stays with the job: libmicrohttpd closes the connection when
 * it is resumed. */
static void hung_up(void *context, uint64_t id)
{
	struct tfp_jobs *jobs = context;
	struct tfp_waiter *w;
	bool mine = false;
	pthread_mutex_lock(&jobs->lock);
	struct job *job = find_waiter(jobs, id, &w);
	if (job && !w->gone) {
		w->gone = true;
		if (--job->wanted == 0)
			mine = drop_job(jobs, job);
	}
	pthread_mutex_unlock(&jobs->lock);
	if (mine)
		finish_cancelled(job);
}

/* ---- the whole ---- */

enum tfp_status tfp_jobs_new(struct tfp_jobs **out, const struct tfp_jobs_config *config,
			     struct tfp_error *err)
{
	struct tfp_jobs *jobs = tfp_calloc(1, sizeof(*jobs));
	*out = NULL;
	if (!jobs)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for answers");
	jobs->config = *config;
	if (!jobs->config.make)
		jobs->config.make = tfp_question_answer;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->work, NULL);
	enum tfp_status status = tfp_reply_cache_new(&jobs->kept, config->memory_bytes, err);
	if (status == TFP_OK)
		status = tfp_watch_new(&jobs->watch, hung_up, jobs, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&jobs->lookers, LOOKERS, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&jobs->workers, config->threads, err);
	for (unsigned i = 0; status == TFP_OK && i < tfp_pool_threads(jobs->workers); i++)
		status = tfp_pool_submit(jobs->workers, work, jobs, err);
	if (status != TFP_OK) {
		tfp_jobs_free(jobs);
		return status;
	}
	*out = jobs;
	return TFP_OK;
}

/* Drops one job that is not dropped yet; false when there is none. */
static bool drop_one(struct tfp_jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->stopping = true;
	struct job *job = jobs->first;
	while (job && job->dropped)
		job = job->next;
	bool mine = job && drop_job(jobs, job);
	pthread_cond_broadcast(&jobs->work);
	pthread_mutex_unlock(&jobs->lock);
	if (mine)
		finish_cancelled(job);
	return job != NULL;
}

void tfp_jobs_free(struct tfp_jobs *jobs)
{
	if (!jobs)
		return;
	while (drop_one(jobs))
		;
	tfp_pool_free(jobs->lookers);
	tfp_pool_free(jobs->workers);
	tfp_watch_free(jobs->watch);
	tfp_reply_cache_free(jobs->kept);
	pthread_cond_destroy(&jobs->work);
	pthread_mutex_destroy(&jobs->lock);
	tfp_free(jobs);
}

/* ---- how jobs are getting on ---- */

static const struct job *find_address(const struct tfp_jobs *jobs, const char *address)
{
	if (address[0] == '/')
		address++;
	size_t n = strcspn(address, "?");
	const char *search = address[n] ? address + n + 1 : "";
	for (const struct job *job = jobs->first; job; job = job->next) {
		const char *path = job->own.path + 1;
		if (!job->dropped && strncmp(path, address, n) == 0 && path[n] == '\0' &&
		    strcmp(job->own.search, search) == 0)
			return job;
	}
	return NULL;
}

static void add_job(struct tfp_json *j, const struct tfp_jobs *jobs, const struct job *job)
{
	const struct tfp_progress *p = &job->progress;
	uint64_t done = atomic_load(&p->bytes_done), total = atomic_load(&p->bytes_total);
	unsigned position = 1;
	tfp_json_set_string(j, "state", job->state == RUNNING ? "running" : "waiting");
	tfp_json_set_string(j, "stage", tfp_stage_name((enum tfp_stage)atomic_load(&p->stage)));
	tfp_json_set_count(j, "bytes_done", done < total ? done : total);
	tfp_json_set_count(j, "bytes_total", total);
	tfp_json_set_count(j, "events", atomic_load(&p->events));
	tfp_json_set_count(j, "hosts_done", atomic_load(&p->hosts_done));
	tfp_json_set_count(j, "hosts_total", atomic_load(&p->hosts_total));
	if (job->state == QUEUED) {
		for (const struct job *at = jobs->first_queued; at != job; at = at->next_queued)
			position++;
		tfp_json_set_count(j, "position", position);
	} else {
		tfp_json_set_null(j, "position");
	}
	tfp_json_set_count(j, "clients", job->wanted);
	tfp_json_set_integer(j, "elapsed_ms",
			     (tfp_clock_monotonic_ns() - job->started_ns) / 1000000);
}

enum tfp_status tfp_jobs_progress_json(struct tfp_jobs *jobs, const char *address,
				       struct tfp_buf *json, struct tfp_error *err)
{
	struct tfp_json j;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	pthread_mutex_lock(&jobs->lock);
	const struct job *job = find_address(jobs, address);
	if (job)
		add_job(&j, jobs, job);
	else
		tfp_json_set_string(&j, "state", "none");
	pthread_mutex_unlock(&jobs->lock);
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}

void tfp_jobs_stats(struct tfp_jobs *jobs, struct tfp_jobs_stats *out)
{
	tfp_reply_cache_size(jobs->kept, &out->kept, &out->kept_bytes);
	out->from_memory = atomic_load(&jobs->from_memory);
	pthread_mutex_lock(&jobs->lock);
	out->queued = jobs->queued;
	out->running = jobs->running;
	out->made = jobs->made;
	out->joined = jobs->joined;
	out->cancelled = jobs->cancelled;
	out->refused = jobs->refused;
	out->from_disk = jobs->from_disk;
	pthread_mutex_unlock(&jobs->lock);
}
