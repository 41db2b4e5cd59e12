/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/grpc_unary.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/utf8.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS    5000L
#define PREFIX_BYTES  5u /* compressed flag, length */
#define RECEIVE_BYTES (256L << 10)
#define FOREIGN_BYTES (64u << 10) /* of an answer that is no gRPC: then it is enough */
/* A server may refuse a method at once. libcurl drops its answer if the request is
 * not all sent by then, which is a matter of luck. */
#define LUCK_TRIES     5
#define NS_PER_MS      1000000
#define TIMEOUT_DIGITS 100000000 /* grpc-timeout has at most eight */

struct tfp_grpc {
	CURLM *multi;
	struct tfp_grpc_call *calls;
};

struct tfp_grpc_call {
	struct tfp_grpc *owner;
	struct tfp_grpc_call *next;
	CURL *easy;
	struct curl_slist *headers;
	uint8_t *message;
	struct tfp_grpc_request request;
	int64_t started_ns, moved_ns;
	char curl_message[CURL_ERROR_SIZE];

	/* The answer. */
	long http_status;
	bool is_grpc, has_status, connected;
	unsigned status; /* of gRPC */
	char status_message[sizeof(((struct tfp_grpc_result *)0)->message)];
	char content_type[64];
	uint8_t prefix[PREFIX_BYTES];
	size_t prefix_size;
	uint64_t length, received;
	uint64_t foreign; /* bytes of what is no gRPC */
	const char *malformed;

	unsigned tries; /* when it was refused before it was sent */
	bool done;
	struct tfp_grpc_result result;
};

const char *tfp_grpc_code_name(enum tfp_grpc_code code)
{
	static const char *const names[] = {"OK",
					    "CANCELLED",
					    "UNKNOWN",
					    "INVALID_ARGUMENT",
					    "DEADLINE_EXCEEDED",
					    "NOT_FOUND",
					    "ALREADY_EXISTS",
					    "PERMISSION_DENIED",
					    "RESOURCE_EXHAUSTED",
					    "FAILED_PRECONDITION",
					    "ABORTED",
					    "OUT_OF_RANGE",
					    "UNIMPLEMENTED",
					    "INTERNAL",
					    "UNAVAILABLE",
					    "DATA_LOSS",
					    "UNAUTHENTICATED"};
	return (unsigned)code <= TFP_GRPC_UNAUTHENTICATED ? names[code] : "UNKNOWN";
}

void tfp_grpc_decode_message(const char *text, size_t size, char *out, size_t room)
{
	char raw[1024];
	size_t n = 0;
	struct tfp_buf clean;
	for (size_t i = 0; i < size && n < sizeof(raw); i++) {
		int high = text[i] == '%' && i + 2 < size ? tfp_hex_digit(text[i + 1]) : -1;
		int low = high >= 0 ? tfp_hex_digit(text[i + 2]) : -1;
		/* What is no escape stays, as gRPC's document asks. */
		raw[n] = low >= 0 ? (char)(high * 16 + low) : text[i];
		if (low >= 0)
			i += 2;
		if ((unsigned char)raw[n] < 0x20 || raw[n] == 0x7f)
			raw[n] = ' ';
		n++;
	}
	while (n && raw[n - 1] == ' ')
		n--;
	/* Each bad byte becomes three. */
	tfp_buf_init(&clean, 3 * sizeof(raw));
	tfp_utf8_repair(&clean, raw, n);
	const char *all = tfp_buf_failed(&clean) ? "" : tfp_buf_text(&clean);
	size_t fits = strlen(all);
	if (fits >= room)
		fits = tfp_utf8_prefix(all, room - 1);
	memcpy(out, all, fits);
	out[fits] = '\0';
	tfp_buf_release(&clean);
}

/* ---- what libcurl hands us ---- */

/* The value of a header line of that name, without blanks around it. */
static bool value_of(const char *line, size_t size, const char *name, const char **value,
		     size_t *value_size)
{
	size_t n = strlen(name);
	if (size <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	const char *at = line + n + 1, *end = line + size;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && strchr(" \t\r\n", end[-1]))
		end--;
	*value = at;
	*value_size = (size_t)(end - at);
	return true;
}

static unsigned read_status(const char *text, size_t size)
{
	unsigned n = 0;
	if (size == 0 || size > 2)
		return TFP_GRPC_UNKNOWN;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return TFP_GRPC_UNKNOWN;
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	return n <= TFP_GRPC_UNAUTHENTICATED ? n : TFP_GRPC_UNKNOWN;
}

/* Called for every line of a header block, and of the trailers. */
static size_t take_header(char *line, size_t one, size_t size, void *context)
{
	static const char grpc[] = "application/grpc";
	struct tfp_grpc_call *call = context;
	const char *value;
	size_t n;
	(void)one;
	call->connected = true;
	if (size >= 5 && strncmp(line, "HTTP/", 5) == 0) {
		/* A new block: what an interim one said does not count. */
		curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &call->http_status);
		call->is_grpc = call->has_status = false;
	} else if (value_of(line, size, "content-type", &value, &n)) {
		snprintf(call->content_type, sizeof(call->content_type), "%.*s", (int)n, value);
		size_t g = sizeof(grpc) - 1;
		call->is_grpc = n >= g && strncasecmp(value, grpc, g) == 0 &&
				(n == g || strchr("+; ", value[g]));
	} else if (value_of(line, size, "grpc-status", &value, &n)) {
		call->has_status = true;
		call->status = read_status(value, n);
	} else if (value_of(line, size, "grpc-message", &value, &n)) {
		tfp_grpc_decode_message(value, n, call->status_message,
					sizeof(call->status_message));
	}
	return size;
}

/* The five bytes before the message. */
static bool take_prefix(struct tfp_grpc_call *call, uint8_t byte)
{
	const uint8_t *p = call->prefix;
	call->prefix[call->prefix_size++] = byte;
	if (call->prefix_size < PREFIX_BYTES)
		return true;
	call->length = (uint64_t)p[1] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 8 | p[4];
	if (p[0] != 0)
		call->malformed = "it is compressed, which was not asked for";
	else if (call->length > call->request.max_bytes)
		call->malformed = "it is larger than what is accepted";
	return !call->malformed;
}

static size_t take_body(char *bytes, size_t one, size_t size, void *context)
{
	struct tfp_grpc_call *call = context;
	const char *at = bytes, *end = bytes + size;
	(void)one;
	call->moved_ns = tfp_clock_monotonic_ns();
	if (!call->is_grpc || call->http_status != 200) {
		call->foreign += size;
		return call->foreign > FOREIGN_BYTES ? 0 : size;
	}
	while (at < end && call->prefix_size < PREFIX_BYTES) {
		if (!take_prefix(call, (uint8_t)*at++))
			return 0;
	}
	size_t n = (size_t)(end - at);
	if (n > call->length - call->received) {
		call->malformed = "there is more than one message";
		return 0;
	}
	if (n && call->request.sink(call->request.context, at, n, &call->result.err) != TFP_OK) {
		call->result.sink_failed = true;
		return 0;
	}
	call->received += n;
	return size;
}

/* ---- how it ended ---- */

static void end_as(struct tfp_grpc_call *call, enum tfp_grpc_code code, enum tfp_grpc_origin origin,
		   const char *message)
{
	call->done = true;
	call->result.code = code;
	call->result.origin = origin;
	tfp_grpc_decode_message(message, strlen(message), call->result.message,
				sizeof(call->result.message));
	curl_multi_remove_handle(call->owner->multi, call->easy);
}

/* gRPC's table for answers that did not come from gRPC. */
static enum tfp_grpc_code code_of_http(long status)
{
	switch (status) {
	case 400:
		return TFP_GRPC_INTERNAL;
	case 401:
		return TFP_GRPC_UNAUTHENTICATED;
	case 403:
		return TFP_GRPC_PERMISSION_DENIED;
	case 404:
		return TFP_GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return TFP_GRPC_UNAVAILABLE;
	default:
		return TFP_GRPC_UNKNOWN;
	}
}

static void end_by_curl(struct tfp_grpc_call *call, CURLcode code)
{
	const char *detail = call->curl_message[0] ? call->curl_message : curl_easy_strerror(code);
	char message[CURL_ERROR_SIZE + 64];
	enum tfp_grpc_code grpc = TFP_GRPC_UNAVAILABLE;
	enum tfp_grpc_origin origin = TFP_GRPC_BY_NETWORK;
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		snprintf(message, sizeof(message), "there is no such host");
		break;
	case CURLE_OPERATION_TIMEDOUT:
		snprintf(message, sizeof(message), "no connection within %ld seconds",
			 CONNECT_MS / 1000);
		break;
	case CURLE_COULDNT_CONNECT:
		snprintf(message, sizeof(message), "no connection: %s", detail);
		break;
	case CURLE_HTTP2:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		grpc = TFP_GRPC_INTERNAL;
		origin = TFP_GRPC_BY_ANSWER;
		snprintf(message, sizeof(message), "what answers there does not speak gRPC (%s)",
			 detail);
		break;
	case CURLE_GOT_NOTHING:
		snprintf(message, sizeof(message),
			 "the connection was closed without an answer; what listens there may not "
			 "speak gRPC");
		break;
	case CURLE_HTTP2_STREAM:
		grpc = TFP_GRPC_INTERNAL;
		snprintf(message, sizeof(message), "the program aborted the answer (%s)", detail);
		break;
	case CURLE_OUT_OF_MEMORY:
		grpc = TFP_GRPC_RESOURCE_EXHAUSTED;
		origin = TFP_GRPC_BY_US;
		snprintf(message, sizeof(message), "no memory");
		break;
	default:
		snprintf(message, sizeof(message), "the connection broke: %s", detail);
		break;
	}
	end_as(call, grpc, origin, message);
}

static bool refused_before_sent(const struct tfp_grpc_call *call, CURLcode code)
{
	curl_off_t sent = 0;
	return code == CURLE_HTTP2_STREAM && !call->connected &&
	       curl_easy_getinfo(call->easy, CURLINFO_SIZE_UPLOAD_T, &sent) == CURLE_OK &&
	       sent == 0;
}

/* Begins anew a call of which the server knows no more than the method. */
static bool begin_anew(struct tfp_grpc_call *call)
{
	CURLM *multi = call->owner->multi;
	if (++call->tries >= LUCK_TRIES)
		return false;
	call->curl_message[0] = '\0';
	return curl_multi_remove_handle(multi, call->easy) == CURLM_OK &&
	       curl_multi_add_handle(multi, call->easy) == CURLM_OK;
}

static void ended(struct tfp_grpc_call *call, CURLcode code)
{
	char message[160];
	bool refused = refused_before_sent(call, code);
	if (refused && begin_anew(call))
		return;
	if (refused) {
		/* By the method alone, as nothing else was there to be refused. */
		end_as(call, TFP_GRPC_UNIMPLEMENTED, TFP_GRPC_BY_ANSWER,
		       "what answers there refused the call at once");
		return;
	}
	if (call->result.sink_failed) {
		end_as(call, TFP_GRPC_INTERNAL, TFP_GRPC_BY_US, call->result.err.message);
	} else if (call->malformed) {
		snprintf(message, sizeof(message), "the answer cannot be read: %s",
			 call->malformed);
		end_as(call, TFP_GRPC_INTERNAL, TFP_GRPC_BY_ANSWER, message);
	} else if (call->http_status && call->http_status != 200) {
		snprintf(message, sizeof(message), "HTTP status %ld", call->http_status);
		end_as(call, code_of_http(call->http_status), TFP_GRPC_BY_ANSWER, message);
	} else if (call->http_status && !call->is_grpc) {
		snprintf(message, sizeof(message), "the answer is \"%s\", not gRPC",
			 call->content_type);
		end_as(call, TFP_GRPC_UNKNOWN, TFP_GRPC_BY_ANSWER, message);
	} else if (call->has_status && call->status != TFP_GRPC_OK) {
		end_as(call, (enum tfp_grpc_code)call->status, TFP_GRPC_BY_SERVER,
		       call->status_message);
	} else if (code != CURLE_OK) {
		end_by_curl(call, code);
	} else if (!call->has_status) {
		end_as(call, TFP_GRPC_UNKNOWN, TFP_GRPC_BY_ANSWER,
		       "the answer ended without a status");
	} else if (call->prefix_size < PREFIX_BYTES || call->received < call->length) {
		end_as(call, TFP_GRPC_INTERNAL, TFP_GRPC_BY_ANSWER,
		       "the answer ended before its message did");
	} else {
		end_as(call, TFP_GRPC_OK, TFP_GRPC_BY_SERVER, call->status_message);
	}
}

/* ---- calls ---- */

static void init_library(void)
{
	curl_global_init(CURL_GLOBAL_ALL);
}

enum tfp_status tfp_grpc_new(struct tfp_grpc **out, struct tfp_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, init_library);
	*out = NULL;
	if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2)) {
		tfp_fail(err, TFP_NOT_APPLICABLE, "this system's libcurl cannot speak HTTP/2");
		return TFP_NOT_APPLICABLE;
	}
	struct tfp_grpc *g = tfp_calloc(1, sizeof(*g));
	if (!g || !(g->multi = curl_multi_init())) {
		tfp_free(g);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a connection");
	}
	*out = g;
	return TFP_OK;
}

void tfp_grpc_free(struct tfp_grpc *g)
{
	if (!g)
		return;
	curl_multi_cleanup(g->multi);
	tfp_free(g);
}

static bool add_header(struct tfp_grpc_call *call, const char *line)
{
	struct curl_slist *list = curl_slist_append(call->headers, line);
	if (list)
		call->headers = list;
	return list != NULL;
}

static bool set_options(struct tfp_grpc_call *call)
{
	const struct tfp_grpc_request *r = &call->request;
	char url[sizeof(r->target->text) + 128], timeout[64];
	CURL *e = call->easy;
	snprintf(url, sizeof(url), "http://%s%s", r->target->text, r->method);
	if (r->limit_ms < TIMEOUT_DIGITS)
		snprintf(timeout, sizeof(timeout), "grpc-timeout: %lldm", (long long)r->limit_ms);
	else
		snprintf(timeout, sizeof(timeout), "grpc-timeout: %lldS",
			 (long long)(r->limit_ms / 1000 % TIMEOUT_DIGITS));
	bool ok = add_header(call, "Content-Type: application/grpc") &&
		  add_header(call, "TE: trailers") && add_header(call, timeout) &&
		  add_header(call, "grpc-accept-encoding: identity") &&
		  add_header(call, "Accept:") && add_header(call, "Expect:");
	ok = ok && curl_easy_setopt(e, CURLOPT_URL, url) == CURLE_OK;
	/* The host was taken apart and put together by us; libcurl's parser agrees
	 * or refuses. */
	ok = ok && curl_easy_setopt(e, CURLOPT_HTTP_VERSION,
				    (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) == CURLE_OK;
	ok = ok && curl_easy_setopt(e, CURLOPT_HTTPHEADER, call->headers) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075500
	ok = ok && curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http") == CURLE_OK;
#else
	ok = ok && curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTP) == CURLE_OK;
#endif
	if (!ok)
		return false;
	curl_easy_setopt(e, CURLOPT_POST, 1L);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(PREFIX_BYTES + r->size));
	curl_easy_setopt(e, CURLOPT_POSTFIELDS, call->message);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "tfprof/" TFP_VERSION);
	curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, call->curl_message);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(e, CURLOPT_PRIVATE, call);
	return true;
}

enum tfp_status tfp_grpc_start(struct tfp_grpc *g, struct tfp_grpc_call **out,
			       const struct tfp_grpc_request *request, struct tfp_error *err)
{
	struct tfp_grpc_call *call = tfp_calloc(1, sizeof(*call));
	*out = NULL;
	if (request->size > UINT32_MAX) {
		tfp_free(call);
		return tfp_fail(err, TFP_TOO_LARGE, "a request of %zu bytes", request->size);
	}
	if (!call)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a call");
	call->owner = g;
	call->next = g->calls;
	g->calls = call;
	call->request = *request;
	tfp_error_init(&call->result.err);
	call->started_ns = call->moved_ns = tfp_clock_monotonic_ns();
	call->message = tfp_malloc(PREFIX_BYTES + request->size);
	call->easy = curl_easy_init();
	bool ok = call->message && call->easy;
	if (ok) {
		const uint32_t n = (uint32_t)request->size;
		const uint8_t prefix[PREFIX_BYTES] = {0, (uint8_t)(n >> 24), (uint8_t)(n >> 16),
						      (uint8_t)(n >> 8), (uint8_t)n};
		memcpy(call->message, prefix, PREFIX_BYTES);
		if (n)
			memcpy(call->message + PREFIX_BYTES, request->message, n);
		ok = set_options(call) && curl_multi_add_handle(g->multi, call->easy) == CURLM_OK;
	}
	if (!ok) {
		call->done = true;
		tfp_grpc_end(call);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a call");
	}
	*out = call;
	return TFP_OK;
}

/* Whether the call was ended for that. */
static bool deadline_passed(struct tfp_grpc_call *call, int64_t now_ns)
{
	const struct tfp_grpc_request *r = &call->request;
	int64_t age_ms = (now_ns - call->started_ns) / NS_PER_MS;
	bool begun = call->prefix_size > 0 || call->foreign > 0;
	char message[128];
	if (begun && (now_ns - call->moved_ns) / NS_PER_MS > r->stall_ms)
		snprintf(message, sizeof(message), "the answer stopped for %lld seconds",
			 (long long)(r->stall_ms / 1000));
	else if (!begun && age_ms > r->answer_ms)
		snprintf(message, sizeof(message), "no answer within %lld seconds",
			 (long long)(r->answer_ms / 1000));
	else if (age_ms > r->limit_ms)
		snprintf(message, sizeof(message),
			 "the answer was not complete within %lld "
			 "seconds",
			 (long long)(r->limit_ms / 1000));
	else
		return false;
	end_as(call, TFP_GRPC_DEADLINE_EXCEEDED, TFP_GRPC_BY_US, message);
	return true;
}

void tfp_grpc_run(struct tfp_grpc *g, int wait_ms)
{
	const CURLMsg *message;
	int left, running;
	curl_multi_perform(g->multi, &running);
	while ((message = curl_multi_info_read(g->multi, &left))) {
		struct tfp_grpc_call *call;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode code = message->data.result; /* gone once the handle is removed */
		if (curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call) == CURLE_OK &&
		    !call->done)
			ended(call, code);
		wait_ms = 0;
	}
	int64_t now_ns = tfp_clock_monotonic_ns();
	for (struct tfp_grpc_call *call = g->calls; call; call = call->next) {
		if (!call->done && deadline_passed(call, now_ns))
			wait_ms = 0;
	}
	if (wait_ms)
		curl_multi_poll(g->multi, NULL, 0, wait_ms, NULL);
}

void tfp_grpc_wake(struct tfp_grpc *g)
{
	curl_multi_wakeup(g->multi);
}

bool tfp_grpc_done(const struct tfp_grpc_call *call)
{
	return call->done;
}

bool tfp_grpc_connected(const struct tfp_grpc_call *call)
{
	curl_off_t microseconds = 0;
	return call->connected ||
	       (curl_easy_getinfo(call->easy, CURLINFO_CONNECT_TIME_T, &microseconds) == CURLE_OK &&
		microseconds > 0);
}

uint64_t tfp_grpc_received(const struct tfp_grpc_call *call)
{
	return call->received;
}

const struct tfp_grpc_result *tfp_grpc_result(const struct tfp_grpc_call *call)
{
	return &call->result;
}

void tfp_grpc_cancel(struct tfp_grpc_call *call)
{
	if (!call->done)
		end_as(call, TFP_GRPC_CANCELLED, TFP_GRPC_BY_US, "cancelled");
}

void tfp_grpc_end(struct tfp_grpc_call *call)
{
	if (!call)
		return;
	tfp_grpc_cancel(call);
	for (struct tfp_grpc_call **at = &call->owner->calls; *at; at = &(*at)->next) {
		if (*at == call) {
			*at = call->next;
			break;
		}
	}
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	tfp_free(call->message);
	tfp_free(call);
}
