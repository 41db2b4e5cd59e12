/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the answer of a program that was asked for a profile: from the socket
 * through libcurl to the reader of gRPC. An even first byte sends the rest as it is; an odd
 * one sends it as frames: lines of headers, an empty line, lines of trailers, an empty
 * line, the body. Also as a status message and as the answer of a TPU's monitor. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "remote/grpc_unary.h"
#include "remote/profiler_messages.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 4096u
#define FRAME_MAX  16384u
/* Moves of a call, each of which waits a hundredth of a second at most. */
#define MOVES_MAX 1000

enum { DATA_FRAME = 0, HEADERS_FRAME = 1, SETTINGS_FRAME = 4 };
enum { END_STREAM = 1, END_HEADERS = 4 };

static void put_frame(struct tfp_buf *out, uint8_t type, uint8_t flags, uint8_t stream,
		      const void *bytes, size_t size)
{
	const uint8_t head[9] = {(uint8_t)(size >> 16),
				 (uint8_t)(size >> 8),
				 (uint8_t)size,
				 type,
				 flags,
				 0,
				 0,
				 0,
				 stream};
	tfp_buf_add(out, head, sizeof(head));
	tfp_buf_add(out, bytes, size);
}

/* One field, as it is, kept in no table. */
static void put_field(struct tfp_buf *out, const char *name, size_t name_size, const char *value,
		      size_t size)
{
	tfp_buf_putc(out, 0);
	tfp_buf_putc(out, (char)name_size);
	tfp_buf_add(out, name, name_size);
	tfp_buf_putc(out, (char)size);
	tfp_buf_add(out, value, size);
}

/* Lines "name: value" up to an empty one; what follows it. */
static const char *put_fields(struct tfp_buf *out, const char *text, const char *end)
{
	while (text < end && *text != '\n') {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		if (!line_end)
			line_end = end;
		const char *colon = memchr(text, ':', (size_t)(line_end - text));
		if (colon == text) /* a pseudo-header */
			colon = memchr(text + 1, ':', (size_t)(line_end - text - 1));
		size_t name = colon ? (size_t)(colon - text) : 0;
		const char *value = colon ? colon + 1 : text;
		while (value < line_end && *value == ' ')
			value++;
		size_t size = (size_t)(line_end - value);
		if (colon && name < 127 && size < 127 && out->size < FRAME_MAX / 2)
			put_field(out, text, name, value, size);
		text = line_end + (line_end < end);
	}
	return text < end ? text + 1 : end;
}

static void compose(struct tfp_buf *out, const char *text, size_t size)
{
	const char *end = text + size;
	struct tfp_buf head, trailers;
	tfp_buf_init(&head, FRAME_MAX);
	tfp_buf_init(&trailers, FRAME_MAX);
	text = put_fields(&head, text, end);
	text = put_fields(&trailers, text, end);
	put_frame(out, HEADERS_FRAME, END_HEADERS, 1, head.data, head.size);
	while (text < end) {
		size_t n = (size_t)(end - text) < 1000 ? (size_t)(end - text) : 1000;
		put_frame(out, DATA_FRAME, 0, 1, text, n);
		text += n;
	}
	put_frame(out, HEADERS_FRAME, END_HEADERS | END_STREAM, 1, trailers.data, trailers.size);
	tfp_buf_release(&head);
	tfp_buf_release(&trailers);
}

/* ---- the other side ---- */

static int listener = -1;
static char address[64];

static void start_listening(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	MUST(listener >= 0);
	MUST(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 8) == 0);
	MUST(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(at.sin_port));
}

/* Takes the connection when it is there, and sends as much as goes. */
static void serve(int *fd, const struct tfp_buf *answer, size_t *sent)
{
	if (*fd < 0)
		*fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (*fd < 0)
		return;
	char ignored[4096];
	while (recv(*fd, ignored, sizeof(ignored), 0) > 0)
		;
	while (*sent < answer->size) {
		ssize_t n = send(*fd, answer->data + *sent, answer->size - *sent, MSG_NOSIGNAL);
		if (n < 0)
			return;
		*sent += (size_t)n;
	}
	shutdown(*fd, SHUT_WR);
}

static void hang_up(int fd)
{
	/* No port is kept for what is still on the way. */
	const struct linger at_once = {1, 0};
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

/* ---- one call ---- */

static enum tfp_status collect(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	size_t *sum = context;
	static volatile uint8_t read;
	(void)err;
	for (size_t i = 0; i < size; i++)
		read = (uint8_t)(read ^ ((const uint8_t *)bytes)[i]);
	*sum += size;
	MUST(*sum <= ANSWER_MAX);
	return TFP_OK;
}

static void call(const struct tfp_buf *answer)
{
	struct tfp_target target;
	struct tfp_grpc_call *call;
	struct tfp_grpc *g;
	struct tfp_error err;
	size_t received = 0, sent = 0;
	int fd = -1, moves = 0;
	MUST(tfp_target_parse(&target, address, strlen(address), &err) == TFP_OK);
	const struct tfp_grpc_request request = {.target = &target,
						 .method = "/a.B/C",
						 .message = "x",
						 .size = 1,
						 .answer_ms = 50,
						 .stall_ms = 50,
						 .limit_ms = 50,
						 .max_bytes = ANSWER_MAX,
						 .sink = collect,
						 .context = &received};
	MUST(tfp_grpc_new(&g, &err) == TFP_OK);
	MUST(tfp_grpc_start(g, &call, &request, &err) == TFP_OK);
	for (; !tfp_grpc_done(call); moves++) {
		MUST(moves < MOVES_MAX);
		tfp_grpc_run(g, 10);
		serve(&fd, answer, &sent);
	}
	const struct tfp_grpc_result *result = tfp_grpc_result(call);
	MUST(tfp_grpc_received(call) == received);
	MUST(tfp_utf8_valid(result->message, strlen(result->message)));
	for (const char *c = result->message; *c; c++)
		MUST((unsigned char)*c >= 0x20 && *c != 0x7f);
	MUST(result->code == TFP_GRPC_OK || result->message[0]);
	MUST(!result->sink_failed);
	tfp_grpc_end(call);
	tfp_grpc_free(g);
	hang_up(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[64];
	struct tfp_buf text, answer;
	struct tfp_error err;
	if (size == 0)
		return 0;
	if (listener < 0)
		start_listening();
	const char *rest = (const char *)data + 1;
	tfp_grpc_decode_message(rest, size - 1, message, sizeof(message));
	MUST(tfp_utf8_valid(message, strlen(message)));
	tfp_buf_init(&text, size + 16);
	enum tfp_status status = tfp_decode_monitor_response(rest, size - 1, &text, &err);
	MUST(status == TFP_OK || (status == TFP_BAD_INPUT && err.message[0]));
	MUST(!tfp_buf_failed(&text));
	tfp_buf_release(&text);

	tfp_buf_init(&answer, 4 * size + 8 * FRAME_MAX);
	put_frame(&answer, SETTINGS_FRAME, 0, 0, NULL, 0);
	if (data[0] & 1)
		compose(&answer, rest, size - 1);
	else
		tfp_buf_add(&answer, rest, size - 1);
	MUST(!tfp_buf_failed(&answer));
	call(&answer);
	tfp_buf_release(&answer);
	return 0;
}
