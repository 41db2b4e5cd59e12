/* SPDX-License-Identifier: Apache-2.0 */
/* tfprof capture, tfprof monitor: asking running programs. */
#include "cmd/tfprof_capture.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/number.h"
#include "remote/monitor.h"
#include "remote/recording.h"
#include "store/logdir.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_PARTIAL = 3 };

static const char capture_usage[] =
	"Usage: tfprof capture HOST:PORT[,...] --logdir DIR [OPTION]...\n"
	"\n"
	"Asks running programs (tf.profiler.experimental.server.start, \n"
	"jax.profiler.start_server, torch_xla's start_server) for a profile of the same\n"
	"moment and stores it as a run below DIR.\n"
	"\n"
	"  -l, --logdir DIR         where the run is stored (needed)\n"
	"  -d, --duration TIME      how long to record: 2s, 500ms, 1m, or milliseconds (1s)\n"
	"      --delay TIME         wait this long before all programs begin (0)\n"
	"      --retries N          times to try again if no program sends a profile (0)\n"
	"      --host-level N       0 off, 1 what the program marks itself, 2 and expensive\n"
	"                           operations, 3 and all (2)\n"
	"      --device-level N     0 off, 1 on (1)\n"
	"      --python-level N     0 off, 1 every Python call: slow, large (0)\n"
	"      --option KEY=VALUE   for the program's profiler, passed on unchanged\n"
	"      --name NAME          of the run (the time)\n"
	"  -q, --quiet              no progress on stderr\n"
	"  -h, --help               print this and exit\n"
	"\n"
	"Prints the run's folder. Ctrl+C ends the recording. Exits with 0 when every\n"
	"program sent a profile, 3 when only some did, 1 when none did.\n";

static const char monitor_usage[] =
	"Usage: tfprof monitor HOST:PORT [--duration TIME] [--level 1|2]\n"
	"\n"
	"Prints what a running program reports about itself over the duration (1s). Only the\n"
	"runtimes of TPUs can be asked that.\n";

static int bad_usage(const char *format, const char *text)
{
	fprintf(stderr, "tfprof: ");
	fprintf(stderr, format, text);
	fprintf(stderr, "\nTry 'tfprof capture --help'.\n");
	return EXIT_USAGE;
}

static int bad_query(const struct tfp_error *err)
{
	char text[2048];
	fprintf(stderr, "tfprof: %s\n", tfp_error_text(err, text, sizeof(text)));
	return EXIT_USAGE;
}

static int failed(const struct tfp_error *err)
{
	bad_query(err);
	return EXIT_FAILURE;
}

/* "2s", "500ms", "1m", "1500": milliseconds, at least *min. */
static bool read_time(const char *text, uint32_t min, uint32_t *out)
{
	char *end;
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	double n = strtod(text, &end);
	double unit = 1;
	if (strcmp(end, "s") == 0)
		unit = 1000;
	else if (strcmp(end, "m") == 0 || strcmp(end, "min") == 0)
		unit = 60000;
	else if (strcmp(end, "") != 0 && strcmp(end, "ms") != 0)
		return false;
	n *= unit;
	if (errno || !(n >= min && n <= TFP_RECORDING_DURATION_MAX_MS))
		return false;
	*out = (uint32_t)(n + 0.5);
	return true;
}

static bool read_number(const char *text, unsigned max, unsigned *out)
{
	uint64_t n;
	if (!tfp_number(text, max, &n))
		return false;
	*out = (unsigned)n;
	return true;
}

enum option_id {
	OPTION_DELAY = 256,
	OPTION_RETRIES,
	OPTION_HOST_LEVEL,
	OPTION_DEVICE_LEVEL,
	OPTION_PYTHON_LEVEL,
	OPTION_OPTION,
	OPTION_NAME,
	OPTION_LEVEL
};

static const struct option capture_options[] = {
	{"logdir", required_argument, NULL, 'l'},
	{"duration", required_argument, NULL, 'd'},
	{"delay", required_argument, NULL, OPTION_DELAY},
	{"retries", required_argument, NULL, OPTION_RETRIES},
	{"host-level", required_argument, NULL, OPTION_HOST_LEVEL},
	{"device-level", required_argument, NULL, OPTION_DEVICE_LEVEL},
	{"python-level", required_argument, NULL, OPTION_PYTHON_LEVEL},
	{"option", required_argument, NULL, OPTION_OPTION},
	{"name", required_argument, NULL, OPTION_NAME},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct request {
	struct tfp_recording_options options;
	const char *logdir;
	bool quiet;
};

/* Returns -1 to go on, or an exit code. */
static int read_capture_options(struct request *q, int argc, char **argv)
{
	struct tfp_recording_options *o = &q->options;
	struct tfp_error err;
	const char *equals;
	int option;
	while ((option = getopt_long(argc, argv, "l:d:qh", capture_options, NULL)) != -1) {
		switch (option) {
		case 'l':
			q->logdir = optarg;
			break;
		case 'd':
			if (!read_time(optarg, 1, &o->duration_ms))
				return bad_usage("--duration takes a time up to an hour, such as "
						 "2s, not '%s'",
						 optarg);
			break;
		case OPTION_DELAY:
			if (!read_time(optarg, 0, &o->delay_ms))
				return bad_usage("--delay takes a time up to an hour, such as 2s, "
						 "not '%s'",
						 optarg);
			break;
		case OPTION_RETRIES:
			if (!read_number(optarg, TFP_RECORDING_RETRIES_MAX, &o->retries))
				return bad_usage("--retries takes a number up to 100, not '%s'",
						 optarg);
			break;
		case OPTION_HOST_LEVEL:
		case OPTION_DEVICE_LEVEL:
		case OPTION_PYTHON_LEVEL:
			if (!read_number(optarg, TFP_TRACER_LEVEL_MAX,
					 option == OPTION_HOST_LEVEL     ? &o->host_level
					 : option == OPTION_DEVICE_LEVEL ? &o->device_level
									 : &o->python_level))
				return bad_usage("a level is a number from 0 to 3, not '%s'",
						 optarg);
			break;
		case OPTION_OPTION:
			equals = strchr(optarg, '=');
			if (!equals)
				return bad_usage("--option takes KEY=VALUE, not '%s'", optarg);
			if (tfp_recording_add_setting(o, optarg, (size_t)(equals - optarg),
						      equals + 1, &err) != TFP_OK)
				return bad_query(&err);
			break;
		case OPTION_NAME:
			tfp_run_name_clean(optarg, o->session);
			break;
		case 'q':
			q->quiet = true;
			break;
		case 'h':
			fputs(capture_usage, stdout);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try 'tfprof capture --help'.\n");
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return bad_usage("capture: name the programs, as HOST:PORT[,...]%s", "");
	if (tfp_targets_parse(o->targets, &o->target_count, argv[optind], &err) != TFP_OK)
		return bad_query(&err);
	if (++optind < argc)
		return bad_usage("'%s' is one argument too many", argv[optind]);
	if (!q->logdir)
		return bad_usage("capture: say where to store the run, with --logdir%s", "");
	return -1;
}

/* ---- recording ---- */

struct work {
	struct tfp_recording *recording;
	struct tfp_error err;
	enum tfp_status status;
	atomic_bool done;
};

static void *record(void *context)
{
	struct work *w = context;
	w->status = tfp_recording_run(w->recording, &w->err);
	atomic_store(&w->done, true);
	return NULL;
}

/* A line for every change of a program's state. */
static void tell(const struct tfp_recording_progress *now, struct tfp_recording_progress *told)
{
	for (size_t i = 0; i < now->count; i++) {
		const struct tfp_recording_host *h = &now->hosts[i];
		if (h->state == told->hosts[i].state && now->attempt == told->attempt)
			continue;
		fprintf(stderr, "%s: ", h->target);
		switch (h->state) {
		case TFP_RECORDING_CONNECTING:
			fprintf(stderr, "connecting%s\n", now->attempt > 1 ? " again" : "");
			break;
		case TFP_RECORDING_ASKED:
			fprintf(stderr, "recording\n");
			break;
		case TFP_RECORDING_RECEIVING:
			fprintf(stderr, "receiving\n");
			break;
		case TFP_RECORDING_STORED:
			fprintf(stderr, "stored %s, %" PRIu64 " bytes\n", h->file, h->bytes);
			break;
		default:
			fprintf(stderr, "%s%s%s\n", h->message, h->hint[0] ? "; " : "", h->hint);
			if (h->command[0])
				fprintf(stderr, "    %s\n", h->command);
		}
	}
	*told = *now;
}

static void watch(struct work *w, bool quiet, const sigset_t *signals)
{
	static struct tfp_recording_progress now, told; /* large */
	const struct timespec tick = {.tv_nsec = 50000000};
	const struct timespec none = {0};
	bool stopping = false;
	for (size_t i = 0; i < TFP_TARGETS_MAX; i++)
		told.hosts[i].state = TFP_RECORDING_CANCELLED;
	for (bool done = false; !done;) {
		done = atomic_load(&w->done);
		tfp_recording_look(w->recording, &now);
		if (!quiet && now.attempt > 0)
			tell(&now, &told);
		if (sigtimedwait(signals, NULL, done ? &none : &tick) > 0 && !stopping) {
			stopping = true;
			if (!quiet)
				fprintf(stderr, "stopping\n");
			tfp_recording_cancel(w->recording);
		}
	}
}

/* 0, 1 or 3, as the usage says. */
static int conclusion(struct work *w, const char *folder)
{
	static struct tfp_recording_progress p;
	size_t stored = 0;
	tfp_recording_look(w->recording, &p);
	for (size_t i = 0; i < p.count; i++)
		stored += p.hosts[i].state == TFP_RECORDING_STORED;
	if (w->status != TFP_OK)
		return failed(&w->err);
	printf("%s/%s\n", folder, p.run);
	if (fflush(stdout) != 0 && errno != EPIPE)
		return EXIT_FAILURE;
	return stored == p.count ? EXIT_SUCCESS : EXIT_PARTIAL;
}

static enum tfp_status find_folder(const char *logdir, char *folder, size_t size,
				   struct tfp_error *err)
{
	struct tfp_logdir *dir;
	/* A log directory that is to be; its parent must be there, so that a slip of
	 * the pen does not make a tree. */
	if (mkdir(logdir, 0777) != 0 && errno != EEXIST && errno != ENOENT) {
		int error = errno;
		return tfp_fail(err, TFP_IO, "cannot make \"%s\": %s", logdir, strerror(error));
	}
	enum tfp_status status = tfp_logdir_new(&dir, logdir, 0, err);
	if (status != TFP_OK)
		return status;
	status = tfp_logdir_runs_folder(dir, folder, size, err);
	tfp_logdir_free(dir);
	return status;
}

int tfp_command_capture(int argc, char **argv)
{
	static struct request q; /* large */
	static char folder[PATH_MAX];
	struct work w = {.status = TFP_OK};
	pthread_t thread;
	sigset_t signals;
	tfp_recording_options_init(&q.options);
	int code = read_capture_options(&q, argc, argv);
	if (code >= 0)
		return code;
	if (find_folder(q.logdir, folder, sizeof(folder), &w.err) != TFP_OK)
		return failed(&w.err);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	/* A file that may not grow further is an error, not the end. */
	signal(SIGXFSZ, SIG_IGN);
	if (tfp_recording_new(&w.recording, &q.options, folder, &w.err) != TFP_OK)
		return failed(&w.err);
	if (pthread_create(&thread, NULL, record, &w) != 0) {
		tfp_recording_free(w.recording);
		fprintf(stderr, "tfprof: cannot start a thread\n");
		return EXIT_FAILURE;
	}
	watch(&w, q.quiet, &signals);
	pthread_join(thread, NULL);
	code = conclusion(&w, folder);
	tfp_recording_free(w.recording);
	return code;
}

/* ---- monitoring ---- */

int tfp_command_monitor(int argc, char **argv)
{
	static const struct option options[] = {
		{"duration", required_argument, NULL, 'd'},
		{"level", required_argument, NULL, OPTION_LEVEL},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct tfp_target target;
	struct tfp_error err;
	struct tfp_buf text;
	uint32_t duration_ms = 1000;
	unsigned level = 2;
	int option;
	while ((option = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			if (!read_time(optarg, 1, &duration_ms))
				return bad_usage("--duration takes a time such as 2s, not '%s'",
						 optarg);
			break;
		case OPTION_LEVEL:
			if (!read_number(optarg, 2, &level) || level == 0)
				return bad_usage("--level takes 1 or 2, not '%s'", optarg);
			break;
		case 'h':
			fputs(monitor_usage, stdout);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "Try 'tfprof monitor --help'.\n");
			return EXIT_USAGE;
		}
	}
	if (optind + 1 != argc)
		return bad_usage("monitor: name one program, as HOST:PORT%s", "");
	if (tfp_target_parse(&target, argv[optind], strlen(argv[optind]), &err) != TFP_OK)
		return bad_query(&err);
	tfp_buf_init(&text, (size_t)1 << 20);
	enum tfp_status status = tfp_monitor(&target, duration_ms, (int)level, &text, &err);
	if (status == TFP_OK) {
		/* A terminal obeys escape sequences. */
		for (size_t i = 0; i < text.size; i++) {
			unsigned char c = (unsigned char)text.data[i];
			putchar((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : c);
		}
		if (text.size && text.data[text.size - 1] != '\n')
			putchar('\n');
		if (fflush(stdout) != 0 && errno != EPIPE)
			status = tfp_fail(&err, TFP_IO, "cannot write: %s", strerror(errno));
	}
	tfp_buf_release(&text);
	return status == TFP_OK ? EXIT_SUCCESS : failed(&err);
}
