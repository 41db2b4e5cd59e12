/* SPDX-License-Identifier: Apache-2.0 */
/* tfprof-server: serves the captures below a directory as web pages. */
#include "base/alloc.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mapped_file.h"
#include "base/notices.h"
#include "base/number.h"
#include "base/pool.h"
#include "cmd/access_options.h"
#include "cmd/results.h"
#include "http/recordings.h"
#include "http/server.h"
#include "session/given_peaks.h"
#include "session/run_clock.h"
#include "store/capture_cache.h"
#include "store/logdir.h"
#include "synth/synth.h"
#include "tools/run_info.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PORT    6006
#define FURTHER_PORTS   100
#define STOP_SECONDS    5
#define FILES_WANTED    16384
#define MAX_CONNECTIONS 100000
#define MAX_MINUTES     10000000 /* as nanoseconds they fit 64 bits */
#define MAX_SECONDS     86400
#define IDLE_MINUTES    10
/* Larger blocks go back to the system as soon as they are freed. */
#define LARGE_BLOCK ((size_t)4 << 20)
/* The most that a quick look may unpack a file to: a whole message, but no more than half of the
 * memory. */
#define LOOK_BYTES_MAX ((uint64_t)2 << 30)
#define LOOK_PART      2

/* The part of the memory for finished answers, and the most that they may take: they are small. */
#define ANSWER_PART      16
#define ANSWER_BYTES_MAX ((size_t)256 << 20)

enum { EXIT_USAGE = 2 };

static const char usage[] =
	"Usage: tfprof-server [OPTION]... DIR\n"
	"       tfprof-server [OPTION]... --demo\n"
	"\n"
	"Shows the profiler captures (*.xplane.pb) below DIR in a web browser. DIR is a\n"
	"log directory, a run in it, any folder with captures, or one capture file. New\n"
	"captures are noticed while the server runs.\n"
	"\n"
	"      --logdir DIR       the same as DIR\n"
	"      --demo             show made-up captures, to try it out\n"
	"      --port N           listen on this port (6006, or the next free one);\n"
	"                         0 takes any free one\n"
	"      --url-prefix PATH  serve below PATH too, for a proxy in front\n"
	"      --follow-symlinks  follow links that lead out of DIR\n"
	"      --memory-limit N   bytes of memory for captures, the work on them, and\n"
	"                         answers; what does not fit waits or is refused. K, M,\n"
	"                         G, T stand for powers of 1024 (half of the memory)\n"
	"      --peaks FILE       what devices can do at most, for rooflines and\n"
	"                         utilisation (what captures say)\n"
	"      --allow-capture    let clients capture from programs also when --host lets\n"
	"                         other machines connect\n"
	"      --capture-allow HOST[:PORT],...\n"
	"                         capture from these programs only (any)\n"
	"      --cache-dir DIR    keep answers and summaries there, not within DIR\n"
	"                         (tfprof in $XDG_CACHE_HOME or ~/.cache)\n"
	"      --no-cache         keep nothing\n"
	"      --verbose          a line for every request and every capture opened, on\n"
	"                         stderr\n"
	"  -h, --help             print this and exit\n"
	"      --version          print the version and exit\n"
	"      --licenses         print the licences of the program and its libraries\n"
	"\n";

static const char usage_end[] =
	"\n"
	"For experts:\n"
	"      --max-connections N\n"
	"                         connections in all (2000, or as many as the system\n"
	"                         has descriptors for)\n"
	"      --max-connections-per-client N\n"
	"                         connections from one address, 0 for any number (64, and\n"
	"                         any number from this machine)\n"
	"      --request-timeout N\n"
	"                         seconds to send the head of a request (15)\n"
	"      --answer-timeout N seconds to take an answer, besides those that its size\n"
	"                         allows at 16 KiB a second (60)\n"
	"      --idle-minutes N   close captures that nobody used for this long, and give\n"
	"                         their memory back; 0 for never (10)\n"
	"      --threads N        threads for reading captures (one per processor)\n"
	"      --cache-limit N    bytes that answers and summaries may take on disk (1G)\n"
	"      --capture-get      follow XProf's GET /capture_profile too\n"
	"      --log-format FORM  text, or json: one object per line on stderr\n"
	"\n"
	"Prints the page's address on stdout once it answers. Stops at SIGTERM and\n"
	"Ctrl+C, after the requests under way; at once when asked twice.\n"
	"\n"
	"Examples:\n"
	"  tfprof-server runs/\n"
	"  tfprof-server --host 0.0.0.0 --port 8080 /mnt/logs\n"
	"  ssh -L 6006:localhost:6006 trainer tfprof-server /data/logs\n";

enum option_id {
	OPTION_LOGDIR = 256,
	OPTION_ALLOW_CAPTURE,
	OPTION_CAPTURE_ALLOW,
	OPTION_CAPTURE_GET,
	OPTION_DEMO,
	OPTION_PORT,
	OPTION_URL_PREFIX,
	OPTION_FOLLOW_SYMLINKS,
	OPTION_MAX_CONNECTIONS,
	OPTION_MAX_PER_CLIENT,
	OPTION_REQUEST_TIMEOUT,
	OPTION_ANSWER_TIMEOUT,
	OPTION_IDLE_MINUTES,
	OPTION_MEMORY_LIMIT,
	OPTION_PEAKS,
	OPTION_THREADS,
	OPTION_LOG_FORMAT,
	OPTION_VERBOSE,
	OPTION_VERSION,
	OPTION_LICENSES,
};

static const struct option long_options[] = {
	{"logdir", required_argument, NULL, OPTION_LOGDIR},
	{"allow-capture", no_argument, NULL, OPTION_ALLOW_CAPTURE},
	{"capture-allow", required_argument, NULL, OPTION_CAPTURE_ALLOW},
	{"capture-get", no_argument, NULL, OPTION_CAPTURE_GET},
	{"demo", no_argument, NULL, OPTION_DEMO},
	TFP_ACCESS_LONG_OPTIONS,
	{"port", required_argument, NULL, OPTION_PORT},
	{"url-prefix", required_argument, NULL, OPTION_URL_PREFIX},
	{"follow-symlinks", no_argument, NULL, OPTION_FOLLOW_SYMLINKS},
	{"max-connections", required_argument, NULL, OPTION_MAX_CONNECTIONS},
	{"max-connections-per-client", required_argument, NULL, OPTION_MAX_PER_CLIENT},
	{"request-timeout", required_argument, NULL, OPTION_REQUEST_TIMEOUT},
	{"answer-timeout", required_argument, NULL, OPTION_ANSWER_TIMEOUT},
	{"idle-minutes", required_argument, NULL, OPTION_IDLE_MINUTES},
	{"memory-limit", required_argument, NULL, OPTION_MEMORY_LIMIT},
	{"peaks", required_argument, NULL, OPTION_PEAKS},
	{"threads", required_argument, NULL, OPTION_THREADS},
	TFP_RESULTS_LONG_OPTIONS,
	{"log-format", required_argument, NULL, OPTION_LOG_FORMAT},
	{"verbose", no_argument, NULL, OPTION_VERBOSE},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"licenses", no_argument, NULL, OPTION_LICENSES},
	{NULL, 0, NULL, 0},
};

struct options {
	const char *logdir, *peaks;
	struct tfp_access_options access;
	char url_prefix[512];
	uint64_t memory_limit, idle_minutes;
	struct tfp_results_options results;
	unsigned threads, logdir_flags;
	uint16_t port;
	bool port_given, demo, allow_capture;
	struct tfp_recordings_config recordings;
	struct tfp_limits_config limits;
};

static int bad_usage(const char *format, const char *text)
{
	fprintf(stderr, "tfprof-server: ");
	fprintf(stderr, format, text);
	fprintf(stderr, "\nTry 'tfprof-server --help'.\n");
	return EXIT_USAGE;
}

static bool read_prefix(const char *text, char *out, size_t size)
{
	size_t n = strlen(text);
	while (n && text[n - 1] == '/')
		n--;
	if (n == 0) {
		out[0] = '\0';
		return true;
	}
	if (text[0] != '/' || n >= size ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/") < n)
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}

/* Returns -1 to go on, or an exit code. */
static int read_options(struct options *o, int argc, char **argv)
{
	struct tfp_error err;
	uint64_t n;
	int option;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case OPTION_LOGDIR:
			o->logdir = optarg;
			break;
		case OPTION_DEMO:
			o->demo = true;
			break;
		case OPTION_PORT:
			if (!tfp_number(optarg, UINT16_MAX, &n))
				return bad_usage("--port takes a number up to 65535, not '%s'",
						 optarg);
			o->port = (uint16_t)n;
			o->port_given = true;
			break;
		case OPTION_URL_PREFIX:
			if (!read_prefix(optarg, o->url_prefix, sizeof(o->url_prefix)))
				return bad_usage("--url-prefix takes a path such as /tfprof, not "
						 "'%s'",
						 optarg);
			break;
		case OPTION_FOLLOW_SYMLINKS:
			o->logdir_flags |= TFP_LOGDIR_FOLLOW_SYMLINKS;
			break;
		case OPTION_MAX_CONNECTIONS:
			if (!tfp_number(optarg, MAX_CONNECTIONS, &n) || n == 0)
				return bad_usage("--max-connections takes a number from 1 to "
						 "100000, not '%s'",
						 optarg);
			o->limits.connections = (unsigned)n;
			break;
		case OPTION_MAX_PER_CLIENT:
			if (!tfp_number(optarg, MAX_CONNECTIONS, &n))
				return bad_usage("--max-connections-per-client takes a number up "
						 "to 100000, not '%s'",
						 optarg);
			o->limits.per_client = (unsigned)n;
			break;
		case OPTION_REQUEST_TIMEOUT:
			if (!tfp_number(optarg, MAX_SECONDS, &n) || n == 0)
				return bad_usage("--request-timeout takes seconds, 1 to 86400, not "
						 "'%s'",
						 optarg);
			o->limits.head_ms = (unsigned)n * 1000;
			o->limits.body_ms = 2 * o->limits.head_ms;
			break;
		case OPTION_ANSWER_TIMEOUT:
			if (!tfp_number(optarg, MAX_SECONDS, &n) || n == 0)
				return bad_usage("--answer-timeout takes seconds, 1 to 86400, not "
						 "'%s'",
						 optarg);
			o->limits.answer_ms = (unsigned)n * 1000;
			break;
		case OPTION_IDLE_MINUTES:
			if (!tfp_number(optarg, MAX_MINUTES, &o->idle_minutes))
				return bad_usage("--idle-minutes takes a number up to 10000000, "
						 "not '%s'",
						 optarg);
			break;
		case OPTION_MEMORY_LIMIT:
			if (!tfp_read_size(optarg, &o->memory_limit))
				return bad_usage("--memory-limit takes a size such as 4G, not '%s'",
						 optarg);
			break;
		case OPTION_PEAKS:
			o->peaks = optarg;
			break;
		case OPTION_THREADS:
			if (!tfp_number(optarg, 256, &n))
				return bad_usage("--threads takes a number up to 256, not '%s'",
						 optarg);
			o->threads = (unsigned)n;
			break;
		case TFP_RESULTS_OPTION_DIR:
		case TFP_RESULTS_OPTION_LIMIT:
		case TFP_RESULTS_OPTION_OFF:
			if (!tfp_results_take_option(&o->results, option, optarg))
				return bad_usage("--cache-limit takes a size such as 1G, not '%s'",
						 optarg);
			break;
		case OPTION_ALLOW_CAPTURE:
			o->allow_capture = true;
			break;
		case OPTION_CAPTURE_ALLOW:
			if (tfp_target_rules_parse(o->recordings.rules, &o->recordings.rule_count,
						   optarg, &err) != TFP_OK)
				return bad_usage("--capture-allow: %s", err.message);
			break;
		case OPTION_CAPTURE_GET:
			o->recordings.by_get = true;
			break;
		case OPTION_LOG_FORMAT:
			if (strcmp(optarg, "json") != 0 && strcmp(optarg, "text") != 0)
				return bad_usage("--log-format takes text or json, not '%s'",
						 optarg);
			tfp_log_set_format(optarg[0] == 'j' ? TFP_LOG_JSON : TFP_LOG_TEXT);
			break;
		case OPTION_VERBOSE:
			tfp_log_set_verbose(true);
			break;
		case OPTION_VERSION:
			puts("tfprof-server " TFP_VERSION);
			return EXIT_SUCCESS;
		case OPTION_LICENSES:
			fputs(tfp_notices, stdout);
			return EXIT_SUCCESS;
		case 'h':
			fputs(usage, stdout);
			fputs(tfp_access_usage, stdout);
			fputs(usage_end, stdout);
			return EXIT_SUCCESS;
		default:
			if (option < TFP_OPTION_AUTH || option >= TFP_OPTION_ACCESS_END) {
				fprintf(stderr, "Try 'tfprof-server --help'.\n");
				return EXIT_USAGE;
			}
			if (tfp_access_options_take(&o->access, option, optarg, &err) != TFP_OK)
				return bad_usage("%s", err.message);
		}
	}
	if (tfp_access_options_check(&o->access, o->port_given, &err) != TFP_OK)
		return bad_usage("%s", err.message);
	if (optind < argc && o->logdir)
		return bad_usage("one directory at a time; '%s' is one too many", argv[optind]);
	if (optind < argc)
		o->logdir = argv[optind++];
	if (optind < argc)
		return bad_usage("one directory at a time; '%s' is one too many", argv[optind]);
	if (o->demo && o->logdir)
		return bad_usage("--demo brings its own captures; leave out '%s'", o->logdir);
	if (!o->demo && !o->logdir)
		return bad_usage("name a log directory, or --demo%s", "");
	/* Its captures are new each time. */
	o->results.off |= o->demo && !o->results.folder;
	return -1;
}

/* If one of them is closed, the next file or connection would take its place, and get what is
 * printed. */
static void hold_standard_files(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Signals that other programs are sent, such as to open a log anew, and those of timers, mean
 * nothing to the server, and are no reason to end. */
static void ignore_other_signals(void)
{
	static const int numbers[] = {SIGPIPE,   SIGUSR1, SIGUSR2, SIGALRM,
				      SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_IGN);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		signal(number, SIG_IGN);
	/* A file that may not grow further is an error, not the end. */
	signal(SIGXFSZ, SIG_IGN);
}

/* A connection and a file being read need a descriptor each. */
static void raise_file_limit(unsigned connections)
{
	struct rlimit limit;
	rlim_t wanted = FILES_WANTED + (rlim_t)connections;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	setrlimit(RLIMIT_NOFILE, &limit); /* where it fails, the old one serves */
}

/* ---- the demonstration ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

static void remove_folder(const char *path)
{
	if (path[0])
		nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static enum tfp_status make_demo(char *folder, size_t size, struct tfp_error *err)
{
	const char *parent = getenv("TMPDIR");
	struct tfp_synth_options synth;
	int n = snprintf(folder, size, "%s/tfprof-demo-XXXXXX",
			 parent && parent[0] ? parent : "/tmp");
	if (n < 0 || (size_t)n >= size || !mkdtemp(folder)) {
		folder[0] = '\0';
		return tfp_fail(err, TFP_IO, "cannot make a folder for the demonstration: %s",
				strerror(errno));
	}
	tfp_synth_options_demo(&synth);
	enum tfp_status status = tfp_synth_write(&synth, folder, err);
	if (status != TFP_OK)
		return status;
	tfp_synth_options_jax(&synth);
	return tfp_synth_write(&synth, folder, err);
}

/* ---- running ---- */

struct first_look {
	struct tfp_logdir *dir;
	atomic_bool done;
};

/* Logs what there is, once. The server answers already. */
static void look_first(void *context)
{
	struct first_look *look = context;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_error err;
	char text[2048];
	if (tfp_logdir_snapshot(look->dir, &snapshot, &err) != TFP_OK) {
		tfp_log_warning("%s", tfp_error_text(&err, text, sizeof(text)));
	} else {
		if (tfp_run_list_problem(look->dir, snapshot, &err))
			tfp_log_warning("%s", tfp_error_text(&err, text, sizeof(text)));
		else
			tfp_log("%zu %s in %s", snapshot->run_count,
				snapshot->run_count == 1 ? "run" : "runs",
				tfp_logdir_path(look->dir));
		for (size_t i = 0; i < snapshot->note_count; i++)
			tfp_log("  %s", snapshot->notes[i]);
		tfp_logdir_snapshot_unref(snapshot);
	}
	atomic_store(&look->done, true);
}

/* Returns whether everything came to its end before it was time to go. */
static bool stop(struct tfp_http_server *server, struct tfp_recordings *recordings,
		 const struct first_look *look, const sigset_t *signals)
{
	const struct timespec tick = {.tv_nsec = 20000000};
	tfp_http_server_stop(server);
	/* So that no half file stays, and no program goes on recording for nobody. */
	tfp_recordings_stop(recordings);
	for (int left = STOP_SECONDS * 50; left > 0; left--) {
		if (tfp_http_server_idle(server) && atomic_load(&look->done))
			return true;
		if (sigtimedwait(signals, NULL, &tick) > 0)
			return false;
	}
	return false;
}

struct parts {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	struct tfp_capture_cache *cache;
	struct tfp_result_cache *results;
	struct tfp_given_peaks *peaks;
	struct tfp_run_info *info;
	struct tfp_run_clocks *clocks;
	struct tfp_recordings *recordings;
	struct tfp_entrance entrance;
	struct tfp_http_server *server;
	struct first_look look;
};

static void parts_release(struct parts *p)
{
	tfp_http_server_free(p->server);
	tfp_entrance_release(&p->entrance);
	tfp_recordings_free(p->recordings);
	tfp_run_info_free(p->info);
	tfp_run_clocks_free(p->clocks);
	tfp_capture_cache_free(p->cache);
	tfp_result_cache_free(p->results);
	tfp_given_peaks_free(p->peaks);
	tfp_pool_free(p->pool);
	tfp_logdir_free(p->dir);
}

/* Bytes that finished answers may take. */
static size_t answer_bytes(const struct options *o)
{
	uint64_t part = o->memory_limit / ANSWER_PART;
	return part < ANSWER_BYTES_MAX ? (size_t)part : ANSWER_BYTES_MAX;
}

static uint64_t look_bytes(const struct options *o)
{
	uint64_t part = o->memory_limit / LOOK_PART;
	return part < LOOK_BYTES_MAX ? part : LOOK_BYTES_MAX;
}

static enum tfp_status start(struct parts *p, const struct options *o, struct tfp_error *err)
{
	enum tfp_status status = tfp_logdir_new(&p->dir, o->logdir, o->logdir_flags, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&p->pool, o->threads, err);
	if (status == TFP_OK)
		status = tfp_capture_cache_new(&p->cache, p->dir, o->memory_limit - answer_bytes(o),
					       p->pool, err);
	if (status == TFP_OK)
		status = tfp_capture_cache_drop_idle(p->cache,
						     o->idle_minutes * UINT64_C(60000000000), err);
	if (status == TFP_OK)
		status = tfp_results_open(&p->results, &o->results, o->logdir, err);
	if (status == TFP_OK && o->peaks)
		status = tfp_given_peaks_read(&p->peaks, o->peaks, err);
	if (status == TFP_OK)
		status = tfp_run_info_new(&p->info, p->dir, look_bytes(o), p->pool, err);
	if (status == TFP_OK)
		status = tfp_run_clocks_new(&p->clocks, err);
	if (status == TFP_OK)
		status = tfp_recordings_new(&p->recordings, p->dir, &o->recordings, err);
	if (status == TFP_OK)
		status = tfp_entrance_open(&p->entrance, &o->access, o->port,
					   o->port_given ? 0 : FURTHER_PORTS, o->url_prefix, err);
	if (status != TFP_OK)
		return status;
	bool public = p->entrance.listener.public;
	/* Other machines may capture only if an option says so. */
	if (o->allow_capture || !public)
		tfp_recordings_allow(p->recordings);
	/* They need not know where the directory lies, either. */
	if (public)
		tfp_logdir_hide_path(p->dir);
	const struct tfp_http_app app = {
		.dir = p->dir,
		.cache = p->cache,
		.results = p->results,
		.info = p->info,
		.clocks = p->clocks,
		.peaks = p->peaks,
		.pool = p->pool,
		.recordings = p->recordings,
	};
	const struct tfp_http_config config = {
		.listener = &p->entrance.listener,
		.access = p->entrance.access,
		.tls = p->entrance.encrypted ? &p->entrance.tls : NULL,
		.url_prefix = o->url_prefix,
		.limits = o->limits,
		.build = tfp_build_stamp(),
		.answer_bytes = answer_bytes(o),
	};
	return tfp_http_server_start(&p->server, &config, &app, err);
}

/* *ended is false when threads are still at work. */
static int serve(const struct options *o, const sigset_t *signals, bool *ended)
{
	static struct parts parts; /* jobs that outlast main still use it */
	struct tfp_error err;
	char text[2048];
	int number;
	if (start(&parts, o, &err) != TFP_OK) {
		fprintf(stderr, "tfprof-server: %s\n", tfp_error_text(&err, text, sizeof(text)));
		parts_release(&parts);
		return EXIT_FAILURE;
	}
	tfp_budget_set_limit(o->memory_limit);
	uint16_t port = parts.entrance.listener.port;
	if (port && o->port && port != o->port)
		tfp_log("port %u is taken, using %u", (unsigned)o->port, (unsigned)port);
	tfp_entrance_announce(&parts.entrance, &o->access,
			      o->demo ? "made-up captures" : o->logdir);
	parts.look.dir = parts.dir;
	if (tfp_pool_submit(parts.pool, look_first, &parts.look, &err) != TFP_OK)
		atomic_store(&parts.look.done, true);

	while (sigwait(signals, &number) != 0)
		;
	/* Threads that are still at work keep what they use; the system takes it back. */
	*ended = stop(parts.server, parts.recordings, &parts.look, signals);
	if (*ended)
		parts_release(&parts);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct options o; /* large */
	o = (struct options){
		.port = DEFAULT_PORT,
		.memory_limit = tfp_memory_of_machine() / 2,
		.idle_minutes = IDLE_MINUTES,
		.results = {.limit_bytes = TFP_RESULTS_LIMIT},
		.limits = tfp_limits_defaults(),
	};
	char demo[4096] = "", text[2048];
	struct tfp_error err;
	struct sigaction hangup;
	sigset_t signals;
	int code = read_options(&o, argc, argv);
	if (code >= 0)
		return code;

	/* Before any thread is made, so that all inherit it. */
	hold_standard_files();
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* The terminal is gone: an end like others, unless nohup was used. */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	ignore_other_signals();
	raise_file_limit(o.limits.connections);
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	if (tfp_mapped_file_guard(&err) != TFP_OK) {
		fprintf(stderr, "tfprof-server: %s\n", err.message);
		return EXIT_FAILURE;
	}

	if (o.demo) {
		if (make_demo(demo, sizeof(demo), &err) != TFP_OK) {
			fprintf(stderr, "tfprof-server: %s\n",
				tfp_error_text(&err, text, sizeof(text)));
			remove_folder(demo);
			return EXIT_FAILURE;
		}
		o.logdir = demo;
	}
	bool ended = true;
	code = serve(&o, &signals, &ended);
	remove_folder(demo);
	/* exit() would tear the libraries down under the threads that still use them. */
	if (!ended)
		_exit(code);
	return code;
}
