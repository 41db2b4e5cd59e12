/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/counters.h"
#include "synth/host_state.h"
#include "synth/rng.h"
#include "synth/vocabulary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where the lines of devices begin: with their first buffer of activities. */
#define DEVICE_LINES_NS INT64_C(2060821)

/* Ids of derived lines: 0xdeadbeef and following in 32 bits. */
#define DERIVED_STEPS  INT64_C(-559038737)
#define DERIVED_SCOPES INT64_C(-559038735)
#define DERIVED_OPS    INT64_C(-559038734)

static uint32_t host_text(struct tfp_synth_host *h, const char *text)
{
	return tfp_synth_intern(&h->space, &h->plane->stats, text);
}

static uint32_t host_event(struct tfp_synth_host *h, const char *name)
{
	return tfp_synth_intern(&h->space, &h->plane->events, name);
}

static void name_stats(struct tfp_synth_host *h, struct tfp_synth_plane *p, unsigned plane)
{
#define SYNTH_AS_ROW(name, text, where) {text, where},
	static const struct {
		const char *text;
		unsigned where;
	} stats[] = {{"", 0}, SYNTH_STATS(SYNTH_AS_ROW)};
	unsigned absent = h->o->grouped ? WHEN_RAW : WHEN_GROUPED;

	for (uint32_t i = 1; i < ST_COUNT; i++)
		if ((stats[i].where & plane) && !(stats[i].where & absent))
			tfp_synth_intern_at(&h->space, &p->stats, stats[i].text, i);
	/* Texts come after all stats, also where some of those are not named. */
	p->stats.count = ST_COUNT;
}

static void name_events(struct tfp_synth_host *h)
{
#define SYNTH_AS_TEXT(name, text) text,
	static const char *const events[] = {"", SYNTH_EVENTS(SYNTH_AS_TEXT)};

	for (uint32_t i = 1; i < EV_COUNT; i++)
		tfp_synth_intern_at(&h->space, &h->plane->events, events[i], i);
}

static struct tfp_synth_line *thread(struct tfp_synth_host *h, const char *name, unsigned number)
{
	uint64_t draw = synth_draw(h->key, number);
	/* Numbers of threads: pthread's in old files, the kernel's today. */
	int64_t id = h->o->grouped ? (int64_t)(draw >> 33) : 20000 + (int64_t)number * 3;
	struct tfp_synth_line *line;

	line = tfp_synth_space_line(&h->space, h->plane, id,
				    tfp_synth_space_text(&h->space, "%s/%lld", name, (long long)id),
				    TFP_SYNTH_HOST_LINES_NS);
	line->has_display_name = !h->o->grouped;
	return line;
}

_Static_assert(6 + TFP_SYNTH_MAP_THREADS + TFP_SYNTH_SCRATCH_THREADS +
			       TFP_SYNTH_DEVICES_MAX * (TFP_SYNTH_COMPUTE_THREADS + 1) <=
		       TFP_SYNTH_LINES_MAX,
	       "a line for every thread");

static void name_threads(struct tfp_synth_host *h)
{
	unsigned number = 0;

	h->python = thread(h, "python3", number++);
	h->executor = thread(h, "tf_Compute", number++);
	h->get_next = thread(h, "tf_data_iterator_get_next", number++);
	h->producer = thread(h, "tf_data_iterator_resource", number++);
	for (unsigned i = 0; i < TFP_SYNTH_MAP_THREADS; i++)
		h->maps[i] = thread(h, "tf_data_iterator_resource", number++);
	h->map_executor = thread(h, "tf_Compute", number++);
	h->event_manager = thread(h, "tf_GPU_Event_Manager", number++);
	for (unsigned d = 0; d < h->o->devices; d++) {
		for (unsigned i = 0; i < TFP_SYNTH_COMPUTE_THREADS; i++)
			h->devices[d].threads[i] = thread(h, "tf_Compute", number++);
		h->devices[d].collectives = thread(h, "collective_ops", number++);
	}
	for (unsigned i = 0; i < TFP_SYNTH_SCRATCH_THREADS && h->o->allocations; i++)
		h->scratch_threads[i] = thread(h, "tf_numa_-1_Eigen", number++);
	tfp_synth_space_sort_lines(h->plane);
}

static void name_texts(struct tfp_synth_host *h)
{
	const struct tfp_synth_model *m = h->m;

	h->text_not_traced = host_text(h, "notTraced-nonXla");
	h->text_traced = host_text(h, "traced-nonXla");
	h->text_eager = host_text(h, "eager");
	h->text_function = host_text(h, SYNTH_FUNCTION);
	h->text_assign = host_text(h, "AssignAddVariableOp");
	h->text_read = host_text(h, "ReadVariableOp");
	h->text_and = host_text(h, "LogicalAnd");
	h->text_output = host_text(h, "output");
	h->text_temp = host_text(h, "temp");
	h->text_dynamic = host_text(h, "dynamic");
	h->text_recv = host_text(h, "SameWorkerRecvDone");
	h->text_bytes = host_text(h, tfp_synth_space_text(&h->space, "[%u,224,224,3]", m->batch));
	h->text_scalar = host_text(h, "[]");
	h->text_eager_op = host_text(h, "LogicalAnd:LogicalAnd");
	for (unsigned i = 0; i < m->op_count; i++) {
		const struct tfp_synth_op *op = &m->ops[i];

		h->arguments[i] = host_text(h, op->arguments);
		if (op->bytes > 0)
			h->shapes[i] = host_text(h, op->shape);
		if (op->equation)
			h->equations[i] = host_text(h, op->equation);
	}
	h->pinned.name = host_text(h, "gpu_host_bfc");
	h->text_history = host_text(h, "history/TensorListPushBack");
	h->text_history_shape = host_text(h, "[1024,1024]");
	if (h->o->allocations) {
		h->scratch.name = host_text(h, "mklcpu");
		h->text_scratch = host_text(h, "map/decode_jpeg/scratch");
		h->text_scratch_shape = host_text(h, "[512,512,3]");
	}
}

static void name_launches(struct tfp_synth_host *h)
{
	h->eager_launch = h->o->grouped ? host_event(h, "LogicalAnd_GPU_DT_BOOL_DT_BOOL_kernel")
					: EV_CU_LAUNCH;
	for (unsigned k = 0; k < tfp_synth_kernel_count(); k++) {
		const struct tfp_synth_kernel *kernel = tfp_synth_kernel_at(k);

		if (h->o->grouped)
			h->launches[k] = host_event(h, kernel->name);
		else if (kernel->class == KERNEL_MEMSET)
			h->launches[k] = EV_CU_MEMSET;
		else if (kernel->class == KERNEL_COPY)
			h->launches[k] = EV_CU_DTOD;
		else
			h->launches[k] = strncmp(kernel->name, "nccl", 4) == 0 ? EV_CU_LAUNCH_EX
									       : EV_CU_LAUNCH;
	}
}

static const char *use_details(struct tfp_synth_host *h, const struct tfp_synth_use *use,
			       unsigned device)
{
	const struct tfp_synth_kernel *k = tfp_synth_kernel_at(use->kernel);

	if (k->class == KERNEL_MEMSET)
		return tfp_synth_space_text(&h->space, "kind:device size:%" PRIu64 " async:1",
					    use->bytes);
	if (k->class == KERNEL_COPY && h->o->grouped)
		return tfp_synth_space_text(&h->space, "size:%" PRIu64 " dest:%u async:1",
					    use->bytes, device);
	if (k->class == KERNEL_COPY)
		return tfp_synth_space_text(&h->space,
					    "kind_src:device kind_dst:device size:%" PRIu64
					    " dest:%u async:1",
					    use->bytes, device);
	if (h->o->grouped)
		return tfp_synth_space_text(&h->space, "regs:%u shm:%u grid:%u,%u,%u block:%u,1,1",
					    k->registers, k->static_shared + k->dynamic_shared,
					    use->grid[0], use->grid[1], use->grid[2], k->block);
	return tfp_synth_space_text(&h->space,
				    "regs:%u static_shared:%u dynamic_shared:%u grid:%u,%u,%u "
				    "block:%u,1,1 occ_pct:%g",
				    k->registers, k->static_shared, k->dynamic_shared, use->grid[0],
				    use->grid[1], use->grid[2], k->block, k->occupancy);
}

static const char *copy_details(struct tfp_synth_host *h, const char *from, const char *to,
				uint64_t bytes, unsigned device)
{
	if (h->o->grouped)
		return tfp_synth_space_text(&h->space, "size:%" PRIu64 " dest:%u async:1", bytes,
					    device);
	return tfp_synth_space_text(&h->space,
				    "kind_src:%s kind_dst:%s size:%" PRIu64 " dest:%u async:1",
				    from, to, bytes, device);
}

static void name_scopes(struct tfp_synth_host *h, struct tfp_synth_device *d, unsigned op,
			const char *name)
{
	uint32_t *scopes = d->scope_names + (size_t)op * TFP_SYNTH_SCOPES_MAX;
	const char *slash;

	for (unsigned level = 0; level + 1 < TFP_SYNTH_SCOPES_MAX; level++, name = slash + 1) {
		slash = strchr(name, '/');
		if (!slash)
			return;
		scopes[level] = tfp_synth_intern(
			&h->space, &d->plane->events,
			tfp_synth_space_text(&h->space, "%.*s", (int)(slash - name), name));
	}
}

static void name_copies(struct tfp_synth_host *h, struct tfp_synth_device *d, unsigned index)
{
	struct tfp_synth_space *s = &h->space;
	struct tfp_synth_names *texts = &d->plane->stats;
	const char *text;

	text = tfp_synth_space_text(s, "IteratorGetNext/_%u:_Send", 3 + 2 * index);
	d->send_name = host_event(h, text);
	d->send_text = host_text(h, text);
	d->send_device_text = tfp_synth_intern(s, texts, text);
	text = tfp_synth_space_text(s, "loss/_%u:_Send", 101 + 2 * index);
	d->fetch_name = host_event(h, text);
	d->fetch_text = host_text(h, text);
	d->fetch_path = host_text(h, "sparse_categorical_crossentropy/weighted_loss/Sum");
	d->fetch_device_text = tfp_synth_intern(s, texts, text);
	text = copy_details(h, "pinned", "device", h->m->input_bytes, index);
	d->input_details = tfp_synth_intern(s, texts, text);
	d->host_input_details = host_text(h, text);
	text = copy_details(h, "device", "pinned", 4, index);
	d->loss_details = tfp_synth_intern(s, texts, text);
	d->host_loss_details = host_text(h, text);
	d->h2d_name = tfp_synth_intern(s, &d->plane->events, "MemcpyH2D");
	d->d2h_name = tfp_synth_intern(s, &d->plane->events, "MemcpyD2H");
	if (index > 0)
		return;
	d->eager_kernel =
		tfp_synth_intern(s, &d->plane->events, "LogicalAnd_GPU_DT_BOOL_DT_BOOL_kernel");
	d->eager_text = tfp_synth_intern(s, texts, "LogicalAnd:LogicalAnd");
	d->eager_details = tfp_synth_intern(
		s, texts,
		h->o->grouped ? "regs:14 shm:0 grid:1,1,1 block:256,1,1"
			      : "regs:14 static_shared:0 dynamic_shared:0 grid:1,1,1 block:256,1,1 "
				"occ_pct:100");
}

static void name_device_ops(struct tfp_synth_host *h, struct tfp_synth_device *d, unsigned index)
{
	const struct tfp_synth_model *m = h->m;
	struct tfp_synth_space *s = &h->space;
	char name[512];

	for (unsigned i = 0, use = 0; i < m->op_count; i++) {
		const struct tfp_synth_op *op = &m->ops[i];
		const char *full;

		tfp_synth_model_op_name(op, index, name, sizeof(name));
		full = tfp_synth_space_text(s, "%s:%s", name, op->type);
		d->host_name[i] = host_event(h, full);
		/* Only what an event mentions is named. */
		if (op->use_count > 0) {
			if (!h->o->grouped)
				d->host_text[i] = host_text(h, full);
			d->text[i] = tfp_synth_intern(s, &d->plane->stats, full);
		}
		if (op->equation)
			d->equations[i] = tfp_synth_intern(s, &d->plane->stats, op->equation);
		if (op->bytes > 0)
			d->host_path[i] = host_text(h, tfp_synth_space_text(s, "%s", name));
		h->first_use[i] = use;
		for (unsigned k = 0; k < op->use_count; k++, use++) {
			unsigned kernel = op->uses[k].kernel;

			d->details[use] = tfp_synth_intern(s, &d->plane->stats,
							   use_details(h, &op->uses[k], index));
			d->kernels[kernel] = tfp_synth_intern(s, &d->plane->events,
							      tfp_synth_kernel_at(kernel)->name);
		}
		if (h->o->grouped && op->use_count > 0 && op->phase != PHASE_REDUCE) {
			d->op_names[i] = tfp_synth_intern(s, &d->plane->events, full);
			name_scopes(h, d, i, tfp_synth_space_text(s, "%s", name));
		}
	}
}

static struct tfp_synth_line *stream(struct tfp_synth_host *h, struct tfp_synth_device *d,
				     int64_t id, const char *kind)
{
	return tfp_synth_space_line(
		&h->space, d->plane, id,
		tfp_synth_space_text(&h->space, "Stream #%lld(%s)", (long long)id, kind),
		DEVICE_LINES_NS);
}

static void describe_device(struct tfp_synth_host *h, struct tfp_buf *b)
{
	if (!h->o->grouped) {
		tfp_synth_stat_text(b, XPLANE_STATS, ST_VENDOR, "Nvidia");
		tfp_synth_stat_text(b, XPLANE_STATS, ST_DEVICE_NAME, "NVIDIA A100-SXM4-40GB");
	}
	tfp_synth_stat_int(b, XPLANE_STATS, ST_CLOCK_RATE, 1410000);
	tfp_synth_stat_int(b, XPLANE_STATS, ST_CORE_COUNT, 108);
	tfp_synth_stat_uint(b, XPLANE_STATS, ST_MEMORY_BANDWIDTH, UINT64_C(1555200000000));
	tfp_synth_stat_uint(b, XPLANE_STATS, ST_MEMORY_SIZE, UINT64_C(42505273344));
	tfp_synth_stat_int(b, XPLANE_STATS, ST_COMPUTE_MAJOR, 8);
	tfp_synth_stat_int(b, XPLANE_STATS, ST_COMPUTE_MINOR, 0);
}

static unsigned use_count(const struct tfp_synth_model *m)
{
	unsigned uses = 0;

	for (unsigned i = 0; i < m->op_count; i++)
		uses += m->ops[i].use_count;
	return uses;
}

static uint32_t *ids(struct tfp_synth_host *h, size_t count)
{
	uint32_t *list = tfp_arena_zalloc(&h->space.arena, count + 1, sizeof(*list));

	if (!list)
		h->space.no_memory = true;
	return list;
}

static bool make_device(struct tfp_synth_host *h, unsigned index)
{
	struct tfp_synth_device *d = &h->devices[index];
	const struct tfp_synth_model *m = h->m;
	const char *name = tfp_synth_space_text(&h->space, "/device:GPU:%u", index);
	bool grouped = h->o->grouped;

	d->plane = tfp_synth_space_plane(&h->space, index, name);
	name_stats(h, d->plane, ON_DEVICE);
	describe_device(h, &d->plane->plane_stats);
	d->host_name = ids(h, m->op_count);
	d->host_text = ids(h, m->op_count);
	d->host_path = ids(h, m->op_count);
	d->text = ids(h, m->op_count);
	d->details = ids(h, use_count(m));
	d->kernels = ids(h, tfp_synth_kernel_count());
	d->op_names = ids(h, m->op_count);
	d->equations = ids(h, m->op_count);
	d->scope_names = ids(h, grouped ? (size_t)m->op_count * TFP_SYNTH_SCOPES_MAX : 0);
	d->compute = stream(h, d, 13, grouped ? "Compute" : "Memset,MemcpyD2D,Kernel");
	d->h2d = stream(h, d, 14, "MemcpyH2D");
	d->d2h = stream(h, d, 15, "MemcpyD2H");
	d->nccl = stream(h, d, 21, grouped ? "Compute" : "Kernel");
	if (grouped) {
		d->ops = tfp_synth_space_line(&h->space, d->plane, DERIVED_OPS, "TensorFlow Ops",
					      DEVICE_LINES_NS);
		d->scopes = tfp_synth_space_line(&h->space, d->plane, DERIVED_SCOPES,
						 "TensorFlow Name Scope", DEVICE_LINES_NS);
		d->steps = tfp_synth_space_line(&h->space, d->plane, DERIVED_STEPS, "Steps",
						DEVICE_LINES_NS);
	}
	if (h->o->counter_samples)
		tfp_synth_counters_set_up(h, d, DEVICE_LINES_NS);
	snprintf(d->context, sizeof(d->context), "$$%u", index + 1);
	return !h->space.no_memory;
}

/* In one go at the end, so that their ids follow one another. */
static void name_steps(struct tfp_synth_host *h, struct tfp_synth_device *d)
{
	d->first_step_name = d->plane->events.count + 1;
	for (unsigned i = 0; i < h->o->steps; i++)
		tfp_synth_intern_at(&h->space, &d->plane->events,
				    tfp_synth_space_text(&h->space, "%u", i),
				    d->first_step_name + i);
}

bool tfp_synth_host_set_up(struct tfp_synth_host *h)
{
	const struct tfp_synth_model *m = h->m;
	unsigned devices = h->o->devices;
	size_t pinned;

	h->devices = tfp_arena_zalloc(&h->space.arena, devices, sizeof(*h->devices));
	h->shapes = ids(h, m->op_count);
	h->arguments = ids(h, m->op_count);
	h->equations = ids(h, m->op_count);
	h->first_use = ids(h, m->op_count);
	h->launches = ids(h, tfp_synth_kernel_count());
	pinned = (size_t)devices * PINNED_KINDS;
	h->pinned_events = tfp_arena_zalloc(&h->space.arena, pinned, sizeof(*h->pinned_events));
	h->pinned_order = tfp_arena_zalloc(&h->space.arena, pinned, sizeof(*h->pinned_order));
	if (!h->devices || !h->pinned_events || !h->pinned_order || h->space.no_memory)
		return false;
	for (unsigned d = 0; d < devices; d++)
		if (!make_device(h, d))
			return false;
	h->plane = tfp_synth_space_plane(&h->space, 0, "/host:CPU");
	name_stats(h, h->plane, ON_HOST);
	name_events(h);
	name_texts(h);
	name_launches(h);
	name_threads(h);
	for (unsigned d = 0; d < devices; d++) {
		const char *allocator = tfp_synth_space_text(&h->space, "GPU_%u_bfc", d);

		h->devices[d].memory.name = host_text(h, allocator);
		name_device_ops(h, &h->devices[d], d);
		name_copies(h, &h->devices[d], d);
		if (h->o->grouped)
			name_steps(h, &h->devices[d]);
	}
	return !h->space.no_memory;
}
