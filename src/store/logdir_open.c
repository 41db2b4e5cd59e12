/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_strictly(int root, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
	};
	/* EAGAIN: a rename elsewhere in the tree made the kernel unsure. */
	for (int attempts = 0; attempts < 16; attempts++) {
		long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	if (errno != ENOSYS && errno != EPERM && errno != E2BIG)
		return -1;

	/* Kernels before 5.6, and sandboxes: component by component, no links. */
	int at = root;
	for (;;) {
		size_t size = strcspn(path, "/");
		char part[NAME_MAX + 1];
		bool last = path[size] == '\0';
		int fd = -1;
		if (size == 0 || size > NAME_MAX ||
		    (path[0] == '.' && size <= 2 && (size == 1 || path[1] == '.'))) {
			errno = last && size == 0 ? EISDIR : EXDEV;
		} else {
			memcpy(part, path, size);
			part[size] = '\0';
			fd = openat(at, part,
				    O_NOFOLLOW | O_CLOEXEC | (last ? flags : O_PATH | O_DIRECTORY));
		}
		/* O_DIRECTORY on a link says ENOTDIR, for the caller it is a link. */
		if (fd < 0 && errno == ENOTDIR && !last)
			errno = ELOOP;
		int error = errno;
		if (at != root)
			close(at);
		errno = error;
		if (fd < 0 || last)
			return fd;
		at = fd;
		path += size + 1;
	}
}

int tfp_open_beneath(int root, const char *root_real, bool follow, const char *path, int flags)
{
	if (follow)
		return openat(root, path, flags | O_CLOEXEC);
	int fd = open_strictly(root, path, flags, 0);
	if (fd >= 0 || (errno != EXDEV && errno != ELOOP))
		return fd;
	/* An absolute link may well end inside. Its end is looked up by name,
	 * but what is opened is again beneath the root and without links, so
	 * that a change in between cannot lead out. */
	char full[2 * PATH_MAX], real[PATH_MAX];
	size_t size = strlen(root_real);
	if (snprintf(full, sizeof(full), "%s/%s", root_real, path) >= (int)sizeof(full) ||
	    !realpath(full, real))
		return -1;
	if (size == 1) /* the root is "/" */
		size = 0;
	if (strncmp(real, root_real, size) != 0 || real[size] != '/') {
		errno = EXDEV;
		return -1;
	}
	return open_strictly(root, real + size + 1, flags, RESOLVE_NO_SYMLINKS);
}
