/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/timeline/derived_ops.h"

#include "analysis/events/memo.h"
#include "analysis/events/op_name.h"
#include "base/alloc.h"

#include <string.h>

#define MEMO_SLOTS 4096u

struct tfp_derived_op {
	uint32_t name, first_scope, scope_count;
};

void tfp_derived_ops_init(struct tfp_derived_ops *ops, struct tfp_derived_plane *plane)
{
	*ops = (struct tfp_derived_ops){.plane = plane, .memo = tfp_memo_new(MEMO_SLOTS)};
	plane->failed |= !ops->memo;
}

void tfp_derived_ops_release(struct tfp_derived_ops *ops)
{
	tfp_free(ops->memo);
	tfp_str_map_release(&ops->by_text);
	tfp_free(ops->list);
	tfp_free(ops->scopes);
}

/* The name that the peers show for an op (TfOpEventName). text: room, where it has to be made. */
static struct tfp_str event_name(const struct tfp_op_name *op, struct tfp_buf *text)
{
	struct tfp_str s = op->name;
	size_t last = s.size;
	switch (op->category) {
	case TFP_OP_UNKNOWN:
		while (s.size && memchr(" \t\n\v\f\r", s.data[s.size - 1], 6))
			s.size--;
		return s;
	case TFP_OP_TF_DATA:
		while (last >= 2 && memcmp(s.data + last - 2, "::", 2) != 0)
			last--;
		last = last >= 2 ? last : 0;
		tfp_buf_puts(text, "Iterator::");
		tfp_buf_add(text, s.data + last, s.size - last);
		return (struct tfp_str){tfp_buf_text(text), text->size};
	default:
		return op->type;
	}
}

static bool add_scope(struct tfp_derived_ops *ops, uint32_t name)
{
	if (!TFP_GROW(ops->scopes, ops->scope_count, ops->scope_room))
		return false;
	ops->scopes[ops->scope_count++] = name;
	return true;
}

static bool make_op(struct tfp_derived_ops *ops, struct tfp_str fullname,
		    struct tfp_derived_op *out)
{
	const struct tfp_op_name op = tfp_op_name_parse(fullname);
	const struct tfp_str none = {"", 0};
	struct tfp_buf text;
	size_t from = 0;
	*out = (struct tfp_derived_op){.first_scope = (uint32_t)ops->scope_count};
	if (op.category == TFP_OP_TENSORFLOW || op.category == TFP_OP_JAX) {
		for (size_t i = 0; i < op.name.size && out->scope_count < TFP_DERIVED_LEVELS_MAX;
		     i++) {
			if (op.name.data[i] != '/')
				continue;
			const struct tfp_str scope = {op.name.data + from, i - from};
			if (!add_scope(ops, tfp_derived_name(ops->plane, scope, none)))
				return false;
			out->scope_count++;
			from = i + 1;
		}
	}
	tfp_buf_init(&text, SIZE_MAX / 2);
	out->name = tfp_derived_name(ops->plane, fullname, event_name(&op, &text));
	bool ok = !tfp_buf_failed(&text);
	tfp_buf_release(&text);
	return ok && !ops->plane->failed;
}

static uint32_t add_op(struct tfp_derived_ops *ops, struct tfp_str fullname)
{
	if (!TFP_GROW(ops->list, ops->count, ops->room))
		return TFP_DERIVED_NO_OP;
	if (!make_op(ops, fullname, &ops->list[ops->count]) ||
	    tfp_str_map_add(&ops->by_text, fullname.data, fullname.size, ops->count) != ops->count)
		return TFP_DERIVED_NO_OP;
	return ops->count++;
}

uint32_t tfp_derived_op(struct tfp_derived_ops *ops, struct tfp_str fullname)
{
	const struct tfp_memo_key key = {{fullname.data, (const void *)(uintptr_t)fullname.size}};
	uint32_t op;
	if (ops->plane->failed)
		return TFP_DERIVED_NO_OP;
	if (tfp_memo_find(ops->memo, &key, &op))
		return op;
	op = tfp_str_map_find(&ops->by_text, fullname.data, fullname.size);
	if (op == TFP_STR_MAP_NONE)
		op = add_op(ops, fullname);
	if (op == TFP_DERIVED_NO_OP)
		ops->plane->failed = true;
	else
		tfp_memo_put(ops->memo, &key, op);
	return op;
}

void tfp_derive_framework_op(const struct tfp_derived_ops *ops, uint32_t op,
			     struct tfp_derived_line *scope_line, struct tfp_derived_line *op_line,
			     struct tfp_derived_span span, int32_t group)
{
	if (op == TFP_DERIVED_NO_OP)
		return;
	const struct tfp_derived_op *o = &ops->list[op];
	if (o->scope_count)
		tfp_derived_expand(scope_line, ops->scopes + o->first_scope, NULL, o->scope_count,
				   span, group);
	tfp_derived_expand_one(op_line, o->name, NULL, span, group);
}
