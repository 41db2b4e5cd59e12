/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf.data bottleneck: which input pipelines are slow, and which iterator makes
 * them so (docs/tools/tf_data_bottleneck_analysis.md).
 */
#include "analysis/tf_data/iterators.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "session/run_clock.h"
#include "tools/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Rows of the graph unless limit= says otherwise. */
#define GRAPH_LIMIT 500000

enum { GRAPH, SUMMARY, BOTTLENECKS, LATENCIES, ADVICE, TABLES };

/* XProf's, and ours after them: its cell `name` holds what they show as HTML. */
static const struct tfp_column graph_columns[] = {
	{"host", "Host", TFP_CELL_TEXT},
	{"input_pipeline", "Input Pipeline", TFP_CELL_TEXT},
	{"rank", "Rank", TFP_CELL_NUMBER},
	{"name", "Name", TFP_CELL_TEXT},
	{"parent", "Parent", TFP_CELL_TEXT},
	{"type", "Type", TFP_CELL_NUMBER},
	{"iterator", "Iterator", TFP_CELL_TEXT},
	{"long_name", "Long Name", TFP_CELL_TEXT},
	{"start_us", "Start Time (us)", TFP_CELL_NUMBER},
	{"total_us", "Total Duration (us)", TFP_CELL_NUMBER},
	{"self_us", "Self Duration (us)", TFP_CELL_NUMBER},
	{"num_calls", "# Calls", TFP_CELL_NUMBER},
	{"kind", "Kind", TFP_CELL_TEXT},
};

static const struct tfp_column summary_columns[] = {
	{"host", "Host", TFP_CELL_TEXT},
	{"input_pipeline", "Input Pipeline", TFP_CELL_TEXT},
	{"min_us", "Min (us)", TFP_CELL_NUMBER},
	{"avg_us", "Avg (us)", TFP_CELL_NUMBER},
	{"max_us", "Max (us)", TFP_CELL_NUMBER},
	{"num_calls", "# calls", TFP_CELL_NUMBER},
	{"num_slow_calls", "# slow calls", TFP_CELL_NUMBER},
	{"root", "Root", TFP_CELL_TEXT},
};

static const struct tfp_column bottleneck_columns[] = {
	{"host", "Host", TFP_CELL_TEXT},
	{"input_pipeline", "Input Pipeline", TFP_CELL_TEXT},
	{"max_latency_us", "Max Latency (us)", TFP_CELL_NUMBER},
	{"bottleneck", "Bottleneck", TFP_CELL_TEXT},
	{"suggestion", "Suggestion", TFP_CELL_TEXT},
	{"iterator", "Iterator Type", TFP_CELL_TEXT},
	{"long_name", "Long Name", TFP_CELL_TEXT},
	{"latency_us", "Latency (us)", TFP_CELL_NUMBER},
	{"kind", "Kind", TFP_CELL_TEXT},
	{"guide", "Guide", TFP_CELL_TEXT},
};

static const struct tfp_column latency_columns[] = {
	{"host", "Host", TFP_CELL_TEXT},
	{"input_pipeline", "Input Pipeline", TFP_CELL_TEXT},
	{"above_us", "Above (us)", TFP_CELL_NUMBER},
	{"up_to_us", "Up to (us)", TFP_CELL_NUMBER},
	{"num_calls", "# calls", TFP_CELL_NUMBER},
	{"first_rank", "First Rank", TFP_CELL_NUMBER},
};

/* What to do about each kind of iterator: bottlenecks of all calls, not only the slowest,
 * find theirs here. */
static const struct tfp_column advice_columns[] = {
	{"kind", "Kind", TFP_CELL_TEXT},
	{"suggestion", "Suggestion", TFP_CELL_TEXT},
	{"guide", "Guide", TFP_CELL_TEXT},
};

/* ---- advice ---- */

#define GUIDE       "https://www.tensorflow.org/guide/data_performance"
#define GUIDE_STEPS "https://www.tensorflow.org/guide/data_performance_analysis"

struct advice {
	const char *kind, *text, *link;
	const char *iterators[24]; /* NULL after the last */
};

/* The first five kinds and their members are XProf's, the others ours: it knows nothing
 * to say about those. */
static const struct advice advices[] = {
	{
		"slow source",
		"(1) Keep the data close to the program: in the same zone, on a disk or bucket "
		"that is fast enough. (2) Read several files at once: list them, and use "
		"interleave with num_parallel_calls=tf.data.AUTOTUNE.",
		GUIDE "#parallelizing_data_extraction",
		{"TFRecord", "SSTable", "RecordIO", "Spanner", "TFColumn", "SleepwalkRemoteDataset",
		 "TextLine", "StitchedTimelineDataset", "DateKeyDataset", "CapacitorProto", "LMDB",
		 "ExternalDataset", "PearModel", "FixedLengthRecord", "FixedLengthRecordV2",
		 "FromTensor", "TensorSlice", "Generator", "SyntheticDatasetOp"},
	},
	{
		"data service",
		"The element came late from tf.data service. Profile its workers, and give it "
		"more of them where they are all busy.",
		"https://www.tensorflow.org/api_docs/python/tf/data/experimental/service",
		{"DataService"},
	},
	{
		"remote source",
		"The element came late from another machine: profile the server that it is read "
		"from.",
		GUIDE_STEPS "#source_datasets",
		{"GuzzlerDataGuzzlerRemoteDataset", "ReverbDataset", "DatasetSampleGame", "Courier",
		 "ReverbEpisodeDataset"},
	},
	{
		"could be parallel",
		"(1) Set num_parallel_calls=tf.data.AUTOTUNE. (2) If its output fits into memory "
		"and nothing before it is random, put cache() behind it, so that only the first "
		"epoch does this work.",
		GUIDE "#parallelizing_data_transformation",
		{"Map", "Interleave"},
	},
	{
		"sequential",
		"It cannot work on several elements at once. (1) Run several copies "
		"of the pipeline over shards of the input, and interleave them. (2) If its output "
		"fits into memory and nothing before it is random, put cache() behind it. "
		"(3) Batch before it, if the result stays the same: it is then called less often.",
		GUIDE_STEPS "#transformation_datasets",
		{"Filter", "Batch", "Unbatch"},
	},
	{
		"waits for its threads",
		"It takes elements that other threads make ahead, and here none was ready; what "
		"they did is shown below it if the capture includes its beginning. (1) Look at the "
		"slowest "
		"iterator "
		"below. (2) Let the pipeline work further ahead, prefetch(tf.data.AUTOTUNE) last. "
		"(3) Where all processors are busy, do less for each element or move the work to "
		"tf.data service. If none of its producers is shown, capture for longer.",
		GUIDE_STEPS "#3_are_you_reaching_high_cpu_utilization",
		{"Prefetch", "ParallelInterleave", "LegacyParallelInterleave", "ParallelMap",
		 "MapAndBatch", "ParallelBatch", "ParseExample"},
	},
	{
		"fills its buffer",
		"Before it gives out its first element it reads as many as its buffer holds. A "
		"slow "
		"first call of an epoch is that; if later calls are slow too, what feeds it is the "
		"place to look. (1) Shrink the buffer. (2) Shuffle names of files rather than "
		"elements. (3) Put prefetch behind it.",
		GUIDE_STEPS "#transformation_datasets",
		{"Shuffle", "ShuffleAndRepeat", "Cache", "MemoryCache", "MemoryCacheImpl",
		 "MemoryWriter", "FileCache", "FileWriter"},
	},
	{
		"passes on",
		"It only hands elements on and starts threads, so this is waiting for a processor, "
		"or "
		"work that is done once, at the first call. If only the first call is slow there "
		"is nothing to fix; otherwise see whether all processors are busy.",
		GUIDE_STEPS "#3_are_you_reaching_high_cpu_utilization",
		{"Model", "Root", "MaxIntraOpParallelism", "PrivateThreadPool", "Options"},
	},
};

static const struct advice other_advice = {
	"other",
	"Find out what it does for each element and whether that can be done in parallel, once for "
	"a whole batch, or once before training.",
	GUIDE_STEPS,
	{NULL},
};

static const struct advice device_advice = {
	"copies to the device",
	"It takes elements from a pipeline on the host and copies them to the device. If it is "
	"slow, "
	"the host's pipeline is the place to look; otherwise the elements are large: see whether "
	"all of their contents are used.",
	GUIDE_STEPS,
	{NULL},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Without a version: ParallelMapV2 is a ParallelMap. */
static struct tfp_str unversioned(struct tfp_str name)
{
	size_t n = name.size;
	while (n > 0 && is_digit(name.data[n - 1]))
		n--;
	if (n > 1 && n < name.size && name.data[n - 1] == 'V')
		name.size = n - 1;
	return name;
}

static const struct advice *advice_for(struct tfp_str iterator, struct tfp_str long_name)
{
	if (tfp_str_equal(long_name, "Iterator::Prefetch::Generator"))
		return &device_advice;
	struct tfp_str plain = unversioned(iterator);
	for (size_t a = 0; a < COUNT(advices); a++) {
		for (size_t i = 0; i < COUNT(advices[a].iterators) && advices[a].iterators[i];
		     i++) {
			if (tfp_str_equal(iterator, advices[a].iterators[i]) ||
			    tfp_str_equal(plain, advices[a].iterators[i]))
				return &advices[a];
		}
	}
	return &other_advice;
}

/* ---- one host ---- */

/* The slowest call of a pipeline that feeds the program. Texts belong to the answer. */
struct bottleneck {
	const char *host;
	char pipeline[24];
	int64_t max_ps, self_ps;
	struct tfp_str name, long_name; /* empty when no iterator took any time */
};

struct work {
	struct tfp_table *tables;
	/* Which calls the graph shows; NULL and SIZE_MAX: all. */
	const char *graph_host, *pipeline;
	uint64_t rank, limit, graph_rows;
	struct bottleneck *bottlenecks;
	size_t bottleneck_count, bottleneck_room;
	const char **hosts; /* names in use */
	size_t host_count;
	__int128 shift_ps; /* of the host at work: makes its capture's times the run's */
	uint64_t without_id;
	bool any_device, is_cut;
};

static double us(int64_t ps)
{
	return (double)ps / 1e6;
}

static void add_text(struct tfp_table *t, const char *text)
{
	tfp_table_add_text(t, text, strlen(text));
}

static void add_id(struct tfp_table *t, int64_t id)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRId64, id);
	tfp_table_add_text(t, text, (size_t)n);
}

static void pipeline_name(const struct tfp_pipeline *p, char *out, size_t size)
{
	snprintf(out, size, "%s:%" PRIu32, p->is_device ? "Device" : "Host", p->number);
}

static void add_use(struct work *w, const struct tfp_iterators *data, size_t index,
		    size_t bottleneck, const char *host, const char *pipeline, size_t rank)
{
	struct tfp_table *t = &w->tables[GRAPH];
	const struct tfp_iterator_use *use = &data->uses[index];
	const struct tfp_iterator *it = &data->iterators[use->iterator];
	add_text(t, host);
	add_text(t, pipeline);
	tfp_table_add_number(t, (double)rank);
	add_id(t, it->id);
	/* A parent that did nothing in the capture is named all the same, as by the peers; 0
	 * stands for none, unless there is such an iterator. */
	if (it->parent != TFP_NO_ITERATOR || it->parent_id != 0)
		add_id(t, it->parent_id);
	else
		add_text(t, "");
	tfp_table_add_number(t, !use->is_blocking ? 0 : index == bottleneck ? 2 : 1);
	tfp_table_add_text(t, it->name.data, it->name.size);
	tfp_table_add_text(t, it->long_name.data, it->long_name.size);
	tfp_table_add_number(t, (double)(use->start_ps + w->shift_ps) / 1e6);
	tfp_table_add_number(t, us(use->duration_ps));
	tfp_table_add_number(t, us(use->self_ps));
	tfp_table_add_number(t, use->calls);
	add_text(t, advice_for(it->name, it->long_name)->kind);
}

static void add_calls(struct work *w, const struct tfp_iterators *data,
		      const struct tfp_pipeline *p, const char *host, const char *name)
{
	if ((w->graph_host && strcmp(w->graph_host, host) != 0) ||
	    (w->pipeline && strcmp(w->pipeline, name) != 0))
		return;
	for (size_t rank = 0; rank < p->call_count; rank++) {
		const struct tfp_iterator_call *call = &data->calls[p->first_call + rank];
		if (w->rank != UINT64_MAX && w->rank != rank)
			continue;
		w->graph_rows += call->use_count;
		w->is_cut |= p->first_call + rank >= data->first_cut_call;
		if (w->limit != 0 && w->graph_rows > w->limit)
			continue;
		for (size_t i = 0; i < call->use_count; i++)
			add_use(w, data, call->first_use + i, call->bottleneck, host, name, rank);
	}
}

static void add_summary(struct tfp_table *t, const struct tfp_iterators *data,
			const struct tfp_pipeline *p, const char *host, const char *name)
{
	const struct tfp_iterator *root = &data->iterators[p->root];
	add_text(t, host);
	add_text(t, name);
	tfp_table_add_number(t, us(p->min_ps));
	tfp_table_add_number(t, us(p->mean_ps));
	tfp_table_add_number(t, us(p->max_ps));
	tfp_table_add_number(t, (double)p->call_count);
	tfp_table_add_number(t, (double)p->slow_count);
	tfp_table_add_text(t, root->long_name.data, root->long_name.size);
}

/* Limits of buckets are 1, 2 and 5 times the powers of ten, so that TFP_SLOW_CALL_PS is one.
 * Calls come slowest first, so each bucket is a range of ranks. */
static void add_latencies(struct tfp_table *t, const struct tfp_iterators *data,
			  const struct tfp_pipeline *p, const char *host, const char *name)
{
	const struct tfp_iterator_call *calls = data->calls + p->first_call;
	/* 1 us and upwards; the last is the greatest that fits. */
	int64_t limits[64] = {0, 1000000};
	size_t n = 2, rank = 0;
	while (limits[n - 1] <= INT64_MAX / 10 && n < COUNT(limits))
		limits[n] = n % 3 == 0 ? limits[n - 1] / 2 * 5 : limits[n - 1] * 2, n++;
	for (size_t b = n; b-- > 0;) {
		size_t first = rank;
		while (rank < p->call_count && (b == 0 || calls[rank].duration_ps > limits[b]))
			rank++;
		if (rank == first)
			continue;
		add_text(t, host);
		add_text(t, name);
		tfp_table_add_number(t, us(limits[b]));
		if (b + 1 < n)
			tfp_table_add_number(t, us(limits[b + 1]));
		else
			tfp_table_add_absent(t);
		tfp_table_add_number(t, (double)(rank - first));
		tfp_table_add_number(t, (double)first);
	}
}

static bool keep(struct tfp_arena *arena, struct tfp_str *text)
{
	text->data = tfp_arena_strndup(arena, text->data, text->size);
	return text->data != NULL;
}

static bool add_bottleneck(struct work *w, const struct tfp_iterators *data,
			   const struct tfp_pipeline *p, const char *host, const char *name)
{
	struct tfp_arena *arena = &w->tables[BOTTLENECKS].arena;
	const struct tfp_iterator_call *call = &data->calls[p->first_call];
	struct bottleneck b = {.host = host, .max_ps = p->max_ps};
	snprintf(b.pipeline, sizeof(b.pipeline), "%s", name);
	if (call->bottleneck != SIZE_MAX) {
		const struct tfp_iterator_use *use = &data->uses[call->bottleneck];
		b.self_ps = use->self_ps;
		b.name = data->iterators[use->iterator].name;
		b.long_name = data->iterators[use->iterator].long_name;
		if (!keep(arena, &b.name) || !keep(arena, &b.long_name))
			return false;
	}
	if (!TFP_GROW(w->bottlenecks, w->bottleneck_count, w->bottleneck_room))
		return false;
	w->bottlenecks[w->bottleneck_count++] = b;
	return true;
}

/* As the profiler wrote it, like the peers; the file's name where it wrote none, or the
 * same into two files. Owned by the answer. */
static const char *host_name(struct work *w, const struct tfp_capture *capture, const char *file)
{
	struct tfp_str name = {file, strlen(file)};
	if (capture->hostname_count && capture->hostnames[0].size)
		name = capture->hostnames[0];
	for (size_t i = 0; i < w->host_count; i++) {
		if (tfp_str_equal(name, w->hosts[i]))
			name = (struct tfp_str){file, strlen(file)};
	}
	const char *kept = tfp_arena_strndup(&w->tables[BOTTLENECKS].arena, name.data, name.size);
	if (kept)
		w->hosts[w->host_count++] = kept;
	return kept;
}

static enum tfp_status no_memory(struct tfp_error *err)
{
	return tfp_fail(err, TFP_NO_MEMORY, "no memory for the tables of tf.data");
}

static enum tfp_status add_host(struct work *w, struct tfp_capture *capture, const char *file,
				struct tfp_pool *pool, struct tfp_error *err)
{
	const struct tfp_iterators *data;
	enum tfp_status status = tfp_iterators_get(capture, pool, &data, err);
	if (status != TFP_OK)
		return status;
	const char *host = host_name(w, capture, file);
	if (!host)
		return no_memory(err);
	for (size_t i = 0; i < data->pipeline_count; i++) {
		const struct tfp_pipeline *p = &data->pipelines[i];
		char name[24];
		pipeline_name(p, name, sizeof(name));
		add_calls(w, data, p, host, name);
		add_summary(&w->tables[SUMMARY], data, p, host, name);
		add_latencies(&w->tables[LATENCIES], data, p, host, name);
		w->any_device |= p->is_device;
		if (!p->is_device && !add_bottleneck(w, data, p, host, name))
			return no_memory(err);
	}
	w->without_id += data->without_id;
	return TFP_OK;
}

/* ---- all hosts ---- */

static bool slower(const void *context, uint32_t a, uint32_t b)
{
	const struct bottleneck *all = context;
	return all[a].max_ps > all[b].max_ps;
}

static void add_bottleneck_row(struct tfp_table *t, const struct bottleneck *b)
{
	const struct advice *advice = advice_for(b->name, b->long_name);
	char latency[40];
	add_text(t, b->host);
	add_text(t, b->pipeline);
	tfp_table_add_number(t, us(b->max_ps));
	if (!b->name.data) {
		for (size_t i = 3; i < COUNT(bottleneck_columns); i++) {
			if (bottleneck_columns[i].kind == TFP_CELL_NUMBER)
				tfp_table_add_absent(t);
			else
				add_text(t, "");
		}
		return;
	}
	struct tfp_buf text;
	tfp_buf_init(&text, SIZE_MAX / 2);
	snprintf(latency, sizeof(latency), ", %" PRId64 " us", b->self_ps / 1000000);
	tfp_buf_add(&text, b->name.data, b->name.size);
	tfp_buf_puts(&text, " (");
	tfp_buf_add(&text, b->long_name.data, b->long_name.size);
	tfp_buf_puts(&text, ")");
	tfp_buf_puts(&text, latency);
	t->failed |= tfp_buf_failed(&text);
	tfp_table_add_text(t, tfp_buf_text(&text), text.size);
	tfp_buf_release(&text);
	add_text(t, advice->text);
	tfp_table_add_text(t, b->name.data, b->name.size);
	tfp_table_add_text(t, b->long_name.data, b->long_name.size);
	tfp_table_add_number(t, us(b->self_ps));
	add_text(t, advice->kind);
	add_text(t, advice->link);
}

static void add_advice(struct tfp_table *t, const struct advice *advice)
{
	add_text(t, advice->kind);
	add_text(t, advice->text);
	add_text(t, advice->link);
}

/* Of several hosts: which have slow calls. Bottlenecks are in the order given, the slowest
 * first. */
static void say_slow_hosts(struct tfp_buf *out, const struct work *w, const uint32_t *order)
{
	const char *named[3];
	size_t count = 0;
	for (size_t h = 0; h < w->host_count; h++) {
		bool slow = false;
		for (size_t i = 0; i < w->bottleneck_count; i++)
			slow |= w->bottlenecks[i].host == w->hosts[h] &&
				w->bottlenecks[i].max_ps > TFP_SLOW_CALL_PS;
		count += slow;
	}
	if (count == w->host_count)
		tfp_buf_printf(out, "Slow calls were captured on all %zu hosts, the slowest on ",
			       count);
	else
		tfp_buf_printf(out, "Slow calls were captured on %zu of %zu hosts: ", count,
			       w->host_count);
	size_t limit = count == w->host_count ? 1 : COUNT(named), names = 0;
	for (size_t i = 0; i < w->bottleneck_count && names < limit && names < count; i++) {
		const char *host = w->bottlenecks[order[i]].host;
		bool known = false;
		for (size_t k = 0; k < names; k++)
			known |= named[k] == host;
		if (known)
			continue;
		tfp_buf_puts(out, names == 0 ? "" : names + 1 == count ? " and " : ", ");
		size_t size = strlen(host);
		tfp_utf8_repair(out, host, tfp_utf8_prefix(host, size < 64 ? size : 64));
		named[names++] = host;
	}
	if (count < w->host_count && count > names)
		tfp_buf_printf(out, " and %zu more", count - names);
	tfp_buf_putc(out, '.');
}

static void set_verdict(struct tfp_table *t, const struct work *w, const uint32_t *order)
{
	int64_t slowest_ps = w->bottleneck_count ? w->bottlenecks[order[0]].max_ps : 0;
	const char *verdict, *text;
	struct tfp_buf hosts, message;
	if (slowest_ps > TFP_SLOW_CALL_PS) {
		verdict = "slow";
		text = "At least one call of an input pipeline took longer than 50 us, so the "
		       "program may be waiting for its input. Each pipeline is listed with its "
		       "bottleneck and what to do about it.";
	} else if (slowest_ps > 0) {
		verdict = "fast";
		text = "No call of an input pipeline took longer than 50 us. That holds for the "
		       "hosts and the time that were captured; other workers may still wait for "
		       "their input.";
	} else if (w->any_device) {
		verdict = "device_only";
		text = "Only pipelines that copy data to devices were captured, none that makes "
		       "the "
		       "data. If the program uses tf.data on the host, capture for longer.";
	} else {
		verdict = "none";
		text = "No tf.data activity was captured. If the program uses tf.data, capture for "
		       "longer, with a host tracer level of 2 or more.";
	}
	tfp_table_set_property(t, "is_input_bound",
			       slowest_ps > TFP_SLOW_CALL_PS ? "true" : "false");
	tfp_buf_init(&hosts, (size_t)1 << 12);
	tfp_buf_init(&message, (size_t)1 << 13);
	if (slowest_ps > TFP_SLOW_CALL_PS && w->host_count > 1)
		say_slow_hosts(&hosts, w, order);
	tfp_buf_printf(&message, "%s%s%s", text, hosts.size ? " " : "", tfp_buf_text(&hosts));
	tfp_table_set_property(t, "summary_message", tfp_buf_text(&message));
	if (hosts.size)
		tfp_table_set_property(t, "hosts_statement", tfp_buf_text(&hosts));
	t->failed |= tfp_buf_failed(&message) || tfp_buf_failed(&hosts);
	tfp_buf_release(&message);
	tfp_buf_release(&hosts);
	tfp_table_set_property(t, "verdict", verdict);
}

static enum tfp_status conclude(struct work *w, struct tfp_error *err)
{
	struct tfp_table *t = &w->tables[BOTTLENECKS];
	char number[24];
	uint32_t *order = tfp_sort_indexes(w->bottleneck_count, slower, w->bottlenecks);
	if (!order)
		return no_memory(err);
	for (size_t i = 0; i < w->bottleneck_count; i++)
		add_bottleneck_row(t, &w->bottlenecks[order[i]]);
	set_verdict(t, w, order);
	tfp_free(order);
	for (size_t i = 0; i < COUNT(advices); i++)
		add_advice(&w->tables[ADVICE], &advices[i]);
	add_advice(&w->tables[ADVICE], &device_advice);
	add_advice(&w->tables[ADVICE], &other_advice);
	snprintf(number, sizeof(number), "%" PRIu64, w->graph_rows);
	tfp_table_set_property(&w->tables[GRAPH], "rows_total", number);
	if (w->is_cut)
		tfp_table_set_property(&w->tables[GRAPH], "is_cut", "true");
	if (w->without_id) {
		snprintf(number, sizeof(number), "%" PRIu64, w->without_id);
		tfp_table_set_property(&w->tables[SUMMARY], "events_without_id", number);
	}
	for (size_t i = 0; i < TABLES; i++) {
		if (tfp_table_failed(&w->tables[i]))
			return no_memory(err);
	}
	return TFP_OK;
}

static enum tfp_status read_query(struct work *w, const struct tfp_query *query,
				  struct tfp_error *err)
{
	w->graph_host = tfp_query_get(query, "graph_host");
	w->pipeline = tfp_query_get(query, "pipeline");
	enum tfp_status status = tfp_query_get_count(query, "rank", UINT64_MAX, &w->rank, err);
	if (status == TFP_OK)
		status = tfp_query_get_count(query, "limit", GRAPH_LIMIT, &w->limit, err);
	return status;
}

/* Files that cannot be read are left out unless they are all, as other tools do. */
static enum tfp_status add_hosts(struct work *w, const struct tfp_session *session,
				 struct tfp_error *err)
{
	struct tfp_host_clock *clocks;
	enum tfp_status status = tfp_run_clocks_aligned(session, &clocks, err);
	size_t added = 0;
	bool failed = status != TFP_OK;
	for (size_t h = 0; !failed && h < session->host_count; h++) {
		const struct tfp_capture_file *file = &session->hosts[h];
		struct tfp_capture *capture;
		w->shift_ps = clocks[tfp_session_host_index(session, file->host)].shift_ps;
		status = tfp_capture_cache_get(session->cache, file, &capture, err);
		failed = status == TFP_NO_MEMORY;
		if (status != TFP_OK)
			continue;
		status = add_host(w, capture, file->host, session->pool, err);
		/* Names were read from the file just now. */
		if (status == TFP_OK && tfp_capture_was_cut(capture))
			status = tfp_fail(err, TFP_IO, "%s was cut while it was read", file->path);
		tfp_capture_unref(capture);
		failed = status != TFP_OK;
		added++;
	}
	tfp_free(clocks);
	return added && !failed ? TFP_OK : status;
}

static enum tfp_status render(const struct tfp_session *session, const struct tfp_query *query,
			      struct tfp_answer *answer, struct tfp_error *err)
{
	static const struct {
		const struct tfp_column *columns;
		size_t count;
	} kinds[TABLES] = {
		[GRAPH] = {graph_columns, COUNT(graph_columns)},
		[SUMMARY] = {summary_columns, COUNT(summary_columns)},
		[BOTTLENECKS] = {bottleneck_columns, COUNT(bottleneck_columns)},
		[LATENCIES] = {latency_columns, COUNT(latency_columns)},
		[ADVICE] = {advice_columns, COUNT(advice_columns)},
	};
	struct work w = {.tables = answer->tables};
	for (size_t i = 0; i < TABLES; i++)
		tfp_table_init(&answer->tables[answer->table_count++], kinds[i].columns,
			       kinds[i].count);
	w.hosts = tfp_calloc(session->host_count, sizeof(*w.hosts));
	enum tfp_status status = w.hosts ? read_query(&w, query, err) : no_memory(err);
	if (status == TFP_OK)
		status = add_hosts(&w, session, err);
	if (status == TFP_OK)
		status = conclude(&w, err);
	tfp_free(w.hosts);
	tfp_free(w.bottlenecks);
	return status;
}

const struct tfp_tool tfp_tf_data_bottleneck_analysis = {
	.name = "tf_data_bottleneck_analysis",
	.aliases = {"tf_data_bottleneck", "tf_data"},
	.title = "tf.data bottleneck",
	.summary = "Which tf.data pipelines are slow, and which of their iterators makes them so.",
	.place = 80,
	.key = 'd',
	.filter = "Filter pipelines",
	.scope = TFP_HOSTS_BOTH,
	.parameters =
		{
			TFP_TAKES(TEXT, "graph_host", NULL,
				  "Only rows of this host in the first table."),
			TFP_TAKES(TEXT, "pipeline", NULL,
				  "Only rows of this input pipeline in the first table."),
			TFP_TAKES(
				COUNT, "rank", NULL,
				"Only one call in the first table, by its rank; 0 is the slowest."),
			TFP_TAKES(COUNT, "limit", "500000",
				  "How many rows the first table keeps; 0 for all."),
		},
	.render = render,
};
