/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorBoard's event files (events.out.tfevents.*): records with a length and checksums, each an
 * Event. What they have of graphs and of runs (tf.summary.FileWriter.add_run_metadata) is read.
 */
#ifndef TFP_TFPROF_EVENT_FILE_H
#define TFP_TFPROF_EVENT_FILE_H

#include "tfprof/profile.h"

/* A run that was recorded. */
struct tfp_event_run {
	struct tfp_str tag;
	int64_t step;
	struct tfp_span metadata; /* RunMetadata */
};

struct tfp_event_file {
	struct tfp_span graph; /* the last GraphDef, or that of the last MetaGraphDef */
	bool has_graph;
	struct tfp_event_run *runs; /* in the order of the file; owned */
	size_t count, room;
	size_t records;
	uint64_t damaged_at; /* the byte from which on it could not be read; its size: none */
};

/* What is read points into the bytes. A damaged record ends the file (programs that still run
 * write one in parts), but where the first is damaged it is no such file: TFP_BAD_INPUT. */
enum tfp_status tfp_event_file_read(struct tfp_event_file *f, struct tfp_span bytes,
				    struct tfp_error *err) TFP_CHECK;
/* Accepts zeroed memory. */
void tfp_event_file_release(struct tfp_event_file *f);

#endif
