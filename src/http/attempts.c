/* SPDX-License-Identifier: Apache-2.0 */
#include "http/attempts.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "http/network.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#define COUNTERS 1024u
#define STEP_NS  ((int64_t)TFP_ATTEMPT_SECONDS * 1000000000)

struct tfp_attempts {
	pthread_mutex_t lock; /* guards free_ns */
	uint64_t seed;        /* so that nobody finds addresses that share a counter */
	/* When all attempts of a counter would be free again: each pushes it by STEP_NS. */
	int64_t free_ns[COUNTERS];
};

enum tfp_status tfp_attempts_new(struct tfp_attempts **out, struct tfp_error *err)
{
	struct tfp_attempts *a = tfp_calloc(1, sizeof(*a));
	*out = NULL;
	if (!a)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	if (getrandom(&a->seed, sizeof(a->seed), 0) != (ssize_t)sizeof(a->seed)) {
		tfp_free(a);
		return tfp_fail(err, TFP_IO, "the system has no random numbers: %s",
				strerror(errno));
	}
	pthread_mutex_init(&a->lock, NULL);
	*out = a;
	return TFP_OK;
}

void tfp_attempts_free(struct tfp_attempts *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->lock);
	tfp_free(a);
}

static int64_t *counter_of(struct tfp_attempts *a, const struct sockaddr *address)
{
	const struct tfp_network from = tfp_network_of(address);
	return &a->free_ns[tfp_hash_bytes(from.bytes, sizeof(from.bytes), a->seed) % COUNTERS];
}

bool tfp_attempts_exhausted(struct tfp_attempts *a, const struct sockaddr *address, int64_t now_ns)
{
	pthread_mutex_lock(&a->lock);
	bool exhausted = *counter_of(a, address) - now_ns > (TFP_ATTEMPTS - 1) * STEP_NS;
	pthread_mutex_unlock(&a->lock);
	return exhausted;
}

unsigned tfp_attempts_count(struct tfp_attempts *a, const struct sockaddr *address, int64_t now_ns)
{
	pthread_mutex_lock(&a->lock);
	int64_t *free_ns = counter_of(a, address);
	if (*free_ns < now_ns)
		*free_ns = now_ns;
	*free_ns += STEP_NS;
	int64_t used = (*free_ns - now_ns + STEP_NS - 1) / STEP_NS;
	pthread_mutex_unlock(&a->lock);
	return used < (int64_t)TFP_ATTEMPTS ? TFP_ATTEMPTS - (unsigned)used : 0;
}
