/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logdir_parts.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_AGE_NS INT64_C(1000000000)
#define AGE_FACTOR 10

/* ---- snapshots ---- */

/* Opens root_path anew, so that a directory that was removed and made again is
 * followed to its new self. Called by the one that scans. 0, or why there is no root. */
static int reopen_root(struct tfp_logdir *dir)
{
	struct stat now, before;
	int fd = open(dir->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *real = fd < 0 ? NULL : realpath(dir->root_path, NULL);
	int error = real ? 0 : errno;
	if (!real && fd >= 0) {
		close(fd);
		fd = -1;
	}
	pthread_mutex_lock(&dir->lock);
	if (fd >= 0 && dir->root >= 0 && fstat(fd, &now) == 0 && fstat(dir->root, &before) == 0 &&
	    now.st_dev == before.st_dev && now.st_ino == before.st_ino &&
	    strcmp(real, dir->root_real) == 0) {
		close(fd);
		free(real);
	} else {
		if (dir->root >= 0)
			close(dir->root);
		free(dir->root_real);
		dir->root = fd;
		dir->root_real = real;
	}
	pthread_mutex_unlock(&dir->lock);
	return error;
}

enum tfp_status tfp_logdir_snapshot(struct tfp_logdir *dir, const struct tfp_logdir_snapshot **out,
				    struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	struct tfp_snapshot *fresh = NULL, *old = NULL;
	*out = NULL;
	pthread_mutex_lock(&dir->lock);
	for (;;) {
		if (dir->last && tfp_clock_monotonic_ns() < dir->fresh_until_ns)
			goto found;
		if (!dir->scanning)
			break;
		pthread_cond_wait(&dir->scanned, &dir->lock);
	}
	dir->scanning = true;
	pthread_mutex_unlock(&dir->lock);

	int64_t start = tfp_clock_monotonic_ns();
	int error = reopen_root(dir);
	/* Only the thread that scans changes root, so it needs no lock to read it. */
	status = error ? tfp_logdir_away(dir, error, err)
		       : tfp_logdir_scan(dir, dir->root, dir->root_real, &fresh, err);
	int64_t end = tfp_clock_monotonic_ns();

	pthread_mutex_lock(&dir->lock);
	dir->scanning = false;
	pthread_cond_broadcast(&dir->scanned);
	if (status != TFP_OK)
		goto out;
	int64_t age = (end - start) * AGE_FACTOR;
	dir->fresh_until_ns = dir->expired ? end : end + (age > MIN_AGE_NS ? age : MIN_AGE_NS);
	dir->expired = false;
	if (dir->last && dir->last->public.generation == fresh->public.generation) {
		old = fresh;
	} else {
		old = dir->last;
		dir->last = fresh;
	}
found:
	atomic_fetch_add(&dir->last->references, 1);
	*out = &dir->last->public;
out:
	pthread_mutex_unlock(&dir->lock);
	tfp_logdir_snapshot_unref(old ? &old->public : NULL);
	return status;
}

const struct tfp_logdir_snapshot *tfp_logdir_snapshot_at_hand(struct tfp_logdir *dir)
{
	const struct tfp_logdir_snapshot *snapshot = NULL;
	pthread_mutex_lock(&dir->lock);
	if (dir->last && tfp_clock_monotonic_ns() < dir->fresh_until_ns)
		snapshot = tfp_logdir_snapshot_ref(&dir->last->public);
	pthread_mutex_unlock(&dir->lock);
	return snapshot;
}

const struct tfp_logdir_snapshot *
tfp_logdir_snapshot_ref(const struct tfp_logdir_snapshot *snapshot)
{
	struct tfp_snapshot *s = (struct tfp_snapshot *)(uintptr_t)snapshot;
	atomic_fetch_add(&s->references, 1);
	return snapshot;
}

void tfp_logdir_snapshot_unref(const struct tfp_logdir_snapshot *snapshot)
{
	struct tfp_snapshot *s = (struct tfp_snapshot *)(uintptr_t)snapshot;
	if (s && atomic_fetch_sub(&s->references, 1) == 1)
		tfp_snapshot_free(s);
}

static const struct tfp_run *find_in(const struct tfp_run *runs, size_t count, const char *name)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, runs[middle].name);
		if (order == 0)
			return &runs[middle];
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct tfp_run *tfp_logdir_find_run(const struct tfp_logdir_snapshot *snapshot,
					  const char *name)
{
	const struct tfp_run *run = find_in(snapshot->runs, snapshot->run_count, name);
	return run ? run : find_in(snapshot->event_runs, snapshot->event_run_count, name);
}

/* ---- the directory ---- */

static char *absolute_path(const char *path)
{
	struct tfp_buf buf;
	tfp_buf_init(&buf, 2 * PATH_MAX);
	if (path[0] != '/') {
		char *here = getcwd(NULL, 0);
		if (here) {
			tfp_buf_puts(&buf, here);
			tfp_buf_putc(&buf, '/');
		}
		free(here);
	}
	tfp_buf_puts(&buf, path);
	if (tfp_buf_failed(&buf)) {
		tfp_buf_release(&buf);
		return NULL;
	}
	while (buf.size > 1 && (buf.data[buf.size - 1] == '/' ||
				(buf.data[buf.size - 1] == '.' && buf.data[buf.size - 2] == '/')))
		buf.size--;
	return tfp_buf_take(&buf, NULL);
}

enum tfp_status tfp_logdir_new(struct tfp_logdir **out, const char *path, unsigned flags,
			       struct tfp_error *err)
{
	struct stat st;
	*out = NULL;
	if (stat(path, &st) != 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;
		enum tfp_status status =
			missing ? tfp_fail(err, TFP_NOT_FOUND, "there is no \"%s\"", path)
				: tfp_fail(err, TFP_IO, "cannot look at \"%s\": %s", path,
					   strerror(errno));
		if (missing)
			tfp_error_set_hint(err, "name a directory that holds captures "
						"(DIR/plugins/profile/RUN/HOST.xplane.pb) or one "
						"capture file");
		return status;
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return tfp_fail(err, TFP_BAD_QUERY, "\"%s\" is neither a directory nor a file",
				path);
	struct tfp_logdir *dir = tfp_calloc(1, sizeof(*dir));
	if (!dir)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to open \"%s\"", path);
	pthread_mutex_init(&dir->lock, NULL);
	pthread_cond_init(&dir->scanned, NULL);
	dir->root = -1;
	dir->flags = flags;
	dir->path = tfp_strdup(path);
	dir->root_path = absolute_path(path);
	bool ok = dir->path && dir->root_path;
	if (ok && S_ISREG(st.st_mode)) {
		char *slash = strrchr(dir->root_path, '/');
		dir->only = tfp_strdup(slash + 1);
		ok = dir->only != NULL;
		slash[slash == dir->root_path] = '\0';
	}
	if (!ok) {
		tfp_logdir_free(dir);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to open \"%s\"", path);
	}
	int error = reopen_root(dir);
	if (error) {
		tfp_logdir_free(dir);
		return tfp_fail(err, TFP_IO, "cannot open \"%s\": %s", path, strerror(error));
	}
	*out = dir;
	return TFP_OK;
}

void tfp_logdir_free(struct tfp_logdir *dir)
{
	if (!dir)
		return;
	if (dir->last)
		tfp_logdir_snapshot_unref(&dir->last->public);
	if (dir->root >= 0)
		close(dir->root);
	free(dir->root_real); /* from realpath */
	pthread_cond_destroy(&dir->scanned);
	pthread_mutex_destroy(&dir->lock);
	tfp_free(dir->only);
	tfp_free(dir->root_path);
	tfp_free(dir->path);
	tfp_free(dir);
}

const char *tfp_logdir_path(const struct tfp_logdir *dir)
{
	return dir->path;
}

/* errno of the first thing that fails, or 0. */
static int look_at_root(const struct tfp_logdir *dir, int fd)
{
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	int error = 0;
	if (!entries) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	/* Some file systems open a folder that they cannot read. One without entries is fine. */
	errno = 0;
	if (!readdir(entries))
		error = errno;
	if (error == 0 && dir->only && faccessat(fd, dir->only, R_OK, AT_EACCESS) != 0)
		error = errno;
	closedir(entries);
	return error;
}

enum tfp_status tfp_logdir_check(const struct tfp_logdir *dir, struct tfp_error *err)
{
	/* By its path: an open descriptor would not notice that it was unmounted. */
	int error = look_at_root(dir, open(dir->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (error)
		return tfp_fail(err, TFP_IO, "cannot read the log directory: %s", strerror(error));
	return TFP_OK;
}

const char *tfp_logdir_absolute_path(const struct tfp_logdir *dir)
{
	return dir->hidden ? NULL : dir->root_path;
}

void tfp_logdir_hide_path(struct tfp_logdir *dir)
{
	const char *slash = strrchr(dir->root_path, '/');
	const char *name = dir->only ? dir->only : slash[1] ? slash + 1 : "/";
	char *path = tfp_strdup(name);
	if (path) {
		tfp_free(dir->path);
		dir->path = path;
	} else {
		dir->path[0] = '\0';
	}
	dir->hidden = true;
}

static void shorten(char *text, const char *path, const char *name)
{
	size_t n = path ? strlen(path) : 0, m = strlen(name);
	if (n < 2 || m > n)
		return; /* nothing lies above the root */
	for (char *at = text; (at = strstr(at, path)); at += m) {
		memcpy(at, name, m);
		memmove(at + m, at + n, strlen(at + n) + 1);
	}
}

void tfp_logdir_redact(struct tfp_logdir *dir, char *text)
{
	if (!dir->hidden || !strchr(text, '/'))
		return;
	/* For a file, all of its folder is hidden. */
	const char *name = dir->only ? "" : dir->path;
	pthread_mutex_lock(&dir->lock);
	shorten(text, dir->root_real, name);
	pthread_mutex_unlock(&dir->lock);
	shorten(text, dir->root_path, name);
}

void tfp_logdir_expire(struct tfp_logdir *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->fresh_until_ns = 0;
	dir->expired = dir->scanning;
	pthread_mutex_unlock(&dir->lock);
}

/* Whether the path's last parts are these, which begin with a slash. */
static bool path_ends_with(const char *path, size_t size, const char *end)
{
	size_t n = strlen(end);
	return size >= n && memcmp(path + size - n, end, n) == 0;
}

enum tfp_status tfp_logdir_runs_folder(const struct tfp_logdir *dir, char *out, size_t size,
				       struct tfp_error *err)
{
	const char *more = "/plugins/profile";
	char path[PATH_MAX];
	if (!realpath(dir->root_path, path))
		return tfp_logdir_away(dir, errno, err);
	size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);
	const char *slash = memrchr(path, '/', length);
	if (dir->only || (slash && path_ends_with(path, (size_t)(slash - path), more))) {
		tfp_fail(err, TFP_BAD_QUERY, "\"%s\" is one %s, not a place for a new run",
			 dir->path, dir->only ? "file" : "run");
		tfp_error_set_hint(err, "start with the log directory");
		return TFP_BAD_QUERY;
	}
	if (path_ends_with(path, length, more))
		more = "";
	else if (path_ends_with(path, length, "/plugins"))
		more = "/profile";
	int n = snprintf(out, size, "%.*s%s", (int)length, path, more);
	if (n < 0 || (size_t)n >= size)
		return tfp_fail(err, TFP_TOO_LARGE, "the log directory's path is too long");
	return TFP_OK;
}

enum tfp_status tfp_logdir_open(struct tfp_logdir *dir, const struct tfp_capture_file *file,
				int *out, struct tfp_file_identity *identity, struct tfp_error *err)
{
	enum tfp_status status;
	struct stat st;
	char real[PATH_MAX] = "";
	int root = -1, fd = -1;
	*out = -1;
	pthread_mutex_lock(&dir->lock);
	if (dir->root >= 0) {
		root = fcntl(dir->root, F_DUPFD_CLOEXEC, 0);
		snprintf(real, sizeof(real), "%s", dir->root_real);
	} else {
		errno = ENOENT;
	}
	pthread_mutex_unlock(&dir->lock);
	/* Not blocking: a fifo put in the file's place must not hold us. */
	if (root >= 0)
		fd = tfp_open_beneath(root, real,
				      dir->only || (dir->flags & TFP_LOGDIR_FOLLOW_SYMLINKS),
				      file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	int error = errno;
	if (root >= 0)
		close(root);
	if (fd < 0) {
		if (error == ENOENT || error == ENOTDIR) {
			status = tfp_fail(err, TFP_NOT_FOUND, "the file is not there any more");
		} else if (error == EXDEV || error == ELOOP) {
			status = tfp_fail(err, TFP_NOT_FOUND,
					  "it leads out of the log directory and is not opened");
			tfp_error_set_hint(err, "--follow-symlinks allows links that lead out");
		} else {
			status = tfp_fail(err, TFP_IO, "cannot open it: %s", strerror(error));
		}
	} else if (fstat(fd, &st) != 0) {
		status = tfp_fail(err, TFP_IO, "cannot examine it: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		status = tfp_fail(err, TFP_IO, "it is not a regular file");
	} else {
		*identity = tfp_file_identity_of(&st);
		*out = fd;
		return TFP_OK;
	}
	if (fd >= 0)
		close(fd);
	tfp_error_set_file(err, file->path);
	return status;
}
