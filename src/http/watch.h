/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells when clients that wait for an answer hang up. libmicrohttpd does not look at suspended
 * connections. This module does, with a thread that sleeps until the kernel has news, so it
 * costs nothing while nobody hangs up.
 */
#ifndef TFP_HTTP_WATCH_H
#define TFP_HTTP_WATCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_watch;

/* A socket that is watched. The memory is the caller's, the fields are the module's. */
struct tfp_watched {
	struct tfp_watched *next, **link;
	int fd;
	uint64_t id;
	int64_t since_ns;
	bool soon; /* it had said already that it sends no more */
	bool half; /* it sends no more, and there is somebody who may leave */
};

/* gone(context, id) is called by the watching thread, once for each id at most. */
enum tfp_status tfp_watch_new(struct tfp_watch **out, void (*gone)(void *context, uint64_t id),
			      void *context, struct tfp_error *err) TFP_CHECK;
/* gone is not called any more when this returns. Accepts NULL. */
void tfp_watch_free(struct tfp_watch *watch);

/* Watches a socket until tfp_watch_remove. id is not 0. A socket that cannot be watched counts as
 * one whose client stays.
 *
 * A client may say with its request that it will send no more. It still waits for its answer, and
 * is gone when its end is closed, as far as that can be known (peer.h). A client that says so
 * later counts as gone, because that is all that comes through a tunnel when a browser leaves a
 * page. */
void tfp_watch_add(struct tfp_watch *watch, struct tfp_watched *watched, int fd, uint64_t id);
/* Call it before the socket is closed. A call of gone may still be on its way. */
void tfp_watch_remove(struct tfp_watch *watch, struct tfp_watched *watched);

#endif
