/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_die(const char *what, const struct tfp_error *err)
{
	char text[1024];
	fprintf(stderr, "%s: %s\n", what, err ? tfp_error_text(err, text, sizeof(text)) : "");
	exit(1);
}

void bench_open(struct tfp_http_app *app, const char *logdir, const char *results,
		struct tfp_pool *pool)
{
	struct tfp_error err;
	*app = (struct tfp_http_app){.pool = pool};
	if (tfp_logdir_new(&app->dir, logdir, 0, &err) != TFP_OK ||
	    tfp_capture_cache_new(&app->cache, app->dir, UINT64_MAX, pool, &err) != TFP_OK ||
	    (results && tfp_result_cache_new(&app->results, results, logdir, (uint64_t)1 << 30, 1,
					     &err) != TFP_OK))
		bench_die(logdir, &err);
}

void bench_close(struct tfp_http_app *app)
{
	tfp_result_cache_free(app->results);
	tfp_capture_cache_free(app->cache);
	tfp_logdir_free(app->dir);
}

static void escape(const char *text, char *out, size_t size)
{
	size_t n = 0;
	for (; *text && n + 4 < size; text++)
		n += (size_t)snprintf(out + n, size - n,
				      strchr("/&=%+ #?", *text) ? "%%%02X" : "%c",
				      (unsigned char)*text);
	out[n] = '\0';
}

void bench_run_name(const struct tfp_http_app *app, char *name, size_t size)
{
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_error err;
	if (tfp_logdir_snapshot(app->dir, &snapshot, &err) != TFP_OK)
		bench_die("log directory", &err);
	if (snapshot->run_count == 0)
		bench_die("log directory: no captures", NULL);
	escape(snapshot->runs[0].name, name, size);
	tfp_logdir_snapshot_unref(snapshot);
}

void bench_ask(const struct tfp_http_app *app, const char *uri, const char *encoding,
	       struct tfp_reply *reply)
{
	struct tfp_arena arena;
	struct tfp_http_target target;
	struct tfp_error err;
	struct tfp_http_conditions conditions = {.accept_encoding = encoding};
	tfp_arena_init(&arena, 1 << 20);
	tfp_reply_init(reply);
	if (tfp_http_target_parse(&target, uri, "", &arena, &err) != TFP_OK)
		bench_die(uri, &err);
	const struct tfp_route *route = tfp_route_find(target.path);
	if (!route)
		bench_die(target.path, NULL);
	tfp_route_answer(route, app, 1, &target, &conditions, reply);
	if (reply->status != 200)
		bench_die(tfp_buf_text(&reply->body), NULL);
	tfp_arena_release(&arena);
}

unsigned long bench_first_answer(const char *logdir, const char *results, const char *tool,
				 const char *host, struct tfp_pool *pool)
{
	struct tfp_http_app app;
	struct tfp_reply reply;
	char run[512], uri[1024];
	bench_open(&app, logdir, results, pool);
	bench_run_name(&app, run, sizeof(run));
	snprintf(uri, sizeof(uri), "/data?run=%s&tag=%s%s%s", run, tool, host ? "&host=" : "",
		 host ? host : "");
	bench_ask(&app, uri, NULL, &reply);
	unsigned long bytes = reply.body.size;
	tfp_reply_release(&reply);
	bench_close(&app);
	return bytes;
}
