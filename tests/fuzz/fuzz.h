/* What the fuzz targets share. A target hands bytes to the program and looks
 * whether what must always hold does. */
#ifndef TFP_TESTS_FUZZ_FUZZ_H
#define TFP_TESTS_FUZZ_FUZZ_H

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

#endif
