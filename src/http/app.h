/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server's answers are made from: one of each, shared by all requests.
 */
#ifndef TFP_HTTP_APP_H
#define TFP_HTTP_APP_H

struct tfp_error;
struct tfp_reply;

/* All borrowed. */
struct tfp_http_app {
	struct tfp_logdir *dir;
	struct tfp_capture_cache *cache;
	struct tfp_result_cache *results; /* may be NULL */
	struct tfp_run_info *info;
	struct tfp_run_clocks *clocks;       /* may be NULL */
	const struct tfp_given_peaks *peaks; /* may be NULL */
	struct tfp_pool *pool;               /* for work within an answer; may be NULL */
	struct tfp_recordings *recordings;
	/* Of the server itself, which fills them in. */
	struct tfp_metrics *metrics;
	struct tfp_health *health;
	struct tfp_jobs *jobs;
};

/* As tfp_reply_error. Where the log directory lies is left out of the texts, if it is hidden
 * (tfp_logdir_hide_path). */
void tfp_app_error(const struct tfp_http_app *app, const struct tfp_error *err,
		   struct tfp_reply *reply);

#endif
