/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much room a text takes on a terminal.
 */
#ifndef TFP_REPORT_TEXT_WIDTH_H
#define TFP_REPORT_TEXT_WIDTH_H

#include "base/buf.h"

#include <stddef.h>

/* Columns of a UTF-8 text: 2 for the wide letters of East Asia and pictures, 0 for marks that
 * stand over others. */
size_t tfp_text_width(const char *text, size_t size);
/* Bytes of the longest beginning of at most width columns. */
size_t tfp_text_prefix(const char *text, size_t size, size_t width);
/* Appends the text with its middle taken out where it is wider than width. */
void tfp_text_shorten(struct tfp_buf *out, const char *text, size_t size, size_t width);
/* Appends the text without what a terminal would take for a command: control characters become
 * blanks, those that turn the direction of writing go. */
void tfp_text_clean(struct tfp_buf *out, const char *text, size_t size);

#endif
