/* SPDX-License-Identifier: Apache-2.0 */
#include "http/server.h"

#include "base/alloc.h"
#include "base/log.h"
#include "http/recordings.h"
#include "http/server_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONNECTION_THREADS 2u
#define LIGHT_THREADS      2u
#define HEAVY_THREADS      8u
/* Answers that may wait for a heavy thread, in all and for one network. */
#define QUEUE_MAX         128u
#define QUEUE_MAX_NETWORK 32u
#define IDLE_SECONDS      75u
/* libmicrohttpd's memory for a connection: the largest head that it is given, its lists of what is
 * in it, and the head of an answer. */
#define HEAD_MEMORY (64 << 10)
/* It refuses requests that it knows to be wrong, too. */
#if MHD_VERSION >= 0x00097701
#define STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL
#else
#define STRICTNESS MHD_OPTION_STRICT_FOR_CLIENT
#endif

static enum MHD_Result admit(void *context, const struct sockaddr *address, socklen_t size)
{
	struct tfp_http_server *server = context;
	(void)size;
	if (atomic_load(&server->closing))
		return MHD_NO;
	return tfp_limits_admit(server->limits, address) ? MHD_YES : MHD_NO;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **state,
			       enum MHD_ConnectionNotificationCode code)
{
	struct tfp_http_server *server = context;
	bool begins = code == MHD_CONNECTION_NOTIFY_STARTED;
	if (begins) {
		int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;
		struct tfp_client *client =
			tfp_limits_enter(server->limits, fd, tfp_client_address(connection));
		struct tfp_intake *intake =
			tfp_intake_new(fd, server->encrypted, server->limits, client);
		if (!intake)
			tfp_limits_leave(server->limits, client);
		*state = intake;
	} else {
		struct tfp_intake *intake = *state;
		struct tfp_client *client = tfp_intake_client(intake);
		tfp_intake_free(intake);
		tfp_limits_leave(server->limits, client);
		*state = NULL;
	}
	tfp_metrics_add(server->metrics, TFP_METRIC_CONNECTIONS, begins ? 1 : -1);
	tfp_metrics_add(server->metrics, TFP_METRIC_ACCEPTED, begins);
}

__attribute__((format(printf, 2, 0))) static void log_line(void *context, const char *format,
							   va_list args)
{
	char line[512];
	(void)context;
	vsnprintf(line, sizeof(line), format, args);
	size_t size = strlen(line);
	if (size && line[size - 1] == '\n')
		line[size - 1] = '\0';
	/* Without a descriptor for a new connection, a thread that has no connections would try
	 * again at once, and do nothing else. */
	if (strstr(line, "resource limit"))
		nanosleep(&(const struct timespec){.tv_nsec = 20000000}, NULL);
	tfp_log_verbose("http: %s", line);
}

enum tfp_status tfp_http_server_start(struct tfp_http_server **out,
				      const struct tfp_http_config *config,
				      const struct tfp_http_app *app, struct tfp_error *err)
{
	struct tfp_http_server *server = tfp_calloc(1, sizeof(*server));
	*out = NULL;
	if (!server)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	pthread_rwlock_init(&server->handing_over, NULL);
	server->listener = config->listener;
	server->app = *app;
	server->build = config->build;
	server->encrypted = config->tls != NULL;
	server->prefix = tfp_strdup(config->url_prefix);
	enum tfp_status status = TFP_OK;
	server->metrics = tfp_metrics_new(tfp_route_path, tfp_route_count());
	if (!server->prefix || !server->metrics)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a server");
	if (status == TFP_OK)
		status = tfp_health_new(&server->health, app->dir, err);
	if (status == TFP_OK)
		status = tfp_limits_new(&server->limits, &config->limits, server->metrics, err);
	server->app.metrics = server->metrics;
	server->app.health = server->health;
	if (status == TFP_OK)
		status = tfp_gate_init(&server->gate, config->access, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&server->light, LIGHT_THREADS, err);
	const struct tfp_jobs_config jobs = {
		.app = &server->app,
		.build = config->build,
		.memory_bytes = config->answer_bytes,
		.threads = HEAVY_THREADS,
		.queue_max = QUEUE_MAX,
		.network_max = QUEUE_MAX_NETWORK,
	};
	if (status == TFP_OK)
		status = tfp_jobs_new(&server->jobs, &jobs, err);
	server->app.jobs = server->jobs;
	if (status == TFP_OK)
		status = tfp_pool_new(&server->waiting, TFP_RECORDINGS_AT_ONCE, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&server->streams, TFP_STREAMS_MAX, err);
	if (status != TFP_OK) {
		tfp_http_server_free(server);
		return status;
	}
	/* Our limit comes first. A thread that reaches its own limit takes no connection any more,
	 * not even one that there would be room for. */
	unsigned most = tfp_limits_connections(server->limits);
	most = CONNECTION_THREADS * (most + most / 10 + 8);
	/* The daemon closes the one that it gets. */
	int listener = fcntl(server->listener->fd, F_DUPFD_CLOEXEC, 0);
	const struct MHD_OptionItem options[] = {
		/* First, as the others count in it. */
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)log_line, NULL},
		{MHD_OPTION_LISTEN_SOCKET, listener, NULL},
		{MHD_OPTION_THREAD_POOL_SIZE, CONNECTION_THREADS, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, most, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MEMORY, NULL},
		{STRICTNESS, 1, NULL},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)tfp_exchange_begin, server},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)tfp_exchange_end, server},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection_changed, server},
		{MHD_OPTION_END, 0, NULL},
	};
	const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
	const struct MHD_OptionItem encrypted[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, config->tls ? config->tls->certificate : NULL},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, config->tls ? config->tls->key : NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TFP_TLS_PRIORITIES},
		{MHD_OPTION_END, 0, NULL},
	};
	if (listener >= 0)
		server->daemon = MHD_start_daemon(
			MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
				MHD_USE_ERROR_LOG | (config->tls ? MHD_USE_TLS : 0),
			0, admit, server, tfp_exchange_handle, server, MHD_OPTION_ARRAY, options,
			MHD_OPTION_ARRAY, config->tls ? encrypted : plain, MHD_OPTION_END);
	if (!server->daemon) {
		tfp_http_server_free(server);
		return tfp_fail(err, TFP_IO, "cannot start the HTTP server");
	}
	*out = server;
	return TFP_OK;
}

void tfp_http_server_stop(struct tfp_http_server *server)
{
	atomic_store(&server->closing, true);
	tfp_health_stop(server->health);
	/* New clients are sent away until the daemon has ended. MHD_quiesce_daemon would do that,
	 * but with epoll it may abort: it and a worker both take the descriptor out of the worker's
	 * set, and the second of them calls that fatal. */
	tfp_listener_stop(server->listener);
}

bool tfp_http_server_idle(const struct tfp_http_server *server)
{
	return atomic_load(&server->active) == 0 && tfp_health_idle(server->health);
}

void tfp_http_server_free(struct tfp_http_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		tfp_http_server_stop(server);
	/* Jobs end before libmicrohttpd does, which must not be stopped with suspended connections.
	 * Clients of open connections go on asking meanwhile. None of these requests becomes a
	 * job. */
	atomic_store(&server->stopping, true);
	pthread_rwlock_wrlock(&server->handing_over);
	pthread_rwlock_unlock(&server->handing_over);
	tfp_pool_free(server->light);
	tfp_jobs_free(server->jobs);
	tfp_pool_free(server->streams);
	tfp_pool_free(server->waiting);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	tfp_gate_release(&server->gate);
	tfp_health_free(server->health);
	tfp_limits_free(server->limits);
	tfp_metrics_free(server->metrics);
	pthread_rwlock_destroy(&server->handing_over);
	tfp_free(server->prefix);
	tfp_free(server);
}
