/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that several ask for: one job for each key, joined, kept, refused, stopped. */
#include "testing.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/progress.h"
#include "http/jobs.h"
#include "http/reply_cache.h"
#include "http/router.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/tfprof-answers-XXXXXX";
static struct tfp_logdir *dir;
static struct tfp_http_app app;

/* ---- answers that take as long as the test likes ---- */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static bool gate_open;
static atomic_uint begun, ended, stopped;
static atomic_bool fails, passing, partial;

static void nap(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	nanosleep(&ms, NULL);
}

static bool is_open(void)
{
	pthread_mutex_lock(&gate_lock);
	bool open = gate_open;
	pthread_mutex_unlock(&gate_lock);
	return open;
}

static void set_gate(bool open)
{
	pthread_mutex_lock(&gate_lock);
	gate_open = open;
	pthread_mutex_unlock(&gate_lock);
}

/* Its body is long enough to be compressed, and names the request. */
static enum tfp_status make(const struct tfp_question *q, struct tfp_reply *reply, bool *lasting,
			    struct tfp_error *err)
{
	atomic_fetch_add(&begun, 1);
	tfp_progress_stage(TFP_STAGE_READING);
	tfp_progress_expect_bytes(100);
	tfp_progress_add_bytes(25);
	tfp_progress_add_events(7);
	const char *needs = strstr(q->target->search, "needs");
	void *memory = NULL;
	if (needs) {
		memory = tfp_malloc(strtoul(needs + 5, NULL, 10) << 20);
		if (!memory)
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the test");
	}
	while (!is_open() && !tfp_cancelled())
		nap();
	tfp_free(memory);
	if (tfp_cancelled()) {
		atomic_fetch_add(&stopped, 1);
		return tfp_fail_cancelled(err);
	}
	atomic_fetch_add(&ended, 1);
	*lasting = !atomic_load(&passing);
	if (atomic_load(&partial))
		tfp_progress_partial();
	if (atomic_load(&fails))
		return tfp_fail(err, TFP_IO, "it does not work");
	for (int i = 0; i < 200; i++)
		tfp_buf_printf(&reply->body, "%s %d\n", q->target->search, i);
	return TFP_OK;
}

static int set_up(void **state)
{
	char path[512];
	static const char *const parts[] = {"/plugins", "/plugins/profile", "/plugins/profile/r"};
	struct tfp_error err;
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < COUNT(parts); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, parts[i]);
		if (mkdir(path, 0700) != 0)
			return -1;
	}
	snprintf(path, sizeof(path), "%s/plugins/profile/r/h.xplane.pb", folder);
	FILE *f = fopen(path, "w");
	if (!f || fputs("bytes", f) < 0 || fclose(f) != 0)
		return -1;
	if (tfp_logdir_new(&dir, folder, 0, &err) != TFP_OK)
		return -1;
	app.dir = dir;
	return 0;
}

static int tear_down(void **state)
{
	char path[512];
	static const char *const parts[] = {"/plugins/profile/r/h.xplane.pb", "/plugins/profile/r",
					    "/plugins/profile", "/plugins", ""};
	(void)state;
	tfp_logdir_free(dir);
	for (size_t i = 0; i < COUNT(parts); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, parts[i]);
		remove(path);
	}
	return 0;
}

static struct tfp_jobs *new_jobs(unsigned threads, unsigned queue, unsigned network)
{
	const struct tfp_jobs_config config = {
		.app = &app,
		.build = 1,
		.memory_bytes = 1 << 20,
		.threads = threads,
		.queue_max = queue,
		.network_max = network,
		.make = make,
	};
	struct tfp_jobs *jobs;
	struct tfp_error err;
	atomic_store(&begun, 0);
	atomic_store(&ended, 0);
	atomic_store(&stopped, 0);
	atomic_store(&fails, false);
	atomic_store(&passing, false);
	atomic_store(&partial, false);
	set_gate(false);
	if (tfp_jobs_new(&jobs, &config, &err) != TFP_OK)
		fail_msg("%s", err.message);
	return jobs;
}

/* ---- one that asks ---- */

struct asker {
	struct tfp_waiter waiter;
	struct tfp_http_target target;
	struct tfp_param params[2];
	struct tfp_reply reply;
	char search[64];
	int peer; /* the client's end; -1: it never hangs up */
	atomic_bool done;
};

static void is_done(struct tfp_waiter *w)
{
	struct asker *a = w->context;
	atomic_store(&a->done, true);
}

static void prepare(struct asker *a, const char *what, bool hangs_up, uint8_t client)
{
	int pair[2] = {-1, -1};
	memset(a, 0, sizeof(*a));
	snprintf(a->search, sizeof(a->search), "run=r&tag=overview_page&what=%s", what);
	a->params[0] = (struct tfp_param){"run", "r"};
	a->params[1] = (struct tfp_param){"tag", "overview_page"};
	a->target = (struct tfp_http_target){
		.path = "/data", .search = a->search, .query = {a->params, 2}};
	tfp_reply_init(&a->reply);
	if (hangs_up && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		fail_msg("no sockets");
	a->peer = pair[1];
	a->waiter = (struct tfp_waiter){.route = tfp_route_find("/data"),
					.target = &a->target,
					.fd = pair[0],
					.network = {{client}},
					.reply = &a->reply,
					.done = is_done,
					.context = a};
}

static void ask(struct tfp_jobs *jobs, struct asker *a, const char *what, bool hangs_up,
		uint8_t client)
{
	prepare(a, what, hangs_up, client);
	tfp_jobs_wait(jobs, &a->waiter);
}

static void hang_up(struct asker *a)
{
	close(a->peer);
	a->peer = -1;
}

static void wait_for(const struct asker *a)
{
	while (!atomic_load(&a->done))
		nap();
}

/* Whether it is in the body, which is no string. */
static bool said(const struct asker *a, const char *text)
{
	return memmem(a->reply.fixed, a->reply.fixed_size, text, strlen(text)) != NULL;
}

static void release(struct asker *a)
{
	if (a->peer >= 0)
		close(a->peer);
	if (a->waiter.fd >= 0)
		close(a->waiter.fd);
	tfp_shared_reply_unref(a->waiter.shared);
	tfp_reply_release(&a->reply);
}

static struct tfp_jobs_stats stats(struct tfp_jobs *jobs)
{
	struct tfp_jobs_stats s;
	tfp_jobs_stats(jobs, &s);
	return s;
}

static void wait_for_begun(unsigned n)
{
	while (atomic_load(&begun) < n)
		nap();
}

/* ---- the tests ---- */

static void test_one_job_for_all(void **state)
{
	struct tfp_jobs *jobs = new_jobs(4, 100, 100);
	static struct asker askers[20];
	struct asker late;
	(void)state;
	for (size_t i = 0; i < COUNT(askers); i++)
		ask(jobs, &askers[i], "same", false, 0);
	while (stats(jobs).joined < COUNT(askers) - 1)
		nap();
	set_gate(true);
	for (size_t i = 0; i < COUNT(askers); i++)
		wait_for(&askers[i]);
	assert_int_equal(atomic_load(&begun), 1);
	assert_int_equal(stats(jobs).made, 1);
	for (size_t i = 0; i < COUNT(askers); i++) {
		assert_int_equal(askers[i].reply.status, 200);
		assert_ptr_equal(askers[i].reply.fixed, askers[0].reply.fixed);
		assert_string_equal(askers[i].reply.etag, askers[0].reply.etag);
	}
	assert_memory_equal(askers[0].reply.fixed, askers[0].search, strlen(askers[0].search));

	/* And for those that come later. The snapshot may have grown old meanwhile. */
	do {
		prepare(&late, "same", false, 0);
		if (tfp_jobs_at_hand(jobs, &late.waiter))
			break;
		tfp_jobs_wait(jobs, &late.waiter);
		wait_for(&late);
		assert_ptr_equal(late.reply.fixed, askers[0].reply.fixed);
		release(&late);
	} while (true);
	assert_ptr_equal(late.reply.fixed, askers[0].reply.fixed);
	release(&late);
	prepare(&late, "same", false, 0);
	late.waiter.if_none_match = askers[0].reply.etag;
	tfp_jobs_wait(jobs, &late.waiter);
	wait_for(&late);
	assert_int_equal(late.reply.status, 304);
	assert_int_equal(late.reply.fixed_size, 0);
	release(&late);
	assert_int_equal(atomic_load(&begun), 1);
	for (size_t i = 0; i < COUNT(askers); i++)
		release(&askers[i]);
	tfp_jobs_free(jobs);
}

static void test_each_gets_its_encoding(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 100, 100);
	static const char *const accepted[] = {NULL, "gzip", "zstd", "gzip"};
	static const enum tfp_http_encoding expected[] = {TFP_HTTP_IDENTITY, TFP_HTTP_GZIP,
							  TFP_HTTP_ZSTD, TFP_HTTP_GZIP};
	struct asker askers[4];
	(void)state;
	for (size_t i = 0; i < COUNT(askers); i++) {
		prepare(&askers[i], "packed", false, 0);
		askers[i].waiter.accept_encoding = accepted[i];
		tfp_jobs_wait(jobs, &askers[i].waiter);
	}
	set_gate(true);
	for (size_t i = 0; i < COUNT(askers); i++) {
		wait_for(&askers[i]);
		assert_int_equal(askers[i].reply.encoding, expected[i]);
		assert_true(askers[i].reply.varies);
		assert_in_range(askers[i].reply.fixed_size, 1, askers[0].reply.fixed_size);
	}
	/* Made once. */
	assert_ptr_equal(askers[1].reply.fixed, askers[3].reply.fixed);
	for (size_t i = 0; i < COUNT(askers); i++)
		release(&askers[i]);
	tfp_jobs_free(jobs);
}

static void test_errors_go_to_all_and_are_not_kept(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 100, 100);
	struct asker askers[3], again;
	(void)state;
	atomic_store(&fails, true);
	for (size_t i = 0; i < COUNT(askers); i++)
		ask(jobs, &askers[i], "error", false, 0);
	while (stats(jobs).joined < 2)
		nap();
	set_gate(true);
	for (size_t i = 0; i < COUNT(askers); i++) {
		wait_for(&askers[i]);
		assert_int_equal(askers[i].reply.status, 500);
		assert_true(said(&askers[i], "it does not work"));
		assert_string_equal(askers[i].reply.etag, "");
		release(&askers[i]);
	}
	assert_int_equal(stats(jobs).kept, 0);
	atomic_store(&fails, false);
	ask(jobs, &again, "error", false, 0);
	wait_for(&again);
	assert_int_equal(again.reply.status, 200);
	release(&again);
	assert_int_equal(atomic_load(&begun), 2);
	tfp_jobs_free(jobs);
}

static void test_what_may_come_out_otherwise_is_not_kept(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 100, 100);
	struct asker a;
	(void)state;
	set_gate(true);
	atomic_store(&passing, true); /* a file changed meanwhile */
	ask(jobs, &a, "changed", false, 0);
	wait_for(&a);
	assert_int_equal(a.reply.status, 200);
	release(&a);
	atomic_store(&passing, false);
	atomic_store(&partial, true);
	ask(jobs, &a, "partial", false, 0);
	wait_for(&a);
	assert_int_equal(a.reply.status, 200);
	release(&a);
	assert_int_equal(stats(jobs).kept, 0);
	tfp_jobs_free(jobs);
}

static int no_limit(void **state)
{
	(void)state;
	tfp_budget_set_limit(UINT64_MAX);
	return 0;
}

static void test_memory_is_bounded(void **state)
{
	struct tfp_jobs *jobs = new_jobs(3, 100, 100);
	struct asker first, second, small, larger;
	(void)state;
	tfp_budget_set_limit(64 << 20);
	ask(jobs, &first, "needs40", false, 0);
	wait_for_begun(1);
	/* It does not fit beside that one: it waits for its end, and is made again. */
	ask(jobs, &second, "needs41", false, 0);
	wait_for_begun(2);
	nap();
	assert_false(atomic_load(&second.done));
	set_gate(true);
	wait_for(&first);
	wait_for(&second);
	assert_int_equal(first.reply.status, 200);
	assert_int_equal(second.reply.status, 200);
	assert_int_equal(atomic_load(&begun), 3);
	assert_int_equal(stats(jobs).kept, 2);
	/* A job that can never fit is tried twice, and says so; others go on. */
	ask(jobs, &larger, "needs100", false, 0);
	ask(jobs, &small, "needs1", false, 0);
	wait_for(&larger);
	wait_for(&small);
	assert_int_equal(larger.reply.status, 413);
	assert_true(said(&larger, "64 MiB"));
	assert_true(said(&larger, "--memory-limit"));
	assert_int_equal(small.reply.status, 200);
	assert_int_equal(atomic_load(&begun), 6);
	release(&first);
	release(&second);
	release(&larger);
	release(&small);
	tfp_jobs_free(jobs);
}

static void test_the_queue_is_bounded(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 3, 2);
	struct asker running, first[3], second[2], joins;
	(void)state;
	ask(jobs, &running, "running", false, 1);
	wait_for_begun(1);
	ask(jobs, &first[0], "a", false, 1);
	ask(jobs, &first[1], "b", false, 1);
	while (stats(jobs).queued < 2)
		nap();
	/* One client's share is used up; what is running does not count. */
	ask(jobs, &first[2], "c", false, 1);
	wait_for(&first[2]);
	assert_int_equal(first[2].reply.status, 429);
	assert_true(first[2].reply.retry_after_s > 0);
	assert_true(said(&first[2], "\"too_many\""));
	/* Another's is not, until all places are taken. */
	ask(jobs, &second[0], "d", false, 2);
	while (stats(jobs).queued < 3)
		nap();
	ask(jobs, &second[1], "e", false, 2);
	wait_for(&second[1]);
	assert_int_equal(second[1].reply.status, 429);
	/* To join costs nothing. */
	ask(jobs, &joins, "a", false, 1);
	while (stats(jobs).joined < 1)
		nap();
	assert_int_equal(stats(jobs).refused, 2);

	struct tfp_buf json;
	struct tfp_error err;
	tfp_buf_init(&json, 4096);
	assert_int_equal(
		tfp_jobs_progress_json(jobs, "data?run=r&tag=overview_page&what=d", &json, &err),
		TFP_OK);
	assert_non_null(strstr(tfp_buf_text(&json), "\"state\":\"waiting\""));
	assert_non_null(strstr(tfp_buf_text(&json), "\"position\":3"));
	tfp_buf_clear(&json);
	assert_int_equal(tfp_jobs_progress_json(jobs, "/data?run=r&tag=overview_page&what=running",
						&json, &err),
			 TFP_OK);
	assert_non_null(strstr(tfp_buf_text(&json), "\"state\":\"running\",\"stage\":\"reading\""));
	assert_non_null(
		strstr(tfp_buf_text(&json), "\"bytes_done\":25,\"bytes_total\":100,\"events\":7"));
	tfp_buf_clear(&json);
	assert_int_equal(tfp_jobs_progress_json(jobs, "data?run=r", &json, &err), TFP_OK);
	assert_string_equal(tfp_buf_text(&json), "{\"state\":\"none\"}");
	tfp_buf_release(&json);

	set_gate(true);
	struct asker *all[] = {&running, &first[0], &first[1], &second[0], &joins};
	for (size_t i = 0; i < COUNT(all); i++) {
		wait_for(all[i]);
		assert_int_equal(all[i]->reply.status, 200);
		release(all[i]);
	}
	release(&first[2]);
	release(&second[1]);
	tfp_jobs_free(jobs);
}

static void test_a_job_stops_when_all_have_hung_up(void **state)
{
	struct tfp_jobs *jobs = new_jobs(2, 100, 100);
	struct asker leaves[2], other, again;
	(void)state;
	ask(jobs, &leaves[0], "left", true, 0);
	wait_for_begun(1);
	ask(jobs, &leaves[1], "left", true, 0);
	ask(jobs, &other, "other", true, 0);
	wait_for_begun(2);
	while (stats(jobs).joined < 1)
		nap();
	hang_up(&leaves[0]);
	hang_up(&leaves[1]);
	wait_for(&leaves[0]);
	wait_for(&leaves[1]);
	assert_int_equal(atomic_load(&stopped), 1);
	assert_int_equal(stats(jobs).cancelled, 1);
	/* The other's goes on, and a new request gets a whole answer. */
	assert_false(atomic_load(&other.done));
	ask(jobs, &again, "left", true, 0);
	wait_for_begun(3);
	set_gate(true);
	wait_for(&again);
	wait_for(&other);
	assert_int_equal(again.reply.status, 200);
	assert_int_equal(other.reply.status, 200);
	assert_int_equal(atomic_load(&ended), 2);
	for (size_t i = 0; i < 2; i++)
		release(&leaves[i]);
	release(&other);
	release(&again);
	tfp_jobs_free(jobs);
}

static void test_a_job_goes_on_for_one_that_stays(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 100, 100);
	struct asker leaves, stays, queued;
	char json_text[512];
	(void)state;
	ask(jobs, &leaves, "joined", true, 0);
	wait_for_begun(1);
	ask(jobs, &stays, "joined", true, 0);
	while (stats(jobs).joined < 1)
		nap();
	hang_up(&leaves);
	/* Until it is known that one has left. */
	do {
		struct tfp_buf json;
		struct tfp_error err;
		nap();
		tfp_buf_init(&json, sizeof(json_text) - 1);
		assert_int_equal(tfp_jobs_progress_json(jobs, stays.search, &json, &err), TFP_OK);
		tfp_buf_clear(&json);
		char address[128];
		snprintf(address, sizeof(address), "data?%s", stays.search);
		assert_int_equal(tfp_jobs_progress_json(jobs, address, &json, &err), TFP_OK);
		snprintf(json_text, sizeof(json_text), "%s", tfp_buf_text(&json));
		tfp_buf_release(&json);
	} while (!strstr(json_text, "\"clients\":1"));
	/* One that has no thread yet leaves the queue at once. */
	ask(jobs, &queued, "queued", true, 0);
	while (stats(jobs).queued < 1)
		nap();
	hang_up(&queued);
	wait_for(&queued);
	assert_int_equal(stats(jobs).queued, 0);
	assert_int_equal(stats(jobs).cancelled, 1);
	set_gate(true);
	wait_for(&stays);
	wait_for(&leaves);
	assert_int_equal(stays.reply.status, 200);
	assert_int_equal(atomic_load(&stopped), 0);
	assert_int_equal(atomic_load(&begun), 1);
	release(&leaves);
	release(&stays);
	release(&queued);
	tfp_jobs_free(jobs);
}

static void test_the_end_stops_everything(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 100, 100);
	struct asker running, queued;
	(void)state;
	ask(jobs, &running, "running", false, 0);
	wait_for_begun(1);
	ask(jobs, &queued, "queued", false, 0);
	while (stats(jobs).queued < 1)
		nap();
	tfp_jobs_free(jobs);
	assert_true(atomic_load(&running.done));
	assert_true(atomic_load(&queued.done));
	assert_int_equal(running.reply.status, 503);
	assert_int_equal(queued.reply.status, 503);
	assert_int_equal(atomic_load(&stopped), 1);
	release(&running);
	release(&queued);
}

static void test_unknown_runs_are_errors(void **state)
{
	struct tfp_jobs *jobs = new_jobs(1, 100, 100);
	struct asker a;
	(void)state;
	prepare(&a, "x", false, 0);
	a.params[0].value = "nothing";
	assert_false(tfp_jobs_at_hand(jobs, &a.waiter));
	tfp_jobs_wait(jobs, &a.waiter);
	wait_for(&a);
	assert_int_equal(a.reply.status, 404);
	release(&a);
	assert_int_equal(atomic_load(&begun), 0);
	tfp_jobs_free(jobs);
}

/* ---- the replies in memory ---- */

static struct tfp_shared_reply *reply_of(size_t size)
{
	struct tfp_reply reply;
	tfp_reply_init(&reply);
	char *to = tfp_buf_reserve(&reply.body, size);
	assert_non_null(to);
	memset(to, 'x', size);
	reply.body.size = size;
	struct tfp_shared_reply *shared = tfp_shared_reply_new(&reply);
	assert_non_null(shared);
	return shared;
}

static void put(struct tfp_reply_cache *cache, const char *key, size_t size)
{
	struct tfp_buf k;
	struct tfp_shared_reply *shared = reply_of(size);
	tfp_buf_init(&k, 100);
	tfp_buf_puts(&k, key);
	tfp_reply_cache_put(cache, &k, shared);
	tfp_shared_reply_unref(shared);
	tfp_buf_release(&k);
}

static size_t size_of(struct tfp_reply_cache *cache, const char *key)
{
	struct tfp_buf k;
	tfp_buf_init(&k, 100);
	tfp_buf_puts(&k, key);
	struct tfp_shared_reply *shared = tfp_reply_cache_get(cache, &k);
	size_t size = shared ? tfp_shared_reply_plain(shared)->body.size : 0;
	tfp_shared_reply_unref(shared);
	tfp_buf_release(&k);
	return size;
}

static void test_replies_used_longest_ago_go(void **state)
{
	struct tfp_reply_cache *cache;
	struct tfp_error err;
	size_t count, bytes;
	char key[16];
	(void)state;
	assert_int_equal(tfp_reply_cache_new(&cache, 100000, &err), TFP_OK);
	for (int i = 0; i < 8; i++) {
		snprintf(key, sizeof(key), "%d", i);
		put(cache, key, 11000 + (size_t)i);
	}
	assert_int_equal(size_of(cache, "0"), 11000);
	put(cache, "new", 9000); /* 0 was used, so 1 goes */
	assert_int_equal(size_of(cache, "0"), 11000);
	assert_int_equal(size_of(cache, "1"), 0);
	assert_int_equal(size_of(cache, "2"), 11002);
	assert_int_equal(size_of(cache, "new"), 9000);
	tfp_reply_cache_size(cache, &count, &bytes);
	assert_int_equal(count, 8);
	assert_in_range(bytes, 7 * 11000 + 9000, 100000);
	/* More than an eighth. */
	put(cache, "large", 13000);
	assert_int_equal(size_of(cache, "large"), 0);
	/* The same key again takes the place of the old one. */
	put(cache, "new", 8000);
	assert_int_equal(size_of(cache, "new"), 8000);
	tfp_reply_cache_size(cache, &count, NULL);
	assert_int_equal(count, 8);
	tfp_reply_cache_free(cache);
}

static void test_compressed_forms_are_counted(void **state)
{
	struct tfp_shared_reply *shared = reply_of(5000);
	struct tfp_reply reply;
	(void)state;
	size_t before = tfp_shared_reply_bytes(shared);
	assert_true(tfp_shared_reply_is_ready(shared, NULL));
	assert_false(tfp_shared_reply_is_ready(shared, "zstd"));
	tfp_reply_init(&reply);
	tfp_shared_reply_fill(shared, "zstd", NULL, &reply);
	assert_true(tfp_shared_reply_is_ready(shared, "zstd"));
	assert_int_equal(reply.encoding, TFP_HTTP_ZSTD);
	assert_int_equal(tfp_shared_reply_bytes(shared), before + reply.fixed_size + 1);
	tfp_reply_release(&reply);
	tfp_shared_reply_unref(shared);
	/* A short one is never compressed. */
	shared = reply_of(10);
	assert_true(tfp_shared_reply_is_ready(shared, "zstd"));
	tfp_shared_reply_unref(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_job_for_all),
		cmocka_unit_test(test_each_gets_its_encoding),
		cmocka_unit_test(test_errors_go_to_all_and_are_not_kept),
		cmocka_unit_test(test_what_may_come_out_otherwise_is_not_kept),
		cmocka_unit_test_teardown(test_memory_is_bounded, no_limit),
		cmocka_unit_test(test_the_queue_is_bounded),
		cmocka_unit_test(test_a_job_stops_when_all_have_hung_up),
		cmocka_unit_test(test_a_job_goes_on_for_one_that_stays),
		cmocka_unit_test(test_the_end_stops_everything),
		cmocka_unit_test(test_unknown_runs_are_errors),
		cmocka_unit_test(test_replies_used_longest_ago_go),
		cmocka_unit_test(test_compressed_forms_are_counted),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
