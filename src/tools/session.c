#include "tools/session.h"

#include <string.h>

enum tfp_status tfp_session_init(struct tfp_session *session, struct tfp_capture_cache *cache,
				 struct tfp_pool *pool, const struct tfp_run *run, const char *host,
				 struct tfp_error *err)
{
	*session = (struct tfp_session){
		.cache = cache,
		.pool = pool,
		.run = run,
		.hosts = run->hosts,
		.host_count = run->host_count,
	};
	if (!host || !host[0] || strcmp(host, TFP_ALL_HOSTS) == 0)
		return TFP_OK;
	for (size_t i = 0; i < run->host_count; i++) {
		if (strcmp(run->hosts[i].host, host) == 0) {
			session->hosts = &run->hosts[i];
			session->host_count = 1;
			return TFP_OK;
		}
	}
	tfp_fail(err, TFP_NOT_FOUND, "there is no host \"%s\" in run \"%s\"", host, run->name);
	if (run->host_count)
		tfp_error_set_hint(err, "a host of it is \"%s\"", run->hosts[0].host);
	return TFP_NOT_FOUND;
}
