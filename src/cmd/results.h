/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options for the result cache that the programs share: --cache-dir, --cache-limit,
 * --no-cache.
 */
#ifndef TFP_CMD_RESULTS_H
#define TFP_CMD_RESULTS_H

#include "store/result_cache.h"

#include <getopt.h>

#define TFP_RESULTS_LIMIT ((uint64_t)1 << 30) /* bytes, when no option says */

struct tfp_results_options {
	const char *folder; /* NULL: tfprof in the user's cache folder */
	uint64_t limit_bytes;
	bool off;
};

/* Ids of the options, beyond those of a program's own. */
enum tfp_results_option {
	TFP_RESULTS_OPTION_DIR = 0x1000,
	TFP_RESULTS_OPTION_LIMIT,
	TFP_RESULTS_OPTION_OFF,
};

/* The options, for a program's table of long ones. */
/* clang-format off */
#define TFP_RESULTS_LONG_OPTIONS                                           \
	{"cache-dir", required_argument, NULL, TFP_RESULTS_OPTION_DIR},     \
	{"cache-limit", required_argument, NULL, TFP_RESULTS_OPTION_LIMIT}, \
	{"no-cache", no_argument, NULL, TFP_RESULTS_OPTION_OFF}
/* clang-format on */

/* Takes over one of them. text is its argument, borrowed for as long as the options are used.
 * false for a limit that is no size. */
bool tfp_results_take_option(struct tfp_results_options *options, int option, const char *text);

/* A size such as 4G; K, M, G and T stand for powers of 1024. false for anything else, and
 * for 0. */
bool tfp_read_size(const char *text, uint64_t *out);

/* A number that tells this build of the program from others. */
uint64_t tfp_build_stamp(void);

/* *out is NULL when results are not kept: because of an option, or because the folder cannot be
 * used, which is logged. It is an error only if a folder was asked for that lies inside logdir. */
enum tfp_status tfp_results_open(struct tfp_result_cache **out,
				 const struct tfp_results_options *options, const char *logdir,
				 struct tfp_error *err) TFP_CHECK;

#endif
