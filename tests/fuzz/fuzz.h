/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share. A target hands bytes to the program and looks
 * whether what must always hold does. */
#ifndef TFP_TESTS_FUZZ_FUZZ_H
#define TFP_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* libFuzzer's entry, which replay.c calls as well. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As assert, in every kind of build: the fuzzer takes the abort for a find. */
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct tfp_capture;
struct tfp_error;

/* Reads everything that a capture has by every reader there is. */
void fuzz_walk_capture(struct tfp_capture *capture);
/* Every reader that makes a summary or a table of a capture. */
void fuzz_summarise(struct tfp_capture *capture);
/* An error that is fit to be shown. */
void fuzz_check_error(const struct tfp_error *err, size_t input_size);

/* ---- files (folder.c) ---- */

/* A folder of this process, made at the first call, in memory where there is such a
 * file system; removed when the process ends well. */
const char *fuzz_folder(void);
/* Writes (or writes anew) a file below it, with the folders above it; false where the
 * system has no such name. */
bool fuzz_write(const char *path, const void *bytes, size_t size);
/* Removes all that is in it. */
void fuzz_empty_folder(void);

/* ---- answers (answers.c) ---- */

/* JSON text as a strict parser takes it: UTF-8, every number finite, one document. */
void fuzz_check_json(const char *text, size_t size);
/* What the tools of the registry answer, and what the timeline does, checked and appended to
 * out, so that two can be compared; failures are part of it. choice: a number that chooses
 * among the parameters that they are asked with, since all would take too long. */
struct tfp_session;
struct tfp_buf;
void fuzz_ask_dashboards(const struct tfp_session *session, uint64_t choice, struct tfp_buf *out);
void fuzz_ask_timeline(const struct tfp_session *session, uint64_t choice, struct tfp_buf *out);

#endif
