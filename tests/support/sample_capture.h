/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One small capture with something of every kind that the program reads, for
 * tests that ask "does it survive" and not "is the number right": running out
 * of memory at every point, cutting at every byte, seeds for fuzzing.
 */
#ifndef TFP_TESTS_SUPPORT_SAMPLE_CAPTURE_H
#define TFP_TESTS_SUPPORT_SAMPLE_CAPTURE_H

#include "base/buf.h"
#include "support/xspace_builder.h"

#include <stddef.h>

enum sample_device { SAMPLE_GPU, SAMPLE_TPU, SAMPLE_NO_DEVICE };

/* A host with two threads and a model server's two, two devices of a kind (one idle), HLO
 * modules, of which one runs again and again, a warning and a hostname. The caller frees it with
 * builder_free. */
struct builder *sample_capture(enum sample_device device);

/* An HloProto: module `name` with one computation. Each instruction is four
 * texts: name, opcode, op_name, op_type; the two last may be NULL for one without
 * metadata. out is initialised by the caller. */
void sample_hlo(struct tfp_buf *out, const char *name, const char *const (*instructions)[4],
		size_t count);

/* Puts a serialised HloProto into a /host:metadata plane, as event metadata `name(id)`. */
void sample_add_module(struct builder_plane *metadata, const char *name_with_id,
		       const struct tfp_buf *proto);

#endif
