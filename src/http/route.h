/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a route is: how requests for a path are understood, and the functions that
 * answer them. router.c has the list.
 */
#ifndef TFP_HTTP_ROUTE_H
#define TFP_HTTP_ROUTE_H

#include "base/error.h"
#include "http/reply.h"
#include "http/request.h"
#include "store/logdir.h"

#include <stdbool.h>
#include <stddef.h>

struct tfp_question;
struct tfp_session;

/* How long a route may take. */
enum tfp_route_cost {
	TFP_ROUTE_INSTANT, /* looks at nothing that is not in memory */
	TFP_ROUTE_BRIEF,   /* may touch the disk, needs no list of runs */
	TFP_ROUTE_LIGHT,   /* lists files, looks into them briefly */
	TFP_ROUTE_HEAVY,   /* reads captures */
	TFP_ROUTE_WAITS,   /* waits for other programs */
};

/* Whether a request has to name a run or a tool. */
enum tfp_route_need { TFP_NOT_NEEDED, TFP_OPTIONAL, TFP_REQUIRED };

/* What an answer is a function of, besides the address: how its tag is made. */
enum tfp_route_basis {
	TFP_OF_BODY,     /* cheap answers, and ones that may come out differently */
	TFP_OF_SNAPSHOT, /* the list of runs: the tag is known without the answer */
	TFP_OF_RUN,      /* the run's files: the same */
	TFP_OF_DOWNLOAD, /* as TFP_OF_RUN; the body is made while it is sent */
};

/* One request on its way through a route's function. */
struct tfp_route_call {
	const struct tfp_question *q;
	const struct tfp_http_post *post; /* NULL unless the route changes something */
	struct tfp_reply *reply;          /* initialised; filled by the route */
	/* Left by a route that opened a session: the hosts that it chose. The snapshot or
	 * chosen holds them; chosen is freed by the caller. */
	struct tfp_capture_file *chosen;
	const struct tfp_capture_file *hosts;
	size_t host_count;
};

struct tfp_route {
	const char *path;
	enum tfp_route_cost cost;
	enum tfp_route_need run, tool;
	enum tfp_route_basis basis;
	/* NULL: the route does not take the method. */
	enum tfp_status (*get)(struct tfp_route_call *call, struct tfp_error *err);
	enum tfp_status (*post)(struct tfp_route_call *call, struct tfp_error *err);
	/* For tfp_route_part: makes a part of a page straight from the captures, as JSON. */
	enum tfp_status (*part)(const struct tfp_session *session, const struct tfp_query *query,
				struct tfp_buf *json, struct tfp_error *err);
};

#endif
