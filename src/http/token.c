/* SPDX-License-Identifier: Apache-2.0 */
#include "http/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first 64 are the digits of random ones. */
static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";

enum tfp_status tfp_token_make(char token[TFP_TOKEN_SIZE], struct tfp_error *err)
{
	unsigned char random[TFP_TOKEN_SIZE - 1];
	/* Short enough to come whole, once the system has any. */
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return tfp_fail(err, TFP_IO, "the system has no random numbers: %s",
				strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		token[i] = allowed[random[i] % 64];
	token[sizeof(random)] = '\0';
	return TFP_OK;
}

static enum tfp_status cannot(const char *what, const char *path, struct tfp_error *err)
{
	tfp_fail(err, TFP_IO, "cannot %s the token file: %s", what, strerror(errno));
	tfp_error_set_file(err, path);
	return TFP_IO;
}

static enum tfp_status make_file(const char *path, char *token, struct tfp_error *err)
{
	enum tfp_status status = tfp_token_make(token, err);
	if (status != TFP_OK)
		return status;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot("make", path, err);
	char line[TFP_TOKEN_SIZE];
	memcpy(line, token, TFP_TOKEN_SIZE - 1);
	line[TFP_TOKEN_SIZE - 1] = '\n';
	errno = EIO;
	if (write(fd, line, sizeof(line)) != (ssize_t)sizeof(line)) {
		status = cannot("write", path, err);
		unlink(path); /* half a token must not be believed */
	}
	close(fd);
	return status;
}

static enum tfp_status read_line(int fd, const char *path, char *token, struct tfp_error *err)
{
	char text[TFP_TOKEN_MAX + 3];
	struct stat st;
	if (fstat(fd, &st) != 0)
		return cannot("examine", path, err);
	if (!S_ISREG(st.st_mode)) {
		tfp_fail(err, TFP_BAD_INPUT, "the token file is not a regular file");
		tfp_error_set_file(err, path);
		return TFP_BAD_INPUT;
	}
	/* The file's owner can read it and choose what is in it. */
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		tfp_fail(err, TFP_FORBIDDEN, "the token file belongs to somebody else");
		tfp_error_set_file(err, path);
		tfp_error_set_hint(err, "remove it, and a new one is made, or name another");
		return TFP_FORBIDDEN;
	}
	/* A group may read the token, but not choose it. */
	if (st.st_mode & (S_IRWXO | S_IWGRP)) {
		tfp_fail(err, TFP_FORBIDDEN, "others can %s the token file",
			 st.st_mode & S_IROTH ? "read" : "change");
		tfp_error_set_file(err, path);
		tfp_error_set_hint(err, "chmod 600 it, and choose another token if others may "
					"have read it");
		return TFP_FORBIDDEN;
	}
	ssize_t n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return cannot("read", path, err);
	text[n] = '\0';
	size_t size = strcspn(text, "\r\n");
	text[size] = '\0';
	if (size < TFP_TOKEN_MIN || size > TFP_TOKEN_MAX || strspn(text, allowed) != size) {
		tfp_fail(err, TFP_BAD_INPUT,
			 "the token file's first line is not %u to %u letters, digits, '-', '_', "
			 "'.' and '~'",
			 TFP_TOKEN_MIN, TFP_TOKEN_MAX);
		tfp_error_set_file(err, path);
		tfp_error_set_hint(err, "remove the file, and a new one is made");
		return TFP_BAD_INPUT;
	}
	memcpy(token, text, size + 1);
	return TFP_OK;
}

enum tfp_status tfp_token_file(const char *path, char token[TFP_TOKEN_MAX + 1], bool *made,
			       struct tfp_error *err)
{
	*made = false;
	/* Not blocking: the file may be a pipe. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		*made = true;
		return make_file(path, token, err);
	}
	if (fd < 0)
		return cannot("open", path, err);
	enum tfp_status status = read_line(fd, path, token, err);
	close(fd);
	return status;
}

bool tfp_token_same(const char *text, size_t size, const char *secret)
{
	size_t n = strlen(secret);
	/* Volatile, so that no compiler leaves the loop early. */
	volatile unsigned char different = size != n;
	for (size_t i = 0; i < n; i++)
		different |= (unsigned char)(secret[i] ^ (i < size ? text[i] : 0));
	return !different;
}
