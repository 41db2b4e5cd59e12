#include "tools/text_match.h"

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

uint64_t tfp_text_matcher_gave_up(const struct tfp_text_matcher *matcher)
{
	return matcher->gave_up;
}

bool tfp_text_matcher_failed(const struct tfp_text_matcher *matcher)
{
	return matcher->failed;
}
