#include "http/watch.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_A_TIME 64

struct tfp_watch {
	int epoll, stop;
	bool started;
	pthread_t thread;
	void (*gone)(void *context, uint64_t id);
	void *context;
};

static void *look(void *context)
{
	struct tfp_watch *watch = context;
	struct epoll_event events[EVENTS_A_TIME];
	for (;;) {
		int n = epoll_wait(watch->epoll, events, EVENTS_A_TIME, -1);
		if (n < 0 && errno != EINTR)
			return NULL;
		for (int i = 0; i < n; i++) {
			if (events[i].data.u64 == 0)
				return NULL;
			watch->gone(watch->context, events[i].data.u64);
		}
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
	tfp_free(watch);
}

void tfp_watch_add(struct tfp_watch *watch, int fd, uint64_t id)
{
	/* Once: a socket that was hung up stays so. */
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.u64 = id};
	epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event);
}

void tfp_watch_remove(struct tfp_watch *watch, int fd)
{
	epoll_ctl(watch->epoll, EPOLL_CTL_DEL, fd, NULL);
}
