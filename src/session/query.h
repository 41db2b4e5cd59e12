/* SPDX-License-Identifier: Apache-2.0 */
/* What a client asks for besides the session: the parameters of a request. */
#ifndef TFP_SESSION_QUERY_H
#define TFP_SESSION_QUERY_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Parameters of a request, decoded. */
struct tfp_param {
	const char *key, *value;
};

struct tfp_query {
	const struct tfp_param *params;
	size_t count;
};

/* The first value under a key, or NULL. */
const char *tfp_query_get(const struct tfp_query *query, const char *key);
/* A whole number from 0 on; fallback when the key is absent, TFP_BAD_QUERY
 * when it is not a number. */
enum tfp_status tfp_query_get_count(const struct tfp_query *query, const char *key,
				    uint64_t fallback, uint64_t *value,
				    struct tfp_error *err) TFP_CHECK;
/* Which of some words a parameter is: its place among them, 0 when the key is absent.
 * TFP_BAD_QUERY when it is another. */
enum tfp_status tfp_query_get_word(const struct tfp_query *query, const char *key,
				   const char *const *words, size_t count, size_t *found,
				   struct tfp_error *err) TFP_CHECK;

#endif
