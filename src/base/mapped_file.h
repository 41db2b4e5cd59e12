/* A file's bytes, read-only, mapped. */
#ifndef TFP_BASE_MAPPED_FILE_H
#define TFP_BASE_MAPPED_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tfp_mapped_file {
	const uint8_t *data; /* NULL when the file is empty */
	size_t size;
};

/* Maps the regular file behind fd (which stays open and the caller's). name
 * is for messages only. */
enum tfp_status tfp_mapped_file_open(struct tfp_mapped_file *out, int fd, const char *name,
				     struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_mapped_file_release(struct tfp_mapped_file *file);

#endif
