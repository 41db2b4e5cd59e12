/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static pid_t owner;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	if (at->level > 0)
		remove(path);
	return 0;
}

void fuzz_empty_folder(void)
{
	nftw(fuzz_folder(), remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
	if (getpid() != owner)
		return;
	fuzz_empty_folder();
	rmdir(folder);
}

const char *fuzz_folder(void)
{
	if (folder[0])
		return folder;
	strcpy(folder, "/dev/shm/tfprof-fuzz-XXXXXX");
	if (!mkdtemp(folder)) {
		strcpy(folder, "/tmp/tfprof-fuzz-XXXXXX");
		MUST(mkdtemp(folder));
	}
	owner = getpid();
	atexit(remove_folder);
	return folder;
}

bool fuzz_write(const char *path, const void *bytes, size_t size)
{
	char full[4096];
	if ((size_t)snprintf(full, sizeof(full), "%s/%s", fuzz_folder(), path) >= sizeof(full))
		return false;
	for (char *at = full + strlen(fuzz_folder()) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		bool there = mkdir(full, 0700) == 0 || errno == EEXIST;
		*at = '/';
		if (!there)
			return false;
	}
	int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	bool ok = write(fd, bytes, size) == (ssize_t)size;
	close(fd);
	MUST(ok);
	return true;
}
