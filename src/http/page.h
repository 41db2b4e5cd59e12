/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to paths that are no routes: the files of the page (http/assets.h), the page
 * that asks for the token, redirects and 404.
 */
#ifndef TFP_HTTP_PAGE_H
#define TFP_HTTP_PAGE_H

#include "http/reply.h"
#include "http/request.h"

#include <stdbool.h>

/* Fills an initialised reply with a file of the page, a redirect, or 404. */
void tfp_page_answer(const struct tfp_http_target *target,
		     const struct tfp_http_conditions *conditions, struct tfp_reply *reply);
/* Makes the reply's body the page that asks a person for the token. why is a part of its HTML
 * and says why it asks. Returns false when the program was built without pages. */
bool tfp_page_sign_in(const char *why, struct tfp_reply *reply);
/* Whether a path is answered without the token, because there is no secret behind it: /healthz,
 * and what the page that asks for the token needs. */
bool tfp_page_is_open(const char *path);

#endif
