/* SPDX-License-Identifier: Apache-2.0 */
#include "http/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "http/peer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_A_TIME 64
/* A client that has nothing more to send says so this soon after the request. */
#define SOON_NS INT64_C(1000000000)
/* How often sockets of such clients are looked at. */
#define LOOK_MS 200

struct tfp_watch {
	int epoll, stop;
	bool started;
	pthread_t thread;
	void (*gone)(void *context, uint64_t id);
	void *context;

	pthread_mutex_t lock; /* guards the list; held while the kernel is asked about one */
	struct tfp_watched *first;
};

/* Whether the client of a socket that was hung up on has left. */
static bool has_left(struct tfp_watch *watch, const struct epoll_event *event)
{
	struct epoll_event rest = {.events = EPOLLONESHOT, .data = event->data};
	bool left = true;
	pthread_mutex_lock(&watch->lock);
	struct tfp_watched *w = watch->first;
	while (w && w->id != event->data.u64)
		w = w->next;
	if (w && !(event->events & (EPOLLHUP | EPOLLERR))) {
		enum tfp_peer peer = tfp_peer(w->fd);
		left = peer == TFP_PEER_CLOSED ||
		       (!w->soon && tfp_clock_monotonic_ns() - w->since_ns > SOON_NS);
		w->half = peer == TFP_PEER_OPEN;
		/* Other ends are always told. */
		if (!left)
			epoll_ctl(watch->epoll, EPOLL_CTL_MOD, w->fd, &rest);
	}
	if (w && left)
		w->half = false;
	pthread_mutex_unlock(&watch->lock);
	return w && left;
}

/* The id of a client with half a connection that has left meanwhile, or 0. *any: whether there are
 * clients with half a connection. */
static uint64_t find_left(struct tfp_watch *watch, bool *any)
{
	uint64_t id = 0;
	*any = false;
	pthread_mutex_lock(&watch->lock);
	for (struct tfp_watched *w = watch->first; w && !id; w = w->next) {
		if (!w->half)
			continue;
		*any = true;
		if (tfp_peer(w->fd) == TFP_PEER_CLOSED) {
			w->half = false;
			id = w->id;
		}
	}
	pthread_mutex_unlock(&watch->lock);
	return id;
}

static void *look(void *context)
{
	struct tfp_watch *watch = context;
	struct epoll_event events[EVENTS_A_TIME];
	int64_t next_ns = 0;
	bool any = false;
	for (;;) {
		int n = epoll_wait(watch->epoll, events, EVENTS_A_TIME, any ? LOOK_MS : -1);
		if (n < 0 && errno != EINTR)
			return NULL;
		for (int i = 0; i < n; i++) {
			if (events[i].data.u64 == 0)
				return NULL;
			if (has_left(watch, &events[i]))
				watch->gone(watch->context, events[i].data.u64);
			else
				any = true;
		}
		int64_t now_ns = tfp_clock_monotonic_ns();
		if (!any || now_ns < next_ns)
			continue;
		for (uint64_t id; (id = find_left(watch, &any));)
			watch->gone(watch->context, id);
		next_ns = tfp_clock_monotonic_ns() + LOOK_MS * INT64_C(1000000);
	}
}

enum tfp_status tfp_watch_new(struct tfp_watch **out, void (*gone)(void *context, uint64_t id),
			      void *context, struct tfp_error *err)
{
	struct tfp_watch *watch = tfp_calloc(1, sizeof(*watch));
	struct epoll_event event = {.events = EPOLLIN};
	*out = NULL;
	if (!watch)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to watch connections");
	watch->gone = gone;
	watch->context = context;
	watch->stop = -1;
	pthread_mutex_init(&watch->lock, NULL);
	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (watch->epoll >= 0)
		watch->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error =
		watch->stop < 0 || epoll_ctl(watch->epoll, EPOLL_CTL_ADD, watch->stop, &event) != 0
			? errno
			: pthread_create(&watch->thread, NULL, look, watch);
	if (error) {
		tfp_watch_free(watch);
		return tfp_fail(err, TFP_IO, "cannot watch connections: %s", strerror(error));
	}
	watch->started = true;
	*out = watch;
	return TFP_OK;
}

void tfp_watch_free(struct tfp_watch *watch)
{
	if (!watch)
		return;
	if (watch->started) {
		eventfd_write(watch->stop, 1);
		pthread_join(watch->thread, NULL);
	}
	if (watch->stop >= 0)
		close(watch->stop);
	if (watch->epoll >= 0)
		close(watch->epoll);
	pthread_mutex_destroy(&watch->lock);
	tfp_free(watch);
}

void tfp_watch_add(struct tfp_watch *watch, struct tfp_watched *watched, int fd, uint64_t id)
{
	/* Once: a socket that was hung up stays that way. */
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = id};
	*watched = (struct tfp_watched){
		.fd = fd, .id = id, .since_ns = tfp_clock_monotonic_ns(), .link = &watch->first};
	struct pollfd now = {.fd = fd, .events = POLLRDHUP};
	watched->soon = poll(&now, 1, 0) > 0;
	pthread_mutex_lock(&watch->lock);
	watched->next = watch->first;
	if (watched->next)
		watched->next->link = &watched->next;
	watch->first = watched;
	epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event);
	pthread_mutex_unlock(&watch->lock);
}

void tfp_watch_remove(struct tfp_watch *watch, struct tfp_watched *watched)
{
	pthread_mutex_lock(&watch->lock);
	epoll_ctl(watch->epoll, EPOLL_CTL_DEL, watched->fd, NULL);
	*watched->link = watched->next;
	if (watched->next)
		watched->next->link = watched->link;
	pthread_mutex_unlock(&watch->lock);
}
