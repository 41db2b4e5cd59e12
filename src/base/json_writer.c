/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORMAT_MAX 256

void tfp_json_init(struct tfp_json *j, struct tfp_buf *out)
{
	*j = (struct tfp_json){.out = out};
}

/* A wrong call shows in the first test that asks for the document. */
static void misused(struct tfp_json *j)
{
	j->out->failed = true;
}

enum tfp_status tfp_json_finish(const struct tfp_json *j, struct tfp_error *err)
{
	return j->depth == 0 && j->any && !tfp_buf_failed(j->out)
		       ? TFP_OK
		       : tfp_fail(err, TFP_NO_MEMORY, "no memory for the answer");
}

static bool in_object(const struct tfp_json *j)
{
	unsigned at = j->depth - 1;
	return j->depth > 0 && (j->objects[at / 64] >> at % 64 & 1);
}

/* Room for some bytes, behind the comma and the end of line that go before them. The caller
 * writes them and calls took. */
static char *room(struct tfp_json *j, size_t size)
{
	char *to = tfp_buf_reserve(j->out, size + 2);
	if (!to)
		return NULL;
	if (j->any && !j->has_key) {
		*to++ = ',';
		j->out->size++;
	}
	if (j->new_line) {
		*to++ = '\n';
		j->out->size++;
		j->new_line = false;
	}
	return to;
}

/* The same for a value, if one may stand here. */
static char *value_room(struct tfp_json *j, size_t size)
{
	if (in_object(j) != j->has_key || (j->depth == 0 && j->any)) {
		misused(j);
		return NULL;
	}
	char *to = room(j, size);
	j->any = true;
	j->has_key = false;
	return to;
}

static void took(struct tfp_json *j, size_t size)
{
	j->out->size += size;
}

static void put_word(struct tfp_json *j, const char *word, size_t size)
{
	char *to = value_room(j, size);
	if (!to)
		return;
	memcpy(to, word, size);
	took(j, size);
}

/* ---- nesting ---- */

static void begin(struct tfp_json *j, bool object)
{
	if (j->depth == TFP_JSON_DEPTH) {
		misused(j);
		return;
	}
	put_word(j, object ? "{" : "[", 1);
	uint64_t bit = UINT64_C(1) << j->depth % 64;
	if (object)
		j->objects[j->depth / 64] |= bit;
	else
		j->objects[j->depth / 64] &= ~bit;
	j->depth++;
	j->any = false;
}

static void end(struct tfp_json *j, bool object)
{
	if (j->depth == 0 || in_object(j) != object || j->has_key) {
		misused(j);
		return;
	}
	if (j->new_line)
		tfp_buf_putc(j->out, '\n');
	tfp_buf_putc(j->out, object ? '}' : ']');
	j->new_line = false;
	j->depth--;
	j->any = true;
}

void tfp_json_begin_object(struct tfp_json *j)
{
	begin(j, true);
}

void tfp_json_end_object(struct tfp_json *j)
{
	end(j, true);
}

void tfp_json_begin_array(struct tfp_json *j)
{
	begin(j, false);
}

void tfp_json_end_array(struct tfp_json *j)
{
	end(j, false);
}

void tfp_json_begin_object_of(struct tfp_json *j, const char *key)
{
	tfp_json_key(j, key);
	begin(j, true);
}

void tfp_json_begin_array_of(struct tfp_json *j, const char *key)
{
	tfp_json_key(j, key);
	begin(j, false);
}

void tfp_json_break_line(struct tfp_json *j)
{
	j->new_line = true;
}

/* ---- texts ---- */

static void put_escaped(struct tfp_buf *out, const char *text, size_t size)
{
	size_t from = 0;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		tfp_buf_add(out, text + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\') {
			tfp_buf_putc(out, '\\');
			tfp_buf_putc(out, (char)c);
		} else if (c == '\n') {
			tfp_buf_puts(out, "\\n");
		} else if (c == '\t') {
			tfp_buf_puts(out, "\\t");
		} else {
			tfp_buf_printf(out, "\\u%04x", c);
		}
	}
	tfp_buf_add(out, text + from, size - from);
}

static bool is_plain(const char *text, size_t size)
{
	size_t i = 0;
	while (i < size && text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
		i++;
	return i == size;
}

/* Between quotes. */
static void put_text(struct tfp_buf *out, const char *text, size_t size)
{
	/* Nearly all are. */
	if (size < SIZE_MAX / 2 && is_plain(text, size)) {
		char *to = tfp_buf_reserve(out, size + 2);
		if (!to)
			return;
		to[0] = '"';
		memcpy(to + 1, size ? text : "", size);
		to[size + 1] = '"';
		out->size += size + 2;
		return;
	}
	tfp_buf_putc(out, '"');
	if (tfp_utf8_valid(text, size)) {
		put_escaped(out, text, size);
	} else {
		struct tfp_buf repaired;
		/* One bad byte becomes three good ones. */
		tfp_buf_init(&repaired, size <= SIZE_MAX / 3 ? size * 3 : SIZE_MAX);
		tfp_utf8_repair(&repaired, text, size);
		out->failed |= tfp_buf_failed(&repaired);
		put_escaped(out, tfp_buf_text(&repaired), repaired.size);
		tfp_buf_release(&repaired);
	}
	tfp_buf_putc(out, '"');
}

void tfp_json_key_text(struct tfp_json *j, const char *key, size_t size)
{
	if (!in_object(j) || j->has_key) {
		misused(j);
		return;
	}
	if (room(j, 0))
		put_text(j->out, key, size);
	tfp_buf_putc(j->out, ':');
	j->has_key = true;
}

void tfp_json_key(struct tfp_json *j, const char *key)
{
	tfp_json_key_text(j, key, strlen(key));
}

void tfp_json_add_text(struct tfp_json *j, const char *text, size_t size)
{
	if (value_room(j, 0))
		put_text(j->out, text, size);
}

void tfp_json_add_string(struct tfp_json *j, const char *text)
{
	if (text)
		tfp_json_add_text(j, text, strlen(text));
	else
		tfp_json_add_null(j);
}

static void add_formatted(struct tfp_json *j, const char *format, va_list args)
{
	char text[FORMAT_MAX];
	int size = vsnprintf(text, sizeof(text), format, args);
	if (size < 0 || (size_t)size >= sizeof(text))
		misused(j);
	else
		tfp_json_add_text(j, text, (size_t)size);
}

void tfp_json_add_format(struct tfp_json *j, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_formatted(j, format, args);
	va_end(args);
}

void tfp_json_add_raw(struct tfp_json *j, const char *json, size_t size)
{
	if (value_room(j, 0))
		tfp_buf_add(j->out, json, size);
}

/* ---- other values ---- */

void tfp_json_add_null(struct tfp_json *j)
{
	put_word(j, "null", 4);
}

void tfp_json_add_boolean(struct tfp_json *j, bool value)
{
	put_word(j, value ? "true" : "false", value ? 4 : 5);
}

void tfp_json_add_integer(struct tfp_json *j, int64_t value)
{
	char *to = value_room(j, TFP_DIGITS_MAX);
	if (to)
		took(j, tfp_put_integer(to, value));
}

void tfp_json_add_count(struct tfp_json *j, uint64_t value)
{
	char *to = value_room(j, TFP_DIGITS_MAX);
	if (to)
		took(j, tfp_put_count(to, value));
}

void tfp_json_add_number(struct tfp_json *j, double value)
{
	if (!isfinite(value)) {
		tfp_json_add_null(j);
		return;
	}
	char *to = value_room(j, TFP_DOUBLE_MAX);
	if (to)
		took(j, tfp_put_double(to, value));
}

void tfp_json_add_double(struct tfp_json *j, double value)
{
	if (!isfinite(value))
		tfp_json_add_string(j, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
	else if (value == floor(value) && fabs(value) < 1e15)
		tfp_json_add_integer(j, (int64_t)value);
	else
		tfp_json_add_number(j, value);
}

/* ---- members ---- */

void tfp_json_set_null(struct tfp_json *j, const char *key)
{
	tfp_json_key(j, key);
	tfp_json_add_null(j);
}

void tfp_json_set_boolean(struct tfp_json *j, const char *key, bool value)
{
	tfp_json_key(j, key);
	tfp_json_add_boolean(j, value);
}

void tfp_json_set_integer(struct tfp_json *j, const char *key, int64_t value)
{
	tfp_json_key(j, key);
	tfp_json_add_integer(j, value);
}

void tfp_json_set_count(struct tfp_json *j, const char *key, uint64_t value)
{
	tfp_json_key(j, key);
	tfp_json_add_count(j, value);
}

void tfp_json_set_number(struct tfp_json *j, const char *key, double value)
{
	tfp_json_key(j, key);
	tfp_json_add_number(j, value);
}

void tfp_json_set_text(struct tfp_json *j, const char *key, const char *text, size_t size)
{
	tfp_json_key(j, key);
	tfp_json_add_text(j, text, size);
}

void tfp_json_set_string(struct tfp_json *j, const char *key, const char *text)
{
	tfp_json_key(j, key);
	tfp_json_add_string(j, text);
}

void tfp_json_set_format(struct tfp_json *j, const char *key, const char *format, ...)
{
	va_list args;
	tfp_json_key(j, key);
	va_start(args, format);
	add_formatted(j, format, args);
	va_end(args);
}
