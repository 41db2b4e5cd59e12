/* SPDX-License-Identifier: Apache-2.0 */
#include "http/pipe.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* How often a waiting writer looks whether the server stops. */
#define LOOK_MS 200u

struct tfp_pipe {
	pthread_mutex_t lock;
	pthread_cond_t taken; /* something was taken, or the reader is gone */
	struct tfp_pipe_config config;
	char *data; /* a ring */
	size_t at, used;
	bool asleep, ended, whole, abandoned;
	unsigned owners;
};

enum tfp_status tfp_pipe_new(struct tfp_pipe **out, const struct tfp_pipe_config *config,
			     struct tfp_error *err)
{
	struct tfp_pipe *pipe = tfp_calloc(1, sizeof(*pipe));
	pthread_condattr_t attributes;
	*out = NULL;
	if (pipe)
		pipe->data = tfp_malloc(config->room);
	if (!pipe || !pipe->data) {
		tfp_free(pipe);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a download");
	}
	pthread_mutex_init(&pipe->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&pipe->taken, &attributes);
	pthread_condattr_destroy(&attributes);
	pipe->config = *config;
	pipe->owners = 2;
	*out = pipe;
	return TFP_OK;
}

/* Call it with the lock held; it gives the lock up. */
static void let_go(struct tfp_pipe *pipe)
{
	bool last = --pipe->owners == 0;
	pthread_mutex_unlock(&pipe->lock);
	if (!last)
		return;
	pthread_cond_destroy(&pipe->taken);
	pthread_mutex_destroy(&pipe->lock);
	tfp_free(pipe->data);
	tfp_free(pipe);
}

/* Call it with the lock held. A reader that sleeps cannot go away before it is woken, so its
 * context is there after the lock is given up. */
static bool must_wake(struct tfp_pipe *pipe)
{
	bool asleep = pipe->asleep;
	pipe->asleep = false;
	return asleep;
}

/* Waits for room. Call it with the lock held. */
static enum tfp_status wait_for_room(struct tfp_pipe *pipe, struct tfp_error *err)
{
	int64_t give_up_ns = tfp_clock_monotonic_ns() + (int64_t)pipe->config.patience_ms * 1000000;
	size_t before = pipe->used;
	while (!pipe->abandoned && pipe->used == pipe->config.room) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&pipe->taken, &pipe->lock, &until);
		if (pipe->used < before)
			break;
		if (atomic_load(pipe->config.stop))
			return tfp_fail(err, TFP_IO, "the server stops");
		if (tfp_clock_monotonic_ns() >= give_up_ns)
			return tfp_fail(err, TFP_IO, "the client takes nothing");
	}
	return pipe->abandoned ? tfp_fail(err, TFP_IO, "the client is gone") : TFP_OK;
}

enum tfp_status tfp_pipe_write(void *context, const void *bytes, size_t size, struct tfp_error *err)
{
	struct tfp_pipe *pipe = context;
	const char *from = bytes;
	enum tfp_status status = TFP_OK;
	pthread_mutex_lock(&pipe->lock);
	while (size && status == TFP_OK) {
		status = wait_for_room(pipe, err);
		if (status != TFP_OK)
			break;
		size_t end = (pipe->at + pipe->used) % pipe->config.room;
		size_t n = pipe->config.room - pipe->used;
		if (n > pipe->config.room - end)
			n = pipe->config.room - end;
		if (n > size)
			n = size;
		memcpy(pipe->data + end, from, n);
		pipe->used += n;
		from += n;
		size -= n;
		if (must_wake(pipe)) {
			pthread_mutex_unlock(&pipe->lock);
			pipe->config.wake(pipe->config.context);
			pthread_mutex_lock(&pipe->lock);
		}
	}
	pthread_mutex_unlock(&pipe->lock);
	return status;
}

void tfp_pipe_close(struct tfp_pipe *pipe, bool whole)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->ended = true;
	pipe->whole = whole;
	if (must_wake(pipe)) {
		pthread_mutex_unlock(&pipe->lock);
		pipe->config.wake(pipe->config.context);
		pthread_mutex_lock(&pipe->lock);
	}
	let_go(pipe);
}

enum tfp_pipe_state tfp_pipe_read(struct tfp_pipe *pipe, void *to, size_t room, size_t *size)
{
	enum tfp_pipe_state state = TFP_PIPE_DATA;
	pthread_mutex_lock(&pipe->lock);
	size_t n = pipe->config.room - pipe->at;
	if (n > pipe->used)
		n = pipe->used;
	if (n > room)
		n = room;
	if (n) {
		memcpy(to, pipe->data + pipe->at, n);
		pipe->at = (pipe->at + n) % pipe->config.room;
		pipe->used -= n;
		pthread_cond_signal(&pipe->taken);
	} else if (pipe->ended) {
		state = pipe->whole ? TFP_PIPE_END : TFP_PIPE_BROKEN;
	} else {
		/* Within the lock, so that nobody wakes it before it sleeps. */
		state = TFP_PIPE_EMPTY;
		pipe->config.sleep(pipe->config.context);
		pipe->asleep = true;
	}
	pthread_mutex_unlock(&pipe->lock);
	*size = n;
	return state;
}

void tfp_pipe_abandon(struct tfp_pipe *pipe)
{
	pthread_mutex_lock(&pipe->lock);
	pipe->abandoned = true;
	pipe->asleep = false;
	pthread_cond_signal(&pipe->taken);
	let_go(pipe);
}
