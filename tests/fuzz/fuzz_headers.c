/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as headers of a request: Accept-Encoding, If-None-Match. A line that is
 * missing is a header that is missing. */
#include "fuzz.h"

#include "http/request.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char tag[] = "W/\"0123456789abcdef\"";
	const char *lines[2] = {0};
	char *text = malloc(size + 1), *at = text;
	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < 2 && at; i++) {
		lines[i] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	for (unsigned offered = 0; offered < 8; offered++) {
		enum tfp_http_encoding e = tfp_http_accepted_encoding(lines[0], offered);
		MUST(e == TFP_HTTP_IDENTITY || (lines[0] && (offered & 1u << e)));
	}
	/* Without the tag, or a star, it cannot match. */
	if (tfp_http_etag_matches(lines[1], tag))
		MUST(strchr(lines[1], '*') || strstr(lines[1], "\"0123456789abcdef\""));
	free(text);
	return 0;
}
