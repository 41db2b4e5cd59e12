/* SPDX-License-Identifier: Apache-2.0 */
#include "http/limits.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "http/network.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MS         INT64_C(1000000)
#define NEVER      INT64_MAX
#define OTHERS     64u /* connections from one address elsewhere */
#define FILES_KEPT 128u
/* A client that has just come is not sent away for another newcomer. */
#define GRACE_NS (1000 * MS)

struct tfp_client {
	struct tfp_client *next, *before;
	int fd;
	struct tfp_network network;
	bool closing; /* its socket is shut; guarded by the lock */
	atomic_int phase;
	atomic_int_least64_t since_ns, deadline_ns; /* of the phase */
};

struct tfp_limits {
	struct tfp_limits_config config;
	struct tfp_metrics *metrics;
	pthread_t thread;
	bool running;

	pthread_mutex_t lock; /* guards what follows; sockets are shut with it held */
	pthread_cond_t changed;
	bool stopping;
	struct tfp_client *first;
	unsigned count;   /* of those in the list that are not closing */
	unsigned present; /* all in the list: each has a descriptor */
};

struct tfp_limits_config tfp_limits_defaults(void)
{
	return (struct tfp_limits_config){
		.connections = 2000,
		.per_client = TFP_PER_CLIENT_DEFAULT,
		.head_ms = 15000,
		.body_ms = 30000,
		.answer_ms = 60000,
		.idle_ms = 75000,
		.bytes_per_s = 16 << 10,
	};
}

/* ---- sending away ---- */

static void shut(struct tfp_limits *limits, struct tfp_client *client, enum tfp_metric why)
{
	/* Whoever owns the descriptor notices, and closes it. */
	shutdown(client->fd, SHUT_RDWR);
	client->closing = true;
	limits->count--;
	tfp_metrics_add(limits->metrics, why, 1);
}

static enum tfp_metric reason(int phase)
{
	if (phase == TFP_PHASE_BODY)
		return TFP_METRIC_CLOSED_SLOW_BODY;
	if (phase == TFP_PHASE_ANSWER)
		return TFP_METRIC_CLOSED_SLOW_READER;
	return TFP_METRIC_CLOSED_SLOW_HEAD;
}

static void shut_late_ones(struct tfp_limits *limits, int64_t now_ns)
{
	for (struct tfp_client *c = limits->first; c; c = c->next) {
		if (c->closing || atomic_load(&c->deadline_ns) > now_ns)
			continue;
		int phase = atomic_load(&c->phase);
		shut(limits, c, phase == TFP_PHASE_IDLE ? TFP_METRIC_CLOSED_IDLE : reason(phase));
	}
}

/* How long to wait before looking again. Deadlines that are set meanwhile are later. */
static int64_t tick_ns(const struct tfp_limits *limits)
{
	const struct tfp_limits_config *c = &limits->config;
	unsigned ms = c->head_ms;
	if (c->body_ms < ms)
		ms = c->body_ms;
	if (c->answer_ms < ms)
		ms = c->answer_ms;
	if (c->idle_ms < ms)
		ms = c->idle_ms;
	return (ms / 4 + 10) * MS;
}

static void *watch(void *context)
{
	struct tfp_limits *limits = context;
	pthread_mutex_lock(&limits->lock);
	while (!limits->stopping) {
		if (!limits->first) {
			pthread_cond_wait(&limits->changed, &limits->lock);
			continue;
		}
		int64_t now_ns = tfp_clock_monotonic_ns();
		shut_late_ones(limits, now_ns);
		int64_t until_ns = now_ns + tick_ns(limits);
		const struct timespec until = {.tv_sec = until_ns / (1000 * MS),
					       .tv_nsec = until_ns % (1000 * MS)};
		while (!limits->stopping && tfp_clock_monotonic_ns() < until_ns)
			pthread_cond_timedwait(&limits->changed, &limits->lock, &until);
	}
	pthread_mutex_unlock(&limits->lock);
	return NULL;
}

/* ---- coming and going ---- */

static unsigned connections_for(unsigned wanted)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return wanted;
	/* Descriptors that stay free for captures, the cache and calls to other programs. */
	uint64_t files = limit.rlim_cur;
	uint64_t room = files > 4 * FILES_KEPT ? files - FILES_KEPT : files / 2;
	if (wanted > room)
		wanted = (unsigned)room;
	return wanted ? wanted : 1;
}

enum tfp_status tfp_limits_new(struct tfp_limits **out, const struct tfp_limits_config *config,
			       struct tfp_metrics *metrics, struct tfp_error *err)
{
	struct tfp_limits *limits = tfp_calloc(1, sizeof(*limits));
	pthread_condattr_t attributes;
	struct rlimit files;
	*out = NULL;
	if (!limits)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	limits->config = *config;
	limits->config.connections = connections_for(config->connections);
	limits->metrics = metrics;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
		tfp_metrics_set(metrics, TFP_METRIC_OPEN_FILES_MAX, (int64_t)files.rlim_cur);
	pthread_mutex_init(&limits->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&limits->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	int error = pthread_create(&limits->thread, NULL, watch, limits);
	limits->running = error == 0;
	if (error) {
		tfp_limits_free(limits);
		return tfp_fail(err, TFP_IO, "cannot start a thread: %s", strerror(error));
	}
	*out = limits;
	return TFP_OK;
}

void tfp_limits_free(struct tfp_limits *limits)
{
	if (!limits)
		return;
	pthread_mutex_lock(&limits->lock);
	limits->stopping = true;
	pthread_cond_signal(&limits->changed);
	pthread_mutex_unlock(&limits->lock);
	if (limits->running)
		pthread_join(limits->thread, NULL);
	pthread_cond_destroy(&limits->changed);
	pthread_mutex_destroy(&limits->lock);
	tfp_free(limits);
}

unsigned tfp_limits_connections(const struct tfp_limits *limits)
{
	return limits->config.connections;
}

/* Shuts the connection that has been in the phase for the longest, if for at least age_ns. of:
 * only connections from there; NULL: from anywhere. */
static bool shut_oldest(struct tfp_limits *limits, enum tfp_phase phase, int64_t age_ns,
			const struct tfp_network *of)
{
	struct tfp_client *oldest = NULL;
	int64_t least = tfp_clock_monotonic_ns() - age_ns;
	for (struct tfp_client *c = limits->first; c; c = c->next) {
		if (c->closing || atomic_load(&c->phase) != (int)phase ||
		    (of && !tfp_network_equal(&c->network, of)) ||
		    atomic_load(&c->since_ns) > least)
			continue;
		least = atomic_load(&c->since_ns);
		oldest = c;
	}
	if (oldest)
		shut(limits, oldest, TFP_METRIC_CLOSED_FOR_ROOM);
	return oldest != NULL;
}

/* How many more there may be from there. */
static unsigned places_left(const struct tfp_limits *limits, const struct tfp_network *network)
{
	unsigned most = limits->config.per_client, count = 0;
	if (most == TFP_PER_CLIENT_DEFAULT)
		most = tfp_network_is_local(network) ? 0 : OTHERS;
	if (most == 0)
		return UINT_MAX;
	for (const struct tfp_client *c = limits->first; c; c = c->next)
		count += !c->closing && tfp_network_equal(&c->network, network);
	return count < most ? most - count : 0;
}

static bool admit_network(struct tfp_limits *limits, const struct tfp_network *network)
{
	if (places_left(limits, network) || shut_oldest(limits, TFP_PHASE_IDLE, 0, network))
		return true;
	tfp_metrics_add(limits->metrics, TFP_METRIC_REFUSED_PER_CLIENT, 1);
	return false;
}

static bool admit_another(struct tfp_limits *limits)
{
	unsigned most = limits->config.connections;
	if (limits->count >= most - most / 5)
		shut_oldest(limits, TFP_PHASE_IDLE, 0, NULL);
	if (limits->count >= most - most / 20)
		shut_oldest(limits, TFP_PHASE_HEAD, GRACE_NS, NULL);
	/* Connections that are closing still have their descriptors, for a moment. */
	unsigned leaving = 1 + (most / 4 < 64 ? most / 4 : 64);
	if (limits->count < most && limits->present < most + leaving)
		return true;
	tfp_metrics_add(limits->metrics, TFP_METRIC_REFUSED_TOTAL, 1);
	return false;
}

bool tfp_limits_admit(struct tfp_limits *limits, const struct sockaddr *address)
{
	const struct tfp_network network = tfp_network_of(address);
	pthread_mutex_lock(&limits->lock);
	bool ok = admit_network(limits, &network) && admit_another(limits);
	pthread_mutex_unlock(&limits->lock);
	return ok;
}

struct tfp_client *tfp_limits_enter(struct tfp_limits *limits, int fd,
				    const struct sockaddr *address)
{
	struct tfp_client *client = tfp_calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->fd = fd;
	client->network = tfp_network_of(address);
	atomic_init(&client->phase, TFP_PHASE_IDLE);
	tfp_client_phase(limits, client, TFP_PHASE_HEAD, 0);
	pthread_mutex_lock(&limits->lock);
	/* Another thread may have admitted somebody since this one was. */
	bool late = places_left(limits, &client->network) == 0;
	client->next = limits->first;
	if (client->next)
		client->next->before = client;
	else
		pthread_cond_signal(&limits->changed);
	limits->first = client;
	limits->count++;
	limits->present++;
	if (late)
		shut(limits, client, TFP_METRIC_REFUSED_PER_CLIENT);
	pthread_mutex_unlock(&limits->lock);
	return client;
}

void tfp_limits_leave(struct tfp_limits *limits, struct tfp_client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&limits->lock);
	*(client->before ? &client->before->next : &limits->first) = client->next;
	if (client->next)
		client->next->before = client->before;
	limits->count -= !client->closing;
	limits->present--;
	pthread_mutex_unlock(&limits->lock);
	tfp_free(client);
}

void tfp_client_phase(struct tfp_limits *limits, struct tfp_client *client, enum tfp_phase phase,
		      size_t bytes)
{
	if (!client || (phase == TFP_PHASE_HEAD && atomic_load(&client->phase) == (int)phase))
		return;
	const struct tfp_limits_config *c = &limits->config;
	int64_t now_ns = tfp_clock_monotonic_ns(), deadline_ns = NEVER;
	if (phase == TFP_PHASE_HEAD)
		deadline_ns = now_ns + c->head_ms * MS;
	else if (phase == TFP_PHASE_BODY)
		deadline_ns = now_ns + c->body_ms * MS;
	else if (phase == TFP_PHASE_ANSWER)
		deadline_ns =
			now_ns + c->answer_ms * MS + (int64_t)(bytes / c->bytes_per_s) * 1000 * MS;
	else if (phase == TFP_PHASE_IDLE)
		deadline_ns = now_ns + c->idle_ms * MS;
	/* Never an old deadline with a new phase: it would be closed for the wrong one. */
	atomic_store(&client->deadline_ns, NEVER);
	atomic_store(&client->since_ns, now_ns);
	atomic_store(&client->phase, phase);
	atomic_store(&client->deadline_ns, deadline_ns);
}
