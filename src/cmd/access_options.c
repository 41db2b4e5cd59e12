/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/access_options.h"

#include "base/log.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char tfp_access_usage[] =
	"Who gets in:\n"
	"      --host ADDRESS     listen there (127.0.0.1, for this machine only);\n"
	"                         0.0.0.0 or :: is for all who have the token\n"
	"      --listen unix:PATH listen on a socket file that only you can open\n"
	"      --auth token|none  ask for a token, which the printed address holds,\n"
	"                         or for nothing (token if others can connect)\n"
	"      --token-file FILE  the token is the first line of FILE, which is made\n"
	"                         if it is not there\n"
	"      --tls-cert FILE    encrypt; certificate and chain, PEM\n"
	"      --tls-key FILE     and the certificate's key\n"
	"      --allowed-host NAME,...\n"
	"                         names by which the server is known, such as a proxy's;\n"
	"                         *.NAME for all below NAME\n"
	"      --allow-embed ORIGIN,...\n"
	"                         pages that may show the server in a frame, such as\n"
	"                         https://portal.example.org\n";

enum tfp_status tfp_access_options_take(struct tfp_access_options *o, int option, const char *value,
					struct tfp_error *err)
{
	switch (option) {
	case TFP_OPTION_AUTH:
		o->auth = strcmp(value, "token") == 0 ? TFP_AUTH_TOKEN : TFP_AUTH_NONE;
		if (strcmp(value, "token") != 0 && strcmp(value, "none") != 0)
			return tfp_fail(err, TFP_BAD_QUERY, "--auth takes token or none, not '%s'",
					value);
		break;
	case TFP_OPTION_TOKEN_FILE:
		o->token_file = value;
		break;
	case TFP_OPTION_LISTEN:
		if (strncmp(value, "unix:", 5) != 0 || !value[5])
			return tfp_fail(err, TFP_BAD_QUERY,
					"--listen takes unix:PATH, not '%s'; addresses are for "
					"--host",
					value);
		o->socket_path = value + 5;
		break;
	case TFP_OPTION_HOST:
		o->host = value;
		break;
	case TFP_OPTION_TLS_CERT:
		o->tls_certificate = value;
		break;
	case TFP_OPTION_TLS_KEY:
		o->tls_key = value;
		break;
	case TFP_OPTION_ALLOWED_HOST:
		o->allowed_hosts = value;
		return tfp_access_check_hosts(value, err);
	case TFP_OPTION_ALLOW_EMBED:
		o->embed = value;
		return tfp_access_check_origins(value, err);
	default:
		return tfp_fail(err, TFP_INTERNAL, "no option of who gets in");
	}
	return TFP_OK;
}

enum tfp_status tfp_access_options_check(const struct tfp_access_options *o, bool port_given,
					 struct tfp_error *err)
{
	if (!o->tls_certificate != !o->tls_key)
		return tfp_fail(err, TFP_BAD_QUERY, "--tls-cert and --tls-key go together");
	if (o->token_file && o->auth == TFP_AUTH_NONE)
		return tfp_fail(err, TFP_BAD_QUERY, "--token-file is of no use with --auth none");
	if (o->socket_path && (o->host || port_given))
		return tfp_fail(err, TFP_BAD_QUERY, "--listen replaces --host and --port");
	if (o->socket_path && o->tls_certificate)
		return tfp_fail(err, TFP_BAD_QUERY, "a socket file needs no encryption");
	return TFP_OK;
}

static enum tfp_status choose_token(struct tfp_entrance *e, const struct tfp_access_options *o,
				    struct tfp_error *err)
{
	bool wanted = o->auth == TFP_AUTH_TOKEN || o->token_file ||
		      (o->auth == TFP_AUTH_AS_LISTENING && e->listener.public);
	if (!wanted)
		return TFP_OK;
	return o->token_file ? tfp_token_file(o->token_file, e->token, &e->token_made, err)
			     : tfp_token_make(e->token, err);
}

/* The machine's name as it calls itself, and, where that may matter, in full. */
static void read_own_name(bool in_full, char *name, size_t size)
{
	const struct addrinfo hints = {.ai_flags = AI_CANONNAME};
	struct addrinfo *found;
	if (gethostname(name, size - 1) != 0)
		name[0] = '\0';
	if (!in_full || strchr(name, '.') || getaddrinfo(name, NULL, &hints, &found) != 0)
		return;
	/* Only the same name with its domain. */
	size_t n = strlen(name);
	if (found->ai_canonname && strncmp(found->ai_canonname, name, n) == 0 &&
	    found->ai_canonname[n] == '.' && strlen(found->ai_canonname) < size)
		strcpy(name, found->ai_canonname);
	freeaddrinfo(found);
}

enum tfp_status tfp_entrance_open(struct tfp_entrance *e, const struct tfp_access_options *o,
				  uint16_t port, unsigned further_ports, const char *prefix,
				  struct tfp_error *err)
{
	*e = (struct tfp_entrance){.encrypted = o->tls_certificate != NULL};
	tfp_listener_init(&e->listener);
	const struct tfp_listen_config listen = {
		.host = o->host ? o->host : "127.0.0.1",
		.socket_path = o->socket_path,
		.port = port,
		.further_ports = further_ports,
		.prefix = prefix,
		.tls = e->encrypted,
	};
	enum tfp_status status = TFP_OK;
	if (e->encrypted)
		status = tfp_tls_load(&e->tls, o->tls_certificate, o->tls_key, err);
	if (status == TFP_OK)
		status = tfp_listen(&e->listener, &listen, err);
	if (status == TFP_OK)
		status = choose_token(e, o, err);
	if (status != TFP_OK)
		return status;
	char own_name[256] = "";
	/* With a token, the name need not protect: a browser does not show the cookie of one name
	 * to another. */
	bool check_host = !e->listener.public || !e->token[0] || o->allowed_hosts;
	if (check_host)
		read_own_name(e->listener.public, own_name, sizeof(own_name));
	const struct tfp_access_config access = {
		.token = e->token[0] ? e->token : NULL,
		.check_host = check_host,
		.tls = e->encrypted,
		.port = e->listener.port,
		.prefix = prefix,
		.host = o->host,
		.own_name = own_name[0] ? own_name : NULL,
		.allowed_hosts = o->allowed_hosts,
		.embed = o->embed,
	};
	return tfp_access_new(&e->access, &access, err);
}

static void announce_public(const struct tfp_entrance *e)
{
	char name[256] = "";
	if (gethostname(name, sizeof(name) - 1) != 0)
		name[0] = '\0';
	if (e->token[0])
		tfp_log("other machines can connect; anyone with the token can read the captures");
	else
		tfp_log_warning("anyone who can reach port %u of this machine can read the "
				"captures: no token is needed",
				(unsigned)e->listener.port);
	if (e->listener.wildcard && name[0])
		tfp_log("elsewhere, put a name of this machine (%s) in place of 127.0.0.1 or [::1]",
			name);
	if (!e->encrypted)
		tfp_log_warning("traffic is not encrypted%s: see --tls-cert, or leave out "
				"--host and use ssh -L",
				e->token[0] ? ", not even the token" : "");
}

void tfp_entrance_announce(const struct tfp_entrance *e, const struct tfp_access_options *o,
			   const char *what)
{
	if (e->listener.public)
		announce_public(e);
	if (e->tls.key_is_open)
		tfp_log_warning("others can read %s: chmod 600 it", o->tls_key);
	if (e->tls.expired)
		tfp_log_warning("%s has expired, or is not valid yet", o->tls_certificate);
	if (o->token_file)
		tfp_log("the token is %s %s", e->token_made ? "new, in" : "that in", o->token_file);
	/* A token that is in a file need not be in the journal of a service, too. */
	bool shown = e->token[0] && !o->token_file && !o->socket_path;
	printf("Serving %s at %s%s%s\n", what, e->listener.url, shown ? "?token=" : "",
	       shown ? e->token : "");
	if (e->token[0] && o->socket_path && !o->token_file)
		printf("Token: %s\n", e->token);
	fflush(stdout);
}

void tfp_entrance_release(struct tfp_entrance *e)
{
	if (e->access || e->listener.url[0])
		tfp_listener_close(&e->listener);
	tfp_access_free(e->access);
	tfp_tls_release(&e->tls);
	explicit_bzero(e->token, sizeof(e->token));
	e->access = NULL;
}
