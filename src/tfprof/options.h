/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be shown, and how: the options of a view, with the defaults, the grammar and the
 * messages of the original.
 *
 *     struct tfp_view_options o;
 *     tfp_view_options_init(&o);
 *     if (tfp_view_options_line(&o, "scope -max_depth 3", &command, &err) != TFP_OK) ...
 *     tfp_view_options_release(&o);
 */
#ifndef TFP_TFPROF_OPTIONS_H
#define TFP_TFPROF_OPTIONS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_view_command {
	TFP_VIEW_SCOPE,
	TFP_VIEW_GRAPH,
	TFP_VIEW_CODE,
	TFP_VIEW_OP,
	TFP_VIEW_ADVISE,
	TFP_VIEW_SET,
	TFP_VIEW_HELP,
	TFP_VIEW_COMMANDS,
	TFP_VIEW_NONE = TFP_VIEW_COMMANDS,
};

enum tfp_view_number {
	TFP_MAX_DEPTH,
	TFP_MIN_BYTES,
	TFP_MIN_PEAK_BYTES,
	TFP_MIN_RESIDUAL_BYTES,
	TFP_MIN_OUTPUT_BYTES,
	TFP_MIN_MICROS,
	TFP_MIN_ACCELERATOR_MICROS,
	TFP_MIN_CPU_MICROS,
	TFP_MIN_PARAMS,
	TFP_MIN_FLOAT_OPS,
	TFP_MIN_OCCURRENCE,
	TFP_STEP,
	TFP_VIEW_NUMBERS,
};

/* Lists are words with commas between them and no empty one. */
enum tfp_view_text {
	TFP_ORDER_BY,
	TFP_ACCOUNT_TYPES, /* regular expressions, as the next four */
	TFP_START_NAMES,
	TFP_TRIM_NAMES,
	TFP_SHOW_NAMES,
	TFP_HIDE_NAMES,
	TFP_SELECT,   /* sorted, each once */
	TFP_OUT_FILE, /* NULL: none was named so far */
	TFP_VIEW_TEXTS,
};

/* What can be selected, in the alphabetical order of the words. */
enum tfp_selected {
	TFP_SELECT_ACCELERATOR_MICROS,
	TFP_SELECT_BYTES,
	TFP_SELECT_CPU_MICROS,
	TFP_SELECT_DEVICE,
	TFP_SELECT_FLOAT_OPS,
	TFP_SELECT_INPUT_SHAPES,
	TFP_SELECT_MICROS,
	TFP_SELECT_OCCURRENCE,
	TFP_SELECT_OP_TYPES,
	TFP_SELECT_OUTPUT_BYTES,
	TFP_SELECT_PARAMS,
	TFP_SELECT_PEAK_BYTES,
	TFP_SELECT_RESIDUAL_BYTES,
	TFP_SELECT_TENSOR_VALUE,
	TFP_SELECTABLE,
};

enum tfp_view_output {
	TFP_OUT_TIMELINE,
	TFP_OUT_STDOUT,
	TFP_OUT_FILE_TABLE,
	TFP_OUT_PPROF,
	TFP_OUT_NONE
};

struct tfp_view_options {
	int64_t numbers[TFP_VIEW_NUMBERS];
	char *texts[TFP_VIEW_TEXTS]; /* owned */
	bool displayed_only;         /* account_displayed_op_only */
	enum tfp_view_output output;
	bool count_flops; /* of nodes for which nobody recorded any */
};

extern const char *const tfp_view_command_words[TFP_VIEW_COMMANDS];
extern const char *const tfp_view_number_words[TFP_VIEW_NUMBERS];
extern const char *const tfp_selected_words[TFP_SELECTABLE];
#define TFP_PRESETS 3
extern const char *const tfp_preset_words[TFP_PRESETS];
/* Every option's word, "-max_depth" and so on, in the order of the table; NULL at the end. */
extern const char *const tfp_view_option_words[];

/* The defaults; TFP_NO_MEMORY. */
enum tfp_status tfp_view_options_init(struct tfp_view_options *o, struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_view_options_release(struct tfp_view_options *o);
enum tfp_status tfp_view_options_copy(struct tfp_view_options *to,
				      const struct tfp_view_options *from,
				      struct tfp_error *err) TFP_CHECK;

/* The command of that word, or TFP_VIEW_NONE. */
enum tfp_view_command tfp_view_command(const char *word);
/* A line such as "scope -max_depth 3", words divided by blanks. TFP_BAD_QUERY with the
 * original's message when it makes no sense; o then has what came before. A line of blanks is
 * TFP_VIEW_NONE. */
enum tfp_status tfp_view_options_line(struct tfp_view_options *o, const char *line,
				      enum tfp_view_command *command,
				      struct tfp_error *err) TFP_CHECK;

/* For flags, whose values are not checked as a line's are: a list without empty words, sorted
 * and each once if it is what to select. */
enum tfp_status tfp_view_options_set_text(struct tfp_view_options *o, enum tfp_view_text which,
					  const char *value, struct tfp_error *err) TFP_CHECK;
/* "file:outfile=F" and its like. */
enum tfp_status tfp_view_options_set_output(struct tfp_view_options *o, const char *value,
					    struct tfp_error *err) TFP_CHECK;
/* trainable_variables_parameter, float_operation or time_and_memory, as TensorFlow's Python has
 * them; TFP_BAD_QUERY for other words. */
enum tfp_status tfp_view_options_preset(struct tfp_view_options *o, const char *word,
					struct tfp_error *err) TFP_CHECK;
/* A decimal number as the original reads it: a sign, digits, nothing else. */
bool tfp_view_integer(const char *text, int64_t min, int64_t max, int64_t *value);

/* A table of all options and their values. */
void tfp_view_options_write(const struct tfp_view_options *o, struct tfp_buf *out);

bool tfp_selects(const struct tfp_view_options *o, enum tfp_selected what);
/* The next word of a list, which is moved behind it; NULL at its end. *size: its length. */
const char *tfp_next_word(const char **list, size_t *size);

#endif
