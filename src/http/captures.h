/*
 * Captures that the server makes for its clients: a few at a time, each on a
 * thread of its own, remembered for a while after they ended. What is allowed
 * is decided here, and nowhere else.
 *
 *     struct tfp_captures *c;
 *     tfp_captures_new(&c, dir, &config, &err);
 *     tfp_captures_allow(c);
 *     tfp_captures_start(c, body, size, &json, &err);   ... {"id": 1, "run": ...}
 *     tfp_captures_status(c, "1", &json, &err);
 *     tfp_captures_free(c);
 */
#ifndef TFP_HTTP_CAPTURES_H
#define TFP_HTTP_CAPTURES_H

#include "base/buf.h"
#include "base/error.h"
#include "remote/target.h"
#include "store/logdir.h"
#include "tools/tool.h"

#include <stdbool.h>
#include <stddef.h>

#define TFP_CAPTURES_AT_ONCE 4u

struct tfp_captures_config {
	/* Programs that may be asked; count 0: all. */
	struct tfp_target_rule rules[TFP_TARGET_RULES_MAX];
	size_t rule_count;
	bool by_get; /* the peers' form, which changes something by GET */
};

struct tfp_captures;

/* Nothing is allowed yet. dir is borrowed. Owned by the caller. */
enum tfp_status tfp_captures_new(struct tfp_captures **out, struct tfp_logdir *dir,
				 const struct tfp_captures_config *config,
				 struct tfp_error *err) TFP_CHECK;
/* Breaks off what is under way and waits for its end. Accepts NULL. */
void tfp_captures_free(struct tfp_captures *c);
/* The following may be called by several threads at once. */

/* From now on requests are followed. */
void tfp_captures_allow(struct tfp_captures *c);
/* Breaks off what is under way; takes nothing new. */
void tfp_captures_stop(struct tfp_captures *c);

/* The documents of docs/api.md, appended. TFP_FORBIDDEN where capturing or the
 * target is not allowed, TFP_BUSY when there are too many already. */

/* POST /capture_profile, body: JSON. */
enum tfp_status tfp_captures_start(struct tfp_captures *c, const char *body, size_t size,
				   struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* Whether XProf's page may show its button, which sends GET /capture_profile. */
bool tfp_captures_by_get(struct tfp_captures *c);
/* GET /capture_profile: returns when it has ended. */
enum tfp_status tfp_captures_run(struct tfp_captures *c, const struct tfp_query *query,
				 struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;
/* GET /capture_status; id NULL: what is allowed, and the ids there are. */
enum tfp_status tfp_captures_status(struct tfp_captures *c, const char *id, struct tfp_buf *json,
				    struct tfp_error *err) TFP_CHECK;
/* POST /capture_cancel, body: {"id": N}. */
enum tfp_status tfp_captures_cancel(struct tfp_captures *c, const char *body, size_t size,
				    struct tfp_buf *json, struct tfp_error *err) TFP_CHECK;

#endif
