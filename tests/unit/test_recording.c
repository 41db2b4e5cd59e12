/* SPDX-License-Identifier: Apache-2.0 */
/* Whole recordings against servers that behave and ones that do not. */
#include "testing.h"

#include "base/alloc.h"
#include "remote/monitor.h"
#include "remote/recording.h"
#include "support/fake_profiler.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SIZE 50000u

static char root[64], folder[128];
static struct fake_profiler *fakes[4];
static size_t fake_count;
static struct tfp_recording_options options;
static struct tfp_recording_progress progress;
static struct tfp_error error;

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/tfprof-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(folder, sizeof(folder), "%s/plugins/profile", root);
	fake_count = 0;
	tfp_recording_options_init(&options);
	options.duration_ms = 50;
	options.grace_ms = 10000;
	options.stall_ms = 10000;
	return 0;
}

static int tear_down(void **state)
{
	char command[128];
	(void)state;
	for (size_t i = 0; i < fake_count; i++)
		fake_profiler_stop(fakes[i]);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void add(const struct fake_config *config)
{
	struct tfp_error err;
	char address[64];
	fakes[fake_count] = fake_profiler_start(config);
	assert_non_null(fakes[fake_count]);
	snprintf(address, sizeof(address), "127.0.0.1:%u", fake_profiler_port(fakes[fake_count]));
	fake_count++;
	assert_int_equal(tfp_target_parse(&options.targets[options.target_count++], address,
					  strlen(address), &err),
			 TFP_OK);
}

#define ADD(...) add(&(struct fake_config){.size = SIZE, __VA_ARGS__})

static enum tfp_status record(void)
{
	struct tfp_recording *r;
	enum tfp_status status = tfp_recording_new(&r, &options, folder, &error);
	if (status != TFP_OK)
		return status;
	status = tfp_recording_run(r, &error);
	tfp_recording_look(r, &progress);
	assert_true(progress.done);
	assert_int_equal(progress.status, status);
	if (status != TFP_OK) {
		assert_true(error.message[0] != '\0');
		assert_string_equal(progress.error, error.message);
	}
	tfp_recording_free(r);
	return status;
}

static unsigned entries(void)
{
	unsigned n = 0;
	DIR *dir = opendir(folder);
	if (!dir)
		return 0;
	for (const struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

/* The stored file of a target is the server's profile, byte for byte. */
static void assert_stored(size_t i, uint64_t size)
{
	char path[1024];
	const struct tfp_recording_host *h = &progress.hosts[i];
	if (h->state != TFP_RECORDING_STORED)
		fail_msg("%s: %s", tfp_recording_state_name(h->state), h->message);
	assert_int_equal(h->bytes, size);
	snprintf(path, sizeof(path), "%s/%s/%s", folder, progress.run, h->file);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	for (uint64_t at = 0; at < size; at++) {
		int c = getc(file);
		if (c != fake_profiler_byte(at))
			fail_msg("byte %u is %d", (unsigned)at, c);
	}
	assert_int_equal(getc(file), EOF);
	fclose(file);
}

static void assert_failed(size_t i, enum tfp_grpc_code code, const char *says)
{
	const struct tfp_recording_host *h = &progress.hosts[i];
	if (h->state != TFP_RECORDING_FAILED || h->code != code || !strstr(h->message, says))
		fail_msg("%s %s: %s", tfp_recording_state_name(h->state),
			 tfp_grpc_code_name(h->code), h->message);
}

static void test_one_program(void **state)
{
	struct fake_seen seen;
	char expected[64];
	(void)state;
	ADD(.behave = "ok");
	options.host_level = 3;
	options.device_level = 0;
	options.python_level = 1;
	assert_int_equal(tfp_recording_add_setting(&options, "a", 1, "true", &error), TFP_OK);
	assert_int_equal(tfp_recording_add_setting(&options, "b", 1, "-7", &error), TFP_OK);
	assert_int_equal(record(), TFP_OK);
	assert_stored(0, SIZE);
	assert_int_equal(entries(), 1);
	snprintf(expected, sizeof(expected), "127.0.0.1_%u.xplane.pb",
		 fake_profiler_port(fakes[0]));
	assert_string_equal(progress.hosts[0].file, expected);

	/* What the peers' client sends (capture notes, sections 1 and 3). */
	fake_profiler_look(fakes[0], &seen);
	assert_int_equal(seen.profiles, 1);
	assert_int_equal(seen.version, 1);
	assert_int_equal(seen.duration_ms, 50);
	assert_int_equal(seen.option_duration_ms, 50);
	assert_int_equal(seen.max_events, 1000000);
	assert_int_equal(seen.host_level, 3);
	assert_int_equal(seen.device_level, 0);
	assert_int_equal(seen.python_level, 1);
	assert_true(seen.emit_xspace && seen.enable_hlo && seen.dataset_ops);
	assert_int_equal(seen.tools, 10);
	assert_int_equal(seen.settings, 2);
	assert_string_equal(seen.root, folder);
	assert_string_equal(seen.session, progress.run);
	assert_string_equal(seen.host_name, progress.hosts[0].target);
	assert_string_equal(seen.authority, progress.hosts[0].target);
	/* At once: then the program's clock does not matter. */
	assert_int_equal(seen.start_ns, 0);
	/* delay + duration + grace + half an hour for the transfer */
	assert_string_equal(seen.timeout, "1810050m");
}

static void test_other_forms_of_answers(void **state)
{
	char path[1024], two[3] = "";
	(void)state;
	ADD(.behave = "tool_data");
	ADD(.behave = "drip", .after = 5000, .pause_ms = 1);
	ADD(.behave = "twice");
	assert_int_equal(record(), TFP_OK);
	assert_stored(0, SIZE);
	assert_stored(1, SIZE);
	assert_int_equal(progress.hosts[2].bytes, SIZE + 2);
	snprintf(path, sizeof(path), "%s/%s/%s", folder, progress.run, progress.hosts[2].file);
	FILE *file = fopen(path, "rb");
	assert_int_equal(fread(two, 1, 2, file), 2);
	fclose(file);
	assert_string_equal(two, "hi");
}

static void test_all_begin_at_the_same_moment(void **state)
{
	struct fake_seen a, b;
	struct timespec now;
	(void)state;
	ADD(.behave = "ok");
	ADD(.behave = "ok");
	clock_gettime(CLOCK_REALTIME, &now);
	assert_int_equal(record(), TFP_OK);
	fake_profiler_look(fakes[0], &a);
	fake_profiler_look(fakes[1], &b);
	assert_true(a.start_ns > (uint64_t)now.tv_sec * 1000000000u);
	assert_true(a.start_ns == b.start_ns);
}

static void test_a_delay_is_part_of_the_deadline(void **state)
{
	struct fake_seen seen;
	(void)state;
	ADD(.behave = "ok");
	/* Longer than grace and duration: a deadline without it would pass. */
	options.delay_ms = 3000;
	options.grace_ms = 2500;
	assert_int_equal(record(), TFP_OK);
	fake_profiler_look(fakes[0], &seen);
	assert_true(seen.start_ns > 0);
	assert_stored(0, SIZE);
}

static void test_partial_success_keeps_what_came(void **state)
{
	(void)state;
	ADD(.behave = "ok");
	ADD(.behave = "status", .status = 13, .message = "out%20of%20luck");
	ADD(.behave = "hangup", .after = 20000);
	options.retries = 3;
	assert_int_equal(record(), TFP_OK);
	assert_stored(0, SIZE);
	assert_failed(1, TFP_GRPC_INTERNAL, "out of luck");
	assert_failed(2, TFP_GRPC_UNAVAILABLE, "");
	/* A second try would be another moment: there is none. */
	assert_int_equal(progress.attempt, 1);
	char path[1024];
	snprintf(path, sizeof(path), "%s/%s", folder, progress.run);
	DIR *dir = opendir(path);
	unsigned files = 0;
	for (const struct dirent *e; (e = readdir(dir));)
		files += e->d_name[0] != '.';
	closedir(dir);
	assert_int_equal(files, 1);
}

static void test_nothing_is_left_of_a_failure(void **state)
{
	static const char *const behave[] = {"status",    "reset",      "hangup",     "garbage",
					     "cut",       "short",      "two",        "html",
					     "no_status", "compressed", "late_status"};
	(void)state;
	for (size_t i = 0; i < COUNT(behave); i++) {
		options.target_count = fake_count = 0;
		ADD(.behave = behave[i], .after = 30000, .status = 9, .message = "no");
		assert_int_equal(record(), TFP_IO);
		assert_int_equal(progress.hosts[0].state, TFP_RECORDING_FAILED);
		assert_int_equal(entries(), 0);
		fake_profiler_stop(fakes[0]);
	}
	fake_count = 0;
}

static void test_an_empty_trace(void **state)
{
	(void)state;
	ADD(.behave = "empty");
	assert_int_equal(record(), TFP_IO);
	assert_int_equal(progress.hosts[0].state, TFP_RECORDING_EMPTY);
	assert_non_null(strstr(error.message, "nothing was traced"));
	assert_non_null(strstr(error.hint, "duration"));
	assert_int_equal(entries(), 0);
}

static void test_retries(void **state)
{
	struct fake_seen seen;
	(void)state;
	ADD(.behave = "first_fails", .status = 14, .message = "not yet");
	options.retries = 2;
	assert_int_equal(record(), TFP_OK);
	assert_int_equal(progress.attempt, 2);
	assert_stored(0, SIZE);
	assert_string_equal(progress.hosts[0].message, "");
	fake_profiler_look(fakes[0], &seen);
	assert_int_equal(seen.profiles, 2);
}

/* Only what the notes name is tried again. */
static void test_what_is_tried_again(void **state)
{
	static const struct {
		const char *behave, *message;
		unsigned status, profiles;
	} cases[] = {
		{"status", "", 14, 2},
		{"status", "", 6, 2},
		{"status", "Stream%20removed", 2, 2},
		{"empty", NULL, 0, 2},
		{"status", "else", 2, 1},
		{"status", "", 13, 1},
		{"status", "", 4, 1},
		{"status", "", 8, 1},
		{"status", "", 12, 1},
		{"busy", NULL, 0, 1},
		{"garbage", NULL, 0, 1},
	};
	struct fake_seen seen;
	(void)state;
	options.retries = 1;
	for (size_t i = 0; i < COUNT(cases); i++) {
		options.target_count = fake_count = 0;
		ADD(.behave = cases[i].behave, .status = cases[i].status,
		    .message = cases[i].message);
		assert_int_not_equal(record(), TFP_OK);
		fake_profiler_look(fakes[0], &seen);
		if (seen.profiles != cases[i].profiles)
			fail_msg("%s %u: %u requests", cases[i].behave, cases[i].status,
				 seen.profiles);
		fake_profiler_stop(fakes[0]);
	}
	fake_count = 0;
}

static void test_a_program_that_is_being_profiled(void **state)
{
	(void)state;
	ADD(.behave = "busy");
	assert_int_equal(record(), TFP_BUSY);
	assert_true(progress.hosts[0].busy);
	assert_failed(0, TFP_GRPC_INTERNAL, "already being profiled");
}

struct other {
	struct tfp_recording *recording;
	struct tfp_error err;
	enum tfp_status status;
};

static void *record_other(void *context)
{
	struct other *o = context;
	o->status = tfp_recording_run(o->recording, &o->err);
	return NULL;
}

static void test_two_at_once(void **state)
{
	struct other o;
	pthread_t thread;
	(void)state;
	ADD(.behave = "ok");
	options.duration_ms = 3000;
	assert_int_equal(tfp_recording_new(&o.recording, &options, folder, &error), TFP_OK);
	pthread_create(&thread, NULL, record_other, &o);
	assert_true(fake_profiler_wait(fakes[0], 1, 0));
	assert_int_equal(record(), TFP_BUSY);
	assert_true(progress.hosts[0].busy);
	pthread_join(thread, NULL);
	assert_int_equal(o.status, TFP_OK);
	tfp_recording_free(o.recording);
	assert_int_equal(entries(), 1);
}

static void test_cancelling(void **state)
{
	struct other o;
	struct fake_seen seen;
	pthread_t thread;
	(void)state;
	ADD(.behave = "ok");
	ADD(.behave = "hang");
	options.duration_ms = 60000;
	assert_int_equal(tfp_recording_new(&o.recording, &options, folder, &error), TFP_OK);
	pthread_create(&thread, NULL, record_other, &o);
	assert_true(fake_profiler_wait(fakes[0], 1, 0));
	assert_true(fake_profiler_wait(fakes[1], 1, 0));
	tfp_recording_cancel(o.recording);
	pthread_join(thread, NULL);
	tfp_recording_look(o.recording, &progress);
	assert_int_not_equal(o.status, TFP_OK);
	assert_non_null(strstr(o.err.message, "cancelled"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(progress.hosts[i].state, TFP_RECORDING_CANCELLED);
		fake_profiler_look(fakes[i], &seen);
		assert_int_equal(seen.terminates, 1);
		assert_string_equal(seen.terminated, progress.run);
		assert_int_equal(seen.cancelled, 1);
	}
	tfp_recording_free(o.recording);
	assert_int_equal(entries(), 0);
}

static void test_cancelling_between_retries(void **state)
{
	struct other o;
	pthread_t thread;
	(void)state;
	ADD(.behave = "status", .status = 14);
	options.retries = 100;
	assert_int_equal(tfp_recording_new(&o.recording, &options, folder, &error), TFP_OK);
	pthread_create(&thread, NULL, record_other, &o);
	assert_true(fake_profiler_wait(fakes[0], 2, 0));
	tfp_recording_cancel(o.recording);
	pthread_join(thread, NULL);
	assert_non_null(strstr(o.err.message, "cancelled"));
	tfp_recording_free(o.recording);
}

static void test_an_old_program_on_the_same_disk(void **state)
{
	(void)state;
	ADD(.behave = "old");
	ADD(.behave = "ok");
	assert_int_equal(record(), TFP_OK);
	assert_stored(0, SIZE);
	assert_stored(1, SIZE);
	assert_int_equal(entries(), 1);
}

static void test_an_old_program_elsewhere(void **state)
{
	char disk[128], expected[512];
	struct fake_seen seen;
	struct stat st;
	(void)state;
	snprintf(disk, sizeof(disk), "%s/its disk", root);
	mkdir(disk, 0777);
	ADD(.behave = "old", .disk = disk);
	assert_int_equal(record(), TFP_IO);
	const struct tfp_recording_host *h = &progress.hosts[0];
	assert_int_equal(h->state, TFP_RECORDING_ELSEWHERE);
	fake_profiler_look(fakes[0], &seen);
	snprintf(expected, sizeof(expected), "%s/%s/127.0.0.1_%u.xplane.pb", folder, seen.session,
		 fake_profiler_port(fakes[0]));
	assert_non_null(strstr(h->message, expected));
	snprintf(expected, sizeof(expected), "scp -r 127.0.0.1:'%s/%s' '%s/'", folder, seen.session,
		 folder);
	assert_string_equal(h->command, expected);
	/* And there it is. */
	snprintf(expected, sizeof(expected), "%s/%s", disk, seen.session);
	assert_int_equal(stat(expected, &st), 0);
	assert_int_equal(entries(), 0);
}

static void test_deadline(void **state)
{
	(void)state;
	ADD(.behave = "hang");
	options.grace_ms = 150;
	assert_int_equal(record(), TFP_IO);
	assert_failed(0, TFP_GRPC_DEADLINE_EXCEEDED, "no answer");
	assert_non_null(strstr(progress.hosts[0].hint, "clock"));
}

static void test_a_full_disk(void **state)
{
	struct rlimit old, small;
	(void)state;
	add(&(struct fake_config){.behave = "ok", .size = 1 << 20});
	add(&(struct fake_config){.behave = "ok", .size = 1000});
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 100000;
	setrlimit(RLIMIT_FSIZE, &small);
	enum tfp_status status = record();
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(status, TFP_OK);
	assert_int_equal(progress.hosts[0].state, TFP_RECORDING_FAILED);
	assert_non_null(strstr(progress.hosts[0].hint, "free some space"));
	assert_stored(1, 1000);
}

static void test_a_folder_that_cannot_be_written(void **state)
{
	struct fake_seen seen;
	char path[128];
	(void)state;
	ADD(.behave = "ok");
	snprintf(path, sizeof(path), "%s/plugins", root);
	fclose(fopen(path, "w"));
	assert_int_equal(record(), TFP_IO);
	/* Nobody was asked for what could not be kept. */
	fake_profiler_look(fakes[0], &seen);
	assert_int_equal(seen.profiles, 0);
}

static void test_options(void **state)
{
	(void)state;
	ADD(.behave = "ok");
	options.duration_ms = 0;
	assert_int_equal(record(), TFP_BAD_QUERY);
	options.duration_ms = TFP_RECORDING_DURATION_MAX_MS + 1;
	assert_int_equal(record(), TFP_BAD_QUERY);
	options.duration_ms = 50;
	options.host_level = 4;
	assert_int_equal(record(), TFP_BAD_QUERY);
	options.host_level = 2;
	snprintf(options.session, sizeof(options.session), "../../up");
	assert_int_equal(record(), TFP_OK);
	assert_string_equal(progress.run, "_._.._up");
	assert_int_equal(record(), TFP_BAD_QUERY);
	char key[100];
	memset(key, 'k', sizeof(key));
	assert_int_equal(tfp_recording_add_setting(&options, key, 65, "1", &error), TFP_BAD_QUERY);
	assert_int_equal(tfp_recording_add_setting(&options, key, 0, "1", &error), TFP_BAD_QUERY);
}

static void test_no_memory(void **state)
{
	struct fake_config ok = {.behave = "ok", .size = 100};
	(void)state;
	add(&ok);
	options.duration_ms = 1;
	/* Each allocation of ours fails in turn; libcurl's are its own. */
	for (uint64_t n = 1;; n++) {
		tfp_alloc_fail_at(n);
		enum tfp_status status = record();
		bool reached = tfp_alloc_count() >= n;
		tfp_alloc_fail_at(0);
		assert_int_equal(entries() > 0, status == TFP_OK);
		if (!reached) {
			assert_int_equal(status, TFP_OK);
			assert_true(n > 5);
			break;
		}
		assert_int_not_equal(status, TFP_OK);
	}
}

static void test_monitor(void **state)
{
	struct tfp_buf text;
	(void)state;
	tfp_buf_init(&text, 1000);
	ADD(.behave = "ok", .text = "TPU type: TPU v2\n");
	ADD(.behave = "ok");
	assert_int_equal(tfp_monitor(&options.targets[0], 10, 1, &text, &error), TFP_OK);
	assert_string_equal(tfp_buf_text(&text), "TPU type: TPU v2\n");
	assert_int_equal(tfp_monitor(&options.targets[1], 10, 1, &text, &error),
			 TFP_NOT_APPLICABLE);
	assert_non_null(strstr(error.hint, "TPU"));
	tfp_buf_release(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_program),
		TEST(test_other_forms_of_answers),
		TEST(test_all_begin_at_the_same_moment),
		TEST(test_a_delay_is_part_of_the_deadline),
		TEST(test_partial_success_keeps_what_came),
		TEST(test_nothing_is_left_of_a_failure),
		TEST(test_an_empty_trace),
		TEST(test_retries),
		TEST(test_what_is_tried_again),
		TEST(test_a_program_that_is_being_profiled),
		TEST(test_two_at_once),
		TEST(test_cancelling),
		TEST(test_cancelling_between_retries),
		TEST(test_an_old_program_on_the_same_disk),
		TEST(test_an_old_program_elsewhere),
		TEST(test_deadline),
		TEST(test_a_full_disk),
		TEST(test_a_folder_that_cannot_be_written),
		TEST(test_options),
		TEST(test_no_memory),
		TEST(test_monitor),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
