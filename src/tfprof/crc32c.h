/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli), as TensorFlow guards records and tables with it. */
#ifndef TFP_TFPROF_CRC32C_H
#define TFP_TFPROF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t tfp_crc32c(uint32_t crc, const void *bytes, size_t size);
/* As it is stored: turned by 15 bits, and a constant added. */
uint32_t tfp_crc32c_masked(const void *bytes, size_t size);

#endif
