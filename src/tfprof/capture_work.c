/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/capture_work.h"

#include "analysis/memory/memory_events.h"
#include "analysis/summary/op_stats.h"
#include "analysis/summary/work_by_step.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "session/summary.h"
#include "tfprof/capture_path.h"
#include "tfprof/graph_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tfp_str nothing = {"", 0};

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the operations of the run");
}

/* ---- units ---- */

/* data is NULL without memory. */
static struct tfp_str keep(struct tfp_capture_work *work, struct tfp_str s)
{
	if (s.size == 0)
		return nothing;
	return (struct tfp_str){tfp_arena_strndup(&work->arena, s.data, s.size), s.size};
}

static bool fill(struct tfp_capture_work *work, struct tfp_str *to, struct tfp_str from)
{
	if (to->size == 0)
		*to = keep(work, from);
	return to->data != NULL;
}

#define KEY_HEAD (1 + sizeof(uint64_t))

/* In small when it fits, else of the heap; NULL without memory. */
static char *make_key(enum tfp_unit_kind kind, uint64_t program_id, struct tfp_str name,
		      char *small, size_t room)
{
	size_t size = KEY_HEAD + name.size;
	char *key = size > room ? tfp_malloc(size) : small;
	if (!key)
		return NULL;
	key[0] = (char)kind;
	memcpy(key + 1, &program_id, sizeof(program_id));
	if (name.size)
		memcpy(key + KEY_HEAD, name.data, name.size);
	return key;
}

uint32_t tfp_unit_find(const struct tfp_capture_work *work, enum tfp_unit_kind kind,
		       uint64_t program_id, struct tfp_str name)
{
	char small[256], *key = make_key(kind, program_id, name, small, sizeof(small));
	uint32_t found = TFP_UNIT_NONE;
	if (key)
		found = tfp_str_map_find(&work->by_key, key, KEY_HEAD + name.size);
	if (key != small)
		tfp_free(key);
	return found;
}

/* Finds the unit, or makes it with all else empty; NULL without memory. It holds until the next
 * call. */
static struct tfp_unit *enter(struct tfp_capture_work *work, enum tfp_unit_kind kind,
			      uint64_t program_id, struct tfp_str name)
{
	char small[256], *key = make_key(kind, program_id, name, small, sizeof(small)), *kept;
	size_t size = KEY_HEAD + name.size;
	struct tfp_unit *unit = NULL;
	if (!key)
		return NULL;
	uint32_t found = tfp_str_map_find(&work->by_key, key, size);
	if (found != TFP_STR_MAP_NONE) {
		unit = &work->units[found];
	} else if (work->count < TFP_UNIT_NONE - 1 &&
		   TFP_GROW(work->units, work->count, work->room) &&
		   (kept = tfp_arena_strndup(&work->arena, key, size)) &&
		   tfp_str_map_add(&work->by_key, kept, size, (uint32_t)work->count) !=
			   TFP_STR_MAP_NONE) {
		unit = &work->units[work->count++];
		*unit = (struct tfp_unit){.kind = kind,
					  .name = {kept + KEY_HEAD, name.size},
					  .program_id = program_id,
					  .op = nothing,
					  .type = nothing,
					  .category = nothing,
					  .expression = nothing,
					  .source_file = nothing,
					  .source_stack = nothing,
					  .has_cost = true};
	}
	if (key != small)
		tfp_free(key);
	return unit;
}

/* ---- steps and devices ---- */

static uint32_t device_of(struct tfp_capture_work *work, const char *host, struct tfp_str plane)
{
	size_t size = strlen(host) + 1 + plane.size;
	char *name = tfp_arena_alloc(&work->arena, size + 1);
	if (!name || !TFP_GROW(work->devices, work->device_count, work->device_room))
		return TFP_STR_MAP_NONE;
	size = (size_t)snprintf(name, size + 1, "%s%s%.*s", host, *host ? " " : "", (int)plane.size,
				plane.data);
	uint32_t at = tfp_str_map_add(&work->by_device, name, size, (uint32_t)work->device_count);
	if (at == work->device_count)
		work->devices[work->device_count++] = (struct tfp_str){name, size};
	return at;
}

static bool use_device(struct tfp_capture_work *work, struct tfp_unit *unit, uint32_t device)
{
	uint32_t last = 0;
	for (uint32_t u = unit->first_device; u; u = work->uses[u - 1].next) {
		if (work->uses[u - 1].device == device)
			return true;
		last = u;
	}
	if (work->use_count >= UINT32_MAX - 1 ||
	    !TFP_GROW(work->uses, work->use_count, work->use_room))
		return false;
	work->uses[work->use_count++] = (struct tfp_unit_device){device, 0};
	if (last)
		work->uses[last - 1].next = (uint32_t)work->use_count;
	else
		unit->first_device = (uint32_t)work->use_count;
	return true;
}

/* The run's step that a host's is; those of several hosts are one if they have one name. */
static uint32_t step_of(struct tfp_capture_work *work, struct tfp_str name, size_t place)
{
	char number[24];
	struct tfp_str key = name;
	if (key.size == 0) {
		int size = snprintf(number, sizeof(number), "%zu", place);
		key = (struct tfp_str){number, (size_t)size};
	}
	uint32_t at = tfp_str_map_find(&work->by_step, key.data, key.size);
	if (at != TFP_STR_MAP_NONE)
		return at;
	char *kept = tfp_arena_strndup(&work->arena, key.data, key.size);
	if (!kept || work->step_count >= INT32_MAX ||
	    !TFP_GROW(work->steps, work->step_count, work->step_room))
		return TFP_STR_MAP_NONE;
	at = tfp_str_map_add(&work->by_step, kept, key.size, (uint32_t)work->step_count);
	if (at == TFP_STR_MAP_NONE)
		return at;
	work->steps[work->step_count++].name =
		name.size ? (struct tfp_str){kept, key.size} : nothing;
	return at;
}

struct tfp_unit *tfp_work_unit(struct tfp_capture_work *work, enum tfp_unit_kind kind,
			       uint64_t program_id, struct tfp_str name)
{
	return enter(work, kind, program_id, name);
}

bool tfp_work_device(struct tfp_capture_work *work, struct tfp_unit *unit, const char *host,
		     struct tfp_str plane)
{
	uint32_t device = device_of(work, host, plane);
	return device != TFP_STR_MAP_NONE && use_device(work, unit, device);
}

uint32_t tfp_work_step(struct tfp_capture_work *work, struct tfp_str name, size_t place)
{
	return step_of(work, name, place);
}

/* ---- a host ---- */

struct visit {
	struct tfp_capture_work *work;
	const struct tfp_capture_wanted *wanted;
	/* Of the host at hand. */
	const char *host;
	const struct tfp_work_by_step *by_step;
	const struct tfp_op_texts *texts;
	const struct tfp_hlo_modules *modules;
	uint32_t *steps; /* the run's, by place in by_step->steps */
};

/* The run's step of a group, or TFP_NO_STEP. */
static int32_t step_of_group(const struct visit *v, int32_t group)
{
	size_t low = 0, high = v->by_step->step_count;
	while (group >= 0 && low < high) {
		size_t middle = low + (high - low) / 2;
		if (v->by_step->steps[middle].group < (uint32_t)group)
			low = middle + 1;
		else
			high = middle;
	}
	if (group >= 0 && low < v->by_step->step_count &&
	    v->by_step->steps[low].group == (uint32_t)group)
		return (int32_t)v->steps[low];
	return TFP_NO_STEP;
}

/* What the program says of an instruction. */
static bool add_text(struct visit *v, struct tfp_unit *unit)
{
	const struct tfp_op_text *text = tfp_op_texts_find(v->texts, unit->program_id, unit->name);
	const struct tfp_hlo_module *module = tfp_hlo_module_find(v->modules, unit->program_id);
	uint32_t at = TFP_STR_MAP_NONE;
	if (module)
		at = tfp_str_map_find(&module->by_name, unit->name.data, unit->name.size);
	if (at != TFP_STR_MAP_NONE && !unit->has_output) {
		unit->has_output = true;
		unit->output_bytes = tfp_hlo_shape_of(&module->program, at)->leaf_bytes;
	}
	if (!text || unit->expression.size || unit->source_file.size || unit->source_stack.size)
		return true;
	unit->source_line = text->source_line;
	return fill(v->work, &unit->expression, text->expression) &&
	       fill(v->work, &unit->source_file, text->source_file) &&
	       fill(v->work, &unit->source_stack, text->source_stack);
}

static bool describe(struct visit *v, struct tfp_unit *unit, const struct tfp_op *op)
{
	struct tfp_str name = op->name, type = op->category;
	if (unit->kind == TFP_UNIT_DEVICE)
		tfp_framework_op(op->provenance, op->name, &name, &type);
	else if (unit->kind == TFP_UNIT_HOST && type.size == 0)
		type = (struct tfp_str){"Unknown", 7};
	unit->origin = (uint8_t)tfp_op_origin(op);
	unit->flags |= unit->kind == TFP_UNIT_HOST ? TFP_ON_HOST : TFP_ON_DEVICE;
	unit->flags |= tfp_path_passes(name, type,
				       unit->origin == TFP_ORIGIN_INSTRUCTION ? op->name : nothing);
	if (!fill(v->work, &unit->op, name) || !fill(v->work, &unit->type, type) ||
	    !fill(v->work, &unit->category, op->category))
		return false;
	return unit->origin != TFP_ORIGIN_INSTRUCTION || add_text(v, unit);
}

static bool add_table(struct visit *v, enum tfp_unit_kind kind, const struct tfp_op_db *db,
		      const struct tfp_op_steps *steps, struct tfp_str plane)
{
	struct tfp_capture_work *work = v->work;
	uint32_t device = device_of(work, v->host, plane);
	uint32_t *places = tfp_reallocarray(NULL, db->count + 1, sizeof(*places));
	bool ok = places && device != TFP_STR_MAP_NONE;
	for (size_t i = 0; ok && i < db->count && tfp_goes_on(i); i++) {
		const struct tfp_op *op = &db->ops[i];
		places[i] = TFP_UNIT_NONE;
		if (tfp_op_is_idle(op))
			continue;
		struct tfp_unit *unit = enter(work, kind, op->module_id, op->name);
		ok = unit && describe(v, unit, op) && use_device(work, unit, device);
		if (!ok)
			break;
		unit->occurrences += op->occurrences;
		unit->self_ps += op->self_time_ps;
		unit->has_cost &= op->has_cost && kind == TFP_UNIT_DEVICE;
		unit->flops += op->flops;
		unit->model_flops += op->model_flops;
		unit->bytes_accessed += op->bytes_accessed;
		work->any_instruction |= unit->origin == TFP_ORIGIN_INSTRUCTION;
		places[i] = (uint32_t)(unit - work->units);
	}
	for (size_t i = 0; ok && i < steps->count && tfp_goes_on(i); i++) {
		struct tfp_op_step cell = steps->cells[i];
		cell.step = step_of_group(v, cell.step);
		if (places[cell.op] != TFP_UNIT_NONE)
			ok = tfp_op_steps_add_cell(&work->cells, places[cell.op], &cell);
	}
	tfp_free(places);
	return ok;
}

/* ---- programs ---- */

/* Which modules ran; all of them where no device says. */
static bool has_run(const struct tfp_capture_work *work, const struct visit *v,
		    const struct tfp_hlo_module *module)
{
	bool any = false;
	for (size_t d = 0; d < v->by_step->device_count; d++) {
		const struct tfp_op_db *db = &v->by_step->devices[d].work.ops;
		for (size_t i = 0; i < db->count; i++) {
			if (tfp_op_origin(&db->ops[i]) != TFP_ORIGIN_INSTRUCTION)
				continue;
			any = true;
			if (db->ops[i].module_id == module->program_id)
				return true;
		}
	}
	return !any && !work->any_instruction;
}

/* copy: where the graph has the instruction; NULL: nobody asked. */
static bool add_parameter(struct visit *v, const struct tfp_hlo_module *module, uint32_t i,
			  struct tfp_captured_instruction *copy)
{
	const struct tfp_hlo_shape *shape = tfp_hlo_shape_of(&module->program, i);
	struct tfp_str name = tfp_op_name_parse(module->instructions[i].op_fullname).name;
	if (name.size == 0 || !tfp_name_matches(&v->work->parameters, name))
		return true;
	struct tfp_unit *unit = enter(v->work, TFP_UNIT_PARAMETER, 0, name);
	if (!unit || !fill(v->work, &unit->op, name))
		return false;
	v->work->parameter_count += unit->type.size == 0;
	unit->type = unit->category = (struct tfp_str){"parameter", 9};
	if (shape->elements > unit->parameters)
		unit->parameters = shape->elements;
	if (copy)
		copy->unit = (uint32_t)(unit - v->work->units);
	return true;
}

/* What a program calls as its own: not what fusions are made of, nor functions of an operand. */
static bool calls(const struct tfp_hlo_op *op)
{
	static const char *const callers[] = {"while", "call", "conditional", "async-start"};
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		if (tfp_str_equal(op->opcode_name, callers[i]))
			return true;
	}
	return false;
}

static bool copy_feeds(struct tfp_capture_work *work, const struct tfp_hlo_program *program,
		       uint32_t i, struct tfp_captured_instruction *to)
{
	const struct tfp_hlo_op *op = &program->instructions[i];
	uint32_t called = calls(op) ? op->called_count : 0, n = 0;
	uint32_t *feeds = tfp_arena_zalloc(&work->arena, (size_t)op->operand_count + called + 1,
					   sizeof(*feeds));
	if (!feeds)
		return false;
	for (uint32_t c = 0; c < called; c++)
		feeds[n++] = program->computations[tfp_hlo_called(program, i, c)].root;
	for (uint32_t o = 0; o < op->operand_count; o++)
		feeds[n++] = tfp_hlo_operand(program, i, o);
	to->feeds = feeds;
	to->feed_count = n;
	return true;
}

/* Computations that are reached from the entry by calls; the others are parts of instructions. */
static bool find_called(const struct tfp_hlo_program *program, bool *is_called)
{
	memset(is_called, 0, program->computation_count);
	is_called[program->entry] = true;
	/* Called computations come before those that call them. */
	for (uint32_t c = program->computation_count; c-- > 0;) {
		const struct tfp_hlo_computation *computation = &program->computations[c];
		for (uint32_t i = computation->first;
		     is_called[c] && i < computation->first + computation->count; i++) {
			const struct tfp_hlo_op *op = &program->instructions[i];
			for (uint32_t n = 0; calls(op) && n < op->called_count; n++)
				is_called[tfp_hlo_called(program, i, n)] = true;
		}
	}
	return true;
}

static bool copy_program(struct tfp_capture_work *work, const struct tfp_hlo_module *module,
			 struct tfp_captured_program *to)
{
	const struct tfp_hlo_program *program = &module->program;
	bool *is_called = tfp_calloc((size_t)program->computation_count + 1, sizeof(*is_called));
	to->instructions = tfp_arena_zalloc(&work->arena, (size_t)program->instruction_count + 1,
					    sizeof(*to->instructions));
	bool ok = is_called && to->instructions && program->computation_count > 0 &&
		  find_called(program, is_called);
	for (uint32_t i = 0; ok && i < program->instruction_count && tfp_goes_on(i); i++) {
		struct tfp_captured_instruction *copy = &to->instructions[i];
		*copy = (struct tfp_captured_instruction){
			.name = keep(work, program->instructions[i].name),
			.is_fused = !is_called[program->instructions[i].computation],
			.unit = TFP_UNIT_NONE};
		ok = copy->name.data && copy_feeds(work, program, i, copy);
	}
	if (program->computation_count > 0)
		to->root = program->computations[program->entry].root;
	to->count = ok ? program->instruction_count : 0;
	tfp_free(is_called);
	return ok || program->computation_count == 0;
}

static bool add_programs(struct visit *v)
{
	struct tfp_capture_work *work = v->work;
	for (size_t m = 0; m < v->modules->module_count; m++) {
		const struct tfp_hlo_module *module = &v->modules->modules[m];
		const struct tfp_hlo_program *program = &module->program;
		if (!has_run(work, v, module) || tfp_capture_program(work, module->program_id))
			continue;
		if (!TFP_GROW(work->programs, work->program_count, work->program_room))
			return false;
		struct tfp_captured_program *copy = &work->programs[work->program_count];
		*copy = (struct tfp_captured_program){.id = module->program_id,
						      .name = keep(work, module->name)};
		if (!copy->name.data)
			return false;
		work->program_count++;
		if (v->wanted->graph && !copy_program(work, module, copy))
			return false;
		for (uint32_t i = 0; i < program->instruction_count && tfp_goes_on(i); i++) {
			const struct tfp_hlo_op *op = &program->instructions[i];
			if (op->opcode == TFP_HLO_PARAMETER && op->computation == program->entry &&
			    !add_parameter(v, module, i,
					   copy->count ? &copy->instructions[i] : NULL))
				return false;
		}
	}
	return true;
}

const struct tfp_captured_program *tfp_capture_program(const struct tfp_capture_work *work,
						       uint64_t id)
{
	for (size_t i = 0; i < work->program_count; i++) {
		if (work->programs[i].id == id)
			return &work->programs[i];
	}
	return NULL;
}

/* ---- memory ---- */

/* What an op holds while an allocator's events are walked. */
struct held {
	uint32_t unit;
	int64_t bytes, peak;
};

/* The ops that allocators' events name. */
struct holders {
	struct held *list; /* owned */
	size_t count;
	uint32_t *of_label; /* owned; places in the list, TFP_UNIT_NONE: nobody is named */
};

static struct tfp_unit *memory_unit(struct tfp_capture_work *work,
				    const struct tfp_memory_label *label)
{
	struct tfp_op_name op = tfp_op_name_parse(label->op);
	struct tfp_unit *unit = enter(work, TFP_UNIT_MEMORY, 0, op.name);
	if (!unit || !fill(work, &unit->op, op.name) || !fill(work, &unit->type, op.type))
		return NULL;
	unit->flags |= tfp_path_passes(unit->op, unit->type, nothing);
	return unit;
}

/* Labels of one op, whatever its tensors are, are one holder. Released by the caller. */
static bool find_holders(struct tfp_capture_work *work, const struct tfp_memory *memory,
			 struct holders *h)
{
	struct tfp_str_map places = {0};
	bool ok = true;
	*h = (struct holders){.list = tfp_calloc(memory->label_count + 1, sizeof(*h->list)),
			      .of_label =
				      tfp_calloc(memory->label_count + 1, sizeof(*h->of_label))};
	ok = h->list && h->of_label;
	for (size_t l = 0; ok && l < memory->label_count; l++) {
		const struct tfp_memory_label *label = &memory->labels[l];
		h->of_label[l] = TFP_UNIT_NONE;
		if (label->op.size == 0 || l == memory->unused_label || l == memory->stack_label)
			continue;
		struct tfp_unit *unit = memory_unit(work, label);
		if (!unit)
			ok = false;
		else
			h->of_label[l] = tfp_str_map_add(&places, unit->name.data, unit->name.size,
							 (uint32_t)h->count);
		ok = ok && h->of_label[l] != TFP_STR_MAP_NONE;
		if (ok && h->of_label[l] == h->count)
			h->list[h->count++].unit = (uint32_t)(unit - work->units);
	}
	tfp_str_map_release(&places);
	return ok;
}

/* As memory_events.h counts failures: nothing was given, and no more is in use than before. */
static bool got_nothing(const struct tfp_allocator *a, size_t i)
{
	if (a->requested_bytes[i] <= 0 || (a->address[i] != 0 && a->allocation_bytes[i] > 0))
		return false;
	return i > 0 ? a->used_bytes[i] <= a->used_bytes[i - 1]
		     : a->used_bytes[i] < a->requested_bytes[i];
}

static void add_allocator(struct tfp_capture_work *work, const struct tfp_allocator *a,
			  struct holders *h)
{
	for (size_t i = 0; i < h->count; i++)
		h->list[i].bytes = h->list[i].peak = 0;
	for (size_t i = 0; i < a->count && tfp_goes_on(i); i++) {
		uint32_t at = h->of_label[a->label[i]];
		if (at == TFP_UNIT_NONE)
			continue;
		struct held *held = &h->list[at];
		struct tfp_unit *unit = &work->units[held->unit];
		int64_t bytes = a->allocation_bytes[i];
		if (a->activity[i] != TFP_MEMORY_ALLOCATION) {
			held->bytes = tfp_wrap_add(held->bytes, -bytes);
			/* What was there before the capture began. */
			if (held->bytes < 0)
				held->bytes = 0;
			continue;
		}
		unit->requested_bytes = tfp_wrap_add(unit->requested_bytes, a->requested_bytes[i]);
		if (got_nothing(a, i))
			continue;
		held->bytes = tfp_wrap_add(held->bytes, bytes);
		if (held->bytes > held->peak)
			held->peak = held->bytes;
	}
	for (size_t i = 0; i < h->count; i++) {
		struct tfp_unit *unit = &work->units[h->list[i].unit];
		unit->peak_bytes = tfp_wrap_add(unit->peak_bytes, h->list[i].peak);
		unit->residual_bytes = tfp_wrap_add(unit->residual_bytes, h->list[i].bytes);
	}
}

static enum tfp_status add_memory(struct visit *v, struct tfp_capture *capture,
				  struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_memory *memory;
	enum tfp_status status = tfp_memory_get(capture, pool, &memory, err);
	if (status != TFP_OK || memory->allocator_count == 0)
		return status;
	v->work->has_memory = true;
	struct holders holders;
	bool ok = find_holders(v->work, memory, &holders);
	for (size_t a = 0; ok && a < memory->allocator_count; a++)
		add_allocator(v->work, &memory->allocators[a], &holders);
	tfp_free(holders.list);
	tfp_free(holders.of_label);
	return ok ? TFP_OK : no_memory(err);
}

/* ---- all hosts ---- */

/* JAX names no operations of the host; what they took is unknown, then. */
static bool has_host_ops(const struct tfp_work_by_step *w)
{
	for (size_t i = 0; i < w->host_ops.count; i++) {
		if (!tfp_op_is_idle(&w->host_ops.ops[i]))
			return true;
	}
	return false;
}

static bool add_host(struct visit *v)
{
	const struct tfp_work_by_step *w = v->by_step;
	v->work->by_module |= w->by_module;
	v->work->has_host |= has_host_ops(w);
	for (size_t s = 0; s < w->step_count; s++) {
		v->steps[s] = step_of(v->work, w->steps[s].name, s);
		if (v->steps[s] == TFP_STR_MAP_NONE)
			return false;
	}
	for (size_t d = 0; d < w->device_count; d++) {
		const struct tfp_device_by_step *device = &w->devices[d];
		struct tfp_str plane = device->plane->name;
		v->work->has_devices |= device->work.ops.count + device->work.unnamed.count > 0;
		if (!add_table(v, TFP_UNIT_DEVICE, &device->work.ops, &device->steps, plane) ||
		    !add_table(v, TFP_UNIT_UNNAMED, &device->work.unnamed, &device->unnamed_steps,
			       plane))
			return false;
	}
	return (!w->has_host || add_table(v, TFP_UNIT_HOST, &w->host_ops, &w->host_steps,
					  (struct tfp_str){"/host:CPU", 9})) &&
	       add_programs(v);
}

static enum tfp_status visit_host(void *context, struct tfp_capture *capture, const char *host,
				  struct tfp_pool *pool, struct tfp_error *err)
{
	struct visit *v = context;
	v->host = host;
	enum tfp_status status = tfp_work_by_step_get(capture, pool, &v->by_step, err);
	if (status == TFP_OK)
		status = tfp_hlo_modules_get(capture, pool, &v->modules, err);
	if (status == TFP_OK)
		status = tfp_op_texts_get(capture, pool, &v->texts, err);
	if (status != TFP_OK)
		return status;
	v->steps = tfp_calloc(v->by_step->step_count + 1, sizeof(*v->steps));
	bool ok = v->steps && add_host(v);
	tfp_free(v->steps);
	return ok ? add_memory(v, capture, pool, err) : no_memory(err);
}

static int by_unit(const void *a, const void *b)
{
	const struct tfp_op_step *x = a, *y = b;
	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

/* Memory is told by the name of an op, whose type others may know. */
static bool name_types(struct tfp_capture_work *work)
{
	struct tfp_str_map types = {0};
	bool ok = true;
	for (size_t i = 0; ok && work->has_memory && i < work->count; i++) {
		const struct tfp_unit *u = &work->units[i];
		if (u->kind == TFP_UNIT_HOST || u->kind == TFP_UNIT_DEVICE)
			ok = tfp_str_map_add(&types, u->op.data, u->op.size, (uint32_t)i) !=
			     TFP_STR_MAP_NONE;
	}
	for (size_t i = 0; i < work->count; i++) {
		struct tfp_unit *u = &work->units[i];
		if (u->kind != TFP_UNIT_MEMORY || u->type.size)
			continue;
		uint32_t at = tfp_str_map_find(&types, u->op.data, u->op.size);
		u->type = at == TFP_STR_MAP_NONE ? (struct tfp_str){"Unknown", 7}
						 : work->units[at].type;
	}
	tfp_str_map_release(&types);
	return ok;
}

static bool finish(struct tfp_capture_work *work)
{
	struct tfp_op_steps *cells = &work->cells;
	if (cells->count)
		qsort(cells->cells, cells->count, sizeof(*cells->cells), by_unit);
	for (size_t i = 0; i < cells->count; i++) {
		struct tfp_unit *unit = &work->units[cells->cells[i].op];
		if (unit->cell_count++ == 0)
			unit->first_cell = (uint32_t)i;
	}
	for (size_t p = 0; p < work->program_count; p++) {
		struct tfp_captured_program *program = &work->programs[p];
		for (uint32_t i = 0; i < program->count; i++) {
			struct tfp_captured_instruction *one = &program->instructions[i];
			if (one->unit == TFP_UNIT_NONE)
				one->unit = tfp_unit_find(
					work, work->graph ? TFP_UNIT_NODE : TFP_UNIT_DEVICE,
					program->id, one->name);
		}
	}
	return name_types(work);
}

enum tfp_status tfp_work_begin(struct tfp_capture_work *work,
			       const struct tfp_capture_wanted *wanted, struct tfp_error *err)
{
	*work = (struct tfp_capture_work){0};
	tfp_arena_init(&work->arena, SIZE_MAX);
	return tfp_name_match_init_strict(
		&work->parameters,
		wanted->parameters_regexes ? wanted->parameters_regexes : TFP_PARAMETERS_RULE, err);
}

enum tfp_status tfp_work_finish(struct tfp_capture_work *work, struct tfp_error *err)
{
	if (tfp_cancelled())
		return tfp_fail_cancelled(err);
	return finish(work) ? TFP_OK : no_memory(err);
}

enum tfp_status tfp_capture_work_init(struct tfp_capture_work *work,
				      const struct tfp_session *session,
				      const struct tfp_capture_wanted *wanted,
				      struct tfp_error *err)
{
	struct visit v = {.work = work, .wanted = wanted};
	enum tfp_status status = tfp_work_begin(work, wanted, err);
	if (status == TFP_OK)
		status = tfp_session_each(session, visit_host, &v, err);
	return status == TFP_OK ? tfp_work_finish(work, err) : status;
}

void tfp_capture_work_release(struct tfp_capture_work *work)
{
	tfp_graph_run_free(work->graph);
	tfp_free(work->units);
	tfp_free(work->steps);
	tfp_free(work->devices);
	tfp_free(work->uses);
	tfp_free(work->programs);
	tfp_op_steps_release(&work->cells);
	tfp_str_map_release(&work->by_key);
	tfp_str_map_release(&work->by_step);
	tfp_str_map_release(&work->by_device);
	tfp_name_match_release(&work->parameters);
	tfp_arena_release(&work->arena);
	*work = (struct tfp_capture_work){0};
}

/* ---- amounts ---- */

/* What it took in the part that is asked for. */
static struct tfp_op_step part_of(const struct tfp_capture_work *work, const struct tfp_unit *unit,
				  int64_t step)
{
	struct tfp_op_step part = {.occurrences = 0};
	if (step == TFP_CAPTURE_ALL) {
		part.occurrences = unit->occurrences;
		part.self_time_ps = unit->self_ps;
		return part;
	}
	for (uint32_t i = 0; i < unit->cell_count; i++) {
		const struct tfp_op_step *cell = &work->cells.cells[unit->first_cell + i];
		if (step == TFP_CAPTURE_MEAN ? cell->step < 0 : cell->step != step)
			continue;
		part.occurrences += cell->occurrences;
		part.self_time_ps += cell->self_time_ps;
	}
	return part;
}

uint64_t tfp_unit_runs(const struct tfp_capture_work *work, const struct tfp_unit *unit,
		       int64_t step)
{
	return part_of(work, unit, step).occurrences;
}

double tfp_capture_divisor(const struct tfp_capture_work *work, int64_t step,
			   enum tfp_amount amount)
{
	if (step != TFP_CAPTURE_MEAN || work->step_count == 0)
		return 1;
	return amount == TFP_PARAMETERS || amount == TFP_DEFINED ? 1 : (double)work->step_count;
}

static void add(struct tfp_taken *taken, enum tfp_amount amount, int64_t value)
{
	if (__builtin_add_overflow(taken->amounts[amount], value, &taken->amounts[amount]))
		taken->amounts[amount] = INT64_MAX;
	taken->known |= TFP_AMOUNT_BIT(amount);
}

static int64_t whole(double value)
{
	return value >= 0x1p63 ? INT64_MAX : value > 0 ? (int64_t)(value + 0.5) : 0;
}

static int64_t time_of(uint64_t ps)
{
	return ps > INT64_MAX ? INT64_MAX : (int64_t)ps;
}

static void add_costs(struct tfp_taken *taken, const struct tfp_unit *unit, uint64_t occurrences)
{
	double share = unit->occurrences ? (double)occurrences / (double)unit->occurrences : 0;
	int64_t output;
	if (unit->has_cost) {
		add(taken, TFP_FLOAT_OPS, whole(unit->flops * share));
		add(taken, TFP_MODEL_FLOPS, whole(unit->model_flops * share));
		add(taken, TFP_BYTES_ACCESSED, whole(unit->bytes_accessed * share));
	} else {
		taken->lacking |= TFP_AMOUNT_BIT(TFP_FLOAT_OPS) | TFP_AMOUNT_BIT(TFP_MODEL_FLOPS) |
				  TFP_AMOUNT_BIT(TFP_BYTES_ACCESSED);
	}
	if (!unit->has_output)
		taken->lacking |= TFP_AMOUNT_BIT(TFP_OUTPUT_BYTES);
	else
		add(taken, TFP_OUTPUT_BYTES,
		    __builtin_mul_overflow(unit->output_bytes, occurrences, &output) ? INT64_MAX
										     : output);
}

void tfp_unit_add(const struct tfp_capture_work *work, const struct tfp_unit *unit, int64_t step,
		  struct tfp_taken *taken)
{
	struct tfp_op_step part = part_of(work, unit, step);
	int64_t self = time_of(part.self_time_ps);
	taken->flags |= unit->flags;
	switch (unit->kind) {
	case TFP_UNIT_NODE:
		taken->flags |= unit->flags;
		tfp_graph_node_add(work->graph, unit->node, step, step == TFP_CAPTURE_ALL, taken);
		return;
	case TFP_UNIT_PARAMETER:
		add(taken, TFP_PARAMETERS, unit->parameters);
		add(taken, TFP_DEFINED, 1);
		return;
	case TFP_UNIT_MEMORY:
		/* The allocators' events know steps of their own. */
		if (step != TFP_CAPTURE_ALL)
			return;
		add(taken, TFP_REQUESTED_BYTES, unit->requested_bytes);
		add(taken, TFP_PEAK_BYTES, unit->peak_bytes);
		add(taken, TFP_RESIDUAL_BYTES, unit->residual_bytes);
		return;
	case TFP_UNIT_HOST:
		add(taken, TFP_CPU_TIME, self);
		break;
	default:
		add(taken, TFP_ACCELERATOR_TIME, self);
		add_costs(taken, unit, part.occurrences);
	}
	/* What did not run there took no time there. */
	if (work->has_host)
		add(taken, TFP_CPU_TIME, 0);
	if (work->has_devices)
		add(taken, TFP_ACCELERATOR_TIME, 0);
	add(taken, TFP_TOTAL_TIME, self);
	add(taken, TFP_DEFINED, 1);
}
