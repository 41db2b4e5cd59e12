/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_path.h"

#include "analysis/events/op_name.h"
#include "tfprof/tree.h"

#include <string.h>

static const char *const transformations[] = {
	"jit",   "pjit",       "jvp",        "transpose",  "vmap",      "pmap",
	"remat", "checkpoint", "custom_jvp", "custom_vjp", "shard_map",
};

/* Parts that say only how something is computed. */
static const char *const marks[] = {"rematted_computation", "checkpoint", "remat", "main"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What stands in the brackets of a transformation; *which is its name. False for other parts. */
static bool unwrap(struct tfp_str part, struct tfp_str *which, struct tfp_str *inner)
{
	const char *open = part.size ? memchr(part.data, '(', part.size) : NULL;
	if (!open || part.data[part.size - 1] != ')')
		return false;
	*which = (struct tfp_str){part.data, (size_t)(open - part.data)};
	*inner = (struct tfp_str){open + 1, part.size - which->size - 2};
	for (size_t i = 0; i < COUNT(transformations); i++) {
		if (tfp_str_equal(*which, transformations[i]))
			return true;
	}
	return false;
}

static struct tfp_str stripped(struct tfp_str part)
{
	struct tfp_str which, inner;
	while (unwrap(part, &which, &inner))
		part = inner;
	for (size_t i = 0; i < COUNT(marks); i++) {
		if (tfp_str_equal(part, marks[i]))
			part.size = 0;
	}
	return part;
}

/* Where the part ends that begins here. */
static size_t end_of_part(struct tfp_str rest)
{
	size_t depth = 0, first = rest.size;
	for (size_t i = 0; i < rest.size; i++) {
		char c = rest.data[i];
		if (c == '/' && first == rest.size)
			first = i;
		if (c == '/' && depth == 0)
			return i;
		depth += c == '(';
		depth -= c == ')' && depth > 0;
	}
	/* Brackets that nobody closes are no brackets. */
	return depth ? first : rest.size;
}

void tfp_path_read(struct tfp_str name, bool strip, struct tfp_path *path)
{
	struct tfp_str rest = name, last;
	path->count = 0;
	for (;;) {
		size_t end = path->count + 1 < TFP_PATH_PARTS_MAX ? end_of_part(rest) : rest.size;
		struct tfp_str part = {rest.data, end};
		last = part;
		if (strip)
			part = stripped(part);
		if (part.size)
			path->parts[path->count++] = part;
		if (end >= rest.size || path->count == TFP_PATH_PARTS_MAX)
			break;
		rest = (struct tfp_str){rest.data + end + 1, rest.size - end - 1};
	}
	if (path->count == 0)
		path->parts[path->count++] = last;
}

void tfp_path_read_parameter(struct tfp_str name, struct tfp_path *path)
{
	size_t from = 0;
	path->count = 0;
	for (size_t i = 0; i <= name.size && path->count < TFP_PATH_PARTS_MAX; i++) {
		bool last = i == name.size || path->count + 1 == TFP_PATH_PARTS_MAX;
		if (!last && !memchr("[]/", name.data[i], 3))
			continue;
		struct tfp_str part = {name.data + from, (last ? name.size : i) - from};
		while (part.size && memchr("'\".", part.data[0], 3)) {
			part.data++;
			part.size--;
		}
		while (part.size && memchr("'\"", part.data[part.size - 1], 2))
			part.size--;
		if (part.size)
			path->parts[path->count++] = part;
		from = i + 1;
		if (last)
			break;
	}
	if (path->count == 0)
		path->parts[path->count++] = name;
}

static bool has(struct tfp_str text, const char *word)
{
	return text.size && memmem(text.data, text.size, word, strlen(word));
}

uint8_t tfp_path_passes(struct tfp_str name, struct tfp_str type, struct tfp_str instruction)
{
	uint8_t passes = 0;
	if (has(name, "transpose(") || tfp_op_is_gradient(name, type))
		passes = TFP_BACKWARD;
	else if (has(name, "jvp("))
		passes = TFP_FORWARD;
	if (has(name, "rematted_computation") || has(instruction, ".remat"))
		passes |= TFP_REMATERIALISED;
	return passes;
}
