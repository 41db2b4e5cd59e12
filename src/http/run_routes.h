/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routes that open captures: tables, downloads and the parts of the trace viewer.
 * All of them are of one run (docs/api.md); router.c lists them.
 */
#ifndef TFP_HTTP_RUN_ROUTES_H
#define TFP_HTTP_RUN_ROUTES_H

#include "http/route.h"

enum tfp_status tfp_route_data(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_route_data_csv(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_route_instances(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_route_module_list(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_route_diagnostics(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;
enum tfp_status tfp_route_export(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;
/* route->part, of hosts that may be chosen as XProf's trace viewers allow. */
enum tfp_status tfp_route_part(struct tfp_route_call *call, struct tfp_error *err) TFP_CHECK;

#endif
