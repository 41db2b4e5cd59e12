/* SPDX-License-Identifier: Apache-2.0 */
#include "http/app.h"

#include "base/error.h"
#include "http/reply.h"
#include "store/logdir.h"

void tfp_app_error(const struct tfp_http_app *app, const struct tfp_error *err,
		   struct tfp_reply *reply)
{
	struct tfp_error shown = *err;
	tfp_logdir_redact(app->dir, shown.file);
	tfp_logdir_redact(app->dir, shown.message);
	tfp_logdir_redact(app->dir, shown.hint);
	tfp_reply_error(reply, &shown);
}
