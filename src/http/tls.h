/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate and key of an encrypted listener. They are read and checked at the start,
 * because libmicrohttpd would only say that it cannot start.
 */
#ifndef TFP_HTTP_TLS_H
#define TFP_HTTP_TLS_H

#include "base/error.h"

#include <stdbool.h>

/* TLS 1.2 and 1.3, forward secrecy and authenticated encryption only, as
 * GnuTLS writes it. */
#define TFP_TLS_PRIORITIES                                                                         \
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:"                                              \
	"-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:"                                                         \
	"-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:"                                \
	"-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:"               \
	"-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-SIGN-DSA-SHA1:"                                          \
	"%SERVER_PRECEDENCE:%SAFE_RENEGOTIATION:%NO_TICKETS"

struct tfp_tls {
	char *certificate, *key; /* PEM, owned */
	bool key_is_open;        /* others can read its file */
	bool expired;            /* or not valid yet */
};

/* Reads both files (PEM; the chain may follow the certificate). An error names the file, and says
 * if the key does not belong to the certificate. */
enum tfp_status tfp_tls_load(struct tfp_tls *tls, const char *certificate_file,
			     const char *key_file, struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_tls_release(struct tfp_tls *tls);

#endif
