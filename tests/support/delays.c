/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random pauses in what threads and processes do with each other, so that what happens once in
 * a thousand runs of a busy machine happens in the next: preloaded into the server by
 * scripts/shake.
 *
 *     LD_PRELOAD=.../delays.so TFPROF_DELAYS=5000,30 tfprof-server DIR
 *
 * One in 30 of the calls below takes up to 5000 µs longer.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static unsigned longest_us, one_in = 1;
static __thread uint32_t state;

__attribute__((constructor)) static void read_settings(void)
{
	const char *text = getenv("TFPROF_DELAYS");
	if (!text || sscanf(text, "%u,%u", &longest_us, &one_in) != 2 || one_in == 0)
		longest_us = 0;
}

/* Leaves errno as it is. */
static void delay(void)
{
	if (longest_us == 0)
		return;
	if (state == 0) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now);
		state = ((uint32_t)now.tv_nsec ^ (uint32_t)(uintptr_t)&state) | 1;
	}
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	if (state % one_in)
		return;
	int before = errno;
	uint64_t ns = (uint64_t)((state >> 8) % longest_us) * 1000;
	nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				     .tv_nsec = (long)(ns % 1000000000)},
		  NULL);
	errno = before;
}

/* Declares the C library's own function of that name as `real`. */
#define REAL(result, name, ...)                                                                    \
	static result (*real)(__VA_ARGS__);                                                        \
	*(void **)&real = real ? *(void **)&real : dlsym(RTLD_NEXT, name)

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	REAL(int, "pthread_mutex_lock", pthread_mutex_t *);
	delay();
	return real(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	REAL(int, "pthread_mutex_unlock", pthread_mutex_t *);
	int result = real(mutex);
	delay();
	return result;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
	REAL(int, "pthread_cond_signal", pthread_cond_t *);
	delay();
	return real(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	REAL(int, "pthread_cond_broadcast", pthread_cond_t *);
	delay();
	return real(condition);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	delay();
	ssize_t result = real(fd, bytes, size);
	delay();
	return result;
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
	REAL(ssize_t, "send", int, const void *, size_t, int);
	delay();
	return real(fd, bytes, size, flags);
}

/* recv is the server's own, and calls this. */
ssize_t recvfrom(int fd, void *restrict bytes, size_t size, int flags,
		 struct sockaddr *restrict from, socklen_t *restrict from_size)
{
	REAL(ssize_t, "recvfrom", int, void *, size_t, int, struct sockaddr *, socklen_t *);
	delay();
	return real(fd, bytes, size, flags, from, from_size);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	REAL(int, "accept4", int, struct sockaddr *, socklen_t *, int);
	delay();
	int result = real(fd, address, size, flags);
	delay();
	return result;
}

int shutdown(int fd, int how)
{
	REAL(int, "shutdown", int, int);
	delay();
	return real(fd, how);
}

int close(int fd)
{
	REAL(int, "close", int);
	delay();
	return real(fd);
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
	REAL(int, "epoll_wait", int, struct epoll_event *, int, int);
	int result = real(fd, events, most, timeout_ms);
	delay();
	return result;
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	REAL(int, "epoll_ctl", int, int, int, struct epoll_event *);
	delay();
	return real(epoll, operation, fd, event);
}

int rename(const char *from, const char *to)
{
	REAL(int, "rename", const char *, const char *);
	delay();
	int result = real(from, to);
	delay();
	return result;
}

int unlinkat(int folder, const char *path, int flags)
{
	REAL(int, "unlinkat", int, const char *, int);
	delay();
	return real(folder, path, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	REAL(int, "renameat", int, const char *, int, const char *);
	delay();
	int result = real(from_folder, from, to_folder, to);
	delay();
	return result;
}
