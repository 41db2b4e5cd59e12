/*
 * From a path to an answer: the one list of routes (docs/api.md), and what
 * each does. Knows requests and replies, and nothing of connections.
 */
#ifndef TFP_HTTP_ROUTER_H
#define TFP_HTTP_ROUTER_H

#include "base/error.h"
#include "base/pool.h"
#include "http/captures.h"
#include "http/health.h"
#include "http/metrics.h"
#include "http/reply.h"
#include "http/request.h"
#include "store/capture_cache.h"
#include "store/logdir.h"
#include "store/result_cache.h"
#include "tools/run_info.h"

struct tfp_answers;

/* What the answers are made from; all borrowed. */
struct tfp_http_app {
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	struct tfp_result_cache *results; /* may be NULL */
	struct tfp_run_info *info;
	struct tfp_run_clocks *clocks; /* may be NULL */
	struct tfp_pool *pool;         /* for work within an answer; may be NULL */
	struct tfp_captures *captures;
	/* Of the server itself, which fills them in. */
	struct tfp_metrics *metrics;
	struct tfp_health *health;
	struct tfp_answers *answers;
};

/* How long a route may take. */
enum tfp_route_cost {
	TFP_ROUTE_INSTANT, /* looks at nothing that is not in memory */
	TFP_ROUTE_BRIEF,   /* may touch the disk, needs no list of runs */
	TFP_ROUTE_LIGHT,   /* lists files, looks into them briefly */
	TFP_ROUTE_HEAVY,   /* reads captures */
	TFP_ROUTE_WAITS,   /* for other programs */
};

struct tfp_route;

/* NULL when there is none; assets are not routes. */
const struct tfp_route *tfp_route_find(const char *path);
/* All routes have a number, from 0. */
unsigned tfp_route_count(void);
const char *tfp_route_path(unsigned number);
unsigned tfp_route_number(const struct tfp_route *route);
enum tfp_route_cost tfp_route_cost(const struct tfp_route *route);
/* Methods of a route, for an Allow header: "GET, HEAD" and the like. */
const char *tfp_route_methods(const struct tfp_route *route);
bool tfp_route_takes_get(const struct tfp_route *route);
bool tfp_route_takes_post(const struct tfp_route *route);

/* What a request brings along besides its address; NULL where a header is absent. */
struct tfp_http_conditions {
	const char *accept_encoding, *if_none_match;
	const struct tfp_http_post *post; /* NULL unless the route changes something */
};

/* tfp_reply_error, without what others than the owner need not know. */
void tfp_route_error(const struct tfp_http_app *app, const struct tfp_error *err,
		     struct tfp_reply *reply);

/* Whether everybody may have it, as there is no secret in it: that the server is up, and
 * what the page that asks for a token needs. */
bool tfp_route_is_open(const char *path);

/* Fills an initialised reply, errors included. build tells one build of the
 * program from another: it is part of the tags. */
void tfp_route_answer(const struct tfp_route *route, const struct tfp_http_app *app, uint64_t build,
		      const struct tfp_http_target *target,
		      const struct tfp_http_conditions *conditions, struct tfp_reply *reply);
/* ---- the same in steps, for answers that several requests share ---- */

/* A request of GET's that is understood: what it asks about is found. */
struct tfp_question {
	const struct tfp_route *route;
	const struct tfp_http_app *app;             /* borrowed */
	const struct tfp_http_target *target;       /* borrowed */
	const struct tfp_logdir_snapshot *snapshot; /* referenced; NULL where none is needed */
	const struct tfp_run *run;                  /* the snapshot's, as the route needs it */
	const struct tfp_tool *tool;
};

/* at_once: without touching the disk; TFP_BUSY where that cannot be. Released by the caller
 * in any case. */
enum tfp_status tfp_question_init(struct tfp_question *q, const struct tfp_route *route,
				  const struct tfp_http_app *app,
				  const struct tfp_http_target *target, bool at_once,
				  struct tfp_error *err) TFP_CHECK;
void tfp_question_release(struct tfp_question *q);
/* Initialises key, and appends all that the answer is a function of besides the build of the
 * program. Whether requests with the same key can have the same answer. */
bool tfp_question_key(const struct tfp_question *q, struct tfp_buf *key);
/* Sets the tag where it is known without the answer. */
bool tfp_question_tag(const struct tfp_question *q, const struct tfp_buf *key, uint64_t build,
		      struct tfp_reply *reply);
/* Whether reading the answer from the result cache is cheaper than making it. */
bool tfp_question_pays_on_disk(const struct tfp_question *q);
/* Makes the answer, without compression; keeps a tag that is set. *lasting (may be NULL):
 * whether it may be kept, because the files are in the state that the key names. */
enum tfp_status tfp_question_answer(const struct tfp_question *q, struct tfp_reply *reply,
				    bool *lasting, struct tfp_error *err) TFP_CHECK;

/* For a path that is no route: an asset, a redirect or 404. */
void tfp_route_answer_static(const struct tfp_http_target *target,
			     const struct tfp_http_conditions *conditions, struct tfp_reply *reply);
/* The page that asks a person for the token, with why it does; false when the program
 * was built without pages. */
bool tfp_route_answer_sign_in(const char *why, struct tfp_reply *reply);

#endif
