/* SPDX-License-Identifier: Apache-2.0 */
/* tfprof: what the server shows, on the command line. */
#include "base/alloc.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/mapped_file.h"
#include "base/notices.h"
#include "base/number.h"
#include "base/pool.h"
#include "base/progress.h"
#include "cmd/results.h"
#include "cmd/tfprof_capture.h"
#include "cmd/tool_options.h"
#include "cmd/view_arguments.h"
#include "report/reports.h"
#include "session/given_peaks.h"
#include "session/session.h"
#include "store/capture_cache.h"
#include "store/logdir.h"
#include "store/pack.h"
#include "tfprof/program.h"
#include "tools/findings.h"
#include "tools/run_documents.h"
#include "tools/run_info.h"
#include "tools/run_tables.h"
#include "tools/tool.h"
#include "trace/trace_export.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_OUTPUT    ((size_t)1 << 31)
#define DEFAULT_ROWS  40 /* of a table for reading */
#define FINDINGS_MOST 10 /* that are told */
#define RUNS_MOST     20 /* listed when a name could mean several */
#define TEXT_MIN      16 /* a text column is cut to no less than this */

/* 3 is of tfprof capture. */
enum { EXIT_USAGE = 2, EXIT_DAMAGED = 4 };

#define EXPORT "trace_export"

static const char usage[] =
	"Usage: tfprof ls DIR [--format table|json|csv]\n"
	"       tfprof info PATH [--run RUN] [--host HOST] [--format table|json|csv]\n"
	"       tfprof TOOL PATH [--run RUN] [--host HOST] [--format table|json|csv]\n"
	"                   [OPTION OF THE TOOL]...\n"
	"       tfprof trace_export PATH [--run RUN] [--host HOST] [--output FILE]\n"
	"                           [--format chrome|perfetto] [--tracks LIST]\n"
	"                           [--from PS] [--to PS]\n"
	"       tfprof tools [--format table|json]\n"
	"       tfprof capture HOST:PORT[,...] --logdir DIR [OPTION]...\n"
	"       tfprof monitor HOST:PORT\n"
	"       tfprof scope|graph|op|code PATH [--run RUN] [--hosts H,...]\n"
	"              [OPTION]...\n"
	"       tfprof [--profile_path=FILE | --graph_path=FILE --run_meta_path=FILE]...\n"
	"              [scope|graph|op|code|advise]\n"
	"\n"
	"Reads profiler captures (*.xplane.pb). PATH is a log directory, a run in it, or\n"
	"one capture file.\n"
	"\n"
	"  ls             the runs below DIR: time, hosts, size\n"
	"  info           what the captures of a run hold, and what is wrong with them\n"
	"  tools          the tools; json: with all that is known of them\n"
	"  trace_export   every event, for Perfetto or chrome://tracing\n"
	"  TOOL           a dashboard, such as kernel_stats; 'tfprof TOOL --help' lists\n"
	"                 the options that it has besides these\n"
	"  capture        a new run from running programs: 'tfprof capture --help'\n"
	"  monitor        what a running program reports about itself (TPUs only)\n"
	"  scope, graph, op, code, advise\n"
	"                 views of a model from the files of TensorFlow's first profiler:\n"
	"                 'tfprof help'\n"
	"  scope, graph, op, code PATH\n"
	"                 the same of captures: 'tfprof tfprof --help' lists what they\n"
	"                 take\n"
	"\n"
	"  -r, --run RUN        the run, by its name in 'tfprof ls' or a part of it that\n"
	"                       no other has (the newest)\n"
	"  -H, --host HOST      one host (all together)\n"
	"      --hosts HOST,... several of them, for tools that take several\n"
	"  -f, --format FORMAT  table, to read; json, the server's bytes; csv (table)\n"
	"  -n, --limit N        rows, 0 for all (40 of a table, otherwise the tool's own\n"
	"                       limit)\n"
	"  -w, --width N        lay text out to N characters, 0 for no limit (the\n"
	"                       terminal's width, where there is one)\n"
	"  -o, --output FILE    where trace_export writes (standard output); compressed\n"
	"                       when the name ends in .gz\n"
	"      --tracks LIST    only these tracks, such as 0.1,0.2 (all)\n"
	"      --from PS, --to PS\n"
	"                       only what lies between, in picoseconds from the\n"
	"                       beginning of the trace\n"
	"      --follow-symlinks\n"
	"                       follow links that lead out of DIR\n"
	"      --cache-dir DIR  keep summaries of captures there, outside PATH (tfprof in\n"
	"                       $XDG_CACHE_HOME or ~/.cache)\n"
	"      --cache-limit N  bytes that they may take; K, M, G, T stand for powers of\n"
	"                       1024 (1G)\n"
	"      --no-cache       keep nothing\n"
	"      --peaks FILE     what devices can do at most, for rooflines and\n"
	"                       utilisation (what captures say)\n"
	"      --memory-limit N bytes of memory to work with; what takes more is refused\n"
	"                       (half of the memory)\n"
	"  -h, --help           print this and exit\n"
	"      --version        print the version and exit\n"
	"      --licenses       print the licences of the program and its libraries\n"
	"\n"
	"Examples:\n"
	"  tfprof ls runs/\n"
	"  tfprof kernel_stats runs/ --limit 10\n"
	"  tfprof framework_op_stats host.xplane.pb --format csv > ops.csv\n"
	"  tfprof scope runs/ -select micros,float_ops -order_by micros -max_depth 4\n"
	"  tfprof trace_export runs/ --output trace.json.gz\n";

enum option_id {
	OPTION_VERSION = 256,
	OPTION_LICENSES,
	OPTION_FOLLOW_SYMLINKS,
	OPTION_MEMORY_LIMIT,
	OPTION_PEAKS,
	OPTION_TRACKS,
	OPTION_FROM,
	OPTION_TO,
	OPTION_HOSTS,
	OPTION_OF_TOOL, /* and those that follow: parameters of tools, by their places */
};

static const struct option own_options[] = {
	{"run", required_argument, NULL, 'r'},
	{"host", required_argument, NULL, 'H'},
	{"hosts", required_argument, NULL, OPTION_HOSTS},
	{"format", required_argument, NULL, 'f'},
	{"limit", required_argument, NULL, 'n'},
	{"width", required_argument, NULL, 'w'},
	{"output", required_argument, NULL, 'o'},
	{"tracks", required_argument, NULL, OPTION_TRACKS},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"follow-symlinks", no_argument, NULL, OPTION_FOLLOW_SYMLINKS},
	TFP_RESULTS_LONG_OPTIONS,
	{"memory-limit", required_argument, NULL, OPTION_MEMORY_LIMIT},
	{"peaks", required_argument, NULL, OPTION_PEAKS},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"licenses", no_argument, NULL, OPTION_LICENSES},
	{NULL, 0, NULL, 0},
};

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_CHROME, FORMAT_PERFETTO };

static const char *const format_names[] = {"table", "json", "csv", "chrome", "perfetto"};

struct options {
	const char *command, *path, *run, *host, *hosts, *limit;
	/* The tool's own, by the names of its parameters. */
	struct tfp_param given[TFP_TOOL_PARAMETERS];
	size_t given_count;
	const char *output, *tracks, *from, *to;
	enum format format;
	uint64_t rows, width;
	bool width_given, format_given, help;
	unsigned logdir_flags;
	uint64_t memory_limit;
	struct tfp_results_options results;
	const char *peaks;                     /* a file */
	const struct tfp_view_arguments *view; /* a view of the first profiler, on captures */
};

/* What a command works on. */
struct work {
	const struct options *options;
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	struct tfp_capture_cache *cache;
	struct tfp_result_cache *results;
	struct tfp_given_peaks *peaks;
	struct tfp_run_info *info;
	const struct tfp_logdir_snapshot *snapshot;
	struct tfp_answer answer;
	struct tfp_buf out;
	size_t findings; /* problems in captures so far */
	bool damaged;    /* what is printed lacks something */
	bool reported;   /* the report has what the profiler itself complained of */
};

static int bad_usage(const char *format, const char *text)
{
	fprintf(stderr, "tfprof: ");
	fprintf(stderr, format, text);
	fprintf(stderr, "\nTry 'tfprof --help'.\n");
	return EXIT_USAGE;
}

/* ---- options ---- */

static int give(struct options *o, const char *name, const char *value)
{
	for (size_t i = 0; i < o->given_count; i++) {
		if (strcmp(o->given[i].key, name) == 0) {
			o->given[i].value = value;
			return -1;
		}
	}
	if (o->given_count == TFP_TOOL_PARAMETERS)
		return bad_usage("no tool takes as many options as that%s", "");
	o->given[o->given_count++] = (struct tfp_param){name, value};
	return -1;
}

/* What was given is the tool's: -1, else an exit code. */
static int check_given(const struct options *o, const struct tfp_tool *tool)
{
	for (size_t i = 0; i < o->given_count; i++) {
		bool known = false;
		for (size_t j = 0; tool && j < TFP_TOOL_PARAMETERS && tool->parameters[j].name; j++)
			known |= strcmp(tool->parameters[j].name, o->given[i].key) == 0;
		if (known)
			continue;
		char *name = tfp_tool_option_name(o->given[i].key);
		fprintf(stderr, "tfprof: %s has no option --%s\nTry 'tfprof %s--help'.\n",
			o->command, name ? name : o->given[i].key, tool ? "TOOL " : "");
		tfp_free(name);
		return EXIT_USAGE;
	}
	return -1;
}

/* Returns -1 to go on, or an exit code. */
static int read_options(struct options *o, const struct tfp_tool_options *list, int argc,
			char **argv)
{
	int option;
	while ((option = getopt_long(argc, argv, "r:H:f:n:w:o:h", list->options, NULL)) != -1) {
		switch (option) {
		case 'r':
			o->run = optarg;
			break;
		case 'H':
			o->host = optarg;
			break;
		case OPTION_HOSTS:
			o->hosts = optarg;
			break;
		case 'f':
			for (o->format = FORMAT_TABLE; strcmp(format_names[o->format], optarg) != 0;
			     o->format++) {
				if (o->format == FORMAT_PERFETTO)
					return bad_usage("--format takes table, json or csv, and "
							 "with trace_export chrome or perfetto, "
							 "not '%s'",
							 optarg);
			}
			o->format_given = true;
			break;
		case 'o':
			o->output = optarg;
			break;
		case OPTION_TRACKS:
			o->tracks = optarg;
			break;
		case OPTION_FROM:
			o->from = optarg;
			break;
		case OPTION_TO:
			o->to = optarg;
			break;
		case 'n':
			if (!tfp_number(optarg, SIZE_MAX, &o->rows))
				return bad_usage("--limit takes a number, not '%s'", optarg);
			o->limit = optarg;
			break;
		case 'w':
			if (!tfp_number(optarg, SIZE_MAX, &o->width))
				return bad_usage("--width takes a number, not '%s'", optarg);
			o->width_given = true;
			break;
		case OPTION_FOLLOW_SYMLINKS:
			o->logdir_flags |= TFP_LOGDIR_FOLLOW_SYMLINKS;
			break;
		case OPTION_PEAKS:
			o->peaks = optarg;
			break;
		case OPTION_MEMORY_LIMIT:
			if (!tfp_read_size(optarg, &o->memory_limit))
				return bad_usage("--memory-limit takes a size such as 4G, not '%s'",
						 optarg);
			break;
		case TFP_RESULTS_OPTION_DIR:
		case TFP_RESULTS_OPTION_LIMIT:
		case TFP_RESULTS_OPTION_OFF:
			if (!tfp_results_take_option(&o->results, option, optarg))
				return bad_usage("--cache-limit takes a size such as 1G, not '%s'",
						 optarg);
			break;
		case OPTION_VERSION:
			puts("tfprof " TFP_VERSION);
			return EXIT_SUCCESS;
		case OPTION_LICENSES:
			fputs(tfp_notices, stdout);
			return EXIT_SUCCESS;
		case 'h':
			o->help = true;
			break;
		default:
			if (option >= OPTION_OF_TOOL) {
				int code = give(o, list->names[option - OPTION_OF_TOOL], optarg);
				if (code >= 0)
					return code;
				break;
			}
			fprintf(stderr, "Try 'tfprof --help'.\n");
			return EXIT_USAGE;
		}
	}
	if (o->help) {
		const struct tfp_tool *tool = optind < argc ? tfp_tool_find(argv[optind]) : NULL;
		if (tool)
			return tfp_tool_print_help(tool);
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	if (optind == argc)
		return bad_usage("name a command or a tool%s", "");
	o->command = argv[optind++];
	if (strcmp(o->command, "tools") != 0) {
		if (optind == argc)
			return bad_usage("%s: name a log directory or a capture file", o->command);
		o->path = argv[optind++];
	}
	if (optind < argc)
		return bad_usage("'%s' is one argument too many", argv[optind]);
	bool exports = strcmp(o->command, EXPORT) == 0;
	if (exports && !o->format_given)
		o->format = FORMAT_CHROME;
	if (exports != (o->format >= FORMAT_CHROME))
		return bad_usage(exports ? EXPORT " writes chrome or perfetto, not %s"
					 : "--format %s is for " EXPORT,
				 format_names[o->format]);
	if (!exports && (o->output || o->tracks || o->from || o->to))
		return bad_usage("--output, --tracks, --from and --to are for %s", EXPORT);
	return -1;
}

/* ---- printing ---- */

static size_t width_of(const struct options *o)
{
	struct winsize size;
	if (o->width_given)
		return o->width;
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

/* Prints an answer as JSON or CSV, or else the report that was made of it. */
static enum tfp_status print_answer(struct work *w, const struct tfp_report *report,
				    struct tfp_error *err)
{
	const struct tfp_table *table = tfp_report_csv_table(&w->answer);
	/* A text is what it is in any format. */
	if (w->answer.file_type)
		return tfp_answer_write_json(&w->answer, &w->out, err);
	switch (w->options->format) {
	case FORMAT_JSON:
		return tfp_answer_write_json(&w->answer, &w->out, err);
	case FORMAT_CSV:
		if (!table)
			return tfp_fail(err, TFP_BAD_QUERY, "there is no table to write as CSV");
		if (tfp_table_failed(table))
			return tfp_fail(err, TFP_NO_MEMORY, "no memory for the table");
		tfp_table_write_csv(table, TFP_CSV_PLAIN, &w->out);
		return TFP_OK;
	default:
		tfp_report_write(report, width_of(w->options), w->options->rows, &w->out);
		return TFP_OK;
	}
}

/* ---- commands ---- */

static enum tfp_status run_ls(struct work *w, struct tfp_error *err)
{
	if (w->options->format == FORMAT_JSON)
		return tfp_run_list_json(w->info, w->snapshot, &w->out, err);
	for (size_t i = 0; i < w->snapshot->note_count; i++)
		fprintf(stderr, "%s\n", w->snapshot->notes[i]);
	enum tfp_status status = tfp_run_list_answer(w->info, w->snapshot, &w->answer, err);
	if (status != TFP_OK)
		return status;
	if (tfp_table_row_count(&w->answer.tables[0]) == 0 &&
	    tfp_run_list_problem(w->dir, w->snapshot, err))
		return err->status;
	struct tfp_report report;
	tfp_report_init(&report);
	tfp_report_runs(&w->answer, &report);
	status = print_answer(w, &report, err);
	tfp_report_release(&report);
	return status;
}

/* How well a name given stands for a run's: 0 not at all, 1 it is in it in any letters, 2 in
 * these, 3 it is one or several of its folders, 4 it is its name. */
static int likeness(const char *name, const char *given)
{
	int best = strcasestr(name, given) ? 1 : 0;
	size_t size = strlen(given);
	if (strcmp(name, given) == 0)
		return 4;
	for (const char *at = name; (at = strstr(at, given)); at++) {
		bool begins = at == name || at[-1] == '/', ends = !at[size] || at[size] == '/';
		best = begins && ends ? 3 : best < 2 ? 2 : best;
	}
	return best;
}

/* The one run that the name can mean, or those that it could as an error. */
static enum tfp_status find_run(struct work *w, const char *given, const struct tfp_run **run,
				struct tfp_error *err)
{
	const struct tfp_logdir_snapshot *s = w->snapshot;
	size_t count = 0;
	int best = 1;
	for (size_t i = 0; given[0] && i < s->run_count; i++) {
		int like = likeness(s->runs[i].name, given);
		if (like < best)
			continue;
		count = like > best ? 1 : count + 1;
		best = like;
		*run = &s->runs[i];
	}
	/* Graph runs by their whole name alone: most folders of event files are none. */
	if (best < 4) {
		const struct tfp_run *whole = tfp_logdir_find_run(s, given);
		if (whole) {
			*run = whole;
			return TFP_OK;
		}
	}
	if (count == 0) {
		tfp_fail(err, TFP_NOT_FOUND, "there is no run \"%s\"", given);
		tfp_error_set_hint(err, "'tfprof ls %s' lists the runs", w->options->path);
		return TFP_NOT_FOUND;
	}
	if (count == 1) {
		if (best < 4)
			fprintf(stderr, "the run is %s\n", (*run)->name);
		return TFP_OK;
	}
	fprintf(stderr, "\"%s\" could be any of %zu runs:\n", given, count);
	for (size_t i = 0, told = 0; i < s->run_count && told < RUNS_MOST; i++) {
		if (likeness(s->runs[i].name, given) < best)
			continue;
		fprintf(stderr, "  %s\n", s->runs[i].name);
		told++;
	}
	if (count > RUNS_MOST)
		fprintf(stderr, "  and %zu more\n", count - RUNS_MOST);
	tfp_fail(err, TFP_NOT_FOUND, "\"%s\" is not the name of one run", given);
	tfp_error_set_hint(err, "give a longer part of its name");
	return TFP_NOT_FOUND;
}

static enum tfp_status choose_run(struct work *w, const struct tfp_run **run, struct tfp_error *err)
{
	const struct tfp_logdir_snapshot *s = w->snapshot;
	const char *name = w->options->run;
	if (name && (s->run_count || s->event_run_count))
		return find_run(w, name, run, err);
	enum tfp_status status = tfp_newest_run(w->info, s, run, err);
	if (status != TFP_OK)
		return status;
	if (!*run && tfp_run_list_problem(w->dir, s, err)) {
		for (size_t i = 0; i < s->note_count; i++)
			fprintf(stderr, "%s\n", s->notes[i]);
		return err->status;
	}
	if (s->run_count > 1)
		fprintf(stderr, "the newest of %zu runs: %s\n", s->run_count, (*run)->name);
	return TFP_OK;
}

static enum tfp_status open_session(struct work *w, struct tfp_session *session,
				    struct tfp_error *err)
{
	const struct tfp_run *run = NULL;
	enum tfp_status status = choose_run(w, &run, err);
	if (status == TFP_OK)
		status = tfp_session_init(session, w->cache, w->results, w->pool, run,
					  w->options->host, err);
	session->peaks = w->peaks;
	return status;
}

/* Narrows a session to the hosts that were named. *chosen is the caller's (tfp_free). */
static enum tfp_status choose_hosts(struct work *w, struct tfp_session *session,
				    struct tfp_capture_file **chosen, struct tfp_error *err)
{
	*chosen = NULL;
	if (!w->options->hosts)
		return TFP_OK;
	*chosen = tfp_calloc(session->run->host_count, sizeof(**chosen));
	if (!*chosen)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the hosts");
	return tfp_session_choose(session, w->options->hosts, *chosen, err);
}

static void put_clean(struct tfp_str text)
{
	for (size_t i = 0; i < text.size; i++)
		fputc((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f ? ' '
										 : text.data[i],
		      stderr);
}

static void note_finding(void *context, struct tfp_finding f)
{
	struct work *w = context;
	w->damaged |= f.damage;
}

static void tell_finding(void *context, struct tfp_finding f)
{
	struct work *w = context;
	note_finding(w, f);
	if (f.severity == TFP_INFO || (w->reported && !f.damage) || w->findings++ >= FINDINGS_MOST)
		return;
	fprintf(stderr, "%s: ", tfp_severity_word(f.severity));
	/* Profilers put the host in front of some of their messages. */
	if (!tfp_str_starts(f.message, f.host))
		fprintf(stderr, "%s: ", f.host);
	put_clean(f.message);
	if (f.offset != TFP_NO_OFFSET)
		fprintf(stderr, " (byte %" PRIu64 ")", f.offset);
	if (f.hint.size)
		fputs("; ", stderr);
	put_clean(f.hint);
	fputc('\n', stderr);
}

/* Tells a reader of the output, on standard error, what is wrong with the captures: a table of half
 * a capture looks like one of a whole one. */
static enum tfp_status tell_findings(struct work *w, const struct tfp_session *session,
				     struct tfp_error *err)
{
	enum tfp_status status = tfp_session_findings(session, tell_finding, w, err);
	if (w->findings > FINDINGS_MOST)
		fprintf(stderr, "and %zu more: 'tfprof info' lists them\n",
			w->findings - FINDINGS_MOST);
	return status;
}

static enum tfp_status run_info(struct work *w, struct tfp_error *err)
{
	struct tfp_session session;
	enum tfp_status status = open_session(w, &session, err);
	if (status == TFP_OK)
		status = tfp_capture_info_answer(&session, &w->answer, err);
	/* The second table tells them. */
	if (status == TFP_OK)
		status = tfp_session_findings(&session, note_finding, w, err);
	if (status != TFP_OK)
		return status;
	struct tfp_report report;
	tfp_report_init(&report);
	tfp_report_captures(&w->answer, &report);
	status = print_answer(w, &report, err);
	tfp_report_release(&report);
	return status;
}

/* Why the tool has nothing to show for the run, or NULL. */
static const char *reason_of(struct work *w, const struct tfp_tool *tool, const struct tfp_run *run)
{
	struct tfp_run_traits traits;
	struct tfp_error err;
	if (tfp_run_traits(w->info, run, &traits, &err) != TFP_OK)
		return NULL;
	return tfp_tool_reason(tool, &traits);
}

static enum tfp_status report_tool(struct work *w, const struct tfp_tool *tool,
				   const struct tfp_session *session, const struct tfp_query *query,
				   struct tfp_error *err)
{
	const struct tfp_reporter *reporter = tfp_reporter_find(tool);
	const char *reason = NULL;
	struct tfp_answer more;
	struct tfp_report report;
	enum tfp_status status = TFP_OK;
	tfp_answer_init(&more);
	tfp_report_init(&report);
	if (w->options->format == FORMAT_TABLE) {
		reason = reason_of(w, tool, session->run);
		w->reported = !reason && reporter->tells_findings;
	}
	if (!reason)
		status = tfp_reporter_render(w->options->format == FORMAT_JSON ? NULL : reporter,
					     tool, session, query, &w->answer, err);
	if (status == TFP_OK)
		status = tell_findings(w, session, err);
	if (status == TFP_OK && w->options->format == FORMAT_TABLE) {
		const struct tfp_report_source source = {session, query, &w->answer, &more};
		if (reason)
			tfp_report_say(&report, "%s", reason);
		else if (!w->answer.file_type)
			status = reporter->write(&source, &report, err);
	}
	for (size_t i = 0; status == TFP_OK && i < more.table_count; i++)
		report.failed |= tfp_table_failed(&more.tables[i]);
	if (status == TFP_OK)
		status = print_answer(w, &report, err);
	tfp_report_release(&report);
	tfp_answer_release(&more);
	return status;
}

static enum tfp_status into_file(void *context, const void *bytes, size_t size,
				 struct tfp_error *err)
{
	if (fwrite(bytes, 1, size, context) == size)
		return TFP_OK;
	return tfp_fail(err, TFP_IO, "cannot write: %s", strerror(errno));
}

/* An answer that is printed as it is made, in any format. */
static enum tfp_status print_stream(struct work *w, const struct tfp_tool *tool,
				    const struct tfp_session *session,
				    const struct tfp_query *query, struct tfp_error *err)
{
	const struct tfp_sink sink = {into_file, stdout};
	struct tfp_answer_stream stream;
	enum tfp_status status = tfp_tool_stream(tool, session, query, &stream, err);
	if (status != TFP_OK)
		return status;
	status = tell_findings(w, session, err);
	if (status == TFP_OK && isatty(STDOUT_FILENO) &&
	    strcmp(stream.content_type, "application/octet-stream") == 0)
		status = tfp_fail(err, TFP_BAD_QUERY,
				  "bytes cannot be shown in a terminal: write them to a file");
	if (status == TFP_OK)
		status = stream.write(stream.context, &sink, err);
	stream.free(stream.context);
	/* A reader that has seen enough is no failure. */
	return status == TFP_IO && errno == EPIPE ? TFP_OK : status;
}

static enum tfp_status run_tool(struct work *w, const struct tfp_tool *tool, struct tfp_error *err)
{
	struct tfp_session session;
	/* The tag tells apart tools that have two forms. */
	struct tfp_param params[3 + TFP_TOOL_PARAMETERS] = {{"tag", w->options->command}};
	struct tfp_query query = {params, 1};
	char rows[24];
	snprintf(rows, sizeof(rows), "%" PRIu64, w->options->rows);
	if (w->options->format == FORMAT_TABLE)
		params[query.count++] = (struct tfp_param){"limit", rows};
	else if (w->options->limit)
		params[query.count++] = (struct tfp_param){"limit", w->options->limit};
	for (size_t i = 0; i < w->options->given_count; i++)
		params[query.count++] = w->options->given[i];
	/* As the page: of several hosts the slowest's steps and verdict. */
	if (w->options->format == FORMAT_TABLE)
		params[query.count++] = (struct tfp_param){"steps_of", "slowest"};
	struct tfp_capture_file *chosen = NULL;
	enum tfp_status status = open_session(w, &session, err);
	if (status == TFP_OK && w->options->hosts && !tool->takes_hosts)
		status = tfp_fail(err, TFP_BAD_QUERY, "%s takes no --hosts", tool->name);
	if (status == TFP_OK)
		status = choose_hosts(w, &session, &chosen, err);
	if (status == TFP_OK)
		status = tfp_tool_streams(tool, &query)
				 ? print_stream(w, tool, &session, &query, err)
				 : report_tool(w, tool, &session, &query, err);
	tfp_free(chosen);
	return status;
}

/* ---- views of the first profiler ---- */

/* To a terminal, which names of a capture must not steer. */
static void clean(struct tfp_buf *text)
{
	for (size_t i = 0; i < text->size; i++) {
		unsigned char c = (unsigned char)text->data[i];
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			text->data[i] = '?';
	}
}

static enum tfp_status write_view(struct work *w, struct tfp_error *err)
{
	const char *file = w->options->view->file;
	bool terminal = !file && isatty(STDOUT_FILENO);
	enum tfp_status status = tfp_answer_write_json(&w->answer, &w->out, err);
	if (status != TFP_OK)
		return status;
	if (terminal && w->answer.file_suffix && strcmp(w->answer.file_suffix, ".pb.gz") == 0) {
		tfp_fail(err, TFP_BAD_QUERY, "a profile for pprof cannot be shown in a terminal");
		tfp_error_set_hint(err, "-output pprof:outfile=NAME writes it to a file");
		return TFP_BAD_QUERY;
	}
	if (terminal)
		clean(&w->out);
	if (file) {
		FILE *to = fopen(file, "wbe");
		bool good = to && fwrite(w->out.data, 1, w->out.size, to) == w->out.size;
		if (to && fclose(to) != 0)
			good = false;
		if (!good) {
			status = tfp_fail(err, TFP_IO, "cannot write: %s", strerror(errno));
			tfp_error_set_file(err, file);
		}
	}
	if (file || w->options->view->silent)
		tfp_buf_clear(&w->out);
	return status;
}

static enum tfp_status run_view(struct work *w, const struct tfp_tool *tool, struct tfp_error *err)
{
	const struct tfp_query query = {w->options->view->given, w->options->view->given_count};
	struct tfp_capture_file *chosen = NULL;
	struct tfp_session session;
	w->answer.document_only = true;
	enum tfp_status status = open_session(w, &session, err);
	if (status == TFP_OK)
		status = choose_hosts(w, &session, &chosen, err);
	if (status == TFP_OK)
		status = tfp_tool_render(tool, &session, &query, &w->answer, err);
	if (status == TFP_OK)
		status = tell_findings(w, &session, err);
	if (status == TFP_OK)
		status = write_view(w, err);
	tfp_free(chosen);
	return status;
}

/* ---- an export ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

static enum tfp_status write_plain(void *context, const struct tfp_sink *sink,
				   struct tfp_error *err)
{
	return tfp_trace_export_write(context, sink, err);
}

static enum tfp_status write_export(const struct options *o, struct tfp_trace_export *export,
				    FILE *file, struct tfp_error *err)
{
	const struct tfp_sink sink = {into_file, file};
	return o->output && ends_with(o->output, ".gz")
		       ? tfp_gzip_all(&sink, write_plain, export, err)
		       : write_plain(export, &sink, err);
}

static enum tfp_status run_export(struct work *w, struct tfp_error *err)
{
	const struct options *o = w->options;
	const struct tfp_param params[] = {{"format", format_names[o->format]},
					   {"tracks", o->tracks ? o->tracks : ""},
					   {"from_ps", o->from ? o->from : "0"},
					   {"to_ps", o->to}};
	const struct tfp_query query = {params, o->to ? 4 : 3};
	struct tfp_trace_export export = {0};
	struct tfp_session session;
	FILE *file = stdout;
	if (!o->output && isatty(STDOUT_FILENO) && o->format == FORMAT_PERFETTO) {
		tfp_fail(err, TFP_BAD_QUERY, "a trace cannot be shown in a terminal");
		tfp_error_set_hint(err, "--output FILE writes it to a file");
		return TFP_BAD_QUERY;
	}
	enum tfp_status status = open_session(w, &session, err);
	if (status == TFP_OK)
		status = tfp_trace_export_init(&export, &session, &query, err);
	if (status == TFP_OK)
		status = tell_findings(w, &session, err);
	if (status == TFP_OK && o->output) {
		file = fopen(o->output, "wbe");
		if (!file) {
			status = tfp_fail(err, TFP_IO, "cannot write: %s", strerror(errno));
			tfp_error_set_file(err, o->output);
		}
	}
	if (status == TFP_OK)
		status = write_export(o, &export, file, err);
	if (o->output && file && file != stdout) {
		if (fclose(file) != 0 && status == TFP_OK)
			status = tfp_fail(err, TFP_IO, "cannot write: %s", strerror(errno));
		if (status != TFP_OK) {
			tfp_error_set_file(err, o->output);
			remove(o->output); /* no half a trace */
		}
	}
	tfp_trace_export_release(&export);
	/* A reader that has seen enough is no failure. */
	return status == TFP_IO && !o->output && errno == EPIPE ? TFP_OK : status;
}

static int list_tools(enum format format)
{
	if (format == FORMAT_JSON) {
		struct tfp_error err;
		struct tfp_buf json;
		tfp_buf_init(&json, MAX_OUTPUT);
		bool ok = tfp_tools_json(NULL, NULL, &json, &err) == TFP_OK &&
			  fwrite(json.data, 1, json.size, stdout) == json.size;
		tfp_buf_release(&json);
		return ok && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	for (const struct tfp_tool *t = tfp_tool_next(NULL); t; t = tfp_tool_next(t)) {
		printf("%-28s%s\n", t->name, t->summary);
		for (size_t i = 0; i < TFP_TOOL_ALIASES && t->aliases[i]; i++)
			printf("%24s%s %s\n", "", i ? "and" : "also", t->aliases[i]);
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static enum tfp_status run(struct work *w, const struct tfp_tool *tool, struct tfp_error *err)
{
	const struct options *o = w->options;
	enum tfp_status status = tfp_logdir_new(&w->dir, o->path, o->logdir_flags, err);
	if (status == TFP_OK)
		status = tfp_pool_new(&w->pool, 0, err);
	if (status == TFP_OK)
		status = tfp_capture_cache_new(&w->cache, w->dir, o->memory_limit, w->pool, err);
	if (status == TFP_OK && o->peaks)
		status = tfp_given_peaks_read(&w->peaks, o->peaks, err);
	/* Lists are not made of summaries. */
	if (status == TFP_OK && tool)
		status = tfp_results_open(&w->results, &o->results, o->path, err);
	if (status == TFP_OK)
		status = tfp_run_info_new(&w->info, w->dir, o->memory_limit, w->pool, err);
	if (status == TFP_OK)
		status = tfp_logdir_snapshot(w->dir, &w->snapshot, err);
	if (status != TFP_OK)
		return status;
	if (strcmp(o->command, EXPORT) == 0)
		status = run_export(w, err);
	else if (tool && o->view)
		status = run_view(w, tool, err);
	else if (tool)
		status = run_tool(w, tool, err);
	else if (strcmp(o->command, "ls") == 0)
		status = run_ls(w, err);
	else
		status = run_info(w, err);
	if (status == TFP_OK && tfp_buf_failed(&w->out))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the output");
	if (status != TFP_OK)
		return status;
	/* A reader that has seen enough is no failure. */
	if ((fwrite(w->out.data, 1, w->out.size, stdout) != w->out.size || fflush(stdout) != 0) &&
	    errno != EPIPE)
		return tfp_fail(err, TFP_IO, "cannot write: %s", strerror(errno));
	return TFP_OK;
}

/* The views of TensorFlow's first profiler, on its own files. */
static int run_views(int argc, char **argv, uint64_t memory_limit)
{
	struct tfp_progress job = {.memory.alone = true};
	struct tfp_error err;
	if (tfp_mapped_file_guard(&err) != TFP_OK) {
		fprintf(stderr, "tfprof: %s\n", err.message);
		return EXIT_FAILURE;
	}
	tfp_budget_set_limit(memory_limit);
	tfp_progress_enter(&job);
	int code = tfp_views_run(argc, argv);
	tfp_progress_enter(NULL);
	return code;
}

static int run_command(struct options *o, int argc, char **argv)
{
	struct tfp_progress job = {.memory.alone = true};
	const struct tfp_tool *tool = NULL;
	struct tfp_error err;
	char text[2048];
	struct tfp_tool_options list;
	int code = EXIT_FAILURE;
	if (tfp_tool_options_init(&list, own_options, OPTION_OF_TOOL))
		code = read_options(o, &list, argc, argv);
	tfp_tool_options_release(&list);
	if (code >= 0)
		return code;
	if (tfp_mapped_file_guard(&err) != TFP_OK) {
		fprintf(stderr, "tfprof: %s\n", err.message);
		return EXIT_FAILURE;
	}
	if (strcmp(o->command, "tools") == 0)
		return list_tools(o->format);
	if (strcmp(o->command, "ls") != 0 && strcmp(o->command, "info") != 0 &&
	    strcmp(o->command, EXPORT) != 0) {
		tool = tfp_tool_find(o->command);
		if (!tool)
			return bad_usage("there is no command or tool '%s'; 'tfprof tools' lists "
					 "the tools",
					 o->command);
	}
	code = check_given(o, tool);
	if (code >= 0)
		return code;
	struct work w = {.options = o};
	tfp_answer_init(&w.answer);
	tfp_buf_init(&w.out, MAX_OUTPUT);
	tfp_error_init(&err);
	tfp_budget_set_limit(o->memory_limit);
	tfp_progress_enter(&job);
	code = run(&w, tool, &err) == TFP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
	if (code != EXIT_SUCCESS)
		tfp_budget_explain(&err);
	tfp_progress_enter(NULL);
	if (code != EXIT_SUCCESS)
		fprintf(stderr, "tfprof: %s\n", tfp_error_text(&err, text, sizeof(text)));
	else if (w.damaged)
		code = EXIT_DAMAGED;
	tfp_buf_release(&w.out);
	tfp_answer_release(&w.answer);
	tfp_logdir_snapshot_unref(w.snapshot);
	tfp_run_info_free(w.info);
	tfp_capture_cache_free(w.cache);
	tfp_result_cache_free(w.results);
	tfp_given_peaks_free(w.peaks);
	tfp_pool_free(w.pool);
	tfp_logdir_free(w.dir);
	return code;
}

int main(int argc, char **argv)
{
	struct options o = {.rows = DEFAULT_ROWS,
			    .memory_limit = tfp_memory_of_machine() / 2,
			    .results = {.limit_bytes = TFP_RESULTS_LIMIT}};
	signal(SIGPIPE, SIG_IGN);
	/* These have options of their own. */
	if (argc > 1 && strcmp(argv[1], "capture") == 0)
		return tfp_command_capture(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "monitor") == 0)
		return tfp_command_monitor(argc - 1, argv + 1);
	if (argc < 2) {
		fputs(usage, stdout);
		return EXIT_SUCCESS;
	}
	struct tfp_view_arguments view = {0};
	int code = -1;
	if (tfp_view_arguments_wanted(argc, argv)) {
		code = tfp_view_arguments_init(&view, argc, argv);
		o.view = &view;
		argc = view.argc;
		argv = view.argv;
	} else if (tfp_views_wanted(argc, argv)) {
		return run_views(argc, argv, o.memory_limit);
	}
	if (code < 0)
		code = run_command(&o, argc, argv);
	tfp_view_arguments_release(&view);
	return code;
}
