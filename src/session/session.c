/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include <stdbool.h>
#include <string.h>

static const struct tfp_capture_file *find_host(const struct tfp_run *run, const char *name,
						size_t size, struct tfp_error *err)
{
	for (size_t i = 0; i < run->host_count; i++) {
		const char *host = run->hosts[i].host;
		if (strlen(host) == size && memcmp(host, name, size) == 0)
			return &run->hosts[i];
	}
	tfp_fail(err, TFP_NOT_FOUND, "there is no host \"%.*s\" in run \"%s\"", (int)size, name,
		 run->name);
	if (run->host_count)
		tfp_error_set_hint(err, "a host of it is \"%s\"", run->hosts[0].host);
	return NULL;
}

enum tfp_status tfp_session_init(struct tfp_session *session, struct tfp_capture_cache *cache,
				 struct tfp_result_cache *results, struct tfp_pool *pool,
				 const struct tfp_run *run, const char *host, struct tfp_error *err)
{
	*session = (struct tfp_session){
		.cache = cache,
		.results = results,
		.pool = pool,
		.run = run,
		.hosts = run->hosts,
		.host_count = run->host_count,
	};
	if (!host || !host[0] || strcmp(host, TFP_ALL_HOSTS) == 0)
		return TFP_OK;
	const struct tfp_capture_file *found = find_host(run, host, strlen(host), err);
	if (!found)
		return TFP_NOT_FOUND;
	session->hosts = found;
	session->host_count = 1;
	return TFP_OK;
}

enum tfp_status tfp_session_choose(struct tfp_session *session, const char *names,
				   struct tfp_capture_file *chosen, struct tfp_error *err)
{
	const struct tfp_run *run = session->run;
	size_t count = 0;
	if (strcmp(names, TFP_ALL_HOSTS) == 0)
		return TFP_OK;
	for (const char *name = names;; name++) {
		size_t size = strcspn(name, ",");
		const struct tfp_capture_file *found = find_host(run, name, size, err);
		if (!found)
			return TFP_NOT_FOUND;
		bool twice = false;
		for (size_t i = 0; i < count; i++)
			twice |= chosen[i].host == found->host;
		if (!twice)
			chosen[count++] = *found;
		name += size;
		if (*name == '\0')
			break;
	}
	session->hosts = chosen;
	session->host_count = count;
	return TFP_OK;
}

uint32_t tfp_session_host_index(const struct tfp_session *session, const char *host)
{
	uint32_t i = 0;
	while (i + 1 < session->run->host_count && strcmp(session->run->hosts[i].host, host) != 0)
		i++;
	return i;
}
