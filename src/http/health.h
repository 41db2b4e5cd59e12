/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells at once whether the server can do its work. The log directory may lie on a file system
 * that does not answer, so a thread of its own looks at it, when a client asks and the last
 * look is old.
 */
#ifndef TFP_HTTP_HEALTH_H
#define TFP_HTTP_HEALTH_H

#include "base/error.h"
#include "store/logdir.h"

#include <stdbool.h>

struct tfp_health;

/* dir must outlive it. Owned by the caller. */
enum tfp_status tfp_health_new(struct tfp_health **out, const struct tfp_logdir *dir,
			       struct tfp_error *err) TFP_CHECK;
/* Waits for a look that is under way. Accepts NULL. */
void tfp_health_free(struct tfp_health *health);

/* TFP_OK, or what was wrong at the last look. Never waits for the file system. Thread-safe. */
enum tfp_status tfp_health_check(struct tfp_health *health, struct tfp_error *err) TFP_CHECK;
/* From now on tfp_health_check says that the server is stopping. */
void tfp_health_stop(struct tfp_health *health);
/* Whether no look is under way, so that freeing does not wait. */
bool tfp_health_idle(struct tfp_health *health);

#endif
