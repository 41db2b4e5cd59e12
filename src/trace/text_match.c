/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/text_match.h"

#include "base/alloc.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#define PATTERN_MAX 1000u
/* For one text. Steps are some ten nanoseconds each. */
#define STEPS_MAX 100000u
#define DEPTH_MAX 2000u
#define HEAP_KIB  1024u

struct tfp_text_pattern {
	pcre2_general_context *memory;
	pcre2_code *code;
	/* A word that is searched as it stands needs no expression. */
	char *word;
	size_t word_size;
	/* A piece of what is searched, that every match has byte for byte but for the case of ASCII
	 * letters; size 0: there is none. */
	const char *piece; /* in text */
	size_t piece_size;
	char *text; /* owned; NULL for expressions */
};

struct tfp_text_matcher {
	const struct tfp_text_pattern *pattern;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	uint64_t gave_up;
	bool failed;
};

static void *take(size_t size, void *context)
{
	(void)context;
	return tfp_malloc(size);
}

static void give(void *memory, void *context)
{
	(void)context;
	tfp_free(memory);
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for a search");
}

static enum tfp_status compile(struct tfp_text_pattern *p, const char *text, size_t size,
			       bool expression, bool minds_case, struct tfp_error *err)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
	PCRE2_SIZE at;
	int error;
	options |= expression ? PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE : PCRE2_LITERAL;
	options |= minds_case ? 0 : PCRE2_CASELESS;
	p->memory = pcre2_general_context_create(take, give, NULL);
	pcre2_compile_context *context = p->memory ? pcre2_compile_context_create(p->memory) : NULL;
	if (!context)
		return no_memory(err);
	p->code = pcre2_compile((PCRE2_SPTR)text, size, options, &error, &at, context);
	pcre2_compile_context_free(context);
	if (p->code)
		return TFP_OK;
	if (error == PCRE2_ERROR_HEAP_FAILED)
		return no_memory(err);
	PCRE2_UCHAR message[200];
	if (pcre2_get_error_message(error, message, sizeof(message)) < 0)
		strcpy((char *)message, "not understood");
	tfp_fail(err, TFP_BAD_QUERY, "regular expression, at character %zu: %s", (size_t)at + 1,
		 (const char *)message);
	tfp_error_set_offset(err, at);
	return TFP_BAD_QUERY;
}

/* K and S have further forms beyond ASCII (the Kelvin sign, the long s), and so have letters
 * beyond ASCII: the piece is the longest one without them. */
static bool has_one_form(char c)
{
	unsigned char lower = (unsigned char)c | 0x20;
	return (unsigned char)c < 0x80 && lower != 'k' && lower != 's';
}

static void find_piece(struct tfp_text_pattern *p, bool minds_case)
{
	for (size_t from = 0, to; p->text[from]; from = to + (p->text[to] != '\0')) {
		for (to = from; p->text[to] && (minds_case || has_one_form(p->text[to])); to++)
			;
		if (to - from > p->piece_size) {
			p->piece = p->text + from;
			p->piece_size = to - from;
		}
	}
}

enum tfp_status tfp_text_pattern_new(struct tfp_text_pattern **out, const char *text,
				     bool expression, bool minds_case, struct tfp_error *err)
{
	size_t size = strlen(text);
	enum tfp_status status = TFP_OK;
	*out = NULL;
	if (size == 0)
		return tfp_fail(err, TFP_BAD_QUERY, "there is nothing to search for");
	if (size > PATTERN_MAX)
		return tfp_fail(err, TFP_BAD_QUERY, "%zu bytes to search for, at most %u", size,
				PATTERN_MAX);
	struct tfp_text_pattern *p = tfp_calloc(1, sizeof(*p));
	if (!p)
		return no_memory(err);
	if (expression || !minds_case) {
		status = compile(p, text, size, expression, minds_case, err);
	} else {
		p->word = tfp_strdup(text);
		p->word_size = size;
		status = p->word ? TFP_OK : no_memory(err);
	}
	if (status == TFP_OK && !expression) {
		p->text = tfp_strdup(text);
		if (p->text)
			find_piece(p, minds_case);
		else
			status = no_memory(err);
	}
	if (status != TFP_OK) {
		tfp_text_pattern_free(p);
		return status;
	}
	*out = p;
	return TFP_OK;
}

void tfp_text_pattern_free(struct tfp_text_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_code_free(pattern->code);
	pcre2_general_context_free(pattern->memory);
	tfp_free(pattern->word);
	tfp_free(pattern->text);
	tfp_free(pattern);
}

struct tfp_text_matcher *tfp_text_matcher_new(const struct tfp_text_pattern *pattern)
{
	struct tfp_text_matcher *m = tfp_calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->pattern = pattern;
	if (pattern->word)
		return m;
	m->data = pcre2_match_data_create(1, pattern->memory);
	m->limits = pcre2_match_context_create(pattern->memory);
	if (!m->data || !m->limits) {
		tfp_text_matcher_free(m);
		return NULL;
	}
	pcre2_set_match_limit(m->limits, STEPS_MAX);
	pcre2_set_depth_limit(m->limits, DEPTH_MAX);
	pcre2_set_heap_limit(m->limits, HEAP_KIB);
	return m;
}

void tfp_text_matcher_free(struct tfp_text_matcher *matcher)
{
	if (!matcher)
		return;
	pcre2_match_data_free(matcher->data);
	pcre2_match_context_free(matcher->limits);
	tfp_free(matcher);
}

bool tfp_text_matches(struct tfp_text_matcher *matcher, const char *text, size_t size)
{
	const struct tfp_text_pattern *p = matcher->pattern;
	if (p->word)
		return size >= p->word_size && memmem(text, size, p->word, p->word_size);
	int found = pcre2_match(p->code, (PCRE2_SPTR)(size ? text : ""), size, 0, 0, matcher->data,
				matcher->limits);
	if (found == PCRE2_ERROR_NOMEMORY)
		matcher->failed = true;
	else if (found < 0 && found != PCRE2_ERROR_NOMATCH)
		matcher->gave_up++;
	return found >= 0;
}

/* Upper and lower case are one; so are some signs, which only makes it less strict. */
static bool same_folded(const uint8_t *a, const char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if ((a[i] | 0x20) != ((uint8_t)b[i] | 0x20))
			return false;
	}
	return true;
}

bool tfp_text_may_lie_in(const struct tfp_text_pattern *p, const void *bytes, size_t size)
{
	const uint8_t *data = bytes;
	size_t last = p->piece_size - 1, at = 0;
	if (p->piece_size == 0)
		return true;
	if (size < p->piece_size)
		return false;
	/* First and last byte, many places at a time: without a branch the compiler takes the
	 * processor's wide registers. */
	const uint8_t first = (uint8_t)p->piece[0] | 0x20, end = (uint8_t)p->piece[last] | 0x20;
	enum { MANY = 64 };
	for (size_t count = size - last; at < count;) {
		size_t many = count - at < MANY ? count - at : MANY;
		uint8_t any = 0;
		if (many == MANY) {
			for (size_t i = 0; i < MANY; i++)
				any |= (uint8_t)(((data[at + i] | 0x20) == first) &
						 ((data[at + i + last] | 0x20) == end));
		} else {
			any = 1;
		}
		for (size_t i = 0; any && i < many; i++) {
			if (same_folded(data + at + i, p->piece, p->piece_size))
				return true;
		}
		at += many;
	}
	return false;
}

uint64_t tfp_text_matcher_gave_up(const struct tfp_text_matcher *matcher)
{
	return matcher->gave_up;
}

bool tfp_text_matcher_failed(const struct tfp_text_matcher *matcher)
{
	return matcher->failed;
}
