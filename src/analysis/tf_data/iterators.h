/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tf.data did: its iterators, the pipelines they form, and where every
 * call of a pipeline spent its time (docs/tools/tf_data_bottleneck_analysis.md; XProf's
 * xplane_to_tf_data_stats.cc and ConnectTfDataEvents).
 *
 * A call is one run of a pipeline's root, `Iterator::X`. Below it are the
 * iterators nested in it on its thread, and those that worked ahead for it on
 * other threads: a Produce event and a Consume event with the same element
 * join the two.
 *
 *     const struct tfp_iterators *data;
 *     tfp_iterators_get(capture, pool, &data, &err);
 *     for (size_t p = 0; p < data->pipeline_count; p++)
 *             const struct tfp_iterator_call *slowest =
 *                     &data->calls[data->pipelines[p].first_call];
 */
#ifndef TFP_ANALYSIS_TF_DATA_ITERATORS_H
#define TFP_ANALYSIS_TF_DATA_ITERATORS_H

#include "store/capture.h"

#include <stdbool.h>
#include <stdint.h>

#define TFP_NO_ITERATOR UINT32_MAX

/* A call that takes longer than this is slow. */
#define TFP_SLOW_CALL_PS INT64_C(50000000)

struct tfp_iterator {
	int64_t id, parent_id;          /* as the program numbers them; any number */
	uint32_t parent;                /* index, or TFP_NO_ITERATOR */
	struct tfp_str name, long_name; /* "Batch", "Iterator::Model::Batch"; the capture's */
};

/* An iterator in one call. */
struct tfp_iterator_use {
	uint32_t iterator; /* index */
	uint32_t calls;
	int64_t start_ps;    /* of the first, as tfp_event_start_ps */
	int64_t duration_ps; /* of all, those that overlap each other counted in full */
	int64_t self_ps;     /* the time during which no iterator that it called ran; never
				more than duration_ps, never negative */
	bool is_blocking;    /* the root waited for it, or for what waited for it */
};

struct tfp_iterator_call {
	int64_t start_ps, duration_ps;
	size_t first_use, use_count; /* in uses, ascending by the iterator's id */
	/* The blocking one with the most self time, an index in uses; SIZE_MAX when
	 * none has any. */
	size_t bottleneck;
};

struct tfp_pipeline {
	uint32_t root;                 /* index of the iterator */
	bool is_device;                /* it copies to a device what another one made */
	uint32_t number;               /* from 0 on, among those of its kind */
	size_t first_call, call_count; /* in calls, the slowest first; never 0 */
	int64_t min_ps, mean_ps, max_ps;
	size_t slow_count; /* calls longer than TFP_SLOW_CALL_PS */
};

struct tfp_iterators {
	struct tfp_iterator *iterators;
	struct tfp_pipeline *pipelines; /* by the start of their first call */
	struct tfp_iterator_call *calls;
	struct tfp_iterator_use *uses;
	size_t iterator_count, pipeline_count, call_count, use_count;
	/* Events of iterators for which the file has no id: they belong to none. */
	uint64_t without_id;
	/* A file so tangled that following all of it would take too long: calls from here on
	 * in calls have no uses, or not all. SIZE_MAX where that is not so. */
	size_t first_cut_call;
};

/* Of the host's threads; computed once. A capture without tf.data gives
 * empty lists. */
enum tfp_status tfp_iterators_get(struct tfp_capture *capture, struct tfp_pool *pool,
				  const struct tfp_iterators **out,
				  struct tfp_error *err) TFP_CHECK;

#endif
