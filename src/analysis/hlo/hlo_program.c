/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/hlo/hlo_program.h"

#include "base/alloc.h"
#include "wire/pb_cursor.h"

#include <string.h>

/* Fields of xla/service/hlo.proto. */
enum { PROTO_MODULE = 1 };
enum { MODULE_NAME = 1, MODULE_COMPUTATIONS = 3, MODULE_ENTRY_ID = 6, MODULE_FRAMES = 17 };
enum {
	COMPUTATION_NAME = 1,
	COMPUTATION_INSTRUCTIONS = 2,
	COMPUTATION_ID = 5,
	COMPUTATION_ROOT = 6
};
enum {
	OP_NAME = 1,
	OP_OPCODE = 2,
	OP_SHAPE = 3,
	OP_PARAMETER = 9,
	OP_TUPLE_INDEX = 13,
	OP_ID = 35,
	OP_OPERANDS = 36,
	OP_CONTROLS = 37,
	OP_CALLED = 38,
};

/* ---- ids -> indexes ---- */

/* A table with open addresses; key and value lie beside one another, NONE is an empty place. */
struct id_map {
	struct id_slot {
		int64_t id;
		uint32_t value;
	} * slots;
	size_t room; /* a power of two */
};

static size_t id_place(const struct id_map *map, int64_t id)
{
	return (size_t)(((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (map->room - 1);
}

/* Empty, with room for count ids. */
static bool id_map_reset(struct id_map *map, size_t count)
{
	size_t room = 16;
	while (room < count * 2)
		room *= 2;
	if (room > map->room) {
		tfp_free(map->slots);
		map->room = 0;
		map->slots = tfp_malloc(room * sizeof(*map->slots));
		if (!map->slots)
			return false;
	}
	map->room = room;
	for (size_t i = 0; i < room; i++)
		map->slots[i].value = TFP_HLO_NONE;
	return true;
}

static void id_map_put(struct id_map *map, int64_t id, uint32_t value)
{
	size_t i = id_place(map, id);
	while (map->slots[i].value != TFP_HLO_NONE && map->slots[i].id != id)
		i = (i + 1) & (map->room - 1);
	map->slots[i] = (struct id_slot){id, value};
}

static uint32_t id_map_find(const struct id_map *map, int64_t id)
{
	size_t i = id_place(map, id);
	while (map->slots[i].value != TFP_HLO_NONE && map->slots[i].id != id)
		i = (i + 1) & (map->room - 1);
	return map->slots[i].value;
}

/* ---- reading ---- */

/* The lists that grow while a module is read. */
struct reader {
	struct tfp_hlo_program *program;
	size_t instruction_room, computation_room, operand_room, called_room, control_room;
	size_t operand_count, called_count, control_count;
	int64_t *ids; /* of the instructions of one computation */
	size_t id_room;
	struct id_map by_id, computations;
	struct tfp_error *err;
};

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for an HLO module");
}

static enum tfp_status damaged(struct tfp_error *err, const char *what, struct tfp_str name)
{
	int size = name.size > 200 ? 200 : (int)name.size;
	return tfp_fail(err, TFP_BAD_INPUT, "%s (%.*s)", what, size, size ? name.data : "");
}

static struct tfp_str text(struct tfp_pb_cursor *c)
{
	const uint8_t *data;
	size_t size;
	if (!tfp_pb_bytes(c, &data, &size))
		return (struct tfp_str){"", 0};
	return (struct tfp_str){(const char *)data, size};
}

static struct tfp_pb_cursor walk(struct tfp_str message)
{
	return tfp_pb_cursor((const uint8_t *)message.data, message.size);
}

/* Ids become indexes by the map; an id that is not in it yet is damage. */
static enum tfp_status add_links(struct reader *r, struct tfp_pb_cursor *c, uint32_t tag,
				 const struct id_map *map, uint32_t **list, size_t *count,
				 size_t *room, const char *what, struct tfp_str name)
{
	struct tfp_pb_numbers n = {0};
	int64_t id;
	while (tfp_pb_next_int64(c, tag, &n, &id)) {
		uint32_t value = id_map_find(map, id);
		if (value == TFP_HLO_NONE)
			return damaged(r->err, what, name);
		if (*count >= TFP_HLO_NONE - 1 || !TFP_GROW(*list, *count, *room))
			return no_memory(r->err);
		(*list)[(*count)++] = value;
	}
	return TFP_OK;
}

static enum tfp_status read_links(struct reader *r, struct tfp_hlo_op *op)
{
	struct tfp_hlo_program *p = r->program;
	struct tfp_pb_cursor c = walk(op->message);
	enum tfp_status status = TFP_OK;
	uint32_t tag;
	op->first_operand = (uint32_t)r->operand_count;
	op->first_called = (uint32_t)r->called_count;
	op->first_control = (uint32_t)r->control_count;
	while (status == TFP_OK && tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(OP_OPERANDS, TFP_PB_VARINT):
		case TFP_PB_TAG(OP_OPERANDS, TFP_PB_BYTES):
			status = add_links(
				r, &c, tag, &r->by_id, &p->operands, &r->operand_count,
				&r->operand_room,
				"an instruction has an operand that does not come before it",
				op->name);
			break;
		case TFP_PB_TAG(OP_CALLED, TFP_PB_VARINT):
		case TFP_PB_TAG(OP_CALLED, TFP_PB_BYTES):
			status = add_links(
				r, &c, tag, &r->computations, &p->called, &r->called_count,
				&r->called_room,
				"an instruction calls a computation that does not come before it",
				op->name);
			break;
		case TFP_PB_TAG(OP_CONTROLS, TFP_PB_VARINT):
		case TFP_PB_TAG(OP_CONTROLS, TFP_PB_BYTES):
			status = add_links(r, &c, tag, &r->by_id, &p->controls, &r->control_count,
					   &r->control_room,
					   "an instruction waits for one that does not come before "
					   "it",
					   op->name);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	op->operand_count = (uint32_t)r->operand_count - op->first_operand;
	op->called_count = (uint32_t)r->called_count - op->first_called;
	op->control_count = (uint32_t)r->control_count - op->first_control;
	return status;
}

static enum tfp_status read_instruction(struct reader *r, struct tfp_str message)
{
	struct tfp_hlo_program *p = r->program;
	struct tfp_pb_cursor c = walk(message);
	size_t room = r->instruction_room;
	struct tfp_str shape = {"", 0};
	enum tfp_status status;
	int64_t id = 0, number = 0;
	uint32_t tag;
	if (p->instruction_count == TFP_HLO_NONE - 1 ||
	    !TFP_GROW(p->instructions, p->instruction_count, room))
		return no_memory(r->err);
	r->instruction_room = room;
	struct tfp_hlo_op *op = &p->instructions[p->instruction_count];
	*op = (struct tfp_hlo_op){
		.name = {"", 0},
		.opcode_name = {"", 0},
		.message = message,
		.computation = p->computation_count,
	};
	while (tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(OP_NAME, TFP_PB_BYTES):
			op->name = text(&c);
			break;
		case TFP_PB_TAG(OP_OPCODE, TFP_PB_BYTES):
			op->opcode_name = text(&c);
			break;
		case TFP_PB_TAG(OP_SHAPE, TFP_PB_BYTES):
			shape = text(&c);
			break;
		case TFP_PB_TAG(OP_PARAMETER, TFP_PB_VARINT):
		case TFP_PB_TAG(OP_TUPLE_INDEX, TFP_PB_VARINT):
			tfp_pb_int64(&c, &number);
			break;
		case TFP_PB_TAG(OP_ID, TFP_PB_VARINT):
			tfp_pb_int64(&c, &id);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	if (c.damage)
		return damaged(r->err, "an instruction is damaged", op->name);
	if (number < 0 || number >= TFP_HLO_NONE)
		return damaged(r->err, "an instruction has an absurd number", op->name);
	op->number = (uint32_t)number;
	op->opcode = (uint8_t)tfp_hlo_opcode_of(op->opcode_name);
	if (shape.size > 0) {
		status = tfp_hlo_shapes_add(&p->shapes, &p->arena, shape, &op->shape, r->err);
		if (status != TFP_OK)
			return status;
	}
	status = read_links(r, op);
	if (status != TFP_OK)
		return status;
	op->id = id;
	id_map_put(&r->by_id, id, p->instruction_count);
	p->instruction_count++;
	return TFP_OK;
}

static size_t count_fields(struct tfp_str message, uint32_t wanted)
{
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag;
	size_t count = 0;
	while (tfp_pb_next(&c, &tag)) {
		count += tag == wanted;
		tfp_pb_skip(&c, tag);
	}
	return count;
}

static enum tfp_status read_computation(struct reader *r, struct tfp_str message)
{
	struct tfp_hlo_program *p = r->program;
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag, instructions = TFP_PB_TAG(COMPUTATION_INSTRUCTIONS, TFP_PB_BYTES);
	enum tfp_status status = TFP_OK;
	int64_t id = 0, root = 0;
	if (!id_map_reset(&r->by_id, count_fields(message, instructions)) ||
	    !TFP_GROW(p->computations, p->computation_count, r->computation_room))
		return no_memory(r->err);
	struct tfp_hlo_computation *made = &p->computations[p->computation_count];
	*made = (struct tfp_hlo_computation){
		.name = {"", 0}, .message = message, .first = p->instruction_count};
	while (status == TFP_OK && tfp_pb_next(&c, &tag)) {
		if (tag == instructions) {
			struct tfp_str inner = text(&c);
			if (!c.damage)
				status = read_instruction(r, inner);
		} else if (tag == TFP_PB_TAG(COMPUTATION_NAME, TFP_PB_BYTES)) {
			made->name = text(&c);
		} else if (tag == TFP_PB_TAG(COMPUTATION_ID, TFP_PB_VARINT)) {
			tfp_pb_int64(&c, &id);
		} else if (tag == TFP_PB_TAG(COMPUTATION_ROOT, TFP_PB_VARINT)) {
			tfp_pb_int64(&c, &root);
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	if (status != TFP_OK)
		return status;
	made->count = p->instruction_count - made->first;
	made->root = id_map_find(&r->by_id, root);
	if (c.damage || made->root == TFP_HLO_NONE)
		return damaged(r->err, "a computation has no root, or is damaged", made->name);
	made->id = id;
	id_map_put(&r->computations, id, p->computation_count);
	p->computation_count++;
	return TFP_OK;
}

/* From operands to users: each user once, however often it takes the value. */
static bool find_users(struct tfp_hlo_program *p, size_t links)
{
	p->users = tfp_calloc(links + 1, sizeof(*p->users));
	uint32_t *last = tfp_calloc((size_t)p->instruction_count + 1, sizeof(*last));
	bool ok = p->users && last;
	for (int pass = 0; ok && pass < 2; pass++) {
		uint32_t at = 0;
		for (uint32_t i = 0; i < p->instruction_count; i++) {
			last[i] = TFP_HLO_NONE;
			if (pass == 1) {
				p->instructions[i].first_user = at;
				at += p->instructions[i].user_count;
				p->instructions[i].user_count = 0;
			}
		}
		for (uint32_t i = 0; i < p->instruction_count; i++) {
			for (uint32_t o = 0; o < p->instructions[i].operand_count; o++) {
				uint32_t operand = tfp_hlo_operand(p, i, o);
				struct tfp_hlo_op *op = &p->instructions[operand];
				if (last[operand] == i)
					continue;
				last[operand] = i;
				if (pass == 1)
					p->users[op->first_user + op->user_count] = i;
				op->user_count++;
			}
		}
	}
	tfp_free(last);
	return ok;
}

static enum tfp_status read_module(struct reader *r, struct tfp_str message)
{
	struct tfp_hlo_program *p = r->program;
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag, computations = TFP_PB_TAG(MODULE_COMPUTATIONS, TFP_PB_BYTES);
	enum tfp_status status = TFP_OK;
	int64_t entry = 0;
	p->module = message;
	if (!id_map_reset(&r->computations, count_fields(message, computations)))
		return no_memory(r->err);
	while (status == TFP_OK && tfp_pb_next(&c, &tag)) {
		if (tag == computations) {
			struct tfp_str inner = text(&c);
			if (!c.damage)
				status = read_computation(r, inner);
		} else if (tag == TFP_PB_TAG(MODULE_NAME, TFP_PB_BYTES)) {
			p->name = text(&c);
		} else if (tag == TFP_PB_TAG(MODULE_FRAMES, TFP_PB_BYTES)) {
			p->stack_frame_index = text(&c);
		} else if (tag == TFP_PB_TAG(MODULE_ENTRY_ID, TFP_PB_VARINT)) {
			tfp_pb_int64(&c, &entry);
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	if (status != TFP_OK)
		return status;
	p->entry = id_map_find(&r->computations, entry);
	if (c.damage || p->entry == TFP_HLO_NONE)
		return damaged(r->err, "an HLO module is damaged, or has no entry", p->name);
	for (uint32_t i = 0; i < p->instruction_count; i++) {
		const struct tfp_hlo_op *op = &p->instructions[i];
		for (uint32_t k = 0; op->opcode == TFP_HLO_FUSION && k < op->called_count; k++)
			p->computations[tfp_hlo_called(p, i, k)].is_fused = true;
	}
	p->link_count = r->operand_count;
	return find_users(p, r->operand_count) ? TFP_OK : no_memory(r->err);
}

enum tfp_status tfp_hlo_program_init(struct tfp_hlo_program *program, struct tfp_str bytes,
				     struct tfp_error *err)
{
	struct reader r = {.program = program, .err = err};
	struct tfp_pb_cursor c = walk(bytes);
	struct tfp_str module = {NULL, 0};
	uint32_t tag;
	*program = (struct tfp_hlo_program){
		.name = {"", 0}, .stack_frame_index = {"", 0}, .proto = bytes};
	tfp_arena_init(&program->arena, SIZE_MAX);
	enum tfp_status status = tfp_hlo_shapes_init(&program->shapes, err);
	if (status != TFP_OK)
		return status;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(PROTO_MODULE, TFP_PB_BYTES))
			module = text(&c);
		else
			tfp_pb_skip(&c, tag);
	}
	if (c.damage || !module.data)
		return tfp_fail(err, TFP_BAD_INPUT, "no HLO module in these bytes");
	status = read_module(&r, module);
	tfp_free(r.by_id.slots);
	tfp_free(r.computations.slots);
	return status;
}

void tfp_hlo_program_release(struct tfp_hlo_program *program)
{
	tfp_hlo_shapes_release(&program->shapes);
	tfp_arena_release(&program->arena);
	tfp_free(program->instructions);
	tfp_free(program->computations);
	tfp_free(program->operands);
	tfp_free(program->called);
	tfp_free(program->controls);
	tfp_free(program->users);
	*program = (struct tfp_hlo_program){.name = {"", 0}};
}

uint64_t tfp_hlo_program_heap_bytes(const struct tfp_hlo_program *p)
{
	return (uint64_t)p->instruction_count * sizeof(*p->instructions) +
	       (uint64_t)p->computation_count * sizeof(*p->computations) +
	       (uint64_t)p->link_count * 2 * sizeof(*p->operands) +
	       (uint64_t)p->shapes.count * sizeof(*p->shapes.list) + p->arena.bytes;
}

/* ---- details ---- */

enum {
	D_FUSION_KIND = 11,
	D_DIMENSIONS = 14,
	D_WINDOW = 15,
	D_CONVOLUTION = 16,
	D_TARGET = 28,
	D_DOT = 30,
	D_FFT_LENGTH = 32,
	D_BACKEND_CONFIG = 43,
	D_REPLICA_GROUPS = 49,
	D_FEATURE_GROUPS = 50,
	D_BATCH_GROUPS = 58,
	D_DEVICE_LIST = 87,
	D_IOTA_LIST = 92,
};

static bool add_numbers(struct tfp_pb_cursor *c, uint32_t tag, struct tfp_hlo_list *list)
{
	struct tfp_pb_numbers n = {0};
	int64_t value;
	while (tfp_pb_next_int64(c, tag, &n, &value)) {
		if (list->count == TFP_HLO_RANK_MAX)
			return false;
		list->values[list->count++] = value;
	}
	return true;
}

static bool read_window(struct tfp_hlo_details *d, struct tfp_str message)
{
	struct tfp_pb_cursor c = walk(message), inner;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag != TFP_PB_TAG(1, TFP_PB_BYTES)) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		inner = walk(text(&c));
		if (c.damage || d->window_rank == TFP_HLO_RANK_MAX)
			return false;
		struct tfp_hlo_dimension *to = &d->window[d->window_rank++];
		*to = (struct tfp_hlo_dimension){.size = 0};
		int64_t *const fields[] = {NULL,
					   &to->size,
					   &to->stride,
					   &to->padding_low,
					   &to->padding_high,
					   &to->window_dilation,
					   &to->base_dilation};
		while (tfp_pb_next(&inner, &tag)) {
			if (TFP_PB_WIRE(tag) == TFP_PB_VARINT && TFP_PB_FIELD(tag) <= 6)
				tfp_pb_int64(&inner, fields[TFP_PB_FIELD(tag)]);
			else
				tfp_pb_skip(&inner, tag);
		}
		if (inner.damage)
			return false;
	}
	return !c.damage;
}

static bool read_convolution(struct tfp_hlo_details *d, struct tfp_str message)
{
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag;
	/* xla_data.proto: ConvolutionDimensionNumbers. */
	int64_t *const numbers[] = {
		[7] = &d->convolution.input_batch,
		[8] = &d->convolution.input_feature,
		[3] = &d->convolution.kernel_input_feature,
		[4] = &d->convolution.kernel_output_feature,
		[9] = &d->convolution.output_batch,
		[10] = &d->convolution.output_feature,
	};
	struct tfp_hlo_list *const lists[] = {
		[11] = &d->convolution.input_spatial,
		[6] = &d->convolution.kernel_spatial,
		[12] = &d->convolution.output_spatial,
	};
	while (tfp_pb_next(&c, &tag)) {
		uint32_t field = TFP_PB_FIELD(tag), wire = TFP_PB_WIRE(tag);
		if (field < sizeof(numbers) / sizeof(*numbers) && numbers[field] &&
		    wire == TFP_PB_VARINT)
			tfp_pb_int64(&c, numbers[field]);
		else if (field < sizeof(lists) / sizeof(*lists) && lists[field] &&
			 (wire == TFP_PB_VARINT || wire == TFP_PB_BYTES)) {
			if (!add_numbers(&c, tag, lists[field]))
				return false;
		} else
			tfp_pb_skip(&c, tag);
	}
	return !c.damage;
}

/* Only one list of a message is wanted. */
static bool read_list(struct tfp_hlo_list *list, struct tfp_str message, uint32_t field)
{
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (TFP_PB_FIELD(tag) == field &&
		    (TFP_PB_WIRE(tag) == TFP_PB_VARINT || TFP_PB_WIRE(tag) == TFP_PB_BYTES)) {
			if (!add_numbers(&c, tag, list))
				return false;
		} else {
			tfp_pb_skip(&c, tag);
		}
	}
	return !c.damage;
}

/* A ReplicaGroup may name any number of replicas: they are counted only. */
static void count_group(struct tfp_hlo_details *d, struct tfp_str message)
{
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag;
	int64_t count = 0, id;
	while (tfp_pb_next(&c, &tag)) {
		struct tfp_pb_numbers n = {0};
		if (TFP_PB_FIELD(tag) != 1) {
			tfp_pb_skip(&c, tag);
			continue;
		}
		while (tfp_pb_next_int64(&c, tag, &n, &id))
			count++;
	}
	if (count > d->largest_replica_group)
		d->largest_replica_group = count;
}

/* IotaReplicaGroupListProto: num_devices_per_group. */
static void count_iota(struct tfp_hlo_details *d, struct tfp_str message)
{
	struct tfp_pb_cursor c = walk(message);
	int64_t size = 0;
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(2, TFP_PB_VARINT))
			tfp_pb_int64(&c, &size);
		else
			tfp_pb_skip(&c, tag);
	}
	if (size > d->largest_replica_group)
		d->largest_replica_group = size;
}

/* CollectiveDeviceListProto: groups one by one, or an IotaReplicaGroupListProto. */
static void count_devices(struct tfp_hlo_details *d, struct tfp_str message)
{
	struct tfp_pb_cursor c = walk(message);
	uint32_t tag;
	while (tfp_pb_next(&c, &tag)) {
		if (tag == TFP_PB_TAG(1, TFP_PB_BYTES))
			count_group(d, text(&c));
		else if (tag == TFP_PB_TAG(2, TFP_PB_BYTES))
			count_iota(d, text(&c));
		else
			tfp_pb_skip(&c, tag);
	}
}

enum tfp_status tfp_hlo_details(const struct tfp_hlo_op *op, struct tfp_hlo_details *d,
				struct tfp_error *err)
{
	struct tfp_pb_cursor c = walk(op->message);
	bool ok = true;
	uint32_t tag;
	*d = (struct tfp_hlo_details){.feature_group_count = 0};
	d->fusion_kind = d->custom_call_target = d->backend_config = (struct tfp_str){"", 0};
	while (ok && tfp_pb_next(&c, &tag)) {
		switch (tag) {
		case TFP_PB_TAG(D_FUSION_KIND, TFP_PB_BYTES):
			d->fusion_kind = text(&c);
			break;
		case TFP_PB_TAG(D_DIMENSIONS, TFP_PB_VARINT):
		case TFP_PB_TAG(D_DIMENSIONS, TFP_PB_BYTES):
			ok = add_numbers(&c, tag, &d->dimensions);
			break;
		case TFP_PB_TAG(D_WINDOW, TFP_PB_BYTES):
			ok = read_window(d, text(&c));
			break;
		case TFP_PB_TAG(D_CONVOLUTION, TFP_PB_BYTES):
			ok = read_convolution(d, text(&c));
			break;
		case TFP_PB_TAG(D_TARGET, TFP_PB_BYTES):
			d->custom_call_target = text(&c);
			break;
		case TFP_PB_TAG(D_DOT, TFP_PB_BYTES):
			ok = read_list(&d->lhs_contracting, text(&c), 1);
			break;
		case TFP_PB_TAG(D_FFT_LENGTH, TFP_PB_VARINT):
		case TFP_PB_TAG(D_FFT_LENGTH, TFP_PB_BYTES):
			ok = add_numbers(&c, tag, &d->fft_length);
			break;
		case TFP_PB_TAG(D_BACKEND_CONFIG, TFP_PB_BYTES):
			d->backend_config = text(&c);
			break;
		case TFP_PB_TAG(D_REPLICA_GROUPS, TFP_PB_BYTES):
			count_group(d, text(&c));
			break;
		case TFP_PB_TAG(D_DEVICE_LIST, TFP_PB_BYTES):
			count_devices(d, text(&c));
			break;
		case TFP_PB_TAG(D_IOTA_LIST, TFP_PB_BYTES):
			count_iota(d, text(&c));
			break;
		case TFP_PB_TAG(D_FEATURE_GROUPS, TFP_PB_VARINT):
			tfp_pb_int64(&c, &d->feature_group_count);
			break;
		case TFP_PB_TAG(D_BATCH_GROUPS, TFP_PB_VARINT):
			tfp_pb_int64(&c, &d->batch_group_count);
			break;
		default:
			tfp_pb_skip(&c, tag);
		}
	}
	if (!ok || c.damage)
		return damaged(err, "an instruction is damaged, or a list in it too long",
			       op->name);
	if (d->feature_group_count < 1)
		d->feature_group_count = 1;
	if (d->batch_group_count < 1)
		d->batch_group_count = 1;
	return TFP_OK;
}

/* ---- order ---- */

enum tfp_status tfp_hlo_visit_order(const struct tfp_hlo_program *program, uint32_t computation,
				    uint32_t *order, struct tfp_error *err)
{
	const struct tfp_hlo_computation *in = &program->computations[computation];
	enum { NEW, OPEN, DONE };
	uint8_t *state = tfp_calloc((size_t)in->count + 1, 1);
	uint32_t *stack = NULL;
	size_t depth = 0, room = 0, done = 0;
	enum tfp_status status = state ? TFP_OK : no_memory(err);
	/* Instructions without users first, in order; the root last. */
	for (uint32_t i = 0; status == TFP_OK && i <= in->count; i++) {
		uint32_t from = i < in->count ? in->first + i : in->root;
		if (i < in->count && (from == in->root || program->instructions[from].user_count))
			continue;
		if (!TFP_GROW(stack, depth, room)) {
			status = no_memory(err);
			break;
		}
		stack[depth++] = from;
		while (status == TFP_OK && depth > 0) {
			uint32_t top = stack[depth - 1];
			const struct tfp_hlo_op *op = &program->instructions[top];
			uint8_t *at = &state[top - in->first];
			if (*at != NEW) {
				depth--;
				if (*at == OPEN)
					order[done++] = top;
				*at = DONE;
				continue;
			}
			*at = OPEN;
			for (uint32_t o = op->operand_count; o-- > 0;) {
				uint32_t operand = tfp_hlo_operand(program, top, o);
				if (state[operand - in->first] != NEW)
					continue;
				if (!TFP_GROW(stack, depth, room)) {
					status = no_memory(err);
					break;
				}
				stack[depth++] = operand;
			}
		}
	}
	tfp_free(stack);
	tfp_free(state);
	return status;
}

uint32_t tfp_hlo_wrapped(const struct tfp_hlo_program *p, uint32_t instruction)
{
	const struct tfp_hlo_op *op = &p->instructions[instruction];
	/* Operands come before their users, so this ends. */
	while (op->opcode != TFP_HLO_ASYNC_START) {
		if ((op->opcode != TFP_HLO_ASYNC_UPDATE && op->opcode != TFP_HLO_ASYNC_DONE) ||
		    op->operand_count == 0)
			return TFP_HLO_NONE;
		instruction = tfp_hlo_operand(p, instruction, 0);
		op = &p->instructions[instruction];
	}
	if (op->called_count == 0)
		return TFP_HLO_NONE;
	const struct tfp_hlo_computation *c = &p->computations[tfp_hlo_called(p, instruction, 0)];
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		if (i != c->root && p->instructions[i].opcode != TFP_HLO_PARAMETER)
			return TFP_HLO_NONE;
	}
	return c->root;
}
