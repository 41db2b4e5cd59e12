/* SPDX-License-Identifier: Apache-2.0 */
/* tfprof scope, graph, op, code and advise, and the program that asks for such commands. */
#ifndef TFP_TFPROF_PROGRAM_H
#define TFP_TFPROF_PROGRAM_H

#include <stdbool.h>

/* Whether these arguments are for it: one of its commands first, or a file to read among them. */
bool tfp_views_wanted(int argc, char **argv);
/* Runs it. Returns the status to exit with: 0, 1 when a file cannot be read, 2 for arguments that
 * make no sense. */
int tfp_views_run(int argc, char **argv);

#endif
