#include "http/answers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "http/answer_file.h"
#include "http/reply_cache.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* They look at lists and read results, and never open a capture. */
#define LOOKERS 2u

/* One answer being made. It is in the list until it is finished, and owned by the thread
 * that looks for it, then by the queue, then by the thread that makes it. */
struct job {
	struct job *next, *next_queued;
	struct tfp_answers *answers;
	struct tfp_question question; /* its target is a waiter's until all are served */
	struct tfp_http_target own;   /* path and search only: what is needed after that */
	struct tfp_buf key, file_key;
	bool shareable, pays_on_disk;
	enum { LOOKING, QUEUED, RUNNING } state;
	bool dropped;               /* nobody waits for it: not to be joined any more */
	struct tfp_waiter *waiters; /* those that have hung up too */
	unsigned wanted;            /* how many have not */
	struct tfp_network network; /* whose share of the queue it takes */
	struct tfp_progress progress;
	struct tfp_reply reply;
	int64_t started_ns;
};

struct tfp_answers {
	struct tfp_answers_config config;
	struct tfp_reply_cache *kept;
	struct tfp_watch *watch;
	struct tfp_pool *lookers, *workers;
	atomic_uint_fast64_t next_id;
	atomic_uint_fast64_t from_memory;

	pthread_mutex_t lock; /* guards what follows, and all jobs' lists of waiters */
	pthread_cond_t work;
	struct job *jobs;
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
	tfp_route_error(w->answers->config.app, err, w->reply);
	w->done(w);
}

/* ---- jobs; with the lock held ---- */

static bool same_bytes(const struct tfp_buf *a, const struct tfp_buf *b)
{
	return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static struct job *find_job(const struct tfp_answers *a, const struct tfp_buf *key)
{
	struct job *job = a->jobs;
	while (job && (job->dropped || !job->shareable || !same_bytes(&job->key, key)))
		job = job->next;
	return job;
}

static void add_waiter(struct job *job, struct tfp_waiter *w)
{
	w->next = job->waiters;
	job->waiters = w;
	job->wanted++;
	if (w->fd >= 0)
		tfp_watch_add(job->answers->watch, &w->watched, w->fd, w->id);
}

static void remove_job(struct tfp_answers *a, const struct job *job)
{
	struct job **link = &a->jobs;
	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
}

static void queue_add(struct tfp_answers *a, struct job *job)
{
	job->state = QUEUED;
	*(a->last_queued ? &a->last_queued->next_queued : &a->first_queued) = job;
	a->last_queued = job;
	a->queued++;
}

static void queue_remove(struct tfp_answers *a, struct job *job)
{
	struct job *before = NULL;
	for (struct job *j = a->first_queued; j != job; j = j->next_queued)
		before = j;
	*(before ? &before->next_queued : &a->first_queued) = job->next_queued;
	if (a->last_queued == job)
		a->last_queued = before;
	a->queued--;
}

static bool has_room(const struct tfp_answers *a, const struct tfp_network *network)
{
	unsigned n = 0;
	for (const struct job *j = a->first_queued; j; j = j->next_queued)
		n += tfp_network_equal(&j->network, network);
	return n < a->config.network_max;
}

/* Of those that wait, one whose share of the queue is not used up pays for all. */
static bool find_payer(struct tfp_answers *a, struct job *job)
{
	for (const struct tfp_waiter *w = job->waiters; w && a->queued < a->config.queue_max;
	     w = w->next) {
		if (has_room(a, &w->network)) {
			job->network = w->network;
			return true;
		}
	}
	return false;
}

/* Nobody waits for it. Whether it is the caller's to finish: no thread has it. */
static bool drop_job(struct tfp_answers *a, struct job *job)
{
	if (job->dropped)
		return false;
	job->dropped = true;
	a->cancelled++;
	atomic_store(&job->progress.unwanted, true);
	if (job->state != QUEUED)
		return false;
	queue_remove(a, job);
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

/* Takes the job out of the list, and returns those that waited. */
static struct tfp_waiter *end_job(struct job *job)
{
	struct tfp_answers *a = job->answers;
	pthread_mutex_lock(&a->lock);
	remove_job(a, job);
	struct tfp_waiter *waiters = job->waiters;
	pthread_mutex_unlock(&a->lock);
	for (struct tfp_waiter *w = waiters; w; w = w->next) {
		if (w->fd >= 0)
			tfp_watch_remove(a->watch, &w->watched);
	}
	job->question.target = &job->own;
	return waiters;
}

/* A body that is made while it is sent is for the one who asked. */
static void finish_stream(struct job *job)
{
	struct tfp_waiter *w = end_job(job);
	*w->reply = job->reply;
	tfp_reply_init(&job->reply);
	tfp_reply_compress(w->reply, w->accept_encoding);
	w->done(w);
	free_job(job);
}

/* Serves all that wait with the job's reply. keep: it is good for those that come later. */
static void finish(struct job *job, bool keep, bool to_disk)
{
	struct tfp_answers *a = job->answers;
	struct tfp_error err;
	struct tfp_shared_reply *shared = tfp_shared_reply_new(&job->reply);
	/* First, so that whoever comes now finds either the job or its answer. */
	if (shared && keep)
		tfp_reply_cache_put(a->kept, &job->key, shared);
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
		tfp_answer_file_write(&job->question, &job->file_key,
				      tfp_shared_reply_plain(shared));
	tfp_shared_reply_unref(shared);
	free_job(job);
}

static void finish_failed(struct job *job, const struct tfp_error *err)
{
	tfp_route_error(job->question.app, err, &job->reply);
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
	enum tfp_status status =
		job->answers->config.make(&job->question, &job->reply, lasting, err);
	if (status == TFP_OK && tfp_budget_is_spoiled())
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
	if (status != TFP_OK || atomic_load(&job->progress.partial))
		*lasting = false;
	return status;
}

/* As an attempt; where it did not have the memory that it needs, another one follows with all
 * that there is. */
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
	struct tfp_answers *a = context;
	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->first_queued && !a->stopping)
			pthread_cond_wait(&a->work, &a->lock);
		struct job *job = a->first_queued;
		if (!job)
			break;
		queue_remove(a, job);
		job->state = RUNNING;
		a->running++;
		a->made++;
		pthread_mutex_unlock(&a->lock);
		make(job);
		pthread_mutex_lock(&a->lock);
		a->running--;
	}
	pthread_mutex_unlock(&a->lock);
}

/* ---- looking ---- */

/* Has a job made by a worker, or refuses it. */
static void queue_job(struct job *job)
{
	struct tfp_answers *a = job->answers;
	struct tfp_error err;
	pthread_mutex_lock(&a->lock);
	if (a->stopping && !job->dropped)
		drop_job(a, job);
	bool wanted = !job->dropped, accepted = wanted && find_payer(a, job);
	if (accepted) {
		queue_add(a, job);
		pthread_cond_signal(&a->work);
	} else if (wanted) {
		a->refused++;
		job->dropped = true; /* a later request may be luckier */
	}
	pthread_mutex_unlock(&a->lock);
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
	job->answers = w->answers;
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

/* Where it is not in memory: reads it from disk, or has it made. */
static void begin_job(struct job *job)
{
	struct tfp_answers *a = job->answers;
	tfp_question_tag(&job->question, &job->key, a->config.build, &job->reply);
	job->pays_on_disk = job->shareable && tfp_answer_file_key(&job->question, &job->file_key);
	if (!job->pays_on_disk ||
	    !tfp_answer_file_read(&job->question, &job->file_key, &job->reply)) {
		queue_job(job);
		return;
	}
	tfp_log_verbose("from the result cache: %s?%s", job->own.path, job->own.search);
	pthread_mutex_lock(&a->lock);
	a->from_disk++;
	pthread_mutex_unlock(&a->lock);
	finish(job, true, false);
}

/* Serves the waiter from what is there or is being made, or begins a job. */
static void look_for(struct tfp_waiter *w, struct tfp_question *q, struct tfp_buf *key,
		     bool shareable)
{
	struct tfp_answers *a = w->answers;
	struct tfp_shared_reply *shared = NULL;
	struct tfp_error err;
	pthread_mutex_lock(&a->lock);
	struct job *job = shareable ? find_job(a, key) : NULL;
	if (job) {
		add_waiter(job, w);
		a->joined++;
		pthread_mutex_unlock(&a->lock);
		return;
	}
	if (shareable)
		shared = tfp_reply_cache_get(a->kept, key);
	job = shared ? NULL : new_job(w, q, key, shareable);
	if (job) {
		job->next = a->jobs;
		a->jobs = job;
		add_waiter(job, w);
	}
	pthread_mutex_unlock(&a->lock);
	if (job) {
		begin_job(job);
	} else if (shared) {
		atomic_fetch_add(&a->from_memory, 1);
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
	const struct tfp_answers_config *config = &w->answers->config;
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

bool tfp_answers_at_hand(struct tfp_answers *a, struct tfp_waiter *w)
{
	struct tfp_question q;
	struct tfp_buf key;
	bool found = false;
	tfp_buf_init(&key, 0);
	if (tfp_question_init(&q, w->route, a->config.app, w->target, true, NULL) == TFP_OK &&
	    tfp_question_key(&q, &key)) {
		struct tfp_shared_reply *shared = NULL;
		found = tfp_question_tag(&q, &key, a->config.build, w->reply) &&
			tfp_reply_not_modified(w->reply, w->if_none_match);
		if (found)
			w->reply->varies = true;
		else
			shared = tfp_reply_cache_get(a->kept, &key);
		if (shared && tfp_shared_reply_is_ready(shared, w->accept_encoding)) {
			fill(w, shared);
			found = true;
			atomic_fetch_add(&a->from_memory, 1);
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

void tfp_answers_wait(struct tfp_answers *a, struct tfp_waiter *w)
{
	struct tfp_error err;
	w->answers = a;
	w->id = atomic_fetch_add(&a->next_id, 1) + 1;
	if (tfp_pool_submit(a->lookers, look, w, &err) != TFP_OK)
		fail_waiter(w, &err);
}

/* ---- hanging up ---- */

static struct job *find_waiter(const struct tfp_answers *a, uint64_t id, struct tfp_waiter **out)
{
	for (struct job *job = a->jobs; job; job = job->next) {
		for (struct tfp_waiter *w = job->waiters; w; w = w->next) {
			if (w->id == id) {
				*out = w;
				return job;
			}
		}
	}
	return NULL;
}

/* Its request stays with the job: libmicrohttpd closes the connection when it is resumed. */
static void hung_up(void *context, uint64_t id)
{
	struct tfp_answers *a = context;
	struct tfp_waiter *w;
	bool mine = false;
	pthread_mutex_lock(&a->lock);
	struct job *job = find_waiter(a, id, &w);
	if (job && !w->gone) {
		w->gone = true;
		if (--job->wanted == 0)
			mine = drop_job(a, job);
	}
	pthread_mutex_unlock(&a->lock);
	if (mine)
		finish_cancelled(job);
}

/* ---- the whole ---- */

enum tfp_status tfp_answers_new(struct tfp_answers **out, const struct tfp_answers_config *config,
				struct tfp_error *err)
{
	struct tfp_answers *a = tfp_calloc(1, sizeof(*a));
	*out = NULL;
	if (!a)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for answers");
	a->config = *config;
	if (!a->config.make)
		a->config.make = tfp_question_answer;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	enum tfp_status status = tfp_reply_cache_new(&a->kept, config->memory_bytes, err);
	if (status == TFP_OK)
		status = tfp_watch_new(&a->watch, hung_up, a, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&a->lookers, LOOKERS, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&a->workers, config->threads, err);
	for (unsigned i = 0; status == TFP_OK && i < tfp_pool_threads(a->workers); i++)
		status = tfp_pool_submit(a->workers, work, a, err);
	if (status != TFP_OK) {
		tfp_answers_free(a);
		return status;
	}
	*out = a;
	return TFP_OK;
}

/* Drops one job that is not dropped yet; false when there is none. */
static bool drop_one(struct tfp_answers *a)
{
	pthread_mutex_lock(&a->lock);
	a->stopping = true;
	struct job *job = a->jobs;
	while (job && job->dropped)
		job = job->next;
	bool mine = job && drop_job(a, job);
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	if (mine)
		finish_cancelled(job);
	return job != NULL;
}

void tfp_answers_free(struct tfp_answers *a)
{
	if (!a)
		return;
	while (drop_one(a))
		;
	tfp_pool_free(a->lookers);
	tfp_pool_free(a->workers);
	tfp_watch_free(a->watch);
	tfp_reply_cache_free(a->kept);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	tfp_free(a);
}

/* ---- what others want to know ---- */

static const struct job *find_address(const struct tfp_answers *a, const char *address)
{
	if (address[0] == '/')
		address++;
	size_t n = strcspn(address, "?");
	const char *search = address[n] ? address + n + 1 : "";
	for (const struct job *job = a->jobs; job; job = job->next) {
		const char *path = job->own.path + 1;
		if (!job->dropped && strncmp(path, address, n) == 0 && path[n] == '\0' &&
		    strcmp(job->own.search, search) == 0)
			return job;
	}
	return NULL;
}

static void add_job(const struct tfp_answers *a, const struct job *job, struct tfp_buf *json)
{
	const struct tfp_progress *p = &job->progress;
	uint64_t done = atomic_load(&p->bytes_done), total = atomic_load(&p->bytes_total);
	unsigned position = 1;
	tfp_buf_printf(json, "{\"state\":\"%s\",\"stage\":\"%s\",",
		       job->state == RUNNING ? "running" : "waiting",
		       tfp_stage_name((enum tfp_stage)atomic_load(&p->stage)));
	tfp_buf_printf(json, "\"bytes_done\":%" PRIu64 ",\"bytes_total\":%" PRIu64,
		       done < total ? done : total, total);
	tfp_buf_printf(json, ",\"events\":%" PRIu64, (uint64_t)atomic_load(&p->events));
	tfp_buf_printf(json, ",\"hosts_done\":%" PRIu64 ",\"hosts_total\":%" PRIu64,
		       (uint64_t)atomic_load(&p->hosts_done),
		       (uint64_t)atomic_load(&p->hosts_total));
	if (job->state == QUEUED) {
		for (const struct job *j = a->first_queued; j != job; j = j->next_queued)
			position++;
		tfp_buf_printf(json, ",\"position\":%u", position);
	} else {
		tfp_buf_puts(json, ",\"position\":null");
	}
	tfp_buf_printf(json, ",\"clients\":%u,\"elapsed_ms\":%" PRIi64 "}", job->wanted,
		       (tfp_clock_monotonic_ns() - job->started_ns) / 1000000);
}

enum tfp_status tfp_answers_progress_json(struct tfp_answers *a, const char *address,
					  struct tfp_buf *json, struct tfp_error *err)
{
	pthread_mutex_lock(&a->lock);
	const struct job *job = find_address(a, address);
	if (job)
		add_job(a, job, json);
	else
		tfp_buf_puts(json, "{\"state\":\"none\"}");
	pthread_mutex_unlock(&a->lock);
	return tfp_buf_failed(json) ? tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer")
				    : TFP_OK;
}

void tfp_answers_stats(struct tfp_answers *a, struct tfp_answers_stats *out)
{
	tfp_reply_cache_size(a->kept, &out->kept, &out->kept_bytes);
	out->from_memory = atomic_load(&a->from_memory);
	pthread_mutex_lock(&a->lock);
	out->queued = a->queued;
	out->running = a->running;
	out->made = a->made;
	out->joined = a->joined;
	out->cancelled = a->cancelled;
	out->refused = a->refused;
	out->from_disk = a->from_disk;
	pthread_mutex_unlock(&a->lock);
}
