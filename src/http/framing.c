/* SPDX-License-Identifier: Apache-2.0 */
#include "http/framing.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS
#define TOKEN   LETTERS "!#$%&'*+-.^_`|~"

#define METHOD_MAX      32u
#define CHUNK_LINE_MAX  256u
#define BLANK_LINES_MAX 4u
/* The most '&' in an address: libmicrohttpd keeps a record of each parameter, even empty ones. */
#define PARAMETERS_MAX 256u
#define READY_MAX      ((size_t)1 << 20)

/* Fields that change what a request is or may do. Of two of a kind one program reads the first
 * and another the last. */
enum once { HOST, LENGTH, ENCODING, EXPECT, CONTENT_TYPE, AUTHORIZATION, ORIGIN, SITE, MODE };
static const char *const once_names[] = {
	[HOST] = "Host",     [LENGTH] = "Content-Length",     [ENCODING] = "Transfer-Encoding",
	[EXPECT] = "Expect", [CONTENT_TYPE] = "Content-Type", [AUTHORIZATION] = "Authorization",
	[ORIGIN] = "Origin", [SITE] = "Sec-Fetch-Site",       [MODE] = "Sec-Fetch-Mode",
};
#define ONCE (sizeof(once_names) / sizeof(once_names[0]))

static const struct {
	unsigned status;
	const char *text;
} faults[] = {
	[TFP_FRAMING_FINE] = {200, ""},
	[TFP_FRAMING_LINE_END] = {400, "a line of the request does not end in CR LF"},
	[TFP_FRAMING_CONTROL] = {400, "the request has a control character in its head"},
	[TFP_FRAMING_REQUEST_LINE] = {400, "the request does not begin with METHOD ADDRESS "
					   "HTTP/1.1"},
	[TFP_FRAMING_TARGET] = {400, "the request's address is not valid"},
	[TFP_FRAMING_VERSION] = {505, "only HTTP/1.1 and HTTP/1.0 are understood"},
	[TFP_FRAMING_FIELD] = {400, "a line of the request's head is not NAME: VALUE"},
	[TFP_FRAMING_FOLDED] = {400, "a header of the request continues on another line"},
	[TFP_FRAMING_TWICE] = {400, "the request repeats a header that may occur only once"},
	[TFP_FRAMING_HOST_MISSING] = {400, "the request has no Host"},
	[TFP_FRAMING_HOST] = {400, "the request's Host is not a name or address"},
	[TFP_FRAMING_LENGTH] = {400, "the request's Content-Length is not a number"},
	[TFP_FRAMING_ENCODING] = {400, "a body is either chunked or has a Content-Length"},
	[TFP_FRAMING_CHUNK] = {400, "the request's body is not chunked correctly"},
	[TFP_FRAMING_EXPECT] = {417, "the request expects something other than 100-continue"},
	[TFP_FRAMING_LONG_TARGET] = {414, "the request's address is too long"},
	[TFP_FRAMING_LONG_HEAD] = {431, "the request's headers are too long or too many"},
	[TFP_FRAMING_LONG_BODY] = {413, "the request's body is too long"},
	[TFP_FRAMING_NO_MEMORY] = {503, "no memory for the request"},
};

unsigned tfp_framing_status(enum tfp_framing_fault fault)
{
	return faults[fault].status;
}

const char *tfp_framing_text(enum tfp_framing_fault fault)
{
	return faults[fault].text;
}

void tfp_framing_init(struct tfp_framing *f)
{
	*f = (struct tfp_framing){.state = TFP_FRAMING_HEAD};
	tfp_buf_init(&f->line, TFP_FRAMING_HEAD_MAX + 2);
	tfp_buf_init(&f->start, TFP_FRAMING_HEAD_MAX + 2);
	tfp_buf_init(&f->fields, 2 * TFP_FRAMING_HEAD_MAX);
	tfp_buf_init(&f->ready, READY_MAX);
}

void tfp_framing_release(struct tfp_framing *f)
{
	tfp_buf_release(&f->line);
	tfp_buf_release(&f->start);
	tfp_buf_release(&f->fields);
	tfp_buf_release(&f->ready);
}

/* An idle connection holds no memory for heads. */
static void begin_head(struct tfp_framing *f)
{
	tfp_buf_release(&f->line);
	tfp_buf_release(&f->start);
	tfp_buf_release(&f->fields);
	f->state = TFP_FRAMING_HEAD;
	f->size = 0;
	f->lines = f->blank_lines = f->seen = 0;
	f->return_before = f->is_head = f->is_old = f->absolute = f->chunked = f->expects = false;
	f->host[0] = '\0';
	f->body_left = f->body_size = 0;
}

static void refuse(struct tfp_framing *f, enum tfp_framing_fault fault)
{
	enum tfp_framing_state state = f->state;
	bool is_head = f->is_head;
	begin_head(f);
	f->state = TFP_FRAMING_REFUSED;
	f->fault = fault;
	if (state == TFP_FRAMING_HEAD) {
		f->heads++;
		tfp_buf_printf(&f->ready, "%s / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			       is_head ? "HEAD" : "GET");
	} else {
		tfp_buf_printf(&f->ready, "%s0\r\n\r\n",
			       state == TFP_FRAMING_CHUNK_END ? "\r\n" : "");
	}
}

/* ---- the parts of a head ---- */

static bool is_span(const char *text, size_t size, const char *of)
{
	size_t n = 0;
	while (n < size && text[n] && strchr(of, text[n]))
		n++;
	return size && n == size;
}

static bool is_word(const char *text, size_t size, const char *word)
{
	return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

/* A name or address, and maybe a port. */
static bool is_host(const char *text, size_t size)
{
	const char *end = text + size, *at;
	unsigned port = 0;
	if (size == 0 || size >= sizeof(((struct tfp_framing *)0)->host))
		return false;
	if (text[0] == '[') {
		at = memchr(text, ']', size);
		if (!at || !is_span(text + 1, (size_t)(at - text - 1), "abcdefABCDEF:." DIGITS))
			return false;
		at++;
	} else {
		at = memchr(text, ':', size);
		at = at ? at : end;
		if (!is_span(text, (size_t)(at - text), LETTERS "-._~"))
			return false;
	}
	if (at == end)
		return true;
	if (*at++ != ':' || end - at > 5)
		return false;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		port = port * 10 + (unsigned)(*at - '0');
	}
	return port <= UINT16_MAX;
}

static void set_host(struct tfp_framing *f, const char *text, size_t size)
{
	memcpy(f->host, text, size);
	f->host[size] = '\0';
}

/* "scheme://authority/path" becomes path and Host; *target is moved. */
static bool take_authority(struct tfp_framing *f, const char **target, size_t *size)
{
	size_t scheme = strncasecmp(*target, "https://", 8) == 0 ? 8 : 7;
	if (scheme == 7 && strncasecmp(*target, "http://", 7) != 0)
		return false;
	const char *authority = *target + scheme;
	size_t left = *size - scheme, n = 0;
	while (n < left && authority[n] != '/' && authority[n] != '?')
		n++;
	if (!is_host(authority, n))
		return false;
	set_host(f, authority, n);
	f->absolute = true;
	*target = authority + n;
	*size = left - n;
	return true;
}

static enum tfp_framing_fault read_target(struct tfp_framing *f, const char *target, size_t size,
					  bool options)
{
	unsigned parameters = 0;
	for (size_t i = 0; i < size; i++) {
		/* Beyond ASCII is no address either, but nobody reads it in two ways. */
		if ((unsigned char)target[i] <= ' ' || target[i] == 0x7f || target[i] == '#')
			return TFP_FRAMING_TARGET;
		parameters += target[i] == '&';
	}
	if (parameters > PARAMETERS_MAX)
		return TFP_FRAMING_LONG_TARGET;
	if (options && is_word(target, size, "*")) {
		tfp_buf_puts(&f->start, "*");
		return TFP_FRAMING_FINE;
	}
	if (target[0] != '/' && !take_authority(f, &target, &size))
		return TFP_FRAMING_TARGET;
	if (size == 0 || target[0] == '?')
		tfp_buf_puts(&f->start, "/");
	tfp_buf_add(&f->start, target, size);
	return TFP_FRAMING_FINE;
}

static enum tfp_framing_fault read_version(struct tfp_framing *f, const char *text, size_t size)
{
	if (size != 8 || memcmp(text, "HTTP/", 5) != 0 || text[6] != '.' ||
	    !is_span(text + 5, 1, DIGITS) || !is_span(text + 7, 1, DIGITS))
		return TFP_FRAMING_REQUEST_LINE;
	f->is_old = text[7] == '0';
	return text[5] == '1' ? TFP_FRAMING_FINE : TFP_FRAMING_VERSION;
}

static enum tfp_framing_fault read_request_line(struct tfp_framing *f, const char *line,
						size_t size)
{
	const char *target = memchr(line, ' ', size), *end = line + size;
	const char *version = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;
	size_t method = target ? (size_t)(target - line) : 0;
	if (!version || version == target + 1 || method > METHOD_MAX ||
	    !is_span(line, method, TOKEN))
		return TFP_FRAMING_REQUEST_LINE;
	f->is_head = method == 4 && memcmp(line, "HEAD", 4) == 0;
	enum tfp_framing_fault fault = read_version(f, version + 1, (size_t)(end - version - 1));
	if (fault != TFP_FRAMING_FINE)
		return fault;
	tfp_buf_add(&f->start, line, method + 1);
	target++;
	if (method == 7 && memcmp(line, "CONNECT", 7) == 0) {
		/* There is nothing to connect to, whatever it names. */
		tfp_buf_puts(&f->start, "/");
	} else {
		fault = read_target(f, target, (size_t)(version - target),
				    method == 7 && memcmp(line, "OPTIONS", 7) == 0);
	}
	tfp_buf_printf(&f->start, " HTTP/1.%d\r\n", !f->is_old);
	return fault;
}

static enum tfp_framing_fault read_length(struct tfp_framing *f, const char *text, size_t size)
{
	if (!is_span(text, size, DIGITS))
		return TFP_FRAMING_LENGTH;
	for (size_t i = 0; i < size; i++) {
		f->body_size = f->body_size * 10 + (unsigned)(text[i] - '0');
		if (f->body_size > TFP_FRAMING_BODY_MAX)
			return TFP_FRAMING_LONG_BODY;
	}
	return TFP_FRAMING_FINE;
}

static enum tfp_framing_fault read_once(struct tfp_framing *f, enum once which, const char *value,
					size_t size)
{
	if (f->seen & 1u << which)
		return TFP_FRAMING_TWICE;
	f->seen |= 1u << which;
	switch (which) {
	case HOST:
		if (!is_host(value, size))
			return TFP_FRAMING_HOST;
		/* The host in the address counts. */
		if (!f->absolute)
			set_host(f, value, size);
		return TFP_FRAMING_FINE;
	case LENGTH:
		return read_length(f, value, size);
	case ENCODING:
		f->chunked = true;
		return is_word(value, size, "chunked") && !f->is_old ? TFP_FRAMING_FINE
								     : TFP_FRAMING_ENCODING;
	case EXPECT:
		f->expects = true;
		return is_word(value, size, "100-continue") ? TFP_FRAMING_FINE : TFP_FRAMING_EXPECT;
	default:
		tfp_buf_printf(&f->fields, "%s: %.*s\r\n", once_names[which], (int)size, value);
		return TFP_FRAMING_FINE;
	}
}

/* Of heads and trailers. */
static enum tfp_framing_fault split_field(const char *line, size_t size, size_t *name,
					  const char **value, size_t *value_size)
{
	const char *colon = memchr(line, ':', size), *end = line + size;
	if (line[0] == ' ' || line[0] == '\t')
		return TFP_FRAMING_FOLDED;
	if (!colon || !is_span(line, (size_t)(colon - line), TOKEN))
		return TFP_FRAMING_FIELD;
	const char *from = colon + 1;
	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*name = (size_t)(colon - line);
	*value = from;
	*value_size = (size_t)(end - from);
	return TFP_FRAMING_FINE;
}

static enum tfp_framing_fault read_field(struct tfp_framing *f, const char *line, size_t size)
{
	const char *value;
	size_t name, value_size;
	enum tfp_framing_fault fault = split_field(line, size, &name, &value, &value_size);
	if (fault != TFP_FRAMING_FINE)
		return fault;
	for (size_t i = 0; i < ONCE; i++) {
		if (is_word(line, name, once_names[i]))
			return read_once(f, (enum once)i, value, value_size);
	}
	if (is_word(line, name, TFP_FRAMING_COOKIE))
		return TFP_FRAMING_FINE;
	if (is_word(line, name, "Cookie"))
		tfp_buf_puts(&f->fields, TFP_FRAMING_COOKIE);
	else
		tfp_buf_add(&f->fields, line, name);
	tfp_buf_printf(&f->fields, ": %.*s\r\n", (int)value_size, value);
	return TFP_FRAMING_FINE;
}

/* The empty line is there. */
static enum tfp_framing_fault end_head(struct tfp_framing *f)
{
	bool has_length = f->seen & 1u << LENGTH;
	if (!(f->seen & 1u << HOST) && !f->is_old)
		return TFP_FRAMING_HOST_MISSING;
	if (f->chunked && has_length)
		return TFP_FRAMING_ENCODING;
	struct tfp_buf *to = &f->ready;
	tfp_buf_add(to, f->start.data, f->start.size);
	if (f->host[0])
		tfp_buf_printf(to, "Host: %s\r\n", f->host);
	tfp_buf_add(to, f->fields.data, f->fields.size);
	if (f->chunked)
		tfp_buf_puts(to, "Transfer-Encoding: chunked\r\n");
	else if (has_length)
		tfp_buf_printf(to, "Content-Length: %llu\r\n", (unsigned long long)f->body_size);
	/* Without a body there is nothing to wait for. */
	if (f->expects && (f->chunked || f->body_size) && !f->is_old)
		tfp_buf_puts(to, "Expect: 100-continue\r\n");
	tfp_buf_puts(to, "\r\n");
	f->heads++;
	bool chunked = f->chunked;
	uint64_t size = f->body_size;
	begin_head(f);
	if (chunked) {
		f->state = TFP_FRAMING_CHUNK_SIZE;
	} else if (size) {
		f->state = TFP_FRAMING_BODY;
		f->body_left = size;
	}
	return TFP_FRAMING_FINE;
}

static enum tfp_framing_fault read_chunk_size(struct tfp_framing *f, const char *line, size_t size)
{
	uint64_t n = 0;
	size_t i = 0;
	for (; i < size; i++) {
		int digit = tfp_hex_digit(line[i]);
		if (digit < 0)
			break;
		n = n << 4 | (uint64_t)digit;
		if (n > TFP_FRAMING_BODY_MAX)
			return TFP_FRAMING_LONG_BODY;
	}
	/* Extensions of a chunk mean nothing to us. */
	if (i == 0 || (i < size && line[i] != ';'))
		return TFP_FRAMING_CHUNK;
	f->body_size += n;
	if (f->body_size > TFP_FRAMING_BODY_MAX)
		return TFP_FRAMING_LONG_BODY;
	f->body_left = n;
	f->state = n ? TFP_FRAMING_CHUNK_DATA : TFP_FRAMING_TRAILER;
	f->size = f->lines = 0;
	if (n)
		tfp_buf_printf(&f->ready, "%llx\r\n", (unsigned long long)n);
	return TFP_FRAMING_FINE;
}

/* ---- lines ---- */

/* Takes a whole line, without its end: of a head, a trailer, or between chunks. */
static enum tfp_framing_fault end_line(struct tfp_framing *f)
{
	const char *line = tfp_buf_text(&f->line), *value;
	size_t size = f->line.size, name, value_size;
	switch (f->state) {
	case TFP_FRAMING_HEAD:
		if (size == 0 && f->lines == 0)
			return ++f->blank_lines > BLANK_LINES_MAX ? TFP_FRAMING_REQUEST_LINE
								  : TFP_FRAMING_FINE;
		if (size == 0)
			return end_head(f);
		if (f->lines++ == 0)
			return read_request_line(f, line, size);
		if (f->lines > TFP_FRAMING_FIELDS_MAX + 1)
			return TFP_FRAMING_LONG_HEAD;
		return read_field(f, line, size);
	case TFP_FRAMING_CHUNK_SIZE:
		return read_chunk_size(f, line, size);
	case TFP_FRAMING_CHUNK_END:
		if (size)
			return TFP_FRAMING_CHUNK;
		tfp_buf_puts(&f->ready, "\r\n");
		f->state = TFP_FRAMING_CHUNK_SIZE;
		return TFP_FRAMING_FINE;
	default: /* a trailer is left out */
		if (size)
			return ++f->lines > TFP_FRAMING_FIELDS_MAX
				       ? TFP_FRAMING_LONG_HEAD
				       : split_field(line, size, &name, &value, &value_size);
		tfp_buf_puts(&f->ready, "0\r\n\r\n");
		begin_head(f);
		return TFP_FRAMING_FINE;
	}
}

static enum tfp_framing_fault too_long(const struct tfp_framing *f)
{
	if (f->state == TFP_FRAMING_CHUNK_SIZE)
		return f->line.size > CHUNK_LINE_MAX ? TFP_FRAMING_CHUNK : TFP_FRAMING_FINE;
	if (f->state == TFP_FRAMING_CHUNK_END)
		return f->line.size ? TFP_FRAMING_CHUNK : TFP_FRAMING_FINE;
	if (f->size <= TFP_FRAMING_HEAD_MAX)
		return TFP_FRAMING_FINE;
	return f->state == TFP_FRAMING_HEAD && f->lines == 0 ? TFP_FRAMING_LONG_TARGET
							     : TFP_FRAMING_LONG_HEAD;
}

static enum tfp_framing_fault read_byte(struct tfp_framing *f, char c)
{
	bool ends = f->return_before && c == '\n';
	f->size++;
	if ((f->return_before || c == '\n') && !ends)
		return TFP_FRAMING_LINE_END;
	f->return_before = c == '\r';
	if (ends) {
		enum tfp_framing_fault fault = end_line(f);
		tfp_buf_clear(&f->line);
		return fault;
	}
	if (c == '\r')
		return TFP_FRAMING_FINE;
	if (((unsigned char)c < ' ' && c != '\t') || c == 0x7f)
		return f->state == TFP_FRAMING_CHUNK_END ? TFP_FRAMING_CHUNK : TFP_FRAMING_CONTROL;
	tfp_buf_putc(&f->line, c);
	return too_long(f);
}

static size_t copy_body(struct tfp_framing *f, const char *bytes, size_t size)
{
	if (size > f->body_left)
		size = (size_t)f->body_left;
	tfp_buf_add(&f->ready, bytes, size);
	f->body_left -= size;
	if (f->body_left == 0 && f->state == TFP_FRAMING_BODY)
		begin_head(f);
	else if (f->body_left == 0)
		f->state = TFP_FRAMING_CHUNK_END;
	return size;
}

void tfp_framing_feed(struct tfp_framing *f, const char *bytes, size_t size)
{
	while (size && f->state != TFP_FRAMING_REFUSED) {
		size_t n = 1;
		if (f->state == TFP_FRAMING_BODY || f->state == TFP_FRAMING_CHUNK_DATA) {
			n = copy_body(f, bytes, size);
		} else {
			enum tfp_framing_fault fault = read_byte(f, *bytes);
			if (tfp_buf_failed(&f->line) || tfp_buf_failed(&f->start) ||
			    tfp_buf_failed(&f->fields))
				fault = TFP_FRAMING_NO_MEMORY;
			if (fault != TFP_FRAMING_FINE)
				refuse(f, fault);
		}
		bytes += n;
		size -= n;
	}
}

size_t tfp_framing_take(struct tfp_framing *f, char *to, size_t room)
{
	size_t left = f->ready.size - f->taken, n = left < room ? left : room;
	if (n)
		memcpy(to, f->ready.data + f->taken, n);
	f->taken += n;
	if (n == left && left) {
		f->taken = 0;
		tfp_buf_release(&f->ready);
	}
	return n;
}

bool tfp_framing_broken(const struct tfp_framing *f)
{
	return tfp_buf_failed(&f->ready);
}

bool tfp_framing_within_head(const struct tfp_framing *f)
{
	return f->state == TFP_FRAMING_HEAD && f->size > 0;
}

enum tfp_framing_fault tfp_framing_fault(const struct tfp_framing *f, unsigned request)
{
	return request == f->heads ? f->fault : TFP_FRAMING_FINE;
}
