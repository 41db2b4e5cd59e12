/*
 * How many wrong tokens came from where: each address may try TFP_ATTEMPTS
 * times at once, and again once every TFP_ATTEMPT_SECONDS. Bounded memory:
 * addresses share counters by chance, and a network of IPv6 (64 bits) counts as
 * one. Thread-safe.
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

/* Whether no token from this address is to be looked at now. now_ns is of the
 * monotonic clock. address may be NULL. */
bool tfp_attempts_exhausted(struct tfp_attempts *attempts, const struct sockaddr *address,
			    int64_t now_ns);
/* One more wrong token. How many may still come at once; 0: it was the last. */
unsigned tfp_attempts_count(struct tfp_attempts *attempts, const struct sockaddr *address,
			    int64_t now_ns);

#endif
