/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of zstd and zlib from our heap, so that it is counted (base/budget.h). A
 * file can decide how much zstd takes.
 */
#ifndef TFP_STORE_CODEC_HEAP_H
#define TFP_STORE_CODEC_HEAP_H

/* For ZSTD_createDCtx_advanced and its like. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* For ZSTD_createCCtx_advanced and ZSTD_createDCtx_advanced. */
extern const ZSTD_customMem tfp_zstd_heap;

/* A z_stream to begin with, in place of one of zeros. */
extern const z_stream tfp_zlib_stream;

#endif
