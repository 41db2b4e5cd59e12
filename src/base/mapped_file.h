/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file's bytes, read-only, mapped.
 *
 * A file that another program cuts while it is mapped has no bytes behind its
 * pages any more, and reading them is SIGBUS. With the guard installed such
 * pages read as zeros, the program lives, and a reader can ask afterwards
 * (tfp_mapped_file_was_cut).
 */
#ifndef TFP_BASE_MAPPED_FILE_H
#define TFP_BASE_MAPPED_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_mapped_file {
	const uint8_t *data; /* NULL when the file is empty */
	size_t size;
	unsigned slot; /* where the guard knows it, + 1; 0 when it does not */
};

/* Installs the process's handler of SIGBUS. Once, by main, before threads
 * start. A SIGBUS that is about no mapped file ends the process as ever. */
enum tfp_status tfp_mapped_file_guard(struct tfp_error *err) TFP_CHECK;

/* Maps the regular file behind fd (which stays open and the caller's). name
 * is for messages only. At most 4096 files are mapped at a time. */
enum tfp_status tfp_mapped_file_open(struct tfp_mapped_file *out, int fd, const char *name,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_mapped_file_release(struct tfp_mapped_file *file);

/* Whether bytes were read that the file had lost. */
bool tfp_mapped_file_was_cut(const struct tfp_mapped_file *file);

#endif
