/* SPDX-License-Identifier: Apache-2.0 */
#include "session/run_times.h"

#include "analysis/events/run_env.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "store/capture.h"
#include "store/file_notes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILES_MOST 65536u /* whose times are remembered */
#define NS_PER_S   INT64_C(1000000000)
#define PATIENCE   (2 * NS_PER_S)
#define HOSTS_MOST 4u /* that are looked at until one has a time */

/* A larger file is not unpacked for a list: a compressed file is read whole. */
#define PACKED_MOST   ((uint64_t)4 << 20)
#define UNPACKED_MOST ((uint64_t)16 << 20)

/* Times that a profiler can have written: from the year 2000 to 2200. */
#define EARLIEST_NS (INT64_C(946684800) * NS_PER_S)
#define LATEST_NS   (INT64_C(7258118400) * NS_PER_S)

struct tfp_run_times {
	struct tfp_logdir *dir;
	struct tfp_pool *pool;
	struct tfp_file_notes *starts; /* of int64_t; 0: the file has none */
};

enum tfp_status tfp_run_times_new(struct tfp_run_times **out, struct tfp_logdir *dir,
				  struct tfp_pool *pool, struct tfp_error *err)
{
	static const struct tfp_file_notes_config config = {.files = FILES_MOST,
							    .note_size = sizeof(int64_t)};
	struct tfp_run_times *times = tfp_calloc(1, sizeof(*times));
	*out = NULL;
	if (!times)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the times of runs");
	times->dir = dir;
	times->pool = pool;
	enum tfp_status status = tfp_file_notes_new(&times->starts, &config, err);
	if (status == TFP_OK)
		*out = times;
	else
		tfp_free(times);
	return status;
}

void tfp_run_times_free(struct tfp_run_times *times)
{
	if (!times)
		return;
	tfp_file_notes_free(times->starts);
	tfp_free(times);
}

/* ---- what files said ---- */

static bool see_task(void *context, const struct tfp_plane *plane)
{
	int64_t *start_ns = context;
	*start_ns = tfp_profile_start_ns(plane);
	return false;
}

bool tfp_time_is_plausible(int64_t time_ns)
{
	return time_ns >= EARLIEST_NS && time_ns < LATEST_NS;
}

/* 0 where the file does not say. */
static int64_t look_at(struct tfp_run_times *times, const struct tfp_capture_file *file)
{
	struct tfp_file_identity identity;
	struct tfp_error err;
	int64_t start_ns = 0;
	int fd;
	if (tfp_file_notes_recall(times->starts, &file->identity, &start_ns))
		return start_ns;
	if (file->compression != TFP_PLAIN && file->identity.bytes > PACKED_MOST)
		return 0;
	if (tfp_logdir_open(times->dir, file, &fd, &identity, &err) != TFP_OK)
		return 0;
	enum tfp_status status = tfp_capture_peek(fd, file->path, file->compression, UNPACKED_MOST,
						  TFP_TASK_PLANE, see_task, &start_ns, &err);
	close(fd);
	if (!tfp_time_is_plausible(start_ns))
		start_ns = 0;
	/* Another time the others may go well. */
	if (status == TFP_OK || status == TFP_BAD_INPUT || status == TFP_TOO_LARGE)
		tfp_file_notes_write(times->starts, &identity, &start_ns);
	return start_ns;
}

/* ---- names ---- */

/* Reads so many digits and, unless it is the last, an underscore. */
static bool digits(const char **text, int count, bool last, int *value)
{
	*value = 0;
	for (; count > 0; count--, ++*text) {
		if (!isdigit((unsigned char)**text))
			return false;
		*value = *value * 10 + (**text - '0');
	}
	return last || *(*text)++ == '_';
}

static bool time_at(const char *text, int64_t *time_ns)
{
	static const int counts[] = {4, 2, 2, 2, 2, 2};
	int v[6];
	for (int i = 0; i < 6; i++) {
		if (!digits(&text, counts[i], i == 5, &v[i]))
			return false;
	}
	if (isdigit((unsigned char)*text))
		return false;
	if (v[0] < 1971 || v[1] < 1 || v[1] > 12 || v[2] < 1 || v[2] > 31 || v[3] > 23 ||
	    v[4] > 59 || v[5] > 60)
		return false;
	struct tm local = {.tm_year = v[0] - 1900,
			   .tm_mon = v[1] - 1,
			   .tm_mday = v[2],
			   .tm_hour = v[3],
			   .tm_min = v[4],
			   .tm_sec = v[5],
			   .tm_isdst = -1};
	time_t seconds = mktime(&local);
	int64_t ns;
	if (seconds == (time_t)-1 || __builtin_mul_overflow((int64_t)seconds, NS_PER_S, &ns))
		return false;
	*time_ns = ns;
	return true;
}

bool tfp_run_name_time(const char *name, int64_t *time_ns)
{
	const char *slash = strrchr(name, '/');
	for (const char *at = slash ? slash + 1 : name; *at; at++) {
		if ((at == name || !isdigit((unsigned char)at[-1])) && time_at(at, time_ns))
			return true;
	}
	return false;
}

/* ---- runs ---- */

const char *tfp_time_source_name(enum tfp_time_source source)
{
	return source == TFP_TIME_IN_CAPTURE ? "capture"
	       : source == TFP_TIME_IN_NAME  ? "name"
					     : "file";
}

/* The time as far as it is known without opening a file. */
static struct tfp_dated_run by_name_or_file(const struct tfp_run *run)
{
	struct tfp_dated_run dated = {run, run->modified_ns, TFP_TIME_OF_FILE};
	if (tfp_run_name_time(run->name, &dated.time_ns))
		dated.source = TFP_TIME_IN_NAME;
	return dated;
}

static void look_inside(struct tfp_run_times *times, struct tfp_dated_run *dated)
{
	const struct tfp_run *run = dated->run;
	int64_t start_ns = 0;
	if (run->kind != TFP_RUN_CAPTURE)
		return;
	for (size_t i = 0; i < run->host_count && i < HOSTS_MOST && start_ns == 0; i++)
		start_ns = look_at(times, &run->hosts[i]);
	if (start_ns == 0)
		return;
	dated->time_ns = start_ns;
	dated->source = TFP_TIME_IN_CAPTURE;
}

struct tfp_dated_run tfp_run_times_of(struct tfp_run_times *times, const struct tfp_run *run)
{
	struct tfp_dated_run dated = by_name_or_file(run);
	look_inside(times, &dated);
	return dated;
}

static int newest_first(const void *a, const void *b)
{
	const struct tfp_dated_run *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	if (x->run->modified_ns != y->run->modified_ns)
		return x->run->modified_ns < y->run->modified_ns ? 1 : -1;
	return strcmp(y->run->name, x->run->name);
}

void tfp_dated_runs_sort(struct tfp_dated_run *runs, size_t count)
{
	if (count)
		qsort(runs, count, sizeof(*runs), newest_first);
}

struct sorting {
	struct tfp_run_times *times;
	struct tfp_dated_run *runs;
	int64_t until_ns; /* of the monotonic clock */
};

static void date_run(void *context, size_t i)
{
	struct sorting *s = context;
	if (tfp_clock_monotonic_ns() < s->until_ns)
		look_inside(s->times, &s->runs[i]);
}

enum tfp_status tfp_run_times_sort(struct tfp_run_times *times,
				   const struct tfp_logdir_snapshot *snapshot,
				   struct tfp_dated_run **out, struct tfp_error *err)
{
	size_t count = snapshot->run_count;
	struct tfp_dated_run *runs = tfp_calloc(count + 1, sizeof(*runs));
	*out = runs;
	if (!runs)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a list of runs");
	for (size_t i = 0; i < count; i++)
		runs[i] = by_name_or_file(&snapshot->runs[i]);
	/* So that those which seem new are looked at first. */
	qsort(runs, count, sizeof(*runs), newest_first);
	struct sorting s = {times, runs, tfp_clock_monotonic_ns() + PATIENCE};
	tfp_pool_for(times->pool, count, date_run, &s);
	qsort(runs, count, sizeof(*runs), newest_first);
	return TFP_OK;
}
