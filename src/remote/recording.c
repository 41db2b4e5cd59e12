/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/recording.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "remote/profile_response.h"
#include "remote/profiler_errors.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROFILE   "/tensorflow.ProfilerService/Profile"
#define TERMINATE "/tensorflow.ProfilerService/Terminate"

#define NS_PER_MS     INT64_C(1000000)
#define TICK_MS       100
#define GRACE_MIN_MS  60000u /* the peers': at least this, or twice the duration */
#define STALL_MS      60000u
#define TRANSFER_MS   (30 * 60 * 1000) /* for the answer once it has begun */
#define TERMINATE_MS  2000
#define RETRY_MS      1000
#define SMALL_ANSWER  ((uint64_t)64 << 10)
#define REQUEST_BYTES ((size_t)64 << 10)
/* Several programs are given a moment to be reached, so that all begin at once. */
#define LEAD_MS 250
/* A file that another machine wrote may show up late on a network file system. */
#define LOOK_TRIES   6
#define LOOK_WAIT_MS 200

/* One program that is asked. */
struct asked {
	struct tfp_recording *owner;
	struct tfp_grpc_call *call;
	struct tfp_profile_response response;
	struct tfp_run_file file;
	struct tfp_buf request;
	bool to_ask;    /* in the next attempt */
	bool retryable; /* its failure may pass */
};

struct tfp_recording {
	struct tfp_recording_options options;
	struct tfp_grpc *grpc;
	struct tfp_run_folder folder;
	char *logdir;
	struct asked asked[TFP_TARGETS_MAX];
	atomic_bool cancelled;

	pthread_mutex_t lock; /* guards what follows */
	struct tfp_recording_progress progress;
	int64_t attempt_ns;
};

const char *tfp_recording_state_name(enum tfp_recording_state state)
{
	static const char *const names[] = {"connecting", "asked",     "receiving", "stored",
					    "empty",      "elsewhere", "failed",    "cancelled"};
	return (unsigned)state <= TFP_RECORDING_CANCELLED ? names[state] : "failed";
}

/* ---- time ---- */

static uint32_t grace_ms(const struct tfp_recording_options *o)
{
	if (o->grace_ms)
		return o->grace_ms;
	return 2 * o->duration_ms > GRACE_MIN_MS ? 2 * o->duration_ms : GRACE_MIN_MS;
}

static uint32_t lead_ms(const struct tfp_recording_options *o)
{
	return o->delay_ms == 0 && o->target_count > 1 ? LEAD_MS : o->delay_ms;
}

/* 0 for at once: then the program's clock does not matter. */
static uint64_t start_time_ns(const struct tfp_recording_options *o)
{
	struct timespec now;
	if (lead_ms(o) == 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)((int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec +
			  lead_ms(o) * NS_PER_MS);
}

/* ---- what became of a program ---- */

static struct tfp_recording_host *host_of(struct asked *a)
{
	return &a->owner->progress.hosts[a - a->owner->asked];
}

static void conclude(struct asked *a, enum tfp_recording_state state, const char *message,
		     const char *hint)
{
	struct tfp_recording_host *h = host_of(a);
	pthread_mutex_lock(&a->owner->lock);
	h->state = state;
	snprintf(h->message, sizeof(h->message), "%s", message);
	snprintf(h->hint, sizeof(h->hint), "%s", hint);
	pthread_mutex_unlock(&a->owner->lock);
}

static void fail(struct asked *a, const struct tfp_grpc_result *r)
{
	struct tfp_recording_host *h = host_of(a);
	char message[sizeof(host_of(a)->message)];
	bool busy = tfp_profiler_is_busy(r);
	if (busy)
		snprintf(message, sizeof(message), "the program is already being profiled (%s)",
			 r->message[0] ? r->message : tfp_grpc_code_name(r->code));
	else if (r->sink_failed && r->err.file[0])
		snprintf(message, sizeof(message), "%.300s: %.300s", r->err.file, r->err.message);
	else if (r->origin == TFP_GRPC_BY_SERVER)
		snprintf(message, sizeof(message), "%s%s%s", tfp_grpc_code_name(r->code),
			 r->message[0] ? ": " : "", r->message);
	else
		snprintf(message, sizeof(message), "%s", r->message);
	a->retryable = tfp_profiler_is_retryable(r);
	conclude(a, TFP_RECORDING_FAILED, message,
		 busy ? "wait until the other capture has ended; a program profiles itself once "
			"at a time"
		 : r->sink_failed ? r->err.hint
				  : tfp_profiler_hint(r));
	pthread_mutex_lock(&a->owner->lock);
	h->code = r->code;
	h->busy = busy;
	pthread_mutex_unlock(&a->owner->lock);
}

static void fail_here(struct asked *a, const struct tfp_error *err)
{
	char message[sizeof(host_of(a)->message)];
	snprintf(message, sizeof(message), "%.200s%s%.400s", err->file, err->file[0] ? ": " : "",
		 err->message);
	conclude(a, TFP_RECORDING_FAILED, message, err->hint);
	pthread_mutex_lock(&a->owner->lock);
	host_of(a)->code = TFP_GRPC_INTERNAL;
	pthread_mutex_unlock(&a->owner->lock);
}

/* Adds a word for a shell. */
static void quote(struct tfp_buf *out, const char *text)
{
	tfp_buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			tfp_buf_puts(out, "'\\''");
		else
			tfp_buf_putc(out, *text);
	}
	tfp_buf_putc(out, '\'');
}

/* A command that fetches the folder from the program's machine; "" when it would
 * not fit, as half a command is worse than none. */
static void write_command(const struct tfp_recording *r, const struct tfp_target *t, char *out,
			  size_t size)
{
	struct tfp_buf b, path;
	bool v6 = strchr(t->host, ':') != NULL;
	tfp_buf_init(&b, size - 1);
	tfp_buf_init(&path, size);
	tfp_buf_printf(&path, "%s/%s", r->folder.parent, r->folder.name);
	tfp_buf_printf(&b, "scp -r %s%s%s:", v6 ? "[" : "", t->host, v6 ? "]" : "");
	quote(&b, tfp_buf_text(&path));
	tfp_buf_clear(&path);
	tfp_buf_printf(&path, "%s/", r->folder.parent);
	tfp_buf_putc(&b, ' ');
	quote(&b, tfp_buf_text(&path));
	bool failed = tfp_buf_failed(&b) || tfp_buf_failed(&path);
	snprintf(out, size, "%s", failed ? "" : tfp_buf_text(&b));
	tfp_buf_release(&path);
	tfp_buf_release(&b);
}

/* A program that does not know "emit_xspace" wrote the profile to its own disk, where our request
 * said. If that is our disk, too, the file is there. */
static void look_for_file(struct asked *a)
{
	struct tfp_recording *r = a->owner;
	struct tfp_recording_host *h = host_of(a);
	const struct tfp_target *t = &r->options.targets[a - r->asked];
	char name[sizeof(h->file)];
	snprintf(name, sizeof(name), "%s.xplane.pb", t->text);
	for (char *p = name; *p; p++) {
		if (*p == ':')
			*p = '_';
	}
	for (int i = 0; i < LOOK_TRIES && !atomic_load(&r->cancelled); i++) {
		int64_t bytes = tfp_run_folder_foreign(&r->folder, name);
		if (bytes > 0) {
			pthread_mutex_lock(&r->lock);
			h->state = TFP_RECORDING_STORED;
			h->bytes = (uint64_t)bytes;
			snprintf(h->file, sizeof(h->file), "%s", name);
			pthread_mutex_unlock(&r->lock);
			return;
		}
		usleep(LOOK_WAIT_MS * 1000);
	}
	char message[sizeof(h->message)];
	snprintf(message, sizeof(message),
		 "the program saved the profile on its own disk, as %.500s/%s/%.280s there",
		 r->folder.parent, r->folder.name, name);
	conclude(a, TFP_RECORDING_ELSEWHERE, message,
		 "its profiler is too old to send profiles: copy the folder from its machine");
	char command[sizeof(h->command)];
	write_command(r, t, command, sizeof(command));
	pthread_mutex_lock(&r->lock);
	memcpy(h->command, command, sizeof(command));
	pthread_mutex_unlock(&r->lock);
}

static void settle(struct asked *a)
{
	const struct tfp_grpc_result *result = tfp_grpc_result(a->call);
	struct tfp_recording *r = a->owner;
	struct tfp_error err;
	char name[sizeof(a->file.name)];
	if (atomic_load(&r->cancelled)) {
		conclude(a, TFP_RECORDING_CANCELLED, "cancelled", "");
	} else if (result->code != TFP_GRPC_OK) {
		fail(a, result);
	} else if (tfp_profile_response_end(&a->response, &err) != TFP_OK) {
		fail_here(a, &err);
	} else if (a->response.empty_trace) {
		a->retryable = true;
		conclude(a, TFP_RECORDING_EMPTY, "the program answered, but nothing was traced",
			 "make the duration longer, check that the program is working and not "
			 "waiting, and that the host's level is 2 or the device's 1");
	} else if (a->response.capture_bytes == 0) {
		look_for_file(a);
	} else {
		/* Keep the file first: clients may ask for a stored profile at once. */
		memcpy(name, a->file.name, sizeof(name));
		if (tfp_run_file_keep(&a->file, &err) != TFP_OK) {
			fail_here(a, &err);
		} else {
			pthread_mutex_lock(&r->lock);
			host_of(a)->state = TFP_RECORDING_STORED;
			host_of(a)->bytes = a->response.capture_bytes;
			snprintf(host_of(a)->file, sizeof(host_of(a)->file), "%s", name);
			pthread_mutex_unlock(&r->lock);
		}
	}
	tfp_run_file_drop(&a->file);
	tfp_grpc_end(a->call);
	a->call = NULL;
}

/* ---- asking ---- */

static enum tfp_status take_bytes(void *context, const void *bytes, size_t size,
				  struct tfp_error *err)
{
	struct asked *a = context;
	return tfp_run_file_write(&a->file, bytes, size, err);
}

static enum tfp_status take_answer(void *context, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	struct asked *a = context;
	return tfp_profile_response_feed(&a->response, bytes, size, err);
}

static enum tfp_status ask(struct asked *a, uint64_t start_ns, struct tfp_error *err)
{
	struct tfp_recording *r = a->owner;
	const struct tfp_recording_options *o = &r->options;
	const struct tfp_target *target = &o->targets[a - r->asked];
	char stem[sizeof(target->text)];
	const struct tfp_profile_request message = {
		.duration_ms = o->duration_ms,
		.start_ns = start_ns,
		.host_level = o->host_level,
		.device_level = o->device_level,
		.python_level = o->python_level,
		.settings = o->settings,
		.setting_count = o->setting_count,
		.logdir = r->logdir,
		.folder = r->folder.parent,
		.session = r->folder.name,
		.host_name = target->text,
	};
	int64_t answer_ms = (int64_t)lead_ms(o) + o->duration_ms + grace_ms(o);
	conclude(a, TFP_RECORDING_CONNECTING, "", "");
	a->retryable = false;
	tfp_profile_response_init(&a->response, take_bytes, a);
	tfp_target_file_stem(target, stem);
	enum tfp_status status = tfp_run_file_open(&a->file, &r->folder, stem, err);
	tfp_buf_clear(&a->request);
	if (status == TFP_OK)
		status = tfp_encode_profile_request(&a->request, &message, err);
	if (status != TFP_OK)
		return status;
	const struct tfp_grpc_request request = {
		.target = target,
		.method = PROFILE,
		.message = a->request.data,
		.size = a->request.size,
		.answer_ms = answer_ms,
		.stall_ms = o->stall_ms ? o->stall_ms : STALL_MS,
		.limit_ms = answer_ms + TRANSFER_MS,
		.max_bytes = o->max_bytes,
		.sink = take_answer,
		.context = a,
	};
	return tfp_grpc_start(r->grpc, &a->call, &request, err);
}

static void show_progress(struct asked *a)
{
	uint64_t received = tfp_grpc_received(a->call);
	pthread_mutex_lock(&a->owner->lock);
	struct tfp_recording_host *h = host_of(a);
	if (received > 0)
		h->state = TFP_RECORDING_RECEIVING;
	else if (tfp_grpc_connected(a->call))
		h->state = TFP_RECORDING_ASKED;
	h->bytes = a->response.capture_bytes;
	pthread_mutex_unlock(&a->owner->lock);
}

/* Asks each program that is to be asked, and waits until it has answered, failed, or was
 * cancelled. */
static void attempt(struct tfp_recording *r)
{
	uint64_t start_ns = start_time_ns(&r->options);
	size_t count = r->options.target_count;
	struct tfp_error err;
	pthread_mutex_lock(&r->lock);
	r->attempt_ns = tfp_clock_monotonic_ns();
	r->progress.attempt++;
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < count; i++) {
		struct asked *a = &r->asked[i];
		if (!a->to_ask)
			continue;
		if (ask(a, start_ns, &err) != TFP_OK) {
			fail_here(a, &err);
			tfp_run_file_drop(&a->file);
		}
	}
	for (bool busy = true; busy;) {
		tfp_grpc_run(r->grpc, TICK_MS);
		busy = false;
		for (size_t i = 0; i < count; i++) {
			struct asked *a = &r->asked[i];
			if (!a->call)
				continue;
			if (atomic_load(&r->cancelled))
				tfp_grpc_cancel(a->call);
			if (tfp_grpc_done(a->call)) {
				settle(a);
			} else {
				show_progress(a);
				busy = true;
			}
		}
	}
}

static enum tfp_status ignore_bytes(void *context, const void *bytes, size_t size,
				    struct tfp_error *err)
{
	(void)context;
	(void)bytes;
	(void)size;
	(void)err;
	return TFP_OK;
}

/* A cancelled call ends the session in most programs. This ends it in all. */
static void terminate(struct tfp_recording *r, const bool *reached)
{
	struct tfp_grpc_call *calls[TFP_TARGETS_MAX] = {NULL};
	struct tfp_buf message;
	struct tfp_error err;
	tfp_buf_init(&message, REQUEST_BYTES);
	if (tfp_encode_terminate_request(&message, r->folder.name, &err) == TFP_OK) {
		for (size_t i = 0; i < r->options.target_count; i++) {
			const struct tfp_grpc_request request = {
				.target = &r->options.targets[i],
				.method = TERMINATE,
				.message = message.data,
				.size = message.size,
				.answer_ms = TERMINATE_MS,
				.stall_ms = TERMINATE_MS,
				.limit_ms = TERMINATE_MS,
				.max_bytes = SMALL_ANSWER,
				.sink = ignore_bytes,
			};
			if (reached[i] &&
			    tfp_grpc_start(r->grpc, &calls[i], &request, &err) != TFP_OK)
				break;
		}
		for (bool busy = true; busy;) {
			tfp_grpc_run(r->grpc, TICK_MS);
			busy = false;
			for (size_t i = 0; i < r->options.target_count; i++)
				busy = busy || (calls[i] && !tfp_grpc_done(calls[i]));
		}
	}
	for (size_t i = 0; i < r->options.target_count; i++)
		tfp_grpc_end(calls[i]);
	tfp_buf_release(&message);
}

static void pause_before_retry(struct tfp_recording *r)
{
	int64_t end_ns = tfp_clock_monotonic_ns() + RETRY_MS * NS_PER_MS;
	while (!atomic_load(&r->cancelled) && tfp_clock_monotonic_ns() < end_ns)
		tfp_grpc_run(r->grpc, TICK_MS);
}

struct tally {
	size_t stored, empty, elsewhere, busy, failed, retryable;
};

static struct tally tally(const struct tfp_recording *r)
{
	struct tally t = {0};
	for (size_t i = 0; i < r->options.target_count; i++) {
		const struct tfp_recording_host *h = &r->progress.hosts[i];
		t.stored += h->state == TFP_RECORDING_STORED;
		t.empty += h->state == TFP_RECORDING_EMPTY;
		t.elsewhere += h->state == TFP_RECORDING_ELSEWHERE;
		t.failed += h->state == TFP_RECORDING_FAILED;
		t.busy += h->state == TFP_RECORDING_FAILED && h->busy;
		t.retryable += h->state != TFP_RECORDING_STORED && r->asked[i].retryable;
	}
	return t;
}

/* One sentence for all programs, when none sent a profile. */
static enum tfp_status explain(const struct tfp_recording *r, const struct tally *t,
			       struct tfp_error *err)
{
	const struct tfp_recording_host *first = &r->progress.hosts[0];
	size_t count = r->options.target_count;
	/* The program whose hint stands for all: one in the state that the words below are about.
	 */
	enum tfp_recording_state state = t->elsewhere ? TFP_RECORDING_ELSEWHERE
					 : t->empty   ? TFP_RECORDING_EMPTY
						      : TFP_RECORDING_FAILED;
	for (size_t i = 0; i < count && first->state != state; i++)
		first = &r->progress.hosts[i];
	if (atomic_load(&r->cancelled))
		return tfp_fail(err, TFP_BAD_QUERY, "the capture was cancelled");
	if (count == 1) {
		tfp_fail(err, first->busy ? TFP_BUSY : TFP_IO, "%s: %s", first->target,
			 first->message);
		tfp_error_set_hint(err, "%s", first->hint);
		return err->status;
	}
	if (t->busy == count)
		tfp_fail(err, TFP_BUSY, "all %zu programs are already being profiled", count);
	else if (t->elsewhere)
		tfp_fail(err, TFP_IO,
			 "no profile came: %zu of %zu programs saved it on their own "
			 "disks",
			 t->elsewhere, count);
	else if (t->empty)
		tfp_fail(err, TFP_IO, "no profile came: nothing was traced in %zu of %zu programs",
			 t->empty, count);
	else
		tfp_fail(err, TFP_IO, "no profile came: none of %zu programs sent one", count);
	tfp_error_set_hint(err, "%s", first->hint);
	return err->status;
}

static void finish(struct tfp_recording *r, enum tfp_status status, const struct tfp_error *err)
{
	pthread_mutex_lock(&r->lock);
	r->progress.done = true;
	r->progress.status = status;
	if (status != TFP_OK) {
		snprintf(r->progress.error, sizeof(r->progress.error), "%s", err->message);
		snprintf(r->progress.hint, sizeof(r->progress.hint), "%s", err->hint);
	}
	pthread_mutex_unlock(&r->lock);
}

enum tfp_status tfp_recording_run(struct tfp_recording *r, struct tfp_error *err)
{
	bool reached[TFP_TARGETS_MAX] = {false};
	struct tally t;
	for (unsigned i = 0;; i++) {
		attempt(r);
		t = tally(r);
		if (atomic_load(&r->cancelled) || t.stored || !t.retryable ||
		    i == r->options.retries)
			break;
		for (size_t j = 0; j < r->options.target_count; j++)
			r->asked[j].to_ask = r->asked[j].retryable;
		pause_before_retry(r);
		if (atomic_load(&r->cancelled))
			break;
	}
	if (atomic_load(&r->cancelled)) {
		for (size_t i = 0; i < r->options.target_count; i++)
			reached[i] = r->progress.hosts[i].state == TFP_RECORDING_CANCELLED;
		terminate(r, reached);
	}
	enum tfp_status status =
		t.stored ? tfp_run_folder_publish(&r->folder, err) : explain(r, &t, err);
	/* Before the end is told, so that nothing is left behind. */
	tfp_run_folder_release(&r->folder);
	finish(r, status, err);
	return status;
}

void tfp_recording_cancel(struct tfp_recording *r)
{
	atomic_store(&r->cancelled, true);
	tfp_grpc_wake(r->grpc);
}

void tfp_recording_look(struct tfp_recording *r, struct tfp_recording_progress *progress)
{
	pthread_mutex_lock(&r->lock);
	*progress = r->progress;
	if (r->attempt_ns)
		progress->elapsed_ms = (tfp_clock_monotonic_ns() - r->attempt_ns) / NS_PER_MS;
	pthread_mutex_unlock(&r->lock);
}

enum tfp_status tfp_recording_new(struct tfp_recording **out,
				  const struct tfp_recording_options *options, const char *folder,
				  struct tfp_error *err)
{
	*out = NULL;
	enum tfp_status status = tfp_recording_options_check(options, err);
	if (status != TFP_OK)
		return status;
	struct tfp_recording *r = tfp_calloc(1, sizeof(*r));
	if (!r)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a capture");
	pthread_mutex_init(&r->lock, NULL);
	r->options = *options;
	size_t length = strlen(folder), tail = strlen("/plugins/profile");
	if (length > tail && strcmp(folder + length - tail, "/plugins/profile") == 0)
		length -= tail;
	r->logdir = tfp_strndup(folder, length);
	for (size_t i = 0; i < options->target_count; i++) {
		r->asked[i].owner = r;
		r->asked[i].to_ask = true;
		r->asked[i].file.fd = -1;
		tfp_buf_init(&r->asked[i].request, REQUEST_BYTES);
		snprintf(r->progress.hosts[i].target, sizeof(r->progress.hosts[i].target), "%s",
			 options->targets[i].text);
	}
	r->progress.count = options->target_count;
	if (!r->logdir)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a capture");
	if (status == TFP_OK)
		status = tfp_grpc_new(&r->grpc, err);
	if (status == TFP_OK)
		status = tfp_run_folder_make(&r->folder, folder, options->session, err);
	if (status != TFP_OK) {
		tfp_recording_free(r);
		return status;
	}
	snprintf(r->progress.run, sizeof(r->progress.run), "%s", r->folder.name);
	*out = r;
	return TFP_OK;
}

void tfp_recording_free(struct tfp_recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->options.target_count; i++) {
		tfp_grpc_end(r->asked[i].call);
		tfp_buf_release(&r->asked[i].request);
	}
	tfp_run_folder_release(&r->folder);
	tfp_grpc_free(r->grpc);
	pthread_mutex_destroy(&r->lock);
	tfp_free(r->logdir);
	tfp_free(r);
}
