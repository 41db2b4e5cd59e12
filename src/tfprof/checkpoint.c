/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/checkpoint.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/mapped_file.h"
#include "tfprof/crc32c.h"
#include "tfprof/messages.h"
#include "wire/pb_cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOOTER_SIZE  48
#define TRAILER_SIZE 5 /* of a block: its compression, its checksum */
#define MAGIC        UINT64_C(0xdb4775248b80fb57)
#define ENTRIES_MAX  10000000u
#define KEY_MAX      ((size_t)1 << 20)
#define ARENA_MAX    ((size_t)1 << 32)
#define SHOWN_MAX    10000 /* characters of a value */
#define RANK_MAX     254
#define SHARDS_MAX   100000
#define DT_FLOAT     1
#define DT_DOUBLE    2
#define DT_INT32     3
#define DT_INT64     9

struct tfp_checkpoint {
	char *prefix; /* owned; NULL: there are no data */
	int64_t shards;
	bool big_endian;
	struct tfp_tensor_entry *entries; /* owned; by name */
	size_t count, room;
	struct tfp_arena arena;
};

/* ---- the table ---- */

struct block {
	const uint8_t *data;
	size_t size;
};

static uint32_t read32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static enum tfp_status damaged(struct tfp_error *err, const uint8_t *bytes, const uint8_t *at,
			       const char *what)
{
	tfp_fail(err, TFP_BAD_INPUT, "no index of a checkpoint: %s", what);
	tfp_error_set_offset(err, (uint64_t)(at - bytes));
	return TFP_BAD_INPUT;
}

/* A block's place is two varints. */
static enum tfp_status read_block(const uint8_t *bytes, size_t size, struct tfp_pb_cursor *handle,
				  struct block *block, struct tfp_error *err)
{
	const uint8_t *at = handle->at;
	uint64_t offset, length;
	if (!tfp_pb_varint(handle, &offset) || !tfp_pb_varint(handle, &length))
		return damaged(err, bytes, at, "the place of a block is cut");
	if (size < TRAILER_SIZE || offset > size - TRAILER_SIZE ||
	    length > size - TRAILER_SIZE - offset)
		return damaged(err, bytes, at, "a block is beyond the end");
	*block = (struct block){bytes + offset, (size_t)length};
	const uint8_t *trailer = block->data + length;
	if (tfp_crc32c_masked(block->data, block->size + 1) != read32(trailer + 1))
		return damaged(err, bytes, block->data, "the checksum of a block is wrong");
	if (trailer[0] != 0)
		return damaged(err, bytes, trailer,
			       "a block is compressed, which TensorFlow "
			       "does not do");
	return TFP_OK;
}

/* Calls take for each entry of a block: keys share their beginning with the one before. */
static enum tfp_status walk_block(const uint8_t *bytes, const struct block *block,
				  enum tfp_status (*take)(void *context, struct tfp_str key,
							  struct tfp_span value,
							  struct tfp_error *err),
				  void *context, struct tfp_error *err)
{
	struct tfp_buf key;
	enum tfp_status status = TFP_OK;
	uint32_t restarts = block->size >= 4 ? read32(block->data + block->size - 4) : UINT32_MAX;
	if (restarts > (block->size - 4) / 4)
		return damaged(err, bytes, block->data, "a block has no list of restarts");
	struct tfp_pb_cursor c = tfp_pb_cursor(block->data, block->size - 4 - 4 * (size_t)restarts);
	tfp_buf_init(&key, KEY_MAX);
	while (status == TFP_OK && c.at != c.end) {
		const uint8_t *at = c.at;
		uint64_t shared, own, length;
		if (!tfp_pb_varint(&c, &shared) || !tfp_pb_varint(&c, &own) ||
		    !tfp_pb_varint(&c, &length) || shared > key.size ||
		    own > (uint64_t)(c.end - c.at) || length > (uint64_t)(c.end - c.at) - own) {
			status = damaged(err, bytes, at, "an entry is cut");
			break;
		}
		key.size = (size_t)shared;
		tfp_buf_add(&key, c.at, (size_t)own);
		if (tfp_buf_failed(&key)) {
			status = damaged(err, bytes, at, "a name is too long");
			break;
		}
		const struct tfp_span value = {c.at + own, (size_t)length};
		c.at += own + length;
		status = take(context, (struct tfp_str){tfp_buf_text(&key), key.size}, value, err);
		if (status != TFP_OK)
			tfp_error_set_offset(err, (uint64_t)(at - bytes));
	}
	tfp_buf_release(&key);
	return status;
}

/* ---- entries ---- */

static bool read_dims(struct tfp_checkpoint *k, struct tfp_tensor_entry *e, struct tfp_span shape)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(shape.data, shape.size);
	int64_t dims[RANK_MAX];
	uint32_t tag;
	e->rank = 0;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_span dimension;
		if (tag != TFP_PB_TAG(2, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		if (!tfp_pb_bytes(&c, &dimension.data, &dimension.size) || e->rank == RANK_MAX ||
		    !tfp_dimension_read(dimension, &dims[e->rank++]))
			return false;
	}
	e->dims = tfp_arena_zalloc(&k->arena, e->rank, sizeof(*e->dims));
	if (e->dims)
		memcpy(e->dims, dims, e->rank * sizeof(*dims));
	return e->dims && !c.damage;
}

static bool read_entry(struct tfp_checkpoint *k, struct tfp_tensor_entry *e, struct tfp_span value)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(value.data, value.size);
	int64_t type = 0, shard = 0;
	bool good = true;
	uint32_t tag;
	while (good && tfp_pb_next(&c, &tag)) {
		struct tfp_span span;
		switch (tag) {
		case TFP_PB_TAG(1, TFP_PB_VARINT):
			tfp_pb_int64(&c, &type);
			break;
		case TFP_PB_TAG(2, TFP_PB_BYTES):
			if (tfp_pb_bytes(&c, &span.data, &span.size))
				good = read_dims(k, e, span);
			break;
		case TFP_PB_TAG(3, TFP_PB_VARINT):
			tfp_pb_int64(&c, &shard);
			break;
		case TFP_PB_TAG(4, TFP_PB_VARINT):
			tfp_pb_int64(&c, &e->offset);
			break;
		case TFP_PB_TAG(5, TFP_PB_VARINT):
			tfp_pb_int64(&c, &e->size);
			break;
		case TFP_PB_TAG(6, TFP_PB_FIXED32):
			if (c.end - c.at < 4)
				return false;
			e->crc = read32(c.at);
			c.at += 4;
			break;
		case TFP_PB_TAG(7, TFP_PB_BYTES):
			e->sliced = true;
			tfp_pb_skip(&c, tag);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	e->type = (int32_t)type;
	e->shard = (int32_t)shard;
	return good && !c.damage && shard >= 0 && shard < SHARDS_MAX;
}

static bool read_header(struct tfp_checkpoint *k, struct tfp_span value)
{
	struct tfp_pb_cursor c = tfp_pb_cursor(value.data, value.size);
	uint64_t order = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_VARINT))
			tfp_pb_int64(&c, &k->shards);
		else if (tag == TFP_PB_TAG(2, TFP_PB_VARINT))
			tfp_pb_varint(&c, &order);
		else
			tfp_pb_skip(&c, tag);
	}
	k->big_endian = order == 1;
	return !c.damage && k->shards >= 0 && k->shards <= SHARDS_MAX;
}

/* The entry without a name is the header; names with a zero in them are pieces of others. */
static enum tfp_status take_entry(void *context, struct tfp_str key, struct tfp_span value,
				  struct tfp_error *err)
{
	struct tfp_checkpoint *k = context;
	if (!key.size)
		return read_header(k, value) ? TFP_OK
					     : tfp_fail(err, TFP_BAD_INPUT,
							"the header of a checkpoint is damaged");
	if (key.data[0] == '\0')
		return TFP_OK;
	struct tfp_tensor_entry e = {
		.name = {tfp_arena_strndup(&k->arena, key.data, key.size), key.size}};
	if (k->count && tfp_str_compare(k->entries[k->count - 1].name, key) >= 0)
		return tfp_fail(err, TFP_BAD_INPUT, "the names of a checkpoint are not in order");
	if (!e.name.data || k->count == ENTRIES_MAX || !TFP_GROW(k->entries, k->count, k->room))
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the names of a checkpoint");
	if (!read_entry(k, &e, value))
		return tfp_fail(err, TFP_BAD_INPUT, "an entry of a checkpoint is damaged");
	k->entries[k->count++] = e;
	return TFP_OK;
}

struct walk {
	struct tfp_checkpoint *checkpoint;
	const uint8_t *bytes;
	size_t size;
};

static enum tfp_status take_block(void *context, struct tfp_str key, struct tfp_span value,
				  struct tfp_error *err)
{
	const struct walk *w = context;
	struct tfp_pb_cursor handle = tfp_pb_cursor(value.data, value.size);
	struct block block;
	(void)key;
	enum tfp_status status = read_block(w->bytes, w->size, &handle, &block, err);
	if (status == TFP_OK)
		status = walk_block(w->bytes, &block, take_entry, w->checkpoint, err);
	return status;
}

static enum tfp_status read_index(struct tfp_checkpoint *k, const uint8_t *bytes, size_t size,
				  struct tfp_error *err)
{
	struct walk w = {k, bytes, size};
	struct block index;
	if (size < FOOTER_SIZE)
		return damaged(err, bytes, bytes, "it is too short");
	const uint8_t *footer = bytes + size - FOOTER_SIZE;
	uint64_t magic = read32(footer + 40) | (uint64_t)read32(footer + 44) << 32;
	if (magic != MAGIC)
		return damaged(err, bytes, footer + 40, "the magic number at its end is another");
	struct tfp_pb_cursor handles = tfp_pb_cursor(footer, 40);
	/* The first is of an index of indexes, which is empty. */
	uint64_t ignored;
	if (!tfp_pb_varint(&handles, &ignored) || !tfp_pb_varint(&handles, &ignored))
		return damaged(err, bytes, footer, "the place of a block is cut");
	enum tfp_status status = read_block(bytes, size - FOOTER_SIZE, &handles, &index, err);
	if (status == TFP_OK)
		status = walk_block(bytes, &index, take_block, &w, err);
	return status;
}

enum tfp_status tfp_checkpoint_from_bytes(struct tfp_checkpoint **out, const uint8_t *bytes,
					  size_t size, struct tfp_error *err)
{
	struct tfp_checkpoint *k = tfp_calloc(1, sizeof(*k));
	*out = NULL;
	if (!k)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for a checkpoint");
	tfp_arena_init(&k->arena, ARENA_MAX);
	enum tfp_status status = read_index(k, bytes, size, err);
	if (status == TFP_OK)
		*out = k;
	else
		tfp_checkpoint_free(k);
	return status;
}

static enum tfp_status map(const char *path, struct tfp_mapped_file *file, struct tfp_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum tfp_status status = TFP_OK;
	if (fd < 0)
		status = tfp_fail(err, errno == ENOENT ? TFP_NOT_FOUND : TFP_IO, "%s",
				  strerror(errno));
	else
		status = tfp_mapped_file_open(file, fd, path, err);
	if (fd >= 0)
		close(fd);
	if (status != TFP_OK)
		tfp_error_set_file(err, path);
	return status;
}

enum tfp_status tfp_checkpoint_open(struct tfp_checkpoint **out, const char *prefix,
				    struct tfp_error *err)
{
	struct tfp_mapped_file file = {0};
	struct tfp_buf path;
	*out = NULL;
	tfp_buf_init(&path, KEY_MAX);
	tfp_buf_printf(&path, "%s.index", prefix);
	enum tfp_status status = tfp_buf_failed(&path)
					 ? tfp_fail(err, TFP_NO_MEMORY, "the path is too long")
					 : map(tfp_buf_text(&path), &file, err);
	if (status == TFP_OK) {
		status = tfp_checkpoint_from_bytes(out, file.data, file.size, err);
		if (status != TFP_OK)
			tfp_error_set_file(err, tfp_buf_text(&path));
		tfp_mapped_file_release(&file);
	}
	tfp_buf_release(&path);
	if (status == TFP_OK) {
		(*out)->prefix = tfp_strdup(prefix);
		if (!(*out)->prefix) {
			tfp_checkpoint_free(*out);
			*out = NULL;
			status = tfp_fail(err, TFP_NO_MEMORY, "no memory for a checkpoint");
		}
	}
	return status;
}

void tfp_checkpoint_free(struct tfp_checkpoint *c)
{
	if (!c)
		return;
	tfp_free(c->prefix);
	tfp_free(c->entries);
	tfp_arena_release(&c->arena);
	tfp_free(c);
}

size_t tfp_checkpoint_count(const struct tfp_checkpoint *c)
{
	return c->count;
}

const struct tfp_tensor_entry *tfp_checkpoint_entry(const struct tfp_checkpoint *c, size_t i)
{
	return &c->entries[i];
}

const struct tfp_tensor_entry *tfp_checkpoint_find(const struct tfp_checkpoint *c,
						   struct tfp_str name)
{
	size_t from = 0, to = c->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (tfp_str_compare(c->entries[middle].name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < c->count && tfp_str_compare(c->entries[from].name, name) == 0)
		return &c->entries[from];
	return NULL;
}

/* ---- values ---- */

/* Elements; false when they are too many for any file. */
static bool elements_of(const struct tfp_tensor_entry *e, uint64_t *count)
{
	*count = 1;
	for (size_t i = 0; i < e->rank; i++) {
		if (e->dims[i] < 0 || __builtin_mul_overflow(*count, (uint64_t)e->dims[i], count))
			return false;
	}
	return true;
}

static size_t size_of(int32_t type)
{
	switch (type) {
	case DT_FLOAT:
	case DT_INT32:
		return 4;
	case DT_DOUBLE:
	case DT_INT64:
		return 8;
	default:
		return 0;
	}
}

struct writer {
	const struct tfp_tensor_entry *entry;
	const uint8_t *bytes;
	uint64_t at; /* element */
	struct tfp_buf text;
};

/* A float goes through six significant digits before it is rounded to two behind the point. */
static void put_double(struct tfp_buf *out, double value)
{
	char digits[40];
	snprintf(digits, sizeof(digits), "%g", value);
	tfp_buf_printf(out, "%.2f ", strtod(digits, NULL));
}

static void put_element(struct writer *w)
{
	const uint8_t *at = w->bytes + w->at++ * size_of(w->entry->type);
	int64_t long_value;
	int32_t int_value;
	double double_value;
	float float_value;
	switch (w->entry->type) {
	case DT_FLOAT:
		memcpy(&float_value, at, sizeof(float_value));
		put_double(&w->text, (double)float_value);
		break;
	case DT_DOUBLE:
		memcpy(&double_value, at, sizeof(double_value));
		put_double(&w->text, double_value);
		break;
	case DT_INT32:
		memcpy(&int_value, at, sizeof(int_value));
		tfp_buf_printf(&w->text, "%" PRId32 " ", int_value);
		break;
	default:
		memcpy(&long_value, at, sizeof(long_value));
		tfp_buf_printf(&w->text, "%" PRId64 " ", long_value);
	}
}

/* The end of a list. What is longer than is shown is cut there, and then no list behind it is
 * seen: false. */
static bool close_list(struct writer *w)
{
	bool more = w->text.size <= SHOWN_MAX;
	if (!more)
		w->text.size = SHOWN_MAX;
	tfp_buf_puts(&w->text, "],\n");
	return more;
}

/* Lists inside lists, without recursion. */
static void put_elements(struct writer *w)
{
	const struct tfp_tensor_entry *e = w->entry;
	int64_t next[RANK_MAX] = {0};
	size_t depth = 0;
	tfp_buf_putc(&w->text, '[');
	if (e->rank == 0) {
		put_element(w);
		close_list(w);
		return;
	}
	for (;;) {
		if (depth + 1 == e->rank) {
			for (int64_t i = 0; i < e->dims[depth] && w->text.size <= SHOWN_MAX; i++)
				put_element(w);
		} else if (next[depth] < e->dims[depth]) {
			next[depth++]++;
			next[depth] = 0;
			tfp_buf_putc(&w->text, '[');
			continue;
		}
		if (!close_list(w) || depth == 0)
			return;
		depth--;
	}
}

/* The bytes of a tensor, checked; file is to be released. */
static enum tfp_status map_tensor(const struct tfp_checkpoint *c, const struct tfp_tensor_entry *e,
				  struct tfp_mapped_file *file, struct tfp_error *err)
{
	struct tfp_buf path;
	uint64_t elements;
	if (!c->prefix || c->big_endian || e->sliced)
		return tfp_fail(err, TFP_BAD_INPUT,
				"its values are not stored in a way that can "
				"be read here");
	if (!size_of(e->type))
		return tfp_fail(err, TFP_BAD_INPUT, "Not Supported type %" PRId32, e->type);
	if (!elements_of(e, &elements) || e->size < 0 || e->offset < 0 ||
	    elements > (uint64_t)e->size / size_of(e->type) ||
	    elements * size_of(e->type) != (uint64_t)e->size)
		return tfp_fail(err, TFP_BAD_INPUT, "its shape does not fit the bytes that it has");
	tfp_buf_init(&path, KEY_MAX);
	tfp_buf_printf(&path, "%s.data-%05" PRId32 "-of-%05" PRId64, c->prefix, e->shard,
		       c->shards);
	enum tfp_status status = tfp_buf_failed(&path)
					 ? tfp_fail(err, TFP_NO_MEMORY, "the path is too long")
					 : map(tfp_buf_text(&path), file, err);
	if (status == TFP_OK && ((uint64_t)e->offset > file->size ||
				 (uint64_t)e->size > file->size - (uint64_t)e->offset))
		status = tfp_fail(err, TFP_BAD_INPUT, "its bytes are beyond the end of the file");
	if (status == TFP_OK &&
	    tfp_crc32c_masked(file->data + e->offset, (size_t)e->size) != e->crc)
		status = tfp_fail(err, TFP_BAD_INPUT, "the checksum of its bytes is wrong");
	if (status != TFP_OK)
		tfp_error_set_file(err, tfp_buf_text(&path));
	tfp_buf_release(&path);
	return status;
}

void tfp_checkpoint_put_value(struct tfp_checkpoint *c, struct tfp_str name, struct tfp_buf *out)
{
	const struct tfp_tensor_entry *e = tfp_checkpoint_find(c, name);
	struct tfp_mapped_file file = {0};
	struct tfp_error err;
	char text[1500];
	int shown = (int)(name.size < 500 ? name.size : 500);
	if (!e) {
		fprintf(stderr, "Key %.*s not found in checkpoint\n", shown, name.data);
		return;
	}
	if (map_tensor(c, e, &file, &err) != TFP_OK) {
		fprintf(stderr, "%.*s: %s\n", shown, name.data,
			tfp_error_text(&err, text, sizeof(text)));
		tfp_mapped_file_release(&file);
		return;
	}
	struct writer w = {.entry = e, .bytes = file.data + e->offset};
	/* A list may end as often as there are elements. */
	tfp_buf_init(&w.text, (size_t)SHOWN_MAX * 4);
	put_elements(&w);
	if (w.text.size >= SHOWN_MAX)
		tfp_buf_puts(&w.text, "...omitted from display\n\n");
	if (tfp_mapped_file_was_cut(&file))
		fprintf(stderr, "%.*s: the file was cut meanwhile\n", shown, name.data);
	else
		tfp_buf_add(out, w.text.data, w.text.size);
	out->failed |= tfp_buf_failed(&w.text);
	tfp_buf_release(&w.text);
	tfp_mapped_file_release(&file);
}
