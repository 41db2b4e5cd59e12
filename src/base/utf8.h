/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from a capture is whatever the profiled program wrote. Before it goes
 * into JSON it has to be UTF-8.
 */
#ifndef TFP_BASE_UTF8_H
#define TFP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

struct tfp_buf;

/* Well-formed UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing
 * above U+10FFFF. */
bool tfp_utf8_valid(const char *text, size_t size);

/* Length of the longest well-formed prefix. */
size_t tfp_utf8_prefix(const char *text, size_t size);

/* Appends text with every maximal ill-formed part replaced by U+FFFD (the
 * practice that the Unicode standard recommends). */
void tfp_utf8_repair(struct tfp_buf *out, const char *text, size_t size);

#endif
