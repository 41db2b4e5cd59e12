/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers read from texts, and written to them.
 *
 * Texts come from outside: a number is digits, and nothing that the C library takes beside
 * them (blanks, signs, other bases).
 */
#ifndef TFP_BASE_NUMBER_H
#define TFP_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The decimal number that *text begins with; *text is moved behind it. False, with both as
 * they were, when there is no digit or it is larger than 64 bits hold. */
bool tfp_number_begin(const char **text, uint64_t *out);

/* A text that is a decimal number of at most max and nothing else; else false, with *out as
 * it was. */
bool tfp_number(const char *text, uint64_t max, uint64_t *out);

/* What a hexadecimal digit stands for; -1 for any other letter. */
int tfp_hex_digit(char c);

/* Room that any number takes, written by the functions below. */
#define TFP_DIGITS_MAX 20
#define TFP_DOUBLE_MAX 40

/* Each writes to out, which has room, and returns how many bytes; no zero byte counts or is
 * needed behind them. */
size_t tfp_put_integer(char *out, int64_t value);
size_t tfp_put_count(char *out, uint64_t value);
/* As XProf's tables have doubles: the fewest digits that read back the same, ".0" for whole
 * numbers, an exponent outside 1e-4..1e15. The value must be finite. */
size_t tfp_put_double(char *out, double value);

#endif
