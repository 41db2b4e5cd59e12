/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fake_profiler.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 32
#define STREAMS     8

static const char profile_path[] = "/tensorflow.ProfilerService/Profile";
static const char terminate_path[] = "/tensorflow.ProfilerService/Terminate";
static const char monitor_path[] = "/tensorflow.ProfilerService/Monitor";

struct stream {
	int32_t id; /* 0: free */
	char path[128], session[160];
	uint8_t *request;
	size_t request_size;
	bool complete, answered, is_profile;
	int64_t due_ns;
	/* The answer: head, then size bytes of the profile, then tail. */
	uint8_t head[256], tail[256];
	size_t head_size, tail_size;
	uint64_t size, sent, stop_at;
	int64_t wake_ns;
	bool deferred;
	int reset_in; /* turns */
	unsigned status;
	const char *message;
};

struct connection {
	int fd; /* -1: free */
	bool http1, hang_up;
	nghttp2_session *session;
	struct fake_profiler *owner;
	struct stream streams[STREAMS];
};

struct fake_profiler {
	struct fake_config config;
	int listener, wake[2];
	uint16_t port;
	pthread_t thread;
	struct connection connections[CONNECTIONS];
	char active[160]; /* session that is recorded now */
	char ended[160];  /* session that Terminate named */
	pthread_mutex_t lock;
	struct fake_seen seen;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint8_t fake_profiler_byte(uint64_t at)
{
	/* Of a period that fits no frame, so that a piece lost shows. */
	return (uint8_t)(at % 251 ^ (at >> 16 & 0xff));
}

/* ---- protobuf, by hand ---- */

static size_t put_varint(uint8_t *to, uint64_t value)
{
	size_t n = 0;
	do {
		to[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	return n;
}

static bool get_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static void copy_text(char *to, size_t room, const uint8_t *text, uint64_t size)
{
	size_t n = size < room - 1 ? (size_t)size : room - 1;
	memcpy(to, text, n);
	to[n] = '\0';
}

static void read_options(struct fake_seen *s, const uint8_t *at, const uint8_t *end)
{
	uint64_t tag, value;
	while (at < end && get_varint(&at, end, &tag) && get_varint(&at, end, &value)) {
		switch (tag) {
		case 1 << 3:
			s->dataset_ops = value;
			break;
		case 2 << 3:
			s->host_level = value;
			break;
		case 3 << 3:
			s->device_level = value;
			break;
		case 4 << 3:
			s->python_level = value;
			break;
		case 5 << 3:
			s->version = value;
			break;
		case 7 << 3:
			s->enable_hlo = value;
			break;
		case 8 << 3:
			s->start_ns = value;
			break;
		case 9 << 3:
			s->option_duration_ms = value;
			break;
		default:
			s->settings += tag == (12 << 3 | 2);
			if ((tag & 7) == 2)
				at += value;
		}
	}
}

static void read_profile_request(struct fake_seen *s, const uint8_t *at, const uint8_t *end)
{
	uint64_t tag, value;
	s->tools = s->settings = 0;
	s->version = s->start_ns = s->python_level = 0;
	while (at < end && get_varint(&at, end, &tag) && get_varint(&at, end, &value)) {
		bool bytes = (tag & 7) == 2;
		if (bytes && value > (uint64_t)(end - at))
			return;
		switch (tag) {
		case 1 << 3:
			s->duration_ms = value;
			break;
		case 2 << 3:
			s->max_events = value;
			break;
		case 3 << 3 | 2:
			s->tools++;
			break;
		case 4 << 3 | 2:
			read_options(s, at, at + value);
			break;
		case 5 << 3 | 2:
			copy_text(s->root, sizeof(s->root), at, value);
			break;
		case 6 << 3 | 2:
			copy_text(s->session, sizeof(s->session), at, value);
			break;
		case 7 << 3 | 2:
			copy_text(s->host_name, sizeof(s->host_name), at, value);
			break;
		case 9 << 3:
			s->emit_xspace = value;
			break;
		}
		if (bytes)
			at += value;
	}
}

/* ---- answers ---- */

static bool is(const struct fake_profiler *f, const char *behave)
{
	return strcmp(f->config.behave, behave) == 0;
}

static uint8_t answer_byte(const struct fake_profiler *f, const struct stream *s, uint64_t at)
{
	if (at < s->head_size)
		return s->head[at];
	at -= s->head_size;
	if (at < s->size)
		return f->config.profile ? ((const uint8_t *)f->config.profile)[at]
					 : fake_profiler_byte(at);
	return s->tail[at - s->size];
}

static void send_trailers(nghttp2_session *session, const struct stream *s)
{
	char status[16];
	snprintf(status, sizeof(status), "%u", s->status);
	const nghttp2_nv trailers[] = {
		{(uint8_t *)"grpc-status", (uint8_t *)status, 11, strlen(status), 0},
		{(uint8_t *)"grpc-message", (uint8_t *)(uintptr_t)s->message, 12,
		 strlen(s->message), 0},
	};
	nghttp2_submit_trailer(session, s->id, trailers, s->message[0] ? 2 : 1);
}

static ssize_t read_answer(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
			   uint32_t *flags, nghttp2_data_source *source, void *context)
{
	struct connection *c = context;
	struct fake_profiler *f = c->owner;
	struct stream *s = source->ptr;
	uint64_t total = s->head_size + s->size + s->tail_size, left = total - s->sent;
	(void)id;
	if (is(f, "drip")) {
		if (clock_ns(CLOCK_MONOTONIC) < s->wake_ns) {
			s->deferred = true;
			return NGHTTP2_ERR_DEFERRED;
		}
		room = s->sent < 8 ? 1 : 1 + (size_t)f->config.after;
		s->wake_ns = clock_ns(CLOCK_MONOTONIC) + (int64_t)f->config.pause_ms * 1000000;
	}
	if (s->stop_at && s->sent >= s->stop_at) {
		if (is(f, "reset"))
			nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id,
						  NGHTTP2_INTERNAL_ERROR);
		if (is(f, "hangup"))
			c->hang_up = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	if (s->stop_at && left > s->stop_at - s->sent)
		left = s->stop_at - s->sent;
	size_t n = room < left ? room : (size_t)left;
	for (size_t i = 0; i < n; i++)
		to[i] = answer_byte(f, s, s->sent + i);
	s->sent += n;
	if (s->sent == total && !(s->stop_at && s->sent >= s->stop_at)) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		if (!is(f, "no_status")) {
			*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
			send_trailers(session, s);
		}
	}
	return (ssize_t)n;
}

static void put_prefix(struct stream *s, uint8_t flag, uint64_t length)
{
	uint8_t *p = s->head;
	p[0] = flag;
	p[1] = (uint8_t)(length >> 24);
	p[2] = (uint8_t)(length >> 16);
	p[3] = (uint8_t)(length >> 8);
	p[4] = (uint8_t)length;
}

/* A message whose only content is the bytes in tail. */
static void small_message(struct stream *s, const void *bytes, size_t size)
{
	s->size = 0;
	memcpy(s->tail, bytes, size);
	s->tail_size = size;
	s->head_size = 5;
	put_prefix(s, 0, size);
}

static void add_profile(const struct fake_profiler *f, struct stream *s)
{
	static const char other[] = "op_profile.json", name[] = "xplane.pb";
	uint8_t *h = s->head + 5;
	uint64_t size = f->config.size;
	s->size = size;
	if (is(f, "tool_data")) {
		uint8_t length[10];
		size_t prefix = put_varint(length, size);
		/* One entry that is no capture, and one that is. */
		*h++ = 6 << 3 | 2;
		*h++ = (uint8_t)(2 + sizeof(other) - 1 + 4);
		*h++ = 1 << 3 | 2;
		*h++ = sizeof(other) - 1;
		memcpy(h, other, sizeof(other) - 1);
		h += sizeof(other) - 1;
		memcpy(h, "\x12\x02{}", 4);
		h += 4;
		*h++ = 6 << 3 | 2;
		h += put_varint(h, 2 + (sizeof(name) - 1) + 1 + prefix + size);
		*h++ = 1 << 3 | 2;
		*h++ = sizeof(name) - 1;
		memcpy(h, name, sizeof(name) - 1);
		h += sizeof(name) - 1;
		*h++ = 2 << 3 | 2;
		h += put_varint(h, size);
	} else if (is(f, "twice")) {
		/* Two bytes of their own, then the profile. */
		memcpy(h, "\x42\x02hi", 4);
		h += 4;
		*h++ = 8 << 3 | 2;
		h += put_varint(h, size);
	} else {
		*h++ = 8 << 3 | 2;
		h += put_varint(h, size);
	}
	s->head_size = (size_t)(h - s->head);
	/* Field 7, false, and one that nobody knows, behind the profile. */
	memcpy(s->tail, "\x38\x00\xa2\x06\x01?", 6);
	s->tail_size = 6;
	put_prefix(s, 0, s->head_size - 5 + size + s->tail_size);
}

static void write_to_disk(struct fake_profiler *f)
{
	char path[2048], name[400];
	const struct fake_seen *seen = &f->seen;
	const char *root = f->config.disk ? f->config.disk : seen->root;
	snprintf(path, sizeof(path), "%s/%s", root, seen->session);
	for (char *p = path + 1; *p; p++) {
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0777);
			*p = '/';
		}
	}
	mkdir(path, 0777);
	snprintf(name, sizeof(name), "%s.xplane.pb", seen->host_name);
	for (char *p = name; *p; p++)
		*p = *p == ':' ? '_' : *p;
	size_t n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/%s", name);
	FILE *file = fopen(path, "wb");
	if (!file)
		return;
	for (uint64_t i = 0; i < f->config.size; i++)
		putc(f->config.profile ? ((const uint8_t *)f->config.profile)[i]
				       : fake_profiler_byte(i),
		     file);
	fclose(file);
}

static void only_headers(struct connection *c, struct stream *s, unsigned status,
			 const char *message)
{
	char number[16];
	snprintf(number, sizeof(number), "%u", status);
	const nghttp2_nv headers[] = {
		{(uint8_t *)":status", (uint8_t *)"200", 7, 3, 0},
		{(uint8_t *)"content-type", (uint8_t *)"application/grpc", 12, 16, 0},
		{(uint8_t *)"grpc-status", (uint8_t *)number, 11, strlen(number), 0},
		{(uint8_t *)"grpc-message", (uint8_t *)(uintptr_t)message, 12, strlen(message), 0},
	};
	nghttp2_submit_response(c->session, s->id, headers, message[0] ? 4 : 3, NULL);
	s->answered = true;
}

static void submit(struct connection *c, struct stream *s, const char *status, const char *type)
{
	const nghttp2_nv headers[] = {
		{(uint8_t *)":status", (uint8_t *)(uintptr_t)status, 7, strlen(status), 0},
		{(uint8_t *)"content-type", (uint8_t *)(uintptr_t)type, 12, strlen(type), 0},
	};
	nghttp2_data_provider provider = {.source = {.ptr = s}, .read_callback = read_answer};
	nghttp2_submit_response(c->session, s->id, headers, 2, &provider);
	s->answered = true;
}

static void answer_profile(struct connection *c, struct stream *s)
{
	struct fake_profiler *f = c->owner;
	const struct fake_config *o = &f->config;
	char status[16] = "200";
	const char *type = "application/grpc";
	add_profile(f, s);
	s->message = "";
	if (is(f, "status") || (is(f, "first_fails") && f->seen.profiles == 1)) {
		only_headers(c, s, o->status, o->message ? o->message : "");
		return;
	} else if (is(f, "no_message")) {
		only_headers(c, s, 0, "");
		return;
	} else if (is(f, "late_status")) {
		s->status = o->status;
		s->message = o->message ? o->message : "";
	} else if (is(f, "old")) {
		write_to_disk(f);
		small_message(s, "\x38\x00", 2);
	} else if (is(f, "empty")) {
		small_message(s, "\x38\x01", 2);
	} else if (is(f, "garbage")) {
		small_message(s, "\x0f\xff\xff", 3);
	} else if (is(f, "cut")) {
		small_message(s,
			      "\x42\x7f"
			      "abc",
			      5);
	} else if (is(f, "two")) {
		small_message(s, "\x38\x00\0\0\0\0\0", 7);
		put_prefix(s, 0, 2);
	} else if (is(f, "short")) {
		s->tail_size = 0;
		s->size /= 2;
	} else if (is(f, "compressed")) {
		s->head[0] = 1;
	} else if (is(f, "html")) {
		type = "text/html";
	} else if (is(f, "http")) {
		snprintf(status, sizeof(status), "%u", o->status);
		type = "text/plain";
	} else if (is(f, "stall") || is(f, "reset") || is(f, "hangup")) {
		s->stop_at = o->after ? o->after : 1;
	}
	submit(c, s, status, type);
}

static void answer(struct connection *c, struct stream *s)
{
	struct fake_profiler *f = c->owner;
	s->message = "";
	if (s->is_profile) {
		answer_profile(c, s);
	} else if (strcmp(s->path, terminate_path) == 0) {
		small_message(s, "", 0);
		submit(c, s, "200", "application/grpc+proto");
	} else if (strcmp(s->path, monitor_path) == 0 && f->config.text) {
		uint8_t message[200] = {1 << 3 | 2, (uint8_t)strlen(f->config.text)};
		memcpy(message + 2, f->config.text, strlen(f->config.text));
		small_message(s, message, 2 + strlen(f->config.text));
		submit(c, s, "200", "application/grpc");
	} else {
		only_headers(c, s, 12, "");
	}
}

/* ---- requests ---- */

static void take_request(struct connection *c, struct stream *s)
{
	struct fake_profiler *f = c->owner;
	const uint8_t *at = s->request + 5, *end = s->request + s->request_size;
	uint64_t tag, size;
	bool whole = s->request_size >= 5 &&
		     (size_t)(s->request[1] << 24 | s->request[2] << 16 | s->request[3] << 8 |
			      s->request[4]) == s->request_size - 5;
	if (!whole || s->request[0] != 0) {
		only_headers(c, s, 13, "the request is no message");
		return;
	}
	pthread_mutex_lock(&f->lock);
	struct fake_seen *seen = &f->seen;
	s->complete = true;
	s->due_ns = clock_ns(CLOCK_MONOTONIC);
	if (strcmp(s->path, profile_path) == 0) {
		s->is_profile = true;
		seen->profiles++;
		seen->message_bytes = s->request_size - 5;
		read_profile_request(seen, at, end);
		snprintf(s->session, sizeof(s->session), "%s", seen->session);
		if (f->config.tell)
			printf("Profile session=%s duration=%" PRIu64 " levels=%" PRIu64 "%" PRIu64
			       "%" PRIu64 " settings=%u\n",
			       seen->session, seen->option_duration_ms, seen->host_level,
			       seen->device_level, seen->python_level, seen->settings);
		int64_t wait_ns = (int64_t)seen->start_ns - clock_ns(CLOCK_REALTIME);
		if (f->active[0] || is(f, "busy")) {
			only_headers(c, s, 13, "Another profiling session active.");
		} else {
			snprintf(f->active, sizeof(f->active), "%s", s->session);
			s->due_ns += (int64_t)seen->option_duration_ms * 1000000 +
				     (seen->start_ns && wait_ns > 0 ? wait_ns : 0);
		}
	} else if (strcmp(s->path, terminate_path) == 0) {
		seen->terminates++;
		if (get_varint(&at, end, &tag) && get_varint(&at, end, &size) &&
		    size <= (uint64_t)(end - at))
			copy_text(seen->terminated, sizeof(seen->terminated), at, size);
		snprintf(f->ended, sizeof(f->ended), "%s", seen->terminated);
		if (f->config.tell)
			printf("Terminate session=%s\n", seen->terminated);
	} else if (strcmp(s->path, monitor_path) == 0) {
		seen->monitors++;
	}
	fflush(stdout);
	pthread_mutex_unlock(&f->lock);
}

/* Does the things that are due; milliseconds until the next one is, or -1. */
static int move_on(struct connection *c)
{
	struct fake_profiler *f = c->owner;
	int64_t now = clock_ns(CLOCK_MONOTONIC), next = INT64_MAX;
	for (int i = 0; i < STREAMS; i++) {
		struct stream *s = &c->streams[i];
		if (!s->id)
			continue;
		if (s->complete && !s->answered && !(s->is_profile && is(f, "hang"))) {
			bool ended = s->is_profile && strcmp(f->ended, s->session) == 0;
			if (ended || now >= s->due_ns)
				answer(c, s);
			else if (s->due_ns < next)
				next = s->due_ns;
		}
		if (s->reset_in && --s->reset_in == 0)
			nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id,
						  NGHTTP2_NO_ERROR);
		if (s->deferred) {
			if (now >= s->wake_ns) {
				s->deferred = false;
				nghttp2_session_resume_data(c->session, s->id);
			} else if (s->wake_ns < next) {
				next = s->wake_ns;
			}
		}
	}
	return next == INT64_MAX ? -1 : (int)((next - now) / 1000000) + 1;
}

/* ---- nghttp2 ---- */

static struct stream *find(struct connection *c, int32_t id)
{
	for (int i = 0; i < STREAMS; i++) {
		if (c->streams[i].id == id)
			return &c->streams[i];
	}
	return NULL;
}

static int begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct connection *c = context;
	struct stream *s = find(c, 0);
	(void)session;
	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	if (!s)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	*s = (struct stream){.id = frame->hd.stream_id};
	return 0;
}

static int take_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		       size_t name_size, const uint8_t *value, size_t size, uint8_t flags,
		       void *context)
{
	struct connection *c = context;
	struct fake_profiler *f = c->owner;
	struct stream *s = find(c, frame->hd.stream_id);
	(void)session;
	(void)flags;
	if (!s)
		return 0;
	const struct {
		const char *name;
		char *to;
		size_t room;
	} kept[] = {
		{"content-type", f->seen.content_type, sizeof(f->seen.content_type)},
		{"te", f->seen.te, sizeof(f->seen.te)},
		{"expect", f->seen.expect, sizeof(f->seen.expect)},
		{"grpc-timeout", f->seen.timeout, sizeof(f->seen.timeout)},
		{"grpc-accept-encoding", f->seen.encoding, sizeof(f->seen.encoding)},
		{":authority", f->seen.authority, sizeof(f->seen.authority)},
		{":path", f->seen.path, sizeof(f->seen.path)},
	};
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (strlen(kept[i].name) == name_size && memcmp(kept[i].name, name, name_size) == 0)
			copy_text(kept[i].to, kept[i].room, value, size);
	}
	pthread_mutex_unlock(&f->lock);
	if (name_size == 5 && memcmp(name, ":path", 5) == 0)
		copy_text(s->path, sizeof(s->path), value, size);
	return 0;
}

static int take_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		     size_t size, void *context)
{
	struct stream *s = find(context, id);
	(void)session;
	(void)flags;
	if (!s || s->request_size + size > 1 << 20)
		return 0;
	s->request = realloc(s->request, s->request_size + size);
	memcpy(s->request + s->request_size, bytes, size);
	s->request_size += size;
	return 0;
}

static int take_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct stream *s = find(context, frame->hd.stream_id);
	(void)session;
	if (s && frame->hd.type == NGHTTP2_HEADERS &&
	    is(((struct connection *)context)->owner, "early")) {
		only_headers(context, s, ((struct connection *)context)->owner->config.status, "");
		/* nghttp2 would send it before the headers: they go out first. */
		s->reset_in = 2;
		return 0;
	}
	if (s && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) &&
	    (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS))
		take_request(context, s);
	return 0;
}

static void let_go(struct connection *c, struct stream *s)
{
	struct fake_profiler *f = c->owner;
	pthread_mutex_lock(&f->lock);
	if (s->is_profile && strcmp(f->active, s->session) == 0)
		f->active[0] = '\0';
	if (s->is_profile && s->complete && !s->answered)
		f->seen.cancelled++;
	pthread_mutex_unlock(&f->lock);
	free(s->request);
	*s = (struct stream){0};
}

static int close_stream(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
	struct stream *s = find(context, id);
	(void)session;
	(void)error;
	if (s && s->id)
		let_go(context, s);
	return 0;
}

static ssize_t send_bytes(nghttp2_session *session, const uint8_t *bytes, size_t size, int flags,
			  void *context)
{
	struct connection *c = context;
	(void)session;
	(void)flags;
	ssize_t n = send(c->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
	return n;
}

static void open_connection(struct fake_profiler *f, int fd)
{
	nghttp2_session_callbacks *callbacks;
	const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 4}};
	struct connection *c = f->connections;
	while (c < f->connections + CONNECTIONS && c->fd >= 0)
		c++;
	if (c == f->connections + CONNECTIONS) {
		close(fd);
		return;
	}
	*c = (struct connection){.fd = fd, .owner = f, .http1 = is(f, "http1")};
	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, take_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, take_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, take_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, close_stream);
	nghttp2_session_callbacks_set_send_callback(callbacks, send_bytes);
	nghttp2_session_server_new(&c->session, callbacks, c);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 1);
}

static void close_connection(struct connection *c)
{
	for (int i = 0; i < STREAMS; i++) {
		if (c->streams[i].id)
			let_go(c, &c->streams[i]);
	}
	nghttp2_session_del(c->session);
	close(c->fd);
	c->fd = -1;
}

static bool receive(struct connection *c)
{
	uint8_t bytes[65536];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	if (c->http1) {
		static const char reply[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
					    "Content-Length: 0\r\n\r\n";
		char rest[4096];
		send(c->fd, reply, sizeof(reply) - 1, MSG_NOSIGNAL);
		/* Closing with bytes unread would reset the connection, and the reply with it. */
		shutdown(c->fd, SHUT_WR);
		for (struct pollfd fd = {c->fd, POLLIN, 0};
		     poll(&fd, 1, 1000) > 0 && recv(c->fd, rest, sizeof(rest), 0) > 0;)
			;
		return false;
	}
	return nghttp2_session_mem_recv(c->session, bytes, (size_t)n) >= 0;
}

static void *serve(void *context)
{
	struct fake_profiler *f = context;
	for (;;) {
		struct pollfd fds[CONNECTIONS + 2] = {{f->listener, POLLIN, 0},
						      {f->wake[0], POLLIN, 0}};
		struct connection *of[CONNECTIONS + 2] = {NULL};
		nfds_t n = 2;
		int wait = -1;
		for (int i = 0; i < CONNECTIONS; i++) {
			struct connection *c = &f->connections[i];
			if (c->fd < 0)
				continue;
			int due = c->http1 ? -1 : move_on(c);
			if (!c->http1 && nghttp2_session_send(c->session) != 0)
				c->hang_up = true;
			if (c->hang_up) {
				close_connection(c);
				continue;
			}
			/* Sending may have put something off. */
			int again = c->http1 ? -1 : move_on(c);
			if (again >= 0 && (due < 0 || again < due))
				due = again;
			if (due >= 0 && (wait < 0 || due < wait))
				wait = due;
			of[n] = c;
			short out =
				!c->http1 && nghttp2_session_want_write(c->session) ? POLLOUT : 0;
			fds[n++] = (struct pollfd){c->fd, (short)(POLLIN | out), 0};
		}
		if (poll(fds, n, wait) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		for (nfds_t i = 2; i < n; i++) {
			if ((fds[i].revents & (POLLIN | POLLHUP | POLLERR)) && !receive(of[i]))
				close_connection(of[i]);
		}
		if (fds[0].revents & POLLIN) {
			int fd = accept(f->listener, NULL, NULL);
			if (fd >= 0)
				open_connection(f, fd);
		}
	}
}

struct fake_profiler *fake_profiler_start(const struct fake_config *config)
{
	struct fake_profiler *f = calloc(1, sizeof(*f));
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(config->port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int on = 1;
	f->config = *config;
	pthread_mutex_init(&f->lock, NULL);
	for (int i = 0; i < CONNECTIONS; i++)
		f->connections[i].fd = -1;
	f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(f->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (pipe(f->wake) != 0 || f->listener < 0 ||
	    bind(f->listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(f->listener, 16) != 0 ||
	    getsockname(f->listener, (struct sockaddr *)&address, &size) != 0) {
		free(f);
		return NULL;
	}
	f->port = ntohs(address.sin_port);
	if (pthread_create(&f->thread, NULL, serve, f) != 0) {
		free(f);
		return NULL;
	}
	return f;
}

uint16_t fake_profiler_port(const struct fake_profiler *f)
{
	return f->port;
}

void fake_profiler_look(struct fake_profiler *f, struct fake_seen *seen)
{
	pthread_mutex_lock(&f->lock);
	*seen = f->seen;
	pthread_mutex_unlock(&f->lock);
}

bool fake_profiler_wait(struct fake_profiler *f, unsigned profiles, unsigned terminates)
{
	struct fake_seen seen;
	for (int i = 0; i < 1000; i++) {
		fake_profiler_look(f, &seen);
		if (seen.profiles >= profiles && seen.terminates >= terminates)
			return true;
		usleep(10000);
	}
	return false;
}

void fake_profiler_stop(struct fake_profiler *f)
{
	if (!f)
		return;
	if (write(f->wake[1], "", 1) != 1)
		abort();
	pthread_join(f->thread, NULL);
	for (int i = 0; i < CONNECTIONS; i++) {
		if (f->connections[i].fd >= 0)
			close_connection(&f->connections[i]);
	}
	close(f->listener);
	close(f->wake[0]);
	close(f->wake[1]);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
