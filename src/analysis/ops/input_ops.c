/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/input_ops.h"

#include <string.h>
#include <strings.h>

static bool equal_any_case(struct tfp_str s, const char *text)
{
	return s.size == strlen(text) && strncasecmp(s.data, text, s.size) == 0;
}

static bool ends_with(struct tfp_str s, const char *text)
{
	size_t n = strlen(text);
	return s.size >= n && memcmp(s.data + s.size - n, text, n) == 0;
}

static bool contains(struct tfp_str s, const char *text)
{
	return s.size && memmem(s.data, s.size, text, strlen(text)) != NULL;
}

static bool is_reader(struct tfp_str name)
{
	static const char *const readers[] = {"::TFRecord", "::TextLine", "::FixedLengthRecord",
					      "::SSTable",  "::RecordIO", "::ArrayRecord"};
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if (ends_with(name, readers[i]))
			return true;
	}
	return false;
}

static bool is_in_advance(struct tfp_str name)
{
	static const char *const ahead[] = {"::MemoryReader", "::MemoryWriter", "::Interleave",
					    "::Prefetch", "::ParallelMap"};
	for (size_t i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++) {
		if (contains(name, ahead[i]))
			return true;
	}
	return false;
}

enum tfp_input_category tfp_input_category(struct tfp_str name, struct tfp_str type)
{
	/* Stages of input pipelines say it themselves. */
	if (equal_any_case(type, "enqueue"))
		return TFP_INPUT_ENQUEUE;
	if (equal_any_case(type, "read"))
		return TFP_INPUT_DEMANDED_READ;
	if (equal_any_case(type, "preprocessing"))
		return TFP_INPUT_PREPROCESSING;
	if (equal_any_case(type, "unknown"))
		return TFP_INPUT_UNKNOWN;
	if (tfp_str_starts(type, "InfeedEnqueue") || tfp_str_equal(type, "MemcpyHToD"))
		return TFP_INPUT_ENQUEUE;
	if (!tfp_str_equal(type, "Dataset"))
		return TFP_INPUT_NONE;
	if (!is_reader(name))
		return TFP_INPUT_PREPROCESSING;
	return is_in_advance(name) ? TFP_INPUT_ADVANCED_READ : TFP_INPUT_DEMANDED_READ;
}

const char *tfp_input_category_name(enum tfp_input_category category)
{
	static const char *const texts[TFP_INPUT_CATEGORY_COUNT] = {
		[TFP_INPUT_NONE] = "",
		[TFP_INPUT_ENQUEUE] = "Enqueue",
		[TFP_INPUT_DEMANDED_READ] = "Demanded file read",
		[TFP_INPUT_ADVANCED_READ] = "Advanced file read",
		[TFP_INPUT_PREPROCESSING] = "Preprocessing",
		[TFP_INPUT_UNKNOWN] = "Unknown",
	};
	return texts[category];
}

void tfp_input_times(const struct tfp_op_db *host_ops, double enqueue_ratio,
		     struct tfp_input_times *out)
{
	double us[TFP_INPUT_CATEGORY_COUNT] = {0};
	*out = (struct tfp_input_times){0};
	for (size_t i = 0; i < host_ops->count; i++) {
		const struct tfp_op *op = &host_ops->ops[i];
		enum tfp_input_category c = tfp_input_category(op->name, op->category);
		us[c] += (double)op->self_time_ps / 1e6;
		if (c != TFP_INPUT_NONE)
			out->all_ops_us += (double)op->self_time_ps / 1e6;
	}
	double enqueue = us[TFP_INPUT_ENQUEUE];
	double others = us[TFP_INPUT_DEMANDED_READ] + us[TFP_INPUT_ADVANCED_READ] +
			us[TFP_INPUT_PREPROCESSING];
	double ratio = enqueue_ratio < 1 ? enqueue_ratio : 1;
	/* Without ops that enqueue there is nothing that the share could be applied to: copies
	 * to the device alone (which have no op in current captures) say nothing. */
	double not_enqueue = ratio > 0 && enqueue > 0 ? enqueue * (1 - ratio) / ratio : others;
	double scale = others > 0 ? not_enqueue / others : 0;
	out->enqueue_us = enqueue;
	out->demanded_read_us = us[TFP_INPUT_DEMANDED_READ] * scale;
	out->advanced_read_us = us[TFP_INPUT_ADVANCED_READ] * scale;
	out->preprocessing_us = us[TFP_INPUT_PREPROCESSING] * scale;
	double rest = not_enqueue -
		      (out->demanded_read_us + out->advanced_read_us + out->preprocessing_us);
	out->unclassified_us = rest > 0 ? rest : 0;
}

bool tfp_uses_tf_data(const struct tfp_input_times *times)
{
	return times->demanded_read_us > 0 || times->advanced_read_us > 0 ||
	       times->preprocessing_us > 0;
}
