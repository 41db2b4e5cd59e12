/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool works on: the chosen hosts of one run.
 */
#ifndef TFP_SESSION_SESSION_H
#define TFP_SESSION_SESSION_H

#include "store/capture_cache.h"
#include "store/logdir.h"
#include "store/result_cache.h"

#include <stdint.h>

#define TFP_ALL_HOSTS "ALL_HOSTS"

struct tfp_given_peaks;
struct tfp_run_clocks;

struct tfp_session {
	struct tfp_capture_cache *cache;     /* borrowed */
	struct tfp_result_cache *results;    /* borrowed, may be NULL: nothing is kept on disk */
	struct tfp_pool *pool;               /* borrowed, may be NULL */
	struct tfp_run_clocks *clocks;       /* borrowed, may be NULL: see run_clock.h */
	const struct tfp_given_peaks *peaks; /* borrowed, may be NULL: see given_peaks.h */
	const struct tfp_run *run;           /* borrowed from a snapshot */
	/* The chosen hosts: all of the run's, or one. */
	const struct tfp_capture_file *hosts;
	size_t host_count;
};

/* host: a host's name, ALL_HOSTS, NULL or "" for all. TFP_NOT_FOUND with a
 * message that names host and run. */
enum tfp_status tfp_session_init(struct tfp_session *session, struct tfp_capture_cache *cache,
				 struct tfp_result_cache *results, struct tfp_pool *pool,
				 const struct tfp_run *run, const char *host,
				 struct tfp_error *err) TFP_CHECK;

/* Narrows a session of all hosts to those named in a list with commas, or keeps all of them for
 * ALL_HOSTS. chosen has room for all hosts of the run and must outlive the session.
 * TFP_NOT_FOUND for a name that is no host's. */
enum tfp_status tfp_session_choose(struct tfp_session *session, const char *names,
				   struct tfp_capture_file *chosen,
				   struct tfp_error *err) TFP_CHECK;

/* The place of one of the session's hosts among all hosts of the run. Numbers of tracks begin
 * with it, whichever hosts were chosen. */
uint32_t tfp_session_host_index(const struct tfp_session *session, const char *host);

#endif
