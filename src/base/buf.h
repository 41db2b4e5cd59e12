/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer with a ceiling.
 *
 * An append that fails (no memory, over the ceiling) marks the buffer as
 * failed and every later append does nothing, so that a writer checks once, at
 * the end, with tfp_buf_failed().
 *
 *     struct tfp_buf b;
 *     tfp_buf_init(&b, 64 << 20);
 *     tfp_buf_printf(&b, "%d rows", n);
 *     if (tfp_buf_failed(&b)) ...
 *     tfp_buf_release(&b);
 */
#ifndef TFP_BASE_BUF_H
#define TFP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfp_buf {
	char *data;  /* owned; NUL-terminated when size > 0 or after tfp_buf_text */
	size_t size; /* bytes used, without the terminator */
	size_t room; /* bytes allocated */
	size_t ceiling;
	bool failed;
};

/* ceiling: most bytes it may hold. */
void tfp_buf_init(struct tfp_buf *b, size_t ceiling);
/* Frees the bytes; the buffer may be initialised again. Accepts zeroed memory. */
void tfp_buf_release(struct tfp_buf *b);
/* Empties it and clears the failure; keeps the memory. */
void tfp_buf_clear(struct tfp_buf *b);

void tfp_buf_add(struct tfp_buf *b, const void *bytes, size_t size);
void tfp_buf_puts(struct tfp_buf *b, const char *text);
void tfp_buf_putc(struct tfp_buf *b, char c);
void tfp_buf_printf(struct tfp_buf *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Room for size more bytes at data + size, or NULL (and failed). The caller
 * writes them and adds to size what it used. */
char *tfp_buf_reserve(struct tfp_buf *b, size_t size);

bool tfp_buf_failed(const struct tfp_buf *b);
/* Whether both hold the same bytes. */
bool tfp_buf_equal(const struct tfp_buf *a, const struct tfp_buf *b);
/* The bytes as text, never NULL. Valid until the next change. */
const char *tfp_buf_text(struct tfp_buf *b);
/* Hands the bytes over (free with tfp_free) and leaves the buffer empty. */
char *tfp_buf_take(struct tfp_buf *b, size_t *size);

#endif
