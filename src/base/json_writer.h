/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, written as it comes: documents and tables alike.
 *
 *     struct tfp_json j;
 *     tfp_json_init(&j, &out);
 *     tfp_json_begin_object(&j);
 *     tfp_json_set_string(&j, "run", name);
 *     tfp_json_begin_array_of(&j, "sizes");
 *     tfp_json_add_integer(&j, 126);
 *     tfp_json_end_array(&j);
 *     tfp_json_end_object(&j);
 *     status = tfp_json_finish(&j, &err);
 *
 * Commas and quotes are the writer's business. It writes no blanks. A function add_x writes a
 * value: into an array, behind tfp_json_key, or as the document. A function set_x writes a
 * member of an object, key and value.
 *
 * Nesting is checked. A call out of place (a value without a key in an object, the end of what
 * was not begun) is a programmer's error. It marks the buffer as failed, so that nobody gets a
 * document that cannot be read. So does a depth of more than TFP_JSON_DEPTH.
 */
#ifndef TFP_BASE_JSON_WRITER_H
#define TFP_BASE_JSON_WRITER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TFP_JSON_DEPTH 512u

/* The fields are the writer's own. A caller may take what the buffer has (to send it, say) and
 * clear it between two calls. */
struct tfp_json {
	struct tfp_buf *out; /* the caller's */
	/* Bit n: what is open at depth n + 1 is an object, else an array. */
	uint64_t objects[TFP_JSON_DEPTH / 64];
	unsigned depth;
	bool any;      /* something stands before, at this depth */
	bool has_key;  /* a key waits for its value */
	bool new_line; /* what comes next begins a line */
};

/* Appends to out, which must outlive the writer. There is nothing to release. */
void tfp_json_init(struct tfp_json *j, struct tfp_buf *out);
/* At the end. TFP_NO_MEMORY when the buffer failed, or something is still open. */
enum tfp_status tfp_json_finish(const struct tfp_json *j, struct tfp_error *err);

void tfp_json_begin_object(struct tfp_json *j);
void tfp_json_end_object(struct tfp_json *j);
void tfp_json_begin_array(struct tfp_json *j);
void tfp_json_end_array(struct tfp_json *j);
/* The same as the value of a key. */
void tfp_json_begin_object_of(struct tfp_json *j, const char *key);
void tfp_json_begin_array_of(struct tfp_json *j, const char *key);

/* Keys may hold any bytes, as texts may. */
void tfp_json_key(struct tfp_json *j, const char *key);
void tfp_json_key_text(struct tfp_json *j, const char *key, size_t size);

/* ---- values ---- */

void tfp_json_add_null(struct tfp_json *j);
void tfp_json_add_boolean(struct tfp_json *j, bool value);
void tfp_json_add_integer(struct tfp_json *j, int64_t value);
void tfp_json_add_count(struct tfp_json *j, uint64_t value);
/* A double as XProf's tables have it: the fewest digits that read back the same, ".0" for whole
 * numbers, an exponent outside 1e-4..1e15. What is not finite becomes null. */
void tfp_json_add_number(struct tfp_json *j, double value);
/* A double as protobuf prints it: the same, but whole numbers without ".0", and what is not
 * finite as "NaN", "Infinity" or "-Infinity". */
void tfp_json_add_double(struct tfp_json *j, double value);
/* Any bytes, repaired to UTF-8. */
void tfp_json_add_text(struct tfp_json *j, const char *text, size_t size);
/* The same, up to a zero byte. NULL becomes null. */
void tfp_json_add_string(struct tfp_json *j, const char *text);
/* A string made as by printf, of at most 255 bytes. Longer ones fail. */
void tfp_json_add_format(struct tfp_json *j, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A value that is JSON already. Size 0 stands for a value that the caller has written to where
 * the buffer goes. */
void tfp_json_add_raw(struct tfp_json *j, const char *json, size_t size);

/* ---- members ---- */

void tfp_json_set_null(struct tfp_json *j, const char *key);
void tfp_json_set_boolean(struct tfp_json *j, const char *key, bool value);
void tfp_json_set_integer(struct tfp_json *j, const char *key, int64_t value);
void tfp_json_set_count(struct tfp_json *j, const char *key, uint64_t value);
void tfp_json_set_number(struct tfp_json *j, const char *key, double value);
void tfp_json_set_text(struct tfp_json *j, const char *key, const char *text, size_t size);
void tfp_json_set_string(struct tfp_json *j, const char *key, const char *text);
void tfp_json_set_format(struct tfp_json *j, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The next key, value or end begins a line, for documents that people open in an editor. */
void tfp_json_break_line(struct tfp_json *j);

#endif
