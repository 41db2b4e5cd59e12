/* SPDX-License-Identifier: Apache-2.0 */
/* tfprof-synth: writes captures of a program that never ran. */
#include "base/error.h"
#include "base/notices.h"
#include "base/number.h"
#include "synth/synth.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TFP_VERSION
#define TFP_VERSION "unknown"
#endif

enum { EXIT_USAGE = 2 };

static const char usage[] =
	"Usage: tfprof-synth [OPTION]... -o LOGDIR\n"
	"\n"
	"Writes profiler captures of a made-up training run, one file for each host,\n"
	"to LOGDIR/plugins/profile/RUN/HOST.xplane.pb. The same options give the same\n"
	"bytes.\n"
	"\n"
	"  -o, --output LOGDIR        where to write; folders are made as needed\n"
	"      --run NAME             name of the run (2026_01_15_10_00_00)\n"
	"      --hosts N              hosts, one file each (1)\n"
	"      --devices N            GPUs of each host (2)\n"
	"      --steps N              training steps (30)\n"
	"      --events-per-step N    events of a host in a step, about (3000)\n"
	"      --allocations N        further blocks of host memory taken and given back in\n"
	"                             a step, two events each (0)\n"
	"      --counters N           samples of each GPU's counters in a step (0)\n"
	"      --size BYTES           as many steps as make a file of about this size,\n"
	"                             uncompressed; K, M and G stand for powers of 1000\n"
	"      --compress KIND        none, gz or zst (none)\n"
	"      --seed N               another number, another run (1)\n"
	"      --grouped              as TensorFlow 2.4 wrote captures, with groups and\n"
	"                             derived lines in the file\n"
	"      --jax                  another program: a transformer's train step, compiled by\n"
	"                             XLA, with the program in the file; 2 hosts, 2 GPUs\n"
	"                             each, 12 steps; options after it change that\n"
	"      --layers N             of that program (6)\n"
	"      --unrolled             every layer has instructions of its own, no loop\n"
	"      --demo                 4 hosts, 2 GPUs each, 26 small steps; options\n"
	"                             after it change that\n"
	"  -h, --help                 print this and exit\n"
	"      --version              print the version and exit\n"
	"      --licenses             print the licences of the program and its libraries\n";

enum option_id {
	OPTION_RUN = 256,
	OPTION_HOSTS,
	OPTION_DEVICES,
	OPTION_STEPS,
	OPTION_EVENTS,
	OPTION_ALLOCATIONS,
	OPTION_COUNTERS,
	OPTION_SIZE,
	OPTION_COMPRESS,
	OPTION_SEED,
	OPTION_GROUPED,
	OPTION_JAX,
	OPTION_LAYERS,
	OPTION_UNROLLED,
	OPTION_DEMO,
	OPTION_VERSION,
	OPTION_LICENSES,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"run", required_argument, NULL, OPTION_RUN},
	{"hosts", required_argument, NULL, OPTION_HOSTS},
	{"devices", required_argument, NULL, OPTION_DEVICES},
	{"steps", required_argument, NULL, OPTION_STEPS},
	{"events-per-step", required_argument, NULL, OPTION_EVENTS},
	{"allocations", required_argument, NULL, OPTION_ALLOCATIONS},
	{"counters", required_argument, NULL, OPTION_COUNTERS},
	{"size", required_argument, NULL, OPTION_SIZE},
	{"compress", required_argument, NULL, OPTION_COMPRESS},
	{"seed", required_argument, NULL, OPTION_SEED},
	{"grouped", no_argument, NULL, OPTION_GROUPED},
	{"jax", no_argument, NULL, OPTION_JAX},
	{"layers", required_argument, NULL, OPTION_LAYERS},
	{"unrolled", no_argument, NULL, OPTION_UNROLLED},
	{"demo", no_argument, NULL, OPTION_DEMO},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"licenses", no_argument, NULL, OPTION_LICENSES},
	{NULL, 0, NULL, 0},
};

static bool complain(const char *option, const char *text, const char *expected)
{
	fprintf(stderr, "tfprof-synth: --%s %s: not %s\n", option, text, expected);
	return false;
}

/* Digits, and one of K, M, G after them if units. */
static bool parse_number(const char *option, const char *text, bool units, uint64_t *value)
{
	const char *expected = units ? "a size such as 500K, 100M or 1G" : "a number";
	uint64_t unit = 1;
	const char *rest = text;

	if (!tfp_number_begin(&rest, value))
		return complain(option, text, expected);
	if (units && *rest) {
		unit = *rest == 'K' ? 1000 : *rest == 'M' ? 1000000 : *rest == 'G' ? 1000000000 : 0;
		rest++;
	}
	if (*rest || unit == 0 || *value > UINT64_MAX / unit)
		return complain(option, text, expected);
	*value *= unit;
	return true;
}

static bool parse_count(const char *option, const char *text, unsigned *value)
{
	uint64_t number;

	if (!parse_number(option, text, false, &number))
		return false;
	if (number > UINT32_MAX)
		return complain(option, text, "that large");
	*value = (unsigned)number;
	return true;
}

static bool parse_compression(const char *text, enum tfp_synth_compression *value)
{
	if (!strcmp(text, "none"))
		*value = TFP_SYNTH_PLAIN;
	else if (!strcmp(text, "gz"))
		*value = TFP_SYNTH_GZIP;
	else if (!strcmp(text, "zst"))
		*value = TFP_SYNTH_ZSTD;
	else
		return complain("compress", text, "one of none, gz and zst");
	return true;
}

static bool parse_run(const char *text, struct tfp_synth_options *o)
{
	if (strlen(text) >= sizeof(o->run))
		return complain("run", text, "short enough");
	snprintf(o->run, sizeof(o->run), "%s", text);
	return true;
}

static bool parse_option(int id, const char *text, struct tfp_synth_options *o)
{
	switch (id) {
	case OPTION_RUN:
		return parse_run(text, o);
	case OPTION_HOSTS:
		return parse_count("hosts", text, &o->hosts);
	case OPTION_DEVICES:
		return parse_count("devices", text, &o->devices);
	case OPTION_STEPS:
		return parse_count("steps", text, &o->steps);
	case OPTION_EVENTS:
		return parse_count("events-per-step", text, &o->events_per_step);
	case OPTION_ALLOCATIONS:
		return parse_count("allocations", text, &o->allocations);
	case OPTION_COUNTERS:
		return parse_count("counters", text, &o->counter_samples);
	case OPTION_SIZE:
		return parse_number("size", text, true, &o->bytes);
	case OPTION_COMPRESS:
		return parse_compression(text, &o->compression);
	case OPTION_SEED:
		return parse_number("seed", text, false, &o->seed);
	case OPTION_GROUPED:
		o->grouped = true;
		return true;
	case OPTION_JAX:
		tfp_synth_options_jax(o);
		return true;
	case OPTION_LAYERS:
		return parse_count("layers", text, &o->layers);
	case OPTION_UNROLLED:
		o->unrolled = true;
		return true;
	case OPTION_DEMO:
		tfp_synth_options_demo(o);
		return true;
	default:
		/* getopt has said what it did not understand. */
		fputs("Try 'tfprof-synth --help'.\n", stderr);
		return false;
	}
}

int main(int argc, char **argv)
{
	struct tfp_synth_options options;
	const char *logdir = NULL;
	struct tfp_error err;
	char text[1800];
	int id;

	tfp_synth_options_init(&options);
	while ((id = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1) {
		if (id == 'h') {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		}
		if (id == OPTION_VERSION) {
			puts("tfprof-synth " TFP_VERSION);
			return EXIT_SUCCESS;
		}
		if (id == OPTION_LICENSES) {
			fputs(tfp_notices, stdout);
			return EXIT_SUCCESS;
		}
		if (id == 'o')
			logdir = optarg;
		else if (!parse_option(id, optarg, &options))
			return EXIT_USAGE;
	}
	if (optind < argc) {
		fprintf(stderr, "tfprof-synth: unexpected argument '%s'\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (!logdir) {
		fputs("tfprof-synth: where to? Give -o LOGDIR.\n", stderr);
		return EXIT_USAGE;
	}
	tfp_error_init(&err);
	if (tfp_synth_write(&options, logdir, &err) != TFP_OK) {
		fprintf(stderr, "tfprof-synth: %s\n", tfp_error_text(&err, text, sizeof(text)));
		return err.status == TFP_BAD_QUERY ? EXIT_USAGE : EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
