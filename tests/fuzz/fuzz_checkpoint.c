/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a checkpoint: the index as it is, or (first byte odd) as the one block of an
 * index whose places and checksums are right. The same bytes are the data. */
#include "fuzz.h"

#include "base/buf.h"
#include "tfprof/checkpoint.h"
#include "tfprof/crc32c.h"
#include "wire/pb_writer.h"

#include <string.h>

static void put32(struct tfp_buf *out, uint32_t n)
{
	const uint8_t bytes[] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
				 (uint8_t)(n >> 24)};
	tfp_buf_add(out, bytes, sizeof(bytes));
}

/* Entries become a block; returns where it begins. */
static size_t put_block(struct tfp_buf *out, const void *entries, size_t size)
{
	size_t from = out->size;
	tfp_buf_add(out, entries, size);
	put32(out, 0);
	tfp_buf_putc(out, 0);
	put32(out, tfp_crc32c_masked(out->data + from, out->size - from));
	return from;
}

static void compose(struct tfp_buf *out, const uint8_t *data, size_t size)
{
	struct tfp_buf handle, entry;
	tfp_buf_init(&handle, 64);
	tfp_buf_init(&entry, 128);
	size_t at = put_block(out, data, size);
	tfp_pb_put_varint(&handle, at);
	tfp_pb_put_varint(&handle, size + 4);
	tfp_pb_put_varint(&entry, 0);
	tfp_pb_put_varint(&entry, 1);
	tfp_pb_put_varint(&entry, handle.size);
	tfp_buf_putc(&entry, '\xff');
	tfp_buf_add(&entry, handle.data, handle.size);
	at = put_block(out, entry.data, entry.size);
	size_t footer = out->size;
	tfp_pb_put_varint(out, 0);
	tfp_pb_put_varint(out, 0);
	tfp_pb_put_varint(out, at);
	tfp_pb_put_varint(out, entry.size + 4);
	while (out->size < footer + 40)
		tfp_buf_putc(out, 0);
	put32(out, 0x8b80fb57u);
	put32(out, 0xdb477524u);
	tfp_buf_release(&handle);
	tfp_buf_release(&entry);
}

static void read_all(const char *prefix, size_t size)
{
	struct tfp_checkpoint *checkpoint;
	struct tfp_error err;
	struct tfp_buf out;
	enum tfp_status status = tfp_checkpoint_open(&checkpoint, prefix, &err);
	if (status != TFP_OK) {
		MUST(status == TFP_BAD_INPUT || status == TFP_NO_MEMORY);
		fuzz_check_error(&err, size);
		return;
	}
	for (size_t i = 0; i < tfp_checkpoint_count(checkpoint); i++) {
		const struct tfp_tensor_entry *e = tfp_checkpoint_entry(checkpoint, i);
		MUST(tfp_checkpoint_find(checkpoint, e->name) == e);
		tfp_buf_init(&out, (size_t)1 << 20);
		if (i < 8)
			tfp_checkpoint_put_value(checkpoint, e->name, &out);
		MUST(!tfp_buf_failed(&out) && out.size < 20000);
		tfp_buf_release(&out);
	}
	tfp_checkpoint_free(checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_buf index;
	char prefix[300];
	if (size == 0)
		return 0;
	tfp_buf_init(&index, (size_t)1 << 24);
	if (data[0] & 1)
		compose(&index, data + 1, size - 1);
	else
		tfp_buf_add(&index, data + 1, size - 1);
	MUST(!tfp_buf_failed(&index));
	snprintf(prefix, sizeof(prefix), "%s/c", fuzz_folder());
	MUST(fuzz_write("c.index", index.data, index.size));
	MUST(fuzz_write("c.data-00000-of-00001", data, size));
	read_all(prefix, index.size);
	fuzz_empty_folder();
	tfp_buf_release(&index);
	return 0;
}
