/* SPDX-License-Identifier: Apache-2.0 */
#include "store/codec_heap.h"

#include "base/alloc.h"

static void *take(void *context, size_t size)
{
	(void)context;
	return tfp_malloc(size);
}

static void *take_items(void *context, unsigned count, unsigned size)
{
	size_t bytes;
	(void)context;
	return __builtin_mul_overflow((size_t)count, size, &bytes) ? NULL : tfp_malloc(bytes);
}

static void give(void *context, void *memory)
{
	(void)context;
	tfp_free(memory);
}

const ZSTD_customMem tfp_zstd_heap = {take, give, NULL};
const z_stream tfp_zlib_stream = {.zalloc = take_items, .zfree = give};
