/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: random ones, and one that is kept in a file.
 */
#ifndef TFP_HTTP_TOKEN_H
#define TFP_HTTP_TOKEN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a random token: 192 bits as text for an address, and a zero byte. */
#define TFP_TOKEN_SIZE 33u
/* Characters that a token in a file has, at least and at most. */
#define TFP_TOKEN_MIN 16u
#define TFP_TOKEN_MAX 256u

/* TFP_IO when the system has no random numbers. */
enum tfp_status tfp_token_make(char token[TFP_TOKEN_SIZE], struct tfp_error *err) TFP_CHECK;

/* Reads the first line of a file. If there is no file, makes one with a new token and mode 0600,
 * and sets *made. TFP_FORBIDDEN when a user other than root owns the file or can read or change it.
 * TFP_BAD_INPUT when the line is not TFP_TOKEN_MIN to TFP_TOKEN_MAX letters, digits, '-', '_', '.'
 * and '~'. */
enum tfp_status tfp_token_file(const char *path, char token[TFP_TOKEN_MAX + 1], bool *made,
			       struct tfp_error *err) TFP_CHECK;

/* Whether text[0..size) is the secret. The time that it takes tells nothing but the secret's
 * length. */
bool tfp_token_same(const char *text, size_t size, const char *secret);

#endif
