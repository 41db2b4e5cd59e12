/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that take time. A job makes one answer, for all requests that ask for it while it
 * is being made. Finished answers are kept in memory and, where that pays, on disk.
 *
 *     tfp_jobs_new(&jobs, &config, &err);
 *     if (tfp_jobs_at_hand(jobs, &waiter))
 *             ... the reply is there ...
 *     else
 *             tfp_jobs_wait(jobs, &waiter); // calls waiter.done, later
 *
 * A job has a key: route, parameters, run and the state of the run's files. A request with
 * the key of a job that is under way joins that job. When all clients of a job have hung up,
 * the job stops, and nothing of it is kept. An error goes to all that wait, and is not kept
 * either. An answer is kept only if the files were in the same state before and after it was
 * made, and nothing was missing from it for a passing reason.
 *
 * The number of jobs that wait for a thread is limited, in all and for each network. Jobs
 * beyond that are refused (TFP_TOO_MANY). Thread-safe.
 */
#ifndef TFP_HTTP_JOBS_H
#define TFP_HTTP_JOBS_H

#include "http/network.h"
#include "http/question.h"
#include "http/shared_reply.h"
#include "http/watch.h"

struct tfp_jobs;

struct tfp_jobs_config {
	const struct tfp_http_app *app; /* borrowed */
	uint64_t build;                 /* tells one build of the program from another */
	size_t memory_bytes;            /* that finished answers may take, in memory */
	unsigned threads;               /* jobs at a time */
	unsigned queue_max;             /* jobs that may wait for a thread */
	unsigned network_max;           /* of these, from one network */
	/* In place of tfp_question_answer, for tests; may be NULL. */
	enum tfp_status (*make)(const struct tfp_question *question, struct tfp_reply *reply,
				bool *lasting, struct tfp_error *err);
};

/* A request that wants an answer. Its memory must stay where it is until done is called. */
struct tfp_waiter {
	const struct tfp_route *route; /* TFP_ROUTE_HEAVY */
	const struct tfp_http_target *target;
	const char *accept_encoding, *if_none_match;
	struct tfp_network network; /* the network whose share of the queue it takes */
	int fd; /* the client's connection, watched for its end; -1: not watched */
	/* Initialised by the caller, and filled when the answer is there. Where shared is set, it
	 * holds the reply's body, and the caller owns a reference. */
	struct tfp_reply *reply;
	struct tfp_shared_reply *shared;
	/* Called once, on any thread, with no lock held. */
	void (*done)(struct tfp_waiter *waiter);
	void *context;

	/* The module's own. */
	struct tfp_waiter *next;
	struct tfp_jobs *jobs;
	struct tfp_watched watched;
	uint64_t id;
	bool gone;
};

/* config->app->jobs need not be set yet. Owned by the caller. */
enum tfp_status tfp_jobs_new(struct tfp_jobs **out, const struct tfp_jobs_config *config,
			     struct tfp_error *err) TFP_CHECK;
/* Stops all jobs. All waiters have been called when it returns. Accepts NULL. */
void tfp_jobs_free(struct tfp_jobs *jobs);

/* Fills the waiter's reply and returns true, if that takes no time and touches no disk. done is
 * not called. */
bool tfp_jobs_at_hand(struct tfp_jobs *jobs, struct tfp_waiter *waiter);
/* Has the reply filled, and calls done, perhaps before it returns. */
void tfp_jobs_wait(struct tfp_jobs *jobs, struct tfp_waiter *waiter);

/* Appends how far a job is, as docs/api.md describes it: {"state": ...}. address: what was asked
 * for, path (with or without a slash in front) and parameters as they were sent. */
enum tfp_status tfp_jobs_progress_json(struct tfp_jobs *jobs, const char *address,
				       struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;

struct tfp_jobs_stats {
	/* At present. */
	unsigned queued, running;
	size_t kept, kept_bytes; /* in memory */
	/* Since the start. */
	uint64_t made, joined, cancelled, refused, from_memory, from_disk;
};

void tfp_jobs_stats(struct tfp_jobs *jobs, struct tfp_jobs_stats *out);

#endif
