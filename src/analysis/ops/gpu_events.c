/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/gpu_events.h"

#include <string.h>

enum {
	TF_OP,
	LEVEL_0,
	ANNOTATION,
	HLO_OP,
	HLO_MODULE,
	PROGRAM_ID,
	KERNEL_DETAILS,
	EQUATION,
	IS_EAGER,
	FLOPS,
	BYTES_ACCESSED,
	GRAPH_ID,
	WANTED
};

static const char *const names[WANTED] = {
	[TF_OP] = "tf_op",
	[LEVEL_0] = "level 0",
	[ANNOTATION] = "annotation",
	[HLO_OP] = "hlo_op",
	[HLO_MODULE] = "hlo_module",
	[PROGRAM_ID] = "program_id",
	[KERNEL_DETAILS] = "kernel_details",
	[EQUATION] = "equation",
	[IS_EAGER] = "is_eager",
	[FLOPS] = "flops",
	[BYTES_ACCESSED] = "bytes_accessed",
	[GRAPH_ID] = "cuda_graph_id",
};

enum tfp_status tfp_gpu_reader_init(struct tfp_gpu_reader *reader, const struct tfp_plane *plane,
				    const struct tfp_hlo_modules *modules, struct tfp_error *err)
{
	*reader = (struct tfp_gpu_reader){.plane = plane, .modules = modules};
	return tfp_schema_init(&reader->schema, plane, names, WANTED, err);
}

void tfp_gpu_reader_release(struct tfp_gpu_reader *reader)
{
	tfp_schema_release(&reader->schema);
}

static struct tfp_str after_last(struct tfp_str s, const char *separator, size_t size)
{
	for (size_t i = s.size; i >= size; i--) {
		if (memcmp(s.data + i - size, separator, size) == 0)
			return (struct tfp_str){s.data + i, s.size - i};
	}
	return s;
}

static struct tfp_str until(struct tfp_str s, char c)
{
	const char *end = s.size ? memchr(s.data, c, s.size) : NULL;
	return end ? (struct tfp_str){s.data, (size_t)(end - s.data)} : s;
}

void tfp_gpu_event_read(const struct tfp_gpu_reader *reader, const struct tfp_line *line, size_t i,
			struct tfp_gpu_event *event)
{
	const struct tfp_str none = {"", 0};
	struct tfp_str level_0 = none, annotation = none;
	struct tfp_stat_iter it = tfp_event_stats(line, i);
	struct tfp_stat stat;
	bool has_program_id = false;
	int64_t number;
	*event = (struct tfp_gpu_event){
		.name = tfp_event_meta(reader->plane, line, i)->name,
		.start_ps = tfp_event_offset_ps(line, i),
		.duration_ps = tfp_event_duration_ps(line, i),
		.op_fullname = none,
		.hlo_op = none,
		.hlo_module = none,
		.kernel_details = none,
		.equation = none,
	};
	int name;
	while ((name = tfp_schema_next(&reader->schema, &it, &stat)) >= 0) {
		switch (name) {
		case TF_OP:
			tfp_stat_text(reader->plane, &stat, &event->op_fullname);
			break;
		case LEVEL_0:
			tfp_stat_text(reader->plane, &stat, &level_0);
			break;
		case ANNOTATION:
			tfp_stat_text(reader->plane, &stat, &annotation);
			break;
		case HLO_OP:
			if (tfp_stat_text(reader->plane, &stat, &event->hlo_op))
				event->hlo_op = after_last(event->hlo_op, "::", 2);
			break;
		case HLO_MODULE:
			tfp_stat_text(reader->plane, &stat, &event->hlo_module);
			break;
		case PROGRAM_ID:
			has_program_id = tfp_stat_int(&stat, &number);
			event->program_id = has_program_id ? (uint64_t)number : 0;
			break;
		case KERNEL_DETAILS:
			tfp_stat_text(reader->plane, &stat, &event->kernel_details);
			break;
		case EQUATION:
			tfp_stat_text(reader->plane, &stat, &event->equation);
			break;
		case IS_EAGER:
			if (tfp_stat_int(&stat, &number))
				event->is_eager = number != 0;
			break;
		case FLOPS:
			event->has_flops |= tfp_stat_double(&stat, &event->flops);
			break;
		case BYTES_ACCESSED:
			event->has_bytes |= tfp_stat_double(&stat, &event->bytes_accessed);
			break;
		case GRAPH_ID:
			event->is_in_graph = tfp_stat_int(&stat, &number) && number != 0;
			break;
		default:
			break;
		}
	}
	event->has_tf_op = event->op_fullname.size > 0;
	if (event->op_fullname.size == 0)
		event->op_fullname = level_0.size ? level_0 : until(annotation, '#');
	if (event->hlo_op.size && has_program_id)
		event->instruction =
			tfp_hlo_find(reader->modules, event->program_id, event->hlo_op);
}

struct tfp_str tfp_gpu_event_op(const struct tfp_gpu_event *event)
{
	if (event->instruction)
		return event->instruction->op_fullname;
	return event->op_fullname.size ? event->op_fullname : event->hlo_op;
}
