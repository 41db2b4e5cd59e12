/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprof scope DIR -select micros -order_by micros`: the commands of TensorFlow's first profiler
 * on captures, with its options, as parameters of the tool tfprof and options of the program.
 *
 *     if (tfp_view_arguments_wanted(argc, argv)) {
 *             struct tfp_view_arguments a;
 *             code = tfp_view_arguments_init(&a, argc, argv);
 *             if (code < 0) ... a.argc, a.argv, a.given, a.file ...
 *             tfp_view_arguments_release(&a);         in any case
 *     }
 */
#ifndef TFP_CMD_VIEW_ARGUMENTS_H
#define TFP_CMD_VIEW_ARGUMENTS_H

#include "tools/tool.h"

struct tfp_view_arguments {
	/* The program's own: "tfprof", "tfprof", the path, and its options; ends with NULL. */
	char **argv; /* owned */
	int argc;
	char **options; /* owned, as its texts are: argv from the third on, which getopt sorts */
	size_t option_count;
	struct tfp_param given[TFP_TOOL_PARAMETERS]; /* of the tool; keys are its names */
	size_t given_count;
	char *values[TFP_TOOL_PARAMETERS]; /* owned; what given points to */
	size_t value_count;
	const char *file; /* where to write; NULL: standard output. Of values */
	bool silent;      /* -output none */
};

/* Whether the arguments are a command for a path that exists, without files of the first
 * profiler. */
bool tfp_view_arguments_wanted(int argc, char **argv);
/* -1, or an exit status, and what is wrong was told. */
int tfp_view_arguments_init(struct tfp_view_arguments *a, int argc, char **argv);
void tfp_view_arguments_release(struct tfp_view_arguments *a);

#endif
