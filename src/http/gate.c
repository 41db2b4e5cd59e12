/* SPDX-License-Identifier: Apache-2.0 */
#include "http/gate.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/framing.h"
#include "http/network.h"
#include "http/page.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum tfp_status tfp_gate_init(struct tfp_gate *gate, const struct tfp_access *access,
			      struct tfp_error *err)
{
	gate->access = access;
	return tfp_attempts_new(&gate->attempts, err);
}

void tfp_gate_release(struct tfp_gate *gate)
{
	tfp_attempts_free(gate->attempts);
	*gate = (struct tfp_gate){0};
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

const struct sockaddr *tfp_client_address(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	return info ? info->client_addr : NULL;
}

static void count_wrong(struct tfp_gate *gate, const struct sockaddr *from, int64_t now_ns)
{
	char text[TFP_ADDRESS_TEXT];
	unsigned left = tfp_attempts_count(gate->attempts, from, now_ns);
	tfp_log_warning("a wrong token from %s%s", tfp_address_text(from, text),
			left ? "" : "; for some seconds no token from there is looked at");
}

static void refuse(const struct tfp_access_answer *answer, struct tfp_reply *reply)
{
	static const char *const why[] = {
		[TFP_ACCESS_SIGN_IN] = "",
		[TFP_ACCESS_SLOW] = "Too many wrong tokens came from your address. Wait a minute, "
				    "then try again.",
	};
	tfp_reply_error(reply, &answer->err);
	if (answer->verdict == TFP_ACCESS_REFUSED)
		return;
	reply->asks_for_token = true;
	if (answer->verdict == TFP_ACCESS_SLOW)
		reply->retry_after_s = TFP_ATTEMPT_SECONDS;
	if (answer->page)
		tfp_page_sign_in(
			answer->wrong
				? "This is not the token of this server. It has a new one each "
				  "time it starts, unless it was given one."
				: why[answer->verdict],
			reply);
}

bool tfp_gate_check(struct tfp_gate *gate, struct MHD_Connection *connection,
		    const struct tfp_gate_request *request, struct tfp_arena *arena,
		    struct tfp_reply *reply)
{
	struct tfp_access_answer answer;
	const struct sockaddr *from = tfp_client_address(connection);
	int64_t now_ns = tfp_clock_monotonic_ns();
	bool posts = strcmp(request->method, "POST") == 0;
	struct tfp_access_request r = {
		.get = !posts,
		.open = request->target->redirect || tfp_page_is_open(request->target->path),
		.changes = request->changes,
		.posts = posts,
		.target = request->target,
		.uri = request->uri,
		.host = header(connection, "Host"),
		.origin = header(connection, "Origin"),
		.fetch_site = header(connection, "Sec-Fetch-Site"),
		.fetch_mode = header(connection, "Sec-Fetch-Mode"),
		.accept = header(connection, "Accept"),
		.authorization = header(connection, "Authorization"),
		.cookie = header(connection, TFP_FRAMING_COOKIE),
		.content_type = header(connection, "Content-Type"),
		.exhausted = tfp_attempts_exhausted(gate->attempts, from, now_ns),
	};
	if (request->form) {
		r.form = tfp_http_form_value(request->form, "token", arena);
		if (!r.form)
			r.form = "";
	}
	tfp_access_decide(gate->access, &r, arena, &answer);
	if (answer.wrong)
		count_wrong(gate, from, now_ns);
	if (answer.verdict == TFP_ACCESS_ALLOWED)
		return true;
	if (answer.verdict != TFP_ACCESS_REDIRECT) {
		refuse(&answer, reply);
		return false;
	}
	reply->status = 303;
	reply->content_type = "text/plain; charset=utf-8";
	reply->location = answer.location;
	reply->cookie = answer.cookie;
	reply->asks_for_token = true;
	return false;
}

void tfp_gate_add_headers(const struct tfp_gate *gate, struct MHD_Response *response,
			  const struct tfp_reply *reply)
{
	static const char *const fixed[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), "
				       "usb=()"},
	};
	bool asks = reply->asks_for_token;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
	MHD_add_response_header(response, "Content-Security-Policy",
				tfp_access_policy(gate->access, asks));
	if (tfp_access_never_framed(gate->access))
		MHD_add_response_header(response, "X-Frame-Options", "DENY");
	/* Without a referrer browsers leave Origin out of a form, by which we know
	 * that it is ours. */
	MHD_add_response_header(response, "Referrer-Policy", asks ? "same-origin" : "no-referrer");
	MHD_add_response_header(response, "Cache-Control", asks ? "no-store" : "private, no-cache");
	if (reply->status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"tfprof\"");
	if (reply->cookie)
		MHD_add_response_header(response, "Set-Cookie", reply->cookie);
}
