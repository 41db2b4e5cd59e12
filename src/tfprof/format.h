/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the original prints them. */
#ifndef TFP_TFPROF_FORMAT_H
#define TFP_TFPROF_FORMAT_H

#include "base/buf.h"
#include "tfprof/profile.h"

#include <stdint.h>

/* 999, 1.00k, 2.50m, 3.00b */
void tfp_put_short_count(struct tfp_buf *out, int64_t n);
/* 999us, 1.00ms, 2.50sec */
void tfp_put_time(struct tfp_buf *out, int64_t us);
/* 999B, 1.00KB, 2.50MB: thousands, and never more than MB */
void tfp_put_bytes(struct tfp_buf *out, int64_t bytes);
/* An amount in its unit, one of the three above; parameters and flops without their word. */
void tfp_put_amount(struct tfp_buf *out, enum tfp_amount amount, int64_t value);
/* 3x4 */
void tfp_put_shape(struct tfp_buf *out, struct tfp_shape shape);
void tfp_put_str(struct tfp_buf *out, struct tfp_str text);
/* What was written from `from` on, moved to the right of a column of that width. */
void tfp_pad_left(struct tfp_buf *out, size_t from, size_t width);

#endif
