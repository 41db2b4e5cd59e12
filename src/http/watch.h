/*
 * Tells when clients that wait for an answer hang up. libmicrohttpd does not look
 * at a connection that is suspended; this does, with a thread that sleeps until the
 * kernel knows of something, so that it costs nothing while nobody hangs up.
 */
#ifndef TFP_HTTP_WATCH_H
#define TFP_HTTP_WATCH_H

#include "base/error.h"

#include <stdint.h>

struct tfp_watch;

/* gone(context, id) is called by the watching thread, once for each id at most. */
enum tfp_status tfp_watch_new(struct tfp_watch **out, void (*gone)(void *context, uint64_t id),
			      void *context, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. gone is not called any more. */
void tfp_watch_free(struct tfp_watch *watch);

/* Looks at a socket from now on; id is not 0. What cannot be watched is not: an answer
 * is then made for nobody, as if the client had stayed. A client that only says
 * that it will send no more is taken for gone, as by other servers. */
void tfp_watch_add(struct tfp_watch *watch, int fd, uint64_t id);
/* Before the socket may be closed. gone may still be on its way. */
void tfp_watch_remove(struct tfp_watch *watch, int fd);

#endif
