/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/format.h"

#include <inttypes.h>
#include <string.h>

void tfp_put_short_count(struct tfp_buf *out, int64_t n)
{
	if (n < 1000)
		tfp_buf_printf(out, "%" PRId64, n);
	else if (n < 1000000)
		tfp_buf_printf(out, "%.2fk", (double)n / 1e3);
	else if (n < 1000000000)
		tfp_buf_printf(out, "%.2fm", (double)n / 1e6);
	else
		tfp_buf_printf(out, "%.2fb", (double)n / 1e9);
}

void tfp_put_time(struct tfp_buf *out, int64_t us)
{
	if (us < 1000)
		tfp_buf_printf(out, "%" PRId64 "us", us);
	else if (us < 1000000)
		tfp_buf_printf(out, "%.2fms", (double)us / 1e3);
	else
		tfp_buf_printf(out, "%.2fsec", (double)us / 1e6);
}

void tfp_put_bytes(struct tfp_buf *out, int64_t bytes)
{
	if (bytes < 1000)
		tfp_buf_printf(out, "%" PRId64 "B", bytes);
	else if (bytes < 1000000)
		tfp_buf_printf(out, "%.2fKB", (double)bytes / 1e3);
	else
		tfp_buf_printf(out, "%.2fMB", (double)bytes / 1e6);
}

void tfp_put_amount(struct tfp_buf *out, enum tfp_amount amount, int64_t value)
{
	if (amount <= TFP_CPU_TIME)
		tfp_put_time(out, value);
	else if (amount <= TFP_OUTPUT_BYTES)
		tfp_put_bytes(out, value);
	else
		tfp_put_short_count(out, value);
}

void tfp_put_shape(struct tfp_buf *out, struct tfp_shape shape)
{
	for (size_t i = 0; i < shape.rank; i++)
		tfp_buf_printf(out, "%s%" PRId64, i ? "x" : "", shape.dims[i]);
}

void tfp_put_str(struct tfp_buf *out, struct tfp_str text)
{
	tfp_buf_add(out, text.data, text.size);
}

void tfp_pad_left(struct tfp_buf *out, size_t from, size_t width)
{
	size_t size = tfp_buf_failed(out) ? width : out->size - from;
	if (size >= width || !tfp_buf_reserve(out, width - size))
		return;
	memmove(out->data + from + width - size, out->data + from, size);
	memset(out->data + from, ' ', width - size);
	out->size += width - size;
}
