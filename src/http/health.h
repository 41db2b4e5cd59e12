/*
 * Whether the server can do its work, told at once: the log directory may lie on
 * a file system that does not answer, so it is a thread of its own that looks,
 * when somebody asks and the last look is old.
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

/* TFP_OK, or why not, as the last look found it. Never waits for the file system.
 * Thread-safe. */
enum tfp_status tfp_health_check(struct tfp_health *health, struct tfp_error *err) TFP_CHECK;
/* From now on the check tells that the server is stopping. */
void tfp_health_stop(struct tfp_health *health);
/* Whether nobody is looking: then freeing does not wait. */
bool tfp_health_idle(struct tfp_health *health);

#endif
