/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with the server's own files: a thread that makes the heap fail when it is told
 * to. Commands come as lines on the descriptor that the variable FAULTS names:
 *
 *     from N    the Nth allocation from now on and all after it fail
 *     only N    the Nth from now on fails
 *     count     none fails, all are counted
 *     off       none fails; the answer is how many were asked for
 *
 * Each is answered by a line with a number. */
#include "base/alloc.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int channel;

static void follow(const char *line)
{
	unsigned long long n = 0, asked = tfp_alloc_count();
	char answer[32];
	if (sscanf(line, "from %llu", &n) == 1)
		tfp_alloc_fail_at(n);
	else if (sscanf(line, "only %llu", &n) == 1)
		tfp_alloc_fail_once(n);
	else if (strncmp(line, "count", 5) == 0)
		tfp_alloc_fail_at(UINT64_MAX);
	else
		tfp_alloc_fail_at(0);
	int size = snprintf(answer, sizeof(answer), "%llu\n", asked);
	if (write(channel, answer, (size_t)size) != size)
		perror("faulty_server");
}

static void *listen_for_commands(void *context)
{
	char line[64];
	size_t size = 0;
	(void)context;
	while (read(channel, &line[size], 1) == 1) {
		bool complete = line[size] == '\n';
		size += size + 1 < sizeof(line);
		if (!complete)
			continue;
		line[size - 1] = '\0';
		follow(line);
		size = 0;
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAULTS");
	pthread_t thread;
	sigset_t all, old;
	if (!number)
		return;
	channel = atoi(number);
	/* Signals are for main alone. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, listen_for_commands, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
