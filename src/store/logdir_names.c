/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include <string.h>

#define CAPTURE_NAME "xplane.pb"

bool tfp_name_ends_with(const char *text, size_t size, const char *end, size_t *rest)
{
	size_t n = strlen(end);
	if (size < n || memcmp(text + size - n, end, n) != 0)
		return false;
	*rest = size - n;
	return true;
}

enum tfp_compression tfp_name_compression(const char *name, size_t *stem)
{
	*stem = strlen(name);
	if (tfp_name_ends_with(name, *stem, ".gz", stem))
		return TFP_GZIP;
	if (tfp_name_ends_with(name, *stem, ".zst", stem))
		return TFP_ZSTD;
	return TFP_PLAIN;
}

bool tfp_name_is_capture(const char *name, enum tfp_compression *compression, size_t *host)
{
	size_t stem;
	*compression = tfp_name_compression(name, &stem);
	if (name[0] == '.' || !tfp_name_ends_with(name, stem, CAPTURE_NAME, host))
		return false;
	if (*host == 0)
		return true;
	if (name[*host - 1] != '.')
		return false;
	--*host;
	return true;
}

bool tfp_name_is_events(const char *name)
{
	size_t rest;
	/* The last is an empty file that profilers leave behind for TensorBoard. */
	return name[0] != '.' && strstr(name, "tfevents") &&
	       !tfp_name_ends_with(name, strlen(name), ".profile-empty", &rest);
}

bool tfp_name_is_partial(const char *name)
{
	return strstr(name, CAPTURE_NAME) &&
	       (name[0] == '.' || strstr(name, ".tmp") || strstr(name, ".part"));
}

const char *tfp_path_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *tfp_scan_after_profile(const struct tfp_scan *s, const char *path, size_t *head)
{
	size_t size = strlen(s->root_real), rest;
	*head = 0;
	if (tfp_name_ends_with(s->root_real, size, "/plugins/profile", &rest))
		return path;
	if (tfp_name_ends_with(s->root_real, size, "/plugins", &rest) &&
	    strncmp(path, "profile", 7) == 0 && (path[7] == '/' || path[7] == '\0'))
		return path[7] ? path + 8 : path + 7;
	static const char pair[] = "plugins/profile";
	for (const char *p = path; (p = strstr(p, pair)); p++) {
		const char *end = p + sizeof(pair) - 1;
		if ((p == path || p[-1] == '/') && (*end == '/' || *end == '\0')) {
			*head = (size_t)(p - path);
			return *end ? end + 1 : end;
		}
	}
	return NULL;
}
