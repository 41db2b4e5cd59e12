/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of operations and of kernels. */
#include "report/reports.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The time in which nothing ran, which the table of operations leaves out. */
static void say_idle(struct tfp_report *r, const struct tfp_table *t)
{
	size_t operation = tfp_table_column(t, "operation");
	size_t where = tfp_table_column(t, "host_or_device");
	size_t device = tfp_table_column(t, "device_total_self_time_percent");
	size_t host = tfp_table_column(t, "host_total_self_time_percent");
	for (size_t i = 0; i < tfp_table_row_count(t); i++) {
		struct tfp_text name, side;
		double share;
		char text[40];
		if (!tfp_table_text(t, i, operation, &name) || name.size != 4 ||
		    memcmp(name.data, "IDLE", 4) != 0 || !tfp_table_text(t, i, where, &side))
			continue;
		bool on_device = side.size && side.data[0] == 'D';
		if (!tfp_table_number(t, i, on_device ? device : host, &share) || share <= 0)
			continue;
		tfp_report_fact(r, on_device ? "Device idle" : "Host idle", "%s",
				tfp_report_quantity(TFP_Q_SHARE, share, text, sizeof(text)));
	}
}

static enum tfp_status write_ops(const struct tfp_report_source *source, struct tfp_report *r,
				 struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"rank", "rank", TFP_Q_COUNT, 5, false, false},
		{"host_or_device", "on", TFP_Q_LABEL, 14, false, false},
		{"type", "type", TFP_Q_NAME, 12, false, false},
		{"operation", "operation", TFP_Q_NAME, 20, false, false},
		{"occurrences", "count", TFP_Q_COUNT, 15, false, false},
		{"total_time", "total", TFP_Q_US, 17, false, false},
		{"avg_time", "average", TFP_Q_US, 11, false, false},
		{"total_self_time", "self", TFP_Q_US, 18, false, false},
		{"avg_self_time", "average self", TFP_Q_US, 4, false, false},
		{"device_total_self_time_percent", "device", TFP_Q_SHARE, 16, true, false},
		{"device_cumulative_total_self_time_percent", "cum. device", TFP_Q_SHARE, 9, true,
		 false},
		{"host_total_self_time_percent", "host", TFP_Q_SHARE, 13, true, false},
		{"Host_cumulative_total_self_time_percent", "cum. host", TFP_Q_SHARE, 8, true,
		 false},
		{"measured_flop_rate", "FLOP/s", TFP_Q_NUMBER, 3, true, false},
		{"model_flop_rate", "model GFLOP/s", TFP_Q_NUMBER, 7, true, false},
		{"measured_memory_bw", "GB/s", TFP_Q_NUMBER, 6, true, false},
		{"operational_intensity", "FLOP/B", TFP_Q_NUMBER, 2, true, false},
		{"gpu_tensorcore_utilization", "TensorCore", TFP_Q_SHARE, 10, true, false},
		{"bound_by", "bound by", TFP_Q_TEXT, 1, true, false},
		{"eager", "mode", TFP_Q_TEXT, 1, false, false},
	};
	/* With idle time, and without, as the page begins. */
	const struct tfp_table *t = &source->answer->tables[1];
	(void)err;
	say_idle(r, &source->answer->tables[0]);
	if (tfp_table_row_count(t) == 0) {
		tfp_report_say(r, "No operations were recorded. The capture holds no TensorFlow or "
				  "XLA operations on the host or on a device.");
		tfp_report_say(r, "Capture while training steps run, with host_tracer_level at 2 "
				  "(the default) or above.");
		return TFP_OK;
	}
	tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
	return TFP_OK;
}

static enum tfp_status write_kernels(const struct tfp_report_source *source, struct tfp_report *r,
				     struct tfp_error *err)
{
	static const struct tfp_report_column columns[] = {
		{"rank", "rank", TFP_Q_COUNT, 9, false, false},
		{"kernel_name", "kernel", TFP_Q_NAME, 20, false, false},
		{"total_duration_us", "total", TFP_Q_US, 19, false, false},
		{"occurrences", "count", TFP_Q_COUNT, 18, false, false},
		{"avg_duration_us", "average", TFP_Q_US, 17, false, false},
		{"min_duration_us", "min", TFP_Q_US, 11, false, false},
		{"max_duration_us", "max", TFP_Q_US, 12, false, false},
		{"op_name", "operation", TFP_Q_NAME, 16, true, false},
		{"flop_rate", "GFLOP/s", TFP_Q_NUMBER, 15, true, false},
		{"memory_bw", "GiB/s", TFP_Q_NUMBER, 14, true, false},
		{"operational_intensity", "FLOP/B", TFP_Q_NUMBER, 10, true, false},
		{"bound_by", "bound by", TFP_Q_TEXT, 13, true, false},
		{"op_type", "type", TFP_Q_NAME, 10, true, false},
		{"registers_per_thread", "registers", TFP_Q_COUNT, 6, true, false},
		{"shmem_bytes", "shared", TFP_Q_BYTES, 5, true, false},
		{"block_dim", "block", TFP_Q_NAME, 8, true, false},
		{"grid_dim", "grid", TFP_Q_NAME, 7, true, false},
		{"occupancy_pct", "occupancy", TFP_Q_PERCENT, 4, true, false},
		{"is_op_tensor_core_eligible", "eligible", TFP_Q_BOOLEAN, 2, true, false},
		{"is_kernel_using_tensor_core", "TensorCore", TFP_Q_BOOLEAN, 3, true, false},
		{"host", "host", TFP_Q_NAME, 1, false, false},
	};
	const struct tfp_table *t = &source->answer->tables[0];
	(void)err;
	if (tfp_table_row_count(t) == 0) {
		tfp_report_say(r, "No GPU kernels were recorded. Kernels are recorded when the "
				  "program runs on a GPU and the profiler is allowed to trace it.");
		tfp_report_say(r,
			       "Check that device_tracer_level is 1 (the default), that some steps "
			       "ran during the capture, and that the driver lets this user "
			       "profile (for NVIDIA: NVreg_RestrictProfilingToAdminUsers=0, or "
			       "run with the needed rights).");
		return TFP_OK;
	}
	tfp_report_table(r, t, columns, COUNT(columns), "--limit 0");
	return TFP_OK;
}

const struct tfp_reporter tfp_report_ops = {.tool = "framework_op_stats", .write = write_ops};
const struct tfp_reporter tfp_report_kernels = {.tool = "kernel_stats", .write = write_kernels};
