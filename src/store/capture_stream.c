/* SPDX-License-Identifier: Apache-2.0 */
#include "store/capture_parts.h"

#include "base/alloc.h"

#include <stdlib.h>

/* A plane that is there as a whole. */
struct arrival {
	struct arrival *next;
	struct tfp_plane plane;
	struct tfp_plane_state state;
};

/* Threads of the pool that come late find nothing left to do, maybe after the capture is
 * done: they hold a reference, and touch the capture only with a plane in hand. */
struct tfp_stream {
	struct tfp_capture_parts *capture;
	struct tfp_pool *pool;
	struct tfp_progress *progress;
	size_t seen;  /* bytes whose fields are known; the loader's alone */
	size_t count; /* of planes that have arrived; the loader's, too */
	bool stopped; /* the file is damaged here; the loader's, too */

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t done;
	struct arrival *first, *last;
	struct arrival *next; /* the first that no thread reads yet */
	unsigned reading, references;
};

struct tfp_stream *tfp_stream_new(struct tfp_capture_parts *cap, struct tfp_pool *pool)
{
	struct tfp_stream *s = pool ? tfp_calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return NULL;
	s->capture = cap;
	s->pool = pool;
	s->progress = tfp_progress_current();
	s->references = 1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->done, NULL);
	return s;
}

static void unref(struct tfp_stream *s)
{
	pthread_mutex_lock(&s->lock);
	bool last = --s->references == 0;
	pthread_mutex_unlock(&s->lock);
	if (last) {
		pthread_cond_destroy(&s->done);
		pthread_mutex_destroy(&s->lock);
		tfp_free(s);
	}
}

/* Reads the next plane that no thread reads yet; false when there is none. */
static bool read_one(struct tfp_stream *s)
{
	pthread_mutex_lock(&s->lock);
	struct arrival *a = s->next;
	if (a) {
		s->next = a->next;
		s->reading++;
	}
	pthread_mutex_unlock(&s->lock);
	if (!a)
		return false;
	struct tfp_progress *before = tfp_progress_enter(s->progress);
	if (!tfp_cancelled()) {
		tfp_plane_read(s->capture, &a->plane, &a->state);
		if (!atomic_load(&s->capture->no_memory) &&
		    !tfp_lines_read(s->capture, &a->plane, &a->state, 1, s->pool))
			atomic_store(&s->capture->no_memory, true);
	}
	tfp_progress_enter(before);
	pthread_mutex_lock(&s->lock);
	s->reading--;
	pthread_cond_broadcast(&s->done);
	pthread_mutex_unlock(&s->lock);
	return true;
}

static void help(void *context)
{
	struct tfp_stream *s = context;
	read_one(s);
	unref(s);
}

static void add(struct tfp_stream *s, struct tfp_span message)
{
	struct arrival *a = s->count < TFP_MAX_PLANES ? tfp_calloc(1, sizeof(*a)) : NULL;
	if (!a) {
		s->stopped = true; /* it is read, or refused, when all is there */
		return;
	}
	s->count++;
	a->plane.message = message;
	pthread_mutex_lock(&s->lock);
	*(s->last ? &s->last->next : &s->first) = a;
	s->last = a;
	if (!s->next)
		s->next = a;
	s->references++;
	pthread_mutex_unlock(&s->lock);
	if (tfp_pool_submit(s->pool, help, s, NULL) != TFP_OK)
		unref(s); /* the loader reads it in the end */
}

static void arrived(void *context, const uint8_t *data, size_t size)
{
	struct tfp_stream *s = context;
	while (!s->stopped && s->seen < size) {
		struct tfp_pb_cursor c = tfp_pb_cursor(data + s->seen, size - s->seen);
		struct tfp_span span;
		uint32_t tag;
		bool tagged = tfp_pb_next(&c, &tag);
		if (tagged && TFP_PB_WIRE(tag) == TFP_PB_GROUP_BEGIN) {
			/* Where it ends cannot be told but by reading all of it, each time that
			 * more has come. No writer of captures makes groups. */
			s->stopped = true;
			return;
		}
		if (!tagged || !tfp_pb_skip(&c, tag)) {
			/* More of the field will come, or it is damaged: the fields in front
			 * of it stay as they are. */
			s->stopped = c.damage != TFP_PB_CUT && c.damage != TFP_PB_LENGTH;
			return;
		}
		if (tag == BYTES(SPACE_PLANES)) {
			struct tfp_pb_cursor again =
				tfp_pb_cursor(data + s->seen, (size_t)(c.at - data) - s->seen);
			if (tfp_pb_next(&again, &tag) &&
			    tfp_pb_bytes(&again, &span.data, &span.size))
				add(s, span);
		}
		if (!s->stopped)
			s->seen = (size_t)(c.at - data);
	}
}

/* Nothing is begun any more, and no thread reads. */
static void wait_for_readers(struct tfp_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->next = NULL;
	while (s->reading)
		pthread_cond_wait(&s->done, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void failed(void *context)
{
	struct tfp_stream *s = context;
	s->stopped = true;
	wait_for_readers(s);
}

struct tfp_unpack_watch tfp_stream_watch(struct tfp_stream *stream)
{
	return (struct tfp_unpack_watch){arrived, failed, stream};
}

size_t tfp_stream_finish(struct tfp_stream *s, struct tfp_plane *planes,
			 struct tfp_plane_state *states, size_t count)
{
	size_t n = 0;
	struct arrival *next;
	if (!s)
		return 0;
	while (planes && read_one(s))
		;
	wait_for_readers(s);
	for (struct arrival *a = s->first; a; a = next) {
		next = a->next;
		if (n < count) {
			planes[n] = a->plane;
			states[n++] = a->state;
		} else {
			tfp_plane_release(&a->plane, &a->state);
		}
		tfp_free(a);
	}
	unref(s);
	return n;
}
