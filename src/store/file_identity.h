/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells one state of a file from another without reading it: which file it is, its
 * size, and when it was changed.
 */
#ifndef TFP_STORE_FILE_IDENTITY_H
#define TFP_STORE_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct tfp_file_identity {
	uint64_t device, inode;
	uint64_t bytes;
	int64_t modified_ns; /* since 1970 */
};

struct tfp_file_identity tfp_file_identity_of(const struct stat *st);
/* Whether both are the same state of the same file. */
bool tfp_file_identity_equal(const struct tfp_file_identity *a, const struct tfp_file_identity *b);
/* Whether both are the same file, in whatever state. */
bool tfp_file_identity_same_file(const struct tfp_file_identity *a,
				 const struct tfp_file_identity *b);
/* A hash of the state, further to seed. */
uint64_t tfp_file_identity_hash(const struct tfp_file_identity *identity, uint64_t seed);

#endif
