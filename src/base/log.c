/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE 4096

static bool verbose;
static enum tfp_log_format form;

/* A line that is cut where it gets too long, never within an escape. */
struct line {
	size_t size;
	char data[8192];
};

/* The end of a line always fits. */
static const char text_end[] = "\n", json_end[] = "\"}\n";

void tfp_log_set_verbose(bool on)
{
	verbose = on;
}

void tfp_log_set_format(enum tfp_log_format format)
{
	form = format;
}

bool tfp_log_is_verbose(void)
{
	return verbose;
}

static bool put(struct line *line, const char *bytes, size_t size)
{
	if (size > sizeof(line->data) - sizeof(json_end) - line->size)
		return false;
	memcpy(line->data + line->size, bytes, size);
	line->size += size;
	return true;
}

static bool put_text(struct line *line, const char *text)
{
	return put(line, text, strlen(text));
}

/* Bytes of the character at text that may stand as it is, or 0. */
static size_t plain(const char *text, size_t left)
{
	unsigned char c = (unsigned char)text[0];
	size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (c < 0x20 || c == 0x7f || size > left || !tfp_utf8_valid(text, size))
		return 0;
	/* Some terminals obey these, too. */
	return c == 0xc2 && (unsigned char)text[1] < 0xa0 ? 0 : size;
}

/* A file name may hold anything, a terminal obeys escape sequences, and a reader of JSON
 * wants it valid. */
static void put_escaped(struct line *line, const char *text)
{
	bool json = form == TFP_LOG_JSON, ok = true;
	for (size_t left = strlen(text); left && ok;) {
		size_t size = plain(text, left);
		char escape[8];
		if (json && (text[0] == '"' || text[0] == '\\')) {
			ok = put(line, (const char[]){'\\', text[0]}, 2);
		} else if (size) {
			ok = put(line, text, size);
		} else {
			/* JSON has no bytes: U+0080 to U+00FF stand for those that are no text. */
			snprintf(escape, sizeof(escape), json ? "\\u00%02x" : "\\x%02x",
				 (unsigned)(unsigned char)text[0]);
			ok = put_text(line, escape);
		}
		text += size ? size : 1;
		left -= size ? size : 1;
	}
}

static void finish(struct line *line, const char *end)
{
	memcpy(line->data + line->size, end, strlen(end));
	line->size += strlen(end);
	ssize_t written = write(STDERR_FILENO, line->data, line->size);
	(void)written; /* there is no better place to complain */
}

static void begin_json(struct line *line, const char *level)
{
	char text[64];
	struct timespec now;
	struct tm utc;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	size_t n = strftime(text, sizeof(text), "{\"ts\":\"%Y-%m-%dT%H:%M:%S", &utc);
	put(line, text, n);
	snprintf(text, sizeof(text), ".%03ldZ\",\"level\":\"%s\"", now.tv_nsec / 1000000, level);
	put_text(line, text);
}

__attribute__((format(printf, 2, 0))) static void print(const char *level, const char *format,
							va_list args)
{
	struct line line = {0};
	char message[MESSAGE];
	if (vsnprintf(message, sizeof(message), format, args) < 0)
		return;
	if (form == TFP_LOG_JSON) {
		begin_json(&line, level);
		put_text(&line, ",\"message\":\"");
	} else if (strcmp(level, "warning") == 0) {
		put_text(&line, "warning: ");
	}
	put_escaped(&line, message);
	finish(&line, form == TFP_LOG_JSON ? json_end : text_end);
}

void tfp_log(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print("info", format, args);
	va_end(args);
}

void tfp_log_warning(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print("warning", format, args);
	va_end(args);
}

void tfp_log_verbose(const char *format, ...)
{
	if (!verbose)
		return;
	va_list args;
	va_start(args, format);
	print("debug", format, args);
	va_end(args);
}

/* Numbers first, so that a text that is too long costs none of them. */
static void print_fields(const char *event, const struct tfp_log_field *fields, size_t count)
{
	struct line line = {0};
	char text[64];
	begin_json(&line, "info");
	for (size_t i = 0; i < count; i++) {
		if (fields[i].text)
			continue;
		snprintf(text, sizeof(text), ",\"%s\":%.15g", fields[i].name, fields[i].number);
		put_text(&line, text);
	}
	put_text(&line, ",\"event\":\"");
	put_escaped(&line, event);
	for (size_t i = 0; i < count; i++) {
		if (!fields[i].text)
			continue;
		snprintf(text, sizeof(text), "\",\"%s\":\"", fields[i].name);
		/* The name and its quotes whole, or nothing of it. */
		if (!put_text(&line, text))
			break;
		put_escaped(&line, fields[i].text);
	}
	finish(&line, json_end);
}

void tfp_log_event(const char *event, const struct tfp_log_field *fields, size_t count,
		   const char *format, ...)
{
	if (!verbose)
		return;
	if (form == TFP_LOG_JSON) {
		print_fields(event, fields, count);
		return;
	}
	va_list args;
	va_start(args, format);
	print("info", format, args);
	va_end(args);
}
