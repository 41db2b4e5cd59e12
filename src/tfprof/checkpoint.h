/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint of TensorFlow: the names and shapes of its tensors, and the values of those that
 * somebody asks for. PREFIX.index is a sorted table (the format of LevelDB's), and
 * PREFIX.data-00000-of-00001 and its like hold the bytes. Both are read as if an enemy had
 * written them.
 */
#ifndef TFP_TFPROF_CHECKPOINT_H
#define TFP_TFPROF_CHECKPOINT_H

#include "base/buf.h"
#include "base/error.h"
#include "store/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_checkpoint;

struct tfp_tensor_entry {
	struct tfp_str name;
	int32_t type; /* DataType */
	int64_t *dims;
	size_t rank;
	int32_t shard;
	int64_t offset, size; /* bytes in the shard */
	uint32_t crc;         /* masked CRC32C of these */
	bool sliced;          /* it lies in pieces */
};

/* prefix: the path without ".index". */
enum tfp_status tfp_checkpoint_open(struct tfp_checkpoint **out, const char *prefix,
				    struct tfp_error *err) TFP_CHECK;
/* The index alone, from bytes; there are no data then. For tests. */
enum tfp_status tfp_checkpoint_from_bytes(struct tfp_checkpoint **out, const uint8_t *bytes,
					  size_t size, struct tfp_error *err) TFP_CHECK;
/* Accepts NULL. */
void tfp_checkpoint_free(struct tfp_checkpoint *c);

size_t tfp_checkpoint_count(const struct tfp_checkpoint *c);
const struct tfp_tensor_entry *tfp_checkpoint_entry(const struct tfp_checkpoint *c, size_t i);
const struct tfp_tensor_entry *tfp_checkpoint_find(const struct tfp_checkpoint *c,
						   struct tfp_str name);

/* Appends a tensor's values as the original shows them: "[1.00 2.00 ],\n", nested, cut after
 * 10,000 characters. Where there is nothing to show, why is told on standard error. */
void tfp_checkpoint_put_value(struct tfp_checkpoint *c, struct tfp_str name, struct tfp_buf *out);

#endif
