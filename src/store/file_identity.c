/* SPDX-License-Identifier: Apache-2.0 */
#include "store/file_identity.h"

#include "base/clock.h"
#include "base/hash.h"

/* It is hashed, and made a part of keys, as bytes. */
_Static_assert(sizeof(struct tfp_file_identity) == 4 * sizeof(uint64_t), "there is no padding");

struct tfp_file_identity tfp_file_identity_of(const struct stat *st)
{
	return (struct tfp_file_identity){
		.device = st->st_dev,
		.inode = st->st_ino,
		.bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0,
		.modified_ns = tfp_clock_file_ns(st->st_mtim),
	};
}

bool tfp_file_identity_same_file(const struct tfp_file_identity *a,
				 const struct tfp_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode;
}

bool tfp_file_identity_equal(const struct tfp_file_identity *a, const struct tfp_file_identity *b)
{
	return tfp_file_identity_same_file(a, b) && a->bytes == b->bytes &&
	       a->modified_ns == b->modified_ns;
}

uint64_t tfp_file_identity_hash(const struct tfp_file_identity *identity, uint64_t seed)
{
	return tfp_hash_bytes(identity, sizeof(*identity), seed);
}
