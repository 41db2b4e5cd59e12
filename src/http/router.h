/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a path to an answer: the list of routes (docs/api.md), and how a request for one
 * of them is answered. Knows requests and replies, and nothing of connections.
 */
#ifndef TFP_HTTP_ROUTER_H
#define TFP_HTTP_ROUTER_H

#include "http/app.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/route.h"

#include <stdint.h>

/* NULL when there is none; files of the page are not routes (http/page.h). */
const struct tfp_route *tfp_route_find(const char *path);
/* Routes are numbered from 0. */
unsigned tfp_route_count(void);
const char *tfp_route_path(unsigned number);
unsigned tfp_route_number(const struct tfp_route *route);
/* The methods that a route takes, for an Allow header: "GET, HEAD" and the like. */
const char *tfp_route_methods(const struct tfp_route *route);

/* Fills an initialised reply, errors included. build is a number that tells one build of the
 * program from another: it is part of the tags. */
void tfp_route_answer(const struct tfp_route *route, const struct tfp_http_app *app, uint64_t build,
		      const struct tfp_http_target *target,
		      const struct tfp_http_conditions *conditions, struct tfp_reply *reply);

#endif
