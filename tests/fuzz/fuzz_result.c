/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of the result cache. */
#include "fuzz.h"
#include "store/result_cache.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_buf key = {.data = "fuzz", .size = 4}, out, file, again;
	/* Small, so that it comes into reach. */
	tfp_buf_init(&out, 1 << 20);
	if (tfp_result_decode(data, size, &key, &out)) {
		tfp_buf_init(&file, 1 << 22);
		tfp_buf_init(&again, 1 << 20);
		MUST(tfp_result_encode(&key, &out, &file));
		MUST(tfp_result_decode(file.data, file.size, &key, &again));
		MUST(again.size == out.size && memcmp(again.data, out.data, out.size) == 0);
		tfp_buf_release(&file);
		tfp_buf_release(&again);
	} else {
		MUST(out.size == 0);
	}
	tfp_buf_release(&out);
	return 0;
}
