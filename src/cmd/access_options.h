/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that decide who gets into tfprof-server, and what is made of them: a socket, a
 * certificate, a token, and the words about them at the start.
 */
#ifndef TFP_CMD_ACCESS_OPTIONS_H
#define TFP_CMD_ACCESS_OPTIONS_H

#include "base/error.h"
#include "http/access.h"
#include "http/listen.h"
#include "http/tls.h"
#include "http/token.h"

#include <stdbool.h>
#include <stdint.h>

enum tfp_auth { TFP_AUTH_AS_LISTENING, TFP_AUTH_TOKEN, TFP_AUTH_NONE };

struct tfp_access_options {
	enum tfp_auth auth;
	const char *host; /* NULL: not given */
	const char *socket_path, *token_file, *tls_certificate, *tls_key;
	const char *allowed_hosts, *embed;
};

/* Numbers for getopt_long; all of them have an argument. */
enum tfp_access_option {
	TFP_OPTION_AUTH = 512,
	TFP_OPTION_TOKEN_FILE,
	TFP_OPTION_LISTEN,
	TFP_OPTION_HOST,
	TFP_OPTION_TLS_CERT,
	TFP_OPTION_TLS_KEY,
	TFP_OPTION_ALLOWED_HOST,
	TFP_OPTION_ALLOW_EMBED,
	TFP_OPTION_ACCESS_END
};

#define TFP_ACCESS_LONG_OPTIONS                                                                    \
	{"auth", required_argument, NULL, TFP_OPTION_AUTH},                                        \
		{"token-file", required_argument, NULL, TFP_OPTION_TOKEN_FILE},                    \
		{"listen", required_argument, NULL, TFP_OPTION_LISTEN},                            \
		{"host", required_argument, NULL, TFP_OPTION_HOST},                                \
		{"tls-cert", required_argument, NULL, TFP_OPTION_TLS_CERT},                        \
		{"tls-key", required_argument, NULL, TFP_OPTION_TLS_KEY},                          \
		{"allowed-host", required_argument, NULL, TFP_OPTION_ALLOWED_HOST},                \
	{                                                                                          \
		"allow-embed", required_argument, NULL, TFP_OPTION_ALLOW_EMBED                     \
	}

/* Their part of --help. */
extern const char tfp_access_usage[];

/* Takes an option from TFP_OPTION_AUTH up to TFP_OPTION_ACCESS_END. TFP_BAD_QUERY when
 * its value is none; value is kept. */
enum tfp_status tfp_access_options_take(struct tfp_access_options *o, int option, const char *value,
					struct tfp_error *err) TFP_CHECK;
/* Whether the options go together. */
enum tfp_status tfp_access_options_check(const struct tfp_access_options *o, bool port_given,
					 struct tfp_error *err) TFP_CHECK;

/* What is made of the options. Caller's memory. */
struct tfp_entrance {
	struct tfp_listener listener;
	struct tfp_tls tls;
	struct tfp_access *access; /* owned */
	char token[TFP_TOKEN_MAX + 1];
	bool encrypted, token_made;
};

/* Listens, but answers nobody yet. port and further_ports as in tfp_listen_config. */
enum tfp_status tfp_entrance_open(struct tfp_entrance *e, const struct tfp_access_options *o,
				  uint16_t port, unsigned further_ports, const char *prefix,
				  struct tfp_error *err) TFP_CHECK;
/* Prints the page's address on stdout, and on stderr who can get in by it. what: what is served. */
void tfp_entrance_announce(const struct tfp_entrance *e, const struct tfp_access_options *o,
			   const char *what);
/* Accepts zeroed memory. */
void tfp_entrance_release(struct tfp_entrance *e);

#endif
