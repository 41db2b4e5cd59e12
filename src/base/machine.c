/* SPDX-License-Identifier: Apache-2.0 */
#include "base/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "max", a number, or nothing that can be read: no limit. */
static uint64_t read_limit(const char *path)
{
	char text[64] = "", *end;
	FILE *f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	bool found = fgets(text, sizeof(text), f) != NULL;
	fclose(f);
	errno = 0;
	unsigned long long n = found ? strtoull(text, &end, 10) : 0;
	return !found || end == text || errno || n == 0 ? UINT64_MAX : n;
}

/* Of a group and those above it; group is cut meanwhile. */
static uint64_t least_upwards(const char *root, const char *mount, char *group, const char *file)
{
	uint64_t least = UINT64_MAX;
	char path[4096];
	for (;;) {
		int n = snprintf(path, sizeof(path), "%s/sys/fs/cgroup/%s%s/%s", root, mount, group,
				 file);
		uint64_t limit = n > 0 && (size_t)n < sizeof(path) ? read_limit(path) : UINT64_MAX;
		least = limit < least ? limit : least;
		char *slash = strrchr(group, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

static bool lists_memory(const char *controllers, size_t size)
{
	for (const char *end = controllers + size; controllers < end; controllers++) {
		size_t n = strcspn(controllers, ",:");
		if (n == 6 && memcmp(controllers, "memory", 6) == 0)
			return true;
		controllers += n;
	}
	return false;
}

uint64_t tfp_memory_of_cgroups(const char *root)
{
	uint64_t least = UINT64_MAX;
	char path[4096], line[2048];
	int n = snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	FILE *f = n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f)) {
		/* number:controllers:/group; no controllers in version 2 */
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		uint64_t limit = UINT64_MAX;
		if (!group)
			continue;
		size_t size = (size_t)(group - ++controllers);
		group++;
		group[strcspn(group, "\n")] = '\0';
		if (size == 0)
			limit = least_upwards(root, "", group, "memory.max");
		else if (lists_memory(controllers, size))
			limit = least_upwards(root, "memory", group, "memory.limit_in_bytes");
		least = limit < least ? limit : least;
	}
	if (f)
		fclose(f);
	return least;
}

uint64_t tfp_memory_of_machine(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)2 << 30;
	uint64_t allowed = tfp_memory_of_cgroups("");
	return allowed < all ? allowed : all;
}
