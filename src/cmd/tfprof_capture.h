/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of tfprof that talk to running programs.
 */
#ifndef TFP_CMD_TFPROF_CAPTURE_H
#define TFP_CMD_TFPROF_CAPTURE_H

/* argv[0] is the command's name; each returns an exit code. */
int tfp_command_capture(int argc, char **argv);
int tfp_command_monitor(int argc, char **argv);

#endif
