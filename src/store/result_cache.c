/* SPDX-License-Identifier: Apache-2.0 */
#include "store/result_cache.h"

#include "base/alloc.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/codec_heap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC        "tfprof result 1\n"
#define KEY_MAX      ((size_t)1 << 20)
#define SUFFIX       ".zst"
#define TEMPORARY    ".tmp"
#define DIGITS       32
#define SAMPLE_BYTES 4096u /* of a capture's head and tail */
/* The age of a file that a process that died left behind. */
#define STALE_SECONDS 3600
/* Other processes put results too: count again after as many of ours. */
#define PUTS_A_COUNT 64u
#define WRITE_TRIES  4u
#define BLOCK        4096u /* of most file systems */
/* Files that a folder is looked through for. */
#define MOST_FILES ((size_t)1 << 20)

struct tfp_result_cache {
	char *path; /* of the folder, without links */
	/* The number stays the same when the folder is made anew. */
	int folder;
	uint64_t limit, build;
	atomic_bool complained;
	atomic_uint_least64_t hits, misses, writes, failures;
	atomic_uint_least64_t bytes; /* of all files, as far as we know; changed with the lock */

	pthread_mutex_t lock; /* guards what follows, and is held while files are removed */
	unsigned puts;        /* since they were counted; PUTS_A_COUNT: never were */
};

/* ---- the file ---- */

struct head {
	char magic[sizeof(MAGIC) - 1];
	uint64_t key_size;
};

bool tfp_result_encode(const struct tfp_buf *key, const struct tfp_buf *bytes, struct tfp_buf *out)
{
	struct head head = {.key_size = key->size};
	struct tfp_buf plain;
	bool ok = false;
	memcpy(head.magic, MAGIC, sizeof(head.magic));
	tfp_buf_init(&plain, sizeof(head) + KEY_MAX + TFP_RESULT_MAX);
	tfp_buf_add(&plain, &head, sizeof(head));
	tfp_buf_add(&plain, key->data, key->size);
	tfp_buf_add(&plain, bytes->data, bytes->size);
	size_t room = ZSTD_compressBound(plain.size);
	char *to = tfp_buf_failed(&plain) ? NULL : tfp_buf_reserve(out, room);
	ZSTD_CCtx *z = to ? ZSTD_createCCtx_advanced(tfp_zstd_heap) : NULL;
	if (z) {
		ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
		size_t size = ZSTD_compress2(z, to, room, plain.data, plain.size);
		ok = !ZSTD_isError(size);
		if (ok)
			out->size += size;
		ZSTD_freeCCtx(z);
	}
	tfp_buf_release(&plain);
	return ok;
}

bool tfp_result_decode(const void *file, size_t size, const struct tfp_buf *key,
		       struct tfp_buf *out)
{
	struct head head;
	struct tfp_buf plain;
	unsigned long long whole = ZSTD_getFrameContentSize(file, size);
	if (whole == ZSTD_CONTENTSIZE_UNKNOWN || whole == ZSTD_CONTENTSIZE_ERROR ||
	    whole < sizeof(head) || whole > sizeof(head) + KEY_MAX + TFP_RESULT_MAX)
		return false;
	tfp_buf_init(&plain, (size_t)whole);
	char *to = tfp_buf_reserve(&plain, (size_t)whole);
	bool ok = to && ZSTD_decompress(to, (size_t)whole, file, size) == whole;
	if (ok) {
		memcpy(&head, to, sizeof(head));
		size_t start = sizeof(head) + key->size;
		ok = memcmp(head.magic, MAGIC, sizeof(head.magic)) == 0 &&
		     head.key_size == key->size && whole >= start &&
		     memcmp(to + sizeof(head), key->data, key->size) == 0;
		if (ok) {
			tfp_buf_add(out, to + start, (size_t)whole - start);
			ok = !tfp_buf_failed(out);
		}
	}
	tfp_buf_release(&plain);
	return ok;
}

/* ---- the folder ---- */

/* Writes where path leads, or will lead once it is made: its longest part that exists, resolved,
 * and the rest. Returns false when that is not known. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	char start[PATH_MAX];
	size_t size = strlen(path), kept = size;
	if (size == 0 || size >= sizeof(start))
		return false;
	for (;;) {
		memcpy(start, path, kept);
		start[kept] = '\0';
		if (kept == 0)
			memcpy(start, path[0] == '/' ? "/" : ".", 2);
		if (realpath(start, out))
			break;
		if (errno != ENOENT || kept == 0)
			return false;
		while (kept > 0 && path[kept - 1] == '/')
			kept--;
		while (kept > 0 && path[kept - 1] != '/')
			kept--;
	}
	const char *rest = path + kept;
	for (const char *dots = strstr(rest, ".."); dots; dots = strstr(dots + 1, "..")) {
		if ((dots == rest || dots[-1] == '/') && (dots[2] == '/' || dots[2] == '\0'))
			return false;
	}
	size = strlen(out);
	return (size_t)snprintf(out + size, PATH_MAX - size, "/%s", rest) < PATH_MAX - size;
}

/* Slashes at the end, which would follow a link. */
static void without_slashes(char *path)
{
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
}

static bool is_inside(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	while (n && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool make_folders(char *path)
{
	for (char *at = path + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char old = *at;
		*at = '\0';
		bool ok = mkdir(path, 0700) == 0 || errno == EEXIST || errno == EISDIR;
		*at = old;
		if (old == '\0' || !ok)
			return ok;
	}
}

/* Whether no other user can put results into a folder. */
static bool is_private(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

enum tfp_status tfp_result_cache_new(struct tfp_result_cache **out, const char *folder,
				     const char *outside, uint64_t limit_bytes, uint64_t build,
				     struct tfp_error *err)
{
	char path[PATH_MAX], forbidden[PATH_MAX];
	*out = NULL;
	if (!resolve(folder, path))
		return tfp_fail(err, TFP_IO, "cannot keep results in %s: %s", folder,
				strerror(errno));
	if (outside && realpath(outside, forbidden) && is_inside(path, forbidden)) {
		tfp_fail(err, TFP_BAD_QUERY, "results cannot be kept in %s, inside %s", folder,
			 outside);
		tfp_error_set_hint(err, "name another folder with --cache-dir, or use --no-cache");
		return TFP_BAD_QUERY;
	}
	int fd = make_folders(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0 || faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
		tfp_fail(err, TFP_IO, "cannot keep results in %s: %s", folder, strerror(errno));
		if (fd >= 0)
			close(fd);
		return TFP_IO;
	}
	if (!is_private(fd)) {
		tfp_fail(err, TFP_FORBIDDEN,
			 "results are not kept in %s, where somebody else may write", folder);
		tfp_error_set_hint(err, "chmod go-w it if it is yours, or name another folder with "
					"--cache-dir");
		close(fd);
		return TFP_FORBIDDEN;
	}
	struct tfp_result_cache *cache = tfp_calloc(1, sizeof(*cache));
	without_slashes(path);
	char *copy = tfp_strdup(path);
	if (!cache || !copy) {
		tfp_free(copy);
		tfp_free(cache);
		close(fd);
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to keep results");
	}
	cache->path = copy;
	cache->folder = fd;
	cache->limit = limit_bytes;
	cache->build = build;
	cache->puts = PUTS_A_COUNT;
	pthread_mutex_init(&cache->lock, NULL);
	*out = cache;
	return TFP_OK;
}

void tfp_result_cache_free(struct tfp_result_cache *cache)
{
	if (!cache)
		return;
	close(cache->folder);
	pthread_mutex_destroy(&cache->lock);
	tfp_free(cache->path);
	tfp_free(cache);
}

/* Makes a folder anew that was removed while we had it open. Fails if something else is in its
 * place by now: a link, or another user's folder. errno says why. */
static bool make_again(struct tfp_result_cache *cache)
{
	char path[PATH_MAX];
	/* Looked at before anything is made behind a link. */
	if (!resolve(cache->path, path))
		return false;
	without_slashes(path);
	if (strcmp(path, cache->path) != 0) {
		errno = ELOOP;
		return false;
	}
	int fd = make_folders(path) ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				    : -1;
	if (fd < 0)
		return false;
	bool ok = is_private(fd);
	if (!ok)
		errno = EPERM;
	/* In one step: others may be about to use the descriptor. */
	ok = ok && dup3(fd, cache->folder, O_CLOEXEC) >= 0;
	int error = errno;
	close(fd);
	errno = error;
	return ok;
}

static void name_of(const struct tfp_result_cache *cache, const struct tfp_buf *key,
		    char out[DIGITS + sizeof(SUFFIX)])
{
	snprintf(out, DIGITS + sizeof(SUFFIX), "%016" PRIx64 "%016" PRIx64 SUFFIX,
		 tfp_hash_bytes(key->data, key->size, cache->build),
		 tfp_hash_bytes(key->data, key->size, ~cache->build));
}

/* Whether it is a name of ours: others' files are never touched. */
static bool is_ours(const char *name, bool *temporary)
{
	size_t digits = strspn(name, "0123456789abcdef"), size = strlen(name);
	*temporary = size > DIGITS && strcmp(name + size - strlen(TEMPORARY), TEMPORARY) == 0;
	return digits == DIGITS && (*temporary || strcmp(name + DIGITS, SUFFIX) == 0);
}

/* ---- reading ---- */

/* The key and the build: what a file says that it holds. */
static bool whole_key(const struct tfp_result_cache *cache, const struct tfp_buf *key,
		      struct tfp_buf *out)
{
	tfp_buf_init(out, KEY_MAX);
	tfp_buf_printf(out, "%016" PRIx64 "\n", cache->build);
	tfp_buf_add(out, key->data, key->size);
	return !tfp_buf_failed(out);
}

static bool read_whole(int fd, struct tfp_buf *out)
{
	struct stat st;
	/* Another user could write anything into a file of his own. */
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > ZSTD_compressBound(TFP_RESULT_MAX + 2 * KEY_MAX))
		return false;
	size_t size = (size_t)st.st_size;
	char *to = tfp_buf_reserve(out, size);
	while (to && out->size < size) {
		ssize_t n = pread(fd, to + out->size, size - out->size, (off_t)out->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		out->size += (size_t)n;
	}
	return to != NULL;
}

bool tfp_result_cache_get(struct tfp_result_cache *cache, const struct tfp_buf *key,
			  struct tfp_buf *out)
{
	char name[DIGITS + sizeof(SUFFIX)];
	struct tfp_buf file, whole;
	if (!cache)
		return false;
	/* An account of its own: a result that cannot be read for want of memory is made anew. */
	struct tfp_account own = {0}, *before = tfp_account_enter(&own);
	bool ok = whole_key(cache, key, &whole);
	name_of(cache, &whole, name);
	int fd = ok ? openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
		    : -1;
	tfp_buf_init(&file, SIZE_MAX / 2);
	ok = fd >= 0 && read_whole(fd, &file) &&
	     tfp_result_decode(file.data, file.size, &whole, out);
	atomic_fetch_add(ok ? &cache->hits : &cache->misses, 1);
	if (ok)
		futimens(fd, NULL); /* used just now; where it fails it only goes sooner */
	else if (fd >= 0)
		tfp_log_verbose("result cache: %s cannot be used and is ignored", name);
	if (fd >= 0)
		close(fd);
	tfp_buf_release(&file);
	tfp_buf_release(&whole);
	tfp_account_enter(before);
	return ok;
}

bool tfp_result_cache_has(struct tfp_result_cache *cache, const struct tfp_buf *key)
{
	char name[DIGITS + sizeof(SUFFIX)];
	struct tfp_buf whole;
	if (!cache)
		return false;
	bool ok = whole_key(cache, key, &whole);
	name_of(cache, &whole, name);
	ok = ok && faccessat(cache->folder, name, R_OK, AT_EACCESS) == 0;
	tfp_buf_release(&whole);
	return ok;
}

/* ---- writing ---- */

/* Bytes of the disk that a file takes, in whole blocks. Some file systems have given it none yet
 * just after it was written. */
static uint64_t bytes_on_disk(const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512, size = (uint64_t)st->st_size;
	return bytes ? bytes : (size + BLOCK - 1) / BLOCK * BLOCK;
}

struct kept {
	int64_t used_ns;
	uint64_t bytes;
	char name[DIGITS + sizeof(SUFFIX)];
};

static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	return x->used_ns < y->used_ns ? -1 : x->used_ns > y->used_ns;
}

static bool add_kept(struct kept **list, size_t *count, size_t *room, const char *name,
		     const struct stat *st)
{
	if (*count == *room && !tfp_grow(list, room, sizeof(**list)))
		return false;
	struct kept *k = &(*list)[(*count)++];
	k->bytes = bytes_on_disk(st);
	k->used_ns = tfp_clock_file_ns(st->st_mtim);
	memcpy(k->name, name, sizeof(k->name));
	return true;
}

/* Counts the files, and removes the least recently used if they are too much. Call it with the lock
 * held. Without memory or permission the folder stays as it is. */
static void sweep(struct tfp_result_cache *cache)
{
	struct kept *list = NULL;
	size_t count = 0, room = 0;
	uint64_t bytes = 0;
	bool temporary;
	time_t now = time(NULL);
	int fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; count < MOST_FILES && (e = readdir(dir));) {
		struct stat st;
		if (!is_ours(e->d_name, &temporary) ||
		    fstatat(cache->folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (temporary && st.st_mtime < now - STALE_SECONDS) {
			unlinkat(cache->folder, e->d_name, 0);
			continue;
		}
		bytes += bytes_on_disk(&st);
		if (!temporary && !add_kept(&list, &count, &room, e->d_name, &st))
			break;
	}
	closedir(dir);
	if (bytes > cache->limit && count) {
		/* Some more than needed, so that not every put has to. */
		uint64_t enough = cache->limit - cache->limit / 8;
		qsort(list, count, sizeof(*list), by_use);
		for (size_t i = 0; i < count && bytes > enough; i++) {
			if (unlinkat(cache->folder, list[i].name, 0) == 0 || errno == ENOENT)
				bytes -= list[i].bytes;
		}
	}
	tfp_free(list);
	cache->bytes = bytes;
	cache->puts = 0;
}

static bool write_whole(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* Whether the file is there, *taken bytes of the disk; errno says why not. */
static bool write_file(struct tfp_result_cache *cache, const char *name,
		       const struct tfp_buf *bytes, uint64_t *taken)
{
	struct stat st;
	char temporary[DIGITS + 64];
	uint64_t chance;
	/* Neither process ids nor counters tell the machines apart that share a home. */
	if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		return false;
	snprintf(temporary, sizeof(temporary), "%.*s.%016" PRIx64 TEMPORARY, DIGITS, name, chance);
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(cache->folder, temporary, flags, 0600);
	if (fd < 0)
		return false;
	bool ok = write_whole(fd, bytes->data, bytes->size) && fstat(fd, &st) == 0;
	int error = errno;
	*taken = ok ? bytes_on_disk(&st) : 0;
	/* A disk that is full, or not ours, may say so only here. */
	if (close(fd) != 0 && ok) {
		ok = false;
		error = errno;
	}
	if (ok && renameat(cache->folder, temporary, cache->folder, name) == 0)
		return true;
	if (ok)
		error = errno;
	unlinkat(cache->folder, temporary, 0);
	errno = error;
	return false;
}

bool tfp_result_cache_put(struct tfp_result_cache *cache, const struct tfp_buf *key,
			  const struct tfp_buf *bytes)
{
	char name[DIGITS + sizeof(SUFFIX)];
	struct tfp_buf file, whole;
	uint64_t taken = 0;
	if (!cache || bytes->size > TFP_RESULT_MAX)
		return false;
	struct tfp_account own = {0}, *before = tfp_account_enter(&own);
	bool ok = whole_key(cache, key, &whole);
	tfp_buf_init(&file, SIZE_MAX / 2);
	ok = ok && tfp_result_encode(&whole, bytes, &file) && file.size <= cache->limit;
	if (ok) {
		name_of(cache, &whole, name);
		ok = write_file(cache, name, &file, &taken);
		/* Another program that empties the folder may remove the file or the new folder. */
		for (unsigned left = WRITE_TRIES; !ok && errno == ENOENT && left; left--)
			ok = make_again(cache) && write_file(cache, name, &file, &taken);
		if (!ok && !atomic_exchange(&cache->complained, true))
			tfp_log_warning("results cannot be kept: %s", strerror(errno));
	}
	atomic_fetch_add(ok ? &cache->writes : &cache->failures, 1);
	if (ok) {
		atomic_store(&cache->complained, false);
		pthread_mutex_lock(&cache->lock);
		cache->bytes += taken;
		if (cache->puts++ >= PUTS_A_COUNT || cache->bytes > cache->limit)
			sweep(cache);
		pthread_mutex_unlock(&cache->lock);
	}
	tfp_buf_release(&file);
	tfp_buf_release(&whole);
	tfp_account_enter(before);
	return ok;
}

struct tfp_result_cache_stats tfp_result_cache_stats(const struct tfp_result_cache *cache)
{
	struct tfp_result_cache_stats stats = {0};
	if (cache)
		stats = (struct tfp_result_cache_stats){
			.hits = cache->hits,
			.misses = cache->misses,
			.writes = cache->writes,
			.failures = cache->failures,
			.bytes = cache->bytes,
		};
	return stats;
}

/* ---- keys ---- */

static uint64_t sample(int fd, uint64_t bytes)
{
	char part[SAMPLE_BYTES];
	uint64_t h = 0;
	const uint64_t at[] = {0, bytes > SAMPLE_BYTES ? bytes - SAMPLE_BYTES : 0};
	for (size_t i = 0; i < 2; i++) {
		ssize_t n = pread(fd, part, sizeof(part), (off_t)at[i]);
		h = tfp_hash_bytes(part, n > 0 ? (size_t)n : 0, h);
	}
	return h;
}

enum tfp_status tfp_result_key_add_file(struct tfp_buf *key, struct tfp_logdir *dir,
					const struct tfp_capture_file *file, struct tfp_error *err)
{
	struct tfp_file_identity id;
	char link[64], path[PATH_MAX];
	int fd;
	enum tfp_status status = tfp_logdir_open(dir, file, &fd, &id, err);
	if (status != TFP_OK)
		return status;
	/* The same file by whichever way one comes to it. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path));
	tfp_buf_printf(key, "%" PRIu64 " %" PRIi64 " %" PRIu64 " %016" PRIx64 " ", id.bytes,
		       id.modified_ns, id.inode, sample(fd, id.bytes));
	tfp_buf_add(key, n > 0 ? path : file->path, n > 0 ? (size_t)n : strlen(file->path));
	tfp_buf_putc(key, '\n');
	close(fd);
	if (tfp_buf_failed(key))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the name of a result");
	return TFP_OK;
}
