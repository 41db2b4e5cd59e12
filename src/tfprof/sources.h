/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile is read from: messages of TensorFlow, as protobuf writes them.
 *
 * Bytes are the caller's and must outlive the profile (tfp_profile_keep), because names point
 * into them. Numbers that make no sense are kept as they are; bytes that are no such message are
 * TFP_BAD_INPUT with the byte. After an error the profile is good for tfp_profile_release alone.
 * A graph comes first, then the log (which says more about nodes that are there), then what ran.
 */
#ifndef TFP_TFPROF_SOURCES_H
#define TFP_TFPROF_SOURCES_H

#include "tfprof/profile.h"

/* A GraphDef: a node for each NodeDef; of nodes with one name the first counts. Functions of
 * its library are no nodes. */
enum tfp_status tfp_graph_def_read(struct tfp_profile *p, struct tfp_span bytes,
				   struct tfp_error *err) TFP_CHECK;

/* An OpLogProto: types, flops and call stacks of nodes that are there. */
enum tfp_status tfp_op_log_read(struct tfp_profile *p, struct tfp_span bytes,
				struct tfp_error *err) TFP_CHECK;

/* A RunMetadata: what ran in a step. Nodes that no graph told of are made, with their name as
 * their op. *present: whether it has statistics of a step; without them there is no such step. */
enum tfp_status tfp_run_metadata_read(struct tfp_profile *p, int64_t step, struct tfp_span bytes,
				      bool *present, struct tfp_error *err) TFP_CHECK;

/* A ProfileProto, which holds all of these: into a profile without a node. */
enum tfp_status tfp_profile_proto_read(struct tfp_profile *p, struct tfp_span bytes,
				       struct tfp_error *err) TFP_CHECK;

#endif
