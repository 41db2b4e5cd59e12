/* SPDX-License-Identifier: Apache-2.0 */
#include "synth/jax_host.h"

#include "base/alloc.h"
#include "synth/rng.h"
#include "synth/space.h"

#include <stdio.h>

/* 2026-01-15 09:00:00 UTC, an hour before the run of host.c. */
#define PROFILE_START_NS UINT64_C(1768467600000000000)
#define LINES_NS         INT64_C(31200) /* where the threads' lines begin */
#define FIRST_STEP       400
#define FIRST_STEP_NS    INT64_C(1200000)
#define LAUNCH_NS        2300
#define BETWEEN_NS       250             /* from one launch to the next */
#define LATENCY_NS       3900            /* from a launch to its kernel */
#define LOADED_NS        INT64_C(420000) /* a batch that was ready */
#define BATCH_BYTES      65536

/* Stats, by plane. */
enum stat {
	ST_STEP_NUM,
	ST_ROOT,
	ST_CORRELATION,
	ST_DEVICE,
	ST_CONTEXT,
	ST_HLO_OP,
	ST_HLO_MODULE,
	ST_PROGRAM,
	ST_NAME,
	ST_KERNEL,
	ST_MEMCPY,
	ST_OCCUPANCY,
	ST_OCCUPANCY_GRID,
	ST_OCCUPANCY_BLOCK,
	STAT_COUNT
};

static const char *const stat_names[STAT_COUNT] = {"step_num",
						   "_r",
						   "correlation_id",
						   "device_id",
						   "context_id",
						   "hlo_op",
						   "hlo_module",
						   "program_id",
						   "name",
						   "kernel_details",
						   "memcpy_details",
						   "theoretical_occupancy_pct",
						   "occupancy_min_grid_size",
						   "occupancy_suggested_block_size"};

enum host_event {
	EV_STEP,
	EV_NEXT_BATCH,
	EV_PUT,
	EV_COPY_CALL,
	EV_PJIT,
	EV_EXECUTE,
	EV_MODULE,
	EV_LAUNCH,
	EV_WAIT,
	EVENT_COUNT
};

static const char *const event_names[EVENT_COUNT] = {"train",
						     "DataLoader.__next__",
						     "DevicePut",
						     "cuMemcpyHtoDAsync_v2",
						     "PjitFunction(train_step)",
						     "PjRtStreamExecutorLoadedExecutable::Execute",
						     "jit_train_step:XLA GPU module",
						     "cuLaunchKernelEx",
						     "Array.block_until_ready"};

/* Ids of what a work says, on one plane. */
struct work_ids {
	uint32_t kernel, details, hlo_op, op_name;
};

struct device {
	struct tfp_synth_plane *plane;
	struct tfp_synth_line *streams[STREAM_COUNT], *copies;
	uint32_t stats[STAT_COUNT], module, copy_name, copy_details;
	struct work_ids *works;
	/* While a step is written. */
	int64_t free_at[STREAM_COUNT]; /* when a stream has done what it has */
};

struct host {
	const struct tfp_synth_options *o;
	const struct tfp_synth_train_step *t;
	unsigned index;
	uint64_t key;
	struct tfp_synth_space space;
	struct tfp_synth_plane *plane;
	struct tfp_synth_line *python, *launcher[TFP_SYNTH_DEVICES_MAX];
	uint32_t stats[STAT_COUNT], events[EVENT_COUNT], module;
	uint32_t *hlo_ops, *op_names; /* by work */
	struct device *devices;
	int64_t start; /* of the next step */
};

/* ---- names ---- */

static void name_stats(struct host *h, struct tfp_synth_plane *p, uint32_t ids[STAT_COUNT])
{
	for (unsigned i = 0; i < STAT_COUNT; i++)
		ids[i] = tfp_synth_intern(&h->space, &p->stats, stat_names[i]);
}

static void describe_device(struct host *h, struct tfp_synth_plane *p)
{
	static const struct {
		const char *name;
		uint64_t value;
	} facts[] = {{"clock_rate", 1980000},
		     {"core_count", 132},
		     {"memory_bandwidth", UINT64_C(3352320000000)},
		     {"memory_size", UINT64_C(85017493504)},
		     {"compute_cap_major", 9},
		     {"compute_cap_minor", 0}};

	tfp_synth_stat_text(&p->plane_stats, XPLANE_STATS,
			    tfp_synth_intern(&h->space, &p->stats, "device_vendor"), "Nvidia");
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		tfp_synth_stat_uint(&p->plane_stats, XPLANE_STATS,
				    tfp_synth_intern(&h->space, &p->stats, facts[i].name),
				    facts[i].value);
}

static bool set_up_device(struct host *h, unsigned number)
{
	static const char *const streams[STREAM_COUNT] = {"Stream #13(Compute)",
							  "Stream #25(Compute)"};
	static const int64_t ids[STREAM_COUNT] = {13, 25};
	struct device *d = &h->devices[number];
	char name[32];

	snprintf(name, sizeof(name), "/device:GPU:%u", number);
	d->plane = tfp_synth_space_plane(&h->space, 2 + number, name);
	describe_device(h, d->plane);
	name_stats(h, d->plane, d->stats);
	for (unsigned i = 0; i < STREAM_COUNT; i++)
		d->streams[i] =
			tfp_synth_space_line(&h->space, d->plane, ids[i], streams[i], LINES_NS);
	d->copies =
		tfp_synth_space_line(&h->space, d->plane, 14, "Stream #14(MemcpyH2D)", LINES_NS);
	d->module = tfp_synth_intern(&h->space, &d->plane->stats, h->t->module);
	d->copy_name = tfp_synth_intern(&h->space, &d->plane->events, "MemcpyH2D");
	d->copy_details = tfp_synth_intern(
		&h->space, &d->plane->stats,
		tfp_synth_space_text(&h->space,
				     "kind_src:pinned kind_dst:device size:%u dest:%u async:1",
				     BATCH_BYTES, number));
	d->works = tfp_arena_zalloc(&h->space.arena, h->t->work_count + 1, sizeof(*d->works));
	if (!d->works)
		return false;
	for (size_t i = 0; i < h->t->work_count; i++) {
		const struct tfp_synth_kernel_work *w = &h->t->works[i];

		d->works[i] = (struct work_ids){
			.kernel = tfp_synth_intern(&h->space, &d->plane->events, w->kernel),
			.details = tfp_synth_intern(&h->space, &d->plane->stats, w->details),
			.hlo_op = tfp_synth_intern(&h->space, &d->plane->stats, w->hlo_op),
			.op_name = tfp_synth_intern(&h->space, &d->plane->stats, w->op_name),
		};
	}
	return true;
}

/* The program, where JAX puts it: as a stat of the metadata of an event that never is. */
static void write_program(struct host *h)
{
	struct tfp_synth_plane *p = tfp_synth_space_plane(&h->space, 1, "/host:metadata");
	uint32_t stat = tfp_synth_intern(&h->space, &p->stats, "Hlo Proto");
	const char *name = tfp_synth_space_text(&h->space, "%s(%llu)", h->t->module,
						(unsigned long long)h->t->program_id);

	tfp_synth_intern_bytes_at(&h->space, &p->events, name, (uint32_t)h->t->program_id, stat,
				  h->t->proto.data, h->t->proto.size);
}

static bool set_up(struct host *h)
{
	struct tfp_synth_space *s = &h->space;

	write_program(h);
	h->devices = tfp_arena_zalloc(&s->arena, h->o->devices, sizeof(*h->devices));
	h->hlo_ops = tfp_arena_zalloc(&s->arena, h->t->work_count + 1, sizeof(*h->hlo_ops));
	h->op_names = tfp_arena_zalloc(&s->arena, h->t->work_count + 1, sizeof(*h->op_names));
	if (!h->devices || !h->hlo_ops || !h->op_names)
		return false;
	for (unsigned i = 0; i < h->o->devices; i++)
		if (!set_up_device(h, i))
			return false;
	h->plane = tfp_synth_space_plane(s, 2 + h->o->devices, "/host:CPU");
	name_stats(h, h->plane, h->stats);
	for (unsigned i = 0; i < EVENT_COUNT; i++)
		h->events[i] = tfp_synth_intern(s, &h->plane->events, event_names[i]);
	h->module = tfp_synth_intern(s, &h->plane->stats, h->t->module);
	for (size_t i = 0; i < h->t->work_count; i++) {
		h->hlo_ops[i] = tfp_synth_intern(s, &h->plane->stats, h->t->works[i].hlo_op);
		h->op_names[i] = tfp_synth_intern(s, &h->plane->stats, h->t->works[i].op_name);
	}
	h->python = tfp_synth_space_line(s, h->plane, 4711, "python", LINES_NS);
	for (unsigned i = 0; i < h->o->devices; i++)
		h->launcher[i] = tfp_synth_space_line(
			s, h->plane, 4800 + i,
			tfp_synth_space_text(s, "pjrt_gpu_%u/%u", i, 4800 + i), LINES_NS);
	return !s->no_memory;
}

/* ---- events ---- */

static void plain(struct host *h, struct tfp_synth_line *line, enum host_event event, int64_t start,
		  int64_t end)
{
	size_t mark;

	(void)tfp_synth_event_begin(line, h->events[event], start, end - start, &mark);
	tfp_synth_event_end(line, mark);
}

static uint64_t correlation(const struct host *h, unsigned step, unsigned device, size_t launch)
{
	return 1 + ((uint64_t)step * h->o->devices + device) * (h->t->order_count + 1) + launch;
}

static void write_launch(struct host *h, unsigned step, unsigned device, size_t launch, int64_t at)
{
	uint32_t work = h->t->order[launch];
	size_t mark;
	struct tfp_buf *b = tfp_synth_event_begin(h->launcher[device], h->events[EV_LAUNCH], at,
						  LAUNCH_NS, &mark);

	tfp_synth_stat_uint(b, XEVENT_STATS, h->stats[ST_DEVICE], device);
	tfp_synth_stat_uint(b, XEVENT_STATS, h->stats[ST_CORRELATION],
			    correlation(h, step, device, launch + 1));
	tfp_synth_stat_ref(b, XEVENT_STATS, h->stats[ST_NAME], h->op_names[work]);
	tfp_synth_stat_ref(b, XEVENT_STATS, h->stats[ST_HLO_OP], h->hlo_ops[work]);
	tfp_synth_stat_ref(b, XEVENT_STATS, h->stats[ST_HLO_MODULE], h->module);
	tfp_synth_stat_uint(b, XEVENT_STATS, h->stats[ST_PROGRAM], h->t->program_id);
	tfp_synth_event_end(h->launcher[device], mark);
}

static void write_kernel(struct host *h, unsigned step, unsigned device, size_t launch, int64_t at,
			 int64_t ns)
{
	struct device *d = &h->devices[device];
	uint32_t work = h->t->order[launch];
	const struct tfp_synth_kernel_work *w = &h->t->works[work];
	const struct work_ids *ids = &d->works[work];
	struct tfp_synth_line *line = d->streams[w->stream];
	size_t mark;
	struct tfp_buf *b = tfp_synth_event_begin(line, ids->kernel, at, ns, &mark);

	tfp_synth_stat_uint(b, XEVENT_STATS, d->stats[ST_CORRELATION],
			    correlation(h, step, device, launch + 1));
	tfp_synth_stat_ref(b, XEVENT_STATS, d->stats[ST_NAME], ids->op_name);
	tfp_synth_stat_ref(b, XEVENT_STATS, d->stats[ST_HLO_OP], ids->hlo_op);
	tfp_synth_stat_ref(b, XEVENT_STATS, d->stats[ST_HLO_MODULE], d->module);
	tfp_synth_stat_uint(b, XEVENT_STATS, d->stats[ST_PROGRAM], h->t->program_id);
	tfp_synth_stat_ref(b, XEVENT_STATS, d->stats[ST_KERNEL], ids->details);
	tfp_synth_stat_double(b, XEVENT_STATS, d->stats[ST_OCCUPANCY], w->occupancy);
	tfp_synth_stat_int(b, XEVENT_STATS, d->stats[ST_OCCUPANCY_GRID], 132);
	tfp_synth_stat_int(b, XEVENT_STATS, d->stats[ST_OCCUPANCY_BLOCK],
			   w->block < 512 ? 512 : 1024);
	tfp_synth_event_end(line, mark);
}

/* ---- a step ---- */

/* How long a host waits for its batch: the slow host always, all of them in the stretch that
 * the story has (synth.h). */
static int64_t loading_ns(const struct tfp_synth_options *o, const struct tfp_synth_train_step *t,
			  unsigned host, unsigned step)
{
	uint64_t draw = synth_draw(synth_mix(o->seed ^ 0x6a6178) + host, step);
	int64_t ns = LOADED_NS;

	if ((uint64_t)step * 100 >= (uint64_t)o->steps * 45 &&
	    (uint64_t)step * 100 < (uint64_t)o->steps * 65)
		ns += t->ns / 3;
	if (o->hosts > 1 && host == o->hosts - 1)
		ns += t->ns / 12;
	return synth_jitter(draw, ns, 60);
}

/* When the last of all hosts has its batch: collectives cannot end before. */
static int64_t slowest_loading_ns(const struct host *h, unsigned step)
{
	int64_t most = 0;

	for (unsigned host = 0; host < h->o->hosts; host++) {
		int64_t ns = loading_ns(h->o, h->t, host, step);

		if (ns > most)
			most = ns;
	}
	return most;
}

/* A kernel's time on a device: the nominal one, with a little luck. */
static int64_t kernel_ns(const struct host *h, unsigned device, unsigned step, size_t launch,
			 int64_t nominal)
{
	uint64_t draw =
		synth_draw(h->key ^ ((uint64_t)device << 40), ((uint64_t)step << 24) + launch);

	return synth_jitter(draw, nominal, 20);
}

/* → the end of the device's last kernel. common: when the slowest device of all hosts may
 * begin with this step's kernels. */
static int64_t run_device(struct host *h, unsigned device, unsigned step, int64_t first_launch,
			  int64_t common, int64_t *launched)
{
	const struct tfp_synth_train_step *t = h->t;
	struct device *d = &h->devices[device];
	int64_t at = first_launch, lag, done = 0;
	int64_t nominal = common; /* the slowest device's clock, without its luck */

	for (unsigned i = 0; i < STREAM_COUNT; i++)
		d->free_at[i] = 0;
	for (size_t i = 0; i < t->order_count; i++) {
		const struct tfp_synth_kernel_work *w = &t->works[t->order[i]];
		bool collective = w->stream == STREAM_COLLECTIVE;
		int64_t start = at + LATENCY_NS, end;

		write_launch(h, step, device, i, at);
		at += LAUNCH_NS + BETWEEN_NS;
		if (start < d->free_at[w->stream])
			start = d->free_at[w->stream];
		if (collective && start < d->free_at[STREAM_COMPUTE])
			start = d->free_at[STREAM_COMPUTE];
		if (w->after_collectives && start < d->free_at[STREAM_COLLECTIVE])
			start = d->free_at[STREAM_COLLECTIVE];
		/* A reduction ends for all at the same time. */
		lag = collective ? nominal + nominal / 1000 : 0;
		end = start + kernel_ns(h, device, step, i, w->ns);
		if (collective && h->o->hosts > 1 && end < lag + w->ns)
			end = lag + w->ns;
		write_kernel(h, step, device, i, start, end - start);
		d->free_at[w->stream] = end;
		if (!collective)
			nominal += w->ns;
		if (end > done)
			done = end;
	}
	*launched = at;
	return done;
}

static void copy_batch(struct host *h, unsigned device, unsigned step, int64_t at)
{
	struct device *d = &h->devices[device];
	size_t mark;
	struct tfp_buf *b =
		tfp_synth_event_begin(h->python, h->events[EV_COPY_CALL], at, 3000, &mark);

	tfp_synth_stat_uint(b, XEVENT_STATS, h->stats[ST_DEVICE], device);
	tfp_synth_stat_uint(b, XEVENT_STATS, h->stats[ST_CORRELATION],
			    correlation(h, step, device, 0));
	tfp_synth_event_end(h->python, mark);
	b = tfp_synth_event_begin(d->copies, d->copy_name, at + LATENCY_NS, 5200, &mark);
	tfp_synth_stat_uint(b, XEVENT_STATS, d->stats[ST_CORRELATION],
			    correlation(h, step, device, 0));
	tfp_synth_stat_ref(b, XEVENT_STATS, d->stats[ST_MEMCPY], d->copy_details);
	tfp_synth_event_end(d->copies, mark);
}

static void write_step(struct host *h, unsigned step)
{
	int64_t start = h->start, loaded, launched = start, at, end = 0;
	int64_t slowest = start + 20000 + slowest_loading_ns(h, step) + 60000;
	size_t mark;
	struct tfp_buf *b;

	loaded = start + 20000 + loading_ns(h->o, h->t, h->index, step);
	plain(h, h->python, EV_NEXT_BATCH, start + 20000, loaded);
	at = loaded + 4000;
	plain(h, h->python, EV_PUT, at, at + 5000 + 4000 * (int64_t)h->o->devices);
	for (unsigned i = 0; i < h->o->devices; i++)
		copy_batch(h, i, step, at + 2000 + 4000 * (int64_t)i);
	at += 9000 + 4000 * (int64_t)h->o->devices;
	for (unsigned i = 0; i < h->o->devices; i++) {
		int64_t from = at + 30000 + 1500 * (int64_t)i;
		int64_t done = run_device(h, i, step, from, slowest, &launched);

		plain(h, h->launcher[i], EV_EXECUTE, from - 9000, launched + 6000);
		plain(h, h->launcher[i], EV_MODULE, from - 4000, launched + 2000);
		if (done > end)
			end = done;
	}
	plain(h, h->python, EV_PJIT, at, launched + 20000);
	if (launched + 30000 > end)
		end = launched + 30000;
	plain(h, h->python, EV_WAIT, launched + 22000, end + 12000);
	end += 40000;
	b = tfp_synth_event_begin(h->python, h->events[EV_STEP], start, end - start, &mark);
	tfp_synth_stat_int(b, XEVENT_STATS, h->stats[ST_STEP_NUM], FIRST_STEP + (int64_t)step);
	tfp_synth_stat_int(b, XEVENT_STATS, h->stats[ST_ROOT], 1);
	tfp_synth_event_end(h->python, mark);
	h->start = end + 30000;
}

static void write_steps(struct host *h)
{
	h->start = FIRST_STEP_NS;
	for (unsigned i = 0; i < h->o->steps; i++)
		write_step(h, i);
}

static void close_capture(struct host *h)
{
	struct tfp_synth_plane *p = tfp_synth_space_plane(&h->space, 0, "Task Environment");
	uint64_t start = PROFILE_START_NS + (uint64_t)h->index * 41231;

	tfp_synth_stat_uint(&p->plane_stats, XPLANE_STATS,
			    tfp_synth_intern(&h->space, &p->stats, "profile_start_time"), start);
	tfp_synth_stat_uint(&p->plane_stats, XPLANE_STATS,
			    tfp_synth_intern(&h->space, &p->stats, "profile_stop_time"),
			    start + (uint64_t)h->start);
}

enum tfp_status tfp_synth_jax_host_write(const struct tfp_synth_options *o,
					 const struct tfp_synth_train_step *t, unsigned index,
					 int fd, struct tfp_error *err)
{
	struct host h = {.o = o,
			 .t = t,
			 .index = index,
			 .key = synth_draw(synth_mix(o->seed ^ 0x6a6178686f7374), index + 1)};
	char name[TFP_SYNTH_HOST_NAME_SIZE];
	enum tfp_status status = tfp_synth_space_init(&h.space, o->devices + 3, err);

	if (status == TFP_OK && !set_up(&h))
		status = tfp_fail(err, TFP_NO_MEMORY, "no memory for the names of a capture");
	if (status == TFP_OK) {
		write_steps(&h);
		close_capture(&h);
		tfp_synth_host_name(index, name);
		status = tfp_synth_space_lay_out(&h.space, fd, name, err);
	}
	if (status == TFP_OK) {
		write_steps(&h);
		status = tfp_synth_space_finish(&h.space, err);
	}
	tfp_synth_space_release(&h.space);
	return status;
}
