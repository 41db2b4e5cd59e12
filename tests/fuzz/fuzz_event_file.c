/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of events: as they are, or (first byte odd) as the contents of records
 * with right checksums, each of the length that its first two bytes say. */
#include "fuzz.h"

#include "base/buf.h"
#include "tfprof/crc32c.h"
#include "tfprof/event_file.h"

#include <string.h>

static void put32(struct tfp_buf *out, uint32_t n)
{
	const uint8_t bytes[] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
				 (uint8_t)(n >> 24)};
	tfp_buf_add(out, bytes, sizeof(bytes));
}

static void compose(struct tfp_buf *out, const uint8_t *data, size_t size)
{
	for (size_t at = 0; at + 2 <= size;) {
		size_t length = (size_t)data[at] | (size_t)data[at + 1] << 8;
		at += 2;
		length = length < size - at ? length : size - at;
		uint8_t head[8] = {(uint8_t)length, (uint8_t)(length >> 8)};
		tfp_buf_add(out, head, sizeof(head));
		put32(out, tfp_crc32c_masked(head, sizeof(head)));
		tfp_buf_add(out, data + at, length);
		put32(out, tfp_crc32c_masked(data + at, length));
		at += length;
	}
}

static bool lies_in(const void *part, size_t part_size, const void *all, size_t size)
{
	const char *from = part, *begin = all;
	return part_size == 0 || (from >= begin && from + part_size <= begin + size);
}

static void read_all(const void *data, size_t size)
{
	struct tfp_event_file f;
	struct tfp_error err;
	enum tfp_status status = tfp_event_file_read(&f, (struct tfp_span){data, size}, &err);
	if (status != TFP_OK) {
		MUST(status == TFP_BAD_INPUT);
		tfp_error_set_file(&err, "fuzz");
		fuzz_check_error(&err, size);
		return;
	}
	MUST(f.records > 0 && f.damaged_at <= size);
	MUST(!f.has_graph || lies_in(f.graph.data, f.graph.size, data, size));
	for (size_t i = 0; i < f.count; i++) {
		MUST(lies_in(f.runs[i].tag.data, f.runs[i].tag.size, data, size));
		MUST(lies_in(f.runs[i].metadata.data, f.runs[i].metadata.size, data, size));
	}
	tfp_event_file_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_buf file;
	if (size == 0)
		return 0;
	if (!(data[0] & 1)) {
		read_all(data + 1, size - 1);
		return 0;
	}
	tfp_buf_init(&file, (size_t)1 << 24);
	compose(&file, data + 1, size - 1);
	MUST(!tfp_buf_failed(&file));
	read_all(file.data, file.size);
	tfp_buf_release(&file);
	return 0;
}
