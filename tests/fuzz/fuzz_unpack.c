/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a compressed file. An odd first byte makes it zstd, an even one
 * gzip; the rest is the file. */
#include "fuzz.h"
#include "store/unpack.h"

#include <sys/mman.h>
#include <unistd.h>

/* Small, so that bombs come into reach of short inputs. */
#define MAX_BYTES (UINT64_C(3) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfp_unpacked unpacked;
	struct tfp_error err;
	if (size == 0)
		return 0;
	enum tfp_compression compression = data[0] & 1 ? TFP_ZSTD : TFP_GZIP;
	int fd = memfd_create("fuzz", 0);
	MUST(fd >= 0);
	MUST(write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
	if (tfp_unpack(&unpacked, fd, "fuzz", compression, MAX_BYTES, NULL, &err) == TFP_OK) {
		/* Room doubles from 1 MiB on, so it can pass the limit once. */
		MUST(unpacked.size <= unpacked.room && unpacked.room <= 2 * MAX_BYTES);
		uint8_t sum = 0;
		for (size_t i = 0; i < unpacked.size; i++)
			sum ^= unpacked.data[i];
		volatile uint8_t read = sum;
		(void)read;
		tfp_unpacked_release(&unpacked);
	} else {
		fuzz_check_error(&err, size);
	}
	close(fd);
	return 0;
}
