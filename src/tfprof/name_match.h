/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of regular expressions that whole names must match, with RE2's syntax, as the original
 * has it. PCRE2 does the work; what RE2 has not (back references, looking around, possessive
 * repetition) is refused before.
 */
#ifndef TFP_TFPROF_NAME_MATCH_H
#define TFP_TFPROF_NAME_MATCH_H

#include "base/error.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>

struct tfp_name_match {
	struct tfp_name_pattern *patterns; /* owned */
	size_t count;                      /* of expressions, those that are none included */
	bool all;                          /* one expression, ".*" */
	bool gave_up;                      /* on some name that would take too long */
};

/* list: expressions with commas between them. What is no expression is told on standard error
 * and matches nothing. */
enum tfp_status tfp_name_match_init(struct tfp_name_match *m, const char *list,
				    struct tfp_error *err) TFP_CHECK;
/* The same, but what is no expression is TFP_BAD_QUERY. */
enum tfp_status tfp_name_match_init_strict(struct tfp_name_match *m, const char *list,
					   struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_name_match_release(struct tfp_name_match *m);
/* Whether some expression matches all of the name. */
bool tfp_name_matches(struct tfp_name_match *m, struct tfp_str name);
/* The same of the expression of that number. */
bool tfp_name_matches_one(struct tfp_name_match *m, size_t pattern, struct tfp_str name);

#endif
