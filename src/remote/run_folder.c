/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/run_folder.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX     ".xplane.pb"
#define NAME_TRIES 100

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static enum tfp_status cannot(const char *what, const char *path, struct tfp_error *err)
{
	int error = errno;
	tfp_fail(err, TFP_IO, "cannot %s: %s", what, strerror(error));
	tfp_error_set_file(err, path);
	if (error == ENOSPC || error == EDQUOT || error == EFBIG)
		tfp_error_set_hint(err, "free some space, or capture into another log directory");
	else if (error == EACCES || error == EPERM || error == EROFS)
		tfp_error_set_hint(
			err,
			"the log directory must be writable for the user who runs this program");
	return TFP_IO;
}

void tfp_run_name_clean(const char *text, char *out)
{
	size_t n = 0;
	for (; text[n] && n < TFP_RUN_NAME_MAX; n++)
		out[n] = strchr(letters, text[n]) && !(n == 0 && text[n] == '.') ? text[n] : '_';
	out[n] = '\0';
}

/* Makes and opens the folder, and the last two that lead to it where they are
 * missing. No link is followed in the last step. */
static enum tfp_status open_parent(struct tfp_run_folder *f, struct tfp_error *err)
{
	size_t size = strlen(f->parent);
	int missing = 0;
	for (;;) {
		f->parent_fd = open(f->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (f->parent_fd >= 0 || errno != ENOENT || missing == 2)
			break;
		char *slash = strrchr(f->parent, '/');
		if (!slash || slash == f->parent)
			break;
		*slash = '\0';
		missing++;
	}
	if (f->parent_fd < 0) {
		enum tfp_status status = cannot("open the folder", f->parent, err);
		return status;
	}
	while (strlen(f->parent) < size) {
		char *end = f->parent + strlen(f->parent);
		const char *name = end + 1;
		if (mkdirat(f->parent_fd, name, 0777) != 0 && errno != EEXIST) {
			cannot("make a folder in", f->parent, err);
			return TFP_IO;
		}
		int fd =
			openat(f->parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0) {
			cannot("open the new folder in", f->parent, err);
			return TFP_IO;
		}
		close(f->parent_fd);
		f->parent_fd = fd;
		*end = '/';
	}
	return TFP_OK;
}

/* 1: made, 0: the name is taken, -1: failed. */
static int try_name(struct tfp_run_folder *f)
{
	struct stat st;
	snprintf(f->hidden, sizeof(f->hidden), ".%s.part", f->name);
	if (fstatat(f->parent_fd, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (mkdirat(f->parent_fd, f->hidden, 0777) == 0)
		return 1;
	return errno == EEXIST ? 0 : -1;
}

static int take_time_as_name(struct tfp_run_folder *f)
{
	/* A name from the next second is better than one that no longer looks like
	 * a time: lists order runs by it. */
	time_t now = time(NULL);
	for (int i = 0; i < NAME_TRIES; i++) {
		time_t then = now + i;
		struct tm local;
		if (!localtime_r(&then, &local) ||
		    strftime(f->name, sizeof(f->name), "%Y_%m_%d_%H_%M_%S", &local) == 0)
			return -1;
		int made = try_name(f);
		if (made != 0)
			return made;
	}
	errno = EEXIST;
	return -1;
}

enum tfp_status tfp_run_folder_make(struct tfp_run_folder *f, const char *parent, const char *name,
				    struct tfp_error *err)
{
	*f = (struct tfp_run_folder){.parent_fd = -1, .fd = -1};
	f->parent = tfp_strdup(parent);
	if (!f->parent)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a path");
	enum tfp_status status = open_parent(f, err);
	if (status != TFP_OK)
		return status;
	tfp_run_name_clean(name, f->name);
	int made = f->name[0] ? try_name(f) : take_time_as_name(f);
	if (made == 0) {
		f->hidden[0] = '\0'; /* not ours */
		tfp_fail(err, TFP_BAD_QUERY, "there is a run \"%s\" already", f->name);
		tfp_error_set_hint(err, "choose another name, or none");
		return TFP_BAD_QUERY;
	}
	if (made < 0) {
		f->hidden[0] = '\0';
		return cannot("make a folder in", f->parent, err);
	}
	f->fd = openat(f->parent_fd, f->hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return f->fd >= 0 ? TFP_OK : cannot("open the new folder in", f->parent, err);
}

int64_t tfp_run_folder_foreign(const struct tfp_run_folder *f, const char *file)
{
	struct stat st;
	int64_t bytes = -1;
	int fd = openat(f->parent_fd, f->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (fstatat(fd, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		bytes = st.st_size;
	close(fd);
	return bytes;
}

/* The folder is there already: a program that shares our disk made it. */
static enum tfp_status move_files(struct tfp_run_folder *f, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	int to = openat(f->parent_fd, f->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int copy = dup(f->fd);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	if (to < 0 || !dir) {
		status = cannot("open the run's folder in", f->parent, err);
		if (copy >= 0 && !dir)
			close(copy);
	}
	while (status == TFP_OK) {
		const struct dirent *e = readdir(dir);
		if (!e)
			break;
		if (e->d_name[0] != '.' && renameat(f->fd, e->d_name, to, e->d_name) != 0)
			status = cannot("move the capture into", f->parent, err);
	}
	if (dir)
		closedir(dir);
	if (to >= 0)
		close(to);
	return status;
}

enum tfp_status tfp_run_folder_publish(struct tfp_run_folder *f, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	if (f->kept && renameat(f->parent_fd, f->hidden, f->parent_fd, f->name) == 0) {
		f->hidden[0] = '\0';
	} else if (f->kept) {
		status = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR
				 ? move_files(f, err)
				 : cannot("name the run's folder in", f->parent, err);
	}
	fsync(f->parent_fd); /* where it cannot, the files are still complete */
	return status;
}

void tfp_run_folder_release(struct tfp_run_folder *f)
{
	if (!f->parent)
		return;
	/* Not empty only when publishing failed: then the captures stay. */
	if (f->hidden[0])
		unlinkat(f->parent_fd, f->hidden, AT_REMOVEDIR);
	if (f->fd >= 0)
		close(f->fd);
	if (f->parent_fd >= 0)
		close(f->parent_fd);
	tfp_free(f->parent);
	*f = (struct tfp_run_folder){.parent_fd = -1, .fd = -1};
}

enum tfp_status tfp_run_file_open(struct tfp_run_file *file, struct tfp_run_folder *f,
				  const char *stem, struct tfp_error *err)
{
	struct stat st;
	*file = (struct tfp_run_file){.folder = f, .fd = -1};
	for (int i = 1; i <= NAME_TRIES; i++) {
		if (i == 1)
			snprintf(file->name, sizeof(file->name), "%.280s" SUFFIX, stem);
		else
			snprintf(file->name, sizeof(file->name), "%.280s-%d" SUFFIX, stem, i);
		snprintf(file->part, sizeof(file->part), "%s.part", file->name);
		if (fstatat(f->fd, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		file->fd = openat(f->fd, file->part,
				  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (file->fd >= 0)
			return TFP_OK;
		if (errno != EEXIST)
			break;
	}
	return cannot("make a file in", f->parent, err);
}

enum tfp_status tfp_run_file_write(struct tfp_run_file *file, const void *bytes, size_t size,
				   struct tfp_error *err)
{
	const char *at = bytes;
	while (size) {
		ssize_t n = write(file->fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = ENOSPC;
			return cannot("write the capture", file->name, err);
		}
		at += n;
		size -= (size_t)n;
		file->bytes += (uint64_t)n;
	}
	return TFP_OK;
}

enum tfp_status tfp_run_file_keep(struct tfp_run_file *file, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	/* What a network file system could not store, it says here at the latest. */
	if (fsync(file->fd) != 0 && errno != EINVAL)
		status = cannot("write the capture", file->name, err);
	if (close(file->fd) != 0 && status == TFP_OK)
		status = cannot("write the capture", file->name, err);
	file->fd = -1;
	if (status == TFP_OK &&
	    renameat(file->folder->fd, file->part, file->folder->fd, file->name) != 0)
		status = cannot("name the capture", file->name, err);
	if (status != TFP_OK) {
		unlinkat(file->folder->fd, file->part, 0);
		return status;
	}
	file->folder->kept++;
	return TFP_OK;
}

void tfp_run_file_drop(struct tfp_run_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	unlinkat(file->folder->fd, file->part, 0);
}
