/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/error.h"
#include "support/pb_walk.h"
#include "synth/synth.h"

#include <dirent.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

/* ---- files ---- */

struct bytes {
	uint8_t *data;
	size_t size;
};

static char folder[64];

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tfp-synth-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct bytes read_file(const char *path)
{
	struct bytes b = {NULL, 0};
	FILE *file = fopen(path, "rb");
	struct stat st;

	if (!file)
		fail_msg("no file %s", path);
	assert_int_equal(fstat(fileno(file), &st), 0);
	b.size = (size_t)st.st_size;
	b.data = malloc(b.size + 1);
	assert_non_null(b.data);
	assert_int_equal(fread(b.data, 1, b.size, file), b.size);
	fclose(file);
	return b;
}

static void write_or_fail(const struct tfp_synth_options *o)
{
	struct tfp_error err;
	char text[1800];

	tfp_error_init(&err);
	if (tfp_synth_write(o, folder, &err) != TFP_OK)
		fail_msg("%s", tfp_error_text(&err, text, sizeof(text)));
}

static struct bytes host_file(const struct tfp_synth_options *o, unsigned host, const char *ending)
{
	char name[TFP_SYNTH_HOST_NAME_SIZE], path[400];

	tfp_synth_host_name(host, name);
	snprintf(path, sizeof(path), "%s/plugins/profile/%s/%s.xplane.pb%s", folder, o->run, name,
		 ending);
	return read_file(path);
}

/* ---- a capture, decoded ---- */

#define NAMES_MAX 20000
#define STATS_MAX 24
#define DEPTH_MAX 64

struct stat_value {
	const char *name, *text; /* text: of a str or ref, else NULL */
	unsigned field;          /* which member of the oneof */
	uint64_t value;
	double number;
};

struct event {
	const char *plane, *line, *name;
	int64_t line_id, start, end; /* ps since the start of the profile */
	struct stat_value stats[STATS_MAX];
	unsigned stat_count;
};

typedef void (*event_function)(void *context, const struct event *e);

struct capture {
	char *event_names[NAMES_MAX], *stat_names[NAMES_MAX]; /* of the plane at hand */
	unsigned planes, lines;
	size_t events;
	event_function each;
	void *context;
};

static char *text_of(const struct pb_walk *w)
{
	char *text = malloc(w->size + 1);

	assert_non_null(text);
	memcpy(text, w->data, w->size);
	text[w->size] = '\0';
	return text;
}

static void read_entry(struct pb_walk entry, char *names[NAMES_MAX])
{
	uint64_t key = 0, id = 0;
	char *name = NULL;

	while (pb_next(&entry)) {
		struct pb_walk value;

		if (entry.field == 1)
			key = entry.value;
		if (entry.field != 2)
			continue;
		value = pb_inside(&entry);
		while (pb_next(&value)) {
			if (value.field == 1)
				id = value.value;
			if (value.field == 2)
				name = text_of(&value);
		}
		assert_true(pb_good(&value));
	}
	assert_true(pb_good(&entry));
	assert_int_equal(key, id);
	assert_in_range(key, 1, NAMES_MAX - 1);
	assert_null(names[key]);
	assert_non_null(name);
	names[key] = name;
}

static const char *known(char *names[NAMES_MAX], uint64_t id)
{
	assert_in_range(id, 1, NAMES_MAX - 1);
	assert_non_null(names[id]);
	return names[id];
}

static struct stat_value read_stat(struct capture *c, struct pb_walk w)
{
	struct stat_value s = {0};

	while (pb_next(&w)) {
		if (w.field == 1) {
			s.name = known(c->stat_names, w.value);
			continue;
		}
		assert_int_equal(s.field, 0);
		s.field = w.field;
		s.value = w.value;
		if (w.field == 2)
			s.number = pb_double(&w);
		if (w.field == 5)
			s.text = "text";
		if (w.field == 7)
			s.text = known(c->stat_names, w.value);
	}
	assert_true(pb_good(&w));
	assert_non_null(s.name);
	assert_int_not_equal(s.field, 0);
	return s;
}

static void read_event(struct capture *c, struct pb_walk w, struct event *e, int64_t origin_ps)
{
	int64_t duration = 0;

	e->name = NULL;
	e->stat_count = 0;
	e->start = -1;
	while (pb_next(&w)) {
		switch (w.field) {
		case 1:
			e->name = known(c->event_names, w.value);
			break;
		case 2:
			e->start = origin_ps + (int64_t)w.value;
			assert_true((int64_t)w.value >= 0);
			break;
		case 3:
			duration = (int64_t)w.value;
			assert_true(duration > 0);
			break;
		case 4:
			assert_true(e->stat_count < STATS_MAX);
			e->stats[e->stat_count++] = read_stat(c, pb_inside(&w));
			break;
		default:
			fail_msg("field %u in an event", w.field);
		}
	}
	assert_true(pb_good(&w));
	assert_non_null(e->name);
	assert_true(e->start >= 0);
	e->end = e->start + duration;
	c->events++;
}

/* Every event inside the one that encloses it, in the order that readers
 * rely on. */
static void read_line(struct capture *c, struct pb_walk w, const char *plane)
{
	struct event e = {.plane = plane}, before = {0};
	int64_t open[DEPTH_MAX], origin = 0;
	unsigned depth = 0;
	char *name = NULL;
	struct pb_walk head = w;

	while (pb_next(&head)) {
		if (head.field == 1)
			e.line_id = (int64_t)head.value;
		if (head.field == 2)
			name = text_of(&head);
		if (head.field == 3)
			origin = (int64_t)head.value * 1000;
	}
	assert_true(pb_good(&head));
	assert_non_null(name);
	e.line = name;
	c->lines++;
	while (pb_next(&w)) {
		if (w.field != 4)
			continue;
		read_event(c, pb_inside(&w), &e, origin);
		assert_true(e.start >= before.start);
		if (before.name && e.start == before.start)
			assert_true(e.end <= before.end);
		while (depth > 0 && open[depth - 1] <= e.start)
			depth--;
		if (depth > 0)
			assert_true(e.end <= open[depth - 1]);
		/* One thing at a time on a stream. */
		if (plane[1] == 'd' && e.line_id >= 0)
			assert_int_equal(depth, 0);
		assert_true(depth < DEPTH_MAX);
		open[depth++] = e.end;
		before = e;
		if (c->each)
			c->each(c->context, &e);
	}
	free(name);
}

static void forget_names(char *names[NAMES_MAX])
{
	for (unsigned i = 0; i < NAMES_MAX; i++) {
		free(names[i]);
		names[i] = NULL;
	}
}

static void read_plane(struct capture *c, struct pb_walk w)
{
	struct pb_walk names = w;
	char *plane = NULL;

	while (pb_next(&names)) {
		if (names.field == 2)
			plane = text_of(&names);
		if (names.field == 4)
			read_entry(pb_inside(&names), c->event_names);
		if (names.field == 5)
			read_entry(pb_inside(&names), c->stat_names);
	}
	assert_true(pb_good(&names));
	assert_non_null(plane);
	c->planes++;
	while (pb_next(&w)) {
		if (w.field == 3)
			read_line(c, pb_inside(&w), plane);
		if (w.field == 6)
			read_stat(c, pb_inside(&w));
	}
	forget_names(c->event_names);
	forget_names(c->stat_names);
	free(plane);
}

static struct capture read_capture(struct bytes b, event_function each, void *context)
{
	static struct capture c;
	struct pb_walk w = pb_walk(b.data, b.size);
	unsigned hostnames = 0;

	memset(&c, 0, sizeof(c));
	c.each = each;
	c.context = context;
	while (pb_next(&w)) {
		if (w.field == 1)
			read_plane(&c, pb_inside(&w));
		else
			hostnames += w.field == 4;
	}
	assert_true(pb_good(&w));
	assert_int_equal(hostnames, 1);
	return c;
}

static const struct stat_value *stat_of(const struct event *e, const char *name)
{
	for (unsigned i = 0; i < e->stat_count; i++)
		if (!strcmp(e->stats[i].name, name))
			return &e->stats[i];
	return NULL;
}

static int64_t number_of(const struct event *e, const char *name)
{
	const struct stat_value *s = stat_of(e, name);

	if (!s || s->field != 4)
		fail_msg("%s without an int64 %s", e->name, name);
	return (int64_t)s->value;
}

/* ---- the demonstration ---- */

static void the_demonstration_is_small_and_sound(void **state)
{
	struct tfp_synth_options o;

	(void)state;
	tfp_synth_options_demo(&o);
	write_or_fail(&o);
	for (unsigned host = 0; host < o.hosts; host++) {
		struct bytes b = host_file(&o, host, "");
		struct capture c = read_capture(b, NULL, NULL);

		assert_in_range(b.size, 500000, 1500000);
		assert_int_equal(c.planes, o.devices + 2);
		assert_in_range(c.events, 10000, 40000);
		free(b.data);
	}
}

struct set {
	char *texts[4000];
	unsigned count;
};

static void add_to(struct set *s, const char *text)
{
	for (unsigned i = 0; i < s->count; i++)
		if (!strcmp(s->texts[i], text))
			return;
	assert_true(s->count < 4000);
	s->texts[s->count++] = strdup(text);
}

static bool has(const struct set *s, const char *text)
{
	for (unsigned i = 0; i < s->count; i++)
		if (!strcmp(s->texts[i], text))
			return true;
	return false;
}

static void empty(struct set *s)
{
	while (s->count > 0)
		free(s->texts[--s->count]);
}

struct variety {
	struct set names, ops, kernels;
};

static void note_variety(void *context, const struct event *e)
{
	struct variety *v = context;
	const struct stat_value *op = stat_of(e, "tf_op");

	add_to(&v->names, e->name);
	if (stat_of(e, "kernel_details")) {
		assert_non_null(op);
		add_to(&v->ops, op->text);
		add_to(&v->kernels, e->name);
	}
}

static void has_what_the_dashboards_need(void **state)
{
	static const char *const needed[] = {
		"train",
		"train_function",
		"FunctionRun",
		"ExecutorState::Process",
		"EagerExecute",
		"IteratorGetNextOp::DoCompute",
		"Iterator::Root",
		"PrefetchProduce",
		"PrefetchConsume",
		"ParallelMapProduce",
		"ParallelMapConsume",
		"MemoryAllocation",
		"MemoryDeallocation",
		"cuLaunchKernel",
		"MemcpyH2D",
		"MemcpyD2H",
		"MemcpyD2D",
		"Memset",
		"InstantiatedCapturedFunction::Run",
	};
	static struct variety v;
	struct tfp_synth_options o;
	struct bytes b;

	(void)state;
	tfp_synth_options_demo(&o);
	o.hosts = 1;
	write_or_fail(&o);
	b = host_file(&o, 0, "");
	read_capture(b, note_variety, &v);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!has(&v.names, needed[i]))
			fail_msg("no event %s", needed[i]);
	assert_true(v.ops.count >= 150);
	assert_true(v.kernels.count >= 60);
	empty(&v.names);
	empty(&v.ops);
	empty(&v.kernels);
	free(b.data);
}

/* ---- launches ---- */

#define CORRELATIONS_MAX 100000

struct launches {
	int64_t call[CORRELATIONS_MAX], work[CORRELATIONS_MAX];
	uint64_t device[CORRELATIONS_MAX];
};

static void note_launch(void *context, const struct event *e)
{
	struct launches *l = context;
	const struct stat_value *s = stat_of(e, "correlation_id");
	uint64_t device;

	if (!s)
		return;
	assert_int_equal(s->field, 3);
	assert_in_range(s->value, 1, CORRELATIONS_MAX - 1);
	if (!strcmp(e->plane, "/host:CPU")) {
		assert_int_equal(l->call[s->value], 0);
		l->call[s->value] = e->start;
		device = stat_of(e, "device_id")->value;
	} else {
		assert_int_equal(l->work[s->value], 0);
		l->work[s->value] = e->start;
		device = strtoull(e->plane + strlen("/device:GPU:"), NULL, 10);
	}
	/* The devices' planes come first in the file. */
	if (l->call[s->value] == 0)
		l->device[s->value] = device;
	else
		assert_int_equal(l->device[s->value], device);
}

static void every_launch_has_its_kernel_after_it(void **state)
{
	static struct launches l;
	struct tfp_synth_options o;
	unsigned count = 0;
	struct bytes b;

	(void)state;
	tfp_synth_options_init(&o);
	o.devices = 3;
	o.hosts = 2;
	o.steps = 8;
	write_or_fail(&o);
	b = host_file(&o, 1, "");
	read_capture(b, note_launch, &l);
	for (unsigned i = 0; i < CORRELATIONS_MAX; i++) {
		assert_int_equal(l.call[i] != 0, l.work[i] != 0);
		if (l.call[i] != 0)
			assert_true(l.call[i] < l.work[i]);
		count += l.call[i] != 0;
	}
	assert_true(count > 1000);
	free(b.data);
}

/* ---- memory ---- */

struct memory_event {
	int64_t at, in_use, bytes, address;
	bool give;
	char allocator[32];
};

struct memory {
	struct memory_event *events;
	size_t count, room;
};

static void note_memory(void *context, const struct event *e)
{
	struct memory *m = context;
	bool give = !strcmp(e->name, "MemoryDeallocation");
	struct memory_event *event;
	const struct stat_value *fragmentation;

	if (!give && strcmp(e->name, "MemoryAllocation") != 0)
		return;
	if (m->count == m->room) {
		m->room = m->room ? m->room * 2 : 1024;
		m->events = realloc(m->events, m->room * sizeof(*m->events));
		assert_non_null(m->events);
	}
	event = &m->events[m->count++];
	event->at = e->start;
	event->give = give;
	event->in_use = number_of(e, "bytes_allocated");
	event->bytes = number_of(e, "allocation_bytes");
	event->address = number_of(e, "addr");
	snprintf(event->allocator, sizeof(event->allocator), "%s",
		 stat_of(e, "allocator_name")->text);
	assert_true(e->end == e->start);
	assert_true(number_of(e, "requested_bytes") <= event->bytes);
	assert_true(number_of(e, "peak_bytes_in_use") >= event->in_use);
	assert_true(number_of(e, "bytes_available") > 0);
	fragmentation = stat_of(e, "fragmentation");
	assert_int_equal(fragmentation->field, 2);
	assert_true(fragmentation->number > 0 && fragmentation->number < 1);
}

static int by_allocator_and_time(const void *a, const void *b)
{
	const struct memory_event *x = a, *y = b;
	int order = strcmp(x->allocator, y->allocator);

	if (order == 0)
		order = x->at < y->at ? -1 : x->at > y->at;
	return order;
}

/* Whether the block that a take made is given back by the event at index. */
static bool gives_back(const struct memory_event *take, const struct memory_event *give)
{
	return give->give && give->address == take->address && give->bytes == take->bytes;
}

static void check_books(bool grouped)
{
	struct memory m = {0};
	struct tfp_synth_options o;
	unsigned allocators = 0, kept = 0, expected;
	struct bytes b;

	tfp_synth_options_init(&o);
	o.steps = 5;
	o.grouped = grouped;
	/* With further host memory there is one more allocator. */
	o.allocations = grouped ? 0 : 100;
	write_or_fail(&o);
	b = host_file(&o, 0, "");
	read_capture(b, note_memory, &m);
	expected = o.devices + 1 + (o.allocations > 0);
	assert_true(m.count > 500);
	qsort(m.events, m.count, sizeof(*m.events), by_allocator_and_time);
	for (size_t i = 0, first = 0; i < m.count; i++) {
		const struct memory_event *e = &m.events[i];
		size_t k;

		if (i == 0 || strcmp(e->allocator, e[-1].allocator) != 0) {
			allocators++;
			first = i;
		} else {
			assert_true(e->at > e[-1].at);
			assert_true(e->in_use == e[-1].in_use + (e->give ? -e->bytes : e->bytes));
		}
		/* Nobody takes what is taken, and all is given back but the history. */
		if (e->give) {
			assert_true(i > first);
			continue;
		}
		for (k = i + 1; k < m.count && !gives_back(e, &m.events[k]); k++)
			if (!m.events[k].give && !strcmp(m.events[k].allocator, e->allocator))
				assert_true(m.events[k].address >= e->address + e->bytes ||
					    m.events[k].address + m.events[k].bytes <= e->address);
		if (k == m.count) {
			assert_int_equal(e->bytes, 4 << 20);
			assert_string_equal(e->allocator, "GPU_0_bfc");
			kept++;
			continue;
		}
		assert_string_equal(m.events[k].allocator, e->allocator);
	}
	assert_int_equal(allocators, expected);
	assert_int_equal(kept, o.steps);
	free(m.events);
	free(b.data);
}

static void the_books_of_memory_balance(void **state)
{
	(void)state;
	check_books(false);
	check_books(true);
}

/* ---- counters ---- */

struct counters {
	unsigned samples, busy, idle;
	int64_t last;
	char last_name[80];
};

static void note_counter(void *context, const struct event *e)
{
	struct counters *c = context;
	const struct stat_value *value;

	if (strcmp(e->line, "_counters_") != 0)
		return;
	/* As XLA writes them: a stat with the counter's own name. */
	value = stat_of(e, e->name);
	assert_non_null(value);
	assert_true(value->number >= 0 && value->number <= 100);
	assert_int_equal(e->start, e->end);
	if (c->samples % 2)
		assert_true(e->start == c->last && strcmp(e->name, c->last_name) != 0);
	c->samples++;
	c->busy += value->number > 20;
	c->idle += value->number < 3;
	c->last = e->start;
	snprintf(c->last_name, sizeof(c->last_name), "%s", e->name);
}

static void counters_are_sampled_in_every_step(void **state)
{
	struct counters c = {0};
	struct tfp_synth_options o;
	struct bytes b;

	(void)state;
	tfp_synth_options_init(&o);
	o.steps = 5;
	o.counter_samples = 40;
	write_or_fail(&o);
	b = host_file(&o, 0, "");
	read_capture(b, note_counter, &c);
	assert_int_equal(c.samples, 2 * o.devices * o.steps * o.counter_samples);
	assert_true(c.busy > 50);
	assert_true(c.idle > 50);
	free(b.data);
}

/* ---- kinds of captures ---- */

struct kinds {
	unsigned grouped_steps, raw_steps, derived_steps, scopes, ops, other_derived;
	bool group_stat;
};

static void note_kind(void *context, const struct event *e)
{
	struct kinds *k = context;

	k->group_stat = k->group_stat || stat_of(e, "group_id");
	if (!strcmp(e->name, "train")) {
		assert_int_equal(number_of(e, "_r"), 1);
		if (stat_of(e, "step_name"))
			k->grouped_steps++;
		else
			k->raw_steps++;
	}
	if (e->line_id == -559038737)
		k->derived_steps++;
	else if (e->line_id == -559038735)
		k->scopes++;
	else if (e->line_id == -559038734)
		k->ops++;
	else if (e->line_id < 0)
		k->other_derived++;
}

static struct kinds kinds_of(bool grouped)
{
	struct tfp_synth_options o;
	struct kinds k = {0};
	struct bytes b;

	tfp_synth_options_init(&o);
	o.grouped = grouped;
	o.steps = 6;
	write_or_fail(&o);
	b = host_file(&o, 0, "");
	read_capture(b, note_kind, &k);
	free(b.data);
	return k;
}

static void raw_and_grouped_differ_as_they_should(void **state)
{
	struct kinds raw = kinds_of(false), grouped = kinds_of(true);

	(void)state;
	assert_false(raw.group_stat);
	assert_int_equal(raw.raw_steps, 6);
	assert_int_equal(raw.grouped_steps + raw.derived_steps + raw.scopes + raw.ops, 0);
	assert_true(grouped.group_stat);
	assert_int_equal(grouped.grouped_steps, 6);
	assert_int_equal(grouped.derived_steps, 6 * 2);
	assert_true(grouped.ops > 100);
	assert_true(grouped.scopes > 100);
	assert_int_equal(grouped.other_derived, 0);
}

static void is_the_same_again(struct tfp_synth_options o)
{
	struct bytes first, again, other;

	write_or_fail(&o);
	first = host_file(&o, 1, "");
	write_or_fail(&o);
	again = host_file(&o, 1, "");
	o.seed = 2;
	write_or_fail(&o);
	other = host_file(&o, 1, "");
	assert_int_equal(first.size, again.size);
	assert_memory_equal(first.data, again.data, first.size);
	assert_true(other.size != first.size || memcmp(other.data, first.data, first.size) != 0);
	free(first.data);
	free(again.data);
	free(other.data);
}

static void the_same_options_give_the_same_bytes(void **state)
{
	struct tfp_synth_options o;

	(void)state;
	tfp_synth_options_demo(&o);
	is_the_same_again(o);
	tfp_synth_options_jax(&o);
	is_the_same_again(o);
}

static void compression_keeps_the_bytes(void **state)
{
	struct tfp_synth_options o;
	struct bytes plain, packed, back;
	z_stream z = {0};

	(void)state;
	tfp_synth_options_init(&o);
	o.steps = 3;
	write_or_fail(&o);
	plain = host_file(&o, 0, "");
	back.size = plain.size + 1;
	back.data = malloc(back.size);
	assert_non_null(back.data);
	o.compression = TFP_SYNTH_ZSTD;
	write_or_fail(&o);
	packed = host_file(&o, 0, ".zst");
	assert_int_equal(ZSTD_decompress(back.data, back.size, packed.data, packed.size),
			 plain.size);
	assert_memory_equal(back.data, plain.data, plain.size);
	free(packed.data);
	o.compression = TFP_SYNTH_GZIP;
	write_or_fail(&o);
	packed = host_file(&o, 0, ".gz");
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = packed.data;
	z.avail_in = (unsigned)packed.size;
	memset(back.data, 0, back.size);
	z.next_out = back.data;
	z.avail_out = (unsigned)back.size;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, plain.size);
	assert_memory_equal(back.data, plain.data, plain.size);
	inflateEnd(&z);
	free(packed.data);
	free(plain.data);
	free(back.data);
}

static void sizes_come_near_what_was_asked(void **state)
{
	static const uint64_t sizes[] = {1000000, 5000000, 30000000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct tfp_synth_options o;
		struct bytes b;

		tfp_synth_options_init(&o);
		o.bytes = sizes[i];
		o.events_per_step = 1000;
		write_or_fail(&o);
		b = host_file(&o, 0, "");
		assert_in_range(b.size, sizes[i] * 90 / 100, sizes[i] * 110 / 100);
		free(b.data);
	}
}

static void extremes_are_sound(void **state)
{
	static const unsigned extremes[][4] = {
		/* hosts, devices, steps, events */
		{1, 1, 1, 1},
		{2, 1, 2, 100000},
		{1, TFP_SYNTH_DEVICES_MAX, 2, 1},
		{TFP_SYNTH_HOSTS_MAX, 1, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++)
		for (int grouped = 0; grouped < 2; grouped++) {
			struct tfp_synth_options o;
			struct bytes b;

			tfp_synth_options_init(&o);
			o.hosts = extremes[i][0];
			o.devices = extremes[i][1];
			o.steps = extremes[i][2];
			o.events_per_step = extremes[i][3];
			o.grouped = grouped;
			write_or_fail(&o);
			b = host_file(&o, o.hosts - 1, "");
			read_capture(b, NULL, NULL);
			free(b.data);
		}
}

/* ---- failures ---- */

static unsigned entries_in(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void options_out_of_range_are_refused(void **state)
{
	struct tfp_synth_options o;
	struct tfp_error err;

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		tfp_synth_options_init(&o);
		if (i == 0)
			o.hosts = 0;
		if (i == 1)
			o.devices = TFP_SYNTH_DEVICES_MAX + 1;
		if (i == 2)
			o.steps = 0;
		if (i == 3)
			o.events_per_step = 0;
		if (i == 4)
			strcpy(o.run, "../x");
		if (i == 5)
			o.run[0] = '\0';
		if (i == 6)
			o.bytes = UINT64_MAX / 2;
		tfp_error_init(&err);
		assert_int_equal(tfp_synth_write(&o, folder, &err), TFP_BAD_QUERY);
		assert_true(err.message[0] != '\0');
	}
	assert_int_equal(entries_in(folder), 0);
}

static void a_failure_names_the_file_and_leaves_nothing(void **state)
{
	struct tfp_synth_options o;
	struct tfp_error err;
	char path[300];
	FILE *file;

	(void)state;
	tfp_synth_options_init(&o);
	o.steps = 1;
	/* A file where a folder should be. */
	snprintf(path, sizeof(path), "%s/plugins", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	tfp_error_init(&err);
	assert_int_equal(tfp_synth_write(&o, folder, &err), TFP_IO);
	assert_non_null(strstr(err.file, "/plugins"));
	assert_int_equal(remove(path), 0);
	/* A folder where the file should be. */
	write_or_fail(&o);
	snprintf(path, sizeof(path), "%s/plugins/profile/%s/worker-00.xplane.pb", folder, o.run);
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkdir(path, 0777), 0);
	tfp_error_init(&err);
	assert_int_equal(tfp_synth_write(&o, folder, &err), TFP_IO);
	assert_string_equal(err.file, path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(entries_in(path), 1);
}

/* Some allocations can fail without harm: what matters is that the outcome is
 * told and that no half of a file is left. */
static void survives_failing_allocations(struct tfp_synth_options o)
{
	enum tfp_status status = TFP_NO_MEMORY;
	char path[300];
	uint64_t n;

	snprintf(path, sizeof(path), "%s/plugins/profile/%s", folder, o.run);
	for (n = 1; status != TFP_OK && n < 5000; n++) {
		struct tfp_error err;

		tfp_error_init(&err);
		tfp_alloc_fail_at(n);
		status = tfp_synth_write(&o, folder, &err);
		tfp_alloc_fail_at(0);
		if (status != TFP_OK)
			assert_int_equal(entries_in(path), 0);
	}
	assert_int_equal(status, TFP_OK);
	assert_true(n > 20);
}

static void any_allocation_may_fail(void **state)
{
	struct tfp_synth_options o;

	(void)state;
	tfp_synth_options_init(&o);
	o.steps = 1;
	o.events_per_step = 1;
	o.grouped = true;
	o.compression = TFP_SYNTH_GZIP;
	survives_failing_allocations(o);
	tfp_synth_options_jax(&o);
	o.hosts = o.devices = o.steps = o.layers = 1;
	survives_failing_allocations(o);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(the_demonstration_is_small_and_sound),
		TEST(has_what_the_dashboards_need),
		TEST(every_launch_has_its_kernel_after_it),
		TEST(the_books_of_memory_balance),
		TEST(counters_are_sampled_in_every_step),
		TEST(raw_and_grouped_differ_as_they_should),
		TEST(the_same_options_give_the_same_bytes),
		TEST(compression_keeps_the_bytes),
		TEST(sizes_come_near_what_was_asked),
		TEST(extremes_are_sound),
		TEST(options_out_of_range_are_refused),
		TEST(a_failure_names_the_file_and_leaves_nothing),
		TEST(any_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
