/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/text_message.h"

#include "base/utf8.h"
#include "wire/pb_writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 400 /* bytes of a number: a double in full has fewer */

struct scanner {
	const char *text, *at, *end;
	struct tfp_buf *out;
	struct tfp_buf string; /* what a value of texts comes to */
	const char *why;       /* NULL as long as all is well */
	const char *why_at;
};

static bool wrong(struct scanner *s, const char *at, const char *why)
{
	if (!s->why) {
		s->why = why;
		s->why_at = at;
	}
	return false;
}

static void skip_blanks(struct scanner *s)
{
	for (; s->at < s->end; s->at++) {
		if (*s->at == '#') {
			const char *line = memchr(s->at, '\n', (size_t)(s->end - s->at));
			s->at = line ? line : s->end - 1;
		} else if (!memchr(" \t\n\r\f\v", *s->at, 6)) {
			return;
		}
	}
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The next thing is that character. */
static bool sees(struct scanner *s, char c)
{
	skip_blanks(s);
	return s->at < s->end && *s->at == c;
}

static bool takes(struct scanner *s, char c)
{
	if (!sees(s, c))
		return false;
	s->at++;
	return true;
}

static bool take_word(struct scanner *s, struct tfp_str *word)
{
	skip_blanks(s);
	*word = (struct tfp_str){s->at, 0};
	if (s->at == s->end || !is_letter(*s->at))
		return false;
	while (s->at < s->end && (is_letter(*s->at) || is_digit(*s->at)))
		s->at++;
	word->size = (size_t)(s->at - word->data);
	return true;
}

/* ---- values ---- */

/* A number's characters as a C text. */
static bool take_number(struct scanner *s, char out[NUMBER_MAX])
{
	size_t size = 0;
	skip_blanks(s);
	const char *from = s->at;
	while (s->at < s->end && (is_digit(*s->at) || is_letter(*s->at) || *s->at == '.' ||
				  ((*s->at == '-' || *s->at == '+') && s->at > from &&
				   (s->at[-1] == 'e' || s->at[-1] == 'E')))) {
		if (size + 1 == NUMBER_MAX)
			return wrong(s, from, "a number is too long");
		out[size++] = *s->at++;
	}
	out[size] = '\0';
	return size > 0 || wrong(s, from, "a value is missing");
}

static bool take_integer(struct scanner *s, uint64_t positive_max, uint64_t negative_max,
			 uint64_t *value)
{
	char digits[NUMBER_MAX], *end;
	bool negative = takes(s, '-');
	const char *at = s->at;
	if (!take_number(s, digits))
		return false;
	if (!is_digit(digits[0]))
		return wrong(s, at, "an integer is missing");
	/* Its bases are C's. */
	errno = 0;
	uint64_t n = strtoull(digits, &end, 0);
	if (*end != '\0')
		return wrong(s, at, "an integer is missing");
	if (errno == ERANGE || n > (negative ? negative_max : positive_max))
		return wrong(s, at, "an integer is out of range");
	*value = negative ? 0 - n : n;
	return true;
}

static bool take_double(struct scanner *s, double *value)
{
	char digits[NUMBER_MAX], *end;
	bool negative = takes(s, '-');
	const char *at = s->at;
	if (!take_number(s, digits))
		return false;
	if (strcmp(digits, "inf") == 0 || strcmp(digits, "infinity") == 0) {
		*value = HUGE_VAL;
	} else if (strcmp(digits, "nan") == 0) {
		*value = NAN;
	} else {
		if (!is_digit(digits[0]) && digits[0] != '.')
			return wrong(s, at, "a number is missing");
		*value = strtod(digits, &end);
		if ((*end == 'f' || *end == 'F') && end[1] == '\0')
			end++;
		if (*end != '\0' || digits[1] == 'x' || digits[1] == 'X')
			return wrong(s, at, "a number is missing");
	}
	if (negative)
		*value = -*value;
	return true;
}

static bool take_bool(struct scanner *s, uint64_t *value)
{
	struct tfp_str word;
	skip_blanks(s);
	const char *at = s->at;
	if (!take_word(s, &word))
		return take_integer(s, 1, 0, value);
	*value = tfp_str_equal(word, "true") || tfp_str_equal(word, "True") ||
		 tfp_str_equal(word, "t");
	return *value || tfp_str_equal(word, "false") || tfp_str_equal(word, "False") ||
	       tfp_str_equal(word, "f") || wrong(s, at, "true or false is missing");
}

static bool take_enum(struct scanner *s, const struct tfp_field_rule *field, uint64_t *value)
{
	struct tfp_str word;
	skip_blanks(s);
	const char *at = s->at;
	if (!take_word(s, &word))
		return take_integer(s, INT32_MAX, (uint64_t)INT32_MAX + 1, value);
	for (const struct tfp_enum_word *w = field->words; w->word; w++) {
		if (tfp_str_equal(word, w->word)) {
			*value = (uint64_t)(int64_t)w->number;
			return true;
		}
	}
	return wrong(s, at, "an unknown word stands for a number");
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to `most` digits of a base from s->at. */
static uint32_t take_code(struct scanner *s, int base, int most)
{
	uint32_t code = 0;
	for (; most > 0 && s->at < s->end; most--, s->at++) {
		int digit = hex_value(*s->at);
		if (digit < 0 || digit >= base)
			break;
		code = code * (uint32_t)base + (uint32_t)digit;
	}
	return code;
}

static void put_utf8(struct tfp_buf *out, uint32_t code)
{
	if (code < 0x80) {
		tfp_buf_putc(out, (char)code);
		return;
	}
	int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
	tfp_buf_putc(out, (char)(lead[more] | code >> (6 * more)));
	while (more-- > 0)
		tfp_buf_putc(out, (char)(0x80 | (code >> (6 * more) & 0x3f)));
}

/* s->at is behind the backslash. */
static bool take_escape(struct scanner *s)
{
	static const char letters[] = "abfnrtv\\?'\"", meant[] = "\a\b\f\n\r\t\v\\?'\"";
	if (s->at == s->end)
		return wrong(s, s->at, "a text does not end");
	const char *letter = *s->at ? strchr(letters, *s->at) : NULL;
	if (letter) {
		tfp_buf_putc(&s->string, meant[letter - letters]);
		s->at++;
	} else if (*s->at >= '0' && *s->at <= '7') {
		tfp_buf_putc(&s->string, (char)take_code(s, 8, 3));
	} else if (*s->at == 'x' || *s->at == 'X') {
		s->at++;
		tfp_buf_putc(&s->string, (char)take_code(s, 16, 2));
	} else if (*s->at == 'u' || *s->at == 'U') {
		int digits = *s->at++ == 'u' ? 4 : 8;
		const char *from = s->at;
		uint32_t code = take_code(s, 16, digits);
		if (s->at - from != digits || code > 0x10ffff)
			return wrong(s, from, "a character's code is missing");
		put_utf8(&s->string, code);
	} else {
		return wrong(s, s->at, "an unknown escape");
	}
	return true;
}

/* Texts that follow one another are one. */
static bool take_string(struct scanner *s)
{
	tfp_buf_clear(&s->string);
	if (!sees(s, '"') && !sees(s, '\''))
		return wrong(s, s->at, "a text is missing");
	while (sees(s, '"') || sees(s, '\'')) {
		char quote = *s->at++;
		while (s->at < s->end && *s->at != quote) {
			if (*s->at == '\n')
				return wrong(s, s->at, "a text does not end in its line");
			if (*s->at != '\\')
				tfp_buf_putc(&s->string, *s->at++);
			else if (s->at++, !take_escape(s))
				return false;
		}
		if (s->at == s->end)
			return wrong(s, s->at, "a text does not end");
		s->at++;
	}
	return true;
}

/* ---- fields ---- */

static bool take_scalar(struct scanner *s, const struct tfp_field_rule *field)
{
	const uint64_t int32_min = (uint64_t)INT32_MAX + 1, int64_min = (uint64_t)INT64_MAX + 1;
	const char *at;
	uint64_t n = 0;
	double d = 0;
	float f;
	bool good;
	switch (field->kind) {
	case TFP_FIELD_INT32:
		good = take_integer(s, INT32_MAX, int32_min, &n);
		break;
	case TFP_FIELD_INT64:
		good = take_integer(s, INT64_MAX, int64_min, &n);
		break;
	case TFP_FIELD_UINT32:
		good = take_integer(s, UINT32_MAX, 0, &n);
		break;
	case TFP_FIELD_UINT64:
		good = take_integer(s, UINT64_MAX, 0, &n);
		break;
	case TFP_FIELD_BOOL:
		good = take_bool(s, &n);
		break;
	case TFP_FIELD_ENUM:
		good = take_enum(s, field, &n);
		break;
	case TFP_FIELD_FLOAT:
		good = take_double(s, &d);
		f = (float)d;
		tfp_pb_key(s->out, field->number, TFP_PB_FIXED32);
		tfp_buf_add(s->out, &f, sizeof(f));
		return good;
	case TFP_FIELD_DOUBLE:
		good = take_double(s, &d);
		tfp_pb_put_double(s->out, field->number, d);
		return good;
	default:
		skip_blanks(s);
		at = s->at;
		good = take_string(s);
		if (good && field->kind == TFP_FIELD_STRING &&
		    !tfp_utf8_valid(s->string.data, s->string.size))
			return wrong(s, at, "a text is not UTF-8");
		tfp_pb_put_bytes(s->out, field->number, s->string.data, s->string.size);
		return good;
	}
	tfp_pb_put_uint(s->out, field->number, n);
	return good;
}

static bool take_message(struct scanner *s, const struct tfp_message_rule *rule, char closing,
			 unsigned depth);

static bool take_value(struct scanner *s, const struct tfp_field_rule *field, unsigned depth)
{
	if (field->kind != TFP_FIELD_MESSAGE)
		return take_scalar(s, field);
	char closing = takes(s, '{') ? '}' : takes(s, '<') ? '>' : '\0';
	if (!closing)
		return wrong(s, s->at, "a message is missing");
	if (depth == TFP_MESSAGE_DEPTH)
		return wrong(s, s->at, "too many messages inside one another");
	size_t mark = tfp_pb_begin(s->out, field->number);
	bool good = take_message(s, field->message, closing, depth + 1);
	tfp_pb_end(s->out, mark);
	return good;
}

static bool take_list(struct scanner *s, const struct tfp_field_rule *field, unsigned depth)
{
	if (takes(s, ']'))
		return true;
	do {
		if (!take_value(s, field, depth))
			return false;
	} while (takes(s, ','));
	return takes(s, ']') || wrong(s, s->at, "a list does not end");
}

static bool take_field(struct scanner *s, const struct tfp_message_rule *rule, uint64_t *seen,
		       unsigned depth)
{
	struct tfp_str word;
	skip_blanks(s);
	const char *at = s->at;
	if (!take_word(s, &word))
		return wrong(s, at, "the name of a field is missing");
	const struct tfp_field_rule *field = tfp_field_by_name(rule, word);
	if (!field)
		return wrong(s, at, "an unknown field");
	uint64_t bit = UINT64_C(1) << (field - rule->fields);
	if (!field->repeated && (*seen & bit))
		return wrong(s, at, "a second value of a field that has one");
	*seen |= bit;
	bool colon = takes(s, ':');
	if (!colon && field->kind != TFP_FIELD_MESSAGE)
		return wrong(s, s->at, "':' is missing");
	bool good = field->repeated && takes(s, '[') ? take_list(s, field, depth)
						     : take_value(s, field, depth);
	if (good && !takes(s, ';'))
		takes(s, ',');
	return good;
}

/* Until `closing`, '\0' for the end of the text. */
static bool take_message(struct scanner *s, const struct tfp_message_rule *rule, char closing,
			 unsigned depth)
{
	uint64_t seen = 0;
	for (;;) {
		skip_blanks(s);
		if (s->at == s->end)
			return !closing || wrong(s, s->at, "a message does not end");
		if (closing && takes(s, closing))
			return true;
		if (!take_field(s, rule, &seen, depth) || tfp_buf_failed(s->out) ||
		    tfp_buf_failed(&s->string))
			return false;
	}
}

enum tfp_status tfp_text_message(const struct tfp_message_rule *rule, const char *text, size_t size,
				 struct tfp_buf *out, struct tfp_error *err)
{
	struct scanner s = {.text = text, .at = text, .end = text + size, .out = out};
	size_t line = 1;
	tfp_buf_init(&s.string, size);
	bool good = take_message(&s, rule, '\0', 0);
	bool failed = tfp_buf_failed(out) || tfp_buf_failed(&s.string);
	tfp_buf_release(&s.string);
	if (failed)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the message");
	if (good)
		return TFP_OK;
	for (const char *at = text; at < s.why_at; at++)
		line += *at == '\n';
	tfp_fail(err, TFP_BAD_INPUT, "this is no %s as text: line %zu: %s", rule->name, line,
		 s.why);
	tfp_error_set_offset(err, (uint64_t)(s.why_at - text));
	return TFP_BAD_INPUT;
}
