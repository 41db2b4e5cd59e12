/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file that may be compressed: mapped as they are, or unpacked
 * into anonymous memory.
 */
#ifndef TFP_STORE_UNPACK_H
#define TFP_STORE_UNPACK_H

#include "base/error.h"
#include "base/mapped_file.h"
#include "store/logdir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_unpacked {
	const uint8_t *data; /* NULL when there is not a byte */
	size_t size;
	size_t room;     /* of anonymous memory; 0 when the file itself is mapped */
	size_t reserved; /* addresses from data on that are ours, room included */
	bool packed;     /* the file is compressed */
	bool truncated;  /* the compressed data ends early; data is what came out */
	struct tfp_mapped_file file;
};

/* For a reader of a compressed file's first bytes while more are unpacked. */
struct tfp_unpack_watch {
	/* data stays where it is until tfp_unpacked_release. */
	void (*arrived)(void *context, const uint8_t *data, size_t size);
	/* It will not come to an end: when this returns, data is gone. */
	void (*failed)(void *context);
	void *context;
};

/* More than a capture can be: protobuf writes no message of 2 GiB. */
#define TFP_UNPACK_MAX (UINT64_C(1) << 31)

/* Reads the file behind fd, which stays the caller's. max_bytes, or TFP_UNPACK_MAX if that is
 * less, bounds what a compressed file may grow to: TFP_TOO_LARGE beyond. What it grows to is
 * counted (base/budget.h), so that it may be refused before: TFP_NO_MEMORY. Compressed data that
 * is damaged before its first byte came out is TFP_BAD_INPUT. The bytes of a compressed file count
 * as the current job's (base/progress.h) while they are unpacked. watch may be NULL; it is called
 * in this thread. */
enum tfp_status tfp_unpack(struct tfp_unpacked *out, int fd, const char *name,
			   enum tfp_compression compression, uint64_t max_bytes,
			   const struct tfp_unpack_watch *watch, struct tfp_error *err) TFP_CHECK;
/* As tfp_mapped_file_was_cut. A compressed file that is cut while it is unpacked
 * fails to unpack. */
bool tfp_unpacked_was_cut(const struct tfp_unpacked *u);
/* Accepts zeroed memory. */
void tfp_unpacked_release(struct tfp_unpacked *u);

#endif
