/*
 * Lines for the person who runs the program, on stderr. One call, one line,
 * one write, so that threads do not mix. Control characters are replaced.
 */
#ifndef TFP_BASE_LOG_H
#define TFP_BASE_LOG_H

#include <stdbool.h>

/* Whether tfp_log_verbose prints. Set before threads start. */
void tfp_log_set_verbose(bool on);

void tfp_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tfp_log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tfp_log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
