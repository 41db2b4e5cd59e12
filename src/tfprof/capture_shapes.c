/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_shapes.h"

#include <string.h>

/* Where a bracket is closed that opens at `at`, or the end. */
static size_t closing(struct tfp_str text, size_t at)
{
	size_t depth = 0;
	for (size_t i = at; i < text.size; i++) {
		depth += text.data[i] == '(' || text.data[i] == '{' || text.data[i] == '[';
		depth -= depth &&
			 (text.data[i] == ')' || text.data[i] == '}' || text.data[i] == ']');
		if (depth == 0)
			return i;
	}
	return text.size;
}

/* Where a shape ends: at the first blank outside of brackets. */
static size_t end_of_shape(struct tfp_str text, size_t at)
{
	while (at < text.size && text.data[at] != ' ') {
		bool opens = text.data[at] == '(' || text.data[at] == '{' || text.data[at] == '[';
		at = opens ? closing(text, at) + 1 : at + 1;
	}
	return at < text.size ? at : text.size;
}

static bool add_input(struct tfp_shapes *shapes, struct tfp_str operand)
{
	while (operand.size && operand.data[0] == ' ') {
		operand.data++;
		operand.size--;
	}
	size_t end = end_of_shape(operand, 0);
	/* A name alone. */
	if (end == operand.size || operand.data[0] == '%')
		return false;
	if (shapes->count < TFP_SHAPES_MAX)
		shapes->inputs[shapes->count++] = (struct tfp_str){operand.data, end};
	return true;
}

bool tfp_shapes_read(struct tfp_str expression, struct tfp_shapes *shapes)
{
	*shapes = (struct tfp_shapes){.count = 0};
	const char *equals =
		expression.size ? memmem(expression.data, expression.size, " = ", 3) : NULL;
	if (!equals)
		return false;
	size_t from = (size_t)(equals - expression.data) + 3;
	size_t end = end_of_shape(expression, from);
	const char *open = end < expression.size
				   ? memchr(expression.data + end, '(', expression.size - end)
				   : NULL;
	if (!open)
		return false;
	shapes->output = (struct tfp_str){expression.data + from, end - from};
	size_t at = (size_t)(open - expression.data), last = closing(expression, at);
	bool good = last < expression.size;
	for (size_t begin = ++at; good && at <= last; at++) {
		char c = expression.data[at];
		if (c == '(' || c == '{' || c == '[') {
			at = closing(expression, at);
		} else if (at == last || c == ',') {
			struct tfp_str operand = {expression.data + begin, at - begin};
			/* No operand at all. */
			if (at > begin)
				good = add_input(shapes, operand);
			begin = at + 1;
		}
	}
	return good;
}
