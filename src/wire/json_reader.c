/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_reader.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

/* Values, and a table for the first members of an object. */
#define VALUES 4096u

struct reading {
	const char *text;
	size_t size, at;
	bool refused;
	/* The reserve, for what is still asked for after a refusal. */
	char *reserve;
	size_t reserved, used;
};

static _Thread_local struct reading *current;

static void *take_reserve(struct reading *r, size_t size)
{
	const size_t step = alignof(max_align_t);
	if (size > r->reserved - r->used)
		return NULL;
	char *memory = r->reserve + r->used;
	size = (size + step - 1) / step * step;
	r->used = size < r->reserved - r->used ? r->used + size : r->reserved;
	return memory;
}

static void *take(size_t size)
{
	void *memory = tfp_malloc(size);
	if (memory || !current)
		return memory;
	current->refused = true;
	return take_reserve(current, size);
}

static void give(void *memory)
{
	const uintptr_t at = (uintptr_t)memory;
	const uintptr_t reserve = current ? (uintptr_t)current->reserve : 0;
	if (!current || at < reserve || at >= reserve + current->reserved)
		tfp_free(memory);
}

static void set_up(void)
{
	json_set_alloc_funcs(take, give);
}

/* One byte at a time, so that the text can end at any. */
static size_t next_byte(void *buffer, size_t room, void *context)
{
	struct reading *r = context;
	if (room == 0 || r->refused || r->at == r->size)
		return 0;
	*(char *)buffer = r->text[r->at++];
	return 1;
}

enum tfp_status tfp_json_read(const char *text, size_t size, size_t flags, json_t **out,
			      json_error_t *where, struct tfp_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct reading r = {.text = text, .size = size};
	pthread_once(&once, set_up);
	*out = NULL;
	/* A token grows to twice its size and is then copied; it is at most the whole text. */
	if (size <= (SIZE_MAX - VALUES) / 4) {
		r.reserved = 4 * size + VALUES;
		r.reserve = tfp_malloc(r.reserved);
	}
	if (!r.reserve)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to read JSON of %zu bytes", size);
	current = &r;
	json_t *json = json_load_callback(next_byte, &r, flags, where);
	if (r.refused) {
		json_decref(json);
		json = NULL;
	}
	current = NULL;
	tfp_free(r.reserve);
	if (r.refused)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory to read JSON of %zu bytes", size);
	*out = json;
	return TFP_OK;
}
