/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[TFP_STATUS_COUNT] = {
	[TFP_OK] = "ok",
	[TFP_NO_MEMORY] = "no_memory",
	[TFP_BAD_INPUT] = "bad_input",
	[TFP_BAD_QUERY] = "bad_query",
	[TFP_NOT_FOUND] = "not_found",
	[TFP_NOT_APPLICABLE] = "not_applicable",
	[TFP_UNAUTHORIZED] = "unauthorized",
	[TFP_FORBIDDEN] = "forbidden",
	[TFP_BUSY] = "busy",
	[TFP_CHANGING] = "changing",
	[TFP_UNAVAILABLE] = "unavailable",
	[TFP_TOO_MANY] = "too_many",
	[TFP_CANCELLED] = "cancelled",
	[TFP_IO] = "io",
	[TFP_TOO_LARGE] = "too_large",
	[TFP_INTERNAL] = "internal",
};

void tfp_error_init(struct tfp_error *err)
{
	err->status = TFP_OK;
	err->offset = TFP_NO_OFFSET;
	err->file[0] = err->message[0] = err->hint[0] = '\0';
}

enum tfp_status tfp_fail(struct tfp_error *err, enum tfp_status status, const char *format, ...)
{
	if (err) {
		va_list args;
		tfp_error_init(err);
		err->status = status;
		va_start(args, format);
		vsnprintf(err->message, sizeof(err->message), format, args);
		va_end(args);
	}
	return status;
}

void tfp_error_set_file(struct tfp_error *err, const char *file)
{
	if (err && !err->file[0])
		snprintf(err->file, sizeof(err->file), "%s", file);
}

void tfp_error_set_offset(struct tfp_error *err, uint64_t offset)
{
	if (err)
		err->offset = offset;
}

void tfp_error_set_hint(struct tfp_error *err, const char *format, ...)
{
	if (err) {
		va_list args;
		va_start(args, format);
		vsnprintf(err->hint, sizeof(err->hint), format, args);
		va_end(args);
	}
}

const char *tfp_status_name(enum tfp_status status)
{
	if ((unsigned)status >= TFP_STATUS_COUNT)
		return "internal";
	return names[status];
}

const char *tfp_error_text(const struct tfp_error *err, char *out, size_t size)
{
	char where[32] = "";
	if (err->offset != TFP_NO_OFFSET)
		snprintf(where, sizeof(where), "at byte %" PRIu64 ": ", err->offset);
	snprintf(out, size, "%s%s%s%s%s%s", err->file, err->file[0] ? ": " : "", where,
		 err->message, err->hint[0] ? "; " : "", err->hint);
	return out;
}
