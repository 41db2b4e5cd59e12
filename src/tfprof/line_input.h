/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that somebody types, with history and completion, or that another program writes. */
#ifndef TFP_TFPROF_LINE_INPUT_H
#define TFP_TFPROF_LINE_INPUT_H

#include "base/error.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>

struct tfp_line_input;

/* Words that complete what was typed: the i-th of those for the first word of a line, or for the
 * others; false behind the last. */
struct tfp_completion {
	bool (*word)(const void *context, bool first, size_t i, struct tfp_str *word);
	const void *context;
};

/* Reads standard input. On a terminal there is a prompt, and lines are remembered in
 * ~/.tfprof_history. */
enum tfp_status tfp_line_input_new(struct tfp_line_input **out, const struct tfp_completion *words,
				   struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_line_input_free(struct tfp_line_input *input);
/* The next line without its end, valid until the next call; NULL at the end of the input. */
const char *tfp_line_input_next(struct tfp_line_input *input);

#endif
