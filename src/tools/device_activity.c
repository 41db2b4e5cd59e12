/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/device_activity.h"

#include "analysis/ops/op_db.h"
#include "tools/step_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *tfp_device_state_name(enum tfp_device_state state)
{
	static const char *const names[] = {
		[TFP_DEVICE_NONE] = "none", [TFP_DEVICE_NOT_RECORDED] = "not_recorded",
		[TFP_DEVICE_IDLE] = "idle", [TFP_DEVICE_WAITING] = "waiting",
		[TFP_DEVICE_BUSY] = "busy",
	};
	return names[state];
}

struct waits {
	double all_percent, copies_percent;
};

/* The end of something that runs beside the core is an op of its own, of the category
 * `<what>-done`. It takes as long as the core has to wait. */
static struct waits waits_of(const struct tfp_op_db *device)
{
	static const char done[] = "-done";
	const size_t n = sizeof(done) - 1;
	double all = 0, waits = 0, copies = 0;
	for (size_t i = 0; i < device->count; i++) {
		const struct tfp_op *op = &device->ops[i];
		double self = (double)op->self_time_ps;
		if (tfp_op_is_idle(op))
			continue;
		all += self;
		if (op->category.size <= n ||
		    memcmp(op->category.data + op->category.size - n, done, n) != 0)
			continue;
		waits += self;
		if (tfp_str_equal(op->category, "copy-done"))
			copies += self;
	}
	return (struct waits){100 * tfp_safe_divide(waits, all),
			      100 * tfp_safe_divide(copies, all)};
}

static void put_devices(char *out, size_t size, const struct tfp_run_summary *run, bool is_tpu)
{
	uint64_t count = run->stats.env.device_count, active = run->utilization.devices_active;
	const char *what = is_tpu ? "TPU core" : "GPU";
	if (count == 1 || active > count)
		snprintf(out, size, "The %s was", what);
	else if (active == count)
		snprintf(out, size, "The %" PRIu64 " %ss were", count, what);
	else
		snprintf(out, size, "%" PRIu64 " of %" PRIu64 " %ss %s used, and %s", active, count,
			 what, active == 1 ? "was" : "were", active == 1 ? "was" : "were");
}

void tfp_device_activity(const struct tfp_run_summary *run, struct tfp_device_activity *out)
{
	const struct tfp_run_env *env = &run->stats.env;
	const struct tfp_utilization *u = &run->utilization;
	bool is_tpu = tfp_is_tpu_run(run);
	double busy = (double)u->busy_ps, idle = (double)u->idle_ps;
	char devices[120], waiting[200] = "";
	*out = (struct tfp_device_activity){.state = TFP_DEVICE_NONE};
	if (env->device_count == 0)
		return;
	if (u->devices_active == 0) {
		out->state = TFP_DEVICE_NOT_RECORDED;
		snprintf(out->statement, sizeof(out->statement),
			 "No activity of the %s was recorded, so only the activity of the host "
			 "is known.",
			 env->device_count == 1 ? (is_tpu ? "TPU core" : "GPU")
						: (is_tpu ? "TPU cores" : "GPUs"));
		return;
	}
	struct waits waits = is_tpu ? waits_of(&run->stats.device.ops) : (struct waits){0};
	out->idle_percent = 100 * tfp_safe_divide(idle, busy + idle);
	out->wait_percent = waits.all_percent;
	out->state = out->idle_percent >= TFP_MOSTLY   ? TFP_DEVICE_IDLE
		     : out->wait_percent >= TFP_MOSTLY ? TFP_DEVICE_WAITING
						       : TFP_DEVICE_BUSY;
	put_devices(devices, sizeof(devices), run, is_tpu);
	if (waits.all_percent >= TFP_SOME)
		snprintf(waiting, sizeof(waiting),
			 " %.1f%% of %s operation time is spent waiting for %s to end.",
			 waits.all_percent, is_tpu ? "TPU" : "GPU",
			 waits.copies_percent >= 0.9 * waits.all_percent
				 ? "copies"
				 : "copies, transfers and collectives");
	snprintf(out->statement, sizeof(out->statement), "%s idle for %.1f%% of the %s.%s", devices,
		 out->idle_percent,
		 is_tpu ? "time from the first operation to the last" : "captured time", waiting);
}
