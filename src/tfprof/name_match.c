/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/name_match.h"

#include "base/alloc.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For one name. */
#define STEPS_MAX  1000000u
#define DEPTH_MAX  100000u
#define HEAP_KIB   16384u
#define REPEAT_MAX 1000 /* RE2's */

struct tfp_name_pattern {
	pcre2_general_context *memory;
	pcre2_code *code; /* NULL: matches nothing */
	pcre2_match_data *data;
	pcre2_match_context *limits;
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

/* ---- RE2's syntax ---- */

/* Behind "(?": what RE2 knows. */
static bool is_known_group(const char *at, const char *end)
{
	if (at < end && *at == 'P')
		return end - at > 1 && at[1] == '<';
	if (at < end && *at == '<')
		return end - at > 1 && at[1] != '=' && at[1] != '!';
	while (at < end && strchr("imsU-", *at))
		at++;
	return at < end && (*at == ':' || *at == ')');
}

/* Behind a backslash. */
static bool is_known_escape(char c)
{
	if (c >= '1' && c <= '9')
		return false;
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return strchr("AbBdDsSwWzafnrtvxpPQE", c) != NULL;
	return true;
}

/* Behind '{': a repetition, at most REPEAT_MAX; *end is behind it. False for a larger one;
 * what is no repetition stands for itself. */
static bool is_small_repeat(const char *at, const char **end)
{
	const char *from = at;
	long most = 0;
	bool any = false;
	for (; *at && *at != '}'; at++) {
		if (*at != ',' && (*at < '0' || *at > '9'))
			return true;
		any |= *at != ',';
		if (*at == ',' && at == from)
			return true;
	}
	if (!*at || !any)
		return true;
	*end = at + 1;
	for (at = from; *at != '}'; at += *at == ',') {
		char *behind;
		long n = strtol(at, &behind, 10);
		most = n > most ? n : most;
		at = behind;
	}
	return most <= REPEAT_MAX;
}

/* The place of something that RE2 does not know, or NULL. */
static const char *foreign(const char *text, size_t size)
{
	const char *end = text + size;
	bool in_class = false;
	for (const char *at = text; at < end; at++) {
		const char *behind = NULL;
		if (*at == '\\' && at + 1 < end) {
			if (!is_known_escape(*++at))
				return at;
		} else if (in_class) {
			in_class = *at != ']';
		} else if (*at == '[') {
			in_class = true;
			at += at + 1 < end && at[1] == '^';
			at += at + 1 < end && at[1] == ']';
		} else if (*at == '(' && at + 1 < end && at[1] == '*') {
			return at;
		} else if (*at == '(' && at + 1 < end && at[1] == '?') {
			if (!is_known_group(at + 2, end))
				return at;
			at++;
		} else if (*at == '*' || *at == '+' || *at == '?') {
			behind = at + 1;
		} else if (*at == '{') {
			if (!is_small_repeat(at + 1, &behind))
				return at;
		}
		if (behind && behind < end && *behind == '+')
			return behind;
		if (behind)
			at = behind - 1;
	}
	return NULL;
}

/* ---- a list ---- */

/* On standard error, where the expression then matches nothing; strict: as an error. */
static enum tfp_status complain(bool strict, const char *text, size_t size, size_t at,
				const char *why, struct tfp_error *err)
{
	int shown = (int)(size < 500 ? size : 500);
	if (strict)
		return tfp_fail(err, TFP_BAD_QUERY,
				"regular expression '%.*s', at character %zu: %s", shown, text,
				at + 1, why);
	fprintf(stderr, "regular expression '%.*s', at character %zu: %s\n", shown, text, at + 1,
		why);
	return TFP_OK;
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for an expression");
}

static enum tfp_status compile(struct tfp_name_pattern *p, const char *text, size_t size,
			       bool strict, struct tfp_error *err)
{
	const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_ANCHORED |
				 PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
				 PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE;
	const char *strange = foreign(text, size);
	PCRE2_UCHAR message[200];
	PCRE2_SIZE at;
	int error;
	p->memory = pcre2_general_context_create(take, give, NULL);
	pcre2_compile_context *context = p->memory ? pcre2_compile_context_create(p->memory) : NULL;
	if (!context)
		return no_memory(err);
	if (strange) {
		pcre2_compile_context_free(context);
		return complain(strict, text, size, (size_t)(strange - text),
				"RE2 does not know this", err);
	}
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	p->code = pcre2_compile((PCRE2_SPTR)text, size, options, &error, &at, context);
	pcre2_compile_context_free(context);
	if (!p->code) {
		if (error == PCRE2_ERROR_HEAP_FAILED)
			return no_memory(err);
		if (pcre2_get_error_message(error, message, sizeof(message)) < 0)
			strcpy((char *)message, "not understood");
		return complain(strict, text, size, at, (const char *)message, err);
	}
	p->data = pcre2_match_data_create_from_pattern(p->code, p->memory);
	p->limits = pcre2_match_context_create(p->memory);
	if (!p->data || !p->limits)
		return no_memory(err);
	pcre2_set_match_limit(p->limits, STEPS_MAX);
	pcre2_set_depth_limit(p->limits, DEPTH_MAX);
	pcre2_set_heap_limit(p->limits, HEAP_KIB);
	return TFP_OK;
}

static enum tfp_status init(struct tfp_name_match *m, const char *list, bool strict,
			    struct tfp_error *err)
{
	size_t room = 0;
	*m = (struct tfp_name_match){.all = strcmp(list, ".*") == 0};
	while (*list) {
		size_t size = strcspn(list, ",");
		if (size) {
			enum tfp_status status =
				TFP_GROW(m->patterns, m->count, room) ? TFP_OK : no_memory(err);
			if (status == TFP_OK) {
				m->patterns[m->count] = (struct tfp_name_pattern){.code = NULL};
				status = compile(&m->patterns[m->count++], list, size, strict, err);
			}
			if (status != TFP_OK) {
				tfp_name_match_release(m);
				return status;
			}
		}
		list += size + (list[size] == ',');
	}
	return TFP_OK;
}

enum tfp_status tfp_name_match_init(struct tfp_name_match *m, const char *list,
				    struct tfp_error *err)
{
	return init(m, list, false, err);
}

enum tfp_status tfp_name_match_init_strict(struct tfp_name_match *m, const char *list,
					   struct tfp_error *err)
{
	return init(m, list, true, err);
}

void tfp_name_match_release(struct tfp_name_match *m)
{
	for (size_t i = 0; i < m->count; i++) {
		struct tfp_name_pattern *p = &m->patterns[i];
		pcre2_match_data_free(p->data);
		pcre2_match_context_free(p->limits);
		pcre2_code_free(p->code);
		pcre2_general_context_free(p->memory);
	}
	tfp_free(m->patterns);
	*m = (struct tfp_name_match){0};
}

bool tfp_name_matches_one(struct tfp_name_match *m, size_t pattern, struct tfp_str name)
{
	struct tfp_name_pattern *p = &m->patterns[pattern];
	if (!p->code)
		return false;
	int found = pcre2_match(p->code, (PCRE2_SPTR)(name.size ? name.data : ""), name.size, 0, 0,
				p->data, p->limits);
	m->gave_up |= found < 0 && found != PCRE2_ERROR_NOMATCH;
	return found >= 0;
}

bool tfp_name_matches(struct tfp_name_match *m, struct tfp_str name)
{
	if (m->all)
		return true;
	for (size_t i = 0; i < m->count; i++) {
		if (tfp_name_matches_one(m, i, name))
			return true;
	}
	return false;
}
