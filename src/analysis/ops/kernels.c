/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ops/kernels.h"

#include "analysis/events/op_name.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- facts about tensor cores ---- */

static bool contains(struct tfp_str s, const char *part)
{
	return s.size && memmem(s.data, s.size, part, strlen(part)) != NULL;
}

static bool ends_with(struct tfp_str s, const char *tail)
{
	size_t n = strlen(tail);
	return s.size >= n && memcmp(s.data + s.size - n, tail, n) == 0;
}

bool tfp_kernel_uses_tensor_core(struct tfp_str kernel_name)
{
	static const char *const parts[] = {"16816",
					    "c1688",
					    "conv1x1",
					    "conv2d_c1_k1",
					    "dgrad_1x1_stride_2x2",
					    "direct_group",
					    "first_layer_wgrad_kernel",
					    "h1688",
					    "h884",
					    "hmma",
					    "i16832",
					    "i8816",
					    "s884",
					    "s1688",
					    "xmma_gemm",
					    "xmma_implicit_gemm",
					    "xmma_sparse_conv",
					    "xmma_sparse_gemm",
					    "xmma_warp_specialized_implicit_gemm"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (contains(kernel_name, parts[i]))
			return true;
	}
	return false;
}

bool tfp_op_is_tensor_core_eligible(struct tfp_str op_name)
{
	static const char *const tails[] = {"Conv2D",
					    "Conv2DBackpropFilter",
					    "Conv2DBackpropInput",
					    "Conv3D",
					    "DepthwiseConv2dNative",
					    "DepthwiseConv2dNativeBackpropFilter",
					    "DepthwiseConv2dNativeBackpropInput",
					    "/MatMul",
					    "FusedMatMul",
					    "/CudnnRNN",
					    "XlaDot",
					    "XlaDotV2"};
	static const char *const parts[] = {"BatchMatMul", "CudnnRNNV", "CudnnRNNForward",
					    "CudnnRNNBackprop"};
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		if (ends_with(op_name, tails[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (contains(op_name, parts[i]))
			return true;
	}
	return false;
}

/* An einsum of two operands: "ab,bc->ac". */
static bool is_two_operand_einsum(struct tfp_str equation)
{
	const char *arrow = equation.size ? memmem(equation.data, equation.size, "->", 2) : NULL;
	if (!arrow)
		return false;
	size_t left = (size_t)(arrow - equation.data), commas = 0;
	if (memmem(arrow + 2, equation.size - left - 2, "->", 2))
		return false;
	for (size_t i = 0; i < left; i++)
		commas += equation.data[i] == ',';
	return commas == 1;
}

/* ---- launch details ---- */

static bool read_u32(struct tfp_str s, uint32_t *out)
{
	uint64_t value = 0;
	if (s.size == 0 || s.size > 10)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		if (s.data[i] < '0' || s.data[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(s.data[i] - '0');
	}
	if (value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

/* "x,y,z"; anything else leaves out as it is. */
static void read_dimensions(struct tfp_str s, uint32_t out[3])
{
	uint32_t value[3];
	size_t from = 0, n = 0;
	for (size_t i = 0; i <= s.size; i++) {
		if (i < s.size && s.data[i] != ',')
			continue;
		struct tfp_str one = {s.data + from, i - from};
		if (n == 3 || !read_u32(one, &value[n++]))
			return;
		from = i + 1;
	}
	if (n == 3)
		memcpy(out, value, sizeof(value));
}

static void read_percent(struct tfp_str s, float *out)
{
	char copy[32], *end;
	if (s.size == 0 || s.size >= sizeof(copy))
		return;
	memcpy(copy, s.data, s.size);
	copy[s.size] = '\0';
	double value = strtod(copy, &end);
	if (*end == '\0' && value >= 0 && value <= 1e6)
		*out = (float)value;
}

static void read_detail(struct tfp_str key, struct tfp_str value, struct tfp_kernel *k)
{
	if (tfp_str_equal(key, "regs"))
		read_u32(value, &k->registers);
	else if (tfp_str_equal(key, "static_shared") || tfp_str_equal(key, "shm"))
		/* `shm` of files before 2021 is both kinds together. */
		read_u32(value, &k->static_shared_bytes);
	else if (tfp_str_equal(key, "dynamic_shared"))
		read_u32(value, &k->dynamic_shared_bytes);
	else if (tfp_str_equal(key, "block"))
		read_dimensions(value, k->block);
	else if (tfp_str_equal(key, "grid"))
		read_dimensions(value, k->grid);
	else if (tfp_str_equal(key, "occ_pct"))
		read_percent(value, &k->occupancy_percent);
}

/* `key:value` parts between blanks and line ends. */
static void read_details(struct tfp_str text, struct tfp_kernel *k)
{
	size_t from = 0;
	for (size_t i = 0; i <= text.size; i++) {
		if (i < text.size && text.data[i] != ' ' && text.data[i] != '\n')
			continue;
		struct tfp_str part = {text.data + from, i - from};
		const char *colon = part.size ? memchr(part.data, ':', part.size) : NULL;
		from = i + 1;
		if (!colon)
			continue;
		size_t at = (size_t)(colon - part.data);
		if (memchr(colon + 1, ':', part.size - at - 1))
			continue;
		read_detail((struct tfp_str){part.data, at},
			    (struct tfp_str){colon + 1, part.size - at - 1}, k);
	}
}

/* ---- kernels ---- */

static uint64_t kernel_ns(const struct tfp_gpu_event *event)
{
	return event->kernel_details.size ? (uint64_t)event->duration_ps / 1000 : 0;
}

bool tfp_kernel_of_event(const struct tfp_gpu_event *event, struct tfp_kernel *k)
{
	const struct tfp_str none = {"", 0};
	uint64_t ns = kernel_ns(event);
	if (ns == 0)
		return false;
	*k = (struct tfp_kernel){
		.name = event->name,
		.op_name = none,
		.op_type = none,
		.uses_tensor_core = tfp_kernel_uses_tensor_core(event->name),
		.block = {1, 1, 1},
		.grid = {1, 1, 1},
		.occurrences = 1,
		.total_ns = ns,
		.min_ns = ns,
		.max_ns = ns,
	};
	read_details(event->kernel_details, k);
	if (event->op_fullname.size) {
		struct tfp_op_name op = tfp_op_name_parse(event->op_fullname);
		k->op_name = op.name;
		k->op_type = op.type;
		k->op_is_tensor_core_eligible = is_two_operand_einsum(event->equation) ||
						tfp_op_is_tensor_core_eligible(op.name) ||
						k->uses_tensor_core;
	}
	if (event->instruction) {
		/* XProf keeps the type in the name here, and its clients know it so. */
		k->op_name = event->instruction->op_fullname;
		k->op_type = tfp_op_name_parse(k->op_name).type;
		k->op_is_tensor_core_eligible |= tfp_op_is_tensor_core_eligible(k->op_name);
	}
	return true;
}

/* The identity of a kernel as bytes: numbers, then both names. */
static size_t make_key(const struct tfp_kernel *k, char *out, size_t room)
{
	uint32_t numbers[] = {k->block[0],
			      k->block[1],
			      k->block[2],
			      k->grid[0],
			      k->grid[1],
			      k->grid[2],
			      k->registers,
			      k->static_shared_bytes,
			      k->dynamic_shared_bytes,
			      (uint32_t)k->uses_tensor_core << 1 | k->op_is_tensor_core_eligible,
			      (uint32_t)k->name.size};
	size_t size = sizeof(numbers) + k->name.size + k->op_name.size;
	if (size > room)
		return size;
	memcpy(out, numbers, sizeof(numbers));
	out += sizeof(numbers);
	if (k->name.size)
		memcpy(out, k->name.data, k->name.size);
	if (k->op_name.size)
		memcpy(out + k->name.size, k->op_name.data, k->op_name.size);
	return size;
}

static struct tfp_str keep(struct tfp_arena *arena, struct tfp_str s)
{
	if (s.size)
		s.data = tfp_arena_strndup(arena, s.data, s.size);
	return s;
}

static bool append(struct tfp_kernels *all, const struct tfp_kernel *k, const char *key,
		   size_t size)
{
	if (!TFP_GROW(all->kernels, all->count, all->room))
		return false;
	char *kept = tfp_arena_strndup(&all->arena, key, size);
	if (!kept ||
	    tfp_str_map_add(&all->by_key, kept, size, (uint32_t)all->count) == TFP_STR_MAP_NONE)
		return false;
	struct tfp_kernel *to = &all->kernels[all->count++];
	*to = *k;
	to->name = keep(&all->arena, k->name);
	to->op_name = keep(&all->arena, k->op_name);
	to->op_type = keep(&all->arena, k->op_type);
	return to->name.data && to->op_name.data && to->op_type.data;
}

static void add_time(struct tfp_kernel *to, uint64_t occurrences, uint64_t total_ns,
		     uint64_t min_ns, uint64_t max_ns)
{
	to->occurrences += occurrences;
	to->total_ns += total_ns;
	if (min_ns < to->min_ns)
		to->min_ns = min_ns;
	if (max_ns > to->max_ns)
		to->max_ns = max_ns;
}

/* *index: where in the list the kernel is. false without memory. */
static bool enter(struct tfp_kernels *all, const struct tfp_kernel *k, uint32_t *index)
{
	char small[1024], *key = small;
	bool ok = true;
	size_t size = make_key(k, small, sizeof(small));
	if (size > sizeof(small)) {
		key = tfp_malloc(size);
		if (!key)
			return false;
		make_key(k, key, size);
	}
	uint32_t found = tfp_str_map_find(&all->by_key, key, size);
	if (found == TFP_STR_MAP_NONE) {
		*index = (uint32_t)all->count;
		ok = append(all, k, key, size);
	} else {
		*index = found;
		add_time(&all->kernels[found], k->occurrences, k->total_ns, k->min_ns, k->max_ns);
		all->kernels[found].flops += k->flops;
		all->kernels[found].bytes += k->bytes;
		all->kernels[found].has_no_cost |= k->has_no_cost;
	}
	if (key != small)
		tfp_free(key);
	return ok;
}

/* The memo spares parsing what an earlier event with the same texts had. */
bool tfp_kernels_find(struct tfp_kernels *all, struct tfp_memo *memo, const struct tfp_gpu_event *e,
		      uint32_t *index)
{
	const struct tfp_memo_key key = {
		{e->name.data, e->kernel_details.data,
		 e->instruction ? (const void *)e->instruction : e->op_fullname.data,
		 e->equation.data}};
	struct tfp_kernel k;
	*index = TFP_NO_KERNEL;
	if (kernel_ns(e) == 0 || tfp_memo_find(memo, &key, index))
		return true;
	if (!tfp_kernel_of_event(e, &k))
		return false;
	/* The event is counted when it is counted. */
	k.occurrences = k.total_ns = k.max_ns = 0;
	k.min_ns = UINT64_MAX;
	if (!enter(all, &k, index))
		return false;
	tfp_memo_put(memo, &key, *index);
	return true;
}

void tfp_kernels_count(struct tfp_kernels *all, uint32_t index, uint64_t ns)
{
	add_time(&all->kernels[index], 1, ns, ns, ns);
}

void tfp_kernels_add_cost(struct tfp_kernels *all, uint32_t index, double flops, double bytes)
{
	all->kernels[index].flops += flops;
	all->kernels[index].bytes += bytes;
}

bool tfp_kernels_merge(struct tfp_kernels *to, const struct tfp_kernels *from)
{
	uint32_t ignored;
	bool ok = true;
	for (size_t i = 0; ok && i < from->count; i++)
		ok = enter(to, &from->kernels[i], &ignored);
	return ok;
}

/* The texts of kernels that are there already, by kernel and which of its texts. */
static bool keep_once(struct tfp_kernels *to, struct tfp_str *text, uint32_t place)
{
	if (text->size == 0)
		return true;
	uint32_t found = tfp_str_map_find(&to->by_key, text->data, text->size);
	if (found != TFP_STR_MAP_NONE) {
		const struct tfp_kernel *k = &to->kernels[found / 3];
		*text = found % 3 == 0 ? k->name : found % 3 == 1 ? k->op_name : k->op_type;
		return true;
	}
	*text = keep(&to->arena, *text);
	return text->data &&
	       tfp_str_map_add(&to->by_key, text->data, text->size, place) != TFP_STR_MAP_NONE;
}

bool tfp_kernels_add_host(struct tfp_kernels *to, const struct tfp_kernels *from, uint32_t host)
{
	for (size_t i = 0; i < from->count; i++) {
		if (!TFP_GROW(to->kernels, to->count, to->room))
			return false;
		struct tfp_kernel *k = &to->kernels[to->count];
		uint32_t place = (uint32_t)to->count * 3;
		*k = from->kernels[i];
		k->host = host;
		if (!keep_once(to, &k->name, place) || !keep_once(to, &k->op_name, place + 1) ||
		    !keep_once(to, &k->op_type, place + 2))
			return false;
		to->count++;
	}
	return true;
}

static int compare_u32(const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

int tfp_kernel_compare(const void *a, const void *b)
{
	const struct tfp_kernel *x = a, *y = b;
	int order;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if ((order = tfp_str_compare(x->name, y->name)) ||
	    (order = compare_u32(x->grid, y->grid, 3)) ||
	    (order = compare_u32(x->block, y->block, 3)) ||
	    (order = compare_u32(&x->registers, &y->registers, 1)) ||
	    (order = compare_u32(&x->static_shared_bytes, &y->static_shared_bytes, 1)) ||
	    (order = compare_u32(&x->dynamic_shared_bytes, &y->dynamic_shared_bytes, 1)))
		return order;
	if (x->uses_tensor_core != y->uses_tensor_core)
		return x->uses_tensor_core ? 1 : -1;
	if (x->op_is_tensor_core_eligible != y->op_is_tensor_core_eligible)
		return x->op_is_tensor_core_eligible ? 1 : -1;
	if ((order = tfp_str_compare(x->op_name, y->op_name)))
		return order;
	return compare_u32(&x->host, &y->host, 1);
}

void tfp_kernels_sort(struct tfp_kernels *kernels)
{
	if (kernels->count)
		qsort(kernels->kernels, kernels->count, sizeof(*kernels->kernels),
		      tfp_kernel_compare);
	/* The indexes in the map are not those of the sorted list. */
	tfp_str_map_release(&kernels->by_key);
}

void tfp_kernels_init(struct tfp_kernels *kernels)
{
	*kernels = (struct tfp_kernels){0};
	tfp_arena_init(&kernels->arena, SIZE_MAX);
}

void tfp_kernels_release(struct tfp_kernels *kernels)
{
	tfp_free(kernels->kernels);
	tfp_str_map_release(&kernels->by_key);
	tfp_arena_release(&kernels->arena);
	*kernels = (struct tfp_kernels){0};
}
