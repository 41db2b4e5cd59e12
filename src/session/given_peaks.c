/* SPDX-License-Identifier: Apache-2.0 */
#include "session/given_peaks.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX   ((size_t)1 << 20)
#define NUMBER_MAX 63

struct device {
	char type[sizeof(((struct tfp_run_env *)0)->device_type)];
	struct tfp_peaks peaks; /* 0: not given */
};

struct tfp_given_peaks {
	struct device *devices;
	size_t count, room;
	uint64_t stamp;
};

/* A key, and the peaks that it is for. */
static const struct {
	const char *name;
	enum tfp_peak first, last;
} memories[] = {
	{"hbm_gbs", TFP_PEAK_HBM, TFP_PEAK_HBM},
	{"sram_gbs", TFP_PEAK_SRAM_READ, TFP_PEAK_SRAM_WRITE},
	{"cmem_gbs", TFP_PEAK_CMEM_READ, TFP_PEAK_CMEM_WRITE},
	{"vmem_gbs", TFP_PEAK_VMEM_READ, TFP_PEAK_VMEM_WRITE},
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct tfp_str trim(struct tfp_str s)
{
	while (s.size && is_blank(s.data[0])) {
		s.data++;
		s.size--;
	}
	while (s.size && is_blank(s.data[s.size - 1]))
		s.size--;
	return s;
}

/* A text for a fixed array; false when it is too long or holds what no name holds. */
static bool copy_text(struct tfp_str s, char *out, size_t size)
{
	if (s.size == 0 || s.size >= size)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		if (s.data[i] < 0x20 || s.data[i] > 0x7e)
			return false;
	}
	memcpy(out, s.data, s.size);
	out[s.size] = '\0';
	return true;
}

static bool read_number(struct tfp_str s, double *out)
{
	char text[NUMBER_MAX + 1], *end;
	if (!copy_text(s, text, sizeof(text)) || strspn(text, "0123456789.eE+-") != s.size)
		return false;
	*out = strtod(text, &end);
	return *end == '\0' && isfinite(*out) && *out > 0;
}

/* What is wrong with a line, or NULL. *no_memory is set for want of it. */
static const char *read_line(struct tfp_given_peaks *given, struct tfp_str line, bool *no_memory)
{
	double number;
	line = trim(line);
	if (line.size == 0 || line.data[0] == '#' || line.data[0] == ';')
		return NULL;
	if (line.data[0] == '[') {
		struct tfp_str type = {line.data + 1, line.size - 1};
		if (line.data[line.size - 1] != ']' || line.size < 3)
			return "a device is [its type]";
		type.size--;
		if (!TFP_GROW(given->devices, given->count, given->room)) {
			*no_memory = true;
			return "no memory";
		}
		struct device *d = &given->devices[given->count];
		*d = (struct device){0};
		if (!copy_text(trim(type), d->type, sizeof(d->type)))
			return "no device has such a type";
		given->count++;
		return NULL;
	}
	const char *equals = memchr(line.data, '=', line.size);
	if (!equals)
		return "neither [a device] nor KEY = VALUE";
	if (given->count == 0)
		return "before the first [device]";
	size_t before = (size_t)(equals - line.data);
	struct tfp_str key = trim((struct tfp_str){line.data, before});
	struct tfp_str value = trim((struct tfp_str){equals + 1, line.size - before - 1});
	struct tfp_peaks *peaks = &given->devices[given->count - 1].peaks;
	if (tfp_str_equal(key, "source"))
		return copy_text(value, peaks->source, sizeof(peaks->source))
			       ? NULL
			       : "source is a text of up to 159 letters of ASCII";
	if (!read_number(value, &number))
		return "a peak is a number above 0";
	if (tfp_str_equal(key, "tflops")) {
		peaks->teraflops = number;
		return NULL;
	}
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		if (!tfp_str_equal(key, memories[i].name))
			continue;
		for (int p = memories[i].first; p <= (int)memories[i].last; p++)
			peaks->gigabytes_per_second[p] = number;
		return NULL;
	}
	return "the keys are tflops, hbm_gbs, sram_gbs, cmem_gbs, vmem_gbs and source";
}

enum tfp_status tfp_given_peaks_parse(struct tfp_given_peaks **out, struct tfp_str text,
				      const char *name, struct tfp_error *err)
{
	struct tfp_given_peaks *given = tfp_calloc(1, sizeof(*given));
	const char *problem = NULL;
	bool no_memory = given == NULL;
	size_t number = 0;
	*out = NULL;
	if (given)
		given->stamp = tfp_hash_bytes(text.data, text.size, 1) | 1;
	while (given && !problem && text.size) {
		const char *newline = memchr(text.data, '\n', text.size);
		struct tfp_str line = {text.data,
				       newline ? (size_t)(newline - text.data) : text.size};
		size_t taken = newline ? line.size + 1 : line.size;
		number++;
		problem = read_line(given, line, &no_memory);
		text = (struct tfp_str){text.data + taken, text.size - taken};
	}
	if (!problem && !no_memory) {
		*out = given;
		return TFP_OK;
	}
	tfp_given_peaks_free(given);
	if (no_memory)
		return tfp_fail(err, TFP_NO_MEMORY, "no memory for the peaks of devices");
	return tfp_fail(err, TFP_BAD_QUERY, "%s, line %zu: %s", name, number, problem);
}

enum tfp_status tfp_given_peaks_read(struct tfp_given_peaks **out, const char *path,
				     struct tfp_error *err)
{
	enum tfp_status status;
	*out = NULL;
	FILE *file = fopen(path, "re");
	if (!file)
		return tfp_fail(err, TFP_BAD_QUERY, "cannot read %s: %s", path, strerror(errno));
	char *text = tfp_malloc(FILE_MAX + 1);
	size_t size = text ? fread(text, 1, FILE_MAX + 1, file) : 0;
	if (!text)
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory to read %s", path);
	else if (ferror(file))
		status = tfp_fail(err, TFP_BAD_QUERY, "cannot read %s", path);
	else if (size > FILE_MAX)
		status = tfp_fail(err, TFP_BAD_QUERY, "%s is too large for a file of peaks", path);
	else
		status = tfp_given_peaks_parse(out, (struct tfp_str){text, size}, path, err);
	tfp_free(text);
	fclose(file);
	return status;
}

void tfp_given_peaks_free(struct tfp_given_peaks *given)
{
	if (!given)
		return;
	tfp_free(given->devices);
	tfp_free(given);
}

static const struct device *find(const struct tfp_given_peaks *given, const char *type)
{
	const struct device *any = NULL;
	for (size_t i = 0; given && i < given->count; i++) {
		if (strcmp(given->devices[i].type, type) == 0)
			return &given->devices[i];
		if (strcmp(given->devices[i].type, "*") == 0)
			any = &given->devices[i];
	}
	return any;
}

void tfp_given_peaks_apply(const struct tfp_given_peaks *given, struct tfp_run_env *env)
{
	const struct device *d = find(given, env->device_type);
	struct tfp_peaks *peaks = &env->peaks;
	if (!d)
		return;
	if (d->peaks.teraflops > 0)
		peaks->teraflops = d->peaks.teraflops;
	for (int p = 0; p < TFP_PEAK_COUNT; p++) {
		if (d->peaks.gigabytes_per_second[p] > 0)
			peaks->gigabytes_per_second[p] = d->peaks.gigabytes_per_second[p];
	}
	if (d->peaks.source[0])
		memcpy(peaks->source, d->peaks.source, sizeof(peaks->source));
	else
		snprintf(peaks->source, sizeof(peaks->source), "the file of --peaks");
}

uint64_t tfp_given_peaks_stamp(const struct tfp_given_peaks *given)
{
	return given ? given->stamp : 0;
}
