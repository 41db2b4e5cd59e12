/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for the person, or the program, that looks after this one, on stderr. One
 * call makes one line with one write, so that threads do not mix. As text, control
 * characters and bytes that are not UTF-8 are escaped (\x1b). As JSON, each line is
 * one valid object.
 */
#ifndef TFP_BASE_LOG_H
#define TFP_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfp_log_format { TFP_LOG_TEXT, TFP_LOG_JSON };

/* Whether tfp_log_verbose prints. Set before threads start, as the next. */
void tfp_log_set_verbose(bool on);
void tfp_log_set_format(enum tfp_log_format format);
bool tfp_log_is_verbose(void);

void tfp_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tfp_log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tfp_log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct tfp_log_field {
	const char *name; /* a word */
	const char *text; /* NULL: the number counts */
	double number;
};
/* For events that are frequent. Prints where tfp_log_verbose does: as JSON the fields, as text
 * the format. */
void tfp_log_event(const char *event, const struct tfp_log_field *fields, size_t count,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
