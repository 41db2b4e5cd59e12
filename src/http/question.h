/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question: a GET request that is understood. The run and the tool that it names are
 * found, and it is known what its answer depends on.
 *
 *     struct tfp_question q;
 *     if (tfp_question_init(&q, route, app, target, false, &err) == TFP_OK)
 *             tfp_question_answer(&q, &reply, NULL, &err);
 *     tfp_question_release(&q);
 *
 * Two questions with the same key have the same answer, so that requests can share one
 * (http/jobs.h) and the answer can be kept.
 */
#ifndef TFP_HTTP_QUESTION_H
#define TFP_HTTP_QUESTION_H

#include "base/buf.h"
#include "base/error.h"
#include "http/app.h"
#include "http/route.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_question {
	const struct tfp_route *route;
	const struct tfp_http_app *app;             /* borrowed */
	const struct tfp_http_target *target;       /* borrowed */
	const struct tfp_logdir_snapshot *snapshot; /* referenced; NULL where none is needed */
	const struct tfp_run *run;                  /* the snapshot's, as the route needs it */
	const struct tfp_tool *tool;                /* as the route needs it */
};

/* at_once: touch no disk, and fail with TFP_BUSY where that is not possible. The caller
 * releases q in any case. */
enum tfp_status tfp_question_init(struct tfp_question *q, const struct tfp_route *route,
				  const struct tfp_http_app *app,
				  const struct tfp_http_target *target, bool at_once,
				  struct tfp_error *err) TFP_CHECK;
void tfp_question_release(struct tfp_question *q);

/* A parameter of the request; NULL when it is absent or empty. */
const char *tfp_question_parameter(const struct tfp_question *q, const char *key);
/* The tool's name as it was asked for: tag, or tool. NULL when there is none. */
const char *tfp_question_tool_name(const struct tfp_question *q);

/* Initialises key, and appends all that the answer is a function of besides the build of the
 * program. Returns whether requests with the same key can have the same answer. */
bool tfp_question_key(const struct tfp_question *q, struct tfp_buf *key);
/* Sets the reply's tag, where it is known without the answer; returns whether it is. build tells
 * one build of the program from another. */
bool tfp_question_tag(const struct tfp_question *q, const struct tfp_buf *key, uint64_t build,
		      struct tfp_reply *reply);
/* Whether reading the answer from the result cache is cheaper than making it. */
bool tfp_question_pays_on_disk(const struct tfp_question *q);
/* Makes the answer, without compression. A tag that is set already stays. *lasting (may be NULL)
 * tells whether the answer may be kept: the files are in the state that the key names. */
enum tfp_status tfp_question_answer(const struct tfp_question *q, struct tfp_reply *reply,
				    bool *lasting, struct tfp_error *err) TFP_CHECK;

#endif
