/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_fields.h"
#include "analysis/hlo/hlo_program.h"
#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_metadata(struct tfp_hlo_metadata *m, struct tfp_str message)
{
	struct tfp_str *const texts[] = {[1] = &m->op_type,
					 [2] = &m->op_name,
					 [3] = &m->source_file,
					 [12] = &m->deduplicated_name,
					 [16] = &m->scheduling_name};
	int32_t *const numbers[] = {[4] = &m->source_line,
				    [17] = &m->source_end_line,
				    [18] = &m->source_column,
				    [19] = &m->source_end_column};
	struct tfp_pb_cursor c = tfp_hlo_walk(message);
	int64_t value;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		uint32_t field = TFP_PB_FIELD(tag), wire = TFP_PB_WIRE(tag);
		if (wire == TFP_PB_BYTES && field < sizeof(texts) / sizeof(*texts) && texts[field])
			*texts[field] = tfp_hlo_bytes(&c);
		else if (wire == TFP_PB_VARINT && field == 15)
			tfp_pb_int64(&c, &m->stack_frame);
		else if (wire == TFP_PB_VARINT && field < sizeof(numbers) / sizeof(*numbers) &&
			 numbers[field]) {
			if (tfp_pb_int64(&c, &value))
				*numbers[field] = (int32_t)value;
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
}

struct tfp_hlo_metadata tfp_hlo_metadata(const struct tfp_hlo_op *op)
{
	enum { METADATA = 7 };
	const struct tfp_str none = {"", 0};
	struct tfp_hlo_metadata m = {.op_type = none,
				     .op_name = none,
				     .source_file = none,
				     .deduplicated_name = none,
				     .scheduling_name = none};
	struct tfp_str message;
	if (tfp_hlo_field(op->message, METADATA, &message))
		read_metadata(&m, message);
	return m;
}

/* StackFrameIndexProto: flat lists, whose entries name one another by place from 1 on. */
enum { INDEX_FILES = 1, INDEX_FUNCTIONS, INDEX_LOCATIONS, INDEX_FRAMES };

static size_t count_entries(struct tfp_str index, uint32_t field)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(index);
	struct tfp_str entry;
	size_t count = 0;
	while (tfp_hlo_next(&c, field, &entry))
		count++;
	return count;
}

/* NULL without memory. */
static struct tfp_str *read_entries(struct tfp_str index, uint32_t field, size_t *count)
{
	struct tfp_pb_cursor c = tfp_hlo_walk(index);
	size_t n = count_entries(index, field);
	struct tfp_str *list = tfp_calloc(n + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		(void)tfp_hlo_next(&c, field, &list[i]);
	*count = n;
	return list;
}

static struct tfp_hlo_frame read_frame(struct tfp_str frame, const struct tfp_str *locations,
				       size_t location_count, const struct tfp_str *files,
				       size_t file_count, const struct tfp_str *functions,
				       size_t function_count)
{
	struct tfp_hlo_frame made = {.file = {"", 0}, .function = {"", 0}};
	int64_t location = tfp_hlo_number(frame, 1, 0), parent = tfp_hlo_number(frame, 2, 0);
	if (parent > 0 && parent < UINT32_MAX)
		made.parent = (uint32_t)parent;
	if (location > 0 && (uint64_t)location <= location_count) {
		struct tfp_str at = locations[location - 1];
		int64_t file = tfp_hlo_number(at, 1, 0), function = tfp_hlo_number(at, 2, 0);
		made.line = (int32_t)tfp_hlo_number(at, 3, 0);
		made.column = (int32_t)tfp_hlo_number(at, 4, 0);
		if (file > 0 && (uint64_t)file <= file_count)
			made.file = files[file - 1];
		if (function > 0 && (uint64_t)function <= function_count)
			made.function = functions[function - 1];
	}
	made.is_empty = made.file.size == 0 && made.line == 0 && made.column == 0;
	return made;
}

enum tfp_status tfp_hlo_frames_init(struct tfp_hlo_frames *frames,
				    const struct tfp_hlo_program *program, struct tfp_error *err)
{
	struct tfp_str index = program->stack_frame_index;
	size_t file_count = 0, function_count = 0, location_count = 0, count = 0;
	struct tfp_str *files = read_entries(index, INDEX_FILES, &file_count);
	struct tfp_str *functions = read_entries(index, INDEX_FUNCTIONS, &function_count);
	struct tfp_str *locations = read_entries(index, INDEX_LOCATIONS, &location_count);
	struct tfp_str *list = read_entries(index, INDEX_FRAMES, &count);
	*frames = (struct tfp_hlo_frames){.list = tfp_calloc(count + 1, sizeof(*frames->list))};
	bool ok = files && functions && locations && list && frames->list;
	if (ok && count < UINT32_MAX)
		frames->count = (uint32_t)count;
	for (uint32_t i = 0; i < frames->count; i++)
		frames->list[i] = read_frame(list[i], locations, location_count, files, file_count,
					     functions, function_count);
	tfp_free(files);
	tfp_free(functions);
	tfp_free(locations);
	tfp_free(list);
	return ok ? TFP_OK : tfp_fail(err, TFP_NO_MEMORY, "no memory for the stacks of a program");
}

void tfp_hlo_frames_release(struct tfp_hlo_frames *frames)
{
	tfp_free(frames->list);
	*frames = (struct tfp_hlo_frames){0};
}

/* Writes a stack's frames into text of size bytes, or only counts; the bytes they take. */
static size_t write_stack(const struct tfp_hlo_frames *frames, int64_t number, char *text,
			  size_t size)
{
	size_t used = 0;
	for (int depth = 0; depth < TFP_HLO_STACK_MAX; depth++) {
		char place[40];
		if (number <= 0 || number > frames->count || frames->list[number - 1].is_empty)
			break;
		const struct tfp_hlo_frame *f = &frames->list[number - 1];
		size_t length = (size_t)snprintf(place, sizeof(place), ":%" PRId32 ":%" PRId32 "\n",
						 f->line, f->column);
		if (text && used + f->file.size + length <= size) {
			if (f->file.size)
				memcpy(text + used, f->file.data, f->file.size);
			memcpy(text + used + f->file.size, place, length);
		}
		used += f->file.size + length;
		number = f->parent;
	}
	return used;
}

/* "file:line" of the first line; false when it has no such beginning. */
static bool first_place(struct tfp_str stack, struct tfp_hlo_source *source)
{
	const char *end = stack.size ? memchr(stack.data, '\n', stack.size) : NULL;
	const char *colon = end ? memchr(stack.data, ':', (size_t)(end - stack.data)) : NULL;
	if (!colon || colon == stack.data)
		return false;
	long line = strtol(colon + 1, NULL, 10); /* ends at the next colon, or the line's end */
	if (line == 0 || line > INT32_MAX || line < INT32_MIN)
		return false;
	source->file = (struct tfp_str){stack.data, (size_t)(colon - stack.data)};
	source->line = (int32_t)line;
	return true;
}

bool tfp_hlo_source_of(const struct tfp_hlo_frames *frames, const struct tfp_hlo_op *op,
		       struct tfp_arena *arena, struct tfp_hlo_source *source)
{
	struct tfp_hlo_metadata metadata = tfp_hlo_metadata(op);
	int64_t number = metadata.stack_frame;
	*source = (struct tfp_hlo_source){.file = {"", 0}, .stack = {"", 0}};
	size_t size = write_stack(frames, number, NULL, 0);
	if (size) {
		char *text = tfp_arena_alloc(arena, size + 1);
		if (!text)
			return false;
		write_stack(frames, number, text, size);
		text[size] = '\0';
		source->stack = (struct tfp_str){text, size};
	}
	if (first_place(source->stack, source))
		return true;
	source->file = metadata.source_file;
	source->line = metadata.source_line;
	return true;
}
