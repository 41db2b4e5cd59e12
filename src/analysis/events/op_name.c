/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/events/op_name.h"

#include <string.h>
#include <strings.h>

static struct tfp_str part(struct tfp_str s, size_t from, size_t size)
{
	return (struct tfp_str){s.data + from, size};
}

static struct tfp_str constant(const char *text)
{
	return (struct tfp_str){text, strlen(text)};
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter_or_digit(char c)
{
	return is_lower(c) || is_upper(c) || is_digit(c);
}

/* [A-Za-z0-9.][A-Za-z0-9_./>-]* */
static bool is_tensorflow_name(struct tfp_str s)
{
	if (s.size == 0 || !(is_letter_or_digit(s.data[0]) || s.data[0] == '.'))
		return false;
	for (size_t i = 1; i < s.size; i++) {
		char c = s.data[i];
		if (!is_letter_or_digit(c) && !memchr("_./>-", c, 5))
			return false;
	}
	return true;
}

/* [A-Z_][a-zA-Z0-9_]* */
static bool is_tensorflow_type(struct tfp_str s)
{
	if (s.size == 0 || !(is_upper(s.data[0]) || s.data[0] == '_'))
		return false;
	for (size_t i = 1; i < s.size; i++) {
		if (!is_letter_or_digit(s.data[i]) && s.data[i] != '_')
			return false;
	}
	return true;
}

/* Length of [a-z_][a-z0-9_]* when all of s is that, or that and [...], else 0 */
static size_t jax_type(struct tfp_str s)
{
	size_t n = 0;
	if (s.size == 0 || !(is_lower(s.data[0]) || s.data[0] == '_'))
		return 0;
	while (n < s.size && (is_lower(s.data[n]) || is_digit(s.data[n]) || s.data[n] == '_'))
		n++;
	if (n == s.size)
		return n;
	/* '.' matches no line end in the peers' expression. */
	if (s.data[n] == '[' && s.data[s.size - 1] == ']' && !memchr(s.data + n, '\n', s.size - n))
		return n;
	return 0;
}

/* The last part of a path, without a `_<number>` at its end. */
static struct tfp_str derived_type(struct tfp_str name)
{
	size_t from = name.size, digits;
	while (from > 0 && name.data[from - 1] != '/')
		from--;
	struct tfp_str type = part(name, from, name.size - from);
	for (digits = 0; digits < type.size && is_digit(type.data[type.size - 1 - digits]);)
		digits++;
	if (digits > 0 && digits < type.size && type.data[type.size - 1 - digits] == '_')
		type.size -= digits + 1;
	return type;
}

static struct tfp_op_name copy_or_unknown(struct tfp_str fullname)
{
	static const struct {
		const char *prefix, *type;
		enum tfp_op_category category;
	} copies[] = {
		{"MEMCPYHtoD", "MemcpyHToD", TFP_OP_MEMCPY_H2D},
		{"MEMCPYDtoH", "MemcpyDToH", TFP_OP_MEMCPY_D2H},
		{"MEMCPYDtoD", "MemcpyDToD", TFP_OP_MEMCPY_D2D},
		{"MEMCPYHtoH", "MemcpyHToH", TFP_OP_MEMCPY_H2H},
	};
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		size_t n = strlen(copies[i].prefix);
		if (fullname.size >= n && strncasecmp(fullname.data, copies[i].prefix, n) == 0)
			return (struct tfp_op_name){copies[i].category, fullname,
						    constant(copies[i].type)};
	}
	return (struct tfp_op_name){TFP_OP_UNKNOWN, fullname, constant("")};
}

struct tfp_op_name tfp_op_name_parse(struct tfp_str fullname)
{
	const char *colon = fullname.size ? memchr(fullname.data, ':', fullname.size) : NULL;
	if (!colon)
		return copy_or_unknown(fullname);
	size_t at = (size_t)(colon - fullname.data);
	struct tfp_str name = part(fullname, 0, at);
	struct tfp_str type = part(fullname, at + 1, fullname.size - at - 1);
	if (tfp_str_equal(name, "Iterator"))
		return (struct tfp_op_name){TFP_OP_TF_DATA, fullname, constant("Dataset")};
	if (is_tensorflow_name(name) && is_tensorflow_type(type))
		return (struct tfp_op_name){TFP_OP_TENSORFLOW, name, type};
	bool typeless = type.size == 0;
	if (typeless)
		type = derived_type(name);
	size_t jax = jax_type(type);
	if (jax)
		return (struct tfp_op_name){TFP_OP_JAX, name, part(type, 0, jax)};
	if (typeless)
		return (struct tfp_op_name){TFP_OP_TENSORFLOW, name, type};
	return (struct tfp_op_name){TFP_OP_UNKNOWN, fullname, constant("")};
}

bool tfp_op_is_gradient(struct tfp_str name, struct tfp_str type)
{
	bool tensorflow = is_tensorflow_name(name) && is_tensorflow_type(type);
	bool jax = type.size == 0 || jax_type(type) > 0;
	for (size_t from = 0; from < name.size;) {
		const char *slash = memchr(name.data + from, '/', name.size - from);
		size_t to = slash ? (size_t)(slash - name.data) : name.size;
		struct tfp_str scope = part(name, from, to - from);
		/* The last part is the op itself, not a scope. */
		if (tensorflow && slash &&
		    (tfp_str_equal(scope, "gradient_tape") || tfp_str_starts(scope, "gradients")))
			return true;
		if (jax && tfp_str_starts(scope, "transpose("))
			return true;
		from = to + 1;
	}
	return false;
}
