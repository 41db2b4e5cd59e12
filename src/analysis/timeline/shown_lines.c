/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/shown_lines.h"

#include "analysis/events/run_env.h"
#include "base/alloc.h"
#include "base/progress.h"

#include <stdlib.h>

/* Ids of processes (trace_utils.h). */
enum { PID_DEVICE = 1, PID_DEVICE_LAST = 500, PID_CUSTOM = 501, PID_HOST = 701 };

static bool is_one_of(struct tfp_str s, const char *const *list)
{
	for (; *list; list++) {
		if (tfp_str_equal(s, *list))
			return true;
	}
	return false;
}

bool tfp_event_name_is_internal(struct tfp_str name)
{
	static const char *const names[] = {"MemoryAllocation",
					    "MemoryDeallocation",
					    "PrefetchProduce",
					    "PrefetchConsume",
					    "ParallelInterleaveProduce",
					    "ParallelInterleaveConsume",
					    "ParallelInterleaveInitializeInput",
					    "ParallelMapProduce",
					    "ParallelMapConsume",
					    "MapAndBatchProduce",
					    "MapAndBatchConsume",
					    "ParseExampleProduce",
					    "ParseExampleConsume",
					    NULL};
	/* All begin with one of these: most names are passed over at once. */
	return name.size && (name.data[0] == 'P' || name.data[0] == 'M') && is_one_of(name, names);
}

bool tfp_stat_name_is_internal(struct tfp_str name)
{
	static const char *const names[] = {"_pt",   "_p",         "_ct",       "_c", "_r",
					    "flops", "program_id", "symbol_id", NULL};
	return is_one_of(name, names);
}

bool tfp_stat_is_unset(const struct tfp_plane *plane, struct tfp_str name)
{
	return tfp_str_equal(name, "kernel_details") && tfp_str_starts(plane->name, "/host:");
}

/* ---- which planes ---- */

/* A profiler merges these into /host:CPU when it ends, but not in every file (preprocess.md A). */
static bool is_unmerged_host_plane(struct tfp_str name)
{
	static const char *const names[] = {"/host:TPU-runtime", "/host:CUPTI",
					    "/host:python-tracer", "/host:ROCTRACER", NULL};
	return is_one_of(name, names);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_name(const void *a, const void *b)
{
	const struct tfp_shown_plane *x = a, *y = b;
	int order = tfp_str_compare(x->plane->name, y->plane->name);
	return order ? order : compare_numbers(x->index, y->index);
}

static int by_pid(const void *a, const void *b)
{
	const struct tfp_shown_plane *x = a, *y = b;
	int order = compare_numbers(x->pid, y->pid);
	if (order == 0)
		order = (int)x->joins - (int)y->joins;
	return order ? order : compare_numbers(x->index, y->index);
}

static size_t choose(const struct tfp_capture *capture, const char *prefix,
		     enum tfp_process_kind kind, struct tfp_shown_plane *out)
{
	size_t n = 0;
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (plane->line_count && tfp_str_starts(plane->name, prefix))
			out[n++] = (struct tfp_shown_plane){plane, (uint32_t)p, 0, kind, false};
	}
	return n;
}

static void number_planes(struct tfp_shown_plane *list, size_t count, uint32_t first, uint32_t most)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t id = (uint64_t)list[i].plane->id;
		list[i].pid = id <= most - first ? first + (uint32_t)id : first;
	}
}

size_t tfp_shown_planes(const struct tfp_capture *capture, struct tfp_shown_plane *out)
{
	size_t n = choose(capture, "/device:GPU:", TFP_PROCESS_DEVICE, out), more;
	if (n == 0)
		n = choose(capture, "/device:TPU:", TFP_PROCESS_DEVICE, out);
	number_planes(out, n, PID_DEVICE, PID_DEVICE_LAST);
	more = choose(capture, "/device:CUSTOM:", TFP_PROCESS_OTHER, out + n);
	number_planes(out + n, more, PID_CUSTOM, PID_HOST - 1);
	n += more;
	more = choose(capture, "/host:CPU", TFP_PROCESS_HOST, out + n);
	qsort(out + n, more, sizeof(*out), by_name);
	for (size_t i = 0; i < more; i++)
		out[n + i].pid = PID_HOST + (uint32_t)i;
	n += more;
	for (size_t p = 0; p < capture->plane_count; p++) {
		const struct tfp_plane *plane = &capture->planes[p];
		if (plane->line_count && is_unmerged_host_plane(plane->name))
			out[n++] = (struct tfp_shown_plane){plane, (uint32_t)p, PID_HOST,
							    TFP_PROCESS_HOST, true};
	}
	qsort(out, n, sizeof(*out), by_pid);
	return n;
}

/* ---- which lines ---- */

bool tfp_line_is_shown(const struct tfp_line *line)
{
	return line->event_count && !tfp_str_starts(line->name, "counters_");
}

/* ---- the begin ---- */

uint64_t tfp_capture_profile_start_ns(const struct tfp_capture *capture)
{
	const struct tfp_plane *plane = tfp_capture_find_plane(capture, TFP_TASK_PLANE);
	return plane ? (uint64_t)tfp_profile_start_ns(plane) : 0;
}

enum tfp_status tfp_capture_start(const struct tfp_capture *capture, struct tfp_capture_start *out,
				  struct tfp_error *err)
{
	struct tfp_shown_plane *planes = tfp_calloc(capture->plane_count, sizeof(*planes));
	*out = (struct tfp_capture_start){.profile_start_ns =
						  tfp_capture_profile_start_ns(capture)};
	if (!planes)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the begin of a capture");
	size_t count = tfp_shown_planes(capture, planes);
	for (size_t p = 0; p < count; p++) {
		const struct tfp_plane *plane = planes[p].plane;
		for (size_t l = 0; l < plane->line_count; l++) {
			const struct tfp_line *line = &plane->lines[l];
			size_t i = 0;
			while (tfp_line_is_shown(line) && i < line->event_count && tfp_goes_on(i) &&
			       tfp_event_name_is_internal(tfp_event_meta(plane, line, i)->name))
				i++;
			if (!tfp_line_is_shown(line) || i == line->event_count)
				continue;
			int64_t begin = tfp_event_start_ps(line, i);
			if (!out->any || begin < out->begin_ps)
				out->begin_ps = begin;
			out->any = true;
		}
	}
	tfp_free(planes);
	return TFP_OK;
}
