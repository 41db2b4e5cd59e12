/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the address of a request for two composed runs, and what comes after its
 * first line as the body of a POST: names of runs and hosts, every parameter of every
 * route, expressions to search by. Whatever is asked gets a whole answer. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "http/health.h"
#include "http/jobs.h"
#include "http/metrics.h"
#include "http/page.h"
#include "http/recordings.h"
#include "http/router.h"
#include "store/capture_cache.h"
#include "support/sample_capture.h"
#include "tools/run_info.h"

#include <string.h>

#define ANSWER_MAX ((size_t)64 << 20)

static struct tfp_http_app app;

static void put_capture(const char *path, enum sample_device device)
{
	struct builder *b = sample_capture(device);
	size_t size;
	uint8_t *bytes = builder_bytes(b, &size);
	builder_free(b);
	MUST(fuzz_write(path, bytes, size));
	free(bytes);
}

static void release(void)
{
	tfp_jobs_free(app.jobs);
	tfp_health_free(app.health);
	tfp_metrics_free(app.metrics);
	tfp_recordings_free(app.recordings);
	tfp_run_info_free(app.info);
	tfp_capture_cache_free(app.cache);
	tfp_logdir_free(app.dir);
}

static void prepare(void)
{
	/* Nothing is ever started: capturing is not allowed. */
	static const struct tfp_recordings_config config = {.by_get = true};
	struct tfp_error err;
	put_capture("plugins/profile/a/x.xplane.pb", SAMPLE_GPU);
	put_capture("plugins/profile/a/y.xplane.pb", SAMPLE_NO_DEVICE);
	put_capture("train/plugins/profile/b/z.xplane.pb", SAMPLE_TPU);
	MUST(tfp_logdir_new(&app.dir, fuzz_folder(), 0, &err) == TFP_OK);
	MUST(tfp_capture_cache_new(&app.cache, app.dir, 1 << 28, NULL, &err) == TFP_OK);
	MUST(tfp_run_info_new(&app.info, app.dir, 1 << 24, NULL, &err) == TFP_OK);
	MUST(tfp_recordings_new(&app.recordings, app.dir, &config, &err) == TFP_OK);
	/* What a server adds. Answers are made by the target itself. */
	const struct tfp_jobs_config jobs = {.app = &app, .threads = 1};
	app.metrics = tfp_metrics_new(tfp_route_path, tfp_route_count());
	MUST(app.metrics);
	MUST(tfp_health_new(&app.health, app.dir, &err) == TFP_OK);
	MUST(tfp_jobs_new(&app.jobs, &jobs, &err) == TFP_OK);
	atexit(release);
}

static enum tfp_status count(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	size_t *sum = context;
	(void)bytes;
	*sum += size;
	MUST(*sum <= ANSWER_MAX);
	(void)err;
	return TFP_OK;
}

static void check(struct tfp_reply *reply)
{
	struct tfp_error err;
	size_t sum = 0;
	/* What went wrong is the client's doing. */
	MUST(reply->status == 200 || (reply->status >= 400 && reply->status < 500));
	MUST(!tfp_buf_failed(&reply->body) && reply->body.size <= ANSWER_MAX);
	if (reply->stream.write) {
		const struct tfp_sink sink = {count, &sum};
		MUST(reply->stream.write(reply->stream.context, &sink, &err) == TFP_OK);
		MUST(sum > 0);
	} else if (strcmp(reply->content_type, "application/json") == 0) {
		fuzz_check_json(reply->body.data, reply->body.size);
	} else if (!reply->fixed) {
		MUST(tfp_utf8_valid(reply->body.data, reply->body.size));
	}
	MUST(strspn(reply->download, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789_-.") == strlen(reply->download));
	if (reply->location)
		MUST(reply->location[0] != '/' && !strchr(reply->location, '\\'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_http_target target;
	struct tfp_arena arena;
	struct tfp_error err;
	struct tfp_reply reply;
	if (!app.dir)
		prepare();
	char *text = malloc(size + 1);
	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	char *body = strchr(text, '\n');
	if (body)
		*body++ = '\0';
	tfp_arena_init(&arena, 1 << 20);
	if (tfp_http_target_parse(&target, text, "/some/prefix", &arena, &err) == TFP_OK) {
		const struct tfp_route *route = tfp_route_find(target.path);
		const struct tfp_http_post post = {.posted = body != NULL,
						   .body = body ? body : "",
						   .size = body ? strlen(body) : 0};
		struct tfp_http_conditions conditions = {0};
		MUST(tfp_utf8_valid(target.path, strlen(target.path)));
		MUST(target.query.count <= TFP_HTTP_PARAMS_MAX);
		bool posted = route && body && route->post;
		if (route && route->post)
			conditions.post = &post;
		tfp_reply_init(&reply);
		if (!route)
			tfp_page_answer(&target, &conditions, &reply);
		else if (posted || route->get) {
			struct tfp_http_post got = post;
			got.posted = posted;
			if (conditions.post)
				conditions.post = &got;
			tfp_route_answer(route, &app, 1, &target, &conditions, &reply);
		}
		if (reply.status != 308 && (!route || posted || route->get))
			check(&reply);
		tfp_reply_release(&reply);
	} else {
		MUST(err.status == TFP_BAD_QUERY && err.message[0]);
	}
	tfp_arena_release(&arena);
	free(text);
	return 0;
}
