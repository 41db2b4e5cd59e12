/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a function that can fail says so.
 *
 * A fallible function returns enum tfp_status and takes a struct tfp_error *
 * as its last argument. The deepest frame that knows what happened writes the
 * message with tfp_fail(); callers pass the status on, and may add what they
 * know with tfp_error_set_file() and its like.
 *
 *     if (size > limit)
 *             return tfp_fail(err, TFP_TOO_LARGE, "%zu bytes, at most %zu", size, limit);
 */
#ifndef TFP_BASE_ERROR_H
#define TFP_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

enum tfp_status {
	TFP_OK = 0,
	TFP_NO_MEMORY,      /* the heap, or a ceiling that stands for it, is exhausted */
	TFP_BAD_INPUT,      /* bytes that are not what they should be */
	TFP_BAD_QUERY,      /* the caller asked for something that makes no sense */
	TFP_NOT_FOUND,      /* no such run, host, file or tool */
	TFP_NOT_APPLICABLE, /* the tool has nothing to show for this capture */
	TFP_UNAUTHORIZED,   /* the client has not shown who it is */
	TFP_FORBIDDEN,      /* the program's options do not allow it */
	TFP_BUSY,           /* later, perhaps */
	TFP_CHANGING,       /* a file that somebody is still writing */
	TFP_UNAVAILABLE,    /* the log directory is not there, for now */
	TFP_TOO_MANY,       /* more of it at a time than is taken on */
	TFP_CANCELLED,      /* nobody wants it any more */
	TFP_IO,             /* the operating system said no */
	TFP_TOO_LARGE,      /* over a limit of ours */
	TFP_INTERNAL,       /* a defect of ours */
	TFP_STATUS_COUNT
};

#define TFP_NO_OFFSET UINT64_MAX

/* Caller's memory; zeroed by tfp_error_init, which is optional before a first
 * tfp_fail. All text is UTF-8 and NUL-terminated, cut to fit. */
struct tfp_error {
	enum tfp_status status;
	uint64_t offset;   /* byte in the file, or TFP_NO_OFFSET */
	char file[512];    /* file that it is about, or "" */
	char message[768]; /* what happened */
	char hint[768];    /* what to do, or "" */
};

#define TFP_CHECK __attribute__((warn_unused_result))

void tfp_error_init(struct tfp_error *err);

/* Writes code and message, forgets file, offset and hint, and returns the
 * code. err may be NULL: then only the code is passed on. */
enum tfp_status tfp_fail(struct tfp_error *err, enum tfp_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Add to an error that has been written: the file it is about (kept if one is
 * known already), the byte, and what the user can do. All accept err == NULL. */
void tfp_error_set_file(struct tfp_error *err, const char *file);
void tfp_error_set_offset(struct tfp_error *err, uint64_t offset);
void tfp_error_set_hint(struct tfp_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The stable word of a code for machines: "bad_input", "not_found", ... */
const char *tfp_status_name(enum tfp_status status);

/* One line for a person: "FILE: at byte N: MESSAGE; HINT". Always terminates;
 * returns out. */
const char *tfp_error_text(const struct tfp_error *err, char *out, size_t size);

#endif
