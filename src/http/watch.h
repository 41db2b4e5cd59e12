/*
 * Tells when clients that wait for an answer hang up. libmicrohttpd does not look
 * at a connection that is suspended; this does, with a thread that sleeps until the
 * kernel knows of something, so that it costs nothing while nobody hangs up.
 */
#ifndef TFP_HTTP_WATCH_H
#define TFP_HTTP_WATCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct tfp_watch;

/* A socket that is looked at; the caller's memory. */
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
/* Accepts NULL. gone is not called any more. */
void tfp_watch_free(struct tfp_watch *watch);

/* Looks at a socket from now on, until tfp_watch_remove; id is not 0. What cannot be watched is
 * not: an answer is then made for nobody, as if the client had stayed.
 *
 * A client that says, with its request, that it will send no more waits for its answer, and is
 * gone when its end is closed, as far as that can be known (peer.h). One that says so later
 * is taken for gone: so it is when a browser leaves a page, also through a tunnel, which
 * passes on no more than that. */
void tfp_watch_add(struct tfp_watch *watch, struct tfp_watched *watched, int fd, uint64_t id);
/* Before the socket may be closed. gone may still be on its way. */
void tfp_watch_remove(struct tfp_watch *watch, struct tfp_watched *watched);

#endif
