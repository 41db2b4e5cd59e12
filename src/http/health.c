/* SPDX-License-Identifier: Apache-2.0 */
#include "http/health.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"

#include <inttypes.h>
#include <pthread.h>

#define SECOND INT64_C(1000000000)
/* A client that asks regularly is told what the look after its last question found. */
#define FRESH_NS (2 * SECOND)
/* A file system that takes longer for one folder cannot be worked with. */
#define PATIENCE_NS (30 * SECOND)

struct tfp_health {
	const struct tfp_logdir *dir;
	struct tfp_pool *pool; /* one thread */

	pthread_mutex_t lock; /* guards what follows; not held while looking */
	bool looking, stopping;
	int64_t began_ns, ended_ns; /* of the last look */
	struct tfp_error found;     /* by it; TFP_OK at first */
};

enum tfp_status tfp_health_new(struct tfp_health **out, const struct tfp_logdir *dir,
			       struct tfp_error *err)
{
	struct tfp_health *health = tfp_calloc(1, sizeof(*health));
	*out = NULL;
	if (!health)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	health->dir = dir;
	tfp_error_init(&health->found);
	enum tfp_status status = tfp_pool_new(&health->pool, 1, err);
	if (status != TFP_OK) {
		tfp_free(health);
		return status;
	}
	pthread_mutex_init(&health->lock, NULL);
	*out = health;
	return TFP_OK;
}

void tfp_health_free(struct tfp_health *health)
{
	if (!health)
		return;
	tfp_pool_free(health->pool);
	pthread_mutex_destroy(&health->lock);
	tfp_free(health);
}

static void look(void *context)
{
	struct tfp_health *health = context;
	struct tfp_error found;
	tfp_error_init(&found);
	found.status = tfp_logdir_check(health->dir, &found);
	pthread_mutex_lock(&health->lock);
	health->found = found;
	health->ended_ns = tfp_clock_monotonic_ns();
	health->looking = false;
	pthread_mutex_unlock(&health->lock);
}

/* Called with the lock, which the pool's is taken inside of. */
static void look_anew(struct tfp_health *health, int64_t now_ns)
{
	struct tfp_error err;
	if (health->looking || health->stopping ||
	    (health->ended_ns && now_ns - health->ended_ns < FRESH_NS))
		return;
	health->looking = true;
	health->began_ns = now_ns;
	if (tfp_pool_submit(health->pool, look, health, &err) != TFP_OK) {
		health->looking = false;
		health->found = err;
	}
}

enum tfp_status tfp_health_check(struct tfp_health *health, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	int64_t now_ns = tfp_clock_monotonic_ns();
	pthread_mutex_lock(&health->lock);
	look_anew(health, now_ns);
	if (health->stopping) {
		status = tfp_fail(err, TFP_BUSY, "the server is stopping");
	} else if (health->looking && now_ns - health->began_ns > PATIENCE_NS) {
		status = tfp_fail(err, TFP_IO,
				  "the log directory's file system has not answered for %" PRId64
				  " s",
				  (now_ns - health->began_ns) / SECOND);
	} else if (health->found.status != TFP_OK) {
		status = health->found.status;
		if (err)
			*err = health->found;
	}
	pthread_mutex_unlock(&health->lock);
	return status;
}

void tfp_health_stop(struct tfp_health *health)
{
	pthread_mutex_lock(&health->lock);
	health->stopping = true;
	pthread_mutex_unlock(&health->lock);
}

bool tfp_health_idle(struct tfp_health *health)
{
	pthread_mutex_lock(&health->lock);
	bool idle = !health->looking;
	pthread_mutex_unlock(&health->lock);
	return idle;
}
