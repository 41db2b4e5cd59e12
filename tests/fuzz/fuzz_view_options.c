/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as lines of commands; what their expressions match is looked up, too. */
#include "fuzz.h"

#include "base/alloc.h"
#include "tfprof/options.h"
#include "tfprof/tree.h"

#include <string.h>

static void match(const struct tfp_view_options *o, struct tfp_str text)
{
	struct tfp_filters f;
	struct tfp_error err;
	if (tfp_filters_init(&f, o, &err) != TFP_OK) {
		MUST(err.status == TFP_NO_MEMORY);
		return;
	}
	(void)tfp_name_matches(&f.account, text);
	(void)tfp_name_matches(&f.start, text);
	(void)tfp_name_matches(&f.trim, text);
	(void)tfp_name_matches(&f.show, text);
	(void)tfp_name_matches(&f.hide, text);
	tfp_filters_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_view_options o, copy;
	struct tfp_error err;
	struct tfp_buf out;
	char *text = tfp_strndup((const char *)data, strnlen((const char *)data, size)),
	     *rest = text;
	char *line;
	MUST(text && tfp_view_options_init(&o, &err) == TFP_OK);
	while ((line = strsep(&rest, "\n"))) {
		enum tfp_view_command command;
		MUST(tfp_view_options_copy(&copy, &o, &err) == TFP_OK);
		enum tfp_status status = tfp_view_options_line(&copy, line, &command, &err);
		MUST(status == TFP_OK || (status == TFP_BAD_QUERY && err.message[0]));
		if (status == TFP_OK) {
			struct tfp_view_options old = o;
			match(&copy, (struct tfp_str){(const char *)data, size});
			o = copy;
			copy = old;
		}
		tfp_view_options_release(&copy);
	}
	tfp_buf_init(&out, (size_t)1 << 24);
	tfp_view_options_write(&o, &out);
	MUST(!tfp_buf_failed(&out));
	tfp_buf_release(&out);
	tfp_view_options_release(&o);
	tfp_free(text);
	return 0;
}
