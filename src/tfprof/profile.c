/* SPDX-License-Identifier: Apache-2.0 */
#include "tfprof/profile.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 36)

struct tfp_kept {
	struct tfp_kept *next;
	void *bytes;
};

struct tfp_id_text {
	int64_t id;
	struct tfp_str text;
	size_t place; /* the first of an id counts */
};

void tfp_profile_init(struct tfp_profile *p)
{
	*p = (struct tfp_profile){0};
	tfp_arena_init(&p->arena, ARENA_MAX);
}

void tfp_profile_release(struct tfp_profile *p)
{
	while (p->kept) {
		struct tfp_kept *next = p->kept->next;
		tfp_free(p->kept->bytes);
		tfp_free(p->kept);
		p->kept = next;
	}
	tfp_free(p->nodes);
	tfp_free(p->devices);
	tfp_free(p->steps);
	tfp_free(p->texts);
	tfp_str_map_release(&p->by_name);
	tfp_str_map_release(&p->by_device);
	tfp_arena_release(&p->arena);
	*p = (struct tfp_profile){0};
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the profile");
}

enum tfp_status tfp_profile_keep(struct tfp_profile *p, void *bytes, struct tfp_error *err)
{
	struct tfp_kept *kept = tfp_malloc(sizeof(*kept));
	if (!kept) {
		tfp_free(bytes);
		return no_memory(err);
	}
	*kept = (struct tfp_kept){p->kept, bytes};
	p->kept = kept;
	return TFP_OK;
}

struct tfp_profile_node *tfp_profile_find(const struct tfp_profile *p, struct tfp_str name)
{
	uint32_t i = tfp_str_map_find(&p->by_name, name.data, name.size);
	return i == TFP_STR_MAP_NONE ? NULL : p->nodes[i];
}

struct tfp_profile_node *tfp_profile_add_node(struct tfp_profile *p, struct tfp_str name,
					      struct tfp_str op)
{
	if (p->count >= TFP_STR_MAP_NONE - 1 || !TFP_GROW(p->nodes, p->count, p->room))
		return NULL;
	struct tfp_profile_node *node = tfp_arena_zalloc(&p->arena, 1, sizeof(*node));
	if (!node)
		return NULL;
	*node = (struct tfp_profile_node){.name = name, .op = op, .index = p->count};
	if (!tfp_profile_add_type(p, node, op))
		return NULL;
	if (tfp_str_map_add(&p->by_name, name.data, name.size, (uint32_t)p->count) != p->count)
		return NULL;
	p->nodes[p->count++] = node;
	return node;
}

bool tfp_profile_add_type(struct tfp_profile *p, struct tfp_profile_node *node, struct tfp_str type)
{
	struct tfp_type *t = tfp_arena_alloc(&p->arena, sizeof(*t));
	if (!t)
		return false;
	*t = (struct tfp_type){node->type_list, type};
	node->type_list = t;
	node->type_count++;
	return true;
}

bool tfp_profile_add_step(struct tfp_profile *p, int64_t step)
{
	size_t at = p->step_count;
	if (!TFP_GROW(p->steps, p->step_count, p->step_room))
		return false;
	while (at > 0 && p->steps[at - 1] > step)
		at--;
	if (at > 0 && p->steps[at - 1] == step)
		return true;
	memmove(p->steps + at + 1, p->steps + at, (p->step_count - at) * sizeof(*p->steps));
	p->steps[at] = step;
	p->step_count++;
	return true;
}

/* ---- devices ---- */

bool tfp_str_contains(struct tfp_str text, const char *word)
{
	return text.size && memmem(text.data, text.size, word, strlen(word));
}

/* A line that ends in "/device:gpu:" or its like and digits. */
static bool is_canonical(struct tfp_str name)
{
	static const char *const kinds[] = {
		"/device:gpu:", "/gpu:", "/device:cpu:", "/cpu:", "/device:sycl:"};
	size_t end = name.size;
	while (end > 0 && name.data[end - 1] >= '0' && name.data[end - 1] <= '9')
		end--;
	if (end == name.size || memchr(name.data, '\n', name.size))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t size = strlen(kinds[i]);
		if (end >= size && memcmp(name.data + end - size, kinds[i], size) == 0)
			return true;
	}
	return false;
}

bool tfp_profile_device(struct tfp_profile *p, struct tfp_str name, uint32_t *device)
{
	char *lower = tfp_arena_strndup(&p->arena, name.size ? name.data : "", name.size);
	if (!lower || !TFP_GROW(p->devices, p->device_count, p->device_room))
		return false;
	for (size_t i = 0; i < name.size; i++) {
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] = (char)(lower[i] | 0x20);
	}
	*device = tfp_str_map_add(&p->by_device, lower, name.size, (uint32_t)p->device_count);
	if (*device == TFP_STR_MAP_NONE)
		return false;
	if (*device == p->device_count) {
		struct tfp_str text = {lower, name.size};
		p->devices[p->device_count++] = (struct tfp_device){text, is_canonical(text)};
	}
	return true;
}

/* ---- what nodes did ---- */

struct tfp_exec *tfp_profile_exec(struct tfp_profile *p, struct tfp_profile_node *node,
				  int64_t step)
{
	if (node->last_exec && node->last_exec->step == step)
		return node->last_exec;
	struct tfp_exec *exec = tfp_arena_zalloc(&p->arena, 1, sizeof(*exec));
	if (!exec)
		return NULL;
	exec->step = step;
	if (node->last_exec)
		node->last_exec->next = exec;
	else
		node->exec_list = exec;
	node->last_exec = exec;
	node->exec_count++;
	return exec;
}

bool tfp_profile_add_interval(struct tfp_profile *p, struct tfp_exec *exec,
			      const struct tfp_interval *interval)
{
	struct tfp_interval *copy = tfp_arena_alloc(&p->arena, sizeof(*copy));
	if (!copy)
		return false;
	*copy = *interval;
	copy->next = NULL;
	if (exec->last_interval)
		exec->last_interval->next = copy;
	else
		exec->intervals = copy;
	exec->last_interval = copy;
	int64_t *sum = copy->accelerator ? &exec->accelerator_us : &exec->cpu_us;
	*sum = tfp_wrap_add(*sum, copy->duration_us);
	return true;
}

bool tfp_profile_add_bytes(struct tfp_profile *p, struct tfp_bytes_list *list, int64_t time_us,
			   int64_t bytes)
{
	struct tfp_bytes_at *at = tfp_arena_alloc(&p->arena, sizeof(*at));
	if (!at)
		return false;
	*at = (struct tfp_bytes_at){NULL, time_us, bytes};
	if (list->last)
		list->last->next = at;
	else
		list->first = at;
	list->last = at;
	return true;
}

/* ---- texts ---- */

bool tfp_profile_add_text(struct tfp_profile *p, int64_t id, struct tfp_str text)
{
	if (!TFP_GROW(p->texts, p->text_count, p->text_room))
		return false;
	p->texts[p->text_count] = (struct tfp_id_text){id, text, p->text_count};
	p->text_count++;
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct tfp_id_text *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

void tfp_profile_sort_texts(struct tfp_profile *p)
{
	if (p->text_count)
		qsort(p->texts, p->text_count, sizeof(*p->texts), by_id);
}

struct tfp_str tfp_profile_text(const struct tfp_profile *p, int64_t id)
{
	size_t from = 0, to = p->text_count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (p->texts[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < p->text_count && p->texts[from].id == id)
		return p->texts[from].text;
	return (struct tfp_str){NULL, 0};
}

/* ---- the end of reading ---- */

static int by_name(const void *a, const void *b)
{
	const struct tfp_profile_node *const *x = a, *const *y = b;
	return tfp_str_compare((*x)->name, (*y)->name);
}

static int by_text(const void *a, const void *b)
{
	const struct tfp_str *x = a, *y = b;
	return tfp_str_compare(*x, *y);
}

static bool finish_types(struct tfp_profile *p, struct tfp_profile_node *node)
{
	size_t count = 0, kept = 0;
	node->types = tfp_arena_zalloc(&p->arena, node->type_count, sizeof(*node->types));
	if (!node->types)
		return false;
	for (struct tfp_type *t = node->type_list; t; t = t->next)
		node->types[count++] = t->text;
	if (count)
		qsort(node->types, count, sizeof(*node->types), by_text);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || tfp_str_compare(node->types[kept - 1], node->types[i]) != 0)
			node->types[kept++] = node->types[i];
	}
	node->type_count = kept;
	return true;
}

static int by_step(const void *a, const void *b)
{
	const struct tfp_exec *x = a, *y = b;
	return (x->step > y->step) - (x->step < y->step);
}

static bool finish_execs(struct tfp_profile *p, struct tfp_profile_node *node)
{
	size_t count = 0;
	if (!node->exec_list)
		return true;
	node->execs = tfp_arena_zalloc(&p->arena, node->exec_count, sizeof(*node->execs));
	if (!node->execs)
		return false;
	bool sorted = true;
	for (struct tfp_exec *e = node->exec_list; e; e = e->next) {
		sorted &= count == 0 || node->execs[count - 1].step < e->step;
		node->execs[count++] = *e;
	}
	if (!sorted)
		qsort(node->execs, count, sizeof(*node->execs), by_step);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept && node->execs[kept - 1].step == node->execs[i].step)
			kept--;
		node->execs[kept++] = node->execs[i];
	}
	node->exec_count = kept;
	return true;
}

/* Of several inputs from one node all have the output of the last: the original remembers one
 * output for each source. */
static void finish_inputs(struct tfp_profile *p, struct tfp_profile_node *node, int64_t *outputs)
{
	for (size_t i = 0; i < node->input_count; i++) {
		struct tfp_node_input *input = &node->inputs[i];
		if (!input->node)
			input->node = tfp_profile_find(p, input->name);
		if (input->node)
			outputs[input->node->index] = input->output;
	}
	for (size_t i = 0; i < node->input_count; i++) {
		if (node->inputs[i].node)
			node->inputs[i].output = outputs[node->inputs[i].node->index];
	}
}

enum tfp_status tfp_profile_finish(struct tfp_profile *p, struct tfp_error *err)
{
	int64_t *outputs = tfp_calloc(p->count ? p->count : 1, sizeof(*outputs));
	bool good = outputs != NULL;
	for (size_t i = 0; good && i < p->count; i++) {
		good = finish_types(p, p->nodes[i]) && finish_execs(p, p->nodes[i]);
		if (good)
			finish_inputs(p, p->nodes[i], outputs);
	}
	tfp_free(outputs);
	if (!good)
		return no_memory(err);
	/* Names are found by numbers no more. */
	tfp_str_map_release(&p->by_name);
	if (p->count)
		qsort(p->nodes, p->count, sizeof(struct tfp_profile_node *), by_name);
	for (size_t i = 0; i < p->count; i++)
		p->nodes[i]->index = i;
	return TFP_OK;
}

/* ---- for views ---- */

bool tfp_profile_has_step(const struct tfp_profile *p, int64_t step)
{
	for (size_t i = 0; i < p->step_count; i++) {
		if (p->steps[i] == step)
			return true;
	}
	return false;
}

double tfp_profile_coverage(const struct tfp_profile *p)
{
	return p->count ? (double)p->covered / (double)p->count : 0;
}

int64_t tfp_profile_parameters(const struct tfp_profile_node *node)
{
	uint64_t product = 1;
	for (size_t i = 0; i < node->shape.rank; i++) {
		if (node->shape.dims[i] < 0)
			return 0;
		product *= (uint64_t)node->shape.dims[i];
	}
	return node->shape.rank ? (int64_t)product : 0;
}

const struct tfp_exec *tfp_profile_exec_at(const struct tfp_profile_node *node, int64_t step)
{
	size_t from = 0, to = node->exec_count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (node->execs[middle].step < step)
			from = middle + 1;
		else
			to = middle;
	}
	return from < node->exec_count && node->execs[from].step == step ? &node->execs[from]
									 : NULL;
}

static void add_exec(const struct tfp_exec *e, int64_t amounts[TFP_AMOUNT_COUNT])
{
	const int64_t more[TFP_AMOUNT_COUNT] = {
		[TFP_TOTAL_TIME] = tfp_wrap_add(e->accelerator_us, e->cpu_us),
		[TFP_ACCELERATOR_TIME] = e->accelerator_us,
		[TFP_CPU_TIME] = e->cpu_us,
		[TFP_REQUESTED_BYTES] = e->requested_bytes,
		[TFP_PEAK_BYTES] = e->peak_bytes,
		[TFP_RESIDUAL_BYTES] = e->residual_bytes,
		[TFP_OUTPUT_BYTES] = e->output_bytes,
		[TFP_RUNS] = e->runs,
	};
	for (int i = 0; i < TFP_AMOUNT_COUNT; i++)
		amounts[i] = tfp_wrap_add(amounts[i], more[i]);
}

void tfp_profile_amounts(const struct tfp_profile_node *node, int64_t step,
			 int64_t amounts[TFP_AMOUNT_COUNT])
{
	memset(amounts, 0, TFP_AMOUNT_COUNT * sizeof(*amounts));
	if (step >= 0) {
		const struct tfp_exec *e = tfp_profile_exec_at(node, step);
		if (e)
			add_exec(e, amounts);
	} else if (node->exec_count) {
		for (size_t i = 0; i < node->exec_count; i++)
			add_exec(&node->execs[i], amounts);
		/* As the original's division by a size_t: negative sums become large. */
		for (int i = 0; i < TFP_AMOUNT_COUNT; i++)
			amounts[i] = (int64_t)((uint64_t)amounts[i] / node->exec_count);
	}
	amounts[TFP_PARAMETERS] = tfp_profile_parameters(node);
	amounts[TFP_FLOAT_OPS] = node->float_ops;
	if (node->exec_count)
		amounts[TFP_FLOAT_OPS] =
			(int64_t)((uint64_t)node->float_ops * (uint64_t)amounts[TFP_RUNS]);
	amounts[TFP_DEFINED] = 1;
}

struct tfp_shape tfp_profile_input_shape(const struct tfp_node_input *input)
{
	const struct tfp_profile_node *node = input->node;
	size_t from = 0, to = node ? node->output_count : 0;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (node->outputs[middle].index < input->output)
			from = middle + 1;
		else
			to = middle;
	}
	if (node && from < node->output_count && node->outputs[from].index == input->output)
		return node->outputs[from].shape;
	return (struct tfp_shape){NULL, 0};
}
