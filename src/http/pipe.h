/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded queue of bytes, from a thread that makes them to a connection that sends them. The
 * writer waits while the queue is full. It gives up when the client takes nothing for long, or
 * is gone. The reader never waits: it is woken when there is something again.
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
	unsigned patience_ms;    /* the writer gives up when nothing is taken for so long */
	const atomic_bool *stop; /* or when this is set */
	/* Both get context. tfp_pipe_read calls sleep before it says that there is nothing. The
	 * writer's thread calls wake, once for each sleep. */
	void (*sleep)(void *context);
	void (*wake)(void *context);
	void *context;
};

/* Belongs to writer and reader. The writer closes it once, the reader abandons it once. */
enum tfp_status tfp_pipe_new(struct tfp_pipe **out, const struct tfp_pipe_config *config,
			     struct tfp_error *err) TFP_CHECK;

/* ---- the writer ---- */

/* For a tfp_sink; context is the pipe. Takes all bytes, or fails with TFP_IO. */
enum tfp_status tfp_pipe_write(void *context, const void *bytes, size_t size,
			       struct tfp_error *err);
/* The body has ended: whole, or cut short by an error. */
void tfp_pipe_close(struct tfp_pipe *pipe, bool whole);

/* ---- the reader ---- */

enum tfp_pipe_state { TFP_PIPE_DATA, TFP_PIPE_EMPTY, TFP_PIPE_END, TFP_PIPE_BROKEN };

/* Reads up to room bytes. *size is 0 in other states than TFP_PIPE_DATA. */
enum tfp_pipe_state tfp_pipe_read(struct tfp_pipe *pipe, void *to, size_t room, size_t *size);
/* The reader goes away. sleep and wake are not called any more. */
void tfp_pipe_abandon(struct tfp_pipe *pipe);

#endif
