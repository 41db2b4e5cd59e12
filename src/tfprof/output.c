/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void clean(struct tfp_buf *text)
{
	for (size_t i = 0; i < text->size; i++) {
		unsigned char c = (unsigned char)text->data[i];
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			text->data[i] = '?';
	}
}

enum tfp_status tfp_print(struct tfp_buf *text, struct tfp_error *err)
{
	if (tfp_buf_failed(text))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the output");
	if (isatty(STDOUT_FILENO))
		clean(text);
	if ((fwrite(text->data, 1, text->size, stdout) != text->size || fflush(stdout) != 0) &&
	    errno != EPIPE)
		return tfp_fail(err, TFP_IO, "cannot write: %s", strerror(errno));
	return TFP_OK;
}

const char *tfp_errno_kind(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "Not found";
	case EACCES:
	case EPERM:
	case EROFS:
		return "Permission denied";
	case EISDIR:
	case ETXTBSY:
		return "Failed precondition";
	case EINVAL:
	case ENAMETOOLONG:
		return "Invalid argument";
	case ENOSPC:
	case EDQUOT:
	case EMFILE:
	case ENFILE:
	case EFBIG:
		return "Resource exhausted";
	default:
		return "Unknown";
	}
}

bool tfp_write_file(const char *path, const void *bytes, size_t size, char *reason,
		    size_t reason_size)
{
	FILE *file = fopen(path, "wbe");
	bool good = file && fwrite(bytes, 1, size, file) == size;
	int error = errno;
	if (file && fclose(file) != 0 && good) {
		error = errno;
		good = false;
	}
	if (!good)
		snprintf(reason, reason_size, "%s: %s; %s", tfp_errno_kind(error), path,
			 strerror(error));
	return good;
}
