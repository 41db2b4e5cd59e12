/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts wrong tokens by address. An address may try TFP_ATTEMPTS tokens at once, and then one
 * every TFP_ATTEMPT_SECONDS. Memory is bounded: addresses may share a counter by chance, and a
 * network of IPv6 (64 bits) counts as one address. Thread-safe.
 */
#ifndef TFP_HTTP_ATTEMPTS_H
#define TFP_HTTP_ATTEMPTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define TFP_ATTEMPTS        20u
#define TFP_ATTEMPT_SECONDS 3u

struct tfp_attempts;

enum tfp_status tfp_attempts_new(struct tfp_attempts **out, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_attempts_free(struct tfp_attempts *attempts);

/* Whether the address has no attempt left at present, so that its tokens are not looked at.
 * now_ns is of the monotonic clock. address may be NULL. */
bool tfp_attempts_exhausted(struct tfp_attempts *attempts, const struct sockaddr *address,
			    int64_t now_ns);
/* Counts one more wrong token. Returns how many may still come at once; 0: it was the last. */
unsigned tfp_attempts_count(struct tfp_attempts *attempts, const struct sockaddr *address,
			    int64_t now_ns);

#endif
