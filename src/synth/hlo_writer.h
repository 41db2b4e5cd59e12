/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled program, written as XLA would (HloProto of xla/service/hlo.proto).
 * Computations are opened, given their instructions, and closed; a computation
 * that is called is closed before the instruction that calls it is added, so
 * that the file has them in the order that XLA asks for.
 *
 *     struct tfp_synth_hlo_writer w;
 *     tfp_synth_hlo_writer_init(&w, "jit_f", NULL, 0);
 *     struct tfp_synth_hlo_computation *c = tfp_synth_hlo_open(&w, "main.3", false);
 *     struct tfp_synth_hlo_value x = tfp_synth_hlo_parameter(&w, c, 0, "x",
 * tfp_synth_hlo_array(HLO_F32, 2, 8, 4)); tfp_synth_hlo_close(&w, c, tfp_synth_hlo_add(&w, c,
 * "negate", "negate.1", x.shape, &x, 1, NULL, NULL)); tfp_synth_hlo_writer_finish(&w, &proto);
 *     tfp_synth_hlo_writer_release(&w);
 *
 * Failures (no memory) are remembered, and come out of finish.
 */
#ifndef TFP_SYNTH_HLO_WRITER_H
#define TFP_SYNTH_HLO_WRITER_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Of xla_data.proto's PrimitiveType. */
enum tfp_synth_hlo_type {
	HLO_PRED = 1,
	HLO_S8 = 2,
	HLO_S32 = 4,
	HLO_U8 = 6,
	HLO_F32 = 11,
	HLO_TUPLE = 13,
	HLO_BF16 = 16,
};

#define HLO_RANK_MAX  4
#define HLO_PARTS_MAX 40 /* of a tuple */
#define HLO_OPEN_MAX  4  /* computations that are open at the same time */

/* An array, or a tuple of arrays. */
struct tfp_synth_hlo_shape {
	enum tfp_synth_hlo_type type;
	unsigned rank;
	int64_t dims[HLO_RANK_MAX];
	const struct tfp_synth_hlo_shape *parts; /* of a tuple; the writer's arena */
	unsigned part_count;
};

/* Where a program's line of source is: an entry of the table of stack frames. */
struct tfp_synth_hlo_source {
	const char *file, *function;
	int line;
	int frame; /* its number, from 1 on */
};

/* What an instruction says of the framework's op that it came from. NULL: nothing. */
struct tfp_synth_hlo_meta {
	const char *op_type, *op_name;
	const struct tfp_synth_hlo_source *source;
};

struct tfp_synth_hlo_value {
	int64_t id;
	struct tfp_synth_hlo_shape shape;
	const char *name; /* the writer's arena */
};

struct tfp_synth_hlo_computation {
	struct tfp_buf body; /* instructions, then the rest */
	const char *name;
	int64_t id;
	bool open, fusion;
	struct tfp_buf sequence; /* ids in order, for the schedule */
};

/* What few instructions have besides their operands; zeroes for nothing. */
struct tfp_synth_hlo_extra {
	const char *fusion_kind, *target, *backend_config, *direction;
	const int64_t *called; /* ids of computations */
	unsigned called_count;
	const int64_t *dimensions;
	unsigned dimension_count;
	const int64_t *slice_sizes; /* of a dynamic-slice; of a gather */
	unsigned slice_size_count;
	/* Of a slice: begin and end of each dimension. */
	const int64_t *slice_begin, *slice_end;
	unsigned replicas;    /* all-reduce: one group of so many */
	int64_t channel;      /* of a collective */
	bool has_tuple_index; /* get-tuple-element */
	unsigned tuple_index;
	bool embedding_gather, embedding_scatter; /* rows of a table by number */
};

struct tfp_synth_hlo_writer {
	struct tfp_arena arena;
	struct tfp_buf computations, schedule;
	struct tfp_synth_hlo_computation open[HLO_OPEN_MAX];
	const char *name, *entry_name;
	int64_t next_id, entry_id;
	const struct tfp_synth_hlo_source *sources;
	unsigned source_count;
	/* How many instructions have been called by a word, for "loop_fusion.3". */
	struct tfp_synth_hlo_word {
		const char *word;
		unsigned count;
	} words[128];
	unsigned word_count;
	bool failed;
};

/* name and sources are the caller's and must outlive the writer. */
void tfp_synth_hlo_writer_init(struct tfp_synth_hlo_writer *w, const char *name,
			       const struct tfp_synth_hlo_source *sources, unsigned source_count);
/* Accepts zeroed memory. */
void tfp_synth_hlo_writer_release(struct tfp_synth_hlo_writer *w);
/* Appends the HloProto; false without memory. The entry is the computation closed last. */
bool tfp_synth_hlo_writer_finish(struct tfp_synth_hlo_writer *w, struct tfp_buf *proto);

/* A formatted text in the writer's arena; "" without memory. */
const char *tfp_synth_hlo_text(struct tfp_synth_hlo_writer *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* word, then word.1, word.2, ...: an instruction's name. */
const char *tfp_synth_hlo_name(struct tfp_synth_hlo_writer *w, const char *word);

/* rank numbers follow. */
struct tfp_synth_hlo_shape tfp_synth_hlo_array(enum tfp_synth_hlo_type type, unsigned rank, ...);
struct tfp_synth_hlo_shape tfp_synth_hlo_tuple_of(struct tfp_synth_hlo_writer *w,
						  const struct tfp_synth_hlo_shape *parts,
						  unsigned count);
int64_t tfp_synth_hlo_elements(const struct tfp_synth_hlo_shape *shape);
/* Of all parts of a tuple. */
int64_t tfp_synth_hlo_bytes(const struct tfp_synth_hlo_shape *shape);

/* Never NULL: with too many open ones the writer has failed and gives the last. */
struct tfp_synth_hlo_computation *tfp_synth_hlo_open(struct tfp_synth_hlo_writer *w,
						     const char *name, bool fusion);
/* Its id. */
int64_t tfp_synth_hlo_close(struct tfp_synth_hlo_writer *w, struct tfp_synth_hlo_computation *c,
			    struct tfp_synth_hlo_value root);

struct tfp_synth_hlo_value tfp_synth_hlo_parameter(struct tfp_synth_hlo_writer *w,
						   struct tfp_synth_hlo_computation *c,
						   unsigned number, const char *name,
						   struct tfp_synth_hlo_shape shape);
struct tfp_synth_hlo_value tfp_synth_hlo_constant(struct tfp_synth_hlo_writer *w,
						  struct tfp_synth_hlo_computation *c,
						  enum tfp_synth_hlo_type type, double value);
struct tfp_synth_hlo_value
tfp_synth_hlo_add(struct tfp_synth_hlo_writer *w, struct tfp_synth_hlo_computation *c,
		  const char *opcode, const char *name, struct tfp_synth_hlo_shape shape,
		  const struct tfp_synth_hlo_value *operands, unsigned operand_count,
		  const struct tfp_synth_hlo_extra *extra, const struct tfp_synth_hlo_meta *meta);
struct tfp_synth_hlo_value tfp_synth_hlo_element(struct tfp_synth_hlo_writer *w,
						 struct tfp_synth_hlo_computation *c,
						 struct tfp_synth_hlo_value tuple, unsigned index);
struct tfp_synth_hlo_value tfp_synth_hlo_tuple(struct tfp_synth_hlo_writer *w,
					       struct tfp_synth_hlo_computation *c,
					       const struct tfp_synth_hlo_value *values,
					       unsigned count);

#endif
