/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a file of TensorBoard's events holds steps of a graph (tagged RunMetadata), by the heads
 * of its records alone: what they hold is passed over, so that a list of files costs little.
 *
 *     struct tfp_event_heads heads = {0};
 *     while (!heads.ended)
 *             tfp_event_heads_look(fd, size, &heads);
 *     if (heads.runs) ...
 *
 * Checksums are not looked at; who reads the file does that.
 */
#ifndef TFP_STORE_EVENT_HEADS_H
#define TFP_STORE_EVENT_HEADS_H

#include <stdbool.h>
#include <stdint.h>

struct tfp_event_heads {
	uint64_t at;   /* where the next record begins */
	uint64_t runs; /* records with RunMetadata before that */
	double time_s; /* of the first of them, since 1970; 0: it does not say */
	bool no_file;  /* the first record is not what all such files begin with */
	bool ended;    /* up to its end, or to what is cut or damaged */
};

/* Looks at the records from heads->at on, but no more than a bounded number of them and of reads.
 * size: of the file. A file that grew is looked at further with ended false. */
void tfp_event_heads_look(int fd, uint64_t size, struct tfp_event_heads *heads);

#endif
