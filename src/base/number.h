/*
 * Numbers in texts from outside: digits, and nothing that the C library takes beside
 * them (blanks, signs, other bases).
 */
#ifndef TFP_BASE_NUMBER_H
#define TFP_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The decimal number that *text begins with; *text is moved behind it. False, with both as
 * they were, when there is no digit or it is larger than 64 bits hold. */
bool tfp_number_begin(const char **text, uint64_t *out);

/* A text that is a decimal number of at most max and nothing else; else false, with *out as
 * it was. */
bool tfp_number(const char *text, uint64_t max, uint64_t *out);

#endif
