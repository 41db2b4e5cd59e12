/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a capture: opened, walked whole, summed up. */
#include "fuzz.h"
#include "store/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_capture *capture;
	struct tfp_error err;
	if (tfp_capture_from_bytes(&capture, data, size, "fuzz", NULL, &err) != TFP_OK) {
		fuzz_check_error(&err, size);
		MUST(err.offset != TFP_NO_OFFSET);
		return 0;
	}
	fuzz_walk_capture(capture);
	fuzz_summarise(capture);
	tfp_capture_unref(capture);
	return 0;
}
