/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tfp_buf_init(struct tfp_buf *b, size_t ceiling)
{
	*b = (struct tfp_buf){.ceiling = ceiling};
}

void tfp_buf_release(struct tfp_buf *b)
{
	tfp_free(b->data);
	*b = (struct tfp_buf){.ceiling = b->ceiling};
}

void tfp_buf_clear(struct tfp_buf *b)
{
	b->size = 0;
	b->failed = false;
}

char *tfp_buf_reserve(struct tfp_buf *b, size_t size)
{
	if (b->failed)
		return NULL;
	if (size > b->ceiling || b->size > b->ceiling - size) {
		b->failed = true;
		return NULL;
	}
	/* One byte more than asked for: the terminator of tfp_buf_text. */
	size_t need = b->size + size + 1;
	if (need > b->room) {
		size_t room = b->room < 128 ? 128 : b->room;
		while (room < need)
			room = room > SIZE_MAX / 2 ? need : room * 2;
		if (room > b->ceiling + 1 && b->ceiling < SIZE_MAX)
			room = b->ceiling + 1;
		char *data = tfp_realloc(b->data, room);
		if (!data) {
			b->failed = true;
			return NULL;
		}
		b->data = data;
		b->room = room;
	}
	return b->data + b->size;
}

void tfp_buf_add(struct tfp_buf *b, const void *bytes, size_t size)
{
	char *to = tfp_buf_reserve(b, size);
	if (to && size) {
		memcpy(to, bytes, size);
		b->size += size;
	}
}

void tfp_buf_puts(struct tfp_buf *b, const char *text)
{
	tfp_buf_add(b, text, strlen(text));
}

void tfp_buf_putc(struct tfp_buf *b, char c)
{
	tfp_buf_add(b, &c, 1);
}

void tfp_buf_printf(struct tfp_buf *b, const char *format, ...)
{
	char small[256];
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (n < 0) {
		b->failed = true;
	} else if ((size_t)n < sizeof(small)) {
		tfp_buf_add(b, small, (size_t)n);
	} else {
		char *to = tfp_buf_reserve(b, (size_t)n);
		if (to) {
			vsnprintf(to, (size_t)n + 1, format, again);
			b->size += (size_t)n;
		}
	}
	va_end(again);
}

bool tfp_buf_failed(const struct tfp_buf *b)
{
	return b->failed;
}

bool tfp_buf_equal(const struct tfp_buf *a, const struct tfp_buf *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

const char *tfp_buf_text(struct tfp_buf *b)
{
	if (!b->data)
		return "";
	b->data[b->size] = '\0';
	return b->data;
}

char *tfp_buf_take(struct tfp_buf *b, size_t *size)
{
	if (b->data)
		b->data[b->size] = '\0';
	char *data = b->data;
	if (size)
		*size = b->size;
	*b = (struct tfp_buf){.ceiling = b->ceiling};
	return data;
}
