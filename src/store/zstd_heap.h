/*
 * zstd's own memory from our heap, so that it is counted (base/budget.h): what a
 * file says decides how much it takes. For ZSTD_createDCtx_advanced and its like,
 * which only this header makes known.
 */
#ifndef TFP_STORE_ZSTD_HEAP_H
#define TFP_STORE_ZSTD_HEAP_H

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

extern const ZSTD_customMem tfp_zstd_heap;

#endif
