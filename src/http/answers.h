/*
 * Answers that take time: each is made once for all that ask for it meanwhile,
 * and the finished ones are kept in memory and, where it pays, on disk.
 *
 *     tfp_answers_new(&answers, &config, &err);
 *     if (tfp_answers_at_hand(answers, &waiter))
 *             ... the reply is there ...
 *     else
 *             tfp_answers_wait(answers, &waiter); // calls waiter.done, later
 *
 * A job makes one answer. It is known by its key: route, parameters, run and the
 * state of the run's files. Who asks for an answer that a job is making joins it.
 * When all that waited have hung up the job stops, and nothing of it is kept.
 * An error goes to all that wait, and is not kept either. An answer is kept only if
 * the files were in the same state after as before it was made, and nothing was
 * missing from it for a passing reason.
 *
 * Jobs that wait for a thread are bounded, in all and for each network; what is
 * too much is refused (TFP_TOO_MANY). Thread-safe.
 */
#ifndef TFP_HTTP_ANSWERS_H
#define TFP_HTTP_ANSWERS_H

#include "http/network.h"
#include "http/router.h"
#include "http/shared_reply.h"
#include "http/watch.h"

struct tfp_answers;

struct tfp_answers_config {
	const struct tfp_http_app *app; /* borrowed */
	uint64_t build;                 /* as tfp_route_answer's */
	size_t memory_bytes;            /* that finished answers may take */
	unsigned threads;               /* jobs at a time */
	unsigned queue_max;             /* jobs that wait for a thread */
	unsigned network_max;           /* of these, of one network */
	/* In place of tfp_question_answer, for tests; may be NULL. */
	enum tfp_status (*make)(const struct tfp_question *question, struct tfp_reply *reply,
				bool *lasting, struct tfp_error *err);
};

/* One request that asks. Its memory must stay where it is until done is called. */
struct tfp_waiter {
	const struct tfp_route *route; /* TFP_ROUTE_HEAVY */
	const struct tfp_http_target *target;
	const char *accept_encoding, *if_none_match;
	struct tfp_network network; /* whose share of the queue it takes */
	int fd; /* the client's connection, to know when it hangs up; -1: it does not */
	/* Filled when it is done: initialised before. Where shared is set, the body is
	 * its memory, and the reference the waiter's. */
	struct tfp_reply *reply;
	struct tfp_shared_reply *shared;
	/* Called once, on any thread, with no lock held. */
	void (*done)(struct tfp_waiter *waiter);
	void *context;

	/* The module's own. */
	struct tfp_waiter *next;
	struct tfp_answers *answers;
	struct tfp_watched watched;
	uint64_t id;
	bool gone;
};

/* app.answers need not be set yet. */
enum tfp_status tfp_answers_new(struct tfp_answers **out, const struct tfp_answers_config *config,
				struct tfp_error *err) TFP_CHECK;
/* Stops all jobs; all that wait are done when it returns. Accepts NULL. */
void tfp_answers_free(struct tfp_answers *answers);

/* Fills the waiter's reply, if that takes no time and touches no disk: true. */
bool tfp_answers_at_hand(struct tfp_answers *answers, struct tfp_waiter *waiter);
/* Has it filled, and done called. */
void tfp_answers_wait(struct tfp_answers *answers, struct tfp_waiter *waiter);

/* {"state": ...} of the job that makes what is at this address (path, with or without a slash
 * in front, and parameters as they were sent); see docs/api.md. */
enum tfp_status tfp_answers_progress_json(struct tfp_answers *answers, const char *address,
					  struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;

struct tfp_answers_stats {
	/* At present. */
	unsigned queued, running;
	size_t kept, kept_bytes; /* in memory */
	/* Since the start. */
	uint64_t made, joined, cancelled, refused, from_memory, from_disk;
};

void tfp_answers_stats(struct tfp_answers *answers, struct tfp_answers_stats *out);

#endif
