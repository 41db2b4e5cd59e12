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

enum tfp_status tfp_session_each(const struct tfp_session *session,
				 enum tfp_status (*visit)(void *context,
							  struct tfp_capture *capture,
							  const char *host, struct tfp_pool *pool,
							  struct tfp_error *err),
				 void *context, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	for (size_t h = 0; status == TFP_OK && h < session->host_count; h++) {
		struct tfp_capture *capture;
		const struct tfp_capture_file *file = &session->hosts[h];
		status = tfp_capture_cache_get(session->cache, file, &capture, err);
		if (status != TFP_OK)
			break;
		status = visit(context, capture, file->host, session->pool, err);
		if (status == TFP_OK && tfp_capture_was_cut(capture)) {
			status = tfp_fail(err, TFP_IO, "the file was cut while it was read");
			tfp_error_set_file(err, file->path);
		}
		tfp_capture_unref(capture);
	}
	return status;
}
