/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/instances.h"

#include "analysis/timeline/tracks.h"
#include "base/alloc.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "session/run_clock.h"
#include "tools/data_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 24u

static char *utf8(struct tfp_str s)
{
	struct tfp_buf b;
	tfp_buf_init(&b, SIZE_MAX / 2);
	tfp_utf8_repair(&b, s.data, s.size);
	if (!tfp_buf_failed(&b) && b.data)
		return tfp_buf_take(&b, NULL);
	bool failed = tfp_buf_failed(&b);
	tfp_buf_release(&b);
	return failed ? NULL : tfp_strdup("");
}

static void release_one(struct tfp_instance *one)
{
	tfp_free(one->plane);
	tfp_free(one->line);
}

void tfp_instances_add(struct tfp_instances *all, const char *host, const struct tfp_plane *plane,
		       const struct tfp_line *line, size_t event)
{
	int64_t duration = tfp_event_duration_ps(line, event);
	if (all->failed)
		return;
	if (!TFP_GROW(all->durations_ps, all->count, all->room)) {
		all->failed = true;
		return;
	}
	all->durations_ps[all->count++] = duration;
	size_t at = all->slowest_count;
	while (at > 0 && all->slowest[at - 1].duration_ps < duration)
		at--;
	if (at == TFP_SLOWEST)
		return;
	if (all->slowest_count == TFP_SLOWEST)
		release_one(&all->slowest[TFP_SLOWEST - 1]);
	else
		all->slowest_count++;
	memmove(&all->slowest[at + 1], &all->slowest[at],
		(all->slowest_count - at - 1) * sizeof(all->slowest[0]));
	all->slowest[at] = (struct tfp_instance){.host = host,
						 .plane = utf8(plane->name),
						 .line = utf8(line->display_name),
						 .start_ps = tfp_event_start_ps(line, event),
						 .duration_ps = duration,
						 .in = line,
						 .event = event};
	all->failed = !all->slowest[at].plane || !all->slowest[at].line;
}

static void locate(struct tfp_instance *one, const struct tfp_tracks *tracks)
{
	for (uint32_t t = 0; t < tracks->file_track_count; t++) {
		const struct tfp_track *track = &tracks->tracks[t];
		if (track->line != one->in || track->kind == TFP_TRACK_COUNTER)
			continue;
		one->on_timeline = true;
		one->track = t;
	}
}

enum tfp_status tfp_instances_locate(struct tfp_instances *all, const struct tfp_session *session,
				     struct tfp_capture *capture, const char *host,
				     struct tfp_error *err)
{
	const struct tfp_tracks *tracks = NULL;
	for (size_t i = 0; i < all->slowest_count; i++) {
		struct tfp_instance *one = &all->slowest[i];
		if (!one->in)
			continue;
		if (!tracks) {
			enum tfp_status status =
				tfp_file_tracks_get(capture, session->pool, &tracks, err);
			if (status != TFP_OK)
				return status;
		}
		locate(one, tracks);
		one->host_index = tfp_session_host_index(session, host);
		one->in = NULL;
	}
	return TFP_OK;
}

enum tfp_status tfp_instances_on_clock(struct tfp_instances *all, const struct tfp_session *session,
				       struct tfp_error *err)
{
	struct tfp_host_clock *hosts;
	enum tfp_status status = tfp_run_clocks_aligned(session, &hosts, err);
	for (size_t i = 0; status == TFP_OK && i < all->slowest_count; i++) {
		struct tfp_instance *one = &all->slowest[i];
		one->start_ps = tfp_clamp_ps(hosts[one->host_index].shift_ps + one->start_ps,
					     INT64_MIN, INT64_MAX);
	}
	tfp_free(hosts);
	return status;
}

void tfp_instances_release(struct tfp_instances *all)
{
	for (size_t i = 0; i < all->slowest_count; i++)
		release_one(&all->slowest[i]);
	tfp_free(all->durations_ps);
	*all = (struct tfp_instances){0};
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* The value that a share of all values does not exceed (nearest rank). */
static int64_t quantile(const struct tfp_instances *all, double share)
{
	size_t rank = (size_t)ceil(share * (double)all->count);
	return all->durations_ps[rank ? rank - 1 : 0];
}

static void write_statistics(const struct tfp_instances *all, struct tfp_json *j)
{
	double total = 0, squares = 0, n = (double)all->count;
	for (size_t i = 0; i < all->count; i++)
		total += (double)all->durations_ps[i] / 1e6;
	for (size_t i = 0; i < all->count; i++)
		squares += pow((double)all->durations_ps[i] / 1e6 - total / n, 2);
	tfp_json_set_number(j, "total_us", total);
	tfp_json_set_number(j, "min_us", (double)all->durations_ps[0] / 1e6);
	tfp_json_set_number(j, "mean_us", total / n);
	tfp_json_set_number(j, "median_us", (double)quantile(all, 0.5) / 1e6);
	tfp_json_set_number(j, "p95_us", (double)quantile(all, 0.95) / 1e6);
	tfp_json_set_number(j, "max_us", (double)all->durations_ps[all->count - 1] / 1e6);
	tfp_json_set_number(j, "stddev_us", all->count > 1 ? sqrt(squares / (n - 1)) : 0);
}

static void write_histogram(const struct tfp_instances *all, struct tfp_json *j)
{
	if (all->count == 0)
		return;
	double low = (double)all->durations_ps[0] / 1e6;
	double high = (double)all->durations_ps[all->count - 1] / 1e6;
	size_t buckets = high > low ? BUCKETS : 1, at = 0;
	for (size_t b = 0; b < buckets; b++) {
		double from = low + (high - low) * (double)b / (double)buckets;
		double to = low + (high - low) * (double)(b + 1) / (double)buckets;
		size_t first = at;
		while (at < all->count &&
		       (b + 1 == buckets || (double)all->durations_ps[at] / 1e6 < to))
			at++;
		tfp_json_begin_object(j);
		tfp_json_set_number(j, "from_us", from);
		tfp_json_set_number(j, "to_us", to);
		tfp_json_set_count(j, "count", at - first);
		tfp_json_end_object(j);
	}
}

static void write_instance(const struct tfp_instance *one, struct tfp_json *j)
{
	tfp_json_begin_object(j);
	tfp_json_set_string(j, "host", one->host);
	tfp_json_set_string(j, "plane", one->plane);
	tfp_json_set_string(j, "line", one->line);
	tfp_json_set_number(j, "start_us", (double)one->start_ps / 1e6);
	if (one->on_timeline)
		tfp_json_set_format(j, "event", "%" PRIu32 ".%" PRIu32 ".%zu", one->host_index,
				    one->track, one->event);
	tfp_json_set_number(j, "duration_us", (double)one->duration_ps / 1e6);
	tfp_json_end_object(j);
}

enum tfp_status tfp_instances_write(struct tfp_instances *all, struct tfp_buf *json,
				    struct tfp_error *err)
{
	if (all->failed)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of instances");
	if (all->count)
		qsort(all->durations_ps, all->count, sizeof(*all->durations_ps), ascending);
	struct tfp_json j;
	tfp_json_init(&j, json);
	tfp_json_begin_object(&j);
	tfp_json_set_count(&j, "count", all->count);
	if (all->count)
		write_statistics(all, &j);
	tfp_json_begin_array_of(&j, "histogram");
	write_histogram(all, &j);
	tfp_json_end_array(&j);
	tfp_json_begin_array_of(&j, "slowest");
	for (size_t i = 0; i < all->slowest_count; i++)
		write_instance(&all->slowest[i], &j);
	tfp_json_end_array(&j);
	tfp_json_end_object(&j);
	return tfp_json_finish(&j, err);
}
