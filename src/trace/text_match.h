/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a text contains a word, or matches a regular expression (PCRE2's).
 *
 * Expressions and texts come from strangers: matching gives up on a text that would take
 * too many steps, counts it, and goes on.
 *
 *     struct tfp_text_pattern *pattern;
 *     tfp_text_pattern_new(&pattern, "gemm|conv", true, false, &err);
 *     struct tfp_text_matcher *matcher = tfp_text_matcher_new(pattern);  one for each thread
 *     if (tfp_text_matches(matcher, name.data, name.size)) ...
 *     tfp_text_matcher_free(matcher);
 *     tfp_text_pattern_free(pattern);
 */
#ifndef TFP_TRACE_TEXT_MATCH_H
#define TFP_TRACE_TEXT_MATCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_text_pattern;
struct tfp_text_matcher;

/* text is UTF-8. TFP_BAD_QUERY for an empty text, for one that is too long, and for an expression
 * that is none: the message says what is wrong, and err->offset at which byte of the text. */
enum tfp_status tfp_text_pattern_new(struct tfp_text_pattern **out, const char *text,
				     bool expression, bool minds_case,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_text_pattern_free(struct tfp_text_pattern *pattern);

/* Used by one thread at a time; the pattern must outlive it. NULL without memory. */
struct tfp_text_matcher *tfp_text_matcher_new(const struct tfp_text_pattern *pattern);
/* Accepts NULL. */
void tfp_text_matcher_free(struct tfp_text_matcher *matcher);
/* Any bytes; what is not UTF-8 matches nothing. */
bool tfp_text_matches(struct tfp_text_matcher *matcher, const char *text, size_t size);
/* Whether some text that lies in these bytes, among others, might match: false only when none
 * does. Takes a fraction of what looking at each text does. */
bool tfp_text_may_lie_in(const struct tfp_text_pattern *pattern, const void *bytes, size_t size);
/* Texts that it gave up on. */
uint64_t tfp_text_matcher_gave_up(const struct tfp_text_matcher *matcher);
/* Whether memory ran out; then the answers mean nothing. */
bool tfp_text_matcher_failed(const struct tfp_text_matcher *matcher);

#endif
