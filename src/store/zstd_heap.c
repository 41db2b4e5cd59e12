#include "store/zstd_heap.h"

#include "base/alloc.h"

static void *take(void *context, size_t size)
{
	(void)context;
	return tfp_malloc(size);
}

static void give(void *context, void *memory)
{
	(void)context;
	tfp_free(memory);
}

const ZSTD_customMem tfp_zstd_heap = {take, give, NULL};
