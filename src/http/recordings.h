/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recordings that the server makes for its clients: a few at a time, each on a thread of
 * its own. The last ones are remembered. This module alone decides whether clients may
 * record, and from which programs.
 *
 *     struct tfp_recordings *r;
 *     tfp_recordings_new(&r, dir, &config, &err);
 *     tfp_recordings_allow(r);
 *     tfp_recordings_start(r, body, size, &json, &err);   ... {"id": 1, "run": ...}
 *     tfp_recordings_status(r, "1", &json, &err);
 *     tfp_recordings_free(r);
 */
#ifndef TFP_HTTP_RECORDINGS_H
#define TFP_HTTP_RECORDINGS_H

#include "base/buf.h"
#include "base/error.h"
#include "remote/target.h"
#include "store/logdir.h"
#include "tools/tool.h"

#include <stdbool.h>
#include <stddef.h>

#define TFP_RECORDINGS_AT_ONCE 4u

struct tfp_recordings_config {
	/* Programs that may be asked; rule_count 0: all. */
	struct tfp_target_rule rules[TFP_TARGET_RULES_MAX];
	size_t rule_count;
	bool by_get; /* XProf's form, which changes something by GET, is accepted, too */
};

struct tfp_recordings;

/* No request is followed until tfp_recordings_allow. dir is borrowed. Owned by the caller. */
enum tfp_status tfp_recordings_new(struct tfp_recordings **out, struct tfp_logdir *dir,
				   const struct tfp_recordings_config *config,
				   struct tfp_error *err) TFP_CHECK;
/* Cancels recordings that are under way, and waits for their end. Accepts NULL. */
void tfp_recordings_free(struct tfp_recordings *r);

/* All that follow are thread-safe. */

/* From now on requests are followed. */
void tfp_recordings_allow(struct tfp_recordings *r);
/* Cancels recordings that are under way, waits for their end, and takes no new ones. */
void tfp_recordings_stop(struct tfp_recordings *r);

/* These append the documents of docs/api.md. TFP_FORBIDDEN when capturing or the target is not
 * allowed, TFP_BUSY when too many are under way. */

/* POST /capture_profile, body: JSON. */
enum tfp_status tfp_recordings_start(struct tfp_recordings *r, const char *body, size_t size,
				     struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* Whether XProf's page may show its button, which sends GET /capture_profile. */
bool tfp_recordings_by_get(struct tfp_recordings *r);
/* GET /capture_profile: returns when the recording has ended. */
enum tfp_status tfp_recordings_run(struct tfp_recordings *r, const struct tfp_query *query,
				   struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* GET /capture_status. id NULL: what is allowed, and which ids there are. */
enum tfp_status tfp_recordings_status(struct tfp_recordings *r, const char *id,
				      struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* POST /capture_cancel, body: {"id": N}. */
enum tfp_status tfp_recordings_cancel(struct tfp_recordings *r, const char *body, size_t size,
				      struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;

#endif
