/* Any lines as headers of a request: Accept-Encoding, If-None-Match, Content-Type, Host,
 * Origin, Sec-Fetch-Site. A line that is missing is a header that is missing. */
#include "fuzz.h"

#include "http/request.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char tag[] = "W/\"0123456789abcdef\"";
	const char *lines[6] = {0};
	struct tfp_error err;
	char *text = malloc(size + 1), *at = text;
	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < 6 && at; i++) {
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
	for (int i = 0; i < 4; i++) {
		const struct tfp_http_post post = {.posted = i & 1,
						   .content_type = lines[2],
						   .host = lines[3],
						   .origin = lines[4],
						   .fetch_site = lines[5]};
		enum tfp_status status =
			tfp_http_post_check(&post, i & 2, "known.example", "own", &err);
		MUST(status == TFP_OK || status == TFP_FORBIDDEN || status == TFP_BAD_QUERY);
		if (status != TFP_OK)
			MUST(err.message[0]);
		else if (lines[4])
			MUST(lines[3] && strlen(lines[3]) && strstr(lines[4], "://"));
	}
	free(text);
	return 0;
}
