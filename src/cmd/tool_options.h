/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of tools as options of tfprof: from_ps becomes --from-ps.
 */
#ifndef TFP_CMD_TOOL_OPTIONS_H
#define TFP_CMD_TOOL_OPTIONS_H

#include "tools/tool.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/* A program's own options, and behind them one for each name of a parameter that any tool has. */
struct tfp_tool_options {
	struct option *options; /* for getopt_long: ends with zeros */
	const char **names;     /* of the parameters, in the order of their ids */
	size_t own, count;
};

/* own_options ends with zeros. A parameter of the same name as one of them is left out. Parameters
 * have the ids from first_id on. False without memory. Release it in any case. */
bool tfp_tool_options_init(struct tfp_tool_options *list, const struct option *own_options,
			   int first_id);
void tfp_tool_options_release(struct tfp_tool_options *list);

/* The option's name for a parameter's, without dashes in front; freed by the caller. NULL without
 * memory. */
char *tfp_tool_option_name(const char *parameter);

/* Prints what "tfprof TOOL --help" says. Returns an exit code. */
int tfp_tool_print_help(const struct tfp_tool *tool);

#endif
