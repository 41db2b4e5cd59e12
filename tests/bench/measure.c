/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "base/clock.h"
#include "base/mapped_file.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- heap in use, counted by standing in for the C library's functions ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);

static atomic_llong heap, heap_peak;

static void count(long long bytes)
{
	long long now = atomic_fetch_add(&heap, bytes) + bytes, peak = atomic_load(&heap_peak);
	while (now > peak && !atomic_compare_exchange_weak(&heap_peak, &peak, now))
		;
}

static void *counted(void *memory)
{
	if (memory)
		count((long long)malloc_usable_size(memory));
	return memory;
}

void *malloc(size_t size)
{
	return counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return counted(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	long long before = old ? (long long)malloc_usable_size(old) : 0;
	void *memory = __libc_realloc(old, size);
	if (memory) {
		count(-before);
		counted(memory);
	}
	return memory;
}

void free(void *memory)
{
	if (memory)
		count(-(long long)malloc_usable_size(memory));
	__libc_free(memory);
}

/* ---- the bare scan ---- */

static uint64_t sum;
static volatile uint64_t kept; /* so that the compiler does not leave the scan out */

static const uint8_t *varint(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
	uint64_t v = 0;
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p++ < 0x80)
			break;
	}
	*value = v;
	return p;
}

/* Messages within messages, by what XSpace is: depth 0 its fields, 1 a plane's,
 * 2 a line's, 3 an event's, 4 a stat's. */
static void scan(const uint8_t *p, const uint8_t *end, int depth)
{
	static const uint32_t inside[] = {1, 3, 4, 4};
	while (p < end) {
		uint64_t tag, value;
		p = varint(p, end, &tag);
		switch (tag & 7) {
		case 0:
			p = varint(p, end, &value);
			sum += value;
			break;
		case 1:
			p = end - p < 8 ? end : p + 8;
			break;
		case 2:
			p = varint(p, end, &value);
			if (value > (uint64_t)(end - p))
				return;
			if (depth < 4 && tag >> 3 == inside[depth])
				scan(p, p + value, depth + 1);
			p += value;
			break;
		case 5:
			p = end - p < 4 ? end : p + 4;
			break;
		default:
			return;
		}
	}
}

double bench_bare_scan(const char *path)
{
	struct tfp_mapped_file file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || tfp_mapped_file_open(&file, fd, path, NULL) != TFP_OK) {
		perror(path);
		exit(1);
	}
	double size = (double)file.size;
	scan(file.data, file.data + file.size, 0);
	kept = sum;
	tfp_mapped_file_release(&file);
	close(fd);
	return size;
}

/* ---- measuring ---- */

double bench_best_ms(void (*what)(void *context), void *context, int runs)
{
	double best = 1e300;
	for (int i = 0; i < runs; i++) {
		int64_t start = tfp_clock_monotonic_ns();
		what(context);
		double ms = (double)(tfp_clock_monotonic_ns() - start) / 1e6;
		if (ms < best)
			best = ms;
	}
	return best;
}

double bench_peak_bytes(void (*what)(void *context), void *context)
{
	long long before = atomic_load(&heap);
	atomic_store(&heap_peak, before);
	what(context);
	return (double)(atomic_load(&heap_peak) - before);
}
