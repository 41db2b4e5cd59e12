/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/output.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)1 << 18)

static enum tfp_status os_error(const char *what, const char *path, struct tfp_error *err)
{
	enum tfp_status status = tfp_fail(err, TFP_IO, "cannot %s: %s", what, strerror(errno));

	tfp_error_set_file(err, path);
	return status;
}

enum tfp_status tfp_synth_make_folders(const char *path, struct tfp_error *err)
{
	char *copy = tfp_strdup(path);
	enum tfp_status status = TFP_OK;

	if (!copy)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a path");
	for (char *p = copy + 1; status == TFP_OK; p++) {
		bool last = *p == '\0';

		if (*p != '/' && !last)
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			status = os_error("make the folder", copy, err);
		if (last)
			break;
		*p = '/';
	}
	tfp_free(copy);
	return status;
}

/* A new file beside path; *name is the caller's to free. */
static int temporary_beside(const char *path, char **name)
{
	size_t size = strlen(path) + 16;
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	mode_t mask;
	int fd;

	*name = tfp_malloc(size);
	if (!*name) {
		errno = ENOMEM;
		return -1;
	}
	/* A leading dot, so that nobody takes it for a capture. */
	snprintf(*name, size, "%.*s.%s.XXXXXX", folder, path, path + folder);
	fd = mkstemp(*name);
	if (fd < 0) {
		tfp_free(*name);
		*name = NULL;
		return -1;
	}
	/* mkstemp keeps others out; a capture is as readable as any file. */
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	return fd;
}

enum tfp_status tfp_synth_output_open(struct tfp_synth_output *out, const char *path,
				      enum tfp_synth_compression compression, struct tfp_error *err)
{
	memset(out, 0, sizeof(*out));
	out->compression = compression;
	out->path = tfp_strdup(path);
	if (!out->path)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a path");
	out->fd = temporary_beside(path, &out->temporary);
	if (out->fd < 0) {
		enum tfp_status status = os_error("make a temporary file for it", path, err);

		tfp_free(out->path);
		return status;
	}
	return TFP_OK;
}

static bool write_all(int fd, const unsigned char *data, size_t size)
{
	while (size > 0) {
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

/* The next piece, or -1 with errno set. Less than PIECE is the last. */
static ssize_t read_piece(int fd, unsigned char *data)
{
	size_t have = 0;

	while (have < PIECE) {
		ssize_t n = read(fd, data + have, PIECE - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static bool gzip(int from, int to, unsigned char *in, unsigned char *out)
{
	/* 16 more than the window: a gzip header, which zlib writes without a
	 * time or a name, so that the bytes depend on the input only. */
	z_stream z = {0};
	bool good = true, last = false;

	if (deflateInit2(&z, 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		errno = ENOMEM;
		return false;
	}
	while (good && !last) {
		ssize_t n = read_piece(from, in);

		good = n >= 0;
		last = n < (ssize_t)PIECE;
		z.next_in = in;
		z.avail_in = n > 0 ? (unsigned)n : 0;
		do {
			z.next_out = out;
			z.avail_out = PIECE;
			deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
			good = good && write_all(to, out, PIECE - z.avail_out);
		} while (good && z.avail_out == 0);
	}
	deflateEnd(&z);
	return good;
}

static bool zstd(int from, int to, unsigned char *in, unsigned char *out)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	bool good = context != NULL, last = false;

	if (!good)
		errno = ENOMEM;
	while (good && !last) {
		ssize_t n = read_piece(from, in);
		ZSTD_inBuffer source = {in, n > 0 ? (size_t)n : 0, 0};
		size_t left = 1;

		good = n >= 0;
		last = n < (ssize_t)PIECE;
		while (good && (last ? left != 0 : source.pos < source.size)) {
			ZSTD_outBuffer target = {out, PIECE, 0};

			left = ZSTD_compressStream2(context, &target, &source,
						    last ? ZSTD_e_end : ZSTD_e_continue);
			if (ZSTD_isError(left)) {
				errno = ENOMEM;
				good = false;
			} else {
				good = write_all(to, out, target.pos);
			}
		}
	}
	ZSTD_freeCCtx(context);
	return good;
}

/* Puts a compressed copy in the place of the temporary file. */
static bool compress_temporary(struct tfp_synth_output *o)
{
	unsigned char *in = tfp_malloc(PIECE), *out = tfp_malloc(PIECE);
	char *name = NULL;
	bool good = false;
	int fd = -1, saved;

	if (in && out)
		fd = temporary_beside(o->path, &name);
	else
		errno = ENOMEM;
	if (fd >= 0 && lseek(o->fd, 0, SEEK_SET) == 0)
		good = o->compression == TFP_SYNTH_GZIP ? gzip(o->fd, fd, in, out)
							: zstd(o->fd, fd, in, out);
	saved = errno;
	tfp_free(in);
	tfp_free(out);
	if (!good) {
		if (fd >= 0) {
			close(fd);
			unlink(name);
		}
		tfp_free(name);
		errno = saved;
		return false;
	}
	close(o->fd);
	unlink(o->temporary);
	tfp_free(o->temporary);
	o->fd = fd;
	o->temporary = name;
	return true;
}

enum tfp_status tfp_synth_output_commit(struct tfp_synth_output *out, struct tfp_error *err)
{
	enum tfp_status status = TFP_OK;
	int fd;

	if (out->compression != TFP_SYNTH_PLAIN && !compress_temporary(out)) {
		status = os_error("compress it", out->path, err);
		tfp_synth_output_abandon(out);
		return status;
	}
	fd = out->fd;
	out->fd = -1;
	if (close(fd) < 0)
		status = os_error("write it", out->path, err);
	else if (rename(out->temporary, out->path) < 0)
		status = os_error("give the finished file its name", out->path, err);
	if (status != TFP_OK) {
		tfp_synth_output_abandon(out);
		return status;
	}
	tfp_free(out->path);
	tfp_free(out->temporary);
	return TFP_OK;
}

void tfp_synth_output_abandon(struct tfp_synth_output *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->temporary)
		unlink(out->temporary);
	tfp_free(out->temporary);
	tfp_free(out->path);
	out->temporary = out->path = NULL;
	out->fd = -1;
}
