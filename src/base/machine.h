/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that this process may use: the machine's, or what its control groups allow.
 */
#ifndef TFP_BASE_MACHINE_H
#define TFP_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory: of the machine, or as few as a control group (a container, a job of a
 * cluster) allows. 2 GiB when nothing says. */
uint64_t tfp_memory_of_machine(void);

/* The least limit of the control groups, version 1 or 2, that the process is in and those
 * above them; UINT64_MAX without one. root: where proc/ and sys/ are, "" for the real ones. */
uint64_t tfp_memory_of_cgroups(const char *root);

#endif
