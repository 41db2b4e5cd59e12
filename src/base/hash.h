/* SPDX-License-Identifier: Apache-2.0 */
/* A fast 64-bit hash of bytes for tables in memory. Not for secrets; the
 * value may change between versions, so on disk it is good for the build that wrote
 * it only. */
#ifndef TFP_BASE_HASH_H
#define TFP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t tfp_hash_bytes(const void *bytes, size_t size, uint64_t seed);
/* Mixes one number. */
uint64_t tfp_hash_u64(uint64_t value);

#endif
