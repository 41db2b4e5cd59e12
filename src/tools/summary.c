#include "tools/summary.h"

enum tfp_status tfp_session_summary(const struct tfp_session *session, struct tfp_op_stats *out,
				    struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	size_t added = 0;
	tfp_op_stats_init(out);
	for (size_t h = 0; h < session->host_count; h++) {
		const struct tfp_op_stats *host;
		struct tfp_capture *capture;
		status = tfp_capture_cache_get(session->cache, &session->hosts[h], &capture, err);
		if (status == TFP_OK) {
			status = tfp_op_stats_get(capture, session->pool, &host, err);
			if (status == TFP_OK)
				status = tfp_op_stats_merge(out, host, (uint32_t)h, err);
			tfp_capture_unref(capture);
		}
		if (status == TFP_NO_MEMORY)
			return status;
		added += status == TFP_OK;
	}
	return added ? TFP_OK : status;
}
