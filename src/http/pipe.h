/*
 * Bytes on their way from a thread that makes them to a connection that sends
 * them: a bounded queue. Its writer waits while the queue is full, but not for
 * a client that takes nothing for long, nor for one that is gone; its reader
 * never waits, and is woken when there is something again.
 */
#ifndef TFP_HTTP_PIPE_H
#define TFP_HTTP_PIPE_H

#include "base/error.h"
#include "base/sink.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct tfp_pipe;

struct tfp_pipe_config {
	size_t room;             /* bytes in the queue at most */
	unsigned patience_ms;    /* the writer gives up when nothing was taken for so long */
	const atomic_bool *stop; /* or when this is set */
	/* Both with the reader's context. sleep is called within read, before it says that
	 * there is nothing; wake by the writer's thread, once for each sleep. */
	void (*sleep)(void *context);
	void (*wake)(void *context);
	void *context;
};

/* Belongs to writer and reader, each of whom lets go of it once. */
enum tfp_status tfp_pipe_new(struct tfp_pipe **out, const struct tfp_pipe_config *config,
			     struct tfp_error *err) TFP_CHECK;

/* ---- the writer ---- */

/* For tfp_sink: takes all, or fails with TFP_IO. context is the pipe. */
enum tfp_status tfp_pipe_write(void *context, const void *bytes, size_t size,
			       struct tfp_error *err);
/* The end: whole, or cut short by an error. */
void tfp_pipe_close(struct tfp_pipe *pipe, bool whole);

/* ---- the reader ---- */

enum tfp_pipe_state { TFP_PIPE_DATA, TFP_PIPE_EMPTY, TFP_PIPE_END, TFP_PIPE_BROKEN };

/* Up to room bytes; *size is 0 in other states than DATA. */
enum tfp_pipe_state tfp_pipe_read(struct tfp_pipe *pipe, void *to, size_t room, size_t *size);
/* The reader goes away; nothing calls its context any more. */
void tfp_pipe_abandon(struct tfp_pipe *pipe);

#endif
