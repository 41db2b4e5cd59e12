/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "http/server_parts.h"

void tfp_exchange_log(struct tfp_exchange *r, size_t sent_bytes, int64_t duration_ns, bool whole)
{
	double ms = (double)duration_ns / 1e6;
	char client[TFP_ADDRESS_TEXT];
	if (!tfp_log_is_verbose())
		return;
	tfp_address_text(tfp_client_address(r->connection), client);
	const struct tfp_log_field fields[] = {
		{"status", NULL, r->reply.status},
		{"bytes", NULL, (double)sent_bytes},
		{"ms", NULL, ms},
		{"client", client, 0},
		{"end", whole ? "whole" : "cut_off", 0},
		{"method", r->method ? r->method : "?", 0},
		{"path", r->shown, 0},
	};
	tfp_log_event("request", fields, sizeof(fields) / sizeof(fields[0]),
		      "%s %s %u %zu %.1f ms%s", r->method ? r->method : "?", r->shown,
		      r->reply.status, sent_bytes, ms, whole ? "" : " (cut off)");
}

void tfp_exchange_count(const struct tfp_exchange *r, size_t sent_bytes, int64_t duration_ns,
			bool whole)
{
	struct tfp_metrics *metrics = r->server->metrics;
	unsigned route = tfp_route_count();
	if (r->route)
		route = tfp_route_number(r->route);
	else if (r->reply.status >= 400)
		route++; /* neither a route nor a file of the page */
	tfp_metrics_request(metrics, route, r->reply.status, duration_ns);
	tfp_metrics_add(metrics, TFP_METRIC_BODY_BYTES, (int64_t)sent_bytes);
	tfp_metrics_add(metrics, TFP_METRIC_CUT_OFF, !whole);
	tfp_metrics_add(metrics, TFP_METRIC_IN_FLIGHT, -1);
}
